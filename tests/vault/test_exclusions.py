"""What is not stored: globs, excluded projects and paths, `.mdmemignore`, switches."""

from __future__ import annotations

import fnmatch
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config, project
from mdmem.vault import exclusions
from tests.conftest import notes
from tests.helpers.claude import capture, prompt
from tests.helpers.plain_git import git

Hook = Callable[..., subprocess.CompletedProcess[str]]


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=10))
def test_a_glob_fits_what_the_shell_says_it_fits(pattern: str, text: str) -> None:
    assert exclusions.matches(pattern, text) == fnmatch.fnmatchcase(text, pattern)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("/home/me/secret", "/home/me/secret", True),
        ("/home/me/secret", "/home/me/secret/deep/file.py", True),
        ("/home/me/secret", "/home/me/secrets", False),
        ("/home/*/secret", "/home/me/secret/x", True),
        ("/home/*/secret", "/home/me/work/secret", False),
        ("/home/**/secret", "/home/me/work/secret/x", True),
        ("/home/**/secret", "/home/secret", True),
        ("**/.env", "/home/me/app/.env", True),
        ("**/*.pem", "/home/me/app/keys/a.pem", True),
        ("**/*.pem", "/home/me/app/keys/a.pem.txt", False),
        ("C:/Users/me", "C:\\Users\\me\\x", True),
    ],
)
def test_a_path_is_covered_by_a_glob_for_it_or_for_a_folder_above(pattern: str, path: str, fits: bool) -> None:
    assert exclusions.covers(pattern, path) is fits


def test_many_stars_cost_no_time_that_grows_beyond_reason() -> None:
    assert not exclusions.covers("**/" * 20_000 + "x", "a/b/c/d")
    assert not exclusions.covers("/".join(["**", "a*b*c*d*e*f"] * 12), "/".join(["a" * 60] * 60))
    assert not exclusions.matches("a*" * 200 + "b", "a" * 5_000)


@pytest.mark.parametrize(
    ("lines", "path", "taken"),
    [
        ("", "src/a.py", True),
        ("# all\n*\n", "src/a.py", False),
        ("secrets/\n", "secrets/a.txt", False),
        ("secrets/\n", "src/secrets/a.txt", False),
        ("/secrets\n", "src/secrets/a.txt", True),
        ("*.env\n", "deploy/prod.env", False),
        ("*.env\n!example.env\n", "deploy/example.env", True),
        ("docs/private\n", "docs/private/plan.md", False),
        ("docs/private\n", "docs/public.md", True),
    ],
)
def test_an_ignore_file_of_the_project_is_honoured(tmp_path: Path, lines: str, path: str, taken: bool) -> None:
    (tmp_path / ".mdmemignore").write_text(lines)
    here = project.identify(str(tmp_path))
    assert exclusions.takes_path(config.load(str(tmp_path / "vault")), str(tmp_path / path), here) is taken


def test_an_ignore_file_saved_by_a_windows_editor_counts_from_its_first_line(tmp_path: Path) -> None:
    (tmp_path / ".mdmemignore").write_text("\ufeffsecrets/\n", encoding="utf-8")
    here = project.identify(str(tmp_path))
    assert not exclusions.takes_path(config.load(str(tmp_path / "vault")), str(tmp_path / "secrets" / "a.txt"), here)


def test_a_folder_outside_the_project_is_not_touched_by_its_ignore_file(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / ".mdmemignore").write_text("*.py\n")
    settings = config.load(str(tmp_path / "vault"))
    assert exclusions.takes_path(settings, str(tmp_path / "other.py"), project.identify(str(root)))


