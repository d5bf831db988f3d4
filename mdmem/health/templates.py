"""Check templates: mdmem's, and the vault's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mdmem.config import Config
from mdmem.health import HealthFinding, error, fine, note, warning
from mdmem.vault import template
from mdmem.views import wording


def templates(config: Config) -> Iterator[HealthFinding]:
    """Check the vault's own templates, and whether mdmem's exist."""
    if not Path(template.folder(), "notes", "prompt.md").is_file():
        yield error(f"mdmem's own templates are missing from {template.folder()}.", "Install mdmem again.")
    own_templates = sorted(Path(config.vault, "templates", "notes").glob("*.md"))
    problems = [problem for path in own_templates for problem in _template(path)]
    yield from problems
    if own_templates and not problems:
        yield fine(f"the vault's own templates are valid: {', '.join(path.name for path in own_templates)}")


def _template(path: Path) -> Iterator[HealthFinding]:
    name = f"templates/notes/{path.name}"
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        yield warning(f"{name} cannot be read as text.", "Save it as UTF-8, or delete it to use mdmem's own.")
        return
    places = template.PLACES.get(path.name)
    if places is None:
        yield note(f"{name} is never used.", f"Known templates: {', '.join(template.PLACES)}.")
        return
    if len(data) > template.MAX_BYTES:
        yield warning(f"{name} is longer than {wording.size(template.MAX_BYTES)}; the rest is not used.", "Shorten it.")
    used = [piece.partition("}}")[0].strip() for piece in text.split("{{")[1:] if "}}" in piece]
    must = next((place for place in ("body", "page") if place in places), None)
    if must and must not in used:
        lost = "what is captured would not be in the notes" if must == "body" else "the session's page stays empty"
        yield error(f"{name} has no {{{{{must}}}}}: {lost}.", f"Put {{{{{must}}}}} where it belongs.")
    for unknown in dict.fromkeys(place for place in used if place not in places):
        filled = ", ".join(f"{{{{{place}}}}}" for place in places)
        yield warning(f"{name}: {{{{{unknown}}}}} is not a placeholder.", f"Placeholders: {filled}.")
    if text.startswith("---\n"):
        yield warning(f"{name} has front matter, which would end up in the note's text.", "Remove it.")
