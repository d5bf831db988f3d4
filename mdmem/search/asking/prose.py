"""Prose: extracts the sentences that a person wrote in a prompt, and finds set phrases in them that ask to recall.

Runs at every prompt, so it imports nothing slow and looks at a few thousand characters at most.
"""

from __future__ import annotations

from mdmem.agents import prompts
from mdmem.search.asking.phrases import ASKING, NOT_ASKING, UNSPACED, UNSPACED_NOT
from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEAD_CHARS, TAIL_CHARS = 3_000, 1_000
"""How much of a longer prompt is considered, at its start and end; the middle was pasted."""

MAX_QUOTED_CHARS = 300
"""How much of a prompt's quotations counts as part of its subject."""

MAX_SENTENCES = 60
"""Maximum number of sentences judged, from the start and end of a longer text."""

MAX_GAP = 6
"""Maximum number of words that a `*` in a phrase stands for."""


class Asked(Value):
    """A phrase that asks, found in a prompt: its language, its words, and the prompt without it."""

    language: str
    words: str
    topic: str


def recall_phrase(prompt: str) -> Asked | None:
    """Return the first phrase of `prompt` that asks to recall something, or None.

    Code, quotations, pasted text and slash commands do not count.
    """
    if is_command(prompt):
        return None
    text = prose(prompt)
    typed = words(text)
    folded = folds(typed)
    tables, denials = _tables(text)
    for begin, first in enumerate(folded):
        for language, phrase in (row for table in tables for row in table.get(first, ())):
            places = _match(phrase, folded, begin)
            if places and not _is_denied(denials, folded, begin, places[-1]):
                return Asked(language, " ".join([typed[at] for at in places]), _without(text, typed, places))
    return None if text.isascii() else _asked_unspaced(text)


def is_command(prompt: str) -> bool:
    """Whether a prompt is a slash command."""
    return prompt.lstrip()[:1] in ("/", "!", "<") and prompts.command(prompt) is not None


def topic(phrase: Asked) -> str:
    """Return the subject: the prompt without all phrases that ask ("what did we do last time")."""
    text = phrase.topic
    while len(text) < HEAD_CHARS and (more := recall_phrase(text)) and len(more.topic) < len(text):
        text = more.topic
    return text


def prose(prompt: str, marked: list[str] | None = None) -> str:
    """Return what a person wrote as sentences: no code or quotations, and only both ends of a long text.

    marked: quotations are appended to it, and marked in the text for `with_quotations`.
    """
    if len(prompt) > 8 * (HEAD_CHARS + TAIL_CHARS):
        prompt = f"{prompt[: 8 * HEAD_CHARS]}\n{prompt[-8 * TAIL_CHARS :]}"
    text = "\n".join(_spelled_out(_unquoted(line, marked=marked)) for line in _prose_lines(prompt))
    text = text.replace("https://", "").replace("http://", "")
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", text)  # accented letters as one character each: some systems type them as two


def with_quotations(sentence: str, marked: Sequence[str]) -> str:
    """Return a sentence of `prose` with the quotations that are marked in it, as they were typed."""
    for number, quoted in enumerate(marked if _MARK in sentence else ()):
        sentence = sentence.replace(f"{_MARK}{number}{_MARK}", quoted)
    return sentence


def quotations(prompt: str) -> list[str]:
    """Return the quotations in a prompt's sentences, at most `MAX_QUOTED_CHARS` of them."""
    quoted_texts: list[str] = []
    for line in _prose_lines(prompt[:HEAD_CHARS]):
        _unquoted(line, quoted_texts)
    within_limit: list[str] = []
    for quoted in quoted_texts:
        if sum(map(len, within_limit)) + len(quoted) <= MAX_QUOTED_CHARS:
            within_limit.append(quoted)
    return within_limit


def fold(word: str) -> str:
    """Return a word in the form in which phrases are compared: lower case, no accents or apostrophes."""
    if word.isascii():
        return word.lower().replace("'", "")
    from unicodedata import category, normalize

    plain = word.casefold().replace("’", "").replace("'", "").translate(_PLAIN)
    return "".join([c for c in normalize("NFD", plain) if category(c) != "Mn"])


