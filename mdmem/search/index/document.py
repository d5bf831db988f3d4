"""Document: what is indexed of a note: words in four fields, facets to filter by, facts to show.

This works for any markdown file. Front matter that mdmem did not write is used as it is: strings as words, dates as
dates. Missing facts are taken from the path, the first heading, or the file's mtime.
"""

from __future__ import annotations

import zlib
from datetime import date
from functools import lru_cache

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple
from mdmem.search import runs, staged
from mdmem.search.asking import corrections
from mdmem.search.index import layout
from mdmem.search.index.layout import FLAGS, KIND_STEP, KINDS, MAX_NS, SKETCH_SIZE, TEXT_FIELDS, IndexRow
from mdmem.search.text import analysis, entities, undone, wordings
from mdmem.vault import creation, disk, front_matter, generated, links, note, people, titles
from mdmem.vault.layout import project_named, project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from mdmem import privacy

MAX_BODY_CHARS = 512 * 1024
"""Maximum number of characters of a body that are indexed."""
LINK_KEYS = ("supersedes", "superseded_by", "relates_to", "blocks", "blocked_by", "fixes")
"""Front matter keys with ids of other notes, or wikilinks to them, as values."""
MAX_FILES = 64
"""Maximum number of a note's file names that `file:` can find."""

_SHOWN = (
    "id", "project", "session", "tool", "agent", "branch", "staged", "commit", "cwd", "prompt", "sequence", "success",
    "private", "redacted",
)  # fmt: skip
# Not words that anybody searches for, or indexed separately.
_NO_WORDS = frozenset([*creation.KEYS, "id", "session", "title", "commit", "cwd", "kind", "ended", "digest", "staged"])
# These repeat the body: their words count as body text if it lacks them.
_BODY = ("command", "pattern", "url", "error", "files")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_KNOWN_FILES = """
py pyi pyx ipynb js jsx mjs cjs ts tsx vue svelte java kt kts scala groovy gradle go rs c h cc cpp cxx hh hpp m mm
swift cs fs vb rb php pl pm lua r jl ex exs erl hs ml clj dart zig nim sh bash zsh fish ps1 bat sql graphql proto
html htm css scss sass less md mdx rst txt tex json jsonl yaml yml toml ini cfg conf env xml csv tsv lock log diff
patch tf nix cmake mk dockerfile svg png jpg gif pdf wasm so dll exe
"""
_EXTENSIONS = frozenset(_KNOWN_FILES.split())
_FILE_END = lazy(r"\.(?<=[\w-]\.)([A-Za-z][A-Za-z0-9]{0,9})(?![\w-])")  # its dot comes first: ten times as fast
_PATH_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./\\~-@+"
_MAX_PATH_CHARS = 200
# A file in a numbered sequence: `001-000-prompt.md`, `12.md`; not a date or year.
_BETWEEN_TAGS = lazy(r"[,\s]+")


class Document(NamedTuple):
    """A note to be indexed: its row, its word counts by field, and its facets."""

    row: IndexRow
    words: dict[str, dict[str, int]]
    facets: dict[str, int]


