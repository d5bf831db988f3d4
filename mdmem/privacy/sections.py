"""Sections: finds the private sections and the hosts' blocks of a text."""

from __future__ import annotations

from mdmem.privacy import limits
from mdmem.privacy.disguises import shadow
from mdmem.privacy.mentions import paired
from mdmem.privacy.tags import (
    BRACKET,
    CLOSES,
    EMPTY,
    SHOUT,
    WORD,
    PrivateSection,
    Tag,
    is_other,
    named_tags,
    private_tags,
    with_decoded_signs,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOST = ("system-reminder", "system_instruction", "system-instruction", "persisted-output", "hook_context")
"""Blocks that an agent's host inserts between the user's words. A closed one is removed; a lone tag is a mention."""


_MOST_MENTIONS = 1000
"""Only this many lone tags of a text can be mentions; a further one begins a section."""


def private(
    text: str,
    low: str,
    words: tuple[str, ...],
    *,
    strict: bool,
    keep_unclosed: bool,
    literal_code: bool,
    begun: bool,
) -> tuple[list[PrivateSection], set[str]]:
    """Return the private sections, outermost ones in order, and what the tags without a partner do (open or close).

    words: the tag words. strict: a lone `[private]` counts; in a tool's output, it is the heading of an INI section.
    begun: it counts if it begins a line or a sentence, and no settings follow.
    keep_unclosed: a tag without a partner hides nothing. literal_code: a pair wholly inside a closed code fence is
    plain text.

    Raises:
        FloodError: there are more than `limits.MOST_TAGS` tags.
    """
    plain = shadow(with_decoded_signs(low), words)
    pairs, lone = _pair(limits.counted(private_tags(text, plain, words), limits.MOST_TAGS))
    pairs = paired.meant(text, pairs, literal_code=literal_code)
    sections = _union(pairs)
    lone = [tag for tag in lone if tag[3] == CLOSES or not tag[2].endswith(SHOUT)]  # `[PRIVATE]` is a marker
    lone = [tag for tag in lone if not is_other(tag) or (strict and _stands_alone(tag, text))]
    if not lone:
        return sections, set()
    from mdmem.privacy.mentions import intent  # rarely needed: most sections are closed

    last_closed = max((end for _, end, _, _, family in pairs if family.endswith((BRACKET, SHOUT))), default=-1)
    counted = (
        tag
        for tag in lone
        if tag[0] < last_closed
        or not _is_bracket(tag)
        or (strict and not _heads_settings(tag, plain))
        or (begun and _begins_words(tag, plain))
    )
    meant = (
        tag
        for number, tag in enumerate(_outside(counted, sections))
        if number >= _MOST_MENTIONS or not intent.is_mention(tag, text, plain, last_closed)
    )
    hidden, unclosed = _hide_lone(len(text), sections, meant, keep_unclosed)
    return (_union(sections + hidden) if hidden else sections), unclosed


def _stands_alone(tag: Tag, text: str) -> bool:
    """Whether a lone tag in other brackets counts: an opening one only at the start of a text, a closing one always."""
    sign = text[tag[0]]
    if tag[3] == CLOSES:
        return sign not in "(（"  # (/private) may be a path
    return sign in "{(｛（" and not text[: tag[0]].strip()


def _is_bracket(tag: Tag) -> bool:
    """Whether a tag may be the heading of an INI section."""
    return tag[3] != CLOSES and tag[2].endswith((BRACKET, SHOUT))


def _heads_settings(tag: Tag, plain: str) -> bool:
    """Whether a lone `[private]` is an INI heading: alone on its line, above a setting, with another heading nearby."""
    start, end = tag[0], tag[1]
    next_lines = plain[end : end + _REACH].partition("\n")[2].lstrip()
    name, equals, _ = next_lines.partition("\n")[0].partition("=")
    if not equals or not name.replace("_", "").strip().isalnum():
        return False
    around = plain[max(0, start - _FILE_REACH) : start], plain[end : end + _FILE_REACH]
    if around[0].rpartition("\n")[2].strip() or around[1].partition("\n")[0].strip():
        return False
    lines = [line.strip() for part in around for line in part.split("\n")]
    return any(line[:1] == "[" and line[-1:] == "]" and line[1:-1].isalnum() for line in lines)


def _begins_words(tag: Tag, plain: str) -> bool:
    """Whether a lone `[private]` begins a line, a sentence or a string, and words follow it, not settings."""
    before, end = plain[max(0, tag[0] - _REACH) : tag[0]], tag[1]
    if not (begins_sentence(before) or before[-1:] in _STRING_QUOTES):
        return False
    line, _, next_lines = plain[end : end + _REACH].partition("\n")
    if line.strip():
        return line[0] in " \t:" and any(map(str.isalnum, line)) and line.lstrip()[0] not in "#|&,"
    name, equals, _ = next_lines.lstrip().partition("\n")[0].partition("=")
    is_alone = before.rpartition("\n")[2].strip() == ""  # not `branches: [private]`
    return is_alone and name.strip() != "" and not equals and name[0] not in "[#;"


def begins_sentence(before: str) -> bool:
    """Whether a line or a sentence begins after this text. Signs of lists, quotations and comments may precede it."""
    line = before.rpartition("\n")[2].rstrip()
    return line.strip(" \t>*-#/|;") == "" or (before[-1:].isspace() and line[-1:] in _ENDS_SENTENCE)


_REACH = 200
"""How much is examined on each side of a tag, in characters."""

_STRING_QUOTES = frozenset("\"'`“„«‘")
_ENDS_SENTENCE = frozenset(".!?:。！？：…")
_FILE_REACH = 2000
"""How far from the tag other headings of an INI file are looked for, in characters."""


def without_tags(text: str, low: str, words: tuple[str, ...]) -> str:
    """Return a text with its private tags removed and their contents kept. Lone tags that are only mentioned stay."""
    plain = shadow(with_decoded_signs(low), words)
    pairs, lone = _pair(private_tags(text, plain, words))
    from mdmem.privacy.mentions import intent

    cuts = [(tag[0], tag[1]) for tag in lone if not intent.is_mention(tag, text, plain, -1)]
    for start, end, inner_start, inner_end, _ in pairs:
        cuts += ((start, inner_start), (inner_end, end))
    parts = []
    at = 0
    for start, end in sorted(cuts):
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


def context(text: str, low: str) -> list[PrivateSection]:
    """Return the injected memories and hosts' blocks, with their tags: outermost sections in order.

    An unclosed fence counts as well, so that no memory is stored again.

    Raises:
        FloodError: there are more than `limits.MOST_TAGS` tags.
    """
    sections: list[PrivateSection] = []
    names = [name for name in HOST if name in low]
    plain = shadow(with_decoded_signs(low)) if names else low
    for name in names:
        sections += _pair(limits.counted(named_tags(text, plain, name), limits.MOST_TAGS))[0]
    if "-context" not in low:
        return _union(sections)
    from mdmem.privacy import fences

    pairs, lone = fences.find(low)
    sections = _union(sections + pairs)
    lone = [tag for tag in lone if not _in_backticks(tag, low)]
    for start, end, name, does in list(_outside(lone, sections)):
        last = end if does in (CLOSES, EMPTY) else len(text)
        sections.append((start, last, end, last, name))
    return _union(sections)


def _pair(tags: Iterable[Tag]) -> tuple[list[PrivateSection], list[Tag]]:
    """Match each closing tag with the nearest open one of its family; return the pairs and the sorted other tags."""
    waiting: dict[str, list[Tag]] = {}
    pairs: list[PrivateSection] = []
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


_OTHER_CASE = {WORD + BRACKET: WORD + SHOUT, WORD + SHOUT: WORD + BRACKET}
"""`[PRIVATE]…[/private]` is a pair if there is no partner in the same letter case."""


def _union(sections: list[PrivateSection]) -> list[PrivateSection]:
    """Sort sections and join those that overlap."""
    joined: list[PrivateSection] = []
    for section in sorted(sections):
        start, end, inner_start, _, rule = joined[-1] if joined else _NOWHERE
        if section[0] >= end:
            joined.append(section)
        elif section[1] > end:
            joined[-1] = start, section[1], inner_start, section[3], rule
    return joined


_NOWHERE: PrivateSection = (0, 0, 0, 0, "")


def _outside(tags: Iterable[Tag], sections: list[PrivateSection]) -> Iterator[Tag]:
    """Yield the tags outside all sections; both are in order."""
    number = 0
    for tag in tags:
        while number < len(sections) and sections[number][1] <= tag[0]:
            number += 1
        if number == len(sections) or tag[0] < sections[number][0]:
            yield tag


def _hide_lone(
    size: int, sections: list[PrivateSection], lone: Iterable[Tag], keep: bool
) -> tuple[list[PrivateSection], set[str]]:
    """Return the sections that lone tags make, and what these tags do.

    An opening tag hides the text after it; a closing one hides the text before it, back to the previous section.
    """
    hidden: list[PrivateSection] = []
    unclosed: set[str] = set()
    number = before = 0
    for start, end, family, does in lone:
        if does == EMPTY:
            hidden.append((start, end, end, end, family))
            continue
        unclosed.add(does)
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


def _in_backticks(tag: Tag, plain: str) -> bool:
    return plain[tag[0] - 1 : tag[0]] == "`" == plain[tag[1] : tag[1] + 1]
