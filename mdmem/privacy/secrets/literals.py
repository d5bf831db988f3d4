"""Literals: reads a value in quotes, in escaped quotes, in several strings, as a YAML block, or bare, up to its end."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

QUOTES = frozenset("\"'`")
BLANK = " \t"

_PREFIXES = "bBrRuUfFlLN@$"
_STRING_STARTS = QUOTES | frozenset(_PREFIXES + "\\")
_CURLED = {"„": "“", "“": "”", "«": "»", "»": "«", "‘": "’", "‚": "‘", "「": "」"}
_BRACKETED = {"[[": "]]", "q{": "}", "%q{": "}", "%q(": ")"}
"""Openings of strings in Lua, Perl and Ruby that have no quotes -> what closes them."""
_BRACKETS = frozenset("[q%")
_STOPS = "\"'`<>\\"
_NEXT_PAIR = "&;,"
_SAMPLE = 160
"""Only this many characters of a bare value are read at first. `bare_end` reads the rest if it is a secret."""
LONGEST_QUOTED = 16 * 1024
PROSE = frozenset(
    "and or with without needs need the is are was a an of to your my no has have via by using plus for in on".split()
)
"""Function words, which do not occur in commands or settings files."""
PLACES = frozenset(("at", "in", "on", "since", "until"))
"""Words that a place, a version or a commit follows directly, never a secret: `the password form in 4d1c2f0`."""
ESCAPES = {
    "&quot;": '\\\\\\\\\\"',
    "&#34;": '\\\\\\\\"',
    "&#39;": "\\\\\\\\'",
    "%22": '\\\\"',
    "%3d": "  =",
    "%3a": ":  ",
    "%26": "  &",
    "\\\n": "  ",
    "\u00a0": " ",
    "\u202f": " ",
}
"""Signs between a name and a value, escaped as in HTML, URLs and French -> plain signs of the same length."""


class Literal:
    """A value as written, from `start` to `end` without its quotes.

    template: it is a string with placeholders, like f"{user}:{host}", or has several lines.
    is_block: it is the first line of a YAML block, which ends at `block_end`.
    """

    __slots__ = ("end", "is_block", "quoted", "start", "template", "text")

    def __init__(self, text: str, start: int, end: int, *, quoted: bool, template: bool = False) -> None:
        self.text = text[start : min(end, start + LONGEST_QUOTED)]
        self.start = start
        self.end = end
        self.quoted = quoted
        self.template = template
        self.is_block = False


def read(text: str, at: int, *, whole_word: bool) -> Literal | None:
    """Return the value at `at`; None if there is none on this line.

    whole_word: a bare value ends only at white space, even if it contains quotes, as in a `.env` file.
    """
    first = text[at : at + 1]
    if first in _BRACKETS and (bracketed := _bracketed(text, at)):
        return bracketed
    if first in _STRING_STARTS:
        opening = _opening(text, at)
        if opening:
            return _joined(text, _quoted(text, at, opening))
    elif first in _CURLED and (end := text.find(_CURLED[first], at, at + _SAMPLE)) > 0:
        inner = text[at + 1 : end]
        return Literal(text, end - len(inner.lstrip()), at + 1 + len(inner.rstrip()), quoted=True)
    elif text[at - 2 : at] == "={" and (end := _brace_end(text, at)) > 0:
        return Literal(text, at, end, quoted=True)  # PWD={…}
    elif first == "(" and (literal := _in_parentheses(text, at)):
        return literal
    elif first in ("|", ">"):
        block = _block_start(text, at)
        if block:
            literal = Literal(text, block, line_end(text, block), quoted=True)
            literal.is_block = True
            return literal
    if first == "<" and whole_word:
        blank = line_at(text, at, 64).partition(">")
        if blank[1]:
            return Literal(text, at, at + len(blank[0]) + 1, quoted=False)  # <AWS secret key here>
    word = bare_word(text, at, whole_word=whole_word)
    return Literal(text, at, at + len(word), quoted=False) if word else None


def bare_word(text: str, at: int, *, whole_word: bool) -> str:
    """Return the start of a bare value, up to white space, a quote, an angle bracket or the next pair."""
    words = text[at : at + _SAMPLE].split(None, 1)
    if not words or text[at].isspace():
        return ""
    word = words[0]
    if word.isalnum():
        return word
    if not whole_word:
        for stop in _STOPS:
            if stop in word:
                word = word.partition(stop)[0]
        label, closing, _ = word.partition("](")
        if closing and "[" not in label:  # the end of a Markdown link's label
            word = label
    word = word.partition("-]{+")[0]  # the end of an old word, in `git diff --word-diff`
    if "=" in word:
        for sign in _NEXT_PAIR:
            value, separator, following = word.partition(sign)
            if separator and "=" in following:
                word = value
    return word


def bare_end(text: str, end: int, *, whole_word: bool) -> int:
    """Return the end of a bare value that was read up to `end` and is to be masked."""
    while end < len(text) and text[end] not in _NEXT_PAIR:
        if text.startswith("\\\n", end - 1):
            end = skip_blank(text, end + 1)  # it continues on the next line
        word = bare_word(text, end, whole_word=whole_word)
        if not word:
            break
        end += len(word)
    return end


def up_to_quote(text: str, opening: int, bare: Literal) -> Literal:
    """Return the whole value in `"NAME=two words"`, whose quotes begin before its name, else the bare one."""
    quote = text[opening : opening + 1]
    more, closed, _ = text[bare.end : bare.end + _SAMPLE].partition(quote or "\n")
    if bare.quoted or quote not in ("'", '"') or not closed or more[:1] != " " or "\n" in more or "=" in more:
        return bare
    return Literal(text, bare.start, bare.end + len(more), quoted=True)


def closes_call(text: str, at: int) -> bool:
    """Whether a string literal begins at `at` and is the last argument of its call."""
    if text[at : at + 1] not in ("'", '"', "\\") or text.find(")", at, at + 256) < 0:
        return False
    literal = read(text, at, whole_word=False)
    return literal is not None and ")" in text[literal.end + 1 : literal.end + 4].partition(",")[0]


def closes_string(text: str, start: int, at: int) -> bool:
    """Whether the quote at `at` closes the string that contains the name at `start`: getpass("Password: ")."""
    quote = text[at]
    line = line_before(text, start, 200)
    if quote != "'":
        return line.count(quote) % 2 == 1
    is_open = False
    for part in line.split(quote)[:-1]:
        if is_open or not part[-1:].isalnum():  # otherwise an apostrophe
            is_open = not is_open
    return is_open


def line_end(text: str, at: int) -> int:
    """Return the end of the line, or of the longest possible value (`LONGEST_QUOTED`)."""
    limit = at + LONGEST_QUOTED
    end = text.find("\n", at, limit)
    return end if end >= 0 else min(limit, len(text))


def lines(text: str, at: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their offsets; the first one begins at `at`."""
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1


