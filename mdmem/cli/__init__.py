"""The people's commands: parse arguments, call one function, print its result."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys

from mdmem import quick_import
from mdmem.errors import MdmemError, UsageError, VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a full disk."""
_LIMITS = {errno.EMFILE: "-n", errno.EFBIG: "-f"}
"""Error -> the option of the shell's `ulimit` that sets the limit which was met."""

BROKEN_PIPE = 141
"""Exit status when the reader closes the output early: that of a program ended by SIGPIPE."""


def main() -> NoReturn:
    """Run the command line and exit; an expected error is a sentence, not a traceback."""
    _open_missing_streams()
    try:
        _run_or_explain()
    except BrokenPipeError:  # head or less has seen enough; Python must not complain when it flushes at exit
        _close_streams(1, 2)
        sys.exit(BROKEN_PIPE)


def _close_streams(*numbers: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in numbers:
        os.dup2(nowhere, number)


def _open_missing_streams() -> None:
    """Open streams that were closed (`>&-`), or the next opened file would get their number, and the output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this stream's
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))


def _run_or_explain() -> NoReturn:
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # file names may not fit the terminal's encoding
                stream.reconfigure(errors="replace")
        code = _run()
        sys.stdout.flush()  # a closed pipe must fail here, not at exit
        gc.freeze()  # skips the last garbage collection, a sixth of a short command's time
    except BrokenPipeError:
        raise
    except Exception as error:  # the last resort: even a bug gets a message
        if "--debug" in sys.argv or os.environ.get("MDMEM_DEBUG"):
            raise
        message, code = _message_of(error)
        print(f"mdmem: {message}", file=sys.stderr, flush=True)
        _output_is_shut()  # else Python complains at its end
    sys.exit(code)


def _message_of(error: Exception) -> tuple[str, int]:
    """Return the message for an error that ends a command, and the exit status."""
    if isinstance(error, MdmemError):
        import re

        from mdmem.cli.terminal import render

        text = re.sub(r"[^\s/\\:]{256,}", lambda name: f"{name[0][:60]}…", str(error))  # longer than a name can be
        return render.safe(text), error.exit_code  # it may quote a commit's subject
    if isinstance(error, OSError):
        try:
            return _explained(error)
        except OSError:  # such as too many open files: the explanation cannot be loaded either
            return f"{error.strerror or error}. Run the command again when the system can open files.", 1
    if isinstance(error, MemoryError):
        return "There is not enough memory. What was stored before is safe; free some, then run the command again.", 1
    return (
        f"This is a bug in mdmem ({type(error).__name__}). Re-run with `--debug`"
        " and report the traceback. What was stored before is safe."
    ), 1


def _explained(error: OSError) -> tuple[str, int]:
    """Return the message for an error of the system, and the exit status."""
    from mdmem.cli.terminal import startup

    if not startup.here():
        return "The folder you are in was deleted. Change to another one, and try again.", 1
    if _output_is_shut() or _is_of_output(error):
        return f"The output cannot be written ({error.strerror or error}). Write it elsewhere, or free some space.", 1
    if error.errno == errno.ENAMETOOLONG:
        paths = f"{error.filename or ''}/{error.filename2 or ''}"
        name = max(paths.replace("\\", "/").split("/"), key=len)[:60]
        return f"A name is longer than the file system allows ({name}…). Choose a shorter one.", UsageError.exit_code
    if isinstance(error, NotADirectoryError) and error.filename:
        return f"{error.filename} is not a folder, or is below a file. Name a folder.", UsageError.exit_code
    if problem := _vault_problem(error):
        return problem, VaultError.exit_code
    from mdmem.views import wording

    if error.errno in _FULL:
        return f"{wording.cause(error)}. Free some space there and run the command again.", 1
    if limit := _LIMITS.get(error.errno or 0):
        return f"{wording.cause(error)}. This process may not have more: raise `ulimit {limit}`.", 1
    return f"{wording.cause(error)}. `mdmem doctor` may find the cause; `--debug` shows a traceback.", 1


def _output_is_shut() -> bool:
    """Whether stdout cannot be written, as on a full disk; if so, all output is discarded."""
    try:
        sys.stdout.flush()
    except OSError:
        _close_streams(1)
        return True
    return False


def _is_of_output(error: OSError) -> bool:
    """Whether printing met a full disk: commands, and what they print with, write no files by themselves.

    An unbuffered stdout (PYTHONUNBUFFERED) keeps nothing that a flush could fail to write.
    """
    if error.errno not in _FULL or error.filename is not None:
        return False
    from traceback import walk_tb

    *_, (frame, _) = walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith(("mdmem.cli.", "click.", "rich."))


def _vault_problem(error: OSError) -> str:
    """Return the message for an error from an unwritable vault or a full disk; "" for any other error."""
    from mdmem.vault import disk

    if isinstance(error, disk.NotSyncedError):  # a second run would store it twice
        return (
            f"{error.filename} is stored, but may not survive a power cut: its folder cannot be synced"
            f" ({os.strerror(error.errno or 0)}). There is no need to run the command again."
        )
    is_full = error.errno in _FULL
    if not is_full and error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ""
    from mdmem import config

    words = "\0".join(sys.argv).replace("\0--vault=", "\0--vault\0").split("\0")
    given = words[words.index("--vault") + 1 :] if "--vault" in words else []
    root = config.load(given[0] if given else None).vault
    place = str(error.filename or "")
    if place.startswith(os.sep) and not f"{place}{os.sep}".startswith(f"{root}{os.sep}"):
        return ""  # such as the target of an export
    if is_full:
        return (
            f"A disk that the vault at {root} needs is full ({error.strerror}). Free some space and run the command"
            " again. `mdmem doctor` names the disk; what was stored before is safe."
        )
    if not os.path.isdir(root) or os.access(root, os.W_OK | os.X_OK):  # noqa: PTH112 - as above
        return ""
    return f"The vault at {root} cannot be written ({error.strerror}). `mdmem doctor --only vault` says what to do."


def _run() -> int:
    """Run the command, without loading click if possible; return its exit status."""
    quick_import.install()
    from mdmem.cli.finding import plain

    if plain.run(sys.argv[1:]):
        return 0
    import click

    from mdmem.cli.group import cli

    stdout = sys.stdout
    try:
        code = cli.main(prog_name="mdmem", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Abort as error:
        if isinstance(error.__context__, EOFError):
            print("\nmdmem: Stopped: stdin ended before the question was answered.", file=sys.stderr, flush=True)
        else:
            print("mdmem: Stopped.", file=sys.stderr, flush=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit:
        if sys.stdout is not stdout:  # click sees a closed pipe first, replaces both streams, and exits with 1
            raise BrokenPipeError from None
        raise
