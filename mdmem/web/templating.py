"""Templates, and the words and shapes that they share."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from mdmem.views import wording
from mdmem.web import address, markdown

FOLDER = Path(__file__).parent
NAVIGATION = (
    ("/", "Today"),
    ("/timeline", "Timeline"),
    ("/search", "Search"),
    ("/projects", "Projects"),
    ("/injected", "Injected"),
    ("/preview", "Preview"),
    ("/review", "Review"),
    ("/health", "Health"),
    ("/help", "Help"),
)
"""The pages that every page leads to."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"address": address, "navigation": NAVIGATION, "between": wording.between, "number": wording.number}
    made.filters |= {
        "day": wording.day,
        "weekday": weekday,
        "clock": wording.clock,
        "moment": wording.date_and_time,
        "size": wording.size,
        "duration": lambda milliseconds: wording.duration(milliseconds / 1000),
        "markdown": markdown.render,
        "marked": markdown.marked,
        "diff": markdown.diff,
    }
    return made


def template(name: str) -> Template:
    """Return a template by its file's name."""
    return _environment().get_template(name)


def weekday(day: str) -> str:
    """Write a day as `Monday 14 September 2026`."""
    moment = wording.local(f"{day}T12:00:00")
    return f"{moment:%A} {moment.day} {moment:%B %Y}" if moment else day
