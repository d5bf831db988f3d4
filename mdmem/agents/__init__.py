"""The agents: one module each, which turns payloads into an `Event` and context into the agent's reply."""

from __future__ import annotations

from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    HookRow = tuple[str, str, str, int]

    class Agent(Protocol):
        """The interface of the modules in this folder, which mypy checks in `install.catalog`."""

        NAME: str
        """The agent's name in commands and notes."""
        TITLE: str
        """The agent's usual name, for people."""

        @property
        def HOOKS(self) -> tuple[HookRow, ...]:  # noqa: N802 - a constant of a module
            """Return the hooks to register, as rows of event, verb, matcher and timeout in seconds."""
            ...

        def read(self, payload: dict[str, Any], env: Mapping[str, str]) -> Event:
            """Return the event of a payload; a field of a wrong type counts as missing."""
            ...

        def reply(self, event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
            """Return the JSON object that the agent accepts for this event, or None."""
            ...

        def folder(self, env: Mapping[str, str]) -> str:
            """Return the agent's settings folder of the user."""
            ...


class Event(Value):
    """One payload in mdmem's terms, whichever agent sent it.

    name: Claude Code's name of the event (`UserPromptSubmit`, `PostToolUse`, ...), or "" for an event to ignore.
    agent: the agent's name, as in its module.
    session, prompt_id, tool_use_id: the agent's ids, unchanged; "" if missing.
    cwd, transcript: paths, unchanged; "" if missing.
    subagent: whether the event happened inside a sub-agent.
    source: why the event fired (`startup`, `compact`, `clear`, `auto`, ...).
    prompt: what the user typed (UserPromptSubmit, UserPromptExpansion, PreCompact).
    message: what the agent answered (Stop, StopFailure, SubagentStop) or summed up (PostCompact).
    tool, tool_input, tool_response, error, duration_ms: a tool run; `error` is None if it succeeded.
    extra: facts of particular events (`command_name`, `model`, `title`, ...), strings only.

    Nothing here is cleaned: `note.new` does that before anything is stored.
    """

    agent: str
    name: str
    session: str = ""
    prompt_id: str = ""
    cwd: str = ""
    transcript: str = ""
    subagent: bool = False
    source: str = ""
    prompt: str = ""
    message: str = ""
    tool: str = ""
    tool_input: Any = None
    tool_response: Any = None
    error: str | None = None
    tool_use_id: str = ""
    duration_ms: int | None = None
    extra: dict[str, str] = {}  # noqa: RUF012 - copied for each


def load(name: str) -> Agent:
    """Import the module of the agent called `name`; `install.catalog` lists all agents.

    Raises KeyError when there is no such agent.
    """
    try:
        module: Agent = __import__(f"mdmem.agents.{name.replace('-', '_')}", fromlist=["read"])
    except ModuleNotFoundError:
        raise KeyError(name) from None
    if getattr(module, "NAME", "") != name:
        raise KeyError(name)
    return module


BACKGROUND = "background"
"""Status in the response of a command that continues in the background."""


def goes_on(response: Any) -> bool:
    """Whether a command continues in the background, so that its result is not known yet."""
    if type(response) is not dict:
        return False
    return response.get("status") == BACKGROUND or bool(text(response.get("backgroundTaskId")))


def text(value: Any) -> str:
    """Return a field that should be a string; "" if it is of another type."""
    return value if type(value) is str else ""


def joined_text(value: Any) -> str:
    """Return what somebody typed or said: a string, or the texts of content blocks joined by line breaks."""
    if type(value) is str:
        return value
    blocks = value if isinstance(value, list) else [value]
    parts = [block if type(block) is str else text(mapping(block).get("text")) for block in blocks]
    return "\n".join([part for part in parts if part])


def message_of(error: Any) -> str:
    """Return an error's message: the error itself if it is a string, or an object's `message`."""
    return text(error.get("message") if isinstance(error, dict) else error)


def reply_with(name: str, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Return a reply in Claude Code's form: context for the model, message for the user. name: the event's."""
    answer: dict[str, Any] = {}
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
    if message:
        answer["systemMessage"] = message
    return answer or None


def mapping(value: Any) -> dict[str, Any]:
    """Return a field that should be an object; {} if it is of another type."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a field that should be a list of objects; [] if it is of another type."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: Any) -> int | None:
    """Return a field that should be a whole, non-negative number; None if it is anything else."""
    return int(value) if type(value) in (int, float) and 0 <= value < 1 << 53 else None


def first_text(payload: Mapping[str, Any], *keys: str) -> str:
    """Return the first non-empty string among the fields `keys`, or ""."""
    for key in keys:
        value = text(payload.get(key))
        if value:
            return value
    return ""


def command_line(tool_input: Any, *keys: str) -> str:
    """Return the first command, or list of a command's words, among the fields `keys` of a tool's input, or ""."""
    for value in map(mapping(tool_input).get, keys):
        line = " ".join([word for word in value if isinstance(word, str)]) if isinstance(value, list) else text(value)
        if line:
            return line
    return ""


def texts(payload: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Pick the fields that are non-empty strings. names: their key -> ours."""
    return {ours: payload[key] for key, ours in names.items() if text(payload.get(key))}
