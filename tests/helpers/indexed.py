"""A vault with an up-to-date index, as commands make it before they search."""

from __future__ import annotations

from mdmem.config import Config
from mdmem.search import freshness, index
from mdmem.search.index import scan


def indexed(config: Config) -> Config:
    """Update the index of a vault."""
    freshness.bring_up_to_date(config)
    return config


def in_step(config: Config) -> bool:
    """Return whether the index matches the vault, without bringing it up to date."""
    walk = scan.Comparison(index.current(config), scan.everywhere(config.vault))
    return not [*walk, *walk.gone()]
