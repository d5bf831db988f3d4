"""Few: of many parameters, those that every run tries, and those that only `pytest -m slow` does."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def few(values: Iterable[Any], *, always: Collection[Any]) -> list[Any]:
    """Return the parameters, those that are not among `always` marked slow."""
    return [value if value in always else pytest.param(value, marks=pytest.mark.slow) for value in values]
