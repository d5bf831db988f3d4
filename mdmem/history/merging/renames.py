"""Which file of one tree is which of another: by the note's id, by what is in it, by the folder it was moved with."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from mdmem.history import find
from mdmem.history.changes import MARKDOWN
from mdmem.history.git import repository
from mdmem.history.git.repository import Repository
from mdmem.history.git.texts import Texts
from mdmem.vault import journal, note

Tree = dict[str, str]
"""Path -> blob id; links, nested repositories and paths that no vault has are left out."""

Moves = dict[str, str]
"""Path (or folder, without a slash at its end) -> its new name."""

_PROJECT = "project "


class Side(NamedTuple):
    """One of two trees that come from a common one: its commit, its files, and which of the common ones it moved."""

    oid: str
    files: Tree
    moves: Moves
    folders: Moves


def align(repo: Repository, base: str, was: Tree, ours: tuple[str, Tree], theirs: tuple[str, Tree]) -> list[Moves]:
    """Return which paths of three trees (the common one, ours, theirs) get another name, as a side has moved them.

    What a side has added to a folder that the other one moved goes along, as does a second folder of a session.
    Where both moved a file, or both made it, the name that sorts first counts. A name that is taken is not given
    away: such a file keeps its own.
    """
    our, their = (_side(repo, base, was, *side) for side in (ours, theirs))
    folders = _both_folders(our, their)
    was_to: Moves = {}
    our_to: Moves = {}
    their_to: Moves = {}
    for path in {*our.moves, *their.moves}:
        target = min(_target(path, side, folders) for side in (our, their) if path in side.moves)
        for mapping, now in (
            (was_to, path),
            (our_to, our.moves.get(path, path)),
            (their_to, their.moves.get(path, path)),
        ):
            mapping[now] = target
    our_new, their_new = (_added(was, side) for side in (our, their))
    doubled, joined = _made_twice(repo, our, our_new, their, their_new)
    for mapping, added, side, other in ((our_to, our_new, our, their), (their_to, their_new, their, our)):
        along = {**_following(side, other), **joined}
        mapping |= {path: new for path in added if (new := doubled.get(path) or _within(path, along)) != path}
    return [_moved(files, to) for files, to in ((was, was_to), (our.files, our_to), (their.files, their_to))]


def _side(repo: Repository, base: str, was: Tree, oid: str, files: Tree) -> Side:
    moves = _moves(repo, base, was, oid, files)
    return Side(oid, files, moves, _folders(moves, files))


def _added(was: Tree, side: Side) -> list[str]:
    moved = set(side.moves.values())
    return [path for path in side.files if path not in was and path not in moved]


def _moves(repo: Repository, base: str, was: Tree, oid: str, now: Tree) -> Moves:
    """Find where the files are that have left their path: by id, by the same text, by one that is much like it."""
    gone = {path: blob for path, blob in was.items() if path not in now}
    new = {path: blob for path, blob in now.items() if path not in was} if gone else {}
    if not new:
        return {}
    named = _identities(repo, gone) | _identities(repo, new)
    found: Moves = {}
    for keys in (lambda path, _: named.get(path, ""), lambda _, blob: blob):
        places: dict[str, list[str]] = {}
        for path in sorted(set(new) - set(found.values())):
            places.setdefault(keys(path, new[path]), []).append(path)
        for path in sorted(set(gone) - set(found)):
            like = places.get(keys(path, gone[path]) or " ", [])
            best = _best(path, like)
            if best:
                found[path] = best
                like.remove(best)
    return found | _alike(repo, base, oid, set(gone) - set(found), set(new) - set(found.values()))


def _alike(repo: Repository, base: str, oid: str, gone: set[str], new: set[str]) -> Moves:
    """Ask git, of files without an id, which were moved and changed."""
    if not gone or not new:
        return {}
    words = ("diff-tree", "-r", "--find-renames=60%", "--diff-filter=R", "--name-status", "-z", base, oid)
    fields = os.fsdecode(repository.run(repo, *words)).split("\0")
    rows = zip(fields[1::3], fields[2::3], strict=False)
    return {
        old: path for old, path in rows if old in gone and path in new and not (_captured_id(old) or _captured_id(path))
    }


def _identities(repo: Repository, files: Tree) -> dict[str, str]:
    """Return what makes each note itself, by path; their texts are read some at a time."""
    notes = Texts(repo, {path: blob for path, blob in files.items() if _is_note(path)})
    return {path: _identity(path, data) for path, data in notes.items()}


def _identity(path: str, data: bytes) -> str:
    """Return what makes a note itself wherever it lies: its id, or of a project's page its project; "" for neither."""
    if not _is_note(path):
        return ""
    meta = note.parse(data).meta
    if path.rpartition("/")[2] == journal.PROJECT_PAGE and meta.get("identity"):
        held = meta["identity"]
        return f"{_PROJECT}{held[0] if isinstance(held, list) else held}"
    return str(meta.get("id") or _captured_id(path))


