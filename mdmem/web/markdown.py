"""A note's Markdown as HTML for served pages, with their addresses."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from mdmem.views import markup
from mdmem.views.markup import NoteLinks
from mdmem.web import address

MAX_CHARS = 128 * 1024
"""Only this much of a text is rendered; a page says when there is more."""


class ServedLinks(NamedTuple):
    """The link targets of a note in a folder of the vault."""

    base: str

    def target(self, href: str) -> str:
        """Return the page or the outside address that a link leads to."""
        return address.in_note(href, self.base)

    def cited(self, name: str) -> str:
        """Return the page of the note with this id."""
        return address.note(name)

    def named(self, name: str) -> str:
        """Return the address that finds the note of a wikilink."""
        return address.query("/go", to=name)

    def picture(self, source: str, *, by_name: bool = False) -> str:
        """Return the address of a picture in the vault."""
        if not by_name:
            return address.picture(source, self.base)
        is_picture = address.attachment_type(source).startswith("image/")
        return address.attachment(source, self.base or ".") if is_picture else ""


class HelpLinks:
    """The link targets of a help page: other help pages and outside addresses. Its notes are only examples."""

    def target(self, href: str) -> str:
        """Return another help page, or an outside address."""
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

    base: the folder of the note, relative to the vault, for its links. level: of its headings.
    is_help: whether it is a help page.
    """
    links: NoteLinks = HelpLinks() if is_help else ServedLinks(base)
    return Markup(markup.html(text, links, level=level, most=MAX_CHARS))  # noqa: S704 - `markup` escapes


def marked(text: str) -> Markup:
    """Return a line of a note, with its code and its removed private parts marked."""
    return Markup(markup.line(text))  # noqa: S704 - escaped first


def diff(text: str) -> Markup:
    """Return a patch as lines; removed and added ones are marked by more than color."""
    return Markup(markup.diff(text))  # noqa: S704 - each line is escaped
