"""Searches: what is stored of a tool run that searches; rows of `table.TOOLS`."""

from __future__ import annotations

from mdmem.capture.tools.body import Part, inline, link
from mdmem.capture.tools.run import RunFacts, answer, few, items, mapping, number, path, paths, short, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.capture.tools.run import Run

_MAX_PARSED_CHARS = 256 * 1024
_MAX_SHOWN_LINES = 10  # maximum number of line numbers listed per file


def glob(run: Run) -> RunFacts:
    """Describe a search for file names: the files found."""
    pattern = text(run.input, "pattern")
    filenames = run.result.get("filenames")
    output = answer(run.response)
    listed_names = filenames if isinstance(filenames, list) else _path_lines(output)
    names = paths(run, listed_names)
    total = number(run.result, "totalMatches", "numFiles")
    total = _stated_counts(output)[1] if total is None else total
    if listed_names or isinstance(filenames, list):
        total = max(len(listed_names) if total is None else total, len(names))
    meta = {"files": few(names), "pattern": short(pattern, 200), "matches": total}
    about = short(pattern, 80)
    listed = Part(items=names, total=total or len(names)) if names else _nothing(run, total)
    return RunFacts(f"Glob {about}{_count_text(None, total)}", about, meta, [listed])


def _nothing(run: Run, count: int | None) -> Part:
    return Part(lines=["Nothing was found."] if run.failure is None and count == 0 else [])


def _count_text(matches: int | None, files: int | None) -> str:
    """Return a title's suffix with the number of results, or "" if the agent did not say."""
    if matches is None and files is None:
        return ""
    return f" ({_count(matches, 'match', 'es') if matches is not None else _count(files or 0, 'file')})"


def _path_lines(output: str) -> list[Any]:
    """Return the lines of a response that look like paths rather than sentences."""
    lines = output[:_MAX_PARSED_CHARS].split("\n")
    plain = [line for line in lines if line and line[0] not in " (" and line[-1] not in ":." and " found" not in line]
    return [line for line in plain if _stated_counts(line) == (None, None)]


def _stated_counts(output: str) -> tuple[int | None, int | None]:
    """Return the numbers of matches and files a response begins with, as in "Found 15 matches in 8 files"."""
    first = output[:400].strip().partition("\n")[0].lower()
    if first.startswith(("no matches", "no files", "no results", "no match")):
        return 0, 0
    if not first.startswith("found ") and " found" not in first:
        return None, None
    words = first.replace(",", "").replace("(", " ").split()
    counts: dict[str, int] = {}
    for place, count in enumerate(words[:-1]):
        what = words[place + 1]
        if count.isascii() and count.isdecimal() and len(count) < 10:
            counts.setdefault(what[:5], int(count))
    return counts.get("match", counts.get("resul")), counts.get("files", counts.get("file"))


def grep(run: Run) -> RunFacts:
    """Describe a search in files: each file found, with the number of matching lines and their line numbers."""
    pattern, searched = text(run.input, "pattern"), text(run.input, "path")
    content = text(run.result, "content") or ("" if run.result.get("filenames") else answer(run.response))
    counted = run.result.get("mode") == "count" or run.input.get("output_mode") == "count"
    hits = _counts(content) if counted else _hits(content, searched)
    filenames = [name for name in items(run.result.get("filenames")) if isinstance(name, str)]
    said_matches, said_files = _stated_counts(content)
    if not hits and not filenames and run.input.get("output_mode") != "content":
        filenames = [line for line in _path_lines(content) if _is_path(line)]
    files_found = list(dict.fromkeys([*filenames, *hits]))
    reported = number(run.result, "totalFiles", "numFiles")
    files = said_files if reported is None else reported
    if files_found or filenames:
        files = max(files or 0, len(files_found))
    matches = said_matches or number(run.result, "numMatches") or _matches(run, content, hits)
    shown_hits = [_hit_line(run, name, hits.get(name)) for name in files_found[: run.limits.max_files]]
    about = f'"{short(pattern, 60)}"' + (f" in {path(run, searched)}" if searched else "")
    meta = {
        "files": few(paths(run, files_found) or ([path(run, searched)] if searched else [])),
        "pattern": short(pattern, 200),
        "matches": files if matches is None else matches,
    }
    count = _count_text(matches if matches and not filenames else None, files)
    listed = (
        Part(items=shown_hits, total=files or 0)
        if files_found
        else Part(text=content)
        if content
        else _nothing(run, files)
    )
    return RunFacts(f"Grep {about}{count}", f"{short(pattern, 60)} {searched}", meta, [listed])


def _matches(run: Run, content: str, hits: dict[str, _Hit]) -> int | None:
    """Return the number of matching lines: those that were read or, if the middle was taken out, all reported."""
    read, reported = sum([hit.count for hit in hits.values()]), number(run.result, "numLines")
    return max(read, reported or 0) if "\n\n" in content else read or reported


