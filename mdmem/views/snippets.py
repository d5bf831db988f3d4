"""A hit's snippet as people read it: without Markdown's signs, and without the addresses of links."""

from __future__ import annotations

from mdmem.lazy_pattern import lazy
from mdmem.vault.note import CAPTURED, PAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

_SIGNS = (
    r"```[\w-]*|`|\*\*|(?<!\S)#{1,6}\s+|<!--.*?(?:-->|$)"  # fences, code, emphasis, headings, comments
    r"|(?<!\S)(?:---|\+\+\+) (?:[ab]/\S+|/dev/null)|@@ -[\d,]+ \+[\d,]+ @@|[=_-]{6,}"  # heads of diffs, rules
)
_LINK = r"!?\[(?=[^\[\]]*\]\()|\]\([^()\s]*(?:\)|$)"  # a link except its words
_SYNTAX = lazy(f"{_SIGNS}|{_LINK}")
_WIDTH = r"\d+(?:x\d+)?"
_OWN_SYNTAX = lazy(
    rf"{_SIGNS}|{_LINK}|(?:>\s)?\[![\w-]+\][+-]?\s(?:>\s)?"
    rf"|(?<!\w)!?\[\[(?:[^\[\]|]*\|(?!{_WIDTH}\]))?(?P<words>[^\s\[\]|][^\[\]|]*)(?:\|{_WIDTH})?\]\]"
)
"""In a note that is not captured, also the kind of a callout, and a wikilink except its words; an image with a width
keeps its name."""
_PAGE_SYNTAX = lazy(
    rf"{_SIGNS}|(?<!\\)\[(?=(?:\\.|[^\[\]\\])*(?:\]\(|$))|(?<!\\)\]\((?:<[^<>]*>|[^()\s<>]*)(?:\)|$)"
    r"|\\(?=[^\w\s])|(?<!\S)(?P<item>[-*]|\d+\.)(?=\s)|(?<=\A…)[^\s()\[\]]*\.md\)"
)
"""On a page that lists others, also the escapes in their titles, the start of an entry, and a link that is cut."""


def readable(text: str, spans: Sequence[tuple[int, int]], kind: str = "") -> tuple[str, list[tuple[int, int]]]:
    """Return a snippet of a note of this kind without Markdown syntax, and so without marks in it, as in an address."""
    syntax = _PAGE_SYNTAX if kind in PAGES else _OWN_SYNTAX if kind and kind not in CAPTURED else _SYNTAX
    readable_chars: list[str] = []
    place, moved = 0, [0] * (len(text) + 1)
    for start, end, is_item in [*_syntax_in(text, syntax), (len(text), len(text), False)]:
        if place < start:
            moved[place:start] = range(len(readable_chars), len(readable_chars) + start - place)
            readable_chars += text[place:start]
        moved[start : end + 1] = [len(readable_chars)] * (end + 1 - start)
        if is_item and readable_chars:
            readable_chars.append("·")
            moved[end] = len(readable_chars)
        place = end
    moved_spans = [(moved[start], moved[stop]) for start, stop in spans]
    return "".join(readable_chars), [(start, stop) for start, stop in moved_spans if start < stop]


def _syntax_in(text: str, syntax: re.Pattern[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield where each piece of syntax begins and ends, and whether it starts an entry of a list."""
    for mark in syntax.finditer(text):
        groups = mark.groupdict()
        if groups.get("words"):
            yield mark.start(), mark.start("words"), False
            yield mark.end("words"), mark.end(), False
        else:
            yield *mark.span(), bool(groups.get("item"))
