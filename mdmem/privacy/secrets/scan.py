"""Tokenizer for secrets with a name: reads the name that contains a keyword, and the signs around it.

Each function reads one token at an offset and returns where it ends. It reads a bounded number of characters, so that
scanning takes linear time, whatever the text.
"""

from __future__ import annotations

from mdmem.privacy.secrets import names
from mdmem.privacy.secrets.literals import QUOTES, line_at, skip_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int, str]
"""Start, end and kind of a secret."""

NAME = "abcdefghijklmnopqrstuvwxyz0123456789_-"
NAME_SIGNS = frozenset(NAME)
CLOSERS = "\\\"'`]*)"
CJK = "\u3000"  # what follows it is written without blanks
LONGEST_NAME = 64
LONGEST_LINE = 160
"""Maximum number of characters to read before a name on its line."""

_SIGNS = frozenset(":=＝：?!|<~+.")
_SIGN_ENDS = frozenset("=:>~|?")
_ASSIGNMENTS = (
    ":::=", "::=", "||:", "||=", "??=", ":=", "=>", "?=", "?:", "!=", "+=", ".=", "<-", "=", ":", "＝", "：",
)  # fmt: skip
"""Signs that assign a value to a name, longest first."""
_NO_ASSIGNMENTS = ("==", "=~", "?.", "??", "!!", "<=>", "||")
_COMPARISONS = ("===", "!==", "==", "!=", ".equals(", ".equalsignorecase(", "eq ", "-eq ")
_LINE_HEADS = frozenset((
    "", "(", "export", "set", "env", "arg", "-", "+", "++", "+++", "declare", "setenv", "*", ">", "$", "#", "//", ";",
    "run",
))  # fmt: skip
_BEFORE_SETTINGS = (
    " -e ", "--env ", "-var ", "-var '", "-var=", "-var='", '-var="', "--build-arg ", "--set ",
    "--set-string ", "--set '", "--set-string '", '--set "', '--set-string "',
    "set-env ", "set-env-vars ", "set-env-vars=", "--env=", "variables={",
    " -f ", "--form ", " -d ", " -d '", ' -d "', "--data ", "--data-urlencode ", '--data-urlencode "',
    "config:set ", "eb setenv ", "secrets set ", " -h \"", " -h '", "--header \"", "--header '", "--from-literal ",
    "environment=", " env ", " echo ", " export ", '"export ', "'export ", "set-env-vars \"", "set-env-vars '",
)  # fmt: skip
"""Command options with a setting as argument, whose value cannot be a variable."""

_BEFORE_VARIABLES = ("&& ", "|| ", "; ", "] run ", ": run ", ": arg ", ": env ", "] arg ", "then ", "-e ")
"""What precedes a variable for one command of a shell, or in a step of a container's build."""

_LONGEST_HEADS = 12
_OBJECTS = ("self.", "this.", "cls.")
_AFTER_LINE_NUMBER = " \t→|$:-"
_BEFORE_HEAD = frozenset(("", "\n", " ", "\t", "(", "+", "→", "$", "*", "`", '"', "'", "#", "]"))


