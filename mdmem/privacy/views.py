"""Other readings of one text: line breaks taken out, escapes resolved, base64 and hexadecimal decoded.

A view is a text of its own, and knows for each of its parts where in the original that part stands.
"""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class TextView:
    """A reading of a text: its own text, and for each piece of it the place in the original."""

    __slots__ = ("_length", "_parts", "_places", "_starts", "text")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._starts: list[int] = []
        self._places: list[tuple[int, int, bool]] = []
        self.text = ""

    def add(self, piece: str, start: int, end: int, *, decoded: bool = False) -> None:
        """Append a piece that the original has between `start` and `end`, letter by letter unless it was decoded."""
        if piece:
            self._starts.append(self._length)
            self._places.append((start, end, decoded))
            self._parts.append(piece)
            self._length += len(piece)

    def close(self) -> TextView:
        """Put the pieces together."""
        self.text = "".join(self._parts)
        self._parts = []
        return self

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the view stands in the original."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
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
    """Put one blank for each run of white space."""
    return " ".join(text.split())


def spaced_view(text: str) -> TextView:
    """Read a text as `spaced` does; slower, and only wanted where something was found."""
    view, at = TextView(), 0
    for word in text.split():
        at = text.find(word, at)
        if view:
            view.add(" ", at - 1, at)
        view.add(word, at, at + len(word))
        at += len(word)
    return view.close()


def unwrapped(text: str) -> TextView | None:
    """Read a text without its line breaks and what indents the lines; None for a single line."""
    if "\n" not in text.strip():
        return None
    view, begin = TextView(), 0
    for line in text.split("\n"):
        body = line.strip(" \t\r│┃|")
        start = begin + line.find(body) if body else begin
        if body.endswith("\\"):
            body = body[:-1]
        view.add(body, start, start + len(body))
        begin += len(line) + 1
    return view.close()


# -- escapes


def may_encode(text: str) -> bool:
    """Whether a text has escapes that a word may be written in, beside those of line ends and quotes."""
    return any(sign in text for sign in ("%2", "%3", "\\u", "\\x", "\\/"))


_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " "}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " ", "0": " "}
_HEX = frozenset("0123456789abcdefABCDEF")


def unescaped(text: str) -> TextView | None:
    r"""Read `\u0041`, `\x41`, `\"`, `%41`, `&#65;`, `&amp;` and the like as what they stand for; None without any."""
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
"""So much around an escape is read with it; what is further away says in any reading what it says."""

_GAP = "\n\ue000\n"


def _add_near(view: TextView, text: str, begin: int, end: int) -> None:
    """Append what stands between two escapes; of a long text, what is near to either."""
    first, last = begin + _NEAR_CHARS if view else begin, end - _NEAR_CHARS
    last = text.rfind("\n", max(first, last - _NEAR_CHARS), max(last, 0)) + 1 or last
    if last <= first + len(_GAP):
        view.add(text[begin:end], begin, end)
        return
    view.add(text[begin:first], begin, first)
    view.add(_GAP, first, first + 1, decoded=True)
    view.add(text[last:end], last, end)


