"""Private keys: in PEM, whole or cut off, in SSH2, in PuTTY's files, bare, and as numbers; vaults of Ansible."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets.literals import line_end, rows, run_end
from mdmem.privacy.secrets.tokens import end_of_run
from mdmem.privacy.secrets.tokens.formats import BASE64, LOWER_HEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

_BEGIN = "-----BEGIN "
_END = "-----END"
_SSH2 = "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY"
_STATIC = "OpenVPN Static key"
_PUTTY = "Private-Lines:"
_VAULT = "$ANSIBLE_VAULT;"
_MOST_LINES = 4000  # of an encrypted vault
_HEX_LINE = 80  # characters of such a line
_KEY_HEADERS = ("Proc-Type", "DEK-Info", "Comment", "Version", "Private-MAC")
_LONGEST_BLOCK = 64 * 1024
_LONGEST_BODY = 8 * 1024  # characters read before the end of a block that was cut off
_SHORTEST_CUT = 16
_BARE = (
    ("MII", 6, "IBAAK"),  # RSA
    ("MII", 6, "IBADAN"),  # PKCS #8, RSA
    ("MI", 4, "AgEAMB"),  # PKCS #8, elliptic curves
    ("MI", 4, "AgEBB"),  # elliptic curves
    ("MII", 6, "IBAzCC"),  # PKCS #12
    ("MII", 14, "iG9w0BBQ0w"),  # PKCS #8, encrypted
    ("MI", 11, "GSIb3DQEFDT"),  # the same, of a short key
    ("MH", 3, "CAQEEI"),  # elliptic curves of 256 bits
    ("", 0, "b3BlbnNzaC1rZXktdjEA"),  # OpenSSH
)
"""Beginnings of keys that base64 encodes: first letters, and letters at an offset that no certificate has there.

They are the lengths, the version, which is 0, 1 or 3, and the type of what follows (RFC 8017, 5915, 5958 and 7292),
and what OpenSSH writes first.
"""
_BEFORE_LINES, _LONGEST_BEFORE = " \t>|+-\"'", 16  # in a quotation, a diff or a program
_AFTER_LINES = " \t\r\"'+,"
_SHORTEST_BARE = 60  # characters
_SHORTEST_SIGN = 9  # characters of a beginning


def find(text: str) -> Iterator[Span]:
    """Find private keys, in ascending order for each kind of block."""
    yield from _whole_keys(text)
    yield from _putty_keys(text)
    yield from _cut_keys(text)
    yield from _vaults(text)
    yield from _printed_keys(text)


def _whole_keys(text: str) -> Iterator[Span]:
    """Find private keys between BEGIN and END, or up to the end of the key's lines if END was cut off."""
    closing = -1
    at = text.find(_BEGIN)
    while at >= 0:
        end = at + len(_BEGIN)
        title, dashes, _ = text[end : end + 72].partition("-----")
        after = end + len(title) + len(dashes)
        is_secret = "PRIVATE KEY" in title or title.startswith(_STATIC)
        if dashes and is_secret and text[after : after + 1] in ("", "\n", "\r", " ", "\t", "\\"):
            end = after
            if closing < end:  # only one search for each END, so that the cost is linear
                closing = text.find(_END, end)
                closing = closing if closing >= 0 else len(text) + _LONGEST_BLOCK
            whole = closing - end < _LONGEST_BLOCK
            end = _after_dashes(text, closing) if whole else _body_end(text, end)
            yield at, end, "private-key"
        at = text.find(_BEGIN, end)


def _cut_keys(text: str) -> Iterator[Span]:
    """Find private keys whose beginning was cut off, as by `tail`, and SSH2 keys, which have four dashes."""
    for at, _ in secrets.occurrences(text, _END):
        head = text[max(0, at - _LONGEST_BODY) : at]
        is_private = "PRIVATE KEY" in text[at : at + 48]
        above = head.split("\n")[:-1] if is_private and "-----BEGIN " not in head else []
        size = len(head.rpartition("\n")[2])
        for row in reversed(above):
            body = row.strip(" \t\r+>|\"'")
            if not body or body.strip(BASE64):
                break
            size += len(row) + 1
        if size - len(head.rpartition("\n")[2]) > _SHORTEST_CUT:
            yield at - size, at, "private-key"
    for at, _ in secrets.occurrences(text, _SSH2):
        end = text.find("---- END", at, at + _LONGEST_BLOCK)
        yield at, end if end >= 0 else _body_end(text, line_end(text, at)), "private-key"


