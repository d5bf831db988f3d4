"""A note's Markdown as HTML for pages without a server, and where notes lie among them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from mdmem.vault import links
from mdmem.views import markup

MAX_CHARS = 64 * 1024
"""Of a longer text, only this much is shown."""


class Places(NamedTuple):
    """Where notes lie among the pages: each by its path without ending, by its file's name, and by its id.

    A value is a path with slashes and perhaps an anchor, from the top of the pages. picture: returns such a path for
    a picture, by its address in a note, the folder of the note, and whether it may be a mere name; "" for none.
    """

    by_path: dict[str, str]
    by_name: dict[str, str]
    by_id: dict[str, str]
    picture: Callable[[str, str, bool], str] = lambda *_: ""


NOWHERE = Places({}, {}, {})


class FileLinks(NamedTuple):
    """The links of a note on a page. folder: of the note, vault-relative. page: from the top of the pages."""

    places: Places
    folder: str
    page: str

    def target(self, href: str) -> str:
        """Return the relative address of the page that a link leads to, or its address outside."""
        to = markup.outside(href)
        try:
            parts = urlsplit(href)
        except ValueError:
            return ""
        if to or parts.scheme or parts.netloc or not parts.path:
            return to
        path = posixpath.normpath(posixpath.join(self.folder, unquote(parts.path)))
        return self._to(self.places.by_path.get(links.stem(path.lower())))

    def cited(self, name: str) -> str:
        """Return the relative address of the note with an id."""
        return self._to(self.places.by_id.get(name))

    def named(self, name: str) -> str:
        """Return the relative address of what a wikilink names."""
        stem = links.stem(name.partition("#")[0].strip().lower())
        return self._to(self.places.by_name.get(stem) or self.places.by_path.get(stem))

    def picture(self, source: str, *, by_name: bool = False) -> str:
        """Return the relative address of a picture beside the pages; "" where its words have to stand for it."""
        return self._to(self.places.picture(source, self.folder, by_name))

    def _to(self, place: str | None) -> str:
        return relative(place, self.page) if place else ""


def html(text: str, places: Places = NOWHERE, folder: str = "", page: str = "") -> str:
    """Return a text as HTML.

    folder: of the note, vault-relative, from which its links lead. page: the path of the page it stands on.
    """
    return markup.html(text, FileLinks(places, folder, page), most=MAX_CHARS)


def relative(place: str, page: str) -> str:
    """Return the address of a place for a link on a page, both from the top of the pages."""
    path, _, anchor = place.partition("#")
    address = quote(posixpath.relpath(path, posixpath.dirname(page) or ".")) if path != page or not anchor else ""
    return f"{address}#{quote(anchor)}" if anchor else address
