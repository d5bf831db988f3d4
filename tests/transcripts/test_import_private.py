"""What a transcript holds that was private in the session stays out of the vault, whichever agent saved it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.agents import opencode
from mdmem.vault import note
from tests.conftest import notes
from tests.helpers import rights
from tests.helpers.transcript_files import Talk, bring

Run = Callable[..., subprocess.CompletedProcess[str]]

SECRET = "the-badger-moves-at-dawn"


class Rollout:
    """A rollout of Codex, as its newest version writes it (`sources`), or an older one."""

    def __init__(self, *, sources: bool) -> None:
        self.sources = sources
        self.turns = 0
        self.lines: list[dict[str, Any]] = []
        self.add("session_meta", id="01a201a8-e6fd-7251-b7e9-5df0a7a29981", cwd="/home/dev/work/app")
        self.message("<environment_context>\n  <cwd>/home/dev/work/app</cwd>\n</environment_context>", "harness")

    def add(self, kind: str, **payload: Any) -> None:
        stamp = f"2026-09-15T09:{len(self.lines):02d}:00.000Z"
        self.lines.append({"timestamp": stamp, "type": kind, "payload": payload})

    def message(self, text: str, source: str) -> None:
        role, kind = ("assistant", "output_text") if source == "assistant" else ("user", "input_text")
        more: dict[str, Any] = {}
        if self.sources:
            item = {"provenance": {"type": source}}
            more["internal_chat_message_metadata_passthrough"] = {"content_item_metadata": [item]}
        self.add("response_item", type="message", role=role, content=[{"type": kind, "text": text}], **more)

    def turn(self, prompt: str, output: str, answer: str) -> None:
        self.turns += 1
        self.add("turn_context", turn_id=f"turn-{self.turns}", cwd="/home/dev/work/app")
        self.message(prompt, "user")
        call = f"call_{self.turns}"
        given = json.dumps({"command": ["bash", "-lc", f"echo {output}"]})
        self.add("response_item", type="function_call", name="shell", arguments=given, call_id=call)
        self.add("response_item", type="function_call_output", call_id=call, output=output)
        self.message(answer, "assistant")
        self.add("event_msg", type="task_complete", turn_id=f"turn-{self.turns}")

    def save(self, folder: Path) -> Path:
        path = folder / "rollout-2026-09-15T09-00-00-01a201a8-e6fd-7251-b7e9-5df0a7a29981.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path


@pytest.fixture
def stored(vault: Path, home: Path) -> Callable[[], bytes]:
    return lambda: b"\n".join(path.read_bytes() for root in (vault, home) for path in root.rglob("*") if path.is_file())


def titles(vault: Path, kind: str) -> list[str]:
    metas = [note.parse(path.read_bytes()).meta for path in notes(vault)]
    return [str(meta["title"]) for meta in metas if meta["kind"] == kind]


@pytest.mark.parametrize("sources", [True, False])
def test_a_rollouts_turn_whose_prompt_begins_with_a_private_tag_is_not_imported(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes], sources: bool
) -> None:
    rollout = Rollout(sources=sources)
    rollout.turn(f"<private>{SECRET}: all of it</private>", SECRET, f"I see {SECRET}.")
    rollout.turn(f"<private>{SECRET}</private> and what is public", f"it was {SECRET}", f"It is {SECRET}.")

    tally = bring(rollout.save(tmp_path / "sessions"))

    assert SECRET.encode() not in stored()
    assert tally.private == 3
    assert titles(vault, "prompt") == ["[PRIVATE] and what is public"]
    assert len(titles(vault, "observation")) == 1


@pytest.mark.parametrize("sources", [True, False])
def test_a_rollouts_prompt_that_begins_with_an_element_is_a_prompt(vault: Path, tmp_path: Path, sources: bool) -> None:
    rollout = Rollout(sources=sources)
    rollout.turn("<div> is not centered, why?", "ok", "It is now.")

    tally = bring(rollout.save(tmp_path / "sessions"))

    assert titles(vault, "prompt") == ["<div> is not centered, why?"]
    assert tally.skipped["prompt that nobody typed"] == 1


def test_what_the_host_wrote_into_a_typed_message_is_left_out(vault: Path, tmp_path: Path) -> None:
    rollout = Rollout(sources=True)
    items = [{"provenance": {"type": name}} for name in ("harness", "user")]
    texts = [{"type": "input_text", "text": text} for text in ("<plugins>host</plugins>", "Typed by hand")]
    metadata = {"content_item_metadata": items}
    rollout.add("turn_context", turn_id="turn-1")
    rollout.add(
        "response_item",
        type="message",
        role="user",
        content=texts,
        internal_chat_message_metadata_passthrough=metadata,
    )

    bring(rollout.save(tmp_path / "sessions"))

    assert titles(vault, "prompt") == ["Typed by hand"]


def test_what_a_turn_marks_as_private_later_is_masked_in_the_whole_turn(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    talk = Talk()
    talk.typed("Where is it?")
    talk.ran("grep -rn badger .", f"plan.txt:3:{SECRET}")
    talk.ran("cat plan.md", f"<private>\n{SECRET}\n</private>\nthe public end")
    talk.said(f"It is in plan.txt: {SECRET}.")
    talk.typed("And what else?")
    talk.said("Nothing.")

    tally = bring(talk.save(tmp_path / "projects"))

    assert tally.added["observation"] == 2
    assert SECRET.encode() not in stored()


def test_what_only_a_sub_agents_file_marks_as_private_is_masked_in_what_it_reports(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    talk = Talk()
    talk.typed("Where is the plan?")
    sub = Talk()
    sub.session, sub.at = talk.session, talk.at
    sub.typed("Find the plan.")
    sub.ran("cat plan.md", f"<private>\n{SECRET}\n</private>")
    talk.at = sub.at
    talk.ran("ask", f"The plan says {SECRET}.")
    talk.said(f"It says {SECRET}.")
    path = talk.save(tmp_path / "projects")
    below = path.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    sub.save(below).rename(below / "agent-a4d2c8f1e0b3a297.jsonl")

    tally = bring(path)

    assert (tally.added["observation"], tally.added["response"], tally.added["prompt"]) == (1, 1, 1)
    assert SECRET.encode() not in stored()


def test_what_only_a_sub_agents_rollout_marks_as_private_is_masked_in_what_it_reports(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    rollout = Rollout(sources=True)
    rollout.turn("Where is the plan?", f"The plan says {SECRET}.", f"It says {SECRET}.")
    sub = Rollout(sources=True)
    sent = {"thread_spawn": {"parent_thread_id": rollout.lines[0]["payload"]["id"], "depth": 1}}
    sub.lines[0]["payload"] |= {"id": "01a201a8-e6fd-7251-b7e9-5df0a7a29982", "source": {"subagent": sent}}
    sub.turn("Find the plan.", f"<private>{SECRET}</private>", "Found.")
    folder = tmp_path / "sessions" / "2026" / "09" / "15"
    path = rollout.save(folder)
    path.rename(path.with_name(path.name + ".kept"))
    sub.save(folder).rename(folder / "rollout-2026-09-15T09-01-00-01a201a8-e6fd-7251-b7e9-5df0a7a29982.jsonl")
    path.with_name(path.name + ".kept").rename(path)

    tally = bring(tmp_path / "sessions")

    assert (tally.added["observation"], tally.added["response"], tally.added["prompt"]) == (1, 1, 1)
    assert SECRET.encode() not in stored()


def test_what_only_a_sub_agents_chat_marks_as_private_is_masked_in_what_it_reports(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    def save(path: Path, session: str, kind: str, prompt: str, output: str, answer: str) -> None:
        run = {"id": f"{session}-1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success"}
        result = [{"functionResponse": {"response": {"output": output}}}]
        messages: list[dict[str, Any]] = [
            {"id": f"{session}-a", "type": "user", "content": prompt},
            {"id": f"{session}-b", "type": "gemini", "content": "", "toolCalls": [{**run, "result": result}]},
            {"id": f"{session}-c", "type": "gemini", "content": answer},
        ]
        stamped = [{**one, "timestamp": f"2026-09-15T09:0{at}:00.000Z"} for at, one in enumerate(messages)]
        head = {"sessionId": session, "projectHash": "0" * 64, "startTime": "2026-09-15T09:00:00.000Z", "kind": kind}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in [head, *stamped]), encoding="utf-8")

    chats = tmp_path / "tmp" / "app" / "chats"
    save(chats / "session-2026-09-15T09-00-abd20e19.jsonl", "abd20e19", "main", "Where?", f"At {SECRET}.", f"{SECRET}!")
    save(chats / "abd20e19" / "93f5a11e.jsonl", "93f5a11e", "subagent", "Look.", f"<private>{SECRET}</private>", "Ok.")

    tally = bring(chats)

    assert (tally.added["observation"], tally.added["response"], tally.added["prompt"]) == (1, 1, 1)
    assert SECRET.encode() not in stored()


def test_what_was_private_in_a_prompt_that_was_taken_back_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    talk = Talk()
    talk.typed("Where is the plan?")
    asked = talk.said("Which one?")
    talk.typed(f"The plan of <private>{SECRET}</private>")
    talk.ran("cat notes.md", "nothing")
    talk.last = asked  # as a rewind leaves it
    talk.typed("The one in plan.md")
    talk.ran("cat plan.md", f"plan: {SECRET}")
    talk.said("It is there.")

    tally = bring(talk.save(tmp_path / "projects"))

    assert tally.skipped["line on a dead branch"] > 0
    assert tally.added["prompt"] == 2
    assert SECRET.encode() not in stored()


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("user", {"isMeta": True, "message": {"role": "user", "content": f"Read <private>{SECRET}</private>."}}),
        (
            "user",
            {"message": {"role": "user", "content": f"<bash-input>echo '<private>{SECRET}</private>'</bash-input>"}},
        ),
        (
            "attachment",
            {"attachment": {"type": "file", "content": {"file": {"content": f"<private>{SECRET}</private>"}}}},
        ),
    ],
)
def test_what_was_private_in_a_line_that_leaves_nothing_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes], kind: str, fields: dict[str, Any]
) -> None:
    talk = Talk()
    talk.typed("Where is the plan?")
    talk.line(kind, **fields)
    talk.ran("cat plan.md", f"plan: {SECRET}")
    talk.said(f"It says {SECRET}.")

    tally = bring(talk.save(tmp_path / "projects"))

    assert (tally.added["observation"], tally.added["response"], tally.added["prompt"]) == (1, 1, 1)
    assert SECRET.encode() not in stored()


@pytest.mark.parametrize("before", [(), ("/review",)], ids=["the session", "a command that waits for its answer"])
def test_what_was_private_in_a_line_that_only_begins_something_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes], before: tuple[str, ...]
) -> None:
    talk = Talk()
    for words in before:
        talk.line("user", message={"role": "user", "content": f"<command-name>{words}</command-name>"})
    shown = "<bash-input>echo '<private>the Lorbquist fund</private>'</bash-input>"
    talk.line("user", message={"role": "user", "content": shown})
    talk.typed("Where is the plan?")
    talk.said("It is in the folder of Lorbquist.")

    bring(talk.save(tmp_path / "projects"))

    assert b"It is in the folder of" in stored()
    assert b"Lorbquist" not in stored()


def test_a_secret_that_a_persons_own_command_showed_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    talk = Talk()
    talk.line("user", message={"role": "user", "content": "<bash-input>cat .env</bash-input>"})
    shown = "<bash-stdout>DB_PASSWORD=kW8rtq-Lom4</bash-stdout><bash-stderr></bash-stderr>"
    talk.line("user", message={"role": "user", "content": shown})
    talk.typed("Where is the plan?")
    talk.said("Log in with kW8rtq-Lom4.")

    tally = bring(talk.save(tmp_path / "projects"))

    assert (tally.added["prompt"], tally.added["response"]) == (1, 1)
    assert b"kW8rtq-Lom4" not in stored()


def test_a_secret_that_a_persons_own_command_showed_in_a_rollout_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    rollout = Rollout(sources=True)
    output = "<result>\nExit code: 0\nOutput:\nDB_PASSWORD=kW8rtq-Lom4\n</result>"
    rollout.message(
        f"<user_shell_command>\n<command>\ncat .env\n</command>\n{output}\n</user_shell_command>", "harness"
    )
    rollout.turn("Where is the plan?", "ok", "Log in with kW8rtq-Lom4.")

    tally = bring(rollout.save(tmp_path / "sessions"))

    assert (tally.added["prompt"], tally.added["response"]) == (1, 1)
    assert b"kW8rtq-Lom4" not in stored()


class GeminiChat:
    """A chat of Gemini CLI, line by line."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = [
            {"sessionId": "abd20e19", "projectHash": "0" * 64, "startTime": "2026-09-15T09:00:00.000Z", "kind": "main"}
        ]

    def say(self, name: str, kind: str, words: str, output: str = "") -> dict[str, Any]:
        stamp = f"2026-09-15T09:00:{len(self.lines):02d}.000Z"
        line: dict[str, Any] = {"id": name, "type": kind, "content": words, "timestamp": stamp}
        if output:
            run = {"id": f"{name}-1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success"}
            line["toolCalls"] = [{**run, "result": [{"functionResponse": {"response": {"output": output}}}]}]
        self.lines.append(line)
        return line

    def save(self, folder: Path) -> Path:
        path = folder / "tmp" / "app" / "chats" / "session-2026-09-15T09-00-abd20e19.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path


