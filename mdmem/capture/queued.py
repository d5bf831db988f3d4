"""Queued notes: writes the notes in the retry queue to the vault, oldest first."""

from __future__ import annotations

import os
import time
from itertools import islice

from mdmem import files, log, system
from mdmem.agents import Event
from mdmem.capture import retry_queue
from mdmem.capture.pending import Capture, Outcome, PendingNote
from mdmem.capture.store import publish
from mdmem.hook_errors import VaultError, no_vault
from mdmem.project import Project
from mdmem.values import Value
from mdmem.vault import disk, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.config import Config

MAX_AT_ONCE = 20
"""Maximum number of other sessions' queued notes that a hook writes first; `mdmem index` writes all."""

MAX_SECONDS = 2.0
"""A hook starts writing no further queued note after this time, not even of its own session. Otherwise hundreds of
notes on a slow disk would use up its deadline; its own event is then queued behind them."""

_MAX_STUCK = 3  # sessions: if their notes fail, those of others will likely fail too


class Flush(Value):
    """The result of writing queued notes.

    written, damaged: number of notes. problem: why the first of the rest still waits.
    """

    written: int = 0
    damaged: int = 0
    problem: Exception | None = None


def flush(config: Config, most: int | None = None, session_key: str = "", seconds: float = 0.0) -> Flush:
    """Write the queued notes, oldest first.

    most: maximum number of notes to try, besides all those of session `session_key` (None: no limit). seconds: when to
    start no further note (0: no limit). A note that fails holds back only later notes of its own session. Only one
    process does this at a time; others wait.

    Raises TimeoutError when another process takes too long.
    """
    path = retry_queue.folder(config)
    result = Flush()
    try:
        opened = system.open_folder(path)
    except OSError:
        return result
    with disk.Folder(opened) as queue:
        queue.lock()
        until = time.monotonic() + seconds if seconds else float("inf")
        _write_notes(config, most, session_key, until, result)
        _tidy(config)
    return result


def write_some(config: Config, session_key: str) -> None:
    """Write one session's queued notes and a few others; log a failure, the notes stay queued."""
    try:
        flush(config, MAX_AT_ONCE, session_key, MAX_SECONDS)
    except Exception as error:  # noqa: BLE001 - the notes stay queued, and the current event must not be lost for them
        log.write(config, "the queued notes could not be written", error)


def _write_notes(config: Config, most: int | None, session_key: str, until: float, result: Flush) -> None:
    stuck: set[str] = set()
    if not os.path.isdir(config.vault):
        result.problem = no_vault(config.vault)
        return
    names = retry_queue.waiting(config)
    ending = f"-{session_key}.json"
    others = list(islice((name for name in names if not name.endswith(ending)), most))
    own = [name for name in names if name.endswith(ending)]
    is_changed = False
    for number, name in enumerate(sorted([*others, *own])):
        if number and time.monotonic() >= until:
            break
        path = os.path.join(retry_queue.folder(config), name)
        if _key(name) in stuck or (most is not None and len(stuck) >= _MAX_STUCK):
            continue
        try:
            _publish(config, path)
        except (OSError, VaultError) as error:
            if isinstance(error, FileNotFoundError) and error.filename == path:
                is_changed = True
                continue  # another process without the lock has written it
            stuck.add(_key(name))  # the vault cannot take it yet
            result.problem = result.problem or error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.write(config, "a damaged file in the retry queue was set aside", error)
            _put_aside(config, path)
            result.damaged += 1
        else:
            files.remove(path)
            result.written += 1
    if result.written or result.damaged or is_changed:
        _announce_again(config, {*map(_key, names)})


def _announce_again(config: Config, keys: set[str]) -> None:
    """Forget that a failure was told, in the sessions whose notes are all written; the next one is told again."""
    from mdmem.capture import feedback

    still_queued = {*map(_key, retry_queue.waiting(config))}
    for key in keys - still_queued:
        feedback.forget(config, key)


def _key(name: str) -> str:
    return name.removesuffix(".json").rpartition("-")[2]


class _QueuedEvent(Capture):
    """The event of a queued note, with as much as is needed to give the note its place."""

    __slots__ = ("_prompt_note",)

    def __init__(self, config: Config, queued: dict[str, Any]) -> None:
        super().__init__(config, Event(agent=queued["agent"], name="", session=queued["session"]), float(queued["now"]))
        self._prompt_note = str(queued["prompt_note"])
        for slot, value in zip(Project.__slots__, queued["project"], strict=True):
            setattr(self.project, slot, value)

    def prompt_number(self) -> int:
        """Return which prompt the event belongs to; 0 before the first."""
        return self.session.number_of(self._prompt_note)


def _publish(config: Config, path: str) -> None:
    import json

    queued: dict[str, Any] = json.loads(files.read_own(path, disk.MAX_READ_BYTES))
    if queued.get("format", retry_queue.FORMAT) > retry_queue.FORMAT:
        raise VaultError(f"{path} is from a newer version of mdmem. Update mdmem; the note stays queued until then.")
    identity = ("its own",) if queued["has_id"] else ()
    draft = PendingNote(queued["kind"], None, lambda _: None, identity=identity, label=queued["label"])
    built = note.Note(queued["meta"], queued["slug"], queued["body"])
    if "digest" in built.meta:  # a purge may have removed text from the queued note
        built.meta["digest"] = note.fingerprint(str(built.meta["title"]), built.body)
    publish(_QueuedEvent(config, queued), draft, built, Outcome())


def _tidy(config: Config) -> None:
    """Remove the folder if it is empty, so that hooks can tell quickly that nothing is queued."""
    try:
        os.rmdir(retry_queue.folder(config))
    except OSError:
        return


def _put_aside(config: Config, path: str) -> None:
    from mdmem.capture import losses

    losses.record(config, "queued-note", losses.UNKNOWN, losses.DAMAGED, time.time())
    try:
        os.replace(path, f"{path}.damaged")
    except OSError:
        return
