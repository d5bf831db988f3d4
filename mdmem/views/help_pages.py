"""The help pages that come with mdmem: one Markdown file per topic, whose first line is `# Title`."""

from __future__ import annotations

import difflib
from pathlib import Path

import mdmem
from mdmem.errors import NotFoundError

FOLDER = Path(mdmem.__file__).parent / "help"


def topics() -> dict[str, str]:
    """Return each topic and the title of its page, in alphabetical order."""
    return {path.stem: _title(path) for path in sorted(FOLDER.glob("*.md"))}


def page(topic: str) -> str:
    """Return the Markdown of a topic's page.

    Raises NotFoundError when there is no such page; the message names the nearest.
    """
    pages = topics()
    if topic not in pages:
        similar = difflib.get_close_matches(topic, pages, 1)
        tip = f"Did you mean `mdmem help {similar[0]}`?" if similar else "`mdmem help` lists the topics."
        raise NotFoundError(f"There is no help page {topic!r:.40}. {tip}")
    return (FOLDER / f"{topic}.md").read_text(encoding="utf-8")


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()