def _putty_keys(text: str) -> Iterator[Span]:
    for at, _ in secrets.occurrences(text, _PUTTY):
        yield at, _body_end(text, line_end(text, at)), "private-key"


def _after_dashes(text: str, closing: int) -> int:
    """Return the end of the END line whose dashes begin at `closing`."""
    begin = closing + len(_END)
    dashes = text.find("-----", begin, begin + 72)
    return dashes + 5 if dashes >= 0 else begin


def _body_end(text: str, at: int) -> int:
    """Return the end of the key lines from `at`: base64 and headers. Line breaks may be escaped."""
    end = at
    while at < len(text):
        stop = line_end(text, at)
        escape = text.find("\\n", at, stop)
        line = text[at : escape if escape >= 0 else stop]
        body = line.strip()
        if body and not _is_key_line(body):
            head = body.partition(" ")[0]
            run = len(head) - len(head.lstrip(BASE64))
            return at + line.index(head) + run if run >= 16 else end
        if body:
            end = at + len(line)
        at += len(line) + (2 if escape >= 0 else 1)
    return end


def _is_key_line(body: str) -> bool:
    return not body.strip(BASE64) or (": " in body and body.startswith(_KEY_HEADERS))


def _vaults(text: str) -> Iterator[Span]:
    """Find the lines below `$ANSIBLE_VAULT;1.1;AES256`."""
    for header, _ in secrets.occurrences(text, _VAULT):
        first = end = 0
        for at, line in rows(text, line_end(text, header) + 1, _MOST_LINES):
            body = line.strip(" \t\r+-|")
            if not body or body.strip(LOWER_HEX) or len(body) > _HEX_LINE:
                break
            first = first or at + line.index(body)
            end = at + line.index(body) + len(body)
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


def bare(text: str) -> Iterator[Span]:
    """Find private keys in base64 without BEGIN and END, as `base64 key.p12` prints them, perhaps over lines."""
    for first, offset, sign in _BARE:
        done = 0
        for at, _ in secrets.occurrences(text, sign):
            begin = at - offset
            before = text[max(0, begin - 2) : max(0, begin)]
            is_first = before[-1:] not in _IN_KEYS or before.lstrip("\n") in ("+", "-")
            is_first = is_first and not text[begin + _SHORTEST_SIGN : begin + secrets.SHORTEST_TOKEN].strip(BASE64)
            if begin >= done and is_first and text.startswith(first, begin):
                done = _bare_end(text, begin)
                if done - begin >= _SHORTEST_BARE:
                    yield begin, done, "private-key"


def _bare_end(text: str, begin: int) -> int:
    """Return the end of the base64 at `begin`: its run of letters, the lines below of the same length, and the last."""
    end = end_of_run(text, begin, BASE64)
    width = size = end - begin
    while size == width and (start := _next_line(text, end)):
        first = run_end(text, start, _BEFORE_LINES, _LONGEST_BEFORE)
        stop = end_of_run(text, first, BASE64)
        start = stop - width if start <= stop - width <= first else first  # "+" may also be the first letter
        size = stop - start
        is_last = _SHORTEST_CUT <= size < width or "=" in text[start:stop][-2:]
        if not (size == width or is_last) or (stop < len(text) and not _next_line(text, stop)):
            break
        end = stop
    return end


def _next_line(text: str, end: int) -> int:
    """Return where the line after a line that ends at `end` begins; 0 if something else follows."""
    escape = 2 * text.startswith("\\n", end)
    ahead = text[end + escape : end + escape + _LONGEST_BEFORE].lstrip(_AFTER_LINES).removeprefix("\\")
    return text.index("\n", end) + 1 if ahead[:1] == "\n" else end + escape if escape else 0


_IN_KEYS = tuple(BASE64.replace("=", ""))
