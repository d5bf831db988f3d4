"""Which of two versions of a place was this machine's, before the merge that kept both."""

from __future__ import annotations

import os

from mdmem.config import Config
from mdmem.history.git import checked_out, repository
from mdmem.history.git.repository import Repository
from mdmem.history.merging.undecided import OpenChoice, line_of
from mdmem.vault import note


def mine(config: Config, choice: OpenChoice) -> str:
    """Return "one" or "other"; "" when it is not known, as on a machine that was cloned after the merge."""
    repo = repository.open_vault(config.vault)
    before = _before(repo, choice.merge)
    shown = repository.attempt(repo, "cat-file", "blob", f"{before}:{choice.path}") if before else None
    if shown is None or shown.status:
        return ""
    had = [name for name in ("one", "other") if _has(shown.out, choice, getattr(choice, name))]
    return had[0] if len(had) == 1 else ""


def _before(repo: Repository, merge: str) -> str:
    """Return the last commit that this machine was at before it had the merge; "" when the reflog does not say."""
    branch = checked_out.branch(repo)
    after = repository.attempt(repo, "rev-list", "--ancestry-path", f"{merge}..{branch}").out.decode("ascii").split()
    tips = repository.attempt(repo, "log", "--walk-reflogs", "--format=%H", branch).out.decode("ascii").split()
    having = {merge, *after}
    return next((tip for tip in tips if tip not in having), "") if having.intersection(tips) else ""


def _has(data: bytes, choice: OpenChoice, version: str) -> bool:
    if choice.key:
        return str(note.parse(data).meta.get(choice.key)) == version
    return bool(line_of(os.fsdecode(data), version))
