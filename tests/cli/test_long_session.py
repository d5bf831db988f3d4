"""A session of 1,300 tool runs: its notes lie in parts, no folder is long, and everything knows where they are."""

from __future__ import annotations

import os
import posixpath
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from mdmem.agents import Event
from mdmem.capture import todays_notes
from mdmem.health import links as links_check
from mdmem.health.scope import CheckScope
from mdmem.history import commit, find, session_log, sync, why
from mdmem.history.git import repository
from mdmem.history.space import archive, clone
from mdmem.search import index
from mdmem.search.index import check
from mdmem.vault import disk, journal, layout, links, note, template
from mdmem.views import conversation
from mdmem.views.vault_pages import upkeep
from tests.helpers import cli_day
from tests.helpers.cli_day import Day
from tests.helpers.history_vault import git, head_files, put

START = 1_726_300_800.0
"""2024-09-14T08:00:00Z: a year that is over."""
SESSION = "3f0c6d1e-8a52-4b7e-9c41-5d2e7f90a118"
FOLDER = "journal/app/2024-09-14/0800-go-through-every-module-3f0c6d1e"
RUNS = 1_300
PROMPTS = (0, 60, 1_250)
"""Before these runs something is asked."""


def event(name: str, number: int, **fields: Any) -> Event:
    return Event(agent="claude-code", name=name, session=SESSION, cwd="/home/ana/app", prompt_id=f"p{number}", **fields)


def ran(number: int) -> Event:
    asked = max(one for one in PROMPTS if one <= number)
    got = {"stdout": f"module {number} is {['fine', 'a heron'][number == 1_200]}", "stderr": ""}
    command = {"command": f"check module-{number}"}
    return event("PostToolUse", asked, tool="Bash", tool_input=command, tool_response=got, tool_use_id=f"t{number}")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Day:
    day = cli_day.empty(tmp_path_factory.mktemp("long-session"))
    repository.init(day.vault)
    put(day.vault, "README.md", template.load("vault/README.md"))
    day.store(event("SessionStart", 0, source="startup"), START)
    for number in range(RUNS):
        if number in PROMPTS:
            asks = "Go through every module" if not number else f"And now those from {number} on"
            assert day.store(event("UserPromptSubmit", number, prompt=asks), START + number).added
        assert day.store(ran(number), START + number).added
        if number % 50 == 49:
            assert not day.store(ran(number), START + number + 1).added, "delivered twice"
    assert day.store(event("Stop", 1_250, message="Module 1200 has a heron; all others are fine."), START + RUNS).added
    index.update(day.config())
    upkeep.refresh(day.config(), now=START + 90_000)
    commit.commit(day.config())
    index.update(day.config())
    return day


