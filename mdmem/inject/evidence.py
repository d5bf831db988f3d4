"""Evidence: decides whether results answer a prompt. The less clearly it asks, the better they must fit."""

from __future__ import annotations

from itertools import pairwise

from mdmem.inject import bars
from mdmem.inject.bars import is_kept
from mdmem.lazy_pattern import lazy
from mdmem.search import overturned, replaced
from mdmem.search.asking.english import LIKELY, NOT
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmem.config import Config
    from mdmem.search.answering import Answer, Asker
    from mdmem.search.asking.shape import Shape

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

SAYS = (1.0, 0.6, 0.4, 0.4)
"""Share of an error's word pairs that a note must contain to have the same message, by grade."""


def says(text: str, shape: Shape) -> bool:
    """Whether a text contains an error's message; single words such as "object" and "cannot" are in many notes."""
    name, _, message = shape.topic.partition(":")
    pairs_sought = _pairs(f"{name if ' ' in name else name.rpartition('.')[2]} {message}")
    return bool(pairs_sought) and len(pairs_sought & _pairs(text)) >= SAYS[shape.grade] * len(pairs_sought)


def quoted_names(error: str) -> list[str]:
    """Return the names that a short message quotes, which distinguish it from others: `No module named 'x'`."""
    others = analysis.words(_QUOTED.sub("", error.partition(":")[2]))
    return _QUOTED.findall(error) if len(others) <= MOST_BESIDE_NAMES else []


_QUOTED = lazy(r"(?<!\w)['\"`]([\w.-]{2,40})['\"`]")
_CODE = lazy(r"\b(?:E[A-Z]{3,20}|[A-Z]{1,5}[0-9]{3,5}|\w{1,60}(?:Error|Exception))\b")
MOST_BESIDE_NAMES = 4
"""A message with more words beside the names that it quotes is known by those words."""


def codes(text: str) -> set[str]:
    """Return the error codes and names in a text, such as `ECONNRESET`, `TS2345` and `KeyError`."""
    return {*_CODE.findall(text)}


def _pairs(text: str) -> set[tuple[str, str]]:
    """Return each two words that follow each other; how much something was, as in `by 64 bytes`, makes no other."""
    return set(pairwise(analysis.words(_AMOUNT.sub(r"0 \1", text.lower()))))


_AMOUNT = lazy(r"\b\d[\d.,]{0,20}\W{0,3}(bytes?|[kmgt]?i?b|ms|s|secs?|seconds?|min|minutes?|chars)\b")


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
    if shape and (shape.grade >= LIKELY or shape.words == shape.topic) and (changed := _changing_file(shape, work)):
        return changed[:MAX_ANSWERS], _BELOW
    shown, why = _chosen(shape, work)
    if not shown and len(work) < len(answers):
        shown, why = _chosen(shape, answers)
    return _with_talk(shown, answers)[:MAX_ANSWERS], why


def of_days(answers: Sequence[Answer]) -> list[Answer]:
    """Return the best of the answers from the days that a prompt names, if it has half of what else it names."""
    best = max(answers, key=lambda answer: answer.score, default=None)
    return [best] if best is not None and best.coverage >= OF_DAYS and best.said > 0 else []


OF_DAYS = 0.5


def _with_talk(shown: Sequence[Answer], answers: Sequence[Answer]) -> list[Answer]:
    """Insert after the first answer the rest of its story: the talk it followed from, or the work that followed."""
    if not shown:
        return []
    first = shown[0]
    if first.is_talk:
        added = [answer for answer in answers if _goes_on(answer, first) and not answer.is_talk]
    else:
        talk = [answer for answer in answers if answer.is_talk and answer.folder == first.folder != ""]
        added = [answer for answer in talk if answer.score >= (ALIKE if _goes_on(first, answer) else GAP) * first.score]
    return [first, *added[:1], *(answer for answer in shown[1:] if answer not in added[:1])]


def _is_far_better(talk: Answer, work: Answer) -> bool:
    return talk.score > TALK_LEAD * work.score and talk.coverage > work.coverage


TALK_LEAD = 2.5
"""Talk that led to no change counts like work if it scores this many times as high and covers more."""


