"""The settings, one row each with default, meaning and stricter direction, and their typed values.

A row is an attribute of its section: `settings.inject.chars` is an `int`, and a misspelled name is a type error. A
vault may come from somebody else, so its file can only make a row stricter; looser values are taken only from the
user's own config.toml.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Generic, TypeVar

    T = TypeVar("T")
    N = TypeVar("N", bool, int, float)

    class _Typed(Generic[T]):
        pass
else:
    _Typed = {"T": object}  # `typing` is too slow to import on the hook path


# -- which of two values is stricter; the first is the user's, or the default -------------------------


def less(own: N, given: N) -> N:
    """Return the smaller number, or False if either is."""
    return min(own, given)


def more(own: N, given: N) -> N:
    """Return the larger number, or True if either is."""
    return max(own, given)


def all_of(own: list[str], given: list[str]) -> list[str]:
    """Return the union: a list of exclusions can only grow."""
    return [*own, *(item for item in given if item not in own)]


def common(own: list[str], given: list[str]) -> list[str]:
    """Return the intersection, where `*` stands for everything: a list of permissions can only shrink."""
    kept = [item for item in given if item in own or "*" in own]
    return [*kept, *(item for item in own if "*" in given and item not in kept)]


def separate(own: list[str], given: list[str]) -> list[str]:
    """Return both lists, separated by an empty row, for a reader that applies the stricter answer of the two."""
    return [*own, "", *given] if own and given and own != given else own or given


def only(strict: str) -> Callable[[str, str], str]:
    """Return a rule that accepts only `strict` from a vault."""
    return lambda own, given: given if given == strict else own


def neither(own: T, given: T) -> T:  # noqa: ARG001 - same signature as the others
    """Return the vault's value: no value of such a row shows, stores or costs more than mdmem's limits allow."""
    return given


def enclosed(own: str, given: str) -> str:
    """Return the vault's mark if nothing that is masked may begin or end like it, as a word in brackets; else the own.

    What looks like a mark is taken for masked: with "ACME" as the mark, a pattern for `ACME-1234` would hide nothing.
    """
    is_enclosed = len(given) > 2 and given[0] in _OPENING and given[-1] in _CLOSING and given.isprintable()
    return given if is_enclosed or not given else own


_OPENING, _CLOSING = "[({<«‹【「–—*•█", "])}>»›】」–—*•█"


class Setting(_Typed["T"]):
    """A setting: its dotted key, default, meaning, and who may set it.

    stricter: returns the effective one of the user's and the vault's value; None for a row that is taken
        only from the user's own file and the environment.
    env: environment variable that overrides both files, or "". drops: this item is removed from the list if env is 1.
    choices: allowed values, of a list its items; () for any of the default's type. secret: never print its values.
    """

    __slots__ = ("choices", "default", "drops", "env", "key", "meaning", "secret", "stricter")

    def __init__(
        self,
        default: T,
        meaning: str,
        stricter: Callable[[T, T], T] | None = None,
        *,
        key: str = "",
        env: str = "",
        drops: str = "",
        choices: tuple[str, ...] = (),
        secret: bool = False,
    ) -> None:
        self.default = default
        self.meaning = meaning
        self.stricter = stricter
        self.key = key
        self.env = env
        self.drops = drops
        self.choices = choices
        self.secret = secret

    @property
    def user_only(self) -> bool:
        """Whether a vault cannot set it."""
        return self.stricter is None

    def __set_name__(self, section: type[SettingsSection], name: str) -> None:
        self.key = f"{section.NAME}.{name}"

    def __get__(self, section: SettingsSection, owner: type) -> T:
        """Return a section's value of this setting."""
        value: T = section.values[self.key]
        return value


class SettingsSection:
    """The settings of one table in a file; `values` has the values of all sections, by dotted key."""

    __slots__ = ("values",)
    NAME = ""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values


