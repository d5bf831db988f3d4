"""The inject process that an agent starts: one payload on stdin, at most one JSON object on stdout, exit 0.

Most payloads need no answer, which is decided before anything slow is imported. A failure or a missed deadline costs
the agent only the memories that it would have had.

`main` is the process of `mdmem inject`; a hook that has stored its event calls `reply_to`. Both ask the watcher, which
runs `answer`, and call `build_reply` themselves if there is none. Servers call `answer_payload`.
"""

from __future__ import annotations

import os
import sys
import time

from mdmem import quick_import

quick_import.install()
from mdmem.agents import hook_process  # noqa: E402 - imported through `quick_import`

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

    from mdmem.agents import Event
    from mdmem.config import Config

FIRST_SECONDS = 1.5
"""Deadline until the settings are read: an agent may never close stdin."""


def main(words: list[str], vault: str | None = None) -> NoReturn:
    """Run `mdmem inject WORDS`, where WORDS name the agent. Never returns."""
    started = time.monotonic()
    out = b""
    try:
        end_after(_first_seconds())
        out = run(words, vault, os.environ, started)
    except BaseException as error:  # noqa: BLE001 - the one place that may swallow anything
        hook_process.log_failure("inject failed", error, vault)
    end_after(0)
    hook_process.print_bytes(out)
    os._exit(0)


def _first_seconds() -> float:
    try:
        configured = float(os.environ.get("MDMEM_INJECT_DEADLINE_SECONDS", ""))
    except ValueError:
        return FIRST_SECONDS
    return configured if FIRST_SECONDS < configured <= 60 else FIRST_SECONDS


def run(words: list[str], vault: str | None, env: Mapping[str, str], started: float) -> bytes:
    """Handle one payload from stdin and return what to print on stdout."""
    from mdmem import agents, config
    from mdmem.agents import payload

    agent = agents.load(next((word for word in words if not word.startswith("-")), "claude-code"))
    data = payload.read_stdin()
    event = agent.read(payload.decode(data), env)
    if event.name not in EVENTS or event.subagent:
        return b""  # without reading the settings
    if hook_process.defers_to_user_hooks(words, event, env, hook_process.ANSWERS):
        return b""  # the user's own registration answers this event
    loaded = config.load(vault, env)
    if loaded.warnings:
        _log_bad_variables(loaded)
    end_after(seconds(loaded, event) - (time.monotonic() - started), loaded)
    return reply_to(loaded, event, env, data, started)


def reply_to(config: Config, event: Event, env: Mapping[str, str], data: bytes, started: float) -> bytes:
    """Return the reply to an event, b"" for none. A running watcher builds it, if there is one.

    data: the payload. started: when the answer was begun, on the monotonic clock.
    """
    if not may_need_memories(config, event, env) or not _takes_context(event) or not _is_first(config, event):
        return b""
    served = _ask(config, event, env, data, started)
    return build_reply(config, event, env, started) if served is None else served


def _takes_context(event: Event) -> bool:
    """Whether the event's agent takes context here; else nothing is given, or remembered as given."""
    from mdmem import agents

    return agents.load(event.agent).reply(event, "anything", None) is not None


def _is_first(config: Config, event: Event) -> bool:
    """Whether no other process answers this event: settings may register two commands for it."""
    from mdmem.hashing import short
    from mdmem.inject import injection_log
    from mdmem.vault import journal

    is_prompt = event.name == "UserPromptSubmit"
    identity = event.prompt_id or event.prompt if is_prompt else event.tool_use_id or event.source
    key = short("\0".join((event.name, identity)), 16)
    return injection_log.is_first(journal.Record(config, journal.session_id(event)), key, time.time())


def _ask(config: Config, event: Event, env: Mapping[str, str], data: bytes, started: float) -> bytes | None:
    """Return the watcher's reply, or None if it does not answer while there is time to work without it.

    With a model enabled, the watcher is not asked: the model takes longer than a watcher saves and would keep others
    waiting.
    """
    if config.settings.expand.enabled:
        return None
    from mdmem.watcher import client

    seconds_left = started + seconds(config, event) - time.monotonic()
    patience = max(min(seconds_left - ALONE_SECONDS, PATIENCE_SECONDS), seconds_left / 3)
    words = f"inject {event.agent} {started} {time.monotonic() + patience}"
    return client.ask(config, words, env, data, seconds=patience)


PATIENCE_SECONDS = 2.0
"""Maximum time to wait for the watcher, unless a third of the deadline is longer."""

ALONE_SECONDS = 1.0
"""Part of the deadline kept for answering without the watcher."""

EVENTS = frozenset(["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure"])
"""Events that may be answered with memories."""


ASKED_TIMES = 3
"""Factor on the deadline of a prompt that asks for earlier work, because its user waits for the answer."""


def seconds(config: Config, event: Event) -> float:
    """Return the time limit of an injection: its own deadline, plus a model's if one is used."""
    settings = config.settings
    times = ASKED_TIMES if settings.inject.enabled and _asks(event) else 1
    for_model = settings.expand.deadline_seconds if settings.expand.enabled else 0.0
    return times * settings.inject.deadline_seconds + for_model


