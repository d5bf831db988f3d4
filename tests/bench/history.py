"""Measures history: `python -m tests.bench.history [notes]`; CPU of this process and of git, in one run."""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mdmem import config
from mdmem.config import Config
from mdmem.history import commit, past, session_log, sync
from mdmem.history.git import repository
from mdmem.vault import front_matter
from tests.bench import measure
from tests.helpers.plain_git import git, make_remote

BATCH = 100
ROUNDS = 7
A_SESSION = 25
"""Number of notes in a session: prompts, edits, shell runs, answers, its page."""

KINDS = [("prompt", "", "prompt"), ("observation", "Edit", "edit"), *[("observation", "Bash", "bash")] * 3]
WORDS = [f"{head}{tail}" for head in ("parse", "date", "leap", "token", "cache") for tail in ("", "r", "s", "_id", "2")]


def used() -> float:
    """Return the CPU time of this process and its finished children, in milliseconds."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found) * 1000


def timed(work: Callable[[], Any]) -> float:
    """Call `work`; return its CPU time."""
    before = used()
    work()
    return used() - before


def write_session(vault: Path, number: int, notes: int) -> None:
    """Write a session's notes as hooks do."""
    chance = random.Random(number)
    day = f"{2025 + number // 336}-{1 + number // 28 % 12:02d}-{1 + number % 28:02d}"
    folder = vault / f"journal/project-{number % 4}/{day}/0800-session-{number:08d}"
    folder.mkdir(parents=True, exist_ok=True)
    common = {"created": f"{day}T08:00:00Z", "project": f"project-{number % 4}", "session": f"{number:08d}-session"}
    page = {"id": f"p{number:09d}", "kind": "session", "title": f"Session {number}", **common}
    (folder / f"{folder.name}.md").write_text(front_matter.write(page) + "\n# Page\n", encoding="utf-8")
    for place in range(notes - 1):
        kind, tool, label = KINDS[place % len(KINDS)]
        body = " ".join(chance.choice(WORDS) for _ in range(200))
        meta: dict[str, Any] = {"id": f"n{number:05d}{place:04d}", "kind": kind, "title": body[:60], **common}
        meta |= {"agent": "claude-code", "prompt": place // 6, "sequence": place % 6}
        meta |= {"tool": tool, "success": True, "files": [f"src/{label}_{place % 7}.py"]} if tool else {}
        name = f"{place // 6:03d}-{place % 6:03d}-{label}-words-n{number:05d}{place:04d}.md"
        (folder / name).write_text(f"{front_matter.write(meta)}\n{body}\n", encoding="utf-8")


def commit_batches(settings: Config, first: int) -> float:
    """Commit batches of new notes, one session each; return the median CPU time for a note."""
    times = []
    for turn in range(ROUNDS):
        write_session(Path(settings.vault), first + turn, BATCH)
        times.append(timed(lambda: commit.commit(settings)) / BATCH)
    return sorted(times)[ROUNDS // 2]


def report(rows: list[tuple[str, float, str]]) -> str:
    """Return measured rows as a Markdown table."""
    lines = ["| what | CPU | |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {value:.2f} ms | {remark} |" for name, value, remark in rows)])


def main(notes: int) -> None:
    """Measure on a vault of `notes` notes."""
    with tempfile.TemporaryDirectory() as work:
        os.environ["HOME"] = work
        vault = Path(work, "vault")
        settings = config.load(str(vault))
        repository.init(vault)
        for number in range(notes // A_SESSION):
            write_session(vault, number, A_SESSION)
        floor = measure.cpu(measure.BARE)
        rows = [
            ("bare Python, for comparison", floor, ""),
            (f"first commit of {notes:,} notes, a note", timed(lambda: commit.commit(settings)) / notes, "at once"),
            (f"a batch of {BATCH} at {notes:,}, a note", commit_batches(settings, 100_000), "bar: 1.5 ms"),
            ("a commit with nothing to do", timed(lambda: commit.commit(settings)), ""),
            (f"journal of {notes:,} notes", timed(lambda: list(session_log.sessions(settings))), "bar: 1,000 ms"),
            ("journal's commits (--stat)", timed(lambda: list(session_log.stats(settings))), ""),
            ("search in the past", timed(lambda: past.search(settings, "leap parser", "HEAD")), ""),
        ]
        git(vault, "remote", "add", "origin", str(make_remote(Path(work, "remote"))))
        rows.append((f"first sync of {notes:,} notes", timed(lambda: sync.sync(settings)), ""))
        rows.append(("a sync with nothing to do", timed(lambda: sync.sync(settings)), "bar: 300 ms at 50,000 notes"))
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        rows.append(
            ("a commit with nothing to do, after a sync", timed(lambda: commit.commit(settings)), f"peak {most} MB")
        )
        print(report(rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
