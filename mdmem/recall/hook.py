"""The hook process: stores an event and, if it calls for memories, answers it.

Storing comes first and never waits for a search. A failed search changes neither the stored note, nor the exit code,
nor the message to the user.
"""

from __future__ import annotations

import os
import sys
import time

from mdmem import quick_import

quick_import.install()
from mdmem.agents import hook_process  # noqa: E402 - imported through `quick_import`
from mdmem.capture import hook  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from mdmem.capture.hook import Delivery

SECONDS = 9.0
"""Time limit for storing and searching together: agents kill hooks after 10 seconds or more."""

_ALWAYS = "PostToolUseFailure"
"""The event that is answered here even if the agent has an `inject` hook of its own."""
_MESSAGES = ("systemMessage", "user_message", "message")
"""Keys of the replies that hold the message to the user."""


def main(words: list[str], vault: str | None = None) -> NoReturn:
    """Run `mdmem hook WORDS`; never returns."""
    hook.finish(answered(words, vault))


def answered(words: list[str], vault: str | None = None, write: Callable[[bytes], None] | None = None) -> bytes:
    """Store the payload on stdin, whatever happens, and return what to print on stdout.

    write: gets the output instead if a deadline ends the process; prints it by default.
    """
    started = time.monotonic()
    delivery = hook.Delivery(words, vault, os.environ, write=write)
    out = hook.stored(delivery)
    try:
        if "--report" not in words:
            out = merged(out, _injection(delivery, out, SECONDS - (time.monotonic() - started)))
    except BaseException as error:  # noqa: BLE001 - the note is stored; the agent continues without memories
        hook_process.log_failure("inject failed", error, vault)
    return out


def _injection(delivery: Delivery, message: bytes, seconds: float) -> bytes:
    """Return the injection for the event, b"" for none. At its deadline, write `message` and end the process."""
    event, config = delivery.event, delivery.config
    if event is None or config is None or event.name not in hook.ANSWERED or event.subagent:
        return b""
    if "unread" in event.extra:
        return b""  # nothing is known to ask with
    if event.name != _ALWAYS and "answer" not in event.extra and _asks_by_itself(delivery):
        return b""
    if delivery.defers_to_user_hooks():
        return b""
    from mdmem.inject import process

    started = time.monotonic()
    process.end_after(min(process.seconds(config, event), max(seconds, 0.1)), config, lambda: delivery.write(message))
    injection = process.reply_to(config, event, delivery.env, delivery.data or b"", started)
    process.end_after(0)
    return injection


def _asks_by_itself(delivery: Delivery) -> bool:
    """Whether the agent has an `inject` hook of its own."""
    return delivery.agent is not None and any(verb == "inject" for _, verb, _, _ in delivery.agent.HOOKS)


def merged(message: bytes, injection: bytes) -> bytes:
    """Return one JSON object that combines a hook's message and its injection."""
    if not (message and injection):
        return message or injection
    from mdmem.agents import payload

    return payload.encode(_merged_objects(payload.decode(message), payload.decode(injection))).encode() + b"\n"


def _merged_objects(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Merge two objects; for a common key, objects are merged, messages joined, and otherwise `second` wins."""
    whole = {**first, **second}
    for key in first.keys() & second.keys():
        if isinstance(first[key], dict) and isinstance(second[key], dict):
            whole[key] = _merged_objects(first[key], second[key])
        elif key in _MESSAGES and first[key] != second[key]:
            whole[key] = f"{first[key]}\n{second[key]}"
    return whole


if __name__ == "__main__":
    main(sys.argv[1:])
