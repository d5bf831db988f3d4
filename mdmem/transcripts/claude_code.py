"""Claude Code's transcripts: one JSONL file per session, with a line for each part of the conversation.

The format is undocumented and changes without notice: any field may be missing or of another type, and a line of a
kind without a row here is counted and skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from mdmem.agents import Event, claude_code, goes_on, joined_text, mapping, number, prompts, text
from mdmem.agents.dialect import made_id
from mdmem.transcripts.claude_lines import blocks, message_id, own_text, summed_up
from mdmem.transcripts.saved import (
    NO_RESULT,
    AnswerParts,
    ReadOptions,
    SavedEvent,
    Skipped,
    TurnTokens,
    is_quiet,
    moment,
    pass_over,
)

NAME = claude_code.NAME

_SILENT = frozenset(
    [
        "agent-name", "ai-title", "atis-latch", "bridge-session", "custom-title", "file-history-delta",
        "file-history-snapshot", "fork-context-ref", "frame-link", "last-prompt", "mode", "permission-mode", "pr-link",
        "progress", "result", "saved_hook_context", "started", "summary", "tag", "worktree-state",
    ]
)  # fmt: skip
"""Kinds of lines without anything for an event."""

_REFUSED = (
    "The user doesn't want to ",
    "User rejected",
    "[Request interrupted by user",
    "<tool_use_error>",
    "Claude requested permissions",
    "Permission to use ",
)
"""Prefixes of the result of a tool that never ran, for which no hook fires."""

_UNDER_A_SECOND = ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Glob", "Grep", "Todo", "ExitPlan", "AskUser")
"""Tools too fast to be stopped: if the user rejected one, it never ran."""

_STOPPED = "The user stopped it: before it ran, or while it did."

_OF_THE_PROGRAM = frozenset(
    [
        "/clear", "/compact", "/config", "/context", "/cost", "/doctor", "/exit", "/export", "/help", "/hooks",
        "/login", "/logout", "/mcp", "/memory", "/model", "/permissions", "/plugin", "/quit", "/resume", "/rewind",
        "/status", "/theme", "/usage", "/vim",
    ]
)  # fmt: skip
"""Commands that the program answers itself, without any hook."""

_LOCAL = ("<local-command-stdout>", "<local-command-stderr>")
_SHOWN = ("<bash-stdout>", "<bash-stderr>")


class ClaudeReader:
    """Turns the lines of one session's file into events, without abandoned branches.

    session, since: the id and the time to use until a line has one. subagent: the file is a sub-agent's.

    _open_runs: tool runs without a result; _background_agents and _background_commands: runs that go on in the
    background. Each maps the run's id to its tool and input.
    _command: a slash command, until the next line shows whether it was for the agent.
    _queue: prompts typed while the agent was working, by text, until each comes as a line of its own.
    """

    def __init__(self, session: str, path: str, since: float, skipped: Skipped, *, subagent: bool = False) -> None:
        self._session = session
        self._since = since
        self._path = path
        self._skipped = skipped
        self._subagent = subagent
        self._line: dict[str, Any] = {}
        self._at = 0.0
        self._cwd = self._branch = self._prompt = self._trigger = ""
        self._begun = False
        self._open_runs: dict[str, tuple[str, Any]] = {}
        self._background_agents: dict[str, tuple[str, Any]] = {}
        self._background_commands: dict[str, tuple[str, Any]] = {}
        self._answer = AnswerParts()
        self._command: SavedEvent | None = None
        self._queue: dict[str, SavedEvent] = {}
        self._tokens = TurnTokens()

    def feed(self, line: dict[str, Any]) -> Iterator[SavedEvent]:
        """Process one line; yield the events that it completes."""
        kind = text(line.get("type"))
        row = _LINES.get(kind)
        if row is None:
            if kind not in _SILENT:
                self._skipped["line of an unknown kind"] += 1
            return
        if line.get("isSidechain") is True and not self._subagent:
            self._skipped["sub-agent's line"] += 1
            return
        self._look(line)
        if not self._begun and self._at and not self._subagent:
            self._begun = True
            yield self._saved("SessionStart", source="startup")
        yield from row(self, line)

    def pass_over(
        self, line: dict[str, Any], options: ReadOptions, events: Iterable[SavedEvent] = ()
    ) -> Iterator[SavedEvent]:
        """Yield the text of a line without an event (yet) as a passed-over event, if it may be private.

        events: what `feed` has yielded for the line, which may be only what earlier lines began.
        """
        if any(saved.at == self._at and saved.event.name != "SessionStart" for saved in events):
            return
        typed, words = line.get("type") in ("user", "queue-operation"), own_text(line) or text(line.get("content"))
        event = Event(NAME, "UserPromptSubmit", self._session, cwd=self._cwd)
        event.prompt, event.message = (words, "") if typed else ("", words)
        event.tool_input = [block.get("input") for block in blocks(line)]
        event.tool_response = line.get("toolUseResult") or [line.get("attachment"), line.get("rendered")]
        if words.startswith(_SHOWN):
            event.prompt, event.tool_response = "", words
        yield from pass_over(event, moment(line.get("timestamp")) or self._at, options)

    def finish(self, now: float) -> Iterator[SavedEvent]:
        """Yield the events that the end of the file completes."""
        is_over = is_quiet(self._at, now)
        if is_over:
            yield from self._unfinished()
            yield from self._typed_command()
        if is_over or self._answer.is_whole:
            yield from self._finish_answer()
        if not is_over or self._subagent:
            return
        yield from [saved for words, saved in self._queue.items() if words[:1] not in ("/", "!")]
        if self._begun:
            yield self._saved("SessionEnd", reason="as the transcript ends")

    # -- lines -------------------------------------------------------------------------------------

    def _user(self, line: dict[str, Any]) -> Iterator[SavedEvent]:
        words = own_text(line).strip("\n")
        if self._subagent and not _has_result(line, words):
            return  # the task given to a sub-agent is part of the parent's tool run
        if words.startswith(_LOCAL):
            self._drop_command()
        yield from self._typed_command()
        for applies, handle in _USER_LINES:
            if applies(line, words):
                yield from handle(self, line, words) or ()
                return

    def _assistant(self, line: dict[str, Any]) -> Iterator[SavedEvent]:
        yield from self._typed_command()
        message = line.get("message")
        if not isinstance(message, dict):
            self._skipped["unreadable line"] += 1
            return
        if line.get("isApiErrorMessage") is True:
            yield from self._finish_answer()
            yield self._saved("StopFailure", last_assistant_message=own_text(line), error=text(line.get("error")))
            return
        if message.get("model") == "<synthetic>":
            return
        if self._answer.is_whole and self._answer.id != message_id(line):
            yield from self._finish_answer()
        self._tokens.add(message_id(line), *_usage(message.get("usage")))
        for block in blocks(line):
            if block.get("type") == "text":
                self._answer.add(message_id(line), text(block.get("text")), self._at)
            elif block.get("type") == "tool_use":
                self._answer.clear()  # text before a tool run is not an answer
                self._open_runs[text(block.get("id"))] = (text(block.get("name")), block.get("input"))
        self._answer.stopped(text(message.get("stop_reason")))

    def _system(self, line: dict[str, Any]) -> Iterator[SavedEvent]:
        subtype = text(line.get("subtype"))
        if subtype in ("stop_hook_summary", "turn_duration", "compact_boundary"):
            yield from self._finish_answer()
        if subtype == "compact_boundary":
            self._trigger = text(mapping(line.get("compactMetadata")).get("trigger"))

    def _attachment(self, line: dict[str, Any]) -> Iterator[SavedEvent]:
        attachment = line.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return
        words = joined_text(attachment.get("prompt"))
        if attachment.get("commandMode", "prompt") != "prompt" or not prompts.is_typed(words) or not words.strip():
            self._skipped["prompt that nobody typed"] += 1
            yield from self._reported(words)
            return
        self._queue.pop(words.strip(), None)
        yield self._saved("UserPromptSubmit", prompt=words, prompt_id=self._own_id(words))

    def _queued(self, line: dict[str, Any]) -> Iterator[SavedEvent]:
        """Remember a prompt typed while the agent was working: it may never get a line of its own."""
        operation, words = text(line.get("operation")), text(line.get("content"))
        key = words.strip()
        if operation == "enqueue" and key and prompts.is_typed(words):
            self._queue[key] = self._saved("UserPromptSubmit", prompt=words, prompt_id=self._own_id(words))
        elif operation == "enqueue":
            return self._ended(words)
        elif operation == "popAll":
            self._queue.clear()
        elif operation == "remove":
            self._queue.pop(key, None)
        return iter(())

    # -- a user's lines ----------------------------------------------------------------------------

    def _summary(self, _: dict[str, Any], words: str) -> Iterator[SavedEvent]:
        yield from self._finish_answer()
        yield self._saved("PostCompact", trigger=self._trigger, compact_summary=summed_up(words))

    def _results(self, line: dict[str, Any], _: str) -> Iterator[SavedEvent]:
        self._answer.clear()
        results = [block for block in blocks(line) if block.get("type") == "tool_result"]
        for block in results:
            # With several results on one line, it is unknown whose the structured one is.
            response = line.get("toolUseResult") if len(results) == 1 else None
            yield from self._result(block, block.get("content") if response is None else response)

    def _result(self, block: dict[str, Any], response: Any) -> Iterator[SavedEvent]:
        run_id = text(block.get("tool_use_id"))
        tool, tool_input = self._open_runs.pop(run_id, ("", None))
        if not tool:
            self._skipped["tool result without its call"] += 1
            return
        if isinstance(response, dict) and response.get("status") in ("async_launched", "remote_launched"):
            self._background_agents[run_id] = (tool, tool_input)
        elif goes_on(response):
            self._background_commands[run_id] = (tool, tool_input)
        run = (tool, tool_input, run_id or made_id(self._at, tool, tool_input))
        if block.get("is_error") is not True:
            yield self._ran("PostToolUse", *run, tool_response=response)
            return
        message = joined_text(block.get("content"))
        if self._line.get("toolDenialKind") == "user-rejected" and not tool.startswith(_UNDER_A_SECOND):
            yield self._ran("PostToolUseFailure", *run, error=_STOPPED, is_interrupt=True)
            return
        if message.startswith(_REFUSED) or text(response).startswith(_REFUSED):
            self._skipped["tool run that was refused"] += 1
            return
        yield self._ran("PostToolUseFailure", *run, error=message or text(response).removeprefix("Error: "))

    def _local_command(self, _: dict[str, Any], words: str) -> Iterator[SavedEvent]:
        yield from self._finish_answer()
        name, arguments = prompts.command(words) or ("", "")
        if name in _OF_THE_PROGRAM:
            self._skipped["command that never reached the agent"] += 1
        elif name:
            self._command = self._prompted(f"{name} {arguments}".strip())

    def _interrupted(self, *_: object) -> None:
        self._answer.clear()  # no hook fires for an interrupted answer

    def _untyped(self, _: dict[str, Any], words: str) -> Iterator[SavedEvent]:
        self._skipped["prompt that nobody typed"] += 1
        yield from self._finish_answer()
        yield from self._reported(words)

    def _reported(self, words: str) -> Iterator[SavedEvent]:
        """Yield a background run again, with the answer that a notification brings."""
        yield from self._ended(words)
        run_id, answer = prompts.reported(words)
        tool, tool_input = self._background_agents.get(run_id, ("", None))
        if tool and answer:
            response = {"status": "completed", "content": [{"type": "text", "text": answer}]}
            yield self._ran("PostToolUse", tool, tool_input, run_id, tool_response=response)

    def _ended(self, words: str) -> Iterator[SavedEvent]:
        """Yield a background command again, with its end as a notification reports it."""
        run_id, status, code = prompts.ended_command(words)
        if run_id not in self._background_commands:
            return
        tool, tool_input = self._background_commands.pop(run_id)
        if status == "completed" and not code:
            yield self._ran("PostToolUse", tool, tool_input, run_id, tool_response={"stdout": "", "exit_code": code})
        else:
            error = f"It was {status or 'stopped'}." if code is None else f"Exit code {code}"
            yield self._ran("PostToolUseFailure", tool, tool_input, run_id, error=error)

    def _unfinished(self) -> Iterator[SavedEvent]:
        """Yield the commands of the ended turn that have no result."""
        open_runs, self._open_runs = self._open_runs, {}
        for run_id, (tool, tool_input) in open_runs.items():
            if tool == "Bash" and run_id:
                yield self._ran("PostToolUseFailure", tool, tool_input, run_id, error=NO_RESULT, is_interrupt=True)

    def _typed(self, _: dict[str, Any], words: str) -> Iterator[SavedEvent]:
        yield from self._unfinished()
        yield from self._finish_answer()
        self._queue.pop(words.strip(), None)
        yield self._prompted(words)

    # -- events ------------------------------------------------------------------------------------

    def _look(self, line: dict[str, Any]) -> None:
        """Remember a line's time and place."""
        self._line = line
        self._at = moment(line.get("timestamp")) or self._at or self._since
        self._session = text(line.get("sessionId")) or self._session
        self._cwd = text(line.get("cwd")) or self._cwd
        branch = text(line.get("gitBranch"))
        self._branch = "" if branch == "HEAD" else branch or self._branch

    def _ran(self, event: str, tool: str, tool_input: Any, run_id: str, **fields: Any) -> SavedEvent:
        """Return the event of a tool run."""
        return self._saved(event, tool_name=tool, tool_input=tool_input, tool_use_id=run_id, **fields)

    def _prompted(self, words: str) -> SavedEvent:
        self._prompt = text(self._line.get("promptId")) or self._own_id(words)
        self._tokens.clear()
        return self._saved("UserPromptSubmit", prompt=words)

    def _own_id(self, *facts: object) -> str:
        """Return the line's id, or one made from its facts, so that the line always gives the same note."""
        return text(self._line.get("uuid")) or made_id(self._at, *facts)

    def _finish_answer(self) -> Iterator[SavedEvent]:
        """Yield the answer that is now complete, if any."""
        saved = partial(self._saved, "SubagentStop" if self._subagent else "Stop")
        return self._answer.finish(saved, self._tokens)

    def _typed_command(self) -> Iterator[SavedEvent]:
        """Yield the pending slash command: the next line shows that it was for the agent."""
        if self._command is not None:
            yield self._command
        self._command = None

    def _drop_command(self) -> None:
        """Drop a slash command that the program answered itself."""
        if self._command is not None:
            self._skipped["command that never reached the agent"] += 1
        self._command = None

    def _saved(self, name: str, **fields: Any) -> SavedEvent:
        """Return an event made from a payload, as in a hook."""
        payload = {
            "session_id": self._session,
            "prompt_id": self._prompt,
            "transcript_path": self._path,
            "cwd": self._cwd,
            **fields,
        }
        if self._subagent:
            payload["agent_id"] = text(self._line.get("agentId")) or "unknown"
        return SavedEvent(self._at, claude_code.event(payload, NAME, name), self._branch)