class Name:
    """A name of a secret: its span, its weight, and what follows it.

    start, end: span of the name. closed: offset after its closing quotes and brackets. sign: offset after blanks that
    follow. low: the text in lower case. is_plain_key: the name is just "key", so the value must look random.
    """

    __slots__ = ("closed", "end", "is_plain_key", "kind", "low", "sign", "start", "text", "weight")

    def __init__(self, text: str, low: str, start: int, end: int) -> None:
        self.text = text
        self.low = low
        self.start = start
        self.end = end
        self.closed = closers(text, end)
        self.sign = skip_blank(text, self.closed) if text[self.closed : self.closed + 1] in (" ", "\t") else self.closed
        self.weight = names.NONE
        self.kind = ""
        self.is_plain_key = False

    def word(self) -> str:
        """Return the name in lower case."""
        return self.low[self.start : self.end]

    def outer(self) -> int:
        """Return the start of the dotted name that it is a part of: `mysql.password`."""
        if self.text[self.start - 1 : self.start] not in (".", "/"):
            return self.start
        before = self.low[max(0, self.start - LONGEST_NAME) : self.start]
        return self.start - len(before) + len(before.rstrip(NAME + "./"))

    def line_before(self) -> str:
        """Return the text before the name on its line, in lower case, at most `LONGEST_LINE` characters."""
        return self.low[max(0, self.start - LONGEST_LINE) : self.start].rpartition("\n")[2]

    def is_quoted(self) -> bool:
        """Whether the name is a whole string literal: "NAME"."""
        first = self.text[self.outer() - 1 : self.outer()]
        return self.closed != self.end and first in QUOTES and first in self.text[self.end : self.closed]

    def heads_line(self) -> bool:
        """Whether the name begins its line, or follows only what a settings file or a shell has there."""
        start = self._property()
        before = self.low[start - 1 : start]
        if before not in _BEFORE_HEAD:
            return False
        line = self.low[max(0, start - LONGEST_LINE) : start]
        if self.is_given():
            return True
        head = _after_time(line.rpartition("\n")[2]).strip(" \t`\"'")
        if len(head) >= LONGEST_LINE - 1:
            return False
        if head[-1:] == "]":  # a log line: `##[debug]NAME=…`, `[auth] NAME=…`
            return head.startswith("##[") or (head.rfind("[") == 0 and self.text[self.sign : self.sign + 1] == "=")
        head = head.strip("*#+")
        if head in _LINE_HEADS or head.lstrip("0123456789").strip(_AFTER_LINE_NUMBER) in _LINE_HEADS:
            return True
        if _after_place(line.rpartition("\n")[2]).strip(" \t`\"'*#") in _LINE_HEADS:
            return True
        return len(head) <= _LONGEST_HEADS and all(word in _LINE_HEADS for word in head.split())

    def is_shouted(self) -> bool:
        """Whether the name is that of a variable of the environment: `DB_PASSWORD`, `TF_VAR_password`."""
        return self.text[self.start : self.end].isupper() or self.text.startswith("TF_VAR_", self.start)

    def is_given(self) -> bool:
        """Whether the name follows what takes a setting, as an option of a command, or `make && NAME=…`."""
        if self.low.endswith(_BEFORE_SETTINGS, 0, self.outer()):
            return True
        if self.low.endswith(_BEFORE_VARIABLES, 0, self.start) and self.is_shouted():
            return True
        line = self.line_before()
        return len(line) < LONGEST_LINE and line.startswith("environment=")

    def _property(self) -> int:
        """Return the start of the name, including the dotted part of a setting (`db.password=…`), but not in code."""
        before = self.text[self.start - 1 : self.start]
        if before == ":" and self.text.startswith(": ", self.sign):  # app:dbPassword: …
            line = self.line_before()[:-1].lstrip(" \t")
            return self.start - 1 - len(line) if line and not line.strip(NAME) else self.start
        if before != "." or self.sign != self.closed:
            return self.start
        sign, after = self.text[self.sign : self.sign + 1], self.text[self.sign + 1 : self.sign + 2]
        start = self.outer()
        is_set = (sign, after) == (":", " ") or (sign == "=" and after.isalnum())
        is_attribute = not self.text[start].isalpha() or self.low.startswith(_OBJECTS, start)
        return start if is_set and not is_attribute else self.start

    def repeats_at(self, value: int) -> bool:
        """Whether the value only repeats the name: `password=password`, `token: token`."""
        at = value
        if self.low[at : at + 1] in CLOSERS:
            at = closers(self.low, at)
        end = at + self.end - self.start
        return self.low.startswith(self.word(), at) and not self.low[end : end + 1].isalnum()


def _after_time(line: str) -> str:
    """Return what follows the time at the start of a log's line, or after the names of a job and a step."""
    words = line.split() if line[:_LONGEST_JOB].count(":") > 1 and "-" in line else ()
    for number, word in enumerate(words):
        if word[:2] == "20" and word[4:5] + word[7:8] == "--" and word[8:10].isdigit():
            has_hour = ":" in "".join(words[number + 1 : number + 2])
            return " ".join(words[number + 1 + (has_hour and ":" not in word) :])
    return line


_LONGEST_JOB = 120


def _after_place(line: str) -> str:
    """Return what follows `file:12:` or `file-12-`, as a search prints it, or commit, author and date of a blame."""
    commit, _, author = line.partition(" (")
    author, closing, rest = author.partition(") ")
    if closing and author[-1:].isdecimal() and not commit.partition(" ")[0].strip("^0123456789abcdef"):
        return rest
    for sign in ":-":
        pieces = line.split(sign)
        number = next((at for at, piece in enumerate(pieces[1:-1], 1) if piece.isdecimal()), 0)
        if number and " " not in pieces[0]:
            return sign.join(pieces[number + 1 :])
    return line


def closers(text: str, at: int) -> int:
    """Return the offset after the quotes, brackets and stars that close a name; at most eight."""
    if text[at : at + 1] not in CLOSERS:
        return at
    ahead = text[at : at + 8]
    return at + len(ahead) - len(ahead.lstrip(CLOSERS))


def name_end(low: str, at: int) -> int:
    """Return the end of the name that continues at `at`."""
    if low[at : at + 1] not in NAME_SIGNS:
        return at
    ahead = low[at : at + LONGEST_NAME]
    return at + len(ahead) - len(ahead.lstrip(NAME))


def word_end(low: str, at: int) -> int:
    """Return the end of an inflectional ending at `at`, in a non-ASCII script with blanks between words.

    A longer run of letters is not an ending; then return `at`.
    """
    for size, sign in enumerate(low[at : at + _LONGEST_ENDING]):
        if not ("\x80" <= sign < "\u1200" and (sign.isalpha() or sign > "\u0300")):
            return at + size
    return at


