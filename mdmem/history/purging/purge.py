"""Delete a text, a pattern or a note for good, from files, caches and every commit, and verify that."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from mdmem import files
from mdmem.config import Config
from mdmem.errors import GitError, UsageError
from mdmem.history import find, pages, rewrite
from mdmem.history.git import advice, checked_out, filtering, git_index, lock, objects, repository
from mdmem.history.git.filtering import Rewritten
from mdmem.history.git.repository import Repository
from mdmem.history.purging import patterns, purge_record, unpurged
from mdmem.history.rewrite import RewriteStep
from mdmem.progress import ProgressCallback, ignore
from mdmem.vault import disk, journal, layout, note

MAX_ENCODED = 12
"""Maximum number of texts of another machine that are also searched for in base64 and hexadecimal, which takes long."""


class Occurrences(NamedTuple):
    """Where a purge finds its text.

    files: vault path -> number of places; objects: number of git objects; caches: files of state.
    other_case: number of files and objects with the text in other letter case, which stay.
    """

    files: dict[str, int]
    objects: int
    caches: list[str]
    other_case: int


class PurgePlan(NamedTuple):
    """What to purge, and where it was found.

    pattern: matches bytes in any text. messages: the pattern for commit messages, which may match more.
    drop: paths to delete, at which any commit had the note. keep: drop them from history but keep the files.
    rename: paths whose names contain the text -> new paths. names: matches the text in the form it has in file names.
    marks: hashes of the ids of purged notes.
    texts: those that the pattern matched, for other machines; untold: number of further ones, which stay unknown there.
    found: empty in the plan of another machine's purge, for which nothing is counted.
    """

    pattern: re.Pattern[bytes]
    messages: re.Pattern[bytes]
    instead: bytes
    drop: tuple[str, ...]
    rename: dict[str, str]
    keep: bool = False
    names: re.Pattern[bytes] = patterns.NOTHING
    marks: frozenset[str] = frozenset()
    texts: frozenset[bytes] = frozenset()
    untold: int = 0
    found: Occurrences = Occurrences({}, 0, [], 0)

    def finds(self, data: bytes) -> bool:
        """Whether a text contains anything to purge."""
        return bool(self.pattern.search(data) or self.names.search(data))

    def holds(self, data: bytes) -> bool:
        """Whether a file contains anything to purge, also in a form that cannot be purged."""
        return self.finds(data) or unpurged.hides(data, self.finds)

    def cleaned(self, data: bytes) -> bytes:
        """Return a purged text; links lead to the new names."""
        return filtering.cleaned(data, self.rules)

    @property
    def rules(self) -> tuple[tuple[re.Pattern[bytes], bytes], ...]:
        """Return the patterns for texts, each with its replacement."""
        return ((self.names, patterns.RENAMED), (self.pattern, self.instead))

    def place(self, path: str) -> str:
        """Return a file's path after the purge; "" for a dropped one."""
        return "" if path in self.drop else self.rename.get(path, path)


class Purged(NamedTuple):
    """The result of a purge.

    commits: how many were rewritten. left: sentences on where the text still is; empty when verified as gone.
    elsewhere: places out of reach, each with what to do there.
    """

    files: list[str]
    commits: int
    objects_searched: int
    left: list[str]
    elsewhere: list[str]


