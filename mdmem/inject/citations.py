"""Citations: which of the memories that were given did an agent name in an answer, by their mark `[mem:ID]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mdmem.vault import disk, note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config

_MARK = re.compile(r"\[mem:([^\[\]\s]{1,40})\]")


def marks(text: str) -> list[str]:
    """Return the ids that a text cites, each once, in order."""
    return list(dict.fromkeys(_MARK.findall(text)))


def cited_by_session(config: Config) -> dict[str, set[str]]:
    """Return the ids that each session's answers cite. It reads every answer in the journal: not for a hook."""
    found: dict[str, set[str]] = {}
    for path in _paths(config):
        data = disk.read_path(config.vault, path) or b""
        parsed = note.parse(data) if b"[mem:" in data else None
        if parsed and (ids := marks(parsed.body)):
            found.setdefault(str(parsed.meta.get("session", "")), set()).update(ids)
    return found


def _paths(config: Config) -> Iterator[str]:
    for entry in disk.walk(config.vault):
        name = entry.path.rpartition("/")[2]
        if entry.path.startswith("journal/") and name.split("-", 3)[2:3] == ["response"]:
            yield entry.path
