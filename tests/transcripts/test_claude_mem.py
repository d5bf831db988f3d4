"""claude-mem's memory comes along: prompts and, as answers, observations and summaries."""

from __future__ import annotations

import cProfile
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.capture import hook
from mdmem.transcripts import claude_mem
from mdmem.transcripts.saved import ReadOptions, Skipped
from tests.helpers import rights
from tests.helpers.transcript_files import TOOLS

Run = Callable[..., subprocess.CompletedProcess[str]]
START = 1_789_372_800_000
SESSION = "7a0b0c0d-0000-4000-8000-000000000001"
OWN = "9b1c1d1e-0000-4000-8000-000000000002"
TABLES = """
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id, memory_session_id, project, platform_source,
 started_at_epoch);
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id, prompt_number, prompt_text, created_at_epoch);
CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id, project, text, type, title, subtitle, facts,
 narrative, concepts, files_read, files_modified, prompt_number, created_at_epoch);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id, project, request, investigated, learned,
 completed, next_steps, notes, prompt_number, created_at_epoch);
"""
PROMPTS: list[dict[str, Any]] = [
    {"content_session_id": SESSION, "prompt_number": 1, "prompt_text": "Why is the export slow?",
     "created_at_epoch": START + 1_000},
    {"content_session_id": SESSION, "prompt_number": 2, "prompt_text": "Log in as <private>sesame</private>.",
     "created_at_epoch": START + 60_000},
]  # fmt: skip
OBSERVATIONS: list[dict[str, Any]] = [
    {"memory_session_id": OWN, "project": "notes-app", "type": "bugfix", "title": "Export reads each row twice",
     "subtitle": "A join was missing", "facts": '["One join replaces 400 queries."]',
     "narrative": "The exporter asked for the author of every row.", "files_modified": '["src/export.py"]',
     "prompt_number": 1, "created_at_epoch": START + 90_000},
]  # fmt: skip
SUMMARIES: list[dict[str, Any]] = [
    {"memory_session_id": OWN, "project": "notes-app", "request": "Find the cause", "learned": "Joins beat loops.",
     "completed": "The export takes 2 s instead of 40 s.", "next_steps": "Measure the import too.",
     "prompt_number": 1, "created_at_epoch": START + 95_000},
]  # fmt: skip
SESSIONS: list[dict[str, Any]] = [
    {"content_session_id": SESSION, "memory_session_id": OWN, "project": "notes-app", "platform_source": "claude",
     "started_at_epoch": START},
]  # fmt: skip


