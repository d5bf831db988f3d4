"""Shape: judges how surely a text asks about the past, and what it asks about. Runs at every prompt."""

from __future__ import annotations

from mdmem.search.asking import english, failures, frames, general, naming, orders, prose, references, slips, unfinished
from mdmem.search.asking.english import LIKELY, NOT, POSSIBLE, SURE
from mdmem.search.asking.form_words import BEFORE_ASKS, FAILING, FAILING_UNSPACED, FILLERS, LEFT_OFF
from mdmem.search.asking.languages import HOW_TO, LANGUAGES, is_unspaced, unspaced
from mdmem.search.asking.prose import folded_word
from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.search.asking.languages import Language
    from mdmem.search.asking.unspaced import Unspaced


class Shape(Value):
    """What a prompt asks for. grade: how surely, `POSSIBLE` to `SURE`; `NOT` if it only looks something up.

    language, words: the evidence, for people. topic: the subject. resumes: whether it resumes earlier work, so that the
    last sessions are the answer if nothing else is.
    """

    grade: int
    language: str
    words: str
    topic: str
    resumes: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether it asks in a language with Latin letters other than English."""
        return self.language in LANGUAGES and not any("\u0250" <= letter <= "\u1dff" for letter in self.topic)


def of(prompt: str) -> Shape | None:
    """Return the shape of a prompt, or None. Code, quotations, pastes and slash commands do not ask."""
    global _last  # noqa: PLW0603 - the same prompt is judged several times in a row
    last = _last
    if last[0] != prompt:
        text = slips.corrected(prompt).replace("these days", "nowadays").replace("These days", "nowadays")
        _last = last = (prompt, _shape_of(text))
    return last[1]


_last: tuple[str, Shape | None] = ("", None)


def look_up(prompt: str) -> Shape | None:
    """Return a shape of grade `NOT` for a prompt that does not ask about the past but how things are, else None.

    The current files answer most of these, so few notes qualify: those of what was only said, or kept by a person. A
    prompt that only names something is `POSSIBLE`.
    """
    if prose.is_command(prompt):
        return None
    lowered = prompt.lower()
    return _look_up(prompt, lowered) or _of_command(prompt, lowered)


def _of_command(prompt: str, lowered: str) -> Shape | None:
    """Judge a question for the command that does something here, which only a run or a person's note answers."""
    is_named = any(word in lowered for word in _ASKS_FOR_COMMAND)
    if not is_named and folded_word(lowered.partition(" ")[0]) not in HOW_TO:
        return None
    from mdmem.search.asking import facts  # few prompts ask so

    wanted = facts.command(prompt)
    return Shape(NOT, wanted.language, wanted.sentence, " ".join(wanted.words)) if wanted else None


_ASKS_FOR_COMMAND = ("how ", "command", "commando", "comando", "befehl", "kommando", "script", " run ")
"""Each question for a command contains one of these, or begins with a word of `HOW_TO`."""


def _look_up(prompt: str, lowered: str) -> Shape | None:
    foreign = HOW_TO.get(folded_word(lowered.partition(" ")[0]), "")
    if not foreign and not any(word in lowered for word in english.LOOKS_UP):
        return _naming(prompt)
    text = prose.prose(prompt)
    for sentence, _ in prose.sentences(text):
        words = prose.folds(prose.words(sentence))
        is_foreign = foreign and LANGUAGES[foreign].asks_how_to(words)
        if is_foreign or english.looks_up(words):
            evidence, language = " ".join(sentence.split()), foreign if is_foreign else "en"
            return Shape(NOT, language, evidence, _topic(_asking_part(text, evidence, language), language))
    return _naming(prompt)


def _naming(prompt: str) -> Shape | None:
    """Judge a prompt that is not a sentence: where it only names something, it may ask for that."""
    if naming.is_file(prompt):
        return Shape(POSSIBLE, "en", prompt.strip(), prompt.strip())
    if not naming.only_names(prompt):
        return None
    about, _, last = _topic(prompt).rpartition(" ")
    about = about if about and folded_word(last) in english.SOUGHT else f"{about} {last}".strip()
    return Shape(POSSIBLE, "en", " ".join(prompt.split()), about)


