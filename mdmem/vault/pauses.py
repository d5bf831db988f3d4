"""Pauses: times during which nothing is stored, for all sessions or one."""

from __future__ import annotations

import os
import time

from mdmem import files
from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config

MAX_PAUSES_BYTES = 1024 * 1024


class Pause(Value):
    """A pause. began, ends: seconds since the epoch; ends is 0 until a person ends it."""

    began: float
    ends: float


def pause_path(config: Config, session_key: str = "") -> str:
    """Return the file that marks a pause, for all or one session; `exclusions` checks it too."""
    return os.path.join(config.state_dir, f"paused-{session_key}" if session_key else "paused")


def pause_of(config: Config, session_key: str = "") -> Pause | None:
    """Return the current pause for all or one session, or None; an expired one is ended."""
    path = pause_path(config, session_key)
    try:
        began = os.stat(path).st_mtime
    except OSError:
        return None
    try:
        ends = float(files.read_own(path, 32) or 0)
    except (OSError, ValueError):
        ends = 0.0
    if ends and time.time() >= ends:
        end_pause(config, session_key, Pause(began, ends), ends)
        return None
    return Pause(began, ends)


def begin_pause(config: Config, session_key: str = "", ends: float = 0.0) -> None:
    """Pause storing for all or one session until `ends` (0: until a person ends it)."""
    earlier = pause_of(config, session_key)
    if earlier:
        end_pause(config, session_key, earlier, time.time())
    files.replace(pause_path(config, session_key), f"{ends:.0f}".encode() if ends else b"")


def end_pause(config: Config, session_key: str, pause: Pause, now: float) -> None:
    """End a pause and record it."""
    remember_pause(config, pause.began, now, session_key or "all")
    files.remove(pause_path(config, session_key))


def times(config: Config, session_key: str) -> list[tuple[float, float]]:
    """Return (begin, end) in seconds since the epoch of past pauses that applied to this session."""
    try:
        text = files.read_own(os.path.join(config.state_dir, "pauses"), MAX_PAUSES_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return []
    found = []
    for row in map(str.split, text.splitlines()):
        if len(row) == 3 and row[2] in ("all", session_key):
            try:
                found.append((float(row[0]), float(row[1])))
            except ValueError:
                continue
    return found


def remember_pause(config: Config, begin: float, end: float, session_key: str = "all") -> None:
    """Record a past pause, so that an import leaves out that time."""
    path = os.path.join(config.state_dir, "pauses")
    files.append(path, f"{begin:.0f} {end:.0f} {session_key}\n".encode())
