"""Body: the parts of an observation, put together as markdown that no text from outside can break."""

from __future__ import annotations

from mdmem.capture.tools import limits as _limits
from mdmem.values import Value
from mdmem.vault import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmem.capture.tools.limits import Limits

_ITEM_CHARS = 400

# Markdown, in editors' dialects too, that reaches past its line or makes more of a line than a paragraph.
_SPANNING = ("`", "<", "~~~", "%%", "$$")
_OPENING = "#>-+*=_|["


class Part(Value):
    """One part of a body: a text from outside, which is fenced, or lines that are markdown already.

    heading: two or three words of ours, or "".
    text, language: what is fenced, and as what.
    screen: the text went to a terminal.
    chars: keep this many characters of its start, instead of both ends within the limits; 0 for the limits.
    lines: markdown instead, one item each, safe to stand alone (see `inline`); at most `Limits.max_lines` are kept.
    items, total: files instead, fenced one a line, of `total` that there were; at most `Limits.max_files` are kept.
    """

    heading: str = ""
    text: str = ""
    language: str = "text"
    screen: bool = False
    chars: int = 0
    lines: Sequence[str] = ()
    items: Sequence[str] = ()
    total: int = 0


def render(parts: list[Part], limits: Limits) -> str:
    """Write the parts in their order, in at most `MAX_BODY_BYTES` of UTF-8; empty ones are left out.

    Where the limits allow more than that, they are halved until it fits.
    """
    share = 1
    while True:
        body = "\n".join(filter(None, [_markdown(part, limits, share) for part in parts]))
        if len(body) * 4 <= _limits.MAX_BODY_BYTES or len(body.encode()) <= _limits.MAX_BODY_BYTES:
            return body
        share *= 2


def _markdown(part: Part, limits: Limits, share: int) -> str:
    heading = f"## {part.heading}\n\n" if part.heading else ""
    if part.lines:
        return heading + _with_rest(part.lines[: limits.max_lines // share], len(part.lines))
    if part.items:
        room = limits.max_files // share
        files = note.fence("\n".join(part.items[:room]), "text") if room else ""
        return heading + files + _with_rest([], max(part.total, len(part.items)) - len(part.items[:room]))
    if not part.text.strip():
        return ""
    chars = (part.chars or limits.max_chars) // share
    text = _limits.tidy(part.text, chars, limits.max_lines // share, screen=part.screen, ends=not part.chars)
    return heading + note.fence(text, part.language) if text.strip() else ""


def _with_rest(lines: Sequence[str], total: int) -> str:
    more = total - len(lines)
    shown = [*lines, f"… {more:,} more left out …"] if more > 0 else lines
    return "\n".join([*shown, ""])


def inline(text: str, chars: int = _ITEM_CHARS) -> str:
    """Return a text from outside as one line of at most `chars` characters, escapes apart, that opens nothing."""
    line = note.one_line(_limits.tidy(text[: chars * 8], chars * 8, chars * 8), chars)
    for mark in _SPANNING:
        line = line.replace(mark, f"\\{mark}")
    return f"\\{line}" if line[:1] in _OPENING and line else line


def read_inline(line: str) -> str:
    """Return the text that `inline` wrote."""
    line = line[1:] if line[:1] == "\\" and line[1:2] in _OPENING else line
    for mark in _SPANNING:
        line = line.replace(f"\\{mark}", mark)
    return line


def link(url: str) -> str:
    """Write an address so that it can be followed; one that is not a web address stays a plain text."""
    address = note.one_line(_limits.printable(url), 1000)
    if address.startswith(("https://", "http://")) and not set(address) & set(' <>`\\"'):
        return f"<{address}>"
    return inline(address)
