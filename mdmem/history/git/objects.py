"""What git has of a vault of which only a part was cloned: every commit and folder, and the texts that were wanted.

Git fetches a text that it lacks when it is asked for, one at a time; what is known to be wanted is fetched together.
"""

from __future__ import annotations

from collections.abc import Iterable

from mdmem.history.git import repository
from mdmem.history.git.repository import Repository

REMOTE = "origin"
FILTER = "--filter=blob:none"
"""For `git clone`: commits and folders without texts. A remote that cannot leave them out sends all of them."""
ALL = "--filter=blob:limit=1g"
"""For `git fetch`, where texts are missing: leaves out nothing, and lets git take what comes for a part."""
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
_SETTINGS = ("extensions.partialClone", f"remote.{REMOTE}.promisor", f"remote.{REMOTE}.partialclonefilter")


def bring(repo: Repository, oids: Iterable[str]) -> None:
    """Fetch these texts together, where git may lack them; where that fails git fetches them one by one."""
    if repo.is_partial:
        words = ("-c", "fetch.negotiationAlgorithm=noop", *_FETCH, FILTER, "--stdin", REMOTE)
        repository.attempt(repo, *words, stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"), network=True)


def complete(repo: Repository) -> Repository:
    """Fetch every text of the history that git lacks; return the repository, which is a whole one then.

    Raises:
        GitError: when the remote cannot be reached.
    """
    if not repo.is_partial:
        return repo
    repository.run(repo, *_FETCH, "--refetch", "--no-filter", REMOTE, network=True)
    for setting in _SETTINGS:
        repository.attempt(repo, "config", "--unset-all", setting)
    for mark in (repo.common_dir / "objects" / "pack").glob("*.promisor"):
        mark.unlink()
    return repo._replace(is_partial=False)
