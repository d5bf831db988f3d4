"""Check contents: notes that cannot be read as intended, broken links, and an index that does not match."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
import time
from array import array
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import chain, groupby, pairwise
from pathlib import Path

from mdmem import plural, privacy
from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.files import UnreadableError
from mdmem.health import HealthFinding, error, fine, note, remove, sessions, warning
from mdmem.health.private import SessionMemories
from mdmem.health.scope import CheckScope, twins
from mdmem.health.sessions import wrong_clock
from mdmem.history.git import part
from mdmem.history.git.part import VaultPart
from mdmem.history.git.paths import PackedPaths
from mdmem.learn import decisions
from mdmem.search import freshness
from mdmem.search import index as index_of_notes
from mdmem.search.index import DamagedError, Report
from mdmem.vault import archives, disk, generated, journal, layout, packed, projects, shut, user_notes
from mdmem.vault import links as note_links
from mdmem.vault import note as notes
from mdmem.vault.links import WrittenLink
from mdmem.vault.shut import ShutFolders
from mdmem.views import rows, wording
from mdmem.views.vault_pages import upkeep

MOST = 20
"""Maximum number of findings of one kind that are listed."""

AT_ONCE = 20_000
"""Number of links with a target to search for in memory at a time."""

OLD_SECONDS = 3600
"""A younger file of the index may belong to a running writer."""


def files(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Check the notes: front matter, tags, and leftovers of merges."""
    findings = _NoteFindings(scope)
    for folder in shut.folders(config.vault) if scope.is_whole else ():
        findings.add("", _unreadable_folder(config, folder))
    yield from _skipped_links(config) if scope.is_whole else ()
    memories = SessionMemories(config)
    marks = array("q")
    count = 0
    paths = _paths(config, scope)
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
        found = chain(_problems(path, data, parsed), memories.problems(path, data, parsed), wrong_clock(path, parsed))
        for problem in found:
            findings.add(path, problem)
        name = str(parsed.meta.get("id", ""))
        for other in twins(scope.view, path, name) if scope.view and name else ():
            findings.add(path, _doubled(config, path, name, other))
        marks[-1] = hash(name) if name and not scope.view else 0
    for path, name, other in _with_same_id(config, paths, marks):
        findings.add(path, _doubled(config, path, name, other))
    for path in _cut_off(config, paths):
        findings.add("", error(f"{path} has lost its end, and so notes of its session.", archives.restoring(path)))
    yield from findings.listed
    if findings.count > MOST:
        yield warning(f"and {findings.count - MOST} more notes like these.", "Fix those and run the check again.")
    if not findings.count and scope.view is None:
        yield fine(f"{plural.number(count, 'file')}, all readable")
    elif not findings.count and scope.view is not None:
        yield fine(f"{plural.number(scope.view.live, 'file')}, of which {count} new, all readable; --all reads each")


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


def _skipped_links(config: Config) -> Iterator[HealthFinding]:
    """Find links, which lead out of the vault or to a second place of a note."""
    skipped = list(_links(config))
    if skipped:
        count, listed = plural.number(len(skipped), "link"), plural.some(skipped, MOST)
        text = f"{count} passed over: no link is searched or committed: {listed}."
        yield note(text, "Put the note or folder itself there, or ignore this.")


def _links(config: Config) -> Iterator[str]:
    """Yield the links in the vault that look like notes, and those to folders."""
    for where, folders, names in os.walk(config.vault):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        notes_in = (name for name in names if name.endswith(disk.NOTE_ENDINGS) and not name.startswith("."))
        for name in (*folders, *sorted(notes_in)):
            if os.path.islink(f"{where}/{name}"):  # noqa: PTH114 - it raises nothing in a shut folder
                yield Path(where, name).relative_to(config.vault).as_posix()


class _NoteFindings:
    """Findings in notes: the first ones, and the total number."""

    def __init__(self, scope: CheckScope) -> None:
        self.listed: list[HealthFinding] = []
        self.count = 0
        self._scope = scope

    def add(self, path: str, finding: HealthFinding) -> None:
        """Add a finding in a note. path: "" for a note that cannot be read."""
        self.count += 1
        if self.count <= MOST:
            self.listed.append(finding)
        if path:
            self._scope.wrong.add(path)


def _paths(config: Config, scope: CheckScope) -> Collection[str]:
    """Return the notes to read, folder by folder, sorted by name."""
    if scope.paths is not None:
        return scope.paths
    by_folder = groupby((entry.path for entry in disk.walk(config.vault)), key=posixpath.dirname)
    return PackedPaths(chain.from_iterable(sorted(paths) for _, paths in by_folder))


