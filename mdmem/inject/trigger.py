"""Trigger: decides whether memories are looked up for a prompt, and why.

Every prompt is judged and most trigger nothing, so this imports nothing that only a look-up needs.
"""

from __future__ import annotations

from mdmem.agents import prompts
from mdmem.hashing import short
from mdmem.inject import injection_log, turns
from mdmem.search.asking import prose, references, shape
from mdmem.search.asking.english import LIKELY
from mdmem.search.asking.shape import Shape
from mdmem.values import Value
from mdmem.vault import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.inject.turns import UserTurns


class Trigger(Value):
    """Why memories are looked up for a prompt.

    asked: how the prompt asks about the past or looks something up, or None. once: what starts the once-a-session
    search: "turns" or "chars", or "" if nothing does now.
    """

    asked: Shape | None
    once: str

    def __bool__(self) -> bool:
        return self.asked is not None or self.once != ""


NONE = Trigger(None, "")


def of_prompt(user_turns: UserTurns, text: str) -> Trigger:
    """Return what a prompt triggers.

    text: the prompt: unchanged for a first look, else without its private parts. user_turns: up to it.
    """
    config, record = user_turns.config, user_turns.record
    text = prompts.typed(text)
    if not text or f"\ncron\t{short(text.strip(), 16)}\n" in record.text:  # the session's own loop or cron job
        return NONE
    on = config.settings.inject.on
    asked = shape.of(text) or shape.look_up(text) if "ask" in on else None
    if "ask" in on and (asked is None or asked.grade < LIKELY):
        asked = _follow_up(user_turns, text) or asked
    once = "turns" in on and not injection_log.is_claimed(record)
    return Trigger(asked, _trigger(user_turns, text) if once else "")


def _follow_up(user_turns: UserTurns, text: str) -> Shape | None:
    """Return what a prompt asks that only goes on with one that got what it asked for; else None."""
    words = prose.folds(prose.words(text[:MAX_FOLLOWING_CHARS])) if len(text) <= MAX_FOLLOWING_CHARS else []
    if not words or not references.follows_up(words):
        return None
    given = user_turns.record.given()
    if not any(mark.startswith(journal.RECALLED) for mark in given):
        return None
    from mdmem.search.asking import topics

    before = user_turns.texts(current=text, limit=2)[:-1]
    topic = topics.topic(text)
    if not before or journal.recalled_mark(before[-1]) not in given or turns.only_points(topic):
        return None
    return Shape(LIKELY, "en", " ".join(text.split()), topic)


MAX_FOLLOWING_CHARS = 60


def _trigger(user_turns: UserTurns, text: str) -> str:
    settings = user_turns.config.settings
    if len(text) > settings.inject.after_chars:
        return "chars"
    enough = settings.inject.after_turns
    return "turns" if user_turns.count(enough=enough) >= enough else ""
