"""`mdmem install`: a dry run shows every change and makes none, and the MCP server needs its packages."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import zipapp
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import launch
from mdmem.agents.install import catalog, installation, launcher, mcp_registration, registration, settings_file, trust
from mdmem.errors import ConfigError

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("agent", catalog.AGENTS)
def test_a_dry_run_shows_the_diff_of_every_file_and_changes_nothing(ask: Run, home: Path, agent: str) -> None:
    done = ask("install", agent, *(["--mcp"] if agent in catalog.CLIENTS else []), "--dry-run", "--yes")
    paths = [row.path for row in registration.survey() if row.agent == agent and row.scope == "user"]
    if agent in catalog.CLIENTS:
        paths.append(mcp_registration.status(agent).path)
    assert done.returncode == 0
    assert all(f"+++ {path}\n" in done.stdout for path in paths)
    assert not [path for path in paths if Path(path).exists()]


@pytest.mark.parametrize("agent", catalog.AGENTS)
@pytest.mark.parametrize("words", [[], ["--all"]])
def test_a_dry_run_of_uninstall_shows_what_uninstall_does_and_changes_nothing(
    ask: Run, home: Path, agent: str, words: list[str]
) -> None:
    wanted = [row.path for row in registration.survey() if row.agent == agent and row.scope == "user"]
    for path in map(Path, wanted):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            path.write_bytes(b'{\r\n  "theme": "dark"\r\n}\r\n')
    ask("install", agent, *(["--mcp"] if agent in catalog.CLIENTS else []), "--also", "reading", "--yes")
    before = contents(home)

    shown = ask("uninstall", *(words or [agent]), "--dry-run")
    rows = json.loads(ask("uninstall", *(words or [agent]), "--dry-run", "--json").stdout)

    assert shown.returncode == 0
    assert contents(home) == before
    assert shown.stdout == "".join(row["diff"] for row in rows).replace("\r\n", "\n")  # which `ask` reads as lines
    done = json.loads(ask("uninstall", *(words or [agent]), "--json").stdout)
    after = contents(home)
    assert {row["path"]: row["action"] for row in rows} == {row["path"]: row["action"] for row in done}
    assert {row["path"] for row in rows} >= set(wanted)
    for row in rows:
        texts = [files.get(Path(row["path"]), b"").decode() for files in (before, after)]
        assert row["diff"] == settings_file.diff(texts[0], texts[1], row["path"])


@pytest.mark.parametrize("dry", [True, False])
def test_an_unreadable_instruction_file_does_not_keep_the_hooks_nor_hide_what_changes(
    ask: Run, home: Path, dry: bool
) -> None:
    ask("install", "claude-code", "--status-line", "--yes")
    settings = home / ".claude" / "settings.json"
    (home / ".claude" / "CLAUDE.md").write_bytes(b"\xff\xfe")
    before = settings.read_text()

    done = ask("uninstall", "--all", *(["--dry-run"] if dry else []))

    assert done.returncode == ConfigError.exit_code
    assert "CLAUDE.md is not UTF-8 text. It was not changed." in done.stderr
    if dry:
        assert done.stdout == settings_file.diff(before, "{}\n", str(settings))
    assert settings.read_text() == (before if dry else "{}\n")


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


@pytest.mark.parametrize("words", [["claude-desktop"], ["gemini", "claude-desktop"], ["claude-desktop", "--dry-run"]])
def test_a_client_without_hooks_is_said_to_have_none_before_anything_is_changed(
    ask: Run, home: Path, words: list[str]
) -> None:
    done = ask("install", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert "Claude Desktop has no hooks. `mdmem install claude-desktop --mcp` registers the MCP server" in done.stderr
    assert not (home / ".gemini").exists()
    assert "Did you mean claude-desktop?" in ask("install", "claude-deskto").stderr


def test_the_diff_shows_only_what_changes(ask: Run, home: Path) -> None:
    file = home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "theme": "dark"\n}\n', encoding="utf-8")
    shown = ask("install", "gemini", "--dry-run").stdout
    assert f"--- {file}\n" in shown and '   "theme": "dark"' not in shown.replace('+  "theme"', "")
    assert json.loads(file.read_text("utf-8")) == {"theme": "dark"}


@pytest.mark.parametrize("agent", catalog.AGENTS)
def test_hooks_that_store_to_another_vault_from_now_on_are_told(
    ask: Run, home: Path, tmp_path: Path, agent: str
) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    told = [ask("--vault", vault, "install", agent, "--yes").stdout for vault in (one, one, two, two)]
    assert [f"Before, it stored to {one}." in text for text in told] == [False, False, True, False]


def test_hooks_that_start_this_mdmem_from_now_on_are_told(ask: Run, home: Path) -> None:
    ask("install", "gemini", "--yes")
    program = Path(launcher.path())
    program.write_text(
        program.read_text("utf-8").replace(launcher.interpreter(""), "/opt/older/bin/python"), encoding="utf-8"
    )

    told = [ask("install", "gemini", "--yes").stdout for _ in range(2)]

    assert ["Its hooks start this mdmem from now on." in text for text in told] == [True, False]


@pytest.mark.parametrize("client", ["opencode", "copilot"])
def test_a_server_is_put_in_and_taken_out_without_a_trace(home: Path, client: str) -> None:
    change = mcp_registration.register(client)
    file = Path(change.path)
    assert mcp_registration.status(client).state == "registered"
    assert mcp_registration.register(client).action == "unchanged"
    server = json.loads(file.read_text("utf-8"))["mcp" if client == "opencode" else "mcpServers"]["mdmem"]
    assert server["type"] == "local" and "mdmem" in str(server["command"]) + str(server.get("args"))
    assert mcp_registration.unregister(client).action == "deleted" and not file.exists()


def test_a_client_that_is_not_installed_is_not_found_after_its_server_was_taken_out(home: Path) -> None:
    file = Path(mcp_registration.register("claude-desktop").path)
    assert mcp_registration.detect() == ["claude-desktop"]
    mcp_registration.unregister("claude-desktop")
    assert mcp_registration.detect() == []

    file.parent.mkdir(parents=True)
    (file.parent / "of-the-client").touch()
    mcp_registration.register("claude-desktop")
    mcp_registration.unregister("claude-desktop")
    assert mcp_registration.detect() == ["claude-desktop"]


def test_others_servers_of_opencode_stay(home: Path) -> None:
    file = Path(mcp_registration.status("opencode").path)
    file.parent.mkdir(parents=True)
    before = '{\n  "mcp": {\n    "other": {"type": "remote", "url": "https://x"}\n  }\n}\n'
    file.write_text(before, encoding="utf-8")
    mcp_registration.register("opencode")
    assert set(json.loads(file.read_text("utf-8"))["mcp"]) == {"other", "mdmem"}
    mcp_registration.unregister("opencode")
    assert file.read_text("utf-8") == before


def test_without_its_packages_the_server_is_not_registered(
    ask: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mcp" else known(name))
    with pytest.raises(ConfigError, match=r"Run: .*\[mcp\]"):
        installation.require_mcp()
    done = ask("install", "claude-code", "--mcp", "--yes")
    assert done.returncode == ConfigError.exit_code and "[mcp]" in done.stderr
    assert not (home / ".claude" / "settings.json").exists() and not (home / ".claude.json").exists()


def test_the_command_fits_how_mdmem_came_here() -> None:
    def command(prefix: str) -> str:
        return installation.install_command("web", f"/home/dev/{prefix}", f"/home/dev/{prefix}/bin/python")

    assert command(".local/share/pipx/venvs/mdmem").startswith("pipx install --force ")
    assert command(".local/share/uv/tools/mdmem").startswith("uv tool install --force ")
    assert command(".cache/uv/archive-v0/LAjyj-ES5X").startswith("uv tool install --force ")
    assert shlex.split(command("v"))[:4] == ["/home/dev/v/bin/python", "-m", "pip", "install"]
    assert command("v").endswith("[web]'")


def test_the_command_keeps_the_extras_of_an_environment_that_it_replaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "mcp" or None)

    assert installation.install_command("web", "/home/dev/.local/share/uv/tools/mdmem").endswith("[mcp,web]'")


def test_who_installs_from_a_cache_is_told_how_to_keep_mdmem() -> None:
    for prefix in ("/home/dev/.local/share/pipx/venvs/mdmem", "/home/dev/.local/share/uv/tools/mdmem", "/home/dev/v"):
        assert installation.temporary(prefix) == ""
    for prefix, command in (
        ("/home/dev/.cache/uv/archive-v0/LAjyj-ES5X", "uv tool install"),
        ("/home/dev/.cache/pipx/0daa879227c143d", "pipx install"),
        ("/home/dev/.local/share/pipx/.cache/0daa879227c143d", "pipx install"),
    ):
        assert prefix in installation.temporary(prefix) and f"run: {command} " in installation.temporary(prefix)


@pytest.mark.slow
def test_a_zipapp_is_not_registered_because_no_agent_can_start_it(home: Path, tmp_path: Path) -> None:
    package = Path(launch.__file__).parent
    shutil.copytree(package, tmp_path / "app" / "mdmem", ignore=shutil.ignore_patterns("__pycache__"))
    zipapp.create_archive(tmp_path / "app", tmp_path / "mdmem.pyz", main="mdmem.__main__:main")

    done = subprocess.run(
        [sys.executable, str(tmp_path / "mdmem.pyz"), "install", "claude-code"], capture_output=True, text=True
    )

    assert done.returncode == ConfigError.exit_code
    assert "agents cannot start it there. Nothing was changed." in done.stderr
    assert not (home / ".claude").exists() and not Path(launcher.path()).exists()


def test_what_codex_noted_of_reviewed_hooks_goes_with_them(ask: Run, home: Path) -> None:
    file, hooks = home / ".codex" / "config.toml", home / ".codex" / "hooks.json"
    file.parent.mkdir()
    ask("install", "codex", "--yes")
    before = 'model = "m"\n'
    other = '[hooks.state."/elsewhere/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    own = f'[hooks.state."{hooks}:session_start:0:0"]\ntrusted_hash = "sha256:2"\n'
    file.write_text(f"{before}\n{own}\n{other}", encoding="utf-8")
    ask("uninstall", "codex")
    assert file.read_text("utf-8") == f"{before}\n{other}"


@pytest.mark.parametrize(
    ("agent", "file", "before", "key"),
    [
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"disabled": ["mdmem-hook"]}}', "hooksConfig.disabled"),
    ],
)
def test_hooks_that_the_agents_settings_switch_off_are_named(
    ask: Run, home: Path, agent: str, file: str, before: str, key: str
) -> None:
    path = home / file
    path.parent.mkdir()
    path.write_text(before, encoding="utf-8")
    told = f"{key} in {path} switches hooks off"

    assert told in ask("install", agent, "--yes").stdout
    assert told in ask("status").stdout
    (row,) = [row for row in json.loads(ask("status", "--json").stdout) if row["agent"] == agent]
    assert row["problem"].startswith(told) and row["problem"].endswith(". Remove that setting.")
    assert told in ask("doctor", "--only", "agents").stdout


@pytest.mark.parametrize(
    ("agent", "file", "text", "key"),
    [
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude-code", ".claude/settings.local.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
    ],
)
def test_hooks_of_the_user_that_a_projects_settings_switch_off_are_named_in_that_project(
    ask: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, file: str, text: str, key: str
) -> None:
    ask("install", agent, "--yes")
    path = tmp_path / "project" / file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    told = f"{key} in {path} switches hooks off"
    assert "switches hooks off" not in ask("doctor", "--only", "agents").stdout

    monkeypatch.chdir(tmp_path / "project")

    assert told in ask("doctor", "--only", "agents").stdout
    assert told in ask("status").stdout


def test_hooks_that_a_project_switches_on_again_are_not_named_as_off(
    ask: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("install", "claude-code", "--yes")
    own = home / ".claude" / "settings.json"
    own.write_text(own.read_text("utf-8").replace("{", '{"disableAllHooks": true,', 1), encoding="utf-8")
    path = tmp_path / "project" / ".claude" / "settings.local.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"disableAllHooks": false}', encoding="utf-8")
    assert f"disableAllHooks in {own} switches hooks off" in ask("status").stdout

    monkeypatch.chdir(tmp_path / "project")

    assert "switches hooks off" not in ask("status").stdout


def test_an_agent_with_broken_settings_does_not_keep_others_from_being_registered(ask: Run, home: Path) -> None:
    for folder, text in ((".claude", "{}"), (".cursor", "{"), (".gemini", "{}")):
        (home / folder).mkdir()
        name = "hooks.json" if folder == ".cursor" else "settings.json"
        (home / folder / name).write_text(text, encoding="utf-8")

    done = ask("install", "--all", "--yes")

    assert done.returncode == 3
    assert "Claude Code: registered in" in done.stdout
    assert "Gemini CLI: registered in" in done.stdout
    assert f"{home}/.cursor/hooks.json is not valid JSON" in done.stderr
    assert (home / ".cursor" / "hooks.json").read_text() == "{"


def codex_hooks(ask: Run, home: Path) -> Path:
    """Register the hooks with Codex; return its file of them."""
    ask("init")
    ask("install", "codex", "--yes")
    return home / ".codex" / "hooks.json"


def test_codex_that_was_heard_from_since_its_hooks_were_registered_does_not_skip_them(
    ask: Run, mdmem: Run, home: Path
) -> None:
    hooks = codex_hooks(ask, home)
    os.utime(hooks, (1_700_000_000, 1_700_000_000))
    mdmem("hook", "codex", input='{"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/"}', check=True)

    told = ask("status").stdout
    assert "last heard from" in told
    assert "reviewed" not in told + ask().stdout + ask("doctor", "--only", "agents").stdout

    os.utime(hooks, (4_000_000_000, 4_000_000_000))
    assert "never reviewed in Codex" in ask("status").stdout


def test_a_session_that_still_runs_the_earlier_hooks_of_codex_does_not_hide_that_new_ones_are_skipped(
    ask: Run, mdmem: Run, home: Path
) -> None:
    hooks = codex_hooks(ask, home)
    reviewed = dict(trust._own_hooks(str(hooks), hooks.read_text()))
    tables = [f'[hooks.state."{key}"]\ntrusted_hash = "{known}"\n' for key, known in reviewed.items()]
    (home / ".codex" / "config.toml").write_text("\n".join(tables))
    hooks.write_text(hooks.read_text().replace('"timeout": ', '"timeout": 1'))
    os.utime(hooks, (1_700_000_000, 1_700_000_000))
    mdmem("hook", "codex", input='{"hook_event_name": "Stop", "session_id": "s", "cwd": "/"}', check=True)

    assert "mdmem's hooks have changed since you reviewed them" in ask("status").stdout


def test_status_and_doctor_name_hooks_that_codex_skips(ask: Run, home: Path) -> None:
    ask("install", "codex", "--yes")
    assert "never reviewed in Codex" in ask("status").stdout
    ask("init")
    assert "Codex CLI: mdmem's hooks were never reviewed" in ask().stdout
    findings = json.loads(ask("doctor", "--only", "agents", "--json").stdout)
    (found,) = [one for one in findings if "reviewed" in one["text"]]
    assert found["severity"] == "warning" and "/hooks" in found["todo"] and "/hooks" not in found["text"]

    hooks, settings = home / ".codex" / "hooks.json", home / ".codex" / "config.toml"
    own = dict(trust._own_hooks(str(hooks), hooks.read_text("utf-8")))
    tables = [f'[hooks.state."{key}"]\ntrusted_hash = "{known}"\n' for key, known in own.items()]
    settings.write_text("".join(tables[1:]), encoding="utf-8")
    assert f"1 of mdmem's {len(own)} hooks were never reviewed" in ask("status").stdout

    settings.write_text("".join(tables), encoding="utf-8")
    assert "reviewed" not in ask("status").stdout + ask("doctor", "--only", "agents").stdout

    settings.write_text("".join([*tables[1:], tables[0].replace("sha256:", "sha256:0")]), encoding="utf-8")
    assert f"1 of mdmem's {len(own)} hooks have changed since you reviewed them" in ask("status").stdout


def test_the_hash_of_a_hook_is_the_one_that_codex_lists(home: Path) -> None:
    handler = {"type": "command", "command": "exec python -c 'from mdmem.capture.hook import main'", "timeout": 10}
    text = json.dumps({"hooks": {"StopFailure": [{"hooks": [handler]}], "PostToolUse": [{"hooks": [handler]}]}})
    (only,) = trust._own_hooks("/home/ana/.codex/hooks.json", text)
    listed = "90ab71cc474665b7bd2b60e38181b0ec971d05abd8a616953d10b778edcba3e3"  # by Codex 0.169, in `hooks/list`
    assert only == ("/home/ana/.codex/hooks.json:post_tool_use:0:0", f"sha256:{listed}")


def test_one_file_that_cannot_be_read_keeps_no_other_agent_registered(ask: Run, home: Path) -> None:
    ask("install", "gemini", "cursor", "--yes")
    broken = home / ".gemini" / "settings.json"
    broken.write_text("{", encoding="utf-8")

    done = ask("uninstall", "--all")

    assert done.returncode == 3
    assert str(broken) in done.stderr
    assert broken.read_text("utf-8") == "{"
    assert not (home / ".cursor" / "hooks.json").exists()


def test_what_else_is_removed_is_shown_where_one_agent_cannot_be_changed(ask: Run, home: Path) -> None:
    ask("install", "gemini", "codex", "cursor", "--also", "reading", "--yes")
    kept, rules = home / ".codex" / "hooks.json", home / ".codex" / "rules" / "mdmem.rules"
    gone = [home / ".gemini" / "settings.json", rules, home / ".cursor" / "hooks.json"]
    kept.chmod(0o400)
    named = ("uninstall", "gemini", "codex", "cursor")

    shown, done = ask(*named, "--dry-run"), ask(*named, "--json")

    for told in (shown, done):
        assert (told.returncode, f"{kept} is read-only" in told.stderr) == (ConfigError.exit_code, True)
    assert [f"--- {path}\n+++ /dev/null\n" in shown.stdout for path in gone] == [True] * 3
    assert {row["path"] for row in json.loads(done.stdout)} == set(map(str, gone))
    assert (kept.exists(), [path for path in gone if path.exists()]) == (True, [])


def test_a_misspelled_agent_is_reported_before_any_is_removed(ask: Run, home: Path) -> None:
    ask("install", "gemini", "--yes")
    assert "Did you mean codex?" in ask("uninstall", "gemini", "codec").stderr
    assert (home / ".gemini" / "settings.json").exists()


def test_hooks_that_cannot_be_removed_stay_reviewed_in_codex(ask: Run, home: Path) -> None:
    ask("install", "codex", "--yes")
    hooks, reviewed = home / ".codex" / "hooks.json", home / ".codex" / "config.toml"
    before = f'[hooks.state."{hooks}:stop:0:0"]\ntrusted_hash = "sha256:2"\n'
    reviewed.write_text(before, encoding="utf-8")
    hooks.chmod(0o400)
    assert "is read-only" in ask("uninstall", "codex").stderr
    assert reviewed.read_text("utf-8") == before


def test_a_status_line_without_hooks_is_reported_as_removed(ask: Run, home: Path) -> None:
    ask("install", "claude-code", "--status-line", "--yes")
    file = home / ".claude" / "settings.json"
    line = json.loads(file.read_text("utf-8"))["statusLine"]
    file.write_text(json.dumps({"statusLine": line, "theme": "dark"}), encoding="utf-8")
    for words in (["claude-code", "--dry-run"], ["--all", "--dry-run"], ["claude-code"]):
        (row,) = json.loads(ask("uninstall", *words, "--json").stdout)
        assert (row["path"], row["action"]) == (str(file), "removed")
    assert json.loads(file.read_text("utf-8")) == {"theme": "dark"}


@pytest.mark.skipif(sys.platform == "darwin", reason="launchd's files are elsewhere")
def test_what_was_removed_is_shown_where_the_service_cannot_be(ask: Run, home: Path) -> None:
    ask("install", "gemini", "service", "--yes")
    (service,) = (home / ".config" / "systemd" / "user").iterdir()
    service.write_text("[Unit]\n", encoding="utf-8")
    done = ask("uninstall", "gemini", "service")
    assert f"removed, with the now empty file {home / '.gemini' / 'settings.json'}\n" in done.stdout
    assert f"{service} is not mdmem's" in done.stderr


def test_what_was_registered_is_shown_where_the_person_has_another_status_line(ask: Run, home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text('{"statusLine": {"type": "command", "command": "mine"}}', encoding="utf-8")

    done = ask("install", "claude-code", "--status-line", "--yes")

    assert done.returncode == ConfigError.exit_code
    assert f"registered in {file}\n" in done.stdout
    assert "has a status line of your own" in done.stderr
    assert json.loads(file.read_text("utf-8"))["statusLine"]["command"] == "mine"


def test_a_status_line_for_an_agent_without_one_is_refused_before_anything_changes(ask: Run, home: Path) -> None:
    before = sorted(home.rglob("*"))
    assert "--status-line is for claude-code" in ask("install", "codex", "--status-line", "--yes").stderr
    assert sorted(home.rglob("*")) == before