def _with_same_id(config: Config, paths: Collection[str], marks: array[int]) -> Iterator[tuple[str, str, str]]:
    """Yield each note with the id of an earlier note, the id, and the earlier note. marks: hashes of the ids, or 0."""
    repeated = {mark for mark, following in pairwise(sorted(marks)) if mark == following and mark}
    first_path: dict[str, str] = {}
    for path, mark in zip(paths, marks, strict=True) if repeated else ():
        name = str(notes.load(config.vault, path).meta.get("id", "")) if mark in repeated else ""
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
    at_home = path.startswith(("journal/", f"{generated.DAYS}/"))
    return not at_home and notes.load(config.vault, path).meta.get("kind") in notes.PAGES


EARLIER_MARK = b"<!-- mdmem:both: one version -->"


def _to_edit(path: str) -> str:
    return f"`mdmem edit {shlex.quote(path)}`"


def _problems(path: str, data: bytes, parsed: notes.Parsed) -> Iterator[HealthFinding]:
    edit = _to_edit(path)
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
    spaced = [tag for tag in user_notes.tags_of(parsed.meta.get("tags")) if " " in tag]
    if spaced:
        yield note(f"{path}: the tag {spaced[0]!r} has a space, which Obsidian does not allow.", "Use a dash.")


def _line_of_strange_bytes(data: bytes) -> int:
    """Return the number of the first line that is not UTF-8, 0 if there is none."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 0


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
        yield note(text, f"{_to_edit(path)}, and delete the line `unverified`.")
    if meta.get("kind") not in decisions.KINDS or not (meta.get("status") == "proposed" or meta.get("accepted")):
        return
    text = parsed.body.lower()
    missing = [part for part, signs in _PARTS.items() if not any(word in text for word in signs)]
    statement = next((line for line in parsed.body.splitlines() if line.strip(" #>*-")), "")
    if not statement or len(statement) > decisions.MAX_STATEMENT_CHARS:
        missing.insert(0, "a statement in its first line")
    if missing:
        yield note(f"{path} lacks {' and '.join(missing)}.", f"{_to_edit(path)}, or dismiss it.")


def index(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Compare the index with every file, and find files left by older versions."""
    from mdmem.search import index as engine

    report = engine.verify(config, repair=False, progress=scope.report) if scope.view is None else None
    if report is None:
        yield fine("a quick check finds the index up to date; --all compares it with every file")
    elif report.agrees:
        yield fine(f"the index matches the vault: {plural.number(report.notes, 'file')}")
    else:
        rebuild = partial(engine.rebuild, config)
        yield warning(f"The index {_differs(report)}.", "`mdmem index --rebuild`", rebuild)
    old = _old_index_files(Path(config.index_dir))
    if old:
        size = wording.size(sum(path.stat().st_size for path in old))
        yield note(f"{size} of indexes left by older versions.", "`mdmem doctor --fix`", partial(remove, old))


def _old_index_files(folder: Path) -> list[Path]:
    """Return files that belong to no index in use; the next change of the index would delete them."""
    from mdmem.search.index import DamagedError, contents

    try:
        loaded = contents.load(str(folder))
    except DamagedError:
        return []
    used = {contents.NAME, contents.LOCK, contents.FOLDERS, contents.TURN}
    names = tuple(segment.name for segment in loaded.segments) if loaded else ()
    files = [path for path in folder.glob("*") if path.name not in used and not path.name.startswith(names or ("",))]
    return [path for path in files if path.is_file() and time.time() - path.stat().st_mtime > OLD_SECONDS]


def _differs(report: Report) -> str:
    if report.damage:
        return f"cannot be read ({report.damage})"
    kinds = {"missing": report.missing, "extra": report.extra, "stale": report.stale, "doubled": report.doubled}
    named = [f"{len(paths)} {kind}, such as {paths[0]}" for kind, paths in kinds.items() if paths]
    return f"does not match the vault: {'; '.join(named)}"


