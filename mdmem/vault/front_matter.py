"""Front matter: a note's metadata, as flat YAML.

Hooks only write, and YAML libraries load slowly, so `render` is an emitter of its own. PyYAML's safe loader and
python-frontmatter read its output back to the same values. `read` parses lines that `render` writes by itself, and
leaves everything else to PyYAML.
"""

from __future__ import annotations

from mdmem import timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_CHARS = 64 * 1024
"""Longer front matter is not read."""

NO = frozenset(["false", "no", "off", "n", "0"])
"""Values that mean no."""

TIMES = frozenset(["created", "started", "ended", "updated"])
"""Keys whose values are written as YAML timestamps: 2026-09-14T08:00:01Z, 2026-09-14T10:00:01+02:00."""


def render(meta: Mapping[str, Any]) -> str:
    """Render metadata between two `---` lines; PyYAML's safe loader reads the same values back."""
    lines = [f"{line(str(key), value)}\n" for key, value in meta.items()]
    return f"---\n{''.join(lines)}---\n"


def line(key: str, value: Any) -> str:
    """Write one key and its value as `render` does: a line, without its end."""
    return f"{_string(key)}: {_entry(key, value)}"


def _entry(key: str, value: Any) -> str:
    if type(value) is not str:
        return _value(value)
    return value if (key in TIMES and _is_time(value)) or is_plain(value, block=True) else _quoted(value)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(str(key))}: {_value(item)}" for key, item in value.items()) + "}"
    return "null" if value is None else _string(value)


def _float(number: float) -> str:
    if number != number or number in (float("inf"), float("-inf")):
        return {"nan": ".nan", "inf": ".inf"}.get(str(number), "-.inf")
    text = repr(number)
    if "e" in text and "." not in text:  # YAML 1.1 requires a point: it reads 1e-07 as a string
        text = text.replace("e", ".0e")
    return text


# Words that YAML 1.1 or 1.2 does not read as a string.
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PLAIN = frozenset(_LETTERS + "0123456789 _-./\\@+~()'\"!;%&*$^:=<>")
_PLAIN_IN_BLOCK = _PLAIN | frozenset(",?[]{}|`")
# Letters that no YAML number contains: an id with one of them may begin with a digit.
_NEVER_IN_NUMBERS = frozenset("ghjkmnpqrstvwyz")


def is_plain(text: str, *, block: bool = False) -> bool:
    """Whether YAML 1.1 and 1.2 both read these characters, unquoted, as the same string.

    block: as a value on a line of its own, not inside a list.
    """
    first = text[:1]
    if "0" <= first <= "9":
        return text.isascii() and (_is_plain_id(text) or _is_uuid(text))
    return (
        first != ""
        and (first in _LETTERS or first == "/")
        and (_PLAIN_IN_BLOCK if block else _PLAIN).issuperset(text)
        and ": " not in text
        and text[-1] not in " :"
        and text.lower() not in _WORDS
    )


def _is_plain_id(text: str) -> bool:
    return len(text) == 10 and text.isalnum() and not _NEVER_IN_NUMBERS.isdisjoint(text)


def _is_uuid(text: str) -> bool:
    """Whether a text is a UUID: with dashes in these places it cannot be a date or a number."""
    if len(text) != 36:
        return False
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(map(str.isalnum, parts))


