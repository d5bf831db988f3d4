"""Claude: payloads as Claude Code sends them, and ways to run hooks: as it does, in-process, or with fewer rights."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import frontmatter

from mdmem import agents, config
from mdmem.agents.install import command_line, launcher
from mdmem.capture import events
from mdmem.capture.pending import Outcome
from tests.helpers import forked

SESSION = "00893aaf-19fa-41d2-8238-13269b9b3ca0"
OTHER = "11111111-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
START = 1_789_372_800
"""2026-09-14, 08:00 UTC."""

FULL = "MDMEM_SOAK" in os.environ
"""Whether to run the soak tests at full size."""


def payload(event: str, **fields: Any) -> dict[str, Any]:
    """Return a payload for an event."""
    base = {"session_id": SESSION, "cwd": "/home/dev/work/notes-app", "hook_event_name": event}
    return base | fields


def prompt(text: str, number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return a prompt event. `number` determines its id."""
    return payload("UserPromptSubmit", prompt=text, prompt_id=f"prompt-{number}") | fields


def bash(output: str, use: str = "toolu_1", number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return a Bash run that printed `output`, in the turn of prompt `number`."""
    run = {
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": {"stdout": output, "stderr": "", "interrupted": False},
        "tool_use_id": use,
        "prompt_id": f"prompt-{number}",
    }
    return payload("PostToolUse") | run | fields


def stop(text: str, number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return the end of the turn of prompt `number`."""
    return payload("Stop", last_assistant_message=text, prompt_id=f"prompt-{number}") | fields


def command(vault: str | None = None) -> list[str]:
    """Return the arguments that run a hook as registered."""
    return ["/bin/sh", "-c", registered("hook", "claude-code", vault)]


def registered(verb: str, agent: str = "claude-code", vault: str | None = None) -> str:
    """Return the command line that an agent runs, with the launcher resolved."""
    launcher.use("/nonexistent/settings.json")
    return command_line.command(verb, agent, vault)


def send(event: Any, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a hook, which must exit with 0 and print nothing on stderr. `event` may be raw bytes."""
    data = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = forked.run(("hook", "claude-code"), data, {**os.environ, **(env or {})})
    assert (done.returncode, done.stderr) == (0, b"")
    return done


def capture(event: dict[str, Any], now: float = START, **settings: Any) -> Outcome:
    """Capture an event in this process, with settings such as `capture__subagents=True`."""
    found = config.load()
    found.settings.values.update({key.replace("__", "."): value for key, value in settings.items()})
    return events.capture(found, agents.load("claude-code").read(event, {}), now, os.environ)


def limited(event: dict[str, Any], limit: Callable[[], None]) -> str:
    """Run the hook in a fork of this process after calling `limit` there; return its stdout.

    A new process would not do: a user without root's rights may not be able to read root's interpreter.
    """
    from mdmem.agents import claude_code  # noqa: F401
    from mdmem.capture import hook as capturing
    from mdmem.capture.tools import table  # noqa: F401 - loaded before the rights are dropped
    from mdmem.recall import hook

    out, into = os.pipe()  # a pipe, because `limit` may restrict files
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(json.dumps(event).encode())
        stdin.seek(0)
        pid = os.fork()
        if pid == 0:
            try:
                for number, file in enumerate((stdin.fileno(), into, stderr.fileno())):
                    os.dup2(file, number)
                capturing.DEADLINE_SECONDS = 100.0  # a busy machine is not a failure
                limit()
                hook.main(["claude-code"])
            finally:
                os._exit(99)  # a hook never returns
        os.close(into)
        assert os.waitpid(pid, 0)[1] == 0
        stderr.seek(0)
        assert stderr.read() == b""
    with open(out, "rb") as said:
        return said.read().decode()


def drop_rights() -> None:
    """Become the user nobody if this is root, who may write to read-only folders."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def let_nobody_in(*folders: Path) -> None:
    """Make these folders accessible to a process without root's rights."""
    for folder in folders if os.getuid() == 0 else ():
        for above in folder.parents:
            if above.is_relative_to(tempfile.gettempdir()) and above != Path(tempfile.gettempdir()):
                above.chmod(0o755)


def places(found: list[Path]) -> list[str]:
    """Return prompt number, sequence and kind of each note, from its file name."""
    return ["-".join(path.name.split("-")[:3]) for path in found]


def contents(found: list[Path]) -> list[str]:
    """Return the bodies of notes."""
    return [str(frontmatter.loads(path.read_text("utf-8")).content) for path in found]
