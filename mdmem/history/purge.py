"""Truly deleting a text, a pattern or a note: from the files, the caches and every commit; and proving it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple

from mdmem import files
from mdmem.config import Config
from mdmem.errors import GitError, UsageError
from mdmem.history import elsewhere, find, pages, past, purge_record, rewrite
from mdmem.history.git import filtering, git_index, lock, objects, repository, writer
from mdmem.history.git.filtering import Rewritten
from mdmem.history.git.repository import Repository
from mdmem.history.rewrite import RewriteStep
from mdmem.slug import slug
from mdmem.steps import Tell, untold
from mdmem.vault import disk, journal, layout, note, packed

NOTHING = re.compile(rb"(?!)")

CUT_CHARS = 30
"""So much of a title a commit's subject has at least."""

RENAMED = b"redacted"
"""What stands in a file's name where the text was."""


class PurgePlan(NamedTuple):
    """What is to be purged, and where it was found.

    pattern: over bytes, in any text. messages: more that goes from messages of commits alone.
    drop: paths that a note to be purged had, in any commit. keep: their files stay as they are.
    rename: paths whose names hold the text, and their new names. names: the text as such names have it, in any text.
    marks: hashes of the ids of notes that go. found: the texts that the pattern matches, for other machines to know.
    files: files of the vault with the number of places; objects: how many objects of git; caches: files of state.
    other_case: how many files and objects hold the text in other letters, capital or small, which stay.
    """

    pattern: re.Pattern[bytes]
    messages: re.Pattern[bytes]
    instead: bytes
    drop: tuple[str, ...]
    rename: dict[str, str]
    files: dict[str, int]
    objects: int
    caches: list[str]
    keep: bool = False
    names: re.Pattern[bytes] = NOTHING
    marks: frozenset[str] = frozenset()
    found: frozenset[bytes] = frozenset()
    other_case: int = 0

    def finds(self, data: bytes) -> bool:
        """Whether there is anything to take out of a text."""
        return bool(self.pattern.search(data) or self.names.search(data))

    def cleaned(self, data: bytes) -> bytes:
        """Return a text without what is purged; links lead to the new names."""
        return filtering.cleaned(data, self.rules)

    @property
    def rules(self) -> tuple[tuple[re.Pattern[bytes], bytes], ...]:
        """Return the expressions of what goes from texts, each with what takes its place."""
        return ((self.names, RENAMED), (self.pattern, self.instead))

    def place(self, path: str) -> str:
        """Return where a file is afterwards; "" for one that goes."""
        return "" if path in self.drop else self.rename.get(path, path)


class Purged(NamedTuple):
    """What was done.

    commits: how many were rewritten. left: where it still is, in sentences; none when the proof holds.
    elsewhere: what cannot be reached from here, each with what to run there.
    """

    files: list[str]
    commits: int
    objects_searched: int
    left: list[str]
    elsewhere: list[str]


def plan(config: Config, target: str, *, kind: str = "text", tell: Tell = untold) -> PurgePlan:
    """Find everything that a purge would touch. Changes nothing.

    kind: "text" for these very characters, "regex" for a regular expression, "id" for a note; "path" for a file, or
    all in a folder, that leaves history and stays in the vault. tell: is told what is being done.

    Raises:
        UsageError: when the text is empty, or the expression is wrong or matches nothing at all.
        NotFoundError: when no note, now or ever, had that id.
        VaultError: when the vault is not a repository.
    """
    repo = repository.open_vault(config.vault)
    ever = _paths_ever(config, repo)
    tell("Searching files and history", 0, 0)
    if kind == "path":
        return _out_of_history(config, repo, ever, target)
    drop: tuple[str, ...] = ()
    rename: dict[str, str] = {}
    names = NOTHING
    marks: frozenset[str] = frozenset()
    if kind == "id":
        now = "" if find.by_id(ever, target) else find.path_of(config, target)
        target = find.id_of(config, now) if now else target
        drop = tuple(path for path in ever if find.by_id([path], target)) or (now,)
        pattern = _of_note(target)
        messages = _titled(repo, drop, pattern.pattern)
        marks = frozenset(purge_record.mark(find.id_in(path) or target) for path in drop)
    else:
        pattern = messages = _literal(target) if kind == "text" else _expression(target)
        names = _in_names(target) if kind == "text" else NOTHING
        rename = {path: new for path in ever if (new := _renamed(path, names, pattern)) != path}
    instead = config.settings.privacy.redacted.encode()
    planned = PurgePlan(pattern, messages, instead, drop, rename, {}, 0, [], names=names, marks=marks)
    return _counted(config, repo, planned, os.fsencode(target.lower()) if kind == "text" else b"")


