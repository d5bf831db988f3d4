"""Related: the memories that a text, or a file, brings to mind, in the order of their use to an agent."""

from __future__ import annotations

import os
import time

from mdmem import front_matter, journal, vault
from mdmem.recall import analysis, recent, search
from mdmem.recall.block import Item, Section
from mdmem.recall.query import Filter, Query
from mdmem.recall.stopwords import STOPWORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from mdmem.recall.context import At
    from mdmem.recall.search import Hit

MOST = 100
"""So many memories have no room in a block, whatever the settings say."""
MAX_PINNED = 10
MAX_OF_FILE = 5
MAX_OBSERVATIONS = 3
MAX_FILES_NAMED = 3
USE = ("note", "response", "prompt", "summary", "session", "project", "observation")
"""The kinds of memories in the order of their use to an agent; other kinds, and what a person edited, are as a note."""
ALIKE = 0.8
"""Memories that score at least this share of the best are as good as it: their use decides."""
FLOOR = 0.2
"""A memory that scores less than this share of the best has no more than a word in common with the query."""
SPREAD = 0.975
"""What is left of a memory's score for each better one of the same session: two sessions tell more than one."""
_SPARE = 3
"""How many times as many notes are looked at as are shown: some are superseded, or were given already."""
_CLOCK_SECONDS = 2.0
"""A file that is newer than a note of it by no more than this may be as the note knew it."""
_JUST_SECONDS = 10.0
"""A prompt of this session that was stored this recently is the one that is being answered."""
_EXCERPT_CHARS = 1_000


class Found:
    """A note that a query found, and what was made of it: its score, and why it is not shown, or ""."""

    __slots__ = ("hit", "item", "left_out")

    def __init__(self, hit: Hit, item: Item | None, left_out: str = "") -> None:
        self.hit = hit
        self.item = item
        self.left_out = left_out


def has_topic(text: str) -> bool:
    """Say whether a text has a word to search by, beside function words."""
    return any(word.lower() not in STOPWORDS for word in analysis.words(text))


def to(at: At, query: str, heading: str, *, without_session: bool) -> Section:
    """Give the memories that a query finds, most useful first."""
    return shown(looked_up(at, query, without_session=without_session), heading)


def shown(found: Iterable[Found], heading: str) -> Section:
    """Keep what is to be shown of what was found."""
    return Section(heading, [one.item for one in found if one.item is not None])


def looked_up(at: At, query: str, *, without_session: bool) -> list[Found]:
    """Give what a query finds, best first, with what is left out and why, until there are enough to show."""
    limit = min(at.config.settings["inject.recall_limit"], MOST)
    hits = search.for_prompt(
        at.config,
        query,
        project=None if at.config.settings["inject.other_projects"] else at.project,
        without_session=at.record.id if without_session else "",
        limit=_SPARE * limit,
        snippet_chars=at.config.settings["inject.bullet_chars"],
        budget_seconds=at.seconds_left / 2,
        guess=_guess(at, query),
        here=at.here,
        now=_other_time(at.now),
    )
    return _by_use(list(_until(limit, _judged(at, hits, query))))


def _other_time(now: float) -> datetime | None:
    """Give the time that it is to be, where it is not what the clock says: `datetime` is slow to load."""
    if abs(now - time.time()) < 60.0:
        return None
    from datetime import UTC, datetime

    return datetime.fromtimestamp(now, UTC)


def _guess(at: At, query: str) -> str:
    """Ask a model for a guess, where the user's settings say so; the search keeps its own part of the deadline."""
    settings = at.config.settings
    if not settings["expand.enabled"]:
        return ""
    from mdmem.recall import expand

    room = at.deadline - time.monotonic() - float(settings["inject.deadline_seconds"])
    return expand.guess(at.config, query, caller="inject", seconds=max(room, 0.0))


def pinned(at: At) -> Section:
    """Give the notes that a person pinned, of this project and of none."""
    search.bring_up_to_date(at.config, quick=True, budget_seconds=at.seconds_left / 2, wait_seconds=0.0)
    result = search.search(
        at.config, Query(), state="pinned", sort="newest", limit=_SPARE * MAX_PINNED, update=False, here=at.here
    )
    found = (_show(at, hit, 1.0, beginning=True) for hit in result.hits if _is_at_home(at, hit))
    return shown(_until(MAX_PINNED, found), "Pinned")


