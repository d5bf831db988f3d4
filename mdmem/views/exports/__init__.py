"""Exports of notes: a page, a site of files, a database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.history import export

FORMS = {
    "zip": "zip",
    "jsonl": "jsonl",
    "html": "html",
    "htm": "html",
    "db": "sqlite",
    "sqlite": "sqlite",
    "sqlite3": "sqlite",
}
"""File ending -> format."""


def write(config: Config, target: Path, form: str, **wanted: Any) -> int:
    """Write notes to `target`, which must not exist; return their number.

    form: "zip", "jsonl", "html" or "sqlite". wanted: as `export.select` takes it.

    Raises:
        UsageError: when there is no such form, or the file exists.
        OSError: when it cannot be written.
    """
    if form not in FORMS.values():
        known = ", ".join(f".{ending}" for ending in FORMS)
        what = f"There is no format {form!r:.40}. " if form else ""
        raise UsageError(f"{what}The file's ending tells the format: {known}. `mdmem export site DIR` writes a site.")
    notes = export.select(config, **wanted)
    with export.new_file(target) as file:
        if form in export.WRITERS:
            return export.WRITERS[form](notes, file)
        if form == "sqlite":
            from mdmem.views.exports import database

            return database.write(notes, target)
        from mdmem.views.exports import articles

        return articles.write(notes, file)


def site(config: Config, target: Path, **wanted: Any) -> int:
    """Write notes as a site of files into the folder `target`; return their number. wanted: as for `write`.

    Raises:
        UsageError: when the folder is not empty.
        OSError: when it cannot be written.
    """
    from mdmem.views.exports import static_site as work

    return work.write(config, export.select(config, **wanted), target)