def build(
    root: str,
    entry: disk.WalkedFile,
    data: bytes,
    *,
    mtime_ns: int,
    is_kept: bool = True,
    rules: privacy.Rules | None = None,
) -> Document:
    """Return the document of a file's content, without private parts; never raises.

    root: the vault. mtime_ns: the mtime to record; -1 if it is too recent to be reliable.
    is_kept: it goes into the index; for a single search, entities are left out. rules: as for `people.cleaned`.
    """
    as_written = note.parse(data)
    parsed = people.cleaned(root, as_written, rules)
    path = entry.path if parsed is as_written else people.clean_path(rules or people.rules_of(root), entry.path, data)
    edited = _says(parsed, "edited") or (parsed is not as_written and note.is_edited(parsed))
    meta, body = parsed.meta, _own_words(root, parsed)
    created = creation.when_made(meta, entry.path)
    kind = note.kind_of(meta)
    title = " ".join(_text(meta.get("title")).split()) or titles.heading(body)
    named = "" if "digest" in meta or kind in note.PAGES else creation.name_words(path, _text(meta.get("id")))
    all_words = _with_header(root, as_written, data, rules) if as_written.problem else body
    counted, with_parts = analysis.counted(_body_text(meta, all_words))
    words = {
        "body": counted,
        "title": analysis.counts(title),
        "meta": _meta_counts(meta, named),
        "date": _date_counts(created.date()) if created else {},
    }
    facts = {key: meta[key] for key in _SHOWN if isinstance(meta.get(key), (str, int, float))}
    facts |= {"private": True} if people.keeps_private(meta) else {}
    if project := project_named(entry.path, meta):
        facts["project"] = project
    facts |= {"kind": kind, "title": title or named or titles.body_line(body) or links.stem(path.rpartition("/")[2])}
    facts["id"] = _text(facts.get("id")) or note.id_of_path(entry.path)
    files = [name for name in _texts(meta.get("files")) if name][:MAX_FILES]
    if files:
        facts["files"] = files[:20]
    if is_kept and (entities_of := _entities(kind, title, meta, body, with_parts)):
        facts["named"] = entities_of
    row = IndexRow(
        path=entry.path,
        mtime_ns=mtime_ns,
        size=entry.size,
        inode=entry.inode,
        digest=layout.digest(data),
        created=int(created.timestamp()) if created else max(-MAX_NS, min(entry.mtime_ns, MAX_NS)) // 1_000_000_000,
        flags=_flags(parsed, entry.path, kind, edited=edited),
        sketch=sketch(words["body"]),
        lengths=tuple(sum(words[field].values()) for field in TEXT_FIELDS),
        facts=facts,
    )
    return Document(row, words, dict.fromkeys(_facets(entry.path, parsed, body, facts, files, edited=edited), 1))


def _with_header(root: str, parsed: note.Parsed, data: bytes, rules: privacy.Rules | None) -> str:
    """Return a note's text with the front matter that cannot be read: it may be words between two rules."""
    text = front_matter.text_of(data)[:MAX_BODY_CHARS]
    return people.cleaned(root, note.Parsed(parsed.meta, text, parsed.problem), rules).body


def _own_words(root: str, parsed: note.Parsed) -> str:
    """Return the body without what only leads to other notes.

    A day's page loses all of mdmem's part, and a project's its template, too. Ids are not words: `err8en03d7` is not
    about an error.
    """
    body = parsed.body[:MAX_BODY_CHARS]
    kind = parsed.meta.get("kind")
    if kind == "project":
        return people.on_page(root, parsed)[:MAX_BODY_CHARS]
    if kind == "day":
        body = generated.outside(body)
    body = generated.unmarked(body)
    if "mem:" in body:
        body = links.CITED.sub("", body)
    return _LINKED_ID.sub("", body) if kind in note.PAGES else body


_LINKED_ID = lazy(r"-(?=[a-z]*[0-9])[0-9a-z]{10}(?=\.md\))")
"""The id in a link to a captured note; the words before it are the start of the note's text."""


def _meta_counts(meta: Mapping[str, Any], named: str) -> dict[str, int]:
    """Count the terms of front matter and file name; a person's note is found by its id, too."""
    counts = analysis.counts(" \n".join([*_words_of(meta), named]))
    if named and (note_id := _text(meta.get("id"))):
        counts[note_id.lower()] = 1  # whole: `dates.py` must not find an id with `py` before a digit
    return counts


def sketch(counts: Collection[str]) -> tuple[int, ...]:
    """Return the smallest hashes of a text's distinct terms; similar texts share most of them."""
    try:
        all_hashes = set(map(zlib.crc32, map(str.encode, counts)))
    except UnicodeEncodeError:  # a lone surrogate
        all_hashes = {zlib.crc32(term.encode("utf-8", "replace")) for term in counts}
    # Nearly always enough hashes are below this limit, and sorting all costs more.
    limit = 4 * SKETCH_SIZE * 2**32 // (len(all_hashes) + 1)
    below = [number for number in all_hashes if number < limit]
    hashes = sorted(below if len(below) >= SKETCH_SIZE else all_hashes)[:SKETCH_SIZE]
    return tuple(hashes + [0] * (SKETCH_SIZE - len(hashes)))


