"""Compares mdmem with SQLite's FTS5, ripgrep and qmd: index, cold and warm search, from a change to a hit.

Every run must find something, and a changed note by its new word, or the bench fails: finding nothing must not count as
fast. A cold search is a new process; a warm one is one more question to a running process. FTS5 is used from Python by
two scripts: one trusts its index and is told what changed, the other looks for changes first, as mdmem does. Of qmd,
only the word search is used, because the bench has no models.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.bench import vaults
from tests.bench.measure import markdown
from tests.bench.sized import MDMEM, Used, Vault, medians, used

COLUMNS = ("index", "cold search", "warm search", "one change to found")
PROGRAMS = {"ripgrep": "rg", "qmd": "qmd"}
"""Tools that may be missing -> their program."""
WARM = 20
"""Number of further questions to one process, from which the cost of one is computed."""


class Peer(NamedTuple):
    """The commands of a tool. None: it has no such command.

    asked: answers each of the questions appended to it, in one process. found: indexes a change, then searches for the
    word appended to it.
    """

    build: list[str] | None
    asked: list[str] | None
    search: list[str]
    found: list[str]
    env: Mapping[str, str]


def tools(vault: Vault) -> dict[str, Peer]:
    """Return the tools on this machine, by name."""
    root, place = str(vault.root), vault.root.parent / f"peers-{vault.root.name}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    python, env = [sys.executable, "-c"], vault.env
    fts = [*python, _FTS5, str(place / "fts.db"), root]
    asked = [*python, _MDMEM, root]
    found = {
        "mdmem": Peer([*MDMEM, "index", "--rebuild"], asked, [*MDMEM, "search"], [*MDMEM, "search"], env),
        "FTS5": Peer([*fts, "index"], [*fts, ""], [*fts, ""], [*fts, str(_note(vault))], env),
        "FTS5, looking for changes": Peer(None, [*fts, "look"], [*fts, "look"], [*fts, "look"], env),
    }
    if shutil.which(PROGRAMS["ripgrep"]):
        search = ["sh", "-c", 'exec rg --count --ignore-case "$(echo "$1" | tr " " "|")" "$0"', root]
        found["ripgrep"] = Peer(None, None, search, search, env)
    if program := shutil.which(PROGRAMS["qmd"]):
        home = {"HOME": str(place), **{f"XDG_{name}_HOME": str(place / name) for name in ("CACHE", "CONFIG", "STATE")}}
        library = Path(program).resolve().parent.parent / "dist" / "index.js"
        asked = ["node", "--input-type=module", "--eval", _QMD, str(library), str(place / "CACHE/qmd/index.sqlite")]
        again = ["sh", "-c", 'qmd update && qmd search "$0"']
        index = ["qmd", "collection", "add", root, "--name", "bench"]
        found["qmd"] = Peer(index, asked, ["qmd", "search"], again, home)
    return found


def _note(vault: Vault) -> Path:
    return vault.root / "notes" / "note-7.md"


def measure(vault: Vault, rounds: int) -> dict[str, dict[str, Used]]:
    """Measure each installed tool; return the cost of each column, by the name of the tool."""
    return {name: _measured(vault, peer, rounds) for name, peer in tools(vault).items()}


def _measured(vault: Vault, peer: Peer, rounds: int) -> dict[str, Used]:
    text = vaults.words().text
    questions = [" ".join(text[place : place + 2]) for place in range(100, 100 + 50 * (WARM + 1), 50)]
    found: dict[str, Used] = {}
    if peer.build:
        found["index"] = used(peer.build, peer.env)
    found["cold search"] = medians(used([*peer.search, questions[0]], peer.env, ".md") for _ in range(rounds))
    if peer.asked:
        once, often = (used([*peer.asked, *questions[:count]], peer.env, ".md") for count in (1, WARM + 1))
        each = ((more - less) / WARM for more, less in zip(often, once, strict=True))
        found["warm search"] = Used(*each)._replace(megabytes=often.megabytes)
    found["one change to found"] = _changed(_note(vault), peer, rounds)
    return found


def _changed(note: Path, peer: Peer, rounds: int) -> Used:
    before = note.read_text(encoding="utf-8")
    runs = []
    for number in range(rounds):
        word = f"zyzzyva{'q' * number}"
        note.write_text(f"{before}\n{word}\n", encoding="utf-8")
        runs.append(used([*peer.found, word], peer.env, note.stem))
    note.write_text(before, encoding="utf-8")
    return medians(runs)


_FTS5 = """
import os, pathlib, sqlite3, sys
base, (root, what), questions = sqlite3.connect(sys.argv[1]), sys.argv[2:4], sys.argv[4:]
base.execute("CREATE VIRTUAL TABLE IF NOT EXISTS notes USING fts5(text, tokenize='porter')")
base.execute("CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, changed INT, size INT)")

