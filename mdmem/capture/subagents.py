"""Running sub-agents, for agents whose payloads do not tell a sub-agent's runs from the user's.

Such an agent announces the run that starts a sub-agent both before and after it; every run in between is the
sub-agent's. If a killed sub-agent is never reported as ended, the next prompt ends it.
"""

from __future__ import annotations

from mdmem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.capture.session import Session

_FLAG = "subagents"
_MAX_BYTES = 4096


def begin(session: Session) -> None:
    """Record that a sub-agent has begun."""
    _append(session, b"+")


def end(session: Session) -> None:
    """Record that a sub-agent has ended."""
    if is_at_work(session):
        _append(session, b"-")


def is_at_work(session: Session) -> bool:
    """Whether a sub-agent is running."""
    data = files.try_read_own(session.flag(_FLAG), _MAX_BYTES)
    return data.count(b"+") > data.count(b"-")


def forget(session: Session) -> None:
    """Treat all sub-agents as ended."""
    files.remove(session.flag(_FLAG))


def _append(session: Session, sign: bytes) -> None:
    try:
        files.append(session.flag(_FLAG), sign)
    except OSError:
        return