def again(config: Config, texts: Collection[bytes], marks: Collection[str]) -> PurgePlan:
    """Plan here what was purged on another machine: texts, and notes of whose ids these are the hashes."""
    repo = repository.open_vault(config.vault)
    ever = _paths_ever(config, repo)
    drop = tuple(path for path in ever if marks and purge_record.mark(find.id_in(path)) in marks)
    literals = [os.fsdecode(text) for text in sorted(texts, key=len, reverse=True)]
    patterns = [_literal(text).pattern for text in literals] + [_of_note(find.id_in(path)).pattern for path in drop]
    pattern = re.compile(b"(?m)" + b"|".join(one.removeprefix(b"(?m)") for one in patterns)) if patterns else NOTHING
    named = [one.pattern for one in map(_in_names, literals) if one is not NOTHING]
    names = re.compile(b"|".join(named)) if named else NOTHING
    rename = {path: new for path in ever if (new := _renamed(path, names, pattern)) != path and path not in drop}
    instead = config.settings.privacy.redacted.encode()
    return PurgePlan(pattern, pattern, instead, drop, rename, {}, 0, [], names=names)


def clean_up(config: Config, planned: PurgePlan, held: int) -> list[str]:
    """Take what is planned out of files, repository and caches, once our branch has it no more; name where it still is.

    held: the committer's lock.
    """
    _clean_files(config, planned)
    _clean_caches(config, planned)
    repo = repository.open_vault(config.vault)
    filtering.scrub(repo)
    if any(planned.finds(data) for _, data in objects.every(repo)):
        repo = _rewrite_others(repo, planned, held)
        filtering.scrub(repo)
    _clean_caches(config, planned)
    return _prove(config, repo, planned)[0]


def _rewrite_others(repo: Repository, planned: PurgePlan, held: int) -> Repository:
    """Take it out of tags, stashes and other branches, and fetch what a partial clone lacks, which drops nothing else.

    Where that cannot be done the proof names what is left.
    """
    with suppress(GitError):
        repo = objects.complete(repo)
        if filtering.is_installed():
            with _filtered(repo, planned, keep_named=True) as done:
                if done.moved and writer.tip(repo, repository.branch(repo)) not in done.moved:
                    filtering.fetch_back(repo, done, held)
                    filtering.put_back_heard(repo)
    return repo


def _filtered(repo: Repository, planned: PurgePlan, *, keep_named: bool = False) -> AbstractContextManager[Rewritten]:
    return filtering.rewritten(
        repo,
        texts=planned.rules,
        messages=((planned.names, RENAMED), (planned.messages, planned.instead)),
        drop=planned.drop,
        rename=planned.rename,
        keep_named=keep_named,
    )


def _of_note(name: str) -> re.Pattern[bytes]:
    """Match a note in an archive, the whole line of a list that has its id, and the id."""
    known = re.escape(name.encode())
    return re.compile(rb"(?m)%b|(?<=^- ).*%b.*$|%b" % (_packed(name), known, known))


def _packed(name: str) -> bytes:
    """Return the expression for a note in an archive, in whose file's name this stands."""
    mark = packed.MARK.replace(b"\n", rb"\n")
    return rb"(?<=%b)[^\n]*%b[^\n]* -->\n(?s:.*?)(?=%b)" % (mark, re.escape(name.encode()), mark)


def _counted(config: Config, repo: Repository, planned: PurgePlan, low: bytes = b"") -> PurgePlan:
    """Return where it is. low: the text in lower case, to count where it is in other letters; b"": do not."""

    def has_other(data: bytes) -> bool:
        return bool(low) and low in data.lower() and low in planned.cleaned(data).lower()

    other = sum(has_other(data) for _, data in _files(config)) if low else 0
    files = {
        path: len(planned.pattern.findall(data)) + len(planned.names.findall(data))
        for path, data in _files(config)
        if (path not in planned.drop and planned.finds(data)) or (path in planned.drop and not planned.keep)
    }
    count, matched = 0, set[bytes]()
    for _, data in objects.every(repo):
        other += has_other(data)
        if planned.finds(data):
            count += 1
            matched.update(match.group() for match in planned.pattern.finditer(data))
    return planned._replace(
        files=files,
        objects=count,
        found=frozenset() if planned.drop else frozenset(matched),
        caches=[str(path) for path in _caches(config) if planned.finds(_bytes(path))],
        other_case=other,
    )


def apply(config: Config, planned: PurgePlan, tell: Tell = untold) -> Purged:
    """Rewrite history as planned, then look through all of it for what should be gone.

    Raises:
        GitError: when git-filter-repo is missing or fails; history is then as it was.
        VaultError, BusyError, OSError: when the vault cannot be written.
    """
    if not filtering.is_installed():
        raise GitError("Rewriting history needs git-filter-repo. Install it with: pip install 'mdmem[purge]'")
    with lock.held(config.state_dir) as held:
        return apply_held(config, planned, held, tell)


