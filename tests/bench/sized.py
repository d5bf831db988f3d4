"""Vaults of a size with a home of their own, and what a command uses on one: CPU, memory, time on the clock."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.bench import repositories, vaults

MDMEM = [sys.executable, "-m", "mdmem"]


class Used(NamedTuple):
    """What a command used: CPU of all its processes in ms, memory of the largest in MB, time on the clock in ms."""

    milliseconds: float
    megabytes: float
    clock: float = 0.0


_LAUNCHER = """
import os, resource, sys, time
null, out = os.open(os.devnull, os.O_RDWR), os.open(sys.argv[1], os.O_RDWR)
actions = [(os.POSIX_SPAWN_DUP2, one, number) for number, one in enumerate((null, out, null))]
begun = time.monotonic()
status = os.waitpid(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, file_actions=actions), 0)[1]
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
print(os.waitstatus_to_exitcode(status), spent.ru_utime + spent.ru_stime, spent.ru_maxrss, time.monotonic() - begun)
"""
"""A process inherits the largest size of the one that starts it: this one is small."""


def used(words: list[str], env: Mapping[str, str], expected: str = "") -> Used:
    """Run a command to its end; status 1 is a finding of it. expected: what it must print, or the bench ends."""
    with tempfile.NamedTemporaryFile() as out:
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, out.name, *words]
        done = subprocess.run(launcher, env={**os.environ, **env}, stdout=subprocess.PIPE, check=True)
        printed = out.read().decode(errors="replace") if expected else ""
    status, seconds, kilobytes, clock = done.stdout.split()
    if int(status) not in (0, 1):
        raise SystemExit(f"{words} ended with status {int(status)}")
    if expected not in printed:
        raise SystemExit(f"{words} did not find {expected}: {printed[:500]}")
    return Used(float(seconds) * 1000, int(kilobytes) / 1024, float(clock) * 1000)


def medians(runs: Iterable[Used]) -> Used:
    """Return the medians of some runs, each number by itself."""
    return Used(*(statistics.median(values) for values in zip(*runs, strict=True)))


class Vault(NamedTuple):
    """A vault of a size, with a home of its own."""

    root: Path
    env: dict[str, str]
    question: list[str]

    def run(self, *words: str) -> Used:
        """Run mdmem on it."""
        return used([*MDMEM, *words], self.env)

    def median(self, rounds: int, *words: str) -> Used:
        """Return the medians of some runs."""
        return medians(self.run(*words) for _ in range(rounds))


def prepare(at: Path, notes: int, *, short: bool = False, archived_before: str = "", committed: bool = True) -> Vault:
    """Write a vault with its repository, as far as they are not there from before, nor an index of it."""
    root, home = at / f"vault-{notes}", at / f"home-{notes}"
    if not root.is_dir():
        vaults.write(root, notes, chars=vaults.SHORT if short else vaults.CHARS, archived_before=archived_before)
    if committed and not (root / ".git").is_dir():
        repositories.commit(root)
    (home / "run").mkdir(parents=True, mode=0o700, exist_ok=True)
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("STATE", "CACHE", "CONFIG")}
    env = {"HOME": str(home), "MDMEM_VAULT": str(root), "XDG_RUNTIME_DIR": str(home / "run"), **places}
    return Vault(root, env, vaults.words().text[100:102])
