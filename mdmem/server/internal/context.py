"""The context of a connection, whose memories it works with: read from headers, the environment or a mapping.

The owner of a ghost configures it by a note of the kind `ghost-config` in the ghost's folder. Its front matter says how
far accessors are trusted (`trust: ["bob 0.5", "* 0.2"]`) and which spaces and groups the ghost may publish to
(`spaces`, `groups`); its text is the ghost's persona. No tool writes it. It only lowers what `internal.trust` allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from unicodedata import normalize

from mdmem import privacy
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.hashing import sha256, short
from mdmem.slug import slug
from mdmem.vault import disk, note

MISSING = "Internal context required. X-Internal-Type header must be set."

HEADERS = {
    "internal_type": "X-Internal-Type",
    "ghost_type": "X-Ghost-Type",
    "ghost_owner": "X-Ghost-Owner",
    "ghost_space": "X-Ghost-Space",
    "ghost_group": "X-Ghost-Group",
    "user_id": "X-User-Id",
    "conversation_id": "X-Conversation-Id",
}
"""Part of a context -> its HTTP header."""

VARIABLES = {key: f"MDMEM_{key.upper()}" for key in HEADERS}
"""Part of a context -> its environment variable on stdio."""

MISSING_ON_STDIO = f"{MISSING} On stdio, set {VARIABLES['internal_type']} instead."
ABSENT = (MISSING, MISSING_ON_STDIO)
"""The messages when there is no context at all."""

OWNER_KEYS = {"user": "ghost_owner", "space": "ghost_space", "group": "ghost_group"}
"""Type of ghost -> the part of a context that names its owner."""

NESTED = ("internal_context", "internalContext")
"""Keys of a whole context as one object, in Python's extras and in the `_meta` of an MCP request."""

_OTHER_NAMES = {
    "type": "internal_type",
    **dict.fromkeys(["owner_user_id", "owner"], "ghost_owner"),
    **dict.fromkeys(["accessor_user_id", "accessor"], "user_id"),
    **dict.fromkeys(["space_id", "space"], "ghost_space"),
    **dict.fromkeys(["group_id", "group"], "ghost_group"),
}
"""Other names that the parts of a context may have in such an object."""

MAX_ID_CHARS = 64
_PLAIN_FOLDER = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_ID_MARKS = frozenset("._@+-")
_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")


class Context(NamedTuple):
    """Whose memories are meant.

    kind: `ghost` or `agent`, also the kind of the notes. ghost_type: `user`, `space` or `group`.
    owner: the user, space or group of the ghost. accessor: the user at the other end, "" for the vault's own.
    conversation: of an agent, "" for all of its conversations.
    """

    kind: str
    ghost_type: str = ""
    owner: str = ""
    accessor: str = ""
    conversation: str = ""


class Scope(NamedTuple):
    """The folder of a context's memories, and the marks that each memory has.

    folder: the parts of its path. tags: each memory has all of them. accessor: each memory has it in its front matter.
    trust: memories that need more trust are not shown. shared: the folder of memories published to this space or
    group, which every accessor may see; () for any other context.
    """

    kind: str
    folder: tuple[str, ...]
    tags: tuple[str, ...]
    accessor: str
    trust: float
    shared: tuple[str, ...] = ()

    @property
    def published(self) -> Scope | None:
        """Return the scope of memories published here; None if nothing can be published here."""
        return self._replace(folder=self.shared, accessor="", shared=()) if self.shared else None


