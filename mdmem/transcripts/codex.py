"""Codex's rollouts: one JSONL file per session, each line `{timestamp, type, payload}`.

A prompt appears twice, as an event and as an item for the model. Other items have the user's role too, although nobody
typed them. So events are used, and items only in files without events.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from mdmem.agents import Event, codex, mapping, number, text
from mdmem.agents.dialect import decoded, made_id
from mdmem.transcripts import codex_text
from mdmem.transcripts.lines import Lines
from mdmem.transcripts.saved import (
    NO_RESULT,
    SPOKEN,
    AnswerParts,
    ReadOptions,
    SavedEvent,
    SessionTokens,
    Skipped,
    Source,
    below,
    ignore_bytes,
    in_order,
    is_quiet,
    may_hold_private,
    moment,
    of_subagent,
    pass_over,
)

_SHELLS = frozenset(["shell", "exec_command", "local_shell", "container.exec", "shell_command"])
_HOOKED = ("apply_patch", "mcp__")
_REQUEST = "## My request for Codex:"
_FORK_SECONDS = 1.0
"""Lines up to this long after a fork are copies: it writes them at once, with the time of the fork."""


find = below("rollout-*.jsonl")


def read(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Return a session's events, oldest first; a sub-agent's session, which has its own file, has none.

    Raises OSError when the file cannot be read.
    """
    session_events = _read(path, options)
    session = path.stem[-_ID_CHARS:]
    is_ignored = options.rules is None or options.subagents
    rollouts = () if is_ignored else _subagent_rollouts(_root(path)).get(session, ())
    private_rollouts = [rollout for rollout in rollouts if may_hold_private(rollout, options.rules)]
    quietly = options._replace(skipped=Skipped(), report=ignore_bytes)
    subagents = [of_subagent(_read(rollout, quietly, subagents=True), session) for rollout in private_rollouts]
    return in_order(session_events, subagents)


def _read(path: Path, options: ReadOptions, *, subagents: bool = False) -> Iterator[SavedEvent]:
    reader = CodexReader(
        str(path),
        path.stat().st_mtime,
        options.skipped,
        events=_contains(path, b'"user_message"'),
        items=_contains(path, _ITEM),
        subagents=subagents,
    )
    for line in Lines(path, options.skipped).telling(options.report):
        yield from reader.feed(line)
        yield from reader.pass_over(line, options)
    yield from reader.finish(options.now)


_ID_CHARS = 36
_HEAD_BYTES = 4096
_PARENT = b'"parent_thread_id":"'


def _root(path: Path) -> Path:
    """Return the folder of all rollouts, which are filed by year, month and day."""
    return path.parents[3] if len(path.parents) > 3 and path.parent.name.isdecimal() else path.parent


@lru_cache(maxsize=2)
def _subagent_rollouts(root: Path) -> dict[str, list[Path]]:
    """Return the sub-agents' rollouts by the id of their parent session."""
    rollouts: dict[str, list[Path]] = {}
    for path in find(root):
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES).replace(b": ", b":")
        parent = head.partition(_PARENT)[2][:_ID_CHARS]
        if parent:
            rollouts.setdefault(parent.decode("ascii", "replace"), []).append(path)
    return rollouts


def is_one(lines: list[dict[str, Any]]) -> bool:
    """Whether these are the first lines of a rollout."""
    kinds = ("session_meta", "response_item", "event_msg")
    return any("payload" in line and line.get("type") in kinds for line in lines)


def _contains(path: Path, marker: bytes) -> bool:
    """Whether a file contains a marker; True for an empty one, which cannot be mapped into memory."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return True
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            return view.find(marker) >= 0


_ITEM = b'"UserMessage"'


_PLAN = "update_plan"
"""The agent's to-do list, for which no hook fires."""


