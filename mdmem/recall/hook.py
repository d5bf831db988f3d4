"""What agents start for an event: it is stored, and where it calls for memories, answered in the same process.

Storing comes first and never waits for a search. What a search does or fails to do leaves the stored note, the exit
code and what the user is told as they are.
"""

from __future__ import annotations

import os
import sys
import time

from mdmem import quick_import

quick_import.install()
from mdmem.capture import hook  # noqa: E402 - found the quick way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from mdmem.capture.hook import Delivery

SECONDS = 9.0
"""Storing and searching together take no longer: agents end a hook after 10 seconds or more."""

_ALWAYS = "PostToolUseFailure"
"""The event that is answered here also where an agent has a command of its own that asks for memories."""
_MESSAGES = ("systemMessage", "user_message", "message")
"""The keys under which agents take what their user is to read."""


def main(words: list[str], vault: str | None = None) -> NoReturn:
    """Run `mdmem hook WORDS`; never returns."""
    hook.finish(answered(words, vault))


def answered(words: list[str], vault: str | None = None, write: Callable[[bytes], None] | None = None) -> bytes:
    """Store the payload on stdin, whatever happens, and return what belongs on stdout.

    write: takes that instead, where a deadline ends the process; stdout otherwise.
    """
    started = time.monotonic()
    delivery = hook.Delivery(words, vault, os.environ, write=write)
    out = hook.stored(delivery)
    try:
        if "--report" not in words:
            out = merged(out, _given(delivery, out, SECONDS - (time.monotonic() - started)))
    except BaseException as error:  # noqa: BLE001 - the note is stored, and the agent goes on without memories
        hook.log_failure("inject failed", error, vault)
    return out


def _given(delivery: Delivery, said: bytes, room: float) -> bytes:
    """Return what the event is given; when its time has passed, the process ends with what there is to say."""
    event, settings = delivery.event, delivery.settings
    if event is None or settings is None or event.name not in hook.ANSWERED or event.subagent:
        return b""
    if event.name != _ALWAYS and "answer" not in event.extra and _asks_by_itself(delivery):
        return b""
    if delivery.is_spoken_for():
        return b""
    from mdmem.inject import process

    started = time.monotonic()
    process.end_after(min(process.seconds(settings, event), max(room, 0.1)), settings, lambda: delivery.write(said))
    given = process.after(settings, event, delivery.env, delivery.data or b"", started)
    process.end_after(0)
    return given


def _asks_by_itself(delivery: Delivery) -> bool:
    """Whether the agent has a command of its own that asks for memories."""
    return delivery.agent is not None and any(verb == "inject" for _, verb, _, _ in delivery.agent.HOOKS)


def merged(said: bytes, given: bytes) -> bytes:
    """Return one JSON object with what a hook says and what is injected."""
    if not (said and given):
        return said or given
    from mdmem.agents import payload

    return payload.encode(_joined(payload.decode(said), payload.decode(given))).encode() + b"\n"


def _joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return both objects as one: of what both have, messages are joined, and else `other` decides."""
    whole = {**one, **other}
    for key in one.keys() & other.keys():
        if isinstance(one[key], dict) and isinstance(other[key], dict):
            whole[key] = _joined(one[key], other[key])
        elif key in _MESSAGES and one[key] != other[key]:
            whole[key] = f"{one[key]}\n{other[key]}"
    return whole


if __name__ == "__main__":
    main(sys.argv[1:])
