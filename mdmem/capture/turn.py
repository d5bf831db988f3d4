"""The turn: whether a prompt's tool runs and answers may be stored.

A prompt's mark, keyed by the agent's id for it, is `private` (store nothing), `open` (store) or `unsure` (not judged
yet: store nothing, and tell the user what was left out). Without prompt ids, the session's last mark counts.

A prompt that may be private is marked unsure before it is judged, and marks are kept in two folders that are seldom
lost together. So neither a killed hook nor a deleted state folder makes a private turn public. Marks outlive the end of
the session, because it can be resumed and events can arrive late.

If neither folder can be written, the mark goes to the system's temporary folder, and is moved back once that is
possible. If that fails too, or if private text could not be remembered, nothing of the session is stored for now.
"""

from __future__ import annotations

import os
import time

from mdmem import files, privacy
from mdmem.hashing import short
from mdmem.hook_errors import VaultError
from mdmem.vault import journal
from mdmem.vault.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.capture.pending import Capture

FLAG = "turns"
"""Suffix of the files with the marks."""

_PRIVATE, _OPEN, _UNSURE = b"private", b"open", b"unsure"
_SESSION, _LOST = b"*", b"?"
"""Used instead of a prompt's key: for the whole session, and for a prompt whose mark could not be written."""

_LOST_LINE = b"\n%b %b\n" % (_UNSURE, _LOST)

_JUDGING_SECONDS = 1.0
"""Maximum time to wait for a parallel hook to judge the turn's prompt; an older mark is not waited for."""

_MAX_MARKS_BYTES = 1 << 20


# -- marks -----------------------------------------------------------------------------------------


def is_private(at: Capture) -> bool:
    """Whether the event's turn must not be stored: marked so, not markable, or a mark may have been lost."""
    marks = _judged_marks(at)
    if _is_withheld(at, marks) or _is_of_private_parent(at):
        return True
    key = _prompt_key(at)
    if mark := _mark_of(marks, key):
        return mark != _OPEN
    if key and _LOST not in marks and at.session.name_of(at.prompt_note()):
        return False  # its prompt was stored
    if key and at.live and _is_private_unseen(at):
        return True
    if not can_mark(at):
        return not (key and _has_prompt(at, sure=True))
    if not key:
        return False
    is_after_open = _mark_of(marks, b"") in (b"", _OPEN)
    is_known = (is_after_open and at.session.is_continuous()) or _has_prompt(at, sure=not is_after_open)
    if is_known and _LOST not in marks:
        return False
    mark_unsure(at)
    return True


def _judged_marks(at: Capture) -> dict[bytes, bytes]:
    """Return the session's marks; wait up to _JUDGING_SECONDS for the hook that is judging this turn's prompt."""
    until = time.monotonic() + _JUDGING_SECONDS
    while True:
        marks = _read_marks(at, at.session.key)
        is_judged = not at.live or _mark_of(marks, _prompt_key(at)) != _UNSURE
        if is_judged or time.monotonic() > until or not _is_new(_places(at)):
            return marks
        time.sleep(0.02)


def _is_new(paths: Iterable[str]) -> bool:
    try:
        newest = max(os.stat(path).st_mtime for path in paths if os.path.exists(path))
    except (OSError, ValueError):
        return False
    return abs(time.time() - newest) < _JUDGING_SECONDS


def _is_private_unseen(at: Capture) -> bool:
    """Whether the transcript shows that a prompt no hook has stored is private; remember its private text.

    This happens if its hook was killed, mdmem was installed later, or nobody typed it. The transcript is read once per
    prompt.
    """
    key = _prompt_key(at).decode()
    if not os.path.exists(at.event.transcript) or [key] in at.session.lines("unseen"):
        return False
    from mdmem.agents import tail
    from mdmem.capture import remembered

    spans: list[str] = []
    for cleaned in _cleaned(tail.objects(at.event.transcript, at.event.prompt_id), at):
        spans += cleaned.spans
        if cleaned.value == "":
            remembered.learn(at, tuple(spans))
            mark_private(at)
            return True
    if remembered.learn(at, tuple(spans)):
        at.session.append("unseen", key)
        return False
    withhold(at)
    return True


