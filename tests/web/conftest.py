"""A day of work under git, and `mdmem web` on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from mdmem import config
from mdmem.vault import user_notes
from tests.helpers import cli_day, hostile
from tests.helpers.cli_day import FIRST, Day
from tests.helpers.indexed import indexed
from tests.helpers.pages import Served, serving

PAGES = (
    "/", "/timeline", "/timeline?on=2026-09-14&failed=1", "/projects", "/project/notes-app", f"/session/{FIRST}",
    "/search", "/search?q=date+parser", "/search?q=kind:prompt&project=notes-app", "/search?q=%22never+closed",
    "/file?path=src/dates.py", "/injected", "/injected?only=nothing", "/preview", "/preview?prompt=what+did+we+decide",
    "/new", "/open", "/open?project=notes-app",
    "/review", "/review?kind=note", "/uncommitted",
    "/health", "/help", "/help/search", "/project/hostile", "/search?q=hostile",
)  # fmt: skip


class Web(NamedTuple):
    """A vault, and its pages."""

    day: Day
    served: Served

    @property
    def vault(self) -> Path:
        """The vault's folder."""
        return self.day.vault


def made_day(root: Path) -> Day:
    """Make a day under git, with notes that people wrote and hostile ones."""
    day = cli_day.make(root)
    env = {**os.environ, **day.env}
    settings = config.load(str(day.vault), env)
    now = cli_day.MORNING
    user_notes.add(settings, "Times are stored in UTC", "Decision: UTC.\n\nSee [[ideas]].", tags=["decision"], now=now)
    user_notes.add(settings, "Ideas", "- first\n- second", project="notes-app", pinned=True, now=now + 1)
    for number, text in enumerate(hostile.SAMPLES):
        meta = f"---\nid: hostile{number:03d}\nkind: note\nproject: hostile\ncreated: 2026-09-14T10:00:{number:02d}Z\n"
        title = text.replace("\\", "").replace('"', '\\"').replace("\n", " ").replace("\x01", "")
        body = f'{meta}title: "{title}"\ntags: [hostile]\n---\n\n{text}\n'
        (day.vault / "notes" / f"hostile-{number}.md").write_text(body, encoding="utf-8")
    day.run("init", str(day.vault))
    day.run("commit")
    return day


@pytest.fixture(scope="package")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """Serve one vault for the tests that leave it as it is, or change notes of their own."""
    day = made_day(tmp_path_factory.mktemp("web"))
    with serving(day.vault, day.env) as served:
        yield Web(day, served)


OLDEST = cli_day.MORNING - 86_400
"""Before every other note: the page of the review queue shows only the oldest notes."""


def a_note(web: Web, title: str, body: str = "Some words.", *, now: float = cli_day.MORNING) -> str:
    """Write a note of this test's own; return its path."""
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    path = user_notes.add(settings, title, body, now=now).path
    indexed(settings)  # the pages may hear of it later
    return path
