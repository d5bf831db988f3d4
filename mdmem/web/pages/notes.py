"""Note: its text, origin, links to it and history; and the forms that change it."""

from __future__ import annotations

import difflib
import os
import secrets
import shlex
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import Response

from mdmem.config import Config
from mdmem.errors import GitError, NotFoundError, VaultError
from mdmem.history import past, private, why
from mdmem.history.git import repository
from mdmem.history.git.environment import PATTERNS
from mdmem.learn import relations
from mdmem.search import engine, solved
from mdmem.search.all_but import AllBut
from mdmem.vault import archives, is_in_journal, journal, note, user_notes
from mdmem.views import injections, markup, rows, sessions
from mdmem.views.injections import Injection
from mdmem.views.rows import NoteRow
from mdmem.web import address, markdown
from mdmem.web.site import OpenNote, PageRequest

RELATED = 6
MAX_STEPS = 20
MAX_FORM_BYTES = 256 * 1024
"""Maximum size of a text in a form: browsers take seconds to lay out a longer one."""


class PastVersion(NamedTuple):
    """A commit that changed a note, and its patch."""

    step: why.OriginStep
    patch: Markup


def show(request: PageRequest) -> Response:
    """Show a note."""
    opened = request.note(request.parts["name"])
    meta, base = opened.parsed.meta, opened.path.rpartition("/")[0]
    fresh = rows.row(request.view, opened.number) if opened.number is not None else None
    alike = engine.related(request.config, opened.path, limit=RELATED, update=False).hits
    given = _injections_of(request, opened)
    stays = private.stays_here(request.config.vault, meta, opened.project)
    return request.page(
        "note",
        note=opened,
        meta={key: value for key, value in meta.items() if key != "title"},
        tags=user_notes.tags_of(meta.get("tags")),
        row=fresh,
        html=_html(opened, base),
        asked=_prompt_of(request, fresh),
        solved_by=_solved_by(request, opened, fresh),
        stays=stays,
        purge=_purge_of_history(request.config, opened.path) if stays else "",
        joined=relations.of_note(request.config, request.view, opened.path, meta),
        backlinks=rows.backlinks(request.view, opened.path, str(meta.get("id", ""))),
        related=alike,
        given=given,
        with_notes={one.session for one in given if request.view.of_session(one.session)},
        editors=editors(request, opened),
        kept_in=archives.file_of(request.config, opened.path),
        is_page=meta.get("kind") in note.PAGES,
        has_two_versions=note.has_two_versions(opened.data),
        edited=note.is_edited(opened.parsed),
        value_text=value_text,
    )


def _html(opened: OpenNote, base: str) -> Markup:
    """Return a note's text as HTML; plain text for a note with merge markers, which are not Markdown."""
    body = markup.without_title(opened.parsed.body, opened.title)
    if note.has_two_versions(opened.data):
        return Markup('<pre class="block" tabindex="0"><code>{}</code></pre>').format(body[: markdown.MAX_CHARS])
    return markdown.render(body, base, level=2)


def value_text(value: Any) -> str:
    """Return a value of front matter as text for people."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _prompt_of(request: PageRequest, row: NoteRow | None) -> NoteRow | None:
    """Return the prompt that a captured note answers."""
    if row is None or not row.session or not row.prompt or row.kind in ("prompt", *note.PAGES):
        return None
    view = request.view
    prompts = view.of_session(row.session) & view.notes("facet", "kind:prompt")
    prompt_rows = (rows.row(view, number) for number in prompts)
    return next((prompt for prompt in prompt_rows if prompt.prompt == row.prompt), None)


def _solved_by(request: PageRequest, opened: OpenNote, row: NoteRow | None) -> list[NoteRow]:
    """Return what solved a failed run: the changes after it, and the run that succeeded."""
    if row is None or row.success is not False or opened.number is None:
        return []
    view = request.view
    fix = solved.Finder(request.config, view, AllBut(view, view.internal)).of_run(opened.number)
    steps = [request.row(name) for name in (*fix.edits, fix.solved)] if fix else []
    return [step for step in steps if step is not None]


def _injections_of(request: PageRequest, opened: OpenNote) -> list[Injection]:
    log = [row for row in injections.log(request.config) if opened.id in map(str, row.get("ids", ()))]
    return injections.read(request.view, log[-RELATED:][::-1])


def editors(request: PageRequest, opened: OpenNote) -> list[tuple[str, str]]:
    """Return the links that open a note's file in an editor, or the file of the archived session it is in."""
    full = str(Path(request.config.vault, archives.file_of(request.config, opened.path)))
    return [
        ("VS Code", f"vscode://file{address.quoted(full)}"),
        ("Obsidian", f"obsidian://open?path={quote(os.fsencode(full), safe='')}"),
    ]