@lru_cache(maxsize=256)
def _date_counts(day: date) -> dict[str, int]:
    return analysis.counts(date_words(day))


def date_words(moment: date) -> str:
    """Return a date as people write it."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def _flags(parsed: note.Parsed, path: str, kind: str, *, edited: bool) -> int:
    flags = KIND_STEP * (KINDS.index(kind) if kind in KINDS else 0)
    flags |= FLAGS["pinned"] if _says(parsed, "pinned") else 0
    # A note that a person has reviewed and kept counts like one that a person has edited.
    flags |= FLAGS["edited"] if edited or _says(parsed, "reviewed") else 0
    folder, _, name = path.rpartition("/")
    # A page's name begins with a time: it is not part of its folder's numbered sequence.
    return flags | (FLAGS["numbered"] if folder and kind not in note.PAGES and creation.NUMBERED.match(name) else 0)


# -- words -------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    """Return all strings in a front matter value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [text for item in value for text in ((item,) if isinstance(item, str) else _texts(item))]


def _words_of(meta: Mapping[str, Any]) -> Iterator[str]:
    title, kind = meta.get("title"), meta.get("kind")
    for key, value in meta.items():
        named_again = key == "page" or (key == "aliases" and value == [title])
        if key == "tags" and value == [kind] and kind in _TAGGED:
            continue  # mdmem's own tag, which would find all sessions for `why do sessions expire`
        if key not in _NO_WORDS and key not in _BODY and not named_again:
            is_id = key in LINK_KEYS
            yield from (
                text for text in _texts(value) if not creation.read_time(text) and not (is_id and "[" not in text)
            )


_TAKING_BACK = ("prompt", "response")
"""Kinds of notes that may say that something is replaced."""
_START_CHARS, _END_CHARS = 3_000, 2_000
_LEFT = lazy(
    r"(?im)(?:^|[.!?] )[^\w\n]*(?:(?:what(?:['’]s)?|is|still|noch|es|ce|qui) ){0,3}"
    r"(?:left|open|remaining|remains|missing|outstanding|pending|unfinished|to-?dos?|to do|next|follow-?ups?"
    r"|not (?:yet|done|covered|tested|fixed|verified)|offene?|zu tun|nächster?|ausstehend|fehlt|fehlen|restes?|à faire"
    r"|prochaines?|pendientes?|próximos?|siguientes?|faltan?|quedan?)\b"
    r"[^\n:]{0,40}(?::|$| is | are | ist | sind | bleib)"
)
"""Where an answer may say what is left to do; `unfinished` decides."""
_TAGGED = (*note.CAPTURED, *note.PAGES)


def _body_text(meta: Mapping[str, Any], body: str) -> str:
    missing = [text for key in _BODY for text in _texts(meta.get(key)) if text not in body]
    return "\n".join([body, *missing]) if missing else body


# -- facets ------------------------------------------------------------------------------------------


def _facets(
    path: str, parsed: note.Parsed, body: str, facts: Mapping[str, Any], files: list[str], *, edited: bool
) -> Iterator[str]:
    meta = parsed.meta
    links_in = generated.outside(parsed.body[:MAX_BODY_CHARS])
    yield layout.path_facet(path)
    yield f"id:{facts['id']}".lower()
    yield f"kind:{facts['kind']}".lower()
    for key in ("session", "tool", "agent", "branch"):
        if isinstance(meta.get(key), (str, int)):
            yield f"{key}:{meta[key]}".lower()
    project = facts.get("project", "")
    yield f"project:{project}".lower()
    if project_of(path) and str(meta.get("project") or project) != project:
        yield f"{layout.FORMER}{meta['project']}".lower()
    if _says(parsed, "staged"):
        yield staged.facet(str(meta["staged"]))
    is_captured = "digest" in meta or facts["kind"] in note.PAGES
    for tag in (*_tags(meta), *(() if is_captured else links.tags(body))):
        yield f"tag:{tag}".lower()
    yield from _links(path, meta, links_in)
    if facts["kind"] in note.WRITTEN[1:]:
        yield f"tag:{facts['kind']}"  # as people tagged such notes before there were kinds
    if facts["kind"] in _TAKING_BACK:
        yield from (f"{layout.REPLACED}{term}" for term in corrections.replaced(body[:_START_CHARS]))
    if facts["kind"] == "response" and any(box in body for box in ("- [ ] ", "- [x] ")):
        yield layout.BOXES
    if facts["kind"] == "response" and (_LEFT.search(end := body[-_END_CHARS:]) or undone.is_in(end)):
        yield layout.LEFT
    if not meta.keys().isdisjoint(note.MARKS):
        yield layout.MARKS
    states = _states(path, parsed, facts, edited=edited)
    if facts["kind"] == "prompt" and len(_texts(meta.get("dismissed"))) < len(list(wordings.worded_rules(body))):
        states.append("candidate")
    yield from (f"is:{state}" for state in states)
    if "failed" in states:
        from mdmem.search.text import errors

        yield from map(errors.facet, errors.signatures(body))
    names = dict.fromkeys([*files, *mentioned_files(body)])
    yield from entities.facets(facts.get("named", ()))
    for name in list(names)[:MAX_FILES]:
        yield from (f"file:{tail}" for tail in path_tails(name))


