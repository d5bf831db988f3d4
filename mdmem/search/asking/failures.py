"""Failures: finds the line of a prompt, or of a run's output, that states what failed."""

from __future__ import annotations

from mdmem.search.asking import prose

MAX_ERROR_CHARS = 300
"""Maximum length of a line that is returned."""


def error_line(prompt: str) -> str:
    """Return the line of a prompt that states an error, such as `TypeError: …` or `error[E0308]: …`; "" for none."""
    text = prompt if len(prompt) <= 8_000 else f"{prompt[:4_000]}\n{prompt[-4_000:]}"
    last_error = ""
    for line in text.splitlines():
        bare = line.strip()
        *names, rest = bare.split(":", MAX_COLONS)
        last_parts = [name.rpartition(" ")[2].rpartition(".")[2] for name in names]
        stated = any(last.endswith(_ERROR_ENDS) for last in last_parts) or bare.lower().startswith(_ERROR_STARTS)
        stated = stated or bool(names and _is_in_errors(names[0]))
        states = names and rest.strip() and stated
        is_code = not _ERRNO.isdisjoint(word.strip(",.;:()'\"") for word in bare.split())
        if states or (not last_error and (is_code or bare.lower().startswith(_OF_NPM))):
            last_error = bare[:MAX_ERROR_CHARS]
    return last_error


def without_modules(line: str) -> str:
    """Return an error's line without the modules of its names, which other errors share: `psycopg.OperationalError`."""
    return " ".join(map(_without_modules, line.split()))


def _without_modules(word: str) -> str:
    modules, _, last = word.rpartition(".")
    begin = len(modules) - len(modules.lstrip("(["))
    is_path = all(part.isidentifier() for part in modules[begin:].split("."))
    return modules[:begin] + last if last[:1].isupper() and is_path else word


_NO_ERRORS = frozenset(["error", "onerror"])
"""Functions and handlers: `console.error`, `window.onerror`."""


def _is_in_errors(name: str) -> bool:
    """Whether a name is that of an error by its module: `sqlalchemy.exc.NoResultFound`, `socket.gaierror`."""
    *modules, last = name.strip("( ").rpartition(" ")[2].split(".")
    if modules and last.isalpha() and last.endswith("error") and last not in _NO_ERRORS:
        return True
    return last[:1].isupper() and last.isalnum() and not _OF_ERRORS.isdisjoint(modules)


def message(prompt: str) -> str:
    """Return the last line that states a failure as programs do: `make: *** No rule to make target 'gen'`; "" for none.

    Such a line has code and mentions no person; the failure is at the start or after the name of what failed.
    """
    last_message = ""
    for line in prompt.splitlines() if len(prompt) <= MAX_MESSAGE_CHARS else ():
        raw_words = line.split()
        words = _plain_words(raw_words)
        first = next((at for at, word in enumerate(words) if word in _FAILURES), None)
        if len(words) < 3 or first is None:
            continue
        says_failed = words[first] in _STATED
        stated = (first <= 2 and says_failed) or any(word.endswith(":") for word in raw_words[:4])
        begins = raw_words[0][:1].isupper() and first < 2 and says_failed and len(words) > 3
        if stated and _PEOPLE.isdisjoint(words) and (begins or any(map(_is_code, raw_words))):
            last_message = line.strip()[:MAX_ERROR_CHARS]
        elif not _STATED.isdisjoint(words):
            sentences = (sentence for sentence, _ in prose.sentences(line))
            messages = (sentence.strip(" .!") for sentence in sentences if _is_message(sentence.split()))
            last_message = next(messages, last_message)
    return last_message


def _plain_words(raw_words: list[str]) -> list[str]:
    return [word.strip("'\"`.,:;!?()*").lower().replace("’", "'") for word in raw_words]


def _is_message(raw_words: list[str]) -> bool:
    """Whether a sentence ends in what a program could not do: `Host key verification failed.`"""
    words = _plain_words(raw_words)
    is_named = raw_words[0][:1].isupper() and words[0] not in _NOT_NAMED
    return len(words) > 2 and words[-1] in _STATED and is_named and (_PEOPLE | _CONDITIONS).isdisjoint(words)


_CONDITIONS = frozenset(["if", "unless", "because", "since", "until", "after", "before"])
_NOT_NAMED = frozenset(["the", "a", "an", "this", "that", "it", "all", "some", "every", "both"])


def _is_code(word: str) -> bool:
    """Whether a word has characters unusual in prose: `make:`, `(publickey)`, `'app'`, `0x2e8a:0xc`, `***`."""
    return not word.rstrip(",.!?;").replace("-", "").replace("'", "" if word[:1] != "'" else "'").isalnum()


MAX_MESSAGE_CHARS = 2_000
"""A longer prompt is a task with its material, or names its error."""
_STATED = frozenset(
    ["cannot", "can't", "could", "couldn't", "unable", "failed", "denied", "refused", "rejected", "fault", "panicked",
     "undefined", "undeclared", "aborted", "conflict", "violates"]
)  # fmt: skip
"""Words by which programs state a failure, but people rarely give an order."""
_FAILURES = _STATED | frozenset(
    ["error", "fail", "invalid", "missing", "unknown", "unexpected", "unsupported", "incompatible", "duplicate",
     "stopped", "exceeded", "overflowed", "timeout", "timed", "no", "not", "isn't", "doesn't"]
)  # fmt: skip
_PERSONAL = "i i'm i'd me my we our us you your please should would must want need let let's when do don't"
_PEOPLE = frozenset(_PERSONAL.split())


def failure(output: str) -> str:
    """Return the last line of two or more words in a failed run's output without an error line; "" for none."""
    lines = [line.strip() for line in output[-4_000:].splitlines() if len(line.split()) > 1]
    return lines[-1][:MAX_ERROR_CHARS] if lines else ""


MAX_COLONS = 3
"""Number of colons within which a line's error name is searched: `the same as last week: KeyError: 'id'`."""
_ERROR_ENDS = ("Error", "Exception", "Warning", "Fault", "panic", "Refused", "Interrupt")
_ERROR_STARTS = (
    "error[",
    "error:",
    "panic:",
    "fatal",
    "err!",
    "npm err!",
    "e  ",
    "uncaught",
    "called `result::",
    "called `option::",
)
_OF_ERRORS = frozenset(["errors", "exceptions", "exc", "error", "exception"])
"""Modules of errors whose own names may end otherwise: `psycopg.errors.ObjectInUse`."""
_OF_NPM = ("npm err!", "npm error")
"""What its lines begin with, of which the first tells the error's code."""
_ERRNO = frozenset(
    ["ECONNREFUSED", "ECONNRESET", "ENOENT", "EACCES", "EADDRINUSE", "ETIMEDOUT", "EPIPE", "EPERM", "ENOTFOUND"]
)
