"""Measures cold commands: `python -m tests.bench.commands [notes]`; CPU as ratios to a bare interpreter."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mdmem.vault import front_matter
from tests.bench import measure

ROUNDS = 9
A_SESSION = 20
"""Number of notes in a session, including its page."""
SYLLABLES = [
    "ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra",
    "se", "ti", "vo", "xu", "za", "che", "sto", "pli", "bran",
]  # fmt: skip
COMMANDS = {
    "--help": ["--help"],
    "search, for people": ["search", "bale", "cedifo", "pura"],
    "search --json": ["search", "bale", "cedifo", "pura", "--json"],
    "list": ["list"],
    "list --limit 0 --json": ["list", "--limit", "0", "--json"],
    "sessions": ["sessions"],
    "history": ["history"],
    "show ID": ["show", "n000000001"],
    "digest --since 2w": ["digest", "--since", "2w"],
    "stats": ["stats"],
    "tree": ["tree"],
    "config list": ["config", "list"],
}
BARS = {"--help": "14", "search, for people": "28", "search --json": "28"}


def vocabulary(chance: random.Random) -> tuple[list[str], list[float]]:
    """Return words with the frequencies of a natural language: a few are common, most are rare."""
    words = list(dict.fromkeys("".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(20_000)))
    return ["bale", "cedifo", "pura", *words], [1 / (place + 3) for place in range(len(words) + 3)]


def write_vault(root: Path, notes: int) -> None:
    """Write sessions of notes as hooks do."""
    chance = random.Random(1)
    words, weights = vocabulary(chance)
    (root / "mdmem.toml").write_text("", encoding="utf-8")
    for number in range(notes // A_SESSION):
        day = f"2026-{1 + number // 28 % 12:02d}-{1 + number % 28:02d}"
        folder = root / f"journal/project-{number % 4}/{day}/0800-session-{number:08d}"
        folder.mkdir(parents=True)
        common: dict[str, Any] = {
            "created": f"{day}T08:00:00Z",
            "project": f"project-{number % 4}",
            "session": f"{number:08d}-session",
        }
        page = {"id": f"p{number:09d}", "kind": "session", "title": f"Session {number}", **common}
        (folder / f"{folder.name}.md").write_text(front_matter.write(page) + "\n# Page\n", encoding="utf-8")
        for place in range(A_SESSION - 1):
            kind = ("prompt", "observation", "observation", "observation", "response")[place % 5]
            body = " ".join(chance.choices(words, weights, k=120))
            meta = {"id": f"n{number * A_SESSION + place:09d}", "kind": kind, "title": body[:60], **common}
            meta |= {"prompt": place // 5, "sequence": place % 5, "agent": "claude-code"}
            meta |= {"tool": "Edit", "success": place % 9 > 0, "files": [f"src/{place}.py"]} if kind[0] == "o" else {}
            name = f"{place // 5:03d}-{place % 5:03d}-{kind}-words-{meta['id']}.md"
            (folder / name).write_text(f"{front_matter.write(meta)}\n{body}\n", encoding="utf-8")


def main(notes: int) -> None:
    """Measure on a vault of `notes` notes."""
    with tempfile.TemporaryDirectory() as work:
        vault = Path(work, "vault")
        vault.mkdir()
        os.environ |= {"HOME": work, "MDMEM_VAULT": str(vault)}
        for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"):
            os.environ.pop(name, None)
        write_vault(vault, notes)
        mdmem = [sys.executable, "-m", "mdmem"]
        subprocess.run([*mdmem, "index"], check=True, stdout=subprocess.DEVNULL)
        runs = {
            f"mdmem {name}" + (f" (bar: {BARS[name]})" if name in BARS else ""): (
                lambda _, words=words: measure.cpu([*mdmem, *words])
            )
            for name, words in COMMANDS.items()
        }
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hide the "1–10 of 9,500 notes" of every run
        print(f"{notes:,} notes, cold processes\n\n{measure.table(measure.interleaved(runs, ROUNDS))}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
