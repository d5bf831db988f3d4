"""Exports of notes: a page, a site of files, a database."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from mdmem import plural
from mdmem.config import Config
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.history import export
from mdmem.history.export import Exported
from mdmem.vault import note

FORMS = {
    "zip": "zip", "jsonl": "jsonl", "html": "html", "htm": "html",
    **dict.fromkeys(("db", "sqlite", "sqlite3"), "sqlite"),
}  # fmt: skip
"""File ending -> format."""

_FULL = (errno.ENOSPC, errno.EDQUOT)


class ExportCounts(NamedTuple):
    """How much was exported.

    pages: of sessions and projects, which do not count as notes.
    private: number of notes that were left out, because they stay on this machine.
    """

    notes: int
    pages: int
    private: int = 0


def write(config: Config, target: Path, form: str, *, stdout: BinaryIO | None = None, **filters: Any) -> ExportCounts:
    """Write notes to `target`, which must not exist; return how many.

    form: "zip", "jsonl", "html" or "sqlite". stdout: written to instead. filters: as `export.select` takes them.

    Raises:
        UsageError: when there is no such form, the file exists, or a database should be written to stdout.
        NotFoundError: when no note is of the wanted project and time.
        MdmemError: when the disk of stdout is full.
        OSError: when it cannot be written.
    """
    if form not in FORMS.values():
        endings = ", ".join(f".{ending}" for ending in FORMS)
        text = f"The file's ending tells the format: {endings}. `mdmem export site DIR` writes a site."
        raise UsageError(f"There is no format {form!r:.40}. {text}" if form else text)
    if stdout is None:
        export.refuse(target)
    notes = _Counted(config, filters)
    if stdout is not None:
        try:
            _write(notes, stdout, form)
        except OSError as error:
            if error.errno in _FULL and error.filename is None:  # or it would be taken for an error of the vault's disk
                raise MdmemError(f"The output cannot be written ({error.strerror}).") from error
            raise
        return notes.counts
    with export.new_file(target) as temp:
        if form == "sqlite":
            from mdmem.views.exports import database

            database.write(notes, temp)
        else:
            with temp.open("wb") as file:
                _write(notes, file, form)
    return notes.counts


def _write(notes: Iterable[Exported], file: BinaryIO, form: str) -> None:
    if form == "sqlite":
        raise UsageError("A database needs a file: mdmem export FILE.db")
    if form in export.WRITERS:
        export.WRITERS[form](notes, file)
        return
    from mdmem.views.exports import articles

    articles.write(notes, file)


class _Counted:
    """Notes to export; `counts` is how many were read so far.

    Raises NotFoundError if none of the wanted project and time may be exported.
    """

    def __init__(self, config: Config, filters: Mapping[str, Any]) -> None:
        self.counts = ExportCounts(0, 0)
        notes = export.select(config, left_out=self._leave_out, **filters)
        first, project = list(islice(notes, 1)), filters.get("project")
        is_timed = filters.get("since") or filters.get("until")
        if not first and (project or is_timed):
            of_project = f"has project:{project:.80}" if project else "was made"
            fits = f"{of_project} in this time" if is_timed else "matches"
            if self.counts.private:
                staying = plural.number(self.counts.private, "note that stays", "notes that stay")
                fits += f", except {staying} on this machine"
            raise NotFoundError(f"No note {fits}; nothing was written.")
        self._notes = chain(first, notes)

    def __iter__(self) -> Iterator[Exported]:
        for exported in self._notes:
            is_page = _is_page(exported)
            counts = self.counts
            self.counts = counts._replace(notes=counts.notes + (not is_page), pages=counts.pages + is_page)
            yield exported

    def _leave_out(self, exported: Exported) -> None:
        self.counts = self.counts._replace(private=self.counts.private + (not _is_page(exported)))


def _is_page(exported: Exported) -> bool:
    return exported.parsed.meta.get("kind") in note.PAGES


def site(config: Config, target: Path, **filters: Any) -> ExportCounts:
    """Write notes as a site of files into the folder `target`; return how many. filters: as for `write`.

    Raises:
        UsageError: when the folder is not empty.
        NotFoundError: when no note is of the wanted project and time.
        OSError: when it cannot be written.
    """
    from mdmem.views.exports import static_site as work

    notes = _Counted(config, filters)
    work.write(config, notes, target)
    return notes.counts
