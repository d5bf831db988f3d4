"""Unasked: what is given without a question: what is known of a file before it is changed, and notes that stay true."""

from __future__ import annotations

from mdmem.inject import bars
from mdmem.inject.injection_log import IN_VAIN_TIMES
from mdmem.inject.rendering import answer_item, block, excerpts
from mdmem.inject.rendering.block import Item, Section
from mdmem.search import answering, engine, freshness, replaced, turn_groups
from mdmem.search.query import Filter, Query
from mdmem.vault import journal, layout, note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmem.inject.occasion import Occasion
    from mdmem.search.hits import SearchHit
    from mdmem.search.index.view import View

MAX_OF_FILE = 3
FILE_CHARS = 800
"""Maximum length of the block before a file is read or changed."""


# -- about a file -----------------------------------------------------------------------------------


def about_file(occasion: Occasion, path: str) -> Section:
    """Return the newest turns and notes about exactly this file, newest first.

    Those that only read it come last, and answers that only mention it.
    """
    name = _within(path, occasion.place.worktree)
    answering.make_ready(occasion.config, occasion.seconds_left / 2)
    query = Query(filters=(Filter("file", (name.lower(),)),))
    hits = _newest(occasion, query, 40)
    relevant = [
        hit
        for hit in hits
        if _may_be_told(occasion, hit) and hit.session != occasion.record.id and _is_about(hit, name)
    ]
    turns: dict[tuple[str, tuple[int, ...]], SearchHit] = {}
    for hit in sorted(relevant, key=lambda hit: _is_only_read(hit) or _only_mentions(hit, name)):
        turn = journal.numbers(hit.path)[:1]
        turns.setdefault((layout.folder_of(hit.path) if turn else hit.path, turn), hit)
    terms, shares = frozenset([name.lower()]), _SHARES_OF_FILE[min(len(turns), MAX_OF_FILE)]
    items: list[Item] = []
    for (_, turn), hit in turns.items():
        if len(items) == len(shares):
            break
        room = int(FILE_CHARS * shares[len(items)])
        item = (
            answer_item.of_turn(occasion, hit, terms, room, name)
            if turn
            else answer_item.of_note(occasion, hit, terms, room)
        )
        items += [item[0]] if item[0] is not None else []
    return Section(f"What is known of {name}", items)


_SHARES_OF_FILE = ((), (1.0,), (0.6, 0.4), (0.5, 0.3, 0.2))
"""Shares of the block that the turns about a file may use, best first, by their number."""


def _is_only_read(hit: SearchHit) -> bool:
    """Whether a note only says that a file was looked at, or that it could not be changed."""
    if hit.kind != "observation":
        return False
    name = layout.split(hit.path)[1]
    is_failed_edit = hit.facts.get("success") is False and not turn_groups.is_shell(name)
    return is_failed_edit or turn_groups.is_only_look(name)


def _is_about(hit: SearchHit, name: str) -> bool:
    """Whether a note is about a file by its path, not only by mentioning a file of that name."""
    return name in _files(hit) or (hit.kind in (*bars.PERSONS, "response") and "/" in name)


def _only_mentions(hit: SearchHit, name: str) -> bool:
    """Whether a note is the answer of a turn that changed other files."""
    files = _files(hit)
    return hit.kind == "response" and bool(files) and name not in files


def _files(hit: SearchHit) -> list[str]:
    files = hit.facts.get("files")
    return list(map(str, files)) if isinstance(files, (list, tuple)) else []


def _within(path: str, root: str) -> str:
    """Return a file's path as notes have it: relative to the project's working tree if inside."""
    top = root.rstrip("/") + "/"
    return path.removeprefix(top) if path.startswith(top) else path.lstrip("/")


def _may_be_told(occasion: Occasion, hit: SearchHit) -> bool:
    if not hit.project or occasion.is_of(hit.project):
        return hit.facts.get("private") is not True
    return occasion.config.settings.inject.other_projects and hit.project.lower() not in occasion.closed


# -- durable notes ---------------------------------------------------------------------------------