class _Hit:
    """A file's matching lines: how many, and their first line numbers."""

    __slots__ = ("count", "numbers")

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.numbers: list[str] = []


def _counts(content: str) -> dict[str, _Hit]:
    """Parse `path:count` lines."""
    hits: dict[str, _Hit] = {}
    for line in content[:_MAX_PARSED_CHARS].split("\n"):
        name, _, count = line.rpartition(":")
        if name and count.isascii() and count.isdecimal() and len(count) < 10:
            hits[name] = _Hit(int(count))
    return hits


def _hits(content: str, searched: str) -> dict[str, _Hit]:
    """Parse `path:number:text` lines; `number:text` belongs to the one file that was searched.

    Some agents print the path on its own line, followed by `L4: text` or `Line 4: text`; some leave the number out.
    Context lines (`path-number-text`) and anything else are skipped.
    """
    hits: dict[str, _Hit] = {}
    heading = ""
    for line in content[:_MAX_PARSED_CHARS].split("\n"):
        drive = 2 if line[1:3] in (":\\", ":/") else 0
        name, colon, after_colon = line[drive:].partition(":")
        place, second, _ = after_colon.partition(":")
        line_number = name.strip().removeprefix("Line ").removeprefix("L")
        if _is_line_number(name) and not drive:
            name, place, second = searched, name, ":"
        elif heading and colon and _is_line_number(line_number):
            name, place, second = heading, line_number, ":"
        elif name == "File" or (not after_colon.strip() and _is_path(name)):
            heading = after_colon.strip() or line[:drive] + name
            continue
        elif colon and after_colon.strip() and not _is_line_number(place) and _is_path(line[:drive] + name):
            hits.setdefault(line[:drive] + name, _Hit()).count += 1
            continue
        if second and name and _is_line_number(place):
            hit = hits.setdefault((line[:drive] if name != heading else "") + name, _Hit())
            hit.count += 1
            hit.numbers.append(place)
    return hits


def _is_path(name: str) -> bool:
    """Whether a word can only be a path: it has a slash or an extension, and no characters of sentences or code."""
    return (
        bool(name)
        and name[0] not in " -#"
        and not set(name) & set(" \"'`(){}<>,=")
        and ("/" in name or "\\" in name or "." in name[1:-1])
    )


def _is_line_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 9


def _hit_line(run: Run, name: str, hit: _Hit | None) -> str:
    if not hit:
        return path(run, name)
    numbers = ", ".join(hit.numbers[:_MAX_SHOWN_LINES]) + ", …" * (len(hit.numbers) > _MAX_SHOWN_LINES)
    lines = f" (line{'s' * (hit.count > 1)} {numbers})" if numbers else ""
    return f"{path(run, name)}: {_count(hit.count, 'match', 'es')}{lines}"


def _count(count: int, what: str, plural: str = "s") -> str:
    return f"{count:,} {what}{plural if count != 1 else ''}"


def web_fetch(run: Run) -> RunFacts:
    """Describe a fetched page: what was asked of it, and the start of the answer."""
    url = text(run.input, "url") or text(run.result, "url")
    status = number(run.result, "code", "status")
    about = short(url.removeprefix("https://").removeprefix("http://"), 100)
    size = number(run.result, "bytes")
    remarks = [
        link(url) if url else "",
        inline(text(run.input, "prompt")),
        f"{size:,} bytes were fetched." if size else "",
    ]
    result = answer(run.response) if run.limits.fetch_chars else ""
    paragraphs = "\n\n".join(filter(None, remarks)).split("\n")
    parts = [Part(lines=paragraphs), Part("Result", result, "markdown", chars=run.limits.fetch_chars)]
    title = f"WebFetch {about}" + (f" ({status})" if status not in (None, 200) else "")
    return RunFacts(title, about, {"url": short(url, 500), "status": status}, parts)


def web_search(run: Run) -> RunFacts:
    """Describe a web search: the pages found, and the summary."""
    query = text(run.input, "query") or text(run.result, "query")
    links: list[str] = []
    summaries: list[str] = []
    for result in items(run.result.get("results")):
        if isinstance(result, str):
            summaries.append(result)
        for page in items(mapping(result).get("content")) or [result]:
            url, title = text(page, "url"), text(page, "title")
            if url or title:
                links.append(f"- {': '.join(filter(None, [inline(title, 200), link(url) if url else '']))}")
    summary = "\n\n".join(summaries) or ("" if links else answer(run.response))
    meta = {"pattern": short(query, 200), "matches": len(links) if "results" in run.result else None}
    about = short(query, 90)
    count = f" ({_count(len(links), 'page')})" if links else ""
    parts = [Part(lines=links), Part("Summary", summary, "markdown")]
    return RunFacts(f'WebSearch "{about}"{count}', about, meta, parts)
