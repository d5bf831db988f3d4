"""SOURCES: which agents save transcripts, where they lie, and what reads them."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mdmem.agents import claude_code as claude_code_agent
from mdmem.agents import codex as codex_agent
from mdmem.agents import gemini as gemini_agent
from mdmem.errors import NotFoundError
from mdmem.transcripts import claude_files, codex, gemini, markdown
from mdmem.transcripts.lines import HEAD_BYTES, head
from mdmem.transcripts.saved import Saved

_MAX_FIRST_BYTES = 1 << 24


class Source(NamedTuple):
    """An agent that saves transcripts.

    folder: where they are, by the environment. find: the files below a folder. read: a file's events.
    is_one: whether a file's first lines are such a transcript's.
    loose: the kinds of notes whose ids may be others when a hook stored them.
    """

    agent: str
    title: str
    folder: Callable[[Mapping[str, str]], Path]
    find: Callable[[Path], Iterator[Path]]
    read: Callable[..., Iterator[Saved]]
    is_one: Callable[[list[dict[str, Any]]], bool]
    loose: frozenset[str]


def _is_claude(lines: list[dict[str, Any]]) -> bool:
    return any("sessionId" in line and "type" in line for line in lines)


def _is_codex(lines: list[dict[str, Any]]) -> bool:
    kinds = ("session_meta", "response_item", "event_msg")
    return any("payload" in line and line.get("type") in kinds for line in lines)


def _is_gemini(lines: list[dict[str, Any]]) -> bool:
    return any("sessionId" in line and "projectHash" in line for line in lines)


_SAID = frozenset(["prompt", "response", "summary"])
SOURCES = (
    Source(
        gemini_agent.NAME,
        gemini_agent.TITLE,
        gemini.folder,
        gemini.find,
        gemini.read,
        _is_gemini,
        _SAID | {"observation"},  # its hooks know no ids at all
    ),
    Source(codex_agent.NAME, codex_agent.TITLE, codex.folder, codex.find, codex.read, _is_codex, _SAID),
    Source(
        claude_code_agent.NAME,
        claude_code_agent.TITLE,
        claude_files.folder,
        claude_files.find,
        claude_files.read,
        _is_claude,
        _SAID,
    ),
)
"""Those that save transcripts; for a file of unknown origin, the first that knows it."""


class Transcript(NamedTuple):
    """A file with a session in it. changed_ns: when it was last written to."""

    source: Source
    path: Path
    size: int
    changed_ns: int


class Found(NamedTuple):
    """What there is to import: agents' transcripts, oldest first, and folders (or files) of markdown."""

    transcripts: list[Transcript]
    folders: list[markdown.Folder]


def find(paths: Iterable[Path], env: Mapping[str, str]) -> Found:
    """Find what is at `paths`; without any, what this machine's agents have saved.

    Raises:
        NotFoundError: when there is nothing at one of the paths, or nothing that can be imported.
    """
    found = Found([], [])
    named = [path.expanduser() for path in paths]
    for path in named:
        if not path.exists():
            raise NotFoundError(f"There is nothing at {path}.")
        here = _file(path) if path.is_file() else _folder(path)
        if not (here.transcripts or here.folders):
            raise NotFoundError(f"{path} holds no transcript that mdmem can read, and no markdown.")
        found.transcripts.extend(here.transcripts)
        found.folders.extend(here.folders)
    for source in () if named else SOURCES:
        root = source.folder(env)
        if root.is_dir():
            found.transcripts.extend(_of(source, root))
            found.folders.extend(markdown.memories(root))
    once = {transcript.path.resolve(): transcript for transcript in found.transcripts}
    return found._replace(transcripts=sorted(once.values(), key=lambda one: (one.changed_ns, str(one.path))))


def _of(source: Source, root: Path) -> list[Transcript]:
    found = [_transcript(source, path) for path in source.find(root)]
    return [transcript for transcript in found if transcript is not None]


def _transcript(source: Source, path: Path) -> Transcript | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(facts.st_mode):  # a pipe would keep its reader waiting for ever
        return None
    return Transcript(source, path, facts.st_size, facts.st_mtime_ns)


def _file(path: Path) -> Found:
    if path.suffix in markdown.SUFFIXES:
        return Found([], [markdown.Folder(path.parent, path.stem, (path.name,))])
    source = recognise(path)
    transcript = _transcript(source, path) if source else None
    return Found([transcript] if transcript else [], [])


def _folder(root: Path) -> Found:
    transcripts = [one for source in SOURCES for one in _of(source, root) if recognise(one.path) is source]
    if transcripts:  # an agent's own folder, a copy of it, or several of them
        return Found(transcripts, markdown.memories(root))
    return Found([], [markdown.Folder(root, root.resolve().name, ())] if markdown.has_any(root) else [])


def recognise(path: Path) -> Source | None:
    """Say whose transcript a file is, by its first lines; None when it is nobody's."""
    if path.suffix not in (".jsonl", ".json"):
        return None
    first = head(path)
    if b"\n" not in first and len(first) == HEAD_BYTES:
        first = head(path, _MAX_FIRST_BYTES).partition(b"\n")[0]
    lines = [line for line in map(_object, first.splitlines()) if line is not None]
    if path.suffix == ".json":
        is_chat = b'"sessionId"' in first and b'"projectHash"' in first
        return next(source for source in SOURCES if source.agent == gemini_agent.NAME) if is_chat else None
    return next((source for source in SOURCES if source.is_one(lines)), None)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
