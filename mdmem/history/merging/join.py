"""Join two histories in one tree: what each side added, changed, deleted or renamed, path by path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from mdmem.history.git import git_index, objects, repository
from mdmem.history.git.repository import Repository
from mdmem.history.git.texts import Texts
from mdmem.history.merging import aside, both, renames, undecided
from mdmem.history.merging.renames import Moves, Tree
from mdmem.history.merging.undecided import KeptPlace
from mdmem.vault import DAYS, archives, generated, journal, layout, projects


class Joined(NamedTuple):
    """The changes that turn our tree into the joined one.

    puts: path -> bytes, read lazily; deletes: paths.
    conflicts: files that could not be merged; the other version is put beside them.
    kept: places of notes that now have two versions, for a person to choose.
    refused: paths of theirs that a vault does not accept, such as links. dropped: such paths of ours that they lack.
    moved: deleted path of ours -> the file's new path.
    undeleted: notes that one side deleted and the other changed, so that they stay.
    """

    puts: Texts
    deletes: tuple[str, ...]
    conflicts: list[str]
    refused: list[str]
    moved: Mapping[str, str] = MappingProxyType({})
    kept: tuple[KeptPlace, ...] = ()
    undeleted: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def join(repo: Repository, base: str, ours: str, theirs: str) -> Joined:
    """Merge two commits with the common ancestor `base` ("" for none).

    A note that one side deleted and the other changed is kept, except a day's page in which only the generated part
    changed. A rename on one side applies to the other as well.
    """
    if base == ours:
        return _fast_forward(repo, ours, theirs)
    if joined := _join_changed_only(repo, base, ours, theirs):
        return joined
    base_files, strange = _since(repo, "", {}, [], base) if base else ({}, [])
    ours_packed, _ = _since(repo, base, base_files, strange, ours)
    theirs_packed, refused = _since(repo, base, base_files, strange, theirs)
    trees = _taken_apart(repo, base_files, ours_packed, theirs_packed)
    places = renames.align(repo, base, trees[0], (ours, trees[1]), (theirs, trees[2]))
    return _join_trees(repo, trees, places, ours_packed)._replace(refused=refused)


def _join_changed_only(repo: Repository, base: str, ours: str, theirs: str) -> Joined | None:
    """Merge two commits by their changed files alone; None when that is not enough, as after a rename."""
    was: Tree = {}
    refused: list[str] = []
    sides: list[dict[str, str | None]] = []
    for oid in (ours, theirs):
        sides.append(side := {})
        for path, before, after in git_index.files_changed(repo, base, oid):
            if after and not _is_file(after[0], path):
                refused += [path] if oid == theirs else []
                after = None
            if before and _is_file(before[0], path):
                was[path] = before[1]
            side[path] = after[1] if after else None
        may_have_moved = None in side.values() and not side.keys() <= was.keys()
        if may_have_moved or any(map(layout.archived_in, side)):
            return None
    our, their = ({path: oid for path, oid in {**was, **side}.items() if oid} for side in sides)
    places = renames.align(repo, base, was, (ours, our), (theirs, their))
    return None if any(places) else _join_trees(repo, (was, our, their), places, our)._replace(refused=refused)


def _join_trees(repo: Repository, trees: tuple[Tree, Tree, Tree], places: list[Moves], ours_packed: Tree) -> Joined:
    """Merge three trees after renaming files. ours_packed: our tree with sessions still archived."""
    was, our, their = (
        {to.get(path, path): oid for path, oid in files.items()} if to else files
        for files, to in zip(trees, places, strict=True)
    )
    final: dict[str, str | bytes] = {}
    clashing: list[str] = []
    for path in chain(our, (path for path in their if path not in our)):
        chosen = _choose(was.get(path), our.get(path), their.get(path))
        if chosen:
            final[path] = chosen
        elif path in our and path in their:
            clashing.append(path)
    for path in _deleted_day_pages(repo, was, our, their):
        final.pop(path, None)
    conflicts: list[str] = []
    kept: list[KeptPlace] = []
    final |= _resolve(repo, clashing, (was, our, their), conflicts, kept)
    for path in aside.files_in_the_way(final, of=(path for path in final if was.get(path) != final[path])):
        final[aside.conflict_path(path, our.get(path) or their[path])] = final.pop(path)
        conflicts.append(path)
    puts = Texts(repo, {path: final[path] for path in sorted(final) if ours_packed.get(path) != final[path]})
    deletes = tuple(path for path in sorted(ours_packed) if path not in final)
    moved = {path: new for path in deletes if (new := places[1].get(path, "")) in puts}
    on_one_side = (path for path in sorted(final) if path in was and (path in our) != (path in their))
    undeleted = tuple(path for path in on_one_side if path.endswith(".md") and not _is_page(path))
    return Joined(puts, deletes, sorted(conflicts), [], moved, tuple(kept), undeleted)


def returned(repo: Repository, ours: str, theirs: str, added: Iterable[str]) -> Iterator[str]:
    """Yield the notes that we deleted and they changed, and that another machine's merge therefore brings back.

    added: the files that their side adds. Such a note is in the commit of ours from which their side branched off.
    """
    notes = frozenset(path for path in added if path.endswith(".md") and not _is_page(path))
    known = {path for fork in forks(repo, ours, theirs) for path, _ in files(repo, fork)} if notes else set()
    yield from sorted(notes & known)


def forks(repo: Repository, ours: str, theirs: str) -> list[str]:
    """Return the commits of ours, but for the last one, from which their side branched off."""
    listed = repository.run(repo, "rev-list", "--boundary", f"{ours}..{theirs}")
    return sorted({line[1:].decode("ascii") for line in listed.split() if line.startswith(b"-")} - {ours})


def _is_page(path: str) -> bool:
    """Whether a file is a page that mdmem generates."""
    return path.startswith(f"{DAYS}/") or journal.is_page(path) or projects.is_page(path)


def _fast_forward(repo: Repository, ours: str, theirs: str) -> Joined:
    """Fast-forward from our commit to a descendant, reading only the files that differ."""
    was: Tree = {}
    now: Tree = {}
    refused: list[str] = []
    dropped: list[str] = []
    for path, before, after in git_index.files_changed(repo, ours, theirs):
        if before and not after and not _is_file(before[0], path):
            dropped.append(path)
        if after and not _is_file(after[0], path):
            refused.append(path)
        elif after:
            now[path] = after[1]
        if before and _is_file(before[0], path):
            was[path] = before[1]
    deletes = tuple(path for path in sorted(was) if path not in now)
    places = renames.align(repo, ours, was, (ours, was), (theirs, now))[1] if deletes else {}
    puts = Texts(repo, {path: now[path] for path in sorted(now) if was.get(path) != now[path]})
    moved = {path: new for path in deletes if (new := places.get(path, "")) in puts}
    return Joined(puts, deletes, [], refused, moved, dropped=_by_merges(repo, ours, theirs, dropped))


def _by_merges(repo: Repository, ours: str, theirs: str, deleted: list[str]) -> tuple[str, ...]:
    """Return those of some deleted paths that no commit deletes except merges: nobody wanted that."""
    words = ("log", "-z", "--no-merges", "--no-renames", "--diff-filter=D", "--name-only", "--format=")
    listed = repository.fields(repo, *words, f"{ours}..{theirs}") if deleted else ()
    return tuple(sorted(set(deleted).difference(map(os.fsdecode, listed))))


def _since(repo: Repository, base: str, was: Tree, strange: list[str], oid: str) -> tuple[Tree, list[str]]:
    """Return the files of a commit, and the paths that a vault does not accept.

    was, strange: the same of the base ("" for none), whose strings are reused for unchanged files to save memory.
    """
    accepted, refused = dict(was), dict.fromkeys(strange)
    for path, before, after in git_index.files_changed(repo, base, oid):
        if before:
            accepted.pop(path, None)
            refused.pop(path, None)
        if after and _is_file(after[0], path):
            accepted[path] = after[1]
        elif after:
            refused[path] = None
    return accepted, list(refused)


def files(repo: Repository, oid: str) -> Iterator[tuple[str, str]]:
    """Yield path and blob id of a commit's files, one at a time."""
    return ((path, blob) for mode, blob, path in objects.listed(repo, oid) if _is_file(mode, path))


