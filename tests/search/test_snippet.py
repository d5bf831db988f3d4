"""Snippets: the part of a note that shows why it was found."""

from __future__ import annotations

from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from mdmem.search import snippet
from mdmem.search.text import analysis

FILLER = "Nothing of interest is said here, and it is said at some length. " * 20


def weights(question: str) -> dict[str, float]:
    return dict.fromkeys(analysis.query_terms(question), 1.0)


def marked(piece: snippet.Snippet) -> list[str]:
    return [piece.text[start:end] for start, end in piece.spans]


def test_the_window_with_most_of_the_words_is_shown_and_its_words_are_marked() -> None:
    text = f"{FILLER} A parser. {FILLER} The date parser fails on leap years. {FILLER}"

    piece = snippet.best(text, weights("why does the date parser fail in a leap year"), 120)

    assert marked(piece) == ["date", "parser", "fails", "leap", "years"]
    assert len(piece.text) <= 120
    assert piece.text.startswith("…") and piece.text.endswith("…")


def test_fences_of_code_are_no_part_of_a_snippet() -> None:
    text = "Ran it.\n\n```sh\npytest -q\n```\n\n~~~~ text\n```a``` and\n~~~~\n```b``` is code\n"

    assert snippet.best(text, {}).text == "Ran it. pytest -q ```a``` and ```b``` is code"


def test_a_rare_word_outweighs_common_ones() -> None:
    text = f"date date file file. {FILLER} zebra. {FILLER}"

    piece = snippet.best(text, {"date": 1.0, "file": 1.0, "zebra": 5.0}, 80)

    assert marked(piece) == ["zebra"]


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    piece = snippet.best("# Title\n\nTwo\n  lines.\n", weights("lines"))

    assert piece == snippet.Snippet("# Title Two lines.", ((12, 17),))


def test_of_a_word_longer_than_the_window_the_beginning_is_shown() -> None:
    word = "x" * 300

    assert snippet.best(f"{'before ' * 60}{word}", weights(word), 100).text.endswith("xxx…")


def test_without_a_word_the_beginning_is_shown() -> None:
    piece = snippet.best(f"The beginning. {FILLER}", weights("zebra"), 60)

    assert piece.text.startswith("The beginning.")
    assert piece.spans == ()


def test_words_are_marked_in_every_form_and_inside_identifiers() -> None:
    piece = snippet.best("getUserID parses dates; naïve skies", weights("user dates parse naive sky"))

    assert marked(piece) == ["getUserID", "parses", "dates", "naïve", "skies"]


def test_pairs_of_characters_that_touch_are_one_mark() -> None:
    piece = snippet.best("私は東京都に行く。", weights("東京都"))

    assert marked(piece) == ["東京都"]


def test_front_matter_is_not_text() -> None:
    assert snippet.body_of("---\ntitle: x\n---\nThe text.") == "The text."
    assert snippet.body_of("---\r\ntitle: x\r\n---\r\nThe text.") == "The text."
    assert snippet.body_of("\ufeff---\ntitle: x\n---\nThe text.") == "The text."
    assert snippet.body_of("---\ntitle: x\n---\n") == ""
    assert snippet.body_of("--- not front matter") == "--- not front matter"
    assert snippet.body_of("---\nnever closed") == "---\nnever closed"


@given(
    st.text(alphabet=st.sampled_from("ab e\u0301\u0323 \u200d👩💻👍🏽東京\U0001f1e9\n"), min_size=100, max_size=400),
    st.integers(20, 80),
    st.sampled_from(["a", "ab", "東京", "zebra"]),
)
def test_no_window_is_too_long_and_none_cuts_a_character(text: str, chars: int, question: str) -> None:
    piece = snippet.best(text, weights(question), chars)

    assert len(piece.text) <= chars
    shown = piece.text.strip("…")
    flat = " ".join(text.split())
    assert shown in flat
    if piece.text.startswith("…") and shown:
        assert category(shown[0]) not in ("Mn", "Mc", "Me") and shown[0] not in "\u200d🏽"
    if piece.text.endswith("…") and shown:
        after = flat[flat.rfind(shown) + len(shown) :][:1] if flat.count(shown) == 1 else ""
        assert not after or (category(after) not in ("Mn", "Mc", "Me") and after not in "\u200d🏽")
    assert all(0 <= start < end <= len(piece.text) for start, end in piece.spans)


def test_half_a_flag_is_not_a_character() -> None:
    flags = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"
    assert [snippet.whole_character(flags, place) for place in range(5)] == [0, 0, 2, 2, 4]
