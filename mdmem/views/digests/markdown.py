"""A digest as Markdown: by project and session, by day or week, or one session in limited space for an agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import accumulate, groupby

from mdmem import plural, timestamps, when
from mdmem.config import Config
from mdmem.history.session_log import LoggedSession
from mdmem.inject.rendering.block import inert, whole_sentences
from mdmem.learn import decisions
from mdmem.learn.decisions import Decision
from mdmem.search.asking import small_talk
from mdmem.vault import note, people
from mdmem.views import wording
from mdmem.views.conversation import Conversation, ConversationStep
from mdmem.views.digests.collected import DigestNotes, first_day
from mdmem.views.vault_pages.open_work import LABELS

MAX_ASKS = 12
MAX_FILES = 12


def render(digest: DigestNotes, by: str = "session") -> str:
    """Return a digest as Markdown. by: "session", "day", "week" or "month"."""
    lines = [f"# {digest.span}", "", _summary(digest)]
    if by == "session":
        lines += _by_project(digest)
        lines += _parts(digest)
    else:
        for heading, part in _periods(digest, by):
            rows = list(_one_line_each(part))
            lines += ["", f"## {heading}", "", _summary(part), *([""] if rows else []), *rows]
            lines += _parts(part, "###")
    return "\n".join(lines) + "\n"


def _by_project(digest: DigestNotes) -> Iterator[str]:
    by_project = sorted(digest.sessions, key=lambda session: session.project)
    for project, group in groupby(by_project, key=lambda session: session.project):
        yield from ("", f"## {project or 'Without a project'}")
        for session in group:
            yield from ("", *_session_section(session, digest))


def _parts(digest: DigestNotes, level: str = "##") -> Iterator[str]:
    """Yield what does not belong to one session: decisions, notes, fixes, work."""
    parts = {
        "Decisions": [f"{plain(row.title)} ({row.kind}) [mem:{row.id}]" for row in digest.decisions],
        "Notes written": [f"{plain(row.title)} [mem:{row.id}]" for row in digest.notes],
        "Fixes": [f"{plain(fix.error or fix.command)}: {_files(fix.files)} [mem:{fix.id}]" for fix in digest.fixes],
        "Done": [f"[x] {plain(item.text)} [mem:{item.id}]" for item in digest.closed_work],
        "Left open": [f"[ ] {plain(item.text)} ({item.kind}) [mem:{item.id}]" for item in digest.open_work],
    }
    for heading, rows in parts.items():
        if rows:
            yield from ("", f"{level} {heading}", "", *(f"- {row}" for row in rows))


def _periods(digest: DigestNotes, by: str) -> Iterator[tuple[str, DigestNotes]]:
    """Yield the days, weeks or months in which something happened, each with its part; times are local."""
    begin = datetime.fromtimestamp(timestamps.epoch(digest.since), when.LOCAL)
    times = [session.started for session in digest.sessions] + [
        row.created for row in (*digest.decisions, *digest.notes)
    ]
    if times:
        begin = max(begin, datetime.fromtimestamp(timestamps.epoch(min(times)), when.LOCAL))
    start = first_day(begin.replace(hour=0, minute=0, second=0, microsecond=0), by)
    while start.timestamp() <= timestamps.epoch(digest.until):
        following = _next_period(start, by)
        first, last = timestamps.iso_time(start.timestamp()), timestamps.iso_time(following.timestamp())
        part = digest.of(first, last)
        if part.sessions or part.decisions or part.notes or part.closed_work:
            heading = f"{start:%Y-%m}" if by == "month" else f"{start:%Y-%m-%d}"
            yield (f"Week of {heading}" if by == "week" else heading), part
        start = following


def _next_period(start: datetime, by: str) -> datetime:
    if by == "month":
        return (start + timedelta(days=31)).replace(day=1)  # from the first day of a month
    return start + timedelta(days=7 if by == "week" else 1)


def _one_line_each(digest: DigestNotes) -> Iterator[str]:
    """Yield each session as one line: project, request, outcome."""
    for session in digest.sessions:
        request = next((ask for ask in session.asks if not small_talk.says_little(ask)), session.title)
        outcome = f" → {_outcome(session)}" if session.outcome else ""
        yield f"- {plain(session.project) or 'Without a project'}: {plain(request)}{outcome}"


def _outcome(session: LoggedSession) -> str:
    """Return a session's outcome with the citation of its answer."""
    return f"{plain(session.outcome)}{f' [mem:{session.answer}]' if session.answer else ''}"


def _files(files: list[str]) -> str:
    return ", ".join(f"`{file}`" for file in files[:MAX_FILES])


def _summary(digest: DigestNotes) -> str:
    if not (digest.sessions or digest.notes or digest.decisions):
        return "Nothing was stored in this time."
    sessions = len({session.folder for session in digest.sessions})  # one may have several parts
    projects = len({session.project for session in digest.sessions})
    prompts = sum(len(session.asks) for session in digest.sessions)
    about_sessions = [
        f"{plural.number(sessions, 'session')} in {plural.number(projects, 'project')}",
        plural.number(prompts, "prompt"),
        plural.number(len(digest.failures), "failed run"),
    ]
    written = plural.number(len(digest.notes) + len(digest.decisions), "note") + " written"
    parts = [*(about_sessions if digest.sessions else []), written]
    return ", ".join(parts) + (f", {wording.duration(digest.seconds)}" if digest.seconds else "") + "."


