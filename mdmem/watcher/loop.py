"""The watcher at work: the index kept current, questions answered from it, commits and syncs started in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import __version__, config, log, system
from mdmem.errors import BusyError
from mdmem.search import freshness, index
from mdmem.timestamps import iso_time
from mdmem.watcher import answer, events, followed, stillness, warm_search

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.watcher.answer import Answer

BATCH_SECONDS = 0.5
"""What takes longer to index is left to a process of its own, which gives its memory back when it ends."""

WAIT_SECONDS = 0.2
"""How long a question waits for others, and for the index; who asked can do without us."""

LOCK_SECONDS = 5.0
"""How long another writer of the index is waited for when nobody asks."""

TICK_SECONDS = 10.0
PATIENCE_SECONDS = {"index": 3600.0, "commit": 300.0, "sync": 900.0}
"""What takes longer is stuck: it is ended, and tried again when it is due."""

MAX_PAUSE_SECONDS = 60.0
"""How long is waited after failures to index, at most."""


class Watcher:
    """The one watcher of a vault."""

    def __init__(self, settings: Config, answers: Mapping[str, Answer]) -> None:
        """answers: what is asked -> how it is answered, beside searches: injection lies above the watcher."""
        self.config = settings
        self._more = answers
        self.stop = threading.Event()
        self.dirty = events.Dirty(settings.vault)
        self.started = time.time()
        self.batches = 0
        self.indexed = 0
        self.answered = 0
        self.last_change = 0.0
        self.last_sync = 0.0
        self.sync_failed = False
        self._failures = 0
        self._is_current = False
        self._is_local = stillness.is_local(Path(settings.vault))
        self._alone = threading.RLock()  # the index and the rules of recall are used by one thread at a time

    def run(self) -> None:
        """Work until `end` is called. Only for who holds the watcher's lock."""
        root = self.config.vault
        answers: dict[str, Answer] = {
            "status": lambda *_: json.dumps(self.status()).encode(),
            "stop": lambda *_: self._ask_to_stop(),
            "touched": lambda words, *_: None if self.dirty.unwatched else self.dirty.touched.answer(root, words),
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
                    self.stop.wait(min(2.0**self._failures / 2, MAX_PAUSE_SECONDS))
            keeper.join(timeout=5)
        freshness.followers.pop(self.config.index_dir, None)

    def status(self) -> dict[str, object]:
        """Return how it is."""
        return {
            "running": True,
            "pid": os.getpid(),
            "version": __version__,
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

    def end(self) -> None:
        """Stop working, soon."""
        self.stop.set()
        self.dirty.sweep()  # wakes who waits for something to happen

    def _ask_to_stop(self) -> bytes:
        self.end()
        return b"stopping"

    # -- the index ---------------------------------------------------------------------------------

    def _index_batch(self) -> bool:
        """Index what is dirty; False when that failed, and all is to be looked at again."""
        with self._alone:
            paths = self.dirty.take()
            done = self._index(paths, BATCH_SECONDS, LOCK_SECONDS)
        if paths is None and not done:
            self.dirty.touched.begin()  # not every file was met
        if done is None:  # a process that looks at every file: what happens from now on is dirty, and nothing else
            done = self._is_current = self._finished(["index"])
            self.last_change = time.time()
        if not done:
            self.dirty.sweep()
        self._failures = 0 if done else self._failures + 1
        return done

    def _index(self, paths: Iterable[str] | None, budget_seconds: float, wait_seconds: float) -> bool | None:
        """Index these paths, or the whole vault; None when the budget was not enough, False when it failed."""
        limits = index.UpdateLimits(wait_seconds, time.monotonic() + budget_seconds, met=self.dirty.touched.met)
        try:
            changes = index.update_within(self.config, limits, paths)
        except Exception as error:  # noqa: BLE001 - the watcher outlives whatever one batch meets
            self._is_current = False
            if not self._failures and not isinstance(error, BusyError):
                log.write(self.config, "a batch of changes could not be indexed", error)
            return False
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

    # -- answers -----------------------------------------------------------------------------------

    def _answer(self, answer: Answer, words: list[str], env: dict[str, str], body: bytes) -> bytes | None:
        """Answer from an index that has all that was seen to happen; decline when that cannot be had at once."""
        if not self._alone.acquire(timeout=WAIT_SECONDS):
            return None
        try:
            given = answer(words, env, body) if self._has_taken_in() else None
            self.answered += given is not None
            return given
        finally:
            self._alone.release()

    def _knows_all(self) -> bool:
        """Whether the index has every change so far, those in place included; asked while a question is answered."""
        is_told = self._is_local and not self.dirty.unwatched and self.dirty.touched.is_heard(self.config.vault)
        return is_told and self._has_taken_in()

    def _has_taken_in(self) -> bool:
        paths = self.dirty.take_few() if self._is_current else None
        if paths is None:
            return False
        if paths and not self._index(paths, BATCH_SECONDS, WAIT_SECONDS):
            self.dirty.sweep()
            return False
        return True

    # -- commits and syncs -------------------------------------------------------------------------

    def _keep(self) -> None:
        """Commit after a quiet time and sync when it is due, in processes of their own, as the settings say now."""
        committed = 0.0
        tick = 0.0
        seen = followed.look(self.config)
        while not self.stop.wait(tick):
            settings = config.load(self.config.vault).settings
            quiet, every = settings.watch.commit_after_seconds, settings.sync.every * 60
            now = time.time()
            if quiet and committed < self.last_change <= now - quiet:
                committed = self.last_change
                self._finished(["commit", "--quiet"])
            if settings.capture.host_memory and (facts := followed.look(self.config)) != seen:
                seen = facts
                self._finished(["commit", "--quiet"])  # which takes them in
            if every and now - self.last_sync >= every:
                self._sync()
            tick = min(quiet or TICK_SECONDS, TICK_SECONDS)

    def _sync(self) -> None:
        self.last_sync = time.time()
        failed = not self._finished(["sync"])
        if failed and not self.sync_failed:
            log.write(self.config, "the watcher's sync failed; run `mdmem sync` to see why")
        self.sync_failed = failed

    def _finished(self, words: list[str]) -> bool:
        """Run a command of mdmem in a process of its own, whose memory goes with it; return whether it ended well.

        It is ended with the watcher: each of them can be, at any point.
        """
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "mdmem", "--vault", self.config.vault, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                **system.detached(),
            )
        except OSError as error:  # the system has no room for one now
            log.write(self.config, f"`mdmem {words[0]}` could not be started", error)
            return False
        deadline = time.monotonic() + PATIENCE_SECONDS[words[0]]
        while process.poll() is None:
            if self.stop.wait(0.1) or time.monotonic() > deadline:
                system.end_group(process)
                process.wait()
        return process.returncode == 0
