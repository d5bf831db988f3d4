"""Views: other readings of a text, with single blanks or with escapes decoded.

A view maps every span of its own text to a span of the original.
"""

from __future__ import annotations

from mdmem.privacy import disguises, secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mdmem.privacy.findings import Edit


class TextView:
    """A reading of a text, with the place of each piece in the original."""

    __slots__ = ("_length", "_parts", "_places", "_starts", "text")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._starts: list[int] = []
        self._places: list[tuple[int, int, bool]] = []
        self.text = ""

    def add(self, piece: str, start: int, end: int, *, decoded: bool = False) -> None:
        """Append a piece from `start` to `end` of the original. Without `decoded`, both have the same length."""
        if piece:
            self._starts.append(self._length)
            self._places.append((start, end, decoded))
            self._parts.append(piece)
            self._length += len(piece)

    def close(self) -> TextView:
        """Join the pieces into `text`; return the view."""
        self.text = "".join(self._parts)
        self._parts = []
        return self

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original for a span of the view."""
        return self._place(start)[0], self._place(end - 1)[1]

    def pieces_of(self, edits: list[Edit], text: str = "") -> list[Edit]:
        """Return the edits of the original for edits of the view, one for each run of adjacent pieces.

        text: the original, if what lies between is hidden as well where it is more than a stream's frame.
        """
        return [piece for edit in edits for piece in self._pieces_of(edit, text)]

    def _pieces_of(self, edit: Edit, text: str) -> list[Edit]:
        start, end, instead, rule = edit
        spans: list[tuple[int, int]] = []
        while start < end:
            first, last, start = self._piece(start, end)
            if spans and spans[-1][1] >= first:
                spans[-1] = spans[-1][0], max(last, spans[-1][1])
            elif first < last:
                spans.append((first, last))
        if text and spans:
            after = spans[-1][1] if end < len(self.text) else len(text)
            starts = [*(first for first, _ in spans[1:]), after]
            if not all(_is_frame(text[last:first]) for (_, last), first in zip(spans, starts, strict=True)):
                spans = [(spans[0][0], after)]
        return [(*span, "" if number else instead, rule) for number, span in enumerate(spans)]

    def _piece(self, start: int, end: int) -> tuple[int, int, int]:
        """Return the span of the original for the first piece of a span of the view, and the start of the next."""
        from bisect import bisect_right

        number = bisect_right(self._starts, start)
        stop = min(end, self._starts[number]) if number < len(self._starts) else end
        return *self.origin(start, stop), stop

    def _place(self, at: int) -> tuple[int, int]:
        from bisect import bisect_right  # rarely needed: most texts repeat nothing private

        number = bisect_right(self._starts, at) - 1
        start, end, decoded = self._places[number]
        if decoded:
            return start, end
        start += at - self._starts[number]
        return start, start + 1

    def __bool__(self) -> bool:
        return bool(self._starts)


# -- white space


def spaced(text: str) -> str:
    """Return a text with each run of white space replaced by one blank."""
    return " ".join(text.split())


def spaced_view(text: str) -> TextView:
    """Return `spaced` as a view. It is slower, and needed only after a match."""
    view, at = TextView(), 0
    for word in text.split():
        at = text.find(word, at)
        if view:
            view.add(" ", at - 1, at)
        view.add(word, at, at + len(word))
        at += len(word)
    return view.close()


# -- wrapped lines


def unwrapped(text: str) -> TextView | None:
    """Return a view of the words that are broken at the end of a line; None if there are none.

    A word is broken by a backslash, or in a line that is as long as the longest one or as a terminal is wide.
    """
    if "\n" not in text:
        return None
    view, at, is_open = TextView(), 0, False
    lines = text.split("\n")
    widths = {max(map(len, lines)), *_WIDTHS}
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        bare = line.rstrip("\r").removesuffix("\\")
        begin = len(bare) - len(bare.lstrip(_BEFORE_LINES)) if is_open else 0
        breaks = (
            following != "" and bare[-1:].strip() != "" and (len(bare) < len(line.rstrip("\r")) or len(line) in widths)
        )
        if is_open:
            word = "".join(bare[begin:].split(None, 1)[:1])
            view.add(word, at + begin, at + begin + len(word))
            is_open = breaks and begin + len(word) == len(bare)
            begin += len(word)
            if not is_open:
                view.add("\n", at + begin, at + begin)
        if breaks and not is_open:
            tail = bare[begin:].split()[-1:]
            size = len(tail[0]) if tail else 0
            view.add(bare[len(bare) - size :] if size else "", at + len(bare) - size, at + len(bare))
            is_open = bool(size)
        at += len(line) + 1
    return view.close() if view else None


_WIDTHS = (72, 76, 78, 79, 80, 100, 120, 132)
_BEFORE_LINES = " \t>#|+*-"
"""Signs before the rest of a word that is broken in a quotation, a comment or a diff."""


def strings_of_lines(text: str, low: str) -> str:
    """Return the strings of JSON with lines and names of secrets, unescaped, all else blank; offsets stay. None: ""."""
    parts: list[str] = []
    done = at = 0
    for number, piece in enumerate(text.replace("\\\\", "\0\0").replace('\\"', "\0\0").split('"')):
        end = at + len(piece)
        if number % 2 and ("\\n" in piece or "\0n" in piece) and secrets.may_name(low[at:end]):
            parts += ("\n" * (at - done), _unescaped_once(text[at:end]))
            done = end
        at = end + 1
    return "".join([*parts, "\n" * (len(text) - done)]) if parts else ""


def _unescaped_once(inner: str) -> str:
    """Return the inside of a JSON string with blanks before what each escape stands for, so that its length stays."""
    for count in _RUNS if "\\\\" in inner else _RUNS[-1:]:
        run, kept = "\\" * count, " " * (count - count // 2) + "\0" * (count // 2)
        for letter, sign in _SIGNS if count % 2 else (("", ""),):
            inner = inner.replace(run + letter, kept + sign)
    return inner.replace("\0", "\\")


_RUNS = (15, 8, 7, 4, 3, 2, 1)  # backslashes before a quote or a letter, in JSON in a string of JSON, and so on
_SIGNS = (("n", "\n"), ("t", "\t"), ("r", "\r"), ('"', '"'), ("/", "/"))


# -- streams


def streamed(text: str) -> TextView:
    """Return a view of what the deltas of a model's stream say together, each from its line."""
    view, at, count = TextView(), 0, 0
    for line in text.split("\n"):
        begin, end = _delta(line) if "{" in line else (0, 0)
        if begin:
            count += 1
            while begin < end:
                escape = line.find("\\", begin, end)
                stop = escape if escape >= 0 else end
                view.add(line[begin:stop], at + begin, at + stop)
                after, decoded = (_backslash(line, stop) or (stop + 1, "\\")) if stop < end else (end, "")
                view.add(decoded, at + stop, at + after, decoded=True)
                begin = after
        elif "{" in line:
            view.add("\n", at, at, decoded=True)
        at += len(line) + 1
    view.add("\n", len(text), len(text), decoded=True)  # where only what is unclosed ends
    return view.close() if count > 1 else TextView()


