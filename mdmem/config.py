"""Settings, and every path that mdmem uses.

Two files, both TOML: `mdmem.toml` in the vault says what is stored and shown; the user's own
`config.toml` may say that too, and it alone may say where data is sent, which program is started
and who may read: a vault that came from somebody else is data, not authority.
"""

from __future__ import annotations

import os
import sys

from mdmem.digest import sha256, short
from mdmem.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_FILE_BYTES = 256 * 1024
"""A settings file longer than this is not read."""


class Setting:
    """One setting: its dotted key, default, meaning, and who may set it.

    user_only: taken from the user's own file and the environment, never from a vault.
    env: an environment variable that overrides both files, or "".
    choices: the values allowed, or () for any of the default's type.
    """

    __slots__ = ("choices", "default", "env", "key", "meaning", "user_only")

    def __init__(
        self,
        key: str,
        default: Any,
        meaning: str,
        *,
        user_only: bool = False,
        env: str = "",
        choices: tuple[str, ...] = (),
    ) -> None:
        self.key = key
        self.default = default
        self.meaning = meaning
        self.user_only = user_only
        self.env = env
        self.choices = choices


SETTINGS: tuple[Setting, ...] = (
    # -- what is stored
    Setting("capture.tools", ["*"], "Tools whose runs are stored; globs."),
    Setting(
        "capture.exclude_tools",
        ["TodoWrite", "TodoRead", "mcp__mdmem__*", "mcp__plugin_mdmem_*"],
        "Tools whose runs are never stored; globs. It wins over capture.tools.",
    ),
    Setting("capture.exclude_projects", [], "Projects of which nothing is stored; globs over names."),
    Setting("capture.exclude_paths", [], "Folders and files of which nothing is stored; globs, ** and ~ allowed."),
    Setting("capture.subagents", False, "Whether what sub-agents do is stored."),
    Setting("capture.max_chars", 10_000, "Longer text keeps its first and last half of this many characters."),
    Setting("capture.max_lines", 100, "Longer text keeps its first and last half of this many lines."),
    Setting("capture.max_files", 100, "How many files of a search are listed."),
    Setting("capture.fetch_chars", 500, "How many characters of a fetched page's summary are kept."),
    Setting("capture.prompt_chars", 65_536, "Longer prompts are cut like an output."),
    Setting(
        "capture.durability",
        "power",
        'Notes survive a "power" cut (synced) or only the death of the "process".',
        choices=("power", "process"),
    ),
    Setting(
        "capture.branches",
        "all",
        'Notes made on a code branch that is not the default one are seen like "all", or only there: "stage".',
        choices=("all", "stage"),
    ),
    # -- what is kept out
    Setting("privacy.marker", "[PRIVATE]", "What stands where a private section was; may be empty."),
    Setting("privacy.redacted", "[REDACTED]", "What stands where a secret was."),
    Setting("privacy.name_kinds", False, "Whether the mark names the kind: [REDACTED:github-token]."),
    Setting("privacy.keep_lines", False, "Whether a private section leaves as many lines as it had."),
    Setting(
        "privacy.unclosed",
        "private",
        'What follows a <private> that is never closed: "private", or "keep".',
        choices=("private", "keep"),
    ),
    Setting("privacy.literal_code", False, "Whether a pair of tags wholly inside a closed code fence is only text."),
    Setting("privacy.patterns", [], "Your own secrets: regular expressions, masked wherever they match."),
    Setting("privacy.feedback", True, "Whether you are told how many private sections were kept out of a prompt."),
    # -- what is shown to the agent
    Setting(
        "inject.enabled",
        True,
        "Whether memories are given to the agent; the variable, set to 1, says no.",
        env="MDMEM_INJECT_DISABLED",
    ),
    Setting("inject.chars", 6_000, "The size of an injected block, in characters; at most 9500."),
    Setting("inject.after_turns", 13, "The turn at which memories are looked up once.", env="MDMEM_INJECT_AFTER_TURNS"),
    Setting(
        "inject.after_chars",
        333,
        "A prompt longer than this looks memories up at once, once a session.",
        env="MDMEM_INJECT_AFTER_CHARS",
    ),
    Setting("inject.query_turns", 6, "How many of the last turns make the query.", env="MDMEM_INJECT_QUERY_TURNS"),
    Setting(
        "inject.query_turn_chars",
        500,
        "How much of each of those turns is used, in characters.",
        env="MDMEM_INJECT_QUERY_TURN_CHARS",
    ),
    Setting("inject.recall_limit", 15, "How many memories are given at most.", env="MDMEM_INJECT_RECALL_LIMIT"),
    Setting("inject.bullet_chars", 300, "The size of one memory, in characters.", env="MDMEM_INJECT_BULLET_CHARS"),
    Setting(
        "inject.deadline_seconds",
        1.5,
        "After this long, nothing is injected.",
        env="MDMEM_INJECT_DEADLINE_SECONDS",
    ),
    Setting("inject.other_projects", False, "Whether memories of other projects may be injected."),
    Setting("inject.on_read", False, "Whether what is known of a file is given when the agent reads it."),
    # -- a model's help with searching
    Setting(
        "expand.enabled",
        False,
        "Whether a model writes a guess at the note that is looked for, whose words join the query.",
        user_only=True,
    ),
    Setting(
        "expand.provider",
        "",
        "The provider that is asked, and no other: claude-cli, anthropic, openrouter, openai, compatible.",
        user_only=True,
        env="MDMEM_PROVIDER",
    ),
    Setting(
        "expand.model", "", "The model's name; each provider has a small one.", user_only=True, env="MDMEM_HYDE_MODEL"
    ),
    Setting(
        "expand.address",
        "",
        'The address of any server that speaks OpenAI\'s protocol, such as "http://localhost:11434/v1" for Ollama.',
        user_only=True,
    ),
    Setting("expand.weight", 0.3, "What a word of the guess counts, beside 1 for a word of the query.", user_only=True),
    Setting(
        "expand.deadline_seconds",
        4.0,
        "How long a provider is waited for; in an injection, all of them together.",
        user_only=True,
    ),
    Setting(
        "expand.without_claude_cli",
        False,
        "Whether the `claude` program is passed over.",
        user_only=True,
        env="MDMEM_DISABLE_CLAUDE_CLI",
    ),
    # -- the watcher, for those who run it
    Setting("watch.sweep_seconds", 180, "How often the watcher looks at the whole vault, whatever it was told."),
    Setting("watch.commit_after_seconds", 30, "The watcher commits after this long without a change; 0: never."),
    Setting("sync.every", 0, "The watcher runs `mdmem sync` every so many minutes; 0: never.", user_only=True),
    # -- internal memories
    Setting(
        "internal.trust",
        [],
        'How far whoever talks to a ghost or agent is trusted, 0 to 1: "user:alice bob 0.5", "agent * 0.3"; else 1.',
    ),
)

