"""Access: what a request may see, and whose request it is. Determined again for each request."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mdmem import config, project
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.history import private
from mdmem.search.gate import Gate
from mdmem.search.staged import Place
from mdmem.server import safe_text
from mdmem.server.internal import context
from mdmem.server.internal.context import Context
from mdmem.vault import JOURNAL, journal, layout, note, people, projects

PROJECT_HEADER = "X-Project"
"""HTTP header with the current project's name in the journal."""


FOR_TITLES, FOR_TEXT, FOR_WRITING = 1e-9, 0.5, 1.0
"""The trust needed to see titles, to see text, and to write."""


class Access(NamedTuple):
    """What a request may see and do.

    project: the current project's name in the journal, "" if unknown.
    hidden: projects that stay on this machine; other projects do not see them.
    here: the current project and the branch of its code; notes that wait on another branch are not found.
    internal: the context of internal memories, or the error message if there is none. trust: how much of the
    journal is open: nothing at 0, titles below 0.5, text below 1, writing at 1. The owner's own requests have 1.
    client: the program that called, as it names itself, "" if unknown.
    """

    config: Config
    gate: Gate
    project: str
    hidden: frozenset[str]
    here: Place
    internal: Context | str
    trust: float = 1.0
    client: str = ""

    @property
    def titles_only(self) -> bool:
        """Whether only titles of the ordinary journal may be shown, no text."""
        return self.trust < FOR_TEXT

    def require(self, needs: float) -> None:
        """Raise UsageError when this request's trust is below `needs`, or its context is invalid."""
        if isinstance(self.internal, str) and self.internal not in context.ABSENT:
            raise UsageError(self.internal)
        if self.trust >= needs:
            return
        if self.trust <= 0:
            raise UsageError("This connection may not read the user's journal: its accessor's trust is 0.")
        what = "only read titles" if self.titles_only else "only read"
        raise UsageError(f"This connection may {what}: its accessor's trust is {self.trust:g}.")

    def context(self) -> Context:
        """Return whose internal memories are meant.

        Raises UsageError when the connection's context is missing or invalid.
        """
        if isinstance(self.internal, str):
            raise UsageError(self.internal)
        return self.internal

    def project_called(self, name: str) -> str:
        """Return the project that is meant by its name, or by a part of the name that only it has; else the name.

        Raises UsageError when several names contain the part.
        """
        vault = self.config.vault
        called = layout.project_called(vault, name)
        visible = [other for other in layout.projects(vault) if other not in self.hidden]
        if called in visible or name.lower() in self.here.projects:
            return called
        matching = [other for other in visible if name.lower() in other.lower()]
        if len(matching) > 1:
            names = ", ".join(self.line(other, 80) for other in matching)
            raise UsageError(f"{name!r:.80} is a part of several projects' names: {names}.")
        return matching[0] if matching else name

    def line(self, text: str, chars: int = safe_text.LINE_CHARS) -> str:
        """Return stored text as one safe line of at most `chars` characters."""
        return safe_text.line(self.gate, text, chars)

    def text(self, body: str) -> str:
        """Return stored text as safe text, with its line breaks."""
        return safe_text.text(self.gate, body)

    def values(self, facts: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of these keys, made safe and short: anybody may have written them."""
        return {key: self._value(facts[key]) for key in keys}

    def _value(self, value: Any) -> Any:
        if isinstance(value, (bool, int, float)) or value is None:
            return value
        if isinstance(value, (list, tuple)):
            return [self.line(str(item), 200) for item in value[:20]]
        return self.line(str(value), 300)

    def sees(self, path: str, meta: Mapping[str, Any]) -> bool:
        """Whether a note may be shown: not an internal memory, and not another project's private note."""
        if self.trust <= 0 or note.is_internal(path, meta.get("kind")) or people.keeps_private(meta):
            return False
        owner = layout.project_named(path, meta)
        if self.project and owner.lower() == self.project.lower():
            return True
        return not (private.belongs(owner, self.hidden) or people.stays_here(meta))


def on_stdio(vault: str | None, env: Mapping[str, str], cwd: str, meta: Mapping[str, Any] | None = None) -> Access:
    """Return the access of a process that an agent started in a project's folder. meta: the request's `_meta`."""
    loaded = config.load(vault, env)
    place = project.identify(env.get("CLAUDE_PROJECT_DIR") or cwd)
    gate = Gate(loaded)
    name, names = projects.folder_and_names(loaded, place, gate.name)
    branch = gate.name(place.branch) if place.branch else ""
    read = partial(context.agreed, lambda: context.from_env(env), meta or {})
    return _reach(loaded, gate, name, read, Place(names, branch))


def over_http(vault: str | None, headers: Any, meta: Mapping[str, Any] | None = None) -> Access:
    """Return the access of an HTTP request, from its headers (starlette's) and the MCP request's `_meta`."""
    loaded = config.load(vault, os.environ)
    project_headers = context.header(headers, PROJECT_HEADER)
    name = project_headers[0].strip() if len(project_headers) == 1 else ""
    return _reach(loaded, Gate(loaded), name, lambda: context.agreed(lambda: context.from_headers(headers), meta or {}))


def in_python(vault: str | None = None, *, project: str = "", **extras: Any) -> Access:
    """Return the access of a program that calls the tools' functions itself.

    extras: the context of internal memories, as `context.read` takes it: `internal_context` or `internalContext`,
        a `Context` or a mapping such as {"type": "ghost", "ghost_type": "user", "owner_user_id": "alice"}; or its
        values, such as internal_type="ghost", ghost_type="user", ghost_owner="alice".
    """
    loaded = config.load(vault, os.environ)
    return _reach(loaded, Gate(loaded), project, lambda: context.read(extras))


def _reach(config: Config, gate: Gate, name: str, read: Callable[[], Context], place: Place | None = None) -> Access:
    try:
        internal: Context | str = read()
    except UsageError as error:
        internal = str(error)
    place = place or Place([name.lower()], "")
    hidden = frozenset(other for other in _staying(config.vault) if other.lower() not in place.projects)
    return Access(config, gate, name, hidden, place, internal, _journal_trust(config, internal))


def _journal_trust(config: Config, internal: Context | str) -> float:
    """Return a connection's trust in the ordinary journal: 1 if it is the owner's own."""
    if isinstance(internal, str):
        return 1.0 if internal in context.ABSENT else 0.0
    is_own = internal.ghost_type == "user" and internal.accessor == internal.owner
    return 1.0 if is_own else context.trust(config, internal)


_stays: dict[str, tuple[list[tuple[str, int, int]], frozenset[str]]] = {}


def _staying(root: str) -> frozenset[str]:
    """Return the projects that stay on this machine; project pages are read again when one has changed."""
    state = []
    for page in sorted(Path(root, JOURNAL).glob(f"*/{journal.PROJECT_PAGE}")):
        with suppress(OSError):
            state_of_page = page.stat()
            state.append((page.parent.name, state_of_page.st_mtime_ns, state_of_page.st_size))
    cached = _stays.get(root)
    if cached is None or cached[0] != state:
        cached = _stays[root] = (state, private.projects(root))
    return cached[1]
