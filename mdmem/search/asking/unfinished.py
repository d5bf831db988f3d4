"""Unfinished: whether a sentence in English asks what is still to be done, and so for open work."""

from __future__ import annotations

from itertools import dropwhile, takewhile

from mdmem.search.asking.english import HERE, MODAL, PAST, WE
from mdmem.search.asking.general import after as _after
from mdmem.search.asking.general import pairs as _pairs
from mdmem.search.asking.orders import word_set as _words


def asks_what_is_left(words: list[str]) -> bool:
    """Whether a sentence asks what is not done yet: `what is still left to do`, `anything half done?`."""
    words = [word for word, after in _pairs([*words, ""]) if word not in HERE or after not in _WHOLE]
    used = frozenset(words)
    if _after(words, _words("how hows"), _words("far")) and used & WE:
        return True
    if used.isdisjoint(_ANYTHING) or used & HERE:
        return False
    if _after(words, _words("waiting blocked"), _words("for on")) and used & WE:
        return True
    if _after(words, _words("still"), _words("has have needs need to")) and "to" in used:
        return "i" not in used
    begin, still_open, end = " ".join(words).partition(" still open")
    if still_open:
        return begin in _MAY_BE_OPEN and (end.split() or ["on"])[0] in _OPEN_OF
    asking = dropwhile(lambda word: word not in _ANYTHING, words)
    if not _CONDITIONS.isdisjoint(takewhile(lambda word: word not in _UNDONE, asking)):
        return False  # `what happens if the file is missing`, but not `when we stopped, what was left`
    if used.isdisjoint(_UNDONE) or used & (MODAL | {"right"}) or ("missing" in used and used & PAST):
        return False
    is_left = _after([*words, ""], _UNDONE, _BEHIND_UNDONE)
    return is_left or _after(words, _UNDONE - {"missing"}, _UNTIL)  # not `what is missing before the brace`


_CONDITIONS = _words("if when whenever unless once")
_WHOLE = _words("project repo repository codebase")
_ANYTHING = _words("what whats anything any")
_MAY_BE_OPEN = ("anything", "is anything", "is there anything", "whats", "what is")
_OPEN_OF = _words("on for with in from of about regarding")
_UNDONE = _words("left remains remaining missing unfinished undone half outstanding todo todos")  # `what is left to do`
_BEHIND_UNDONE = frozenset(["", "to", "for", "on", "open", "undone", "done", "finished", "work", "tasks"])
_UNTIL = _words("before until")
