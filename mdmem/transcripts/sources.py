"""SOURCES: the agents that save transcripts, where these are, and how to read them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from mdmem import project
from mdmem.agents.install import catalog
from mdmem.errors import NotFoundError
from mdmem.transcripts import aider, chats, claude_mem, markdown
from mdmem.transcripts.documents import memory_files
from mdmem.transcripts.lines import HEAD_BYTES, decode, head, is_database, rows
from mdmem.transcripts.saved import Skipped, Source, is_quiet

_MAX_FIRST_BYTES = 1 << 24
_DATABASE = ".db"
_RULE = ".mdc"
_RULES = frozenset([".cursorrules", ".windsurfrules", ".clinerules", ".roorules"])
"""Markdown by other names: a file of Cursor's rules, and files with all rules for an agent, which a project has."""
_OF_PROJECT = frozenset(["memory-bank", "adr", "adrs", "decisions"])
"""Folders that only a project's repository has: Cline's memory bank, decision records."""
_ARCHIVES = (".zip", ".tgz", ".gz", ".tar", ".7z")


def _of(module: str) -> Source:
    source: Source = importlib.import_module(f"mdmem.transcripts.{module}").SOURCE
    return source


SOURCES = (
    *(_of(row.transcripts) for row in catalog.ROWS if row.transcripts),
    *chats.SOURCES,
    *claude_mem.SOURCES,
    *aider.SOURCES,
)
"""The agents in `catalog.ROWS` that save transcripts, exports and other memories. A file is recognized by its start."""


class Transcript(NamedTuple):
    """A file with a session. changed_ns: its mtime."""

    source: Source
    path: Path
    size: int
    changed_ns: int


class TranscriptSource(NamedTuple):
    """What can be imported: agents' transcripts, oldest first, and folders (or files) of markdown."""

    transcripts: list[Transcript]
    folders: list[markdown.MarkdownFolder]


def find(paths: Iterable[Path], env: Mapping[str, str]) -> TranscriptSource:
    """Return what can be imported from `paths`; without any, the sessions that this machine's agents have saved.

    Raises NotFoundError when a path does not exist or has nothing that can be imported.
    """
    importable = TranscriptSource([], [])
    named_paths = [path.expanduser() for path in paths]
    for path in named_paths:
        if not path.exists():
            raise NotFoundError(f"There is nothing at {path}. Name a file or a folder that is there.")
        at_path = _file(path) if path.is_file() else _folder(path)
        if not (at_path.transcripts or at_path.folders):
            if path.suffix.lower() in _ARCHIVES:
                raise NotFoundError(f"{path} is an archive. Unpack it, and import the folder.")
            raise NotFoundError(
                f"{path} contains no transcript that mdmem can read and no Markdown. `mdmem help import` lists what it"
                " can read."
            )
        importable.transcripts.extend(at_path.transcripts)
        importable.folders.extend(at_path.folders)
    for source in () if named_paths else SOURCES:
        importable.transcripts.extend(_saved(source, env))
    return importable._replace(transcripts=_by_time(importable.transcripts))


def of_agent(agent: str, env: Mapping[str, str]) -> list[Transcript]:
    """Return the sessions that an agent has saved on this machine, oldest first; none if it saves none."""
    return _by_time(saved for source in SOURCES if source.agent == agent for saved in _saved(source, env))


def _saved(source: Source, env: Mapping[str, str]) -> list[Transcript]:
    root = Path(source.place[0](env), source.place[1]) if source.place else None
    return _below(source, root) if root and root.is_dir() else []


def _by_time(transcripts: Iterable[Transcript]) -> list[Transcript]:
    by_path = {transcript.path.resolve(): transcript for transcript in transcripts}
    return sorted(by_path.values(), key=lambda transcript: (transcript.changed_ns, str(transcript.path)))


def _below(source: Source, root: Path) -> list[Transcript]:
    transcripts = [transcript_of(source, path) for path in source.find(root)]
    return [transcript for transcript in transcripts if transcript is not None]


def transcript_of(source: Source, path: Path) -> Transcript | None:
    """Return a file as a transcript of that source; None if it cannot be read."""
    try:
        return Transcript(source, path, *source.facts(path))
    except OSError:
        return None


