"""Check the machine: Python, packages, git, and the agents that run the hooks."""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path

from mdmem import launch, plural, project, timestamps
from mdmem.agents.install import catalog, launcher, mcp_registration, registration
from mdmem.agents.install.registration import Status
from mdmem.config import ALIAS, Config, variable
from mdmem.errors import MdmemError
from mdmem.health import HealthFinding, error, fine, folders, note, warning
from mdmem.history import deletions
from mdmem.history.git import repository
from mdmem.settings import SETTINGS
from mdmem.transcripts import sources, survey
from mdmem.transcripts.survey import Survey
from mdmem.vault import exclusions, journal, layout, pauses
from mdmem.views import storing
from mdmem.views.settings_checks import unread_variables
from mdmem.watcher import client

OLDEST_PYTHON = (3, 11)
SILENT_DAYS = 14
HEARD_SECONDS = 60
"""A session that begins within this time after an event may have sent it, or have begun before a registration."""
MOST_SURVEYED = 20
"""Number of an agent's transcripts, the last changed ones, that are read: copying them changes the times of all."""


def python(config: Config) -> Iterator[HealthFinding]:  # noqa: ARG001 - every check takes the settings
    """Check the Python version."""
    text = f"Python {platform.python_version()} at {sys.executable}"
    if sys.version_info >= OLDEST_PYTHON:
        yield fine(text)
    else:
        yield error(f"{text} is too old.", "Install Python 3.11 or later, and mdmem into it.")


def packages(config: Config) -> Iterator[HealthFinding]:  # noqa: ARG001
    """Check whether all required packages are installed; `pip check` tells about their versions."""
    try:
        lines = metadata.requires("mdmem") or []
    except metadata.PackageNotFoundError:
        yield note("mdmem is run without being installed.", "Install it: `pip install -e .` in the checkout.")
        return
    required = [line.partition(";")[0].strip() for line in lines if "extra" not in line.partition(";")[2]]
    missing = [package for package in required if not _version(re.split(r"[^A-Za-z0-9._-]", package)[0])]
    for package in missing:
        yield error(f"The package {package} is missing.", f"Install it: `pip install '{package}'`.")
    if _version("Whoosh") and _version("whoosh-reloaded"):  # both install `whoosh`: chance decides which is imported
        todo = "`pip uninstall whoosh`, then `pip install --force-reinstall whoosh-reloaded`."
        yield warning("whoosh and whoosh-reloaded are both installed, and overwrite each other.", todo)
    if not missing:
        yield fine(f"all {len(required)} packages are installed")


def _version(name: str) -> str:
    """Return the version of an installed package, "" for a missing one."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def git(config: Config) -> Iterator[HealthFinding]:
    """Check whether git is installed and recent."""
    try:
        version = repository.start(_existing(Path(config.vault)), ["version"]).out.decode("utf-8", "replace")
    except MdmemError as problem:
        yield error(str(problem), f"Install git {repository.OLDEST} or later, or put it on PATH.")
        return
    if _numbers(version) < _numbers(repository.OLDEST):
        yield warning(f"{version.strip()} is old.", f"Install git {repository.OLDEST} or later.")
    else:
        yield fine(version.strip())


def _existing(path: Path) -> Path:
    """Return a folder, or the nearest one above it in which a program can be started."""
    return next(folder for folder in (path, *path.parents) if folders.can_be_read(str(folder)))


# -- agents ----------------------------------------------------------------------------------------


def hook(config: Config) -> Iterator[HealthFinding]:
    """Import all modules for hooks like a hook does, and check their bytecode."""
    del config
    package = Path(launch.__file__).parent
    broken = list(launch.damaged())
    if broken:
        text = f"Damaged bytecode stops hooks or slows them down: {plural.some(broken, 1)}."
        yield error(text, "`mdmem doctor --fix` removes it and recompiles.", _recompile)
    if not launch.can_compile() and not Path(cache_from_source(str(package / "recall" / "hook.py"))).exists():
        command = shlex.join([sys.executable, "-m", "compileall", "-q", str(package)])
        yield warning(
            "Hooks are not compiled, so each takes several times longer; you cannot write there.",
            f"As the user who installed mdmem: `{command}`",
        )
    code = _IMPORT_ALL.format(top=str(package.parent), paths=launcher.search_path(), rooms=HOOK_ROOMS)
    result = subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], capture_output=True, text=True)
    for line in result.stdout.splitlines():
        yield error(f"A hook cannot import {line}.", "Install mdmem again.")
    if result.returncode:
        yield error(f"Python cannot import mdmem as a hook does (status {result.returncode}).", "Install mdmem again.")
    elif not result.stdout and not broken:
        yield fine("all modules that hooks need can be imported")


HOOK_ROOMS = ("agents", "capture", "privacy", "vault")
_IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path += [{top!r}, *{paths!r}]
import mdmem
top = pkgutil.iter_modules(mdmem.__path__, "mdmem.")
names = [name for _, name, room in top if not room and name != "mdmem.__main__"]
for room in {rooms!r}:
    package = importlib.import_module("mdmem." + room)
    found = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    names += [name for _, name, _ in found if ".install" not in name]
for name in names:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, "(" + type(error).__name__ + ")")
"""


