"""A day of work in a vault, written by the hooks' own code, for tests of the command line."""

from __future__ import annotations

import json
import os
import pty
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click.testing
import pytest
from click.shell_completion import CompletionItem, ShellComplete

from mdmem import config
from mdmem.agents import Event
from mdmem.capture import events
from mdmem.capture.pending import Outcome
from mdmem.cli.group import cli
from mdmem.cli.setup import init
from tests.helpers import forked

FIRST = "3f0c6d1e-8a52-4b7e-9c41-5d2e7f90a118"
SECOND = "9b1d7c22-6f0a-4e3b-8d15-0c4a9e7f2b63"
OTHER = "c0ffee00-1234-4abc-9def-0123456789ab"
MORNING = 1_789_372_800.0
"""2026-09-14T08:00:00Z"""


class Day(NamedTuple):
    """A vault, and the environment that selects it."""

    vault: Path
    env: dict[str, str]

    def config(self) -> config.Config:
        """Load the vault's settings."""
        return config.load(str(self.vault), self.env)

    def store(self, event: Event, now: float) -> Outcome:
        """Store an event, as its hook does; it must succeed."""
        outcome = events.capture(self.config(), event, now, self.env)
        assert not outcome.error, outcome.error
        return outcome

    def ask(self, prompt: str, now: float, session: str = "s-1", agent: str = "claude-code") -> Outcome:
        """Store a prompt that is sent in the folder around the vault."""
        cwd = str(self.vault.parent)
        return self.store(Event(agent=agent, name="UserPromptSubmit", session=session, cwd=cwd, prompt=prompt), now)

    def run(self, *words: str, stdin: str = "", env: Mapping[str, str] | None = None) -> click.testing.Result:
        """Run a command in this process; it must succeed."""
        done = self.attempt(*words, stdin=stdin, env=env)
        if done.exception is not None:
            raise AssertionError(f"{words}: {done.exception!r}\n{done.output}") from done.exception
        return done

    def attempt(self, *words: str, stdin: str = "", env: Mapping[str, str] | None = None) -> click.testing.Result:
        """Run a command in this process, with any exit status."""
        return click.testing.CliRunner().invoke(cli, list(words), input=stdin, env={**self.env, **(env or {})})

    def terminal(self, *words: str, env: Mapping[str, str] | None = None, status: int = 0) -> str:
        """Run a command as a process on a terminal; return its output, including escape sequences."""
        main, child = pty.openpty()
        around = {**os.environ, **self.env, "TERM": "xterm-256color", "COLUMNS": "100", "PAGER": "cat", **(env or {})}
        process = forked.start(words, [child] * 3, around)
        os.close(child)
        pieces = []
        while piece := _read(main):
            pieces.append(piece)
        os.close(main)
        assert process.wait() == status
        return b"".join(pieces).decode()

    def json(self, *words: str, **more: Any) -> Any:
        """Run a command with `--json`; return its decoded output."""
        return json.loads(self.run(*words, "--json", **more).stdout)

    def id(self, title: str) -> str:
        """Return the id of the note with these words in its title."""
        return str(self._row(title)["id"])

    def path(self, title: str) -> Path:
        """Return the file of the note with these words in its title."""
        return self.vault / str(self._row(title)["path"])

    def _row(self, title: str) -> Any:
        found = [row for row in self.json("list", "--limit", "0") if title in row["title"]]
        assert len(found) == 1, [row["title"] for row in found]
        return found[0]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""  # the other end is closed


def make(root: Path) -> Day:
    """Make a vault with three sessions in two projects, which include a failure, an edit and a private section."""
    day = empty(root)
    app, api = root / "notes-app", root / "api"
    app.mkdir()
    api.mkdir()
    for seconds, event in (*_first(str(app)), *_second(str(app)), *_other(str(api))):
        day.store(event, MORNING + seconds)
    return day


def empty(root: Path) -> Day:
    """Make a new vault as `mdmem init` does, but without git."""
    vault = root / "vault"
    env = {f"XDG_{name}_HOME": str(root / "home" / name.lower()) for name in ("STATE", "CACHE", "CONFIG")}
    env |= {"XDG_RUNTIME_DIR": str(root / "home" / "run"), "MDMEM_VAULT": str(vault), "HOME": str(root / "home")}
    for folder in (vault, vault / "notes", root / "home" / "run"):
        folder.mkdir(parents=True, mode=0o700)
    (vault / "mdmem.toml").write_text(init.settings_text(), encoding="utf-8")
    return Day(vault, env)