MAX_INDEX_LINES = 40
_SPARE = 3
"""How many times as many notes are looked through."""
_PINNED_CHARS = 330
"""A pinned note up to this length is given whole."""
_READ_CHARS = 20_000
"""Number of characters in which the first sentence of a pinned note is looked for."""
MAX_INDEX_CHARS, MIN_INDEX_CHARS = 3_000, 900
"""Limits of the index's length, within which it uses what open work and sessions leave of a block."""


def durable(occasion: Occasion, uses: dict[str, int], room: int) -> Section:
    """Return the notes that stay true: a person's notes, decisions, preferences, lessons.

    Pinned notes come first, then the most used ones; notes given in vain come last.

    uses: id -> number of times given to an agent. room: characters that the rest of the block leaves.
    """
    by_person = _matching(occasion, Filter("is", ("pinned",)))
    pinned = {hit.id for hit in by_person}
    by_id = {
        hit.id: hit
        for hit in (*by_person, *_matching(occasion, Filter("kind", bars.PERSONS)))
        if _may_be_told(occasion, hit)
    }
    hits = sorted(by_id.values(), key=lambda hit: hit.created, reverse=True)
    in_vain = _in_vain(occasion, uses)
    hits.sort(key=lambda hit: (hit.id not in pinned, hit.id in in_vain, -uses.get(hit.id, 0)))
    items: list[Item] = []
    chars = omitted = 0
    room = min(max(room, MIN_INDEX_CHARS), MAX_INDEX_CHARS)
    for hit in hits:
        item = _line(occasion, hit, full=hit.id in pinned)
        if item is None:
            continue
        width = block.line_width(item)
        is_listed = len(items) < MAX_INDEX_LINES and chars + width <= room
        if is_listed and replaced.newer(occasion.config, hit.path):
            continue
        chars += width
        if is_listed:
            items.append(item)
        else:
            omitted += 1
    return Section("Notes that stay true", items, f"({omitted} more: `mdmem search kind:decision`)" if omitted else "")


def _in_vain(occasion: Occasion, uses: dict[str, int]) -> set[str]:
    """Return the notes that were given often but are cited by no answer; they are ranked last."""
    often = [name for name, times in uses.items() if times >= IN_VAIN_TIMES]

    def uncited(view: View) -> set[str]:
        answers = view.notes("facet", "kind:response")
        return {name for name in often if not view.notes("facet", f"link:{name}".lower()) & answers}

    return (freshness.answered(occasion.config, uncited) or set()) if often else set()


def _matching(occasion: Occasion, condition: Filter) -> Sequence[SearchHit]:
    return _newest(occasion, Query(filters=(condition,)), _SPARE * MAX_INDEX_LINES)


def _newest(occasion: Occasion, query: Query, limit: int) -> Sequence[SearchHit]:
    options = engine.SearchOptions(sort="newest", limit=limit, update=False, here=occasion.here, collapse=False)
    return engine.search(occasion.config, query, options).hits


def _line(occasion: Occasion, hit: SearchHit, *, full: bool) -> Item | None:
    """Return a line of the index; with `full`, as for pinned notes, also its text, or a long one's first sentence."""
    if occasion.has_seen(hit.id):
        return None
    vault, rules = occasion.config.vault, occasion.gate.rules
    # Of most, no word of the text is given, so that it is not cleaned.
    parsed = people.load_clean(vault, hit.path, rules) if full else note.load(vault, hit.path)
    if answer_item.left_out(occasion, hit, parsed, occasion.event.agent):
        return None
    marks = answer_item.project_marks(occasion, hit)
    if not full:
        item = answer_item.item_of(occasion, hit, hit.title, "", room=130, marks=marks)
        item.is_listed = bool(parsed.body.strip())
        return item
    body = occasion.gate.stored(parsed.body[:_READ_CHARS])
    whole = excerpts.prose(body)
    is_short = len(whole) <= _PINNED_CHARS and "```" not in body and len(parsed.body) <= _READ_CHARS
    text = whole if is_short else excerpts.first(body)
    item = answer_item.item_of(occasion, hit, hit.title, text, room=_PINNED_CHARS, marks=marks)
    item.is_listed = not is_short and len(text) < len(" ".join(body.split()))
    return item
