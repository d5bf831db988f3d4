"""The server on its pipes: every request is answered, whatever the client does with them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

from mdmem.server import pipes
from mdmem.server.first_answers import Opening

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}


def line(method: str, **more: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, **more}).encode() + b"\n"


GREETING = [line("initialize", id="hello", params=HELLO), line("notifications/initialized")]


def answers(vault: Path, *, stdin: int, opening: Opening | None = None) -> list[dict[str, Any]]:
    """Serve until stdin is at its end; return what was answered."""
    reader, writer = os.pipe()
    said: list[bytes] = []

    def read() -> None:
        with os.fdopen(reader, "rb") as stdout:
            said.extend(stdout)

    reading = threading.Thread(target=read)
    reading.start()
    anyio.run(pipes._serve, str(vault), opening or Opening(), stdin, writer)
    os.close(writer)
    reading.join()
    os.close(stdin)
    return [json.loads(each) for each in said]


def through_a_pipe(lines: Iterable[bytes]) -> int:
    reader, writer = os.pipe()
    os.write(writer, b"".join(lines))
    os.close(writer)
    return reader


def call(number: int, tool: str, **arguments: Any) -> bytes:
    return line("tools/call", id=number, params={"name": tool, "arguments": arguments})


def test_a_client_that_has_said_its_last_word_still_gets_its_answers(vault: Path) -> None:
    got = answers(vault, stdin=through_a_pipe([*GREETING, call(1, "stats"), call(2, "recent")]))

    assert {each["id"] for each in got} == {"hello", 1, 2}
    assert all("result" in each for each in got)


def test_requests_come_from_a_file_too_and_the_last_line_may_lack_its_end(vault: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    asked.write_bytes(b"".join([*GREETING, line("ping", id=7)])[:-1])

    assert [each["id"] for each in answers(vault, stdin=os.open(asked, os.O_RDONLY))] == ["hello", 7]


def test_a_request_with_half_a_character_is_answered(vault: Path) -> None:
    half = call(1, "add_note", text="canary \ud83d")
    deep = b'{"id": 3, "x": "\\ud83d", "y": ' + b"[" * 100_000 + b"\n"

    got = answers(vault, stdin=through_a_pipe([*GREETING, half, deep[:60_000] + b"\n", call(2, "recent")]))

    assert b"\\ud83d" in half
    assert {each["id"]: "result" in each for each in got if each.get("id")} == {"hello": True, 1: True, 2: True}
    assert any("canary ?" in file.read_text() for file in (vault / "notes").rglob("*.md"))


def test_a_line_that_is_no_message_costs_only_itself(vault: Path) -> None:
    got = answers(vault, stdin=through_a_pipe([*GREETING, b"{no\n", b"\n", b"\xff\xfe\n", line("ping", id=7)]))

    assert sorted(str(each["id"]) for each in got) == ["7", "None", "None", "hello"]


@pytest.mark.parametrize(
    ("given", "number", "code"),
    [
        (b"{no\n", None, -32700),
        (b"[" * 50_000 + b"\n", None, -32700),
        (b"42\n", None, -32600),
        (b"[" + line("ping", id=4)[:-1] + b"]\n", None, -32600),
        (line("ping", id={"a": 1}), None, -32600),
        (line("ping", id=True), None, -32600),
        (b'{"jsonrpc": "2.0", "id": 5}\n', 5, -32600),
        (b'{"jsonrpc": "2.0", "id": 5, "method": 7}\n', 5, -32600),
        (b'{"id": "five", "method": "ping"}\n', "five", -32600),
        (line("tools/call", id=6, params=[]), 6, -32602),
        (line("tools/call", id=6, params={"name": 5}), 6, -32602),
        (line("nosuch", id=7), 7, -32601),
    ],
)
def test_an_invalid_request_gets_the_protocols_error(vault: Path, given: bytes, number: Any, code: int) -> None:
    got = answers(vault, stdin=through_a_pipe([*GREETING, given]))

    assert [(each["id"], each["error"]["code"]) for each in got if "error" in each] == [(number, code)]


@pytest.mark.parametrize("given", [b" \n", line("notifications/cancelled", params=7), b'{"id": 1, "result": 3}\n'])
def test_an_invalid_line_that_is_no_request_gets_no_answer(vault: Path, given: bytes) -> None:
    assert [each["id"] for each in answers(vault, stdin=through_a_pipe([*GREETING, given]))] == ["hello"]


def test_a_request_that_was_cancelled_keeps_nobody_waiting(vault: Path) -> None:
    cancelled = line("notifications/cancelled", params={"requestId": 1})

    got = answers(vault, stdin=through_a_pipe([*GREETING, call(1, "stats"), cancelled, line("ping", id=2)]))

    assert 2 in [each["id"] for each in got]


def test_an_answer_that_a_pipe_cannot_take_at_once_arrives_whole(vault: Path) -> None:
    note = vault / "notes" / "long.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("A line of a long note.\n" * 2_000, encoding="utf-8")
    asked = [call(number, "get_notes", ids=["notes/long.md"], max_chars=40_000) for number in (1, 2)]

    got = answers(vault, stdin=through_a_pipe([*GREETING, *asked]))

    assert sorted(each["id"] for each in got[1:]) == [1, 2]
    assert all(len(each["result"]["content"][0]["text"]) > 39_000 for each in got[1:])


def test_a_greeting_that_has_its_answer_gets_no_other(vault: Path) -> None:
    opening = Opening()
    for each in GREETING:
        opening.take(each)

    got = answers(vault, stdin=through_a_pipe([line("ping", id=7)]), opening=opening)

    assert [each["id"] for each in got] == [7]
