"""Excerpts: the sentences of an answer that say how it ended, the hunk of a diff that matters, what a run printed."""

from __future__ import annotations

from mdmem.search.text import analysis
from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_CUES = frozenset(
    [
        "because", "cause", "caused", "fixed", "fix", "fixes", "decision", "decided", "now", "pinned", "switched",
        "changed", "added", "removed", "replaced", "moved", "came", "instead", "root", "solved", "resolved", "left",
        "next", "open", "remaining", "use", "uses", "chose", "picked", "dropped", "must", "never", "always", "since",
    ]
)  # fmt: skip
"""Words of sentences that say what was found out, changed, or left to do."""
_ANNOUNCED = (
    " i will ", " i'll ", " let's ", " let us ", " we will ", " we'll ", " you can now ", " we can now ", " if you ",
    " if you're ", " if you'd ", " next step would ", " next logical step ", " next steps would ",
    " next best step ", " next action ", " it's important to ", " final step would ",
)  # fmt: skip
"""Words of sentences that say what may be done, and not what was."""
_UNSURE = frozenset(["would", "could", "might", "may", "should", "if", "assume", "assuming", "ideal"])
_MANY = 3
"""So many words of what is asked about make such a sentence worth showing all the same."""
_FILLER = frozenset(["done", "ok", "okay", "great", "sure", "perfect", "thanks", "summary", "pass", "passes", "tests"])
_MAX_BODY_CHARS = 12_000


def sentences(body: str) -> Iterator[str]:
    """Split prose into sentences: code fences are left out, a heading, row or bullet is a sentence of its own."""
    fence = False
    paragraph: list[str] = []
    for line in [*body[:_MAX_BODY_CHARS].splitlines(), ""]:
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fence = not fence
            bare = ""
        number = bare.partition(" ")[0]
        listed = number[:-1].isdigit() and number[-1:] in (".", ")")
        own = listed or bare.startswith(("#", "- ", "* ", "|"))
        if fence or not bare or own:
            yield from _parts(" ".join(paragraph))
            paragraph = []
        if fence or not bare or set(bare) <= set("|-=:# "):
            continue
        paragraph.append(bare[len(number) :].strip() if listed else bare.lstrip("#*-> ").strip() if own else bare)
    yield from _parts(" ".join(paragraph))


def _parts(text: str) -> Iterator[str]:
    start = 0
    for at, c in enumerate(text):
        spaced = c in ".!?" and text[at + 1 : at + 2] == " " and (text[at + 2 : at + 3].isupper() or c != ".")
        if spaced or c in "。！？":
            yield text[start : at + 1].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def outcome(body: str, terms: Collection[str], chars: int) -> str:
    """Choose the sentences of an answer that say how it ended, in their order, in about `chars` characters.

    terms: what is asked about, as the index has it.
    """
    found = [sentence for sentence in sentences(body) if sentence]
    worth = [_worth(sentence, terms, at, len(found)) for at, sentence in enumerate(found)]
    telling = [at for at, one in enumerate(worth) if one > _NOTHING_SAID] or range(len(found))
    ranked = sorted(telling, key=lambda at: (-worth[at], at))
    kept: list[int] = []
    room = chars
    for at in ranked:
        if len(found[at]) + 1 > room and kept:
            continue
        kept.append(at)
        room -= len(found[at]) + 1
        if room <= 0:
            break
    *others, last = [found[at] for at in sorted(kept)] or [""]
    return " ".join([*map(_ended, others), last])


def unlinked(text: str) -> str:
    """Write links into the vault as their text alone: their paths tell an agent nothing."""
    import re

    return re.sub(r"\[([^\[\]\n]*)\]\((?!https?:)[^()\n]*\)", r"\1", text)


def first(body: str) -> str:
    """Return the first sentence that is not a heading."""
    lines = "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("#"))
    return next(sentences(lines), "")


def _ended(sentence: str) -> str:
    return sentence if sentence.rstrip("*_").endswith((".", "!", "?", "…", "。", "！", "？", ":")) else f"{sentence}."


_NOTHING_SAID = -1.0
"""The worth of a sentence such as "Done.": it is shown only where an answer has no other."""


def _worth(sentence: str, terms: Collection[str], at: int, count: int) -> float:
    words = [word.strip(".,:;!?()`'\"").lower() for word in sentence.split()]
    if len(words) < 4 and (_FILLER.intersection(words) or sentence.rstrip("*_").endswith(":")):
        return _NOTHING_SAID
    matched = len(terms & analysis.counts(sentence).keys()) if terms else 0
    if words[:1] == ["before"] or any(announced in f" {' '.join(words)} " for announced in _ANNOUNCED):
        return _NOTHING_SAID if matched < _MANY else 0.0
    cues = len(_CUES.intersection(words))
    names = sum("_" in word or "(" in word or "`" in word or "." in word[:-1] for word in sentence.split())
    place = 0.6 if at == 0 else 0.3 if at == count - 1 else 0.0
    unsure = 0.0 if _UNSURE.isdisjoint(words) else 0.5
    return matched + min(cues, 2) * 0.7 + min(names, 3) * 0.3 + place - unsure


