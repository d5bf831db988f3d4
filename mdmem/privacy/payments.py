"""Payments: finds card numbers and IBANs, which are known by their check digits.

A card number counts in groups of four, with a word such as "card" before it, or with a month and a year after it: one
in forty numbers of its length has an issuer's prefix and passes the check. An IBAN counts anywhere: its country gives
its length, and one in a hundred such words passes the check.
Numbers that are published for tests stay.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.job import Job

_DIGITS, _CAPITALS = b"0123456789", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OTHERS = bytes(range(256)).translate(None, _DIGITS + _CAPITALS)
_FORM = bytes.maketrans(_DIGITS + _CAPITALS + _OTHERS, b"0" * 10 + b"A" * 26 + b" " * len(_OTHERS))
"""Replaces digits by 0, capitals by A, and all others by blanks."""


def find(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Find card numbers and IBANs, in ascending order for each form."""
    form = text.encode("ascii", "replace").translate(_FORM)
    for groups in _GROUPS:
        for at, end in _runs(form, b" ".join(b"0" * size for size in groups)):
            is_even = {text[at + size] for size in _places(groups)} in _ONE_SIGN
            is_card = is_even and _is_card(_bare(text[at:end])) and not _is_in_uuid(text, at)
            if is_card and (_is_labeled(low, at) or not _is_in_row(text, at, end)):
                yield at, end, "card-number"
                yield from _security_code(low, end)
    for size in _SIZES:
        for at, end in _runs(form, b"0" * size):
            if _is_card(text[at:end]) and (_is_labeled(low, at) or _expires(text, end)):
                yield at, end, "card-number"
                yield from _security_code(low, end)
    at = form.find(b"AA00")
    while at >= 0:
        end = _iban_end(text, at) if form[at - 1 : at] in (b"", b" ") else 0
        if end:
            yield at, end, "iban"
        at = form.find(b"AA00", max(end, at + 1))


def _runs(form: bytes, run: bytes) -> Iterator[tuple[int, int]]:
    """Yield where digits are grouped like a run, and no other digit or letter touches them."""
    at = form.find(run)
    while at >= 0:
        end = at + len(run)
        if form[at - 1 : at] in (b"", b" ") and form[end : end + 1] in (b"", b" "):
            yield at, end
        at = form.find(run, at + 1)


def _bare(written: str) -> str:
    return written.replace(" ", "").replace("-", "")


# -- cards

_GROUPS = ((4, 4, 4, 4), (4, 6, 5))
_SIZES = (16, 15)
_ONE_SIGN = ({" "}, {"-"})
_TEST_CARDS = frozenset((
    "2223003122003222", "371449635398431", "378282246310005", "3530111333300000", "3566002020360505",
    "4012888888881881", "5105105105105100", "5200828282828210", "6011000990139424",
))  # fmt: skip
_TEST_PREFIXES = ("400000", "400005", "400002", "400003", "400008", "400018", "400025", "400027", "400031", "400034")
_FEWEST_KINDS = 4
"""A number of fewer different digits is one for tests: `4242 4242 4242 4242`, `5555 5555 5555 4444`."""
_LABELS = (
    "card", "karte", "carte", "tarjeta", "cartão", "cartao", "carta ", "karta", "karty", "kort", "visa", "amex",
    "ccnum", "cc_num", "カード", "信用卡", "卡号", "карта", "карты",
)  # fmt: skip
_REACH = 48


def _places(groups: tuple[int, ...]) -> Iterator[int]:
    """Yield where the signs between groups are."""
    at = -1
    for size in groups[:-1]:
        at += size + 1
        yield at


def _is_in_row(text: str, at: int, end: int) -> bool:
    """Whether another group of four is before or after the groups, as in a dump or a table of numbers."""
    before, after = text[max(0, at - _REACH) : at], text[end : end + _REACH]
    words = (before.split()[-1:] if before[-1:] == " " else []) + (after.split()[:1] if after[:1] == " " else [])
    return any(len(word) == len("0000") and not word.strip(_HEX) for word in words)


def _is_in_uuid(text: str, at: int) -> bool:
    """Whether the groups at `at` are in `493e4429-0000-4000-8000-000000000002`, the id of a session or a run."""
    words = [text[max(0, start) : start + 36] for start in (at - 4, at - 9)]
    return any([*map(len, word.split("-"))] == _UUID and not word.strip(_HEX + "-") for word in words)


