"""Check the index: whether it matches the vault, and files left by older versions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mdmem import plural
from mdmem.config import Config
from mdmem.health import HealthFinding, fine, note, remove, warning
from mdmem.health.scope import CheckScope
from mdmem.search import index as engine
from mdmem.search.index import DamagedError, Report, contents
from mdmem.views import wording

OLD_SECONDS = 3600
"""A younger file of the index may belong to a running writer."""


def index(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Compare the index with every file, and find files left by older versions."""
    report = engine.verify(config, repair=False, progress=scope.report) if scope.view is None else None
    if report is None:
        yield fine("a quick check finds the index up to date; --all compares it with every file")
    elif report.agrees:
        yield fine(f"the index matches the vault: {plural.number(report.notes, 'file')}")
    else:
        rebuild = partial(engine.rebuild, config)
        yield warning(f"The index {_differs(report)}.", "`mdmem index --rebuild`", rebuild)
    old = _old_index_files(Path(config.index_dir))
    if old:
        size = wording.size(sum(path.stat().st_size for path in old))
        yield note(f"{size} of indexes left by older versions.", "`mdmem doctor --fix`", partial(remove, old))


def _old_index_files(folder: Path) -> list[Path]:
    """Return files that belong to no index in use; the next change of the index would delete them."""
    try:
        loaded = contents.load(str(folder))
    except DamagedError:
        return []
    used = {contents.NAME, contents.LOCK, contents.FOLDERS, contents.TURN}
    names = tuple(segment.name for segment in loaded.segments) if loaded else ()
    files = [path for path in folder.glob("*") if path.name not in used and not path.name.startswith(names or ("",))]
    return [path for path in files if path.is_file() and time.time() - path.stat().st_mtime > OLD_SECONDS]


def _differs(report: Report) -> str:
    if report.damage:
        return f"cannot be read ({report.damage})"
    kinds = {"missing": report.missing, "extra": report.extra, "stale": report.stale, "doubled": report.doubled}
    named = [f"{len(paths)} {kind}, such as {paths[0]}" for kind, paths in kinds.items() if paths]
    return f"does not match the vault: {'; '.join(named)}"
