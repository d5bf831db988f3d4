"""Files beside notes, such as images: which are committed, which are left out, and why.

Committed: files in `notes/`, canvas and base files anywhere, and whatever a note links to. Left out: large files,
and files that only private notes link to.
"""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from mdmem import files, plural
from mdmem.config import Config
from mdmem.history.changes import Change
from mdmem.history.git import objects, repository
from mdmem.history.git.repository import Repository
from mdmem.settings import Settings
from mdmem.vault import attachments, disk, links

NO_LINK = "no note links to it"
ONLY_PRIVATE = "only notes that stay on this machine link to it"

NAME = "left-out"
"""State file with the files that the last full commit left out."""

RECEIVED = "hidden-received"
"""State file with the hidden files that syncs brought, and when, in epoch seconds."""

SHOWN_SECONDS = 7 * 86_400
"""How long they are told: the watcher's syncs print nothing that a person sees."""

_OF_GIT = (".gitattributes", ".gitignore", ".gitkeep")
_OF_PROGRAMS = (
    "{} came from the remote. mdmem ignores such hidden files, but other programs may run what they say: look at them "
    "before you open the vault with an agent or an editor."
)


class LeftOut(NamedTuple):
    """A file that is not committed, and why."""

    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.path} ({self.why})"


class Targets:
    """Link targets as notes write them: of notes that are committed, and of notes that stay on this machine."""

    def __init__(self, private: set[str]) -> None:
        """private: the private notes' targets so far; `add` extends it."""
        self.public: set[str] = set()
        self.private = private

    def add(self, path: str, data: bytes, *, private: bool) -> None:
        """Add a note's links."""
        (self.private if private else self.public).update(_targets(path, data))


def of_programs(received: Iterable[str], settings: Settings) -> list[str]:
    """Return the warning of hidden files among those received, such as the hooks of an agent; [] if there are none."""
    return _warning(_hidden(received, settings))


def _hidden(paths: Iterable[str], settings: Settings) -> list[str]:
    return [
        path
        for path in paths
        if "/." in f"/{path}" and not path.endswith(_OF_GIT) and not attachments.is_visible(path, settings)
    ]


def _warning(hidden: list[str]) -> list[str]:
    return [_OF_PROGRAMS.format(plural.some(hidden, 3))] if hidden else []


def keep_received(config: Config, received: Iterable[str]) -> list[str]:
    """Store the hidden files among those that a sync has written, and return the warning of them, as `of_programs`."""
    hidden = [path for path in _hidden(received, config.settings) if os.path.lexists(Path(config.vault, path))]
    if hidden:
        now = f"{time.time():.0f}"
        times = dict(_received(config)) | dict.fromkeys(hidden, now)
        text = "\0".join(part for row in times.items() for part in row)
        files.try_replace(str(Path(config.state_dir, RECEIVED)), text.encode("utf-8", "surrogateescape"))
    return _warning(hidden)


def received(config: Config) -> list[str]:
    """Return the warning of hidden files that syncs brought within `SHOWN_SECONDS`; [] if there are none."""
    return _warning([path for path, _ in _received(config)])


