"""Occasion: one event being answered, with what the rules need to know about it."""

from __future__ import annotations

import time
from functools import cached_property

from mdmem import project
from mdmem.inject import injection_log
from mdmem.inject.turns import UserTurns
from mdmem.search import staged
from mdmem.search.answering import Asker
from mdmem.search.gate import Gate
from mdmem.vault import exclusions, journal, layout, people, projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.agents import Event
    from mdmem.config import Config
    from mdmem.project import Project

DISTRUST_SECONDS = 0.25
"""Part of the deadline kept for rendering and printing."""


class Occasion:
    """One event being answered, with all that the rules need.

    project: its folder's name in the journal, present or future. names: all names of the project in notes, in lower
    case. here: these names, and the code's branch. deadline: on the monotonic clock.
    """

    def __init__(self, config: Config, event: Event, now: float, deadline: float, place: Project | None = None) -> None:
        # File systems refuse a lone surrogate or a NUL.
        event.cwd = event.cwd.encode("utf-8", "replace").decode().replace("\0", "")
        self.config = config
        self.event = event
        self.now = now
        self.deadline = deadline
        self.started = time.monotonic()
        self.record = journal.Record(config, journal.session_id(event))
        self.gate = Gate(config, self.record.key)
        self.place = place or project.identify(event.cwd)
        self.project, self.names = projects.folder_and_names(config, self.place, self.gate.name)
        self.here = staged.Place(self.names, self.gate.name(self.place.branch) if self.place.branch else "")
        self.given = self.record.given()
        self.turns = UserTurns(config, self.record, event, self.gate.prompt, now)

    def is_of(self, project_name: str) -> bool:
        """Whether a note's project is this one; people write its name in any case."""
        return project_name.lower() in self.names

    def is_closed(self, folder: str) -> bool:
        """Whether another project tells nothing here, as it stays on this machine or is excluded."""
        page = projects.front_matter_of(self.config, folder)
        return exclusions.excludes_project(self.config, folder) or people.stays_here(page)

    def asker(self, *, without_session: bool, is_rendered: bool = True) -> Asker:
        """Return who asks a question here: about all projects, or only this one, as the settings say.

        is_rendered: each answer is rendered, which tells why a note is not shown to agents of this project.
        """
        is_own = self.is_of(self.project)
        is_of_all = is_own and self.config.settings.inject.other_projects
        return Asker(
            project=None if is_of_all else self.project,
            without_session=self.record.id if without_session else "",
            here=self.here,
            closed=self.closed if is_of_all else (),
            withheld_from="" if not is_own else None if is_rendered else self.project,
        )

    @cached_property
    def closed(self) -> frozenset[str]:
        """Return the names of these projects, in lower case; notes outside the journal may have a former one."""
        known = {name.lower(): name for name in layout.projects(self.config.vault)}
        closed = {name for name, folder in known.items() if name not in self.names and self.is_closed(folder)}
        pages = (projects.front_matter_of(self.config, known[name]) for name in closed)
        former_names = {str(page.get("project") or "").lower() for page in pages}
        return frozenset(closed | (former_names - known.keys() - self.names))

    def in_project(self, name: str) -> Occasion:
        """Return this occasion with the notes of another project to be looked at."""
        there = Occasion.__new__(Occasion)
        vars(there).update(vars(self))
        there.project, there.here = name, staged.Place([name], "")
        return there

    def has_seen(self, name: str) -> bool:
        """Whether this session was given a note or its line in a list."""
        return not self.given.isdisjoint((name, injection_log.listed(name)))

    @property
    def seconds_left(self) -> float:
        """Return how many seconds a search may still take."""
        return max(self.deadline - time.monotonic() - DISTRUST_SECONDS, 0.0)

    @property
    def was_compacted(self) -> bool:
        """Whether the conversation may have lost what this session said and was given."""
        return any(line[1:2] == ["compact"] for line in self.record.lines("start"))