def _asks(event: Event) -> bool:
    """Whether a prompt asks about the past, with little doubt."""
    if event.name != "UserPromptSubmit":
        return False
    from mdmem.agents import prompts
    from mdmem.search.asking import english, shape

    question = shape.of(prompts.typed(event.prompt))
    return question is not None and question.grade >= english.LIKELY


def may_need_memories(config: Config, event: Event, env: Mapping[str, str]) -> bool:
    """Whether an event may call for memories, judged cheaply; `build_reply` decides."""
    from mdmem import timestamps
    from mdmem.vault import exclusions

    if event.name not in EVENTS or event.subagent or not config.settings.inject.enabled or exclusions.is_disabled(env):
        return False
    if event.name == "PreToolUse":
        return ("read" if event.tool == "Read" else "edit") in config.settings.inject.on
    if event.name == "PostToolUseFailure":
        return "failure" in config.settings.inject.on and bool(event.error)
    if event.name == "SessionStart":
        return "start" in config.settings.inject.on and os.path.isdir(config.vault)
    from mdmem.inject import trigger, turns
    from mdmem.vault import journal

    record = journal.Record(config, journal.session_id(event))

    def clean(text: str) -> str:
        from mdmem.search.gate import Gate

        return Gate(config).prompt(text)

    return bool(trigger.of_prompt(turns.UserTurns(config, record, event, clean, timestamps.now(env)), event.prompt))


def build_reply(
    config: Config, event: Event, env: Mapping[str, str], started: float, is_late: Callable[[], bool] = lambda: False
) -> bytes:
    """Build an event's injection, remember it, and return the agent's reply.

    is_late: whether the caller has stopped waiting; then nothing is given or remembered.
    """
    from mdmem import agents, timestamps
    from mdmem.agents import payload
    from mdmem.inject import context

    agent = agents.load(event.agent)
    deadline = started + seconds(config, event)
    text = context.build(config, event, timestamps.now(env), deadline, is_late)
    from mdmem.search.index import completion

    message = completion.notice(config) or None
    reply = agent.reply(event, text, message) if text or message else None
    return payload.encode(reply).encode() + b"\n" if reply else b""


def answer_payload(
    name: str,
    data: bytes,
    vault: str | None,
    env: Mapping[str, str],
    started: float | None = None,
    is_late: Callable[[], bool] | None = None,
) -> bytes:
    """Answer one payload in a long-running process; return what `run` would.

    started: when the answer was begun, on the monotonic clock. is_late: as for `build_reply`; by default, whether the
    deadline has passed.

    Raises:
        Exception: whatever is wrong with the payload.
    """
    from mdmem import agents
    from mdmem.agents import payload
    from mdmem.config import load

    began = time.monotonic() if started is None else started
    event = agents.load(name).read(payload.decode(data), env)
    if event.name not in EVENTS or event.subagent:
        return b""
    config = load(vault, env)
    if not may_need_memories(config, event, env) or not _takes_context(event):
        return b""
    until = began + seconds(config, event)
    return build_reply(config, event, env, began, is_late or (lambda: time.monotonic() >= until))


def answer(
    config: Config,
    words: list[str],
    env: Mapping[str, str],
    body: bytes,
    clock: Callable[[], float] = time.monotonic,
) -> bytes | None:
    """Answer a request to the watcher with the bytes that the client prints; None if the client no longer waits.

    words: the agent, when the client began, and until when it waits (on the monotonic clock, which processes share).
    env: the client's. body: the payload.

    Raises:
        Exception: whatever is wrong with the request; the client then does the work itself.
    """
    from mdmem.watcher import client

    agent, started, until = words[0], float(words[1]), float(words[2])
    if not started <= clock() < until:
        return None
    env = {**{name: value for name, value in os.environ.items() if not client.is_passed(name)}, **env}
    out = answer_payload(agent, body, config.vault, env, started, lambda: clock() >= until)
    return out if clock() < until else None


def end_after(delay: float, config: Config | None = None, before_end: Callable[[], None] | None = None) -> None:
    """End the process after `delay` seconds (0: cancel); first call `before_end`. A signal costs less than a thread."""
    from mdmem import system

    def end(*_: object) -> None:
        if before_end is not None:
            before_end()
        if config is not None:
            from mdmem import log

            log.write(config, "inject gave nothing: its deadline passed")
        os._exit(0)

    system.alarm(delay and max(delay, 0.001), end)


def _log_bad_variables(config: Config) -> None:
    """Log environment variables with invalid values, unless the end of the log has them already."""
    from mdmem import files, log

    logged = files.try_read_any(os.path.join(config.state_dir, "log"), 8_192, from_end=True).decode("utf-8", "replace")
    for warning in config.warnings:
        if warning.startswith("MDMEM_") and warning not in logged:  # warnings about files quote values
            log.write(config, warning)


if __name__ == "__main__":
    main(sys.argv[1:])
