"""Evidence: decides whether results answer a prompt. The less clearly it asks, the better they must fit."""

from __future__ import annotations

import re
from itertools import pairwise

from mdmem.search.asking import english, general
from mdmem.search.asking.english import LIKELY, NOT, POSSIBLE
from mdmem.search.asking.facts import asks_a_fact
from mdmem.search.asking.languages import UNSPACED
from mdmem.search.asking.prose import folds, words
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.values import Value
from mdmem.vault import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmem.search.asking.shape import Shape
    from mdmem.search.recall import Answer

GAP = 0.62
"""Answers that score less than this share of the best are cut off."""
_ALONE = 3.0
"""The lead of an answer that is the only one."""
RARE = 0.7
"""If a question is asked, other answers need at least this share of the best one's rare words.

Later turns of the same session are exempt: what one turn proposed may be decided in the next."""
ALIKE = 0.9
"""Answers that score at least this share of the best count as equally good."""
ALL, AS_GOOD = 0.95, 0.75
"""Answers with this coverage of the question and this share of the first one's score are sorted by time."""
MAX_ANSWERS = 5


class Bar(Value):
    """Minimum requirements of an answer: number of the question's words, their weight, and their share of all words."""

    words: int
    weight: float
    coverage: float
    lead: float = 1.0

    def of_more(self, coverage: float) -> Bar:
        """Return this bar with at least a coverage."""
        return Bar(self.words, self.weight, max(self.coverage, coverage), self.lead)

    def is_met(self, answer: Answer, lead: float) -> bool:
        """Whether an answer is good enough. lead: its score as a multiple of the next one's.

        A single word that only occurs in tool output is not enough: in code, any word occurs somewhere.
        """
        return (
            answer.words >= self.words
            and (answer.words > 1 or answer.said > 0)
            and answer.weight >= self.weight
            and answer.coverage >= self.coverage
            and lead >= self.lead
        )


_SURE = (
    Bar(3, 0.75, 0.2), Bar(2, 1.0, 0.3), Bar(2, 0.75, 0.35, 1.2), Bar(3, 0.3, 0.35),
    Bar(2, 0.0, 0.6), Bar(1, 0.75, 0.5), Bar(1, 0.3, 0.95),
)  # fmt: skip
_LIKELY = (
    Bar(3, 1.0, 0.28), Bar(2, 1.0, 0.4), Bar(3, 0.5, 0.7),
    Bar(2, 1.4, 0.28, 2.0), Bar(1, 0.9, 0.9, 2.0), Bar(2, 0.95, 0.95, 1.5),
)  # fmt: skip
_POSSIBLE = (
    Bar(3, 1.25, 0.6, 1.2), Bar(2, 2.2, 0.6), Bar(3, 2.0, 0.5, 3.0),
    Bar(2, 1.5, 0.6, 3.0), Bar(2, 1.3, 0.5, 5.0), Bar(4, 1.25, 0.6),
    Bar(3, 2.4, 0.4, 2.0), Bar(2, 1.6, 0.9, 2.0), Bar(2, 1.5, 0.95),
    Bar(2, 1.1, 0.95, 3.0),
)  # fmt: skip
"""Alternative bars of a question in English, by how surely it asks about the past."""

_OF_OTHERS = 0.6
"""A question that names something unknown needs this coverage."""
_MOST = 0.7
"""A question for a reason that may be known in general needs this coverage."""
_WHOLE = (Bar(3, 1.25, 0.9, 1.2), Bar(2, 1.6, 0.9, 2.0))
"""For questions of what something does or is, which a note about it need not say."""
_ERROR = (Bar(3, 1.5, 0.6, 1.4), Bar(4, 1.5, 0.5, 1.4), Bar(5, 2.5, 0.4, 1.5), Bar(4, 2.0, 0.3, 2.0))
"""For notes without the error's message: see `says`."""
_FOREIGN_SURE = (Bar(1, 0.9, 0.0), Bar(1, 0.65, 0.0, 2.0), Bar(1, 0.45, 0.0, 3.5))
_FOREIGN = (Bar(2, 1.2, 0.2), Bar(1, 0.9, 0.5), Bar(3, 1.5, 0.0, 2.0), Bar(1, 0.9, 0.3, 2.0), Bar(1, 0.7, 0.9))
_UNSPACED = (*_FOREIGN, Bar(1, 0.9, 0.0, 2.0))
_FOREIGN_POSSIBLE = (*_POSSIBLE, Bar(2, 1.5, 0.3, 2.0))
"""In languages other than English, question and vault may share only names."""


