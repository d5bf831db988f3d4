"""Analysis: turns text into index terms, in the same way for notes and queries.

A word gives its stem and, if it is an identifier (`getUserID2`, `user_id`), its parts as well. An apostrophe separates
words (`l'eau`, `Ankara'da`), except for English endings. Scripts without spaces (Chinese, Japanese, Thai ...) and
Hangul give pairs of characters and single ones. Function words are kept in the index, so that phrases and titles can be
matched, and left out of queries.
"""

from __future__ import annotations

from collections import Counter
from unicodedata import category, normalize

from mdmem.lazy_pattern import lazy
from mdmem.search.text.stem import stem
from mdmem.search.text.stopwords import FOREIGN, FUNCTION_SIGNS, STOPWORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

VERSION = 8
"""Increased whenever the same text gives different terms: an index of another version is rebuilt."""

MAX_WORD_CHARS = 64
"""Longer runs of letters (encoded data, minified code) are cut to this length and not split."""

# Scripts in which a run of characters is not a word: Thai to Khmer, Hangul, kana, ideographs; sorted.
_UNSPACED = (
    "\u0e01\u0e4e", "\u0e80\u0ece", "\u1000\u1049", "\u1100\u11ff", "\u1780\u17d3", "\u3005\u3007", "\u3040\u30ff",
    "\u3130\u318f", "\u3400\u4dbf", "\u4e00\u9fff", "\uac00\ud7af", "\uf900\ufaff", "\uff66\uff9f",
    "\U00020000\U0003134f",
)  # fmt: skip
_HANGUL = ("\u1100\u11ff", "\u3130\u318f", "\uac00\ud7af")
# Vowel signs and accents are not letters to `re`, but occur inside words.
_MARKS = (
    "\u0300\u036f", "\u0483\u0487", "\u0591\u05c7", "\u0610\u061a", "\u064b\u065f", "\u0670\u0670", "\u0900\u0963",
    "\u0966\u0dff", "\u0e31\u0e4e", "\u0eb1\u0ece", "\u102b\u103e", "\u17b4\u17d3",
)  # fmt: skip
_FIRST_UNSPACED = _UNSPACED[0][0]


def _set(ranges: tuple[str, ...]) -> str:
    return "".join(f"{pair[0]}-{pair[1]}" for pair in ranges)


_ENDING = r"(?:['’](?:[sStTdDmM]|[rR][eE]|[vV][eE]|[lL]{2})(?!\w))?"
_ASCII_WORD = lazy(rf"[A-Za-z0-9_]+{_ENDING}")
_ENDINGS = frozenset(
    ending for low in ("s", "t", "d", "m", "re", "ve", "ll") for ending in (low, low.upper(), low.title())
)
"""Endings that belong to the word before an apostrophe."""
_PART = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_PLURAL = lazy(r"[A-Z]{2,}s")  # `URLs` is not an identifier with the parts `UR` and `Ls`
_IDENTIFIER = lazy(r"_|[a-z][A-Z]|[A-Z]{2}[a-z]|[^\W\d_]\d|\d[^\W\d_]")


_ANY_WORD = lazy(rf"\w[\w{_set(_MARKS)}]*{_ENDING}")
_RUN = lazy(rf"[{_set(_UNSPACED)}]+|[^{_set(_UNSPACED)}]+")


# Letters that do not decompose into a plain one with a mark, but are written or typed as one.
_SPELLINGS = str.maketrans({
    "’": "'", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "þ": "th",
    "Æ": "Ae", "Œ": "Oe", "Ø": "O", "Đ": "D", "Ð": "D", "Ł": "L", "Þ": "Th",
    "ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك", "ـ": "",
})  # fmt: skip

_WORD_BYTES = bytes(byte if byte < 128 and (chr(byte).isalnum() or byte == 0x5F) else 0x20 for byte in range(256))
"""ASCII bytes, with a space for each that is not part of a word."""
_MEMO_WORDS, _MEMO_NUMBERED = 50_000, 2_000
"""Number of cached words and, separately, of longer ones with digits, most of which are ids that occur once."""
_SHORT_CHARS = 5


def words(text: str) -> list[str]:
    """Split text into raw words, in order; a run of an unspaced script is one word."""
    if text.isascii():
        if "'" in text:
            return _ASCII_WORD.findall(text)
        return text.encode().translate(_WORD_BYTES).decode().split()  # a third of the time
    raw_words = _ANY_WORD.findall(normalize("NFKC", text))
    if max(text) < _FIRST_UNSPACED:
        return raw_words
    return [run for word in raw_words for run in (_RUN.findall(word) if max(word) >= _FIRST_UNSPACED else (word,))]


