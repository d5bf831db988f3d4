"""Endings: returns what the forms of a word have in common, for alphabets that English stemming does not know.

Light on purpose: a missed form costs one note, and two words that are wrongly made equal cost a little precision.
Cyrillic, Greek, Armenian and Georgian words change only at the end, and their first letters tell them apart.
"""

from __future__ import annotations

_FIRST_LETTERS = 5
_CUT = ("\u0370\u058f", "\u10a0\u10ff", "\u1f00\u1fff")
_FINAL = frozenset("аяоеиыіїуюэєйьъαεηιουωσν")
_HEBREW = "\u0590\u05ff"
_ARABIC = "\u0600\u06ff"
_INDIC = "\u0900\u0dff"

# Prefixes: the article and what is written together with it; longest first.
_ARABIC_STARTS = ("وبال", "وال", "بال", "كال", "فال", "ولل", "ال", "لل", "و")
_ARABIC_ENDS = ("ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي")
_HEBREW_ENDS = ("ים", "ות", "ית", "יה", "ה", "ת", "י", "ו")
_INDIC_ENDS = ("ियों", "ियां", "ियाँ", "ाओं", "ुओं", "ाएं", "ाएँ")


def shared(word: str) -> str:
    """Return what the forms of a word have in common; words of other alphabets are unchanged."""
    first = word[:1]
    if any(pair[0] <= first <= pair[1] for pair in _CUT):
        return _beginning(word.replace("ς", "σ"))
    if _HEBREW[0] <= first <= _HEBREW[1]:
        return _hebrew(word)
    if _ARABIC[0] <= first <= _ARABIC[1]:
        return _arabic(word)
    return _indic(word) if _INDIC[0] <= first <= _INDIC[1] else word


def _beginning(word: str) -> str:
    start = word[:_FIRST_LETTERS]
    return start[:-1] if len(start) > 3 and start[-1] in _FINAL else start


def _arabic(word: str) -> str:
    start = next((start for start in _ARABIC_STARTS if word.startswith(start) and len(word) - len(start) >= 3), "")
    return _without_end(word[len(start) :], _ARABIC_ENDS, 3)


def _hebrew(word: str) -> str:
    if len(word) >= 5 and word[0] in "והבלמשכ":
        word = word[1:]
    if len(word) >= 5 and word[0] in "הל":
        word = word[1:]
    return _without_end(word, _HEBREW_ENDS, 3)


def _indic(word: str) -> str:
    word = _without_end(word, _INDIC_ENDS, 2)
    base = word.rstrip("\u0901\u0902\u093c\u093e\u093f\u0940\u0941\u0942\u0947\u0948\u094b\u094c\u094d")
    return base if len(base) >= 2 else word


def _without_end(word: str, ends: tuple[str, ...], keep: int) -> str:
    end = next((end for end in ends if word.endswith(end) and len(word) - len(end) >= keep), "")
    return word[: len(word) - len(end)]