def links(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Check the links in people's notes and on generated pages."""
    lost: list[tuple[str, WrittenLink]] = []
    pending: list[tuple[str, WrittenLink]] = []
    vault_part = part.of(config.vault)
    folders = shut.ShutFolders(config.vault)
    count = 0
    for path in chain(["README.md"], (path for path in _paths(config, scope) if path != "README.md")):
        text = _text_with_links(config, path)
        for link in note_links.written(text) if text else ():
            if link.how != "id":  # an id may be that of a forgotten note
                count += 1
                if not _leads_somewhere(config.vault, vault_part, folders, link, path.rpartition("/")[0]):
                    pending.append((path, link))
        if len(pending) > AT_ONCE:
            lost += _leading_nowhere(config, pending)
            pending.clear()
    lost += _leading_nowhere(config, pending)
    scope.wrong.update(path for path, _ in lost)
    for path, link in lost[:MOST]:
        yield _broken_link(config, path, _text_with_links(config, path), link)
    if len(lost) > MOST:
        yield warning(f"and {plural.number(len(lost) - MOST, 'more link')} like these.", "Fix those and run it again.")
    if not lost:
        where = "" if scope.is_whole else " in new notes"
        yield fine(f"{plural.number(count, 'link')}{where}, all lead to a file")


def _text_with_links(config: Config, path: str) -> str:
    """Return the text of a note to check for links; "" for captured notes. A page's title is blanked out."""
    data = disk.readable(config.vault, path) or b""
    text = data.decode("utf-8", "replace") if b"](" in data or b"[[" in data else ""
    cut = generated.lines_of(text) if disk.is_packed(config.vault, path) else None
    if cut:  # no byte of an archive changes, so its lists may name what was moved since
        text = "\n".join([*cut[0], *[""] * len(cut[1]), *cut[2]])
    parsed = notes.parse(text)
    if parsed.meta.get("kind") in notes.PAGES:
        title = re.match(r"\s*# .*", parsed.body)
        head = text.removesuffix(parsed.body) + (title[0] if title else "")
        return "\n" * head.count("\n") + text[len(head) :]
    return "" if "digest" in parsed.meta else text


def _broken_link(config: Config, path: str, text: str, link: WrittenLink) -> HealthFinding:
    """Return the finding for a broken link: a person has to edit theirs, a generated part is rebuilt."""
    finding = f"{path}:{link.line}: the link to {link.target!r:.120} leads nowhere."
    parts = None if path.startswith("notes/") else generated.lines_of(text)  # a page moved there belongs to the person
    if parts and len(parts[0]) < link.line <= len(parts[0]) + len(parts[1]):
        return warning(
            finding,
            "`mdmem doctor --fix` rebuilds the page.",
            lambda: upkeep.refresh(config, now=time.time(), everything=True),
        )
    return warning(finding, _to_edit(path))


def _leading_nowhere(config: Config, pending: list[tuple[str, WrittenLink]]) -> list[tuple[str, WrittenLink]]:
    """Return the links that lead to no file, folder or title, in one walk that keeps only names in question."""
    targets_of = [_targets(link, path.rpartition("/")[0]) for path, link in pending]
    names = {name for name, _ in targets_of} - {""}
    paths = {path for _, paths_meant in targets_of for path in paths_meant}
    existing = _existing_targets(config.vault, names, paths) if pending else frozenset()
    lost = [
        link
        for link, (name, paths_meant) in zip(pending, targets_of, strict=True)
        if f"*{name}" not in existing and not any(path in existing for path in paths_meant)
    ]
    titles = _titles(config, {link.target for _, link in lost if link.how == "wiki"})
    return [link for link in lost if link[1].how != "wiki" or link[1].target not in titles]


def _titles(config: Config, names: set[str]) -> set[str]:
    """Return those names that are titles of notes, to which the pages in the browser lead."""
    try:
        if names:
            freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE)
        view = index_of_notes.current(config) if names else None
        return {name for name in names if rows.titled(view, name)} if view else set()
    except (MdmemError, DamagedError, OSError):
        return set()  # the index check reports it


def _targets(link: WrittenLink, folder: str) -> tuple[str, list[str]]:
    """Return a link's possible targets in lower case: a name anywhere ("" for none), and paths."""
    target = link.target.lower().rstrip("/\\ ")
    path = posixpath.normpath(posixpath.join(folder.lower(), target))
    if link.how != "wiki":
        return "", ["" if path == "." else path]
    return target, [target, path] if "/" in target else [target]


def _existing_targets(root: str, names: set[str], paths: set[str]) -> set[str]:
    """Return those of the paths that exist in the vault, and those of the names, each prefixed by `*`."""
    existing = {""}
    last_parts = {name.rpartition("/")[2] for name in names}
    above = {path[: end + 1] for path in paths for end, letter in enumerate(path) if letter == "/"} | {""}
    for where, folders, files in os.walk(root):
        relative = where[len(root) :].replace(os.sep, "/").strip("/").lower()
        prefix = f"{relative}/" if relative else ""
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = [name.lower() for name in (*folders, *files)]
        if prefix in above:
            existing.update(
                paths.intersection(prefix + form for name in inside for form in (name, note_links.stem(name)))
            )
        if names:
            forms = (form for name in inside for form in (name, note_links.stem(name)) if form in last_parts)
            ends = chain.from_iterable(note_links.endings(prefix + form) for form in forms)
            existing.update(f"*{end}" for end in names.intersection(ends))
        else:
            folders[:] = [name for name in folders if f"{prefix}{name.lower()}/" in above]
    return existing


def _leads_somewhere(
    root: str, vault_part: VaultPart | None, folders: ShutFolders, link: WrittenLink, folder: str
) -> bool:
    """Whether a link leads to a file or an archived note by its exact path, which needs no listing of folders.

    So does a link to what the part of a vault that is here leaves out: another machine has that. A link into one of
    the folders that cannot be read may lead to a file, too.
    """
    path = posixpath.normpath(posixpath.join(folder, link.target))
    inside = not path.startswith(("..", "/", ".")) and "/." not in path and "\0" not in path
    if link.how != "markdown" or not inside:
        return False
    if os.path.lexists(f"{root}/{path}") or disk.is_packed(root, path):
        return True
    return folders.hold(path) or not part.is_part(vault_part, path)
