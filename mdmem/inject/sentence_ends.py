"""Sentence ends: tells a full stop from the dot of an ordinal or an abbreviation, which a capital may follow too."""

from __future__ import annotations

_ABBREVIATED = frozenset(
    ["e.g", "i.e", "vs", "cf", "approx", "resp", "fig", "figs", "dr", "mr", "mrs", "ms", "prof", "z.b", "d.h", "u.a",
     "bzw", "ca", "nr", "inkl", "evtl", "ggf", "vgl", "p.ex"]
)  # fmt: skip
_MONTHS = ("jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez")
_MAX_WORD = 12


def is_full_stop(text: str, at: int) -> bool:
    """Whether the dot at `at`, with a space behind it, ends a sentence: not in `1. Oktober` and `e.g. Redis`."""
    word = text[max(at - _MAX_WORD, 0) : at].rpartition(" ")[2].lstrip("(*_`\"'").lower()
    if word.isdecimal() and len(word) < 3:
        return text[at + 2 : at + 5].lower() not in _MONTHS
    return word not in _ABBREVIATED and "z. B." not in (text[max(at - 4, 0) : at + 1], text[max(at - 1, 0) : at + 4])
