"""Lines that programs read or print: whether a name and the plain word after it end a line of a settings file or
dialogue (`neighbor … password …`), and where known programs have the value of a name.

Prose may have the same words, so the words before the name are compared with known lines.
"""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import scan, values
from mdmem.privacy.secrets.literals import PROSE, line_at, skip_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.secrets.scan import Name

LINES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("password", ("neighbor *", "neighbor * *", "login *", "username *", "machine * login *", "ppp chap")),
    ("password", ("nmcli device wifi connect *", "nmcli dev wifi connect *", "nmcli d wifi connect *")),
    ("password passwd", ("d-i *",)),
    ("insecure-password", ("user *",)),
    ("wpa-psk bindpw proxypassword authldapbindpassword auth_pass rootpw olcrootpw remote_password", ("",)),
    ("requirepass masterauth", ("", "config set")),
    ("db_password", ("cf set-env *",)),
    ("pass", ("quote", "user *")),
    ("password", ("set .. username *", "set .. user *", "set .. local-user *")),
    ("plaintext-password pre-shared-secret plain-text-password-value", ("set ..",)),
    ("authentication-key", ("ip ospf",)),
    ("secret", ("username *", "username * privilege *")),
)
"""Names, and what may precede one on its line: words, `*` for one word that is not in `PROSE`, and `..` for any number
of such words."""

ON_DEVICES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("secret", ("enable",)),
    ("password", ("enable", "set", "")),
    ("passwd psksecret", ("set",)),
)
"""The same, but only below other settings of a router or the like."""

_DEVICE_LINES = (
    "hostname ", "interface ", "line vty", "line con", "line aux", "config ", "edit ", "router ", "no ip ", "ip route ",
    "service password", "username ", "set ", "aaa ", "ip address ",
)  # fmt: skip
_ACCOUNT_LINES = ("user ", "login ", "host ", "account ", "username ", "from ", "port ", "protocol ")
_PROMPTS = "$#<>+*-: \t"
_REACH = 400  # characters above a name
_MOST_LINES = 3  # above a name
_LONGEST_LINE = 120


def below_sentence(name: Name) -> int:
    """Return the start of the only word below a sentence that ends in a colon, perhaps in a block; 0 if there is none.

    `Password for the [elastic] user successfully reset.⏎New value: …`, `Use this password to go on:⏎⏎…`.
    """
    text = name.text
    sentence = line_at(text, name.closed, _LONGEST_LINE).rstrip()
    at = scan.next_line(text, name.closed + len(sentence))
    if text.startswith("```", at):
        at = scan.next_line(text, at + len(line_at(text, at, _LONGEST_LINE)))
    is_new = text.startswith(_NEW_VALUE, at)
    is_given = name.line_before().endswith(_GIVING) or secrets.has_any(sentence, _ANNOUNCING)
    if not (is_new or (sentence[-1] == ":" and is_given)) or secrets.has_any(sentence, _IN_CODE):
        return 0
    at += len(_NEW_VALUE) * is_new
    word = "".join(text[at : at + _REACH].split(None, 1)[:1])
    return at if scan.line_ends(text, at + len(word)) else 0


_NEW_VALUE = "New value: "
_GIVING = ("use the following ", "use this ")
_ANNOUNCING = (" is:", " ist:", "(reset ", " generated", " created")
_IN_CODE = ("=", "{", '"', "->", "|")


def explains_option(name: Name) -> bool:
    """Whether words that explain an option follow it, as in the help of a command, and not its argument."""
    if name.line_before().strip()[:1] not in ("", "-"):
        return False  # after the name of a command
    words = line_at(name.text, name.closed, _LONGEST_LINE).split()
    return len(words) > 1 and words[1][0] not in "-\\|&;>" and not values.is_unlike_words(words[0])


def is_setting(name: Name) -> bool:
    """Whether a name, with one word after it, ends a line that sets a password."""
    word = name.word()
    before = name.line_before().strip(_PROMPTS).split()
    if _is_listed(LINES, word, before):
        return True
    if word == "pass":
        return name.text[name.start : name.end] == "PASS" and before in ([], ["quote"], ["c"]) and _is_in_dialogue(name)
    if word == "password" and not before and _follows(name, _ACCOUNT_LINES):
        return True
    return _is_listed(ON_DEVICES, word, before) and _follows(name, _DEVICE_LINES)


def _is_listed(table: tuple[tuple[str, tuple[str, ...]], ...], word: str, before: list[str]) -> bool:
    return any(word in names.split() and any(_fits(head, before) for head in heads) for names, heads in table)


def _fits(head: str, before: list[str]) -> bool:
    words = head.split()
    if words[1:2] == [".."] and before[:1] == words[:1] and PROSE.isdisjoint(before):
        words, before = words[2:], before[len(before) - len(words) + 2 :]
    return len(words) == len(before) and all(
        expected == word or (expected == "*" and word not in PROSE)
        for expected, word in zip(words, before, strict=True)
    )


def _follows(name: Name, starts: tuple[str, ...]) -> bool:
    """Whether one of the `_MOST_LINES` lines above begins with one of `starts`."""
    lines_above = name.low[max(0, name.start - _REACH) : name.start].split("\n")[:-1]
    return any(
        line.lstrip(_PROMPTS).startswith(starts) for line in lines_above[-_MOST_LINES:] if len(line) < _LONGEST_LINE
    )


