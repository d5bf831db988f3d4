"""The index: current after every kind of change, whole after every kind of damage, and never in a reader's way."""

from __future__ import annotations

import errno
import gc
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
import weakref
from array import array
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click.testing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config
from mdmem.cli.group import cli
from mdmem.config import Config
from mdmem.errors import BusyError, ConfigError, NotFoundError, VaultError
from mdmem.search import answering, engine, freshness, index, query, select
from mdmem.search.index import (
    builder,
    catchup,
    completion,
    contents,
    dictionary,
    document,
    layout,
    pending,
    scan,
    scan_record,
    store,
    table,
    tiers,
    update_process,
    writer,
)
from mdmem.search.index.dictionary import without
from mdmem.search.index.view import View
from mdmem.search.query import Query
from mdmem.vault.disk import WalkedFile
from mdmem.views import figures, sessions
from tests.helpers.call_count import calls
from tests.helpers.indexed import in_step
from tests.helpers.waiting import until


@pytest.fixture
def settings(vault: Path) -> Config:
    return config.load(str(vault))


SOAK_SECONDS = 0.75 * float(os.environ.get("MDMEM_SOAK", "1"))  # 60 seconds with MDMEM_SOAK=80

_ticks = itertools.count(1_700_000_000_000_000_001, 1_000_000)


def write(vault: Path, path: str, text: str) -> Path:
    """Save a note, at a time of its own that is long past: times of just now are not relied on."""
    file = vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    tick = next(_ticks)
    os.utime(file, ns=(tick, tick))
    return file


def found(settings: Config, words: str, **how: object) -> list[str]:
    result = engine.search(settings, words, engine.SearchOptions(collapse=False, **how))  # type: ignore[arg-type]
    return sorted(hit.path for hit in result.hits)


def known(settings: Config, words: str) -> list[str]:
    """Ask the index as it is, without bringing it up to date."""
    return found(settings, words, update=False)


# -- staying current ---------------------------------------------------------------------------------


def test_a_note_of_a_time_in_the_far_future_is_found_as_it_was_changed(vault: Path, settings: Config) -> None:
    year_2400 = 13_569_465_600
    for text in "alpha", "beta":
        os.utime(write(vault, "a.md", text), (year_2400, year_2400))
        assert found(settings, text) == ["a.md"]


@pytest.mark.parametrize(("at_ns", "year"), [(10**21, 2262), (-(10**20), 1677)])
def test_a_file_time_that_does_not_fit_the_index_is_cut_to_one_that_does(vault: Path, at_ns: int, year: int) -> None:
    mtime_ns = scan_record.reliable_mtime(at_ns)
    row = document.build(str(vault), WalkedFile("a.md", at_ns, 5, 1), b"alpha", mtime_ns=mtime_ns).row
    assert (row.mtime_ns, (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=row.created)).year) == (-1, year)


