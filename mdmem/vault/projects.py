"""Projects in the journal: which folder is that of a repository or a folder of code, judged by its page."""

from __future__ import annotations

import os

from mdmem import files, privacy, timestamps
from mdmem.hashing import short
from mdmem.hook_errors import VaultError
from mdmem.named_tuple import NamedTuple
from mdmem.project import began_ns, copied_ns, folder_name, git_dir_of, in_one_case, name_of, suffix, was_cloned
from mdmem.slug import slug
from mdmem.vault import JOURNAL, disk, front_matter, journal, layout
from mdmem.vault.journal import PROJECT_PAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from mdmem.config import Config
    from mdmem.project import Project


_PATH = "path:"
"""Prefix of the identity of a project without a remote."""


def find(config: Config, project: Project, clean: Callable[[str], str]) -> str:
    """Return the journal folder's name for a project; "" when there is none. clean: cleans an identity or a path."""
    identity = clean(journal.identity(project))
    name = journal.recall_project(config, identity) or look_for(config, identity)
    return name or look_for_same(config, project, clean)


def folder_and_names(config: Config, project: Project, clean: Callable[[str], str]) -> tuple[str, frozenset[str]]:
    """Return the name of a project's folder in the journal, present or future, and its names in notes, in lower case.

    Its notes have other names if its remote has changed, or a person has renamed its folder or joined two projects.
    """
    name = find(config, project, clean)
    names = {clean(project.name), *map(first_name, identities(config, name) if name else ())}
    own = [other for other in names if other == name or not _is_another(config, other, project)]
    if not name:
        *others, last = candidates(project, clean)
        name = next((other for other in others if not _is_another(config, other, project)), last)
    return name, frozenset(each.lower() for each in (name, *own))


def _is_another(config: Config, name: str, project: Project) -> bool:
    """Whether a folder in the journal is another project's, though it may have the name that this one gets.

    The other has another remote, or is in another place on this machine. Otherwise this may be a copy of it.
    """
    meta = front_matter_of(config, name)
    remotes, roots = remotes_and_roots(identities_in(meta))
    if project.remote and remotes:
        return True
    roots += [_root(meta)] if remotes or roots else []
    return any(place != project.root and os.path.isdir(place) for place in map(os.path.expanduser, roots))


def first_name(identity: str) -> str:
    """Return the name that a project with this identity gets, unless another has it."""
    return folder_name(identity.removeprefix(_PATH)) if identity.startswith(_PATH) else name_of(identity)


def candidates(project: Project, clean: Callable[[str], str]) -> Iterator[str]:
    """Yield the names for a new project's folder: the first that no other project has is taken, else the last."""
    name = slug(clean(project.name)) or "project"
    yield from (name, f"{name}-{suffix(project.root)}")
    yield f"{name}-{short(clean(journal.identity(project)), 8)}"


def cleaner(rules: privacy.Rules) -> Callable[[str], str]:
    """Return the function that cleans an identity or a path as it is stored."""

    def clean(text: str) -> str:
        return str(privacy.anonymized(privacy.clean(text, rules=rules).value, rules))

    return clean


def look_for(config: Config, identity: str) -> str:
    """Search the journal for the folder whose page has this cleaned identity; "" when none has.

    The folder with the name that mdmem gives is read first: most have kept it, and there may be hundreds.
    """
    usual = first_name(identity)
    names = sorted(layout.projects(config.vault), key=lambda name: name != usual)
    return next((name for name in names if identity in identities(config, name)), "")


def look_for_same(config: Config, project: Project, clean: Callable[[str], str]) -> str:
    """Search the journal for a project that is known by another identity; "" when none fits.

    Its remote has changed, or is written with an alias of its host; or the repository was moved.
    """
    identity = clean(journal.identity(project))

    def is_same(name: str) -> bool:
        meta = front_matter_of(config, name)
        has_alias = any(_is_alias(identity, each) for each in identities_in(meta))
        return has_alias or is_earlier(meta, project, clean)

    return next(filter(is_same, layout.projects(config.vault)), "") or _look_for_moved(config, project)


def mark(project: Project) -> str:
    """Return a mark that identifies a repository on this machine, even after a move; "" for none."""
    at_ns = began_ns(project.worktree)
    # A whole second may be that of an archive or an image, which gives it to all repositories in it.
    if not at_ns % 1_000_000_000:
        return ""
    # With remotes, a copy is another project, even if the first one is deleted: a template is copied for each client.
    return f"git:{at_ns}:{copied_ns(project.worktree)}" if project.remote else f"git:{at_ns}"


def _look_for_moved(config: Config, project: Project) -> str:
    """Return the folder of a repository that was in a place where there is nothing now, from the state folder."""
    pointer = files.try_read_own(journal.project_pointer(config, mark(project)), 600)
    name = pointer.decode("utf-8", "replace").partition("\n")[2]
    meta = front_matter_of(config, name) if name in layout.projects(config.vault) else {}
    root = _root(meta) if identities_in(meta) else ""
    return name if root and not os.path.lexists(os.path.expanduser(root)) else ""


def _root(meta: dict[str, Any]) -> str:
    """Return the place of a project from its page's front matter; "" for none."""
    return str(meta.get("root") or "")


