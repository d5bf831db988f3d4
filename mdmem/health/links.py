"""Links that lead nowhere: in what people wrote, and on the pages that mdmem keeps up to date."""

from __future__ import annotations

import os
import posixpath
import time
from functools import cached_property
from typing import TYPE_CHECKING

from mdmem.health import HealthFinding, fine, warning
from mdmem.vault import disk, generated, links, note
from mdmem.views import wording
from mdmem.views.vault_pages import upkeep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.health.scope import CheckScope
    from mdmem.vault.links import WrittenLink

MOST = 20
"""Number of broken links that are listed one by one."""


def broken(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Check where the links of people's notes and of generated pages lead."""
    places = _Places(config.vault)
    found: list[HealthFinding] = []
    count = 0
    paths = {entry.path for entry in disk.walk(config.vault)} if scope.paths is None else scope.paths
    for path in sorted({*paths, "README.md"}):
        data = disk.read_path(config.vault, path) or b""
        if b"](" not in data and b"[[" not in data:
            continue
        text = data.decode("utf-8", "replace")
        if "digest" in note.parse(data).meta:
            continue  # what an agent said or read is not a link of the vault
        for one in links.written(text):
            count += one.how != "id"
            if not places.has(one, path.rpartition("/")[0]):
                found.append(_finding(config, path, text, one))
                scope.wrong.add(path)
    yield from found[:MOST]
    if len(found) > MOST:
        yield warning(
            f"and {wording.number(len(found) - MOST, 'more link')} like these.", "Fix those and run it again."
        )
    if not found:
        where = "" if scope.is_whole else " in new notes"
        yield fine(f"{wording.number(count, 'link')}{where}, all lead to a file")


def _finding(config: Config, path: str, text: str, one: WrittenLink) -> HealthFinding:
    """Return what is said of a broken link: a person's is theirs to change, a page's part is made again."""
    said = f"{path}:{one.line}: the link to {one.target!r:.120} leads nowhere."
    cut = generated.lines_of(text)
    if cut and len(cut[0]) < one.line <= len(cut[0]) + len(cut[1]):
        return warning(said, "`mdmem doctor --fix` rebuilds the page.", lambda: upkeep.rebuild(config, now=time.time()))
    return warning(said, f"`mdmem edit {path}`")


class _Places:
    """What a link may lead to: every file and folder of the vault, by path and by name."""

    def __init__(self, root: str) -> None:
        self._root = root

    @cached_property
    def _every(self) -> tuple[set[str], set[str]]:
        paths: set[str] = {""}
        all_names: set[str] = set()
        for where, folders, names in os.walk(self._root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            relative = os.path.relpath(where, self._root).replace(os.sep, "/")
            prefix = "" if relative == "." else f"{relative}/"
            for name in (*folders, *names):
                path = f"{prefix}{name}".lower()
                paths |= {path, links.stem(path)}
                all_names |= {name.lower(), links.stem(name.lower())}
        return paths, all_names

    def has(self, one: WrittenLink, folder: str) -> bool:
        """Whether a link in a note of this folder leads to a file. An id may be of a note that was forgotten."""
        target = one.target.lower().rstrip("/\\ ")
        if one.how == "id" or self._is_there(one, folder):
            return True
        paths, names = self._every
        if one.how == "wiki":
            ends = target in names or target in paths
            return ends or ("/" in target and posixpath.normpath(posixpath.join(folder.lower(), target)) in paths)
        path = posixpath.normpath(posixpath.join(folder.lower(), target))
        return path == "." or path in paths

    def _is_there(self, one: WrittenLink, folder: str) -> bool:
        """Whether a link leads to a file, or an archived note, by its very path: no folder has to be read for that."""
        path = posixpath.normpath(posixpath.join(folder, one.target))
        inside = not path.startswith(("..", "/", ".")) and "/." not in path and "\0" not in path
        if one.how != "markdown" or not inside:
            return False
        return os.path.lexists(f"{self._root}/{path}") or disk.is_packed(self._root, path)