def _file(path: Path) -> TranscriptSource:
    if path.name in _RULES or path.suffix == _RULE:
        return TranscriptSource([], [_markdown(path.parent, path.stem.lstrip("."), (path.name,))])
    if path.suffix in markdown.SUFFIXES and not aider.is_history(head(path)):
        return TranscriptSource([], [_markdown(path.parent, path.stem, (path.name,))])
    if path.suffix == _DATABASE:
        _require_readable(path)
    source = recognize(path)
    if source and path.suffix == _DATABASE:
        return TranscriptSource(_below(source, path), [])
    if source is None and memory_files.is_file_of(path):
        return TranscriptSource([], [_markdown(path.parent, path.stem, (path.name,))])
    transcript = transcript_of(source, path) if source else None
    return TranscriptSource([transcript] if transcript else [], [])


def _require_readable(path: Path) -> None:
    """Raise NotFoundError when a database is locked or damaged, instead of finding nothing in it."""
    if is_database(head(path)):
        try:
            rows(path, "SELECT name FROM sqlite_master", (), "an agent")
        except OSError as error:
            raise NotFoundError(f"{error}. If a program is using it, quit that and try again.") from error


def file_of(path: Path) -> Path:
    """Return the file that contains a transcript: its path, or the database that its path treats as a folder."""
    return path.parent if path.parent.suffix == _DATABASE else path


def _folder(root: Path) -> TranscriptSource:
    transcripts = [
        transcript for source in SOURCES for transcript in _below(source, root) if _is_of(transcript.path, source)
    ]
    if transcripts:  # an agent's own folder or a copy, or several of them
        return TranscriptSource(transcripts, markdown.memories(root))
    for path in root.glob(f"*{_DATABASE}"):
        _require_readable(path)
    found = [path for path in sorted(root.rglob(f"*{_RULE}")) if path.is_file() and not path.is_symlink()]
    below = (path.relative_to(root) for path in found)
    rules = tuple(path.as_posix() for path in below if markdown.PACKAGES not in path.parts)
    folder = _markdown(root, root.resolve().name)
    if rules:
        folder = folder._replace(files=(*markdown.files(folder), *rules))
    return TranscriptSource([], [folder] if rules or markdown.has_any(root) else [])


def _markdown(root: Path, name: str, files: tuple[str, ...] = ()) -> markdown.MarkdownFolder:
    """Return a folder of markdown; about its project if in a hidden folder of it or in `_OF_PROJECT`, or if rules.

    Others may be in a repository of notes, such as an Obsidian vault.
    """
    whole = root.resolve()
    owner = project.identify(str(whole))
    below = whole.parts[len(Path(owner.worktree).parts) :]
    if _RULES.isdisjoint(files) and not any(part.startswith(".") or part.lower() in _OF_PROJECT for part in below):
        return markdown.MarkdownFolder(root, name, files)
    return markdown.MarkdownFolder(root, f"{owner.name}-{name}", files, owner.worktree)


def _is_of(path: Path, source: Source) -> bool:
    return file_of(path) != path or recognize(path) is source  # a database was recognized by its tables


def recognize(path: Path) -> Source | None:
    """Return the source whose transcript this file is, judging by its first lines, or None."""
    path = file_of(path)
    if path.suffix not in (".jsonl", ".json", _DATABASE, *markdown.SUFFIXES):
        return None
    first = head(path)
    if path.suffix != ".jsonl":
        whole = (source for source in SOURCES if source.is_whole(first))
        return next((source for source in whole if path.suffix != _DATABASE or any(source.find(path))), None)
    if b"\n" not in first and len(first) == HEAD_BYTES:
        first = head(path, _MAX_FIRST_BYTES).partition(b"\n")[0]
    lines = [line for line in (decode(raw, Skipped()) for raw in first.splitlines()) if line is not None]
    return next((source for source in SOURCES if source.is_one(lines)), None)


class Watched:
    """Remembers the last state of each transcript: it is due again after a change, and once more when it is over."""

    def __init__(self, transcripts: Iterable[Transcript], now: float) -> None:
        """Start with these transcripts as seen."""
        self._seen: dict[Path, tuple[int, int, bool]] = {}
        self.changed(transcripts, now)

    def changed(self, transcripts: Iterable[Transcript], now: float) -> list[Transcript]:
        """Return the transcripts that have changed, and mark them as seen."""
        changed = []
        for transcript in transcripts:
            state = (transcript.size, transcript.changed_ns, is_quiet(transcript.changed_ns / 1e9, now))
            if self._seen.get(transcript.path) != state:
                self._seen[transcript.path] = state
                changed.append(transcript)
        return changed
