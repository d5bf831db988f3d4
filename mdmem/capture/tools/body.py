"""Body: renders the parts of an observation as markdown that no outside text can break."""

from __future__ import annotations

from mdmem.capture.tools import limits as _limits
from mdmem.values import Value
from mdmem.vault import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmem.capture.tools.limits import Limits

_ITEM_CHARS = 400

# Markdown, including editors' dialects, that spans lines, loads a picture or turns a line into more than a paragraph.
_SPANNING = ("`", "<", "~~~", "%%", "$$", "![")
_OPENING = "#>-+*=_|["


class Part(Value):
    """One part of a body: outside text, which is fenced, or lines that are markdown already.

    heading: two or three words, or "".
    text, language: the fenced text, and its language.
    screen: the text was printed to a terminal.
    chars: keep this many characters of the start, instead of both ends within the limits (0: use the limits).
    lines: markdown lines instead of a text, each safe by itself (see `inline`); at most `Limits.max_lines` are kept.
    items, total: file names instead, fenced one per line, out of `total`; at most `Limits.max_files` are kept.
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
    """Render the parts in order, in at most `MAX_BODY_BYTES` of UTF-8; empty ones are left out.

    If the limits allow more than that, they are halved until it fits.
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
    omitted = total - len(lines)
    shown = [*lines, f"… {omitted:,} more left out …"] if omitted > 0 else lines
    return "\n".join([*shown, ""])


def inline(text: str, chars: int = _ITEM_CHARS) -> str:
    """Return outside text as one line of at most `chars` characters (before escapes) that opens no markup."""
    line = note.one_line(_limits.tidy(text[: chars * 8], chars * 8, chars * 8), chars)
    for mark in _SPANNING:
        line = line.replace(mark, f"\\{mark}")
    return f"\\{line}" if line[:1] in _OPENING and line else line


def read_inline(line: str) -> str:
    """Return the text that `inline` was given."""
    line = line[1:] if line[:1] == "\\" and line[1:2] in _OPENING else line
    for mark in _SPANNING:
        line = line.replace(f"\\{mark}", mark)
    return line


def link(url: str) -> str:
    """Return a web address as a link; any other address as plain text."""
    address = note.one_line(_limits.printable(url), 1000)
    if address.startswith(("https://", "http://")) and not set(address) & set(' <>`\\"'):
        return f"<{address}>"
    return inline(address)