class CodexReader:
    """Turns the lines of one rollout into events.

    subagents: whether a sub-agent's session is read too.
    since: the time to use until a line has one. events: typed prompts come as events, not only as items.
    items: tool runs come as completed items, including those started by the model's scripts; calls only request them.

    _calls: tool runs without a result: call id -> tool and input.
    _running: commands that outlived their first wait: process -> command, output so far, call id.
    _spawned: runs that started a sub-agent: task -> input, call id.
    _held: a prompt that waits for its turn's id. _typed: number of prompts in the turn so far.
    _foreign: this is a sub-agent's session, and these are not read.
    _forked_at: lines up to this time were copied from the parent of a fork.
    """

    def __init__(
        self, path: str, since: float, skipped: Skipped, *, events: bool, items: bool, subagents: bool
    ) -> None:
        self._path = path
        self._skipped = skipped
        self._events = events
        self._items = items
        self._subagents = subagents
        self._running: dict[str, tuple[Any, str, str]] = {}
        self._spawned: dict[str, tuple[Any, str]] = {}
        self._at = since
        self._session = self._cwd = self._branch = self._commit = self._turn = ""
        self._forked_at = 0.0
        self._foreign = False
        self._typed = 0
        self._held: SavedEvent | None = None
        self._calls: dict[str, tuple[str, Any]] = {}
        self._answer = AnswerParts()
        self._tokens = SessionTokens()

    def feed(self, line: dict[str, Any]) -> Iterator[SavedEvent]:
        """Process one line; yield the events that it completes."""
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
            if payload.get("type") == "token_count":
                self._spent(payload)
                self._tokens.begin_turn()
            return
        row = _ROWS.get((kind, text(payload.get("type")) if kind != "turn_context" else ""))
        if row is not None:
            yield from row(self, payload) or ()

    def pass_over(self, line: dict[str, Any], options: ReadOptions) -> Iterator[SavedEvent]:
        """Yield a line's text, if it may be private: its events may lack some of it, or be of earlier lines."""
        words = codex_text.joined(mapping(line.get("payload")).get("content"))
        said = words if words.startswith("<user_shell_command>") else line.get("payload")
        event = Event(codex.NAME, "PostToolUse", self._session, cwd=self._cwd, tool_response=said)
        return pass_over(event, self._at, options)

    def finish(self, now: float) -> Iterator[SavedEvent]:
        """Yield the events that the end of the file completes."""
        if self._session and not self._foreign and is_quiet(self._at, now):
            yield from self._unfinished()
            yield from self._release()
            yield from self._finish_answer()
            yield self._saved("SessionEnd", reason="as the transcript ends")

    # -- lines -------------------------------------------------------------------------------------

    def _meta(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        """Read the session's facts from the first such line; a fork's file also has its parent's."""
        if self._session:
            return
        self._session = text(payload.get("id")) or made_id(self._path)
        self._cwd = text(payload.get("cwd"))
        source = payload.get("source")
        self._foreign = isinstance(source, dict) and "subagent" in source and not self._subagents
        self._forked_at = self._at + _FORK_SECONDS if text(payload.get("forked_from_id")) else 0.0
        git = mapping(payload.get("git"))
        self._branch, self._commit = text(git.get("branch")), text(git.get("commit_hash"))[:8]
        if not self._foreign:
            yield self._saved("SessionStart", source="startup")

    def _turn_begins(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        turn = text(payload.get("turn_id"))
        if turn != self._turn:
            yield from self._unfinished()
            yield from self._finish_answer()
            self._turn, self._typed = turn, 0
            self._tokens.begin_turn()
        self._cwd = text(payload.get("cwd")) or self._cwd
        yield from self._release()

    def _prompted(self, words: str) -> Iterator[SavedEvent]:
        words = words.partition(_REQUEST)[2] if _REQUEST in words else words  # an editor's context comes before it
        if not words.strip():
            return
        if self._turn and self._typed:
            self._answer.clear()  # typed while the agent works: its text so far is not an answer
        yield from self._finish_answer()
        yield from self._release()
        self._held = self._saved("UserPromptSubmit", prompt=words)
        if self._turn:
            yield from self._release()

    def _agent(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        yield from self._release()
        self._answer.clear()
        self._answer.add("", text(payload.get("message")), self._at)

    def _message(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        role = payload.get("role")
        if role == "user" and not self._events:
            words = codex_text.typed(payload)
            if words is None:
                self._skipped["prompt that nobody typed"] += 1
            else:
                yield from self._prompted(words)
        elif role == "assistant":
            yield from self._agent({"message": codex_text.joined(payload.get("content"))})

    def _call(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        yield from self._release()
        self._answer.clear()  # text before a tool run is not an answer
        name = text(payload.get("namespace")) * (payload.get("namespace") == "collaboration")
        name += text(payload.get("name")) or "local_shell"
        tool_input = payload.get("arguments", payload.get("input", payload.get("action")))
        self._calls[text(payload.get("call_id"))] = (name, decoded(tool_input))

    def _output(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        call = text(payload.get("call_id"))
        name, tool_input = self._calls.pop(call, ("", None))
        output = payload.get("output")
        if not name:
            self._skipped["tool result without its call"] += 1
        elif name == codex.SPAWN:
            yield from self._spawn(tool_input, output, call)
        elif name == _PLAN:
            if mapping(tool_input).get("plan"):
                yield self._saved("PostToolUse", name, tool_input, "", call)
        elif self._items and (name in _SHELLS or name.startswith(_HOOKED)):
            return  # it is a completed item, or becomes one
        elif name in _SHELLS or name == "write_stdin":
            yield from self._command(name, tool_input, output, call)
        elif name.startswith(_HOOKED):
            tool_input = tool_input if isinstance(tool_input, dict) else {"command": tool_input}
            if codex_text.is_refused(output):
                self._skipped["tool run that was refused"] += 1
            else:
                yield self._saved("PostToolUse", name, tool_input, codex_text.shell_response(output), call)
        else:
            self._skipped["run of a tool without a hook"] += 1

    def _command(self, name: str, tool_input: Any, output: Any, call: str) -> Iterator[SavedEvent]:
        """Yield a command that has ended; one that outlives its first wait ends with a later `write_stdin`."""
        command, output_so_far = {"command": codex_text.command_line(tool_input)}, ""
        response = codex_text.shell_response(output)
        process = codex_text.process_of(text(response))
        if name == "write_stdin":
            waited_for = str(mapping(tool_input).get("session_id", ""))
            if waited_for not in self._running:
                return
            command, output_so_far, call = self._running.pop(waited_for)
            process = waited_for if process else ""
        if process:
            self._running[process] = (command, output_so_far + text(response).partition("\nOutput:\n")[2], call)
            return
        if output_so_far and type(decoded(response)) is dict:
            response = {**decoded(response), "output": output_so_far + text(decoded(response).get("output"))}
        yield self._saved("PostToolUse", "Bash", command, response, call)

    # -- items -------------------------------------------------------------------------------------

    def _item(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        """Yield a completed item's tool run."""
        item = mapping(payload.get("item"))
        if text(item.get("type")) not in codex_text.RUNS:
            return
        yield from self._release()
        if text(item.get("status")) in ("declined", "inProgress", "in_progress"):
            self._skipped["tool run that was refused"] += 1
            return
        _, tool_input = self._calls.get(text(item.get("id")), ("", None))
        run = codex_text.run_of(item, tool_input, self._cwd)
        if run is None:
            return
        tool, tool_input, response, error = run
        duration = mapping(item.get("duration"))
        if type(duration.get("secs")) is int and type(duration.get("nanos")) is int:
            response["duration_ms"] = duration["secs"] * 1000 + duration["nanos"] // 1_000_000
        fields = {"duration_ms": response.pop("duration_ms", None), "turn_id": text(payload.get("turn_id"))}
        fields = {key: value for key, value in {**fields, "error": error}.items() if value not in (None, "")}
        name = "PostToolUse" if error is None else "PostToolUseFailure"
        yield self._saved(name, tool, tool_input, response, text(item.get("id")), **fields)

    # -- sub-agents --------------------------------------------------------------------------------

    def _spawn(self, tool_input: Any, output: Any, call: str) -> Iterator[SavedEvent]:
        """Yield the run that starts a sub-agent; the answer comes later, as a message."""
        task = text(mapping(decoded(output)).get("task_name"))
        if task:
            self._spawned[task] = (tool_input, call)
        yield self._saved("PostToolUse", codex.SPAWN, tool_input, output, call)

    def _reported(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        """Yield the run that started a sub-agent again, with its answer."""
        words = codex_text.joined(payload.get("content"))
        spawned = self._spawned.pop(text(payload.get("author")), None)
        if spawned is None or not words.startswith("Message Type: FINAL_ANSWER"):
            return
        response = {"status": "completed", "content": words.partition("\nPayload:\n")[2]}
        yield self._saved("PostToolUse", codex.SPAWN, spawned[0], response, spawned[1])

    def _spent(self, payload: dict[str, Any]) -> None:
        """Remember the session's token counts so far; input includes cached tokens."""
        usage = mapping(mapping(payload.get("info")).get("total_token_usage"))
        self._tokens.set(number(usage.get("input_tokens")), number(usage.get("output_tokens")))

    def _completed(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        yield from self._release()
        if not self._answer.text:
            self._answer.add("", text(payload.get("last_agent_message")), self._at)
        yield from self._finish_answer()
        self._turn = ""

    def _unfinished(self) -> Iterator[SavedEvent]:
        """Yield the commands of the ended turn that have no result."""
        calls, self._calls = self._calls, {}
        for call, (name, tool_input) in calls.items():
            if name in _SHELLS:
                command = {"command": codex_text.command_line(tool_input)}
                yield self._saved("PostToolUseFailure", "Bash", command, None, call, error=NO_RESULT, is_interrupt=True)

    def _aborted(self, _: dict[str, Any]) -> Iterator[SavedEvent]:
        yield from self._unfinished()
        yield from self._release()
        self._answer.clear()
        self._turn = ""

    def _compacted(self, payload: dict[str, Any]) -> Iterator[SavedEvent]:
        self._answer.clear()  # the line before this one repeats the summary as if said to the user
        summary = codex_text.summed_up(text(payload.get("message")))
        if summary.strip():
            yield self._saved("PostCompact", compact_summary=summary)

    # -- events ------------------------------------------------------------------------------------

    def _release(self) -> Iterator[SavedEvent]:
        """Yield the held prompt, with its turn's id; further prompts of the turn get ids of their own."""
        if self._held is None:
            return
        self._typed += 1
        event = self._held.event
        event.prompt_id = self._turn or made_id(self._held.at, event.prompt)
        if self._turn and self._typed > 1:
            event.prompt_id = f"{self._turn}/{self._typed}"
        yield self._held
        self._held = None

    def _finish_answer(self) -> Iterator[SavedEvent]:
        """Yield the answer that is now complete, if any."""
        return self._answer.finish(partial(self._saved, "Stop"), self._tokens)

    def _saved(
        self, name: str, tool: str = "", tool_input: Any = None, response: Any = None, call: str = "", **fields: Any
    ) -> SavedEvent:
        """Return an event made from a payload, as in a hook."""
        payload: dict[str, Any] = {
            "hook_event_name": name,
            "session_id": self._session,
            "turn_id": self._turn,
            "transcript_path": self._path,
            "cwd": self._cwd,
            **fields,
        }
        if tool:
            payload |= {"tool_name": tool, "tool_input": tool_input, "tool_response": response}
            payload["tool_use_id"] = call or made_id(self._at, tool, tool_input)
        return SavedEvent(self._at, codex.read(payload, {}), self._branch, self._commit)


_KINDS = frozenset(
    [
        "session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state",
        "inter_agent_communication_metadata", "token_usage_record",
    ]
)  # fmt: skip
_COPIED = "line of the session that this one was forked from"
_ROWS: dict[tuple[str, str], Callable[[CodexReader, dict[str, Any]], Iterator[SavedEvent] | None]] = {
    ("turn_context", ""): CodexReader._turn_begins,
    ("compacted", ""): CodexReader._compacted,
    ("event_msg", "task_started"): CodexReader._turn_begins,
    ("event_msg", "user_message"): lambda reader, payload: reader._prompted(text(payload.get("message"))),
    ("event_msg", "agent_message"): CodexReader._agent,
    ("event_msg", "token_count"): CodexReader._spent,
    ("event_msg", "task_complete"): CodexReader._completed,
    ("event_msg", "turn_aborted"): CodexReader._aborted,
    ("event_msg", "item_completed"): CodexReader._item,
    ("response_item", "agent_message"): CodexReader._reported,
    ("response_item", "message"): CodexReader._message,
    ("response_item", "function_call"): CodexReader._call,
    ("response_item", "custom_tool_call"): CodexReader._call,
    ("response_item", "local_shell_call"): CodexReader._call,
    ("response_item", "function_call_output"): CodexReader._output,
    ("response_item", "custom_tool_call_output"): CodexReader._output,
}
"""Kind of line and of its payload -> its handler; other lines have nothing for an event."""


SOURCE = Source(codex.NAME, codex.TITLE, find, read, (codex.folder, "sessions"), is_one, loose=SPOKEN)
