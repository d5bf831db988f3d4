"""Projects: finds or creates a project's folder in the journal, whatever its owner renamed it to."""

from __future__ import annotations

from mdmem import files, privacy
from mdmem.hashing import short
from mdmem.project import suffix
from mdmem.slug import slug as make_slug
from mdmem.vault import disk, journal, note, template
from mdmem.vault.journal import PROJECT_PAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.project import Project


def folder_name(config: Config, project: Project, created: str, rules: privacy.Rules) -> str:
    """Return the name of the project's folder in the journal; create the folder and its page if there is none.

    Raises:
        OSError, VaultError: when the vault cannot be written.
    """
    identity = journal.identity(project)
    name = journal.recall_project(config, identity)
    if name:
        return name
    clean = privacy.anonymized(privacy.clean(identity, rules=rules).value, rules)
    name = journal.look_for_project(config, clean) or _make(config, project, clean, created, rules)
    _remember(config, identity, name)
    return name


def _remember(config: Config, identity: str, name: str) -> None:
    """Cache the name in the state folder, atomically; a failure only costs time."""
    text = f"{journal.project_stamp(config, name)}\n{name}"
    try:
        files.replace(journal.project_pointer(config, identity), text.encode())
    except OSError:
        return


def _make(config: Config, project: Project, identity: str, created: str, rules: privacy.Rules) -> str:
    """Create a folder that no other project has. The last name tried is used whatever its page says."""
    name = make_slug(privacy.clean(project.name, rules=rules).value) or "project"
    durable = config.durable
    for candidate in (name, f"{name}-{suffix(project.root)}", last := f"{name}-{short(identity, 8)}"):
        with disk.open_folder(config.vault, ("journal", candidate), create=True, durable=durable) as folder:
            folder.lock()
            if not folder.has(PROJECT_PAGE):
                page = _page(config, project, candidate, identity, created, rules)
                disk.create(folder, PROJECT_PAGE, note.render(page).encode("utf-8", "replace"), durable=durable)
                return candidate
            if identity in journal.identities(config, candidate):
                return candidate
    return last


def _page(config: Config, project: Project, name: str, identity: str, created: str, rules: privacy.Rules) -> note.Note:
    def draft(_: object) -> note.Draft:
        body = template.fill(template.load("notes/project.md", config.vault), {"title": name})
        return note.Draft(name, name, {"identity": [identity], "root": project.root}, body)

    context = {"project": name, "tags": ["project"]}
    request = note.NoteRequest("project", None, draft, ("project", identity), created, context)
    page, _ = note.new(request, rules)
    assert page is not None
    return page
