"""Measures cost by vault size: `python -m tests.bench scale [notes ...] [--only GROUP ...] [--at DIR] [--rounds N]`.

Prints CPU of each command with all its processes, its memory, and multiples of the first size; and a comparison with
SQLite's FTS5, ripgrep and qmd, if installed. The default sizes are 10,000 and 50,000 notes. --at keeps the vaults,
--archived-before DAY writes older sessions as archives, --short writes notes of a line or two.
`scale 10000 100000 --only commands` measures every reading command once. `--only memory` measures commands with much
output or many writes, on copies of the vault, and servers after many requests. A million notes fit on a small disk with
`scale 1000000 --short --archived-before 2024-01-01 --only index --only read --only archive`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mdmem.vault import note
from tests.bench import every_command, measure, peers, vaults
from tests.bench.sized import MDMEM, Used, Vault, medians, prepare, used
from tests.helpers.plain_git import git, make_remote

Found = dict[str, Used]


def of_index(vault: Vault, rounds: int) -> Found:
    """Measure a rebuild of the whole index, on one core and on two."""
    if hasattr(os, "sched_setaffinity"):
        one = {f"index, on {count}": [sys.executable, "-c", _ON_CORES, str(count)] for count in (1, 2)}
    else:
        one = {"index": [sys.executable, "-m", "mdmem"]}
    del rounds
    return {f"{name}, from nothing": used([*words, "index", "--rebuild"], vault.env) for name, words in one.items()}


_ON_CORES = """
import os, runpy, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
sys.argv[:2] = ["mdmem"]
runpy.run_module("mdmem", run_name="__main__")
"""


def of_reading(vault: Vault, rounds: int) -> Found:
    """Measure commands that show one page of results."""
    vault.run("index")
    an_id = next(vault.root.glob("journal/*/*/*/*-prompt-*.md")).stem.rpartition("-")[2]
    pages = {"search": ["search", *vault.question], "about": ["about", "pytest"], "show": ["show", an_id]}
    of_git = ("log", "history") if (vault.root / ".git").is_dir() else ()
    pages |= {name: [name] for name in ("list", "sessions", "tree", "todo", "stats", *of_git)}
    return {name: vault.median(rounds, *words) for name, words in pages.items()}


def of_changing(vault: Vault, rounds: int) -> Found:
    """Measure indexing and finding a changed note and a new one."""
    vault.run("index")
    note = next((vault.root / "notes").glob("*.md"))
    found = {"a note changed in place, and found": _changed(vault, note, rounds)}
    runs = []
    for number in range(rounds):
        new = note.with_name(f"new-{number}.md")
        new.write_text(f"# zyzzyva{number}\n", encoding="utf-8")
        runs.append(vault.run("search", f"zyzzyva{number}"))
        new.unlink()
    return found | {"a note added, and found": medians(runs)}


def of_doctor(vault: Vault, rounds: int) -> Found:
    """Measure doctor on the whole vault, and when nothing has changed."""
    return {"doctor --all": vault.run("doctor", "--all"), "doctor": vault.median(min(rounds, 3), "doctor")}


def of_commands(vault: Vault, rounds: int) -> Found:
    """Measure once each command that reads the vault or writes it elsewhere."""
    del rounds
    vault.run("index")
    prompt = next(vault.root.glob("journal/**/*-prompt-*.md"))
    session = str(note.parse(prompt.read_bytes()).meta["session"])
    known = {"word": vault.question[0], "id": prompt.stem.rpartition("-")[2], "session": session}
    found = {}
    with tempfile.TemporaryDirectory(dir=vault.root.parent) as out:
        for name, words in every_command.rows(out=out, **known).items():
            found[name] = vault.run(*words)
    return found


def of_history(vault: Vault, rounds: int) -> Found:
    """Measure commits and syncs, including the first ones."""
    shutil.rmtree(vault.root / ".git", ignore_errors=True)
    subprocess.run(["git", "init", "-q", str(vault.root)], check=True)
    note = next((vault.root / "notes").glob("*.md"))
    found = {"commit, first": vault.run("commit")}
    with note.open("a", encoding="utf-8") as file:
        file.write("One more line.\n")
    found["commit of one note"] = vault.run("commit")
    found["status"] = vault.median(rounds, "status")
    remote = vault.root.parent / f"remote-{vault.root.name}"
    shutil.rmtree(remote, ignore_errors=True)
    git(vault.root, "remote", "add", "origin", str(make_remote(remote)))
    vault.run("sync")
    found["sync, nothing to do"] = vault.median(min(rounds, 3), "sync")
    return found


def of_archive(vault: Vault, rounds: int) -> Found:
    """Measure archiving the year before the newest, an archived note, a partial clone, and undoing the archive."""
    year = time.gmtime(vaults.NEWEST).tm_year - 1
    sample = next(vault.root.glob(f"journal/*/{year}-*/*/*-prompt-*.md"), None)
    if sample is None:
        print(f"{vault.root.name} has no notes of {year}", file=sys.stderr)
        return {}
    an_id, project = sample.stem.rpartition("-")[2], sample.relative_to(vault.root).parts[1]
    words = note.parse(sample.read_bytes()).body.split()[:6]
    vault.run("index")
    before, files = git(vault.root, "rev-parse", "HEAD").strip(), _count(vault.root)
    found = {"archive of a year": vault.run("archive", str(year))}
    print(f"archive {year}: {files:,} files became {_count(vault.root):,}", file=sys.stderr)
    found["show of a packed note"] = _seen(vault, rounds, ["show", an_id], an_id)
    found["search for a packed note"] = _seen(vault, rounds, ["search", *words], an_id)
    found["show by what cites it"] = _seen(vault, rounds, ["show", f"mem:{an_id}"], an_id)
    copy = vault.root.parent / f"clone-{vault.root.name}"
    part = ["--since", str(year), "--project", project]
    found["clone of a project since then"] = vault.run("clone", vault.root.as_uri(), str(copy), *part)
    print(f"{' '.join(part)}: {_count(copy):,} files", file=sys.stderr)
    shutil.rmtree(copy)
    found["archive --undo of a year"] = vault.run("archive", "--undo", str(year))
    if changed := git(vault.root, "diff", "--name-only", before, "HEAD", "--", ":(glob)journal/**/[0-9][0-9][0-9]-*"):
        raise SystemExit(f"Notes differ after `archive {year}` and `archive --undo {year}`:\n{changed}")
    return found


def of_memory(vault: Vault, rounds: int) -> Found:
    """Measure once each step with much output or many writes, on copies of the vault."""
    del rounds
    with tempfile.TemporaryDirectory(dir=vault.root.parent) as folder:
        found = {}
        for name, measure in every_command.steps(vault, Path(folder)):
            found[name] = measure()
            print(f"{name}: {_memory(found[name])} MB", file=sys.stderr, flush=True)
        return found


def _count(root: Path) -> int:
    return sum(1 for _ in (root / "journal").rglob("*.md"))


def _seen(vault: Vault, rounds: int, words: list[str], expected: str) -> Used:
    return medians(used([*MDMEM, *words], vault.env, expected) for _ in range(rounds))


def _changed(vault: Vault, note: Path, rounds: int) -> Used:
    before = note.read_text(encoding="utf-8")
    runs = []
    for number in range(rounds):
        note.write_text(f"{before}\nzyzzyva{number}{'q' * number}\n", encoding="utf-8")
        runs.append(vault.run("search", f"zyzzyva{number}{'q' * number}"))
    note.write_text(before, encoding="utf-8")
    return medians(runs)


GROUPS: dict[str, Callable[[Vault, int], Found]] = {
    "index": of_index,
    "read": of_reading,
    "change": of_changing,
    "doctor": of_doctor,
    "archive": of_archive,
    "history": of_history,
    "commands": of_commands,
    "memory": of_memory,
}
PEERS = "peers"
DEFAULT = (PEERS, *(name for name in GROUPS if name not in ("commands", "memory")))
"""The groups that are measured by default."""


def table(found: dict[int, Found]) -> str:
    """Return the results as a Markdown table: CPU and memory at each size, and multiples of the first."""
    first, *more = found  # sizes
    head = ["command", f"{first:,} notes", *(f"{size:,} notes" for size in more), "on the clock, s", "memory, MB"]
    rows = []
    for name in dict.fromkeys(name for of_size in found.values() for name in of_size):
        base, *others = (found[size].get(name) for size in found)
        seen = [one for one in (base, *others) if one]
        clock = " → ".join(f"{one.clock / 1000:.1f}" for one in seen)
        memory = " → ".join(_memory(one) for one in seen)
        cells = [_cell(base, None), *(_cell(one, base) for one in others), clock, memory]
        rows.append([name, *cells])
    return measure.markdown(head, rows)


def _memory(one: Used) -> str:
    return f"{one.megabytes:.0f}" + (f" (git {one.git:.0f})" if one.git else "")


def _cell(one: Used | None, base: Used | None) -> str:
    times = f" ({one.milliseconds / base.milliseconds:.2f} ×)" if one and base else ""
    return f"{one.milliseconds:,.0f} ms{times}" if one else "–"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench scale", description=__doc__)
    parser.add_argument("notes", nargs="*", type=int, default=[10_000, 50_000])
    choices = [PEERS, *GROUPS]
    parser.add_argument("--only", action="append", choices=choices, help="measure this; may be given several times")
    parser.add_argument("--at", type=Path, help="where the vaults are written, and kept")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--archived-before", default="", metavar="DAY", help="write older sessions as archives")
    parser.add_argument("--short", action="store_true", help="write short notes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mdmem-scale-") as folder:
        at = given.at or Path(folder)
        groups = given.only or DEFAULT
        committed = any(group not in (PEERS, "index", "change") for group in groups)
        how = {"short": given.short, "archived_before": given.archived_before, "committed": committed}
        made = {notes: prepare(at, notes, **how) for notes in given.notes}
        found: dict[int, Found] = {notes: {} for notes in made}
        beside: dict[int, dict[str, Found]] = {}
        for group in groups:
            for notes, vault in made.items():
                if group == PEERS:
                    beside[notes] = peers.measure(vault, given.rounds)
                else:
                    found[notes] |= GROUPS[group](vault, given.rounds)
            print(f"measured: {group}", file=sys.stderr, flush=True)
    bare = statistics.median(used([sys.executable, "-I", "-S", "-c", "pass"], {}).milliseconds for _ in range(9))
    print(f"CPU with all processes; a bare Python took {bare:.1f} ms")
    if beside:
        print(f"\nCPU in ms (on the clock):\n\n{peers.table(beside)}")
    for sentence in peers.missing() if beside else ():
        print(f"\n{sentence}")
    if any(found.values()):
        print(f"\n{table(found)}")


if __name__ == "__main__":
    main()
