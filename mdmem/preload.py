"""Load the modules that hooks import together from bytecode files that `mdmem.bytecode` writes.

Importing them one by one takes a quarter of a hook's time. A file is loaded completely or not at all: only if this
interpreter made it from the current sources, by the rule of PEP 552 (mtime and size). The launcher runs this text;
without the files, modules are imported as usual.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVERY = "every-hook"
FIRST = {
    "mdmem.agents.prompts": "a-prompt",
    "mdmem.search.asking.topics": "a-search",
    "mdmem.inject.context": "a-search",
    "mdmem.capture.tools.shown_files": "a-command",
    "mdmem.capture.tools.commands": "a-command",
    "mdmem.capture.tools.searches": "a-file-search",
    "mdmem.capture.tools.unnamed_files": "a-file-search",
    "mdmem.capture.tools.teamwork": "a-team",
    "mdmem.privacy.edits": "an-mcp-run",
    "mdmem.capture.page": "an-answer",
    "mdmem.vault.layout": "an-answer",
    "mdmem.privacy.secrets.tokens": "a-long-word",
    "mdmem.privacy.secrets.tokens.public": "a-random-word",
    "mdmem.privacy.secrets.values": "a-value",
    "mdmem.privacy.secrets.commands": "a-flag",
    "mdmem.privacy.checked": "a-number",
    "mdmem.privacy.secrets.named": "a-named-value",
    "mdmem.privacy.secrets.nearby": "a-sentence",
    "mdmem.privacy.secrets.loose": "a-login",
    "mdmem.privacy.secrets.places": "a-place",
    "mdmem.privacy.secrets.pairs": "a-name",
    "mdmem.privacy.secrets.pairs.rules": "a-secret",
    "mdmem.privacy.memory": "a-private-section",
    "mdmem.privacy.sections": "a-private-section",
    "mdmem.capture.remembered": "a-start",
    "mdmem.agents.codex": "codex",
    "mdmem.agents.copilot": "copilot",
    "mdmem.agents.cursor": "cursor",
    "mdmem.agents.gemini": "gemini",
    "mdmem.agents.opencode": "opencode",
}
"""Module -> file with everything that is imported along with it; `EVERY` has what every hook imports."""
BEFORE = {
    "a-search": ("mdmem.agents.prompts",),
    "a-random-word": ("mdmem.privacy.secrets.tokens",),
    "a-value": ("mdmem.privacy.secrets.tokens",),
    "a-named-value": ("mdmem.privacy.secrets.values",),
    "a-sentence": ("mdmem.privacy.secrets.values",),
    "a-login": ("mdmem.privacy.secrets.values",),
    "a-place": ("mdmem.privacy.secrets.loose",),
    "a-name": ("mdmem.privacy.secrets.values",),
    "a-secret": ("mdmem.privacy.secrets.loose", "mdmem.privacy.secrets.pairs"),
}
"""File -> modules that are imported before it: the file leaves out what is in those modules' files."""

HEAD_BYTES = 16
"""The same as in other bytecode files, so that a check for damaged files can read it."""


def path_in(package: str, name: str = EVERY) -> str:
    """Return the path of a file in a package; no module's bytecode has that name."""
    return f"{package}/__pycache__/{name}.{sys.implementation.cache_tag}.pyc"


def head() -> bytes:
    """Return the header of this interpreter's files."""
    from _frozen_importlib_external import MAGIC_NUMBER  # always loaded

    return MAGIC_NUMBER + bytes(HEAD_BYTES - len(MAGIC_NUMBER))


def read(package: str, name: str = EVERY) -> "list[tuple[str, str, Any]]":
    """Return name, source and code of each module in a file, in the order they run; [] when the file is stale.

    Raises OSError, ValueError, TypeError or EOFError when the file or a source is missing, or the file is damaged.
    """
    from marshal import loads

    os = quick_os()
    with open(path_in(package, name), "rb", 0) as file:
        data = file.read()
    if data[:HEAD_BYTES] != head():
        return []
    modules = []
    for module, source, mtime, size, code in loads(memoryview(data)[HEAD_BYTES:]):  # noqa: S302 - as safe as bytecode
        now = os.stat(package + source)
        if (int(now.st_mtime), now.st_size) != (mtime, size):
            return []
        modules.append((module, package + source, code))
    return modules


