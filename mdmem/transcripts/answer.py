"""Answer: what an agent says last in a turn, put together from its parts."""

from __future__ import annotations

_WHOLE = frozenset(["end_turn", "stop_sequence", "max_tokens", "refusal"])


class AnswerParts:
    """The text that would be the turn's answer if the turn ended now.

    id: of the message it is part of; at: when its last part came.
    """

    def __init__(self) -> None:
        self.clear()

    @property
    def text(self) -> str:
        """Return its parts, one after the other; "" when nothing was said since the last tool run."""
        return "\n".join(self._parts)

    @property
    def is_whole(self) -> bool:
        """Whether the agent ended its turn with it."""
        return bool(self._parts) and self._reason in _WHOLE

    def clear(self) -> None:
        """Start over."""
        self.id = ""
        self.at = 0.0
        self._parts: list[str] = []
        self._reason = ""

    def add(self, message_id: str, part: str, at: float) -> None:
        """Add a part; one of another message starts over."""
        if not part.strip():
            return
        if self._parts and message_id != self.id:
            self.clear()
        self.id, self.at = message_id, at
        self._parts.append(part)

    def stopped(self, reason: str) -> None:
        """Keep why the message ended, where a line says so."""
        self._reason = reason or self._reason