def plan(config: Config, target: str, *, kind: str = "text", report: ProgressCallback = ignore) -> PurgePlan:
    """Find everything that a purge would touch. Changes nothing.

    kind: "text" for a literal text, "regex" for a regular expression, "id" for a note; "path" for a file, or all files
    of a folder, to drop from history but keep in the vault. report: progress callback.

    Raises:
        UsageError: when the text is empty, or the expression is invalid or matches an empty text, or either matches
            what every note consists of.
        NotFoundError: when no note, now or ever, had that id.
        VaultError: when the vault is not a repository.
        GitError: when it is a shallow clone of a remote.
    """
    repo = repository.open_vault(config.vault)
    if repository.run(repo, "remote"):
        objects.refuse_shallow(repo, "and the next sync would replace the remote's whole history by this part of it")
    known_paths = _paths_ever(config, repo)
    report("Searching files and history", 0, 0)
    if kind == "path":
        return _out_of_history(config, repo, known_paths, target)
    instead = config.settings.privacy.redacted.encode()
    if kind == "id":
        current_path = "" if find.by_id(known_paths, target) else find.path_of(config, target)
        target = find.id_of(config, current_path) if current_path else target
        drop = tuple(path for path in known_paths if find.by_id([path], target)) or (current_path,)
        pattern = patterns.of_note(target)
        messages = _in_messages(repo, drop, pattern.pattern)
        marks = frozenset(purge_record.mark(journal.id_in(path) or target) for path in drop)
        return _counted(config, repo, PurgePlan(pattern, messages, instead, drop, {}, marks=marks))
    pattern = patterns.literal(target) if kind == "text" else patterns.expression(target)
    patterns.refuse_own(pattern)
    names = patterns.in_names(target) if kind == "text" else patterns.NOTHING
    rename = {path: new for path in known_paths if (new := patterns.renamed(path, names, pattern)) != path}
    planned = PurgePlan(pattern, pattern, instead, (), rename, names=names)
    counted = _counted(config, repo, planned, os.fsencode(target.lower()) if kind == "text" else b"")
    extended = pattern if kind == "text" else patterns.with_titles(pattern, counted.texts)
    return counted if extended is pattern else _counted(config, repo, planned._replace(pattern=extended))


def plan_again(config: Config, texts: Collection[bytes], marks: Collection[str]) -> PurgePlan:
    """Plan what another machine purged: texts, and notes, given by the hashes of their ids."""
    repo = repository.open_vault(config.vault)
    known_paths = _paths_ever(config, repo)
    drop = tuple(path for path in known_paths if marks and purge_record.mark(journal.id_in(path)) in marks)
    texts = frozenset(filter(patterns.is_specific, texts))  # an earlier version recorded also others
    literals = [os.fsdecode(text) for text in sorted(texts, key=len, reverse=True)]
    encoded = len(literals) <= MAX_ENCODED
    of_texts = [patterns.literal(text, encoded=encoded).pattern for text in literals]
    of_notes = [patterns.of_note(journal.id_in(path)).pattern for path in drop]
    pattern = patterns.any_of([*of_texts, *of_notes])
    names = patterns.in_names(*literals)
    staying = (path for path in known_paths if path not in drop)
    rename = {path: new for path in staying if (new := patterns.renamed(path, names, pattern)) != path}
    instead = config.settings.privacy.redacted.encode()
    return PurgePlan(pattern, pattern, instead, drop, rename, names=names, marks=frozenset(marks), texts=texts)


def clean_up(config: Config, planned: PurgePlan, lock_fd: int) -> list[str]:
    """Purge files, repository and caches after our branch was replaced; return sentences on where the text still is.

    lock_fd: descriptor of the committer's lock.
    """
    _clean_files(config, planned)
    _clean_caches(config, planned)
    repo = repository.open_vault(config.vault)
    filtering.scrub(repo)
    if any(planned.finds(data) for _, data in objects.every(repo)):
        repo = _rewrite_others(repo, planned, lock_fd)
        filtering.scrub(repo)
    _clean_caches(config, planned)
    return _prove(config, repo, planned)[0]


def _rewrite_others(repo: Repository, planned: PurgePlan, lock_fd: int) -> Repository:
    """Purge tags, stashes and other branches, after fetching what a partial clone lacks.

    When that fails, the final check reports what is left.
    """
    with suppress(GitError):
        repo = objects.complete(repo)
        if filtering.is_installed():
            with _filtered(repo, planned, keep_named=True) as rewritten:
                if rewritten.moved and checked_out.tip(repo) not in rewritten.moved:
                    filtering.fetch_back(repo, rewritten, lock_fd)
                    filtering.restore_remote_refs(repo)
    return repo


