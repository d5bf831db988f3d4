"""Which session is meant: by its id or the beginning of it, its tag, its folder, a note in it, or as the latest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.errors import AmbiguousError, MdmemError, NotFoundError
from mdmem.search import index
from mdmem.vault import journal
from mdmem.views import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from mdmem.config import Config
    from mdmem.search.index.view import View

KEY = "session:"
"""How the terms begin by which the index knows sessions."""


def term_of(session: str) -> str:
    """Return the index's term for the session with this id."""
    return f"{KEY}{session}".lower()


def find(config: Config, view: View, name: str, *, project: str = "") -> str:
    """Return the index's term for the session that `name` means. project: of which "latest" is the last session.

    Raises:
        NotFoundError: when there is no such session.
        AmbiguousError: when more than one has this name.
    """
    if name == "latest":
        found = latest(view, project)
        if not found:
            where = f"of {project} " if project else ""
            raise NotFoundError(
                f"The vault has no session {where}yet. `mdmem status` says which agents are registered."
            )
        return found
    wanted = name.strip().rstrip("/")
    terms = candidates(view, wanted) or _of_note(config, view, wanted)
    if not terms and (gone := _gone(config, wanted)):
        raise NotFoundError(gone)
    return only(terms, name)


def _gone(config: Config, name: str) -> str:
    """Return what is said of a session that is gone: how, when, and how it is brought back; "" for any other."""
    from mdmem.history import forget

    try:
        gone = forget.gone(config, name)
    except MdmemError:
        return ""
    if gone is None:
        return ""
    how = {"Forget": "forgotten", "Undo:": "undone"}.get(gone.subject.partition(" ")[0], "deleted")
    when = wording.date_and_time(gone.time)
    return f"The session {gone.session[:8]} was {how} on {when}. `mdmem undo {gone.oid[:8]}` brings its notes back."


def candidates(view: View, name: str) -> list[str]:
    """Return the terms of the session with this id, else of those whose id begins, or whose folder ends, with it."""
    if not name:
        return []
    if view.count("facet", term_of(name)):
        return [term_of(name)]
    begun = list(view.starting_with("facet", term_of(name)))
    every = view.starting_with("facet", KEY) if not begun else ()
    tagged = [term for term in every if journal.session_tag(term.removeprefix(KEY)) == name.lower()]
    return begun or tagged or _of_folder(view, name)


def only(terms: list[str], name: str) -> str:
    """Return the one term that there is.

    Raises:
        NotFoundError: when there is none.
        AmbiguousError: when there are several.
    """
    if not terms:
        raise NotFoundError(f"There is no session {name!r:.60}. `mdmem sessions` lists them.")
    if len(terms) > 1:
        some = ", ".join(term.removeprefix(KEY)[:13] for term in terms[:4])
        raise AmbiguousError(f"{len(terms)} sessions have ids that begin with {name!r:.40}: {some}. Type more.")
    return terms[0]


def latest(
    view: View, project: str = "", *, hidden: Set[int] = frozenset(), seen: Callable[[int], bool] | None = None
) -> str:
    """Return the term of the session that the newest note belongs to; "" when there is none.

    hidden: notes that are not looked at, beside internal ones. seen: whether another note may be.
    """
    hidden = hidden | view.internal
    within = view.of_project(project) if project else None
    for number in view.newest():
        if number not in hidden and (within is None or number in within):
            session = view.facts(number).get("session")
            if session and (seen is None or seen(number)):
                return term_of(str(session))
    return ""


def _of_folder(view: View, name: str) -> list[str]:
    last = name.rpartition("/")[2]
    folders = {folder for folder in view.folders if folder.rpartition("/")[2] == last and folder.endswith(name)}
    found = {view.facts(number).get("session") for folder in folders for number in view.members_of(folder)}
    return [term_of(str(session)) for session in found if session]


def _of_note(config: Config, view: View, name: str) -> list[str]:
    try:
        path = index.resolve(config, name)
    except NotFoundError:
        return []
    number = view.find(path)
    session = view.facts(number).get("session") if number is not None else None
    if not session:
        raise NotFoundError(f"The note {name!r:.60} belongs to no session. `mdmem show` shows it.")
    return [term_of(str(session))]