@pytest.fixture
def day(made: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Day:
    """The vault with its repository and its state, to be changed."""
    return cli_day.take_over(made, tmp_path, monkeypatch)


def longest(root: Path) -> int:
    return max(len(folders) + len(files) for _, folders, files in os.walk(root))


def texts(day: Day) -> dict[str, bytes | None]:
    return {entry.path: disk.read_path(str(day.vault), entry.path) for entry in disk.walk(str(day.vault), "journal")}


def agrees(day: Day) -> bool:
    index.update(day.config(), quick=True)
    return check.verify(day.config(), repair=False).agrees


@pytest.mark.slow
def test_no_folder_is_long_and_every_note_is_there_once(made: Day) -> None:
    names = [name for _, _, files in os.walk(made.vault / FOLDER) for name in files]
    parts = {path.name: len(list(path.iterdir())) for path in (made.vault / FOLDER).iterdir() if path.is_dir()}

    assert longest(made.vault) <= layout.MANY + 5
    assert parts == {"part2": layout.MANY, "part3": RUNS + 4 - 2 * layout.MANY}
    assert len(names) == len(set(names)) == RUNS + 5
    numbers = sorted(filter(None, map(journal.numbers, names)))
    counts = [61, 1_191, 52]  # the last turn has an answer
    assert numbers == [(number, at) for number, count in enumerate(counts, 1) for at in range(count)]
    assert agrees(made)


@pytest.mark.slow
def test_every_command_that_reads_finds_the_notes_in_parts(made: Day) -> None:
    settings = made.config()
    (row,) = made.json("sessions")
    assert row["notes"] == RUNS + 4
    found = made.json("search", "which module has a heron", "--limit", "5")
    assert any(f"{FOLDER}/part3/" in one["path"] for one in found)
    last = made.id("check module-1299")
    path = made.json("show", last)["path"]
    assert path.startswith(f"{FOLDER}/part3/003-050-bash-")
    assert made.json("show", path)["id"] == last
    for name in (SESSION[:8], FOLDER, f"{FOLDER}/part2", f"{FOLDER}/part3/", path, last):
        assert len(conversation.read(settings, name).steps) == RUNS + 4, name
    steps = conversation.read(settings, SESSION).steps
    assert [journal.numbers(one.path) for one in steps] == sorted(journal.numbers(one.path) for one in steps)
    (logged,) = session_log.sessions(settings)
    assert (logged.folder, logged.notes, len(logged.asks)) == (FOLDER, RUNS + 4, 3)
    assert find.session_folders(settings, SESSION[:8]) == [FOLDER]
    assert why.why(settings, path).ask == "And now those from 1250 on"
    for file in (made.vault / FOLDER).rglob("*.md"):
        os.utime(file, (START + 60, START + 60))
    for folder in (made.vault / FOLDER).rglob(""):
        os.utime(folder, (START + 60, START + 60))
    assert todays_notes.count(settings, START + 3_600) == RUNS + 4


@pytest.mark.slow
def test_every_link_of_every_page_leads_to_a_file(made: Day) -> None:
    page = made.vault / FOLDER / f"{FOLDER.rpartition('/')[2]}.md"
    led = {posixpath.normpath(posixpath.join(FOLDER, unquote(one.target))) for one in links.written(page.read_text())}
    assert len([path for path in led if path.startswith(f"{FOLDER}/part3/")]) >= 30
    assert [path for path in led if not (made.vault / path).exists()] == []
    assert {one.severity for one in links_check.links(made.config(), CheckScope())} <= {"fine"}


@pytest.mark.slow
def test_it_is_archived_and_taken_apart_with_every_note_at_its_path(day: Day) -> None:
    settings, before = day.config(), texts(day)

    done = archive.pack(settings, 2024, now=START + 2 * 366 * 86_400)

    assert (done.sessions, done.notes, done.left) == (1, RUNS + 5, [])
    assert texts(day) == before
    assert not (day.vault / FOLDER).exists()
    assert agrees(day)
    assert len(conversation.read(settings, SESSION).steps) == RUNS + 4
    assert day.json("show", day.id("check module-1299"))["path"].startswith(f"{FOLDER}/part3/")
    archive.unpack(settings, 2024)
    assert {path: (day.vault / path).read_bytes() for path in before} == before
    assert agrees(day)


@pytest.mark.slow
def test_a_note_in_a_part_of_an_archive_is_edited_and_the_session_goes_on(day: Day) -> None:
    settings, name = day.config(), day.id("check module-1299")
    archive.pack(settings, 2024, now=START + 2 * 366 * 86_400)

    day.run("tag", name, "looked-at")

    assert b"looked-at" in (day.vault / day.json("show", name)["path"]).read_bytes()
    archive.pack(settings, 2024, now=START + 2 * 366 * 86_400)
    shutil.rmtree(settings.state_dir)
    assert not day.store(ran(1_299), START + RUNS + 50).added
    again = day.store(event("UserPromptSubmit", 7, prompt="One more thing"), START + RUNS + 60)
    assert again.path.startswith(f"{FOLDER}/part3/004-000-prompt-one-more-thing-")
    assert day.store(ran(1_300), START + RUNS + 70).path.startswith(f"{FOLDER}/part3/003-052-")


@pytest.mark.slow
@pytest.mark.parametrize("keeps_state", [True, False])
def test_it_continues_under_another_name_with_and_without_state(day: Day, keeps_state: bool) -> None:
    renamed = FOLDER.replace("go-through-every-module", "herons")
    (day.vault / FOLDER).rename(day.vault / renamed)
    if not keeps_state:
        shutil.rmtree(day.config().state_dir)
    day.store(event("SessionStart", 7, source="resume"), START + RUNS + 90)

    for number in (0, 449, 450, 899, 900, 1_299):
        assert not day.store(ran(number), START + RUNS + 100).added
    path = day.store(event("UserPromptSubmit", 7, prompt="One more thing"), START + RUNS + 110).path

    assert path.startswith(f"{renamed}/part3/004-000-prompt-")
    assert agrees(day)
    (row,) = day.json("sessions")
    assert row["notes"] == RUNS + 5
    assert {layout.session_of(path) for path in texts(day)} == {renamed, ""}


@pytest.mark.slow
def test_it_is_forgotten_brought_back_and_purged_like_any_other(day: Day) -> None:
    before, name = texts(day), day.id("check module-1299")
    asked = day.id("And now those from 1250 on")

    day.run("forget", asked, "--yes")
    assert f"-{asked}.md" not in (day.vault / FOLDER / f"{FOLDER.rpartition('/')[2]}.md").read_text()
    day.run("undo", git(day.vault, "log", "-1", "--format=%H").strip(), "--yes")
    day.run("forget", SESSION[:8], "--yes")
    assert not (day.vault / FOLDER).exists()
    day.run("undo", git(day.vault, "log", "-1", "--format=%H").strip(), "--yes")
    assert texts(day).keys() == before.keys()
    day.run("purge", "--id", name, "--apply", "--yes")
    assert not list(day.vault.rglob(f"*-{name}.md"))
    assert name not in git(day.vault, "log", "--all", "--name-only", "--format=")
    assert agrees(day)


@pytest.mark.slow
def test_two_machines_that_resume_it_have_all_of_it(day: Day) -> None:
    top = day.vault.parent
    git(day.vault, "init", "-q", "--bare", "-b", "main", "../remote.git")
    git(day.vault, "remote", "add", "origin", str(top / "remote.git"))
    sync.sync(day.config())
    clone.clone(str(top / "remote.git"), top / "other")
    env = {**day.env, "MDMEM_VAULT": str(top / "other")}
    env |= {f"XDG_{name}_HOME": str(top / "there" / name) for name in ("STATE", "CACHE")}
    other = Day(top / "other", env)
    for machine, number in ((day, 2_000), (other, 3_000)):
        machine.store(event("SessionStart", number, source="resume"), START + number)
        machine.store(event("UserPromptSubmit", number, prompt=f"Go on from {number}"), START + number)
        machine.store(ran(5_000), START + number)  # one event that both hear of

    for machine in (day, other, day):
        sync.sync(machine.config())

    assert texts(day) == texts(other)
    ids = [note.parse(data or b"").meta["id"] for data in texts(day).values()]
    assert len(ids) == len(set(ids))
    assert longest(top / "other" / "journal") <= layout.MANY + 20
    assert sorted(head_files(top / "other")) == sorted(head_files(day.vault))
