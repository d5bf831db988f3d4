"""Marks: stores whether a session's turns are private; `turn` decides what follows from that.

A mark is a line in a file of the session: what it says, and the key of its prompt. There are two equal files, in
folders that are seldom lost together, so that neither a killed hook nor a deleted state folder makes a private turn
public. Marks outlive the end of the session, because it can be resumed and events can arrive late.

If neither folder can be written, the mark goes to the system's temporary folder, and is moved back once that is
possible.
"""

from __future__ import annotations

import os
import time

from mdmem import files
from mdmem.hashing import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.capture.pending import Capture

FLAG = "turns"
"""Suffix of the files with the marks."""

PRIVATE, OPEN, UNSURE = b"private", b"open", b"unsure"
"""What a mark says."""

SESSION, LOST = b"*", b"?"
"""Used instead of a prompt's key: for the whole session, and for a prompt whose mark could not be written."""

_LOST_LINE = b"\n%b %b\n" % (UNSURE, LOST)
_MAX_BYTES = 1 << 20


def read(capture: Capture, key: str) -> dict[bytes, bytes]:
    """Return a session's marks by prompt key, the newest last; b"" is the key of prompts without an id.

    The two files are equal unless one was lost; then the longer one is right. Marks in the temporary folder are newer
    than both, until the next mark moves them.

    Raises OSError when there are marks and none can be read.
    """
    marks: dict[bytes, bytes] = {}
    data = _longest(_usual_places(capture, key)) + _longest([_spare(capture, key)])
    for line in (data + (_LOST_LINE if _has_lost(capture, key) else b"")).split(b"\n"):
        what, _, prompt = line.partition(b" ")
        if what in (PRIVATE, OPEN, UNSURE):
            marks.pop(prompt, None)
            marks[prompt] = what
    return marks


def of_prompt(marks: dict[bytes, bytes], prompt: bytes) -> bytes:
    """Return a prompt's mark, b"" if it has none; without a prompt key, the session's last mark."""
    last = [what for of, what in marks.items() if of != SESSION][-1:]
    return marks.get(prompt, b"") if prompt else b"".join(last)


def prompt_key(capture: Capture) -> bytes:
    """Return the key of the event's prompt; b"" if the agent gives no prompt id."""
    return short(capture.event.prompt_id, 16).encode() if capture.event.prompt_id else b""


def exist(capture: Capture) -> bool:
    """Whether the session may have marks."""
    return any(map(files.may_exist, _places(capture)))


def are_newer_than(capture: Capture, seconds: float) -> bool:
    """Whether the session's last mark was written in the last `seconds`."""
    try:
        newest = max(os.stat(path).st_mtime for path in _places(capture) if os.path.exists(path))
    except (OSError, ValueError):
        return False
    return abs(time.time() - newest) < seconds


def renew(capture: Capture) -> None:
    """Keep the session's marks from being removed as old."""
    for path in filter(os.path.exists, _usual_places(capture, capture.session.key)):
        files.renew(path)


def write(capture: Capture, what: bytes) -> bool:
    """Write a mark for this turn; return False if it could not be written anywhere."""
    make_whole(capture)
    if _add(capture, b"\n%b %b\n" % (what, prompt_key(capture))):
        return True
    for path in filter(os.path.exists, _places(capture)):
        files.drop_last_byte(path)  # so that `_has_lost` sees that a mark is missing
    from mdmem import log

    log.write(capture.config, "a turn could not be marked: no folder for it can be written")
    return False


def write_of_session(capture: Capture) -> None:
    """Mark the whole session as private, wherever that can be written."""
    for path in _places(capture):
        _append(path, b"\n%b %b\n" % (PRIVATE, SESSION))


def can_write(capture: Capture) -> bool:
    """Whether a mark can be written now; where it cannot, an unmarked turn may be private."""
    return any(takes_files(os.path.dirname(path)) for path in _usual_places(capture, capture.session.key))


