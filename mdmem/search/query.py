"""Query: parses the query language: words, "phrases", +must, -not, begin*, and filters such as `kind:prompt since:2w`.

Any text is valid, including pasted errors and half sentences: whatever is not an operator is searched as words. Text
that only looks like an operator is searched as words too, with a hint.
"""

from __future__ import annotations

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

KEYS = ("kind", "project", "session", "tool", "file", "tag", "agent", "branch", "is")
"""Filters with text values; values separated by commas are alternatives."""
STATES = (
    "pinned", "edited", "failed", "private", "redacted", "staged", "candidate", "proposed", "dismissed", "archived",
    "retired",
)  # fmt: skip
"""Values of `is:`."""
TIMES = ("since", "until", "on")
"""Filters with a time."""
_SYNONYMS = {
    "kinds": "kind", "type": "kind", "projects": "project", "tools": "tool", "files": "file", "path": "file",
    "tags": "tag", "agents": "agent", "after": "since", "before": "until", "from": "since", "date": "on",
}  # fmt: skip


class Filter(NamedTuple):
    """A condition on a note's front matter. values: alternatives, in lower case. wanted: False for `-kind:prompt`."""

    key: str
    values: tuple[str, ...]
    wanted: bool = True


class Query(NamedTuple):
    """A parsed query.

    words: ranked, none of them required. phrases: text that must occur exactly. must, must_not: words and phrases that
    must or must not occur. prefixes: for each, a word that begins with it must occur.
    since, until: seconds since 1970; notes from `since` on and before `until`. hints: sentences for the user.
    typed: the query as typed.
    """

    words: str = ""
    phrases: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    since: float | None = None
    until: float | None = None
    hints: tuple[str, ...] = ()
    typed: str = ""

    @property
    def text(self) -> str:
        """Return the text that notes are ranked by: the words, and what must occur."""
        return " ".join([self.words, *self.phrases, *self.must])


_OPERATORS = lazy(r'(?P<sign>[+-]?)(?:(?P<key>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))')


def parse(text: str, now: datetime | None = None) -> Query:
    """Parse a query; never raises.

    now: an aware time that `since:2w` and `on:yesterday` are relative to; its zone defines when days begin.
    """
    reader = _Reader(now)
    typed = text
    if text.count('"') % 2:
        reader.hints.append('A " is not closed: its words are searched one by one.')
        text = text.replace('"', " ")
    for token in _OPERATORS.finditer(text):
        reader.take(token)
    return reader.query()._replace(typed=typed)


def with_filters(
    query: Query,
    given: Mapping[str, str | Iterable[str] | None],
    now: datetime | None = None,
    *,
    as_options: bool = False,
) -> Query:
    """Return the query with further filters, such as `{"tag": ["a", "b"], "since": "2w"}`; None adds no filter.

    An invalid value adds a hint, as in the query language. as_options: given on a command line, so that a hint names
    `--tag` instead of `tag:`.
    """
    reader = _Reader(now, as_options=as_options)
    for key, value in given.items():
        for text in [value] if isinstance(value, str) else value or ():
            if not reader.filter(key, text, wanted=True):
                reader.hints.append(reader.refusal(key, text))
    added = reader.query()
    return query._replace(
        filters=query.filters + added.filters,
        since=_tighter(max, query.since, added.since),
        until=_tighter(min, query.until, added.until),
        hints=query.hints + added.hints,
    )


def _tighter(choose: Callable[[float, float], float], a: float | None, b: float | None) -> float | None:
    return b if a is None else a if b is None else choose(a, b)


def _misspelled(key: str, value: str) -> str:
    """Return the filter that a key with one typo in it means; "" if there is none, or the value is not a filter's.

    A letter that is missing or replaced counts only in a long name: `too:`, `find:` and `fire:` are words.
    """
    if len(key) < 4 or value[:1] == "/" or value.isdecimal():  # an address, a line, a time
        return ""
    return next((name for name in (*KEYS, *TIMES) if len(name) > 3 and _is_near(key, name)), "")


def _is_near(typed: str, name: str) -> bool:
    """Whether a word has one letter too few or too many, or two swapped; or another letter, if the name is long."""
    begin = next((at for at, (a, b) in enumerate(zip(typed, name, strict=False)) if a != b), min(len(typed), len(name)))
    rest, wanted = typed[begin:], name[begin:]
    return (
        (len(name) > 4 and rest[1:] == wanted[1:])
        or rest == wanted[1:]
        or rest[1:] == wanted
        or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
    )


