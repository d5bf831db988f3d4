"""Links that lead nowhere: in what people wrote, and on the pages that mdmem keeps up to date."""

from __future__ import annotations

import os
import posixpath
import time
from typing import TYPE_CHECKING

from mdmem.health import HealthFinding, fine, warning
from mdmem.vault import disk, generated, links, note
from mdmem.views import upkeep, wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.vault.links import WrittenLink

MOST = 20
"""So many broken links are named one by one."""


def broken(config: Config) -> Iterator[HealthFinding]:
    """Look where the links of people's notes and of generated pages lead."""
    places = _Places(config.vault)
    found: list[HealthFinding] = []
    count = 0
    paths = {entry.path for entry in disk.walk(config.vault)}
    for path in sorted({*paths, "README.md"}):
        data = disk.read_path(config.vault, path) or b""
        if b"](" not in data and b"[[" not in data:
            continue
        text = data.decode("utf-8", "replace")
        if "digest" in note.parse(data).meta:
            continue  # what an agent said or read is no link of the vault
        for one in links.written(text):
            count += one.how != "id"
            if not places.has(one, path.rpartition("/")[0]):
                found.append(_finding(config, path, text, one))
    yield from found[:MOST]
    if len(found) > MOST:
        yield warning(
            f"and {wording.number(len(found) - MOST, 'more link')} like these.", "Fix those and run it again."
        )
    if not found:
        yield fine(f"{wording.number(count, 'link')}, all lead to a file")


def _finding(config: Config, path: str, text: str, one: WrittenLink) -> HealthFinding:
    """Return what is said of a broken link: a person's is theirs to change, a page's part is made again."""
    said = f"{path}:{one.line}: the link to {one.target!r:.120} leads nowhere."
    cut = generated.lines_of(text)
    if cut and len(cut[0]) < one.line <= len(cut[0]) + len(cut[1]):
        return warning(
            said, "`mdmem doctor --fix` makes the page again.", lambda: upkeep.rebuild(config, now=time.time())
        )
    return warning(said, f"`mdmem edit {path}`")


class _Places:
    """What a link may lead to: every file and folder of the vault, by path and by name."""

    def __init__(self, root: str) -> None:
        self._paths: set[str] = {""}
        self._names: set[str] = set()
        for where, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            relative = os.path.relpath(where, root).replace(os.sep, "/")
            prefix = "" if relative == "." else f"{relative}/"
            for name in (*folders, *names):
                path = f"{prefix}{name}".lower()
                self._paths |= {path, links.stem(path)}
                self._names |= {name.lower(), links.stem(name.lower())}

    def has(self, one: WrittenLink, folder: str) -> bool:
        """Whether a link in a note of this folder leads to a file. An id may be of a note that was forgotten."""
        target = one.target.lower().rstrip("/\\ ")
        if one.how == "id":
            return True
        if one.how == "wiki":
            ends = target in self._names or target in self._paths
            return ends or ("/" in target and posixpath.normpath(posixpath.join(folder.lower(), target)) in self._paths)
        path = posixpath.normpath(posixpath.join(folder.lower(), target))
        return path == "." or path in self._paths
