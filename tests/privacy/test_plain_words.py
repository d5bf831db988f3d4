"""Plain words are masked where only a password stands: in files inside JSON, in columns."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem.privacy import clean
from tests.conftest import PAYLOADS, notes

WORD = "lantern"
FILES = (
    "DB_PASSWORD={}\nDEBUG=1\n",
    "db:\n  password: {}\n  host: db\n",
    "kind: Secret\nstringData:\n  first: {}\n",
    "machine host\nlogin ana\npassword {}\n",
    "user\tpassword\nana\t{}\n",
    "#!/bin/sh\nexport DB_PASSWORD={}\n./run\n",
)
"""Files with a password that is a plain word on a line of its own."""


@pytest.mark.parametrize("content", FILES)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_file_in_a_string_of_json_is_read_line_by_line(content: str, depth: int) -> None:
    text = content.replace("{}", WORD)
    for _ in range(depth):
        text = json.dumps({"result": text, "ok": True})

    stored = clean([{"type": "text", "text": text}], origin="tool").value[0]["text"]

    assert WORD not in stored
    assert "[REDACTED]" in stored
    for _ in range(depth):  # it is still JSON
        stored = json.loads(stored)["result"]
    assert stored == content.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"help": "Usage: login\n\nThe password is required.\nEnter it below.\n"}),
        json.dumps(["def check(password):\n    return password == stored\n", {"token": "a\nb"}]),
        json.dumps({"path": "C:\\new\\token\\read.txt", "text": "one\n\ttwo"}),
        '{"cut": "no end of this string\\nand password',
        '{"quotes": "the word \\"password\\"\\nis a name"}',
    ],
)
def test_other_strings_of_several_lines_stay(text: str) -> None:
    assert clean(text, origin="tool").value == text


def test_a_file_that_an_mcp_server_returns_is_stored_without_its_passwords(
    vault: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    payload = json.loads((PAYLOADS / "claude_code" / "PostToolUse-mcp-01-blocks.json").read_text("utf-8"))
    payload["tool_response"] = [{"type": "text", "text": json.dumps({"file": FILES[0].replace("{}", WORD)})}]

    assert mdmem("hook", "claude-code", input=json.dumps(payload)).returncode == 0

    (stored,) = [path.read_text("utf-8") for path in notes(vault) if "create" in path.name]
    assert WORD not in stored
    assert r"DB_PASSWORD=[REDACTED]\nDEBUG=1" in stored


@pytest.mark.parametrize(
    "text",
    [
        "user  password\nana  {}\n",
        "username   password   role\nana        {}     admin\nbob        {}   user\n",
        "login password\nana {}\nbob {}\n",
        "host      user   passwd\ndb1       root   {}\n",
        " id  login  password\n  1  ana    {}\n",
        "Here are the accounts:\n\nuser  password\nana  {}\n",
    ],
)
def test_a_word_below_password_in_a_list_of_accounts_is_masked(text: str) -> None:
    cleaned = clean(text.replace("{}", WORD)).value

    assert cleaned == text.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "user password\nplease enter\nit here again\n",
        "a password  and a user\nlantern      x\n",
        "user password reset\nthe form works now\n",
        "name  secret  sauce\nana   lantern  x\n",
    ],
)
def test_lines_below_other_words_stay(text: str) -> None:
    assert clean(text).value == text
