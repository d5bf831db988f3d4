"""Secrets that their own look gives away: the known formats, and strings too random to be words.

The text is cut into words by one C-speed translation; only words of 16 characters and more are looked at.
"""

from __future__ import annotations

from mdmem.privacy.secrets import SHORTEST_TOKEN
from mdmem.privacy.secrets.formats import AROUND, BASE64, BY_FIRST_TWO, DOTS, DOTTED, HEX, MIXED, ODD, PUBLIC, WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.formats import Row

LONGEST = 200
"""A longer run of random characters is data (an image, a key's modulus), unless a known prefix opens it."""


def _table(kept: str) -> bytes:
    return bytes(code if chr(code) in kept else 0x20 for code in range(256))


_SHAPES = {
    **dict.fromkeys(range(ord("a"), ord("z") + 1), "a"),
    **dict.fromkeys(range(ord("A"), ord("Z") + 1), "A"),
    **dict.fromkeys(range(ord("0"), ord("9") + 1), "0"),
}
_SHAPE_BYTES = bytes(ord(_SHAPES.get(code, " ")) for code in range(256))
_TURNS = ("aA", "Aa", "a0", "0a", "A0", "0A")
_SAMPLE = 512
_LONGEST_HEAD = 96
_SHORTEST_SPREAD = 24
_SHORTEST_WRAP = 56
"""Base64 is wrapped at 60, 64, 76 or so characters, seldom before."""
_PART = 64 * 1024
_WORDS = _table(DOTTED)
_BEFORE_RUN = BASE64.replace("=", "")
_BEFORE_HASH = (
    "base64,", "base64%", "?b?", "?B?", "h1:",
    "SHA256:", "sha256=", "sha384=", "sha512=", "sha1=", "md5=", 'contentHash": "', 'W/"', 'Tag: "',
    'tag: "',
)  # fmt: skip
"""What stands before a checksum."""
_OUTLINE = "0123456789.-MmZzLlHhVvCcSsQqTtAa"
"""The characters of a path in SVG: numbers, and letters for what is drawn."""
_BEFORE_DATA = ("renovate-debug:",)
_SEPARATORS = dict.fromkeys(map(ord, "_-.+/=:%~"), " ")


def shape(value: str) -> str:
    """Reduce letters and digits to "a", "A" and "0"; other characters stay. Of a long value, its beginning."""
    return value[:_SAMPLE].translate(_SHAPES)


def turns(shape: str) -> int:
    """Count where letters and digits change their class: often in random text, seldom in names."""
    return sum(shape.count(turn) for turn in _TURNS)


def find(text: str) -> Iterator[tuple[int, int, str]]:
    """Find tokens: start, end, kind; each group of rows in rising order."""
    if "\\" in text:  # "\nghp_…" in a string literal: the escape is no part of the word
        text = text.replace("\\n", "  ").replace("\\t", "  ").replace("\\r", "  ")
    signs = text.encode("ascii", "replace")  # one byte a character, so that positions stay good
    text = signs.decode("ascii")  # in Korean or Chinese, a token touches other letters
    words = signs.translate(_WORDS).decode("ascii")
    long_words = _long_words(words)
    if long_words:
        yield from _among(text, words, long_words, signs.translate(_SHAPE_BYTES).decode("ascii"))
    for row in ODD:
        if row[1] in text:
            yield from _with_odd_prefix(text, row)
    for around in AROUND:
        if around[1] in text:
            yield from _around(text, *around)


def _long_words(words: str) -> list[str]:
    """List the words long enough for a token, part by part: millions of words at once would leave the cache."""
    found: list[str] = []
    at = 0
    while at < len(words):
        end = words.find(" ", at + _PART)
        end = end if end >= 0 else len(words)
        found += [word for word in words[at:end].split() if len(word) >= SHORTEST_TOKEN]
        at = end
    return found


def _among(text: str, words: str, long_words: list[str], shapes: str) -> Iterator[tuple[int, int, str]]:
    at = done = 0
    for word in long_words:
        at = words.find(word, at)
        if at >= done and (word[:2] in BY_FIRST_TWO or "0" in shapes[at : at + len(word)]):
            start, end, kind = _known(text, at, word) or _random(text, shapes, at, at + len(word))
            if kind:
                yield start, end, kind
            done = end
        at += len(word)


