"""Private sections and the hosts' blocks: which parts of a text its tags hide."""

from __future__ import annotations

from mdmem.privacy.tags import BRACKET, CLOSES, EMPTY, SHOUT, Tag, named_tags, private_tags, shadow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MEMORY = ("mdmem-context", "claude-mem-context", "truememory-context", "basic-memory-context")
"""Fences around injected memories: gone even if one is never closed, so that no memory is remembered again."""

HOST = ("system-reminder", "system_instruction", "system-instruction", "persisted-output")
"""What an agent's host puts between the user's words: gone if it is closed, else it was only mentioned."""


Section = tuple[int, int, int, int, str]
"""A part to be taken out: start and end with its tags, start and end of what they enclose, and the rule."""


def private(
    text: str, low: str, *, strict: bool, keep_unclosed: bool, literal_code: bool
) -> tuple[list[Section], bool]:
    """Find what private tags hide: outermost sections in order, and whether a tag found no partner.

    strict: people wrote it, so that a lone `[private]` counts; in a tool's output it heads a section of an INI file.
    keep_unclosed: a tag without a partner hides nothing.
    literal_code: a pair wholly inside a closed code fence is only text.
    """
    plain = shadow(low)
    pairs, lone = _pair(private_tags(text, plain))
    if literal_code and pairs:
        pairs = _outside_fences(text, pairs)
    last_closed = max((end for _, end, _, _, family in pairs if family in _OTHER_CASE), default=-1)
    sections = _union(pairs)
    lone = [tag for tag in lone if not _is_mention(tag, plain, strict, last_closed)]
    hidden, unclosed = _hide_lone(len(text), sections, lone, keep_unclosed)
    return (_union(sections + hidden) if hidden else sections), unclosed


def context(text: str, low: str) -> list[Section]:
    """Find fences around memories and hosts' blocks: outermost sections in order."""
    names = [name for name in MEMORY + HOST if name in low]
    if not names:
        return []
    plain = shadow(low)
    sections: list[Section] = []
    lone: list[Tag] = []
    for name in names:
        pairs, rest = _pair(named_tags(text, plain, name))
        sections += pairs
        lone += rest if name in MEMORY else ()
    sections = _union(sections)
    lone = [tag for tag in lone if not _in_backticks(tag, plain)]
    for start, end, name, does in _outside(lone, sections):
        last = end if does in (CLOSES, EMPTY) else len(text)
        sections.append((start, last, end, last, name))
    return _union(sections)


def _pair(tags: Iterable[Tag]) -> tuple[list[Section], list[Tag]]:
    """Match each closing tag with the nearest open one of its family; what finds no partner is lone, in order."""
    waiting: dict[str, list[Tag]] = {}
    pairs: list[Section] = []
    lone: list[Tag] = []
    for tag in tags:
        start, end, family, does = tag
        if does != CLOSES:
            waiting.setdefault(family, []).append(tag)
            continue
        partners = waiting.get(family) or waiting.get(_OTHER_CASE.get(family, ""))
        if partners:
            first = partners.pop()
            pairs.append((first[0], end, first[1], start, family))
        else:
            lone.append(tag)
    for opened in waiting.values():
        lone += opened
    return pairs, sorted(lone)


_OTHER_CASE = {BRACKET: SHOUT, SHOUT: BRACKET}
"""`[PRIVATE]…[/private]`: the case of a bracket matters only while there is a better partner."""


def _union(sections: list[Section]) -> list[Section]:
    """Order sections, and join those that overlap."""
    joined: list[Section] = []
    for section in sorted(sections):
        start, end, inner_start, _, rule = joined[-1] if joined else _NOWHERE
        if section[0] >= end:
            joined.append(section)
        elif section[1] > end:
            joined[-1] = start, section[1], inner_start, section[3], rule
    return joined


_NOWHERE: Section = (0, 0, 0, 0, "")


def _outside(tags: list[Tag], sections: list[Section]) -> list[Tag]:
    """Keep the tags that no section holds; both in order."""
    outside: list[Tag] = []
    number = 0
    for tag in tags:
        while number < len(sections) and sections[number][1] <= tag[0]:
            number += 1
        if number == len(sections) or tag[0] < sections[number][0]:
            outside.append(tag)
    return outside


def _hide_lone(size: int, sections: list[Section], lone: list[Tag], keep: bool) -> tuple[list[Section], bool]:
    """Hide what a lone tag may have meant: on to the end, or back to the section before it (or the start)."""
    hidden: list[Section] = []
    unclosed = False
    number = before = 0
    for start, end, family, does in _outside(lone, sections):
        if does == EMPTY:
            hidden.append((start, end, end, end, family))
            continue
        unclosed = True
        if keep:
            continue
        if does != CLOSES:
            hidden.append((start, size, end, size, family))
            break
        while number < len(sections) and sections[number][0] < start:
            before = sections[number][1]
            number += 1
        hidden.append((before, end, before, start, family))
        before = end
    return hidden, unclosed


def _is_mention(tag: Tag, plain: str, strict: bool, last_closed: int) -> bool:
    """Whether a lone tag is only spoken of: in backticks, as the marker, as a link's text or an INI section.

    last_closed: where the last closing bracket that has a partner stands. Before it, brackets are tags.
    """
    start, end, family, does = tag
    if _in_backticks(tag, plain):
        return True
    if does == CLOSES or family not in _OTHER_CASE:
        return False
    if family == SHOUT:
        return True
    is_link = plain[end : end + 1] in ("(", ":", "[") or plain[start - 1 : start] == "]"
    return (is_link or not strict) and start > last_closed


def _in_backticks(tag: Tag, plain: str) -> bool:
    return plain[tag[0] - 1 : tag[0]] == "`" == plain[tag[1] : tag[1] + 1]


def _outside_fences(text: str, sections: list[Section]) -> list[Section]:
    """Leave out the sections that lie wholly inside one closed code fence."""
    from bisect import bisect

    fences = _closed_fences(text)
    starts = [start for start, _ in fences]

    def is_outside(section: Section) -> bool:
        number = bisect(starts, section[0]) - 1
        return number < 0 or section[1] > fences[number][1]

    return [section for section in sections if is_outside(section)]


def _closed_fences(text: str) -> list[tuple[int, int]]:
    """Find the code fences of a markdown text that are closed: from the opening to the end of the closing line."""
    fences: list[tuple[int, int]] = []
    opened, ticks, at = 0, "", 0
    for line in text.split("\n"):
        bare = line.strip()
        mark = bare[:1] if bare[:3] in ("```", "~~~") else ""
        if mark and not ticks:
            opened, ticks = at, bare[: len(bare) - len(bare.lstrip(mark))]
        elif ticks and bare.startswith(ticks) and not bare.strip(ticks[0]):
            fences.append((opened, at + len(line)))
            ticks = ""
        at += len(line) + 1
    return fences
