"""Candidates: finds the memories for a text, with a reason for each one not shown."""

from __future__ import annotations

import time
from functools import partial
from itertools import islice

from mdmem import timestamps
from mdmem.inject import as_of, echoes, evidence, follow_ups, turns
from mdmem.inject.rendering import answer_item
from mdmem.inject.rendering.block import Item, Section
from mdmem.search import answering, overturned
from mdmem.search.answering import Answer, Asker
from mdmem.search.asking import at_hand, english, facts, parts, references, unfinished
from mdmem.search.asking.english import LIKELY, POSSIBLE, SURE
from mdmem.search.asking.prose import fold, folds, words
from mdmem.search.asking.shape import Shape
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.values import Value
from mdmem.vault import journal, layout, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from mdmem.inject.occasion import Occasion
    from mdmem.search.hits import SearchHit

FIRST_SHARE = 0.6
"""Share of a block that its best answer may use."""
SECOND_SHARE = 0.18
_JUST_SECONDS = 10.0
"""A prompt of this session stored within this time is the one being answered."""
MOST = 0.7
MONTH_SECONDS = 32 * 86_400
"""A prompt that names no more days than a month says by them which session it means."""


class Candidate(Value):
    """An answer, and how it is shown, or None and why not."""

    answer: Answer
    item: Item | None
    left_out: str = ""


def has_topic(text: str) -> bool:
    """Whether a text has a search term, that is, more than function words."""
    return any(word.lower() not in STOPWORDS for word in analysis.words(text))


PART, PART_WEIGHT = 0.25, 0.6
"""A prompt continues a named piece of work if it shares at least this part of its words, and one that is not common."""


def is_for_last_sessions(occasion: Occasion, shape: Shape, candidates: Iterable[Candidate]) -> bool:
    """Whether the last sessions are the answer if nothing else is: it asks what is left, or continues known work."""
    terms = set(analysis.query_terms(shape.topic))
    if not has_topic(shape.topic) or terms <= set(analysis.query_terms(occasion.project)):
        return True
    folded = folds(words(shape.words))
    is_left = unfinished.asks_what_is_left(folded) and not english.resumes(folded)
    answers = [candidate.answer for candidate in candidates]
    is_known = any(answer.coverage >= PART and answer.weight >= PART_WEIGHT for answer in answers)
    return shape.resumes and (is_left or is_known)


def answers(
    occasion: Occasion,
    text: str,
    asked: Shape,
    *,
    days: tuple[float, float] | None = None,
    without_session: bool = True,
) -> list[Candidate]:
    """Return what answers a prompt, as `looked_up` does; if it asks several things at once, also what answers each.

    If it asks what the person said about something, these are the prompts that name all of it, if there are any.
    """
    look = partial(looked_up, occasion, days=days, without_session=without_session)
    wanted = facts.command(text)
    if wanted and (led := _command(occasion, wanted, days, without_session=without_session)):
        others = look(asked.topic, shape=asked) if asked.grade >= LIKELY else []
        return [led, *(one for one in others if one.item is None or led.item is None or one.item.id != led.item.id)]
    if references.asks_what_i_said(folds(words(text[: parts.MAX_CHARS]))):
        subject = (word for word in asked.topic.split() if fold(word) not in references.SAY)
        said = look(" ".join(subject), shape=asked, of_prompts=True)
        if any(candidate.item or candidate.left_out.startswith(answer_item.ABOVE) for candidate in said):
            return said
    found = look(asked.topic, shape=asked)
    for part in parts.of(text, asked) or ([] if _covers(found) else parts.named(asked)):
        found = _joined(found, look(part.topic, shape=part))
    best = next((one.answer for one in found if one.item is not None), None)
    if best and without_session and days is None and follow_ups.is_of_this_session(occasion, asked, best):
        return [Candidate(one.answer, None, one.left_out or follow_ups.SAID_HERE) for one in found]
    return found


