"""The service file with which systemd, launchd or the Task Scheduler runs `mdmem watch` for a vault from login on."""

from __future__ import annotations

import os
import plistlib
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from mdmem import config
from mdmem.agents.install import settings_file
from mdmem.agents.install.registration import SettingsChange
from mdmem.errors import ConfigError, MdmemError
from mdmem.system import windows

NAME = "service"
"""Its name in the place of an agent's: `mdmem install service`."""

TITLE = "Watcher"
MARK = "Written by `mdmem install service`"
BUSY = 6
"""Exit status of a watcher that finds another one running: restarting would not help."""

_PLACES = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
"""Variables that locate mdmem's own folders; at login they are not set yet."""


class System(NamedTuple):
    """The service manager of one operating system.

    folder: where service files are. name: the file's name for a vault's key. text: its content.
    start, stop: commands to start it now and at login, and to stop it; a command that begins with "-" may fail.
    forget: commands that make the system forget the service before its file is deleted.
    """

    folder: Callable[[Mapping[str, str]], Path]
    name: Callable[[str], str]
    text: Callable[[str, Mapping[str, str]], str]
    start: Callable[[Path], list[list[str]]]
    stop: Callable[[Path], list[list[str]]]
    forget: Callable[[Path], list[list[str]]] = lambda _: []


def install(vault: str, env: Mapping[str, str], *, now: bool, dry_run: bool = False) -> SettingsChange:
    """Write the service file of a vault's watcher, unless it is up to date. now: also enable and start it.

    dry_run: change nothing; the result has the diff.

    Raises:
        ConfigError: when the file is not mdmem's, or cannot contain the vault's path.
        MdmemError: when it cannot be started.
    """
    system = _system()
    path = _path(system, vault, env)
    text = system.text(vault, env)
    previous = _read(path)
    if previous is not None and MARK not in previous:
        raise ConfigError(f"{path} is not mdmem's. Move it away, then run this again.")
    action = "created" if previous is None else "unchanged" if previous == text else "updated"
    if dry_run:
        return _change(path, action)._replace(diff=settings_file.diff(previous or "", text, str(path)))
    if action != "unchanged":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if now:
        _run(system.start(path))
        return _change(path, action, "It is running and starts at every login.")
    return _change(path, action, f"To start it now and at every login: {_as_typed(system.start(path))}")


def uninstall(vault: str, env: Mapping[str, str], *, now: bool, dry_run: bool = False) -> SettingsChange:
    """Remove the service file of a vault's watcher. now: also stop the running one.

    dry_run: change nothing; the result has the diff.

    Raises:
        ConfigError: when the file is not mdmem's.
        MdmemError: when it cannot be stopped; the file is kept.
    """
    system = _system()
    path = _path(system, vault, env)
    previous = _read(path)
    if previous is None:
        return _change(path, "unchanged")
    if MARK not in previous:
        raise ConfigError(f"{path} is not mdmem's, so it was not removed.")
    if dry_run:
        return _change(path, "deleted")._replace(diff=settings_file.diff(previous, "", str(path)))
    if now:
        _run(system.stop(path))
    _run(system.forget(path))
    path.unlink()
    link = path.parent / "default.target.wants" / path.name
    if link.is_symlink():
        link.unlink()
    return _change(path, "deleted", "" if now else "A running watcher continues until `mdmem watch --stop`.")


def is_installed(vault: str, env: Mapping[str, str]) -> bool:
    """Whether a vault's watcher has a service file."""
    return MARK in (_read(_path(_system(), vault, env)) or "")


def _change(path: Path, action: str, note: str = "") -> SettingsChange:
    return SettingsChange(NAME, TITLE, "user", str(path), action, "", note)


def _system() -> System:
    return {"darwin": LAUNCHD, "win32": TASKS}.get(sys.platform, SYSTEMD)


def _path(system: System, vault: str, env: Mapping[str, str]) -> Path:
    return system.folder(env) / system.name(config.vault_key(vault))


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _watch_command(vault: str) -> list[str]:
    """Return the command that runs the watcher, with this interpreter's full path."""
    command = [sys.executable, "-m", "mdmem", "--vault", vault, "watch"]
    if not all(word.isprintable() for word in command):
        raise ConfigError(f"The path {vault!r:.200} cannot be written in a service file. Choose a simpler path.")
    return command


def _variables(env: Mapping[str, str]) -> dict[str, str]:
    return {name: env[name] for name in _PLACES if env.get(name)}


def _as_typed(commands: list[list[str]]) -> str:
    line = subprocess.list2cmdline if sys.platform == "win32" else " ".join
    return "`" + " && ".join(line(words) for words in commands if not words[0].startswith("-")) + "`"


