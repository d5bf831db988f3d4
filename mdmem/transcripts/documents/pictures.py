"""Pictures: which files beside a note it shows, by any notation of Markdown."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from mdmem.transcripts.saved import Skipped
from mdmem.vault import attachments, disk, links

_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]{1,200}\]:[ \t]*(?:<([^<>\n]{1,500})>|(\S{1,500}))", re.MULTILINE)
_IMAGE = re.compile(r"<img\b[^<>]{0,500}?\bsrc[ \t]*=[ \t]*(?:\"([^\"\n]{1,500})\"|'([^'\n]{1,500})')", re.IGNORECASE)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|/", re.IGNORECASE)


def _shown(body: str) -> Iterator[links.WrittenLink]:
    """Yield what `![alt][name]` shows by its definition, and `<img src="…">`; code is skipped."""
    if "]:" not in body and "<img" not in body.lower():
        return
    plain = "\n".join(links.without_code(body))
    for match in chain(_DEFINITION.finditer(plain), _IMAGE.finditer(plain)):
        target = unquote((match[1] or match[2]).partition("#")[0])
        if target and not _ELSEWHERE.match(target):
            yield links.WrittenLink(target, "markdown", 0)


class LinkedPictures:
    """The pictures below a folder of markdown, as links in its notes name them; none that is hidden or outside."""

    def __init__(self, root: Path, *, whole: bool) -> None:
        """whole: look for a name below the whole folder, not only where the link says."""
        self._root = root.resolve()
        self._by_name: dict[str, list[str]] | None = None if whole else {}

    def of(self, body: str, folder: str, skipped: Skipped) -> Iterator[str]:
        """Yield the paths of the pictures that a text in `folder` links to; other linked files are counted.

        A wikilink names a picture by its path, or by its name wherever it is, the shortest path first.
        """
        for link in chain(links.written(body), _shown(body)):
            suffix = posixpath.splitext(link.target)[1].lower()
            if not suffix or suffix in disk.NOTE_ENDINGS or link.how == "id":
                continue
            places = [posixpath.normpath(posixpath.join(folder, link.target))]
            is_picture = suffix[1:] in attachments.PICTURES
            if link.how == "wiki":
                places.append(posixpath.normpath(link.target))
                places += self._alike(link.target.lower()) if is_picture else ()
            found = next((place for place in places if self._has(place)), "")
            if found and is_picture:
                yield found
            elif found:
                skipped["linked file that is neither a note nor a picture"] += 1

    def _has(self, place: str) -> bool:
        if f"/{place}".count("/."):
            return False
        try:
            path = (self._root / place).resolve()
            return path.is_relative_to(self._root) and path.is_file()
        except (OSError, RuntimeError, ValueError):  # links in a circle, or a name that no file can have
            return False

    def _alike(self, end: str) -> list[str]:
        """Return the pictures whose paths end so in lower case, the shortest path first."""
        if self._by_name is None:
            self._by_name = {}
            for folder, folders, names in os.walk(self._root):
                folders[:] = [name for name in folders if name[0] != "."]
                for name in names:
                    place = Path(folder, name).relative_to(self._root).as_posix()
                    self._by_name.setdefault(name.lower(), []).append(place)
        named = self._by_name.get(posixpath.basename(end), [])
        alike = (path for path in named if end in links.endings(path.lower()))
        return sorted(alike, key=lambda path: (path.count("/"), path))