def rows(text: str, at: int, most: int) -> Iterator[tuple[int, str]]:
    """Yield at most so many lines from the one at `at` on, with their offsets; those behind the text are empty."""
    for _ in range(most):
        row = text[at : line_end(text, at)]
        yield at, row
        at += len(row) + 1


def skip_blank(text: str, at: int) -> int:
    """Return the offset after up to 64 blanks and tabs."""
    if text[at : at + 1] not in (" ", "\t"):
        return at
    ahead = text[at : at + 64]
    return at + len(ahead) - len(ahead.lstrip(BLANK))


def skip_space(text: str, at: int) -> int:
    """Return the offset after up to 256 characters of white space, also line breaks."""
    ahead = text[at : at + 256]
    return at + len(ahead) - len(ahead.lstrip())


def run_end(text: str, at: int, signs: str, most: int) -> int:
    """Return the end of the run of these signs at `at`, which has at most `most` characters."""
    ahead = text[at : at + most]
    return at + len(ahead) - len(ahead.lstrip(signs))


def line_at(text: str, at: int, most: int) -> str:
    """Return the line from `at` on, at most `most` characters."""
    return text[at : at + most].partition("\n")[0]


def line_before(text: str, at: int, most: int) -> str:
    """Return the line up to `at`, at most its last `most` characters."""
    return text[max(0, at - most) : at].rpartition("\n")[2]


