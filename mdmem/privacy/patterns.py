"""Patterns: a person's own regular expressions, which may take for ever and therefore get so much time and no more."""

from __future__ import annotations

from mdmem.errors import DeadlineError, PatternError
from mdmem.privacy import marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mdmem.privacy import Rules

SECONDS = 1.0
"""All patterns together may use this much processor time on one text."""

PROBE_SECONDS = 0.3
"""A pattern that uses more on a line of forty characters is refused when it is set."""

OWN_WORDS = (
    "text", "input", "response", "title", "slug", "body", "meta", "context", "created", "kind", "project", "session",
    "prompt", "sequence", "tool", "success", "files", "agent", "branch", "commit", "tags", "digest", "observation",
    "claude-code", "[PRIVATE]", "[REDACTED]",
)  # fmt: skip
"""What stands in every note: a pattern that matches one of them would hide mdmem's own words."""


class _TooSlowError(Exception):
    """A pattern has used up its time."""


def find(value: str, rules: Rules) -> list[tuple[int, int, str]]:
    """Return what a person's own patterns match, unless it is a mark, or a part of one.

    Raises:
        PatternError: when a pattern takes too long; what it looks at is then not to be stored.
    """
    spans: list[tuple[int, int, str]] = []
    current = ""

    def look() -> None:
        nonlocal current
        for number, pattern in enumerate(rules.compiled(), 1):
            current = pattern.pattern
            for match in pattern.finditer(value):
                start, end = match.span(1 if pattern.groups and match.group(1) is not None else 0)
                if start < end and not marks.cuts(value, start, end, rules.marks()):
                    spans.append((start, end, f"pattern-{number}"))

    try:
        _in_time(look, SECONDS)
    except (_TooSlowError, DeadlineError):  # on a busy machine the process runs out of time before the pattern does
        raise PatternError(
            f"privacy.patterns has {current!r:.60}, which takes too long: nothing that it looks at is stored. "
            "Change it with `mdmem config set privacy.patterns`, or in the vault's mdmem.toml."
        ) from None
    return spans


def problem(pattern: str) -> str:
    """Return why a pattern cannot be used; "" when it can."""
    import re

    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no regular expression ({error}): nothing is masked by it"
    try:
        _in_time(lambda: [compiled.search(probe) for probe in _probes(pattern)], PROBE_SECONDS)
        own = next((word for word in OWN_WORDS if (match := compiled.search(word)) and match.group()), "")
    except _TooSlowError:
        return "takes too long on a short text: put no repetition inside another, as in (a+)+"
    return f"matches {own!r}, a word of mdmem's own that stands in every note" if own else ""


def _probes(pattern: str) -> list[str]:
    """Return short texts on which a pattern that backtracks without end does so."""
    letters = dict.fromkeys(c for c in f"{pattern}a0 .-_/=" if c.isprintable())
    runs = [f"{c * 38}\0" for c in letters]
    return [*runs[:60], f"{'a0' * 19}!", f"{'aA' * 19}\n!", f"{'ab ' * 13}!"]


def _in_time(work: Callable[[], Any], seconds: float) -> None:
    """Do `work`, but for so much processor time at most.

    Only the main thread can be interrupted, and not on every system; elsewhere nothing bounds it.

    Raises:
        _TooSlowError: when the time is over.
    """
    import _signal  # type: ignore[import-not-found]  # `signal` itself loads enum

    def ring(*_: object) -> None:
        raise _TooSlowError

    try:
        before = _signal.signal(_signal.SIGVTALRM, ring)
    except (AttributeError, ValueError):
        work()
        return
    try:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, seconds)
        work()
    finally:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)
        _signal.signal(_signal.SIGVTALRM, before)
