"""The hook process that an agent starts: one payload on stdin, at most one note, always exit 0.

Losing a memory is bad; stopping the user's agent is worse. The hook never writes to stderr. On stdout it writes only
the JSON object of the agent's protocol, and only if there is something to say. A failed step is retried once, because
a full disk or a damaged bytecode file may have recovered; then the user is told.
"""

from __future__ import annotations

import os
import sys
import time

from mdmem import quick_import

quick_import.install()
from mdmem import launch  # noqa: E402 - imported through `quick_import`
from mdmem.agents import hook_process  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn, TypeVar

    from mdmem.agents import Agent, Event
    from mdmem.capture.pending import Outcome
    from mdmem.config import Config
    from mdmem.hook_errors import DeadlineError

    T = TypeVar("T")


ANSWERED = frozenset(["SessionStart", "UserPromptSubmit", "PostToolUseFailure"])
"""The events that are stored and may be answered with memories."""

READ_SECONDS = 4.0
"""Time limit for reading the payload from stdin."""

DEADLINE_SECONDS = 8.0
"""Time limit of a hook. Agents kill hooks after 10 seconds or more."""

SEEN_BYTES = 48
"""Size of the record of an agent's last event, padded with spaces so that it can be overwritten in place."""

GRACE_SECONDS = 1.0
"""Time to clean up and report after the deadline has passed; also the least time that is left after reading."""


def main(words: list[str], vault: str | None = None) -> NoReturn:
    """Store the payload of `mdmem hook WORDS`. Never returns. Commands that version 0.1 registered start here.

    WORDS are the agent's name, `--report` (print a report for people and scripts) and `--plugin` (a plugin runs this
    hook: stay silent if the user's own registration hears of the event too). The process exits without the
    interpreter's cleanup, which would cost a tenth of the hook.
    """
    finish(stored(Delivery(words, vault, os.environ)))


def stored(delivery: Delivery, until: float | None = None) -> bytes:
    """Store the payload on stdin and return what to print on stdout. Never raises.

    until: until when to wait for an installer that is replacing mdmem, on the monotonic clock.
    """
    delivery.until = until or launch.wait_until or time.monotonic() + launch.WAIT_SECONDS
    try:
        _attempt(_prepare)
        return delivery.run()
    except BaseException as error:  # noqa: BLE001 - the one place that may swallow anything
        is_unknown = delivery.agent is None and isinstance(error, KeyError)
        replaced = None if is_unknown else launch.import_replaced(__name__, delivery.until, delivery.data)
        if replaced:
            again = replaced.Delivery(delivery.words, delivery.vault, delivery.env, delivery.data, delivery.write)
            return replaced.stored(again, delivery.until)  # type: ignore[no-any-return]
        lost_message = delivery.lost_message()
        hook_process.log_failure("hook failed", error, delivery.vault)
        if delivery.is_lost() and not is_unknown:
            delivery.record_loss(type(error).__name__)
        if "--report" in delivery.words:
            return _line({"stored": False, "error": "unknown agent" if is_unknown else type(error).__name__})
        return lost_message


def finish(out: bytes) -> NoReturn:
    """Write `out` to stdout and exit with status 0."""
    hook_process.print_bytes(out)
    os._exit(0)


