"""Preload: the modules that every hook imports, from one file of bytecode that `mdmem.bytecode` writes.

Asking for one module after the other costs a hook a quarter of its life. The file is taken as a whole or not at all:
only where this interpreter made it from the sources as they are now, by the rule of PEP 552 (mtime and size).
The launcher runs this text; without the file, modules are imported as ever.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEAD_BYTES = 16
"""As in every file of bytecode, so that whoever looks for damaged ones can read it."""


def path_in(package: str) -> str:
    """Return the file of a package, which no module's bytecode is called like."""
    return f"{package}/__pycache__/every-hook.{sys.implementation.cache_tag}.pyc"


def head() -> bytes:
    """Return how the file of this interpreter begins."""
    from _frozen_importlib_external import MAGIC_NUMBER  # the interpreter has loaded it

    return MAGIC_NUMBER + bytes(HEAD_BYTES - len(MAGIC_NUMBER))


def read(package: str) -> "list[tuple[str, str, Any]]":
    """Return name, source and code of each module, in the order in which they run; none where the file is stale.

    Raises:
        OSError, ValueError, TypeError, EOFError: when there is no file or source, or the file is damaged.
    """
    import os
    from marshal import loads

    with open(path_in(package), "rb", 0) as file:
        data = file.read()
    if data[:HEAD_BYTES] != head():
        return []
    found = []
    for name, source, mtime, size, code in loads(memoryview(data)[HEAD_BYTES:]):  # noqa: S302 - made like any bytecode
        now = os.stat(package + source)
        if (int(now.st_mtime), now.st_size) != (mtime, size):
            return []
        found.append((name, package + source, code))
    return found


def load(package: str) -> None:
    """Load the modules of a package that the file holds, all of them or none.

    Raises:
        Exception: whatever reading the file, or a module while it runs, raises; nothing is loaded then.
    """
    import gc

    gc.disable()  # as in every hook: so many new objects would be looked through several times
    found = read(package)
    loaded = sys.modules
    for name, source, _ in found:
        above, _, last = name.rpartition(".")
        module = loaded[name] = type(sys)(name)
        module.__file__ = source
        module.__package__ = above
        if source.endswith("__init__.py"):
            module.__package__ = name
            module.__path__ = [source[: -len("/__init__.py")]]
    try:
        for name, _, _ in found:
            above, _, last = name.rpartition(".")
            if above:
                setattr(loaded[above], last, loaded[name])
        for name, _, code in found:
            exec(code, loaded[name].__dict__)  # noqa: S102 - mdmem's own
    except BaseException:
        for name, _, _ in found:
            loaded.pop(name, None)
        raise


if "preloads" in globals():
    load(globals()["preloads"])
