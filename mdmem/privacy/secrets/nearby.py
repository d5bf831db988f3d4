"""Secrets that a sentence announces: `the key for maps is …`, `use … as the API token`, `an acme secret … within`.

Near such a word, even a hexadecimal number or a UUID is masked, which alone would be a hash or an id. It is kept if a
word says that it is one, or if the sentence ends in between.
"""

from __future__ import annotations

from mdmem.privacy.secrets.names import WEAK
from mdmem.privacy.secrets.tokens import is_opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.secrets.scan import Name, Span

_REACH = 80
"""Maximum distance from a name to its value, in characters."""
_MOST_WORDS = 6
_SHORTEST, _LONGEST = 14, 128
_QUOTES = "\"'`*_"
_AROUND = _QUOTES + ",.;:!?"
_KINDS = frozenset(("key", "secret", "token", "credentials", "password", "authorization"))
_CODE = frozenset("=(){}[]<>\\/$@#")
_STOPS = frozenset(".;!?")

_PUBLIC = frozenset(
    """
    address algorithm blob branch build cache checksum commit commits container count digest etag event file files
    fingerprint fixes function guid hash hashes head id ids identifier image index issue line merge message named node
    object parent path pgp gpg public pull ref refs release request rev revert reverts revision rsa session sha sha1
    sha256 sha512 signed since size snapshot ssh tag task thread tree type uuid version
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
"""Words between a name and a value, or just before, that mean that the value is not secret: `token for commit …`."""

_AS = frozenset(("is", "as", "was", "are", "<-", "←", "#", "//"))
"""Words between a value and the name after it: `use … as the API key`, `… <- my token`."""

_PRESENTERS = frozenset(("here", "here's", "heres", "my"))
"""Words of a line that announces a secret, but do not begin a commit title: `Here is the key`."""
_FENCES = ("```", "~~~")
_MOST_LINES = 4


def found(name: Name) -> list[Span]:
    """Find the secret that a sentence announces: after its name, before it, or on the lines below."""
    if name.kind not in _KINDS or (name.is_plain_key and not _is_of_something(name)):
        return []
    return _behind(name) or _before(name) or _below(name)


def _is_of_something(name: Name) -> bool:
    """Whether a plain "key" may be secret, not one of a public kind: `RSA key`, `cache key`."""
    words = name.line_before().split()[-2:]
    return name.weight == WEAK and bool(words) and _PUBLIC.isdisjoint(words)


def _behind(name: Name) -> list[Span]:
    text, at = name.text, name.closed
    if text.startswith(", ", at):
        return []  # one of several names
    line = text[at : at + _REACH].partition("\n")[0]
    place = 0
    for word in line.split(None, _MOST_WORDS)[:_MOST_WORDS]:
        start = line.index(word, place)
        place = start + len(word)
        if len(word) >= _SHORTEST or place == len(line):
            start += at + len(word) - len(word.lstrip(_AROUND))
            value = _word(text, start)
            if is_opaque(value):
                return [(start, start + len(value), name.kind)]
        if word[-1] in _STOPS or not _CODE.isdisjoint(word) or word.strip(_AROUND).lower() in _PUBLIC:
            return []
    return []


def _before(name: Name) -> list[Span]:
    line = name.text[max(0, name.start - _REACH - _LONGEST) : name.start].rpartition("\n")[2]
    words = line.split()
    between: list[str] = []
    for word in reversed(words[-_MOST_WORDS:]):
        value = word.strip(_QUOTES)
        if len(value) >= _SHORTEST and is_opaque(value):
            if not between or between[-1] not in _AS or not _PUBLIC.isdisjoint(between):
                return []
            start = name.start - len(line) + line.rindex(value)
            return [(start, start + len(value), name.kind)]
        if not word.isalpha() and word not in _AS:
            return []
        between.append(word.lower())
    return []


def _below(name: Name) -> list[Span]:
    """Find the secret on a separate line below `Here is my key:`."""
    text = name.text
    rest, newline, _ = text[name.closed : name.closed + _REACH].partition("\n")
    if not newline or not _presents(name.line_before().split(), rest.strip()):
        return []
    at = name.closed + len(rest) + 1
    for line in text[at : at + _REACH + _LONGEST].split("\n")[:_MOST_LINES]:
        value = line.strip().strip(_QUOTES)
        if value and not line.startswith(_FENCES):
            start = at + line.index(value)
            return [(start, start + len(value), name.kind)] if is_opaque(value) else []
        at += len(line) + 1
    return []


def _presents(before: list[str], rest: str) -> bool:
    """Whether a line announces the value below it, and does not say that this is public."""
    after = rest.rstrip(_AROUND).lower().split()
    if len(after) > _MOST_WORDS or not _CODE.isdisjoint(rest) or not _PUBLIC.isdisjoint((*before, *after)):
        return False
    return rest[-1:] == ":" or not _PRESENTERS.isdisjoint(before)


def _word(text: str, at: int) -> str:
    """Return the word at an offset, up to white space, without punctuation and quotes at its end."""
    ahead = text[at : at + _LONGEST + 1].split(None, 1)
    word = ahead[0] if ahead and not text[at].isspace() else ""
    return word.rstrip(_AROUND)
