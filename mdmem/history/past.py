"""The vault at any commit or date: notes, searches and differences."""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mdmem.config import Config
from mdmem.errors import MdmemError, NotFoundError
from mdmem.history import changes, find
from mdmem.history.git import git_index, objects, repository
from mdmem.history.git.repository import Repository
from mdmem.history.git.texts import Texts
from mdmem.vault import disk, layout, note

SNIPPET_CHARS = 200
TITLE_WEIGHT = 3.0


class PastNote(NamedTuple):
    """A note at an earlier time. commit: the one it was read from."""

    path: str
    commit: str
    data: bytes


class FilePatch(NamedTuple):
    """The changes of one file: its path, and its patch with header."""

    path: str
    patch: str


class PastHit(NamedTuple):
    """A hit in an old tree, with its score; the snippet is the line that fits best."""

    path: str
    id: str
    kind: str
    title: str
    created: str
    project: str
    session: str
    score: float
    snippet: str


def show(config: Config, name: str, at: str) -> PastNote:
    """Read the note with this id or path as it was at a commit, date or time.

    Raises:
        NotFoundError: when there was no such note, or no commit yet.
        AmbiguousError: when the id is a prefix of several.
        UsageError: when `at` is not a commit, date or time.
        VaultError: when the vault is not a repository.
    """
    repo = repository.open_vault(config.vault)
    oid = find.commit_of(repo, at)
    paths = tree(repo, oid)
    typed, note_id = layout.typed_path(config.vault, name), note.id_in_reference(name)
    path = typed if typed in paths else find.by_id(paths, note_id) or _renamed(config, paths, note_id)
    path = path or find.by_beginning(find.ids_in(paths), note_id)
    if not path:
        raise NotFoundError(f"At {at} ({oid[:8]}), no note had the id or path {name!r}.")
    return PastNote(path, oid, repository.run(repo, "cat-file", "blob", paths[path]))


def search(config: Config, words: str, at: str, *, limit: int = 10, project: str = "", kind: str = "") -> list[PastHit]:
    """Find notes as they were at a commit, date or time, best first; any word may match.

    The index covers only the present. This reads every note of that time (0.25 s for 10,000), and ranks by rarity and
    frequency of the words.

    Raises what `show` raises.
    """
    repo = repository.open_vault(config.vault)
    blobs = tree(repo, find.commit_of(repo, at))
    terms = list(dict.fromkeys(re.findall(r"\w+", words.lower())))
    shares_of = {path: shares for path, data in Texts(repo, blobs).items() if any(shares := _shares(data, terms))}
    counts = [sum(map(bool, column)) for column in zip(*shares_of.values(), strict=True)]
    weights = dict(zip(terms, (math.log(1 + len(blobs) / (1 + count)) for count in counts), strict=False))
    scored = {path: sum(map(operator.mul, shares, weights.values())) for path, shares in shares_of.items()}
    best = sorted(scored, key=lambda path: (-scored[path], path))
    hits: list[PastHit] = []
    for path, data in Texts(repo, {path: blobs[path] for path in best}).items():
        parsed = note.parse(data)
        texts = note.texts(parsed.meta, "id", "kind", "title", "created", "project", "session")
        if (project and texts["project"] != project) or (kind and texts["kind"] != kind):
            continue
        if note.is_internal(path, texts["kind"]) and kind not in note.INTERNAL:
            continue  # as in a search of the present
        hits.append(PastHit(path, **texts, score=scored[path], snippet=_snippet(parsed.body, weights)))
        if len(hits) == limit:
            break
    return hits