def _is_file(mode: str, path: str) -> bool:
    """Whether a vault accepts a tree entry: a regular file at a safe path."""
    parts = path.split("/")
    return mode.startswith("100") and not any(part.lower().rstrip(". ") in ("", ".git", "git~1") for part in parts)


def _choose(was: str | None, our: str | None, their: str | None) -> str | None:
    """Choose between the blob ids of one path; None when the file is deleted or its texts have to be merged."""
    if our == their or their == was:
        return our
    if our == was:
        return their
    if our is None or their is None:
        return our or their
    return None


def _deleted_day_pages(repo: Repository, was: Tree, our: Tree, their: Tree) -> set[str]:
    """Return the day pages that one side deleted, and the other changed in the generated part at most."""
    on_one_side = (path for path in was if path.startswith(f"{DAYS}/") and (path in our) != (path in their))
    blobs = {path: (was[path], our.get(path) or their[path]) for path in on_one_side}
    texts = objects.contents(repo, chain.from_iterable(blobs.values()))
    return {path for path, oids in blobs.items() if len({generated.replaced(texts[oid], []) for oid in oids}) == 1}


def _resolve(
    repo: Repository, paths: list[str], trees: tuple[Tree, Tree, Tree], conflicts: list[str], kept: list[KeptPlace]
) -> dict[str, bytes]:
    """Merge texts that both sides changed; one that cannot be merged becomes two files."""
    was, our, their = trees
    texts = objects.contents(repo, (tree.get(path, "") for path in paths for tree in trees))
    resolved: dict[str, bytes] = {}
    for path in sorted(paths):
        base, ours, theirs = texts.get(was.get(path, "")), texts[our[path]], texts[their[path]]
        merged = both.merge_note(repo, path, ours, base, theirs)
        if merged is None:
            resolved |= {path: ours, aside.conflict_path(path, their[path]): theirs}
            conflicts.append(path)
        else:
            resolved[path] = merged.data
            kept += undecided.places(path, merged)
    return resolved


