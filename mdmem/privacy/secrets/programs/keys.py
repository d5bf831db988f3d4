"""Numbers of private keys as `openssl … -text` prints them and GnuPG keeps them, and vaults of Ansible."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets.literals import line_end
from mdmem.privacy.secrets.tokens.formats import LOWER_HEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

_VAULT = "$ANSIBLE_VAULT;"
_MOST_LINES = 4000  # of an encrypted vault
_HEX_LINE = 80  # characters of such a line


def find(text: str) -> Iterator[Span]:
    """Find these numbers and the lines of vaults, in ascending order for each form."""
    yield from _vaults(text)
    yield from _printed_keys(text)


def _vaults(text: str) -> Iterator[Span]:
    """Find the lines below `$ANSIBLE_VAULT;1.1;AES256`."""
    for header, _ in secrets.occurrences(text, _VAULT):
        end = at = line_end(text, header) + 1
        first = 0
        for _ in range(_MOST_LINES):
            line = text[at : line_end(text, at)]
            body = line.strip(" \t\r+-|")
            if not body or body.strip(LOWER_HEX) or len(body) > _HEX_LINE:
                break
            first = first or at + line.index(body)
            end = at + line.index(body) + len(body)
            at += len(line) + 1
        if first:
            yield first, end, "vault"


def _printed_keys(text: str) -> Iterator[Span]:
    """Find the numbers of private keys, as `openssl … -text` prints them and GnuPG keeps them."""
    if "rivate-Key:" in text:
        for _, start in secrets.occurrences(text, *_NUMBERS):
            ahead = text[start : start + _LONGEST_NUMBER]
            first = ahead.lstrip()[:3]
            if ahead[:1] in "\r\n" and first[2:] == ":" and not first[:2].strip(LOWER_HEX):
                number = ahead[: len(ahead) - len(ahead.lstrip(_IN_NUMBERS))]
                rows, _, last = number.rpartition("\n")
                number = rows if last.strip() == last else number  # the next label, such as "exponent1"
                yield start + len(number) - len(number.lstrip()), start + len(number.rstrip()), "private-key"
    for _, start in secrets.occurrences(text, "(private-key"):
        block = text[start : start + _LONGEST_NUMBER].partition("(private-key")[0]
        for _, begin in secrets.occurrences(block, *_ELEMENTS):
            number = block[begin:].partition("#")[0]
            yield start + begin, start + begin + len(number), "private-key"


_NUMBERS = ("priv:", "privateExponent:", "prime1:", "prime2:", "exponent1:", "exponent2:", "coefficient:")
_ELEMENTS = ("(d #", "(p #", "(q #", "(u #", "(x #")

_LONGEST_NUMBER = 8 * 1024  # characters, in hexadecimal digits
_IN_NUMBERS = f"{LOWER_HEX}: \t\r\n"
