"""Lock files: tells files that only a package manager writes, about which an agent needs to know nothing."""

from __future__ import annotations

_NAMES = frozenset(["package-lock.json", "npm-shrinkwrap.json", "packages.lock.json", "go.sum"])
_ENDS = (".lock", ".lockb", ".lock.hcl", ".lockfile", "-lock.yaml", "-lock.yml")


def is_lock_file(path: str) -> bool:
    """Whether a file is a package manager's list of exact versions."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    return name in _NAMES or name.endswith(_ENDS)
