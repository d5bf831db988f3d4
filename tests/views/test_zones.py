"""A vault of machines in different time zones: sessions are in the order of time, and days are the reader's.

Folders are named by the writer's clock: 09:00 in Tokyo is twelve hours before 08:00 in New York on the same day.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from mdmem import config, timestamps
from mdmem.capture import todays_notes
from mdmem.config import Config
from mdmem.history import commit, forget, session_log, sync
from mdmem.history.git import repository
from mdmem.vault import journal, layout, template
from mdmem.views import rows, sessions
from mdmem.views.vault_pages import upkeep
from tests.helpers import machines
from tests.helpers.history_vault import captured, git, put, run_here, start
from tests.helpers.indexed import indexed
from tests.helpers.injected import ask, entries, occur
from tests.helpers.plain_git import make_remote
from tests.helpers.talk import START, Talk
from tests.helpers.time_zone import zone

UTC, TOKYO, NEW_YORK = "UTC", "Asia/Tokyo", "America/New_York"
HOUR = 3600
MIDNIGHT = START + 16 * HOUR
"""2026-09-15, 00:00 UTC."""
WORK = {
    "Plan the harbor": (TOKYO, MIDNIGHT - 3 * HOUR),
    "Build the quay": (TOKYO, MIDNIGHT),
    "Paint the crane": (NEW_YORK, MIDNIGHT + 3.5 * HOUR),
    "Test the lock gate": (NEW_YORK, MIDNIGHT + 12 * HOUR),
}
"""The first prompt of each session, oldest first, where it was sent, and when."""
NEWEST_FIRST = [*reversed(WORK)]
NOW = MIDNIGHT + 13 * HOUR


def work(vault: Path, cwd: Path, number: int, title: str) -> Talk:
    """Store a session of two turns, as hooks do in its time zone."""
    where, began = WORK[title]
    talk = Talk(vault, cwd, f"{number:08d}-0000-4000-8000-000000000000")
    talk.now = began - 60
    with zone(where):
        talk.says(title)
        talk.edits(f"{number}.py")
        talk.answers(f"Done: {title}. All of it is checked, and the plan for the next week is written down.")
    return talk


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the vault of a machine in New York, with what a machine in Tokyo has sent; tests only copy it."""
    tmp_path = tmp_path_factory.mktemp("zones")
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "mdmem.toml").touch()
    tokyo = start(vault)
    titles = [title for title, (where, _) in WORK.items() if where == TOKYO]
    for number, title in enumerate(titles):
        work(vault, tmp_path / "harbor", number, title)
    git(vault, "remote", "add", "origin", str(make_remote(tmp_path / "remote")))
    sync.sync(tokyo)
    new_york = machines.machine(tmp_path, tmp_path / "remote")
    for number, title in enumerate(title for title in WORK if title not in titles):
        work(Path(new_york.vault), tmp_path / "harbor", len(titles) + number, title)
    machines.settle(new_york, tokyo)
    return Path(new_york.vault)


@pytest.fixture
def vault_of_both(made: Path, tmp_path: Path) -> Config:
    """Return a copy of that vault."""
    return config.load(str(shutil.copytree(made, tmp_path / "vault")))


@pytest.fixture
def harbor(made: Path) -> Path:
    """Return the folder of the project that they work on."""
    return made.parent / "harbor"


