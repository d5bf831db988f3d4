"""Merge a note that was changed on two machines, without losing anything of either."""

from __future__ import annotations

from typing import Any, NamedTuple

from mdmem import timestamps
from mdmem.errors import UsageError
from mdmem.history.git.repository import Repository
from mdmem.history.merging import merge
from mdmem.history.merging.merge import KeptBoth
from mdmem.lazy_pattern import lazy
from mdmem.vault import (
    DAYS,
    disk,
    editing,
    followed_copies,
    front_matter,
    generated,
    is_in_journal,
    journal,
    note,
    people,
)

LISTS = (".gitignore", ".gitattributes", "CODEOWNERS")
"""Files that are lists of lines, where a surplus line does no harm."""

LATEST_WINS = frozenset(["ended", "updated", "reviewed", "accepted", "version"])

MADE_TWICE = front_matter.EARLIEST_WINS | {"title", "aliases", "project"}
"""Keys whose smaller value, or earlier time, wins in a page that two machines made, each after its own first prompt."""

INTERNAL = "internal/"
"""Folder of the memories of ghosts and agents."""

OTHER = "_other"
"""Suffix of the front matter key that holds the other side's value."""


class Both(NamedTuple):
    """A merged note. kept, keys: places and front matter keys that now have two versions, to choose from."""

    data: bytes
    kept: tuple[KeptBoth, ...] = ()
    keys: tuple[str, ...] = ()


def merge_note(repo: Repository, path: str, ours: bytes, base: bytes | None, theirs: bytes) -> Both | None:
    """Merge two versions of a note: front matter by key, body by line.

    base: the common ancestor; None when each side made the note.

    Return None for a file that is not text, cannot be merged, or whose front matter has no clear end: keeping two
    versions of a place could break it, so the caller keeps both files.
    """
    if not path.endswith(disk.NOTE_ENDINGS):
        return _merge_other(repo, path, ours, base or b"", theirs)
    ends = [text[: text.find(b"\n") + 1].endswith(b"\r\n") for text in (ours, base or b"", theirs)]
    if any(ends):  # git writes them where it converts line ends, as on Windows
        plain = [text and text.replace(b"\r\n", b"\n") for text in (ours, base, theirs)]
        merged = merge_note(repo, path, plain[0] or b"", plain[1], plain[2] or b"")
        is_kept = merged and ends[0] and ends[2]
        return merged._replace(data=merged.data.replace(b"\n", b"\r\n")) if merged and is_kept else merged
    if None in map(_text, (ours, base or b"", theirs)):
        return None
    if base and journal.is_page(path):
        ours, theirs = _with_one_title(ours, base, theirs)
    is_ahead = followed_copies.is_ahead(ours, theirs)
    sides = [_split(text) for text in _with_one_generated_part(ours, base or b"", theirs)]
    heads = _Heads(*(_entries(head) for head, _ in sides))
    is_written = _is_written_by_mdmem(path)
    earliest = (front_matter.EARLIEST_WINS if base else MADE_TWICE) if is_written else frozenset[str]()
    if not base and is_in_journal(path):  # one session, imported on two machines, with its project in other folders
        earliest |= front_matter.EARLIEST_WINS
    newest = _newest(path, heads) if is_ahead is None else heads.ours if is_ahead else heads.theirs
    head, keys = _merge_heads(heads, earliest, newest=newest)
    front = f"---\n{head}---\n".encode() if head else b""
    bodies = [body for _, body in sides]
    if is_ahead is not None:
        return Both(_as_followed_copy(front, bodies[0] if is_ahead else bodies[2], ours, theirs))
    (our, was, their), gap = _without_gap(*bodies)
    if journal.is_page(path) and not base:  # made on two machines, each after its own first prompt
        our, their = (_headed(body, side, head) for body, side in ((our, heads.ours), (their, heads.theirs)))
    # On a generated page, lines that both sides changed are both kept without a mark.
    body = merge.three_way(repo, our.encode(), was.encode(), their.encode(), union=is_written, added=base is not None)
    above = (front + gap).count(b"\n")
    kept = (KeptBoth(*((first + above, last + above) for first, last in place)) for place in body.kept)
    return Both(front + gap + body.data, tuple(kept), keys)


def merge_uncommitted(
    repo: Repository, path: str, now: bytes | None, before: bytes | None, after: bytes | None
) -> Both | None:
    """Merge uncommitted changes into a fetched file; None when they cannot be merged, or the file is deleted here."""
    if now is None or after is None:
        return Both(now) if now is not None else None  # changed here meanwhile: newer than what was fetched
    return merge_note(repo, path, now, before, after)


