"""Projects: finds or creates a project's folder in the journal, whatever its owner renamed it to."""

from __future__ import annotations

from mdmem import files, privacy
from mdmem.vault import JOURNAL, disk, front_matter, journal, note, projects, template
from mdmem.vault.journal import PROJECT_PAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mdmem.config import Config
    from mdmem.project import Project


def folder_name(config: Config, project: Project, created: str, rules: privacy.Rules) -> str:
    """Return the name of the project's folder in the journal; create the folder and its page if there is none.

    Raises OSError or VaultError when the vault cannot be written.
    """
    identity = journal.identity(project)
    name = journal.recall_project(config, identity)
    if name:
        return name
    clean = projects.cleaner(rules)
    name = projects.look_for(config, clean(identity)) or _known_otherwise(config, project, clean)
    if not name:
        projects.refuse_emptied(config)
        name = _make(config, project, clean(identity), created, rules)
    for known in filter(None, (identity, projects.mark(project))):
        _remember(config, known, name)
    return name


def _known_otherwise(config: Config, project: Project, clean: Callable[[str], str]) -> str:
    """Return the folder of a project that is known by another identity, and add this one to its page; or "".

    A page whose list of identities a person has written in another way stays as it is.
    """
    name = projects.look_for_same(config, project, clean)
    if not name:
        return ""
    with disk.open_folder(config.vault, (JOURNAL, name)) as folder:
        folder.lock()
        page = disk.read(folder, PROJECT_PAGE) or b""
        identities, identity = projects.identities_in(note.parse(page).meta), clean(journal.identity(project))
        line = _identity_line(identities)
        if identity not in identities and page.count(line) == 1:
            extended = page.replace(line, _identity_line([*identities, identity]))
            disk.replace(folder, PROJECT_PAGE, page, extended, durable=config.durable)
    return name


def _identity_line(identities: list[str]) -> bytes:
    """Return the line of a page's front matter with these identities, without its end, which may be CRLF."""
    return f"\n{front_matter.line('identity', identities)}".encode("utf-8", "replace")


def _remember(config: Config, identity: str, name: str) -> None:
    """Cache the name in the state folder, atomically; a failure only costs time."""
    text = f"{journal.project_stamp(config, name)}\n{name}"
    files.try_replace(journal.project_pointer(config, identity), text.encode())


def _make(config: Config, project: Project, identity: str, created: str, rules: privacy.Rules) -> str:
    """Create a folder that no other project has. The last name tried is used whatever its page says."""
    candidate, durable = "", config.durable
    for candidate in projects.candidates(project, projects.cleaner(rules)):
        with disk.open_folder(config.vault, (JOURNAL, candidate), create=True, durable=durable) as folder:
            folder.lock()
            if not folder.has(PROJECT_PAGE):
                page = _page(config, project, candidate, identity, created, rules)
                disk.create(folder, PROJECT_PAGE, note.render(page).encode("utf-8", "replace"), durable=durable)
                return candidate
            if identity in projects.identities(config, candidate):
                return candidate
    return candidate


def _page(config: Config, project: Project, name: str, identity: str, created: str, rules: privacy.Rules) -> note.Note:
    def draft(_: object) -> note.Draft:
        body = template.fill(template.load("notes/project.md", config.vault), {"title": name})
        return note.Draft(name, name, {"identity": [identity], "root": project.root}, body)

    context = {"project": name, "tags": ["project"]}
    request = note.NoteRequest("project", None, draft, ("project", identity), created, context)
    page, _ = note.new(request, rules)
    assert page is not None
    return page
