"""Pages of two machines that sync: no conflict, and each lists what both did."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.health import links as links_check
from mdmem.health.scope import CheckScope
from mdmem.history import commit, session_log
from mdmem.vault import generated, note
from mdmem.views import conversation
from mdmem.views.vault_pages import making, upkeep
from tests.helpers import cli_day
from tests.helpers.cli_day import MORNING, Day
from tests.helpers.history_vault import FOLDER, PAGE, SESSION, captured, put
from tests.helpers.plain_git import git, make_remote


def work(day: Day, session: str, prompt: str, seconds: float) -> None:
    cwd = day.vault.parent / "app"
    cwd.mkdir(exist_ok=True)
    for name in ("UserPromptSubmit", "Stop"):
        event = Event(
            agent="claude-code", name=name, session=session, cwd=str(cwd), prompt_id="p", prompt=prompt, message="Done."
        )
        day.store(event, MORNING + seconds)


def two_machines(tmp_path: Path) -> tuple[Day, Day]:
    """Return two machines that have a session and its pages in common."""
    remote = make_remote(tmp_path / "remote.git")
    one = cli_day.empty(tmp_path / "one")
    one.run("init")
    git(one.vault, "remote", "add", "origin", str(remote))
    work(one, "aaaaaaaa-1", "Begin the parser", 0)
    one.run("sync")
    two = cli_day.empty(tmp_path / "two")
    shutil.rmtree(two.vault)
    two.run("clone", str(remote))
    return one, two


@pytest.mark.slow
def test_pages_of_two_machines_never_conflict(tmp_path: Path) -> None:
    one, two = two_machines(tmp_path)
    work(one, "bbbbbbbb-1", "Test the parser", 3600)
    work(two, "cccccccc-1", "Document the parser", 7200)
    for day in (one, two, one, two):
        done = day.run("sync")
        assert "both versions" not in done.output
    start = (one.vault / "README.md").read_text("utf-8")
    for prompt in ("Begin the parser", "Test the parser", "Document the parser"):
        assert prompt in start
    for day in (one, two):
        assert [found.severity for found in links_check.links(day.config(), CheckScope())] == ["fine"]
        assert "mdmem:both" not in (day.vault / "README.md").read_text("utf-8")
    two.run("commit")
    one.run("commit")
    assert (two.vault / "README.md").read_text("utf-8") == start


@pytest.mark.usefixtures("pages_at_once")
@pytest.mark.parametrize("why", ["held back", "staged", "edited and held back"])
def test_machines_whose_pages_list_different_notes_do_not_commit_them_in_turn(tmp_path: Path, why: str) -> None:
    one, two = two_machines(tmp_path)
    text = "---\nkind: decision\ntitle: Hash with Argon\n---\n\nBecause.\n"
    if why == "edited and held back":
        put(one.vault, "notes/hash.md", text.replace("Argon", "MD5"))
        one.run("sync")
    put(one.vault, "notes/hash.md", text + ("" if why == "staged" else "\n<private>The key.</private>\n"))
    if why == "staged":
        git(one.vault, "add", "notes/hash.md")
    put(two.vault, "notes/other.md", "---\nkind: decision\ntitle: Log as JSON\n---\n\nBecause.\n")

    def sync(day: Day) -> int:
        return int(json.loads(day.attempt("sync", "--json").stdout)["sent"])

    for day in (one, two) * 2:
        sync(day)

    assert [sync(day) for day in (one, two) * 2] == [0] * 4
    assert "README.md" in git(one.vault, "status", "--porcelain") + git(two.vault, "status", "--porcelain")
    assert [commit.waiting(day.config()).files for day in (one, two)] == [[], []], "the browser shows no others"
    for day, title in ((one, "Hash with Argon"), (two, "Log as JSON")):
        assert f"[{title}]" in (day.vault / "README.md").read_text("utf-8")
    put(two.vault, "notes/other.md", "A person's words.\n")
    assert [sync(day) > 0 for day in (two, one, two, one, two)] == [True, True, False, False, False]
    assert (one.vault / "notes/other.md").read_text("utf-8") == "A person's words.\n"


@pytest.mark.usefixtures("pages_at_once")
def test_a_sync_makes_only_the_pages_of_what_it_receives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = two_machines(tmp_path)
    for number in range(4):
        work(two, f"{number}bbbbbbb-1", f"Test part {number}", 86_400.0 * number)
    for day in (two, one, two):
        day.run("sync")
    work(one, "cccccccc-1", "Document the parser", 86_400 * 6.0)
    one.run("sync")
    looked: list[str] = []
    put = making._put

    def noted(settings: config.Config, path: str, lines: list[str]) -> tuple[bytes | None, bytes | None]:
        looked.append(path)
        return put(settings, path, lines)

    monkeypatch.setattr(making, "_put", noted)
    two.run("sync")

    paths = {path for path in looked if path.startswith(("days/", "journal/app/2026"))}
    assert any("document-the-parser" in path for path in paths)
    assert not any(f"test-part-{number}" in path for path in paths for number in range(3)), paths
    monkeypatch.undo()
    assert upkeep.refresh(two.config(), now=time.time(), everything=True) == []


@pytest.mark.usefixtures("pages_at_once")
def test_a_sessions_end_reaches_the_other_machine_also_right_after_a_commit_of_pages(tmp_path: Path) -> None:
    one, two = two_machines(tmp_path)
    work(one, "bbbbbbbb-1", "Test the parser", 3600)
    work(two, "cccccccc-1", "Document the parser", 7200)
    for day in (one, two, one):
        day.run("sync")
    assert git(one.vault, "log", "-1", "--format=%s").startswith("Pages: ")
    over = Event(agent="claude-code", name="SessionEnd", session="bbbbbbbb-1", cwd=str(one.vault.parent / "app"))
    one.store(over, MORNING + 9000)

    for day in (one, two):
        day.run("sync")

    (page,) = (two.vault / "journal/app").rglob("*-test-the-parser-*/*-test-the-parser-????????.md")
    assert "- Ended 2026-09-14 10:30 UTC" in page.read_text("utf-8")


def test_rules_that_cannot_be_written_are_not_said_to_be_there(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path / "one")
    (day.vault / "mdmem.toml").unlink()
    day.run("init")
    (tmp_path / "elsewhere").write_text("*.md -text\n", "utf-8")
    (day.vault / ".gitattributes").unlink()
    (day.vault / ".gitattributes").symlink_to(tmp_path / "elsewhere")

    found = json.loads(day.attempt("doctor", "--only", "history", "--fix", "--json").stdout)

    (row,) = (one for one in found if "git pull" in one["text"])
    assert row["done"] == "failed: .gitattributes is not a regular file, or was changed meanwhile."
    assert (tmp_path / "elsewhere").read_text("utf-8") == "*.md -text\n"


@pytest.mark.usefixtures("pages_at_once")
@pytest.mark.parametrize("made", ["by this version", "by an earlier one"])
def test_pages_of_two_machines_do_not_conflict_in_a_plain_pull(tmp_path: Path, made: str) -> None:
    remote = make_remote(tmp_path / "remote.git")
    one, two = (cli_day.empty(tmp_path / name) for name in ("one", "two"))
    (one.vault / "mdmem.toml").unlink()
    one.run("init")
    if made == "by an earlier one":
        (one.vault / ".gitattributes").write_text("journal/*/project.md -diff\n*.md -text", "utf-8")
        found = [one.json("doctor", "--only", "history", "--fix"), one.json("doctor", "--only", "history")]
        assert [[row["done"] for row in rows if "git pull" in row["text"]] for rows in found] == [["fixed"], []]
        text = (one.vault / ".gitattributes").read_text("utf-8")
        assert text.startswith("journal/*/project.md -diff\n*.md -text\n/README.md merge=union\n")
        assert "project.md merge" not in text, "a person's own rule for it holds"
        assert git(one.vault, "status", "--porcelain") == ""
    git(one.vault, "remote", "add", "origin", str(remote))
    work(one, "aaaaaaaa-1", "Begin the parser", 0)
    one.run("sync")
    shutil.rmtree(two.vault)
    git(tmp_path, "clone", "-q", str(remote), str(two.vault))
    for day, session, what, seconds in ((one, "bbbbbbbb", "Test", 3600), (two, "cccccccc", "Document", 7200)):
        work(day, f"{session}-1", f"{what} the parser", seconds)
        work(day, f"{session}-2", f"{what} the lexer", seconds + 86_400)
        day.run("commit")
    git(one.vault, "push", "-q", "origin", "main")

    git(two.vault, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    two.run("commit")

    git(one.vault, "pull", "-q", str(two.vault), "main")
    one.run("commit")
    for day in (one, two):
        assert git(day.vault, "status", "--porcelain") == ""
        for page, prompts in (("days/2026-09-14.md", 3), ("days/2026-09-15.md", 2), ("README.md", 5)):
            text = (day.vault / page).read_text("utf-8")
            assert text.count("(1 prompt)") + text.count(", 1 prompt)") == prompts
            assert text.count(generated.BEGIN) == text.count(generated.END) == 1
            lines = [line for line in generated.inside(text.encode()) if line]
            assert sorted(lines) == sorted(set(lines)), "no line of before the merge is left"


def test_turns_that_two_machines_numbered_alike_are_separated_by_their_time(vault: Path) -> None:
    def turn(number: int, hour: str, what: str) -> None:
        parts = (("prompt", f"Ask {what}"), ("observation", f"Run {what}"), ("response", f"Done {what}"))
        for place, (kind, title) in enumerate(parts):
            name = f"{number:03d}-{place:03d}-{kind}-{what}-{hour}{number}{place}"
            captured(vault, name, kind, title, created=f"2026-09-14T{hour}:0{place}:00Z", prompt=str(number))

    listed = "## Prompts\n\n1. [Ask begin](001-000-prompt-begin-0810.md)"
    page = f"{generated.BEGIN}\n{listed}\n\n## Work\n\n- 2 tool runs\n{generated.END}"
    captured(vault, FOLDER.rpartition("/")[2], "session", "Begin", body=page)
    turn(1, "08", "begin")
    turn(2, "12", "elsewhere")
    turn(2, "09", "here")
    turn(3, "10", "on")
    settings = config.load(str(vault))

    upkeep.refresh(settings, now=MORNING, everything=True)

    asked = ["Ask begin", "Ask here", "Ask on", "Ask elsewhere"]
    body = note.parse((vault / PAGE).read_bytes()).body
    lines = [line for line in body.split("\n") if generated.prompt_in(line)]
    assert [line.partition("](")[0] for line in lines] == [f"{at}. [{title}" for at, title in enumerate(asked, 1)]
    assert "- [Run elsewhere](002-001" in body.partition("4. [")[2].partition("## Work")[0]
    read = conversation.read(settings, SESSION)
    steps = [str(step.meta["title"]) for step in read.steps]
    assert steps == [f"{verb}{title[3:]}" for title in asked for verb in ("Ask", "Run", "Done")]
    assert [one.asks for one in session_log.sessions(settings)] == [
        ["Ask begin", "Ask here", "Ask elsewhere", "Ask on"]
    ]
    (vault / FOLDER / "003-000-prompt-on-1030.md").unlink()
    upkeep.refresh(settings, now=MORNING, everything=True)
    assert (vault / PAGE).read_text().count("- [Run") == 3, "no prompt is there below which the third run could be"


@pytest.mark.slow
def test_open_work_has_the_date_of_its_note_on_machines_of_any_zone(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "id: task123456\nkind: task\ntitle: Write the changelog\ncreated: 2026-09-14T00:30:00+02:00"
    put(vault, "notes/task.md", f"---\n{head}\n---\n\nSoon.\n")
    put(vault, "README.md", f"# Notes\n\n{generated.BEGIN}\n{generated.END}\n")
    settings = config.load(str(vault))
    made = []
    for zone in ("Europe/Berlin", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        upkeep.refresh(settings, now=MORNING, everything=True)
        made.append((vault / "README.md").read_text())
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    assert "- To do: [Write the changelog](notes/task.md) (2026-09-14)" in made[0]
    assert made[0] == made[1]
