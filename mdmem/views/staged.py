"""Notes that wait on branches of the code: which, since when, and the state of each branch."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mdmem import plural, project, timestamps
from mdmem.config import Config
from mdmem.history import branches
from mdmem.search import index
from mdmem.search.index.view import View
from mdmem.views import rows


class Waiting(NamedTuple):
    """The notes of a project that wait on one branch.

    paths: vault-relative. first, last: times of the oldest and the newest note.
    folders, commits: where they were made, and at which commits of the code; newest first.
    """

    project: str
    branch: str
    paths: list[str]
    first: str
    last: str
    folders: list[str]
    commits: list[str]


def waiting(config: Config) -> list[Waiting]:
    """Return the waiting notes by branch; the branch with the newest note comes first."""
    return rows.ask(config, _in_view)


def hints(config: Config) -> list[str]:
    """Return hints about branches whose notes can be released, from the index as it is, without updating it."""
    try:
        view = index.current(config)
    except index.DamagedError:
        return []  # the next search rebuilds it
    return [offer(group, state) for group in (_in_view(view) if view else ()) if (state := fate(group))]


def fate(group: Waiting) -> str:
    """Return the state of a branch, if its code is on this machine; "" if unknown."""
    for folder in group.folders:
        code = project.identify(folder)
        if (code.branch or code.commit) and Path(code.root).is_dir():
            return branches.fate(code.root, group.branch, group.commits)
    return ""


def offer(group: Waiting, state: str) -> str:
    """Return the hint about notes that wait on a branch in this state."""
    count = plural.number(len(group.paths), "note")
    wait = f"{count} of {group.project} wait on {group.branch}, which is {state}"
    return f"{wait}: `mdmem branch merge {group.branch}` releases them, `drop` deletes them."


def _in_view(view: View) -> list[Waiting]:
    groups: dict[tuple[str, str], list[int]] = {}
    created = view.numbers("created")
    for number in sorted(view.notes("facet", "is:staged"), key=lambda number: (-created[number], view.path(number))):
        facts = view.facts(number)
        groups.setdefault((str(facts.get("project", "")), str(facts.get("staged", ""))), []).append(number)
    return [_group(view, *key, numbers) for key, numbers in groups.items()]


def _group(view: View, name: str, branch: str, numbers: list[int]) -> Waiting:
    facts = [view.facts(number) for number in numbers]
    paths = [view.path(number) for number in numbers]
    return Waiting(
        name,
        branch,
        sorted(paths),
        first=timestamps.iso_time(view.number("created", numbers[-1])),
        last=timestamps.iso_time(view.number("created", numbers[0])),
        folders=list(dict.fromkeys(str(Path(str(fact["cwd"])).expanduser()) for fact in facts if fact.get("cwd"))),
        commits=list(dict.fromkeys(str(fact["commit"]) for fact in facts if fact.get("commit"))),
    )
