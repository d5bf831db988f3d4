"""The words of a wallet's seed are masked without a label, in every form that wallets show them; other words stay."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from mdmem.privacy import checked, clean, secrets
from mdmem.privacy.checked import seeds
from mdmem.privacy.secrets import signs

WORDS = (Path(checked.__file__).parent / "seed_words.txt").read_text(encoding="ascii").split()
SIZES = pytest.mark.parametrize("size", seeds.SIZES)


def seed(size: int, luck: int = 1) -> list[str]:
    """Return the words of a seed with the right checksum."""
    entropy = random.Random(luck).randbytes(size * 4 // 3)
    bits = len(entropy) // 4
    number = int.from_bytes(entropy, "big") << bits | hashlib.sha256(entropy).digest()[0] >> (8 - bits)
    return [WORDS[number >> 11 * place & 2047] for place in reversed(range(size))]


def rows(words: list[str], columns: int, join: str) -> str:
    """Return words with their numbers in a table."""
    cells = [f"{number}{join}{word}" for number, word in enumerate(words, 1)]
    return "\n".join(" | ".join(["", *cells[at : at + columns], ""]).strip(" ") for at in range(0, len(cells), columns))


@SIZES
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "restore it with {} and tell me the address",
        '$ wallet import "{}"\nm/44/60/0 ok',
        "Generated 1 wallet\n{}\nDone.\n",
        '{{"words": "{}"}}',
        "Semilla de recuperación: {}",
    ],
)
def test_a_seed_in_one_line_is_masked(size: int, text: str) -> None:
    words = " ".join(seed(size))

    for form in (words, words.upper(), words.title(), words.replace(" ", ", ")):
        stored = clean(text.format(form), origin="tool").value
        assert form not in stored
        assert "[REDACTED]" in stored


@SIZES
def test_a_seed_in_numbered_lines_and_in_tables_is_masked(size: int) -> None:
    words = seed(size)
    forms = [rows(words, 1, join) for join in (". ", ") ", " ", ": ", " | ")]
    forms += [rows(words, columns, join) for columns in (2, 3, 4) for join in (" | ", ". ")]
    forms += ["\n".join(words), '["' + '", "'.join(words) + '"]', rows(words, size, ". ")]

    for form in forms:
        stored = clean(f"Write these down:\n{form}\n", origin="tool").value
        assert not set(words[2:-2]) & set(stored.replace("|", " ").split()), form


def test_a_seed_with_a_wrong_checksum_is_masked_alone_on_its_line_or_numbered_where_a_wallet_is_spoken_of() -> None:
    words = [*seed(12)[:-1], "zoo" if seed(12)[-1] != "zoo" else "able"]

    assert clean(" ".join(words), origin="tool").value == "[REDACTED]"
    numbered = rows(words, 1, ". ")
    assert words[5] not in clean(f"Write down your recovery phrase:\n{numbered}", origin="tool").value
    assert clean(f"Things to buy:\n{numbered}", origin="tool").value == f"Things to buy:\n{numbered}"
    assert clean(f"we like {' '.join(words)} most", origin="tool").redacted == 0


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(WORDS),
        " ".join(WORDS[100:112]),
        " ".join(["abandon"] * 11 + ["about"]),
        "There must also be some other such people who would like this one very much when they have time",
        "option value type name index list key code area color file item page order table input",
        "You can use these words only when there is any reason to trust them because they are all clear",
        "\n".join(
            f"{number}. {word}" for number, word in enumerate("Open the menu and pick one of them now".split(), 1)
        ),
    ],
)
def test_words_that_are_no_seed_stay(text: str) -> None:
    assert clean(text, origin="tool").value == text


def test_a_text_with_a_word_of_more_than_255_characters_is_checked_for_seeds() -> None:
    words = " ".join(seed(12))

    assert words not in clean(f"{'/x' * 200} {words}", origin="tool").value


def test_every_keyword_and_sign_of_a_family_is_found() -> None:
    assert all(secrets.has_keyword(f"a {word} b") for word in secrets.KEYWORDS)
    assert all(signs.may_hold_place(sign) for _, family in signs.PLACE_FAMILIES for sign in family)
    assert all(signs.may_hold_command(sign) for _, family in signs.COMMAND_FAMILIES for sign in family)


def test_a_list_of_words_in_quotes_or_with_commas_needs_the_checksum() -> None:
    words = "table chair desk lamp window door wall floor roof kitchen garden fence".split()

    for text in (str(words), ", ".join(words)):
        assert clean(text, origin="tool").value == text
