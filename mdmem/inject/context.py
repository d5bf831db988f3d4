"""Context: builds the injection for an event and remembers it, so that nothing is given twice."""

from __future__ import annotations

import time
from itertools import chain, islice

from mdmem import timestamps
from mdmem.agents import prompts
from mdmem.hashing import short
from mdmem.inject import candidates, follow_ups, injection_log, known_fix, open_work, recent, trigger, turns, unasked
from mdmem.inject.occasion import Occasion
from mdmem.inject.rendering import answer_item, block
from mdmem.inject.rendering.block import Section
from mdmem.inject.rendering.diffs import is_lock_file
from mdmem.inject.session_folder import SessionFolder, this_session
from mdmem.search.asking.english import LIKELY, POSSIBLE, SURE
from mdmem.search.asking.shape import Shape
from mdmem.values import Value
from mdmem.vault import exclusions, journal, layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mdmem.agents import Event
    from mdmem.config import Config
    from mdmem.project import Project

RECALLED = "Notes on what is asked"
RELATED = "Notes related to this session"

RESUMED_SECONDS = 30 * 86_400
"""A session resumed within this time counts for its last day."""


class Offer:
    """A possible injection: sections of memories and, for the log, the reasons and the length of the queries.

    claimed: whether it uses up the once-a-session search. asked: whether the prompt surely asks about the past. marks:
    what else to remember as given. chars: maximum length of the block, if not the default.
    """

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.why: list[str] = []
        self.marks: list[str] = []
        self.chars = self.query_chars = 0
        self.asked = self.claimed = False

    def add(self, why: str, section: Section, query_chars: int = 0) -> None:
        """Add a section without memories that are in another one."""
        known = {item.id for other in self.sections for item in other.items}
        items = [item for item in section.items if item.id not in known]
        if items or (section.remark and not section.items):
            self.sections.append(Section(section.heading, items, section.remark))
            self.why.append(why)
        self.query_chars += query_chars


def build(
    config: Config, event: Event, now: float, deadline: float, is_late: Callable[[], bool] = lambda: False
) -> str | None:
    """Build the injection for an event and remember it; None if there is nothing to give.

    is_late: whether the caller has stopped waiting; then the result is dropped and not remembered.
    """
    rule = RULES.get(event.name)
    occasion = Occasion(config, event, now, deadline)
    if rule is None or event.subagent or not exclusions.takes_project(config, occasion.place, event.cwd):
        return None
    offer = rule(occasion)
    rendered = render_offer(config, offer)
    if is_late():
        if offer.claimed:
            injection_log.release(occasion.record)
        return None
    if rendered is None:
        if offer.asked:
            injection_log.log(config, _log_row(occasion, offer, block.Block("", ())))
        return None
    marks = (injection_log.listed(name) if name in rendered.listed else name for name in rendered.ids)
    injection_log.remember(occasion.record, [*marks, *offer.marks])
    injection_log.log(config, _log_row(occasion, offer, rendered))
    return rendered.text


class Explanation(Value):
    """What a prompt would be given, and why.

    private, excluded: nothing is given, because the whole prompt is private or the project is excluded.
    asked: how the prompt asks about the past, or None. trigger: what would start the once-a-session search, or "".
    query: the search query; "" if the prompt only asks what was done last, or on some days (by_days). results:
    best first. block: what would be given, or None.
    """

    private: bool = False
    excluded: bool = False
    asked: Shape | None = None
    trigger: str = ""
    query: str = ""
    by_days: bool = False
    results: Sequence[candidates.Candidate] = ()
    block: block.Block | None = None


def explain(config: Config, event: Event, now: float, deadline: float, place: Project | None = None) -> Explanation:
    """Return what a prompt would be given; always searches, even if the prompt does not ask. Nothing is remembered.

    place: the project to assume; by default that of the event's folder.
    """
    occasion = Occasion(config, event, now, deadline, place)
    explanation = Explanation()
    text = occasion.gate.prompt(prompts.typed(event.prompt))
    explanation.private = not text
    explanation.excluded = not exclusions.takes_project(config, occasion.place, event.cwd)
    if explanation.private or explanation.excluded:
        return explanation
    triggered = trigger.of_prompt(occasion.turns, text)
    explanation.trigger, explanation.asked = triggered.once, triggered.asked
    offer = Offer()
    if triggered.asked:
        query, explanation.results = _recall(occasion, offer, text, triggered.asked)
        explanation.by_days = query is None
    else:
        query = _of_last_turns(occasion, text) if triggered.once else text
        explanation.results = candidates.looked_up(occasion, query)
    explanation.query = query if query and candidates.has_topic(query) else ""
    if triggered.once:
        query = _of_last_turns(occasion, text)
        offer.add(triggered.once, candidates.section(candidates.looked_up(occasion, query), RELATED))
    explanation.block = render_offer(config, offer)
    return explanation