def _delta(line: str) -> tuple[int, int]:
    """Return the span of the text that a line of a stream adds."""
    found = 0, 0
    for key in _DELTAS:
        at = line.find(key)
        begin = at + len(key) + 1 + line.startswith(" ", at + len(key)) if at >= 0 else 0
        if begin and line[begin - 1 : begin] == '"':
            end = line.find('"', begin)
            while end > 0 and _is_escaped(line[max(begin, end - _LONGEST_RUN) : end]):
                end = line.find('"', end + 1)
            found = begin, end if end >= 0 else len(line)
            if end != begin:
                break
    return found


def _is_escaped(before: str) -> bool:
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


_LONGEST_RUN = 64  # backslashes before a quote
_DELTAS = (
    '"delta":', '"text":', '"content":', '"partial_json":', '"thinking":', '"response":', '"reasoning":',
    '"reasoning_content":', '"arguments":',
)  # fmt: skip


def _is_frame(between: str) -> bool:
    """Whether a text after the end of a delta has only signs, names and numbers of JSON, and heads of lines."""
    for line in f'"{between}'.split("\n"):
        pieces = line.split('"')
        if any(" " in string for string in pieces[1::2]):
            return False
        outside = "".join([sign if sign not in _JSON_SIGNS else " " for sign in " ".join(pieces[::2])])
        is_head = line.startswith(_LINE_HEADS) and " " not in line.partition(" ")[2].strip()
        if not (is_head or _FRAME_WORDS.issuperset(outside.split())):
            return False
    return True


