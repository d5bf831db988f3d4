"""Withheld: what could not be cleaned, because of a fault in a scanner or because there was no time left.

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
    from collections.abc import Callable
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
        PatternError: `error`, or a pattern of the user takes too long: the user is told which.
    """
    if isinstance(error, PatternError):
        raise error
    job = _again(failed)
    if isinstance(error, DeadlineError):
        rest = _withhold_longer(value, _QUICK_CHARS, job, error, 0)
        if job.spans:  # a private section may go on in the short texts
            job = _again(failed)
            rest = _withhold_longer(value, 0, job, error, 0)
        value = rest
    else:
        launch.repair()  # a damaged bytecode file is no fault of the text
    try:
        fill(value, job)
    except PatternError:
        raise
    except (Exception, DeadlineError) as later:  # noqa: BLE001 - whatever failed, nothing of the value is known to be clean
        job = _again(failed)
        job.cleaned.value = _withhold_longer(value, 0, job, later, 0)
        job.cleaned.spans = (*job.said, *job.spans)
    return job


def _again(failed: Job) -> Job:
    job = Job(Cleaned(), failed.rules, failed.origin, failed.echo)
    job.names, job.said, job.clean = failed.names, failed.said, _clean
    return job


def _clean(value: str, job: Job) -> str:
    """Return a text cleaned, or MARK if that fails."""
    if value == MARK:
        return value
    try:
        return text.clean(value, job)
    except PatternError:
        raise
    except (Exception, DeadlineError) as error:  # noqa: BLE001 - the text is withheld, whatever its scanners failed at
        return _withhold(value, job, error)


def _withhold(value: str, job: Job, error: BaseException) -> str:
    if value == MARK:
        return value
    job.cleaned.failure = job.cleaned.failure or error
    job.history = [[(0, len(text.storable(value)), MARK, RULE)]]
    if _may_hold_private(value, job):
        job.spans.append(value)
        job.cleaned.private += 1
    return MARK


def _may_hold_private(value: str, job: Job) -> bool:
    try:
        return text.may_hold_private(value, job.rules)
    except Exception:  # noqa: BLE001 - a check that fails excludes nothing
        return True


def _withhold_longer(value: Any, most: int, job: Job, error: BaseException, depth: int) -> Any:
    """Return a JSON value without its texts of more than `most` characters; without its numbers as well if that is 0.

    mdmem's own keys stay, and numbers below them.
    """
    if isinstance(value, str):
        return value if len(value) <= most else _withhold(value, job, error)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (dict, list, tuple)) and depth <= _DEPTH:
        if not isinstance(value, dict):
            return [_withhold_longer(item, most, job, error, depth + 1) for item in value]
        result: dict[Any, Any] = {}
        for key, item in value.items():
            is_own = key in job.names
            name = key if is_own else _withhold_longer(str(key), most, job, error, depth)
            while name in result:
                name = f"{name}+{len(result)}"
            is_number = is_own and isinstance(item, (int, float))
            result[name] = item if is_number else _withhold_longer(item, most, job, error, depth + 1)
        return result
    return value if most and isinstance(value, (int, float)) else MARK