def _shape_of(prompt: str) -> Shape | None:
    if prose.is_command(prompt):
        return None
    phrase = prose.recall_phrase(prompt)
    if phrase:
        goes_on = _goes_on(phrase, prompt)
        about = _topic(prose.topic(_own_part(prompt, phrase)), "en" if goes_on else phrase.language)
        about, resumes = _without_resuming(about, resumes=goes_on)
        return Shape(SURE, phrase.language, phrase.words, _with_named(about, prompt), resumes=resumes)
    text = prose.prose(prompt)
    best = NOT
    evidence = ("", "")
    resumes = False
    for sentence, asks in prose.sentences(text):
        grade, language, sentence_resumes = _judge(sentence, asks=asks)
        if grade > best:
            best, evidence, resumes = grade, (language, " ".join(sentence.split())), sentence_resumes
        if best == SURE:
            break
    if best == NOT:
        error = failures.error_line(prompt)
        message = error or failures.message(prompt)
        about = failures.without_modules(message)
        return Shape(LIKELY if error else POSSIBLE, "error", message, about) if message else None
    text = _likened(evidence[1], evidence[0]) or _asking_part(text, evidence[1], evidence[0])
    about, resumes = _without_resuming(_topic(text, evidence[0]), resumes=resumes)
    about = _with_named(about, prompt)
    if best < SURE and about and _is_of_the_work_at_hand(best, *evidence, about):
        return None
    return Shape(best, *evidence, about, resumes=resumes)


LONG_CHARS = 100
"""In a longer text, the sentences around a question tell what else is going on."""
_ENOUGH_TERMS = 3
"""A question with this many words of its own needs no sentence before it to be understood."""


def _asking_part(text: str, sentence: str, language: str) -> str:
    """Return the part of a long text that a question is about: its sentence, and others before if it says little."""
    if len(text) <= LONG_CHARS:
        return text
    sentences = [" ".join(typed.split()) for typed, _ in prose.sentences(text)]
    if sentence not in sentences or (not sentence.isascii() and is_unspaced(language)):
        return text
    at = sentences.index(sentence)
    end = max(map(sentence.rfind, _CLAUSES))
    clause = sentence[end + 1 :].strip() if end > 0 else ""
    from mdmem.search.text.stopwords import STOPWORDS

    is_asking = english.ends(prose.folds(prose.words(clause)))
    for part in ([clause] if is_asking else []) + [" ".join(sentences[begin : at + 1]) for begin in range(at, -1, -1)]:
        if sum(folded_word(word) not in STOPWORDS for word in _topic(part, language).split()) >= _ENOUGH_TERMS:
            return part
    return text


def _likened(sentence: str, language: str) -> str:
    """Return the rule, or in another language than English the earlier work, to which a sentence points; "" if none."""
    typed = prose.words(sentence)
    if language == "en":
        return " ".join(typed[references.rule(prose.folds(typed))])
    at = LANGUAGES[language].likened(prose.folds(typed)) if language in LANGUAGES else 0
    return " ".join(typed[at:]) if at else ""


def _own_part(prompt: str, phrase: prose.Asked) -> prose.Asked:
    """Return a phrase that asks with only the part of a long prompt that it is about."""
    text = prose.prose(prompt)
    if len(text) <= LONG_CHARS:
        return phrase
    sentence = next((candidate for candidate, _ in prose.sentences(text) if prose.recall_phrase(candidate)), "")
    part = _asking_part(text, " ".join(sentence.split()), phrase.language)
    return (prose.recall_phrase(part) if part != text else None) or phrase


