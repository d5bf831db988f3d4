"""Segments that are joined: the same notes, the same answers, and nothing lost however it ends."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.search import engine, index, select
from mdmem.search.index import builder, catchup, contents, dictionary, folders, joining, layout, store, tiers, writer
from mdmem.search.index import table as index_table
from mdmem.search.index.document import Document
from mdmem.vault import disk

WORDS = [f"{first}{second}r" for first in "bdfgklmnprst" for second in "aeiou"]


@pytest.fixture
def settings(vault: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setattr(tiers, "LEAST_JOINED", 20)
    return config.load(str(vault))


@pytest.fixture
def documents(vault: Path, settings: Config) -> list[Document]:
    """Return notes of some sessions, as they are indexed, with words that are rare, common, and there often."""
    chance = random.Random(7)
    for number in range(50):
        folder = vault / "journal" / f"p{number % 3}" / "2026-09-14" / f"0800-a-s{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        words = " ".join(chance.choices(WORDS, range(len(WORDS), 0, -1), k=chance.randint(1, 40)))
        file = folder / f"{number % 5:03d}-000-prompt-ä{number}.md"
        file.write_text(f"---\nkind: prompt\nproject: p{number % 3}\n---\n\n{words} n{number}\n", encoding="utf-8")
        os.utime(file, (1_700_000_000 + number // 4, 1_700_000_000 + number // 4))
    return [found for found in builder.read(settings.vault, disk.walk(settings.vault)) if found is not None]


def write_segments(folder: str, documents: list[Document], size: int) -> None:
    """Write notes into an index, some in each segment."""
    with writer.locked(folder, 1):
        for start in range(0, len(documents), size):
            with writer.change(folder, merge=False) as batch:
                for document in documents[start : start + size]:
                    batch.add(document)


def join(folder: str) -> bool:
    with writer.locked(folder, 1):
        return joining.join_next(folder)


def content_of(folder: str) -> list[object]:
    """Return all that an index's only segment holds, in its order."""
    view = store.open_view(folder, verify=True)
    assert view is not None and len(view.leaves) == 1
    terms, table = view.leaves[0].terms, view.leaves[0].table
    assert isinstance(terms, dictionary.Dictionary)
    sums = [table.total_length(field) for field in layout.TEXT_FIELDS]
    rows = table.rows(range(len(table)))
    counts = [{key: number for key, number in part.items() if number} for part in table.counts()]
    return [
        [(key, layout.decode_postings(one)) for key, one in terms.packed()],
        rows,
        table.folders(),
        (table.numbers("members"), table.member_ends),
        table.newest(),
        counts,
        sums,
    ]


@pytest.mark.parametrize("deleted", [[], [0, 17, 18, 19, 30, 49], list(range(10, 20))])
def test_segments_are_joined_into_what_one_segment_of_their_notes_would_be(
    settings: Config, documents: list[Document], tmp_path: Path, deleted: list[int]
) -> None:
    folder, other = settings.index_dir, str(tmp_path / "private" / "other")
    write_segments(folder, documents, 5)
    with writer.locked(folder, 1), writer.change(folder, merge=False) as batch:
        for number in deleted:
            batch.remove(number)

    assert join(folder)

    write_segments(other, [one for number, one in enumerate(documents) if number not in deleted], 1000)
    assert content_of(folder) == content_of(other)
    assert not join(folder)


def test_an_index_in_many_segments_is_joined_by_who_looks_at_every_file(
    settings: Config, documents: list[Document]
) -> None:
    def answer() -> list[tuple[str, float, str]]:
        options = engine.SearchOptions(now=datetime(2026, 10, 1, tzinfo=UTC))
        return [(hit.path, hit.score, hit.snippet) for hit in engine.search(settings, "bar n17 dor", options).hits]

    index.update(settings)
    wanted = answer()
    writer.discard(settings.index_dir, wait_seconds=1)
    write_segments(settings.index_dir, documents, 5)

    assert index.update(settings) == index.Changes()

    view = index.current(settings)
    assert view is not None and len(view.leaves) == 1
    assert answer() == wanted
    assert index.verify(settings, repair=False).agrees


