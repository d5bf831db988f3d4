"""Keep: stores a prompt together with what its private tags hid, on the user's request."""

from __future__ import annotations

from mdmem import privacy
from mdmem.agents import prompts
from mdmem.capture import events, store
from mdmem.capture.pending import Capture, Outcome
from mdmem.errors import UsageError, VaultError
from mdmem.privacy import memory
from mdmem.privacy import text as texts
from mdmem.vault import disk, note
from mdmem.vault.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.agents import Event
    from mdmem.config import Config


def prompt(config: Config, event: Event, now: float, note_id: str) -> str:
    """Store a prompt without its private tags, secrets still masked; return the note's path in the vault.

    note_id: the note with the prompt's public part, which is rewritten; "" if there is none.

    Raises:
        UsageError: the note was edited or removed since, or nothing can be stored.
        VaultError, OSError: the vault cannot be written.
    """
    at = Capture(config, event, now)
    text = texts.without_tags(privacy.as_typed(prompts.typed(event.prompt)), at.rules)
    draft = events.prompt_draft(at, text)
    spans = privacy.clean(privacy.as_typed(event.prompt), rules=at.rules).spans
    new_note, cleaned = store.make(at, draft, memory.load_without(config, at.session.key, spans))
    if new_note is None or cleaned.hidden.sections:
        raise UsageError("This prompt cannot be stored: without its private tags, it is empty or contains new ones.")
    memory.forget(config, at.session.key, spans)
    if note_id:
        return _replace(at, new_note, note_id)
    outcome = Outcome()
    store.publish(at, draft, new_note, outcome)
    at.update_page()
    return outcome.path


def _replace(at: Capture, new_note: note.Note, note_id: str) -> str:
    name = at.session.name_of(note_id)
    folder = at.session.open_folder()
    if not name or folder is None:
        raise UsageError("The prompt's note is gone. Nothing was stored.")
    path = f"{'/'.join(at.session.folder)}/{name}"
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
            folder, name, data, note.render(new_note).encode("utf-8", "replace"), durable=at.config.durable
        ):
            raise VaultError(f"{path} has changed in the meantime. Run the command again.")
    at.update_page()
    return path
