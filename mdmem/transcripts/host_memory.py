"""Host memory: follows the agents' own memory files and the instruction files that they load.

A changed file is imported again. If somebody has edited its note, the note is kept, and its front matter names the
conflict. When a file is deleted, its note is superseded. The state folder records which files were seen, so that
another machine's files never count as deleted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from mdmem import files, privacy, project
from mdmem.agents import claude_code
from mdmem.agents.install.catalog import ROWS
from mdmem.config import Config
from mdmem.privacy import memory
from mdmem.transcripts import markdown
from mdmem.transcripts.imported import ImportedFiles
from mdmem.transcripts.importer import Import
from mdmem.transcripts.markdown import MarkdownFolder
from mdmem.vault import disk, exclusions, followed_copies, note, user_notes
from mdmem.watcher.followed import STATE

SUPERSEDED = "its source was deleted"
"""Value of `superseded_by` in a note whose file was deleted."""

_MAX_STATE_BYTES = 4 * 1024 * 1024
_OF_PROJECT = tuple(dict.fromkeys(path for row in ROWS for path in row.instructions))


def follow(config: Config, env: Mapping[str, str], cwd: str) -> int:
    """Import what has changed since the last run; return how many notes are new, changed or superseded.

    cwd: the folder of a session; the instruction files of its project are followed from now on.

    Raises OSError or MdmemError when the vault cannot be written.
    """
    record = FollowRecord(config)
    folders = offered(config, env, record, [cwd])
    imported = ImportedFiles(config)
    changed = [
        folder for folder in folders if any(not imported.has_now(folder.root / name) for name in markdown.files(folder))
    ]
    learned = 0
    if changed:
        run = Import(config, imported, env)
        to_import = ((folder, tuple(_files_to_import(config, folder, record))) for folder in changed)
        run.folders([folder._replace(files=names) for folder, names in to_import if names])
        learned = run.tally.added["note"]
    remember(record, folders)
    return learned + _supersede(config, record)


def offered(
    config: Config, env: Mapping[str, str], record: FollowRecord, places: Iterable[str]
) -> list[MarkdownFolder]:
    """Return what `follow` would import if these were folders of sessions. Nothing is recorded."""
    roots = [root for (root,) in record.of("root")]
    folders = _folders(env, dict.fromkeys([*roots, *(_root(config, place) for place in places)]))
    return apart(record, folders)


def apart(record: FollowRecord, folders: Iterable[MarkdownFolder]) -> list[MarkdownFolder]:
    """Return the folders with distinct names: of two existing ones with the same name, the later gets a suffix."""
    owners: dict[str, str] = {}
    for path, name, _ in record.of("file"):
        if name not in owners and os.path.lexists(path):
            owners[name] = path
    for path, name in record.of("from"):
        if name not in owners and os.path.lexists(path):
            owners[name] = f"{path}{os.sep}"
    renamed = []
    for folder in folders:
        root_path = os.path.abspath(folder.root)  # noqa: PTH100 - links are not followed, as in the record
        suffixed_name = f"{folder.name}-{project.suffix(root_path)}"
        root = f"{root_path}{os.sep}"
        is_first = suffixed_name not in owners and owners.setdefault(folder.name, root).startswith(root)
        renamed.append(folder if is_first else folder._replace(name=suffixed_name))
    return renamed


def remember(record: FollowRecord, folders: Iterable[MarkdownFolder]) -> None:
    """Start following what an import has copied."""
    for folder in folders:
        if folder.follow and folder.cwd == str(folder.root):
            record.add("root", folder.cwd)
        if not folder.follow:
            record.add("from", os.path.abspath(folder.root), folder.name)  # noqa: PTH100 - as above
        for name in markdown.files(folder) if folder.follow else ():
            record.add("file", str(folder.root / name), folder.name, markdown.note_id(folder, name))


def _folders(env: Mapping[str, str], roots: Iterable[str]) -> Iterator[MarkdownFolder]:
    """Yield the folders to follow: agents' memories, the user's instruction files, and those of known projects."""
    yield from markdown.memories(Path(claude_code.folder(env), "projects"))
    for row in ROWS:
        folder = Path(row.module.folder(env))
        if row.own_instructions and (folder / row.own_instructions).is_file():
            yield MarkdownFolder(folder, f"{row.name}-instructions", (row.own_instructions,), follow=markdown.OF_USER)
    for root in filter(None, roots):
        names = tuple(name for name in _OF_PROJECT if Path(root, name).is_file() and not Path(root, name).is_symlink())
        if names:
            yield MarkdownFolder(
                Path(root), f"{project.identify(root).name}-instructions", names, root, follow=markdown.OF_PROJECT
            )


def _files_to_import(config: Config, folder: MarkdownFolder, record: FollowRecord) -> Iterator[str]:
    """Yield a folder's files except those whose imported notes were deleted or moved since."""
    imported_ids = {note_id for _, name, note_id in record.of("file") if name == folder.name}
    present_ids = {str(parsed.meta.get("id")) for _, parsed in _notes(config, folder.name)} if imported_ids else set()
    for name in markdown.files(folder):
        if markdown.note_id(folder, name) not in imported_ids - present_ids:
            yield name


