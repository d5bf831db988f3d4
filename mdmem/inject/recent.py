"""Recent: shows what was last done in a project, read from the journal's files; the index tells resumed sessions.

A session is shown by what was asked, how it ended and which files it touched. A prompt without an answer or a failure
at the end is an open end. After a compaction, the session itself is shown, prompt by prompt.
"""

from __future__ import annotations

import os
from functools import cached_property
from itertools import groupby, islice, takewhile

from mdmem import privacy, timestamps
from mdmem.inject import eligibility, injection_log
from mdmem.inject.rendering import excerpts
from mdmem.inject.rendering.block import MAX_TITLE_CHARS, Item, Section, cut, paths_within, whole_sentences
from mdmem.search import answering, freshness, turn_groups
from mdmem.search.asking import small_talk
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import JOURNAL, disk, generated, journal, layout, note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mdmem.config import Config
    from mdmem.inject.occasion import Occasion
    from mdmem.search.gate import Gate
    from mdmem.search.index.view import View
    from mdmem.vault.note import Parsed

MAX_SESSIONS, MOST_LOOKED_AT = 5, 100
MAX_PROMPTS = 8
MAX_OPEN = 3
_FILES_CHARS = 120
"""Maximum length of the list of files that a session touched."""
_MAX_RUNS, _MAX_EDITS = 40, 12
"""Maximum number of commands and changes of a turn or session that are read, counted from the last."""
_EXCERPT_CHARS = 1_000
_ANSWER_CHARS = 4_000
_ASKED_CHARS = 400
"""Maximum length of what is shown of a prompt after a compaction."""
_SHORT_BYTES, _MAX_READ = 90, 5
"""A last answer up to this length tells little: `Committed as 8c1f2aa.` In UTF-8, as a Chinese one needs a third of the
letters. So many are read for a longer one."""
_OUTCOME_CHARS = 240, 400
"""Minimum and maximum length of how a session ended."""

_LATEST, _OLDER_CHARS = 2, 300
"""Number of sessions that are shown in full, and the length for the others."""


