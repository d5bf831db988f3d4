"""Templates for the bodies that mdmem writes; a vault may have its own in `templates/`."""

from __future__ import annotations

import os

from mdmem.vault import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 64 * 1024

PLACES = {
    "prompt.md": ("title", "body"),
    "observation.md": ("title", "body"),
    "response.md": ("title", "body"),
    "summary.md": ("title", "body"),
    "session.md": ("title", "page"),
    "project.md": ("title",),
    "note.md": ("title", "body", "project", "date"),
}
"""Template of a note -> its placeholders; "body" or "page", if listed, is required."""


def folder() -> str:
    """Return the folder of mdmem's templates: in the installed package, or beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    in_package = os.path.join(package, "templates")
    return in_package if os.path.isdir(in_package) else os.path.join(os.path.dirname(package), "templates")


def load(name: str, vault: str = "") -> str:
    """Return a template ("notes/prompt.md"), the vault's own if it has one; a minimal one if none can be read."""
    vaults_own = _own_template(name, vault) if vault else None
    if vaults_own is not None:
        return vaults_own[:MAX_BYTES].decode("utf-8", "replace")
    try:
        with open(os.path.join(folder(), *name.split("/")), "rb") as file:
            return file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return "# {{title}}\n\n{{page}}\n" if name == "notes/session.md" else "{{body}}\n"


def _own_template(name: str, vault: str) -> bytes | None:
    """Read the vault's own template without following links: a shared vault could link to any file."""
    try:
        return disk.read_file(vault, f"templates/{name}")
    except OSError:
        return None


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace each `{{name}}` in a template by its value; unknown names stay as they are.

    Values are never expanded: a prompt about `{{title}}` is only text.
    """
    first, *pieces = template.split("{{")
    filled = [first]
    for piece in pieces:
        name, closed, after = piece.partition("}}")
        is_known = closed and name.strip() in values
        filled += [values[name.strip()], after] if is_known else ["{{", piece]
    return "".join(filled)