def _is_of_the_work_at_hand(grade: int, language: str, sentence: str, about: str) -> bool:
    """Whether a sentence only says that something here does not work, but not what: `still the same error`."""
    if is_unspaced(language):
        for part in FAILING_UNSPACED:
            about = about.replace(part, "")
        return not any(map(str.isalnum, about))
    typed = [word.lower() for word in prose.words(sentence)]
    words, subject = prose.folds(typed), prose.folds(prose.words(about))
    if language not in LANGUAGES:
        return english.is_of_the_work_at_hand(words, subject, grade)
    known = LANGUAGES[language]
    if not all(word in FAILING or word in FILLERS or known.known([word]) for word in subject):
        return False
    return not known.has("back", words) and (grade == POSSIBLE or not any(known.speaks_of_us(words, typed)))


def _without_resuming(topic: str, *, resumes: bool) -> tuple[str, bool]:
    """Return a topic without words of resuming ("where did we leave off"), and whether it resumes work."""
    words = topic.split()
    remaining = [word for word in words if folded_word(word) not in LEFT_OFF]
    if all(folded_word(word) in FILLERS for word in remaining):
        return "", resumes or len(remaining) < len(words)
    if resumes:
        topic = " ".join(remaining)
        return topic if sum(map(str.isalpha, topic)) >= _LEAST_LETTERS else "", True
    return topic, False


_LEAST_LETTERS = 3
"""In a script without spaces, fewer letters than this are only the rest of a phrase."""


def _with_named(topic: str, prompt: str) -> str:
    """Return a topic with a prompt's quotations and the error in its pasted text added."""
    error = failures.error_line(prompt)
    words = set(topic.split())
    is_new = not words or not words <= set(error.split())  # else the question itself names the error
    return " ".join([topic, *prose.quotations(prompt), *([error] if is_new and error not in topic else [])]).strip()


def _goes_on(phrase: prose.Asked, prompt: str) -> bool:
    """Whether a set phrase asks what was done last, whatever it was."""
    words = prose.folds(phrase.words.split())
    if words[0] == "did" and not _OF_A_CHANGE.isdisjoint(map(prose.fold, phrase.topic.split())):
        return False
    if not _LAST_DONE.isdisjoint(words) or {"pick", "up"} <= set(words):
        return words[:2] != ["en", "que"]  # Spanish: what was agreed, not where work stopped
    return not prompt.isascii() and any(part in prompt for parts in unspaced().values() for part in parts.resumes)


_OF_A_CHANGE = frozenset(["why", "how", "when"])
"""With these it is asked why something was left or stopped, not where work was."""
_LAST_DONE = frozenset(
    ["left", "stop", "leave", "stopped", "working", "worked", "doing", "continue", "waren", "geblieben",
     "gearbeitet", "stehengeblieben", "etions", "etait", "dejamos", "quedamos", "paramos", "eravamo", "skonczylismy",
     "skoncili", "остановились", "зупинилися", "зупинились", "kalmistik", "kaldigimiz", "time", "mal"]
)  # fmt: skip


_Judgment = tuple[int, str, bool]
"""The grade of a sentence, its language, and whether it resumes earlier work."""


def _judge(sentence: str, *, asks: bool) -> _Judgment:
    """Judge a sentence and, if that asks for nothing, a question at its end: `…, what came of it`."""
    name, why, reason = sentence.partition(" why ")
    if why and english.is_name(prose.folds(prose.words(name))):
        return _judge_whole(f"why {reason}", asks=asks)
    end = max(map(sentence.rfind, _CLAUSES))
    if end >= 0 and not asks and _is_order_after_story(sentence, sentence[end + 1 :]):
        return NOT, "", False
    whole = _judge_whole(sentence, asks=asks)
    if whole[0] >= LIKELY or end < 0:
        return whole
    told, _, message = sentence.partition(": ")
    if message and whole[0] == NOT and not FAILING.isdisjoint(prose.folds(prose.words(told))):
        return _judge_whole(told, asks=False)  # `encore cette erreur : …`, whose words are mostly the message's
    last = sentence[end + 1 :]
    typed = prose.words(last.lower())
    words = prose.folds(typed)
    is_question = english.ends(words) or not _ENDS.isdisjoint([*words[:1], *typed[:1]])
    is_question = is_question or references.likens(words) != NOT or general.after(words, *_NOT_ALREADY)
    return max(whole, _judge_whole(last, asks=asks), key=lambda judgment: judgment[0]) if is_question else whole


