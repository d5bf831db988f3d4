"""The status line: whether notes are stored, how many today, and whether something was lost."""

from __future__ import annotations

import os
import sys
import time

from mdmem import config as configs
from mdmem import plural, timestamps
from mdmem.capture import losses, todays_notes
from mdmem.vault import exclusions, pauses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config


def main(agent: list[str], vault: str | None = None) -> None:  # noqa: ARG001 - same signature as the hook's `main`
    """Print the status line that an agent shows below its prompt. Never fails."""
    try:
        text = line(configs.load(vault), time.time())
        sys.stdout.buffer.write(f"{text}\n".encode())
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - a status line must not disturb the agent
        os._exit(0)


def line(config: Config, now: float) -> str:
    """Return the line, like `mdmem: 12 notes today` or `mdmem: paused until 11:00 · 1 event lost`."""
    pause = pauses.pause_of(config)
    if exclusions.is_disabled(os.environ):
        parts = ["off"]
    elif pause is not None:
        today = timestamps.local_time(now)[:11]
        parts = [f"paused until {timestamps.local_time(pause.ends).removeprefix(today)}" if pause.ends else "paused"]
    else:
        parts = [f"{plural.number(todays_notes.count(config, now), 'note')} today"]
    lost = len(losses.recent(config, now, 1))
    if lost:
        parts.append(f"{plural.number(lost, 'event')} lost, see `mdmem doctor`")
    return f"mdmem: {' · '.join(parts)}"