@pytest.mark.parametrize(
    "line", ["./secrets/", "{root}/secrets", "~/app/secrets", "secrets # keys", "secrets/**", "/secrets", "**/secrets"]
)
def test_an_ignored_folder_may_be_written_as_people_write_it(home: Path, line: str) -> None:
    root = home / "app"
    root.mkdir()
    (root / ".mdmemignore").write_text(line.replace("{root}", str(root)))
    settings, place = config.load(str(home / "vault")), project.identify(str(root))
    assert not exclusions.takes_path(settings, str(root / "secrets" / "key.txt"), place)
    assert exclusions.takes_path(settings, str(root / "src" / "key.txt"), place)


def test_a_pattern_that_begins_with_a_slash_begins_at_the_project_wherever_that_is(home: Path) -> None:
    root = home / "app"
    root.mkdir()
    (root / ".mdmemignore").write_text(f"{home}\n/{root.name}\n")
    settings, place = config.load(str(home / "vault")), project.identify(str(root))
    assert exclusions.takes_path(settings, str(root / "src"), place)
    assert not exclusions.takes_path(settings, str(root / "app" / "src"), place)


def test_a_remark_behind_a_pattern_that_takes_back_another_hides_more_not_less(tmp_path: Path) -> None:
    (tmp_path / ".mdmemignore").write_text("keys\n!keys # all but these\n")
    settings, place = config.load(str(tmp_path / "vault")), project.identify(str(tmp_path))
    assert not exclusions.takes_path(settings, str(tmp_path / "keys"), place)


def test_tools_are_chosen_by_globs_and_exclusion_wins(vault: Path) -> None:
    (vault / "mdmem.toml").write_text('[capture]\ntools = ["Bash", "mcp__*"]\nexclude_tools = ["mcp__secret__*"]\n')
    settings = config.load(str(vault))
    taken = [
        tool for tool in ("Bash", "Read", "mcp__db__query", "mcp__secret__get") if exclusions.takes_tool(settings, tool)
    ]
    assert taken == ["Bash", "mcp__db__query"]


@pytest.mark.parametrize("tool", ["Bash", "run_shell_command", "bash", "shell", "exec_command"])
def test_a_tool_is_chosen_by_claude_codes_name_in_every_agent(vault: Path, tool: str) -> None:
    (vault / "mdmem.toml").write_text('[capture]\nexclude_tools = ["Bash"]\n')
    assert not exclusions.takes_tool(config.load(str(vault)), tool)
    (vault / "mdmem.toml").write_text('[capture]\ntools = ["Bash"]\n')
    assert exclusions.takes_tool(config.load(str(vault)), tool)
    (vault / "mdmem.toml").write_text(f'[capture]\nexclude_tools = ["{tool.swapcase()}"]\n')
    assert not exclusions.takes_tool(config.load(str(vault)), tool)


def test_a_project_is_excluded_by_its_name_in_any_case(vault: Path, tmp_path: Path) -> None:
    (vault / "mdmem.toml").write_text('[capture]\nexclude_projects = ["Client-*"]\n')
    settings = config.load(str(vault))
    for name, taken in (("client-a", False), ("CLIENT-B", False), ("other", True)):
        (tmp_path / name).mkdir()
        place = project.identify(str(tmp_path / name))
        assert exclusions.takes_project(settings, place, str(tmp_path / name)) is taken


def test_an_excluded_project_stays_so_when_it_gets_a_remote_or_its_folder_in_the_journal_another_name(
    vault: Path, tmp_path: Path
) -> None:
    work = tmp_path / "taxes"
    work.mkdir()
    git(work, "init", "-q")
    capture(prompt("one", cwd=str(work)))
    (vault / "journal" / "taxes").rename(vault / "journal" / "money")
    git(work, "remote", "add", "origin", "git@example.org:acme/ledger.git")
    place = project.identify(str(work))
    assert place.name == "acme-ledger"
    for name, taken in (("taxes", False), ("money", False), ("acme-*", False), ("acme", True)):
        (vault / "mdmem.toml").write_text(f'[capture]\nexclude_projects = ["{name}"]\n')
        assert exclusions.takes_project(config.load(str(vault)), place, str(work)) is taken


