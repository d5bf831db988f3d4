"""Secrets in command lines: `mysql -p…`, `curl -u user:…`.

A command line is split into words as a shell does (`scan.words`), including lines continued by `\\`. Each row of
`table.COMMANDS` says which word has the secret; `arguments` finds it.
"""

from __future__ import annotations

from mdmem.privacy import limits, secrets
from mdmem.privacy.secrets.commands.table import BY_COMMAND, FlagRow
from mdmem.privacy.secrets.signs import WRITERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

_by_start: dict[str, list[tuple[str, str]]] = {}
"""The first three letters of a command -> the first word of its name, as `secrets.words` splits it, and the command."""

_MANY_CHARS = 512
"""In a longer text, commands are looked up by its words: each of them once, not each command in all of the text."""
_LONGEST_COMMAND = 2048


def find(text: str, low: str, words: frozenset[str] | None) -> Iterator[Span]:
    """Find the secrets in command lines, in ascending order for each command.

    words: the words of a long text, from `secrets.words`.

    Raises:
        FloodError: there are more than `limits.MOST_NAMES` words to judge.
    """
    judged = [0]
    for command in _commands_in(low, words):
        yield from _of_command(text, low, command, BY_COMMAND[command], judged)
    if secrets.has_any(text, _TO_STDIN):
        from mdmem.privacy.secrets.commands import stdin

        yield from stdin.piped(text, low, judged)
        yield from stdin.expected(text)
        yield from stdin.substituted(text, low)
    yield from _written(text)


def _written(text: str) -> Iterator[Span]:
    """Find the secrets in `echo … > ~/.vault_pass`."""
    done = 0
    for at, _ in sorted(secrets.occurrences(text, *WRITERS)) if ">" in text else ():
        command = text[at : _command_end(text, at)] if at >= done else ""
        done = max(done, at + len(command))
        if ">" in command:
            from mdmem.privacy.secrets import printed

            for start, end in printed.written_in(command):
                if ":" not in command[start:end]:  # not a whole line of a file of accounts
                    yield at + start, at + end, "secret"


_TO_STDIN = ("|", "<<", "assword", "assphrase", "<(")


def _commands_in(low: str, words: frozenset[str] | None) -> list[str]:
    words = words or secrets.words(low, _MANY_CHARS)
    if words is None:
        return [command for command in BY_COMMAND if command in low]
    if not _by_start:
        by_start: dict[str, list[tuple[str, str]]] = {}
        for command in BY_COMMAND:
            first = "".join([sign if sign.isalnum() else " " for sign in command]).strip().split(" ")[0]
            by_start.setdefault(first[:3], []).append((first, command))
        _by_start.update(by_start)  # all at once: other threads may read it
    likely: set[str] = set()
    for word in ("", *words):  # a command may have only signs, and a word may be longer: `snmpgetnext`
        likely.update([command for first, command in _by_start.get(word[:3], ()) if word.startswith(first)])
    return [command for command in BY_COMMAND if command in likely and command in low]


def _of_command(text: str, low: str, command: str, rows: list[FlagRow], judged: list[int]) -> Iterator[Span]:
    """Find the secrets of one command. judged: number of words judged so far, for all commands."""
    from mdmem.privacy.secrets import scan  # rarely needed: most text with a flag has none of these commands
    from mdmem.privacy.secrets.commands import arguments

    at = low.find(command)
    while at >= 0:
        end = at + len(command)
        if not low[at - 1 : at].isalnum():
            end = _command_end(text, at)
            matching = [row for row in rows if row[0].lstrip("-").lower() in low[at:end]]
            words = list(scan.words(text, at, end)) if matching else []
            judged[0] += len(words) * len(matching)
            if judged[0] > limits.MOST_NAMES:
                raise limits.FloodError
            for row in matching:
                yield from arguments.of_row(text, low, words, row)
        at = low.find(command, end)


def _command_end(text: str, at: int) -> int:
    """Return the end of a command: the end of its line, or of the last line continued by a backslash."""
    from mdmem.privacy.secrets.literals import line_before, line_end

    end = line_end(text, at)
    while text[end - 1 : end] == "\\" and end - at < _LONGEST_COMMAND and text[end : end + 1]:
        end = line_end(text, end + 1)
    end = min(end, at + _LONGEST_COMMAND)
    if line_before(text, at, _LONGEST_COMMAND).count("`") % 2:  # in a sentence: "run `bw unlock …` first"
        close = text.find("`", at, end)
        while close >= 0 and text.count('"', at, close) % 2:  # it belongs to a password in quotes
            close = text.find("`", close + 1, end)
        end = close if close >= 0 else end
    return end
