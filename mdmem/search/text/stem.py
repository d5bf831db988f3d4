"""Stem: English stemming by the Porter2 ("Snowball English") rules: `connected`, `connecting` -> `connect`.

Written from the algorithm's published definition, for lower-case ASCII words. Irregular forms are replaced by regular
ones first. The index library's stemmer is not used, because it costs more per word and must be imported.
"""

from __future__ import annotations

from functools import lru_cache

_VOWELS = frozenset("aeiouy")
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_VALID_LI = frozenset("cdeghkmnrt")

_WHOLE = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
    "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
    "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias",
    "andes": "andes", "https": "https",
}  # fmt: skip
_DONE_AFTER_PLURAL = frozenset(["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"])
_LONG_STARTS = ("gener", "commun", "arsen")

_FORMS = """
begin began begun | break broke broken | bring brought | build built | buy bought | catch caught | choose chose chosen
come came | deal dealt | dig dug | draw drew drawn | drive drove driven | fall fell fallen | feed fed | feel felt
fight fought | find found | fly flew flown | forget forgot forgotten | freeze froze frozen | get got gotten
give gave given | go went gone | grow grew grown | hang hung | hide hid hidden | hold held | keep kept
know knew known | lend lent | lose lost | make made | mean meant | overwrite overwrote overwritten | pay paid
override overrode overridden | rewrite rewrote rewritten | rise rose risen | run ran | say said | see saw seen
seek sought | sell sold | send sent | shake shook shaken | shrink shrank shrunk | sink sank sunk | sleep slept
speak spoke spoken | speed sped | spend spent | spin spun | stand stood | steal stole stolen | stick stuck
strike struck | sweep swept | swing swung | take took taken | teach taught | tear tore torn | tell told | think thought
throw threw thrown | undergo underwent undergone | understand understood | wake woke woken | wear wore worn
win won | withdraw withdrew withdrawn | write wrote written
axis axes | child children | criterion criteria | foot feet | half halves | index indices | leaf leaves
matrix matrices | mouse mice | phenomenon phenomena | schema schemata | shelf shelves | tooth teeth | vertex vertices
"""


def _bases() -> dict[str, str]:
    groups = (group.split() for group in _FORMS.replace("\n", "|").split("|"))
    return {form: base for base, *forms in filter(None, groups) for form in forms}


_BASES = _bases()
"""Irregular form -> its base word, except forms that are as often another word, such as `left`."""

# Suffix -> replacement. Tried longest first; a suffix that matches outside its region ends the step.
_STEP_2 = {
    "ization": "ize", "ational": "ate", "fulness": "ful", "ousness": "ous", "iveness": "ive",
    "tional": "tion", "biliti": "ble", "lessli": "less",
    "entli": "ent", "ation": "ate", "alism": "al", "aliti": "al", "ousli": "ous", "iviti": "ive", "fulli": "ful",
    "enci": "ence", "anci": "ance", "abli": "able", "izer": "ize", "ator": "ate", "alli": "al",
    "bli": "ble", "ogi": "og", "li": "",
}  # fmt: skip
_STEP_3 = {
    "ational": "ate", "tional": "tion", "alize": "al", "icate": "ic", "iciti": "ic", "ative": "", "ical": "ic",
    "ness": "", "ful": "",
}  # fmt: skip
_STEP_4 = {
    "t": ("ement", "ment", "ant", "ent"), "e": ("ance", "ence", "able", "ible", "ate", "ive", "ize"), "m": ("ism",),
    "i": ("iti",), "s": ("ous",), "n": ("ion",), "l": ("al",), "r": ("er",), "c": ("ic",),
}  # fmt: skip
"""The endings, by their last letter."""
_ENDINGS_2, _ENDINGS_3 = tuple(_STEP_2), tuple(_STEP_3)


