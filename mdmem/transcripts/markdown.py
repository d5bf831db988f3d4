"""Markdown folders: imports an Obsidian vault, a `memory/` folder or a MEMORY.md as the user's own notes.

They are copied to `notes/imported/<name>/` with their folders, names, front matter and the pictures that they show,
through the same privacy gate as everything else. An existing copy is not changed, whatever happens to the original, and
one that a person deleted or moved does not come back.
Only copies of followed files and decision records, and notes made of a file of memories, are updated, until a person
edits them.
"""

from __future__ import annotations

import os
import posixpath
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mdmem import privacy, project, timestamps
from mdmem.agents import text
from mdmem.agents.install.catalog import ROWS
from mdmem.config import Config
from mdmem.errors import PatternError
from mdmem.privacy import memory
from mdmem.slug import RESERVED, slug
from mdmem.transcripts import promotion
from mdmem.transcripts.documents import decision_records, memory_files
from mdmem.transcripts.documents.pictures import LinkedPictures
from mdmem.transcripts.lines import decode, head
from mdmem.transcripts.saved import Skipped
from mdmem.vault import NOTES, creation, disk, editing, exclusions, followed_copies, note, people
from mdmem.vault import titles as note_titles
from mdmem.vault.followed_copies import CONFLICT, DIGEST

SUFFIXES = (".md", ".markdown")
HOME = (NOTES, "imported")
_OURS = frozenset(["id", "kind", "created", "private", "redacted", "source", "loaded_by", DIGEST])
_MAX_PATH_BYTES = 240
_STATED = ("superseded_by", "status")
_NO_NAME = frozenset('\\/:*?"<>|')


OF_PROJECT, OF_USER, MEMORY = "project", "user", "memory"
"""Owner of a followed folder: a project's instruction files, the user's own, or an agent's memory."""


class MarkdownFolder(NamedTuple):
    """A folder of markdown.

    name: of its folder in the vault. files: those to import, relative to `root`; () for all.
    cwd: the folder of the project that it is about, or "".
    follow: the owner (`OF_PROJECT`, `OF_USER`, `MEMORY`) if changed files are to be imported again; else "".
    """

    root: Path
    name: str
    files: tuple[str, ...] = ()
    cwd: str = ""
    follow: str = ""

    @property
    def holds_memories(self) -> bool:
        """Whether this is a file of memories, each of which becomes a note."""
        return self.files[:1] != () and self.files[0].endswith(memory_files.SUFFIXES)

    @property
    def updates(self) -> bool:
        """Whether a note that nobody has edited follows the source that it was made from."""
        return bool(self.follow) or self.holds_memories


def loaded_by(folder: MarkdownFolder, path: str) -> list[str]:
    """Return the agents that load a followed file themselves, and so are not given its note."""
    if folder.follow == OF_USER:
        return [row.name for row in ROWS if folder.name.startswith(f"{row.name}-instructions")]
    loads = {row.name: row.instructions if folder.follow == OF_PROJECT else (row.own_memory,) for row in ROWS}
    return [agent for agent, paths in loads.items() if path in paths]


def has_any(root: Path) -> bool:
    """Whether there is markdown below a folder, apart from packages."""
    return next(_below(root), None) is not None


PACKAGES = "node_modules"
"""Name of the folders in which programs install packages, whose Markdown is nobody's notes."""


def _below(root: Path) -> Iterator[str]:
    walked = disk.walk(str(root), hides=lambda path: path.rpartition("/")[2] == PACKAGES)
    return (entry.path for entry in walked)


def memories(root: Path) -> list[MarkdownFolder]:
    """Return the agents' own memory folders: `memory/` folders beside transcripts."""
    folders = []
    for path in sorted(root.glob("*/memory")):
        if path.is_dir() and has_any(path):
            cwd = _cwd(path.parent)
            name = slug(Path(cwd).name if cwd else path.parent.name) or "project"
            folders.append(MarkdownFolder(path, f"{name}-memory", (), cwd, follow=MEMORY))
    return folders


