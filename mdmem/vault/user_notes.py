"""User notes: those that people, and agents on request, write and change.

New text passes the same gate as everything else. Changes are made in place: a line of front matter, or a paragraph
at the end. Nothing is appended to captured notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from mdmem import privacy, timestamps
from mdmem.config import Config
from mdmem.errors import BusyError, MdmemError, NotFoundError, UsageError
from mdmem.hashing import short
from mdmem.privacy import memory
from mdmem.vault import MAX_PATH_CHARS, NOTES, archives, disk, editing, is_in_journal, layout, note, projects, titles

MAX_BODY_BYTES = note.MAX_NOTE_BYTES - 8 * 1024
"""Maximum size of a note's text."""

MAX_TAGS = 32
MAX_TAG_CHARS = 64
_TRIES = 20


class Written(NamedTuple):
    """A stored note. path: vault-relative, POSIX."""

    id: str
    path: str


def add(
    config: Config,
    title: str,
    body: str,
    *,
    kind: str = "note",
    folder: str = NOTES,
    now: float,
    tags: Iterable[str] = (),
    **meta: Any,
) -> Written:
    """Write a new note. The same words in the same second give the same note.

    title: "" takes the first line of the body. folder: vault-relative, created if missing.
    now: seconds since the epoch. meta: more front matter, such as project and pinned; "", False, None and [] leave a
        key out.

    Raises:
        UsageError: when the text is empty, private, or too long for one note.
        VaultError, OSError: when the vault cannot be written.
        MdmemError: when the text cannot be checked for private text.
    """
    if note.is_internal(folder) != (kind in note.INTERNAL):
        raise UsageError(f"Notes of the kind {kind!r:.20} are not kept in {folder!r:.80}.")
    projects.refuse_emptied(config)
    rules = privacy.Rules.of(config.settings)
    title, body = privacy.as_typed(title), privacy.as_typed(body)
    source = {"title": title, "body": body, "tags": list(tags), "meta": meta}

    def build(clean: Any) -> note.Draft | None:
        line = note.one_line(clean["title"]) or titles.first_line(clean["body"], rules.marker)
        if not _has_words(clean["title"] + clean["body"], rules.marker):
            return None
        given_meta = {key: value for key, value in clean["meta"].items() if value is not False}
        return note.Draft(line, line, {**given_meta, "tags": clean_tags(clean["tags"])}, _bounded(clean["body"]))

    created = timestamps.note_time(now)
    request = note.NoteRequest(kind, source, build, identity=(), created=created, context={}, origin="prompt")
    new_note, cleaned = note.new(request, rules, memory.load_all(config))
    _refuse_unchecked(cleaned)
    if new_note is None:
        raise UsageError("There is nothing to store: the text is empty, or all of it is private.")
    text = "\0".join(str(value) for value in (*new_note.meta.values(), new_note.body))
    new_note.meta["id"] = note.make_id(kind, folder, short(text, 16))
    name = _name(new_note, folder)
    if folder == NOTES or note.is_internal(folder):
        folder = layout.for_new_note(config.vault, folder, name)
    return _publish(config, new_note, folder)


def _name(new_note: note.Note, folder: str) -> str:
    day, tail = str(new_note.meta["created"])[:10], f"{new_note.id}.md"
    words = note.cut_bytes(new_note.slug, MAX_PATH_CHARS - len(folder) - len(day) - len(tail) - 3)
    return f"{day}-{words}-{tail}" if words else f"{day}-{tail}"


def _publish(config: Config, new_note: note.Note, folder: str) -> Written:
    durable, name = config.durable, _name(new_note, folder)
    parts = tuple(part for part in folder.split("/") if part)
    with disk.open_folder(config.vault, parts, create=True, durable=durable) as opened:
        disk.create(opened, name, note.render(new_note).encode("utf-8", "replace"), durable=durable)
    return Written(new_note.id, "/".join((*parts, name)))


def append(config: Config, path: str, text: str) -> None:
    """Append a paragraph to a note that a person or an agent owns; the rest stays unchanged.

    path: vault-relative, POSIX.

    Raises:
        UsageError: when the note was captured or is an internal memory, when its front matter is broken,
            or when the text is empty or too long.
        NotFoundError: when there is no such note.
        VaultError, BusyError, OSError: when it cannot be written.
    """
    added = cleaned_body(config, privacy.as_typed(text)).strip("\n").encode("utf-8", "replace")

    def edit(data: bytes) -> bytes:
        if not is_owned(path, data):
            raise UsageError(
                f"{path} was captured; only notes that somebody wrote can be appended to. `mdmem edit` opens it."
            )
        before, changed = note.parse(data), _with_paragraph(data, added)
        if before.problem or note.parse(changed).meta != before.meta:
            raise UsageError(
                f"The front matter of {path} is broken, or the text would become a part of it. Fix it first."
            )
        return changed

    change(config, path, edit)


