"""Registration: mdmem's entries come and go, and nothing else in anybody's settings moves."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mdmem
from mdmem import launch, system
from mdmem.agents import claude_code
from mdmem.agents.install import (
    catalog,
    command_line,
    entries,
    json_text,
    launcher,
    mcp_registration,
    missing_program,
    registration,
)
from mdmem.agents.install.catalog import AGENTS
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError, UsageError
from tests.helpers import rights
from tests.helpers.claude import bash, prompt, registered
from tests.helpers.waiting import until

JSON_AGENTS = ["claude-code", "codex", "gemini", "cursor", "copilot"]
HAND_WRITTEN = """\
{
    "model": "opus",
    "permissions": { "allow": ["Bash(git status:*)", "Read"], "deny": [] },
    "limits": [1.0, 1e5, 12345678901234567890],
    "name": "Zo\\u00eb \\/ Zoë",
    "hooks": {
        "Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ],
        "PostToolUse": [
            {
                "matcher": "Edit|Write",
                "hooks": [
                    {"type": "command", "command": "prettier --write", "timeout": 30}
                ]
            }
        ]
    },
    "unknown": {"kept": null}
}
"""


def settings(home: Path, agent: str = "claude-code") -> Path:
    path = Path(catalog.row_of(agent).settings("user", "", os.environ))
    assert path.is_relative_to(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def hooks(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))["hooks"]


# --- Claude Code ---------------------------------------------------------------------------------


def test_claude_code_gets_capture_on_every_event_injection_on_three_and_commits_in_the_background(home: Path) -> None:
    change = registration.register("claude-code")

    lists = hooks(settings(home))
    assert (change.action, change.path, change.backup) == ("created", str(settings(home)), "")
    assert set(lists) == {
        "SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolUseFailure",
        "Stop", "StopFailure", "PreCompact", "SubagentStop", "SessionEnd", "PreToolUse",
    }  # fmt: skip
    assert [group.get("matcher") for group in lists["PostToolUse"]] == ["*"]
    lines = {
        event: [handler["command"].replace("'", "") for handler in groups[0]["hooks"]]
        for event, groups in lists.items()
    }
    assert all("mdmem-run hook" in line[0] for event, line in lines.items() if event != "PreToolUse")
    assert [event for event, line in lines.items() if any("mdmem-run inject" in one for one in line)] == [
        "PreToolUse",
    ]
    assert [event for event, line in lines.items() if "mdmem-run commit" in line[-1]] == [
        "SessionStart",
        "Stop",
        "SessionEnd",
    ]
    for groups in lists.values():
        for handler in groups[0]["hooks"]:
            assert handler["type"] == "command"
            assert 0 < handler["timeout"] <= 60
            assert handler.get("async", False) == ("mdmem-run commit" in handler["command"].replace("'", ""))


def test_nothing_else_in_a_hand_written_file_moves(home: Path) -> None:
    path = settings(home)
    path.write_text(HAND_WRITTEN, "utf-8")

    change = registration.register("claude-code")

    text = path.read_text("utf-8")
    assert change.action == "updated"
    assert all(line in text for line in HAND_WRITTEN.splitlines()[:5])
    assert text.endswith('\n    "unknown": {"kept": null}\n}\n')
    assert hooks(path)["PostToolUse"][0]["hooks"][0]["command"] == "prettier --write"
    assert registration.unregister("claude-code").action == "removed"
    assert path.read_text("utf-8") == HAND_WRITTEN


def test_twice_changes_nothing_not_even_the_time_of_the_file(home: Path) -> None:
    settings(home).write_text(HAND_WRITTEN, "utf-8")
    registration.register("claude-code")
    before = settings(home).stat()

    change = registration.register("claude-code")

    assert change.action == "unchanged"
    assert settings(home).stat().st_mtime_ns == before.st_mtime_ns


def test_the_first_change_leaves_a_copy_and_later_ones_do_not_touch_it(home: Path) -> None:
    path = settings(home)
    path.write_text(HAND_WRITTEN, "utf-8")
    backup = registration.register("claude-code").backup
    path.write_text(path.read_text("utf-8").replace("opus", "sonnet"), "utf-8")

    registration.register("claude-code", vault="/elsewhere")

    assert backup == f"{path}.mdmem-backup"
    assert Path(backup).read_text("utf-8") == HAND_WRITTEN


def test_a_copy_that_has_mdmem_in_it_is_never_put_back(home: Path) -> None:
    path = settings(home)
    registration.register("claude-code", vault="/old")
    path.write_text(path.read_text("utf-8").replace("{", '{"model": "opus",', 1), "utf-8")
    registration.register("claude-code", vault="/new")
    assert Path(f"{path}.mdmem-backup").exists()

    registration.unregister("claude-code")

    assert json.loads(path.read_text("utf-8")) == {"model": "opus"}


def test_a_file_that_is_mdmems_alone_needs_no_copy(home: Path) -> None:
    registration.register("claude-code", vault="/old")

    assert registration.register("claude-code", vault="/new").backup == ""
    assert registration.unregister("claude-code").action == "deleted"
    assert not list(settings(home).parent.iterdir())


def test_taking_out_after_other_changes_keeps_those(home: Path) -> None:
    path = settings(home)
    path.write_text(HAND_WRITTEN, "utf-8")
    registration.register("claude-code")
    path.write_text(path.read_text("utf-8").replace("opus", "sonnet"), "utf-8")

    registration.unregister("claude-code")

    assert path.read_text("utf-8") == HAND_WRITTEN.replace("opus", "sonnet")


def test_an_older_entry_is_replaced_where_it_stands(home: Path) -> None:
    path = settings(home)
    path.write_text(HAND_WRITTEN, "utf-8")
    registration.register("claude-code")
    path.write_text(path.read_text("utf-8").replace(str(home), "/old/home"), "utf-8")
    before = hooks(path)
    assert registration.status("claude-code").state == "outdated"

    change = registration.register("claude-code")

    after = hooks(path)
    assert change.action == "updated"
    assert "/old/home" not in path.read_text("utf-8")
    assert list(after) == list(before)
    assert [len(groups) for groups in after.values()] == [len(groups) for groups in before.values()]
    assert registration.status("claude-code").state == "registered"


def test_an_entry_that_somebody_put_among_others_or_twice_is_found(home: Path) -> None:
    own = {"type": "command", "command": "python -c 'from mdmem.capture.hook import main'"}
    other = {"type": "command", "command": "say done"}
    data = {"hooks": {"Stop": [{"hooks": [own, other, own]}, {"hooks": [own]}, {"hooks": [own]}], "Setup": [
        {"hooks": [own]}]}}  # fmt: skip
    settings(home).write_text(json.dumps(data, indent=2), "utf-8")

    registration.register("claude-code")

    lists = hooks(settings(home))
    assert lists["Stop"][0]["hooks"] == [other]
    assert len(lists["Stop"]) == 2
    assert "Setup" not in lists


@pytest.mark.parametrize(
    "line",
    ["mdmem hook claude-code", "cd x && ~/.local/bin/mdmem --vault ~/v hook claude-code", "py -m mdmem inject codex"],
)
def test_a_hook_that_somebody_wrote_by_hand_is_told_replaced_and_taken_out(home: Path, line: str) -> None:
    own, other = ({"type": "command", "command": text} for text in (line, "echo mdmem hooks; mdmem commit"))
    text = json.dumps({"hooks": {"Stop": [{"hooks": [own, other]}]}}, indent=2)
    settings(home).write_text(text, "utf-8")
    assert registration.status("claude-code").state == "outdated"

    registration.register("claude-code")

    assert line not in settings(home).read_text("utf-8")
    registration.unregister("claude-code")
    assert json.loads(settings(home).read_text("utf-8")) == {"hooks": {"Stop": [{"hooks": [other]}]}}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a": 1} // mine',
        '/* mine */ {"a": 1}',
        '{"a": 1,}',
        '{"a": NaN}',
        "[]",
        "null",
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        "[" * 100_000,
        '{"a": ' + "[" * 970 + "]" * 970 + "}",
        '{"a": ' + "[" * 3000 + "]" * 3000 + "}",
    ],
)
def test_what_is_no_settings_file_is_refused_and_left_alone(home: Path, text: str) -> None:
    path = settings(home)
    path.write_text(text, "utf-8")

    for act in (registration.register, registration.unregister):
        try:
            act("claude-code")
        except ConfigError as error:
            assert str(path) in str(error)
            assert "not changed" in str(error)
        else:
            assert '{"a": [' in text, "depth alone may be within reach"
            return
    assert path.read_text("utf-8") == text
    assert registration.status("claude-code").state == "unreadable"
    assert list(path.parent.iterdir()) == [path]


def test_what_is_no_text_is_refused(home: Path) -> None:
    settings(home).write_bytes(b'{"a": "\xff"}')

    with pytest.raises(ConfigError, match="UTF-8"):
        registration.register("claude-code")


def test_an_empty_file_counts_as_one_without_settings(home: Path) -> None:
    settings(home).write_text("", "utf-8")

    registration.register("claude-code")
    assert registration.status("claude-code").state == "registered"

    registration.unregister("claude-code")
    assert settings(home).read_text("utf-8") == ""


def test_a_file_that_mdmem_made_goes_again(home: Path) -> None:
    registration.register("claude-code")

    assert registration.unregister("claude-code").action == "deleted"
    assert not settings(home).exists()
    assert registration.unregister("claude-code").action == "unchanged"


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_is_not_installed_does_not_look_so_after_uninstall(home: Path, agent: str) -> None:
    """`mdmem doctor` and `mdmem install` take an agent's settings folder for the agent."""
    folder = Path(catalog.row_of(agent).module.folder(os.environ))
    registration.register(agent)
    registration.unregister(agent)
    assert not folder.exists()
    assert home.is_dir()

    registration.register(agent)
    (folder / "of-the-agent").touch()
    registration.unregister(agent)
    assert [file.name for file in folder.iterdir()] == ["of-the-agent"]


