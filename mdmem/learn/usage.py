"""Usage: which notes agents were given, and which of them their answers cite."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mdmem.inject import injection_log
from mdmem.vault.note import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.search.index.view import View

CITED_SESSIONS = 3
"""Number of sessions whose answers must cite a note before a pin is proposed."""
_ID_CHARS = 10


def citing(view: View, name: str) -> set[str]:
    """Return the sessions whose answers cite a note."""
    found = view.notes("facet", f"link:{name}".lower()) & view.notes("facet", "kind:response")
    return {str(view.facts(number).get("session", "")) for number in found}


def cited(view: View) -> Iterator[tuple[int, int]]:
    """Yield the notes that answers of `CITED_SESSIONS` sessions cite, with their number."""
    answers = view.notes("facet", "kind:response")
    for term in view.starting_with("facet", "link:"):
        name = term[5:]
        if len(name) != _ID_CHARS or view.count("facet", term) < CITED_SESSIONS:
            continue
        sessions = {str(view.facts(number).get("session", "")) for number in view.notes("facet", term) & answers}
        number = next(iter(view.notes("facet", f"id:{name}")), None)
        if number is not None and len(sessions) >= CITED_SESSIONS and not _is_page(view, number):
            yield number, len(sessions)


def given_in_vain(config: Config, view: View) -> Iterator[tuple[int, int]]:
    """Yield the notes that were given `injection_log.IN_VAIN_TIMES` and never cited, with how often."""
    counted = Counter(str(name) for row in injection_log.read_log(config) for name in row["ids"])
    for name, times in counted.most_common():
        if times < injection_log.IN_VAIN_TIMES:
            return
        number = next(iter(view.notes("facet", f"id:{name}".lower())), None)
        if number is not None and not _is_page(view, number) and not citing(view, name):
            yield number, times


def _is_page(view: View, number: int) -> bool:
    return str(view.facts(number)["kind"]) in PAGES
