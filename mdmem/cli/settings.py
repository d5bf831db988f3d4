"""`config`: reading and changing settings, with what each is for."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem import config
from mdmem.cli import lines, options, render, settings_file, table, templates
from mdmem.config import BY_KEY, SETTINGS, Config, Setting
from mdmem.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mdmem.cli.lines import Piece


@click.group("config")
def config_group() -> None:
    """Read and change settings. The vault's mdmem.toml says what is stored and shown, yours anything.

    \b
    Example:  mdmem config list
              mdmem config set inject.chars 4000
    """


VAULT = Setting("vault", "~/mdmem", "Where your vault is.", user_only=True, env="MDMEM_VAULT")
"""The one setting that the rest hangs on; it is no row of the table, since no vault can hold it."""


def keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:  # noqa: ARG001 - click's signature
    """Complete the name of a setting."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(row.key, help=row.meaning) for row in SETTINGS if row.key.startswith(incomplete)]


@config_group.command("get")
@click.argument("key", shell_complete=keys)
@options.as_json("an object with the value, its default, where it comes from, and its meaning")
@click.pass_obj
def get(given_vault: str | None, key: str, as_json: bool) -> None:
    """Print the value of KEY.

    \b
    Example:  mdmem config get inject.chars
    """
    row = known(key)
    found = config.load(given_vault)
    warn(found)
    value = value_of(found, row)
    if as_json:
        click.echo(render.as_json(_as_object(found, row)))
    else:
        click.echo(value if isinstance(value, str) else render.toml(value))


@config_group.command("set")
@click.argument("key", shell_complete=keys)
@click.argument("values", nargs=-1, required=True)
@click.option("--user", is_flag=True, help="In your own config.toml, for all vaults, not in the vault's mdmem.toml.")
@click.option("--add", is_flag=True, help="Add to the list that is set now.")
@options.as_json("what `get` prints then, and the file")
@click.pass_obj
def set_value(given_vault: str | None, key: str, values: tuple[str, ...], user: bool, add: bool, as_json: bool) -> None:
    """Set KEY to VALUES, of which only a list takes more than one. Comments and layout of the file stay.

    \b
    Example:  mdmem config set capture.max_lines 200
              mdmem config set capture.exclude_tools --add WebSearch
    """
    row = known(key)
    found = config.load(given_vault)
    value = read_value(row, values)
    unfit = _unfit(row, value)
    if unfit:
        raise ConfigError(f"{unfit} It is not changed.")
    if add:
        if not isinstance(value, list):
            raise UsageError(f"{row.key} is no list: --add does not go with it.")
        value = list(dict.fromkeys([*found.settings[row.key], *value]))
    _change(found, given_vault, row, value, user=user, as_json=as_json)


@config_group.command("unset")
@click.argument("key", shell_complete=keys)
@click.option("--user", is_flag=True, help="In your own config.toml.")
@options.as_json("what `get` prints then, and the file")
@click.pass_obj
def unset(given_vault: str | None, key: str, user: bool, as_json: bool) -> None:
    """Set KEY back to its default.

    \b
    Example:  mdmem config unset capture.max_lines
    """
    _change(config.load(given_vault), given_vault, known(key), None, user=user, as_json=as_json)


def _change(found: Config, given_vault: str | None, row: Setting, value: Any, *, user: bool, as_json: bool) -> None:
    in_user = user or row.user_only
    if not in_user and not Path(found.vault).is_dir():
        raise ConfigError(f"No vault at {found.vault}. Run `mdmem init`, or say --user for your own config.toml.")
    path = files(found)["user" if in_user else "vault"]
    settings_file.change(path, row.key, value, render.toml(row.default))
    now = config.load(given_vault)
    wanted = row.default if value is None else value
    if as_json:
        click.echo(render.as_json({**_as_object(now, row), "file": path}))
    else:
        click.echo(f"{row.key} = {render.toml(wanted)} in {path}")
    if row.user_only and not user and row is not VAULT:
        click.echo("That is taken from your own config.toml only, never from a vault.", err=True)
    if row is not VAULT and value_of(now, row) != wanted:
        click.echo(f"It is {render.toml(value_of(now, row))} all the same: {source(now, row)} says so.", err=True)
    warn(now)


