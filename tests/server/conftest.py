"""The server's tools, called without a client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.helpers.server_calls import Server


@pytest.fixture
def server(vault: Path) -> Iterator[Server]:
    """Return a server over the test's vault."""
    from tests.helpers.server_calls import Server

    made = Server()
    yield made
    made.close()
