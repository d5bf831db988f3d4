"""The labelled set: pieces of work in `labelled.txt`, played through the hooks' own code, and what was found."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

from mdmem.learn import fixes, work
from tests.helpers.cli_day import Day
from tests.helpers.indexed import indexed
from tests.helpers.open_work import HOUR, Session, Work

FILE = Path(__file__).with_name("labelled.txt")


class Score(NamedTuple):
    """How many were found, how many of them rightly, how many there were, and which differ."""

    found: int
    right: int
    wanted: int
    wrong: list[tuple[str, ...]]
    missed: list[tuple[str, ...]]

    @property
    def precision(self) -> float:
        """The share of what was found that is right."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of what there is that was found."""
        return self.right / self.wanted if self.wanted else 1.0


def lines() -> list[str]:
    """Return the pieces of work."""
    return [line for line in FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]


def measure(day: Day, root: Path) -> dict[str, Score]:
    """Play all of them, each in a project of its own, and compare."""
    wanted: dict[str, set[tuple[str, ...]]] = {"open work": set(), "fixes": set()}
    names = itertools.count(1)
    at = Work(day, root)
    for number, line in enumerate(lines()):
        script, _, label = line.partition(" => ")
        at.cwd = str(root / f"case-{number:02d}")
        Path(at.cwd).mkdir()
        for session in script.split(" // "):
            _play(at.session(next(names)), session)
        for one in filter(None, label.split("; ")):
            _label(wanted, f"case-{number:02d}", one)
    config = day.config()
    open_: set[tuple[str, ...]] = {
        (item.project, item.kind, item.text) for item in work.open_work(indexed(config), now=at.now + HOUR)
    }
    fixed: set[tuple[str, ...]] = {
        (fix.project, fix.command, ", ".join(fix.files)) for fix in fixes.fixes(indexed(config), limit=10_000)
    }
    return {"open work": _score(open_, wanted["open work"]), "fixes": _score(fixed, wanted["fixes"])}


def _label(wanted: dict[str, set[tuple[str, ...]]], project: str, label: str) -> None:
    kind, _, rest = label.strip().partition(" ")
    if kind == "open":
        what, _, text = rest.partition(": ")
        wanted["open work"].add((project, what, text))
    else:
        command, _, files = rest.rpartition(": ")
        wanted["fixes"].add((project, command, files))


def _play(session: Session, script: str) -> None:
    for step in script.split("; "):
        word, _, rest = step.partition(" ")
        _STEPS[word](session, rest.strip())


def _fail(session: Session, rest: str) -> None:
    command, _, error = f"{rest} ".rpartition(" | ")
    session.run(command.strip(), f"Exit code 1\n{error.strip()}")


def _todo(session: Session, rest: str) -> None:
    marks = {"+": "completed", "-": "pending"}
    todos = [{"content": item[1:], "status": marks[item[0]]} for item in rest.split(", ")]
    session.tool("TodoWrite", {"todos": todos}, {})


def _task(session: Session, rest: str) -> None:
    number, _, subject = rest.partition(" ")
    session.tool("TaskCreate", {"subject": subject}, {"task": {"id": number, "subject": subject}})


def _task_update(session: Session, rest: str) -> None:
    number, _, status = rest.partition(" ")
    session.tool("TaskUpdate", {"taskId": number, "status": status}, {"success": True})


_STEPS = {
    "ask": Session.ask,
    "answer": lambda session, _: session.answer(),
    "broke": lambda session, _: session.break_off(),
    "run": lambda session, rest: session.run(rest),
    "fail": _fail,
    "edit": lambda session, rest: session.edit(rest),
    "todo": _todo,
    "task": _task,
    "taskup": _task_update,
}


def _score(found: set[tuple[str, ...]], wanted: set[tuple[str, ...]]) -> Score:
    return Score(len(found), len(found & wanted), len(wanted), sorted(found - wanted), sorted(wanted - found))