def _merge_other(repo: Repository, path: str, ours: bytes, base: bytes, theirs: bytes) -> Both | None:
    """Merge two versions of a file that is not Markdown; None when it is not text or both changed the same lines."""
    if None in (_text(ours), _text(theirs)):
        return None
    merged = merge.three_way(repo, ours, base, theirs, union=path.rpartition("/")[2] in LISTS)
    return None if merged.kept else Both(merged.data)


def _is_written_by_mdmem(path: str) -> bool:
    """Whether a path is that of a project's, a session's or a day's page."""
    is_project = path.rpartition("/")[2] == journal.PROJECT_PAGE
    return is_project or journal.is_page(path) or path.startswith(f"{DAYS}/")


def _with_one_generated_part(ours: bytes, base: bytes, theirs: bytes) -> list[str]:
    """Decode three versions of a note and give them the same generated part, which is rebuilt later.

    Only its line on the last review has no other source: the part with the later review is used.
    """
    sides = (generated.inside(ours), generated.inside(theirs))
    latest = max(sides, key=lambda lines: timestamps.epoch(generated.last_review(lines)))
    return [_text(generated.replaced(data, latest)) or "" for data in (ours, base, theirs)]


def _headed(body: str, side: dict[str, str], head: str) -> str:
    """Replace the heading of a side's body, its title, by the merged title."""
    old_title, new_title = (_value(entries.get("title", ""), "title") or "" for entries in (side, _entries(head)))
    return body.replace(f"# {old_title}\n", f"# {new_title}\n", 1)


def _as_followed_copy(front: bytes, body: str, ours: bytes, theirs: bytes) -> bytes:
    """Return a followed file's note with one side's text; if a person has edited that, record the other's digest."""
    sides = [note.parse(side) for side in (ours, theirs)]
    edited, other = sorted(sides, key=followed_copies.is_edited, reverse=True)
    keys = {followed_copies.DIGEST: edited.meta[followed_copies.DIGEST]}
    keys[followed_copies.CONFLICT] = other.meta[followed_copies.DIGEST]
    data = front + body.encode()
    return editing.set_keys(data, keys) if followed_copies.is_edited(edited) else data


def _with_one_title(ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, bytes]:
    """Set the same title in both versions of a session's page, when each got a new one and no person chose either.

    A generated title is that of the first prompt left, or a date, and is also the page's only alias.
    """
    metas = [note.parse(data).meta for data in (ours, base, theirs)]
    our, was, their = (str(meta.get("title", "")) for meta in metas)
    generated_titles = [
        title for meta, title in zip(metas, (our, was, their), strict=True) if meta.get("aliases") == [title]
    ]
    if was in (our, their) or our == their or not {our, their}.intersection(generated_titles):
        return ours, theirs
    new = min((our, their), key=lambda title: (title in generated_titles, title.startswith("Session of "), title))
    return _retitled(ours, our, new), _retitled(theirs, their, new)


def _retitled(data: bytes, old: str, new: str) -> bytes:
    if old == new:
        return data
    try:
        changed = editing.set_keys(data, {"title": new, "aliases": [new]})
    except UsageError:
        return data
    return changed.replace(f"# {old}\n".encode(), f"# {new}\n".encode(), 1)


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    _, _, problem = front_matter.split(text)
    return None if problem or text.startswith("\ufeff") or "\0" in text else text


def _split(text: str) -> tuple[str, str]:
    """Split a text into its front matter, without fences, and the rest."""
    start, end, below = front_matter.span(text) or (0, 0, 0)
    return text[start:end], text[below:]


def _without_gap(ours: str, base: str, theirs: str) -> tuple[list[str], bytes]:
    """Remove the blank line after the front matter from three bodies; return it if the merged note has one."""
    bodies = (ours, base, theirs)
    has_gap = [body.startswith("\n") for body in bodies]
    gap = has_gap[2] if has_gap[0] == has_gap[1] else has_gap[0]
    return [body.removeprefix("\n") for body in bodies], b"\n" * gap


def _entries(head: str) -> dict[str, str]:
    """Split front matter into key -> all its lines; a comment belongs to the key above it."""
    entries: dict[str, str] = {}
    key = ""
    for line in head.splitlines(keepends=True):
        if line[0] not in " \t#-\n" and ":" in line:
            key = line.partition(":")[0]
        entries[key] = entries.get(key, "") + line
    return entries


class _Heads(NamedTuple):
    """Front matter of three versions of a note, as key -> lines."""

    ours: dict[str, str]
    base: dict[str, str]
    theirs: dict[str, str]


def _newest(path: str, heads: _Heads) -> dict[str, str]:
    """Return the later updated side of an internal memory, {} for other notes: no person is there to choose."""
    if not path.startswith(INTERNAL):
        return {}
    return max(
        heads.ours, heads.theirs, key=lambda side: (_sort_key("updated", side.get("updated", "")), sorted(side.items()))
    )