def _filtered(repo: Repository, planned: PurgePlan, *, keep_named: bool = False) -> AbstractContextManager[Rewritten]:
    return filtering.rewritten(
        repo,
        texts=planned.rules,
        messages=((planned.names, patterns.RENAMED), (planned.messages, planned.instead)),
        drop=planned.drop,
        rename=planned.rename,
        keep_named=keep_named,
    )


def _counted(config: Config, repo: Repository, planned: PurgePlan, low: bytes = b"") -> PurgePlan:
    """Fill in where the text is found. low: the text in lower case, to count other letter cases; b"": do not count."""

    def has_other(data: bytes) -> bool:
        return bool(low) and low in data.lower() and low in planned.cleaned(data).lower()

    other_case = sum(has_other(data) for _, data in _files(config)) if low else 0
    files = {
        path: len(planned.pattern.findall(data)) + len(planned.names.findall(data)) or 1
        for path, data in _files(config)
        if (path not in planned.drop and planned.holds(data)) or (path in planned.drop and not planned.keep)
    }
    count, matched = 0, set[bytes]()
    for _, data in objects.every(repo):
        other_case += has_other(data)
        if planned.holds(data):
            count += 1
            matched.update(match.group() for match in planned.pattern.finditer(data))
    caches = [str(path) for path in _caches(config) if planned.finds(_bytes(path))]
    matched = set() if planned.drop else matched
    texts = _for_others(config, repo, planned, matched, alone=bool(low))
    found = Occurrences(files, count, caches, other_case)
    return planned._replace(texts=texts, untold=len(matched) - len(texts), found=found)


def _for_others(
    config: Config, repo: Repository, planned: PurgePlan, matched: set[bytes], *, alone: bool
) -> frozenset[bytes]:
    """Return the texts that other machines can purge, at most `MAX_TEXTS`: they know the texts, but no expression.

    Without the digit that `(?<=pin )\\d` matches in one place and leaves in another. alone: no text is left anywhere.
    """
    texts = set(sorted(filter(patterns.is_specific, matched))[: purge_record.MAX_TEXTS])
    for _, data in () if alone else chain(_files(config), objects.every(repo)):
        rest = planned.cleaned(data)
        texts -= {text for text in texts if text in rest}
    return frozenset(texts)


def apply(config: Config, planned: PurgePlan, report: ProgressCallback = ignore) -> Purged:
    """Rewrite history as planned, then search everything for what should be gone.

    Raises:
        GitError: when git-filter-repo is missing or fails; history is then as it was.
        VaultError, BusyError, OSError: when the vault cannot be written.
    """
    if not filtering.is_installed():
        from mdmem.agents.install import installation  # slow to load, and each sync loads this module

        raise GitError(f"Rewriting history needs git-filter-repo. Run: {installation.install_command('purge')}")
    with lock.held(config.state_dir, repository.open_vault(config.vault).common_dir) as lock_fd:
        return apply_held(config, planned, lock_fd, report)


