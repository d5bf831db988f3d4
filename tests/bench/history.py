"""Measures history: `python -m tests.bench.history [notes]`; CPU of this process and of git, in one run."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mdmem import config
from mdmem.config import Config
from mdmem.history import commit, past, session_log, sync
from mdmem.history.git import repository
from tests.bench import measure, vaults
from tests.helpers.plain_git import git, make_remote

BATCH = 100
ROUNDS = 7


def used() -> float:
    """Return the CPU time of this process and its finished children, in milliseconds."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found) * 1000


def timed(work: Callable[[], Any]) -> float:
    """Call `work`; return its CPU time."""
    before = used()
    work()
    return used() - before


def commit_batches(settings: Config, first: int) -> float:
    """Commit batches of new notes, one session each; return the median CPU time for a note.

    first: the number of the first of these sessions.
    """
    times = []
    for turn in range(ROUNDS):
        vaults.write_session(Path(settings.vault), first + turn, vaults.words(), BATCH)
        times.append(timed(lambda: commit.commit(settings)) / BATCH)
    return sorted(times)[ROUNDS // 2]


def main(notes: int) -> None:
    """Measure on a vault of `notes` notes."""
    with measure.scratch() as (work, vault, _):
        settings = config.load(str(vault))
        repository.init(vault)
        question = " ".join(vaults.write(vault, notes).text[100:102])
        floor = measure.cpu(measure.BARE)
        rows = [
            ("bare Python, for comparison", floor, ""),
            (f"first commit of {notes:,} notes, a note", timed(lambda: commit.commit(settings)) / notes, "at once"),
            (f"a batch of {BATCH} at {notes:,}, a note", commit_batches(settings, notes), "bar: 1.5 ms"),
            ("a commit with nothing to do", timed(lambda: commit.commit(settings)), ""),
            (f"journal of {notes:,} notes", timed(lambda: list(session_log.sessions(settings))), "bar: 1,000 ms"),
            ("journal's commits (--stat)", timed(lambda: list(session_log.stats(settings))), ""),
            ("search in the past", timed(lambda: past.search(settings, question, "HEAD")), ""),
        ]
        git(vault, "remote", "add", "origin", str(make_remote(work / "remote")))
        rows.append((f"first sync of {notes:,} notes", timed(lambda: sync.sync(settings)), ""))
        rows.append(("a sync with nothing to do", timed(lambda: sync.sync(settings)), "bar: 300 ms at 50,000 notes"))
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        rows.append(
            ("a commit with nothing to do, after a sync", timed(lambda: commit.commit(settings)), f"peak {most} MB")
        )
        print(measure.markdown(["what", "CPU", ""], ((name, f"{cost:.2f} ms", remark) for name, cost, remark in rows)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
