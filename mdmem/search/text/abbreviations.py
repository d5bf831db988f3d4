"""Abbreviations: words written differently in code and in questions; a search for one finds the others too."""

from __future__ import annotations

from mdmem.search.text.analysis import terms

TYPE_CHECKING = False
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
"""Programmers' synonyms: a question says `delete` if the code says `remove`, or `check` if it says `is_empty`."""

_SAID = """
slow latency sluggish lag performance | fast quick speed speedup | crash segfault panic abort
login signin logon auth | logout signout | delete remove drop erase purge | error bug failure fault defect
picture image photo | shortcut hotkey keybinding keymap binding | twice duplicate double | ram memory oom
throttle limit ratelimit | deploy deployment ship release publish rollout | rollback revert undo
setting configuration option preference | flaky unstable intermittent flake | hang freeze stuck deadlock
backup dump snapshot | certificate tls ssl | customer client | price cost fee | schedule cron timer
mail email | notification alert notify | documentation readme manual | kubernetes k8s
i18n internationalization translation locale l10n | a11y accessibility | ci pipeline workflow | postgres postgresql pg
javascript js | typescript ts | performance perf | production prod | development dev | staging stg
credential password secret token | infrastructure infra | specification spec | dependency dependencies deps
administrator admin | timezone tz | endpoint route | license licence | color colour | choose pick select
server host machine node | job task worker | invoice bill | charge payment pay | refund reimburse
expire expiry expiration valid ttl | binary executable exe installer | encrypt cipher | permission access
reject refuse deny | translate localize | website site | upgrade update bump | launch start startup boot
discount rebate | subscribe subscription subscriber unsubscribe | frontend ui | queue broker |
library package dependency
"""
"""People's synonyms: a question about the `login` is answered by a note on `auth`."""

WEIGHT, SAID_WEIGHT = 0.7, 0.5
"""Weights of the other words of a group, relative to the word asked for."""
_START = 2
"""Number of first letters that a term always shares with its word."""


class WordGroups:
    """Groups of synonyms, searched by first letters, because a process needs only a few of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._groups: list[str] = []
        self._known: dict[str, tuple[str, ...]] = {}

    def others(self, term: str) -> tuple[str, ...]:
        """Return the synonyms of a term, as terms of the index."""
        if term not in self._known:
            self._known[term] = tuple(dict.fromkeys(self._others(term)))
        return self._known[term]

    def _others(self, term: str) -> Iterator[str]:
        if not self._groups:
            self._groups = [f" {group}" for group in self._text.replace("\n", "|").split("|")]
        start = f" {term[:_START]}"
        for group in self._groups:
            if start not in group:
                continue
            members = [terms(word)[0] for word in group.split()]
            if term in members:
                yield from (other for other in members if other != term)


SHORT, ALIKE, SAID = WordGroups(_SHORT), WordGroups(_ALIKE), WordGroups(_SAID)
