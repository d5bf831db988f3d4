"""The retry queue: cleaned notes that the vault could not take yet.

A queued note is a JSON file, mode 0600, in the user's state folder. It holds the cleaned note, never the raw payload.
`queued` writes the notes to the vault in order; a new note of a session queues behind the session's queued ones.
"""

from __future__ import annotations

import os
import time

from mdmem import files, privacy, system
from mdmem.capture.pending import RETRY_FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.capture.pending import Capture, PendingNote
    from mdmem.config import Config
    from mdmem.vault import note

FORMAT = 2
"""Version of the queued files; files of a later version stay queued until mdmem is updated."""


def folder(config: Config) -> str:
    """Return the queue's folder; it need not exist."""
    return os.path.join(config.state_dir, RETRY_FOLDER)


def waiting(config: Config) -> list[str]:
    """List the queued files, oldest first."""
    return sorted(name for name in system.names_in(folder(config)) if name.endswith(".json"))


def waits(config: Config, session_key: str) -> bool:
    """Whether notes of this session are queued."""
    ending = f"-{session_key}.json"
    return any(name.endswith(ending) for name in waiting(config))


def keep(capture: Capture, draft: PendingNote, built: note.Note) -> bool:
    """Queue a note that could not be stored; return False if that fails too."""
    import json

    project = [getattr(capture.project, slot) for slot in capture.project.__slots__]
    value = {
        "format": FORMAT,
        "meta": built.meta,
        "slug": built.slug,
        "body": built.body,
        "kind": draft.kind,
        "label": draft.label or draft.kind,
        "has_id": bool(draft.identity),
        "agent": capture.event.agent,
        "session": capture.session.id,
        "prompt_note": capture.prompt_note(),
        "now": capture.now,
        "project": privacy.clean(project, rules=capture.rules, origin="tool").value,
    }
    data = json.dumps(value).encode()
    for _ in range(3):
        try:
            _write(capture.config, capture.session.key, data)
        except FileNotFoundError:
            continue  # another process has just emptied and removed the folder
        except Exception:  # noqa: BLE001 - the user is told that the note is lost
            return False
        return True
    return False


def _write(config: Config, session_key: str, data: bytes) -> None:
    files.make_folder(folder(config))
    last = max([name[:20] for name in waiting(config) if name[:20].isdigit()], default="0")
    number = max(time.time_ns(), int(last) + 1)  # keeps the order even if the clock was set back
    path = os.path.join(folder(config), f"{number:020d}-{os.getpid()}-{session_key}.json")
    temp = f"{path}.tmp"
    try:
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            system.sync(fd)
        os.rename(temp, path)
    except BaseException:
        files.remove(temp)
        raise
    if config.durable:
        _sync(config)


def _sync(config: Config) -> None:
    """Sync the queue's folder; a failure is only logged, as the note is there."""
    try:
        queue = system.open_folder(folder(config))
        try:
            queue.sync()
        finally:
            queue.close()
    except OSError as error:
        from mdmem import log

        log.write(config, "a note is queued, but may not survive a power cut", error)
