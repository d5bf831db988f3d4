"""Solved: finds fixes: a check that failed, the edits after it, and the same check succeeding; looked up by error."""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from functools import cache, partial
from itertools import chain, islice
from weakref import proxy

from mdmem import timestamps
from mdmem.agents import aliases
from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple
from mdmem.search import runs
from mdmem.search.all_but import AllBut
from mdmem.search.text import errors
from mdmem.vault import journal, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Set

    from mdmem.config import Config
    from mdmem.search.index.view import View

LIKE = 0.6
"""Share of words that two errors must have in common if their signatures differ."""
MAX_DIFF_CHARS = 1_500
MAX_EDITS = 8
NEXT_SECONDS = 7 * 86_400
"""A check that still fails at the end of its session may be solved in a session that follows within this time."""
_NEXT_RUNS = 500
_LINES_CHARS = 8_000
"""Length of the end of an output in which each line is compared with an error if no line has an error's form."""
_FENCE = lazy(r"(?ms)^(`{3,})diff\n(.*?)^\1$")


class Fix(NamedTuple):
    """What solved an error.

    id, path: the failed run. command: what failed. error: the line that says how. solved: the id of the run that
    succeeded. edits: ids of the edits in between, or of the runs that helped if nothing was changed. files: the changed
    files. diff: the changes, cut to MAX_DIFF_CHARS. likeness: similarity of the error to the one searched for, 1 for
    equal. Where nothing was changed, diff has the commands that helped.
    """

    id: str
    path: str
    project: str
    session: str
    created: str
    command: str
    error: str
    solved: str
    edits: list[str]
    files: list[str]
    diff: str
    likeness: float = 1.0


class _Solution(NamedTuple):
    """A failed run, the edits or runs that helped, and the run that succeeded, by note number."""

    failed: int
    edits: list[int]
    solved: int


def edits(view: View, among: Container[int] | None = None) -> set[int]:
    """Return the notes of successful tool runs that changed files. among: only these notes (None: all)."""
    return set(each_edit(view, among))


def each_edit(view: View, among: Container[int] | None = None) -> Iterator[int]:
    """Yield the notes of `edits` without building a set, which may hold a sixth of all notes."""
    failed = view.notes("facet", "is:failed")
    for term in view.terms("facet", "tool:"):
        if aliases.changes_files(term[5:]):
            for number in view.each("facet", term):
                if number not in failed and (among is None or number in among):
                    yield number


