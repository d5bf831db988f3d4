"""Notes: build, name, write and parse them."""

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
"""Kinds that hooks and imports store."""
WRITTEN = ("note", "decision", "lesson", "preference", "task")
"""Kinds that people, and agents on request, write on purpose."""
INTERNAL = ("ghost", "agent")
"""Memories that ghosts and agents keep for themselves; shown to nobody else, and listed only on request."""
PAGES = ("session", "project", "day")
"""Kinds of generated pages, which summarize other notes."""
KINDS = (*CAPTURED, *WRITTEN, *PAGES, *INTERNAL)
WITHHELD = ("proposed", "dismissed", "archived", "retired")
"""Notes with one of these as `status` are found by search, but never injected."""
MARKS = ("done", "dismissed", "superseded_by", "reviewed")
"""Front matter keys that record decisions about a note and about what was proposed for it."""
MAX_TITLE_CHARS = 200
ID_CHARS = 10
MIN_PREFIX_CHARS = 3
"""Fewest characters of an id that name its note."""
_UNCLOSED_CHARS = 4096
"""Assumed length of front matter that is never closed."""
MAX_NOTE_BYTES = 64 * 1024
MAX_META_BYTES = 8 * 1024
_META_ROOM = MAX_META_BYTES - 768  # minus the later keys (numbers, page, digest) and the fences


def is_internal(path: str, kind: object = "") -> bool:
    """Whether a note is a ghost's or an agent's memory, by its folder or its kind."""
    return path.split("/")[0].casefold() == "internal" or str(kind).lower() in INTERNAL


def kind_of(meta: Mapping[str, Any]) -> str:
    """Return a note's kind: its `kind`, or its `type` as other programs write it, else "note".

    A person's `type: project` makes neither a generated page nor an internal memory of the note.
    """
    kind, other = meta.get("kind"), meta.get("type")
    if isinstance(kind, str) and kind:
        return kind
    is_own = isinstance(other, str) and other and other.lower() not in (*PAGES, *INTERNAL)
    return str(other) if is_own else "note"


class Draft(Value):
    """The draft of a note: title, words for the file name, its own metadata, body."""

    title: str
    slug: str
    meta: dict[str, Any]
    body: str


class Note(Value):
    """A cleaned note; build it with `new`.

    meta: ordered front matter, `id` first; `created` as `timestamps.note_time` writes it, with an offset.
    slug: words for the file name, or "".
    body: Markdown, ending in a newline unless empty.
    """

    meta: dict[str, Any]
    slug: str
    body: str

    @property
    def id(self) -> str:
        """Return the note's permanent id of ten characters."""
        return str(self.meta["id"])

    @property
    def title(self) -> str:
        """Return the title, one line."""
        return str(self.meta["title"])


class Parsed(Value):
    """A parsed file: front matter, body, and a problem with the front matter (or None)."""

    meta: dict[str, Any]
    body: str
    problem: str | None = None

    def fact(self, key: str) -> str:
        """Return a front matter value as a string; "" for a missing key."""
        return str(self.meta.get(key, ""))


def texts(meta: Mapping[str, Any], *keys: str) -> dict[str, str]:
    """Return some front matter values as strings; "" for a missing key or an empty value."""
    return {key: "" if (value := meta.get(key)) is None else str(value) for key in keys}


def number(meta: Mapping[str, Any], key: str) -> int:
    """Return a front matter value that is a whole number; 0 for any other."""
    return value if isinstance(value := meta.get(key), int) else 0


def has_two_versions(data: bytes) -> bool:
    """Whether a note contains git's conflict markers."""
    return b"\n<<<<<<< " in data and b"\n>>>>>>> " in data


def make_id(*identity: str) -> str:
    """Return an id for an event: the same identity always gives the same id, on any machine."""
    return short("\0".join(identity), ID_CHARS)


def is_made_id(value: object) -> bool:
    """Whether an `id` in front matter has the form of `make_id`."""
    return isinstance(value, str) and len(value) == ID_CHARS and value.isalnum()


def id_in_reference(reference: str) -> str:
    """Return the id in the citation `mem:ID` or `[mem:ID]`; any other text stripped."""
    return reference.strip().strip("[]").removeprefix("mem:").strip()


def id_of_path(path: str) -> str:
    """Return the id of a note that has none in its front matter. path: vault-relative."""
    return short(path, ID_CHARS)


