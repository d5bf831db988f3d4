"""Compile the modules that hooks import together into the files that `mdmem.preload` loads."""

from __future__ import annotations

import ast
import marshal
import os
import re
import time
from array import array
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from mdmem import lazy_pattern, preload

ROOTS = {
    preload.EVERY: (
        "mdmem.recall.hook",
        "mdmem.hook_errors",
        "mdmem.agents.claude_code",
        "mdmem.agents.payload",
        "mdmem.config",
        "mdmem.capture.events",
        "mdmem.capture.tool_run",
        "mdmem.capture.tools.files_on_disk",
        "mdmem.capture.tools.files",
        "mdmem.capture.tools.language",
    ),
    "a-prompt": (
        "mdmem.agents.prompts",
        "mdmem.inject.process",
        "mdmem.inject.trigger",
        "mdmem.inject.turns",
        "mdmem.inject.injection_log",
        "mdmem.search.asking.shape",
        "mdmem.search.asking.english",
    ),
    "a-search": (
        "mdmem.inject.context",
        "mdmem.inject.dated",
        "mdmem.search.asking.topics",
        "mdmem.search.index.document",
        "mdmem.search.select",
        "mdmem.vault.packed",
    ),
    "a-command": ("mdmem.capture.tools.commands", "mdmem.capture.tools.shown_files"),
    "a-file-search": ("mdmem.capture.tools.searches", "mdmem.capture.tools.unnamed_files"),
    "a-team": ("mdmem.capture.tools.teamwork",),
    "an-mcp-run": ("mdmem.privacy.edits", "mdmem.capture.tools.outline"),
    "an-answer": ("mdmem.capture.page", "mdmem.vault.layout"),
    "a-long-word": ("mdmem.privacy.secrets.tokens",),
    "a-random-word": ("mdmem.privacy.secrets.tokens.public",),
    "a-flag": ("mdmem.privacy.secrets.commands",),
    "a-number": ("mdmem.privacy.checked.identities", "mdmem.privacy.limits"),
    "a-value": ("mdmem.privacy.secrets.values", "mdmem.privacy.secrets.literals"),
    "a-named-value": ("mdmem.privacy.secrets.named", "mdmem.privacy.secrets.printed"),
    "a-sentence": ("mdmem.privacy.secrets.nearby",),
    "a-login": ("mdmem.privacy.secrets.loose",),
    "a-place": ("mdmem.privacy.secrets.places",),
    "a-name": ("mdmem.privacy.secrets.pairs", "mdmem.privacy.secrets.tables"),
    "a-secret": ("mdmem.privacy.secrets.pairs.rules", "mdmem.privacy.secrets.pairs.lines"),
    "a-private-section": (
        "mdmem.privacy.memory",
        "mdmem.privacy.sections",
        "mdmem.privacy.mentions.intent",
        "mdmem.privacy.revealed",
        "mdmem.privacy.private_words",
        "mdmem.privacy.marks",
        "mdmem.privacy.everyday",
        "mdmem.privacy.disguises",
        "mdmem.capture.notices",
        "mdmem.capture.feedback",
    ),
    "a-start": ("mdmem.capture.remembered", "mdmem.capture.tools.instructions", "mdmem.moved"),
    "codex": ("mdmem.agents.codex", "mdmem.agents.tail"),
    "copilot": ("mdmem.agents.copilot", "mdmem.agents.tail"),
    "cursor": ("mdmem.agents.cursor",),
    "gemini": ("mdmem.agents.gemini",),
    "opencode": ("mdmem.agents.opencode",),
}
"""File -> modules that hooks import while running; it also gets what these import at their top."""


PATTERNS = (
    "mdmem.inject.as_of",
    "mdmem.inject.rendering.block",
    "mdmem.inject.elsewhere",
    "mdmem.inject.evidence",
    "mdmem.inject.rendering.excerpts",
    "mdmem.inject.open_work",
    "mdmem.search.asking.corrections",
    "mdmem.search.asking.periods",
    "mdmem.search.commands",
    "mdmem.search.days",
    "mdmem.search.index.document",
    "mdmem.search.query",
    "mdmem.search.runs",
    "mdmem.search.select",
    "mdmem.search.snippet",
    "mdmem.search.solved",
    "mdmem.search.text.analysis",
    "mdmem.search.text.entities",
    "mdmem.search.text.errors",
    "mdmem.search.text.numbers",
    "mdmem.search.text.steps",
    "mdmem.search.text.undone",
    "mdmem.search.text.wordings",
    "mdmem.vault.creation",
    "mdmem.vault.links",
)
"""Modules whose lazy patterns hooks use: their code is kept in a file too."""

_Row = tuple[str, str, int, int, Any]
"""Name, source, its mtime and size, and code of a module."""


def write(package: str) -> bool:
    """Write a package's files unless they are fresh; False when one cannot be written."""
    compiled: dict[str, list[_Row]] = {}
    are_written = [_write(package, name, compiled) for name in ROOTS]
    return _write_patterns(package) and all(are_written)


def remove(package: str) -> None:
    """Delete the files, of every interpreter, from a package that an installer put in place.

    Installers know only the bytecode of modules, and would leave these behind.
    """
    try:
        if not any(name.endswith(".dist-info") for name in os.listdir(os.path.dirname(package))):
            return
        for name in os.listdir(f"{package}/__pycache__"):
            if name.partition(".")[0] in (*ROOTS, lazy_pattern.KEPT):
                os.unlink(f"{package}/__pycache__/{name}")
    except OSError:
        return  # installed by another user


