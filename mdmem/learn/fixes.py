"""Fixes: a check that failed, the edits after it, the same check succeeding; found again by the error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mdmem.capture.tools import aliases
from mdmem.learn import asking, runs
from mdmem.learn.work import SHELLS
from mdmem.search import engine
from mdmem.search.text import errors
from mdmem.vault import disk, journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.search.index.view import View

LIKE = 0.6
"""So much of two errors' words must be the same where their signatures differ."""
MAX_DIFF_CHARS = 1_500
MAX_EDITS = 8
_NEAR = 40
_FENCE = re.compile(r"^(`{3,})diff\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


class Fix(NamedTuple):
    """What solved an error.

    id, path: the run that failed. command: what failed. error: the line that says how. solved: the id of the run that
    succeeded. edits: ids of the edits in between. files: what they changed. diff: what they changed, bounded.
    likeness: how alike the error is to the one asked for, 1 for the same.
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


class _Chain(NamedTuple):
    """Notes of a session by their numbers: a failed run, the edits until it ran again, and the run that succeeded."""

    failed: int
    edits: list[int]
    solved: int


def fixes(config: Config, error: str = "", *, project: str = "", limit: int = 5, update: bool = True) -> list[Fix]:
    """Return what solved an error before, the same error first, then the latest; without one, the latest fixes.

    error: an output, or one line of it. project: only of this one; "" is all.
    """
    if update:
        engine.bring_up_to_date(config)
    wanted = errors.signatures(error) or [
        line for line in (errors.normalised(one) for one in error.splitlines()) if line
    ]
    if error.strip() and not wanted:
        return []
    near = _near(config, error) if wanted else []
    return asking.ask(config, lambda view: _Finder(config, view, project).find(wanted, near, limit), update=False)


def _near(config: Config, error: str) -> list[str]:
    """Return the paths of failed runs that have words of an error."""
    words = " ".join(re.findall(r"\w+", "\n".join(list(errors.telling(error))[:5]) or error[:500]))
    found = engine.search(config, words, limit=_NEAR, collapse=False, update=False, state="failed")
    return [hit.path for hit in found.hits]


def changing(view: View) -> set[int]:
    """Return the notes of tool runs that changed files."""
    terms = view.starting_with("facet", "tool:")
    found = (view.notes("facet", term) for term in terms if aliases.changes_files(term[5:]))
    return set[int]().union(*found) - view.notes("facet", "is:failed")


class _Finder:
    """The runs and edits of a vault, session by session, in the order in which they happened."""

    def __init__(self, config: Config, view: View, project: str) -> None:
        self._config, self._view = config, view
        notes = set(view.all) - view.notes("facet", "is:internal")
        self._notes = notes & view.notes("facet", f"project:{project}".lower()) if project else notes
        self._failed = view.notes("facet", "is:failed")
        self._shells = set[int]().union(*(view.notes("facet", f"tool:{name}") for name in SHELLS)) & self._notes
        self._edits = changing(view)

    def find(self, wanted: list[str], near: list[str], limit: int) -> list[Fix]:
        """Return the fixes of the errors with these signatures, or of those like them among the notes `near`."""
        view = self._view
        created = view.numbers("created")
        same = set[int]().union(*(view.notes("facet", errors.facet(one)) for one in wanted))
        alike = {number for path in near if (number := view.find(path)) is not None}
        chosen = (same | alike if wanted else self._failed) & self._shells & self._failed
        found: list[Fix] = []
        seen: set[tuple[str, ...]] = set()
        for number in sorted(chosen, key=lambda n: (n not in same, -created[n])):
            chain = self._chain(number)
            fix = self._fix(chain, wanted) if chain else None
            same_fix = (fix.solved, fix.command, errors.normalised(fix.error)) if fix else ()
            if fix and same_fix not in seen and (not wanted or fix.likeness >= LIKE):
                seen.add(same_fix)
                found.append(fix)
            if not wanted and len(found) == limit:
                break
        return sorted(found, key=lambda fix: (-fix.likeness, -disk.epoch(fix.created)))[:limit]

    def _command(self, number: int) -> runs.CommandRun | None:
        return runs.check(runs.line(str(self._view.facts(number)["title"])))

    def _chain(self, failed: int) -> _Chain | None:
        """Return what came after a failed run until it succeeded; None when it never did, or without an edit."""
        command = self._command(failed)
        if command is None:
            return None
        edits: list[int] = []
        open_ = True
        for number in self._after(failed):
            if number in self._edits and open_:
                edits.append(number)
            elif number in self._shells and (again := self._command(number)) is not None:
                if number not in self._failed and runs.closes(again, command):
                    return _Chain(failed, edits, number) if edits else None
                if again == command and edits and not self._same_error(failed, number):
                    open_ = False  # it fails in another way from here on: what comes next solves that
        return None

    def _after(self, number: int) -> Iterator[int]:
        """Return the notes of the same session behind one, in their order."""
        view = self._view
        place = journal.numbers(view.name(number))
        members = [(journal.numbers(view.name(one)), one) for one in view.members[view.folder_of[number]]]
        return (one for at, one in sorted(members) if at and at > place and one in self._notes)

    def _same_error(self, one: int, other: int) -> bool:
        return not set(self._signatures(one)).isdisjoint(self._signatures(other))

    def _signatures(self, number: int) -> list[str]:
        return errors.signatures(asking.read(self._config, self._view.path(number)).body)

    def _fix(self, chain: _Chain, wanted: list[str]) -> Fix:
        view = self._view
        facts = view.facts(chain.failed)
        parsed = asking.read(self._config, view.path(chain.failed))
        lines = {errors.normalised(line): line for line in errors.telling(parsed.body)}
        has = errors.signatures(parsed.body)
        best = max(((errors.likeness(a, b), b) for a in wanted for b in has), default=(1.0 if not wanted else 0.0, ""))
        first = lines.get(best[1]) or lines.get(has[0] if has else "") or str(parsed.meta.get("error", ""))
        edits = chain.edits[-MAX_EDITS:]
        files = dict.fromkeys(str(file) for number in edits for file in view.facts(number).get("files", []))
        return Fix(
            id=str(facts["id"]),
            path=view.path(chain.failed),
            project=str(facts.get("project", "")),
            session=str(facts.get("session", "")),
            created=disk.iso_time(view.number("created", chain.failed)),
            command=runs.line(str(facts["title"])),
            error=first[:300],
            solved=str(view.facts(chain.solved)["id"]),
            edits=[str(view.facts(number)["id"]) for number in edits],
            files=list(files),
            diff=self._diff(edits),
            likeness=round(best[0], 2),
        )

    def _diff(self, edits: list[int]) -> str:
        """Return what the edits changed, as much as there is room for."""
        parts = []
        for number in edits:
            body = asking.read(self._config, self._view.path(number)).body
            parts += [found[2].strip("\n") for found in _FENCE.finditer(body)]
        text = "\n".join(parts)
        return text if len(text) <= MAX_DIFF_CHARS else text[:MAX_DIFF_CHARS].rpartition("\n")[0] + "\n…"
