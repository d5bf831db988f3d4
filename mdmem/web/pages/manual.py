"""Help: the pages of `mdmem help`."""

from __future__ import annotations

from starlette.responses import Response

from mdmem.views import help_pages
from mdmem.web import markdown
from mdmem.web.site import PageRequest


def index(request: PageRequest) -> Response:
    """List the help pages and the keyboard shortcuts."""
    return request.page("help", topics=help_pages.topics(), topic="", html="")


def topic(request: PageRequest) -> Response:
    """Show one help page."""
    name = request.parts["name"]
    html = markdown.render(help_pages.page(name).partition("\n")[2], level=2, is_help=True)
    return request.page("help", topics=help_pages.topics(), topic=name, html=html)
