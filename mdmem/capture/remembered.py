"""Remembered: keeps a session's private sections and secrets, in a form that can only recognize them."""

from __future__ import annotations

import os

from mdmem import files, privacy
from mdmem.capture.session import Session
from mdmem.hashing import short
from mdmem.hook_errors import DeadlineError, VaultError
from mdmem.vault import disk, exclusions, front_matter, journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.capture.pending import Capture

_LOST = ["1", "lost"]
"""What the session's record says of a private memory that is lost: more than there is."""


def learn_cleaned(capture: Capture, cleaned: privacy.Cleaned) -> bool:
    """Remember what cleaning has found; return False if that cannot be written, or if there was no time for all."""
    if cleaned.unlearned:
        _note_excess(capture)
        return not capture.has_lost_private()
    return learn(capture, cleaned.spans, cleaned.secrets)


def learn(capture: Capture, spans: tuple[str, ...], secrets: tuple[str, ...] = ()) -> bool:
    """Remember private text and secrets, so that repetitions are not stored; return False if that cannot be written."""
    if not (spans or secrets):
        return True
    if capture.has_lost_private():
        return False
    from mdmem.privacy import memory

    try:
        for key in capture.session_keys():
            lines, sign = memory.learn(capture.config, key, spans, secrets)
            if key == capture.session.key:
                _note_extent(capture, lines, sign)
    except (Exception, DeadlineError) as error:  # noqa: BLE001 - whatever failed, it would not be recognized later
        from mdmem import log

        log.write(capture.config, "private sections cannot be remembered", error)
        if isinstance(error, memory.TooMuchPrivateError):
            _note_excess(capture)
            return not capture.has_lost_private()
        return False
    return True


def _note_extent(capture: Capture, lines: int, sign: str) -> None:
    """Write into the session's record how much its private memory holds, so that a loss of it is noticed."""
    if lines and [str(lines), sign] not in capture.session.lines(journal.PRIVATE):
        capture.session.append(journal.PRIVATE, str(lines), sign)


def notice_loss(capture: Capture) -> None:
    """Record that a session's private memory is lost: it had private sections, and nothing here knows what they said.

    That is so if the state folder was deleted, if the session began on another machine, or if version 0.1 captured it.
    Secrets alone do not count: most are recognized again by their name or form.

    Notes that this mdmem has captured here are not read, as there may be thousands: the record knows how much private
    memory there was then (`Capture.has_lost_private`). Version 0.1 did not record that.
    """
    if os.path.exists(capture.former_memory()):
        if _LOST not in capture.session.lines(journal.PRIVATE):
            _note_loss(capture)
        return
    if capture.event.name == "SessionStart" and capture.event.source in ("startup", "clear"):
        return
    if files.may_exist(capture.memory_of(capture.session.key)):
        return
    try:
        folder = capture.session.open_folder()
        if folder is None:
            return
        with folder:
            names = set(filter(journal.numbers, journal.names_with_parts(folder))) - capture.session.captured()
            is_lost = any(_had_private(disk.read(folder, name) or b"") for name in names)
    except (OSError, VaultError):
        return  # nothing can be stored there either
    if is_lost:
        _note_loss(capture)


def _note_excess(capture: Capture) -> None:
    """Record that private text of this event is not remembered, also for a parent session, which may repeat it."""
    _note_loss(capture)
    parent = capture.event.extra.get("parent_session")
    if parent:
        Session(capture.config, parent, capture.event.agent).append(journal.PRIVATE, *_LOST)


def _note_loss(capture: Capture) -> None:
    capture.session.append(journal.PRIVATE, *_LOST)
    capture.session.read()


def _had_private(data: bytes) -> bool:
    """Whether private sections were removed from a captured note."""
    if b"private" not in data[: data.find(b"\n---", 4)]:
        return False  # parsing is slow, and a session may have thousands of notes
    return type(front_matter.of(data).get("private")) is int


def learn_from(capture: Capture) -> bool:
    """Remember the private text and the secrets of an event that is not stored; return False if that fails."""
    from mdmem.capture import window

    event = capture.event
    run = {"input": event.tool_input, "response": event.tool_response, "error": event.error}
    texts = {"prompt": privacy.as_typed(event.prompt), "message": event.message, **run}
    if capture.live and event.tool:
        from mdmem.capture.tools import files_on_disk

        texts |= files_on_disk.not_shown(event, capture.rules.tags)
    values = _excluded_values(capture, run)
    told = beside(capture)
    if not (privacy.may_hold_private(texts, capture.rules) or privacy.may_name_secret(texts, capture.rules)):
        return learn(capture, told, values)
    origin = "prompt" if event.prompt else "assistant" if event.message else "tool"
    cleaned = privacy.clean(window.Window(capture.rules).narrow(texts), rules=capture.rules, origin=origin)
    return learn_cleaned(capture, cleaned) and learn(capture, told, values)


def beside(capture: Capture) -> tuple[str, ...]:
    """Return the private text of instruction files beside a tool's file; see `files_on_disk.instructions_beside`."""
    from mdmem.capture.tools import files_on_disk

    paths = files_on_disk.instructions_beside(capture.event, capture.project.worktree) if capture.live else []
    if not paths:
        return ()
    from mdmem.capture.tools import instructions

    return instructions.private_in(paths, capture.rules)


def _excluded_values(capture: Capture, run: dict[str, Any]) -> tuple[str, ...]:
    """Return the values that a run shows of a file that the settings exclude."""
    if not (capture.event.tool and exclusions.excludes_paths(capture.config, capture.project)):
        return ()
    from mdmem.capture.tools import excluded

    if excluded.is_about(capture, run["input"], ()):
        return excluded.values_in(list(run.values()))
    removed: list[str] = []
    for shown in (run["response"], run["error"]):
        exclusions.without_excluded(capture.config, shown, capture.project, capture.event.cwd, removed)
    return excluded.values_in(removed)


def inherit(capture: Capture) -> bool:
    """Copy the parent's private memory to a forked or resumed session; return False if that fails.

    The transcript names the parent. If it does not, or is missing, all sessions' memories are copied.
    """
    if capture.session.data or not files.may_exist(os.path.dirname(capture.memory_of(capture.session.key))):
        return True
    from mdmem.privacy import memory

    try:
        sessions = memory.sessions(capture.config)
        named_parents = {short(parent, 16) for parent in journal.parents(capture.event.transcript)}
        parents = [key for key in sessions if key in named_parents and key != capture.session.key]
        if not parents and capture.event.source in ("fork", "resume") and capture.session.key not in sessions:
            parents = sessions
        memory.inherit(capture.config, capture.session.key, parents)
        _note_extent(capture, *memory.extent(capture.config, capture.session.key))
    except OSError as error:
        from mdmem import log

        log.write(capture.config, "could not copy what the parent session remembers as private to its fork", error)
        return False
    return True
