"""Private words: the parts of a private text that are recognized when they occur again.

These are the whole text, its lines and sentences, and its telling words: names, numbers, codes, passwords, addresses.
An everyday word counts only if it was the whole private section: hiding "middleware" for the rest of a session
protects nobody.
"""

from __future__ import annotations

from mdmem.privacy import everyday, letters
from mdmem.privacy.everyday import is_common
from mdmem.privacy.letters import ANYWHERE, NUMBER, WORD, fold, is_cjk, is_hangul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 400
"""A part longer than this is recognized only by its own parts, in characters."""

MOST = 20_000
"""Maximum number of parts to remember from one payload."""

_FEW_WORDS = 8  # in a section with no more words, more of them count by themselves
_SHORTEST_GLUED = 6  # characters of a word that also counts inside a longer one
_LONG_NUMBER = 6  # digits of a number that counts however it is grouped
_LONG_PHRASE = 16  # characters of a section that also counts inside longer words
_SHORTEST_SAID = 12
"""A short section of three or more words and this many characters counts as a whole, even if every word is common."""
_MOST_WORDS = 60  # in a text whose groups of four words count
_QUOTES = str.maketrans(dict.fromkeys("\"'`\\“”‘’«»「」『』", " "))
_SIGNS = str.maketrans(dict.fromkeys("\"'`\\,;:=<>()[]{}|&?#/“”‘’«»「」『』、。，；：（）", " "))
_USER_AT = str.maketrans(dict.fromkeys("\"'`\\,;:=<>()[]{}|&?#/@", " "))
_EDGES = "\"'`.,;:!?()[]{}<>*_-=#/\\“”‘’«»「」『』、。，；：！？（）…"
_SENTENCE_ENDS = (". ", "! ", "? ", "; ")


def parts(spans: tuple[str, ...]) -> dict[str, int]:
    """Return the parts of private texts to recognize, in lower case, each with where it counts (`letters`)."""
    boundary_of: dict[str, int] = {}
    for span in map(_composed, spans):
        for part, boundary in _of_span(span):
            if len(boundary_of) >= MOST:
                return boundary_of
            low = fold(part)
            boundary_of[low] = min(boundary, boundary_of.get(low, boundary))
    return boundary_of


def _composed(text: str) -> str:
    """Return a text with accents composed, and full-width and half-width forms replaced by the usual ones."""
    if text.isascii() or not any(_is_accent(char) or _is_wide(char) for char in set(text)):
        return text
    from unicodedata import normalize

    return normalize("NFC", "".join([normalize("NFKC", char) if _is_wide(char) else char for char in text]))


def _is_wide(char: str) -> bool:
    """Whether a character is a full-width or half-width form."""
    return "\uff01" <= char <= "\uffee"


def _is_accent(char: str) -> bool:
    """Whether a character combines with the one before it: an accent, a kana sound mark, a Korean vowel."""
    return (
        "\u0300" <= char <= "\u036f" or char in ("\u3099", "\u309a", "\uff9e", "\uff9f") or "\u1161" <= char <= "\u11ff"
    )


def spellings(part: str, bare: str) -> Iterator[str]:
    """Yield other spellings of a part with the letters `bare`: backwards, in ROT13, with ue for ü, in Punycode."""
    if not _SHORTEST_GLUED <= len(bare) <= _LONGEST_SPELLED or (len(bare) <= _LONGEST_TWIN and is_common(bare)):
        return
    if not part.isascii():
        yield letters.of(part.translate(_UMLAUTS))
        if " " not in part:
            yield letters.of(part.encode("punycode").decode())
            yield letters.of(part.encode().decode("cp1252", "ignore"))  # read in the wrong encoding: `GrÃ¼n`
    for form in (letters.of(part[::-1]), letters.of(part.translate(_ROT13))):
        if form != bare:
            yield form


_LONGEST_SPELLED = 64  # characters: a longer word has no other spelling
_LONGEST_TWIN = 8
"""An everyday word of at most this many letters has no other spellings: backwards, it may be another word."""
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "ø": "oe", "æ": "ae"})
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")


def _of_span(span: str) -> Iterator[tuple[str, int]]:
    words = span.split()
    whole = " ".join(words).strip(_EDGES + " ")
    if len(words) < 2 and (part := _alone(whole)):
        yield part
    yield from _phrases(span, words)
    yield from _numbers(words)
    yield from _amounts(words)
    few = len(words) <= _FEW_WORDS
    seen: set[str] = set()
    for level in _levels(span):
        for word in level.split():
            for token in {word.strip(_EDGES), word.partition("=")[2].strip(_EDGES)}:
                if token not in seen and len(token) <= LONGEST:
                    seen.add(token)
                    yield from _of_token(token, few)


def _alone(text: str) -> tuple[str, int] | None:
    """Return the only word of a section, and where it counts. The user chose exactly this word; None if too short."""
    if len(text) > LONGEST or len(text) < (2 if is_cjk(text[:1]) or is_hangul(text[:1]) else 4):
        return None
    glued = is_cjk(text[:1]) or is_hangul(text[:1]) or (len(text) >= _SHORTEST_GLUED and not is_common(text))
    if text.isdecimal():
        return text, NUMBER if len(text) >= _LONG_NUMBER else WORD
    return text, ANYWHERE if glued else WORD