class CaptureSettings(SettingsSection):
    """What is stored."""

    __slots__ = ()
    NAME = "capture"

    tools = Setting(["*"], "Tools whose runs are stored; globs over the agent's or Claude Code's names.", common)
    exclude_tools = Setting(
        ["TodoRead", "mcp__mdmem__*", "mcp__plugin_mdmem_*"],
        "Tools whose runs are never stored; globs, as in capture.tools, which it beats.",
        all_of,
    )
    exclude_projects = Setting(
        list[str](), "Projects from which nothing is stored; globs over their names and their folders' names.", all_of
    )
    exclude_paths = Setting(
        list[str](),
        "Folders and files about which nothing is stored; globs, ** and ~ allowed. `.env` is one in any folder.",
        all_of,
    )
    subagents = Setting(False, "Whether what sub-agents do is stored.", less)
    host_memory = Setting(True, "Whether agents' own memory and instruction files are imported.", less)
    max_chars = Setting(10_000, "Maximum characters kept of a tool's output: its beginning and end.", neither)
    max_lines = Setting(100, "Maximum lines kept of a tool's output: its beginning and end.", neither)
    max_files = Setting(100, "Maximum number of files listed for an agent's file search.", neither)
    fetch_chars = Setting(500, "Maximum characters kept of a fetched page's summary.", neither)
    prompt_chars = Setting(65_536, "Maximum length of a stored prompt, in characters.", neither)
    durability = Setting(
        "power",
        'What a stored note survives: a "power" failure (it is synced to disk), or only the end of the "process".',
        only("power"),
        choices=("power", "process"),
    )
    branches = Setting(
        "all",
        'Notes made on a branch of your code are visible on "all" branches, or until a merge only there ("stage").',
        only("stage"),
        choices=("all", "stage"),
    )


class PrivacySettings(SettingsSection):
    """What is kept out."""

    __slots__ = ()
    NAME = "privacy"

    marker = Setting("[PRIVATE]", "Replacement text for a private section; may be empty.", enclosed)
    redacted = Setting("[REDACTED]", "Replacement text for a secret.", enclosed)
    name_kinds = Setting(False, "Whether privacy.redacted names the kind of secret: [REDACTED:github-token].", less)
    keep_lines = Setting(False, "Whether a private section is replaced by as many lines as it had.", less)
    tags = Setting(["private"], "Words whose tags hide text: <word>, [word], <!-- word -->.", all_of)
    unclosed = Setting(
        "private",
        'What happens to text after an unclosed <private>: it is "private", or it is stored ("keep").',
        only("private"),
        choices=("private", "keep"),
    )
    literal_code = Setting(False, "Whether a pair of private tags inside one code block is ignored.", less)
    anonymize = Setting(False, "Whether your home folder and your user name are replaced by ~ in paths.", more)
    patterns = Setting(list[str](), "Your own secrets: regular expressions whose matches are masked.", all_of)
    feedback = Setting(True, "Whether you are told how many private sections were kept out of a prompt.", more)


class InjectSettings(SettingsSection):
    """What is shown to the agent."""

    __slots__ = ()
    NAME = "inject"

    enabled = Setting(True, "Whether memories are injected.", less, env="MDMEM_INJECT_ENABLED")
    chars = Setting(3_000, "Maximum size of an injected block, in characters; at most 9500.", less)
    after_turns = Setting(
        13, "The turn at which memories are looked up once per session.", more, env="MDMEM_INJECT_AFTER_TURNS"
    )
    after_chars = Setting(
        333,
        "A prompt of more characters than this triggers that look-up at once.",
        more,
        env="MDMEM_INJECT_AFTER_CHARS",
    )
    query_turns = Setting(
        6, "Number of recent turns in the query of that look-up.", less, env="MDMEM_INJECT_QUERY_TURNS"
    )
    query_turn_chars = Setting(
        500,
        "Maximum number of characters used of each of those turns.",
        less,
        env="MDMEM_INJECT_QUERY_TURN_CHARS",
    )
    recall_limit = Setting(15, "Maximum number of memories in a block.", less, env="MDMEM_INJECT_RECALL_LIMIT")
    bullet_chars = Setting(
        300, "Maximum size of one memory in a block, in characters.", less, env="MDMEM_INJECT_BULLET_CHARS"
    )
    deadline_seconds = Setting(
        1.5,
        "Time limit in seconds; three times that if a prompt asks about earlier work.",
        less,
        env="MDMEM_INJECT_DEADLINE_SECONDS",
    )
    other_projects = Setting(
        False, "Whether memories of other projects may be injected, also if a prompt does not name them.", less
    )
    on = Setting(
        ["ask", "turns", "start", "failure", "edit"],
        "Triggers for giving memories: see `mdmem help recall`.",
        common,
        env="MDMEM_INJECT_DISABLED",
        drops="turns",
        choices=("ask", "turns", "start", "failure", "edit", "read"),
    )


