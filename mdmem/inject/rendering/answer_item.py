"""Answer item: renders a turn, or a note outside sessions, as an answer: what was asked, how it ended, what changed."""

from __future__ import annotations

import os
from itertools import islice

from mdmem import timestamps
from mdmem.inject import eligibility, recent, session_folder, turns
from mdmem.inject.rendering import diffs, excerpts
from mdmem.inject.rendering.block import MAX_TITLE_CHARS, Item, paths_within
from mdmem.search import answering, replaced, turn_groups
from mdmem.search.asking import failures, small_talk
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.values import Value
from mdmem.vault import journal, layout, note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mdmem.inject.occasion import Occasion
    from mdmem.inject.rendering.diffs import ExcerptHunk
    from mdmem.inject.session_folder import SessionFolder
    from mdmem.search.answering import Answer
    from mdmem.search.hits import SearchHit
    from mdmem.vault.note import Parsed

MAX_BETWEEN = 2
"""Maximum number of commands shown between the failed and the successful one."""
MAX_BEFORE = 5
"""Maximum number of earlier prompts that are read for one that says what was asked."""
MIN_CHARS_OF_CODE = 100
"""With less room than this after its words, an entry about a file has no code."""
MIN_CHARS_OF_RUNS = 250
"""With less room than this, only changes are shown, not the failures before them."""
MAX_ASKED_CHARS = 160
"""Maximum length of what is shown of a prompt beside its title: a longer sentence was pasted."""
MATTER_CHARS = 2_000
"""How much of a prompt and of an answer is compared to tell whether two turns are about the same."""
FILES_CHARS = 88
"""Maximum length of a list of files in a remark."""
MAX_FILE_BYTES = 1024 * 1024
"""Larger files are not compared with their remembered content."""
ABOVE = "given above: "
"""Why an answer that the session was given already is not shown; the mark after it is that of the note then cited."""


class TurnRun(Value):
    """A command of a turn, with its note's text. error: the line that says how it failed, as far as its note tells."""

    command: str
    title: str
    failed: bool
    body: str
    error: str = ""

    def count(self, terms: Collection[str]) -> int:
        """Return how many of the terms are in the command or the agent's description of it."""
        words = f"{self.command} {self.title}".lower()
        return sum(term in words for term in terms)


class Turn:
    """One turn on disk: the names of its notes, and its session."""

    def __init__(self, session: SessionFolder, number: int) -> None:
        self.session = session
        self.names = session.of_turn(number)

    def of_kind(self, kind: str) -> str:
        """Return the last note of a kind, or ""."""
        return next((name for name in reversed(self.names) if turn_groups.source(name) == kind), "")

    def asked_before(self) -> str:
        """Return the last earlier prompt of the session that says more than `continue`, or ""."""
        earlier = (name for name in reversed(self.session.of_kind("prompt")) if name < self.names[0])
        titles = (self.session.read(name).fact("title") for name in islice(earlier, MAX_BEFORE))
        return next((title for title in titles if not small_talk.says_little(title)), "")

    def matter(self) -> frozenset[str]:
        """Return what the turn is about: the terms of its prompt and answer, and the files that it changed."""
        told = [self.session.read(name) for name in (self.of_kind("prompt"), self.of_kind("response")) if name]
        said = turns.own_words(" ".join(parsed.body[:MATTER_CHARS] for parsed in told))
        return frozenset([*analysis.query_terms(" ".join(said)), *self.session.changed_files(self.names)])

    def hunks(self) -> list[ExcerptHunk]:
        """Return the turn's changes, in order, without those that it took back."""
        hunks: list[ExcerptHunk] = []
        for name in session_folder.last_edits(self.names):
            parsed = self.session.read(name)
            if parsed.meta.get("success") is not False:
                hunks += hunks_of(parsed)
        return diffs.kept(hunks)

    def runs(self) -> Iterator[TurnRun]:
        """Yield the turn's commands, in order."""
        for name in session_folder.last_commands(self.names):
            parsed = self.session.read(name)
            title = parsed.fact("title")
            command = str(parsed.meta.get("command") or title).partition("\n")[0]
            error = str(parsed.meta.get("error") or "")
            yield TurnRun(command, title, parsed.meta.get("success") is False, parsed.body, error)


def hunks_of(parsed: Parsed) -> list[ExcerptHunk]:
    """Return the changes in an edit's note."""
    files = parsed.meta.get("files")
    return diffs.hunks(parsed.body, str(files[0]) if isinstance(files, list) and files else "")


