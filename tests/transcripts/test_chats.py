"""Exports of ChatGPT and Claude.ai become sessions of prompts and answers, once, however often they are imported."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.transcripts import chats
from mdmem.transcripts.saved import ReadOptions, Skipped

Run = Callable[..., subprocess.CompletedProcess[str]]
DAY = 1_789_372_800.0
KEYS = [
    "mapping", "message", "author", "role", "content", "parts", "content_type", "current_node", "parent", "id", "uuid",
    "chat_messages", "sender", "text", "type", "create_time", "created_at", "conversation_id",
]  # fmt: skip
JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=20,
)


def node(name: str, parent: str, role: str, words: str, at: float, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [words]}
    message = {"id": name, "author": {"role": role}, "create_time": at, "content": content, **more}
    return {"id": name, "parent": parent, "message": message, "children": []}


def chatgpt(number: int = 1) -> dict[str, Any]:
    nodes = [
        {"id": "root", "parent": None, "message": None, "children": ["s"]},
        node("s", "root", "system", "You are helpful.", DAY),
        node("q", "s", "user", f"Which calendar do we use? {number}", DAY + 1),
        node("old", "q", "assistant", "The Julian one.", DAY + 2),  # regenerated since
        node("tool", "q", "assistant", "search(x)", DAY + 2, recipient="browser"),
        node("a", "tool", "assistant", "The Gregorian one.", DAY + 3),
        node("q2", "a", "user", "My key is <private>sesame</private>; why?", DAY + 60),
        node("a2", "q2", "assistant", "It is common.", DAY + 61),
    ]
    return {
        "title": "Calendars",
        "create_time": DAY,
        "conversation_id": f"6a0b0c0d-0000-4000-8000-{number:012d}",
        "current_node": "a2",
        "mapping": {one["id"]: one for one in nodes},
    }


def claude_ai() -> dict[str, Any]:
    said = [
        ("human", "Which calendar do we use?", "2026-09-14T08:00:01.000000Z"),
        ("assistant", "The Gregorian one.", "2026-09-14T08:00:03.000000Z"),
    ]
    messages = [
        {
            "uuid": f"m{at}",
            "sender": sender,
            "text": "",
            "content": [{"type": "text", "text": words}],
            "created_at": when,
        }
        for at, (sender, words, when) in enumerate(said)
    ]
    return {
        "uuid": "7a0b0c0d-0000-4000-8000-000000000001",
        "name": "Calendars",
        "created_at": "2026-09-14T08:00:00.000000Z",
        "chat_messages": messages,
    }


def stored(vault: Path) -> list[frontmatter.Post]:
    return [frontmatter.load(str(path)) for path in sorted(vault.glob("journal/*/*/*/[0-9][0-9][0-9]-*.md"))]


@pytest.mark.parametrize("as_folder", [False, True])
def test_an_export_of_chatgpt_becomes_sessions_and_only_what_was_said_last(
    vault: Path, tmp_path: Path, ask: Run, as_folder: bool
) -> None:
    path = tmp_path / "export" / "conversations.json"
    path.parent.mkdir()
    path.write_text(json.dumps([chatgpt(1), chatgpt(2)], indent=1), encoding="utf-8")
    done = ask("import", str(path.parent if as_folder else path), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"prompt": 4, "response": 4}
    notes = stored(vault)
    assert {one["agent"] for one in notes} == {"chatgpt"}
    assert len({one["session"] for one in notes}) == 2
    text = "\n".join(path.read_text("utf-8") for path in vault.rglob("*.md"))
    assert "Gregorian" in text and "Julian" not in text and "search(x)" not in text and "helpful" not in text
    assert "sesame" not in text
    again = ask("import", str(path), "--yes", "--json", "--again", check=True)
    assert json.loads(again.stdout)["added"] == {}


def test_an_export_of_chatgpt_in_numbered_parts_is_imported_from_its_folder(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    for number in (1, 2):
        (tmp_path / f"conversations-00{number}.json").write_text(json.dumps([chatgpt(number)]), encoding="utf-8")
    (tmp_path / "user.json").write_text('{"id": "user-1"}', encoding="utf-8")
    done = ask("import", str(tmp_path), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"prompt": 4, "response": 4}
    assert len({one["session"] for one in stored(vault)}) == 2


def test_an_export_that_is_still_packed_is_to_be_unpacked(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = tmp_path / "export.zip"
    path.write_bytes(b"PK\x03\x04")
    done = ask("import", str(path), "--yes")
    assert done.returncode == 5
    assert " ".join(done.stderr.split()) == f"mdmem: {path} is an archive. Unpack it, and import the folder."


def test_an_export_of_claude_ai_becomes_sessions_at_their_time(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([claude_ai()]), encoding="utf-8")
    ask("import", str(path), "--yes", check=True)
    assert [(one["kind"], one["agent"], str(one["created"])[:19]) for one in stored(vault)] == [
        ("prompt", "claude-ai", "2026-09-14 08:00:01"),
        ("response", "claude-ai", "2026-09-14 08:00:03"),
    ]


def test_a_preview_names_the_source_and_counts_conversations(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chatgpt(1), chatgpt(2)]), encoding="utf-8")
    shown = ask("import", str(path), "--dry-run", check=True).stdout
    assert "ChatGPT" in shown and "2 sessions  4 prompts" in shown and "2 sessions, at most 8 notes." in shown
    assert not list(vault.rglob("*.md"))


def test_what_was_left_out_by_a_stop_comes_with_the_next_run(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chatgpt(1)]), encoding="utf-8")
    ask("import", str(path), "--yes", check=True)
    path.write_text(json.dumps([chatgpt(1), chatgpt(2)]), encoding="utf-8")  # a newer export
    done = ask("import", str(path), "--yes", "--json", check=True)
    assert json.loads(done.stdout)["added"] == {"prompt": 2, "response": 2}


def changed(value: Any, chance: random.Random, odd: Any) -> Any:
    """Return JSON with one of its values, at any depth, replaced."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.1:
        return odd
    at = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    copy: Any = value.copy()
    copy[at] = changed(value[at], chance, odd)
    return copy


@given(st.lists(JSON, max_size=3), st.randoms())
def test_no_export_makes_reading_fail(
    tmp_path_factory: pytest.TempPathFactory, odd: list[Any], chance: random.Random
) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.json"
    value = [changed(export, chance, one) for one in odd for export in (chatgpt(), claude_ai())]
    path.write_text(json.dumps([*odd, *value]), encoding="utf-8")
    for read in (chats.read_chatgpt, chats.read_claude_ai):
        for saved in read(path, ReadOptions(Skipped(), DAY)):
            assert saved.event.name and saved.event.session
