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


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{"delta":"<private>a"}\nmy zebra\n{"delta":"b</private>c"}\n', "zebra"),
        ('{"delta":"<private>a","note":"my zebra"}\n{"delta":"b</private>c"}\n', "zebra"),
        ('{"delta":"<private>a"}\n{"delta":"b"}\nmy zebra\n', "zebra"),
        ('{"delta":"a <private>x"}\r\n> zebra\r\n{"delta":"b"}\r\n', "zebra"),
    ],
)
def test_what_is_no_stream_in_a_private_section_of_deltas_is_not_stored(text: str, secret: str) -> None:
    cleaned = clean(text, origin="tool")

    assert secret not in cleaned.value
    assert "[PRIVATE]" in cleaned.value


def test_what_follows_a_private_section_at_the_end_of_a_stream_stays() -> None:
    text = '{"delta":"<private>a"}\n{"delta":"zebra</private>"}\nmy words\n'

    assert clean(text, origin="tool").value == '{"delta":"[PRIVATE]"}\n{"delta":""}\nmy words\n'


@pytest.mark.parametrize(
    "between",
    [
        "\r\n\r\nevent: content_block_delta\r\n",
        '\n\ndata: {"type": "ping"}\n\n',
        '\n\nid: 17\nretry: 100\ndata: {"created":1.7e9,"id":"c-1","usage":null,"finish_reason":"stop"}\n',
    ],
)
def test_lines_of_a_stream_in_a_private_section_stay(between: str) -> None:
    lines = [f"data: {json.dumps(messages(part))}" for part in ("Hello <private>ze", "bra</private> bye")]
    cleaned = clean(between.join(lines) + "\n\ndata: [DONE]\n", origin="tool").value

    assert "bra" not in cleaned
    assert between in cleaned
    assert "Hello [PRIVATE]" in told(cleaned)
    assert " bye" in told(cleaned)


def test_a_secret_in_the_arguments_or_the_reasoning_of_a_stream_is_masked() -> None:
    def arguments(text: str) -> dict[str, Any]:
        call = {"index": 0, "function": {"arguments": text}}
        return {"choices": [{"delta": {"content": None, "tool_calls": [call]}}]}

    def reasoning(text: str) -> dict[str, Any]:
        return {"choices": [{"delta": {"content": "", "reasoning_content": text}}]}

    said = ('{"pass', 'word": "hun', 'ter2x"}'), ("the pass", "word is hun", "ter2x", "\nNext")
    for form, parts in ((arguments, said[0]), (reasoning, said[1])):
        cleaned = clean(stream(form, *parts), origin="tool").value

        assert "hun" not in cleaned
        assert "ter2x" not in cleaned
        assert cleaned.count("[REDACTED]") == 1
        assert [json.loads(line.removeprefix("data: ")) for line in cleaned.split("\n\n")[:-1]]
