"""Regular expressions that are compiled when they are first used, if possible from code kept by `mdmem.bytecode`.

A command uses few of the patterns of the modules that it loads. Importing `re` takes as long as starting Python, and
compiling the patterns for a question about a day five times as long; kept code needs neither.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

    lazy = re.compile
else:

    class lazy:  # noqa: N801 - in place of `re.compile`
        """A pattern with the methods of `re.Pattern`; functions such as `re.sub` do not accept it."""

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self.made_of = pattern, int(flags)

        def __getattr__(self, name: str) -> object:
            """Return an attribute of the compiled pattern, and keep it, so that this is called once for each."""
            value = getattr(_compiled(self.made_of), name)
            setattr(self, name, value)
            return value


KEPT = "patterns"
"""Name of the file with the code of patterns, beside those of `mdmem.preload`."""
SUM_BEGIN, _HEAD_BYTES, _MAX_BYTES = 8, 16, 1 << 20
"""SUM_BEGIN: where the checksum is in the header, which is as long as that of other bytecode files."""
_kept: "dict[tuple[str, int], bytes] | None" = None


def version() -> "tuple[int, ...]":
    """Return what must be the same in the interpreter that uses a pattern's code and the one that made it."""
    import _sre  # type: ignore[import-not-found]

    return sys.hexversion, _sre.MAGIC, _sre.CODESIZE, _sre.MAXREPEAT


def _compiled(made_of: "tuple[str, int]") -> "Any":
    """Return the compiled pattern of this text and these flags."""
    global _kept  # noqa: PLW0603 - read once
    if _kept is None:
        _kept = _load()
    if made_of in _kept:
        import _sre
        from marshal import loads

        flags, code, *groups = loads(_kept[made_of])  # noqa: S302 - as safe as bytecode
        return _sre.compile(made_of[0], flags, memoryview(code).cast("I").tolist(), *groups)
    import re

    return re.compile(*made_of)


def read(path: str) -> "tuple[dict[tuple[str, int], bytes], Any]":
    """Return the code of each pattern in a file, and what it was made from.

    Raises OSError, ValueError, TypeError or EOFError if the file is missing, damaged or another interpreter's.
    """
    from marshal import loads

    fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        data = os.read(fd, _MAX_BYTES)
    finally:
        os.close(fd)
    code = memoryview(data)[_HEAD_BYTES:]
    if data[SUM_BEGIN:_HEAD_BYTES] != checksum(code):
        raise ValueError
    made_by, kept, made_from = loads(code)  # noqa: S302 - as safe as bytecode
    if made_by != version():
        raise ValueError
    return kept, made_from


def checksum(code: "bytes | memoryview") -> "Any":
    """Return what the file's header ends with: damaged code fails when it is used, or matches something else."""
    import _imp

    return _imp.source_hash(0, code)


def _load() -> "dict[tuple[str, int], bytes]":
    """Return the kept code of each pattern; none if the file cannot be used."""
    try:
        return read(f"{os.path.dirname(__file__)}/__pycache__/{KEPT}.{sys.implementation.cache_tag}.pyc")[0]
    except (OSError, ValueError, TypeError, EOFError):
        return {}