@pytest.mark.parametrize("where", [UTC, TOKYO, NEW_YORK])
def test_every_list_has_the_sessions_in_the_order_of_time(
    vault_of_both: Config, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_VAULT", vault_of_both.vault)
    folders = {layout.day_of(folder) for folder in layout.sessions(vault_of_both.vault)}
    assert folders == {"2026-09-14", "2026-09-15"}

    def titles(*words: str) -> list[str]:
        return [row["title"] for row in json.loads(run_here(*words, "--json", check=True).stdout)]

    with zone(where):
        assert titles("sessions") == NEWEST_FIRST
        assert titles("sessions", "-n", "1") == NEWEST_FIRST[:1]
        assert titles("sessions", "-n", "2", "--offset", "1") == NEWEST_FIRST[1:3]
        assert titles("log") == NEWEST_FIRST
        assert titles("list", "--kind", "prompt") == NEWEST_FIRST
        assert [row.title for row in rows.ask(vault_of_both, sessions.table)] == NEWEST_FIRST
        digest = json.loads(run_here("digest", "--since", "2026-09-13", "--until", "2026-09-17", "--json").stdout)
        assert [row["title"] for row in digest["sessions"]] == [*WORK]


@pytest.mark.parametrize(
    ("where", "days"),
    [
        (UTC, ["2026-09-15", "2026-09-14"]),
        (TOKYO, ["2026-09-15"]),
        (NEW_YORK, ["2026-09-15", "2026-09-14"]),
        ("Pacific/Kiritimati", ["2026-09-16", "2026-09-15"]),
    ],
)
def test_each_day_has_one_heading_in_the_log_and_is_the_readers(
    vault_of_both: Config, where: str, days: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_VAULT", vault_of_both.vault)
    with zone(where):
        log = run_here("log", check=True).stdout.splitlines()
        lines = run_here("log", "--oneline", check=True).stdout.splitlines()

    assert [line for line in log if line.startswith("2026-")] == days
    clocks = [line[2:7] for line in log if re.match(r"  \d\d:\d\d  ", line)]
    assert clocks == [line[11:16] for line in lines]
    assert list(dict.fromkeys(line[:10] for line in lines)) == days


def test_a_day_named_by_its_reader_has_the_sessions_of_that_day(vault_of_both: Config, harbor: Path) -> None:
    asker = Talk(Path(vault_of_both.vault), harbor, "99999999-0000-4000-8000-000000000000")
    asker.now = NOW + 24 * HOUR
    with zone(NEW_YORK):
        on_14th, on_15th = (ask(asker, f"What did we do on September {day}?") for day in (14, 15))
    with zone(TOKYO):
        tokyo_14th = ask(asker, "What did we do on September 14?")

    assert [title for title in NEWEST_FIRST if title in on_14th] == NEWEST_FIRST[1:]
    assert [title for title in NEWEST_FIRST if title in on_15th] == NEWEST_FIRST[:1]
    assert not [title for title in NEWEST_FIRST if title in tokyo_14th]


@pytest.mark.parametrize("where", [UTC, TOKYO, NEW_YORK])
def test_a_new_session_is_told_of_the_last_ones_in_the_order_of_time(
    vault_of_both: Config, harbor: Path, where: str
) -> None:
    new = Talk(Path(vault_of_both.vault), harbor, "99999999-0000-4000-8000-000000000000")
    new.now = NOW
    with zone(where):
        text = occur(new, "SessionStart", source="startup")

    told = [next(title for title in WORK if title in entry) for entry in entries(text)]
    assert told == NEWEST_FIRST
    assert "last worked on" not in text  # none was resumed: only the reader's day is another


def test_without_an_index_the_last_sessions_are_in_the_order_of_time_too(vault_of_both: Config, harbor: Path) -> None:
    new = Talk(Path(vault_of_both.vault), harbor, "99999999-0000-4000-8000-000000000000")
    new.now = NOW + 90 * 24 * HOUR  # longer ago than the index is asked
    told = entries(occur(new, "SessionStart", source="startup"))

    assert [next(title for title in WORK if title in entry) for entry in told] == NEWEST_FIRST


def test_the_status_line_counts_what_was_written_today_where_it_is_tomorrow(
    vault_of_both: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_VAULT", vault_of_both.vault)
    for path in Path(vault_of_both.vault).rglob("*.md"):
        os.utime(path, (MIDNIGHT + HOUR, MIDNIGHT + HOUR))
    for folder in (path for path in Path(vault_of_both.vault).rglob("*") if path.is_dir()):
        os.utime(folder, (MIDNIGHT + HOUR, MIDNIGHT + HOUR))
    with zone(NEW_YORK):
        counted = todays_notes.count(vault_of_both, MIDNIGHT + 3 * HOUR)  # 23:00 of the 14th
        of_day = rows.ask(vault_of_both, sessions.by_day)["2026-09-14"]

    assert counted == of_day == 9


def test_an_agent_reads_the_last_sessions_in_the_order_of_time(
    vault_of_both: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mcp")
    from tests.helpers.server_calls import Server

    monkeypatch.setenv("MDMEM_VAULT", vault_of_both.vault)
    server = Server()
    told = server.call("project_context", {"project": "harbor"}).value["sessions"]
    server.close()

    assert [row["title"] for row in told] == NEWEST_FIRST


# -- in one machine's files --------------------------------------------------------------------------


def session(vault: Path, folder: str, created: str) -> None:
    """Write a session with one prompt."""
    facts = {"session": folder[-8:], "created": created, "project": "shop"}
    more: dict[str, Any] = {"folder": f"journal/shop/{folder}", **facts}
    captured(vault, "001-000-prompt-p-7gk2q9m4x1", "prompt", folder, **more)
    page = "<!-- mdmem:begin -->\n<!-- mdmem:end -->"
    captured(vault, folder.rpartition("/")[2], "session", folder, body=page, **more)


def test_a_list_reads_the_pages_of_a_day_and_not_those_of_the_vault(vault: Path) -> None:
    repository.init(vault)
    session(vault, "2026-09-15/0900-newest-00000001", "2026-09-15T09:00:00Z")
    session(vault, "2026-09-15/0800-second-00000002", "2026-09-15T08:00:00-04:00")
    session(vault, "2026-08-01/0900-oldest-00000003", "2026-08-01T09:00:00Z")
    read: list[str] = []

    def began(folder: str) -> float:
        read.append(folder.rpartition("/")[2])
        return {"1": 1_789_462_800.0, "2": 1_789_473_600.0}[folder[-1]]

    ordered = layout.newest_first(layout.newest_sessions(str(vault), "shop"), began)

    assert next(ordered)[1].endswith("0800-second-00000002")
    assert next(ordered)[1].endswith("0900-newest-00000001")
    assert read == ["0900-newest-00000001", "0800-second-00000002"]


def test_a_session_whose_clock_was_wrong_is_listed_where_its_folder_is(vault: Path) -> None:
    settings = start(vault)
    session(vault, "2026-09-15/0900-newest-00000001", "2026-09-15T09:00:00Z")
    session(vault, "2026-09-14/0900-wrong-00000002", "2031-01-01T00:00:00Z")
    session(vault, "2026-09-13/0900-oldest-00000003", "2026-09-13T09:00:00Z")
    session(vault, "2026-09-12/renamed by its owner", "2026-09-12T10:00:00Z")
    put(vault, "journal/shop/2026-09-12/0930-without-a-page-00000005/001-000-prompt-x-7gk2q9m4x2.md",
        "---\nkind: prompt\ntitle: x\ncreated: 2026-09-12T20:30:00-04:00\n---\n\nx\n")  # fmt: skip

    found = [logged.folder.rpartition("/")[2] for logged in session_log.sessions(settings)]

    assert found == [
        "0900-newest-00000001",
        "0900-wrong-00000002",
        "0900-oldest-00000003",
        "0930-without-a-page-00000005",
        "renamed by its owner",
    ]


def test_a_session_whose_folder_was_renamed_is_in_the_order_of_time_whatever_its_name(vault: Path) -> None:
    settings = start(vault)
    session(vault, "2026-09-14/0930-morning-00000001", "2026-09-14T09:30:00Z")
    session(vault, "2026-09-14/2145-evening-00000002", "2026-09-14T21:45:00Z")
    session(vault, "2026-09-14/#12 Late fix", "2026-09-14T22:00:00Z")

    found = [logged.folder.rpartition("/")[2] for logged in session_log.sessions(settings)]
    ordered = layout.newest_first(
        layout.newest_sessions(str(vault), "shop"), lambda folder: journal.began(str(vault), folder)
    )

    assert found == ["#12 Late fix", "2145-evening-00000002", "0930-morning-00000001"]
    assert [folder.rpartition("/")[2] for _, folder in ordered] == found


@pytest.mark.parametrize("where", [UTC, TOKYO, NEW_YORK])
@pytest.mark.parametrize("created", ["2026-09-14T09:00", "2031-01-01T00:00:00Z", ""])
def test_a_session_whose_page_does_not_tell_when_it_began_counts_by_its_notes_or_its_folders_local_time(
    vault: Path, where: str, created: str
) -> None:
    settings = start(vault)
    with zone(where):
        for hour, title in ((8, "first"), (9, "second"), (10, "third")):
            moment = time.mktime((2026, 9, 14, hour, 0, 0, 0, 0, -1))
            told = created if title == "second" else timestamps.note_time(moment)
            session(vault, f"2026-09-14/{hour:02d}00-{title}-{hour:08d}", told)

        found = [logged.folder.rpartition("/")[2][5:-9] for logged in session_log.sessions(settings)]
        assert found == ["third", "second", "first"]


def test_a_session_whose_page_does_not_tell_when_it_began_has_the_time_of_its_first_note(vault: Path) -> None:
    settings = start(vault)
    session(vault, "2026-09-14/0900-tokyo-00000001", "2026-09-14T09:00:00+09:00")
    page = vault / "journal/shop/2026-09-14/0900-tokyo-00000001/0900-tokyo-00000001.md"
    text = page.read_text("utf-8")
    page.write_text(text.replace("created: ", "made: "), "utf-8")
    session(vault, "2026-09-14/0400-utc-00000002", "2026-09-14T04:00:00Z")

    found = [logged.session for logged in session_log.sessions(settings)]

    assert page.read_text("utf-8") != text
    assert found == ["00000002", "00000001"]


def test_each_month_has_one_heading_on_a_projects_page(vault: Path) -> None:
    settings = start(vault)
    put(vault, "journal/shop/project.md", template.fill(template.load("notes/project.md"), {"title": "shop"}))
    session(vault, "2026-08-31/0900-first-00000001", "2026-08-31T09:00:00+09:00")
    session(vault, "2026-09-01/0900-second-00000002", "2026-09-01T09:00:00+09:00")
    session(vault, "2026-08-31/2330-third-00000003", "2026-08-31T23:30:00-04:00")
    session(vault, "2026-09-01/2100-fourth-00000004", "2026-09-01T21:00:00+09:00")

    upkeep.refresh(indexed(settings), now=NOW)

    page = (vault / "journal/shop/project.md").read_text("utf-8").splitlines()
    listed = [line[3:] if line.startswith("## ") else line[2:18] for line in page if line.startswith(("## S", "- 2"))]
    assert listed == [
        "Sessions in 2026-09",
        "2026-09-01 21:00",
        "2026-09-01 09:00",
        "Sessions in 2026-08",
        "2026-08-31 23:30",
        "2026-08-31 09:00",
    ]


def test_a_session_that_is_forgotten_leaves_no_link_on_the_page_before_it_whatever_its_day(vault: Path) -> None:
    settings = start(vault)
    put(vault, "journal/shop/project.md", template.fill(template.load("notes/project.md"), {"title": "shop"}))
    session(vault, "2026-09-13/2330-before-00000001", "2026-09-13T23:30:00-04:00")
    session(vault, "2026-09-14/0200-earlier-00000002", "2026-09-14T02:00:00+09:00")
    session(vault, "2026-09-15/0100-secret-plan-00000003", "2026-09-15T01:00:00+09:00")
    upkeep.refresh(indexed(settings), now=NOW)
    commit.commit(settings)
    before = vault / "journal/shop/2026-09-13/2330-before-00000001/2330-before-00000001.md"
    assert "secret-plan" in before.read_text("utf-8")

    forget.apply(settings, forget.plan(settings, ["00000003"]), lambda _: [])

    assert "secret-plan" not in before.read_text("utf-8")