@pytest.mark.parametrize("agent", ["codex", "gemini"])
def test_what_an_agent_marks_as_private_before_a_tool_run_is_masked_in_its_answer(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes], agent: str
) -> None:
    said = f"I read <private>{SECRET}</private> first."
    chat, rollout = GeminiChat(), Rollout(sources=True)
    chat.say("a", "user", "Where is the plan?")
    chat.say("b", "gemini", said, f"plan: {SECRET}")
    chat.say("c", "gemini", f"It says {SECRET}.")
    rollout.turn("Where is the plan?", f"plan: {SECRET}", f"It says {SECRET}.")
    place = next(at for at, line in enumerate(rollout.lines) if line["payload"].get("type") == "function_call")
    stamp = rollout.lines[place]["timestamp"]
    spoken = {"type": "agent_message", "message": said}
    rollout.lines.insert(place, {"timestamp": stamp, "type": "event_msg", "payload": spoken})

    tally = bring((chat if agent == "gemini" else rollout).save(tmp_path))

    assert (tally.added["observation"], tally.added["response"]) == (1, 1)
    assert SECRET.encode() not in stored()


def test_a_chats_private_prompt_that_was_left_out_when_it_was_resumed_hides_its_turn(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    chat = GeminiChat()
    chat.say("a", "user", "What is public?")
    said = [chat.say("b", "gemini", "This.")]
    chat.say("c", "user", f"[private] what of {SECRET}?")
    said.append(chat.say("d", "gemini", f"It is {SECRET}."))
    chat.lines.append({"$set": {"messages": said}})  # as a resumed chat begins
    chat.say("e", "user", "And what else?")
    chat.say("f", "gemini", "Nothing.", "ls")

    tally = bring(chat.save(tmp_path))

    assert titles(vault, "prompt") == ["What is public?", "And what else?"]
    assert tally.private > 0
    assert SECRET.encode() not in stored()


def test_what_was_private_in_a_chats_prompt_that_was_taken_back_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    chat = GeminiChat()
    chat.say("a", "user", f"Where is <private>{SECRET}</private>?")
    chat.say("b", "gemini", "Nowhere.")
    chat.lines.append({"$rewindTo": "a"})
    chat.say("c", "user", "Where is the plan?")
    chat.say("d", "gemini", "", f"plan: {SECRET}")
    chat.say("e", "gemini", f"It says {SECRET}.")

    tally = bring(chat.save(tmp_path))

    assert (tally.added["prompt"], tally.added["observation"], tally.added["response"]) == (1, 1, 1)
    assert SECRET.encode() not in stored()


class CopilotSession:
    """A session of Copilot CLI, line by line."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.add("session.start", sessionId="96c78b9e", context={"cwd": "/home/dev/work/app"})

    def add(self, kind: str, agent: str = "", **data: Any) -> None:
        stamp = f"2026-09-15T09:00:{len(self.lines):02d}.000Z"
        self.lines.append({"type": kind, "timestamp": stamp, "data": data, **({"agentId": agent} if agent else {})})

    def run(self, call: str, output: str, agent: str = "") -> None:
        self.add("tool.execution_start", agent, toolCallId=call, toolName="bash", arguments={"command": "cat plan.md"})
        result = {"content": output, "detailedContent": output}
        self.add("tool.execution_complete", agent, toolCallId=call, toolName="bash", success=True, result=result)

    def save(self, folder: Path) -> Path:
        path = folder / "96c78b9e" / "events.jsonl"
        path.parent.mkdir()
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path


def test_what_only_a_sub_agent_of_copilot_met_in_private_is_masked_in_what_it_reports(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes]
) -> None:
    session = CopilotSession()
    session.add("user.message", messageId="m1", content="Where is the plan?")
    session.run("c1", f"<private>{SECRET}</private>", "sub-1")
    session.run("c2", f"The plan says {SECRET}.")
    session.add("assistant.message", messageId="m2", content=f"It says {SECRET}.")

    tally = bring(session.save(tmp_path))

    assert (tally.added["observation"], tally.added["prompt"], tally.added["response"]) == (1, 1, 1)
    assert SECRET.encode() not in stored()


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("user.message", {"source": "agent-7", "content": f"Read <private>{SECRET}</private>."}),
        ("user.message", {"content": "And now?", "transformedContent": f"And now?\n<private>{SECRET}</private>"}),
        ("system.message", {"role": "system", "content": f"Never tell <private>{SECRET}</private>."}),
        ("hook.end", {"output": {"additionalContext": f"of <private>{SECRET}</private>"}}),
    ],
)
def test_what_was_private_in_a_line_of_copilot_that_leaves_nothing_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes], kind: str, data: dict[str, Any]
) -> None:
    session = CopilotSession()
    session.add("user.message", messageId="m1", content="Where is the plan?")
    session.add("assistant.message", messageId="m2", content="In the folder.")
    session.add(kind, messageId="m3", **data)
    session.run("c1", f"The plan says {SECRET}.")
    session.add("assistant.message", messageId="m4", content=f"It says {SECRET}.")

    tally = bring(session.save(tmp_path))

    assert tally.added["observation"] == 1
    assert SECRET.encode() not in stored()


@pytest.mark.parametrize(
    "message",
    [
        {"content": f"<session_context>\nOf <private>{SECRET}</private>\n</session_context>"},
        {"displayContent": "Read @plan.md", "content": f"Read @plan.md\n<private>{SECRET}</private>"},
        {"content": f"<hook_context><private>{SECRET}</private></hook_context>\n\nWhere is it?"},
    ],
)
def test_what_the_host_added_in_private_to_a_chat_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes], message: dict[str, str]
) -> None:
    chat = GeminiChat()
    chat.say("a", "user", "Where is the plan?")
    chat.say("b", "user", "").update(message)
    chat.say("c", "gemini", "", f"plan: {SECRET}")
    chat.say("d", "gemini", f"It says {SECRET}.")

    tally = bring(chat.save(tmp_path))

    assert (tally.added["observation"], tally.added["response"]) == (1, 1)
    assert SECRET.encode() not in stored()


@pytest.mark.parametrize(
    "line",
    [
        {
            "type": "event_msg",
            "payload": {"type": "task_complete", "last_agent_message": f"<private>{SECRET}</private>"},
        },
        {"type": "compacted", "payload": {"message": "", "retained_context": f"of <private>{SECRET}</private>"}},
        {"type": "turn_context", "payload": {"turn_id": "9", "user_instructions": f"<private>{SECRET}</private>"}},
    ],
)
def test_what_was_private_in_a_line_of_a_rollout_that_ends_something_is_masked_in_what_followed(
    vault: Path, tmp_path: Path, stored: Callable[[], bytes], line: dict[str, Any]
) -> None:
    rollout = Rollout(sources=True)
    rollout.turn("Where is the badger?", "ok", "In the folder.")
    rollout.lines[-1] = {**line, "timestamp": rollout.lines[-1]["timestamp"]}
    rollout.turn("Where is the plan?", f"plan: {SECRET}", f"It says {SECRET}.")

    tally = bring(rollout.save(tmp_path))

    assert tally.added["observation"] == 2
    assert SECRET.encode() not in stored()


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        ('"<private>all of it</private>"', "<private>all of it</private>"),
        (r'"say \"hi\" to them"', 'say "hi" to them'),
        ('"one" and "two"', '"one" and "two"'),
        ('"word"', '"word"'),
        ('"', '"'),
        ("plain words", "plain words"),
    ],
)
def test_a_one_shot_prompt_of_opencode_is_read_without_its_quotation_marks(sent: str, typed: str) -> None:
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": sent}

    assert opencode.read(payload, {}).prompt == typed


@rights.kept_out
def test_an_import_that_cannot_remember_what_is_private_says_so_and_the_next_one_stores_the_session(
    vault: Path, home: Path, tmp_path: Path, stored: Callable[[], bytes], mdmem: Run
) -> None:
    rollout = Rollout(sources=True)
    rollout.turn("read it", f"it was {SECRET}", f"See <private>{SECRET}</private>.")
    saved = rollout.save(home / ".codex" / "sessions")
    memory = Path(config.load().state_dir) / "private"
    memory.mkdir(parents=True)
    memory.chmod(0o500)

    refused = rights.run([sys.executable, "-m", "mdmem", "import", "--yes", str(saved)])
    held_back = SECRET.encode() not in stored().replace(saved.read_bytes(), b"")
    memory.chmod(0o700)
    done = mdmem("import", "--yes", str(saved), check=True)

    assert refused.returncode == 1
    assert "Nothing new to import" not in refused.stdout
    assert "what is private in them cannot be remembered" in refused.stderr
    assert held_back
    assert "1 observation, 1 prompt, 1 response" in done.stdout
    assert SECRET.encode() not in stored().replace(saved.read_bytes(), b"")


def test_an_import_into_a_session_whose_private_memory_is_lost_leaves_no_marks_for_the_live_session(
    vault: Path, home: Path, tmp_path: Path, mdmem: Run
) -> None:
    rollout = Rollout(sources=True)
    rollout.turn("read it", "ok", f"See <private>{SECRET}</private>.")
    saved = rollout.save(home / ".codex" / "sessions")
    mdmem("import", "--yes", str(saved), check=True)
    (Path(config.load().state_dir) / "private" / "key").write_bytes(b"damaged")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    rollout.turn("and now", "fine", f"Again <private>{SECRET}</private>.")
    rollout.save(home / ".codex" / "sessions")

    done = mdmem("import", "--yes", str(saved), env={"TMPDIR": str(temporary)})

    assert "events of private turns skipped" in done.stdout
    assert not [*temporary.iterdir()]
