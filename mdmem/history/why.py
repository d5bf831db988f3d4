"""Trace a note, or a line of it: session, prompt, tool run, code commit, and later edits."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from mdmem import plural, timestamps
from mdmem.config import Config
from mdmem.errors import NotFoundError, UsageError
from mdmem.history import find
from mdmem.history.git import repository
from mdmem.history.git.environment import PATTERNS
from mdmem.history.git.repository import Repository
from mdmem.history.message import SESSION_FORMAT
from mdmem.vault import creation, disk, is_in_journal, journal, layout, note, people


class OriginStep(NamedTuple):
    """A commit that changed the note.

    time: ISO 8601, UTC. session: the one that it belongs to, "" for a person's commit.
    """

    oid: str
    time: str
    author: str
    subject: str
    session: str


class Origin(NamedTuple):
    """Where a note came from.

    path: vault-relative. line: from 1, 0 for the whole note; text: that line.
    ask: title of the prompt that it belongs to. branch, code_commit: of the code at that time.
    made_commit: commit that the tool run made in the code.
    line_commit: the commit that last changed the line; None for the whole note or an uncommitted line.
    steps: the note's commits, oldest first.
    """

    path: str
    line: int
    text: str
    id: str
    kind: str
    title: str
    created: str
    session: str
    agent: str
    project: str
    ask: str
    tool: str
    branch: str
    code_commit: str
    made_commit: str
    line_commit: OriginStep | None
    steps: list[OriginStep]


def why(config: Config, name: str) -> Origin:
    """Explain a note (`PATH` or `ID`) or one of its lines (`PATH:LINE`).

    Raises:
        NotFoundError: when there is no such note.
        UsageError: when it has fewer lines.
        VaultError: when the vault is not a repository.
    """
    path, line = _split(config, name)
    data = disk.read_path(config.vault, path) or b""
    lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    if line > len(lines):
        raise UsageError(f"{path} has {plural.number(len(lines), 'line')}, so there is no line {line}.")
    parsed = note.parse(data)
    meta = note.texts(parsed.meta, *parsed.meta)
    repo = repository.open_vault(config.vault)
    return Origin(
        path=path,
        line=line,
        text=lines[line - 1] if line else "",
        **creation.described(config.vault, path, people.cleaned(config.vault, parsed)),
        session=meta.get("session", ""),
        agent=meta.get("agent", ""),
        ask=_ask(config.vault, path, meta),
        tool=meta.get("tool", ""),
        branch=meta.get("branch", ""),
        code_commit=meta.get("commit", ""),
        made_commit=" ".join(filter(None, (meta.get("made_commit"), meta.get("commit_subject")))),
        line_commit=_blame(repo, path, line) if line else None,
        steps=steps(repo, path),
    )


FORMAT = f"%H%x00%cI%x00%an%x00%s%x00{SESSION_FORMAT}"


def steps(repo: Repository, path: str) -> list[OriginStep]:
    """Return the commits of a file, oldest first; for a captured note also from before its folders were renamed."""
    commits = _commits(repo, [path])
    name = path.rpartition("/")[2]
    if is_in_journal(path) and journal.id_in(name):
        known_paths, paths = {path}, _paths_named(repo, commits, name)
        while new_paths := paths - known_paths:
            known_paths |= new_paths
            commits = _commits(repo, sorted(known_paths))
            paths = _paths_named(repo, commits, name)
    return commits[::-1]


def _commits(repo: Repository, paths: list[str]) -> list[OriginStep]:
    """Return the commits of files, newest first. For one path, git's commit-graph rules most commits out."""
    arguments = ("log", "-z", "--no-ext-diff", f"--format={FORMAT}", "HEAD", "--", *paths)
    fields = os.fsdecode(repository.attempt(repo, *arguments).out).split("\0")
    return [_step(fields[at : at + 5]) for at in range(0, len(fields) - 4, 5)]


def _step(fields: Sequence[str]) -> OriginStep:
    """Return a commit from its fields, as FORMAT has them."""
    oid, time, *others = fields
    return OriginStep(oid, timestamps.utc(time), *others)


def _paths_named(repo: Repository, commits: list[OriginStep], name: str) -> set[str]:
    """Return the paths of files with this name that these commits changed.

    A captured note is followed by the id in its name: git's rename detection confuses notes with the same content.
    """
    arguments = ("diff-tree", "--stdin", "-m", "-r", "-z", "--no-renames", "--no-commit-id", "--name-only")
    stdin = "".join(f"{commit.oid}\n" for commit in commits).encode()
    result = repository.attempt(repo, *arguments, "--", f":(glob)**/{name}", stdin=stdin, env=PATTERNS)
    return set(filter(None, os.fsdecode(result.out).split("\0")))


def _split(config: Config, name: str) -> tuple[str, int]:
    """Split `PATH:LINE`, unless the colon belongs to a path or an id."""
    head, _, tail = name.rpartition(":")
    if head and re.fullmatch("0{,9}[1-9][0-9]{,9}", tail):
        with suppress(NotFoundError):
            return find.path_of(config, head), int(tail)
    return find.path_of(config, name), 0


def _ask(root: str, path: str, meta: dict[str, str]) -> str:
    """Return the title of the prompt that a note belongs to, by prompt number."""
    if meta.get("kind") == "prompt":
        return meta.get("title", "")
    folder = layout.folder_of(path)
    if not meta.get("session") or not folder:
        return ""
    for name in sorted(disk.names_in(root, folder)):
        if "-prompt-" not in name:
            continue
        prompt_meta = note.load(root, f"{folder}/{name}").meta
        if str(prompt_meta.get("prompt")) == meta.get("prompt") and prompt_meta.get("kind") == "prompt":
            return str(prompt_meta.get("title", ""))
    return ""


def _blame(repo: Repository, path: str, line: int) -> OriginStep | None:
    result = repository.attempt(repo, "blame", "--porcelain", "-L", f"{line},{line}", "--", path)
    oid = result.out.partition(b" ")[0].decode("ascii", "replace")
    if not oid.strip("0"):
        return None  # the file or this line is not committed
    logged = repository.run(repo, "log", "-1", f"--format={FORMAT}", oid)
    return _step(os.fsdecode(logged).rstrip("\n").split("\0"))
