"""Pauses: times during which nothing is stored, for all sessions or one."""

from __future__ import annotations

import os
import time

from mdmem import files, moved, system, timestamps
from mdmem.hashing import short
from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config

MAX_PAUSES_BYTES = 1024 * 1024
MAX_PAUSE_BYTES = 1024
_OF_ONE = "paused-"


class Pause(Value):
    """A pause. began, ends: seconds since the epoch; ends is 0 until a person ends it. session: "" for all."""

    began: float
    ends: float
    session: str = ""


def pause_path(config: Config, session_key: str = "") -> str:
    """Return the file that marks a pause, for all or one session; `exclusions` checks it too."""
    return os.path.join(config.state_dir, f"{_OF_ONE}{session_key}" if session_key else "paused")


def pause_of(config: Config, session_key: str = "") -> Pause | None:
    """Return the current pause for all or one session, or None.

    The file of one that has expired stays: the clock may be wrong for a moment, and the pause go on when it is right.
    """
    pause = _read(config, session_key)
    return None if pause is None or _is_over(pause, time.time()) else pause


def _is_over(pause: Pause, now: float) -> bool:
    return bool(pause.ends) and now >= pause.ends


def _read(config: Config, session_key: str) -> Pause | None:
    """Return the pause for all or one session, which may have expired; None if there is none.

    Raises OSError when the disk cannot be read.
    """
    path = pause_path(config, session_key)
    try:
        began = os.stat(path).st_mtime
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        text, _, session = files.read_own(path, MAX_PAUSE_BYTES).decode("utf-8", "replace").partition(" ")
        return Pause(began, timestamps.seconds_of(text or "0"), session)
    except (OSError, ValueError):
        return Pause(began, 0.0)


def of_sessions(config: Config) -> list[Pause]:
    """Return the current pauses of single sessions, the earliest first; one of an older mdmem lacks the session.

    Names with a dot are temporary files of killed writers.
    """
    pauses = (pause_of(config, key) for key in _keys(config) if key)
    return sorted(filter(None, pauses), key=lambda pause: (pause.began, pause.session))


def _keys(config: Config) -> list[str]:
    """Return the keys of the sessions with a pause, and "" if there is one for all. They may have expired."""
    names = [name for name in system.names_in(config.state_dir) if name.startswith("paused") and "." not in name]
    return [name.removeprefix(_OF_ONE) if name.startswith(_OF_ONE) else "" for name in names]


def prune(config: Config, now: float) -> int:
    """End the pauses that have expired, for a caller that knows the clock to be right; return how many."""
    ended = 0
    for key in _keys(config):
        try:
            pause = _read(config, key)
            if pause is not None and _is_over(pause, now):
                end_pause(config, key, now)
                ended += 1
        except OSError:
            continue  # as on a full disk: it is ended later, and `times` reads it until then
    return ended


def begin_pause(config: Config, session: str = "", ends: float = 0.0) -> None:
    """Pause storing for all or one session, named by its whole id, until `ends` (0: until a person ends it)."""
    key = key_of(session)
    end_pause(config, key, time.time())
    files.replace(pause_path(config, key), f"{ends:.0f} {session}".rstrip().encode("utf-8", "replace"))
    moved.remember(config.state_dir, config.vault)


def key_of(session: str) -> str:
    """Return the key of the session with this id; "" for all sessions."""
    return short(session, 16) if session else ""


def end_pause(config: Config, session_key: str, now: float) -> bool:
    """End the pause for all or one session and record it; return whether there was one that had not expired.

    Raises OSError when it cannot be recorded or removed: storing is still paused then.
    """
    pause = _read(config, session_key)
    if pause is None:
        return False
    remember_pause(config, pause.began, min(now, pause.ends or now), session_key or "all")
    try:
        os.unlink(pause_path(config, session_key))
    except FileNotFoundError:
        pass  # another process ended it
    return not _is_over(pause, now)


def times(config: Config, session_key: str) -> list[tuple[float, float]]:
    """Return (begin, end) in seconds since the epoch of past pauses that applied to this session.

    Raises OSError when they cannot be read: what was not to be stored is then unknown.
    """
    unended = filter(None, (_read(config, key) for key in dict.fromkeys(("", session_key))))
    spans = [(pause.began, pause.ends) for pause in unended if pause.ends]
    try:
        text = files.read_own(os.path.join(config.state_dir, "pauses"), MAX_PAUSES_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return spans
    for row in map(str.split, text.splitlines()):
        if len(row) == 3 and row[2] in ("all", session_key):
            try:
                spans.append((float(row[0]), float(row[1])))
            except ValueError:
                continue
    return spans


def remember_pause(config: Config, begin: float, end: float, session_key: str) -> None:
    """Record a past pause, so that an import leaves out that time."""
    path = os.path.join(config.state_dir, "pauses")
    files.append(path, f"{begin:.0f} {end:.0f} {session_key}\n".encode())
