"""SOURCES: which agents save transcripts, where they lie, and what reads them."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mdmem.agents import claude_code as claude_code_agent
from mdmem.agents import codex as codex_agent
from mdmem.agents import copilot as copilot_agent
from mdmem.agents import gemini as gemini_agent
from mdmem.errors import NotFoundError
from mdmem.transcripts import chats, claude_files, codex, copilot, gemini, markdown
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


def _is_copilot(lines: list[dict[str, Any]]) -> bool:
    return any(line.get("type") == "session.start" and isinstance(line.get("data"), dict) for line in lines)


def _is_chat(_: list[dict[str, Any]]) -> bool:
    return False  # an export is no file of lines


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
    Source(
        copilot_agent.NAME,
        copilot_agent.TITLE,
        copilot.folder,
        copilot.find,
        copilot.read,
        _is_copilot,
        _SAID | {"observation"},  # its hooks know no ids either
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
    Source(chats.CHATGPT, "ChatGPT", chats.nowhere, chats.find, chats.read_chatgpt, _is_chat, frozenset()),
    Source(chats.CLAUDE_AI, "Claude.ai", chats.nowhere, chats.find, chats.read_claude_ai, _is_chat, frozenset()),
)
"""Those that save transcripts; for a file of unknown origin, the first that knows it."""


class Transcript(NamedTuple):
    """A file with a session in it. changed_ns: when it was last written to."""

    source: Source
    path: Path
    size: int
    changed_ns: int


class TranscriptSource(NamedTuple):
    """What there is to import: agents' transcripts, oldest first, and folders (or files) of markdown."""

    transcripts: list[Transcript]
    folders: list[markdown.MarkdownFolder]


def find(paths: Iterable[Path], env: Mapping[str, str]) -> TranscriptSource:
    """Find what is at `paths`; without any, what this machine's agents have saved.

    Raises:
        NotFoundError: when there is nothing at one of the paths, or nothing that can be imported.
    """
    found = TranscriptSource([], [])
    named = [path.expanduser() for path in paths]
    for path in named:
        if not path.exists():
            raise NotFoundError(f"There is nothing at {path}.")
        here = _file(path) if path.is_file() else _folder(path)
        if not (here.transcripts or here.folders):
            raise NotFoundError(f"{path} contains no transcript that mdmem can read and no Markdown.")
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
    found = [transcript(source, path) for path in source.find(root)]
    return [one for one in found if one is not None]


def transcript(source: Source, path: Path) -> Transcript | None:
    """Return a file as a transcript of that source; None when it is none that can be read."""
    try:
        facts = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(facts.st_mode):  # a pipe would keep its reader waiting for ever
        return None
    return Transcript(source, path, facts.st_size, facts.st_mtime_ns)


def _file(path: Path) -> TranscriptSource:
    if path.suffix in markdown.SUFFIXES:
        return TranscriptSource([], [markdown.MarkdownFolder(path.parent, path.stem, (path.name,))])
    source = recognise(path)
    found = transcript(source, path) if source else None
    return TranscriptSource([found] if found else [], [])


def _folder(root: Path) -> TranscriptSource:
    transcripts = [one for source in SOURCES for one in _of(source, root) if recognise(one.path) is source]
    if transcripts:  # an agent's own folder, a copy of it, or several of them
        return TranscriptSource(transcripts, markdown.memories(root))
    return TranscriptSource(
        [], [markdown.MarkdownFolder(root, root.resolve().name, ())] if markdown.has_any(root) else []
    )


_WHOLE: dict[str, Callable[[bytes], bool]] = {
    gemini_agent.NAME: lambda first: b'"sessionId"' in first and b'"projectHash"' in first,
    chats.CHATGPT: chats.is_chatgpt,
    chats.CLAUDE_AI: chats.is_claude_ai,
}
"""An agent whose file is one JSON value -> how it is told by its beginning."""


def recognise(path: Path) -> Source | None:
    """Return whose transcript a file is, by its first lines; None when it is nobody's."""
    if path.suffix not in (".jsonl", ".json"):
        return None
    first = head(path)
    if b"\n" not in first and len(first) == HEAD_BYTES:
        first = head(path, _MAX_FIRST_BYTES).partition(b"\n")[0]
    lines = [line for line in map(_object, first.splitlines()) if line is not None]
    if path.suffix == ".json":
        agent = next((agent for agent, is_one in _WHOLE.items() if is_one(first)), "")
        return next((source for source in SOURCES if source.agent == agent), None)
    return next((source for source in SOURCES if source.is_one(lines)), None)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
