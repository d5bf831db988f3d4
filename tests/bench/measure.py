"""Measures the CPU time of whole processes, interleaved, as ratios to a bare interpreter in the same round."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

BARE = [os.path.realpath(sys.executable), "-I", "-S", "-c", "pass"]
"""The floor: the interpreter alone, without site-packages."""


class Row(NamedTuple):
    """One measured command: median CPU in milliseconds, and the median of its ratios to the floor."""

    name: str
    milliseconds: float
    ratio: float


def cpu(words: list[str], stdin: Path | None = None, env: Mapping[str, str] | None = None) -> float:
    """Run a command; return its CPU time (user and system, with children) in milliseconds."""
    null = os.open(os.devnull, os.O_RDWR)
    source = os.open(stdin, os.O_RDONLY) if stdin else null
    try:
        actions = [(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
        pid = os.posix_spawn(words[0], words, {**os.environ, **(env or {})}, file_actions=actions)
        _, status, used = os.wait4(pid, 0)
    finally:
        os.close(null)
        if stdin:
            os.close(source)
    if status != 0:
        raise SystemExit(f"{words[:2]} ended with status {status}")
    return (used.ru_utime + used.ru_stime) * 1000


def interleaved(runs: Mapping[str, Callable[[int], float]], rounds: int) -> list[Row]:
    """Run every command once in each round, after the bare interpreter; return medians over the rounds.

    Each run receives the number of its round, so that it can send a new event.
    """
    floors: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        floor = cpu(BARE)
        measured = {name: run(turn) for name, run in runs.items()}
        if turn == 0:
            continue  # warm-up: compiles bytecode and fills caches
        floors.append(floor)
        for name, milliseconds in measured.items():
            times[name].append(milliseconds)
    base = statistics.median(floors)
    rows = [Row("python -I -S -c pass", base, 1.0)]
    for name, found in times.items():
        rows.append(Row(name, statistics.median(found), statistics.median(found) / base))
    return rows


def table(rows: list[Row]) -> str:
    """Return measured rows as a Markdown table."""
    lines = ["| command | CPU ms, median | × bare Python |", "|---|---|---|"]
    lines += [f"| {row.name} | {row.milliseconds:.1f} | {row.ratio:.2f} |" for row in rows]
    return "\n".join(lines)
