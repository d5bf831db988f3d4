"""From nothing to a working memory: init, install, status, uninstall, demo."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import config
from mdmem.cli.setup import demo, init
from mdmem.settings import SETTINGS
from tests.conftest import session_pages
from tests.helpers import rights
from tests.helpers.plain_git import git

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_new_vault_is_a_clean_repository_with_its_files(mdmem: Run, home: Path) -> None:
    done = mdmem("init", check=True)
    vault = home / "mdmem"
    assert str(vault) in done.stdout
    assert {path.name for path in vault.iterdir()} == {
        ".git", ".gitattributes", ".gitignore", "README.md", "journal", "mdmem.toml", "notes",
    }  # fmt: skip
    assert git(vault, "status", "--porcelain") == ""
    assert len(git(vault, "log", "--oneline").splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes; a folder of the user's profile is the user's alone")
def test_all_that_is_made_is_the_users_alone_whatever_the_umask(mdmem: Run, home: Path) -> None:
    before = os.umask(0)
    try:
        mdmem("init", str(home / "far" / "memory"), check=True)
        mdmem("install", "claude-code", "codex", check=True)
        mdmem("note", "Releases on Tuesday.", check=True)
        mdmem("commit", check=True)
        mdmem("backup", str(home / "backup.bundle"), check=True)
    finally:
        os.umask(before)

    made = [path for path in home.rglob("*") if not path.is_symlink()]
    assert home / "far" / "memory" / ".git" / "index" in made
    assert [path for path in made if path.stat().st_mode & 0o077] == []


def test_making_a_vault_again_changes_nothing(ask: Run, home: Path) -> None:
    ask("init", check=True)
    (home / "mdmem" / "README.md").write_text("my own words")
    done = ask("init", check=True)
    assert "nothing was changed" in done.stdout
    assert (home / "mdmem" / "README.md").read_text() == "my own words"


def test_a_vault_whose_making_was_killed_before_its_first_commit_is_committed_the_next_time(
    ask: Run, home: Path
) -> None:
    vault = home / "mdmem"
    ask("init", check=True)
    shutil.rmtree(vault / ".git")
    git(vault, "init", "-q", "-b", "main")

    assert "created .git" in ask("init", check=True).stdout
    assert git(vault, "status", "--short") == ""


def test_a_repository_whose_making_into_a_vault_was_killed_is_committed_the_next_time(ask: Run, tmp_path: Path) -> None:
    vault = tmp_path / "notes"
    vault.mkdir()
    git(vault, "init", "-q", "-b", "main")
    (vault / "own.md").write_text("# Own\n")
    git(vault, "add", "own.md")
    git(vault, "commit", "-qm", "Own")
    for name, text in init.files_of_new().items():
        (vault / name).write_text(text)

    assert "is complete" in ask("init", str(vault), check=True).stdout
    assert git(vault, "status", "--short") == ""
    assert ask("review", "--list", check=True).stdout == "0 notes to review.\n"


def test_making_a_vault_again_whose_settings_git_ignores_commits_and_reviews_nothing(ask: Run, tmp_path: Path) -> None:
    vault = tmp_path / "notes"
    vault.mkdir()
    git(vault, "init", "-q", "-b", "main")
    (vault / ".gitignore").write_text("mdmem.toml\n")
    ask("init", "--inside", str(vault), check=True)
    (vault / "own.md").write_text("# Own\n")

    assert "nothing was changed" in ask("init", str(vault), check=True).stdout
    assert git(vault, "status", "--short") == "?? own.md\n"
    assert "1 note to review" in ask("review", "--list", check=True).stdout


def test_a_vault_that_lacks_only_its_history_is_told_of_it(ask: Run, home: Path) -> None:
    ask("init", check=True)
    shutil.rmtree(home / "mdmem" / ".git")
    done = ask("init", check=True)
    assert "(created .git)" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("list",), ("commit",), ("commit", "--quiet"), ("sync",), ("purge", "some words"), ("backup", "all.bundle"),
        ("undo", "HEAD", "--yes"), ("diff",), ("review", "--list"), ("watch",),
    ],
)  # fmt: skip
def test_a_vault_that_was_moved_is_named_with_what_to_do(ask: Run, home: Path, words: tuple[str, ...]) -> None:
    ask("init", check=True)
    ask("note", "Some words", check=True)
    (home / "mdmem").rename(home / "elsewhere")

    done = ask(*words)

    assert (done.returncode, "it was moved or deleted" in done.stderr) == (4, True)
    assert "`mdmem config set --user vault PATH`" in done.stderr


def test_a_vault_elsewhere_is_named_in_the_users_settings(ask: Run, home: Path, tmp_path: Path) -> None:
    ask("init", str(tmp_path / "memory"), check=True)
    assert config.load().vault == str(tmp_path / "memory")
    assert "memory" in ask("status", check=True).stdout


def test_a_vault_is_not_made_of_the_home_folder(ask: Run, home: Path) -> None:
    before = sorted(home.parent.rglob("*"))
    for folder in (home, home / "x" / ".."):
        done = ask("init", str(folder))
        assert (done.returncode, "a vault is a folder of its own" in done.stderr) == (4, True)

    assert sorted(home.parent.rglob("*")) == before


def test_a_vault_is_not_made_of_a_folder_of_projects(ask: Run, tmp_path: Path) -> None:
    work = tmp_path / "work"
    git(tmp_path, "init", "-q", str(work / "shop"))

    done = ask("init", str(work))

    assert (done.returncode, "a vault is a folder of its own" in done.stderr) == (4, True)
    assert [path.name for path in work.iterdir()] == ["shop"]
    assert "shop" in done.stderr and ask("init", "--inside", str(work)).returncode == 0


@pytest.mark.parametrize("name", ["journal", "logseq", ".obsidian", "today.markdown"])
def test_a_folder_that_keeps_notes_or_was_a_vault_may_have_a_repository_in_it(
    ask: Run, tmp_path: Path, name: str
) -> None:
    (tmp_path / "kept" / name).mkdir(parents=True)
    git(tmp_path, "init", "-q", str(tmp_path / "kept" / "shop"))

    ask("init", str(tmp_path / "kept"), check=True)


def test_a_folder_of_notes_with_a_repository_in_it_becomes_a_vault(ask: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    git(tmp_path, "init", "-q", str(notes / "snippets"))
    (notes / "ideas.md").write_text("Use tabs.\n")

    ask("init", str(notes), check=True)

    assert (notes / "mdmem.toml").exists()


def test_a_vault_where_nothing_can_be_written_is_refused_with_what_to_do(ask: Run) -> None:
    done = ask("init", "/proc/memory")

    assert done.returncode == 4
    assert "cannot be created at /proc/memory" in done.stderr and "`mdmem init PATH`" in done.stderr


def test_another_vault_than_the_one_in_use_says_how_to_use_it(
    ask: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "my second"
    ask("init", str(first), check=True)
    done = ask("init", str(second), check=True)
    assert f"names another vault, {first}, which stays in use. To use {second}: mdmem config set" in done.stderr

    ask(*shlex.split(done.stderr.partition(": mdmem ")[2]), check=True)
    assert config.load().vault == str(second)

    monkeypatch.setenv("MDMEM_VAULT", str(first))
    assert f"MDMEM_VAULT names another vault, {first}" in ask("init", str(tmp_path / "third"), check=True).stderr


def test_installing_for_an_agent_that_is_not_there_says_so(ask: Run, home: Path) -> None:
    ask("init", check=True)
    done = ask("install", "cursor", "gemini", check=True)
    assert "Not found on this machine: Cursor, Gemini CLI. Hooks do nothing until" in done.stderr
    assert "Not found" not in ask("install", "cursor", check=True).stderr


def test_a_vault_that_takes_the_place_of_the_default_one_says_so(ask: Run, home: Path, tmp_path: Path) -> None:
    ask("init", check=True)
    done = ask("init", str(tmp_path / "memory"), check=True)
    assert f"config.toml now names it in place of {home / 'mdmem'}, which stays as it is.\n" in done.stdout


def test_a_folder_of_own_notes_that_becomes_a_vault_leaves_nothing_to_review(ask: Run, tmp_path: Path) -> None:
    folder = tmp_path / "my notes"
    folder.mkdir()
    (folder / "old.md").write_text("# Old\n\nwords\n")
    assert f"mdmem init '{folder}'" in ask("--vault", str(folder), "doctor", "--only", "vault").stdout
    ask("init", str(folder), check=True)
    assert ask("review", "--list", check=True).stdout == "0 notes to review.\n"
    (folder / "new.md").write_text("# New\n\nwords\n")
    assert ask("review", "--list", check=True).stdout.endswith("1 note to review.\n")
    assert not git(folder, "status", "--porcelain")


def test_an_obsidian_vault_is_kept_as_it_is_and_its_views_are_offered(ask: Run, tmp_path: Path) -> None:
    folder = tmp_path / "garden"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "app.json").write_text("{}")
    (folder / "Idea.md").write_text("# Idea\n")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    done = ask("init", str(folder), check=True)

    assert "`mdmem config obsidian` adds views" in done.stdout
    assert {path: path.read_bytes() for path in before} == before
    assert "obsidian" not in ask("init", str(folder), check=True).stdout


def test_a_vault_inside_another_repository_is_refused_unless_meant(ask: Run, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    git(code, "init", "-q")
    done = ask("init", str(code / "memory"))
    assert done.returncode == 4
    assert "inside the git repository" in done.stderr
    assert "--inside" in done.stderr
    assert not (code / "memory").exists()
    ask("init", str(code / "memory"), "--inside", check=True)


def test_a_repository_that_is_no_vault_does_not_become_one_by_mistake(ask: Run, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "main.py").write_text("x = 1\n")
    git(code, "init", "-q")
    git(code, "add", "main.py")
    git(code, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x")
    done = ask("init", str(code))
    assert done.returncode == 4
    assert "--inside" in done.stderr
    assert sorted(path.name for path in code.iterdir()) == [".git", "main.py"]

    ask("init", str(code), "--inside", check=True)
    ask("init", str(code), check=True)


def test_notes_from_before_a_folder_became_a_vault_need_no_review(ask: Run, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    (folder / "journal").mkdir(parents=True)  # of a person's own
    for name in "one", "journal/two":
        (folder / f"{name}.md").write_text(f"# {name}\n")
    git(folder, "init", "-q")
    git(folder, "add", "one.md")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x")

    ask("init", str(folder), "--inside", check=True)
    assert "0 notes" in ask("--vault", str(folder), "review", "--list", check=True).stdout

    (folder / "later.md").write_text("# Later\n")
    assert "Later" in ask("--vault", str(folder), "review", "--list", check=True).stdout


def test_a_file_in_the_place_of_the_vault_is_refused(ask: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = ask("--vault", str(tmp_path / "file"), "init")
    assert done.returncode == 4
    assert "is a file" in done.stderr


def test_every_line_of_a_new_settings_file_is_a_default(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MDMEM_INJECT_DEADLINE_SECONDS")
    text = init.settings_text()
    (vault / "mdmem.toml").write_text(text)
    defaults = {setting.key: setting.default for setting in SETTINGS}
    assert config.load(str(vault)).settings.values == defaults

    lines = [line.removeprefix("#") if line.startswith("#") and " = " in line else line for line in text.splitlines()]
    (vault / "mdmem.toml").write_text("\n".join(lines))
    found = config.load(str(vault))
    assert found.settings.values == defaults
    assert found.warnings == ()


def test_installing_and_taking_out_again_leaves_the_settings_as_they_were(mdmem: Run, ask: Run, home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    before = (
        '{\n  "model": "opus",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}\n'
    )
    file.write_text(before)

    ask("init", check=True)
    assert "start a new session" in mdmem("install", "claude-code", check=True).stderr
    after = json.loads(file.read_text())
    assert after["model"] == "opus"
    assert {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"} <= set(after["hooks"])
    assert json.loads(ask("status", "--json", check=True).stdout)[0]["state"] == "registered"

    text = file.read_text()
    again = ask("install", "claude-code", check=True)
    assert "already up to date" in again.stdout
    assert "Next" not in again.stderr
    assert file.read_text() == text

    ask("install", "codex", "--yes", check=True)
    assert "No agent" not in ask("uninstall", "codex", check=True).stderr
    ask("install", "claude-code", "--mcp", check=True)
    told = mdmem("uninstall", "claude-code", check=True).stderr
    where = json.loads(ask("config", "path", "--json", check=True).stdout)
    assert f"No agent is registered any more. Your notes stay in {where['vault']}.\n" in told
    assert where["state"] in told.partition("rm -r ")[2]
    assert file.read_text() == before
    assert "not registered in" in ask("uninstall", "claude-code", check=True).stdout


@rights.kept_out
def test_an_export_that_cannot_be_written_does_not_blame_a_read_only_vault(vault: Path, tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    shut.mkdir()
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "a.md").write_text("A note.\n", encoding="utf-8")
    for folder in (vault, shut):
        folder.chmod(0o500)
    try:
        words = [sys.executable, "-m", "mdmem", "--vault", str(vault), "export", str(shut / "out.jsonl")]
        done = rights.run(words)
    finally:
        vault.chmod(0o700)

    assert done.returncode == 1
    assert f"Permission denied ({shut / 'out.jsonl'})" in done.stderr


def test_an_agent_that_is_nearly_named_is_suggested(ask: Run) -> None:
    assert "Did you mean claude-code?" in ask("install", "claude").stderr


def test_a_vault_made_without_git_is_named_and_completed_later(
    ask: Run, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(tmp_path))
        done = ask("init")

    assert done.returncode == 7
    assert f"The vault is at {home / 'mdmem'}, but has no history." in done.stderr
    ask("init", check=True)
    assert len(git(home / "mdmem", "log", "--oneline").splitlines()) == 1


def test_settings_that_are_no_json_are_refused_and_left_alone(ask: Run, home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{ // mine\n}")
    done = ask("install", "claude-code")
    assert done.returncode == 3
    assert str(file) in done.stderr
    assert file.read_text() == "{ // mine\n}"


def test_a_vault_that_was_registered_stays_registered(ask: Run, home: Path, tmp_path: Path) -> None:
    ask("--vault", str(tmp_path / "memory"), "install", "claude-code", check=True)
    ask("install", "claude-code", check=True)
    assert str(tmp_path / "memory") in (home / ".claude" / "settings.json").read_text()


def test_without_an_agent_on_the_machine_installing_says_so(ask: Run) -> None:
    done = ask("install", "--all", "--yes", env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 3
    assert "No coding agent was found" in done.stderr


def test_status_says_what_was_last_heard(ask: Run, hook: Run, vault: Path) -> None:
    hook({"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/tmp"}, env={"MDMEM_NOW": "1789372800"})
    (row, *_) = json.loads(ask("status", "--json", check=True).stdout)
    assert (row["agent"], row["last_event"], row["last_seen"]) == (
        "claude-code",
        "SessionStart",
        "2026-09-14T08:00:00Z",
    )
    hook({"hook_event_name": "PreCompress", "session_id": "s"}, "gemini", env={"MDMEM_NOW": "1789372801"})
    said = ask("status", check=True).stdout
    assert "last heard from 2026-09-14 08:00 (SessionStart)\n" in said
    assert "last heard from 2026-09-14 08:00\n" in said
    heard = ask(check=True).stdout.partition("Last heard from\n")[2].splitlines()
    assert heard[:2] == ["  Claude Code  2026-09-14 08:00", "  Gemini CLI   2026-09-14 08:00"]


@pytest.mark.parametrize("words", [["nonsense"], ["serch", "x"]])
def test_a_mistyped_command_is_an_error_of_usage(ask: Run, words: list[str]) -> None:
    done = ask(*words)
    assert done.returncode == 2
    assert "No such command" in done.stderr
    if words[0] == "serch":
        assert "search" in done.stderr


@pytest.mark.slow
def test_the_demo_shows_the_whole_path_and_leaks_nothing(mdmem: Run, tmp_path: Path) -> None:
    done = mdmem("demo", "--at", str(tmp_path / "demo"), check=True)
    for shown in (
        "├── 001-000-prompt-",
        "```diff",
        "[mem:",
        "<mdmem-context",
        "journal/acme-notes-app",
        "insertions(+)",
    ):
        assert shown in done.stdout, shown
    vault = tmp_path / "demo" / "vault"
    assert str(vault) in done.stdout
    assert len(session_pages(vault)) == 3
    assert git(vault, "status", "--porcelain") == ""
    everything = b"".join(path.read_bytes() for path in (tmp_path / "demo").rglob("*") if path.is_file())
    for private in (b"pager is on her desk", b"correcthorse", b"Zm9vYmFyYmF6cXV4", b"Ms Okafor"):
        assert private not in everything
        assert private.decode() not in done.stdout
    notes = b"".join(path.read_bytes() for path in vault.glob("journal/**/*.md"))
    assert b"[PRIVATE]" in notes
    assert b"[REDACTED]" in notes


def test_a_folder_with_a_demo_is_left_alone_and_said_to_have_one(ask: Run, tmp_path: Path) -> None:
    demo.prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    done = ask("demo", "--at", str(tmp_path))

    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path} has a demo already: `mdmem --vault {tmp_path}/vault search" in done.stderr
    assert "delete the folder or name another one" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_demo_does_not_write_into_folders_that_are_not_its_own(ask: Run, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "file").touch()

    assert "has a vault of its own already" in ask("demo", "--at", str(tmp_path)).stderr
    assert "is a file. Name a folder" in ask("demo", "--at", str(tmp_path / "file")).stderr
    assert list((tmp_path / "vault").iterdir()) == []


def test_the_demo_names_the_program_as_it_was_started_where_path_does_not_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert demo.program(".venv/bin/mdmem") == ".venv/bin/mdmem"
    assert demo.program("mdmem/__main__.py") == "mdmem"

    (tmp_path / "mdmem").write_text("#!/bin/sh\n")
    (tmp_path / "mdmem").chmod(0o700)
    assert demo.program(".venv/bin/mdmem") == "mdmem"
