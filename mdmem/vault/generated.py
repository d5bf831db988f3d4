"""The generated part of a page, between two markers; everything outside it belongs to a person.

On a session's page the hooks write it. Later, upkeep adds what needs other notes: links to neighboring sessions, and
titles of tool runs. Hooks keep these additions.
"""

from __future__ import annotations

from mdmem import plural
from mdmem.vault import DAYS, layout
from mdmem.vault.journal import PROJECT_PAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BEGIN, END = "<!-- mdmem:begin -->", "<!-- mdmem:end -->"
"""Markers around the generated part of a page."""
MARKS = (BEGIN, END)
NAVIGATION_MARK = "<!-- mdmem:nav -->"
"""Ends the line of a session's page that links to its project and the neighboring sessions."""
FOLDED_BEGIN, FOLDED_END = "<details>", "</details>"
"""Markers around the tool runs of a prompt on a session's page."""
PROMPTS = "## Prompts"
"""Heading of the list of prompts on a session's page."""
FILES = "## Files touched"
"""Heading of the list of files there."""
MAX_RUNS = 100
"""Maximum number of tool runs listed for one prompt."""
_REVIEWED = "<!-- reviewed "


def unmarked(text: str) -> str:
    """Return a note's text without a page's markers, navigation links and folded tool runs.

    Those are not words that anybody reads or searches for.
    """
    before, inner, after = parts_of(text)
    lines = bare(["", *inner.split("\n")])  # a blank line stays between a person's words and what follows
    return before + "\n".join(lines) + after


def outside(text: str) -> str:
    """Return a page's text without its generated part; any other text as it is."""
    before, _, after = parts_of(text)
    return before + after


def parts_of(text: str) -> tuple[str, str, str]:
    """Split a page at its markers, which are left out; a text that ends before the second one ends in the second part.

    Of any other text, all is in the first part.
    """
    begin, end = marks_in(text)
    if begin < 0:
        return text, "", ""
    stop = end if end >= 0 else len(text)
    return text[:begin], text[begin + len(BEGIN) : stop], text[stop + len(END) :]


def marks_in(text: str) -> tuple[int, int]:
    """Return where a page's markers begin, -1 for a missing one. The second one is looked for after the first.

    A marker is a whole line, so that a title or a prompt with a marker in it is only text.
    """
    begin = _line_in(text, BEGIN, 0)
    return begin, _line_in(text, END, max(begin, 0))


def _line_in(text: str, mark: str, start: int) -> int:
    """Return where the first line that is this mark begins, at or after `start`; -1 for none."""
    at = text.find(mark, start)
    while at >= 0:
        stop = text.find("\n", at) + 1 or None
        if text[at - 1 : at] in ("", "\n") and text[at:stop].rstrip() == mark:
            break
        at = text.find(mark, stop or len(text))  # after this line, which is another's
    return at


def lines_of(text: str) -> tuple[list[str], list[str], list[str]] | None:
    """Split a page into lines up to the first marker, between the markers, and from the second on; None unless both."""
    begin, end = marks_in(text)
    if min(begin, end) < 0:
        return None
    first = text.index("\n", begin) + 1
    return text[:first].split("\n")[:-1], text[first:end].split("\n")[:-1], text[end:].split("\n")


def replaced(data: bytes, lines: list[str]) -> bytes:
    """Replace the lines between a page's markers, using the page's line endings; without markers, change nothing."""
    cut = lines_of(data.decode("utf-8", "surrogateescape"))
    if cut is None:
        return data
    head, _, tail = cut
    ending = "\r" if head[-1].endswith("\r") else ""
    page = [*head, *[f"{line}{ending}" for line in lines], *tail]
    return "\n".join(page).encode("utf-8", "surrogateescape")


def inside(data: bytes) -> list[str]:
    """Return the lines between a page's markers."""
    cut = lines_of(data.decode("utf-8", "surrogateescape"))
    return [line.rstrip("\r") for line in cut[1]] if cut else []


def day_pages(root: str) -> dict[str, str]:
    """Return day -> path of a vault's day pages: `days/2026-09-14.md` or `days/2026/2026-09-14.md`."""
    years = sorted(name for name in layout.folders(f"{root}/{DAYS}") if len(name) == 4 and name.isdecimal())
    pages: dict[str, str] = {}
    for folder in (*(f"{DAYS}/{year}" for year in years), DAYS):
        names = (
            name for name in layout.names_on_disk(root, folder) if name.endswith(".md") and layout.is_day(name[:-3])
        )
        pages.update((name[:-3], f"{folder}/{name}") for name in names)
    return pages


def places_of_days(root: str, days: Iterable[str]) -> dict[str, str]:
    """Return day -> path of all day pages, including future pages of `days`, by year if the folder is crowded."""
    pages = day_pages(root)
    room = layout.MANY - sum(path.count("/") == 1 for path in pages.values())
    for day in sorted(set(days) - pages.keys()):
        by_year = room <= 0 and layout.is_day(day)
        pages[day] = f"{DAYS}/{day[:4]}/{day}.md" if by_year else f"{DAYS}/{day}.md"
        room -= 1
    return pages


