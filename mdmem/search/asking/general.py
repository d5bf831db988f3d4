"""General: separates questions about things in general, and about the current code, from those about earlier work.

`how do leap seconds work`, `how to read a core dump`, `do fonts need hinting`, `which tests cover the parser`.
"""

from __future__ import annotations

from mdmem.search.asking import prose
from mdmem.search.asking.orders import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

_POINTS = word_set("the our ours us we weve this that these those my mine your its their here there it they again")
"""With one of these, a question is about something known, or at hand."""
_IS, _DOES = word_set("is are"), word_set("do does")
_MAY = word_set("do does can could should would might may must")
_ANYONE = word_set("i you one people someone")
_EXPLAINED = word_set("work works mean means internally")  # `how does X work`
_NEEDED = word_set("needed necessary important useful required called considered")  # `why is X needed`
_INVENTED = word_set("invented discovered coined")  # `who invented X`
_FIRST, _PUBLISHED = word_set("first"), word_set("released published announced introduced")
_HAPPENS, _IF = word_set("happens happen"), word_set("if when")  # `what happens if X`
_STATE = word_set(
    "open left known missing next remaining planned unsolved still yet already ever now done ready finished fixed "
    "merged broken flaky failing down slow no not any anyone anybody anything"
)
"""With one of these, a question is about the state of the work."""
_A, _COMPARES = word_set("a an"), word_set("than difference differences")  # `what is a X`, `is X faster than Y`
PARTS_OF_CODE = word_set(
    "function functions method methods class classes module modules file files test tests caller callers endpoint "
    "endpoints query queries table tables column columns component components type types package packages"
)
RUNS = word_set(
    "pass passes passed passing green build builds ci lint linter checks succeed succeeded finish finished ok"
)
"""Words of how a run ended; with nothing else, a question is about the last one."""
_WELL = word_set("works worked helps passed succeed succeeded")
"""Words at the end of a sentence that says that all is well."""
_GOES = word_set("runs loads starts pass passes")
"""The same, but also names of several things: `lambda cold starts`."""
_WAS = word_set("was were is are did does do has have had")


def is_well(words: list[str]) -> bool:
    """Whether a sentence says that all is well: `shell number 2 works`, `the build passes`. words: folded."""
    return words[-1] in _WELL or (words[0] == "the" and words[-1] in _GOES)


def explains(words: list[str]) -> bool:
    """Whether a question asks for what people know in general. words: folded, from the question word on."""
    if not _POINTS.isdisjoint(words) or len(words) < 3:
        return False
    first, second = words[:2]
    if first == "how":
        return asks_how_to(words) or (second in _DOES and (words[-1] in _EXPLAINED or "differ" in words))
    if first == "what":
        return after(words, _HAPPENS, _IF) or (second == "are" and _STATE.isdisjoint(words))
    is_of_need = first == "why" and second in _IS | _DOES and words[-1] in _NEEDED
    is_of_origin = (first == "who" and second in _INVENTED) or (first == "when" and after(words, _FIRST, _PUBLISHED))
    return is_of_need or is_of_origin


def asks_how_to(words: list[str]) -> bool:
    """Whether a question asks how to do something: `how can I subset a font`. words: as in `explains`."""
    return words[0] == "how" and (words[1:2] == ["to"] or (words[1] in _MAY and not _ANYONE.isdisjoint(words[2:3])))


def defines(words: list[str]) -> bool:
    """Whether a question in the present asks for a definition or a comparison: `what is a mutex`, `is X faster than Y`.

    words: as in `explains`.
    """
    if words[0] == "which" and words[1:2] == ["is"] and _POINTS.isdisjoint(words) and after(words, {"or"}, _A):
        return True  # `which is faster, a map or an object`
    return after(words[:3], _IS | {"what", "whats"}, _A) or (words[0] != "why" and not _COMPARES.isdisjoint(words))