_NOT_ALREADY = (
    frozenset(["nicht", "niet", "inte", "ikke"]),
    frozenset(["schon", "mal", "bereits", "al", "eens", "redan", "allerede"]),
)
"""`…, hatten wir das nicht schon`: with two of these, a last clause doubts that something is new."""


def _asks_first(words: list[str], language: Language) -> bool:
    """Whether words begin with a past verb, "we" and an object: `haben wir das eingebaut`, not `haben wir erledigt`."""
    return words[0] in language.of("past") and language.has("we", words[1:2]) and not _OBJECTS.isdisjoint(words[2:3])


_OBJECTS = frozenset("das die den dem der ein eine einen dat de het een det".split())


def _is_order_after_story(sentence: str, last: str) -> bool:
    """Whether a sentence tells what somebody heard or wonders, and then what to do: `there was some typo, fix it`."""
    order = prose.folds(prose.words(last))
    if orders.VERBS.isdisjoint(order[:1] if order[:1] not in (["and"], ["please"], ["so"]) else order[1:2]):
        return False
    return frames.is_story(prose.folds(prose.words(sentence)))


_ENDS = frozenset(
    ["was", "wie", "warum", "wieso", "comment", "pourquoi", "quoi", "combien", "cual", "cuanto", "quale", "perche",
     "как", "почему", "зачем", "qué", "cómo", "dónde", "cuándo", "quién"]
)  # fmt: skip
"""Words of other languages that begin a question after a comma, and seldom a relative clause: `qué`, but not `que`."""
_CLAUSES = (", ", "; ", ": ", " - ", " – ", " — ")


def _judge_whole(sentence: str, *, asks: bool) -> _Judgment:
    """Judge a sentence in the languages whose words it has, those with spaces between words first."""
    typed = [word.lower() for word in prose.words(sentence)]
    words = prose.folds(typed)
    if not words:
        return NOT, "", False
    if unfinished.asks_what_is_left(words):
        return SURE, "en", True
    best = (english.judge(words, asks=asks), "en", english.resumes(words))
    if best[0] == SURE:
        return best
    spoken = frozenset([*words, *_elided(typed)])
    most = len(english.EVERY & spoken)
    for name, language in LANGUAGES.items():
        known = language.known(spoken)
        if not known or known < most:
            continue
        grade, resumes = _in_language(words, spoken, typed, language, asks=asks)
        if grade > best[0] or (known > most and grade != NOT):
            best = (grade, name, resumes)
        elif known > most and any(language.has(name, spoken) for name in ("explains", "here", "how", "now")):
            best = (NOT, name, False)  # `ist der Test jetzt grün?`
        most = max(most, known)
        if best[0] == SURE:
            return best
    if not sentence.isascii() and any(c >= _UNSPACED_FROM and c.isalpha() for c in sentence):
        return _judge_unspaced(sentence, best, most)
    return best


def _judge_unspaced(sentence: str, best: _Judgment, most: int) -> _Judgment:
    """Return the better judgment of `best` and of those for languages without spaces. most: known words for `best`."""
    kana, hangul, han = (sum(first <= c <= last for c in sentence) for first, last in ("ぁヿ", "가힣", "一鿿"))
    is_in = {"ja": kana > 0, "ko": hangul > 0, "zh": han >= max(hangul, kana)}  # it may have a foreign name
    for name, parts in unspaced().items():
        if not is_in.get(name, True):
            continue  # they share characters and question marks
        grade, resumes = _in_unspaced(sentence, parts)
        explains = any(part in sentence for part in parts.explains) and not any(map(sentence.count, parts.why))
        if grade == POSSIBLE and explains:
            return NOT, name, False
        if grade > best[0] or (grade and best[1] == "en" and most < 2):
            best, most = (grade, name, resumes), max(most, 2)
    return best


_UNSPACED_FROM = "\u0900"
"""The first letter of the languages in `UNSPACED`."""


