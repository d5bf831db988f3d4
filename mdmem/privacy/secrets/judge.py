"""Judges whether the value of a name is a secret, and returns its span.

There is one function for each way to join a name and a value. It takes the name and the offset of the value, and
returns the spans to mask, if any. Its docstring shows the notation, with `…` for the secret.
"""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import headers, literals, scan, values
from mdmem.privacy.secrets.formats import HEX, PUBLIC
from mdmem.privacy.secrets.literals import QUOTES, Literal, skip_blank
from mdmem.privacy.secrets.names import STRONG
from mdmem.privacy.secrets.tokens import is_camel_case, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mdmem.privacy.secrets.scan import Name, Span

_LITERALS = ("'", '"', "\\")
_TRAILING = ",;.)]}"
_GIVERS = ("with ", "tried ", "trying ", "using ", '" and ', "' and ")
"""Precede "password" where the password itself follows in quotes."""
_BRANCHES = frozenset(":|?(")
_CODE = frozenset(".,?:;()")
_DEFINERS = ("define(", "setdefault(", "putenv(", "setenv(", "setproperty(", "environmentvariable(")
_TAKERS = ("password", "passwd", "passphrase", "secret", "apikey", "api_key")
_LONGEST_PHRASE = 400
_MOST_LISTED = 200
_SHORTEST_HASH = 20


def assigned(name: Name, at: int) -> list[Span]:
    """`NAME=…`, `"name": "…"`, `name: str = "…"`."""
    text = name.text
    if name.kind == "authorization":
        return call(name, at + 1) if text[at : at + 1] == "(" else headers.authorization(name, at)
    if name.kind == "cookie" and ":" in text[name.end : at]:
        return headers.cookie(text, at)
    if name.kind == "mnemonic":
        return _phrase(name, at)
    if text[at : at + 1] == "[" and name.low[name.end - 1] == "s":
        return _listed(name, at)
    if phrase := _passphrase(name, at):
        return phrase
    in_line = name.heads_line() and (name.closed != name.end or text[name.start - 1 : name.start] not in _LITERALS)
    literal = literals.read(text, at, whole_word=in_line)
    if not literal or literal.template or (text.startswith("`", at) and " " in literal.text):
        return []
    if not _is_assigned(name, literal, in_line):
        typed = _after_type(text, literal)
        if not typed or not _is_assigned(name, typed, in_line):
            return []
        literal = typed
    return [_span(name, literal, whole_word=in_line), *_changed(name, literal)]


def _changed(name: Name, old: Literal) -> list[Span]:
    """Return the new value in `name = "…" -> "…"`, as Terraform prints a change."""
    at = old.end + old.quoted
    literal = literals.read(name.text, at + 4, whole_word=False) if name.text.startswith(' -> "', at) else None
    return [_span(name, literal)] if literal and values.is_secret(literal.text, name.weight, quoted=True) else []


def spoken(name: Name, at: int) -> list[Span]:
    """`my password is …`."""
    if name.kind == "mnemonic":
        return _phrase(name, at)
    literal_spans = _read(name, at, lambda literal: _is_spoken(name, literal) or _is_rare_at_end(name, literal))
    return literal_spans or _passphrase(name, at)


def line(name: Name, at: int) -> list[Span]:
    """`requirepass …`: a line with only the name and the value."""
    return _read(name, at, lambda literal: _is_alone_on_line(name, literal) and _is_spoken(name, literal))


def after_remark(name: Name, at: int) -> list[Span]:
    """`Password for bob: …`."""
    return _read(
        name,
        at,
        lambda literal: (
            name.kind == "password"
            and scan.line_ends(name.text, literal.end + literal.quoted)
            and (values.is_unlike_words(literal.text) or values.has_signs(literal.text) or values.is_rare(literal.text))
            and not values.names_something(literal.text)
        ),
    )


def flag(name: Name, at: int) -> list[Span]:
    """`--password …`, `ENV PASSWORD …`."""
    return _read(name, at, lambda literal: _is_assigned(name, literal, in_line=False, is_flag=True))


def beside(name: Name, at: int) -> list[Span]:
    """`| password | … |`, `password == "…"`, `password -> …`."""
    return _read(name, at, lambda literal: _is_beside(name, literal))


def in_quotes(name: Name, at: int) -> list[Span]:
    """`storePassword "…"`, `with password "…"`. In other contexts, the quotes may contain anything."""
    before = name.line_before()
    is_given = name.kind == "password" and (name.heads_line() or before == "#define " or before.endswith(_GIVERS))
    literal_spans = _read(
        name,
        at,
        lambda literal: (
            _is_beside(name, literal)
            or (is_given and _is_word(literal.text) and values.is_secret(literal.text, STRONG, quoted=literal.quoted))
        ),
    )
    return literal_spans or _passphrase(name, at)