def can_write_spare(capture: Capture) -> bool:
    """Whether a mark could be written to the temporary folder, which need not exist."""
    return takes_files(os.path.dirname(_spare(capture, capture.session.key)), make=False)


def make_whole(capture: Capture) -> bool:
    """If a mark was lost, mark and count that loss. Return False while that cannot be written."""
    _move_from_spare(capture)
    try:
        if not _has_lost(capture, capture.session.key):
            return True
    except OSError:
        return False  # reading the marks raises the same error
    if not _add(capture, _LOST_LINE):
        return False
    from mdmem.capture import losses
    from mdmem.capture.pending import UNSEEN

    return losses.record(capture.config, capture.event.name, capture.event.agent, UNSEEN, capture.now)


def _add(capture: Capture, line: bytes) -> bool:
    """Add a line to both files of marks, or to the temporary one if neither can be written; return whether it is."""
    *usual, spare = _places(capture)
    written = [_append(path, line) for path in usual]
    return any(written) or _append(spare, line)


def _move_from_spare(capture: Capture) -> None:
    """Move marks from the temporary folder back to their own folders, if those can be written again."""
    *usual, spare = _places(capture)
    if not os.path.exists(spare):
        return
    try:
        lines = files.read_own(spare, _MAX_BYTES) + (_LOST_LINE if _has_lost(capture, capture.session.key) else b"")
        written = [_append(path, lines) for path in usual]
        if any(written):
            files.remove(spare)
            os.rmdir(os.path.dirname(spare))
    except OSError:
        return  # they stay where they are, and are read there


def _usual_places(capture: Capture, key: str) -> tuple[str, str]:
    """Return the paths of a session's marks in the two folders that are seldom lost together."""
    name = f"{key}.{FLAG}"
    return os.path.join(os.path.dirname(capture.session.flag(FLAG)), name), os.path.join(
        capture.config.runtime_dir, name
    )


def _places(capture: Capture) -> tuple[str, str, str]:
    """Return the paths of the session's marks, the temporary one last."""
    return (*_usual_places(capture, capture.session.key), _spare(capture, capture.session.key))


def _spare(capture: Capture, key: str) -> str:
    """Return the path of the session's marks in the user's own folder below the system's temporary folder."""
    if not capture.live:
        return os.path.join(capture.config.runtime_dir, f"spare-{key}.{FLAG}")  # a replay's are removed with its folder
    temporary = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"  # noqa: S108 - `tempfile` is slow to import
    user = os.getuid() if hasattr(os, "getuid") else 0
    name = f"mdmem-{user}-{os.path.basename(capture.config.state_dir)}"
    return os.path.join(temporary, name, f"{key}.{FLAG}")


def _append(path: str, lines: bytes) -> bool:
    try:
        return files.append(path, lines) == len(lines)
    except OSError:
        return False


def _has_lost(capture: Capture, key: str) -> bool:
    """Whether a mark was lost: a full disk leaves the last file that was written truncated or empty."""
    spare = _spare(capture, key)
    paths = [
        path for path in ((spare,) if os.path.exists(spare) else _usual_places(capture, key)) if os.path.exists(path)
    ]
    return bool(paths) and _longest(paths)[-1:] != b"\n"


def _longest(paths: Iterable[str]) -> bytes:
    """Return the longest content of these files; raise OSError if there are some and none can be read."""
    data, failed = b"", None
    for path in filter(files.may_exist, paths):
        try:
            data = max(data, files.read_own(path, _MAX_BYTES), key=len)
        except (FileNotFoundError, files.NotRegularError):
            continue
        except OSError as error:
            failed = error
    if failed and not data:
        raise failed
    return data


def takes_files(folder: str, *, make: bool = True) -> bool:
    """Whether files can be written to a folder. make: create it if needed; else the folder above may do, too."""
    try:
        if not make and not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        elif not files.is_private(folder):
            files.make_folder(folder)
    except OSError:
        return False
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