def test_a_symlink_that_led_nowhere_does_so_again(home: Path, tmp_path: Path) -> None:
    settings(home).symlink_to(tmp_path / "missing.json")
    registration.register("claude-code")
    assert registration.unregister("claude-code").action == "deleted"
    assert settings(home).is_symlink()
    assert not (tmp_path / "missing.json").exists()


def test_a_symlink_stays_one_and_mode_mark_and_line_ends_stay(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    content = b"\xef\xbb\xbf" + HAND_WRITTEN.replace("\n", "\r\n").encode()
    real.write_bytes(content)
    real.chmod(0o640)
    settings(home).symlink_to(real)

    registration.register("claude-code")

    changed = real.read_bytes()
    assert settings(home).is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert changed.startswith(b"\xef\xbb\xbf{\r\n")
    assert changed.count(b"\n") == changed.count(b"\r\n")
    registration.unregister("claude-code")
    assert real.read_bytes() == content
    assert settings(home).is_symlink()


def test_a_file_that_cannot_be_written_is_reported(home: Path) -> None:
    path = settings(home)
    path.mkdir()

    with pytest.raises(ConfigError, match="not a regular file"):
        registration.register("claude-code")


@pytest.mark.skipif(sys.platform == "win32", reason="folders have other rights there")
def test_nothing_is_left_of_a_registration_whose_file_cannot_be_written(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "store" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    settings(home).symlink_to(real)
    real.parent.chmod(0o500)

    with rights.of_a_user(), pytest.raises(ConfigError, match="cannot be written"):
        registration.register("claude-code")

    assert [path.name for path in settings(home).parent.iterdir()] == ["settings.json"]
    assert not os.path.exists(launcher.path())
    assert real.read_text(encoding="utf-8") == "{}"


def test_a_read_only_file_is_not_replaced(home: Path) -> None:
    file = home / ".cursor" / "hooks.json"
    file.parent.mkdir()
    file.write_text('{"version": 1}', encoding="utf-8")
    file.chmod(0o400)
    with pytest.raises(ConfigError, match="read-only"):
        registration.register("cursor")
    assert (file.read_text("utf-8"), sorted(path.name for path in file.parent.iterdir())) == (
        '{"version": 1}',
        ["hooks.json"],
    )


def test_a_read_only_file_is_not_deleted(home: Path) -> None:
    registration.register("cursor")
    file = home / ".cursor" / "hooks.json"
    before = file.read_bytes()
    file.chmod(0o400)
    with pytest.raises(ConfigError, match="read-only"):
        registration.unregister("cursor")
    assert file.read_bytes() == before


def test_the_command_that_makes_a_read_only_file_writable_quotes_its_path(home: Path) -> None:
    file = home / "my settings.json"
    file.write_text("{}", encoding="utf-8")
    file.chmod(0o400)
    with pytest.raises(ConfigError, match=r"`chmod u\+w '.*/my settings.json'`"):
        SettingsFile(str(file)).write("{ }")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
@pytest.mark.parametrize("lead", ["", "/dev/zero"])
@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini"])
def test_a_pipe_or_a_device_in_the_place_of_settings_is_refused_and_not_waited_for(
    home: Path, agent: str, lead: str
) -> None:
    path = settings(home, agent)
    path.symlink_to(lead) if lead else os.mkfifo(path)

    with pytest.raises(ConfigError, match="not a regular file"):
        registration.register(agent)
    with pytest.raises(ConfigError, match="not a regular file"):
        registration.unregister(agent)
    assert registration.status(agent).state == "unreadable"
    assert not claude_code.is_registered("mdmem", str(home), os.environ)


def test_no_other_file_is_left_behind(home: Path) -> None:
    settings(home).write_text(HAND_WRITTEN, "utf-8")

    registration.register("claude-code")
    registration.unregister("claude-code")

    assert [path.name for path in settings(home).parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("scope", "place"), [("project", ".claude/settings.json"), ("local", ".claude/settings.local.json")]
)
def test_a_project_has_its_own_settings(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    change = registration.register("claude-code", scope)

    assert change.path == str(tmp_path / place)
    assert ("without mdmem" in change.note) == (scope == "project")
    assert registration.status("claude-code", scope).state == "registered"
    assert registration.status("claude-code").state == "absent"


@pytest.mark.parametrize("scope", catalog.SCOPES)
def test_all_agents_of_any_scope_can_be_taken_out_at_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., Any], scope: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for row in AGENTS.values():
        Path(row.module.folder(os.environ), "sessions").mkdir(parents=True)
    ask("install", "--all", "--yes", "--scope", scope, check=True)
    assert registration.status("claude-code", scope).state == "registered"

    ask("uninstall", "--all", "--scope", scope, check=True)

    assert registration.status("claude-code", scope).state == "absent"


@pytest.mark.skipif(sys.platform == "win32", reason="there, data are where settings are")
def test_a_launcher_in_another_data_folder_is_not_said_to_be_gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registration.register("claude-code")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "elsewhere"))

    row = registration.status("claude-code")

    assert (row.state, row.problem) == ("outdated", None)
    registration.unregister("claude-code")
    assert not (home / ".local/share").exists()


