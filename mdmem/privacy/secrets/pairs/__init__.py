"""Secrets with a name: `PASSWORD=…`, `"apiKey": "…"`, `--token …`, "the pin is …".

`scan` reads a name that contains a keyword, and the signs after it. Whatever names a secret by its weight is left to
`rules`, which are loaded only then: most texts with such a word have no name of a secret.
"""

from __future__ import annotations

from mdmem.privacy import limits, secrets
from mdmem.privacy.secrets import literals, names, scan, signs, tables
from mdmem.privacy.secrets.names import LITERAL, WEAK
from mdmem.privacy.secrets.scan import Name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mdmem.privacy.secrets.scan import Span

_LIGHT = 0.5  # what an occurrence that names no secret counts towards `limits.MOST_NAMES`
_MAY_FOLLOW = frozenset(scan.CLOSERS + " \t:=＝：?!><([|→\n\r,는은は是为為/*.")
_FIRST_HANGUL = "가"
_IN_QUERY = ("key", "code", "sig", "x-amz-signature")


def in_text(text: str, low: str, marks: tuple[str, ...], words: frozenset[str] | None) -> Iterator[Span]:
    """Find secrets with a name, in pairs, tables and what commands print, also in disguised or escaped letters."""
    yield from find(text, low, marks, words)
    if secrets.has_any(text, signs.PROMPTS):
        from mdmem.privacy.secrets import printed

        yield from (span for span in printed.find(text) if not text.startswith(marks, span[0]))
    bare = secrets.plain_names(tables.in_ascii(text))
    low_bare = low if bare is text else bare.replace("\u0130", "I").lower()
    if bare is not text or "\x1b[" in text or secrets.has_any(low, literals.ESCAPES):
        plain = literals.unescaped(bare, low)
        yield from find(plain, literals.unescaped(low_bare, low), marks, words if bare is text else None)
    if "\n" in text or secrets.has_any(low, _IN_ONE_LINE):
        yield from (span for span in tables.find(bare, low_bare) if not text.startswith(marks, span[0]))
    if text.lstrip()[:1] in _JSON and "\\n" in text and not text.startswith('"""'):
        yield from _in_strings(text, low, marks)


_IN_ONE_LINE = ("values", '"secret"', '"secrets"', "code", "stringdata", "cols", "columns", '"fields', '"head')
"""Every table or block with secrets (`tables`) that has no line break contains one of these, in lower case."""
_JSON = ("{", "[", '"')
"""Beginnings of a text in JSON."""


