"""GitHub Copilot CLI's sessions: a folder each, with one event per line in `events.jsonl`.

Copilot's hooks give neither answers nor ids of tool runs; these files have both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from mdmem.agents import Event, copilot, mapping, message_of, number, objects, text
from mdmem.agents.dialect import mcp_name
from mdmem.transcripts.lines import Lines
from mdmem.transcripts.saved import (
    SPOKEN,
    AnswerParts,
    ReadOptions,
    SavedEvent,
    SessionTokens,
    Source,
    TurnTokens,
    below,
    is_quiet,
    moment,
    pass_over,
)

_NOTHING = ("", 0.0)
_SPENT = ("inputTokens", "outputTokens")
_TOOLS = {
    "bash": "Bash",
    "powershell": "PowerShell",
    "view": "Read",
    "edit": "Edit",
    "create": "Write",
    "grep": "Grep",
    "rg": "Grep",
    "glob": "Glob",
    "task": "Agent",
}
"""Tool name in the file -> the name that hooks get."""

_SHELLS = ("bash", "powershell")
_SILENT = ("report_intent", "store_memory")
"""Tools with which the agent only manages its own work."""


def read(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Yield a session's events, oldest first; from sub-agents only what may be private, as passed-over events.

    Raises OSError when the file cannot be read.
    """
    reader = CopilotReader(str(path), path.parent.name, path.stat().st_mtime, options)
    for line in Lines(path, options.skipped).telling(options.report):
        yield from reader.feed(line)
    yield from reader.finish(options.now)


def is_one(lines: list[dict[str, Any]]) -> bool:
    """Whether these are the first lines of a Copilot session."""
    return any(line.get("type") == "session.start" and isinstance(line.get("data"), dict) for line in lines)


