"""Check the links in people's notes and on generated pages."""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections.abc import Iterator
from itertools import chain

from mdmem import plural
from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.health import MOST, HealthFinding, fine, to_edit, warning
from mdmem.health.scope import CheckScope
from mdmem.history import find
from mdmem.history.git import part
from mdmem.history.git.part import VaultPart
from mdmem.search import freshness, index
from mdmem.search.gate import Gate
from mdmem.search.index import DamagedError
from mdmem.vault import NOTES, START_PAGE, disk, generated
from mdmem.vault import links as note_links
from mdmem.vault import note as notes
from mdmem.vault.links import WrittenLink
from mdmem.vault.unreadable import UnreadableFolders, real_name
from mdmem.views import rows
from mdmem.views.vault_pages import upkeep

AT_ONCE = 20_000
"""Number of links with a target to search for in memory at a time."""


def links(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Find the links that lead to no file, folder or title."""
    lost: list[tuple[str, WrittenLink]] = []
    pending: list[tuple[str, WrittenLink]] = []
    vault_part = part.of(config.vault)
    folders = UnreadableFolders(config.vault)
    count = 0
    for path in chain([START_PAGE], (path for path in scope.notes(config) if path != START_PAGE)):
        text = _text_with_links(config, path)
        for link in note_links.written(text) if text else ():
            if link.how != "id":  # an id may be that of a forgotten note
                count += 1
                if not _leads_somewhere(config.vault, vault_part, folders, link, path.rpartition("/")[0]):
                    pending.append((path, link))
        if len(pending) > AT_ONCE:
            lost += _leading_nowhere(config, pending)
            pending.clear()
    lost += _leading_nowhere(config, pending)
    scope.wrong.update(path for path, _ in lost)
    new_paths = _new_paths(config, lost[:MOST])
    for path, link in lost[:MOST]:
        new_path = new_paths.get(note_links.key(link, path.rpartition("/")[0]), "")
        yield _broken_link(config, path, _text_with_links(config, path), link, new_path)
    if len(lost) > MOST:
        yield warning(f"and {plural.number(len(lost) - MOST, 'more link')} like these.", "Fix those and run it again.")
    if not lost:
        where = "" if scope.is_whole else " in new notes"
        yield fine(f"{plural.number(count, 'link')}{where}, all lead to a file")


def _text_with_links(config: Config, path: str) -> str:
    """Return the text of a note to check for links; "" for captured notes. A page's title is blanked out."""
    data = disk.readable(config.vault, path) or b""
    text = data.decode("utf-8", "replace") if b"](" in data or b"[[" in data else ""
    cut = generated.lines_of(text) if disk.is_packed(config.vault, path) else None
    if cut:  # no byte of an archive changes, so its lists may name what was moved since
        text = "\n".join([*cut[0], *[""] * len(cut[1]), *cut[2]])
    parsed = notes.parse(text)
    if parsed.meta.get("kind") in notes.PAGES:
        title = re.match(r"\s*# .*", parsed.body)
        head = text.removesuffix(parsed.body) + (title[0] if title else "")
        return "\n" * head.count("\n") + text[len(head) :]
    return "" if "digest" in parsed.meta else text


def _new_paths(config: Config, lost: list[tuple[str, WrittenLink]]) -> dict[str, str]:
    """Return where the notes are now that links lead to by an earlier name, by the links' keys."""
    names = {f"{posixpath.basename(note_links.stem(link.target))}.md" for _, link in lost}
    sought, renamed = set(names), dict[str, str]()
    while sought:  # a note may have been renamed more than once
        renamed |= find.renamed(config, sought)
        sought = {posixpath.basename(new) for new in renamed.values()} - names
        names |= sought
    present = ((old, _present_path(config, renamed, new)) for old, new in renamed.items())
    return {end: new for old, new in present if new for end in note_links.endings(note_links.stem(old.lower()))}


def _present_path(config: Config, renamed: dict[str, str], path: str) -> str:
    """Return where the note is that was at a path, "" if nobody knows. renamed: old paths, and the next ones."""
    passed: set[str] = set()
    while disk.read_path(config.vault, path) is None:
        if path in passed or path not in renamed:
            return ""
        passed.add(path)
        path = renamed[path]
    return path


def _broken_link(config: Config, path: str, text: str, link: WrittenLink, new_path: str) -> HealthFinding:
    """Return the finding for a broken link: a person has to edit theirs, a generated part is rebuilt.

    new_path: where the note is now, "" if nobody knows.
    """
    in_the_open = {one.target for one in note_links.written(Gate(config).stored(text))}
    shown = link.target if link.target in in_the_open else config.settings.privacy.marker
    finding = f"{path}:{link.line}: the link to {shown!r:.120} leads nowhere."
    is_persons = path.startswith(f"{NOTES}/")  # a page moved there belongs to the person
    parts = None if is_persons else generated.lines_of(text)
    if parts and len(parts[0]) < link.line <= len(parts[0]) + len(parts[1]):
        return warning(
            finding,
            "`mdmem doctor --fix` rebuilds the page.",
            lambda: upkeep.refresh(config, now=time.time(), everything=True),
        )
    return warning(finding, f"{to_edit(path)}: that note is {new_path} now." if new_path else to_edit(path))


def _leading_nowhere(config: Config, pending: list[tuple[str, WrittenLink]]) -> list[tuple[str, WrittenLink]]:
    """Return the links that lead to no file, folder or title, in one walk that keeps only names in question."""
    targets_of = [_targets(link, path.rpartition("/")[0]) for path, link in pending]
    names = {name for name, _ in targets_of} - {""}
    paths = {path for _, paths_meant in targets_of for path in paths_meant}
    existing = _existing_targets(config.vault, names, paths) if pending else frozenset()
    lost = [
        link
        for link, (name, paths_meant) in zip(pending, targets_of, strict=True)
        if f"*{name}" not in existing and not any(path in existing for path in paths_meant)
    ]
    titles = _titles(config, {link.target for _, link in lost if link.how == "wiki"})
    return [link for link in lost if link[1].how != "wiki" or link[1].target not in titles]


def _titles(config: Config, names: set[str]) -> set[str]:
    """Return those names that are titles of notes, to which the pages in the browser lead."""
    try:
        if names:
            freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE)
        view = index.current(config) if names else None
        return {name for name in names if rows.titled(view, name)} if view else set()
    except (MdmemError, DamagedError, OSError):
        return set()  # the index check reports it


