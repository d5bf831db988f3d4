"""`demo`: replay a recorded working day through the real hooks, into a scratch vault that is kept to explore."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from mdmem import config
from mdmem.agents.install import command_line, launcher
from mdmem.cli import listing
from mdmem.cli.finding import hits
from mdmem.cli.setup import init
from mdmem.cli.terminal import render
from mdmem.errors import MdmemError, UsageError
from mdmem.history import commit
from mdmem.history.git import repository
from mdmem.views import rows

RECORDING = Path(__file__).with_name("demo_day.jsonl")
QUERY = "date parser ISO 8601"
PARTS = ("vault", "notes-app", "home")
"""The folders of a demo: vault, project, and what would be in the home folder."""


class Scratch(NamedTuple):
    """The demo's surroundings: a vault, the project of the recorded sessions, and an environment."""

    root: Path
    vault: Path
    project: Path
    env: dict[str, str]


@click.command()
@click.option(
    "--at", metavar="DIR", type=click.Path(path_type=Path), help="Use this folder instead of a new scratch folder."
)
def demo(at: Path | None) -> None:
    """Replay a recorded day into a scratch vault, through the real hook commands, one process per event.

    Your own vault, settings and agents are not touched.

    \b
    Example:  mdmem demo --at /tmp/mdmem-demo
    """
    if at is not None:
        _refuse_used(at)
    root = at or Path(tempfile.mkdtemp(prefix="mdmem-demo-"))
    try:
        _play(root, render.console())
    except KeyboardInterrupt:
        if at is None:
            _remove(root)
        raise


def _refuse_used(root: Path) -> None:
    """Raise UsageError if a folder has a demo, or anything else, in the places of a new one."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file. Name a folder: `mdmem demo --at DIR`.")
    used = [name for name in PARTS if os.path.lexists(root / name)]
    if len(used) == len(PARTS):
        raise UsageError(
            f"{root} has a demo already: `mdmem --vault {shlex.quote(str(root / 'vault'))} search failing test`"
            " searches it. To replay the day again, delete the folder or name another one."
        )
    if used:
        raise UsageError(f"{root} has a {used[0]} of its own already. Name another folder: `mdmem demo --at DIR`.")


def _remove(root: Path) -> None:
    """Remove the scratch folder; a hook that was stopped too may still write to it for a moment."""
    end = time.monotonic() + 5
    while root.exists() and time.monotonic() < end:
        shutil.rmtree(root, ignore_errors=True)
        time.sleep(0.05)


def _play(root: Path, console: Console) -> None:
    scratch = prepare(root)
    answers = replay(scratch, console)
    loaded = config.load(str(scratch.vault), scratch.env)
    with _environment(scratch.env):
        commit.commit(loaded)
        _heading(console, "The vault: a file for each event")
        listing.print_tree(rows.ask(loaded, listing.folder_tree), scratch.vault.name, -1, 0, files=True)
        _heading(console, "One note, as it is on disk")
        console.print(Panel(Syntax(_a_note(scratch.vault), "markdown", word_wrap=True), expand=False), soft_wrap=False)
        _heading(console, f"mdmem search {QUERY}")
        hits.print_hits(hits.run(loaded, QUERY, limit=4))
    _heading(console, "What the next session was given")
    for event, answer in answers:
        if answer:
            console.print(
                Text(f"{event['hook_event_name']}: {event.get('prompt', 'the session begins')}", style="bold")
            )
            console.print(Panel(Text(render.safe(answer)), expand=False), soft_wrap=False)
    _heading(console, "git log --stat of the vault")
    console.print(Text(_git_log(scratch)))
    _heading(console, "Kept out")
    console.print(_kept_out(scratch))
    console.print(f"\nThe scratch vault stays at [bold]{scratch.vault}[/bold]: open it in your editor.")
    started = program(sys.argv[0])
    console.print(f"Search it:  {started} --vault {shlex.quote(str(scratch.vault))} search failing test")
    console.print(f"Your own:   {started} init, then {started} install claude-code")


def program(started_as: str) -> str:
    """Return how to start mdmem again: by its name, or as it was started if it is in no folder of PATH."""
    is_program = Path(started_as).stem == "mdmem"
    return shlex.quote(started_as) if is_program and not shutil.which("mdmem") else "mdmem"


def prepare(root: Path) -> Scratch:
    """Create an empty scratch vault and an empty git project below `root`."""
    vault, project, home = (root / name for name in PARTS)
    for folder in (vault, project, home / "state", home / "cache", home / "config", home / "run"):
        folder.mkdir(parents=True, mode=0o700)
    env = {name: value for name, value in os.environ.items() if not name.startswith("MDMEM_")}
    env |= {f"XDG_{name.upper()}_HOME": str(home / name) for name in ("state", "cache", "config", "data")}
    env |= {"XDG_RUNTIME_DIR": str(home / "run"), "MDMEM_VAULT": str(vault)}
    env["MDMEM_INJECT_DEADLINE_SECONDS"] = "20"  # the demo must show its results on a busy machine too
    repository.init(project)
    with (project / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write('[remote "origin"]\n\turl = https://github.com/acme/notes-app.git\n')
    with _environment(env):
        init.make_vault(config.load(str(vault), env))
    return Scratch(root, vault, project, env)


def replay(scratch: Scratch, console: Console) -> list[tuple[dict[str, Any], str]]:
    """Send the recorded payloads to the registered commands; return those that ask for memories, with the answers.

    Raises MdmemError when a hook exits with another status than 0, or prints to stderr.
    """
    with _environment(scratch.env):
        launcher.use(str(scratch.root / "settings.json"))
        hook, inject = (command_line.command(verb, "claude-code", str(scratch.vault)) for verb in ("hook", "inject"))
    answers = []
    with console.status("Replaying a day of two sessions, and the morning after…"):
        console.show_cursor()  # else it would stay hidden after Ctrl-Z
        for when, payload in recording(scratch.project):
            env = {**scratch.env, "MDMEM_NOW": str(int(when.timestamp()))}
            if payload["hook_event_name"] in ("SessionStart", "UserPromptSubmit"):
                said = _run(inject, payload, env)
                context = json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else ""
                answers.append((payload, context))
            _run(hook, payload, env)
    return [(payload, context) for payload, context in answers if context][-2:]


def recording(project: Path) -> Iterator[tuple[datetime, dict[str, Any]]]:
    """Yield the recorded day: each payload's time, and the payload as if it came from `project`."""
    here = json.dumps(str(project))[1:-1]
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        item = json.loads(line.replace("{{project}}", here))
        yield datetime.fromisoformat(item["at"]), item["payload"]


