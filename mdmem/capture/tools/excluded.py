"""Excluded: whether a tool run is about a file of which nothing is stored, or about what such a run has left behind.

A run that reads an excluded file may write it to another file, or print it later under the number of a task. The
session's record keeps digests of these names, and a run that names one of them is left out as well.
"""

from __future__ import annotations

import os

from mdmem.agents import command_line, goes_on
from mdmem.capture.tools import shown_files
from mdmem.hashing import short
from mdmem.vault import exclusions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mdmem.capture.pending import Capture

_LEFT = "left-behind"
"""Kind of a line of the session's record: digests of the names under which excluded content may come again."""

_PROSE_KEYS = frozenset((
    "content", "contents", "description", "file_text", "new_source", "new_str", "new_string", "newString", "old_str",
    "old_string", "oldString", "pattern", "prompt", "query", "text", "todos",
))  # fmt: skip
"""Keys of a tool's input whose values are not names of files."""
_CONTENT = frozenset((
    "", "content", "contents", "file_text", "llmContent", "new_source", "new_str", "new_string", "newString", "output",
    "stderr", "stdout", "text", "textResultForLlm", "text_result_for_llm",
))  # fmt: skip
"""Keys of a run's input and response under which a file's content is."""
_COMMAND_KEYS = ("command", "cmd", "script", "chars")
_COPIERS = frozenset(("cp", "mv", "ln", "install", "scp", "rsync", "tee", "Copy-Item", "Move-Item", "copy", "move"))
_PRINTERS = frozenset(("cat", "head", "tail", "less", "more", "zcat", "bat", "nl", "tac", "xxd", "base64", "strings"))
"""Programs whose first argument is a file."""
_TARGETS = frozenset((">", "-o", "--output", "-out", "-O", "-OutFile", "-FilePath"))
"""Words before the name of a file that a command writes."""
_LONGEST_SHOWN = 256 * 1024
_MOST_WORDS, _LONGEST_COMMAND, _LONGEST_PATH, _DEEPEST, _MARK_CHARS = 2000, 16 * 1024, 4096, 8, 16


def is_about(capture: Capture, tool_input: Any, files: Iterable[str]) -> bool:
    """Whether a run is about an excluded file, or repeats what an earlier run of the session took from one.

    tool_input: the run's. files: the files that its note would name.
    """
    command = command_line(tool_input, *_COMMAND_KEYS)[:_LONGEST_COMMAND]
    words = shown_files.words_of(command)[:_MOST_WORDS] if command else []
    folders = [capture.event.cwd, *shown_files.folders_of(capture.event.cwd, words)]
    root = capture.project.worktree
    paths = [
        *(os.path.join(root, os.path.expanduser(path)) for path in files),
        *_absolute([*_strings(tool_input, 0), *_names(words, folders)], folders, root),
    ]
    read_before = {mark for line in capture.session.lines(_LEFT) for mark in line}
    is_excluded = not all(exclusions.takes_path(capture.config, path, capture.project) for path in paths)
    if not is_excluded and read_before:
        stems = [os.path.basename(path).partition(".")[0] for path in paths]
        is_excluded = not read_before.isdisjoint(map(_mark, [*paths, *stems, *_ids(tool_input)]))
    if is_excluded:
        marks = {_mark(name) for name in _left_behind(capture, command, folders)} - read_before
        if marks:
            capture.session.append(_LEFT, *sorted(marks))
    return is_excluded


def values_in(shown: Any) -> tuple[str, ...]:
    """Return the distinctive values in what a run shows of an excluded file: `NAME=value`, `name: value`.

    shown: a JSON value, such as a run's input and response.
    """
    from mdmem.privacy.secrets import printed, repeated

    found: dict[str, None] = {}
    for text in _texts(shown, 0):
        text = text[:_LONGEST_SHOWN]
        for start, end, _ in printed.values_in(text):
            value = text[start:end]
            name, sign, rest = value.partition("=")  # "1: NAME=value"
            value = rest if sign and rest and name.rpartition(" ")[2].isidentifier() else value
            value = value.partition(" #")[0].strip(" \"'")
            if repeated.is_telling(value) and value.isprintable() and _is_value(value):
                found[value] = None
            if len(found) >= repeated.MOST:
                return tuple(found)
    return tuple(found)


