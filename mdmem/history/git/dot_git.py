"""Dot git: where a vault's `.git` leads. It is a folder, or in a linked work tree a file that names one."""

from __future__ import annotations

import os
import shlex
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


def refuse_other(root: Path) -> None:
    """Raise VaultError when `.git` is there, but leads to no repository: `git init` would fail."""
    dot_git = root / ".git"
    if os.path.lexists(dot_git):
        what = f"{dot_git} is a file or a link that leads to no repository."
        raise VaultError(what, f"Run {begin_anew(root)} Or restore what was there.")


def refuse_emptied(root: Path, git_dir: Path, common_dir: Path) -> None:
    """Raise VaultError when the repository's objects are gone: git then finds none there."""
    if (git_dir / "HEAD").exists() and not (common_dir / "objects").is_dir():
        what = f"{common_dir} has lost its folder objects, which holds the history; the notes are safe."
        raise VaultError(what, f"Restore it from a backup. Or run {begin_anew(root)}")


def begin_anew(root: Path) -> str:
    """Return the commands, and what they do, that begin a new history where the old one cannot be used."""
    old, new = (shlex.quote(str(path)) for path in (root / ".git", root / ".git.old"))
    return f"`mv {old} {new}`, then `mdmem init {shlex.quote(str(root))}`: it begins a new history and changes no note."