def _purge_of_history(config: Config, path: str) -> str:
    """Return the command that removes a note from earlier commits; "" if none contains it, or that is unknown."""
    try:
        repo = repository.open_vault(config.vault)
    except VaultError:
        return ""
    last = repository.attempt(repo, "rev-list", "--all", "--max-count=1", "--", path).out
    return f"mdmem purge --history-only {shlex.quote(path)} --apply" if last.strip() else ""


def versions(request: PageRequest) -> Response:
    """Show a note's history, newest first: what is not committed yet, then its commits."""
    opened = request.note(request.parts["name"])
    problem, uncommitted, past_versions = "", "", []
    try:
        repo = repository.open_vault(request.config.vault)
        steps = why.steps(repo, opened.path)[::-1][:MAX_STEPS]
        past_versions = [PastVersion(step, markdown.diff(_patch(repo, step.oid, opened.path))) for step in steps]
        uncommitted = _uncommitted(request.config, opened.path) if steps else ""
    except (VaultError, GitError) as error:
        problem = str(error)
    return request.page(
        "versions",
        note=opened,
        versions=past_versions,
        uncommitted=markdown.diff(uncommitted) if uncommitted else "",
        stays=private.stays_here(request.config.vault, opened.parsed.meta, opened.project),
        problem=problem,
    )


def _uncommitted(config: Config, path: str) -> str:
    """Return how a note differs from the last commit; "" for a note in an archive, whose file holds others too."""
    if archives.file_of(config, path) != path:
        return ""
    try:
        return _hunks(b"\n".join(past.diff(config, paths=(path,))))
    except NotFoundError:  # there is no commit yet
        return ""


def _patch(repo: repository.Repository, oid: str, path: str) -> str:
    """Return what a commit changed in a note; `why.steps` follows a captured one by its name, into other folders."""
    name = path.rpartition("/")[2]
    is_followed = is_in_journal(path) and journal.id_in(name)
    words = ("show", "--no-ext-diff", "--no-textconv", "--no-color", "--format=", oid, "--")
    if is_followed:
        return _hunks(repository.attempt(repo, *words, f":(glob)**/{name}", env=PATTERNS).out)
    return _hunks(repository.attempt(repo, *words, path).out)


def _hunks(patch: bytes) -> str:
    return past.hunks(patch.decode("utf-8", "replace")[: markdown.MAX_CHARS])


# -- forms: a new note, a note's text --------------------------------------------------------------


def digest(data: bytes) -> str:
    """Return a digest by which a form tells whether the text has changed since."""
    return sha256(data).hexdigest()


def new(request: PageRequest) -> Response:
    """Show a form for a new note."""
    return new_form(request, request.query)


def new_form(request: PageRequest, sent: Mapping[str, str], problem: str = "") -> Response:
    """Show the form for a new note, filled in as sent. problem: why it could not be saved."""
    values = {key: sent.get(key, "") for key in ("title", "text", "kind", "project", "tags")}
    projects = {*sessions.projects(request.view), values["project"]}
    return request.page(
        "new",
        status=400 if problem else 200,
        given=values,
        problem=problem,
        kinds=note.WRITTEN,
        projects=sorted(projects - {""}),
        once=secrets.token_urlsafe(8),  # tells a form that is sent twice from two forms with the same text
        most=user_notes.MAX_BODY_BYTES,
    )


def edit(request: PageRequest) -> Response:
    """Show a note's text in a form."""
    opened = request.note(request.parts["name"])
    return edit_form(request, opened, opened.parsed.body.strip("\n"), title=opened.title)


def edit_form(
    request: PageRequest, opened: OpenNote, text: str, *, title: str, conflict: bool = False, problem: str = ""
) -> Response:
    """Show a title and a text in the form of a note.

    problem: why the text could not be saved. conflict: whether the reason is that the note has changed since; the
        differences are shown.
    """
    theirs = opened.parsed.body.strip("\n")
    lines = difflib.unified_diff(
        theirs.split("\n"), text.strip("\n").split("\n"), "the note now", "your text", lineterm="", n=2
    )
    return request.page(
        "edit",
        status=409 if conflict else 400 if problem else 200,
        note=opened,
        title=title,
        text=text,
        digest=(not conflict and request.form.get("digest")) or digest(opened.data),
        conflict=conflict,
        problem=problem,
        bytes=len(text.encode("utf-8", "replace")),
        most=MAX_FORM_BYTES,
        editors=editors(request, opened),
        patch=markdown.diff("\n".join(lines)) if conflict else "",
    )
