"""Talk: an agent's session as hooks see it, captured in this process or sent to `mdmem` processes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mdmem import agents, config
from mdmem.capture import events
from mdmem.capture.pending import Outcome
from tests.helpers import forked

START = 1_789_372_800.0
"""2026-09-14, 08:00 UTC."""


class Talk:
    """One session in a project's folder. `now` advances by a minute with each stored event."""

    def __init__(self, vault: Path, cwd: Path, session: str = "00893aaf-19fa-41d2-8238-13269b9b3ca0") -> None:
        cwd.mkdir(parents=True, exist_ok=True)
        self.vault = vault
        self.cwd = cwd
        self.session = session
        self.transcript = cwd / "transcript.jsonl"
        self.now = START
        self.prompts = 0

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        """Return a payload for an event."""
        common = {"session_id": self.session, "cwd": str(self.cwd), "transcript_path": str(self.transcript)}
        return {**common, "hook_event_name": event, "prompt_id": f"{self.session[:8]}-{self.prompts}", **fields}

    def store(self, event: str, **fields: Any) -> Outcome:
        """Capture an event in this process."""
        self.now += 60
        read = agents.load("claude-code").read(self.payload(event, **fields), {})
        settings = config.load(str(self.vault))
        settings.settings.values["capture.durability"] = "process"  # syncs are slow, and tests need no durability
        return events.capture(settings, read, self.now, {})

    def start(self, source: str = "startup") -> None:
        """Store the beginning of the session."""
        self.store("SessionStart", source=source)

    def says(self, prompt: str) -> Outcome:
        """Store a prompt."""
        self.prompts += 1
        return self.store("UserPromptSubmit", prompt=prompt)

    def answers(self, message: str) -> Outcome:
        """Store an answer."""
        return self.store("Stop", last_assistant_message=message)

    def runs(self, command: str, output: str = "", *, error: str | None = None) -> Outcome:
        """Store a Bash run."""
        use = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{self.now}"}
        if error is not None:
            return self.store("PostToolUseFailure", error=error, **use)
        return self.store("PostToolUse", tool_response={"stdout": output, "stderr": ""}, **use)

    def edits(self, name: str, lines: Sequence[str] = (), start: int = 1) -> Outcome:
        """Store an edit of a project file. lines: lines of its diff, which begin at line `start`."""
        path = str(self.cwd / name)
        patch = [{"oldStart": start, "oldLines": 1, "newStart": start, "newLines": 1, "lines": [*lines]}]
        tool_input = {"file_path": path, "old_string": "a = 1", "new_string": "a = 2"}
        use = {"tool_name": "Edit", "tool_input": tool_input, "tool_use_id": f"toolu_{self.now}"}
        return self.store(
            "PostToolUse", tool_response={"filePath": path, "structuredPatch": patch if lines else []}, **use
        )

    def asks(self, prompt: str, *, env: Mapping[str, str] | None = None, **fields: Any) -> str:
        """Send a new prompt to `mdmem inject`, before `mdmem hook` has stored it; return the context."""
        self.prompts += 1
        return self.inject("UserPromptSubmit", prompt=prompt, env=env, **fields)

    def inject(self, event: str, *, env: Mapping[str, str] | None = None, **fields: Any) -> str:
        """Send an event to an `mdmem inject` process; return the context, or ""."""
        done = self.process("inject", self.payload(event, **fields), env)
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return ""
        reply = json.loads(done.stdout)
        assert set(reply) == {"hookSpecificOutput"}
        assert reply["hookSpecificOutput"]["hookEventName"] == event
        context: str = reply["hookSpecificOutput"]["additionalContext"]
        return context

    def process(
        self, verb: str, payload: Any, env: Mapping[str, str] | None = None, agent: str = "claude-code"
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `mdmem VERB AGENT` with a payload on stdin; bytes are sent unchanged."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        named = {"MDMEM_VAULT": str(self.vault), "MDMEM_NOW": str(self.now + 60)}
        environment = {**os.environ, **named, **(env or {})}
        return forked.run((verb, agent), data, environment)

    def flag(self, name: str) -> Path:
        """Return the path of a marker file of this session in the state folder."""
        from mdmem.vault import journal

        return Path(journal.Record(config.load(str(self.vault)), self.session).flag(name))


def line(prompt: str, **fields: Any) -> str:
    """Return a prompt as a line of a transcript."""
    return json.dumps({"type": "user", "message": {"role": "user", "content": prompt}, **fields}) + "\n"
