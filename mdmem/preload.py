"""Preload: the modules that hooks import together, from files of bytecode that `mdmem.bytecode` writes.

Asking for one module after the other costs a hook a quarter of its life. A file is taken as a whole or not at all:
only where this interpreter made it from the sources as they are now, by the rule of PEP 552 (mtime and size).
The launcher runs this text; without the files, modules are imported as ever.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVERY = "every-hook"
FIRST = {
    "mdmem.agents.prompts": "a-prompt",
    "mdmem.privacy.secrets.pairs": "a-secret",
    "mdmem.privacy.memory": "a-private-section",
    "mdmem.privacy.sections": "a-private-section",
}
"""A module -> the file with all that is imported together with it; `EVERY` has what every hook imports."""

HEAD_BYTES = 16
"""As in every file of bytecode, so that a check for damaged files can read it."""


def path_in(package: str, name: str = EVERY) -> str:
    """Return one of the files of a package; no module's bytecode is called like it."""
    return f"{package}/__pycache__/{name}.{sys.implementation.cache_tag}.pyc"


def head() -> bytes:
    """Return how a file of this interpreter begins."""
    from _frozen_importlib_external import MAGIC_NUMBER  # the interpreter has loaded it

    return MAGIC_NUMBER + bytes(HEAD_BYTES - len(MAGIC_NUMBER))


def read(package: str, name: str = EVERY) -> "list[tuple[str, str, Any]]":
    """Return name, source and code of each module in a file, in the order in which they run; none where it is stale.

    Raises:
        OSError, ValueError, TypeError, EOFError: when there is no file or source, or the file is damaged.
    """
    import os
    from marshal import loads

    with open(path_in(package, name), "rb", 0) as file:
        data = file.read()
    if data[:HEAD_BYTES] != head():
        return []
    found = []
    for module, source, mtime, size, code in loads(memoryview(data)[HEAD_BYTES:]):  # noqa: S302 - made like bytecode
        now = os.stat(package + source)
        if (int(now.st_mtime), now.st_size) != (mtime, size):
            return []
        found.append((module, package + source, code))
    return found


def load(package: str, name: str = EVERY) -> None:
    """Load the modules of a package that a file holds, as far as they are not loaded: all of them or none.

    Raises:
        Exception: whatever reading the file, or a module while it runs, raises; nothing is loaded then.
    """
    loaded = sys.modules
    found = [row for row in read(package, name) if row[0] not in loaded]
    for one, source, _ in found:
        above, _, last = one.rpartition(".")
        module = loaded[one] = type(sys)(one)
        module.__file__ = source
        module.__package__ = above
        if source.endswith("__init__.py"):
            module.__package__ = one
            module.__path__ = [source[: -len("/__init__.py")]]
    try:
        for one, _, _ in found:
            above, _, last = one.rpartition(".")
            if above:
                setattr(loaded[above], last, loaded[one])
        for one, _, code in found:
            exec(code, loaded[one].__dict__)  # noqa: S102 - mdmem's own
    except BaseException:
        for one, _, _ in found:
            loaded.pop(one, None)
        raise


class PreloadFinder:
    """A finder for `sys.meta_path` that loads a file of a package when the first of its modules is asked for."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> "Any":
        """Return where a module is that a file has just loaded; None to let others look."""
        if name not in FIRST:
            return None
        try:
            load(self._package, FIRST[name])
        except Exception:  # noqa: BLE001 - there is no such file, or whatever a module of it raises
            return None
        from _frozen_importlib import ModuleSpec

        return ModuleSpec(name, self) if name in sys.modules else None  # type: ignore[arg-type]

    def create_module(self, spec: "Any") -> "Any":
        """Return the module, which is loaded."""
        return sys.modules[spec.name]

    def exec_module(self, module: object) -> None:
        """Do nothing: it has run."""


if "preloads" in globals():
    import gc

    gc.disable()  # as in every hook: so many new objects would be looked through several times
    load(globals()["preloads"])
    sys.meta_path.insert(0, PreloadFinder(globals()["preloads"]))
