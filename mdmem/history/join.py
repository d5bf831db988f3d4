"""Two histories into one tree: what each side added, changed, deleted or renamed, path by path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from mdmem import note
from mdmem.history import both, past, repository
from mdmem.history.repository import Repository

Tree = dict[str, str]
"""Path -> blob id; links, nested repositories and paths that no vault has are left out."""


class Joined(NamedTuple):
    """How our tree becomes the common one.

    puts: path -> bytes; deletes: paths. conflicts: notes that now hold two versions, for a person to choose.
    refused: what theirs has and no vault takes, such as links.
    """

    puts: dict[str, bytes]
    deletes: tuple[str, ...]
    conflicts: list[str]
    refused: list[str]


def join(repo: Repository, base: str, ours: str, theirs: str) -> Joined:
    """Merge two commits that come from `base` ("" when they have nothing in common).

    A note that one side deleted and the other changed is kept. A project's folder that one side renamed is
    renamed for the notes of the other as well.
    """
    our_tree, _ = tree(repo, ours)
    their_tree, refused = tree(repo, theirs)
    base_tree, _ = tree(repo, base) if base else ({}, [])
    moves = _moves(repo, base_tree, our_tree, their_tree)
    was, our, their = (_moved(found, moves) for found in (base_tree, our_tree, their_tree))
    taken = {path: _choose(was.get(path), our.get(path), their.get(path)) for path in {**our, **their}}
    clashing = [path for path, oid in taken.items() if oid is None and path in our and path in their]
    final: dict[str, str | bytes] = {path: oid for path, oid in taken.items() if oid}
    conflicts: list[str] = []
    final |= _resolve(repo, clashing, was, our, their, conflicts)
    wanted = {oid for path, oid in final.items() if isinstance(oid, str) and our_tree.get(path) != oid}
    texts = past.blobs_of(repo, sorted(wanted))
    puts = {
        path: oid if isinstance(oid, bytes) else texts[oid]
        for path, oid in sorted(final.items())
        if our_tree.get(path) != oid
    }
    return Joined(puts, tuple(path for path in sorted(our_tree) if path not in final), sorted(conflicts), refused)


def tree(repo: Repository, oid: str) -> tuple[Tree, list[str]]:
    """List the files of a commit, and apart from them what no vault takes."""
    files: Tree = {}
    refused: list[str] = []
    for line in os.fsdecode(repository.run(repo, "ls-tree", "-r", "-z", oid)).split("\0"):
        head, _, path = line.partition("\t")
        if head.startswith("100") and _is_safe(path):
            files[path] = head.split(" ")[2]
        elif path:
            refused.append(path)
    return files, refused


def _is_safe(path: str) -> bool:
    parts = path.split("/")
    return not any(part.lower().rstrip(". ") in ("", ".git", "git~1") or "\\" in part for part in parts)


def _choose(was: str | None, our: str | None, their: str | None) -> str | None:
    """Decide on one path by the ids of three blobs; None when it goes, or when the texts have to be merged."""
    if our == their or their == was:
        return our
    if our == was:
        return their
    if our is None or their is None:
        return our or their
    return None


def _resolve(
    repo: Repository, paths: list[str], was: Tree, our: Tree, their: Tree, conflicts: list[str]
) -> dict[str, bytes]:
    """Merge the texts that both sides changed; what cannot be merged becomes two files."""
    oids = {oid for path in paths for oid in (was.get(path), our[path], their[path]) if oid}
    texts = past.blobs_of(repo, sorted(oids))
    done: dict[str, bytes] = {}
    for path in paths:
        base, ours, theirs = texts.get(was.get(path, ""), b""), texts[our[path]], texts[their[path]]
        merged = both.merge_note(repo, path, ours, base, theirs)
        if merged is None:
            stem, dot, ending = path.rpartition(".")
            done |= {path: ours, f"{stem or path}.conflict-{their[path][:8]}{dot}{ending if stem else ''}": theirs}
        else:
            done[path] = merged.data
        if merged is None or merged.conflict:
            conflicts.append(path)
    return done


def _moves(repo: Repository, was: Tree, our: Tree, their: Tree) -> dict[str, str]:
    """Find the project folders that a side renamed: old name -> new name. Where both did, ours counts."""
    ours, theirs = _renamed(repo, was, our), _renamed(repo, was, their)
    clashing = {theirs[old]: ours[old] for old in theirs.keys() & ours.keys() if theirs[old] != ours[old]}
    return {**theirs, **ours, **clashing}


def _renamed(repo: Repository, was: Tree, now: Tree) -> dict[str, str]:
    gone = [path for path in was if _is_project_page(path) and path not in now]
    new = [path for path in now if _is_project_page(path) and path not in was]
    if not (gone and new):
        return {}
    texts = past.blobs_of(repo, sorted({*(was[path] for path in gone), *(now[path] for path in new)}))
    by_identity = {who: path for path in new for who in _identities(texts[now[path]])}
    return {
        old.removesuffix("project.md"): by_identity[who].removesuffix("project.md")
        for old in gone
        for who in _identities(texts[was[old]])
        if who in by_identity
    }


def _is_project_page(path: str) -> bool:
    return path.startswith("journal/") and path.endswith("/project.md") and path.count("/") == 2


def _identities(data: bytes) -> list[str]:
    found = note.parse(data).meta.get("identity")
    return [str(item) for item in found] if isinstance(found, list) else [str(found)] if found else []


def _moved(found: Mapping[str, str], moves: Mapping[str, str]) -> Tree:
    """Give a tree with the renamed folders' new names; where a name is taken, the file that has it stays."""
    if not moves:
        return dict(found)
    moved: Tree = {}
    for path, oid in found.items():
        folder = "/".join(path.split("/")[:2]) + "/"
        moved.setdefault(moves.get(folder, folder) + path.removeprefix(folder) if folder in moves else path, oid)
    return moved
