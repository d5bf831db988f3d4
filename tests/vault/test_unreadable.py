"""A note that cannot be read, such as one that root wrote: it stops nothing, and is named with what helps."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from mdmem import system
from mdmem.health import contents
from mdmem.health.scope import CheckScope
from mdmem.history import commit
from mdmem.search import engine, index
from mdmem.search.query import parse
from tests.helpers.history_vault import git, put, start


@pytest.fixture(autouse=True)
def refused(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to open `shut.md`, as the system does for anybody but root."""
    put(vault, "notes/shut.md", "walnut\n")
    put(vault, "notes/open.md", "walnut\n")
    whole = system.HeldFolder.open_to_read

    def open_to_read(folder: system.HeldFolder, name: str) -> int:
        if name == "shut.md":
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return whole(folder, name)

    monkeypatch.setattr(system.HeldFolder, "open_to_read", open_to_read)


@pytest.mark.slow
def test_the_others_are_committed_and_it_is_held_back_with_what_helps(vault: Path) -> None:
    done = commit.commit(start(vault))

    assert "notes/open.md" in git(vault, "ls-files")
    (held,) = done.held_back
    assert held.why == "notes/shut.md cannot be read, so it was not committed."
    assert held.todo.endswith("sudo chown $USER notes/shut.md; chmod u+rw notes/shut.md")


@pytest.mark.slow
def test_the_others_are_indexed_and_found_and_doctor_names_it(vault: Path) -> None:
    settings = start(vault)
    for _ in range(2):
        index.update(settings)
        assert [hit.path for hit in engine.search(settings, parse("walnut")).hits] == ["notes/open.md"]
    assert index.verify(settings, repair=False).agrees

    (found,) = contents.files(settings, CheckScope())
    assert found.text.startswith("notes/shut.md cannot be read")
    assert str(vault / "notes" / "shut.md") in found.todo
