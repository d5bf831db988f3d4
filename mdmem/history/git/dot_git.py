"""Dot git: where a vault's `.git` leads. It is a folder, or in a linked work tree a file that names one."""

from __future__ import annotations

import os
import shlex
from itertools import count
from pathlib import Path

from mdmem.errors import VaultError


def locate(root: Path) -> tuple[Path, Path] | None:
    """Return the folder with HEAD and the index, and that with objects and refs; None for no repository."""
    dot_git = root / ".git"
    if dot_git.is_dir():
        return dot_git, dot_git
    if not dot_git.is_file():
        return None
    text = dot_git.read_text("utf-8", "surrogateescape")
    git_dir = (root / text.removeprefix("gitdir:").strip()).resolve()
    if not (git_dir / "HEAD").is_file():
        return None
    link = git_dir / "commondir"
    return git_dir, (git_dir / link.read_text("utf-8").strip()).resolve() if link.is_file() else git_dir


def is_begun(git_dir: Path, common_dir: Path) -> bool:
    """Whether `git init` has completed a repository, also one that was damaged since: not when it was interrupted."""
    head = git_dir / "HEAD"  # with core.preferSymlinkRefs, a link that leads nowhere before the first commit
    if os.path.lexists(head) and (common_dir / "objects").is_dir():
        return True
    has_files = any(path.is_file() for name in ("objects", "refs") for path in (common_dir / name).rglob("*"))
    return has_files or any((git_dir / name).exists() for name in ("index", "packed-refs", "logs"))


def refuse_other(root: Path) -> None:
    """Raise VaultError when `.git` is there, but leads to no repository: `git init` would fail."""
    dot_git = root / ".git"
    if os.path.lexists(dot_git):
        what = f"{dot_git} is a file or a link that leads to no repository."
        raise VaultError(what, f"Run {begin_anew(root)} Or restore what was there.")


def refuse_emptied(root: Path, git_dir: Path, common_dir: Path) -> None:
    """Raise VaultError when one of the repository's folders is gone: git then finds no repository there."""
    if not (git_dir / "HEAD").exists():
        return
    if not (common_dir / "objects").is_dir():
        what = f"{common_dir} has lost its folder objects, which holds the history; the notes are safe."
        raise VaultError(what, f"Restore it from a backup. Or run {begin_anew(root)}")
    if not os.path.lexists(refs := common_dir / "refs"):  # often empty, and some programs do not copy empty folders
        what = f"{common_dir} has lost its folder refs, without which git does not run; the notes are safe."
        raise VaultError(what, f"Run `mkdir {shlex.quote(str(refs))}`, then `mdmem doctor`.")


def begin_anew(root: Path) -> str:
    """Return the commands, and what they do, that begin a new history where the old one cannot be used."""
    names = (f".git.old{number or ''}" for number in count())
    free = next(path for name in names if not os.path.lexists(path := root / name))
    old, new = (shlex.quote(str(path)) for path in (root / ".git", free))
    return f"`mv {old} {new}`, then `mdmem init {shlex.quote(str(root))}`: it begins a new history and changes no note."
