"""Whether events are stored: pauses, the last event of each agent, queued and lost notes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

from mdmem import plural, timestamps
from mdmem.capture import losses, retry_queue
from mdmem.config import Config
from mdmem.vault import exclusions, pauses


class LastEvent(NamedTuple):
    """The last event of an agent. when: seconds since the epoch. name: "" if unknown."""

    when: float
    name: str


def last_heard(config: Config) -> dict[str, LastEvent]:
    """Return the last event of each agent that has sent one, by agent name."""
    folder = Path(config.state_dir, "seen")
    found: dict[str, LastEvent] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            when, _, name = path.read_text(encoding="utf-8").partition(" ")
            found[path.name] = LastEvent(float(when), name.rstrip())
        except (OSError, ValueError):
            continue
    return found


def paused(config: Config) -> str:
    """Return why nothing is stored, since when and until when; "" if storing is on."""
    if exclusions.is_disabled(os.environ):
        return "Storing is switched off: MDMEM_DISABLED is set."
    pause = pauses.pause_of(config)
    if pause is None:
        return ""
    began = timestamps.readable(timestamps.iso_time(pause.began))
    ends = f" until {timestamps.readable(timestamps.iso_time(pause.ends))}" if pause.ends else ""
    return f"Storing has been paused since {began}{ends}. `mdmem resume` resumes it."


def alarms(config: Config) -> list[str]:
    """Return the warnings for the user: queued or lost events, and that nothing is stored."""
    made = []
    waiting = len(retry_queue.waiting(config))
    if waiting:
        count = plural.number(waiting, "note")
        made.append(f"{count} could not be stored and will be retried: `mdmem doctor` shows why.")
    lost = losses.recent(config, time.time())
    if lost:
        last = timestamps.readable(timestamps.iso_time(lost[-1]["time"]))
        made.append(f"{plural.number(len(lost), 'event')} lost, the last on {last}: `mdmem doctor` shows why.")
    if why := paused(config):
        made.append(why)
    return made