def review_mark(when: str) -> str:
    """Return the line that shares the time of the last review with the vault's other machines."""
    return f"{_REVIEWED}{when} -->"


def last_review(lines: list[str]) -> str:
    """Return the time in the line of the last review, "" without one."""
    review = next((line for line in lines if line.startswith(_REVIEWED)), "")
    return review.removeprefix(_REVIEWED).partition(" ")[0]


ESCAPED = "\\[]`<*_&%~$="
"""Characters before which the text of a link on a page may have a backslash: see `page.link_text`."""


def unescaped(text: str) -> str:
    """Return the title of which `page.link_text` has made the text of a link."""
    signs = iter(text)
    pairs = ((sign, next(signs, "") if sign == "\\" else "") for sign in signs)
    return "".join([after if after and after in ESCAPED else sign + after for sign, after in pairs])


_ENCODED = {"%": "%25", "#": "%23", "?": "%3F"}
"""Characters that have a meaning in an address, and may be in a file name that a person chose; `%` is the first."""


def target(path: str) -> str:
    """Return a relative path as the target of a Markdown link; it may contain spaces or brackets."""
    for char, code in _ENCODED.items():
        path = path.replace(char, code)
    return f"<{path}>" if set(path) & set(" ()<>") else path


def path_of(written: str) -> str:
    """Return the path that `target` was given."""
    path = written.strip("<>")
    for char, code in reversed(_ENCODED.items()):
        path = path.replace(code, char)
    return path


# -- a session's page ------------------------------------------------------------------------------


def navigation(lines: list[str], folder: str) -> str:
    """Return the navigation line of a session's page, else a default that links only to the project.

    The default is used until upkeep knows the neighboring sessions.
    """
    first = f"[Project]({layout.to_project(folder)}/{PROJECT_PAGE}) {NAVIGATION_MARK}"
    return next((line for line in lines[:3] if line.endswith(NAVIGATION_MARK)), first)


def bare(lines: list[str]) -> list[str]:
    """Return the lines of a session's page without navigation line and folded tool runs."""
    remaining: list[str] = []
    is_folded = False
    for line in lines:
        word = line.strip()
        is_folded = is_folded or word.startswith(FOLDED_BEGIN)
        if not is_folded and not line.endswith(NAVIGATION_MARK):
            remaining.append(line)
        is_folded = is_folded and word != FOLDED_END
    return remaining[1:] if remaining and not remaining[0] else remaining


def runs(lines: list[str]) -> dict[str, str]:
    """Return file name -> line of the tool runs on a session's page."""
    return {
        path_of(line.rpartition("](")[2].rstrip(")")): line.strip()
        for line in lines
        if line.startswith(" ") and line.lstrip(" ").startswith("- ") and line.endswith(")")
    }


def with_runs(lines: list[str], links: str, listed: Mapping[str, tuple[list[str], int]]) -> list[str]:
    """Return a session's lines with the navigation line at the top, and folded tool runs below each prompt.

    listed: file name of a prompt -> the lines of its tool runs, and how many of them failed.
    """
    all_lines = [links, ""]
    for line in bare(lines):
        all_lines.append(line)
        if (name := prompt_in(line)) and name in listed:
            all_lines += _folded(indent(line.partition(".")[0]), *listed[name])
    return all_lines


def indent(number: int | str) -> str:
    """Return the indentation of lines below the prompt with this number, by which Markdown nests them in its item."""
    return " " * len(f"{number}. ")


def prompt_in(line: str) -> str:
    """Return the file name of the prompt that a line of a session's page lists; "" for other lines."""
    number, _, links = line.partition(". [")
    link, _, _ = links.partition(" → [")  # its answer's; a title has a backslash before such a bracket
    title, _, written = link.rpartition("](")
    name = written.partition(">" if written[:1] == "<" else ")")[0]
    return path_of(name) if number.isdigit() and title else ""


def with_prompts(lines: list[str], section: list[str]) -> list[str]:
    """Return a session page's lines, without navigation and tool runs, with a new list of prompts ([] for none)."""
    own_lines = bare(lines)
    heads = [at for at, line in enumerate(own_lines) if line.startswith("## ")]
    begin = next((at for at in heads if own_lines[at] == PROMPTS), heads[0] if heads else len(own_lines))
    end = (
        next((at for at in heads if at > begin), len(own_lines)) if own_lines[begin : begin + 1] == [PROMPTS] else begin
    )
    return ["", *own_lines[:begin], *section, *([""] if section else []), *own_lines[end:]]


def _folded(space: str, runs: list[str], failed: int) -> list[str]:
    count = f"{plural.number(len(runs), 'tool run')}{f', {failed} failed' if failed else ''}"
    listed = [f"{space}{line}" for line in runs[:MAX_RUNS]]
    omitted = [f"{space}- and {len(runs) - MAX_RUNS} more"] if len(runs) > MAX_RUNS else []
    return [f"{space}{FOLDED_BEGIN}<summary>{count}</summary>", "", *listed, *omitted, f"{space}{FOLDED_END}"]