@lru_cache(maxsize=4_096)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; words of one or two letters are unchanged."""
    if len(word) <= 2:
        return word
    if word in _WHOLE:
        return _WHOLE[word]
    word = _mark_consonant_y(_BASES.get(word, word).lstrip("'"))
    first, second = _regions(word)
    word = _plural(_possessive(word))
    if word in _DONE_AFTER_PLURAL:
        return word
    word = _past(word, first)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _replace(word, first)
    word = _replace_derived(word, first, second)
    word = _drop_ending(word, second)
    return _drop_final(word, first, second).replace("Y", "y")


def _mark_consonant_y(word: str) -> str:
    """Replace a consonant `y` (first, or after a vowel) by `Y`."""
    if "y" not in word:
        return word
    letters = list(word)
    for i, letter in enumerate(letters):
        if letter == "y" and (i == 0 or letters[i - 1] in _VOWELS):
            letters[i] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Return the starts of R1 and R2: each is after the first consonant that follows a vowel."""
    if word.startswith(_LONG_STARTS):
        first = next(len(start) for start in _LONG_STARTS if word.startswith(start))
    else:
        first = _after_vowel_consonant(word, 0)
    return first, _after_vowel_consonant(word, first)


def _after_vowel_consonant(word: str, start: int) -> int:
    for i in range(start + 1, len(word)):
        if word[i] not in _VOWELS and word[i - 1] in _VOWELS:
            return i + 1
    return len(word)


def _possessive(word: str) -> str:
    for ending in ("'s'", "'s", "'") if "'" in word else ():
        if word.endswith(ending):
            return word[: -len(ending)]
    return word


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        is_abbreviation = _VOWELS.isdisjoint(word) and (len(word) > 3 or word in _SHORT_PLURALS)
        return word[:-1] if is_abbreviation or not _VOWELS.isdisjoint(word[:-2]) else word
    return word


_SHORT_PLURALS = frozenset(["dbs", "mrs", "pcs", "prs", "vms"])
"""Plurals of abbreviations, among names as short that only end in an `s`: `dns`, `tls`. Those are not in Porter2."""


def _past(word: str, first: int) -> str:
    if not word.endswith(("ed", "ing", "ly")):  # most words
        return word
    for ending in ("eedly", "eed"):
        if word.endswith(ending):
            return word[: -len(ending)] + "ee" if len(word) - len(ending) >= first else word
    for ending in ("ingly", "edly", "ing", "ed"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return word if _VOWELS.isdisjoint(rest) else _mend(rest, first)
    return word


def _mend(word: str, first: int) -> str:
    """Return a word without `-ed` or `-ing`, with its likely original ending restored."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word.endswith(_DOUBLES):
        return word[:-1]
    if first >= len(word) and _ends_short(word):
        return word + "e"
    return word


def _ends_short(word: str) -> bool:
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return (
        len(word) > 2
        and word[-1] not in _VOWELS
        and word[-1] not in "wxY"
        and word[-2] in _VOWELS
        and word[-3] not in _VOWELS
    )


def _replace(word: str, first: int) -> str:
    ending = _longest(word, _ENDINGS_2)
    start = len(word) - len(ending)
    if not ending or start < first:
        return word
    before = word[start - 1 : start]
    if (ending == "ogi" and before != "l") or (ending == "li" and before not in _VALID_LI):
        return word
    return word[:start] + _STEP_2[ending]


def _replace_derived(word: str, first: int, second: int) -> str:
    ending = _longest(word, _ENDINGS_3)
    start = len(word) - len(ending)
    if not ending or start < (second if ending == "ative" else first):
        return word
    return word[:start] + _STEP_3[ending]


def _longest(word: str, endings: tuple[str, ...]) -> str:
    """Return the ending of a word. endings: the longest first."""
    return next(filter(word.endswith, endings)) if word.endswith(endings) else ""


def _drop_ending(word: str, second: int) -> str:
    for ending in _STEP_4.get(word[-1:], ()):
        if word.endswith(ending):
            start = len(word) - len(ending)
            if start < second or (ending == "ion" and word[start - 1 : start] not in ("s", "t")):
                return word
            return word[:start]
    return word


def _drop_final(word: str, first: int, second: int) -> str:
    start = len(word) - 1
    if word.endswith("e"):
        if start >= second or (start >= first and not _ends_short(word[:-1])):
            return word[:-1]
    elif word.endswith("ll") and start >= second:
        return word[:-1]
    return word
