"""`config template`, `config obsidian`: copy note templates and Obsidian views into a vault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mdmem.cli.terminal import options, render
from mdmem.config import Config
from mdmem.errors import ConfigError, UsageError
from mdmem.vault import disk, template


@click.command("template", short_help="List the templates of notes, or copy one into the vault to change it.")
@click.argument(
    "name", metavar="[NAME]", required=False, type=click.Choice([name.removesuffix(".md") for name in template.PLACES])
)
@options.as_json("an array of objects: name, own, places; with NAME an object: path")
@options.in_vault
def template_command(config: Config, name: str | None, as_json: bool) -> None:
    """List the templates of notes, or copy NAME into the vault's templates/ to change it there.

    NAME is prompt, observation, response, summary, session, project or note. Delete the file to use mdmem's own
    again. `mdmem doctor` reports a template that would lose part of a note.

    \b
    Example:  mdmem config template note
    """
    if name is None:
        _list_templates(config.vault, as_json=as_json)
        return
    text = template.load(f"notes/{name}.md")
    with disk.open_folder(config.vault, ("templates", "notes"), create=True) as folder:
        made = disk.create(folder, f"{name}.md", text.encode())
        path = str(Path(folder.path) / f"{name}.md")
    if not made:
        raise UsageError(f"The vault already has that template: {path}. Edit it there.")
    filled = ", ".join(f"{{{{{place}}}}}" for place in template.PLACES[f"{name}.md"])
    render.print_outcome(f"{path}\nPlaceholders: {filled}.", {"path": path}, as_json=as_json)


def _list_templates(root: str, *, as_json: bool) -> None:
    folder = Path(root, "templates", "notes")
    rows = [(name.removesuffix(".md"), folder / name, places) for name, places in template.PLACES.items()]
    if as_json:
        found = [{"name": name, "own": path.is_file(), "places": list(places)} for name, path, places in rows]
        render.print_json(found)
        return
    shown = [
        (name, "the vault's own" if path.is_file() else "", " ".join(f"{{{{{place}}}}}" for place in places))
        for name, path, places in rows
    ]
    render.table((render.Column("bold"), render.Column("green"), render.Column("dim")), shown)


FOLDER = "bases"
BASES = ("Sessions", "Failures", "Decisions", "Files")


@click.command("obsidian", short_help="Add Obsidian's views of the vault, and the types of its properties.")
@options.as_json("an object: made")
@options.in_vault
def obsidian(config: Config, as_json: bool) -> None:
    """Add views of sessions, failures, decisions and files (`bases/*.base`), and property types, for Obsidian.

    Existing files stay unchanged; delete the files to remove them. Nothing else needs them.

    \b
    Example:  mdmem config obsidian
    """
    made = []
    with disk.open_folder(config.vault, (FOLDER,), create=True) as folder:
        for name in BASES:
            if disk.create(folder, f"{name}.base", template.load(f"obsidian/{name}.base").encode()):
                made.append(f"{FOLDER}/{name}.base")
    if _add_types(config.vault):
        made.append(".obsidian/types.json")
    created = f"Created {', '.join(made)}. `mdmem open --in obsidian` opens the vault."
    render.print_outcome(
        created if made else "Nothing to add: all of it already exists.", {"made": made}, as_json=as_json
    )


def _add_types(vault: str) -> bool:
    """Add the types of mdmem's properties to Obsidian's, keeping those already set; return whether any was missing."""
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
