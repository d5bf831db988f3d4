"""Decision records: what an architecture decision record (ADR) says about itself, as front matter of a decision.

The status is a section or a line of the text, as adr-tools writes it (github.com/npryce/adr-tools), or in the front
matter, as MADR has it (github.com/adr/madr).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_DECISION = re.compile(
    r"^#{1,6}[ \t]+(?:The[ \t]+)?Decision(?:[ \t]+Outcome)?[ \t]*+:?[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_SECTION = re.compile(r"^#{1,6}[ \t]+Status[ \t]*+:?[ \t]*\n((?:(?!#).*\n?)*)", re.IGNORECASE | re.MULTILINE)
_LINE = r"^[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}%s[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*(.+)$"
_STATUS = re.compile(_LINE % "Status", re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(_LINE % "Date", re.IGNORECASE | re.MULTILINE)
_SUPERSEDED = re.compile(r"\bsuper[sc]eded(?:[ \t]+by)?\b[ \t:]*(.*)", re.IGNORECASE)
_LINK = re.compile(r"\]\(<?([^()<>\s#]+)")
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_IN_FORCE = frozenset(["accepted", "approved", "adopted", "decided", "implemented"])
_RETIRED = frozenset(["rejected", "deprecated", "withdrawn", "obsolete"])
_HEAD_CHARS = 4000


class DecisionRecord(NamedTuple):
    """A decision that was made once.

    is_retired: whether it was rejected or withdrawn. successor: the path, relative to the record, of the one that
    supersedes it, or what the record says about that; "" while it holds. date: as written, "" for none.
    """

    is_retired: bool
    successor: str
    date: str


def read(meta: Mapping[str, Any], body: str) -> DecisionRecord | None:
    """Return what a text says as a decision record; None if it is none, or not decided yet."""
    if not _DECISION.search(body):
        return None
    start = body[:_HEAD_CHARS]
    section = _SECTION.search(start)
    line = section or _STATUS.search(start)
    status = str(meta.get("status") or (line[1] if line else "")).strip()
    superseded = _SUPERSEDED.search(status)
    word = _WORD.search(status)
    known = word[0].lower() if word else ""
    if not (superseded or known in _IN_FORCE or known in _RETIRED):
        return None
    date = _DATE.search(start)
    return DecisionRecord(
        known in _RETIRED and not superseded,
        _successor(superseded[1]) if superseded else "",
        date[1].strip() if date else "",
    )


def _successor(said: str) -> str:
    """Return the target of the link behind `superseded by`, or the words there."""
    link = _LINK.search(said)
    return link[1] if link else said.strip(" .*_") or "a later decision"
