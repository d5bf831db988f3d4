"""Set front matter keys in place; every other byte stays as a person left it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mdmem.errors import UsageError
from mdmem.vault import front_matter, note

_BOM = "\ufeff"
_HALVES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
"""Replacements of undecodable bytes before YAML parsing: one character for one, so that positions stay the same."""


class _Item(NamedTuple):
    """A list item on its own line: start of the line, start and end of the value."""

    line: int
    start: int
    end: int


class _Entry(NamedTuple):
    """A key: start of its line, position after its colon, start and end of its value.

    items: those of a list with one item per line; () for any other value.
    """

    key: str
    line: int
    colon: int
    start: int
    end: int
    items: tuple[_Item, ...]


def set_keys(data: bytes, changes: Mapping[str, Any]) -> bytes:
    """Set front matter keys in place, or remove those whose new value is None; new keys go to the end.

    Comments, order, quotes, line endings and the body are kept. In a list with one item per line, lines of remaining
    items are kept. A file without front matter gets one.

    Raises UsageError when the front matter is broken, or cannot be changed without touching something else.
    """
    before = note.parse(data)
    if before.problem:
        raise UsageError(f"The front matter of this note is broken ({before.problem}). Fix it in your editor first.")
    text = data.decode("utf-8", "surrogateescape")
    meta = before.meta
    for key, value in changes.items():
        old, meta = meta.get(key), _changed(meta, key, value)
        text = _with_key(text, key, value, old)
    changed = text.encode("utf-8", "surrogateescape")
    after = note.parse(changed)
    if after.problem or front_matter.render(after.meta) != front_matter.render(meta) or after.body != before.body:
        raise UsageError("The front matter of this note cannot be changed in place. Change it in your editor.")
    return changed


def with_body(data: bytes, body: str) -> bytes:
    """Replace a note's body; the front matter stays as it is.

    Raises UsageError when the front matter is missing or broken, or the body would become a part of it.
    """
    before = note.parse(data)
    text = data.decode("utf-8", "surrogateescape")
    span = _span(text) if before.problem is None else None
    if span is None:
        raise UsageError(f"This note has no front matter that can be read ({before.problem or 'none at all'}).")
    newline = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    end = _line_end(text, span[1])
    gap = "" if text[:end].endswith("\n") else newline
    below = "".join(line + newline for line in body.strip("\n").split("\n"))
    changed = f"{text[:end]}{gap}{newline}{below}".encode("utf-8", "surrogateescape")
    if front_matter.render(note.parse(changed).meta) != front_matter.render(before.meta):
        raise UsageError("The text would become a part of the note's front matter.")
    return changed


def _changed(meta: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {name: other for name, other in meta.items() if name != key}
    return {**meta, key: value}


def _with_key(text: str, key: str, value: Any, old: Any) -> str:
    newline = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    span = _span(text)
    if span is not None:
        start, end = span
        return text[:start] + _in_header(text[start:end], key, value, old, newline) + text[end:]
    if value is None:
        return text
    mark = _BOM if text.startswith(_BOM) else ""
    return f"{mark}---{newline}{front_matter.line(key, value)}{newline}---{newline}{newline}{text[len(mark) :]}"


def _span(text: str) -> tuple[int, int] | None:
    """Return start and end of the front matter without its fences; None when there is none."""
    before = len(_BOM) if text.startswith(_BOM) else 0
    span = front_matter.span(text[before:])
    return span and (before + span[0], before + span[1])


def _in_header(header: str, key: str, value: Any, old: Any, newline: str) -> str:
    entries = list(_entries(header))
    entry = next((entry for entry in entries if entry.key == key), None)
    if entry is None:
        first = header[entries[0].line :] if entries else ""
        indent = first[: len(first) - len(first.lstrip(" "))]
        return header if value is None else f"{header}{indent}{front_matter.line(key, value)}{newline}"
    if value is None:
        return header[: entry.line] + header[_line_end(header, entry.end) :]
    if front_matter.line(key, value) == front_matter.line(key, old):
        return header
    if entry.items and isinstance(value, list):
        with_items = _with_items(header, entry, value, old, newline)
        if with_items is not None:
            return with_items
    return header[: entry.colon] + _behind_colon(header, entry, _value(key, value), newline) + header[entry.end :]


def _behind_colon(header: str, entry: _Entry, value: str, newline: str) -> str:
    """Return the text after the colon: the new value on the key's line, then comments from before the old one."""
    gap = header[entry.colon : entry.start]
    if "\n" not in gap:
        return (gap or " ") + value
    first, *between = gap.split(newline)[:-1]
    return f" {value}{newline.join([first.rstrip(), *between])}"


