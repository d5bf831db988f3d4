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
than 120 MB of memory. The last ones have about `LEAST` notes, the same number in each, and each process makes as many
of them, so that both finish at about the same time."""
_PART = "part-"


def cores() -> int:
    """Return the number of processes that can run in parallel."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def without_collections() -> Iterator[None]:
    """Disable garbage collection: it would visit every list that is built, and there are no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read(root: str, entries: Iterable[WalkedFile]) -> Iterator[Document | None]:
    """Yield the documents of files; None for a file that is gone or must not be read.

    A folder stays open while its files follow each other.
    """
    rules = privacy.Rules.of(config.load(root).settings)
    with ExitStack() as open_folders:
        open_path, open_folder = None, None
        for entry in entries:
            folder_path, _, name = entry.path.rpartition("/")
            if folder_path != open_path:
                open_folders.close()
                open_path, open_folder = folder_path, _open_folder(root, folder_path, open_folders)
            try:
                data = disk.read(open_folder, name) if open_folder else None
            except PermissionError:
                yield None
                continue
            if data is None:
                data = disk.readable(root, entry.path)
            mtime_ns = scan_record.reliable_mtime(entry.mtime_ns)
            yield None if data is None else document.build(root, entry, data, mtime_ns=mtime_ns, rules=rules)


def _open_folder(root: str, folder: str, open_folders: ExitStack) -> disk.Folder | None:
    try:
        return open_folders.enter_context(disk.open_folder(root, tuple(folder.split("/")) if folder else ()))
    except (FileNotFoundError, VaultError):
        return None  # its notes are packed or gone


class SecondProcess:
    """Splits files into chunks, some of which a second process indexes; use it in a `with` statement.

    Only for a caller that has locked the index.
    """

    def __init__(self, config: Config, files: Iterator[WalkedFile]) -> None:
        self.total = 0
        """Number of files; 0 while unknown."""
        self._processes = min(2, cores())
        self._most = MOST
        self._taken = 0
        self._files = files
        self._ahead: deque[WalkedFile] = deque()
        self._lock = threading.Lock()
        self._error: Exception | None = None
        self._segments: deque[Segment] = deque()
        self._config = config
        self._folder = os.path.join(config.index_dir, f"{_PART}{os.getpid()}")
        self._process: subprocess.Popen[bytes] | None = None
        self._feeder = threading.Thread(target=self._feed, daemon=True)

    def __enter__(self) -> SecondProcess:
        for name in os.listdir(self._config.index_dir):
            if name.startswith(_PART):  # left by a process that was killed
                shutil.rmtree(os.path.join(self._config.index_dir, name), ignore_errors=True)
        if self._processes > 1:
            os.mkdir(self._folder, 0o700)
            code = f"import sys; sys.path[:0] = {sys.path!r}; from mdmem.search.index import builder; builder.serve()"
            with suppress(OSError):  # if the system cannot start it, this process works alone
                self._process = subprocess.Popen(
                    [sys.executable, "-c", code],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=os.sep,  # nothing is imported from the user's working directory
                )
                self._feeder.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._feeder.join()
            for pipe in filter(None, (self._process.stdin, self._process.stdout)):
                with suppress(OSError):
                    pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def chunks(self) -> Iterator[Sequence[WalkedFile]]:
        """Yield this process's chunks and, when all work is done, an empty one.

        Raises:
            Exception: whatever the walk over the files raised.
        """
        while chunk := self._take(2 * self._processes * MOST):
            yield chunk
        if self._process is not None:
            self._feeder.join()
        while chunk := self._take(MOST):
            yield chunk
        if self._error is not None:
            raise self._error
        yield ()

    def _take(self, least: int) -> Sequence[WalkedFile]:
        """Return the next files, sorted by folder; both threads take from one walk.

        least: number of files to find first. The thread that feeds the other process asks for few, because each of its
        system calls would have to wait for the computing thread to release the interpreter lock.
        """
        with self._lock:
            if len(self._ahead) < least:
                self._look_ahead()
            chunk: list[WalkedFile] = []
            size = 0
            while self._ahead and len(chunk) < self._most and size < MOST_BYTES:
                chunk.append(self._ahead.popleft())
                size += min(chunk[-1].size, document.MAX_BODY_CHARS)
            self._taken += len(chunk)
            return sorted(chunk, key=lambda entry: entry.path.rpartition("/"))

    def _look_ahead(self) -> None:
        """Find files until there are enough for each process, or the walk ends; then divide the rest equally."""
        wanted = 2 * self._processes * MOST
        try:
            self._ahead.extend(islice(self._files, wanted - len(self._ahead)))
        except Exception as error:  # noqa: BLE001 - raised again in `chunks`
            self._error = error
        else:
            if len(self._ahead) < wanted and not self.total:
                self.total = self._taken + len(self._ahead)
                segments = self._processes * max(1, round(len(self._ahead) / (self._processes * LEAST)))
                self._most = min(MOST, -(-len(self._ahead) // segments))

    def finished(self) -> list[Segment]:
        """Return the segments that the other process has made since the last call, moved into the index's folder."""
        segments = []
        while self._segments:
            segment = self._segments.popleft()
            for extension in segment.files:
                name = segment.name + extension
                os.rename(os.path.join(self._folder, name), os.path.join(self._config.index_dir, name))
            segments.append(segment)
        return segments

    def _feed(self) -> None:
        """Pass chunks to the other process one by one; a chunk that it does not finish is put back."""
        assert self._process is not None
        assert self._process.stdout is not None
        chunk: Sequence[WalkedFile] = ()
        try:
            self._send((self._config.vault, self._folder))
            while chunk := self._take(MOST):
                self._send([(entry.path, entry.mtime_ns, entry.size, entry.inode) for entry in chunk])
                record = marshal.load(self._process.stdout)
                if record[1]:
                    self._segments.append(Segment(*record))
                chunk = ()
        except Exception:  # noqa: BLE001 - on any failure, such as lack of memory, no file may be lost
            with self._lock:
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
    vault, folder = marshal.load(source)
    with suppress(EOFError):
        while chunk := marshal.load(source):
            segment_writer = writer.Writer(writer.Index(folder, Contents(0, [])))
            with without_collections():
                for note in read(vault, (WalkedFile(*fields) for fields in chunk)):
                    if note is not None:
                        segment_writer.put(note)
                segment = segment_writer.segment()
            marshal.dump(segment.record(), out)
            out.flush()
