"""Pairs of private tags that are only mentioned, or part of a program, and so hide nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.tags import PrivateSection

_LONGEST_NAMING = 16
_PATTERN_SIGNS = ".*?+()[]^$|…"
_JOINING = frozenset(["and", "or", "to", "und", "oder", "et", "ou", "y", "o", "e", "или", "и", "/"])


def meant(text: str, pairs: list[PrivateSection], *, literal_code: bool) -> list[PrivateSection]:
    """Return the pairs that hide the text between them. literal_code: without pairs wholly in a closed code fence."""
    pairs = [pair for pair in pairs if not (_is_setting(text, pair) or _is_named(text, pair) or _is_code(text, pair))]
    return _outside_fences(text, pairs) if literal_code and pairs else pairs


def _is_setting(text: str, pair: PrivateSection) -> bool:
    """Whether a pair is a boolean setting of MSBuild: `<Private>True</Private>`."""
    start, end, inner_start, inner_end, _ = pair
    is_plain = text.startswith("<Private>", start) and text.endswith("</Private>", 0, end)
    return is_plain and text[inner_start:inner_end][:12].strip("\\ \t\r\n").lower() in ("true", "false")


def _is_named(text: str, pair: PrivateSection) -> bool:
    """Whether only a conjunction or a pattern is between the tags: `<private> and </private>`, `<private>.*`."""
    _, _, inner_start, inner_end, _ = pair
    between = text[inner_start:inner_end] if inner_end - inner_start < _LONGEST_NAMING else ""
    is_word = between[:1] in (" ", ",") and between[-1:] == " "
    return bool(between.strip()) and (
        not between.strip(_PATTERN_SIGNS) or (is_word and between.strip(" ,") in _JOINING)
    )


def _is_code(text: str, pair: PrivateSection) -> bool:
    """Whether a program searches for both tags, or has both as strings."""
    start, end, inner_start, inner_end, _ = pair
    if is_looked_for(text, start) and is_looked_for(text, inner_end):
        return True
    return is_literal(text, start, inner_start) and is_literal(text, inner_end, end)


def is_looked_for(text: str, start: int) -> bool:
    """Whether a command of sed or vi searches for the tag at `start`: `s/<private>/…/`."""
    before = text[max(0, start - 4) : start].rstrip("\\")
    return before.endswith(("'s/", '"s/', "`s/", "%s/", "; s/", ";s/"))


def is_literal(text: str, start: int, end: int) -> bool:
    """Whether a tag is a string in a program, but not in a list: `TAG = "<private>"`, `replace("<private>", "")`."""
    quote = text[start - 1 : start]
    before = text[max(0, start - 4) : start - 1].rstrip(" ")[-1:]
    return quote in ("'", '"') and text[end : end + 1] == quote and before in ("=", "(")


def _outside_fences(text: str, sections: list[PrivateSection]) -> list[PrivateSection]:
    """Return the sections that are not wholly inside one closed code fence."""
    from bisect import bisect

    fences = _closed_fences(text)
    starts = [start for start, _ in fences]

    def is_outside(section: PrivateSection) -> bool:
        number = bisect(starts, section[0]) - 1
        return number < 0 or section[1] > fences[number][1]

    return [section for section in sections if is_outside(section)]


def _closed_fences(text: str) -> list[tuple[int, int]]:
    """Return the closed code fences of a Markdown text: start of the opening line, end of the closing line."""
    fences: list[tuple[int, int]] = []
    opened, ticks, at = 0, "", 0
    for line in text.split("\n"):
        bare = line.strip()
        mark = bare[:1] if bare[:3] in ("```", "~~~") else ""
        if mark and not ticks:
            opened, ticks = at, bare[: len(bare) - len(bare.lstrip(mark))]
        elif ticks and bare.startswith(ticks) and not bare.strip(ticks[0]):
            fences.append((opened, at + len(line)))
            ticks = ""
        at += len(line) + 1
    return fences
