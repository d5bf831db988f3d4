"""Sessions that one side has packed while the other worked on them: they are taken apart, and merged note by note."""

from __future__ import annotations

from collections.abc import Iterable

from mdmem.history import past
from mdmem.history.changes import blob_id
from mdmem.history.git import repository
from mdmem.history.git.repository import Repository
from mdmem.history.merging.renames import Tree
from mdmem.vault import packed

_OF_SESSION = 4
"""Slashes in the path of a session's note."""


def taken_apart(repo: Repository, was: Tree, ours: Tree, theirs: Tree) -> tuple[Tree, Tree, Tree]:
    """Return three trees with the notes of a session in the place of its archive, where both sides have changed it."""
    trees = (was, ours, theirs)
    archives = {path for tree in trees for path in tree if packed.folder_of(path)}
    if not archives:
        return trees
    tags = {_tag(path) for path in archives}
    states = [_states(tree, tags) for tree in trees]
    both = {tag for tag in tags if len({frozenset(state.get(tag, ())) for state in states}) == len(trees)}
    wanted = {path for path in archives if _tag(path) in both}
    if not wanted:
        return trees
    texts = past.objects_of(repo, sorted({tree[path] for tree in trees for path in wanted & tree.keys()}))
    one, other, third = (_with_notes(repo, tree, wanted & tree.keys(), texts) for tree in trees)
    return one, other, third


def _tag(path: str) -> str:
    """Return what the name of a session's folder, or of its archive, ends in."""
    folder = packed.folder_of(path) or path.rpartition("/")[0]
    return folder.rpartition("/")[2].rpartition("-")[2]


def _states(tree: Tree, tags: set[str]) -> dict[str, list[tuple[str, str]]]:
    """Return what a tree has of each of these sessions."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path, oid in tree.items():
        if path.startswith("journal/") and (path.count("/") == _OF_SESSION or packed.folder_of(path)):
            tag = _tag(path)
            if tag in tags:
                found.setdefault(tag, []).append((path, oid))
    return found


def _with_notes(repo: Repository, tree: Tree, archives: Iterable[str], texts: dict[str, bytes]) -> Tree:
    """Return a tree with the notes of these archives; a note's own file comes before the packed one."""
    made = dict(tree)
    for path in sorted(archives):
        for name, data in packed.parse(texts[made.pop(path)]).items():
            made.setdefault(f"{packed.folder_of(path)}/{name}", _stored(repo, data, tree[path]))
    return made


def _stored(repo: Repository, data: bytes, like: str) -> str:
    """Return the id of a text, which the repository has from before it was packed, or is given."""
    oid = blob_id(data, like)
    if repository.attempt(repo, "cat-file", "-e", oid).status:
        repository.run(repo, "hash-object", "-w", "--stdin", stdin=data)
    return oid
