"""Links that lead nowhere: in what people wrote, and on the pages that mdmem keeps up to date."""

from __future__ import annotations

import os
import posixpath
import time
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
    pending: list[tuple[str, WrittenLink]] = []
    count = 0
    paths = {entry.path for entry in disk.walk(config.vault)} if scope.paths is None else scope.paths
    for path in sorted({*paths, "README.md"}):
        text = _linking(config, path)
        for one in links.written(text) if text else ():
            if one.how != "id":  # an id may be of a note that was forgotten
                count += 1
                if not _is_there(config.vault, one, path.rpartition("/")[0]):
                    pending.append((path, one))
    lost = _leading_nowhere(config.vault, pending)
    scope.wrong.update(path for path, _ in lost)
    for path, one in lost[:MOST]:
        yield _finding(config, path, _linking(config, path), one)
    if len(lost) > MOST:
        yield warning(f"and {wording.number(len(lost) - MOST, 'more link')} like these.", "Fix those and run it again.")
    if not lost:
        where = "" if scope.is_whole else " in new notes"
        yield fine(f"{wording.number(count, 'link')}{where}, all lead to a file")


def _linking(config: Config, path: str) -> str:
    """Return the text of a note with links of the vault; what an agent said or read has none."""
    data = disk.read_path(config.vault, path) or b""
    text = data.decode("utf-8", "replace") if b"](" in data or b"[[" in data else ""
    return "" if "digest" in note.parse(data if text else b"").meta else text


def _finding(config: Config, path: str, text: str, one: WrittenLink) -> HealthFinding:
    """Return what is said of a broken link: a person's is theirs to change, a page's part is made again."""
    said = f"{path}:{one.line}: the link to {one.target!r:.120} leads nowhere."
    cut = generated.lines_of(text)
    if cut and len(cut[0]) < one.line <= len(cut[0]) + len(cut[1]):
        return warning(said, "`mdmem doctor --fix` rebuilds the page.", lambda: upkeep.rebuild(config, now=time.time()))
    return warning(said, f"`mdmem edit {path}`")


def _leading_nowhere(root: str, pending: list[tuple[str, WrittenLink]]) -> list[tuple[str, WrittenLink]]:
    """Return those of some links that lead to no file or folder, after one walk that keeps only what they name."""
    meant = [_meant(one, path.rpartition("/")[0]) for path, one in pending]
    names = {name for name, _ in meant}
    paths = {path for _, every in meant for path in every}
    there = _existing(root, names, paths) if pending else frozenset()
    return [
        link
        for link, (name, every) in zip(pending, meant, strict=True)
        if f"*{name}" not in there and not any(path in there for path in every)
    ]


def _meant(one: WrittenLink, folder: str) -> tuple[str, list[str]]:
    """Return the name, "" for none, and the paths that a link may lead to, in lower case."""
    target = one.target.lower().rstrip("/\\ ")
    path = posixpath.normpath(posixpath.join(folder.lower(), target))
    if one.how != "wiki":
        return "", ["" if path == "." else path]
    return target, [target, path] if "/" in target else [target]


def _existing(root: str, names: set[str], paths: set[str]) -> set[str]:
    """Return which of some paths there are in the vault, and which names, each after a star."""
    found = {""}
    for where, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        relative = os.path.relpath(where, root).replace(os.sep, "/")
        prefix = "" if relative == "." else f"{relative}/".lower()
        for name in map(str.lower, (*folders, *files)):
            path = f"{prefix}{name}"
            found.update({path, links.stem(path)} & paths)
            found.update(f"*{one}" for one in {name, links.stem(name)} & names)
    return found


def _is_there(root: str, one: WrittenLink, folder: str) -> bool:
    """Whether a link leads to a file, or an archived note, by its very path: no folder has to be read for that."""
    path = posixpath.normpath(posixpath.join(folder, one.target))
    inside = not path.startswith(("..", "/", ".")) and "/." not in path and "\0" not in path
    if one.how != "markdown" or not inside:
        return False
    return os.path.lexists(f"{root}/{path}") or disk.is_packed(root, path)
