"""The tools that find and read notes, by words, time, file or id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from mdmem import timestamps
from mdmem.errors import NotFoundError, UsageError
from mdmem.search import engine, overturned
from mdmem.search.hits import SearchHit
from mdmem.search.index.view import View
from mdmem.search.query import Query
from mdmem.search.select import allowed
from mdmem.search.text import analysis
from mdmem.server import entries, lookup, safe_text
from mdmem.server.access import FOR_TEXT, Access
from mdmem.server.entries import FoundNotes, NoteLine
from mdmem.vault import disk, generated, journal, layout, note
from mdmem.views import rows
from mdmem.views.conversation import ConversationStep

MAX_LIMIT = 50
MAX_NOTES = 20
DEFAULT_CHARS = 12_000
MAX_CHARS = 40_000
"""Claude Code warns of answers over 10,000 tokens, which is about as many characters."""

MAX_QUERIES = 8
MAX_QUERY_CHARS = 4_000

RECENT_KINDS = ",".join(["prompt", "response", "summary", *note.WRITTEN])

Words = Annotated[
    str,
    Field(
        description='Ranked words, "phrase", +must, -not, begin*, kind:prompt, since:2w.', max_length=MAX_QUERY_CHARS
    ),
]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="At most 50.")]
MAX_OFFSET = 1_000_000_000
"""A larger offset counts as this one; no answer is so long."""
Offset = Annotated[
    int, Field(ge=0, description="`next_offset` of the previous answer."), AfterValidator(partial(min, MAX_OFFSET))
]
ProjectName = Annotated[str, Field(description="Project name.")]
NoteReference = Annotated[str, Field(description="mem:ID, id or path.")]
Kind = Annotated[str, Field(description="Such as prompt,response,observation,note.")]
Since = Annotated[str, Field(description="2w, yesterday, monday, 2026-09-14, 2026-09.")]


def search(
    access: Access,
    query: Words = "",
    queries: Annotated[tuple[str, ...], Field(description="The question in other words.", max_length=MAX_QUERIES)] = (),
    kind: Kind = "",
    project: ProjectName = "",
    session: Annotated[str, Field(description="Session id.")] = "",
    file: Annotated[str, Field(description="A part of a path, or a glob.")] = "",
    tool: Annotated[str, Field(description="Only runs of this tool.")] = "",
    tags: Annotated[tuple[str, ...], Field(description="All must match.")] = (),
    agent: Annotated[str, Field(description="Such as claude-code.")] = "",
    branch: Annotated[str, Field(description="Branch of the code.")] = "",
    since: Since = "",
    until: Annotated[str, Field(description="Same forms as `since`.")] = "",
    state: Annotated[str, Field(description="Such as pinned, edited, failed, proposed, archived.")] = "",
    sort: Annotated[str, Field(description="relevance, newest or oldest.")] = "relevance",
    limit: Limit = 10,
    offset: Offset = 0,
) -> FoundNotes:
    """Search the memory of earlier sessions. Returns one line per note; `get_notes` reads whole notes."""
    if sort not in engine.SORTS:
        raise UsageError(f"sort must be one of {', '.join(engine.SORTS)}, not {sort!r:.40}.")
    parsed = lookup.parsed(
        access, query, kind=kind, project=project, session=session, file=file, tool=tool, tag=tags, agent=agent,
        branch=branch, since=since, until=until, **{"is": state},
    )  # fmt: skip
    other_wordings = [lookup.parsed(access, text[:MAX_QUERY_CHARS]).text for text in queries]
    parsed = parsed._replace(words=" ".join(dict.fromkeys(" ".join([parsed.words, *other_wordings]).split())))
    ranked = sort == "relevance" and bool(parsed.text)
    return page_of_hits(access, parsed, sort=sort, limit=limit, offset=offset, collapse=ranked)


def recent(
    access: Access,
    kind: Kind = RECENT_KINDS,
    project: ProjectName = "",
    since: Since = "",
    limit: Limit = 10,
    offset: Offset = 0,
) -> FoundNotes:
    """List the newest notes."""
    parsed = lookup.parsed(access, "", kind=kind, project=project, since=since)
    return page_of_hits(access, parsed, sort="newest", limit=limit, offset=offset, collapse=False)


def file_history(
    access: Access,
    path: Annotated[str, Field(description="A file's name, or the end of its path.", min_length=1)],
    project: ProjectName = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> FoundNotes:
    """List what was asked, done and said about a file, newest first."""
    parsed = lookup.parsed(access, "", file=path, project=project)
    return page_of_hits(access, parsed, sort="newest", limit=limit, offset=offset, collapse=False)


def related(access: Access, note: NoteReference, limit: Limit = 10) -> FoundNotes:  # noqa: A002, RUF100 - the argument's name
    """Find notes similar to one, by its most characteristic words."""
    path, _ = lookup.resolve(access, note)
    with lookup.fresh(access.config) as notices:
        result = engine.related(access.config, path, limit=2 * limit, update=False, here=access.here)
    visible = _said_once(list(_visible(access, result.hits))[:limit])
    return entries.paged(visible, len(visible), 0, limit, notices)


def page_of_hits(
    access: Access, query: Query, *, sort: str, limit: int, offset: int, collapse: bool = True
) -> FoundNotes:
    """Return a page of the visible answers to a query. collapse: list notes that say the same once."""
    if access.titles_only and any((query.words, query.phrases, query.must, query.must_not, query.prefixes)):
        return _by_title(access, query, limit, offset)
    if access.titles_only and any(each.key in ("file", "tool") for each in query.filters):
        access.require(FOR_TEXT)  # the files of a note count as its text
    with lookup.fresh(access.config) as notices:
        options = engine.SearchOptions(
            sort, limit, offset, collapse, snippet_chars=safe_text.LINE_CHARS, update=False, here=access.here,
            check_shown=True, check_all=lookup.is_sweep_due(access.config),
        )  # fmt: skip
        result = overturned.search(access.config, query, options)
    visible = _said_once(list(_visible(access, result.hits)))
    hints = [*result.hints, *notices]
    if result.suggestion and not visible and _is_known(access, result.suggestion):
        hints.append(f"Did you mean: {access.line(result.suggestion)}")
    page = entries.paged(visible, result.total, offset, limit, hints)
    if collapse and len(result.hits) < limit:  # the rest of the total repeats what was listed
        page["next_offset"] = None
    return page


def _by_title(access: Access, query: Query, limit: int, offset: int) -> FoundNotes:
    """Return an answer from titles alone, newest first, which must not reveal anything of the texts."""
    terms = set(analysis.query_terms(" ".join([query.text, *query.prefixes])))
    without_words = query._replace(words="", phrases=(), must=(), must_not=(), prefixes=())
    newest = page_of_hits(access, without_words, sort="newest", limit=MAX_BY_TITLE, offset=0, collapse=False)["entries"]
    matching = [entry for entry in newest if not terms or terms & set(analysis.counts(entry["title"]))]
    return entries.paged(matching[offset : offset + limit], len(matching), offset, limit)


MAX_BY_TITLE = 2_000
"""Number of newest notes that are searched if only titles may be shown."""


def _visible(access: Access, hits: Iterable[SearchHit]) -> Iterator[tuple[str, NoteLine]]:
    """Yield path and entry of the hits that may be seen."""
    for hit in hits:
        hit.data = lookup.content(access, hit.path)
        parsed = lookup.visible_note(access, hit.path, hit.data)
        if parsed is not None:
            hit.title = parsed.fact("title") if hit.kind == "session" else hit.title
            hit.superseded_by = _visible_id(access, hit.superseded_by)
            yield hit.path, entries.of_hit(access, hit, parsed.meta)


_ANSWERED = "→ "
"""What stands before a prompt's answer in its line."""


