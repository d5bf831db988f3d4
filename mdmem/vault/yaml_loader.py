"""A strict YAML loader for front matter that people wrote: a vault's files may be hostile.

Each limit prevents a measured fault: 100,000 nested brackets crash the C composer, a 306-byte alias bomb takes
1.5 GB, `2026-99-99` raises ValueError in PyYAML's timestamp constructor.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, ClassVar

import frontmatter.default_handlers
import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_DEPTH = 16


_TODO = {
    "mapping values are not allowed": "put a value with a colon and a space in quotes",
    r"character '\t'": "use spaces, not tabs",
    "cannot start any token": "put the value in quotes",
    "unknown escape character": "put a value with backslashes in single quotes",
    "unexpected end of stream": "a quotation mark is not closed",
    "'<stream end>'": "a bracket is not closed; text with a `#` needs quotes",
}
"""Part of a problem that PyYAML names in words of its own -> what to do, in plain words; the first that fits counts."""
_JOINED = "put a space after the colon in the line above, or indent this line like that one"
"""What to do if the colon is the first one of its line: YAML takes the line for more of the value above."""


class Refused(yaml.MarkedYAMLError):
    """A YAML construct that front matter may not use."""

    def __init__(self, why: str, mark: Any = None) -> None:
        super().__init__(problem=why, problem_mark=mark)


class StrictLoader(_Base):  # type: ignore[misc]
    """PyYAML's safe loader with numbers and booleans as in YAML 1.2; timestamps stay strings."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Refuse repeated keys and keys that are not strings."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key.value, str):
                raise Refused("a key is not text", key.start_mark)
            if key.value in seen:
                raise Refused(f"the key {key.value[:40]!r} is repeated", key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return {str(key): value for key, value in mapping.items()}


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?(?:0|[1-9][0-9]{0,299})$", "-+0123456789"),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$|^[-+]?\.(?:inf|nan)$", "-+.0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
):
    StrictLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


class StrictHandler(frontmatter.default_handlers.YAMLHandler):
    """python-frontmatter's YAML handler with the strict loader."""

    def load(self, fm: str, **kwargs: object) -> Any:  # noqa: ARG002 - ignores the caller's choice of loader
        """Parse front matter."""
        _look_first(fm)
        return yaml.load(fm, Loader=StrictLoader)  # noqa: S506 - a subclass of the safe loader


def load(header: str) -> tuple[dict[str, Any], str | None]:
    """Parse front matter; return the values and a problem (or None). Never raises."""
    try:
        values = StrictHandler().load(header)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f"line {mark.line + 2}" if mark else "line 1"  # the `---` is line 1
        why = error.problem or error.context or "unknown"
        if isinstance(error, Refused):
            return {}, f"{line}: the front matter cannot be read ({why})"
        todo = _todo(why, mark)
        return {}, f"{line}: the front matter is not valid YAML ({why}{todo and ': '}{todo})"
    except yaml.reader.ReaderError as error:
        line = f"line {header.count(chr(10), 0, error.position) + 2}"
        return {}, f"{line}: the front matter contains a character that YAML does not allow ({chr(error.character)!a})"
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError) as error:
        return {}, f"line 1: the front matter cannot be read ({type(error).__name__})"
    if values is None:
        return {}, None
    if not isinstance(values, dict):
        return {}, "line 1: the front matter is not a list of `key: value` lines"
    return {str(key): value for key, value in values.items()}, None


def _todo(why: str, mark: Any) -> str:
    """Return what to do about a problem that PyYAML found at this mark, "" if there is no advice."""
    part = next((part for part in _TODO if part in why), "")
    if part.startswith("mapping") and ": " not in mark.buffer[mark.pointer - mark.column : mark.pointer]:
        return _JOINED
    return _TODO.get(part, "")


_READ_DIFFERENTLY = frozenset("\t\r|>?\x85\u2028\u2029\ufeff")
"""Characters that libyaml accepts in places where PyYAML's own scanner does not."""


def _look_first(text: str) -> None:
    """Refuse input that is unsafe for the recursive composer, using the flat stream of events.

    What PyYAML's own scanner refuses is refused, with its error, from which `_todo` reads. libyaml needs a twentieth of
    the time: it looks first, where both agree.
    """
    if _READ_DIFFERENTLY.isdisjoint(text):
        with suppress(yaml.YAMLError, ValueError):
            return _refuse_unsafe(text, _Base)
    return _refuse_unsafe(text, yaml.SafeLoader)


def _refuse_unsafe(text: str, loader: Any) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise Refused("an anchor or alias", event.start_mark)
        if getattr(event, "tag", None):
            raise Refused("a tag", event.start_mark)
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1
        if depth > MAX_DEPTH:
            raise Refused("too deeply nested", event.start_mark)