def test_notes_are_added_changed_and_removed(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    write(vault, "sub/b.md", "beta")
    assert index.update(settings) == index.Changes(added=2, rebuilt=True, reason=index.NEW)

    write(vault, "a.md", "alpha gamma")
    (vault / "sub" / "b.md").unlink()
    write(vault, "c.md", "delta")
    assert index.update(settings) == index.Changes(added=1, changed=1, removed=1)

    assert known(settings, "gamma") == ["a.md"]
    assert known(settings, "beta") == []
    assert index.update(settings) == index.Changes()


def test_nothing_is_written_into_the_vault(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    before = sorted(vault.rglob("*"))

    found(settings, "alpha")

    assert sorted(vault.rglob("*")) == before


def test_the_index_is_the_users_alone(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    index.update(settings)

    assert Path(settings.index_dir).stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o077 == 0 for file in Path(settings.index_dir).iterdir())


@pytest.mark.parametrize(
    "change",
    [
        lambda vault: write(vault, "new/deep/d.md", "zebra"),
        lambda vault: (vault / "s" / "a.md").rename(vault / "s" / "renamed.md"),
        lambda vault: (vault / "s").rename(vault / "moved"),
        lambda vault: shutil.rmtree(vault / "s"),
        lambda vault: os.replace(write(vault, ".tmp", "zebra"), vault / "s" / "a.md"),
    ],
    ids=["a new folder", "a rename", "a moved folder", "a deleted folder", "an atomic save"],
)
def test_the_quick_look_sees_what_changes_a_folder(
    vault: Path, settings: Config, change: Callable[[Path], object]
) -> None:
    write(vault, "s/a.md", "alpha")
    write(vault, "s/b.md", "beta")
    write(vault, "t/c.md", "gamma")
    _wait_for_the_clock(vault)
    index.update(settings)
    change(vault)

    assert index.update(settings, quick=True) != index.Changes()

    _assert_agrees(settings)
    assert index.update(settings) == index.Changes()


def _far_ahead(vault: Path) -> None:
    (vault / MANY[7] / "a.md").unlink()
    os.utime(
        vault / MANY[7], (13_569_465_600, 13_569_465_600)
    )  # the year 2400, for whose time in ns eight bytes are few


MANY = [f"journal/app/2026-09-{day:02}/0800-session" for day in range(1, 21)]


@pytest.mark.parametrize(
    "change",
    [
        lambda vault: (vault / MANY[3] / "b.md").write_text("zebra"),
        lambda vault: (vault / MANY[19] / "a.md").unlink(),
        lambda vault: (vault / MANY[0] / "a.md").rename(vault / MANY[0] / "renamed.md"),
        lambda vault: (vault / MANY[5]).rename(vault / "journal" / "app" / "2026-09-01" / "moved"),
        lambda vault: shutil.rmtree(vault / MANY[5].rpartition("/")[0]),
        lambda vault: (vault / "journal" / "app").rename(vault / "journal" / "other"),
        lambda vault: shutil.rmtree(vault / "journal"),
        _far_ahead,
    ],
    ids=["new", "deleted", "renamed", "moved", "a day deleted", "a project renamed", "all deleted", "a strange time"],
)
def test_what_a_hand_changes_in_one_of_many_sessions_is_seen_before_an_answer_and_before_an_injection(
    vault: Path, settings: Config, change: Callable[[Path], object]
) -> None:
    for folder in MANY:
        write(vault, f"{folder}/a.md", "alpha")
    _wait_for_the_clock(vault)
    index.update(settings)
    change(vault)
    there = sorted(path.relative_to(vault).as_posix() for path in vault.rglob("*.md"))

    laid_over = index.glance(settings)
    assert laid_over is None or sorted(map(laid_over.path, laid_over.all)) == there  # None: so much that it is indexed
    assert index.update(settings, quick=True) != index.Changes()
    view = index.current(settings)
    assert view is not None
    assert sorted(map(view.path, view.all)) == there


def test_the_quick_look_sees_a_change_in_place_of_a_note_that_changed_last(vault: Path, settings: Config) -> None:
    file = write(vault, "s/a.md", "alpha")
    _wait_for_the_clock(vault)
    index.update(settings)
    file.write_text("zebra crossing")

    assert index.update(settings, quick=True) == index.Changes(changed=1)


def test_a_quick_look_takes_in_fewer_of_the_notes_in_sessions(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "MAX_CHANGED", 3)
    monkeypatch.setattr(scan, "MAX_CAPTURED", 1)
    monkeypatch.setattr(scan_record, "SHARE", 0)
    session = [write(vault, f"journal/app/2026-09-14/s/{number}.md", "alpha") for number in range(3)]
    mine = [write(vault, f"notes/{number}.md", "alpha") for number in range(3)]
    for age, path in enumerate([*mine, *session]):
        os.utime(path, (1_790_000_000 + age, 1_790_000_000 + age))
    _wait_for_the_clock(vault)
    index.update(settings)
    for path in (*mine, *session):
        path.write_text("alpha beta")

    assert index.update(settings, quick=True, share=0) == index.Changes(changed=4)


def test_day_pages_that_are_written_at_once_displace_no_older_notes_of_people_from_quick_looks(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "MAX_CHANGED", 3)
    monkeypatch.setattr(scan, "MAX_DAYS", 2)
    mine = ["notes/plan.md", "notes/2026-09-10.md", "days/plan-2026-09-10.md"]
    pages = ["days/2025/2025-09-10.md", "days/2025/2025-09-11.md", "days/2026-09-10.md", "days/2026-09-11.md"]
    for age, path in enumerate([*mine, *pages]):
        os.utime(write(vault, path, "alpha"), (1_790_000_000 + age, 1_790_000_000 + age))
    _wait_for_the_clock(vault)
    index.update(settings)
    for path in (*mine, *pages):
        (vault / path).write_text("alpha beta")

    index.update(settings, quick=True, share=0)

    assert sorted(known(settings, "beta")) == sorted([*mine, *pages[2:]])


@pytest.fixture
def old_notes(vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return indexed notes, of which a quick look takes in the last two, and two others in turn."""
    monkeypatch.setattr(scan, "MAX_CHANGED", 2)
    monkeypatch.setattr(scan_record, "SHARE", 2)
    made = [write(vault, f"s/{number}.md", f"alpha beta {number}") for number in range(8)]
    for age, path in enumerate(made):
        os.utime(path, (1_790_000_000 + age, 1_790_000_000 + age))
    _wait_for_the_clock(vault)
    index.update(settings)
    return made


def test_quick_looks_see_every_change_in_place_when_its_turn_has_come(old_notes: list[Path], settings: Config) -> None:
    for path in old_notes:
        path.write_text(f"{path.read_text()} zebra")

    for _ in range(12):
        index.update(settings, quick=True)

    assert len(known(settings, "zebra")) == len(old_notes)


def test_a_search_for_a_word_that_was_just_written_into_an_old_note_finds_it(
    old_notes: list[Path], settings: Config
) -> None:
    old_notes[5].write_text("alpha gamma")

    assert [hit.path for hit in engine.search(settings, "gamma").hits] == ["s/5.md"]


def test_a_search_for_an_unknown_word_looks_at_notes_whose_turn_has_just_been(
    old_notes: list[Path], settings: Config
) -> None:
    for _ in range(2):
        index.update(settings, quick=True)
    old_notes[0].write_text("alpha gamma")

    assert [hit.path for hit in engine.search(settings, "gamma").hits] == ["s/0.md"]


def test_an_old_note_that_was_changed_in_place_is_shown_as_it_is(old_notes: list[Path], settings: Config) -> None:
    old_notes[5].write_text("alpha zebra")

    hits = engine.search(settings, "alpha", engine.SearchOptions(limit=8, collapse=False)).hits

    assert next(hit for hit in hits if hit.path == "s/5.md").title == "alpha zebra"


def test_dirty_paths_are_looked_at_and_no_others(vault: Path, settings: Config) -> None:
    for name in ("a.md", "sub/b.md", "sub/deep/c.md", "gone/d.md"):
        write(vault, name, "alpha")
    index.update(settings)
    write(vault, "a.md", "zebra")
    write(vault, "sub/new.md", "zebra")
    write(vault, "elsewhere.md", "zebra")
    shutil.rmtree(vault / "gone")
    (vault / "sub" / "deep" / "c.md").unlink()

    changes = index.update(settings, paths=["a.md", str(vault / "sub"), "gone", "never/was.md", "../outside.md"])

    assert changes == index.Changes(added=1, changed=1, removed=2)
    assert known(settings, "zebra") == ["a.md", "sub/new.md"]


def test_a_file_saved_twice_in_one_tick_of_the_clock_is_not_missed(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_record, "_step_ns", lambda _: 3600 * 10**9)  # a busy machine is slower than a short tick
    file = vault / "a.md"
    file.write_text("first!")
    index.update(settings)
    stamp = file.stat()
    file.write_text("second")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    assert found(settings, "second") == ["a.md"]


def _copied(vault: Path) -> None:
    """Replace a vault by its copy, which has the same contents and times, but other inodes."""
    copy = vault.with_name("copy")
    shutil.copytree(vault, copy)
    shutil.rmtree(vault)
    copy.rename(vault)


@pytest.mark.parametrize("how", [{}, {"quick": True}, {"paths": ["s"]}], ids=["all files", "a share", "paths"])
def test_the_index_of_a_copied_vault_stays_as_it_is(
    settings: Config, old_notes: list[Path], how: dict[str, Any]
) -> None:
    _copied(Path(settings.vault))
    before = index.current(settings)
    assert before is not None
    assert before.stamp(0)[2] not in {path.stat().st_ino for path in old_notes}

    assert index.update(settings, **how) == index.Changes()
    assert index.current(settings) is before


def test_a_prompt_waits_for_no_more_than_some_files_with_other_inodes(
    settings: Config, old_notes: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "MAX_NOTES", 4)
    view = index.current(settings)
    _copied(Path(settings.vault))

    assert pending.glance(settings, share=index.EVERY) is view
    monkeypatch.setattr(pending, "MAX_READ", len(old_notes) - 5)
    assert pending.glance(settings, share=index.EVERY) is None


def test_a_search_in_a_copied_vault_only_reads_the_index(settings: Config, old_notes: list[Path]) -> None:
    _copied(Path(settings.vault))
    before = index.current(settings)

    hits = engine.search(settings, "alpha", engine.SearchOptions(limit=len(old_notes), collapse=False)).hits

    assert len(hits) == len(old_notes)
    assert index.current(settings) is before


@pytest.mark.parametrize("how", [{}, {"quick": True}, {"paths": ["s/5.md"]}], ids=["all files", "a share", "paths"])
def test_a_replaced_file_of_the_same_time_and_size_is_found(
    settings: Config, old_notes: list[Path], how: dict[str, Any]
) -> None:
    file = old_notes[5]
    status = file.stat()
    new = file.with_name(".new")
    new.write_text("zebra" + file.read_text()[5:])
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.replace(file)
    assert (file.stat().st_mtime_ns, file.stat().st_size) == (status.st_mtime_ns, status.st_size)

    assert index.update(settings, **how).changed == 1
    assert known(settings, "zebra") == ["s/5.md"]


def test_a_budget_leaves_the_oldest_notes_for_later(vault: Path, settings: Config) -> None:
    for number in range(50):
        file = write(vault, f"{number:02d}.md", f"alpha n{number}")
        os.utime(file, (1_600_000_000 + number, 1_600_000_000 + number))
    index.update(settings, budget_seconds=0.0)
    assert index.update(settings, budget_seconds=0.0).complete is False

    partly = index.update(settings, budget_seconds=0.01)
    assert index.update(settings).added + partly.added >= 49
    _assert_agrees(settings)


def test_progress_is_told(vault: Path, settings: Config) -> None:
    for number in range(3):
        write(vault, f"{number}.md", "alpha")
    steps: list[tuple[int, int]] = []

    index.update(settings, progress=lambda done, total: steps.append((done, total)))

    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_a_vault_that_is_not_there_is_said_and_forgets_nothing(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    index.update(settings)
    vault.rename(vault.with_name("away"))

    with pytest.raises(VaultError, match="No vault at"):
        index.update(settings)

    vault.with_name("away").rename(vault)
    assert index.update(settings) == index.Changes()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00broken \x80 bytes",
        b"---\ntags: [a, b\n---\nnever closed list",
        b"---\nid: x\nno end of front matter",
        b"---\n- a\n- list\n---\ntext",
        b"\xef\xbb\xbf---\r\ntitle: crlf\r\n---\r\ntext",
        pytest.param(("wört " * 200_000).encode(), marks=pytest.mark.slow),
        b"---\nproject: [1, {a: 2}]\nsession: 12\nfiles: 3\ntags: {a: b}\nid: [x]\ntitle: 5\n---\nodd types",
        "---\ncreated: 9999-99-99\n---\n\ud800".encode("utf-8", "surrogatepass"),
    ],
)
def test_any_file_can_be_indexed(vault: Path, settings: Config, data: bytes) -> None:
    (vault / "odd.md").write_bytes(data)
    write(vault, "good.md", "alpha")

    assert index.update(settings).added == 2
    assert found(settings, "alpha") == ["good.md"]
    assert index.verify(settings).agrees


@given(st.binary(max_size=300))
def test_a_document_can_be_made_of_anything(data: bytes) -> None:
    made = document.build("", WalkedFile("a/b.md", 1, len(data), 1), data, mtime_ns=1)

    assert layout.decode_postings(layout.encode_postings([0], [1]))[0][0] == 0
    (row,) = table.Table(layout.encode_table([made.row]), 1).rows([0])
    assert row == made.row


# -- damage ------------------------------------------------------------------------------------------


def _damages(file: Path) -> dict[str, Callable[[], object]]:
    data = file.read_bytes()

    def flip(place: int) -> None:
        file.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])

    def become_folder() -> None:
        file.unlink()
        file.mkdir()

    damages: dict[str, Callable[[], object]] = {
        "removed": file.unlink,
        "emptied": lambda: file.write_bytes(b""),
        "cut": lambda: file.write_bytes(data[: len(data) // 2]),
        "longer": lambda: file.write_bytes(data + b"\0" * 100),
        "zeros": lambda: file.write_bytes(b"\0" * len(data)),
        "a folder": become_folder,
    }
    places = {0, len(data) // 3, len(data) // 2, len(data) - 9, len(data) - 1} if data else set()
    return damages | {f"flipped at {place}": lambda place=place: flip(place) for place in places if place >= 0}


@pytest.mark.slow
def test_whatever_happens_to_a_file_of_the_index_the_next_search_answers(vault: Path, settings: Config) -> None:
    for number in range(40):
        write(vault, f"s/{number:03d}.md", f"alpha n{number} common words " + "more " * number)
    index.update(settings)
    (vault / "s" / "000.md").unlink()
    write(vault, "s/001.md", "alpha zebra")
    index.update(settings)
    folder = Path(settings.index_dir)
    whole = {file.name: file.read_bytes() for file in folder.iterdir()}
    wanted = found(settings, "alpha zebra", limit=100)
    assert len(wanted) == 39

    for name in whole:
        for what, damage in _damages(folder / name).items():
            damage()
            assert found(settings, "alpha zebra", limit=100) == wanted, f"{name} {what}"
            for file in folder.iterdir():
                file.rmdir() if file.is_dir() else file.unlink()
            for other, data in whole.items():
                (folder / other).write_bytes(data)


@pytest.mark.slow
def test_a_flip_that_leaves_no_trace_ends_no_search(vault: Path, settings: Config) -> None:
    for number in range(30):
        write(vault, f"s/{number:03d}.md", f"---\ntags: [a]\n---\nalpha n{number} common words " + "more " * number)
    index.update(settings)
    chance = random.Random(1)
    for name in (".rows", ".terms"):
        for _ in range(25 if "MDMEM_SOAK" in os.environ else 10):
            file = max(Path(settings.index_dir).glob(f"*{name}"), key=lambda one: one.stat().st_size)
            stamp, data = file.stat(), bytearray(file.read_bytes())
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            other = file.with_suffix(".flipped")
            other.write_bytes(data)
            os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            os.replace(other, file)

            assert engine.search(settings, "alpha tag:a", engine.SearchOptions(limit=100)).total > 0
            assert answering.answers(settings, "alpha common words", answering.Asker()) != ()
            index.verify(settings)
            assert len(found(settings, "alpha tag:a", limit=100)) == 30


def test_a_damaged_index_is_reported(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    index.update(settings)
    (Path(settings.index_dir) / contents.NAME).write_bytes(b"nonsense")

    result = engine.search(settings, "alpha")

    assert result.total == 1
    assert "Rebuilt the index: its table of contents is damaged" in result.hints[0]


def _many_days(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write thirty notes, and have a vault of more than twenty taken for a large one."""
    for number in range(30):
        write(
            vault, f"journal/app/2026-09-{number + 1:02d}/0800-a/001-000-prompt-a-{number:010d}.md", f"alpha n{number}"
        )
    write(vault, "notes/own.md", "beta")
    monkeypatch.setattr(freshness, "MOST_AT_ONCE", 20)
    monkeypatch.setattr(catchup, "FIRST_NOTES", 5)


def _started(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """The vaults for which a process in the background is started from now on; none is."""
    started: list[Config] = []

    def start(settings: Config) -> bool:
        started.append(settings)
        return True

    monkeypatch.setattr(completion, "finish", start)
    return started


def test_nobody_waits_for_the_index_of_a_large_vault(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    _many_days(vault, monkeypatch)
    started = _started(monkeypatch)

    result = engine.search(settings, "alpha")

    assert {hit.path.split("/")[2] for hit in result.hits} == {f"2026-09-{day}" for day in range(26, 31)}
    assert "being built in the background: 5 notes" in result.hints[0]
    assert started == [settings]
    index.update(settings)
    again = engine.search(settings, "alpha")
    assert (again.total, again.hints) == (30, ())


def test_nobody_is_told_of_a_process_that_could_not_be_started(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    _many_days(vault, monkeypatch)
    monkeypatch.setattr(completion, "run", lambda *_: False)

    said = engine.search(settings, "alpha").hints[0]

    assert said.startswith("The index is incomplete: 5 notes are in it so far")
    assert said.endswith("`mdmem index` completes it.")


@pytest.mark.parametrize("words", [("about", "alpha"), ("todo",), ("decisions",), ("fixes",), ("proposals",)])
def test_nobody_waits_for_what_is_learned_from_a_large_vault(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    _many_days(vault, monkeypatch)
    monkeypatch.setattr(completion, "finish", lambda _: True)

    done = click.testing.CliRunner().invoke(cli, ["--vault", settings.vault, *words])

    assert done.exit_code == 0
    assert "being built in the background: 5 notes" in done.stderr


def test_an_index_of_another_version_is_rebuilt_in_the_background_where_the_vault_is_large(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    _many_days(vault, monkeypatch)
    with monkeypatch.context() as earlier:
        earlier.setattr(contents, "STAMP", "mdmem 0.0.0")
        index.update(settings)
    monkeypatch.setattr(completion, "finish", lambda _: True)

    assert engine.search(settings, "alpha").total == 5
    assert engine.search(settings, "unknown").total == 0
    view = index.current(settings)
    assert view is not None
    assert view.live == 5


def _segments_by_month(vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Index a large vault in three segments; return the dictionary of each, by the month of its notes."""
    monkeypatch.setattr(freshness, "MOST_AT_ONCE", 20)
    monkeypatch.setattr(catchup, "FIRST_NOTES", 5)
    folder, of_month = Path(settings.index_dir), {}
    for month in ("07", "08", "09"):
        for number in range(10):
            day = f"journal/app/2026-{month}-{number + 1:02d}"
            text = f"---\nid: {month}{number:08d}\n---\nalpha n{month}{number}"
            write(vault, f"{day}/0800-a/001-000-prompt-a-{month}{number:08d}.md", text)
        before = {*folder.glob("*.terms")}
        index.update(settings)
        (of_month[month],) = {*folder.glob("*.terms")} - before
    assert len({*folder.glob("*.terms")}) == 3
    return of_month


def _damage_unseen(file: Path) -> None:
    stamp = file.stat()
    file.write_bytes(bytes(byte ^ 0x55 for byte in file.read_bytes()))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


_DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "flipped": lambda file: file.write_bytes(b"\xff" + file.read_bytes()[1:]),
    "flipped without a trace": _damage_unseen,
}


@pytest.mark.parametrize("damage", _DAMAGES.values(), ids=_DAMAGES)
def test_of_a_large_damaged_index_the_rest_answers_at_once_and_says_so(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], object]
) -> None:
    of_month = _segments_by_month(vault, settings, monkeypatch)
    started = _started(monkeypatch)

    damage(of_month["08"])
    result = engine.search(settings, "alpha", engine.SearchOptions(limit=100))

    assert sorted({hit.path[12:19] for hit in result.hits}) == ["2026-07", "2026-09"]
    assert result.total == 20
    assert len([one for one in result.hints if "rebuilt in the background, since" in one and "20 notes" in one]) == 1
    assert started == [settings]
    index.update(settings)
    assert {of_month["07"], of_month["09"]} < {*Path(settings.index_dir).glob("*.terms")}, "whole segments are kept"
    again = engine.search(settings, "alpha", engine.SearchOptions(limit=100))
    assert (again.total, again.hints) == (30, ())


@pytest.mark.parametrize("damage", _DAMAGES.values(), ids=_DAMAGES)
@pytest.mark.parametrize("words", [("list",), ("about", "alpha"), ("search", "alpha"), ("stats",)])
def test_no_command_hides_that_a_large_index_was_damaged(
    vault: Path,
    settings: Config,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], object],
    words: tuple[str, ...],
) -> None:
    of_month = _segments_by_month(vault, settings, monkeypatch)
    monkeypatch.setattr(completion, "finish", lambda _: True)
    for file in of_month.values():
        damage(file)
        damage_rows = file.with_suffix(".rows")
        damage(damage_rows)

    done = click.testing.CliRunner().invoke(cli, ["--vault", settings.vault, *words])

    assert done.exit_code == 0
    assert done.stderr.count("rebuilt in the background, since") == 1


@pytest.mark.parametrize("damage", _DAMAGES.values(), ids=_DAMAGES)
def test_a_note_of_a_large_vault_is_shown_though_its_part_of_the_index_is_damaged(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], object]
) -> None:
    of_month = _segments_by_month(vault, settings, monkeypatch)
    monkeypatch.setattr(catchup, "MOST_AT_ONCE", 20)
    monkeypatch.setattr(completion, "finish", lambda _: True)

    damage(of_month["08"])

    assert index.resolve(settings, "mem:0800000003").startswith("journal/app/2026-08-04/")


def test_a_reader_that_fails_on_whole_files_has_the_index_rebuilt_once(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    index.update(settings)
    before = index.current(settings)
    views: list[object] = []

    def answer(view: View) -> int:
        views.append(view)
        if view is before:
            raise ValueError("a reader's mistake")
        return view.live

    assert freshness.answered(settings, answer) == 1
    assert len(views) == 2
    assert "a reader's mistake" in freshness.untold(settings)[0]
    assert freshness.untold(settings) == ()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RecursionError(),
        OSError(errno.EMFILE, "too many open files"),
        ModuleNotFoundError("a module that an upgrade has just removed"),
        SyntaxError("a module that an upgrade has half written"),
        NameError("a module of the new version in a process of the old one"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_a_process_lacks_for_a_moment_throws_no_index_away(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    write(vault, "a.md", "alpha")
    index.update(settings)

    def parts() -> dict[Path, int]:  # a look at the folders may be recorded anew
        of_index = [path for path in Path(settings.index_dir).iterdir() if path.name != contents.FOLDERS]
        return {path: path.stat().st_ino for path in of_index}

    before = parts()
    raised = [error]

    def answer(view: View) -> int:
        if raised:
            raise raised.pop()
        return view.live

    assert freshness.answered(settings, answer) == 1
    assert freshness.untold(settings) == ()

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "too many open files")

    raised.append(error)
    with monkeypatch.context() as patch:
        patch.setattr("mdmem.search.index.store._open_file", refused)
        assert freshness.answered(settings, answer) == 1
    assert parts().items() >= before.items()


@pytest.mark.slow
def test_the_index_of_a_large_vault_is_finished_by_a_process_in_the_background(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    _many_days(vault, monkeypatch)

    assert engine.search(settings, "alpha").total == 5

    until(lambda: not completion.is_running(settings), "the end of the process")
    assert engine.search(settings, "alpha").total == 30


@pytest.mark.parametrize("asked", ["handl*", '"alpha handler"'])
def test_of_very_many_notes_the_newest_are_read_for_a_text_and_older_ones_on_request(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    for day in range(1, 10):
        write(vault, f"{day}.md", f"---\ncreated: 2026-09-0{day}T08:00:00Z\n---\nalpha handler n{day}")
    monkeypatch.setattr(select, "MAX_READ", 3)

    newest = engine.search(settings, asked)
    older = engine.search(settings, f"{asked} until:2026-09-03")

    assert sorted(hit.path for hit in newest.hits) == ["7.md", "8.md", "9.md"]
    hint = f"Only the newest 3 notes that may have {asked} were read. `until:DAY` looks at older ones."
    assert newest.hints == (hint,)
    assert sorted(hit.path for hit in older.hits) == ["1.md", "2.md", "3.md"]
    assert older.hints == ()


def test_settings_are_not_read_for_each_note_that_is_indexed(vault: Path, settings: Config) -> None:
    read = []
    for start, end in ((0, 1), (1, 3), (3, 13)):
        for number in range(start, end):
            write(vault, f"{number}.md", f"alpha handler n{number}")
        read.append(calls(partial(freshness.bring_up_to_date, settings), of=config.load.__code__))

    assert read[1] == read[2] > 0
    assert len(engine.search(settings, "handler", engine.SearchOptions(limit=20)).hits) == 13


@pytest.mark.parametrize("asked", ["handl*", '"alpha handler"'])
def test_a_page_that_also_counts_what_it_finds_reads_the_files_once(vault: Path, settings: Config, asked: str) -> None:
    for number in range(30):
        write(vault, f"{number}.md", f"alpha handler n{number}")
    engine.search(settings, asked)
    view, parsed = index.opened(settings), query.parse(asked)
    assert view is not None
    found = select.allowed(view, str(vault), parsed)
    assert found is not None and len(found) == 30

    assert calls(partial(select.allowed, view, str(vault), parsed, as_read=True)) < 30

    write(vault, "0.md", "alpha, and no more")
    assert engine.search(settings, asked).total == 29


def test_a_note_of_which_the_index_has_not_heard_yet_is_searched_as_it_is(vault: Path, settings: Config) -> None:
    write(vault, "as-it-was.md", "alpha handler")
    write(vault, "edited.md", "alpha and its handler")
    engine.search(settings, '"alpha handler"')
    view, parsed = index.opened(settings), query.parse('"alpha handler"')
    assert view is not None
    before = select.allowed(view, str(vault), parsed)
    assert before is not None

    write(vault, "edited.md", "alpha handler, at last")

    after = select.allowed(view, str(vault), parsed)
    assert after is not None and len(after) == len(before) + 1
    assert select.allowed(view, str(vault), query.parse("handl*"), as_read=True) == after


def test_a_share_of_the_notes_is_looked_at_across_segments(vault: Path, settings: Config) -> None:
    for part in range(3):
        for number in range(60):
            write(vault, f"{part}/{number}.md", f"alpha n{number}")
        index.update(settings, paths=[str(part)])
    view = index.current(settings)
    assert view is not None
    assert len(view.leaves) == 3
    assert view.stamps(40, 110) == [view.stamp(note) for note in range(40, 110)]

    touched = [view.path(note) for note in (30, 50, 105)]
    for path in touched:
        write(vault, path, "beta in place")

    changed = scan.at_notes(settings.vault, view, range(40, 110))
    assert [entry.path for entry in changed.files] == touched[1:]


def test_a_file_that_is_cut_short_under_a_reader_is_damage_and_no_crash(vault: Path, settings: Config) -> None:
    for number in range(50):
        write(vault, f"{number}.md", f"alpha n{number}")
    index.update(settings)
    view = index.current(settings)
    assert view is not None
    for file in Path(settings.index_dir).glob("*.terms"):
        os.truncate(file, 10)

    with pytest.raises(index.DamagedError):
        view.notes("body", "alpha")

    assert engine.search(settings, "alpha").total == 50


def test_sessions_are_counted_without_those_whose_notes_are_gone(vault: Path, settings: Config) -> None:
    for number in range(6):
        write(vault, f"{number}.md", f"---\nkind: prompt\nsession: S{number // 2}\n---\nalpha\n")
    index.update(settings)
    for name in ("0.md", "2.md", "3.md"):
        (vault / name).unlink()

    assert figures.count(settings, Query())["sessions"] == 2


def test_figures_are_those_of_a_new_index_when_pages_and_notes_were_written_again(
    vault: Path, settings: Config
) -> None:
    kinds = ("session", "day", "prompt", "note", "session")
    for number in range(40):
        kept_out = f"private: {number}\n" if number % 3 == 0 else "redacted: 1\n" if number % 5 == 0 else ""
        write(vault, f"{number}.md", f"---\nkind: {kinds[number % 5]}\nsession: S{number}\n{kept_out}---\nalpha\n")
    index.update(settings)
    for number in range(0, 40, 4):
        write(vault, f"{number}.md", f"---\nkind: {kinds[number % 5]}\nsession: S{number}\nprivate: 7\n---\nbeta\n")
    (vault / "3.md").unlink()

    index.update(settings)
    view = index.current(settings)
    assert view is not None
    assert len(view.deleted) == 11
    found = figures.count(settings, Query())
    catchup.rebuild(settings)

    anew = figures.count(settings, Query())
    assert {**found, "storage": 0} == {**anew, "storage": 0}


def test_an_index_of_another_version_is_rebuilt(vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "a.md", "alpha")
    with monkeypatch.context() as earlier:
        earlier.setattr(contents, "STAMP", "mdmem 0.0.0")
        index.update(settings)

    result = engine.search(settings, "alpha")

    assert [hit.path for hit in result.hits] == ["a.md"]
    assert result.changes.reason == "it was made by another version of mdmem"


@pytest.mark.parametrize("stamp", [b"nonsense", None], ids=["damaged", "another version"])
def test_a_note_is_found_by_its_id_though_the_index_must_be_rebuilt(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch, stamp: bytes | None
) -> None:
    write(vault, "a.md", "---\nid: 7gk2q9m4x1\n---\nalpha\n")
    with monkeypatch.context() as earlier:
        earlier.setattr(contents, "STAMP", "mdmem 0.0.0")
        index.update(settings)
    if stamp is not None:
        (Path(settings.index_dir) / contents.NAME).write_bytes(stamp)

    assert index.resolve(settings, "mem:7gk2q9m4x1") == "a.md"


def test_a_flip_that_nobody_noticed_is_found_by_verify_and_repaired(vault: Path, settings: Config) -> None:
    for number in range(20):
        write(vault, f"{number}.md", f"alpha n{number}")
    index.update(settings)
    (terms,) = Path(settings.index_dir).glob("*.terms")
    stamp = terms.stat()
    data = bytearray(terms.read_bytes())
    data[0] ^= 0xFF
    terms.write_bytes(data)
    os.utime(terms, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    assert "changed after it was written" in index.verify(settings).damage
    assert index.verify(settings).agrees
    assert len(found(settings, "alpha", limit=100)) == 20


def test_verify_sees_an_index_that_differs_from_the_vault(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    file = write(vault, "b.md", "beta")
    index.update(settings)
    stamp = file.stat()
    entry = WalkedFile("b.md", stamp.st_mtime_ns, stamp.st_size, stamp.st_ino)
    with writer.locked(settings.index_dir, 1), writer.change(settings.index_dir) as batch:
        batch.remove(batch.view.find("b.md") or 0)
        batch.add(document.build(str(vault), entry, b"not what is in the file", mtime_ns=entry.mtime_ns))

    report = index.verify(settings)

    assert (report.notes, report.stale, report.agrees) == (2, ["b.md"], False)
    assert index.verify(settings).agrees
    assert known(settings, "beta") == ["b.md"]


@pytest.mark.parametrize("placeholder", [".plan.md.icloud", "plan.md.nextcloud"])
def test_a_note_that_a_sync_program_keeps_elsewhere_is_still_found_and_its_absence_explained(
    vault: Path, settings: Config, placeholder: str
) -> None:
    file = write(vault, "notes/plan.md", "---\nid: 7m2x4kd9qp\n---\n\nzebras graze at dawn")
    write(vault, "notes/other.md", "zebras sleep")
    index.update(settings)
    file.rename(file.with_name(placeholder))
    (vault / "notes/other.md").unlink()

    assert found(settings, "zebras") == ["notes/plan.md"]
    assert index.verify(settings).agrees
    for name in ("7m2x4kd9qp", "plan"):
        with pytest.raises(
            NotFoundError, match=r"notes/plan\.md is not on this machine, but a sync program has a copy"
        ):
            index.resolve(settings, name)
    file.with_name(placeholder).unlink()
    assert found(settings, "zebras") == []


def test_a_note_that_a_sync_program_keeps_elsewhere_takes_no_place_among_answers(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "POOL", 3)
    files = [write(vault, f"notes/{n}.md", f"---\nid: 7m2x4kd9q{n}\n---\n\nzebras graze at dawn") for n in range(3)]
    write(vault, "notes/here.md", "some zebras of the eastern plain rarely graze in the morning or at dusk, but dawn")
    index.update(settings)
    for file in files:
        file.rename(file.with_name(f".{file.name}.icloud"))

    (answer,) = answering.answers(settings, "zebras graze dawn", answering.Asker(), limit=1)

    assert answer.hits[0].path == "notes/here.md"


def test_an_index_in_a_folder_that_others_can_write_is_not_believed(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    index.update(settings)
    folder = Path(settings.index_dir)
    (folder / "theirs").write_text("x")
    (folder / "folder" / "theirs").mkdir(parents=True)
    folder.chmod(0o777)

    result = engine.search(settings, "alpha")

    assert result.total == 1
    assert "others can write in its folder" in result.hints[0]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not (folder / "theirs").exists()
    assert not (folder / "folder").exists()


def test_an_index_is_never_kept_behind_a_link(vault: Path, settings: Config, tmp_path: Path) -> None:
    write(vault, "a.md", "alpha")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path(settings.index_dir).parent.mkdir(parents=True)
    Path(settings.index_dir).symlink_to(elsewhere)

    with pytest.raises(ConfigError, match="not owned by you"):
        index.update(settings)
    assert list(elsewhere.iterdir()) == []


# -- what is counted, and in which order -------------------------------------------------------------


def test_the_counts_of_an_index_are_those_of_its_notes_after_changes_and_removals(
    vault: Path, settings: Config
) -> None:
    runs = [
        write(vault, f"journal/p/{n}.md", f"---\nkind: observation\ntool: Edit\nfiles: [a{n % 2}.py]\n---\n\n{n}\n")
        for n in range(6)
    ]
    index.update(settings)
    runs[0].unlink()
    runs[1].write_text("---\nkind: prompt\nprivate: 2\n---\n\nWhy?\n")
    write(vault, "internal/x.md", "kept for itself")
    index.update(settings)
    view = index.current(settings)
    assert view is not None

    counts = view.counts()

    assert counts.kinds == {"observation": 4, "prompt": 1}
    assert counts.files == {"a0.py": 2, "a1.py": 2}
    assert counts.sums["private"] == 2
    assert counts == view.counts([note for note in view.all if not view.path(note).startswith("internal/")])
    assert view.bytes() == sum(path.stat().st_size for path in vault.rglob("*.md"))


def test_notes_come_newest_first_across_segments_and_are_found_by_their_time(vault: Path, settings: Config) -> None:
    for n in (3, 1, 5):
        write(vault, f"{n}.md", f"---\ncreated: 2026-09-0{n}T08:00:00Z\n---\n\nalpha\n")
        index.update(settings)
    for n in (2, 4):
        write(vault, f"{n}.md", f"---\ncreated: 2026-09-0{n}T08:00:00Z\n---\n\nalpha\n")
    index.update(settings)
    view = index.current(settings)
    assert view is not None

    assert [view.path(note) for note in view.newest()] == ["5.md", "4.md", "3.md", "2.md", "1.md"]
    created = view.numbers("created")
    second, fourth = (created[note] for name in ("2.md", "4.md") if (note := view.find(name)) is not None)
    assert {view.path(note) for note in view.between(second, fourth)} == {"2.md", "3.md"}


# -- two processes -----------------------------------------------------------------------------------


@pytest.fixture
def shared(vault: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return notes whose index two processes make, in many segments."""
    monkeypatch.setattr(catchup, "MANY_NOTES", 10)
    monkeypatch.setattr(builder, "MOST", 5)
    monkeypatch.setattr(builder, "LEAST", 5)
    monkeypatch.setattr(builder, "cores", lambda: 2)
    return [write(vault, f"s/{number}.md", f"alpha {chr(97 + number % 26) * 9}") for number in range(40)]


@pytest.mark.slow
def test_two_processes_make_the_index_that_one_makes(vault: Path, settings: Config, shared: list[Path]) -> None:
    assert index.update(settings).added == len(shared)

    _assert_agrees(settings)
    assert known(settings, "ooooooooo") == ["s/14.md"]
    assert not [name for name in os.listdir(settings.index_dir) if name.startswith("part-")]


@pytest.mark.parametrize("python", [shutil.which("false"), "/nowhere/python"])
def test_an_index_is_made_all_the_same_when_the_second_process_fails(
    settings: Config, shared: list[Path], python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", python)

    assert index.update(settings).added == len(shared)
    _assert_agrees(settings)
    assert not [name for name in os.listdir(settings.index_dir) if name.startswith("part-")]


def test_no_note_is_left_out_where_memory_runs_out_while_the_second_process_is_fed(
    settings: Config, shared: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(self: builder.SecondProcess, value: object) -> None:
        if isinstance(value, list):
            raise MemoryError
        real(self, value)

    real = builder.SecondProcess._send
    monkeypatch.setattr(builder.SecondProcess, "_send", send)

    assert index.update(settings).added == len(shared)
    _assert_agrees(settings)


def test_a_segment_gets_fewer_notes_where_they_are_long(
    settings: Config, shared: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "cores", lambda: 1)
    monkeypatch.setattr(builder, "MOST_BYTES", 2 * shared[0].stat().st_size)

    assert index.update(settings).added == len(shared)
    view = index.current(settings)
    assert view is not None
    assert {len(leaf.table) for leaf in view.leaves} == {2}
    _assert_agrees(settings)


def test_the_last_segments_of_a_build_are_smaller(
    settings: Config, shared: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "cores", lambda: 1)
    monkeypatch.setattr(builder, "LEAST", 2)

    assert index.update(settings).added == len(shared)
    view = index.current(settings)
    assert view is not None
    assert [len(leaf.table) for leaf in view.leaves] == [*[5] * 7, 3, 2]
    _assert_agrees(settings)


@pytest.mark.parametrize("cores", [2, 64])
def test_the_last_segments_of_a_build_share_the_notes_equally_between_two_processes(
    settings: Config, shared: list[Path], cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "cores", lambda: cores)
    monkeypatch.setattr(builder, "MOST", 20)
    monkeypatch.setattr(builder, "LEAST", 13)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # this process makes them all, one after the other

    assert index.update(settings).added == len(shared)
    view = index.current(settings)
    assert view is not None
    assert [len(leaf.table) for leaf in view.leaves] == [10] * 4
    _assert_agrees(settings)


def test_segments_are_joined_while_others_are_made(
    settings: Config, shared: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "cores", lambda: 1)
    monkeypatch.setattr(builder, "MOST", 2)
    monkeypatch.setattr(builder, "LEAST", 2)
    monkeypatch.setattr(tiers, "LEAST_JOINED", 8)

    def stop(done: int, total: int) -> None:
        if done == 38:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.update(settings, progress=stop)

    view = store.open_view(settings.index_dir, verify=True)
    assert view is not None and view.live == 36
    assert len(view.leaves) <= tiers.MAX_SEGMENTS
    assert index.update(settings).added == len(shared) - 36
    _assert_agrees(settings)


def test_an_interrupted_build_continues_where_it_stopped(
    settings: Config, shared: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "cores", lambda: 1)

    def stop(done: int, total: int) -> None:
        if done == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.update(settings, progress=stop)

    assert index.update(settings).added == len(shared) - 10
    _assert_agrees(settings)


@pytest.mark.slow
def test_an_index_of_many_segments_answers_as_one_of_a_single_segment_does(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(3)
    known_words = ["".join(chance.choices("bdfgklmnprst", k=6)) for _ in range(60)]
    for number in range(60):
        text = " ".join(chance.choices(known_words, range(60, 0, -1), k=chance.randint(5, 40)))
        write(
            vault, f"journal/p{number % 3}/2026-09-1{number % 7}/0800-a-s{number % 5}/00{number % 9}-{number}.md", text
        )
    questions = [" ".join(chance.choices(known_words, k=3)) for _ in range(8)]

    def answers() -> list[list[tuple[str, float]]]:
        options = engine.SearchOptions(now=datetime(2026, 10, 1, tzinfo=UTC))
        return [[(hit.path, hit.score) for hit in engine.search(settings, one, options).hits] for one in questions]

    index.update(settings)
    one = answers()
    monkeypatch.setattr(catchup, "MANY_NOTES", 10)
    monkeypatch.setattr(builder, "MOST", 7)
    monkeypatch.setattr(builder, "LEAST", 7)
    monkeypatch.setattr(builder, "cores", lambda: 1)
    index.rebuild(settings)
    view = index.current(settings)

    assert view is not None
    assert len(view.leaves) > 8
    for got, wanted in zip(answers(), one, strict=True):
        assert [path for path, _ in got] == [path for path, _ in wanted]
        assert [score for _, score in got] == pytest.approx([score for _, score in wanted])


@pytest.mark.slow
def test_notes_that_another_process_indexed_meanwhile_are_not_indexed_again(
    settings: Config, shared: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = writer.locked

    def after_another(folder: str, wait_seconds: float) -> AbstractContextManager[None]:
        monkeypatch.setattr(writer, "locked", alone)
        assert index.update(settings).added == len(shared)
        return alone(folder, wait_seconds)

    monkeypatch.setattr(writer, "locked", after_another)

    assert index.update(settings) == index.Changes()
    assert index.verify(settings, repair=False).agrees


@pytest.mark.slow
def test_a_large_change_of_the_vault_is_indexed_while_it_is_walked(
    vault: Path, settings: Config, shared: list[Path]
) -> None:
    index.update(settings)
    for number in range(15):
        write(vault, f"s/{number}.md", "beta")
    for file in shared[15:30]:
        file.unlink()
    for number in range(15):
        write(vault, f"t/{number}.md", "gamma")

    made = index.update(settings)

    assert (made.added, made.changed, made.removed) == (15, 15, 15)
    _assert_agrees(settings)


# -- several at once ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_writer_waits_and_then_says_who_is_in_the_way(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "a.md", "alpha")
    index.update(settings)
    write(vault, "b.md", "alpha beta")
    monkeypatch.setattr(freshness, "WAIT_SECONDS", 3600)  # for nothing but the first index
    with writer.locked(settings.index_dir, 1), writer.change(settings.index_dir):
        with pytest.raises(BusyError, match="Another process is writing"):
            index.update(settings, wait_seconds=0.05)
        result = engine.search(settings, "alpha")  # waits, in vain, and holds the newest notes in memory
        assert ({hit.path for hit in result.hits}, result.hints) == ({"a.md", "b.md"}, ())
        for number in range(pending.MAX_NOTES):
            write(vault, f"c/{number}.md", "beta")
        result = engine.search(settings, "alpha")  # or answers from what there is
        assert [hit.path for hit in result.hits] == ["a.md"]
        assert "newest notes may be missing" in result.hints[0]
    assert found(settings, "alpha") == ["a.md", "b.md"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no folder for caches in that variable")
def test_an_index_that_cannot_be_written_is_told_with_the_cause_and_the_place(
    vault: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "a.md", "alpha")
    (home / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))

    _, (said,) = freshness.bring_up_to_date(config.load(str(vault)))

    assert said.startswith(f"The index cannot be written (Not a directory: {home / 'file'}")
    assert said.endswith("): newest notes may be missing.")


def test_what_fails_halfway_leaves_the_index_as_it_was(vault: Path, settings: Config) -> None:
    write(vault, "a.md", "alpha")
    index.update(settings)

    alone = writer.locked(settings.index_dir, 1)
    with pytest.raises(RuntimeError, match="halfway"), alone, writer.change(settings.index_dir) as batch:
        batch.remove(0)
        raise RuntimeError("halfway")

    assert known(settings, "alpha") == ["a.md"]


@pytest.mark.slow
def test_writers_at_once_lose_and_double_nothing(vault: Path, settings: Config) -> None:
    code = (
        "import sys; from mdmem import config; from mdmem.search import index;"
        "[index.update(config.load(sys.argv[1])) for _ in range(5)]"
    )
    for number in range(60):
        write(vault, f"s/{number:03d}.md", f"alpha n{number}")
    writers = [subprocess.Popen([sys.executable, "-c", code, str(vault)]) for _ in range(4)]
    for number in range(60, 120):
        write(vault, f"s/{number:03d}.md", f"alpha n{number}")
    assert [process.wait(240) for process in writers] == [0, 0, 0, 0]

    index.update(settings)
    _assert_agrees(settings)
    view = index.current(settings)
    assert view is not None and view.live == 120


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_an_index_that_opens(vault: Path, settings: Config) -> None:
    for number in range(300):
        write(vault, f"{number}.md", f"alpha n{number} " + "words " * 50)
    code = (
        "import sys; from mdmem import config; from mdmem.search import index; index.rebuild(config.load(sys.argv[1]))"
    )
    for wait in (0.15, 0.25, 0.35):
        process = subprocess.Popen([sys.executable, "-c", code, str(vault)])
        time.sleep(wait)  # anywhere in the middle
        process.send_signal(signal.SIGKILL)
        process.wait()

        assert len(found(settings, "alpha", limit=1000)) == 300

    index.update(settings, paths=["0.md"])
    names = {file.name for file in Path(settings.index_dir).iterdir()}
    assert len(names) <= 5, names


@pytest.mark.slow
def test_readers_never_fail_and_never_see_a_stale_or_doubled_note_while_a_writer_changes_everything(
    vault: Path, settings: Config
) -> None:
    seconds = SOAK_SECONDS
    for number in range(30):
        write(vault, f"s/{number:03d}.md", "alpha v0 always")
    index.update(settings)
    code = """
import sys, time
from mdmem import config
from mdmem.search import engine as search
settings = config.load(sys.argv[1])
end = time.monotonic() + float(sys.argv[2])
rounds = 0
while time.monotonic() < end or rounds < 4:  # four, however busy the machine is
    result = search.search(settings, "alpha", search.SearchOptions(limit=1000, update=rounds % 7 == 0, collapse=False))
    paths = [hit.path for hit in result.hits]
    assert len(paths) == len(set(paths)), "doubled"
    assert {f"s/{n:03d}.md" for n in range(20)} <= set(paths), "missing"
    versions = [hit.snippet for hit in result.hits if "extra" not in hit.path]
    assert all(text.startswith("alpha v") for text in versions), versions
    rounds += 1
"""
    readers = [
        subprocess.Popen([sys.executable, "-c", code, str(vault), str(seconds)], stderr=subprocess.PIPE, text=True)
        for _ in range(8 if seconds > 5 else 3)
    ]
    chance = random.Random(1)
    end = time.monotonic() + seconds
    version = 0
    while time.monotonic() < end:
        version += 1
        changed = [f"s/{chance.randrange(30):03d}.md" for _ in range(chance.choice([1, 1, 3, 10]))]
        for path in changed:  # as an editor saves: no reader sees half a file
            os.replace(write(vault, ".saving", f"alpha v{version} always"), vault / path)
        extra = write(vault, f"s/extra-{version}.md", f"alpha extra {version}")
        index.update(settings, paths=[*changed, f"s/extra-{version}.md"])
        if version % 3 == 0:
            extra.unlink()
            index.update(settings, paths=[f"s/extra-{version}.md"])

    for reader in readers:
        _, said = reader.communicate(timeout=240)
        assert reader.returncode == 0, said
    view = index.current(settings)
    assert view is not None and len(view.leaves) <= tiers.MAX_SEGMENTS
    assert index.verify(settings, repair=False).agrees
    index.update(settings)  # a file that was saved while it was being read is looked at once more
    _assert_agrees(settings)


# -- why readers are opened anew ---------------------------------------------------------------------


def test_whooshs_refresh_brings_deleted_notes_back_and_is_not_used(
    vault: Path, settings: Config, tmp_path: Path
) -> None:
    from whoosh import fields, query
    from whoosh import index as whoosh_index

    schema = fields.Schema(id=fields.ID(unique=True, stored=True), text=fields.TEXT)
    (tmp_path / "whoosh").mkdir()
    theirs = whoosh_index.create_in(tmp_path / "whoosh", schema)
    for name in ("a", "b", "c"):
        with theirs.writer() as out:
            out.add_document(id=name, text="alpha")
    searcher = theirs.searcher()
    out = theirs.writer()
    out.delete_by_term("id", "a")
    out.commit(optimize=True)
    refreshed = searcher.refresh().search(query.Term("text", "alpha"))
    assert sorted(hit["id"] for hit in refreshed) != ["b", "c"], "mended in Whoosh: readers could be refreshed"

    for name in ("a", "b", "c"):
        write(vault, f"{name}.md", "alpha")
        index.update(settings)
    assert known(settings, "alpha") == ["a.md", "b.md", "c.md"]
    (vault / "a.md").unlink()
    index.update(settings)
    assert known(settings, "alpha") == ["b.md", "c.md"]


def test_reading_the_index_loads_no_whoosh_and_the_names_it_was_lent_are_given_back(vault: Path) -> None:
    write(vault, "a.md", "alpha")
    code = (
        "import sys; from mdmem import config; from mdmem.search import engine as search;"
        "settings = config.load(sys.argv[1]); how = search.SearchOptions(update=sys.argv[2] == 'write');"
        "print(len(search.search(settings, 'alpha', how).hits), *sys.modules)"
    )
    wrote = subprocess.run(
        [sys.executable, "-c", code, str(vault), "write"], capture_output=True, text=True, check=True
    )
    read = subprocess.run([sys.executable, "-c", code, str(vault), "read"], capture_output=True, text=True, check=True)

    count, *modules = wrote.stdout.split()
    assert count == "1" and "whoosh.writing" in modules
    assert {"asyncio", "cached_property", "urllib.request"}.isdisjoint(modules)
    count, *modules = read.stdout.split()
    assert count == "1" and "whoosh" not in modules


# -- its parts ---------------------------------------------------------------------------------------


@given(st.dictionaries(st.integers(0, 100_000), st.integers(1, 300), min_size=1, max_size=50))
def test_posting_lists_are_read_as_they_were_written(pairs: dict[int, int]) -> None:
    rows, weights = zip(*sorted(pairs.items()), strict=True)

    data = layout.encode_postings(rows, weights)
    read_rows, read_weights = layout.decode_postings(data)

    assert layout.count_postings(data[0], len(data)) == len(rows)
    assert list(read_rows) == list(rows)
    assert list(read_weights or b"\1" * len(rows)) == [min(weight, 255) for weight in weights]


@pytest.mark.parametrize("code", ["H", "I"])
@pytest.mark.parametrize("count", [1, dictionary._MANY_ROWS - 1, dictionary._MANY_ROWS, 9_000])
def test_many_rows_are_moved_as_one_by_one(code: Literal["H", "I"], count: int) -> None:
    rows = array("H", range(3, 3 + 3 * count, 3))

    assert list(dictionary.shifted(rows, 30_000, code)) == [30_000 + row for row in rows]
    assert list(dictionary.shifted(rows, 900_000)) == [900_000 + row for row in rows]


def test_of_a_dictionary_that_is_asked_for_every_term_few_blocks_stay_in_memory() -> None:
    terms = [f"t{number:06}" for number in range(dictionary.KEYS_PER_BLOCK * 4 * dictionary.BLOCKS_KEPT)]
    postings = layout.encode_postings([7], None)
    opened = dictionary.Dictionary(b"".join(dictionary.pack((layout.key("body", term), postings) for term in terms)))

    for term in terms[:: dictionary.KEYS_PER_BLOCK]:
        assert opened.count("body", term) == 1
        assert len(opened._blocks) <= dictionary.BLOCKS_KEPT
    assert opened.postings("body", terms[0]) == (array("H", [7]), None)


@given(st.dictionaries(st.text(max_size=8).map(lambda t: t.encode()), st.integers(1, 3), max_size=300))
def test_every_term_is_found_and_no_other(terms: dict[bytes, int]) -> None:
    items = sorted((b"b" + term, layout.encode_postings(range(count), [1] * count)) for term, count in terms.items())
    opened = dictionary.Dictionary(b"".join(dictionary.pack(items)))

    assert [key for key, _ in opened.packed()] == [key for key, _ in items]
    for term, count in terms.items():
        text = term.decode()
        assert opened.count("body", text) == count
        assert opened.count("title", text) == 0
        assert opened.count("body", text + "\0") == terms.get(text.encode() + b"\0", 0)
    for prefix in ("", "a", "é"):
        wanted = {term.decode(): count for term, count in terms.items() if term.startswith(prefix.encode())}
        assert dict(opened.starting_with("body", prefix)) == wanted
        ordered = sorted(wanted, key=str.encode)
        assert opened.keys("body", prefix, 3) == [b"b" + term.encode() for term in ordered[:3]]
        lists = opened.postings_of_many("body", prefix, lambda key: key.endswith(b"b"))
        assert [len(rows) for rows, _ in lists] == [wanted[term] for term in ordered if f"b{term}".endswith("b")]


@given(st.lists(st.integers(1, 3), min_size=1, max_size=400))
def test_segments_stay_few_whatever_the_history(sizes: list[int]) -> None:
    live: list[int] = [20_000]
    for size in sizes:
        chosen = tiers.to_merge(live, [0] * len(live))
        live = [count for i, count in enumerate(live) if i not in chosen] + [size + sum(live[i] for i in chosen)]
        assert len(live) <= tiers.MAX_SEGMENTS + 1
        assert 20_000 in live, "what is large is not rewritten in passing"


def test_a_segment_of_mostly_deleted_notes_is_written_again() -> None:
    assert tiers.to_merge([700, 50], [300, 0]) == [0]
    assert tiers.to_merge([900, 50], [100, 0]) == []
    assert tiers.to_merge([0, 50], [10, 0]) == [0]


@pytest.mark.parametrize("budget", [None, 60.0])
def test_where_many_folders_have_changed_each_change_is_found(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch, budget: float | None
) -> None:
    for name in "abc":
        write(vault, f"s{name}/old.md", "alpha before")
    index.update(settings)
    monkeypatch.setattr(catchup, "MANY_FOLDERS", 1)

    write(vault, "sa/new.md", "alpha new")
    (vault / "sb/old.md").unlink()
    write(vault, "sc/old.md", "alpha after and longer")
    write(vault, "sc/new.md", "alpha too")
    monkeypatch.setattr(scan, "in_changed_folders", None)  # no list is held of them
    assert index.glance(settings) is None
    index.update(settings, quick=True, budget_seconds=budget)

    assert sorted(known(settings, "alpha")) == ["sa/new.md", "sa/old.md", "sc/new.md", "sc/old.md"]
    assert known(settings, "before") == ["sa/old.md"]


def test_no_more_notes_are_written_again_at_once_than_are_held_in_memory() -> None:
    assert tiers.to_merge([0, 2000, 2000, 2000], [5000, 2000, 2000, 2000]) == [0, 1, 2]
    assert tiers.to_merge([1000] * 9, [0] * 9) == [0, 1, 2, 3]


def test_notes_keep_their_words_when_segments_are_put_together(vault: Path, settings: Config) -> None:
    for number in range(30):
        word = "word" + "abcdefghijklmnopqrstuvwxyzäöüß"[number]
        write(vault, f"s/{number:03d}.md", f"---\ntags: [t{number % 3}]\n---\nalpha {word} {word}")
        index.update(settings)
    view = index.current(settings)
    assert view is not None and len(view.leaves) <= tiers.MAX_SEGMENTS

    assert known(settings, "wordr") == ["s/017.md"]
    assert len(found(settings, "alpha tag:t1", limit=100)) == 10
    assert sum(times for _, weights in view.postings("body", "wordr") for times in weights or b"\1") == 2
    _assert_agrees(settings)


def test_what_segments_hold_is_not_in_memory_when_they_are_put_together(vault: Path, settings: Config) -> None:
    for number in range(tiers.MAX_SEGMENTS):
        for place in range(20):
            words = " ".join(f"w{chr(97 + number)}{chr(97 + place)}{word:x}q" for word in range(600))
            write(vault, f"s/{number}-{place}.md", words)
        index.update(settings)
    held = index.current(settings)
    write(vault, "s/new.md", "alpha")
    tracemalloc.start()
    try:
        index.update(settings, paths=["s/new.md"])
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()
    view = index.current(settings)
    assert held is not None and view is not None and len(view.leaves) < len(held.leaves)
    assert known(settings, "alpha") == ["s/new.md"]
    _assert_agrees(settings)


# -- names of notes ----------------------------------------------------------------------------------


def test_the_index_gives_the_path_of_an_id_only_where_it_is_sure_of_it(vault: Path, settings: Config) -> None:
    assert index.path_of_id(settings, "7gk2q9m4x1") == ""
    write(vault, "notes/one.md", "---\nid: 7gk2q9m4x1\n---\n\nalpha\n")
    write(vault, "notes/two.md", "---\nid: 7gk3aaaaaa\n---\n\nbeta\n")
    index.update(settings)

    assert index.path_of_id(settings, "[mem:7GK2q9m4x1]") == index.path_of_id(settings, "7gk2") == "notes/one.md"
    assert index.path_of_id(settings, "7gk") == index.path_of_id(settings, "zzzzzzzzzz") == ""
    (vault / "notes/one.md").rename(vault / "notes/moved.md")
    assert index.path_of_id(settings, "7gk2q9m4x1") == ""
    for file in Path(settings.index_dir).iterdir():
        file.write_bytes(b"damaged")
    assert index.path_of_id(settings, "7gk3aaaaaa") == ""


def test_a_note_is_named_by_id_prefix_citation_or_path(vault: Path, settings: Config) -> None:
    write(vault, "s/a.md", "---\nid: 7gk2q9m4x1\n---\nalpha")
    write(vault, "s/b.md", "---\nid: 7gk9999999\n---\nbeta")
    write(vault, "s/c d.md", "gamma")

    for reference in ("7gk2q9m4x1", "7GK2Q9M4X1", "7gk2", "mem:7gk2q9m4x1", "[mem:7gk2q9m4x1]", "s/a.md", "s/a"):
        assert index.resolve(settings, reference) == "s/a.md", reference
    assert index.resolve(settings, str(vault / "s" / "a.md")) == "s/a.md"
    assert index.resolve(settings, "s/c d.md") == "s/c d.md"
    with pytest.raises(NotFoundError, match="2 notes match '7gk'"):
        index.resolve(settings, "7gk")
    for reference in ("zzzzzz", "", "7", "../../etc/passwd", "/etc/hostname", "s"):
        with pytest.raises(NotFoundError, match="No note has the id or path"):
            index.resolve(settings, reference)
    with pytest.raises(NotFoundError, match="Give at least 3 characters of an id"):
        index.resolve(settings, "7g")


def _assert_agrees(settings: Config) -> None:
    assert in_step(settings)
    assert index.verify(settings, repair=False).agrees


def _wait_for_the_clock(vault: Path) -> None:
    """Make the vault's folders old enough for their times to be relied on."""
    for folder in (vault, *(path for path in vault.rglob("*") if path.is_dir())):
        os.utime(folder, ns=(10**18 + 1, 10**18 + 1))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only /proc tells what is open")
def test_a_process_that_reads_many_vaults_keeps_few_files_open(tmp_path: Path, home: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "mdmem.toml").touch()
        (folder / "a.md").write_text("We chose the zeppelin.\n")
        settings = config.load(str(folder))
        index.update(settings)
        assert index.current(settings) is not None

    assert len(os.listdir("/proc/self/fd")) - before < 20


def test_an_index_that_was_read_is_out_of_memory_as_soon_as_a_newer_one_is(vault: Path, settings: Config) -> None:
    write(vault, "journal/p/2026-09-14/0800-a-00893aaf/001-000-prompt-a-7gk2q9m4x1.md", "Why is the zeppelin slow?\n")
    index.update(settings)
    view = index.current(settings)
    assert view is not None
    gc.disable()  # nothing waits until Python looks for rubbish
    try:
        engine.search(settings, "zeppelin", engine.SearchOptions(update=False))
        engine.related(settings, view.path(0), update=False)
        sessions.table(view)
        assert view.members[view.folder_of[0]]
        old = weakref.ref(view)
        del view
        write(vault, "notes/b.md", "We chose the zeppelin.\n")
        index.update(settings)
        assert index.current(settings) is not None
        assert old() is None
    finally:
        gc.enable()


@pytest.mark.slow
def test_a_process_that_goes_on_has_a_large_vault_looked_at_by_another(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "notes/a.md", "We chose the zeppelin.\n")
    index.update(settings)
    monkeypatch.setattr(update_process, "MANY_NOTES", 0)
    monkeypatch.setattr(catchup, "update", None)  # this process does none of it
    write(vault, "notes/b.md", "And then a balloon.\n")
    index.update_in_process(settings, wait_seconds=1.0)
    write(vault, "notes/c.md", "And a kite.\n")
    assert index.verify(settings, repair=False).agrees
    monkeypatch.undo()

    assert index.update(settings) == index.Changes()
    assert engine.search(settings, "balloon", engine.SearchOptions(update=False)).total == 1


def test_a_process_that_goes_on_takes_in_a_few_files_by_itself(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "notes/a.md", "We chose the zeppelin.\n")
    index.update(settings)
    monkeypatch.setattr(update_process, "MANY_NOTES", 0)
    monkeypatch.setattr(completion, "run", None)  # no other process does
    write(vault, "notes/b.md", "And then a balloon.\n")
    index.update_in_process(settings, paths=["notes/b.md"], wait_seconds=1.0)

    assert engine.search(settings, "balloon", engine.SearchOptions(update=False)).total == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have another C library")
def test_memory_of_large_tables_is_given_back(tmp_path: Path) -> None:
    code = """
from pathlib import Path
from mdmem.system import memory
memory.release_free_memory()
size = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096
before = size()
for _ in range(3):
    tables = [bytes(300_000) for _ in range(100)]
    small = bytes(100_000)
    del tables
print(size() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 5_000_000


@given(
    st.sets(st.integers(0, 60_000), min_size=1, max_size=300),
    st.sets(st.integers(0, 60_000), max_size=40),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_a_posting_list_without_deleted_rows_has_the_others_in_order_with_their_weights(
    rows: set[int], elsewhere: set[int], chance: random.Random, weighted: bool
) -> None:
    own = sorted(rows)
    deleted = elsewhere | set(chance.sample(own, min(len(own), chance.choice([0, 1, 3, len(own)]))))
    weights = bytes(row % 255 + 1 for row in own) if weighted else None

    left, still = without((array("H", own), weights), deleted)

    assert list(left) == [row for row in own if row not in deleted]
    assert still == (bytes(row % 255 + 1 for row in left) if weighted else None)


def test_secrets_in_front_matter_that_cannot_be_read_are_not_indexed(tmp_path: Path) -> None:
    data = b"---\n\nA quagga.\nToken: ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789\n---\n\nThe text.\n"
    built = document.build(str(tmp_path), WalkedFile("notes/rules.md", 1, len(data), 1), data, mtime_ns=0)
    assert "quagga" in str(built.words)
    assert "ghp" not in str(built.words).lower()
