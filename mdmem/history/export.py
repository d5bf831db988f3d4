"""Taking memory elsewhere: notes as an archive, as lines of JSON or as a page; the whole history as one file."""

from __future__ import annotations

import html
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mdmem import note, vault
from mdmem.config import Config
from mdmem.errors import GitError, UsageError
from mdmem.history import commit, join, repository, writer

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


def export(config: Config, target: Path, form: str, *, project: str = "", since: str = "") -> int:
    """Write notes to `target`, which must not exist; give their number.

    form: "zip", "jsonl" or "html". since: ISO 8601, UTC; only what was created then or later.

    Raises:
        UsageError: when there is no such form, or the file exists.
        OSError: when it cannot be written.
    """
    if form not in WRITERS:
        raise UsageError(f"There is no format {form!r}. Formats: {', '.join(WRITERS)}.")
    notes = list(select(config, project=project, since=since))
    try:
        with target.open("xb") as file:
            WRITERS[form](notes, file)
    except FileExistsError:
        raise UsageError(f"{target} exists already; nothing was written.") from None
    return len(notes)


def select(config: Config, *, project: str = "", since: str = "") -> Iterator[Exported]:
    """Give the notes of a vault, in the order of their paths, but for what ghosts and agents keep to themselves."""
    for path in sorted(entry.path for entry in vault.walk(config.vault)):
        data = vault.read_path(config.vault, path)
        if data is None:
            continue
        parsed = note.parse(data)
        if note.is_internal(path, parsed.meta.get("kind")):
            continue
        if project and str(parsed.meta.get("project", "")) != project:
            continue
        if since and str(parsed.meta.get("created", "")) < since:
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
        raise UsageError(f"{target} exists already; nothing was written.")
    repo = repository.open_vault(config.vault)
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
    missing = sorted(entry.path for entry in vault.walk(config.vault) if entry.path not in committed)
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


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>mdmem</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
  color-scheme: light dark; }}
article {{ border-top: 1px solid #8884; padding: .5rem 0; }}
h3 {{ margin: .5rem 0 0; }}
small {{ color: #888; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.45 ui-monospace, monospace; }}
</style>
<h1>{count} notes</h1>
{days}</html>
"""


def _html(notes: Iterable[Exported], file: BinaryIO) -> None:
    days: dict[str, list[str]] = {}
    count = 0
    for one in sorted(notes, key=lambda one: (str(one.parsed.meta.get("created", "")), one.path)):
        count += 1
        days.setdefault(str(one.parsed.meta.get("created", ""))[:10] or "No date", []).append(_article(one))
    parts = [f"<h2>{html.escape(day)}</h2>\n{''.join(articles)}" for day, articles in days.items()]
    file.write(PAGE.format(count=count, days="".join(parts)).encode("utf-8", "replace"))


def _article(one: Exported) -> str:
    meta = one.parsed.meta
    facts = [str(meta[key]) for key in ("created", "project", "kind", "tool") if meta.get(key)]
    return (
        f"<article><h3>{html.escape(str(meta.get('title') or one.path))}</h3>\n"
        f"<small>{html.escape(' · '.join([*facts, one.path]))}</small>\n"
        f"<pre>{html.escape(one.parsed.body)}</pre></article>\n"
    )


WRITERS: dict[str, Callable[[Iterable[Exported], BinaryIO], None]] = {"zip": _zip, "jsonl": _jsonl, "html": _html}
