"""Rewrite every commit, in a copy that replaces the original only when it is complete."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mdmem.errors import GitError, UsageError
from mdmem.history.git import checked_out, git_index, objects, repository, writer
from mdmem.history.git.environment import BOUNDS
from mdmem.history.git.repository import Repository
from mdmem.vault import editing, note, packed

FOLDER = git_index.PURGE_FOLDER
"""The copy, in the git directory. The next run removes one that an interrupted run left."""

MODULE = "git_filter_repo"

Replacements = Iterable[tuple[re.Pattern[bytes], bytes]]


def is_installed() -> bool:
    """Whether git-filter-repo is installed; it comes with the extra `mdmem[purge]`."""
    return importlib.util.find_spec(MODULE) is not None


class Rewritten(NamedTuple):
    """A rewritten copy, not yet in use. moved: old id -> new id of each rewritten commit, "" for a dropped one."""

    folder: Path
    moved: dict[str, str]


@contextmanager
def rewritten(
    repo: Repository,
    *,
    texts: Replacements,
    messages: Replacements,
    drop: tuple[str, ...],
    rename: Mapping[str, str] | None,
    keep_named: bool,
) -> Iterator[Rewritten]:
    """Rewrite all commits of all branches and tags in a copy, which is removed at the end.

    texts, messages: regular expressions over bytes with their replacements, applied in order.
    drop: paths to delete; rename: old path -> new path.
    keep_named: leave commit ids in messages alone instead of updating them. The record of a purge made elsewhere
    names the old commits.

    Raises GitError when it fails; nothing has changed then.
    """
    copy = repo.git_dir / FOLDER
    shutil.rmtree(copy, ignore_errors=True)
    repo = objects.complete(repo)
    try:
        name, email = repository.identity(repo)
        # the bounds are for the git that filter-repo starts, the name for a commit that is added
        settings = (*BOUNDS, f"user.name={name}", f"user.email={email}")
        configured = (word for setting in settings for word in ("--config", setting))
        command = ("clone", "--quiet", "--mirror", "--no-hardlinks", "--template=", *configured)
        repository.run(repo, *command, str(repo.common_dir), str(copy))
        # filter-repo would take remote-tracking refs for branches. They are fetched again later.
        repository.drop_refs(Repository(copy, copy, copy), "refs/remotes")
        options = ["--preserve-commit-hashes"] * keep_named
        clean = ["--blob-callback", _callback(copy, texts), "--replace-message", _rules(copy, messages)]
        _filter(copy, [*options, *clean])
        if repository.run(repo, "rev-parse", "--show-object-format").strip() != b"sha1":
            options += ["--blob-callback", "pass"]  # else git-filter-repo 2.47 reads only ids of blobs in SHA-1
        if drop:
            _filter(copy, [*options, "--invert-paths", "--paths-from-file", _listed(copy, drop)])
        if rename:
            _filter(
                copy, [*options, "--paths-from-file", _listed(copy, [f"{old}==>{new}" for old, new in rename.items()])]
            )
        yield Rewritten(copy, _rewritten_commits(copy))
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def cleaned(data: bytes, rules: Replacements) -> bytes:
    """Apply rules to a text; a note keeps valid front matter, and its digest, so that it does not count as edited."""
    after = _replaced(data, rules)
    if after == data:
        return data
    old_sections, new_sections = data.split(packed.MARK), after.split(packed.MARK)
    if len(old_sections) == len(new_sections) > 1:
        sections = zip(old_sections[1:], new_sections[1:], strict=True)
        return packed.MARK.join([new_sections[0], *(_cleaned_section(*pair, rules) for pair in sections)])
    return _cleaned_note(data, after, rules)


def _replaced(data: bytes, rules: Replacements) -> bytes:
    for pattern, instead in rules:
        data = pattern.sub(lambda _, instead=instead: instead, data)  # type: ignore[misc]
    return data


def _cleaned_section(old: bytes, new: bytes, rules: Replacements) -> bytes:
    line, newline, text = new.partition(b"\n")
    return line + newline + _cleaned_note(old.partition(b"\n")[2], text, rules)


def _cleaned_note(old: bytes, new: bytes, rules: Replacements) -> bytes:
    before, after = note.parse(old), note.parse(new)
    if after.problem and not before.problem:
        with suppress(UsageError):
            new = _replaced(editing.set_keys(old, _cleaned_values(before.meta, rules)), rules)
            after = note.parse(new)
    if "digest" not in before.meta or note.is_edited(before):
        return new
    digest = note.fingerprint(after.fact("title"), after.body)
    return re.sub(rb"(?m)^digest: .*$", b'digest: "%b"' % digest.encode(), new, count=1)


def _cleaned_values(value: Any, rules: Replacements) -> Any:
    """Apply rules to all texts in a front matter value."""
    if isinstance(value, str):
        return _replaced(value.encode("utf-8", "surrogateescape"), rules).decode("utf-8", "surrogateescape")
    if isinstance(value, dict):
        return {key: _cleaned_values(item, rules) for key, item in value.items()}
    return [_cleaned_values(item, rules) for item in value] if isinstance(value, list) else value


def cleaned_by(file: str, data: bytes) -> bytes:
    """Apply the rules stored in a file to a text; git-filter-repo calls this in its own process."""
    return cleaned(data, _read_rules(file))


@cache
def _read_rules(file: str) -> list[tuple[re.Pattern[bytes], bytes]]:
    return [(re.compile(pattern), instead) for pattern, instead in ast.literal_eval(Path(file).read_text("utf-8"))]


KEPT_REMOTE_REFS = "refs/mdmem/heard/"
"""Prefix of refs that hold the rewritten remote-tracking refs: `<remote>/<branch>` follows."""


def fetch_back(repo: Repository, copy: Rewritten, lock_fd: int) -> None:
    """Replace our commits by the rewritten ones: fetch them, move the refs, update the index."""
    remote_refs = repository.refs(repo, "refs/remotes")
    kept_refs = {
        ref.replace("refs/remotes/", KEPT_REMOTE_REFS, 1): copy.moved.get(oid, oid) for ref, oid in remote_refs.items()
    }
    writer.mark(repo, checked_out.tip(repo))
    command = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--update-head-ok", "--prune")
    repository.run(repo, *command, str(copy.folder), "+refs/*:refs/*", lock_fd=lock_fd)
    for ref, oid in kept_refs.items():
        if oid and not ref.endswith("/HEAD"):
            repository.attempt(repo, "update-ref", ref, oid, lock_fd=lock_fd)
    git_index.catch_up(repo, lock_fd)


def restore_remote_refs(repo: Repository) -> None:
    """Restore the remote-tracking refs from `KEPT_REMOTE_REFS`, where a purge has nothing to replace at the remote."""
    for ref, oid in repository.refs(repo, KEPT_REMOTE_REFS).items():
        repository.run(repo, "update-ref", ref.replace(KEPT_REMOTE_REFS, "refs/remotes/", 1), oid)
    repository.drop_refs(repo, KEPT_REMOTE_REFS)


def scrub(repo: Repository) -> None:
    """Delete old states: reflogs, pseudo-refs such as ORIG_HEAD, unreachable objects, unfinished packs.

    Raises GitError when git fails.
    """
    for name in ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG"):
        (repo.git_dir / name).unlink(missing_ok=True)
    tree = repository.attempt(repo, "write-tree").out  # drops deleted folders from the index's tree cache
    repository.run(repo, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    _list_stash(repo)
    _drop_unreachable(repo, tree)
    for leftover in (repo.common_dir / "objects" / "pack").glob(".tmp-*"):  # from a killed `git repack`
        leftover.unlink(missing_ok=True)


def _drop_unreachable(repo: Repository, tree: bytes) -> None:
    """Delete unreachable objects. tree: id of the index's tree, b"" for none.

    Like `git gc --prune=now`, in half of the memory. Git keeps the index in memory while it packs. If nothing is
    staged, the last commit has all objects of the index, so an empty index is used. Any loose object would make
    `git prune` walk the whole history, so they are packed first.
    """
    repository.run(repo, "maintenance", "run", "--quiet", "--task=loose-objects")
    repository.run(repo, "prune-packed", "--quiet")
    head = repository.attempt(repo, "rev-parse", "--verify", "--quiet", "HEAD^{tree}").out
    is_clean = tree != b"" and tree == head
    empty = {"GIT_INDEX_FILE": str(repo.git_dir / f"{git_index.PREFIX}none")} if is_clean else None
    repository.run(repo, "repack", "-a", "-d", "-l", "--quiet", env=empty)
    repository.run(repo, "prune", "--expire=now")
    repository.run(repo, "commit-graph", "write", "--reachable")


def _list_stash(repo: Repository) -> None:
    """Put the rewritten last stash entry back on the list; older entries were in the reflog alone and are lost."""
    oid = writer.tip(repo, "refs/stash")
    if oid:
        repository.run(repo, "update-ref", "-d", "refs/stash")
        if repository.attempt(repo, "stash", "store", "--quiet", "--message", "Rewritten by a purge", oid).status:
            repository.run(repo, "update-ref", "refs/stash", oid)


def _filter(copy: Path, arguments: list[str]) -> None:
    result = repository.start_module(copy, MODULE, ["--force", "--quiet", *arguments])
    if result.status:
        raise GitError(f"git-filter-repo failed, and nothing was changed: {repository.reason(result)}")


def _callback(copy: Path, rules: Replacements) -> str:
    """Return the code that git-filter-repo runs for each blob."""
    file = copy / "mdmem-texts"
    file.write_text(repr([(pattern.pattern, instead) for pattern, instead in rules]), "utf-8")
    return f"from {__name__} import cleaned_by\nblob.data = cleaned_by({str(file)!r}, blob.data)"


def _rules(copy: Path, rules: Replacements) -> str:
    file = copy / "mdmem-rules"
    file.write_bytes(b"".join(b"regex:%b==>%b\n" % (pattern.pattern, instead) for pattern, instead in rules))
    return str(file)


def _listed(copy: Path, lines: list[str] | tuple[str, ...]) -> str:
    file = copy / "mdmem-paths"
    file.write_bytes(b"".join(b"literal:" + os.fsencode(line) + b"\n" for line in lines))
    return str(file)


def _rewritten_commits(copy: Path) -> dict[str, str]:
    """Read which commits were rewritten; filter-repo accumulates the map over several runs."""
    file = copy / "filter-repo" / "commit-map"
    rows = [line.split() for line in file.read_text("ascii").splitlines()[1:]] if file.is_file() else []
    return {old: new.strip("0") and new for old, new in rows if old != new}