def _said_once(page: Sequence[tuple[str, NoteLine]]) -> list[NoteLine]:
    """Return the entries of a page, a prompt's without the beginning of its answer if that has an entry of its own."""
    answers = [(_turn(path), entry["title"].rstrip("…")) for path, entry in page if entry["kind"] == "response"]
    for path, entry in page:
        if entry["line"].startswith(_ANSWERED) and entry["kind"] == "prompt":
            answer = entry["line"].removeprefix(_ANSWERED).rstrip("…")
            titles = (title for turn, title in answers if turn == _turn(path))
            if any(title.startswith(answer) or answer.startswith(title) for title in titles):
                entry["line"] = ""
    return [entry for _, entry in page]


def _turn(path: str) -> tuple[str, tuple[int, ...]]:
    """Return the session's folder of a captured note and the number of its prompt."""
    return layout.folder_of(path), journal.numbers(path)[:1]


def _visible_id(access: Access, note_id: str) -> str:
    """Return the id of a note if it may be seen, else ""."""
    try:
        return note_id and str(lookup.resolve(access, note_id)[1].meta.get("id", note_id))
    except NotFoundError:
        return ""


def _is_known(access: Access, suggestion: str) -> bool:
    """Whether a suggested spelling occurs in visible notes: suggestions come from all notes."""
    options = engine.SearchOptions(limit=1, update=False, here=access.here)
    result = engine.search(access.config, lookup.parsed(access, suggestion), options)
    return any(lookup.read(access, hit.path) is not None for hit in result.hits)


