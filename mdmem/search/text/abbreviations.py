"""Words that programmers write short in code and long in questions: a search for one finds the others too."""

from __future__ import annotations

from functools import cache

from mdmem.search.text.analysis import terms

_GROUPS = """
arg argument | param parameter | attr attribute | prop property | var variable | val value | obj object
str string | int integer | num number | bool boolean | char character | arr array | dict dictionary | mat matrix
vec vector | df dataframe | elem element item | col column | idx index | len length size | max maximum | min minimum
avg average mean | pos position | prev previous | curr cur current | uniq unique distinct | dupe duplicate
dir directory folder | src source | dest dst destination | tmp temp temporary | doc documentation docs
img image picture | msg message | req request | resp response | conn connection connect | db database
env environment | config configuration setting | auth authentication authorization | pwd password passwd
perm permission | usr user | repo repository | pkg package | lib library | app application | ver version
func fn function method | cmd command | exec execute run | proc process | mem memory | ctx context | mgr manager
svc service | init initialize initialise | calc calculate compute | del delete remove rm | concat concatenate join
sync synchronize | async asynchronous | regex regexp | err error exception | ts timestamp | datetime date time
url link | np numpy | pd pandas
"""

WEIGHT = 0.7
"""What another word of the group counts, against the one that was asked for."""


@cache
def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for group in _GROUPS.replace("\n", "|").split("|"):
        members = [terms(word)[0] for word in group.split()]
        for member in members:
            table.setdefault(member, {}).update(dict.fromkeys(other for other in members if other != member))
    return {term: tuple(others) for term, others in table.items()}


def others(term: str) -> tuple[str, ...]:
    """Return the terms that mean the same as this one, which is a term of the index."""
    return _table().get(term, ())
