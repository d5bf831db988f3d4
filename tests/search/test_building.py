"""A large vault without an index: nobody waits for it, users are told, and nothing wrong is written in the meantime."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.health import scope
from mdmem.search import engine, freshness, index
from mdmem.search.index import catchup, completion, scan, scan_record
from mdmem.server import lookup
from mdmem.views.vault_pages import upkeep
from mdmem.web.live import Live
from tests.helpers.server_calls import Server
from tests.helpers.waiting import until

NOW = 1_790_000_000.0
TOLD = "The index is being built in the background: 5 notes are in it so far, and others are not found yet."


@pytest.fixture
def large(vault: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Return a vault that is taken for a large one; who finishes its index has begun, and comes no further."""
    for number in range(30):
        folder = vault / "journal" / "app" / f"2026-09-{number + 1:02d}" / "0800-a"
        folder.mkdir(parents=True)
        (folder / f"001-000-prompt-a-{number:010d}.md").write_text(f"alpha n{number}", encoding="utf-8")
    monkeypatch.setattr(freshness, "MOST_AT_ONCE", 20)
    monkeypatch.setattr(catchup, "MOST_AT_ONCE", 20)
    monkeypatch.setattr(catchup, "FIRST_NOTES", 5)

    def begun(settings: Config) -> bool:
        mark = Path(settings.state_dir, "indexing")
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        return True

    monkeypatch.setattr(completion, "finish", begun)
    return config.load(str(vault))


