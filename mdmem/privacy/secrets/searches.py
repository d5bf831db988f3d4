"""Searches for secrets in one text: which there are, in which order, and which texts each is for.

Each has a quick check that never misses a secret, and is loaded only for a text that passes it: most texts pass none.
Where several find the same value, its mark has the kind that the first found; so those come first that know most of a
value: a number with a check digit, then a format, then a place, and a name last.
"""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import has_any, signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mdmem.privacy.secrets.scan import Span

    Found = Iterable[Iterable[Span]]


class Reading:
    """A text, and what several searches ask about it.

    low: the text in lower case. marks: prefixes of values that are already masked. is_output: a program wrote it.
    is_named: it may hold a name of a secret. words: `secrets.words`.
    """

    __slots__ = ("is_named", "is_output", "low", "marks", "text", "words")

    def __init__(self, text: str, low: str, marks: tuple[str, ...], is_output: bool) -> None:
        self.text = text
        self.low = low
        self.marks = marks
        self.is_output = is_output
        self.is_named = secrets.may_name(low)
        self.words = secrets.words(low)


def find(text: str, low: str, marks: tuple[str, ...], *, is_output: bool) -> list[Span]:
    """Return the secrets in a text, search by search, or the whole text if there are too many; see `Reading`."""
    reading = Reading(text, low, marks, is_output)
    found: list[Iterable[Span]] = []
    for search in SEARCHES:
        found += search(reading)
    if not found:
        return []
    from mdmem.privacy import limits

    return limits.spans_of(found, len(text))


def may_find(text: str, low: str, *, is_output: bool) -> bool:
    """Whether any search but that in long words may find something: all their quick checks, the fastest first."""
    may = signs.may_hold_place(text) or signs.may_hold_command(text)
    may = may or secrets.may_log_in(text) or secrets.may_hold_chosen(text) or secrets.may_hold_dump(text)
    may = may or (not is_output and has_any(low, signs.PROSE_SIGNS))
    may = may or any(True for spans in _of_numbers(text, low) for _ in spans)
    return may or secrets.may_name(low) or signs.may_write(text, low)


def finds_token(text: str, marks: tuple[str, ...]) -> bool:
    """Whether the search in long words finds something."""
    return secrets.may_hold_token(text) and any(True for spans in _in_long_words(text, marks) for _ in spans)


def _numbers(of: Reading) -> Found:
    return _of_numbers(of.text, of.low)


def _of_numbers(text: str, low: str) -> Found:
    """Return the searches for numbers of cards, accounts and persons in a text, if it may hold one."""
    if len(text) < _SHORTEST_IDENTITY:
        return ()
    form = secrets.zeros(text)
    found: list[Iterable[Span]] = []
    if secrets.TEN_DIGITS in form:
        from mdmem.privacy import payments

        found.append(payments.find(text, low))
    has_digits = _SIX_DIGITS in form or "00 000 000" in form or "0000 0000 00" in form
    if has_digits or has_any(low, ("ausweis", "passp", "passn", "passe")):
        from mdmem.privacy.checked import identities

        found.append(identities.find(text, low))
    return found


_SIX_DIGITS, _SHORTEST_IDENTITY = "0" * 6, 12


def _tokens(of: Reading) -> Found:
    if len(of.text) <= _LONG and not secrets.may_hold_token(of.text):
        return ()
    return _in_long_words(of.text, of.marks)


_LONG = 16 * 1024
"""A longer text is searched for tokens without a check: it surely has a long word."""


def _in_long_words(text: str, marks: tuple[str, ...]) -> Found:
    """Search for tokens, bare private keys, names and values in base64, and `user@host:password`."""
    from mdmem.privacy.secrets import tokens

    found = [tokens.find(text)]
    has_key, is_coded = tokens.formats.may_encode(text)
    if has_key:
        from mdmem.privacy.secrets import key_blocks

        found.append(key_blocks.bare(text))
    if is_coded:
        from mdmem.privacy.secrets import repeated

        found.append(repeated.in_base64(text, marks))
    if "@" in text:
        from mdmem.privacy.secrets import loose

        found.append(loose.of_hosts(text))
    return found


def _dumps(of: Reading) -> Found:
    if not secrets.may_hold_dump(of.text):
        return ()
    from mdmem.privacy.secrets import repeated

    return (repeated.in_base64(of.text, of.marks),)


def _logins(of: Reading) -> Found:
    if not secrets.may_log_in(of.text):
        return ()
    from mdmem.privacy.secrets import loose

    return loose.of_addresses(of.text), loose.of_mails(of.text)


def _chosen(of: Reading) -> Found:
    if not secrets.may_hold_chosen(of.text):
        return ()
    from mdmem.privacy.secrets import loose

    return (loose.chosen(of.text),)


def _sentences(of: Reading) -> Found:
    if of.is_output or not has_any(of.low, signs.PROSE_SIGNS):
        return ()
    from mdmem.privacy.secrets import nearby

    return (nearby.in_prose(of.text),)


def _places(of: Reading) -> Found:
    if not (signs.may_hold_place(of.text) or (of.is_named and has_any(of.text, signs.NAMED_PLACE_SIGNS))):
        return ()
    from mdmem.privacy.secrets import places

    return (places.find(of.text, of.low, of.marks),)


def _commands(of: Reading) -> Found:
    is_named = of.is_named and has_any(of.text, signs.NAMED_COMMAND_SIGNS)
    if not (is_named or signs.may_hold_command(of.text) or signs.may_write(of.text, of.low)):
        return ()
    from mdmem.privacy.secrets import commands

    spans = commands.find(of.text, of.low, of.words)
    return ((span for span in spans if not of.text.startswith(of.marks, span[0])),)


def _names(of: Reading) -> Found:
    if not of.is_named:
        return ()
    from mdmem.privacy.secrets import pairs

    return (pairs.in_text(of.text, of.low, of.marks, of.words),)


SEARCHES: tuple[Callable[[Reading], Found], ...] = (
    _numbers,  # of cards, accounts and persons
    _tokens,  # of a known format, or too random to be words
    _dumps,  # `70 77 3d …`: a name and its value as bytes
    _logins,  # `user:password@host`
    _chosen,  # as people choose them: `Summer2049!`
    _sentences,  # in what people and models write: "log in as ana with …"
    _places,  # URLs, key blocks, lines of password files, calls
    _commands,  # `mysql -p…`
    _names,  # `PASSWORD=…`, in pairs, tables, and what commands print
)
