"""Secrets in HTTP headers and in files of cookies: `Authorization: Bearer …`, `Cookie: …`."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import literals, values
from mdmem.privacy.secrets.literals import run_end, skip_blank
from mdmem.privacy.secrets.tokens import shape, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Name, Span

SCHEMES = frozenset((
    "bearer", "basic", "token", "apikey", "api-key", "ssws", "bot", "oauth", "key", "jwt", "negotiate", "ntlm",
    "digest", "aws4-hmac-sha256", "hawk", "signature", "geniekey", "zoho-oauthtoken", "splunk", "apitoken",
))  # fmt: skip
"""Schemes that may precede the secret in an Authorization header."""

_LONGEST_SCHEME = 32
_WHOLE_LINE = ("digest ", "aws4-hmac-sha256 ", "hawk ", "signature ")
_COOKIE_SAMPLE = 128
ATTRIBUTES = ("expires", "max-age", "path", "domain", "samesite", "version")
"""What follows a cookie's value in `Set-Cookie`: no secret."""
_TRAILING = ",;.)]}"


def authorization(name: Name, at: int) -> list[Span]:
    """Return the secret after the scheme in `Authorization: Bearer …`, or in `Bearer …` alone."""
    text, low = name.text, name.low
    at = run_end(text, at, "\\\"'`", 8)
    is_named = name.word() != "bearer"
    scheme = _scheme(low[at : at + _LONGEST_SCHEME])
    if not scheme and is_named:
        scheme = _own_scheme(text, at)
    at = skip_blank(text, at + len(scheme))
    if scheme in _WHOLE_LINE:
        end = at + len(text[at : literals.line_end(text, at)].rstrip("\"' ,"))
        return [(at, end, "authorization")] if "=" in text[at:end] else []
    word = literals.bare_word(text, at, whole_word=False)
    core = word.rstrip(_TRAILING)
    if len(core) < 4 or "::" in core or values.is_placeholder(core) or (not scheme and values.is_code(word)):
        return []
    if not (values.looks_random(core) or _is_literal(name, text, at + len(word), core, scheme)):
        return []
    end = literals.bare_end(text, at + len(word), whole_word=False)
    return [(at, at + len(text[at:end].rstrip(_TRAILING)), "authorization")]


def _is_literal(name: Name, text: str, end: int, core: str, scheme: str) -> bool:
    """Whether a value after a scheme is a secret although it does not look random: `Authorization: Bearer mytoken`."""
    if not scheme:
        return False
    if values.is_dense(core):
        return True
    ends = text[end : end + 1] in ("", "\n", "\r", '"', "'", "\\")
    return name.word().endswith("authorization") and ends and values.is_own_word(core)


def _scheme(head: str) -> str:
    """Return the scheme at the start of a header's value, with the blank after it; "" if there is none."""
    for blank in (" ", "%20"):
        word, separator, _ = head.partition(blank)
        if separator and word in SCHEMES:
            return word + blank
    return ""


def _own_scheme(text: str, at: int) -> str:
    """Return an unknown scheme before a value that looks random, or ""."""
    word, blank, _ = text[at : at + _LONGEST_SCHEME].partition(" ")
    scheme = f"{word} " if blank and word.replace("-", "").isalpha() else ""
    value = literals.bare_word(text, at + len(scheme), whole_word=False)
    is_random = "::" not in value and "->" not in value and values.looks_random(value)
    return scheme if is_random else ""


def cookie(text: str, at: int) -> list[Span]:
    """Return the whole value of `Cookie: a=…; b=…`, or those of a list of cookies, if it may be secret."""
    if text[at : at + 1] == "[":
        return _jar(text, at)
    sample = text[at : at + _COOKIE_SAMPLE]
    if "0" not in shape(sample):
        return []
    value = _to_quote(sample).partition("=")[2].strip()
    if not value or values.is_placeholder(value) or not any(map(_is_varied, _to_quote(sample).split(";"))):
        return []
    return [(at, at + len(_to_quote(text[at : literals.line_end(text, at)]).rstrip()), "cookie")]


def _jar(text: str, at: int) -> list[Span]:
    """Return the values in `[{"name": "session", "value": "…"}]`, as browsers save their cookies."""
    spans: list[Span] = []
    listed = text[at : at + _LONGEST_JAR].partition("]")[0].partition('"cookies"')[0]
    for start, end in secrets.occurrences(listed, '"value": "' if '"value": "' in listed else '"value":"'):
        value = listed[end : end + _LONGEST_COOKIE].partition('"')[0]
        after = end + len(value)
        others = listed[max(0, start - _LONGEST_FIELDS) : start].rpartition("{")[2]
        others += listed[after : after + _LONGEST_FIELDS].partition("}")[0]
        name = others.lower().partition('"name":')[2].split(",")[0]
        is_login = secrets.has_any(name, _OF_SESSIONS) or _is_varied(f"={value}")
        if value and is_login and not values.is_placeholder(value):
            spans.append((at + end, at + end + len(value), "cookie"))
    return spans


_OF_SESSIONS = ("sess", "sid", "auth", "token", "login", "remember", "jwt")
"""Parts of the names of cookies that log in, in lower case."""
_LONGEST_JAR = 32 * 1024
_LONGEST_COOKIE = 4096
_LONGEST_FIELDS = 400


def in_cookie_file(text: str) -> Iterator[Span]:
    """Find the values in a file of cookies, as browsers and curl keep them: seven fields a line, the last the value."""
    done = 0
    for head, at in secrets.occurrences(text, " HTTP Cookie File"):
        if head < done:
            continue
        done = at + _LONGEST_FILE
        for begin, row in literals.lines(text[at : at + _LONGEST_FILE], at):
            fields = row.rstrip("\r").split("\t")
            if len(fields) == _COOKIE_FIELDS and values.is_unlike_words(fields[-1]):
                end = begin + len(row.rstrip("\r"))
                yield end - len(fields[-1]), end, "cookie"


_COOKIE_FIELDS, _LONGEST_FILE = 7, 256 * 1024


def _is_varied(pair: str) -> bool:
    """Whether a cookie's value is neither a word nor a number. Attributes such as `expires=…` do not count."""
    name, _, value = pair.strip().partition("=")
    form = shape(value.strip())
    return len(form) >= 4 and turns(form) >= 1 and "=" not in form.rstrip("=") and name.lower() not in ATTRIBUTES


def _to_quote(line: str) -> str:
    for stop in ("\n", "\\r", "\\n", *literals.QUOTES):
        line = line.partition(stop)[0]
    return line