def _recompile() -> None:
    for path in list(launch.damaged()):
        Path(path).unlink(missing_ok=True)
    if not launch.compile_all():
        raise OSError("some of it cannot be compiled or written")


def registrations(config: Config) -> Iterator[HealthFinding]:
    """Check the registration of every agent."""
    rows = storing.registrations(config)
    for row in rows:
        yield from _registration(row, config)
    for row in map(mcp_registration.status, catalog.CLIENTS):
        if row.state == "outdated" and row.problem:
            yield error(f"{row.title}: {row.problem}", f"`mdmem install {row.agent} --mcp`")
    present = {row.agent for row in rows if row.has_hooks}
    missing = [agent for agent in catalog.detect() if agent.agent not in present]
    for agent in missing if present else ():
        yield note(f"{agent.title} is on this machine but not registered.", f"`mdmem install {agent.agent}`")
    if not present:
        names = ", ".join(agent.title for agent in missing) or "none"
        yield warning(
            f"No agent is registered. Found on this machine: {names}.", f"{catalog.advice()} registers the hooks."
        )


def _registration(row: Status, config: Config) -> Iterator[HealthFinding]:
    name = f"{row.title} ({row.scope})"
    install = f"`mdmem install {row.agent} --scope {row.scope}`"
    if row.state == "unreadable":
        yield error(f"{name}: {row.problem}", f"Fix {row.path}, then {install}.")
    elif row.state == "outdated":
        fix = partial(registration.register, row.agent, row.scope, vault=row.vault or None)
        if row.problem:
            yield error(f"{name}: {row.problem}", install, fix)
        else:
            yield warning(f"{name} was registered by another or an older mdmem.", install, fix)
    elif row.problem:
        yield warning(f"{name}: {row.problem.text}", row.problem.todo)
    elif row.state == "registered":
        yield fine(f"{name} is registered")
    if row.state == "registered" and row.vault and row.vault != config.vault:
        yield note(
            f"{name} stores to another vault: {row.vault}",
            f"For this one: `mdmem --vault {shlex.quote(config.vault)} …`",
        )


def events(config: Config) -> Iterator[HealthFinding]:
    """Check when each registered agent last sent an event, and whether it has sent none of a later session."""
    registered = [row for row in registration.survey() if row.has_hooks]
    names = {row.agent: row.title for row in registered}
    last_events = storing.last_heard(config)
    silent = [title for agent, title in names.items() if agent not in last_events]
    if silent:
        yield note(f"Not heard from yet: {', '.join(silent)}.", "Start a new session: hooks are read at its start.")
    for agent, title in names.items():
        if agent not in last_events:
            continue
        when = last_events[agent].when
        days = (time.time() - when) / 86_400
        text = f"{title} was last heard from {timestamps.local_time(when)}"
        if days > SILENT_DAYS:
            yield note(
                f"{text}, {days:.0f} days ago.", f"If you use it, run `mdmem install {agent}` and start a new session."
            )
        else:
            yield fine(text)
    for row in registered:
        if row.scope == "user" and row.vault in ("", config.vault):
            yield from _unheard(row, config)