def _phrases(span: str, words: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the whole text, its lines, its sentences and groups of four words, without common phrases."""
    lines = span
    for sign in _SENTENCE_ENDS:
        lines = lines.replace(sign, sign + "\n")
    for line in {span, *span.split("\n"), *lines.split("\n")}:
        of_line = line.split()
        text = " ".join(of_line).strip(_EDGES + " ")
        is_said = len(text) >= _SHORTEST_SAID and 2 < len(of_line) == len(words) <= _FEW_WORDS
        if len(of_line) > 1 and 10 <= len(text) <= LONGEST and (is_said or _tells(of_line, text)):
            yield text, ANYWHERE if len(text) >= _LONG_PHRASE else WORD
    for number in range(len(words) - 3 if len(words) <= _MOST_WORDS else 0):
        four = words[number : number + 4]
        if sum(len(word) > 4 for word in four) > 2:
            yield " ".join(four).strip(_EDGES), WORD


def _numbers(words: list[str]) -> Iterator[tuple[str, int]]:
    """Yield numbers that are written in groups, such as phone and card numbers."""
    group: list[str] = []
    for word in [*words, ""]:
        bare = word.strip(".,;:")
        if bare and bare.strip("+-/()").isdecimal():
            group.append(bare)
            continue
        digits = "".join(char for word in group for char in word if char.isdecimal())
        if len(group) > 1 and len(digits) >= _LONG_NUMBER:
            yield " ".join(group), NUMBER
            yield digits, NUMBER
        if len(digits) > letters.LOCAL_NUMBER and (group[0][0] in "+(" or digits[0] == "0"):
            yield digits[-letters.LOCAL_NUMBER :], ANYWHERE  # a phone number, with or without the code of its country
        group = []


def _amounts(words: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the digits of amounts such as `96.401` or `187,500`, which others write with another separator."""
    few = len(words) <= _FEW_WORDS
    for word in words:
        bare = word.strip(_EDGES + "$€£¥")
        groups = bare.replace(",", ".").replace("'", ".").replace("’", ".").split(".")
        digits = "".join(groups)
        if len(groups) > 1 and letters.is_amount(groups) and everyday.may_be_private_number(digits, few):
            yield digits, NUMBER


def _tells(words: list[str], text: str) -> bool:
    """Whether a phrase is worth hiding as a whole: it has four words, or one that is not an everyday word."""
    return (len(words) > 3 and len(text) >= 16) or not all(is_common(word.strip(_EDGES)) for word in words)


def _levels(text: str) -> Iterator[str]:
    """Yield a text with more and more kinds of signs turned into blanks."""
    yield text
    yield text.translate(_QUOTES)
    yield text.translate(_SIGNS)
    if "@" in text:
        yield text.translate(_USER_AT)
    yield "".join([char if char.isalnum() or char in "-_" else " " for char in text])
    yield "".join([char if char.isalnum() else " " for char in text])


def _of_token(token: str, few: bool) -> Iterator[tuple[str, int]]:
    """Yield the parts of one word among several. few: among few words, even a short number or code counts."""
    if not token.isascii() and any(map(is_cjk, token)):
        yield from _of_runs(token)
    elif token.isdecimal():
        if everyday.may_be_private_number(token, few):
            yield token, WORD if len(token) < _LONG_NUMBER else NUMBER
    elif not token.isascii() and any(map(is_hangul, token)):
        yield from _of_korean(token)
    elif token.isalpha():
        is_name = token[:1].isupper()
        if len(token) >= (5 if is_name else 6) and not everyday.is_plain(token):
            yield token, ANYWHERE if len(token) >= _SHORTEST_GLUED else WORD
    elif len(token) >= 6 and not everyday.is_plain(token) and not everyday.is_everyday(token):
        yield token, ANYWHERE if len(token) >= _SHORTEST_GLUED else WORD
    elif few and 4 <= len(token) < _SHORTEST_GLUED and everyday.may_be_private_code(token):
        yield token, WORD


# -- scripts without blanks between words


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or char == "々"


def _of_runs(token: str) -> Iterator[tuple[str, int]]:
    """Yield runs of four or more Chinese or Japanese characters, and each telling group of four in them."""
    with_cjk = "".join([char if is_cjk(char) else " " for char in token])
    for run in with_cjk.split():
        if len(run) < 4:
            continue
        if not _is_filler(run):
            yield run[:LONGEST], ANYWHERE
        for at in range(len(run) - 3):
            window = run[at : at + 4]
            if sum(map(_is_han, window)) >= 3 and not _is_filler(window):
                yield window, ANYWHERE
    without_cjk = "".join([" " if is_cjk(char) else char for char in token])
    for word in without_cjk.split():
        yield from _of_token(word.strip(_EDGES), few=True)


def _is_filler(text: str) -> bool:
    """Whether little remains of a text without everyday Chinese and Japanese words."""
    for word in everyday.CJK:
        text = text.replace(word, "")
    return sum(map(is_cjk, text)) < 2


def _of_korean(token: str) -> Iterator[tuple[str, int]]:
    """Yield a Korean word without its final particle, if it is telling."""
    word = next(
        (token[: -len(end)] for end in everyday.PARTICLES if token.endswith(end) and len(token) > len(end) + 2), token
    )
    if len(word) >= 4 and word not in everyday.KOREAN:
        yield word, ANYWHERE