def _elided(typed: list[str]) -> list[str]:
    """Return the words after an apostrophe, as in `c'était` and `l'export`."""
    behind = (word.replace("’", "'").partition("'")[2] for word in typed if "'" in word or "’" in word)
    return prose.folds([word for word in behind if len(word) > 2])


def _in_language(
    words: list[str], spoken: frozenset[str], typed: list[str], language: Language, *, asks: bool
) -> tuple[int, bool]:
    back, resumes, again = (language.has(name, spoken) for name in ("back", "resumes", "again"))
    begins = next((at for at, word in enumerate(words[:3]) if word not in BEFORE_ASKS), 0)
    leads = not language.of("asks").isdisjoint((words[0], words[begins]))
    leads = leads or language.has("begins", [typed[0].replace("’", "'").partition("'")[0]])  # `qu'utilisons`
    we, past = language.speaks_of_us(spoken, typed)
    asks = asks or (past and _asks_first(words, language))
    asking = leads or (asks and (language.has("asks", spoken) or (we and past)))
    asking = asking or (past and language.has("anywhere", spoken))
    if asks and language.has("notes", spoken):
        return SURE, resumes
    if not asks and language.likened(words):
        return LIKELY, resumes
    if not (asking or resumes or again or (back and asks)):
        return NOT, False
    here = language.has("here", spoken - {"ce"} if "quest" in words else spoken)
    if language.has("counts", words[:2]) and not (we or back or language.has("was", words)):
        return (NOT if here else POSSIBLE), resumes  # can be counted in the current files
    is_general = language.has("explains", words) or language.asks_how_to(words)
    if is_general and not (we or back or past or language.has("why", words)):
        return NOT, resumes  # how something works, or is done, in general
    speaks_of_past = back and (asking or asks) and (we or past)
    if (asking and we and past) or speaks_of_past or (resumes and (back or (we and past))):
        return SURE, resumes
    of_now = not (we or past or back) and language.has("now", spoken)
    asks_why = asking and not here and language.has("why", spoken)
    if resumes or (back and asks and not here) or (asks_why and not of_now):
        return LIKELY, resumes
    if again and (not here or not FAILING.isdisjoint(words)):
        return (LIKELY if past else POSSIBLE), resumes
    if not asking:
        return NOT, False
    if here:
        return (POSSIBLE if we else NOT), resumes
    is_at_hand = asks_why or language.has("looks", words) or not FAILING.isdisjoint(words)
    return (LIKELY if past or we or (of_now and not is_at_hand) else POSSIBLE), resumes


def is_past_unspaced(text: str, parts: Unspaced) -> bool:
    """Whether a text without spaces between words speaks of the past."""
    end = text.rstrip("。.？?！! は")
    return (
        any(part in text for part in parts.past)
        or (bool(parts.past_ends) and end.endswith(parts.past_ends))
        or any("가" <= c <= "힣" and (ord(c) - 0xAC00) % 28 == 20 for c in text)  # Korean: a syllable that ends in ㅆ
    )


def _in_unspaced(text: str, parts: Unspaced) -> tuple[int, bool]:
    def has(these: tuple[str, ...]) -> bool:
        return any(part in text for part in these)

    asks, back, resumes, we = has(parts.asks), has(parts.back), has(parts.resumes), has(parts.we)
    end = text.rstrip("。.？?！! は")
    for_reason = end.endswith(parts.reasons) if parts.reasons else False
    asks = asks or for_reason
    past = is_past_unspaced(text, parts)
    if has(parts.sure) or (asks and back) or (resumes and back) or (asks and we and past):
        return SURE, resumes
    of_now = has(parts.now) and not any(map(has, (parts.why, parts.looks)))
    why = (for_reason or has(parts.why)) and not has(parts.now)
    is_likely = past or resumes or back or ((why or of_now) and not has(parts.here))
    grade = LIKELY if is_likely else POSSIBLE
    return (grade, resumes) if asks or resumes or back else (NOT, False)


def _topic(text: str, language: str = "en") -> str:
    from mdmem.search.asking import topics  # most prompts ask nothing

    return topics.topic(text, language)
