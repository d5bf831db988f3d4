"""Check what could not be stored: queued notes, lost events, and what the log says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mdmem import launch, plural, timestamps
from mdmem.agents.install import missing_program
from mdmem.capture import feedback, losses, queued, retry_queue
from mdmem.capture.pending import LOST_PRIVATE, UNSEEN
from mdmem.config import Config
from mdmem.health import HealthFinding, error, fine, note, warning
from mdmem.views import storing, wording

LOG_DAYS = 7
LOSSES_SHOWN = 5


def waiting(config: Config) -> Iterator[HealthFinding]:
    """Find notes that could not be stored."""
    names = retry_queue.waiting(config)
    if names:
        text = f"{plural.number(len(names), 'note')} could not be stored; queued in {retry_queue.folder(config)}."
        yield warning(text, "`mdmem index` writes them, or says why it cannot.", partial(write_queued, config))
    damaged = list(Path(retry_queue.folder(config)).glob("*.damaged"))
    if damaged:
        text = f"{plural.number(len(damaged), 'queued note')} cannot be read, and is lost: {damaged[0]}."
        yield warning(text, "Inspect it, then delete it.")


def write_queued(config: Config) -> None:
    """Write the queued notes; raise OSError when some cannot be written."""
    result = queued.flush(config)
    waiting = len(retry_queue.waiting(config))
    if waiting:
        raise OSError(f"{plural.number(waiting, 'note')} still could not be stored: {wording.cause(result.problem)}")


_CAUSES = {
    **feedback.UNREAD,
    losses.DISK_FULL: "the disk had no room for the cause",
    losses.DAMAGED: "its file in the retry queue cannot be read",
    missing_program.GONE: "mdmem was gone; events before it may be lost too",
    launch.FAILED: "mdmem could not start, was killed, or did not answer",
}


_AGENTS = {losses.UNKNOWN: "an agent"}


def lost(config: Config) -> Iterator[HealthFinding]:
    """Find lost events, which neither the vault nor the retry queue could store."""
    lost_events = storing.lost_events(config)
    for row in lost_events[-LOSSES_SHOWN:]:
        when = timestamps.local_time(row["time"])
        why = _CAUSES.get(row["why"], row["why"])
        is_whole = row["why"] in (UNSEEN, missing_program.GONE, launch.FAILED, *feedback.UNREAD)  # in the transcript
        todo = "`mdmem import` may find it" if is_whole else "`mdmem doctor --only log` may say why"
        yield error(
            f"An event of {_AGENTS.get(row['agent'], row['agent'])} was lost at {when}: {row['event']} ({why}).",
            f"{todo}; this is shown for {losses.DAYS} days.",
        )
    if len(lost_events) > LOSSES_SHOWN:
        more = plural.number(len(lost_events) - LOSSES_SHOWN, "more event was", "more events were")
        yield error(f"{more} lost in the last {losses.DAYS} days.", "See above.")
    forgotten = list(Path(config.state_dir, "sessions").glob(f"*.{LOST_PRIVATE}"))
    if forgotten:
        text = f"What is private in {plural.number(len(forgotten), 'session')} can no longer be recognized, so nothing"
        why = f"It was deleted, damaged or kept by version 0.1 in {config.state_dir}, or was too much to remember."
        yield error(f"{text} more of it is stored.", f"{why} Start a new session.")
    if not lost_events and not forgotten:
        yield fine(f"no event was lost in the last {losses.DAYS} days")


def log(config: Config) -> Iterator[HealthFinding]:
    """Check the log for recent problems."""
    path = Path(config.state_dir) / "log"
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    since = timestamps.iso_time(time.time() - LOG_DAYS * 86_400)
    recent = [line for line in lines if line[:1].isdigit() and line >= since]
    if not recent:
        yield fine(f"nothing went wrong in the last {LOG_DAYS} days")
        return
    text = f"{plural.number(len(recent), 'line')} in the log since {wording.day(since)}, the last: {recent[-1]}"
    yield note(text, f"See {path}.")
