"""Check folders: the vault's folder, the settings in it, and mdmem's own folders outside it."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from mdmem import files, moved, plural, system
from mdmem.capture import retry_queue
from mdmem.config import Config, load
from mdmem.errors import MdmemError, SettingsWarning
from mdmem.health import HealthFinding, age, error, fine, note, remove, unstored, warning
from mdmem.health.scope import CheckScope
from mdmem.history.git import repository, tidy
from mdmem.vault import JOURNAL, layout, projects
from mdmem.vault.leftovers import is_temp
from mdmem.views import settings_checks, wording

LEAST_FREE_BYTES = 100_000_000
LEAST_FREE_FILES = 2_000
"""Least number of files that a disk should still take; git alone writes a few for each note."""
TEMP_SECONDS = 3600
"""A temporary file this old is abandoned."""


def vault(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Check the vault's folder."""
    root = Path(config.vault)
    if not root.is_dir():
        if moved.was_there(config.state_dir):
            gone = moved.missing(config.state_dir, config.vault)
            yield error(gone.text, gone.todo)
        else:
            yield error(f"There is no vault at {root}.", "`mdmem init` creates one.")
        return
    if not _is_usable(root):
        is_ours = layout.is_vault(str(root)) or moved.was_there(config.state_dir)
        todo = _to_make_writable(root) if is_ours else "Name yours with --vault, MDMEM_VAULT or `vault` in config.toml."
        yield error(f"{root} cannot be written{'' if is_ours else ', and is not set up as a vault'}.", todo)
    elif projects.is_emptied(config):
        gone = projects.emptied(config.vault)
        yield error(gone.text, gone.todo)
    elif not (root / "mdmem.toml").exists():
        yield note(
            f"{root} has no mdmem.toml: it is read like any folder of markdown.",
            f"`mdmem init {shlex.quote(str(root))}`",
        )
    elif blocked := list(_in_the_way(root, scope)):
        yield from blocked
    else:
        yield fine(f"the vault is at {root}")
    yield from without_variable(config)
    outer = repository.repository_around(root)
    if outer:
        yield note(
            f"The vault is inside the git repository {outer}.", "Add it to that repository's .gitignore, or move it."
        )
    yield from _little_space(root, "the vault's disk")


def without_variable(config: Config) -> Iterator[HealthFinding]:
    """Report where hooks without MDMEM_VAULT store, such as those of an agent that was started from a desktop."""
    if not os.environ.get("MDMEM_VAULT") or load().vault != config.vault:
        return
    other = load(env={name: value for name, value in os.environ.items() if name != "MDMEM_VAULT"})
    if other.vault == config.vault:
        return
    is_there = Path(other.vault).is_dir()
    where = f"in {other.vault}" if is_there else f"nothing, as there is no vault at {other.vault}"
    text = f"MDMEM_VAULT names this vault. Hooks of an agent that was started without that variable store {where}."
    yield note(text, f"To store everything here: `mdmem config set vault {shlex.quote(config.vault)}`.")
    queued_there = [] if is_there else retry_queue.waiting(other)
    if queued_there:
        text = f"{plural.number(len(queued_there), 'note')} of such agents could not be stored."
        yield warning(text, "`mdmem doctor --fix` stores them here.", partial(_take_queued, other, config))


def _take_queued(other: Config, config: Config) -> None:
    """Move queued notes of a vault that does not exist to this vault's queue, and store them."""
    files.make_folders(retry_queue.folder(config))
    for name in retry_queue.waiting(other):
        Path(retry_queue.folder(other), name).replace(Path(retry_queue.folder(config), name))
    unstored.write_queued(config)