class Environment:
    """The base of `os.environ` in place of `MutableMapping`, when `quick_os` has imported `os`."""

    def __contains__(self, name: object) -> bool:
        return self.get(name) is not None

    def __eq__(self, other: object) -> bool:
        return dict(self) == dict(other) if isinstance(other, (dict, Environment)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> "Any":
        """Return a rarely used method of `MutableMapping`."""
        from collections.abc import MutableMapping

        method: Any = getattr(MutableMapping, name)
        return method.__get__(self) if callable(method) else method

    def get(self, name: "Any", instead: "Any" = None) -> "Any":
        """Return a variable's value, or `instead`."""
        try:
            return self[name]  # type: ignore[index]
        except KeyError:
            return instead

    def keys(self) -> "Any":
        """Return the current names."""
        return dict.fromkeys(self).keys()


def quick_os() -> "Any":
    """Import `os` without the abstract base classes of collections, of which it needs one, for `os.environ`.

    Creating them takes as long as running half of mdmem's modules. A later import gets the real ones.
    """
    loaded = sys.modules
    if not {"os", "_collections_abc"} & loaded.keys():
        instead: Any = type(sys)("_collections_abc")
        instead.MutableMapping, instead.Mapping = Environment, (dict, Environment)
        instead._check_methods = _check_methods
        loaded["_collections_abc"] = instead
        try:
            import os
        except Exception:  # noqa: BLE001 - this interpreter's `os` needs more of them
            loaded.pop("os", None)
        finally:
            del loaded["_collections_abc"]
    import os

    return os


def _check_methods(checked: type, *methods: str) -> "Any":
    """Whether a class has these methods, or NotImplemented; `os.PathLike` asks."""
    from _collections_abc import _check_methods as check  # type: ignore[attr-defined]

    return check(checked, *methods)


def _load_dynamic() -> None:
    """Load the C modules of the standard library that every hook needs, directly from their folder.

    The interpreter would search every folder of its path for each.
    """
    import _imp
    from _frozen_importlib import ModuleSpec

    folder = next((path for path in sys.path if path.endswith("lib-dynload")), "")
    for name in ("fcntl", "_json", "_sha256" if sys.version_info < (3, 12) else "_sha2"):
        if folder and name not in sys.modules and name not in sys.builtin_module_names:
            spec = ModuleSpec(name, None, origin=f"{folder}/{name}{_imp.extension_suffixes()[0]}")
            try:
                module = _imp.create_dynamic(spec)
                _imp.exec_dynamic(module)
            except ImportError:
                continue  # elsewhere or missing
            module.__spec__, module.__file__ = spec, spec.origin
            sys.modules[name] = module


def load(package: str, name: str = EVERY) -> None:
    """Load a file's modules that are not loaded yet: all of them or none.

    Raises:
        Exception: anything that reading the file or running a module raises; then nothing is loaded.
    """
    loaded = sys.modules
    modules = [row for row in read(package, name) if row[0] not in loaded]
    for module_name, source, _ in modules:
        module = loaded[module_name] = type(sys)(module_name)
        module.__file__ = source
        module.__package__ = module_name.rpartition(".")[0]
        if source.endswith("__init__.py"):
            module.__package__ = module_name
            module.__path__ = [source[: -len("/__init__.py")]]
    try:
        for module_name, _, _ in modules:
            parent, _, own_name = module_name.rpartition(".")
            if parent:
                setattr(loaded[parent], own_name, loaded[module_name])
        for module_name, _, code in modules:
            exec(code, loaded[module_name].__dict__)  # noqa: S102 - mdmem's own
    except BaseException:
        for module_name, _, _ in modules:
            loaded.pop(module_name, None)
        for module_name, _, _ in modules:
            parent, _, own_name = module_name.rpartition(".")
            if parent in loaded:
                vars(loaded[parent]).pop(own_name, None)  # `from PARENT import MODULE` would take the empty module
        raise


class PreloadFinder:
    """A finder for `sys.meta_path` that loads a package's file when its first module is imported."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> "Any":
        """Return the spec of a module after loading its file; None to leave it to other finders."""
        if name not in FIRST:
            return None
        try:
            for earlier in BEFORE.get(FIRST[name], ()):
                __import__(earlier)
            load(self._package, FIRST[name])
        except Exception:  # noqa: BLE001 - a missing file, or any error of a module in it
            return None
        from _frozen_importlib import ModuleSpec

        return ModuleSpec(name, self) if name in sys.modules else None  # type: ignore[arg-type]

    def create_module(self, spec: "Any") -> "Any":
        """Return the module, which is already loaded."""
        return sys.modules[spec.name]

    def exec_module(self, module: object) -> None:
        """Do nothing: the module has already run."""


if "preloads" in globals():
    import gc

    gc.disable()  # as in every hook: it would scan the many new objects several times
    _load_dynamic()
    load(globals()["preloads"])
    sys.meta_path.insert(0, PreloadFinder(globals()["preloads"]))
