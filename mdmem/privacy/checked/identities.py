"""Numbers that states give to persons: after their names (`SSN: …`, `Steuer-ID …`), in a column, or by check digits.

Behind a name, a number counts if it has the right length and form; the check digits may be wrong. Without a name, only
forms count that nothing else has, with the right check digits: those of France, Switzerland, Brazil and China.
Samples stay, in which one digit follows the other (`123-45-6789`) or is repeated.
"""

from __future__ import annotations

from mdmem.privacy.secrets import occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mdmem.privacy.job import Job

NUMBERS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    # names; forms without separators: 0 is a digit, A a letter, * either
    (("ssn", "social security"), ("0" * 9,)),
    (("social insurance",), ("0" * 9, "00000000A000")),
    (("steuer-id", "steuer_id", "steuerid", "steueridentifikationsnummer", "idnr"), ("0" * 11,)),
    (("identifikationsnummer",), ("0" * 11,)),
    (("sozialversicherungsn", "rentenversicherungsn", "versicherungsn"), ("00000000A000", "0" * 10, "A000000000")),
    (("sécurité sociale", "securite sociale", "nir"), ("0" * 15, "0" * 13)),
    (("nino", "national insurance", "ni number"), ("AA000000A",)),
    (("passport", "reisepass", "passnummer", "pass-nr", "passeport", "pasaporte", "passaporto", "paspoort"), ()),
    (("паспорт", "护照", "護照", "パスポート", "여권"), ()),
    (("driver's licen", "drivers licen", "driver licen", "driving licen", "driver_licen", "driverslicen"), ()),
    (("führerschein", "personalausweis", "ausweisn", "permis de conduire", "identity card", "national id"), ()),
    (("national_id",), ()),
    (("pan card", "pan no", "pan num", "permanent account"), ("AAAAA0000A",)),
    (("dni", "nie", "nif"), ("00000000A", "A0000000A")),
    (("codice fiscale", "codice_fiscale", "codicefiscale"), ("AAAAAA00A00A000A",)),
    (("cpf",), ("0" * 11,)),
    (("pesel",), ("0" * 11,)),
    (("bsn", "burgerservicenummer"), ("0" * 9,)),
    (("aadhaar", "aadhar"), ("0" * 12,)),
    (("medicare",), ("0" * 10, "0" * 11, "0A*0A*0AA00")),
    (("nhs",), ("0" * 10,)),
    (("tfn", "tax file", "tax id", "taxpayer", "itin"), ("0" * 9, "0" * 10, "0" * 11)),
    (("ahv", "avs"), ("0" * 13,)),
    (("주민등록번호", "주민번호"), ("0" * 13,)),
    (("身份证", "身分證", "身份證"), ("0" * 18, "0" * 17 + "A", "A000000000")),
    (("マイナンバー", "個人番号"), ("0" * 12,)),
    (("personnummer", "samordningsnummer", "cpr", "fødselsnummer"), ("0" * 10, "0" * 11, "0" * 12)),
    (("henkilötunnus", "hetu"), ("000000000*", "000000A000*")),
    (("curp",), ("AAAA000000AAAAAA**",)),
    (("rut",), ("00000000*", "0000000*")),
    (("снилс",), ("0" * 11,)),
)
"""Names of numbers in lower case, and their forms; without one, seven to ten letters and digits, mostly digits."""

_FORMS = {name: forms for names, forms in NUMBERS for name in names}
_SHORT = 5
"""A name of at most this many letters counts only as a whole word."""
_SIGNS = " \t\"'`:=#.|()*-_/>：＃«“"
_FILLERS = frozenset(
    """
    number numbers no nr num nummer id code is ist es è é est was are my card n numero número numéro номер 番号 號 号
    号码 号是 는 は ce se ces ses umber ummer ber s
    """.split()
)
"""Words between a name and its number, and ends of names."""
_SEPARATORS = frozenset(" -./\u00a0")
_MOST_FILLERS, _LONGEST_FILLER = 6, 24
_MOST_ALIKE, _LONG = 3, 9  # different digits of a sample that has so many: `111-22-3333`; a shorter one has fewer
_SAMPLE_DIGITS = "123456789012345678"
_SHORTEST_OTHER, _LONGEST_OTHER, _LEAST_DIGITS = 7, 10, 5  # of a passport and the like