def at_start(
    config: Config, event: Event, now: float, deadline: float, place: Project | None = None
) -> block.Block | None:
    """Return what a session that begins with `event` would be given. Nothing is remembered."""
    occasion = Occasion(config, event, now, deadline, place)
    if not exclusions.takes_project(config, occasion.place, event.cwd):
        return None
    return render_offer(config, _session_start(occasion))


def render_offer(config: Config, offer: Offer) -> block.Block | None:
    """Render an offer as a block of the size that the settings allow."""
    settings = config.settings.inject
    return block.render(offer.sections, chars=offer.chars or settings.chars, bullet_chars=settings.bullet_chars)


def _log_row(occasion: Occasion, offer: Offer, rendered: block.Block) -> dict[str, object]:
    return {
        "time": timestamps.iso_time(occasion.now),
        "session": occasion.record.id,
        "agent": occasion.event.agent,
        "event": occasion.event.name,
        "why": offer.why or ["recall"],
        "project": occasion.project,
        "query_chars": offer.query_chars,
        "chars": block.width(rendered.text),
        "tokens": block.tokens(rendered.text),
        "ids": list(dict.fromkeys(rendered.ids)),
        "seconds": round(time.monotonic() - occasion.started, 3),
    }


# -- the rules -------------------------------------------------------------------------------------


def _session_start(occasion: Occasion) -> Offer:
    """Offer durable notes and recent work; after a compaction, first what this session was about."""
    offer = Offer()
    if "start" not in occasion.config.settings.inject.on:
        return offer
    if occasion.event.source in ("fork", "resume") and not occasion.given:
        _inherit(occasion)
    compacted = occasion.event.source == "compact"
    current = this_session(occasion) if occasion.event.source in _CONTINUES else None
    if compacted:
        injection_log.forget(occasion.record)
        occasion.given = frozenset()
        if current:
            offer.add("compacted", recent.before_compaction(current))
    sessions = _last_sessions(occasion, 2 if compacted else recent.MAX_SESSIONS)
    newest = not compacted and not (current and sessions and current.is_after(sessions[0]))
    shown = [session.folder for session in recent.with_what_is_left(sessions, newest=newest)]
    in_view = current.folder if current and compacted else ""
    last_done = recent.last_done(sessions, newest=newest)
    told = "\n".join(item.text for section in (*offer.sections, last_done) for item in section.items)
    later_sections = [
        ("open", _new(occasion, open_work.of_project(occasion, [*shown, in_view], in_view, told))),
        ("recent", _new(occasion, last_done)),
        ("open", _new(occasion, recent.left_open(sessions[:2], current))),
    ]
    taken = sum(map(block.least_width, [*offer.sections, *(section for _, section in later_sections)]))
    room = occasion.config.settings.inject.chars - block.FRAME_CHARS - taken
    offer.add("durable", unasked.durable(occasion, injection_log.uses(occasion.config), room))
    for why, section in later_sections:
        offer.add(why, section)
    return offer


def _inherit(occasion: Occasion) -> None:
    """Remember that a fork's conversation has what its parent was given and did, as far as its transcript names it."""
    transcript = occasion.event.transcript
    for parent in journal.parents(transcript) - {occasion.record.id} if transcript else ():
        given = journal.Record(occasion.config, parent).given() | {injection_log.seen(journal.session_tag(parent))}
        injection_log.remember(occasion.record, given)
        occasion.given |= given


_CONTINUES = ("compact", "resume")
"""Sources of a session start that continues a session, whose earlier turns are stored."""


def _prompt(occasion: Occasion) -> Offer:
    """Offer answers to a prompt that asks about the past; once a session, notes related to its last turns."""
    offer = Offer()
    text = occasion.gate.prompt(prompts.typed(occasion.event.prompt))
    triggered = trigger.of_prompt(occasion.turns, text)
    offer.asked = triggered.asked is not None and triggered.asked.grade == SURE
    if triggered.asked:
        _recall(occasion, offer, text, triggered.asked)
    if triggered.once:
        _once(occasion, offer, text, triggered.once)
    return offer


