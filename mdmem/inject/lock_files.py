"""Lock files: recognizes files that an agent need not hear about: those of package managers, and scratch files."""

from __future__ import annotations

_NAMES = frozenset(["package-lock.json", "npm-shrinkwrap.json", "packages.lock.json", "go.sum"])
_ENDS = (".lock", ".lockb", ".lock.hcl", ".lockfile", "-lock.yaml", "-lock.yml")


def is_lock_file(path: str) -> bool:
    """Whether a file is a package manager's list of exact versions."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    return name in _NAMES or name.endswith(_ENDS)


def is_scratch(file: str) -> bool:
    """Whether a file was most likely made to investigate something, and not to stay, or by a package manager."""
    name = file.rpartition("/")[2].lower()
    return is_lock_file(name) or name.startswith(("tmp", "scratch", "debug")) or "repro" in name or "replicat" in name