def _changing_file(shape: Shape, answers: Sequence[Answer]) -> list[Answer]:
    """Return the turns that changed, moved or removed the file whose name is the whole question, newest first."""
    words = (word.strip("?!.,:;'\"()`").lower() for word in shape.topic.split())
    name, *other_words = [word for word in words if word and word not in STOPWORDS] or [""]
    if other_words or "." not in name:
        return []

    def has(answer: Answer) -> bool:
        files = (str(file).lower() for hit in answer.hits for file in hit.facts.get("files", ()))
        is_changed = not answer.is_said and any(f"/{file}".endswith(f"/{name}") for file in files)
        return is_changed or any(hit.kind == "observation" and _moves(hit.title, name) for hit in answer.hits)

    return sorted(filter(has, answers), key=lambda answer: answer.hits[0].created, reverse=True)


def _moves(command: str, name: str) -> bool:
    """Whether a command moves, renames or removes a file."""
    if name not in command.lower():
        return False
    from mdmem.search import runs  # few prompts ask for a file

    for step in map(runs.words, runs.steps(command)):
        program, *behind = (step[1:] if step[:1] == ["git"] else step) or [""]
        if program in ("mv", "rm") and any(f"/{word.lower()}".endswith(f"/{name}") for word in behind):
            return True
    return False


def _chosen(shape: Shape | None, answers: Sequence[Answer]) -> tuple[list[Answer], str]:
    if not answers:
        return [], "nothing stored contains a word of it"
    answers = [answer for answer in answers if not _outweighed(answer, answers)]
    first = max(answers, key=lambda answer: answer.score)
    close = [answer for answer in answers if answer.score >= GAP * first.score]
    if shape is None:
        return _newest_first(close[:MAX_ANSWERS]), _BELOW
    lead = _lead(first, answers)
    enough = bars.sufficient(shape, first)
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


FULLER = 1.5
"""An answer with this many times more of the question outweighs a person's note."""


def _lead(first: Answer, answers: Sequence[Answer]) -> float:
    """Return the best answer's score as a multiple of the next one's from another session."""
    others = (answer for answer in answers if answer is not first)
    next_score = max((other.score for other in others if not other.folder or other.folder != first.folder), default=0.0)
    return first.score / next_score if next_score > 0 else _ALONE


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


# -- versions: answers of which one took the other back are no rivals ---------------------------------


def in_force(
    config: Config, query: str, asker: Asker, shape: Shape | None, answers: Sequence[Answer]
) -> Sequence[Answer]:
    """Return answers without rivals of the best one that are other versions of it, or the same list if none is.

    These are notes that another one supersedes, and, if there is a shape, turns of a chain of changes.
    """
    kept = [answer.hits[0].path for answer in answers if not answer.folder]
    old = replaced.superseded(config, kept) if len(kept) > 1 else set()
    left = [answer for answer in answers if answer.hits[0].path not in old] if old else answers
    return left if shape is None else _without_changes(config, query, asker, shape, left)


def _without_changes(
    config: Config, query: str, asker: Asker, shape: Shape, answers: Sequence[Answer]
) -> Sequence[Answer]:
    """Return answers without turns of other sessions that changed the best one, or that it changed.

    They are looked for only if the best answer fails for nothing but its rivals.
    """
    best, rivals = _failing_for_rivals(shape, answers)
    if best is None or not rivals:
        return answers
    terms = frozenset(analysis.query_terms(query))
    chain = overturned.of_one_chain(config, terms, asker, [best.hits[0], *(rival.hits[0] for rival in rivals)])
    others = [rival for rival in rivals if rival.hits[0].path in chain]
    return [answer for answer in answers if answer not in others] if others else answers


def _failing_for_rivals(shape: Shape, answers: Sequence[Answer]) -> tuple[Answer | None, list[Answer]]:
    """Return the best answer and its best rivals of other sessions, if it would be shown without these.

    None and no rivals if it would not.
    """
    work = [answer for answer in answers if not answer.is_talk and not answer.is_echo]
    best = max(work, key=lambda answer: answer.score, default=None)
    if best is None or not best.folder or not any(bar.is_met(best, _ALONE) for bar in bars.sufficient(shape, best)):
        return None, []
    others = (answer for answer in work if answer.folder not in ("", best.folder))
    return best, sorted(others, key=lambda answer: -answer.score)[:MAX_RIVALS]


MAX_RIVALS = 2
