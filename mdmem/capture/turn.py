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


def is_private(capture: Capture) -> bool:
    """Whether the event's turn must not be stored: marked so, not markable, or a mark may have been lost."""
    by_prompt = _judged_marks(capture)
    if _is_withheld(capture, by_prompt) or _is_of_private_parent(capture):
        return True
    key = marks.prompt_key(capture)
    if mark := marks.of_prompt(by_prompt, key):
        if mark == marks.UNSURE and key and capture.live:
            _is_private_unseen(capture)  # its hook may have been killed before it remembered what is private
        return mark != marks.OPEN
    if key and marks.LOST not in by_prompt and capture.session.name_of(capture.prompt_note()):
        return False  # its prompt was stored
    if key and capture.live and _is_private_unseen(capture):
        return True
    if not marks.can_write(capture):
        return not (key and _has_prompt(capture, sure=True))
    if not key:
        return False
    is_after_open = marks.of_prompt(by_prompt, b"") in (b"", marks.OPEN)
    is_known = (is_after_open and capture.session.is_continuous()) or _has_prompt(capture, sure=not is_after_open)
    if is_known and marks.LOST not in by_prompt:
        return False
    marks.write(capture, marks.UNSURE)
    return True


def _judged_marks(capture: Capture) -> dict[bytes, bytes]:
    """Return the session's marks; wait up to _JUDGING_SECONDS for the hook that is judging this turn's prompt."""
    until = time.monotonic() + _JUDGING_SECONDS
    while True:
        by_prompt = marks.read(capture, capture.session.key)
        is_judged = not capture.live or marks.of_prompt(by_prompt, marks.prompt_key(capture)) != marks.UNSURE
        if is_judged or time.monotonic() > until or not marks.are_newer_than(capture, _JUDGING_SECONDS):
            return by_prompt
        time.sleep(0.02)


def is_withheld(capture: Capture) -> bool:
    """Whether nothing of the session is stored for now, because its private text could not be recognized later."""
    return _is_withheld(capture, marks.read(capture, capture.session.key))


def _is_withheld(capture: Capture, by_prompt: dict[bytes, bytes]) -> bool:
    if capture.has_lost_private() or (marks.LOST in by_prompt and not marks.make_whole(capture)):
        return True
    is_of_session = marks.SESSION in by_prompt
    if not marks.can_write(capture):
        return is_of_session or not marks.can_write_spare(capture)
    return is_of_session and not marks.takes_files(os.path.dirname(capture.memory_of(capture.session.key)))


def _is_of_private_parent(capture: Capture) -> bool:
    """Whether this is a sub-agent's own session, started in a turn of its parent session that is not open."""
    return any(
        marks.of_prompt(marks.read(capture, key), b"") not in (b"", marks.OPEN) for key in capture.session_keys()[1:]
    )


def _has_prompt(capture: Capture, *, sure: bool) -> bool:
    """Whether the vault shows that this turn's prompt was stored.

    Unless `sure`, a vault that cannot tell counts as yes: no folder or notes of the session, or a record without gaps.
    """
    try:
        folder = capture.session.open_folder()
        if folder is None:
            return not sure  # the session began before mdmem was installed
        with folder:
            folder.lock()  # wait for a hook that is storing the session's first note: it has no record or note yet
            capture.session.read()
            names = [name for name in journal.names_with_parts(folder) if numbers(name)]
    except (OSError, VaultError):
        return not sure  # an unreadable vault proves nothing, and cannot be written either
    if any(name.endswith(f"-{capture.prompt_note()}.md") for name in names):
        return True
    return not sure and (capture.session.is_continuous() or not names)


def is_asked_for(capture: Capture) -> bool:
    """Whether the user marked this turn as private, or the turn of the parent session."""
    prompts = {capture.session.key: marks.prompt_key(capture)}
    of_sessions = (marks.of_prompt(marks.read(capture, key), prompts.get(key, b"")) for key in capture.session_keys())
    return marks.PRIVATE in of_sessions


def mark_open(capture: Capture, *, sure: bool) -> None:
    """Mark this turn as open. Unless `sure`, skip that in a session without marks, where turns are open anyway."""
    if sure or marks.exist(capture):
        marks.write(capture, marks.OPEN)


def withhold(capture: Capture) -> None:
    """Store nothing of this turn, and nothing of the session until private text can be remembered again.

    Unless the user asked for a private turn, the user is told what that costs.
    """
    if is_asked_for(capture) or marks.write(capture, marks.UNSURE):
        marks.write_of_session(capture)


def learn(capture: Capture, spans: tuple[str, ...], secrets: tuple[str, ...] = ()) -> bool:
    """Remember private text and secrets; `withhold` and return False if that cannot be written."""
    if not (spans or secrets):
        return True
    from mdmem.capture import remembered

    learned = remembered.learn(capture, spans, secrets)
    if not learned:
        withhold(capture)
    return learned