def _known(text: str, at: int, word: str) -> tuple[int, int, str] | None:
    for row in BY_FIRST_TWO.get(word[:2], ()):
        if word.startswith(row[1]):
            if text.endswith(_BEFORE_DATA, 0, at) or text.endswith(_BEFORE_HASH, 0, at):
                return None
            end = _match(text, at + len(row[1]), row)
            if end:
                return at, end, row[0]
    return None


def _with_odd_prefix(text: str, row: Row) -> Iterator[tuple[int, int, str]]:
    prefix = row[1]
    at = text.find(prefix)
    while at >= 0:
        body = at + len(prefix)
        end = 0 if text[at - 1 : at].isalnum() else _match(text, body, row)
        if end:
            yield at, end, row[0]
        at = text.find(prefix, end or body)


def _around(
    text: str, kind: str, mark: str, head: str, shortest: int, tail: str, least: int
) -> Iterator[tuple[int, int, str]]:
    """Find `mark` with enough characters of `head` before it and of `tail` behind it."""
    at = text.find(mark)
    while at >= 0:
        end = body = at + len(mark)
        if at >= shortest and text[at - 1] in head and not text[at - shortest : at].strip(head):
            end = _run_end(text, body, tail) if tail else body
            if end - body >= least and not text[end : end + 1].isalnum():
                before = text[max(0, at - _LONGEST_HEAD) : at]
                yield at - len(before) + len(before.rstrip(head)), end, kind
        at = text.find(mark, end)


def _match(text: str, body: int, row: Row) -> int:
    """Return where the token ends whose characters after the prefix begin at `body`; 0 if it does not fit the row."""
    _, _, alphabet, least, nature = row
    sample = text[body : body + max(64, 2 * least)]
    size = len(sample) - len(sample.lstrip(alphabet))
    if size < least or (nature == MIXED and not _is_mixed(sample[:size])):
        return 0
    if nature == DOTS and sample.count(".", 0, size) != 2:
        return 0
    end = _run_end(text, body, alphabet)
    if text[end : end + 1] in ("_", "-"):
        end = _run_end(text, end, WORD)  # a newer kind of it: no half is left
    if text[end : end + 1].isalnum():
        return 0  # it goes on with characters that this format does not have
    while end - body >= least and text[end - 1] in ".,":
        end -= 1
    return end if end - body >= least else 0


def _run_end(text: str, at: int, alphabet: str) -> int:
    """Return where the run of characters of `alphabet` that begins at `at` ends; linear in its length."""
    size = 256
    while True:
        chunk = text[at : at + size]
        rest = chunk.lstrip(alphabet)
        if rest or len(chunk) < size:
            return at + len(chunk) - len(rest)
        at += size
        size *= 2


def _is_mixed(body: str) -> bool:
    """Whether letters and digits stand together in it as in no name made of words."""
    parts = body.translate(_SEPARATORS).split()
    part = max(parts, key=len, default="")
    if len(part) >= 12 and not part.isalpha() and not part.isdigit():
        return True
    form = shape("".join(parts))
    return "0" in form and turns(form) >= 0.35 * len(form)


def _random(text: str, shapes: str, at: int, end: int) -> tuple[int, int, str]:
    """Judge a word of no known format: a span to hide, or one to leave alone (no kind)."""
    if not _looks_random(shapes[at:end], text[at:end]):
        return at, end, ""
    before, after = text[max(0, at - LONGEST) : at], text[end : end + LONGEST]
    start = at - len(before) + len(before.rstrip(_BEFORE_RUN))
    last = end + len(after) - len(after.lstrip(BASE64))
    run = text[start:last]
    known = _known(text, start, run) if start < at else None
    if known:
        return known
    if _is_public(text, start, last, run):
        return at, _run_end(text, last, BASE64), ""
    if _is_path(run):
        return at, end, "random-token"
    if len(run) > LONGEST or after[:1] == "@":
        return at, _run_end(text, last, BASE64), ""
    return start, last, "random-token"


def _looks_random(shape: str, word: str) -> bool:
    """Whether a word, or a part of it, changes between letters, digits and cases as no name does."""
    if "0" not in shape:
        return False
    at = 0
    for part in shape.split(" "):
        if len(part) >= SHORTEST_TOKEN and "0" in part and _is_jumble(part, word[at : at + len(part)]):
            return True
        at += len(part) + 1
    whole = shape.replace(" ", "")
    if len(whole) >= 20 and "a" in whole and "A" in whole and turns(whole) >= 0.5 * len(whole):
        return not is_camel_case(shape)
    return len(whole) >= _SHORTEST_SPREAD and _is_spread(shape, word)


