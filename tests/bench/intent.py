"""Measures false positives and leaks of the rules of intent: `python -m tests.bench intent`.

Prints how many harmless prompts that mention private tags lose text, and how much, and how many prompts that mean to
hide something are stored with it.
"""

from __future__ import annotations

from mdmem.privacy import as_typed, clean
from tests.privacy.test_intent import MENTIONS, SECTIONS

HARMLESS = (
    *MENTIONS,
    "why does <private> not work in python 3.11?",
    "how do I use <private> in a commit message?",
    "is <private> supported by the importer?",
    "does <private> hide text in tool output as well?",
    "what happens when <private> is never closed?",
    "where should <private> be documented?",
    "Can <private> be used inside a table?",
    "make the [private] channel visible again, please",
    "why is every [private] repo listed twice?",
    "remove the [private] prefix from those titles",
    "a [private] field of a class is not exported",
    "I forgot the </private> at the end, sorry.",
    "there is a stray </private> in the docs, remove it",
    "you left a lone </private> in there.",
)
"""Prompts that only mention tags."""

PRIVATE = (
    "log in with <private> hunter2 and check",
    "can you log in with <private>hunter2 and check?",
    "what is wrong with <private> hunter2?",
    "why does the password <private> hunter2 fail?",
    "is the code <private> 4711 right?",
    "does <private> hunter2 work?",
    "use the [private] password hunter2",
    "the [private] code is 4711",
    "hunter2 is the </private> and that is it",
    "my password is hunter2, that was the </private>.",
    "hunter2</private> is my password",
    "<private>hunter2",
    "[private] hunter2",
    "[PRIVATE] hunter2",
    "[private]: hunter2",
    "ok [private] hunter2 goes here",
    "ok <!-- private --> hunter2",
    "deploy <private>to hunter2</private> now?",
    "<private>\nhunter2\n</private>",
    "fix it\n<private>\nhunter2",
    "`<private>hunter2` is it",
    'echo "<private>hunter2" > x',
)
"""Prompts that mean to hide `hunter2` or `4711`."""

SAID = ("hunter2", "4711")


def main() -> None:
    """Print the figures."""
    damaged, lost = [], 0
    for prompt in HARMLESS:
        kept = str(clean(as_typed(f"{prompt}\nand a second line")).value)
        if kept != f"{prompt}\nand a second line":
            damaged.append(prompt)
            lost += len(prompt) + 18 - len(kept)
    print(f"intent: {len(damaged)} of {len(HARMLESS)} harmless prompts damaged, {lost} characters lost")
    for prompt in damaged:
        print(f"  damaged: {prompt}")
    leaked = [prompt for prompt in PRIVATE if any(word in str(clean(as_typed(prompt)).value) for word in SAID)]
    others = [text for text, kept in SECTIONS if clean(text).value != kept]
    print(f"  {len(leaked) + len(others)} of {len(PRIVATE) + len(SECTIONS)} private prompts leaked")
    for prompt in leaked + others:
        print(f"  leaked: {prompt}")


if __name__ == "__main__":
    main()
