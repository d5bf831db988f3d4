"""The Claude Code plugin: the same hooks as the registration, and never a word too many where both are there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mdmem.agents import claude_code, hook_process
from mdmem.agents.install import catalog, registration
from tests.conftest import REPO, notes
from tests.helpers.claude import prompt, send
from tests.helpers.talk import Talk

HOOKS: dict[str, list[dict[str, Any]]] = json.loads(
    (REPO / "templates" / "claude-code" / "hooks.json").read_text("utf-8")
)["hooks"]


def rows() -> list[tuple[str, str, str, int, bool]]:
    """Return event, command, matcher, timeout and whether it runs beside, of each handler."""
    return [
        (event, handler["command"], group.get("matcher", ""), handler["timeout"], handler.get("async", False))
        for event, groups in HOOKS.items()
        for group in groups
        for handler in group["hooks"]
    ]


def test_the_plugin_registers_what_the_installer_does() -> None:
    verbs = [line.split("exec mdmem ")[1].split()[0] for _, line, *_ in rows()]
    found = [(row[0], verb, *row[2:4]) for verb, row in zip(verbs, rows(), strict=True)]
    edit = claude_code.ON_REQUEST["edit"]
    assert found == [*claude_code.HOOKS, edit], "what is on by default is in the plugin"
    assert [beside for _, line, _, _, beside in rows()] == [" commit " in line for _, line, _, _, _ in rows()]


def test_the_plugins_manifests_lead_to_files_that_are_there() -> None:
    manifest = json.loads((REPO / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    market = json.loads((REPO / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    for key in ("hooks", "commands", "skills"):
        assert (REPO / manifest[key]).exists()
    assert [plugin["name"] for plugin in market["plugins"]] == [manifest["name"]] == ["mdmem"]
    assert {plugin["version"] for plugin in market["plugins"]} == {manifest["version"]}


PATIENT = (
    "import mdmem.recall.hook as recall, mdmem.capture.hook as hook; recall.SECONDS = hook.DEADLINE_SECONDS = 100.0; "
    "from mdmem.__main__ import main; main()"
)
"""A `mdmem` that takes its time: a busy machine is no failure."""


@pytest.fixture
def plugin(tmp_path: Path) -> Any:
    """Run the plugin's first command of a verb, with this `mdmem` on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "mdmem").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{PATIENT}" "$@"\n')
    (folder / "mdmem").chmod(0o755)

    def run(verb: str, event: dict[str, Any], path: str | None = None, **env: str) -> str:
        line = next(line for name, line, *_ in rows() if name == event["hook_event_name"] and f" {verb} " in line)
        env = {**os.environ, "PATH": f"{folder}:/usr/bin:/bin" if path is None else path, **env}
        done = subprocess.run(["/bin/sh", "-c", line], input=json.dumps(event).encode(), capture_output=True, env=env)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return run


def registered(event: dict[str, Any]) -> str:
    return send(event).stdout.decode()


def test_the_plugin_stores_and_speaks_where_nothing_else_is_registered(vault: Path, plugin: Any) -> None:
    assert "kept out of memory" in plugin("hook", prompt("a <private>b</private>"))
    assert len(notes(vault)) == 1


def test_with_both_an_event_is_stored_once_and_told_once(vault: Path, plugin: Any, home: Path) -> None:
    registration.register("claude-code")
    event = prompt("a <private>b</private>")
    said = [plugin("hook", event), registered(event), plugin("hook", event)]
    assert len(notes(vault)) == 1
    assert [bool(line) for line in said] == [False, True, False]
    assert (home / ".claude" / "settings.json").exists()


def test_with_a_hook_written_by_hand_too_an_event_is_told_once(vault: Path, plugin: Any, home: Path) -> None:
    hook = {"type": "command", "command": f"{sys.executable} -m mdmem hook claude-code"}
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}))
    event = prompt("a <private>b</private>")

    assert plugin("hook", event) == ""
    assert len(notes(vault)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("scope", catalog.SCOPES)
def test_with_both_a_session_starts_with_one_block(
    vault: Path, plugin: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    talk = Talk(vault, tmp_path / "notes-app")
    talk.start()
    talk.says("Which calendar do we use?")
    talk.answers("We decided to use the Gregorian calendar everywhere.")
    when = {"MDMEM_NOW": str(talk.now + 86_400), "MDMEM_INJECT_DEADLINE_SECONDS": "50"}
    alone, both = (Talk(vault, talk.cwd, f"0000000{n}-0000-4000-8000-000000000000") for n in (1, 2))
    assert "Gregorian" in plugin("hook", alone.payload("SessionStart", source="startup"), **when)
    monkeypatch.chdir(talk.cwd)
    registration.register("claude-code", scope)
    start = both.payload("SessionStart", source="startup")
    assert plugin("hook", start, **when) == ""
    assert "Gregorian" in both.process("hook", start, when).stdout.decode()


def test_where_mdmem_is_not_installed_the_plugin_does_nothing(plugin: Any) -> None:
    assert plugin("hook", prompt("x"), path="/usr/bin:/bin") == ""


@pytest.mark.parametrize("scope", catalog.SCOPES)
def test_a_registration_in_any_scope_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str) -> None:
    monkeypatch.chdir(tmp_path)
    marks = hook_process.STORES[:1]
    assert not claude_code.is_registered(marks, str(tmp_path), {})
    registration.register("claude-code", scope)
    assert claude_code.is_registered(marks, str(tmp_path), {})
    assert claude_code.is_registered(marks, "/elsewhere", {"CLAUDE_PROJECT_DIR": str(tmp_path)})
    registration.unregister("claude-code", scope)
    assert not claude_code.is_registered(marks, str(tmp_path), {})


def test_a_registration_elsewhere_or_unreadable_settings_count_as_none(tmp_path: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").mkdir()
    assert not claude_code.is_registered(hook_process.STORES, str(tmp_path), {})
    assert not claude_code.is_registered(hook_process.STORES, "a\0b", {})
