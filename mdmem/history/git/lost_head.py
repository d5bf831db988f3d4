"""Lost HEAD: git's file HEAD when it is missing or damaged, as after a power cut. Git then finds no repository."""

from __future__ import annotations

import re
from pathlib import Path

from mdmem import files

UNBORN = "refs/heads/main"
"""The branch of a vault without commits."""
_HEAD = re.compile(r"ref:\s*refs/\S.*\s*|[0-9a-f]{40}(?:[0-9a-f]{24})?\s*")
_BRANCHES = "refs/heads/"
_MAX_BYTES = 1 << 30


def is_lost(git_dir: Path, common_dir: Path) -> bool:
    """Whether HEAD names neither a branch nor a commit; not in a folder where `git init` was interrupted.

    Raises OSError when it is there and cannot be read: it may be intact.
    """
    head, log = git_dir / "HEAD", git_dir / "logs" / "HEAD"
    return _HEAD.fullmatch(_read(head)) is None and (head.exists() or log.exists() or bool(_tips(common_dir)))


def message(git_dir: Path) -> str:
    """Return the sentence about a lost HEAD."""
    return f"{git_dir / 'HEAD'} is missing or damaged, as after a power cut."


def branch(git_dir: Path, common_dir: Path) -> str:
    """Return the full name of the branch that was checked out, as git's logs say; "" if it cannot be known.

    It is the only branch whose last commit is the last one in the log of HEAD, or the only branch of all.
    """
    tips = _tips(common_dir)
    last_oid = _last_logged(git_dir / "logs" / "HEAD")
    candidates = [name for name, oid in tips.items() if oid == last_oid] if last_oid else []
    if len(candidates) != 1:
        candidates = list(tips) or [UNBORN]
    return candidates[0] if len(candidates) == 1 else ""


def restore(git_dir: Path, name: str) -> None:
    """Check out a branch again by its full name; no file of the vault changes. Raises OSError."""
    files.replace(str(git_dir / "HEAD"), f"ref: {name}\n".encode())


def _tips(common_dir: Path) -> dict[str, str]:
    """Return the last commit of each branch; of one whose file is damaged too, as its log says, or ""."""
    packed = (line.partition(" ") for line in _read(common_dir / "packed-refs").splitlines())
    tips = {name: oid for oid, _, name in packed if name.startswith(_BRANCHES)}
    loose = [file for file in (common_dir / _BRANCHES).rglob("*") if file.is_file() and file.suffix != ".lock"]
    for file in loose:
        name = file.relative_to(common_dir).as_posix()
        tips[name] = _read(file).strip("\0 \n") or _last_logged(common_dir / "logs" / name)
    return tips


def _last_logged(log: Path) -> str:
    lines = _read(log).splitlines()
    fields = lines[-1].split(" ", 2) if lines else []
    return fields[1] if len(fields) > 2 else ""


def _read(file: Path) -> str:
    try:
        return files.read_any(str(file), _MAX_BYTES).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, files.NotRegularError):
        return ""