# --- every agent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_can_be_registered_looked_at_and_taken_out(home: Path, agent: str) -> None:
    assert registration.status(agent).state == "absent"

    change = registration.register(agent, vault="/home/dev/my notes")

    assert change.action == "created"
    assert Path(change.path).is_relative_to(home)
    assert registration.status(agent).state == "registered"
    assert registration.status(agent).vault == "/home/dev/my notes"
    assert registration.register(agent, vault="/home/dev/my notes").action == "unchanged"
    assert registration.unregister(agent).action == "deleted"
    assert registration.status(agent).state == "absent"


@pytest.mark.parametrize("agent", AGENTS)
def test_every_event_that_an_agent_sends_to_the_hook_is_one_that_it_reads(agent: str) -> None:
    module = catalog.row_of(agent).module

    assert {verb for _, verb, _, _ in module.HOOKS} - {"inject"} == {"hook", "commit"}
    assert all(timeout > 0 for _, _, _, timeout in module.HOOKS)


def test_each_format_is_the_agents_own(home: Path) -> None:
    for agent in JSON_AGENTS:
        registration.register(agent)

    codex = json.loads(settings(home, "codex").read_text("utf-8"))
    assert set(codex) == {"hooks"}, "Codex refuses a file with other keys"
    assert [handler["timeout"] for handler in codex["hooks"]["SessionEnd"][0]["hooks"]] == [3, 3]
    assert not any("async" in handler for groups in codex["hooks"].values() for handler in groups[0]["hooks"])
    gemini = hooks(settings(home, "gemini"))
    assert gemini["BeforeAgent"][0]["hooks"][0]["timeout"] == 10_000
    assert gemini["BeforeAgent"][0]["hooks"][0]["name"] == "mdmem-hook"
    cursor = json.loads(settings(home, "cursor").read_text("utf-8"))
    assert cursor["version"] == 1
    assert set(cursor["hooks"]["sessionStart"][0]) == {"command", "timeout"}
    copilot = json.loads(settings(home, "copilot").read_text("utf-8"))
    assert copilot["version"] == 1
    assert set(copilot["hooks"]["PostToolUse"][0]) == {"type", "bash", "timeoutSec"}


