"""Clone: sets up a vault, or a part of it, from a remote."""

from __future__ import annotations

import os
import shlex
import shutil
from contextlib import suppress
from pathlib import Path

from mdmem import files
from mdmem.errors import GitError, VaultError
from mdmem.history import review
from mdmem.history.git import checked_out, fetching, objects, part, repository, transfer, writer
from mdmem.history.git.part import VaultPart
from mdmem.history.git.repository import Repository
from mdmem.history.merging import join, same_names
from mdmem.history.space import checkout
from mdmem.progress import ProgressCallback, ignore


def clone(
    url: str, path: str | Path, vault_part: VaultPart | None = None, report: ProgressCallback = ignore
) -> Repository:
    """Clone a vault into an empty or missing folder; given a part, write only its files.

    Run again with the same folder, it completes an interrupted clone.

    report: progress callback.

    Raises:
        VaultError: when the folder is not empty.
        GitError: when the remote cannot be reached, or has two files that this system takes for one.
        UsageError: when the vault has no such project.
    """
    root = Path(path).absolute()
    if os.path.exists(url):  # noqa: PTH110 - false for an address that is too long for a path
        # git runs in the new folder, where a relative path would lead elsewhere
        url = str(Path(url).absolute())
    has_files = root.exists() and any(root.iterdir())
    if has_files and not _is_clone(root, url, vault_part):
        if [entry.name for entry in root.iterdir()] == [".git"]:
            todo = f"If you do not need it, run `rm -rf {shlex.quote(str(root / '.git'))}` and clone again."
            raise VaultError(f"{root} contains another repository, or a clone that was interrupted early. {todo}")
        raise VaultError(f"{root} is not empty. Clone into a new folder, or run `mdmem sync` in the vault.")
    if not has_files:
        _fetch_all(root, url, [objects.FILTER] if vault_part else [], report)
    repo = repository.open_vault(root)
    if (repo.git_dir / "index").exists():
        return repo
    branch = checked_out.branch(repo)
    head = writer.tip(repo, branch)
    if not head:
        # The remote's default branch has no commit: use the one that the first machine pushed.
        branch = f"refs/heads/{repository.BRANCH}"
        head = fetching.vault_branch(repo, "origin", branch, fetching.tips(repo, "origin", branch)).theirs
        repository.run(repo, "symbolic-ref", "HEAD", branch)
        if head:
            repository.run(repo, "update-ref", "-m", "mdmem: clone", branch, head)
    paths = (path for path, _ in join.files(repo, head)) if head else ()
    try:
        same_names.refuse(repo, (path for path in paths if part.is_part(vault_part, path)))
    except GitError:
        if not has_files:
            shutil.rmtree(repo.git_dir)
        raise
    if vault_part:
        part.save(repo, part.meant(repo, head, vault_part))
    if head:
        repository.run(repo, "update-ref", review.REF, head)  # reviews start now: these notes are from elsewhere
    checkout.fill(repo, report)
    return repo


def _fetch_all(root: Path, url: str, filters: list[str], report: ProgressCallback) -> None:
    new_folders = [folder for folder in (root, *root.parents) if not folder.exists()]
    files.make_folders(str(root))
    command = ["clone", transfer.PROGRESS, "--no-checkout", "--no-tags", "--template=", "--origin", objects.REMOTE]
    report("Fetching", 0, 0)
    try:
        bounds = repository.far_end(root, url, "upload-pack")
        command += [*bounds, *filters, "--", url, "."]
        if not bounds or repository.start(root, command, network=True, check=False).status:
            # From a folder, git links or copies files one by one, and fails when a repack there replaces them.
            repository.start(root, command, network=True)
    except BaseException:
        if new_folders:
            shutil.rmtree(root / ".git", ignore_errors=True)  # left by a killed git; otherwise git cleans up itself
        with suppress(OSError):
            for folder in new_folders:
                folder.rmdir()
        raise


def _is_clone(root: Path, url: str, vault_part: VaultPart | None) -> bool:
    """Whether the folder is a complete or interrupted clone of this remote and part."""
    if not (root / ".git").is_dir():
        return False
    repo = repository.open_vault(root)
    if repository.url(repo, objects.REMOTE) != url or not writer.tip(repo, "HEAD"):
        return False
    saved = part.load(repo)
    meant = part.meant(repo, "HEAD", vault_part) if vault_part else None
    return saved == meant or (saved is None and not (repo.git_dir / "index").exists())
