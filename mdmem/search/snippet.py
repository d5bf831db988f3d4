"""Snippet: the part of a note that shows why it was found: the best window of its text, with the words marked."""

from __future__ import annotations

from unicodedata import category

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple
from mdmem.search.text.analysis import WordFinder
from mdmem.vault import front_matter, generated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    WordSpan = tuple[int, int, tuple[str, ...]]

MAX_TEXT_CHARS = 128 * 1024
"""Maximum number of characters of a text that are considered."""
_FENCE = lazy(r"(?m)^ {0,3}(?:`{3,}[^`\n]*|~{3,}.*)$")
"""A line that begins or ends a block of code."""
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_JOINERS = "\u200d\ufe0e\ufe0f"


class Snippet(NamedTuple):
    """A piece of text on one line, and the positions of the query's words in it: (start, end) in characters."""

    text: str
    spans: tuple[tuple[int, int], ...]


def body_of(text: str) -> str:
    """Return a note's text without its front matter, which is not parsed, and without a page's markers."""
    text = text.removeprefix("\ufeff")
    _, _, below = front_matter.span(text) or (0, 0, 0)
    return generated.unmarked(text[below:])


def best(text: str, weights: Mapping[str, float], chars: int = 240, finder: WordFinder | None = None) -> Snippet:
    """Return the window of at most `chars` characters that has most of the query's words, weighted by rarity.

    weights: term -> weight. White space is collapsed and code fences are left out. An ellipsis replaces text that was
    cut, and counts. No character is cut in half, including accents and joined emoji. If no word is found, the window
    is the start of the text.
    finder: finds the words of these terms; a caller with several texts creates one for all.
    """
    text = " ".join(_FENCE.sub("", text[:MAX_TEXT_CHARS]).split())
    places = list((finder or WordFinder(weights)).places(text)) if weights else []
    if len(text) <= chars:
        return Snippet(text, tuple(_merged(places)))
    start, end = _borders(text, _best_start(places, weights, chars), chars)
    before, after = "…" if start else "", "…" if end < len(text) else ""
    shift = len(before) - start
    inside = (place for place in places if start <= place[0] and place[1] <= end)
    spans = tuple((first + shift, last + shift) for first, last in _merged(inside))
    return Snippet(before + text[start:end] + after, spans)


def _merged(places: Iterable[WordSpan]) -> list[tuple[int, int]]:
    """Return the positions of words, with overlaps merged."""
    spans: list[tuple[int, int]] = []
    for start, end, _ in places:
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _best_start(places: Iterable[WordSpan], weights: Mapping[str, float], chars: int) -> int:
    """Return the start of the window with the greatest weight, counting each term once."""
    words = [(start, end, term) for start, end, found in places for term in found if term in weights]
    margin = _margin(chars)
    room = chars - 2 * margin
    best_start, best_weight = 0, 0.0
    first = 0
    inside: dict[str, int] = {}
    weight = 0.0
    for place, (_, end, term) in enumerate(words):
        inside[term] = inside.get(term, 0) + 1
        if inside[term] == 1:
            weight += weights[term]
        while first < place and end - words[first][0] > room:
            gone = words[first][2]
            first += 1
            inside[gone] -= 1
            if not inside[gone]:
                weight -= weights[gone]
        if weight > best_weight + 1e-9:
            best_start, best_weight = words[first][0], weight
    return max(0, best_start - margin)


def _margin(chars: int) -> int:
    """Return how many characters to show before the first matching word."""
    return min(40, chars // 6)


def _borders(text: str, start: int, chars: int) -> tuple[int, int]:
    """Return the window to show, from near `start`, at word boundaries, with room for an ellipsis at each cut."""
    start = min(start, max(0, len(text) - chars + 1))
    if start:
        space = text.find(" ", start, start + _margin(chars))
        start = whole_character(text, space + 1 if space >= 0 else start)
    end = start + chars - (start > 0)
    if end < len(text):
        end -= 1
        space = text.rfind(" ", end - _margin(chars), end + 1)
        end = space if space > start else whole_character(text, end)
    return start, max(start, min(end, len(text)))


def whole_character(text: str, place: int) -> int:
    """Move a cut back so that it splits no character: not before accents, joiners, joined parts, or within a flag."""
    while 0 < place < len(text) and _belongs_to_last(text, place):
        place -= 1
    return place


def _belongs_to_last(text: str, place: int) -> bool:
    c = text[place]
    if category(c) in ("Mn", "Mc", "Me") or c in _JOINERS or text[place - 1] == "\u200d":
        return True
    if "\U0001f3fb" <= c <= "\U0001f3ff":  # a skin tone
        return True
    before = text[:place]
    flags = len(before) - len(before.rstrip(_FLAG_LETTERS))
    return c in _FLAG_LETTERS and flags % 2 == 1