_JSON_SIGNS = frozenset("{}[]:,.+-0123456789\r")
_FRAME_WORDS = frozenset(("data", "true", "false", "null", "e", "E", "DONE"))
_LINE_HEADS = ("event:", "id:", "retry:")


# -- escapes


def may_encode(text: str) -> bool:
    """Whether a text has escapes of letters or slashes, other than those of line ends and quotes."""
    return any(sign in text for sign in ("%2", "%3", "\\u", "\\x", "\\/"))


_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " ", "szlig": "ß"}
_ACCENTS = ("uml", "acute", "grave", "circ", "tilde", "cedil", "ring", "slash", "caron")
"""Suffixes of entities for accented letters. They decode to the letter alone, since `letters` ignores accents."""

_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " ", "0": " ", "e": "\x1b"}
_HEX = frozenset("0123456789abcdefABCDEF")


def unescaped(text: str) -> TextView | None:
    r"""Return a view with `\u0041`, `\x41`, `\101`, `\"`, `%41`, `&#65;`, `=C3=BC` decoded; None without escapes."""
    view, begin = TextView(), 0
    for start, end, decoded in _escapes(text):
        _add_near(view, text, begin, start)
        view.add(decoded, start, end, decoded=True)
        begin = end
    if not begin:
        return None
    end = min(len(text), begin + _NEAR_CHARS)
    view.add(text[begin:end], begin, end)
    return view.close()


_NEAR_CHARS = 2048
"""How much around an escape belongs to the view, in characters. Text further away is the same in the original."""

_GAP = "\n\ue000\n"


def _add_near(view: TextView, text: str, begin: int, end: int) -> None:
    """Append the text between two escapes; if it is long, only the parts near them."""
    first, last = begin + _NEAR_CHARS if view else begin, end - _NEAR_CHARS
    last = text.rfind("\n", max(first, last - _NEAR_CHARS), max(last, 0)) + 1 or last
    if last <= first + len(_GAP):
        view.add(text[begin:end], begin, end)
        return
    view.add(text[begin:first], begin, first)
    view.add(_GAP, first, first + 1, decoded=True)
    view.add(text[last:end], last, end)


