"""Slips: corrects typos in the words by which a prompt asks: `rember the`, `waht did we`, `what happend`."""

from __future__ import annotations

MAX_CHARS = 400
"""A longer prompt has other words to be understood by."""
_MARKS = ".,:;?!()"
_TYPED = (
    "what which when where why how the again already before continue decide decided discussed did finish happened "
    "previously reason remember remind yesterday pourquoi haben entschieden"
)
_BY_LETTER: dict[str, list[str]] = {}
for _word in _TYPED.split():
    _BY_LETTER.setdefault(_word[0], []).append(_word)
_OTHERS = frozenset(["were", "wen", "wat", "died", "thee"])
"""Words of their own, some of them Dutch or German."""
_LONG = 8
"""Of words with this many letters, two may be missing."""


def corrected(prompt: str) -> str:
    """Return a prompt with typos in question words and verbs of recalling corrected, otherwise as typed."""
    return " ".join(map(_corrected, prompt.split(" "))) if len(prompt) <= MAX_CHARS else prompt


def _corrected(part: str) -> str:
    bare = part.strip(_MARKS)
    word = bare.lower()
    candidates = _BY_LETTER.get(word[:1], ())
    if len(word) < 3 or not candidates or word in candidates or word in _OTHERS or not word.isalpha():
        return part
    meant = next((candidate for candidate in candidates if is_slip(word, candidate)), "")
    return part.replace(bare, meant, 1) if meant else part


def is_slip(word: str, meant: str) -> bool:
    """Whether a word is another one with two letters swapped, one doubled, or one or two inner ones missing."""
    missing = len(meant) - len(word)
    if missing == 0:
        differ = [at for at, letter in enumerate(word) if letter != meant[at]]
        return len(differ) == 2 and differ[1] - differ[0] == 1 and sorted(word) == sorted(meant)
    if missing == -1:
        at = next((at for at, letter in enumerate(meant) if letter != word[at]), len(meant))
        return word[at] == word[at - 1] and word[:at] + word[at + 1 :] == meant
    if word[-1] != meant[-1] or missing not in ((1, 2) if len(meant) >= _LONG else (1,)):
        return False
    letters = iter(meant)
    return len(meant) > 3 and all(letter in letters for letter in word)