BY_KEY: dict[str, Setting] = {setting.key: setting for setting in SETTINGS}


class Config:
    """Where things are and what was set.

    vault: the vault's absolute path; it need not exist.
    index_dir, state_dir, runtime_dir: mdmem's own folders for this vault, outside it; they need not exist.
    settings: dotted key -> value, of the type of its default; every key of SETTINGS is there.
    warnings: one sentence for each thing in a settings file that was not understood.
    """

    __slots__ = ("index_dir", "runtime_dir", "settings", "state_dir", "vault", "warnings")

    def __init__(
        self,
        vault: str,
        index_dir: str,
        state_dir: str,
        runtime_dir: str,
        settings: dict[str, Any],
        warnings: tuple[str, ...] = (),
    ) -> None:
        self.vault = vault
        self.index_dir = index_dir
        self.state_dir = state_dir
        self.runtime_dir = runtime_dir
        self.settings = settings
        self.warnings = warnings


def load(vault: str | None = None, env: Mapping[str, str] | None = None) -> Config:
    """Find the vault (`vault`, MDMEM_VAULT, the user's file, ~/mdmem) and read the settings.

    A file that cannot be read costs a warning, never an exception: the last settings that could be
    read are used, so that a slip in a file does not lift an exclusion.
    """
    env = os.environ if env is None else env
    warnings: list[str] = []
    state = places(env)["state"]
    file = user_file(env)
    user = select(_parse(file, state, warnings), from_vault=False, file=file, warnings=warnings)
    path = (vault or env.get("MDMEM_VAULT") or user.pop("vault", None) or "~/mdmem").replace("\0", "")
    path = os.path.realpath(home() + path[1:] if path.startswith("~/") else os.path.expanduser(path))
    file = os.path.join(path, "mdmem.toml")
    ours = select(_parse(file, state, warnings), from_vault=True, file=file, warnings=warnings)
    user.pop("vault", None)
    defaults = {setting.key: setting.default for setting in SETTINGS}
    key = vault_key(path)
    runtime = env.get("XDG_RUNTIME_DIR", "")
    return Config(
        vault=path,
        index_dir=os.path.join(places(env)["cache"], key),
        state_dir=os.path.join(state, key),
        runtime_dir=os.path.join(runtime, "mdmem", key) if os.path.isabs(runtime) else os.path.join(state, key, "run"),
        settings=defaults | ours | user | _from_env(env, warnings),
        warnings=tuple(warnings),
    )


