"""Attribution: which agent changed a note through mdmem, for the subject of the commit that follows.

For each such change, a state file links the id of the note's content before to that after. A change by anybody else
breaks the chain from the committed content to the present one, or writes the file at another time than the agent did.
It counts as a person's, with all it contains. Losing the state file costs only the agent's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mdmem import files
from mdmem.config import Config
from mdmem.vault import disk, note, user_notes

NAME = "changed-by-agents"
MAX_CHANGES = 200
"""Number of lines, the newest, two for each change: those since the last commit are few."""
MAX_BYTES = 64 * 1024
MAX_CHARS = 40
"""Maximum length of an agent's name."""


class AgentChange(NamedTuple):
    """What an agent made of a content: the id of the new content, the mtime of its file in ns, the agent's name."""

    after: str
    written: str
    agent: str


class AgentChanges(NamedTuple):
    """The recorded changes, by the id of the content before. root: the vault."""

    root: str
    of: dict[str, AgentChange]


@contextmanager
def to_agent(config: Config, path: str, agent: str) -> Iterator[None]:
    """Record that a note is changed within the block by an agent; "" for a person records nothing.

    What was once made of the content that it has now is dropped: else the chain would be a circle.
    """
    before = _ids(config, path) if agent else ()
    by = name(str(user_notes.clean(config, agent))) if before else ""
    yield
    after = _ids(config, path) if before else ()
    if after and after != before:
        written = _written(config.vault, path)
        made = {old: AgentChange(new, written, by) for old, new in zip(before, after, strict=True)}
        lines = [f"{old} {' '.join(change)}\n" for old, change in (load(config).of | made).items() if old not in after]
        files.try_replace(_file(config), "".join(lines[-MAX_CHANGES:]).encode())


def load(config: Config) -> AgentChanges:
    """Return the recorded changes; none if there is no record."""
    lines = files.try_read_own(_file(config), MAX_BYTES).decode("utf-8", "replace").splitlines()
    parts = (line.split(" ", 3) for line in lines)
    return AgentChanges(config.vault, {part[0]: AgentChange(*part[1:]) for part in parts if len(part) == 4})


def agent_of(changes: AgentChanges, path: str, before: str, after: str) -> str:
    """Return the agent that made one content of a note of another, by their ids; "" if anybody else had a part in it.

    after: the content of the note's file.
    """
    agent = written = ""
    for _ in range(len(changes.of)):
        if before == after or before not in changes.of:
            break
        before, written, agent = changes.of[before]
    return agent if before == after and written == _written(changes.root, path) else ""


def name(agent: str) -> str:
    """Return an agent's name for a commit's subject."""
    return note.one_line(agent.replace(":", " "), MAX_CHARS)


def _ids(config: Config, path: str) -> tuple[str, ...]:
    """Return the ids of a note's text by both of git's hash algorithms, so that git need not be asked which it uses."""
    from mdmem.history.git import objects  # slow to load, and not needed when a person changes a note

    data = disk.read_path(config.vault, path)
    return () if data is None else tuple(objects.blob_id(data, like) for like in ("", "0" * 64))


def _written(root: str, path: str) -> str:
    try:
        return str(Path(root, path).lstat().st_mtime_ns)
    except OSError:
        return ""


def _file(config: Config) -> str:
    return str(Path(config.state_dir, NAME))
