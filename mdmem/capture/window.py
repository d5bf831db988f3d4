"""Window: takes the middle out of very long texts before they are cleaned.

Searching for secrets takes a tenth of a second per megabyte, and the middle of a very long text is never stored. So it
is taken out first, and replaced by as many blanks and line breaks afterwards, for the count of what was left out.
"""

from __future__ import annotations

from mdmem import privacy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EDGE_CHARS = 32 * 1024
"""Length of each end that is kept: more than a note holds, so that no secret is cut where text is stored."""

_MARGIN_CHARS = 8 * 1024
MAX_DEPTH = 8
_SIGN = "\ue000"  # a private-use character; a text that contains it is not cut


class Window:
    """Takes the middles out of the very long texts in one JSON value, and fills the gaps with blanks later."""

    __slots__ = ("_blanks", "_edge", "_rules")

    def __init__(self, rules: privacy.Rules, chars: int = 0) -> None:
        """Start with nothing taken out. chars: how much of a text is stored, if more than usual."""
        self._rules = rules
        self._edge = max(EDGE_CHARS, chars // 2 + _MARGIN_CHARS if chars else 0)
        self._blanks: list[str] = []

    def narrow(self, value: Any, depth: int = 0) -> Any:
        """Return a JSON value with the middles of its very long texts taken out.

        A text that may contain a privacy tag stays whole, because a section that opens in the middle hides what
        follows.
        """
        if isinstance(value, str):
            long = len(value) > 3 * self._edge and _SIGN not in value and not privacy.may_hold_tag(value, self._rules)
            return self._cut(value) if long else value
        if depth > MAX_DEPTH or not _is_large(value):
            return value
        if isinstance(value, dict):
            return {key: self.narrow(item, depth + 1) for key, item in value.items()}
        return [self.narrow(item, depth + 1) for item in value] if isinstance(value, list) else value

    def widen(self, value: Any, depth: int = 0) -> Any:
        """Return a narrowed value, possibly cleaned since, with blanks for the middles."""
        if not self._blanks or depth > MAX_DEPTH:
            return value
        if isinstance(value, str):
            return self._fill(value)
        if isinstance(value, dict):
            return {key: self.widen(item, depth + 1) for key, item in value.items()}
        return [self.widen(item, depth + 1) for item in value] if isinstance(value, list) else value

    def _cut(self, text: str) -> str:
        chars = len(text) - 2 * self._edge
        lines = text.count("\n", self._edge, self._edge + chars)
        self._blanks.append(" " * (chars - lines) + "\n" * lines)
        return f"{text[: self._edge]} {_SIGN}{len(self._blanks) - 1}{_SIGN} {text[-self._edge :]}"

    def _fill(self, text: str) -> str:
        head, sign, numbered = text.partition(f" {_SIGN}")
        number, end, tail = numbered.partition(f"{_SIGN} ")
        known = sign and end and number.isdecimal() and int(number) < len(self._blanks)
        return head + self._blanks[int(number)] + tail if known else text


def _is_large(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(item, (dict, list)) or (isinstance(item, str) and len(item) > EDGE_CHARS) for item in items)
