"""`mdmem install --also`: further settings go in on request, and exactly they go out again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem.agents.install import mcp_registration, offers, registration
from mdmem.errors import ConfigError
from tests.helpers.few import few

Run = Callable[..., subprocess.CompletedProcess[str]]
BEFORE = (
    "{}\n",
    '{\n  "model": "opus"\n}\n',
    '{"permissions":{"allow":["Bash(ls:*)"],"deny":[]},"autoMemoryEnabled":true}',
    '{\n\t"permissions": {\n\t\t"allow": []\n\t},\n\t"tools": {"allowed": ["run_shell_command(mdmem show)"]}\n}\n',
    '{\n  "autoMemoryEnabled": false,\n  "permissions": {}\n}\n',
)


@pytest.mark.parametrize("before", few(BEFORE, always=BEFORE[-2:]))
@pytest.mark.parametrize(("agent", "folder"), [("claude-code", ".claude"), ("gemini", ".gemini")])
def test_what_is_put_in_is_taken_out_to_the_byte(ask: Run, home: Path, agent: str, folder: str, before: str) -> None:
    file = home / folder / "settings.json"
    file.parent.mkdir()
    file.write_text(before, encoding="utf-8")
    for _ in range(2):
        ask("install", agent, "--yes", "--also", "reading", "--also", "one-memory")
    data = json.loads(file.read_text("utf-8"))
    if agent == "claude-code":
        assert data["autoMemoryEnabled"] is False
        assert data["permissions"]["allow"].count("Bash(mdmem search:*)") == 1
    else:
        assert data["tools"]["allowed"].count("run_shell_command(mdmem show)") == 1
    ask("uninstall", agent)
    assert file.read_text("utf-8") == before
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("before", "bash"),
    [
        ("", {}),
        ("{}\n", {}),
        ('{\n  "permission": {\n    "edit": "deny"\n  }\n}\n', {}),
        ('{"permission": {"bash": "ask"}}', {"*": "ask"}),
        ('{"permission": "ask"}', {}),
        ('{"permission": {"bash": {"*": "ask", "git *": "allow"}}}', {"*": "ask", "git *": "allow"}),
    ],
)
def test_opencode_gets_rules_behind_those_that_are_there(
    ask: Run, home: Path, before: str, bash: dict[str, str]
) -> None:
    file = home / ".config" / "opencode" / "opencode.json"
    if before:
        file.parent.mkdir(parents=True)
        file.write_text(before, encoding="utf-8")
    for _ in range(2):
        ask("install", "opencode", "--yes", "--also", "reading", check=True)
    rules = json.loads(file.read_text("utf-8"))["permission"]
    assert rules["bash"] == {**bash, "mdmem search *": "allow", "mdmem show *": "allow", "mdmem timeline *": "allow"}
    assert rules.get("*") == ("ask" if before == '{"permission": "ask"}' else None)
    ask("uninstall", "opencode", check=True)
    assert (file.read_text("utf-8") if file.exists() else "") == before
    assert not list(file.parent.glob("*.mdmem*"))


def test_opencode_that_may_run_everything_is_left_as_it_is(ask: Run, home: Path) -> None:
    file = home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"permission": {"bash": "allow"}}', encoding="utf-8")
    ask("install", "opencode", "--yes", "--also", "reading", check=True)
    assert file.read_text("utf-8") == '{"permission": {"bash": "allow"}}'


def test_opencode_with_tools_and_rules_gets_its_file_back(ask: Run, home: Path) -> None:
    pytest.importorskip("mcp")
    file = home / ".config" / "opencode" / "opencode.json"
    ask("install", "opencode", "--yes", "--mcp", "--also", "reading", check=True)
    assert set(json.loads(file.read_text("utf-8"))) == {"mcp", "permission"}
    ask("uninstall", "opencode", check=True)
    assert not file.exists()


def test_a_server_and_rules_in_one_file_leave_no_copy_behind(home: Path) -> None:
    file = home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True)
    file.write_text('{ "theme": "x" }\n')
    mcp_registration.register("opencode")
    for offer in offers.OFFERS["opencode"]:
        offers.accept("opencode", offer)
    mcp_registration.unregister("opencode")
    list(offers.withdraw("opencode"))

    assert file.read_text() == '{ "theme": "x" }\n'
    assert list(file.parent.iterdir()) == [file]


def test_codex_gets_a_file_of_rules_that_goes_again(ask: Run, home: Path) -> None:
    file = home / ".codex" / "rules" / "mdmem.rules"
    for _ in range(2):
        ask("install", "codex", "--yes", "--also", "reading", check=True)
    assert file.read_text("utf-8") == (
        'prefix_rule(pattern=["mdmem", ["search", "show", "timeline"]], decision="allow")\n'
    )
    ask("uninstall", "codex", check=True)
    assert not file.exists() and not list(file.parent.iterdir())


def test_nothing_is_put_in_that_was_not_asked_for(ask: Run, home: Path) -> None:
    ask("install", "claude-code", "--yes")
    data = json.loads((home / ".claude" / "settings.json").read_text("utf-8"))
    assert set(data) == {"hooks"}


def test_a_dry_run_shows_the_settings_and_changes_nothing(ask: Run, home: Path) -> None:
    shown = ask("install", "claude-code", "--also", "one-memory", "--dry-run", "--yes").stdout
    assert '+  "autoMemoryEnabled": false' in shown
    assert not (home / ".claude").exists()


def test_what_somebody_changed_since_stays(home: Path) -> None:
    reading, memory = offers.OFFERS["claude-code"]
    file = Path(registration.status("claude-code").path)
    offers.accept("claude-code", reading)
    offers.accept("claude-code", memory)
    data = json.loads(file.read_text("utf-8"))
    data["autoMemoryEnabled"] = True
    data["permissions"]["allow"] = ["Bash(make:*)", *data["permissions"]["allow"]]
    file.write_text(json.dumps(data), encoding="utf-8")
    list(offers.withdraw("claude-code"))
    assert json.loads(file.read_text("utf-8")) == {
        "permissions": {"allow": ["Bash(make:*)"]},
        "autoMemoryEnabled": True,
    }


@pytest.mark.parametrize("text", ['{"permissions": {"allow": "all"}}', '{"permissions": []}', "{nonsense"])
def test_settings_of_another_shape_are_refused_and_left_alone(home: Path, text: str) -> None:
    file = Path(registration.status("claude-code").path)
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="not changed"):
        offers.accept("claude-code", offers.OFFERS["claude-code"][0])
    assert file.read_text("utf-8") == text
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_rules_that_are_null_are_refused_instead_of_given_twice(home: Path) -> None:
    file = home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"permission": null}', encoding="utf-8")
    with pytest.raises(ConfigError, match="permission is not an object"):
        offers.accept("opencode", offers.OFFERS["opencode"][0])
    assert file.read_text("utf-8") == '{"permission": null}'
