"""`init`: create a vault, or what one lacks."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from mdmem import config, files, moved, project
from mdmem.agents.install import catalog
from mdmem.cli import indexing
from mdmem.cli.setup import config_file
from mdmem.cli.terminal import options, progress, render
from mdmem.config import Config
from mdmem.errors import GitError, VaultError
from mdmem.history import commit, review
from mdmem.history.git import checked_out, repository
from mdmem.progress import ProgressCallback, ignore
from mdmem.settings import SETTINGS
from mdmem.vault import JOURNAL, disk, layout, projects, template

VAULT_FILES = {"README.md": "README.md", ".gitignore": "gitignore", ".gitattributes": "gitattributes"}
"""A file of a new vault -> its template."""


@click.command()
@click.argument("path", required=False, type=click.Path(file_okay=False))
@click.option("--inside", is_flag=True, help="Allow a folder in, or around, another git repository.")
@options.as_json("an object: vault, made, named_in_config")
@click.pass_obj
def init(vault: str | None, path: str | None, inside: bool, as_json: bool) -> None:
    """Create a vault at PATH (default: the vault in use, else ~/mdmem). Safe to run again.

    \b
    Example:  mdmem init ~/notes/memory
    """
    loaded = config.load(path or vault)
    root = Path(loaded.vault)
    try:
        if (root / ".git").exists():
            projects.refuse_emptied(loaded)
        _refuse_unfit(root, inside=inside)
        is_emptied = projects.is_emptied(loaded) or (not root.exists() and moved.was_there(loaded.state_dir))
        is_new = not _is_vault(root)
        made = _make_with_bar(loaded, shown=not as_json)
    except OSError as error:
        raise VaultError(
            f"The vault cannot be created at {root}: {error.strerror or error}. Choose a folder that you can write to:"
            " `mdmem init PATH`."
        ) from error
    before = config.load().vault
    named = _remember_vault(root) if path else False
    if not is_new:
        indexing.leave_complete(loaded, quiet=as_json)
    if is_emptied:
        render.warn(
            f"This is a new vault: the one that was at {root} is gone. If it is on a disk that is not mounted, delete"
            " this one and mount the disk."
        )
    if as_json:
        render.print_json({"vault": str(root), "made": made, "named_in_config": named})
        return
    if made:
        click.echo(f"The vault is at {root} (created {', '.join(made)}).")
    else:
        click.echo(f"The vault at {root} is complete; nothing was changed.")
    if named:
        instead = f" in place of {before}, which stays as it is" if layout.is_vault(before) else ""
        click.echo(f"{config.user_file(os.environ)} now names it{instead}.")
    click.echo(f"Next: {catalog.advice()} registers the hooks.")
    if made and (root / ".obsidian").is_dir():
        click.echo("For Obsidian: `mdmem config obsidian` adds views of sessions, failures, decisions and files.")


def _make_with_bar(loaded: Config, *, shown: bool) -> list[str]:
    with progress.ProgressBar("Committing", shown=shown) as bar:
        try:
            return make_vault(loaded, bar.step)
        except GitError:
            if not Path(loaded.vault, ".git").exists():
                render.warn(
                    f"The vault is at {loaded.vault}, but has no history. Run `mdmem init` again once git works."
                )
            raise


def _refuse_unfit(root: Path, *, inside: bool) -> None:
    """Raise a VaultError for a folder that cannot become a vault. inside: it may be in another repository."""
    if root.exists() and not root.is_dir():
        raise VaultError(f"{root} is a file. Give a folder: `mdmem init PATH`.")
    if _holds_everything(root):
        raise VaultError(
            f"{root} holds more than notes, and a vault is a folder of its own: mdmem would commit everything in it."
            " Choose another folder, such as ~/mdmem."
        )
    if not inside and (within := _repository_in(root)):
        raise VaultError(
            f"{root} holds a git repository, {within}, and a vault is a folder of its own: mdmem would commit"
            " everything in it. Choose another folder, or use --inside if the other files are notes."
        )
    other = repository.repository_around(root)
    if other and not inside:
        raise VaultError(
            f"{root} is inside the git repository {other}, and a vault is a repository of its own. Choose a"
            " folder outside, or use --inside to create it there anyway."
        )
    if _is_foreign(root) and not inside:
        raise VaultError(
            f"{root} is a git repository with a history of its own, not a vault. Choose another folder, or use"
            " --inside if its files are notes."
        )


def _holds_everything(root: Path) -> bool:
    """Whether a folder is the user's home or the root of all, and is not a vault yet."""
    folder = root.resolve()
    return folder in (Path(config.home()).resolve(), Path(folder.anchor)) and not _is_vault(root)


