"""What of a vault cannot be read: folders, links, files that only a sync program's service has. None is deleted."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_PLACEHOLDERS = (".{}.icloud", "{}.nextcloud", "{}.owncloud")
"""Names of the files that sync programs leave in the place of one that is to be fetched again when it is wanted."""


class UnreadableFolders:
    """The folders of a vault that exist but cannot be read, or are links. Each is checked once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, bool] = {}

    def contain(self, path: str) -> bool:
        """Whether a vault-relative path lies in or below such a folder."""
        folder = path.rpartition("/")[0]
        if folder not in self._known:
            self._known[folder] = (folder != "" and self.contain(folder)) or _is_unreadable(f"{self._root}/{folder}")
        return self._known[folder]

    def gone(self, missing: Iterable[str]) -> Iterator[str]:
        """Yield the missing paths that are neither in or below such a folder nor kept elsewhere by a sync program."""
        return (path for path in missing if not (self.contain(path) or is_elsewhere(self._root, path)))


def why_missing(root: str, path: str) -> str:
    """Return what a file that was not found is, if it is not deleted, to end a sentence; "" when it may be."""
    if link := link_to(root, path):
        return f"behind a link, {link}, which mdmem does not follow: put what it leads to in its place."
    if is_elsewhere(root, path):
        return "not on this machine, but a sync program has a copy: let it keep the vault's files here."
    return ""


def is_elsewhere(root: str, path: str) -> bool:
    """Whether a file, by its vault-relative path, is not on disk, and a sync program has left a placeholder for it."""
    folder, _, name = path.rpartition("/")
    if os.path.lexists(f"{root}/{path}"):
        return False
    return any(os.path.lexists(f"{root}/{folder}/{form.format(name)}") for form in _PLACEHOLDERS)


def link_to(root: str, path: str) -> str:
    """Return the first link on the way to a vault-relative path, the path itself included; "" for none."""
    ends = [*(at for at, letter in enumerate(path) if letter == "/"), len(path)]
    return next((path[:end] for end in ends if os.path.islink(f"{root}/{path[:end]}")), "")


def is_placeholder(path: str) -> bool:
    """Whether a path is that of such a placeholder."""
    name = path.rpartition("/")[2]
    return real_name(name) != name


def real_name(name: str) -> str:
    """Return the name of the file that a placeholder stands for, and any other name as it is."""
    for form in _PLACEHOLDERS:
        before, after = form.split("{}")
        if name.startswith(before) and name.endswith(after):
            return name.removeprefix(before).removesuffix(after)
    return name


def _is_unreadable(folder: str) -> bool:
    """Whether a folder cannot be read, or is a link."""
    try:
        mode = os.lstat(folder).st_mode
        if stat.S_ISDIR(mode):
            os.scandir(folder).close()
            os.lstat(f"{folder}/.")  # it may be listed, but nothing in it may be looked at
    except OSError as error:
        return isinstance(error, PermissionError)
    return stat.S_ISLNK(mode)


def folders(root: str) -> list[str]:
    """Return the vault's folders that cannot be read, in order."""
    unreadable: list[str] = []
    for folder, names, _ in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        paths = (path for name in names if not os.path.islink(path := f"{folder}/{name}"))
        unreadable += [os.path.relpath(path, root).replace(os.sep, "/") for path in paths if _is_unreadable(path)]
    return unreadable
