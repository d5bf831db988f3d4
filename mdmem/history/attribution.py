"""Attribution: which agent changed a note through mdmem, for the subject of the commit that follows.

For each such change, a state file links the id of the note's content before to that after. A change by anybody else
breaks the chain from the committed content to the present one, and so counts as a person's, with all it contains.
Losing the file costs only the agent's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mdmem import files
from mdmem.config import Config
from mdmem.vault import disk, note, user_notes

NAME = "changed-by-agents"
MAX_CHANGES = 200
"""Number of recorded changes, the newest: those since the last commit are few."""
MAX_BYTES = 64 * 1024
MAX_CHARS = 40
"""Maximum length of an agent's name."""

AgentChanges = Mapping[str, tuple[str, str]]
"""Id of a content -> the id of what an agent made of it, and the agent's name."""


@contextmanager
def to_agent(config: Config, path: str, agent: str) -> Iterator[None]:
    """Record that a note is changed within the block by an agent; "" for a person records nothing.

    What was once made of the content that it has now is dropped: a person may do the same next.
    """
    before = _id(config, path) if agent else ""
    yield
    after = _id(config, path) if before else ""
    if after and after != before:
        changes = {**load(config), before: (after, name(str(user_notes.clean(config, agent))))}
        lines = [f"{old} {new} {by}\n" for old, (new, by) in changes.items() if old != after]
        files.try_replace(_file(config), "".join(lines[-MAX_CHANGES:]).encode())


def load(config: Config) -> AgentChanges:
    """Return the recorded changes; none if there is no record."""
    lines = files.try_read_own(_file(config), MAX_BYTES).decode("utf-8", "replace").splitlines()
    parts = (line.split(" ", 2) for line in lines)
    return {part[0]: (part[1], part[2]) for part in parts if len(part) == 3}


def agent_of(changes: AgentChanges, before: str, after: str) -> str:
    """Return the agent that made one content of another, by their ids; "" if anybody else had a part in it."""
    agent = ""
    for _ in range(len(changes)):
        if before == after or before not in changes:
            break
        before, agent = changes[before]
    return agent if before == after else ""


def name(agent: str) -> str:
    """Return an agent's name for a commit's subject."""
    return note.one_line(agent.replace(":", " "), MAX_CHARS)


def _id(config: Config, path: str) -> str:
    from mdmem.history.git import objects  # slow to load, and not needed when a person changes a note

    data = disk.read_path(config.vault, path)
    return "" if data is None else objects.blob_id(data, "")


def _file(config: Config) -> str:
    return str(Path(config.state_dir, NAME))