def _links(path: str, meta: Mapping[str, Any], body: str) -> Iterator[str]:
    """Yield the note's links, from its text and its front matter."""
    folder = path.rpartition("/")[0]
    typed = [text for key in LINK_KEYS if key in meta for text in _texts(meta[key])]
    for target in links.written("\n".join([*typed, body])):
        yield f"link:{links.key(target, folder)}"
    yield from (f"link:{text.lower()}" for text in typed if "[" not in text)


def _entities(kind: str, title: str, meta: Mapping[str, Any], body: str, with_parts: list[str]) -> list[str]:
    """Return the entities that a note names; none for pages, which repeat those of other notes."""
    if kind in note.PAGES:
        return []
    if kind != "observation":
        return entities.of_note(body, with_parts)
    command = runs.line(title) if _text(meta.get("tool")).lower() in runs.SHELLS else ""
    return entities.of_output(body, with_parts, command)


def _tags(meta: Mapping[str, Any]) -> Iterator[str]:
    for value in (meta.get("tags"), meta.get("tag")):
        if isinstance(value, str):
            yield from (tag.lstrip("#") for tag in _BETWEEN_TAGS.split(value) if tag)
        else:
            yield from (tag.strip().lstrip("#") for tag in _texts(value))


def _says(parsed: note.Parsed, key: str) -> bool:
    return parsed.meta.get(key) not in (None, False, "", "false")


def _states(path: str, parsed: note.Parsed, facts: Mapping[str, Any], *, edited: bool) -> list[str]:
    meta = parsed.meta
    states = (
        ("pinned", _says(parsed, "pinned")),
        ("edited", edited),
        ("failed", meta.get("success") is False or meta.get("exit_code") not in (None, 0)),
        (str(meta.get("status")), meta.get("status") in note.WITHHELD),
        ("private", facts.get("private")),
        ("redacted", meta.get("redacted")),
        ("staged", _says(parsed, "staged")),
        ("local", people.stays_here(meta)),
        ("internal", note.is_internal(path, facts["kind"])),
    )
    return [state for state, holds in states if holds]


def path_tails(path: str) -> list[str]:
    """Return the tails of a path by which `file:` finds it, in lower case: `src/api/a.py`, `api/a.py`, `a.py`."""
    parts = [part for part in path.lower().replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    return ["/".join(parts[i:]) for i in range(max(0, len(parts) - 6), len(parts))]


def mentioned_files(text: str) -> Iterator[str]:
    """Yield file names and paths in running text, recognized by extension, in linear time."""
    for ending in _FILE_END.finditer(text):
        if ending[1].lower() not in _EXTENSIONS:
            continue
        start = ending.start()
        first = max(0, start - _MAX_PATH_CHARS)
        while start > first:
            before = text[first:start].rstrip(_PATH_CHARS)
            start = first + len(before)
            if not before or not before[-1].isalnum():
                break
            start -= 1  # a non-ASCII letter
        name = text[start : ending.end()]
        if "://" not in text[max(0, start - 3) : start + 3] and not name.startswith("//"):
            yield name.lstrip("./\\-@+~")
