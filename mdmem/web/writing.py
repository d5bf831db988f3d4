"""What pages can change: pin, tag, a note's text, forget, undo, review. Each does what the command does."""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any

from starlette.responses import Response

from mdmem import plural
from mdmem.errors import MdmemError, NotFoundError, UsageError, VaultError
from mdmem.history import commit, forget, gate, review, rewrite, undo
from mdmem.history.git import objects, repository
from mdmem.history.rewrite import Applied
from mdmem.learn import decisions, proposals, work
from mdmem.vault import disk, layout, note, user_notes
from mdmem.views import wording
from mdmem.views.vault_pages import upkeep
from mdmem.web import address
from mdmem.web.gate import Message
from mdmem.web.pages import health, notes
from mdmem.web.site import OpenNote, PageRequest, said


class ForgedError(MdmemError):
    """A form that is not from a page of ours for this browser."""


def do(request: PageRequest) -> Response:
    """Carry out a form's action, and redirect to the page it came from. If it fails, a form with a text is shown again.

    Raises:
        ForgedError: when the form does not contain this browser's token.
        NotFoundError: when there is no such action.
        MdmemError, OSError: as the action does.
    """
    action = ACTIONS.get(request.parts["action"])
    if action is None:
        raise NotFoundError(f"There is no action {request.parts['action']!r:.40}.")
    try:
        _check(request)
        response = action(request)
    except ForgedError:
        if action not in _FORMS:
            raise
        response = _FORMS[action](request, _OLD_FORM)
        response.status_code = 403
        return response
    except disk.NotSyncedError as error:  # a second try would store it twice
        to = address.note(path := os.path.relpath(str(error.filename), request.config.vault), path)
        if action in _FORMS:
            _remember(request, path)
        response = _back_with_message(
            request, f"Saved, but a power cut may undo it: {wording.cause(error)}.", to, bad=True
        )
    except (MdmemError, OSError) as error:
        if action not in _FORMS:
            raise
        response = _FORMS[action](request, error)
    request.site.live.catch_up()  # the next page shows what was written
    return response


def checked(request: PageRequest) -> Response:
    """Run the checks of the health page. Raises ForgedError as `do`."""
    _check(request)
    return health.check(request)


def _check(request: PageRequest) -> None:
    sent = request.form.get("csrf", "").encode("utf-8", "replace")
    if not hmac.compare_digest(sent, request.browser.csrf.encode()):
        raise ForgedError(
            "This page was opened before `mdmem web` was last started. Reload it, then submit the form again."
        )


def _opened(request: PageRequest) -> OpenNote:
    return request.note(request.form.get("note", ""))


def _back_with_message(
    request: PageRequest, text: str, to: str, undo_commit: str = "", *, after_undo: str = "", bad: bool = False
) -> Response:
    request.browser.messages.append(Message(text, undo_commit, request.form.get("back") or after_undo, bad))
    return request.back(request.form.get("back") or to)


def _pin(request: PageRequest) -> Response:
    opened = _opened(request)
    is_pinned = request.form.get("pinned") == "yes"
    user_notes.set_keys(request.config, opened.path, {"pinned": True if is_pinned else None})
    return _back_with_message(request, "Pinned." if is_pinned else "Unpinned.", address.note(opened.id, opened.path))


def _tag(request: PageRequest) -> Response:
    opened = _opened(request)
    tags, remove = request.form.get("tags", ""), request.form.get("remove")
    words = [tags] if remove else user_notes.typed_tags(tags)  # a tag written by hand may have spaces and commas
    (user_notes.remove_tags if remove else user_notes.add_tags)(request.config, opened.path, words)
    text = f"{'Removed' if remove else 'Added'} {plural.number(len(words), 'tag')}."
    return _back_with_message(request, text, address.note(opened.id, opened.path))


def _add(request: PageRequest) -> Response:
    """Write a new note, once for a form that is sent again as it was."""
    form = request.form
    saved_before, _ = request.browser.saved.get(_digest(request), ("", ""))
    if saved_before and disk.read_path(request.config.vault, saved_before) is not None:
        return _back_to_saved(request, address.note(saved_before, saved_before))
    text = _typed(request)
    kind, project, tags = (form.get(key, "") for key in ("kind", "project", "tags"))
    added = decisions.add(
        request.config,
        form.get("title", ""),
        text,
        kind=kind,
        project=layout.project_called(request.config.vault, project),
        tags=user_notes.typed_tags(tags),
        now=time.time(),
    )
    _remember(request, added.path)
    return _back_with_message(
        request, f"Saved.{_kept_out(request, added.path, text)}", address.note(added.path, added.path)
    )


