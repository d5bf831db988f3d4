"""Links and tags in the text of notes: `[[wikilinks]]`, Markdown links, citations, `#tags`.

Code is skipped: a shell's `[[ -f x ]]` is not a link, and a color `#ffffff` not a tag.
"""

from __future__ import annotations

import posixpath

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINKS = 200
"""Maximum number of links, and of tags, read from one text."""
_WIKI = lazy(r"\[\[(?<!\\\[\[)([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
_MARKDOWN = lazy(r"\]\((?<!\\\]\()(?:<([^<>\n]{1,500})>|([^\s()<>]{1,500}))(?:\s+\"[^\"\n]{0,200}\")?\)")
CITED = lazy(r"\bmem:([0-9a-z]{10})\b")
"""A citation of a note: `mem:ID`."""
_FENCE = lazy(r" {0,3}(`{3,}|~{3,})")
_CODE = lazy(r"(`+)(?:(?!\1)[^\n])*?\1")
_TAG = lazy(r"#(?<![\w&#/`(\[]#)([^\W\d_][\w/-]{0,63})")
_SCHEME = lazy(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|/")


class WrittenLink(NamedTuple):
    """A link as written. target: what it names. how: "wiki", "markdown" or "id". line: from 1."""

    target: str
    how: str
    line: int


def without_code(text: str) -> list[str]:
    """Return the lines of a text, with code lines empty and inline code replaced by spaces."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        fence_line = _FENCE.match(line)
        if fence:
            if fence_line and fence_line[1].startswith(fence) and not line[fence_line.end() :].strip():
                fence = ""
            lines.append("")
        elif fence_line:
            fence = fence_line[1]
            lines.append("")
        else:
            lines.append(_CODE.sub(" ", line[:4000]) if "`" in line else line[:4000])
    return lines


def written(text: str) -> Iterator[WrittenLink]:
    """Yield the links of a text to other notes or files in the vault."""
    if "[" not in text and "mem:" not in text:
        return
    count = 0
    for number, line in enumerate(without_code(text), 1):
        for link in _of_line(line, number) if "[" in line or "mem:" in line else ():
            yield link
            count += 1
            if count >= MAX_LINKS:
                return


def _of_line(line: str, number: int) -> Iterator[WrittenLink]:
    for match in _WIKI.finditer(line):
        if match[1].strip():
            yield WrittenLink(match[1].strip(), "wiki", number)
    for match in _MARKDOWN.finditer(line):
        target = (match[1] or match[2]).partition("#")[0].strip()
        if target and not _SCHEME.match(target):
            yield WrittenLink(_unquoted(target) if "%" in target else target, "markdown", number)
    for match in CITED.finditer(line):
        yield WrittenLink(match[1], "id", number)


def _unquoted(target: str) -> str:
    """Decode a percent-encoded target."""
    from urllib.parse import unquote  # takes a third of a bare Python to load

    return unquote(target)


def tags(text: str) -> list[str]:
    """Return the inline tags of a text, each once, without `#`."""
    if "#" not in text:
        return []
    distinct: dict[str, None] = {}
    for line in without_code(text):
        if "#" in line:
            distinct |= dict.fromkeys(tag.rstrip("/-") for tag in _TAG.findall(line))
    return list(distinct)[:MAX_LINKS]


def key(link: WrittenLink, folder: str) -> str:
    """Return the lookup key of a link: an id, a vault path without ending, or a file name without ending.

    folder: that of the note with the link, vault-relative.
    """
    if link.how == "id":
        return link.target
    target = link.target.lower()
    if link.how == "markdown":
        return stem(posixpath.normpath(posixpath.join(folder.lower(), target)))
    return stem(target) if "/" in target else stem(target).rpartition("/")[2]


def endings(path: str) -> Iterator[str]:
    """Yield a path, and what is after each `/` of it: a wikilink names a file by as much of its path as it takes."""
    yield path
    for place, letter in enumerate(path):
        if letter == "/":
            yield path[place + 1 :]


def as_compared(title: str) -> str:
    """Normalize a title for comparison with links: case-folded, white space folded, accents composed."""
    from unicodedata import normalize  # hooks import this module and compare no titles

    return " ".join(normalize("NFC", title.casefold()).split())


def stem(path: str) -> str:
    """Return a path without a note's file ending."""
    return path.removesuffix(".md").removesuffix(".markdown")
