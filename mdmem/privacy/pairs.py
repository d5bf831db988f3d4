"""Secrets that the name beside them gives away: `PASSWORD=…`, `"apiKey": "…"`, `--token …`, `Authorization: …`.

Each place of a keyword is read from the inside out: the whole name, what joins it to its value, the value.
What is read at a place is bounded, so the cost is linear.
"""

from __future__ import annotations

from mdmem.privacy import literals, names, values
from mdmem.privacy.literals import Literal, skip_blank
from mdmem.privacy.names import STRONG, WEAK
from mdmem.privacy.text import KEYWORDS, KEYWORDS_BEYOND_ASCII
from mdmem.privacy.tokens import shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMES = frozenset((
    "bearer", "basic", "token", "apikey", "api-key", "ssws", "bot", "oauth", "key", "jwt", "negotiate", "ntlm",
    "digest", "aws4-hmac-sha256", "hawk", "signature", "geniekey",
))  # fmt: skip
"""What may stand before the secret in an Authorization header."""

PAIR, VERB, FLAG, LINE, MARKUP, SCHEME, BESIDE, CALL = (
    "pair", "verb", "flag", "line", "markup", "scheme", "beside", "call",
)  # fmt: skip
"""What joins a name and its value: `=` or `:`; "is"; a blank behind `--name`, in a line of the two, or behind
Bearer; `<name>`; that they stand side by side in a table, in a call or in SQL; that one is called with the other."""

Span = tuple[int, int, str]
"""Where a secret begins and ends, and its kind."""

