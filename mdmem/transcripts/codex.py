"""Codex's rollouts: one JSONL file a session, each line `{timestamp, type, payload}`.

What the user typed stands there twice, as an event and as an item for the model, beside other items of the
user's role that nobody typed: the events are taken, and the items only from a file that has no events.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mdmem.agents import codex, text
from mdmem.agents.dialect import decoded, made_id
from mdmem.transcripts.answer import Answer
from mdmem.transcripts.lines import Lines
from mdmem.transcripts.saved import QUIET_SECONDS, Saved, Skipped, Tell, moment, untold

_SHELLS = frozenset(["shell", "exec_command", "local_shell", "container.exec", "shell_command"])
_HOOKED = ("apply_patch", "mcp__")
_REQUEST = "## My request for Codex:"
_UNTYPED = ("<", "# AGENTS.md instructions")
_FORK_SECONDS = 1.0
"""What a fork copies into its new file is written at once, with the time of the fork."""


def folder(env: Mapping[str, str]) -> Path:
    """Name the folder of all rollouts."""
    return Path(codex.folder(env)) / "sessions"


def find(root: Path) -> Iterator[Path]:
    """Find the rollouts below `root`."""
    yield from sorted(root.rglob("rollout-*.jsonl"))


def read(path: Path, skipped: Skipped, now: float, *, subagents: bool = False, tell: Tell = untold) -> Iterator[Saved]:
    """Give a session's events, oldest first; a sub-agent's session, a file of its own, has none.

    Raises:
        OSError: when the file cannot be read.
    """
    del subagents
    reader = Reader(str(path), path.stat().st_mtime, skipped, events=_has_events(path))
    for line in Lines(path, skipped).telling(tell):
        yield from reader.feed(line)
    yield from reader.finish(now)


def _has_events(path: Path) -> bool:
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return True
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            return view.find(b'"user_message"') >= 0


class Reader:
    """Turns the lines of one rollout into events.

    since: the time to use until a line has one. events: what was typed comes as events, not only as items.
    """

    def __init__(self, path: str, since: float, skipped: Skipped, *, events: bool) -> None:
        self._path = path
        self._skipped = skipped
        self._events = events
        self._at = since
        self._session = self._cwd = self._branch = self._commit = self._turn = ""
        self._forked_at = 0.0
        self._foreign = False
        self._typed = 0
        self._held: Saved | None = None
        self._calls: dict[str, tuple[str, Any]] = {}
        self._answer = Answer()

    def feed(self, line: dict[str, Any]) -> Iterator[Saved]:
        """Take one line in; give the events that it completes."""
        payload = line.get("payload")
        kind = text(line.get("type"))
        if not isinstance(payload, dict) or kind not in _KINDS:
            self._skipped["line of an unknown kind"] += 1
            return
        self._at = moment(line.get("timestamp")) or self._at
        if kind == "session_meta":
            yield from self._meta(payload)
            return
        if self._foreign or self._at <= self._forked_at:
            self._skipped["sub-agent's line" if self._foreign else _COPIED] += 1
            return
        row = _ROWS.get((kind, text(payload.get("type")) if kind != "turn_context" else ""))
        if row is not None:
            yield from row(self, payload)

    def finish(self, now: float) -> Iterator[Saved]:
        """Give what the end of the file completes."""
        over = now - self._at > QUIET_SECONDS
        if not self._session or self._foreign:
            return
        if over:
            yield from self._release()
            yield from self._said()
            yield self._saved("SessionEnd", reason="as the transcript ends")

    # -- lines -------------------------------------------------------------------------------------

    def _meta(self, payload: dict[str, Any]) -> Iterator[Saved]:
        """Learn whose session this is, from the first such line: a fork's file has its parent's as well."""
        if self._session:
            return
        self._session = text(payload.get("id")) or made_id(self._path)
        self._cwd = text(payload.get("cwd"))
        source = payload.get("source")
        self._foreign = isinstance(source, dict) and "subagent" in source
        self._forked_at = self._at + _FORK_SECONDS if text(payload.get("forked_from_id")) else 0.0
        git = payload.get("git")
        if isinstance(git, dict):
            self._branch, self._commit = text(git.get("branch")), text(git.get("commit_hash"))[:8]
        if not self._foreign:
            yield self._saved("SessionStart", source="startup")

    def _turn_begins(self, payload: dict[str, Any]) -> Iterator[Saved]:
        turn = text(payload.get("turn_id"))
        if turn != self._turn:
            yield from self._said()
            self._turn, self._typed = turn, 0
        self._cwd = text(payload.get("cwd")) or self._cwd
        yield from self._release()

    def _user(self, payload: dict[str, Any]) -> Iterator[Saved]:
        yield from self._prompted(text(payload.get("message")))

    def _prompted(self, words: str) -> Iterator[Saved]:
        words = words.partition(_REQUEST)[2] if _REQUEST in words else words  # an editor's context stands before it
        if not words.strip():
            return
        if self._turn and self._typed:
            self._answer.clear()  # typed while the agent works: what it said so far is no answer
        yield from self._said()
        yield from self._release()
        self._held = self._saved("UserPromptSubmit", prompt=words)
        if self._turn:
            yield from self._release()

    def _agent(self, payload: dict[str, Any]) -> Iterator[Saved]:
        yield from self._release()
        self._answer.clear()
        self._answer.add("", text(payload.get("message")), self._at)

    def _message(self, payload: dict[str, Any]) -> Iterator[Saved]:
        words = _text(payload.get("content"))
        role = payload.get("role")
        if role == "user" and not self._events:
            if words.lstrip().startswith(_UNTYPED):
                self._skipped["prompt that nobody typed"] += 1
            else:
                yield from self._prompted(words)
        elif role == "assistant":
            yield from self._agent({"message": words})

    def _call(self, payload: dict[str, Any]) -> Iterator[Saved]:
        yield from self._release()
        self._answer.clear()  # what was said before a tool run is no answer
        name = text(payload.get("name")) or "local_shell"
        given = payload.get("arguments", payload.get("input", payload.get("action")))
        self._calls[text(payload.get("call_id"))] = (name, decoded(given))

    def _output(self, payload: dict[str, Any]) -> Iterator[Saved]:
        call = text(payload.get("call_id"))
        name, given = self._calls.pop(call, ("", None))
        if not name:
            self._skipped["tool result without its call"] += 1
        elif name in _SHELLS:
            response = _shell_response(payload.get("output"))
            yield self._saved("PostToolUse", "Bash", {"command": _command(given)}, response, call)
        elif name.startswith(_HOOKED):
            given = given if isinstance(given, dict) else {"command": given}
            yield self._saved("PostToolUse", name, given, _shell_response(payload.get("output")), call)
        else:
            self._skipped["run of a tool without a hook"] += 1

    def _completed(self, payload: dict[str, Any]) -> Iterator[Saved]:
        yield from self._release()
        if not self._answer.text:
            self._answer.add("", text(payload.get("last_agent_message")), self._at)
        yield from self._said()
        self._turn = ""

    def _aborted(self, _: dict[str, Any]) -> Iterator[Saved]:
        yield from self._release()
        self._answer.clear()
        self._turn = ""

    def _compacted(self, payload: dict[str, Any]) -> Iterator[Saved]:
        if text(payload.get("message")).strip():
            yield self._saved("PostCompact", compact_summary=text(payload.get("message")))

    # -- events ------------------------------------------------------------------------------------

    def _release(self) -> Iterator[Saved]:
        """Give the prompt that waited for the id of its turn; what is typed later in a turn gets one of its own."""
        if self._held is None:
            return
        self._typed += 1
        event = self._held.event
        event.prompt_id = self._turn or made_id(self._held.at, event.prompt)
        if self._turn and self._typed > 1:
            event.prompt_id = f"{self._turn}/{self._typed}"
        yield self._held
        self._held = None

    def _said(self) -> Iterator[Saved]:
        """Give the answer that is complete now, if there is one."""
        if self._answer.text:
            yield self._saved("Stop", last_assistant_message=self._answer.text)._replace(at=self._answer.at)
        self._answer.clear()

    def _saved(
        self, name: str, tool: str = "", given: Any = None, response: Any = None, call: str = "", **fields: str
    ) -> Saved:
        """Make an event as the hook does: from a payload, by the same words."""
        payload: dict[str, Any] = {
            "hook_event_name": name,
            "session_id": self._session,
            "turn_id": self._turn,
            "transcript_path": self._path,
            "cwd": self._cwd,
            **fields,
        }
        if tool:
            payload |= {"tool_name": tool, "tool_input": given, "tool_response": response, "tool_use_id": call}
            payload["tool_use_id"] = call or made_id(self._at, tool, given)
        return Saved(self._at, codex.read(payload, {}), self._branch, self._commit)


_KINDS = frozenset(["session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"])
_COPIED = "line of the session that this one was forked from"
_ROWS: dict[tuple[str, str], Callable[[Reader, dict[str, Any]], Iterator[Saved]]] = {
    ("turn_context", ""): Reader._turn_begins,
    ("compacted", ""): Reader._compacted,
    ("event_msg", "task_started"): Reader._turn_begins,
    ("event_msg", "user_message"): Reader._user,
    ("event_msg", "agent_message"): Reader._agent,
    ("event_msg", "task_complete"): Reader._completed,
    ("event_msg", "turn_aborted"): Reader._aborted,
    ("response_item", "message"): Reader._message,
    ("response_item", "function_call"): Reader._call,
    ("response_item", "custom_tool_call"): Reader._call,
    ("response_item", "local_shell_call"): Reader._call,
    ("response_item", "function_call_output"): Reader._output,
    ("response_item", "custom_tool_call_output"): Reader._output,
}
"""A kind of line and of its payload -> what is done with it; what is not here holds nothing an event is made of."""


def _text(content: Any) -> str:
    """Give the texts of a message's items."""
    if not isinstance(content, list):
        return text(content)
    return "\n".join([text(item.get("text")) for item in content if isinstance(item, dict)]).strip("\n")


def _command(given: Any) -> str:
    """Give a command line as the hook does: what the shell was asked to run."""
    found = given.get("command", given.get("cmd")) if isinstance(given, dict) else given
    if isinstance(found, list):
        words = [str(word) for word in found]
        is_shell = len(words) == 3 and words[1] in ("-c", "-lc")
        return words[2] if is_shell else " ".join(words)
    return text(found)


def _shell_response(output: Any) -> Any:
    """Give a command's output in a form that tells its exit code, where the newest one has its own words for it."""
    if isinstance(output, dict):
        output = output.get("content", output)
    if isinstance(output, list):
        output = _text(output)
    if not isinstance(output, str):
        return output
    facts, found, rest = output.partition("\nOutput:\n")
    code = facts.rpartition("Process exited with code ")[2].split("\n")[0].strip() if found else ""
    if "Process exited with code " in facts and code.isdecimal() and len(code) < 10:
        return json.dumps({"output": rest, "metadata": {"exit_code": int(code)}})
    return output