def _prepare() -> None:
    """Prepare the process: no garbage collection, no stderr, UTF-8, and /dev/null for missing streams."""
    import gc

    gc.disable()  # a collection costs a tenth of an interpreter start, and this process is short
    sys.stderr = None  # the standard library logs there what it cannot load, as without memory
    sys.dont_write_bytecode = True  # on a full disk a truncated file would break every later hook
    if not sys.flags.utf8_mode and sys.getfilesystemencoding() != "utf-8":
        launch.use_utf8()
    for number in (0, 1, 2):  # else a vault file could be opened as stdin, stdout or stderr
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class Delivery:
    """One payload and the progress made with it, so that a second attempt continues where the first failed."""

    __slots__ = ("agent", "config", "data", "env", "event", "name", "outcome", "until", "vault", "words", "write")

    def __init__(
        self,
        words: list[str],
        vault: str | None,
        env: Mapping[str, str],
        data: bytes | None = None,
        write: Callable[[bytes], None] | None = None,
    ) -> None:
        self.words = words
        self.name = words[0] if words and words[0][:1] != "-" else "claude-code"
        self.vault = vault
        self.env = env
        self.data = data
        self.write = write or hook_process.print_bytes
        self.agent: Agent | None = None
        self.config: Config | None = None
        self.event: Event | None = None
        self.outcome: Outcome | None = None
        self.until = 0.0

    def run(self) -> bytes:
        """Read the payload, store it and return what to print on stdout, within the deadline."""
        started = time.monotonic()
        if self.data is None:
            self.data = _attempt(_read)
        from mdmem import system
        from mdmem.hook_errors import DeadlineError

        _alarm(max(DEADLINE_SECONDS - (time.monotonic() - started), GRACE_SECONDS), DeadlineError, self.end)
        out = self.deliver()
        system.alarm(0, lambda *_: None)
        return out

    def deliver(self) -> bytes:
        """Store the payload and return what to print on stdout."""
        from mdmem.hook_errors import DeadlineError

        try:
            return _attempt(self._store_and_reply)
        except (Exception, DeadlineError) as error:
            if self.outcome is not None and not self.outcome.is_lost:
                return b""  # the note is safe; only the message about it failed
            if self._can_wait():
                raise
            return self._give_up(error)

    def _store_and_reply(self) -> bytes:
        """Store the payload and return what to print; called again, continue where the first call failed."""
        from mdmem import agents, config
        from mdmem.agents import payload

        self.agent = agents.load(self.name)
        self.config = config.load(self.vault, self.env)
        self.event = agents.Event(agent=self.agent.NAME, name="unknown")  # a placeholder until the payload is read
        try:
            self.event = self.agent.read(payload.decode(self.data or b""), self.env)
        except (payload.NoPayloadError, payload.PayloadTooLongError) as error:
            from mdmem.capture import unread

            self.event = unread.event(self.agent, self.data or b"", self.env)
            self.outcome = unread.outcome(self.config, self.event, self.data or b"", error, self.env)
            return self._answer(self.config, self.event, self.outcome)
        if "unread" in self.event.extra:
            self.outcome = _unread(self.config, self.event.extra["unread"])
        elif self.outcome is None or self.outcome.is_lost:
            from mdmem import timestamps
            from mdmem.capture import events

            now = timestamps.now(self.env)
            _record_last_event(self.config, self.event, now)
            self.outcome = events.capture(self.config, self.event, now, self.env)
            if self.outcome.is_lost and self._can_wait():
                raise ImportError
        return self._answer(self.config, self.event, self.outcome)

    def _can_wait(self) -> bool:
        """Whether the event may be stored with the files of an installer that is replacing mdmem."""
        return time.monotonic() < self.until and launch.is_being_replaced()

    def _answer(self, config: Config, event: Event, outcome: Outcome) -> bytes:
        if outcome.is_lost:
            from mdmem import timestamps
            from mdmem.capture import losses

            now = timestamps.now(self.env)
            outcome.counted = losses.record(config, event.name, event.agent, outcome.error, now)
        message = _message(config, event, outcome)
        if "--report" in self.words:
            return _line(_report(outcome, message))
        if self.defers_to_user_hooks():
            return b""
        reply = self.agent.reply(event, None, message) if message and self.agent else None
        return _line(reply) if reply else b""

    def defers_to_user_hooks(self) -> bool:
        """Whether this is a plugin's hook that must stay silent, because the user's own hooks get the same event."""
        if self.event is None:
            return False
        return hook_process.defers_to_user_hooks(self.words, self.event, self.env, hook_process.STORES)

    def _give_up(self, error: BaseException) -> bytes:
        """Return the message that the event is lost, if one can still be made."""
        if self.config is None or self.event is None:
            raise error
        self.outcome = _failed(self.config, "hook failed: the event is lost", error)
        return self._answer(self.config, self.event, self.outcome)

    def is_lost(self) -> bool:
        """Whether there is an event that is neither stored nor queued."""
        is_safe = self.outcome is not None and not self.outcome.is_lost
        return not is_safe and self.data != b""

    def lost_message(self) -> bytes:
        """Return the fixed message for the case that nothing else works; b"" if the note is safe."""
        return launch.lost_message(self.name) if self.is_lost() else b""

    def end(self) -> None:
        """Exit: the deadline has passed, and cleaning up hangs as well."""
        from mdmem import system

        self.write(self.lost_message())
        system.alarm(GRACE_SECONDS, lambda *_: os._exit(0))
        if self.is_lost():
            self.record_loss(launch.FAILED)
        os._exit(0)

    def record_loss(self, why: str) -> None:
        """Record that the event is lost, unless it is counted. Never fails. why: an exception's type.

        It is recorded beside the launcher, or, where none started this process, among the vault's losses.
        """
        if (self.outcome and self.outcome.counted) or launch.record_loss(self.name):
            return
        try:
            from mdmem import config, timestamps
            from mdmem.capture import losses

            settings = self.config or config.load(self.vault, self.env)
            event = self.event.name if self.event else "unknown"
            losses.record(settings, event, self.name, why, timestamps.now(self.env))
        except Exception:  # noqa: BLE001 - the user was told
            return


