"""Live updates: keep the index current, and notify every open page of changes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

from mdmem import log
from mdmem.capture import losses, retry_queue
from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.inject import injection_log
from mdmem.search import freshness, index
from mdmem.search.index import completion
from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.index.view import View
from mdmem.vault import note
from mdmem.views import injections, rows
from mdmem.watcher import events

AGAIN_SECONDS = 1.0
"""Seconds until failed indexing is tried again."""

END_SECONDS = 2.0
"""Seconds that the watching threads may take to end; after that, the process ends without them."""

STATE_SECONDS = 0.5
"""Seconds between checks of the state files that pages show: injections, queued and lost notes."""


class LiveEvent(NamedTuple):
    """Something changed. number: counts from 1. title: of the newest note, "" if no note was added."""

    number: int
    title: str


class Live:
    """The current vault, for pages. Whoever uses the index holds `lock`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.lock = threading.RLock()
        self.last = LiveEvent(0, "")
        self._dirty = events.Dirty(config.vault)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._view: View | None = None
        self._newest: tuple[int, dict[str, str]] = (0, {})
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Queue[LiveEvent]]] = set()

    def start(self) -> None:
        """Start watching the vault and the state folder."""
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._watch_vault, self._watch_state)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop watching; indexing in progress has `END_SECONDS` to finish."""
        self._stop.set()
        self._dirty.sweep()  # wakes the thread that waits for changes
        until = time.monotonic() + END_SECONDS
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0.0))

    def view(self) -> View:
        """Return the index, up to date; in memory only if another process is writing it.

        Raises BusyError when there is no index yet, because another process is building it.
        """
        with self.lock:
            paths = self._dirty.take_few()
            if paths and not self._index(paths):
                self._dirty.sweep()
            if index.opened(self.config) is None:  # the user has deleted it
                freshness.bring_up_to_date(self.config, most=freshness.MOST_AT_ONCE)
            view = freshness.ask(self.config, lambda view: view)
            self._tell(view)
            return (freshness.with_newest(self.config) if self._dirty.wait(0) else None) or view

    def catch_up(self) -> None:
        """Index what the system has not reported: not yet, as after an action, or not at all, as during sleep."""
        with self.lock:
            self._attempt(lambda: freshness.bring_up_to_date(self.config, most=freshness.MOST_AT_ONCE))
            self._tell_of_index()

    # -- watching ----------------------------------------------------------------------------------

    def _watch_vault(self) -> None:
        while not (self._stop.is_set() or self._attempt(self._follow_vault)):
            self._stop.wait(AGAIN_SECONDS)

    def _follow_vault(self) -> None:
        sweep = max(float(self.config.settings.watch.sweep_seconds), 1.0)
        for _ in events.settled(self._dirty, self._stop, sweep_seconds=sweep):
            if self._stop.is_set():
                return
            with self.lock:
                is_indexed = self._index(self._dirty.take())
                is_told = self._tell_of_index()
            if not (is_indexed and is_told) and not self._stop.wait(AGAIN_SECONDS):
                self._dirty.sweep()

    def _index(self, paths: set[str] | None) -> bool:
        """Index these paths, or the whole vault for None; return False if it has to be tried again."""
        if completion.is_running(self.config):
            return False
        return self._attempt(lambda: index.update_in_process(self.config, paths=paths, wait_seconds=1.0))

    def _tell_of_index(self) -> bool:
        def report() -> None:
            view = freshness.answered(self.config, lambda view: view)
            if view is not None:
                self._tell(view)

        return self._attempt(report)

    def _attempt(self, work: Callable[[], object]) -> bool:
        """Do something with the index; return False if that failed, so that watching goes on."""
        try:
            work()
        except BusyError:
            return False
        except Exception as error:  # noqa: BLE001 - without its thread, no page would change any more
            log.write(self.config, "the pages could not bring the index up to date", error)
            return False
        return True

    def _tell(self, view: View) -> None:
        """Notify every page if the index has changed."""
        if view is self._view:
            return
        before, now = self._newest, _newest(view)
        first, self._view, self._newest = self._view is None, view, now
        if not first:
            self._publish(_last_arrived(before, now))

    def _watch_state(self) -> None:
        before = self._state()
        while not self._stop.wait(STATE_SECONDS):
            now = self._state()
            if now != before:
                before = now
                self._publish("")

    def _state(self) -> list[tuple[int, int, int]]:
        folder = Path(self.config.state_dir)
        watched = (folder / injection_log.LOG, folder / losses.FILE, retry_queue.folder(self.config))
        return [injections.stamp(str(path)) for path in watched]

    # -- telling -----------------------------------------------------------------------------------

    def _publish(self, title: str) -> None:
        with self.lock:  # two events with one number would be one event for a page that missed the first
            self.last = LiveEvent(self.last.number + 1, title)
            for loop, queue in tuple(self._listeners):
                loop.call_soon_threadsafe(queue.put_nowait, self.last)

    @contextmanager
    def listening(self) -> Iterator[asyncio.Queue[LiveEvent]]:
        """Subscribe to every event from now on, in the caller's event loop."""
        listener = (asyncio.get_running_loop(), asyncio.Queue[LiveEvent]())
        self._listeners.add(listener)
        try:
            yield listener[1]
        finally:
            self._listeners.discard(listener)


def _last_arrived(before: tuple[int, dict[str, str]], now: tuple[int, dict[str, str]]) -> str:
    """Return the title of the last note that is new among the newest, "" for none. before, now: as from `_newest`."""
    if now[0] < before[0]:
        return ""
    known_paths = before[1] if now[0] == before[0] else {}
    return next((title for path, title in reversed(now[1].items()) if path not in known_paths), "")


def _newest(view: View) -> tuple[int, dict[str, str]]:
    """Return the second in which the newest notes were created, and their titles by path.

    A note dated in the future, by a wrong clock, does not count until then.
    """
    created, flags, now = view.numbers("created"), view.numbers("flags"), time.time()
    pages = {KINDS.index(kind) for kind in note.PAGES}

    def newest() -> Iterator[int]:
        return (one for one in view.newest() if one not in view.internal and flags[one] // KIND_STEP not in pages)

    first = next((one for one in newest() if created[one] <= now), next(newest(), None))
    if first is None:
        return 0, {}
    last = created[first]
    same = takewhile(lambda one: created[one] == last, dropwhile(lambda one: created[one] > last, newest()))
    return last, {view.path(one): rows.row(view, one).title for one in rows.in_order(view, same)}