def _string(text: str) -> str:
    return text if is_plain(text) else _quoted(text)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _quoted(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join([_ESCAPES.get(c) or (c if c.isprintable() else _escape(c)) for c in text]) + '"'


def _escape(c: str) -> str:
    number = ord(c)
    if 0xD800 <= number <= 0xDFFF:
        return "\ufffd"  # a lone surrogate cannot be encoded
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def text_of(data: bytes) -> str:
    """Decode a file that an editor may have saved with a byte order mark or CRLF."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n") if "\r" in text else text


def of(data: bytes | None) -> dict[str, Any]:
    """Return the front matter of a file; {} when there is none that can be read."""
    header = split(text_of(data))[0] if data else None
    return read(header)[0] if header else {}


def split(text: str) -> tuple[str | None, str, str | None]:
    """Split a file's text into front matter (None for none), body, and a problem (or None)."""
    start, end, below = span(text) or (0, 0, 0)
    if not start:
        if text.startswith("+++\n") and "\n+++" in text:
            return None, text, "line 1: the front matter is TOML; write it as YAML, between two lines `---`"
        if switches_above(text):
            return None, text, "line 1: front matter begins and ends with a line `---`"
        return None, text, None
    if not below:
        return None, text, "line 1: the front matter is never closed by a line `---`"
    above = "\n" * (text.count("\n", 0, start) - 1)  # blank lines, so that those below are counted as in the file
    header, body = above + text[start:end], text[below:].removeprefix("\n")
    if len(header) > MAX_CHARS:
        return None, body, f"line 1: the front matter is longer than {MAX_CHARS} characters"
    return header, body, None


def span(text: str) -> tuple[int, int, int] | None:
    """Return where front matter begins and ends, and where the text below it begins; None when there is none.

    White space after the dashes and blank lines above them are accepted, as python-frontmatter does. The end is at the
    line that closes it; both are 0 when there is no such line.
    """
    start = 4 if text.startswith("---\n") else _start(text)
    end = text.find("\n---", start - 1) if start else -1
    while end >= 0:
        line_end = text.find("\n", end + 1)
        if not text[end + 4 : line_end if line_end >= 0 else None].strip(" \t\r"):
            return start, end + 1, line_end + 1 or len(text)
        end = text.find("\n---", end + 4)
    return (start, 0, 0) if start else None


def _start(text: str) -> int:
    """Return where front matter begins below another line than a plain `---`; 0 when there is none."""
    if text[:1] not in ("-", " ", "\t", "\r", "\n"):
        return 0
    stripped = text.lstrip(" \t\r\n")
    fence, newline, rest = stripped.partition("\n")
    if not newline or fence.rstrip(" \t\r") != "---":
        return 0
    above = text[: len(text) - len(stripped)]
    key, colon, _ = rest.partition(":")
    # Below blank lines, three dashes are more often a line across the page.
    is_key = bool(colon) and key.strip("\"'").replace("-", "").replace("_", "").isalnum()
    return len(text) - len(rest) if not above or (above.endswith("\n") and is_key) else 0


EARLIEST_WINS = frozenset(["id", "created", "root", "cwd", "branch", "commit", "agent"])
"""Keys that mdmem may have written on two machines: the value that `earliest_key` sorts first wins."""


def earliest_key(value: str) -> tuple[bool, float, str]:
    """Return a sort key of values: times before other text, the earliest first. value: as it is written."""
    moment = timestamps.epoch(value.strip("\"'"))
    return not moment, moment, value


def without_repeated_keys(header: str) -> str:
    """Remove repeated keys from a page's front matter: plain git keeps all lines when it merges pages.

    Lists are joined. Front matter with a repeated key that a person may have changed is returned as it is.
    """
    if "kind: project\n" not in header and "kind: session\n" not in header:
        return header
    values: dict[str, str] = {}
    for line in header[:-1].split("\n"):
        key, colon, text = line.partition(": ")
        if not colon or not is_plain(key):
            return header
        before = values.get(key, text)
        if before != text and key not in EARLIEST_WINS:
            first, second = _plain_list(before), _plain_list(text)
            if first is None or second is None:
                return header
            text = _value([*first, *(item for item in second if item not in first)])
        elif before != text:
            text = min(text, before, key=earliest_key)
        values[key] = text
    return "".join([f"{key}: {text}\n" for key, text in values.items()])


def read(header: str) -> tuple[dict[str, Any], str | None]:
    """Parse front matter; return the values and a problem (or None). Never raises."""
    plain = header.lstrip("\n")  # the blank lines above it count only for the place of a problem
    meta = _read_plain(plain)
    if meta is None:
        meta = _read_plain(without_repeated_keys(plain))
    if meta is not None:
        return meta, None
    try:
        from mdmem.vault import yaml_loader
    except ImportError:  # a hook may run without PyYAML
        return {}, "line 1: PyYAML, needed to read this front matter, cannot be found"
    return yaml_loader.load(header)


def is_yes(value: str) -> bool:
    """Whether the value of `private` in front matter, which may be a count, makes the note private."""
    word = value.strip().lower()
    return bool(word) and word not in NO and not word.isdigit()


def private_switches(header: str) -> dict[str, Any]:
    """Return the privacy switches in unreadable front matter; in doubt the note is private."""
    import re

    switches: dict[str, Any] = {}
    for name, value in re.findall(r"(?i)(?<![\w-])(private|sync)[\"']?\s*[:=]\s*[\"']?([^\s,}\"'#]*)", header):
        if name.lower() == "sync" and value.lower() in NO:
            switches["sync"] = False
        elif name.lower() == "private" and is_yes(value):
            switches["private"] = True
    if re.search(_TAGGED_PRIVATE, header):
        switches["private"] = True
    return switches


def switches_above(body: str) -> dict[str, Any]:
    """Return the privacy switches between dashes or pluses at the top of a text that is no front matter.

    It may be meant as such: second front matter, one after `---yaml`, one whose lines end in a lone carriage return.
    """
    if body.lstrip()[:3] not in ("---", "+++"):
        return {}
    import re

    block = re.match(r"\s*(---|\+\+\+)[^\r\n]*[\r\n](.*?)[\r\n]\1", body, re.DOTALL)
    return private_switches(block[2].replace("\r", "\n")) if block else {}


_TAGGED_PRIVATE = r"""(?im)^["']?tags?["']?\s*:[^:]*?(?<![\w-])private(?![\w-]|["']?\s*:)"""


_MAX_LINES, _MAX_LINE_CHARS = 1024, 160
_known_lines: dict[str, tuple[str, Any]] = {}
"""Cache of parsed lines, as key and value: notes of a session have most lines in common."""


def _read_plain(header: str) -> dict[str, Any] | None:
    """Parse lines that `render` writes, 20 times faster than YAML; None if any line is different."""
    meta: dict[str, Any] = {}
    for line in header[:-1].split("\n"):
        key, value = _known_lines.get(line) or _key_and_value(line)
        if value is None or key in meta:
            return None
        meta[key] = value[:] if type(value) is list else value
    return meta


def _key_and_value(line: str) -> tuple[str, Any]:
    """Parse a line that `render` writes; for any other line the value is None."""
    key, colon, text = line.partition(": ")
    value = _read_line(text) if colon and is_plain(key) else None
    if value is not None and len(line) <= _MAX_LINE_CHARS:
        if len(_known_lines) >= _MAX_LINES:
            _known_lines.clear()
        _known_lines[line] = key, value
    return key, value


def _read_line(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text[:1] == "[":
        return _plain_list(text)
    if "0" <= text[:1] <= "9":
        return _plain_value(text)
    return text if is_plain(text, block=True) else _plain_value(text)


def _plain_value(text: str) -> Any:
    if text[:1] == '"':
        inner = text[1:-1]
        whole = len(text) > 1 and text[-1] == '"' and '"' not in inner and "\\" not in inner
        return inner if whole and inner.isprintable() else None
    if text.isascii() and text.isdigit() and (text[0] != "0" or text == "0") and len(text) < 16:
        return int(text)
    if is_plain(text) or _is_time(text):
        return text
    units, _, part = text.partition(".")  # such as a memory's weight
    if text.isascii() and units.isdigit() and part.isdigit() and len(text) < 16:
        return float(text)
    return None


def _plain_list(text: str) -> list[Any] | None:
    if text == "[]":
        return []
    if text[-1] != "]":
        return None
    # A comma inside quotes yields pieces that are not plain values, so YAML parses the list.
    values = [_plain_value(item) for item in text[1:-1].split(", ")]
    return None if None in values else values


def _is_time(text: str) -> bool:
    """Whether this is a valid time in the format of `render`: 2026-09-14T08:00:01Z, or with an offset."""
    if len(text) == 25 and text[19] in "+-" and text[22] == ":":
        hours, minutes = text[20:22], text[23:]
        is_offset = (hours + minutes).isdigit() and text.isascii() and hours < "24" and minutes < "60"
        return is_offset and _is_time(f"{text[:19]}Z")
    digits = text[:4] + text[5:7] + text[8:10] + text[11:13] + text[14:16] + text[17:19]
    marks = text[4:5] + text[7:8] + text[10:11] + text[13:14] + text[16:17] + text[19:]
    if len(text) != 20 or marks != "--T::Z" or not digits.isascii() or not digits.isdigit():
        return False
    year, month = int(text[:4]), int(text[5:7])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = _DAYS[month] + (month == 2 and leap) if month <= 12 else 0
    in_day = text[11:13] < "24" and text[14:16] < "60" and text[17:19] < "60"
    return year > 0 and 1 <= int(text[8:10]) <= days and in_day


_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