def _message(config: Config, event: Event, outcome: Outcome) -> str | None:
    """Return the message for the user, or None, which is the usual case."""
    if not outcome.is_worth_telling:
        return None
    from mdmem.capture import feedback

    return feedback.message(config, event, outcome)


def _attempt(work: Callable[[], T]) -> T:
    """Call `work`; if it fails, repair damaged bytecode and call it once more."""
    try:
        return work()
    except Exception:  # noqa: BLE001 - any failure may be transient
        launch.repair()
    return work()


def _alarm(seconds: float, error: type[DeadlineError], end: Callable[[], None]) -> None:
    """Raise `error` after `seconds`; GRACE_SECONDS later, call `end`."""
    from mdmem import system

    def ring(*_: object) -> None:
        if error.has_passed:
            end()
        error.has_passed = True
        raise error

    error.has_passed = False
    system.alarm(seconds, ring, GRACE_SECONDS)


def _read() -> bytes:
    from mdmem.agents import payload

    return payload.read_stdin(READ_SECONDS)


def run(words: list[str], data: bytes, vault: str | None = None, env: Mapping[str, str] | None = None) -> bytes:
    """Handle one payload and return what to print on stdout."""
    return Delivery(words, vault, os.environ if env is None else env, data).deliver()


def _failed(config: Config, what: str, error: BaseException) -> Outcome:
    from mdmem import log
    from mdmem.capture.pending import Outcome

    log.write(config, what, error)
    outcome = Outcome()
    outcome.error = type(error).__name__
    return outcome


def _unread(config: Config, key: str) -> Outcome:
    """Return the outcome of an event whose text has an unknown form: it is lost."""
    from mdmem.agents import payload

    return _failed(config, f"an event is lost: its {key} is neither text nor content blocks", payload.NoPayloadError())


def _record_last_event(config: Config, event: Event, now: float) -> None:
    """Record the agent's last event, for `mdmem status`."""
    from mdmem import files

    path = os.path.join(config.state_dir, "seen", event.agent)
    try:
        files.overwrite(path, f"{now:.0f} {event.name}".encode().ljust(SEEN_BYTES))
    except OSError:
        return


def _report(outcome: Outcome, message: str | None) -> dict[str, Any]:
    return {
        "stored": outcome.stored,
        "id": outcome.id or None,
        "path": outcome.path or None,
        "kind": outcome.kind or None,
        "private": outcome.private,
        "redacted": outcome.redacted,
        "feedback": message,
        "error": outcome.error or None,
        "ignored": outcome.ignored or None,
    }


def _line(value: dict[str, Any]) -> bytes:
    from mdmem.agents import payload

    return payload.encode(value).encode() + b"\n"


if __name__ == "__main__":
    main(sys.argv[1:])
