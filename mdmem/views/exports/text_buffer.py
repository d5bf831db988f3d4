"""A temporary file for exported texts, which are read in one order and written in another."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any


class TextBuffer:
    """Numbered texts in a temporary file; use it in a `with` statement."""

    def __init__(self) -> None:
        self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `__exit__`
        self._ends = array("Q", [0])

    def __enter__(self) -> TextBuffer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError):  # what could not be written is not needed, and raised an error before
            self._file.close()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, data: bytes) -> int:
        """Append a text; return its number. Raises OSError that names the folder of temporary files."""
        with _naming_the_folder():
            self._file.seek(self._ends[-1])
            self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))
        return len(self) - 1

    def read(self, number: int) -> bytes:
        """Return a text. Raises OSError as `add` does: what was added last may only now be written."""
        with _naming_the_folder():
            self._file.seek(self._ends[number])
            found: bytes = self._file.read(self._ends[number + 1] - self._ends[number])
            return found


@contextmanager
def _naming_the_folder() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = tempfile.gettempdir()
        raise
