"""Measures hooks: `python -m tests.bench.hooks [rounds]`, as ratios to a bare interpreter in one run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mdmem import launch
from tests.bench import measure
from tests.helpers.claude import registered

PAYLOADS = Path(__file__).parent.parent / "payloads" / "claude_code"

PRIVATE = "0d4c7a1e-0000-4000-8000-0000000005ec"
"""A separate session for private text. Later events are checked for it, which costs a fifth of a bare Python."""


def load(name: str) -> dict[str, Any]:
    """Return a recorded payload."""
    payload: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
    return payload


def sender(
    work: Path, env: dict[str, str], name: str, payload: dict[str, Any], session: str = "", verb: str = "hook"
) -> Callable[[int], float]:
    """Return a function that sends a payload as a new event each time, through the registered command line."""
    command = ["/bin/sh", "-c", registered(verb)]
    file = work / f"{name}.json"

    def run(turn: int) -> float:
        ids = {"tool_use_id": f"toolu_{name}_{turn}", "prompt_id": f"prompt-{name}-{turn}"}
        file.write_text(json.dumps(payload | ids | ({"session_id": session} if session else {})), encoding="utf-8")
        return measure.cpu(command, file, env)

    return run


def big_output(size: int) -> dict[str, Any]:
    """Return a Bash run that printed about `size` bytes of ordinary program output."""
    payload = load("PostToolUse-Bash-01")
    lines = [
        f"{n:>7} src/module_{n % 97}.py compiled in {n % 13} ms, nothing to report here" for n in range(size // 70)
    ]
    payload["tool_response"] = {**payload["tool_response"], "stdout": "\n".join(lines)}
    return payload


def long_session(work: Path, env: dict[str, str], edit: dict[str, Any], notes: int) -> str:
    """Fill a session with notes through the write half, as that many hooks would."""
    from mdmem import agents, config
    from mdmem.capture import events

    settings = config.load(env["MDMEM_VAULT"], env)
    settings.settings.values["capture.durability"] = "process"
    session = "0d4c7a1e-0000-4000-8000-00000000f00d"
    for n in range(notes):
        payload = edit | {"session_id": session, "tool_use_id": f"toolu_long_{n}"}
        events.capture(settings, agents.load("claude-code").read(payload, {}), 1_790_000_000.0 + n, {})
    return session


def main(rounds: int = 31) -> None:
    """Print the table."""
    launch.compile_all()  # as `mdmem install` does
    with measure.scratch() as (work, _, env):
        edit = load("PostToolUse-Edit-01")
        prompt = load("UserPromptSubmit-plain-01")
        long = long_session(work, env, edit, 2_000)
        rows = measure.interleaved(
            {
                "hook, an edit": sender(work, env, "edit", edit),
                "hook, an edit, the 2,000th note of its session": sender(work, env, "long", edit, long),
                "hook, a prompt": sender(work, env, "prompt", {**prompt, "prompt": "Rename the parser's argument."}),
                "hook, a prompt that asks why, answered": sender(work, env, "asks", prompt),
                "hook, a prompt with a private section": sender(
                    work, env, "private", load("UserPromptSubmit-private-03"), PRIVATE
                ),
                "hook, 1 MB of tool output": sender(work, env, "big", big_output(1_000_000)),
                "hook, an event that leaves nothing": sender(work, env, "none", load("Notification-permission-01")),
            },
            rounds,
        )
    print(measure.table(rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 31)