class SessionFolder:
    """One session's folder on disk: its page, and its notes in order. folder: relative to the vault, POSIX.

    from_elsewhere: another project asks, so that notes that stay on this machine count as empty.
    """

    def __init__(self, config: Config, gate: Gate, folder: str, *, from_elsewhere: bool = False) -> None:
        self._config = config
        self._is_hidden = people.stays_here if from_elsewhere else people.keeps_private
        self.gate = gate
        self.folder = folder
        names = disk.names_in(config.vault, folder)
        self.names = sorted([name for name in names if journal.numbers(name)], key=journal.numbers)
        self.page_name = journal.page_of(names, folder.rpartition("/")[2])

    @cached_property
    def _written(self) -> Parsed:
        return note.load(self._config.vault, self.path(self.page_name))

    def is_looked_through(self) -> bool:
        """Whether the vault's pages were made since the session ended, so that its open work is known."""
        body = self._written.body
        navigation = body.partition(generated.NAVIGATION_MARK)[0].rpartition("\n")[2]  # a hook writes one link only
        return " · " in navigation and all(f"({name})" in body for name in self.of_kind("response")[-1:])

    @cached_property
    def page(self) -> Parsed:
        """The session's page; its text is only the part about files: a long session has thousands of lines.

        Its title is the time if it is that of a prompt or answer that is not shown.
        """
        written = self._written
        if not privacy.may_hold_tag(written.body, self.gate.rules):
            _, heading, following = written.body.partition(_FILES)
            part = heading + following.partition("\n## ")[0] if heading else ""
            written = note.Parsed(written.meta, part, written.problem)
        page = self._unless_hidden(people.cleaned(self._config.vault, written, self.gate.rules))
        first = next(iter((*self.of_kind("prompt"), *self.of_kind("response"))), "")
        if first and page.meta and self._is_hidden(note.load(self._config.vault, self.path(first)).meta):
            page.meta["title"] = journal.untitled(page.fact("created"))
        return page

    def path(self, name: str) -> str:
        """Return the vault path of one of the session's files."""
        return f"{self.folder}/{name}"

    def read(self, name: str) -> Parsed:
        """Read one of the session's files; a missing one, or one marked private in its front matter, is empty."""
        return self._unless_hidden(people.load_clean(self._config.vault, self.path(name), self.gate.rules))

    def _unless_hidden(self, parsed: Parsed) -> Parsed:
        return note.parse(b"") if self._is_hidden(parsed.meta) else parsed

    def is_work(self, turn: int) -> bool:
        """Whether a turn did work."""
        return self._kind_of(self.of_turn(turn)) == turn_groups.WORK

    def _kind_of(self, names: Iterable[str]) -> int:
        return turn_groups.kind_of_turn(os.path.join(self._config.vault, self.folder), names)

    def is_worth_showing(self) -> bool:
        """Whether the session has work, or a question that was answered from more than memory."""
        answered = self.turns_with("response")
        turns = groupby(self.names, lambda name: journal.numbers(name)[0])
        kinds = ((turn, self._kind_of(names)) for turn, names in turns)
        return any(kind == turn_groups.WORK or (kind == turn_groups.TALK and turn in answered) for turn, kind in kinds)

    def last_turn(self) -> int:
        """Return the number of the last turn."""
        return journal.numbers(self.names[-1])[0] if self.names else 0

    def of_turn(self, turn: int) -> list[str]:
        """Return the notes of a turn, in order."""
        return [name for name in self.names if journal.numbers(name)[0] == turn]

    def began(self) -> float:
        """Return the time at which the session began, as `journal.began`, or that of its folder."""
        return layout.begin_time(self.folder, journal.began(self._config.vault, self.folder))

    def ended(self) -> float:
        """Return the time of the last note, in seconds since the epoch; 0 without one."""
        return timestamps.epoch(self.read(self.names[-1]).fact("created")) if self.names else 0.0

    def is_after(self, other: SessionFolder) -> bool:
        """Whether this session's last note is later than that of another one."""
        return bool(self.names and other.names) and self.ended() > other.ended()

    def of_kind(self, kind: str) -> list[str]:
        """Return the notes with this kind in their file name, oldest first; observations have their tool there."""
        return [name for name in self.names if turn_groups.source(name) == kind]

    def turns_with(self, kind: str) -> dict[int, str]:
        """Return the numbers of the turns that have a note of this kind, each with the last one."""
        return {journal.numbers(name)[0]: name for name in self.of_kind(kind)}

    def waits_elsewhere(self, branch: str) -> bool:
        """Whether the notes that the session is shown by wait on a code branch other than this one."""
        ends = [*self.names[:1], *self.names[-1:], *self.of_kind("prompt")[-1:], *self.of_kind("response")[-1:]]
        return any(str(self.read(name).meta.get("staged") or branch) != branch for name in dict.fromkeys(ends))

    def excerpt(self, parsed: Parsed) -> str:
        """Return the cleaned beginning of a note's text."""
        return self.gate.stored(parsed.body[:_EXCERPT_CHARS]).strip()

    def outcome(self, name: str, taken: int, *, with_left: bool = True) -> str:
        """Return the sentences of an answer that say how it ended, cleaned.

        taken: characters used of an item. with_left: also those that say what is left to do.
        """
        room = min(max(self._config.settings.inject.bullet_chars - taken, _OUTCOME_CHARS[0]), _OUTCOME_CHARS[1])
        body = self.read(name).body
        if len(body) > 2 * _ANSWER_CHARS:  # what is left to do is at the end
            body = "\n\n".join([body[:_ANSWER_CHARS], body[-_ANSWER_CHARS:].partition("\n\n")[2]])
        return cut(excerpts.outcome(self.gate.stored(body), (), room, with_left=with_left), room)

    def item(self, name: str, text: str, *marks: str, room: int = 0) -> Item | None:
        """Return one of the session's files as an item; None if it has no id or is not to be shown."""
        parsed = self.page if name == self.page_name else self.read(name)
        meta = parsed.meta
        if not meta.get("id") or eligibility.left_out(parsed):
            return None
        return Item(
            id=str(meta["id"]),
            kind=str(meta.get("kind", "note")),
            title=self.gate.stored(str(meta.get("title", ""))),
            date=timestamps.readable(str(meta.get("created", ""))),
            text=text,
            marks=marks,
            room=room,
        )

    def telling_answer(self) -> str:
        """Return the answer of the last turn that changed a file; if none did, the last long one; "" for none."""
        changed = {journal.numbers(name)[0] for name in filter(turn_groups.is_edit, self.names)}
        answers = self.of_kind("response")[::-1]
        if changed:
            return next((name for name in answers if journal.numbers(name)[0] in changed), "")
        sizes = ((name, len(self.read(name).body.encode("utf-8", "replace"))) for name in answers[:_MAX_READ])
        return next((name for name, size in sizes if size > _SHORT_BYTES), "")

    def is_interrupted(self) -> bool:
        """Whether the last prompt asked for work and has no answer."""
        last = self.last_prompt()
        return last > 0 and last not in self.turns_with("response") and self.is_work(last)

    def last_prompt(self) -> int:
        """Return the number of the last turn that a prompt began; 0 for none."""
        return max(self.turns_with("prompt"), default=0)

    def last_run(self) -> str:
        """Return that the last prompt has no answer yet, and the last command that was run for it."""
        run = next(filter(turn_groups.is_shell, reversed(self.of_turn(self.last_turn()))), "")
        title = self.gate.stored(self.read(run).fact("title")) if run else ""
        return f"Not answered yet. The last command: `{title}`." if title else "Not answered yet."

    def changed_files(self, names: list[str]) -> list[str]:
        """Return the files that the last edits among notes changed; unlike the page, also those of a turn at work."""
        named = (self.read(name).meta.get("files") for name in last_edits(names))
        return list(dict.fromkeys(str(file) for files in named if isinstance(files, list) for file in files))

    def files(self) -> list[str]:
        """Return the files that the session touched, from its page."""
        _, heading, following = self.page.body.partition(_FILES)
        lines = following.partition("\n## ")[0].splitlines() if heading else []
        return [line[3:].partition("`")[0] for line in lines if line.startswith("- `")]


