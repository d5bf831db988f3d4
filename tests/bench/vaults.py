"""Vaults of any size for benches: sessions as hooks write them, always the same for the same number of notes.

A larger vault has the same newest sessions as a small one, and a longer past.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mdmem import timestamps
from mdmem.vault import archives, front_matter, layout, note

A_SESSION = 20
"""Number of notes in a session, including its page."""
NEWEST = 1_790_000_000
"""Start of the newest session, in seconds since the epoch."""
BETWEEN_SECONDS = 3 * 3600
"""Time between the starts of two sessions."""
PROJECTS = 8
_TURN = ("prompt", "Read", "Edit", "Bash", "Bash", "response")
CHARS = {"prompt": 4.2, "Read": 5.2, "Edit": 4.6, "Bash": 4.8, "response": 4.7}
"""Mean logarithm of the number of words in a note, by kind of note."""
SHORT = dict.fromkeys(CHARS, 2.3)
"""The same for notes of a line or two."""
_COMMANDS = ("pytest -q", "npm test", "ruff check .", "git status", "make build", "cargo test")


class Words(NamedTuple):
    """A vocabulary in which the n-th word has frequency 1/n, and a long text of it from which notes are cut.

    chars: length of the notes; see `CHARS`. archived_before: sessions of earlier days are written as archives.
    """

    known: list[str]
    text: list[str]
    chars: Mapping[str, float] = CHARS
    archived_before: str = ""


def words(seed: int = 7) -> Words:
    """Return a vocabulary, and a text of half a million words."""
    chance = random.Random(seed)
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ist", "on", "um")]
    known = list(dict.fromkeys("".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(30_000)))
    weights = [1 / (rank + 3) for rank in range(len(known))]
    return Words(known, chance.choices(known, weights, k=500_000))


def write(root: Path, notes: int, *, chars: Mapping[str, float] = CHARS, archived_before: str = "") -> Words:
    """Write a vault of about `notes` notes; return its words. chars, archived_before: see `Words`."""
    vocabulary = words()._replace(chars=chars, archived_before=archived_before)
    root.mkdir(parents=True, exist_ok=True)
    (root / "mdmem.toml").write_text("", encoding="utf-8")
    for number in range(notes // A_SESSION):
        write_session(root, number, vocabulary)
    (root / "notes").mkdir(exist_ok=True)
    for number in range(20):
        text = " ".join(vocabulary.text[number * 50 : number * 50 + 60])
        (root / "notes" / f"note-{number}.md").write_text(f"# {text[:40]}\n\n{text}\n", encoding="utf-8")
    return vocabulary


def write_session(root: Path, number: int, vocabulary: Words, notes: int = A_SESSION) -> None:
    """Write a session of so many written, with its page. Number 0 is the newest one."""
    chance = random.Random(number)
    began = NEWEST - number * BETWEEN_SECONDS
    project = f"project-{number % PROJECTS}"
    session = f"{number:08x}-8a52-4b7e-9c41-{chance.getrandbits(48):012x}"
    stamp = time.gmtime(began)
    name = f"{time.strftime('%H%M', stamp)}-{'-'.join(chance.choices(vocabulary.known[:900], k=5))}-{number:08x}"
    day = time.strftime("%Y-%m-%d", stamp)
    folder = f"journal/{project}/{day}/{name}"
    written: dict[str, bytes] = {}
    common = {"project": project, "session": session, "agent": "claude-code", "cwd": f"/home/ana/{project}"}
    links = []
    for place in range(notes - 1):
        made = _note(chance, place, f"{number}-{place}", vocabulary, common, began + 90 * place)
        turn, step = divmod(place, len(_TURN))
        file = note.file_name(made, _TURN[step].lower(), turn + 1, step)
        links.append(f"- [{made.title}]({file})")
        written[file] = note.render(made).encode()
    page: dict[str, Any] = {
        "id": note.make_id(f"{number}-page"),
        "kind": "session",
        "created": timestamps.iso_time(began),
    }
    page |= {"title": name[5:-9].replace("-", " "), **common, "tags": ["session"]}
    listed = "\n".join(links)
    text = f"\n# {page['title']}\n\n<!-- mdmem:begin -->\n## Prompts\n\n{listed}\n<!-- mdmem:end -->\n"
    written[f"{name}.md"] = (front_matter.render(page) + text).encode()
    if day < vocabulary.archived_before:
        written = {layout.archive_of(folder): archives.render(folder, written)}
    else:
        written = {f"{folder}/{file}": data for file, data in written.items()}
    (root / next(iter(written))).parent.mkdir(parents=True, exist_ok=True)
    for place, (path, data) in enumerate(written.items(), 1):
        (root / path).write_bytes(data)
        os.utime(root / path, (began + 90 * place,) * 2)


def _note(
    chance: random.Random, place: int, identity: str, vocabulary: Words, common: dict[str, Any], created: int
) -> note.Note:
    turn, step = divmod(place, len(_TURN))
    what = _TURN[step]
    size = max(4, int(chance.lognormvariate(vocabulary.chars[what], 0.7)))
    start = chance.randrange(len(vocabulary.text) - size)
    body = " ".join(vocabulary.text[start : start + size])
    kind = what if what.islower() else "observation"
    meta: dict[str, Any] = {
        "id": note.make_id(identity),
        "kind": kind,
        "title": body[:80],
        "created": timestamps.iso_time(created),
    }
    meta |= common | {"prompt": turn + 1, "sequence": step}
    if what == "Bash":
        failed = chance.random() < 0.15
        command = chance.choice(_COMMANDS)
        meta |= {"title": command, "tool": "Bash", "success": not failed, "command": command}
        meta |= {"exit_code": 1, "error": body[:60]} if failed else {}
        body = f"```sh\n{command}\n```\n\n```text\n{body}\n```"
    elif kind == "observation":
        file = f"src/{chance.choice(vocabulary.known[:400])}/{chance.choice(vocabulary.known[:60])}.py"
        meta |= {"title": f"{what} {file}", "tool": what, "success": True, "files": [file]}
    meta |= {"tags": [kind], "digest": note.fingerprint(meta["title"], body)}
    return note.Note(meta, "-".join(body[:60].lower().replace("`", "").split()[:6]), f"{body}\n")
