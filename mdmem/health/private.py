"""Check what is private: notes that were written before a later event of their session said so."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.config import Config
from mdmem.hashing import short
from mdmem.health import HealthFinding, to_edit, warning
from mdmem.privacy import memory
from mdmem.privacy.echo import Echo
from mdmem.vault import note as notes

_KEY_CHARS = 16


class SessionMemories:
    """What the sessions remember as private, loaded when a note of theirs is checked."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.remembered = set(memory.sessions(config))
        self.loaded: tuple[str, Echo | None] = ("", None)

    def problems(self, path: str, data: bytes, parsed: notes.Parsed) -> Iterator[HealthFinding]:
        """Yield a finding if a note holds what a later event of its session marked as private or named as a secret."""
        key = short(parsed.fact("session"), _KEY_CHARS)
        if parsed.meta.get("kind") not in notes.CAPTURED or key not in self.remembered:
            return
        text = data.decode("utf-8", "replace")
        try:
            echo = self._echo(key)
            positions = sorted([*echo.find(text), *echo.find_secrets(text)]) if echo else []
        except OSError:
            return  # the check of the state folder reports it
        if positions:
            line = text.count("\n", 0, positions[0][0]) + 1
            message = (
                f"{path}:{line} holds text that a later event of its session marked as private or named as a secret."
            )
            yield warning(message, f"`mdmem purge` with that text removes it everywhere; {to_edit(path)} shows it.")

    def _echo(self, key: str) -> Echo | None:
        if self.loaded[0] != key:
            self.loaded = (key, memory.load(self.config, key))
        return self.loaded[1]