def _cwd(folder: Path) -> str:
    """Return the project's folder from a transcript in `folder`, whose name does not tell it."""
    for path in sorted(folder.glob("*.jsonl"))[:5]:
        for line in head(path).splitlines():
            cwd = text((decode(line, Skipped()) or {}).get("cwd"))
            if cwd:
                return cwd
    return ""


def files(folder: MarkdownFolder) -> Iterator[str]:
    """Return a folder's markdown files, relative to it, without hidden files, links, templates and packages."""
    return iter(folder.files) if folder.files else _below(folder.root)


class UncheckedError(Exception):
    """A file could not be checked for private text. Its message says what to do, if that is known."""


def unchecked(what: str, why: str) -> str:
    """Return why what could not be checked for private text is passed over. why: what to do, "" if unknown."""
    return f"{what} that could not be checked for private text{': ' if why else ''}{why.removesuffix('.')}"


class Gone(NamedTuple):
    """What an import must not bring back.

    committed: paths, in NFC, of imported notes that were ever committed: one that is not on disk was deleted or moved.
    purged: whether a note id was purged.
    """

    committed: Collection[str]
    purged: Callable[[str], bool]


class FolderImport(NamedTuple):
    """The import of one folder: whose notes they become, and what is passed over.

    owner: the project that the folder is about, or is in. echo: what sessions said in private, if an agent may have
    written it down.
    """

    config: Config
    rules: privacy.Rules
    folder: MarkdownFolder
    owner: project.Project
    echo: privacy.Echo | None
    pictures: LinkedPictures
    gone: Gone
    skipped: Skipped

    @classmethod
    def of(
        cls, config: Config, rules: privacy.Rules, folder: MarkdownFolder, gone: Gone, skipped: Skipped
    ) -> FolderImport:
        """Return the import of a folder. skipped: reason -> number of things passed over, which grows."""
        owner = project.identify(folder.cwd or str(folder.root))
        echo = memory.load_all(config) if folder.follow else None
        pictures = LinkedPictures(folder.root, whole=not folder.files)
        return cls(config, rules, folder, owner, echo, pictures, gone, skipped)

    def takes(self, path: Path) -> bool:
        """Whether a file is in no excluded folder; one that is gets counted."""
        takes = exclusions.takes_path(self.config, str(path.resolve()), self.owner)
        self.skipped["file in an excluded folder"] += not takes
        return takes

    def brings_back(self, place: list[str], note_id: str) -> bool:
        """Whether a note was here before, and a person has deleted or moved it."""
        path = "/".join((*HOME, *place))
        paths = [path, _own_name(path, note_id)]
        data = disk.read_path(self.config.vault, path)
        if data is not None and note.parse(data).meta.get("id") not in (note_id, None):
            del paths[0]  # another file has this name
        paths += [unicodedata.normalize("NFC", each) for each in paths]
        was_here = any(each in self.gone.committed for each in paths)
        is_here = any(os.path.lexists(f"{self.config.vault}/{each}") for each in paths)
        return was_here and not is_here


def bring(into: FolderImport, path: str) -> Counter[str]:
    """Copy one file into the vault; return how many notes and pictures are new or changed.

    Raises OSError or VaultError when it cannot be read, or the vault cannot be written.
    """
    source = into.folder.root / path
    if not into.takes(source):
        return Counter()
    data = source.read_bytes()[: disk.MAX_READ_BYTES + 1]
    if len(data) > disk.MAX_READ_BYTES:
        into.skipped["file too long"] += 1
        return Counter()
    changed = source.stat().st_mtime
    if into.folder.holds_memories:
        found = memory_files.read(data, into.skipped)
        texts = ((f"{each.name}.md", note.Parsed(each.meta, each.body), each.kind) for each in found)
        return Counter(note=sum(_bring(into, name, parsed, changed, kind)[0] for name, parsed, kind in texts))
    parsed = note.parse(data)
    if parsed.problem:  # invalid front matter is kept as text, so that nothing is lost
        parsed = note.Parsed({}, data.decode("utf-8", "replace"))
    is_new, body = _bring(into, _as_note(into.folder, path), parsed, changed)
    shown = () if into.folder.follow else into.pictures.of(body, posixpath.dirname(path), into.skipped)
    return Counter(note=is_new, picture=sum(_bring_picture(into, picture) for picture in dict.fromkeys(shown)))


