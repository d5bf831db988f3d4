"""`open`, and the programs to read and write notes in: the user's editor, Obsidian, VS Code."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import click

from mdmem import files
from mdmem.cli.terminal import completions, options, render
from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.vault import archives

_IN_TERMINAL = ("sensible-editor", "nano", "vim", "vi")
"""Editors that, without a terminal, wait forever for input."""


def words() -> list[str]:
    """Return the command line of the user's editor: $VISUAL, $EDITOR, or one that is installed.

    Raises MdmemError when there is none.
    """
    if named := _command():
        return shlex.split(named)
    found = next((path for name in _IN_TERMINAL if (path := shutil.which(name))), None)
    if found is None:
        raise MdmemError("No editor was found. Set one: `export EDITOR=nano`.")
    return [found]


def _command() -> str:
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""


def check() -> None:
    """Raise MdmemError if the user's editor cannot be started here."""
    _check(words(), _SET)


def edit(path: str) -> None:
    """Open a file in the user's editor, and wait until it is closed.

    Raises MdmemError when the editor cannot be started or fails.
    """
    _run([*words(), path])


def ask(config: Config, text: str) -> str:
    """Open `text` in the user's editor; return what they saved.

    The draft may be private: it is kept in the user's own runtime folder, and deleted afterwards.

    Raises MdmemError when the editor cannot be started or fails.
    """
    files.make_folder(config.runtime_dir)
    with tempfile.TemporaryDirectory(prefix="note-", dir=config.runtime_dir) as folder:
        path = Path(folder) / "note.md"
        path.write_text(text, encoding="utf-8")
        edit(str(path))
        return path.read_text(encoding="utf-8", errors="replace")


_SET = "Set $EDITOR to your editor."


def _check(line: list[str], tip: str) -> None:
    if not _command() and Path(line[0]).name in _IN_TERMINAL and not sys.stdin.isatty():
        raise MdmemError(f"{line[0]} needs a terminal, and there is none. {tip}")
    if shutil.which(line[0]) is None:
        raise MdmemError(f"{line[0]} could not be started ({os.strerror(errno.ENOENT)}). {tip}")


def _run(line: list[str], instead: str = "") -> None:
    """Run a program until it ends. instead: what else the user can do, where the program is not their editor."""
    tip = instead or _SET
    _check(line, tip)
    try:
        status = subprocess.run(line).returncode
    except OSError as error:
        raise MdmemError(f"{line[0]} could not be started ({error.strerror}). {tip}") from error
    if status:
        told = f". {instead}" if instead else "; nothing was saved."
        raise MdmemError(f"{line[0]} ended with status {status}{told}")


_OPENERS = (["wslview"], ["xdg-open"], ["gio", "open"])


def _opener() -> list[str]:
    """Return the desktop's command for opening any file."""
    if sys.platform == "darwin":
        return ["open"]
    return next((line for line in _OPENERS if shutil.which(line[0])), ["xdg-open"])


WAYS: dict[str, Callable[[str], list[str]]] = {
    "obsidian": lambda path: [*_opener(), f"obsidian://open?path={quote(path, safe='')}"],
    "code": lambda path: ["code", path],
    "editor": lambda path: [*words(), path],
    "files": lambda path: [*_opener(), path],
}
"""Where to open -> the command line for a path."""


def default_way(vault: str) -> str:
    """Return where to open: Obsidian if it has opened the vault before, VS Code if installed, else the editor."""
    if Path(vault, ".obsidian").is_dir():
        return "obsidian"
    return "code" if shutil.which("code") else "editor"


@click.command("open")
@click.argument("reference", metavar="[NOTE]", default="", shell_complete=completions.notes)
@click.option(
    "--in",
    "where",
    type=click.Choice(list(WAYS)),
    help="Where to open it (default: what fits the vault and this machine).",
)
@click.option("--print", "only_print", is_flag=True, help="Print the command line without running it.")
@options.as_json("an object: path, command (without running it)")
@options.in_vault
def open_vault(config: Config, reference: str, where: str | None, only_print: bool, as_json: bool) -> None:
    """Open the vault, or NOTE (an id or a path), in Obsidian, VS Code, your editor or the file manager.

    A note of an archived session is in one file with the session's other notes, and that is opened.

    \b
    Example:  mdmem open
              mdmem open mem:7m2x4kd9qp --in editor
    """
    from mdmem.search import index

    note = archives.file_of(config, index.resolve(config, reference)) if reference else ""
    path = str(Path(config.vault, note))
    where = where or default_way(config.vault)
    line = WAYS[where](path)
    if as_json:
        render.print_json({"path": path, "command": line})
    elif only_print:
        click.echo(shlex.join(line))
    elif where == "editor":
        _run(line)
    else:
        _run(line, "`mdmem open --in editor` opens it in your editor.")
