"""`promote`: put a note into an instruction file that agents load by themselves, or take it out."""

from __future__ import annotations

from pathlib import Path

import click

from mdmem import project
from mdmem.cli.terminal import completions, options, render
from mdmem.config import Config
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.history import private
from mdmem.search import index
from mdmem.transcripts import promotion
from mdmem.vault import layout, people, user_notes
from mdmem.vault import note as notes

_DEFAULTS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
_MAX_CHARS = 8_000
"""Every session pays for an instruction file, so a longer note stays in the vault."""


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=completions.notes)
@options.value(
    "--to target", "FILE", "The file (default: the project's AGENTS.md, CLAUDE.md or GEMINI.md).", default=""
)
@click.option("--remove", is_flag=True, help="Take the note out of the file again.")
@options.yes
@options.as_json("an object: id, file, action")
@options.in_vault
def promote(config: Config, reference: str, target: str, remove: bool, yes: bool, as_json: bool) -> None:
    """Put NOTE into a project's AGENTS.md, CLAUDE.md or another instruction file, between mdmem's markers.

    The change is shown first, and you are asked. Everything outside the markers stays unchanged. When the note
    changes later, the file does not: promote it again. Private sections and secrets are never copied.

    \b
    Example:  mdmem promote mem:7m2x4kd9qp --to CLAUDE.md
              mdmem promote mem:7m2x4kd9qp --remove
    """
    from mdmem.agents.install import settings_file

    path = _target(target)
    file = settings_file.SettingsFile(str(path))
    before = file.text or ""
    note_id, text, nameless = (
        _removed(config, reference, before) if remove else _promoted(config, reference, path, file.text)
    )
    if text == before:
        if remove:
            raise NotFoundError(f"{file.path} does not hold the note {note_id}.")
        _print(note_id, file.path, "unchanged", as_json=as_json)
        return
    is_deleted = remove and promotion.is_ours(before, text)
    if not yes:
        verb = "Delete" if is_deleted else "Change"
        also = f", and add its id to {nameless}" if nameless else ""
        options.refuse_to_ask(as_json=as_json, yes=False)
        click.echo(render.safe(settings_file.diff(before, text, file.path)), nl=False)
        options.confirm(f"{verb} this file{also}?", err=True)
    if nameless:
        user_notes.set_keys(config, nameless, {"id": note_id})
    if is_deleted:
        file.delete()
    else:
        file.write(text, keep_first=False)
    _print(note_id, file.path, "deleted" if is_deleted else "removed" if remove else "promoted", as_json=as_json)


def _target(given: str) -> Path:
    """Return the file named by --to, else the first known instruction file in this project's work tree."""
    if given:
        path = Path(given).expanduser().absolute()
        if path.suffix.lower() not in (".md", ".markdown", ".mdc") or path.is_dir():
            raise UsageError(f"{path} is not a Markdown file.")
        return path
    root = Path(project.identify(str(Path.cwd())).worktree or Path.cwd())
    file = next((root / name for name in _DEFAULTS if (root / name).is_file()), None)
    if file is None:
        raise UsageError(
            f"There is no {', '.join(_DEFAULTS[:-1])} or {_DEFAULTS[-1]} in {root}. Name a file with --to."
        )
    return file


def _promoted(config: Config, reference: str, file: Path, before: str | None) -> tuple[str, str, str]:
    """Return the note's id, the file's text with the note in it, and the note's path if its id is to be added to it."""
    path = index.resolve(config, reference)
    parsed = people.load_clean(config.vault, path)
    meta = parsed.meta
    if people.keeps_private(meta) or notes.is_internal(path, meta.get("kind", "")):
        raise UsageError(f"{path} is private and stays in the vault.")
    if private.stays_here(config.vault, meta, layout.project_named(path, meta)) and any(
        (folder / ".git").exists() for folder in file.resolve().parents
    ):
        raise UsageError(
            f"{path} stays on this machine (sync: false), and {file} is in a git repository. Name a file outside any "
            "repository with --to, such as ~/.claude/CLAUDE.md."
        )
    if parsed.problem:
        raise UsageError(f"The front matter of {path} is broken, so its id is not known: {parsed.problem}.")
    if not parsed.body.strip() or len(parsed.body) > _MAX_CHARS:
        problem = f"longer than {_MAX_CHARS:,} characters" if parsed.body.strip() else "empty"
        raise UsageError(f"{path} is {problem}, so it is not promoted.")
    note_id, title = str(meta.get("id") or notes.id_of_path(path)), notes.one_line(str(meta.get("title") or "Note"))
    return note_id, promotion.with_note(before, note_id, title, parsed.body), "" if meta.get("id") else path


def _removed(config: Config, reference: str, before: str) -> tuple[str, str, str]:
    """Return as `_promoted` does, with the file's text without the note; a deleted note is found by its id."""
    note_id = notes.id_in_reference(reference)
    if not promotion.holds(before, note_id):
        try:
            path = index.resolve(config, reference)
            note_id = str(notes.load(config.vault, path).meta.get("id", note_id))
        except MdmemError:
            pass
    return note_id, promotion.without_note(before, note_id), ""


def _print(note_id: str, path: str, action: str, *, as_json: bool) -> None:
    text = f"[mem:{note_id}] {_PHRASES[action].format(path)}."
    render.print_outcome(text, {"id": note_id, "file": path, "action": action}, as_json=as_json)


_PHRASES = {
    "promoted": "is now in {}",
    "removed": "is no longer in {}",
    "deleted": "was all that {} contained, so the file is deleted",
    "unchanged": "is already up to date in {}",
}