def apply_held(config: Config, planned: PurgePlan, lock_fd: int, report: ProgressCallback = ignore) -> Purged:
    """Do what `apply` does, under the committer's lock."""
    repo = repository.open_vault(config.vault)
    stashed = len(repository.attempt(repo, "stash", "list").out.splitlines())
    git_index.heal(repo)
    git_index.catch_up(repo, lock_fd)
    if blocking := lock.of_git(repo):  # halfway, it would leave refs that the next purge takes for the remote's
        text = advice.explained(f"git is locked: '{blocking[0]}': File exists", "")
        raise GitError(f"Nothing was purged, because {text}")
    report("Rewriting history", 0, 0)
    with _filtered(repo, planned) as rewritten:
        # while we still know what remotes have
        remote_advice = unpurged.of_purge(repo, rewritten.moved, len(planned.texts), planned.untold)
        # Files first: if we are killed here, the next purge finishes, and no commit in the meantime can
        # restore what history no longer has.
        report("Cleaning files", 0, 0)
        changed = _clean_files(config, planned)
        in_part = planned.untold if planned.untold or planned.keep else None
        trailers = purge_record.trailers_of(planned.marks, planned.texts, in_part)
        if rewritten.moved:
            copy = Repository(rewritten.folder, rewritten.folder, rewritten.folder)
            purge_record.write(repo, rewritten.moved, trailers, lock_fd, copy)
            filtering.fetch_back(repo, rewritten, lock_fd)
        _unstage(repo, planned)
        if planned.marks and not rewritten.moved:
            purge_record.write(repo, {}, trailers, lock_fd)
    _clean_caches(config, planned)  # before the objects: leftover objects show that a killed purge is unfinished
    report("Removing old objects", 0, 0)
    filtering.scrub(repo)
    _clean_caches(config, planned)
    repository.attempt(repo, "update-index", "--no-untracked-cache")  # it contains folder names
    report("Searching for what is left", 0, 0)
    remaining, searched = _prove(config, repo, planned)
    lost = [f"Older entries of `git stash` ({stashed - 1}) could not be rewritten, so they are gone."] * (stashed > 1)
    return Purged(changed, len(rewritten.moved), searched, remaining, [*lost, *remote_advice])


def _paths_ever(config: Config, repo: Repository) -> list[str]:
    return sorted(paths_in_history(repo, "--all") | {entry.path for entry in disk.walk(config.vault)})


def paths_in_history(repo: Repository, *commits: str) -> set[str]:
    """Return the paths that some commits add, change or delete. commits: as for `git rev-list`."""
    arguments = ("log", "-m", "--no-renames", "--name-only", "--format=", "-z", *commits)
    return {path for path in repository.each(repo, *arguments) if path}


def _out_of_history(config: Config, repo: Repository, known_paths: list[str], target: str) -> PurgePlan:
    """Plan to drop files from history, and from the pages and messages that name them."""
    place = layout.typed_path(config.vault, target) or target
    drop = tuple(path for path in known_paths if path == place or path.startswith(f"{place}/"))
    drop = drop or (find.path_of(config, target),)
    if any(disk.is_packed(config.vault, path) for path in drop):
        raise UsageError(f"{target} is archived. Unpack it first: mdmem archive --undo YEAR")
    file_names = [
        name for folder, name in map(layout.split, drop) if not any(page in drop for page in journal.page_paths(folder))
    ]
    sections = [patterns.archived(name) for folder, name in map(layout.split, drop) if layout.archive_of(folder)]
    linked = (pages.links(file_names).pattern, pages.links_to(drop[0] if len(drop) == 1 else place).pattern)
    pattern = patterns.any_of([*sections, *linked])
    marker = config.settings.privacy.marker.encode()
    messages = _in_messages(repo, (place,) if len(drop) > 1 else drop, pattern.pattern)
    return _counted(config, repo, PurgePlan(pattern, messages, marker, drop, {}, keep=True))


def _in_messages(repo: Repository, paths: tuple[str, ...], pattern: bytes) -> re.Pattern[bytes]:
    """Extend a pattern for messages by the lines that name a note by any title it has had."""
    form = ("--full-history", "--no-renames", "--raw", "--no-abbrev", "--format=", "-z")
    arguments = ("log", "--all", *form, "--", *paths)
    fields = os.fsdecode(repository.attempt(repo, *arguments).out).split("\0")
    oids = {oid for field in fields if field.startswith(":") for oid in field.split(" ")[2:4] if oid.strip("0")}
    texts = objects.contents(repo, oids).values()
    titles = {note.one_line(str(note.parse(text).meta.get("title") or "")) for text in texts} - {""}
    return patterns.any_of([*patterns.lines_naming(titles), pattern])