# -- sessions that one side archived while the other changed them: merged note by note ------------------


def _taken_apart(repo: Repository, was: Tree, ours: Tree, theirs: Tree) -> tuple[Tree, Tree, Tree]:
    """Unpack the archives of sessions that both sides changed, in all three trees."""
    trees = (was, ours, theirs)
    packs = {path for tree in trees for path in tree if layout.archived_in(path)}
    if not packs:
        return trees
    tags = {_tag(path) for path in packs}
    states = [_states(tree, tags) for tree in trees]
    changed_twice = {tag for tag in tags if len({frozenset(state.get(tag, ())) for state in states}) == len(trees)}
    to_unpack = {path for path in packs if _tag(path) in changed_twice}
    if not to_unpack:
        return trees
    texts = objects.contents(repo, (tree[path] for tree in trees for path in to_unpack & tree.keys()))
    base, our_tree, their_tree = (_with_notes(repo, tree, to_unpack & tree.keys(), texts) for tree in trees)
    return base, our_tree, their_tree


def _tag(path: str) -> str:
    """Return the tag at the end of the name of a session's folder or archive."""
    folder = layout.archived_in(path) or layout.folder_of(path)
    return folder.rpartition("/")[2].rpartition("-")[2]


def _states(tree: Tree, tags: set[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the files that a tree has of each of these sessions."""
    by_tag: dict[str, list[tuple[str, str]]] = {}
    for path, oid in tree.items():
        if layout.is_in_session(path) or layout.archived_in(path):
            tag = _tag(path)
            if tag in tags:
                by_tag.setdefault(tag, []).append((path, oid))
    return by_tag


def _with_notes(repo: Repository, tree: Tree, packs: Iterable[str], texts: dict[str, bytes]) -> Tree:
    """Return a tree with these archives unpacked; a note's own file takes precedence over the packed one."""
    unpacked = dict(tree)
    for path in sorted(packs):
        folder = layout.archived_in(path)
        for name, data in archives.contents(folder, texts[unpacked.pop(path)]).items():
            oid = repository.run(repo, "hash-object", "-w", "--stdin", stdin=data).decode("ascii").strip()
            unpacked.setdefault(f"{folder}/{name}", oid)
    return unpacked