def copy(day: Day, root: Path) -> Day:
    """Return a copy of a day that a test may change."""
    made = empty(root)
    shutil.copytree(day.vault, made.vault, dirs_exist_ok=True)
    for path in made.vault.rglob("*.md"):
        os.utime(path, (MORNING, MORNING))  # recently saved files would always be checked again
    return made


def take_over(day: Day, root: Path, monkeypatch: pytest.MonkeyPatch) -> Day:
    """Return a copy of a day with its repository and state, and select its vault for the code under test."""
    shutil.copytree(day.vault.parent, root, dirs_exist_ok=True)
    env = {key: value.replace(str(day.vault.parent), str(root)) for key, value in day.env.items()}
    for key, value in env.items():
        monkeypatch.setenv(key, value)
    made = Day(root / "vault", env)
    state = Path(day.config().state_dir).relative_to(day.vault.parent)
    (root / state).rename(made.config().state_dir)
    return made


def _first(cwd: str) -> list[tuple[float, Event]]:
    def event(name: str, **fields: Any) -> Event:
        return Event(agent="claude-code", name=name, session=FIRST, cwd=cwd, prompt_id="p1", **fields)

    return [
        (0, event("SessionStart", source="startup")),
        (5, event("UserPromptSubmit", prompt="Why does the date parser fail? <private>Ada pays</private> Fix it.")),
        (20, _ran(event, "Bash", {"command": "pytest -q"}, error="Exit code 1\n1 failed", use="t1")),
        (60, _ran(event, "Edit", _edit(cwd), {"filePath": f"{cwd}/src/dates.py"}, use="t2")),
        (90, _ran(event, "Bash", {"command": "pytest -q"}, {"stdout": "12 passed", "stderr": ""}, use="t3")),
        (120, event("Stop", message="The parser took 29 February for granted.\n\n- `src/dates.py`: the check")),
        (125, event("SessionEnd", source="exit")),
    ]


def _edit(cwd: str) -> dict[str, str]:
    return {"file_path": f"{cwd}/src/dates.py", "old_string": "date(y, m, d)", "new_string": "checked(y, m, d)"}


def _ran(event: Any, tool: str, given: Any, got: Any = None, *, use: str, error: str | None = None) -> Event:
    name = "PostToolUse" if error is None else "PostToolUseFailure"
    made: Event = event(
        name, tool=tool, tool_input=given, tool_response=got, tool_use_id=use, error=error, duration_ms=2300
    )
    return made


def _second(cwd: str) -> list[tuple[float, Event]]:
    def event(name: str, **fields: Any) -> Event:
        return Event(agent="claude-code", name=name, session=SECOND, cwd=cwd, prompt_id="p2", **fields)

    return [
        (89_990, event("SessionStart", source="startup")),
        (90_000, event("UserPromptSubmit", prompt="Cache the exported pages for an hour")),
        (90_060, event("Stop", message="Exports are cached for an hour, keyed by page and language.")),
    ]


def _other(cwd: str) -> list[tuple[float, Event]]:
    def event(name: str, **fields: Any) -> Event:
        return Event(agent="codex", name=name, session=OTHER, cwd=cwd, prompt_id="p3", **fields)

    return [
        (179_990, event("SessionStart", source="startup")),
        (180_000, event("UserPromptSubmit", prompt="Add a retry to the upload endpoint")),
        (180_060, event("Stop", message="Uploads are retried three times, with jitter.")),
    ]


def strand_a_note(day: Day, root: Path) -> None:
    """Leave a note in the retry queue: while the hook runs, a file is in the place of the project's folder."""
    here = root / "stranded"
    here.mkdir()
    blocker = day.vault / "journal" / "stranded"
    blocker.write_text("in the way")
    event = Event(
        agent="claude-code", name="UserPromptSubmit", session="s-1", cwd=str(here), prompt="A stranded prompt"
    )
    outcome = events.capture(day.config(), event, MORNING, day.env)
    assert outcome.error
    blocker.unlink()


def complete(day: Day, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """Return the shell's completions for the last word of a command line."""
    return [item.value for item in completions(day, monkeypatch, *words)]


def completions(day: Day, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[CompletionItem]:
    """Return the same with what is shown beside each of them."""
    for name, value in day.env.items():
        monkeypatch.setenv(name, value)
    return ShellComplete(cli, {}, "mdmem", "_MDMEM_COMPLETE").get_completions(list(words[:-1]), words[-1])
