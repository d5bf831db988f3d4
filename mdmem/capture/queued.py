"""Queued notes: written into the vault from the retry queue, in their order."""

from __future__ import annotations

import os
import time

from mdmem import files, log, system
from mdmem.capture import retry_queue
from mdmem.capture.pending import Capture, Outcome, PendingNote
from mdmem.capture.store import publish
from mdmem.hook_errors import VaultError
from mdmem.vault import disk, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.config import Config

MAX_AT_ONCE = 20
"""How many queued notes of other sessions a hook writes before it does its own work; `mdmem index` writes all."""

MAX_SECONDS = 2.0
"""A hook begins to write no further one after this time, of its own session either: else a hook that finds hundreds, on
a slow disk, would be at its deadline before its own event is stored. That one then waits behind the others."""

_MAX_STUCK = 3  # sessions: a vault that takes none of theirs will hardly take another's


def write_notes(config: Config, most: int | None = None, session_key: str = "", seconds: float = 0.0) -> int:
    """Write the queued notes, oldest first; return how many were written.

    most: the maximum number that is tried, beside all of the session called `session_key`. seconds: after which no
    further one is (0: no limit). A note that still could not be stored keeps back only those of its own session. One
    process does this at a time, and others wait for it.

    Raises:
        TimeoutError: when another process does it for too long.
    """
    path = retry_queue.folder(config)
    try:
        inside = system.open_folder(path)
    except OSError:
        return 0
    with disk.Folder(inside) as queue:
        queue.lock()
        until = time.monotonic() + seconds if seconds else float("inf")
        written = _write_notes(config, most, session_key, until)
        _tidy(config)
    return written


def write_some(config: Config, session_key: str) -> None:
    """Write those of one session, and a few others; what cannot be written now waits on, at the cost of a log line."""
    try:
        write_notes(config, MAX_AT_ONCE, session_key, MAX_SECONDS)
    except Exception as error:  # noqa: BLE001 - what waits goes on waiting; an event is not to be lost for it
        log.write(config, "the queued notes could not be written", error)


def _write_notes(config: Config, most: int | None, session_key: str, until: float) -> int:
    written = 0
    stuck: set[str] = set()
    if not os.path.isdir(config.vault):
        return written
    names = retry_queue.waiting(config)
    others = [name for name in names if _key(name) != session_key][:most]
    for number, name in enumerate(sorted([*others, *[name for name in names if _key(name) == session_key]])):
        if number and time.monotonic() >= until:
            break
        path = os.path.join(retry_queue.folder(config), name)
        if _key(name) in stuck or (most is not None and len(stuck) >= _MAX_STUCK):
            continue
        try:
            _publish(config, path)
        except FileNotFoundError as error:
            if error.filename == path:
                continue  # by a process that found no lock to wait for
            stuck.add(_key(name))
        except (OSError, VaultError):
            stuck.add(_key(name))  # the vault still cannot take it
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.write(config, "a damaged file in the retry queue was set aside", error)
            _put_aside(path)
        else:
            files.remove(path)
            written += 1
    return written


def _key(name: str) -> str:
    return name.removesuffix(".json").rpartition("-")[2]


class _QueuedEvent(Capture):
    """The event of a note that waited, as far as it is needed to give the note its place."""

    __slots__ = ("_prompt_note",)

    def __init__(self, config: Config, kept: dict[str, Any]) -> None:
        from mdmem.agents import Event
        from mdmem.project import Project

        super().__init__(config, Event(agent=kept["agent"], name="", session=kept["session"]), float(kept["now"]))
        self._prompt_note = str(kept["prompt_note"])
        for slot, value in zip(Project.__slots__, kept["project"], strict=True):
            setattr(self.project, slot, value)

    def prompt_number(self) -> int:
        """Return which prompt the event belongs to; 0 before the first."""
        return self.session.number_of(self._prompt_note)


def _publish(config: Config, path: str) -> None:
    import json

    kept: dict[str, Any] = json.loads(files.read(path, disk.MAX_READ_BYTES))
    identity = ("its own",) if kept["has_id"] else ()
    draft = PendingNote(kept["kind"], None, lambda _: None, identity=identity, label=kept["label"])
    made = note.Note(kept["meta"], kept["slug"], kept["body"])
    if "digest" in made.meta:  # a purge may have taken a text out of what waited
        made.meta["digest"] = note.fingerprint(str(made.meta["title"]), made.body)
    publish(_QueuedEvent(config, kept), draft, made, Outcome())


def _tidy(config: Config) -> None:
    """Remove the folder once it is empty, so that hooks see at a glance that nothing waits."""
    try:
        os.rmdir(retry_queue.folder(config))
    except OSError:
        return


def _put_aside(path: str) -> None:
    try:
        os.replace(path, f"{path}.damaged")
    except OSError:
        return
