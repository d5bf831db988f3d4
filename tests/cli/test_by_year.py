"""A project with more days than a folder shall hold: new sessions go by year, and every command knows both shapes."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.capture import events, queued, todays_notes
from mdmem.health import links as links_check
from mdmem.health.scope import CheckScope
from mdmem.history import commit, forget, session_log, sync
from mdmem.history.git import repository
from mdmem.history.git.part import VaultPart
from mdmem.history.space import archive, clone
from mdmem.search import index
from mdmem.search.index import check
from mdmem.transcripts import importer
from mdmem.vault import disk, layout, links, note, template
from mdmem.views.vault_pages import upkeep
from tests.helpers import cli_day
from tests.helpers.cli_day import FIRST, MORNING, OTHER, SECOND, Day
from tests.helpers.history_vault import captured, git, head_files, put

FLAT = "journal/notes-app/2026-09-14/0800-why-does-the-date-parser-fail-private-3f0c6d1e"
BY_YEAR = "journal/notes-app/2026/09/15/0859-cache-the-exported-pages-for-an-hour-9b1d7c22"
APP, API = "/home/ana/notes-app", "/home/ana/api"


def event(name: str, session: str, cwd: str, **fields: Any) -> Event:
    return Event(agent="claude-code", name=name, session=session, cwd=cwd, **fields)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Day:
    """A vault with a session by day, another by year in the same project, and one of another project: committed."""
    root = tmp_path_factory.mktemp("by-year")
    day = cli_day.empty(root)
    repository.init(day.vault)
    put(day.vault, "README.md", template.load("vault/README.md"))
    for seconds, one in cli_day._first(APP):
        day.store(one, MORNING + seconds)
    fill(day.vault, "notes-app")
    for seconds, one in (*cli_day._second(APP), *cli_day._other(API)):
        assert day.store(one, MORNING + seconds).stored or one.name == "SessionStart"
    again = event("UserPromptSubmit", FIRST, APP, prompt="And the second of March, does the parser know it?")
    day.store(again, MORNING + 90_100)
    index.update(day.config())
    upkeep.refresh(day.config(), now=MORNING + 200_000)
    commit.commit(day.config())
    index.update(day.config())
    return day


def fill(vault: Path, project: str) -> None:
    """Create as many days of a project, all empty, as one folder may hold."""
    for number in range(layout.MANY):
        name = f"{2000 + number // 300}-{number // 25 % 12 + 1:02}-{number % 25 + 1:02}"
        (vault / "journal" / project / name).mkdir(exist_ok=True, mode=0o700)


@pytest.fixture
def day(made: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Day:
    """The vault with its repository and its state, to be changed."""
    return cli_day.take_over(made, tmp_path, monkeypatch)


@pytest.mark.slow
def test_new_sessions_go_by_year_and_old_ones_stay(made: Day) -> None:
    folders = {path.parent.relative_to(made.vault).as_posix() for path in made.vault.glob("journal/*/**/*-prompt-*.md")}

    assert {folder for folder in folders if "notes-app" in folder} == {FLAT, BY_YEAR}
    assert len([path for path in folders if path.startswith("journal/api/2026-09-16/")]) == 1
    assert len(list((made.vault / FLAT).glob("*-prompt-*.md"))) == 2


@pytest.mark.slow
def test_every_command_that_reads_knows_both_shapes(made: Day) -> None:
    listed = [row["path"] for row in made.json("list", "--limit", "0")]
    found = [row["path"] for row in made.json("search", "exported pages parser", "--limit", "20")]

    for folder in (FLAT, BY_YEAR):
        assert [path for path in listed if path.startswith(f"{folder}/")]
        assert [path for path in found if path.startswith(f"{folder}/")]
    assert {row["session"] for row in made.json("sessions")} == {FIRST, SECOND, OTHER}
    assert {row["session"] for row in made.json("sessions", "--project", "notes-app")} == {FIRST, SECOND}
    assert {row["folder"] for row in made.json("log")} >= {FLAT, BY_YEAR}
    assert {row["day"] for row in made.json("log")} == {"2026-09-14", "2026-09-15", "2026-09-16"}
    assert [row["folder"] for row in made.json("log", "--since", "2026-09-15", "--project", "notes-app")] == [BY_YEAR]
    assert BY_YEAR.rpartition("/")[2] in made.run("tree", "journal/notes-app").stdout
    assert "second of March" in made.run("todo").stdout
    assert "Why does the date parser fail?" in made.run("about", "src/dates.py").stdout
    for session, title, folder in ((FIRST, "second of March", FLAT), (SECOND, "Cache the exported pages", BY_YEAR)):
        assert made.path(title).parent == made.vault / folder
        assert made.json("show", made.id(title))["path"].startswith(f"{folder}/")
        for name in (session[:8], folder.rpartition("/")[2]):
            assert title in made.run("history", name).stdout


@pytest.mark.slow
def test_every_link_of_every_page_leads_to_a_file(made: Day) -> None:
    pages = [*(made.vault / FLAT).glob("0800-*.md"), *(made.vault / BY_YEAR).glob("0859-*.md")]
    pages += [*made.vault.glob("journal/*/project.md"), *made.vault.glob("days/*.md"), made.vault / "README.md"]
    led = Counter[str]()
    for page in pages:
        folder = page.parent.relative_to(made.vault).as_posix()
        for one in links.written(page.read_text()):
            target = posixpath.normpath(posixpath.join(folder, unquote(one.target)))
            assert (made.vault / target).exists(), (page, one.target)
            led[layout.session_of(target) or target] += 1

    assert len(pages) == 8
    assert led[BY_YEAR] > 3
    assert led[FLAT] > 3
    assert led["journal/notes-app/project.md"] >= 3
    assert {one.severity for one in links_check.links(made.config(), CheckScope())} <= {"fine"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("session", "cwd", "folders"), [(OTHER, API, "journal/api/*/*-c0ffee00"), (SECOND, APP, BY_YEAR)]
)
def test_a_session_that_hid_nothing_continues_in_its_folder_without_state_too(
    day: Day, session: str, cwd: str, folders: str
) -> None:
    folder = next(day.vault.glob(folders)).relative_to(day.vault).as_posix()
    for number in range(2):
        if number:
            shutil.rmtree(day.config().state_dir)
        again = event(
            "UserPromptSubmit", session, cwd, prompt=f"Once more, number {number}", prompt_id=f"more-{number}"
        )
        assert day.store(again, MORNING + 200_000 + number).stored
        answer = event("Stop", session, cwd, message="Done once more.", prompt_id=f"more-{number}")
        day.store(answer, MORNING + 200_010 + number)

    assert len(list((day.vault / folder).glob("*-once-more-number-*.md"))) == 2
    assert len(list(day.vault.rglob("*-once-more-number-*.md"))) == 2
    page = (day.vault / folder / f"{folder.rpartition('/')[2]}.md").read_text()
    assert "Once more, number 1" in page
    up = layout.to_project(folder)
    assert f"({up}/project.md)" in page


@pytest.mark.slow
def test_what_is_queued_is_stored_by_year_later(day: Day) -> None:
    blocker = day.vault / "journal/notes-app/2026/09/20"
    blocker.write_text("in the way")
    late = event("UserPromptSubmit", "dddddddd-1234-4abc-9def-0123456789ab", APP, prompt="A queued prompt")
    assert events.capture(day.config(), late, MORNING + 6 * 86_400, day.env).error
    blocker.unlink()

    assert queued.flush(day.config()).written == 1

    (path,) = day.vault.rglob("*-prompt-a-queued-prompt-*.md")
    assert path.relative_to(day.vault).as_posix().startswith("journal/notes-app/2026/09/20/0800-a-queued-prompt-")


def test_a_busy_day_is_spread_over_several_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MANY", 3)
    day = cli_day.empty(tmp_path)
    for number in range(11):
        one = event("UserPromptSubmit", f"{number:08x}-1234-4abc-9def-0123456789ab", "/home/ana/app", prompt="Hello")
        assert day.store(one, MORNING + number).stored

    held = Counter(path.relative_to(day.vault).parent.parent.as_posix() for path in day.vault.rglob("*-prompt-*.md"))

    assert sorted(held.items()) == [
        ("journal/app/2026-09-14", 3),
        ("journal/app/2026/09/14", 3),
        ("journal/app/2026/09/14-2", 3),
        ("journal/app/2026/09/14-3", 2),
    ]
    assert {row["day"] for row in day.json("log")} == {"2026-09-14"}
    assert len(day.json("log")) == len(day.json("sessions")) == 11
    for path in day.vault.rglob("*"):
        os.utime(path, (MORNING + 60, MORNING + 60))
    assert todays_notes.count(day.config(), MORNING + 3600) == 11


# -- what changes a vault --------------------------------------------------------------------------


@pytest.mark.slow
def test_both_shapes_are_archived_side_by_side_and_taken_apart_again(day: Day) -> None:
    settings = day.config()
    before = {entry.path: disk.read_path(settings.vault, entry.path) for entry in disk.walk(settings.vault, "journal")}
    ids = {
        folder: note.load(settings.vault, next(path for path in before if folder in path)).meta["id"]
        for folder in (FLAT, BY_YEAR)
    }

    done = archive.pack(settings, 2026, project="notes-app", now=MORNING + 2 * 366 * 86_400)

    assert (done.sessions, done.left) == (2, [])
    files = {path for path in head_files(day.vault) if path.startswith("journal/notes-app/")}
    assert files == {"journal/notes-app/project.md", f"{BY_YEAR}.packed.md", layout.archive_of(FLAT)}
    assert {
        entry.path: disk.read_path(settings.vault, entry.path) for entry in disk.walk(settings.vault, "journal")
    } == before
    assert {one.folder for one in session_log.sessions(settings, project="notes-app")} == {FLAT, BY_YEAR}
    index.update(settings, quick=True)
    assert check.verify(settings, repair=False).agrees
    for folder, name in ids.items():
        assert day.json("show", name)["path"].startswith(f"{folder}/")
    assert not [one for one in importer._tags(settings) if one in FLAT]
    again = event("UserPromptSubmit", SECOND, APP, prompt="Goes on after the archive")
    assert day.store(again, MORNING + 900_000).stored
    assert len(list((day.vault / BY_YEAR).glob("*.md"))) == 4
    archive.unpack(settings, 2026)
    assert {path for path in before if not (day.vault / path).is_file()} == set()


@pytest.mark.slow
def test_a_session_by_year_is_forgotten_undone_and_purged_like_any_other(day: Day) -> None:
    settings = day.config()
    name = day.id("Cache the exported pages")

    day.run("forget", SECOND[:8], "--yes")
    assert not list(disk.walk(settings.vault, BY_YEAR))
    deleted = forget.deleted_session(settings, SECOND[:8])
    assert f"The session {SECOND[:8]} was forgotten" in deleted
    assert BY_YEAR.rpartition("/")[2] not in (day.vault / "journal/notes-app/project.md").read_text()
    day.run("undo", deleted.partition("mdmem undo ")[2][:8], "--yes")
    assert day.json("show", name)["path"].startswith(f"{BY_YEAR}/")
    day.run("purge", "--id", name, "--apply", "--yes")
    assert not list(day.vault.rglob(f"*-{name}.md"))
    assert name not in git(day.vault, "log", "--all", "--name-only", "--format=")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "has"),
    [
        (VaultPart(since="2026-09-15"), {BY_YEAR, "journal/api"}),
        (VaultPart(since="2026-09-16"), {"journal/api"}),
        (VaultPart(projects=("notes-app",)), {FLAT, BY_YEAR}),
        (VaultPart(since="2026-09-15", projects=("notes-app",)), {BY_YEAR}),
    ],
)
def test_a_part_of_a_vault_has_its_days_in_both_shapes(day: Day, part: VaultPart, has: set[str]) -> None:
    git(day.vault, "init", "-q", "--bare", "-b", "main", "../remote.git")
    git(day.vault, "remote", "add", "origin", str(day.vault.parent / "remote.git"))
    sync.sync(day.config())
    root = day.vault.parent / "part"

    clone.clone(str(day.vault.parent / "remote.git"), root, part)

    there = {path.parent.relative_to(root).as_posix() for path in root.rglob("*-prompt-*.md")}
    assert {"journal/api" if "/api/" in folder else folder for folder in there} == has
    for path in head_files(day.vault):
        assert part.has(path) == (root / path).is_file(), path
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_session_that_two_machines_put_in_two_shapes_becomes_one_folder(day: Day) -> None:
    session, top = "c0ffee11-1234-4abc-9def-0123456789ab", day.vault.parent
    git(day.vault, "init", "-q", "--bare", "-b", "main", "../remote.git")
    git(day.vault, "remote", "add", "origin", str(top / "remote.git"))
    sync.sync(day.config())
    clone.clone(str(top / "remote.git"), top / "other")
    for root, folder, name in ((day.vault, "2026/09/20", "here"), (top / "other", "2026-09-20", "there")):
        place = f"journal/notes-app/{folder}/0800-one-session-c0ffee11"
        captured(root, f"001-000-prompt-{name}-{name:0>10}", "prompt", f"Asked {name}", folder=place)
        page = f"---\nid: {note.make_id(session, 'session')}\nkind: session\nsession: {session}\n---\n\n# One\n"
        put(root, f"{place}/0800-one-session-c0ffee11.md", page)

    for root in (day.vault, top / "other", day.vault):
        sync.sync(config.load(str(root)))

    for root in (day.vault, top / "other"):
        held = {path.parent.relative_to(root).as_posix() for path in root.rglob("*.md") if "c0ffee11" in str(path)}
        assert held == {"journal/notes-app/2026-09-20/0800-one-session-c0ffee11"}
        assert len(list((root / held.pop()).iterdir())) == 3
