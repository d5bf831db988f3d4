"""Searches answered by the watcher, which has the index open; without a watcher, commands search in-process."""

from __future__ import annotations

from mdmem.named_tuple import NamedTuple
from mdmem.watcher import client as watcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.config import Config
    from mdmem.search.engine import SearchResult
    from mdmem.search.query import Query

SECONDS = 5.0
"""How long to wait for the watcher."""


class WarmHit(NamedTuple):
    """A hit with its snippet, with the fields of `search.hits.SearchHit`; also for a hit in a past state."""

    id: str
    path: str
    kind: str
    title: str
    created: str
    project: str
    session: str
    score: float
    snippet: str
    spans: list[list[int]]
    similar: int
    superseded_by: str = ""


class WarmAnswer(NamedTuple):
    """A search result, with the fields of `search.engine.SearchResult`."""

    hits: list[WarmHit]
    total: int
    hints: list[str]
    suggestion: str | None


def ask(config: Config, query: Query, options: dict[str, Any]) -> WarmAnswer | None:
    """Ask the watcher; None when there is none, it has another version, or it does not answer.

    options: fields of `search.engine.SearchOptions` as JSON values.
    """

    def body() -> bytes:
        import json  # slow to load

        return json.dumps({"query": query._asdict(), "how": options}).encode()

    response = watcher.ask(config, "search", {}, body, seconds=SECONDS)
    if not response:
        return None
    import json

    try:
        result = json.loads(response)
        return WarmAnswer(
            [WarmHit(*hit) for hit in result["hits"]], result["total"], result["hints"], result["suggestion"]
        )
    except (ValueError, KeyError, TypeError):
        return None


def answer(config: Config, words: list[str], env: dict[str, str], body: bytes) -> bytes:  # noqa: ARG001 - as all answers
    """Answer a search in the watcher. body: as `ask` sends it.

    The watcher knows every change, so that the search looks for none, unless the watcher cannot be sure.

    Raises an exception when the request is wrong in any way; the client then searches in-process.
    """
    import json

    from mdmem.search import engine, overturned
    from mdmem.search.staged import Place

    request = json.loads(body)
    options = {**request["how"], "here": Place.read(request["how"].get("here"))}
    return _encoded(overturned.search(config, _query(request["query"]), engine.SearchOptions(**options)))


def _query(fields: dict[str, Any]) -> Query:
    from mdmem.search.query import Filter, Query

    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    plain["filters"] = tuple(Filter(key, tuple(values), is_wanted) for key, values, is_wanted in fields["filters"])
    return Query(**plain)


def _encoded(result: SearchResult) -> bytes:
    import json

    hits = [[getattr(hit, field) for field in WarmHit._fields] for hit in result.hits]
    answer = {"hits": hits, "total": result.total, "hints": result.hints, "suggestion": result.suggestion}
    return json.dumps(answer).encode()
