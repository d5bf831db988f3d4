"""`note`, `append`, `tag`, `pin`, `unpin`, `edit`: writing notes, and marking captured ones."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import Any

import click

from mdmem import plural, privacy, timestamps
from mdmem.cli.terminal import completions, editor, options, render, startup
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.history import attribution
from mdmem.search import index
from mdmem.vault import archives, layout, projects, user_notes
from mdmem.vault import note as notes

HELP_FOR_EDITOR = "<!-- A line `# …` is the title. Save and close to keep the note; an empty text discards it. -->"


@click.command("note")
@click.argument("text", nargs=-1)
@click.option("--title", metavar="TEXT", default="", help="Title (default: the first line).")
@options.several("--tag tags", "TAG", "Tag; repeatable.", completions.tags)
@options.value(
    "--project", "NAME", "The project it belongs to (default: this folder's; '' for none).", completions.projects
)
@click.option("--kind", type=click.Choice(notes.WRITTEN), default="note", show_default=True, help="Kind of note.")
@options.value("--supersedes", "NOTE", "The earlier note that this one replaces.", completions.notes, default="")
@click.option("--pin", "pinned", is_flag=True, help="Show it to agents at the start of every session.")
@click.option("--propose", is_flag=True, help="Store it as a proposal that waits for your decision (for agents).")
@options.as_json("an object: id, path, project")
@options.in_vault
def add(
    config: Config,
    /,
    text: tuple[str, ...],
    title: str,
    project: str | None,
    propose: bool,
    as_json: bool,
    **written: Any,
) -> None:
    """Write a note: TEXT, or stdin, or what you write in your editor.

    If the vault has a `templates/notes/note.md`, that is its template.

    \b
    Example:  mdmem note "Times are stored in UTC." --title UTC --kind decision
              pbpaste | mdmem note --tag incident
    """
    from mdmem.learn import decisions

    body, title = _text(config, " ".join(text), title)
    home = _project_here(config) if project is None else layout.project_called(config.vault, project)
    added = decisions.add(
        config, title, _shaped(config, title, body, home), project=home,
        proposed=propose and not config.settings.learn.accept, agent=startup.calling_agent(), now=options.now(),
        **written,
    )  # fmt: skip
    of_project = f" ({home})" if home else ""
    render.print_outcome(
        f"[mem:{added.id}] {added.path}{of_project}", {**added._asdict(), "project": home}, as_json=as_json
    )
    _tell_new_project(config, home)
    _tell_what_was_kept_out(config, [title, body])


def _tell_new_project(config: Config, project: str) -> None:
    """Warn about a project without a session, which may be a typo; agents see only the notes of their own."""
    known = layout.projects(config.vault)
    if project and known and project not in known:
        similar = difflib.get_close_matches(project.lower(), known, 1)
        tip = f" Did you mean {similar[0]}?" if similar else ""
        click.echo(f"mdmem: The journal has no session of a project {project!r:.80}.{tip}", err=True)


def _tell_what_was_kept_out(config: Config, typed: list[str]) -> None:
    rules = privacy.Rules.of(config.settings)
    cleaned = privacy.clean([privacy.as_typed(text) for text in typed], rules=rules)
    counts = ((cleaned.private, "private section"), (cleaned.redacted, "secret"))
    parts = [plural.number(count, noun) for count, noun in counts if count]
    if parts:
        click.echo(f"mdmem: {' and '.join(parts)} kept out of the note.", err=True)
    if cleaned.unclosed and rules.unclosed != "keep":
        click.echo("mdmem: A private tag is not closed: everything after it is kept out.", err=True)


def _text(config: Config, text: str, title: str) -> tuple[str, str]:
    """Return the body and the title; open the editor if there is no text."""
    if text and text != "-":
        return text, title
    if text == "-" or not sys.stdin.isatty():
        return _typed(title), title
    return _from_editor(config, title)


def _typed(title: str = "") -> str:
    """Return the text on stdin. Raises UsageError when there is neither that nor a title."""
    text = options.typed_text().read()
    if not (text.strip() or title):
        raise UsageError("There is no text: give it after the command, or on stdin.")
    return text


def _from_editor(config: Config, title: str) -> tuple[str, str]:
    draft = f"# {title}\n\n{HELP_FOR_EDITOR}\n"
    written = editor.ask(config, draft)
    if written == draft:
        return "", ""
    text = written.replace(HELP_FOR_EDITOR, "").strip()
    first, _, body = text.partition("\n")
    is_heading = first == "#" or first.startswith("# ")
    return (body.strip(), first[1:].strip()) if is_heading else (text, title)


def _shaped(config: Config, title: str, body: str, project: str) -> str:
    """Return a text in the vault's own template for notes, or unchanged if there is none."""
    from mdmem.vault import template

    today = timestamps.local_day(options.now())
    values = {"title": title, "body": body, "project": project, "date": today}
    return template.fill(template.load("notes/note.md", config.vault), values) if body.strip() or title else ""


