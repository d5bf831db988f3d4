"""A note: how it is made, named, written and read back."""

from __future__ import annotations

from mdmem import privacy
from mdmem.hashing import short
from mdmem.slug import slug as make_slug
from mdmem.values import Value
from mdmem.vault import disk, front_matter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

CAPTURED = ("prompt", "observation", "response", "summary", "plan")
WRITTEN = ("note", "decision", "lesson", "preference", "task")
"""Kinds that people, and agents on request, write on purpose."""
INTERNAL = ("ghost", "agent")
"""What ghosts and agents remember for themselves: shown to nobody else, and listed only when asked for."""
PAGES = ("session", "project", "day")
"""Kinds that mdmem keeps up to date, and that stand for other notes."""
KINDS = (*CAPTURED, *WRITTEN, *PAGES, *INTERNAL)
WITHHELD = ("proposed", "dismissed", "archived", "retired")
"""A note whose `status` is one of these is found by search, and never given to an agent unasked."""
MAX_TITLE_CHARS = 200
ID_CHARS = 10
_UNCLOSED_CHARS = 4096
"""Front matter that nothing closes is taken to be this long."""
MAX_NOTE_BYTES = 64 * 1024
MAX_META_BYTES = 8 * 1024
_META_ROOM = MAX_META_BYTES - 768  # what numbering, the page's link and the digest add, and the lines around


def is_internal(path: str, kind: object = "") -> bool:
    """Whether a note is a ghost's or an agent's memory: it lies where they keep them, or is of their kind."""
    return path.split("/")[0].casefold() == "internal" or str(kind).lower() in INTERNAL


class Draft(Value):
    """What is to become a note: a title, words for the file name, metadata of its own, a body."""

    title: str
    slug: str
    meta: dict[str, Any]
    body: str


class Note(Value):
    """One memory, cleaned: build it with `new`.

    meta: the front matter in its order, `id` first; `created` is ISO 8601 in UTC, whole seconds.
    slug: the words of its file name, possibly "".
    body: markdown, ending in a line break unless empty.
    """

    meta: dict[str, Any]
    slug: str
    body: str

    @property
    def id(self) -> str:
        """Return the ten characters that name this note for ever."""
        return str(self.meta["id"])

    @property
    def title(self) -> str:
        """Return its one line."""
        return str(self.meta["title"])


class Parsed(Value):
    """A file as it was read: front matter, body, and what was wrong with the front matter (or None)."""

    meta: dict[str, Any]
    body: str
    problem: str | None = None


def texts(meta: Mapping[str, Any], *keys: str) -> dict[str, str]:
    """Return some of front matter as texts; "" for what is missing."""
    return {key: str(meta.get(key, "")) for key in keys}


def has_two_versions(data: bytes) -> bool:
    """Whether a merge left two versions in a note, with git's marks around them."""
    return b"\n<<<<<<< " in data and b"\n>>>>>>> " in data


def make_id(*identity: str) -> str:
    """Return a name for an event: the same identity gives the same id, on any machine and by any way."""
    return short("\0".join(identity), ID_CHARS)


def is_made_id(value: object) -> bool:
    """Whether front matter's `id` is of the form that `make_id` gives."""
    return isinstance(value, str) and len(value) == ID_CHARS and value.isalnum()


def id_in_reference(reference: str) -> str:
    """Return the id in `mem:ID` or `[mem:ID]`, as notes are cited; any other text without the spaces around it."""
    return reference.strip().strip("[]").removeprefix("mem:").strip()


def id_of_path(path: str) -> str:
    """Return the id of a note without one in its front matter, as people write them. path: vault-relative."""
    return short(path, ID_CHARS)


class NoteRequest(Value):
    """A note to be made of something that came from outside.

    source: any JSON value with every text the note may be made from, as it came.
    build: makes the draft from the cleaned source, or None when there is nothing to keep. It never sees
        the source itself, so that no cut, title or file name is made from private text.
    context: further front matter (project, session, cwd, ...), cleaned as well; "" and None are left out.
    max_bytes: a longer body loses its middle.
    origin: "prompt", "assistant" or "tool"; it decides how lone brackets are read.
    identity: what its id is made from. created: ISO 8601 in UTC.
    """

    kind: str
    source: Any
    build: Callable[[Any], Draft | None]
    identity: tuple[str, ...]
    created: str
    context: Mapping[str, Any]
    origin: str = "tool"
    max_bytes: int = MAX_NOTE_BYTES


