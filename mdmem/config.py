"""Settings files, and every path that mdmem uses.

Two TOML files: the user's own `config.toml` may contain any setting. `mdmem.toml` in the vault may only make one
stricter, since a vault from somebody else is data, not authority.
"""

from __future__ import annotations

import os
import sys

from mdmem import files
from mdmem.hashing import sha256, short
from mdmem.hook_errors import ConfigError
from mdmem.settings import BY_KEY, SETTINGS, Setting, Settings, enclosed, neither
from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping
    from typing import Any

MAX_FILE_BYTES = 256 * 1024
"""Longer settings files are not read."""


class Config(Value):
    """Paths and settings.

    vault: the vault's absolute path; it may not exist.
    index_dir, state_dir, runtime_dir: mdmem's own folders for this vault, outside it; they may not exist.
    warnings: a sentence for each entry in a settings file that is invalid or that a vault may not set.
    """

    vault: str
    index_dir: str
    state_dir: str
    runtime_dir: str
    settings: Settings
    warnings: tuple[str, ...] = ()

    @property
    def durable(self) -> bool:
        """Whether stored files must survive a power cut."""
        return self.settings.capture.durability == "power"


def load(vault: str | None = None, env: Mapping[str, str] | None = None) -> Config:
    """Find the vault (`vault`, MDMEM_VAULT, the user's file, ~/mdmem) and read the settings.

    An unreadable file gives a warning, never an exception: the last valid settings are used, so that a typo does not
    lift an exclusion. Without any, every project is excluded if the file may exclude something.
    """
    env = os.environ if env is None else env
    warnings: list[str] = []
    state = places(env)["state"]
    file = user_file(env)
    user_values = select(_parse(file, state, warnings), from_vault=False, file=file, warnings=warnings)
    user_vault = user_values.pop("vault", "") or "mdmem"
    # A relative path in the file must be the same folder wherever an agent works.
    user_vault = user_vault if user_vault.startswith("~") else os.path.join(home(), user_vault)
    path = (vault or env.get("MDMEM_VAULT") or user_vault).replace("\0", "")
    path = os.path.realpath(home() + path[1:] if path.startswith("~/") else os.path.expanduser(path))
    file = os.path.join(path, "mdmem.toml")
    vault_values = select(_parse(file, state, warnings), from_vault=True, file=file, warnings=warnings)
    combined = combine(user_values, vault_values, file, warnings)
    key = vault_key(path)
    runtime = env.get("XDG_RUNTIME_DIR", "")
    if not os.path.lexists(os.path.join(state, key)):
        from mdmem import moved  # rare: a vault's first use at this place

        moved.take_over(os.path.join(state, key), path)
    return Config(
        vault=path,
        index_dir=os.path.join(places(env)["cache"], key),
        state_dir=os.path.join(state, key),
        runtime_dir=os.path.join(runtime, "mdmem", key) if os.path.isabs(runtime) else os.path.join(state, key, "run"),
        settings=Settings({**combined, **_from_env(env, combined, warnings)}),
        warnings=tuple(warnings),
    )


def places(env: Mapping[str, str]) -> dict[str, str]:
    """Return the user's config, state and cache folders of mdmem, as platformdirs has them (not imported: slow)."""
    top = home()
    if sys.platform == "darwin":
        support = os.path.join(top, "Library", "Application Support", "mdmem")
        return {"config": support, "state": support, "cache": os.path.join(top, "Library", "Caches", "mdmem")}
    if sys.platform == "win32":
        local = os.path.join(env.get("LOCALAPPDATA") or os.path.join(top, "AppData", "Local"), "mdmem")
        return {"config": local, "state": local, "cache": os.path.join(local, "Cache")}
    folders = {}
    for name, variable, default in (
        ("config", "XDG_CONFIG_HOME", ".config"),
        ("state", "XDG_STATE_HOME", os.path.join(".local", "state")),
        ("cache", "XDG_CACHE_HOME", ".cache"),
    ):
        base = env.get(variable) or ""
        # The XDG specification: ignore relative paths.
        folders[name] = os.path.join(base if os.path.isabs(base) else os.path.join(top, default), "mdmem")
    return folders


def home() -> str:
    """Return the user's home folder as an absolute path, or a path that cannot be written if there is none.

    With an empty or relative HOME, state would end up in the agent's working folder, so the account database is
    asked instead.
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
    """Return the user's own settings file."""
    return os.path.join(places(env)["config"], "config.toml")


