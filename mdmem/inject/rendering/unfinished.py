"""Unfinished: recognizes sentences of an answer that say what is left to do."""

from __future__ import annotations

from itertools import dropwhile, takewhile

from mdmem.inject.rendering import telling
from mdmem.inject.rendering.block import is_full_stop
from mdmem.search.text import undone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Told = tuple[str, str]
    """A section's label, and a sentence."""

_BEFORE = frozenset(["what", "what's", "what’s", "is", "still", "noch", "es", "ce", "qui"])
_HEADS = frozenset(
    [
        "left", "open", "remaining", "remains", "missing", "outstanding", "pending", "unfinished", "todo", "todos",
        "to-do", "to-dos", "to", "not", "next", "follow-up", "follow-ups", "followups", "offen", "offene", "zu",
        "nächste", "nächster", "ausstehend", "fehlt", "fehlen", "reste", "à", "prochaine", "prochaines", "pendiente",
        "pendientes", "próximo", "próximos", "siguiente", "siguientes", "falta", "faltan", "queda", "quedan",
    ]
)  # fmt: skip
_AFTER = frozenset(
    [
        "do", "done", "open", "covered", "tested", "fixed", "verified", "item", "items", "point", "points", "task",
        "tasks", "work", "question", "questions", "issue", "issues", "ends", "step", "steps", "up", "yet", "todo",
        "todos", "to", "punkte", "aufgaben", "fragen", "tun", "schritt", "schritte", "noch", "à", "faire", "étape",
        "étapes", "paso", "pasos", "por", "hacer", "pendiente", "pendientes",
    ]
)  # fmt: skip
_UNTIL = frozenset(["before", "until", "for", "then"])
"""The words of a heading over what is left to do: `What is still left to do before the release`."""

BOX = "[ ] "
"""The beginning of an item of a list that is not ticked."""

_MAX_CHARS = 60
_LEAST_CHARS = 30
"""An item is not cut to less than this: the others are then left out."""


def is_heading(text: str) -> bool:
    """Whether a line is a heading over what is left to do: `What is left`, `TODO:`, `**Still open**`."""
    if len(text) > _MAX_CHARS:
        return False
    words = list(dropwhile(_BEFORE.__contains__, _bare(text).split()))
    if not words or words[0] not in _HEADS or (len(words) == 1 and words[0] in _NEVER_ALONE):
        return False
    return all(word in _AFTER for word in takewhile(lambda word: word not in _UNTIL, words[1:]))


_NEVER_ALONE = frozenset(
    ["to", "not", "zu", "à", "nächste", "nächster", "prochaine", "prochaines", "próximo", "próximos", "siguiente",
     "siguientes", "queda", "quedan"]
)  # fmt: skip


_TICKED = ("[x] ", "[X] ", "[-] ", "~~", "✅")


def is_said(label: str, sentence: str) -> bool:
    """Whether a sentence says what is left to do: by its section's label, by its own, or by an empty box."""
    if sentence.startswith(_TICKED):
        return False
    own, said = _parted(sentence)
    return sentence.startswith(BOX) or is_heading(label) or (bool(said.strip("* ")) and is_heading(own))


def at_end(told: Sequence[Told], *, worked: bool = False) -> list[str]:
    """Return what an answer says in words at its very end is left to do, without its label: no boxes, no offers.

    worked: also what it says is not done yet, or promises for later. After a mere question, that may be anything.
    """
    said = [_left(*one, worked=worked) for one in reversed(told)]
    return list(filter(None, takewhile(lambda one: one is not None, said)))[::-1]


def _left(label: str, sentence: str, *, worked: bool) -> str | None:
    """Return what a sentence says is left to do, "" for a box, an offer or nothing; None if it says something else."""
    if not is_said(label, sentence):
        return (undone.clause(sentence) if worked else "") or None
    own, said = _parted(sentence)
    left = said.lstrip("* ") if said and is_heading(own) else sentence
    return "" if sentence.startswith(BOX) or telling.is_offer(left) or _is_none(left) else left


