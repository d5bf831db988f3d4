"""Excerpts: selects the sentences that say how a turn ended, and the lines that a run printed."""

from __future__ import annotations

from mdmem.inject.rendering import telling, unfinished
from mdmem.inject.rendering.block import is_full_stop
from mdmem.lazy_pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_MAX_BODY_CHARS = 12_000


def sentences(body: str, *, code: bool = False) -> Iterator[tuple[str, str]]:
    """Split prose into sentences, each with the label of its section: the heading above it, "" for none or a long one.

    A table's label is the row of its column names. "Next steps:" is a heading also after other sentences.

    A row or list item is a sentence of its own. Headings are, if there is nothing else. code: so is each line in a code
    fence, as inline code; else these are skipped.
    """
    headings: list[str] = []
    label = ""
    said = False
    for heading, paragraph in _paragraphs(body, code=code):
        if not paragraph:
            headings += [heading] if heading else []
            label = "" if heading.lower() in _SAY_NOTHING or _is_long(heading) else heading
        for sentence in _parts(paragraph):
            if sentence.endswith((":", ":**")) and (heading := _heading(sentence)):
                label = heading
            elif any(map(str.isalnum, sentence)):
                yield label, sentence
                said = True
    if not said:
        yield from (("", heading) for heading in headings)


def _is_long(label: str) -> bool:
    return len(label.split()) - label.split().count("|") > _LABEL_WORDS and not unfinished.is_heading(label)


_LABEL_WORDS = 6
_SAY_NOTHING = frozenset(
    ["summary", "changes", "what changed", "what i did", "overview", "result", "results", "details"]
)
"""Headings that say nothing about their section."""


def _paragraphs(body: str, *, code: bool) -> Iterator[tuple[str, str]]:
    """Yield each heading, and each paragraph, row, list item or line of code; the other of the two is "".

    A table's column names are a heading until its end, where the one above it comes again, or "".
    """
    fence = False
    paragraph: list[str] = []
    above, columns = "", ""
    lines = [line.strip() for line in without_comments(body[:_MAX_BODY_CHARS]).splitlines()]
    for bare, after in zip([*lines, ""], [*lines[1:], "", ""], strict=False):
        if bare.startswith(("```", "~~~")):
            fence = not fence
            bare = ""
        heading, item = ("", "") if fence else (_heading(bare), _item(bare))
        ends_table = columns != "" and not bare.startswith("|")
        if paragraph and (fence or not bare or heading or item or ends_table):
            yield "", " ".join(paragraph)
            paragraph = []
        if ends_table:
            columns = ""
            yield above, ""
        if item and bare.startswith("|") and after.startswith("|") and not set(after) - set("|-: "):
            columns = item
            yield columns, ""
        elif heading:
            above = heading
            yield heading, ""
        elif not fence and set(bare) - set("|-=:# "):
            paragraph.append(item or bare)
        elif fence and code and bare:
            yield "", f"`{bare}`"
    if paragraph:
        yield "", " ".join(paragraph)


def without_comments(text: str) -> str:
    """Return Markdown without its HTML comments, which a reader does not see; those in code stay, and unclosed ones."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    start, fence = 0, False
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        fence ^= text[start:end].lstrip().startswith(("```", "~~~"))
        opened = -1 if fence else text.find("<!--", start, end)
        closed = text.find("-->", opened + 4) if opened >= 0 else -1
        if closed < 0:
            end = len(text) if opened >= 0 else end  # no comment after an unclosed one is closed
            kept.append(text[start:end])
            start = end
        elif text.count("`", start, opened) % 2:
            end = text.find("`", opened, end) + 1 or end
            kept.append(text[start:end])
            start = end
        else:
            kept.append(text[start:opened])
            start = closed + 3
    return "".join(kept)


def _heading(line: str) -> str:
    """Return the text of a heading, or of a short line that is all bold, as agents write headings too; else "".

    Emoji around it are left out.
    """
    if line.startswith("#") and line.lstrip("#")[:1] == " ":
        return _without_ornaments(line.strip("#*: ")).strip("*: ")
    line = _without_ornaments(line)
    bold = line.strip("*: ")
    is_bold = line.startswith("**") and line.rstrip(": ").endswith("**") and "**" not in bold
    is_bold = is_bold and len(bold.split()) <= _LABEL_WORDS and bold[-1:] not in (".", "!", "?")
    return bold if is_bold or unfinished.is_heading(line) else ""


def _item(line: str) -> str:
    """Return the text of a list item or a table's row; else ""."""
    mark, _, text = line.partition(" ")
    if mark in ("-", "*", "+") or (mark[:-1].isdigit() and mark[-1:] in (".", ")")):
        return text.strip()
    return line.strip("| ") if line.startswith("|") else ""


