"""Folders: those of a vault, or below one of them, and how many notes lie in and below each, as the index has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mdmem.search.index.view import View


class Tree:
    """The folders below one of a vault's, by their paths."""

    def __init__(self, view: View, below: str) -> None:
        self._view = view
        start = f"{below}/" if below else ""
        sizes = zip(view.folders, view.folder_sizes, strict=True)
        self._notes = {folder: size for folder, size in sizes if size and f"{folder}/".startswith(start)}
        self._folders: dict[str, list[str]] = {}
        levels: dict[int, list[str]] = {}
        for folder in self._notes:
            levels.setdefault(_depth(folder), []).append(folder)
        for depth in range(max(levels, default=0), _depth(below), -1):
            for folder in levels.get(depth, ()):
                above, _, name = folder.rpartition("/")
                if above not in self._notes:
                    self._notes[above] = 0
                    levels.setdefault(depth - 1, []).append(above)
                self._folders.setdefault(above, []).append(name)
                self._notes[above] += self._notes[folder]

    def notes(self, folder: str) -> int:
        """Return how many notes lie in and below a folder."""
        return self._notes.get(folder, 0)

    def folders(self, folder: str) -> list[str]:
        """Return the names of the folders in one, sorted."""
        return sorted(self._folders.get(folder, ()))

    def files(self, folder: str) -> list[str]:
        """Return the names of the notes that lie in a folder itself, sorted."""
        return sorted(self._view.name(note) for note in self._view.members_of(folder))

    def nested(self, folder: str, name: str) -> dict[str, Any]:
        """Return a folder with all that lies below it."""
        start = f"{folder}/" if folder else ""
        below = [self.nested(start + one, one) for one in self.folders(folder)]
        return {"name": name, "notes": self.notes(folder), "folders": below, "files": self.files(folder)}


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0
