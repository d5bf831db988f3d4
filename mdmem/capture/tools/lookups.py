"""Look-ups: recognizes shell commands that read mdmem's own memory, whose output is not stored again."""

from __future__ import annotations

READING = frozenset(
    [
        "search", "prompts", "related", "fixes", "about", "show", "list", "sessions", "history", "timeline",
        "decisions", "todo", "proposals", "injections", "digest", "stats", "tree", "log", "review", "why", "diff",
        "inject", "help",
    ]
)  # fmt: skip
"""mdmem's commands that print what the vault holds."""

REMARK = "What mdmem printed is left out."

_MAX_CHARS = 8 * 1024
_MAX_DEPTH = 3
_PROGRAMS = ("mdmem", "mdmem.exe", "mdmem.cmd")
_SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "fish"])
_BEFORE = frozenset(
    [
        "sudo", "command", "exec", "time", "nohup", "nice", "env", "timeout", "stdbuf", "builtin", "then", "do", "else",
        "if", "while", "until", "!", "uvx", "uv", "tool", "run", "pipx", "poetry", "pdm", "hatch", "rye", "conda",
        "xargs", "caffeinate", "setsid", "eval", "start", "&",
    ]
)  # fmt: skip
"""Words that can come before the actual program."""

_FILTERS = frozenset(
    [
        "head", "tail", "grep", "egrep", "fgrep", "rg", "less", "more", "cat", "jq", "sort", "uniq", "wc", "sed", "awk",
        "cut", "tr", "column", "fold", "nl", "tac", "tee", "python", "python3", "xargs", "bat", "fmt", "select-object",
        "select-string", "out-string",
    ]
)  # fmt: skip
"""Programs that a look-up's output may be piped through and still count as a look-up."""

_AROUND = frozenset(
    [
        "cd", "pwd", "echo", "printf", "export", "set", "source", ".", "true", ":", "sleep", "which", "type", "pushd",
        "popd", "test", "[", "fi", "done", "for", "clear", "unset", "exit", "set-location", "",
    ]
)  # fmt: skip
"""Commands that do not matter next to a look-up."""


def kind(command: str) -> str:
    """Return "all" if a shell command only looks things up in memory, "some" if it does more as well, else ""."""
    if "mdmem" not in command:
        return ""
    has_lookup = has_other = False
    for piped, words in _steps(command[:_MAX_CHARS], 0):
        words = _program(words)
        if not words:
            continue
        name = _base(words[0])
        if _is_lookup(words):
            has_lookup = True
        elif not (name in _AROUND or (piped and has_lookup and name in _FILTERS)):
            has_other = True
    return ("some" if has_other else "all") if has_lookup else ""


def _is_lookup(words: list[str]) -> bool:
    arguments = _arguments(words)
    return arguments is not None and (not arguments or arguments[0] in READING or arguments[0] in ("-h", "--help"))


def _arguments(words: list[str]) -> list[str] | None:
    """Return the arguments after mdmem's own options, or None if the command does not run mdmem."""
    name = _base(words[0])
    arguments: list[str] | None = None
    if name in _PROGRAMS:
        arguments = words[1:]
    elif name.startswith(("python", "pypy", "py.", "py3")) or name == "py":
        for at, word in enumerate(words[1:], 1):
            if word == "-m" and words[at + 1 : at + 2] == ["mdmem"]:
                arguments = words[at + 2 :]
                break
            if _base(word) in _PROGRAMS or word.replace("\\", "/").endswith("mdmem/__main__.py"):
                arguments = words[at + 1 :]
                break
            if not word.startswith("-"):
                break
    while arguments and arguments[0].startswith("-") and arguments[0] not in ("-h", "--help"):
        arguments = arguments[2 if arguments[0] == "--vault" else 1 :]
    return arguments


