"""Templates: the shape of the bodies that mdmem writes; a vault may have its own under `templates/`."""

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
"""A template of a note -> what is filled in; "body" or "page", where it is among them, must not be left out."""


def folder() -> str:
    """Find the templates that come with mdmem: inside an installed package, beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "templates")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "templates")


def load(name: str, vault: str = "") -> str:
    """Read a template ("notes/prompt.md"), the vault's own if it has one; a bare one where none can be read."""
    own = _own(name, vault) if vault else None
    if own is not None:
        return own[:MAX_BYTES].decode("utf-8", "replace")
    try:
        with open(os.path.join(folder(), *name.split("/")), "rb") as file:
            return file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return "# {{title}}\n\n{{page}}\n" if name == "notes/session.md" else "{{body}}\n"


def _own(name: str, vault: str) -> bytes | None:
    """Read the vault's own template, never through a link: a vault that was shared could lead to any file."""
    try:
        return disk.read_file(vault, f"templates/{name}")
    except OSError:
        return None


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with `values` in the place of `{{name}}`; what is not among them stays as it is.

    Values are never read as templates: a prompt about `{{title}}` is only text.
    """
    first, *rest = template.split("{{")
    filled = [first]
    for piece in rest:
        name, closed, after = piece.partition("}}")
        known = closed and name.strip() in values
        filled += [values[name.strip()], after] if known else ["{{", piece]
    return "".join(filled)
