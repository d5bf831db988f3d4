"""Citations: finds the memories that an agent's answer names by their mark `[mem:ID]`."""

from __future__ import annotations

from collections.abc import Iterable

from mdmem.lazy_pattern import lazy
from mdmem.search.index.view import View

_MARK = lazy(r"\[mem:([^\[\]\s]{1,40})\]")


def marks(text: str) -> list[str]:
    """Return the distinct ids that a text cites, in order."""
    return list(dict.fromkeys(_MARK.findall(text)))


def cited_by_session(view: View, ids: Iterable[str]) -> dict[str, set[str]]:
    """Return for each session which of `ids` its answers cite."""
    answers = view.notes("facet", "kind:response")
    cited: dict[str, set[str]] = {}
    for name in ids:
        for number in view.notes("facet", f"link:{name}") & answers:
            cited.setdefault(str(view.facts(number).get("session", "")), set()).add(name)
    return cited
