"""Launcher: repairs what keeps mdmem from starting, and says so where it cannot.

Nothing of mdmem is imported here, so that it works where nothing else does.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LOST = "mdmem failed, and this event is lost. Run `mdmem doctor` to see why."
_FORMS = {
    "claude-code": '{"systemMessage": "%s"}\n',
    "codex": '{"systemMessage": "%s"}\n',
    "gemini": '{"systemMessage": "%s"}\n',
    "cursor": '{"continue": true, "user_message": "%s"}\n',
    "opencode": '{"message": "%s"}\n',
}
"""An agent -> how it takes a message for its user; where it is missing, the agent shows none."""


def last_words(agent: str) -> bytes:
    """Return what tells an agent's user that an event is lost, when nothing else of mdmem works."""
    form = _FORMS.get(agent, "")
    return (form % LOST).encode() if form else b""


def recover(module: str, words: list[str], vault: str | None) -> None:
    """Run what could not be imported, without damaged bytecode; or say that its event is lost. Never returns."""
    try:
        repair()
        __import__(module, fromlist=["main"]).main(words, vault)
    except BaseException:  # noqa: BLE001 - nothing may hurt the agent
        if module.endswith("hook"):
            os.write(1, last_words(words[0]))
    os._exit(0)


def use_utf8() -> None:
    """Start this process again in Python's UTF-8 mode where the locale has another encoding for file names.

    Stdin is not touched. Where that fails, the process goes on as it is.
    """
    if sys.flags.utf8_mode or sys.getfilesystemencoding().lower() in ("utf-8", "utf8"):
        return
    try:
        os.execv(  # noqa: S606 - this same program
            sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        )
    except (OSError, ValueError):
        return


def repair() -> None:
    """Remove mdmem's damaged bytecode, if there is any, and read no bytecode any more in this process.

    A full disk leaves a cut `.pyc` behind, which the interpreter trusts and cannot load.
    """
    found = list(damaged())
    if found:
        sys.dont_write_bytecode = True
        sys.pycache_prefix = os.path.join(os.sep, "nonexistent")  # what is imported from here on is compiled afresh
    for path in found:
        try:
            os.unlink(path)
        except OSError:
            continue  # not ours to remove: `mdmem doctor` names it


def damaged() -> Iterator[str]:
    """Return the files of mdmem's bytecode that cannot be loaded."""
    import marshal

    for folder, _, names in os.walk(_package()):
        for name in names if os.path.basename(folder) == "__pycache__" else ():
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as file:
                    data = file.read()
                if name.endswith(".pyc"):
                    marshal.loads(data[16:])  # noqa: S302 - what the interpreter would load
            except FileNotFoundError:
                continue  # another process has just put it in place under its own name
            except (OSError, ValueError, TypeError, EOFError):
                yield path


def compile_all() -> bool:
    """Compile what mdmem has, so that no hook needs to; False when that cannot be written."""
    import compileall

    from mdmem import bytecode

    return bool(compileall.compile_dir(_package(), quiet=2)) and bytecode.write(_package())


def forget_compiled() -> None:
    """Remove the bytecode that `pip uninstall mdmem` would leave behind; it is written again when it is needed."""
    from mdmem import bytecode

    bytecode.remove(_package())


def _package() -> str:
    """Return mdmem's folder; this text may also be run without being a module."""
    if "__file__" in globals():
        return os.path.dirname(os.path.abspath(__file__))
    return next(path for folder in sys.path if os.path.isdir(path := os.path.join(folder, "mdmem", "capture")))[:-8]


if "failed" in globals():
    recover(*globals()["failed"])
