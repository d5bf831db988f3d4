"""Few: splits test parameters into those of every run and those of `pytest -m slow`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def few(values: Iterable[Any], *, always: Collection[Any]) -> list[Any]:
    """Return the parameters; those not in `always` are marked slow."""
    return [value if value in always else pytest.param(value, marks=pytest.mark.slow) for value in values]
