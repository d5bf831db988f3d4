"""The turn: whether a prompt's tool runs and answers may be stored.

A prompt's mark, keyed by the agent's id for it, is `private` (store nothing), `open` (store) or `unsure` (not judged
yet: store nothing, and tell the user what was left out). Without prompt ids, the session's last mark counts.

A prompt that may be private is marked unsure before it is judged, so that a killed hook does not make its turn public.
If no mark can be written (`marks`), or if private text could not be remembered, nothing of the session is stored for
now.
"""

from __future__ import annotations

import os
import time

from mdmem import files, privacy
from mdmem.capture import marks
from mdmem.hashing import short
from mdmem.hook_errors import VaultError
from mdmem.vault import journal
from mdmem.vault.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.capture.pending import Capture

_JUDGING_SECONDS = 1.0
"""Maximum time to wait for a parallel hook to judge the turn's prompt; an older mark is not waited for."""

JUDGED = "judged"
"""Kind of the lines in a session's record with digests of the prompts with private tags whose own hook has run."""

_LEARNED = "instructions"
"""Kind of the line in a session's record that says that private sections of instruction files are remembered."""

_QUEUED = '"queued_command"'
_SHELL = {
    "</bash-stderr>": "<bash-",
    "</user_shell_command>": "<user_shell_command>",
    "I ran the following shell command:": "I ran the following shell command:",
}
"""Signs of a person's own command, in Claude Code, Codex and Gemini CLI -> what each of its lines contains."""
_QUEUED_BYTES = 48 * 1024
"""How much of a transcript's end is searched after each tool run, in bytes; queued prompts come before the run."""


def is_private(at: Capture) -> bool:
    """Whether the event's turn must not be stored: marked so, not markable, or a mark may have been lost."""
    by_prompt = _judged_marks(at)
    if _is_withheld(at, by_prompt) or _is_of_private_parent(at):
        return True
    key = marks.prompt_key(at)
    if mark := marks.of_prompt(by_prompt, key):
        return mark != marks.OPEN
    if key and marks.LOST not in by_prompt and at.session.name_of(at.prompt_note()):
        return False  # its prompt was stored
    if key and at.live and _is_private_unseen(at):
        return True
    if not marks.can_write(at):
        return not (key and _has_prompt(at, sure=True))
    if not key:
        return False
    is_after_open = marks.of_prompt(by_prompt, b"") in (b"", marks.OPEN)
    is_known = (is_after_open and at.session.is_continuous()) or _has_prompt(at, sure=not is_after_open)
    if is_known and marks.LOST not in by_prompt:
        return False
    mark_unsure(at)
    return True


def _judged_marks(at: Capture) -> dict[bytes, bytes]:
    """Return the session's marks; wait up to _JUDGING_SECONDS for the hook that is judging this turn's prompt."""
    until = time.monotonic() + _JUDGING_SECONDS
    while True:
        by_prompt = marks.read(at, at.session.key)
        is_judged = not at.live or marks.of_prompt(by_prompt, marks.prompt_key(at)) != marks.UNSURE
        if is_judged or time.monotonic() > until or not marks.are_newer_than(at, _JUDGING_SECONDS):
            return by_prompt
        time.sleep(0.02)


def is_withheld(at: Capture) -> bool:
    """Whether nothing of the session is stored for now, because its private text could not be recognized later."""
    return _is_withheld(at, marks.read(at, at.session.key))


def _is_withheld(at: Capture, by_prompt: dict[bytes, bytes]) -> bool:
    if at.has_lost_private() or (marks.LOST in by_prompt and not marks.make_whole(at)):
        return True
    is_of_session = marks.SESSION in by_prompt
    if not marks.can_write(at):
        return is_of_session or not marks.can_write_spare(at)
    return is_of_session and not marks.takes_files(os.path.dirname(at.memory_of(at.session.key)))


def _is_of_private_parent(at: Capture) -> bool:
    """Whether this is a sub-agent's own session, started in a turn of its parent session that is not open."""
    return any(marks.of_prompt(marks.read(at, key), b"") not in (b"", marks.OPEN) for key in at.session_keys()[1:])


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


