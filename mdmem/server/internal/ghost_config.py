"""The owner's configuration of a ghost: a note of the kind `ghost-config` in the ghost's folder, written by people.

Its front matter says how far accessors are trusted (`trust: ["bob 0.5", "* 0.2"]`) and which spaces and groups the
ghost may publish to (`spaces`, `groups`); its text is the ghost's persona. No tool writes it. It can only lower
what the setting `internal.trust` allows.
"""

from __future__ import annotations

from typing import NamedTuple

from mdmem.config import Config
from mdmem.vault import disk, note

FILE = "ghost-config.md"
KIND = "ghost-config"


class GhostConfig(NamedTuple):
    """What an owner says of a ghost. rows: accessor or `*`, and a trust from 0 to 1; the first that fits counts.

    spaces, groups: where it may publish to. broken: whether the note cannot be read, which trusts nobody.
    """

    rows: tuple[str, ...] = ()
    spaces: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    persona: str = ""
    broken: bool = False

    def trust(self, accessor: str) -> float:
        """Return how far an accessor is trusted; wholly where no row speaks of them."""
        if self.broken:
            return 0.0
        for row in self.rows:
            name, _, value = row.strip().rpartition(" ")
            if not name or name.strip() in ("*", accessor):  # a row that cannot be read must not show more
                return share(value if name else "")
        return 1.0

    def publishes_to(self, kind: str, name: str) -> bool:
        """Return whether the owner lets this ghost publish to a space or a group."""
        named = {"space": self.spaces, "group": self.groups}.get(kind, ())
        return not self.broken and name in named


def load(config: Config, home: tuple[str, ...]) -> GhostConfig:
    """Read the configuration in a ghost's folder; without one, nothing is limited and nothing is allowed.

    home: vault-relative, part by part.
    """
    data = disk.read_path(config.vault, "/".join((*home, FILE)))
    if data is None:
        return GhostConfig()
    parsed = note.parse(data)
    if parsed.problem or str(parsed.meta.get("kind", "")) != KIND:
        return GhostConfig(broken=True)
    rows, spaces, groups = (_texts(parsed.meta.get(key)) for key in ("trust", "spaces", "groups"))
    return GhostConfig(rows, spaces, groups, parsed.body.strip())


def share(text: str) -> float:
    """Read a trust from 0 to 1; what cannot be read counts as 0."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0 <= value <= 1 else 0.0


def _texts(value: object) -> tuple[str, ...]:
    """Read a list, a text with commas, or a single number, which is the trust of everyone."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (f"* {value}",)
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(str(part) for part in value) if isinstance(value, list) else ()
