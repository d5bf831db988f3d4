"""Where a purge does not reach: remotes, their unreachable commits, programs, transcripts; what to do about each."""

from __future__ import annotations

import codecs
import os
import re
import shlex
from collections.abc import Callable, Collection
from pathlib import Path

from mdmem import files, plural
from mdmem.history.git import checked_out, repository
from mdmem.history.git.repository import GitResult, Repository
from mdmem.vault import disk

TRANSCRIPTS = (
    "mdmem does not change the agents' own transcripts, from which `mdmem import --again` may bring the text back. "
    "Search them with: "
    "grep -rlF 'THE TEXT' ~/.claude/projects ~/.codex/sessions"
)

PROGRAMS = (
    "Programs that were running may still have it in memory, until they end: `mdmem web`, `mdmem watch`, and the MCP "
    "server of an open agent."
)

HOSTS = {
    "github.com": "ask its support to remove them (https://support.github.com), or delete the repository there and "
    "sync into a new one",
    "gitlab": "run Settings > General > Advanced > Prune unreachable objects",
    "codeberg.org": "delete the repository there and sync into a new one",
    "bitbucket.org": "ask its support to run a garbage collection",
}
"""Part of a remote's address -> how its host drops unreachable commits."""


FORCE = {
    "github.com": "Settings > Branches or Rules: allow force pushes",
    "gitlab": "Settings > Repository > Protected branches: allowed to force push",
    "codeberg.org": "Settings > Branches: enable force push",
    "bitbucket.org": "Repository settings > Branch restrictions: allow rewriting branch history",
}
"""Part of a remote's address -> how its host allows history to be replaced."""


def of_purge(repo: Repository, moved: dict[str, str], texts: int, untold: int) -> list[str]:
    """Return hints about remotes, programs and transcripts that may still have what was purged.

    moved: the rewritten commits. texts: number of different texts that other machines are told of; untold: of others.
    """
    listed = os.fsdecode(repository.attempt(repo, "config", "--get-regexp", r"^remote\..*\.url$").out).splitlines()
    told = []
    for key, _, url in (line.removeprefix("remote.").partition(" ") for line in listed if " " in line):
        remote = key.removesuffix(".url")
        has = _has_any(repo, remote, moved)
        if has is not False:
            name = "" if remote == "origin" else f" {shlex.quote(remote)}"
            says = f"The remote {remote} ({url}) {'still has' if has else 'may still have'} the old history."
            told.append(f"{says} `mdmem sync{name}` replaces it, and keeps what other machines have added.")
    if told:
        told.append("Other machines still have it, until `mdmem sync` runs there: their new notes are kept.")
        if untold:
            found = f"only {texts:,} of the {texts + untold:,}" if texts else "none of the"
            told.append(
                f"They find {found} purged texts in their own new notes: after that sync, run the same purge there too."
            )
    return [*told, PROGRAMS, TRANSCRIPTS]


def unreachable(url: str) -> str:
    """Return how to drop unreachable commits from a remote whose history was replaced."""
    here = f"run there: git -C {shlex.quote(_path(url))} gc --prune=now"
    way = next((way for part, way in HOSTS.items() if part in url), here)
    return f"The remote ({url}) may keep the old commits although no branch refers to them. To drop them, {way}."


def kept_by(repo: Repository, remote: str, url: str, done: GitResult) -> str:
    """Return why a remote refused to have its history replaced, and what to do if that is known."""
    here = f"run there: git -C {shlex.quote(_path(url))} config receive.denyNonFastForwards false"
    way = next((way for part, way in FORCE.items() if part in url), here)
    todo = f"Allow it for one push ({way}), and run `mdmem sync` again."
    if "(non-fast-forward)" in done.err:
        return (
            f"{remote} ({url}) refuses to have its history replaced, so it still has what was purged here. "
            f"Everything is committed here. {todo}"
        )
    told = f"{refusal(repo, remote, url, done)} It still has what was purged here. Everything is committed here."
    is_other = way == here or _FOUND_SECRET.search(done.err)
    return told if is_other else f"{told} Its rules may forbid that history is replaced. {todo}"


def refusal(repo: Repository, remote: str, url: str, done: GitResult) -> str:
    """Return why a push failed or the remote refused it, and what to do if that is known."""
    found = re.search(r"(?m)^ ?! \[[^\]]+\].*\((.+)\)$", done.err)
    if not found:
        return f"The push to {remote} failed: {repository.reason(done)}{_hooks_of_all(repo, url, done.err)}"
    words = " ".join(" ".join(re.findall(r"(?m)^remote: (.*)", done.err)).split())
    told = f" It says: {words:.300}{'' if words[-1] in '.!?' else '.'}" if words else ""
    if _FOUND_SECRET.search(words):
        told += " `mdmem purge TEXT` removes a text from every commit."
    tip = next((tip for sign, tip in _REFUSALS.items() if sign in found[1]), told)
    return f"{remote} rejected the push: {found[1]:.200}.{tip}{_hooks_of_all(repo, url, found[1])}"


