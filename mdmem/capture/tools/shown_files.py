"""Files shown: which files a tool run may show parts of, by the names in its input and its output."""

from __future__ import annotations

import os

from mdmem.agents import command_line
from mdmem.privacy.text import storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mdmem.agents import Event

_READING = frozenset([
    "Get-Content", "Select-String", "ack", "ag", "awk", "base64", "bat", "batcat", "cat", "column", "comm", "cut",
    "diff", "egrep", "expand", "fgrep", "fmt", "fold", "gawk", "gc", "grep", "head", "hexdump", "jq", "less",
    "more", "nl", "od", "paste", "perl", "pr", "rev", "rg", "ruby", "sed", "sort", "strings", "tac", "tail", "tr",
    "type", "uniq", "xxd", "yq",
])  # fmt: skip
"""Programs that print the content of files."""
_REACHING = _READING | {
    "-exec", "-execdir", "-ok", "-okdir", "fd", "fdfind", "git", "mv", "parallel", "rm", "unlink", "xargs",
}  # fmt: skip

_PATH_KEYS = ("file_path", "filePath", "path", "relative_path", "filename", "file", "uri", "paths", "files")
_TEXT_KEYS = ("stdout", "stderr", "content", "output", "llmContent", "text")
_FOLDER_KEYS = ("workdir", "directory", "dir_path")
_NO_NAME = "\"'`=<>;|&()$@{},"
_MOST_BLOCKS = 12
_MOST_NAMES = 1000
_MOST_LINES = 400
_MOST_FOLDERS = 4
_LONGEST_NAME = 400


def of(
    event: Event, name: str, tool_input: dict[str, Any], tags: tuple[str, ...]
) -> tuple[Iterable[str], Iterable[bytes]]:
    """Return the paths of the files that a run may show lines of, and earlier texts of such files, which git has.

    name, tool_input: the tool and its input under Claude Code's names.
    """
    command = storable(command_line(tool_input, "command", "chars"))  # `chars`: what Codex types into a running shell
    root = _root(event.cwd) if "git " in command else ""
    if root:
        for call in _SHOWS_ROOT:
            command = command.replace(call, root)
    words, output, input_paths = (
        words_of(command) if command else [],
        storable(_output(event.tool_response) or event.error or ""),
        list(_paths(tool_input)),
    )
    if "\x1b" in output:
        from mdmem.capture.tools import terminal

        output = terminal.without_escapes(output)
    folders = [
        event.cwd,
        *[os.path.join(event.cwd, tool_input[key]) for key in _FOLDER_KEYS if type(tool_input.get(key)) is str],
    ]
    folders += [root] if root else []  # git names files from there
    named_paths = _existing_files([*folders, *folders_of(event.cwd, words)], [*input_paths, *words, *_listed(output)])
    is_open = (
        name == "Grep"
        or (name[:5] == "mcp__" and input_paths != [] and not named_paths)
        or (name == "Read" and not named_paths)
        or not _REACHING.isdisjoint(words)
    )
    if not is_open or not output.strip():
        return named_paths, ()
    from mdmem.capture.tools import unnamed_files

    run = unnamed_files.Showing(name, tool_input, event.cwd, command, words, input_paths, output, _READING)
    others = run.others(named_paths)
    return (path for paths in (named_paths, others) for path in paths), run.earlier(named_paths, tags)


_SHOWS_ROOT = ("$(git rev-parse --show-toplevel)", "`git rev-parse --show-toplevel`")


def _root(cwd: str) -> str:
    """Return the top folder of the repository that a folder is in, or ""."""
    from mdmem import project

    return project.identify(cwd).worktree


def _existing_files(folders: list[str], names: list[str]) -> list[str]:
    """List the paths of files among names; those of another machine by their last part in the first of the folders."""
    folders = list(dict.fromkeys(folders))
    files: dict[str, None] = {}
    for name in list(dict.fromkeys(names))[:_MOST_NAMES]:
        if name[:1] == "-" or len(name) > _LONGEST_NAME:
            continue
        paths = [os.path.join(folder, os.path.expanduser(name)) for folder in folders]
        if name[:1] == "/" and not os.path.exists(name):
            paths = [os.path.join(folders[0], os.path.basename(name))]
        files.update((path, None) for pattern in paths for path in matching(pattern) if os.path.isfile(path))
    return list(files)[:_MOST_NAMES]


