"""Matching: finds the prompts that match a query: sets from the index, checked in the text where necessary."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from mdmem.search import hits, select, snippet
from mdmem.search.all_but import in_all
from mdmem.search.text import analysis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mdmem.search.index.view import View
    from mdmem.search.prompts.language import PromptTerm

FIELD = "body"


class PromptMatcher:
    """Matches trees against given prompts of a view. root: the vault. among: the prompts' numbers."""

    def __init__(self, view: View, root: str, among: set[int]) -> None:
        self._view = view
        self._root = root
        self.among = among
        self._texts: dict[int, list[str]] = {}

    def matching(self, tree: PromptTerm) -> set[int]:
        """Return the prompts that match a tree."""
        return _OPS[tree.op](self, tree)

    def every(self, words: Iterable[str]) -> set[int]:
        """Return the prompts that have all of these words, ignoring function words."""
        return self._with_terms(analysis.query_terms(" ".join(words)))

    def some(self, words: Iterable[str]) -> set[int]:
        """Return the prompts that have any of these words."""
        return self._with_any(analysis.query_terms(" ".join(words)))

    def text(self, number: int) -> list[str]:
        """Return a prompt's words in order, in lower case."""
        if number not in self._texts:
            self._texts[number] = select.flat(body(self._root, self._view.path(number))).split()
        return self._texts[number]

    def _with_terms(self, terms: Iterable[str]) -> set[int]:
        return in_all(self._with_any([term]) for term in terms)

    def _with_any(self, terms: Iterable[str]) -> set[int]:
        return self.among.intersection(chain.from_iterable(self._view.each(FIELD, term) for term in terms))

    def _checked(self, candidates: set[int], holds: Callable[[list[str]], bool]) -> set[int]:
        return {number for number in candidates if holds(self.text(number))}

    def _phrase(self, tree: PromptTerm) -> set[int]:
        wanted = select.flat(tree.text).split()
        unspaced = analysis.is_unspaced("".join(wanted))
        return self._checked(
            self._with_terms(analysis.terms(tree.text)),
            (lambda text: "".join(wanted) in "".join(text)) if unspaced else lambda text: bool(_starts(text, wanted)),
        )

    def _first(self, tree: PromptTerm) -> set[int]:
        wanted = select.flat(tree.text).split()
        return self._checked(self._with_terms(analysis.terms(tree.text)), lambda text: text[: len(wanted)] == wanted)

    def _prefix(self, tree: PromptTerm) -> set[int]:
        *before, last = select.flat(tree.text).split()
        terms = select.prefix_terms(self._view, last)
        return self._checked(self._with_any(terms), lambda text: _begins(text, before, last))

    def _near(self, tree: PromptTerm) -> set[int]:
        wanted = [(select.flat(part.text).split(), part.op == "word") for part in tree.parts]
        terms = [term for part in tree.parts if part.op != "prefix" for term in analysis.terms(part.text)[:1]]
        return self._checked(
            self._with_terms(terms), lambda text: _near([_places(text, *part) for part in wanted], wanted, tree.number)
        )

    def _prompt(self, tree: PromptTerm) -> set[int]:
        return {number for number in self.among if self._view.facts(number).get("prompt") == tree.number}

    def _without(self, tree: PromptTerm) -> set[int]:
        *required, excluded = tree.parts
        return (self.matching(required[0]) if required else self.among) - self.matching(excluded)


class TitleMatcher(PromptMatcher):
    """Matches only titles, for callers who may not see the texts."""

    def text(self, number: int) -> list[str]:
        """Return the words of a prompt's title."""
        return select.flat(str(self._view.facts(number)["title"])).split()

    def _with_terms(self, terms: Iterable[str]) -> set[int]:
        wanted = set(terms)
        titles = ((number, str(self._view.facts(number)["title"])) for number in self.among)
        return {number for number, title in titles if wanted and wanted <= set(analysis.terms(title))}

    def _prefix(self, tree: PromptTerm) -> set[int]:
        *before, last = select.flat(tree.text).split()
        return self._checked(self.among, lambda text: _begins(text, before, last))


_OPS: dict[str, Callable[[PromptMatcher, PromptTerm], set[int]]] = {
    "word": lambda matcher, tree: matcher._with_terms(analysis.terms(tree.text)[:1]),
    "phrase": lambda matcher, tree: matcher._phrase(tree),
    "first": lambda matcher, tree: matcher._first(tree),
    "prefix": lambda matcher, tree: matcher._prefix(tree),
    "near": lambda matcher, tree: matcher._near(tree),
    "prompt": lambda matcher, tree: matcher._prompt(tree),
    "and": lambda matcher, tree: in_all(map(matcher.matching, tree.parts)),
    "or": lambda matcher, tree: set.union(*map(matcher.matching, tree.parts)),
    "not": lambda matcher, tree: matcher._without(tree),
}


def body(root: str, path: str) -> str:
    """Return a prompt's text, without private parts."""
    return snippet.body_of(hits.read(root, path)).strip()


def _starts(text: list[str], wanted: list[str]) -> list[int]:
    return [at for at in range(len(text) - len(wanted) + 1) if text[at : at + len(wanted)] == wanted]


def _begins(text: list[str], before: list[str], last: str) -> bool:
    """Whether a word that begins with `last` follows the words `before`."""
    ends = (at for at in range(len(before), len(text)) if text[at].startswith(last))
    return any(text[at - len(before) : at] == before for at in ends)


def _places(text: list[str], wanted: list[str], stemmed: bool) -> list[int]:
    """Return the positions of a part of NEAR; a single word matches any form with its stem."""
    if not stemmed:
        return _starts(text, wanted)
    terms = analysis.terms(" ".join(wanted))[:1]
    return [at for at, word in enumerate(text) if analysis.terms(word)[:1] == terms]


def _near(places: list[list[int]], wanted: list[tuple[list[str], bool]], number: int) -> bool:
    """Whether all parts occur with at most `number` words between the first and the last."""
    for part, starts in enumerate(places):
        for start in starts:
            after = [min((at for at in of_part if at >= start), default=None) for of_part in places]
            last = [at for at in after if at is not None]
            if len(last) == len(places) and max(last) - (start + len(wanted[part][0])) <= number:
                return True
    return False
