"""Feedback: messages to the user: private text was kept out, a note is queued, an event is lost."""

from __future__ import annotations

import os

from mdmem import files
from mdmem.capture.pending import LOST_PRIVATE, UNREAD_EXCLUSIONS, UNSEEN
from mdmem.hashing import short
from mdmem.vault import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.agents import Event
    from mdmem.capture.pending import Outcome
    from mdmem.config import Config

WAITS = "mdmem cannot write to its vault; what you do is queued and will be retried. Run `mdmem doctor` to see why."
LOST = "mdmem could not store this, neither in its vault nor in its retry queue: it is lost. {why}"
UNSEEN_PROMPT = (
    "mdmem: tool runs and answers of this turn were left out, since they may be private: mdmem did not see the prompt,"
    " or could not record what it hides. If they are not, `mdmem import` stores them from the agent's transcript."
)
UNMARKED = (
    "mdmem: nothing of this session is stored for now. The state folder {folder} cannot be written, so what is private"
    " could not be recognized later. Run `mdmem doctor` to see why."
)
FORGOTTEN = (
    "mdmem: nothing more of this session is stored, because what is private in it can no longer be recognized: in"
    " {folder}, it was deleted, damaged or kept by version 0.1, or it was too much to remember. A new session is"
    " stored."
)
WITHHELD = "mdmem: a text of this {what} could not be checked for private text, so it is left out of memory. {why}"
UNREAD = {
    "NoPayloadError": "what the agent sent is cut off, damaged or in an unknown form",
    "PayloadTooLongError": "what the agent sent is longer than 64 MB",
}
"""`Outcome.error` of an event that cannot be read -> the cause."""
UNREADABLE = "mdmem could not read this event, and it is lost: {why}. `mdmem import` may find it in the transcript."
DOCTOR = "Run `mdmem doctor` to see why."


def message(config: Config, event: Event, outcome: Outcome) -> str | None:
    """Return the message to the user about an event; None if there is nothing to say."""
    sentences = _trouble(config, event, outcome)
    if outcome.failing and _is_first(config, event, "failing"):
        sentences += [f"mdmem: {sentence}" for sentence in outcome.failing]
    if outcome.withheld:
        what = "prompt" if outcome.kind == "prompt" else "turn"
        is_told = what == "prompt" or _is_first(config, event, "withheld")
        sentences += [WITHHELD.format(what=what, why=outcome.why or DOCTOR)] if is_told else []
    if outcome.unmarked:
        is_uncounted = outcome.is_lost and not outcome.counted
        is_told = event.name in ("UserPromptSubmit", "Stop") or is_uncounted
        is_told = is_told or _is_first(config, event, "unmarked", if_unknown=True)  # nothing counts the events left out
        text = FORGOTTEN if os.path.exists(_flag(config, event, LOST_PRIVATE)) else UNMARKED
        sentences += [text.format(folder=config.state_dir)] if is_told else []
    elif outcome.private or outcome.unclosed or outcome.of_turn.sections or outcome.unknown:
        from mdmem.capture import notices

        sentences += notices.messages(config, event.name, outcome)
        if outcome.unknown and config.settings.privacy.feedback and _is_first(config, event, "unknown-tag"):
            sentences.append(notices.unknown_message(outcome))
    return " ".join(sentences) or None


def _trouble(config: Config, event: Event, outcome: Outcome) -> list[str]:
    """Return the message that an event is queued or lost, once per session; always if the loss is not counted."""
    if outcome.too_long and outcome.stored:
        return [f"mdmem: {outcome.too_long:,} characters of this text were left out (see capture.prompt_chars)."]
    if outcome.error == UNREAD_EXCLUSIONS:
        return [f"mdmem: {outcome.why}"] if _is_first(config, event, "unread-exclusions") else []
    if not outcome.error or outcome.ignored:
        return []
    if outcome.waits:
        return [WAITS] if _is_first(config, event, "waits") else []
    if outcome.error == UNSEEN and outcome.unmarked:
        return []  # the message about `unmarked` covers it
    if outcome.error == UNSEEN:
        is_told = event.name == "Stop" or not outcome.counted or _is_first(config, event, "unseen")
        return [UNSEEN_PROMPT] if is_told else []
    if outcome.counted and event.session and not _is_first(config, event, "lost"):
        return []
    if outcome.error in UNREAD:
        return [UNREADABLE.format(why=UNREAD[outcome.error])]
    return [LOST.format(why=DOCTOR)]


def forget(config: Config, session_key: str) -> None:
    """Forget that a session was told about queued and lost notes: they are written, and a later failure is new."""
    for place in _places(config):
        for what in ("waits", "lost"):
            files.remove(os.path.join(place, f"{session_key}.{what}"))


def _places(config: Config) -> tuple[str, str]:
    """Return the folders that record what a session was told; the second is used if the first cannot be written."""
    return os.path.join(config.state_dir, "sessions"), config.runtime_dir


def _flag(config: Config, event: Event, what: str) -> str:
    return os.path.join(config.state_dir, "sessions", _name(event, what))


def _name(event: Event, what: str) -> str:
    """Return the name of the file that records what a session was told; its record has the same beginning."""
    return f"{short(journal.session_id(event), 16)}.{what}"


def _is_first(config: Config, event: Event, what: str, *, if_unknown: bool = False) -> bool:
    """Whether this message is new to the session. if_unknown: the answer if that cannot be recorded (prompts: True)."""
    for place in _places(config):
        try:
            return files.claim(os.path.join(place, _name(event, what)))
        except OSError:
            continue
    return if_unknown or event.name == "UserPromptSubmit"
