"""What a command is to do: the settings of its vault, and the query from words and options; without click."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdmem.config import Config
    from mdmem.search.query import Query


def query(given: Mapping[str, Any], text: str = "") -> Query:
    """Read what was asked in words, and add the filters that a command was given as options.

    Raises:
        UsageError: when the value of an option cannot be read; in the words, that is a hint.
    """
    from mdmem.errors import UsageError
    from mdmem.search import query as language

    asked = language.parse(text)
    if given.get("failed"):
        given = {**given, "is_": (*given.get("is_", ()), "failed")}
    given = {key: value for key, value in given.items() if key != "failed"}
    found = language.with_filters(asked, **{key.rstrip("_"): value for key, value in given.items() if value})
    refused = found.hints[len(asked.hints) :]
    if refused:
        raise UsageError(refused[0].replace("`", "").replace(":", " ", refused[0].startswith("`")))
    return found


def settings(given_vault: str | None) -> Config:
    """Load the settings of a vault that must be there; what is wrong with them is said on stderr.

    Raises:
        VaultError: when there is no vault.
    """
    from mdmem import config
    from mdmem.errors import VaultError

    found = config.load(given_vault)
    if not os.path.isdir(found.vault):  # noqa: PTH112 - nothing else here needs pathlib
        raise VaultError(f"No vault at {found.vault}. Run `mdmem init`, or point MDMEM_VAULT at an existing one.")
    for warning in found.warnings:
        print(f"mdmem: {warning}", file=sys.stderr, flush=True)
    return found