def about_file(at: At, path: str) -> Section:
    """Give what is known of a file, unless it has changed since; what was said of it before what was done to it."""
    try:
        changed = vault.iso_time(os.stat(path).st_mtime - _CLOCK_SECONDS)
    except (OSError, ValueError):
        return Section("", [])
    name = _within(path, at.place.worktree)
    search.bring_up_to_date(at.config, quick=True, budget_seconds=at.seconds_left / 2, wait_seconds=0.0)
    asked = Query(filters=(Filter("file", (name.lower(),)),))
    limit = _SPARE * MAX_OF_FILE
    hits = search.search(at.config, asked, sort="newest", limit=limit, update=False, here=at.here).hits
    known = [hit for hit in hits if _is_at_home(at, hit) and hit.session != at.record.id and hit.created >= changed]
    found = (_show(at, hit, 1.0) for hit in sorted(known, key=lambda hit: hit.kind == "observation"))
    return shown(_until(MAX_OF_FILE, found), f"What is known of {name}")


def _within(path: str, root: str) -> str:
    """Name a file as notes do: as seen from the project's working tree, where it lies inside."""
    inside = root.rstrip("/") + "/"
    return path.removeprefix(inside) if path.startswith(inside) else path.lstrip("/")


# -- which are shown -------------------------------------------------------------------------------


def _until(limit: int, found: Iterable[Found]) -> Iterator[Found]:
    """Give what was found until `limit` of it can be shown."""
    shown = 0
    for one in found:
        if shown >= limit:
            return
        shown += one.item is not None
        yield one


def _judged(at: At, hits: Iterable[Hit], query: str) -> Iterator[Found]:
    hits = list(hits)
    wanted = _observations(hits, query)
    top = max((hit.score for hit in hits), default=0.0) or 1.0
    sessions: set[str] = set()
    for hit in _spread(hits, wanted):
        if hit.kind == "observation" and hit.id not in wanted:
            yield Found(hit, None, "other notes say it better")
        elif hit.kind == "session" and hit.session in sessions:
            yield Found(hit, None, "notes of it are shown")
        elif hit.score < FLOOR * top:
            yield Found(hit, None, "too little in common")
        else:
            sessions.add(hit.session)
            yield _show(at, hit, hit.score / top)


def _spread(hits: Iterable[Hit], wanted: frozenset[str]) -> list[Hit]:
    """Put the memories of one session a little further back for each of it that comes before them."""
    before: dict[str, int] = {}
    worth: dict[str, float] = {}
    for hit in hits:
        worth[hit.path] = hit.score * SPREAD ** before.get(hit.session, 0)
        if hit.session and (hit.kind != "observation" or hit.id in wanted):
            before[hit.session] = before.get(hit.session, 0) + 1
    return sorted(hits, key=lambda hit: -worth[hit.path])


def _by_use(found: list[Found]) -> list[Found]:
    """Let use decide between memories that are about as good as the best; the others stay in their order."""
    top = max((one.hit.score for one in found), default=0.0)
    best = [one for one in found if one.hit.score >= ALIKE * top]
    others = [one for one in found if one.hit.score < ALIKE * top]
    kinds = {kind: place for place, kind in enumerate(USE)}
    best.sort(key=lambda one: 0 if one.hit.edited else kinds.get(one.hit.kind, 0))
    return best + others


def _observations(hits: list[Hit], query: str) -> frozenset[str]:
    """Choose the observations to show: of files and errors that no other note speaks of, or when there is no other."""
    runs = [hit for hit in hits if hit.kind == "observation"]
    if len(runs) < len(hits):
        asked = _names(query) if runs else ()
        others = [_said(hit) for hit in hits if hit.kind != "observation"] if asked else []
        names = [name for name in asked if not any(name in text for text in others)]
        runs = [hit for hit in runs if any(name in _said(hit) for name in names)] if names else []
    return frozenset(hit.id for hit in runs[:MAX_OBSERVATIONS])