def folds(words: list[str]) -> list[str]:
    """Return words in the form in which phrases are compared."""
    joined = " ".join(words)
    return fold(joined).split(" ") if words and joined.isascii() else [fold(word) for word in words]


def folded_word(word: str) -> str:
    """Return a typed word in the form in which phrases are compared, without the punctuation around it."""
    return fold(word.strip(".,:;?!¿¡\"'()[]…"))


_PLAIN = {ord("ł"): "l", ord("ı"): "i", ord("ø"): "o", ord("đ"): "d", ord("æ"): "ae", ord("œ"): "oe"}


# -- what is prose ---------------------------------------------------------------------------------

_CODE_STARTS = ("    ", "\t", ">", "//", "/*", "* ", "#", "$ ", "+", "- [", "@@", "<", "|", "Traceback", "  File ")
_CODE_ENDS = (";", "{", "}", "};", ");", "*/", "/>", "->", "\\")
_PASTES = ("pasted_content", "pasted-content", "file", "document")


def _prose_lines(prompt: str) -> Iterator[str]:
    """Yield the lines that are not code and not in a fence; an unclosed fence runs to the end."""
    fence = ""
    for line in prompt.splitlines():
        bare = line.strip()
        if fence:
            if bare.startswith(fence):
                fence = ""
        elif bare.startswith(("```", "~~~")):
            fence = bare[:3]
        elif bare.startswith("<") and bare[1:].startswith(_PASTES):
            fence = "</" + bare[1:].partition(" ")[0].rstrip(">")
        elif not line.startswith(_CODE_STARTS) and (not bare.endswith(_CODE_ENDS) or _is_greek(bare)):
            yield line


def _is_greek(line: str) -> bool:
    """Whether a line ends in a Greek question mark, which looks like a semicolon."""
    return line[-1] == ";" and "\u0370" <= line[:-1].rstrip()[-1:] <= "\u1fff"


_QUOTES = {"`": "`", '"': '"', "“": "”", "„": "“", "«": "»", "「": "」"}
_MAX_QUOTE_CHARS = 200
_MARK = "\ua66e"
"""A letter that nobody writes: a quotation is a word of its sentence."""


def _unquoted(line: str, quoted: list[str] | None = None, *, marked: list[str] | None = None) -> str:
    """Replace quotations and inline code in a line. quoted: collects them. marked: as for `prose`."""
    if not any(mark in line for mark in _QUOTES):
        return line
    pieces: list[str] = []
    at = 0
    while at < len(line):
        closing = _QUOTES.get(line[at])
        end = line.find(closing, at + 1, at + _MAX_QUOTE_CHARS) if closing else -1
        if end < 0:
            pieces.append(line[at])
            at += 1
        else:
            pieces.append(" · " if marked is None else f"{_MARK}{len(marked)}{_MARK}")
            if marked is not None:
                marked.append(line[at : end + 1])
            if quoted is not None:
                quoted.append(line[at + 1 : end])
            at = end + 1
    return "".join(pieces)


_CONTRACTED = {"d": "did", "ve": "have", "re": "are"}
_CONTRACTING = ("how", "why", "what", "where", "when", "who", "which")
_SPELLED_OUT = {
    f"{word}{mark}{end}": f"{word} {verb}"
    for word in _CONTRACTING
    for end, verb in _CONTRACTED.items()
    for mark in ("", "'", "’")
}


def _spelled_out(line: str) -> str:
    """Expand contractions: `how'd we` becomes `how did we`."""
    if "d " not in line and "ve " not in line and "re " not in line:
        return line
    spelled = " ".join([_SPELLED_OUT.get(word.lower(), word) for word in line.split(" ")])
    return spelled.replace(" did be ", " would be ")


# -- phrases ---------------------------------------------------------------------------------------


def words(text: str) -> list[str]:
    """Split text into words; a dot or underscore inside a name does not split it."""
    return [word for part in text.translate(_IN_WORDS).split() if (word := part.strip("."))]


