"""Measures MCP: `python -m tests.bench.mcp [notes]`: the start relative to the SDK's own, warm calls, many clients."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from mdmem import config
from mdmem.search import index
from mdmem.server import http
from tests.bench import measure
from tests.bench.recall import make_vault, prompts

START_BAR = 12
"""Limit of what mdmem adds to the SDK's own start, in multiples of bare Python."""
NOMINAL_MS = 6.4
"""CPU time of bare Python on the machine for which the bars were set. Times are compared as multiples of it."""
CALL_BAR_MS = 15
ROUNDS = 7
CALLS = 150
CLIENTS, EACH = 32, 200

SDK_ALONE = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def search(query: str) -> str:
    "Search."
    return query
server.run("stdio")
"""
"""A minimal server that answers a call. Its start is the SDK's own."""

HELLO: list[dict[str, Any]] = [
    {"id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}},
    {"method": "notifications/initialized"},
]  # fmt: skip


class Peer:
    """A server process, used over pipes."""

    def __init__(self, words: list[str], env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **env}
        )
        self.number = 1
        for message in HELLO:
            self.send(message)
        self.wait_for(1)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def wait_for(self, number: int) -> Any:
        """Read messages up to the answer with this id."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == number:
                return answer
        raise SystemExit("the server ended")

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool."""
        self.number += 1
        self.send({"id": self.number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        answer = self.wait_for(self.number)
        if answer.get("error") or answer["result"].get("isError"):
            raise SystemExit(f"{tool} failed: {answer}")
        return answer["result"]

    def cpu_of_all(self) -> float:
        """Return the CPU time of the process, including finished threads, in steps of ten milliseconds."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def cpu(self) -> float:
        """Return the CPU time of the process's threads, in milliseconds."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(path.read_text().split()[0]) for path in tasks) / 1e6

    def end(self) -> None:
        """Close its stdin and wait."""
        self.process.communicate(timeout=30)


def start(words: list[str], env: Mapping[str, str]) -> float:
    """Return the CPU time from the start to the first answer, in milliseconds."""
    peer = Peer(words, env)
    peer.call("search", query="why does the date parser fail")
    used = peer.cpu_of_all()
    peer.end()
    return used


def warm(words: list[str], env: Mapping[str, str], texts: list[str]) -> Iterator[tuple[str, float]]:
    """Yield the CPU time of single calls of several tools, and of a bare interpreter in between (named "")."""
    peer = Peer(words, env)
    ids = [entry["id"] for entry in peer.call("recent", limit=50)["structuredContent"]["entries"]]
    peer.call("search", query=texts[0])
    for number in range(CALLS):
        for tool, arguments in (
            ("search", {"query": texts[number % len(texts)]}),
            ("get_notes", {"ids": [ids[number % len(ids)]]}),
            ("timeline", {"note": ids[number % len(ids)]}),
        ):
            before = peer.cpu()
            peer.call(tool, **arguments)
            yield tool, peer.cpu() - before
        yield "", measure.cpu(measure.BARE)
    peer.end()


async def crowd(port: int, secret: str, texts: list[str]) -> tuple[int, int]:
    """Run CLIENTS clients of the official SDK, with EACH requests each over HTTP; count answers and errors."""
    told = {"answers": 0, "errors": 0}

    async def one(number: int) -> None:
        headers = {"Authorization": f"Bearer {secret}"}
        async with AsyncExitStack() as stack:
            held = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=600))
            address = f"http://127.0.0.1:{port}/mcp"
            client = await stack.enter_async_context(Client(streamable_http_client(address, http_client=held)))
            for turn in range(EACH):
                text = texts[(number * EACH + turn) % len(texts)]
                answer = await client.call_tool("search", {"query": text, "limit": 3})
                told["errors" if answer.is_error else "answers"] += 1

    async with anyio.create_task_group() as group:
        for number in range(CLIENTS):
            group.start_soon(one, number)
    return told["answers"], told["errors"]


def asked_by_many(env: Mapping[str, str], texts: list[str]) -> str:
    """Return the results of many simultaneous clients of a server over HTTP."""
    secret = http.load_token(config.load())
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    words = [sys.executable, "-P", "-m", "mdmem", "mcp", "--http", "--port", str(port)]
    with subprocess.Popen(words, env={**os.environ, **env}, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        next(line for line in server.stderr if "Serving" in line)
        try:
            answers, errors = anyio.run(crowd, port, secret, texts)
        finally:
            server.terminate()
    return f"{CLIENTS} clients at once, {EACH} calls each: {answers} answers, {errors} errors."


def main() -> None:
    """Measure and print."""
    notes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with measure.scratch() as (_, vault, env):
        make_vault(vault, notes)
        index.update(config.load())
        ours = [sys.executable, "-P", "-m", "mdmem", "mcp"]
        runs = {
            "the SDK alone": lambda _: start([sys.executable, "-c", SDK_ALONE], env),
            "mdmem mcp": lambda _: start(ours, env),
        }
        rows = measure.interleaved(runs, ROUNDS)
        print(f"{notes} notes. From start to first answer:\n\n{measure.table(rows)}\n")
        more, ratio = rows[2].milliseconds - rows[1].milliseconds, rows[2].ratio - rows[1].ratio
        verdict = "met" if ratio <= START_BAR else "MISSED"
        print(f"mdmem adds {more:.0f} ms, {ratio:.1f} times bare Python; the bar is {START_BAR}: {verdict}.\n")
        times: dict[str, list[float]] = {}
        for tool, used in warm(ours, env, prompts(vault, 100)):
            times.setdefault(tool, []).append(used)
        floor = statistics.median(times.pop(""))
        for tool, found in times.items():
            middle, most = statistics.median(found), statistics.quantiles(found, n=20)[-1]
            print(f"a warm {tool}: {middle:.1f} ms CPU median, {most:.1f} ms at the 95th percentile")
        nominal = statistics.median(times["search"]) / floor * NOMINAL_MS
        verdict = "met" if nominal <= CALL_BAR_MS else "MISSED"
        print(
            f"a search is {nominal:.1f} where bare Python takes {NOMINAL_MS} ms; the bar is {CALL_BAR_MS}: {verdict}.\n"
        )
        print(asked_by_many(env, prompts(vault, 100)))


if __name__ == "__main__":
    main()
