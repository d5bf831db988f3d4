"""Notes that wait on a branch of the code: released for every branch, or dropped; and what became of the branch."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from mdmem import plural, project
from mdmem.config import Config
from mdmem.errors import GitError, UsageError
from mdmem.history import rewrite
from mdmem.history.git import repository
from mdmem.history.rewrite import Applied, RewriteStep, UpdatePage
from mdmem.vault import disk, editing, note

MERGED, GONE = "merged", "gone"
FIRST_PARENTS = 20_000
"""Maximum number of the default branch's commits that are searched for the branch's tip."""


def release(config: Config, paths: Collection[str], branch: str) -> Applied:
    """Release the notes that wait on `branch` and commit that; only their `staged` key changes.

    Raises what `rewrite.apply` raises.
    """
    steps, skipped = [], []
    for path in paths:
        data = _waiting(config, path, branch)
        try:
            after = editing.set_keys(data, {"staged": None}) if data is not None else None
        except UsageError:
            after = None  # its front matter cannot be edited
        if data is None or after is None:
            skipped.append(path)
        else:
            steps.append(RewriteStep(path, data, after))
    applied = rewrite.apply(config, steps, f"Release {plural.number(len(steps), 'note')} of the branch {branch}")
    return applied._replace(skipped=[*skipped, *applied.skipped])


def drop(config: Config, paths: Collection[str], branch: str, update_page: UpdatePage) -> Applied:
    """Delete the notes that wait on `branch` and commit that. They stay in history.

    Raises what `rewrite.apply` raises.
    """
    waiting = {path: _waiting(config, path, branch) for path in paths}
    steps = [RewriteStep(path, data, None) for path, data in waiting.items() if data is not None]
    applied = rewrite.apply(
        config, steps, f"Drop {plural.number(len(steps), 'note')} of the branch {branch}", update_page
    )
    return applied._replace(skipped=[*(path for path, data in waiting.items() if data is None), *applied.skipped])


def fate(root: str, branch: str, commits: Collection[str]) -> str:
    """Return what became of a branch of the code: MERGED, GONE, or "" while it exists or nobody can tell.

    root: the code's repository. commits: where the branch was when its notes were made, 8 hex digits each.
    A branch without commits of its own is also contained in the default branch; it does not count as merged.
    """
    default = project.default_branch(root)
    if not default:
        return ""
    if not project.has_branch(root, branch):
        return GONE
    try:
        return MERGED if _is_merged(Path(root), branch, default, commits) else ""
    except GitError:
        return ""


def _is_merged(root: Path, branch: str, default: str, commits: Collection[str]) -> bool:
    tip = _commit(root, f"refs/heads/{branch}") or _commit(root, f"refs/remotes/origin/{branch}")
    has_moved = any(not tip.startswith(commit) for commit in commits)
    for ref in (f"refs/heads/{default}", f"refs/remotes/origin/{default}"):
        goal = _commit(root, ref)
        if not (tip and goal) or _git(root, "merge-base", "--is-ancestor", tip, goal).status:
            continue
        if has_moved:
            return True
        parents = _git(root, "rev-list", "--first-parent", f"--max-count={FIRST_PARENTS}", goal).out.decode("ascii")
        if tip not in parents.split():
            return True
    return False


def _commit(root: Path, ref: str) -> str:
    result = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return "" if result.status else result.out.decode("ascii").strip()


def _git(root: Path, *words: str) -> repository.GitResult:
    return repository.start(root, words, env={"GIT_NO_LAZY_FETCH": "1"}, check=False)


def _waiting(config: Config, path: str, branch: str) -> bytes | None:
    """Read a note that waits on this branch; None when it does not (any more)."""
    data = disk.read_path(config.vault, path)
    waits = data is not None and note.parse(data).fact("staged") == branch
    return data if waits else None