def _received(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the path and time of the hidden files that syncs brought lately, and that are still there."""
    least = time.time() - SHOWN_SECONDS
    for path, when in _stored(config, RECEIVED):
        if when.isdigit() and int(when) > least and os.path.lexists(Path(config.vault, path)):
            yield path, when


def max_bytes(config: Config) -> int:
    """Return the largest size of a file that is committed."""
    return min(config.settings.sync.max_file_mb * 1_000_000, disk.MAX_READ_BYTES - 1)


def choose(
    config: Config, repo: Repository, changes: Collection[Change], seen: Targets, wanted: Collection[str]
) -> tuple[list[Change], list[LeftOut]]:
    """Split changed files beside notes into those to commit and those to leave out.

    Files that git tracks are committed, also when moved. seen: link targets of the notes read so far.
    wanted: paths to commit whether or not a note links to them.
    """
    filtered = _filtered(repo, [change.path for change in changes])
    chosen: list[Change] = []
    omitted: list[LeftOut] = []
    unsure: list[Change] = []
    for change in sorted(changes):
        why = _why_not(config, change) or ("a git filter handles it; commit it with git" * (change.path in filtered))
        if why:
            omitted.append(LeftOut(change.path, why))
        elif change.kind != "added" or change.path in wanted or _is_part(change.path, seen):
            chosen.append(change)
        else:
            unsure.append(change)
    linked = _linked_in_history(config, repo, [change.path for change in unsure])
    deleted = {change.oid for change in changes if change.kind == "deleted"}
    for change in unsure:
        if change.path in linked or _is_moved(config, change.path, deleted):
            chosen.append(change)
        else:
            private = is_linked(change.path, seen.private)
            omitted.append(LeftOut(change.path, ONLY_PRIVATE if private else NO_LINK))
    return chosen, omitted


def _is_part(path: str, seen: Targets) -> bool:
    """Whether the notes read so far suffice to tell that a new file belongs to the vault."""
    return is_linked(path, seen.public) or (attachments.needs_no_link(path) and not is_linked(path, seen.private))


def _is_moved(config: Config, path: str, deleted: Collection[str]) -> bool:
    """Whether a new file has the content of a tracked file that was deleted."""
    example = next(iter(deleted), "")
    return bool(example) and objects.blob_id(disk.read_path(config.vault, path) or b"", example) in deleted


def _why_not(config: Config, change: Change) -> str:
    """Return why a file is not committed even if a note links to it; "" when nothing forbids it."""
    try:
        size = os.lstat(Path(config.vault, change.path)).st_size
    except OSError:
        return "" if change.kind == "deleted" else "it cannot be read"
    most = max_bytes(config)
    return f"{size / 1e6:.0f} MB; sync.max_file_mb allows {most // 1_000_000}" if size > most else ""


def is_linked(path: str, targets: Collection[str]) -> bool:
    """Whether a path is among the targets; a target may lack leading folders."""
    tail = path.lower()
    while tail:
        if tail in targets:
            return True
        tail = tail.partition("/")[2]
    return False


def _targets(path: str, data: bytes) -> set[str]:
    """Return what a note links to, in lower case: vault paths, or their last parts."""
    if b"](" not in data and b"[[" not in data:
        return set()
    folder = path.rpartition("/")[0]
    targets: set[str] = set()
    for link in links.written(data.decode("utf-8", "replace")):
        target = link.target.replace("\\", "/").lower()
        if link.how != "id":
            targets |= {target.removeprefix("./"), posixpath.normpath(posixpath.join(folder.lower(), target))}
    return targets


def left_out(config: Config) -> list[LeftOut]:
    """Return the existing files that the last full commit left out."""
    return [LeftOut(*row) for row in _stored(config, NAME) if Path(config.vault, row[0]).exists()]


def _stored(config: Config, name: str) -> Iterator[tuple[str, str]]:
    """Return the pairs of texts in a state file, none without it."""
    try:
        fields = Path(config.state_dir, name).read_text("utf-8", "surrogateescape").split("\0")
    except OSError:
        fields = []
    return zip(fields[::2], fields[1::2], strict=False)


def keep_left_out(config: Config, omitted: Iterable[LeftOut]) -> None:
    """Store what was left out, to show it and to avoid searching all notes again for links to it."""
    file = Path(config.state_dir, NAME)
    text = "\0".join(part for left_out_file in omitted for part in left_out_file)
    if text:
        files.replace(str(file), text.encode("utf-8", "surrogateescape"))
    else:
        file.unlink(missing_ok=True)


def forget_linked(config: Config, seen: Targets) -> None:
    """Forget left-out files that these notes link to, so that the next `choose` searches all notes for links."""
    omitted = left_out(config)
    still = [file for file in omitted if not is_linked(file.path, seen.public)]
    if len(still) < len(omitted):
        keep_left_out(config, still)


def _linked_in_history(config: Config, repo: Repository, paths: Collection[str]) -> set[str]:
    """Return the files that a committed note links to. Files known to have no link are not searched for again."""
    unlinked = {file.path for file in left_out(config) if file.why in (NO_LINK, ONLY_PRIVATE)} if paths else set()
    new = [path for path in paths if path not in unlinked]
    return _searched(repo, new) if new else set()


def _searched(repo: Repository, paths: Iterable[str]) -> set[str]:
    """Search all tracked notes for the files' names, then check whether they are in links."""
    paths = list(paths)
    names = {path.rpartition("/")[2] for path in paths}
    words = "".join(f"{word}\n" for name in sorted(names) for word in {name, quote(name)} if "\n" not in word)
    result = repository.attempt(
        repo, "grep", "-l", "-z", "-i", "-F", "-f", "-", stdin=words.encode("utf-8", "surrogateescape")
    )
    targets: set[str] = set()
    for note in filter(disk.is_note_path, os.fsdecode(result.out).split("\0")):
        targets |= _targets(note, disk.read_path(str(repo.root), note) or b"")
    return {path for path in paths if is_linked(path, targets)}


def _filtered(repo: Repository, paths: Collection[str]) -> frozenset[str]:
    """Return the files that git's attributes hand to a filter program, which mdmem does not start."""
    if not paths:
        return frozenset()
    listed = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    fields = os.fsdecode(repository.run(repo, "check-attr", "-z", "--stdin", "filter", stdin=listed)).split("\0")
    rows = zip(fields[::3], fields[2::3], strict=False)
    return frozenset(path for path, value in rows if value not in ("unspecified", "unset", ""))
