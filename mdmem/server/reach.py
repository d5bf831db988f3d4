"""Reach: what one request may see, and whose request it is. Read anew for each request."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mdmem import config, journal, note, project
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.history import private
from mdmem.recall.gate import Gate
from mdmem.recall.staged import Place
from mdmem.server.internal import context
from mdmem.server.internal.context import Context

PROJECT_HEADER = "X-Project"
"""Over HTTP: the journal's name of the project that is worked in."""


class Reach(NamedTuple):
    """One request's place in the vault.

    project: the journal's name of the project that is worked in, "" when that is not known.
    hidden: projects that stay at home, so that no other project is told of them.
    here: the project that is worked in and the code's branch; what waits on another branch is not found.
    internal: whose internal memories are meant, or why that cannot be told.
    """

    config: Config
    gate: Gate
    project: str
    hidden: frozenset[str]
    here: Place
    internal: Context | str

    def context(self) -> Context:
        """Give whose internal memories are meant.

        Raises:
            UsageError: when the connection does not say, or says it wrongly.
        """
        if isinstance(self.internal, str):
            raise UsageError(self.internal)
        return self.internal

    def sees(self, path: str, meta: Mapping[str, Any]) -> bool:
        """Say whether a note may be shown: nobody's internal memory, and no other project's private note."""
        if note.is_internal(path, meta.get("kind")):
            return False
        owner = path.split("/")[1] if path.startswith("journal/") else str(meta.get("project", ""))
        if self.project and owner == self.project:
            return True
        return not (owner in self.hidden or private.says_so(meta))


def on_stdio(vault: str | None, env: Mapping[str, str], cwd: str) -> Reach:
    """Give the reach of a process that an agent started in a project's folder."""
    settings = config.load(vault, env)
    place = project.identify(env.get("CLAUDE_PROJECT_DIR") or cwd)
    gate = Gate(settings)
    name = journal.find_project(settings, gate.name(journal.identity(place))) or gate.name(place.name)
    branch = gate.name(place.branch) if place.branch else ""
    return _reach(settings, gate, name, lambda: context.from_env(env), branch)


def over_http(vault: str | None, headers: Any) -> Reach:
    """Give the reach of an HTTP request, by its headers alone (starlette's)."""
    settings = config.load(vault, os.environ)
    named = context.header(headers, PROJECT_HEADER)
    name = named[0].strip() if len(named) == 1 else ""
    return _reach(settings, Gate(settings), name, lambda: context.from_headers(headers))


def in_python(vault: str | None = None, *, project: str = "", **extras: Any) -> Reach:
    """Give the reach of a program that calls the tools' functions itself.

    extras: whose internal memories are meant, as `context.read` takes it: `internal_context`, a `Context` or a
        mapping; or its values, such as internal_type="ghost", ghost_type="user", ghost_owner="alice".
    """
    settings = config.load(vault, os.environ)
    return _reach(settings, Gate(settings), project, lambda: context.read(extras))


def _reach(settings: Config, gate: Gate, name: str, read: Callable[[], Context], branch: str = "") -> Reach:
    try:
        internal: Context | str = read()
    except UsageError as error:
        internal = str(error)
    return Reach(settings, gate, name, _at_home(settings.vault) - {name}, Place([name], branch), internal)


_homes: dict[str, tuple[list[tuple[str, int, int]], frozenset[str]]] = {}


def _at_home(root: str) -> frozenset[str]:
    """Name the projects that stay on this machine; their pages are read again when one has changed."""
    state = []
    for page in sorted(Path(root, "journal").glob(f"*/{journal.PROJECT_PAGE}")):
        try:
            found = page.stat()
        except OSError:
            continue
        state.append((page.parent.name, found.st_mtime_ns, found.st_size))
    known = _homes.get(root)
    if known is None or known[0] != state:
        known = _homes[root] = (state, private.projects(root))
    return known[1]