def _program(words: list[str]) -> list[str]:
    """Return a command without assignments and wrapper programs such as `sudo`, with their options and numbers."""
    if words and _base(words[0]) in _BEFORE:
        first = next((at for at, word in enumerate(words) if _base(word) in _PROGRAMS), 0)
        words = words[first:]
    at, is_behind_wrapper = 0, False
    while at < len(words):
        word = words[at]
        name, equals, _ = word.partition("=")
        is_set = bool(equals) and name.replace("_", "a").isalnum() and not name[:1].isdigit()
        if _base(word) in _BEFORE:
            is_behind_wrapper = True
        elif not (is_set or (is_behind_wrapper and (word.startswith("-") or word.rstrip("smhd").isdecimal()))):
            break
        at += 1
    return words[at:]


def _base(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].lower()


class _Steps:
    """The commands parsed so far, each with whether the one before it is piped into it."""

    __slots__ = ("_depth", "_piped", "_word", "_words", "found")

    def __init__(self, depth: int) -> None:
        self.found: list[tuple[bool, list[str]]] = []
        self._depth = depth
        self._piped = False
        self._words: list[str] = []
        self._word: str | None = None

    @property
    def between_words(self) -> bool:
        """Whether no word has begun."""
        return self._word is None

    def add(self, text: str) -> None:
        """Append to the current word, or begin a new one."""
        self._word = (self._word or "") + text

    def end_word(self) -> None:
        """End the word, if one has begun."""
        if self._word is not None:
            self._words.append(self._word)
        self._word = None

    def end(self, piped: bool = False) -> None:
        """End the command, if one has begun. piped: its output goes into the next one."""
        self.end_word()
        if self._words:
            self.found.extend(_inside(self._piped, self._words, self._depth))
        self._words, self._piped = [], piped


def _steps(command: str, depth: int) -> list[tuple[bool, list[str]]]:
    """Split a command line into commands, each with whether the one before it is piped into it."""
    steps, quote, at = _Steps(depth), "", 0
    while at < len(command):
        sign, following = command[at], command[at + 1 : at + 2]
        at += 1
        if quote == "'" and sign != "'":
            steps.add(sign)
        elif sign == "\\" and following and quote != "'":
            bare = following if quote or following in " \"'\\$`&|;<>()*?" else sign + following
            steps.add("" if following == "\n" else bare)
            at += 1
        elif quote != "'" and (sign == "`" or sign + following == "$("):
            steps.end()  # a nested command, wherever it is
            at += sign == "$"
            quote = ""
        elif sign == quote or (sign in "'\"" and not quote):
            steps.add("")
            quote = "" if quote else sign
        elif quote:
            steps.add(sign)
        else:
            at = _take(steps, command, at)
    steps.end()
    return steps.found


def _take(steps: _Steps, command: str, at: int) -> int:
    """Handle the unquoted character before `at`; return where to continue."""
    sign, following = command[at - 1], command[at : at + 1]
    if sign in " \t\r":
        steps.end_word()
    elif sign in ";\n(){}" or (sign == "&" and following != ">" and command[at - 2 : at - 1] != ">"):
        steps.end()
    elif sign == "|":
        steps.end(piped=following != "|")
        at += following in ("|", "&") and bool(following)
    elif sign in "<>":
        steps.end_word()
        while command[at : at + 1] in ("<", ">", "&", "|") and at < len(command):
            at += 1
        at = _after_target(command, at)
    elif sign == "#" and steps.between_words:
        at = command.find("\n", at)
        at = len(command) if at < 0 else at
    else:
        steps.add(sign)
    return at


def _after_target(command: str, at: int) -> int:
    """Return the end of the file name after a redirection."""
    while command[at : at + 1] in (" ", "\t"):
        at += 1
    while at < len(command) and command[at] not in " \t\n;|&()":
        at += 1
    return at


def _inside(piped: bool, words: list[str], depth: int) -> list[tuple[bool, list[str]]]:
    """Return a command, or the commands of the script that it passes to a shell."""
    bare = _program(words)
    if depth < _MAX_DEPTH and bare and _base(bare[0]) in _SHELLS:
        for place, option in enumerate(bare[1:-1], 1):
            script = bare[place + 1]
            if option.startswith("-") and option.endswith("c"):
                return _steps(script, depth + 1)
    return [(piped, words)]
