"""Notices: messages about private text that was kept out of memory, and the state they need.

The user hears of a prompt at once, and of tool output and answers once, at the end of the turn. Until then the
session's record keeps the figures, never text.
"""

from __future__ import annotations

import os

from mdmem import files, plural, privacy
from mdmem.capture.pending import PRIVATE
from mdmem.privacy import text as texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.capture.pending import Capture, Outcome
    from mdmem.config import Config

LAST_FILE = "last-hidden"
"""The file in the state folder that identifies the last prompt with a hidden section."""

_KEEP = "`mdmem privacy keep-last` stores it."


def of_prompt(capture: Capture, outcome: Outcome, text: str) -> None:
    """Record the last prompt with a hidden section, for `mdmem privacy keep-last`, and find unknown tags in it."""
    if outcome.hidden.sections:
        _remember_last(capture, outcome)
    outcome.unknown = texts.unknown_tags(text, capture.rules)


def _remember_last(capture: Capture, outcome: Outcome) -> None:
    event = capture.event
    ids = [event.agent, event.session, event.prompt_id, outcome.id]
    fields = [*ids, event.transcript, event.cwd, f"{capture.now:.0f}"]
    transcript = event.transcript.replace(event.session, "") if event.session else event.transcript
    shown = [*ids, transcript, event.cwd]
    if privacy.clean(shown, rules=capture.rules, origin="tool", echo=capture.load_echo()).value != shown:
        return  # a path may contain private text, and this file must not
    # If that fails, `keep-last` finds an earlier prompt, or none.
    files.try_replace(os.path.join(capture.config.state_dir, LAST_FILE), "\0".join(fields).encode("utf-8", "replace"))


class LastHidden:
    """The last prompt with a hidden section. note: its note's id, or "". at: when it was sent."""

    __slots__ = ("agent", "at", "cwd", "note", "prompt_id", "session", "transcript")

    def __init__(self, fields: list[str]) -> None:
        self.agent, self.session, self.prompt_id, self.note, self.transcript, self.cwd = fields[:6]
        self.at = float(fields[6])


def last(config: Config) -> LastHidden | None:
    """Return the last prompt with a hidden section, or None if none is known."""
    try:
        return LastHidden(files.read_own(os.path.join(config.state_dir, LAST_FILE), 64 * 1024).decode().split("\0"))
    except (OSError, ValueError):
        return None


def forget_last(config: Config) -> None:
    """Forget the last prompt, once it is stored."""
    files.remove(os.path.join(config.state_dir, LAST_FILE))


def end_turn(capture: Capture, outcome: Outcome) -> None:
    """Add up what was hidden in this turn's tool runs and answer, except what the user was already told."""
    lines = capture.session.lines("hidden")
    told = max((_number(line, 0) for line in capture.session.lines("told")), default=0)
    outcome.of_turn = privacy.Hidden(*[sum([_number(line, place) for line in lines[told:]]) for place in range(3)])
    if len(lines) > told:
        capture.session.append("told", str(len(lines)))


def messages(config: Config, name: str, outcome: Outcome) -> list[str]:
    """Return the messages about private sections to show after event `name`."""
    if not config.settings.privacy.feedback:
        return []
    if name == "Stop" and outcome.of_turn.sections:
        where = "of tool output and answers "
        return [f"mdmem: {_sections(outcome.of_turn, where)} kept out of memory in this turn."]
    return _of_prompt(config, outcome) if name in ("UserPromptSubmit", "UserPromptExpansion") else []


def unknown_message(outcome: Outcome) -> str:
    """Return the message about elements that look like private tags."""
    names = ", ".join(f"<{name}>" for name in outcome.unknown[:3])
    verb = "are not private tags" if len(outcome.unknown) > 1 else "is not a private tag"
    return f"mdmem: {names} {verb}: the text was stored. Write <private>, or add a word to privacy.tags."


def _of_prompt(config: Config, outcome: Outcome) -> list[str]:
    size = _size(outcome.hidden)
    if outcome.unclosed and config.settings.privacy.unclosed == "keep":
        return ["mdmem: a private tag has no partner; its text was stored, as privacy.unclosed says."]
    sentences = []
    if outcome.stray:
        sentences.append(f"mdmem: a closing private tag was never opened; everything before it was kept out ({size}).")
    elif outcome.unclosed and outcome.ignored != PRIVATE:
        sentences.append(f"mdmem: a private tag was not closed; everything after it was kept out of memory ({size}).")
    if outcome.ignored == PRIVATE:
        sentences.append(f"mdmem: this prompt is private ({size}); nothing of this turn is remembered.")
    elif outcome.hidden.sections and not sentences:
        sentences.append(f"mdmem: {_sections(outcome.hidden)} kept out of memory.")
    elif outcome.private and not sentences and not outcome.withheld:
        sentences.append("mdmem: what this prompt repeats of earlier private text was kept out of memory.")
    return [*sentences, f"Not meant? {_KEEP}"] if outcome.hidden.sections else sentences


def _sections(hidden: privacy.Hidden, where: str = "") -> str:
    count = plural.number(hidden.sections, "private section")
    return f"{count} ({_size(hidden)}) {where}{'was' if hidden.sections == 1 else 'were'}"


def _size(hidden: privacy.Hidden) -> str:
    chars = plural.number(hidden.chars, "character")
    return f"{chars}, {plural.number(hidden.lines, 'line')}" if hidden.lines > 1 else chars


def _number(line: list[str], place: int) -> int:
    return int(line[place]) if len(line) > place and line[place].isdecimal() and len(line[place]) < 16 else 0
