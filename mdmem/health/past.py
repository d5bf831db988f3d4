"""The past: the vault's repository, what is not committed yet, and what other machines have not seen."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.errors import GitError, VaultError
from mdmem.health import HealthFinding, error, fine, note, warning
from mdmem.views import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.history.git.repository import Repository

OLD_LOCK_SECONDS = 600


def git(config: Config) -> Iterator[HealthFinding]:
    """Look at the vault's repository."""
    from mdmem.history import changes
    from mdmem.history.git import repository

    try:
        repo = repository.open_vault(config.vault)
    except VaultError as problem:
        text = str(problem).partition(". Run ")[0]
        yield error(f"{text}.", f"`mdmem init {config.vault}` adds one and changes no note.")
        return
    except GitError as problem:
        yield error(str(problem), "Until then nothing is committed; notes are stored all the same.")
        return
    done = repository.attempt(repo, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    if done.status:
        todo = "Restore .git from a backup or a remote; the notes themselves are safe."
        yield error(f"git fsck: {repository.reason(done)}", todo)
    lock = repo.git_dir / "index.lock"
    if lock.exists() and time.time() - lock.stat().st_mtime > OLD_LOCK_SECONDS:
        yield warning(f"{lock} is old: a git process was killed.", f"If no git runs: `rm {lock}`.")
    for name, what in changes.UNDER_WAY.items():
        if (repo.git_dir / name).exists():
            yield warning(f"{what} is under way in the vault: nothing is committed.", "Finish it, or abort it.")
    yield from _uncommitted(config, repo)
    if not done.status:
        yield fine(f"the repository is intact: {_count(repo)}")


def _count(repo: Repository) -> str:
    from mdmem.history.git import repository

    done = repository.attempt(repo, "rev-list", "--count", "HEAD")
    return wording.number(int(done.out or b"0"), "commit") if not done.status else "no commit yet"


def _uncommitted(config: Config, repo: Repository) -> Iterator[HealthFinding]:
    from mdmem.history import commit
    from mdmem.history.git import repository

    done = repository.attempt(repo, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
    paths = [entry[3:] for entry in done.out.decode("utf-8", "replace").split("\0") if entry[3:].endswith(".md")]
    if paths:
        text = f"{wording.number(len(paths), 'note')} not committed yet, such as {paths[0]}."
        yield note(text, "`mdmem commit`", partial(commit.commit, config))


def remote(config: Config) -> Iterator[HealthFinding]:
    """Look at what other machines have not seen, as far as was heard at the last sync."""
    from mdmem.history.git import repository

    try:
        repo = repository.open_vault(config.vault)
        branch = repository.branch(repo)
    except (VaultError, GitError):
        return  # the check of git says so
    names = repository.attempt(repo, "remote").out.decode("utf-8", "replace").split()
    if not names:
        yield fine("no remote: the vault stays on this machine")
        return
    name = "origin" if "origin" in names else names[0]
    theirs = f"refs/remotes/{name}/{branch.removeprefix('refs/heads/')}"
    counted = repository.attempt(repo, "rev-list", "--left-right", "--count", f"{branch}...{theirs}")
    if counted.status:
        yield note(f"The vault was never synced with {name}.", "`mdmem sync`")
        return
    ahead, behind = (int(word) for word in counted.out.split())
    last = _last_fetch(repo)
    if ahead or behind:
        yield note(f"{name}: {wording.number(ahead, 'commit')} to send, {behind} to receive{last}.", "`mdmem sync`")
    else:
        yield fine(f"{name} is up to date{last}")


def _last_fetch(repo: Repository) -> str:
    try:
        when = Path(repo.git_dir / "FETCH_HEAD").stat().st_mtime
    except OSError:
        return ""
    from mdmem.vault.disk import iso_time

    return f" (last looked {wording.date_and_time(iso_time(when))})"