def places(env: Mapping[str, str]) -> dict[str, str]:
    """Say where the user's config, state and cache folders of mdmem are (platformdirs' places, not imported)."""
    top = home()
    if sys.platform == "darwin":
        support = os.path.join(top, "Library", "Application Support", "mdmem")
        return {"config": support, "state": support, "cache": os.path.join(top, "Library", "Caches", "mdmem")}
    if sys.platform == "win32":
        local = os.path.join(env.get("LOCALAPPDATA") or os.path.join(top, "AppData", "Local"), "mdmem")
        return {"config": local, "state": local, "cache": os.path.join(local, "Cache")}
    found = {}
    for name, variable, default in (
        ("config", "XDG_CONFIG_HOME", ".config"),
        ("state", "XDG_STATE_HOME", os.path.join(".local", "state")),
        ("cache", "XDG_CACHE_HOME", ".cache"),
    ):
        base = env.get(variable) or ""
        # The XDG specification: a relative path is invalid and to be ignored.
        found[name] = os.path.join(base if os.path.isabs(base) else os.path.join(top, default), "mdmem")
    return found


def home() -> str:
    """Name the user's home folder, as an absolute path: a folder that cannot be written when there is none.

    An empty or relative HOME would put state into whichever folder the agent works in; the user's entry among the
    accounts is asked then.
    """
    top = os.path.expanduser("~")
    if os.path.isabs(top) and (top != "/" or os.environ.get("HOME") != ""):
        return top
    try:
        import pwd

        top = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        top = ""
    return top if os.path.isabs(top) else os.path.join(os.sep, "nonexistent")


def user_file(env: Mapping[str, str]) -> str:
    """Name the user's own settings file."""
    return os.path.join(places(env)["config"], "config.toml")


