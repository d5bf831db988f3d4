"""Builder: builds a large part of an index with a second process. Both make whole segments; the first publishes them.

If the work is interrupted, published segments stay, and the next update adds what is missing.
"""

from __future__ import annotations

import gc
import marshal
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from mdmem import config, privacy
from mdmem.errors import VaultError
from mdmem.search.index import document, scan_record, writer
from mdmem.search.index.contents import Contents, Segment
from mdmem.vault import disk
from mdmem.vault.disk import WalkedFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mdmem.config import Config
    from mdmem.search.index.document import Document

LEAST, MOST = 2_500, 5_000
MOST_BYTES = 20 * 1024 * 1024
"""Number of notes per segment, and their maximum size: larger segments make searches a little faster, but take more
than 120 MB of memory. Towards the end segments get smaller, so that both processes finish at about the same time."""
_PART = "part-"


def cores() -> int:
    """Return the number of processes that can run in parallel."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def without_collections() -> Iterator[None]:
    """Disable garbage collection: it would visit every list that is built, and there are no cycles."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def read(root: str, entries: Iterable[WalkedFile]) -> Iterator[Document | None]:
    """Yield the documents of files; None for a file that is gone or must not be read.

    A folder stays open while its files follow each other.
    """
    rules = privacy.Rules.of(config.load(root).settings)
    with ExitStack() as kept:
        within, folder = None, None
        for entry in entries:
            above, _, name = entry.path.rpartition("/")
            if above != within:
                kept.close()
                within, folder = above, _opened(root, above, kept)
            try:
                data = disk.read(folder, name) if folder else None
            except PermissionError:
                yield None
                continue
            if data is None:
                data = disk.readable(root, entry.path)
            mtime_ns = -1 if scan_record.fresh(entry.mtime_ns, time.time_ns()) else entry.mtime_ns
            yield None if data is None else document.build(root, entry, data, mtime_ns=mtime_ns, rules=rules)


def _opened(root: str, folder: str, kept: ExitStack) -> disk.Folder | None:
    try:
        return kept.enter_context(disk.open_folder(root, tuple(folder.split("/")) if folder else ()))
    except (FileNotFoundError, VaultError):
        return None  # its notes are packed or gone


class SecondProcess:
    """Splits files into chunks, some of which a second process indexes; use it in a `with` statement.

    Only for a caller that has locked the index.
    """

    def __init__(self, config: Config, files: Iterator[WalkedFile]) -> None:
        self.total = 0
        """Number of files; 0 while unknown."""
        self._taken = 0
        self._files = files
        self._ahead: deque[WalkedFile] = deque()
        self._taking = threading.Lock()
        self._failed: Exception | None = None
        self._made: deque[Segment] = deque()
        self._config = config
        self._part = os.path.join(config.index_dir, f"{_PART}{os.getpid()}")
        self._process: subprocess.Popen[bytes] | None = None
        self._feeding = threading.Thread(target=self._feed, daemon=True)

    def __enter__(self) -> SecondProcess:
        for name in os.listdir(self._config.index_dir):
            if name.startswith(_PART):  # left by a process that was killed
                shutil.rmtree(os.path.join(self._config.index_dir, name), ignore_errors=True)
        if cores() > 1:
            os.mkdir(self._part, 0o700)
            code = f"import sys; sys.path[:0] = {sys.path!r}; from mdmem.search.index import builder; builder.serve()"
            with suppress(OSError):  # if the system cannot start it, this process works alone
                self._process = subprocess.Popen(
                    [sys.executable, "-c", code],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=os.sep,  # nothing is imported from the user's working directory
                )
                self._feeding.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._feeding.join()
            for pipe in filter(None, (self._process.stdin, self._process.stdout)):
                with suppress(OSError):
                    pipe.close()
        shutil.rmtree(self._part, ignore_errors=True)

    def chunks(self) -> Iterator[Sequence[WalkedFile]]:
        """Yield this process's chunks and, when all work is done, an empty one.

        Raises:
            Exception: whatever the walk over the files raised.
        """
        while chunk := self._take(2 * cores() * MOST):
            yield chunk
        if self._process is not None:
            self._feeding.join()
        while chunk := self._take(MOST):
            yield chunk
        if self._failed is not None:
            raise self._failed
        yield ()

    def _take(self, least: int) -> Sequence[WalkedFile]:
        """Return the next files, sorted by folder; both threads take from one walk.

        least: number of files to find first. The thread that feeds the other process asks for few, because each of its
        system calls would have to wait for the computing thread to release the interpreter lock.
        """
        with self._taking:
            if len(self._ahead) < least:
                self._look_ahead()
            most = min(MOST, max(LEAST, -(-len(self._ahead) // (2 * cores())))) if self.total else MOST
            chunk: list[WalkedFile] = []
            size = 0
            while self._ahead and len(chunk) < most and size < MOST_BYTES:
                chunk.append(self._ahead.popleft())
                size += min(chunk[-1].size, document.MAX_BODY_CHARS)
            self._taken += len(chunk)
            return sorted(chunk, key=lambda entry: entry.path.rpartition("/"))

    def _look_ahead(self) -> None:
        """Find files until there are enough for each process, or the walk ends."""
        wanted = 2 * cores() * MOST
        try:
            self._ahead.extend(islice(self._files, wanted - len(self._ahead)))
        except Exception as error:  # noqa: BLE001 - raised again in `chunks`
            self._failed = error
        else:
            if len(self._ahead) < wanted:
                self.total = self._taken + len(self._ahead)

    def finished(self) -> list[Segment]:
        """Return the segments that the other process has made since the last call, moved into the index's folder."""
        made = []
        while self._made:
            segment = self._made.popleft()
            for extension in segment.files:
                name = segment.name + extension
                os.rename(os.path.join(self._part, name), os.path.join(self._config.index_dir, name))
            made.append(segment)
        return made

    def _feed(self) -> None:
        """Pass chunks to the other process one by one; a chunk that it does not finish is put back."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        chunk: Sequence[WalkedFile] = ()
        try:
            self._send((self._config.vault, self._part))
            while chunk := self._take(MOST):
                self._send([(one.path, one.mtime_ns, one.size, one.inode) for one in chunk])
                record = marshal.load(self._process.stdout)
                if record[1]:
                    self._made.append(Segment(*record))
                chunk = ()
        except Exception:  # noqa: BLE001 - on any failure, such as lack of memory, no file may be lost
            with self._taking:
                self._taken -= len(chunk)
                self._ahead.extendleft(reversed(chunk))

    def _send(self, value: Any) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        marshal.dump(value, self._process.stdin)
        self._process.stdin.flush()


def serve() -> None:
    """Make segments from the chunks on stdin until it closes: the main loop of the second process."""
    source, out = sys.stdin.buffer, sys.stdout.buffer
    vault, part = marshal.load(source)
    while True:
        try:
            chunk = marshal.load(source)
        except EOFError:
            return
        made = writer.Writer(writer.Index(part, Contents(0, [])))
        with without_collections():
            for found in read(vault, (WalkedFile(*one) for one in chunk)):
                if found is not None:
                    made.put(found)
            segment = made.segment()
        marshal.dump(segment.record(), out)
        out.flush()
