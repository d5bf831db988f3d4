"""Match the files of two trees: by the note's id, by content, by the folder they were moved with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from typing import NamedTuple

from mdmem.history.git import repository
from mdmem.history.git.repository import Repository
from mdmem.history.git.texts import Texts
from mdmem.vault import disk, is_in_journal, journal, layout, note, projects

Tree = dict[str, str]
"""Path -> blob id, without links, nested repositories and paths that a vault does not accept."""

Moves = dict[str, str]
"""Path, or folder without trailing slash -> its new name."""

_PROJECT = "project "


class Side(NamedTuple):
    """One of two trees with a common ancestor: its commit, its files, and the files and folders that it moved."""

    oid: str
    files: Tree
    moves: Moves
    folders: Moves


def align(repo: Repository, base: str, was: Tree, ours: tuple[str, Tree], theirs: tuple[str, Tree]) -> list[Moves]:
    """Return the renames to apply to three trees (the common one, ours, theirs), from the moves of both sides.

    Files that one side added to a folder which the other moved go along, as does a session's second folder.
    Where both moved or made a file, the name that sorts first wins. A file whose new name is taken keeps its own.
    """
    our, their = (_side(repo, base, was, *side) for side in (ours, theirs))
    folders = _both_folders(our, their)
    was_to: Moves = {}
    our_to: Moves = {}
    their_to: Moves = {}
    for path in sorted({*our.moves, *their.moves}):  # two machines must join the same commits to the same tree
        target = min(_target(path, side, folders) for side in (our, their) if path in side.moves)
        for mapping, now in (
            (was_to, path),
            (our_to, our.moves.get(path, path)),
            (their_to, their.moves.get(path, path)),
        ):
            mapping[now] = target
    our_new, their_new = _added(was, our, their), _added(was, their, our)
    doubled, joined = _find_made_twice(repo, our, our_new, their, their_new)
    for mapping, added in ((our_to, our_new), (their_to, their_new)):
        placed = ((path, doubled.get(place) or _within(place, joined)) for path, place in added.items())
        mapping |= {path: new for path, new in placed if new != path}
    return [_applicable(files, to) for files, to in ((was, was_to), (our.files, our_to), (their.files, their_to))]


def _side(repo: Repository, base: str, was: Tree, oid: str, files: Tree) -> Side:
    moves = _moves(repo, base, was, oid, files)
    return Side(oid, files, moves, _folders(moves, files))


def _added(was: Tree, side: Side, other: Side) -> Moves:
    """Return what a side has added, and where that goes along with a folder that the other one moved."""
    moved, along = set(side.moves.values()), _folders_to_follow(side, other)
    return {path: _within(path, along) for path in side.files if path not in was and path not in moved}


def _moves(repo: Repository, base: str, base_files: Tree, oid: str, files: Tree) -> Moves:
    """Match files that left their path with new ones: by id, by equal content, by similar content."""
    left_paths = {path: blob for path, blob in base_files.items() if path not in files}
    new_paths = {path: blob for path, blob in files.items() if path not in base_files} if left_paths else {}
    if not new_paths:
        return {}
    identities = _identities(repo, left_paths) | _identities(repo, new_paths)
    moves: Moves = {}
    for key_of in (lambda path, _: identities.get(path, ""), lambda _, blob: blob):
        places: dict[str, list[str]] = {}
        for path in sorted(set(new_paths) - set(moves.values())):
            places.setdefault(key_of(path, new_paths[path]), []).append(path)
        for path in sorted(set(left_paths) - set(moves)):
            candidates = places.get(key_of(path, left_paths[path]) or " ", [])
            best = _best_match(path, candidates)
            if best:
                moves[path] = best
                candidates.remove(best)
    left, new = set(left_paths) - set(moves), set(new_paths) - set(moves.values())
    return moves | _similar(repo, base, oid, left, new, identities)


def _similar(
    repo: Repository, base: str, oid: str, left_paths: set[str], new_paths: set[str], identities: Mapping[str, str]
) -> Moves:
    """Have git match files without an id that were moved and changed; two ids are two notes, however similar."""
    if not left_paths or not new_paths:
        return {}
    arguments = ("diff-tree", "-r", "--find-renames=60%", "--diff-filter=R", "--name-status", "-z", base, oid)
    fields = repository.each(repo, *arguments)
    return {
        old: path
        for _, old, path in zip(fields, fields, fields, strict=True)
        if old in left_paths
        and path in new_paths
        and not (_captured_id(old) or _captured_id(path) or (identities.get(old) and identities.get(path)))
    }


def _identities(repo: Repository, files: Tree) -> dict[str, str]:
    """Return the identity of each note by path; their texts are read one at a time."""
    notes = Texts(repo, {path: blob for path, blob in files.items() if _is_note(path)})
    return {path: _identity(path, data) for path, data in notes.items()}


def _identity(path: str, data: bytes) -> str:
    """Return what identifies a note wherever it is: its id, or a project page's project; "" for neither."""
    meta = note.parse(data).meta
    if path.rpartition("/")[2] == journal.PROJECT_PAGE and meta.get("identity"):
        identity = meta["identity"]
        return f"{_PROJECT}{identity[0] if isinstance(identity, list) else identity}"
    return str(meta.get("id") or _captured_id(path))


