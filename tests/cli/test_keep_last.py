"""`mdmem privacy keep-last`: a person changes their mind about what a tag kept out of memory."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import frontmatter
import pytest

from mdmem import config
from mdmem.capture import hook
from mdmem.vault import note
from tests.conftest import notes
from tests.helpers.claude import SESSION, bash, prompt, send, stop

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "-home-dev-work-notes-app" / f"{SESSION}.jsonl"


def type_in(transcript: Path, text: str, number: int = 1, **fields: Any) -> None:
    """Type a prompt: the agent saves it in its transcript and runs the hook."""
    transcript.parent.mkdir(parents=True, exist_ok=True)
    line = {
        "type": "user",
        "sessionId": SESSION,
        "uuid": f"line-{number}",
        "promptId": f"prompt-{number}",
        "timestamp": f"2026-09-14T08:0{number}:00.000Z",
        "cwd": "/home/dev/work/notes-app",
        "message": {"role": "user", "content": text},
    }
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    send(prompt(text, number, transcript_path=str(transcript), **fields))


def bodies(vault: Path) -> list[str]:
    return [frontmatter.loads(path.read_text("utf-8")).content for path in notes(vault)]


def test_what_other_sections_of_the_session_hid_stays_hidden(vault: Path, ask: Run, transcript: Path) -> None:
    type_in(transcript, "first <private>the-badger-moves</private>")
    send(bash("<private>Quimbleton</private>"))
    type_in(transcript, "Deploy <private>box7</private> for Quimbleton when the-badger-moves", 2)

    ask("privacy", "keep-last", check=True)

    assert bodies(vault)[-1] == "Deploy box7 for [PRIVATE] when [PRIVATE]"


def test_the_hidden_part_of_the_last_prompt_is_stored_without_its_tags(vault: Path, ask: Run, transcript: Path) -> None:
    type_in(transcript, "first <private>S1</private>")
    type_in(transcript, "Deploy <private>to box7, [private]quick[/private]ly</private> with password=hunter2 now", 2)
    before = notes(vault)

    done = ask("privacy", "keep-last", check=True)

    assert notes(vault) == before
    assert before[1].relative_to(vault).as_posix() in done.stdout
    assert bodies(vault) == ["first [PRIVATE]", "Deploy to box7, quickly with password=[REDACTED] now"]
    meta = note.parse(before[1].read_bytes()).meta
    assert (meta["title"], meta["prompt"], meta["sequence"], meta.get("private")) == (
        "Deploy to box7, quickly with password=[REDACTED] now", 2, 0, None,
    )  # fmt: skip
    assert not note.is_edited(note.parse(before[1].read_bytes()))
    assert ask("privacy", "keep-last").returncode == 5, "it is done"


def test_what_is_kept_is_no_longer_masked_where_the_agent_repeats_it(vault: Path, ask: Run, transcript: Path) -> None:
    type_in(transcript, "One <private>heron-box-42</private>")
    type_in(transcript, "Deploy <private>to badger-box-77</private> now", 2)

    ask("privacy", "keep-last", check=True)
    send(bash("on badger-box-77, not on heron-box-42", number=2))

    assert "on badger-box-77, not on [PRIVATE]" in bodies(vault)[-1]


def test_a_later_private_prompt_that_no_hook_was_told_of_does_not_take_the_place_of_the_last(
    vault: Path, ask: Run, transcript: Path
) -> None:
    now = datetime.now(UTC)
    saved = []
    for minutes, text in (
        (-60, "old <private>heron</private>"),
        (0, "Deploy <private>box7</private>"),
        (60, "later <private>S3</private>"),
    ):
        at = (now + timedelta(minutes=minutes)).isoformat()
        message = {"role": "user", "content": text}
        saved.append({"type": "user", "sessionId": SESSION, "uuid": text, "timestamp": at, "message": message})
    transcript.parent.mkdir(parents=True)
    transcript.write_text("".join(json.dumps(line) + "\n" for line in saved), encoding="utf-8")
    send(prompt("Deploy <private>box7</private>", transcript_path=str(transcript)))

    ask("privacy", "keep-last", check=True)

    assert bodies(vault) == ["Deploy box7"]


def test_text_behind_a_tag_that_was_not_closed_comes_back(vault: Path, ask: Run, transcript: Path) -> None:
    type_in(transcript, "deploy it <private>to box7, and why?")
    assert bodies(vault) == ["deploy it [PRIVATE]"]

    ask("privacy", "keep-last", check=True)

    assert bodies(vault) == ["deploy it to box7, and why?"]


def test_a_wholly_private_prompt_is_stored_and_the_rest_of_its_turn_stays_private(
    vault: Path, ask: Run, transcript: Path
) -> None:
    type_in(transcript, "[PRIVATE] the whole of it")
    send(bash("a run"))
    assert notes(vault) == []

    ask("privacy", "keep-last", check=True)
    send(stop("an answer"))

    assert bodies(vault) == ["the whole of it"]


def test_a_note_that_its_owner_edited_is_left_alone(vault: Path, ask: Run, transcript: Path) -> None:
    type_in(transcript, "Deploy <private>to box7</private> now")
    (path,) = notes(vault)
    path.write_text(path.read_text("utf-8").replace("Deploy", "Send"), encoding="utf-8")

    done = ask("privacy", "keep-last")

    assert done.returncode == 2
    assert "was edited since" in done.stderr
    assert "box7" not in path.read_text("utf-8")


def test_without_a_transcript_nothing_can_be_kept_and_the_message_says_so(vault: Path, ask: Run) -> None:
    assert "Nothing was kept out" in ask("privacy", "keep-last").stderr
    send(prompt("Deploy <private>to box7</private> now"))

    done = ask("privacy", "keep-last")

    assert done.returncode == 5
    assert "Type the text again without its tags" in done.stderr


def test_no_private_text_is_kept_for_it(vault: Path, home: Path, transcript: Path) -> None:
    type_in(transcript, "Deploy <private>to box7</private> now")

    state = Path(config.load().state_dir)
    assert (state / "last-hidden").stat().st_mode & 0o077 == 0
    for path in (path for path in home.rglob("*") if path.is_file()):
        assert b"box7" not in path.read_bytes()


TEXT = "Deploy <private>to box7</private> now"


def lines_of(agent: str, session: str, folder: str) -> list[dict[str, Any]]:
    """Return how an agent saves a session in which `TEXT` was typed."""
    at = {"timestamp": "2026-09-14T08:01:00.000Z"}
    if agent == "codex":
        said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TEXT}]}
        return [
            {**at, "type": "session_meta", "payload": {"id": session, "cwd": folder, "originator": "codex_cli_rs"}},
            {**at, "type": "turn_context", "payload": {"turn_id": "turn-1", "cwd": folder}},
            {**at, "type": "response_item", "payload": said},
            {**at, "type": "event_msg", "payload": {"type": "user_message", "message": TEXT}},
        ]
    if agent == "gemini":
        return [
            {"sessionId": session, "projectHash": "f00d", "startTime": at["timestamp"], "kind": "main"},
            {"id": "m1", **at, "type": "user", "content": [{"text": TEXT}]},
        ]
    return [
        {**at, "type": "session.start", "data": {"sessionId": session, "context": {"cwd": folder}}},
        {**at, "type": "user.message", "data": {"content": TEXT, "messageId": "m1"}},
    ]


@pytest.mark.parametrize(
    ("agent", "name", "event"),
    [
        ("codex", "rollout-2026-09-14T08-00-00-01a0a6c3-150f-7531-90e8-361bef6359df.jsonl", "UserPromptSubmit"),
        ("gemini", "session-2026-09-14T08-00-01a0a6c3.jsonl", "BeforeAgent"),
        ("copilot", "01a0a6c3-150f-7531-90e8-361bef6359df/events.jsonl", "UserPromptSubmit"),
    ],
)
def test_it_works_with_every_agent_whose_transcripts_are_read(
    vault: Path, ask: Run, tmp_path: Path, agent: str, name: str, event: str
) -> None:
    session, folder = "01a0a6c3-150f-7531-90e8-361bef6359df", "/home/dev/work/notes-app"
    path = tmp_path / "sessions" / name
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines_of(agent, session, folder)), encoding="utf-8")
    given = {"hook_event_name": event, "session_id": session, "cwd": folder, "prompt": TEXT, "turn_id": "turn-1"}
    hook.run([agent], json.dumps({**given, "transcript_path": str(path)}).encode())
    assert bodies(vault) == ["Deploy [PRIVATE] now"]

    ask("privacy", "keep-last", check=True)

    assert bodies(vault) == ["Deploy to box7 now"]


NOTHING = [
    ("cursor", "beforeSubmitPrompt", "What cursor saved does not contain the prompt"),
    ("opencode", "UserPromptSubmit", "opencode keeps no transcript that mdmem can read at"),
]


@pytest.mark.parametrize(("agent", "event", "said"), NOTHING)
def test_it_says_of_an_agent_that_saved_nothing_that_there_is_none(
    vault: Path, ask: Run, agent: str, event: str, said: str
) -> None:
    given = {
        "hook_event_name": event,
        "session_id": "c1",
        "conversation_id": "c1",
        "prompt": TEXT,
        "cwd": "/home/dev/x",
    }
    hook.run([agent], json.dumps(given).encode())

    done = ask("privacy", "keep-last")

    assert done.returncode == 5
    assert said in done.stderr
    assert "Type the text again without its tags" in done.stderr


def test_cursors_own_transcript_holds_the_prompt(vault: Path, ask: Run, tmp_path: Path) -> None:
    path = tmp_path / "agent-transcripts" / SESSION / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    said = ["first", "Deploy <private>to box7</private> now\n\nand tell me"]
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text": f"<user_query>\n{one}\n</user_query>"}]}}
        for one in said
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    for one in said:
        event = {"hook_event_name": "beforeSubmitPrompt", "conversation_id": SESSION, "generation_id": one[:3]}
        hook.run(
            ["cursor"],
            json.dumps(
                {**event, "workspace_roots": ["/home/dev/app"], "transcript_path": str(path), "prompt": one}
            ).encode(),
        )

    ask("privacy", "keep-last", check=True)

    assert bodies(vault) == ["first", "Deploy to box7 now\n\nand tell me"]


def test_opencodes_own_database_holds_the_prompt(vault: Path, ask: Run, home: Path) -> None:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": '"Deploy <private>to box7</private> now"'},
        {"type": "text", "text": "what a file holds", "synthetic": True},
        {"type": "step-start"},
    ]
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE session (id, parent_id, directory, time_created)")
        db.execute("CREATE TABLE message (id, session_id, time_created, data)")
        db.execute("CREATE TABLE part (id, message_id, time_updated, data)")
        db.execute("INSERT INTO session VALUES ('ses_1', NULL, '/home/dev/app', 1)")
        db.execute("INSERT INTO message VALUES ('msg_1', 'ses_1', 1, '{\"role\": \"user\"}')")
        db.executemany(
            "INSERT INTO part VALUES (?, 'msg_1', 1, ?)",
            [(f"prt_{n}", json.dumps(one)) for n, one in enumerate(parts)],
        )
        db.commit()
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "ses_1", "prompt_id": "msg_1", "cwd": "/home/dev/app"}
    hook.run(["opencode"], json.dumps({**event, "prompt": parts[0]["text"]}).encode())
    assert bodies(vault) == ["Deploy [PRIVATE] now"]

    ask("privacy", "keep-last", check=True)

    assert bodies(vault) == ["Deploy to box7 now"]