def _project_here(config: Config) -> str:
    """Return the project of the current folder, if the journal knows it."""
    from mdmem import project
    from mdmem.search.gate import Gate

    return projects.find(config, project.identify(str(Path.cwd())), Gate(config).name)


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=completions.notes)
@click.argument("text", nargs=-1)
@options.as_json("an object: path")
@options.in_vault
def append(config: Config, reference: str, text: tuple[str, ...], as_json: bool) -> None:
    """Add TEXT, or stdin, at the end of NOTE, which must be a written note, not a captured one.

    \b
    Example:  mdmem append mem:7m2x4kd9qp "Still true with 3.13."
    """
    words = " ".join(text)
    path = _path(config, reference)
    typed = _typed() if words in ("", "-") else words
    with attribution.to_agent(config, path, startup.calling_agent()):
        user_notes.append(config, path, typed)
    render.print_outcome(f"Added to {path}.", {"path": path}, as_json=as_json)
    _tell_what_was_kept_out(config, [typed])


def _path(config: Config, reference: str) -> str:
    """Return the path of the note to change; print that its archived session will be unpacked."""
    path = index.resolve(config, reference)
    _tell_of_unpacking(config, path)
    return path


def _tell_of_unpacking(config: Config, path: str) -> None:
    if notice := archives.notice(config, path):
        click.echo(f"{path}: {notice}", err=True)


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=completions.notes)
@click.argument("tags", nargs=-1, shell_complete=completions.tags)
@click.option("--remove", "-r", is_flag=True, help="Remove the tags instead.")
@options.as_json("an object: path, tags")
@options.in_vault
def tag(config: Config, reference: str, tags: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """Add TAGS to NOTE; without any, show its tags. The rest of the file stays unchanged, byte for byte.

    \b
    Example:  mdmem tag mem:7m2x4kd9qp decision dates
              mdmem tag mem:7m2x4kd9qp --remove dates
    """
    if remove and not tags:
        raise UsageError("Name the tags to remove: `mdmem tag NOTE --remove TAG`.")
    path = _path(config, reference)
    now = had = user_notes.tags_of(notes.load(config.vault, path).meta.get("tags"))
    if tags:
        with attribution.to_agent(config, path, startup.calling_agent()):
            now = (user_notes.remove_tags if remove else user_notes.add_tags)(config, path, tags)
    render.print_outcome(" ".join(now), {"path": path, "tags": now}, as_json=as_json)
    missing = [name for name in user_notes.meant_tags(had, tags) if name not in had] if remove else []
    if missing:
        click.echo(f"The note has no tag {' or '.join(map(render.safe, missing))}.", err=True)


@click.command()
@click.argument("references", metavar="NOTE...", nargs=-1, required=True, shell_complete=completions.notes)
@options.as_json("an array of the paths of those that changed")
@options.in_vault
def pin(config: Config, references: tuple[str, ...], as_json: bool) -> None:
    """Pin notes: agents are shown them at the start of every session, and they rank higher.

    \b
    Example:  mdmem pin mem:7m2x4kd9qp
    """
    _set_pinned(config, references, True, as_json=as_json)


@click.command()
@click.argument("references", metavar="NOTE...", nargs=-1, required=True, shell_complete=completions.notes)
@options.as_json("an array of the paths of those that changed")
@options.in_vault
def unpin(config: Config, references: tuple[str, ...], as_json: bool) -> None:
    """Unpin notes.

    \b
    Example:  mdmem unpin mem:7m2x4kd9qp
    """
    _set_pinned(config, references, None, as_json=as_json)


def _set_pinned(config: Config, references: tuple[str, ...], value: bool | None, *, as_json: bool) -> None:
    paths = [_path(config, reference) for reference in references]  # check that all exist before changing any
    outcomes = []
    for path in paths:
        with attribution.to_agent(config, path, startup.calling_agent()):
            outcomes.append((path, user_notes.set_keys(config, path, {"pinned": value})))
    word = "Pinned" if value else "Unpinned"
    lines = [f"{word} {path}." if changed else f"{path} was already {word.lower()}." for path, changed in outcomes]
    render.print_outcome("\n".join(lines), paths, as_json=as_json)


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=completions.notes)
@options.as_json("an object: path, problem (what is wrong with the front matter)")
@options.in_vault
def edit(config: Config, reference: str, as_json: bool) -> None:
    """Open NOTE in your $VISUAL or $EDITOR, and warn if its front matter cannot be read afterwards.

    \b
    Example:  mdmem edit mem:7m2x4kd9qp
    """
    path = index.resolve(config, reference)
    editor.check()
    _tell_of_unpacking(config, path)
    archives.unpack_archive_of(config, path)
    editor.edit(str(Path(config.vault, path)))
    problem = notes.load(config.vault, path).problem
    if as_json:
        render.print_json({"path": path, "problem": problem or ""})
    elif problem:
        click.echo(f"{path}, {problem}. The note can still be found; fix it with `mdmem edit {reference}`.", err=True)
