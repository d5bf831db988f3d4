"""Language: parses the language of prompt search, which is like FTS5's, into a tree.

`AND`, `OR`, `NOT` (in capitals), `NEAR(a b, 5)`, "phrases", prefixes such as `pars*`, `^first`, parentheses,
`prompt_text:` and `prompt:3`. Adjacent words must all occur; of plain words without any operator, some suffice if no
prompt has all. Invalid input is a problem with a hint, never a guess.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mdmem.lazy_pattern import lazy
from mdmem.search.query import KEYS, TIMES
from mdmem.search.text import analysis

if TYPE_CHECKING:
    from collections.abc import Callable

NEAR_TOKENS = 10
"""Maximum number of words between the parts of a NEAR without a number, as in FTS5."""
MAX_DEPTH = 40

_TOKEN = lazy(
    r'(?P<phrase>\^?[+-]?"(?:[^"]|"")*"\*?)|(?P<near>NEAR\s*\()|(?P<open>[+-]?\()|(?P<close>\))|(?P<comma>,)'
    r'|(?P<column>prompt_text\s*:)|(?P<filter>-?[A-Za-z]+:(?:"[^"]*"|[^\s()"]+))|(?P<word>[^\s()",]+(?:\([^()\s]*\))*)'
    r"|(?P<space>\s+)|(?P<odd>.)",
    re.DOTALL,
)


class PromptTerm(NamedTuple):
    """A node of the tree.

    op: word, phrase, prefix, first (a phrase that begins a prompt), near, prompt, and, or, not. text: of a leaf.
    parts: the child nodes. For `not`, the last is excluded, and the first may be missing. number: for `near`, the
    maximum number of words in between; for `prompt`, its number.
    """

    op: str
    text: str = ""
    parts: tuple[PromptTerm, ...] = ()
    number: int = 0


class PromptQuery(NamedTuple):
    """A parsed query. tree: None matches all prompts. filters: key, value, and False for an exclusion.

    plain: whether it is only words, without any operator. problem: why it is invalid, or "".
    """

    tree: PromptTerm | None = None
    filters: tuple[tuple[str, str, bool], ...] = ()
    plain: bool = True
    hints: tuple[str, ...] = ()
    problem: str = ""


class _ProblemError(Exception):
    """The reason why a query is invalid."""


def parse(text: str) -> PromptQuery:
    """Parse a query; a syntax error is returned as its `problem`."""
    reader = _PromptReader(text)
    try:
        tree = reader.whole()
    except _ProblemError as error:
        return PromptQuery(problem=f"{error} Put text that is not an operator in quotes.", plain=False)
    return PromptQuery(tree, tuple(reader.filters), reader.plain, tuple(reader.hints))


def leaves(tree: PromptTerm | None) -> list[PromptTerm]:
    """Return the leaves that a prompt should have, without excluded ones."""
    if tree is None or tree.op == "prompt":
        return []
    if tree.op == "not":
        return leaves(tree.parts[0]) if len(tree.parts) == 2 else []
    return [leaf for part in tree.parts for leaf in leaves(part)] if tree.parts else [tree]


class _PromptReader:
    """A recursive-descent parser: OR binds least, then AND, then NOT, then adjacency."""

    def __init__(self, text: str) -> None:
        if text.count('"') % 2 and text.endswith(' "'):
            text += '"'
        tokens = ((str(token.lastgroup), token[0]) for token in _TOKEN.finditer(text))
        self._tokens = [(kind, token) for kind, token in tokens if kind != "space"]
        self._at = 0
        self._depth = 0
        self.filters: list[tuple[str, str, bool]] = []
        self.hints: list[str] = []
        self.plain = True

    def whole(self) -> PromptTerm | None:
        tree = self._either() if self._tokens else None
        if self._at < len(self._tokens):
            raise _ProblemError(f"The {self._tokens[self._at][1]!r:.40} is not expected there.")
        return tree

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _operator(self, name: str) -> bool:
        if self._peek() != ("word", name):
            return False
        self._at += 1
        self.plain = False
        return True

    def _either(self) -> PromptTerm | None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _ProblemError(f"Parentheses are nested more than {MAX_DEPTH} deep.")
        tree = self._several("OR", lambda: self._several("AND", self._without))
        self._depth -= 1
        return tree

    def _several(self, name: str, part: Callable[[], PromptTerm | None]) -> PromptTerm | None:
        """Parse parts with an operator between them."""
        tree = part()
        more: list[PromptTerm] = []
        while self._operator(name):
            tree = _needed(tree, f"{name} needs something before it.")
            more.append(_needed(part(), _AFTER.format(name)))
        return _joined(name.lower(), [tree, *more]) if tree else None

    def _without(self) -> PromptTerm | None:
        tree = self._side_by_side()
        excluded: list[PromptTerm] = []
        while self._operator("NOT"):
            excluded.append(_needed(self._side_by_side(), _AFTER.format("NOT")))
        return _excluding(tree, excluded)

    def _side_by_side(self) -> PromptTerm | None:
        required: list[PromptTerm] = []
        excluded: list[PromptTerm] = []
        while self._peek()[0] not in ("end", "close") and self._peek() not in _OPERATORS:
            sign, term = self._term()
            if term is not None:
                (excluded if sign == "-" else required).append(term)
        return _excluding(_joined("and", required) if required else None, excluded)

    def _term(self) -> tuple[str, PromptTerm | None]:
        kind, text = self._peek()
        self._at += 1
        if kind == "comma":
            return "", None
        if kind == "odd":
            raise _ProblemError('A " is never closed.')
        if kind == "word":
            return self._word(text)
        self.plain = False
        if kind == "phrase":
            return self._phrase(text)
        if kind == "near":
            return "", self._near()
        if kind == "open":
            return text[0], self._group()
        if kind == "column":
            sign, term = self._term() if self._peek()[0] in ("word", "phrase", "open", "near") else ("", None)
            return sign, _needed(term, _AFTER.format("prompt_text:"))
        return self._filter(text)

    def _group(self) -> PromptTerm:
        tree = self._either()
        if self._peek()[0] != "close":
            raise _ProblemError("A ( is never closed.")
        self._at += 1
        return _needed(tree, "There is nothing between ( and ).")

    def _word(self, text: str) -> tuple[str, PromptTerm | None]:
        sign = text[0] if text[0] in "+-" and text[1:2].isalnum() else ""
        word = text[len(sign) :]
        self.plain = self.plain and not sign
        if word[:1] == "^" and analysis.words(word):
            self.plain = False
            return sign, PromptTerm("first", word[1:])
        if word.endswith("*") and len(analysis.words(word)) == 1:
            self.plain = False
            return sign, PromptTerm("prefix", word[:-1])
        words = analysis.words(word)
        if not words:
            return "", None
        if word.lower() == "not" and self._at > 1 and self._peek()[0] != "end":
            self.hints.append("`not` is a word here; write NOT in capitals to leave out what follows it.")
        return sign, PromptTerm("word" if len(words) == 1 else "phrase", word)

    def _phrase(self, text: str) -> tuple[str, PromptTerm | None]:
        first, begins = text[0] == "^", text.endswith("*")
        bare = text.lstrip("^").rstrip("*")
        sign = bare[0] if bare[0] in "+-" else ""
        phrase = bare[len(sign) :].strip('"').replace('""', '"')
        if not analysis.words(phrase):
            return "", None
        if first:
            return sign, PromptTerm("first", phrase)
        return sign, PromptTerm("prefix" if begins else "phrase", phrase)

    def _near(self) -> PromptTerm:
        parts: list[PromptTerm] = []
        number = NEAR_TOKENS
        while self._peek()[0] in ("word", "phrase"):
            _, term = self._term()
            parts += [term] if term else []
        if self._peek()[0] == "comma":
            self._at += 1
            kind, text = self._peek()
            if kind != "word" or not (text.isascii() and text.isdigit()):
                raise _ProblemError("NEAR takes a number after its comma, as in NEAR(date parser, 5).")
            number = min(int(text[:6]), 10_000)
            self._at += 1
        if self._peek()[0] != "close" or not parts:
            raise _ProblemError("NEAR takes words or phrases, and a number after a comma: NEAR(date parser, 5).")
        self._at += 1
        return PromptTerm("near", parts=tuple(parts), number=number)

    def _filter(self, text: str) -> tuple[str, PromptTerm | None]:
        sign, bare = (text[0], text[1:]) if text[0] == "-" else ("", text)
        key, _, value = bare.partition(":")
        value, key = value.strip('"'), key.lower()
        if key == "prompt":
            if not (value.isascii() and value.isdigit()):
                raise _ProblemError(f"prompt: takes a number, as in prompt:3, not {value!r:.40}.")
            return sign, PromptTerm("prompt", number=int(value[:9]))
        if key in (*KEYS, *TIMES):
            self.filters.append((key, value, not sign))
            return "", None
        if analysis.words(value):
            self.hints.append(f"There is no filter `{key}:`; `{bare:.40}` is searched as text.")
        return sign, PromptTerm("phrase", bare)


_AFTER = "{} needs something after it to search the text for."


def _needed(tree: PromptTerm | None, problem: str) -> PromptTerm:
    if tree is None:
        raise _ProblemError(problem)
    return tree


def _joined(op: str, parts: list[PromptTerm]) -> PromptTerm:
    """Return several nodes as one, so that a long query becomes a wide tree, not a deep one."""
    return PromptTerm(op, parts=tuple(parts)) if len(parts) > 1 else parts[0]


def _excluding(tree: PromptTerm | None, excluded: list[PromptTerm]) -> PromptTerm | None:
    """Return a tree without what matches one of `excluded`."""
    if not excluded:
        return tree
    without = _joined("or", excluded)
    return PromptTerm("not", parts=(tree, without) if tree else (without,))


_OPERATORS = [("word", name) for name in ("AND", "OR", "NOT")]