def _paths(tool_input: dict[str, Any]) -> Iterator[str]:
    """Yield the paths in a run's input, by the usual keys."""
    for key in _PATH_KEYS:
        value = tool_input.get(key)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str):
                yield storable(path).removeprefix("file://")


def _apart(text: str, signs: str) -> list[str]:
    """Split a text at blanks and signs."""
    for sign in signs:  # a table for `str.translate` costs more than short texts are worth
        if sign in text:
            text = text.replace(sign, " ")
    return text.split()


def words_of(command: str) -> list[str]:
    """Return a command's words that may name files, and their parts around a colon, as in `HEAD:plan.md`."""
    for call in ("$(pwd)", "`pwd`"):
        command = command.replace(call, ".")
    if "$" in command:
        for name, value in (("PWD", "."), ("HOME", "~")):
            command = command.replace(f"${name}", value).replace(f"${{{name}}}", value)
    words = _apart(command, _NO_NAME)
    if "\\" in command or "'" in command or '"' in command:
        from mdmem.capture.tools import unnamed_files

        words += unnamed_files.quoted(command)
    return [
        *words,
        *[part for word in words if ":" in word for part in word.removeprefix("file://").split(":") if part],
    ]


def folders_of(cwd: str, words: list[str]) -> list[str]:
    """Return the folders that a command changes to; its relative paths may start there."""
    entered = [word for before, word in zip(words, words[1:], strict=False) if before in _ENTERING]  # noqa: RUF007 - one import less
    return [os.path.join(cwd, os.path.expanduser(word)) for word in entered[:_MOST_FOLDERS]]


_ENTERING = ("cd", "pushd", "-C")


def matching(path: str) -> list[str]:
    """Return the files that match a path with wildcards."""
    if "*" not in path and "?" not in path and "[" not in path:
        return [path]
    from fnmatch import fnmatch

    folder, name = os.path.split(path)
    try:
        names = [candidate for candidate in sorted(os.listdir(folder)) if candidate == name or fnmatch(candidate, name)]
    except (OSError, ValueError):
        return []
    return [os.path.join(folder, candidate) for candidate in names[:_MOST_NAMES]]


def _output(response: Any) -> str:
    if isinstance(response, dict) and isinstance(response.get("file"), dict):
        response = response["file"]
    if isinstance(response, dict):
        response = [item for key in _TEXT_KEYS for item in _listed_under(response, key)]
    if isinstance(response, list):
        blocks = [block.get("text") if isinstance(block, dict) else block for block in response[:_MOST_BLOCKS]]
        response = "\n".join([block for block in blocks if isinstance(block, str)])
    return response if isinstance(response, str) else ""


def _listed_under(response: dict[str, Any], key: str) -> list[Any]:
    value = response.get(key)
    return value if isinstance(value, list) else [value] if value else []


def _listed(output: str) -> Iterator[str]:
    """List the files that an output shows lines of: `path:12:…`, `a.path:…`, `+++ b/path` of a patch, a heading."""
    lines = output.split("\n") if ":" in output or "+++ " in output else []
    if len(lines) > 2 * _MOST_LINES:
        lines[_MOST_LINES:-_MOST_LINES] = []  # only the ends of a long output are stored
    heading = ""
    for line in lines:
        if line.startswith(("+++ ", "--- ", "diff --git ", "File: ")):
            yield from (line.rpartition(" b/")[2].rstrip(), line.rpartition(" ")[2].rstrip())
        elif ":" in line[:200]:
            name, _, after_colon = line.partition(":")
            if name.strip().isdecimal():
                yield heading
            elif (after_colon[:1].isdecimal() or not after_colon.strip() or "." in name) and " " not in name:
                yield name
        heading = line.strip() if " " not in line.strip() else ""
    yield from _pointed_at("\n".join(lines))


def _pointed_at(output: str) -> Iterator[str]:
    """List the files whose lines an output gives the numbers of: `(path:12:7)`, `path(12,7)`, `"path", line 12`."""
    words = [word for word in _apart(output, _NO_NAME + ":[]") if word != "line"]
    for word, number in zip(words, words[1:], strict=False):  # noqa: RUF007 - one import less
        if number.isdecimal() and ("." in word or "/" in word):
            yield word
