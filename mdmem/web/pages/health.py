"""Health: doctor's checks, mdmem's cost, the vault's growth, what was kept out, when agents were heard from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from array import array
from pathlib import Path
from statistics import median
from typing import NamedTuple

from starlette.responses import Response

from mdmem.agents.install import catalog
from mdmem.config import Config
from mdmem.health import checks
from mdmem.search.index.view import View
from mdmem.timestamps import iso_time
from mdmem.views import figures, injections, storing
from mdmem.web.site import PageRequest

WIDTH, HEIGHT = 600, 120
RUNS = 5
MOST_SECONDS = 30
"""Seconds to wait for a hook."""
_ORDER = ("error", "warning", "note", "fine")


class Growth(NamedTuple):
    """The size of all notes over time. points: of a line in a picture of WIDTH x HEIGHT. bytes: the size now."""

    points: str
    first: str
    last: str
    bytes: int
    notes: int


class Checked(NamedTuple):
    """The results of the checks, and a hook's cost here. when: ISO 8601 in UTC. cost: from `hook_cost`."""

    when: str
    found: list[checks.CheckResult]
    cost: tuple[float, float] | None
    storage: dict[str, int]


def health(request: PageRequest) -> Response:
    """Show the current figures, and the results of the last checks."""
    view = request.view
    injected = [row for row in injections.log(request.config) if row.get("ids")]
    seconds = [row["seconds"] for row in injected if isinstance(row.get("seconds"), (int, float))]
    return request.page(
        "health",
        checked=request.site.memo.get("checked"),
        alarms=[*storing.alarms(request.config), *storing.paused_sessions(request.config)],
        growth=growth(view),
        private=len(view.notes("facet", "is:private")),
        redacted=len(view.notes("facet", "is:redacted")),
        heard=_last_events(request.config),
        injection_ms=median(seconds) * 1000 if seconds else 0.0,
        tokens=sum(map(injections.tokens, injected)),
        times=len(injected),
        width=WIDTH,
        height=HEIGHT,
        most_seconds=MOST_SECONDS,
    )


def growth(view: View) -> Growth | None:
    """Add up the sizes of the notes in order of time; return None for fewer than two notes."""
    created, sizes = view.numbers("created"), view.numbers("size")
    ordered, total = array("I", view.newest()), view.bytes()
    if len(ordered) < 2 or not total or created[ordered[0]] == created[ordered[-1]]:
        return None
    first, last = created[ordered[-1]], created[ordered[0]]
    heights: dict[int, float] = {}
    size_so_far = 0
    for number in reversed(ordered):
        size_so_far += sizes[number]
        heights[(created[number] - first) * WIDTH // (last - first)] = HEIGHT - size_so_far / total * (HEIGHT - 4)
    points = " ".join(f"{x},{y:.1f}" for x, y in {0: float(HEIGHT), **heights}.items())
    return Growth(points, iso_time(first), iso_time(last), total, sum(view.counts(None).kinds.values()))


def _last_events(config: Config) -> list[tuple[str, str]]:
    """Return the time of each agent's last event, newest first."""
    events = storing.last_heard(config).items()
    return [
        (catalog.title(name), iso_time(event.when)) for name, event in sorted(events, key=lambda item: -item[1].when)
    ]


def check(request: PageRequest) -> Response:
    """Run all checks and measure a hook; it takes a few seconds."""
    results = sorted(checks.run(request.config, every=False), key=lambda result: _ORDER.index(result.finding.severity))
    config = request.config
    folders = {"git": f"{config.vault}/.git", "index": config.index_dir, "state": config.state_dir}
    storage = {name: figures.folder_bytes(Path(folder)) for name, folder in folders.items()}
    request.site.memo["checked"] = Checked(iso_time(time.time()), results, hook_cost(), storage)
    return request.back("/health")


def hook_cost() -> tuple[float, float] | None:
    """Return the median CPU milliseconds of a hook that stores a prompt in a throwaway vault, and of bare Python.

    None if one run took longer than `MOST_SECONDS`.
    """
    with tempfile.TemporaryDirectory(prefix="mdmem-cost-") as folder:
        vault = Path(folder, "vault")
        vault.mkdir()
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MDMEM_", "XDG_"))}
        env |= {"HOME": folder, "XDG_RUNTIME_DIR": folder, "MDMEM_VAULT": str(vault)}
        hook = [sys.executable, "-I", "-m", "mdmem", "hook", "claude-code"]
        bare = [sys.executable, "-I", "-S", "-c", "pass"]
        event = {"hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": "What does this cost?"}
        try:
            costs = [
                (_cpu(hook, env, json.dumps({**event, "session_id": f"cost-{run}"})), _cpu(bare, env, ""))
                for run in range(RUNS)
            ]
        except subprocess.TimeoutExpired:
            return None
    return median(cost for cost, _ in costs), median(cost for _, cost in costs)


def _cpu(words: list[str], env: dict[str, str], text: str) -> float:
    before = _children_seconds()
    subprocess.run(words, input=text.encode(), env=env, capture_output=True, timeout=MOST_SECONDS, cwd=os.sep)
    return (_children_seconds() - before) * 1000


def _children_seconds() -> float:
    """Return the CPU seconds of ended children; the wall clock where the system does not report it, as on Windows."""
    try:
        import resource
    except ImportError:
        return time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