_FILES = f"\n{generated.FILES}\n"


def last_edits(names: list[str]) -> list[str]:
    """Return the last notes, judging by their file names, of tools that change files; as many as are read."""
    return list(filter(turn_groups.is_edit, names))[-_MAX_EDITS:]


def last_commands(names: list[str]) -> list[str]:
    """Return the last notes of commands, in the same way."""
    return list(filter(turn_groups.is_shell, names))[-_MAX_RUNS:]


def this_session(occasion: Occasion) -> SessionFolder | None:
    """Return the folder of the session that an event is of; None if nothing of it is stored."""
    parts = occasion.record.folder or journal.find_session(occasion.config, occasion.record.id, most=journal.MAX_DAYS)
    return session_in(occasion, "/".join(parts)) if parts else None


def session_in(occasion: Occasion, folder: str) -> SessionFolder:
    """Return the session in a folder, as the project that asks may see it."""
    is_elsewhere = not occasion.is_of(layout.project_of(folder))
    return SessionFolder(occasion.config, occasion.gate, folder, from_elsewhere=is_elsewhere)


def sessions(occasion: Occasion, span: tuple[float, float], worked: Mapping[str, float]) -> Iterator[SessionFolder]:
    """Yield the project's sessions, last worked on first, except those without notes and the present one.

    span: the times, in seconds since the epoch, from which on and before which they were worked on. worked: as
    `worked_on` returns it; a session that it does not have counts for the time at which it began.
    """
    since, until = span
    tail, own = f"-{journal.session_tag(occasion.record.id)}", "/".join(occasion.record.folder)
    for last, folder in _by_last_work(occasion, worked, until):
        if last < since:
            return
        if last >= until or folder.endswith(tail) or folder == own or injection_log.seen(folder[-8:]) in occasion.given:
            continue
        session = session_in(occasion, folder)
        if session.names:
            yield session


def _by_last_work(occasion: Occasion, worked: Mapping[str, float], until: float) -> Iterator[tuple[float, str]]:
    """Yield when sessions were last worked on, as far as known, and their folders, newest first.

    Sessions of days after `until`, in seconds since the epoch, are left out, to read no page of theirs.
    """
    resumed = {folder: last for folder, last in worked.items() if last >= layout.latest_begin(folder)}
    named = layout.newest_sessions(occasion.config.vault, occasion.project)
    folders = (folder for folder in named if folder not in resumed and layout.earliest_begin(folder) < until)

    def when(folder: str) -> float:
        return worked[folder] if folder in worked else journal.began(occasion.config.vault, folder)

    return layout.newest_first(folders, when, ((last, folder) for folder, last in resumed.items()))


