"""Measures imports of saved sessions, compared with the least work that could produce the same notes.

Run it: python -m tests.bench.imports [NOTES]. It generates Claude Code sessions for that many notes (default 10,000),
and measures the command and three baselines, each in a separate process:

- read, decode and write: decode every line and write every note's bytes, without any safeguards
- the same, synced: each note is on disk before the next one, as a hook guarantees
- cleaned and written: build the same notes by the same rules and write them plainly, without numbers, locks, record
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from mdmem import config
from mdmem.capture import events
from mdmem.transcripts import claude_files, replay
from mdmem.transcripts.imported import ImportedFiles
from mdmem.transcripts.importer import Import
from mdmem.transcripts.saved import ReadOptions, Skipped
from mdmem.transcripts.sources import find
from mdmem.vault import note
from tests.bench import measure

WORDS = ("parse", "date", "index", "vault", "note", "hook", "session", "branch", "error", "value", "table", "token")
LATER = 2_000_000_000.0


class Cost(NamedTuple):
    """Cost of a process: seconds on the clock, and seconds of CPU."""

    wall: float
    cpu: float


def main() -> None:
    """Generate the sessions, measure, and print a table."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with measure.scratch() as (root, _, _):
        for name in ("plain", "synced", "cleaned"):
            (root / name).mkdir()
        make(root / "projects", wanted)
        whole = spent(lambda: bring(root / "projects"))
        notes = [
            path
            for path in (root / "vault").rglob("*.md")
            if path.name != "project.md" and path.stem != path.parent.name
        ]
        made = [(str(path.relative_to(root / "vault")), path.read_bytes()) for path in notes]
        again = spent(lambda: bring(root / "projects", again=True))
        rows = {
            "mdmem import": whole,
            "read, decode and write": spent(lambda: plainly(root / "projects", root / "plain", made, sync=False)),
            "the same, synced": spent(lambda: plainly(root / "projects", root / "synced", made, sync=True)),
            "cleaned and written": spent(lambda: cleaned(root / "projects", root / "cleaned")),
            "mdmem import, again": again,
        }
        size = sum(path.stat().st_size for path in (root / "projects").rglob("*.jsonl"))
        print(f"{len(notes):,} notes from {size / 1e6:.0f} MB of transcripts\n")
        figures = {
            name: (cost.wall, cost.cpu, cost.cpu / len(notes) * 1e6, whole.wall / cost.wall, whole.cpu / cost.cpu)
            for name, cost in rows.items()
        }
        heads = ["", "s", "CPU s", "µs CPU a note", "import takes × (clock)", "× (CPU)"]
        print(measure.markdown(heads, ([name, *(f"{one:.2f}" for one in row)] for name, row in figures.items())))


def spent(work: Callable[[], None]) -> Cost:
    """Call `work` in a separate process; return its cost."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"a measured process ended with status {status}")
    return Cost(time.monotonic() - began, used.ru_utime + used.ru_stime)


def bring(root: Path, *, again: bool = False) -> None:
    """Import as the command does."""
    settings = config.load()
    run = Import(settings, ImportedFiles(settings, again=again), {})
    run.transcripts(find([root], {}).transcripts, LATER)


def plainly(root: Path, target: Path, made: list[tuple[str, bytes]], *, sync: bool) -> None:
    """Read and decode every line, and write every note's bytes."""
    for path in root.rglob("*.jsonl"):
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    for folder in {os.path.dirname(name) for name, _ in made}:
        (target / folder).mkdir(parents=True)
    for name, data in made:
        fd = os.open(target / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(fd, data)
        if sync:
            os.fsync(fd)
        os.close(fd)


def cleaned(root: Path, target: Path) -> None:
    """Build the notes by the same rules, and write each with one call."""
    count = 0
    settings = config.load(str(target))

    def publish(_at: object, _draft: object, made: note.Note, _outcome: object) -> None:
        nonlocal count
        count += 1
        (target / f"{count}.md").write_bytes(note.render(made).encode("utf-8", "replace"))

    vars(events)["publish"] = publish
    for path in claude_files.find(root):
        session = replay.Replay(settings, path.stem, str(target), absent=True)
        for saved in claude_files.read(path, ReadOptions(Skipped(), LATER)):
            session.capture(saved.event, saved.at, {}, branch=saved.branch)


# -- sessions to measure with ----------------------------------------------------------------------


def make(root: Path, notes: int) -> None:
    """Write sessions of ten turns with eight tool runs each, a hundred notes a session, below `root`."""
    chance = random.Random(7)
    for number in range(max(notes // 100, 1)):
        folder = root / f"-home-dev-work-app{number % 5}"
        folder.mkdir(parents=True, exist_ok=True)
        session = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        lines = _session(chance, session, f"/home/dev/work/app{number % 5}", 1_700_000_000 + number * 40_000)
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{session}.jsonl").write_text(text, encoding="utf-8")
        os.utime(folder / f"{session}.jsonl", (1_700_000_000, 1_700_000_000))


def _session(chance: random.Random, session: str, cwd: str, at: float) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []

    def add(kind: str, content: Any, **fields: Any) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.120Z", time.gmtime(at + len(lines) * 9))
        base = {"parentUuid": lines[-1]["uuid"] if lines else None, "sessionId": session, "cwd": cwd, "type": kind}
        message = {"role": kind, "content": content, **fields.pop("message", {})}
        own = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        lines.append({**base, "gitBranch": "main", "message": message, "uuid": own, "timestamp": stamp, **fields})

    for turn in range(10):
        add("user", _words(chance, 30), promptId=f"{session}-{turn}")
        for run in range(8):
            use, (tool, given, answer, said) = f"toolu_{session[:8]}_{turn}_{run}", _run(chance, cwd)
            thought = {"type": "thinking", "thinking": _words(chance, 60), "signature": "x" * 200}
            call = {"type": "tool_use", "id": use, "name": tool, "input": given}
            add("assistant", [thought], message={"id": f"m{turn}{run}", "stop_reason": None})
            add("assistant", [call], message={"id": f"m{turn}{run}", "stop_reason": "tool_use"})
            add("user", [{"type": "tool_result", "tool_use_id": use, "content": said}], toolUseResult=answer)
        answer_text = "\n\n".join(_words(chance, 40) for _ in range(4))
        add("assistant", [{"type": "text", "text": answer_text}], message={"id": f"a{turn}", "stop_reason": "end_turn"})
    return lines


def _run(chance: random.Random, cwd: str) -> tuple[str, dict[str, Any], dict[str, Any], str]:
    path = f"{cwd}/src/{chance.choice(WORDS)}.py"
    code = "".join(f"    {chance.choice(WORDS)} = {chance.choice(WORDS)}()  # {_words(chance, 5)}\n" for _ in range(60))
    file = {"filePath": path, "content": code, "numLines": 60, "startLine": 1, "totalLines": 60}
    changed = {"filePath": path, "oldString": code[:300], "newString": code[300:700], "originalFile": code}
    runs = (
        ("Read", {"file_path": path}, {"type": "text", "file": file}, code),
        ("Bash", {"command": f"pytest -q {path}"}, {"stdout": code, "stderr": "", "interrupted": False}, code),
        ("Edit", {"file_path": path, "old_string": code[:300], "new_string": code[300:700]}, changed, "ok"),
        ("Grep", {"pattern": "def parse"}, {"mode": "content", "content": code, "numLines": 60}, code),
    )
    return chance.choice(runs)


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))


if __name__ == "__main__":
    main()
