"""Errors: finds the lines of an output that say what went wrong, without what differs between runs.

What stands before a message is left out: the file and line, the thread of a panic, the time, and the name of a
container, worker, service or package script; if the line has the name of an error, so is all before that. Other paths
lose their folders; numbers, ids, hashes, addresses and times become one character each. So the same error has the same
signature at other places, and in other sessions and projects.
"""

from __future__ import annotations

import zlib

from mdmem.lazy_pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

MAX_SIGNATURES = 6
MAX_LINE_CHARS = 300
_SCAN_CHARS, _END_CHARS = 40_000, 8_000
_WORD, _LETTERS, _RUN_OF_LETTERS = lazy(r"\w+"), lazy(r"[^\W\d_]{2,}"), lazy(r"[^\W\d_]+")
_ANSI = lazy(r"\x1b\[[0-9;?]*[A-Za-z]")
_TELLING = lazy(
    r"""(?x)\b\w*(?:Error|Exception|Warning)\b\s*[:(\[] | \b(?:error|ERROR|fatal|FATAL|panic)\b\s*(?:\[\w+\])?\s*:
    | \b(?:exceptions?|errors?|exc)\.[A-Z]\w*:\s
    | ^e:\s+\S | ^\s*(?: (?:FAILED|ERROR)\s+\S | E\s{2,}\S | (?:✗|✕|✘|×|●)\s+\S )
    | ^(?: FAIL:?\s+\S | ---\ FAIL:\s | not\ ok\s+\d | npm\ (?:ERR!|error)\ code\ E(?!LIFECYCLE) )
    | \b(?:command\ not\ found|No\ such\ file|cannot\ find|not\ found:|undefined\ reference|undefined:)
    | \berror\ (?:TS|CS|C|E)\d+"""
)
_STATING = lazy(
    r"(?i)\b(?:error|failed|cannot|can't|could not|couldn't|unable|denied|refused|rejected|undefined|unknown|invalid"
    r"|missing|unexpected|unsupported|not found|no such|no rule|no space|in use|timed out|exceeded|aborted|killed|fault"
    r"|conflict|violates|does not|locked|expired|unauthorized|forbidden)\b"
)
"""What a failed run's output has in a line that says why, if no line has the form of an error."""
_COUNT = lazy(
    r"\bn (?:\w+ )?(?:failed|failures?|errors?|failing|tests?|passed)\b|\b(?:code|status|error):? n\b"
    r"|\bsubcommand failed"
)
"""What is in a line that only counts failures or has an exit code."""
_GENERIC = lazy(
    r"exit code|traceback|failed|errors?|fail|npm err!(?! code ).*|.*\bfailed, .*passed.*|tests?:? n .*"
    r"|error: failed to push some refs to .*|error: could not compile .*|error: aborting due to .*|failed \(.*"
    r"|.*\bcompleted with exit code n\.?|(?:error: )?build failed\b.*|fail \S+ (?:ns|\(cached\)|\[build failed\])"
    r"|failure: build failed with an exception\.?|compilation error\b.*|build failure|automatic merge failed\b.*"
    r"|error during build|fatal error: too many errors\b.*|.*\berror: ld returned n exit status"
    r"|(?:.*\b)?error: (?:linker command failed|linking with|test failed, to rerun|process didn't exit)\b.*"
    r"|error: (?:subprocess-exited-with-error|metadata-generation-failed|legacy-install-failure|command failed\b.*)"
    r"|error: \[ghc-n\]|error: recipe \S+ failed\b.*|error: command \S+ failed with exit (?:code|status) n"
    r"|.*\bdid not (?:run|complete) successfully\b.*"
    r"|.*\breturned non-zero exit status n\.?|npm (?:err!|error) lifecycle script .*|failed to compile\.?"
    r"|task \S+ failed|execution failed for task .*|there were failing tests\b.*|a failure occurred while executing .*"
)
"""What wraps an error, whatever it is: it says that a step failed, not why."""
_COMPARED = lazy(r"assertionerror\b|assert\b|error: expect\(")
_OF_COMPARISONS = frozenset(
    ["assertionerror", "assertion", "assert", "error", "err", "expect", "expected", "received", "got", "want", "values",
     "equal", "equals", "equality", "strictly", "deeply", "to", "tobe", "toequal", "be", "is", "not", "in", "and", "of",
     "but", "was", "where", "len", "none", "null", "nil", "true", "false", "object"]
)  # fmt: skip
"""Words of failed comparisons that do not distinguish one from another."""