class _InWords(dict[int, str]):
    """What `str.translate` needs to replace the characters between words with spaces."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = character if character.isalnum() or character in "'’_." else " "
        return self[code]


_IN_WORDS = _InWords()


def sentences(text: str) -> list[tuple[str, bool]]:
    """Split text into sentences, each with whether it ends in a question mark; a dot inside a name ends none."""
    split: list[tuple[str, bool]] = []
    for line in text.splitlines():
        start, last = 0, len(line) - 1
        for at in [at for at, c in enumerate(line) if c in "。？！.?!;؟" or at == last]:
            c = line[at]
            if c in ".?!;؟" and at < last and line[at + 1] not in " \"')»":
                continue
            part = line[start : at + 1]
            if part.strip():
                split.append((part, c in "?？؟;" or part.rstrip(" \"')»").endswith(("?", "؟"))))
            start = at + 1
    if len(split) > MAX_SENTENCES:
        split = split[: MAX_SENTENCES // 2] + split[-MAX_SENTENCES // 2 :]
    return split


Starts = dict[str, list[tuple[str, str]]]


def _starts(table: dict[str, tuple[str, ...]], *, plain: bool) -> Starts:
    """Index phrases by their possible first words. plain: only ASCII phrases, else only the others."""
    starts: Starts = {}
    for language, phrases in table.items():
        for phrase in phrases:
            if phrase.isascii() is plain:
                for word in phrase.partition(" ")[0].split("/"):
                    starts.setdefault(word if plain else fold(word), []).append((language, phrase))
    return starts


_PLAIN_STARTS = _starts(ASKING, plain=True)
_PLAIN_DENIALS = _starts(NOT_ASKING, plain=True)
_other_starts: list[Starts] = []
"""Indexes of the non-ASCII phrases that ask and that only look like it, built on demand."""


def _tables(text: str) -> tuple[tuple[Starts, ...], tuple[Starts, ...]]:
    """Return the indexes of phrases that ask, and of those that only look like it."""
    if text.isascii():
        return (_PLAIN_STARTS,), (_PLAIN_DENIALS,)
    if not _other_starts:
        _other_starts.extend([_starts(ASKING, plain=False), _starts(NOT_ASKING, plain=False)])
    return (_PLAIN_STARTS, _other_starts[0]), (_PLAIN_DENIALS, _other_starts[1])


def _match(phrase: str, words: list[str], begin: int) -> list[int]:
    """Return the positions of the words that a phrase matches from `begin` on, or [] if it does not match."""
    places: list[int] = []
    at = begin
    gap = 0
    for wanted in _parts(phrase):
        if wanted == ["*"]:
            gap = MAX_GAP
            continue
        while gap and at < len(words) and words[at] not in wanted:
            at += 1
            gap -= 1
        if at >= len(words) or words[at] not in wanted:
            return []
        places.append(at)
        at += 1
        gap = 0
    return places


_PARTS: dict[str, list[list[str]]] = {}
"""A cache of `_parts`: every prompt gets here, and importing `functools` for one costs a fifth of a hook."""


def _parts(phrase: str) -> list[list[str]]:
    """Return the alternatives at each place of a phrase; "*" is a gap."""
    if phrase not in _PARTS:
        _PARTS[phrase] = [fold(part).split("/") for part in phrase.split(" ")]
    return _PARTS[phrase]


def _is_denied(denials: tuple[Starts, ...], words: list[str], begin: int, last: int) -> bool:
    """Whether the match from `begin` to `last` is part of a phrase that only looks like asking."""
    for start in range(max(0, begin - 2), begin + 1):
        for _, phrase in (row for table in denials for row in table.get(words[start], ())):
            places = _match(phrase, words, start)
            if places and places[-1] >= last and places[-1] > begin:
                return True
    return False


def _without(text: str, words: list[str], places: list[int]) -> str:
    """Return `text` without the words at `places`, otherwise as typed."""
    pieces: list[str] = []
    at = cut_at = 0
    for place, word in enumerate(words[: places[-1] + 1]):
        start = text.find(word, at)
        at = start + len(word)
        if place in places:
            pieces.append(text[cut_at:start])
            cut_at = at
    return "".join([*pieces, text[cut_at:]]).strip()


def _asked_unspaced(text: str) -> Asked | None:
    for part in "/".join(UNSPACED_NOT).split("/"):
        text = text.replace(part, " ")
    for language, parts in UNSPACED.items():
        for part in "/".join(parts).split("/"):
            if part in text:
                return Asked(language, part, text.replace(part, " ", 1).strip())
    return None