_UUID = [8, 4, 4, 4, 12]
_HEX = "0123456789abcdefABCDEF"


def hidden(value: str, job: Job) -> str:
    """Return the value of a key with "card" in it, or a mark in its place if it is a card number and nothing else."""
    if len(_bare(value)) not in _SIZES or not _is_card(_bare(value)):
        return value
    job.cleaned.redacted += 1
    return job.rules.mark("card-number")


def _is_card(digits: str) -> bool:
    """Whether a number has an issuer's prefix and the right check digit, and is not published for tests."""
    if not (digits.isascii() and digits.isdecimal() and _has_issuer(digits)) or _is_for_tests(digits):
        return False
    doubled = [int(digit) * 2 for digit in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(number - 9 * (number > 9) for number in doubled)) % 10 == 0


def _has_issuer(digits: str) -> bool:
    if len(digits) == min(_SIZES):
        return digits[:2] in ("34", "37")
    return (
        digits[0] == "4"
        or digits[:2] in ("35", "51", "52", "53", "54", "55", "62", "65")
        or ("2221" <= digits[:4] <= "2720" or digits[:4] == "6011" or "644" <= digits[:3] <= "649")
    )


def _is_for_tests(digits: str) -> bool:
    return digits in _TEST_CARDS or digits.startswith(_TEST_PREFIXES) or len(set(digits)) < _FEWEST_KINDS


def _expires(text: str, end: int) -> bool:
    """Whether a month and a year follow a number, as in lists of cards: `…,12/27`, `…|12|2027|`. A date does not."""
    ahead = text[end + 1 : end + 9]
    month, sign = ahead[:2], ahead[2:3]
    behind = ahead[3:].lstrip("0123456789")
    size = len(ahead) - 3 - len(behind)
    is_month = text[end : end + 1] in _BEFORE_MONTH and month.isdecimal() and 1 <= int(month) <= _MONTHS
    return is_month and sign in ("/", "|") and size in (2, 4) and behind[:1] != "/"


_BEFORE_MONTH, _MONTHS = frozenset(" ,;|:\t"), 12


def _security_code(low: str, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield the three or four digits after "cvv" and the like, near the end of a card's number."""
    ahead = low[end : end + _NEAR_CODE]
    label = next((label for label in _CODES if label in ahead), "")
    at = end + ahead.find(label) + len(label)
    following = low[at : at + _REACH].lstrip(" \t:=\"'#.")
    digits = following[: len(following) - len(following.lstrip("0123456789"))]
    if label and len(digits) in (3, 4):
        begin = low.index(digits, at)
        yield begin, begin + len(digits), "pin"


_CODES, _NEAR_CODE = ("cvv2", "cvv", "cvc2", "cvc", "cid", "security code", "prüfziffer"), 96


def _is_labeled(low: str, at: int) -> bool:
    before = low[max(0, at - _REACH) : at]
    words = "".join([char if char.isalnum() else " " for char in before]).split()
    return "pan" in words or any(label in before for label in _LABELS)


# -- IBANs

_LENGTHS = {
    code: int(size)
    for size, codes in {
        15: "NO", 16: "BE", 18: "DK FI FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST", 26: "IS TR", 27: "FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA", 30: "JO KW MU", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
    for code in codes.split()
}  # fmt: skip
_TEST_IBANS = frozenset((
    "DE89370400440532013000", "GB82WEST12345698765432", "GB29NWBK60161331926819", "FR1420041010050500013M02606",
    "NL91ABNA0417164300", "ES9121000418450200051332", "IT60X0542811101000000123456", "CH9300762011623852957",
    "AT611904300234573201", "BE68539007547034", "PL61109010140000071219812874",
))  # fmt: skip


def _iban_end(text: str, at: int) -> int:
    """Return the end of the IBAN at `at`, perhaps in groups of four; 0 if there is none."""
    size = _LENGTHS.get(text[at : at + 2], 0)
    if not size:
        return 0
    end = at + size
    if text[at + 4 : at + 5] in (" ", "-"):
        end += (size - 1) // 4
    iban = _bare(text[at:end])
    if len(iban) != size or not (iban.isascii() and iban.isalnum() and iban.isupper()) or text[end : end + 1].isalnum():
        return 0
    is_valid = int("".join([str(int(char, 36)) for char in iban[4:] + iban[:4]])) % 97 == 1
    return end if is_valid and iban not in _TEST_IBANS else 0