def _hooks_of_all(repo: Repository, url: str, reason: str) -> str:
    """Return that a hook that refused a push to a folder of this machine is one of the user's for all repositories."""
    folder = repo.root / url.removeprefix("file://")
    if "hook" not in reason or not folder.is_dir():
        return ""
    own = folder / ".git" if (folder / ".git").is_dir() else folder
    set_by = ("config", "--show-origin", "--get-all", "core.hooksPath")
    listed = repository.attempt(repo, *set_by, env={"GIT_DIR": str(own)}, network=True).out.decode("utf-8", "replace")
    lines = [line.partition("\t") for line in listed.splitlines() if line.startswith("file:")]
    place, _, hooks = lines[-1] if lines else ("", "", "")
    if Path(hooks) in (Path(), own / "hooks"):
        return ""
    way = f"git -C {shlex.quote(str(own))} config core.hooksPath {shlex.quote(str(own / 'hooks'))}"
    return (
        f" The hook is in {hooks}, as core.hooksPath in {place.removeprefix('file:')} says. To do without it there:"
        f" `{way}`."
    )


_FOUND_SECRET = re.compile(
    r"(?i)push protection|(?<!\bno )(?<!\b0 )\b(?:leaks?|secrets?) "
    r"(?:was |were |is |are |ha(?:s|ve) been )?(?:detected|found|leaked|exposed)\b"
    r"|\b(?:contain|detect|found|leak|expose|includ)\w*:? (?:(?!no\b)\S+ ){0,3}secrets?\b(?! not\b)"
)
"""Matches the words with which a remote says that a push contains a secret; others speak of their own secrets."""

_REFUSALS = {
    "checked out": " That branch is checked out there: sync through a bare repository (git init --bare PATH).",
    "shallow update": (
        " This vault is a shallow clone: it lacks older commits, and so does the remote. `git fetch --unshallow` in the"
        " vault's folder fetches them."
    ),
}
"""What to do about a refusal, by words of its reason."""


def in_git(repo: Repository, oids: Collection[str]) -> list[str]:
    """Return which refs and work trees still hold some of these objects, each with the command that removes it."""
    told = []
    listed = os.fsdecode(repository.run(repo, "worktree", "list", "--porcelain")).splitlines()  # git 2.36 knows -z
    for place in (line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")):
        if Path(place) != repo.root and Path(place).is_dir():
            where = shlex.quote(place)
            told.append(f"The work tree at {place} may still have it. Remove it: git worktree remove --force {where}")
    in_use = checked_out.branch(repo)
    for ref in repository.refs(repo):
        arguments = ("rev-list", "--objects", "--no-object-names", ref)
        if not set(oids).isdisjoint(repository.attempt(repo, *arguments).out.decode("ascii").split()):
            todo = f"Remove it: git -C {shlex.quote(str(repo.root))} update-ref -d {ref}"
            told.append(f"{ref} still has it. {_IN_USE if ref == in_use else todo}")
    again = "Then run `mdmem purge` for the same text again to drop the unreachable objects."
    still = plural.number(len(oids), "git object still contains", "git objects still contain")
    return [f"{still} it.", *told, *([again] if told else [])]


def hides(data: bytes, finds: Callable[[bytes], bool]) -> bool:
    """Whether a file contains what `finds` matches in a form that no purge can replace: in UTF-16, or compressed."""
    wide = [data.decode("utf-16", "replace").encode("utf-8", "replace")] if data[:2] in _UTF16 else []
    return any(map(finds, (*wide, *files.unpacked(data, disk.MAX_READ_BYTES))))


_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def paths_of(repo: Repository, oids: Collection[str]) -> set[str]:
    """Return the paths that these objects have, or had, in any commit."""
    listed = os.fsdecode(repository.attempt(repo, "rev-list", "--objects", "--all").out).splitlines()
    return {path for oid, _, path in (line.partition(" ") for line in listed) if path and oid in oids}


def in_other_forms(paths: Collection[str]) -> list[str]:
    """Return what to do about files that hide the text (`hides`), here or in earlier commits."""
    return [
        f"{path} contains it in UTF-16 or compressed. Edit or delete that file, and remove it from the commits: "
        f"mdmem purge --history-only {shlex.quote(path)} --apply"
        for path in sorted(paths)
    ]


_IN_USE = "It is in a commit made just now, or in words that mdmem writes itself; if so, purge a longer text."


def _path(url: str) -> str:
    """Return the path part of a remote's address, or the address itself."""
    rest = url.partition("://")[2]
    return f"/{rest.partition('/')[2]}" if rest else url.partition(":")[2] or url


def _has_any(repo: Repository, remote: str, commits: Collection[str]) -> bool | None:
    """Whether a remote has any of these commits; None when it was never fetched, or has commits that we lack."""
    there = repository.attempt(repo, "rev-list", f"--remotes={remote}").out.decode("ascii").split()
    if not set(there).isdisjoint(commits):
        return True
    apart = repository.attempt(repo, "rev-list", "-1", f"--remotes={remote}", "--not", "--branches").out
    return False if there and not apart else None
