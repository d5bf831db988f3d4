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
from tests.helpers.cli_day import Day
from tests.helpers.pages import Served, serving


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
