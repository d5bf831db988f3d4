"""Projects whose folder is gone: one of them may be the project that now lies elsewhere, or has another name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mdmem.vault import journal, note

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.project import Project

MOST = 3
_PATH = "path:"


class MovedProject(NamedTuple):
    """A project of the journal, where it was, and the page whose `identity` says what belongs to it."""

    name: str
    was: str
    page: str


def candidates(config: Config, place: Project) -> list[MovedProject]:
    """Return the projects that may be the one in `place` under an earlier path, those of the same name first.

    A project with a remote is known by that wherever it lies, and is none of them.
    """
    made = []
    for name in journal.folders(f"{config.vault}/journal"):
        page = f"journal/{name}/{journal.PROJECT_PAGE}"
        known = journal.identities(config, name)
        if any(not one.startswith(_PATH) for one in known):
            continue
        root = str(note.load(config.vault, page).meta.get("root") or "")
        folders = [one.removeprefix(_PATH) for one in known] or [root]
        if all(folder and not Path(folder).expanduser().is_dir() for folder in folders):
            made.append(MovedProject(name, folders[0], page))
    here = Path(place.root).name.lower()
    return sorted(made, key=lambda one: (Path(one.was).name.lower() != here, one.name))[:MOST]