@pytest.mark.parametrize(("text", "off"), [("1", True), ("yes", True), ("No", False), ("off", False), ("False", False)])
def test_a_variable_that_says_no_does_not_switch_storing_off(text: str, off: bool) -> None:
    assert exclusions.is_disabled({"MDMEM_DISABLED": text}) is off


def test_our_own_tools_and_reading_a_to_do_list_are_not_stored(vault: Path) -> None:
    settings = config.load(str(vault))
    tools = ("mcp__mdmem__search", "mcp__plugin_mdmem_mdmem__search", "TodoRead")
    assert not any(exclusions.takes_tool(settings, tool) for tool in tools)


def test_an_excluded_file_is_not_named_by_a_search(tmp_path: Path) -> None:
    (tmp_path / ".mdmemignore").write_text("secrets/\n")
    settings = config.load(str(tmp_path / "vault"))
    found = {
        "filenames": ["src/a.py", "secrets/b.py", str(tmp_path / "secrets" / "c.py")],
        "content": "src/a.py:1:x\nsecrets/b.py:2:y\nsecrets/b.py-3-beside it\nsrc/a-b.py-4-x = 3-1-1\nplain words\n",
        "numFiles": 3,
    }
    kept = exclusions.without_excluded(settings, found, project.identify(str(tmp_path)))
    assert kept == {
        "filenames": ["src/a.py"],
        "content": "src/a.py:1:x\nsrc/a-b.py-4-x = 3-1-1\nplain words\n",
        "numFiles": 3,
    }


def test_what_a_command_prints_of_an_excluded_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".mdmemignore").write_text("secrets/b.py\n.env\n")
    settings = config.load(str(tmp_path / "vault"))
    diff = "diff --git a/src/a.py b/src/a.py\n+x = 1\n"
    hidden = "diff --git a/secrets/b.py b/secrets/b.py\n+y = 2\n"
    found = {"stdout": f"../.env:2:DB=1\n../.env-3-PORT=2\na.py:1:x: int\n{diff}{hidden}{diff}", "stderr": ""}

    kept = exclusions.without_excluded(settings, found, project.identify(str(tmp_path)), str(tmp_path / "src"))

    assert kept == {"stdout": f"a.py:1:x: int\n{diff}{diff}", "stderr": ""}


@pytest.mark.parametrize(
    ("tool", "given", "stored"),
    [
        ("Bash", {"command": "cat ~/keys/box.txt"}, False),
        ("Bash", {"command": "grep -r x ../keys/"}, False),
        ("Bash", {"command": 'sed "s/a/b/" <"{home}/keys/box.txt"'}, False),
        ("Bash", {"command": "cat .env"}, False),
        ("Read", {"file_path": "~/keys/box.txt"}, False),
        ("Bash", {"command": "cat api/config/prod/db.yml"}, False),
        ("Bash", {"command": "cat api/prod/db.yml"}, True),
        ("Bash", {"command": "make keys && cat src/keys.py"}, True),
    ],
)
@pytest.mark.parametrize("folders", ["", "./", "**/"])
def test_what_a_tool_run_names_is_not_stored_when_it_is_excluded(
    vault: Path, home: Path, hook: Hook, tool: str, given: dict[str, str], stored: bool, folders: str
) -> None:
    paths = ["~/keys", f"{folders}.env", f"{folders}config/*/db.yml"]
    (vault / "mdmem.toml").write_text(f"[capture]\nexclude_paths = {json.dumps(paths)}\n")
    (home / "work").mkdir()
    hook(
        {
            "hook_event_name": "PostToolUse",
            "session_id": "7c1f2a9e-4b63-4d0e-9a55-2f6d1c8be301",
            "cwd": str(home / "work"),
            "tool_name": tool,
            "tool_use_id": "toolu_01",
            "tool_input": {name: value.replace("{home}", str(home)) for name, value in given.items()},
            "tool_response": {"stdout": "the content"},
        }
    )
    assert bool(notes(vault)) is stored