def _in_the_way(root: Path, scope: CheckScope) -> Iterator[HealthFinding]:
    """Find links and files where the journal, a project, a day or a session has its folder.

    These names have no ending, as other files in these places have. A partial check looks only into the newest day of
    each project, where notes are stored.
    """
    journal = root / JOURNAL
    if os.path.lexists(journal) and (journal.is_symlink() or not journal.is_dir()):
        yield error(*_stands_in_the_way(root, JOURNAL))
        return
    for path in _not_folders(str(root), JOURNAL, every=scope.is_whole):
        yield warning(*_stands_in_the_way(root, path))


def _not_folders(root: str, folder: str, *, every: bool) -> Iterator[str]:
    """Yield what is not a folder below a folder, down to the sessions. every: in every day, not only in the newest."""
    try:
        with os.scandir(f"{root}/{folder}") as scan:
            entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in scan)
    except OSError:
        return
    last = max((name for name, is_folder in entries if is_folder), default="")
    for name, is_folder in entries:
        path = f"{folder}/{name}"
        if "." in name:
            continue
        if not is_folder:
            yield path
        elif not layout.is_session(path) and (every or folder == JOURNAL or name == last):
            yield from _not_folders(root, path, every=every)


def _stands_in_the_way(root: Path, path: str) -> tuple[str, str]:
    """Return what is wrong with a path that should be a folder, and what to do."""
    place = root / path
    text = f"No note can be stored in {path!r}: it is a link or a file where a folder should be."
    quoted = shlex.quote(str(place))
    todo = f"Move it elsewhere: `mv {quoted} {shlex.quote(f'{place}.old')}`."
    if place.is_dir():
        todo = f"Put what it leads to in its place: `rm {quoted} && mv {shlex.quote(str(place.resolve()))} {quoted}`."
    return text, todo


