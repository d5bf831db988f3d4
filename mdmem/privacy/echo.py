"""The echo: finds private text that an agent repeats without the tags, often in another form.

Private text is known by keyed digests of its telling parts (`private_words`). Within one payload, the digests are of
texts that stay in memory. `Echo.find` compares only letters and digits (`letters`), so it finds a part in any letter
case, glued to other characters, wrapped, or split by signs. It also searches what escapes, base64 and hexadecimal
decode to. Parts with few letters are found only as they were written, and so are secrets, which are case-sensitive.

A digest can confirm a match but not locate one. Therefore each part has an anchor: four of its characters, as a short
keyed hash. `find` hashes the text's groups of four characters, and computes a digest only where a group matches an
anchor. This takes linear time, whatever the number of parts.
"""

from __future__ import annotations

import sys

from mdmem.privacy import encoded, letters, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from mdmem.privacy.views import TextView

KEY_BYTES = 32
DIGEST_BYTES = 8

EchoRecord = tuple[int, int, int, int, bytes]
"""One part: hash of its anchor, offset of the anchor in it, its length, where it counts (its boundary), its digest."""

_GROUP = 4  # characters by which parts are looked up
_PAIR = 2  # the same for parts shorter than a group
_ANCHOR_BITS = 24  # of the hash of a group; a record is checked by its digest
_MOST_AT_ANCHOR = 16
"""Maximum number of parts with the same anchor. It bounds the comparisons for a text that repeats the anchor."""

_ANCHORED = 64
"""The anchor is chosen from this many characters at the start of a part."""

_MOST_SPELLED = 60
"""With more parts than this, other spellings are not computed: the section is prose, not a value or two."""

_FEW_GROUPS = 16  # anchors: with more, one pass over all groups is faster than a search for each
_SHORTEST = 4
"""The shortest text that is not ASCII and may have a part: one character may be two letters, such as a ligature."""

_DEPTH = 2  # how often what is decoded is decoded again

BY_LETTERS = 4
"""Flag added to where a part counts: the record has only the part's letters and digits."""

SECRET = 3
"""Where a part counts if it is a secret: exactly as it was written, and not inside a longer word."""

CUT_HEAD, CUT_TAIL = 7, 11
"""Where the first or the last half of a part counts: if the rest of the part is cut off, as by `head -c` or "…"."""

SECRET_HEAD, SECRET_TAIL = 9, 10
"""The same for a secret, exactly as it was written."""

HAS_EDGES = 8
"""Flag for such a part that begins or ends with a sign, which is masked with it."""

_EDGES = "+$%^~#&*@!?＋＄％＃＆＊＠！？"
_MOST_EDGES = 3  # signs on each side

_FEWEST_LETTERS = 4
_FEW_LETTERS = 5
_MANY_LETTERS = 8
_MOST_BETWEEN = 40
_UNMISTAKABLE = 12