def _captured_id(path: str) -> str:
    """Return the id in a captured note's name; a name that a person gave may end like one by chance."""
    return find.id_in(path) if journal.numbers(path.rpartition("/")[2]) else ""


def _is_note(path: str) -> bool:
    return path.endswith(MARKDOWN)


def _best(path: str, like: list[str]) -> str:
    """Pick, of several that could be it, one with the same name."""
    name = path.rpartition("/")[2]
    return next((one for one in like if one.rpartition("/")[2] == name), like[0] if like else "")


def _folders(moves: Moves, now: Tree) -> Moves:
    """Find the folders that were moved, as their files show: of those nothing is left under the old name."""
    votes: dict[str, Counter[str]] = {}
    for old, new in moves.items():
        for left, right in _differing(old, new):
            votes.setdefault(left, Counter())[right] += 1
    held = {folder for path in now for folder in _above(path)} if votes else set()
    return {old: counted.most_common(1)[0][0] for old, counted in votes.items() if old not in held}


def _differing(old: str, new: str) -> Iterable[tuple[str, str]]:
    """Yield the folders of two paths, from below, as long as what is below them has the same names; none is equal."""
    while True:
        old, _, old_name = old.rpartition("/")
        new, _, new_name = new.rpartition("/")
        if old_name != new_name or old == new or not old or not new:
            return
        yield old, new


def _above(path: str) -> Iterable[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _both_folders(our: Side, their: Side) -> Moves:
    """Return where folders go in the end; where both sides have moved one, to the name that sorts first."""
    every = {*our.folders, *their.folders}
    return {old: min(side.folders[old] for side in (our, their) if old in side.folders) for old in every}


def _target(path: str, side: Side, folders: Moves) -> str:
    """Return where a file goes that a side has moved: one that went along with its folder goes where that goes."""
    new = side.moves[path]
    return _within(path, folders) if new == _within(path, side.folders) else new


def _following(side: Side, other: Side) -> Moves:
    """Return where folders of one side go, since the other has moved them; where both have, to the same name."""
    both = {side.folders[old]: min(side.folders[old], new) for old, new in other.folders.items() if old in side.folders}
    return {**other.folders, **both}


def _within(path: str, folders: Mapping[str, str]) -> str:
    above = next((folder for folder in _above(path) if folder in folders), "")
    return folders[above] + path.removeprefix(above) if above else path


def _made_twice(
    repo: Repository, our: Side, our_new: list[str], their: Side, their_new: list[str]
) -> tuple[Moves, Moves]:
    """Find notes that both sides made under different names, and the folders of sessions and projects made twice."""
    if not our_new or not their_new:
        return {}, {}
    fewer, more = sorted(((our.files, our_new), (their.files, their_new)), key=lambda one: len(one[1]))
    ids = [_ids(repo, *fewer)]
    ids.append(_ids(repo, *more, among=ids[0]))
    paths: Moves = {}
    folders: Moves = {}
    for name in ids[0].keys() & ids[1].keys():
        pair = sorted((ids[0][name], ids[1][name]))
        if pair[0] == pair[1]:
            continue
        is_project = all(journal.is_projects_page(path) for path in pair)
        if is_project:
            pages = Texts(repo, {path: files[path] for files, _ in (fewer, more) for path in pair if path in files})
            pair.sort(key=lambda path: journal.has_first_name(path, note.parse(pages[path]).meta))
        paths[pair[1]] = pair[0]
        kept, other = (path.rpartition("/")[0] for path in pair)
        if kept != other and (is_project or all(_is_page(path) for path in pair)):
            folders[other] = kept
    return paths, folders


def _ids(repo: Repository, files: Tree, paths: list[str], among: Container[str] | None = None) -> dict[str, str]:
    """Map ids to paths, for those that one file alone has. among: only these ids; None for all."""
    if among is not None and not among:
        return {}
    unnamed = [path for path in paths if _is_note(path) and not _captured_id(path)]
    unnamed += [path for path in paths if _is_page(path)]
    named = _identities(repo, {path: files[path] for path in unnamed})
    found: dict[str, list[str]] = {}
    for path in paths:
        name = named[path] if path in named else _captured_id(path)
        is_away = name.startswith(_PROJECT) and not journal.is_projects_page(path)
        if name and not is_away and _is_note(path) and (among is None or name in among):
            found.setdefault(name, []).append(path)
    return {name: like[0] for name, like in found.items() if len(like) == 1}


def _is_page(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder.startswith("journal/") and journal.page_of([name], folder) == name


def _moved(files: Tree, to: Moves) -> Moves:
    """Return the new names of those files of a tree that get one; a file whose new name is taken keeps its own."""
    moving = sorted(path for path, new in to.items() if path in files and new != path)
    taken = files.keys() - moving if moving else set()
    done: Moves = {}
    for path in moving:
        if to[path] not in taken:
            done[path] = to[path]
        taken.add(done.get(path, path))
    return done
