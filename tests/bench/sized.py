"""Vaults of a given size with their own home folder, and what a command uses on one: CPU, memory, time on the clock."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.bench import measure, repositories, vaults

MDMEM = [sys.executable, "-m", "mdmem"]


class Used(NamedTuple):
    """What a command used: CPU of all its processes in ms, memory of the largest in MB, time on the clock in ms.

    git: memory of the largest git process in MB, which is not counted among the others; 0 if none was seen.
    """

    milliseconds: float
    megabytes: float
    clock: float = 0.0
    git: float = 0.0


_LOOK = """
import os

def look(process, peaks):
    for task in os.listdir(f"/proc/{process}/task"):
        for child in open(f"/proc/{process}/task/{task}/children").read().split():
            try:
                name = open(f"/proc/{child}/cmdline").read()
                is_git = name.partition("\\0")[0].rpartition("/")[2].startswith("git") or "git_filter_repo" in name
                most = [int(line.split()[1]) for line in open(f"/proc/{child}/status") if line.startswith("VmHWM")]
                peaks[is_git] = max(peaks[is_git], *most, 0)
                look(child, peaks)
            except OSError:
                continue
"""
"""Records the peak memory among a process's descendants so far, in kB, separately for git."""

_LAUNCHER = f"""{_LOOK}
import resource, sys, threading, time

peaks, ended = {{True: 0, False: 0}}, threading.Event()

def watch():
    while os.path.isdir("/proc/self/task") and not ended.wait(0.03):
        look("self", peaks)

null, out = os.open(os.devnull, os.O_RDWR), os.open(sys.argv[1], os.O_RDWR)
actions = [(os.POSIX_SPAWN_DUP2, one, number) for number, one in enumerate((null, out, null))]
begun = time.monotonic()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, file_actions=actions)
watching = threading.Thread(target=watch)
watching.start()
status = os.waitpid(process, 0)[1]
spent, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begun
ended.set()
watching.join()
own = peaks[False] if peaks[True] else spent.ru_maxrss
print(os.waitstatus_to_exitcode(status), spent.ru_utime + spent.ru_stime, own, took, peaks[True])
"""
"""Starts the measured command. A process inherits the peak memory of its parent, so this parent is small."""


def used(words: list[str], env: Mapping[str, str], expected: str = "") -> Used:
    """Run a command to its end and return what it used. expected: text that it must print, or the bench fails.

    Exit status 1 is allowed, because it reports a finding.
    """
    with tempfile.NamedTemporaryFile() as out:
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, out.name, *words]
        done = subprocess.run(launcher, env={**os.environ, **env}, stdout=subprocess.PIPE, check=True)
        printed = out.read().decode(errors="replace") if expected else ""
    status, seconds, kilobytes, clock, git = done.stdout.split()
    if int(status) not in (0, 1):
        raise SystemExit(f"{words} ended with status {int(status)}")
    if expected not in printed:
        raise SystemExit(f"{words} did not find {expected}: {printed[:500]}")
    return Used(float(seconds) * 1000, int(kilobytes) / 1024, float(clock) * 1000, int(git) / 1024)


def medians(runs: Iterable[Used]) -> Used:
    """Return the median of each figure over several runs."""
    return Used(*(statistics.median(values) for values in zip(*runs, strict=True)))


class Vault(NamedTuple):
    """A vault with its own home folder."""

    root: Path
    env: dict[str, str]
    question: list[str]

    def run(self, *words: str) -> Used:
        """Run mdmem on the vault."""
        return used([*MDMEM, *words], self.env)

    def median(self, rounds: int, *words: str) -> Used:
        """Return the medians of several runs."""
        return medians(self.run(*words) for _ in range(rounds))


def prepare(at: Path, notes: int, *, short: bool = False, archived_before: str = "", committed: bool = True) -> Vault:
    """Return a vault, without an index; it and its repository are created unless they exist."""
    root, home = at / f"vault-{notes}", at / f"home-{notes}"
    if not root.is_dir():
        vaults.write(root, notes, chars=vaults.SHORT if short else vaults.CHARS, archived_before=archived_before)
    if committed and not (root / ".git").is_dir():
        repositories.commit(root)
    return Vault(root, measure.home(home) | {"MDMEM_VAULT": str(root)}, vaults.words().text[100:102])