def worked_on(occasion: Occasion, since: float, until: float) -> dict[str, float]:
    """Return the folders of the project's sessions with notes from `since` to `until`, each with the last one's time.

    Only the index knows it: a resumed session lies at the day on which it began.
    """
    answering.make_ready(occasion.config, occasion.seconds_left / 2)
    home = f"{JOURNAL}/{occasion.project}/"

    def in_view(view: View) -> dict[str, float]:
        created, folder_of = view.numbers("created"), view.folder_of
        times: dict[int, float] = {}
        for number in view.within(since, until):
            folder = folder_of[number]
            times[folder] = max(times.get(folder, 0), created[number])
        return {
            view.folders[folder]: last
            for folder, last in times.items()
            if view.is_session[folder] and view.folders[folder].startswith(home)
        }

    return freshness.answered(occasion.config, in_view) or {}


def with_what_is_left(sessions: list[SessionFolder], *, newest: bool) -> list[SessionFolder]:
    """Return the sessions that are shown with what their answers leave to do: the newest one, if nothing came after it.

    Of others, work that was done since is not left: the open work knows, unless their page was not made since.
    """
    return [one for at, one in enumerate(sessions) if (newest and at == 0) or not one.is_looked_through()]


def last_done(sessions: list[SessionFolder], *, newest: bool = True) -> Section:
    """Return sessions as a section: when, what was asked, how it ended, which files; older ones in fewer words.

    newest: whether nothing was done since the first of them.
    """
    items: list[Item] = []
    with_left = with_what_is_left(sessions, newest=newest)
    for session in sessions:
        is_brief = len(items) >= _LATEST
        items += filter(None, [session_item(session, is_brief=is_brief, with_left=session in with_left)])
    for item in items[_LATEST:]:
        item.room = min(item.room, _OLDER_CHARS)
    return Section("Recent sessions of this project", items)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!", "…", "。", "？", "！")) else f"{text}."


def session_item(session: SessionFolder, *, is_brief: bool = False, with_left: bool = True) -> Item | None:
    """Return a session as an item: how it ended, and which files it touched.

    If its last turn changed no file, as one that commits or answers a question, first what was done before. is_brief:
    then only that. with_left: with what the answers leave to do. Of a turn without an answer, its last command is told.
    """
    prompts, answers, files = session.of_kind("prompt"), session.of_kind("response"), session.files()
    is_answered = not session.is_interrupted()
    files = files if is_answered else session.changed_files(session.names) or files
    touched = [f"Files: {paths_within(files, _FILES_CHARS)}."] if files else []
    parts: list[str] = []
    if (done := session.telling_answer()) and (done != answers[-1] or not is_answered):
        lead = "What was done: "
        said = session.outcome(done, len(" ".join([*touched, lead])), with_left=with_left)
        parts += [_sentence(lead + said)] if said else []  # it may be private
    last_prompt = session.read(prompts[-1]).fact("title") if prompts else ""
    is_told = bool(parts) and is_answered and (is_brief or small_talk.says_little(last_prompt))
    if len(prompts) > 1 and last_prompt and not is_told:
        parts.append(f"{len(prompts)} prompts, the last: {_sentence(cut(last_prompt, 80))}")
    if not is_answered:
        parts.append(session.last_run())
    elif answers and not is_told:
        has_failed = session.read(answers[-1]).meta.get("success") is False
        lead = "Its last turn failed: " if has_failed else "It ended with: "
        taken = len(" ".join([*touched, *parts, lead]))
        ended = session.outcome(answers[-1], taken, with_left=with_left)
        parts += [_sentence(lead + ended)] if ended else []
    text = " ".join([*parts, *touched])
    day = timestamps.local_day(session.ended())
    marks = (f"last worked on {day}",) if day > timestamps.local_day(session.began()) else ()
    return session.item(session.page_name, text, *marks, room=max(len(text), MAX_TITLE_CHARS))


def left_open(sessions: list[SessionFolder], current: SessionFolder | None = None) -> Section:
    """Return what sessions left unfinished: a prompt without an answer, a failed turn, a failed last run.

    sessions: last worked on first. A run that failed in one and succeeded in a later one is not open. current: the
    session that goes on, after any of them that ended before its last note.
    """
    open_ends = (
        item
        for at, session in enumerate(sessions)
        for item in _open_ends(session, [*sessions[:at], *([current] if current and current.is_after(session) else [])])
        if item
    )
    return Section("Left open", list(islice(open_ends, MAX_OPEN)))


