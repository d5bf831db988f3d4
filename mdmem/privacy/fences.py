"""Fences: the tags around injected memories, in any encoding that an agent or a tool applied to them.

Hosts escape what they pass on: `<` becomes `&lt;`, `\\u003c` or `%3C`, sometimes more than once. The two tags of a
fence have the same id, which distinguishes them from tags that the memory inside quotes.
"""

from __future__ import annotations

from mdmem.privacy import limits
from mdmem.privacy.secrets import occurrences
from mdmem.privacy.tags import BLANK, CLOSES, EMPTY, OPENS, Tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("mdmem-context", "claude-mem-context", "truememory-context", "basic-memory-context")
"""Elements that memory programs wrap their text in."""

Fence = tuple[int, int, int, int, str]
"""Start and end including the tags, start and end of the text inside, and the name."""

_REACH = 64
"""Maximum distance from an opening bracket, in any encoding, to the name, in characters."""
_TAIL = 160
"""Maximum distance from the name to the closing bracket, in characters."""

_LESS = ("<", "＜", "﹤")
_SLASHES = ("/", "／", "%2f", "&#47;", "&#x2f;", "\\u002f", "\\x2f")
_GREATER = (">", "＞", "﹥", "gt;", "#62;", "#x3e;", "u003e", "x3e", "%3e", "%253e", "%25253e", "%2525253e")


def find(low: str) -> tuple[list[Fence], list[Tag]]:
    """Return the fences of a lower-case text by name, and the sorted tags that have no partner.

    Raises:
        FloodError: there are more than `limits.MOST_TAGS` tags.
    """
    fences: list[Fence] = []
    lone: list[Tag] = []
    for name in NAMES:
        if name in low:
            pairs, unpaired = _pair(low, limits.counted(_tags(low, name), limits.MOST_TAGS))
            fences += pairs
            lone += unpaired
    return fences, sorted(lone)


def _tags(low: str, name: str) -> Iterator[Tag]:
    for at, end in occurrences(low, name):
        start, closing = _before(low, at)
        if start >= 0 and not low[end : end + 1].isalnum():
            tag_end, attributes = _after(low, end)
            does = CLOSES if closing else EMPTY if attributes.rstrip(BLANK).endswith("/") else OPENS
            yield start, tag_end, name, does


def _before(low: str, at: int) -> tuple[int, bool]:
    """Return the offset of the bracket before a name (-1: none), and whether a slash follows the bracket."""
    base = max(0, at - _REACH)
    head = low[base:at].rstrip(BLANK)
    slash = next((sign for sign in _SLASHES if head.endswith(sign)), "")
    bare = head.removesuffix(slash).rstrip(BLANK + "\\" if slash else BLANK)
    opened = _without_bracket(bare)
    return (-1, False) if opened is None else (base + len(opened), bool(slash))


def _without_bracket(head: str) -> str | None:
    """Return a text without its final `<`, in any encoding; None if it does not end with one."""
    if head.endswith(_LESS):
        return head[:-1].rstrip("\\")
    for sign, zeros, mark in (("lt;", "", "&"), ("60;", "0", "&#"), ("3c;", "0", "&#x")):
        if head.endswith(sign):
            before = head.removesuffix(sign).rstrip(zeros) if zeros else head.removesuffix(sign)
            before = before.removesuffix(mark[1:])
            while before.endswith("amp;"):
                before = before[:-4]
            return before[:-1] if before.endswith("&") else None
    for sign in ("u003c", "x3c", "u{3c}"):
        if head.endswith(f"\\{sign}"):
            return head.removesuffix(sign).rstrip("\\")
    if head.endswith("3c"):
        before = head[:-2]
        while before.endswith("25"):
            before = before[:-2]
        return before[:-1] if before.endswith("%") else None
    return None


def _after(low: str, end: int) -> tuple[int, str]:
    """Return the end of a tag, and its text after the name. An unclosed tag ends with its name."""
    tail = low[end : end + _TAIL]
    places = [(at, sign) for sign in _GREATER if (at := tail.find(sign)) >= 0]
    at, sign = min(places, default=(len(tail), ""))
    opens = tail.find("<")
    if not sign or 0 <= opens < at:
        return end, ""
    return end + at + len(sign), tail[:at]


def _id(low: str, tag: Tag) -> str:
    """Return the id in a tag (the last eight characters of its longest run of hexadecimal digits), or ""."""
    attributes = _after(low, low.find(tag[2], tag[0]) + len(tag[2]))[1]
    runs = "".join([sign if sign in _HEX else " " for sign in attributes]).split()
    return max(reversed(runs), key=len, default="")[-8:]


_HEX = "0123456789abcdef"


def _pair(low: str, tags: Iterator[Tag]) -> tuple[list[Fence], list[Tag]]:
    """Match tags by id first, whatever is between them, then each other closing tag with the nearest open one."""
    tags_with_ids = [(_id(low, tag), tag) for tag in tags]
    closings: dict[str, list[int]] = {}
    for number in range(len(tags_with_ids) - 1, -1, -1):
        mark, tag = tags_with_ids[number]
        if mark and tag[3] == CLOSES:
            closings.setdefault(mark, []).append(number)
    fences: list[Fence] = []
    unpaired: list[Tag] = []
    number = 0
    while number < len(tags_with_ids):
        mark, tag = tags_with_ids[number]
        later = closings.get(mark, [])
        while later and later[-1] < number:
            later.pop()
        if later and tag[3] == OPENS:
            number = later.pop()
            fences.append(_fence(tag, tags_with_ids[number][1]))
        else:
            unpaired.append(tag)
        number += 1
    return _nearest(unpaired, fences)


def _nearest(tags: list[Tag], fences: list[Fence]) -> tuple[list[Fence], list[Tag]]:
    open_tags: list[Tag] = []
    lone: list[Tag] = []
    for tag in tags:
        if tag[3] == OPENS:
            open_tags.append(tag)
        elif tag[3] == CLOSES and open_tags:
            fences.append(_fence(open_tags.pop(), tag))
        else:
            lone.append(tag)
    return fences, lone + open_tags


def _fence(first: Tag, last: Tag) -> Fence:
    return first[0], last[1], first[1], last[0], first[2]