def apply_held(config: Config, planned: PurgePlan, held: int, tell: Tell = untold) -> Purged:
    """Do what `apply` does, with the committer's lock held already."""
    repo = repository.open_vault(config.vault)
    stashed = len(repository.attempt(repo, "stash", "list").out.splitlines())
    git_index.heal(repo)
    git_index.catch_up(repo, held)
    tell("Rewriting history", 0, 0)
    with _filtered(repo, planned) as done:
        told = elsewhere.of_purge(repo, done.moved)  # as long as it is known what remotes have
        # The files first: a purge that is killed in between is finished by the next one, and no commit
        # in the meantime can bring back what history no longer has.
        tell("Cleaning files", 0, 0)
        changed = _clean_files(config, planned)
        if done.moved:
            filtering.fetch_back(repo, done, held)
            _unstage(repo, planned)
        if done.moved or planned.marks:
            purge_record.write(repo, done.moved, planned.marks, planned.found, held)
    _clean_caches(config, planned)  # before the objects, by which a purge that was killed is known not to be over
    tell("Removing old objects", 0, 0)
    filtering.scrub(repo)
    _clean_caches(config, planned)
    repository.attempt(repo, "update-index", "--no-untracked-cache")  # which names folders as they were last seen
    tell("Searching for what is left", 0, 0)
    left, searched = _prove(config, repo, planned)
    lost = [f"Older entries of `git stash` ({stashed - 1}) could not be rewritten, so they are gone."] * (stashed > 1)
    return Purged(changed, len(done.moved), searched, left, [*lost, *told])


def _literal(text: str) -> re.Pattern[bytes]:
    """Match a text as it is, and as YAML and JSON write it."""
    if not text.strip():
        raise UsageError("The text to purge is empty.")
    forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile(b"|".join(re.escape(os.fsencode(form)).replace(b"\n", b"\\n") for form in longest_first))


def _expression(text: str) -> re.Pattern[bytes]:
    try:
        pattern = re.compile(os.fsencode(text))
    except re.error as error:
        raise UsageError(f"This is not a regular expression: {error}.") from error
    if pattern.search(b"") or "\n" in text:
        raise UsageError("This expression matches an empty text, or has a line break: make it more specific.")
    return pattern


def _in_names(text: str) -> re.Pattern[bytes]:
    """Match a text in the form that names of files have it in, within such a name."""
    words = re.escape(slug(text).encode())
    rest = rb"(?=[^/\s()<>]{0,120}(?:\.md|-[0-9a-z]{8}(?![0-9a-z])))"
    return re.compile(rb"(?<![0-9A-Za-z])" + words + rest) if len(words) > 3 else NOTHING


def _renamed(path: str, names: re.Pattern[bytes], pattern: re.Pattern[bytes]) -> str:
    """Take the text out of a path, also in the form that file names have it in."""
    return os.fsdecode(pattern.sub(RENAMED, names.sub(RENAMED, os.fsencode(path))))


def _paths_ever(config: Config, repo: Repository) -> list[str]:
    return sorted(_paths_in_history(repo) | {entry.path for entry in disk.walk(config.vault)})


def _paths_in_history(repo: Repository) -> set[str]:
    words = ("log", "--all", "-m", "--no-renames", "--name-only", "--format=", "-z")
    return {path for path in repository.each(repo, *words) if path}


def _out_of_history(config: Config, repo: Repository, ever: list[str], target: str) -> PurgePlan:
    """Plan that files leave history, and the pages and messages that name them do so no longer."""
    place = find.inside(config, target) or target
    drop = tuple(path for path in ever if path == place or path.startswith(f"{place}/"))
    drop = drop or (find.path_of(config, target),)
    if any(disk.is_packed(config.vault, path) for path in drop):
        raise UsageError(f"{target} is archived. Unpack it first: mdmem archive --undo YEAR")
    named = [
        name for folder, name in map(layout.split, drop) if not any(page in drop for page in journal.page_paths(folder))
    ]
    sections = [_packed(name) for folder, name in map(layout.split, drop) if layout.archive_of(folder)]
    linked = (pages.links(named).pattern, pages.links_to(drop[0] if len(drop) == 1 else place).pattern)
    pattern = re.compile(b"(?m)" + b"|".join([*sections, *linked]))
    marker = config.settings.privacy.marker.encode()
    messages = _titled(repo, (place,) if len(drop) > 1 else drop, pattern.pattern)
    return _counted(config, repo, PurgePlan(pattern, messages, marker, drop, {}, {}, 0, [], keep=True))


