"""A note's Markdown as HTML for pages that are served: their addresses, and their notion of markup."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from mdmem.views import markup
from mdmem.views.markup import NoteLinks
from mdmem.web import address

MAX_CHARS = 128 * 1024
"""Of a longer text, only this much is rendered; the page says so."""


class ServedLinks(NamedTuple):
    """The links of a note in a folder of the vault."""

    base: str

    def target(self, href: str) -> str:
        """Return the page that a link leads to, or its address outside."""
        return address.in_note(href, self.base)

    def cited(self, name: str) -> str:
        """Return the page of the note with an id."""
        return address.note(name)

    def named(self, name: str) -> str:
        """Return the address that leads to the note that a wikilink names."""
        return address.query("/go", to=name)

    def picture(self, source: str, *, by_name: bool = False) -> str:
        """Return the address of a picture of the vault."""
        if not by_name:
            return address.picture(source, self.base)
        is_picture = address.attachment_type(source).startswith("image/")
        return address.attachment(source, self.base) if is_picture else ""


class HelpLinks:
    """The links of a help page: to others, and outside. What it writes of notes are examples."""

    def target(self, href: str) -> str:
        """Return another help page, or an address outside."""
        return address.in_help(href)

    def cited(self, name: str) -> str:  # noqa: ARG002 - as `NoteLinks` has it
        """Return nothing."""
        return ""

    named = cited

    def picture(self, source: str, *, by_name: bool = False) -> str:  # noqa: ARG002
        """Return nothing."""
        return ""


def render(text: str, base: str = "", *, level: int = 3, is_help: bool = False) -> Markup:
    """Return a text as HTML that is safe to put into a page.

    base: the folder of the note, relative to the vault, from which its links lead. level: of its headings.
    is_help: it is a help page.
    """
    links: NoteLinks = HelpLinks() if is_help else ServedLinks(base)
    return Markup(markup.html(text, links, level=level, most=MAX_CHARS))  # noqa: S704 - which escapes


def marked(text: str) -> Markup:
    """Return a line of a note, its code and what was kept out of it as marks."""
    return Markup(markup.line(text))  # noqa: S704 - escaped first


def diff(text: str) -> Markup:
    """Return a patch, a line each, what goes and what comes marked by more than color."""
    return Markup(markup.diff(text))  # noqa: S704 - each line is escaped
