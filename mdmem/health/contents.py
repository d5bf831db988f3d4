"""Check the notes: what cannot be read as intended, and what a merge or a copy left in them."""

from __future__ import annotations

import os
import posixpath
import shlex
import stat
from array import array
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

from mdmem import plural, privacy
from mdmem.config import Config
from mdmem.files import UnreadableError
from mdmem.health import MOST, WRONG, HealthFinding, error, fine, note, sessions, to_edit, warning
from mdmem.health.private import SessionMemories
from mdmem.health.scope import CheckScope, twins
from mdmem.health.sessions import wrong_clock
from mdmem.learn import decisions
from mdmem.vault import (
    DAYS,
    START_PAGE,
    archives,
    creation,
    disk,
    generated,
    is_in_journal,
    journal,
    layout,
    packed,
    projects,
    unreadable,
    user_notes,
)
from mdmem.vault import note as notes


def files(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Check the notes: front matter, tags, and leftovers of merges."""
    findings = _NoteFindings(scope)
    for folder in unreadable.folders(config.vault) if scope.is_whole else ():
        findings.add("", _unreadable_folder(config, folder))
    links, others = _passed_over(config) if scope.is_whole else ([], [])
    yield from _skipped_links(links)
    for path in others:
        findings.add("", _no_file(config, path))
    paths = scope.notes(config)
    count = _add_each(config, scope, paths, findings)
    for problem in _broken_markers(START_PAGE, disk.readable(config.vault, START_PAGE) or b""):
        findings.add("", problem)
    for path in _cut_off(config, paths):
        findings.add("", error(f"{path} has lost its end, and so notes of its session.", archives.restoring(path)))
    yield from findings.first()
    if not any(findings.counts.values()) and scope.view is None:
        yield fine(f"{plural.number(count, 'file')}, all readable")
    elif not any(findings.counts.values()) and scope.view is not None:
        yield fine(f"{plural.number(scope.view.live, 'file')}, of which {count} new, all readable; --all reads each")


def _add_each(config: Config, scope: CheckScope, paths: Collection[str], findings: _NoteFindings) -> int:
    """Add the findings on each of these notes; return how many there still are."""
    memories = SessionMemories(config)
    marks = array("q")
    count = 0
    for place, path in enumerate(paths):
        scope.report(place + 1, len(paths))
        marks.append(0)
        try:
            data = disk.read_path(config.vault, path)
        except PermissionError as failed:
            findings.add("", _unreadable(config, path, failed))
            continue
        if data is None:
            continue
        count += 1
        parsed = notes.parse(data)
        found = chain(
            _problems(path, data, parsed),
            _renamed_page(config, path, parsed),
            memories.problems(path, data, parsed),
            wrong_clock(path, parsed),
        )
        for problem in found:
            findings.add(path, problem)
        name = parsed.fact("id")
        for other in twins(scope.view, path, name) if scope.view and name else ():
            findings.add(path, _doubled(config, path, name, other))
        marks[-1] = hash(name) if name and not scope.view else 0
    for path, name, other in _with_same_id(config, paths, marks):
        findings.add(path, _doubled(config, path, name, other))
    return count


def _unreadable_folder(config: Config, folder: str) -> HealthFinding:
    quoted = shlex.quote(str(Path(config.vault, folder)))
    text = f"The folder {folder} cannot be read, so search keeps what it knows of it, and commits leave it out."
    return warning(text, f"`sudo chown $USER {quoted}; chmod u+rwx {quoted}`")


def _unreadable(config: Config, path: str, failed: OSError) -> HealthFinding:
    vault, file = shlex.quote(str(config.vault)), shlex.quote(str(Path(config.vault, path)))
    if not isinstance(failed, UnreadableError):
        text = f"{path} cannot be read, so search and commits leave it out."
        return warning(text, f"`sudo chown $USER {file}; chmod u+rw {file}`")
    text = f"{path} cannot be read ({failed.strerror}), so search and commits leave it out."
    again = f"`git -C {vault} restore {shlex.quote(path)}` writes its last committed version again."
    return warning(text, f"Check the disk, or the program that fetches the file from elsewhere. {again}")


def _cut_off(config: Config, paths: Iterable[str]) -> Iterator[str]:
    """Yield the damaged archives among those that hold these notes, and among the notes themselves."""
    folders = {layout.folder_of(path) for path in paths}
    of_notes = {layout.archive_of(folder) for folder in folders if layout.archive_of(folder)}
    for path in sorted(of_notes.union(path for path in paths if layout.archived_in(path))):
        if packed.is_cut_off(disk.readable(config.vault, path) or b""):
            yield path


def _skipped_links(skipped: list[str]) -> Iterator[HealthFinding]:
    """Report links, which lead out of the vault or to a second place of a note."""
    if skipped:
        count, listed = plural.number(len(skipped), "link"), plural.some(skipped, MOST)
        text = f"{count} passed over: no link is searched or committed: {listed}."
        yield note(text, "Put the note or folder itself there, or ignore this.")


def _no_file(config: Config, path: str) -> HealthFinding:
    vault, file = shlex.quote(str(config.vault)), shlex.quote(path)
    text = f"{path} is a pipe, a socket or a device, so search and commits leave it out."
    return warning(text, f"Delete it. If a note was there: `git -C {vault} restore {file}` writes it again.")


def _passed_over(config: Config) -> tuple[list[str], list[str]]:
    """Return the links that look like notes or lead to folders, and what else looks like a note but is no file."""
    links, others = list[str](), list[str]()
    for where, folders, names in os.walk(config.vault):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        notes_in = (name for name in names if name.endswith(disk.NOTE_ENDINGS) and not name.startswith("."))
        for name in (*folders, *sorted(notes_in)):
            with suppress(OSError):  # in an unreadable folder, or deleted since
                mode = os.lstat(f"{where}/{name}").st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    path = Path(where, name).relative_to(config.vault).as_posix()
                    (links if stat.S_ISLNK(mode) else others).append(path)
    return links, others


class _NoteFindings:
    """Findings in notes: the first ones, and the number of those that are wrong (True) and those that are not."""

    def __init__(self, scope: CheckScope) -> None:
        self.counts = {True: 0, False: 0}
        self._listed: dict[bool, list[HealthFinding]] = {True: [], False: []}
        self._scope = scope

    def add(self, path: str, finding: HealthFinding) -> None:
        """Add a finding in a note. path: "" for a note that cannot be read."""
        is_wrong = finding.severity in WRONG
        self.counts[is_wrong] += 1
        if self.counts[is_wrong] <= MOST:
            self._listed[is_wrong].append(finding)
        if path:
            self._scope.wrong.add(path)

    def first(self) -> Iterator[HealthFinding]:
        """Yield the first findings, those that are wrong before the others, with how many more there are of each."""
        for is_wrong, severity in ((True, warning), (False, note)):
            yield from self._listed[is_wrong]
            more = self.counts[is_wrong] - MOST
            if more > 0:
                yield severity(f"and {more} more notes like these.", "Fix those and run the check again.")


def _with_same_id(config: Config, paths: Collection[str], marks: array[int]) -> Iterator[tuple[str, str, str]]:
    """Yield each note with the id of an earlier note, the id, and the earlier note. marks: hashes of the ids, or 0."""
    repeated = {mark for mark, following in pairwise(sorted(marks)) if mark == following and mark}
    first_path: dict[str, str] = {}
    for path, mark in zip(paths, marks, strict=True) if repeated else ():
        name = notes.load(config.vault, path).fact("id") if mark in repeated else ""
        if name and first_path.setdefault(name, path) != path:
            yield path, name, first_path[name]


def _doubled(config: Config, path: str, name: str, other: str) -> HealthFinding:
    text = f"{path} has the id {name}, and so has {other}."
    moved = next((place for place in (path, other) if _is_moved_page(config, place)), "")
    if not moved and all(map(projects.is_page, (path, other))):
        return _two_pages(config, text, path, other)
    if not moved and posixpath.dirname(path) != posixpath.dirname(other) and all(map(journal.is_page, (path, other))):
        return sessions.in_two_folders(config, path, other)
    if not moved:
        is_same = disk.readable(config.vault, path) == disk.readable(config.vault, other) is not None
        todo = "They are equal: delete one of them." if is_same else "A copy? Remove the line `id:` from one of them."
        return warning(text, todo)
    make_own = partial(user_notes.set_keys, config, moved, {"id": None, "kind": None})
    return warning(text, f"`mdmem doctor --fix` turns {moved}, a moved page, into a note of your own.", make_own)


def _two_pages(config: Config, text: str, *paths: str) -> HealthFinding:
    """Keep one of two pages for a project: the one whose folder was renamed from the name that mdmem gave it."""
    pages = [(path, notes.load(config.vault, path).meta) for path in sorted(paths)]
    (kept, meta), (later, later_meta) = sorted(pages, key=lambda page: projects.has_first_name(*page))
    identities = list(dict.fromkeys(projects.identities_in(meta) + projects.identities_in(later_meta)))

    def fix() -> None:
        if identities != projects.identities_in(meta):
            user_notes.set_keys(config, kept, {"identity": identities})
        user_notes.set_keys(config, later, {"id": None, "identity": None})

    return warning(text, f"`mdmem doctor --fix` makes {kept} the page of this project. No note is moved.", fix)


def _is_moved_page(config: Config, path: str) -> bool:
    """Whether a note is a generated page that its owner moved elsewhere; mdmem has made that page again."""
    at_home = is_in_journal(path) or path.startswith(f"{DAYS}/")
    return not at_home and notes.load(config.vault, path).meta.get("kind") in notes.PAGES


EARLIER_MARK = b"<!-- mdmem:both: one version -->"


def _problems(path: str, data: bytes, parsed: notes.Parsed) -> Iterator[HealthFinding]:
    edit = to_edit(path)
    if parsed.problem:
        line, colon, problem = parsed.problem.partition(": ")
        where = f"{path}:{line.removeprefix('line ')}" if colon else path
        text = f"{where}: {problem or parsed.problem}. The note is searchable, its front matter is not."
        yield warning(text, edit)
    if b"\0" in data:
        text = f"{path} contains a NUL byte (is it saved as UTF-16?), so it cannot be searched, nor committed."
        yield warning(text, "Save it as UTF-8, without NUL bytes.")
    elif line_number := _line_of_strange_bytes(data):
        text = f"{path}:{line_number}: not UTF-8 (is it saved as Latin-1?). Such letters are shown as � and not found."
        yield warning(text, "Save it as UTF-8.")
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        text = f"{path} is a pointer of Git LFS, which is searched and shown in place of the note itself."
        yield warning(text, "Install Git LFS, then run `git lfs pull` in the vault's folder.")
    if notes.has_two_versions(data):
        line_number = data.partition(b"\n<<<<<<< ")[0].count(b"\n") + 2
        yield warning(
            f"{path}:{line_number}: a merge left two versions in this note.", "Keep what is right, delete the marks."
        )
    if EARLIER_MARK in data:
        line_number = data.partition(EARLIER_MARK)[0].count(b"\n") + 1
        text = f"{path}:{line_number}: an earlier version of mdmem marked two versions of these lines."
        yield warning(text, f"{edit}: keep what is right, and delete the lines with `mdmem:both`.")
    if parsed.meta.get("source_changed"):
        text = f"{path} was edited here, and its source {parsed.meta.get('source', '')} has changed as well."
        yield warning(text, f"Merge what you want with {edit}, and delete the line `source_changed`.")
    if parsed.meta.get("kind") in notes.CAPTURED and privacy.holds_memory(data.decode("utf-8", "replace")):
        text = f"{path} contains memories that mdmem injected; searches would find them as new."
        yield warning(text, f"{edit} and delete the block, or `mdmem forget {shlex.quote(path)}`.")
    yield from _missing_parts(path, parsed)
    yield from _broken_markers(path, data) if parsed.meta.get("kind") in notes.PAGES else ()
    yield from _values_not_understood(path, parsed)


def _renamed_page(config: Config, path: str, parsed: notes.Parsed) -> Iterator[HealthFinding]:
    """Find a session's page with a name that hooks do not look for, but no copy of a page: that is named by its id."""
    folder = path.rpartition("/")[0]
    if parsed.meta.get("kind") != "session" or layout.session_of(path) != folder or journal.is_page(path):
        return
    if not journal.page_of(disk.names_in(config.vault, folder), folder):
        text = f"{path}: mdmem no longer updates the times and files on this page, because it was renamed."
        yield note(text, f"Call it {journal.page_name(folder)} again, or ignore this.")


def _values_not_understood(path: str, parsed: notes.Parsed) -> Iterator[HealthFinding]:
    """Check values that people write for which mdmem, or Obsidian, expects another form."""
    meta = parsed.meta
    spaced = [tag for tag in user_notes.tags_of(meta.get("tags")) if " " in tag]
    if spaced:
        yield note(f"{path}: the tag {spaced[0]!r} has a space, which Obsidian does not allow.", "Use a dash.")
    kind = str(meta.get("kind", ""))
    if kind not in notes.KINDS and kind.lower() in notes.KINDS:
        text = f"{path}: the kind {kind!r} is not recognized, because kinds are in lower case."
        yield note(text, f"{to_edit(path)}: write `kind: {kind.lower()}`.")
    if creation.when_made(meta, path):
        return
    key = next((key for key in ("created", "date") if meta.get(key)), "")
    if key:
        text = f"{path}: the time {meta[key]!r:.60} of `{key}` cannot be read, so the note has the time of its file."
        yield note(text, f"{to_edit(path)}: write it as 2026-09-14, or 2026-09-14T08:00.")


def _line_of_strange_bytes(data: bytes) -> int:
    """Return the number of the first line that is not UTF-8, 0 if there is none."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 0


def _broken_markers(path: str, data: bytes) -> Iterator[HealthFinding]:
    """Check a page for markers that an edit has damaged; a page without any belongs to its owner, who knows it."""
    text = data.decode("utf-8", "replace")
    if not any(mark in text for mark in generated.MARKS) or generated.lines_of(text) is not None:
        return
    mark = next(mark for mark, at in zip(generated.MARKS, generated.marks_in(text), strict=True) if at < 0)
    before, found, _ = text.partition(mark)
    where = f"{path}:{before.count(chr(10)) + 1}" if found else path
    why = "is indented, has text beside it, or is above the first one" if found else "is missing"
    yield warning(
        f"{where}: mdmem no longer updates this page, because the marker `{mark}` {why}.",
        f"{to_edit(path)}: make it a line of its own, or delete both markers if the whole page is to be yours.",
    )


_PARTS = {
    "a reason": ("why", "because", "since", "reason", "warum", "weil"),
    "how to apply it": ("how to apply", "apply"),
}


def _missing_parts(path: str, parsed: notes.Parsed) -> Iterator[HealthFinding]:
    """Check an agent's proposal, accepted or not, for its parts: one statement, why, how to apply it."""
    meta = parsed.meta
    unverified = meta.get("unverified")
    if isinstance(unverified, list) and unverified:
        text = f"{path} quotes something that the cited turn does not say: {unverified[0]!s:.120}"
        yield note(text, f"{to_edit(path)}, and delete the line `unverified`.")
    if meta.get("kind") not in decisions.KINDS or not (meta.get("status") == "proposed" or meta.get("accepted")):
        return
    text = parsed.body.lower()
    missing = [part for part, signs in _PARTS.items() if not any(word in text for word in signs)]
    statement = next((line for line in parsed.body.splitlines() if line.strip(" #>*-")), "")
    if not statement or len(statement) > decisions.MAX_STATEMENT_CHARS:
        missing.insert(0, "a statement in its first line")
    if missing:
        yield note(f"{path} lacks {' and '.join(missing)}.", f"{to_edit(path)}, or dismiss it.")
