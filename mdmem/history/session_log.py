"""The journal by session: what was asked, what came of it, which files it changed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from mdmem import privacy, timestamps
from mdmem.agents import aliases
from mdmem.config import Config
from mdmem.errors import VaultError
from mdmem.history import find
from mdmem.history.git import checked_out, repository
from mdmem.history.message import SESSION_FORMAT
from mdmem.vault import disk, generated, journal, layout, note, people, turns

UNREAD_LABELS = frozenset(["bash", "read", "grep", "glob", "ls", "webfetch", "websearch", "task", "agent"])
"""Labels, the third part of file names, of notes that add nothing to the journal: they are counted but not read."""


class LoggedSession(NamedTuple):
    """One session of the journal.

    folder: vault-relative, with slashes. day: local date, from the folder.
    started, ended: ISO 8601 in UTC. asks: titles of the prompts, in order.
    outcome: title of the answer that tells how it ended, as `turns.telling_answer` chooses it, "" without one; answer:
    that note's id, None without one. files: changed files, each once, in order.
    commit: the code's commit at that time. commits: commits made in the code, with the subject of the last one;
    "" in a part of a session, because its page does not tell in which part.
    notes: number of notes, without the page. Private notes are only counted.
    seconds: the time worked, as `timestamps.worked` counts it.
    """

    session: str
    project: str
    agent: str
    branch: str
    title: str
    folder: str
    day: str
    started: str
    ended: str
    asks: list[str]
    outcome: str
    files: list[str]
    notes: int
    commit: str = ""
    commits: str = ""
    seconds: float = 0.0
    answers: list[str] = []  # noqa: RUF012 - never changed
    answer: str | None = None


Sees = Callable[[str, Mapping[str, object]], bool]
"""Whether a reader may see a note, by its path and front matter."""

PeriodOf = Callable[[str], str]
"""Returns the period that a time (ISO 8601, UTC) belongs to, "" for none; later periods sort after earlier ones."""

_Note = tuple[str, dict[str, object]]
"""A note's file name and front matter, {} for one that was not read."""


class Stat(NamedTuple):
    """A commit, with the number of files that it added, changed and deleted."""

    oid: str
    time: str
    subject: str
    session: str
    added: int
    changed: int
    deleted: int


def sessions(
    config: Config,
    sees: Sees | None = None,
    period: PeriodOf | None = None,
    /,
    *,
    project: str = "",
    since: str = "",
    file: str = "",
    session: str = "",
    agent: str = "",
) -> Iterator[LoggedSession]:
    """Yield the sessions of the vault, newest first, whatever time zones they were written in.

    sees: whether the reader may see a note. project: name, in any case.
    since: date or time in ISO 8601, UTC; sessions that began earlier are left out.
    agent: part of its name, in any case. file: part of the path of a changed file.
    session: prefix of its id or of its folder's name, or its tag.
    period: yield each session once for each period in which it has notes, latest first, with that part of them.
    """
    rules = privacy.Rules.of(config.settings)
    named = _folders(Path(config.vault), project, _day_before(since))
    for _, folder in layout.newest_first(named, partial(journal.began, config.vault)):
        for logged in _read(config.vault, folder, rules, sees, period):
            is_named = find.is_named(session, logged.session) or folder.rpartition("/")[2].startswith(session)
            is_wanted = logged.started >= since and (not session or is_named)
            is_wanted &= not file or any(file in path for path in logged.files)
            if is_wanted and agent.lower() in logged.agent.lower():
                yield logged


def count(config: Config, project: str, most: int) -> int:
    """Return the number of folders of sessions, at most `most`, which are listed but not read.

    project: as for `sessions`.
    """
    return sum(1 for _ in islice(_folders(Path(config.vault), project, ""), most))


def stats(config: Config) -> Iterator[Stat]:
    """Yield every commit of the vault, newest first, with its numbers of files.

    Raises VaultError when the vault is not a repository.
    """
    repo = repository.open_vault(config.vault)
    form = f"--format=%x00%x00%H%x00%cI%x00%s%x00{SESSION_FORMAT}"
    if not checked_out.has_commit(repo):
        return
    arguments = ("log", "--no-renames", "--no-ext-diff", "--name-status", "-z", form)
    for text in repository.fields(repo, *arguments, end=b"\0\0\0"):
        if text:
            yield _stat(os.fsdecode(text))