def counts(text: str) -> dict[str, int]:
    """Return how often each term occurs in `text`."""
    return counted(text)[0]


def counted(text: str) -> tuple[dict[str, int], list[str]]:
    """Return each term's number of occurrences, and the words that have parts, mostly identifiers."""
    # No function calls: this is most of the cost of indexing.
    counter: Counter[Any] = Counter(map(_known.__getitem__, words(text)))
    times_by_term: dict[str, int] = counter
    with_parts = [known for known in counter if type(known) is tuple]
    for known in with_parts:
        times = counter.pop(known)
        for term in known[1]:
            times_by_term[term] = times_by_term.get(term, 0) + times
    return times_by_term, [word for word, _ in with_parts]


def terms(text: str) -> list[str]:
    """Return the terms of `text` as in the index, in order, with repetitions."""
    return [term for word in words(text) for term in _word_terms(word)]


class WordFinder:
    """Finds the words in texts that have one of the wanted terms; each word is analyzed once for all texts.

    A word that is not an identifier begins like its stem, so most words need no analysis.
    """

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = frozenset(wanted)
        self._heads = {head for term in wanted for head in _heads(term)}
        self._short = [head for head in self._heads if len(head) < 3]
        self._judged: dict[str, tuple[str, ...]] = {}
        self._known: set[str] = set()

    def places(self, text: str) -> Iterable[tuple[int, int, tuple[str, ...]]]:
        """Return the position of each such word, and its terms, in order.

        In an unspaced script, a word is each pair of characters and each single one.
        """
        if not text.isascii():
            return self._one_by_one(text, _ANY_WORD)
        raw = set(words(text))
        self._judge(raw.difference(self._known))
        wanted = raw.intersection(self._judged)
        if not wanted.isdisjoint(_ENDINGS):
            return self._one_by_one(text, _ASCII_WORD)
        return sorted(self._located(text, wanted))

    def _located(self, text: str, words: Iterable[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield the positions of these words in an ASCII text, with a fifth of the work of checking every word."""
        around = f" {text} "
        for word in words:
            terms, size = self._judged[word], len(word)
            at = text.find(word)
            while at >= 0:
                before, after = around[at], around[at + size + 1]
                if not (before.isalnum() or before == "_" or after.isalnum() or after == "_") and (
                    after != "'" or _ASCII_WORD.match(text, at)[0] == word  # type: ignore[index]
                ):
                    yield at, at + size, terms
                at = text.find(word, at + size)

    def _one_by_one(self, text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        judged = self._judged
        self._judge(set(pattern.findall(text)).difference(self._known))
        for word in pattern.finditer(text):
            terms = judged.get(word[0])
            if terms:
                yield word.start(), word.end(), terms
            elif terms is not None:
                yield from self._in_runs(word[0], word.start())

    def _judge(self, words: Collection[str]) -> None:
        """Record the terms of words that have a wanted one; () for a word of an unspaced script, split later."""
        heads = self._heads
        for word in words:
            if not word.isascii():
                terms_of_word = tuple(terms(word)) if max(word) < _FIRST_UNSPACED else ()
            elif word[:3].lower() in heads or not ((word.isalpha() and word[1:].islower()) or self._lacks(word)):
                terms_of_word = _word_terms(word)
            else:
                continue
            if not (terms_of_word and self._wanted.isdisjoint(terms_of_word)):
                self._judged[word] = terms_of_word
        self._known.update(words)

    def _in_runs(self, word: str, start: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        for run in _RUN.finditer(word):
            for first, end, terms in _located_in_run(run[0], start + run.start()):
                if not self._wanted.isdisjoint(terms):
                    yield first, end, terms

    def _lacks(self, identifier: str) -> bool:
        lower = identifier.lower()
        threes = {lower[place : place + 3] for place in range(len(lower) - 2)}
        return self._heads.isdisjoint(threes) and not any(head in lower for head in self._short)


def _heads(term: str) -> Iterator[str]:
    """Yield the first three letters of a stem's possible words, with `y` for `i` (`skies`, `sky`; `dying`, `die`)."""
    head = term[:3]
    yield head
    if len(head) < 3:
        yield f"{head}s"  # `ids`
    yield head.replace("i", "y")
    yield head.replace("y", "i")
    if head in ("die", "lie", "tie"):
        yield f"{head[0]}yi"


def _located_in_run(run: str, start: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    if not is_unspaced(run):
        yield start, start + len(run), tuple(terms(run))
        return
    for place in range(len(run)):
        for size in (1, 2)[: len(run) - place]:
            piece = normalize("NFKC", run[place : place + size])
            yield start + place, start + place + size, (piece,)


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a question, in order, without function words.

    A question that has only function words keeps them.
    """
    return list(dict.fromkeys(term for _, terms in query_words(text) for term in terms))


def query_words(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return each word of a question in lower case, with its terms: the stem, and an identifier's parts."""
    raw = words(text)
    empty = STOPWORDS | FOREIGN if is_foreign(text) else STOPWORDS
    folded = [(word, _fold(word)) for word in raw]
    kept = [pair for pair in folded if pair[1] not in empty]
    return [(fold, tuple(_query_word_terms(word))) for word, fold in kept or folded]


def is_foreign(text: str) -> bool:
    """Whether a question is in a language with Latin letters other than English.

    One sign is not enough: `az`, `du`, `der` and `nas` are names too. Vietnamese does not count: its words have only
    one form, and without accents many are function words of other languages.
    """
    if not text.isascii() and any("\u1ea0" <= letter <= "\u1ef9" for letter in normalize("NFC", text)):
        return False
    foreign = english = 0
    for word in words(text):
        folded = _fold(word)
        english += folded in STOPWORDS
        foreign += folded in FOREIGN or (folded.isascii() and not word.isascii())
    return foreign > max(english, 1)


def is_unspaced(text: str) -> bool:
    """Whether a text begins in a script without spaces."""
    return text[:1] >= _FIRST_UNSPACED and _within(text[0], _UNSPACED)


def is_across(pair: str) -> bool:
    """Whether a pair of ideographs or kana may only be where two words meet, as one of them is a function word."""
    return len(pair) == 2 and is_unspaced(pair) and any(c in FUNCTION_SIGNS or "ぁ" <= c <= "ゟ" for c in pair)


def _within(character: str, ranges: tuple[str, ...]) -> bool:
    return any(pair[0] <= character <= pair[1] for pair in ranges)


def _word_terms(word: str) -> tuple[str, ...]:
    known = _known[word]
    return (known,) if isinstance(known, str) else known[1]


class _KnownWords(dict[str, "str | tuple[str, tuple[str, ...]]"]):
    """A word's term or, if it has several, the word and its terms."""

    def __missing__(self, word: str) -> str | tuple[str, tuple[str, ...]]:
        if is_unspaced(word):
            return (word, (*word, *_pairs(word))) if len(word) > 1 else word
        is_numbered = len(word) > _SHORT_CHARS and not word.isalpha() and _DIGIT.search(word)
        cache, most = (_numbered, _MEMO_NUMBERED) if is_numbered else (self, _MEMO_WORDS)
        found = cache.get(word)
        if found is None:
            if len(cache) >= most:
                cache.clear()
            terms = tuple(_analyze(word))
            found = cache[word] = (word, terms) if len(terms) > 1 else terms[0]
        return found


_DIGIT = lazy(r"\d")
_known = _KnownWords()
_numbered: dict[str, str | tuple[str, tuple[str, ...]]] = {}


def _analyze(word: str) -> Iterable[str]:
    if word.isalpha() and word.islower() and word.isascii() and len(word) <= MAX_WORD_CHARS:
        return [stem(word)]
    if _PLURAL.fullmatch(word):
        word = word[:-1]
    whole = _stemmed(_fold(word))
    if len(word) > MAX_WORD_CHARS or not _IDENTIFIER.search(word):
        return [whole]
    return [whole, *(_stemmed(_fold(part)) for part in parts(_plain(word)))]


def _query_word_terms(word: str) -> Iterable[str]:
    """Return a query word's terms, but only the pairs of an ideograph or kana run: single characters are everywhere."""
    if len(word) > 1 and is_unspaced(word) and not _within(word[0], _HANGUL):
        return _pairs(word)
    return _word_terms(word)


def parts(identifier: str) -> list[str]:
    """Return the parts of an identifier: `getUserID2` -> get, User, ID, 2; [] if it has none."""
    pieces = _PART.findall(identifier)
    return pieces if len(pieces) > 1 else []


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _stemmed(word: str) -> str:
    if word.isascii():
        return word if word.isdigit() else stem(word)
    from mdmem.search.text import endings

    return endings.shared(word)


def _fold(word: str) -> str:
    """Return a word with equal spellings unified: lower case, straight apostrophe, no accents, no `'s`."""
    return _plain(word[:MAX_WORD_CHARS]).lower().removesuffix("'s")


def _plain(word: str) -> str:
    """Return a word without accents."""
    if word.isascii():
        return word
    word = normalize("NFKD", word.translate(_SPELLINGS))
    return normalize("NFC", "".join(c for c in word if category(c) != "Mn" or c >= "\u0900"))
