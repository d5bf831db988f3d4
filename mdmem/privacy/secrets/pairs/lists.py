"""Lists of secrets after one name: `passwords = ["…", "…"]`, items of YAML, the words of a mnemonic."""

from __future__ import annotations

from mdmem.privacy.secrets import literals, scan, values
from mdmem.privacy.secrets.literals import Literal, run_end, skip_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.secrets.scan import Name, Span

_LONGEST_PHRASE = 400  # characters of a mnemonic: 24 words, numbered
_MOST_LISTED = 200  # values of one list


def mnemonic(name: Name, at: int) -> list[Span]:
    """`mnemonic: …`: twelve or more words, perhaps numbered, in a list or before another sentence."""
    text = name.text
    opening = text[at : at + 2]
    start = at + len(opening) - len(opening.lstrip("[\"'`"))
    phrase = text[start : start + _LONGEST_PHRASE].partition("]")[0]
    is_numbered = phrase[:1].isdigit()
    if opening[:1] != "[" and not is_numbered:
        phrase = phrase.partition("\n")[0]
    found: list[str] = []
    place = end = 0
    for word in phrase.split():
        place = phrase.index(word, place)
        core = word.strip("\"'`,;.")
        is_number = is_numbered and word.strip(".):").isdigit()
        if not (is_number or (core.isalpha() and core.islower() and 3 <= len(core) <= 8)):
            break
        if not is_number:
            found.append(core)
            end = place + word.index(core) + len(core)
        place += len(word)
        if word[-1] in ".;\"'`" and not is_number and opening[:1] != "[":
            break
    is_whole = not phrase[end:].split("\n")[0].strip("\"'`,;. ") or len(found) in _PHRASES
    is_phrase = len(found) >= min(_PHRASES) and is_whole and values.NO_SEEDS.isdisjoint(found)
    return [(start, start + end, name.kind)] if is_phrase else []


_PHRASES = (12, 15, 18, 21, 24)
"""The numbers of words that a mnemonic phrase may have."""


def in_brackets(name: Name, at: int) -> list[Span]:
    """`passwords = ["…", "…"]`."""
    spans: list[Span] = []
    end = name.text.find("]", at, at + literals.LONGEST_QUOTED)
    at += 1
    while at < end and len(spans) < _MOST_LISTED:
        at = run_end(name.text, at, " \t\r\n,", 96)
        literal = literals.read(name.text, at, whole_word=False)
        if not literal or not literal.quoted:
            break
        if values.is_secret(literal.text, name.weight):
            spans.append((literal.start, literal.end, name.kind))
        at = literal.end + 1
    return spans


def items(name: Name, at: int) -> list[Span]:
    """`passwords:⏎ - …⏎ - …`."""
    text = name.text
    spans: list[Span] = []
    while at and text.startswith("- ", at) and len(spans) < _MOST_LISTED:
        literal = literals.read(text, skip_blank(text, at + 2), whole_word=True)
        if not literal:
            break
        end = literal.end + literal.quoted
        if not literal.template and scan.line_ends(text, end) and _is_item(name, literal):
            spans.append((literal.start, literal.end, name.kind))
        at = scan.next_line(text, end)
    return spans


def _is_item(name: Name, literal: Literal) -> bool:
    if name.kind == "password":
        return values.is_secret(literal.text, quoted=literal.quoted, alone=True)
    return values.looks_random(literal.text)
