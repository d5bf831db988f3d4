"""Private text planted in every string of every recorded payload is in no byte that any command leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mdmem.agents.install.catalog import AGENTS
from tests.conftest import PAYLOADS, notes
from tests.helpers import tree
from tests.helpers.claude import registered

Run = Callable[..., subprocess.CompletedProcess[str]]
CANARY = "zqxjvk"
"""No word of any language, and the beginning of every planted text."""

SYNTAXES = (
    "<private>{}</private>",
    "[private]{}[/private]",
    "<!-- private -->{}<!-- /private -->",
    "<PRIVATE >\n{}\n</Private >",
    '<private why="x">{} <private>{}</private> {}</private>',
    "<mdmem-context id=1>{}</mdmem-context id=1>",
    "＜private＞{}＜/private＞",
    r"\u003cprivate\u003e{}\u003c\/private\u003e",
    r"\x3cprivate\x3e{}\x3c/private\x3e",
    "%3Cprivate%3E{}%3C%2Fprivate%3E",
    "<pri\u200bvate>{}</private>",
    "＜ｐｒｉｖａｔｅ＞{}＜／ｐｒｉｖａｔｅ＞",
)
STRUCTURE = {"hook_event_name", "hookEventName", "session_id", "sessionId", "conversation_id", "sessionID", "type"}
"""Fields whose values say what a payload is: changed, there would be nothing to store."""


class Planter:
    """Puts two private texts of its own behind every string, in different tags, and one into every object as a key."""

    def __init__(self, first: int) -> None:
        self.count = first

    def text(self) -> str:
        self.count += 1
        hidden = f"{CANARY}{self.count:06d}"
        return SYNTAXES[self.count % len(SYNTAXES)].replace("{}", hidden)

    def split(self, items: list[Any]) -> list[Any]:
        """Return a private text over three items more, like those of a list of lines or of content blocks."""
        if not items or not all(isinstance(item, str) or (isinstance(item, dict) and "text" in item) for item in items):
            return []
        self.count += 1
        texts = ("before <private>", f"{CANARY}{self.count:06d} in the middle", "</private> behind")
        return [text if isinstance(items[-1], str) else {**items[-1], "text": text} for text in texts]

    def plant(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return value if key in STRUCTURE else f"{value} {self.text()} and {self.text()} more"
        if isinstance(value, list):
            return [*(self.plant(item) for item in value), *self.split(value)]
        if isinstance(value, dict):
            planted = {name: self.plant(item, name) for name, item in value.items()}
            return {**planted, f"key {self.text()}": "value"}
        return value


def recorded() -> Iterator[tuple[str, dict[str, Any]]]:
    folders = {name.replace("-", "_"): name for name in AGENTS}
    for path in sorted(PAYLOADS.glob("*/*.json")):
        payload = json.loads(path.read_text("utf-8"))
        if path.parent.name in folders and isinstance(payload, dict):
            yield folders[path.parent.name], payload


def leaks(data: bytes) -> list[str]:
    return sorted({data[at : at + 12].decode("latin-1") for at in places(data)})


def places(data: bytes) -> Iterator[int]:
    for form in (CANARY.encode(), CANARY.encode("utf-16-le"), CANARY.upper().encode()):
        at = data.find(form)
        while at >= 0:
            yield at
            at = data.find(form, at + 1)


def may_inject(payload: dict[str, Any]) -> bool:
    """Whether an agent asks for memories at such an event: when a session starts, and at a prompt."""
    name = str(payload.get("hook_event_name") or payload.get("hookEventName") or payload.get("type")).lower()
    return any(word in name for word in ("prompt", "sessionstart", "beforeagent", "none"))


def over_mcp(planter: Planter) -> bytes:
    """Write and search over MCP; return all that the server said."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    told = {"text": f"RunFacts {planter.text()}.", "title": f"Titled {planter.text()}"}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "add_note", "arguments": told}},
        {"id": 3, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "date parser"}}},
    ]
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "mdmem", "mcp"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        answers = [process.stdout.readline() for _ in range(3)]
        rest, said = process.communicate(timeout=240)
    assert b"titled" in b"".join(answers)
    return b"".join([*answers, rest, said])


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(len(SYNTAXES) if "MDMEM_SOAK" in os.environ else 1))
def test_no_planted_text_is_in_any_file_or_output(
    vault: Path, mdmem: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setenv("MDMEM_DEBUG", "1")
    mdmem("init", check=True)
    planter = Planter(turn)
    said: list[bytes] = []
    jobs = []
    questions = []
    for number, (agent, payload) in enumerate(recorded()):
        planted = planter.plant(payload)
        for key in ("session_id", "sessionId", "conversation_id", "sessionID"):
            if key in planted:
                planted[key] = f"{number:08d}-0000-4000-8000-000000000000"
        jobs.append(("hook", agent, json.dumps(planted).encode()))
        if may_inject(payload):
            questions.append(("inject", agent, jobs[-1][2]))
    assert planter.count > 3_000

    def send(job: tuple[str, str, bytes]) -> bytes:
        verb, agent, data = job
        done = subprocess.run(["/bin/sh", "-c", registered(verb, agent)], input=data, capture_output=True)
        assert done.returncode == 0
        return done.stdout + done.stderr

    with ThreadPoolExecutor(4) as pool:
        said += pool.map(send, jobs + questions)
    assert len(notes(vault)) > 60
    assert b"[PRIVATE]" in b"".join(path.read_bytes() for path in notes(vault))
    for words in (
        ["note", f"By hand {planter.text()}.", "--title", f"A title {planter.text()}", "--tag", planter.text()],
        ["index"],
        ["commit"],
        ["search", "date parser"],
        ["search", CANARY],
        ["index", "--rebuild"],
        ["status"],
    ):
        done = mdmem(*words)
        said.append((done.stdout + done.stderr).replace(CANARY, "", 2 if CANARY in words else 0).encode())

    said.append(over_mcp(planter))

    assert leaks(b"\n".join(said)) == []
    for path in tree.entries(vault, home, scratch):
        assert leaks(os.fsencode(path)) == []
    for path, data in tree.contents(vault, home, scratch):
        assert leaks(data) == [], path
    objects = subprocess.run(
        ["git", "-C", str(vault), "cat-file", "--batch-all-objects", "--batch"], capture_output=True, check=True
    ).stdout
    assert len(objects) > 50_000
    assert leaks(objects) == []
    assert tempfile.gettempdir() != str(vault)


def test_a_private_name_of_a_persons_file_is_in_no_index_and_no_state(vault: Path, mdmem: Run, home: Path) -> None:
    mdmem("init", check=True)
    for number, name in enumerate(["<private>{}.md", "[private]{}.md", "＜private＞{}.md", "<private>{}/a.md", "b.md"]):
        path = vault / "notes" / name.format(f"{CANARY}{number}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("All the boats.\n")
    for words in (["index"], ["commit"], ["search", "boats"], ["status"]):
        mdmem(*words)
    (vault / "notes" / f"<private>{CANARY}9.md").write_text("More boats.\n")
    (vault / "notes" / f"<private>{CANARY}3" / "c.md").write_text("More boats.\n")
    found = mdmem("search", "boats")
    mdmem("commit")
    mdmem("index", "--rebuild")

    assert "b.md" in found.stdout
    assert leaks(found.stdout.encode()) == []
    for path, data in tree.contents(home):
        assert leaks(data) == [], path
