"""Job: the state of one call of the gate, with its rules and what it has removed so far."""

from __future__ import annotations

from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from mdmem.privacy.findings import Edit, Finding

    class PrivateMemory(Protocol):
        """Finds known private texts: `echo.Echo`, `revealed.Revealed`."""

        def find(self, text: str) -> list[tuple[int, int]]:
            """Return the spans of private text: start and end."""

    class SessionMemory(PrivateMemory, Protocol):
        """Finds what the session has hidden before: `echo.Echo`."""

        def find_secrets(self, text: str) -> list[tuple[int, int]]:
            """Return the spans of secrets: start and end."""


class RuleSet(Value):
    """What to remove, and what to put in its place.

    marker: replacement for a private section; may be "". redacted: replacement for a secret.
    name_kinds: name the kind of secret in its replacement, as in [REDACTED:github-token].
    keep_lines: a private section or a secret leaves as many line breaks as it had.
    unclosed: "private" or "keep": whether the text after an unclosed tag is removed or kept.
    literal_code: a pair of tags wholly inside a closed code fence is plain text.
    tags: the words of private tags; `private` is always one.
    home: the user's home folder, for `anonymized`; "": paths stay as they are.
    secrets: whether to look for secrets at all. patterns: the user's own regular expressions. Their first group, or
        else the whole match, is masked. Invalid ones are ignored.
    skips_slow: a text that a pattern takes too long for is withheld; else that is an error.
    """

    marker: str = "[PRIVATE]"
    redacted: str = "[REDACTED]"
    name_kinds: bool = False
    keep_lines: bool = False
    unclosed: str = "private"
    literal_code: bool = False
    secrets: bool = True
    patterns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    home: str = ""
    skips_slow: bool = False
    _compiled: list[Any] | None = None

    def key(self) -> tuple[object, ...]:
        """Return a value that is equal for equal rules."""
        return tuple([getattr(self, name) for name in self._fields if name != "_compiled"])

    def mark(self, kind: str) -> str:
        """Return the replacement for a secret of this kind."""
        if not self.name_kinds:
            return self.redacted
        head = self.redacted.removesuffix("]")
        return f"{head}:{kind}]" if head != self.redacted else f"{head}:{kind}"

    def marks(self) -> tuple[str, ...]:
        """Return the prefixes of the replacements for secrets and for private sections."""
        return tuple(mark for mark in (self.redacted.removesuffix("]"), self.marker) if mark)

    def compiled(self) -> list[Any]:
        """Return the user's compiled patterns. `re` is slow to import, so they are compiled on first use."""
        if self._compiled is None:
            import re

            self._compiled = []
            for pattern in self.patterns:
                try:
                    self._compiled.append(re.compile(pattern))
                except (re.error, RecursionError, OverflowError):
                    continue
        return self._compiled


class Hidden:
    """The number of private sections removed, and of their characters and lines."""

    __slots__ = ("chars", "lines", "sections")

    def __init__(self, sections: int = 0, chars: int = 0, lines: int = 0) -> None:
        self.sections = sections
        self.chars = chars
        self.lines = lines

    def add(self, inner: str) -> None:
        """Count a section, given the text inside its tags."""
        bare = inner.strip()
        self.sections += 1
        self.chars += len(bare)
        self.lines += bare.count("\n") + 1


class Cleaned:
    """A value that is safe to store, and what was removed from it.

    private: number of private sections and echoes of them. redacted: number of secrets.
    hidden: the size of the private sections.
    unclosed: a private tag has no partner. stray: a closing one has none.
    spans: the texts of private sections, for the echo. secrets: the secrets to recognize again. Never write either to
        disk.
    findings: what was removed where, if the caller asked for it and the value is a string.
    failure: why a text of the value could not be cleaned and is withheld; None if all were.
    unlearned: a withheld text may be private, and there was no time to remember it.
    """

    __slots__ = (
        "failure", "findings", "hidden", "private", "redacted", "secrets", "spans", "stray", "unclosed",
        "unlearned", "value",
    )  # fmt: skip

    def __init__(self) -> None:
        self.value: Any = None
        self.private = 0
        self.redacted = 0
        self.unclosed = False
        self.stray = False
        self.hidden = Hidden()
        self.spans: tuple[str, ...] = ()
        self.secrets: tuple[str, ...] = ()
        self.findings: tuple[Finding, ...] = ()
        self.failure: BaseException | None = None
        self.unlearned = False


class Job:
    """One call of `clean`: its rules, and what it has removed so far.

    spans: the texts of private sections. revealed: finds them in the rest of the payload, in the second pass.
    secrets: secrets found so far, which are masked wherever they occur again.
    is_input: the current string is of a tool's input. names: mdmem's own keys, which are not cleaned.
    plain_chars: strings up to this length need only a check for tokens.
    history: the edits of each step on the last text.
    said: private texts known before. clean: cleans one text.
    patience: the part of their time limit that the user's patterns still have for each text.
    """

    __slots__ = (
        "clean", "cleaned", "echo", "history", "is_input", "marks", "names", "origin", "patience", "plain_chars",
        "revealed", "rules", "said", "secrets", "spans",
    )  # fmt: skip

    def __init__(self, cleaned: Cleaned, rules: RuleSet, origin: str, echo: SessionMemory | None) -> None:
        self.rules = rules
        self.marks = rules.marks()
        self.origin = origin
        self.echo = echo
        self.cleaned = cleaned
        self.spans: list[str] = []
        self.secrets: dict[str, None] = {}
        self.revealed: PrivateMemory | None = None
        self.history: list[list[Edit]] = []
        self.is_input = False
        self.names: frozenset[str] = frozenset()
        self.said: tuple[str, ...] = ()
        self.clean: Callable[[str, Job], str]  # set by the caller, as `text` imports this module
        self.plain_chars = 0
        self.patience = 1.0
