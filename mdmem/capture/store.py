"""Store: writes an event's note to the vault, or to the retry queue if the vault cannot be written."""

from __future__ import annotations

from mdmem import privacy, project, timestamps
from mdmem.capture import turn
from mdmem.capture.pending import EMPTY, PRIVATE, Capture, Outcome, PendingNote, has_queued
from mdmem.capture.session import REPEAT_SECONDS, Session, folder_words
from mdmem.hashing import short
from mdmem.hook_errors import DeadlineError, PatternError, VaultError
from mdmem.vault import disk, journal, note
from mdmem.vault.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_LONG_BYTES = 1024 * 1024 + 64 * 1024
"""Maximum size of a note, whatever the settings say: a body of one megabyte and the template around it."""

_LONG_CHARS = 96 * 1024
"""Shorter texts are stored without `window`, so that most hooks need not import it."""
_LONG_DEPTH = 8


def make(capture: Capture, draft: PendingNote, echo: privacy.Echo | None) -> tuple[note.Note | None, privacy.Cleaned]:
    """Return a draft's note, cleaned but not stored, and what was removed; `echo` knows earlier private text."""
    event, session = capture.event, capture.session
    context = {
        **draft.meta,
        "subagent": (event.extra.get("agent_type") or "unknown") if event.subagent else "",
        "project": capture.project.name,
        "session": session.id,
        "prompt": 0,
        "sequence": 0,
        "agent": event.agent,
        "cwd": event.cwd[:1024],
        "branch": capture.project.branch,
        "staged": _staged(capture),
        "commit": capture.project.commit,
        "tags": list(draft.tags),
    }
    source, build = _windowed(capture, draft) if _holds_long(draft.source) else (draft.source, draft.build)
    request = note.NoteRequest(
        draft.kind,
        source,
        build,
        identity=session.identity(*draft.identity, draft.kind),
        created=timestamps.note_time(capture.now),
        context=context,
        origin=draft.origin,
        max_bytes=max(note.MAX_NOTE_BYTES, min(4 * draft.chars, MAX_LONG_BYTES) + 2 * note.MAX_META_BYTES),
    )
    return note.new(request, capture.rules, echo)


def _holds_long(value: Any, depth: int = 0) -> bool:
    """Whether the value contains a text so long that its middle is never stored."""
    if isinstance(value, str):
        return len(value) > _LONG_CHARS
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth <= _LONG_DEPTH and any(_holds_long(item, depth + 1) for item in items)


def _windowed(capture: Capture, draft: PendingNote) -> tuple[Any, Callable[[Any], note.Draft | None]]:
    """Return the draft's source without the middles of long texts, and a `build` that replaces them by blanks."""
    from mdmem.capture import window

    through = window.Window(capture.rules, draft.chars)
    return through.narrow(draft.source), lambda clean: draft.build(through.widen(clean))


def store(capture: Capture, draft: PendingNote) -> Outcome:
    """Clean and store a draft; queue it if the vault cannot take it, and report a loss if that fails too."""
    session = capture.session
    built, cleaned = make(capture, draft, capture.load_echo())
    outcome = Outcome()
    outcome.kind = str(built.meta["kind"]) if built else draft.kind
    outcome.private, outcome.redacted, outcome.unclosed = cleaned.private, cleaned.redacted, cleaned.unclosed
    outcome.hidden, outcome.stray = cleaned.hidden, cleaned.stray
    outcome.too_long = capture.left_out
    if failure := cleaned.failure or capture.unchecked:
        note_withheld(capture, outcome, failure, draft.kind)
    if cleaned.spans or cleaned.secrets or cleaned.unlearned:
        from mdmem.capture import remembered

        outcome.unmarked = not remembered.learn_cleaned(capture, cleaned)
    if outcome.unmarked:
        turn.withhold(capture)
        outcome.ignored = PRIVATE  # later repetitions of it could not be recognized
        return outcome
    if built is None:
        outcome.ignored = PRIVATE if cleaned.private else EMPTY
        return outcome
    if draft.by_text:
        built.meta["id"] = session.note_id(*draft.identity, short(built.body, 16), draft.kind)
    outcome.id = built.id
    begins = not session.folder
    try:
        _wait_behind(capture)
        publish(capture, draft, built, outcome)
    except (Exception, DeadlineError) as error:  # noqa: BLE001 - whatever failed, queue the note
        from mdmem import log
        from mdmem.capture import retry_queue

        outcome.error = type(error).__name__
        outcome.waits = retry_queue.keep(capture, draft, built)
        log.write(capture.config, f"{draft.kind} {'is queued' if outcome.waits else 'is lost'}", error)
    begins = begins or (draft.kind == "prompt" and built.meta.get("prompt") == 1)  # the first prompt names the session
    if begins and outcome.added:
        capture.update_page()  # so that a session killed in its first turn still has a title
    return outcome


