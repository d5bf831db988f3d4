"""Measures the CPU time of whole processes, interleaved, as ratios to a bare interpreter in the same round."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each command would compile its modules again

BARE = [os.path.realpath(sys.executable), "-I", "-S", "-c", "pass"]
"""The floor: the interpreter alone, without site-packages."""


class Scratch(NamedTuple):
    """A folder with an empty vault, and the environment in which it is the home and that vault the user's."""

    work: Path
    vault: Path
    env: dict[str, str]


@contextmanager
def scratch() -> Iterator[Scratch]:
    """Yield a scratch folder, whose environment is also this process's from then on; remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="mdmem-bench-") as folder:
        work, vault = Path(folder), Path(folder, "vault")
        vault.mkdir()
        (vault / "mdmem.toml").touch()
        env = home(work) | {"MDMEM_VAULT": str(vault)}
        os.environ |= env
        yield Scratch(work, vault, env)


def home(folder: Path) -> dict[str, str]:
    """Return the environment in which a folder is the user's home, with a folder for sockets."""
    (folder / "run").mkdir(parents=True, mode=0o700, exist_ok=True)
    places = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("STATE", "CACHE", "CONFIG", "DATA")}
    return {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run"), **places}


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
    cells = ((row.name, f"{row.milliseconds:.1f}", f"{row.ratio:.2f}") for row in rows)
    return markdown(["command", "CPU ms, median", "× bare Python"], cells)


def markdown(heads: list[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in (heads, *rows))
    return "\n".join([first, f"|{'---|' * len(heads)}", *others])