def _captured_id(path: str) -> str:
    """Return the id in a captured note's name. A name that a person chose may look like it has one."""
    return journal.id_in(path) if journal.numbers(path) else ""


def _is_note(path: str) -> bool:
    return path.endswith(disk.NOTE_ENDINGS)


def _best_match(path: str, candidates: list[str]) -> str:
    """Pick a candidate with the same file name, else the first."""
    name = path.rpartition("/")[2]
    return next(
        (candidate for candidate in candidates if candidate.rpartition("/")[2] == name),
        candidates[0] if candidates else "",
    )


def _folders(moves: Moves, now: Tree) -> Moves:
    """Return the moved folders, judged by their files: only folders of which nothing is left."""
    votes: dict[str, Counter[str]] = {}
    for old, new in moves.items():
        for left, right in _differing(old, new):
            votes.setdefault(left, Counter())[right] += 1
    present = {folder for path in now for folder in layout.folders_above(path)} if votes else set()
    return {old: counted.most_common(1)[0][0] for old, counted in votes.items() if old not in present}


def _differing(old: str, new: str) -> Iterable[tuple[str, str]]:
    """Yield the differing folders of two paths, bottom up, as long as the names below them are equal."""
    while True:
        old, _, old_name = old.rpartition("/")
        new, _, new_name = new.rpartition("/")
        if old_name != new_name or old == new or not old or not new:
            return
        yield old, new


def _both_folders(our: Side, their: Side) -> Moves:
    """Return the final names of moved folders; where both sides moved one, the name that sorts first."""
    every = {*our.folders, *their.folders}
    return {old: min(side.folders[old] for side in (our, their) if old in side.folders) for old in every}


def _target(path: str, side: Side, folders: Moves) -> str:
    """Return the new path of a file that a side moved; with its folder, if it moved along with that."""
    new = side.moves[path]
    return _within(path, folders) if new == _within(path, side.folders) else new


def _folders_to_follow(side: Side, other: Side) -> Moves:
    """Return where one side's folders go because the other moved them; a folder that both moved gets one name."""
    moved_by_both = {
        side.folders[old]: min(side.folders[old], new) for old, new in other.folders.items() if old in side.folders
    }
    return {**other.folders, **moved_by_both}


def _within(path: str, folders: Mapping[str, str]) -> str:
    above = next((folder for folder in layout.folders_above(path) if folder in folders), "")
    return folders[above] + path.removeprefix(above) if above else path


def _find_made_twice(repo: Repository, our: Side, our_new: Moves, their: Side, their_new: Moves) -> tuple[Moves, Moves]:
    """Find notes that both sides made under different names, and sessions' and projects' folders made twice.

    Paths are those after the other side's moves.
    """
    if not our_new or not their_new:
        return {}, {}
    fewer, more = sorted(((our.files, our_new), (their.files, their_new)), key=lambda side: len(side[1]))
    ids = [_ids(repo, *fewer)]
    ids.append(_ids(repo, *more, among=ids[0]))
    paths: Moves = {}
    folders: Moves = {}
    for name in sorted(ids[0].keys() & ids[1].keys()):
        blob_of = {
            places[path_of[name]]: files[path_of[name]]
            for (files, places), path_of in zip((fewer, more), ids, strict=True)
        }
        pair = sorted(blob_of)
        if len(pair) == 1:
            continue
        is_project = all(projects.is_page(path) for path in pair)
        if is_project:
            pages = Texts(repo, blob_of)
            pair.sort(key=lambda path: projects.has_first_name(path, note.parse(pages[path]).meta))
        paths[pair[1]] = pair[0]
        kept, other = (path.rpartition("/")[0] for path in pair)
        if kept != other and (is_project or all(_is_page(path) for path in pair)):
            folders[other] = kept
    return paths, folders


def _ids(repo: Repository, files: Tree, paths: Collection[str], among: Container[str] | None = None) -> dict[str, str]:
    """Return id -> path, for ids that only one file has. among: only these ids; None for all."""
    if among is not None and not among:
        return {}
    unnamed = [path for path in paths if _is_note(path) and not _captured_id(path)]
    unnamed += [path for path in paths if _is_page(path)]
    named = _identities(repo, {path: files[path] for path in unnamed})
    paths_of: dict[str, list[str]] = {}
    for path in paths:
        name = named[path] if path in named else _captured_id(path)
        is_away = name.startswith(_PROJECT) and not projects.is_page(path)
        if name and not is_away and _is_note(path) and (among is None or name in among):
            paths_of.setdefault(name, []).append(path)
    return {name: holders[0] for name, holders in paths_of.items() if len(holders) == 1}


def _is_page(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return is_in_journal(folder) and journal.page_of([name], folder) == name


def _applicable(files: Tree, to: Moves) -> Moves:
    """Return the renames that apply to a tree; a file whose new name is taken keeps its own."""
    moving = sorted(path for path, new in to.items() if path in files and new != path)
    taken = files.keys() - moving if moving else set()
    renamed: Moves = {}
    for path in moving:
        if to[path] not in taken:
            renamed[path] = to[path]
        taken.add(renamed.get(path, path))
    return renamed