def new(
    wanted: NoteRequest, rules: privacy.Rules, echo: privacy.Echo | None = None
) -> tuple[Note | None, privacy.Cleaned]:
    """Make a note of something that came from outside: the one door, and it cleans.

    Returns the note, or None where there is nothing to keep, and what cleaning the source took out.
    """
    source, context = wanted.source, wanted.context
    names = frozenset(source) if isinstance(source, dict) else frozenset()
    cleaned = privacy.clean(source, rules=rules, origin=wanted.origin, echo=echo, names=names)
    draft = wanted.build(cleaned.value)
    if draft is None:
        return None, cleaned
    # The draft is cleaned again: text put together from clean parts can hold a secret that no part held.
    rest = privacy.clean(
        {"title": draft.title, "slug": draft.slug, "body": draft.body, "meta": draft.meta, "context": dict(context)},
        rules=rules,
        origin="tool",
        echo=echo,
        names=frozenset(["title", "slug", "body", "meta", "context", *draft.meta, *context]),
        said=cleaned.spans,
    )
    value = privacy.anonymized(rest.value, rules)
    meta: dict[str, Any] = {
        "id": make_id(*wanted.identity),
        "kind": wanted.kind,
        "title": one_line(value["title"]) or wanted.kind,
        "created": wanted.created,
        **_given(value, context),
    }
    if cleaned.private + rest.private:
        meta["private"] = cleaned.private + rest.private
    if cleaned.redacted + rest.redacted:
        meta["redacted"] = cleaned.redacted + rest.redacted
    body = _fit(value["body"], wanted.max_bytes)
    meta = _bounded(meta)
    if wanted.kind in CAPTURED:
        meta["digest"] = fingerprint(meta["title"], body)
    return Note(meta, make_slug(value["slug"] or meta["title"]), body), cleaned


