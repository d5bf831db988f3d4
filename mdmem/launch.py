"""Repair what keeps mdmem from starting, or say that it cannot start.

Nothing of mdmem is imported here, so that this works when nothing else does.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LOST = "mdmem failed, and this event is lost. Run `mdmem doctor` to see why."
FORMS = {
    "claude-code": '{"systemMessage": "%s"}\n',
    "codex": '{"systemMessage": "%s"}\n',
    "gemini": '{"systemMessage": "%s"}\n',
    "cursor": '{"continue": true, "user_message": "%s"}\n',
    "opencode": '{"message": "%s"}\n',
}
"""Agent -> format of a message for its user; agents that are missing here show none."""

WAIT_SECONDS = 4.0
"""How long a hook waits for an installer that is replacing mdmem's files."""
wait_until = 0.0
"""Until when this process waits in all, on the monotonic clock; 0 while it has not begun to."""
RECENT_SECONDS = 10
"""An installer may be at work if it has changed mdmem's folder in this time; half a package lasts a second or two."""


def lost_message(agent: str) -> bytes:
    """Return the message that an event is lost, in the agent's format, for when nothing else of mdmem works."""
    form = FORMS.get(agent, "")
    return (form % LOST).encode() if form else b""


LAUNCHER = "mdmem-run"
"""The name of the script that agents start."""
LOSSES = ".failed"
"""Suffix of the log beside the launcher of the events that failed processes lost."""
FAILED = "mdmem-failed"
"""The reason in that log."""
_MAX_LOG_BYTES = 64 * 1024
served_launcher = ""
"""The path of the launcher whose hooks this process serves; "" if it serves none."""


def record_loss(agent: str, launcher: str = "") -> bool:
    """Record for `mdmem doctor` that an event is lost, in a log beside the launcher; False if that is not possible.

    launcher: its path, by default that of the launcher that started this process or is served by it, if one is.
    """
    launcher = launcher or served_launcher or sys.argv[0]
    if not os.path.basename(launcher).startswith(LAUNCHER):
        return False
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(f"{launcher}{LOSSES}", flags, 0o600)
        try:
            if os.fstat(fd).st_size > _MAX_LOG_BYTES:
                os.ftruncate(fd, 0)
            os.write(fd, f"{time.time():.0f}\tunknown\t{agent}\t{FAILED}\n".encode())
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return False
    return True


def recover(module: str, words: list[str], vault: str | None) -> None:
    """Run a module that could not be imported, after a repair; or say that its event is lost. Never returns.

    A module that was imported has failed later: it may have read the event, which cannot be read again.
    """
    until = time.monotonic() + (WAIT_SECONDS if module.endswith("hook") else 0)
    try:
        if module not in sys.modules:
            repair()
            imported = _imported(module, until)
            if "mdmem.launch" in sys.modules:
                vars(sys.modules["mdmem.launch"])["wait_until"] = until
            imported.main(words, vault)
    except BaseException:  # noqa: BLE001, S110 - nothing may hurt the agent
        pass
    try:
        if module.endswith("hook"):
            record_loss(words[0])  # first: the agent may have closed its end
            os.write(1, lost_message(words[0]))
    finally:
        os._exit(0)


def _imported(module: str, until: float) -> Any:
    """Import a module, or raise its error if an installer does not complete its files in time."""
    try:
        return __import__(module, fromlist=["main"])
    except Exception:
        if found := import_replaced(module, until):
            return found
        raise


def import_replaced(module: str, until: float, data: bytes | None = None) -> Any:
    """Import a module once an installer that is replacing mdmem has written its files; None if none is at work.

    Modules of mdmem that are imported already may not fit the new ones, so they are forgotten.
    until: until when to wait for it, on the monotonic clock. data: what was read from stdin, None for nothing.
    """
    while time.monotonic() < until and is_being_replaced():
        restart_launcher(data)
        time.sleep(0.1)
        for name in [name for name in sys.modules if name.partition(".")[0] == "mdmem"]:
            del sys.modules[name]
        sys.path_importer_cache.clear()
        try:
            return __import__(module, fromlist=["main"])
        except Exception:  # noqa: BLE001, S112 - the files are not complete yet
            continue
    return None


