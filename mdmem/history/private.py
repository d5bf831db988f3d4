"""Notes that never leave this machine: `sync: false` in a note, or in its project's page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mdmem import note, vault

NO = frozenset(["false", "no", "off", "0"])


def says_so(meta: Mapping[str, object]) -> bool:
    """Say whether front matter keeps its note on this machine."""
    return str(meta.get("sync", "")).lower() in NO


def projects(root: str) -> frozenset[str]:
    """Name the folders of the journal whose project stays on this machine."""
    try:
        names = [item.name for item in (Path(root) / "journal").iterdir()]
    except OSError:
        return frozenset()
    return frozenset(
        name for name in names if says_so(note.parse(vault.read_path(root, f"journal/{name}/project.md") or b"").meta)
    )


def stays(path: str, data: bytes, private_projects: frozenset[str]) -> bool:
    """Say the same as `is_private` of a file's bytes; most need not be parsed for it."""
    return bool(private_projects or b"\nsync:" in data) and is_private(path, note.parse(data).meta, private_projects)


def is_private(path: str, meta: Mapping[str, object], private_projects: frozenset[str]) -> bool:
    """Say whether a note stays on this machine, by itself or with its project."""
    if says_so(meta):
        return True
    parts = path.split("/")
    in_journal = parts[0] == "journal" and len(parts) > 2
    return (parts[1] if in_journal else str(meta.get("project", ""))) in private_projects
