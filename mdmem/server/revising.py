"""The tools that change, move and delete people's own notes in `notes/`. What hooks captured is never rewritten.

A change needs the checksum of what was read, so that nobody's newer words are lost. Each change is its own commit,
which can be undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import Field
from typing_extensions import TypedDict

from mdmem import privacy, slug
from mdmem.errors import BusyError, UsageError
from mdmem.server import lookup, safe_text
from mdmem.server.access import Access
from mdmem.server.reading import NoteReference
from mdmem.server.writing import MAX_TEXT_CHARS
from mdmem.vault import NOTES, disk, editing, people, user_notes
from mdmem.vault import note as notes

MAX_NAME_BYTES = 240
"""Maximum length of a file or folder name: file systems allow 255, and temporary files need some of it."""

HOME = f"{NOTES}/"

SUBJECT = "Change by a tool"
"""Start of these commits' subjects; `undo_change` undoes only such commits."""

NEXT = "Read it again with `get_notes`."

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")

_COMMIT = re.compile(r"[0-9a-f]{7,64}")

_FENCE = re.compile(r" {0,3}(```|~~~)")

Checksum = Annotated[str, Field(description="As `get_notes` returned it.")]


class RevisedNote(TypedDict):
    """A note after a change. checksum: for the next change. undo: for `undo_change`."""

    id: str
    path: str
    done: str
    checksum: str
    undo: str


class _Owned(NamedTuple):
    """A person's own note, as it was read."""

    id: str
    path: str
    data: bytes


def edit_note(
    access: Access,
    note: NoteReference,
    checksum: Checksum,
    text: Annotated[str, Field(description="The new text; markdown.", max_length=MAX_TEXT_CHARS)],
    section: Annotated[str, Field(description="A heading; the text below it is replaced.")] = "",
    find: Annotated[str, Field(description="Or a text that occurs once.")] = "",
    every: Annotated[bool, Field(description="Replace every occurrence.")] = False,
) -> RevisedNote:
    """Edit a note in notes/: replace a section, or a text in it. Undo with `undo_change`."""
    if bool(section) == bool(find):
        raise UsageError("Give either `section` (a heading) or `find` (a text), but not both.")
    owned = _owned(access, note, checksum)
    body = notes.parse(owned.data).body
    if str(user_notes.clean(access.config, body)).strip("\n") != body.strip("\n"):
        # checked before searching: a match, or the names of sections, would reveal what is private
        raise UsageError("The note holds private text or a secret, so only its owner can edit it, in their editor.")
    new = str(user_notes.clean(access.config, user_notes.as_typed(text, body)))
    if text.strip() and not new.strip():
        raise UsageError("All of the text is private, so it cannot be stored. Nothing was changed.")
    changed = _with_section(body, section, new) if section else _with_text(body, find, new, every=every)
    after = _with_body(owned.data, changed)
    if notes.parse(after).body.strip("\n") != str(user_notes.clean(access.config, changed)).strip("\n"):
        raise UsageError("This change would make part of the note private or a secret. Nothing was changed.")
    _refuse_too_long(len(after))
    return _changed(access, owned, owned.path, after, "Edited.")


def move_note(
    access: Access,
    note: NoteReference,
    checksum: Checksum,
    to: Annotated[str, Field(description="A path, such as notes/db/utc.md.")],
) -> RevisedNote:
    """Move or rename a note in notes/. Its id stays. Undo with `undo_change`."""
    owned = _owned(access, note, checksum)
    path = to.strip().removeprefix(f"{access.config.vault}/")
    path = path if path.endswith(".md") else f"{path}.md"
    if not _is_good(path):
        raise UsageError(f"`to` must be a path in {HOME}, such as notes/db/utc.md, not {to!r:.80}.")
    if (
        people.clean_path(privacy.Rules.of(access.config.settings), path) != path
        or user_notes.clean(access.config, path) != path
    ):
        raise UsageError("`to` holds private text or what looks like a secret. Nothing was moved.")
    if disk.read_path(access.config.vault, path) is not None:
        raise UsageError(f"There is already a note at {path!r:.80}. Nothing was moved.")
    return _changed(access, owned, path, owned.data, "Moved.")


def _is_good(path: str) -> bool:
    """Whether a path in `notes/` is valid on every system."""
    names = path.split("/")
    fits = all(name and len(name.encode("utf-8", "replace")) <= MAX_NAME_BYTES for name in names)
    is_reserved = any(name.partition(".")[0].rstrip().lower() in slug.RESERVED for name in names)
    is_plain = path.isprintable() and ".." not in path and len(path) < 160
    return path.startswith(HOME) and disk.is_note_path(path) and fits and is_plain and not is_reserved


def delete_note(access: Access, note: NoteReference, checksum: Checksum) -> RevisedNote:
    """Delete a note in notes/. It stays in history. Undo with `undo_change`."""
    return _changed(access, _owned(access, note, checksum), "", b"", "Deleted.")


