"""Quotes: what a note quotes from the turn that it cites, compared with what stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.search import index
from mdmem.vault import disk, journal, people

MAX_QUOTES = 20
MIN_WORDS = 3
_CITED = re.compile(r"\bmem:([0-9a-z]{10})\b")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{8,600})[\"”“»]")
_BLOCK = re.compile(r"^ {0,3}> ?(.{8,600})$", re.MULTILINE)


def missing(config: Config, text: str) -> list[str]:
    """Return the quotes of a note that none of the turns that it cites has; [] where it cites none."""
    quotes = list(_quotes(text))
    turns = [said for name in dict.fromkeys(_CITED.findall(text)) if (said := _turn(config, name))] if quotes else []
    if not turns:
        return []
    return [quote for quote in quotes if not any(_plain(quote) in said for said in turns)]


def _quotes(text: str) -> Iterator[str]:
    found = [*_QUOTED.findall(text), *_BLOCK.findall(text)]
    yield from (quote for quote in found[:MAX_QUOTES] if len(quote.split()) >= MIN_WORDS)


def _turn(config: Config, name: str) -> str:
    """Return the text of the turn that a note is part of, or of the note itself; "" when it is not known."""
    try:
        path = index.resolve(config, name)
    except MdmemError:
        return ""
    folder, _, file = path.rpartition("/")
    own = journal.numbers(file)[:1]
    paths = [path]
    if own and folder.startswith("journal/"):
        names = sorted(disk.names_in(config.vault, folder))
        paths = [f"{folder}/{one}" for one in names if journal.numbers(one)[:1] == own]
    return "\n".join(_plain(people.read(config.vault, one).body) for one in paths)


def _plain(text: str) -> str:
    words = re.sub(r"\[?\bmem:[0-9a-z]{10}\b\]?", " ", text).lower()
    return " ".join(re.findall(r"\w+", words))