@config_group.command("list", short_help="List every setting: value, source and meaning.")
@click.option("--changed", is_flag=True, help="Only what is not at its default.")
@options.as_json("an array of such objects as `get` prints")
@click.pass_obj
def list_settings(given_vault: str | None, changed: bool, as_json: bool) -> None:
    """List every setting with its value and its meaning, and where a value comes from.

    \b
    Example:  mdmem config list --changed
    """
    found = config.load(given_vault)
    warn(found)
    shown = [row for row in SETTINGS if not changed or found.settings[row.key] != row.default]
    if as_json:
        click.echo(render.as_json([_as_object(found, row) for row in shown]))
        return
    lines.write(lines.terminal(), (line for row in shown for line in _lines(found, row)))
    if not shown:
        click.echo("Every setting is at its default.", err=True)


def _lines(found: Config, row: Setting) -> Iterator[list[Piece]]:
    """Write a setting as it stands in a file, and below it what it is for."""
    where = source(found, row)
    named = [] if where == "default" else [(f"  ({where})", "green")]
    yield [(row.key, "bold"), (f" = {render.toml(found.settings[row.key])}", ""), *named]
    yield [(f"    {row.meaning}", "dim")]


@config_group.command("path")
@options.as_json("an object with every path")
@click.pass_obj
def path(given_vault: str | None, as_json: bool) -> None:
    """Print where settings, index, state and log are.

    \b
    Example:  mdmem config path
    """
    found = config.load(given_vault)
    state = Path(found.state_dir)
    where = {
        "vault": found.vault,
        "vault settings": files(found)["vault"],
        "your settings": files(found)["user"],
        "index": found.index_dir,
        "state": found.state_dir,
        "runtime": found.runtime_dir,
        "log": str(state / "log"),
    }
    if as_json:
        click.echo(render.as_json({name.replace(" ", "_"): value for name, value in where.items()}))
        return
    table.show(lines.terminal(), (table.Column("dim"), table.Column()), list(where.items()))


config_group.add_command(templates.command)


# -- values of the right type that still cannot be used -----------------------------------------------


def _unfit(row: Setting, value: Any) -> str:
    """Say why a value cannot be used as it stands; "" when it can. A hook has no time to look, and passes over it."""
    judge = _JUDGES.get(row.key) if value != row.default else None
    why = judge(value) if judge else ""
    return f"{row.key} {why}." if why else ""


def _too_many_chars(value: int) -> str:
    from mdmem.recall.block import MAX_CHARS

    return f"is {value}, and at most {MAX_CHARS} is used" if value > MAX_CHARS else ""


def _no_pattern(value: list[str]) -> str:
    import re

    for pattern in value:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            return f"has {pattern!r:.60}, which is no regular expression ({error}): nothing is masked by it"
    return ""


def _no_mark(name: str) -> Callable[[str], str]:
    def judge(value: str) -> str:
        from mdmem import privacy

        given: dict[str, Any] = {name: value}
        used = getattr(privacy.Rules(**given), name)
        return "" if used == value else f"cannot be {value!r:.60}, which reads as more than a mark; {used} is used"

    return judge


def _no_trust(value: list[str]) -> str:
    for row in value:
        words = row.split()
        try:
            fits = len(words) == 3 and 0 <= float(words[2]) <= 1
        except ValueError:
            fits = False
        if not fits:
            return f'has {row!r:.60}, which counts as 0; say "user:alice bob 0.5" or "agent * 0.3"'
    return ""


def _no_provider(value: str) -> str:
    from mdmem.recall.models import PROVIDERS

    known_one = value.strip().lower().replace("_", "-") in PROVIDERS
    return "" if known_one else f"is {value!r:.40}; there are {', '.join(PROVIDERS)}"


