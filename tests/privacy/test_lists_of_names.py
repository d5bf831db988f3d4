"""A list whose items are names of secrets is read to its end, also where the text begins with it."""

from __future__ import annotations

import pytest

from mdmem.privacy import clean


@pytest.mark.parametrize("origin", ["prompt", "tool"])
@pytest.mark.parametrize(
    "text",
    ["- pass\n- reveal", "- pass\n- reveal\n- memory", "- tokens\n- cookies\n", "- passwords\n- ${ONE}\n- ${TWO}"],
)
def test_a_text_that_begins_with_a_list_of_names_is_read_to_its_end(text: str, origin: str) -> None:
    kept = clean(text, origin=origin).value

    assert kept.splitlines()[0] == text.splitlines()[0]
    assert kept.count("\n") == text.count("\n")
