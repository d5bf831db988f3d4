"""The job: one call of the gate, by which rules it works, and what it has taken out so far."""

from __future__ import annotations

from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from mdmem.privacy.findings import Edit, Finding

    class PrivateMemory(Protocol):
        """What finds private texts again: `echo.Echo`, `revealed.Revealed`."""

        def find(self, text: str) -> list[tuple[int, int]]:
            """Return where a private text stands: start and end."""


class RuleSet(Value):
    """What to take out, and what to leave in its place.

    marker: where a private section was; may be "". redacted: where a secret was.
    name_kinds: say in the mark what kind of secret it was, as in [REDACTED:github-token].
    keep_lines: a section leaves as many line breaks as it had.
    unclosed: "private", or "keep": what becomes of text behind a tag that is never closed.
    literal_code: a pair of tags wholly inside a closed code fence is only text.
    tags: the words that make private tags; `private` always is one.
    home: the user's home folder, for `anonymized`; "": paths stay as they are.
    secrets: whether to look for secrets at all. patterns: a person's own, as regular expressions; one that does
        not compile is left out. Their first group, or else all of the match, is masked.
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
    _compiled: list[Any] | None = None

    def key(self) -> tuple[object, ...]:
        """Return what is equal for equal rules."""
        return tuple([getattr(self, name) for name in self._fields if name != "_compiled"])

    def mark(self, kind: str) -> str:
        """Return what stands for a secret of this kind."""
        if not self.name_kinds:
            return self.redacted
        head = self.redacted.removesuffix("]")
        return f"{head}:{kind}]" if head != self.redacted else f"{head}:{kind}"

    def marks(self) -> tuple[str, ...]:
        """Return how the texts begin that stand for what was taken out."""
        return tuple(mark for mark in (self.redacted.removesuffix("]"), self.marker) if mark)

    def compiled(self) -> list[Any]:
        """Compile a person's own patterns, once, and only when there are any: `re` is slow to import."""
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
    """How much private sections of a text held: how many sections, and their characters and lines."""

    __slots__ = ("chars", "lines", "sections")

    def __init__(self, sections: int = 0, chars: int = 0, lines: int = 0) -> None:
        self.sections = sections
        self.chars = chars
        self.lines = lines

    def add(self, inner: str) -> None:
        """Count one more section, by the text inside its tags."""
        bare = inner.strip()
        self.sections += 1
        self.chars += len(bare)
        self.lines += bare.count("\n") + 1


class Cleaned:
    """A value that is safe to store, and what was removed from it.

    private, redacted: how many private sections (and echoes of them), how many secrets.
    hidden: how much its private sections held.
    unclosed: a private tag was never closed, or closed and never opened; stray: the latter.
    spans: the texts of private sections, for the echo; they must stay in memory.
    findings: what was taken out where, if it was asked for and the value is one text.
    """

    __slots__ = ("findings", "hidden", "private", "redacted", "spans", "stray", "unclosed", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.private = 0
        self.redacted = 0
        self.unclosed = False
        self.stray = False
        self.hidden = Hidden()
        self.spans: tuple[str, ...] = ()
        self.findings: tuple[Finding, ...] = ()


class Job:
    """One call of `clean`: its rules, and what it has taken out so far.

    spans: what private sections held. revealed: finds that again in the rest of the payload, on the second pass.
    secrets: values that their name gave away, which are masked wherever they stand again.
    names: keys of mdmem's own, which are not text. plain_chars: no text up to this long calls for a closer look.
    history: the edits of each step on the last text.
    """

    __slots__ = (
        "cleaned", "echo", "history", "marks", "names", "origin", "plain_chars", "revealed", "rules", "secrets",
        "spans",
    )  # fmt: skip

    def __init__(self, cleaned: Cleaned, rules: RuleSet, origin: str, echo: PrivateMemory | None) -> None:
        self.rules = rules
        self.marks = rules.marks()
        self.origin = origin
        self.echo = echo
        self.cleaned = cleaned
        self.spans: list[str] = []
        self.secrets: dict[str, None] = {}
        self.revealed: PrivateMemory | None = None
        self.history: list[list[Edit]] = []
        self.names: frozenset[str] = frozenset()
        self.plain_chars = 0
