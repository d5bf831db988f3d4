"""The agents: one module each, a payload in and a reply out, all in the words of one `Event`."""

from __future__ import annotations

from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    HookRow = tuple[str, str, str, int]

    class Agent(Protocol):
        """The contract of a module in this folder; mypy checks it in `install.known`, which has what hooks need not."""

        NAME: str
        """What it is called in commands and notes."""
        TITLE: str
        """What people call it."""

        @property
        def HOOKS(self) -> tuple[HookRow, ...]:  # noqa: N802 - a constant of a module
            """Return its rows of event, verb, matcher and timeout in seconds."""
            ...

        def read(self, payload: dict[str, Any], env: Mapping[str, str]) -> Event:
            """Understand a payload; a field of a wrong type counts as missing."""
            ...

        def reply(self, event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
            """Return the one JSON object that the agent accepts for this event, or None."""
            ...

        def folder(self, env: Mapping[str, str]) -> str:
            """Return the user's folder of settings."""
            ...


class Event(Value):
    """One payload in mdmem's own words, whichever agent sent it.

    name: Claude Code's name of the event (`UserPromptSubmit`, `PostToolUse`, ...), or "" for one to ignore.
    agent: the agent's name, as its module has it.
    session, prompt_id, tool_use_id: the agent's ids, as they came; "" when missing.
    cwd, transcript: paths, as they came; "" when missing.
    subagent: whether it happened inside a sub-agent.
    source: why it fired (`startup`, `compact`, `clear`, `auto`, ...).
    prompt: what the user typed (UserPromptSubmit, UserPromptExpansion).
    message: what the agent said (Stop, StopFailure, SubagentStop) or summed up (PostCompact).
    tool, tool_input, tool_response, error, duration_ms: a tool run; `error` is None when it succeeded.
    extra: facts of single events (`command_name`, `model`, `title`, ...), strings only.

    Everything here is as the agent sent it: `note.new` cleans it before anything is stored.
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
    """Import the module of the agent called `name`, which is named alike; `install.known` lists them all.

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
"""The status in the response of a command that goes on in the background."""


def goes_on(response: Any) -> bool:
    """Whether a command goes on in the background, so that nobody knows yet how it ends."""
    if type(response) is not dict:
        return False
    return response.get("status") == BACKGROUND or bool(text(response.get("backgroundTaskId")))


def text(value: Any) -> str:
    """Return a field that should be a text; "" when it is of another type."""
    return value if type(value) is str else ""


def said(value: Any) -> str:
    """Return what somebody typed or said: a text, or the texts of content blocks, one below the other."""
    if type(value) is str:
        return value
    blocks = value if isinstance(value, list) else [value]
    found = [block if type(block) is str else text(mapping(block).get("text")) for block in blocks]
    return "\n".join([part for part in found if part])


def message_of(error: Any) -> str:
    """Return an error's message: the error itself, or what an object has as its `message`."""
    return text(error.get("message") if isinstance(error, dict) else error)


def reply_with(name: str, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Return a reply in Claude Code's form: the context to the model, the message to the user. name: of the event."""
    answer: dict[str, Any] = {}
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
    if message:
        answer["systemMessage"] = message
    return answer or None


def mapping(value: Any) -> dict[str, Any]:
    """Return a field that should be an object: another type counts as an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a field that should be a list of them; [] when it is of another type."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: Any) -> int | None:
    """Return a field that should be a whole, non-negative number: anything else counts as missing."""
    return int(value) if type(value) in (int, float) and 0 <= value < 1 << 53 else None


def first_text(payload: Mapping[str, Any], *keys: str) -> str:
    """Return the first field among `keys` that is a text with something in it, or ""."""
    for key in keys:
        value = text(payload.get(key))
        if value:
            return value
    return ""


def texts(payload: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Pick fields that are texts with something in them: its key -> ours."""
    return {ours: payload[key] for key, ours in names.items() if text(payload.get(key))}