class _Reader:
    """The parts of a query parsed so far."""

    def __init__(self, now: datetime | None, *, as_options: bool = False) -> None:
        self._now, self._as_options = now, as_options
        self._words: list[str] = []
        self._phrases: list[str] = []
        self._must: list[str] = []
        self._must_not: list[str] = []
        self._prefixes: list[str] = []
        self._filters: list[Filter] = []
        self._since: float | None = None
        self._until: float | None = None
        self.hints: list[str] = []

    def query(self) -> Query:
        """Return the whole query."""
        return Query(
            " ".join(self._words),
            tuple(self._phrases),
            tuple(self._must),
            tuple(self._must_not),
            tuple(self._prefixes),
            tuple(self._filters),
            self._since,
            self._until,
            tuple(self.hints),
        )

    def take(self, token: re.Match[str]) -> None:
        """Process the next token."""
        sign, key, phrase, word = token["sign"], token["key"], token["phrase"], token["word"]
        value = phrase if phrase is not None else word
        if key and self._is_filter(key, value, sign):
            return
        if key:
            self._words.append(token[0].replace('"', " "))
        elif phrase is not None:
            self._take_phrase(sign, phrase)
        else:
            self._take_word(sign, word)

    def _is_filter(self, key: str, value: str, sign: str) -> bool:
        key = key.lower()
        known = key in KEYS or key in TIMES
        if known and value and self.filter(key, value, wanted=sign != "-"):
            return True
        if known:
            self.hints.append(self.refusal(key, value))
        elif meant := _SYNONYMS.get(key) or _misspelled(key, value):
            self.hints.append(f"`{key}:` is searched as a word; the filter is called `{meant}:`.")
        return False

    def filter(self, key: str, value: str, *, wanted: bool) -> bool:
        """Add a filter; return False if its value is invalid."""
        if key in TIMES:
            span = self._span(key, value)
            if span is None or not wanted:
                return False
            if key in ("since", "on"):
                self._since = _tighter(max, self._since, span[0])
            if key in ("until", "on"):
                self._until = _tighter(min, self._until, span[1])
            return True
        values = tuple(part.strip().lower() for part in value.split(",") if part.strip())
        if key not in KEYS or not values or (key == "is" and not set(values) <= set(STATES)):
            return False
        self._filters.append(Filter(key, values, wanted))
        return True

    def _span(self, key: str, value: str) -> tuple[float, float] | None:
        from mdmem import when

        now = self._now or when.now()
        span = when.span(value, now)
        if span is not None and key == "on" and span[0] == span[1]:
            return when.day_of(span[0], now)
        return span

    def refusal(self, key: str, value: str) -> str:
        """Return why a filter was not accepted, and what is valid."""
        if not value.strip(", "):
            end = "." if self._as_options else ", without a space after the colon."
            return f"{self._named(key)} needs a value{end}"
        if key in TIMES:
            from mdmem import when

            return when.UNREAD.format(value)
        if key == "is":
            return f"{self._named(key, value)} is unknown. Known states: {', '.join(STATES)}."
        return f"Unknown filter {self._named(key, value)}."

    def _named(self, key: str, value: str = "") -> str:
        """Return a filter as it was written: `key:value`, or as an option."""
        if self._as_options:
            return f"--{key}: {value!r:.42}" if value else f"--{key}"
        return f"`{key}:{value:.40}`"

    def _take_phrase(self, sign: str, phrase: str) -> None:
        if not phrase.strip():
            return
        (self._must_not if sign == "-" else self._phrases).append(phrase)

    def _take_word(self, sign: str, word: str) -> None:
        if sign and not word[0].isalpha():  # `--force`, `-1`, `+/-`, a list's dash: not operators
            self._words.append(f"{sign}{word}")
        elif sign:
            (self._must if sign == "+" else self._must_not).append(word)
        elif len(word) > 2 and word.endswith("*") and word[:-1].replace("_", "a").replace("-", "a").isalnum():
            self._prefixes.append(word[:-1])
        else:
            if word.endswith(":") and word[:-1].lower() in (*KEYS, *TIMES):
                self.hints.append(self.refusal(word[:-1], ""))
            self._words.append(word)
