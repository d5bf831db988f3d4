"""Measures a turn: `python -m tests.bench turn [rounds]`, a prompt, ten tool runs and an answer, in all processes.

With a watcher, its CPU and that of its child processes during the turn counts too, including its indexing. The
background commit after an answer does not count, because no turn waits for it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mdmem import launch
from tests.bench import hooks, measure, watcher
from tests.helpers.claude import registered

RUNS = 10
SETTLE_SECONDS = 6.0
"""How long after a turn the CPU of a watcher still counts as part of it."""


class TurnCost(NamedTuple):
    """CPU of a turn in ms: tool runs, the rest of it, the watcher's share; and of a bare Python at the same time."""

    runs: float
    others: float
    share: float
    bare: float


def used_below(process: int) -> float:
    """Return the CPU time of a process and its descendants, in ms."""
    found, waiting = 0.0, [process]
    while waiting:
        one = waiting.pop()
        try:
            fields = Path(f"/proc/{one}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            tasks = list(Path(f"/proc/{one}/task").iterdir())
            waiting += [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except OSError:
            continue
        found += sum(map(int, fields[11:15]))
    return found / os.sysconf("SC_CLK_TCK") * 1000


def turns(work: Path, env: dict[str, str], rounds: int, share: Callable[[], float]) -> TurnCost:
    """Measure turns; return medians. share: returns the watcher's CPU so far, in ms."""
    stop = hooks.load(min(hooks.PAYLOADS.glob("Stop-*.json")).stem)
    prompt = hooks.load("UserPromptSubmit-plain-01") | {"prompt": "Rename the parser's argument."}
    payloads = {"prompt": prompt, "stop": stop}
    payloads |= {"edit": hooks.load("PostToolUse-Edit-01"), "bash": hooks.load("PostToolUse-Bash-01")}
    send = {name: hooks.sender(work, env, name, payload) for name, payload in payloads.items()}
    found = []
    for number in range(rounds + 1):
        bare = statistics.median(measure.cpu(measure.BARE) for _ in range(5))
        before = share()
        first = send["prompt"](number)
        runs = sum(send[("edit", "bash")[step % 2]](number * RUNS + step) for step in range(RUNS))
        others = first + send["stop"](number)
        if before:
            time.sleep(SETTLE_SECONDS)
        if number:  # the first turn fills caches
            found.append(TurnCost(runs, others, share() - before, bare))
    return TurnCost(*map(statistics.median, zip(*found, strict=True)))


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    launch.compile_all()  # as `mdmem install` does
    costs = {}
    for name in ("without a watcher", "with one"):
        with measure.scratch() as (work, _, env):
            costs[name] = _measured(work, env, rounds, watched=name == "with one")
    heads = ["prompt and answer", f"{RUNS} tool runs", "the watcher", "together", "× bare Python", "a tool run, ×"]
    rows = []
    for name, cost in costs.items():
        total = cost.runs + cost.others + cost.share
        cells = [name, *(f"{part:.0f}" for part in (cost.others, cost.runs, cost.share, total))]
        rows.append([*cells, f"{total / cost.bare:.1f}", f"{(cost.runs + cost.share) / RUNS / cost.bare:.2f}"])
    print(measure.markdown(["a turn, in ms of CPU", *heads], rows))
    print(f"\nA bare Python took {statistics.median(cost.bare for cost in costs.values()):.1f} ms.", end=" ")
    print(f"With a watcher, {'Perl' if _has_perl() else 'a Python'} hands hooks over; its share counts for the runs.")


def _has_perl() -> bool:
    from mdmem.agents.install import launcher

    return launcher._PERL in launcher.text([]) and os.access(launcher._PERL, os.X_OK)


def _measured(work: Path, env: dict[str, str], rounds: int, *, watched: bool) -> TurnCost:
    if not watched:
        return turns(work, env, rounds, lambda: 0.0)
    from mdmem.agents.install import launcher

    registered("hook")
    words = [sys.executable, "-m", "mdmem", "watch"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            watcher.until(lambda: os.path.exists(launcher.socket_path()))
            return turns(work, env, rounds, lambda: used_below(process.pid))
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
