"""Asking the index and the notes that it names: one answer from one state of the index."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from mdmem.search import freshness
from mdmem.vault import disk, note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mdmem.config import Config
    from mdmem.search.index.view import View

_Answer = TypeVar("_Answer")


def ask(config: Config, answer: Callable[[View], _Answer], *, update: bool = True) -> _Answer:
    """Return what `answer` makes of the index; update: bring it up to date first.

    Raises:
        BusyError: when there is no index yet, and another process makes it.
    """
    if update:
        freshness.bring_up_to_date(config)
    return freshness.ask(config, answer)


def noted(config: Config, view: View, number: int) -> Mapping[str, Any]:
    """Return what people have noted in a note's front matter: done, dismissed, superseded_by. It is not to be shown.

    A file is read once for as long as the index has it as it is.
    """
    return _noted(config.vault, view.path(number), view.number("mtime_ns", number), view.number("size", number))


_NOTED = ("done", "dismissed", "superseded_by")


@lru_cache(maxsize=8192)
def _noted(root: str, path: str, mtime_ns: int, size: int) -> Mapping[str, Any]:  # noqa: ARG001 - they are the key
    data = disk.read_path(root, path) or b""
    said = any(b"%s:" % key.encode() in data for key in _NOTED)  # hardly any note has one, and parsing is dear
    meta = note.parse(data).meta if said else {}
    return MappingProxyType({key: meta[key] for key in _NOTED if key in meta})


def of_project(view: View, numbers: set[int], project: str) -> set[int]:
    """Return those of the notes that belong to a project, or to none; project: "" returns all."""
    if not project:
        return numbers
    return numbers & (view.of_project(project) | view.notes("facet", "project:"))
