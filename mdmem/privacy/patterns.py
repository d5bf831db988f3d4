"""Patterns: a person's own regular expressions, which may take for ever and therefore get so much time and no more."""

from __future__ import annotations

from mdmem.hook_errors import DeadlineError, PatternError
from mdmem.privacy import marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from re import Pattern
    from typing import Any

    from mdmem.system.apart import Apart

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


def find(value: str, patterns: list[Pattern[str]], ours: tuple[str, ...]) -> list[tuple[int, int, str]]:
    """Return what a person's own patterns match, unless it is one of the marks `ours`, or a part of one.

    Raises:
        PatternError: when a pattern takes too long; what it looks at is then not to be stored.
    """
    found: list[tuple[int, int, str]] = []
    current = ""

    def look(spans_of: Callable[[Pattern[str], str], Iterable[tuple[int, int]]]) -> None:
        nonlocal current
        for number, pattern in enumerate(patterns, 1):
            current = pattern.pattern
            found.extend((start, end, f"pattern-{number}") for start, end in spans_of(pattern, value))

    try:
        if not _in_time(lambda: look(_spans), SECONDS):
            look(lambda pattern, text: _spans_apart(pattern, [text], SECONDS))
    except (_TooSlowError, DeadlineError):  # on a busy machine the process runs out of time before the pattern does
        raise PatternError(
            f"privacy.patterns has {current!r:.60}, which takes too long: nothing that it looks at is stored. "
            "Change it with `mdmem config set privacy.patterns`, or in the vault's mdmem.toml."
        ) from None
    return [span for span in found if span[0] < span[1] and not marks.cuts(value, span[0], span[1], ours)]


def _spans(pattern: Pattern[str], text: str) -> Iterable[tuple[int, int]]:
    """Yield where a pattern matches: its first group, if it has one that takes part."""
    return (match.span(1 if pattern.groups and match.group(1) is not None else 0) for match in pattern.finditer(text))


def problem(pattern: str) -> str:
    """Return why a pattern cannot be used; "" when it can."""
    import re

    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression ({error}): nothing is masked by it"
    try:
        probes = _probes(pattern)
        if not _in_time(lambda: [compiled.search(probe) for probe in probes], PROBE_SECONDS):
            _spans_apart(compiled, probes, PROBE_SECONDS)
        own = next((word for word in OWN_WORDS if (match := compiled.search(word)) and match.group()), "")
    except _TooSlowError:
        return "takes too long on a short text: put no repetition inside another, as in (a+)+"
    return f"matches {own!r}, a word of mdmem's own that stands in every note" if own else ""


def _probes(pattern: str) -> list[str]:
    """Return short texts on which a pattern that backtracks without end does so."""
    letters = dict.fromkeys(c for c in f"{pattern}a0 .-_/=" if c.isprintable())
    runs = [f"{c * 38}\0" for c in letters]
    return [*runs[:60], f"{'a0' * 19}!", f"{'aA' * 19}\n!", f"{'ab ' * 13}!"]


def _in_time(work: Callable[[], Any], seconds: float) -> bool:
    """Do `work`, but for so much processor time at most; return whether it was done.

    It is not where nothing could interrupt it: only the main thread can be, and not on every system.

    Raises:
        _TooSlowError: when the time is over.
    """
    import _signal  # type: ignore[import-not-found]  # `signal` itself loads enum

    def ring(*_: object) -> None:
        raise _TooSlowError

    try:
        before = _signal.signal(_signal.SIGVTALRM, ring)
    except (AttributeError, ValueError):
        return False
    try:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, seconds)
        work()
    finally:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)
        _signal.signal(_signal.SIGVTALRM, before)
    return True


# -- where nothing can be interrupted ----------------------------------------------------------------

PATIENCE = 20
"""Another process has this many times as long by the clock as it has processor time, where that can be limited."""

# Its own timer ends it after so much processor time, where the system has one.
_CODE = """
import json, re, signal, sys
timer = getattr(signal, "setitimer", None)
for line in sys.stdin.buffer:
    pattern, flags, texts, seconds = json.loads(line)
    pattern = re.compile(pattern, flags)
    if timer:
        timer(signal.ITIMER_VIRTUAL, seconds)
    spans = [
        match.span(1 if pattern.groups and match.group(1) is not None else 0)
        for text in texts for match in pattern.finditer(text)
    ]
    if timer:
        timer(signal.ITIMER_VIRTUAL, 0)
    print(json.dumps(spans), flush=True)
"""
_other: list[Apart] = []


def _spans_apart(pattern: Pattern[str], texts: list[str], seconds: float) -> list[tuple[int, int]]:
    """Return where a pattern matches in these texts, found by a process that can be ended: in a thread, on Windows.

    Raises:
        _TooSlowError: when it took too long, or there is no such process: nobody has looked at the texts.
    """
    import json

    from mdmem.system.apart import Apart

    if not _other:
        _other.append(Apart(_CODE))
    asked = json.dumps([pattern.pattern, pattern.flags, texts, seconds]).encode()
    try:
        answer = _other[0].ask(asked, seconds * PATIENCE)
    except OSError:
        answer = None
    if answer is None:
        raise _TooSlowError
    return [(start, end) for start, end in json.loads(answer)]
