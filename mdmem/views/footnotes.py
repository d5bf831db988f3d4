"""Footnotes of a note: `[^1]: text` is collected, each `[^1]` becomes a numbered link, and a list follows the text."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

MARK = "footnote_mark"
"""The type of a mark's token, whose content is the footnote's name."""

_MARK = re.compile(r"\[\^([^\]\s]{1,40})\]")
_HEAD = re.compile(rf"{_MARK.pattern}:[ \t]*")
_INDENT = 4


class Footnotes(NamedTuple):
    """The footnotes of one text, by their names in lowercase.

    key: tells its anchors from those of the other texts of a page. order: names as they are numbered, from 1.
    """

    key: str
    texts: dict[str, str]
    numbers: dict[str, int]
    order: list[str]

    def number(self, name: str) -> int:
        """Return the number of a footnote, the next one if it has none."""
        if name not in self.numbers:
            self.order.append(name)
            self.numbers[name] = len(self.order)
        return self.numbers[name]


def of(text: str) -> Footnotes:
    """Return the footnotes of a text, before it is parsed: none."""
    return Footnotes(f"{zlib.crc32(text.encode('utf-8', 'replace')):x}", {}, {}, [])


def parse(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse a footnote with its further lines; return whether it is one. A second one of the same name is text."""
    footnotes: Footnotes = state.env["footnotes"]
    begin, end = state.bMarks[first] + state.tShift[first], state.eMarks[first]
    head = _HEAD.match(state.src, begin, end)
    if not head or state.is_code_block(first) or state.env.get("in_footnote") or head[1].lower() in footnotes.texts:
        return False
    if silent:
        return True
    following = first + 1
    while further := _further(state, following, last):
        following = further
    rest = state.getLines(first + 1, following, state.blkIndent + _INDENT, False)
    footnotes.texts[head[1].lower()] = f"{state.src[head.end() : end]}\n{rest}"
    state.line = following
    return True


def _further(state: StateBlock, line: int, last: int) -> int:
    """Return the end of what continues a footnote on this line: an indented line, or one of its paragraph; or 0."""
    shown = line
    while shown < last and state.isEmpty(shown):
        shown += 1
    if shown < last and state.sCount[shown] - state.blkIndent >= _INDENT:
        return shown + 1
    if line == last or shown > line or state.isEmpty(line - 1) or state.sCount[line] < state.blkIndent:
        return 0
    is_other = any(rule(state, line, last, True) for rule in state.md.block.ruler.getRules("paragraph"))
    return 0 if is_other else line + 1


def parse_mark(state: StateInline, silent: bool) -> bool:
    """Parse the mark of a footnote; return whether it is one. One of a footnote without a text is text."""
    found = _MARK.match(state.src, state.pos, state.posMax)
    if not found or found[1].lower() not in state.env["footnotes"].texts:
        return False
    if not silent:
        state.push(MARK, "", 0).content = found[1]
    state.pos = found.end()
    return True


def mark(name: str, footnotes: Footnotes) -> str:
    """Return a footnote's number as a link to its text."""
    known = name.lower()
    is_first = known not in footnotes.numbers
    number = footnotes.number(known)
    place = f"{footnotes.key}-{number}"
    anchor = f' id="mark-{place}"' if is_first else ""
    return f'<sup><a href="#footnote-{place}"{anchor} aria-label="Footnote {number}">{number}</a></sup>'


def listed(footnotes: Footnotes, render: Callable[[str], str]) -> str:
    """Return the list of footnotes in the order of their marks, then those without a mark; "" for none.

    render: returns the HTML of a footnote's text, which may have marks of its own.
    """
    items: list[str] = []
    unmarked: set[str] = set()

    def add() -> None:
        while len(items) < len(footnotes.order):
            name = footnotes.order[len(items)]
            items.append(
                _item(footnotes, len(items) + 1, render(footnotes.texts[name]), is_marked=name not in unmarked)
            )

    add()
    for name in footnotes.texts:
        if name not in footnotes.numbers:
            unmarked.add(name)
            footnotes.number(name)
            add()
    return f'<ol class="footnotes" dir="auto">\n{"".join(items)}</ol>\n' if items else ""


def _item(footnotes: Footnotes, number: int, html: str, *, is_marked: bool) -> str:
    place = f"{footnotes.key}-{number}"
    back = f' <a href="#mark-{place}" aria-label="Back to the mark of footnote {number}">↩</a>' if is_marked else ""
    within = html.rstrip().removesuffix("</p>")
    ended = f"{within}{back}</p>" if within != html.rstrip() else f"{html}{back}"
    return f'<li id="footnote-{place}">{ended}</li>\n'