def _opening(text: str, at: int) -> str:
    """Return the opening of a string literal, or "": quotes, escaped or with a prefix (b"…", rb'…', @"…") or not."""
    ahead = text[at : at + 12]
    quotes = ahead.lstrip(_PREFIXES if ahead[0] != "\\" else "\\")
    if ahead.startswith(("r#", "br#")):
        quotes = quotes.lstrip("#")  # r#"…"# in Rust
    if not quotes or quotes[0] not in QUOTES or len(ahead) - len(quotes) > 8:
        return ""
    return ahead[: len(ahead) - len(quotes) + (3 if quotes.startswith((quotes[0] * 3,)) else 1)]


def _quoted(text: str, at: int, opening: str) -> Literal:
    mark = opening.lstrip(_PREFIXES + "#")
    start = at + len(opening)
    end = _closing(text, start, mark)
    inner = text[start:end]
    is_filled = "{" in inner and opening[0] in "fF$rR" and opening[:2].lower() != "rb"
    lines = inner.strip().split("\n")
    is_prose = len(lines) > 1 and any(" " in line.strip() for line in lines)
    if len(mark) > 1:
        start = end - len(inner.lstrip())
        end = start + len(inner.strip())
    return Literal(text, start, end, quoted=True, template=is_filled or "${" in inner or "{{" in inner or is_prose)


def _in_parentheses(text: str, at: int) -> Literal | None:
    """Return the strings in `("…"⏎ "…")`; None if something else is in the parentheses."""
    ahead = text[at + 1 : at + 1 + _SAMPLE]
    start = at + 1 + len(ahead) - len(ahead.lstrip(_SPACE))
    literal = _joined(text, _quoted(text, start, text[start])) if text[start : start + 1] in ("'", '"') else None
    return literal if literal and text[literal.end + 1 : literal.end + 1 + _SAMPLE].lstrip(_SPACE)[:1] == ")" else None


def _joined(text: str, first: Literal) -> Literal:
    """Return the literal of a string and those joined to it: `"…" + "…"`, `'…' . '…'`, `("…"⏎ "…")`, `= "…" "…"`."""
    values, last = [first.text], first
    is_set = text.endswith("= ", 0, first.start - 1)  # x = "…" "…"
    while (
        len(values) < _MOST_JOINED
        and last.end - first.start < LONGEST_QUOTED
        and text[last.end : last.end + 1] in ("'", '"', "`")
    ):
        ahead = text[last.end + 1 : last.end + 1 + _SAMPLE].replace("\\\n", " \n")
        after = ahead.lstrip(_SPACE)
        sign = next((joiner for joiner in _JOINERS if after.startswith(joiner)), "")
        after = after[len(sign) :].lstrip(_SPACE)
        start = last.end + 1 + len(ahead) - len(after)
        if after[:1] not in ("'", '"', "`") or not (sign or "\n" in ahead[: -len(after)] or is_set):
            break
        following = _quoted(text, start, after[0])
        rest = text[following.end + 1 : following.end + 1 + _SAMPLE]
        ends = rest.lstrip(_SPACE)[:1]
        is_whole = ends in _AFTER_ADJACENT or (is_set and rest.lstrip(BLANK)[:1] in ("", "\n", "#"))
        if following.template or not (sign or is_whole):
            break
        values.append(following.text)
        last = following
    if len(values) > 1:
        first.text, first.end = "".join(values), last.end
    return first


_SPACE = " \t\r\n"
_JOINERS, _MOST_JOINED = ("+", "..", ".", "&", "||", "<>"), 20
_AFTER_ADJACENT = frozenset(";)'\"")
"""What follows strings that are joined without a sign, on lines of their own."""