# -- around a moment -------------------------------------------------------------------------------


class Timeline(TypedDict):
    """The notes around one, in order of time. anchor: its id."""

    anchor: str
    entries: list[NoteLine]
    hints: list[str]


def timeline(
    access: Access,
    note: Annotated[str, Field(description="As in `get_notes`. Or give `query` to use its best match.")] = "",
    query: Words = "",
    before: Annotated[int, Field(ge=0, le=MAX_LIMIT)] = 5,
    after: Annotated[int, Field(ge=0, le=MAX_LIMIT)] = 5,
    kind: Kind = "",
    all_projects: Annotated[bool, Field(description="Notes of all projects.")] = False,
) -> Timeline:
    """Show what happened before and after a note, in order of time."""
    if not note and not query:
        raise UsageError("Give `note` (an id from `search`) or `query`.")
    path = lookup.resolve(access, note)[0] if note else _best(access, query)
    of_kind = lookup.parsed(access, "", kind=kind)

    def around(view: View) -> tuple[str, list[NoteLine]]:
        anchor = view.find(path)
        if anchor is None:
            raise NotFoundError(f"The index does not have {path} yet. Try again in a moment.")
        facts = view.facts(anchor)
        project = None if all_projects else facts.get("project")
        narrowed = lookup.parsed(access, "", kind=kind, project=str(project).lower()) if project else of_kind
        numbers = _around(view, access, narrowed, anchor, before, after)
        return str(facts["id"]), [line for number in numbers if (line := _entry(access, view, number))]

    no_answer: tuple[str, list[NoteLine]] = ("", [])
    (anchor_id, lines), notices = lookup.ask(access, around, no_answer)
    return {"anchor": anchor_id, "entries": lines, "hints": list(notices)}


def _best(access: Access, query: str) -> str:
    hits = page_of_hits(access, lookup.parsed(access, query), sort="relevance", limit=5, offset=0)
    for entry in hits["entries"]:
        return lookup.resolve(access, entry["id"])[0]
    raise NotFoundError(f"No note matches {query!r:.80}. Try other words with `search` first.")


def _around(view: View, access: Access, query: Query, anchor: int, before: int, after: int) -> list[int]:
    permitted = allowed(view, access.config.vault, query, here=access.here)
    pages = view.of_kinds(() if any(condition.key == "kind" for condition in query.filters) else note.PAGES)
    notes = set(view.all if permitted is None else permitted) - pages
    return rows.around(view, notes, anchor, before, after)


def _entry(access: Access, view: View, number: int) -> NoteLine | None:
    path = view.path(number)
    parsed = lookup.read(access, path)
    if parsed is None:
        return None
    facts = {**view.facts(number), "created": timestamps.iso_time(view.number("created", number))}
    return entries.of_note(access, ConversationStep(path, {**facts, **parsed.meta}, parsed.body))


# -- whole notes -----------------------------------------------------------------------------------


class Whole(TypedDict):
    """A note, or the part of it that there was room for.

    meta: its front matter. links: its typed links (supersedes, blocks, fixes, relates to), in both directions.
    text: from `offset` on. next_offset: start of the rest, or null. checksum: for `edit_note`, `move_note` and
    `delete_note`.
    """

    id: str
    path: str
    title: str
    meta: dict[str, Any]
    links: list[str]
    text: str
    next_offset: int | None
    checksum: str


class Notes(TypedDict):
    """Whole notes. missing: requested notes that cannot be read, and why. unread: ids for the next call."""

    notes: list[Whole]
    missing: list[str]
    unread: list[str]