def _run(commands: list[list[str]]) -> None:
    for command in commands:
        program = command[0].removeprefix("-")
        try:
            result = subprocess.run([program, *command[1:]], capture_output=True, text=True, errors="replace")
        except FileNotFoundError:
            if program != command[0]:
                continue
            alternative = "`mdmem watch --background` starts the watcher until logout."
            raise MdmemError(f"There is no {program} here. {alternative}") from None
        if result.returncode and program == command[0]:
            reason = (result.stderr.strip() or f"status {result.returncode}").splitlines()[0]
            raise MdmemError(f"`{' '.join(command)}` failed: {reason}")


# -- systemd -----------------------------------------------------------------------------------------


def _systemd_text(vault: str, env: Mapping[str, str]) -> str:
    settings = [f"Environment={_quoted(f'{name}={value}')}\n" for name, value in _variables(env).items()]
    return f"""\
# {MARK}. For changes of your own: systemctl --user edit

[Unit]
Description=mdmem watcher of {vault.replace("%", "%%")}
ConditionPathIsDirectory={vault.replace("%", "%%")}

[Service]
{"".join(settings)}ExecStart={" ".join(_quoted(word).replace("$", "$$") for word in _watch_command(vault))}
Restart=on-failure
RestartSec=10
RestartPreventExitStatus={BUSY}

[Install]
WantedBy=default.target
"""


def _quoted(word: str) -> str:
    """Quote a word for systemd. In a command, `$` must be doubled too."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


SYSTEMD = System(
    folder=lambda env: Path(env.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()) / "systemd" / "user",
    name=lambda key: f"mdmem-watch-{key}.service",
    text=_systemd_text,
    start=lambda path: [
        ["systemctl", "--user", "daemon-reload"],
        ["systemctl", "--user", "enable", "--now", path.name],
    ],
    stop=lambda path: [["systemctl", "--user", "disable", "--now", path.name]],
)


# -- launchd -----------------------------------------------------------------------------------------


def _launchd_text(vault: str, env: Mapping[str, str]) -> str:
    values = {
        "Label": f"mdmem-watch-{config.vault_key(vault)}",
        "ProgramArguments": _watch_command(vault),
        "EnvironmentVariables": _variables(env),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 60,
    }
    head, mark, rest = plistlib.dumps(values, sort_keys=False).decode("utf-8").partition("<plist")
    return f"{head}<!-- {MARK} -->\n{mark}{rest}"


def _domain() -> str:
    return f"gui/{os.getuid()}"


LAUNCHD = System(
    folder=lambda env: Path("~/Library/LaunchAgents").expanduser(),  # noqa: ARG005 - same signature on every system
    name=lambda key: f"mdmem-watch-{key}.plist",
    text=_launchd_text,
    start=lambda path: [
        ["-launchctl", "bootout", f"{_domain()}/{path.stem}"],
        ["launchctl", "bootstrap", _domain(), str(path)],
    ],
    stop=lambda path: [["-launchctl", "bootout", f"{_domain()}/{path.stem}"]],
)


# -- the Task Scheduler of Windows -------------------------------------------------------------------


def _task_text(vault: str, env: Mapping[str, str]) -> str:
    """Return a task that starts when its user logs on, in ASCII: the Task Scheduler guesses a file's encoding."""
    program, *words = _watch_command(vault)
    user = escape("\\".join(filter(None, (env.get("USERDOMAIN"), env.get("USERNAME")))))
    text = f"""\
<?xml version="1.0"?>
<!-- {MARK} -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>mdmem watcher of {escape(vault)}</Description></RegistrationInfo>
  <Triggers><LogonTrigger><UserId>{user}</UserId></LogonTrigger></Triggers>
  <Principals>
    <Principal id="user"><UserId>{user}</UserId><LogonType>InteractiveToken</LogonType></Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions Context="user">
    <Exec>
      <Command>{escape(windows.windowless(program))}</Command>
      <Arguments>{escape(subprocess.list2cmdline(words))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


TASKS = System(
    folder=lambda env: Path(config.places(env)["config"]),
    name=lambda key: f"mdmem-watch-{key}.xml",
    text=_task_text,
    start=lambda path: [
        ["schtasks", "/Create", "/F", "/TN", path.stem, "/XML", str(path)],
        ["schtasks", "/Run", "/TN", path.stem],
    ],
    stop=lambda path: [["-schtasks", "/End", "/TN", path.stem]],
    forget=lambda path: [["-schtasks", "/Delete", "/F", "/TN", path.stem]],
)