def put(path, changed, size):
    row = base.execute("SELECT rowid FROM files WHERE path = ?", (path,)).fetchone()
    if row:
        base.execute("DELETE FROM notes WHERE rowid = ?", row)
        base.execute("UPDATE files SET changed = ?, size = ? WHERE rowid = ?", (changed, size, *row))
    else:
        row = (base.execute("INSERT INTO files VALUES (?, ?, ?)", (path, changed, size)).lastrowid,)
    base.execute("INSERT INTO notes (rowid, text) VALUES (?, ?)", (*row, pathlib.Path(path).read_text("utf-8")))

def look():
    known = {path: seen for path, *seen in base.execute("SELECT path, changed, size FROM files")}
    folders = [root]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif entry.name.endswith(".md"):
                found = entry.stat()
                if known.pop(entry.path, None) != [found.st_mtime_ns, found.st_size]:
                    put(entry.path, found.st_mtime_ns, found.st_size)
    for path in known:
        base.execute("DELETE FROM notes WHERE rowid = (SELECT rowid FROM files WHERE path = ?)", (path,))
        base.execute("DELETE FROM files WHERE path = ?", (path,))
    base.commit()

if what == "index":
    look()
elif what != "look" and what:
    put(what, 0, 0)
    base.commit()
for question in questions:
    if what == "look":
        look()
    query = "SELECT path, snippet(notes, 0, '', '', '…', 32) FROM notes JOIN files ON files.rowid = notes.rowid"
    query += " WHERE notes MATCH ? ORDER BY rank LIMIT 10"
    print(base.execute(query, (" OR ".join(question.split()),)).fetchall())
"""
"""Arguments: database, folder, action (`index`, `look`, the path of a changed note, or nothing), questions."""

_MDMEM = """
import sys
from mdmem import config
from mdmem.search import engine
settings = config.load(sys.argv[1])
for question in sys.argv[2:]:
    print([(hit.path, hit.snippet) for hit in engine.search(settings, question).hits])
"""

_QMD = """
const { createStore } = await import(process.argv[1]);
const store = await createStore({ dbPath: process.argv[2] });
for (const question of process.argv.slice(3))
  console.log((await store.searchLex(question, { limit: 10 })).map((hit) => hit.displayPath ?? hit.filepath));
process.exit(0);
"""


def table(found: Mapping[int, Mapping[str, Mapping[str, Used]]]) -> str:
    """Return the results as a Markdown table: CPU of all processes, and time on the clock, in ms."""
    rows = []
    for size, tools_of in found.items():
        for name, by_column in tools_of.items():
            cells = [_cell(by_column.get(column)) for column in COLUMNS]
            memory = max(one.megabytes for one in by_column.values())
            rows.append([name, f"{size:,}", *cells, f"{memory:.0f}"])
    return markdown(["tool", "notes", *COLUMNS, "memory, MB"], rows)


def _cell(one: Used | None) -> str:
    return f"{one.milliseconds:,.0f} ({one.clock:,.0f})" if one else "–"


def missing() -> list[str]:
    """Return a sentence for each tool that is not on this machine."""
    absent = [(name, program) for name, program in PROGRAMS.items() if not shutil.which(program)]
    return [f"{name} is not installed ({program} is not on PATH): its rows are missing." for name, program in absent]
