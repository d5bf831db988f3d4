"""The process that an agent starts: one payload on stdin, at most one note, exit 0, whatever happens.

Losing a memory is bad; stopping the user's agent is worse. Nothing is ever written to stderr, and on
stdout only the one JSON object that the agent's protocol wants, when there is something to say.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mdmem.agents import Event
    from mdmem.capture.store import Outcome
    from mdmem.config import Config


READ_SECONDS = 4.0
"""An agent that never closes stdin is not waited for longer: what it has written by then is the payload."""


def main(words: list[str], vault: str | None = None) -> None:
    """Run `mdmem hook WORDS`: an agent's name, and `--report` for people and scripts. Never returns.

    `--plugin` says that a plugin runs it, which leaves it to the user's own registration, if any, to speak.
    The process ends here, without the interpreter's own tidying up, which costs a tenth of the hook.
    """
    import gc

    gc.disable()  # looking for rubbish in so short a life costs a tenth of an interpreter start
    out = b""
    try:
        _open_streams()
        out = run(words, _read(), vault)
    except BaseException as error:  # noqa: BLE001 - the one place that may swallow anything
        _log("hook failed", error, vault)
    try:
        while out:
            out = out[os.write(1, out) :]
    except OSError:
        pass  # the agent has closed its end
    os._exit(0)


def _open_streams() -> None:
    """Put /dev/null where the agent gave no stream, so that no file of the vault is taken for one."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _read() -> bytes:
    """Read stdin, but for `READ_SECONDS` at most."""
    import _signal  # type: ignore[import-not-found]  # `signal` itself loads enum

    from mdmem.agents import payload

    def ring(*_: object) -> None:
        raise TimeoutError

    if not hasattr(_signal, "setitimer"):
        return payload.read_stdin()
    _signal.signal(_signal.SIGALRM, ring)
    _signal.setitimer(_signal.ITIMER_REAL, READ_SECONDS)
    try:
        return payload.read_stdin()
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def run(words: list[str], data: bytes, vault: str | None = None, env: Mapping[str, str] | None = None) -> bytes:
    """Handle one payload; give what belongs on stdout."""
    from mdmem import agents, config
    from mdmem.agents import claude_code, payload

    env = os.environ if env is None else env
    agent = agents.load(next((word for word in words if not word.startswith("-")), "claude-code"))
    settings = config.load(vault, env)
    event = agents.Event(agent=agent.NAME, name="PostToolUse")  # until it is known which one it is
    try:
        event = agent.read(payload.decode(data), env)
        outcome = capture(settings, event, env)
    except payload.NoPayloadError as error:
        outcome = _failed(settings, f"{len(data)} bytes are no payload", error, ignored="no payload")
    except Exception as error:  # noqa: BLE001 - a fault of mdmem's own is told like one of the vault's
        outcome = _failed(settings, "hook failed", error)
    if "--report" in words:
        return _line(_report(settings, event, outcome))
    if "--plugin" in words and claude_code.is_registered("mdmem.capture.hook", event.cwd, env):
        return b""  # the user's own registration hears of the same event, and says what there is to say
    message = feedback(settings, event, outcome)
    reply = agent.reply(event, None, message) if message else None
    return _line(reply) if reply else b""


def _failed(config: Config, what: str, error: Exception, ignored: str = "") -> Outcome:
    from mdmem import log
    from mdmem.capture.store import Outcome

    log.write(config, what, error)
    outcome = Outcome(ignored)
    outcome.error = type(error).__name__
    return outcome


def capture(config: Config, event: Event, env: Mapping[str, str]) -> Outcome:
    """Store what the event leaves, after what waits in the spool."""
    from mdmem.capture import events

    now = _now(env)
    _seen(config, event, now)
    return events.capture(config, event, now, env)


def _now(env: Mapping[str, str]) -> float:
    """Tell the time, in seconds since the epoch; MDMEM_NOW sets it, if it is one that a note can be written at."""
    try:
        now = float(env.get("MDMEM_NOW", ""))
    except ValueError:
        return time.time()
    return now if 0 <= now < 1 << 37 else time.time()


def _seen(config: Config, event: Event, now: float) -> None:
    """Note which event of which agent was last heard of, for `mdmem status`."""
    path = os.path.join(config.state_dir, "seen", event.agent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        try:
            fd = os.open(path, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            fd = os.open(path, flags, 0o600)
        os.write(fd, f"{now:.0f} {event.name}".encode())
        os.close(fd)
    except OSError:
        return


# -- what the user hears ---------------------------------------------------------------------------


def feedback(config: Config, event: Event, outcome: Outcome) -> str | None:
    """Say what the user should know: kept out of a prompt, a tag never closed, a note that is not stored."""
    said = []
    if outcome.error and not outcome.ignored and _first_time(config, event):
        kept = "is kept aside until it can" if outcome.waits else "is not stored: no folder takes it"
        said.append(f"mdmem could not write to its vault; what you do {kept}. `mdmem doctor` says why.")
    if event.name == "UserPromptSubmit" and config.settings["privacy.feedback"]:
        if outcome.unclosed:
            kept = config.settings["privacy.unclosed"] == "keep"
            what = (
                "its text was stored, as privacy.unclosed says"
                if kept
                else "everything after it was kept out of memory"
            )
            said.append(f"mdmem: a private tag was not closed; {what}.")
        if outcome.ignored == "private":
            said.append("mdmem: this prompt is private; nothing of this turn is remembered.")
        elif outcome.private and not outcome.unclosed:
            many = f"{outcome.private} private sections were" if outcome.private > 1 else "1 private section was"
            said.append(f"mdmem: {many} kept out of memory.")
    return " ".join(said) or None


def _first_time(config: Config, event: Event) -> bool:
    """Say whether this session has not heard it yet; where nothing can be marked, prompts alone tell it."""
    from mdmem.digest import short

    name = f"{short(event.session, 16)}.told"
    for place in (os.path.join(config.state_dir, "sessions"), config.runtime_dir):
        try:
            os.makedirs(place, 0o700, exist_ok=True)
            os.close(os.open(os.path.join(place, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
        except OSError:
            continue
        return True
    return event.name == "UserPromptSubmit"


def _report(config: Config, event: Event, outcome: Outcome) -> dict[str, Any]:
    return {
        "stored": outcome.stored,
        "id": outcome.id or None,
        "path": outcome.path or None,
        "kind": outcome.kind or None,
        "private": outcome.private,
        "redacted": outcome.redacted,
        "feedback": feedback(config, event, outcome),
        "error": outcome.error or None,
        "ignored": outcome.ignored or None,
    }


def _line(value: dict[str, Any]) -> bytes:
    from mdmem.agents import payload

    return payload.encode(value).encode() + b"\n"


def _log(what: str, error: BaseException, vault: str | None) -> None:
    try:
        from mdmem import config, log

        log.write(config.load(vault), what, error)
    except BaseException:  # noqa: BLE001 - not even the log may hurt the agent
        return


if __name__ == "__main__":
    main(sys.argv[1:])
