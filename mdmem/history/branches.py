"""Notes that wait on a branch of the code: released to everybody, or dropped; and what has become of the branch."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from mdmem import header, note, project, vault
from mdmem.config import Config
from mdmem.errors import GitError, UsageError
from mdmem.history import commit, repository, rewrite
from mdmem.history.rewrite import Applied, Step
from mdmem.journal import PAGE

MERGED, GONE = "merged", "gone"
FIRST_PARENTS = 20_000
"""So many commits of the default branch are looked through for one that a merge has brought in."""


def release(config: Config, paths: Collection[str], branch: str) -> Applied:
    """Let everybody see these notes, which wait on `branch`, and commit that. Every other byte of them stays.

    Raises:
        VaultError, BusyError, GitError, OSError: as `rewrite.apply`.
    """
    steps, skipped = [], []
    for path in paths:
        data = _waiting(config, path, branch)
        try:
            after = header.set_keys(data, {"staged": None}) if data is not None else None
        except UsageError:
            after = None  # somebody has broken its front matter
        if data is None or after is None:
            skipped.append(path)
        else:
            steps.append(Step(path, data, after))
    done = rewrite.apply(config, steps, f"Release {_counted(len(steps))} of the branch {branch}")
    return done._replace(skipped=[*skipped, *done.skipped])


def drop(config: Config, paths: Collection[str], branch: str, update_page: Callable[[str], None]) -> Applied:
    """Delete these notes, which wait on `branch`, and commit that. They stay in history.

    A session of which nothing is left goes with its page; `update_page` is given the folders of the others.

    Raises:
        VaultError, BusyError, GitError, OSError: as `rewrite.apply`.
    """
    changed: list[str] = []
    skipped: list[str] = []
    for path in paths:
        data = _waiting(config, path, branch)
        taken = data is not None and rewrite.take(config, Step(path, data, None))
        (changed if taken else skipped).append(path)
    pages = []
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in changed):
        page = f"{folder}/{PAGE}"
        data = vault.read_path(config.vault, page)
        if data is None:
            continue
        pages.append(page)
        if _notes_in(config, folder):
            update_page(folder)
        else:
            rewrite.take(config, Step(page, data, None))
    message = f"Drop {_counted(len(changed))} of the branch {branch}"
    return Applied(changed, skipped, commit.commit_paths(config, [*changed, *pages], message))


def fate(root: str, branch: str, commits: Collection[str]) -> str:
    """Say what has become of a branch of the code: MERGED, GONE, or "" while it is there or nobody can tell.

    root: the code's repository. commits: where the branch was when its notes were made, 8 hex digits each.
    A branch on which nothing was committed yet is part of the default one as well; it is not merged.
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
    has_moved = any(not tip.startswith(known) for known in commits)
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
    done = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return "" if done.status else done.out.decode("ascii").strip()


def _git(root: Path, *words: str) -> repository.Done:
    return repository.start(root, words, repo=None, env={"GIT_NO_LAZY_FETCH": "1"}, check=False)


def _waiting(config: Config, path: str, branch: str) -> bytes | None:
    """Read a note that waits on this branch; None when it does not, or no longer."""
    data = vault.read_path(config.vault, path)
    waits = data is not None and str(note.parse(data).meta.get("staged", "")) == branch
    return data if waits else None


def _notes_in(config: Config, folder: str) -> bool:
    return any(not entry.path.endswith(f"/{PAGE}") for entry in vault.walk(config.vault, folder))


def _counted(count: int) -> str:
    return f"{count} note{'' if count == 1 else 's'}"
