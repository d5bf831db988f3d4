"""Running a search, by the watcher if there is one, and printing hits, file names and remarks."""

from __future__ import annotations

import sys
from contextlib import suppress
from itertools import chain

from mdmem import plural
from mdmem.cli.terminal import extent, render, startup
from mdmem.errors import MdmemError
from mdmem.search import staged
from mdmem.vault import JOURNAL, attachments, note
from mdmem.vault.note import PAGES
from mdmem.views import wording
from mdmem.watcher import warm_search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from mdmem.cli.terminal.render import Piece
    from mdmem.config import Config
    from mdmem.search.engine import SearchResult
    from mdmem.search.hits import SearchHit
    from mdmem.search.query import Query
    from mdmem.watcher.warm_search import WarmAnswer
    from mdmem.watcher.warm_search import WarmHit as WarmHit


EVERYTHING = 1_000_000
"""The limit that a search gets for `--limit 0`."""
KEYS = ("id", "path", "kind", "title", "created", "project", "session", "score", "snippet", "superseded_by")
"""Fields of a hit as JSON."""
MAX_WARM = 1_000
"""A search for more hits than this bypasses the watcher, which sends all of them at once."""


def show(
    config: Config,
    result: SearchResult | WarmAnswer,
    files: Sequence[str],
    *,
    offset: int,
    limit: int,
    as_json: bool,
    words: str,
) -> None:
    """Print the hits, and remarks about them on stderr. words: those that were searched for, which may be an id."""
    if as_json:
        print_json(result, files)
    else:
        print_hits(result, first=offset + 1)
        render.write([[("file  ", "dim"), (render.safe(path), "bold")] for path in files])
    if result.total or not files:
        print_remarks(result, NOTHING if result.total else _nothing(config, words), offset=offset, limit=limit)


def files_with_words(config: Config, text: str, limit: int) -> list[str]:
    """Return the files beside notes whose names contain the words."""
    return attachments.with_words(config.vault, text, config.settings)[:limit]


def run(config: Config, query: Query | str, **how: Any) -> SearchResult | WarmAnswer:
    """Search by the watcher, or without one in this process. how: fields of `SearchOptions`."""
    parsed = startup.query({}, query) if isinstance(query, str) else query
    here = staged.place(config, startup.here())
    if how["limit"] <= MAX_WARM:
        warm_answer = warm_search.ask(config, parsed, {**how, "here": here.parts()})
        if warm_answer is not None:
            return warm_answer
    from mdmem.search import engine, overturned

    return overturned.search(config, parsed, engine.SearchOptions(here=here, **how))


def print_hits(result: SearchResult | WarmAnswer, first: int = 1) -> None:
    """Print hits, best first: rank, date, kind, title and citation; path; snippet with the words marked."""
    hits: Sequence[SearchHit | WarmHit] = result.hits
    for rank, hit in enumerate(hits, first):
        count = plural.number(hit.similar, "more note says", "more notes say")
        similar = f"  ({count} the same; --all shows {'it' if hit.similar == 1 else 'them'})" if hit.similar else ""
        path = [("     ", ""), (render.safe(hit.path), "dim"), (similar, "dim")]
        render.hanging([(f"{rank:>3}  ", "bold")], _head(hit))
        render.write([render.fitted(path)])
        if hit.snippet:
            render.block(_marked(hit), 5)


def print_json(result: SearchResult | WarmAnswer, files: Sequence[str] = ()) -> None:
    """Print hits as JSON, then the files."""
    rows = ({key: getattr(hit, key) for key in KEYS} | {"score": round(hit.score, 4)} for hit in result.hits)
    empty = dict.fromkeys(KEYS, "")
    file_rows = (
        {**empty, "path": path, "kind": "file", "title": path.rpartition("/")[2], "score": 0.0} for path in files
    )
    render.print_array(chain(rows, file_rows))


def _head(hit: SearchHit | WarmHit) -> Iterator[Piece]:
    yield f"{wording.day(hit.created)}  ", "dim"
    yield f"{render.safe(hit.kind)}  ", render.KIND_STYLES.get(hit.kind, "")
    yield f"{render.safe(hit.title)}  ", "bold"
    if hit.superseded_by:
        yield f"({wording.superseded(render.safe(hit.superseded_by))})  ", ""
    yield f"[mem:{render.safe(hit.id)}]", "yellow"


def _marked(hit: SearchHit | WarmHit) -> Iterator[Piece]:
    """Split a snippet into the words that matched and the text around them. Only agents' text keeps its Markdown."""
    text, spans, end = hit.snippet, [(start, stop) for start, stop in hit.spans], 0
    if hit.kind in PAGES or not hit.path.startswith(f"{JOURNAL}/"):
        from mdmem.views import snippets

        text, spans = snippets.readable(text, spans, hit.kind)
    for start, stop in spans:
        yield render.safe(text[end:start]), ""
        yield render.safe(text[start:stop]), "bold yellow"
        end = stop
    yield render.safe(text[end:]), ""


NOTHING = "Nothing found. Try other words or fewer filters; a note need not contain all of the words."


def _nothing(config: Config, words: str) -> str:
    """Return the message for a search without hits; the vault may be empty, or only partly on this machine."""
    from mdmem.history.git import part
    from mdmem.search import index
    from mdmem.views import rows

    note_id = note.id_in_reference(words)
    if note.is_made_id(note_id):
        with suppress(MdmemError):
            index.resolve(config, note_id)
            return f"Nothing found by these words, but that is the id of a note: `mdmem show {note_id}` shows it."
    if rows.is_empty(config):
        return wording.none_yet(config)
    vault_part = part.of(config.vault)
    if vault_part:
        return f"{NOTHING} Only a part of the vault is here ({vault_part}); `mdmem sync --whole` fetches the rest."
    return NOTHING


def print_remarks(
    result: SearchResult | WarmAnswer, nothing: str, *, offset: int | None = None, limit: int = 0
) -> None:
    """Print hints, a suggested spelling and the number of hits on stderr.

    offset, limit: of a command that has `--offset`.
    """
    for hint in result.hints:
        print(f"hint: {hint}", file=sys.stderr, flush=True)
    if result.suggestion:
        print(f"Did you mean: {render.safe(result.suggestion)}", file=sys.stderr, flush=True)
    if not result.total:
        print(nothing, file=sys.stderr, flush=True)
    shown, total = len(result.hits), result.total
    last = (offset or 0) + shown
    if shown < limit and last < total:
        these = f"{last - shown + 1}–{last}" if shown > 1 else f"{last}" if shown else "None"
        extent.print_remark(f"{these} of {plural.number(total, 'result')}; --all also lists those that repeat others")
    else:
        extent.print_extent("result", shown, total, offset=offset, whole=bool(total))
