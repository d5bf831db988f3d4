"""What a vault's size costs: `python -m tests.bench scale [notes ...] [--only GROUP ...] [--at DIR] [--rounds N]`.

CPU of each command with all its processes, its memory, and multiples of the first size, beside SQLite's FTS5, ripgrep
and qmd where they are installed. Sizes are 10,000 and 50,000 notes unless others are given; --at keeps the vaults,
--archived writes past years as archives, and makes no repository, --short writes notes of a line or two, so that a
million fit on a small disk. `scale 10000 100000 --only commands` measures every reading command, each once.
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
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from mdmem.vault import note
from tests.bench import every_command, repositories, vaults
from tests.helpers.plain_git import git, make_remote

MDMEM = [sys.executable, "-m", "mdmem"]
PEERS = {"ripgrep": "rg", "qmd": "qmd"}


class Used(NamedTuple):
    """What a command used: CPU of all its processes in ms, memory of the largest in MB, time on the clock in ms."""

    milliseconds: float
    megabytes: float
    clock: float = 0.0


_LAUNCHER = """
import os, resource, sys, time
null = os.open(os.devnull, os.O_RDWR)
actions = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
begun = time.monotonic()
status = os.waitpid(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions), 0)[1]
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
print(os.waitstatus_to_exitcode(status), spent.ru_utime + spent.ru_stime, spent.ru_maxrss, time.monotonic() - begun)
"""
"""A process inherits the largest size of the one that starts it: this one is small."""


def used(words: list[str], env: Mapping[str, str]) -> Used:
    """Run a command to its end; status 1 is a finding of it."""
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *words]
    done = subprocess.run(launcher, env={**os.environ, **env}, stdout=subprocess.PIPE, check=True)
    status, seconds, kilobytes, clock = done.stdout.split()
    if int(status) not in (0, 1):
        raise SystemExit(f"{words} ended with status {int(status)}")
    return Used(float(seconds) * 1000, int(kilobytes) / 1024, float(clock) * 1000)


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
        return _medians(self.run(*words) for _ in range(rounds))


def prepare(at: Path, notes: int, *, short: bool = False, archived: bool = False, committed: bool = True) -> Vault:
    """Write a vault with its repository, as far as they are not there from before, nor an index of it."""
    root, home = at / f"vault-{notes}", at / f"home-{notes}"
    if not root.is_dir():
        year = f"{time.gmtime(vaults.NEWEST).tm_year}-01-01" if archived else ""
        vaults.write(root, notes, chars=vaults.SHORT if short else vaults.CHARS, archived_before=year)
    if committed and not (root / ".git").is_dir():
        repositories.commit(root)
    (home / "run").mkdir(parents=True, mode=0o700, exist_ok=True)
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("STATE", "CACHE", "CONFIG")}
    env = {"HOME": str(home), "MDMEM_VAULT": str(root), "XDG_RUNTIME_DIR": str(home / "run"), **places}
    return Vault(root, env, vaults.words().text[100:102])


Found = dict[str, Used]


def of_index(vault: Vault, rounds: int) -> Found:
    """Measure how long the whole vault takes, with one process and with two, and what a step of it costs."""
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
    """Measure what shows a page."""
    vault.run("index")
    an_id = next(vault.root.glob("journal/*/*/*/*-prompt-*.md")).stem.rpartition("-")[2]
    pages = {"search": ["search", *vault.question], "about": ["about", "pytest"], "show": ["show", an_id]}
    of_git = ("log", "history") if (vault.root / ".git").is_dir() else ()
    pages |= {name: [name] for name in ("list", "sessions", "tree", "todo", "stats", *of_git)}
    return {name: vault.median(rounds, *words) for name, words in pages.items()}


def of_changing(vault: Vault, rounds: int) -> Found:
    """Measure how a note that was changed, or is new, gets into the index and is found."""
    vault.run("index")
    note = next((vault.root / "notes").glob("*.md"))
    found = {"a note changed in place, and found": _changed(vault, note, rounds)}
    runs = []
    for number in range(rounds):
        new = note.with_name(f"new-{number}.md")
        new.write_text(f"# zyzzyva{number}\n", encoding="utf-8")
        runs.append(vault.run("search", f"zyzzyva{number}"))
        new.unlink()
    return found | {"a note added, and found": _medians(runs)}


def of_doctor(vault: Vault, rounds: int) -> Found:
    """Measure doctor on everything, and when nothing has changed."""
    return {"doctor --all": vault.run("doctor", "--all"), "doctor": vault.median(min(rounds, 3), "doctor")}


def of_commands(vault: Vault, rounds: int) -> Found:
    """Measure every command that reads the vault or writes it elsewhere, once each."""
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
    """Measure commits and syncs, from the first one on."""
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


def _changed(vault: Vault, note: Path, rounds: int) -> Used:
    before = note.read_text(encoding="utf-8")
    runs = []
    for number in range(rounds):
        note.write_text(f"{before}\nzyzzyva{number}{'q' * number}\n", encoding="utf-8")
        runs.append(vault.run("search", f"zyzzyva{number}{'q' * number}"))
    note.write_text(before, encoding="utf-8")
    return _medians(runs)


def _medians(runs: Iterable[Used]) -> Used:
    return Used(*(statistics.median(values) for values in zip(*runs, strict=True)))


def peers(vault: Vault, rounds: int) -> dict[str, Used]:
    """Measure what others need for the same notes and the same question."""
    base = str(vault.root.parent / f"fts-{vault.root.name}.db")
    Path(base).unlink(missing_ok=True)
    note = next((vault.root / "notes").glob("*.md"))
    env, ask = vault.env, vault.question
    fts = [sys.executable, "-c", _FTS5, base, str(vault.root), str(note)]
    vault.run("index")
    found = {"mdmem: search": vault.median(rounds, "search", *ask)}
    found["mdmem: warm search"] = _warm([sys.executable, "-c", _WARM, str(vault.root)], env, ask)
    found["mdmem: a change, and found"] = _changed(vault, note, rounds)
    found["SQLite FTS5: index"] = used([*fts, "index"], env)
    found["SQLite FTS5: search"] = _median(rounds, lambda: used([*fts, "1", *ask], env))
    found["SQLite FTS5: warm search"] = _warm(fts, env, ask)
    found["SQLite FTS5: a change, and found"] = _median(rounds, lambda: used([*fts, "change", *ask], env))
    if shutil.which("rg"):
        pattern = "|".join(ask)
        found["ripgrep: search"] = _median(rounds, lambda: used(["rg", "-c", pattern, str(vault.root)], env))
    if shutil.which("qmd"):
        found["qmd: index"] = used(["qmd", "collection", "add", str(vault.root), "--name", "bench"], env)
        found["qmd: search"] = _median(rounds, lambda: used(["qmd", "search", " ".join(ask)], env))
        found["qmd: a change"] = used(["qmd", "update"], env)
    return found


WARM = 20
"""So many further searches of one process tell what one costs."""


def _warm(words: list[str], env: Mapping[str, str], question: list[str]) -> Used:
    once, often = (used([*words, str(times), *question], env) for times in (1, 1 + WARM))
    each = ((more - less) / WARM for more, less in zip(often, once, strict=True))
    return Used(*each)._replace(megabytes=often.megabytes)


def _median(rounds: int, run: Callable[[], Used]) -> Used:
    return _medians(run() for _ in range(rounds))


_FTS5 = """
import pathlib, sqlite3, sys
base, (root, note, what), words = sqlite3.connect(sys.argv[1]), sys.argv[2:5], sys.argv[5:]
add = "INSERT INTO notes VALUES (?, ?)"
if what == "index":
    base.execute("CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, text)")
    base.executemany(add, ((str(path), path.read_text("utf-8")) for path in pathlib.Path(root).rglob("*.md")))
    base.commit()