def _session_section(session: LoggedSession, digest: DigestNotes) -> Iterator[str]:
    branch = f", on `{session.branch}`" if session.branch else ""
    took = wording.worked(session.seconds)
    yield f"### {timestamps.readable(session.started)} {plain(session.title)}"
    yield ""
    yield f"{session.agent or 'An agent'}{branch}{f', {took}' if took else ''}, {plural.number(session.notes, 'note')}"
    yield ""
    asks = [pair for pair in zip(session.asks, session.answers, strict=True) if not small_talk.says_little(pair[0])]
    for ask, answer in asks[:MAX_ASKS]:
        yield f"- Asked: {plain(ask)}" + (f" → {plain(answer)}" if answer not in ("", session.outcome) else "")
    if len(asks) > MAX_ASKS:
        yield f"- and {plural.number(len(asks) - MAX_ASKS, 'more prompt')}"
    if session.outcome:
        yield f"- Outcome: {_outcome(session)}"
    if session.files:
        yield f"- Changed: {plural.some([f'`{file}`' for file in session.files], MAX_FILES)}"
    failed = [row for row in digest.failures if row.session == session.session]
    if failed:
        yield f"- Failed: {plural.some([f'{plain(row.title)} [mem:{row.id}]' for row in failed], 3, '; ')}"


def plain(title: str) -> str:
    """Return a title without effect as Markdown: no link, no HTML, no unclosed code."""
    text = note.one_line("".join(c if note.is_legible(c) else " " for c in title))
    if "``" in text:  # which signs belong together is not as simple
        return _escaped(text, "\\[]<`" if text.count("`") % 2 else "\\[]<")
    whole, mark, rest = text.rpartition("`") if text.count("`") % 2 else (text, "", "")  # code that was cut off
    # In code, a backslash would be shown.
    parts = (part if number % 2 else _escaped(part, "\\[]<") for number, part in enumerate(whole.split("`")))
    return "`".join(parts) + ("\\`" + _escaped(rest, "\\[]<") if mark else "")


def _escaped(text: str, marks: str) -> str:
    return "".join(f"\\{c}" if c in marks else c for c in text)


MAX_CHARS = 8_000
_ROOMS = (600, 300, 150, 80)
"""Maximum length of each text, tried in this order until everything fits."""
_MAX_DECIDED = 20


def for_agent(config: Config, conversation: Conversation, facts: DigestNotes) -> str:
    """Return a session in at most `MAX_CHARS` characters; the earliest lines are left out if it does not fit.

    facts: the session's digest.
    """
    project = conversation.fact("project")
    head = [
        f"# {inert(conversation.title)}",
        " ".join(filter(None, (project, conversation.fact("agent"), conversation.fact("created")[:10]))),
    ]
    decided = decisions.listed(config, project=project, kinds=decisions.KINDS)[:_MAX_DECIDED]
    tail = list(_facts(facts, decided))
    tail = tail[: _count_fitting(tail, MAX_CHARS // 3)]
    size = len("\n".join([*head, *tail])) + 60
    spoken: list[str] = []
    for room in _ROOMS:
        spoken = list(_spoken_lines(config, conversation, room))
        if len("\n".join(spoken)) + size <= MAX_CHARS:
            break
    fitting = _count_fitting(spoken[::-1], MAX_CHARS - size)
    omitted = [f"({len(spoken) - fitting} earlier lines are left out)"] if fitting < len(spoken) else []
    return "\n".join([*head, "", "## Said", *omitted, *spoken[len(spoken) - fitting :], *tail])[:MAX_CHARS] + "\n"


def _count_fitting(lines: list[str], chars: int) -> int:
    """Return how many of the lines fit."""
    return sum(end <= chars for end in accumulate(len(line) + 1 for line in lines))


def _spoken_lines(config: Config, conversation: Conversation, room: int) -> Iterator[str]:
    """Yield prompts, answers and summaries as one line each, each text in at most `room` characters."""
    verbs = {"prompt": "asked", "response": "answered", "summary": "summed up"}
    for step in conversation.steps:
        if step.kind in verbs and not (
            step.kind == "prompt" and small_talk.says_little(str(step.meta.get("title", "")))
        ):
            text = whole_sentences(inert(_text(config, step)), room)
            yield f"- {verbs[step.kind]} [mem:{step.meta.get('id', '')}] {text}"


def _text(config: Config, step: ConversationStep) -> str:
    return people.cleaned(config.vault, note.Parsed(step.meta, step.body)).body


def _facts(facts: DigestNotes, decided: Iterable[Decision]) -> Iterator[str]:
    """Yield what was done and is left. decided: what is kept already, so that it is not proposed again."""
    failed = [f"{row.title} [mem:{row.id}]" for row in facts.failures]
    parts = {
        "Failed": failed[-10:],
        "Solved": [f"{fix.error}: {', '.join(fix.files)} [mem:{fix.id}]" for fix in facts.fixes],
        "Changed": [", ".join(session.files) for session in facts.sessions if session.files],
        "Done": [item.text for item in facts.closed_work],
        "Left open": [f"{LABELS[item.kind].lower()}: {item.text} [mem:{item.id}]" for item in facts.open_work],
        "Kept already": [f"{decision.title} [mem:{decision.id}]" for decision in decided],
    }
    for heading, rows in parts.items():
        if rows:
            yield from ("", f"## {heading}", *(f"- {_line(row)}" for row in rows))


def _line(row: str) -> str:
    """Make a line inert, except for our own citation at its end."""
    text, mark, name = row.rpartition(" [mem:")
    return f"{note.one_line(inert(text))}{mark}{name}" if mark else note.one_line(inert(row))