def _run(command: str, payload: dict[str, Any], env: dict[str, str]) -> str:
    # Agents run the registered line in a shell, too.
    done = subprocess.run(["/bin/sh", "-c", command], input=json.dumps(payload).encode(), capture_output=True, env=env)
    if done.returncode != 0 or done.stderr:
        raise MdmemError(f"A hook exited with {done.returncode}: {done.stderr.decode(errors='replace')[:400]}")
    return done.stdout.decode()


def _a_note(vault: Path) -> str:
    first = min(vault.glob("journal/**/001-*-edit-*.md"))
    return first.read_text(encoding="utf-8")


def _git_log(scratch: Scratch) -> str:
    repo = repository.open_vault(scratch.vault)
    log = repository.run(repo, "log", "--stat=100", "--format=%h %ad %s", "--date=short", "-n", "3")
    return log.decode("utf-8", "replace").rstrip()


def _kept_out(scratch: Scratch) -> str:
    everything = b"".join(path.read_bytes() for path in scratch.root.rglob("*") if path.is_file())
    words = ("pager is on her desk", "correcthorse", "Zm9vYmFyYmF6cXV4", "Ms Okafor", "20 percent")
    found = [word for word in words if word.encode() in everything]
    if found:
        raise MdmemError(f"The demo found private text in its files: {', '.join(found)}.")
    return (
        f"Of {len(words)} private texts in the recorded day (two private sections, two secrets, a private turn's reply)"
        " none is in any file of the vault, index, state or git."
    )


def _heading(console: Console, text: str) -> None:
    console.print()
    console.rule(f"[bold]{text}[/bold]", align="left")


@contextmanager
def _environment(env: dict[str, str]) -> Iterator[None]:
    """Run a block with another process environment."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
