"""A project on which sessions work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.helpers.open_work import Work


@pytest.fixture
def at(tmp_path: Path) -> Work:
    """Return a project in an empty vault."""
    from tests.helpers import cli_day
    from tests.helpers.open_work import Work

    return Work(cli_day.empty(tmp_path), tmp_path)
