"""Turns with the same number from two machines: a session resumed before its notes arrive restarts its numbers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Step = TypeVar("Step")
    Place = tuple[tuple[int, ...], float, str, bool]


NO_NUMBER = 1 << 30
"""Prompt number in the place of a note without one: it sorts last."""


def numbered(steps: Iterable[Step], place: Callable[[Step], Place]) -> list[tuple[int, list[Step]]]:
    """Group the notes of a session into turns, each with the number of its prompt.

    place: returns a note's numbers (prompt, sequence), time, file name, and whether it is a prompt.
    If several prompts have the same number, all turns are renumbered by the time of their prompts. A note with such a
    number belongs to the latest of these prompts before it.
    """
    ordered = sorted(((place(step), step) for step in steps), key=lambda one: one[0])
    by_number: dict[int, list[tuple[Place, Step]]] = {}
    for one in ordered:
        by_number.setdefault(one[0][0][0], []).append(one)
    asked = {number: [one for one in held if one[0][3]] for number, held in by_number.items()}
    if all(len(prompts) < 2 for prompts in asked.values()):
        return [(number, [step for _, step in held]) for number, held in by_number.items()]
    turns: list[list[tuple[Place, Step]]] = []
    for number, held in by_number.items():
        prompts = sorted(asked[number], key=lambda one: one[0][1:])
        parts = [[prompt] for prompt in prompts] or [[]]
        for one in held:
            if not one[0][3]:
                at = sum(prompt[0][1] <= one[0][1] for prompt in prompts)
                parts[max(at - 1, 0)].append(one)
        turns += parts
    turns.sort(key=lambda turn: min(one[0][1:3] for one in turn))
    return [(number, [step for _, step in turn]) for number, turn in enumerate(turns, 1)]
