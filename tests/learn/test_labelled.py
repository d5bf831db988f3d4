"""Measured: open work and fixes on the labelled set, and a soak in which nothing becomes a note by itself."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mdmem.vault import note
from tests.helpers import cli_day
from tests.helpers.claude import FULL
from tests.helpers.open_work import Work
from tests.learn import labelled


@pytest.mark.slow
def test_open_work_and_fixes_are_right_on_the_labelled_set(tmp_path: Path) -> None:
    assert len(labelled.lines()) >= 60
    scores = labelled.measure(cli_day.empty(tmp_path), tmp_path)
    open_work, fixes = scores["open work"], scores["fixes"]
    assert open_work.precision >= 0.9, open_work.wrong
    assert open_work.recall >= 0.9, open_work.missed
    assert fixes.precision >= 0.9, fixes.wrong
    assert fixes.recall >= 0.9, fixes.missed


WORDS = [
    "Decision: use tabs",
    "from now on always test",
    "let's go with UTC",
    "never mock",
    "fix it",
    "why?",
    "TODO: x",
]


@pytest.mark.slow
def test_thousands_of_events_never_write_a_note_that_nobody_accepted(tmp_path: Path) -> None:
    at = Work(cli_day.empty(tmp_path), tmp_path)
    chance = random.Random(19)
    sessions = [at.session(number) for number in range(40)]
    while at.count < (10_000 if FULL else 2_000):
        one, words = chance.choice(sessions), chance.choice(WORDS)
        step = chance.randrange(6)
        if step == 0:
            one.ask(words)
        elif step == 1:
            one.answer(words)
        elif step == 2:
            one.run(f"pytest -q {chance.choice('abc')}", chance.choice([None, f"Exit code 1\nValueError: {words}"]))
        elif step == 3:
            one.edit(f"{chance.choice('abc')}.py")
        elif step == 4:
            one.tool(
                "TodoWrite", {"todos": [{"content": words, "status": chance.choice(["pending", "completed"])}]}, {}
            )
        else:
            one.tool("TaskCreate", {"subject": words}, {"task": {"id": str(at.count)}})
        if at.count % 500 == 0:
            at.open()
            at.day.run("fixes")
            at.day.run("decisions")
    assert list((at.day.vault / "notes").rglob("*")) == []
    kinds = {str(note.parse(path.read_bytes()).meta.get("kind")) for path in at.day.vault.glob("journal/**/*.md")}
    assert kinds == {"session", "project", *note.CAPTURED} - {"summary"}
