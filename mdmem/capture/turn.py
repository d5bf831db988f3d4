"""The turn: whether what happens until the next prompt is private, and what its private sections said.

A mark says that a turn is private. It is made before a prompt is judged, in two places that are seldom lost
together, so that a hook that is killed, or a state folder that is deleted, leaves the turn private.
"""

from __future__ import annotations

import os

from mdmem import note
from mdmem.errors import VaultError
from mdmem.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem import privacy
    from mdmem.capture.session import Session
    from mdmem.capture.store import Capture
    from mdmem.config import Config

OPENERS = frozenset("<[＜［")
"""What a private tag begins with, also in full width."""


def is_private(at: Capture) -> bool:
    """Say whether the turn is private: its prompt was, or state was lost and nothing shows that it was not."""
    if any(map(os.path.exists, _marks(at))):
        return True
    if not at.event.prompt_id or at.session.is_continuous() or _has_prompt(at):
        return False
    mark_private(at)
    return True


def _has_prompt(at: Capture) -> bool:
    """Say whether the vault shows that the prompt of this turn was stored; so does a session that it has no note of."""
    try:
        folder = at.session.open_folder()
        if folder is None:
            return True  # a session that began before mdmem was installed
        with folder:
            folder.lock()  # a hook that is storing the session's first note has no record yet, and no note either
            at.session.read()
            names = [name for name in folder.names() if numbers(name)]
    except (OSError, VaultError):
        return True  # a vault that cannot be read tells nothing, and nothing can be stored in it
    wanted = f"-{note.make_id(at.session.id, at.event.prompt_id, 'prompt')}.md"
    return at.session.is_continuous() or not names or any(name.endswith(wanted) for name in names)


def mark_private(at: Capture) -> None:
    """Say that nothing of this turn is to be stored."""
    marked = [_make(mark) for mark in _marks(at)]
    if not any(marked):
        from mdmem import log

        log.write(at.config, "a private turn could not be marked: neither state nor runtime folder can be written")


def mark_open(at: Capture) -> None:
    """Say that this turn may be stored."""
    for mark in _marks(at):
        _remove(mark)


def end(at: Capture) -> None:
    """Forget what was marked in this session."""
    mark_open(at)
    _remove(_echo_path(at.config, at.session))


def _marks(at: Capture) -> tuple[str, str]:
    return at.session.flag("private"), os.path.join(at.config.runtime_dir, f"{at.session.key}.private")


def _make(path: str) -> bool:
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError:
        return False
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


# -- what private sections said --------------------------------------------------------------------


def load_echo(at: Capture) -> privacy.Echo | None:
    """Recall what the session's private sections said, in a form that only tells it when it is met again."""
    path = _echo_path(at.config, at.session)
    if not os.path.exists(path):
        return None
    from mdmem.privacy import echo

    return echo.load(path)


def remember_echo(at: Capture, spans: tuple[str, ...]) -> None:
    """Remember what private sections said, so that an agent that repeats it is not stored saying it."""
    if not spans:
        return
    from mdmem.privacy import echo

    try:
        echo.remember(_echo_path(at.config, at.session), spans)
    except OSError as error:
        from mdmem import log

        log.write(at.config, "what was private cannot be remembered, nor recognised when it is repeated", error)


def _echo_path(config: Config, session: Session) -> str:
    return os.path.join(config.runtime_dir, f"{session.key}.echo")
