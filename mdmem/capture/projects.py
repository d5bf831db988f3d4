"""Which folder of the journal belongs to a project, whatever its owner renamed it to."""

from __future__ import annotations

import os

from mdmem import journal, note, privacy, vault
from mdmem.capture import template
from mdmem.digest import short
from mdmem.journal import PROJECT_PAGE
from mdmem.project import suffix
from mdmem.slug import slug as make_slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.project import Project


def folder_name(config: Config, project: Project, created: str, rules: privacy.Rules) -> str:
    """Give the name of the project's folder in the journal, making the folder and its page when there is none.

    Raises:
        OSError, VaultError: when the vault cannot be written.
    """
    who = journal.identity(project)
    name = journal.recall_project(config, who)
    if name:
        return name
    clean = privacy.clean(who, rules=rules).value
    name = journal.look_for_project(config, clean) or _make(config, project, clean, created, rules)
    _remember(config, who, name)
    return name


def _remember(config: Config, who: str, name: str) -> None:
    """Keep the name in state, whole or not at all; failing to costs time, nothing else."""
    pointer = journal.project_pointer(config, who)
    temp = f"{pointer}.{os.getpid()}.tmp"
    text = f"{journal.project_stamp(config, name)}\n{name}"
    try:
        os.makedirs(os.path.dirname(pointer), 0o700, exist_ok=True)
        with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temp, pointer)
    except OSError:
        return


def _make(config: Config, project: Project, who: str, created: str, rules: privacy.Rules) -> str:
    """Make a folder that no other project has; the last name is this project's alone, whatever its page says."""
    name = make_slug(privacy.clean(project.name, rules=rules).value) or "project"
    durable = config.settings["capture.durability"] == "power"
    for wanted in (name, f"{name}-{suffix(project.root)}", last := f"{name}-{short(who, 8)}"):
        with vault.open_folder(config.vault, ("journal", wanted), create=True, durable=durable) as folder:
            folder.lock()
            if not folder.has(PROJECT_PAGE):
                page = _page(config, project, wanted, who, created, rules)
                vault.create(folder, PROJECT_PAGE, note.render(page).encode("utf-8", "replace"), durable=durable)
                return wanted
            if who in journal.identities(config, wanted):
                return wanted
    return last


def _page(config: Config, project: Project, name: str, who: str, created: str, rules: privacy.Rules) -> note.Note:
    def draft(_: object) -> note.Draft:
        body = template.fill(template.load("notes/project.md", config.vault), {"title": name})
        return note.Draft(name, name, {"identity": [who], "root": project.root}, body)

    made, _ = note.new(
        "project",
        None,
        draft,
        identity=("project", who),
        created=created,
        context={"project": name, "tags": ["project"]},
        rules=rules,
    )
    assert made is not None
    return made