def _open_ends(session: SessionFolder, later: list[SessionFolder]) -> Iterator[Item | None]:
    prompts, answers = session.of_kind("prompt"), session.of_kind("response")
    is_answered = session.last_prompt() in session.turns_with("response")
    if session.is_interrupted():
        if any(_is_taken_up(session, other) for other in later):
            return
        text = excerpts.prose(session.excerpt(session.read(prompts[-1])), code=True)
        yield session.item(prompts[-1], text, "has no answer")
    elif prompts and is_answered and session.read(answers[-1]).meta.get("success") is False:
        yield session.item(prompts[-1], excerpts.prose(session.excerpt(session.read(answers[-1]))), "the turn failed")
    tool_runs = [name for name in session.names if turn_groups.source(name) not in ("prompt", "response")]
    failed = session.read(tool_runs[-1]) if tool_runs else None
    if failed and failed.meta.get("success") is False and not _is_settled(failed, tool_runs[-1], later):
        error = session.gate.stored(str(failed.meta.get("error") or ""))
        text = error or excerpts.prose(session.excerpt(failed), code=True)
        yield session.item(tool_runs[-1], text, "failed, and nothing was run after it")


def _is_taken_up(session: SessionFolder, later: SessionFolder) -> bool:
    """Whether a later session, at its beginning or by its words, did what the last prompt of one asked for."""
    answered = later.turns_with("response")
    prompts = later.of_kind("prompt")
    going_on = takewhile(lambda name: turn_groups.goes_on(later.read(name).fact("title")), prompts)
    if any(journal.numbers(name)[0] in answered for name in going_on):
        return True
    title = session.read(session.of_kind("prompt")[-1]).fact("title")
    wanted = frozenset(analysis.query_terms(title)) - STOPWORDS
    numbers = {name: number for name in prompts[-MAX_PROMPTS:] if (number := journal.numbers(name)[0]) in answered}
    asked = {number: analysis.query_terms(later.excerpt(later.read(name))) for name, number in numbers.items()}
    return any(turn_groups.is_asked_for(wanted, set(terms)) and later.is_work(turn) for turn, terms in asked.items())


def _is_settled(failed: Parsed, name: str, later: list[SessionFolder]) -> bool:
    """Whether a failed command checks nothing, or succeeded in a later session."""
    if not turn_groups.is_shell(name):
        return False
    from mdmem.search import runs

    check = runs.check(str(failed.meta.get("command") or ""))
    metas = (session.read(name).meta for session in later for name in last_commands(session.names))
    passed = (str(meta.get("command") or "") for meta in metas if meta.get("success") is not False)
    return check is None or any(runs.closes(run, check) for command in passed for run in runs.checks(command))


def before_compaction(session: SessionFolder) -> Section:
    """Return what this session was about: its prompts in their words, with their answers, newest first.

    A summary loses conditions that the user named in passing. A prompt that has no answer yet has what was done for it.
    The page stands for prompts that are not shown.
    """
    # The page lacks those of a turn at work. The last ones come first: the end of a long list is cut.
    files = list(dict.fromkeys([*reversed(session.changed_files(session.names)), *session.files()]))
    answers = session.turns_with("response")
    prompts = session.of_kind("prompt")
    where = " in this session" if len(prompts) > 1 else ""
    touched = f"Files touched{where}: {paths_within(files, 2 * _FILES_CHARS)}." if files else ""
    is_whole = 0 < len(prompts) <= MAX_PROMPTS
    items = [] if is_whole else [session.item(session.page_name, touched)]
    for name in reversed(prompts[-MAX_PROMPTS:]):
        answer = answers.get(journal.numbers(name)[0])
        asked = whole_sentences(excerpts.prose(session.excerpt(session.read(name)), code=True), _ASKED_CHARS)
        last = session.last_run() if name == prompts[-1] and not answer else ""
        told = f"Answered: {session.outcome(answer, 0)}" if answer else last
        parts = [asked and _sentence(asked), touched if is_whole and name == prompts[-1] else "", told]
        text = " ".join(filter(None, parts))
        items.append(session.item(name, text, room=len(text)))
    return Section("This session, before it was compacted", [item for item in items if item])