class ExpandSettings(SettingsSection):
    """A model's help with searching."""

    __slots__ = ()
    NAME = "expand"

    enabled = Setting(
        False, "Whether a model drafts the note that an injection looks for; its words are added to the query."
    )
    provider = Setting(
        "",
        "The only provider to ask: claude-cli, anthropic, openrouter, openai or compatible.",
        env="MDMEM_PROVIDER",
    )
    model = Setting("", "The model of the first provider that is asked (default: a small one).", env="MDMEM_HYDE_MODEL")
    models = Setting(list[str](), 'A model per provider: "anthropic claude-haiku-4-5", "openai gpt-4.1-mini".')
    keys = Setting(list[str](), 'API keys: "anthropic KEY"; a key in the environment overrides it.', secret=True)
    address = Setting(
        "", 'Address of a server with OpenAI\'s protocol, such as "http://localhost:11434/v1" for Ollama.'
    )
    weight = Setting(0.3, "Weight of a word of the model's draft; a word of the query has 1.")
    deadline_seconds = Setting(4.0, "Time limit in seconds; in an injection, for all providers together.")
    without_claude_cli = Setting(False, "Whether to skip the `claude` program.", env="MDMEM_DISABLE_CLAUDE_CLI")


class WatchSettings(SettingsSection):
    """The optional watcher."""

    __slots__ = ()
    NAME = "watch"

    sweep_seconds = Setting(
        180, "Seconds between the watcher's scans of the whole vault, regardless of file events.", neither
    )
    commit_after_seconds = Setting(30, "Seconds without a change after which the watcher commits (0: never).", neither)


class SyncSettings(SettingsSection):
    """The vault's history, and the exchange with a remote."""

    __slots__ = ()
    NAME = "sync"

    every = Setting(0, "Minutes between syncs by the watcher (0: never).")
    max_file_mb = Setting(10, "Maximum size in MB of a committed file that is not a note; at most 33.", less)
    obsidian = Setting(False, "Whether Obsidian's settings (.obsidian/) are committed too.", less)


class LearnSettings(SettingsSection):
    """What happens to what agents learn."""

    __slots__ = ()
    NAME = "learn"

    accept = Setting(
        False, "Whether an agent's proposals become notes at once, without waiting in `mdmem review`.", less
    )
    protocol = Setting(
        False, "Whether `mdmem install` adds advice on when to save a note to the agent's instruction file.", less
    )
    prose = Setting(
        False, "Whether a model (of `expand`) always writes a digest's first paragraph, not only with --prose."
    )
    prose_chars = Setting(60_000, "Maximum number of characters per day (UTC) that digests exchange with models.")


class InternalSettings(SettingsSection):
    """Memories of ghosts and agents."""

    __slots__ = ()
    NAME = "internal"

    trust = Setting(
        list[str](),
        'Trust, 0 to 1, in whoever talks to a ghost or an agent: "user:alice bob 0.5", "agent * 0.3" (default: 1).',
        separate,
    )


SECTIONS = (
    CaptureSettings, PrivacySettings, InjectSettings, ExpandSettings, LearnSettings, WatchSettings, SyncSettings,
    InternalSettings,
)  # fmt: skip

SETTINGS: tuple[Setting[Any], ...] = tuple(
    [row for section in SECTIONS for row in vars(section).values() if type(row) is Setting]
)

BY_KEY: dict[str, Setting[Any]] = {row.key: row for row in SETTINGS}


class Settings:
    """The values of all settings. values: dotted key -> value, of its default's type."""

    __slots__ = ("capture", "expand", "inject", "internal", "learn", "privacy", "sync", "values", "watch")

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        """given: values that differ from the defaults, by dotted key."""
        values = {row.key: row.default for row in SETTINGS}
        values.update(given or {})
        self.values = values
        self.capture = CaptureSettings(values)
        self.privacy = PrivacySettings(values)
        self.inject = InjectSettings(values)
        self.expand = ExpandSettings(values)
        self.learn = LearnSettings(values)
        self.watch = WatchSettings(values)
        self.sync = SyncSettings(values)
        self.internal = InternalSettings(values)

    def changed(self, values: Mapping[str, Any]) -> Settings:
        """Return a copy with some values changed, by dotted key."""
        return Settings({**self.values, **values})
