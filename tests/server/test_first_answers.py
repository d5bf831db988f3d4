"""What clients ask first is answered before the SDK is there, as the SDK answers it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mdmem.server import first_answers
from tests.helpers import first_answers as recorder

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
META = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": HELLO["clientInfo"],
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


def line(method: str, params: Any = None, **more: Any) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params}), **more}
    return json.dumps(message).encode() + b"\n"


def taken(*lines: bytes) -> tuple[list[Any], first_answers.Opening]:
    """Send messages to a fresh connection; return what each was answered: None where the server has to, {} for none."""
    opening = first_answers.Opening()
    answers = [opening.take(each) for each in lines]
    return [answer if answer is None else json.loads(answer or b"{}") for answer in answers], opening


def test_the_kept_answers_are_what_the_server_answers() -> None:
    assert first_answers.load() == recorder.recorded(), "run: python -m tests.helpers.first_answers"


def test_a_greeting_and_the_lists_are_answered_and_only_the_greeting_is_left_for_the_server() -> None:
    hello, ready = line("initialize", HELLO, id="a"), line("notifications/initialized")
    (greeting, nothing, listed), opening = taken(hello, ready, line("tools/list", id=7))

    assert greeting["id"] == "a"
    assert greeting["result"]["protocolVersion"] == "2025-06-18"
    assert nothing == {}
    assert listed["id"] == 7
    assert listed["result"]["tools"]
    assert opening.greeted == "a"
    assert opening.unanswered == [hello, ready]


def test_a_client_that_discovers_first_may_still_greet() -> None:
    (found, greeting), opening = taken(line("server/discover", META, id=0), line("initialize", HELLO, id=1))

    assert found["result"]["supportedVersions"] == ["2026-07-28"]
    assert greeting["result"]["serverInfo"]["name"] == "mdmem"
    assert opening.greeted == 1


@pytest.mark.parametrize(
    "message",
    [
        line("tools/list", id=1),  # nobody greeted
        line("initialize", {**HELLO, "protocolVersion": "1999-01-01"}, id=1),
        line("initialize", {"protocolVersion": "2025-06-18"}, id=1),
        line("initialize", {**HELLO, **META}, id=1),
        line("server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}, id=1),
        line("tools/list", {"cursor": "x", **META}, id=1),
        line("tools/call", {"name": "search", "arguments": {}, **META}, id=1),
        line("tools/list", [], id=1),
        line("tools/list", META, id=None),
        b"[]\n",
        b"{\n",
        b"\xff\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_unknown_or_not_whole_is_left_to_the_server(message: bytes) -> None:
    (answer,), opening = taken(message)

    assert answer is None
    assert opening.unanswered == [message]
    assert opening.greeted is None


@contextmanager
def served(vault: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server and close it."""
    command = [sys.executable, "-P", "-m", "mdmem", "--vault", str(vault), "mcp"]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        yield process


@pytest.mark.slow
def test_the_server_continues_where_the_first_answers_end(vault: Path) -> None:
    with served(vault) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        call = {"name": "search", "arguments": {"query": "tea"}}
        asked = [
            line("initialize", HELLO, id=1),
            line("notifications/initialized"),
            line("tools/list", id=2),
            line("tools/call", call, id=3),
            line("tools/list", id=4),
        ]
        process.stdin.write(b"".join(asked))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(4)]
        process.stdin.close()
        assert process.stdout.read() == b""

    assert sorted(each["id"] for each in answers) == [1, 2, 3, 4]
    by_id = {each["id"]: each["result"] for each in answers}
    assert by_id[2] == by_id[4]
    assert not by_id[3].get("isError")


@pytest.mark.slow
def test_a_client_without_a_greeting_is_served_on(vault: Path) -> None:
    with served(vault) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        call = {"name": "search", "arguments": {"query": "tea"}, **META}
        process.stdin.write(line("server/discover", META, id=1) + line("tools/call", call, id=2))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()

    assert [each["id"] for each in answers] == [1, 2]
    assert "content" in answers[1]["result"]
