"""Turns with the same number from two machines: a session resumed before its notes arrive restarts its numbers."""

from __future__ import annotations

from mdmem import timestamps
from mdmem.vault import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Step = TypeVar("Step")
    NotePlace = tuple[tuple[int, ...], float, str, bool]
    Placed = tuple[NotePlace, Step]


NO_NUMBER = 1 << 30
"""Prompt number in the place of a note without one: it sorts last."""


def place(path: str, created: str, kind: str, otherwise: tuple[int, int] = (NO_NUMBER, 0)) -> NotePlace:
    """Return a note's place, for `numbered`. otherwise: its numbers when its file name has none."""
    name = path.rpartition("/")[2]
    return journal.numbers(name) or otherwise, timestamps.epoch(created), name, kind == "prompt"


def numbered(steps: Iterable[Step], place: Callable[[Step], NotePlace]) -> list[tuple[int, list[Step]]]:
    """Group the notes of a session into turns, each with the number of its prompt.

    place: returns a note's numbers (prompt, sequence), time, file name, and whether it is a prompt.
    If several prompts have the same number, all turns are renumbered by the time of their prompts. A note with such a
    number belongs to the latest of these prompts before it.
    """
    ordered = sorted(((place(step), step) for step in steps), key=lambda placed: placed[0])
    by_number: dict[int, list[Placed[Step]]] = {}
    for placed in ordered:
        numbers = placed[0][0]
        by_number.setdefault(numbers[0], []).append(placed)
    prompts_of = {number: list(filter(_is_prompt, members)) for number, members in by_number.items()}
    if all(len(prompts) < 2 for prompts in prompts_of.values()):
        return [(number, [step for _, step in members]) for number, members in by_number.items()]
    turns: list[list[Placed[Step]]] = []
    for number, members in by_number.items():
        prompts = sorted(prompts_of[number], key=_moment)
        parts = [[prompt] for prompt in prompts] or [[]]
        for placed in members:
            if not _is_prompt(placed):
                time, _ = _moment(placed)
                begun = sum(_moment(prompt)[0] <= time for prompt in prompts)
                parts[max(begun - 1, 0)].append(placed)
        turns += parts
    turns.sort(key=lambda turn: min(map(_moment, turn)))
    return [(number, [step for _, step in turn]) for number, turn in enumerate(turns, 1)]


def telling_answer(kinds: Iterable[str]) -> int:
    """Return the place of the answer that tells how a session ended, -1 without answers.

    It is the last one of a turn that changed a file or ran a command, so that no thanks or question after it counts;
    without such a turn, the last one. kinds: those of the session's notes in order, `WORK` for such a change or run.
    """
    last = done = -1
    has_worked = False
    for at, kind in enumerate(kinds):
        if kind == "response":
            last, done = at, at if has_worked else done
        has_worked = kind == WORK or (has_worked and kind != "prompt")
    return last if done < 0 else done


WORK = "work"


def _is_prompt(placed: Placed[Step]) -> bool:
    return placed[0][3]


def _moment(placed: Placed[Step]) -> tuple[float, str]:
    """Return a note's time and file name."""
    return placed[0][1:3]
