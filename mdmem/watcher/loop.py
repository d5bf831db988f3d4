"""The watcher's loop: keeps the index current, answers from it, and starts commits and syncs."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from mdmem import __version__, config, log
from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.search import freshness, index
from mdmem.search.index import contents
from mdmem.system import child_process
from mdmem.timestamps import iso_time
from mdmem.watcher import answer, client, events, file_system, followed, warm_search
from mdmem.watcher.answer import Responder

BATCH_SECONDS = 0.5
"""Longer indexing is left to a child process, which returns its memory when it ends."""

WAIT_SECONDS = 0.2
"""How long a request waits for other requests and for the index; clients can search without us."""

LOCK_SECONDS = 5.0
"""How long to wait for another writer of the index while nobody waits for an answer."""

TICK_SECONDS = 10.0
PATIENCE_SECONDS = {"index": 3600.0, "commit": 300.0, "sync": 900.0}
"""Timeouts of child processes. A stuck one is killed and run again when it is due."""

MAX_PAUSE_SECONDS = 60.0
"""Longest pause after failures to index."""

OTHER_VERSION = "another version of mdmem uses the index"
"""Why a watcher ends: otherwise the two versions would rebuild the index in turn."""


def pause(failures: int) -> float:
    """Return how many seconds to wait after so many failures in a row."""
    return min(2.0 ** min(failures, 10) / 2, MAX_PAUSE_SECONDS)  # 2.0 to a high power overflows


def has_passed(seconds: float, since: float) -> bool:
    """Whether so many seconds have passed since a moment, or the moment is in the future.

    In the latter case the clock was set back, and waiting for that moment could take a day.
    """
    return not 0 <= time.time() - since < seconds


class Watcher:
    """The one watcher of a vault."""

    def __init__(
        self,
        config: Config,
        answers: Mapping[str, Responder],
        restart_reason: Callable[[], str] = lambda: "",
        record: Callable[[str, Exception], None] = lambda *_: None,
    ) -> None:
        """answers: request -> handler, besides searches; injection is in a layer above and passes its own.

        restart_reason: returns why the watcher must be restarted, which ends it; "" while it need not be.
        record: is called with the name of a command that could not be started or was killed, and the reason: such a
        command cannot record its failure itself.
        """
        self.config = config
        self.ended_by = ""
        self._restart_reason, self._record = restart_reason, record
        self._more = answers
        self.stop = threading.Event()
        self.dirty = events.Dirty(config.vault)
        self.started = time.time()
        self.batches = 0
        self.indexed = 0
        self.answered = 0
        self.last_change = 0.0
        self.last_sync = 0.0
        self.sync_failed = False
        self._failures = 0
        self._unread: dict[str, int] = {}  # path -> how often in a row it could not be read
        self._awaited: set[str] = set()  # paths that are read again after a pause
        self._is_current = False
        self._is_local = file_system.is_local(Path(config.vault))
        self._index_lock = threading.RLock()  # one thread at a time uses the index and the rules of recall

    def run(self) -> None:
        """Run until `end` is called. The caller must hold the watcher's lock."""
        root = self.config.vault
        answers: dict[str, Responder] = {
            "status": lambda *_: json.dumps(self.status()).encode(),
            "stop": lambda *_: self._ask_to_stop(),
            "touched": lambda words, *_: None if self.dirty.unwatched else self.dirty.touched.answer(root, words),
            client.INDEXED: partial(self._answer, lambda *_: b"" if freshness.is_followed(self.config) else None),
            "search": partial(self._answer, partial(warm_search.answer, self.config)),
            **{name: partial(self._answer, answer) for name, answer in self._more.items()},
        }
        sweep = float(self.config.settings.watch.sweep_seconds)
        freshness.followers[self.config.index_dir] = self._knows_all
        with answer.serving(self.config, answers):
            keeper = threading.Thread(target=self._keep, daemon=True)
            keeper.start()
            for _ in events.settled(self.dirty, self.stop, sweep_seconds=max(sweep, 1.0), by_turns=True):
                if not self._index_batch():
                    self.stop.wait(pause(self._failures))
            keeper.join(timeout=5)
        freshness.followers.pop(self.config.index_dir, None)

    def status(self) -> dict[str, object]:
        """Return the status as JSON values."""
        return {
            "running": True,
            "pid": os.getpid(),
            "version": __version__,
            "index": contents.STAMP,
            "vault": self.config.vault,
            "since": iso_time(self.started),
            "current": self._is_current and not self.dirty.count(),
            "batches": self.batches,
            "indexed": self.indexed,
            "answered": self.answered,
            "synced": iso_time(self.last_sync) if self.last_sync else "",
            "sync_failed": self.sync_failed,
            "polling": self.dirty.unwatched,
        }

    def end(self, reason: str = "") -> None:
        """Stop soon. reason: stored in `ended_by`; "" when the watcher is told to stop, also after another reason."""
        if not reason or not self.stop.is_set():
            self.ended_by = reason
        self.stop.set()
        self.dirty.sweep()  # wakes the loop

    def _ask_to_stop(self) -> bytes:
        self.end()
        return b"stopping"

    # -- the index ---------------------------------------------------------------------------------

    def _index_batch(self) -> bool:
        """Index the dirty paths; False when that failed and the whole vault is dirty again."""
        with self._index_lock:
            paths = self.dirty.take()
            is_indexed = self._index(paths, BATCH_SECONDS, LOCK_SECONDS)
        if paths is None and not is_indexed:
            self.dirty.touched.begin()  # some files were not visited
        if is_indexed is None:  # leave it to a process that reads every file; only later changes are dirty
            is_indexed = self._is_current = self._finished(["index"])
            self.last_change = time.time()
        if not is_indexed:
            self.dirty.sweep()
        self._failures = 0 if is_indexed else self._failures + 1
        return is_indexed

    def _index(self, paths: Iterable[str] | None, budget_seconds: float, wait_seconds: float) -> bool | None:
        """Index these paths, or the whole vault; None when the budget was exceeded, False on failure."""
        unread: list[str] = []
        deadline = time.monotonic() + budget_seconds
        limits = index.UpdateLimits(wait_seconds, deadline, met=self.dirty.touched.met, unread=unread.append)
        try:
            changes = index.update_within(self.config, limits, paths)
        except Exception as error:  # noqa: BLE001 - no batch may end the watcher
            self._is_current = False
            if isinstance(error, index.OtherVersionError):
                self.end(OTHER_VERSION)
            elif not self._failures and not isinstance(error, BusyError):
                log.write(self.config, "a batch of changes could not be indexed", error)
            return False
        self._read_later(unread)
        self.batches += 1
        count = changes.added + changes.changed + changes.removed
        if count:
            self.indexed += count
            self.last_change = time.time()
        if not changes.complete:
            self._is_current = False
            return None
        self._is_current = self._is_current or paths is None
        return True

    def _read_later(self, unread: list[str]) -> None:
        """Index files that could not be read again after a pause: the cause may be temporary.

        The pause grows while a file stays unreadable. Each file has at most one retry pending.
        """
        paths = [path for path in unread if path not in self._awaited][: events.FEW - len(self._awaited)]
        awaited = {path: failures for path, failures in self._unread.items() if path in self._awaited}
        self._unread = awaited | {path: self._unread.get(path, 0) + 1 for path in paths}
        if paths:
            self._awaited.update(paths)
            timer = threading.Timer(pause(max(self._unread[path] for path in paths)), self._read_again, [paths])
            timer.daemon = True
            timer.start()

    def _read_again(self, paths: list[str]) -> None:
        self._awaited.difference_update(paths)
        self.dirty.mark(paths)

    # -- answers -----------------------------------------------------------------------------------

    def _answer(self, answer: Responder, words: list[str], env: dict[str, str], body: bytes) -> bytes | None:
        """Answer from an index that includes all events so far; decline when that takes too long."""
        if not self._index_lock.acquire(timeout=WAIT_SECONDS):
            return None
        try:
            result = answer(words, env, body) if self._index_pending() else None
            self.answered += result is not None
            return result
        finally:
            self._index_lock.release()

    def _knows_all(self) -> bool:
        """Whether the index has every change so far, including those in place. Called while answering."""
        is_reliable = self._is_local and not self.dirty.unwatched
        is_reliable = is_reliable and self.dirty.is_in_place()
        return is_reliable and self.dirty.touched.has_all_events(self.config.vault) and self._index_pending()

    def _index_pending(self) -> bool:
        """Index the few paths that are dirty; False if the index cannot be made complete while somebody waits."""
        paths = self.dirty.take_few() if self._is_current else None
        if paths is None:
            return False
        if paths and not self._index(paths, BATCH_SECONDS, WAIT_SECONDS):
            self.dirty.sweep()
            return False
        return True

    # -- commits and syncs -------------------------------------------------------------------------

    def _keep(self) -> None:
        """Commit after a quiet time and sync when due, in child processes, by the current settings."""
        committed = 0.0
        tick = 0.0
        last_facts = followed.stats(self.config)
        while not self.stop.wait(tick):
            if reason := self._restart_reason():
                log.write(self.config, f"{reason}: the watcher restarts")
                self.end(reason)
                return
            settings = config.load(self.config.vault).settings
            quiet, every = settings.watch.commit_after_seconds, settings.sync.every * 60
            if quiet and committed != self.last_change and has_passed(quiet, self.last_change):
                committed = self.last_change
                self._finished(["commit", "--quiet"])
            if settings.capture.host_memory and (facts := followed.stats(self.config)) != last_facts:
                last_facts = facts
                self._finished(["commit", "--quiet"])  # a commit copies followed files
            if every and has_passed(every, self.last_sync):
                self._sync()
            tick = min(quiet or TICK_SECONDS, TICK_SECONDS)

    def _sync(self) -> None:
        self.last_sync = time.time()
        failed = not self._finished(["sync"])
        if failed and not self.sync_failed:
            log.write(self.config, "the watcher's sync failed; run `mdmem sync` to see why")
        self.sync_failed = failed

    def _finished(self, words: list[str]) -> bool:
        """Run an mdmem command in a child process, which returns its memory; return whether it succeeded.

        It is killed when the watcher stops: each of these commands may be interrupted at any point.
        """
        name = words[0]
        try:
            process = child_process.start_command(self.config.vault, *words)
        except OSError as error:  # the system is out of resources
            log.write(self.config, f"`mdmem {name}` could not be started", error)
            self._record(name, error)
            return False
        deadline, is_overdue = time.monotonic() + PATIENCE_SECONDS[name], False
        while process.poll() is None:
            is_overdue = time.monotonic() > deadline
            if self.stop.wait(0.1) or is_overdue:
                child_process.end(process)
                process.wait()
        if self.stop.is_set():
            return process.returncode == 0
        if is_overdue:
            log.write(self.config, f"`mdmem {name}` was ended, as it took over {PATIENCE_SECONDS[name] / 60:g} minutes")
        if is_overdue or not 0 <= process.returncode < 128:  # the latter is a signal
            self._record(name, TimeoutError() if is_overdue else ChildProcessError())
        return process.returncode == 0