if what == "change":
    base.execute("DELETE FROM notes WHERE rowid = (SELECT rowid FROM notes WHERE path = ?)", (note,))
    base.execute(add, (note, pathlib.Path(note).read_text("utf-8")))
    base.commit()
query = "SELECT path FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10"
for _ in range(int(what) if what.isdigit() else what == "change"):
    print(base.execute(query, (" OR ".join(words),)).fetchall())
"""


_WARM = """
import sys
from mdmem import config
from mdmem.search import engine
settings = config.load(sys.argv[1])
for _ in range(int(sys.argv[2])):
    found = engine.search(settings, " ".join(sys.argv[3:]))
    print([hit.snippet for hit in found.hits])
"""


GROUPS: dict[str, Callable[[Vault, int], Found]] = {
    "index": of_index,
    "read": of_reading,
    "change": of_changing,
    "peers": peers,
    "doctor": of_doctor,
    "history": of_history,
    "commands": of_commands,
}
DEFAULT = tuple(name for name in GROUPS if name != "commands")
"""What is measured unless something else is asked for."""


def table(found: dict[int, Found]) -> str:
    """Write what was found as a markdown table: CPU and memory at each size, and multiples of the first."""
    first, *more = found
    head = ["command", f"{first:,} notes", *(f"{size:,} notes" for size in more), "on the clock, s", "memory, MB"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, base in found[first].items():
        others = [f"{found[size][name].milliseconds:,.0f} ms ({_times(found[size][name], base)})" for size in more]
        clock = " → ".join(f"{found[size][name].clock / 1000:.1f}" for size in found)
        memory = " → ".join(f"{found[size][name].megabytes:.0f}" for size in found)
        lines.append("| " + " | ".join([name, f"{base.milliseconds:,.0f} ms", *others, clock, memory]) + " |")
    return "\n".join(lines)


def _times(one: Used, base: Used) -> str:
    return f"{one.milliseconds / base.milliseconds:.2f} ×"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench scale", description=__doc__)
    parser.add_argument("notes", nargs="*", type=int, default=[10_000, 50_000])
    parser.add_argument("--only", action="append", choices=GROUPS, help="measure this; may be given several times")
    parser.add_argument("--at", type=Path, help="where the vaults are written, and kept")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--archived", action="store_true", help="write past years as archives, and no repository")
    parser.add_argument("--short", action="store_true", help="write short notes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mdmem-scale-") as folder:
        at = given.at or Path(folder)
        how = {"short": given.short, "archived": given.archived, "committed": not given.archived}
        made = {notes: prepare(at, notes, **how) for notes in given.notes}
        found: dict[int, Found] = {notes: {} for notes in made}
        for group in given.only or DEFAULT:
            for notes, vault in made.items():
                found[notes] |= GROUPS[group](vault, given.rounds)
            print(f"measured: {group}", file=sys.stderr, flush=True)
    bare = statistics.median(used([sys.executable, "-I", "-S", "-c", "pass"], {}).milliseconds for _ in range(9))
    print(f"CPU with all processes; a bare Python took {bare:.1f} ms\n\n{table(found)}")
    for name, program in PEERS.items():
        if "peers" in (given.only or DEFAULT) and not shutil.which(program):
            print(f"\n{name} is not installed ({program} is not on PATH).")


if __name__ == "__main__":
    main()