def learn_queued(at: Capture) -> None:
    """Remember what is private or secret in what no hook saw: prompts typed while the agent worked, `!` commands."""
    try:
        end = files.read_any(at.event.transcript, _QUEUED_BYTES, from_end=True) if at.live else b""
    except (OSError, ValueError):
        return
    signs = [sign for sign in (_QUEUED, *_SHELL) if sign.encode() in end]
    if not signs:
        return
    from mdmem.agents import tail
    from mdmem.capture import remembered

    found = list(_cleaned(tail.objects(at.event.transcript, _QUEUED), at)) if _QUEUED in signs else []
    for sign in signs:
        if sign in _SHELL:
            from mdmem.capture import shell_runs

            found += shell_runs.cleaned(at, _SHELL[sign])
    spans = [span for cleaned in found for span in cleaned.spans]
    if not remembered.learn(at, tuple(spans), tuple([secret for cleaned in found for secret in cleaned.secrets])):
        withhold(at)


def learn_asked(at: Capture) -> None:
    """Judge the prompt that Gemini CLI repeats with its answer, unless its own hook has."""
    asked = at.event.extra.get("asked", "")
    if not (asked and at.live and privacy.may_hold_private(asked, at.rules)):
        return
    from mdmem.agents import prompts
    from mdmem.capture import remembered

    asked = privacy.as_typed(prompts.typed(asked))
    for cleaned in _cleaned([asked] if [short(asked, 10)] not in at.session.lines(JUDGED) else (), at):
        if not remembered.learn(at, cleaned.spans, cleaned.secrets):
            withhold(at)
        elif cleaned.value == "":
            mark_private(at)


JUDGED = "judged"
"""Kind of the lines in a session's record with digests of the prompts with private tags whose own hook has run."""

_QUEUED = '"queued_command"'
_SHELL = {
    "</bash-stderr>": "<bash-",
    "</user_shell_command>": "<user_shell_command>",
    "I ran the following shell command:": "I ran the following shell command:",
}
"""Signs of a person's own command, in Claude Code, Codex and Gemini CLI -> what each of its lines contains."""
_QUEUED_BYTES = 48 * 1024
"""How much of a transcript's end is searched after each tool run, in bytes; queued prompts come before the run."""


def _cleaned(lines: Iterable[object], at: Capture) -> Iterable[privacy.Cleaned]:
    """Clean the texts of a transcript's lines that may hold a private tag, or name a secret."""
    from mdmem.agents import tail

    for line in lines:
        for text in tail.strings(line):
            if privacy.may_hold_private(text, at.rules) or privacy.may_name_secret(text, at.rules):
                yield privacy.clean(privacy.as_typed(text), rules=at.rules)


def is_withheld(at: Capture) -> bool:
    """Whether nothing of the session is stored for now, because its private text could not be recognized later."""
    return _is_withheld(at, _read_marks(at, at.session.key))


def is_asked_for(at: Capture) -> bool:
    """Whether the user marked this turn as private, or the turn of the parent session."""
    prompt_keys = {at.session.key: _prompt_key(at)}
    return any(_mark_of(_read_marks(at, key), prompt_keys.get(key, b"")) == _PRIVATE for key in at.session_keys())


def _is_of_private_parent(at: Capture) -> bool:
    """Whether this is a sub-agent's own session, started in a turn of its parent session that is not open."""
    return any(_mark_of(_read_marks(at, key), b"") not in (b"", _OPEN) for key in at.session_keys()[1:])


def _is_withheld(at: Capture, marks: dict[bytes, bytes]) -> bool:
    if at.has_lost_private():
        return True
    if _LOST in marks and not _make_whole(at):
        return True
    if not can_mark(at):
        return _SESSION in marks or not _takes_files(os.path.dirname(_spare(at, at.session.key)), make=False)
    return _SESSION in marks and not _takes_files(os.path.dirname(at.memory_of(at.session.key)))


