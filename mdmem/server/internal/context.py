"""Whose memories a connection works with: read from headers, the environment or a mapping, and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from unicodedata import normalize

from mdmem import privacy
from mdmem.config import Config
from mdmem.digest import short
from mdmem.errors import UsageError
from mdmem.slug import slug

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
"""What makes a context -> the header that carries it over HTTP."""

VARIABLES = {key: f"MDMEM_{key.upper()}" for key in HEADERS}
"""What makes a context -> the environment variable that carries it on stdio."""

OWNER_KEYS = {"user": "ghost_owner", "space": "ghost_space", "group": "ghost_group"}
"""A type of ghost -> what names its owner."""

MAX_ID_CHARS = 64
_PLAIN_FOLDER = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_ID_MARKS = frozenset("._@+-")


class Context(NamedTuple):
    """Whose memories are meant.

    kind: `ghost` or `agent`, which is also the kind of its notes. ghost_type: `user`, `space` or `group`.
    owner: the user, space or group whose ghost it is. accessor: the user at the other end, "" for the vault's own.
    conversation: of an agent, "" for all of its conversations.
    """

    kind: str
    ghost_type: str = ""
    owner: str = ""
    accessor: str = ""
    conversation: str = ""


class Scope(NamedTuple):
    """Where a context's memories lie, and what marks each of them.

    folder: its path, part by part. tags: every one of them stands on every memory. accessor: likewise, in a key of
    its own. trust: memories that ask for more are not shown.
    """

    kind: str
    folder: tuple[str, ...]
    tags: tuple[str, ...]
    accessor: str
    trust: float


def read(values: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Context:
    """Read a context from `values`, whose keys are those of `HEADERS`; or one object under `internal_context`.

    names: what each key is called where the values come from, for messages.

    Raises:
        UsageError: when there is none, or a value that it needs is missing or no good; the message names it.
    """
    names = names or {key: key for key in HEADERS}
    nested = values.get("internal_context")
    if isinstance(nested, Context):
        return nested
    given = {key: _text(value) for key, value in (nested if isinstance(nested, Mapping) else values).items()}
    kind = given.get("internal_type", "").lower()
    if not kind:
        raise UsageError(MISSING)
    if kind not in ("ghost", "agent"):
        raise UsageError(f"{names['internal_type']} must be ghost or agent, not {kind!r:.40}.")
    accessor = _id(given, "user_id", names)
    if kind == "agent":
        return Context(kind, accessor=accessor, conversation=_id(given, "conversation_id", names))
    ghost_type = given.get("ghost_type", "").lower()
    if ghost_type not in OWNER_KEYS:
        said = f", not {ghost_type!r:.40}" if ghost_type else " for a ghost"
        raise UsageError(f"{names['ghost_type']} must be user, space or group{said}.")
    key = OWNER_KEYS[ghost_type]
    owner = _id(given, key, names)
    if not owner:
        raise UsageError(f"{names[key]} must be set for the ghost of a {ghost_type}.")
    return Context(kind, ghost_type, owner, accessor)


def from_headers(headers: Any) -> Context:
    """Read a context from a request's headers (starlette's).

    Raises:
        UsageError: as `read`; also when a header is given twice.
    """
    values = {}
    for key, name in HEADERS.items():
        found = header(headers, name)
        if len(found) > 1:
            raise UsageError(f"{name} is given {len(found)} times.")
        values[key] = found[0] if found else ""
    return read(values, HEADERS)


def header(headers: Any, name: str) -> list[str]:
    """Give what a request's header says, each time it is there: HTTP hands on the bytes of UTF-8 as Latin-1."""
    return [_utf8(value) for value in headers.getlist(name)]


def _utf8(value: str) -> str:
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def from_env(env: Mapping[str, str]) -> Context:
    """Read a context from the environment.

    Raises:
        UsageError: as `read`.
    """
    return read({key: env.get(name, "") for key, name in VARIABLES.items()}, VARIABLES)


def scope(config: Config, context: Context) -> Scope:
    """Say where a context's memories lie, and what marks them. A name that the gate would redact is hashed."""
    rules = privacy.Rules.of(config.settings)
    owner, accessor, conversation = (
        _storable(name, rules) for name in (context.owner, context.accessor, context.conversation)
    )
    tags: tuple[str, ...]
    home: tuple[str, ...]
    if context.kind == "ghost":
        tags = ("ghost", f"ghost_type:{context.ghost_type}", f"ghost_owner:{context.ghost_type}:{owner}")
        home = ("internal", "ghost", context.ghost_type, _folder(owner))
    else:
        tags = ("agent", f"agent:conversation:{conversation}") if conversation else ("agent",)
        home = ("internal", "agent")
    folder = (*home, f"by-{_folder(accessor)}") if accessor else home
    return Scope(context.kind, folder, tags, accessor, trust(config, context))


def trust(config: Config, context: Context) -> float:
    """Say how far the accessor is trusted, 0 to 1: what `internal.trust` says of this owner, else wholly.

    Its rows are `user:alice bob 0.5`, `agent bob 0.5`; `*` stands for any accessor. The first that fits counts, and
    one that cannot be read counts as 0: a slip must not show more.
    """
    whose = f"{context.ghost_type}:{context.owner}" if context.kind == "ghost" else "agent"
    for row in config.settings["internal.trust"]:
        words = row.split()
        if words[:1] == [whose] and (len(words) < 2 or words[1] in ("*", context.accessor)):
            return _share(words[2] if len(words) == 3 else "")
    return 1.0


def forges(tag: str) -> bool:
    """Say whether a tag would pass for one that only a connection can give."""
    bare = normalize("NFKC", tag).strip().lstrip("#").casefold()
    return bare.partition(":")[0].strip() in ("ghost", "agent", "ghost_type", "ghost_owner")


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _id(given: Mapping[str, str], key: str, names: Mapping[str, str]) -> str:
    value = given.get(key, "")
    good = value[:1].isalnum() and all(c.isalnum() or c in _ID_MARKS for c in value) and ".." not in value
    if value and (not good or len(value) > MAX_ID_CHARS):
        raise UsageError(f"{names[key]} must be letters, digits and ._@+- ({MAX_ID_CHARS} at most), not {value!r:.40}.")
    return value


def _storable(name: str, rules: privacy.Rules) -> str:
    """Give a name that may be written to a file: itself, or its hash where it looks like a secret."""
    tagged = f"ghost_owner:user:{name}"
    plain = all(privacy.clean(text, rules=rules, origin="tool").value == text for text in (name, tagged))
    return name if plain and not name.startswith("id-") else f"id-{short(name, 20)}"


def _folder(name: str) -> str:
    """Name a folder so that no two names share one, on file systems that fold letters too."""
    return name if _PLAIN_FOLDER.fullmatch(name) else f"{slug(name, 32) or 'x'}-{short(name, 10)}"


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0 <= value <= 1 else 0.0
