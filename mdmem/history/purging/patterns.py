"""What a purge matches: a text, a regular expression, a note, or the titles of notes in commit messages."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from string import ascii_lowercase, digits

from mdmem.errors import UsageError
from mdmem.privacy.patterns import OWN_WORDS
from mdmem.slug import slug
from mdmem.vault import generated, note, packed

NOTHING = re.compile(rb"(?!)")
"""Matches no text at all."""

CUT_CHARS = 30
"""Minimum length of the part of a title that a commit's subject contains."""

RENAMED = b"redacted"
"""Replaces the text in file names."""


def any_of(patterns: Iterable[bytes]) -> re.Pattern[bytes]:
    """Match what one of these patterns matches; without any, nothing."""
    joined = b"|".join(pattern.removeprefix(b"(?m)") for pattern in patterns)
    return re.compile(b"(?m)" + joined) if joined else NOTHING


def literal(text: str, *, encoded: bool = True) -> re.Pattern[bytes]:
    """Match a text literally, with line breaks of either kind, and as YAML, JSON and the titles on pages escape it.

    encoded: also in base64 and in hexadecimal, unless it is so short that other data may have these characters.

    Raises UsageError when the text is empty.
    """
    if not text.strip():
        raise UsageError("The text to purge is empty.")
    text = text.replace("\r\n", "\n")
    forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    longest_first = sorted(forms, key=len, reverse=True)
    data = os.fsencode(text)
    is_telling = encoded and len(data) >= LEAST_ENCODED
    return re.compile(b"|".join([*map(_escaped, longest_first), *(_encoded(data) if is_telling else ())]))


LEAST_ENCODED = 6
"""Minimum length in bytes of a text that is also matched in base64 and in hexadecimal."""
_LEAST_KNOWN = 4
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_FOR_URLS = {"+": "+-", "/": "/_"}
_WRAPPED = rb"(?:\r?\n)?"