class CopilotReader:
    """Turns the lines of one session into events. session, since: the id and the time to use until a line has one."""

    def __init__(self, path: str, session: str, since: float, options: ReadOptions) -> None:
        self._path = path
        self._session = session
        self._options, self._skipped = options, options.skipped
        self._at = since
        self._cwd = self._branch = self._commit = self._prompt = ""
        self._calls: dict[str, tuple[str, Any]] = {}
        self._answer = AnswerParts()
        self._tokens, self._requests, self._spent = SessionTokens(), TurnTokens(), 0
        self._shells: dict[str, tuple[str, str, Any]] = {}
        self._last = _NOTHING
        self._turns = 0

    def feed(self, line: dict[str, Any]) -> Iterator[SavedEvent]:
        """Process one line; yield the events that it completes."""
        data, kind = line.get("data"), text(line.get("type"))
        self._at = moment(line.get("timestamp")) or self._at
        if not isinstance(data, dict):
            return
        row = _ROWS.get(kind)
        events: list[SavedEvent] = []
        if row and text(line.get("agentId")):
            self._skipped["sub-agent's line"] += 1
        elif row:
            events = list(row(self, data) or ())
        yield from events
        is_typed = any(saved.event.name == "UserPromptSubmit" for saved in events)
        event = Event(copilot.NAME, "PostToolUse", self._session, cwd=self._cwd)
        event.message = "" if is_typed else text(data.get("content"))
        event.tool_response = {key: value for key, value in data.items() if key != "content"}
        yield from pass_over(event, self._at, self._options)

    def finish(self, now: float) -> Iterator[SavedEvent]:
        """Yield the events that the end of the file completes."""
        if is_quiet(self._at, now):
            yield from self._finish_answer()
            yield self._saved("SessionEnd", reason="as the transcript ends")

    def _begins(self, data: dict[str, Any]) -> Iterator[SavedEvent]:
        self._session = text(data.get("sessionId")) or self._session
        context = data.get("context")
        if isinstance(context, dict):
            self._cwd = text(context.get("cwd")) or self._cwd
            self._branch = text(context.get("branch"))
            self._commit = text(context.get("headCommit"))[:8]
        self._tokens.begin_turn()
        self._last, self._turns = _NOTHING, 0
        yield self._saved("SessionStart", source="new")

    def _user(self, data: dict[str, Any]) -> Iterator[SavedEvent]:
        yield from self._finish_answer()
        if text(data.get("source")).startswith("agent-"):
            self._skipped["prompt that nobody typed"] += 1
            return
        self._prompt = text(data.get("messageId"))
        if text(data.get("content")).strip():
            self._last, self._turns = _NOTHING, self._turns + 1
            self._requests.clear()
            yield self._saved("UserPromptSubmit", prompt=text(data.get("content")))

    def _assistant(self, data: dict[str, Any]) -> None:
        self._answer.clear()
        if not data.get("toolRequests"):
            self._answer.add("", text(data.get("content")), self._at)

    def _starts(self, data: dict[str, Any]) -> None:
        self._answer.clear()  # text before a tool run is not an answer
        self._calls[text(data.get("toolCallId"))] = (text(data.get("toolName")), data.get("arguments"))

    def _completes(self, data: dict[str, Any]) -> Iterator[SavedEvent]:
        call = text(data.get("toolCallId"))
        name, tool_input = self._calls.pop(call, ("", None))
        if not name or name in _SILENT:
            self._skipped["tool result without its call" if not name else "run of a tool without a hook"] += 1
            return
        result = data.get("result")
        output = text(result.get("content")) if isinstance(result, dict) else text(result)
        fields: dict[str, Any] = {
            "tool_name": _TOOLS.get(name, mcp_name(name, copilot.MCP_PREFIX)),
            "tool_input": tool_input,
            "tool_use_id": call,
        }
        if data.get("success") is False:
            error = message_of(data.get("error")) or output
            yield self._saved("PostToolUseFailure", error=error, **fields)
            return
        response = {"result_type": "success", "text_result_for_llm": output}
        yield self._saved("PostToolUse", tool_result=response, **fields)
        yield from self._in_background(name, tool_input, response, fields)

    def _in_background(
        self, name: str, tool_input: Any, response: dict[str, str], fields: dict[str, Any]
    ) -> Iterator[SavedEvent]:
        """Remember a background command; yield it again when a later read of its shell shows how it ended."""
        shell = text(mapping(tool_input).get("shellId"))
        if not shell:
            return
        if name in _SHELLS:
            self._shells[shell] = (fields["tool_name"], fields["tool_use_id"], tool_input)
        elif (
            name.startswith("read_") and shell in self._shells and "exit code " in response["text_result_for_llm"][-80:]
        ):
            tool, call, command = self._shells.pop(shell)
            yield self._saved("PostToolUse", tool_name=tool, tool_input=command, tool_use_id=call, tool_result=response)

    def _finish_answer(self) -> Iterator[SavedEvent]:
        """Yield the answer that is now complete, if any."""
        if self._answer.text:
            self._last = self._answer.text, self._answer.at
        return self._answer.finish(partial(self._saved, "Stop"), self._requests)

    def _request(self, data: dict[str, Any]) -> None:
        usage = data.get("usage")
        if isinstance(usage, dict):
            self._spent += 1
            self._requests.add(str(self._spent), *(number(usage.get(key)) for key in _SPENT))

    def _shuts_down(self, data: dict[str, Any]) -> Iterator[SavedEvent]:
        """Yield the answer again with its tokens, if the process that ends answered only one prompt.

        Older versions write the session's totals, and only at this point.
        """
        if self._spent:
            return
        usages = objects([row.get("usage") for row in objects([*mapping(data.get("modelMetrics")).values()])])
        if usages:
            self._tokens.set(*(sum(number(usage.get(key)) or 0 for usage in usages) for key in _SPENT))
        words, at = self._last
        saved = self._saved("Stop", last_assistant_message=words)._replace(at=at)
        if words and self._turns == 1 and self._tokens.put_into(saved.event):
            yield saved
        self._last = _NOTHING

    def _saved(self, name: str, **fields: Any) -> SavedEvent:
        """Return an event made from a payload, as in a hook."""
        payload = {"hook_event_name": name, "session_id": self._session, "cwd": self._cwd, **fields}
        event = copilot.read(payload, {})
        event.transcript, event.prompt_id = self._path, self._prompt
        return SavedEvent(self._at, event, self._branch, self._commit)


_ROWS: dict[str, Callable[[CopilotReader, dict[str, Any]], Iterator[SavedEvent] | None]] = {
    "session.start": CopilotReader._begins,
    "session.resume": CopilotReader._begins,
    "user.message": CopilotReader._user,
    "assistant.message": CopilotReader._assistant,
    "assistant.turn_end": lambda reader, _: reader._finish_answer(),
    "tool.execution_start": CopilotReader._starts,
    "tool.execution_complete": CopilotReader._completes,
    "session.usage_record": CopilotReader._request,
    "session.shutdown": CopilotReader._shuts_down,
}
"""Kind of line -> its handler; other lines have nothing for an event."""


_PLACE = (copilot.folder, "session-state")
SOURCE = Source(
    copilot.NAME, copilot.TITLE, below("events.jsonl"), read, _PLACE, is_one, loose=SPOKEN | {"observation"}
)
"""Copilot's hooks give no ids of tool runs."""
