"""A hit's snippet as people read it: without Markdown's signs, and without the addresses of links."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmem.vault.note import PAGES

_SIGNS = (
    r"```[\w-]*|`|\*\*|(?<!\S)#{1,6}\s+|<!--.*?(?:-->|$)"  # fences, code, emphasis, headings, comments
    r"|(?<!\S)(?:---|\+\+\+) (?:[ab]/\S+|/dev/null)|@@ -[\d,]+ \+[\d,]+ @@|[=_-]{6,}"  # heads of diffs, rules
)
_SYNTAX = re.compile(rf"{_SIGNS}|\[(?=[^\[\]]*\]\()|\]\([^()\s]*(?:\)|$)")  # a link except its words
_PAGE_SYNTAX = re.compile(
    rf"{_SIGNS}|(?<!\\)\[(?=(?:\\.|[^\[\]\\])*(?:\]\(|$))|(?<!\\)\]\((?:<[^<>]*>|[^()\s<>]*)(?:\)|$)"
    r"|\\(?=[^\w\s])|(?<!\S)(?P<item>[-*]|\d+\.)(?=\s)"
)
"""On a page that lists others, also the escapes in their titles, the start of an entry, and of a link that is cut."""


def readable(text: str, spans: Sequence[tuple[int, int]], kind: str = "") -> tuple[str, list[tuple[int, int]]]:
    """Return a snippet of a note of this kind without Markdown syntax, and so without marks in it, as in an address."""
    syntax = _PAGE_SYNTAX if kind in PAGES else _SYNTAX
    kept: list[str] = []
    place, moved = 0, [0] * (len(text) + 1)
    for found in [*syntax.finditer(text), None]:
        start, end = found.span() if found else (len(text), len(text))
        for number in range(place, start):
            moved[number] = len(kept)
            kept.append(text[number])
        moved[start : end + 1] = [len(kept)] * (end + 1 - start)
        if found and found.groupdict().get("item") and kept:
            kept.append("·")
            moved[end] = len(kept)
        place = end
    made = [(moved[start], moved[stop]) for start, stop in spans]
    return "".join(kept), [(start, stop) for start, stop in made if start < stop]
