"""Decisions, lessons, preferences and tasks: notes written on purpose, and which of them are in force."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from mdmem import timestamps
from mdmem.config import Config
from mdmem.errors import MdmemError, UsageError
from mdmem.history import attribution
from mdmem.search import engine, freshness, index, replaced
from mdmem.search.index import layout as index_layout
from mdmem.search.index.document import path_tails
from mdmem.search.index.view import View, cached_with_view
from mdmem.vault import disk, is_in_journal, journal, layout, links, note, people, user_notes
from mdmem.vault.user_notes import Written

KINDS = ("decision", "lesson", "preference")
MAX_STATEMENT_CHARS = 300


class Decision(NamedTuple):
    """A decision, lesson or preference.

    statement: first line that says more than the title, or "". superseded_by: id of the note that replaces it, "" while
    it is in force. before: titles of the notes that it supersedes, latest first.
    """

    id: str
    path: str
    kind: str
    title: str
    created: str
    project: str
    statement: str
    superseded_by: str
    before: list[str]


def add(
    config: Config,
    title: str,
    body: str,
    *,
    kind: str,
    supersedes: str = "",
    proposed: bool = False,
    now: float,
    **more: Any,
) -> Written:
    """Write a note of one of the kinds in `note.WRITTEN`. supersedes: id or path of the note that it replaces.

    Quotes that are not in the turns that the note cites are listed in its `unverified`.

    proposed: it waits until a person accepts it (see `proposals`); what it supersedes stays in force until then.
    more: project, tags and pinned, as for `user_notes.add`.

    Raises:
        UsageError: when the kind is unknown, or there is nothing to store.
        NotFoundError: when there is no such note to supersede.
        VaultError, BusyError, OSError: when the vault cannot be written.
    """
    if kind not in note.WRITTEN:
        raise UsageError(
            f"{kind!r:.40} is not a kind of note that can be written. Use one of {', '.join(note.WRITTEN)}."
        )
    old_path = index.resolve(config, supersedes) if supersedes else ""
    old = people.load_clean(config.vault, old_path).fact("id") or old_path
    unverified = unsupported_quotes(config, body)
    meta: dict[str, Any] = {
        "status": "proposed" if proposed else None,
        "supersedes": old or None,
        "unverified": unverified or None,
    }
    written = user_notes.add(config, title, body, kind=kind, now=now, **meta, **more)
    if old_path and written.path != old_path and not proposed:
        with attribution.to_agent(config, old_path, str(more.get("agent") or "")):
            user_notes.set_keys(config, old_path, {"superseded_by": written.id})
    return written


def supersede(config: Config, old: str, new: str) -> None:
    """Mark the note with the id `old` as superseded by the one with the id `new`.

    Raises NotFoundError, UsageError, VaultError, BusyError or OSError when it is missing or cannot be changed.
    """
    user_notes.set_keys(config, index.resolve(config, old), {"superseded_by": new})


def is_in_force(parsed: note.Parsed) -> bool:
    """Whether a note is in force: not superseded, not withheld, not private."""
    return _is_shown(parsed) and not parsed.meta.get("superseded_by")


def listed(
    config: Config,
    about: str = "",
    *,
    project: str = "",
    kinds: Iterable[str] = ("decision",),
    every: bool = False,
) -> list[Decision]:
    """Return the decisions in force, newest first; with `about`, best match first.

    about: words, or a file that notes name. kinds: some of KINDS; a note tagged with a kind counts as one.
    every: include superseded ones.
    """
    paths = freshness.ask(config, lambda view: paths_of_kinds(view, kinds, project))
    if about:
        paths = _about(config, paths, about)
    parsed_by_path = {path: _read(config, path) for path in paths}
    newer = _newer(parsed_by_path)
    titles = {parsed.fact("id"): parsed.fact("title") for parsed in parsed_by_path.values()}
    older: dict[str, list[str]] = {}
    for old, new in newer.items():
        older.setdefault(new, []).append(old)
    return [
        _decision(path, parsed, newer, older, titles)
        for path, parsed in parsed_by_path.items()
        if _is_shown(parsed) and (every or not newer.get(parsed.fact("id")))
    ]


def _read(config: Config, path: str) -> note.Parsed:
    """Read a note; id, title and time that its front matter lacks are those of the index."""
    parsed = people.load_clean(config.vault, path)

    def named(view: View) -> dict[str, Any]:
        number = view.find(path)
        if number is None:
            return {}
        return {**view.facts(number), "created": timestamps.iso_time(view.number("created", number))}

    if parsed.meta and not all(parsed.meta.get(key) for key in _NAMED):
        facts = freshness.ask(config, named)
        parsed.meta.update({key: parsed.meta.get(key) or facts.get(key, "") for key in _NAMED})
    return parsed


_NAMED = ("id", "title", "created")


def _is_shown(parsed: note.Parsed) -> bool:
    return (
        bool(parsed.meta) and not people.keeps_private(parsed.meta) and parsed.meta.get("status") not in note.WITHHELD
    )


def paths_of_kinds(view: View, kinds: Iterable[str], project: str = "") -> list[str]:
    """Return the paths of written notes of these kinds or with such a tag, newest first, without internal memories."""
    written = view.of_kinds(note.WRITTEN)
    tagged = view.with_any(f"tag:{kind}" for kind in kinds)
    numbers = of_project(view, (written & tagged) - view.internal, project)
    created = view.numbers("created")
    return [view.path(number) for number in sorted(numbers, key=lambda n: (created[n], view.path(n)), reverse=True)]


def _about(config: Config, paths: list[str], about: str) -> list[str]:
    """Return those of the paths that match words or a file name, best first."""
    allowed = frozenset(paths)
    tails = path_tails(about)

    def named(view: View) -> set[str]:
        return {view.path(number) for number in view.notes("facet", f"file:{tails[0]}")} if tails else set()

    in_file = allowed & freshness.ask(config, named)
    options = engine.SearchOptions(limit=1000, collapse=False, update=False)
    result = engine.search(config, about, options, kind=[*note.WRITTEN])
    best = [hit.path for hit in result.hits if hit.path in allowed]
    return list(dict.fromkeys([*(path for path in paths if path in in_file), *best]))


def _newer(parsed_by_path: Mapping[str, note.Parsed]) -> dict[str, str]:
    """Return id -> id of the note that replaces it; either of the two may say so."""
    newer: dict[str, str] = {}
    known = {
        target: parsed.fact("id")
        for path, parsed in reversed([*parsed_by_path.items()])
        for target in replaced.names(path, parsed.fact("id"), parsed.fact("title"))
    }
    for path, parsed in parsed_by_path.items():
        meta = parsed.meta
        if not _is_shown(parsed):
            continue
        name = str(meta.get("id", ""))
        if named := next(replaced.written(meta.get("superseded_by")), ""):
            newer[name] = note.one_line(named)
        for target in replaced.targets(meta.get("supersedes"), path):
            if (old := known.get(target, target)) != name:
                newer[old] = name
    return newer


def linked_ids(value: object) -> list[str]:
    """Return the ids in a link of front matter, which is one id or a list of them, each as `mem:ID` or plain."""
    references = value if isinstance(value, list) else [value] if value else []
    return [note.id_in_reference(str(reference)) for reference in references]


def _decision(
    path: str,
    parsed: note.Parsed,
    newer: Mapping[str, str],
    older: Mapping[str, list[str]],
    titles: Mapping[str, str],
) -> Decision:
    meta = parsed.meta
    name = str(meta.get("id", ""))
    return Decision(
        id=name,
        path=path,
        kind=str(meta.get("kind", "note")),
        title=str(meta.get("title", "")),
        created=timestamps.utc(str(meta.get("created", ""))),
        project=layout.project_named(path, meta),
        statement=statement(parsed),
        superseded_by=newer.get(name, ""),
        before=_chain(name, older, titles),
    )


def _chain(name: str, older: Mapping[str, list[str]], titles: Mapping[str, str]) -> list[str]:
    """Return the titles of what a note supersedes, directly or not, each once; a cycle ends."""
    chain, known = [name], {name}
    for current in chain:  # grows during the loop
        new = [old for old in older.get(current, ()) if old not in known]
        chain += new
        known.update(new)
    return [titles.get(old, old) for old in chain[1:]]


def statement(parsed: note.Parsed) -> str:
    """Return the first line of a note that says more than its title, "" without one."""
    title = parsed.fact("title")
    for line in parsed.body[:4000].splitlines():
        words = line.strip().lstrip("#>*- \t")
        if any(c.isalnum() for c in words) and words != title:
            return note.one_line(words, MAX_STATEMENT_CHARS)
    return ""


def marks_of(config: Config, view: View, number: int) -> Mapping[str, Any]:
    """Return a note's marks by people, by key; see `note.MARKS`. They are not cleaned: never show them.

    The file is read only when the index has seen a mark in it, or it has changed since the index was updated; and again
    only when the index has seen it change. Without permission to read it, it has no marks.
    """
    is_marked = number in _marked(view)
    try:
        return _marks_in(config.vault, view.path(number), view.stamp(number), is_marked)
    except PermissionError:  # not cached: permissions change no mtime
        return {}


@cached_with_view
def _marked(view: View) -> set[int]:
    return view.notes("facet", index_layout.MARKS)


@lru_cache(maxsize=8192)
def _marks_in(root: str, path: str, stamp: tuple[int, int, int], is_marked: bool) -> Mapping[str, Any]:
    if not is_marked and _is_unchanged(root, path, stamp):
        return MappingProxyType({})
    meta = note.parse(disk.read_path(root, path) or b"").meta
    return MappingProxyType({key: meta[key] for key in note.MARKS if key in meta})


def _is_unchanged(root: str, path: str, stamp: tuple[int, int, int]) -> bool:
    """Whether a note's file is the one that the index has read. stamp: its mtime, size and inode in the index."""
    try:
        state = disk.lstat(root, path)
    except (OSError, ValueError):
        return False
    return stamp == (state.st_mtime_ns, state.st_size, state.st_ino)


