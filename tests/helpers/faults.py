"""Faults: events that meet one, where in a hook it happens, and what became of the event."""

from __future__ import annotations

import json
import os
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import frontmatter
import pytest

from mdmem import config, errors, launch
from mdmem.agents import hook_process
from mdmem.capture import hook
from mdmem.recall import hook as recall
from mdmem.vault import leftovers, note
from tests.conftest import notes
from tests.helpers import claude
from tests.helpers.claude import bash, contents, prompt, stop

EVENTS = {"prompt": prompt("Why does it fail?"), "tool": bash("3 passed"), "stop": stop("It is fixed.")}

EVERY = pytest.mark.parametrize(
    ("name", "step"),
    [("tool", 90), *(pytest.param(name, 1 if claude.FULL else 5, marks=pytest.mark.slow) for name in EVENTS)],
)
"""A few call sites in every run, a fifth of them where there is time, and all in a soak."""

PACKAGE = str(Path(launch.__file__).parent) + os.sep

SAFE = {
    launch.lost_message,
    recall.main,
    recall.answered,
    hook.stored,
    hook.finish,
    hook_process.print_bytes,
    hook.Delivery.lost_message,
    hook.Delivery.is_lost,
    hook.Delivery.run,
    hook.Delivery.__init__,
}
"""What a hook is made of where it has nothing left to tell with: a few lines that import nothing."""

SAFE_CODE = {function.__code__ for function in SAFE}


@contextmanager
def full_pipe() -> Iterator[int]:
    """Yield the end for writing of a pipe that is full and that nobody reads."""
    unread, into = os.pipe()
    os.set_blocking(into, False)
    with suppress(BlockingIOError):
        while os.write(into, b"." * 4096):
            pass
    os.set_blocking(into, True)
    yield into
    os.close(into)
    os.close(unread)


class ArbitraryError(Exception):
    """No error that anything expects."""


def fail(*_: Any, **__: Any) -> Any:
    """Raise what nothing expects."""
    raise ArbitraryError


def hang() -> Any:
    """Never return."""
    while True:
        time.sleep(0.05)


def hang_whatever_comes() -> Any:
    """Never return, even past the deadline."""
    while True:
        try:
            time.sleep(0.05)
        except errors.DeadlineError:
            continue


def at_each_call(happen: Callable[[int, types.CodeType], Any]) -> Callable[[], None]:
    """Return what has `happen` called at each call site of a function of mdmem: with its number, and the function."""

    def start() -> None:
        seen = set()

        def look(frame: types.FrameType, what: str, _: object) -> None:
            back = frame.f_back
            site = (frame.f_code, back and (back.f_code, back.f_lineno))
            if what == "call" and _is_ours(frame.f_code) and site not in seen:
                seen.add(site)
                happen(len(seen), frame.f_code)

        sys.setprofile(look)

    return start


def at_call(number: int, happen: Callable[[], Any]) -> Callable[[], None]:
    """Return what has `happen` called at the call site of this number, once."""
    return at_each_call(lambda place, _: happen() if place == number else None)


def _is_ours(code: types.CodeType) -> bool:
    return code.co_filename.startswith(PACKAGE) and code not in SAFE_CODE and code.co_name != "<module>"


def outcome(vault: Path, said: str) -> str:
    """Return where an event is: "vault", "queue", or "told"; "" for one that is lost in silence."""
    message = json.loads(said).get("systemMessage", "") if said else ""
    if list(vault.rglob("0??-0??-*.md")):
        return "vault"
    if list((Path(config.load(str(vault)).state_dir) / "spool").glob("*.json")):
        return "queue"
    return "told" if "lost" in message else ""


def written(vault: Path) -> list[str]:
    """Check that every file of the vault is whole and private and none is left over; return what the notes say."""
    found = notes(vault)
    for path in vault.rglob("*"):
        assert not leftovers.is_temp(path.name), path
        assert not path.is_file() or path.name == "mdmem.toml" or path.suffix == ".md", path
        if path.suffix == ".md":
            parsed = note.parse(path.read_bytes())
            assert parsed.problem is None
            assert parsed.meta["id"]
            assert path.stat().st_mode & 0o777 == 0o600
    ids = [frontmatter.loads(path.read_text("utf-8"))["id"] for path in found]
    assert len(set(ids)) == len(ids)
    assert all(path.name.endswith(f"-{name}.md") for path, name in zip(found, ids, strict=True))
    return contents(found)


def run_of(text: str) -> int:
    """Return which run a note is of: all its lines of output are that run's."""
    (line,) = {line for line in text.splitlines() if line.startswith("output of run")}
    return int(line.split()[-1])