def get_notes(
    access: Access,
    ids: Annotated[list[str], Field(description="mem:ID, ids, paths or titles.", min_length=1, max_length=MAX_NOTES)],
    offset: Annotated[int, Field(ge=0, description="Where in the first note's text to begin.")] = 0,
    max_chars: Annotated[int, Field(ge=500, le=MAX_CHARS, description="Total for all texts.")] = DEFAULT_CHARS,
) -> Notes:
    """Read whole notes. Long ones come in parts: call again with `next_offset` or `unread`."""
    notes: Notes = {"notes": [], "missing": [], "unread": []}
    room = max_chars
    for place, reference in enumerate(ids):
        try:
            found = lookup.resolve(access, reference)
        except NotFoundError as error:
            titled = lookup.titled(access, reference)
            if titled is None:
                notes["missing"].append(access.line(str(error), 400))
                continue
            found = titled
        path, parsed = found
        whole = whole_note(access, path, parsed, offset if place == 0 else 0, room)
        notes["notes"].append(whole)
        room -= len(whole["text"])
        if whole["next_offset"] is not None or room <= 0:
            notes["unread"] = list(ids[place + 1 :])
            break
    return notes


def whole_note(access: Access, path: str, parsed: note.Parsed, offset: int, chars: int) -> Whole:
    """Return a note's text from `offset` on, at most `chars` characters, cut at the end of a line if one is near."""
    body = access.text(generated.unmarked(parsed.body).strip("\n"))
    part = body[offset : offset + chars]
    if offset + chars < len(body):
        line_end = part.rfind("\n", len(part) * 3 // 4)
        part = part[: line_end + 1] if line_end > 0 else part
    end = offset + len(part)
    values = access.values(parsed.meta, (key for key in parsed.meta if key not in ("title", "id")))
    meta = {access.line(key, 60): value for key, value in values.items()}
    return {
        "id": access.line(parsed.fact("id"), 60),
        "path": access.line(path, 300),
        "title": access.line(str(parsed.meta.get("title", path)), 200),
        "meta": dict(list(meta.items())[:40]),
        "links": _links(access, path, parsed),
        "text": part,
        "next_offset": end if end < len(body) else None,
        "checksum": safe_text.checksum(disk.read_path(access.config.vault, path) or b""),
    }


def _links(access: Access, path: str, parsed: note.Parsed) -> list[str]:
    """Return a note's typed links with visible notes as text."""
    from mdmem.learn import relations

    nothing: list[relations.TypedLink] = []
    links, _ = lookup.ask(access, lambda view: relations.of_note(access.config, view, path, parsed.meta), nothing)
    visible = (link for link in links if link.path and lookup.read(access, link.path) is not None)
    cited = ((link.relation, access.line(link.id, 60), access.line(link.title, 200)) for link in visible)
    return [f"{relation} [mem:{name}] {title}" for relation, name, title in cited]


def notes_text(answer: Notes) -> list[str]:
    """Return whole notes as text."""
    lines: list[str] = []
    for whole in answer["notes"]:
        facts = ", ".join(f"{key}: {value}" for key, value in whole["meta"].items() if key in _FACTS)
        place = f"{whole['path']} (checksum {whole['checksum']})"
        lines += ["", f"## [mem:{whole['id']}] {whole['title']}", place, facts, *whole["links"], "", whole["text"]]
        if whole["next_offset"] is not None:
            lines.append(f"(more: get_notes with ids [{whole['id']}] and offset {whole['next_offset']})")
    lines += answer["missing"]
    if answer["unread"]:
        lines.append(f"Left out, because the answer is full: {', '.join(answer['unread'])}.")
    return lines


_FACTS = (
    "kind", "status", "created", "project", "session", "tool", "success", "files", "branch", "tags", "superseded_by",
)  # fmt: skip
"""The front matter that a reader needs; the structured answer has all of it."""


def timeline_text(timeline: Timeline) -> list[str]:
    """Return a timeline as text, with the anchor marked."""
    lines = list(entries.rows(timeline["entries"]))
    mark = f"[mem:{timeline['anchor']}]"
    return [f"{line}   ← here" if mark in line else line for line in lines] + timeline["hints"]
