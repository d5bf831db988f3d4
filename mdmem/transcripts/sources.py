"""SOURCES: which agents save transcripts, where they lie, and what reads them."""

from __future__ import annotations

import importlib
import json
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mdmem.agents.install import known
from mdmem.agents.install.known import KnownAgent
from mdmem.errors import NotFoundError
from mdmem.transcripts import chats, markdown
from mdmem.transcripts.lines import HEAD_BYTES, head
from mdmem.transcripts.saved import Reading, Saved

_MAX_FIRST_BYTES = 1 << 24
_DATABASE = ".db"


class TranscriptReader(Protocol):
    """The contract of a module in this folder that reads what one agent saves; `known.ROWS` names it."""

    @property
    def LOOSE(self) -> frozenset[str]:  # noqa: N802 - a constant of a module
        """Return the kinds of notes whose ids may be others when a hook stored them."""
        ...

    def folder(self, env: Mapping[str, str]) -> Path:
        """Return where the transcripts are."""
        ...

    def find(self, root: Path) -> Iterator[Path]:
        """Find the transcripts below a folder."""
        ...

    def read(self, path: Path, how: Reading) -> Iterator[Saved]:
        """Return a transcript's events, oldest first."""
        ...

    def is_one(self, lines: list[dict[str, Any]]) -> bool:
        """Whether a file's first lines are such a transcript's."""
        ...

    def is_whole(self, first: bytes) -> bool:
        """Whether a file that is one JSON value, and begins so, is such a transcript."""
        ...


def file_facts(path: Path) -> tuple[int, int]:
    """Return the size of a file, and when it was last written to.

    Raises:
        OSError: when it is not there, or no file: a pipe would keep its reader waiting for ever.
    """
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise FileNotFoundError(str(path))
    return facts.st_size, facts.st_mtime_ns


class Source(NamedTuple):
    """An agent that saves transcripts, and what reads them: the parts of `TranscriptReader`.

    facts: a transcript's size in bytes, and when it was last changed, in nanoseconds since the epoch. A reader has
    a function of that name where a transcript is no file.
    """

    agent: str
    title: str
    folder: Callable[[Mapping[str, str]], Path]
    find: Callable[[Path], Iterator[Path]]
    read: Callable[[Path, Reading], Iterator[Saved]]
    is_one: Callable[[list[dict[str, Any]]], bool]
    is_whole: Callable[[bytes], bool]
    loose: frozenset[str]
    facts: Callable[[Path], tuple[int, int]] = file_facts


def _of_agent(row: KnownAgent) -> Source:
    reader: TranscriptReader = importlib.import_module(f"mdmem.transcripts.{row.transcripts}")
    return Source(
        row.module.NAME,
        row.module.TITLE,
        reader.folder,
        reader.find,
        reader.read,
        reader.is_one,
        reader.is_whole,
        reader.LOOSE,
        getattr(reader, "facts", file_facts),
    )


def _of_export(
    agent: str, title: str, read: Callable[[Path, Reading], Iterator[Saved]], is_whole: Callable[[bytes], bool]
) -> Source:
    return Source(agent, title, chats.nowhere, chats.find, read, lambda _: False, is_whole, frozenset())


SOURCES = (
    *(_of_agent(row) for row in known.ROWS if row.transcripts),
    _of_export(chats.CHATGPT, "ChatGPT", chats.read_chatgpt, chats.is_chatgpt),
    _of_export(chats.CLAUDE_AI, "Claude.ai", chats.read_claude_ai, chats.is_claude_ai),
)
"""The agents of `known.ROWS` that save transcripts, and exports; a file is told by its beginning."""


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
    """Find what is at `paths`; without any, the sessions that this machine's agents have saved.

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
    once = {transcript.path.resolve(): transcript for transcript in found.transcripts}
    return found._replace(transcripts=sorted(once.values(), key=lambda one: (one.changed_ns, str(one.path))))


def _of(source: Source, root: Path) -> list[Transcript]:
    found = [transcript(source, path) for path in source.find(root)]
    return [one for one in found if one is not None]


def transcript(source: Source, path: Path) -> Transcript | None:
    """Return a file as a transcript of that source; None when it is none that can be read."""
    try:
        return Transcript(source, path, *source.facts(path))
    except OSError:
        return None


def _file(path: Path) -> TranscriptSource:
    if path.suffix in markdown.SUFFIXES:
        return TranscriptSource([], [markdown.MarkdownFolder(path.parent, path.stem, (path.name,))])
    source = recognise(path)
    if source and path.suffix == _DATABASE:
        return TranscriptSource(_of(source, path), [])
    found = transcript(source, path) if source else None
    return TranscriptSource([found] if found else [], [])


def file_of(path: Path) -> Path:
    """Return the file that a transcript is in: itself, or the database in whose folder it seems to be."""
    return path.parent if path.parent.suffix == _DATABASE else path


def _folder(root: Path) -> TranscriptSource:
    transcripts = [one for source in SOURCES for one in _of(source, root) if recognise(one.path) is source]
    if transcripts:  # an agent's own folder, a copy of it, or several of them
        return TranscriptSource(transcripts, markdown.memories(root))
    return TranscriptSource(
        [], [markdown.MarkdownFolder(root, root.resolve().name, ())] if markdown.has_any(root) else []
    )


def recognise(path: Path) -> Source | None:
    """Return whose transcript a file is, by its first lines; None when it is nobody's."""
    path = file_of(path)
    if path.suffix not in (".jsonl", ".json", _DATABASE):
        return None
    first = head(path)
    if path.suffix != ".jsonl":
        return next((source for source in SOURCES if source.is_whole(first)), None)
    if b"\n" not in first and len(first) == HEAD_BYTES:
        first = head(path, _MAX_FIRST_BYTES).partition(b"\n")[0]
    lines = [line for line in map(_object, first.splitlines()) if line is not None]
    return next((source for source in SOURCES if source.is_one(lines)), None)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
