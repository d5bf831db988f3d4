"""Tokens: secrets with a known format, and strings too random to be words.

A single translation at C speed turns each word into a run of one letter, so that only runs of `SHORTEST_TOKEN` or more
characters are examined.
"""

from __future__ import annotations

from mdmem.privacy import limits, secrets
from mdmem.privacy.secrets import SHORTEST_TOKEN, table
from mdmem.privacy.secrets.tokens.formats import (
    ALNUM,
    AROUND,
    BASE64,
    BEFORE_DATA,
    BEFORE_HASH,
    DIGITS,
    DOTS,
    DOTTED,
    HEX,
    LONGEST,
    MIXED,
    ODD,
    WORD,
    is_hash,
    rows,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.tokens.formats import FormatRow

_CLASSES = "A" * 26 + "0" * 10 + "a" * 26  # sign by sign of `ALNUM`
_SHAPES = str.maketrans(ALNUM, _CLASSES)
_SHAPE_BYTES = table(ALNUM, _CLASSES)
_SAMPLE = 512  # characters of a word from which it is judged
_LONGEST_HEAD = 96  # characters before the mark of a format in `AROUND`
_SHORTEST_SPREAD = 24  # characters without signs: less, split by signs, is too little to judge
_PRODUCT_KEY = 29
"""Length of a product key: five groups of five capitals and digits."""
_CODICE_FISCALE = "AAAAAA00A00A000A"
_LETTERS = table(DOTTED, "a" * len(DOTTED))
_LONG_RUN = b"a" * SHORTEST_TOKEN
_LETTERS_64 = table(ALNUM + "+/", "a" * 64)
_LONG_64 = b"a" * 36  # a run of at least this many characters may be base64 with `/` and `+`
_BEFORE_RUN = BASE64.replace("=", "")
_JOINED, _MOST_EQUALS = WORD + "=", 4  # in one token: more are a query or a list of `name=value`
_LEAST_HUMPS = 5  # capitals after small letters: with fewer, and no digit, it is a name
_ALTERNATING = 0.8
"""Above this rate of changes, letters alternate regularly, as in `AaBbCcDd`, and are not random."""
_LETTER_PAIRS = ("aa", "Aa", "AA")  # shapes of two letters of one word
_LEAST_TURNS = 4
_LEAST_PAIRS = 3  # of letters
_MOST_COMMON = 0.5  # share of the pairs that are in `_PAIRS`
_LONGEST_SHORT = 40  # characters in which rare pairs tell a token from joined words
_SHORTEST_OPAQUE = 14
_SHORTEST_HEX = 20
_LEAST_DIGITS = 3  # an id of a user or a service has fewer
_FEW_CHANGES, _MANY_CHANGES, _ALL_LETTERS = 0.25, 0.33, 0.4
"""Rates of changes between letters and digits: the minimum in random text, a rate that no word has, and the minimum in
random text without digits."""
_PAIRS = frozenset(
    """
    th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa si ar ve ra ld ur
    ro ic ne me li ri io co ma ta ce no el la us ch ec om ll ca di na pe ho ge wa so we be ul ac ct tr ss ns wi no un ut
    sh pr lo id ol mo po ir tu ap ad em ow op pa ie ee ai su up im ag ab ex am ef if ev pl ig mp bl ke uc fi ty ry ly my
    ay ey ov gr cl fo fr oo ot os do da mi bo ba bu fu cu ru rt rd rn rm rs nc ts ls ds ms ps ks ws gh wh ph ck sk sp sc
    sm sn sw sl ub ud ug um uf uk ob og od ok xt ft pt lt ry cr br dr fl gl go ga gi ja je jo ju ki ka ko lu nu nk nf nu
    bi by ny pu rr fe gu va vi vo ci qu ht tp
    """.split()
)
"""Pairs of letters that are common in words of many languages, and in abbreviations in code."""
_SEPARATORS = dict.fromkeys(map(ord, "_-.+/=:%~"), " ")


def shape(value: str) -> str:
    """Return a value, or its start if it is long, with letters and digits reduced to "a", "A" and "0"."""
    return value[:_SAMPLE].translate(_SHAPES)


def turns(shape: str) -> int:
    """Count the changes between lower case, upper case and digits: many in random text, few in names."""
    count = shape.count
    return count("aA") + count("Aa") + count("a0") + count("0a") + count("A0") + count("0A")


def find(text: str) -> Iterator[tuple[int, int, str]]:
    """Find tokens: start, end, kind, in ascending order for each search.

    Raises:
        FloodError: there are more than `limits.MOST_RANDOM` words that look random.
    """
    if "\\" in text:  # "\nghp_…" in a string literal: the escape is not part of the word
        text = text.replace("\\n", "  ").replace("\\t", "  ").replace("\\r", "  ")
    signs = text.encode("ascii", "replace")  # one byte for each character, so that offsets stay valid
    text = signs.decode("ascii")  # in Korean or Chinese, a token touches other letters
    letters = signs.translate(_LETTERS)
    if letters.find(_LONG_RUN) >= 0:  # faster than `in`
        yield from _among(text, letters, signs.translate(_SHAPE_BYTES).decode("ascii"))
    spaced = secrets.spaced(text)
    words = spaced.split()
    if secrets.is_spelled(words):
        from mdmem.privacy.secrets.tokens import spelled

        yield from spelled.find(text, spaced, find)
    if secrets.may_hold_seed(words):
        from mdmem.privacy.checked import seeds

        yield from seeds.find(text)
    if "/" in text or "+" in text:
        yield from _in_base64(text, signs.translate(_LETTERS_64))
    for row in ODD:
        if row[1] in text:
            yield from _with_odd_prefix(text, row)
    for around in AROUND:
        if around[1] in text:
            yield from _around(text, *around)


def _among(text: str, letters: bytes, shapes: str) -> Iterator[tuple[int, int, str]]:
    """Find the tokens among long words. Shorter words are skipped without being split off."""
    judged = 0
    at = letters.find(_LONG_RUN)
    while at >= 0:
        end = letters.find(b" ", at + SHORTEST_TOKEN)
        end = end if end >= 0 else len(letters)
        formats = rows(text[at : at + 2])
        token = _known_token(text, at, text[at:end], formats) if formats else None
        if token or shapes.find("0", at, end) >= 0 or shapes.count("aA", at, end) >= _LEAST_HUMPS:
            if not token and _looks_random(shapes[at:end], text[at:end]):
                judged += 1
                if judged > limits.MOST_RANDOM:
                    raise limits.FloodError
                token = _random(text, at, end)
            start, after, kind = token or _joined_by_equals(text, at, end)
            if not kind and text[at - 1 : at] == ":":
                start = _pair_start(text, at, end)
                kind = "key" if start < at else ""
            if not kind and _is_of_service(text, shapes, at, end):
                kind = "key"
            if not kind and shapes.startswith(_CODICE_FISCALE, at) and end - at == len(_CODICE_FISCALE):
                kind = "identity"
            if kind:
                yield start, after, kind
            end = max(end, after)
        at = letters.find(_LONG_RUN, end)


def _pair_start(text: str, at: int, end: int) -> int:
    """Return the start of a hexadecimal `ID:SECRET` whose second half is at `at`, else `at`. The id may be a UUID."""
    if end - at not in _SECRET_HALVES or text[at:end].strip(HEX):
        return at
    before = text[max(0, at - 38) : at - 1]
    size = len(before) - len(before.rstrip(HEX + "-"))
    return at - 1 - size if size in _ID_HALVES else at


def is_opaque(word: str) -> bool:
    """Whether a word is a hexadecimal number, a UUID, or mixes letters and digits as no word does."""
    if not _SHORTEST_OPAQUE <= len(word) <= LONGEST or not word.isascii():
        return False
    flat = word.replace("-", "").replace("_", "")
    if not flat.isalnum() or flat.isdecimal():
        return False
    form = shape(flat)
    digits, rate = form.count("0"), turns(form) / len(form)
    if digits >= _LEAST_DIGITS and not flat.strip(HEX):
        return len(flat) >= _SHORTEST_HEX
    if digits > _LEAST_DIGITS and rate >= _MANY_CHANGES and flat in (flat.lower(), flat.upper()):
        return True
    is_mixed = digits >= _LEAST_DIGITS or rate >= _ALL_LETTERS
    return is_mixed and rate >= _FEW_CHANGES and not is_camel_case(form, flat) and not reads_like_words(form, flat)


def _is_of_service(text: str, shapes: str, at: int, end: int) -> bool:
    """Whether a hexadecimal number, a UUID or the like is assigned to the name of a service."""
    if text[at - 1 : at] not in _BEFORE_VALUE or at < _SHORTEST_NAME or text.endswith(BEFORE_HASH, 0, at):
        return False
    if shapes.count("0", at, end) + shapes.count("aA", at, end) < _LEAST_CHANGES:
        return False
    from mdmem.privacy.secrets.tokens import services  # rarely needed: few texts have such a word there

    return is_opaque(text[at:end]) and services.is_named_before(text, at)


_SECRET_HALVES = (32, 64)  # hexadecimal digits of SECRET and ID
_ID_HALVES = (24, 32, 36)  # 36 with dashes: a UUID
_BEFORE_VALUE = frozenset("='\"` \t")  # before what is assigned to the name of a service
_SHORTEST_NAME, _LEAST_CHANGES = 4, 4  # characters before the value; digits and humps in it


def _in_base64(text: str, letters: bytes) -> Iterator[tuple[int, int, str]]:
    """Find random base64 that `/` and `+` split into short words."""
    at = letters.find(_LONG_64)
    while at >= 0:
        end = letters.find(b" ", at + len(_LONG_64))
        end = end if end >= 0 else len(letters)
        run = text[at:end]
        if end - at <= LONGEST and run[0] != "/" and not run.isalnum() and _is_jumbled_base64(run):
            from mdmem.privacy.secrets.tokens import public

            end += len(text[end : end + 2]) - len(text[end : end + 2].lstrip("="))
            if not (public.is_path(run) or public.is_public(text, at, end, run) or _says_words(run)):
                yield at, end, "random-token"
        at = letters.find(_LONG_64, end)


def _is_jumbled_base64(run: str) -> bool:
    form = shape(run).translate(_SEPARATORS).replace(" ", "")
    if "0" not in form or "a" not in form or turns(form) < 0.38 * len(form):
        return False
    return form.count("A") >= 4 and not reads_like_words(shape(run), run)


def _known_token(text: str, at: int, word: str, formats: list[FormatRow]) -> tuple[int, int, str] | None:
    for row in formats:
        if word.startswith(row[1]):
            if text.endswith(BEFORE_DATA, 0, at) or text.endswith(BEFORE_HASH, 0, at):
                return None
            end = _match(text, at + len(row[1]), row)
            is_object = row[1] == "eyJ" and end - at < LONGEST and "." not in text[at:end]
            is_object = is_object and not (text[max(0, at - LONGEST) : at].split() or [""])[-1].startswith("eyJ")
            if end and not is_object:  # a JSON object in base64 is judged by its contents
                return at, end, row[0]
    return None


def _with_odd_prefix(text: str, row: FormatRow) -> Iterator[tuple[int, int, str]]:
    prefix = row[1]
    at = text.find(prefix)
    while at >= 0:
        body = at + len(prefix)
        end = 0 if text[at - 1 : at].isalnum() else _match(text, body, row)
        if end:
            yield at, end, row[0]
        at = text.find(prefix, end or body)


def _around(
    text: str, kind: str, mark: str, head: str, shortest: int, tail: str, shortest_tail: int
) -> Iterator[tuple[int, int, str]]:
    """Find `mark` with enough characters of `head` before it and of `tail` after it."""
    at = text.find(mark)
    while at >= 0:
        end = body = at + len(mark)
        if at >= shortest and text[at - 1] in head and not text[at - shortest : at].strip(head):
            end = end_of_run(text, body, tail) if tail else body
            if end - body >= shortest_tail and not text[end : end + 1].isalnum():
                before = text[max(0, at - _LONGEST_HEAD) : at]
                yield at - len(before) + len(before.rstrip(head)), end, kind
        at = text.find(mark, end)


def _match(text: str, body: int, row: FormatRow) -> int:
    """Return the end of a token whose prefix ends at `body`; 0 if it does not match the row."""
    _, _, alphabet, shortest, nature = row
    sample = text[body : body + max(64, 2 * shortest)]
    size = len(sample) - len(sample.lstrip(alphabet))
    if size < shortest or (nature == MIXED and not _is_mixed(sample[:size])):
        return 0
    if nature == DOTS and sample.count(".", 0, size) != 2:
        return 0
    end = end_of_run(text, body, alphabet)
    if text[end : end + 1] in ("_", "-"):
        end = end_of_run(text, end, WORD)  # a newer variant of the format: mask it whole
    if text[end : end + 1].isalnum():
        return 0  # it continues with characters that are not in this format
    while end - body >= shortest and text[end - 1] in ".,":
        end -= 1
    return end if end - body >= shortest else 0


def end_of_run(text: str, at: int, alphabet: str) -> int:
    """Return the end of the run of `alphabet` characters at `at`, in time linear in its length."""
    size = 256
    while True:
        chunk = text[at : at + size]
        following = chunk.lstrip(alphabet)
        if following or len(chunk) < size:
            return at + len(chunk) - len(following)
        at += size
        size *= 2


def _is_mixed(body: str) -> bool:
    """Whether letters and digits are mixed as in no name made of words."""
    parts = body.translate(_SEPARATORS).split()
    part = max(parts, key=len, default="")
    word = part.rstrip(DIGITS)
    if len(part) >= 12 and not part.isdigit() and not (word.isalpha() and (word == part or word.islower())):
        return True
    form = shape("".join(parts))
    return "0" in form and turns(form) >= 0.35 * len(form)


def _random(text: str, at: int, end: int) -> tuple[int, int, str]:
    """Judge a random-looking word without a known format: return a span to mask, or one to skip (kind "")."""
    before, after = text[max(0, at - LONGEST) : at], text[end : end + LONGEST]
    start = at - len(before) + len(before.rstrip(_BEFORE_RUN))
    last = end + len(after) - len(after.lstrip(BASE64))
    run = text[start:last]
    token = _known_token(text, start, run, rows(run[:2])) if start < at else None
    if token:
        return token
    from mdmem.privacy.secrets.tokens import public  # rarely needed: few texts have a random-looking word

    is_harmless = public.is_public(text, start, last, run) or _is_of_terms(run, public.without_terms(run))
    if is_harmless or _says_words(run) or _says_words(public.literal_before(text, start), run):
        return at, end_of_run(text, last, BASE64), ""
    if public.is_path(run):
        return at, end, "random-token"
    if len(run) > LONGEST or after[:1] == "@":
        return at, end_of_run(text, last, BASE64), ""
    return start, last, "random-token"


def _is_of_terms(run: str, remaining: str) -> bool:
    """Whether a run looks random only because of technical terms. remaining: the run without them."""
    return remaining != run and not _looks_random(shape(remaining).translate(_SEPARATORS), remaining)


def _joined_by_equals(text: str, at: int, end: int) -> tuple[int, int, str]:
    """Judge a word as part of a token with equals signs: `fhoelo15xdjb8yhgd=dizxf58o=6359h`, but not `name=value`."""
    if text[end : end + 1] != "=" and text[at - 1 : at] != "=":
        return at, end, ""
    before, after = text[max(0, at - LONGEST) : at], text[end : end + LONGEST]
    start = at - len(before) + len(before.rstrip(_JOINED))
    last = end + len(after) - len(after.lstrip(_JOINED))
    run = text[start:last].strip("=")
    start = text.index(run, start)
    if last - start > LONGEST or run.count("=") > _MOST_EQUALS or any(sign in run for sign in BEFORE_HASH):
        return at, end, ""
    if not _is_spread(shape(run).translate(_SEPARATORS), run):
        return at, end, ""
    return start, start + len(run), "random-token"


def _looks_random(shape: str, word: str) -> bool:
    """Whether a word, or a part of it, changes between lower case, upper case and digits more than names do."""
    at = 0
    parts = shape.split(" ")
    for part in parts if max(map(len, parts)) >= SHORTEST_TOKEN else ():
        text = word[at : at + len(part)]
        if len(part) >= SHORTEST_TOKEN and (_is_jumble(part, text) or _is_unpronounceable(part, text)):
            return True
        at += len(part) + 1
    if "0" not in shape:
        return False
    whole = shape.replace(" ", "")
    if len(shape) == _PRODUCT_KEY and shape[5::6] == "    " and word.isupper() and whole.count("0") > 1:
        return True
    if len(whole) >= 20 and "a" in whole and "A" in whole and turns(whole) >= 0.5 * len(whole):
        return not is_camel_case(shape, word)
    return len(whole) >= _SHORTEST_SPREAD and _is_spread(shape, word)


def _is_spread(shape: str, word: str) -> bool:
    """Whether a word is random characters split by signs, with few words in it: `kfk7q-7z-ztlzse7vnvt6_ihep0`."""
    if word.islower() and word.count("_") > 2 and word.replace("=", "_").isidentifier():
        return False  # _mm256_gf2p8affine_epi64_epi8
    parts = shape.split(" ")
    letters = sum([len(part) for part in parts if len(part) > 3 and "0" not in part])
    if letters > 0.2 * (len(shape) - letters):
        return False  # as most words are, such as file names
    mixed = changes = digits = at = 0
    for part in parts:
        if ("0" in part or len(part) <= 3) and not _is_hash(word[at : at + len(part)]):
            mixed += len(part)
            changes += turns(part)
            digits += part.count("0")
        at += len(part) + 1
    is_random = mixed >= _SHORTEST_SPREAD and digits >= 5 and changes >= 0.26 * mixed and letters <= 0.2 * mixed
    return is_random and not is_camel_case(shape, word)


def _is_jumble(shape: str, part: str) -> bool:
    size, digits, rate = len(shape), shape.count("0"), turns(shape) / len(shape)
    if "a" in shape and "A" in shape:
        if "aaaaa" in shape and shape.count("a") >= 0.6 * size:
            return False  # joined words: Win32MimeTypesTestCase
        if digits > 1:
            if rate >= (0.5 if size < 20 else 0.42):
                return not is_camel_case(shape, part)
            return rate >= (0.37 if size < 20 else 0.3) and not reads_like_words(shape, part)
        if digits and rate >= 0.5:
            return not is_camel_case(shape, part)
        return size >= 20 and 0.42 <= rate < _ALTERNATING and not reads_like_words(shape, part)
    if size < 20 or digits < 3 or rate < 0.22 or (size < 24 and (digits < 4 or rate < 0.3)):
        return False
    return not _is_hash(part)


def _is_unpronounceable(shape: str, part: str) -> bool:
    """Whether digits are among letters whose pairs are rare in words: `csikht36hgjcs42n`."""
    digits, size = shape.count("0"), len(shape)
    if part[:2] == "0x" or size > _LONGEST_SHORT or not 1 <= digits <= 0.6 * size:
        return False
    if digits < 3 and size < _SHORTEST_SPREAD - 4:
        return False
    if "A" in shape and "a" in shape:
        return False
    if (digits >= 3 and turns(shape) < _LEAST_TURNS) or _is_hash(part):
        return False
    return not reads_like_words(shape, part)


def reads_like_words(shape: str, word: str) -> bool:
    """Whether most pairs of letters are common in words, or there are too few pairs to tell."""
    low = word.lower()
    pairs = [low[at : at + 2] for at in range(len(low) - 1) if shape[at : at + 2] in _LETTER_PAIRS]
    return len(pairs) < _LEAST_PAIRS or sum(pair in _PAIRS for pair in pairs) > _MOST_COMMON * len(pairs)


def _is_hash(part: str) -> bool:
    """Whether a part is a hash, perhaps after one or two letters, as in the output of `git describe` and in anchors."""
    if not part.strip(HEX):
        return is_hash(part)
    return not part.removeprefix("0x").strip(HEX) or (len(part) > 8 and not part[2:].strip(HEX) and part[:2].isalnum())


def is_camel_case(shape: str, word: str) -> bool:
    """Whether a word is mostly capitalized words: `dnsAlpnH3JobWonRace`, but not `kxQwbtZrvGh3JqbWzn`."""
    runs = shape.replace("A", " A").replace("0", " ").split()
    words = sum(len(run) - (run[0] == "A" and len(run) < 4) for run in runs if len(run.strip("A")) > 1)
    size = len(shape) - 4 * (shape.count("0") == 4 and "0000" in shape)  # a year: `OwaspTopTen2017GitHubUrl`
    return "A" in shape and words > 0.5 * size and reads_like_words(shape, word)


def _says_words(*runs: str) -> bool:
    """Whether runs are base64 of a text that has no secret itself."""
    from binascii import Error, a2b_base64

    if "" in runs:
        return False
    bare = "".join(runs).rstrip("=")
    try:
        decoded = a2b_base64(bare[: len(bare) // 4 * 4]).decode()
    except (Error, ValueError):
        return False
    if not decoded.replace("\n", " ").replace("\r", " ").isprintable() or _names_user(decoded):
        return False
    return all(not word.strip(HEX) or not _looks_random(shape(word), word) for word in decoded.split())


def _names_user(decoded: str) -> bool:
    """Whether a text may be `user:password`."""
    user, colon, password = decoded.partition(":")
    return bool(colon) and user[-1:].isalnum() and not password[:1].isspace()
