"""A vault with an up-to-date index, as commands make it before they search."""

from __future__ import annotations

from mdmem.config import Config
from mdmem.search import freshness


def indexed(config: Config) -> Config:
    """Update the index of a vault."""
    freshness.bring_up_to_date(config)
    return config
