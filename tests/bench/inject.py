"""Measures injections: `python -m tests.bench.inject [rounds] [notes]`, as ratios to a bare interpreter."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mdmem import config, timestamps
from mdmem.search import index
from mdmem.vault import journal, note
from tests.bench import measure
from tests.helpers.claude import registered

SESSION_NOTES = 10
QUESTION = "Do you remember what we decided about the {a} {b} and its {c}?"


def words(count: int, seed: int = 7) -> list[str]:
    """Return a vocabulary with the frequencies of a natural language: that of the n-th word is 1/n."""
    chance = random.Random(seed)
    return ["".join(chance.choices("bcdfglmnprst", k=3) + chance.choices("aeiou", k=3)) for _ in range(count)]


def fill(root: Path, notes: int, project: str) -> list[str]:
    """Write a vault of sessions of `SESSION_NOTES` notes each; return the vocabulary."""
    chance = random.Random(11)
    vocabulary = words(20_000)
    weights = [1 / (rank + 3) for rank in range(len(vocabulary))]
    kinds = ("prompt", "observation", "observation", "observation", "response")
    for number in range(notes // SESSION_NOTES):
        day = time.strftime("%Y-%m-%d", time.gmtime(1_780_000_000 + number * 3600))
        folder = root / "journal" / project / day / f"{number % 24:02d}00-session-{number:08d}"
        folder.mkdir(parents=True, exist_ok=True)
        for place in range(SESSION_NOTES):
            text = " ".join(chance.choices(vocabulary, weights, k=int(chance.lognormvariate(4.6, 0.6))))
            kind = kinds[place % 5]
            meta = {
                "id": note.make_id(str(number), str(place)), "kind": kind, "title": text[:60],
                "created": timestamps.iso_time(1_780_000_000 + number * 3600 + place), "project": project,
                "session": f"session-{number}", "prompt": place // 5 + 1, "sequence": place % 5,
            }  # fmt: skip
            made = note.Note(meta, "words", f"{text}\n")
            name = note.file_name(made, kind, place // 5 + 1, place % 5)
            (folder / name).write_text(note.render(made), encoding="utf-8")
    page = note.Note({"id": "projectpage", "kind": "project", "title": project, "identity": []}, "", "")
    (root / "journal" / project / "project.md").write_text(note.render(page), encoding="utf-8")
    return vocabulary


def sender(
    work: Path, env: dict[str, str], name: str, fields: Callable[[int], dict[str, Any]], verb: str = "hook"
) -> Callable[[int], float]:
    """Return a function that sends a payload from a new session each time, whose start the state has recorded."""
    command = ["/bin/sh", "-c", registered(verb)]
    file = work / f"{name}.json"

    def run(turn: int) -> float:
        common = {"session_id": f"{name}-{turn}", "cwd": str(work / "notes-app"), "transcript_path": "/none.jsonl"}
        record = Path(journal.Record(config.load(None, env), f"{name}-{turn}").path)
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text("\nstart\t1790000000\tstartup\n")
        file.write_text(json.dumps({**common, "prompt_id": f"p{turn}", **fields(turn)}), encoding="utf-8")
        return measure.cpu(command, file, env)

    return run


def main(rounds: int = 21, notes: int = 10_000) -> None:
    """Print the table, without a watcher and with one."""
    with measure.scratch() as (work, root, env):
        (work / "notes-app").mkdir()
        env["MDMEM_INJECT_DEADLINE_SECONDS"] = "50"  # on a busy machine, an aborted run would look cheap
        vocabulary = fill(root, notes, "notes-app")
        index.update(config.load(str(root), env))

        def asks(turn: int) -> dict[str, Any]:
            a, b, c = random.Random(turn).choices(vocabulary[50:5000], k=3)
            return {"hook_event_name": "UserPromptSubmit", "prompt": QUESTION.format(a=a, b=b, c=c)}

        def writes(turn: int) -> dict[str, Any]:
            prompt = " ".join(random.Random(turn).choices(vocabulary[:5000], k=60))
            return {"hook_event_name": "UserPromptSubmit", "prompt": prompt}

        def fails(turn: int) -> dict[str, Any]:
            a, b = random.Random(turn).choices(vocabulary[50:5000], k=2)
            error = f"Exit code 1\nsrc/{a}.py:12: ValueError: {a} is no {b}"
            use = {"tool_name": "Bash", "tool_input": {"command": f"pytest -q {a}"}, "tool_use_id": f"t{turn}"}
            return {"hook_event_name": "PostToolUseFailure", "error": error, **use}

        silent = {**env, "XDG_CONFIG_HOME": str(work / "silent")}
        (work / "silent" / "mdmem").mkdir(parents=True)
        (work / "silent" / "mdmem" / "config.toml").write_text('[inject]\non = ["ask"]\n')

        runs = {
            "a prompt that wants nothing": lambda _: {
                "hook_event_name": "UserPromptSubmit", "prompt": "fix the bug in parser.py",
            },
            "a prompt that asks to recall": asks,
            "a prompt of 60 words, once a session": writes,
            "the start of a session": lambda _: {"hook_event_name": "SessionStart", "source": "startup"},
            "a failed run with a new error": fails,
        }  # fmt: skip
        made = {name: sender(work, env, f"cold{place}", fields) for place, (name, fields) in enumerate(runs.items())}
        made["a failed run, without looking it up"] = sender(work, silent, "silent", fails)
        print(f"{notes} notes, no watcher\n\n{measure.table(measure.interleaved(made, rounds))}\n")
        watcher = subprocess.Popen([sys.executable, "-m", "mdmem", "watch"], env={**os.environ, **env},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            _wait_for_socket(root, env)
            made = {
                name: sender(work, env, f"warm{place}", fields) for place, (name, fields) in enumerate(runs.items())
            }
            made["a failed run, without looking it up"] = sender(work, silent, "quiet", fails)
            print(f"{notes} notes, with a watcher\n\n{measure.table(measure.interleaved(made, rounds))}")
        finally:
            watcher.terminate()
            watcher.wait()


def _wait_for_socket(root: Path, env: dict[str, str]) -> None:
    from mdmem.watcher import client

    settings = config.load(str(root), env)
    until = time.monotonic() + 60
    while client.ask(settings, "status", {}, b"", seconds=5) is None:
        if time.monotonic() > until:
            raise SystemExit("the watcher did not come up")
        time.sleep(0.1)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