def withhold(at: Capture) -> None:
    """Store nothing of this turn, and nothing of the session until private text can be remembered again.

    Unless the user asked for a private turn, the user is told what that costs.
    """
    if is_asked_for(at) or _mark(at, _UNSURE):
        line = b"\n%b %b\n" % (_PRIVATE, _SESSION)
        for path in _places(at):
            _append(path, line)


def can_mark(at: Capture) -> bool:
    """Whether a mark can be written now; where it cannot, an unmarked turn may be private."""
    return any(_takes_files(os.path.dirname(path)) for path in _usual_places(at, at.session.key))


def mark_private(at: Capture) -> bool:
    """Mark this turn as private; return False if no mark could be written."""
    return _mark(at, _PRIVATE)


def mark_unsure(at: Capture) -> None:
    """Mark this turn as unsure: store nothing until its prompt is judged, and tell the user what was left out."""
    _mark(at, _UNSURE)


def mark_open(at: Capture, *, sure: bool) -> None:
    """Mark this turn as open. Unless `sure`, skip that in a session without marks, where turns are open anyway."""
    if sure or any(map(files.may_exist, _places(at))):
        _mark(at, _OPEN)


def _mark(at: Capture, what: bytes) -> bool:
    """Write a mark for this turn; return False if it could not be written anywhere."""
    _make_whole(at)
    if _write(at, b"\n%b %b\n" % (what, _prompt_key(at))):
        return True
    for path in filter(os.path.exists, _places(at)):
        files.drop_last_byte(path)  # so that `_has_lost` sees that a mark is missing
    from mdmem import log

    log.write(at.config, "a turn could not be marked: no folder for it can be written")
    return False


def _write(at: Capture, line: bytes) -> bool:
    """Add a line to both files of marks, or to the temporary one if neither can be written; return whether it is."""
    *usual, spare = _places(at)
    written = [_append(path, line) for path in usual]
    return any(written) or _append(spare, line)


def _move_from_spare(at: Capture) -> None:
    """Move marks from the temporary folder back to their own folders, if those can be written again."""
    *usual, spare = _places(at)
    if not os.path.exists(spare):
        return
    try:
        lines = files.read_own(spare, _MAX_MARKS_BYTES) + (_LOST_LINE if _has_lost(at, at.session.key) else b"")
        written = [_append(path, lines) for path in usual]
        if any(written):
            files.remove(spare)
            os.rmdir(os.path.dirname(spare))
    except OSError:
        return  # they stay where they are, and are read there


def _make_whole(at: Capture) -> bool:
    """If a mark was lost, mark and count that loss. Return False while that cannot be written."""
    _move_from_spare(at)
    try:
        if not _has_lost(at, at.session.key):
            return True
    except OSError:
        return False  # reading the marks raises the same error
    if not _write(at, _LOST_LINE):
        return False
    from mdmem.capture import losses
    from mdmem.capture.pending import UNSEEN

    return losses.record(at.config, at.event.name, at.event.agent, UNSEEN, at.now)


def _spare(at: Capture, key: str) -> str:
    """Return the path of the session's marks in the user's own folder below the system's temporary folder."""
    if not at.live:
        return os.path.join(at.config.runtime_dir, f"spare-{key}.{FLAG}")  # a replay's are removed with its folder
    temporary = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"  # noqa: S108 - `tempfile` is slow to import
    user = os.getuid() if hasattr(os, "getuid") else 0
    name = f"mdmem-{user}-{os.path.basename(at.config.state_dir)}"
    return os.path.join(temporary, name, f"{key}.{FLAG}")


def _prompt_key(at: Capture) -> bytes:
    return short(at.event.prompt_id, 16).encode() if at.event.prompt_id else b""


def _usual_places(at: Capture, key: str) -> tuple[str, str]:
    """Return the paths of a session's marks in the two folders that are seldom lost together."""
    name = f"{key}.{FLAG}"
    return os.path.join(os.path.dirname(at.session.flag(FLAG)), name), os.path.join(at.config.runtime_dir, name)


def _places(at: Capture) -> tuple[str, str, str]:
    """Return the paths of the session's marks, the temporary one last."""
    return (*_usual_places(at, at.session.key), _spare(at, at.session.key))


