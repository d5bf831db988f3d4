"""OpenCode's plugin: what happens there reaches the hook in its order, and what is remembered reaches the model."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mdmem import agents
from mdmem.agents.install import plugin_file, registration
from mdmem.agents.install.catalog import row_of

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js to run the plugin as OpenCode would")

# A session as OpenCode plays it to a plugin: hooks by name, then whether it stays silent on nonsense.
PLAY = """
import { MdmemPlugin } from "./mdmem.mjs"

const toasts = []
const client = {
  session: {
    get: async ({ path }) => ({ data: path.id === "child" ? { parentID: "main" } : {} }),
    messages: async () => ({ data: [
      { info: { role: "assistant", parentID: "m0", tokens: { input: 9 } }, parts: [{ type: "text", text: "old" }] },
      { info: { role: "user", id: "m1" }, parts: [{ type: "text", text: "Sort the notes." }] },
      { info: { role: "assistant", parentID: "m1", tokens: { input: 700, output: 20, cache: { read: 90, write: 10 } } },
        parts: [{ type: "tool", tool: "bash" }] },
      { info: { role: "assistant", parentID: "m1", tokens: { input: 200, output: 5 } },
        parts: [{ type: "reasoning", text: "hm" }, { type: "text", text: "Sorted." }] },
      { info: { role: "assistant", parentID: "m2", summary: true }, parts: [{ type: "text", text: "## Goal" }] },
    ] }),
  },
  tui: { showToast: async (toast) => toasts.push(toast.body.message) },
}
const hooks = await MdmemPlugin({ client, directory: "/home/dev/work", worktree: "/home/dev" })
const message = (id, text) => [
  { sessionID: id, messageID: "msg-" + id, model: { providerID: "p", modelID: "m" } },
  { message: { id: "msg-" + id }, parts: [
    { type: "text", text }, { type: "text", text: "injected", synthetic: true }, { type: "file", url: "x" },
  ] },
]
await hooks["chat.message"](...message("main", "Sort the notes."))
const system = { system: ["You are"] }
await hooks["experimental.chat.system.transform"]({ sessionID: "main" }, system)
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "main", callID: "c1" }, { args: { command: "ls" } })
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "main", callID: "c1" },
  { title: "ls", output: "a.md", metadata: { exit: 3, huge: "dropped" } })
const next = { system: [] }
await hooks["experimental.chat.system.transform"]({ sessionID: "main" }, next)
await hooks["chat.message"](...message("child", "Find callers."))
await hooks.event({ event: { type: "session.error", properties: { sessionID: "main", error: { name: "Boom" } } } })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "main" } } })
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "main" } } } })
await hooks.event({ event: { type: "something.new" } })
await hooks["chat.message"](undefined, undefined)
await hooks["tool.execute.after"]({}, null)
await hooks.dispose()
console.log(JSON.stringify({ system: system.system, next: next.system, toasts }))
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    log = tmp_path / "log"
    lines = {
        "hook": f"""p=$(cat); printf '%s\\n' "$p" >>'{log}'
            case $p in
                *'"exit":3'*) said='"context": "solved before"' ;;
                *'"answer":true'*) said='"context": "remembered"' ;;
                *) said='"message": "told"' ;;
            esac
            printf "{{%s}}\\n" "$said"
        """,
        "inject": f"""cat >/dev/null; echo '"inject"' >>'{log}'""",
        "commit": f"""cat >/dev/null; echo '"commit"' >>'{log}'""",
    }
    monkeypatch.setattr(plugin_file, "command", lambda verb, *_, **__: lines[verb])
    text = plugin_file.render(row_of("opencode"), "")
    (tmp_path / "mdmem.mjs").write_text(text, "utf-8")
    (tmp_path / "play.mjs").write_text(PLAY, "utf-8")
    done = subprocess.run(["node", "play.mjs"], cwd=tmp_path, capture_output=True, timeout=240)
    assert (done.returncode, done.stderr) == (0, b"")
    sent = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return json.loads(done.stdout), sent


def test_a_session_reaches_the_hook_in_its_order(played: tuple[dict[str, Any], list[Any]]) -> None:
    sent = [payload for payload in played[1] if isinstance(payload, dict)]
    main = [payload for payload in sent if payload["session_id"] == "main"]
    events = [agents.load("opencode").read(payload, {}) for payload in main]

    assert [event.name for event in events] == [
        "SessionStart", "UserPromptSubmit", "PostToolUseFailure", "StopFailure", "Stop", "SessionEnd",
    ]  # fmt: skip
    assert {event.cwd for event in events} == {"/home/dev/work"}
    assert {event.prompt_id for event in events} == {"msg-main"}
    assert events[1].prompt == "Sort the notes."
    assert events[1].extra["model"] == "p/m"
    assert (events[2].tool, events[2].tool_input, events[2].tool_use_id) == ("bash", {"command": "ls"}, "c1")
    assert (events[2].error, events[2].tool_response) == ("Exit code 3\na.md", "a.md")
    assert events[3].extra["error"] == "Boom"
    assert events[4].message == "Sorted."
    assert (events[4].extra["tokens_in"], events[4].extra["tokens_out"]) == ("1000", "25")


@pytest.mark.slow
def test_a_subagents_session_is_told_from_its_parents(played: tuple[dict[str, Any], list[Any]]) -> None:
    child = [payload for payload in played[1] if isinstance(payload, dict) and payload["session_id"] == "child"]

    assert child
    assert all(agents.load("opencode").read(payload, {}).subagent for payload in child)


def test_memories_reach_the_model_and_messages_the_user(played: tuple[dict[str, Any], list[Any]]) -> None:
    assert played[0]["system"] == ["You are", "remembered", "remembered"]
    assert set(played[0]["toasts"]) == {"told"}


@pytest.mark.slow
def test_a_prompt_is_stored_and_answered_by_one_process(played: tuple[dict[str, Any], list[Any]]) -> None:
    assert "inject" not in played[1]


def test_how_a_failure_was_solved_before_reaches_the_request_after_it(played: tuple[dict[str, Any], list[Any]]) -> None:
    assert "solved before" not in played[0]["system"]
    assert played[0]["next"][-1] == "solved before"


@pytest.mark.slow
def test_the_end_of_a_turn_commits(played: tuple[dict[str, Any], list[Any]]) -> None:
    assert played[1].count("commit") == 1


def test_somebody_elses_plugin_of_that_name_is_left_alone(home: Path) -> None:
    path = Path(registration.status("opencode").path)
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = async () => ({})\n", "utf-8")

    for act in (registration.register, registration.unregister):
        with pytest.raises(Exception, match="not changed"):
            act("opencode")
    assert registration.status("opencode").state == "unreadable"
    assert path.read_text("utf-8") == "export const Mine = async () => ({})\n"


def test_a_plugin_changed_by_hand_is_outdated_and_can_be_renewed(home: Path) -> None:
    path = Path(registration.register("opencode").path)
    path.write_text(path.read_text("utf-8").replace("const MAX_CONTEXTS = 4", "const MAX_CONTEXTS = 9"), "utf-8")

    assert registration.status("opencode").state == "outdated"
    assert registration.register("opencode").action == "updated"
    assert registration.status("opencode").state == "registered"
    assert registration.unregister("opencode").action == "deleted"
    assert not path.parent.exists()
