"""A search asked of the watcher, which has the index open; without a watcher every command searches by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem import __version__
from mdmem.recall import ask as watcher

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.recall.query import Query
    from mdmem.recall.search import Result

SECONDS = 5.0
"""How long the watcher is waited for."""
HIT_KEYS = ("id", "path", "kind", "title", "created", "project", "session", "score", "snippet")


class Hit(NamedTuple):
    """A note that was found, as `recall.search.Hit` has it."""

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


class Answer(NamedTuple):
    """What was found, as `recall.search.Result` has it."""

    hits: list[Hit]
    total: int
    hints: list[str]
    suggestion: str | None


def ask(config: Config, query: Query, how: dict[str, Any]) -> Answer | None:
    """Ask the watcher; None when there is none, it is of another version, or it does not answer.

    how: what `recall.search.search` takes beside the query, as far as JSON has it.
    """
    body = json.dumps({"query": query._asdict(), "how": how}).encode()
    said = watcher.ask(config, f"search {__version__}", {}, body, seconds=SECONDS)
    if not said:
        return None
    try:
        found = json.loads(said)
        return Answer([Hit(*hit) for hit in found["hits"]], found["total"], found["hints"], found["suggestion"])
    except (ValueError, KeyError, TypeError):
        return None


def answer(config: Config, words: list[str], env: dict[str, str], body: bytes) -> bytes:  # noqa: ARG001 - as all answers
    """Answer for the watcher: `words` name the asker's version, `body` is what `ask` sends.

    New, moved and deleted files are looked for at once; files changed in place the watcher knows of by itself.

    Raises:
        Exception: whatever is wrong with the request; the asker then searches by itself.
    """
    from mdmem.recall import search
    from mdmem.recall.staged import Place

    if words != [__version__]:
        return b""
    asked = json.loads(body)
    how = {**asked["how"], "here": Place.read(asked["how"].get("here"))}
    return _encoded(search.search(config, _query(asked["query"]), quick=True, **how))


def _query(fields: dict[str, Any]) -> Query:
    from mdmem.recall.query import Filter, Query

    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    plain["filters"] = tuple(Filter(key, tuple(values), wanted) for key, values, wanted in fields["filters"])
    return Query(**plain)


def _encoded(result: Result) -> bytes:
    hits = [[*(getattr(hit, key) for key in HIT_KEYS), hit.spans, hit.similar] for hit in result.hits]
    answer = {"hits": hits, "total": result.total, "hints": result.hints, "suggestion": result.suggestion}
    return json.dumps(answer).encode()