_LINES: dict[str, Callable[[ClaudeReader, dict[str, Any]], Iterator[SavedEvent]]] = {
    "user": ClaudeReader._user,
    "assistant": ClaudeReader._assistant,
    "system": ClaudeReader._system,
    "attachment": ClaudeReader._attachment,
    "queue-operation": ClaudeReader._queued,
}
"""Kind of line -> its handler."""


def _usage(usage: Any) -> tuple[int | None, int | None]:
    """Return the tokens that a message's model read, including cached ones, and those that it wrote."""
    facts = mapping(usage)
    read = [number(facts.get(f"{kind}input_tokens")) for kind in ("", "cache_creation_", "cache_read_")]
    return sum(filter(None, read)), number(facts.get("output_tokens"))


def _has_result(line: dict[str, Any], _: str) -> bool:
    return "toolUseResult" in line or any(block.get("type") == "tool_result" for block in blocks(line))


def _is_foreign(line: dict[str, Any], words: str) -> bool:
    """Whether somebody other than the user wrote this: the host, another agent, a scheduled job."""
    kind = text(mapping(line.get("origin")).get("kind"))
    return bool(line.get("teamName")) or kind not in ("", "human") or not prompts.is_typed(words)


def _nothing(*_: object) -> None:
    """Pass over a line."""


_USER_LINES: tuple[tuple[Callable[[dict[str, Any], str], bool], Callable[..., Iterator[SavedEvent] | None]], ...] = (
    (lambda line, _: line.get("isCompactSummary") is True, ClaudeReader._summary),
    (lambda line, _: line.get("isMeta") is True, _nothing),
    (lambda line, _: line.get("isVisibleInTranscriptOnly") is True, _nothing),
    (_has_result, ClaudeReader._results),
    (lambda _, words: not words.strip(), _nothing),
    (lambda _, words: words.startswith("[Request interrupted by user"), ClaudeReader._interrupted),
    (lambda _, words: words.startswith("<bash-input>"), _nothing),
    (lambda _, words: words.startswith(("<command-name>", "<command-message>")), ClaudeReader._local_command),
    (_is_foreign, ClaudeReader._untyped),
    (lambda *_: True, ClaudeReader._typed),
)
"""Test of a user's line -> its handler; the first match counts. A `!` command fires no hook."""
