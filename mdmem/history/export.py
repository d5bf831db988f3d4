"""Export memory: notes as a zip archive or JSON lines, the whole history as a git bundle."""

from __future__ import annotations

import json
import os
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mdmem import files, privacy, system
from mdmem.config import Config
from mdmem.errors import GitError, UsageError
from mdmem.history import commit, private
from mdmem.history.git import checked_out, objects, repository
from mdmem.progress import ProgressCallback, ignore, reporting
from mdmem.vault import creation, disk, layout, note, people

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""Zip archives hold no earlier time. With one time for all notes, equal notes give equal archives."""


class Exported(NamedTuple):
    """A note to export: its path in the vault, its bytes, its parsed form.

    facts: its id, kind, title, created and project, also if its front matter lacks them, as `creation.described` does.
    """

    path: str
    data: bytes
    parsed: note.Parsed
    facts: Mapping[str, str] = {}


class Backup(NamedTuple):
    """A verified bundle of the whole history. missing: notes that are not committed, so not in it."""

    path: Path
    bytes: int
    commits: int
    missing: list[str]


def refuse(target: Path) -> None:
    """Raise UsageError when no new file can be made here: it exists, or its folder does not."""
    if os.path.lexists(target):
        raise UsageError(f"{target} already exists; nothing was written. Choose another name, or delete it first.")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {target.absolute().parent}; nothing was written. Make it first.")


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Make a file for the `with` block, which fills it; it gets the name `target` when that is done.

    So a run that is killed leaves no part of a file that looks like all of it.

    Raises:
        UsageError: as `refuse`.
        OSError: when it cannot be written.
    """
    refuse(target)
    parent = system.open_folder(str(target.absolute().parent))
    temp = Path(parent.path, f".mdmem-{time.time_ns():x}-{os.getpid()}.tmp")
    try:
        os.close(files.opener(str(temp), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        yield temp
        with temp.open("rb+") as file:
            system.sync(file.fileno())
        if not parent.publish(temp.name, target.name):
            refuse(target)
    except OSError as error:
        if error.errno and error.filename in (None, str(temp)):
            error.filename = str(target)  # or it would be taken for an error of the vault's disk
        raise
    finally:
        temp.unlink(missing_ok=True)
        parent.close()


def select(
    config: Config,
    *,
    project: str = "",
    since: str = "",
    until: str = "",
    local: bool = False,
    left_out: Callable[[Exported], None] = lambda _: None,
    report: ProgressCallback = ignore,
) -> Iterator[Exported]:
    """Yield the vault's notes, cleaned, by path; without those that stay here and memories of ghosts and agents.

    since, until: ISO 8601 in UTC, compared with when a note was created; until is exclusive.
    local: whether `sync: false` is no reason to leave a note out; `private: true` always is.
    left_out: called with each note of the wanted project and time that stays on this machine.
    report: progress callback.

    Raises VaultError when a project's page cannot be read.
    """
    rules = privacy.Rules.of(config.settings)
    keeps = people.keeps_private if local else people.stays_here
    private_projects = private.projects(config.vault, keeps)
    paths = sorted(entry.path for entry in disk.walk(config.vault))
    renamed: list[Exported] = []  # cleaning a private name changes its place in the order
    for path in reporting(paths, "Writing", report):
        stored = _read(config, path)
        if stored is None:
            continue
        exported = _cleaned(config, rules, stored)
        if project.lower() not in ("", exported.facts["project"].lower()):
            continue
        created = exported.facts["created"]
        if (since and created < since) or (until and created >= until):
            continue
        meta = stored.parsed.meta
        is_kept = keeps(meta) or people.is_unchecked(stored.parsed)
        if is_kept or private.belongs(layout.project_named(path, meta), private_projects):
            left_out(exported)
        elif exported.path == path:
            yield exported
        else:
            renamed.append(exported)
    yield from sorted(renamed, key=lambda exported: exported.path)


def _read(config: Config, path: str) -> Exported | None:
    """Read a note as it is stored; None when it is internal or missing."""
    data = disk.read_path(config.vault, path)
    if data is None:
        return None
    parsed = note.parse(data)
    return None if note.is_internal(path, parsed.meta.get("kind")) else Exported(path, data, parsed)


def _cleaned(config: Config, rules: privacy.Rules, stored: Exported) -> Exported:
    """Return a note as others may read it."""
    if people.is_captured(stored.parsed):
        return stored._replace(facts=creation.described(config.vault, stored.path, stored.parsed))
    path = people.clean_path(rules, stored.path, stored.data)  # by what the note says before that is taken out
    text = people.clean_text(config.vault, stored.data.decode("utf-8", "replace"))
    data = text.encode("utf-8", "replace")
    parsed = note.parse(data)
    facts = creation.described(config.vault, path, parsed)
    if path != stored.path and not facts["created"]:  # no file has the cleaned name
        facts["created"] = creation.described(config.vault, stored.path, parsed)["created"]
    return Exported(path, data, parsed, facts)


def backup(config: Config, target: Path) -> Backup:
    """Commit, write all refs with their history into one git bundle, and have git verify it.

    `git clone FILE` restores it.

    Raises:
        UsageError: when the file exists, or its folder does not.
        VaultError, BusyError, GitError: as `commit.commit`. GitError also when git cannot verify the bundle, which is
            then removed, and for a shallow clone: git verifies its bundle, but cannot clone it.
    """
    target = target.absolute()
    refuse(target)
    commit.commit(config)
    repo = objects.complete(repository.open_vault(config.vault))
    head = checked_out.tip(repo)
    if not head:
        raise GitError("The vault has no commit yet, so there is nothing to back up.")
    objects.refuse_shallow(repo, "and a backup without them cannot be restored")
    with new_file(target) as temp:
        umask = os.umask(0o077)  # git replaces the file by one of its own
        try:
            repository.run(repo, "bundle", "create", "--quiet", str(temp), "--all")
        finally:
            os.umask(umask)
        repository.run(repo, "bundle", "verify", "--quiet", str(temp))
    committed = {path for _, _, path in objects.listed(repo, head)}
    missing = sorted(entry.path for entry in disk.walk(config.vault, packed=False) if entry.path not in committed)
    count = int(repository.run(repo, "rev-list", "--count", "--all"))
    return Backup(target, target.stat().st_size, count, missing)


def _zip(notes: Iterable[Exported], file: BinaryIO) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for exported in notes:
            name = exported.path.encode("utf-8", "replace").decode("utf-8")
            archive.writestr(zipfile.ZipInfo(name, EARLIEST), exported.data, zipfile.ZIP_DEFLATED)


def _jsonl(notes: Iterable[Exported], file: BinaryIO) -> None:
    for exported in notes:
        said = {key: value for key, value in exported.parsed.meta.items() if value is not None}
        row = {**exported.parsed.meta, **exported.facts, **said, "path": exported.path, "body": exported.parsed.body}
        file.write(json.dumps(row, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n")


WRITERS: dict[str, Callable[[Iterable[Exported], BinaryIO], None]] = {"zip": _zip, "jsonl": _jsonl}
