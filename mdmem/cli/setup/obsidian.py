"""`config obsidian`: views and property types for Obsidian, put into a vault that its owner opens there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mdmem.cli.terminal import options, render
from mdmem.errors import ConfigError
from mdmem.vault import disk, template

FOLDER = "bases"
BASES = ("Sessions", "Failures", "Decisions", "Files")


@click.command("obsidian", short_help="Add Obsidian's views of the vault, and the types of its properties.")
@options.as_json("an object with the files that were made")
@click.pass_obj
def command(given_vault: str | None, as_json: bool) -> None:
    """Add views of sessions, failures, decisions and files (`bases/*.base`), and property types, for Obsidian.

    Existing files stay unchanged; delete the files to remove them. Nothing else needs them.

    \b
    Example:  mdmem config obsidian
    """
    settings = options.settings(given_vault)
    made = []
    with disk.open_folder(settings.vault, (FOLDER,), create=True) as folder:
        for name in BASES:
            if disk.create(folder, f"{name}.base", template.load(f"obsidian/{name}.base").encode()):
                made.append(f"{FOLDER}/{name}.base")
    if _add_types(settings.vault):
        made.append(".obsidian/types.json")
    if as_json:
        render.print_json({"made": made})
        return
    click.echo(
        f"Made {', '.join(made)}. `mdmem open --in obsidian` opens the vault."
        if made
        else "Everything is there already."
    )


def _add_types(vault: str) -> bool:
    """Add the types of mdmem's properties to those that Obsidian knows; a type that is set stays."""
    path = Path(vault, ".obsidian", "types.json")
    try:
        held: Any = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON ({error}). Fix it, and run this again.") from error
    if not isinstance(held, dict) or not isinstance(held.get("types", {}), dict):
        raise ConfigError(f"{path} does not have the structure that Obsidian writes. Fix it, and run this again.")
    types = {**json.loads(template.load("obsidian/types.json"))["types"], **held.get("types", {})}
    if held.get("types") == types:
        return False
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text(json.dumps({**held, "types": types}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return True
