"""The tools that tell what was learned: fixes of an error, and open work."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from typing_extensions import TypedDict

from mdmem import timestamps
from mdmem.server import lookup
from mdmem.server.access import Access

if TYPE_CHECKING:
    from mdmem.search.solved import Fix

MAX_FIXES = 5
MAX_OPEN = 30


class KnownFix(TypedDict):
    """What solved an error. id: the run that failed; solved: the run that succeeded; edits: the notes in between."""

    id: str
    solved: str
    edits: list[str]
    project: str
    created: str
    command: str
    error: str
    files: list[str]
    diff: str


class KnownFixes(TypedDict):
    """Fixes, the best match first. hints: what the user should know."""

    fixes: list[KnownFix]
    hints: list[str]


class OpenTask(TypedDict):
    """One piece of open work."""

    key: str
    kind: str
    text: str
    detail: str
    project: str
    created: str
    id: str


class OpenTasks(TypedDict):
    """Open work, newest first. hints: what the user should know."""

    items: list[OpenTask]
    hints: list[str]


def fixes(
    at: Access,
    error: Annotated[str, Field(description="The error's line, or the whole output.", min_length=1, max_length=40_000)],
    project: Annotated[str, Field(description="Only this project, by its name.")] = "",
) -> KnownFixes:
    """Have I seen this error before, and what solved it? Returns the failed run, the edits, and the run that passed."""
    from mdmem.learn import fixes as learned  # a server that starts needs none of it

    with lookup.fresh(at.config) as notices:
        found = learned.fixes(at.config, error, project=project, limit=4 * MAX_FIXES)
    seen = [fix for fix in found if lookup.read(at, fix.path) is not None]
    return {"fixes": [_known(at, fix) for fix in seen[:MAX_FIXES]], "hints": list(notices)}


def _known(at: Access, fix: Fix) -> KnownFix:
    return {
        "id": fix.id,
        "solved": fix.solved,
        "edits": fix.edits,
        "project": at.line(fix.project, 80),
        "created": fix.created,
        "command": at.line(fix.command, 200),
        "error": at.line(fix.error, 300),
        "files": [at.line(file, 200) for file in fix.files[:20]],
        "diff": at.gate.stored(fix.diff),
    }


def open_work(
    at: Access,
    project: Annotated[str, Field(description="Its name; default: the current one. `-` is all.")] = "",
) -> OpenTasks:
    """List open work: tasks, checks that still fail, unanswered prompts, interrupted turns."""
    from mdmem.learn import work

    name = "" if project == "-" else project or at.project
    with lookup.fresh(at.config) as notices:
        found = work.open_work(at.config, name, now=time.time())
    seen = [item for item in found if lookup.read(at, item.path) is not None]
    return {
        "items": [
            {
                "key": item.key,
                "kind": item.kind,
                "text": at.line(item.text, 200),
                "detail": at.line(item.detail, 300),
                "project": at.line(item.project, 80),
                "created": item.created,
                "id": item.id,
            }
            for item in seen[:MAX_OPEN]
        ],
        "hints": list(notices),
    }


def fixes_text(made: KnownFixes) -> list[str]:
    """Write fixes as text."""
    lines = []
    for fix in made["fixes"]:
        lines += [f"[mem:{fix['id']}] {fix['created']} {fix['project']}: {fix['command']}", f"  {fix['error']}"]
        lines += [f"  solved by {', '.join(f'[mem:{name}]' for name in fix['edits'])}, as [mem:{fix['solved']}] shows"]
        lines += [fix["diff"], ""] if fix["diff"] else [""]
    return [*(lines or ["This error is not known."]), *made["hints"]]


def open_text(made: OpenTasks) -> list[str]:
    """Write open work as text."""
    lines = []
    for item in made["items"]:
        detail = f": {item['detail']}" if item["detail"] else ""
        day = timestamps.readable(item["created"])[:10]
        lines.append(f"- {item['kind']}: {item['text']}{detail} ({day}) [mem:{item['id']}]")
    return [*(lines or ["Nothing is open."]), *made["hints"]]