def _bring(into: FolderImport, path: str, parsed: note.Parsed, changed: float, kind: str = "note") -> tuple[bool, str]:
    """Store one text as a note; return whether anything was written, and the note's body. What is not is counted."""
    what = "memory" if into.folder.holds_memories else "file"
    if people.keeps_private(parsed.meta):
        into.skipped[f"{what} that says it is private"] += 1
        return False, ""
    try:
        new_note, place = _make(into, path, parsed, changed, kind)
    except UncheckedError as error:
        into.skipped[unchecked(what, str(error))] += 1
        return False, ""
    if new_note is None:
        into.skipped[f"{what} with nothing to keep"] += 1
        return False, ""
    if into.gone.purged(new_note.id):
        into.skipped[f"{what} whose note you purged"] += 1
        return False, ""
    if into.brings_back(place, new_note.id):
        into.skipped[f"{what} whose note you deleted or moved (--again imports it)"] += 1
        return False, ""
    is_new = _publish(into.config, into.folder, place, new_note, into.skipped)
    into.skipped[f"{what} that is there already"] += not is_new
    return is_new, new_note.body


def count_gone(into: FolderImport, paths: Iterable[str]) -> int:
    """Return how many notes of a folder's files a person has deleted or moved, without importing any."""
    names = [_as_note(into.folder, path) for path in paths]
    if into.folder.holds_memories:
        data = b"".join(head(into.folder.root / path, disk.MAX_READ_BYTES) for path in into.folder.files)
        names = [f"{each.name}.md" for each in memory_files.read(data, Skipped())]
    places = ((_place(f"{into.folder.name}/{name}", f".{name.rpartition('.')[2]}"), name) for name in names)
    return sum(into.brings_back(place, note_id(into.folder, name)) for place, name in places)


def _bring_picture(into: FolderImport, path: str) -> bool:
    """Copy a picture that a note shows, unless it is there already; return whether it was copied."""
    source = into.folder.root / path
    if not into.takes(source):
        return False
    if source.stat().st_size > into.config.settings.sync.max_file_mb * 1_000_000:
        into.skipped["picture that sync.max_file_mb does not allow"] += 1
        return False
    cleaned = privacy.clean(f"{into.folder.name}/{path}", rules=into.rules)
    if cleaned.failure is not None or cleaned.value != f"{into.folder.name}/{path}":
        into.skipped["picture with private text in its name"] += 1
        return False
    *folders, name = _place(cleaned.value, f".{path.rpartition('.')[2]}")
    with disk.open_folder(into.config.vault, (*HOME, *folders), create=True) as target:
        return disk.create(target, name, source.read_bytes())


def _own_name(path: str, note_id: str) -> str:
    """Return the path of a note whose name another file has taken."""
    stem, _, suffix = path.rpartition(".")
    return f"{stem}-{note_id}.{suffix}"


def _publish(config: Config, folder: MarkdownFolder, place: list[str], new_note: note.Note, skipped: Skipped) -> bool:
    """Create a file's note, or update one that follows its source; return whether anything was written."""
    *folders, file_name = place
    data = note.render(new_note).encode("utf-8", "replace")
    own_name = _own_name(file_name, new_note.id)
    with disk.open_folder(config.vault, (*HOME, *folders), create=True) as target:
        if disk.read(target, own_name) is not None:
            file_name = own_name
        elif disk.create(target, file_name, data):
            return True
        elif note.parse(disk.read(target, file_name) or b"").meta.get("id") not in (new_note.id, None):
            file_name = own_name
            if disk.create(target, file_name, data):
                return True
        return DIGEST in new_note.meta and _update(folder, target, file_name, new_note, skipped)