def _is_in_dialogue(name: Name) -> bool:
    """Whether this is a login to a mail, file or chat server: `USER …` or `331 …` above, `NICK …` below."""
    if _follows(name, ("user ", "331 ", "s: 331 ", "c: user ", "+ok")):
        return True
    next_line = name.text[name.end : name.end + _LONGEST_LINE].partition("\n")[2]
    return next_line.startswith(("NICK ", "230 ", "+OK "))


def value_in_program(name: Name) -> int:
    """Return the start of a name's value in what a known program reads or prints; 0 elsewhere.

    `::set-output name=NAME::…`, `##vso[task.setvariable variable=NAME]…`; `Input Password    field    …` of Robot
    Framework; `{"github-oauth": {"github.com": "…"}}` of Composer; the `result` of Terraform's `random_password`.
    """
    text, at = name.text, name.end
    before = name.line_before()
    if before.endswith(_OF_JOBS):
        rest = line_at(text, at, _LONGEST_LINE)
        sign = "::" if "::" in before else "]"
        options, found, _ = rest.partition(sign)
        return at + len(options) + len(sign) if found and " " not in options else 0
    if name.word() == "random_password":
        return _result(name)
    if name.word() in ("password", "secret"):
        return _third_cell(text, at) if before.endswith(_OF_KEYWORDS) else 0
    head, brace, members = text[at : at + _LONGEST_LINE].partition("{")
    host, colon, _ = members.partition(":")
    is_member = brace and colon and head.strip(_AROUND_KEY) == ":" and not set(host) & _NO_HOST
    return skip_blank(text, at + len(head) + len(host) + 2) if is_member else 0


_OF_JOBS = (
    "::set-output name=", "::set-env name=", "::save-state name=", "[set-output name=", "[task.setvariable variable=",
)  # fmt: skip
"""Precede the name of a value that a step of a build passes on."""
_OF_KEYWORDS = ("input ", "fill ", "type ")
_AROUND_KEY = ' \\"\t\r\n'
_NO_HOST = frozenset("{}[],<>()")


def in_parameter(name: Name) -> int:
    """Return the start of the value in `NAME:⏎  Type: String⏎  Default: …`, a parameter of CloudFormation, or 0."""
    indent, at, start, is_string = name.line_before(), name.closed + 2, 0, False
    for line in name.text[at : at + _REACH].split("\n"):
        key, colon, value = line.lower().partition(": ")
        if not colon or len(line) - len(line.lstrip()) <= len(indent):
            break
        is_string = is_string or (key.strip(), value.strip()) == ("type", "string")
        start = at + len(key) + 2 if key.strip() == "default" else start
        at += len(line) + 1
    return skip_blank(name.text, start) if is_string and start else 0


def in_same_object(name: Name) -> int:
    """Return the start of the value in `{"name": "NAME", "slotSetting": false, "value": "…"}`, or 0."""
    members, key, _ = name.text[name.closed : name.closed + _REACH].partition('"value"')
    if not (key and _NO_MEMBERS.isdisjoint(members) and name.low.endswith(_NAMING, 0, name.outer() - 1)):
        return 0
    value = scan.assignment(name.text, name.closed + len(members) + len(key))
    return skip_blank(name.text, value) if value else 0


_NAMING, _NO_MEMBERS = ('"name": ', '"name":', '"key": ', '"key":', '"label": ', '"label":'), frozenset("{}")


def in_answer(name: Name) -> int:
    """Return the start of the only word of the next message in a chat, `ana: the password?⏎bob: …`, or 0."""
    at = scan.next_line(name.text, name.end + 1)
    line = line_at(name.text, at, _LONGEST_LINE).rstrip() if at else ""
    head, colon, word = line.rpartition(": ")
    is_answer = ": " in name.line_before() and colon and len(word.split()) == 1 and len(head) <= _LONGEST_SENDER
    return at + len(head) + len(colon) if is_answer else 0


_LONGEST_SENDER = 40  # characters of a time and a name


def _third_cell(text: str, at: int) -> int:
    """Return the start of the second cell after `at`, which ends a cell; 0 if there is none."""
    line = line_at(text, at, _LONGEST_LINE)
    for _ in range(2):
        cell = line.lstrip(" \t|")
        if not line.startswith(_GAPS) or not cell:
            return 0
        at += len(line) - len(cell)
        line = cell[min((cell.index(gap) for gap in _GAPS if gap in cell), default=len(cell)) :]
        value, at = at, at + len(cell) - len(line)
    return value


_GAPS = ("  ", "\t", " | ")


def _result(name: Name) -> int:
    """Return the start of the generated password in Terraform's plan or state."""
    block = name.low[name.end : name.end + _LONGEST_RESOURCE].partition('resource "')[0]
    before, _, behind = block.partition("result")
    if before[-1:] not in (" ", '"', "\t"):
        return 0
    at = scan.closers(name.low, name.end + len(before) + len("result"))
    value = scan.assignment(name.low, skip_blank(name.low, at)) if behind else 0
    return skip_blank(name.low, value) if value else 0


_LONGEST_RESOURCE = 1500  # characters of a resource of Terraform
