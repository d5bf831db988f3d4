"""HTTP: who is let in, how much and how long; hooks over a port leave what the command leaves."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from uvicorn.server import ServerState

from mdmem import config
from mdmem.agents.install.catalog import AGENTS
from mdmem.capture import hook, losses
from mdmem.errors import ConfigError, UsageError
from mdmem.server import guard, http
from mdmem.server import port as serving
from tests.conftest import PATIENT_SECONDS, PAYLOADS, notes
from tests.helpers import http_server, tree
from tests.helpers.talk import Talk
from tests.helpers.waiting import SECONDS, until

SOAK = bool(os.environ.get("MDMEM_SOAK"))
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class Running:
    """A server as a process of its own."""

    def __init__(self, process: subprocess.Popen[str], env: dict[str, str], port: int, secret: str) -> None:
        self.process = process
        self.env = env
        self.port = port
        self.secret = secret

    def client(self, headers: dict[str, str]) -> tuple[httpx2.AsyncClient, Client]:
        """Make an official client of it."""
        given = {**headers, "Authorization": f"Bearer {self.secret}"}
        link = httpx2.AsyncClient(headers=given, timeout=240)
        return link, Client(streamable_http_client(f"http://127.0.0.1:{self.port}/mcp", http_client=link))

    def ask(
        self, path: str = "/mcp", body: Any = LIST, *, method: str = "POST", headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """Send one request; give status, headers and body. A header "" is left out."""
        sent = {
            "Authorization": f"Bearer {self.secret}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **(headers or {}),
        }
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        link = HTTPConnection("127.0.0.1", self.port, timeout=240)
        try:
            with suppress(ConnectionError):  # a refusal may come while the rest is being sent
                link.request(method, path, data, {name: value for name, value in sent.items() if value})
            answer = link.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
        finally:
            link.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Serve one vault for all tests of this file."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "vault").mkdir()
    (folder / "vault" / "mdmem.toml").write_text("")
    env = {key: value for key, value in os.environ.items() if not key.startswith(("MDMEM_", "XDG_"))}
    env |= {"HOME": str(folder), "MDMEM_VAULT": str(folder / "vault"), "XDG_RUNTIME_DIR": str(folder)}
    env["MDMEM_INJECT_DEADLINE_SECONDS"] = PATIENT_SECONDS
    with http_server.serving(env, folder) as (process, port, secret):
        yield Running(process, env, port, secret)


def vault_of(running: Running) -> Path:
    return Path(running.env["MDMEM_VAULT"])


def call(running: Running, tool: str, **arguments: Any) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    status, _, answer = running.ask(body=body)
    assert status == 200, answer
    return json.dumps(json.loads(answer)["result"]["structuredContent"])


@pytest.mark.parametrize(
    ("body", "number", "code"),
    [
        (b"{no", None, -32700),
        (b"42", None, -32600),
        ([LIST], None, -32600),
        ({**LIST, "id": {"a": 1}}, None, -32600),
        ({**LIST, "id": None}, None, -32600),
        ({"jsonrpc": "2.0", "id": 5}, 5, -32600),
        ({"id": "five", "method": "ping"}, "five", -32600),
        ({**LIST, "params": []}, 1, -32602),
        ({**LIST, "method": "tools/call", "params": {"name": 5}}, 1, -32602),
        ({**LIST, "method": "nosuch"}, 1, -32601),
    ],
)
def test_an_invalid_request_gets_the_protocols_error(running: Running, body: Any, number: Any, code: int) -> None:
    status, headers, answer = running.ask(body=body)

    assert (json.loads(answer)["id"], json.loads(answer)["error"]["code"]) == (number, code)
    assert headers["content-type"] == "application/json"
    assert status == 400 or code in (-32601, -32602)


@pytest.mark.parametrize(("header", "name"), [("claude-code/2.1.330 (cli)", "claude-code"), ("  ", "mcp"), ("", "mcp")])
def test_a_note_names_the_program_that_wrote_it(running: Running, header: str, name: str) -> None:
    text = f"Written by {header!r}."
    params = {"name": "add_note", "arguments": {"text": text}}
    body = {**LIST, "method": "tools/call", "params": params}

    _, _, answer = running.ask(body=body, headers={"User-Agent": header})

    path = vault_of(running) / json.loads(answer)["result"]["structuredContent"]["path"]
    assert f"\nagent: {name}" in path.read_text()


# -- who is let in ---------------------------------------------------------------------------------


def test_the_real_client_is_served(running: Running) -> None:
    status, headers, body = running.ask()

    assert status == 200
    assert {tool["name"] for tool in json.loads(body)["result"]["tools"]} >= {"search", "get_notes"}
    assert headers["cache-control"] == "no-store"
    assert not [name for name in headers if name.startswith("access-control")]
    assert "server" not in headers


@pytest.mark.parametrize("path", ["/mcp", "/hooks/claude-code", "/", "/.well-known/x", "/../etc/passwd"])
@pytest.mark.parametrize(
    ("status", "change"),
    [
        (421, {"Host": "evil.example"}),
        (421, {"Host": "127.0.0.1"}),
        (421, {"Host": "127.0.0.1:1"}),
        (421, {"Host": "localhost.evil.example:{port}"}),
        (403, {"Origin": "https://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "http://127.0.0.1:1"}),
        (403, {"Sec-Fetch-Site": "cross-site"}),
        (403, {"Sec-Fetch-Site": "same-site"}),
        (401, {"Authorization": "Bearer wrong"}),
        (401, {"Authorization": "Basic {token}"}),
        (401, {"Authorization": "{token}"}),
        (415, {"Content-Type": "text/plain"}),
        (415, {"Content-Type": "application/x-www-form-urlencoded"}),
    ],
)
def test_hostile_requests_are_refused_on_every_path(
    running: Running, path: str, status: int, change: dict[str, str]
) -> None:
    given = {key: value.format(port=running.port, token=running.secret) for key, value in change.items()}

    found, headers, body = running.ask(path, headers=given)

    assert found == status
    assert running.secret not in body
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD"])
def test_only_post_is_answered(running: Running, method: str) -> None:
    assert running.ask(method=method, body="")[0] == 405
    assert running.ask(method=method, body="", headers={"Authorization": ""})[0] == 401


def test_a_request_without_the_token_is_refused(running: Running) -> None:
    assert running.ask(headers={"Authorization": ""})[0] == 401


def test_the_own_origin_and_every_name_of_loopback_are_let_in(running: Running) -> None:
    for name in ("127.0.0.1", "localhost", "[::1]"):
        host = f"{name}:{running.port}"
        given = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        assert running.ask(headers=given)[0] == 200


@pytest.mark.parametrize(
    "twice", ["Host: 127.0.0.1:{port}", "Authorization: Bearer {token}", "Content-Type: text/plain"]
)
def test_a_header_that_is_there_twice_is_refused(running: Running, twice: str) -> None:
    body = json.dumps(LIST)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nAuthorization: Bearer {running.secret}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    extra = twice.format(port=running.port, token=running.secret)

    answer = exchange(running.port, f"{head}{extra}\r\n\r\n{body}".encode())

    assert answer.split(b" ")[1] in (b"400", b"401", b"415", b"421")


def exchange(port: int, data: bytes) -> bytes:
    """Send bytes; return what is answered, also when the server refuses and closes before it has read them all."""
    with socket.create_connection(("127.0.0.1", port), timeout=240) as link:
        with suppress(ConnectionError):
            link.sendall(data)
        answer = b""
        with suppress(ConnectionError):
            while b"\r\n" not in answer and (piece := link.recv(65_536)):
                answer += piece
        return answer


# -- how much and how long -------------------------------------------------------------------------


def test_what_is_too_long_is_refused_before_it_is_read(running: Running) -> None:
    assert running.ask(body="x" * (guard.MAX_BODY_BYTES + 1))[0] == 413
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nAuthorization: Bearer {running.secret}\r\n"
    head += "Content-Type: application/json\r\n"
    assert b" 413 " in exchange(running.port, f"{head}Content-Length: 99999999999\r\n\r\n".encode())
    chunks = b"".join(b"10000\r\n" + b"x" * 0x10000 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
    assert b" 413 " in exchange(running.port, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunks)
    long = b"X: " + b"y" * guard.MAX_HEADER_BYTES * 2 + b"\r\n\r\n"
    assert exchange(running.port, head.encode() + long).split(b" ")[1] in (b"400", b"431")


def test_a_body_that_never_comes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.05)

    async def nothing() -> Any:
        await anyio.sleep(60)

    status, _ = anyio.run(guard._body, {"headers": []}, nothing, 100)
    assert status == 408


def test_an_answer_that_never_comes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "ANSWER_SECONDS", 0.05)
    sent: list[Any] = []

    async def slow(*_: Any) -> None:
        await anyio.sleep(60)

    async def body() -> Any:
        return {"type": "http.request", "body": b"{}"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"h:1"), (b"authorization", b"Bearer t"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    anyio.run(guard.Guard(slow, ["h:1"], "t"), scope, body, send)
    assert sent[0]["status"] == 504


@pytest.mark.slow
def test_who_connects_and_says_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "HEADER_SECONDS", 0.05)

    async def never(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("no request has come to its end")

    async def wait() -> None:
        settings = uvicorn.Config(never, log_config=None)
        settings.load()
        loop = asyncio.get_running_loop()
        state = ServerState()
        server = await loop.create_server(lambda: serving._Protocol(settings, state, {}), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            for begun in (b"", b"POST /mcp HTTP/1.1\r\nHost: x\r\n"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(begun)
                assert await asyncio.wait_for(reader.read(), timeout=240) == b""
                writer.close()

    asyncio.run(wait())


# -- the token and the port ------------------------------------------------------------------------


def test_the_token_is_made_once_and_only_its_user_can_read_it(vault: Path) -> None:
    settings = config.load(str(vault))
    tokens = []
    threads = [threading.Thread(target=lambda: tokens.append(http.load_token(settings))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(tokens)) == 1
    assert len(tokens) == 16
    assert http.token_path(settings).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in http.token_path(settings).parent.iterdir() if "token" in path.name] == ["http-token"]
    assert not [path for path in vault.rglob("*") if "token" in path.name]


@pytest.mark.parametrize("spoil", ["readable", "short", "link"])
def test_a_token_that_others_may_know_is_not_used(vault: Path, spoil: str, tmp_path: Path) -> None:
    settings = config.load(str(vault))
    http.load_token(settings)
    file = http.token_path(settings)
    if spoil == "readable":
        file.chmod(0o644)
    elif spoil == "short":
        file.write_text("abc")
    else:
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")

    with pytest.raises((ConfigError, OSError)):
        http.load_token(settings)


def test_a_port_that_is_taken_is_not_waited_for(vault: Path) -> None:
    port = serving.default_port(str(vault))
    first = serving.listen("127.0.0.1", port, exact=False)
    second = serving.listen("127.0.0.1", port, exact=False)
    try:
        assert second.getsockname()[1] != first.getsockname()[1]
        with pytest.raises(UsageError, match="cannot be used"):
            serving.listen("127.0.0.1", first.getsockname()[1], exact=True)
    finally:
        first.close()
        second.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "no.such.host.invalid", "192.0.2.1"])
def test_an_address_that_is_none_or_all_is_refused(host: str) -> None:
    with pytest.raises(UsageError):
        serving.listen(host, 0, exact=False)


@pytest.mark.slow
def test_options_of_http_need_http(mdmem: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert mdmem("mcp", "--port", "80").returncode == 2


# -- hooks -----------------------------------------------------------------------------------------


def payload(name: str, **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PAYLOADS / "claude_code" / f"{name}.json").read_text())
    return found | changes


def test_a_hook_over_http_is_on_disk_when_it_is_answered(running: Running) -> None:
    sent = payload("UserPromptSubmit-plain-01", session_id="over-http", prompt="Add a test for leap days.")
    status, _, body = running.ask("/hooks/claude-code", sent)  # it asks for nothing that other tests have stored

    assert (status, body) == (200, "")
    (path,) = [path for path in notes(vault_of(running)) if "over-http" in path.read_text()]
    assert "-prompt-" in path.name


def test_a_hook_over_http_hears_what_the_command_hears(running: Running) -> None:
    sent = payload("UserPromptSubmit-plain-01", session_id="private", prompt="a <private>canary</private> b")

    status, headers, body = running.ask("/hooks/claude-code", sent)

    assert status == 200
    assert headers["content-type"] == "application/json"
    assert "1 private section (6 characters) was kept out" in json.loads(body)["systemMessage"]
    for path, data in tree.contents(vault_of(running).parent):
        assert b"canary" not in data, path


def test_a_hook_over_http_answers_with_memories(running: Running) -> None:
    folder = vault_of(running).parent / "observatory"
    past = Talk(vault_of(running), folder, "2" * 8 + "-0000-4000-8000-000000000000")
    past.says("Which telescope mount do we take for the observatory?")
    past.answers("We decided on the equatorial mount for the observatory's telescope, since it tracks the stars.")
    asked = "What did we decide about the telescope mount <private>canary</private>?"

    end = time.monotonic() + 240
    for number in itertools.count():  # while another process makes the first index, a prompt gets what there is of it
        later = Talk(vault_of(running), folder, f"3{number:07d}-0000-4000-8000-000000000000")
        status, _, body = running.ask("/hooks/claude-code", later.payload("UserPromptSubmit", prompt=asked))
        assert status == 200
        answer = json.loads(body)
        if "hookSpecificOutput" in answer or time.monotonic() > end:
            break
        time.sleep(0.2)

    assert "equatorial mount" in answer["hookSpecificOutput"]["additionalContext"]
    assert "private section" in answer["systemMessage"]
    status, _, body = running.ask("/hooks/claude-code", later.payload("UserPromptSubmit", prompt="hi", prompt_id="b"))
    assert (status, body) == (200, "")


PROMPTS = {
    "claude-code": "UserPromptSubmit-plain-01",
    "codex": "UserPromptSubmit-01",
    "copilot": "UserPromptSubmit-01",
    "cursor": "beforeSubmitPrompt-01",
    "gemini": "BeforeAgent-01",
    "opencode": "UserPromptSubmit-01",
}


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_every_agent_hears_over_http_what_its_hook_says(running: Running, vault: Path, agent: str) -> None:
    file = PAYLOADS / agent.replace("-", "_") / f"{PROMPTS[agent]}.json"
    sent = json.loads(file.read_text()) | {"prompt": f"a <private>canary</private> for {agent}"}

    status, _, body = running.ask(f"/hooks/{agent}", sent)

    assert status == 200
    assert body.encode() == hook.run([agent], json.dumps(sent).encode(), str(vault))
    (stored,) = [path for path in notes(vault_of(running)) if f" for {agent}\n" in path.read_text()]
    assert stored.name in {path.name for path in notes(vault)}


def test_hooks_at_the_same_time_leave_a_note_each(running: Running) -> None:
    statuses = []

    def send(number: int) -> None:
        sent = payload("PostToolUse-Bash-01", session_id="flood", tool_use_id=f"toolu_{number}")
        statuses.append(running.ask("/hooks/claude-code", sent)[0])

    threads = [threading.Thread(target=send, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert statuses == [200] * 24
    assert len([path for path in notes(vault_of(running)) if "session: flood" in path.read_text()]) == 24


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/hooks/nobody", "{}", 404),
        ("/hooks/", "{}", 404),
        ("/hooks/claude-code/../x", "{}", 404),
        ("/hooks/claude-code", "not json", 200),
        ("/hooks/claude-code", "[1]", 200),
        ("/hooks/claude-code", "{}", 200),
        ("/hooks/claude-code", b"\xff\xfe", 200),
        ("/hooks/claude-code", '{"hook_event_name": "Stop", "cwd": "/etc\\u0000/..", "session_id": "../../x"}', 200),
        ("/nowhere", "{}", 404),
    ],
)
def test_a_payload_that_is_not_a_hook_event_leaves_nothing(running: Running, path: str, body: Any, status: int) -> None:
    before = len(notes(vault_of(running)))

    assert running.ask(path, body)[0] == status

    assert len(notes(vault_of(running))) == before
    assert running.process.poll() is None


def lost(running: Running) -> list[str]:
    """Return the events that are counted as lost, in order."""
    logs = [path.read_text() for path in vault_of(running).parent.rglob(losses.FILE) if path.is_file()]
    return [line.split("\t")[1] for text in logs for line in text.splitlines()]


def test_a_hook_over_http_whose_payload_cannot_be_read_is_told_and_counted_as_lost(running: Running) -> None:
    before = lost(running)
    begun = json.dumps(payload("PostToolUse-Bash-01", session_id="cut-over-http"))[:-9]

    status, headers, body = running.ask("/hooks/claude-code", begun)

    assert (status, headers["content-type"]) == (200, "application/json")
    assert "could not read this event, and it is lost" in json.loads(body)["systemMessage"]
    assert lost(running) == [*before, "PostToolUse"]


def test_a_hook_over_http_of_an_agent_whose_module_is_gone_is_told_and_counted_as_lost(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mdmem.agents.cursor", None)  # as where an upgrade broke off

    reply = http._handle(str(vault), "cursor", json.dumps(payload("PostToolUse-Bash-01")).encode())

    assert "this event is lost" in json.loads(reply)["user_message"]
    (loss,) = losses.recent(config.load(str(vault)), time.time())
    assert (loss["agent"], loss["event"]) == ("cursor", "unknown")


def test_a_hook_over_http_that_breaks_off_or_is_too_long_is_counted_as_lost(running: Running) -> None:
    before = lost(running)
    begun = json.dumps(payload("PostToolUse-Bash-01", session_id="broken-over-http"))[:-9].encode()
    head = f"POST /hooks/claude-code HTTP/1.1\r\nHost: localhost:{running.port}\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {running.secret}\r\nContent-Length: "

    with socket.create_connection(("127.0.0.1", running.port)) as link:
        link.sendall(f"{head}{len(begun) + 9}\r\n\r\n".encode() + begun)
    with socket.create_connection(("127.0.0.1", running.port)) as link:
        link.sendall(f"{head}{10**9}\r\n\r\n".encode())
        assert b" 413 " in link.recv(100)

    until(lambda: len(lost(running)) >= len(before) + 2)
    assert sorted(lost(running)[len(before) :]) == ["PostToolUse", "unknown"]


def test_nothing_that_was_asked_is_in_a_log(running: Running) -> None:
    call(running, "search", query="canaryquery")
    running.ask(body='{"canarybody": ')
    running.ask("/hooks/claude-code", "canarypayload")
    running.ask(body={"jsonrpc": "2.0", "id": 1, "method": "canarymethod"})

    for path, data in tree.contents(vault_of(running).parent):
        for word in (b"canaryquery", b"canarybody", b"canarypayload", b"canarymethod"):
            assert word not in data, path


# -- many at once ----------------------------------------------------------------------------------


def word_of(number: int) -> str:
    """Return each client a word that has nothing in common with any other's."""
    return "qz" + "".join("bdfghjklmn"[int(digit)] for digit in f"{number:02d}") + "word"


