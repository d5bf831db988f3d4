"""Replaced: which note says in its own front matter that it supersedes another.

The older note need not say so itself. The link is an id, a path or a `[[wikilink]]`.
"""

from __future__ import annotations

from itertools import islice

from mdmem.search import freshness
from mdmem.search.all_but import in_all
from mdmem.search.index.resolve import named
from mdmem.search.text import analysis
from mdmem.vault import disk, links, note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mdmem.config import Config
    from mdmem.search.index.view import View

MAX_READ = 20
"""Maximum number of linking notes that are read."""


def names(path: str, name: str, title: str) -> frozenset[str]:
    """Return what links to a note may be, in lower case. path: vault-relative. name: its id."""
    stem = links.stem(path.lower())
    return frozenset({name.lower(), path.lower(), stem, stem.rpartition("/")[2], links.stem(title.lower())} - {""})


def written(value: object) -> Iterator[str]:
    """Yield each link of a value in front matter, in which YAML reads an unquoted `[[wikilink]]` as nested lists."""
    if isinstance(value, list):
        for one in value:
            yield from written(one)
    elif value:
        yield str(value)


def targets(value: object, path: str) -> Iterator[str]:
    """Yield what a link in the front matter of the note at `path` names, as in `names`."""
    for text in map(note.id_in_reference, written(value)):
        wiki = next(links.written(f"[[{text}]]"), None)
        yield links.key(wiki, path.rpartition("/")[0]) if wiki else text.lower()


def meant(view: View, path: str, link: str) -> int | None:
    """Return the note that a link of the note at `path` names by its id, path, file name or title; None for none."""
    for target in targets(link, path):
        if exact := view.notes("facet", f"id:{target}"):
            return min(exact)
        found = map(view.find, named(view, target))
        candidates = {number for number in found if number is not None}
        candidates |= in_all(view.notes("title", term) for term in analysis.counts(target))
        for number in sorted(candidates - view.internal, reverse=True):
            if target in _names_of(view, number):
                return number
    return None


def newer(config: Config, path: str) -> str:
    """Return the id of a note that supersedes the one at `path`, "" for none."""

    def in_view(view: View) -> str:
        number = view.find(path)
        found = None if number is None else _superseding(view, config.vault, number)
        return "" if found is None else str(view.facts(found)["id"])

    return freshness.answered(config, in_view) or ""


def successor(view: View, root: str, number: int) -> int | None:
    """Return a note that supersedes another one, by the front matter of either; None if there is none."""
    by_itself = _named(view, root, number)
    return _superseding(view, root, number) if by_itself is None else by_itself


def successor_name(view: View, root: str, number: int) -> str:
    """Return the id of the note that supersedes another one, "" for none.

    If the other one names no note, return what it says, on one line: it is superseded all the same.
    """
    if view.kind(number) not in note.WRITTEN:
        return ""
    found = successor(view, root, number)
    if found is not None:
        return str(view.facts(found)["id"])
    data = disk.readable(root, view.path(number)) or b""
    value = note.parse(data).meta.get("superseded_by") if b"superseded_by" in data else None
    return note.one_line(next(written(value), ""))


def newest_first(view: View, root: str, order: Iterable[int]) -> Iterator[int]:
    """Yield notes in order, but what supersedes another one of the first LOOKED_AT right before that one."""
    notes = iter(order)
    first = list(islice(notes, LOOKED_AT))
    for older, found in _pairs(view, root, tuple(first)):
        if first.index(found) > first.index(older):
            first.remove(found)
            first.insert(first.index(older), found)
    yield from first
    yield from notes


def superseded(config: Config, paths: Iterable[str]) -> set[str]:
    """Return those of some notes' paths that another one of these notes supersedes."""

    def in_view(view: View) -> set[str]:
        numbers = [number for path in paths if (number := view.find(path)) is not None]
        return {view.path(older) for older, _ in _pairs(view, config.vault, numbers)}

    return freshness.answered(config, in_view) or set()


def _pairs(view: View, root: str, notes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield each of some notes that another one of them supersedes, with that one, in their order."""
    written = {one for one in notes if view.kind(one) in note.WRITTEN}
    linked = {one: _linking(view, one) & written for one in written}
    concerned = {one for one in written if linked[one]}.union(*linked.values())  # few, so that few files are read
    for older in notes:
        if older in concerned:
            found = _named(view, root, older, concerned)
            found = _superseding(view, root, older, concerned) if found is None else found
            if found is not None:
                yield older, found


LOOKED_AT = 50


def _superseding(view: View, root: str, number: int, among: set[int] | None = None) -> int | None:
    """Return a note that says of itself that it supersedes another one. among: only one of these."""
    known = _names_of(view, number)
    linking = _linking(view, number) if among is None else _linking(view, number) & among
    if linking and among is None:
        linking &= view.of_kinds(note.WRITTEN) - view.internal
    for other in islice(sorted(linking), MAX_READ):
        data = disk.read_path(root, view.path(other)) or b""
        meta = note.parse(data).meta if b"supersedes" in data else {}  # most links are others, and parsing is slow
        is_shown = not people.keeps_private(meta) and meta.get("status") not in note.WITHHELD
        if is_shown and not known.isdisjoint(targets(meta.get("supersedes"), view.path(other))):
            return other
    return None


def _named(view: View, root: str, number: int, among: set[int] | None = None) -> int | None:
    """Return the note that one names in its own front matter as superseding it. among: only one of these.

    Among few notes, no other paths and titles are looked through for the name.
    """
    data = disk.read_path(root, view.path(number)) or b""
    value = note.parse(data).meta.get("superseded_by") if b"superseded_by" in data else None
    if among is not None:
        wanted = frozenset(targets(value, view.path(number)))
        known = (one for one in sorted(among - {number}) if wanted and not wanted.isdisjoint(_names_of(view, one)))
        return next(known, None)
    found = (meant(view, view.path(number), link) for link in written(value))
    return next((one for one in found if one is not None and one != number and one not in view.internal), None)


def _linking(view: View, number: int) -> set[int]:
    """Return the other notes that link to one."""
    return view.with_any(f"link:{name}" for name in _names_of(view, number)) - {number}


def _names_of(view: View, number: int) -> frozenset[str]:
    facts = view.facts(number)
    return names(view.path(number), str(facts["id"]), str(facts["title"]))
