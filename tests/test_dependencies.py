"""What is imported is declared: a package that another one happens to bring along can go away with it."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.helpers import house

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {"server": ("mcp",), "web": ("web",)}
"""The rooms that need an extra, and which; every other room has the required packages alone."""
OF_OTHER_VERSIONS = {"_sha2", "_sha256"}


def imported(room: str) -> set[str]:
    """Return the top-level names of what the modules of a room import."""
    names = set()
    for node in house.statements(room):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"mdmem"} - OF_OTHER_VERSIONS


def declared(*extras: str) -> set[str]:
    """Return the names of the required packages and of those of some extras, as an installer reads them."""
    rows = [*PROJECT["dependencies"], *(row for extra in extras for row in PROJECT["optional-dependencies"][extra])]
    return {plain(re.split(r"[\[<>=!~;]", row)[0]) for row in rows}


def plain(name: str) -> str:
    """Return a package's name in its normalized form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower().strip()


@functools.cache
def _known() -> Mapping[str, list[str]]:
    return packages_distributions()


@pytest.mark.slow
@pytest.mark.parametrize(
    "room", sorted(path.name for path in (ROOT / "mdmem").iterdir() if path.is_dir() and path.name[0] != "_")
)
def test_a_room_imports_what_is_declared(room: str) -> None:
    known = _known()
    allowed = declared(*EXTRAS.get(room, ()))

    for name in imported(room):
        assert allowed & {plain(each) for each in known.get(name, [name])}, f"{room} imports {name}"


def test_each_classifier_is_named_once_and_each_version_of_python_is_tested() -> None:
    classifiers = PROJECT["classifiers"]
    assert classifiers == list(dict.fromkeys(classifiers))

    named = [row.rpartition(" ")[2] for row in classifiers if re.fullmatch(r".* :: 3\.\d+", row)]
    tested = re.findall(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    assert {tuple(re.findall(r"3\.\d+", row)) for row in tested} == {tuple(named)}
