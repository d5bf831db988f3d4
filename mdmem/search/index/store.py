"""Store: opens the index of a vault on disk for reading, one generation at a time.

Files are read only as needed, so that opening costs the same whatever their size, and a reader keeps its open files
when a writer removes them.
"""

from __future__ import annotations

import os
import stat
from itertools import chain

from mdmem import files, system
from mdmem.errors import ConfigError
from mdmem.named_tuple import NamedTuple
from mdmem.search.index import contents
from mdmem.search.index.dictionary import Dictionary
from mdmem.search.index.folders import Leaf
from mdmem.search.index.layout import DamagedError, OtherVersionError
from mdmem.search.index.segment_file import SegmentFile
from mdmem.search.index.table import Table
from mdmem.search.index.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from mdmem.config import Config
    from mdmem.search.index.contents import Segment
    from mdmem.search.index.layout import TermLists

    T = TypeVar("T")


_TRIES = 20

_LACKING = ("EMFILE", "ENFILE", "ENOMEM", "EINTR")

_MAX_KEPT = 8
"""Maximum number of indexes kept open: each takes file descriptors, which are limited per process."""

_views: dict[str, View] = {}


def current(config: Config) -> View | None:
    """Return the newest generation of a vault's index, cached until a newer one is published.

    None: there is no index.

    Raises DamagedError when it cannot be read.
    """
    folder = config.index_dir
    view = _views.get(folder)
    if view is None or not _is_current(folder, view):
        _views.pop(folder, None)
        view = open_view(folder)
        if view is not None:
            _keep(_views, folder, view)
    return view


def newest(folder: str) -> View | None:
    """Return the newest generation, for a caller that holds the index's lock and has just checked its files.

    None: there is no index.

    Raises DamagedError when it cannot be read.
    """
    if is_open(folder):
        return _views[folder]
    _views.pop(folder, None)  # it holds data of segments that may be gone
    return open_view(folder)


def opened(config: Config) -> View | None:
    """Return the view of `current`; None for an unreadable index."""
    try:
        return current(config)
    except (DamagedError, OtherVersionError, OSError):
        return None


def _keep(cache: dict[str, T], folder: str, value: T) -> None:
    """Add a value to a cache, and drop the oldest if it is full."""
    cache[folder] = value
    while len(cache) > _MAX_KEPT:
        cache.pop(next(iter(cache)), None)


def open_view(folder: str, *, verify: bool = False) -> View | None:
    """Open the newest generation of the index in a folder; None if there is none.

    verify: check the content of every file, not only its size and mtime.

    Raises DamagedError when a file is damaged.
    """
    for _ in range(_TRIES):
        try:
            return _open(folder, verify=verify)
        except FileNotFoundError:
            continue  # a writer has published a newer generation and removed this one's files
        except (DamagedError, OtherVersionError, OSError, MemoryError):
            raise
        except Exception as error:  # whatever a damaged file makes a reader do
            raise DamagedError(f"it cannot be read ({error!r:.200})") from error
    raise DamagedError("some of its files are missing")


def _open(folder: str, *, verify: bool) -> View | None:
    try:
        stamp = _stamp(folder, contents.NAME)
    except FileNotFoundError:
        return None
    newest_contents = contents.load(folder)
    if newest_contents is None:
        return None
    _check_owner(folder)
    known, parts = _parts.get(folder, {}), {}
    leaves = []
    start = 0
    for segment in newest_contents.segments:
        stamps = {f"{segment.name}{extension}": _stamp(folder, segment.name + extension) for extension in segment.files}
        part = known.get(segment.name)
        if part is None or part.stamps != stamps or verify:
            opened = leaf(folder, segment, verify=verify)
            part = _Part(opened.terms, opened.table, stamps)
        parts[segment.name] = part
        leaves.append(Leaf(start, part.terms, part.table, segment.deleted))
        start += segment.count
    _keep(_parts, folder, parts)
    stamps_of_parts = chain.from_iterable(part.stamps.items() for part in parts.values())
    return View(leaves, {contents.NAME: stamp, **dict(stamps_of_parts)})


