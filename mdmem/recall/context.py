"""Context: what an event is given, from which memories and why; remembered, so that nothing is given twice."""

from __future__ import annotations

import os
import time
from itertools import islice

from mdmem import choice, journal, project, vault
from mdmem.agents import prompts
from mdmem.recall import block, given, occasion, recent, related, staged, triggers, turns
from mdmem.recall.block import Section
from mdmem.recall.gate import Gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mdmem.agents import Event
    from mdmem.config import Config

RECALLED = "Notes on what is asked"
RELATED = "Notes related to this session"

DISTRUST_SECONDS = 0.25
"""Of the deadline, this much is kept back for rendering and printing when the index is brought up to date."""


class At:
    """One event being answered: what every rule may ask for.

    project: the name of its folder in the journal, or what that would be. names: all that the project is called
    in notes. here: the same, and the code's branch. deadline: on the monotonic clock.
    """

    __slots__ = (
        "config",
        "deadline",
        "event",
        "gate",
        "given",
        "here",
        "names",
        "now",
        "place",
        "project",
        "record",
        "started",
    )

    def __init__(self, config: Config, event: Event, now: float, deadline: float) -> None:
        # No file system takes half a character or a NUL.
        event.cwd = event.cwd.encode("utf-8", "replace").decode().replace("\0", "")
        self.config = config
        self.event = event
        self.now = now
        self.deadline = deadline
        self.started = time.monotonic()
        self.record = journal.Record(config, journal.session_id(event))
        self.gate = Gate(config, self.record.key)
        self.place = project.identify(event.cwd)
        name = self.gate.name(self.place.name)
        self.project = journal.find_project(config, self.gate.name(journal.identity(self.place))) or name
        self.names = frozenset([self.project, name])
        self.here = staged.Place(self.names, self.gate.name(self.place.branch) if self.place.branch else "")
        self.given = given.ids(self.record)

    @property
    def seconds_left(self) -> float:
        """How long a search may still take."""
        return max(self.deadline - time.monotonic() - DISTRUST_SECONDS, 0.0)


class Offer:
    """What could be given: sections of memories, and for the log why, and how long the queries were.

    claimed: whether the once-a-session search was taken for it.
    """

    __slots__ = ("claimed", "query_chars", "sections", "why")

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.why: list[str] = []
        self.query_chars = 0
        self.claimed = False

    def add(self, why: str, section: Section, query_chars: int = 0) -> int:
        """Add a section without what is in another already; give how many memories that leaves."""
        known = {item.id for other in self.sections for item in other.items}
        items = [item for item in section.items if item.id not in known]
        if items:
            self.sections.append(Section(section.heading, items))
            self.why.append(why)
        self.query_chars += query_chars
        return len(items)


def build(config: Config, event: Event, now: float, deadline: float, until: float | None = None) -> str | None:
    """Put together what an event is given, and remember it; None when there is nothing to give.

    until: on the monotonic clock; whoever asked waits no longer, so that what is put together later is dropped.
    """
    rule = RULES.get(event.name)
    at = At(config, event, now, deadline)
    if rule is None or event.subagent or not choice.takes_project(config, at.place, event.cwd):
        return None
    offer = rule(at)
    made = rendered(config, offer)
    if until is not None and time.monotonic() >= until:
        if offer.claimed:
            given.release(at.record)
        return None
    if made is None:
        return None
    given.remember(at.record, made.ids)
    given.log(config, _log_row(at, offer, made))
    return made.text


class Explanation:
    """What a prompt would be given, and why.

    private, excluded: nothing, since all of it is private, or the project is excluded. language, phrase: how it asks
    to recall, or "". trigger: what would set off the search that comes once a session, or "". query: what is searched
    by; "" when it asks for no more than what was done last. found: what that finds, best first. block: what would be
    given, or None.
    """

    __slots__ = ("block", "excluded", "found", "language", "phrase", "private", "query", "trigger")

    def __init__(self) -> None:
        self.private = self.excluded = False
        self.language = self.phrase = self.trigger = self.query = ""
        self.found: list[related.Found] = []
        self.block: block.Block | None = None


def explain(config: Config, event: Event, now: float, deadline: float) -> Explanation:
    """Say what a prompt would be given, and look it up whether or not it asks; nothing is remembered of it."""
    at = At(config, event, now, deadline)
    explanation = Explanation()
    text = at.gate.prompt(prompts.typed(event.prompt))
    explanation.private = not text
    explanation.excluded = not choice.takes_project(config, at.place, event.cwd)
    if explanation.private or explanation.excluded:
        return explanation
    found = occasion.of_prompt(config, at.record, event, text, at.gate.prompt, now)
    explanation.trigger = found.trigger
    explanation.query = _of_last_turns(at, text) if found.trigger else text
    if found.asked:
        explanation.language, explanation.phrase = found.asked.language, found.asked.words
        topic = triggers.topic(found.asked)
        explanation.query = topic if related.has_topic(topic) else ""
    offer = Offer()
    if explanation.query:
        explanation.found = related.looked_up(at, explanation.query, without_session=bool(event.session))
        offer.add("recall", related.shown(explanation.found, RECALLED if found.asked or not found.trigger else RELATED))
    else:
        offer.add("recall", recent.last_done(_visits(at, recent.MAX_SESSIONS)))
    if found.asked and found.trigger:
        offer.add(found.trigger, related.to(at, _of_last_turns(at, text), RELATED, without_session=True))
    explanation.block = rendered(config, offer)
    return explanation


