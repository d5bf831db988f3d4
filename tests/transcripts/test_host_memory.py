"""What agents remember by themselves is followed: changes, conflicts, deletions, and no second injection."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import frontmatter
import pytest

from mdmem import config
from mdmem.agents.install import offers
from mdmem.inject import eligibility
from mdmem.transcripts import host_memory, promotion
from mdmem.vault import note
from mdmem.watcher import followed
from tests.helpers import tree
from tests.helpers.claude import capture, prompt
from tests.helpers.talk import Talk


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "notes-app"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    return folder


@pytest.fixture
def memory(home: Path, cwd: Path) -> Path:
    """Return the memory folder that Claude Code keeps for the project."""
    place = home / ".claude" / "projects" / "-home-dev-notes-app"
    (place / "memory").mkdir(parents=True)
    (place / "s.jsonl").write_text(f'{{"type": "user", "cwd": "{cwd}"}}\n', encoding="utf-8")
    return place / "memory"


def write(path: Path, text: str, number: int = 0) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (1_789_372_800 + number, 1_789_372_800 + number))


def follow(vault: Path, cwd: Path | None = None) -> int:
    return host_memory.follow(config.load(str(vault)), os.environ, str(cwd or ""))


def only(vault: Path, name: str) -> tuple[Path, frontmatter.Post]:
    (path,) = vault.glob(f"notes/imported/*/**/{name}")
    return path, frontmatter.load(str(path))


def test_what_a_session_said_in_private_is_masked_in_what_its_agent_remembers(
    vault: Path, home: Path, memory: Path
) -> None:
    capture(prompt("Work for <private>Falkenberg Industries</private> now."))
    write(memory / "MEMORY.md", "- The client is Falkenberg Industries\n- Use pnpm\n")
    write(memory / "falkenberg.md", "---\ndescription: FALKENBERG's tools\n---\nUse pnpm.\n")

    assert follow(vault) == 2

    stored = tree.contents(vault, *home.rglob("state"))
    assert [path for path, data in stored if b"falkenberg" in os.fsencode(path).lower() + data.lower()] == []
    assert len(list(vault.glob("notes/imported/**/*.md"))) == 2
    assert "- Use pnpm" in only(vault, "MEMORY.md")[1].content


def test_a_changed_memory_file_is_taken_in_again(vault: Path, memory: Path) -> None:
    write(memory / "MEMORY.md", "- Use pnpm\n")
    write(memory / "tools.md", "# Tools\n\nUse pnpm.\n")
    assert follow(vault) == 2
    assert follow(vault) == 0
    write(memory / "tools.md", "# Tools\n\nUse bun now.\n", 60)
    assert follow(vault) == 1
    _, post = only(vault, "tools.md")
    assert "Use bun now." in post.content and "pnpm" not in post.content
    assert str(post["source"]).endswith("memory/tools.md") and "loaded_by" not in post.metadata
    assert only(vault, "MEMORY.md")[1]["loaded_by"] == ["claude-code"]


def test_an_edited_copy_is_kept_and_the_conflict_is_named(vault: Path, memory: Path) -> None:
    write(memory / "tools.md", "Use pnpm.\n")
    follow(vault)
    path, _ = only(vault, "tools.md")
    path.write_text(path.read_text("utf-8").replace("Use pnpm.", "Use pnpm, says Ada."), encoding="utf-8")
    assert follow(vault) == 0
    write(memory / "tools.md", "Use bun now.\n", 60)
    assert follow(vault) == 0
    _, post = only(vault, "tools.md")
    assert post.content.strip() == "Use pnpm, says Ada." and post["source_changed"]
    (memory / "tools.md").unlink()
    assert follow(vault) == 0 and "superseded_by" not in only(vault, "tools.md")[1].metadata


def test_two_projects_of_one_name_keep_their_memories_apart(
    vault: Path, home: Path, memory: Path, tmp_path: Path
) -> None:
    write(memory / "MEMORY.md", "Use bun.\n")
    assert follow(vault) == 1
    second = home / ".claude" / "projects" / "-home-dev-a-notes-app"
    (second / "memory").mkdir(parents=True)
    line = f'{{"type": "user", "cwd": "{tmp_path / "a" / "notes-app"}"}}\n'
    (second / "s.jsonl").write_text(line, encoding="utf-8")
    write(second / "memory" / "MEMORY.md", "Use deno.\n")
    assert follow(vault) == 1
    assert follow(vault) == 0
    write(second / "memory" / "MEMORY.md", "Use npm.\n", 60)
    assert follow(vault) == 1
    bodies = {frontmatter.load(str(path)).content.strip() for path in vault.glob("notes/imported/*/MEMORY.md")}
    assert bodies == {"Use bun.", "Use npm."}


def test_a_project_named_like_an_agent_keeps_its_instructions_apart(vault: Path, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "codex"
    for folder, text in ((home / ".codex", "Be brief.\n"), (project, "Run the tests.\n")):
        folder.mkdir()
        write(folder / "AGENTS.md", text)
    assert follow(vault, project) == 2
    found = {
        post.content.strip(): post["loaded_by"] for post in map(frontmatter.load, vault.glob("notes/**/AGENTS.md"))
    }
    assert found == {"Be brief.": ["codex"], "Run the tests.": ["codex", "cursor", "copilot", "opencode"]}


def test_what_is_deleted_there_is_superseded_here_until_it_is_back(vault: Path, memory: Path) -> None:
    write(memory / "tools.md", "Use pnpm.\n")
    follow(vault)
    (memory / "tools.md").unlink()
    assert follow(vault) == 1
    path, post = only(vault, "tools.md")
    assert post["superseded_by"] == host_memory.SUPERSEDED
    assert eligibility.left_out(note.parse(path.read_bytes())) == "superseded"
    assert follow(vault) == 0
    write(memory / "tools.md", "Use pnpm.\n", 60)
    assert follow(vault) == 1
    assert "superseded_by" not in only(vault, "tools.md")[1].metadata


def test_a_note_that_its_owner_deleted_stays_away(vault: Path, memory: Path) -> None:
    write(memory / "tools.md", "Use pnpm.\n")
    write(memory / "dates.md", "ISO 8601 only.\n")
    follow(vault)
    only(vault, "tools.md")[0].unlink()
    write(memory / "tools.md", "Use bun now.\n", 60)
    write(memory / "dates.md", "RFC 3339 only.\n", 60)
    assert follow(vault) == 1
    assert not list(vault.glob("notes/imported/*/tools.md"))
    assert "RFC 3339" in only(vault, "dates.md")[1].content


def test_files_that_this_machine_never_had_are_not_taken_for_deleted(vault: Path, memory: Path, tmp_path: Path) -> None:
    write(memory / "tools.md", "Use pnpm.\n")
    follow(vault)
    (memory / "tools.md").unlink()
    Path(config.load(str(vault)).state_dir, "followed").unlink()  # as on another machine
    assert follow(vault) == 0
    assert "superseded_by" not in only(vault, "tools.md")[1].metadata


def test_instruction_files_of_a_project_are_followed_once_a_session_was_there(vault: Path, cwd: Path) -> None:
    write(cwd / "CLAUDE.md", "Use bun.\n\n<private>the key is x</private>\n")
    write(cwd / "AGENTS.md", "Run the tests.\n")
    assert follow(vault) == 0
    assert follow(vault, cwd) == 2
    write(cwd / "CLAUDE.md", "Use deno.\n", 60)
    assert follow(vault) == 1  # the watcher knows the project by now
    _, post = only(vault, "CLAUDE.md")
    assert post.content.strip() == "Use deno." and post["project"] == "notes-app"
    assert post["loaded_by"] == ["claude-code", "cursor", "copilot", "opencode"]
    assert not [path for path in vault.rglob("*.md") if "the key is" in path.read_text("utf-8")]


def test_a_file_is_only_loaded_by_the_agents_that_look_for_it_there(vault: Path, home: Path, cwd: Path) -> None:
    write(cwd / "GEMINI.md", "Use deno.\n")
    for folder, name in ((cwd / ".claude", "CLAUDE.md"), (home / ".codex", "AGENTS.md")):
        folder.mkdir(exist_ok=True)
        write(folder / name, "Be brief.\n")
    follow(vault, cwd)
    found = {path.name: frontmatter.load(str(path))["loaded_by"] for path in vault.glob("notes/imported/**/*.md")}
    assert found == {"CLAUDE.md": ["claude-code"], "AGENTS.md": ["codex"], "GEMINI.md": ["gemini", "copilot"]}


def test_what_mdmem_promoted_is_not_taken_in_again(vault: Path, cwd: Path) -> None:
    mention = "mdmem puts notes between `<!-- mdmem:begin ID -->` and `<!-- mdmem:end ID -->`. Use bun.\n"
    mine = promotion.with_note(mention, "0f1e2d3c4b", "Dates", "ISO 8601 only.")
    write(cwd / "CLAUDE.md", mine)
    follow(vault, cwd)
    assert only(vault, "CLAUDE.md")[1].content.strip() == mention.strip()


def test_a_file_full_of_markers_that_end_nowhere_is_read_at_once(vault: Path, cwd: Path) -> None:
    markers = "".join(f"<!-- mdmem:begin {number % 3_000} -->\n" for number in range(6_000))
    write(cwd / "CLAUDE.md", f"Use bun.\n{markers}")
    follow(vault, cwd)
    assert only(vault, "CLAUDE.md")[1].content.startswith("Use bun.\n<!-- mdmem:begin 0 -->")


def test_an_agent_is_not_given_what_it_loads_by_itself(vault: Path, cwd: Path) -> None:
    write(cwd / "CLAUDE.md", "The zanzibar rule: releases happen on Tuesdays.\n")
    write(cwd / "AGENTS.md", "The kilimanjaro rule: deploys happen on Fridays.\n")
    follow(vault, cwd)
    talk = Talk(vault, cwd)
    talk.start()
    talk.now += 86_400
    assert "Tuesdays" not in talk.asks("What did we write about the zanzibar rule for releases?")
    assert "Fridays" in talk.asks("What did we write about the kilimanjaro rule for deploys?")


def test_auto_memory_that_is_switched_off_is_given_again(vault: Path, home: Path, memory: Path) -> None:
    write(memory / "MEMORY.md", "- Use pnpm\n")
    follow(vault)
    path, _ = only(vault, "MEMORY.md")
    assert eligibility.left_out(note.parse(path.read_bytes()), "claude-code")
    assert not eligibility.left_out(note.parse(path.read_bytes()), "codex")
    offers.accept("claude-code", next(one for one in offers.OFFERS["claude-code"] if one.name == "one-memory"))
    assert not eligibility.left_out(note.parse(path.read_bytes()), "claude-code")
    folder = home / ".claude"
    folder.chmod(0o755)
    (folder / "settings.json").rename(home / "mine.json")
    (folder / "settings.json").symlink_to(home / "mine.json")
    assert not eligibility.left_out(note.parse(path.read_bytes()), "claude-code")
    assert folder.stat().st_mode & 0o777 == 0o755


def test_the_background_commit_takes_them_in_unless_the_settings_say_no(vault: Path, memory: Path, mdmem: Any) -> None:
    write(memory / "tools.md", "Use pnpm.\n")
    mdmem("config", "set", "capture.host_memory", "false", check=True)
    mdmem("commit", "--quiet")
    assert not list(vault.glob("notes/imported/*/*"))
    mdmem("config", "unset", "capture.host_memory", check=True)
    mdmem("commit", "--quiet")
    assert only(vault, "tools.md")


def test_an_import_without_a_path_takes_them_in_and_follows_them(
    vault: Path, home: Path, memory: Path, cwd: Path, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = cwd.with_name("other-app")
    (other / ".git").mkdir(parents=True)
    write(memory / "tools.md", "Use pnpm.\n")
    write(home / ".claude" / "CLAUDE.md", "Be brief.\n")
    write(cwd / "AGENTS.md", "Run the tests.\n")
    write(other / "GEMINI.md", "Use deno.\n")
    monkeypatch.chdir(other)
    line = {"type": "user", "uuid": "u1", "sessionId": "s1", "cwd": str(cwd), "timestamp": "2026-09-14T08:00:00.000Z"}
    line["message"] = {"role": "user", "content": "Why does the parser fail?"}  # type: ignore[assignment]
    (memory.parent / "s.jsonl").write_text(f"{json.dumps(line)}\n", encoding="utf-8")

    shown = ask("import", "--dry-run", check=True).stdout
    assert "AGENTS.md in" in shown and "GEMINI.md in" in shown and "4 markdown files." in shown
    ask("import", "--yes", check=True)
    assert [only(vault, name)[1].content.strip() for name in ("tools.md", "CLAUDE.md", "AGENTS.md", "GEMINI.md")] == [
        "Use pnpm.", "Be brief.", "Run the tests.", "Use deno."
    ]  # fmt: skip
    assert follow(vault) == 0
    (memory / "tools.md").unlink()
    write(cwd / "AGENTS.md", "Run all tests.\n", 60)
    assert follow(vault) == 2
    assert only(vault, "tools.md")[1]["superseded_by"] and "all tests" in only(vault, "AGENTS.md")[1].content


def test_an_import_of_some_sessions_or_by_settings_that_say_no_leaves_them_out(
    vault: Path, memory: Path, ask: Any
) -> None:
    write(memory / "tools.md", "Use pnpm.\n")
    ask("import", "--since", "2026-09-01", "--yes", check=True)
    ask("config", "set", "capture.host_memory", "false", check=True)
    ask("import", "--yes", check=True)
    assert not list(vault.glob("notes/imported/*/*"))


def test_doctor_names_the_conflict(vault: Path, memory: Path, mdmem: Any) -> None:
    write(memory / "tools.md", "Use pnpm.\n")
    follow(vault)
    path, _ = only(vault, "tools.md")
    path.write_text(path.read_text("utf-8").replace("Use pnpm.", "Use npm."), encoding="utf-8")
    write(memory / "tools.md", "Use bun now.\n", 60)
    follow(vault)
    said = mdmem("doctor", "--only", "notes").stdout
    assert "tools.md was edited here, and its source ~/.claude/projects" in " ".join(said.split())


def test_the_watcher_sees_that_a_followed_file_or_its_folder_has_changed(vault: Path, memory: Path) -> None:
    settings = config.load(str(vault))
    assert followed.stats(settings) == {}
    write(memory / "tools.md", "Use pnpm.\n")
    follow(vault)
    before = followed.stats(settings)
    assert followed.stats(settings) == before
    write(memory / "new.md", "New.\n")
    os.utime(memory, (1_789_372_900, 1_789_372_900))
    after = followed.stats(settings)
    assert after != before
    (memory / "tools.md").unlink()
    assert followed.stats(settings) != after


def test_two_folders_of_one_name_are_imported_beside_each_other(vault: Path, tmp_path: Path, ask: Any) -> None:
    for number in (1, 2):
        folder = tmp_path / str(number) / "docs"
        folder.mkdir(parents=True)
        (folder / "rules.md").write_text(f"Rule {number}.\n", encoding="utf-8")
        ask("import", str(folder), "--yes", check=True)
    ask("import", str(tmp_path / "1" / "docs"), "--yes", check=True)
    (tmp_path / "1").rename(tmp_path / "moved")
    ask("import", str(tmp_path / "moved" / "docs"), "--yes", check=True)

    found = sorted((vault / "notes" / "imported").rglob("rules.md"))

    assert [path.parent.name.partition("-")[0] for path in found] == ["docs", "docs"]
    assert {path.read_text(encoding="utf-8").splitlines()[-1] for path in found} == {"Rule 1.", "Rule 2."}