def _is_value(value: str) -> bool:
    """Whether a value is neither a date, an address or a version, nor code."""
    from mdmem.privacy.secrets import values

    return any(map(str.isalpha, value.lstrip("v"))) and not values.is_code(value, numbers=True)


def _texts(value: Any, depth: int, key: str = "") -> Iterator[str]:
    """Yield the strings of a JSON value that may be a file's content, by their key."""
    if isinstance(value, str):
        if key in _CONTENT:
            yield value
    elif depth < _DEEPEST and isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, depth + 1, name)
    elif depth < _DEEPEST and isinstance(value, list):
        for item in value:
            yield from _texts(item, depth + 1, key)


def _mark(name: str) -> str:
    return short(name, _MARK_CHARS)


def _strings(value: Any, depth: int) -> Iterator[str]:
    """Yield the strings of a run's input that may be paths."""
    if isinstance(value, str):
        if 0 < len(value) <= _LONGEST_PATH and "\n" not in value:
            yield value.removeprefix("file://")
    elif isinstance(value, dict) and depth < _DEEPEST:
        for key, item in value.items():
            if key not in _PROSE_KEYS and key not in _COMMAND_KEYS:
                yield from _strings(item, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for item in value:
            yield from _strings(item, depth + 1)


def _names(words: list[str], folders: list[str]) -> Iterator[str]:
    """Yield the words of a command that may name files: with a slash or dot, after `cat` and the like, or on disk."""
    before = ""
    for word in words:
        is_path = "/" in word.strip("/") or "." in word.rstrip(".") or word[-1] == "/"
        if is_path or before in _PRINTERS or any(os.path.isfile(os.path.join(folder, word)) for folder in folders):
            yield word
        before = word


def _absolute(names: list[str], folders: list[str], root: str) -> Iterator[str]:
    """Yield the paths that names may stand for. One of another machine or container may be the project's there."""
    for name in dict.fromkeys(names):
        expanded = os.path.expanduser(name)
        for folder in folders:
            for path in shown_files.matching(os.path.join(folder, expanded)):
                yield os.path.normpath(path)
        if expanded[:1] == "/" and not os.path.lexists(expanded):
            yield os.path.normpath(os.path.join(root, expanded.lstrip("/")))


def _ids(tool_input: Any) -> Iterator[str]:
    """Yield the numbers of tasks and shells in a run's input."""
    for key, value in tool_input.items() if isinstance(tool_input, dict) else ():
        if key.lower().endswith(("id", "ids")):
            yield from (str(number) for number in (value if isinstance(value, list) else [value]))


def _left_behind(capture: Capture, command: str, folders: list[str]) -> Iterator[str]:
    """Yield the names under which the content of an excluded file may come again: files and tasks."""
    response = capture.event.tool_response
    if goes_on(response):
        for value in response.values():
            signs = "".join([char if char.isalnum() or char in "-_" else " " for char in str(value)[:_LONGEST_PATH]])
            yield from (word for word in signs.split() if any(map(str.isdecimal, word)))
    for name in _written(command):
        for folder in folders if not name.startswith("/dev/") else ():
            yield os.path.normpath(os.path.join(folder, os.path.expanduser(name)))


def _written(command: str) -> Iterator[str]:
    """Yield the files that a command writes: where its output goes, and the last argument of `cp` and the like."""
    for sign in ("&&", "||", ";", "|", "\n"):
        command = command.replace(sign, " ; ")
    words = command.replace("&>", ">").replace(">>", ">").replace(">", " > ").split()
    program, last = "", ""
    arguments: list[str] = []
    for before, raw in zip(["", *words], [*words, ";"], strict=True):
        word = raw.strip("\"'()")
        if raw == ";":
            if program in _COPIERS and arguments:
                yield last
                yield from (os.path.join(last, os.path.basename(argument)) for argument in arguments[:-1])
            program, last, arguments = "", "", []
        elif before in _TARGETS:
            yield word
        elif not program:
            program = "" if "=" in word or word in ("sudo", "time", "env", "command") else os.path.basename(word)
        elif word[:1] != "-":
            last = word.removeprefix("of=")
            arguments.append(word)
            if program == "tee" or word != last:
                yield last