def is_asked_for(at: Capture) -> bool:
    """Whether the user marked this turn as private, or the turn of the parent session."""
    prompts = {at.session.key: marks.prompt_key(at)}
    of_sessions = (marks.of_prompt(marks.read(at, key), prompts.get(key, b"")) for key in at.session_keys())
    return marks.PRIVATE in of_sessions


def mark_private(at: Capture) -> bool:
    """Mark this turn as private; return False if no mark could be written."""
    return marks.write(at, marks.PRIVATE)


def mark_unsure(at: Capture) -> None:
    """Mark this turn as unsure: store nothing until its prompt is judged, and tell the user what was left out."""
    marks.write(at, marks.UNSURE)


def mark_open(at: Capture, *, sure: bool) -> None:
    """Mark this turn as open. Unless `sure`, skip that in a session without marks, where turns are open anyway."""
    if sure or marks.exist(at):
        marks.write(at, marks.OPEN)


def withhold(at: Capture) -> None:
    """Store nothing of this turn, and nothing of the session until private text can be remembered again.

    Unless the user asked for a private turn, the user is told what that costs.
    """
    if is_asked_for(at) or marks.write(at, marks.UNSURE):
        marks.write_of_session(at)


def begin(at: Capture) -> None:
    """Renew the session's marks and private memory when it starts or resumes, and copy a fork's from its parent."""
    marks.renew(at)
    if os.path.exists(at.memory_of(at.session.key)):
        files.renew(at.memory_of(at.session.key))
    from mdmem.capture import remembered

    if at.live:
        from mdmem import moved

        moved.remember(at.config.state_dir, at.config.vault)
        learn_instructions(at)
    if not remembered.inherit(at):
        withhold(at)


def learn_instructions(at: Capture) -> None:
    """Remember private sections of the instruction files that the agent reads at the start of the session."""
    from mdmem.capture import remembered
    from mdmem.capture.tools import instructions

    if remembered.learn(at, instructions.of_session(at.event, at.rules)):
        at.session.append(_LEARNED, "1")
    else:
        withhold(at)


def has_learned_instructions(at: Capture) -> bool:
    """Whether `learn_instructions` has succeeded in this session: a full disk may have prevented it."""
    return f"\n{_LEARNED}\t".encode() in at.session.data  # `lines` would split a long record at each event


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


# -- what no hook saw ------------------------------------------------------------------------------


def learn_queued(at: Capture) -> None:
    """Remember what is private or secret in what no hook saw: prompts typed while the agent worked, `!` commands."""
    end = files.try_read_any(at.event.transcript, _QUEUED_BYTES, from_end=True) if at.live else b""
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
        if not remembered.learn_cleaned(at, cleaned):
            withhold(at)
        elif cleaned.value == "":
            mark_private(at)
        elif _may_be_private(cleaned):
            mark_unsure(at)


def _is_private_unseen(at: Capture) -> bool:
    """Whether the transcript shows that a prompt no hook has stored is private; remember its private text.

    This happens if its hook was killed, mdmem was installed later, or nobody typed it. The transcript is read once per
    prompt.
    """
    key = marks.prompt_key(at).decode()
    if not os.path.exists(at.event.transcript) or [key] in at.session.lines("unseen"):
        return False
    from mdmem.agents import tail
    from mdmem.capture import remembered

    spans: list[str] = []
    for cleaned in _cleaned(tail.objects(at.event.transcript, at.event.prompt_id), at):
        spans += cleaned.spans
        if cleaned.value == "" or _may_be_private(cleaned):
            remembered.learn(at, tuple(spans))
            marks.write(at, marks.PRIVATE if cleaned.value == "" else marks.UNSURE)
            return True
    if remembered.learn(at, tuple(spans)):
        at.session.append("unseen", key)
        return False
    withhold(at)
    return True


def _may_be_private(cleaned: privacy.Cleaned) -> bool:
    """Whether a prompt may be private as a whole, because it could not be checked and has a private tag."""
    return cleaned.failure is not None and cleaned.private > 0


def _cleaned(lines: Iterable[object], at: Capture) -> Iterable[privacy.Cleaned]:
    """Clean the texts of a transcript's lines that may hold a private tag, or name a secret."""
    from mdmem.agents import tail

    for line in lines:
        for text in tail.strings(line):
            if privacy.may_hold_private(text, at.rules) or privacy.may_name_secret(text, at.rules):
                yield privacy.clean(privacy.as_typed(text), rules=at.rules)