def _is_usable(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def can_be_read(path: str) -> bool:
    """Whether a path is that of a folder which the user can list and enter."""
    try:
        os.scandir(path).close()
        return os.path.lexists(f"{path}/.")
    except OSError:
        return False


def _to_make_writable(folder: Path) -> str:
    flags = os.statvfs(folder).f_flag if hasattr(os, "statvfs") else 0
    if flags & getattr(os, "ST_RDONLY", 0):
        return "Its disk is mounted read-only: mount it writable."
    if folder.is_dir() and hasattr(os, "getuid") and folder.stat().st_uid == os.getuid():
        return f"`chmod -R u+rwX {shlex.quote(str(folder))}`"
    return f"`sudo chown -R $USER {shlex.quote(str(folder))}`, or make its disk writable."


def _little_space(folder: Path, name: str) -> Iterator[HealthFinding]:
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        yield warning(f"Only {wording.size(free)} free on {name}.", "Free some space.")
    counts = os.statvfs(folder) if hasattr(os, "statvfs") else None
    if counts and 0 <= counts.f_favail < min(LEAST_FREE_FILES, counts.f_files):  # no files: it has no such limit
        files_left = plural.number(counts.f_favail, "more file")
        yield warning(f"Only {files_left} can be made on {name}.", "Delete files there: `df -i` counts them (inodes).")


def state(config: Config) -> Iterator[HealthFinding]:
    """Check whether mdmem's folders outside the vault are writable: without them nothing is stored."""
    existing = [_nearest(folder) for folder in _own(config)[:2]]
    unusable = [folder for folder in existing if not _is_usable(folder)]
    for folder in dict.fromkeys(unusable):
        what = "nothing is stored" if folder == existing[0] else "no index can be kept"
        yield error(f"{folder} cannot be written: {what}.", _to_make_writable(folder))
    if not unusable:
        yield fine(f"mdmem's own files are in {config.state_dir}")
    device = existing[0].stat().st_dev
    if not Path(config.vault).is_dir() or device != Path(config.vault).stat().st_dev:
        yield from _little_space(existing[0], f"the disk of {existing[0]}")


def _own(config: Config) -> tuple[Path, Path, Path]:
    return Path(config.state_dir), Path(config.index_dir), Path(config.runtime_dir)


def _nearest(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists; anything in an unreadable folder counts as missing."""
    return next(each for each in (folder, *folder.parents) if os.path.exists(each))  # noqa: PTH110 - as it raises nothing


def unreadable_own_folder(config: Config, problem: Exception) -> HealthFinding | None:
    """Return the finding for a check that failed because one of mdmem's own folders cannot be read; else None."""
    cause = problem.__cause__ or problem
    name = str(cause.filename or "") if isinstance(cause, PermissionError) else ""
    for folder in _own(config):
        nearest = _nearest(folder)
        if name.startswith(f"{folder}") and not os.access(nearest, os.R_OK | os.X_OK):
            return note(f"Not checked, because {nearest} cannot be read.", _to_make_writable(nearest))
    return None


def settings(config: Config) -> Iterator[HealthFinding]:
    """Check the two settings files."""
    texts = settings_checks.warnings(config)
    for text in texts:
        is_syntax = isinstance(text, SettingsWarning) and text.is_syntax
        yield warning(text, "Fix that line." if is_syntax else "`mdmem config list` lists every setting.")
    if not texts:
        yield fine("the settings can be read")


def permissions(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Check whether others can read the vault or mdmem's folders, and whether the user owns all of it."""
    is_ours = layout.is_vault(config.vault)  # another folder may be shared on purpose
    own_folders = [folder for folder in _own(config) if os.path.isdir(folder)]  # noqa: PTH112 - False below an unreadable folder
    folders = [Path(config.vault), *own_folders] if is_ours else own_folders
    open_ones = [folder for folder in folders if stat.S_IMODE(folder.stat().st_mode) & 0o077]
    for folder in open_ones:
        text = f"Other users of this machine can read {folder}."
        if _keeps_no_modes(folder):
            yield note(text, "Its disk keeps no permissions. Mount it for you alone: `-o uid=$USER,umask=077`.")
        else:
            yield warning(text, f"`chmod 700 {shlex.quote(str(folder))}`", partial(folder.chmod, 0o700))
    strangers = {folder: _not_owned(folder) for folder in folders if scope.is_whole}
    for folder, paths in strangers.items():
        if paths:
            text = f"Not owned by you: {plural.some(paths, 1)}."
            yield warning(text, f"`sudo chown -R $USER {shlex.quote(str(folder))}`")
    if not open_ones and not any(strangers.values()):
        yield fine("only you can read the vault" if is_ours else "only you can read mdmem's own files")


def _keeps_no_modes(vault: Path) -> bool:
    """Whether a vault's disk keeps no modes, such as FAT: its git directory, which git commands close, stays open."""
    git_dir = vault / ".git"
    try:
        if not git_dir.is_symlink():  # else its owner keeps it elsewhere, as open as it may be
            files.check_folder(str(git_dir))
    except files.NoModesError:
        return True
    except OSError:
        return False  # missing, or somebody else's
    return False


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (Path(folder, name) for name in (*folders, *names))


def _not_owned(root: Path) -> list[str]:
    """Return the files and folders in a folder that belong to other users, of all that can be looked at."""
    found = []
    for folder, folders, names in os.walk(root):
        for path in (f"{folder}/{name}" for name in (*folders, *names)):
            with suppress(OSError):
                if not system.own(os.lstat(path)):
                    found.append(path)
    return found


def leftovers(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Find temporary files left by killed processes."""
    every = _files(Path(config.vault)) if scope.is_whole else ()
    in_vault = [path for path in every if is_temp(path.name)]
    in_state = [path for path in Path(config.state_dir).rglob("*.tmp") if path.is_file()]
    old = [path for path in (*in_vault, *in_state) if age(path) > TEMP_SECONDS]
    with suppress(MdmemError):  # no repository, or the git check reports the problem
        old += tidy.abandoned(config)
    if old:
        text = f"{plural.number(len(old), 'temporary file')} left behind by a killed process, such as {old[0]}."
        yield warning(text, "`mdmem doctor --fix`", partial(remove, old))