def undo_change(access: Access, undo: Annotated[str, Field(description="As the change returned it.")]) -> RevisedNote:
    """Undo a change by edit_note, move_note or delete_note, unless the note has changed since."""
    from mdmem.history import undo as work

    plan = work.plan(access.config, undo.strip()) if _COMMIT.fullmatch(undo.strip()) else work.UndoPlan([], [], [])
    is_ours = plan.commits and all(subject.startswith((SUBJECT, f"Undo: {SUBJECT}")) for _, subject in plan.commits)
    paths = [step.path for step in plan.steps]
    if not is_ours or not all(path.startswith(HOME) for path in [*paths, *plan.kept]):
        raise UsageError(f"{undo!r:.40} is not a change that these tools made. `mdmem undo` undoes any other.")
    if plan.kept or not plan.steps:
        raise UsageError("The note has changed since, or this was already undone. Nothing was changed.")
    applied = work.apply(access.config, plan)
    if applied.skipped:
        raise BusyError("The note was changed while it was being restored. Try again.")
    path = next((step.path for step in plan.steps if step.after is not None), paths[0])
    data = disk.read_path(access.config.vault, path) or b""
    name = notes.parse(data).fact("id")
    return _revised(access, _Owned(name, path, data), "Undone.", applied.result.commits[-1].oid)


def _owned(access: Access, reference: str, expected: str) -> _Owned:
    """Return a note in `notes/` that has not changed since it was read.

    Raises:
        NotFoundError: when there is no such note.
        UsageError: when it is not a person's, not in `notes/`, or has changed since.
    """
    path, parsed = lookup.resolve(access, reference)
    data = disk.read_path(access.config.vault, path) or b""
    if not path.startswith(HOME) or not user_notes.is_owned(path, data):
        raise UsageError(f"Only notes in {HOME} can be changed, moved or deleted; this one is {path!r:.162}.")
    if len(data) >= disk.MAX_READ_BYTES:
        raise UsageError(f"{path} is longer than mdmem reads; change it in your editor.")
    if safe_text.checksum(data) != expected.strip().lower():
        raise UsageError(f"{path!r:.80} has changed since it was read, or the checksum belongs to another note. {NEXT}")
    return _Owned(parsed.fact("id"), path, data)


def _changed(access: Access, owned: _Owned, path: str, after: bytes, done: str) -> RevisedNote:
    """Commit the old version, make the change, and commit that. path: "" deletes the note."""
    from mdmem.history import commit, rewrite
    from mdmem.history.rewrite import RewriteStep

    if path == owned.path and after == owned.data:
        raise UsageError("There is nothing to change: the note already says this.")
    before = commit.commit_paths(access.config, [owned.path], f"{SUBJECT}: {owned.path} as it was")
    if before.held_back or before.staged:
        raise UsageError(
            f"{owned.path!r:.80} cannot be committed as it is, so this could not be undone. See `mdmem commit`."
        )
    steps = [RewriteStep(owned.path, owned.data, after if path == owned.path else None)]
    if path and path != owned.path:
        steps.insert(0, RewriteStep(path, None, after))
    applied = rewrite.apply(access.config, steps, f"{SUBJECT}: {done.lower()[:-1]} {owned.path}")
    if applied.skipped or not applied.result.commits:
        raise BusyError(f"{owned.path!r:.80} was changed in the meantime. {NEXT}")
    return _revised(access, _Owned(owned.id, path or owned.path, after), done, applied.result.commits[-1].oid)


def _revised(access: Access, owned: _Owned, done: str, oid: str) -> RevisedNote:
    return {
        "id": access.line(owned.id, 60),
        "path": access.line(owned.path, 300),
        "done": done,
        "checksum": safe_text.checksum(owned.data) if owned.data else "",
        "undo": oid[:12],
    }


def _with_body(data: bytes, body: str) -> bytes:
    """Return a note with another body, below its front matter if it has one."""
    parsed = notes.parse(data)
    if parsed.problem:
        raise UsageError(f"The front matter of this note is broken ({parsed.problem}). Fix it in your editor first.")
    return editing.with_body(data, body) if parsed.meta else f"{body.strip()}\n".encode("utf-8", "surrogateescape")


def _with_text(body: str, find: str, text: str, *, every: bool) -> str:
    find = find if find in body else find.replace("&lt;", "<")  # `get_notes` shows "&lt;" for "<"
    count = body.count(find)
    if not count:
        raise UsageError(f"The note does not contain the text to find. {NEXT}")
    if count > 1 and not every:
        raise UsageError(f"The note contains the text to find {count} times. Give more of it, or set `every`.")
    _refuse_too_long(len(body) + count * (len(text) - len(find)))
    return body.replace(find, text)


def _refuse_too_long(size: int) -> None:
    if size > user_notes.MAX_BODY_BYTES:
        raise UsageError(f"A note holds at most {user_notes.MAX_BODY_BYTES // 1024} KiB. Write several.")


def _with_section(body: str, heading: str, text: str) -> str:
    lines = body.split("\n")
    title_wanted = heading.strip().lstrip("#").strip().casefold()
    matching = [(at, level) for at, level, title in _headings(lines) if title.casefold() == title_wanted]
    if len(matching) != 1:
        titles = ", ".join(title for _, _, title in _headings(lines))
        problem = f"{len(matching)} sections have this heading" if matching else "No section has this heading"
        raise UsageError(f"{problem}; the headings are: {titles or 'none'}.")
    start, depth = matching[0]
    end = next((at for at, level, _ in _headings(lines) if at > start and level <= depth), len(lines))
    return "\n".join([*lines[: start + 1], "", *([text.strip("\n"), ""] if text.strip() else []), *lines[end:]])


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the headings outside fenced code: line, level, title."""
    fence = ""
    for line_number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        heading = _HEADING.match(line) if not fence else None
        if heading:
            yield line_number, len(heading[1]), heading[2]


def revised_text(revised: RevisedNote) -> list[str]:
    """Return what was done as text."""
    checksum = f"checksum {revised['checksum']}, " if revised["checksum"] else ""
    return [f"{revised['done']} [mem:{revised['id']}] {revised['path']} ({checksum}undo {revised['undo']})"]
