"""Measures the watcher's cost and delay: `python -m tests.bench.watcher [notes] [idle seconds]`."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mdmem import config
from mdmem.config import Config
from mdmem.search import engine, index
from mdmem.watcher import client
from tests.bench import inject, measure

ROUNDS = 20


def until(holds: Callable[[], bool], seconds: float = 300.0) -> float:
    """Wait until `holds` is true; return how long that took, in seconds."""
    begun = time.monotonic()
    while not holds():
        if time.monotonic() - begun > seconds:
            raise SystemExit("it took too long")
        time.sleep(0.005)
    return time.monotonic() - begun


def is_known(settings: Config, word: str) -> bool:
    """Whether the index, as the watcher left it, has a word."""
    return bool(engine.search(settings, word, engine.SearchOptions(update=False)).total)


def memory(process: int) -> float:
    """Return the resident memory of a process in MB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def cpu(process: int) -> float:
    """Return the CPU time of a process, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def saved_to_found(settings: Config, save: Callable[[Path, str], None]) -> list[float]:
    """Save notes one by one with `save`; return how long each took to be found."""
    root = Path(settings.vault)
    took = []
    for _ in range(ROUNDS):
        word = "".join(random.choices("bcdfghklmnpqrstvwz", k=16))
        save(root / "notes" / f"{save.__name__}.md", word)
        took.append(until(lambda: is_known(settings, word)))  # noqa: B023 - asked at once
    return took


def in_place(path: Path, text: str) -> None:
    """Save a file as a simple editor does."""
    path.write_text(text, encoding="utf-8")


def atomically(path: Path, text: str) -> None:
    """Save a file as a careful editor does: write another, then rename it."""
    temp = path.with_name(f".{path.name}.swp")
    temp.write_text(text, encoding="utf-8")
    temp.replace(path)


def main(notes: int = 10_000, idle_seconds: int = 60) -> None:
    """Print memory, idle CPU, and the time from saving a note to finding it."""
    with measure.scratch() as (work, root, env):
        (root / "notes").mkdir()
        vocabulary = inject.fill(root, notes, "notes-app")
        settings = config.load(str(root))
        words = [sys.executable, "-m", "mdmem", "watch"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            took = until(lambda: b'"current": true' in (client.ask(settings, "status", {}, b"", seconds=5) or b""))
            print(f"{notes} notes: first indexed in {took:.1f} s; then {memory(process.pid):.0f} MB")
            send = inject.sender(work, env, "asks", lambda turn: _question(vocabulary, turn))
            for number in range(ROUNDS):
                subprocess.run([*words[:-1], "search", *vocabulary[number : 60 + number]], capture_output=True)
                send(number)
            print(f"after {ROUNDS} searches and as many injections {memory(process.pid):.0f} MB")
            for save in (in_place, atomically):
                found = saved_to_found(settings, save)
                middle = statistics.median(found)
                print(f"saved {save.__name__}: found after {middle:.2f} s, at most {max(found):.2f} s")
            before = cpu(process.pid)
            time.sleep(idle_seconds)
            share = (cpu(process.pid) - before) / idle_seconds
            print(f"idle for {idle_seconds} s: {share:.3%} of a CPU, {memory(process.pid):.0f} MB")
            print(f"a look at the whole vault every 3 minutes: {_sweep(settings) / 180:.3%} more")
        finally:
            process.terminate()
            process.wait()


def _question(vocabulary: list[str], turn: int) -> dict[str, Any]:
    a, b, c = vocabulary[50 + turn : 53 + turn]
    return {"hook_event_name": "UserPromptSubmit", "prompt": inject.QUESTION.format(a=a, b=b, c=c)}


def _sweep(settings: Config) -> float:
    begun = time.process_time()
    index.update(settings)
    return time.process_time() - begun


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
