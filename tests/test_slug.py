"""Slugs: readable names that every file system takes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mdmem.slug import slug

RESERVED = {"con", "prn", "aux", "nul"} | {f"{p}{n}" for p in ("com", "lpt") for n in "0123456789¹²³"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why does the date parser fail?", "why-does-the-date-parser-fail"),
        ("  src/dates.py  ", "src-dates-py"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\Users\\me", "c-users-me"),
        (".hidden.", "hidden"),
        ("snake_case and -- dashes", "snake-case-and-dashes"),
        ("Zoë fährt über Öl", "zoë-fährt-über-öl"),
        ("日付パーサーが失敗する", "日付パーサーが失敗する"),
        ("हिन्दी में", "हिन्दी-में"),
        ("می‌خواهم", "میخواهم"),
        ("ship it 🚀 now", "ship-it-now"),
        ("1️⃣ first", "1-first"),
        ("🚀🚀", ""),
        ("", ""),
        ("---", ""),
        ("\u3164\u3164", ""),
        ("\ud800x", "x"),
        ("a\x00b", "a-b"),
    ],
)
def test_a_text_becomes_the_name_that_a_reader_expects(text: str, expected: str) -> None:
    assert slug(text) == expected


@pytest.mark.parametrize("name", ["con", "NUL", "Com1", "lpt9", "com²", "aux."])
def test_a_reserved_windows_name_is_never_given(name: str) -> None:
    assert slug(name) not in RESERVED
    assert slug(name).startswith("x-")


def test_decomposed_and_composed_spellings_have_one_name() -> None:
    assert slug(unicodedata.normalize("NFD", "Café Ångström")) == slug("Café Ångström")


def test_a_long_text_is_cut_between_words() -> None:
    assert slug("the quick brown fox jumps over", limit=22) == "the-quick-brown-fox"
    assert slug("the quick brown fox jumps over", limit=19) == "the-quick-brown-fox"


def test_a_long_word_is_cut_where_it_must_be() -> None:
    assert slug("a " + "x" * 100) == "a-" + "x" * 38


def test_a_megabyte_is_named_by_its_first_words() -> None:
    assert slug(" \n" * 1000 + "hello " + "\t" * 1_000_000) == "hello"


@given(st.text(st.characters(), max_size=200), st.integers(4, 60))
@example("con", 4)
@example("İ" * 60, 48)
@example("ΑΣ ΑΣ", 48)
@example("\u1e9b\u0323 \u0344", 48)
def test_any_text_gives_a_name_that_every_file_system_takes(text: str, limit: int) -> None:
    name = slug(text, limit)

    assert len(name) <= limit
    assert len(name.encode()) <= 2 * limit
    assert not set(name) & set('/\\:*?"<>|. \0\n\t')
    assert name == name.strip("-")
    assert "--" not in name
    assert name not in RESERVED
    assert unicodedata.is_normalized("NFC", name)
    assert slug(name, limit) == name
