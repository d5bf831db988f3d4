"""What agents start for an event: it is stored, and where it calls for memories, answered in the same process."""

from __future__ import annotations

from mdmem.capture import hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdmem.agents import Event
    from mdmem.config import Config


def main(words: list[str], vault: str | None = None) -> None:
    """Run `mdmem hook WORDS`; never returns."""
    hook.main(words, vault, _after)


def _after(config: Config, event: Event, env: Mapping[str, str], data: bytes) -> bytes:
    if event.name != "PostToolUseFailure":
        return b""
    from mdmem.inject import process  # only where it may be wanted

    return process.after(config, event, env, data)