def _parts(text: str) -> Iterator[str]:
    start = 0
    for at, c in enumerate(text):
        spaced = c in ".!?" and text[at + 1 : at + 2] == " "
        begins = text[at + 2 : at + 5].lstrip("*")[:1].isupper()
        spaced = spaced and (c != "." or (begins and is_full_stop(text, at)))
        if spaced or c in "。！？":
            yield text[start : at + 1].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def outcome(body: str, terms: Collection[str], chars: int, *, with_left: bool = True) -> str:
    """Return the sentences of an answer that say how it ended, in order, in about `chars` characters.

    terms: the question's terms, as in the index. Without any, what is left to do comes last, in up to half of the room.
    with_left: with what is left to do, unless there is nothing else.
    """
    told = list(sentences(body))
    told, left = (told, []) if terms else unfinished.split(told, chars)
    left = left if with_left or not told else []
    is_first = [at == 0 or told[at - 1][0] != label for at, (label, _) in enumerate(told)]
    worth = [
        telling.worth(sentence, f"{label}: {sentence}" if is_first[at] else sentence, terms, at, len(told))
        for at, (label, sentence) in enumerate(told)
    ]
    places = [at for at, value in enumerate(worth) if value > telling.NOTHING_SAID] or range(len(told))
    chosen: list[int] = []
    labels: set[str] = set()
    room = chars - len(_joined(left))
    for at in sorted(places, key=lambda at: (-worth[at], at)):
        label, sentence = told[at]
        width = len(sentence) + 1 + (len(label) + 2 if label and label not in labels else 0)
        is_lost = not terms and at - 1 not in chosen and telling.points_back(sentence)
        if (chosen and (width > room or is_lost)) or (left and width > room):
            continue
        chosen.append(at)
        labels.add(label)
        room -= width
        if room <= 0:
            break
    if left and places and not chosen:
        label, sentence = max(zip(worth, told, strict=True), key=lambda one: one[0])[1]
        return _joined([(label, unfinished.cut(sentence, max(room - len(label) - 2, 1))), *left])
    return _joined([*(told[at] for at in sorted(chosen)), *left])


def prose(body: str, *, code: bool = False) -> str:
    """Return a text's sentences on one line. code: with its code."""
    return _joined(list(sentences(body, code=code)))


def _joined(told: Sequence[tuple[str, str]]) -> str:
    """Join sentences, the first of each section after its label; after a table, the label is not repeated."""
    pieces: list[str] = []
    labels = {""}
    for label, sentence in told:
        pieces.append(sentence if label in labels else f"{label}: {sentence}")
        labels.add(label)
    *others, last = pieces or [""]
    return " ".join([*map(_with_full_stop, others), last])


def unlinked(text: str) -> str:
    """Replace links into the vault by their text; their paths tell an agent nothing."""
    return _LINK.sub(lambda link: str(link[1]), text)


_LINK = lazy(r"\[([^\[\]\n]*)\]\((?!https?:)[^()\n]*\)")


def first(body: str) -> str:
    """Return the first sentence; that of a text with nothing but headings is ""."""
    lines = "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("#"))
    return next((sentence for _, sentence in sentences(lines)), "")


def _with_full_stop(sentence: str) -> str:
    ends = _without_ornaments(sentence).rstrip("*_").endswith((".", "!", "?", "…", "。", "！", "？", ":"))
    return sentence if ends else f"{sentence}."


def _without_ornaments(text: str) -> str:
    """Return a text without emoji and spaces around it."""
    if text.isascii():
        return text.strip()
    inner = [at for at, character in enumerate(text) if not _is_ornament(character)]
    return text[inner[0] : inner[-1] + 1] if inner else ""


def _is_ornament(character: str) -> bool:
    return character == " " or (character > "\u2190" and not character.isalnum() and character not in "。！？")


# -- code and runs ---------------------------------------------------------------------------------


def fences(body: str) -> Iterator[tuple[str, list[str]]]:
    """Yield language and lines of each code fence; an unclosed one ends with the text."""
    fence, language = "", ""
    content: list[str] = []
    for line in body.splitlines():
        if not fence and line.startswith("```"):
            fence = line[: len(line) - len(line.lstrip("`"))]
            language, content = line[len(fence) :].strip(), []
        elif fence and line.rstrip() == fence:
            yield language, content
            fence = ""
        elif fence:
            content.append(line)
    if fence:
        yield language, content


def printed(body: str) -> list[str]:
    """Return the lines that a run printed: its error if it has one, else its output."""
    for heading in ("\n## Error\n", "\n## Output\n"):
        _, separator, text = body.partition(heading)
        if separator:
            lines = (line for line in text.partition("\n## ")[0].splitlines() if line.strip())
            return [line for line in lines if not line.startswith(("```", "~~~", "Exit code "))]
    return []
