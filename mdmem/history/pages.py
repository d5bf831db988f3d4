"""Remove deleted or private notes from generated pages: their links and titles."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Container, Iterator
from contextlib import suppress

from mdmem.errors import UsageError, VaultError
from mdmem.vault import disk, editing, generated, journal, note, people, template


def without(root: str, path: str, data: bytes, names: Collection[str], marker: str) -> bytes:
    """Return a page without links to notes with these file names; `marker` replaces each."""
    unlinked = with_generated(data, links(names).sub(lambda _: marker.encode(), data))
    unlinked = _without_files(root, path, unlinked, names)
    return retitled(root, path, unlinked, _titles(root, path, names))


def _without_files(root: str, path: str, data: bytes, names: Collection[str]) -> bytes:
    """Return a page that does not list the files which only notes with these file names touched.

    A project's page lists none of theirs, as the other notes are not beside it.
    """
    lines = generated.inside(data)
    begin, end = files_listed(lines)
    touched = _files_of(root, path, names) if begin < end else set()
    if not touched.intersection(map(listed_file, lines[begin:end])):
        return data
    with suppress(OSError, VaultError), disk.open_parent(root, path) as folder:
        touched -= _files_of(root, path, set(journal.names_with_parts(folder)) - {*names, path.rpartition("/")[2]})
    listed = [line for line in lines[begin:end] if listed_file(line) not in touched]
    has_any = any(line.startswith("- ") for line in listed)
    return generated.replaced(data, [*lines[:begin], *(listed if has_any else ()), *lines[end:]])


def files_listed(lines: list[str]) -> tuple[int, int]:
    """Return the first line of a page's part that lists files, and the line after it: the same without any."""
    begin = next((at for at, line in enumerate(lines) if line.startswith(generated.FILES)), len(lines))
    return begin, next((at for at in range(begin + 1, len(lines)) if lines[at].startswith("## ")), len(lines))


def listed_file(line: str) -> str:
    """Return the file in a line of such a list, which may tell how often it was changed; "" for another line."""
    found = _LISTED.fullmatch(line)
    return (found[1] or found[2]) if found else ""


_LISTED = re.compile(r"- (?:`` (.+) ``|`([^`]+)`)(?: ×\d+)?")


def _files_of(root: str, path: str, names: Collection[str]) -> set[str]:
    """Return the files in the front matter of notes beside a page, as the page writes them."""
    folder = path.rpartition("/")[0]
    read = (note.load(root, f"{folder}/{name}").meta.get("files") for name in names)
    return {note.one_line(str(file), 300) for files in read if isinstance(files, list) for file in files}


def retitled(root: str, path: str, data: bytes, titles: Collection[str]) -> bytes:
    """Return a page with a new title if its title is one of these, which must not be shown."""
    meta = note.parse(data).meta
    old = str(meta.get("title") or "")
    if not old or old not in titles:
        return data
    new = _first_title(root, path, titles) or journal.untitled(str(meta.get("created", "")))
    try:
        also = {"aliases": [new]} if meta.get("aliases") == [old] else {}
        changed = editing.set_keys(data, {"title": new, **also})
    except UsageError:
        return data  # edited by hand, no longer valid front matter
    heading = re.compile(rb"(?m)^# %b(?=\r?$)" % re.escape(old.encode("utf-8", "surrogateescape")))
    return heading.sub(lambda _: b"# " + new.encode(), changed, count=1)


def links(names: Collection[str]) -> re.Pattern[bytes]:
    """Return a pattern for page links to notes with these file names; without names it matches nothing."""
    if not names:
        return re.compile(rb"(?!)")
    listed = b"|".join(map(_either, sorted(names)))
    return re.compile(rb"\[(?:\\.|[^\]\\\n])*\]\(<?(?:%b)>?\)" % listed)


def links_to(place: str) -> re.Pattern[bytes]:
    """Return a pattern for links, on any page of the vault, to this file or to anything in this folder."""
    *above, name = map(_either, place.split("/"))
    beside = b""
    for folder in above:
        beside = b"(?:%b%b/)?" % (beside, folder)
    whole = b"".join(b"%b/" % folder for folder in above)
    return re.compile(
        rb"\[(?:\\.|[^\]\\\n])*\]\(<?(?:(?:\.\./)*%b|(?:\.\./)+%b)%b(?:/[^()<>\n]*)?>?\)" % (whole, beside, name)
    )