class ChangedError(BusyError):
    """A note has changed since somebody read it in order to change it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has changed in the meantime. Read it again, then change it.")


def change_text(
    config: Config, path: str, text: str, *, seen: bytes, title: str = "", most: int = MAX_BODY_BYTES
) -> None:
    """Replace the body of a note, and its title if a new one is given.

    seen: the file as somebody read it. most: maximum size of the text in bytes.

    Raises:
        ChangedError: when the file is no longer `seen`.
        UsageError: when the cleaned text or title is empty, too long, or would become front matter.
        NotFoundError: when there is no such note.
        VaultError, BusyError, OSError: when it cannot be written.
    """
    body = cleaned_body(config, as_typed(text, note.parse(seen).body), most)
    line = note.one_line(cleaned_body(config, privacy.as_typed(title))) if title else ""

    def edit(data: bytes) -> bytes:
        if data != seen:
            raise ChangedError(path)
        if line:
            data = editing.set_keys(data, {"title": line})
        before = note.parse(data)
        if before.meta or before.problem:
            return editing.with_body(data, body)
        changed = (body.strip("\n") + "\n").encode("utf-8", "replace")
        if note.parse(changed).meta or note.parse(changed).problem:
            raise UsageError("The text would become the note's front matter. Begin it with another line.")
        return changed

    change(config, path, edit)


def _with_paragraph(data: bytes, added: bytes) -> bytes:
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    tail = data[-4:].replace(b"\r\n", b"\n")
    ends = len(tail) - len(tail.rstrip(b"\n"))
    gap = newline * max(2 - ends, 0) if data else b""
    return data + gap + added.replace(b"\r\n", b"\n").replace(b"\n", newline) + newline


def set_keys(config: Config, path: str, changes: Mapping[str, Any]) -> bool:
    """Set front matter keys, or remove those whose value is None, in place. False when nothing changes.

    path: vault-relative, POSIX. Captured notes can be pinned or tagged too; internal memories cannot.

    Raises:
        UsageError: when the front matter is broken, or cannot be changed in place.
        NotFoundError: when there is no such note.
        VaultError, BusyError, OSError: when it cannot be written.
    """
    values = clean(config, dict(changes))
    return change(config, path, lambda data: editing.set_keys(data, values))


def add_tags(config: Config, path: str, tags: Iterable[str]) -> list[str]:
    """Add tags to a note; return all its tags. Raises what `set_keys` raises."""
    added = clean_tags(clean(config, list(tags)))
    return _change_tags(config, path, lambda had: [*had, *(tag for tag in added if tag not in had)])


def remove_tags(config: Config, path: str, tags: Iterable[str]) -> list[str]:
    """Remove tags from a note; return those that remain. Raises what `set_keys` raises."""
    removed = list(tags)

    def remaining(had: list[str]) -> list[str]:
        meant = frozenset(meant_tags(had, removed))
        return [tag for tag in had if tag not in meant]

    return _change_tags(config, path, remaining)


def meant_tags(had: Iterable[str], tags: Iterable[str]) -> list[str]:
    """Return the tags that are meant among those a note has: the very ones, such as "two words", else as stored."""
    known = frozenset(had)
    return [name for tag in tags for name in ([tag] if tag in known else clean_tags([tag]))]


def _change_tags(config: Config, path: str, choose: Callable[[list[str]], list[str]]) -> list[str]:
    now: list[str] = []

    def edit(data: bytes) -> bytes:
        value = note.parse(data).meta.get("tags")
        if not isinstance(value, str | list | None):
            raise UsageError("The tags of this note are neither a list nor words. Change them in your editor.")
        had = tags_of(value)
        now[:] = choose(had)
        return data if now == had else editing.set_keys(data, {"tags": now or None})

    change(config, path, edit)
    return now


def tags_of(value: Any) -> list[str]:
    """Parse the tags in front matter, as a list or as words with or without commas."""
    if isinstance(value, str):
        return value.replace(",", " ").split()
    return [str(tag) for tag in value if tag is not None] if isinstance(value, list) else []


def typed_tags(text: str) -> list[str]:
    """Parse the tags of a form: separated by commas, or by spaces if there is no comma."""
    return clean_tags(text.split(",") if "," in text else text.split())


def clean_tags(tags: Iterable[Any]) -> list[str]:
    """Normalize tags for storage: no `#` or `+` before them, no white space, each once; `a,b` counts as two.

    Raises UsageError when a tag is too long, or there are too many.
    """
    words = (word for tag in tags for word in str(tag).split(","))
    distinct = dict.fromkeys("-".join(word.strip().lstrip("#+").split()) for word in words)
    distinct.pop("", None)
    if len(distinct) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in distinct):
        raise UsageError(f"A note takes at most {MAX_TAGS} tags of at most {MAX_TAG_CHARS} characters.")
    return list(distinct)


def is_owned(path: str, data: bytes) -> bool:
    """Whether a person or agent wrote a note on purpose: it is neither captured, generated nor an internal memory."""
    kind = note.parse(data).meta.get("kind", "" if is_in_journal(path) else "note")
    return str(kind) not in _CAPTURED and not note.is_internal(path, kind)


_CAPTURED = frozenset([*note.KINDS, ""]).difference(note.WRITTEN)


def change(config: Config, path: str, edit: Callable[[bytes], bytes], *, internal: bool = False) -> bool:
    """Change one note. edit: takes the current bytes and returns the new ones. False when they are the same.

    If somebody saves the file meanwhile, `edit` is called again, so that no change is lost. internal: allow `path` to
    be an internal memory.

    Raises:
        NotFoundError: when there is no such note.
        VaultError, BusyError, OSError: when it cannot be written.
    """
    name = path.rpartition("/")[2]
    if not disk.is_note_path(path) or (note.is_internal(path) and not internal):
        raise NotFoundError(f"There is no note at {path!r:.200}.")
    durable = config.durable
    archives.unpack_archive_of(config, path)
    try:
        with disk.open_parent(config.vault, path) as folder:
            folder.lock()
            for _ in range(_TRIES):
                data = disk.read(folder, name)
                if data is None:
                    break
                if len(data) >= disk.MAX_READ_BYTES:
                    raise UsageError(f"{path} is too large for mdmem. Change it in your editor.")
                if b"\0" in data:
                    raise UsageError(f"{path} contains a NUL byte (is it saved as UTF-16?). Save it as UTF-8 first.")
                changed = edit(data)
                if changed == data:
                    return False
                if disk.replace(folder, name, data, changed, durable=durable):
                    return True
            else:
                raise BusyError(f"{path} is being changed by another program. Try again.")
    except FileNotFoundError:
        pass
    raise NotFoundError(f"There is no note at {path!r:.200}.")


# -- the gate ---------------------------------------------------------------------------------------


def clean(config: Config, value: Any) -> Any:
    """Clean a value for a note: a text, or lists and objects of texts. Raises MdmemError when that is impossible."""
    rules = privacy.Rules.of(config.settings)
    names = frozenset(value) if isinstance(value, dict) else frozenset()
    cleaned = privacy.clean(value, rules=rules, origin="prompt", echo=memory.load_all(config), names=names)
    _refuse_unchecked(cleaned)
    return cleaned.value


def _refuse_unchecked(cleaned: privacy.Cleaned) -> None:
    """Raise MdmemError if a text could not be checked: whoever wrote it can write it in another way."""
    if cleaned.failure is not None:
        raise MdmemError(
            "The text could not be checked for private text and secrets, so nothing was stored: mdmem has a fault"
            f" ({type(cleaned.failure).__name__}). Leave out what is unusual in the text, and report the fault."
        ) from cleaned.failure


def as_typed(text: str, before: str) -> str:
    """Return a text whose leading `[PRIVATE]` is read as a typed tag, unless `before` has it as a mark already."""
    first = text.strip().partition("\n")[0]
    return text if first in before else privacy.as_typed(text)


def cleaned_body(config: Config, text: str, most: int = MAX_BODY_BYTES) -> str:
    """Clean a note's text. most: maximum size in bytes.

    Raises UsageError when nothing is left of it, or it is too long.
    """
    cleaned = str(clean(config, text))
    if not _has_words(cleaned, privacy.Rules.of(config.settings).marker):
        raise UsageError("There is nothing to store: the text is empty, or all of it is private.")
    return _bounded(cleaned, most)


def _bounded(text: str, most: int = MAX_BODY_BYTES) -> str:
    size = len(text.encode("utf-8", "replace"))
    if size > most:
        raise UsageError(f"A note holds at most {most // 1024} KiB; this is {size // 1024} KiB. Write several.")
    return text


def _has_words(text: str, marker: str) -> bool:
    bare = text.replace(marker, "") if marker else text
    return bool(bare.strip())