def test_an_index_of_another_version_is_rebuilt_in_few_segments(
    settings: Config, documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(contents, "STAMP", "mdmem 0.0.0")
        write_segments(settings.index_dir, documents, 50)
    monkeypatch.setattr(catchup, "MANY_NOTES", 10)
    monkeypatch.setattr(builder, "MOST", 4)
    monkeypatch.setattr(builder, "LEAST", 4)
    monkeypatch.setattr(builder, "cores", lambda: 1)

    assert index.update(settings).rebuilt

    view = store.open_view(settings.index_dir, verify=True)
    assert view is not None and view.live == len(documents)
    assert len(view.leaves) <= tiers.MAX_SEGMENTS


def test_many_segments_have_the_same_beginnings_of_words_as_one(
    settings: Config, documents: list[Document], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, many = settings.index_dir, str(tmp_path / "private" / "other")
    write_segments(one, documents, 1000)
    write_segments(many, documents[::-1], 5)
    whole, parts = store.open_view(one), store.open_view(many)
    assert whole is not None and parts is not None and len(parts.leaves) > 1
    monkeypatch.setattr(select, "_MAX_PREFIX_TERMS", 3)

    assert list(whole.starting_with("body", "n", 7).items()) == list(parts.starting_with("body", "n", 7).items())
    assert select.prefix_terms(whole, "n") == select.prefix_terms(parts, "n")  # most are in one note each
    assert select.prefix_terms(whole, "n4") == select.prefix_terms(parts, "n4")
    for limit in (3, 7, 1000):
        wanted = [term for term in whole.starting_with("body", "n", limit) if 2 <= len(term) <= 3]
        assert list(whole.words_of_length("n", range(2, 4), limit)) == wanted
        assert list(parts.words_of_length("n", range(2, 4), limit)) == wanted


def test_many_segments_have_the_notes_in_the_same_order_as_one(
    settings: Config, documents: list[Document], tmp_path: Path
) -> None:
    other = str(tmp_path / "private" / "other")
    write_segments(settings.index_dir, documents, 1000)
    write_segments(other, documents[::-1], 5)
    whole, parts = store.open_view(settings.index_dir), store.open_view(other)
    assert whole is not None and parts is not None and len(parts.leaves) > 1

    wanted = [(whole.number("created", note), whole.path(note)) for note in whole.all]
    assert len({second for second, _ in wanted}) < len(wanted), "some are of one second"
    for view in (whole, parts):
        assert [view.path(note) for note in view.newest()] == [path for _, path in sorted(wanted, reverse=True)]
    seconds = sorted((second for second, _ in wanted), reverse=True)
    uneven = str(tmp_path / "private" / "uneven")
    for size, some in ((20, documents[:40]), (3, documents[40:])):
        write_segments(uneven, some, size)
    for view in filter(None, (whole, parts, store.open_view(uneven))):
        for count in (1, 7, 30, len(wanted), len(wanted) + 5):
            found = sorted((view.number("created", note) for note in view.latest(count)), reverse=True)
            assert found == [second for second in seconds if second >= seconds[:count][-1]]


def test_names_of_notes_that_lie_in_one_segment_or_in_several(settings: Config, documents: list[Document]) -> None:
    write_segments(settings.index_dir, documents, 5)
    view = store.open_view(settings.index_dir)
    assert view is not None

    for notes in ([], [3], [2, 0, 1], [7, 3, 4, 5, 6], [1, 3], [*view.all]):
        assert view.names(notes) == [view.name(note) for note in notes]
        assert list(view.paths(notes)) == [view.path(note) for note in sorted(notes)]


def test_notes_of_one_second_are_in_the_order_of_their_names(settings: Config, documents: list[Document]) -> None:
    write_segments(settings.index_dir, documents, 9)
    view = store.open_view(settings.index_dir)
    assert view is not None
    times = [(view.number("created", note), view.name(note)) for note in view.all]
    assert len({second for second, _ in times}) < len(times)

    assert [(view.number("created", note), view.name(note)) for note in view.by_time(view.all)] == sorted(times)


def test_of_a_dictionary_that_is_read_from_end_to_end_nothing_stays_in_memory(
    settings: Config, documents: list[Document]
) -> None:
    write_segments(settings.index_dir, documents, 1000)
    view = store.open_view(settings.index_dir)
    terms = view.leaves[0].terms if view else None
    assert isinstance(terms, dictionary.Dictionary)

    assert len(list(terms.packed())) > dictionary.KEYS_PER_BLOCK
    assert not terms._blocks
    assert terms.count("body", "n17") == 1
    assert len(terms._blocks) == 1


def test_folders_of_many_segments_have_one_number_each_and_the_notes_that_lie_in_them(
    settings: Config, documents: list[Document]
) -> None:
    write_segments(settings.index_dir, [*documents[::2], *documents[1::2]], 9)  # segments share folders
    with writer.locked(settings.index_dir, 1), writer.change(settings.index_dir, merge=False) as batch:
        for number in (0, 3, 9, 40):
            batch.remove(number)
    view = store.open_view(settings.index_dir)
    assert view is not None and len(view.leaves) > 3
    lying: dict[str, list[str]] = {}
    for path in view.some_paths(0, view.size):
        lying.setdefault(path.rpartition("/")[0], [])
    for note in view.all:
        folder, _, name = view.path(note).rpartition("/")
        lying[folder].append(name)

    assert list(view.folders) == list(lying)  # in the order in which the notes have them
    assert {view.folders[number] for number in range(len(view.folders))} == lying.keys()
    assert [view.folders.find(folder) for folder in lying] == list(range(len(lying)))
    assert view.folders.find("journal/p0") is None
    assert view.folder_sizes == [len(names) for names in lying.values()]
    for number, names in enumerate(lying.values()):
        assert [view.name(note) for note in view.members[number]] == sorted(names)


@pytest.mark.parametrize("begun", ["0000", "0007", "0800"])
def test_page_indexed_after_the_notes_of_its_session_has_its_place_among_them(
    vault: Path, settings: Config, begun: str
) -> None:
    session = vault / "journal" / "p" / "2026-09-14" / f"{begun}-a-00893aaf"
    session.mkdir(parents=True)
    page = f"{begun}-a-00893aaf.md"
    notes = [f"{number:03d}-000-prompt-a{number}.md" for number in range(1, 13)]
    for name in (page, *notes):
        (session / name).write_text(f"text of {name}\n", encoding="utf-8")
    read = {
        found.row.path.rpartition("/")[2]: found for found in builder.read(str(vault), disk.walk(str(vault))) if found
    }
    write_segments(settings.index_dir, [*(read[name] for name in notes), read[page]], len(notes))

    view = store.open_view(settings.index_dir)

    assert view is not None and len(view.leaves) == 2
    members = view.members_of(f"journal/p/2026-09-14/{session.name}")
    before = [name for name in notes if int(name[:3]) < int(begun)]
    assert [view.name(note) for note in members] == [*before, page, *notes[len(before) :]]


@pytest.mark.parametrize("name", ["created", "flags", "folder_of", "length_body", "mtime_ns"])
@pytest.mark.parametrize("few", [1, 10, 50], ids=["one by one", "at first one by one", "all at once"])
@pytest.mark.parametrize("near", [0, 1_000], ids=["far from each other", "near each other"])
def test_a_number_of_some_notes_is_that_of_all_of_them(
    settings: Config, documents: list[Document], monkeypatch: pytest.MonkeyPatch, name: str, few: int, near: int
) -> None:
    monkeypatch.setattr(folders, "FEW", few)
    monkeypatch.setattr(index_table, "NEAR", near)
    monkeypatch.setattr(index_table, "FEW", few)
    write_segments(settings.index_dir, documents, 9)
    view, other = store.open_view(settings.index_dir), store.open_view(settings.index_dir)
    assert view is not None and other is not None
    numbers = list(other.numbers(name))

    some = view.numbers_of(name, {49, 0, 8, 9})

    assert [some[note] for note in (0, 8, 9, 49)] == [numbers[note] for note in (0, 8, 9, 49)]
    assert [some[note] for note in range(50)] == numbers
    assert [view.numbers_of(name)[note] for note in range(50)] == numbers
    assert [view.name(note) for note in range(50)] == [path.rpartition("/")[2] for path in other.some_paths(0, 50)]
    assert view.some_paths(7, 30) == [other.path(note) for note in range(7, 30)]


def test_joining_that_is_interrupted_changes_nothing_and_is_done_later(
    settings: Config, documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = settings.index_dir
    write_segments(folder, documents, 5)
    before = set(os.listdir(folder))
    write = contents.write

    def interrupted(folder: str, segment: contents.Segment, extension: str, data: object) -> None:
        if extension == ".rows":
            raise KeyboardInterrupt
        write(folder, segment, extension, data)  # type: ignore[arg-type]

    with monkeypatch.context() as during, pytest.raises(KeyboardInterrupt):
        during.setattr(contents, "write", interrupted)
        join(folder)

    assert set(os.listdir(folder)) == before
    assert index.verify(settings, repair=False).agrees
    assert content_of(folder)  # joined by who looked at every file


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_joins_loses_nothing_and_leaves_nothing_for_good(
    settings: Config, documents: list[Document]
) -> None:
    folder = settings.index_dir
    write_segments(folder, documents, 5)
    code = (
        "import os, signal, sys; from mdmem.search.index import contents, joining, tiers, writer\n"
        "tiers.LEAST_JOINED = 20; contents.publish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "with writer.locked(sys.argv[1], 1): joining.join_next(sys.argv[1])"
    )
    before = set(os.listdir(folder))

    done = subprocess.run([sys.executable, "-c", code, folder], check=False)

    assert done.returncode == -signal.SIGKILL
    assert set(os.listdir(folder)) > before
    assert engine.search(settings, "kind:prompt", engine.SearchOptions(update=False)).total == len(documents)
    assert index.update(settings) == index.Changes()
    assert len(os.listdir(folder)) <= 5
    assert index.verify(settings, repair=False).agrees


@pytest.mark.parametrize(
    ("live", "chosen"),
    [
        ([], None),
        ([5000] * 8, None),
        ([5000] * 9, (0, 6)),
        ([30_000] * 30, None),
        ([30_000, 30_000, *[5000] * 10], (2, 8)),
        ([30_000] * 7 + [3000, 3000], None),
        ([20_000, *[1000] * 9], None),  # the first would be written again for little
        ([20_000, *[1500] * 9], (1, 10)),
        ([10] * 20, None),
    ],
)
def test_neighbours_are_joined_when_it_makes_a_difference(live: list[int], chosen: tuple[int, int] | None) -> None:
    assert tiers.to_join(live) == chosen


def test_while_segments_are_joined_it_is_not_told_that_all_is_done(settings: Config, documents: list[Document]) -> None:
    write_segments(settings.index_dir, documents, 5)
    steps: list[tuple[int, int]] = []

    index.update(settings, progress=lambda done, total: steps.append((done, total)))

    assert steps[-1] == (len(documents), 0)