PERSONS = ("note", "decision", "preference", "lesson")
"""Kinds of notes that a person keeps."""
_KEPT = (
    (),
    (Bar(2, 1.4, 0.6, 2.0), Bar(2, 1.0, 0.95, 1.5)),
    (Bar(1, 0.5, 0.9, 2.0),),
    (Bar(1, 0.3, 0.35, 1.5), Bar(2, 0.3, 0.35)),
)
"""Also sufficient, by grade, if the best answer is a note that a person keeps: there are few of them.

One word of three is no evidence."""
_LOOKED_UP = (Bar(3, 1.2, 0.65, 1.3),)
_IN_TITLE = (Bar(2, 0.8, 0.7, 1.3), Bar(2, 1.5, 0.45, 2.5))
"""Also sufficient for such a note: for any question, and if its title has a word of the question."""
_IS_TITLE, _MUST_BE_TITLE = (Bar(1, 0.7, 0.95, 1.5),), (Bar(1, 0.9, 0.95, 2.0),)
"""Sufficient if its title has the only word of a question; the second for one that the files may answer too."""
_IN_FULL, _ALONE_IN_MOST = Bar(3, 2.0, 0.9, 1.5), Bar(3, 2.0, 0.65, 4.0)
_SAID = (Bar(2, 1.5, 0.6, 2.0), Bar(1, 0.95, 0.95, 2.5))
"""For questions that the files may answer too: turns that changed files, and those that changed none, also.

The first also for any turn if the question is about what we do: `where do we keep the keys`.
"""
_OURS = frozenset(["we", "our", "us", "ours"])


SAYS = (1.0, 0.6, 0.4, 0.4)
"""Share of an error's word pairs that a note must contain to have the same message, by grade."""


_ONE_SAID = (Bar(1, 0.95, 0.5, 2.5), Bar(1, 0.7, 0.95, 2.0), Bar(1, 0.8, 0.95))
"""Also sufficient for a question about the past if the answer was said, not run: a rare word, or the only one."""
_BACK = (Bar(1, 0.9, 0.95, 2.0), Bar(2, 1.4, 0.6, 2.0))
"""Also sufficient if a problem is back: the error's code may be all that the prompt says about it."""


_FACT = (Bar(2, 1.3, 0.9, 2.0), Bar(2, 1.4, 0.6, 2.5), Bar(1, 0.95, 0.95, 2.0))
"""Also sufficient for a question of which, who, when or how much, also if all it names is one rare word.

Few of these are general questions."""


def says(text: str, shape: Shape) -> bool:
    """Whether a text contains an error's message; single words such as "object" and "cannot" are in many notes."""
    name, _, message = shape.topic.partition(":")
    pairs_sought = _pairs(f"{name.rpartition('.')[2]} {message}")
    return bool(pairs_sought) and len(pairs_sought & _pairs(text)) >= SAYS[shape.grade] * len(pairs_sought)


def quoted_names(error: str) -> list[str]:
    """Return the names that a short message quotes, which tell it from others: `No module named 'x'`."""
    quoted = r"(?<!\w)['\"`]([\w.-]{2,40})['\"`]"
    others = analysis.words(re.sub(quoted, "", error.partition(":")[2]))
    return re.findall(quoted, error) if len(others) <= MOST_BESIDE_NAMES else []


MOST_BESIDE_NAMES = 4
"""A message with more words beside the names that it quotes is known by those words."""


def _pairs(text: str) -> set[tuple[str, str]]:
    words = analysis.words(text.lower())
    return set(pairwise(words))


def is_kept(answer: Answer) -> bool:
    """Whether an answer is a note that a person keeps, or what one wrote on a project's or day's page."""
    return not answer.folder and answer.hits[0].kind in (*PERSONS, "project", "day")


