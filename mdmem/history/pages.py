"""The page of a session of which notes go, or stay on one machine: it names them no longer, by link or by title."""

from __future__ import annotations

import re
from collections.abc import Collection

from mdmem import header, note, vault
from mdmem.errors import UsageError, VaultError
from mdmem.history import private
from mdmem.journal import PAGE, PAGE_MARKS


def without(root: str, path: str, data: bytes, names: Collection[str], marker: str) -> bytes:
    """Give a page that names no notes with these file names: `marker` stands where a link to one was."""
    return retitled(root, path, _unlinked(data, names, marker), _titles(root, path, names))


def retitled(root: str, path: str, data: bytes, titles: Collection[str]) -> bytes:
    """Give a page another title where it has one of these, which is that of a prompt that is not to be named."""
    meta = note.parse(data).meta
    old = str(meta.get("title") or "")
    if not old or old not in titles:
        return data
    new = _first_title(root, path, titles) or f"Session of {str(meta.get('created', ''))[:10]}"
    try:
        changed = header.set_keys(data, {"title": new})
    except UsageError:
        return data  # its owner has made it another thing
    heading = re.compile(rb"(?m)^# %b(?=\r?$)" % re.escape(old.encode("utf-8", "surrogateescape")))
    return heading.sub(lambda _: b"# " + new.encode(), changed, count=1)


def links(names: Collection[str]) -> re.Pattern[bytes]:
    """Match the links of pages to notes with these file names; with none of them, nothing."""
    if not names:
        return re.compile(rb"(?!)")
    listed = b"|".join(re.escape(name.encode("utf-8", "surrogateescape")) for name in sorted(names))
    return re.compile(rb"\[(?:\\.|[^\]\\\n])*\]\(<?(?:%b)>?\)" % listed)


def is_worded(data: bytes) -> bool:
    """Say whether a person has written below what is kept up to date, or made the page their own altogether."""
    _, kept, own = data.decode("utf-8", "replace").partition(PAGE_MARKS[1])
    return not kept or any(line.strip() and not line.startswith("#") for line in own.split("\n"))


def _unlinked(data: bytes, names: Collection[str], marker: str) -> bytes:
    """Put the marker in the place of links, where the page is kept up to date; the rest is a person's."""
    begin, end = (data.find(mark.encode()) for mark in PAGE_MARKS)
    if not names or begin < 0 or end < begin:
        return data
    return data[:begin] + links(names).sub(lambda _: marker.encode(), data[begin:end]) + data[end:]


def _titles(root: str, path: str, names: Collection[str]) -> set[str]:
    folder = path.removesuffix(PAGE)
    read = (note.parse(vault.read_path(root, folder + name) or b"").meta for name in names if _is_prompt(name))
    return {str(meta.get("title", "")) for meta in read}


def _first_title(root: str, path: str, unwanted: Collection[str]) -> str:
    """Give the title of the first prompt of the session that may be named."""
    try:
        with vault.open_folder(root, tuple(path.split("/")[:-1])) as folder:
            for name in sorted(filter(_is_prompt, folder.names())):
                meta = note.parse(vault.read(folder, name) or b"").meta
                title = str(meta.get("title", ""))
                if title not in unwanted and not private.says_so(meta):
                    return title
    except (OSError, VaultError):
        pass
    return ""


def _is_prompt(name: str) -> bool:
    return "-prompt-" in name
