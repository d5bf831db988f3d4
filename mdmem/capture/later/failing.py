"""Failing: since when each commit or sync has failed, for the user, as nobody sees a background command's error."""

from __future__ import annotations

import os
from contextlib import contextmanager

from mdmem import files, log, timestamps
from mdmem.capture.pending import FAILING_FILES
from mdmem.errors import NotFoundError, UsageError
from mdmem.vault import projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config

LONG_SECONDS = 86_400.0
"""Each new session is told of failures over this time: a day without the machine is not one in which all failed."""

SHOWN_SECONDS = 7 * 86_400.0
"""How long after the last failure it is told: the command may not be used any longer."""

_SENTENCES = {
    "commit": "every commit of the vault has failed since {}; no note is lost. `mdmem commit` says why.",
    "sync": "every sync of the vault has failed since {}. `mdmem sync` says why.",
}
_MAX_BYTES = 64


@contextmanager
def recorded(config: Config, command: str, now: float) -> Iterator[None]:
    """Record when the `with` block of a commit or sync fails, and forget it when one succeeds."""
    try:
        yield
    except (NotFoundError, UsageError):
        raise  # it was called wrongly
    except Exception as error:
        if os.path.isdir(config.vault) and not projects.is_emptied(config):  # else other messages tell
            first = _since(config, command)[0]
            if not first:
                log.write(config, f"the {command} failed", error)
            first = min(first or int(now), int(now))  # the clock may have been wrong
            files.try_replace(_path(config, command), f"{first} {int(now)}".encode())
        raise
    files.remove(_path(config, command))


def told(config: Config, now: float, least_seconds: float = 0.0) -> list[str]:
    """Return a sentence for each command whose first and last failure are `least_seconds` apart or more.

    It has no capital letter.
    """
    sentences = []
    for command, sentence in _SENTENCES.items():
        if command == "sync" and not config.settings.sync.every:
            continue  # a person runs it, and sees the error
        first, last = _since(config, command)
        if first and last - first >= least_seconds and now - last < SHOWN_SECONDS:
            sentences.append(sentence.format(timestamps.local_time(first)))
    return sentences


def _since(config: Config, command: str) -> tuple[int, int]:
    """Return when a command failed first and last since it succeeded (epoch seconds); zeros if it did not."""
    words = files.try_read_own(_path(config, command), _MAX_BYTES).split()
    return (int(words[0]), int(words[1])) if len(words) == 2 and all(map(bytes.isdigit, words)) else (0, 0)


def _path(config: Config, command: str) -> str:
    return os.path.join(config.state_dir, FAILING_FILES[command])
