"""Check projects: two folders of the journal that belong to one repository."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mdmem import project
from mdmem.config import Config
from mdmem.health import HealthFinding, warning
from mdmem.search.gate import Gate
from mdmem.vault import journal, layout, projects, user_notes


def split(config: Config) -> Iterator[HealthFinding]:
    """Find projects whose repository got another remote, and with that another folder in the journal."""
    gate = Gate(config)
    for earlier in layout.projects(config.vault):
        meta = projects.front_matter_of(config, earlier)
        root = meta.get("root")
        if not root or not Path(str(root)).expanduser().is_dir():
            continue  # on another machine, or gone
        place = project.identify(str(Path(str(root)).expanduser()))
        later = projects.look_for(config, gate.name(journal.identity(place)))
        if later in ("", earlier) or not projects.is_earlier(meta, place, gate.name):
            continue
        text = f"{earlier} and {later} are one project, whose remote has changed: agents get only the notes of {later}."
        if earlier in map(projects.first_name, projects.identities(config, earlier)):
            todo = f"`mdmem doctor --fix` makes {journal.project_page(later)} the page of both. No note is moved."
            yield warning(text, todo, partial(_join, config, earlier, later))
        else:  # agents would not find the notes of a folder that was renamed
            yield warning(text, f"Move the folders in journal/{earlier} to journal/{later}, and its `identity`, too.")


def _join(config: Config, earlier: str, later: str) -> None:
    identities = projects.identities(config, later) + projects.identities(config, earlier)
    user_notes.set_keys(config, journal.project_page(later), {"identity": list(dict.fromkeys(identities))})
    user_notes.set_keys(config, journal.project_page(earlier), {"identity": None})
