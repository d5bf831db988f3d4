"""Archived sessions: all notes of a session in one Markdown file, found and read under their original paths.

The notes of `journal/app/2024-09-14/0800-words-00893aaf/` are in `journal/app/2024/09/14/0800-words-00893aaf.md`,
unchanged, each after a line with its name. A file at a note's own path takes precedence over the packed one.
"""

from __future__ import annotations

import os

from mdmem.vault import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MARK = b"\n<!-- mdmem:packed "
"""Start of the line before each note, and of the last line."""
_END = b"-->\n"


def can_hold(data: bytes) -> bool:
    """Whether a note can be packed: it does not contain the separator."""
    return MARK not in b"\n" + data


def render(head: bytes, notes: Iterable[tuple[str, bytes]]) -> bytes:
    """Return an archive: its head, then these notes by name."""
    return b"".join([head, *(b"%b%b -->\n%b" % (MARK, name.encode(), data) for name, data in notes), MARK, _END])


def parse(data: bytes) -> dict[str, bytes]:
    """Return an archive's notes by name; {} for any other file. Sections without a name are left out."""
    data = unix_lines(data)
    return {name: text for name, text in map(_read, data.split(MARK)[1:]) if name}


def without_notes(data: bytes) -> bytes:
    """Return an archive without the notes that `parse` returns: its head, and what somebody wrote there."""
    head, *sections = unix_lines(data).split(MARK)
    names = [_read(section)[0] for section in sections]
    own_sections = [section for at, section in enumerate(sections) if not names[at] or names[at] in names[at + 1 :]]
    return head + b"".join(
        section.removeprefix(_END) if section.startswith(_END) else MARK + section for section in own_sections
    )


def unix_lines(data: bytes) -> bytes:
    """Return an archive with the line endings that it had before an editor or git changed all of them to CRLF."""
    return data.replace(b"\r\n", b"\n") if MARK + _END[:-1] + b"\r\n" in data else data


def is_cut_off(data: bytes) -> bool:
    """Whether an archive has lost its end, and so notes."""
    is_archive = MARK in data or b"\nkind: archive\n" in data[:_HEAD_BYTES]
    return is_archive and MARK + _END not in unix_lines(data)


_HEAD_BYTES = 4096


def _read(section: bytes) -> tuple[str, bytes]:
    """Return name and text of a section; the name is "" when it is not a note."""
    line, _, text = section.partition(b"\n")
    name = line.removesuffix(b" -->").decode("utf-8", "replace")
    part, _, file_name = name.rpartition("/")
    is_plain = file_name.endswith(".md") and not file_name.startswith(".") and (not part or layout.is_part(part))
    return (name if line.endswith(b" -->") and is_plain else ""), text


_last: list[tuple[tuple[str, str, int, int, int], dict[str, bytes]]] = []


def load(root: str, path: str, read: Callable[[str, str], bytes | None]) -> dict[str, bytes]:
    """Parse the archive at a vault path; {} if it is not one. The last result is cached.

    read: reads a file of the vault.
    """
    if not layout.archived_in(path):
        return {}
    try:
        state = os.lstat(os.path.join(root, path))
    except (OSError, ValueError):
        return {}
    key = (root, path, state.st_mtime_ns, state.st_size, state.st_ino)
    if not _last or _last[0][0] != key:
        _last[:] = [(key, parse(read(root, path) or b""))]
    return _last[0][1]


def without_file(root: str, path: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the paths of an archive's notes that have no file of their own."""
    folder = layout.archived_in(path)
    is_there = os.path.isdir(os.path.join(root, folder))
    for name in names:
        if not (is_there and os.path.lexists(os.path.join(root, folder, name))):
            yield f"{folder}/{name}"
