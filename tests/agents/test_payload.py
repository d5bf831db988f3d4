"""Payloads of any interpreter: they are read alike by the scanner in C and by the module `json`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mdmem.agents import dialect, payload

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def decoded(data: bytes) -> Any:
    try:
        return payload.decode(data)
    except payload.NoPayloadError:
        return None


def decoded_where_the_scanner_expects_more(data: bytes) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(payload._Context, "parse_float")
        return decoded(data)


@given(st.dictionaries(st.text(), VALUES).map(json.dumps) | st.text())
@example('{"a": NaN, "b": -Infinity}')
@example('{"a": ' + "9" * 5_000 + "}")
@example('{"a": "\x00\n\t"}')
@example('{"a": 1} and more')
@example("[" * 100_000)
@example('{"a": tru')
@example("")
def test_a_payload_is_read_alike_where_the_scanner_in_c_expects_more(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    assert decoded_where_the_scanner_expects_more(data) == decoded(data)


def test_a_payload_that_the_scanner_reads_is_what_json_reads() -> None:
    value = {"a": [1, 2.5, None, True, {"b": "\u2028ü"}], "": {}}
    assert decoded(json.dumps(value).encode()) == value
    assert decoded_where_the_scanner_expects_more(json.dumps(value).encode()) == value


@pytest.mark.parametrize("text", ['{"a": [1, "b"]}', ' ["x"]\n', '{"n": -1.5e3, "t": true, "z": null}', '"\\u00e9"'])
def test_a_text_that_is_one_json_value_is_decoded_as_by_the_standard_library(text: str) -> None:
    assert payload.load(text) == json.loads(text)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} and more', '{"a": 1}{"b": 2}', "[1,]", "{'a': 1}", "[" * 100_000])
def test_a_text_that_is_not_one_json_value_is_refused(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        payload.load(text)


@pytest.mark.parametrize("text", ['{"a": 1} done', "[ok] 3 passed", "{}{}"])
def test_output_that_only_begins_like_json_stays_text(text: str) -> None:
    assert dialect.decoded(text) == text
