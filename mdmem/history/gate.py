"""The last look before a commit: no text goes into history that the privacy rules would change."""

from __future__ import annotations

from typing import NamedTuple

from mdmem import privacy
from mdmem.history.changes import MARKDOWN


class HeldBack(NamedTuple):
    """A file that was not committed, because of what its text holds.

    line: where the first private text or secret is, from 1. rule: which rule says so.
    """

    path: str
    line: int
    rule: str

    def __str__(self) -> str:
        return (
            f"{self.path}:{self.line} holds private text or what looks like a secret ({self.rule}), "
            "so it was not committed. "
            f"Take it out and commit again, or, if it may stay: mdmem commit --accept '{self.path}'"
        )


def look(path: str, data: bytes, rules: privacy.Rules) -> HeldBack | None:
    """Pass one file's text through the privacy rules; None when they leave it as it is.

    In a file that is no note, such as mdmem.toml, tags are only spoken of: there, secrets alone count.
    """
    text = data.decode("utf-8", "replace")
    cleaned = privacy.clean(text, rules=rules, origin="tool")
    if cleaned.value == text or not (path.endswith(MARKDOWN) or cleaned.redacted):
        return None
    findings = privacy.clean(text, rules=rules, origin="tool", explain=True).findings
    first = min(findings, key=lambda found: found.line, default=None)
    return HeldBack(path, first.line if first else 1, first.rule if first else "unknown")