def _titled(repo: Repository, paths: tuple[str, ...], pattern: bytes) -> re.Pattern[bytes]:
    """Match, in messages, also the lines that name a note by a title it has had."""
    words = ("log", "--all", "--no-renames", "--raw", "--no-abbrev", "--format=", "-z", "--", *paths)
    fields = os.fsdecode(repository.attempt(repo, *words).out).split("\0")
    oids = {oid for field in fields if field.startswith(":") for oid in field.split(" ")[2:4] if oid.strip("0")}
    texts = past.objects_of(repo, sorted(oids)).values()
    titles = {note.one_line(str(note.parse(text).meta.get("title") or "")) for text in texts} - {""}
    where = rb"(?:(?<=^- )|(?<=^By hand: ))(?:add |edit |delete )?%b$|^(?:[^:\n]+: )?%b(?= \()"
    lines = [where % (re.escape(title.encode()), _cut_short(title)) for title in sorted(titles)]
    return re.compile(b"(?m)" + b"|".join([*lines, pattern.removeprefix(b"(?m)")]))


def _cut_short(title: str) -> bytes:
    """Match a title as subjects have it, which may lack its end."""
    return re.escape(title.encode()) if len(title) < CUT_CHARS else re.escape(title[:CUT_CHARS].encode()) + rb"[^\n]*?"


def _files(config: Config) -> Iterator[tuple[str, bytes]]:
    """Yield every file of the vault outside git's folder that is small enough to be a text."""
    for path in _paths(config):
        data = disk.read_path(config.vault, path)
        if data is not None:
            yield path, data


def _paths(config: Config) -> Iterator[str]:
    root = Path(config.vault)
    for folder, names, found in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        below = os.path.relpath(folder, root)
        yield from found if below == "." else (f"{Path(below).as_posix()}/{name}" for name in found)


def _caches(config: Config) -> list[Path]:
    found = {path for folder in (config.state_dir, config.runtime_dir) for path in Path(folder).rglob("*")}
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def _bytes(path: Path) -> bytes:
    """Read a file that another process may have removed by now."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _clean_files(config: Config, planned: PurgePlan) -> list[str]:
    """Take it out of the files as they are now; they match the rewritten commits afterwards."""
    changed = []
    for path in list(_paths(config)):
        data = disk.read_path(config.vault, path)
        if data is None:
            continue
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
    """Write a file under its new name, or under one made of its text where another file has that.

    False when somebody else writes there meanwhile. A purge that was killed may have written the file already.
    """
    there = disk.read_path(config.vault, path)
    if there == data:
        return True
    if there is not None:
        stem, dot, ending = path.rpartition(".")
        path = f"{stem or path}-{hashlib.sha256(data).hexdigest()[:8]}{dot}{ending if stem else ''}"
    return rewrite.take(config, RewriteStep(path, None, data)) or disk.read_path(config.vault, path) == data


def _unstage(repo: Repository, planned: PurgePlan) -> None:
    """Put back to the last commit what a person had staged with the text in it; their file keeps their changes."""
    listed = repository.run(repo, "diff", "--cached", "--name-only", "--no-renames", "-z")
    for path in filter(None, os.fsdecode(listed).split("\0")):
        shown = repository.attempt(repo, "cat-file", "blob", f":{path}")
        if planned.finds(shown.out):
            repository.run(repo, "reset", "--quiet", "--", path)


def _clean_caches(config: Config, planned: PurgePlan) -> None:
    """Take it out of state: texts are rewritten, everything else is removed, since it is only remembered.

    The index, which is compressed, is not searched: it is rebuilt.
    """
    shutil.rmtree(config.index_dir, ignore_errors=True)
    for path in _caches(config):
        data = _bytes(path)
        if not planned.finds(data):
            continue
        if b"\0" in data or path.name.startswith("settings-"):
            path.unlink(missing_ok=True)
        else:
            files.replace(str(path), planned.cleaned(data))  # a queued event among them, never half of it


def _prove(config: Config, repo: Repository, planned: PurgePlan) -> tuple[list[str], int]:
    """Search everything again: every file, every object unpacked, git's own files, state."""
    kept = planned.drop if planned.keep else ()
    left = [f"{path} still contains it." for path, data in _files(config) if path not in kept and planned.finds(data)]
    was = {*planned.drop, *planned.rename}
    now = set() if planned.keep else {entry.path for entry in disk.walk(config.vault) if entry.path in was}
    stays = was & _paths_in_history(repo) | now
    left += [f"The path {path} is still there, or in history." for path in sorted(stays)]
    searched, having = 0, set[str]()
    for oid, data in objects.every(repo):
        searched += 1
        if planned.finds(data):
            having.add(oid)
    left += elsewhere.in_git(repo, having) if having else []
    own = [path for path in repo.common_dir.rglob("*") if path.is_file() and "objects" not in path.parts]
    left += [f"{path} still contains it." for path in [*own, *_caches(config)] if planned.finds(_bytes(path))]
    return left, searched