def find(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Find the numbers of persons, in ascending order for each name."""
    for name in _names_in(low):
        from mdmem.privacy.checked.columns import ColumnCells

        forms, table = _FORMS[name], ColumnCells(text)
        for at, end in occurrences(low, name):
            if len(name) <= _SHORT and not _is_word(text, at, end):
                continue
            span = _match(text, _behind_fillers(low, end), forms)
            if span:
                yield *span, "identity"
                continue
            for place, size in table.below(at, end):  # `name,ssn`, `| name | ssn |`
                span = _match(text, place, forms)
                if span and span[1] - place == size:
                    yield *span, "identity"
    yield from _unnamed(text)


def _names_in(low: str) -> list[str]:
    """Return the names that a lower-case text may contain. One pass over its words is faster than a search for each."""
    words = low.encode("ascii", "replace").translate(_ONLY_LETTERS).split()
    names = [name for word in _FIRST_WORDS.intersection(words) for name in _FIRST_WORDS_OF[word]]
    return names if low.isascii() else [*names, *[name for name in _FORMS if not name.isascii() and name in low]]


_ONLY_LETTERS = bytes([code if 97 <= code <= 122 else 32 for code in range(256)])  # a to z
_FIRST_WORDS_OF: dict[bytes, list[str]] = {}
"""Word -> the names that begin with it. A longer word may begin with a name, too."""
for _name in filter(str.isascii, _FORMS):
    _FIRST_WORDS_OF.setdefault(_name.encode().translate(_ONLY_LETTERS).split()[0], []).append(_name)
for _word, _name in (
    ("passportnumber", "passport"), ("passportno", "passport"), ("passportid", "passport"),
    ("reisepassnummer", "reisepass"), ("reisepassnr", "reisepass"),
    ("sozialversicherungsnummer", "sozialversicherungsn"),
    ("rentenversicherungsnummer", "rentenversicherungsn"), ("versicherungsnummer", "versicherungsn"),
    ("personalausweisnummer", "personalausweis"), ("ausweisnummer", "ausweisn"), ("ausweisnr", "ausweisn"),
    ("sozialversicherungsnr", "sozialversicherungsn"), ("driverslicense", "driverslicen"), ("rutnumber", "rut"),
):  # fmt: skip
    _FIRST_WORDS_OF.setdefault(_word.encode(), []).append(_name)
_FIRST_WORDS = frozenset(_FIRST_WORDS_OF)


def _is_word(text: str, at: int, end: int) -> bool:
    """Whether a name is a word of its own: `ssn`, `customer_ssn`, `customerSsn`."""
    before, after = text[at - 1 : at] if at else "", text[end : end + 1]
    begins = not before.isalnum() or (before.islower() and text[at].isupper())
    return begins and not (after.isalnum() and after.isascii() and not after.isupper())


def _behind_fillers(low: str, at: int) -> int:
    """Return the start of what follows a name and words such as "number is"."""
    for _ in range(_MOST_FILLERS):
        ahead = low[at : at + _LONGEST_FILLER]
        at += len(ahead) - len(ahead.lstrip(_SIGNS))
        ahead = low[at : at + _LONGEST_FILLER]
        size = next((size for size, char in enumerate(ahead) if not char.isalpha()), len(ahead))
        is_number = ahead[:size].isascii() and ahead[size : size + 1].isdecimal()
        if is_number or ahead[:size] not in _FILLERS:
            break
        at += size
    return at


def _match(text: str, at: int, forms: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the span of a number at `at` that has one of these forms, perhaps with separators; None if it has not."""
    if not forms:
        word = text[at : at + _LONGEST_OTHER + 1]
        size = next((size for size, char in enumerate(word) if not (char.isascii() and char.isalnum())), len(word))
        is_number = _SHORTEST_OTHER <= size <= _LONGEST_OTHER and word[:size].upper() == word[:size]
        is_number = is_number and sum(map(str.isdecimal, word[:size])) >= _LEAST_DIGITS
        return (at, at + size) if is_number and not _is_sample(word[:size]) else None
    for form in forms:
        end = _form_end(text, at, form)
        if end and not _is_ascii_alnum(text[end : end + 1]) and not _is_sample(text[at:end]):
            return at, end
    return None


def _form_end(text: str, at: int, form: str) -> int:
    """Return the end of what has this form at `at`; 0 if nothing has."""
    end = at
    for sign in form:
        if end > at and text[end : end + 1] in _SEPARATORS:
            end += 1
        char = text[end : end + 1]
        if not char.isascii() or not (
            char.isdecimal() if sign == "0" else char.isalpha() if sign == "A" else char.isalnum()
        ):
            return 0
        end += 1
    return end


def _is_sample(value: str) -> bool:
    digits = "".join([char for char in value if char.isdecimal()])
    return (
        digits in _SAMPLE_DIGITS
        or len(set(digits)) <= _MOST_ALIKE - (len(digits) < _LONG)
        or value.upper().startswith("QQ")
    )


def hidden(key: str, value: Any, job: Job) -> Any:
    """Return the value of a key that is a name in `KEYS`, or a mark in its place if it has the form of its number."""
    written = str(value)
    flat = key.lower().replace("_", "").replace("-", "")
    forms = next(
        (forms for name, forms in _FORMS.items() if flat.startswith(name.replace(" ", "").replace("_", ""))), None
    )
    span = _match(written, 0, forms) if forms is not None and isinstance(value, (str, int)) else None
    if span != (0, len(written)):
        return value
    job.cleaned.redacted += 1
    return job.rules.mark("identity")


# -- without a name


_SHAPES = bytes.maketrans(b"0123456789", b"0" * 10)


def _unnamed(text: str) -> Iterator[tuple[int, int, str]]:
    """Find numbers whose form and check digits leave no doubt."""
    shape = text.encode("ascii", "replace").translate(_SHAPES)
    for form, is_valid in _CERTAIN:
        at = shape.find(form)
        while at >= 0:
            end = at + len(form)
            written = text[at : end + (form == _CHINESE)]
            before, behind = text[at - 1 : at] if at else "", text[at + len(written) : at + len(written) + 1]
            is_apart = before not in _JOINED and not _is_ascii_alnum(before) and not _is_ascii_alnum(behind)
            if is_apart and not _is_sample(written) and is_valid("".join(filter(str.isalnum, written))):
                yield at, at + len(written), "identity"
            at = shape.find(form, end)


def _is_ascii_alnum(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


_JOINED = frozenset(".-_/")


def _is_french(digits: str) -> bool:
    """Whether the sex, the month and the key of a NIR are right."""
    return digits[0] in "12" and 1 <= int(digits[3:5]) <= 12 and 97 - int(digits[:13]) % 97 == int(digits[13:])


def _is_swiss(digits: str) -> bool:
    """Whether a number begins with Switzerland's code and has the check digit of an EAN."""
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits[:-1]))
    return digits.startswith("756") and -total % 10 == int(digits[-1])


def _is_brazilian(digits: str) -> bool:
    return all(
        sum(int(digit) * (size + 1 - place) for place, digit in enumerate(digits[:size])) * 10 % 11 % 10
        == int(digits[size])
        for size in (9, 10)
    )


def _is_chinese(word: str) -> bool:
    """Whether the date of birth and the check sign are right: `11010519491231002X`."""
    year, month, day = int(word[6:10]), int(word[10:12]), int(word[12:14])
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(word[:17]))
    is_date = 1900 <= year < 2100 and 1 <= month <= 12 and 1 <= day <= 31
    return is_date and len(word) == 18 and "10X98765432"[total % 11] == word[17].upper()


_CHINESE = b"0" * 17
_CERTAIN = (
    (b"0 00 00 00 000 000 00", _is_french),
    (b"000.0000.0000.00", _is_swiss),
    (b"000.000.000-00", _is_brazilian),
    (_CHINESE, _is_chinese),
)