def vault_key(vault: str) -> str:
    """Name a vault's folder in cache and state: its own name, and eight hex digits of its path's hash."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in os.path.basename(vault))
    return f"{name[:32] or 'vault'}-{sha256(os.fsencode(vault))[:4].hex()}"


def check(setting: Setting, value: Any) -> Any:
    """Give `value` in the type of the setting's default.

    Raises:
        ConfigError: when it has another type or is not among the choices; the message says what is wanted.
    """
    kind = type(setting.default)
    if kind is float and type(value) is int:
        value = float(value)
    wrong = type(value) is not kind or (kind in (int, float) and not 0 <= value < float("inf"))
    if kind is list and not wrong:
        wrong = not all(type(item) is str for item in value)
    if wrong or (setting.choices and value not in setting.choices):
        wanted = " or ".join(f'"{choice}"' for choice in setting.choices) or _WANTED[kind]
        raise ConfigError(f"{setting.key} must be {wanted}, not {value!r:.40}.")
    return value


_WANTED = {
    bool: "true or false",
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    str: "a text in quotes",
    list: "a list of texts",
}


def flatten(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Turn nested tables into dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def select(values: Mapping[str, Any], *, from_vault: bool, file: str, warnings: list[str]) -> dict[str, Any]:
    """Keep the settings that are known, well typed and allowed in this file; warn of the others."""
    kept: dict[str, Any] = {}
    for key, value in values.items():
        setting = BY_KEY.get(key)
        if key == "vault" and not from_vault and isinstance(value, str):
            kept[key] = value
        elif setting is None:
            warnings.append(f"{file}: there is no setting {key!r:.60}.")
        elif setting.user_only and from_vault:
            warnings.append(f"{file}: {key} is taken from your own config.toml only, never from a vault.")
        else:
            try:
                kept[key] = check(setting, value)
            except ConfigError as error:
                warnings.append(f"{file}: {error}")
    return kept


def _parse(path: str, state: str, warnings: list[str]) -> dict[str, Any]:
    """Give a settings file as dotted keys, from a cache in the state folder when its text is the same.

    tomllib costs two interpreter starts: it is imported for a file that sets something and is new.
    """
    cache = os.path.join(state, f"settings-{short(path, 8)}")
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        text = b""
    except (OSError, ValueError):
        text = b"\0"  # not TOML: what was last read is used
    lines = map(bytes.strip, text.splitlines())
    if all(line[:1] in (b"", b"#") or (line[:1] == b"[" and line[-1:] == b"]") for line in lines):
        _forget(cache)  # a slip made later must not bring back what was taken out of the file
        return {}  # only comments and table headers, as in a fresh mdmem.toml
    last = _load_cache(cache)
    if last and last[0] == text:
        return last[1]
    import tomllib

    try:
        values = flatten(tomllib.loads(text[:MAX_FILE_BYTES].decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        line = str(error).partition("(at ")[2].rstrip(")") if isinstance(error, tomllib.TOMLDecodeError) else ""
        where = f" ({line})" if line else ""
        warnings.append(f"{path} cannot be read as TOML{where}: the last good settings are used until it is mended.")
        return last[1] if last else {}
    _store_cache(cache, text, values)
    return values


def _forget(cache: str) -> None:
    try:
        os.unlink(cache)
    except OSError:
        return  # as a rule there is none


def _load_cache(path: str) -> tuple[bytes, dict[str, Any]] | None:
    import marshal

    try:
        with open(path, "rb") as file:
            text, values = marshal.load(file)  # noqa: S302 - written by us, in the user's own 0700 folder
    except (OSError, ValueError, TypeError, EOFError):
        return None
    return (text, values) if type(text) is bytes and type(values) is dict else None


def _store_cache(path: str, text: bytes, values: dict[str, Any]) -> None:
    """Keep what was parsed; failing to costs time, nothing else."""
    import marshal

    temp = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            marshal.dump((text, values), file)
        os.replace(temp, path)
    except (OSError, ValueError):
        return


def _from_env(env: Mapping[str, str], warnings: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        text = env.get(setting.env) if setting.env else None
        if text is None:
            continue
        says_no = setting.env.endswith("_DISABLED")
        try:
            value = check(setting, _typed(text, type(setting.default)))
            if value or not says_no:  # one that is off says nothing: it switches nothing on that a file has off
                values[setting.key] = False if says_no else value
        except (ConfigError, ValueError):
            default = not setting.default if says_no else setting.default
            warnings.append(f"{setting.env} is not {_WANTED[type(setting.default)]}; {default!r} is used.")
    return values


_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


def _typed(text: str, kind: type) -> Any:
    if kind is bool:
        text = text.strip().lower()
        return True if text in _TRUE else False if text in _FALSE else text
    return [part for part in text.split(",") if part] if kind is list else kind(text)