def restart_launcher(data: bytes | None) -> None:
    """Run the launcher that started this process again if mdmem's files are gone; else return.

    An installer may put mdmem where this interpreter cannot import it, and then the launcher finds it.
    data: as in `import_replaced`.
    """
    launcher = sys.argv[0]
    if os.path.basename(launcher) != LAUNCHER or not os.access(launcher, os.R_OK):
        return
    try:
        os.stat(os.path.join(_package(), "launch.py"))
        return
    except FileNotFoundError:
        pass
    except OSError:
        return  # files that cannot be read need not be gone, and a shell might not start either
    try:
        import _signal  # type: ignore[import-not-found]

        _signal.setitimer(_signal.ITIMER_REAL, 0)  # a deadline would end the launcher
        if data is not None:
            source, target = os.pipe()
            if not os.fork():
                os.close(source)
                _write(target, data)
            os.close(target)
            os.dup2(source, 0)
        os.execv("/bin/sh", ["sh", *sys.argv])  # noqa: S606 - mdmem's own, which its disk may not let run by itself
    except OSError:
        return  # the launcher is gone as well


def _write(target: int, data: bytes) -> None:
    """Write the data and end this process, also if nobody reads it."""
    try:
        while data:
            data = data[os.write(target, data) :]
    finally:
        os._exit(0)


def is_being_replaced() -> bool:
    """Whether an installer may be replacing mdmem: its folder, or if that is gone the one above, has just changed."""
    folder = _package()
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        rooms = [entry.path for entry in os.scandir(folder) if entry.is_dir() and entry.name != "__pycache__"]
        changed = max(os.stat(path).st_mtime for path in (folder, *rooms))
    except OSError:
        return True  # a room, or the folder itself, has just gone
    return abs(time.time() - changed) < RECENT_SECONDS


def use_utf8() -> None:
    """Restart this process in Python's UTF-8 mode if the locale has another encoding for file names.

    Stdin is untouched. If restarting fails, the process continues.
    """
    if sys.flags.utf8_mode or sys.getfilesystemencoding().lower() in ("utf-8", "utf8"):
        return
    try:
        os.execv(  # noqa: S606 - the same program
            sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        )
    except (OSError, ValueError):
        return


def repair() -> None:
    """Delete mdmem's damaged bytecode, and if there was any, stop using bytecode in this process.

    A full disk leaves truncated `.pyc` files, which the interpreter accepts and then cannot load.
    """
    damaged_files = list(damaged())
    if damaged_files:
        sys.dont_write_bytecode = True
        sys.pycache_prefix = os.path.join(os.sep, "nonexistent")  # recompiles everything imported from here on
    for path in damaged_files:
        try:
            os.unlink(path)
        except OSError:
            continue  # not ours: `mdmem doctor` reports it


def damaged() -> Iterator[str]:
    """Yield mdmem's bytecode files that cannot be loaded."""
    import marshal

    for folder, _, names in os.walk(_package()):
        for name in names if os.path.basename(folder) == "__pycache__" else ():
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as file:
                    data = file.read()
                if name.endswith(".pyc"):
                    marshal.loads(data[16:])  # noqa: S302 - what the interpreter would load
            except OSError:
                continue  # gone or unreadable: the interpreter then uses the source
            except (ValueError, TypeError, EOFError):
                yield path


def is_compiled() -> bool:
    """Whether the files that hooks load are from this interpreter and these sources: not after an upgrade."""
    from mdmem import preload

    try:
        return bool(preload.read(_package()))
    except (OSError, ValueError, TypeError, EOFError):
        return False


def can_compile() -> bool:
    """Whether bytecode can be written: not if another user installed mdmem."""
    folder = os.path.join(_package(), "__pycache__")
    place = folder if os.path.isdir(folder) else _package()
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def compile_all() -> bool:
    """Compile all of mdmem, so that no hook has to; False when bytecode cannot be written."""
    import compileall

    from mdmem import bytecode

    return can_compile() and bool(compileall.compile_dir(_package(), quiet=2)) and bytecode.write(_package())


def forget_compiled() -> None:
    """Delete the bytecode that `pip uninstall mdmem` would leave behind; it is rewritten when needed."""
    from mdmem import bytecode

    bytecode.remove(_package())


def _package() -> str:
    """Return mdmem's folder; this text may also run outside a module."""
    if "__file__" in globals():
        return os.path.dirname(os.path.abspath(__file__))
    return next(path for folder in sys.path if os.path.isdir(path := os.path.join(folder, "mdmem", "capture")))[:-8]


if "failed" in globals():
    recover(*globals()["failed"])