def _write(package: str, name: str, compiled: dict[str, list[_Row]]) -> bool:
    """Write a file unless it is fresh. compiled: the files that were compiled for another one, by name."""
    try:
        if {module for module, _, _ in preload.read(package, name)}.issuperset(ROOTS[name]):
            return True
    except (OSError, ValueError, TypeError, EOFError):
        pass  # missing or damaged
    data = marshal.dumps(_compiled(package, name, compiled))
    return _put(preload.path_in(package, name), preload.head() + data)


def _write_patterns(package: str) -> bool:
    """Write the file with the code of `PATTERNS` unless it is fresh."""
    modules = [module for module in PATTERNS if _source(package, module)]
    sources = [_stamped(package, _source(package, module)) for module in modules]
    path = preload.path_in(package, lazy_pattern.KEPT)
    try:
        if lazy_pattern.read(path)[1] == sources:
            return True
    except (OSError, ValueError, TypeError, EOFError):
        pass  # missing, damaged or another interpreter's
    patterns = (pattern for module in modules for pattern in _patterns_in(vars(import_module(module)).values()))
    try:
        kept = {pattern.made_of: _code_of(*pattern.made_of) for pattern in patterns}
    except (AttributeError, TypeError):
        kept = {}  # this interpreter's `re` is made in another way
    data = marshal.dumps((lazy_pattern.version(), kept, sources))
    return _put(path, preload.head()[: lazy_pattern.SUM_BEGIN] + lazy_pattern.checksum(data) + data)


def _stamped(package: str, source: str) -> tuple[str, int, int]:
    """Return a source, its mtime and its size."""
    status = os.stat(package + source)
    return source, int(status.st_mtime), status.st_size


def _patterns_in(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the lazy patterns among values, also in tuples."""
    for value in values:
        if type(value) is lazy_pattern.lazy:
            yield value
        elif type(value) is tuple:
            yield from _patterns_in(value)


def _code_of(pattern: str, flags: int) -> bytes:
    """Return what `_sre.compile` makes a pattern of, besides its text."""
    parsed = re._parser.parse(pattern, flags)  # type: ignore[attr-defined]
    code = array("I", re._compiler._code(parsed, flags)).tobytes()  # type: ignore[attr-defined]
    state = parsed.state
    names = {number: name for name, number in state.groupdict.items()}
    by_number = tuple(names.get(number) for number in range(state.groups))
    return marshal.dumps((int(flags | state.flags), code, state.groups - 1, state.groupdict, by_number))


def _put(path: str, data: bytes) -> bool:
    """Write a file that `preload` or `lazy_pattern` loads; False when it cannot be written."""
    temp = f"{path}.{time.time_ns():x}-{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            with open(temp, "xb") as file:
                file.write(data)
            os.replace(temp, path)
        except BaseException:
            os.unlink(temp)
            raise
    except OSError:
        return False
    return True


def _compiled(package: str, name: str, compiled: dict[str, list[_Row]]) -> list[_Row]:
    """Return the rows of a file's modules in the order in which imports run them.

    Modules of `preload.EVERY` are in no other file, nor are those of a file that is loaded before.
    """
    if name in compiled:
        return compiled[name]
    order: list[_Row] = []
    visited = {row[0] for file in _files_before(name) for row in _compiled(package, file, compiled)}

    def visit(module: str) -> None:
        source = "" if module in visited else _source(package, module)
        if source and "." in module:
            visit(module.rpartition(".")[0])  # which may import the module
        if module in visited or not source:
            return
        visited.add(module)
        with open(package + source, "rb") as file:
            tree = ast.parse(file.read())
        for imported in _imported(tree):
            visit(imported)
        order.append((module, *_stamped(package, source), _code(tree, package + source)))

    for root in ROOTS[name]:
        visit(root)
    compiled[name] = order
    return order


def _files_before(name: str) -> set[str]:
    """Return the files that are loaded before one."""
    if name == preload.EVERY:
        return set()
    direct = {preload.FIRST[module] for module in preload.BEFORE.get(name, ())}
    return direct.union({preload.EVERY}, *map(_files_before, direct))


def _source(package: str, name: str) -> str:
    """Return a module's file relative to its package; "" when it is not a module of the package."""
    top, _, submodule = name.partition(".")
    place = "/" + submodule.replace(".", "/") if submodule else ""
    for source in (f"{place}.py", f"{place}/__init__.py"):
        if top == os.path.basename(package) and os.path.isfile(package + source):
            return source
    return ""


def _imported(tree: ast.Module) -> list[str]:
    """Return the names that a module imports at its top, in order; some may not be modules."""
    names = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def _code(tree: ast.Module, source: str) -> Any:
    """Compile a module without its `__future__` import, docstrings and annotations."""
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    tree.body = [node for node in tree.body if node not in future]
    for node in ast.walk(tree):
        _leave_out_types(node)
    flags = annotations.compiler_flag if future else 0
    return compile(tree, source, "exec", flags, dont_inherit=True, optimize=2)


def _leave_out_types(node: ast.AST) -> None:
    """Remove the annotations of functions; those of variables become None.

    No hook reads them, and creating them takes a tenth of the time to load a module.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node.returns = None
    elif isinstance(node, ast.arg):
        node.annotation = None
    elif isinstance(node, ast.AnnAssign):
        node.annotation = ast.copy_location(ast.Constant(None), node.annotation)  # `Value` reads names
