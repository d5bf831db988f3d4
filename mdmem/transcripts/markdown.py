"""Folders of markdown: an Obsidian vault, a `memory/` folder, a MEMORY.md become notes of one's own.

They are copied to `notes/imported/<name>/` with their folders, names and front matter, through the same
door as everything else. What is there already stays as it is, whatever became of the original.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from mdmem import choice, note, privacy, project, vault
from mdmem.agents import text
from mdmem.config import Config
from mdmem.slug import slug
from mdmem.transcripts.lines import decode, head
from mdmem.transcripts.saved import Skipped, moment

SUFFIXES = (".md", ".markdown")
HOME = ("notes", "imported")
_OURS = frozenset(["id", "kind", "created", "private", "redacted"])
_MAX_PATH_BYTES = 240
_NO_NAME = frozenset('\\/:*?"<>|')


class Folder(NamedTuple):
    """A folder of markdown.

    name: of its folder in the vault. files: those to take, relative to `root`; () for all.
    cwd: the folder of the project that it is about; "" when it is about none.
    """

    root: Path
    name: str
    files: tuple[str, ...] = ()
    cwd: str = ""


def has_any(root: Path) -> bool:
    """Say whether there is markdown below a folder."""
    return next(vault.walk(str(root)), None) is not None


def memories(root: Path) -> list[Folder]:
    """Find what agents remember of their projects by themselves: `memory/` folders beside transcripts."""
    found = []
    for path in sorted(root.glob("*/memory")):
        if path.is_dir() and has_any(path):
            cwd = _cwd(path.parent)
            name = slug(Path(cwd).name if cwd else path.parent.name) or "project"
            found.append(Folder(path, f"{name}-memory", (), cwd))
    return found


def _cwd(folder: Path) -> str:
    """Take the project's folder from a transcript beside it: the folder's own name does not tell."""
    for path in sorted(folder.glob("*.jsonl"))[:5]:
        for line in head(path).splitlines():
            cwd = text((decode(line, Skipped()) or {}).get("cwd"))
            if cwd:
                return cwd
    return ""


def files(folder: Folder) -> Iterator[str]:
    """List a folder's markdown, relative to it, without hidden files, links and templates."""
    return iter(folder.files) if folder.files else (entry.path for entry in vault.walk(str(folder.root)))


def bring(config: Config, rules: privacy.Rules, folder: Folder, path: str, skipped: Skipped) -> bool:
    """Copy one file into the vault; False when it was there already, or is not to be taken, which is counted.

    Raises:
        OSError, VaultError: when it cannot be read, or the vault cannot be written.
    """
    source = folder.root / path
    where = project.identify(folder.cwd or str(folder.root))
    if not choice.takes_path(config, str(source.resolve()), where):
        skipped["file in an excluded folder"] += 1
        return False
    data = source.read_bytes()[: vault.MAX_READ_BYTES + 1]
    parsed = note.parse(data)
    if parsed.problem:  # a broken front matter is text like any other, so that nothing of it is lost
        parsed = note.Parsed({}, data.decode("utf-8", "replace"))
    if len(data) > vault.MAX_READ_BYTES or parsed.meta.get("private") is True:
        skipped["file too long" if len(data) > vault.MAX_READ_BYTES else "file that says it is private"] += 1
        return False
    name = where.name if folder.cwd else ""
    made, place = _make(rules, folder, path, parsed, source.stat().st_mtime, name)
    if made is None:
        skipped["file with nothing to keep"] += 1
        return False
    *folders, file_name = place
    with vault.open_folder(config.vault, (*HOME, *folders), create=True) as target:
        if vault.create(target, file_name, note.render(made).encode("utf-8", "replace")):
            return True
        if note.parse(vault.read(target, file_name) or b"").meta.get("id") not in (made.id, None):
            stem, _, suffix = file_name.rpartition(".")  # another file took the name that this one's became
            if vault.create(target, f"{stem}-{made.id}.{suffix}", note.render(made).encode("utf-8", "replace")):
                return True
    skipped["file that is there already"] += 1
    return False


def _make(
    rules: privacy.Rules, folder: Folder, path: str, parsed: note.Parsed, changed: float, project_name: str
) -> tuple[note.Note | None, list[str]]:
    """Make the note of a file, and say where it goes; both from cleaned text only."""
    place: list[str] = []

    def build(clean: Any) -> note.Draft | None:
        place[:] = _place(clean["path"])
        body = str(clean["body"])
        if not body.strip() and not clean["meta"]:
            return None
        title = text(clean["meta"].get("title")) or Path(place[-1]).stem
        meta = {f"original_{key}" if key in _OURS else key: value for key, value in clean["meta"].items()}
        meta["tags"] = _tags(clean["meta"].get("tags"))
        meta.pop("title", None)
        return note.Draft(title, "", {**meta, "imported_from": clean["path"]}, body)

    made, _ = note.new(
        "note",
        {"path": f"{folder.name}/{path}", "meta": parsed.meta, "body": parsed.body},
        build,
        identity=("imported", folder.name, path),
        created=vault.iso_time(_created(parsed.meta, path, changed)),
        context={"project": project_name},
        rules=rules,
        origin="prompt",
        max_bytes=vault.MAX_READ_BYTES,
    )
    return made, place


def _place(path: str) -> list[str]:
    """Say which folders and file in the vault a cleaned path stands for: its own names, where they can be."""
    *folders, name = path.split("/")
    parts = [_name(part) for part in folders]
    stem, _, suffix = name.rpartition(".")
    room = _MAX_PATH_BYTES - len("/".join([*HOME, *parts]).encode()) - len(suffix) - 16
    return [*parts, f"{note.cut_bytes(_name(stem), max(room, 40))}.{suffix}"]


def _name(part: str) -> str:
    """Keep a name as it is where every file system takes it: links between the notes go by it."""
    plain = part.isprintable() and not set(part) & _NO_NAME and part == part.strip(" .")
    return note.cut_bytes(part, 120) if part and plain else slug(part) or "unnamed"


def _tags(given: Any) -> list[str]:
    found = given if isinstance(given, list) else str(given or "").replace(",", " ").split()
    return [*dict.fromkeys([str(tag).lstrip("#") for tag in found if str(tag).strip()] + ["imported"])]


def _created(meta: dict[str, Any], path: str, changed: float) -> float:
    """Say when a note was made: as it says itself, by the day a daily note is named after, or when it was changed."""
    said = (text(meta.get(key)).strip() for key in ("created", "date", "created_at", "created-at"))
    for value in (*said, PurePosixPath(path).name[:10]):
        found = moment(value)
        if found is not None:
            return found
    return changed
