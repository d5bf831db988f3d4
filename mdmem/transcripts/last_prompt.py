"""Last prompt: stores, on request, what private tags hid in the last prompt, reread from the agent's transcript."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from mdmem import privacy
from mdmem.agents import Event, cursor, mapping, objects, prompts, text
from mdmem.agents.install.catalog import AGENTS
from mdmem.capture import drafts, notices, store
from mdmem.capture.pending import Capture, Outcome
from mdmem.config import Config
from mdmem.errors import NotFoundError, PatternError, UsageError, VaultError
from mdmem.privacy import memory
from mdmem.privacy import text as private_text
from mdmem.transcripts import sources
from mdmem.transcripts.lines import Lines
from mdmem.transcripts.saved import ReadOptions, SavedEvent, Skipped
from mdmem.vault import disk, note
from mdmem.vault.journal import numbers

_QUERY = ("<user_query>", "</user_query>")


def keep(config: Config) -> str:
    """Store what private tags hid in the last prompt; return the note's path in the vault.

    Raises:
        NotFoundError: nothing was hidden, or the transcript does not contain the prompt.
        UsageError: its note was edited since. OSError, VaultError: the vault cannot be written.
    """
    last = notices.last(config)
    if last is None or last.agent not in AGENTS:
        raise NotFoundError("Nothing was kept out of any recent prompt.")
    typed = _typed(last, privacy.Rules.of(config.settings))
    event = Event(
        agent=last.agent,
        name="UserPromptSubmit",
        session=last.session,
        prompt_id=last.prompt_id,
        cwd=last.cwd,
        transcript=last.transcript,
        prompt=typed.prompt,
        extra=typed.extra,
    )
    path = _store(config, event, last.at, last.note)
    notices.forget_last(config)
    return path


def _store(config: Config, event: Event, now: float, note_id: str) -> str:
    """Store a prompt without its private tags, secrets still masked; return the note's path in the vault.

    note_id: the note with the prompt's public part, which is rewritten; "" if there is none.

    Raises:
        UsageError: the note was edited or removed since, or nothing can be stored.
        VaultError, OSError: the vault cannot be written.
    """
    at = Capture(config, event, now)
    text = private_text.without_tags(privacy.as_typed(prompts.typed(event.prompt)), at.rules)
    draft = drafts.of_prompt(at, text)
    spans = privacy.clean(privacy.as_typed(event.prompt), rules=at.rules).spans
    new_note, cleaned = store.make(at, draft, memory.load_without(config, at.session.key, spans))
    if isinstance(cleaned.failure, PatternError):
        raise cleaned.failure
    if cleaned.failure is not None:
        raise UsageError(
            "This prompt could not be checked for secrets, because of a fault in mdmem. Nothing was stored."
        )
    if new_note is None or cleaned.hidden.sections:
        raise UsageError("This prompt cannot be stored: without its private tags, it is empty or contains new ones.")
    memory.forget(config, at.session.key, spans)
    if note_id:
        return _replace(at, new_note, note_id)
    outcome = Outcome()
    store.publish(at, draft, new_note, outcome)
    at.update_page()
    return outcome.path


def _replace(capture: Capture, new_note: note.Note, note_id: str) -> str:
    name = capture.session.name_of(note_id)
    folder = capture.session.open_folder()
    if not name or folder is None:
        raise UsageError("The prompt's note is gone. Nothing was stored.")
    path = f"{'/'.join(capture.session.folder)}/{name}"
    with folder:
        folder.lock()
        data = disk.read(folder, name)
        if data is None:
            raise UsageError(f"{path} was renamed or deleted. Nothing was stored.")
        present = note.parse(data)
        if note.is_edited(present):
            raise UsageError(f"{path} was edited since. Add the text there by hand.")
        position = numbers(name)
        new_note.meta.update({"id": note_id, "project": present.meta.get("project", new_note.meta["project"])})
        new_note.meta["prompt"], new_note.meta["sequence"] = position[0], position[1]
        new_note.meta["created"] = str(present.meta.get("created", new_note.meta["created"]))
        if not disk.replace(
            folder, name, data, note.render(new_note).encode("utf-8", "replace"), durable=capture.config.durable
        ):
            raise VaultError(f"{path} has changed in the meantime. Run the command again.")
    capture.update_page()
    return path


def _typed(last: notices.LastHidden, rules: privacy.Rules) -> Event:
    """Return the saved prompt: that with its id, else the one with a private section nearest in time.

    The agent may have saved later prompts that no hook received.
    """
    saved_prompts = _prompts(last)
    with_id = [saved.event for saved in saved_prompts if last.prompt_id and saved.event.prompt_id == last.prompt_id]
    if with_id:
        return with_id[-1]
    hidden = [
        saved
        for saved in saved_prompts
        if privacy.clean(privacy.as_typed(saved.event.prompt), rules=rules).hidden.sections
    ]
    if not hidden:
        place = f" at {last.transcript}" if last.transcript else ""
        raise NotFoundError(
            f"What {last.agent} saved{place} does not contain the prompt. Type the text again without its tags."
        )
    return min(reversed(hidden), key=lambda saved: abs(saved.at - last.at)).event


def _prompts(last: notices.LastHidden) -> list[SavedEvent]:
    path = Path(last.transcript)
    if last.agent == cursor.NAME:
        return [SavedEvent(last.at, event) for event in _of_cursor(path)] if last.transcript and path.is_file() else []
    source = sources.recognize(path) if last.transcript and sources.file_of(path).is_file() else None
    if source is None:
        raise NotFoundError(
            f"{last.agent} keeps no transcript that mdmem can read{f' at {path}' if last.transcript else ''}."
            " Type the text again without its tags."
        )
    saved = source.read(path, ReadOptions(Skipped(), time.time()))
    return [saved_event for saved_event in saved if saved_event.event.name == "UserPromptSubmit"]


def _of_cursor(path: Path) -> Iterator[Event]:
    """Yield a conversation's prompts from the transcript that Cursor's hook named."""
    for line in Lines(path, Skipped()):
        for part in objects(mapping(line.get("message")).get("content") if line.get("role") == "user" else None):
            words = text(part.get("text"))
            head, tag, after_tag = words.partition(_QUERY[0])
            words = after_tag.rpartition(_QUERY[1])[0].strip("\n") if tag and not head.strip() else words
            if words:
                yield cursor.read({"hook_event_name": "beforeSubmitPrompt", "prompt": words}, {})