def _notes(config: Config, folder: str) -> Iterator[tuple[str, note.Parsed]]:
    """Yield the notes imported from a folder, with their paths in the vault."""
    top = Path(config.vault, *markdown.HOME, folder)
    for entry in disk.walk(str(top)) if top.is_dir() else ():
        path = "/".join((*markdown.HOME, folder, entry.path))
        yield path, note.load(config.vault, path)


def _root(config: Config, cwd: str) -> str:
    """Return the working tree that contains a folder; "" if it has no instruction file."""
    if not os.path.isdir(cwd):  # noqa: PTH112 - `Path.is_dir` raises for a name that is too long
        return ""
    identified = project.identify(cwd)
    root = identified.worktree if exclusions.takes_project(config, identified, cwd) else ""
    return root if root and any(Path(root, name).is_file() for name in _OF_PROJECT) else ""


def _supersede(config: Config, record: FollowRecord) -> int:
    """Mark notes as superseded if their files were seen here and are gone, unless a whole disk or home is gone."""
    count = 0
    for path, folder, note_id in record.of("file"):
        if os.path.lexists(path) or not Path(path).parent.parent.is_dir():
            continue
        name = _unedited_path(config, folder, note_id)
        if name:
            count += user_notes.set_keys(config, name, {"superseded_by": SUPERSEDED})
    return count


def _unedited_path(config: Config, folder: str, note_id: str) -> str:
    """Return the path of the note with an id; "" if it is missing, edited by a person, or superseded."""
    for path, parsed in _notes(config, folder):
        if parsed.meta.get("id") == note_id:
            return "" if parsed.meta.get("superseded_by") or followed_copies.is_edited(parsed) else path
    return ""


_WORDS = {"root": 2, "from": 3, "file": 4}


class FollowRecord:
    """The record of what this machine follows.

    Its lines are `root` with a folder; `file` with path, folder name and note id; and `from` with a folder and its name
    in the vault, which only shows which of several folders with the same name came first.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._path = f"{config.state_dir}/{STATE}"
        self._rules = privacy.Rules.of(config.settings)
        text = files.try_read_own(self._path, _MAX_STATE_BYTES).decode("utf-8", "replace")
        self._rows = dict.fromkeys(text.splitlines())

    def of(self, kind: str) -> Iterator[list[str]]:
        """Yield the rows of a kind, without the kind."""
        rows = (row.split("\t") for row in list(self._rows))
        yield from (words[1:] for words in rows if words[0] == kind and len(words) == _WORDS[kind])

    def add(self, *words: str) -> None:
        """Add a row, unless it contains private or unprintable text."""
        row = "\t".join(words)
        if row in self._rows or not row.replace("\t", "").isprintable():
            return
        echo = memory.load_all(self._config)
        if privacy.clean(row, rules=self._rules, origin="tool", echo=echo).value != row:
            return
        self._rows[row] = None
        with suppress(OSError):
            files.append(self._path, f"{row}\n".encode("utf-8", "replace"))
