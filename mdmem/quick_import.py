"""Import mdmem's own modules from their bytecode with fewer system calls than the interpreter.

A hook spends most of its time on imports. The interpreter's finders probe for several kinds of files per module; here
the place is known. Bytecode is used only if it is as new as its source, by the interpreter's own rule (PEP 552: magic
number, flags 0, source's mtime and size). Anything else is left to the interpreter.
"""

from __future__ import annotations

import os
import sys
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_HEAD_BYTES = 16
_MAX_BYTES = 1 << 16
"""Longer bytecode is left to the interpreter: a larger buffer would cost more time than this saves."""


class QuickFinder:
    """A finder and loader for the modules of one package, for `sys.meta_path`."""

    __slots__ = ("_begin", "_cache", "_end", "_head", "_spec")

    def __init__(self, package: str) -> None:
        import _frozen_importlib  # both are always loaded
        from _frozen_importlib_external import MAGIC_NUMBER

        self._begin = f"{package}."
        self._cache = f"{os.sep}__pycache__{os.sep}"
        self._end = f".{sys.implementation.cache_tag}.pyc"
        self._head = MAGIC_NUMBER + b"\0\0\0\0"
        self._spec: Any = _frozen_importlib.ModuleSpec

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """Return a module's spec with its code; None to leave it to the interpreter."""
        own_name = name[name.rfind(".") + 1 :]
        if not own_name or not name.startswith(self._begin) or not path or sys.pycache_prefix is not None:
            return None
        place = f"{path[0]}{os.sep}{own_name}"
        for file, bytecode, folder in (
            (f"{place}.py", f"{path[0]}{self._cache}{own_name}{self._end}", None),
            (f"{place}{os.sep}__init__.py", f"{place}{self._cache}__init__{self._end}", place),
        ):
            code = self._code(file, bytecode)
            if code is not None:
                spec: Any = self._spec(name, self, origin=file, loader_state=code, is_package=folder is not None)
                spec.has_location = True
                spec.cached = bytecode  # saves computing it from the source's path
                if folder:
                    spec.submodule_search_locations.append(folder)
                return spec  # type: ignore[no-any-return]
        return None

    def _code(self, source: str, bytecode: str) -> Any:
        """Return a module's code, or None without fresh, complete bytecode."""
        try:
            now = os.stat(source)
            fd = os.open(bytecode, os.O_RDONLY)
            try:
                data = os.read(fd, _MAX_BYTES)
            finally:
                os.close(fd)
        except OSError:
            return None
        when = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:_HEAD_BYTES], "little")
        if data[:8] != self._head or when != (int(now.st_mtime) & 0xFFFFFFFF, now.st_size & 0xFFFFFFFF):
            return None
        try:
            return loads(memoryview(data)[_HEAD_BYTES:])  # noqa: S302 - the interpreter would load the same bytecode
        except (EOFError, ValueError, TypeError):
            return None  # truncated: the repair starts from the interpreter's own error

    def create_module(self, _spec: ModuleSpec) -> ModuleType | None:
        """Return None: the interpreter makes an ordinary module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's code."""
        exec(module.__spec__.loader_state, module.__dict__)  # type: ignore[union-attr]  # noqa: S102


def install() -> None:
    """Use this finder for mdmem's modules in this process from now on."""
    if not any(type(finder) is QuickFinder for finder in sys.meta_path):
        sys.meta_path.insert(0, QuickFinder(__name__.partition(".")[0]))