def note_withheld(capture: Capture, outcome: Outcome, failure: BaseException, what: str) -> None:
    """Record that a text is left out of what is stored, because it could not be checked, and why."""
    from mdmem import log

    outcome.withheld = True
    outcome.why = str(failure) if isinstance(failure, PatternError) else ""
    log.write(capture.config, f"a text could not be checked for private text: the {what} is stored without it", failure)


def _wait_behind(capture: Capture) -> None:
    """Raise VaultError while earlier notes of the session are queued, so that this one queues behind them."""
    if has_queued(capture.config):
        from mdmem.capture import retry_queue

        if retry_queue.waits(capture.config, capture.session.key):
            raise VaultError("Earlier notes of this session are still queued.")


def _staged(capture: Capture) -> str:
    """Return the code branch that keeps the note back until it is merged, or "" (only with capture.branches = "stage").

    A branch that no longer exists, as in an old transcript, keeps nothing back: nobody could ever be on it again.
    """
    code = capture.project
    if capture.config.settings.capture.branches != "stage" or not code.branch:
        return ""
    default = project.default_branch(code.worktree)
    waits = default not in ("", code.branch) and project.has_branch(code.worktree, code.branch)
    return code.branch if waits else ""


def publish(capture: Capture, draft: PendingNote, built: note.Note, outcome: Outcome) -> None:
    """Choose the note's folder, number and name, and write it.

    Raises OSError or VaultError when the vault cannot take it.
    """
    if capture.is_deleted(built):
        outcome.stored = True
        return
    session, created = capture.session, str(built.meta["created"])
    project_folder = capture.project_folder(created)
    built.meta["project"] = project_folder
    words = folder_words(built.title) if draft.kind == "prompt" else ""
    with session.make_folder(project_folder, words, lambda: _first_page(session, built), capture.now) as folder:
        folder.lock()
        session.catch_up(folder)
        prompt, sequence, name = _number(capture, draft, built, folder)
        is_new = name is None
        if name is None:
            built.meta["prompt"], built.meta["sequence"] = prompt, sequence
            label = str(built.meta.get("tool") or draft.label or draft.kind)
            part = session.next_part()
            name = part + note.file_name(built, label, prompt, sequence, session.name_room(folder, part))
        if is_new or not session.is_published(name):
            built.meta["prompt"], built.meta["sequence"] = numbers(name)
            _link_page(built, folder)
            session.publish(folder, name, built)
            outcome.added = True
        elif draft.is_state:
            from mdmem.capture.later import completion

            completion.renew(folder, name, built, durable=capture.live and capture.config.durable)
        else:
            capture.complete(folder, name, built)
    outcome.stored, outcome.id = True, built.id
    outcome.path = f"{'/'.join(session.folder)}/{name}"


def _link_page(built: note.Note, folder: disk.Folder) -> None:
    """Link a note to its session page, as a property that editors follow."""
    page = journal.page_in(folder)
    if page and page != journal.FORMER_PAGE:  # links go by name alone, and 0.1 gave all pages one name
        built.meta["page"] = f"[[{page.removesuffix('.md')}]]"


def _first_page(session: Session, built: note.Note) -> note.Note:
    from mdmem.capture import page  # needed only for a session's first note

    return page.first(session, built)


def _number(capture: Capture, draft: PendingNote, built: note.Note, folder: disk.Folder) -> tuple[int, int, str | None]:
    """Return the note's prompt number, its sequence number, and its file's name if the event was delivered before."""
    session = capture.session
    last = session.prompt_number() if draft.kind == "prompt" else capture.prompt_number()
    prompt, sequence = (last + 1, 0) if draft.kind == "prompt" else (last, session.next_sequence(last))
    if draft.identity:
        return prompt, sequence, capture.published_name(draft, built)

    words = short(f"{built.title}\0{built.body}", 16)

    def numbered(place: str) -> str:
        return session.note_id(place, words, draft.kind)

    built.meta["id"] = numbered(f"prompt {last}")
    name = session.name_of(built.id)
    if name and _is_recent(session, folder, name, capture.now):
        return prompt, sequence, name
    # The same words again after REPEAT_SECONDS: another prompt or run.
    built.meta["id"] = numbered(f"prompt {prompt}" if draft.kind == "prompt" or not name else f"{prompt} {sequence}")
    return prompt, sequence, None


def _is_recent(session: Session, folder: disk.Folder, name: str, now: float) -> bool:
    created = next((line[2] for line in session.published() if line[0] == name and len(line) > 2), "")
    if not created:  # the record was rebuilt, or had no room for it
        created = note.parse(disk.read(folder, name) or b"").fact("created")
    return abs(now - timestamps.epoch(created)) <= REPEAT_SECONDS