def begin(capture: Capture) -> None:
    """Renew the session's marks and private memory when it starts or resumes, and copy a fork's from its parent."""
    marks.renew(capture)
    if os.path.exists(capture.memory_of(capture.session.key)):
        files.renew(capture.memory_of(capture.session.key))
    from mdmem.capture import remembered

    if capture.live:
        from mdmem import moved

        moved.remember(capture.config.state_dir, capture.config.vault)
        learn_instructions(capture)
    if not remembered.inherit(capture):
        withhold(capture)


def learn_instructions(capture: Capture) -> None:
    """Remember private sections of the instruction files that the agent reads at the start of the session."""
    from mdmem.capture.tools import instructions

    if learn(capture, instructions.of_session(capture.event, capture.rules)):
        capture.session.append(_LEARNED, "1")


def has_learned_instructions(capture: Capture) -> bool:
    """Whether `learn_instructions` has succeeded in this session: a full disk may have prevented it."""
    return f"\n{_LEARNED}\t".encode() in capture.session.data  # `lines` would split a long record at each event


def mark_passed_over(capture: Capture, *, typed: bool) -> bool:
    """Remember the private text of an event that is not stored; if it is a typed prompt, mark its turn as private.

    Return False if either could not be written.
    """
    from mdmem.capture import remembered  # needed only for events that are not stored

    marked = not typed or marks.write(capture, marks.PRIVATE)
    learned = remembered.learn_from(capture)
    if not learned:
        withhold(capture)
    return learned and marked


# -- what no hook saw ------------------------------------------------------------------------------


def learn_queued(capture: Capture) -> None:
    """Remember what is private or secret in what no hook saw: prompts typed while the agent worked, `!` commands."""
    end = files.try_read_any(capture.event.transcript, _QUEUED_BYTES, from_end=True) if capture.live else b""
    signs = [sign for sign in (_QUEUED, *_SHELL) if sign.encode() in end]
    if not signs:
        return
    from mdmem.agents import tail

    found = list(_cleaned(tail.objects(capture.event.transcript, _QUEUED), capture)) if _QUEUED in signs else []
    for sign in signs:
        if sign in _SHELL:
            from mdmem.capture import shell_runs

            found += shell_runs.cleaned(capture, _SHELL[sign])
    spans = [span for cleaned in found for span in cleaned.spans]
    learn(capture, tuple(spans), tuple([secret for cleaned in found for secret in cleaned.secrets]))


def learn_asked(capture: Capture) -> None:
    """Judge the prompt that Gemini CLI repeats with its answer, unless its own hook has."""
    asked = capture.event.extra.get("asked", "")
    if not (asked and capture.live and privacy.may_hold_private(asked, capture.rules)):
        return
    from mdmem.agents import prompts
    from mdmem.capture import remembered

    asked = privacy.as_typed(prompts.typed(asked))
    for cleaned in _cleaned([asked] if [short(asked, 10)] not in capture.session.lines(JUDGED) else (), capture):
        if not remembered.learn_cleaned(capture, cleaned):
            withhold(capture)
        elif cleaned.value == "":
            marks.write(capture, marks.PRIVATE)
        elif _may_be_private(cleaned):
            marks.write(capture, marks.UNSURE)


def _is_private_unseen(capture: Capture) -> bool:
    """Whether the transcript shows that a prompt no hook has stored is private; remember its private text.

    This happens if its hook was killed, mdmem was installed later, or nobody typed it. The transcript is read once per
    prompt.
    """
    key = marks.prompt_key(capture).decode()
    if not os.path.exists(capture.event.transcript) or [key] in capture.session.lines("unseen"):
        return False
    from mdmem.agents import tail
    from mdmem.capture import remembered

    spans: list[str] = []
    for cleaned in _cleaned(tail.objects(capture.event.transcript, capture.event.prompt_id), capture):
        spans += cleaned.spans
        if cleaned.value == "" or _may_be_private(cleaned):
            remembered.learn(capture, tuple(spans))
            marks.write(capture, marks.PRIVATE if cleaned.value == "" else marks.UNSURE)
            return True
    if learn(capture, tuple(spans)):
        capture.session.append("unseen", key)
        return False
    return True


def _may_be_private(cleaned: privacy.Cleaned) -> bool:
    """Whether a prompt may be private as a whole, because it could not be checked and has a private tag."""
    return cleaned.failure is not None and cleaned.private > 0


def _cleaned(lines: Iterable[object], capture: Capture) -> Iterable[privacy.Cleaned]:
    """Clean the texts of a transcript's lines that may hold a private tag, or name a secret."""
    from mdmem.agents import tail

    for line in lines:
        for text in tail.strings(line):
            if privacy.may_hold_private(text, capture.rules) or privacy.may_name_secret(text, capture.rules):
                yield privacy.clean(privacy.as_typed(text), rules=capture.rules)