def _given(value: dict[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the front matter that a note was given, in its order, without what is empty."""
    given = value["context"] | value["meta"]
    given |= {key: context[key] for key in _NAMED_BEFORE if key in context}
    return {key: given[key] for key in sorted(given, key=place) if given[key] not in ("", None, [])}


def fingerprint(title: str, body: str) -> str:
    """Return in eight characters what was captured, for the front matter; white space around the body is ignored."""
    return short(f"{title}\0{body.strip()}", 8)


def is_edited(parsed: Parsed) -> bool:
    """Whether a person has changed a captured note's title or body since, from the note alone."""
    known = parsed.meta.get("digest")
    return known is not None and str(known) != fingerprint(str(parsed.meta.get("title", "")), parsed.body)


_NAMED_BEFORE = ("session", "agent")
"""What mdmem has cleaned or chosen itself, before there was a note: a person's pattern does not part a session."""

OF_TOOL = (
    "files", "command", "exit_code", "made_commit", "commit_subject",
    "pattern", "matches", "url", "status", "lines", "language", "error",
)  # fmt: skip
"""The front matter of an observation that comes from its tool, in this order."""

_FIRST = ("project", "session", "prompt", "sequence", "tool", "success", "duration_ms", "files")
_LAST = ("agent", "cwd", "branch", "commit", "tags", "private", "redacted", "digest", "page")


OF_CAPTURE = frozenset(
    ["id", "kind", "title", "created", "staged", "subagent", "trigger", "tokens_in", "tokens_out", "updated"]
).union(_FIRST, OF_TOOL, _LAST)
"""Every key of front matter that a captured note can have: another one is a person's, who then owns the note."""


def place(key: str) -> int:
    """Return the place of a key in front matter: what a note belongs to, what it is about, where it came from."""
    if key in _FIRST:
        return _FIRST.index(key)
    return 100 + _LAST.index(key) if key in _LAST else 50


def one_line(text: str, chars: int = MAX_TITLE_CHARS) -> str:
    """Return a text as one line of at most `chars` characters, white space folded, cut with an ellipsis."""
    line = " ".join(text[: chars * 8].split())
    return line if len(line) <= chars else line[: chars - 1].rstrip() + "…"


def file_name(note: Note, label: str, prompt: int, sequence: int, room: int = 240) -> str:
    """Return a name for a note's file: prompt number, sequence, kind or tool, slug, id, in at most `room` bytes.

    Where there is little room the slug goes first, then the kind; numbers and id always stay.
    """
    head, tail = f"{prompt:03d}-{sequence:03d}-", f"{note.id}.md"
    spare = room - len(head) - len(tail)
    kind = cut_bytes(make_slug(label, 24) or "note", spare - 1)
    words = cut_bytes(note.slug, spare - len(kind.encode()) - 2)
    return "".join([head, *[f"{part}-" for part in (kind, words) if part], tail])


def cut_bytes(text: str, room: int) -> str:
    """Cut a slug to at most `room` bytes of UTF-8, at a character's border, without a dash at its end."""
    return text.encode()[: max(room, 0)].decode("utf-8", "ignore").rstrip("-")


def _fit(body: str, max_bytes: int) -> str:
    """Keep the whole note under `max_bytes`: the builders cut finer, this is what always holds."""
    body = body.strip("\n")
    data = body.encode("utf-8", "replace")
    limit = max_bytes - MAX_META_BYTES
    if len(data) > limit:
        half = limit // 2 - 64
        head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
        body = f"{head}\n\n… {len(data) - 2 * half:,} bytes left out …\n\n{tail}"
    return body + "\n" if body else ""


_FIXED = frozenset(["id", "kind", "created", "session", "digest"])


def _bounded(meta: dict[str, Any]) -> dict[str, Any]:
    """Keep the front matter within `MAX_META_BYTES`: long texts lose their ends, long lists their last items."""
    room = 2048
    while room > 1 and len(str(meta)) * 10 > MAX_META_BYTES and _header_bytes(meta) > _META_ROOM:
        room //= 2
        meta = {key: value if key in _FIXED else _cut(value, room) for key, value in meta.items()}
    return meta


def _header_bytes(meta: dict[str, Any]) -> int:
    return len(front_matter.write(meta).encode("utf-8", "replace"))


def _cut(value: Any, room: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= room else f"{value[:room]}…"
    if isinstance(value, list):
        return [_cut(item, room) for item in value[: max(room // 8, 1)]]
    if isinstance(value, dict):
        return {_cut(key, room): _cut(item, room) for key, item in list(value.items())[: max(room // 8, 1)]}
    return value


def render(note: Note) -> str:
    """Write a note as a file's text."""
    head = front_matter.write(note.meta)
    return f"{head}\n{note.body}" if note.body else head


def load(root: str, path: str) -> Parsed:
    """Read the note at a path in the vault `root`; one that is missing is empty."""
    return parse(disk.read_path(root, path) or b"")


def parse(data: bytes | str) -> Parsed:
    """Read a file as a note; never raises.

    A byte order mark and CRLF are accepted. A file without front matter is all body. Front matter that is broken, too
    long or too complex is left out of `meta`; `problem` says what is wrong and where, and the body is kept. Whether
    the note is private is read from it even then.
    """
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    header, body, problem = front_matter.split(text)
    meta: dict[str, Any] = {}
    if header is not None and not problem:
        meta, problem = front_matter.read(header)
    if problem:
        meta = front_matter.private_switches(header or text[: max(len(text) - len(body), _UNCLOSED_CHARS)])
    return Parsed(meta, body, problem)


def fence(text: str, language: str = "") -> str:
    """Return text from outside between code fences longer than any run of backticks in it."""
    ticks = "```"
    while ticks in text:
        ticks += "`" if len(ticks) < 16 else ticks  # doubled, so that a flood of backticks costs no more
    return f"{ticks}{language}\n{text.rstrip(chr(10))}\n{ticks}\n"
