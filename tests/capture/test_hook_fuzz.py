"""Fuzz: whatever a payload holds, the hook ends well, and what it stores is whole and inside the vault."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mdmem.capture import hook
from mdmem.vault import leftovers as vaults
from mdmem.vault import note
from tests.conftest import PAYLOADS, own_settings
from tests.helpers.claude import FULL

RECORDED = {
    (path.parent.name.replace("_", "-"), path.stem): json.loads(path.read_text("utf-8"))
    for path in sorted([*PAYLOADS.glob("*/*.json"), *PAYLOADS.glob("live/*/*.json")])
    if path.stat().st_size < 20_000
}
"""Recorded payloads by agent and name."""

# Values that no field expects: every JSON type, and texts that lead out of folders, files, lines, tags and encodings.
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, 10**30, "", "x", [], {}, [[]], [None], {"a": {"b": [1]}}, "\ud800", "\0",
    "/\ud800", "@a\0b",
    "\n---\nid: 1\n",
    "../../../etc/passwd", "/", "~", ".", "a\tb\x1fc", "<private>", "</private>", "[private]", "<private>all</private>",
    "`" * 40, "```\n```", "{{body}}", "<!-- mdmem:begin -->", "\u202e\u2066", "e\u0301" * 60, "日本語" * 60,
    "👩‍👩‍👧" * 30,
    "CON", "a" * 5_000, "word " * 5_000, "AKIAIOSFODNN7EXAMPLE", "https://user:pw@host/x",
]  # fmt: skip


def handle(vault: Path, data: bytes, agent: str = "claude-code") -> dict[str, Any]:
    """Run an agent's hook in this process and check what it did; return its report."""
    out = hook.run([agent, "--report"], data, str(vault), os.environ)
    report: dict[str, Any] = json.loads(out)
    assert report["error"] in (None, "NoPayloadError"), report
    if report["stored"]:
        path = vault / report["path"]
        assert path.resolve().is_relative_to((vault / "journal").resolve())
        assert len(os.fsencode(path.name)) <= 140
        content = path.read_bytes()
        assert len(content) <= note.MAX_NOTE_BYTES
        parsed = note.parse(content)
        assert parsed.problem is None
        assert (parsed.meta["id"], parsed.meta["kind"]) == (report["id"], report["kind"])
        assert path.name.endswith(f"-{report['id']}.md")
    return report


def check(vault: Path, beside: set[Path]) -> None:
    """Check that everything in the vault is a whole note, and that nothing came beside it."""
    assert set(vault.parent.iterdir()) == beside
    for path in vault.rglob("*"):
        assert not vaults.is_temp(path.name)
        assert not path.is_symlink()
        if path.suffix == ".md":
            assert note.parse(path.read_bytes()).problem is None


@pytest.fixture
def fuzzed(vault: Path) -> Iterator[Path]:
    """Yield a vault that is not synced, and check it when the test is over."""
    own_settings('[capture]\ndurability = "process"\n')
    beside = set(vault.parent.iterdir())
    yield vault
    check(vault, beside)


