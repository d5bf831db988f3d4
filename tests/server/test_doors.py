"""Three doors, one contract: every tool over stdio and HTTP by the official client, and what the command says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from mdmem import config
from mdmem.cli.setup import init
from mdmem.server import app
from mdmem.server.internal import context
from mdmem.server.internal.context import HEADERS, VARIABLES
from mdmem.server.tools import TOOLS
from tests.helpers import http_server

CONTEXTS: dict[str, dict[str, str]] = {
    "owner": {},
    "ghost": {"internal_type": "ghost", "ghost_type": "user", "ghost_owner": "alice"},
    "bob": {"internal_type": "ghost", "ghost_type": "user", "ghost_owner": "alice", "user_id": "bob"},
    "stranger": {"internal_type": "ghost", "ghost_type": "user", "ghost_owner": "alice", "user_id": "mallory"},
    "space": {"internal_type": "ghost", "ghost_type": "space", "ghost_space": "music", "user_id": "bob"},
    "group": {"internal_type": "ghost", "ghost_type": "group", "ghost_group": "band"},
    "agent": {"internal_type": "agent", "conversation_id": "c1"},
    "spoiled": {"internal_type": "ghost"},
}

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "parser"}),
    ("timeline", {"note": "nnnnnnnnn1"}),
    ("get_notes", {"ids": ["nnnnnnnnn1", "p000000001"]}),
    ("search_user_prompts", {"query": "parser NOT leap"}),
    ("get_session", {"session": "aaaa1111"}),
    ("file_history", {"path": "dates.py"}),
    ("recent", {}),
    ("related", {"note": "nnnnnnnnn1"}),
    ("fixes", {"error": "ValueError: day is out of range"}),
    ("open_work", {"project": "acme"}),
    ("project_context", {"project": "acme"}),
    ("stats", {}),
    ("add_note", {"text": ""}),
    ("append_note", {"note": "p000000001", "text": "x"}),
    ("pin", {"note": "nnnnnnnnn1"}),
    ("supersede", {"note": "nnnnnnnnn1"}),
    ("edit_note", {"note": "nnnnnnnnn1", "checksum": "0", "text": "x", "find": "y"}),
    ("move_note", {"note": "nnnnnnnnn1", "checksum": "0", "to": "notes/x.md"}),
    ("delete_note", {"note": "p000000001", "checksum": "0"}),
    ("undo_change", {"undo": "0000000000"}),
    ("remember_create_internal_memory", {"content": "x", "tags": ["ghost"]}),
    ("remember_update_internal_memory", {"memory_id": "nnnnnnnnn1", "title": "x"}),
    ("remember_search_internal_memory", {"query": "", "filters": {"types": ["ghost", "agent"]}}),
    ("remember_query_internal_memory", {"query": "memory"}),
    ("remember_search_internal_memory_by", {"mode": "byTime"}),
    ("remember_publish", {"memory_id": "nothing000", "to": "space:music"}),
)
"""Every tool; those that write are asked for what they refuse, so that both doors see the same vault."""


@pytest.fixture
def full(vault: Path) -> Path:
    """Write a session, a note and a memory of each context."""
    init.make_vault(config.load(str(vault)))
    home = vault / "journal" / "acme" / "2026-09-14" / "0800-dates-aaaa1111"
    home.mkdir(parents=True)
    for number, text in enumerate(("Why does the parser fail?", "Does the parser know leap days?"), 1):
        head = f"id: p{number:09d}\nkind: prompt\ntitle: {text}\ncreated: 2026-09-14T08:0{number}:00Z\nproject: acme\n"
        head += f"session: aaaa1111-19fa\nprompt: {number}\nfiles: [src/dates.py]\n"
        (home / f"00{number}-000-prompt-x.md").write_text(f"---\n{head}---\n\n{text}\n")
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "utc.md").write_text(
        "---\nid: nnnnnnnnn1\nkind: note\ntitle: The parser takes UTC\npinned: true\n"
        "created: 2026-09-15T08:00:00Z\nproject: acme\n---\n\nNothing else.\n"
    )
    (vault / "mdmem.toml").write_text('[internal]\ntrust = ["user:alice bob 0.4", "user:alice mallory 0"]\n')
    return vault


@pytest.fixture
def port(full: Path) -> Iterator[tuple[str, str]]:
    """Serve the vault over HTTP; return the address and the token."""
    with http_server.serving(os.environ, full) as (_, port, secret):
        yield f"http://127.0.0.1:{port}/mcp", secret


def plain(result: Any) -> Any:
    """Return what both doors must say alike: values, or the refusal; the fence has a number of its own each time."""
    return result.structured_content if not result.is_error else result.content[0].text


async def both(context: dict[str, str], port: tuple[str, str]) -> tuple[list[Any], list[Any]]:
    """Make every call over stdio and over HTTP."""
    env = {VARIABLES[key]: value for key, value in context.items()}
    headers = {HEADERS[key]: value for key, value in context.items()} | {"Authorization": f"Bearer {port[1]}"}
    pipes = StdioServerParameters(command=sys.executable, args=["-P", "-m", "mdmem", "mcp"], env={**os.environ, **env})
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=240))
        over_http = await stack.enter_async_context(Client(streamable_http_client(port[0], http_client=web)))
        on_stdio = await stack.enter_async_context(Client(stdio_client(pipes)))
        return (
            [plain(await on_stdio.call_tool(name, arguments)) for name, arguments in CALLS],
            [plain(await over_http.call_tool(name, arguments)) for name, arguments in CALLS],
        )


def test_the_table_has_every_tool() -> None:
    assert {name for name, _ in CALLS} == {row.name for row in TOOLS}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTEXTS)
def test_stdio_and_http_answer_alike(full: Path, port: tuple[str, str], name: str) -> None:
    on_stdio, over_http = anyio.run(both, CONTEXTS[name], port)

    for (tool, _), one, other in zip(CALLS, on_stdio, over_http, strict=True):
        one = json.loads(json.dumps(one).replace(context.MISSING_ON_STDIO, context.MISSING))
        for key, variable in VARIABLES.items():  # each names what its own door would have to say
            one = json.loads(json.dumps(one).replace(variable, HEADERS[key]))
        assert one == other, tool
    told = json.dumps([said for (tool, _), said in zip(CALLS, on_stdio, strict=True) if "internal" not in tool])
    assert ("Nothing else." in told) is (name in ("owner", "ghost", "space", "group", "agent"))
    assert ("The parser takes UTC" in told) is (name not in ("stranger", "spoiled"))


@pytest.mark.slow
def test_the_command_says_what_the_tools_say(
    full: Path, port: tuple[str, str], mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    told = dict(zip((name for name, _ in CALLS), anyio.run(both, {}, port)[0], strict=True))

    def ids(*words: str) -> list[str]:
        return [one["id"] for one in json.loads(mdmem(*words, "--json").stdout)]

    def of(tool: str) -> list[str]:
        return [one["id"] for one in told[tool]["entries"]]

    assert of("search") == ids("search", "parser")
    assert of("search_user_prompts") == ids("prompts", "parser NOT leap") == ["p000000001"]
    assert of("related") == ids("related", "nnnnnnnnn1")
    assert sorted(of("file_history")) == sorted(ids("search", "--file", "dates.py"))
    assert told["stats"]["notes"] == json.loads(mdmem("stats", "--json").stdout)["notes"]
    assert told["get_notes"]["notes"][0]["text"] in mdmem("show", "nnnnnnnnn1").stdout


# -- what the list of tools costs ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:bpe_openai")
def test_the_whole_list_of_tools_takes_less_than_4000_tokens() -> None:
    import bpe_openai  # which loads its vocabularies then

    tools = app.listed()
    listed = {"tools": [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]}
    text = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))

    for vocabulary in ("cl100k_base", "o200k_base"):
        assert len(bpe_openai.get_encoding(vocabulary).encode(text)) < 4_000
    assert all(0 < len(tool.description or "") <= 400 for tool in tools)