def _merge_heads(heads: _Heads, earliest: frozenset[str], *, newest: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """Merge front matter key by key; return it, and the keys with two values that a person has to choose from.

    earliest: keys whose smaller value, or earlier time, wins. newest: the side that wins where both changed a key.
    """
    merged: dict[str, str] = {}
    others: dict[str, str] = {}
    for key in [*heads.ours, *(key for key in heads.theirs if key not in heads.ours)]:
        our, was, their = (side.get(key) for side in heads)
        if our == their or their == was:
            merged[key] = our or ""
        elif our == was:
            merged[key] = their or ""
        elif our is None or their is None:
            merged[key] = our or their or ""
        elif key in earliest:
            merged[key] = min(our, their, key=lambda text: (front_matter.earliest_key(str(_value(text, key))), text))
        elif not key:  # comments above the first key
            merged[key] = "".join(dict.fromkeys((min(our, their) + max(our, their)).splitlines(keepends=True)))
        else:
            merged[key], other = _merge_entry(key, our, was or "", their, newest.get(key, ""))
            if other:
                others[key] = other
    return _with_others(merged, others), tuple(others)


def _with_others(merged: dict[str, str], others: dict[str, str]) -> str:
    """Write front matter; below each key with an unchosen value, that value under a key of its own."""
    lines: list[str] = []
    for key, entry in merged.items():
        name = _other_key(key) if key in others else ""
        if name and name in merged:  # an earlier one is undecided
            known = _value(merged[name], name)
            values = [*(known if isinstance(known, list) else [known]), _value(others[key], key)]
            merged[name] = front_matter.line(name, list(_as_written(values).values())) + "\n"
        more = others[key].replace(key, name, 1) if name and name not in merged else ""
        lines.append(entry + more)
    return "".join(lines)


def _other_key(key: str) -> str:
    return f"{key[:-1]}{OTHER}{key[-1]}" if key[-1] in "\"'" else key + OTHER


def _merge_entry(key: str, our: str, was: str, their: str, newest: str) -> tuple[str, str]:
    """Merge two values of one key; when both sides changed a text, return the two, sorted, one that is private first.

    Lists get what either side added and lose what either side removed; of times and numbers, the later one wins.
    """
    one, base, other = (_value(text, key) for text in (our, was, their))
    if isinstance(one, list) and isinstance(other, list):
        before = _as_written(base) if isinstance(base, list) else {}
        sides = [_as_written(side) for side in (one, other)]
        items = (sides[0] | sides[1]).items()
        kept = [item for text, item in items if text not in before or all(text in side for side in sides)]
        return front_matter.line(key, kept) + "\n", ""
    latest = max(our, their, key=lambda text: _sort_key(key, text))
    if key in LATEST_WINS and _sort_key(key, latest)[0] > 0:
        return latest, ""
    if key in front_matter.TIMES and _sort_key(key, our)[0] == _sort_key(key, their)[0] > 0:
        return min(our, their), ""  # the same moment, written in two zones
    if newest:
        return newest, ""
    if key.endswith(OTHER):  # unchosen values of both sides
        values = [value for side in (one, other) for value in (side if isinstance(side, list) else [side])]
        return front_matter.line(key, [value for _, value in sorted(_as_written(values).items())]) + "\n", ""
    first, second = sorted((our, their), key=lambda text: (not people.stays_here(front_matter.read(text)[0]), text))
    return first, second


def _as_written(values: list[Any]) -> dict[str, Any]:
    """Return distinct values, each by the text that front matter has of it: a value may be a list, as `[[a]]` is."""
    return {front_matter.line("", value): value for value in values}


_DATE = lazy(r"\W*(\d{4})[-/.](\d\d)[-/.](\d\d)(?:[T ]+(\d\d:\d\d)(:\d\d)?)?")
"""A day, perhaps with a time, as people and their editors write it: `2026-09-14 08:00`, `[[2026-09-14]]`."""


def _sort_key(key: str, entry: str) -> tuple[float, str]:
    """Return a sort key for times and numbers: the value, 0 for other text, then the text."""
    value = _value(entry, key)
    if isinstance(value, (int, float)):
        return float(value), entry
    moment = timestamps.epoch(str(value))
    if not moment and (date := _DATE.match(str(value))):
        year, month, day, minute, second = date.groups()
        moment = timestamps.epoch(f"{year}-{month}-{day}T{minute or '00:00'}{second or ':00'}Z")
    return moment, entry


def _value(entry: str, key: str) -> Any:
    return front_matter.read(entry)[0].get(key)