def bars(shape: Shape, *, is_foreign: bool = False) -> tuple[Bar, ...]:
    """Return alternative bars, one of which the best answer to a prompt must meet.

    is_foreign: the answer's session is in a language other than English.
    """
    question = _question(shape)
    if shape.grade == NOT:
        if general.explains(question):
            return (_IN_FULL,) if general.asks_how_to(question) else ()
        return (_IN_FULL, _ALONE_IN_MOST)
    if shape.language == "error":
        return _ERROR if shape.grade > POSSIBLE else ()  # without an error's name, only the message identifies it
    grade = _needed_grade(shape)
    in_english = (_POSSIBLE, _LIKELY, _SURE)[grade - POSSIBLE] if shape.language == "en" else ()
    if grade == POSSIBLE and general.asks_whether(question):
        return _WHOLE
    if grade == LIKELY and general.asks_why_in_general(question):
        return tuple(bar.of_more(_MOST) for bar in _LIKELY)
    if in_english and not is_foreign:
        return in_english
    likely = _UNSPACED if shape.language in UNSPACED else _FOREIGN
    return in_english + (_FOREIGN_POSSIBLE, likely, _FOREIGN_SURE)[shape.grade - POSSIBLE]


def _needed_grade(shape: Shape) -> int:
    """Return the grade whose bars apply: if work is only resumed, the last sessions answer otherwise."""
    return min(shape.grade, LIKELY) if shape.resumes else shape.grade


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


def chosen(shape: Shape | None, answers: Sequence[Answer]) -> tuple[list[Answer], str]:
    """Return the answers to show, and why the others are not; without a shape, only the gap in scores decides.

    Questions that led to no change are shown only if nothing else answers, or nothing nearly as well. What was answered
    from an injection is shown only if nothing else answers: it repeats the others in fewer words.
    """
    original = [answer for answer in answers if not answer.is_echo]
    shown, why = _of_originals(shape, original)
    return (shown, why) if shown or len(original) == len(answers) else _of_originals(shape, answers)


def _of_originals(shape: Shape | None, answers: Sequence[Answer]) -> tuple[list[Answer], str]:
    best = max((answer for answer in answers if not answer.is_talk), key=lambda answer: answer.score, default=None)
    work = [answer for answer in answers if not answer.is_talk or (best and _is_far_better(answer, best))]
    if shape and shape.grade >= LIKELY and (changed := _changing_file(shape, work)):
        return changed[:MAX_ANSWERS], _BELOW
    shown, why = _chosen(shape, work)
    if not shown and len(work) < len(answers):
        shown, why = _chosen(shape, answers)
    return _with_talk(shown, answers)[:MAX_ANSWERS], why


def _with_talk(shown: Sequence[Answer], answers: Sequence[Answer]) -> list[Answer]:
    """Insert after the first answer the rest of its story: the talk it followed from, or the work that followed."""
    if not shown:
        return []
    first = shown[0]
    if first.is_talk:
        added = [answer for answer in answers if _goes_on(answer, first) and not answer.is_talk]
    else:
        talk = [answer for answer in answers if answer.is_talk and answer.folder == first.folder != ""]
        added = [answer for answer in talk if answer.score >= (ALIKE if _goes_on(first, answer) else 1.0) * first.score]
    return [first, *added[:1], *(answer for answer in shown[1:] if answer not in added[:1])]


def _is_far_better(talk: Answer, work: Answer) -> bool:
    return talk.score > TALK_LEAD * work.score and talk.coverage > work.coverage


TALK_LEAD = 2.5
"""Talk that led to no change counts like work if it scores this many times as high and covers more."""


def _changing_file(shape: Shape, answers: Sequence[Answer]) -> list[Answer]:
    """Return the turns that changed the file whose name is the whole question, newest first."""
    words = (word.strip("?!.,:;'\"()`").lower() for word in shape.topic.split())
    name, *other_words = [word for word in words if word and word not in STOPWORDS] or [""]
    if other_words or "." not in name:
        return []

    def has(answer: Answer) -> bool:
        files = (str(file).lower() for hit in answer.hits for file in hit.facts.get("files", ()))
        return not answer.is_said and any(f"/{file}".endswith(f"/{name}") for file in files)

    return sorted(filter(has, answers), key=lambda answer: answer.hits[0].created, reverse=True)