def _targets(link: WrittenLink, folder: str) -> tuple[str, list[str]]:
    """Return a link's possible targets in lower case: a name anywhere ("" for none), and paths."""
    target = link.target.lower().rstrip("/\\ ")
    path = posixpath.normpath(posixpath.join(folder.lower(), target))
    if link.how != "wiki":
        return "", ["" if path == "." else path]
    return target, [target, path] if "/" in target else [target]


def _existing_targets(root: str, names: set[str], paths: set[str]) -> set[str]:
    """Return those of the paths that exist in the vault, and those of the names, each prefixed by `*`."""
    existing = {""}
    last_parts = {name.rpartition("/")[2] for name in names}
    above = {path[: end + 1] for path in paths for end, letter in enumerate(path) if letter == "/"} | {""}
    for where, folders, files in os.walk(root):
        relative = where[len(root) :].replace(os.sep, "/").strip("/").lower()
        prefix = f"{relative}/" if relative else ""
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = [name.lower() for name in (*folders, *map(real_name, files))]
        if prefix in above:
            existing.update(
                paths.intersection(prefix + form for name in inside for form in (name, note_links.stem(name)))
            )
        if names:
            forms = (form for name in inside for form in (name, note_links.stem(name)) if form in last_parts)
            ends = chain.from_iterable(note_links.endings(prefix + form) for form in forms)
            existing.update(f"*{end}" for end in names.intersection(ends))
        else:
            folders[:] = [name for name in folders if f"{prefix}{name.lower()}/" in above]
    return existing


def _leads_somewhere(
    root: str, vault_part: VaultPart | None, folders: UnreadableFolders, link: WrittenLink, folder: str
) -> bool:
    """Whether a link leads to a file or an archived note by its exact path, which needs no listing of folders.

    So does a link to what the part of a vault that is here leaves out: another machine has that. A link into one of
    the folders that cannot be read may lead to a file, too.
    """
    path = posixpath.normpath(posixpath.join(folder, link.target))
    inside = not path.startswith(("..", "/", ".")) and "/." not in path and "\0" not in path
    if link.how != "markdown" or not inside:
        return False
    if os.path.lexists(f"{root}/{path}") or disk.is_packed(root, path):
        return True
    return folders.contain(path) or not part.is_part(vault_part, path)
