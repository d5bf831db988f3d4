"""The layout of the journal: paths of both shapes lead to project, day and session, and back."""

from __future__ import annotations

import os
import string
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config
from mdmem.errors import NotFoundError
from mdmem.history import find
from mdmem.vault import disk, generated, journal, layout, packed

NAMES = st.text(string.ascii_lowercase + string.digits + "-.æ語 ", min_size=1, max_size=20).filter(
    lambda name: name.strip(". ") == name and not name.endswith(".packed")
)
DAYS = st.dates().map(lambda day: f"{day:%Y}".zfill(4) + f"-{day:%m-%d}")
PLACES = st.one_of(
    DAYS,
    DAYS.map(lambda day: day.replace("-", "/")),
    st.tuples(DAYS, st.integers(2, 99)).map(lambda found: f"{found[0].replace('-', '/')}-{found[1]}"),
)


@given(project=NAMES, day=PLACES, minute=st.integers(0, 2359), words=NAMES, note=NAMES)
def test_a_path_tells_project_day_and_session_in_both_shapes_and_as_an_archive(
    project: str, day: str, minute: int, words: str, note: str
) -> None:
    folder = f"journal/{project}/{day}/{minute:04}-{words}"
    path = f"{folder}/{note}.md"

    assert layout.is_session(folder)
    assert layout.is_in_session(path)
    assert layout.session_of(path) == folder
    assert {layout.project_of(path), layout.project_of(folder)} == {project}
    assert {layout.day_of(path), layout.day_of(folder)} == {day.replace("/", "-")[:10]}
    archive = layout.archive_of(folder)
    assert layout.archived_in(archive) == folder
    assert layout.day_of(archive) == layout.day_of(folder)
    assert layout.may_hold_archives(archive.rpartition("/")[0])
    assert layout.archives_of_day(folder.rpartition("/")[0]) == archive.rpartition("/")[0]
    assert folder.rpartition("/")[0] in layout.days_packed_in(archive.rpartition("/")[0])
    assert not layout.session_of(archive)
    assert not layout.archived_in(path)
    in_part = f"{folder}/{layout.part_for(2 * layout.MANY)}{note}.md"
    assert layout.split(path) == (folder, f"{note}.md")
    assert layout.split(in_part) == (folder, f"part3/{note}.md")
    assert layout.session_of(in_part) == folder
    assert layout.is_in_session(in_part)
    assert layout.day_of(in_part) == layout.day_of(folder)
    assert not layout.is_session(f"{folder}/part3")
    assert not layout.archived_in(in_part)


OTHERS = """
README.md notes/a/b/c/d/e/f.md journal/app/project.md journal/app/2026/09/x.md journal/x.md a days/2026-09-14.md
journal/app/2026/09/14/0800-a/deeper/x.md notes/2026/09/14/0800-a/x.md notes/a/b/c/part2/x.md
journal/app/2026-09-14/part2/a/x/y.md journal/app/2026-09-14/0800-a/partial/x.md
"""


@pytest.mark.parametrize("path", ["", *OTHERS.split()])
def test_other_paths_are_of_no_session(path: str) -> None:
    assert not layout.session_of(path)
    assert not layout.is_in_session(path) or path.count("/") == 4
    assert not layout.archived_in(path)


def test_the_ways_up_lead_from_a_page_to_its_project() -> None:
    assert layout.to_project("journal/app/2026-09-14/0800-a") == "../.."
    assert layout.to_project("journal/app/2026/09/14-2/0800-a") == "../../../.."


def made(root: Path, *folders: str) -> None:
    for folder in folders:
        (root / "journal/app" / folder).mkdir(parents=True)


def test_sessions_of_both_shapes_are_listed_side_by_side(tmp_path: Path) -> None:
    made(tmp_path, "2026-09-13/0900-a", "2026-09-14/0800-b", "2026/09/14/0900-c", "2026/09/14-2/0700-d", ".trash/x/y")
    (tmp_path / "journal/app/project.md").touch()
    root = str(tmp_path)

    newest = [folder.rpartition("-")[2] for folder in layout.newest_sessions(root, "app")]

    assert newest == ["c", "b", "d", "a"]
    assert sorted(layout.sessions(root)) == sorted(layout.newest_sessions(root, "app"))
    assert {folder[-1] for folder in layout.sessions_of(root, ["2026-09-14"])} == set("bcd")
    assert not list(layout.sessions(root, "other"))


