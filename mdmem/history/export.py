"""Taking memory elsewhere: notes as an archive or as lines of JSON; the whole history as one file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mdmem import privacy, timestamps
from mdmem.config import Config
from mdmem.errors import GitError, UsageError
from mdmem.history import commit
from mdmem.history.git import objects, repository, writer
from mdmem.history.merging import join
from mdmem.vault import disk, note, people

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""Archives hold no time before this; with one and the same time for all, the same notes give the same archive."""


class Exported(NamedTuple):
    """A note on its way out: its path in the vault, its bytes and what they say."""

    path: str
    data: bytes
    parsed: note.Parsed


class Backup(NamedTuple):
    """A verified bundle of the whole history. missing: notes that are in no commit, and so not in it."""

    path: Path
    bytes: int
    commits: int
    missing: list[str]


def export(config: Config, target: Path, form: str, *, project: str = "", since: str = "", until: str = "") -> int:
    """Write notes to `target`, which must not exist; give their number.

    form: "zip" or "jsonl". since, until: ISO 8601, UTC; only what was created from the one until before the other.

    Raises:
        UsageError: when there is no such form, or the file exists.
        OSError: when it cannot be written.
    """
    if form not in WRITERS:
        raise UsageError(f"There is no format {form!r}. Formats: {', '.join(WRITERS)}.")
    notes = list(select(config, project=project, since=since, until=until))
    try:
        with target.open("xb") as file:
            WRITERS[form](notes, file)
    except FileExistsError:
        raise UsageError(f"{target} already exists; nothing was written.") from None
    return len(notes)


def select(config: Config, *, project: str = "", since: str = "", until: str = "") -> Iterator[Exported]:
    """Yield the notes of a vault by path, cleaned; not private notes, nor what ghosts and agents keep to themselves."""
    rules = privacy.Rules.of(config.settings)
    for path in sorted(entry.path for entry in disk.walk(config.vault)):
        data = disk.read_path(config.vault, path)
        if data is None:
            continue
        parsed = note.parse(data)
        if note.is_internal(path, parsed.meta.get("kind")) or people.keeps_private(parsed.meta):
            continue
        if not people.is_captured(parsed):
            data = people.shown(config.vault, data.decode("utf-8", "replace")).encode("utf-8", "replace")
            parsed, path = note.parse(data), people.clean_path(rules, path)
        if project and str(parsed.meta.get("project", "")) != project:
            continue
        created = timestamps.utc(str(parsed.meta.get("created", "")))
        if (since and created < since) or (until and created >= until):
            continue
        yield Exported(path, data, parsed)


def backup(config: Config, target: Path) -> Backup:
    """Commit, write every commit of every branch into one file (a git bundle), and have git verify it.

    It is restored with `git clone FILE`.

    Raises:
        UsageError: when the file exists.
        VaultError, BusyError, GitError: as `commit.commit`; a bundle that git does not verify is removed.
    """
    commit.commit(config)
    target = target.absolute()
    if target.exists():
        raise UsageError(f"{target} already exists; nothing was written.")
    repo = objects.complete(repository.open_vault(config.vault))
    head = writer.tip(repo, repository.branch(repo))
    if not head:
        raise GitError("The vault has no commit yet, so there is nothing to back up.")
    try:
        repository.run(repo, "bundle", "create", "--quiet", str(target), "--all")
        repository.run(repo, "bundle", "verify", "--quiet", str(target))
    except GitError:
        target.unlink(missing_ok=True)
        raise
    target.chmod(0o600)
    committed = join.tree(repo, head)[0]
    missing = sorted(entry.path for entry in disk.walk(config.vault, packed=False) if entry.path not in committed)
    count = int(repository.run(repo, "rev-list", "--count", "--all"))
    return Backup(target, target.stat().st_size, count, missing)


def _zip(notes: Iterable[Exported], file: BinaryIO) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in notes:
            name = one.path.encode("utf-8", "replace").decode("utf-8")
            archive.writestr(zipfile.ZipInfo(name, EARLIEST), one.data, zipfile.ZIP_DEFLATED)


def _jsonl(notes: Iterable[Exported], file: BinaryIO) -> None:
    for one in notes:
        row = {**one.parsed.meta, "path": one.path, "body": one.parsed.body}
        file.write(json.dumps(row, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n")


WRITERS: dict[str, Callable[[Iterable[Exported], BinaryIO], None]] = {"zip": _zip, "jsonl": _jsonl}