class Finder:
    """The runs and edits of a vault, session by session, in the order in which they happened.

    among: consider only these notes (None: all except internal memories). by_runs: if nothing was changed before a
    command succeeded, count other runs in between, or different arguments, as the fix.
    """

    def __init__(self, config: Config, view: View, among: Set[int] | None = None, *, by_runs: bool = False) -> None:
        self._config, self._view, self._by_runs = config, view, by_runs
        self._notes = AllBut(view, view.internal) if among is None else among
        self._failed = view.notes("facet", "is:failed")
        self._shells = view.with_any(f"tool:{name}" for name in runs.SHELLS) & self._notes
        self._edits = edits(view)
        # Each run is compared with many others. A cache that refers to the finder itself would keep it, and its view,
        # until the garbage collector runs.
        me: Finder = proxy(self)
        self._command = cache(lambda number: runs.check(me._line(number)))
        self._runs = cache(lambda number: runs.checks(me._line(number)))
        self._signatures = cache(lambda number: errors.signatures(me._body(number)))
        self._failed_parts = cache(lambda number: errors.failed_parts(me._body(number)[-_LINES_CHARS:]))
        self._runs_of_project = cache(partial(Finder._find_runs_of_project, me))
        self._in_order = cache(partial(Finder._find_in_order, me))
        self._ended = cache(partial(Finder._find_end, me))
        self._own_and_next = cache(partial(Finder._find_own_and_next, me))
        self._succeeded_in = cache(partial(Finder._find_succeeded, me))

    def find(self, signatures: list[str], similar_paths: list[str], limit: int) -> list[Fix]:
        """Return the fixes of errors with these signatures, or of similar errors in the notes at `similar_paths`."""
        view = self._view
        created = view.numbers("created")
        same = view.with_any(errors.facet(signature) for signature in signatures)
        similar = {number for path in similar_paths if (number := view.find(path)) is not None}
        chosen = (same | similar if signatures else self._failed) & self._shells & self._failed
        fixes: list[tuple[Fix, _Solution]] = []
        known_fixes: set[tuple[str, ...]] = set()
        sure = 0
        solutions = map(self._solution, sorted(chosen, key=lambda n: (n not in same, -created[n])))
        for solution in filter(None, solutions):
            fix = self._fix(solution, signatures)
            same_fix = (fix.solved, fix.command, errors.normalized(fix.error))
            if same_fix in known_fixes or (signatures and fix.likeness < LIKE):
                continue
            known_fixes.add(same_fix)
            fixes.append((fix, solution))
            sure += fix.likeness == 1
            if sure == limit:
                break  # the others are older
        fixes.sort(key=lambda found: (-found[0].likeness, -timestamps.epoch(found[0].created)))
        return [self._with_diff(fix, solution) for fix, solution in fixes[:limit]]

    def around(self, notes: set[int], limit: int) -> list[Fix]:
        """Return the latest fixes whose failed run, edits or final run include one of these notes."""
        view = self._view
        created = view.numbers("created")
        folders = {view.folder_of[number] for number in notes}
        failed = [note for note in self._failed & self._shells if view.folder_of[note] in folders]
        fixes: dict[tuple[str, str], Fix] = {}
        for number in sorted(failed, key=created.__getitem__, reverse=True):
            solution = self._solution(number)
            if solution and not notes.isdisjoint((solution.failed, *solution.edits, solution.solved)):
                fix = self._fix(solution, [])
                if (fix.solved, fix.command) not in fixes:
                    fixes[fix.solved, fix.command] = self._with_diff(fix, solution)
            if len(fixes) == limit:
                break
        return list(fixes.values())

    def of_run(self, failed: int) -> Fix | None:
        """Return what solved a failed run, without its diff; None if nothing did."""
        solution = self._solution(failed) if failed in self._shells else None
        return self._fix(solution, []) if solution else None

    def is_closed(self, failed: int) -> bool:
        """Whether a failed check succeeded later, in its session or the next one that runs it again."""
        command = self._check(failed)
        later = chain(self._later_in_session(failed), self._next_session(failed, command)) if command else ()
        passed = (number for number in later if number in self._shells and number not in self._failed)
        return command is not None and any(self._proves(number, command, failed) for number in passed)

    def _proves(self, number: int, command: runs.CommandRun, failed: int) -> bool:
        """Whether the success of a run shows that what failed now works."""
        return self._closes(number, command) or self._shows(number, command, failed)

    def _check(self, failed: int) -> runs.CommandRun | None:
        """Return what shows that a failed run now works: the check that it ran, or else the same line."""
        return self._command(failed) or runs.verbatim(self._line(failed))

    def _is_repeated(self, failed: int) -> bool:
        """Whether the line of a failed run succeeded in its session or the next ones; most, as of `curl`, do not."""
        line = self._line(failed)
        sessions = self._own_and_next(self._view.folder_of[failed], self._project(failed))
        return any(line in self._succeeded_in(folder) for folder in sessions)

    def _find_own_and_next(self, own: int, project: str) -> list[int]:
        """Return a session and the next ones of its project."""
        following = self._following(own, project)
        return list(dict.fromkeys([own, *(self._view.folder_of[number] for _, number in following)]))

    def _find_succeeded(self, folder: int) -> frozenset[str]:
        """Return the lines of a session that succeeded."""
        passed = (number for _, number in self._in_order(folder) if number not in self._failed)
        return frozenset(self._line(number) for number in passed if number in self._shells)

    def _closes(self, number: int, failed: runs.CommandRun) -> bool:
        """Whether a part of a run is the failed check again, or covers it."""
        return failed.family == self._line(number) or any(runs.closes(run, failed) for run in self._runs(number))

    def _shows(self, number: int, command: runs.CommandRun, failed: int) -> bool:
        """Whether a run is the failed check for all parts of it that failed, as `pytest tests/test_a.py`."""
        narrower = [run for run in self._runs(number) if run.family == command.family and run.arguments]
        if not narrower or command.arguments:
            return False
        return any(_covers_all(self._failed_parts(failed), run.arguments) for run in narrower)

    def _line(self, number: int) -> str:
        return runs.line(str(self._view.facts(number)["title"]))

    def _solution(self, failed: int) -> _Solution | None:
        """Return the chain from a failed run to its success; None if it never succeeded or nothing was changed."""
        command = self._check(failed)
        if command is None or (self._command(failed) is None and not self._is_repeated(failed)):
            return None
        edits: list[int] = []
        other_runs: list[int] = []
        is_same_failure = True
        for number in chain(self._later_in_session(failed), self._next_session(failed, command)):
            has_passed = number not in self._failed
            if number in self._edits:
                edits += [number] if is_same_failure else []
                continue
            if has_passed and self._proves(number, command, failed):
                is_explained = edits or (self._by_runs and (other_runs or self._line(number) != self._line(failed)))
                return _Solution(failed, edits or other_runs, number) if is_explained else None
            if has_passed and self._may_help(number, command):
                other_runs.append(number)
            if is_same_failure and edits and self._command(number) == command:
                # once it fails differently, later edits solve that
                is_same_failure = not set(self._signatures(failed)).isdisjoint(self._signatures(number))
        return None

    def _may_help(self, number: int, failed: runs.CommandRun) -> bool:
        """Whether a run may be what made a failed check succeed: another check, or a command that sets something."""
        run = self._command(number)
        return run.family != failed.family if run else self._by_runs and runs.sets(self._line(number))

    def _later_in_session(self, number: int) -> Iterator[int]:
        """Yield the later runs and edits of the same session, in order."""
        own = journal.numbers(self._view.name(number))
        in_order = self._in_order(self._view.folder_of[number])
        first = bisect_right(in_order, own, key=lambda place: place[0])
        return (note for _, note in islice(in_order, first, None))

    def _find_in_order(self, folder: int) -> list[tuple[tuple[int, ...], int]]:
        """Return a session's runs and edits in order, each with its position."""
        chosen = (note for note in self._view.members[folder] if note in self._notes)
        runs_and_edits = (note for note in chosen if note in self._shells or note in self._edits)
        places = ((journal.numbers(self._view.name(note)), note) for note in runs_and_edits)
        return sorted(place for place in places if place[0])

    def _next_session(self, failed: int, command: runs.CommandRun) -> Iterator[int]:
        """Yield the notes of the project's next session that runs the check again.

        None if a session before it changed files and ran the check for another part: that may have solved it.
        """
        view = self._view
        created = view.numbers("created")
        own = view.folder_of[failed]
        for created_at, number in self._following(own, self._project(failed)):
            folder = view.folder_of[number]
            if created_at > created[failed] + NEXT_SECONDS:
                return
            if folder == own or not self._is_of_family(number, command):
                continue
            if self._proves(number, command, failed):
                yield from (note for _, note in self._in_order(folder))
                return
            if any(note in self._edits for _, note in self._in_order(folder)):
                return

    def _is_of_family(self, number: int, command: runs.CommandRun) -> bool:
        return command.family == self._line(number) or any(run.family == command.family for run in self._runs(number))

    def _following(self, folder: int, project: str) -> list[tuple[int, int]]:
        """Return the project's runs after the end of a session with their times, in order, at most _NEXT_RUNS."""
        in_time = self._runs_of_project(project)
        first = bisect_right(in_time, (self._ended(folder), self._view.size))
        return in_time[first : first + _NEXT_RUNS]

    def _find_end(self, folder: int) -> int:
        return max(map(self._view.numbers("created").__getitem__, self._view.members[folder]))

    def _find_runs_of_project(self, project: str) -> list[tuple[int, int]]:
        """Return a project's runs with their times, in order."""
        created = self._view.numbers("created")
        return sorted((created[number], number) for number in self._shells & self._view.of_project(project))

    def _project(self, number: int) -> str:
        return str(self._view.facts(number).get("project", ""))

    def _body(self, number: int) -> str:
        return people.load_clean(self._config.vault, self._view.path(number)).body

    def _fix(self, solution: _Solution, signatures: list[str]) -> Fix:
        """Return a fix without its diff, for which the edits are read."""
        view = self._view
        facts = view.facts(solution.failed)
        parsed = people.load_clean(self._config.vault, view.path(solution.failed))
        lines = _by_signature(errors.telling(parsed.body))
        own_signatures = errors.signatures(parsed.body)
        best = _likest(signatures, (*own_signatures, *lines)) if signatures else (1.0, "")
        if signatures and best[0] < LIKE:  # linkers and simulators print errors in lines that no word marks as one
            succeeded = _by_signature(_printed(self._body(solution.solved)))
            lines = _by_signature(_printed(parsed.body))
            unlike = [line for line in lines if line not in succeeded]
            best = max(best, _likest([one for one in signatures if not errors.is_common(one)], unlike))
        error = lines.get(best[1]) or lines.get(own_signatures[0] if own_signatures else "") or parsed.fact("error")
        edits = solution.edits[-MAX_EDITS:]
        files = dict.fromkeys(str(file) for number in edits for file in view.facts(number).get("files", []))
        return Fix(
            id=str(facts["id"]),
            path=view.path(solution.failed),
            project=str(facts.get("project", "")),
            session=str(facts.get("session", "")),
            created=timestamps.iso_time(view.number("created", solution.failed)),
            command=self._line(solution.failed),
            error=error[:300],
            solved=str(view.facts(solution.solved)["id"]),
            edits=[str(view.facts(number)["id"]) for number in edits],
            files=list(files),
            diff="",
            likeness=round(best[0], 2),
        )

    def _with_diff(self, fix: Fix, solution: _Solution) -> Fix:
        """Add the diffs of the edits, or the commands that helped, cut to MAX_DIFF_CHARS."""
        parts = []
        for number in solution.edits[-MAX_EDITS:] or [solution.solved]:
            if number not in self._edits:
                parts.append(f"$ {self._line(number)}")
            parts += [fence[2].strip("\n") for fence in _FENCE.finditer(self._body(number))]
        text = "\n".join(parts)
        is_short = len(text) <= MAX_DIFF_CHARS
        return fix._replace(diff=text if is_short else text[:MAX_DIFF_CHARS].rpartition("\n")[0] + "\n…")