def defines_name(sentence: str) -> bool:
    """Whether a sentence only asks what one thing is that may be known in general: `what is git-buildpackage?`.

    Also in other languages, and there with an article, as `defines` knows it in English: `was ist ein Mutex?`. Names
    as programs have them, `tile_cache` or `FFT2`, are those of something at hand.
    """
    words = prose.folds(sentence.replace("-", "").strip("¿?!. ").split())
    if words[:2] == ["what", "does"] and words[3:] == ["do"]:
        words = ["what", "is", words[2]]
    asked = next((begin for begin in _IS_WHAT if tuple(words[: len(begin)]) == begin), ())
    has_article = not _ARTICLES.isdisjoint(words[len(asked) :][:1])
    name = words[len(asked) + has_article :]
    return bool(asked) and 0 < len(name) <= 1 + has_article and all(map(str.isalpha, name)) and _STATES.isdisjoint(name)


_IS_WHAT = tuple(
    tuple(begin.split())
    for begin in (
        "what is", "what are", "whats", "was ist", "was sind", "cest quoi", "questce que", "questce quun",
        "questce quune", "que es", "que son", "cose", "che cose", "o que e", "wat is", "vad ar", "hvad er", "hva er",
        "co to jest", "что такое",
    )
)  # fmt: skip
_STATES = _STATE | word_set("offen neu los fertig kaputt ouvert nouveau reste abierto pendiente nuevo falta aberto")
_ARTICLES = word_set("ein eine einen un une una um uma een en ett et")


def asks_why_in_general(words: list[str]) -> bool:
    """Whether a question may ask for a reason that people know in general: `why does rounding lose cents`.

    words: as in `explains`.
    """
    is_bare = _POINTS.isdisjoint(words) and _STATE.isdisjoint(words)
    return words[:1] == ["why"] and is_bare and not (_IS | _DOES).isdisjoint(words[1:2])


def asks_purpose(words: list[str]) -> bool:
    """Whether a question asks what one named thing is for: `what is tare for`."""
    named = [word for word in words[2:-1] if word not in _POINTS | _A]
    return words[-1] == "for" and len(named) == 1 and after(words[:2], {"what", "whats"}, _IS | {"was", "were"})


def asks_what_became(words: list[str]) -> bool:
    """Whether a question asks what became of something or was learned of it: `is X still broken`, `gotchas with X`."""
    return not _UNTIL_NOW.isdisjoint(words) or after(words, _LEARNED, _OF)


_UNTIL_NOW = word_set("still yet anymore gone")  # `is X still broken`
_LEARNED = word_set("gotcha gotchas pitfall pitfalls caveat caveats quirk quirks luck history experience")
_OF = word_set("with in of on for about regarding")  # after those


def asks_whether(words: list[str]) -> bool:
    """Whether a question in the present asks what something does or is: `do fonts need hinting`, `which tests cover X`.

    What it asks about is known more often than the answer. words: as in `explains`.
    """
    if len(words) < 3 or not _STATE.isdisjoint(words):
        return False
    if words[0] in ("which", "what"):
        return words[1] in PARTS_OF_CODE and words[2] not in _WAS
    return words[0] in _IS | _DOES | {"can"} and (_POINTS | _ANYONE).isdisjoint(words[1:2])


def asks_what_if(words: list[str]) -> bool:
    """Whether words begin with "what if", but not as in `what, if anything, was changed`."""
    return words[:2] == ["what", "if"] and words[2:3] not in (["any"], ["anything"])


def after(words: list[str], first: Set[str], second: Set[str]) -> bool:
    """Whether a word of `second` directly follows one of `first`."""
    return not first.isdisjoint(words) and any(a in first and b in second for a, b in pairs(words))


def pairs(words: list[str]) -> zip[tuple[str, str]]:
    """Return each word with the next one. Importing `itertools` would cost every prompt as much as two modules."""
    return zip(words, words[1:], strict=False)  # noqa: RUF007
