"""Host memory: follows the agents' own memory files and the instruction files that they load.

A changed file is imported again. If somebody has edited its note, the note is kept, and its front matter names the
conflict. When a file is deleted, its note is superseded. The state folder records which files were seen, so that
another machine's files never count as deleted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mdmem import files, privacy, project
from mdmem.agents import claude_code
from mdmem.agents.install.known import ROWS
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


def follow(config: Config, env: Mapping[str, str], cwd: str = "") -> int:
    """Import what has changed since the last run; return how many notes are new, changed or superseded.

    cwd: the folder of a session; the instruction files of its project are followed from now on.

    Raises OSError or MdmemError when the vault cannot be written.
    """
    seen = _Followed(config)
    found = _followed(config, env, seen, [cwd])
    done = ImportedFiles(config)
    changed = [one for one in found if any(not done.has_now(one.root / name) for name in markdown.files(one))]
    learned = 0
    if changed:
        run = Import(config, done, env)
        run.folders([one._replace(files=names) for one in changed if (names := tuple(_kept(config, one, seen)))])
        learned = run.tally.added["note"]
    _remember(seen, found)
    return learned + _supersede(config, seen)


def offered(config: Config, env: Mapping[str, str], places: Iterable[str]) -> list[MarkdownFolder]:
    """Return what `follow` would import if these were folders of sessions. Nothing is recorded."""
    return _followed(config, env, _Followed(config), places)


def remember(config: Config, found: Iterable[MarkdownFolder]) -> None:
    """Start following what an import has copied."""
    _remember(_Followed(config), found)


def _followed(config: Config, env: Mapping[str, str], seen: _Followed, places: Iterable[str]) -> list[MarkdownFolder]:
    roots = [root for (root,) in seen.of("root")]
    found = _folders(env, dict.fromkeys([*roots, *(_root(config, place) for place in places)]))
    return _apart(seen, found)


def apart(config: Config, found: Iterable[MarkdownFolder]) -> list[MarkdownFolder]:
    """Return the folders with distinct names: of two existing ones with the same name, the later gets a suffix."""
    return _apart(_Followed(config), found)


def _apart(seen: _Followed, found: Iterable[MarkdownFolder]) -> list[MarkdownFolder]:
    owners: dict[str, str] = {}
    for path, name, _ in seen.of("file"):
        if name not in owners and os.path.lexists(path):
            owners[name] = path
    for path, name in seen.of("from"):
        if name not in owners and os.path.lexists(path):
            owners[name] = f"{path}{os.sep}"
    named = []
    for folder in found:
        place = os.path.abspath(folder.root)  # noqa: PTH100 - links are not followed, as in the record
        own = f"{folder.name}-{project.suffix(place)}"
        root = f"{place}{os.sep}"
        is_first = own not in owners and owners.setdefault(folder.name, root).startswith(root)
        named.append(folder if is_first else folder._replace(name=own))
    return named


def _remember(seen: _Followed, found: Iterable[MarkdownFolder]) -> None:
    for folder in found:
        if folder.cwd == str(folder.root):
            seen.add("root", folder.cwd)
        if not folder.follow:
            seen.add("from", os.path.abspath(folder.root), folder.name)  # noqa: PTH100 - as above
        for name in markdown.files(folder) if folder.follow else ():
            seen.add("file", str(folder.root / name), folder.name, markdown.note_id(folder, name))


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


def _kept(config: Config, folder: MarkdownFolder, seen: _Followed) -> Iterator[str]:
    """Yield a folder's files except those whose imported notes were deleted or moved since."""
    taken = {note_id for _, name, note_id in seen.of("file") if name == folder.name}
    present = {str(parsed.meta.get("id")) for _, parsed in _notes(config, folder.name)} if taken else set()
    for name in markdown.files(folder):
        if markdown.note_id(folder, name) not in taken - present:
            yield name


def _notes(config: Config, folder: str) -> Iterator[tuple[str, note.Parsed]]:
    """Yield the notes imported from a folder, with their paths in the vault."""
    top = Path(config.vault, *markdown.HOME, folder)
    for entry in disk.walk(str(top)) if top.is_dir() else ():
        path = "/".join((*markdown.HOME, folder, entry.path))
        yield path, note.load(config.vault, path)


def _root(config: Config, cwd: str) -> str:
    """Return the working tree that contains a folder; "" if it has no instruction file."""
    where = project.identify(cwd) if cwd and Path(cwd).is_dir() else None
    root = where.worktree if where is not None and exclusions.takes_project(config, where, cwd) else ""
    return root if root and any(Path(root, name).is_file() for name in _OF_PROJECT) else ""


def _supersede(config: Config, seen: _Followed) -> int:
    """Mark notes as superseded if their files were seen here and are gone, unless a whole disk or home is gone."""
    count = 0
    for path, folder, note_id in seen.of("file"):
        if os.path.lexists(path) or not Path(path).parent.parent.is_dir():
            continue
        name = _named(config, folder, note_id)
        if name:
            count += user_notes.set_keys(config, name, {"superseded_by": SUPERSEDED})
    return count


def _named(config: Config, folder: str, note_id: str) -> str:
    """Return the path of the note with an id; "" if it is missing, edited by a person, or superseded."""
    for path, parsed in _notes(config, folder):
        if parsed.meta.get("id") == note_id:
            return "" if parsed.meta.get("superseded_by") or followed_copies.is_edited(parsed) else path
    return ""


_WORDS = {"root": 2, "from": 3, "file": 4}


class _Followed:
    """The record of what this machine follows.

    Its lines are `root` with a folder; `file` with path, folder name and note id; and `from` with a folder and its name
    in the vault, which only tells which of several folders of one name came first.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._path = f"{config.state_dir}/{STATE}"
        self._rules = privacy.Rules.of(config.settings)
        try:
            text = files.read_own(self._path, _MAX_STATE_BYTES).decode("utf-8", "replace")
        except OSError:
            text = ""
        self._rows = dict.fromkeys(text.splitlines())

    def of(self, kind: str) -> Iterator[list[str]]:
        """Yield the rows of a kind, without the kind."""
        rows = (row.split("\t") for row in list(self._rows))
        yield from (words[1:] for words in rows if words[0] == kind and len(words) == _WORDS[kind])

    def add(self, *words: str) -> None:
        """Add a row, unless it contains private or unprintable text."""
        row = "\t".join(words)
        is_plain = row.isprintable() or row.replace("\t", "").isprintable()
        if row in self._rows or not is_plain:
            return
        echo = memory.load_all(self._config)
        if privacy.clean(row, rules=self._rules, origin="tool", echo=echo).value != row:
            return
        self._rows[row] = None
        try:
            files.append(self._path, f"{row}\n".encode("utf-8", "replace"))
        except OSError:
            return