class Echo:
    """Finds the contents of private sections in other texts. Built by `of` from texts, or from a memory's records."""

    __slots__ = ("_digest", "_factor", "_letters", "_pairs", "_secrets", "_shortest", "_written")

    def __init__(self, key: bytes, records: list[EchoRecord]) -> None:
        self._digest = _digester(key)
        self._factor = _factor(key)
        self._letters: dict[int, list[EchoRecord]] = {}
        self._written: dict[int, list[EchoRecord]] = {}
        self._pairs: dict[int, list[EchoRecord]] = {}
        self._secrets: dict[int, list[EchoRecord]] = {}
        self._shortest = min((record[2] for record in records), default=0)
        for record in records:
            self._table(record).setdefault(record[0], []).append(record)

    def _table(self, record: EchoRecord) -> dict[int, list[EchoRecord]]:
        if record[3] in _OF_SECRETS:
            return self._secrets
        if record[2] < _GROUP:
            return self._pairs
        return self._written if record[3] < BY_LETTERS else self._letters

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of private text: start and end, in order, without overlaps."""
        if not (self._letters or self._written or self._pairs):
            return []
        shortest = self._shortest if text.isascii() else min(self._shortest, _SHORTEST)
        return _merged(self._find(text, _DEPTH)) if len(text) >= shortest else []

    def find_secrets(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of secrets, also of those with escapes, broken over lines or in base64: start and end."""
        if not self._secrets or len(text) < self._shortest:
            return []
        spans = self._secrets_in(text)
        for view in (views.unescaped(text), views.unwrapped(text), encoded.decoded(text)):
            if view:
                spans += [view.origin(*span) for span in self._secrets_in(view.text, is_view=True)]
        return spans

    def _secrets_in(self, text: str, *, is_view: bool = False) -> list[tuple[int, int]]:
        """Return the spans of secrets in a text. A view has other ends of lines, so nothing is cut off at them."""
        spans = []
        for start, end, boundary in self._hits(text, _GROUP, self._secrets):
            if boundary != SECRET and not is_view:
                spans += _cut_at(text, start, end, is_head=boundary == SECRET_HEAD)
            elif boundary == SECRET and _stands_apart(text, start, end, SECRET):
                spans.append((start, end))
        return spans

    def _find(self, text: str, depth: int, *, is_decoded: bool = False) -> list[tuple[int, int]]:
        spans = list(self._by_letters(text))
        if self._written or self._pairs:
            spans += self._as_written(text)
        for view, from_code in _readings(text, depth, is_decoded):
            if view:
                spans += [view.origin(*span) for span in self._find(view.text, depth - 1, is_decoded=from_code)]
        return spans

    def _by_letters(self, text: str) -> Iterator[tuple[int, int]]:
        """Find the parts that are known by their letters, whatever is between the letters."""
        letters_of_text = letters.Letters(text)
        for start, end, boundary in self._hits(letters_of_text.text, _GROUP, self._letters):
            span = letters_of_text.origin(start, end)
            if boundary in (CUT_HEAD, CUT_TAIL):
                yield from _cut_at(text, *span, is_head=boundary == CUT_HEAD)
            elif _is_together(text, *span, boundary % BY_LETTERS):
                yield _with_edges(text, *span) if boundary >= HAS_EDGES else span

    def _as_written(self, text: str) -> list[tuple[int, int]]:
        """Find the parts that are known as written, ignoring letter case and the kind of white space."""
        low = letters.fold(views.spaced(text))
        hits = [*self._hits(low, _GROUP, self._written), *self._hits(low, _PAIR, self._pairs)]
        spans = [(start, end) for start, end, boundary in hits if _stands_apart(low, start, end, boundary)]
        if not spans:
            return []
        even = views.spaced_view(text)
        return [even.origin(*span) for span in spans]

    def _hits(self, low: str, size: int, table: dict[int, list[EchoRecord]]) -> Iterator[tuple[int, int, int]]:
        """Find the parts of a table in a lower-case text: start, end, and where the part counts."""
        if not table or len(low) < size:
            return
        digest_of: dict[str, bytes] = {}
        for at, anchor in _anchored(_units(low), size, self._factor, table):
            for _, before, length, boundary, digest in table[anchor]:
                start = at - before
                end = start + length
                if start >= 0 and end <= len(low):
                    piece = low[start:end]
                    if piece not in digest_of:
                        digest_of[piece] = self._digest(piece)
                    if digest_of[piece] == digest:
                        yield start, end, boundary


def _readings(text: str, depth: int, is_decoded: bool) -> Iterator[tuple[TextView | None, bool]]:
    """List the decoded readings of a text, and whether each is from base64 or the like, which may be nested."""
    if depth:
        yield views.unescaped(text), is_decoded
    if depth == _DEPTH or (depth and (is_decoded or views.may_encode(text))):
        yield encoded.decoded(text), True


def of(spans: Iterable[str]) -> Echo:
    """Return an echo of these private texts, for use in this process only."""
    key = bytes(KEY_BYTES)
    return Echo(key, records(key, spans))


def records(
    key: bytes, spans: Iterable[str], present: Iterable[EchoRecord] = (), secrets: Iterable[str] = ()
) -> list[EchoRecord]:
    """Return the records to store for private texts and for secrets, without those that are present."""
    digest, factor = _digester(key), _factor(key)
    uses: dict[int, int] = {}
    digests: set[bytes] = set()
    for record in present:
        digests.add(record[4] + bytes([record[3]]))
        uses[record[0]] = uses.get(record[0], 0) + 1
    new = []
    of_secrets = [form for secret in secrets for form in ((secret, SECRET), *_halves(secret, SECRET_HEAD, SECRET_TAIL))]
    for form, boundary in [*_forms(tuple(spans)), *of_secrets]:
        form_digest = digest(form)
        if form_digest + bytes([boundary]) in digests:
            continue
        anchor = _best_anchor(form, factor, uses)
        if anchor:
            uses[anchor[0]] = uses.get(anchor[0], 0) + 1
            digests.add(form_digest + bytes([boundary]))
            new.append((*anchor, len(form), boundary, form_digest))
    return new