def _escapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Find each escape: where it stands, and what it stands for."""
    nexts = {sign: at for sign in _READERS if (at := text.find(sign)) >= 0}
    if "\\" in nexts:
        nexts.pop("+", None)  # a form has no backslashes
    while nexts:
        sign = min(nexts, key=nexts.__getitem__)
        at = nexts[sign]
        found = _READERS[sign](text, at)
        end = found[0] if found else at + 1
        if found:
            yield at, end, found[1]
        for other in [key for key, place in nexts.items() if place < end]:
            place = text.find(other, end)
            if place < 0:
                del nexts[other]
            else:
                nexts[other] = place


def _backslash(text: str, at: int) -> tuple[int, str] | None:
    kind = text[at + 1 : at + 2]
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


def _percent(text: str, at: int) -> tuple[int, str] | None:
    data = bytearray()
    end = at
    while text[end : end + 1] == "%" and _is_hex(text[end + 1 : end + 3]) and len(text) >= end + 3:
        data.append(int(text[end + 1 : end + 3], 16))
        end += 3
    if data:
        return end, data.decode("utf-8", "replace")
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
        code = _ENTITIES.get(name, "")
    return (end + 1, _storable(code)) if code else None


def _plus(text: str, at: int) -> tuple[int, str] | None:
    between = text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()
    return (at + 1, " ") if between else None


_READERS: dict[str, Callable[[str, int], tuple[int, str] | None]] = {
    "\\": _backslash,
    "%": _percent,
    "&": _entity,
    "+": _plus,
}
"""What an escape begins with -> what reads it."""


def _is_hex(word: str) -> bool:
    return bool(word) and _HEX.issuperset(word)


def _code(digits: str) -> str:
    return _char(int(digits, 16)) if len(digits) <= 8 and _is_hex(digits) else ""


def _char(number: int) -> str:
    return chr(number) if 0 < number < 0x110000 else ""


def _storable(code: str) -> str:
    return "\ufffd" if "\ud800" <= code <= "\udfff" else code


# -- base64 and hexadecimal


_SHORTEST_RUN = 6
_LONG_RUN = 40
_NO_SIGNS = str.maketrans(dict.fromkeys("_-+/="))
_SHORTEST_PLAIN = 12
_SHORTEST_LINE = 40
_RUNS = str.maketrans({chr(code): " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "+/-_=")})
_SIGNS = str.maketrans(dict.fromkeys("+/-_=", " "))
_BASE64 = str.maketrans("-_", "+/")
_NO_TEXT = frozenset("ABEFGHghijklmnopqrstuv")
"""With these, base64 of UTF-8 cannot begin: its first byte is a control character, or the middle of a character."""

_SHORTEST_WIDE = 8
"""A word of at least this many characters may be UTF-16."""


def decoded(text: str) -> TextView | None:
    """Read what base64 and hexadecimal in a text say, and nothing else of it; None when nothing does."""
    view = TextView()
    flat = text.translate(_RUNS)
    runs = flat.split()
    every = set(runs)
    known = {run: found for run in every if not _is_words(run) and (found := list(_decode_parts(run)))}
    at, flat = 0, f" {flat} "
    apart = " " if text.isascii() else ""  # other scripts have other blanks
    for run in filter(known.__contains__, runs) if apart else runs:
        at = flat.index(f"{apart}{run}{apart}", at) - (not apart)
        for start, end, decoded_text in known.get(run, ()):
            view.add(f"\n{decoded_text}\n", at + start, at + end, decoded=True)
        at += len(run)
    _wrapped_base64(text, view)
    if sum(len(run) in (2, 4) and _is_hex(run.removeprefix("0x")) for run in every) > 2:
        _spaced_hex(text, view)
    return view.close() if view else None


def _is_words(run: str) -> bool:
    """Whether a run is too short, or of words in lower case: no text looks like that in base64 or hexadecimal."""
    if len(run) < _SHORTEST_RUN:
        return True
    return run[1:].islower() and len(run) < _LONG_RUN and run.translate(_NO_SIGNS).isalpha() and not _is_hex(run)


def _decode_parts(run: str) -> Iterator[tuple[int, int, str]]:
    """Decode a run, and its parts between signs: it may be a path, a name or an address around an encoded text."""
    if found := _decode(run):
        yield 0, len(run), found
    parts = run.translate(_SIGNS)
    if " " not in parts.strip():
        return
    at = 0
    for part in parts.split():
        at = parts.find(part, at)
        if len(part) >= _SHORTEST_RUN and (found := _decode(part)):
            yield at, at + len(part), found
        at += len(part)


def _decode(word: str) -> str:
    """Return the text that a word is the base64 or hexadecimal form of, or both, or ""."""
    found = "" if word[0] in _NO_TEXT and len(word) < _SHORTEST_WIDE else _from_base64(word)
    digits = word[2:] if word[:2] in ("0x", "0X") else word
    if digits and len(digits) % 2 == 0 and _HEX.issuperset(digits):
        found = f"{_text(bytes.fromhex(digits))}\n{found}".strip("\n")
    return found


def _from_base64(word: str) -> str:
    bare = word.rstrip("=")
    if "=" in bare or not bare.isascii():
        return ""  # NAME=value: its parts are looked at one by one
    if len(bare) < _SHORTEST_PLAIN and bare[1:].islower() and bare.isalpha():
        return ""  # a plain word
    return _text(_unbase64(bare))


def _unbase64(bare: str) -> bytes:
    from binascii import Error, a2b_base64

    if len(bare) % 4 == 1:
        bare = bare[:-1]
    try:
        return a2b_base64(bare.translate(_BASE64) + "=" * (-len(bare) % 4))
    except (Error, ValueError):
        return b""


def _text(data: bytes) -> str:
    """Decode bytes that are a text, in UTF-8 or, as PowerShell has it, UTF-16; "" for any other."""
    if len(data) < 4:
        return ""
    if data.count(0) * 3 > len(data):
        return data[: len(data) // 2 * 2].decode("utf-16-be" if data[0] == 0 else "utf-16-le", "replace")
    try:
        found = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3:
            return _wide_text(data)  # not a text cut off in the middle of its last character
        found = data[: error.start].decode()
    return "" if not found.isprintable() and _has_control(found) else found


def _wide_text(data: bytes) -> str:
    """Decode UTF-16 of a script whose characters all need two bytes; "" for anything else."""
    data = data[2:] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data
    data = data[: len(data) // 2 * 2]
    for coding, high in (("utf-16-le", 1), ("utf-16-be", 0)):
        if data[high::2].translate(None, _WIDE_BYTES):
            continue
        found = data.decode(coding, "replace")
        if found and all("\u3000" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" for char in found):
            return found
    return ""


_WIDE_BYTES = bytes([*range(0x30, 0xA0), *range(0xAC, 0xD8)])
"""The higher bytes of the characters that `_wide_text` looks for."""


def _has_control(text: str) -> bool:
    return any(char < " " and char not in "\t\n\r" for char in text)


def _wrapped_base64(text: str, view: TextView) -> None:
    """Read base64 that goes on over several lines: the end of one, whole ones, and the beginning of another."""
    run: list[str] = []
    begin = at = 0
    for line in text.split("\n") if "\n" in text else ():
        words = line.split() or [""]
        if run and _is_base64(words[0]):
            run.append(words[0])
            if len(words) == 1 and len(words[0]) == len(run[0]) and words[0][-1] != "=":
                at += len(line) + 1
                continue
            end = at + line.find(words[0]) + len(words[0])
            view.add(f"\n{_text(_unbase64(''.join(run).rstrip('=')))}\n", begin, end, decoded=True)
        run = []
        if len(words[-1]) >= _SHORTEST_LINE and _is_base64(words[-1]):
            run, begin = [words[-1]], at + line.rfind(words[-1])
        at += len(line) + 1


def _is_base64(word: str) -> bool:
    return word.isascii() and word.rstrip("=").translate(_SIGNS).replace(" ", "").isalnum()


def _spaced_hex(text: str, view: TextView) -> None:
    """Read bytes that are written apart, as in `68 75 6e 74` and `68:75:6e:74`."""
    flat = text.replace(":", " ").replace(",", " ")
    words = flat.split()
    pairs = {word for word in set(words) if len(word) in (2, 4) and _is_hex(word.removeprefix("0x"))}
    if len(pairs) < 3:
        return
    digits: list[str] = []
    begin = end = at = 0
    for word in [*words, ""]:
        at = flat.find(word, at)
        if word in pairs:
            begin = begin if digits else at
            digits.append(word.removeprefix("0x"))
            end = at + len(word)
        elif digits:
            found = _text(bytes.fromhex("".join(digits))) if len(digits) > 1 else ""
            if found:
                view.add(f"\n{found}\n", begin, end, decoded=True)
            digits = []
        at += len(word)