fuzz = settings(
    max_examples=20_000 if FULL else 60,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value in a payload, itself first."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a payload with another value at a place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


EVERY = [(name, path) for name, payload in RECORDED.items() for path in places(payload) if path]


@pytest.mark.slow
def test_a_wrong_type_in_any_field_of_any_payload_does_no_harm(fuzzed: Path) -> None:
    step = 1 if FULL else 211
    runs = [(name, path, odd) for name, path in EVERY for odd in ODD]
    for number, (name, path, odd) in enumerate(runs[::step]):
        payload = changed(RECORDED[name], path, odd)
        if path[0] != "session_id":  # a session that grows with every example would only test patience
            payload["session_id"] = f"00000000-0000-4000-8000-{number // 50:012x}"
        handle(fuzzed, json.dumps(payload).encode(), name[0])


values = st.recursive(
    st.one_of(st.sampled_from(ODD), st.text(max_size=80), st.integers(), st.floats(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4)),
    max_leaves=8,
)


@pytest.mark.slow
@fuzz
@given(st.sampled_from(EVERY), st.lists(st.tuples(st.integers(0, 1 << 16), values), max_size=5), st.booleans())
def test_payloads_with_any_fields_changed_do_no_harm(
    fuzzed: Path, first: tuple[tuple[str, str], tuple[Any, ...]], changes: list[tuple[int, Any]], fresh: bool
) -> None:
    payload = RECORDED[first[0]]
    for number, value in changes:
        here = list(places(payload))[1:]
        if here:
            payload = changed(payload, here[number % len(here)], value)
    if isinstance(payload, dict) and fresh:
        payload = {**payload, "session_id": "00000000-0000-4000-8000-000000000001", "tool_use_id": None}
    handle(fuzzed, json.dumps(payload).encode(), first[0][0])


@pytest.mark.slow
@fuzz
@given(
    st.sampled_from(sorted(RECORDED)), st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(max_size=6)), max_size=4)
)
def test_payloads_with_any_bytes_changed_do_no_harm(
    fuzzed: Path, name: tuple[str, str], changes: list[tuple[int, bytes]]
) -> None:
    data = json.dumps(RECORDED[name]).encode()
    for number, piece in changes:
        at = number % (len(data) + 1)
        data = data[:at] + piece + data[at + (number >> 8) % 40 :]
    handle(fuzzed, data, name[0])


@fuzz
@given(st.binary(max_size=300))
def test_bytes_of_any_kind_do_no_harm(fuzzed: Path, data: bytes) -> None:
    handle(fuzzed, data)


@pytest.mark.parametrize("depth", [50, 300, 700, 950, 990])
@pytest.mark.parametrize("field", ["tool_input", "tool_response", "prompt", "effort"])
def test_a_payload_that_is_nested_deeply_is_stored_or_passed_over(fuzzed: Path, depth: int, field: str) -> None:
    for opener, closer in (("[", "]"), ('{"a":', "}")):
        event = RECORDED["claude-code", "PostToolUse-Bash-01"] | {field: "@"}
        nested = f"{opener * depth}1{closer * depth}"
        handle(fuzzed, json.dumps(event).replace('"@"', nested).encode())


@pytest.mark.parametrize(
    "session", [*map(str, ODD), "..", "a/b", "C:\\x", "x" * 4096, "00893AAF-19FA-41D2-8238-13269B9B3CA0"], ids=repr
)
def test_a_hostile_session_or_folder_leads_nowhere_else(fuzzed: Path, session: str) -> None:
    where = {"session_id": session, "cwd": f"/tmp/../{session}"}
    event = {"hook_event_name": "UserPromptSubmit", "prompt": "hostile", **where}
    report = handle(fuzzed, json.dumps(event).encode())
    assert report["stored"]
    for path in fuzzed.rglob("*"):
        assert len(os.fsencode(path.relative_to(fuzzed))) < 240


@pytest.mark.parametrize("prompt", ["/\ud800 now", "/a\0b now"], ids=["surrogate", "NUL"])
def test_a_prompt_that_names_a_command_no_file_can_have_is_stored(fuzzed: Path, prompt: str) -> None:
    event = RECORDED["claude-code", "UserPromptSubmit-plain-01"] | {"prompt": prompt}
    assert handle(fuzzed, json.dumps(event).encode())["stored"]


def test_text_in_the_place_of_a_sub_agents_id_reaches_no_file(fuzzed: Path, home: Path) -> None:
    event = RECORDED["claude-code", "PostToolUse-Agent-02-async"]
    event = event | {"tool_response": event["tool_response"] | {"agentId": "a7 <private>hunter2</private>"}}
    assert handle(fuzzed, json.dumps(event).encode())["stored"]
    kept = [path for top in (fuzzed, home) for path in top.rglob("*") if path.is_file()]
    assert [path for path in kept if b"hunter2" in path.read_bytes()] == []