def of(occasion: Occasion, answer: Answer, terms: Collection[str], room: int) -> tuple[Item | None, str]:
    """Return an answer's entry of about `room` characters, or None and the reason. terms: the question's terms."""
    if not answer.folder:
        return of_note(occasion, answer.hits[0], terms, room)
    page = next((hit for hit in answer.hits if hit.kind == "session"), None)
    if page is not None and answering.is_written_on(occasion.config, page, frozenset(terms)):
        return of_note(occasion, page, terms, room)
    hit = next((hit for hit in answer.hits if journal.numbers(hit.path)), answer.hits[0])
    return of_turn(occasion, hit, terms, room)


def of_note(occasion: Occasion, hit: SearchHit, terms: Collection[str], room: int) -> tuple[Item | None, str]:
    """Return the entry of a note outside sessions, or None and the reason."""
    if hit.id in occasion.given:
        return None, f"{ABOVE}[mem:{hit.id}]"
    parsed = people.load_clean(occasion.config.vault, hit.path)
    if reason := left_out(occasion, hit, parsed, occasion.event.agent):
        return None, reason
    if newer := replaced.newer(occasion.config, hit.path):
        return None, f"superseded by [mem:{newer}]"
    words = people.on_page(occasion.config.vault, parsed) if hit.kind in note.PAGES else parsed.body
    body = occasion.gate.stored(excerpts.unlinked(words))
    code = [line for _, lines in excerpts.fences(body) for line in lines if line.strip()]
    if is_long := len(body) > room:
        code = [line for line in code if not analysis.counts(line).keys().isdisjoint(terms)]
    text = excerpts.outcome(body, terms, room) if is_long else excerpts.prose(body)
    title = str(parsed.meta.get("title") or hit.title)
    if hit.kind == "session":
        title = session_folder.session_in(occasion, layout.folder_of(hit.path)).page.fact("title") or title
    return item_of(occasion, hit, title, text, room=room, marks=project_marks(occasion, hit), lines=code), ""


def left_out(occasion: Occasion, hit: SearchHit, parsed: Parsed, agent: str = "") -> str:
    """Return why a note is not shown in this project, or "". agent: one that loads some files of the project itself."""
    is_own = occasion.is_of(hit.project)
    if not is_own and people.stays_here(parsed.meta):
        return STAYS
    return eligibility.left_out(parsed, agent if is_own or not hit.project else "")


def project_marks(occasion: Occasion, hit: SearchHit) -> list[str]:
    """Return the remark that a note is of another project; [] for one of this project or of none."""
    return [] if not hit.project or occasion.is_of(hit.project) else [f"of another project: {hit.project}"]


STAYS = "not this project's, and stays on this machine"


def end_of_session(occasion: Occasion, answer: Answer) -> Item | None:
    """Return how the session of an answer ended; None if with this answer, with something else, or not yet."""
    found = next((journal.numbers(hit.path)[0] for hit in answer.hits if journal.numbers(hit.path)), 0)
    if not answer.folder or not found or answer.folder == "/".join(occasion.record.folder):
        return None
    session = session_folder.session_in(occasion, answer.folder)
    turn, last = Turn(session, found), Turn(session, session.last_turn())
    prompt, told = last.of_kind("prompt"), session.telling_answer()
    if prompt and told and small_talk.says_little(session.read(prompt).fact("title")):
        last = Turn(session, journal.numbers(told)[0])  # before the thanks
    if last.names == turn.names or last.matter().isdisjoint(turn.matter()):
        return None
    return recent.session_item(session)


def of_prompt(occasion: Occasion, hit: SearchHit, terms: Collection[str], room: int) -> tuple[Item | None, str]:
    """Return the entry of a prompt's turn, with the prompt's own words if they are more than its title."""
    item, reason = of_turn(occasion, hit, terms, room)
    prompt = people.load_clean(occasion.config.vault, hit.path)
    if item is not None and len(prompt.body) > MAX_TITLE_CHARS and not left_out(occasion, hit, prompt):
        item.text, item.lines = excerpts.outcome(occasion.gate.stored(prompt.body), terms, room), ()
    return item, reason


