"""`config template`: the shapes of the bodies that mdmem writes, and of people's own notes, for a vault to change."""

from __future__ import annotations

from pathlib import Path

import click

from mdmem.cli.terminal import options, render
from mdmem.errors import UsageError
from mdmem.vault import disk, template


@click.command("template", short_help="List the templates of notes, or copy one into the vault to change it.")
@click.argument(
    "name", metavar="[NAME]", required=False, type=click.Choice([name.removesuffix(".md") for name in template.PLACES])
)
@options.as_json("an array of objects, or, with NAME, an object with the path")
@click.pass_obj
def command(given_vault: str | None, name: str | None, as_json: bool) -> None:
    """List the templates of notes, or copy NAME into the vault's templates/ to change it there.

    NAME is prompt, observation, response, summary, session, project or note. Delete the file to use mdmem's own
    again. `mdmem doctor` says when a template would lose something.

    \b
    Example:  mdmem config template note
    """
    settings = options.settings(given_vault)
    if name is None:
        _list(settings.vault, as_json=as_json)
        return
    text = template.load(f"notes/{name}.md")
    with disk.open_folder(settings.vault, ("templates", "notes"), create=True) as folder:
        made = disk.create(folder, f"{name}.md", text.encode())
        path = str(Path(folder.path) / f"{name}.md")
    if not made:
        raise UsageError(f"The vault has that template already: {path}. Change it there.")
    filled = ", ".join(f"{{{{{place}}}}}" for place in template.PLACES[f"{name}.md"])
    click.echo(render.as_json({"path": path}) if as_json else f"{path}\nPlaceholders: {filled}.")


def _list(root: str, *, as_json: bool) -> None:
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
