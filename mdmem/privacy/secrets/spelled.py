"""Spelled secrets: tokens with blanks, or the separators of a list, between their characters."""

from __future__ import annotations

from mdmem.privacy.secrets import SHORTEST_TOKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Spans = Iterable[tuple[int, int, str]]

_WIDEST_GAP = 5
"""Maximum distance between two characters of a run, as in a list: `'g', 'h'`."""


def find(text: str, tokens: Callable[[str], Spans]) -> Iterator[tuple[int, int, str]]:
    """Find spelled tokens. tokens: finds the tokens in a text without the gaps."""
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


def _in_run(text: str, run: list[int], tokens: Callable[[str], Spans]) -> Iterator[tuple[int, int, str]]:
    if len(run) >= SHORTEST_TOKEN:
        for start, end, kind in tokens("".join([text[at] for at in run])):
            yield run[start], run[end - 1] + 1, kind