def _is_word(value: str) -> bool:
    return " " not in value and not value.isdigit() and not values.is_adjective(value)


def ends_line(name: Name, at: int) -> list[Span]:
    """`neighbor 10.0.0.2 password …`: the last word of a line."""
    literal = literals.read(name.text, at, whole_word=False)
    if not literal or not scan.line_ends(name.text, literal.end + literal.quoted):
        return []
    hidden = values.is_secret(literal.text, STRONG, quoted=literal.quoted, alone=True)
    return [_span(name, literal)] if hidden else []


def given_word(name: Name, at: int) -> list[Span]:
    """`logged in with password …`: an uncommon word at the end of a line or clause."""
    literal = literals.read(name.text, at, whole_word=False)
    return [_span(name, literal)] if literal and _is_rare_at_end(name, literal) else []


def _is_rare_at_end(name: Name, literal: Literal) -> bool:
    core = literal.text.rstrip(_TRAILING + "!?")
    is_end = literal.quoted or len(core) < len(literal.text) or scan.line_ends(name.text, literal.end)
    is_account = name.word() != "pass" or secrets.has_any(name.line_before(), ("user", "login", "wifi", "wi-fi"))
    return name.kind in ("password", "secret") and is_end and is_account and values.is_rare(core)


def argument(name: Name, at: int) -> list[Span]:
    """`set("name", "…")`."""
    before = name.low[max(0, name.outer() - 32) : name.outer() - 1].rstrip(" \\")
    if not literals.closes_call(name.text, at) and not before.endswith("environmentvariable("):
        return []
    if name.kind == "authorization":
        return headers.authorization(name, at)
    if before.endswith(_DEFINERS):
        return assigned(name, at)
    return beside(name, at)


def constant(name: Name, at: int) -> list[Span]:
    """`CURLOPT_USERPWD, "user:…"`."""
    literal = literals.read(name.text, at, whole_word=False)
    if not literal or not literal.quoted or literal.template:
        return []
    user, colon, secret = literal.text.partition(":")
    start = literal.start + (len(user) + 1 if colon else 0)
    hidden = values.is_secret(secret if colon else user, STRONG, quoted=True)
    return [(start, literal.end, name.kind)] if hidden else []


def call(name: Name, at: int) -> list[Span]:
    """`setPassword("…")`; `auth=("bob", "…")`, `BasicAuth("bob", "…")`."""
    text = name.text
    takes_two = name.kind in ("authorization", "credentials")
    if takes_two:
        ahead = text[at : at + 128]
        user, comma, after_user = ahead.partition(",")
        if user[:1] not in _LITERALS or user[-1:] not in QUOTES or not comma:
            return []
        at += len(ahead) - len(after_user.lstrip())
    elif not _takes_secret(name):
        return []
    if not literals.closes_call(text, at):
        return []
    if takes_two or text.startswith("PASSWORD(", name.start):
        return _read(name, at, lambda literal: values.is_secret(literal.text, STRONG, quoted=True))
    return beside(name, at)


def markup(name: Name, at: int) -> list[Span]:
    """`<password>…</password>`."""
    end = name.text.find("]]>" if name.text[at - 1] == "[" else "</", at, at + 4096)
    value = name.text[at:end] if end > at else ""
    if not value.strip() or "\n" in value.strip() or "<" in value:
        return []
    return [(at, end, name.kind)] if values.is_secret(value, name.weight, quoted=True) else []


def header(name: Name, at: int) -> list[Span]:
    """`Bearer …`."""
    return headers.authorization(name, at)


def below(name: Name, at: int) -> list[Span]:
    """Return the value, or the list of values, on the lines below the name."""
    text = name.text
    if name.kind == "mnemonic":
        return _phrase(name, at)
    if text.startswith("- ", at):
        return _items(name, at) if name.low[name.end - 1] == "s" else []
    literal = literals.read(text, at, whole_word=False)
    if not literal or literal.template or not scan.line_ends(text, literal.end + literal.quoted):
        return []
    is_bold = not name.text[name.start - 2 : name.start].strip("*_") and text[name.end : name.end + 1] in ("*", "_")
    sure = name.heads_line() and (":" in text[name.end : at] or is_bold)
    is_hash = len(literal.text) >= _SHORTEST_HASH and not literal.text.strip(HEX + "-")
    if is_hash and " " in name.line_before().strip():
        return []  # below a commit title; `nearby` handles sentences that announce a key
    hidden = values.is_unlike_words(literal.text) and (sure or values.is_varied(literal.text))
    return [_span(name, literal)] if hidden and text[literal.end - 1] != ":" else []