def read(values: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Context:
    """Return the context in `values`, whose keys are those of `HEADERS`, or one object under a key of `NESTED`.

    The object may use camel case, and `type`, `owner_user_id`, `accessor_user_id`, `space_id`, `group_id`.
    names: each key's name at the source of the values, for messages.

    Raises UsageError when there is no context, or a value is missing or invalid; the message names it.
    """
    names = names or {key: key for key in HEADERS}
    nested = next((values[name] for name in NESTED if values.get(name)), None)
    if isinstance(nested, Context):
        return nested
    flat = _flat(nested if isinstance(nested, Mapping) else values)
    kind = flat.get("internal_type", "").lower()
    if not kind:
        others = [names[key] for key in ("ghost_type", *OWNER_KEYS.values(), "conversation_id") if flat.get(key)]
        # A partial context must not count as the owner's own call.
        missing = MISSING_ON_STDIO if names is VARIABLES else MISSING
        raise UsageError(f"{missing} It is needed beside {others[0]}." if others else missing)
    if kind not in ("ghost", "agent"):
        raise UsageError(f"{names['internal_type']} must be ghost or agent, not {kind!r:.40}.")
    accessor = _id(flat, "user_id", names)
    if kind == "agent":
        return Context(kind, accessor=accessor, conversation=_id(flat, "conversation_id", names))
    ghost_type = flat.get("ghost_type", "").lower()
    if ghost_type not in OWNER_KEYS:
        addition = f", not {ghost_type!r:.40}" if ghost_type else " for a ghost"
        raise UsageError(f"{names['ghost_type']} must be user, space or group{addition}.")
    key = OWNER_KEYS[ghost_type]
    owner = _id(flat, key, names)
    if not owner:
        raise UsageError(f"{names[key]} must be set for the ghost of a {ghost_type}.")
    return Context(kind, ghost_type, owner, accessor)


def _flat(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a context by the keys of `HEADERS`, whatever their names are here.

    Raises UsageError when a value is given twice and differs.
    """
    flat: dict[str, str] = {}
    for name, value in values.items():
        snake = _CAPITAL.sub(r"_\1", str(name)).lower()
        key, text = _OTHER_NAMES.get(snake, snake), value.strip() if isinstance(value, str) else ""
        if text and flat.get(key, text) != text:
            raise UsageError(f"{name!r:.40} is given twice, with different values.")
        flat[key] = text or flat.get(key, "")
    return flat


def agreed(read_first: Callable[[], Context], meta: Mapping[str, Any]) -> Context:
    """Return the context of a connection or of a request's `_meta`; if both have one, they must be equal.

    Raises UsageError as `read`; also when they differ, so that a request cannot widen its connection's scope.
    """
    try:
        first = read_first()
    except UsageError as error:
        if str(error) not in ABSENT or not any(meta.get(name) for name in NESTED):
            raise
        return read(meta)
    if any(meta.get(name) for name in NESTED) and read(meta) != first:
        raise UsageError("The request's internalContext differs from what its connection says.")
    return first


def from_headers(headers: Any) -> Context:
    """Return the context in a request's headers (starlette's).

    Raises UsageError as `read`; also when a header is given twice.
    """
    values = {}
    for key, name in HEADERS.items():
        header_values = header(headers, name)
        if len(header_values) > 1:
            raise UsageError(f"{name} is given {len(header_values)} times.")
        values[key] = header_values[0] if header_values else ""
    return read(values, HEADERS)


def header(headers: Any, name: str) -> list[str]:
    """Return all values of a header. HTTP passes UTF-8 bytes on as Latin-1, which is undone."""
    return [_utf8(value) for value in headers.getlist(name)]


def _utf8(value: str) -> str:
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def from_env(env: Mapping[str, str]) -> Context:
    """Return the context in the environment. Raises UsageError as `read`."""
    return read({key: env.get(name, "") for key, name in VARIABLES.items()}, VARIABLES)


def scope(config: Config, context: Context) -> Scope:
    """Return the scope of a context. A name that the privacy gate would redact is hashed."""
    rules = privacy.Rules.of(config.settings)
    owner, accessor, conversation = (
        _storable(name, rules) for name in (context.owner, context.accessor, context.conversation)
    )
    tags: tuple[str, ...]
    if context.kind == "ghost":
        tags = ("ghost", f"ghost_type:{context.ghost_type}", f"ghost_owner:{context.ghost_type}:{owner}")
    else:
        tags = ("agent", f"agent:conversation:{conversation}") if conversation else ("agent",)
    top = home(config, context)
    folder = (*top, f"by-{_folder(accessor)}") if accessor else top
    shared = (*top, PUBLISHED) if context.ghost_type in ("space", "group") else ()
    return Scope(context.kind, folder, tags, accessor, trust(config, context), shared)


def home(config: Config, context: Context) -> tuple[str, ...]:
    """Return the folder of a ghost, or of all agents: it contains the configuration and the folders of memories."""
    if context.kind == "agent":
        return "internal", "agent"
    owner = _storable(context.owner, privacy.Rules.of(config.settings))
    return "internal", "ghost", context.ghost_type, _folder(owner)


PUBLISHED = "published"
"""Folder of published memories, in a space's or a group's folder."""


def trust(config: Config, context: Context) -> float:
    """Return the trust in the accessor, 0 to 1: the lower one of the ghost's configuration and the setting."""
    return min(_by_setting(config, context), load_config(config, home(config, context)).trust(context.accessor))


def _by_setting(config: Config, context: Context) -> float:
    """Return the trust that `internal.trust` sets for this owner and accessor, else 1.

    Its rows look like `user:alice bob 0.5` or `agent bob 0.5`; `*` means any accessor. The first match counts. A row
    that cannot be parsed counts as 0, so that a typo never reveals more. An empty row separates the user's own rows
    from the vault's, which can only lower the trust.
    """
    whose = f"{context.ghost_type}:{context.owner}" if context.kind == "ghost" else "agent"
    lowest, decided = 1.0, False
    for row in config.settings.internal.trust:
        words = row.split()
        if not words:
            decided = False
        elif not decided and words[0] == whose and (len(words) < 2 or words[1] in ("*", context.accessor)):
            lowest, decided = min(lowest, _trust_in(words[2] if len(words) == 3 else "")), True
    return lowest


def forges(tag: str) -> bool:
    """Whether a tag looks like one that only a connection can set."""
    bare = normalize("NFKC", tag).strip().lstrip("#").casefold()
    return bare.partition(":")[0].strip() in ("ghost", "agent", "ghost_type", "ghost_owner")


def _id(flat: Mapping[str, str], key: str, names: Mapping[str, str]) -> str:
    value = flat.get(key, "")
    good = value[:1].isalnum() and all(c.isalnum() or c in _ID_MARKS for c in value) and ".." not in value
    if value and (not good or len(value) > MAX_ID_CHARS):
        raise UsageError(f"{names[key]} must be letters, digits and ._@+- ({MAX_ID_CHARS} at most), not {value!r:.40}.")
    return value


def _storable(name: str, rules: privacy.Rules) -> str:
    """Return a name that may be written to a file: unchanged, or hashed if it looks like a secret."""
    names = (name, f"id-{short(name, 20)}") if not name.startswith("id-") else (f"id-{short(name, 20)}",)
    hexadecimal = f"id-{sha256(name.encode()).hex()[:20]}"  # no rule takes this for a secret
    return next((each for each in names if _is_plain(each, rules)), hexadecimal)


def _is_plain(name: str, rules: privacy.Rules) -> bool:
    texts = (name, f"ghost_owner:user:{name}")
    return all(privacy.clean(text, rules=rules, origin="tool").value == text for text in texts)


def _folder(name: str) -> str:
    """Return a folder name that is unique to `name`, also on file systems that ignore case."""
    return name if _PLAIN_FOLDER.fullmatch(name) else f"{slug(name, 32) or 'x'}-{short(name, 10)}"


CONFIG_FILE = "ghost-config.md"
CONFIG_KIND = "ghost-config"


class GhostConfig(NamedTuple):
    """An owner's configuration of a ghost. rows: accessor or `*`, and a trust from 0 to 1; the first match counts.

    spaces, groups: where it may publish. broken: whether the note cannot be read; then nobody is trusted.
    """

    rows: tuple[str, ...] = ()
    spaces: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    persona: str = ""
    broken: bool = False

    def trust(self, accessor: str) -> float:
        """Return the trust in an accessor; 1 if no row matches."""
        if self.broken:
            return 0.0
        for row in self.rows:
            name, _, value = row.strip().rpartition(" ")
            if not name or name.strip() in ("*", accessor):  # a row that cannot be parsed must not reveal more
                return _trust_in(value if name else "")
        return 1.0

    def publishes_to(self, kind: str, name: str) -> bool:
        """Whether the owner lets this ghost publish to a space or a group."""
        named = {"space": self.spaces, "group": self.groups}.get(kind, ())
        return not self.broken and name in named


def load_config(config: Config, home: tuple[str, ...]) -> GhostConfig:
    """Return the configuration in a ghost's folder; without one, trust is not limited and publishing not allowed.

    home: the parts of the folder's path in the vault.
    """
    data = disk.read_path(config.vault, "/".join((*home, CONFIG_FILE)))
    if data is None:
        return GhostConfig()
    parsed = note.parse(data)
    if parsed.problem or parsed.fact("kind") != CONFIG_KIND:
        return GhostConfig(broken=True)
    rows, spaces, groups = (_texts(parsed.meta.get(key)) for key in ("trust", "spaces", "groups"))
    return GhostConfig(rows, spaces, groups, parsed.body.strip())


def _trust_in(text: str) -> float:
    """Parse a trust from 0 to 1; invalid text counts as 0."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0 <= value <= 1 else 0.0


def _texts(value: object) -> tuple[str, ...]:
    """Parse a list, a text with commas, or a single number, which is the trust in everyone."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (f"* {value}",)
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(str(part) for part in value) if isinstance(value, list) else ()
