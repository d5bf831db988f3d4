"""The fences around injected memories are recognized however a host or a tool has encoded them."""

from __future__ import annotations

import html

import pytest

from mdmem import privacy
from tests.helpers.fenced import BLOCK, ENCODINGS


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_injected_block_is_taken_out_whole_in_every_encoding(encoding: str) -> None:
    for origin in ("prompt", "assistant", "tool"):
        given = f"before {ENCODINGS[encoding](BLOCK)} after"

        left = privacy.clean(given, origin=origin).value

        assert left.startswith("before ") and left.endswith(" after")
        assert "mdmem" not in left.lower() and "earlier" not in left.lower()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("mark", ["6e5253e0", "3821253e", "003e3c3e", "62623e60"])
def test_an_id_that_looks_like_an_encoded_bracket_does_not_end_a_tag(encoding: str, mark: str) -> None:
    left = [
        privacy.clean(f"before {ENCODINGS[encoding](block)} after", origin="tool").value
        for block in (BLOCK, BLOCK.replace("0f1e2d3c", mark))
    ]

    assert left[0] == left[1]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_block_that_was_cut_off_hides_what_follows(encoding: str) -> None:
    left = privacy.clean(f"before {ENCODINGS[encoding](BLOCK[:90])}").value

    assert "mdmem" not in left.lower() and left.startswith("before")


def test_two_blocks_leave_what_stands_between_them() -> None:
    second = BLOCK.replace("0f1e2d3c", "99999999")

    assert privacy.clean(f"a {html.escape(BLOCK)} b {second} c").value == "a  b  c"


def test_hook_context_of_the_host_is_not_what_a_person_typed() -> None:
    assert privacy.clean(f"<hook_context>{html.escape(BLOCK)}</hook_context>\n\nFix it").value.strip() == "Fix it"


def test_a_mention_of_the_name_is_kept() -> None:
    for text in ("the mdmem-context element", "`<mdmem-context>` is our fence", "id=mdmem-context&lt;b&gt;"):
        assert privacy.clean(text).value == text
