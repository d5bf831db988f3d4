"""For tests of imports: the saved transcripts, a builder of Claude Code transcripts, and contents of vaults."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import frontmatter

from mdmem import config, timestamps
from mdmem.transcripts import sources
from mdmem.transcripts.imported import ImportedFiles
from mdmem.transcripts.importer import Import, Tally
from mdmem.transcripts.saved import ReadOptions, SavedEvent, Skipped

FILES = Path(__file__).parent.parent / "transcripts"
TOOLS = FILES / "01-string-content-tools-hooks.jsonl"
ODD = FILES / "02-blocks-meta-commands-compact-malformed.jsonl"
(BACKGROUND,) = (FILES / "projects").glob("*/*.jsonl")
LATER = 2_000_000_000.0
"""A time long after every session here."""


def read(path: Path, now: float = LATER, ended: float = 0.0) -> tuple[list[SavedEvent], Skipped]:
    """Return the events of a file, and what was skipped."""
    skipped = Skipped()
    source = sources.recognize(path)
    assert source is not None
    return list(source.read(path, ReadOptions(skipped, now, ended))), skipped


def prompts(path: Path) -> list[str]:
    """Return the typed prompts of a file."""
    return [saved.event.prompt for saved in read(path)[0] if saved.event.name == "UserPromptSubmit"]


def bring(*paths: Path, again: bool = False, now: float | None = None, **more: Any) -> Tally:
    """Import into the vault that the environment selects."""
    settings = config.load()
    found = sources.find(paths, {})
    done = ImportedFiles(settings, again=again)
    run = Import(settings, done, {}, **more)
    todo = [one for one in found.transcripts if not done.has(one.path, one.size, one.changed_ns)]
    run.transcripts(todo, time.time() if now is None else now)
    run.folders(found.folders)
    return run.tally


def notes(vault: Path) -> list[frontmatter.Post]:
    """Return the notes of a vault's sessions in order, without session pages."""
    found = [frontmatter.load(str(path)) for path in sorted(vault.glob("journal/*/*/*/[0-9][0-9][0-9]-*.md"))]
    return [one for one in found if one.get("kind") != "session"]


def contents(root: Path, *, pages: bool = True) -> dict[str, bytes]:
    """Return the contents of every note and page of a vault, by path. pages: include session pages."""
    found = [path for name in ("journal", "notes") for path in (root / name).rglob("*.md")]
    return {str(path.relative_to(root)): path.read_bytes() for path in found if pages or path.stem != path.parent.name}


class Talk:
    """Builds a Claude Code transcript line by line. By default, each line is a child of the line before."""

    def __init__(self, cwd: str = "/home/dev/work/talk", begin: float = 1_789_000_000.0) -> None:
        self.session = str(uuid.uuid4())
        self.cwd = cwd
        self.at = begin
        self.last: str | None = None
        self.lines: list[dict[str, Any]] = []

    def line(self, kind: str, **fields: Any) -> str:
        self.at += 10
        own = str(uuid.uuid4())
        stamp = timestamps.iso_time(self.at).replace("Z", ".123Z")
        base = {"parentUuid": self.last, "isSidechain": False, "cwd": self.cwd, "sessionId": self.session}
        self.lines.append({**base, "gitBranch": "main", "type": kind, "uuid": own, "timestamp": stamp, **fields})
        self.last = own
        return own

    def typed(self, words: str, **fields: Any) -> str:
        base = {"promptId": str(uuid.uuid4()), "message": {"role": "user", "content": words}}
        return self.line("user", **{**base, **fields})

    def said(self, words: str, stop: str | None = "end_turn", **fields: Any) -> str:
        return self._assistant([{"type": "text", "text": words}], stop, **fields)

    def called(self, tool: str, given: Any, use: str = "", message: str = "", **fields: Any) -> str:
        use = use or f"toolu_{uuid.uuid4().hex}"
        self._assistant([{"type": "tool_use", "id": use, "name": tool, "input": given}], "tool_use", message, **fields)
        return use

    def answered(self, use: str, result: Any, **fields: Any) -> str:
        content = [{"type": "tool_result", "tool_use_id": use, "content": str(result)}]
        return self.line("user", message={"role": "user", "content": content}, toolUseResult=result, **fields)

    def ran(self, command: str, output: str) -> None:
        self.answered(self.called("Bash", {"command": command}), {"stdout": output, "stderr": "", "interrupted": False})

    def _assistant(self, content: list[Any], stop: str | None, message: str = "", **fields: Any) -> str:
        own = message or f"msg_{uuid.uuid4().hex}"
        body = {"id": own, "role": "assistant", "content": content, "stop_reason": stop}
        return self.line("assistant", message=body, **fields)

    def text(self, lines: Iterable[dict[str, Any]] | None = None) -> str:
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (self.lines if lines is None else lines))

    def save(self, root: Path) -> Path:
        """Write the transcript where Claude Code would, below its projects folder; return the path."""
        folder = root / "-home-dev-work-talk"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.session}.jsonl"
        path.write_text(self.text(), encoding="utf-8")
        return path