def test_packed_sessions_of_one_day_in_both_shapes_have_a_file_each(tmp_path: Path) -> None:
    flat, by_year = "journal/app/2024-09-14/0800-a", "journal/app/2024/09/14/0800-a"
    for folder in (flat, by_year):
        file = tmp_path / layout.archive_of(folder)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(packed.render(b"# Head\n", [("001-000-prompt-x.md", folder.encode())]))

    found = {entry.path for entry in disk.walk(str(tmp_path))}

    assert found == {f"{folder}/001-000-prompt-x.md" for folder in (flat, by_year)}
    assert {entry.path for entry in disk.walk(str(tmp_path), flat.rpartition("/")[0])} == {
        f"{flat}/001-000-prompt-x.md"
    }
    assert disk.read_path(str(tmp_path), f"{by_year}/001-000-prompt-x.md") == by_year.encode()
    assert journal.numbers("001-000-prompt-x.md")


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("part2/001-003-response-done-0123456789.md", (1, 3)), ("1000-404-bash-make-0123456789.md", (1000, 404)),
        ("001-000-.md", (1, 0)), ("001-000.md", ()), ("001-000-x.txt", ()), ("۰۰۱-000-x.md", ()), ("0a1-000-x.md", ()),
        ("001-04-x.md", ()), ("12-0003-x.md", (12, 3)),
        ("0800-404-errors-00893aaf.md", ()), ("0800-12-00893aaf.md", ()), ("1-2.md", ()),
        ("2026-09-14 My notes.md", ()), ("2026-09-14.md", ()),
    ],
)  # fmt: skip
def test_a_page_whose_title_begins_with_a_number_or_a_day_is_not_numbered_as_a_note_is(
    name: str, numbers: tuple[int, ...]
) -> None:
    assert journal.numbers(name) == numbers


@pytest.mark.slow
def test_no_folder_of_three_thousand_sessions_has_more_than_a_thousand_names(tmp_path: Path) -> None:
    root, first = str(tmp_path), date(2022, 1, 1)
    for number in range(3_000):  # the first thousand on a day each, the others on one
        day = first + timedelta(days=min(number, 1_000))
        parts = layout.for_new_session(root, "app", day.isoformat())
        tmp_path.joinpath(*parts, f"0800-words-{number:08x}").mkdir(parents=True)

    most = max((len(names), where) for where, names, _ in os.walk(root))

    assert most[0] <= layout.MANY + 10, most  # and the folders of years
    assert len(set(layout.sessions(root))) == len(list(layout.newest_sessions(root, "app"))) == 3_000
    assert len(list(layout.sessions_of(root, [(first + timedelta(days=1_000)).isoformat()]))) == 2_000


def test_a_new_session_goes_by_year_once_the_project_or_the_day_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "MANY", 2)

    def place(day: str) -> str:
        return "/".join(layout.for_new_session(str(tmp_path), "app", day)[2:])

    assert place("2026-09-14") == "2026-09-14"
    made(tmp_path, "2026-09-14/0800-a")
    assert place("2026-09-14") == "2026-09-14"
    made(tmp_path, "2026-09-14/0800-b")
    assert (place("2026-09-14"), place("2026-09-15")) == ("2026/09/14", "2026-09-15")
    made(tmp_path, "2026/09/14/0800-a", "2026/09/14/0800-b", "2026-09-15/0800-a")
    assert (place("2026-09-14"), place("2026-09-15")) == ("2026/09/14-2", "2026/09/15")


def test_the_archives_of_the_last_days_are_listed_without_a_look_at_the_others(tmp_path: Path) -> None:
    paths = [f"journal/{project}/2024/0{month}/05/0800-a.md" for project in ("app", "lib") for month in (1, 2, 3)]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()

    assert sorted(layout.archives(str(tmp_path))) == sorted(paths)
    assert sorted(layout.archives(str(tmp_path), most=2)) == [path for path in sorted(paths) if "/03/" in path]


@pytest.mark.parametrize("typed", ["a\0b", "notes/\ud800.md"])
def test_what_can_be_no_path_is_none_in_the_vault(vault: Path, typed: str) -> None:
    assert layout.typed_path(str(vault), typed) == ""
    with pytest.raises(NotFoundError):
        find.path_of(config.load(str(vault)), typed)


@pytest.mark.parametrize("end", ["\n", "\r\n", "  \n", ""])
def test_a_marker_is_found_behind_lines_that_only_mention_it(end: str) -> None:
    begin, stop = generated.MARKS
    before, between = f"{begin} begins, {begin}\nand {begin}\n", f"{stop} ends\n- {stop}\n"

    text = f"{before}{begin}\n{between}{stop}{end}"

    assert generated.marks_in(text) == (len(before), len(before) + len(begin) + 1 + len(between))
    assert generated.marks_in(before) == (-1, -1)
