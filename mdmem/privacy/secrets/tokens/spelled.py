"""Spelled secrets: tokens with blanks, or the separators of a list, between their characters; seeds in groups of four.

Pages that set up a second factor show its seed like that: `JBSW Y3DP EHPK 3PXP`.
"""

from __future__ import annotations

from mdmem.privacy.secrets import FEWEST_FOURS, SHORTEST_TOKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Spans = Iterable[tuple[int, int, str]]

_WIDEST_GAP = 5
"""Maximum distance between two characters of a run, as in a list: `'g', 'h'`."""


_DIGITS = "234567"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HEX = "ABCDEF234567"


def find(text: str, spaced: bytes, tokens: Callable[[str], Spans]) -> Iterator[tuple[int, int, str]]:
    """Find spelled tokens and seeds. spaced: `secrets.spaced(text)`. tokens: finds the tokens in a text."""
    yield from _of_single_signs(spaced.decode("ascii"), tokens)
    yield from _in_fours(text)


def _of_single_signs(text: str, tokens: Callable[[str], Spans]) -> Iterator[tuple[int, int, str]]:
    run: list[int] = []
    for at, sign in enumerate(f"{text} "):
        if sign.isspace():
            continue
        is_alone = not text[at + 1 : at + 2].strip() and not text[at - 1 : at].strip()
        if is_alone and (not run or at - run[-1] <= _WIDEST_GAP):
            run.append(at)
            continue
        yield from _in_run(text, run, tokens)
        run = [at] if is_alone else []
    yield from _in_run(text, run, tokens)


def _in_fours(text: str) -> Iterator[tuple[int, int, str]]:
    """Find seeds in groups of four signs of base32, all in capitals or all in small letters."""
    at, start, end, groups = 0, 0, 0, ""
    for word in [*text.replace("\n", "  ").replace("\t", "  ").split(" "), ""]:
        begin = len(word) - len(word.lstrip(_AROUND))
        group = word.strip(_AROUND)
        is_group = len(group) == _SIZE and not group.upper().strip(_LETTERS + _DIGITS)
        longer = groups + group
        goes_on = is_group and begin == 0 and longer in (longer.upper(), longer.lower())
        if groups and not goes_on:
            if _is_seed(groups):
                yield start, end, "totp-seed"
            groups = ""
        if is_group:
            start = start if groups else at + begin
            end = at + begin + _SIZE
            groups = (groups + group)[: _LONGEST_SEED + 1]
        at += len(word) + 1


_AROUND = "\"'`()[]{}<>.,;:"
_SIZE = 4
_LONGEST_SEED = 128


def _is_seed(joined: str) -> bool:
    """Whether groups have the letters and digits of a seed: neither words, versions, years, nor hexadecimal."""
    groups = [joined[at : at + _SIZE] for at in range(0, len(joined), _SIZE)]
    numbers = [group for group in groups if group[:-1].isdecimal()]  # of a table in C: 255U, 62U
    mixed = [group for group in groups if group.strip(_DIGITS) and not group.isalpha()]
    return (
        FEWEST_FOURS * _SIZE <= len(joined) <= _LONGEST_SEED
        and len(mixed) * 4 >= len(groups) > len(numbers) * 2
        and any(not group.rstrip(_DIGITS).isalpha() for group in mixed)
        and joined.upper().strip(_HEX) != ""
    )


def _in_run(text: str, run: list[int], tokens: Callable[[str], Spans]) -> Iterator[tuple[int, int, str]]:
    if len(run) >= SHORTEST_TOKEN:
        for start, end, kind in tokens("".join([text[at] for at in run])):
            yield run[start], run[end - 1] + 1, kind
