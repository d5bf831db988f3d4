"""The service that runs the watcher from login to logout: written, started, taken out."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mdmem import config
from mdmem.errors import ConfigError, MdmemError
from mdmem.watcher import service

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put stand-ins of what starts things at login first on PATH: they note what is asked; `fails` makes them fail."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("systemctl", "launchctl", "schtasks"):
        (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {folder}/asked\n[ ! -e {folder}/fails ]\n')
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def asked(programs: Path) -> list[str]:
    file = programs / "asked"
    lines = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return lines


def unit_file(home: Path, vault: Path) -> Path:
    return home / ".config" / "systemd" / "user" / f"mdmem-watch-{config.vault_key(str(vault))}.service"


@pytest.mark.skipif(sys.platform == "darwin", reason="launchd runs things there")
def test_the_service_is_written_started_only_when_asked_and_taken_out(
    vault: Path, home: Path, mdmem: Run, programs: Path
) -> None:
    file = unit_file(home, vault)
    shown = mdmem("install", "service", "--now", "--dry-run", check=True).stdout
    (planned,) = json.loads(mdmem("install", "service", "--dry-run", "--json", check=True).stdout)
    assert shown == planned["diff"]
    assert f"+++ {file}\n" in shown
    assert '+ExecStart="' in shown
    assert (planned["action"], file.exists(), asked(programs)) == ("created", False, [])

    done = mdmem("install", "service", check=True)
    assert f"systemctl --user enable --now {file.name}" in done.stdout
    assert asked(programs) == []
    text = file.read_text()
    assert f'ExecStart="{sys.executable}" "-m" "mdmem" "--vault" "{vault}" "watch"' in text

    assert mdmem("install", "service", "--dry-run", check=True).stdout == f"Nothing to change in {file}.\n"
    (change,) = json.loads(mdmem("install", "service", "--json", check=True).stdout)
    assert (change["action"], change["path"]) == ("unchanged", str(file))
    file.write_text(text.replace("RestartSec=10", "RestartSec=99"))
    assert json.loads(mdmem("install", "service", "--now", "--json", check=True).stdout)[0]["action"] == "updated"
    assert asked(programs) == ["systemctl --user daemon-reload", f"systemctl --user enable --now {file.name}"]

    wants = file.parent / "default.target.wants"
    wants.mkdir()
    (wants / file.name).symlink_to(file)
    mdmem("uninstall", "service", "--now", check=True)
    assert asked(programs) == [f"systemctl --user disable --now {file.name}"]
    assert not file.exists()
    assert not os.path.lexists(wants / file.name)
    assert "not registered in" in mdmem("uninstall", "service", check=True).stdout
    assert asked(programs) == []


@pytest.mark.skipif(sys.platform == "darwin", reason="launchd runs things there")
def test_everything_taken_out_takes_the_service_along(vault: Path, home: Path, mdmem: Run) -> None:
    mdmem("install", "service", check=True)
    assert str(unit_file(home, vault)) in mdmem("uninstall", "--all", check=True).stdout
    assert not unit_file(home, vault).exists()
    assert mdmem("uninstall", "--all", check=True).stdout == (
        "mdmem is not registered with any agent in the user settings; nothing was changed.\n"
    )


@pytest.mark.skipif(sys.platform == "darwin", reason="launchd runs things there")
def test_a_failed_start_is_reported_with_its_command(vault: Path, mdmem: Run, programs: Path) -> None:
    (programs / "fails").touch()
    done = mdmem("install", "service", "--now")
    assert done.returncode == 1
    assert "`systemctl --user daemon-reload` failed" in done.stderr


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_a_file_of_somebody_else_stays(vault: Path, home: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    path = Path(service.install(str(vault), {}, now=False).path)
    path.write_text("mine")
    for act in (service.install, service.uninstall):
        with pytest.raises(ConfigError):
            act(str(vault), {}, now=False)
    assert path.read_text() == "mine"
    assert not service.is_installed(str(vault), {})


def test_a_path_that_no_unit_can_hold_is_refused(home: Path) -> None:
    with pytest.raises(ConfigError, match="simpler"):
        service.install("/vault\nExecStart=/bin/evil", {}, now=False)


def test_without_systemd_the_message_names_another_way(
    vault: Path, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(MdmemError, match="--background"):
        service.install(str(vault), {}, now=True)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd reads it")
def test_systemd_reads_hostile_paths_as_they_are(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    vault = tmp_path / 'a "b" %h $HOME \\n ${X}'
    vault.mkdir()
    path = service.install(str(vault), {"XDG_STATE_HOME": f"{vault}/s"}, now=False).path
    debug = {**os.environ, "SYSTEMD_LOG_LEVEL": "debug"}
    words = ["systemd-analyze", "verify", "--user", path]
    said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=debug).stdout
    if "Failed to initialize manager" in said:
        pytest.skip("systemd cannot read units here")
    assert f"ConditionPathIsDirectory: {vault} untested" in said
    assert f"Environment: XDG_STATE_HOME={vault}/s" in said


def test_launchd_is_given_the_same(vault: Path, home: Path, monkeypatch: pytest.MonkeyPatch, programs: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    change = service.install(str(vault), {"XDG_STATE_HOME": "/s"}, now=True)
    label = Path(change.path).stem
    found = plistlib.loads(Path(change.path).read_bytes())
    assert Path(change.path).parent == home / "Library" / "LaunchAgents"
    assert found["Label"] == label
    assert found["ProgramArguments"] == [sys.executable, "-m", "mdmem", "--vault", str(vault), "watch"]
    assert found["EnvironmentVariables"] == {"XDG_STATE_HOME": "/s"}
    domain = f"gui/{os.getuid()}"
    started = [f"launchctl bootout {domain}/{label}", f"launchctl bootstrap {domain} {change.path}"]
    assert asked(programs) == started
    assert service.install(str(vault), {"XDG_STATE_HOME": "/s"}, now=False).action == "unchanged"
    assert service.uninstall(str(vault), {}, now=True).action == "deleted"
    assert asked(programs) == started[:1]
    assert not Path(change.path).exists()


def test_the_task_scheduler_is_given_the_same(
    vault: Path, home: Path, monkeypatch: pytest.MonkeyPatch, programs: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    here = vault.with_name("Zo\xeb's notes & <more>")
    env = {"LOCALAPPDATA": str(home / "local"), "USERDOMAIN": "BÜRO", "USERNAME": "ana"}

    change = service.install(str(here), env, now=True)

    path, name = Path(change.path), f"mdmem-watch-{config.vault_key(str(here))}"
    assert path == home / "local" / "mdmem" / f"{name}.xml"
    assert path.read_bytes().isascii()
    task = ET.parse(path).getroot()
    at = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    found = {element.tag.removeprefix(at): element.text for element in task.iter()}
    assert (found["UserId"], found["Command"]) == ("BÜRO\\ana", sys.executable)
    assert found["Arguments"] == f'-m mdmem --vault "{here}" watch'
    assert found["ExecutionTimeLimit"] == "PT0S", "by default a task is ended after three days"
    made = [f"schtasks /Create /F /TN {name} /XML {path}", f"schtasks /Run /TN {name}"]
    assert asked(programs) == made
    assert service.install(str(here), env, now=False).note.startswith("To start it now and at every login: `schtasks ")
    (programs / "fails").touch()
    assert service.uninstall(str(here), env, now=False).action == "deleted", "one that nobody registered, too"
    assert asked(programs) == [f"schtasks /Delete /F /TN {name}"]
    assert not path.exists()
