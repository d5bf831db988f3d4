"""A vault whose index is up to date, as commands leave it before they ask."""

from __future__ import annotations

from mdmem.config import Config
from mdmem.search import freshness


def indexed(config: Config) -> Config:
    """Update the index of a vault."""
    freshness.bring_up_to_date(config)
    return config