def _update(folder: MarkdownFolder, target: disk.Folder, name: str, new_note: note.Note, skipped: Skipped) -> bool:
    """Update the note of a file that has changed; return whether it was.

    If a person has edited it, record the conflict instead. A followed file's note with a successor is one whose file
    was deleted, and is back; otherwise the file, or a person, named that successor, and a person's stays.
    """
    data = disk.read(target, name)
    parsed = note.parse(data or b"")
    now = new_note.meta[DIGEST]
    is_back = bool(folder.follow and parsed.meta.get("superseded_by"))
    states = all(parsed.meta.get(key) == new_note.meta[key] for key in _STATED if key in new_note.meta)
    if data is None or (parsed.meta.get(DIGEST) == now and states and not is_back):
        return False
    if followed_copies.is_edited(parsed):
        if now in (parsed.meta.get(CONFLICT), parsed.meta.get(DIGEST)):
            return False
        skipped["file that has changed, and so has its note, which is kept"] += 1
        disk.replace(target, name, data, editing.set_keys(data, {CONFLICT: now}))
        return False
    stated = {key for key, value in _stated_before(folder, parsed).items() if parsed.meta.get(key) == value}
    replaced = {*new_note.meta, "loaded_by", CONFLICT, *(["superseded_by"] if folder.follow else stated)}
    own_keys = {key: value for key, value in parsed.meta.items() if key not in replaced}
    changed = note.Note({**new_note.meta, **own_keys}, "", new_note.body)
    return disk.replace(target, name, data, note.render(changed).encode("utf-8", "replace"))


def note_id(folder: MarkdownFolder, path: str) -> str:
    """Return the id of a file's note."""
    return note.make_id("imported", folder.name, path)


def _make(
    into: FolderImport, path: str, parsed: note.Parsed, changed: float, kind: str
) -> tuple[note.Note | None, list[str]]:
    """Return a file's note and its place in the vault, both made from cleaned text only."""
    folder, rules = into.folder, into.rules
    place: list[str] = []
    record: list[decision_records.DecisionRecord] = []

    def build(clean: Any) -> note.Draft | None:
        place[:] = _place(clean["path"], f".{path.rpartition('.')[2]}")
        body = str(clean["body"])
        if not body.strip() and not clean["meta"]:
            return None
        heading = "" if folder.follow else note_titles.heading(body)
        if folder.holds_memories:
            heading = note_titles.first_line(body, rules.marker)
        title = text(clean["meta"].get("title")) or heading or Path(place[-1]).stem
        record.extend(_records(folder, clean["meta"], body))
        meta = {f"original_{key}" if key in _OURS else key: value for key, value in clean["meta"].items()}
        meta["tags"] = _tags(clean["meta"].get("tags"))
        meta.pop("title", None)
        if folder.updates:
            meta |= {"source": clean["source"], "loaded_by": loaded_by(folder, path) or None}
        for stated in record:
            meta |= _stated(folder, path, stated, clean["meta"])
        return note.Draft(title, "", {**meta, "imported_from": clean["path"]}, body)

    request = note.NoteRequest(
        kind,
        {
            "path": f"{folder.name}/{path}",
            "meta": parsed.meta,
            "body": promotion.without_all(parsed.body) if folder.follow else parsed.body,
            "source": _short(folder.root / (folder.files[0] if folder.holds_memories else path)),
        },
        build,
        identity=("imported", folder.name, path),
        created=timestamps.note_time(_created(parsed.meta, path, changed)),
        context={"project": into.owner.name if folder.cwd else ""},
        origin="prompt",
        max_bytes=disk.MAX_READ_BYTES,
    )
    new_note, cleaned = note.new(request, rules, into.echo)
    if cleaned.failure is not None:
        raise UncheckedError(cleaned.failure if isinstance(cleaned.failure, PatternError) else "")
    if new_note is not None and record:
        new_note.meta["kind"] = "decision"
        decided = creation.read_time(record[0].date) if creation.when_made(parsed.meta, path) is None else None
        if decided and 2000 <= decided.year < 2100:
            new_note.meta["created"] = timestamps.note_time(decided.timestamp())
    if new_note is not None and (folder.updates or record):
        new_note.meta[DIGEST] = note.fingerprint(new_note.title, new_note.body)
    return new_note, place