def _names(query: str) -> set[str]:
    """Name the files and the errors that a query speaks of."""
    files: set[str] = set()
    if "." in query:
        from mdmem.recall.index.document import mentioned_files

        files = {name.rpartition("/")[2].lower() for name in mentioned_files(query)}
    errors = {word.lower() for word in analysis.words(query) if word.endswith(("Error", "Exception")) and len(word) > 9}
    return files | errors


def _said(hit: Hit) -> str:
    return " ".join([hit.title, hit.snippet, *map(str, hit.facts.get("files", ()))]).lower()


def _is_at_home(at: At, hit: Hit) -> bool:
    return hit.project in ("", *at.names) or bool(at.config.settings["inject.other_projects"])


# -- how they are shown ----------------------------------------------------------------------------


def _show(at: At, hit: Hit, confidence: float, *, beginning: bool = False) -> Found:
    """Make what is shown of a note, from its file as it is now. beginning: quote that, not what was found."""
    if hit.id in at.given:
        return Found(hit, None, "given already")
    if hit.session == at.record.id and hit.kind == "prompt" and hit.created > vault.iso_time(at.now - _JUST_SECONDS):
        return Found(hit, None, "the prompt itself")
    if hit.kind == "session" and hit.path.endswith(f"/{journal.PAGE}"):
        return Found(hit, recent.done(recent.Visit(at.config, at.gate, tuple(hit.path.split("/")[:-1]))))
    text = (vault.read_path(at.config.vault, hit.path) or b"").decode("utf-8", "replace").replace("\r\n", "\n")
    if not text:
        return Found(hit, None, "its file is gone")
    header, body, _ = front_matter.split(text.removeprefix("\ufeff"))
    if _is_superseded(header or ""):
        return Found(hit, None, "superseded")
    quoted = body[:_EXCERPT_CHARS] if beginning else hit.snippet
    if "private" in body.lower():
        clean = at.gate.stored(body)
        quoted = quoted if clean == body else clean[:_EXCERPT_CHARS]
    item = Item(
        id=hit.id,
        kind=hit.kind,
        title=at.gate.stored(hit.title),
        date=recent.spoken(hit.created)[:10],
        path=hit.path,
        text=at.gate.stored(quoted),
        confidence=confidence,
        marks=tuple(_marks(at, hit)),
    )
    return Found(hit, item)


def _is_superseded(header: str) -> bool:
    """Say whether front matter names a note that took this one's place."""
    if "superseded_by" not in header:
        return False
    _, _, rest = f"\n{header}".partition("\nsuperseded_by:")
    value = rest.partition("\n")[0].partition(" #")[0].strip().strip("\"'")
    if value:
        return value.lower() not in ("null", "~", "false", "[]")
    from mdmem import note  # YAML is slow to load, and is what reads a list of several lines, or a key in quotes

    return bool(note.parse(f"---\n{header}\n---\n".encode()).meta.get("superseded_by"))


def _marks(at: At, hit: Hit) -> Iterator[str]:
    if hit.facts.get("success") is False:
        yield "failed"
    if hit.project not in ("", *at.names):
        yield f"of another project: {hit.project}"
    changed, gone = _since(at, hit)
    if changed:
        yield f"changed since: {', '.join(changed[:MAX_FILES_NAMED])}"
    if gone:
        yield f"no longer there: {', '.join(gone[:MAX_FILES_NAMED])}"


def _since(at: At, hit: Hit) -> tuple[list[str], list[str]]:
    """Tell which of a note's files were changed after it was written, and which are gone."""
    changed: list[str] = []
    gone: list[str] = []
    files = hit.facts.get("files")
    if hit.project not in at.names or not isinstance(files, (list, tuple)):
        return changed, gone
    for name in map(str, files):
        path = name if os.path.isabs(name) else os.path.join(at.place.worktree, name)
        try:
            if vault.iso_time(os.stat(path).st_mtime - _CLOCK_SECONDS) > hit.created:
                changed.append(name)
        except FileNotFoundError:
            gone.append(name)
        except (OSError, ValueError):
            continue
    return changed, gone