def _append(path: str, lines: bytes) -> bool:
    try:
        return files.append(path, lines) == len(lines)
    except OSError:
        return False


def _read_marks(at: Capture, key: str) -> dict[bytes, bytes]:
    """Return a session's marks by prompt key, the newest last; b"" is the key of prompts without an id.

    The two files are equal unless one was lost; then the longer one is right. Marks in the temporary folder are newer
    than both, until the next mark moves them.

    Raises:
        OSError: when there are marks and none can be read.
    """
    marks: dict[bytes, bytes] = {}
    data = _longest(_usual_places(at, key)) + _longest([_spare(at, key)])
    for line in (data + (_LOST_LINE if _has_lost(at, key) else b"")).split(b"\n"):
        what, _, prompt = line.partition(b" ")
        if what in (_PRIVATE, _OPEN, _UNSURE):
            marks.pop(prompt, None)
            marks[prompt] = what
    return marks


def _has_lost(at: Capture, key: str) -> bool:
    """Whether a mark was lost: a full disk leaves the last file that was written truncated or empty."""
    spare = _spare(at, key)
    paths = [path for path in ((spare,) if os.path.exists(spare) else _usual_places(at, key)) if os.path.exists(path)]
    return bool(paths) and _longest(paths)[-1:] != b"\n"


def _mark_of(marks: dict[bytes, bytes], prompt: bytes) -> bytes:
    """Return a prompt's mark, b"" if it has none; without a prompt key, the session's last mark."""
    last = [what for of, what in marks.items() if of != _SESSION][-1:]
    return marks.get(prompt, b"") if prompt else b"".join(last)


def _longest(paths: Iterable[str]) -> bytes:
    data, failed = b"", None
    for path in filter(files.may_exist, paths):
        try:
            data = max(data, files.read_own(path, _MAX_MARKS_BYTES), key=len)
        except (FileNotFoundError, files.NotRegularError):
            continue
        except OSError as error:
            failed = error
    if failed and not data:
        raise failed
    return data


def _takes_files(folder: str, *, make: bool = True) -> bool:
    try:
        if not make and not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        elif not files.is_private(folder):
            files.make_folder(folder)
    except OSError:
        return False
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def _has_prompt(at: Capture, *, sure: bool) -> bool:
    """Whether the vault shows that this turn's prompt was stored.

    Unless `sure`, a vault that cannot tell counts as yes: no folder or notes of the session, or a record without gaps.
    """
    try:
        folder = at.session.open_folder()
        if folder is None:
            return not sure  # the session began before mdmem was installed
        with folder:
            folder.lock()  # wait for a hook that is storing the session's first note: it has no record or note yet
            at.session.read()
            names = [name for name in journal.names_with_parts(folder) if numbers(name)]
    except (OSError, VaultError):
        return not sure  # an unreadable vault proves nothing, and cannot be written either
    if any(name.endswith(f"-{at.prompt_note()}.md") for name in names):
        return True
    return not sure and (at.session.is_continuous() or not names)


# -- sessions, and events that are not stored ------------------------------------------------------


def begin(at: Capture) -> None:
    """Renew the session's marks and private memory when it starts or resumes, and copy a fork's from its parent."""
    for path in filter(os.path.exists, (*_usual_places(at, at.session.key), at.memory_of(at.session.key))):
        files.renew(path)
    from mdmem.capture import remembered

    if at.live:
        from mdmem import moved
        from mdmem.capture.tools import instructions

        moved.remember(at.config.state_dir, at.config.vault)

        if not remembered.learn(at, instructions.of_session(at.event, at.rules)):
            withhold(at)
    if not remembered.inherit(at):
        withhold(at)


def mark_passed_over(at: Capture, *, typed: bool) -> bool:
    """Remember the private text of an event that is not stored; if it is a typed prompt, mark its turn as private.

    Return False if either could not be written.
    """
    from mdmem.capture import remembered  # needed only for events that are not stored

    marked = not typed or mark_private(at)
    learned = remembered.learn_from(at)
    if not learned:
        withhold(at)
    return learned and marked
