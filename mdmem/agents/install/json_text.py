"""JSON text: edits a document in place, so that every byte outside the change stays the same.

Comments and trailing commas count as whitespace; `extensions` tells whether there are any.
A path is the keys and positions that lead from the top of the document to a value.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*"|[\]}\w])(?:([ \t\r\n]*),(?=[ \t\r\n]*[\]}]))?')
_MAY_TRAIL = re.compile(r",[ \t\r\n]*[\]}]")
_DECODER = json.JSONDecoder()

COMMENTS, TRAILING_COMMA = "comments", "a trailing comma"
"""What JSON lacks but some programs accept."""


class _Span(NamedTuple):
    """Position of a value: `start` (of its key, in an object), `value`, and `end`."""

    start: int
    value: int
    end: int
    children: list[tuple[str | int, _Span]]


def extensions(text: str) -> list[str]:
    """Return what a document has that JSON lacks: `COMMENTS` (`//` or `/* */`), `TRAILING_COMMA`."""
    bare = _without_comments(text)
    comma = [TRAILING_COMMA] if _without_trailing_commas(bare) != bare else []
    return [COMMENTS, *comma] if bare != text else comma


def loads(text: str) -> Any:
    """Decode a document strictly: `NaN` and the like are refused.

    Raises ValueError when it is not JSON; the message names line and column.
    """
    try:
        return json.loads(_plain(text), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def at(data: Any, path: Path) -> Any:
    """Return the value at `path` in a decoded document, or None."""
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def append(text: str, container: Path, value: Any, key: str | None = None) -> str:
    """Add `value` at the end of the list at `container`, or of the object there under `key`."""
    span = _find(text, container)
    indent = _indent_of(text, span.value)
    unit = _unit(text)
    multiline = "\n" in text or not _find(text, ()).children
    inner = indent + unit
    if span.children:
        first = span.children[0][1].start
        inner = _indent_of(text, first) if _starts_line(text, first) else inner
    break_ = _newline(text) + inner if multiline else ""
    label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    rendered = label + _render(value, text, inner, multiline)
    if span.children:
        end = span.children[-1][1].end
        return f"{text[:end]},{break_ or ' '}{rendered}{text[end:]}"
    comments = text[span.value + 1 : span.end - 1].rstrip()
    close = _newline(text) + indent if multiline else ""
    return f"{text[: span.value + 1]}{break_}{rendered}{comments}{close}{text[span.end - 1 :]}"


def with_containers(text: str, path: tuple[str, ...], innermost: Any) -> tuple[str, list[tuple[str, ...]]]:
    """Return the text with objects where `path` leads, and the paths of those added. innermost: {} or [], at its end.

    Raises TypeError when anything else is there.
    """
    added = []
    for depth, key in enumerate(path, 1):
        empty = innermost if depth == len(path) else {}
        holder = at(loads(text), path[: depth - 1])
        if key not in holder:
            text = append(text, path[: depth - 1], empty, key)
            added.append(path[:depth])
        elif type(holder[key]) is not type(empty):
            raise TypeError(f"{key} is not {'a list' if isinstance(empty, list) else 'an object'}")
    return text, added


def replace(text: str, path: Path, value: Any) -> str:
    """Return the text with the value at `path` replaced by `value`."""
    span = _find(text, path)
    rendered = _render(value, text, _indent_of(text, span.start), "\n" in text)
    return text[: span.value] + rendered + text[span.end :]


def remove(text: str, path: Path) -> str:
    """Return the text without the value at `path`, its key and one comma."""
    container = _find(text, path[:-1])
    spans = [span for _, span in container.children]
    at = max(number for number, (key, _) in enumerate(container.children) if key == path[-1])
    if len(spans) == 1:
        before, after = (container.value + 1, spans[0].start), (spans[0].end, container.end - 1)
        return text[: before[0]] + _comments(text, *before) + _comments(text, *after) + text[after[1] :]
    if at > 0:
        first = spans[at - 1].end
        return text[:first] + _comments(text, first, spans[at].start) + text[spans[at].end :]
    next_start = spans[1].start
    return text[: spans[0].start] + _comments(text, spans[0].end, next_start).lstrip() + text[next_start:]


def _plain(text: str) -> str:
    """Return a document with its extensions replaced by blanks."""
    return _without_trailing_commas(_without_comments(text))


def _without_trailing_commas(text: str) -> str:
    """Return a document without comments with commas after the last member of a list or object replaced by blanks."""
    if not _MAY_TRAIL.search(text):
        return text  # agents' files of megabytes rarely have any, and each string costs time
    return _TRAILING_COMMA.sub(lambda found: found[0] if found[2] is None else f"{found[1]}{found[2]} ", text)


def _without_comments(text: str) -> str:
    """Return a document with comments replaced by blanks."""
    if "//" not in text and "/*" not in text:
        return text

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])

    return _STRING_OR_COMMENT.sub(blank, text)


def _comments(text: str, start: int, end: int) -> str:
    """Return the text between two values, without its comma, if it has a comment; else ""."""
    part, bare = text[start:end], _without_comments(text)[start:end]
    if part == bare:
        return ""
    comma = bare.find(",")
    return part if comma < 0 else part[:comma] + part[comma + 1 :]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _find(text: str, path: Path) -> _Span:
    text = _plain(text)
    start = _skip(text, 0)
    try:
        span = _span(text, start, start)
        for step in path:
            child = [child for key, child in span.children if key == step][-1]  # the last of duplicate keys counts
            span = _span(text, child.start, child.value)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return span


def _span(text: str, start: int, value: int) -> _Span:
    """Return the positions of a value and its direct members; deeper levels are not parsed."""
    if text[value] not in "{[":
        return _Span(start, value, _DECODER.raw_decode(text, value)[1], [])
    children: list[tuple[str | int, _Span]] = []
    is_object = text[value] == "{"
    cursor = _skip(text, value + 1)
    while text[cursor] not in "}]":
        key: str | int = len(children)
        begin = cursor
        if is_object:
            key, cursor = _DECODER.raw_decode(text, cursor)
            cursor = _skip(text, _skip(text, cursor) + 1)  # over the colon
        end = _DECODER.raw_decode(text, cursor)[1]
        children.append((key, _Span(begin, cursor, end, [])))
        cursor = _skip(text, end)
        if text[cursor] == ",":
            cursor = _skip(text, cursor + 1)
    return _Span(start, value, cursor + 1, children)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _render(value: Any, text: str, indent: str, multiline: bool) -> str:
    if not multiline:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{_newline(text)}{indent}".join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return one step of indentation, that of the first indented line."""
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _starts_line(text: str, at: int) -> bool:
    return "\n" in text[:at] and not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t")
