"""Shell runs: what is private or secret in the commands that a person ran in the agent's prompt with `!`.

No hook hears of them; the agent's transcript has them.
"""

from __future__ import annotations

from mdmem import privacy
from mdmem.agents import Event, prompts, tail
from mdmem.capture import window
from mdmem.capture.tools import files_on_disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mdmem.capture.pending import Capture


def cleaned(capture: Capture, having: str) -> Iterable[privacy.Cleaned]:
    """Clean the commands and what they showed, each once, the last first. having: what their lines contain."""
    known, shown, key = capture.session.lines("shell"), "", ""
    for line in tail.objects(capture.event.transcript, having):
        words = next((text for text in tail.strings(line) if text.startswith(having)), "")
        command, output = prompts.shell_run(words)
        shown, key = output or shown, key or str(line.get("uuid", line.get("timestamp", "")))
        if not command:
            continue
        if [key] in known:
            return
        capture.session.append("shell", key)
        run = _run(capture, command, shown, str(line.get("cwd") or capture.event.cwd))
        if privacy.may_hold_private(run, capture.rules) or privacy.may_name_secret(run, capture.rules):
            yield privacy.clean(window.Window(capture.rules).narrow(run), rules=capture.rules, origin="tool")
        shown = key = ""


def _run(capture: Capture, command: str, shown: str, cwd: str) -> dict[str, Any]:
    """Return a command and its output as a tool run, with the files that may hold tags which it did not show."""
    run: dict[str, Any] = {"tool": "Bash", "input": {"command": command}, "response": {"stdout": shown}}
    event = Event(agent=capture.event.agent, name="PostToolUse", cwd=cwd)
    event.tool, event.tool_input, event.tool_response = run["tool"], run["input"], run["response"]
    return run | files_on_disk.not_shown(event, capture.rules.tags)