def in_template(text: str, at: int) -> int:
    """Return the start of the string in `{{ '…' | filter }}`, `{{ … | default('…') }}` or here-document, else `at`."""
    if text.startswith("<<", at):
        word, _, below = text[at + 2 : at + _SAMPLE].partition("\n")
        _, _, end = below.partition("\n")
        return at + 3 + len(word) if word.strip("-'\"~ ") == end.partition("\n")[0].strip() else at
    inside, closing, _ = text[at : at + _SAMPLE].partition("}}")
    head, word, rest = inside.partition("default" if "default" in inside else "{{")
    start = at + len(head) + len(word) + len(rest) - len(rest.lstrip("( "))
    return start if closing and text[start : start + 1] in ("'", '"') else at


IN_TEMPLATES = ("{{", '"{{', "'{{", "<<")
"""Beginnings of a template or a here-document."""


def _closing(text: str, start: int, mark: str) -> int:
    """Return the offset of a string's closing quotes; an unclosed string ends with its line."""
    limit = start + LONGEST_QUOTED
    end = text.find(mark, start, limit)
    while end > start and (is_escaped(text, start, end) or (mark == "'" and text.startswith(_QUOTED_QUOTES, end))):
        inside = next((quote for quote in _QUOTED_QUOTES if text.startswith(quote, end)), mark)
        end = text.find(mark, end + len(inside), limit)
    if mark in ('"""', "'''", "`") and end >= 0:
        return end
    line = text.find("\n", start, end if end >= 0 else limit)
    if line >= 0:
        return line
    return end if end >= 0 else min(limit, len(text))


_QUOTED_QUOTES = ("'\\''", "''")
"""A quote inside single quotes, in a shell and in SQL."""


def is_escaped(text: str, start: int, end: int) -> bool:
    """Whether the character at `end` is escaped by a backslash, in a string that begins at `start`."""
    before = text[max(start, end - 64) : end]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _brace_end(text: str, at: int) -> int:
    """Return the offset of the closing brace of a value, in which `}}` is an escaped brace; -1 if there is none."""
    end = text.find("}", at, at + _SAMPLE)
    while end >= 0 and text.startswith("}}", end):
        end = text.find("}", end + 2, at + _SAMPLE)
    return end


def _bracketed(text: str, at: int) -> Literal | None:
    """Return a string in brackets instead of quotes; None if there is none, or if it has blanks or quotes."""
    for opening, closing in _BRACKETED.items():
        if text.startswith(opening, at):
            start = at + len(opening)
            inner, closed, _ = text[start : start + _SAMPLE].partition(closing)
            if closed and len(inner.split()) == 1 and QUOTES.isdisjoint(inner):
                return Literal(text, start, start + len(inner), quoted=True)
    return None


def block_end(text: str, start: int) -> int:
    """Return the end of a YAML block: the end of the last line that is indented like its first one."""
    begin = text.rfind("\n", 0, start) + 1
    indent = text[begin:start]
    end = line_end(text, start)
    while indent and text.startswith(indent, end + 1) and end - start < LONGEST_QUOTED:
        end = line_end(text, end + 1)
    return end


def _block_start(text: str, at: int) -> int:
    """Return the start of the text of a YAML block (`key: |`) whose sign is at `at`; 0 if there is none."""
    head = text[at : at + 8].partition("\n")
    if not head[1] or head[0].strip("|>+-0123456789 \t\r"):
        return 0
    at += len(head[0]) + 1
    return skip_blank(text, at)


def unescaped(text: str, low: str) -> str:
    """Return a text with `ESCAPES` decoded; every offset stays valid. low: it in lower case."""
    for escape, plain in ESCAPES.items():
        at = low.find(escape)
        if at >= 0:
            for written in dict.fromkeys((escape, escape.upper())):
                text = text.replace(written, plain)
    return _uncolored(text) if "\x1b[" in text else text


def _uncolored(text: str) -> str:
    """Return a text with blanks in place of a terminal's colors: `password: \\x1b[32m…`."""
    start, *pieces = text.split("\x1b[")
    blanked = [start]
    for piece in pieces:
        size = len(piece) - len(piece.lstrip("0123456789;:"))
        blanks = size + 1 if piece[size : size + 1] == "m" else 0
        blanked.append(f"  {' ' * blanks}{piece[blanks:]}" if blanks else f"\x1b[{piece}")
    return "".join(blanked)
