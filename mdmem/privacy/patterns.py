"""Patterns: the user's own regular expressions, with a time limit, since backtracking may take forever."""

from __future__ import annotations

from mdmem.hook_errors import DeadlineError, PatternError
from mdmem.privacy import marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from re import Pattern
    from typing import Any

    from mdmem.system.child_process import ChildProcess

SECONDS = 1.0
"""Limit of processor time for all patterns together on one text."""

PROBE_SECONDS = 0.3
"""Limit of processor time for a new pattern on the short texts of `_probes`; a slower one is refused."""

OWN_WORDS = (
    "text", "input", "response", "title", "slug", "body", "meta", "context", "created", "kind", "project", "session",
    "prompt", "sequence", "tool", "success", "files", "agent", "branch", "commit", "tags", "digest", "observation",
    "claude-code", "[PRIVATE]", "[REDACTED]",
)  # fmt: skip
"""Words that occur in notes themselves. A pattern that matches one is refused, because it would mask mdmem's words."""


class _TooSlowError(Exception):
    """A pattern exceeded its time limit."""


def find(
    value: str, patterns: list[Pattern[str]], own_marks: tuple[str, ...], patience: float = 1.0
) -> list[tuple[int, int, str]]:
    """Return the matches of the user's patterns, except those that begin or end inside one of mdmem's own marks.

    patience: the part of SECONDS that they may take.

    Raises:
        PatternError: a pattern takes too long. The text must not be stored then.
    """
    matches: list[tuple[int, int, str]] = []
    current = ""

    def look(spans_of: Callable[[Pattern[str], str], Iterable[tuple[int, int]]]) -> None:
        nonlocal current
        for number, pattern in enumerate(patterns, 1):
            current = pattern.pattern
            matches.extend((start, end, f"pattern-{number}") for start, end in spans_of(pattern, value))

    seconds = SECONDS * patience
    try:
        if not _in_time(lambda: look(_spans), seconds):
            look(lambda pattern, text: _spans_apart(pattern, [text], seconds))
    except (_TooSlowError, DeadlineError):  # on a busy machine the hook's deadline may pass first
        raise PatternError(
            f"privacy.patterns has {current!r:.60}, which takes too long to check a text. "
            "Change it with `mdmem config set privacy.patterns`, or in the vault's mdmem.toml."
        ) from None
    return [span for span in matches if span[0] < span[1] and not marks.cuts(value, span[0], span[1], own_marks)]


def _spans(pattern: Pattern[str], text: str) -> Iterable[tuple[int, int]]:
    """Return the spans that a pattern matches: its first group if that took part, else the whole match."""
    return (match.span(1 if pattern.groups and match.group(1) is not None else 0) for match in pattern.finditer(text))


def problem(pattern: str) -> str:
    """Return why a pattern cannot be used, without a final period; "" if it can."""
    import re

    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression ({error}): nothing is masked by it"
    try:
        probes = _probes(pattern)
        if not _in_time(lambda: [compiled.search(probe) for probe in probes], PROBE_SECONDS):
            _spans_apart(compiled, probes, PROBE_SECONDS)
        own_word = next((word for word in OWN_WORDS if (match := compiled.search(word)) and match.group()), "")
    except _TooSlowError:
        return "takes too long on a short text: put no repetition inside another, as in (a+)+"
    if not own_word:
        return ""
    return f"matches {own_word!r}, a word that mdmem writes into its notes. Make the pattern more specific"


def _probes(pattern: str) -> list[str]:
    """Return short texts that trigger catastrophic backtracking in a pattern prone to it."""
    letters = dict.fromkeys(c for c in f"{pattern}a0 .-_/=" if c.isprintable())
    runs = [f"{c * 38}\0" for c in letters]
    return [*runs[:60], f"{'a0' * 19}!", f"{'aA' * 19}\n!", f"{'ab ' * 13}!"]


def _in_time(work: Callable[[], Any], seconds: float) -> bool:
    """Run `work` with a limit of processor time; return whether it ran.

    It does not run where it could not be interrupted: outside the main thread, and on systems without such a timer.

    Raises:
        _TooSlowError: the limit was exceeded.
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


# -- where matching cannot be interrupted ------------------------------------------------------------

PATIENCE = 20
"""Time limit of the other process by the clock, as a multiple of its limit of processor time."""

# Where the system has such a timer, it ends the process when its processor time is used up.
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
_other: list[ChildProcess] = []


def _spans_apart(pattern: Pattern[str], texts: list[str], seconds: float) -> list[tuple[int, int]]:
    """Return the spans that a pattern matches in these texts. For threads and Windows: matches in a killable process.

    Raises:
        _TooSlowError: it took too long, or the process could not run, so that the texts are unchecked.
    """
    import json

    from mdmem.system.child_process import ChildProcess

    if not _other:
        _other.append(ChildProcess(_CODE))
    question = json.dumps([pattern.pattern, pattern.flags, texts, seconds]).encode()
    try:
        answer = _other[0].ask(question, seconds * PATIENCE)
    except OSError:
        answer = None
    if answer is None:
        raise _TooSlowError
    return [(start, end) for start, end in json.loads(answer)]
