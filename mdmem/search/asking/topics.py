"""Topics: what a text is about, that is, without the words by which it asks."""

from __future__ import annotations

from mdmem.search.asking import english, facts, form_words
from mdmem.search.asking.languages import LANGUAGES, unspaced
from mdmem.search.asking.prose import folded_word

_FINDS = frozenset(["", "find", "found", "figure", "figured"])
"""`find out why X`; the verb may be gone as a part of what asks."""
_GETS = frozenset(["get", "got", "gotten"])
"""`did it ever get merged`, `how did it get fast`: what came of it, not its subject."""
_DISCARD, _AWAY = frozenset(["throw", "threw", "rip", "ripped", "kick", "kicked"]), frozenset(["out", "away"])
"""`throw out X`, as `get rid of X`."""
_TOGETHER = frozenset(
    [("many", "times"), ("came", "out"), ("the", "same"), ("as", "always"), ("some", "point"), ("one", "point")]
)
"""Words of which the second only asks behind the first."""
_TELLERS = english.SUBJECTS | {"someone", "somebody"}
_OUT_OF = frozenset(["of", "out"])
_CAUSED = frozenset(["made", "makes", "caused", "causes"])
"""`what made X slow` asks for the cause."""
_MINDS, _WHOSE = frozenset(["mind", "minds"]), frozenset(["our", "my", "your"])
"""`change our mind`."""
_WRONG = frozenset(["wrong", "falsch", "schief"])
_WENT = frozenset(["was", "were", "is", "whats", "went", "war", "ist", "lief", "ging", "da"])
"""`what was wrong with X`."""
_HEADS = frozenset(
    ["idea", "ideas", "thought", "matter", "subject", "topic", "question", "proposal", "suggestion", "state", "status",
     "progress"]
)  # fmt: skip
_COMMANDS, _FOR = frozenset(["command", "commands", "cmd"]), frozenset(["for", "to"])
"""What a question asks for, not its subject: `how big is X`, `the command for X`."""
_OF = frozenset(["of", "about", "to", "for", "with", "on", "behind"])
"""`the idea of caching` is about caching."""
_SIDES, _BOTH = frozenset(["before", "after"]), frozenset(["and", "vs", "versus"])
"""`X before and after`, `X now vs before`."""
_BEFORE_TIME = frozenset(["last", "previous", "first", "some", "any", "that", "long", "the", "this"])


def topic(text: str, language: str = "en") -> str:
    """Return a text without the words by which it asks in `language`; "" if nothing is left."""
    words = _uninverted(text.split()) if language == "fr" else text.split()
    spoken = LANGUAGES.get(language)
    own = ("asks", "we", "past", "back", "now", "resumes", "again", "counts", "other") if spoken else ()
    none = form_words.NO_TOPIC.union(*(spoken.of(name) for name in own)) if spoken else form_words.NO_TOPIC
    bare = list(map(folded_word, words))
    subject = [
        typed
        for typed, before, word, after in zip(words, ["", *bare], bare, [*bare[1:], ""], strict=False)
        if (
            word not in none or form_words.is_of_programs(before, word, after, typed) or form_words.is_part(word, after)
        )
        and not _only_asks(before, word, after)
    ]
    for parts in () if text.isascii() else unspaced().values():
        for part in (*parts.back, *parts.now, *parts.resumes, *parts.sure, *parts.asks, *parts.we):
            if part in text and not part.isascii():
                subject = [word.replace(part, " ") for word in subject]
    if language in _ELIDED:
        subject = [_without_elided(word, language) for word in subject]
    return _without_form(" ".join(subject).rstrip()) if language == "ja" else " ".join(subject)


def _uninverted(words: list[str]) -> list[str]:
    """Return French words, each verb without what is joined to it: `avons-nous`, `qu'utilise-t-on`."""
    return [
        part
        for word in words
        for part in (word.removeprefix("qu'").split("-") if word.rpartition("-")[2].lower() in _JOINED else [word])
    ]


_JOINED = frozenset(["je", "tu", "il", "elle", "on", "nous", "vous", "ils", "elles", "ce"])
_ELIDED = {
    "fr": frozenset(["l", "d", "qu"]),
    "it": frozenset(["l", "d", "un", "c", "all", "dell", "dall", "nell", "sull", "quest"]),
    "tr": frozenset[str](),
}
"""Articles and prepositions before an apostrophe, after which Turkish has endings: no part of a name."""
_MAX_ENDING = 5


def _without_elided(word: str, language: str) -> str:
    before, mark, after = word.replace("’", "'").partition("'")
    if before.lower() in _ELIDED[language]:
        return after or word
    ends = language == "tr" and mark and len(before) > 1 and after.rstrip(".,:;?!").isalpha()
    return before if ends and len(after) <= _MAX_ENDING else word


def _without_form(subject: str) -> str:
    """Return a Japanese subject without the end of its question, as in `ちらつきの原因は だった`."""
    ends = (*unspaced()["ja"].reasons, *_ENDS_OF_FORM)
    while end := next((end for end in ends if subject.endswith(end) and len(subject) > len(end) + 2), ""):
        subject = subject.removesuffix(end).rstrip()
    return subject


_ENDS_OF_FORM = ("だった", "でした", "です", "だ", "は", "の", "を", "が", "で", "？", "?", "。")


def _only_asks(before: str, word: str, after: str) -> bool:
    """Whether a word is part of a question's form here, judging by its neighbors."""
    return (
        (word == "time" and before in _BEFORE_TIME)
        or (before, word) in _TOGETHER
        or (word in _MINDS and before in _WHOSE)
        or (word in _WRONG and before in _WENT)
        or (word in english.TOLD and before in _TELLERS)
        or (word in facts.DEGREES and before == "how")
        or (word in _SIDES and not _BOTH.isdisjoint((before, after)))
        or (word in _GETS and (after.endswith("ed") or after in facts.DEGREES or before in english.SUBJECTS))
        or (word in _DISCARD and after in _AWAY)
        or (word == "way" and after in english.SUBJECTS)
        or (before in _GETS and word.endswith("ed"))
        or (word == "out" and before in _FINDS)
        or (before == "much" and word.endswith("er"))
        or (word in _COMMANDS and after in _FOR)
        or (word in _HEADS and (after in _OF or not after))
        or (word == "came" and after in _OUT_OF)
        or (word in _CAUSED and before == "what")
    )