def insert(opened: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        opened.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            list(row.values()),
        )


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Write the database of one session; return its folder."""
    folder = tmp_path / ".claude-mem"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "claude-mem.db")) as opened, opened:
        opened.executescript(TABLES)
        insert(opened, "sdk_sessions", SESSIONS)
        insert(opened, "user_prompts", PROMPTS)
        insert(opened, "observations", OBSERVATIONS)
        insert(opened, "session_summaries", SUMMARIES)
    return folder


def export(tmp_path: Path) -> Path:
    path = tmp_path / "memories.json"
    known = {"exportedAt": "2026-09-20T00:00:00Z", "query": "", "totalObservations": 1}
    rows = {"observations": OBSERVATIONS, "sessions": SESSIONS, "summaries": SUMMARIES, "prompts": PROMPTS}
    path.write_text(json.dumps({**known, **rows}, indent=2), encoding="utf-8")
    return path


def stored(vault: Path) -> list[frontmatter.Post]:
    return [frontmatter.load(str(path)) for path in sorted(vault.glob("journal/*/*/*/[0-9][0-9][0-9]-*.md"))]


def test_a_session_becomes_prompts_and_what_was_recorded_about_a_turn_its_answer(
    vault: Path, base: Path, ask: Run
) -> None:
    done = ask("import", str(base), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"prompt": 2, "response": 1}
    notes = stored(vault)
    assert [(one["kind"], one["prompt"], one["agent"], one["project"]) for one in notes] == [
        ("prompt", 1, "claude-mem", "notes-app"),
        ("response", 1, "claude-mem", "notes-app"),
        ("prompt", 2, "claude-mem", "notes-app"),
    ]
    answer = notes[1]
    assert answer["title"] == "The export takes 2 s instead of 40 s."
    for part in (
        "Learned: Joins beat loops.",
        "Next steps: Measure the import too.",
        "**Bugfix: Export reads each row twice.**",
        "the author of every row",
        "- One join replaces 400 queries.",
        "Files: `src/export.py`",
    ):
        assert part in answer.content
    assert "sesame" not in "".join(path.read_text("utf-8") for path in vault.rglob("*.md"))


def test_an_import_without_a_path_tells_of_it_until_it_is_imported(
    vault: Path, base: Path, ask: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", str(base))
    told = f"mdmem import {base}"
    assert told in ask("import", "--dry-run", check=True).stderr
    assert told in ask("import", "--yes", check=True).stderr
    assert not stored(vault)
    ask("import", str(base), "--yes", check=True)
    assert "claude-mem" not in ask("import", "--dry-run", check=True).stderr


@rights.kept_out
def test_an_import_does_not_need_a_memory_that_it_would_only_tell_of(
    vault: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", str(base))
    base.chmod(0)
    try:
        done = rights.run([sys.executable, "-m", "mdmem", "--vault", str(vault), "import", "--yes"])
    finally:
        base.chmod(0o700)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("again", ["the database", "an export"])
def test_nothing_is_stored_twice_whichever_way_it_comes(
    vault: Path, base: Path, tmp_path: Path, ask: Run, again: str
) -> None:
    ask("import", str(base), "--yes", check=True)
    path = base / "claude-mem.db" if again == "the database" else export(tmp_path)
    done = ask("import", str(path), "--yes", "--json", "--again", check=True)
    assert json.loads(done.stdout)["added"] == {}
    assert len(stored(vault)) == 3


def test_what_was_recorded_since_comes_with_the_next_import(vault: Path, base: Path, ask: Run) -> None:
    ask("import", str(base), "--yes", check=True)
    later = {**OBSERVATIONS[0], "title": "Logins expire", "prompt_number": 2, "created_at_epoch": START + 120_000}
    with closing(sqlite3.connect(base / "claude-mem.db")) as opened, opened:
        insert(opened, "observations", [later])
    done = ask("import", str(base), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"response": 1}
    assert "Logins expire" in stored(vault)[-1].content


def test_a_turn_that_may_still_go_on_gets_its_answer_later(tmp_path: Path) -> None:
    path = export(tmp_path)
    soon = [saved.event.name for saved in claude_mem.read_export(path, ReadOptions(Skipped(), START / 1000 + 100))]
    later = [saved.event.name for saved in claude_mem.read_export(path, ReadOptions(Skipped(), START / 1000 + 1_000))]
    assert soon == ["SessionStart", "UserPromptSubmit", "Stop", "UserPromptSubmit"]
    assert later == [*soon, "SessionEnd"]


def test_what_was_recorded_without_a_prompt_is_an_answer_too(tmp_path: Path) -> None:
    path = tmp_path / "memories.json"
    path.write_text(json.dumps({"totalObservations": 1, "observations": OBSERVATIONS}), encoding="utf-8")
    saved = list(claude_mem.read_export(path, ReadOptions(Skipped(), START / 1000 + 1_000)))
    assert [(one.event.name, one.event.session) for one in saved] == [
        ("SessionStart", OWN), ("Stop", OWN), ("SessionEnd", OWN),
    ]  # fmt: skip
    soon = claude_mem.read_export(path, ReadOptions(Skipped(), START / 1000 + 100))
    assert [one.event.name for one in soon] == ["SessionStart"]


def test_a_session_that_the_vault_has_from_its_agent_is_passed_over(vault: Path, tmp_path: Path, ask: Run) -> None:
    transcript = tmp_path / "projects" / "-home-ana-app" / f"{SESSION}.jsonl"
    transcript.parent.mkdir(parents=True)
    words = TOOLS.read_text("utf-8")
    transcript.write_text(words.replace(json.loads(words.splitlines()[0])["sessionId"], SESSION), encoding="utf-8")
    ask("import", str(transcript), "--yes", check=True)
    before = len(stored(vault))
    done = ask("import", str(export(tmp_path)), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["skipped"] == {"session that the vault has from the agent itself": 1}
    assert len(stored(vault)) == before > 0


def test_a_project_is_that_of_the_repository_with_its_name(vault: Path, base: Path, tmp_path: Path, ask: Run) -> None:
    repository = tmp_path / "work" / "notes-app"
    (repository / ".git" / "objects").mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    remote = '[remote "origin"]\n\turl = git@example.com:acme/notes-app.git\n'
    (repository / ".git" / "config").write_text(remote, encoding="utf-8")
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": str(repository), "prompt": "Hello."}
    hook.run(["claude-code"], json.dumps(payload).encode(), str(vault))
    preview = ask("import", str(base), "--dry-run", check=True).stdout
    assert "acme-notes-app" in preview and "claude-mem" in preview and "2 prompts" in preview
    ask("import", str(base), "--yes", check=True)
    assert {one["project"] for one in stored(vault)} == {"acme-notes-app"}


@pytest.mark.parametrize(("cwd", "project"), [("/srv/shop/.worktrees/blue", "blue"), ("", "notes-app")])
def test_a_project_is_that_of_the_first_tool_run_or_the_repository_of_a_work_tree(
    vault: Path, base: Path, ask: Run, cwd: str, project: str
) -> None:
    with closing(sqlite3.connect(base / "claude-mem.db")) as opened, opened:
        opened.execute("UPDATE sdk_sessions SET project = 'notes-app/blue'")
        opened.execute("CREATE TABLE tool_uses (id INTEGER PRIMARY KEY, content_session_id, cwd)")
        insert(opened, "tool_uses", [{"content_session_id": SESSION, "cwd": cwd}])
    ask("import", str(base), "--yes", check=True)
    assert {one["project"] for one in stored(vault)} == {project}


def test_a_database_of_another_program_is_no_memory(vault: Path, tmp_path: Path, ask: Run) -> None:
    with closing(sqlite3.connect(tmp_path / "claude-mem.db")) as opened, opened:
        opened.execute("CREATE TABLE bookmarks (url)")
    done = ask("import", str(tmp_path / "claude-mem.db"), "--yes")
    assert done.returncode == 5 and "contains no transcript" in done.stderr


@pytest.mark.parametrize("name", ["", "claude-mem.db"])
def test_a_database_that_another_program_locks_is_said_to_be_locked(
    vault: Path, base: Path, ask: Run, name: str
) -> None:
    with closing(sqlite3.connect(base / "claude-mem.db", isolation_level=None)) as opened:
        opened.execute("BEGIN EXCLUSIVE")
        done = ask("import", str(base / name), "--yes")
    assert done.returncode == 5 and "database is locked" in done.stderr
    assert not stored(vault)


def test_a_database_of_an_earlier_version_is_read_under_its_column_names(vault: Path, base: Path, ask: Run) -> None:
    tables = ("sdk_sessions", "user_prompts", "observations", "session_summaries")
    with closing(sqlite3.connect(base / "claude-mem.db")) as opened, opened:
        for new, old in (("content_session_id", "claude_session_id"), ("memory_session_id", "sdk_session_id")):
            for table in tables:
                if new in {row[1] for row in opened.execute(f"PRAGMA table_info({table})")}:
                    opened.execute(f"ALTER TABLE {table} RENAME COLUMN {new} TO {old}")
    done = ask("import", str(base), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"prompt": 2, "response": 1}


def test_a_byte_that_is_no_text_costs_no_session(vault: Path, base: Path, ask: Run) -> None:
    with closing(sqlite3.connect(base / "claude-mem.db")) as opened, opened:
        opened.execute("UPDATE observations SET narrative = CAST(x'6f6ceb21' AS TEXT)")
    done = ask("import", str(base), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"prompt": 2, "response": 1}
    assert "ol\ufffd!" in stored(vault)[1].content


def test_a_prompt_without_a_time_is_stored_at_that_of_its_session(vault: Path, base: Path, ask: Run) -> None:
    with closing(sqlite3.connect(base / "claude-mem.db")) as opened, opened:
        opened.execute("UPDATE sdk_sessions SET started_at_epoch = NULL")
        opened.execute("UPDATE user_prompts SET created_at_epoch = NULL WHERE prompt_number = 1")
    done = ask("import", str(base), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"prompt": 2, "response": 1}
    assert json.loads(done.stdout)["skipped"] == {}


def test_what_was_recorded_without_a_number_belongs_to_the_prompt_before_it(tmp_path: Path) -> None:
    def unnumbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "prompt_number": None} for row in rows]

    path = tmp_path / "memories.json"
    rows = {"prompts": unnumbered(PROMPTS), "sessions": SESSIONS, "observations": unnumbered(OBSERVATIONS)}
    path.write_text(json.dumps({"totalObservations": 1, **rows}), encoding="utf-8")
    saved = claude_mem.read_export(path, ReadOptions(Skipped(), START / 1000 + 1_000))
    assert [one.event.name for one in saved] == [
        "SessionStart", "UserPromptSubmit", "UserPromptSubmit", "Stop", "SessionEnd",
    ]  # fmt: skip


def test_the_time_for_a_session_grows_with_its_prompts_and_not_with_their_cube(tmp_path: Path) -> None:
    def calls(turns: int) -> int:
        prompts = [{**PROMPTS[0], "prompt_number": at, "created_at_epoch": START + at} for at in range(1, turns + 1)]
        rows = {"sessions": SESSIONS, "prompts": prompts, "observations": [{**OBSERVATIONS[0], **at} for at in prompts]}
        path = tmp_path / f"{turns}.json"
        path.write_text(json.dumps({"totalObservations": turns, **rows}), encoding="utf-8")
        profile = cProfile.Profile()
        profile.runcall(lambda: list(claude_mem.read_export(path, ReadOptions(Skipped(), START / 1000 + 1_000))))
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(80) < 3 * calls(40)


def test_a_copy_under_another_name_is_recognized(vault: Path, base: Path, tmp_path: Path, ask: Run) -> None:
    copy = tmp_path / "old.db"
    shutil.copyfile(base / "claude-mem.db", copy)
    done = ask("import", str(copy), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"prompt": 2, "response": 1}


def test_memory_in_a_hidden_folder_of_a_repository_is_about_that_project(
    vault: Path, tmp_path: Path, ask: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, folder in (("shop", ".memsearch/memory"), ("blog", ".memsearch/memory"), ("wiki", "pages")):
        (tmp_path / name / ".git" / "objects").mkdir(parents=True)
        (tmp_path / name / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        (tmp_path / name / folder).mkdir(parents=True)
        (tmp_path / name / folder / "2026-02-07.md").write_text(f"## Session\n\n- About {name}.\n", encoding="utf-8")
        monkeypatch.chdir(tmp_path / name)
        ask("import", folder, "--yes", check=True)
    notes = {
        path.parent.name: frontmatter.load(str(path)).get("project")
        for path in vault.glob("notes/imported/*/2026-02-07.md")
    }
    assert notes == {"shop-memory": "shop", "blog-memory": "blog", "pages": None}


ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.text(max_size=3), max_size=2)
)


@given(st.lists(st.dictionaries(st.sampled_from(sorted({*OBSERVATIONS[0], *PROMPTS[0]})), ODD), max_size=4))
def test_no_export_makes_reading_fail(tmp_path_factory: pytest.TempPathFactory, odd: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.getbasetemp() / "odd-memories.json"
    rows = [{**known, **one} for one in odd for known in (OBSERVATIONS[0], PROMPTS[0])]
    tables = {"prompts": [*PROMPTS, *rows], "observations": [*rows, 7], "summaries": odd, "sessions": odd}
    path.write_text(json.dumps({"totalObservations": 1, **tables}), encoding="utf-8")
    events = list(claude_mem.read_export(path, ReadOptions(Skipped(), START / 1000 + 10_000)))
    assert events and all(saved.event.session for saved in events)
