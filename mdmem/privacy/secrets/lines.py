"""Whether a name and the plain word after it end a line of a settings file or dialogue: `neighbor … password …`.

Prose may have the same words, so the words before the name are compared with known lines.
"""

from __future__ import annotations

from mdmem.privacy.secrets.literals import PROSE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.secrets.scan import Name

LINES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("password", ("neighbor *", "neighbor * *", "login *", "username *", "machine * login *", "d-i *", "ppp chap")),
    ("password", ("nmcli device wifi connect *", "nmcli dev wifi connect *", "nmcli d wifi connect *")),
    ("passwd", ("d-i *",)),
    ("insecure-password", ("user *",)),
    ("wpa-psk", ("",)),
    ("bindpw", ("",)),
    ("rootpw", ("",)),
    ("olcrootpw", ("",)),
    ("requirepass", ("", "config set")),
    ("masterauth", ("", "config set")),
    ("db_password", ("cf set-env *",)),
    ("pass", ("quote",)),
    ("password", ("set .. username *", "set .. user *", "set .. local-user *")),
    ("plaintext-password", ("set ..",)),
    ("pre-shared-secret", ("set ..",)),
    ("authentication-key", ("ip ospf",)),
)
"""A name, and what may precede it on its line: words, `*` for one word that is not in `PROSE`, and `..` for any number
of such words."""

ON_DEVICES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("secret", ("enable",)),
    ("password", ("enable", "set", "")),
    ("passwd", ("set",)),
    ("psksecret", ("set",)),
)
"""The same, but only below other settings of a router or the like."""

_DEVICE_LINES = (
    "hostname ", "interface ", "line vty", "line con", "line aux", "config ", "edit ", "router ", "no ip ", "ip route ",
    "service password", "username ", "set ", "aaa ", "ip address ",
)  # fmt: skip
_ACCOUNT_LINES = ("user ", "login ", "host ", "account ", "username ", "from ", "port ", "protocol ")
_PROMPTS = "$#<>+*-: \t"
_REACH, _MOST_LINES, _LONGEST_LINE = 400, 3, 120


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
    return any(word == name and any(_fits(head, before) for head in heads) for name, heads in table)


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