def _is_spread(shape: str, word: str) -> bool:
    """Whether signs stand among random characters, as in `kfk7q-7z-ztlzse7vnvt6_ihep0`: few of its parts are words."""
    mixed = letters = changes = digits = 0
    at = 0
    for part in shape.split(" "):
        text = word[at : at + len(part)]
        at += len(part) + 1
        if "0" not in part and len(part) > 3:
            letters += len(part)
        elif not _is_hash(text):
            mixed += len(part)
            changes += turns(part)
            digits += part.count("0")
    is_random = mixed >= _SHORTEST_SPREAD and digits >= 5 and changes >= 0.26 * mixed and letters <= 0.2 * mixed
    return is_random and not is_camel_case(shape)


def _is_jumble(shape: str, part: str) -> bool:
    size, digits, rate = len(shape), shape.count("0"), turns(shape) / len(shape)
    if "a" in shape and "A" in shape:
        if "aaaaa" in shape and shape.count("a") >= 0.6 * size:
            return False  # words in a row: Win32MimeTypesTestCase
        return rate >= (0.5 if size < 20 or digits == 1 else 0.42) and not is_camel_case(shape)
    if size < 20 or digits < 3 or rate < 0.22 or (size < 24 and (digits < 4 or rate < 0.3)):
        return False
    return not _is_hash(part)


def _is_hash(part: str) -> bool:
    """Whether it is a hash, perhaps behind a letter or two, as in what `git describe` says, and in anchors."""
    return not part.removeprefix("0x").strip(HEX) or (len(part) > 8 and not part[2:].strip(HEX) and part[:2].isalnum())


def is_camel_case(shape: str) -> bool:
    """Whether most of it are letters of words: `dnsAlpnH3JobWonRace`."""
    runs = shape.replace("A", " ").replace("0", " ").split()
    return "A" in shape and sum(len(run) for run in runs if len(run) > 1) > 0.5 * len(shape)


def _is_public(text: str, start: int, end: int, run: str) -> bool:
    """Whether a random run is known to be no secret: a hash, an id, a file in base64, a line of such."""
    if not run.strip(HEX) or run.startswith(PUBLIC) or text.endswith(_BEFORE_HASH, 0, start):
        return True
    if not run.strip(_OUTLINE) or text.endswith(_BEFORE_DATA, 0, start):
        return True
    if len(run) == 26 and run.startswith("01") and run.isupper():
        return True  # a ULID, an id that begins with the time
    return _is_wrapped(text, start, end) or _says_words(run)


def _says_words(run: str) -> bool:
    """Whether it is a text in base64 that holds no secret itself."""
    from binascii import Error, a2b_base64

    bare = run.rstrip("=")
    try:
        said = a2b_base64(bare[: len(bare) // 4 * 4]).decode()
    except (Error, ValueError):
        return False
    if not said.replace("\n", " ").replace("\r", " ").isprintable() or ":" in said:
        return False
    return all(not word.strip(HEX) or not _looks_random(shape(word), word) for word in said.split())


def _is_wrapped(text: str, start: int, end: int) -> bool:
    """Whether it is a whole line among others of base64 as long, or the last, shorter one; indented or not."""
    after = text[end : end + 1]
    before = text[max(0, start - 32) : start].rpartition("\n")[2]
    if before.strip(" \t\"'") or after not in ("", "\n", "\r", '"', "'", "\\"):
        return False
    size, begin = end - start, start - len(before)
    above = text[max(0, begin - 128) : max(0, begin - 1)].rpartition("\n")[2].strip(" \t\r\"'\\n+")
    if len(above) >= max(size, _SHORTEST_WRAP) and not above.strip(BASE64):
        return True
    below = text[end : end + 192].partition("\n")[2].partition("\n")[0].strip(" \t\r\"'\\n+")
    return size >= _SHORTEST_WRAP and len(below) >= 16 and not below.strip(BASE64)


def _is_path(run: str) -> bool:
    """Whether a run with slashes is a path, of which only one part looks random."""
    if "/" not in run or "+" in run or run.startswith(PUBLIC):
        return False
    return run[0] == "/" or any(len(part) >= 3 and part.isalpha() and part.islower() for part in run.split("/"))
