"""Two installations of mdmem: a server of one, started before an upgrade, beside commands of the other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mdmem import __version__, config
from mdmem.search import temporary_index
from tests.conftest import REPO

Ask = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return another installation, of version 0.0.1."""
    folder = tmp_path / "other"
    shutil.copytree(REPO / "mdmem", folder / "mdmem", ignore=shutil.ignore_patterns("__pycache__"))
    version = folder / "mdmem/__init__.py"
    version.write_text(version.read_text().replace(f'"{__version__}"', '"0.0.1"'))
    return folder


@pytest.fixture
def large(other: Path) -> None:
    """Let the other installation take every vault for a large one."""
    code = other / "mdmem/search/temporary_index.py"
    code.write_text(code.read_text().replace(f"MOST_NOTES = {temporary_index.MOST_NOTES:_}", "MOST_NOTES = 0"))


@pytest.fixture
def server(vault: Path, other: Path, tmp_path: Path) -> Iterator[Ask]:
    """Run the MCP server of the other installation; yield what calls one of its tools."""
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "one.md").write_text("# One\n\nThe gearbox squeals.\n")
    env = {**os.environ, "PYTHONPATH": str(other)}
    words = [sys.executable, "-m", "mdmem", "mcp"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, env=env, cwd=tmp_path, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def send(method: str, params: dict[str, Any], **more: Any) -> None:
            stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}) + "\n")

        def ask(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
            send("tools/call", {"name": tool, "arguments": arguments}, id=2)
            answer: dict[str, Any] = json.loads(stdout.readline())["result"]
            return answer

        client = {"name": "test", "version": "1"}
        send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}, id=1)
        assert "result" in json.loads(stdout.readline())
        send("notifications/initialized", {})
        yield ask
        stdin.close()
        assert process.wait(60) == 0


def stamp(vault: Path) -> bytes:
    """Return which version the index is of."""
    contents = (Path(config.load(str(vault)).index_dir) / "contents").read_bytes()
    return b"other" if b"mdmem 0.0.1," in contents else b"ours" if f"mdmem {__version__},".encode() in contents else b""


def found(answer: dict[str, Any]) -> list[str]:
    return [hit["title"] for hit in answer["structuredContent"]["entries"]]


@pytest.mark.slow
def test_a_server_older_than_the_index_uses_one_of_its_own_and_says_so(vault: Path, server: Ask, mdmem: Any) -> None:
    assert found(server("search", {"query": "gearbox"})) == ["One"]
    assert stamp(vault) == b"other"

    for number in range(2):
        (vault / "notes" / f"new-{number}.md").write_text(
            f"# New {number}\n\nThe valve {number} of the gearbox leaks.\n"
        )
        said = mdmem("search", "gearbox valve")
        assert ("Rebuilt the index" in said.stderr) == (number == 0)
        answer = server("search", {"query": f"valve {number}"})
        assert f"New {number}" in found(answer)
        assert "Restart the program" in json.dumps(answer["structuredContent"]["hints"])
        assert stamp(vault) == b"ours"


@pytest.mark.slow
def test_a_server_of_a_large_vault_says_that_it_must_be_restarted_and_goes_on(
    vault: Path, large: None, server: Ask, mdmem: Any
) -> None:
    server("search", {"query": "gearbox"})
    mdmem("search", "gearbox")

    for _ in range(2):
        answer = server("search", {"query": "gearbox"})
        assert answer["isError"]
        assert "Another version of mdmem has rebuilt the index" in answer["content"][0]["text"]
    saved = server("add_note", {"text": "The pump is new."})
    assert "Saved." in saved["content"][0]["text"]
    assert stamp(vault) == b"ours"
