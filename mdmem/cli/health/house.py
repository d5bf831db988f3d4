"""The house: the vault's folder, settings, templates, and mdmem's own folders outside it."""

from __future__ import annotations

import os
import shutil
import stat
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.capture import spool, template
from mdmem.cli import templates as own_templates
from mdmem.cli import wording
from mdmem.cli.health import Finding, error, fine, note, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config

LEAST_FREE_BYTES = 100_000_000
TEMP_SECONDS = 3600
"""A temporary file older than this is nobody's any more."""
LOG_DAYS = 7
LOST = "is lost"
"""What the log says of a note that could neither be stored nor kept."""


def vault(config: Config) -> Iterator[Finding]:
    """Look at the vault's folder itself."""
    from mdmem.history import repository

    root = Path(config.vault)
    if not root.is_dir():
        yield error(f"There is no vault at {root}.", "`mdmem init` makes one.")
        return
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        yield error(f"{root} cannot be written.", f"Make it yours, `sudo chown -R $USER {root}`, or its disk writable.")
    elif not (root / "mdmem.toml").exists():
        yield note(f"{root} has no mdmem.toml: it is read as any folder of markdown.", f"`mdmem init {root}`")
    else:
        yield fine(f"the vault is at {root}")
    other = repository.is_inside_other_repository(root)
    if other:
        yield note(f"The vault lies inside the git repository {other}.", "Add it to that one's .gitignore, or move it.")
    free = shutil.disk_usage(root).free
    if free < LEAST_FREE_BYTES:
        yield warning(f"Only {wording.size(free)} are free on the vault's disk.", "Make room: notes may wait outside.")


def settings(config: Config) -> Iterator[Finding]:
    """Look at the two settings files."""
    from mdmem.cli import settings as commands

    said = commands.warnings(config)
    for text in said:
        is_broken = " cannot be read as TOML" in text
        yield warning(text, "Mend that line." if is_broken else "`mdmem config list` names every setting.")
    if not said:
        yield fine("the settings can be read")


def permissions(config: Config) -> Iterator[Finding]:
    """Look whether others can read the vault or mdmem's folders, and whether all of it is the user's own."""
    folders = [Path(config.vault), Path(config.state_dir), Path(config.index_dir), Path(config.runtime_dir)]
    open_ones = [folder for folder in folders if folder.is_dir() and stat.S_IMODE(folder.stat().st_mode) & 0o077]
    for folder in open_ones:
        close = partial(folder.chmod, 0o700)
        yield warning(f"Others on this machine can look into {folder}.", f"`chmod 700 {folder}`", close)
    strangers = [path for path in _files(Path(config.vault)) if _is_strange(path)]
    if strangers:
        some = f"{strangers[0]}{f' and {len(strangers) - 1} more' if len(strangers) > 1 else ''}"
        yield warning(f"Not your own: {some}.", f"`sudo chown -R $USER {config.vault}`")
    if not open_ones and not strangers:
        yield fine("only you can read the vault")


def _files(root: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (Path(where, name) for name in (*folders, *names))


def _is_strange(path: Path) -> bool:
    try:
        return path.lstat().st_uid != os.getuid()
    except OSError:
        return False


def leftovers(config: Config) -> Iterator[Finding]:
    """Look for temporary files that a killed process left."""
    here = [path for path in _files(Path(config.vault)) if path.name.startswith(".") and path.name.endswith(".tmp")]
    there = [path for path in Path(config.state_dir).rglob("*.tmp") if path.is_file()]
    old = [path for path in (*here, *there) if _age(path) > TEMP_SECONDS]
    if old:
        text = f"{wording.number(len(old), 'temporary file')} left by a killed process, such as {old[0]}."
        yield warning(text, "`mdmem doctor --fix`", partial(_remove, old))


def _age(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return 0.0


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


# -- templates -------------------------------------------------------------------------------------


def templates(config: Config) -> Iterator[Finding]:
    """Look at the templates that a vault has of its own, and whether mdmem's are there."""
    if not Path(template.folder(), "notes", "prompt.md").is_file():
        yield error(f"mdmem's own templates are missing from {template.folder()}.", "Install mdmem again.")
    own = sorted(Path(config.vault, "templates", "notes").glob("*.md"))
    found = [problem for path in own for problem in _template(path)]
    yield from found
    if own and not found:
        yield fine(f"the vault's own templates are well: {', '.join(path.name for path in own)}")


def _template(path: Path) -> Iterator[Finding]:
    name = f"templates/notes/{path.name}"
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        yield warning(f"{name} cannot be read as text.", "Save it as UTF-8, or delete it: mdmem has its own.")
        return
    places = own_templates.PLACES.get(path.name)
    if places is None:
        yield note(f"{name} is never used.", f"There are {', '.join(own_templates.PLACES)}.")
        return
    if len(data) > template.MAX_BYTES:
        yield warning(f"{name} is longer than {wording.size(template.MAX_BYTES)}; the rest is not used.", "Shorten it.")
    named = [piece.partition("}}")[0].strip() for piece in text.split("{{")[1:] if "}}" in piece]
    must = next((place for place in ("body", "page") if place in places), None)
    if must and must not in named:
        lost = "what is captured would not be in the notes" if must == "body" else "the session's page stays empty"
        yield error(f"{name} has no {{{{{must}}}}}: {lost}.", f"Put {{{{{must}}}}} where it belongs.")
    for unknown in dict.fromkeys(place for place in named if place not in places):
        filled = ", ".join(f"{{{{{place}}}}}" for place in places)
        yield warning(f"{name}: nothing fills in {{{{{unknown}}}}}.", f"It can have {filled}.")
    if text.startswith("---\n"):
        yield warning(f"{name} has front matter, which would stand in the note's text.", "Take it out.")


# -- state -----------------------------------------------------------------------------------------


def waiting(config: Config) -> Iterator[Finding]:
    """Look for notes that could not be stored."""
    names = spool.waiting(config)
    if names:
        text = f"{wording.number(len(names), 'note')} could not be stored and wait in {spool.folder(config)}."
        yield warning(text, "`mdmem index` brings them home.", partial(_bring_home, config))
    damaged = list(Path(spool.folder(config)).glob("*.damaged"))
    if damaged:
        text = f"{wording.number(len(damaged), 'waiting note')} cannot be read: {damaged[0]}."
        yield note(text, "Look at it, and delete it.")


def _bring_home(config: Config) -> None:
    spool.bring_home(config)
    left = len(spool.waiting(config))
    if left:
        raise OSError(f"{wording.number(left, 'note')} still cannot be stored")


def log(config: Config) -> Iterator[Finding]:
    """Look at what went wrong in the last days."""
    path = Path(config.state_dir) / "log"
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - LOG_DAYS * 86_400))
    recent = [line for line in lines if line[:1].isdigit() and line >= since]
    if not recent:
        yield fine(f"nothing went wrong in the last {LOG_DAYS} days")
        return
    said = f"{wording.number(len(recent), 'line')} in the log since {since[:10]}, the last: {recent[-1]}"
    lost = [line for line in recent if LOST in line]
    if lost:
        yield warning(f"A note was lost: {lost[-1]}", f"See {path}; it goes from here after {LOG_DAYS} days.")
    yield note(said, f"See {path}.")