# -- shared


def _read(name: Name, at: int, is_secret: Callable[[Literal], bool]) -> list[Span]:
    literal = literals.read(name.text, at, whole_word=False)
    if not literal or literal.template or not is_secret(literal):
        return []
    if name.is_plain_key and not _is_key(literal.text):
        return []
    return [_span(name, literal)]


def _is_key(value: str) -> bool:
    """Whether a value whose name is just "key" looks like a secret key."""
    is_random = len(value) >= 16 and values.looks_random(value) and not is_camel_case(shape(value), value)
    return is_random and not value.startswith(PUBLIC)


def _span(name: Name, literal: Literal, *, whole_word: bool = False) -> Span:
    end = literal.end
    if not literal.quoted:
        end = literals.bare_end(name.text, end, whole_word=whole_word)
        end -= len(name.text[literal.start : end]) - len(name.text[literal.start : end].rstrip(_TRAILING))
    return literal.start, end, name.kind


def _is_assigned(name: Name, literal: Literal, in_line: bool, *, is_flag: bool = False) -> bool:
    value, text = literal.text, name.text
    if name.kind == "pin" and value.strip(_TRAILING).isdigit():
        return 4 <= len(value.strip(_TRAILING)) <= 8
    if name.word().endswith("pwd") and value[:1] in ("/", "~", "."):
        return False  # a path
    if name.word() in ("pass", "pw") and (_passes(literal) or value.startswith(("test_", "Test", "tests/"))):
        return False
    if name.is_plain_key and not _is_key(value):
        return False
    if (name.is_plain_key and not literal.quoted and not _CODE.isdisjoint(value)) or _is_format(text, literal):
        return False
    if not literal.quoted and not in_line and _is_statement(value):
        return False
    from mdmem.privacy.secrets import alone  # rarely needed: few values pass the checks above

    is_shouted = in_line and (text[name.start : name.end].isupper() or text.startswith("TF_VAR_", name.start))
    between = text[name.end : literal.start]
    is_variable = (between == "=" and (is_shouted or name.is_given())) or (between == ": " and name.is_given())
    return values.is_secret(
        value,
        name.weight,
        quoted=literal.quoted or is_variable,  # PASSWORD=…: the value is not code
        alone=alone.is_alone(name, literal, in_line=in_line, is_flag=is_flag),
    )


def _passes(literal: Literal) -> bool:
    """Whether "pass" means success: `{pass: "It is allowed", …}`, `a ? n.pass : n.fail`."""
    value = literal.text
    return value.count(" ") > 1 if literal.quoted else "0" not in shape(value) and not _BRANCHES.isdisjoint(value)


def _is_format(text: str, literal: Literal) -> bool:
    """Whether a string is a format for values: `"VS%0.f" % version`."""
    return literal.quoted and "%" in literal.text and text[literal.end + 1 : literal.end + 4].lstrip(" ")[:2] == "% "


def _is_alone_on_line(name: Name, literal: Literal) -> bool:
    return scan.line_ends(name.text, literal.end + literal.quoted)


def _is_spoken(name: Name, literal: Literal) -> bool:
    if name.kind == "pin" and literal.text.strip(_TRAILING + "!?").isdigit():
        return (6 if name.word().endswith("code") else 4) <= len(literal.text.strip(_TRAILING + "!?")) <= 12
    if name.kind == "cookie" and literal.text.partition("=")[0].lower() in headers.ATTRIBUTES:
        return False
    return values.is_spoken_secret(literal.text, quoted=literal.quoted)


def _is_beside(name: Name, literal: Literal) -> bool:
    if values.is_unlike_words(literal.text) and (name.weight == STRONG or values.is_varied(literal.text)):
        return True
    return literal.quoted and name.kind == "password" and values.is_rare(literal.text)


def _is_statement(value: str) -> bool:
    """Whether more code follows the value, as in minified `e.password=t,n=…`: `t` is not a password."""
    head = value
    for sign in ",;{}":
        head = head.partition(sign)[0]
    following = value[len(head) :].strip(_TRAILING)
    goes_on = following.isalpha() or any(sign in following for sign in "=:({")
    return goes_on and (len(head) < 4 or values.is_placeholder(head) or "{" in following)


def _after_type(text: str, literal: Literal) -> Literal | None:
    """Return the value after a type: `password: str = "…"`, `token: &str = "…"`, `String = "…"`."""
    at = skip_blank(text, literal.end)
    if text[at : at + 1] != "=" or text[at + 1 : at + 2] in ("=", ">"):
        return None
    return literals.read(text, skip_blank(text, at + 1), whole_word=False)