def _escapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each escape: start, end, and decoded text."""
    nexts = {sign: at for sign in READERS if (at := text.find(sign)) >= 0}
    if "\\" in nexts:
        nexts.pop("+", None)  # "+" is a blank only in form data, which has no backslashes
    if "=" in nexts and not any(sign in text for sign in _PRINTABLE):
        del nexts["="]
    while nexts:
        sign = min(nexts, key=nexts.__getitem__)
        at = nexts[sign]
        escape = READERS[sign](text, at)
        end = escape[0] if escape else at + 1
        if escape:
            yield at, end, escape[1]
        for other_sign in [key for key, place in nexts.items() if place < end]:
            place = text.find(other_sign, end)
            if place < 0:
                del nexts[other_sign]
            else:
                nexts[other_sign] = place


def _backslash(text: str, at: int) -> tuple[int, str] | None:
    kind = text[at + 1 : at + 2]
    if kind in "x01234567" and (escaped_bytes := row_of_bytes(text, at, "\\x" if kind == "x" else "\\")):
        return escaped_bytes
    if kind in ("u", "x", "U"):
        if text[at + 2 : at + 3] == "{":
            close = text.find("}", at + 3, at + 12)
            code = _code(text[at + 3 : close]) if close > 0 else ""
            return (close + 1, code) if code else None
        end = at + 2 + {"u": 4, "x": 2, "U": 8}[kind]
        code = _code(text[at + 2 : end]) if end <= len(text) else ""
        if "\ud800" <= code <= "\udbff" and text.startswith("\\u", end):
            low = _code(text[end + 2 : end + 6])
            if "\udc00" <= low <= "\udfff":
                return end + 6, (code + low).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return (end, _storable(code)) if code else None
    return (at + 2, _ESCAPED.get(kind, kind)) if kind == " " or (kind and not kind.isspace()) else None


def row_of_bytes(text: str, at: int, sign: str) -> tuple[int, str] | None:
    r"""Decode consecutive bytes that each follow `sign`, in octal after a backslash, else in hexadecimal.

    Bytes that are not UTF-8 are Latin-1.
    """
    base = 16 if sign.strip("\\") else 8
    data = bytearray()
    end = at
    while text.startswith(sign, end):
        if sign == "=" and text.startswith(("\n", "\r\n"), end + 1):
            end = text.index("\n", end) + 1  # a soft line break
            continue
        size = _octal_digits(text, end + len(sign)) if base == 8 else 2
        digits = text[end + len(sign) : end + len(sign) + size]
        if len(digits) < 2 or not (base == 8 or _is_hex(digits)):  # one octal digit is a reference in a pattern
            break
        data.append(int(digits, base) & 255)
        end += len(sign) + size
    if end == at:
        return None
    try:
        return end, data.decode("utf-8")
    except UnicodeDecodeError:
        return end, data.decode("latin-1")


def _octal_digits(text: str, at: int) -> int:
    r"""Return how many octal digits belong to a byte: at most three; four in `\0141`, as `printf %b` reads it."""
    size = len(text[at : at + 4]) - len(text[at : at + 4].lstrip("01234567"))
    return size if size < 4 or (text[at] == "0" and not text[at + 4 : at + 5].isalnum()) else 3


def _percent(text: str, at: int) -> tuple[int, str] | None:
    if escaped_bytes := row_of_bytes(text, at, "%"):
        return escaped_bytes
    code = _code(text[at + 2 : at + 6]) if text[at + 1 : at + 2] == "u" and len(text) >= at + 6 else ""
    return (at + 6, _storable(code)) if code else None


def _entity(text: str, at: int) -> tuple[int, str] | None:
    end = text.find(";", at, at + 10)
    if end < 0:
        return None
    name = text[at + 1 : end]
    if name[:2] in ("#x", "#X"):
        code = _code(name[2:])
    elif name[:1] == "#" and name[1:].isdecimal() and name.isascii():
        code = _char(int(name[1:]))
    else:
        code = _ENTITIES.get(name) or (name[0] if name[1:] in _ACCENTS else "")
    return (end + 1, _storable(code)) if code else None


def _plus(text: str, at: int) -> tuple[int, str] | None:
    between = text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()
    return (at + 1, " ") if between else None


_PRINTABLE = ("=3D", "=20\n", *[f"={code:X}=" for code in (*range(0xC2, 0xC6), *range(0xD0, 0xD4), *range(0xE1, 0xF0))])
"""Every quoted-printable text (as in mails) whose letters need decoding contains one of these."""


def _color(text: str, at: int) -> tuple[int, str]:
    """Skip a terminal's color code or link address."""
    start = at + 1
    end = text.find("\x1b", start)
    return start + disguises.color_chars(text[start : end if end >= 0 else len(text)]), ""


def _shown_color(text: str, at: int) -> tuple[int, str] | None:
    """Skip a terminal code in the form that `cat -v` prints."""
    return (at + 2 + disguises.color_chars(text[at + 2 : at + 20]), "") if text.startswith("^[[", at) else None


def _element(text: str, at: int) -> tuple[int, str] | None:
    """Skip an HTML tag: search results mark their matches, and pages color parts of words."""
    end = text.find(">", at + 2, at + _LONGEST_ELEMENT)
    name = text[at + 1 : at + 3].lstrip("/")[:1]
    return (end + 1, "") if end > 0 and name.isalpha() and name.isascii() else None


_LONGEST_ELEMENT = 120

READERS: dict[str, Callable[[str, int], tuple[int, str] | None]] = {
    "\\": _backslash,
    "%": _percent,
    "&": _entity,
    "+": _plus,
    "=": lambda text, at: row_of_bytes(text, at, "="),
    "\x1b": _color,
    "^": _shown_color,
    "\b": lambda _, at: (at + 2, ""),  # manual pages overprint bold characters
    "<": _element,
}
"""First character of an escape -> its decoder, which returns the end and the decoded text."""


def _is_hex(word: str) -> bool:
    return bool(word) and _HEX.issuperset(word)


def _code(digits: str) -> str:
    return _char(int(digits, 16)) if len(digits) <= 8 and _is_hex(digits) else ""


def _char(number: int) -> str:
    return chr(number) if 0 < number < 0x110000 else ""


def _storable(code: str) -> str:
    return "\ufffd" if "\ud800" <= code <= "\udfff" else code