def _numbered(match: re.Match[str]) -> str:
    """Return what is before a number; unlike the template `\\1N`, this needs no import of `re`."""
    return f"{match[1]}N"


_STEPS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    # a date, or a date and time
    (lazy(r"\b\d{4}([-/])\d\d\1\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "T"),
    (lazy(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?"), "T"),  # a time
    # what a log, a container or a script runner puts before a line
    (
        lazy(
            r"""(?x)^(?: (?:[A-Z][a-z]{2}\s+\d+\s+)?T\s+
              (?: [\w.-]+\s+[\w.@-]+\[\d+\]:\s+ | (?:[-|]\s+)?(?:[\w.:]+\s+[-|]\s+)+ )?
            | \[[^\]\s]{1,40}\s*\]:?\s+ | [IWEF]\d{4}\s+T\s+\d+\s+[\w.]+:\d+\]\s+ | [A-Z]{4,5}\s+[\w.$]+\s+-\s+
            | [\w.-]+\s+\|\s+ | @?[\w./-]+[ :](?:test|build|lint|check|typecheck|dev|start|e2e)(?:[:-][\w-]+)*:\s+
            | [A-Za-z][\w.]*-\d+:\s+ | E\s{2,} )+(?=\S)"""
        ),
        "",
    ),
    (lazy(r"^e: (?:\S+?:\d+:\d+|\S+: \(\d+, \d+\)):? (?=\S)"), ""),  # of Kotlin
    (lazy(r"^thread '[^']*'(?: \(\d+\))? panicked at "), ""),  # of Rust
    # a file and a line
    (lazy(r"^(?:[\w.@~+:-]*[/\\])*[\w.+-]+\.\w{1,10}(?::\d+(?::\d+)?:|:?\([\w.+,]+\):)\s+(?=\S)"), ""),
    # all before the name of an error
    (
        lazy(
            r"^(?!.*\bAssertionError\b).{1,200}?"
            r"(?<![\w.$])(?=(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?:\s)"
        ),
        "",
    ),
    (lazy(r"-(?=[a-z]*\d)[a-z0-9]{8,10}-(?=[a-z]*\d)[a-z0-9]{5}\b"), "-N"),  # of a pod
    (lazy(r"\b0x[0-9a-fA-F]+"), "H"),  # an address
    (lazy(r"\b(?=[0-9:]*[a-f])(?=[a-f:]*[0-9])[0-9a-f]{4}:[0-9a-f]{4}\b"), "N"),  # a device; others are numbers below
    (lazy(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "H"),  # a UUID
    (lazy(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"), "H"),  # a hash
    (lazy(r"(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+(?=[\w.@+-])"), ""),  # folders of a path
    (lazy(r"\b((?:\w+[_-])?[Ii][Dd](?:[=:#]|\s)\s*['\"]?)(?=[\w-]*\d)[\w-]+"), _numbered),  # `user_id=8f3a`
    (lazy(r"\btmp(?:[a-z0-9_]{8}|\.\w{6,12})\b"), "N"),  # a temporary file
    # `req_8f3a92c1d0`
    (lazy(r"\b([A-Za-z]+_)(?:\d[0-9A-Za-z]*|(?=[A-Za-z]*\d+[A-Za-z]+\d)[0-9A-Za-z]{8,})\b"), _numbered),
    (lazy(r"(?<![\w:.])::1\b(?![:\w])"), "N"),  # this machine
    (lazy(r"(?:(?<!\w):::)?(?<![A-Za-z_\d])\d+(?:[.,]\d+)*(?:\s?[kKMGT]i?B\b)?"), "N"),  # a number or a size
    (lazy(r"(?:N[:,]?)+(?=\W|$)"), "N"),  # several of these
)


def normalized(line: str) -> str:
    """Return a line without what differs between runs."""
    text = _ANSI.sub("", line[: MAX_LINE_CHARS * 4])
    for pattern, sign in _STEPS:
        text = pattern.sub(sign, text)
    return " ".join(text.split()).strip(" |:>*-")[:MAX_LINE_CHARS].lower()


def signatures(text: str) -> list[str]:
    """Return the signatures of the errors in an output, in order, at most MAX_SIGNATURES; [] if there are none."""
    told = (signature for line in telling(text) if is_specific(signature := normalized(line)))
    return _first(told) or _first(_stated(text))


def _first(signatures: Iterator[str]) -> list[str]:
    distinct: dict[str, None] = {}
    for signature in signatures:
        distinct.setdefault(signature)
        if len(distinct) == MAX_SIGNATURES:
            break
    return list(distinct)


def _stated(text: str) -> Iterator[str]:
    """Yield the signatures of lines that state a failure in words, as `E: Unable to locate package` does."""
    for line in text[-_END_CHARS:].splitlines():
        if _STATING.search(line[: MAX_LINE_CHARS * 4]):
            signature = normalized(line)
            if is_specific(signature) and not _COUNT.search(signature):
                yield signature


def telling(text: str) -> Iterator[str]:
    """Yield the lines of an output that say what went wrong; for a Python traceback, its last line.

    A panic of Rust, a failed task of Gradle and an error of Haskell say so in the line after it.
    """
    prefix: str | None = None
    is_next = False
    for line in _searched(text).splitlines():
        head, trace, _ = line.partition("Traceback (")
        panics = "panicked at" in line
        if is_next and line.strip():
            yield line.strip(" \t•")
        is_next = ".hs:" in line and _HASKELL.search(line) is not None
        if trace or (panics and line.endswith(":")) or line.startswith(_TASK_FAILED):
            prefix = head if trace else ""  # the prefix that a container or log adds to each line
            continue
        ends = prefix is not None and not line.removeprefix(prefix)[:1].isspace() and line.strip()
        if ends or panics or _TELLING.search(line[: MAX_LINE_CHARS * 4]):
            yield _ANSI.sub("", line).strip()
        prefix = None if ends else prefix


_HASKELL = lazy(r"\.l?hs:\d+:\d+: error:(?: \[GHC-\d+\])?\s*$")
_TASK_FAILED = "Execution failed for task "


def _searched(text: str) -> str:
    return text if len(text) <= 2 * _SCAN_CHARS else f"{text[:_SCAN_CHARS]}\n{text[-_SCAN_CHARS:]}"


def is_specific(signature: str) -> bool:
    """Whether a signature identifies an error: it has at least two words, and more than that something failed.

    `assert 3 == 4` compares other things in each test: it needs two words of what is compared.
    """
    words = _LETTERS.findall(signature)
    if _COMPARED.match(signature):
        words = list(set(words) - _OF_COMPARISONS)
    return len(words) >= 2 and not _GENERIC.fullmatch(signature)


def places(text: str) -> list[tuple[str, int]]:
    """Return the files and lines that an output names."""
    return [(name.replace("\\", "/"), int(number)) for name, number in _PLACE.findall(text[:_PLACED_CHARS])]


def failed_parts(text: str) -> list[str]:
    """Return the lines in which an output names each file or package that failed.

    If it has no such lines, the only one is all of its text without the lines that report what succeeded.
    """
    lines = text.splitlines()
    named = [line for line in lines if _FAILED_PART.match(line)]
    return named or ["\n".join(line for line in lines if _FAILS.search(line) or not _SUCCEEDED.search(line))]


def names_something(line: str) -> bool:
    """Whether an error names what it is about: `No module named 'yaml'`, but not `list index out of range`.

    The name of the error itself, and those of a language's own types, do not count. Only the line's first
    MAX_LINE_CHARS are looked at: a program's output may be one line.
    """
    for name in _NAME.findall(_CLASS.sub("", line[:MAX_LINE_CHARS])):
        if not _BUILT_IN.issuperset(_RUN_OF_LETTERS.findall(name.lower())):
            return True
    return False


_FAILED_PART = lazy(r"\s*(?:FAILED\s+\S*[/.]\w|FAIL:?\s+\S*[/.]\w|ERROR\s\S*[/.]\w\S*(?:\s-\s|$))")
"""`FAILED tests/test_a.py::test_b - KeyError`, `FAIL src/a.test.ts`, `ERROR tests/test_a.py`."""
_FAILS = lazy(r"(?i)fail|error|not ok\b")
_SUCCEEDED = lazy(r"\b(?:ok|PASS|PASSED|passed|SKIPPED|skipped)\b|[✓✔√]|^\S+ [.sx]+(?:\s+\[ *\d+%\])?$")
"""`tests/test_a.py ..s [ 50%]`, `ok  example.com/a  0.1s`, `PASS src/a.test.ts`."""
_PLACED_CHARS = 20_000
_PLACE = lazy(r"([\w./\\-]{1,200}\.[A-Za-z]\w{0,9})(?:\", line |:|\()([0-9]{1,7})(?![0-9])")
"""A file and line as programs print them: `src/dates.py:14`, `File "dates.py", line 14`, `dates.ts(14,5)`."""
_CLASS = lazy(
    r"[\w./\\-]+\.\w{1,10}(?::\d+|\(\d+)[\d:,)]*|\b(?:\w+[.:]+)*\w*(?:Error|Exception|Warning)\b|\b[A-Z]+\d{3,}\b"
)
"""A place, the class of an error, and its code."""
_NAME = lazy(
    r"'[^']+'|\"[^\"]+\"|`[^`]+`|\b\w+_\w+|\b[a-z]+[A-Z]\w*|\b\w+[.:/-]+\w+|\b\w*\d\w*[a-z]\w*|\b\w+\(\)"
    r"|\b(?:undefined|reference|in scope): \w+"
)
_BUILT_IN = frozenset(
    """
    any array bool boolean bytes char dict double err false float function int integer iterator list long map never
    nil nonetype none null number object ok option result set some str string true tuple type undefined unknown unwrap
    void
    """.split()
)
"""Words that programs quote as names of their language."""


def facet(signature: str) -> str:
    """Return the facet of runs that failed with an error."""
    return f"error:{zlib.crc32(signature.encode('utf-8', 'replace')):08x}"


def likeness(sought: str, known: str) -> float:
    """Return the share of words that two signatures have in common, 0 to 1.

    It is at least PART if the sought one is a part of the other: people type the words, or the start of a word, that
    they remember.
    """
    sought_words, known_words = (frozenset(_WORD.findall(text)) for text in (sought, known))
    share = len(sought_words & known_words) / (len(sought_words | known_words) or 1)
    is_part = not sought_words <= _COMMON and all(_begins_one(word, known_words) for word in sought_words)
    return max(share, PART) if is_part else share


def is_common(signature: str) -> bool:
    """Whether a signature has only words that are in many errors."""
    return _COMMON.issuperset(_WORD.findall(signature))


def _begins_one(word: str, known_words: frozenset[str]) -> bool:
    """Whether a word is one of those that are known, or identifies one by its start."""
    return word in known_words or (len(word) >= _START_CHARS and any(known.startswith(word) for known in known_words))


PART = 0.7
_START_CHARS = 5
"""Number of letters with which the start of a word identifies it."""
_COMMON = _OF_COMPARISONS | frozenset(
    """
    a an the no on at with from for by as it this n t h s code exit status exception failed fail failure failing fatal
    panic warning invalid unknown unexpected missing found cannot can could unable such file test tests run line
    """.split()
)
"""Words that are in many errors, and identify none."""
