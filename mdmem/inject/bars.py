"""Bars: how much an answer must have in common with a prompt, by how surely and in which words the prompt asks.

It is enough to meet one bar of several: an answer with fewer words of the question must have rarer ones, or more of all
that is asked, or a greater lead. The figures were found on the training questions of the bench: after a change, run
`python -m tests.bench block_recall`, which also counts the blocks for ordinary prompts.
"""

from __future__ import annotations

from mdmem.search.asking import at_hand, english, general
from mdmem.search.asking.english import LIKELY, NOT, POSSIBLE, SURE
from mdmem.search.asking.facts import asks_a_fact
from mdmem.search.asking.languages import is_unspaced
from mdmem.search.asking.prose import folds, words
from mdmem.search.text import analysis
from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.search.answering import Answer
    from mdmem.search.asking.shape import Shape


class Bar(Value):
    """The least that an answer must have.

    words: how many of the question's words. weight: the sum of their weights, 1 for a word that no other session has.
    coverage: their share of the question, by weight. lead: the best score, as a multiple of the next one's.
    """

    words: int
    weight: float
    coverage: float
    lead: float = 1.0

    def of_more(self, coverage: float) -> Bar:
        """Return this bar with at least a coverage."""
        return Bar(self.words, self.weight, max(self.coverage, coverage), self.lead)

    def is_met(self, answer: Answer, lead: float) -> bool:
        """Whether an answer is good enough.

        A single word that only occurs in tool output is not enough: in code, any word occurs somewhere.
        """
        return (
            answer.words >= self.words
            and (answer.words > 1 or answer.said > 0)
            and answer.weight >= self.weight
            and answer.coverage >= self.coverage
            and lead >= self.lead
        )


Bars = tuple[Bar, ...]

# -- by what is asked ------------------------------------------------------------------------------

_STANDS_OUT = Bar(3, 2.0, 0.5, 3.0)
"""Enough for any question about this code, even one for a reason that may be known in general."""
_ABOUT_THE_PAST: dict[int, Bars] = {
    SURE: (
        Bar(3, 0.75, 0.2), Bar(2, 1.0, 0.3), Bar(2, 0.75, 0.35, 1.2),
        Bar(2, 0.0, 0.6), Bar(1, 0.75, 0.5), Bar(1, 0.3, 0.95),
    ),
    LIKELY: (Bar(3, 1.0, 0.28), Bar(2, 1.0, 0.4), Bar(2, 1.4, 0.28, 2.0)),
    POSSIBLE: (
        Bar(3, 1.25, 0.6, 1.2), Bar(2, 2.2, 0.6), _STANDS_OUT, Bar(2, 1.5, 0.6, 3.0),
        Bar(4, 1.25, 0.6), Bar(2, 1.5, 0.95), Bar(2, 1.1, 0.95, 3.0),
    ),
}  # fmt: skip
"""For a question in English, by how surely it asks about the past."""

_BY_NAMES = (Bar(2, 1.2, 0.2), Bar(1, 0.8, 0.4, 2.5), Bar(1, 0.9, 0.5), Bar(1, 0.9, 0.3, 2.0), Bar(1, 0.7, 0.9))
_FOREIGN: dict[int, Bars] = {
    SURE: (Bar(1, 0.9, 0.0), Bar(1, 0.65, 0.0, 2.0), Bar(1, 0.3, 0.95)),
    LIKELY: _BY_NAMES,
    POSSIBLE: (*_ABOUT_THE_PAST[POSSIBLE], Bar(2, 1.5, 0.3, 2.0)),
}
_UNSPACED = (*_BY_NAMES, Bar(1, 0.7, 0.0, 3.0))
"""If question and vault are in different languages, they may share only names; the last in one without spaces."""

_WHETHER = (Bar(2, 1.6, 0.9, 2.0),)
"""For a question of what something does or is, which a note about it need not say."""
_IN_FULL = Bar(3, 2.0, 0.9, 1.5)
"""For a prompt that does not ask about the past."""

_COVERAGE_OF_GENERAL = 0.7
"""A question for a reason that may be known in general, or of how something is now, needs this coverage."""
_COVERAGE_WITH_UNKNOWN = 0.6
"""A question that names something unknown needs this coverage."""

_FACT = (Bar(2, 1.3, 0.6, 2.0), Bar(1, 0.95, 0.95, 2.0))
"""Also enough for a question of which, who, when or how much, even if all it names is one rare word.

Few of these are general questions."""

# -- by what answers -------------------------------------------------------------------------------

_SAID_IN_PAST = (Bar(1, 0.95, 0.5, 2.5), Bar(1, 0.7, 0.95, 2.0), Bar(1, 0.8, 0.95))
"""Also enough for a question about the past if the answer was said, not run: a rare word, or the only one."""
_SAID = Bar(2, 1.5, 0.6, 2.0)
"""Also enough if a prompt that the files may answer too is answered by a turn that changed none of them."""
_OURS = frozenset(["we", "our", "us", "ours"])
"""With these words, also for other turns: `where do we keep the keys`."""