def _recall(
    occasion: Occasion, offer: Offer, text: str, asked: Shape
) -> tuple[str | None, Sequence[candidates.Candidate]]:
    """Add what answers a prompt; return what it asks about, None if only for days, and all that was found."""
    elsewhere = _add_elsewhere(occasion, offer, text, asked)
    if _add_dated(occasion, offer, text, asked):
        return None, elsewhere
    asked, answers = _answers(occasion, text, asked)
    _add_recall(occasion, offer, text, asked, answers)
    return asked.topic, [*elsewhere, *answers]


def _answers(occasion: Occasion, text: str, asked: Shape) -> tuple[Shape, Sequence[candidates.Candidate]]:
    """Return what a prompt asks, in view of the turn before, and what answers that."""
    without = not occasion.was_compacted

    def look(shape: Shape) -> tuple[Shape, Sequence[candidates.Candidate]]:
        shape, days = _without_days(occasion, text, shape)
        then = candidates.of_event(occasion, text, shape, without_session=without) if days is None else None
        return then or (shape, candidates.answers(occasion, text, shape, days=days, without_session=without))

    going_on = follow_ups.going_on(occasion, asked, text)
    if going_on is not None and follow_ups.points(asked):
        return look(going_on)
    shape, answers = look(follow_ups.only_pointed_at(occasion, asked, text) or asked)
    is_told = any(one.item for one in answers) and not follow_ups.names_number(asked)
    if not is_told and (around := follow_ups.around(occasion, asked, text)):
        of_word = candidates.of_one_word(occasion, asked, answers, around)
        answers = of_word or [one for one in answers if one.item is None]
    return (shape, answers) if going_on is None or candidates.any_answers(answers) else look(going_on)


def _may_be_named(lowered: str, name: str) -> bool:
    """Whether a text has a part of a project's name, or may have it in another spelling."""
    return not name.isascii() or any(part in lowered for part in name.lower().replace("_", "-").split("-"))


def _add_elsewhere(occasion: Occasion, offer: Offer, text: str, asked: Shape) -> list[candidates.Candidate]:
    """Add what other projects that a prompt names know of what it asks; return all that was found there."""
    found: list[candidates.Candidate] = []
    lowered, known = text.lower(), layout.projects(occasion.config.vault)
    if not any(_may_be_named(lowered, name) for name in known if name != occasion.project):
        return found
    from mdmem.inject import elsewhere  # few prompts name another project

    for there, text_there, asked_there in elsewhere.occasions(occasion, text, asked):
        told = Offer()
        if not _add_dated(there, told, text_there, asked_there):
            shape, days = _without_days(there, text_there, asked_there)
            answers = candidates.answers(there, text_there, shape, days=days)
            _add_recall(there, told, text_there, shape, answers)
            found += answers
        for why, section in zip(told.why, told.sections, strict=True):
            offer.add(why, elsewhere.titled(section, there.project), told.query_chars)
        offer.marks += [journal.recalled_mark(text)] if told.marks else []
    return found


def _add_dated(occasion: Occasion, offer: Offer, text: str, asked: Shape) -> bool:
    """Add the sessions of the days that a prompt asks about, or else the last ones; return whether it asks for days."""
    if asked.grade < LIKELY:
        return False
    from mdmem.inject import dated  # its words and expressions are needed by few prompts

    section = dated.section(occasion, text, asked)
    if section:
        offer.add("recall", section, len(text))
        if section.remark == dated.NONE:
            offer.add("recall", _last_done(occasion))
        offer.marks.append(journal.recalled_mark(text))
    return section is not None


def _without_days(occasion: Occasion, text: str, asked: Shape) -> tuple[Shape, tuple[float, float] | None]:
    """Return what a prompt asks about besides the days that it names, and when these begin and end; None for none."""
    if asked.grade < (POSSIBLE if any(map(str.isdigit, text)) else LIKELY):
        return asked, None
    from mdmem.inject import dated

    return dated.without_days(occasion, text, asked)


