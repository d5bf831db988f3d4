"""Staged: hides notes that wait on a code branch from everywhere but that branch, until it is merged."""

from __future__ import annotations

from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from mdmem.config import Config
    from mdmem.search.index.view import View
    from mdmem.search.query import Query


class Place(Value):
    """Where a query comes from. projects: the project's names in notes. branch: the code's, or ""."""

    projects: Collection[str]
    branch: str

    @classmethod
    def read(cls, value: Any) -> Place | None:
        """Parse a place from JSON, as `parts` writes it; None for anything else."""
        return cls(*value) if isinstance(value, (list, tuple)) and len(value) == 2 else None

    def parts(self) -> list[Any]:
        """Return the place in a form for JSON."""
        return [list(self.projects), self.branch]


ANYWHERE = Place((), "")
"""Sees everything: for lists of all notes."""


def place(config: Config, cwd: str) -> Place:
    """Return the place of a directory: its project's names in notes, and the code's branch."""
    from mdmem import project
    from mdmem.search.gate import Gate
    from mdmem.vault import projects

    identified = project.identify(cwd)
    if not identified.branch:
        return Place((), "")
    gate = Gate(config)
    return Place(projects.folder_and_names(config, identified, gate.name)[1], gate.name(identified.branch))


def facet(branch: str) -> str:
    """Return the facet of notes that wait on a branch."""
    return f"staged:{branch}"


def hidden(view: View, here: Place | None) -> set[int]:
    """Return the notes that wait on another branch than the place's, and the pages of their sessions."""
    waiting = view.notes("facet", "is:staged") if here is not ANYWHERE else set()
    if waiting and here is not None and here.branch:
        of_project = view.with_any(f"project:{name}".lower() for name in here.projects)
        waiting -= of_project & view.notes("facet", facet(here.branch))
    if not waiting:
        return waiting
    folders = {view.folder_of[note] for note in waiting}
    return waiting | {note for note in view.notes("facet", "kind:session") if view.folder_of[note] in folders}


def folders(view: View, here: Place | None) -> frozenset[str]:
    """Return the folders with notes that are hidden from `here`."""
    return frozenset(view.folders[view.folder_of[note]] for note in hidden(view, here))


def are_asked_for(query: Query) -> bool:
    """Whether a query asks for a branch's notes or for staged notes, wherever it comes from."""
    return any(
        condition.wanted and (condition.key == "branch" or (condition.key == "is" and "staged" in condition.values))
        for condition in query.filters
    )