def _edit(request: PageRequest) -> Response:
    """Change a note's title and text, unless the file has changed since the form was made."""
    text, title = _typed(request), request.form.get("title", "").strip()
    opened = _opened(request)
    current = notes.digest(opened.data)
    if current != request.form.get("digest", ""):
        if request.browser.saved.get(_digest(request)) == (opened.path, current):
            return _back_to_saved(request, address.note(opened.id, opened.path))
        raise user_notes.ChangedError(opened.path)
    title = "" if title == opened.title else title
    user_notes.change_text(request.config, opened.path, text, seen=opened.data, title=title, most=notes.MAX_FORM_BYTES)
    _remember(request, opened.path)
    kept_out = _kept_out(request, opened.path, text)
    try:
        known = gate.IN_HISTORY if _is_in_history(request, opened, f"{title}\n{text}") else ""
    except (MdmemError, OSError) as error:
        known = f" Whether history has what is private in it is unknown: {wording.cause(error)}."
    return _back_with_message(
        request, f"Saved.{kept_out}{known}", address.note(opened.id, opened.path), bad=bool(known)
    )


def _digest(request: PageRequest) -> str:
    """Return a digest of all fields of a form."""
    return sha256(repr(sorted(request.form.items())).encode("utf-8", "replace")).hexdigest()


def _remember(request: PageRequest, path: str) -> None:
    """Keep as which note a form was saved, in case the browser sends it again, as by a double click without script."""
    with suppress(MdmemError, OSError):  # the note is stored
        request.browser.remember(
            _digest(request), path, notes.digest(disk.read_path(request.config.vault, path) or b"")
        )


def _back_to_saved(request: PageRequest, to: str) -> Response:
    """Redirect to the note as which the same form was saved before; after a double click, its message still waits."""
    if not request.browser.messages:
        request.browser.messages.append(Message("This was saved before; nothing was changed."))
    return request.back(to)


def _kept_out(request: PageRequest, path: str, typed: str) -> str:
    """Return what the gate kept out of a note's text, as a sentence: the marks that are new in it."""
    try:
        body = note.load(request.config.vault, path).body
    except (MdmemError, OSError):
        return ""  # the note's page shows the marks
    marks = request.config.settings.privacy
    counts = [
        plural.number(body.count(mark) - typed.count(mark), noun)
        for mark, noun in ((marks.marker, "private section"), (marks.redacted, "secret"))
        if mark and body.count(mark) > typed.count(mark)
    ]
    return f" {' and '.join(counts)} kept out of the note." if counts else ""


def _typed(request: PageRequest) -> str:
    return request.form.get("text", "").replace("\r\n", "\n")


def _not_added(request: PageRequest, error: MdmemError | OSError) -> Response:
    """Show a new note that could not be saved in its form again."""
    return notes.new_form(request, {**request.form, "text": _typed(request)}, said(error))


def _not_saved(request: PageRequest, error: MdmemError | OSError) -> Response:
    """Show a text that could not be saved in its form again: only the request has it."""
    is_changed = isinstance(error, user_notes.ChangedError)
    try:
        opened = _opened(request)
    except (MdmemError, OSError) as gone:
        opened, is_changed, error = OpenNote(request.form.get("note", ""), b"", note.parse(b""), None), False, gone
    return notes.edit_form(
        request, opened, _typed(request), title=request.form.get("title", ""), conflict=is_changed, problem=said(error)
    )


def _is_in_history(request: PageRequest, opened: OpenNote, text: str) -> bool:
    """Whether the last commit contains what was just marked as private in a note."""
    config = request.config
    try:
        repo = repository.open_vault(config.vault)
    except VaultError:
        return False
    places = filter(None, (opened.path, layout.archive_of(layout.folder_of(opened.path))))
    before = b"".join([repository.attempt(repo, "cat-file", "blob", f"HEAD:{place}").out for place in places])
    return gate.CommitGate(config.settings).is_known(text.encode("utf-8", "replace"), before)


def _forget(request: PageRequest) -> Response:
    opened = _opened(request)
    config = request.config
    _keep(request, opened)
    done = forget.apply(config, forget.plan(config, [opened.path]), upkeep.updater(config))
    if not done.changed:
        return _back_with_message(
            request, f"{opened.path} was changed in the meantime and is left unchanged.", "/", bad=True
        )
    return _back_with_message(
        request,
        f"Forgot “{opened.title}”. It stays in history.",
        "/",
        _commit(done),
        after_undo=address.note(opened.path, opened.path),
    )