def _records(folder: MarkdownFolder, meta: dict[str, Any], body: str) -> list[decision_records.DecisionRecord]:
    """Return what a cleaned text says as a decision record, if it is one; an agent's own file never is."""
    record = None if folder.updates else decision_records.read(meta, body)
    return [record] if record else []


def _stated(
    folder: MarkdownFolder, path: str, record: decision_records.DecisionRecord, meta: dict[str, Any]
) -> dict[str, Any]:
    """Return the front matter by which a decision record is out of force; {} while it holds."""
    successor = posixpath.normpath(posixpath.join(posixpath.dirname(path), record.successor))
    if record.successor and successor.endswith(SUFFIXES) and (folder.root / successor).is_file():
        return {"superseded_by": note_id(folder, successor)}
    if record.successor:
        return {"superseded_by": record.successor}
    return {"status": "retired", "original_status": meta.get("status")} if record.is_retired else {}


def _stated_before(folder: MarkdownFolder, copy: note.Parsed) -> dict[str, Any]:
    """Return what `_stated` returned for the text that a decision record's note has; {} for another note."""
    status = copy.meta.get("status")
    written = copy.meta.get("original_status") if status == "retired" else status
    path = copy.fact("imported_from").removeprefix(f"{folder.name}/")
    records = _records(folder, {"status": written}, copy.body)
    return _stated(folder, path, records[0], {"status": written}) if records else {}


def _as_note(folder: MarkdownFolder, path: str) -> str:
    """Return the path of a file's copy: other endings, such as those of rules, are not of notes."""
    if path.endswith(disk.NOTE_ENDINGS):
        return path
    without_ending = f"{path.removesuffix('.mdc')}.md"
    return f"{path}.md" if (folder.root / without_ending).is_file() else without_ending


def _short(path: Path) -> str:
    """Return an absolute path with `~` for the home folder, which hides the user's name."""
    home, path = Path.home(), path.absolute()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()


def _place(path: str, suffix: str) -> list[str]:
    """Return the folders and file name in the vault for a cleaned path, with its own names if allowed.

    suffix: of the file's name, which a cleaned path may have lost.
    """
    *folders, name = path.split("/")
    parts = [_name(part) for part in folders]
    room = _MAX_PATH_BYTES - len("/".join([*HOME, *parts]).encode()) - len(suffix) - 15
    stem = note.cut_bytes(_name(name.removesuffix(suffix)), max(room, 40))
    return [*parts, f"{stem or 'unnamed'}{suffix}"]


def _name(part: str) -> str:
    """Return a name unchanged if every file system accepts it, because links between notes use it."""
    plain = all(map(note.is_legible, part)) and not set(part) & _NO_NAME and part == part.strip(" .")
    plain = plain and part.partition(".")[0].lower() not in RESERVED
    return note.cut_bytes(part, 120) if part and plain else slug(part) or "unnamed"


def _tags(value: Any) -> list[str]:
    tags = value if isinstance(value, list) else str(value or "").replace(",", " ").split()
    return [*dict.fromkeys([str(tag).lstrip("#") for tag in tags if str(tag).strip()] + ["imported"])]


def _created(meta: dict[str, Any], path: str, changed: float) -> float:
    """Return when a note was created: from its front matter, a date in its path, or its mtime."""
    created = creation.when_made(meta, path)
    return created.timestamp() if created and 2000 <= created.year < 2100 else changed