def _printed(body: str) -> list[str]:
    """Return the lines of a run's output at its end, without the command."""
    lines = body.partition("\n## ")[2][-_LINES_CHARS:].splitlines()[1:]
    return [line for line in lines if not line.startswith(("## ", "```"))]


def _by_signature(lines: Iterable[str]) -> dict[str, str]:
    by_signature: dict[str, str] = {}
    for line in lines:
        by_signature.setdefault(errors.normalized(line), line.strip())
    return by_signature


def _likest(sought: list[str], known: Iterable[str]) -> tuple[float, str]:
    """Return the known signature most like a sought one, after its likeness."""
    pairs = ((errors.likeness(one, other), other) for other in known for one in sought)
    return max(pairs, default=(0.0, ""))


def last_unsolved(config: Config, view: View, error: str, among: Set[int] | None) -> int | None:
    """Return the latest run that failed with an error and did not succeed since, or None. among: as for `of_error`."""
    failed = view.with_any(errors.facet(signature) for signature in errors.signatures(error))
    seen = failed if among is None else failed & among
    last = max(seen, key=view.numbers("created").__getitem__, default=None)
    if last is None or Finder(config, view, among).is_closed(last):
        return None
    parsed = people.load_clean(config.vault, view.path(last))
    return None if _is_elsewhere(error, parsed.fact("error"), errors.places(parsed.body)) else last