class NoteRequest(Value):
    """What to make a note from.

    source: raw JSON value with every text that the note may be made from.
    build: makes the draft from the cleaned source, or None when there is nothing to keep. It never sees the raw
        source, so that no truncation, title or file name is made from private text.
    context: further front matter (project, session, cwd, ...), also cleaned; "" and None are left out.
    max_bytes: a longer body loses its middle.
    origin: "prompt", "assistant" or "tool"; it decides how lone brackets are read.
    identity: the input of the note's id. created: as `timestamps.note_time` writes it.
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
    request: NoteRequest, rules: privacy.Rules, echo: privacy.Echo | None = None
) -> tuple[Note | None, privacy.Cleaned]:
    """Clean and build a note; the only way to make one from outside data.

    Return the note, or None when there is nothing to keep, and the result of cleaning the source.
    """
    source, context = request.source, request.context
    names = frozenset(source) if isinstance(source, dict) else frozenset()
    cleaned = privacy.clean(source, rules=rules, origin=request.origin, echo=echo, names=names)
    draft = request.build(cleaned.value)
    if draft is None:
        return None, cleaned
    # The draft is cleaned again: joining clean parts can form a secret.
    cleaned_draft = privacy.clean(
        {"title": draft.title, "slug": draft.slug, "body": draft.body, "meta": draft.meta, "context": dict(context)},
        rules=rules,
        origin="tool",
        echo=echo,
        names=frozenset(["title", "slug", "body", "meta", "context", *draft.meta, *context]),
        said=cleaned.spans,
    )
    cleaned.failure = cleaned.failure or cleaned_draft.failure
    value = privacy.anonymized(cleaned_draft.value, rules)
    meta: dict[str, Any] = {
        "id": make_id(*request.identity),
        "kind": request.kind,
        "title": one_line(value["title"]) or request.kind,
        "created": request.created,
        **_given(value, context),
    }
    if cleaned.private + cleaned_draft.private:
        meta["private"] = cleaned.private + cleaned_draft.private
    if cleaned.redacted + cleaned_draft.redacted:
        meta["redacted"] = cleaned.redacted + cleaned_draft.redacted
    body = _fit(value["body"].replace("\r\n", "\n").replace("\r", "\n"), request.max_bytes)
    meta = _bounded(meta)
    if request.kind in CAPTURED:
        meta["digest"] = fingerprint(meta["title"], body)
    return Note(meta, make_slug(value["slug"] or meta["title"]), body), cleaned


def _given(value: dict[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given front matter in order, without empty values."""
    values = value["context"] | value["meta"]
    values |= {key: context[key] for key in _NAMED_BEFORE if key in context}
    return {key: values[key] for key in sorted(values, key=position_of) if values[key] not in ("", None, [])}


def fingerprint(title: str, body: str) -> str:
    """Return an eight-character digest of what was captured; white space around the body is ignored."""
    return short(f"{title}\0{body.strip()}", 8)


def is_edited(parsed: Parsed) -> bool:
    """Whether a person has changed a captured note's title or body, judged by its digest."""
    digest = parsed.meta.get("digest")
    return digest is not None and str(digest) != fingerprint(parsed.fact("title"), parsed.body)


_NAMED_BEFORE = ("session", "agent")
"""Keys that were cleaned or set before the note was made: a user's own pattern must not change a session's id."""

OF_TOOL = (
    "files", "command", "exit_code", "made_commit", "commit_subject",
    "pattern", "matches", "url", "status", "lines", "language", "error",
)  # fmt: skip
"""Front matter keys of an observation that come from its tool, in order."""

_FIRST = ("project", "session", "prompt", "sequence", "tool", "success", "duration_ms", "files")
_LAST = ("agent", "cwd", "branch", "commit", "tags", "private", "redacted", "digest", "page")


OF_CAPTURE = frozenset(
    ["id", "kind", "title", "created", "staged", "subagent", "trigger", "tokens_in", "tokens_out", "updated"]
).union(_FIRST, OF_TOOL, _LAST)
"""All front matter keys of captured notes. A person added any other, and then owns the note."""


def position_of(key: str) -> int:
    """Return the sort position of a key: what the note belongs to, what it is about, where it came from."""
    if key in _FIRST:
        return _FIRST.index(key)
    return 100 + _LAST.index(key) if key in _LAST else 50


JOINERS = "\u200c\u200d"
"""Invisible but needed: Persian words and many emoji contain them."""


def is_legible(char: str) -> bool:
    """Whether a character is printable, a joiner, or a space of another kind, as in Japanese and French.

    Line breaks, controls, direction marks and private-use characters are not.
    """
    return char.isprintable() or char in JOINERS or (char >= "\xa0" and char.isspace() and char not in "\u2028\u2029")