def of_turn(
    occasion: Occasion, hit: SearchHit, terms: Collection[str], room: int, file: str = ""
) -> tuple[Item | None, str]:
    """Return the entry of a note's turn. file: the one it is wanted for: its changes are shown, if there are any."""
    session = session_folder.session_in(occasion, layout.folder_of(hit.path))
    turn = Turn(session, next(iter(journal.numbers(hit.path)), session.last_turn()))
    prompt, response = turn.of_kind("prompt"), turn.of_kind("response")
    told = response or prompt
    telling = session.read(told) if told else people.load_clean(occasion.config.vault, hit.path)
    note_id = str(telling.meta.get("id") or hit.id)
    if note_id in occasion.given:
        return None, f"{ABOVE}[mem:{note_id}]"
    if reason := left_out(occasion, hit, telling):
        return None, reason
    asking = session.read(prompt) if prompt else telling
    asked = _asked(occasion, asking, telling, terms) if response and len(asking.body) > MAX_TITLE_CHARS else ""
    outcome = "No answer is stored."
    if response:
        outcome = excerpts.outcome(occasion.gate.stored(telling.body), terms, room // 2 - len(asked))
    if asked:
        outcome = f"Asked: {asked} Answered: {outcome}"
    changes = turn.hunks()
    hunks_shown = [hunk for hunk in changes if hunk.file == file] or changes
    has_room = room - len(outcome) >= MIN_CHARS_OF_CODE
    has_code = not file or (has_room and bool(changes or any(run.failed for run in turn.runs())))
    lines = list(_lines(turn, hit, hunks_shown, terms, room * 3 // 5, file)) if has_code else []
    marks = list(_marks(occasion, hit, changes, file))
    # The note that was found may be one that is not shown.
    title = str(asking.meta.get("title") or telling.meta.get("title") or (hit.title if hit.id == note_id else ""))
    if small_talk.says_little(title):
        title = turn.asked_before() or title
    item = item_of(occasion, hit, title, outcome, room=room, marks=marks, lines=lines)
    item.id, item.date = note_id, timestamps.readable(str(asking.meta.get("created") or hit.created))[:10]
    item.kind = "session"
    return item, ""


def _asked(occasion: Occasion, asking: Parsed, telling: Parsed, terms: Collection[str]) -> str:
    """Return the sentence of a long prompt with more of the terms than its title and each of its answer's, or ""."""
    wanted = frozenset(terms) - STOPWORDS

    def count(sentence: str) -> int:
        return len(wanted & analysis.counts(sentence).keys())

    title = str(asking.meta.get("title") or "")
    sentences = excerpts.sentences(occasion.gate.stored(asking.body))
    said = [sentence for _, sentence in sentences if len(sentence) <= MAX_ASKED_CHARS]
    told = [title, *(sentence for _, sentence in excerpts.sentences(telling.body))]
    best = max(said, key=count, default="")
    is_new = best[:MAX_TITLE_CHARS].strip() not in title and count(best) > max(map(count, told))
    return best if is_new else ""


def item_of(
    occasion: Occasion,
    hit: SearchHit,
    title: str,
    text: str,
    *,
    room: int,
    marks: Iterable[str] = (),
    lines: Sequence[str] = (),
) -> Item:
    """Return an entry of a note with a cleaned text. marks: remarks. lines: code below the text."""
    return Item(
        id=hit.id,
        kind=hit.kind,
        title=occasion.gate.stored(title),
        date=timestamps.readable(hit.created)[:10],
        text=text,
        lines=tuple(occasion.gate.stored("\n".join(lines)).split("\n")) if lines else (),
        marks=tuple(occasion.gate.stored(mark) for mark in marks),
        room=room,
    )


def _lines(
    turn: Turn, hit: SearchHit, changes: list[ExcerptHunk], terms: Collection[str], chars: int, file: str
) -> Iterator[str]:
    """Yield the failed run and the one that then succeeded, the relevant changes, or the run that was found.

    file: the one that is wanted, if any: its changes get at least half of the room.
    """
    runs = list(_runs(turn, bool(changes), terms)) if chars >= MIN_CHARS_OF_RUNS or not changes else []
    if file and changes and sum(len(line) + 5 for line in runs) > chars // 2:
        runs = []
    for line in runs:
        chars -= len(line) + 5
        yield line
    lines = list(diffs.best_lines(changes, terms, chars))
    yield from lines
    is_shown = hit.kind == "observation" and bool(turn.session.read(layout.split(hit.path)[1]).meta)
    if is_shown and not lines and not runs:
        yield f"$ {hit.title}"
        yield from [hit.snippet[start : start + 150] for start in range(0, min(len(hit.snippet), 450), 150)]


def _runs(turn: Turn, has_changes: bool, terms: Collection[str]) -> Iterator[str]:
    """Yield the run that failed last, the one that then succeeded, and the run with the question's words.

    If no file was changed, the runs in between are what helped, and the last run is what was done.
    """
    runs = list(turn.runs())
    failed = max((at for at, run in enumerate(runs) if run.failed), default=-1)
    next_at = failed + 1
    if failed >= 0:
        next_at += _index_of_repetition(runs[failed].command, [run.command for run in runs[next_at:]])
        yield from _run(runs[failed], 2)
        for run in () if has_changes else runs[failed + 1 : next_at][-MAX_BETWEEN:]:
            yield from _run(run, 0)
        for run in runs[next_at : next_at + 1]:
            yield from _run(run, 1, "  (then succeeded)")
        next_at += 1
    succeeded = [run for run in [*runs[: max(failed, 0)], *runs[next_at:]] if not run.failed]
    matching = max(reversed(succeeded), key=lambda run: run.count(terms), default=None)
    if matching and not has_changes and failed < 0 and not matching.count(terms):
        matching = next((run for run in reversed(succeeded) if _is_work(run.command)), None)
        yield from _run(matching, 1) if matching else ()
    elif matching and matching.count(terms) >= (2 if has_changes else 1):
        yield from _run(matching, 1)


def _is_work(command: str) -> bool:
    """Whether a command does more than look around."""
    from mdmem.search import runs

    return runs.check(command) is not None


def _run(run: TurnRun, count: int, mark: str = "") -> Iterator[str]:
    """Yield a run with its last `count` lines of output, and the line that says why it failed."""
    yield f"$ {run.command[:120]}{mark}"
    printed = excerpts.printed(run.body) if count else []
    lines = printed[-count:]
    output = "\n".join(printed)
    why = failures.error_line(output) or run.error or failures.failure(output) if run.failed else ""
    if why not in "\n".join(lines):
        lines = [why, *lines[1:]]
    yield from (f"  {line.strip()[:150]}" for line in lines)


def _index_of_repetition(failed: str, later: list[str]) -> int:
    """Return the index of the later command that repeats the failed one, even reworded; `len(later)` if none does."""
    from mdmem.search import runs

    def program(command: str) -> str:
        return next(iter(runs.unwrapped(command.split())), "")

    failed_run = runs.check(failed)
    later_runs = [runs.check(command) for command in later]

    def is_of_the_same_kind(at: int) -> bool:
        run = later_runs[at]
        if run and failed_run:
            return run.family == failed_run.family
        return run is failed_run and program(later[at]) == program(failed)

    repeats = [at for at, run in enumerate(later_runs) if failed_run and run and runs.closes(run, failed_run)]
    return next(iter(repeats or filter(is_of_the_same_kind, range(len(later)))), len(later))


def _marks(occasion: Occasion, hit: SearchHit, changes: list[ExcerptHunk], file: str) -> Iterator[str]:
    """Yield remarks on a turn. file: the one it is wanted for: only this one is compared with what is there now."""
    yield from project_marks(occasion, hit)
    every = list(dict.fromkeys(hunk.file for hunk in changes if hunk.file))
    files = [name for name in every if not diffs.is_scratch(name)] or every
    others = [name for name in files if name != file]
    if others:
        yield f"{'also ' if file in every else ''}changed {paths_within(others, FILES_CHARS)}"
    if occasion.is_of(hit.project):
        later, missing = since(occasion.place.worktree, [hunk for hunk in changes if file in ("", hunk.file)])
        if later:
            yield "different by now" if file else f"different by now: {paths_within(later, FILES_CHARS)}"
        if missing:
            yield "no longer there" if file else f"no longer there: {paths_within(missing, FILES_CHARS)}"


def since(worktree: str, changes: Iterable[ExcerptHunk]) -> tuple[list[str], list[str]]:
    """Return the files that no longer contain what was last written to them, and those that are gone."""
    added: dict[str, set[str]] = {}
    for hunk in changes:
        added[hunk.file] = {line.strip() for line in hunk.added if line.strip()}
    later: list[str] = []
    missing: list[str] = []
    for name, lines in added.items():
        path = name if os.path.isabs(name) else os.path.join(worktree, name)
        if not name or not os.path.isdir(worktree):
            continue
        if not os.path.exists(path):
            missing.append(name)
        elif not _holds(path, lines):
            later.append(name)
    return later, missing


def _holds(path: str, lines: set[str]) -> bool:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError):
        return True
    if len(data) > MAX_FILE_BYTES:
        return True
    return lines <= {line.strip() for line in data.decode("utf-8", "replace").splitlines()}