@pytest.mark.parametrize(
    ("agent", "variable", "place"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("copilot", "COPILOT_HOME", "hooks/mdmem.json"),
        ("opencode", "OPENCODE_CONFIG_DIR", "plugin/mdmem.js"),
    ],
)
def test_an_agent_with_a_home_of_its_own_is_found_there(
    agent: str, variable: str, place: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    change = registration.register(agent)

    assert change.path == str(tmp_path / place)
    assert [found.folder for found in catalog.detect() if found.agent == agent] == [
        str(tmp_path / ".gemini" if agent == "gemini" else tmp_path)
    ]


def test_an_agent_or_scope_that_is_none_is_a_wrong_word() -> None:
    with pytest.raises(UsageError, match="claude-code, codex"):
        registration.register("emacs")
    with pytest.raises(UsageError, match="Codex CLI"):
        registration.register("codex", "local")


def test_the_survey_names_every_agent_and_what_the_project_adds(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    registration.register("codex", "project")
    settings(home, "cursor").write_text("nonsense", "utf-8")

    rows = registration.survey()

    states = {(row.agent, row.scope): row.state for row in rows}
    assert states.pop(("codex", "project")) == "registered"
    assert states.pop(("cursor", "user")) == "unreadable"
    assert set(states.values()) == {"absent"}
    assert {agent for agent, _ in states} == set(AGENTS) - {"cursor"}


def test_the_users_own_file_is_no_projects_where_the_home_folder_is_the_current_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registration.register("claude-code")
    monkeypatch.chdir(home)

    rows = registration.survey()

    assert [(row.scope, row.state) for row in rows if row.agent == "claude-code"] == [("user", "registered")]


def test_agents_are_detected_by_folder_or_program(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (home / ".codex").mkdir()
    program = tmp_path / "gemini"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)

    found = {each.agent: each for each in catalog.detect()}

    assert set(found) == {"codex", "gemini"}
    assert (found["codex"].folder, found["codex"].program) == (str(home / ".codex"), "")
    assert (found["gemini"].folder, found["gemini"].program) == ("", str(program))


# --- any settings file ---------------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
HANDLERS = st.fixed_dictionaries({"type": st.just("command"), "command": NAMES})
GROUPS = st.fixed_dictionaries({"matcher": NAMES, "hooks": st.lists(HANDLERS, max_size=2)}) | VALUES
LISTS = st.dictionaries(st.sampled_from(["Stop", "PostToolUse", "Other"]), st.lists(GROUPS, min_size=1, max_size=3))
DATA = st.builds(
    lambda data, lists, place: dict([*data[:place], *([("hooks", lists)] if lists else []), *data[place:]]),
    st.lists(st.tuples(NAMES.filter(lambda name: name != "hooks"), VALUES), max_size=4),
    LISTS,
    st.integers(0, 4),
)


@given(data=DATA, indent=st.sampled_from([None, 1, 2, 4, "\t"]), plain=st.booleans(), end=st.sampled_from(["", "\n"]))
@example({}, 2, True, "\n")
@example({"hooks": {"Stop": [{"hooks": []}]}}, None, True, "")
def test_in_and_out_again_leaves_every_byte_of_any_settings_file(
    data: dict[str, Any], indent: int | str | None, plain: bool, end: str
) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=plain) + end
    skeleton = catalog.row_of("claude-code").skeleton

    inside = entries.merged(text, "x", WANTED, skeleton)

    assert entries.merged(inside, "x", WANTED, skeleton) == inside
    assert entries.merged(inside, "x", {}, {}) == text
    lists = json.loads(inside)["hooks"]
    assert all(lists[event][-1:] == items for event, items in WANTED.items())
    assert {key: value for key, value in json.loads(inside).items() if key != "hooks"} == {
        key: value for key, value in data.items() if key != "hooks"
    }


WANTED: entries.Lists = {
    "Stop": [{"hooks": [{"type": "command", "command": "x mdmem.capture.hook"}]}],
    "PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "x mdmem.capture.hook ü"}]}],
}


@given(data=VALUES.filter(lambda value: isinstance(value, (dict, list)) and value), indent=st.sampled_from([None, 2]))
def test_a_value_put_into_any_document_is_there_and_can_be_taken_out(data: Any, indent: int | None) -> None:
    text = json.dumps(data, indent=indent)
    key = "added" if isinstance(data, dict) else None

    longer = json_text.append(text, (), {"a": [1]}, key)

    where: json_text.Path = (key,) if key else (len(data),)
    assert json.loads(longer) == ({**data, "added": {"a": [1]}} if key else [*data, {"a": [1]}])
    assert json.loads(json_text.replace(longer, where, 7))[where[0]] == 7
    assert json.loads(json_text.remove(longer, where)) == {k: v for k, v in data.items() if k != key} if key else data


def test_of_two_equal_keys_the_last_one_counts() -> None:
    text = '{"hooks": 1, "b": 2, "hooks": {"Stop": []}}'

    assert json_text.append(text, ("hooks",), 1, "x") == '{"hooks": 1, "b": 2, "hooks": {"Stop": [], "x": 1}}'
    assert json_text.remove(text, ("hooks",)) == '{"hooks": 1, "b": 2}'


# --- command lines -------------------------------------------------------------------------------


def run(line: str, shell: str = "sh", **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([shell, "-c", line], capture_output=True, timeout=240, **more)


def test_a_command_is_the_launcher_with_a_verb_an_agent_and_perhaps_a_vault() -> None:
    line = command_line.command("hook", "codex", "/my notes/it's")

    assert shlex.split(line) == [launcher.path(), "hook", "codex", "--vault", "/my notes/it's"]
    assert command_line.vault_of(line) == "/my notes/it's"
    assert command_line.vault_of(command_line.command("inject", "codex")) == ""
    assert command_line.vault_of("anything else") == ""


def test_a_command_of_an_earlier_version_is_known_with_its_vault() -> None:
    line = '[ ! -x /py ] || exec /py -I -S -B -c \'from mdmem.capture.hook import main; main(["codex"],"/v v")\''

    assert command_line.is_own(line)
    assert command_line.vault_of(line) == "/v v"
    assert not command_line.is_own("/usr/bin/python hook.py")


def test_the_launcher_starts_this_interpreter_and_skips_what_it_does_not_need() -> None:
    (line,) = (line for line in launcher.text([]).splitlines() if line.startswith("hook) "))

    assert shlex.split(line.partition(" -c ")[0]) == ["hook)", "exec", launcher.interpreter(""), "-I", "-S", "-B"]


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode"])
def test_another_name_of_the_same_interpreter_is_the_same_registration(
    client: str, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`python -m mdmem` and `python3 -m mdmem` of one environment are one mdmem, another environment's is another."""
    names = [tmp_path / "bin" / "python", tmp_path / "bin" / "python3", tmp_path / "other" / "python"]
    for name in names:
        name.parent.mkdir(exist_ok=True)
        name.symlink_to(sys.executable)

    def states(name: Path) -> list[str]:
        monkeypatch.setattr(sys, "executable", str(name))
        return [registration.status(client).state, mcp_registration.status(client).state]

    monkeypatch.setattr(sys, "executable", str(names[0]))
    registration.register(client)
    mcp_registration.register(client)

    assert states(names[1]) == ["registered"] * 2
    assert registration.register(client).action == mcp_registration.register(client).action == "unchanged"
    assert states(names[0]) == ["registered"] * 2
    assert states(names[2]) == ["outdated"] * 2


def take_away(gone: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the launcher start a Python that is gone, or one without mdmem; return the file that is missing."""
    python, package = folder / "bin" / "python", folder / "mdmem"
    monkeypatch.setattr(sys, "executable", str(python))
    folder.mkdir(exist_ok=True)
    if gone == "package":
        python.parent.mkdir()
        python.symlink_to(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]
        monkeypatch.setattr(launcher, "PACKAGE", str(package))
    os.utime(folder, (0, 0))  # long ago: no installer is at work
    return str(python if gone == "interpreter" else package / "launch.py")


def test_an_environment_is_registered_by_a_name_that_outlives_its_python(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("python3.11", "python"):
        (tmp_path / "bin" / name).symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python3.11"))

    assert launcher.interpreter("") == sys.executable, "the system's python may be another one tomorrow"
    (tmp_path / "pyvenv.cfg").touch()
    assert launcher.interpreter("") == str(tmp_path / "bin" / "python")
    assert launcher.interpreter(sys.executable) == sys.executable, "what is registered stays"


@pytest.mark.parametrize("shell", [name for name in ("sh", "bash", "dash", "zsh", "fish") if shutil.which(name)])
@pytest.mark.parametrize("verb", ["hook", "inject", "commit"])
@pytest.mark.parametrize("gone", ["interpreter", "package"])
def test_a_command_is_valid_in_every_shell_and_silent_where_mdmem_is_gone(
    verb: str, shell: str, gone: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    take_away(gone, tmp_path / "it's gone", monkeypatch)

    done = run(registered(verb, "codex", str(tmp_path)), shell, input=b"{}")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("agent", "event", "key"),
    [
        ("claude-code", "SessionStart", "systemMessage"),
        ("codex", "SessionStart", "systemMessage"),
        ("gemini", "SessionStart", "systemMessage"),
        ("cursor", "sessionStart", "user_message"),
        ("opencode", "SessionStart", "message"),
        ("copilot", "SessionStart", ""),
        ("claude-code", "PostToolUse", ""),
        ("claude-code", "UserPromptSubmit", ""),
        ("gemini", "BeforeAgent", ""),
        ("cursor", "beforeSubmitPrompt", ""),
    ],
)
@pytest.mark.parametrize("gone", ["interpreter", "package"])
def test_a_hook_whose_python_or_mdmem_is_gone_says_when_a_session_begins_how_to_repair_or_silence_it(
    agent: str, event: str, key: str, gone: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = take_away(gone, tmp_path / "it\"s'gone é\\", monkeypatch)
    line = registered("hook", agent, str(tmp_path))

    for separators in ((",", ":"), (", ", ": ")):
        sent = {"session_id": "a", "hook_event_name": event, "prompt": 'a "hook_event_name":"SessionStart" \0' * 9}
        done = run(line, input=json.dumps(sent, separators=separators).encode())

        assert (done.returncode, done.stderr) == (0, b"")
        said = json.loads(done.stdout)[key] if key else done.stdout.decode()
        assert (f"its hooks start {file}, which is gone." in said) == bool(key)
        silenced = f"or delete {os.path.dirname(launcher.path())} and mdmem's lines in /nonexistent/settings.json."
        assert (silenced in said) == bool(key)
        assert bool(said) == bool(key)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows starts Python itself")
def test_a_python_or_a_package_that_hooks_start_and_that_is_gone_is_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    registration.register("claude-code")
    assert registration.status("claude-code").problem is None
    for kind in ("interpreter", "package"):
        with monkeypatch.context() as elsewhere:
            gone = take_away(kind, tmp_path / "nowhere", elsewhere)
            registration.register("claude-code")

        problem = f"It stores nothing: its hooks start {gone}, which is gone."
        assert str(registration.status("claude-code").problem) == problem
        assert problem in ask("status").stdout
        assert problem in " ".join(ask("doctor", "--only", "agents").stdout.split())
        ask("doctor", "--only", "agents", "--fix")
        row = registration.status("claude-code")
        assert (row.state, row.problem) == ("registered", None)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows starts Python itself")
def test_a_hook_whose_package_was_moved_by_an_upgrade_of_python_stores_and_starts_the_new_one(
    vault: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(launcher, "PACKAGE", str(tmp_path / "lib" / "python3.10" / "mdmem"))
        registration.register("claude-code")
    row = registration.status("claude-code")
    assert (row.state, row.problem) == ("outdated", None)

    line = command_line.command("hook", "claude-code")
    done = [run(line, input=json.dumps(event).encode()) for event in (prompt("First"), bash("3 passed"))]

    assert [(one.returncode, one.stdout, one.stderr) for one in done] == [(0, b"", b"")] * 2
    assert len(list(vault.rglob("0??-0??-*.md"))) == 2
    row = registration.status("claude-code")
    assert (row.state, row.problem) == ("registered", None)


def lose_event(line: str, mark: Path, **more: Any) -> None:
    """Send an event where mdmem is gone, and wait until the background has recorded in `mark` that it is lost."""
    before = mark.stat().st_mtime_ns if mark.exists() else 0
    run(line, input=json.dumps(prompt("The walrus sings")).encode(), **more)
    until(lambda: mark.exists() and mark.stat().st_mtime_ns != before and mark.read_text().endswith("\n"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows starts Python itself")
def test_that_events_were_lost_while_mdmem_was_gone_is_told_without_their_words(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    with monkeypatch.context() as elsewhere:
        take_away("package", tmp_path / "nowhere", elsewhere)
        line = registered("hook", "codex")
    mark = Path(f"{launcher.path()}{missing_program.LOST}")
    for _ in range(2):
        lose_event(line, mark)

    assert "walrus" not in mark.read_text()
    assert mark.stat().st_mode & 0o77 == 0
    assert "1 event lost" in ask("status").stdout
    checked = " ".join(ask("doctor", "--only", "lost").stdout.split())
    assert "An event of codex was lost at" in checked
    assert "mdmem was gone; events before it may be lost too" in checked
    launch.record_loss("codex", launcher.path())
    assert "2 events lost" in ask("status").stdout
    launcher.leave("/nonexistent/settings.json")
    assert not mark.parent.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows starts Python itself")
def test_a_hook_does_not_wait_again_in_a_folder_that_changes_all_the_time(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a home folder, after the environment in it was deleted without `mdmem uninstall`."""
    with monkeypatch.context() as elsewhere:
        take_away("interpreter", tmp_path / "nowhere", elsewhere)
        line = registered("hook", "codex")
    mark, naps = Path(f"{launcher.path()}{missing_program.LOST}"), tmp_path / "naps"
    (tmp_path / "programs").mkdir()
    sleep = tmp_path / "programs" / "sleep"
    sleep.write_text(f'#!/bin/sh\necho "$1 $event" >>{shlex.quote(str(naps))}\n')
    sleep.chmod(0o700)
    env = {**os.environ, "PATH": f"{sleep.parent}:{os.environ['PATH']}", "event": "exported"}

    def send() -> None:
        os.utime(tmp_path / "nowhere")
        lose_event(line, mark, env=env)

    send()
    assert set(naps.read_text().splitlines()) == {".1 ", "1 "}, "it waits, and no other program gets the event"
    naps.unlink()
    send()
    assert not naps.exists()
    os.utime(mark, (0, 0))  # long ago
    send()
    assert naps.exists()


def test_a_launcher_of_another_home_is_not_renewed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "PACKAGE", str(tmp_path / "gone" / "mdmem"))
    registration.register("claude-code")
    before = Path(launcher.path()).read_bytes()
    line = command_line.command("hook", "claude-code")

    done = run(line, input=b'{"hook_event_name":"SessionStart"}', env={**os.environ, "XDG_DATA_HOME": str(tmp_path)})

    assert (done.returncode, done.stderr) == (0, b"")
    assert "which is gone" in json.loads(done.stdout)["systemMessage"]
    assert Path(shlex.split(line)[0]).read_bytes() == before


def test_a_command_in_a_projects_settings_is_silent_where_nobody_has_mdmem(home: Path) -> None:
    line = command_line.command("hook", "codex", shared=True)

    assert "exec ~/.local/share/mdmem/mdmem-run hook codex" in line
    done = run(line, input=b"{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("shell", [name for name in ("sh", "bash", "dash", "zsh", "fish") if shutil.which(name)])
def test_where_a_missing_program_is_a_refusal_the_command_says_that_it_is_gone_and_succeeds(
    shell: str, home: Path
) -> None:
    for verb, word in (("hook", "mdmem install gemini"), ("commit", "")):
        done = run(command_line.command(verb, "gemini", str(home / "it's mine")), shell, input=b"{}")

        assert (done.returncode, done.stderr) == (0, b"")
        assert word in (json.loads(done.stdout)["systemMessage"] if done.stdout else "")


def test_the_launcher_comes_with_the_first_registration_and_goes_with_the_last(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path(launcher.path())
    registration.register("codex")
    registration.register("claude-code", "project")
    assert file.stat().st_mode & 0o777 == 0o700
    assert registration.status("codex").state == "registered"

    registration.unregister("codex")
    assert file.exists()
    file.write_text("#!/bin/sh\n# of an older version\n", encoding="utf-8")
    assert registration.status("claude-code", "project").state == "outdated"
    registration.register("claude-code", "project")
    assert registration.status("claude-code", "project").state == "registered"

    registration.unregister("claude-code", "project")
    assert not file.parent.exists()


def test_on_windows_claude_code_starts_python_without_a_window_and_without_a_shell(
    monkeypatch: pytest.MonkeyPatch, vault: Path
) -> None:
    monkeypatch.setattr(launcher, "is_windows", lambda: True)

    lists = entries.lists_for(catalog.row_of("claude-code"), "C:\\my notes", shared=False)

    (handler,) = lists["Stop"][0]["hooks"][:1]
    assert handler["command"] == sys.executable, "pythonw.exe where there is one"
    assert handler["args"][:3] == ["-I", "-S", "-B"]
    assert handler["args"][-4:] == ["hook", "claude-code", "--vault", "C:\\my notes"]
    line = command_line.command("hook", "codex", "C:\\my notes")
    assert line.endswith(' hook codex --vault "C:\\my notes"')
    assert command_line.vault_of(line) == "C:\\my notes"
    text = launcher.text(["C:\\Users\\ana\\.claude\\settings.json"])
    compile(text, "launcher", "exec")
    for verb in (*launcher.MODULES, "commit"):
        compile(launcher.code(verb), verb, "exec")


@pytest.mark.skipif(sys.platform == "win32", reason="the home folder is replaced in the POSIX way")
def test_on_windows_a_hook_whose_mdmem_is_gone_says_so_and_stores_when_an_installer_has_put_it_back(
    monkeypatch: pytest.MonkeyPatch, vault: Path, home: Path, tmp_path: Path
) -> None:
    package = tmp_path / "it's here" / "mdmem"
    package.parent.mkdir()
    with monkeypatch.context() as windows_:
        windows_.setattr(launcher, "is_windows", lambda: True)
        windows_.setattr(launcher, "PACKAGE", str(package))
        windows_.setattr(missing_program, "_TRIES", 1200)  # a busy machine is not a failure
        text = launcher.text(["C:\\Users\\ana\\.claude\\settings.json"])
    (tmp_path / "mdmem-run.py").write_text(text, "utf-8")

    def started(verb: str, agent: str, event: dict[str, Any]) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-s", "-S", "-B", str(tmp_path / "mdmem-run.py"), verb, agent]
        pipe = subprocess.PIPE
        env = {**os.environ, "PYTHONIOENCODING": "cp1252:strict"}  # there is no Á in it as UTF-8
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path, env=env)
        assert process.stdin
        process.stdin.write(json.dumps({**event, "agent_type": "Á"}, ensure_ascii=False).encode())
        process.stdin.close()
        process.stdin = None
        return process

    os.utime(package.parent, (0, 0))  # long ago: no installer is at work
    start = {"session_id": "a", "hook_event_name": "SessionStart"}
    for verb, agent, event, is_told in (
        ("hook", "codex", start, True),
        ("hook", "copilot", start, False),
        ("hook", "codex", prompt("First"), False),
        ("commit", "codex", start, False),
    ):
        with started(verb, agent, event) as process:
            out, err = process.communicate(timeout=240)
        assert (process.returncode, err) == (0, b"")
        assert bool(out) == is_told
        assert not out or f"start {package / 'launch.py'}, which is gone." in json.loads(out)["systemMessage"]

    os.utime(package.parent)
    lost = tmp_path / f"mdmem-run.py{missing_program.LOST}"
    lost.unlink()
    with started("hook", "claude-code", prompt("First")) as process:
        time.sleep(0.5)
        assert process.poll() is None, "it waits"
        package.symlink_to(Path(mdmem.__file__).parent)
        assert (*process.communicate(timeout=240), process.returncode) == (b"", b"", 0)
    assert len(list(vault.rglob("0??-0??-*.md"))) == 1


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("claude-code", "UserPromptSubmit-plain-01"),
        ("codex", "PostToolUse-Bash-01"),
        ("gemini", "AfterAgent-01"),
        ("cursor", "afterAgentResponse-01"),
        ("copilot", "PostToolUse-bash-01"),
        ("opencode", "UserPromptSubmit-01"),
    ],
)
def test_what_an_agent_runs_stores_what_happened_there(agent: str, name: str, vault: Path) -> None:
    payload = (Path(__file__).parent.parent / "payloads" / agent.replace("-", "_") / f"{name}.json").read_bytes()
    line = registered("hook", agent, str(vault))

    done = run(line, input=payload, cwd="/", env={"HOME": os.environ["HOME"], "MDMEM_INJECT_DEADLINE_SECONDS": "50"})

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (note,) = vault.glob("journal/*/*/*/00?-00?-*.md")
    assert f"\nagent: {agent}\n" in note.read_text("utf-8")


@pytest.mark.slow
def test_every_import_of_a_command_is_found_without_site() -> None:
    needs = ", ".join(["mdmem.config", *launcher._NEEDS])

    code = f"import sys; sys.path += {launcher.search_path()!r}; import {needs}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, timeout=240)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_commit_continues_after_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src" / "mdmem" / "cli"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    shutil.copytree(Path(system.__file__).parent, package.parent / "system")
    os.mkfifo(tmp_path / "go")
    (package / "__init__.py").write_text(
        "import os, sys\n"
        "def main():\n"
        f"    open({str(tmp_path / 'go')!r}).read()\n"  # waits for the test
        f"    open({str(tmp_path / 'done')!r}, 'w').write(repr((sys.argv[1:], os.getsid(0) == os.getpid())))\n",
        "utf-8",
    )
    (package.parent / "launch.py").touch()
    monkeypatch.setattr(launcher, "PACKAGE", str(package.parent))

    done = run(registered("commit", "codex", "/v"), input=b"x" * 200_000)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (tmp_path / "done").exists()

    with (tmp_path / "go").open("w"):
        pass
    mark = tmp_path / "done"
    until(lambda: mark.exists() and mark.stat().st_size)
    assert (tmp_path / "done").read_text("utf-8") == "(['--vault', '/v', 'commit', '--quiet'], True)"


def test_what_version_0_1_registered_for_injection_still_starts_it() -> None:
    from mdmem.inject import process
    from mdmem.recall import inject

    assert inject.main is process.main


COMMENTED = """{
  // my theme
  "theme": "dark", // really
  /* hooks of mine */
  "hooks": {
    "BeforeAgent": [{"hooks": [{"type": "command", "command": "own // no comment"}]}] // keep
  } // end
}
"""


@pytest.mark.parametrize("text", [COMMENTED, "{ // nothing yet\n}\n"])
def test_comments_of_an_agent_that_takes_them_stay_where_they_are(home: Path, text: str) -> None:
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(text, "utf-8")

    registration.register("gemini")
    mcp_registration.register("gemini")
    made = path.read_text("utf-8")
    assert registration.status("gemini").state == mcp_registration.status("gemini").state == "registered"
    assert all(part in made for part in ("// my theme", "/* hooks of mine */", "// keep") if part in text)

    path.write_text(f"{made}// written since\n", "utf-8")  # so that the file is not just put back
    mcp_registration.unregister("gemini")
    registration.unregister("gemini")
    assert path.read_text("utf-8").split() == f"{text}// written since\n".split()


@pytest.mark.parametrize("agent", ["claude-code", "gemini"])
def test_hooks_run_where_the_home_folder_may_not_hold_programs(
    vault: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    subprocess.run(["mount", "-o", "remount,noexec", str(small_disk)], check=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(small_disk / "share"))
    registration.register("claude-code")

    for event in (prompt("Fix the parser"), bash("3 passed")):
        line = command_line.command("hook", agent).replace("hook gemini", "hook claude-code")
        done = subprocess.run(["/bin/sh", "-c", line], input=json.dumps(event).encode(), capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    assert len(list(vault.rglob("001-*.md"))) == 2
    assert registration.status("claude-code").state == "registered"