def diff(config: Config, span: str = "", *, paths: tuple[str, ...]) -> Iterator[bytes]:
    """Yield a difference as the lines of a patch, as git prints it.

    span: `A..B` between two moments, `A` from then to now, "" since the last commit. A and B are commits, dates or
    times; an empty side of `..` is the last commit.

    Raises what `show` raises.
    """
    repo = repository.open_vault(config.vault)
    before, dots, after = span.partition("..")
    arguments = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--patch"]
    arguments += ["--src-prefix=a/", "--dst-prefix=b/"]
    sides = [find.commit_of(repo, before or "HEAD")]
    if dots:
        sides.append(find.commit_of(repo, after or "HEAD"))
        yield from repository.fields(repo, *arguments, *sides, "--", *paths, end=b"\n")
        return
    changes.refuse_any_pipe(repo.root, paths)
    with git_index.copied(repo) as copy:
        # Untracked files belong to the present. They are added only to the copy of the index.
        env = git_index.env(copy)
        new = repository.fields(repo, "ls-files", "--others", "--exclude-standard", "-z", "--", *paths, env=env)
        listed = b"".join(path + b"\0" for path in new if disk.is_note_path(os.fsdecode(path)))
        if listed:
            # Only their names: text that has not passed the gate must not become an object.
            names = ("--pathspec-from-file=-", "--pathspec-file-nul")
            repository.run(repo, "add", "--intent-to-add", *names, stdin=listed, env=env)
        yield from repository.fields(repo, *arguments, *sides, "--", *paths, env=env, end=b"\n")


def patches(lines: Iterable[bytes]) -> list[FilePatch]:
    """Split a patch by file, each with its newer path."""
    sections: list[tuple[str, list[str]]] = []
    for data in lines:
        line = data.decode("utf-8", "replace")
        if line.startswith("diff --git "):
            paths = line.removeprefix("diff --git ")  # "a/PATH b/PATH", unless the file was renamed
            sections.append((paths[len(paths) // 2 + 3 :], []))
        elif line.startswith("rename to "):
            sections[-1] = line.removeprefix("rename to "), sections[-1][1]
        sections[-1][1].append(line)
    return [FilePatch(path, "".join(f"{line}\n" for line in lines_of_file)) for path, lines_of_file in sections]


def hunks(patch: str) -> str:
    """Return the patch of one file without git's own lines about it; "" for one that changes no line."""
    return patch[patch.find("\n@@") + 1 :] if "\n@@" in patch else ""


def tree(repo: Repository, oid: str) -> dict[str, str]:
    """Return the notes of a commit: vault path -> blob id."""
    return dict(notes(repo, oid))


def notes(repo: Repository, oid: str) -> Iterator[tuple[str, str]]:
    """Yield vault path and blob id of a commit's notes."""
    listed = objects.listed(repo, oid)
    return ((path, blob) for mode, blob, path in listed if mode.startswith("100") and disk.is_note_path(path))


def deletions(root: str, folder: str) -> dict[str, float]:
    """Return path -> time of the commit that last deleted it, for a folder; {} without history.

    folder: vault-relative, with a slash at the end.
    """
    try:
        repo = repository.open_vault(root)
    except MdmemError:
        return {}
    form = ("--diff-filter=D", "--format=%x00%ct", "--name-only")
    result = repository.attempt(repo, "log", *find.EVERY_SIDE, *form, "--", folder)
    times: dict[str, float] = {}
    for commit in result.out.decode("utf-8", "replace").split("\0")[1:] if not result.status else ():
        when, *paths = commit.split("\n")
        for path in filter(None, paths):
            times.setdefault(path, float(when))
    return times


def _renamed(config: Config, paths: dict[str, str], name: str) -> str:
    """Return the current path of a note by id if the old tree has it too; for notes without the id in their name."""
    try:
        path = find.path_of(config, name)
    except NotFoundError:
        return ""
    return path if path in paths else ""


def _shares(data: bytes, terms: list[str]) -> tuple[float, ...]:
    """Return each word's unweighted share of a note's score, 0 for a word that it lacks.

    Front matter (title, files, command) counts more; repetition counts less and less.
    """
    text = data.decode("utf-8", "replace").lower()
    head, length = text[: max(text.find("\n---", 3), 0)], 1 + len(text) / 4000
    often = ((term, text.count(term) / length) for term in terms)
    return tuple(times / (times + 1.2) + TITLE_WEIGHT * (term in head) if times else 0.0 for term, times in often)


def _snippet(body: str, weights: dict[str, float]) -> str:
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    best = max(lines, key=lambda line: sum(w for term, w in weights.items() if term in line.lower()), default="")
    return note.one_line(best, SNIPPET_CHARS)