def _chosen(shape: Shape | None, answers: Sequence[Answer]) -> tuple[list[Answer], str]:
    if not answers:
        return [], "nothing stored contains a word of it"
    answers = [answer for answer in answers if not _outweighed(answer, answers)]
    first = max(answers, key=lambda answer: answer.score)
    close = [answer for answer in answers if answer.score >= GAP * first.score]
    if shape is None:
        return _newest_first(close[:MAX_ANSWERS]), _BELOW
    lead = _lead(first, answers)
    enough = bars(shape, is_foreign=_is_foreign(first)) + _more_bars(shape, first)
    if first.is_of_others:
        enough = tuple(bar.of_more(_OF_OTHERS) for bar in enough)
    top = [answer for answer in answers if answer.score >= _share_of_best(answer, first) * first.score]
    if not any(bar.is_met(answer, lead) for bar in enough for answer in top):
        return [], "too little in common with what is asked"
    shown = [answer for answer in close if answer.weight >= RARE * first.weight or _goes_on(answer, first)]
    if shape.grade == NOT:
        shown = [answer for answer in shown if is_kept(answer) or any(bar.is_met(answer, lead) for bar in enough)]
    return _newest_first(shown[:MAX_ANSWERS]), _BELOW


_BELOW = "well below the best"


def _share_of_best(answer: Answer, first: Answer) -> float:
    """Return the share of the best score with which an answer is evidence too: less in the same session."""
    if answer.folder == first.folder != "":
        return GAP
    return AS_GOOD if answer.coverage >= ALL else ALIKE


def _outweighed(answer: Answer, answers: Sequence[Answer]) -> bool:
    """Whether an answer is a person's note, and another with about the same score has much more of the question.

    Such notes are short, so one word in them scores high.
    """
    most = max(other.weight for other in answers if other.score >= GAP * answer.score)
    return is_kept(answer) and most > answer.weight and most >= FULLER * answer.weight


FULLER = 2.0
"""An answer with this many times more of the question outweighs a person's note."""


def _lead(first: Answer, answers: Sequence[Answer]) -> float:
    """Return the best answer's score as a multiple of the next one's from another session."""
    others = (answer for answer in answers if answer is not first)
    next_score = max((other.score for other in others if not other.folder or other.folder != first.folder), default=0.0)
    return first.score / next_score if next_score > 0 else _ALONE


def _more_bars(shape: Shape, first: Answer) -> tuple[Bar, ...]:
    """Return further sufficient bars, depending on the question and on the kind of the best answer."""
    bars: tuple[Bar, ...] = ()
    question = _question(shape)
    if _needed_grade(shape) == LIKELY and first.hits[0].kind != "observation" and shape.language != "error":
        is_general = general.asks_why_in_general(question)
        bars += tuple(bar.of_more(_MOST if is_general else 0.0) for bar in _ONE_SAID)
    if shape.grade == POSSIBLE and "again" in shape.words.split():
        bars += _BACK
    if shape.grade == POSSIBLE and asks_a_fact(question) and not general.asks_whether(question):
        bars += _FACT
    if is_kept(first):
        title_terms = frozenset(analysis.query_terms(first.hits[0].title))
        is_in_title = not title_terms.isdisjoint(analysis.query_terms(shape.topic))
        bars += _KEPT[shape.grade]
        if is_in_title:
            bars += _IN_TITLE + (_IS_TITLE if shape.grade > NOT else _MUST_BE_TITLE)
        else:
            bars += _LOOKED_UP
    if shape.grade == NOT and not general.explains(question):
        is_ours = not _OURS.isdisjoint(question)
        bars += _SAID if first.is_said else _SAID[:1] if is_ours else ()
    return bars


def _question(shape: Shape) -> list[str]:
    return english.without_leading(folds(words(shape.words)))


def _goes_on(later: Answer, first: Answer) -> bool:
    """Whether an answer is a later turn of the first one's session."""
    turns = [journal.numbers(answer.hits[0].path)[:1] for answer in (later, first)]
    return later.folder == first.folder != "" and turns[0] > turns[1]


def _newest_first(shown: list[Answer]) -> list[Answer]:
    """Sort the newest first among the answers that cover the whole question and score alike: minds change.

    What a person keeps stays before what sessions say.
    """
    first = shown[0]
    alike = [answer for answer in shown if answer.score >= AS_GOOD * first.score and answer.coverage >= ALL]
    alike.sort(key=lambda answer: (is_kept(answer), answer.hits[0].created), reverse=True)
    return [*alike, *(answer for answer in shown if answer not in alike)]
