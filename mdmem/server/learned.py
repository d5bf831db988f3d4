"""The tools for what was learned: fixes of an error, and open work."""

from __future__ import annotations

import time
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from mdmem import timestamps
from mdmem.server import lookup
from mdmem.server.access import Access

MAX_FIXES = 5
MAX_OPEN = 30


class KnownFixes(TypedDict):
    """Fixes as in `solved.Fix`, best match first. hints: what the user should know."""

    fixes: list[dict[str, Any]]
    hints: list[str]


class OpenTasks(TypedDict):
    """Open work as in `work.OpenItem`, newest first. hints: what the user should know."""

    items: list[dict[str, Any]]
    hints: list[str]


_OF_FIX = ("id", "solved", "edits", "project", "created", "command", "error", "files")
_OF_TASK = ("key", "kind", "text", "detail", "project", "created", "id")


def fixes(
    access: Access,
    error: Annotated[str, Field(description="The error's line, or the whole output.", min_length=1, max_length=40_000)],
    project: Annotated[str, Field(description="Only this project, by its name.")] = "",
) -> KnownFixes:
    """Have I seen this error before, and what solved it? Returns the failed run, the edits, and the run that passed."""
    from mdmem.learn import fixes as learned  # not needed when a server starts

    with lookup.fresh(access.config) as notices:
        known_fixes = learned.fixes(access.config, error, project=project, limit=4 * MAX_FIXES, reader=access.project)
    visible = [fix for fix in known_fixes if lookup.read(access, fix.path) is not None]
    shown = [access.values(fix._asdict(), _OF_FIX) | {"diff": access.text(fix.diff)} for fix in visible[:MAX_FIXES]]
    return {"fixes": shown, "hints": list(notices)}


def open_work(
    access: Access, project: Annotated[str, Field(description="Project name; default: the current one; `-`: all.")] = ""
) -> OpenTasks:
    """List open work: tasks, checks that still fail, unanswered prompts, interrupted turns."""
    from mdmem.learn import work

    name = "" if project == "-" else project or access.project
    with lookup.fresh(access.config) as notices:
        items = work.open_work(access.config, name, now=time.time())
    visible = [item for item in items if lookup.read(access, item.path) is not None]
    hints = list(notices)
    if name and not visible:
        hints.append(f"Only {access.line(name, 80)} was looked at; `-` as the project looks at all.")
    return {"items": [access.values(item._asdict(), _OF_TASK) for item in visible[:MAX_OPEN]], "hints": hints}


def fixes_text(known_fixes: KnownFixes) -> list[str]:
    """Return fixes as text."""
    lines = []
    for fix in known_fixes["fixes"]:
        lines += [f"[mem:{fix['id']}] {fix['created']} {fix['project']}: {fix['command']}", f"  {fix['error']}"]
        edits = ", ".join(f"[mem:{name}]" for name in fix["edits"])
        lines += [
            f"  solved by {edits}, as [mem:{fix['solved']}] shows" if edits else f"  solved: [mem:{fix['solved']}]"
        ]
        lines += [fix["diff"], ""] if fix["diff"] else [""]
    return [*(lines or ["No fix for this error is known."]), *known_fixes["hints"]]


def open_text(open_tasks: OpenTasks) -> list[str]:
    """Return open work as text."""
    lines = []
    for item in open_tasks["items"]:
        detail = f": {item['detail']}" if item["detail"] else ""
        day = timestamps.readable(item["created"])[:10]
        lines.append(f"- {item['kind']}: {item['text']}{detail} ({day}) [mem:{item['id']}]")
    return [*(lines or ["Nothing is open."]), *open_tasks["hints"]]