def _encoded(data: bytes) -> Iterator[bytes]:
    """Yield the patterns for bytes in hexadecimal, and in base64 after any other bytes; both may be wrapped."""
    digits = [b"[%b%b]" % (c, c.upper()) if c.isalpha() else c for c in (b"%c" % byte for byte in data.hex().encode())]
    pairs = [first + second for first, second in zip(digits[::2], digits[1::2], strict=True)]
    yield rb"(?:[ :]|\\x|\r?\n)?".join(pairs)
    bits = "".join(f"{byte:08b}" for byte in data)
    for before in ("", "?" * 8, "?" * 16):
        known = before + bits
        known += "?" * (-len(known) % 6)
        sixes = [known[at : at + 6] for at in range(len(before) // 6 * 6, len(known), 6)]
        is_shared = sixes[0].count("?") > 6 - _LEAST_KNOWN  # it tells next to nothing, and would slow the search
        yield _WRAPPED.join(map(_base64_digit, sixes[is_shared:]))


def _base64_digit(bits: str) -> bytes:
    """Match the digits of base64 that have these six bits; a question mark is any bit."""
    fitting = [_BASE64[value] for value in range(64) if all(map(_fits, f"{value:06b}", bits))]
    return b"[%b]" % re.escape("".join(_FOR_URLS.get(digit, digit) for digit in fitting)).encode()


def _fits(bit: str, wanted: str) -> bool:
    return wanted in (bit, "?")


def _escaped(form: str) -> bytes:
    """Match a text, also where a page has a backslash before some of its characters."""
    matched = [(rb"\\?" if c in generated.ESCAPED else b"") + re.escape(os.fsencode(c)) for c in form]
    return b"".join(matched).replace(b"\\\n", rb"\r?\n")


def with_titles(pattern: re.Pattern[bytes], texts: Iterable[bytes]) -> re.Pattern[bytes]:
    """Extend an expression by these texts, which it matched, as the titles on pages escape them."""
    escaped = [
        b"(?!%b)%b" % (re.escape(text), _escaped(os.fsdecode(text)))
        for text in sorted(texts, key=len, reverse=True)
        if any(mark.encode() in text for mark in generated.ESCAPED)
    ]
    return re.compile(b"|".join([pattern.pattern, *escaped])) if escaped else pattern


def expression(text: str) -> re.Pattern[bytes]:
    """Compile a regular expression.

    Raises UsageError when it is invalid, matches an empty text, or has a line break.
    """
    try:
        pattern = re.compile(os.fsencode(text))
    except re.error as error:
        raise UsageError(f"This is not a regular expression: {error}.") from error
    if pattern.search(b"") or "\n" in text:
        raise UsageError("This expression matches an empty text, or has a line break: make it more specific.")
    return pattern


def refuse_own(pattern: re.Pattern[bytes]) -> None:
    """Raise UsageError when a pattern matches what every note consists of: a purge would destroy all of them."""
    for word in (*note.OF_CAPTURE, *OWN_WORDS, *_EVERYWHERE):
        if pattern.search(word.encode()):
            raise UsageError(
                f"This matches {word!r}, which mdmem writes into its notes: a purge would destroy them. "
                "Give more of the text, or a --regex that matches only what is to go."
            )


def is_specific(text: bytes) -> bool:
    """Whether a purge of a text would be accepted: it is not empty, and no part of what every note consists of."""
    try:
        refuse_own(literal(os.fsdecode(text)))
    except UsageError:
        return False
    return True


_EVERYWHERE = ("---", ": ", "2026-09-14T08:02:10Z", "journal", "notes", "mdmem", ".md", *ascii_lowercase, *digits)


def in_names(*texts: str) -> re.Pattern[bytes]:
    """Match texts in the form they have in file names, as part of such a name. The first one that matches counts."""
    slugs = [escaped for text in texts if len(escaped := re.escape(slug(text).encode())) > 3]
    following = rb"(?=[^/\s()<>]{0,120}(?:\.md|-[0-9a-z]{8}(?![0-9a-z])))"
    return re.compile(rb"(?<![0-9A-Za-z])(?:%b)%b" % (b"|".join(slugs), following)) if slugs else NOTHING


def renamed(path: str, names: re.Pattern[bytes], pattern: re.Pattern[bytes]) -> str:
    """Remove the text from a path, also in the form it has in file names."""
    return os.fsdecode(pattern.sub(RENAMED, names.sub(RENAMED, os.fsencode(path))))


def of_note(name: str) -> re.Pattern[bytes]:
    """Match a note in an archive, a whole list line with its id, its file name from its title on, and the id itself.

    The file name keeps its numbers, by which a session's record tells how many prompts there were.
    """
    escaped = re.escape(name.encode())
    named = rb"(?<=\d-\d{3}-)[^\s/()<>|\"\[\]]{0,150}?%b" % escaped
    return re.compile(rb"(?m)%b|(?<=^- ).*%b.*$|%b|%b" % (archived(name), escaped, named, escaped))


def archived(name: str) -> bytes:
    """Return the expression for a note in an archive whose file name contains `name`."""
    mark = packed.MARK.replace(b"\n", rb"\n")
    return rb"(?<=%b)[^\n]*%b[^\n]* -->\n(?s:.*?)(?=%b)" % (mark, re.escape(name.encode()), mark)


def lines_naming(titles: Iterable[str]) -> list[bytes]:
    """Return the patterns for the lines of commit messages that name a note by one of these titles."""
    changed = rb"(?:add |edit |delete )?%b$"
    where = rb"(?<=^- )" + changed + rb"|^By [^:\n]+: " + changed + rb"|^(?:[^:\n]+: )?%b(?= \()"
    return [where % (re.escape(title.encode()), *[_cut_short(title)] * 2) for title in sorted(titles)]


def _cut_short(title: str) -> bytes:
    """Match a title as in a subject, where its end may be cut off."""
    return re.escape(title.encode()) if len(title) < CUT_CHARS else re.escape(title[:CUT_CHARS].encode()) + rb"[^\n]*?"
