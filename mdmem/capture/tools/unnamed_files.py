"""Files that a run may show lines of without naming them: those below a folder, and earlier versions in git.

Examples: `grep -rh`, `find … -exec cat`, `cat $FILE`; `git show HEAD~2:plan.md`, `git blame`, a diff. The private tags
may be in no line that is shown, and in no file on disk.
"""

from __future__ import annotations

import os
import time

from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, Any

_LISTING = frozenset(["fd", "fdfind", "find", "git", "ls", "printf", "echo"])
_SEARCHING = frozenset(["ack", "ag", "egrep", "fgrep", "git", "grep", "rg"])
_WITHOUT_NAMES = frozenset(["-I", "--no-filename", "--nofilename"])
_EACH = frozenset([
    "xargs", "parallel", "grep", "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch", "foreach",
])  # fmt: skip
"""Words of a command that runs another one on each file that it lists, or in each submodule."""
_NAMES_ALONE = ("--files", "--count", "--quiet")
_BEFORE_COMMAND = frozenset(["do", "then", "else", "{", "(", "sudo", "time", "command", "nice", "env"])
_NO_TEXT = frozenset([".git", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", "target", "dist"])
"""Folders without anybody's notes."""
_MOST_FILES = 3000
_WALK_SECONDS = 0.5


class Showing(Value):
    """A tool run that may show lines of files that it does not name.

    name, input: the tool and its input under Claude Code's names. folder: where it ran. words: the command's words.
    asked: the paths in the input. reading: programs that print the content of files.
    """

    name: str
    input: dict[str, Any]
    folder: str
    command: str
    words: list[str]
    asked: list[str]
    output: str
    reading: frozenset[str]

    def others(self, named: list[str]) -> Iterator[str]:
        """Yield the files that the run may show besides those it names, if it may show any."""
        if self.name != "Read" and _may_show(self, is_named=bool(named)):
            asked = [os.path.join(self.folder, os.path.expanduser(path)) for path in (*self.asked, *self.words)]
            yield from below([path for path in asked if os.path.isdir(path)] or [self.folder])

    def earlier(self, named: list[str], tags: tuple[str, ...]) -> Iterator[bytes]:
        """Yield earlier versions of files; for a deleted file that git does not have, the output itself as private."""
        if self.name != "Read":
            yield from versions(self)
        elif not named and os.path.isdir(self.folder):
            in_git = [data for path in self.asked for data in committed(os.path.join(self.folder, path))]
            yield from in_git
            if not in_git and any(self.input.get(key) for key in _PART_KEYS):
                yield f"<{tags[0]}>\n{self.output}\n</{tags[0]}>".encode()


_PART_KEYS = ("offset", "limit", "view_range", "start_line", "end_line", "startLine", "endLine", "range", "pages")


def quoted(command: str) -> list[str]:
    """Return a command's words with quotes and backslashes resolved: `'my plan.md'`, `p''lan.md`."""
    quotations = [part for quote in "\"'" for part in command.split(quote)[1::2] if " " in part]
    for sign in ("''", '""'):
        command = command.replace(sign, "")
    if "\\" in command:
        command = command.replace("\\ ", "\0").replace("\\", "")
    return [*quotations, *[word.replace("\0", " ") for word in command.replace("'", " ").replace('"', " ").split(" ")]]


def _may_show(run: Showing, *, is_named: bool) -> bool:
    """Whether a run shows the content of files, possibly of others than those it names."""
    if run.name == "Grep" or run.name.startswith("mcp__"):
        return not is_named and run.input.get("output_mode", "content") == "content"
    shell = "".join(run.command.split("'")[::2])
    is_open = any(f"${sign}" in shell for sign in "{(") or any(
        part[:1].isalpha() for part in shell.replace("$PWD", "").replace("$HOME", "").split("$")[1:]
    )
    return any(_reads(line, run.reading, is_named and not is_open and "{" not in shell) for line in _commands(shell))


def _commands(shell: str) -> list[str]:
    for sign in ("&&", "||", ";", "$(", "`"):
        shell = shell.replace(sign, "\n")
    return shell.split("\n")


def _reads(line: str, reading: frozenset[str], is_named: bool) -> bool:
    words = line.split()
    while words and (words[0] in _BEFORE_COMMAND or "=" in words[0]):
        del words[0]
    if not words:
        return False
    program = words[0].rpartition("/")[2]
    searches = program in _SEARCHING
    if searches and any(word in _WITHOUT_NAMES or (word[:1] == "-" != word[1:2] and "h" in word) for word in words):
        return program != "git" or "grep" in words
    if is_named or (searches and any(_asks_for_names(word) for word in words)):
        return False
    return program in reading or (program in _LISTING and not _EACH.isdisjoint(words))


def _asks_for_names(word: str) -> bool:
    """Whether an option prints the names of matching files or counts, not lines."""
    is_short = word[:1] == "-" != word[1:2]
    return word.startswith(_NAMES_ALONE) or (is_short and not {"l", "L", "c", "q"}.isdisjoint(word))


def below(folders: list[str]) -> Iterator[str]:
    """Yield the files below folders, within limits of number and time; the time includes the caller's work on each."""
    end = time.monotonic() + _WALK_SECONDS
    count = 0
    for folder in dict.fromkeys(folders):
        for path, subfolders, names in os.walk(folder):
            subfolders[:] = sorted(name for name in subfolders if name not in _NO_TEXT)
            for name in sorted(names):
                count += 1
                if count > _MOST_FILES or time.monotonic() > end:
                    return
                yield os.path.join(path, name)


# -- in git


SECONDS = 2.0
"""Time limit for git."""

_MAX_BYTES = 2 << 20
_MAX_BYTES_IN_ALL = 32 << 20
_MOST_NAMES = 1000
_MOST_COMMITS = 300
_SHOWING = frozenset([
    "annotate", "archive", "blame", "cat-file", "diff", "format-patch", "grep", "log", "reflog", "show", "stash",
    "whatchanged",
])  # fmt: skip
_PRINTING = frozenset(["diff", "format-patch", "log", "show", "stash", "whatchanged"])
"""Subcommands that may print lines of earlier versions."""
_WITH_PATCHES = ("-p", "-u", "--patch", "-L", "-U", "-G", "-S", "-c", "--cc")
_SUMMARIES = (
    "--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--compact-summary", "--no-patch", "--quiet",
)  # fmt: skip
"""Options that make git print no line of a file, unless a patch is requested as well."""
_LOSING = frozenset(["rm", "mv", "unlink"])
"""Commands that remove a file from its place."""


def versions(run: Showing) -> Iterator[bytes]:
    """Yield the earlier versions of files of which a command may show lines."""
    words, output = run.words, run.output
    is_git = _shows_versions(words)
    is_losing = not _LOSING.isdisjoint(words) or ("sed" in words and "-i" in words)
    if not output.strip() or not (is_git or is_losing):
        return
    until = time.monotonic() + SECONDS
    names = [*_ids(output), *_revisions(words, output)] if is_git else _revisions(words, "")
    is_found = False
    for data in _contents(run.folder, list(dict.fromkeys(names))[:_MOST_NAMES], until):
        is_found = True
        yield data
    printing = [command for command in _commands(run.command) if _prints_lines(command)] if is_git else []
    if printing and (not is_found or any("|" in command.replace("| head", "") for command in printing)):
        yield from _contents(run.folder, _changed(run.folder, until), until)


def _prints_lines(command: str) -> bool:
    """Whether a git command may print old lines of files, not only names and numbers."""
    words = command.split()
    if any(word.startswith(_WITH_PATCHES) for word in words):
        return "git" in command
    if "git" not in command or any(word.startswith(_SUMMARIES) for word in words):
        return False
    subcommand = words[words.index("git") + 1 :][:1] if "git" in words else []
    if subcommand == ["log"] or (subcommand == ["stash"] and "show" not in words):
        return False
    return any(name in command for name in (*_PRINTING, "~", "^"))


def _shows_versions(words: list[str]) -> bool:
    if "git" not in words or _SHOWING.isdisjoint(words):
        return False
    is_log = "log" in words or "reflog" in words
    return not is_log or any(word.startswith(_WITH_PATCHES) for word in words)


def committed(path: str) -> Iterator[bytes]:
    """Yield git's last versions of a file, which may be deleted, with its folder or without."""
    folder, name = os.path.split(path)
    while not os.path.isdir(folder) and os.path.basename(folder):
        folder, name = os.path.dirname(folder), f"{os.path.basename(folder)}/{name}"
    names = [f"{version}:./{name}" for version in ("HEAD", "", "HEAD~1")]
    return _contents(folder, names, time.monotonic() + SECONDS)


def _contents(folder: str, names: Iterable[str], until: float) -> Iterator[bytes]:
    """Yield git's objects with these names (`HEAD:./plan.md`, a blob's id), in order."""
    room = _MAX_BYTES_IN_ALL
    try:
        with _Git(folder, until, "cat-file", "--batch") as (requests, answers):
            for name in dict.fromkeys(names):
                if room < 0:
                    return
                requests.write(b"%b\n" % name.encode("utf-8", "replace").partition(b"\n")[0])
                requests.flush()
                fields = answers.readline().split()
                size = int(fields[2]) + 1 if len(fields) == 3 and fields[2].isdigit() else 0
                if fields[1:2] == [b"blob"] and size <= _MAX_BYTES:
                    room -= size
                    yield answers.read(size)
                    continue
                while size > 0 and (part := answers.read(min(size, _MAX_BYTES))):
                    size -= len(part)
    except (OSError, ValueError):
        return  # git is missing or took too long


def _ids(output: str) -> Iterator[str]:
    """Yield the blob ids in a patch: `index 12ab34c..56de78f 100644`."""
    for part in output.split("index ")[1:_MOST_NAMES]:
        line = part.partition("\n")[0].partition("\x1b")[0].split(" ")[0]
        for name in line.replace(",", "..").split(".."):
            if 4 <= len(name) <= 64 and name.isalnum() and name.strip("0"):
                yield name


def _revisions(words: list[str], output: str) -> Iterator[str]:
    """Yield what a command may have shown, as git's `revision:path` for each of its revisions and paths."""
    for line in output.split("\n", _MOST_LINES)[:_MOST_LINES]:
        if line.count(":") > 1:  # output of `git grep`
            yield ":./".join(line.split(":", 2)[:2])
    yield from (word for word in words if ":" in word[1:])
    bare = [word for word in words if word[:1] not in ("-", "+") and ":" not in word and word not in _SHOWING]
    paths = [word.removeprefix("./") for word in bare if "." in word.strip(".") or "/" in word]
    revisions = [part for word in bare for part in word.replace("...", "..").split("..") if part and part != "git"]
    for path in paths[:_MOST_PARTS]:
        yield from (f"{revision}:./{path}" for revision in ("HEAD", "", "HEAD~1", *revisions[:_MOST_PARTS]))


_MOST_LINES, _MOST_PARTS = 20, 6


def _changed(folder: str, until: float) -> Iterator[str]:
    """Yield the blob ids of recently changed files, before and after each change."""
    log = ("log", "--all", f"--max-count={_MOST_COMMITS}", "-m", "--format=", "--no-show-signature")
    options = ("--raw", "--no-abbrev", "--no-renames", "--ignore-submodules")
    for command in (("diff-files",), ("diff-index", "--cached", "HEAD"), log):
        with _Git(folder, until, *command, *options) as (_, answers):
            lines = answers.read(_MAX_BYTES).split(b"\n:")
        for fields in [line.split(None, 4) for line in lines]:
            yield from (name.decode() for name in fields[2:4] if name.strip(b"0"))


class _Git:
    """A running git process, killed at a given time; it starts no other program and fetches nothing.

    Raises OSError when git or the folder is missing.
    """

    def __init__(self, folder: str, until: float, *command: str) -> None:
        import subprocess  # few runs need git
        from threading import Timer

        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        env |= {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        self._process = subprocess.Popen(
            ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=env,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._timer = Timer(until - time.monotonic(), self._process.kill)

    def __enter__(self) -> tuple[IO[bytes], IO[bytes]]:
        self._timer.start()
        assert self._process.stdin and self._process.stdout
        return self._process.stdin, self._process.stdout

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()
