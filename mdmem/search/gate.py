"""Gate: text on its way to a query, to a model, or into a context passes the privacy gate as it does into a note.

What hooks stored was cleaned before; what a person wrote into a note by hand was not.
"""

from __future__ import annotations

from mdmem import privacy
from mdmem.privacy import memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config


class Gate:
    """The gate of one vault, for one session: what that session's private sections said is known to it."""

    __slots__ = ("_echo", "_marker", "_rules")

    def __init__(self, config: Config, session_key: str = "") -> None:
        self._rules = privacy.Rules.of(config.settings)
        self._marker = self._rules.marker
        self._echo = memory.load(config, session_key) if session_key else None

    def prompt(self, text: str) -> str:
        """Clean what a person typed; "" when all of it is private. Where something was taken out is not marked."""
        cleaned = privacy.clean(text, rules=self._rules, origin="prompt", echo=self._echo)
        value = str(cleaned.value)
        if self._marker and cleaned.private:
            value = value.replace(self._marker, " ")
        return value.strip()

    def name(self, text: str) -> str:
        """Clean a project's name or identity as it was cleaned when it was stored."""
        return str(privacy.anonymized(privacy.clean(text, rules=self._rules).value, self._rules))

    def stored(self, text: str) -> str:
        """Clean a part of a note before it is shown."""
        return str(privacy.clean(text, rules=self._rules, origin="assistant").value)