def _is_alias(remote: str, other: str) -> bool:
    """Whether two remotes have the same path, and one has an alias from a person's SSH or git settings for a host.

    An alias has no dot: `git@github-work:acme/app.git`, `gh:acme/app`.
    """
    (host, _, path), (other_host, _, other_path) = remote.partition("/"), other.partition("/")
    is_host = not (remote.startswith(_PATH) or other.startswith(_PATH))
    return is_host and path.lower() == other_path.lower() and ("." not in host or "." not in other_host)


def is_earlier(meta: dict[str, Any], project: Project, clean: Callable[[str], str]) -> bool:
    """Whether a page is that of a project before its remote was added, changed or removed.

    meta: the page's front matter. A page whose identities a person has removed fits nothing. The repository in that
    place must be as old as the page, or have had no remote and be no clone: another may have come to it.
    """
    known, root = identities_in(meta), clean(project.root)
    was_here = f"{_PATH}{root}" in known
    if not known or not (was_here or meta.get("root") == root):
        return False
    if 0 < began_ns(project.worktree) <= timestamps.epoch(str(meta.get("created", ""))) * 1e9:
        return True
    return was_here and not was_cloned(project.worktree)


def identities(config: Config, name: str) -> list[str]:
    """Return the identities of the projects in a journal folder, from its page, remotes in one spelling."""
    return [in_one_case(item) for item in identities_in(front_matter_of(config, name))]


def front_matter_of(config: Config, name: str) -> dict[str, Any]:
    """Return the front matter of a project's page; {} when there is none that can be read. A hidden one is private."""
    try:
        data = disk.read_path(config.vault, journal.project_page(name))
    except OSError:
        return {}  # unreadable
    return front_matter.of(data) if data or not journal.has_hidden_page(config, name) else {"private": True}


def roots(config: Config) -> dict[str, str]:
    """Return the folders of the journal's projects on this machine by their last parts, in lower case.

    A name that two of them share is left out.
    """
    found: dict[str, set[str]] = {}
    for name in layout.projects(config.vault):
        root = os.path.expanduser(_root(front_matter_of(config, name)))
        if root and os.path.isdir(root):
            found.setdefault(os.path.basename(root).casefold(), set()).add(root)
    return {name: folders.pop() for name, folders in found.items() if len(folders) == 1}


def identities_in(meta: dict[str, Any]) -> list[str]:
    """Return the identities in a project page's front matter."""
    identities = meta.get("identity", [])
    return [str(item) for item in (identities if isinstance(identities, list) else [identities])]


def remotes_and_roots(identities: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the remotes among a project's identities, and the folders that are identities of one without a remote."""
    remotes: list[str] = []
    roots: list[str] = []
    for identity in identities:
        (roots if identity.startswith(_PATH) else remotes).append(identity.removeprefix(_PATH))
    return remotes, roots


def is_page(path: str) -> bool:
    """Whether a path is that of a project's page, in its original place."""
    return path.split("/")[::2] == [JOURNAL, PROJECT_PAGE]


def has_first_name(page: str, meta: dict[str, Any]) -> bool:
    """Whether a project's folder still has the name that mdmem gave it: its title. page: the path of its page."""
    return page.split("/")[-2] == meta.get("title")


def is_emptied(config: Config) -> bool:
    """Whether a vault that had projects is an empty folder now, as where its disk is not mounted.

    Hidden files may be left, and a `.git` that lists notes: not while they are cloned, nor once they are deleted there.
    """
    try:
        names = os.listdir(config.vault)
        is_empty = all(name.startswith(".") for name in names) and (".git" not in names or _lists_notes(config.vault))
        return is_empty and bool(os.listdir(os.path.dirname(journal.project_pointer(config, ""))))
    except OSError:
        return False


def _lists_notes(vault: str) -> bool:
    """Whether git's index has notes: git can restore them."""
    return b".md" in files.try_read_any(os.path.join(vault, git_dir_of(vault), "index"), 1 << 20)


def refuse_emptied(config: Config) -> None:
    """Raise VaultError when `is_emptied`: what is stored there would be hidden once the disk is back."""
    if is_emptied(config):
        raise emptied(config.vault)


def emptied(vault: str) -> VaultError:
    """Return the error for a vault that `is_emptied`."""
    import shlex  # hooks need it only here

    root = shlex.quote(vault)
    what = f"The vault at {vault} had notes and is an empty folder now."
    mount = "If it is on a disk that is not mounted, mount it"
    if _lists_notes(vault):
        again = f"`git -C {root} restore .` writes what was committed again"
        return VaultError(what, f"{mount}. Else {again}, or `git -C {root} commit -am Deleted` commits the deletion.")
    return VaultError(what, f"{mount}; to start over, run `mdmem init {root}`.")


class MovedProject(NamedTuple):
    """A project whose folder of code is gone: its name, that folder, and its page, where an identity can be added."""

    name: str
    was: str
    page: str


def possibly_moved(config: Config, place: Project) -> list[MovedProject]:
    """Return the three projects likeliest to be the one in `place` under an earlier path, same name first.

    A project with a remote is recognized by its remote in any folder, so it is left out.
    """
    moved = []
    for name in layout.projects(config.vault):
        meta = front_matter_of(config, name)
        remotes, roots = remotes_and_roots(identities_in(meta))
        folders = roots or [_root(meta)]
        if not remotes and all(folder and not os.path.isdir(os.path.expanduser(folder)) for folder in folders):
            moved.append(MovedProject(name, folders[0], journal.project_page(name)))
    folder_name = os.path.basename(place.root).lower()
    moved.sort(key=lambda project: (os.path.basename(project.was).lower() != folder_name, project.name))
    return moved[:3]