def of_error(config: Config, view: View, error: str, among: Set[int] | None) -> Fix | None:
    """Return the latest fix of an error, or None; an unseen error costs one look-up in the index.

    Where the message names nothing, as `list index out of range`, what was changed at another place is none.

    among: the notes that may be shown (None: all).
    """
    signatures = errors.signatures(error)
    failed = view.with_any(errors.facet(signature) for signature in signatures)
    if not (failed if among is None else failed & among):
        return None
    finder = Finder(config, view, among, by_runs=True)
    for limit in (1, _MOST_ELSEWHERE):
        fixes = finder.find(signatures, [], limit)
        here = (fix for fix in fixes if not _is_elsewhere(error, fix.error, _changed_at(config, fix)))
        if (found := next(here, None)) is not None or len(fixes) < limit:
            return found
    return None


def _covers_all(parts: list[str], targets: Iterable[str]) -> bool:
    """Whether each target is named among the failed parts, and each part by a target."""
    named = all(any(target in part for part in parts) for target in targets)
    return named and all(any(target in part for target in targets) for part in parts)


_MOST_ELSEWHERE = 5
"""Number of the latest fixes among which one is looked for that is about the place of an error."""


def _changed_at(config: Config, fix: Fix) -> list[tuple[str, int]]:
    """Return the places in the output of a failed run that were then changed."""
    changed = set(map(posixpath.basename, fix.files))
    places = errors.places(people.load_clean(config.vault, fix.path).body[:_LINES_CHARS]) if changed else []
    return [place for place in places if posixpath.basename(place[0]) in changed]


def _is_elsewhere(error: str, known: str, places: list[tuple[str, int]]) -> bool:
    """Whether an error is another one than one with the same message: it names nothing, and is in other files."""
    if not places or errors.names_something(known):
        return False
    files = {posixpath.basename(name) for name, _ in errors.places(error)}
    files.difference_update(posixpath.basename(name) for name, _ in errors.places(known))  # maybe a host and port
    return bool(files) and files.isdisjoint(posixpath.basename(name) for name, _ in places)
