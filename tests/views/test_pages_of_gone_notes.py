"""Pages that name what is gone, renamed, elsewhere or edited now: those are made again, and no others."""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.vault import template
from mdmem.views.vault_pages import listed, making, upkeep
from tests.helpers import cli_day
from tests.helpers.cli_day import MORNING, Day
from tests.helpers.history_vault import start

SESSIONS = 30
LATER = 3_600.0
"""Pages are made as if so much later that nothing counts as new by the time of its file."""


def session_id(number: int) -> str:
    return f"{number:08x}-8a52-4b7e-9c41-5d2e7f90a118"


def of_session(number: int, cwd: str) -> Iterator[tuple[float, Event]]:
    """Yield what happens in a session: checks that fail or pass, prompts without an answer, tasks, forks."""

    def event(name: str, **fields: Any) -> Event:
        return Event(
            agent="claude-code", name=name, session=session_id(number), cwd=cwd, prompt_id=f"p{number}", **fields
        )

    check = {"tool": "Bash", "tool_input": {"command": f"pytest tests/test_{number % 3}.py"}, "tool_use_id": "t"}
    begin = (number // 5) * 86_400 + (number % 5) * 3_600.0
    yield begin, event("SessionStart", source="fork" if number % 4 == 3 else "startup")
    yield begin + 5, event("UserPromptSubmit", prompt=f"Make the part {number} of the parser faster")
    if number % 3 == 0:
        yield begin + 20, event("PostToolUseFailure", **check, error="Exit code 1\n1 failed")
    elif number % 3 == 1:
        yield begin + 20, event("PostToolUse", **check, tool_response={"stdout": "1 passed", "stderr": ""})
    if number % 5:
        yield begin + 60, event("Stop", message=f"Part {number} is faster, as after session {session_id(number // 2)}.")


@pytest.fixture
def month(tmp_path: Path) -> Day:
    """Make a vault of some sessions on several days in two projects, with notes that lead to each other."""
    day = cli_day.empty(tmp_path)
    (day.vault / "README.md").write_text(template.load("vault/README.md"), encoding="utf-8")
    projects = [tmp_path / name for name in ("notes-app", "api")]
    for project in projects:
        project.mkdir()
    for number in range(SESSIONS):
        for seconds, event in of_session(number, str(projects[number % 7 in (2, 3)])):
            day.store(event, MORNING + seconds)
    for number in range(0, SESSIONS, 4):
        kind = ("decision", "task", "memory")[number % 3]
        front = f"kind: {kind}\ntitle: Of {number}\nproject: notes-app\nsession: {session_id(number)}\n"
        front += f"created: 2026-09-{14 + number // 5}T09:00:00Z\nsee_also: [{session_id(number + 1)}]\n"
        (day.vault / "notes" / f"of-{number}.md").write_text(f"---\n{front}---\n\nText.\n")
    start(day.vault)
    return day


def sessions(day: Day) -> list[Path]:
    return sorted(path.parent for path in day.vault.glob("journal/*/*/*/*.md") if path.stem == path.parent.name)


def age(day: Day, step: int) -> None:
    """Make files that are new look as if they had been saved long ago: those of a moment ago are looked at anyway."""
    for path in day.vault.rglob("*.md"):
        if path.stat().st_mtime > MORNING + 1e6:
            os.utime(path, (MORNING + step, MORNING + step))


def forget(day: Day, chance: random.Random) -> None:
    text = next(chance.choice(sessions(day)).glob("*-000-prompt-*.md")).read_text("utf-8")
    day.run("forget", text.partition("\nsession: ")[2].partition("\n")[0], "--yes")


def delete(day: Day, chance: random.Random) -> None:
    shutil.rmtree(chance.choice(sessions(day)))


def rename(day: Day, chance: random.Random) -> None:
    folder = chance.choice(sessions(day))
    folder.rename(folder.with_name(f"{chance.randrange(2400):04d}-renamed-{folder.name.rpartition('-')[2]}"))


def move(day: Day, chance: random.Random) -> None:
    folder = chance.choice(sessions(day))
    to = chance.choice(sessions(day)).parent / folder.name
    if not to.exists():
        folder.rename(to)


def delete_note(day: Day, chance: random.Random) -> None:
    pattern = chance.choice(("notes/*.md", "journal/*/*/*/*-00[1-9]-*.md"))
    chance.choice(sorted(day.vault.glob(pattern))).unlink()


def delete_page(day: Day, chance: random.Random) -> None:
    found = [
        *day.vault.glob("days/*.md"),
        *day.vault.glob("journal/*/project.md"),
        *(folder / f"{folder.name}.md" for folder in sessions(day)[:2]),
    ]
    chance.choice(sorted(found)).unlink()


def move_project_page(day: Day, chance: random.Random) -> None:
    aside = day.vault.parent / "project.md"
    here = day.vault / "journal" / "api" / "project.md"
    if aside.exists():
        aside.rename(here)
    elif here.exists():
        here.rename(aside)


def edit(day: Day, chance: random.Random) -> None:
    pattern = chance.choice(("notes/*.md", "journal/*/*/*/*.md"))
    replace(chance.choice(sorted(day.vault.glob(pattern))), r"\ntitle: .*", f"\ntitle: New {chance.randrange(100)}")


def keep_here(day: Day, chance: random.Random) -> None:
    pattern = chance.choice(("notes/*.md", "journal/*/*/*/*.md"))
    replace(chance.choice(sorted(day.vault.glob(pattern))), r"\nid: ", "\nsync: false\nid: ")


def bring_other_page(day: Day, chance: random.Random) -> None:
    pattern = chance.choice(("days/*.md", "journal/*/*/*/*.md"))
    replace(chance.choice(sorted(day.vault.glob(pattern))), r"\n- .*", "")


def replace(path: Path, what: str, by: str) -> None:
    """Change a file as a program does that brings it from elsewhere, with the time of its last change there."""
    text, status = path.read_text("utf-8"), path.stat()
    other = path.with_name("other.tmp")
    other.write_text(re.sub(what, by, text, count=1), "utf-8")
    os.utime(other, (status.st_mtime - 60, status.st_mtime - 60))
    other.replace(path)


CHANGES: tuple[Callable[[Day, random.Random], None], ...] = (
    forget, forget, delete, rename, rename, move, delete_note, delete_page, move_project_page, edit, edit, keep_here,
    bring_other_page, bring_other_page
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_what_is_made_again_after_a_change_is_what_making_all_pages_would_write(month: Day, seed: int) -> None:
    chance = random.Random(seed)
    settings = month.config()
    now = time.time() + LATER
    upkeep.refresh(settings, now=now, everything=True)
    for step in range(14):
        age(month, step)
        done = chance.sample(CHANGES, chance.randint(1, 3))
        for change in done:
            change(month, chance)
        now += 10
        upkeep.refresh(settings, now=now)
        stamp = Path(settings.state_dir, "pages")
        known = stamp.read_bytes()
        assert upkeep.refresh(settings, now=now, everything=True) == [], [change.__name__ for change in done]
        assert marks_of_pages(stamp.read_bytes()) == marks_of_pages(known)
        stamp.write_bytes(known)


def marks_of_pages(stamp: bytes) -> set[bytes]:
    """Return the marks of what pages are made of: those of notes that may be named are shorter."""
    return {mark for mark in stamp.split(b"\n")[1].split() if len(mark) == 14}


def made(day: Day, settings: config.Config, monkeypatch: pytest.MonkeyPatch, now: float) -> set[str]:
    """Update the pages; return those of sessions and days that were looked at."""
    looked: set[str] = set()
    put = making._put

    def noted(settings: config.Config, path: str, lines: list[str]) -> tuple[bytes | None, bytes | None]:
        looked.add(path)
        return put(settings, path, lines)

    monkeypatch.setattr(making, "_put", noted)
    upkeep.refresh(settings, now=now)
    monkeypatch.setattr(making, "_put", put)
    return {path for path in looked if path.count("/") > 2 or path.startswith("days/")}


@pytest.mark.slow
def test_of_a_session_that_is_gone_only_the_pages_around_it_are_made_again(
    month: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = month.config()
    now = time.time() + LATER
    upkeep.refresh(settings, now=now, everything=True)
    age(month, 0)
    assert made(month, settings, monkeypatch, now + 5) == set()
    folder = sessions(month)[12]
    shutil.rmtree(folder)
    looked = made(month, settings, monkeypatch, now + 10)
    assert 2 <= len(looked) <= 6, looked
    assert f"days/{folder.parent.name}.md" in looked
    age(month, 1)
    assert made(month, settings, monkeypatch, now + 20) == set()

    stamp = Path(settings.state_dir, "pages")
    first, _, marks = stamp.read_text().partition("\n")
    first = " ".join(first.split()[:2])
    stamp.write_text(f"{first}\n{' '.join(mark[:8] for mark in marks.split())}\n")  # as an earlier version wrote it
    assert len(made(month, settings, monkeypatch, now + 30)) >= SESSIONS
    age(month, 2)
    assert made(month, settings, monkeypatch, now + 40) == set()


def test_pages_that_were_just_written_are_looked_at_again_only_when_somebody_else_writes_them(
    month: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = month.config()
    now = time.time()
    for path in month.vault.rglob("*.md"):
        os.utime(path, (now - LATER, now - LATER))
    assert len(upkeep.refresh(settings, now=now, everything=True)) > SESSIONS
    assert made(month, settings, monkeypatch, now) == set()
    page = sessions(month)[12] / f"{sessions(month)[12].name}.md"
    written = page.read_bytes()
    page.write_bytes(written.replace(b"[Project](", b"[Of a person]("))
    assert page.relative_to(month.vault).as_posix() in made(month, settings, monkeypatch, now)
    assert page.read_bytes() == written
    assert made(month, settings, monkeypatch, now) == set()


def test_a_page_that_another_program_brings_with_an_old_time_is_made_again(month: Day) -> None:
    settings = month.config()
    now = time.time() + LATER
    upkeep.refresh(settings, now=now, everything=True)
    age(month, 0)
    page = min(month.vault.glob("days/*.md"))
    text = page.read_text("utf-8")
    replace(page, r"\n- .*", "\n- Nothing")
    assert upkeep.refresh(settings, now=now + 10) == [f"days/{page.name}"]
    assert page.read_text("utf-8") == text


def test_days_do_not_lead_to_a_start_page_that_was_deleted(month: Day) -> None:
    settings = month.config()
    now = time.time() + LATER
    upkeep.refresh(settings, now=now, everything=True)
    (month.vault / "README.md").unlink()
    upkeep.refresh(settings, now=now + 10)
    days = list(month.vault.glob("days/*.md"))
    assert days
    assert not [day.name for day in days if "README.md" in day.read_text("utf-8")]


def test_other_privacy_rules_are_applied_to_every_page(month: Day) -> None:
    front = "kind: decision\ntitle: Plan\ncreated: 2026-09-14T09:00:00Z\n"
    (month.vault / "notes" / "falcon.md").write_text(f"---\n{front}---\n\n<ours>falcon</ours>\n")
    settings = month.config()
    now = time.time() + LATER
    upkeep.refresh(settings, now=now, everything=True)
    page = month.vault / "days" / "2026-09-14.md"
    assert "falcon" in page.read_text("utf-8")
    (month.vault / "mdmem.toml").write_text("[privacy]\ntags = ['private', 'ours']\n")
    upkeep.refresh(month.config(), now=now + 10)
    assert "falcon" not in page.read_text("utf-8")


def test_notes_are_read_again_for_whether_they_may_be_named_only_after_a_change(
    month: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time() + LATER
    age(month, 0)
    upkeep.refresh(month.config(), now=now, everything=True)
    age(month, 0)  # also the pages just written
    upkeep.refresh(month.config(), now=now + 10)
    prompt = next(sessions(month)[7].glob("*-000-prompt-*.md"))
    page = month.vault / "days" / f"{prompt.parent.parent.name}.md"
    assert prompt.parent.name in page.read_text("utf-8")
    read: list[str] = []
    may_travel = listed.Listing._may_travel

    def noted(listing: listed.Listing, path: str) -> bool:
        read.append(path)
        return may_travel(listing, path)

    monkeypatch.setattr(listed.Listing, "_may_travel", noted)
    prompt.write_text(prompt.read_text("utf-8").replace("\nid: ", "\nsync: false\nid: "), "utf-8")

    upkeep.refresh(month.config(), now=now + 20)

    assert prompt.parent.name not in page.read_text("utf-8")
    asked = [path for path in read if "-000-prompt-" in path or path.rpartition("/")[2][:-3] in path.rpartition("/")[0]]
    assert asked == [prompt.relative_to(month.vault).as_posix()]
