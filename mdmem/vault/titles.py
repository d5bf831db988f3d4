"""Titles: the line of a text that becomes its note's title."""

from __future__ import annotations

from mdmem.vault import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


SCAN_CHARS = 20_000
"""A title is made from this much of a text's beginning."""


def heading(text: str) -> str:
    """Return the first heading of a note near its beginning, without marks; "" for none."""
    for line in text[:2000].split("\n") if "#" in text[:2000] else ():
        words = line.lstrip("#")
        if 0 < len(line) - len(words) <= 3 and words[:1] in (" ", "\t") and (title := words.strip().rstrip("# \t")):
            return title
    return ""


def body_line(body: str) -> str:
    """Return the first words near the beginning of a note's text, without marks; "" for none."""
    for line in body[:2000].splitlines():
        text = without_marks(line.strip(" \t`")).strip(" \t#>*-`")
        if text:
            return note.one_line(text, 120)
    return ""


def first_line(text: str, marker: str) -> str:
    """Return the first line with words other than the private marker, without markdown, as a title."""
    return note.one_line(next(_lines_with_words(text, marker), text), 120)


def telling_line(text: str, marker: str) -> str:
    """Return an answer's first line that is more than an opening such as "Done!", as a title; else its first line."""
    lines = _lines_with_words(text if text.startswith(_FENCES) else text.partition("\n```")[0], marker)
    first = next(lines, text)
    line = next((line for line in lines if not _is_opening(line)), first) if _is_opening(first) else first
    for end in (". ", "! "):
        before, _, after = line.partition(end)
        says = any(map(str.isalnum, after))
        if says and _is_opening(before) and not _ANSWERS.issuperset(before.lower().split()):
            line = after.lstrip(_CHECK_MARKS)
    before, _, last = line.rpartition(". ")
    return note.one_line(f"{before}." if before and _is_opening(last) else line, 120)


def without_marks(line: str) -> str:
    """Return a line without what makes it a heading, a quotation, an item of a list, or one with a box to tick.

    A mark counts only with a space after it: `#12`, `--verbose` and `*.py` are words.
    """
    words = line.strip()
    while pieces := words.split(None, 1):
        mark, rest = pieces[0], pieces[1] if pieces[1:] else ""
        if mark in _HEADINGS:
            bare = rest.rstrip("#")
            words = bare.rstrip() if bare[-1:] in ("", " ", "\t") else rest
        elif mark in _ITEMS or not mark.strip(">"):
            words = rest
        elif mark[0] == ">" and mark.lstrip(">")[0].isalnum():
            words = words.lstrip(">")
        else:
            break
    return words[4:].lstrip() if words[:1] == "[" and words[2:4] == "] " else words


_HEADINGS = frozenset("#" * level for level in range(1, 7))
_ITEMS = frozenset("-*+")


def _lines_with_words(text: str, marker: str) -> Iterator[str]:
    """Yield the lines with words other than the private marker, without markdown; at last those that say little.

    These are code, a line that is only a tag, and where an error comes from.
    """
    fence = ""
    is_trace = False
    later = []
    for line in text[:SCAN_CHARS].splitlines():
        start = line.strip()
        ticks = start[:3]
        if fence:
            fence = "" if start.startswith(fence) and not start.strip(fence[0]) else fence
            later.append(start if fence else "")
            continue
        if ticks in _FENCES and ticks not in start.lstrip(ticks[0]):
            fence = start[: len(start) - len(start.lstrip(ticks[0]))]
            continue
        is_trace = start.startswith(_TRACE) or (is_trace and line[:1] in (" ", "\t"))
        if is_trace or _is_tag(start):
            later.append(start)
        else:
            yield from _words(line, marker)
    for line in later:
        yield from _words(line, marker)


_FENCES = ("```", "~~~")
_TRACE = "Traceback (most recent call last)"


def _is_tag(line: str) -> bool:
    """Whether a line is only a tag or a comment, and no address."""
    inner = line[1:-1]
    if not (line.startswith("<") and line.endswith(">")) or "://" in inner or "@" in inner:
        return False
    return (line.startswith("<!--") and line.find("-->") == len(line) - 3) or (
        "<" not in inner and ">" not in inner and (inner[:1].isalpha() or inner[:1] in ("/", "!", "?"))
    )


def _words(line: str, marker: str) -> Iterator[str]:
    """Yield a line without markdown if it has words."""
    words = without_marks(line)
    for mark in ("***", "**", "*"):
        begin, end = len(mark), words.find(mark, len(mark) + 1)
        if words.startswith(mark) and words[begin : begin + 1].isalnum() and end > 0 and not words[end - 1].isspace():
            words = words[begin:end] + words[end + begin :]
            break
    bare = words.replace(marker, "") if marker else words
    if any(c.isalnum() for c in bare):
        yield words


def _is_opening(line: str) -> bool:
    """Whether a line says nothing of an answer that it begins: "All done! ✅", "Summary", "Here's what I did:"."""
    words = "".join(c if c.isalnum() else " " for c in line[:_LONGEST_OPENING].lower()).split()
    return _OPENINGS.issuperset(words) or (words[:1] == ["here"] and line[-1:] == ":")


_OPENINGS = frozenset(
    """
    all done fixed finished complete completed ready good great nice perfect excellent awesome ok okay sure yes right
    absolutely certainly understood got it thanks thank you no problem summary overview result results
    """.split()
)
_LONGEST_OPENING = 80
_CHECK_MARKS = "✅✓✔🎉\ufe0f "
_ANSWERS = frozenset(["yes", "no", "right", "absolutely", "certainly"])
"""Openings that say something after a question."""


def without_headings(text: str) -> str:
    """Return a compaction's summary without its standard numbered headings."""
    lines = []
    for line in text[:SCAN_CHARS].splitlines():
        number, dot, heading = line.strip().strip("*# ").partition(".")
        label, colon, words = heading.partition(":")
        is_heading = bool(dot and colon) and number.isdecimal() and len(label) < 60
        lines.append(words.strip(" *") if is_heading else "" if line.strip().strip("*").endswith(":") else line)
    return "\n".join(lines) if any(map(str.strip, lines)) else text