def _either(name: str) -> bytes:
    """Return a pattern for a name, as it is and as the target of a link."""
    forms = dict.fromkeys((name, generated.target(name).strip("<>")))
    return b"(?:%b)" % b"|".join(re.escape(form.encode("utf-8", "surrogateescape")) for form in forms)


def unlisted(path: str, data: bytes, gone: Container[str]) -> bytes:
    """Return a page whose generated part no longer links to these paths: it drops the lines with such a link.

    From the navigation line only the links themselves are dropped.
    """
    lines = generated.inside(data)
    folder = path.rpartition("/")[0]
    shortened = (_without_links(line, folder, gone) for line in lines)
    remaining = [line for line in shortened if line is not None]
    return generated.replaced(data, remaining) if remaining != lines else data


TARGET = re.compile(r"(?<!\\)((?:\\\\)*\])\((?:<([^<>\n]+)>|([^()<>\s]+))\)")
"""The end of a link's text on a generated page, which may be backslashes, and its target, in either syntax."""
_BETWEEN = " · "


def targets(line: str) -> Iterator[str]:
    """Yield the paths that the links in a line lead to."""
    return (generated.path_of(match[2] or match[3]) for match in TARGET.finditer(line))


def _without_links(line: str, folder: str, gone: Container[str]) -> str | None:
    """Return a line without links to `gone`; None when nothing is left."""
    if not any(posixpath.normpath(posixpath.join(folder, target)) in gone for target in targets(line)):
        return line
    mark = generated.NAVIGATION_MARK if line.endswith(generated.NAVIGATION_MARK) else ""
    if not mark or _BETWEEN not in line:
        return mark or None
    parts = line.removesuffix(mark).rstrip().split(_BETWEEN)
    remaining = [part for part in parts if _without_links(part, folder, gone) is not None]
    return f"{_BETWEEN.join(remaining)} {mark}".lstrip()


_PAGE_KEYS = note.OF_CAPTURE | {"aliases", "started", "ended", "identity", "root"}


def is_worded(root: str, data: bytes) -> bool:
    """Whether a person has written on a page outside its generated part, or removed the markers of that part.

    Signs are other front matter keys, other tags or aliases, and lines that no template has.
    """
    parsed = note.parse(data)
    kind = "project" if parsed.meta.get("kind") == "project" else "session"
    cut = generated.lines_of(parsed.body)
    if cut is None or set(parsed.meta) - _PAGE_KEYS or parsed.meta.get("tags", [kind]) != [kind]:
        return True
    title = parsed.fact("title")
    if parsed.meta.get("aliases", [title]) != [title]:
        return True
    own_lines = {line.strip() for line in (*cut[0], *cut[2])} - set(generated.MARKS)
    templates = (template.load(f"notes/{kind}.md", vault) for vault in (root, ""))
    filled = (template.fill(text, {"title": title, "page": ""}) for text in templates)
    return bool(own_lines - {"", *(line.strip() for text in filled for line in text.split("\n"))})


def with_generated(data: bytes, other: bytes) -> bytes:
    """Return a page with the generated part of another version of it; everything else stays."""
    cut, other_cut = (generated.lines_of(page.decode("utf-8", "surrogateescape")) for page in (data, other))
    if cut is None or other_cut is None:
        return data
    return "\n".join([*cut[0], *other_cut[1], *cut[2]]).encode("utf-8", "surrogateescape")


def _titles(root: str, path: str, names: Collection[str]) -> set[str]:
    folder = f"{path.rpartition('/')[0]}/"
    read = (note.load(root, folder + name).meta for name in names if _gives_title(name))
    return {str(meta.get("title", "")) for meta in read}


def _first_title(root: str, path: str, unwanted: Collection[str]) -> str:
    """Return the title of the session's first prompt that may be shown, else of its first such answer."""
    with suppress(OSError, VaultError), disk.open_parent(root, path) as folder:
        names = sorted(filter(_gives_title, journal.names_with_parts(folder)), key=journal.numbers)
        for name in sorted(names, key=lambda name: "-prompt-" not in name):
            meta = note.parse(disk.read(folder, name) or b"").meta
            title = str(meta.get("title", ""))
            if title not in unwanted and not people.stays_here(meta):
                return title
    return ""


def _gives_title(name: str) -> bool:
    return "-prompt-" in name or "-response-" in name