def _repository_in(root: Path) -> str:
    """Return the name of a git repository in a folder whose own files are not notes; "" for none, and for a vault."""
    inside = sorted(root.iterdir()) if root.is_dir() and not layout.is_vault(str(root)) else []
    has_notes = any(path.suffix in disk.NOTE_ENDINGS or path.name in _NOTE_FOLDERS for path in inside)
    return "" if has_notes else next((path.name for path in inside if os.access(path / ".git", os.F_OK)), "")


_NOTE_FOLDERS = (".obsidian", "logseq")
"""Folders of programs that keep notes, beside those notes."""


def _is_vault(root: Path) -> bool:
    return (root / "mdmem.toml").exists()


def _is_foreign(root: Path) -> bool:
    found = project.identify(str(root))
    return bool(found.commit) and Path(found.worktree) == root and not _is_vault(root)


def make_vault(config: Config, report: ProgressCallback = ignore) -> list[str]:
    """Create what a vault lacks of folders, files, repository and first commit; return the files it created.

    report: called with the progress.
    """
    root = Path(config.vault)
    is_captured = any(layout.sessions(str(root)))
    for folder in (root, root / JOURNAL, root / "notes"):
        files.make_folders(str(folder))
    made = [name for name, text in files_of_new().items() if _make(root / name, text)]
    repo = repository.init(root)
    has_history = checked_out.has_commit(repo)
    # a run that was killed may have written it, and not committed it
    uncommitted = repository.attempt(repo, "ls-files", "--others", "--exclude-standard", "mdmem.toml").out
    is_begun = bool(uncommitted) or not has_history
    if made or is_begun:
        commit.commit(config, report=report)
    if not is_captured and ("mdmem.toml" in made or is_begun):
        review.end_import(config, "")  # the user's own notes need no review
    return made if has_history else [*made, ".git"]


def files_of_new() -> dict[str, str]:
    """Return the files of a new vault: name -> text."""
    return {name: template.load(f"vault/{source}") for name, source in VAULT_FILES.items()} | {
        "mdmem.toml": settings_text()
    }


def settings_text() -> str:
    """Write `mdmem.toml` with every setting that a vault may hold, commented out, at its default."""
    lines = [
        "# What this vault stores and shows. Every line is a default: remove its `#` to change it.",
        "# A vault can only make a setting stricter; `mdmem config set --user` loosens one, in your own config.toml.",
    ]
    section = ""
    for setting in SETTINGS:
        if setting.user_only:
            continue
        head, _, name = setting.key.partition(".")
        if head != section:
            lines += ["", f"[{head}]"]
            section = head
        lines += [f"# {setting.meaning}", f"#{name} = {render.toml(setting.default)}"]
    return "\n".join(lines) + "\n"


def _make(path: Path, text: str) -> bool:
    try:
        with open(path, "x", encoding="utf-8", opener=files.opener) as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def _remember_vault(root: Path) -> bool:
    """Write the vault's path to the user's config.toml, unless it is found anyway or another one is set there.

    Return whether it was written.
    """
    if Path(config.load().vault) == root:
        return False
    file, quoted = config.user_file(os.environ), shlex.quote(str(root))
    named_by, change = "", ""
    if os.environ.get("MDMEM_VAULT"):
        named_by, change = "MDMEM_VAULT", f"export MDMEM_VAULT={quoted}"
    elif "vault" in config_file.values(file):
        named_by, change = str(file), f"mdmem config set --user vault {quoted}"
    if named_by:
        other = config.load().vault
        click.echo(f"{named_by} names another vault, {other}, which stays in use. To use {root}: {change}", err=True)
        return False
    config_file.change(file, "vault", str(root), "")
    return True