def _keep(request: PageRequest, opened: OpenNote) -> None:
    """Commit the note before it is deleted, so that it can be restored.

    Raises:
        VaultError: when the vault has no history.
        UsageError: when the note cannot be committed.
    """
    repository.open_vault(request.config.vault)
    if forget.keep(request.config, [opened.path]):
        raise UsageError(
            f"“{opened.title}” holds private text or a secret, or stays on this machine, so it is not in history and"
            " could not be restored. Nothing was deleted. `mdmem forget` deletes it for good."
        )


def _commit(done: Applied) -> str:
    return done.result.commits[-1].oid if done.result.commits else ""


def _undo(request: PageRequest) -> Response:
    commit = request.form.get("commit", "")
    if len(commit) not in (40, 64) or not commit.isalnum():
        raise UsageError("There is nothing to undo: the form names no commit.")
    planned = undo.plan(request.config, commit)
    done = undo.apply(request.config, planned, upkeep.updater(request.config))
    count = plural.number(len(done.changed), "file")
    return _back_with_message(request, f"Undone: {count} as before.", "/", bad=not done.changed)


def committed(request: PageRequest) -> Response:
    """Commit what has changed, as the command does; other pages are answered while git works.

    Raises:
        ForgedError: as `do`.
        MdmemError: as the command does.
    """
    _check(request)
    with request.site.live.lock:
        upkeep.refresh(request.config, now=time.time(), may_wait=True)
    done = commit.commit(request.config)
    request.site.live.catch_up()
    said = f"Made {plural.number(len(done.commits), 'commit')}." if done.commits else "Nothing was committed."
    return _back_with_message(request, said, "/uncommitted", bad=not done.commits)


# -- review ----------------------------------------------------------------------------------------

_DECISIONS: dict[str, dict[str, Any]] = {"keep": {}, "pin": {"pinned": True}}


def _review(request: PageRequest) -> Response:
    """Keep, pin or drop a note of the queue."""
    opened = _opened(request)
    decision = request.form.get("decision", "")
    if decision == "drop":
        _keep(request, opened)
        step = rewrite.RewriteStep(opened.path, opened.data, None)
    elif decision in _DECISIONS:
        step = review.decide(request.config, opened.path, **_DECISIONS[decision])
    else:
        raise UsageError(f"{decision!r:.40} is not a decision.")
    done = rewrite.apply(request.config, [step], f"Review: {decision} 1\n", upkeep.updater(request.config))
    words = {"keep": "Kept", "pin": "Kept and pinned", "drop": "Dropped"}[decision]
    return _back_with_message(
        request, f"{words} “{opened.title}”.", "/review", _commit(done) if decision == "drop" else ""
    )


def _propose(request: PageRequest) -> Response:
    """Accept or dismiss a proposal."""
    decide = {"accept": proposals.accept, "dismiss": proposals.dismiss}.get(request.form.get("decision", ""))
    if decide is None:
        raise UsageError(f"{request.form.get('decision', '')!r:.40} is not a decision.")
    one = decide(request.config, request.form.get("key", ""), now=time.time())
    words = "Accepted" if decide is proposals.accept else "Dismissed"
    return _back_with_message(request, f"{words} “{one.title}”.", "/review")


def _close(request: PageRequest) -> Response:
    """Close a piece of open work."""
    item = work.mark_done(request.config, request.form.get("key", ""), now=time.time())
    return _back_with_message(request, f"Closed “{item.text}”.", "/open")


def _reviewed(request: PageRequest) -> Response:
    """Mark all that was shown as reviewed: the queue starts over at the commit that the page knew."""
    seen = review.Review("", request.form.get("head", ""), [])
    repo = repository.open_vault(request.config.vault)
    if not objects.has_commit(repo, seen.head):
        raise UsageError("The page is out of date. Reload it.")
    review.finish(request.config, seen, [], "Review\n")
    return _back_with_message(request, "Everything is marked as reviewed.", "/review")


ACTIONS: dict[str, Callable[[PageRequest], Response]] = {
    "pin": _pin,
    "tag": _tag,
    "add": _add,
    "edit": _edit,
    "forget": _forget,
    "undo": _undo,
    "review": _review,
    "reviewed": _reviewed,
    "proposal": _propose,
    "done": _close,
}
"""Action in a form's address -> the function that does it."""

_FORMS: dict[Callable[[PageRequest], Response], Callable[[PageRequest, MdmemError | OSError], Response]] = {
    _add: _not_added,
    _edit: _not_saved,
}
"""Action that takes a text -> the function that shows its form again, so that the text is not lost."""

_OLD_FORM = ForgedError(
    "This form was opened before `mdmem web` was last started. Look at the text, and save it again."
)
