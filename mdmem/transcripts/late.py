"""Late: reads sessions' own transcripts in the background, for what hooks could not know.

That is missing answers, exit codes, interrupted runs and the answers of background sub-agents. They become notes or
complete existing ones, as in an import.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mdmem import log
from mdmem.capture.later import transcript_queue
from mdmem.capture.session import Session
from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.timestamps import epoch
from mdmem.transcripts import sources
from mdmem.transcripts.imported import ImportedFiles
from mdmem.transcripts.importer import Import
from mdmem.transcripts.saved import Source

if TYPE_CHECKING:
    from mdmem.history.deletions import Deletions

MAX_BYTES = 256 * 1024 * 1024
"""A longer transcript is left to `mdmem import`."""

_SETTLED_SECONDS = 0.5
_PATIENCE_SECONDS = 3.0
"""Maximum time to wait: an agent may write its transcript shortly after its hooks have run."""

_MARGIN_SECONDS = 5.0
_MAX_MARK_BYTES = 8192


class Mark(NamedTuple):
    """A session whose transcript is to be read. at: when its turn was over, in seconds since the epoch."""

    agent: str
    session: str
    path: Path
    at: float


def catch_up(config: Config, env: Mapping[str, str], deleted: Deletions | None = None) -> int:
    """Read the transcripts that hooks have marked; return how many notes are new or completed.

    deleted: notes and sessions that their owner has deleted; they stay away.
    """
    learned = 0
    for mark in _marks(config):
        try:
            learned += _read(config, mark, env, deleted)
        except (OSError, MdmemError) as error:
            log.write(config, "a session's transcript could not be read", error)
    return learned


def _read(config: Config, mark: Mark, env: Mapping[str, str], deleted: Deletions | None) -> int:
    source = next((source for source in sources.SOURCES if source.agent == mark.agent), None)
    transcript = _settled(source, mark) if source else None
    if transcript is None or transcript.size > MAX_BYTES:
        return 0
    run = Import(config, ImportedFiles(config), env, deleted=deleted)
    run.ended = mark.at
    run.since = _began(Session(config, mark.session)) - _MARGIN_SECONDS
    run.transcripts([transcript], time.time())
    return sum(run.tally.added.values()) + run.tally.completed


def _began(session: Session) -> float:
    """Return the time of a session's first event here; earlier ones are left to `mdmem import`."""
    stored = [epoch(line[2]) for line in session.published()[:1] if len(line) > 2]
    return session.began or next(iter(stored), 0.0) or time.time()


def _settled(source: Source, mark: Mark) -> sources.Transcript | None:
    """Return a transcript once it is no longer written to, waiting up to _PATIENCE_SECONDS; None if there is none.

    The transcript of a turn that was over long ago is only waited for while it is being written.
    """
    end = time.monotonic() + _PATIENCE_SECONDS
    is_old = time.time() - mark.at > _PATIENCE_SECONDS
    before: sources.Transcript | None = None
    while True:
        now = sources.transcript_of(source, mark.path)
        if is_old and (now is None or time.time() - now.changed_ns / 1e9 > _SETTLED_SECONDS):
            return now
        if (now is not None and now == before) or time.monotonic() > end:
            return now
        before = now
        time.sleep(_SETTLED_SECONDS)


def _marks(config: Config) -> Iterator[Mark]:
    """Yield the marks and remove them; each is taken by only one process."""
    folder = Path(transcript_queue.folder(config))
    for mark in sorted(folder.iterdir()) if folder.is_dir() else []:
        claimed = mark.with_name(f"{mark.name}.{os.getpid()}.taken")
        try:
            mark.rename(claimed)
            at = claimed.stat().st_mtime
            with claimed.open("rb") as file:
                lines = file.read(_MAX_MARK_BYTES).decode("utf-8", "replace").split("\n")
            claimed.unlink()
        except OSError:
            continue
        if len(lines) == 3 and Path(lines[2]).is_absolute():
            yield Mark(lines[0], lines[1], Path(lines[2]), at)
