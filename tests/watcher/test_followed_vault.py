"""A vault that a watcher follows: what it was told of need not be looked for, and what it cannot know of is."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.search import answering, index, query
from mdmem.search.index import scan_record
from mdmem.search.index.contents import FOLDERS
from mdmem.search.index.folder_times import FolderTimes
from mdmem.watcher import file_system, loop, touched, warm_search

ASKED: dict[str, Any] = {"limit": 5}


@pytest.fixture
def settings(vault: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Return the settings of a vault with old notes, in which a busy machine is waited for."""
    for name in ("WAIT_SECONDS", "BATCH_SECONDS", "LOCK_SECONDS"):
        monkeypatch.setattr(loop, name, 60.0)
    monkeypatch.setattr(touched, "WAIT_SECONDS", 60.0)
    monkeypatch.setattr(warm_search, "SECONDS", 120.0)
    monkeypatch.setattr(file_system, "is_local", lambda _: True)
    (vault / ".git").mkdir()
    (vault / "notes").mkdir()
    for number in range(8):
        path = vault / "notes" / f"{number}.md"
        path.write_text(f"# Note {number}\n\nalpha\n")
        os.utime(path, (1_790_000_000 + number, 1_790_000_000 + number))
    return config.load(str(vault))


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list to which each look adds how many old notes it looks at, if any."""
    found: list[int] = []
    turn = scan_record.turn

    def counted(index_dir: str, view: Any, count: int) -> Any:
        found.append(count)
        return turn(index_dir, view, count)

    monkeypatch.setattr(scan_record, "turn", counted)
    return found


@contextmanager
def watching(settings: Config) -> Iterator[loop.Watcher]:
    """Run a watcher in this process that has looked at everything once."""
    watcher = loop.Watcher(settings, {})
    thread = threading.Thread(target=watcher.run)
    thread.start()
    try:
        deadline = time.monotonic() + 240
        while not watcher.status()["current"]:
            assert time.monotonic() < deadline, "never current"
            time.sleep(0.02)
        yield watcher
    finally:
        watcher.end()
        thread.join()


def paths(settings: Config, text: str) -> list[str]:
    """Return what the watcher finds."""
    found = warm_search.ask(settings, query.parse(text), ASKED)
    assert found is not None
    return [hit.path for hit in found.hits]


def test_a_word_that_no_note_has_is_not_looked_for_in_each_file(settings: Config, shares: list[int]) -> None:
    with watching(settings):
        assert paths(settings, "zebra") == []
        Path(settings.vault, "notes/1.md").write_text("# Note 1\n\nzebra\n")  # in place: no folder changes
        assert paths(settings, "zebra") == ["notes/1.md"]
        Path(settings.vault, "notes/1.md").write_text("# Note 1\n\nalpha\n")
        assert paths(settings, "zebra") == []
    assert scan_record.EVERY not in shares
    assert list(Path(settings.vault, ".git").iterdir()) == []


def test_a_prompt_that_finds_nothing_sees_what_was_changed_in_place(settings: Config, shares: list[int]) -> None:
    with watching(settings):
        assert answering.seen_everywhere(settings, answering.Asker(), 60.0) is None
        Path(settings.vault, "notes/2.md").write_text("# Note 2\n\nzebra\n")
        seen = answering.seen_everywhere(settings, answering.Asker(), 60.0)
        assert seen is not None
        assert [seen.path(note) for note in seen.notes("body", "zebra")] == ["notes/2.md"]
    assert scan_record.EVERY not in shares


def test_what_is_made_moved_and_removed_is_found_without_a_look_at_any_folder(
    settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    with watching(settings):
        assert len(paths(settings, "alpha")) == ASKED["limit"]
        monkeypatch.setattr(FolderTimes, "changed", lambda _, root: looks.append(root))
        vault = Path(settings.vault)
        (vault / "notes/deep/deeper").mkdir(parents=True)
        (vault / "notes/deep/deeper/new.md").write_text("# New\n\nzebra\n")
        assert paths(settings, "zebra") == ["notes/deep/deeper/new.md"]
        (vault / "notes/deep").rename(vault / "notes/moved")
        assert paths(settings, "zebra") == ["notes/moved/deeper/new.md"]
        [answer] = answering.answers(settings, "zebra", answering.Asker())
        assert [hit.path for hit in answer.hits] == ["notes/moved/deeper/new.md"]
        (vault / "notes/moved/deeper/new.md").unlink()
        assert paths(settings, "zebra") == []
        assert answering.answers(settings, "zebra", answering.Asker()) == ()
    assert looks == []


@pytest.mark.parametrize("remove", [shutil.rmtree, lambda index_dir: Path(index_dir, FOLDERS).unlink()])
def test_an_index_that_is_removed_under_the_watcher_is_built_again(
    settings: Config, remove: Callable[[str], None]
) -> None:
    with watching(settings):
        assert len(paths(settings, "alpha")) == ASKED["limit"]
        remove(settings.index_dir)
        assert len(paths(settings, "alpha")) == ASKED["limit"]
        assert index.is_complete(settings)


def _no_repository(settings: Config, _: pytest.MonkeyPatch) -> None:
    Path(settings.vault, ".git").rmdir()


def _shared_folder(_: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_system, "is_local", lambda _: False)


def _nothing_heard(_: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(touched, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(touched.TouchedFiles, "add", lambda *_: None)


@pytest.mark.parametrize("cannot_know", [_no_repository, _shared_folder, _nothing_heard])
def test_where_a_watcher_may_not_be_told_of_a_change_each_file_is_looked_at(
    settings: Config,
    shares: list[int],
    monkeypatch: pytest.MonkeyPatch,
    cannot_know: Callable[[Config, pytest.MonkeyPatch], None],
) -> None:
    cannot_know(settings, monkeypatch)
    with watching(settings):
        assert paths(settings, "zebra") == []
    assert scan_record.EVERY in shares


def test_when_the_watcher_has_ended_each_file_is_looked_at_again(settings: Config, shares: list[int]) -> None:
    with watching(settings):
        pass
    answering.seen_everywhere(settings, answering.Asker(), 60.0)
    assert scan_record.EVERY in shares


def test_what_takes_long_to_index_is_looked_at_by_another_process_and_not_again_afterwards(
    settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "BATCH_SECONDS", 0.0)
    looks: list[Any] = []
    update = index.update_within

    def counted(settings: Config, limits: index.UpdateLimits, paths: Any) -> Any:
        looks.append(paths)
        return update(settings, limits, paths)

    monkeypatch.setattr(index, "update_within", counted)
    with watching(settings):
        assert looks == [None]
        assert len(paths(settings, "alpha")) == ASKED["limit"]