@pytest.mark.slow
def test_many_clients_and_processes_at_once_get_their_own_answers(running: Running) -> None:
    clients, calls = (32, 2000) if SOAK else (6, 60)
    processes, turns = (32, 20) if SOAK else (1, 5)
    errors: list[str] = []
    folder = vault_of(running) / "notes"
    before = set(folder.iterdir()) if folder.exists() else set()

    async def talk(number: int) -> None:
        word = word_of(number)
        owner = {"X-Internal-Type": "ghost", "X-Ghost-Type": "user", "X-Ghost-Owner": f"owner{number}"}
        link, made = running.client(owner)
        rng = random.Random(number)
        async with link, made as client:
            await client.call_tool("add_note", {"text": f"{word} is mine"})
            await client.call_tool("remember_create_internal_memory", {"content": f"{word} is inside"})
            for _ in range(calls // clients - 2):
                tool = rng.choice(["search", "recent", "remember_search_internal_memory", "get_notes"])
                given: dict[str, Any] = {"query": word}
                if tool == "recent":
                    given = {"kind": "note", "limit": 5}
                elif tool == "get_notes":
                    given = {"ids": [f"notes/none-{number}.md"]}
                text = busy = "newest notes may be missing"  # which is told while another client's are taken in
                with anyio.fail_after(SECONDS):
                    while busy in text:
                        answer = await client.call_tool(tool, given)
                        text = json.dumps(answer.structured_content)
                expected = {"search": f"{word} is mine", "remember_search_internal_memory": f"{word} is inside"}
                right = {"recent": "is mine", "get_notes": f"none-{number}.md"}.get(tool) or expected[tool]
                strange = [other for other in range(clients) if other != number and word_of(other) in text]
                if answer.is_error or right not in text or (strange and tool != "recent"):
                    errors.append(f"{tool} {number}: {text}")

    async def work(number: int) -> None:
        env = {**running.env, "MDMEM_INTERNAL_TYPE": "agent", "MDMEM_USER_ID": f"user{number}"}
        command = StdioServerParameters(command=sys.executable, args=["-P", "-m", "mdmem", "mcp"], env=env)
        async with Client(stdio_client(command)) as client:
            for turn in range(turns):
                made = await client.call_tool("add_note", {"text": f"turn {turn} of {number} is mine"})
                assert not made.is_error, made.content
                kept = await client.call_tool("remember_create_internal_memory", {"content": f"memory {number} {turn}"})
                assert not kept.is_error, kept.content
            held = await client.call_tool("remember_search_internal_memory", {"query": "", "limit": 100})
            contents = {one["content"] for one in held.structured_content["memories"]}
            assert contents == {f"memory {number} {turn}" for turn in range(turns)}

    async def together() -> None:
        async with anyio.create_task_group() as group:
            for number in range(clients):
                group.start_soon(talk, number)
            for number in range(processes):
                group.start_soon(work, number)

    anyio.run(together)
    assert errors == []
    assert len(set(folder.iterdir()) - before) == clients + processes * turns


# -- floods ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(b"", marks=pytest.mark.slow),
        pytest.param(b"POST /mcp HTTP/1.1\r\nHost: localhost:%d\r\n", marks=pytest.mark.slow),
        b"POST /mcp HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{",
        pytest.param(
            b"POST /mcp HTTP/1.1\r\nHost: localhost:%d\r\nAuthorization: Bearer wrong\r\nContent-Length: 9000\r\n\r\n{",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["silent", "headers", "body", "wrong token"],
)
def test_a_flood_of_strangers_leaves_room_for_who_has_the_token(running: Running, begun: bytes) -> None:
    strangers = []
    try:
        for _ in range(300):
            link = socket.create_connection(("127.0.0.1", running.port), timeout=240)
            strangers.append(link)
            with suppress(ConnectionError):  # it may have been sent away already
                link.sendall(begun.replace(b"%d", str(running.port).encode()))
        assert [running.ask()[0] for _ in range(20)] == [200] * 20
    finally:
        for link in strangers:
            link.close()