def _day_before(since: str) -> str:
    """Return the earliest local day on which a session that began at `since` (UTC) may be filed; "" for no limit."""
    try:
        return (date.fromisoformat(since[:10]) - timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return ""


def _folders(root: Path, project: str, since_day: str) -> Iterator[str]:
    """Yield the folders of sessions, newest day and time in their paths first, reading one day at a time."""
    days: dict[str, set[str]] = {}
    for name in layout.projects(str(root)):
        for day, folder in layout.days(str(root), name) if project.lower() in ("", name.lower()) else ():
            if day >= since_day:
                days.setdefault(day, set()).add(folder)
    for day in sorted(days, reverse=True):
        day_folders = days[day].union(*map(layout.days_packed_in, days[day]))
        sessions_of_day = {path for folder in day_folders for path in _sessions(str(root), folder)}
        yield from sorted(sessions_of_day, key=layout.name_key, reverse=True)


def _sessions(root: str, day: str) -> Iterator[str]:
    """Yield the folders of a day's sessions, including archived ones."""
    yield from (f"{day}/{name}" for name in layout.folders(f"{root}/{day}"))
    home = layout.archives_of_day(day)
    for name in layout.names_on_disk(root, home) if home else ():
        folder = layout.archived_in(f"{home}/{name}")  # by its name; another file of that name has no notes
        if folder.startswith(f"{day}/"):
            yield folder


def _read(
    root: str, path: str, rules: privacy.Rules, sees: Sees | None, period: PeriodOf | None
) -> list[LoggedSession]:
    try:
        listed = (name for name in disk.names_in(root, path) if disk.is_note_path(name, ours=False))
        names = sorted(listed, key=lambda name: (journal.numbers(name), name))
        name = journal.page_of(names, path)
        others = [other for other in names if other != name]
        wanted = [other for other in others if other == others[-1] or _label(other) not in UNREAD_LABELS]
        page_data = (disk.read_path(root, f"{path}/{name}") or b"") if name else b""
        found = _metas(root, path, wanted, rules)
        periods = {period(time) for meta in found.values() if (time := _utc(meta))} if period else set()
        if len(periods) > 1 or _pauses(found):  # in a long pause, or before a period ended, there may have been runs
            found |= _metas(root, path, set(others).difference(wanted), rules)
    except (OSError, VaultError):
        return []  # deleted meanwhile, or unreadable
    if not names:
        return []
    page = _meta(root, page_data, rules) if page_data else {}
    hidden = {other for other, meta in found.items() if sees and not sees(f"{path}/{other}", meta)}
    is_called_so = _text(page, "title") in {_text(found[other], "title") for other in hidden}
    if page and sees and (is_called_so or not sees(f"{path}/{name}", page)):
        page = {**page, "private": True}
    notes = [(other, found.get(other, {})) for other in others if other not in hidden]
    commits = None if people.keeps_private(page) else _COMMITS.search(page_data.decode("utf-8", "replace"))
    subject = _subject(commits[1]) if commits else ""
    if period is None:
        return [_session(path, page, notes)._replace(commits=subject)]
    known = (time for _, meta in notes if (time := _utc(meta)))
    key = period(next(known, _time(page, "created")))
    parts: dict[str, list[_Note]] = {} if notes else {key: []}
    for note_name, meta in notes:  # one without a known time belongs to the period of the one before it, else after it
        key = period(time) if (time := _utc(meta)) else key
        parts.setdefault(key, []).append((note_name, meta))
    if len(parts) > 1:  # the page does not tell in which one the commits were made
        subject = ""
    parts.pop("", None)
    page = {key: value for key, value in page.items() if key not in ("started", "ended")}
    return [_session(path, page, parts[key])._replace(commits=subject) for key in sorted(parts, reverse=True)]


def _metas(root: str, path: str, names: Iterable[str], rules: privacy.Rules) -> dict[str, dict[str, object]]:
    read = {name: disk.read_path(root, f"{path}/{name}") for name in names}
    return {name: _meta(root, data, rules) for name, data in read.items() if data is not None}


def _pauses(found: Mapping[str, dict[str, object]]) -> bool:
    """Whether there is a pause between notes that does not count as work unless there are others in it."""
    times = [timestamps.epoch(_text(meta, "created")) for meta in found.values() if meta.get("created")]
    return bool(times) and timestamps.worked(times) < max(times) - min(times)


def _subject(text: str) -> str:
    """Return what a page says of commits, without its code marks and backslashes."""
    return generated.unescaped(re.sub(r"(?<!\\)`", "", text)).strip()


def _meta(root: str, data: bytes, rules: privacy.Rules) -> dict[str, object]:
    """Return a note's front matter, without what somebody has since marked as private in it."""
    parsed = note.parse(data)
    title = parsed.meta.get("title")
    may_hide = isinstance(title, str) and privacy.may_hold_tag(title, rules)
    return people.cleaned(root, parsed, rules).meta if may_hide else parsed.meta


_COMMITS = re.compile(r"(?m)^- Commits made: (.{1,2000})$")
"""The line of a session's page that names commits of the code."""


def _label(name: str) -> str:
    parts = name.split("-", 3)
    return parts[2] if len(parts) == 4 else ""


def _session(path: str, page: dict[str, object], notes: list[_Note]) -> LoggedSession:
    ordered = sorted(notes, key=lambda one: _place(one[1]) if one[1] else journal.numbers(one[0]))
    metas = [meta for _, meta in ordered if meta]
    first = {key: value for meta in (*reversed(metas), page) for key, value in meta.items()}
    times = sorted(_time(meta, "created") for meta in metas if meta.get("created"))
    shown = [(name, meta) for name, meta in ordered if not people.keeps_private(meta)]
    told = turns.telling_answer(_kind(name, meta) for name, meta in shown)
    metas = [meta for _, meta in shown if meta]
    prompts = [meta for meta in metas if meta.get("kind") == "prompt"]
    asks = [_text(meta, "title") for meta in prompts]
    answers = {note.number(meta, "prompt"): _text(meta, "title") for meta in metas if meta.get("kind") == "response"}
    title, name = _text(page, "title"), path.rpartition("/")[2]
    if people.keeps_private(page):  # the folder's name contains the title
        title, name = "", journal.untitled(_text(page, "created"))
    return LoggedSession(
        session=_text(first, "session"),
        project=layout.project_named(path, first),
        agent=_text(first, "agent"),
        branch=_text(first, "branch"),
        title=title or (asks or [""])[0] or name,
        folder=path,
        day=layout.day_of(path),
        started=_time(page, "started") or _began(times, _time(page, "created")),
        ended=_time(page, "ended") or (times or [_time(page, "created")])[-1],
        asks=asks,
        outcome=_text(shown[told][1], "title") if told >= 0 else "",
        answers=[answers.get(note.number(meta, "prompt"), "") for meta in prompts],
        files=list(dict.fromkeys(file for meta in metas for file in _touched(meta))),
        notes=len(notes),
        commit=_text(first, "commit"),
        seconds=timestamps.worked(map(timestamps.epoch, times)),
        answer=(_text(shown[told][1], "id") or None) if told >= 0 else None,
    )


def _kind(name: str, meta: dict[str, object]) -> str:
    """Return a note's kind, `turns.WORK` for a change or a run."""
    tool = aliases.resolve(_text(meta, "tool"), {})[0]
    is_run = tool in ("Bash", "PowerShell") if meta else _label(name) == "bash"
    is_change = aliases.changes_files(tool) and meta.get("success") is not False
    return turns.WORK if is_run or is_change else _text(meta, "kind")


def _began(times: list[str], page: str) -> str:
    """Return when a session began, from its notes' times, oldest first, and its page's."""
    first = (times or [page])[0]
    return page if page and timestamps.is_clock_set_back(timestamps.epoch(first), timestamps.epoch(page)) else first


def _touched(meta: dict[str, object]) -> list[str]:
    files = meta.get("files")
    if not aliases.changes_files(_text(meta, "tool")) or meta.get("success") is False:
        return []
    return [str(file) for file in files] if isinstance(files, list) else []


def _time(meta: dict[str, object], key: str) -> str:
    return timestamps.utc(_text(meta, key))


def _utc(meta: dict[str, object]) -> str:
    """Return when a note was written, in the form of `timestamps.iso_time`; "" if that cannot be read."""
    time = _time(meta, "created")
    return time if timestamps.epoch(time) else ""


def _text(meta: dict[str, object], key: str) -> str:
    value = meta.get(key)
    return "" if value is None else str(value)


def _place(meta: dict[str, object]) -> tuple[int, int, float]:
    """Return the sort key of notes: their numbers, then the time, as two machines may have used the same numbers."""
    return note.number(meta, "prompt"), note.number(meta, "sequence"), timestamps.epoch(_text(meta, "created"))


def _stat(text: str) -> Stat:
    # A merge lists no files after its session trailer, which may be empty too.
    oid, time, subject, session, *statuses = [*text.strip("\0").split("\0"), ""]
    kinds = [field.strip() for field in statuses[::2]]
    return Stat(oid, timestamps.utc(time), subject, session, *(kinds.count(kind) for kind in "AMD"))