def _parted(sentence: str) -> tuple[str, str]:
    """Split a sentence into what may be a heading, and the rest: at a colon, or as `What is left is the migration`."""
    own, colon, said = sentence.partition(":")
    if colon and is_heading(own):
        return own, said
    words = sentence.split()
    at = next((at for at, word in enumerate(words[1:_LONGEST], 1) if word.lower() in _IS), 0)
    if _bare(" ".join(words[:at])) in ("what", "there", "it"):  # `what is left is`
        at = next((at for at, word in enumerate(words[at + 1 : _LONGEST], at + 1) if word.lower() in _IS), 0)
    head = " ".join(words[:at])
    is_alone = at == 1 and _bare(head) not in _ALONE
    rest = words[at + 1 + (words[at + 1 : at + 2] in (["noch"], ["still"])) :]
    is_named = len(rest) > 1 and not rest[0].endswith("ed") and rest[0] not in _NO_TASK  # `… work is tracked in #12`
    return (head, " ".join(rest)) if at and not is_alone and is_named else (own, said)


_IS = frozenset(["is", "are", "ist", "sind", "bleibt", "bleiben"])
_ALONE = frozenset(["offen", "ausstehend"])
"""Words that are a heading before `is` alone; `open` and `next` may begin any sentence."""
_NO_TASK = frozenset("now already currently up in out good fine ok okay intentional harmless".split())
"""What follows `is` where a sentence names no work: `Open issues are now closed`, `What's next is up to you`."""
_LONGEST = 7


def _is_none(sentence: str) -> bool:
    """Whether a sentence says that nothing is left: `none yet`, `there is nothing`, `all is done`, `~~it~~`."""
    words = list(dropwhile(_BEFORE_NOTHING.__contains__, _bare(sentence).split()))
    is_done = words[:1] in (["all"], ["everything"], ["alles"]) and words[-1] in _OVER
    return len(words) < 2 or is_done or words[0] in _NOTHING or sentence.startswith(_TICKED)


_BEFORE_NOTHING = frozenset(["there", "there's", "is", "are", "es", "gibt", "ist", "hay"])
_OVER = frozenset(["done", "good", "here", "complete", "completed", "finished", "fixed", "erledigt", "fertig"])
_NOTHING = frozenset(
    ["nothing", "none", "no", "n/a", "0", "nichts", "keine", "rien", "aucun", "aucune", "nada", "ninguno"]
)


def _bare(text: str) -> str:
    letters = [at for at, character in enumerate(text) if character.isalnum()]
    return text[letters[0] : letters[-1] + 1].lower() if letters else ""


def split(told: Sequence[Told], chars: int) -> tuple[list[Told], list[Told]]:
    """Divide an answer's sentences into others and those that say what is left to do.

    The latter are shortened to what the others leave of `chars`, at least half; mere offers are in neither.
    """
    left = [one for one in told if is_said(*one)]
    others = [("" if is_heading(label) else label, said) for label, said in told if (label, said) not in left]
    left = [(_short(label), sentence) for label, sentence in left if not telling.is_offer(sentence)]
    labels = {label for label, _ in left if label}
    taken = sum(len(label) + len(sentence) + 2 for label, sentence in others)
    room = max(chars // 2, chars - taken) - (sum(len(label) + 2 for label in labels) if others else 0)
    shown = _shortened([sentence for _, sentence in left], max(room, chars // 3))
    return others, [(label, sentence) for (label, _), sentence in zip(left, shown, strict=False)]


def _short(label: str) -> str:
    """Return a heading without what follows `before`, `until` or `for`."""
    return " ".join(takewhile(lambda word: word.lower() not in _UNTIL, label.split()))


def _shortened(sentences: Sequence[str], chars: int) -> list[str]:
    """Return the first of these sentences, in `chars` characters: long ones are cut, so that more of them fit."""
    kept = sentences[: max(chars // _LEAST_CHARS, 1)]
    room = chars
    widths: dict[int, int] = {}
    for place, at in enumerate(sorted(range(len(kept)), key=lambda at: len(kept[at]))):
        widths[at] = min(len(kept[at]), room // (len(kept) - place))
        room -= widths[at]
    return [cut(sentence, widths[at]) for at, sentence in enumerate(kept)]


def cut(text: str, chars: int) -> str:
    """Cut a sentence where it pauses, if that is past the middle, else after a word."""
    if len(text) <= chars:
        return text
    head = text[: max(chars - 1, 1)]
    pauses = [at for mark in (" (", "; ", ", ", ": ", " – ", " — ") if (at := head.rfind(mark)) > chars // 2]
    ends = [at + 1 for at in (head.rfind(". "),) if at > chars // 2 and is_full_stop(text, at)]
    end = max([*ends, *pauses], default=head.rfind(" "))
    return f"{head[:end] if end > 0 else head}…"
