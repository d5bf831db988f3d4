"""Entities: finds names in notes by rule: issue numbers, commits, addresses, packages, symbols, errors, commands.

This runs when a note is indexed. A text is first searched for the string that a rule begins with, so that `re` compiles
only the rules that are needed.
"""

from __future__ import annotations

import sys
from itertools import chain

from mdmem.lazy_pattern import lazy
from mdmem.search import runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_CHARS = 20_000
MAX_ENTITIES = 24
_MAX_NAME_CHARS = 200
_NUMBER = lazy(r"#(?<![\w&/#]#)([1-9]\d{0,5})\b(?![;-])")
_ADDRESS = lazy(r"http(?<!\whttp)s?://[^\s<>()\[\]\"'`]{3,200}[^\s<>()\[\]\"'`.,;:!?]")
_ISSUE_PAGE = lazy(r"/(?:issues|pull|merge_requests)/(\d{1,6})\b")
MIN_HASH_CHARS = 7
_HASH = r"([0-9a-f]{7,40})\b"
_COMMITS = (
    ("commit ", lazy(rf"commit {_HASH}")),
    ("`", lazy(rf"`{_HASH}")),
    ("\n[", lazy(rf"\n\[[^\]\s]+ (?:\(root-commit\) )?{_HASH}")),
)
_LOGGED = lazy(rf"(?m)^{_HASH} \S")
_IMPORTS = (
    ("import ", lazy(r"(?m)^[ \t>+-]*(?:from (\w+)[\w.]* import\b|import (\w+)[\w.]*(?: as \w+)?[ \t]*(?:[,;#]|$))")),
    ("use ", lazy(r"(?m)^[ \t>+-]*use (\w+)()::")),
    ("require(", lazy(r"require\(['\"](@?[A-Za-z][\w./-]{1,60})()['\"]")),
    ("from ", lazy(r"from ['\"](@?[A-Za-z][\w./-]{1,60})()['\"]")),
    ("No module named ", lazy(r"No module named ['\"](\w+)()")),
)  # fmt: skip
_INSTALL = lazy(
    r"\b(?:pip3?|uv|pdm|poetry|pipx|npm|pnpm|yarn|bun|cargo|gem|go|brew|composer|apt(?:-get)?) "
    r"(?:pip )?(?:install|add|get|require)((?: [^\s;|&`'\"),]+)+)"
)
_REQUIREMENT = lazy(r"@?[A-Za-z][\w.-]*(?:/[\w.-]+)*")
_QUOTED = lazy(r"`(?<!``)([A-Za-z_][\w.]{2,60})(?:\([^`\n]{0,80}\))?`(?!`)")
_DEFINED = lazy(
    r"(?m)^[ \t>+-]*(?:(?:export|default|public|private|protected|static|abstract|async|pub|final) )*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|type) (?:\([^)\n]{0,60}\) )?([A-Za-z_]\w{2,60})"
    r"(?=[ \t]*(?:[(:{<=;]|$)| (?:extends|implements)\b)"
)
_IDENTIFIER = lazy(r"[A-Za-z]\w{0,40}_\w{1,40}|[a-z]+[A-Z]\w{1,60}|[A-Z][a-z]+[A-Z]\w{1,60}")
_IS_COMMIT = lazy(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{7,40}")
_STEPS = lazy(r"&&|\|\||[;|\n]")
_PROGRAM = lazy(r"[A-Za-z][\w.+-]*")
_SHELL_BEFORE = (["do"], ["then"], ["else"])
_NO_WORK = frozenset(
    """cat cd cp echo export find grep head ls mkdir mv pwd rg rm sed set sleep source tail test touch true wc which for
    while if done fi case esac function return exit""".split()
)
"""Commands that only look, move files or prepare, and shell keywords: not worth searching for."""


def of_note(body: str, words: Iterable[str]) -> list[str]:
    """Return the distinct entities of a written text. words: its words that have parts, such as `user_id`."""
    text = body[:MAX_CHARS]
    installed = [words.split()[0] for words in _INSTALL.findall(text)] if " install " in text else []
    return _bounded(chain(_numbers(text), _commits(text), _packages(text, installed), _symbols(text, words)))


def of_output(body: str, words: Iterable[str], command: str) -> list[str]:
    """Return the entities of a tool run; from its output, only marked ones. command: the command line."""
    text = body[:MAX_CHARS]
    installed = _INSTALL.findall(command)
    logged = _LOGGED.findall(text) if command.startswith("git ") else []
    program = command_of(command)
    failed = (word for word in words if word.endswith(("Error", "Exception")))
    defined = _DEFINED.findall(text) if "```" in text else []
    named = chain([program] if program else [], _numbers(text), filter(is_commit, logged), _commits(text), failed)
    return _bounded(chain(named, _packages(text, installed), defined))


def _bounded(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if len(name) <= _MAX_NAME_CHARS][:MAX_ENTITIES]


def facets(names: Iterable[str]) -> Iterator[str]:
    """Yield the facets of notes that name these entities."""
    return (f"named:{name.lower()}" for name in names)


def is_commit(name: str) -> bool:
    """Whether a name is a commit hash or its beginning: at least seven characters, with digits and letters."""
    return _IS_COMMIT.fullmatch(name) is not None


def _numbers(text: str) -> Iterator[str]:
    """Yield issue numbers and addresses."""
    if "#" in text:
        yield from (f"#{number}" for number in _NUMBER.findall(text))
    if "://" in text:
        for address in _ADDRESS.findall(text):
            yield address
            yield from (f"#{number}" for number in _ISSUE_PAGE.findall(address))


def _commits(text: str) -> Iterator[str]:
    for sign, rule in _COMMITS:
        if sign in text:
            yield from filter(is_commit, rule.findall(text))


def _packages(text: str, installed: Iterable[str]) -> Iterator[str]:
    for words in installed:
        yield from (requirement[0] for word in words.split() if (requirement := _REQUIREMENT.match(word)))
    for sign, rule in _IMPORTS:
        if sign in text:
            names = (first or second for first, second in rule.findall(text))
            yield from (name for name in names if name not in sys.stdlib_module_names)


def _symbols(text: str, words: Iterable[str]) -> Iterator[str]:
    """Yield symbols: names in backticks, defined names, and identifiers that are not part of a file name."""
    if "`" in text:
        yield from (name for name in _QUOTED.findall(text) if not is_commit(name))
        yield from _DEFINED.findall(text)
    for word in words:
        if _IDENTIFIER.fullmatch(word) and (f"{word}." not in text or f"{word}(" in text) and f"/{word}" not in text:
            yield word


def command_of(line: str) -> str:
    """Return the first program in a command line that does work, with its subcommand; "" if there is none."""
    for step in _STEPS.split(line[:500]):
        words = step.split()
        words = runs.unwrapped(words[words[:1] in _SHELL_BEFORE :])
        name = words[0].rpartition("/")[2] if words else ""
        if name.startswith("python") and words[1:2] == ["-m"] and words[2:]:
            name, words = words[2], words[2:]
        if name and name not in _NO_WORK and _PROGRAM.fullmatch(name):
            plain = [word for word in words[1:3] if _PROGRAM.fullmatch(word)] if name in runs.SUBCOMMANDS else []
            return " ".join([name, *plain[: 2 if plain[:1] == ["run"] else 1]])
    return ""