# -- diffs -----------------------------------------------------------------------------------------


class ExcerptHunk(Value):
    """One place of a diff: its file, and its lines as they stand."""

    file: str
    lines: list[str]

    @property
    def added(self) -> list[str]:
        """Return the lines that it adds, without their sign."""
        return [line[1:] for line in self.lines if line.startswith("+")]


def hunks(body: str, file: str) -> list[ExcerptHunk]:
    """Read the hunks of the diffs in a note; a new file, written out in a fence, is one hunk of added lines."""
    found: list[ExcerptHunk] = []
    for language, lines in _fences(body):
        if language != "diff":
            found.append(ExcerptHunk(file, [f"+{line}" for line in lines]))
            continue
        for line in lines:
            if line.startswith("@@"):
                found.append(ExcerptHunk(file, []))
            elif line.startswith("+++ "):
                file = line[4:].removeprefix("b/").strip() or file
            elif found and line[:1] in ("+", "-", " ") and not line.startswith("--- "):
                found[-1].lines.append(line)
    return [hunk for hunk in found if any(line[:1] in "+-" for line in hunk.lines)]


def _fences(body: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the language and the lines of each code fence; one that is not closed ends with the text."""
    fence, language = "", ""
    held: list[str] = []
    for line in body.splitlines():
        if not fence and line.startswith("```"):
            fence = line[: len(line) - len(line.lstrip("`"))]
            language, held = line[len(fence) :].strip(), []
        elif fence and line.rstrip() == fence:
            yield language, held
            fence = ""
        elif fence:
            held.append(line)
    if fence:
        yield language, held


def rank(found: Iterable[ExcerptHunk], terms: Collection[str]) -> list[ExcerptHunk]:
    """Return the hunks that matter first: with the words, replacing code, and late ones; those of tests come last.

    What was only made to look into something is left out where anything else was changed.
    """
    kept = list({frozenset(line.strip() for line in hunk.added): hunk for hunk in found}.values())
    worth = {id(hunk): _hunk_worth(hunk, terms, at / max(len(kept), 1)) for at, hunk in enumerate(kept)}
    if not all(is_scratch(hunk.file) for hunk in kept):
        kept = [hunk for hunk in kept if not is_scratch(hunk.file)]
    return sorted(kept, key=lambda hunk: (_is_aside(hunk.file, terms), -worth[id(hunk)]))


REPEATS = 0.7
"""A hunk repeats what is shown of its file where it adds such a share of lines that stand there."""


def repeats(hunk: ExcerptHunk, shown: Collection[str]) -> bool:
    """Whether a hunk says little more than others of its file. shown: the lines that those add, stripped."""
    added = [line.strip() for line in hunk.added if line.strip()]
    return bool(added) and sum(line in shown for line in added) >= REPEATS * len(added)


def _hunk_worth(hunk: ExcerptHunk, terms: Collection[str], place: float) -> float:
    changed = "\n".join(line[1:] for line in hunk.lines if line[:1] in "+-")
    matched = len(terms & analysis.counts(f"{changed}\n{hunk.file}").keys()) if terms else 0
    replaces = any(line.startswith("-") for line in hunk.lines) and any(line.startswith("+") for line in hunk.lines)
    name = hunk.file.rpartition("/")[2].lower()
    return matched + 0.5 * replaces + place - 0.5 * name.endswith((".md", ".lock", ".json", ".txt"))


def _is_aside(file: str, terms: Collection[str]) -> bool:
    return is_scratch(file) or ("test" in file.lower() and "test" not in terms)


def is_scratch(file: str) -> bool:
    """Whether a file was most likely made to look into something, and not to stay."""
    name = file.rpartition("/")[2].lower()
    return name.startswith(("tmp", "scratch", "debug")) or "repro" in name or "replicat" in name


_IMPORTS = ("import ", "from ", "#include", "use ", "using ", "require", "package ")
"""How lines begin that tell least of a hunk for which there is no room."""


def shown(hunk: ExcerptHunk, chars: int) -> list[str]:
    """Write a hunk: its file, and its changed lines with little around them."""
    changed = [at for at, line in enumerate(hunk.lines) if line[:1] in "+-" and line[1:].strip()]
    near = {at + step for at in changed for step in (-1, 0, 1)}
    lines = [line for at, line in enumerate(hunk.lines) if at in near and line.strip()]
    if sum(len(line) + 5 for line in lines) > chars:
        lines = [line for line in lines if line[1:].strip() and not line[1:].startswith(_IMPORTS)] or lines
    kept = [f"{hunk.file}:"]
    for line in lines:
        chars -= len(line) + 5
        if chars < 0:
            break
        kept.append(line)
    return kept


# -- runs ------------------------------------------------------------------------------------------


def printed(body: str) -> list[str]:
    """Return the lines that a run printed, its error before its output."""
    for heading in ("\n## Error\n", "\n## Output\n"):
        _, found, text = body.partition(heading)
        if found:
            lines = (line for line in text.partition("\n## ")[0].splitlines() if line.strip())
            return [line for line in lines if not line.startswith(("```", "~~~", "Exit code "))]
    return []