def _in_strings(text: str, low: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """Find such secrets in the strings of JSON that have several lines, as if each were a file."""
    from mdmem.privacy import views

    lines = views.strings_of_lines(text, low)
    low = lines.lower() if lines.isascii() else views.strings_of_lines(low, low)
    for start, end, kind in in_text(lines, low, marks, secrets.words(low)) if lines else ():
        yield start, start + len(lines[start:end].rstrip()), kind  # a blank stands before what was an escape


def find(text: str, low: str, marks: tuple[str, ...], words: frozenset[str] | None = None) -> Iterator[Span]:
    """Find secrets with a name, in ascending order for each keyword.

    low: the text in lower case, with the same offsets. marks: prefixes of values that are already masked.
    words: the words of a long text, from `secrets.words`.

    Raises:
        FloodError: there are more than `limits.MOST_NAMES` names to judge.
    """
    judged = 0.0
    for keyword in [word for word in secrets.keywords(text, words) if word in low]:
        length = len(keyword.rstrip("=:").removesuffix(" is"))
        at = low.find(keyword)
        while at >= 0:
            end = scan.name_end(low, at + length)
            is_cjk = keyword[0] >= scan.CJK
            if not keyword.isascii():
                end = at + length if is_cjk else scan.word_end(low, end)
            if is_cjk or low[end : end + 1] in _MAY_FOLLOW or low[end : end + 1] >= _FIRST_HANGUL or end == len(low):
                start = scan.name_start(low, at)
                weight, kind = _weigh(text, low, start, end)
                if not (weight or names.is_in_module(text, start, end, "")) and "-" in low[at + length : end]:
                    spans = _of_part(text, low, start, low.index("-", at + length))  # "password-bob: …"
                    yield from (span for span in spans if not text.startswith(marks, span[0]))
                judged += 1 if weight and (kind != _PLAIN_KEY or low[end : end + 1] == " ") else _LIGHT
                if judged > limits.MOST_NAMES:
                    raise limits.FloodError
                if weight:
                    name = Name(text, low, start, end)
                    name.weight, name.kind = weight, kind
                    if kind == _PLAIN_KEY:
                        name.kind, name.is_plain_key = "key", True
                    for span in _rules().secrets_of(name):
                        if not text.startswith(marks, span[0]):
                            yield span
                            end = max(end, span[1])
            at = low.find(keyword, end)


def _of_part(text: str, low: str, start: int, end: int) -> list[Span]:
    """Find the password after a name whose first part names it: `password-bob: …`."""
    name = Name(text, low, start, end)
    name.weight, name.kind = _weigh(text, low, start, end)
    return _loose().after_name(name) if name.weight else []


def _rules() -> Any:
    from mdmem.privacy.secrets.pairs import rules  # only for a name of a secret

    return rules


def _loose() -> Any:
    from mdmem.privacy.secrets import loose  # likewise

    return loose


# -- the weight of a name


def _weigh(text: str, low: str, start: int, end: int) -> tuple[int, str]:
    name = text[start:end]
    weight, kind = _remembered(name)
    if name == "nonce" and text.startswith(('="', "='"), end):
        return names.NONE, ""  # of a challenge or a page's scripts, so public
    if text[end : end + 1] == ":" == text[start - 1 : start] and names.is_in_arn(low, start):
        return names.NONE, ""
    if names.is_in_module(text, start, end, kind):
        return names.NONE, ""
    if weight or len(name) > scan.LONGEST_NAME // 2:
        return weight, kind
    word = low[start:end]
    if word.endswith("key") and text[end : end + 1] == " " and scan.type_digit(text, end + 1) and "pub" not in word:
        return LITERAL, "key"
    if word == "key" and literals.line_before(low, start, 16).strip() == "option":
        return names.STRONG, "key"  # option key '…', of OpenWrt
    if word in ("key", "phrase", "code") and text[start - 1 : start] in (" ", "."):  # "the API key is …", "api.key=…"
        weight, kind = _remembered(" ".join(low[max(0, start - 12) : end].replace(".", " ").split()[-2:]))
        if not weight and word == "key" and text[end : end + 1] == " " and _loose().has_long_word(text, end, end):
            return WEAK, _PLAIN_KEY
        if weight or (text[start - 1] == " " and (word != "key" or not _is_set(text, end))):
            return min(weight, LITERAL if _is_set(text, end) else WEAK) if kind == "key" else weight, kind
    if text[start - 1 : start] in ("?", "&") and low[start:end] in _IN_QUERY:
        return WEAK, "key"
    is_given = _is_set(text, end) or (len(name) > len("key") and text[end : end + 1] in _AFTER_KEY)
    if word.endswith("key") and is_given and names.may_open(word):
        return WEAK, _PLAIN_KEY
    return names.NONE, ""


_PLAIN_KEY = "some-key"
_AFTER_KEY = frozenset("\"'`>]\\ ")


def _is_set(text: str, end: int) -> bool:
    return text[end : end + 3].lstrip(" ")[:1] in ("=", ":")


def _remembered(name: str) -> tuple[int, str]:
    """Return the weight and kind of a name, cached, because a text repeats few names many times."""
    if name not in _weighed:
        if len(_weighed) >= _MOST_WEIGHED:
            _weighed.clear()
        _weighed[name] = names.weigh(name)
    return _weighed[name]


_weighed: dict[str, tuple[int, str]] = {}
_MOST_WEIGHED = 512
