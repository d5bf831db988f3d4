"""Whether events are stored: pauses, the last event of each agent, queued and lost notes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem import __version__, files, plural, project, timestamps
from mdmem.capture import losses, retry_queue
from mdmem.capture.hook import SEEN_BYTES
from mdmem.capture.later import failing
from mdmem.config import Config
from mdmem.vault import exclusions, journal, pauses
from mdmem.vault.pauses import Pause

if TYPE_CHECKING:
    from mdmem.agents.install.registration import Status


class LastEvent(NamedTuple):
    """The last event of an agent. when: seconds since the epoch. name: "" if unknown."""

    when: float
    name: str


def last_heard(config: Config) -> dict[str, LastEvent]:
    """Return the last event of each agent that has sent one, by agent name."""
    return _last_events(Path(config.state_dir, "seen"))


def last_heard_anywhere(config: Config, agent: str) -> float:
    """Return when an agent last sent an event to any vault of this user, in seconds since the epoch; 0 for never."""
    folders = Path(config.state_dir).parent.glob("*/seen")
    return max((events[agent].when for folder in folders if agent in (events := _last_events(folder))), default=0.0)


def _last_events(folder: Path) -> dict[str, LastEvent]:
    events: dict[str, LastEvent] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            text = files.read_any(str(path), SEEN_BYTES).decode("utf-8", "replace")
            when, _, name = text.partition(" ")
            events[path.name] = LastEvent(timestamps.seconds_of(when), name.rstrip())
        except (OSError, ValueError):
            continue
    return events


def registrations(config: Config) -> list[Status]:
    """Return how every agent is registered, and the problem if it stores nothing."""
    from mdmem.agents.install import registration  # not needed by the commands that only pause

    return registration.survey({agent: event.when for agent, event in last_heard(config).items()})


def paused(config: Config) -> str:
    """Return why nothing is stored, since when and until when; "" if storing is on."""
    if exclusions.is_disabled(os.environ):
        return "Storing is switched off: MDMEM_DISABLED is set."
    pause = pauses.pause_of(config)
    if pause is None:
        return ""
    return f"Storing has been paused {_span(pause)}. `{resume_command()}` resumes it."


def paused_sessions(config: Config) -> list[str]:
    """Return for each session that is paused on its own: since when and until when, and how to resume it."""
    notices = []
    for pause in pauses.of_sessions(config):
        name = f"Session {journal.session_tag(pause.session)}" if pause.session else "A session"
        notices.append(f"{name} has been paused {_span(pause)}. `{resume_command(pause.session or 'ID')}` resumes it.")
    return notices


def resume_command(session: str = "") -> str:
    """Return the command that ends a pause of all sessions or of one. session: its whole id, or ID."""
    name = journal.session_tag(session) if session != "ID" else session
    return f"mdmem resume --session {name}" if session else "mdmem resume"


def _span(pause: Pause) -> str:
    ends = f" until {timestamps.local_time(pause.ends)}" if pause.ends else ""
    return f"since {timestamps.local_time(pause.began)}{ends}"


def alarms(config: Config) -> list[str]:
    """Return the warnings for the user: queued or lost events, failing commits, and that nothing is stored."""
    texts = []
    waiting = len(retry_queue.waiting(config))
    if waiting:
        count = plural.number(waiting, "note")
        texts.append(f"{count} could not be stored and will be retried: `mdmem doctor` shows why.")
    lost = lost_events(config)
    if lost:
        last = timestamps.local_time(lost[-1]["time"])
        texts.append(f"{plural.number(len(lost), 'event')} lost, the last on {last}: `mdmem doctor` shows why.")
    texts += [f"{sentence[0].upper()}{sentence[1:]}" for sentence in failing.sentences(config, time.time())]
    return [*texts, *filter(None, (paused(config), unread_ignore_file()))]


def lost_events(config: Config) -> list[dict[str, Any]]:
    """Return the losses of the last days, as `losses.recent` does, with those in the launcher's logs."""
    from mdmem.agents.install import launcher

    return losses.recent(config, time.time(), also=[f"{launcher.path()}{log}" for log in launcher.LOSS_LOGS])


def outdated_watcher(status: dict[str, Any]) -> str:
    """Return that the watcher is another version than this one; "" if it is the same, or none is running.

    status: as `watcher.client.status` returns it.
    """
    from mdmem.search.index import contents

    if not status["running"] or status.get("index") == contents.STAMP:
        return ""
    version = status.get("version")
    which = f"mdmem {version}; this is {__version__}" if version != __version__ else f"another build of mdmem {version}"
    return f"The watcher is {which}."


def missing_watcher(config: Config, status: dict[str, Any]) -> str:
    """Return what commits and syncs cost in a large vault because no watcher is running; "" for any other vault.

    status: as `watcher.client.status` returns it.
    """
    from mdmem.search import index

    view = None if status["running"] else index.opened(config)
    if view is None or view.live < MANY_NOTES:
        return ""
    return (
        f"No watcher is running, so each commit and sync checks all {view.live:,} files for changes. With 100,000, that"
        " doubles its CPU time."
    )


MANY_NOTES = 50_000
"""Number of notes from which a watcher makes commits and syncs noticeably cheaper."""


def silent_watcher(status: dict[str, Any]) -> str:
    """Return that a watcher is running but does not answer, why, and what to do; "" if it answers, or none is running.

    status: as `watcher.client.status` returns it.
    """
    if not status.get("silent"):
        return ""
    if process := status.get("suspended"):
        return (
            f"The watcher does not answer: it is suspended (pid {process}). `kill -CONT {process}` continues it,"
            f" `kill -KILL {process}` ends it."
        )
    return (
        "A watcher is running but does not answer: it was suspended, or the machine is busy. `kill -CONT PID` continues"
        " a suspended one, `kill -KILL PID` ends it; `pgrep -f 'mdmem.*watch'` shows its PID."
    )


def unread_ignore_file() -> str:
    """Return why nothing of the project in the working folder is stored if its `.mdmemignore` cannot be read."""
    try:
        return exclusions.unread_ignore_file(project.identify(str(Path.cwd())).worktree)
    except FileNotFoundError:
        return ""  # the working folder was deleted
