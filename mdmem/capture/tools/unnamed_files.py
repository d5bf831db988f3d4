"""Files that a run does not name, and of which it may show lines: those below a folder, and earlier versions in git.

`grep -rh`, `find … -exec cat`, `cat $FILE`; `git show HEAD~2:plan.md`, `git blame`, a diff: the tags may stand in no
line that is shown, and in no file on disk.
"""

from __future__ import annotations

import os
import time

from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_LISTING = frozenset(["fd", "fdfind", "find", "git", "ls", "printf", "echo"])
_SEARCHING = frozenset(["ack", "ag", "egrep", "fgrep", "git", "grep", "rg"])
_WITHOUT_NAMES = frozenset(["-I", "--no-filename", "--nofilename"])
_NAMES_ALONE = ("--files", "--count", "--quiet")
_BEFORE_COMMAND = frozenset(["do", "then", "else", "{", "(", "sudo", "time", "command", "nice", "env"])
_NO_TEXT = frozenset([".git", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", "target", "dist"])
"""Folders that nobody writes notes in."""
_MOST_FILES = 3000
_WALK_SECONDS = 0.5


class Showing(Value):
    """A run of a tool that may show lines of files that it does not name.

    name, given: the tool and its input in Claude Code's words. folder: where it ran. words: of its command. asked: the
    paths that it was given. reading: the programs that print what stands in files.
    """

    name: str
    given: dict[str, Any]
    folder: str
    command: str
    words: list[str]
    asked: list[str]
    output: str
    reading: frozenset[str]

    def others(self, named: list[str]) -> Iterator[str]:
        """Yield further files than those that it names, where it must show lines of these."""
        if self.name != "Read" and _may_show(self, is_named=bool(named)):
            asked = [os.path.join(self.folder, os.path.expanduser(path)) for path in (*self.asked, *self.words)]
            yield from below([path for path in asked if os.path.isdir(path)] or [self.folder])

    def earlier(self, named: list[str], tags: tuple[str, ...]) -> Iterator[bytes]:
        """Yield earlier versions of files; of one that is gone and that nobody has, what is shown, as private."""
        if self.name != "Read":
            yield from versions(self, tags)
        elif not named and os.path.isdir(self.folder):
            known = list(_gone(self.folder, self.asked))
            yield from known
            if not known and any(self.given.get(key) for key in _PART_KEYS):
                yield f"<{tags[0]}>\n{self.output}\n</{tags[0]}>".encode()


_PART_KEYS = ("offset", "limit", "view_range", "start_line", "end_line", "startLine", "endLine", "range", "pages")


def quoted(command: str) -> list[str]:
    """List what quotation marks and backslashes make of the words of a command: `'my plan.md'`, `p''lan.md`."""
    found = [part for quote in "\"'" for part in command.split(quote)[1::2] if " " in part]
    for sign in ("''", '""'):
        command = command.replace(sign, "")
    if "\\" in command:
        command = command.replace("\\ ", "\0").replace("\\", "")
    return [*found, *[word.replace("\0", " ") for word in command.replace("'", " ").replace('"', " ").split(" ")]]


def _may_show(run: Showing, *, is_named: bool) -> bool:
    """Whether a run shows what stands in files, but perhaps in others than those that it names, if it names any."""
    if run.name == "Grep" or run.name.startswith("mcp__"):
        return not is_named and run.given.get("output_mode", "content") == "content"
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
    return program in reading or (program in _LISTING and not {"xargs", "-exec", "grep"}.isdisjoint(words))


def _asks_for_names(word: str) -> bool:
    """Whether an option asks for the names of files that match, or for numbers, not for lines."""
    is_short = word[:1] == "-" != word[1:2]
    return word.startswith(_NAMES_ALONE) or (is_short and not {"l", "L", "c", "q"}.isdisjoint(word))


def below(folders: list[str]) -> Iterator[str]:
    """Yield the files below folders, as many as there is time for, with what is done with each."""
    end = time.monotonic() + _WALK_SECONDS
    count = 0
    for folder in dict.fromkeys(folders):
        for path, inside, names in os.walk(folder):
            inside[:] = sorted(name for name in inside if name not in _NO_TEXT)
            for name in sorted(names):
                count += 1
                if count > _MOST_FILES or time.monotonic() > end:
                    return
                yield os.path.join(path, name)


# -- in git


SECONDS = 2.0
"""git is not waited for any longer."""

_MAX_BYTES = 4 << 20
_MAX_BYTES_IN_ALL = 32 << 20
_MOST_NAMES = 200
_MOST_COMMITS = 300
_SHOWING = frozenset([
    "annotate", "archive", "blame", "cat-file", "diff", "format-patch", "grep", "log", "reflog", "show", "stash",
    "whatchanged",
])  # fmt: skip
_PRINTING = frozenset(["diff", "format-patch", "log", "show", "stash", "whatchanged"])
"""Those that show no line of a file as it is now."""
_WITH_PATCHES = ("-p", "-u", "--patch", "-L", "-U", "-G", "-S", "-c", "--cc")
_SUMMARIES = (
    "--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--compact-summary", "--no-patch", "--quiet",
)  # fmt: skip
"""Options with which git prints no line of any file, unless a patch is asked for as well."""
_LOSING = frozenset(["rm", "mv", "unlink"])
"""Commands after which a file is no longer where it was."""


def versions(run: Showing, tags: tuple[str, ...]) -> Iterator[bytes]:
    """Yield the earlier versions of files that a run of a command may show lines of."""
    words, output = run.words, run.output
    is_git = _shows_versions(words)
    is_losing = not _LOSING.isdisjoint(words) or ("sed" in words and "-i" in words)
    if not output.strip() or not (is_git or is_losing):
        return
    ids = list(_ids(output)) if is_git else []
    found = list(_contents(run.folder, [*ids, *_revisions(words, output if is_git else "")]))
    yield from found
    if is_git and not found and any(map(_prints_lines, _commands(run.command))):
        yield from _changed(run.folder, tags)


def _prints_lines(command: str) -> bool:
    """Whether a command of git may print lines of files as they were, and not names and numbers alone."""
    words = command.split()
    if any(word.startswith(_WITH_PATCHES) for word in words):
        return "git" in command
    if "git" not in command or any(word.startswith(_SUMMARIES) for word in words):
        return False
    asked = words[words.index("git") + 1 :][:1] if "git" in words else []
    if asked == ["log"] or (asked == ["stash"] and "show" not in words):
        return False
    return any(name in command for name in (*_PRINTING, "~", "^"))


def _shows_versions(words: list[str]) -> bool:
    if "git" not in words or _SHOWING.isdisjoint(words):
        return False
    is_log = "log" in words or "reflog" in words
    return not is_log or any(word.startswith(_WITH_PATCHES) for word in words)


def _gone(folder: str, paths: list[str]) -> Iterator[bytes]:
    """Yield what git has of files that are gone."""
    below = [os.path.relpath(os.path.join(folder, path), folder) for path in paths]
    return _contents(folder, [f"{version}:./{path}" for path in below for version in ("HEAD", "", "HEAD~1")])


def _contents(folder: str, names: Iterable[str]) -> Iterator[bytes]:
    """Yield what git has under these names (`HEAD:./plan.md`, the id of a blob), as seen from a folder."""
    asked = "\n".join(list(dict.fromkeys(names))[:_MOST_NAMES]).encode("utf-8", "replace")
    checked = _git(folder, ["cat-file", f"--batch-check={_FIELDS}"], asked) if asked else b""
    lines = [line.split() for line in checked.split(b"\n")]
    found = [line for line in lines if len(line) == 3 and line[1] == b"blob" and line[2].isdigit()]
    sizes = {blob: int(size) for blob, _, size in found}
    blobs, room = [], _MAX_BYTES_IN_ALL
    for blob, size in sizes.items():
        if size <= min(_MAX_BYTES, room):
            blobs.append(blob)
            room -= size
    data = _git(folder, ["cat-file", "--batch"], b"\n".join(blobs)) if blobs else b""
    while data:
        head, _, data = data.partition(b"\n")
        fields = head.split()
        size = int(fields[2]) if len(fields) == 3 else 0
        yield data[:size]
        data = data[size + 1 :]


_FIELDS = "%(objectname) %(objecttype) %(objectsize)"


def _ids(output: str) -> Iterator[str]:
    """List the ids of blobs that a patch names: `index 12ab34c..56de78f 100644`."""
    for part in output.split("index ")[1:_MOST_NAMES]:
        line = part.partition("\n")[0].partition("\x1b")[0].split(" ")[0]
        for name in line.replace(",", "..").split(".."):
            if 4 <= len(name) <= 64 and name.isalnum() and name.strip("0"):
                yield name


def _revisions(words: list[str], output: str) -> Iterator[str]:
    """List what a command may have shown: each of its revisions of each of its paths, as git names it."""
    for line in output.split("\n", _MOST_LINES)[:_MOST_LINES]:
        if line.count(":") > 1:  # of `git grep`
            yield ":./".join(line.split(":", 2)[:2])
    yield from (word for word in words if ":" in word[1:])
    bare = [word for word in words if word[:1] not in ("-", "+") and ":" not in word and word not in _SHOWING]
    paths = [word.removeprefix("./") for word in bare if "." in word.strip(".") or "/" in word]
    revisions = [part for word in bare for part in word.replace("...", "..").split("..") if part and part != "git"]
    for path in paths[:_MOST_PARTS]:
        yield from (f"{revision}:./{path}" for revision in ("HEAD", "", "HEAD~1", *revisions[:_MOST_PARTS]))


_MOST_LINES, _MOST_PARTS = 20, 6


def _changed(folder: str, tags: tuple[str, ...]) -> Iterator[bytes]:
    """Yield the files in which lines with tags were added or taken out lately, before and after."""
    pattern = f"[][</-][[:space:]]*({'|'.join(tags)})"
    commits = _git(folder, ["rev-list", "--all", f"--max-count={_MOST_COMMITS}"])
    command = [
        "log", "--no-walk=unsorted", "--stdin", "-p", "-U100000", "--no-ext-diff", "--no-textconv", "--no-color",
        "--no-show-signature", "--ignore-submodules", "--format=", "-i", "-E", f"-G{pattern}",
    ]  # fmt: skip
    patches = _git(folder, command, commits) if commits else b""
    for patch in patches.split(b"\ndiff --git ")[:_MOST_NAMES]:
        lines = patch.partition(b"\n@@")[2].split(b"\n")[1:]
        for sign in (b"-", b"+"):
            yield b"\n".join([line[1:] for line in lines if line[:1] in (b" ", sign)])


def _git(folder: str, command: list[str], given: bytes = b"") -> bytes:
    """Return what git prints, if it is in time; it runs no other program, and asks nobody for what is missing."""
    import subprocess  # few runs show what only git has

    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never", *command],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=env,
            timeout=SECONDS,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return b""
    return done.stdout