def one_line(text: str, chars: int = MAX_TITLE_CHARS) -> str:
    """Return a text as one line of at most `chars` characters, white space folded.

    A longer one is cut after a word of its last third, or within a word that is longer, and gets an ellipsis.
    """
    line = " ".join(text[: chars * 8].split())
    if len(line) <= chars:
        return line
    end = line.rfind(" ", chars * 2 // 3, chars)
    return line[: end if end > 0 else chars - 1].rstrip() + "…"


def file_name(note: Note, label: str, prompt: int, sequence: int, room: int = 240) -> str:
    """Return a note's file name: prompt number, sequence, kind or tool, slug, id, in at most `room` bytes.

    When space is short, the slug is cut first, then the kind; numbers and id always stay.
    """
    head, tail = f"{prompt:03d}-{sequence:03d}-", f"{note.id}.md"
    spare = room - len(head) - len(tail)
    kind = cut_bytes(make_slug(label, 24) or "note", spare - 1)
    words = cut_bytes(note.slug, spare - len(kind.encode()) - 2)
    return "".join([head, *[f"{part}-" for part in (kind, words) if part], tail])


def cut_bytes(text: str, room: int) -> str:
    """Cut a slug to at most `room` bytes of UTF-8, at a character boundary, without a trailing dash."""
    return text.encode()[: max(room, 0)].decode("utf-8", "ignore").rstrip("-")


def _fit(body: str, max_bytes: int) -> str:
    """Keep the whole note below `max_bytes`: a last resort, as builders cut more carefully."""
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
    """Keep front matter within `MAX_META_BYTES`: long texts are truncated, long lists lose their last items."""
    room = 2048
    while room > 1 and len(str(meta)) * 10 > MAX_META_BYTES and _header_bytes(meta) > _META_ROOM:
        room //= 2
        meta = {key: value if key in _FIXED else _cut(value, room) for key, value in meta.items()}
    return meta


def _header_bytes(meta: dict[str, Any]) -> int:
    return len(front_matter.render(meta).encode("utf-8", "replace"))


def _cut(value: Any, room: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= room else f"{value[:room]}…"
    if isinstance(value, list):
        return [_cut(item, room) for item in value[: max(room // 8, 1)]]
    if isinstance(value, dict):
        return {_cut(key, room): _cut(item, room) for key, item in list(value.items())[: max(room // 8, 1)]}
    return value


def render(note: Note) -> str:
    """Return a note as the text of its file."""
    head = front_matter.render(note.meta)
    return f"{head}\n{note.body}" if note.body else head


def load(root: str, path: str) -> Parsed:
    """Parse the note at a path in the vault `root`; a missing one is empty."""
    return parse(disk.read_path(root, path) or b"")


def parse(data: bytes | str) -> Parsed:
    """Parse a file as a note; never raises.

    A byte order mark and CRLF are accepted. A file without front matter is all body. Front matter that is broken, too
    long or too complex gives an empty `meta`, except for its privacy switches; `problem` says what is wrong and where,
    and the body is kept. Switches in what only looks like front matter count too.
    """
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    text = as_captured = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    header, body, problem = front_matter.split(text)
    meta: dict[str, Any] = {}
    if header is not None and not problem:
        meta, problem = front_matter.read(header)
    if problem:
        meta = front_matter.private_switches(header or text[: max(len(text) - len(body), _UNCLOSED_CHARS)])
    if "digest" not in meta:  # what a captured note begins with is quoted
        is_empty = header is not None and not header.strip()  # its end may be meant as its beginning
        doubtful = front_matter.switches_above(f"---\n{body}" if is_empty else body)
        meta = {**doubtful, **meta, **doubtful}  # first, as a key that `editing` adds comes last
    parsed = Parsed(meta, body, problem)
    if text is not as_captured and is_edited(parsed):
        before = Parsed(meta, front_matter.split(as_captured)[1], "")
        if not is_edited(before):  # version 0.1 kept a prompt's CRLF, also in the digest
            meta["digest"] = fingerprint(str(meta.get("title", "")), body)
    return parsed


def fence(text: str, language: str = "") -> str:
    """Return outside text in a code fence that is longer than any run of backticks in it."""
    ticks = "```"
    while ticks in text:
        ticks += "`" if len(ticks) < 16 else ticks  # doubling keeps a flood of backticks cheap
    return f"{ticks}{language}\n{text.rstrip(chr(10))}\n{ticks}\n"
