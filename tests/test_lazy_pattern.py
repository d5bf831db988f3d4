"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import mdmem
from mdmem.lazy_pattern import lazy


def test_a_lazy_pattern_has_the_methods_of_a_compiled_one() -> None:
    pattern = lazy(r"(?P<word>[a-z]+)", re.IGNORECASE)

    assert pattern.findall("One two") == ["One", "two"]
    assert pattern.sub("-", "One two") == "- -"
    assert pattern.groupindex == {"word": 1}
    assert pattern.findall("three") == ["three"]


def test_a_pattern_is_compiled_only_when_it_is_used() -> None:
    malformed = lazy("(")

    with pytest.raises(re.error):
        malformed.search("(")


def test_every_lazy_pattern_of_the_package_compiles() -> None:
    names = [module.name for module in pkgutil.walk_packages(mdmem.__path__, "mdmem.") if "__main__" not in module.name]
    modules = [importlib.import_module(name) for name in names]
    patterns = [value for module in modules for value in vars(module).values() if type(value).__name__ == "lazy"]

    assert len(patterns) > 20
    assert all(pattern.pattern for pattern in patterns)
