"""`config`: read and change settings."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from mdmem import config
from mdmem.cli.setup import config_file, templates
from mdmem.cli.terminal import options, render
from mdmem.cli.terminal.render import Piece
from mdmem.config import Config
from mdmem.errors import ConfigError, UsageError
from mdmem.settings import SETTINGS, Setting, neither
from mdmem.views import settings_checks


@click.group("config")
def config_group() -> None:
    """Read and change settings. The vault's mdmem.toml can only make a setting stricter; your own config.toml may
    set anything.

    \b
    Example:  mdmem config list
              mdmem config set inject.chars 4000
    """


VAULT = Setting("~/mdmem", "Where your vault is.", key="vault", env="MDMEM_VAULT")
"""Where the other settings are found. It is not a row of the table, because a vault cannot name its own place."""


def keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:  # noqa: ARG001 - click's signature
    """Complete the name of a setting."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(row.key, help=row.meaning) for row in SETTINGS if row.key.startswith(incomplete)]


def values_of(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:  # noqa: ARG001
    """Complete the value of a setting that has a fixed set of values."""
    row = next((row for row in SETTINGS if row.key == ctx.params.get("key")), None)
    few = ("true", "false") if row and isinstance(row.default, bool) else row.choices if row else ()
    return [value for value in few if value.startswith(incomplete)]


@config_group.command("get")
@click.argument("key", shell_complete=keys)
@options.as_json("an object: key, value, default, source, meaning, choices, user_only, env")
@options.with_config
def get(loaded: Config, key: str, as_json: bool) -> None:
    """Print the value of KEY.

    \b
    Example:  mdmem config get inject.chars
    """
    row = known(key)
    warn(loaded)
    value = printed(loaded, row)
    if as_json:
        render.print_json(_as_object(loaded, row))
    else:
        click.echo(value if isinstance(value, str) else render.toml(value))


class _NumbersCommand(click.Command):
    """A command that does not take a negative number for an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with negative numbers last, after `--`."""
        negative = [text for text in args if text[:1] == "-" and text[1:2].isdigit()]
        if negative and "--" not in args:
            args = [*(text for text in args if text not in negative), "--", *negative]
        return super().parse_args(ctx, args)


@config_group.command("set", cls=_NumbersCommand)
@click.argument("key", shell_complete=keys)
@click.argument("values", nargs=-1, required=True, shell_complete=values_of)
@click.option("--user", is_flag=True, help="Write to your own config.toml, not to the vault's mdmem.toml.")
@click.option("--add", is_flag=True, help="Add to the list that is set now.")
@options.as_json("an object: key, value, default, source, meaning, choices, user_only, env, file")
@click.pass_obj
def set_value(vault: str | None, key: str, values: tuple[str, ...], user: bool, add: bool, as_json: bool) -> None:
    """Set KEY to VALUES; only a list takes more than one. The file keeps its comments and layout.

    \b
    Example:  mdmem config set capture.max_lines 200
              mdmem config set capture.exclude_tools --add WebSearch
    """
    row = known(key)
    loaded = config.load(vault)
    value = read_value(row, values)
    unfit = settings_checks.unfit(row, value)
    if unfit:
        raise ConfigError(f"{unfit} Nothing was changed.")
    if add:
        if not isinstance(value, list):
            raise UsageError(f"{row.key} is not a list, so --add does not apply.")
        value = list(dict.fromkeys([*loaded.settings.values[row.key], *value]))
    _change(loaded, vault, row, value, user=user, as_json=as_json)


@config_group.command("unset", short_help="Set KEY back to its default.")
@click.argument("key", shell_complete=keys)
@click.option("--user", is_flag=True, help="Change your own config.toml, not the vault's mdmem.toml.")
@options.as_json("an object: key, value, default, source, meaning, choices, user_only, env, file")
@click.pass_obj
def unset(vault: str | None, key: str, user: bool, as_json: bool) -> None:
    """Set KEY back to its default, in the file that sets it; where both do, in the vault's.

    \b
    Example:  mdmem config unset capture.max_lines
    """
    row, loaded = known(key), config.load(vault)
    in_vault, in_user = (row.key in config_file.values(files(loaded)[name]) for name in ("vault", "user"))
    _change(loaded, vault, row, None, user=user or (in_user and not in_vault), as_json=as_json)


def _change(loaded: Config, vault: str | None, row: Setting[Any], value: Any, *, user: bool, as_json: bool) -> None:
    must_be_own = user or row.user_only or row.key in _OWN
    in_user = must_be_own or (value is not None and _loosens(loaded, row, value))
    if not in_user and not Path(loaded.vault).is_dir():
        raise ConfigError(f"No vault at {loaded.vault}. Run `mdmem init`, or use --user for your own config.toml.")
    path = files(loaded)["user" if in_user else "vault"]
    config_file.change(path, row.key, value, render.toml(row.default))
    changed = config.load(vault)
    wanted = row.default if value is None else value
    if as_json:
        render.print_json({**_as_object(changed, row), "file": path})
    elif value is None:
        click.echo(f"{row.key} = {render.toml(wanted)}, the default; it is not set in {path}")
    else:
        click.echo(f"{row.key} = {render.toml(wanted)} in {path}")
    if in_user and not user and row is not VAULT:
        click.echo(_why_own(row), err=True)
    elif not in_user and value and row.key in _TELLING:
        click.echo("This file is committed and synced with the vault. `--user` keeps a value in your own.", err=True)
    if row is VAULT and not Path(wanted).expanduser().is_dir():
        click.echo(f"There is no vault at {wanted} yet: run `mdmem init`.", err=True)
    if row is not VAULT and value_of(changed, row) != wanted:
        where = source(changed, row)
        tip = f" `mdmem config unset {row.key}` removes that." if value is None and where == "your config.toml" else ""
        click.echo(f"The value in use is {render.toml(value_of(changed, row))}: {where} sets it.{tip}", err=True)
    warn(changed)


_OWN = ("privacy.patterns",)
"""Settings whose values must not be committed with a vault."""
_TELLING = ("capture.exclude_paths", "capture.exclude_projects")
"""Settings whose values may tell what is private, but which other machines may need too."""


def _why_own(row: Setting[Any]) -> str:
    if row.key in _OWN:
        return "It was written to your own config.toml, because the vault's file is committed with the vault."
    why = "cannot set this" if row.user_only else "can only make a setting stricter"
    return f"It was written to your own config.toml: a vault's file {why}."


@config_group.command("list", short_help="List the settings: value, source and meaning.")
@click.argument("word", default="", metavar="[WORD]", shell_complete=keys)
@click.option("--changed", is_flag=True, help="Only settings that are not at their default.")
@options.as_json("an array of objects: key, value, default, source, meaning, choices, user_only, env")
@options.with_config
def list_settings(loaded: Config, word: str, changed: bool, as_json: bool) -> None:
    """List every setting with its value, where the value comes from, and its meaning. With WORD, only those with it in
    their name, such as `capture`.

    \b
    Example:  mdmem config list --changed
              mdmem config list inject
    """
    warn(loaded)
    rows = [row for row in ((VAULT, *SETTINGS) if word else SETTINGS) if word.lower() in row.key]
    if not rows:
        raise ConfigError(f"No setting has {word!r:.60} in its name. {_tip(word)}")
    shown = [row for row in rows if not changed or _is_changed(loaded, row)]
    if as_json:
        render.print_json([_as_object(loaded, row) for row in shown])
        return
    render.write(line for row in shown for line in _lines(loaded, row))
    if not shown:
        click.echo(f"Every setting{f' with {word!r} in its name' if word else ''} is at its default.", err=True)


def _is_changed(loaded: Config, row: Setting[Any]) -> bool:
    return source(loaded, row) != "default" if row is VAULT else loaded.settings.values[row.key] != row.default


def _lines(loaded: Config, row: Setting[Any]) -> Iterator[list[Piece]]:
    """Write a setting as a line of a file, and its meaning below."""
    where = source(loaded, row)
    named = [] if where == "default" else [(f"  ({where})", "green")]
    yield [(row.key, "bold"), (f" = {render.toml(printed(loaded, row))}", ""), *named]
    yield [(f"    {row.meaning}", "dim")]


@config_group.command("path")
@options.as_json("an object: vault, vault_settings, your_settings, index, state, runtime, log")
@options.with_config
def path(loaded: Config, as_json: bool) -> None:
    """Print where settings, index, state and log are.

    \b
    Example:  mdmem config path
    """
    where = {
        "vault": loaded.vault,
        "vault settings": files(loaded)["vault"],
        "your settings": files(loaded)["user"],
        "index": loaded.index_dir,
        "state": loaded.state_dir,
        "runtime": loaded.runtime_dir,
        "log": str(Path(loaded.state_dir) / "log"),
    }
    if as_json:
        render.print_json({name.replace(" ", "_"): value for name, value in where.items()})
        return
    render.table((render.Column("dim"), render.Column()), list(where.items()))


config_group.add_command(templates.template_command)
config_group.add_command(templates.obsidian)


# -- what is set, and where --------------------------------------------------------------------------


def known(key: str) -> Setting[Any]:
    """Return a setting by its key, or by the last part of it where that is unique.

    Raises ConfigError when there is none; the message suggests the nearest.
    """
    matching = [row for row in (VAULT, *SETTINGS) if key in (row.key, row.key.rpartition(".")[2])]
    if len(matching) == 1:
        return matching[0]
    raise ConfigError(f"There is no setting {key!r:.60}. {_tip(key)}")


def _tip(key: str) -> str:
    """Return what to do about the name of a setting that does not exist."""
    if any(row.key.startswith(f"{key.lower()}.") for row in SETTINGS):
        return f"`mdmem config list {key}` lists those of this section."
    near = settings_checks.nearest(key)
    return f"Did you mean {near}?" if near else "`mdmem config list` lists all of them."


def read_value(row: Setting[Any], typed: tuple[str, ...]) -> Any:
    """Parse a value as a person types it: TOML, a bare text, yes or no, or a list word by word.

    Raises ConfigError when it has the wrong type or is not among the choices.
    """
    if isinstance(row.default, list):
        single = _toml(typed[0]) if len(typed) == 1 else None
        if isinstance(single, list):
            return config.check(row, single)
        parts = typed if row.key in _NEVER_SPLIT else [part.strip() for word in typed for part in word.split(",")]
        return config.check(row, [part for part in parts if part])
    text = " ".join(typed)
    if isinstance(row.default, str):
        value = _toml(text)
        return config.check(row, value if isinstance(value, str) else text)
    if isinstance(row.default, bool):
        return config.check(row, _YES_AND_NO.get(text.strip().lower(), text))
    return config.check(row, _toml(text))


_NEVER_SPLIT = ("privacy.patterns", "internal.trust")
"""Lists whose items may contain a comma."""
_YES_AND_NO = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def value_of(loaded: Config, row: Setting[Any]) -> Any:
    """Return the value of a setting that is in effect."""
    return loaded.vault if row is VAULT else loaded.settings.values[row.key]


def printed(loaded: Config, row: Setting[Any]) -> Any:
    """Return the value of a setting as it may be printed: an API key becomes its provider's name."""
    value = value_of(loaded, row)
    return [f"{str(item).split(' ')[0]} …" for item in value] if row.secret else value


def _loosens(loaded: Config, row: Setting[Any], value: Any) -> bool:
    """Whether the vault's file could not set a value, because it is looser than the user's own or the default."""
    user = config_file.values(files(loaded)["user"])
    return row.stricter is not neither and config.stricter(row, user, value) != value


def files(loaded: Config) -> dict[str, str]:
    """Return the two settings files."""
    return {"vault": str(Path(loaded.vault) / "mdmem.toml"), "user": config.user_file(os.environ)}


def source(loaded: Config, row: Setting[Any]) -> str:
    """Return where a value comes from: a variable, `your config.toml`, `mdmem.toml`, both files, or `default`."""
    variable = config.variable(row, os.environ)
    if variable:
        return variable
    counts = value_of(loaded, row)
    user, vault = (config_file.values(files(loaded)[name]).get(row.key) for name in ("user", "vault"))
    if user is not None and (user == counts or row.user_only):
        return "your config.toml"
    if row.user_only or vault is None or (user is None and vault != counts and counts == row.default):
        return "default"
    return "mdmem.toml" if vault == counts or user is None else "your config.toml and mdmem.toml"


def warn(loaded: Config) -> None:
    """Print the warnings on stderr."""
    for text in settings_checks.warnings(loaded):
        click.echo(f"mdmem: {text}", err=True)


def _as_object(loaded: Config, row: Setting[Any]) -> dict[str, Any]:
    return {
        "key": row.key,
        "value": printed(loaded, row),
        "default": row.default,
        "source": source(loaded, row),
        **{key: getattr(row, key) for key in ("meaning", "choices", "user_only", "env")},
    }
