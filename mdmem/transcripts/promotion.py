"""Promotion: a note's text, between markers, in an instruction file that agents load by themselves."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN, _END = "<!-- mdmem:begin {} -->", "<!-- mdmem:end {} -->"
_ANY_BEGIN, _ANY_END = "<!-- mdmem:begin ", "<!-- mdmem:end "


def with_note(text: str | None, note_id: str, title: str, body: str) -> str:
    """Return an instruction file's text with a note: in its previous place, else at the end.

    text: None when there is no file yet. In an empty file a blank line is put first, which shows later that it existed.
    """
    body = body.replace(_ANY_BEGIN, "<!-- mdmem begin ").replace(_ANY_END, "<!-- mdmem end ").strip()
    first, _, following = body.partition("\n")
    line = " ".join(first.lstrip("#>*- \t").rstrip("* \t").split())
    is_title = line == title or (title.endswith("…") and line.startswith(title[:-1]))
    if not is_title or first.startswith("#"):  # the first line of an untitled note is its title
        body = f"## {line if is_title else title}\n\n{(following if is_title else body).strip()}".rstrip()
    block = f"{_BEGIN.format(note_id)}\n{body}\n{_END.format(note_id)}"
    if text is None:
        return f"{block}\n"
    block_span = _find(text, note_id)
    if block_span is not None:
        return text[: block_span[0]] + block + text[block_span[1] :]
    gap = "\n\n"
    if not text or text.endswith("\n"):
        gap = "" if text.endswith("\n\n") else "\n"
    return f"{text}{gap}{block}\n"


def without_note(text: str, note_id: str) -> str:
    """Return an instruction file's text without a note and the blank line that was added before it."""
    block_span = _find(text, note_id)
    if block_span is None:
        return text
    before, after = text[: block_span[0]], text[block_span[1] :].removeprefix("\n")
    if (before == "\n" or before.endswith("\n\n")) and (not after or after.startswith("\n")):
        before = before[:-1]
    return before + after


def is_ours(before: str, after: str) -> bool:
    """Whether mdmem made this file for a note, so that nothing remains without it. after: the text without the note."""
    return not after and not before.startswith("\n")


def holds(text: str, note_id: str) -> bool:
    """Whether an instruction file's text contains a note."""
    return _find(text, note_id) is not None


def without_all(text: str) -> str:
    """Return an instruction file's text without any promoted notes."""
    ended = {note_id for _, which, note_id in _markers(text) if which == "end"}
    for note_id in [note_id for _, which, note_id in _markers(text) if which == "begin" and note_id in ended]:
        text = without_note(text, note_id)
    return text


_MARKER = re.compile(r"^[ \t]*(<!-- mdmem:(begin|end) (\S+) -->)[ \t\r]*$", re.MULTILINE)


def _markers(text: str) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Yield where each marker is, whether it begins or ends a note, and the note's id.

    A marker is a line of its own; within a line it is only mentioned.
    """
    for match in _MARKER.finditer(text):
        yield match.span(1), match[2], match[3]


def _find(text: str, note_id: str) -> tuple[int, int] | None:
    """Return where a note begins and ends."""
    start = -1
    for span, which, marked in _markers(text):
        if marked == note_id and which == "begin" and start < 0:
            start = span[0]
        elif marked == note_id and which == "end" and start >= 0:
            return start, span[1]
    return None