_JUDGES: dict[str, Callable[[Any], str]] = {
    "inject.chars": _too_many_chars,
    "privacy.patterns": _no_pattern,
    "privacy.marker": _no_mark("marker"),
    "privacy.redacted": _no_mark("redacted"),
    "internal.trust": _no_trust,
    "expand.provider": _no_provider,
}


# -- what is set, and where --------------------------------------------------------------------------


def known(key: str) -> Setting:
    """Find a setting by its key, or by the last part of it where that is enough.

    Raises:
        ConfigError: when there is none; the message names the nearest.
    """
    found = [row for row in (VAULT, *SETTINGS) if key in (row.key, row.key.rpartition(".")[2])]
    if len(found) == 1:
        return found[0]
    near = nearest(key)
    tip = f"Did you mean {near}?" if near else "`mdmem config list` names them all."
    raise ConfigError(f"There is no setting {key!r:.60}. {tip}")


def nearest(key: str) -> str:
    """Name the setting whose key is most like this one; "" when none is."""
    import difflib

    last = key.rpartition(".")[2]
    ends = {row.key.rpartition(".")[2]: row.key for row in SETTINGS}
    whole = difflib.get_close_matches(key, BY_KEY, 1, 0.7)
    part = difflib.get_close_matches(last, ends, 1, 0.8)
    return ends[last] if last in ends else whole[0] if whole else ends[part[0]] if part else ""


def read_value(row: Setting, words: tuple[str, ...]) -> Any:
    """Read a value as a person types it: TOML, or a bare text, or yes and no, or a list word by word.

    Raises:
        ConfigError: when it has the wrong type or is not among the choices.
    """
    if isinstance(row.default, list):
        single = _toml(words[0]) if len(words) == 1 else None
        return config.check(row, single if isinstance(single, list) else list(words))
    text = " ".join(words)
    if isinstance(row.default, str):
        value = _toml(text)
        return config.check(row, value if isinstance(value, str) else text)
    if isinstance(row.default, bool):
        return config.check(row, _YES_AND_NO.get(text.strip().lower(), text))
    return config.check(row, _toml(text))


_YES_AND_NO = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def value_of(found: Config, row: Setting) -> Any:
    """Give the value of a setting as it counts."""
    return found.vault if row is VAULT else found.settings[row.key]


def files(found: Config) -> dict[str, str]:
    """Name the two settings files."""
    return {"vault": str(Path(found.vault) / "mdmem.toml"), "user": config.user_file(os.environ)}


def source(found: Config, row: Setting) -> str:
    """Say where a setting's value comes from: a variable, `your config.toml`, `mdmem.toml` or `default`."""
    if row.env and row.env in os.environ:
        return row.env
    named = {"user": "your config.toml", "vault": "mdmem.toml"}
    for name in ("user", "vault"):
        if row.key in settings_file.values(files(found)[name]) and not (name == "vault" and row.user_only):
            return named[name]
    return "default"


def warnings(found: Config) -> list[str]:
    """Say what in the settings files was not understood, and which setting may have been meant."""
    said = []
    for text in found.warnings:
        _, marked, rest = text.partition("there is no setting ")
        near = nearest(rest.strip("'\". ")) if marked else ""
        said.append(f"{text} Did you mean {near}?" if near else text)
    return [*said, *filter(None, (_unfit(row, found.settings[row.key]) for row in SETTINGS))]


def warn(found: Config) -> None:
    """Print the warnings on stderr."""
    for text in warnings(found):
        click.echo(f"mdmem: {text}", err=True)


def _as_object(found: Config, row: Setting) -> dict[str, Any]:
    return {
        "key": row.key,
        "value": value_of(found, row),
        "default": row.default,
        "source": source(found, row),
        "meaning": row.meaning,
        "choices": list(row.choices),
        "user_only": row.user_only,
        "env": row.env,
    }