_NAME = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_NAME_SIGNS = frozenset(_NAME)
_LONGEST_NAME = 64
_CLOSERS = "\\\"'`]*"
_MAY_FOLLOW = frozenset(_CLOSERS + " \t:=＝：?!><(|→\n\r,는은は是")
_NO_PAIR = ("==", "::", "!=", "=~", "?.", "??", "!!")
_SIGNS = frozenset(":=＝：?!")
_VERBS = (" is ", " is: ", " was ", " ist ", " est ", " es ", "は", "는 ", "은 ", "是")
_OF_WHAT = (" for ", " on ", " of ", " to ", " in ")
_CELL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-*`"
_TAKERS = ("password", "passwd", "passphrase", "secret", "apikey", "api_key")
_LITERALS = ("'", '"', "\\")
_ARROWS = ("-> ", "→ ")
_MARKUP_VALUES = ("<value>", "<string>")
_LINE_HEADS = frozenset(("", "export", "set", "env", "arg", "-", "+", "declare", "setenv"))
_AFTER_LINE_NUMBER = " \t→|$"
_SETTERS = ("env ", "configure set ", "config set ")
_BEFORE_HEAD = frozenset(("", "\n", " ", "\t", "+", "→"))
_LONGEST_SCHEME = 32
_WHOLE_LINE = ("digest ", "aws4-hmac-sha256 ", "hawk ", "signature ")
_COOKIE_SAMPLE = 128
_IN_QUERY = ("key", "code", "sig", "x-amz-signature")


class _Name:
    """A name with a value: its place, what it weighs, what joins it to the value, and where that begins."""

    __slots__ = ("end", "joint", "kind", "start", "value", "weight")

    def __init__(self, start: int, end: int, joint: str, value: int) -> None:
        self.start = start
        self.end = end
        self.joint = joint
        self.value = value
        self.weight = names.NONE
        self.kind = ""


def find(text: str, low: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """Find secrets with a name; those of each keyword in rising order.

    low: the text in lower case, position by position.
    marks: how a value begins that was hidden before.
    """
    for keyword in KEYWORDS if text.isascii() else KEYWORDS + KEYWORDS_BEYOND_ASCII:
        length = len(keyword.rstrip("="))
        at = low.find(keyword)
        while at >= 0:
            end = at + length
            sign = low[end : end + 1]
            if sign in _NAME_SIGNS:
                ahead = low[end : end + _LONGEST_NAME]
                end += len(ahead) - len(ahead.lstrip(_NAME))
                sign = low[end : end + 1]
            if sign in _MAY_FOLLOW:
                name = _read_name(text, low, at, end)
                found = _read_value(text, low, name, marks) if name else None
                if found:
                    yield found
                    end = max(end, found[1])
            at = low.find(keyword, end)


# -- names


def _read_name(text: str, low: str, at: int, end: int) -> _Name | None:
    """Read the name that holds the keyword at `at`, if a value follows that may be secret."""
    start = at
    if low[at - 1 : at] in _NAME_SIGNS:
        before = low[max(0, at - _LONGEST_NAME) : at]
        start += len(before.rstrip(_NAME)) - len(before)
    weight, kind = _weigh(text[start:end])
    if not weight and low[start:end] == "key":  # "the API key is …"
        weight, kind = _weigh(" ".join(low[max(0, start - 12) : end].split()[-2:]))
        weight = min(weight, WEAK)
    if not weight:
        if low[start:end] == "bearer":
            weight, kind = WEAK, "authorization"
        elif text[start - 1 : start] in ("?", "&") and low[start:end] in _IN_QUERY:
            weight, kind = WEAK, "key"
        else:
            return None
    name = _joined(text, low, start, end)
    if name:
        name.weight, name.kind = weight, kind
    return name


def _weigh(name: str) -> tuple[int, str]:
    """Weigh a name, or remember what it weighed: a text has few names, many times."""
    found = _weighed.get(name)
    if found is None:
        if len(_weighed) >= _MOST_WEIGHED:
            _weighed.clear()
        found = _weighed[name] = names.weigh(name)
    return found


_weighed: dict[str, tuple[int, str]] = {}
_MOST_WEIGHED = 512


def _joined(text: str, low: str, start: int, end: int) -> _Name | None:
    """Find what joins a name to a value, and where the value begins."""
    closed = end
    if text[end] in _CLOSERS:
        closers = text[end : end + 8]
        closed += len(closers) - len(closers.lstrip(_CLOSERS))
    sign = closed
    if text[closed : closed + 1] in (" ", "\t"):
        sign = skip_blank(text, closed)
    first = text[sign : sign + 1]
    if first in _SIGNS:
        return _with_sign(text, start, end, closed, sign)
    if first == ">" and text[start - 1 : start] == "<":
        return _Name(start, end, MARKUP, sign + 1)
    return (
        _with_verb(low, start, end, closed)
        or _beside(text, start, end, closed, sign)
        or (_with_blank(low, start, end, sign) if closed == end != sign else None)
        or _with_value_word(low, start, end, closed)
        or _with_markup(low, start, end, closed)
    )


def _with_sign(text: str, start: int, end: int, closed: int, sign: int) -> _Name | None:
    """`name = …`, `"name": …`, `name := …`."""
    value = _after_sign(text, sign)
    if not value or (sign > closed and value == sign + 1 and text[sign] == ":"):
        return None  # "Pass :meth:`…`" is no pair
    if closed == end and text[value : value + 1] in literals.QUOTES and _closes_string(text, start, value):
        return None
    if text[value : value + 1] in ("\n", "\r") and closed != end:  # "name":⏎ "…"
        ahead = text[value : value + 64]
        rest = ahead.lstrip()
        value += (len(ahead) - len(rest)) * (rest[:1] == text[closed - 1])
    return _Name(start, end, PAIR, _after_tag(text, value))


def _after_tag(text: str, value: int) -> int:
    """Where a value begins behind a tag or an anchor of YAML (`!!str …`, `&name …`), or markdown's stars."""
    first = text[value : value + 2]
    if first == "**":
        return skip_blank(text, value + 2)
    if first == "!!" or (first[:1] == "&" and first[1:].isalpha()):
        tag, blank, _ = text[value : value + 32].partition(" ")
        return value + len(tag) + 1 if blank and tag.isprintable() else value
    return value


def _closes_string(text: str, start: int, value: int) -> bool:
    """Whether the quotes at `value` close the string that the name stands in: getpass("Password: ")."""
    quote = text[value : value + 1]
    line = text[max(0, start - 200) : start].rpartition("\n")[2]
    if quote != "'":
        return line.count(quote) % 2 == 1
    inside = False
    for part in line.split(quote)[:-1]:
        if inside or not part[-1:].isalnum():  # else it is an apostrophe
            inside = not inside
    return inside


def _after_sign(text: str, at: int) -> int:
    """Where a value begins behind the sign at `at`; 0 if there is no such sign."""
    two = text[at : at + 2]
    if two == "::" and text[at + 2 : at + 3] == " ":  # base64 in LDIF
        return skip_blank(text, at + 2)
    if two in _NO_PAIR:
        return 0
    if two[:1] in ("?", "!") and two[1:] in (":", "="):  # password?: string; PASSWORD ?= …
        at += 1
        two = text[at : at + 2]
    if two[:1] not in _SIGNS:
        return 0
    return skip_blank(text, at + (2 if two in (":=", "=>") else 1))


def _with_verb(low: str, start: int, end: int, closed: int) -> _Name | None:
    """`my password is …`, `the password for the shop is …`."""
    if low.startswith(_OF_WHAT, closed):
        words = low[closed : closed + 48].partition("\n")[0].partition(" is ")
        closed += len(words[0]) if words[1] else 0
    if not low.startswith(_VERBS, closed):
        return None
    verb = next(verb for verb in _VERBS if low.startswith(verb, closed))
    at = skip_blank(low, closed + len(verb))
    if low[at : at + 1] in (":", "："):
        at = skip_blank(low, at + 1)
    return _Name(start, end, VERB, at)


def _with_blank(low: str, start: int, end: int, value: int) -> _Name | None:
    """`--name …`, `Bearer …`, `ENV NAME …`, `machine … login … password …`, a line `requirepass …`."""
    if low[start:end] == "bearer":
        return _Name(start, end, SCHEME, value)
    if low[start] == "-" or low.endswith(_SETTERS, max(0, start - 16), start):
        return _Name(start, end, FLAG, value)
    if low.startswith("password", start):
        before = low[max(0, start - 200) : start]
        if "login " in before and ("machine " in before or "default " in before):
            return _Name(start, end, FLAG, value)
    return _Name(start, end, LINE, value) if _heads_line(low, start) else None


def _with_value_word(low: str, start: int, end: int, closed: int) -> _Name | None:
    """`{"name": "NAME", "value": "…"}`, and the same in YAML and XML."""
    ahead = low[closed : closed + 64]
    rest = ahead.lstrip(" \t\r\n,\"'-")
    if len(rest) == len(ahead) or not rest.startswith("value"):
        return None
    at = closed + len(ahead) - len(rest) + len("value")
    at += len(low[at : at + 4]) - len(low[at : at + 4].lstrip(_CLOSERS))
    value = _after_sign(low, skip_blank(low, at))
    return _Name(start, end, PAIR, value) if value else None


def _with_markup(low: str, start: int, end: int, closed: int) -> _Name | None:
    """`<name>NAME</name> <value>…`, `<key>NAME</key> <string>…`, `<property name="NAME"><value>…`."""
    if low[closed : closed + 1] not in ("<", ">"):
        return None
    ahead = low[closed : closed + 96]
    rest = ahead.partition(">")[2].lstrip()
    if not rest.startswith(_MARKUP_VALUES) or low[closed : closed + 2] not in ("</", "><", ">\n"):
        return None
    return _Name(start, end, MARKUP, closed + len(ahead) - len(rest) + rest.index(">") + 1)


def _beside(text: str, start: int, end: int, closed: int, sign: int) -> _Name | None:
    """`| name | … |`, `set("name", "…")`, `name("…")`, `NAME '…'`."""
    first = text[sign : sign + 1]
    if first == "|":
        row = text[max(0, start - 48) : start].rpartition("\n")[2]
        value = skip_blank(text, sign + 1)
        in_table = "|" in row and not row.rpartition("|")[2].strip(_CELL) and text[value : value + 1] != "|"
        return _Name(start, end, BESIDE, value) if in_table else None
    if first == "," and sign == closed != end and text[start - 1] == text[closed - 1]:
        before = text[max(0, start - 16) : start - 1].rstrip(" \\")
        value = skip_blank(text, sign + 1)
        if before[-1:] != "(" or not _closes_call(text, value):
            return None
        return _Name(start, end, PAIR if before.endswith("define(") else BESIDE, value)
    if first == "(" and closed == end == sign:
        return _Name(start, end, CALL, sign + 1)
    arrow = next((arrow for arrow in _ARROWS if text.startswith(arrow, sign)), "")
    if arrow and sign != closed:
        return _Name(start, end, BESIDE, skip_blank(text, sign + len(arrow)))
    return _Name(start, end, BESIDE, sign) if first == "'" and closed == end != sign else None


def _closes_call(text: str, at: int) -> bool:
    """Whether a string literal begins here, and the call is over behind it."""
    if text[at : at + 1] not in _LITERALS or text.find(")", at, at + 256) < 0:
        return False
    literal = literals.read(text, at, whole_word=False)
    return literal is not None and ")" in text[literal.end + 1 : literal.end + 4].partition(",")[0]


# -- values


def _read_value(text: str, low: str, name: _Name, marks: tuple[str, ...]) -> Span | None:
    """Read the value of a name: where it is, if it is a secret."""
    if _repeats_name(low, name):
        return None
    if name.joint == CALL or (name.kind == "authorization" and text[name.value : name.value + 1] == "("):
        return _read_call(text, low, name, marks)
    if name.kind == "authorization" and name.joint != BESIDE:
        return _read_header(text, low, name, marks)
    if name.kind == "cookie" and name.joint == PAIR and ":" in text[name.end : name.value]:
        return _read_cookie(text, name.value, marks)
    if name.joint == MARKUP:
        return _read_markup(text, name, marks)
    if name.weight == WEAK and _is_short(text, name.value):
        return None
    in_line = name.joint == PAIR and _heads_line(low, name.start)
    literal = literals.read(text, name.value, whole_word=in_line)
    if not literal or literal.template or text.startswith(marks, literal.start):
        return None
    if not _is_secret(text, name, literal, in_line):
        typed = _after_type(text, literal)  # password: str = "…"
        if not typed or not _is_secret(text, name, typed, in_line):
            return None
        literal = typed
    end = literal.end
    if not literal.quoted:
        end = literals.bare_end(text, end, whole_word=in_line)
        end -= len(text[literal.start : end]) - len(text[literal.start : end].rstrip(",;.)]}"))
    return literal.start, end, name.kind


def _repeats_name(low: str, name: _Name) -> bool:
    """Whether the value only says the name again: `password=password`, `token: token`."""
    at = name.value
    if low[at : at + 1] in _CLOSERS:
        opening = low[at : at + 8]
        at += len(opening) - len(opening.lstrip(_CLOSERS))
    end = at + name.end - name.start
    return low.startswith(low[name.start : name.end], at) and not low[end : end + 1].isalnum()


def _is_short(text: str, value: int) -> bool:
    """Whether a value is a word too short for a name that is only sometimes a secret's, and no type before one."""
    words = text[value : value + 9].split(None, 1)
    return len(words) == 2 and text[value] not in literals.QUOTES and not words[1].startswith("=")


def _is_secret(text: str, name: _Name, literal: Literal, in_line: bool) -> bool:
    value = literal.text
    if name.joint == LINE and not _ends_line(text, literal.end + literal.quoted):
        return False
    if name.joint in (VERB, LINE):
        return values.is_spoken_secret(value, quoted=literal.quoted)
    if name.joint in (BESIDE, CALL):
        return values.is_unlike_words(value) and (name.weight != WEAK or values.looks_random(value))
    if name.kind == "password" and _is_count_or_path(text, name, value):
        return False
    is_variable = in_line and text[name.start : name.end].isupper() and text[name.end : name.value] == "="
    as_it_is = literal.quoted or is_variable  # PASSWORD=…: no code there
    return values.is_secret(value, name.weight, quoted=as_it_is, alone=_is_alone(text, name, literal, in_line))


def _is_alone(text: str, name: _Name, literal: Literal, in_line: bool) -> bool:
    """Whether name and value are by themselves, so that even a plain word is a value and no variable."""
    around = text[name.start - 1 : name.start] + text[literal.end : literal.end + 1]
    if around in ('""', "''", "``") and text[name.end] == "=":
        return True  # - "PASSWORD=word"
    if name.joint == FLAG:
        return _ends_line(text, literal.end) or text.startswith(" -", literal.end)
    is_statement = text[name.end : name.value] == " = " or literal.text[-1:] in (",", ";", ")")
    return in_line and not is_statement and _ends_line(text, literal.end)


def _is_count_or_path(text: str, name: _Name, value: str) -> bool:
    """`pass: 120` counts tests, `PWD=/home/me` is a folder."""
    short = text[name.start : name.end].lower()
    if short.endswith("pwd"):
        return value[:1] in ("/", "~", ".")
    return short == "pass" and value.strip(",;.").isdigit()


def _after_type(text: str, literal: Literal) -> Literal | None:
    """Read on behind a type: `password: str = "…"`."""
    at = literal.end + 1
    if literal.quoted or text[at - 1 : at + 1] != " =" or text[at + 1 : at + 2] in ("=", ">"):
        return None
    return literals.read(text, skip_blank(text, at + 1), whole_word=False)


def _heads_line(low: str, start: int) -> bool:
    """Whether nothing stands before the name on its line but what a settings file or a shell has there."""
    if low[start - 1 : start] not in _BEFORE_HEAD:
        return False
    before = low[max(0, start - 80) : start]
    line = before.rpartition("\n")
    if not line[1] and len(before) == 80:
        return False
    head = line[2].strip(" \t")
    return head in _LINE_HEADS or head.lstrip("0123456789").strip(_AFTER_LINE_NUMBER) in _LINE_HEADS


def _ends_line(text: str, end: int) -> bool:
    at = skip_blank(text, end)
    return text[at : at + 1] in ("", "\n", "\r", "#")


def _read_call(text: str, low: str, name: _Name, marks: tuple[str, ...]) -> Span | None:
    """`setPassword("…")`; `auth=("bob", "…")`, `BasicAuth("bob", "…")`."""
    at = name.value + (name.joint != CALL)
    takes_two = name.kind in ("authorization", "credentials")
    if takes_two:
        ahead = text[at : at + 128]
        user, comma, rest = ahead.partition(",")
        if user[:1] not in _LITERALS or user[-1:] not in literals.QUOTES or not comma:
            return None
        at += len(ahead) - len(rest.lstrip())
    elif not low.startswith(("set", "with"), name.start) and low[name.start : name.end].strip("_") not in _TAKERS:
        return None
    literal = literals.read(text, at, whole_word=False) if _closes_call(text, at) else None
    if not literal or literal.template or text.startswith(marks, literal.start):
        return None
    if takes_two:
        hidden = values.is_secret(literal.text, STRONG, quoted=True)
    else:
        hidden = _is_secret(text, name, literal, in_line=False)
    return (literal.start, literal.end, name.kind) if hidden else None


def _read_markup(text: str, name: _Name, marks: tuple[str, ...]) -> Span | None:
    """`<password>…</password>`."""
    end = text.find("<", name.value, name.value + 4096)
    value = text[name.value : end] if end >= 0 else ""
    if not value.strip() or "\n" in value or text.startswith(marks, name.value):
        return None
    hidden = values.is_secret(value, name.weight, quoted=True)
    return (name.value, end, name.kind) if hidden else None


def _read_header(text: str, low: str, name: _Name, marks: tuple[str, ...]) -> Span | None:
    """`Authorization: Bearer …`: what follows the scheme."""
    at = name.value
    opening = text[at : at + 8]
    at += len(opening) - len(opening.lstrip("\\\"'`"))
    scheme = _scheme(low[at : at + _LONGEST_SCHEME])
    if not scheme and name.joint == PAIR:  # a service's own: `Authorization: Splunk …`
        word, blank, _ = text[at : at + _LONGEST_SCHEME].partition(" ")
        scheme = f"{word} " if blank and word.replace("-", "").isalpha() else ""
        if not values.looks_random(literals.bare_word(text, at + len(scheme), whole_word=False)):
            scheme = ""
    at = skip_blank(text, at + len(scheme))
    if text.startswith(marks, at):
        return None
    if scheme in _WHOLE_LINE:
        end = at + len(text[at : literals.line_end(text, at)].rstrip("\"' ,"))
        return (at, end, "authorization") if "=" in text[at:end] else None
    word = literals.bare_word(text, at, whole_word=False)
    core = word.rstrip(",;.)]}")
    if len(core) < 6 or values.is_placeholder(core) or (not scheme and values.is_code(word)):
        return None
    if not (values.looks_random(core) or (scheme and values.is_dense(core))):
        return None
    end = literals.bare_end(text, at + len(word), whole_word=False)
    return at, at + len(text[at:end].rstrip(",;.)]}")), "authorization"


def _scheme(head: str) -> str:
    """Read the scheme at the beginning of a header's value, with the blank behind it; "" if there is none."""
    for blank in (" ", "%20"):
        word, found, _ = head.partition(blank)
        if found and word in SCHEMES:
            return word + blank
    return ""


def _read_cookie(text: str, at: int, marks: tuple[str, ...]) -> Span | None:
    """`Cookie: a=…; b=…`: all of it."""
    sample = text[at : at + _COOKIE_SAMPLE]
    if "0" not in shape(sample) or text.startswith(marks, at):
        return None
    value = _to_quote(sample).partition("=")[2].strip()
    if "0" not in shape(value) or values.is_placeholder(value):
        return None
    return at, at + len(_to_quote(text[at : literals.line_end(text, at)]).rstrip()), "cookie"


def _to_quote(line: str) -> str:
    for stop in ("\n", *literals.QUOTES):
        line = line.partition(stop)[0]
    return line
