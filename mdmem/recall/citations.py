"""Citations: which of the memories that were given did an agent name in an answer, by their mark `[mem:ID]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mdmem import note, vault
from mdmem.recall import given

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config

_MARK = re.compile(r"\[mem:([^\[\]\s]{1,40})\]")


class Use(NamedTuple):
    """How one memory was used.

    given: how often it was injected. cited: in how many answers it is named. last_given: ISO 8601, or "".
    """

    id: str
    given: int = 0
    cited: int = 0
    last_given: str = ""


def marks(text: str) -> list[str]:
    """Give the ids that a text cites, each once, in order."""
    return list(dict.fromkeys(_MARK.findall(text)))


def count(config: Config) -> dict[str, Use]:
    """Count, for every memory that was given or cited, how often: from the log of injections and the stored answers.

    It reads every answer in the journal: for a person's command, not for a hook.
    """
    uses: dict[str, Use] = {}
    for row in given.read_log(config):
        for name in dict.fromkeys(map(str, row.get("ids", ()))):
            use = uses.get(name, Use(name))
            uses[name] = use._replace(given=use.given + 1, last_given=str(row.get("time", "")))
    for text in answers(config):
        for name in marks(text):
            use = uses.get(name, Use(name))
            uses[name] = use._replace(cited=use.cited + 1)
    return uses


def cited_by_session(config: Config) -> dict[str, set[str]]:
    """Give the ids that each session's answers cite."""
    found: dict[str, set[str]] = {}
    for path in _paths(config):
        parsed = note.parse(vault.read_path(config.vault, path) or b"")
        ids = marks(parsed.body)
        if ids:
            found.setdefault(str(parsed.meta.get("session", "")), set()).update(ids)
    return found


def answers(config: Config) -> Iterator[str]:
    """Give the text of every stored answer that cites anything."""
    for path in _paths(config):
        text = (vault.read_path(config.vault, path) or b"").decode("utf-8", "replace")
        if "[mem:" in text:
            yield text


def _paths(config: Config) -> Iterator[str]:
    for entry in vault.walk(config.vault):
        name = entry.path.rpartition("/")[2]
        if entry.path.startswith("journal/") and name.split("-", 3)[2:3] == ["response"]:
            yield entry.path
