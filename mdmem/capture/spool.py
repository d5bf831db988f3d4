"""The spool: cleaned notes that the vault could not take, until it can.

A note lies there as JSON, 0600, in the user's state folder: never the raw payload, only what would have
been the note. The next hook, or `mdmem index`, brings it home in the order of its writing; a session's next
note waits behind those of its own that still wait.
"""

from __future__ import annotations

import os
import time

from mdmem import log, note, privacy, vault
from mdmem.capture.store import Capture, Draft, Outcome, publish
from mdmem.errors import VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.config import Config

MAX_AT_ONCE = 20
"""How many notes of other sessions a hook brings home before it does its own work; `mdmem index` brings all."""

_MAX_STUCK = 3  # sessions: a vault that takes none of theirs will hardly take another's
_FORMAT = 2


def folder(config: Config) -> str:
    """Name the spool's folder; it need not exist."""
    return os.path.join(config.state_dir, "spool")


def waiting(config: Config) -> list[str]:
    """List the files that wait, oldest first."""
    try:
        return sorted(name for name in os.listdir(folder(config)) if name.endswith(".json"))
    except OSError:
        return []


def waits(config: Config, session_key: str) -> bool:
    """Say whether notes of this session wait."""
    return any(name.endswith(f"-{session_key}.json") for name in waiting(config))


def keep(at: Capture, draft: Draft, made: note.Note) -> bool:
    """Keep a note that could not be stored; False when it could not be kept either."""
    import json

    project = [getattr(at.project, slot) for slot in at.project.__slots__]
    value = {
        "format": _FORMAT,
        "meta": made.meta,
        "slug": made.slug,
        "body": made.body,
        "kind": draft.kind,
        "label": draft.label,
        "has_id": bool(draft.identity),
        "agent": at.event.agent,
        "session": at.session.id,
        "prompt_note": at.prompt_note(),
        "now": at.now,
        "project": privacy.clean(project, rules=at.rules, origin="tool").value,
    }
    data = json.dumps(value).encode()
    for _ in range(3):
        try:
            _write(at.config, at.session.key, data)
        except FileNotFoundError:
            continue  # emptied by another process, which removed the folder, just now
        except OSError:
            return False
        return True
    return False


def _write(config: Config, session_key: str, data: bytes) -> None:
    os.makedirs(folder(config), 0o700, exist_ok=True)
    last = max([int(name[:20]) for name in waiting(config) if name[:20].isdigit()], default=0)
    number = max(time.time_ns(), last + 1)  # a clock that was set back changes nothing in the order
    path = os.path.join(folder(config), f"{number:020d}-{os.getpid()}-{session_key}.json")
    temp = f"{path}.tmp"
    try:
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.rename(temp, path)
    except BaseException:
        _remove(temp)
        raise
    if config.settings["capture.durability"] == "power":
        above = os.open(folder(config), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(above)
        finally:
            os.close(above)


def bring_home(config: Config, most: int | None = None, session_key: str = "") -> int:
    """Store what waits, oldest first; give how many came home.

    most: try at most so many, beside all of the session called `session_key`. A note that still cannot be stored
    keeps back only those of its own session. One process does this at a time, and others wait for it.

    Raises:
        TimeoutError: when another process does it for too long.
    """
    path = folder(config)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return 0
    with vault.Folder(fd, path) as spool:
        spool.lock()
        home = _bring_home(config, most, session_key)
        _tidy(config)
    return home


def _bring_home(config: Config, most: int | None, session_key: str) -> int:
    home = 0
    stuck: set[str] = set()
    if not os.path.isdir(config.vault):
        return home
    others = [name for name in waiting(config) if _key(name) != session_key][:most]
    for name in sorted([*others, *[name for name in waiting(config) if _key(name) == session_key]]):
        path = os.path.join(folder(config), name)
        if _key(name) in stuck or (most is not None and len(stuck) >= _MAX_STUCK):
            continue
        try:
            _publish(config, path)
        except FileNotFoundError as error:
            if error.filename == path:
                continue  # by a process that found no lock to wait for
            stuck.add(_key(name))
        except (OSError, VaultError):
            stuck.add(_key(name))  # the vault still cannot take it
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.write(config, "a file in the spool is damaged and was put aside", error)
            _put_aside(path)
        else:
            _remove(path)
            home += 1
    return home


def _key(name: str) -> str:
    return name.removesuffix(".json").rpartition("-")[2]


class _Spooled(Capture):
    """The event of a note that waited, as far as it is needed to give the note its place."""

    __slots__ = ("_prompt_note",)

    def __init__(self, config: Config, kept: dict[str, Any]) -> None:
        from mdmem.agents import Event
        from mdmem.project import Project

        super().__init__(config, Event(agent=kept["agent"], name="", session=kept["session"]), float(kept["now"]))
        self._prompt_note = str(kept["prompt_note"])
        for slot, value in zip(Project.__slots__, kept["project"], strict=True):
            setattr(self.project, slot, value)

    def prompt_number(self) -> int:
        """Say which prompt the event belongs to; 0 before the first."""
        return self.session.number_of(self._prompt_note)


def _publish(config: Config, path: str) -> None:
    import json

    with open(path, "rb") as file:
        kept: dict[str, Any] = json.load(file)
    identity = ("its own",) if kept["has_id"] else ()
    draft = Draft(kept["kind"], None, lambda _: None, identity=identity, label=kept["label"])
    made = note.Note(kept["meta"], kept["slug"], kept["body"])
    publish(_Spooled(config, kept), draft, made, Outcome())


def _tidy(config: Config) -> None:
    """Remove the folder once it is empty, so that hooks see at a glance that nothing waits."""
    try:
        os.rmdir(folder(config))
    except OSError:
        return


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _put_aside(path: str) -> None:
    try:
        os.replace(path, f"{path}.damaged")
    except OSError:
        return
