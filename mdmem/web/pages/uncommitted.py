"""Not committed: what the next commit takes, file by file, and what it leaves and why."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from markupsafe import Markup
from starlette.responses import Response

from mdmem.errors import GitError, NotFoundError, VaultError
from mdmem.history import commit, past
from mdmem.history.batch import CommitBatch
from mdmem.web import markdown
from mdmem.web.site import PageRequest

SHOWN_FILES = 100
MAX_LINES = 5_000
"""Maximum number of lines of all patches together."""


class ChangedFile(NamedTuple):
    """A file that the next commit takes. kind: added, changed or deleted. patch: "" beyond `MAX_LINES`."""

    path: str
    kind: str
    patch: Markup | str


def uncommitted(request: PageRequest) -> Response:
    """Show what the next commit takes and leaves."""
    batch, problem, files = CommitBatch([], [], [], [], frozenset(), None, converted=False), "", []
    try:
        batch = commit.waiting(request.config)
        files = _changed_files(request, batch)
    except (VaultError, GitError) as error:
        problem = str(error)
    return request.page(
        "uncommitted",
        files=files,
        total=len(batch.files),
        has_more=batch.rest is not None,
        held_back=batch.held_back,
        staying=batch.staying,
        left_out=batch.left_out,
        problem=problem,
    )


def _changed_files(request: PageRequest, batch: CommitBatch) -> list[ChangedFile]:
    shown = [file.change for file in batch.files[:SHOWN_FILES]]
    try:
        lines = islice(past.diff(request.config, paths=tuple(change.path for change in shown)), MAX_LINES)
        patches = dict(past.patches(lines)) if shown else {}
    except NotFoundError:  # there is no commit yet
        patches = {}
    return [
        ChangedFile(change.path, change.kind, markdown.diff(hunks) if hunks else "")
        for change in shown
        for hunks in [past.hunks(patches.get(change.path, ""))]
    ]
