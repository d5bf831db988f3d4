"""What a model says in the deltas of a stream is cleaned as one text, however it is split."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mdmem.privacy import clean


def messages(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


def chat(text: str) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": {"content": text}}]}


def responses(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "item_id": "m", "delta": text}


def candidates(text: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}}]}


FORMS = pytest.mark.parametrize("form", [messages, chat, responses, candidates])


def stream(form: Callable[[str], dict[str, Any]], *said: str) -> str:
    return "".join(f"data: {json.dumps(form(part))}\n\n" for part in said) + "data: [DONE]\n"


def told(stored: str) -> str:
    """Return what the deltas of a cleaned stream say together, and prove that each is still JSON."""
    texts = []
    for line in stored.splitlines():
        if line.startswith("data: {"):
            delta = json.dumps(json.loads(line.removeprefix("data: ")))
            texts += [delta.rpartition('": "')[2].partition('"')[0]] if "candidates" not in delta else [delta]
    return "".join(texts)


@FORMS
def test_a_private_section_whose_tags_are_split_across_deltas_is_not_stored(
    form: Callable[..., dict[str, Any]],
) -> None:
    cleaned = clean(stream(form, "Hello <pri", "vate>zebra", "fish soup</pri", "vate> bye"), origin="tool")

    assert "zebra" not in cleaned.value
    assert "soup" not in cleaned.value
    assert cleaned.private == 1
    assert "Hello [PRIVATE]" in told(cleaned.value)
    assert " bye" in told(cleaned.value)


@FORMS
@pytest.mark.parametrize(
    "said",
    [
        ("the pass", "word is hun", "ter2x", "\nNext"),
        ("DB_PASS", "WORD=", "hun", "ter", "2x\n"),
    ],
)
def test_a_secret_that_is_split_across_deltas_is_masked(
    form: Callable[..., dict[str, Any]], said: tuple[str, ...]
) -> None:
    cleaned = clean(stream(form, *said), origin="tool")

    assert "hun" not in cleaned.value
    assert "ter2x" not in cleaned.value
    assert cleaned.redacted == 1
    assert "[REDACTED]" in told(cleaned.value)


@FORMS
def test_a_stream_without_secrets_stays(form: Callable[..., dict[str, Any]]) -> None:
    text = stream(form, "The pass", "word is checked", ' by "zod"\n', "in C:\\temp", " and é")

    assert clean(text, origin="tool").value == text


def test_lines_between_deltas_separate_what_they_say() -> None:
    stop = json.dumps({"type": "content_block_stop", "index": 0})
    text = f"data: {json.dumps(messages('the pass'))}\ndata: {stop}\ndata: {json.dumps(messages('word is hunter2x'))}\n"

    assert clean(text, origin="tool").value == text