def of_project(view: View, numbers: set[int], project: str) -> set[int]:
    """Return those of the notes that belong to a project or to none; project: "" returns all."""
    if not project:
        return numbers
    return numbers & (view.of_project(project) | view.notes("facet", "project:"))


MAX_QUOTES = 20
MIN_WORDS = 3
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{8,600})[\"”“»]")
_BLOCK = re.compile(r"^ {0,3}> ?(.{8,600})$", re.MULTILINE)


def unsupported_quotes(config: Config, text: str) -> list[str]:
    """Return the quotes in a note that are in none of the turns that it cites; [] when it cites none."""
    quotes = list(_quotes(text))
    cited = dict.fromkeys(links.CITED.findall(text)) if quotes else ()
    turns = [turn_text for name in cited if (turn_text := _turn(config, name))]
    if not turns:
        return []
    return [quote for quote in quotes if not any(_plain(quote) in turn_text for turn_text in turns)]


def _quotes(text: str) -> Iterator[str]:
    quotes = [*_QUOTED.findall(text), *_BLOCK.findall(text)]
    yield from (quote for quote in quotes[:MAX_QUOTES] if len(quote.split()) >= MIN_WORDS)


def _turn(config: Config, name: str) -> str:
    """Return the text of a note's turn, else of the note itself; "" when it is unknown."""
    try:
        path = index.resolve(config, name)
    except MdmemError:
        return ""
    folder = layout.folder_of(path)
    turn_number = journal.numbers(path)[:1]
    paths = [path]
    if turn_number and is_in_journal(folder):
        names = sorted(disk.names_in(config.vault, folder))
        paths = [f"{folder}/{file_name}" for file_name in names if journal.numbers(file_name)[:1] == turn_number]
    return "\n".join(_plain(people.load_clean(config.vault, path).body) for path in paths)


def _plain(text: str) -> str:
    words = re.sub(r"\[?\bmem:[0-9a-z]{10}\b\]?", " ", text).lower()
    return " ".join(re.findall(r"\w+", words))
