"""Figures of the code base: modules, their imports, functions and classes, read from the source without running it."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.conftest import REPO

PACKAGE = REPO / "mdmem"


class Function(NamedTuple):
    """A function: its place, number of lines, and number of parameters besides `self`.

    is_command: it is a command, so its parameters are those of the command line.
    """

    where: str
    lines: int
    parameters: int
    is_command: bool


class Module(NamedTuple):
    """A module: its dotted name, file, lines, and syntax tree."""

    name: str
    path: Path
    lines: int
    tree: ast.Module


@functools.cache
def modules() -> dict[str, Module]:
    """Return every module of the product by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(REPO).with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        found[name] = Module(name, path, text.count("\n"), ast.parse(text))
    return found


def folders() -> dict[str, int]:
    """Return the number of modules of each folder of the product."""
    found: dict[str, int] = {}
    for module in modules().values():
        place = module.path.parent.relative_to(REPO).as_posix()
        found[place] = found.get(place, 0) + 1
    return found


def rooms() -> Counter[str]:
    """Return the number of lines of each room of the product; modules outside a room count as `mdmem`."""
    found: Counter[str] = Counter()
    for module in modules().values():
        parts = module.path.relative_to(PACKAGE).parts
        found[parts[0] if len(parts) > 1 else PACKAGE.name] += module.lines
    return found


def statements(room: str = "") -> Iterator[ast.AST]:
    """Yield each syntax node outside expressions, for the modules of one room, or all."""
    for name, module in modules().items():
        if f"{name}.".startswith(f"mdmem.{room}." if room else "mdmem"):
            yield from _statements(module.tree)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from _statements(child)


@functools.cache
def functions() -> tuple[Function, ...]:
    """Return every function and method."""
    return tuple(_functions())


def _functions() -> Iterator[Function]:
    for module in modules().values():
        for node in _statements(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                given = node.args
                names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                many = len([name for name in names if name not in ("self", "cls")])
                is_command = any("command" in ast.unparse(one) for one in node.decorator_list)
                yield Function(f"{module.name}.{node.name}", lines, many, is_command)


def public_types() -> dict[str, list[str]]:
    """Return each public name of a class or a type, with the modules that define it; also of those only for mypy."""
    found: dict[str, list[str]] = {}
    for module in modules().values():
        for node in _statements(module.tree):
            name = node.name if isinstance(node, ast.ClassDef) else _alias(node)
            if name and not name.startswith("_"):
                found.setdefault(name, []).append(module.name)
    return found


def _alias(node: ast.AST) -> str:
    """Return the name that a statement gives a type, as in `Columns = dict[int, tuple[int, int]]`; "" for none."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)):
        return ""
    (*_, target) = node.targets
    return target.id if isinstance(target, ast.Name) and target.id[:1].isupper() and not target.id.isupper() else ""


def imports() -> dict[str, set[str]]:
    """Return the modules that each module imports anywhere: at its top, in a function, or only for types."""
    known = modules()
    return {name: set(_imported(module.tree, known)) - {name} for name, module in known.items()}


def _imported(node: ast.AST, known: dict[str, Module]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue  # an import is a statement
        if isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                full = f"{child.module}.{alias.name}"
                if full in known or child.module in known:
                    yield full if full in known else child.module
        yield from _imported(child, known)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the cycles of a graph: groups whose members can all reach each other (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            group, stack[at:] = stack[at:], []
            if len(group) > 1:
                found.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return found
