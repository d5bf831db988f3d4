"""Limits: how much of an outside text is stored, and what replaces the rest."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.settings import CaptureSettings

MAX_BODY_BYTES = 48 * 1024
"""Maximum size of a body in UTF-8; with front matter, a note stays under 64 KiB."""

_WINDOW_CHARS = 64 * 1024  # escape codes are removed from this much of each end, more than is ever kept
_SAMPLE_CHARS = 2048
_ENCODED_LINE_CHARS = 60  # base64 is wrapped at 60, 64, 70 or 76 characters, or not at all

# Characters that neither people nor parsers want: C0 except tab and line feed, DEL, C1.
_CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)])


class Limits:
    """How much of a tool's input and response is stored.

    max_chars, max_lines: a longer text keeps its start and its end, half of this many each.
    max_files: maximum number of files listed for a search.
    fetch_chars: how much of a fetched page's summary is kept, from its start.
    """

    __slots__ = ("fetch_chars", "max_chars", "max_files", "max_lines")

    def __init__(
        self, max_chars: int = 10_000, max_lines: int = 100, max_files: int = 100, fetch_chars: int = 500
    ) -> None:
        self.max_chars = max(0, min(max_chars, MAX_BODY_BYTES))
        self.max_lines = max(0, max_lines)
        self.max_files = max(0, max_files)
        self.fetch_chars = max(0, min(fetch_chars, MAX_BODY_BYTES))

    @classmethod
    def of(cls, settings: CaptureSettings) -> Limits:
        """Return the limits from the settings."""
        return cls(settings.max_chars, settings.max_lines, settings.max_files, settings.fetch_chars)


def tidy(text: str, max_chars: int, max_lines: int, *, screen: bool = False, ends: bool = True) -> str:
    """Return an outside text in storable form: readable, within `max_chars` characters and `max_lines` lines.

    Carriage returns, escape codes, control characters, lone surrogates, base64 and binary data are removed. The lines
    that say what was left out are not counted in the limits.
    screen: the text was printed to a terminal, so an overwritten line counts as last drawn; otherwise a carriage return
    ends a line.
    ends: keep both ends; otherwise only the start.
    """
    whole = len(text)
    if "\r" in text or "\x1b" in text or "\x9b" in text:
        text = _as_shown(text, screen, max_chars)
    # Before cutting, while samples of the ends and the middle can be taken.
    name = _name_of_binary(text)
    if name:
        return f"[{name}, {whole:,} characters left out]"
    return _without_base64(printable(cut(text, max_chars, max_lines, ends=ends)))


def printable(text: str) -> str:
    """Return a text without control characters other than tab and line feed; lone surrogates become U+FFFD."""
    if not text.isprintable():
        text = text.translate(_CONTROLS)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def cut(text: str, max_chars: int, max_lines: int, *, ends: bool = True) -> str:
    """Keep the first and the last half of what is allowed, with a line in between that says how much was left out.

    A text within both limits is returned unchanged. A last line without a line break counts as a line. Both limits
    apply: each end keeps half the lines or half the characters, whichever is less. Without `ends`, only the start is
    kept, up to the full limits.
    """
    whole_lines = text.count("\n")
    if len(text) <= max_chars and whole_lines + (text[-1:] not in ("", "\n")) <= max_lines:
        return text
    head = _first(text, -(-max_chars // 2) if ends else max_chars, -(-max_lines // 2) if ends else max_lines)
    tail = _last(text, max_chars // 2, max_lines // 2) if ends else ""
    start, end = len(head), len(text) - len(tail)
    begins = start == 0 or text[start - 1] == "\n"
    broken_off = tail != "" and text[end - 1] != "\n"
    lines = text.count("\n", start, end - 1) + begins - broken_off  # lines left out completely
    if head and not head.endswith("\n"):
        head += "\n"
    return f"{head}{_mark(lines, end - start)}\n{tail}"


def _mark(lines: int, chars: int) -> str:
    size = f"{chars:,} character{'s' * (chars != 1)}"
    return f"… {lines:,} line{'s' * (lines != 1)} ({size}) left out …" if lines > 0 else f"… {size} left out …"


def _first(text: str, chars: int, lines: int) -> str:
    window = text[:chars]
    end = 0
    for _ in range(lines):
        end = window.find("\n", end) + 1
        if not end:
            return window
    return window[:end]


def _last(text: str, chars: int, lines: int) -> str:
    window = text[-chars:] if chars else ""
    start = len(window) - window.endswith("\n")
    for _ in range(lines):
        start = window.rfind("\n", 0, start)
        if start < 0:
            return window
    return window[start + 1 :] if lines else ""


def _as_shown(text: str, screen: bool, max_chars: int) -> str:
    """Remove carriage returns everywhere, and escape codes from as much of both ends as can be kept."""
    from mdmem.capture.tools import terminal  # most texts need neither

    if "\r" in text:
        text = terminal.last_drawn(text) if screen else text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) <= 2 * _WINDOW_CHARS:
        return terminal.without_escapes(text)
    head, tail = terminal.without_escapes(text[:_WINDOW_CHARS]), terminal.without_escapes(text[-_WINDOW_CHARS:])
    if min(len(head), len(tail)) <= max_chars:  # more escapes than text
        return terminal.without_escapes(text)
    return head + text[_WINDOW_CHARS:-_WINDOW_CHARS] + tail


def _name_of_binary(text: str) -> str:
    """Return "base64" or "binary" for data that is not text, else ""."""
    if len(text) < _ENCODED_LINE_CHARS:
        return ""
    middle = len(text) // 2
    sample = text[:_SAMPLE_CHARS] + text[middle : middle + _SAMPLE_CHARS] + text[-_SAMPLE_CHARS:]
    flat = sample.replace("\n", "").replace("\t", "")
    if " " in flat and flat.isprintable() and "\ufffd" not in flat:
        return ""
    from mdmem.capture.tools import binary

    return binary.name(text)


def _without_base64(text: str) -> str:
    if len(text) < _ENCODED_LINE_CHARS or max(map(len, text.split()), default=0) < _ENCODED_LINE_CHARS:
        return text
    from mdmem.capture.tools import binary

    return binary.without_base64(text)