def leaf(folder: str, segment: Segment, *, verify: bool = False) -> Leaf:
    """Open a segment. verify: check its whole content. Raises DamagedError when it is damaged."""
    terms = Dictionary(_open_file(folder, segment, ".terms", verify=verify))
    return Leaf(0, terms, Table(_open_file(folder, segment, ".rows", verify=verify), segment.count), segment.deleted)


class _Part(NamedTuple):
    """An open segment, kept for later generations that include it: its files never change."""

    terms: TermLists
    table: Table
    stamps: dict[str, tuple[int, int, int]]


_parts: dict[str, dict[str, _Part]] = {}


def is_open(folder: str) -> bool:
    """Whether this process has opened the newest generation."""
    view = _views.get(folder)
    try:
        return view is not None and view.files[contents.NAME] == _stamp(folder, contents.NAME)
    except OSError:
        return False


def is_whole(folder: str, segment: Segment) -> bool:
    """Whether a segment is undamaged, byte for byte.

    Raises OSError or MemoryError when the system lacks the resources to check.
    """
    try:
        for extension in segment.files:
            _open_file(folder, segment, extension, verify=True)
    except Exception as error:  # whatever a damaged file makes a reader do
        if is_lacking(error):
            raise
        return False
    return True


def is_lacking(error: Exception) -> bool:
    """Whether an error means that the system lacks memory or the like at the moment."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and system.is_error(error, *_LACKING))


def _open_file(folder: str, segment: Segment, extension: str, *, verify: bool) -> SegmentFile:
    """Open a segment's file; check its checksum if `verify` is set or the file's mtime has changed."""
    size, checksum, mtime_ns = segment.files[extension]
    file = SegmentFile(os.path.join(folder, segment.name + extension))
    if len(file) != size:
        raise DamagedError(f"one of its files has {len(file)} bytes instead of {size}")
    if (verify or file.mtime_ns != mtime_ns) and file.checksum() != checksum:
        raise DamagedError("one of its files was changed after it was written")
    return file


def _is_current(folder: str, view: View) -> bool:
    """Whether a view is still the newest generation and its files are untouched; checked before each use."""
    try:
        _check_owner(folder)
        return all(_stamp(folder, name) == stamp for name, stamp in view.files.items())
    except (OSError, DamagedError):
        return False


def _stamp(folder: str, name: str) -> tuple[int, int, int]:
    state = os.stat(f"{folder}/{name}")  # for two files per segment: `os.path.join` would double the cost
    return state.st_size, state.st_mtime_ns, state.st_ino


def _check_owner(folder: str) -> None:
    state = os.lstat(folder)
    if not stat.S_ISDIR(state.st_mode) or not system.own(state, 0o022):
        raise DamagedError("others can write in its folder")
    if not files.is_private(os.path.dirname(folder)):
        raise DamagedError("the folder above it is not the user's alone")


def own_folder(folder: str) -> None:
    """Create the folder for an index if needed, and make sure that it is the user's own and closed to others.

    Raises ConfigError when it is somebody else's.
    """
    if os.path.dirname(folder) and not os.path.exists(os.path.dirname(folder)):
        files.make_folder(os.path.dirname(folder))
    if os.path.dirname(folder) and not files.is_private(os.path.dirname(folder)):
        raise ConfigError(f"{os.path.dirname(folder)} is open to other users, so no index is kept in it. Remove it.")
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    state = os.lstat(folder)
    if not stat.S_ISDIR(state.st_mode) or not system.own(state):
        raise ConfigError(f"{folder} is not owned by you, so no index is kept in it. Remove it.")
    if not system.own(state, 0o022):
        for entry in os.scandir(folder):  # others could write here, so what is here may be theirs
            if entry.is_dir(follow_symlinks=False):
                import shutil

                shutil.rmtree(entry)
            else:
                os.unlink(entry)
    if not system.own(state, 0o077):
        os.chmod(folder, 0o700)