_LONGEST_ENDING = 8


def name_start(low: str, at: int) -> int:
    """Return the start of the name that continues before `at`."""
    if low[at - 1 : at] not in NAME_SIGNS:
        return at
    before = low[max(0, at - LONGEST_NAME) : at]
    return at - len(before) + len(before.rstrip(NAME))


def assignment(text: str, at: int) -> int:
    """Return the end of the assignment sign at `at`; 0 if there is none."""
    ahead = text[at : at + 4]
    if ahead[:1] not in _SIGNS or not ahead:
        return 0
    if ahead[0] in "=:" and ahead[1:2] not in _SIGN_ENDS:
        return at + 1
    if ahead.startswith(_ASSIGNMENTS) and not ahead.startswith(_NO_ASSIGNMENTS):
        sign = next(sign for sign in _ASSIGNMENTS if ahead.startswith(sign))
        if sign == "!=" or (sign == ":" and ahead.startswith("::") and ahead[2:3] != " "):
            return 0
        sign = "::" if ahead.startswith(":: ") else sign
        return at + len(sign)
    return 0


def comparison(low: str, at: int) -> int:
    """Return the end of the comparison at `at`; 0 if there is none."""
    return next((at + len(sign) for sign in _COMPARISONS if low.startswith(sign, at)), 0)


def line_ends(text: str, end: int) -> bool:
    """Whether only blanks or a comment follow on the line."""
    at = skip_blank(text, end)
    return text[at : at + 1] in ("", "\n", "\r", "#")


def tells_user(low: str, end: int) -> bool:
    """Whether a sentence goes on with the name of the user: `… and the user is ana`."""
    words = line_at(low, end, LONGEST_NAME).split()[:3]
    return words[:1] in _AND and any(word.startswith(_USERS) for word in words[1:])


_AND = (["and"], ["und"], ["et"], ["y"], ["e"], ["en"], ["for"], ["für"], ["pour"], ["para"])
_USERS = ("user", "benutzer", "nutzer", "login", "utilisateur", "l'utilisateur", "usuario", "utente", "gebruiker")


def next_line(text: str, at: int) -> int:
    """Return the start of the next line's text, skipping at most one empty line; 0 if there is none near."""
    ahead = text[at : at + 96]
    following = ahead.lstrip(" \t\r\n")
    skipped = ahead[: len(ahead) - len(following)]
    return at + len(skipped) if following and 1 <= skipped.count("\n") <= 2 else 0


def words(text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words between `at` and `end`, split as a shell does, without their quotes."""
    while True:
        ahead = text[at:end]
        while (rest := ahead.lstrip().lstrip("\\")) != ahead:  # `split` below knows more blanks than a shell
            ahead = rest
        at = end - len(ahead)
        if ahead in ("", "'", '"'):
            return
        quote = ahead[0]
        if quote in ("'", '"'):
            close = text.find(quote, at + 1, end)
            close = close if close >= 0 else end
            yield at + 1, close
            at = close + 1
            continue
        size = len(ahead.split(None, 1)[0])
        yield at, at + size
        at += size


def behind_echo(text: str, at: int) -> int:
    """Return where the value begins in a line of a debugger or an interactive shell: `$1 = 0x5f "…"`, `Out[3]: '…'`."""
    line = line_at(text, at, _LONGEST_ECHO)
    number, sign, _ = line.partition(" = ")
    size = 0
    if sign and number.rpartition(" ")[2][:1] == "$" and number[-1:].isdecimal():
        size = len(number) + len(sign)
    elif line.startswith(("=> ", "Out[", "string(")):
        size = line.find(" ") + 1
    return behind_pointer(text, at + size)


def behind_pointer(text: str, at: int) -> int:
    """Return where a string begins after its address: `0x5f5a "…"`; `at` itself if there is no address."""
    size = text[at : at + _LONGEST_POINTER].find(' "') + 1 if text.startswith("0x", at) else 0
    return at + size if size and " " not in text[at : at + size - 1] else at


_LONGEST_ECHO, _LONGEST_POINTER = 96, 24


def type_digit(text: str, at: int) -> int:
    """Return the start of the value after a digit that gives a router's encoding of it; 0 if there is none."""
    words = line_at(text, at, _LONGEST_TYPED).split(" ")
    number = 2 if words[1:2] == ["md5"] else 0
    kind, value = words[number : number + 2] if len(words) >= number + 2 else ("", "")
    is_kept = value[:1] == "$" or (len(value) >= _SHORTEST_KEPT and value[:2].isdigit() and value.isalnum())
    if kind not in _TYPES or not (is_kept or (kind == "0" and not value.lower().strip(NAME + _PLAIN_SIGNS))):
        return 0
    return at + sum(len(word) + 1 for word in words[: number + 1])


_LONGEST_TYPED, _SHORTEST_KEPT = 32, 8
_TYPES, _PLAIN_SIGNS = ("0", "5", "6", "7", "8", "9"), "!#$%&*+-.?@_"