def _forms(spans: tuple[str, ...]) -> list[tuple[str, int]]:
    """List the forms that identify the parts of texts, and where each counts. A few parts get other spellings too."""
    if not spans:
        return []
    if spans in _last:
        return _last[spans]
    from mdmem.privacy import private_words

    parts = private_words.parts(spans)
    forms = []
    for part, boundary in parts.items():
        form, how = _known_by(part)
        forms.append((form, boundary + how))
        if how and len(parts) <= _MOST_SPELLED:
            forms += [(spelling, boundary + BY_LETTERS) for spelling in private_words.spellings(part, form)]
            forms += _halves(form, CUT_HEAD, CUT_TAIL) if len(part.split()) == 1 else []
    _last.clear()
    _last[spans] = forms
    return forms


def are_cut(spans: tuple[str, ...]) -> bool:
    """Whether private texts have so many parts that some of them are not recognized (`private_words.MOST`)."""
    if not spans:
        return False
    from mdmem.privacy import private_words

    return len(_forms(spans)) >= private_words.MOST


_last: dict[tuple[str, ...], list[tuple[str, int]]] = {}
"""Cache of the last forms, which are needed twice: for the rest of the payload, and for the session's memory."""


def _known_by(part: str) -> tuple[str, int]:
    """Return the form that identifies a part, and its flags: its letters if there are enough, else all of it."""
    bare = letters.of(part)
    if len(bare) >= _GROUP and _letters_in(part) >= (_FEWEST_LETTERS if _is_whole(part) else _FEW_LETTERS):
        return bare, BY_LETTERS if part[0].isalnum() and part[-1].isalnum() else BY_LETTERS + HAS_EDGES
    return part, 0


