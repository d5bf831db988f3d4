"""The echo: an agent repeats what a private section told it, without the tags and often in another form.

What private sections held is known as keyed digests of its telling parts (`private_words`), or, within one payload,
of texts that stay in memory. `Echo.find` finds those parts in a text: in any letter case, glued to other
characters, wrapped at a line's end, escaped, or in base64 or hexadecimal.

A digest tells only whether a piece of text is the part, not where to look. Each part therefore has an anchor: four
characters of it, under a short keyed hash. A text's groups of four characters are hashed, a group that could be an
anchor is compared by digest, and everything else is passed over: linear time, whatever the number of parts.
"""

from __future__ import annotations

from mdmem.privacy import accents, private_words, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mdmem.privacy.views import TextView

KEY_BYTES = 32
DIGEST_BYTES = 8

Record = tuple[int, int, int, int, bytes]
"""One part: hash of its anchor, where the anchor stands in it, its length, where it counts, its digest."""

_GROUP = 4
_PAIR = 2
_ANCHOR_BITS = 24
_MOST_AT_ANCHOR = 16
"""No more parts than this share one anchor: a text that repeats an anchor is compared with no more."""

_FEW_GROUPS = 16
_DEPTH = 2


class Echo:
    """What private sections held: finds it in other texts.

    Make one with `of` from texts, or from the records of a memory.
    """

    __slots__ = ("_digest", "_factor", "_groups", "_pairs")

    def __init__(self, key: bytes, records: Iterable[Record]) -> None:
        self._digest = _digester(key)
        self._factor = _factor(key)
        self._groups: dict[int, list[Record]] = {}
        self._pairs: dict[int, list[Record]] = {}
        for record in records:
            table = self._groups if record[2] >= _GROUP else self._pairs
            table.setdefault(record[0], []).append(record)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Find what stood in a private section: start and end, in order, apart from each other."""
        return _joined(self._find(text, _DEPTH))

    def _find(self, text: str, depth: int, *, joined: bool = False) -> list[tuple[int, int]]:
        spans = list(self._hits(private_words.fold(views.spaced(text))))
        if spans:
            even = views.spaced_view(text)
            spans = [even.origin(*span) for span in spans]
        for view, lines_joined in _readings(text, depth, joined):
            if view:
                spans += [view.origin(*span) for span in self._find(view.text, depth - 1, joined=lines_joined)]
        return spans

    def _hits(self, low: str) -> Iterator[tuple[int, int]]:
        """Find the parts in a text in lower case with single blanks."""
        known: dict[str, bytes] = {}
        data = low.encode("utf-16-le", "replace")
        for size, table in ((_GROUP, self._groups), (_PAIR, self._pairs)):
            if table and len(low) >= size:
                for at, anchor in _anchored(data, size, self._factor, table):
                    for record in table[anchor]:
                        start = at - record[1]
                        end = start + record[2]
                        if start >= 0 and end <= len(low) and self._is_part(low, start, end, record, known):
                            yield start, end

    def _is_part(self, low: str, start: int, end: int, record: Record, known: dict[str, bytes]) -> bool:
        piece = low[start:end]
        digest = known.get(piece)
        if digest is None:
            digest = known[piece] = self._digest(piece)
        return digest == record[4] and _stands_apart(low, start, end, record[3])


def _readings(text: str, depth: int, joined: bool) -> Iterator[tuple[TextView | None, bool]]:
    """List what else a text may say, and whether its lines were joined. Only the text itself has lines to join."""
    if depth == _DEPTH:
        yield views.unwrapped(text), True
        yield accents.composed(text), False
    if depth and (not joined or views.may_encode(text)):
        yield views.unescaped(text), joined
    if depth == _DEPTH or (depth and views.may_encode(text)):
        yield views.decoded(text), False


def of(spans: Iterable[str]) -> Echo:
    """Make an echo of private texts that are at hand; they stay in this process."""
    key = bytes(KEY_BYTES)
    return Echo(key, records(key, spans))


def records(key: bytes, spans: Iterable[str], known: Iterable[Record] = ()) -> list[Record]:
    """Return what is to be remembered of private texts, without what is known already."""
    digest, factor = _digester(key), _factor(key)
    taken: dict[int, int] = {}
    digests = set()
    for record in known:
        digests.add(record[4:] + record[3:4])
        taken[record[0]] = taken.get(record[0], 0) + 1
    made = []
    for part, where in private_words.parts(map(accents.compose, spans)).items():
        own = digest(part)
        if (own, where) in digests:
            continue
        found = _best_anchor(part, factor, taken)
        if found:
            taken[found[0]] = taken.get(found[0], 0) + 1
            made.append((*found, len(part), where, own))
    return made


# -- anchors


def _best_anchor(part: str, factor: int, taken: dict[int, int]) -> tuple[int, int] | None:
    """Choose the anchor of a part, hash and place: the one that fewest others have, and of digits and signs first.

    None when all are taken by many others: such parts repeat each other.
    """
    size = _GROUP if len(part) >= _GROUP else _PAIR
    data = part.encode("utf-16-le", "replace")
    best: tuple[int, int, int, int] | None = None
    for at in range(min(len(part) - size + 1, 200)):
        anchor = _hash(int.from_bytes(data[2 * at : 2 * (at + size)], "little"), factor)
        plain = sum(char.isalpha() or char == " " for char in part[at : at + size])
        rank = (taken.get(anchor, 0), plain, at, anchor)
        best = rank if best is None else min(best, rank)
    return (best[3], best[2]) if best and best[0] < _MOST_AT_ANCHOR else None


def _anchored(data: bytes, size: int, factor: int, table: dict[int, list[Record]]) -> Iterator[tuple[int, int]]:
    """List where groups of characters stand that could be anchors: position in characters, and hash."""
    step = 2 * size
    shifted = [_numbers(memoryview(data)[2 * k : len(data) - (len(data) - 2 * k) % step], step) for k in range(size)]
    groups: set[int] = set().union(*shifted)
    bits = (1 << _ANCHOR_BITS) - 1
    wanted = {group: anchor for group in groups if (anchor := (group * factor >> 40) & bits) in table}
    if not wanted:
        return
    if len(wanted) > _FEW_GROUPS:
        for k, part in enumerate(shifted):
            for number, group in enumerate(part):
                if group in wanted:
                    yield size * number + k, wanted[group]
        return
    for group, anchor in wanted.items():
        bare = group.to_bytes(step, "little")
        at = data.find(bare)
        while at >= 0:
            if at % 2 == 0:
                yield at // 2, anchor
            at = data.find(bare, at + 1)


def _numbers(data: memoryview, size: int) -> memoryview:
    return data.cast("Q") if size == 8 else data.cast("I")


def _hash(group: int, factor: int) -> int:
    return (group * factor >> 40) & ((1 << _ANCHOR_BITS) - 1)


def _factor(key: bytes) -> int:
    return int.from_bytes(key[:8], "little") | 0x9E3779B97F4A7C15


def _digester(key: bytes) -> Callable[[str], bytes]:
    """Return what hashes a part with a key. The C module is imported directly: `hashlib` loads OpenSSL."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

    def digest(part: str) -> bytes:
        made: bytes = blake2b(part.encode("utf-8", "replace"), key=key, digest_size=DIGEST_BYTES).digest()
        return made

    return digest


# -- places


def _stands_apart(low: str, start: int, end: int, where: int) -> bool:
    """Whether what stands between `start` and `end` is as much on its own as it has to be."""
    if where == private_words.ANYWHERE:
        return True
    continues = str.isdecimal if where == private_words.NUMBER else _continues
    before = start > 0 and continues(low[start - 1]) and continues(low[start])
    return not before and not (end < len(low) and continues(low[end]) and continues(low[end - 1]))


def _continues(char: str) -> bool:
    """Whether a character belongs to the same word as one of its kind beside it."""
    return char.isalnum() and not private_words.is_boundless(char)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
