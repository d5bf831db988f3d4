"""Words that programmers write differently in code and in questions: a search for one finds the others too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.search.text.analysis import terms

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT = """
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

_ALIKE = """
remove delete drop strip clear purge discard | check test verify validate is has
convert turn cast coerce transform change parse | list array sequence | string text | find search lookup locate
print show display echo | make create build generate | count number | duplicate unique dedupe distinct repeat
reverse invert inverse | open load read | save write dump store | split tokenize | join concat merge combine
equal same compare | start begin first | end last final | get fetch retrieve | whitespace space blank | iterate loop
random shuffle sample | close shutdown | sort order | size dimension shape
"""
"""Names of the same thing: a question says `delete` where the code says `remove`, `check` where it says `is_empty`."""

WEIGHT = 0.7
"""What another word of the group counts, against the one that was asked for."""
_START = 2
"""Apart from endings, a term begins like its word: minimum number of equal letters."""


class WordGroups:
    """Groups of words that stand for each other, by what they begin with: few are asked for in one process."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: dict[str, list[str]] = {}
        self._known: dict[str, tuple[str, ...]] = {}

    def others(self, term: str) -> tuple[str, ...]:
        """Return the terms that mean the same as this one, which is a term of the index."""
        if term not in self._known:
            self._known[term] = tuple(dict.fromkeys(self._others(term)))
        return self._known[term]

    def _others(self, term: str) -> Iterator[str]:
        if not self._starts:
            for group in self._text.replace("\n", "|").split("|"):
                for start in {word[:_START] for word in group.split()}:
                    self._starts.setdefault(start, []).append(group)
        for group in self._starts.get(term[:_START], ()):
            members = [terms(word)[0] for word in group.split()]
            if term in members:
                yield from (other for other in members if other != term)


SHORT, ALIKE = WordGroups(_SHORT), WordGroups(_ALIKE)