def _with_items(header: str, entry: _Entry, new: list[Any], old: list[Any], newline: str) -> str | None:
    """Remove lines of dropped items and append lines for new ones; None when that does not give the new list."""
    stay = [item for item in old if item in new]
    if not stay or new[: len(stay)] != stay or len(old) != len(entry.items):
        return None
    last_item = entry.items[-1]
    end = _line_end(header, last_item.end)
    lead = header[last_item.line : last_item.start]
    added = "".join(f"{lead}{_value('', item)}{newline}" for item in new[len(stay) :])
    changed = header[:end] + added + header[end:]
    for item, value in zip(reversed(entry.items), reversed(old), strict=True):
        if value not in new:
            changed = changed[: item.line] + changed[_line_end(header, item.end) :]
    return changed


def _entries(header: str) -> Iterator[_Entry]:
    """Yield the keys of the front matter, in order. Raises UsageError unless each has a line of its own."""
    import yaml  # slow to load; many commands load this module and change no front matter

    starts = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
    ends = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
    loader: Any = getattr(yaml, "CParser", yaml.SafeLoader)
    events: Iterator[Any] = yaml.parse(header.translate(_HALVES), Loader=loader)
    depth = end = 0
    key = value = None
    items: list[_Item] = []
    for event in events:  # one by one, so that deep nesting is harmless
        at = event.start_mark.index
        depth -= isinstance(event, ends)
        if isinstance(event, yaml.ScalarEvent) or event.end_mark.index > at:
            end = event.end_mark.index
        if depth == 0 and isinstance(event, yaml.MappingStartEvent) and event.flow_style:
            raise UsageError("The front matter of this note is written in braces. Put each key on its own line.")
        if depth == 1 and key is None:
            key, value, items = event, None, []
            continue
        if depth == 1 and value is None:
            value = event
        elif depth == 2 and isinstance(event, yaml.ScalarEvent):
            items.append(_Item(_line_start(header, at), at, end))
        depth += isinstance(event, starts)
        if depth == 1 and value is not None:
            is_list = isinstance(value, yaml.SequenceStartEvent) and not value.flow_style
            yield _entry(header, key, value, end, items if is_list else [])
            key = value = None


def _entry(header: str, key: Any, value: Any, end: int, items: list[_Item]) -> _Entry:
    line = _line_start(header, key.start_mark.index)
    if header[line : key.start_mark.index].strip(" "):
        raise UsageError("The front matter of this note has more than one key on a line. Change it in your editor.")
    colon = header.index(":", key.end_mark.index) + 1
    end = max(len(header[:end].rstrip("\r\n")), colon)
    start = min(max(value.start_mark.index, colon), end)
    plain = all(header[item.line : item.start].strip(" ") == "-" for item in items)
    whole = all("\n" not in header[item.start : item.end] for item in items)
    return _Entry(key.value, line, colon, start, end, tuple(items) if plain and whole else ())


def _line_start(header: str, at: int) -> int:
    return header.rfind("\n", 0, at) + 1


def _line_end(header: str, at: int) -> int:
    return header.find("\n", at) + 1 or len(header)


def _value(key: str, value: Any) -> str:
    return front_matter.line(key, value)[len(front_matter.line(key, None)) - len("null") :]