def _halves(form: str, head: int, tail: int) -> list[tuple[str, int]]:
    """List the two halves of a part that give it away if the rest is cut off, and where each counts."""
    from mdmem.privacy import everyday

    size = max((len(form) + 1) // 2, _SHORTEST_HALF)
    if not _SHORTEST_CUT <= len(form) <= _ANCHORED or form.isdecimal() or everyday.is_plain(form):
        return []
    halves = ((form[:size], head), (form[-size:], tail))
    return [(half, where) for half, where in halves if not (everyday.is_plain(half) or half.isdecimal())]


_SHORTEST_CUT, _SHORTEST_HALF = 8, 5
_OF_SECRETS = (SECRET, SECRET_HEAD, SECRET_TAIL)


# -- anchors


def _best_anchor(part: str, factor: int, uses: dict[int, int]) -> tuple[int, int] | None:
    """Return the anchor of a part, as hash and offset: the least used one, preferably of digits and signs.

    None if many other parts use each of them: such parts repeat each other.
    """
    size = _GROUP if len(part) >= _GROUP else _PAIR
    data = _units(part[:_ANCHORED])
    plain = [char.isalpha() or char == " " for char in part[:_ANCHORED]]
    ranks = []
    for at in range(len(plain) - size + 1):
        anchor = _hash(int.from_bytes(data[2 * at : 2 * (at + size)], sys.byteorder), factor)
        ranks.append((uses.get(anchor, 0), sum(plain[at : at + size]), at, anchor))
    times_used, _, at, anchor = min(ranks)
    return (anchor, at) if times_used < _MOST_AT_ANCHOR else None


def _anchored(data: bytes, size: int, factor: int, table: dict[int, list[EchoRecord]]) -> Iterator[tuple[int, int]]:
    """Yield each group of characters that may be an anchor: its offset in characters, and its hash."""
    step = 2 * size
    shifted = [_numbers(memoryview(data)[2 * k : len(data) - (len(data) - 2 * k) % step], step) for k in range(size)]
    groups: set[int] = set().union(*shifted)
    bits = (1 << _ANCHOR_BITS) - 1
    anchors = {group: anchor for group in groups if (anchor := (group * factor >> 40) & bits) in table}
    if not anchors:
        return
    if len(anchors) > _FEW_GROUPS:
        for k, part in enumerate(shifted):
            for number, group in enumerate(part):
                if group in anchors:
                    yield size * number + k, anchors[group]
        return
    for group, anchor in anchors.items():
        bare = group.to_bytes(step, sys.byteorder)
        at = data.find(bare)
        while at >= 0:
            if at % 2 == 0:
                yield at // 2, anchor
            at = data.find(bare, at + 1)


def _units(text: str) -> bytes:
    """Return the UTF-16 units of a text in native byte order. This codec is always loaded."""
    return text.encode("utf-16", "replace")[2:]


def _numbers(data: memoryview, size: int) -> memoryview:
    return data.cast("Q") if size == 8 else data.cast("I")


def _hash(group: int, factor: int) -> int:
    return (group * factor >> 40) & ((1 << _ANCHOR_BITS) - 1)


def _factor(key: bytes) -> int:
    return int.from_bytes(key[:8], "little") | 0x9E3779B97F4A7C15


def _digester(key: bytes) -> Callable[[str], bytes]:
    """Return a function that computes the keyed digest of a part. `hashlib` is avoided because it loads OpenSSL."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

    def digest(part: str) -> bytes:
        value: bytes = blake2b(part.encode("utf-8", "replace"), key=key, digest_size=DIGEST_BYTES).digest()
        return value

    return digest


# -- places


def _is_together(text: str, start: int, end: int, boundary: int) -> bool:
    """Whether the letters between `start` and `end` are close enough to be one part, and separate from other words.

    The more letters match, the more gaps are allowed: a long match is hardly a coincidence.
    """
    if boundary != letters.ANYWHERE and not _stands_apart(text, start, end, boundary):
        return False
    piece = text[start:end]
    if _is_whole(piece):
        return True
    count, bare = _letters_in(piece), letters.of(piece)
    if len(piece) > _MOST_BETWEEN * count:
        return False
    if any(map(letters.is_boundless, piece)):
        return count >= _FEWEST_LETTERS
    is_number = bare.isdecimal()
    is_spread = len(piece.split()) > 1
    if is_number and boundary == letters.ANYWHERE and count >= letters.LOCAL_NUMBER:
        return True
    if is_number and letters.is_amount(piece.split()):
        is_spread = False
    if count >= (_UNMISTAKABLE if is_spread else _MANY_LETTERS) and not is_number:
        return True
    enough = _FEW_LETTERS if not is_spread else _MANY_LETTERS if is_number else _FEW_LETTERS + 1
    return count >= enough and _stands_apart(text, start, end, letters.NUMBER if is_number else letters.WORD)


def _cut_at(text: str, start: int, end: int, *, is_head: bool) -> list[tuple[int, int]]:
    """Return the span of a part of which one half is at `start`, if it is cut off in the other; else none.

    It is cut off by the end of the text, by dots, or by a line's end where the longest lines end. The other half is
    cut off likewise, but not by the start of a line.
    """
    if any(map(str.isspace, text[start:end])):
        return []
    reach = end - start + _MOST_EDGES
    before, ahead = text[start - 1 : start] if start else "", text[end : end + reach + _LONGEST_MARK]
    if not is_head:
        before, ahead = text[end : end + 1], text[max(0, start - reach - _LONGEST_MARK) : start][::-1]
    if before.isalnum():
        return []
    rest = ahead[:reach]
    run = next((size for size, char in enumerate(rest) if not (char.isalnum() or char in "-_")), len(rest))
    behind = ahead[run:].lstrip(" ")
    is_cut = run < reach and (not behind.strip() or behind.startswith(_CUTTERS))
    if not is_cut and is_head and behind[:1] in ("\n", "\r"):
        is_cut = end + run - text.rfind("\n", 0, start) - 1 == _width(text)
    if not is_cut or _letters_in(text[start:end] + rest[:run]) >= 2 * _letters_in(text[start:end]):
        return []  # as long as the whole part, or longer
    return [(start, end + run) if is_head else (start - run, end)]


def _width(text: str) -> int:
    """Return the length of a text's longest line, cached, because a text may have many halves."""
    if not _last_width or _last_width[0] is not text:
        _last_width[:] = [text, max(map(len, text.splitlines()))]
    width: int = _last_width[1]
    return width


_last_width: list[Any] = []
_CUTTERS = ("…", "...", "[trunc", "\n[trunc", "\n…", "\n...", "[...", "\n[...", "(trunc", "<trunc")
_LONGEST_MARK = 16


def _with_edges(text: str, start: int, end: int) -> tuple[int, int]:
    before, behind = text[max(start - _MOST_EDGES, 0) : start], text[end : end + _MOST_EDGES]
    return start - len(before) + len(before.rstrip(_EDGES)), end + len(behind) - len(behind.lstrip(_EDGES))


def _letters_in(piece: str) -> int:
    return sum(map(str.isalnum, piece))


def _is_whole(piece: str) -> bool:
    """Whether there is nothing visible between the letters of a piece."""
    return piece.isalnum() or (not piece.isascii() and all(char.isalnum() or letters.is_hardly(char) for char in piece))


def _stands_apart(low: str, start: int, end: int, boundary: int) -> bool:
    """Whether the span has the boundaries that are required. boundary: as in `letters`."""
    if boundary == letters.ANYWHERE:
        return True
    continues = str.isdecimal if boundary == letters.NUMBER else _continues
    before = start > 0 and continues(low[start - 1]) and continues(low[start])
    return not before and not (end < len(low) and continues(low[end]) and continues(low[end - 1]))


def _continues(char: str) -> bool:
    """Whether a character joins a neighbor of its kind into one word."""
    return char.isalnum() and not letters.is_boundless(char)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort spans and join those that overlap."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
