"""The part of a page that mdmem keeps up to date, between two markers; everything outside it is a person's.

On a session's page the hooks write that part. What needs other notes to be read, upkeep adds to it later: the links to
the sessions around it, and the titles of tool runs. Hooks keep what upkeep wrote.
"""

from __future__ import annotations

from mdmem.vault import layout
from mdmem.vault.journal import FOLDED_BEGIN, FOLDED_END, NAVIGATION_MARK, PAGE_MARKS, PROJECT_PAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BEGIN, END = PAGE_MARKS
DAYS = "days"
"""The folder of the pages of days, across all projects."""
PROMPTS = "## Prompts"
"""The heading of a session's list of prompts."""
INDENT = "   "
"""What belongs to a prompt of the list is indented so far."""
MAX_RUNS = 100
"""Maximum number of runs that are listed for one prompt."""
_REVIEWED = "<!-- reviewed "


def lines_of(text: str) -> tuple[list[str], list[str], list[str]] | None:
    """Cut a page into the lines up to the first marker, those between, and those from the second; None without both.

    A marker is a line of its own, so that a title or a prompt that holds one is only text.
    """
    lines = text.split("\n")
    bare = [line.rstrip() for line in lines]
    if BEGIN not in bare or END not in bare[bare.index(BEGIN) :]:
        return None
    begin = bare.index(BEGIN)
    end = bare.index(END, begin)
    return lines[: begin + 1], lines[begin + 1 : end], lines[end:]


def replaced(data: bytes, inside: list[str]) -> bytes:
    """Return a page with these lines between its markers, with the page's line ends; without markers, as it is."""
    cut = lines_of(data.decode("utf-8", "surrogateescape"))
    if cut is None:
        return data
    head, _, tail = cut
    ending = "\r" if head[-1].endswith("\r") else ""
    made = [*head, *[f"{line}{ending}" for line in inside], *tail]
    return "\n".join(made).encode("utf-8", "surrogateescape")


def inside(data: bytes) -> list[str]:
    """Return the lines between the markers of a page, without their ends."""
    cut = lines_of(data.decode("utf-8", "surrogateescape"))
    return [line.rstrip("\r") for line in cut[1]] if cut else []


def day_pages(root: str) -> dict[str, str]:
    """Return the paths of a vault's day pages, by day: `days/2026-09-14.md` or `days/2026/2026-09-14.md`."""
    years = sorted(name for name in layout.folders(f"{root}/{DAYS}") if len(name) == 4 and name.isdecimal())
    found: dict[str, str] = {}
    for folder in (*(f"{DAYS}/{year}" for year in years), DAYS):
        names = (name for name in layout.named_in(root, folder) if name.endswith(".md") and layout.is_day(name[:-3]))
        found.update((name[:-3], f"{folder}/{name}") for name in names)
    return found


def places_of_days(root: str, days: Iterable[str]) -> dict[str, str]:
    """Return where the pages of days lie, and those of these days will: by year once the folder of days holds many."""
    found = day_pages(root)
    room = layout.MANY - sum(path.count("/") == 1 for path in found.values())
    for day in sorted(set(days) - found.keys()):
        by_year = room <= 0 and layout.is_day(day)
        found[day] = f"{DAYS}/{day[:4]}/{day}.md" if by_year else f"{DAYS}/{day}.md"
        room -= 1
    return found


def review_mark(when: str) -> str:
    """Return the line that brings the time of the last review, as notes have it, to the vault's other machines."""
    return f"{_REVIEWED}{when} -->"


def last_review(lines: list[str]) -> str:
    """Return the time that the mark of the last review names; "" without one."""
    found = next((line for line in lines if line.startswith(_REVIEWED)), "")
    return found.removeprefix(_REVIEWED).partition(" ")[0]


# -- a session's page ------------------------------------------------------------------------------


def navigation(lines: list[str], folder: str) -> str:
    """Return the line of links that the page of a session's folder has, else the one that it begins with.

    That one leads to the project only, before upkeep knows the sessions around it.
    """
    first = f"[Project]({layout.to_project(folder)}/{PROJECT_PAGE}) {NAVIGATION_MARK}"
    return next((line for line in lines[:3] if line.endswith(NAVIGATION_MARK)), first)


def bare(lines: list[str]) -> list[str]:
    """Return the lines of a session's page without its links and its folded runs."""
    kept: list[str] = []
    is_folded = False
    for line in lines:
        word = line.strip()
        is_folded = is_folded or word.startswith(FOLDED_BEGIN)
        if not is_folded and not line.endswith(NAVIGATION_MARK):
            kept.append(line)
        is_folded = is_folded and word != FOLDED_END
    return kept[1:] if kept and not kept[0] else kept


def runs(lines: list[str]) -> dict[str, str]:
    """Return the lines of tool runs that a session's page has, by the names of their files."""
    return {
        line.rpartition("](")[2].rstrip(")").strip("<>"): line.strip()
        for line in lines
        if line.startswith(f"{INDENT}- ") and line.endswith(")")
    }


def with_runs(lines: list[str], links: str, listed: Mapping[str, tuple[list[str], int]]) -> list[str]:
    """Return a session's lines with its links at the top, and below each prompt its runs, folded.

    listed: for the name of a prompt's file the lines of its runs, and how many of them failed.
    """
    made = [links, ""]
    for line in bare(lines):
        made.append(line)
        if (name := prompt_in(line)) and name in listed:
            made += _folded(*listed[name])
    return made


def prompt_in(line: str) -> str:
    """Return the name of the file of the prompt that a line of a session's page lists; "" for other lines."""
    number, _, rest = line.partition(". [")
    target = rest.partition("](")[2]
    if not number.isdigit() or not target:
        return ""
    return target[1:].partition(">")[0] if target[0] == "<" else target.partition(")")[0]


def with_prompts(lines: list[str], section: list[str]) -> list[str]:
    """Return the lines of a session's page, without its links and runs, with another list of prompts, [] for none."""
    found = bare(lines)
    heads = [at for at, line in enumerate(found) if line.startswith("## ")]
    begin = next((at for at in heads if found[at] == PROMPTS), heads[0] if heads else len(found))
    end = next((at for at in heads if at > begin), len(found)) if found[begin : begin + 1] == [PROMPTS] else begin
    return ["", *found[:begin], *section, *([""] if section else []), *found[end:]]


def _folded(found: list[str], failed: int) -> list[str]:
    count = f"{len(found)} tool {'run' if len(found) == 1 else 'runs'}{f', {failed} failed' if failed else ''}"
    shown = [f"{INDENT}{line}" for line in found[:MAX_RUNS]]
    more = [f"{INDENT}- and {len(found) - MAX_RUNS} more"] if len(found) > MAX_RUNS else []
    return [f"{INDENT}{FOLDED_BEGIN}<summary>{count}</summary>", "", *shown, *more, f"{INDENT}{FOLDED_END}"]
