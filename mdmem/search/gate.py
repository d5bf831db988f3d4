"""Gate: cleans text on its way to a query, a model or a context, as the privacy gate does for notes.

What hooks stored is already clean; what a person wrote into a note by hand is not.
"""

from __future__ import annotations

from mdmem import privacy
from mdmem.privacy import memory, withheld
from mdmem.vault import projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config


_SHORT_CHARS, _MOST_SHORT, _MOST_RULES = 80, 2_000, 16
"""Maximum length of cached texts, their number per set of rules, and the number of such sets."""

_kept: dict[tuple[object, ...], dict[str, str]] = {}


class Gate:
    """The gate of one vault, for one session whose private text it recognizes. rules: those of the vault's settings."""

    def __init__(self, config: Config, session_key: str = "") -> None:
        self.rules = privacy.Rules.of(config.settings)
        self._marker = self.rules.marker
        self._echo = memory.load(config, session_key) if session_key else None
        if len(_kept) >= _MOST_RULES:
            _kept.clear()
        self._short = _kept.setdefault(self.rules.key(), {})

    def prompt(self, text: str) -> str:
        """Clean a typed text; "" if all of it is private or cannot be checked. Leaves no marks of such text."""
        cleaned = privacy.clean(text, rules=self.rules, origin="prompt", echo=self._echo)
        if cleaned.failure is not None:
            return ""
        value = str(cleaned.value).replace(withheld.MARK, " ")
        if self._marker and cleaned.private:
            value = value.replace(self._marker, " ")
        return value.strip()

    def name(self, text: str) -> str:
        """Clean a project's name or identity, as when it was stored."""
        return projects.cleaner(self.rules)(text)

    def stored(self, text: str) -> str:
        """Clean a part of a note before it is shown. Short texts are cached: kinds and projects repeat in lists."""
        found = self._short.get(text)
        if found is None:
            found = str(privacy.clean(text, rules=self.rules, origin="assistant").value)
            if len(text) <= _SHORT_CHARS:
                if len(self._short) >= _MOST_SHORT:
                    self._short.clear()
                self._short[text] = found
        return found