def of_event(
    occasion: Occasion, text: str, asked: Shape, *, without_session: bool
) -> tuple[Shape, list[Candidate]] | None:
    """Return what a question asks besides the event until which it asks, and what was so then; None without both.

    What nothing has changed since is found without the time too, and the event itself may tell what was before it.
    """
    named = as_of.of_event(occasion, asked)
    if named is None:
        return None
    found = answers(occasion, text, named[0], days=named[1], without_session=without_session)
    first = next((one.item for one in found if one.item is not None), None)
    return (named[0], found) if first is not None and as_of.CHANGED_SINCE in first.marks else None


def any_answers(candidates: Iterable[Candidate]) -> bool:
    """Whether any of the candidates is shown, or was given before."""
    return any(one.item is not None or one.left_out.startswith(answer_item.ABOVE) for one in candidates)


def _command(
    occasion: Occasion, wanted: facts.WantedCommand, days: tuple[float, float] | None, *, without_session: bool
) -> Candidate | None:
    """Return the command that a prompt asks for; None if none is known."""
    from mdmem.inject import known_command  # few prompts ask for one

    known = known_command.of(occasion, wanted, days, without_session=without_session)
    if known is None:
        return None
    hit, item, left_out = known
    folder = layout.folder_of(hit.path) if journal.numbers(hit.path) else ""
    return Candidate(Answer.of_hit(folder, hit), item, left_out)


def of_one_word(occasion: Occasion, asked: Shape, found: Sequence[Candidate], around: str) -> list[Candidate]:
    """Return what answers a question of one word, told by the words around it in this session; [] for nothing.

    found: what was found without these. The best answer has to show the word, or to have shown it before; what was said
    about it in its session follows it, such as the reason.
    """
    wanted = turns.own_words(asked.topic)
    shape = Shape(POSSIBLE, asked.language, asked.words, f"{asked.topic}{turns.SEPARATOR}{around}")
    for best in looked_up(occasion, shape.topic, shape=shape):
        if best.left_out.startswith(answer_item.ABOVE):
            if any(wanted <= turns.own_words(_text(occasion, hit)) for hit in best.answer.hits):
                return [best]
            continue
        if best.item is None or not wanted <= turns.own_words(" ".join([best.item.title, best.item.text])):
            continue
        talk = (one.answer for one in found if one.answer.is_talk and one.answer.folder == best.answer.folder != "")
        reasons = (answer for answer in talk if answer.coverage >= evidence.ALL and answer.hits != best.answer.hits)
        room = int(FIRST_SHARE * occasion.config.settings.inject.chars)
        terms = frozenset(analysis.query_terms(asked.topic))
        return [best, *(Candidate(one, *_item_of(occasion, one, terms, room, of_prompt=False)) for one in reasons)]
    return []


def _covers(found: Iterable[Candidate]) -> bool:
    """Whether an answer that is shown has most of the question, by weight."""
    return any(candidate.item is not None and candidate.answer.coverage >= MOST for candidate in found)


