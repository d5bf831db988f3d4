"""Help: the pages that `mdmem help` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mdmem
from mdmem.errors import NotFoundError
from mdmem.web import markdown

if TYPE_CHECKING:
    from starlette.responses import Response

    from mdmem.web.site import PageRequest

FOLDER = Path(mdmem.__file__).parent / "help"


def topics() -> dict[str, str]:
    """Return the topics with their titles."""
    made = {}
    for path in sorted(FOLDER.glob("*.md")):
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        made[path.stem] = first.removeprefix("#").strip() or path.stem
    return made


def index(request: PageRequest) -> Response:
    """List the help pages, and the keys of these pages."""
    return request.page("help", topics=topics(), topic="", html="")


def topic(request: PageRequest) -> Response:
    """Show one help page.

    Raises:
        NotFoundError: when there is no such topic.
    """
    name = request.parts["name"]
    known = topics()
    if name not in known:
        raise NotFoundError(f"There is no help about {name!r:.40}. Topics: {', '.join(known) or 'none'}.")
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    html = markdown.render(text.partition("\n")[2], level=2, is_help=True)
    return request.page("help", topics=known, topic=name, html=html)
