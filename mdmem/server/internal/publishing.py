"""Publishing: copies of a memory in a space or group, for everyone who talks to its ghost."""

from __future__ import annotations

from mdmem.config import Config
from mdmem.errors import NotFoundError, UsageError
from mdmem.server.internal import memories
from mdmem.server.internal.context import OWNER_KEYS, Context, Scope, forges, home, load_config, read, scope
from mdmem.server.internal.memories import Memory
from mdmem.vault import editing, user_notes

ORIGINAL = "published_from"
"""Key in a copy's front matter: the id of the original memory."""


def publish(config: Config, context: Context, memory_id: str, to: str, *, withdraw: bool, now: float) -> Memory:
    """Copy a memory of this context to a space or group, refresh its copy there, or withdraw it.

    to: `space:NAME` or `group:NAME`.

    Raises:
        UsageError: when this context may not publish there.
        NotFoundError: when there is no such memory, or it was not published there.
        VaultError, BusyError, OSError: when the copy cannot be written.
    """
    place = _place(config, context, to)
    original = memories.find(config, scope(config, context), memory_id)
    if original.shared:
        raise UsageError("This memory was published here already, by somebody else or from its original.")
    published = memories.load(config, place, deleted="include")
    copy = next((memory for memory in published if memory.meta.get(ORIGINAL) == original.id), None)
    if withdraw:
        if copy is None:
            raise NotFoundError(f"The memory {memory_id!r:.60} is not published to {to!r:.80}.")
        return _changed(config, place, copy, {"deleted": True})
    tags = [tag for tag in original.tags if not forges(tag)]
    numbers = {
        name: value
        for name, value in original.meta.items()
        if name in memories.NUMBERS or name.startswith(memories.FEEL)
    }
    if copy is not None:
        content, title = original.content.strip("\n"), original.title
        memories.update(config, place, copy.id, content=content, title=title, tags=tags, numbers=numbers, now=now)
        return _changed(config, place, copy, {"deleted": None})
    copied = memories.create(
        config, place, original.content.strip("\n"),
        title=original.title, tags=tags, numbers=numbers, extra={ORIGINAL: original.id}, now=now,
    )  # fmt: skip
    return memories.find(config, place, copied.id)


def _place(config: Config, context: Context, to: str) -> Scope:
    """Return the scope of memories published to a space or group, if this context may publish to it.

    A space's ghost may publish to its own space; a user's ghost, where its configuration allows it.
    """
    kind, _, name = to.strip().partition(":")
    if kind not in ("space", "group") or not name:
        raise UsageError(f"`to` must be space:NAME or group:NAME, not {to!r:.80}.")
    target = read({"internal_type": "ghost", "ghost_type": kind, OWNER_KEYS[kind]: name})
    is_own = (context.ghost_type, context.owner) == (kind, target.owner)
    allowed = context.kind == "ghost" and context.ghost_type == "user"
    is_named = allowed and load_config(config, home(config, context)).publishes_to(kind, target.owner)
    place = scope(config, target).published
    if place is None or not (is_own or is_named):
        raise UsageError(
            f"This context may not publish to {to!r:.80}: its ghost-config.md must name it under `{kind}s`."
        )
    return place._replace(trust=1.0)


def _changed(config: Config, place: Scope, copy: Memory, keys: dict[str, bool | None]) -> Memory:
    user_notes.change(config, copy.path, lambda data: editing.set_keys(data, keys), internal=True)
    return memories.find(config, place, copy.id)