def _takes_secret(name: Name) -> bool:
    word = name.word()
    return word.startswith(("set", "with")) or word.strip("_") in _TAKERS


def _phrase(name: Name, at: int) -> list[Span]:
    """`mnemonic: …`: twelve or more words, perhaps numbered, in a list or before another sentence."""
    text = name.text
    opening = text[at : at + 2]
    start = at + len(opening) - len(opening.lstrip("[\"'`"))
    phrase = text[start : start + _LONGEST_PHRASE].partition("]")[0]
    is_numbered = phrase[:1].isdigit()
    if opening[:1] != "[" and not is_numbered:
        phrase = phrase.partition("\n")[0]
    found: list[str] = []
    place = end = 0
    for word in phrase.split():
        place = phrase.index(word, place)
        core = word.strip("\"'`,;.")
        is_number = is_numbered and word.strip(".):").isdigit()
        if not (is_number or (core.isalpha() and core.islower() and 3 <= len(core) <= 8)):
            break
        if not is_number:
            found.append(core)
            end = place + word.index(core) + len(core)
        place += len(word)
        if word[-1] in ".;\"'`" and not is_number and opening[:1] != "[":
            break
    is_whole = not phrase[end:].split("\n")[0].strip("\"'`,;. ") or len(found) in _PHRASES
    is_phrase = len(found) >= min(_PHRASES) and is_whole and _NO_SEEDS.isdisjoint(found)
    return [(start, start + end, name.kind)] if is_phrase else []


_PHRASES = (12, 15, 18, 21, 24)
"""The numbers of words that a mnemonic phrase may have."""
_NO_SEEDS = frozenset((
    "the", "and", "are", "was", "for", "with", "your", "from", "not", "should", "into", "which", "they", "words", "but",
    "has", "its",
))  # fmt: skip
"""Words that are in most sentences but never in a mnemonic phrase."""


def _passphrase(name: Name, at: int) -> list[Span]:
    """`the passphrase is …`: four or more words to the end of the clause, without one that is in most sentences."""
    if not name.word().endswith("passphrase"):
        return []
    start = at + (name.text[at : at + 1] in QUOTES)
    phrase = name.text[start : start + _LONGEST_SPOKEN]
    for end in _ENDS_OF_CLAUSE:
        phrase = phrase.partition(end)[0]
    words = phrase.rstrip().split(" ")
    are_words = all(word.isalpha() and word.islower() and 3 <= len(word) <= 12 for word in words)
    is_phrase = are_words and 4 <= len(words) <= 10 and _OF_SENTENCES.isdisjoint(words)
    return [(start, start + len(phrase.rstrip()), name.kind)] if is_phrase else []


_LONGEST_SPOKEN = 96
_ENDS_OF_CLAUSE = ("\n", ". ", ",", ";", "!", "?", '"', "'", "`", ")")
_OF_SENTENCES = _NO_SEEDS | frozenset((
    "not", "too", "used", "stored", "from", "this", "that", "your", "you", "has", "have", "when", "which", "then",
    "than", "only", "still", "already", "never", "must", "will", "can", "should", "into", "each", "all", "any", "but",
    "also",
))  # fmt: skip


def _listed(name: Name, at: int) -> list[Span]:
    """`passwords = ["…", "…"]`."""
    spans: list[Span] = []
    end = name.text.find("]", at, at + literals.LONGEST_QUOTED)
    at += 1
    while at < end and len(spans) < _MOST_LISTED:
        ahead = name.text[at : at + 96]
        at += len(ahead) - len(ahead.lstrip(" \t\r\n,"))
        literal = literals.read(name.text, at, whole_word=False)
        if not literal or not literal.quoted:
            break
        if values.is_secret(literal.text, name.weight, quoted=True):
            spans.append((literal.start, literal.end, name.kind))
        at = literal.end + 1
    return spans


def _items(name: Name, at: int) -> list[Span]:
    """`passwords:⏎ - …⏎ - …`."""
    text = name.text
    spans: list[Span] = []
    while text.startswith("- ", at) and len(spans) < _MOST_LISTED:
        literal = literals.read(text, skip_blank(text, at + 2), whole_word=True)
        if not literal:
            break
        end = literal.end + literal.quoted
        if not literal.template and scan.line_ends(text, end) and _is_item(name, literal):
            spans.append((literal.start, literal.end, name.kind))
        at = scan.next_line(text, end)
    return spans


def _is_item(name: Name, literal: Literal) -> bool:
    if name.kind == "password":
        return values.is_secret(literal.text, STRONG, quoted=literal.quoted, alone=True)
    return values.looks_random(literal.text)
