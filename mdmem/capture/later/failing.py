"""Failing: since when each commit or sync has failed. Users are told, as they see no errors of background commands."""

from __future__ import annotations

import os
from contextlib import contextmanager

from mdmem import files, log, system, timestamps
from mdmem.capture.pending import FAILING_FILES
from mdmem.errors import LockedError, NotFoundError, UsageError
from mdmem.vault import projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config

LONG_SECONDS = 86_400.0
"""Each new session is told of failures over this time: a day without the machine is not one in which all failed."""

SHOWN_SECONDS = 7 * 86_400.0
"""How long after the last failure it is told: the command may not be used any longer."""

WAITED_SECONDS = 3_600.0
"""Failures to get the lock are told over this time: a first sync or a purge of a large vault keeps it for long."""

_SENTENCES = {
    "commit": "every commit of the vault has failed since {}; no note is lost. `mdmem commit` says why.",
    "sync": "every sync of the vault has failed since {}. `mdmem sync` says why.",
}
_MAX_BYTES = 64
_RUNS = "-running"
"""Suffix of the file that has the process id and start, in epoch seconds, of a command that runs, or was killed."""
_WAITED = b"waited"
"""What ends the record of a command that has failed only because other mdmem processes held the lock."""


@contextmanager
def recorded(config: Config, command: str, now: float) -> Iterator[None]:
    """Record when the `with` block of a commit or sync fails, and forget it when one succeeds.

    It also records that the run before was killed: agents end commands of hooks that take too long.
    """
    mark = f"{_path(config, command)}{_RUNS}"
    pid, _, began = files.try_read_own(mark, _MAX_BYTES).partition(b" ")
    if pid.isdigit() and began.isdigit() and not system.is_running(int(pid)):
        record(config, command, int(began), ChildProcessError("killed"))
    own = b"%d %d" % (os.getpid(), now)
    files.try_replace(mark, own)
    try:
        yield
    except (NotFoundError, UsageError):
        raise  # it was called wrongly
    except Exception as error:
        record(config, command, now, error)
        raise
    finally:
        if files.try_read_own(mark, _MAX_BYTES) == own:
            files.remove(mark)
    files.remove(_path(config, command))


def record(config: Config, command: str, now: float, error: Exception) -> None:
    """Record that a commit or sync has failed, also when it was killed and could not do so itself."""
    if not os.path.isdir(config.vault) or projects.is_emptied(config):
        return  # other messages tell
    first, _, has_only_waited = _since(config, command)
    is_new = not first or has_only_waited
    has_only_waited = is_new and isinstance(error, LockedError)
    if is_new and not has_only_waited:
        log.write(config, f"the {command} failed", error)
    first = min(first or int(now), int(now))  # the clock may have been wrong
    words = [b"%d" % first, b"%d" % now, *([_WAITED] if has_only_waited else [])]
    files.try_replace(_path(config, command), b" ".join(words))


def sentences(config: Config, now: float, least_seconds: float = 0.0) -> list[str]:
    """Return a sentence for each command whose first and last failure are `least_seconds` apart or more.

    It has no capital letter.
    """
    sentences = []
    for command, sentence in _SENTENCES.items():
        if command == "sync" and not config.settings.sync.every:
            continue  # a person runs it, and sees the error
        first, last, has_only_waited = _since(config, command)
        least = max(least_seconds, WAITED_SECONDS) if has_only_waited else least_seconds
        if first and last - first >= least and now - last < SHOWN_SECONDS:
            sentences.append(sentence.format(timestamps.local_time(first)))
    return sentences


def _since(config: Config, command: str) -> tuple[int, int, bool]:
    """Return when a command failed first and last since it succeeded, and whether it has only waited for the lock.

    The times are in epoch seconds; zeros if it did not fail.
    """
    words = files.try_read_own(_path(config, command), _MAX_BYTES).split()
    has_only_waited = words[2:] == [_WAITED]
    if len(words) != 2 + has_only_waited or not all(map(bytes.isdigit, words[:2])):
        return 0, 0, False
    return int(words[0]), int(words[1]), has_only_waited


def _path(config: Config, command: str) -> str:
    return os.path.join(config.state_dir, FAILING_FILES[command])