def _files(config: Config) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every file outside `.git` that is small enough to be read."""
    root, paths = Path(config.vault), list[str]()
    for folder, names, file_names in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        relative = os.path.relpath(folder, root)
        paths += file_names if relative == "." else (f"{Path(relative).as_posix()}/{name}" for name in file_names)
    for path in paths:  # the caller may rename files meanwhile
        data = disk.read_path(config.vault, path)
        if data is not None:
            yield path, data


def _caches(config: Config) -> list[Path]:
    paths = {path for folder in (config.state_dir, config.runtime_dir) for path in Path(folder).rglob("*")}
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def _bytes(path: Path) -> bytes:
    """Read a file that another process may delete."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _clean_files(config: Config, planned: PurgePlan) -> list[str]:
    """Purge the current files, so that they match the rewritten commits; return the changed paths."""
    changed = []
    for path, data in _files(config):
        after: bytes | None = planned.cleaned(data)
        if path in planned.drop:
            after = data if planned.keep else None
        new = planned.rename.get(path, path)
        if after == data and new == path:
            continue
        if new == path:
            taken = rewrite.take(config, RewriteStep(path, data, after))
        else:
            taken = _write_as(config, new, after or b"") and rewrite.take(config, RewriteStep(path, data, None))
        changed += [path] if taken else []
    return changed


def _write_as(config: Config, path: str, data: bytes) -> bool:
    """Write a file under its new name, with a hash appended if another file has that name.

    False when somebody else writes there meanwhile. A killed purge may have written the file already.
    """
    existing = disk.read_path(config.vault, path)
    if existing == data:
        return True
    if existing is not None:
        stem, dot, ending = path.rpartition(".")
        path = f"{stem or path}-{hashlib.sha256(data).hexdigest()[:8]}{dot}{ending if stem else ''}"
    return rewrite.take(config, RewriteStep(path, None, data)) or disk.read_path(config.vault, path) == data


def _unstage(repo: Repository, planned: PurgePlan) -> None:
    """Unstage files whose staged content contains the text; the files keep their changes."""
    for path in list(repository.each(repo, "diff", "--cached", "--name-only", "--no-renames", "-z")):
        shown = repository.attempt(repo, "cat-file", "blob", f":{path}")
        if planned.finds(shown.out):
            repository.run(repo, "reset", "--quiet", "--", path)


def _clean_caches(config: Config, planned: PurgePlan) -> None:
    """Purge the state folders: texts are rewritten, other files are deleted, since they are caches.

    The compressed index is not searched but deleted; it is rebuilt later.
    """
    shutil.rmtree(config.index_dir, ignore_errors=True)
    for path in _caches(config):
        data = _bytes(path)
        if not planned.finds(data):
            continue
        if b"\0" in data or path.name.startswith("settings-"):
            path.unlink(missing_ok=True)
        else:
            files.replace(str(path), planned.cleaned(data))  # atomic: it may be a queued event


def _prove(config: Config, repo: Repository, planned: PurgePlan) -> tuple[list[str], int]:
    """Search again all files, objects, git's own files and state; return what is left, and the number of objects."""
    kept = planned.drop if planned.keep else ()
    remaining, hiding = [], set[str]()
    for path, data in _files(config):
        if path not in kept and planned.finds(data):
            remaining.append(f"{path} still contains it.")
        elif path not in kept and planned.holds(data):
            hiding.add(path)
    old_paths = {*planned.drop, *planned.rename}
    existing = set() if planned.keep else {entry.path for entry in disk.walk(config.vault) if entry.path in old_paths}
    leftover_paths = old_paths & paths_in_history(repo, "--all") | existing
    remaining += [f"The path {path} still exists, or is in history." for path in sorted(leftover_paths)]
    searched, matching, hidden = 0, set[str](), set[str]()
    for oid, data in objects.every(repo):
        searched += 1
        if planned.finds(data):
            matching.add(oid)
        elif planned.holds(data):
            hidden.add(oid)
    remaining += unpurged.in_git(repo, matching) if matching else []
    remaining += unpurged.in_other_forms(hiding | (unpurged.paths_of(repo, hidden) if hidden else set()))
    git_files = [path for path in repo.common_dir.rglob("*") if path.is_file() and "objects" not in path.parts]
    remaining += [
        f"{path} still contains it." for path in [*git_files, *_caches(config)] if planned.finds(_bytes(path))
    ]
    return remaining, searched
