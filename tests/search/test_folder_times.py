"""The times of a vault's folders, changed a few at a time, are what they would be if all were looked at."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest

from mdmem import config
from mdmem.search import index
from mdmem.search.index.folder_times import FEW, MANY, FolderTimes

PROJECTS = ("journal/own", "journal/größe", "journal/few")


def folders(chance: random.Random) -> list[str]:
    """Return paths as a vault has them: its own, some below it, many of two projects, and alike names."""
    names = ["", "journal", "notes", "notes/a", *PROJECTS]
    names += [f"{PROJECTS[chance.randrange(2)]}/{day:02d}" for day in range(2 * MANY)]
    return [*names, *(f"{one}/{chance.choice('ab')}{number}" for number, one in enumerate(names) if one.count("/") > 1)]


@pytest.mark.parametrize("seed", range(20))
def test_times_changed_one_by_one_are_those_packed_anew(seed: int) -> None:
    chance = random.Random(seed)
    known = dict.fromkeys(folders(chance), 5)
    times = FolderTimes.of(known)
    for _ in range(8):
        some = chance.sample([*known, *folders(chance)], chance.choice((1, 3, FEW - 20)))
        others = {one: chance.choice((None, -1, 7)) if one else 9 for one in some}
        times = times.with_others(others)
        known = {one: at for one, at in {**known, **others}.items() if at is not None}

        assert times.by_path == known
        assert times.equals(times.with_others({one: known[one] for one in list(known)[:3]}))
        assert not times.equals(times.with_others({"": known[""] + 1}))
        assert FolderTimes(*times.pack()).by_path == known
        assert all((one in times) == (one in known) for one in (*some, *folders(chance), "journal/own/0", "no"))


def test_a_project_that_grows_a_folder_at_a_time_is_looked_at_from_its_own_folder() -> None:
    times = FolderTimes.of({"": 1, "journal": 1, "journal/new": 1})
    for day in range(MANY):
        times = times.with_others({f"journal/new/{day}": 1})

    assert [base for base, _, _ in times.pack()[0]] == ["", "journal/new"]


def test_folders_of_many_small_projects_are_held_once() -> None:
    def bytes_held(projects: int) -> int:
        days = [f"journal/p{number}/{day}" for number in range(projects) for day in range(MANY // 2)]
        times = FolderTimes.of(dict.fromkeys(days, 1))
        tracemalloc.start()
        assert not any(f"journal/p{number}/new" in times for number in range(projects))
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return held

    assert bytes_held(200) < 8 * bytes_held(50)


def test_no_times_at_all_become_those_of_what_was_looked_at() -> None:
    assert FolderTimes.of({}).with_others({"": 3, "notes": None}).by_path == {"": 3}


def test_a_note_that_was_added_is_taken_in_without_all_folders_by_name(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config.load(str(vault))
    for day in range(2 * MANY):
        folder = vault / "journal" / "app" / f"day-{day}" / "session"
        folder.mkdir(parents=True)
        (folder / "one.md").write_text("alpha")
    index.update(settings)
    monkeypatch.setattr(FolderTimes, "by_path", property(lambda _: pytest.fail("the path of each folder was made")))
    (folder / "two.md").write_text("beta")
    (vault / "journal" / "app" / "day-new").mkdir()
    (vault / "journal" / "app" / "day-new" / "three.md").write_text("gamma")

    assert index.update(settings, quick=True).added == 2
    (folder / "two.md").unlink()
    assert index.update(settings, quick=True).removed == 1