def rendered(config: Config, offer: Offer) -> block.Block | None:
    """Write an offer as a block of the size that the settings allow."""
    settings = config.settings
    chars, bullet = settings["inject.chars"], settings["inject.bullet_chars"]
    return block.render(offer.sections, vault=config.vault, chars=chars, bullet_chars=bullet)


def _log_row(at: At, offer: Offer, made: block.Block) -> dict[str, object]:
    return {
        "time": vault.iso_time(at.now),
        "session": at.record.id,
        "agent": at.event.agent,
        "event": at.event.name,
        "why": offer.why,
        "project": at.project,
        "query_chars": offer.query_chars,
        "chars": block.width(made.text),
        "ids": list(made.ids),
        "seconds": round(time.monotonic() - at.started, 3),
    }


# -- the rules -------------------------------------------------------------------------------------


def _session_start(at: At) -> Offer:
    """Give what was last done here; after a compaction first what this session was about."""
    offer = Offer()
    compacted = at.event.source == "compact"
    if compacted:
        given.forget(at.record)
        at.given = frozenset()
        folder = at.record.folder or journal.find_session(at.config, at.record.id)
        if folder:
            offer.add("compacted", recent.before_compaction(recent.Visit(at.config, at.gate, folder)))
    offer.add("pinned", related.pinned(at))
    visits = _visits(at, 2 if compacted else recent.MAX_SESSIONS)
    offer.add("recent", _new(at, recent.last_done(visits)))
    offer.add("open", _new(at, recent.left_open(visits[:2])))
    return offer


def _prompt(at: At) -> Offer:
    """Answer a prompt that asks to recall; once a session, look up what its last turns are about."""
    offer = Offer()
    text = at.gate.prompt(prompts.typed(at.event.prompt))
    found = occasion.of_prompt(at.config, at.record, at.event, text, at.gate.prompt, at.now)
    if found.asked:
        _recall(at, offer, text, triggers.topic(found.asked))
    if found.trigger:
        _once(at, offer, text, found.trigger)
    return offer


def _recall(at: At, offer: Offer, text: str, topic: str) -> None:
    """Search for what a prompt asks about; one that names nothing asks for what was done last."""
    if not related.has_topic(topic):
        offer.add("recall", _new(at, recent.last_done(_visits(at, recent.MAX_SESSIONS))), len(text))
        return
    section = related.to(at, topic, RECALLED, without_session=not _was_compacted(at))
    offer.add("recall", section, len(topic))


def _once(at: At, offer: Offer, text: str, trigger: str) -> None:
    query = _of_last_turns(at, text)
    when = vault.iso_time(at.now)
    offer.claimed = given.claim(at.record, trigger, len(query), when)
    if not offer.claimed:
        return
    count = 0
    if query.strip():
        section = related.to(at, query, RELATED, without_session=True)
        count = offer.add(trigger, section, len(query))
    given.settle(at.record, trigger, len(query), count, when)


def _of_last_turns(at: At, text: str) -> str:
    """Make a query of the session's last turns; `text` is the current one, cleaned."""
    settings = at.config.settings
    limit = settings["inject.query_turns"]
    said = turns.texts(at.config, at.record, at.event, at.gate.prompt, at.now, current=text, limit=limit)
    return turns.query(said, settings["inject.query_turn_chars"])


def _visits(at: At, most: int) -> list[recent.Visit]:
    """Visit the last sessions of the project, this one left out."""
    visits = recent.sessions(at.config, at.gate, at.project, without=at.record)
    return list(islice((visit for visit in visits if not visit.waits_elsewhere(at.here.branch)), most))


def _was_compacted(at: At) -> bool:
    return any(found[1:2] == ["compact"] for found in at.record.lines("start"))


def _read(at: At) -> Offer:
    """Say what is known of a file that is about to be read and has not changed since."""
    offer = Offer()
    tool_input = at.event.tool_input
    path = tool_input.get("file_path") if isinstance(tool_input, dict) else None
    if isinstance(path, str) and path and not os.path.exists(at.record.flag("private")):
        offer.add("read", related.about_file(at, path))
    return offer


RULES: dict[str, Callable[[At], Offer]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _read,
}
"""An event -> which memories it is given."""


def _new(at: At, section: Section) -> Section:
    """Leave out what this session was given already."""
    return Section(section.heading, [item for item in section.items if item.id not in at.given])
