"""Recent: shows what was last done in a project, read from the journal's files; the index tells resumed sessions.

A session is shown by what was asked, how it ended and which files it touched. A prompt without an answer or a failure
at the end is an open end. After a compaction, the session itself is shown, prompt by prompt.
"""

from __future__ import annotations

from itertools import islice, takewhile

from mdmem import timestamps
from mdmem.inject import injection_log
from mdmem.inject.rendering import excerpts
from mdmem.inject.rendering.block import MAX_TITLE_CHARS, Item, Section, cut, paths_within, whole_sentences
from mdmem.inject.session_folder import SessionFolder, last_commands, session_in
from mdmem.search import answering, freshness, turn_groups
from mdmem.search.asking import small_talk
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import JOURNAL, journal, layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mdmem.inject.occasion import Occasion
    from mdmem.search.index.view import View
    from mdmem.vault.note import Parsed

MAX_SESSIONS, MOST_LOOKED_AT = 5, 100
MAX_PROMPTS = 8
MAX_OPEN = 3
_FILES_CHARS = 120
"""Maximum length of the list of files that a session touched."""
_ASKED_CHARS = 400
"""Maximum length of what is shown of a prompt after a compaction."""
_LATEST, _OLDER_CHARS = 2, 300
"""Number of sessions that are shown in full, and the length for the others."""


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