def vault_key(vault: str) -> str:
    """Return a vault's folder name in cache and state: its own name, and eight hex digits of its path's hash."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in os.path.basename(vault))
    return f"{name[:32] or 'vault'}-{sha256(os.fsencode(vault))[:4].hex()}"


def check(setting: Setting[Any], value: Any) -> Any:
    """Return `value` in the type of the setting's default.

    A text stands for a list of one: a forgotten bracket must not lift an exclusion.
    Raises ConfigError when it has another type or is not among the choices.
    """
    kind = type(setting.default)
    if kind is float and type(value) is int:
        value = float(value)
    elif kind is list and type(value) is str:
        value = [value]
    wrong = type(value) is not kind or (kind in (int, float) and not 0 <= value < float("inf"))
    if kind is list and not wrong:
        wrong = not all(type(item) is str for item in value)
    unfit = [] if wrong or not setting.choices else value if kind is list else [value]
    unfit = [item for item in unfit if item not in setting.choices]
    if wrong or unfit:
        *others, last = (f'"{choice}"' for choice in setting.choices or ("",))
        expected = f"{', '.join(others)}{' or ' if others else ''}{last}" if setting.choices else _WANTED[kind]
        expected = f"a list of {expected}" if setting.choices and kind is list else expected
        given = ", ".join(map(_as_toml, unfit)) or _as_toml(value)
        raise ConfigError(f"{setting.key} must be {expected}, not {given:.40}.")
    return value


def _as_toml(value: Any) -> str:
    """Return a value for a message, as it may stand in a settings file."""
    if isinstance(value, list):
        return f"[{', '.join(map(_as_toml, value))}]"
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, str) else str(value)


_WANTED = {
    bool: "true or false",
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    str: "a quoted string",
    list: "a list of strings",
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
    """Return the settings that are known, valid and allowed in this file; add warnings about the others."""
    selected: dict[str, Any] = {}
    for key, value in values.items():
        setting = BY_KEY.get(key)
        if key == "vault" and not from_vault:
            if isinstance(value, str):
                selected[key] = value
            else:
                warnings.append(f"{file}: vault must be {_WANTED[str]}, not {_as_toml(value):.40}.")
        elif setting is None:
            from mdmem.errors import SettingsWarning  # here and below: rarely needed

            warnings.append(SettingsWarning(f"{file}: there is no setting {key!r:.60}.", unknown=key))
        elif setting.user_only and from_vault:
            warnings.append(f"{file}: {key} is read from your own config.toml only, never from a vault.")
        else:
            try:
                selected[key] = check(setting, value)
            except ConfigError as error:
                warnings.append(f"{file}: {error}")
    return selected


def combine(
    user_values: Mapping[str, Any], vault_values: Mapping[str, Any], file: str, warnings: list[str]
) -> dict[str, Any]:
    """Return the user's settings, made stricter by the vault's; add a warning for each that is looser.

    file: the vault's settings file, for the warnings.
    """
    combined = dict(user_values)
    for key, value in vault_values.items():
        row = BY_KEY[key]
        counts = combined[key] = stricter(row, user_values, value)
        if not _is_taken(row, value, counts, in_user=key in user_values):
            own = user_values.get(key, row.default)
            is_looser = counts == own
            effect = "is ignored: it is looser than yours" if is_looser else "counts only together with yours"
            used = "" if is_looser else f"; {_as_toml(counts):.60} is used"
            warnings.append(
                f"{file}: {key} {effect}, which is {_as_toml(own):.60}{used}. "
                f"A vault can only make a setting stricter: `mdmem config set --user` changes your own."
            )
    return combined


def stricter(row: Setting[Any], user: Mapping[str, Any], value: Any) -> Any:
    """Return the effective value of a row. user: the user's settings; value: the vault's value."""
    if row.stricter is None or (row.stricter in (neither, enclosed) and row.key in user):
        return user.get(row.key, row.default)
    return row.stricter(user.get(row.key, row.default), value)


def _is_taken(row: Setting[Any], value: Any, counts: Any, *, in_user: bool) -> bool:
    """Whether a vault's value takes effect, alone or together with the user's."""
    is_added = isinstance(value, list) and all(item in counts for item in value) and (in_user or counts != row.default)
    return value == counts or is_added or row.stricter is neither or (row.stricter is enclosed and in_user)


def _parse(path: str, state: str, warnings: list[str]) -> dict[str, Any]:
    """Return a settings file as dotted keys, from a cache in the state folder if its text is unchanged.

    Importing tomllib takes as long as two interpreter starts, so it is imported only for a changed file with settings.
    """
    cache = os.path.join(state, f"settings-{short(path, 8)}")
    why = ""
    try:
        text = files.read_any(path, MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        text = b""
    except (OSError, ValueError) as error:
        text = _UNREADABLE
        why = f" ({error.strerror})" if isinstance(error, OSError) else ""
    lines = map(bytes.strip, text.splitlines())
    if all(line[:1] in (b"", b"#") or (line[:1] == b"[" and line[-1:] == b"]") for line in lines):
        files.remove(cache)  # a later typo must not restore removed settings
        return {}  # only comments and table headers, as in a fresh mdmem.toml
    last_valid = _load_cache(cache)
    if last_valid and last_valid[0] == text:
        return last_valid[1]
    import tomllib

    try:
        values = flatten(tomllib.loads(text[:MAX_FILE_BYTES].decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        line = str(error).partition("(at ")[2].rstrip(")") if isinstance(error, tomllib.TOMLDecodeError) else ""
        from mdmem.errors import SettingsWarning

        why = why or (f" as TOML ({line})" if line else " as TOML")
        if not last_valid and not os.path.lexists(path):
            return {}  # it is not there, and the system failed to say so
        excludes_all = not last_valid and os.path.isfile(path) and _may_keep_out(text)
        effect = "nothing that agents do is stored" if excludes_all else "the default settings are used"
        effect = "the last good settings are used" if last_valid else effect
        text_of_warning = f"{path} cannot be read{why}: {effect} until it is fixed."
        warnings.append(SettingsWarning(text_of_warning, is_syntax=True, excludes_all=excludes_all))
        if last_valid:
            return last_valid[1]
        return {"capture.exclude_projects": ["*"]} if excludes_all else {}
    _store_cache(cache, text, values)
    return values


def _may_keep_out(text: bytes) -> bool:
    """Whether settings that cannot be parsed may keep something out of memory. A text that cannot be read may."""
    lines = [line for line in map(bytes.strip, text.splitlines()) if line[:1] != b"#"]
    return text == _UNREADABLE or any(word in line for line in lines for word in _KEEPING_OUT)


_UNREADABLE = b"\0"
"""Stands for a text that cannot be read; it is not valid TOML."""
_KEEPING_OUT = (b"exclude", b"tools", b"branches", b"privacy", b"tags", b"patterns", b"anonymize")


def _load_cache(path: str) -> tuple[bytes, dict[str, Any]] | None:
    import marshal

    try:
        text, values = marshal.loads(files.read_own(path, 4 * MAX_FILE_BYTES))  # noqa: S302 - written by us
    except (OSError, ValueError, TypeError, EOFError):
        return None
    return (text, values) if type(text) is bytes and type(values) is dict else None


def _store_cache(path: str, text: bytes, values: dict[str, Any]) -> None:
    """Cache parsed settings; a failure only costs time."""
    import marshal

    try:
        files.replace(path, marshal.dumps((text, values)))
    except (OSError, ValueError):
        return


def _from_env(env: Mapping[str, str], given: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return the settings that environment variables override. given: those of the files."""
    values: dict[str, Any] = {}
    names = frozenset(env)  # a missing name in `os.environ` costs an exception
    for setting in SETTINGS:
        name = variable(setting, names)
        if not name:
            continue
        kind = bool if setting.drops else type(setting.default)
        try:
            value = _typed(env[name], kind)
            if not setting.drops:
                values[setting.key] = check(setting, value)
            elif type(value) is not bool:
                raise ValueError
            elif value:
                values[setting.key] = [
                    each for each in given.get(setting.key, setting.default) if each != setting.drops
                ]
        except (ConfigError, ValueError):
            warnings.append(f"{name} is not {_WANTED[kind]}, and is ignored.")
    return values


ALIAS = "TRUEMEMORY_"
"""Prefix of aliases of variables, instead of `MDMEM_`; the variable itself takes precedence."""


def variable(setting: Setting[Any], env: Container[str]) -> str:
    """Return the name of the environment variable that sets a setting, "" when none is set."""
    if not setting.env or setting.env in env:
        return setting.env
    alias = ALIAS + setting.env[len("MDMEM_") :]
    return alias if alias in env else ""


_TRUE, FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


def _typed(text: str, kind: type) -> Any:
    if kind is bool:
        text = text.strip().lower()
        return True if text in _TRUE else False if text in FALSE else text
    return [part for part in text.split(",") if part] if kind is list else kind(text)