PERSONS = ("note", "decision", "preference", "lesson")
"""Kinds of notes that a person keeps."""
_KEPT: dict[int, Bars] = {
    NOT: (),
    POSSIBLE: (Bar(2, 1.4, 0.6, 2.0),),
    LIKELY: (Bar(1, 0.5, 0.9, 2.0),),
    SURE: (Bar(1, 0.3, 0.35, 1.5), Bar(2, 0.3, 0.35)),
}
"""Also enough for such a note, as there are few of them; but one word of three is not evidence."""
_KEPT_WITH_TITLE = (Bar(2, 0.8, 0.7, 1.3), Bar(2, 1.5, 0.45, 2.5), Bar(1, 0.7, 0.95, 1.5))
"""The same if its title has a word of the question; the last if that is its only word."""
_KEPT_FACT, _KEPT_OF_US = Bar(2, 1.6, 0.95, 2.5), Bar(1, 0.95, 0.95, 2.5)
"""Also enough for such a note, whatever the grade: if it has all of a question for a fact, and stands out; or the only
word of a question of what "we" do, a rare one."""


def sufficient(shape: Shape, first: Answer) -> Bars:
    """Return alternative bars for the answers to a prompt. first: the best of them."""
    bars = (*of_question(shape, is_foreign=_is_foreign(first)), *_of_possible(shape), *_of_answer(shape, first))
    return tuple(bar.of_more(_COVERAGE_WITH_UNKNOWN) for bar in bars) if first.is_of_others else bars


def of_question(shape: Shape, *, is_foreign: bool = False) -> Bars:
    """Return the bars for any answer. is_foreign: the best one's session is in a language other than English."""
    question = _question(shape)
    if shape.grade == NOT:
        if general.defines_name(shape.words):
            return ()
        is_explained = shape.language == "en" and general.explains(question) and not general.asks_how_to(question)
        return () if is_explained else (_IN_FULL,)
    if shape.language == "error":
        return ()  # only its message identifies it
    grade = _needed_grade(shape)
    if grade == POSSIBLE and general.defines_name(shape.words):
        return ()
    if grade == POSSIBLE and general.asks_whether(question):
        return (*_WHETHER, _STANDS_OUT)
    if grade == LIKELY and (general.asks_why_in_general(question) or (is_foreign and at_hand.asks_why(shape))):
        return (*(bar.of_more(_COVERAGE_OF_GENERAL) for bar in _ABOUT_THE_PAST[LIKELY]), _STANDS_OUT)
    if is_foreign and grade == POSSIBLE and at_hand.counts(shape):
        return _WHETHER
    in_english = _ABOUT_THE_PAST[grade] if shape.language == "en" else ()
    if in_english and not is_foreign:
        return in_english
    by_names = shape.grade == LIKELY and is_unspaced(shape.language)
    return in_english + (_UNSPACED if by_names else _FOREIGN[grade])


def _of_possible(shape: Shape) -> Bars:
    """Return further bars for a question that may be about the past."""
    if shape.grade != POSSIBLE:
        return ()
    question = _question(shape)
    return _FACT if asks_a_fact(question) and not general.asks_whether(question) and not at_hand.counts(shape) else ()


def _of_answer(shape: Shape, first: Answer) -> Bars:
    """Return further bars for the kind of the best answer."""
    bars: Bars = ()
    question = _question(shape)
    if _needed_grade(shape) == LIKELY and first.hits[0].kind != "observation" and shape.language != "error":
        is_of_now = general.asks_why_in_general(question) or (_is_foreign(first) and at_hand.asks_why(shape))
        coverage = _COVERAGE_OF_GENERAL if is_of_now else 0.0
        bars += tuple(bar.of_more(coverage) for bar in _SAID_IN_PAST)
    if is_kept(first):
        title_terms = frozenset(analysis.query_terms(first.hits[0].title))
        bars += _KEPT[shape.grade]
        counts = "many" in question or at_hand.counts(shape)  # the files may say how many there are now
        bars += (_KEPT_FACT,) if asks_a_fact(question) and not counts else ()
        bars += (_KEPT_OF_US,) if not _OURS.isdisjoint(question) else ()
        if not title_terms.isdisjoint(analysis.query_terms(shape.topic)):
            bars += _KEPT_WITH_TITLE
    is_general = general.explains(question) or general.defines_name(shape.words) or shape.language != "en"
    if shape.grade == NOT and not is_general and (first.is_said or not _OURS.isdisjoint(question)):
        bars += (_SAID,)
    return bars


def _question(shape: Shape) -> list[str]:
    """Return the words of a question, from the question word on."""
    return english.without_leading(folds(words(shape.words)))


def _needed_grade(shape: Shape) -> int:
    """Return the grade whose bars apply: if work is only resumed, the last sessions answer otherwise."""
    return min(shape.grade, LIKELY) if shape.resumes else shape.grade


def is_kept(answer: Answer) -> bool:
    """Whether an answer is a note that a person keeps, or what one wrote on a project's or day's page."""
    return not answer.folder and answer.hits[0].kind in (*PERSONS, "project", "day")


def _is_foreign(answer: Answer) -> bool:
    """Whether an answer's session is in a language other than English, judging by its prompts and answers."""
    first = answer.folder.rpartition("/")[2].replace("-", " ")
    texts = [first, *(hit.title for hit in answer.hits if hit.kind in ("prompt", "response"))]
    return any(map(_is_other_script, texts)) or analysis.is_foreign(" ".join(texts))


def _is_other_script(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return 4 * sum(letter >= _FROM_GREEK for letter in letters) > len(letters)


_FROM_GREEK = "\u0370"
"""The first letter beyond Latin."""
