"""Withheld: what could not be cleaned: a scanner failed, a pattern of the user is slow, or there was no time left.

Such a text is replaced whole, so that neither the event is lost nor a part of the text stored unchecked. If it may hold
a private section, all of it counts as one, and is recognized when it comes back.
"""

from __future__ import annotations

from mdmem import launch
from mdmem.hook_errors import DeadlineError, PatternError
from mdmem.privacy import text
from mdmem.privacy.job import Cleaned, Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MARK = "[WITHHELD: not checked for private text]"
"""Replacement for a text that could not be cleaned."""

RULE = "not-checked"
"""The rule of its finding."""

_QUICK_CHARS = 1024
"""A text up to this length is still cleaned when the deadline has passed: that takes no time worth saving."""

_DEPTH = 64


def without_unchecked(value: Any, failed: Job, error: BaseException, fill: Callable[[Any, Job], None]) -> Job:
    """Clean a value again after `error`, and withhold the texts that fail again; return the job with the result.

    fill: cleans a value, as `failed` says.

    Raises:
        PatternError: `error`, or a pattern of the user takes too long, and the rules do not skip that.
        ImportError, SyntaxError: `error`, as an installer is replacing mdmem: the hook starts again with the new files.
    """
    _raise_pattern(error, failed)
    if isinstance(error, (ImportError, SyntaxError)) and launch.is_being_replaced():
        raise error
    job = _again(failed)
    if DeadlineError.has_passed or isinstance(error, DeadlineError):
        rest = _withhold_longer(value, _QUICK_CHARS, job, error, 0)
        if job.cleaned.private:  # a private section may go on in the short texts
            return _without_texts(value, failed, error)
        value = rest
    elif not isinstance(error, PatternError):
        launch.repair()  # a damaged bytecode file says nothing about the text
    try:
        fill(value, job)
    except (Exception, DeadlineError) as later:  # noqa: BLE001 - whatever failed, nothing of the value is known to be clean
        _raise_pattern(later, job)
        return _without_texts(value, failed, later)
    return job


def _raise_pattern(error: BaseException, job: Job) -> None:
    if isinstance(error, PatternError) and not job.rules.skips_slow:
        raise error


def _without_texts(value: Any, failed: Job, error: BaseException) -> Job:
    job = _again(failed)
    job.cleaned.value = _withhold_longer(value, 0, job, error, 0)
    job.cleaned.spans, job.cleaned.secrets = (*job.said, *job.spans), tuple(job.secrets)
    return job


def _again(failed: Job) -> Job:
    job = Job(Cleaned(), failed.rules, failed.origin, failed.echo)
    job.names, job.said, job.clean = failed.names, failed.said, _clean
    job.patience = 0.1 if DeadlineError.has_passed else 0.5
    return job


def _clean(value: str, job: Job) -> str:
    """Return a text cleaned, or MARK if that fails, or would take too long."""
    if value in ("", MARK):
        return value
    if DeadlineError.has_passed and len(value) > _QUICK_CHARS:
        return _withhold(value, job, DeadlineError())
    try:
        return text.clean(value, job)
    except (Exception, DeadlineError) as error:  # noqa: BLE001 - the text is withheld, whatever its scanners failed at
        _raise_pattern(error, job)
        job.patience /= 2  # a slow pattern may take its time once, not for each of many texts
        return _withhold(value, job, error)


def _withhold(value: str, job: Job, error: BaseException) -> str:
    if value == MARK:
        return value
    job.cleaned.failure = job.cleaned.failure or error
    job.history = [[(0, len(text.storable(value)), MARK, RULE)]]
    _count_private([value], job, error)
    if job.rules.secrets:
        job.secrets |= dict.fromkeys(_values_in(value, job))
    return MARK


def _count_private(texts: list[str], job: Job, error: BaseException) -> None:
    """Count the segments of one text as a private section, if any of them may hold a private tag."""
    try:
        is_private = any(text.may_hold_private(segment, job.rules) for segment in texts)
    except Exception:  # noqa: BLE001 - a check that fails excludes nothing
        is_private = True
    if is_private:
        job.cleaned.private += 1
        if isinstance(error, DeadlineError) and sum(map(len, (*job.spans, *texts))) > _MOST_SEARCHED:
            job.cleaned.unlearned = True
        else:
            job.spans.append("\n".join(texts))


def _values_in(value: str, job: Job) -> list[str]:
    """Return the words of a text that may be its passwords or keys, unless nothing in it hints at one."""
    value = value[:_MOST_SEARCHED]
    try:
        if text.is_plain(value, Job(Cleaned(), job.rules, job.origin, None)):
            return []
        from mdmem.privacy.secrets import repeated

        words = dict.fromkeys([*value.split(), *value.translate(_SIGNS).split()])
        return [word for word in words if not word.isalpha() and repeated.is_telling(word)][: repeated.MOST]
    except Exception:  # noqa: BLE001 - they are then recognized by their form alone
        return []


_MOST_SEARCHED = 64 * 1024
"""How much of withheld texts is searched for words to recognize again, in characters: there may be little time."""

_SIGNS = str.maketrans(dict.fromkeys("\"'`\\,;:=<>()[]{}|&@", " "))


def _segments(value: Any, depth: int) -> Iterator[str]:
    """Yield the strings of a list, which may be segments of one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list, tuple)) and depth <= _DEPTH:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _segments(item, depth + 1)


def _withhold_longer(value: Any, most: int, job: Job, error: BaseException, depth: int, *, listed: bool = False) -> Any:
    """Return a JSON value without its texts of more than `most` characters; without its numbers as well if that is 0.

    mdmem's own keys stay, and numbers below them.
    """
    if isinstance(value, str):
        return value if len(value) <= most else _withhold(value, job, error)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (dict, list, tuple)) and depth <= _DEPTH:
        if not isinstance(value, dict):
            segments = [] if listed else list(_segments(value, depth))
            if any(len(segment) > most for segment in segments):  # a section may go through one without a tag
                _count_private(segments, job, error)
            return [_withhold_longer(item, most, job, error, depth + 1, listed=True) for item in value]
        result: dict[Any, Any] = {}
        for key, item in value.items():
            is_own = key in job.names
            name = key if is_own else _withhold_longer(str(key), most, job, error, depth)
            while name in result:
                name = f"{name}+{len(result)}"
            is_number = is_own and isinstance(item, (int, float))
            result[name] = item if is_number else _withhold_longer(item, most, job, error, depth + 1, listed=listed)
        return result
    return value if most and isinstance(value, (int, float)) else MARK