def _joined(found: list[Candidate], of_part: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates with those shown for a part of the question: the best one after the first, others last."""
    shown = [one for one in found if one.item is not None]
    ids = {one.item.id for one in shown if one.item is not None}
    new = [one for one in of_part if one.item is not None and one.item.id not in ids]
    return [*shown[:1], *new[:1], *shown[1:], *new[1:], *found[len(shown) :]]


def looked_up(
    occasion: Occasion,
    query: str,
    *,
    shape: Shape | None = None,
    days: tuple[float, float] | None = None,
    without_session: bool = True,
    of_prompts: bool = False,
) -> list[Candidate]:
    """Return what a query finds, each with how it is shown or why not: first what fits, in its order, then the rest.

    shape: how the prompt asks, which decides how well an answer must fit; None for a query that nobody asked.
    days: the time that the prompt asks about; answers of another one are shown if none of these fits.
    of_prompts: only what a person typed, with all of the query's words.
    """
    if not has_topic(query):
        return []
    guess = _guess(occasion, query, "turn" if shape is None else "explicit")
    asker = occasion.asker(without_session=without_session).replace(
        now=_other_time(occasion.now), kinds=("prompt",) if of_prompts else ()
    )
    look = partial(_searched, occasion, query, shape, guess=guess)
    answers, chosen, why, until = as_of.found(look, asker, shape, days)
    if chosen and shape is not None and at_hand.is_of_the_present(shape):
        chosen = _with_newest(chosen, answers)
    terms = frozenset(analysis.query_terms(query))
    chars = occasion.config.settings.inject.chars
    limit = occasion.config.settings.inject.recall_limit
    chosen, changed, newer = _beside_changes(occasion, chosen, answers, terms, asker.replace(between=until))
    candidates: list[Candidate] = []
    count = 0
    others = [answer for answer in answers if answer not in chosen]
    others.sort(key=lambda answer: answer.score, reverse=True)
    for answer in (*chosen, *others):
        if answer not in chosen or count >= limit:
            candidates.append(Candidate(answer, None, why if answer not in chosen else "no room"))
            continue
        is_first = not count or (count == 1 and answer in changed)
        room = int(chars * (FIRST_SHARE if is_first else SECOND_SHARE))
        item, left_out = _item_of(occasion, answer, terms, room, of_prompt=of_prompts)
        if item is not None and candidates:
            _mark(candidates[-1].item, item, is_newer=answer is newer, is_changed=answer in changed)
        count += item is not None
        candidates.append(Candidate(answer, item, left_out))
    return candidates


def _searched(occasion: Occasion, query: str, shape: Shape | None, asker: Asker, guess: str) -> as_of.LookedUp:
    """Return what a query finds, the answers to show, and why the others are not."""
    limit, budget = 2 * evidence.MAX_ANSWERS, occasion.seconds_left / 2
    foreign = shape is not None and shape.is_foreign
    config = occasion.config
    look = partial(
        answering.answers, config, query, asker, budget_seconds=budget, limit=limit, guess=guess, foreign=foreign
    )

    def choose(answers: Sequence[Answer]) -> tuple[list[Answer], str]:
        if asker.kinds:
            return evidence.chosen(None, [answer for answer in answers if answer.coverage >= evidence.ALL])
        told_apart = echoes.told_apart(config.vault, answers, query)
        chosen, why = _chosen(occasion, shape, told_apart, guess, query, asker)
        begin, end = asker.between or (0.0, 0.0)
        return (evidence.of_days(answers), why) if not chosen and 0 < end - begin <= MONTH_SECONDS else (chosen, why)

    answers = look()
    chosen, why = choose(answers)
    is_sought = not chosen and not asker.kinds and shape is not None and shape.grade >= LIKELY
    if is_sought and (view := answering.seen_everywhere(occasion.config, asker, budget)) is not None:
        answers = look(seen=view)  # a person has just edited an old note
        chosen, why = choose(answers)
    return answers, chosen, why


def _chosen(
    occasion: Occasion, shape: Shape | None, answers: Sequence[Answer], guess: str, query: str, asker: Asker
) -> tuple[list[Answer], str]:
    """Choose among answers. With a model's guess, which may share no word with the question, only scores count."""
    if shape is not None and shape.language == "error" and (names := evidence.quoted_names(shape.topic)):
        answers = [
            one for one in answers if all(any(name in _text(occasion, hit) for hit in one.hits) for name in names)
        ]
        if not answers:
            return [], ANOTHER_ERROR
    original = [answer for answer in answers if not answer.is_echo]
    same = (
        _same_error(occasion, shape, original)
        or _same_error(occasion, shape, answers)
        or _same_code(occasion, shape, answers)
    )
    if same:
        return same
    chosen, why = evidence.chosen(None if guess else shape, answers)
    if chosen:
        return chosen, why
    left = evidence.in_force(occasion.config, query, asker, None if guess else shape, answers)
    return (chosen, why) if left is answers else evidence.chosen(shape, left)


def _beside_changes(
    occasion: Occasion, chosen: Iterable[Answer], answers: Sequence[Answer], terms: frozenset[str], then: Asker
) -> tuple[list[Answer], list[Answer], Answer | None]:
    """Return the answers, each behind what took it back by the time that is asked about, and those taken back so.

    Also what took the first back after that time, which follows it. terms: the question's.
    """
    chosen = _with_superseding(chosen, answers, partial(overturned.superseding, occasion.config, then))
    ordered, changed = _with_later(list(chosen), answers, partial(overturned.later, occasion.config, terms, then))
    newer = as_of.changed_since(occasion.config, terms, then, ordered[0]) if then.between and ordered else None
    return [*ordered[:1], *([newer] if newer else []), *ordered[1:]], changed, newer


def _mark(before: Item | None, item: Item, *, is_newer: bool, is_changed: bool) -> None:
    """Mark that one of two entries in a row changed what the other says."""
    if is_newer and before is not None:
        before.marks = (as_of.CHANGED_SINCE, *before.marks)
    elif is_changed and before is not None:
        item.marks = (CHANGED_LATER, *item.marks)


CHANGED_LATER = "changed later: see the entry above"
_LATER_OF = 2
"""Number of the best answers of which it is known whether they were taken back later."""


def _with_newest(chosen: list[Answer], answers: Iterable[Answer]) -> list[Answer]:
    """Return the answers to what is now in force, after the best of them a newer one that has half of the question.

    What was decided last may say less of what is asked than a note, or than what was first talked about.
    """
    first = chosen[0]
    if not first.is_talk and first.folder:
        return chosen  # what took back a change is found by the change
    since = first.hits[0].created
    newer = (one for one in answers if one.hits[0].created > since and one.said > 0 and not one.is_echo)
    said = [one for one in newer if one.coverage >= HALF and one.weight >= SAID_RARELY]
    newest = max(said, key=lambda one: (one.coverage, one.hits[0].created), default=first)
    return chosen if newest in chosen else [first, newest, *chosen[1:]]


HALF, SAID_RARELY = 0.5, 0.8


def _with_superseding(
    chosen: Iterable[Answer], answers: Sequence[Answer], newer: Callable[[SearchHit], SearchHit | None]
) -> Iterator[Answer]:
    """Yield the answers, each note after what supersedes it, which may say less of what is asked."""
    given: dict[str, Answer] = {}
    for answer in chosen:
        hit = None if answer.folder else newer(answer.hits[0])
        if hit is not None:
            found = (one for one in answers if one.hits[0].id == hit.id)
            unfound = Answer.of_hit("", hit, answer.score)
            given.setdefault(hit.path, next(found, unfound))
        given.setdefault(answer.hits[0].path, answer)
    yield from given.values()


def _with_later(
    kept: Sequence[Answer], answers: Sequence[Answer], later: Callable[[SearchHit], SearchHit | None]
) -> tuple[list[Answer], list[Answer]]:
    """Return the answers, the best of them after what took them back, and those that were taken back."""
    ordered = list(kept)
    changed: list[Answer] = []
    for first in kept[:_LATER_OF]:
        hit = later(first.hits[0]) if first.folder else None
        if hit is not None:
            folder, turn = layout.folder_of(hit.path), journal.numbers(hit.path)[:1]
            known = (one for one in (*ordered, *answers) if one.folder == folder)
            same_turn = (one for one in known if journal.numbers(one.hits[0].path)[:1] == turn)
            newer = next(same_turn, None) or Answer.of_hit(folder, hit, first.score)
            if any(newer is one for one in changed):
                continue  # turns of parallel sessions that each change the other: neither is what holds now
            ordered = [one for one in ordered if one is not newer]
            ordered.insert(ordered.index(first), newer)
            changed.append(first)
    return ordered, changed


_ERROR_CHARS = 20_000
"""How much of a note is searched for an error message."""


def _same_error(occasion: Occasion, shape: Shape | None, answers: Iterable[Answer]) -> tuple[list[Answer], str] | None:
    """Return the answers with the pasted error's message, and why others are not shown; None if there are none."""
    if shape is None or shape.language != "error":
        return None
    same = [answer for answer in answers if any(evidence.says(_text(occasion, hit), shape) for hit in answer.hits)]
    return (same[: evidence.MAX_ANSWERS], ANOTHER_ERROR) if same else None


def _same_code(occasion: Occasion, shape: Shape | None, answers: Iterable[Answer]) -> tuple[list[Answer], str] | None:
    """Return the runs that failed with the error code that a question about the past names; None if there are none.

    A code may be in nothing but the output of a run, where one word would not be enough evidence for other questions.
    """
    codes = evidence.codes(shape.topic) if shape is not None and shape.grade == SURE else set()
    if shape is None or len(codes) != 1 or turns.own_words(shape.topic) - _BESIDE_CODE != {*map(str.lower, codes)}:
        return None
    same = [answer for answer in answers if any(_failed_with(occasion, hit, codes) for hit in answer.hits)]
    return (same[: evidence.MAX_ANSWERS], ANOTHER_ERROR) if same else None


_BESIDE_CODE = frozenset(["before", "code", "error", "errors", "ever", "time", "fehler", "gehabt"])


def _failed_with(occasion: Occasion, hit: SearchHit, codes: set[str]) -> bool:
    meta = people.load_clean(occasion.config.vault, hit.path).meta
    return meta.get("success") is False and codes <= evidence.codes(str(meta.get("error", "")))


ANOTHER_ERROR = "another error"


def _text(occasion: Occasion, hit: SearchHit) -> str:
    return f"{hit.title}\n{people.load_clean(occasion.config.vault, hit.path).body[:_ERROR_CHARS]}"


def _item_of(
    occasion: Occasion, answer: Answer, terms: frozenset[str], room: int, *, of_prompt: bool
) -> tuple[Item | None, str]:
    hit = answer.hits[0]
    just_now = timestamps.iso_time(occasion.now - _JUST_SECONDS)
    if hit.session == occasion.record.id and hit.kind == "prompt" and hit.created > just_now:
        return None, "the prompt itself"
    return (
        answer_item.of_prompt(occasion, hit, terms, room)
        if of_prompt
        else answer_item.of(occasion, answer, terms, room)
    )


def section(candidates: Iterable[Candidate], heading: str) -> Section:
    """Return a section of the answers to show; if all were given before, it names those."""
    candidates = list(candidates)
    repeated = (found.left_out for found in candidates if found.left_out.startswith(answer_item.ABOVE))
    above = [left_out.removeprefix(answer_item.ABOVE) for left_out in islice(dict.fromkeys(repeated), 5)]
    items = [candidate.item for candidate in candidates if candidate.item is not None]
    remark = f"Given above: {', '.join(above)}." if above and not items else ""
    return Section(heading, items, remark)


def _other_time(now: float) -> datetime | None:
    """Return `now` as a datetime if it differs from the clock; else None, to avoid loading `datetime`."""
    if abs(now - time.time()) < 60.0:
        return None
    from datetime import UTC, datetime

    return datetime.fromtimestamp(now, UTC)


def _guess(occasion: Occasion, query: str, caller: str) -> str:
    """Return a model's guess at the answer if the settings allow it; the search keeps its part of the deadline."""
    settings = occasion.config.settings
    if not settings.expand.enabled:
        return ""
    room = occasion.deadline - time.monotonic() - settings.inject.deadline_seconds
    from mdmem.search.expansion import hyde

    return hyde.guess(occasion.config, query, caller=caller, seconds=max(room, 0.0))
