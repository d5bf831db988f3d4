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


def others(term: str) -> tuple[str, ...]:
    """Return the terms that mean the same as this one, which is a term of the index."""
    return _others(term) if term[:_START] in _starts() else ()


_START = 2
"""Apart from endings, a term begins like its word: minimum number of equal letters."""


@cache
def _starts() -> dict[str, list[str]]:
    """Return the groups by how their words begin: few of them are asked for in a process that searches once."""
    found: dict[str, list[str]] = {}
    for group in _GROUPS.replace("\n", "|").split("|"):
        for start in {word[:_START] for word in group.split()}:
            found.setdefault(start, []).append(group)
    return found


@cache
def _others(term: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for group in _starts()[term[:_START]]:
        members = [terms(word)[0] for word in group.split()]
        if term in members:
            found.update(dict.fromkeys(other for other in members if other != term))
    return tuple(found)
