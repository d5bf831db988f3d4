"""Addresses of pages, and the rules for which addresses in a note become links."""

from __future__ import annotations

import os
import posixpath
import re
from urllib.parse import quote, unquote, urlencode

from mdmem.vault import attachments, is_in_journal, journal
from mdmem.views import markup

_PLAIN_ID = re.compile(r"[0-9A-Za-z_-]{3,64}")
_ATTACHMENTS = {
    **attachments.PICTURES, "svg": "image/svg+xml", "pdf": "application/pdf", "csv": "text/csv",
    "txt": "text/plain", "json": "application/json", "zip": "application/zip", "mp3": "audio/mpeg", "mp4": "video/mp4",
}  # fmt: skip
"""File ending -> type, for the files that a note may show or link to."""


def note(name: str, path: str = "") -> str:
    """Return the address of a note's page: by its id if that is plain, else by its path."""
    return f"/note/{quoted(name if _PLAIN_ID.fullmatch(name) or not path else path)}"


def quoted(path: str) -> str:
    """Return a path quoted for an address; bytes of a file name that are not text are kept as bytes."""
    return quote(os.fsencode(path), safe="/")


def session(name: str, turn: int = 0) -> str:
    """Return the address of a session's page, or of one turn on it."""
    page = f"/session/{quote(name, safe='')}"
    return f"{query(page, turn=turn)}#turn-{turn}" if turn else page


def attachment_type(path: str) -> str:
    """Return the type of a file that a note may show or link to; "" for others."""
    return _ATTACHMENTS.get(path.rpartition(".")[2].lower(), "") if "." in path else ""


def attachment(path: str, base: str = "") -> str:
    """Return the address of an attachment. base: the folder of its note, if it is named as in a wikilink."""
    return query(f"/attachment/{quoted(path)}", **({"from": base} if base else {}))


def picture(target: str, base: str) -> str:
    """Return the address of a picture in the vault, linked from a note in `base`; "" if it is not a picture."""
    to = in_note(target, base)
    return to if to.startswith("/attachment/") and attachment_type(to).startswith("image/") else ""


def project(name: str) -> str:
    """Return the address of a project's page."""
    return f"/project/{quote(name, safe='')}"


def file(path: str, project_name: str = "") -> str:
    """Return the address of a code file's page."""
    return query("/file", path=path, project=project_name)


def search(words: str, **filters: str) -> str:
    """Return the address of the search page."""
    return query("/search", q=words, **filters)


def query(page: str, /, **values: str | int) -> str:
    """Return a page's address with the values that are not empty."""
    present = {name: str(value) for name, value in values.items() if value not in ("", 0)}
    return f"{page}?{urlencode(present)}" if present else page


def local(to: str) -> str:
    """Return the address if it is a page of ours; anything that could lead to another site becomes "/"."""
    parts = markup.split(to)
    is_local_path = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() and "\\" not in to
    return to if is_local_path and not parts.scheme and not parts.netloc else "/"


def in_note(target: str, base: str) -> str:
    """Return the target of a link in a note: a page of ours, a safe outside address, or "" for no link.

    base: the folder of the note, relative to the vault.
    """
    parts = markup.split(target)
    if parts.scheme:
        return markup.outside(target)
    if target.startswith(("//", "\\")) or not parts.path:
        return target if target.startswith("#") and target[1:].replace("-", "").isalnum() else ""
    path = posixpath.normpath(posixpath.join(base, unquote(parts.path)))
    if path.startswith(("/", "..")):
        return ""
    if not path.endswith((".md", ".markdown")):
        # Notes in the journal were captured: their links mean files of a project.
        return attachment(path) if attachment_type(path) and not is_in_journal(path) else ""
    folder, _, name = path.rpartition("/")
    if journal.is_page(path):
        return session(folder.rpartition("-")[2])
    note_id = name.rpartition(".")[0].rpartition("-")[2]
    return note(note_id) if is_in_journal(folder) and len(note_id) == 10 and note_id.isalnum() else note(path)


def in_help(target: str) -> str:
    """Return the target of a link in a help page: another help page, or a safe outside address."""
    name, dot, _ = target.partition(".md")
    if dot and re.fullmatch(r"[\w-]+", name):
        return f"/help/{name}"
    return markup.outside(target)
