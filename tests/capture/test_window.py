"""Very long texts: their middles are blanked, never where a tag could stand, and the counts stay right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import privacy
from mdmem.capture import window

LONG = "".join(f"line {n} of ordinary output\n" for n in range(20_000))


def test_a_long_text_keeps_its_ends_its_length_and_its_lines() -> None:
    through = window.Window(privacy.Rules())
    narrowed = through.narrow({"response": {"stdout": LONG}, "short": "as it was"})
    assert len(narrowed["response"]["stdout"]) < 3 * window.EDGE_CHARS
    widened = through.widen(narrowed)
    text = widened["response"]["stdout"]
    assert len(text) == len(LONG)
    assert text.count("\n") == LONG.count("\n")
    assert text[: window.EDGE_CHARS] == LONG[: window.EDGE_CHARS]
    assert text[-window.EDGE_CHARS :] == LONG[-window.EDGE_CHARS :]
    assert text[window.EDGE_CHARS : -window.EDGE_CHARS].strip() == ""
    assert widened["short"] == "as it was"


@pytest.mark.parametrize(
    "sign",
    [
        "<private>",
        "[PRIVATE]",
        "<!-- private -->",
        "\\u003cprivate",
        "</private>",
        "<system-reminder>",
        "<mdmem-context>",
        " \ue0000\ue000 ",
    ],
)
def test_a_text_that_may_hold_a_tag_is_left_whole(sign: str) -> None:
    text = LONG[:300_000] + sign + LONG[300_000:]
    assert window.Window(privacy.Rules()).narrow([text]) == [text]


@pytest.mark.slow
@given(
    st.recursive(
        st.text() | st.text("\ue0000 1") | st.integers() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_is_not_long_stays_as_it_is(value: Any) -> None:
    through = window.Window(privacy.Rules())
    assert through.narrow(value) == value
    assert through.widen(value) == value
    through.narrow(LONG)
    assert isinstance(through.widen(value), type(value))