@pytest.fixture
def server(large: Config) -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def test_a_tool_answers_at_once_and_says_that_the_index_is_being_built(
    large: Config, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers: list[object] = []
    monkeypatch.setattr(lookup, "_swept", {})
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(threading, "Timer", lambda *given: timers.append(given))
        answer = server.call("search", {"query": "alpha"}).value

    assert (answer["total"], answer["hints"]) == (5, [TOLD])
    assert not timers, "the server does the work that another process does"
    index.update(large)
    completion.record_complete(large)
    again = server.call("search", {"query": "alpha"}).value
    assert (again["total"], again["hints"]) == (30, [])


@pytest.mark.parametrize(("tool", "words"), [("fixes", {"error": "ValueError: alpha"}), ("open_work", {})])
def test_tools_of_what_was_learned_say_that_the_index_is_being_built(
    large: Config, server: Server, tool: str, words: dict[str, str]
) -> None:
    answer = server.call(tool, words)
    assert answer.value["hints"] == [TOLD]
    assert TOLD in answer.text


def test_pages_in_the_vault_are_made_when_the_index_is_whole(large: Config, capsys: pytest.CaptureFixture[str]) -> None:
    assert upkeep.refresh(large, now=NOW) == []
    assert capsys.readouterr().err == f"mdmem: {TOLD} Pages are made when it is done.\n"
    assert upkeep.refresh(large, now=NOW, background=True) == []
    assert capsys.readouterr().err == ""
    made = Path(large.state_dir, "pages")
    assert not made.exists()

    index.update(large)
    completion.record_complete(large)

    upkeep.refresh(large, now=NOW)
    assert made.exists()


def test_doctor_looks_at_everything_while_the_index_is_being_built(large: Config) -> None:
    index.update(large)
    scope.remember(large, scope.of(large, every=True))
    index.rebuild(large)
    Path(large.index_dir, "contents").unlink()

    assert scope.of(large, every=False).is_whole


def test_the_pages_show_what_there_is_while_the_index_is_being_built(large: Config) -> None:
    freshness.bring_up_to_date(large, quick=False, most=freshness.MOST_AT_ONCE)
    live = Live(large)

    assert live.view().live == 5
    assert not live._index(None), "it is looked at again when the index is whole"
    assert live.view().live == 5

    completion.record_complete(large)
    assert live._index(None)
    assert live.view().live == 30


def test_a_note_is_found_by_its_id_before_it_is_indexed(large: Config) -> None:
    assert index.resolve(large, "mem:0000000003").startswith("journal/app/2026-09-04/")
    assert freshness.being_built(large) == TOLD
    own = Path(large.vault, "notes", "How we release.md")
    own.parent.mkdir(exist_ok=True)
    own.write_text("---\nid: m1n2p3q4r5\n---\nOn Tuesdays.\n", "utf-8")
    for reference in ("m1n2p3q4r5", "[mem:m1n2p]", "[[How we release]]", "notes/How we release.md"):
        assert index.resolve(large, reference) == "notes/How we release.md"
    with pytest.raises(NotFoundError, match="The index is still being built"):
        index.resolve(large, "zzzzz")

    index.update(large)
    completion.record_complete(large)
    with pytest.raises(NotFoundError, match="`mdmem search` finds notes"):
        index.resolve(large, "zzzzz")


@pytest.mark.parametrize("look", [True, False])
def test_a_note_that_was_moved_is_found_by_its_id_in_a_large_vault(
    large: Config, monkeypatch: pytest.MonkeyPatch, look: bool
) -> None:
    monkeypatch.setattr(scan_record, "MOST_AT_ONCE", 20)
    monkeypatch.setattr(completion, "check_files", lambda _: True)
    own = Path(large.vault, "notes", "release.md")
    own.parent.mkdir(exist_ok=True)
    own.write_text("---\nid: m1n2p3q4r5\n---\nOn Tuesdays.\n", "utf-8")
    index.update(large)
    completion.record_complete(large)
    assert index.resolve(large, "m1n2p3q4r5") == "notes/release.md"
    own.rename(own.with_name("How we release.md"))

    assert index.resolve(large, "m1n2p3q4r5", look=look) == "notes/How we release.md"


def test_a_note_is_found_by_its_id_while_no_index_can_be_written(
    large: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    shut = config.load(large.vault)

    assert index.resolve(shut, "mem:0000000003").startswith("journal/app/2026-09-04/")
    with pytest.raises(NotFoundError, match="'zzzzz'"):
        index.resolve(shut, "zzzzz")


def test_a_mark_that_nobody_renews_is_of_a_process_that_has_ended(large: Config) -> None:
    freshness.bring_up_to_date(large, most=freshness.MOST_AT_ONCE)
    assert freshness.being_built(large) == TOLD

    mark = Path(large.state_dir, "indexing")
    os.utime(mark, (1, 1))
    assert freshness.being_built(large) == ""
    completion.record_progress(large)
    assert freshness.being_built(large) == TOLD


@pytest.fixture
def very_large(vault: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Return an indexed vault of ten prompts and a note of a person's, of which not all are looked at while one waits.

    Of the prompts those are the two newest; of what changed last, the newest alone is looked at each time.
    """
    monkeypatch.setattr(scan_record, "MOST_AT_ONCE", 5)
    monkeypatch.setattr(scan_record, "NEWEST", 2)
    monkeypatch.setattr(scan, "MAX_CHANGED", 1)
    monkeypatch.setattr(scan, "MAX_CAPTURED", 1)
    texts = {f"journal/app/2026-09-0{day}/0800-a/001-000-prompt-a-{day:010d}.md": day for day in range(10)}
    for path, day in {**texts, "notes/mine.md": 0}.items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        kind = "note" if "mine" in path else "prompt"
        file.write_text(f"---\nkind: {kind}\ncreated: 2026-09-{day + 1:02d}T08:00:00Z\n---\nalpha\n", encoding="utf-8")
        os.utime(file, (NOW + day, NOW + day))
    for folder in (vault, *(path for path in vault.rglob("*") if path.is_dir())):
        os.utime(folder, (NOW, NOW))  # of a folder that changed just now, each file is looked at
    settings = config.load(str(vault))
    index.update(settings)
    return settings


def test_in_a_very_large_vault_who_waits_looks_at_the_likeliest_notes_and_is_told_of_the_others(
    very_large: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def start(settings: Config) -> bool:
        begun.append(settings.vault)
        return True

    monkeypatch.setattr(completion, "check_files", start)
    root = Path(very_large.vault)
    (root / "notes/mine.md").write_text("about zebras")
    (root / "journal/app/2026-09-08/0800-a/001-000-prompt-a-0000000008.md").write_text("about quaggas")
    (root / "journal/app/2026-09-00/0800-a/001-000-prompt-a-0000000000.md").write_text("---\nid: okapi\n---\nkudus")

    for word in ("zebras", "quaggas"):
        assert engine.search(very_large, word).total == 1
    for _ in range(2):
        answer = engine.search(very_large, "kudus")
        assert (answer.total, answer.hints) == (0, (freshness.CHECKING,))
        with pytest.raises(NotFoundError):
            index.resolve(very_large, "okapi")
    assert len(begun) == 4

    index.update(very_large)  # what a process in the background does
    again = engine.search(very_large, "kudus")
    assert (again.total, again.hints) == (1, ())
    assert index.resolve(very_large, "okapi").endswith("-0000000000.md")


@pytest.mark.slow
def test_a_process_in_the_background_looks_at_every_note_and_ends(very_large: Config) -> None:
    Path(very_large.vault, "journal/app/2026-09-00/0800-a/001-000-prompt-a-0000000000.md").write_text("kudus")

    assert completion.check_files(very_large)

    assert not freshness.being_built(very_large), "the index is whole meanwhile"
    mark = Path(very_large.state_dir, "looking")
    until(lambda: not mark.exists(), "the end of the process")
    options = engine.SearchOptions(update=False)
    assert engine.search(very_large, "kudus", options).total == 1
