"""Merged files: write them into the vault before the commit that contains them.

We may be killed at any moment, and the next commit then includes what is there: a note that was moved would look as if
a person had deleted it. So it is written under its new name before the old one is removed, and an archive whose notes
become files again is unpacked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mdmem.config import Config
from mdmem.errors import VaultError
from mdmem.history import folder_scan, pages, rewrite
from mdmem.history.git import repository
from mdmem.history.git.repository import Repository
from mdmem.history.git.texts import Texts
from mdmem.history.merging import aside, both, undecided
from mdmem.history.merging.both import Both
from mdmem.history.merging.undecided import KeptPlace
from mdmem.history.rewrite import RewriteStep
from mdmem.progress import ProgressCallback, ignore, reporting
from mdmem.vault import archives, disk, layout, packed, unreadable


class MergedFiles:
    """The files that a merge changes. before: as in our last commit. moved: deleted path -> where its note is now.

    conflicts: gets each path if something was in its place, or cannot be merged, and is now beside it.
    """

    def __init__(
        self, config: Config, repo: Repository, before: Texts, moved: Mapping[str, str], conflicts: list[str]
    ) -> None:
        self._config, self._repo, self._before, self._moved = config, repo, before, moved
        self._conflicts = conflicts
        self._along: dict[str, bytes] = {}
        self._seen: dict[str, bytes] = {}

    def write(self, puts: Texts, deletes: Sequence[str], report: ProgressCallback = ignore) -> list[KeptPlace]:
        """Write and delete files as the merged commit will have them; uncommitted changes stay on top.

        Return the places where those conflict with what was fetched. report: progress callback.

        Raises VaultError when a file cannot be written, or an archive is damaged: a commit without its notes would
        delete them on all machines. Also when a file is only hidden here, by a link or as a sync program has it: once
        it is back, a commit would undo what was fetched.
        """
        self._refuse_hidden(puts, deletes)
        kept: list[KeptPlace] = []
        for path in deletes:
            kept += self._take_along(path, puts)
        self._unpack(deletes, puts)
        first = _in_the_way(deletes, puts)
        for path in first:
            self._delete(path)
        for path, data in reporting(puts.items(), "Writing files", report):
            kept += self._bring(path, self._along.get(path, data))
        for path in deletes:
            if path not in first:
                self._delete(path)
        return kept

    def _refuse_hidden(self, puts: Texts, deletes: Sequence[str]) -> None:
        root, before = self._config.vault, self._before
        places = {path if path in before else path.rpartition("/")[0]: path for path in (*puts, *deletes)}
        for place, path in places.items():
            why = unreadable.why_missing(root, place)
            if why and (_is_worded(before[place], puts.get(place)) if place in before else self._has_folder(place)):
                raise VaultError(f"{path} was fetched, and cannot be written: it is {why}", "Then sync again.")

    def _has_folder(self, place: str) -> bool:
        """Whether the link on the way to a place is where the last commit has a folder."""
        link = unreadable.link_to(self._config.vault, place)
        return not repository.attempt(self._repo, "cat-file", "-e", f"HEAD:{link}/").status

    def _unpack(self, deletes: Iterable[str], puts: Texts) -> None:
        """Unpack the archives whose notes become files again, without the notes that were deleted elsewhere."""
        archived = {folder for path in deletes if (folder := layout.archived_in(path))}
        for folder in archived & {layout.folder_of(path) for path in puts} if archived else ():
            archive = layout.archive_of(folder)
            if disk.read_file(self._config.vault, archive) is None:
                continue
            committed = packed.parse(self._before.get(archive) or b"")
            texts = {path: text for name, text in committed.items() if (path := f"{folder}/{name}") not in puts}
            deleted = [path for path in texts if disk.is_packed(self._config.vault, path)]
            archives.unpack(self._config, folder)
            for path in deleted:
                rewrite.take(self._config, RewriteStep(path, texts[path], None))  # unless it was changed here

    def _take_along(self, path: str, puts: Texts) -> list[KeptPlace]:
        """Merge a moved file's uncommitted changes into it under its new name."""
        new = self._moved.get(path, "")
        now = disk.read_path(self._config.vault, path) if new in puts else None
        if now is None or self._before.is_as(path, now):
            return []
        merged = both.merge_note(self._repo, new, now, self._before.get(path), puts[new])
        if merged is None:
            return []
        self._along[new], self._seen[path] = merged.data, now
        return undecided.places(new, merged)

    def _delete(self, path: str) -> None:
        if path in self._seen:  # what was changed in it is in the moved file
            rewrite.take(self._config, RewriteStep(path, self._seen[path], None))
        self._bring(path, None)

    def _bring(self, path: str, after: bytes | None) -> list[KeptPlace]:
        """Write or delete one file."""
        before = self._before
        for _ in range(5):
            now = disk.read_path(self._config.vault, path)
            merged = Both(after) if after is not None else None
            if now != after and not before.is_as(path, now):
                merged = both.merge_uncommitted(self._repo, path, now, before.get(path), after)
                if merged is None and now is not None and after is not None:
                    aside.keep(self._config, path, now)
                    self._conflicts.append(path)
                    merged = Both(after)
            target = merged.data if merged else None
            if target == now or rewrite.take(self._config, RewriteStep(path, now, target)):
                return undecided.places(path, merged) if merged else []
            if aside.make_room(self._config, path):
                self._conflicts.append(path)
        if after is not None and disk.read_path(self._config.vault, path) is None:
            raise aside.blocked(self._config, path)
        return []


def _is_worded(before: bytes, after: bytes | None) -> bool:
    """Whether a changed file has more changes than those of a page's generated part, which is rebuilt."""
    return after is None or pages.with_generated(before, after) != after


def _in_the_way(deletes: Iterable[str], puts: Iterable[str]) -> set[str]:
    """Return the deleted paths that are in the way of a new one.

    Some systems take both for the same name, or one is a folder above the other.
    """
    by_key: dict[str, list[str]] = {}
    for path in deletes:
        by_key.setdefault(folder_scan.folded(path), []).append(path)
    paths_below: dict[str, list[str]] = {}
    for key, paths in by_key.items():
        for parent in layout.folders_above(key):
            paths_below.setdefault(parent, []).extend(paths)
    in_the_way: set[str] = set()
    for key in map(folder_scan.folded, puts) if by_key else ():
        in_the_way.update(paths_below.get(key, ()))
        for part in (key, *layout.folders_above(key)):
            in_the_way.update(by_key.get(part, ()))
    return in_the_way