def _add_recall(
    occasion: Occasion, offer: Offer, text: str, asked: Shape, answers: Sequence[candidates.Candidate]
) -> None:
    """Add the answers to a prompt; if it only continues work and has none, add what was done last."""
    section = candidates.section(answers, RECALLED)
    if asked.resumes and section.items:
        section = _led_by_end(occasion, section, answers)
    if section.items or section.remark:
        offer.add("recall", section, len(asked.topic))
        offer.marks.append(journal.recalled_mark(text))
    elif asked.grade == SURE and not offer.sections and candidates.is_for_last_sessions(occasion, asked, answers):
        offer.add("recall", _last_done(occasion), len(text))


def _led_by_end(occasion: Occasion, section: Section, answers: Sequence[candidates.Candidate]) -> Section:
    """Return the section, beginning with how the session of the best answer ended, unless that was given before."""
    best = next(one.answer for one in answers if one.item is not None)
    end = answer_item.end_of_session(occasion, best)
    if end is None or occasion.has_seen(end.id):
        return section
    return Section(section.heading, [end, *(item for item in section.items if item.id != end.id)], section.remark)


def _once(occasion: Occasion, offer: Offer, text: str, trigger: str) -> None:
    """Add notes related to the session's last turns, unless this once-a-session search is used up."""
    query = _of_last_turns(occasion, text)
    offer.claimed = injection_log.claim(occasion.record)
    if offer.claimed and query.strip():
        section = candidates.section(candidates.looked_up(occasion, query), RELATED)
        offer.add(trigger, Section(section.heading, section.items), len(query))


def _of_last_turns(occasion: Occasion, text: str) -> str:
    """Return a query made of the session's last turns; `text` is the current one, cleaned."""
    settings = occasion.config.settings
    limit = settings.inject.query_turns
    last_turns = occasion.turns.texts(current=text, limit=turns.LOOK_BACK * limit)
    return turns.query(turns.topical(last_turns)[-limit:] if limit else [], settings.inject.query_turn_chars)


def _last_done(occasion: Occasion) -> Section:
    """Return what was done last in the project, without what this session was given."""
    return _new(occasion, recent.last_done(_last_sessions(occasion, recent.MAX_SESSIONS)))


def _last_sessions(occasion: Occasion, most: int) -> list[SessionFolder]:
    """Return the last sessions of the project, without this one.

    Sessions dated after tomorrow come last: they were stored with a wrong clock, and would stay the newest for years.
    """
    worked = recent.worked_on(occasion, occasion.now - RESUMED_SECONDS, occasion.now)
    limit = occasion.now + 2 * 86_400
    spans = ((0.0, limit), (limit, float("inf")))
    sessions = chain.from_iterable(recent.sessions(occasion, span, worked) for span in spans)
    latest = islice(sessions, recent.MOST_LOOKED_AT)  # scripts may have asked hundreds of questions
    branch = occasion.here.branch
    shown = (one for one in latest if one.is_worth_showing() and not one.waits_elsewhere(branch))
    return list(islice(shown, most))


def _file(occasion: Occasion) -> Offer:
    """Offer what is known about a file that is about to be read or changed, once a session."""
    offer = Offer()
    tool_input = occasion.event.tool_input
    named = [tool_input.get(key) for key in ("file_path", "notebook_path")] if isinstance(tool_input, dict) else []
    path = next((path for path in named if isinstance(path, str) and path), "")
    mark = f"file:{short(path, 10)}"
    if path and mark not in occasion.given and not is_lock_file(path):
        offer.chars = min(unasked.FILE_CHARS + block.FRAME_CHARS, occasion.config.settings.inject.chars)
        offer.marks.append(mark)
        offer.add("read" if occasion.event.tool == "Read" else "edit", unasked.about_file(occasion, path))
    return offer


def _failure(occasion: Occasion) -> Offer:
    """Offer what solved an error before, once per session and error."""
    from mdmem.search.text import errors  # its patterns are slow to compile

    offer = Offer()
    error = occasion.gate.prompt(occasion.event.error or "")
    signature = next(iter(errors.signatures(error)), "")
    mark = f"error:{short(signature, 10)}"
    if signature and mark not in occasion.given:
        offer.marks.append(mark)
        offer.chars = min(known_fix.CHARS, occasion.config.settings.inject.chars)
        offer.add("failure", known_fix.of_error(occasion, error), len(error))
    return offer


RULES: dict[str, Callable[[Occasion], Offer]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _file,
    "PostToolUseFailure": _failure,
}
"""Event -> the function that returns its offer."""


def _new(occasion: Occasion, section: Section) -> Section:
    """Remove what this session was given already."""
    return Section(section.heading, [item for item in section.items if not occasion.has_seen(item.id)])
