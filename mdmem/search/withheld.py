"""Withheld: notes that are never shown to agents, by what the index says of their front matter."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.search.index.view import View

KEY = "withheld"
"""Key of the filter for `from_project`; nobody can type it."""


def private(view: View) -> set[int]:
    """Return the private notes."""
    return {note for note in view.notes("facet", "is:local") if view.facts(note).get("private") is True}


def from_project(view: View, project: str) -> set[int]:
    """Return the notes that agents in a project are not shown.

    These are private ones, and those of other projects whose front matter keeps them on this machine.
    """
    own = view.notes("facet", f"project:{project}".lower()) if project else set[int]()
    return private(view) | (view.notes("facet", "is:local") - own)
