"""A digest as Markdown: by project and session, by day or week, or one session in limited space for an agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

from mdmem import plural, timestamps, when
from mdmem.config import Config
from mdmem.history.session_log import LoggedSession
from mdmem.inject.block import inert, whole_sentences
from mdmem.learn import decisions, work
from mdmem.vault import note, people
from mdmem.views import wording
from mdmem.views.conversation import Conversation, ConversationStep
from mdmem.views.digests.collected import DigestNotes

MAX_ASKS = 12
MAX_FILES = 12


def write(found: DigestNotes, by: str = "session") -> str:
    """Return a digest as Markdown. by: "session", "day" or "week"."""
    lines = [f"# {found.span}", "", _summary(found)]
    if by == "session":
        lines += _by_project(found)
        lines += _parts(found)
    else:
        for heading, part in _periods(found, by):
            lines += ["", f"## {heading}", "", _summary(part), "", *_short(part)]
            lines += _parts(part, "###")
    return "\n".join(lines) + "\n"


def _by_project(found: DigestNotes) -> Iterator[str]:
    by_project = sorted(found.sessions, key=lambda one: one.project)
    for project, group in groupby(by_project, key=lambda one: one.project):
        yield from ("", f"## {project or 'Without a project'}")
        for one in group:
            yield from ("", *_session(one, found))


def _parts(found: DigestNotes, level: str = "##") -> Iterator[str]:
    """Yield what does not belong to one session: decisions, notes, fixes, work."""
    parts = {
        "Decisions": [f"{plain(row.title)} ({row.kind}) [mem:{row.id}]" for row in found.decided],
        "Notes written": [f"{plain(row.title)} [mem:{row.id}]" for row in found.written],
        "Fixes": [f"{plain(one.error or one.command)}: {_files(one.files)} [mem:{one.id}]" for one in found.fixed],
        "Done": [f"[x] {plain(one.text)} [mem:{one.id}]" for one in found.closed],
        "Left open": [f"[ ] {plain(one.text)} ({one.kind}) [mem:{one.id}]" for one in found.left],
    }
    for heading, rows in parts.items():
        if rows:
            yield from ("", f"{level} {heading}", "", *(f"- {row}" for row in rows))


def _periods(found: DigestNotes, by: str) -> Iterator[tuple[str, DigestNotes]]:
    """Yield the days or weeks in which something happened, each with its part; times are local."""
    step = timedelta(days=7 if by == "week" else 1)
    begin = datetime.fromtimestamp(timestamps.epoch(found.since), when.LOCAL)
    stamps = [one.started for one in found.sessions] + [row.created for row in (*found.decided, *found.written)]
    if stamps:
        begin = max(begin, datetime.fromtimestamp(timestamps.epoch(min(stamps)), when.LOCAL))
    start = begin.replace(hour=0, minute=0, second=0, microsecond=0)
    start -= timedelta(days=start.weekday() if by == "week" else 0)
    while start.timestamp() <= timestamps.epoch(found.until):
        first, last = timestamps.iso_time(start.timestamp()), timestamps.iso_time((start + step).timestamp())
        part = found.of((one for one in found.sessions if first <= one.started < last), first, last)
        if part.sessions or part.decided or part.written or part.closed:
            yield (f"Week of {start:%Y-%m-%d}" if by == "week" else f"{start:%Y-%m-%d}"), part
        start += step


def _short(found: DigestNotes) -> Iterator[str]:
    """Yield each session as one line: project, request, outcome."""
    for one in found.sessions:
        citation = f" [mem:{found.answers[one.session]}]" if one.session in found.answers else ""
        outcome = f" → {plain(one.outcome)}{citation}" if one.outcome else ""
        yield f"- {plain(one.project) or 'Without a project'}: {plain(_asked(one))}{outcome}"


def _asked(one: LoggedSession) -> str:
    """Return the first prompt that is a request."""
    return next((ask for ask in one.asks if not work.says_little(ask)), one.title)


def _files(files: list[str]) -> str:
    return ", ".join(f"`{file}`" for file in files[:MAX_FILES])


def _summary(found: DigestNotes) -> str:
    if not (found.sessions or found.written or found.decided):
        return "Nothing was stored in this time."
    projects = len({one.project for one in found.sessions})
    prompts = sum(len(one.asks) for one in found.sessions)
    parts = [
        f"{plural.number(len(found.sessions), 'session')} in {plural.number(projects, 'project')}",
        plural.number(prompts, "prompt"),
        plural.number(len(found.failed), "failed run"),
        plural.number(len(found.written) + len(found.decided), "note") + " written",
    ]
    return ", ".join(parts) + (f", {wording.duration(found.seconds)}" if found.seconds else "") + "."


def _session(one: LoggedSession, found: DigestNotes) -> Iterator[str]:
    branch = f", on `{one.branch}`" if one.branch else ""
    took = wording.worked(one.seconds)
    yield f"### {timestamps.readable(one.started)} {plain(one.title)}"
    yield ""
    yield f"{one.agent or 'An agent'}{branch}{f', {took}' if took else ''}, {plural.number(one.notes, 'note')}"
    yield ""
    asks = [ask for ask in one.asks if not work.says_little(ask)]
    for ask in asks[:MAX_ASKS]:
        yield f"- Asked: {plain(ask)}"
    if len(asks) > MAX_ASKS:
        yield f"- and {plural.number(len(asks) - MAX_ASKS, 'more prompt')}"
    if one.outcome:
        citation = f" [mem:{found.answers[one.session]}]" if one.session in found.answers else ""
        yield f"- Outcome: {plain(one.outcome)}{citation}"
    if one.files:
        more = f" and {len(one.files) - MAX_FILES} more" if len(one.files) > MAX_FILES else ""
        yield f"- Changed: {_files(one.files)}{more}"
    failed = [row for row in found.failed if row.session == one.session]
    if failed:
        yield f"- Failed: {'; '.join(f'{plain(row.title)} [mem:{row.id}]' for row in failed[:3])}" + (
            f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        )


def plain(title: str) -> str:
    """Return a title without effect as Markdown: no link, no HTML, no unclosed code."""
    text = note.one_line("".join(c if c.isprintable() else " " for c in title))
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _escaped(text, "\\[]<`")
    if "``" in text:  # which signs belong together is not as simple
        return _escaped(text, "\\[]<")
    # In code, a backslash would be shown.
    return "`".join(part if number % 2 else _escaped(part, "\\[]<") for number, part in enumerate(parts))


def _escaped(text: str, marks: str) -> str:
    return "".join(f"\\{c}" if c in marks else c for c in text)


MAX_CHARS = 8_000
_ROOMS = (600, 300, 150, 80)
"""Maximum length of each text, tried in this order until everything fits."""
_MAX_DECIDED = 20


def for_agent(config: Config, found: Conversation, facts: DigestNotes, chars: int = MAX_CHARS) -> str:
    """Return a session in at most `chars` characters; the earliest lines are left out if it does not fit.

    facts: the session's digest.
    """
    head = [
        f"# {inert(found.title)}",
        " ".join(filter(None, (found.fact("project"), found.fact("agent"), found.fact("created")[:10]))),
    ]
    tail = [*_facts(facts), *_decided(config, found.fact("project"))]
    tail = tail[: _fitting(tail, chars // 3)]
    size = len("\n".join([*head, *tail])) + 60
    said: list[str] = []
    for room in _ROOMS:
        said = list(_said(config, found, room))
        if len("\n".join(said)) + size <= chars:
            break
    kept = _fitting(said[::-1], chars - size)
    left = [f"({len(said) - kept} earlier lines are left out)"] if kept < len(said) else []
    return "\n".join([*head, "", "## Said", *left, *said[len(said) - kept :], *tail])[:chars] + "\n"


def _fitting(lines: list[str], chars: int) -> int:
    """Return how many of the lines fit."""
    for count, line in enumerate(lines):
        chars -= len(line) + 1
        if chars < 0:
            return count
    return len(lines)


def _said(config: Config, found: Conversation, room: int) -> Iterator[str]:
    words = {"prompt": "asked", "response": "answered", "summary": "summed up"}
    for step in found.steps:
        if step.kind in words and not (step.kind == "prompt" and work.says_little(str(step.meta.get("title", "")))):
            text = whole_sentences(inert(_text(config, step)), room)
            yield f"- {words[step.kind]} [mem:{step.meta.get('id', '')}] {text}"


def _text(config: Config, step: ConversationStep) -> str:
    return people.cleaned(config.vault, note.Parsed(step.meta, step.body)).body


def _facts(facts: DigestNotes) -> Iterator[str]:
    failed = [f"{row.title} [mem:{row.id}]" for row in facts.failed]
    parts = {
        "Failed": failed[-10:],
        "Solved": [f"{one.error}: {', '.join(one.files)} [mem:{one.id}]" for one in facts.fixed],
        "Changed": [", ".join(one.files) for one in facts.sessions if one.files],
        "Done": [one.text for one in facts.closed],
        "Left open": [f"{one.kind}: {one.text} [mem:{one.id}]" for one in facts.left],
    }
    for heading, rows in parts.items():
        if rows:
            yield from ("", f"## {heading}", *(f"- {_line(row)}" for row in rows))


def _line(row: str) -> str:
    """Make a line inert, except for our own citation at its end."""
    text, mark, name = row.rpartition(" [mem:")
    return f"{note.one_line(inert(text))}{mark}{name}" if mark else note.one_line(inert(row))


def _decided(config: Config, project: str) -> Iterator[str]:
    """Yield what is already decided, so that it is not proposed again."""
    found = decisions.listed(config, project=project, kinds=decisions.KINDS)[:_MAX_DECIDED]
    if found:
        yield from ("", "## Kept already", *(f"- {_line(f'{one.title} [mem:{one.id}]')}" for one in found))