def _unheard(row: Status, config: Config) -> Iterator[HealthFinding]:
    """Report a saved session that began after the hooks were registered and the last event, and sent no event."""
    last = storing.last_heard_anywhere(config, row.agent)
    after = max(last, Path(row.path).stat().st_mtime) + HEARD_SECONDS
    for transcript in reversed(sources.of_agent(row.agent, os.environ)[-MOST_SURVEYED:]):
        if transcript.changed_ns / 1e9 <= after:
            return
        found = survey.survey(transcript, time.time(), {})
        if found and found.first > after and _can_be_imported(config, found):
            where = f" in {found.cwd}" if found.cwd else ""
            text = (
                f"{row.title} saved a session of {timestamps.local_time(found.first)}{where}, but sent no event of it."
            )
            todo = "Its hooks were off: by its settings there, by your organization, or as it was started (--bare)."
            yield note(text, f"{todo} `mdmem import` stores it.")
            return


def _can_be_imported(config: Config, found: Survey) -> bool:
    """Whether an import would add a transcript: not stored yet, nor deleted, nor of an excluded project."""
    if not exclusions.takes_project(config, project.identify(found.cwd), found.cwd):
        return False
    tails = tuple(f"-{tag}" for session in found.sessions for tag in journal.session_tags(session))
    if any(layout.archived_in(path).endswith(tails) for path in layout.archives(config.vault)):
        return False
    if any(journal.find_session(config, session) for session in found.sessions):
        return False
    return not survey.count_deleted([found], deletions.find_all(config).sessions)


def switches(config: Config) -> Iterator[HealthFinding]:
    """Check whether storing is paused or off, and whether variables use alias names or names that are not read."""
    aliases = [name for name in (variable(row, os.environ) for row in SETTINGS) if name.startswith(ALIAS)]
    if aliases:
        yield note(
            f"Read as aliases of MDMEM_…: {', '.join(aliases)}.",
            "Rename them to MDMEM_…, the names that the help pages use.",
        )
    for name, tip in unread_variables(os.environ).items():
        yield warning(f"{name} is set, and mdmem reads no variable of that name.", tip)

    if exclusions.is_off(config, "", {name: value for name, value in os.environ.items() if name == "MDMEM_DISABLED"}):
        pause = pauses.pause_of(config)
        if pause is not None:
            ends = f" until {timestamps.local_time(pause.ends)}" if pause.ends else ""
            yield warning(f"Storing is paused{ends}.", "`mdmem resume` resumes storing.")
        else:
            yield warning("MDMEM_DISABLED is set, so nothing is stored from this environment.", "Unset it.")
    if why := storing.unread_ignore_file():
        yield warning(why, "`mdmem import` then stores what was left out, from the agents' transcripts.")
    paused = pauses.of_sessions(config)
    if paused:
        command = storing.resume_command(paused[0].session if len(paused) == 1 and paused[0].session else "ID")
        yield note(f"{plural.number(len(paused), 'session')} paused.", f"`{command}` resumes storing.")


def watcher(config: Config) -> Iterator[HealthFinding]:
    """Check the watcher; it is fine if none is running."""
    status = client.status(config)
    if silent := storing.silent_watcher(status):
        yield warning(silent)
    elif missing := storing.missing_watcher(config, status):
        todo = "`mdmem watch --background` starts one; `mdmem install service`, one at every login."
        yield note(missing, todo)
    elif not status["running"]:
        yield fine("no watcher is running (none is needed)")
    elif outdated := storing.outdated_watcher(status):
        yield warning(outdated, "`mdmem watch --stop`, then `mdmem watch --background`.")
    elif status.get("polling"):
        text = f"The watcher scans the whole vault every few seconds, because {status['polling']}."
        yield warning(text, "Raise the limit, or stop other programs that watch many folders.")
    else:
        yield fine(
            f"a watcher has been running since {timestamps.readable(str(status['since']))} (pid {status['pid']})"
        )
