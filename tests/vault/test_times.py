"""Times in notes: in the user's zone with its offset, and the same moment wherever they are read."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import frontmatter
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mdmem import timestamps
from mdmem.history.git import repository
from mdmem.history.merging import both
from mdmem.vault import creation, front_matter, journal, note
from tests.conftest import notes
from tests.helpers.history_vault import run_here
from tests.helpers.talk import START, Talk
from tests.helpers.time_zone import zone

ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "America/Los_Angeles")
MOMENTS = st.integers(1, 4_102_444_799)


@given(MOMENTS, st.sampled_from(ZONES))
def test_every_reader_takes_a_notes_time_for_the_same_moment(seconds: int, name: str) -> None:
    with zone(name):
        text = timestamps.note_time(seconds)
        local = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))

    written = front_matter.render({"created": text})

    assert text.startswith(local)
    assert timestamps.epoch(text) == datetime.fromisoformat(text).timestamp() == seconds
    assert timestamps.utc(text) == timestamps.iso_time(seconds)
    assert written == f"---\ncreated: {text}\n---\n"
    assert note.parse(f"{written}\n").meta == {"created": text}
    moment = datetime.fromtimestamp(seconds, UTC)
    assert creation.read_time(text) == moment
    assert yaml.safe_load(text) in (moment, moment.replace(tzinfo=None))
    assert frontmatter.loads(f"{written}\n")["created"] in (moment, moment.replace(tzinfo=None))


@pytest.mark.parametrize("name", ["America/New_York", "Asia/Kathmandu"])
def test_a_day_that_a_person_wrote_is_a_day_of_the_readers_machine(name: str) -> None:
    with zone(name):
        for meta, path in (({"date": "2026-09-14"}, "notes/x.md"), ({}, "notes/2026-09-14.md")):
            moment = creation.when_made(meta, path)
            assert moment is not None
            assert timestamps.local_time(moment.timestamp()) == "2026-09-14 00:00"
        typed = creation.read_time("2026-09-14 08:00")
        assert typed is not None
        assert timestamps.local_time(typed.timestamp()) == "2026-09-14 08:00"


def test_a_time_with_digits_of_another_script_is_no_time_and_breaks_no_list() -> None:
    for text in ("2026-09-1²T08:00:00Z", "2026-09-14T08:00:00+0²:00", "²026-09-14T08:00:00Z"):
        assert timestamps.epoch(text) == 0
        assert timestamps.utc(text) == text


@given(MOMENTS, MOMENTS, st.sampled_from(ZONES), st.sampled_from(ZONES))
def test_times_of_two_zones_are_sorted_as_they_came(one: int, other: int, first: str, second: str) -> None:
    texts = []
    for seconds, name in ((one, first), (other, second)):
        with zone(name):
            texts.append(timestamps.utc(timestamps.note_time(seconds)))

    assert (texts[0] < texts[1]) == (one < other)


@given(st.text(max_size=30))
def test_a_text_that_is_not_a_time_is_not_read_as_one(text: str) -> None:
    if timestamps.epoch(text) == 0:
        assert timestamps.utc(text) == text


@pytest.mark.parametrize(
    "text", ["2026-09-14T10:00:01+02:0", "2026-09-14T10:00:01+25:00", "2026-13-14T10:00:01+02:00", "2026-09-14+02:00"]
)
def test_what_only_looks_like_a_time_is_quoted(text: str) -> None:
    assert front_matter.render({"created": text}) == f'---\ncreated: "{text}"\n---\n'


def test_a_session_has_one_zone_in_folders_notes_pages_and_listings(vault: Path, tmp_path: Path) -> None:
    with zone("Europe/Berlin"):
        talk = Talk(vault, tmp_path / "app")
        talk.now = START + 14.5 * 3600  # 22:30 UTC, half past midnight in Berlin
        talk.says("Why does the parser fail?")
        talk.answers("It read the date wrong.")
        shown = run_here("sessions", env={"MDMEM_VAULT": str(vault)}, check=True).stdout

    prompt, answer = notes(vault)
    assert prompt.parent.parent.name == "2026-09-15"
    assert prompt.parent.name.startswith("0031-")
    assert note.parse(prompt.read_text()).meta["created"] == "2026-09-15T00:31:00+02:00"
    assert note.parse(answer.read_text()).meta["created"] == "2026-09-15T00:32:00+02:00"
    page = journal.read_page(str(vault), prompt.parent.relative_to(vault).as_posix()).decode()
    assert "created: 2026-09-15T00:31:00+02:00\n" in page
    assert "- Began 2026-09-15 00:31 UTC+02:00\n" in page
    assert "2026-09-15 00:31" in shown


def test_notes_of_two_zones_are_found_by_the_window_in_which_they_were_made(vault: Path, tmp_path: Path) -> None:
    for name, words in (("Europe/Berlin", "parser"), ("America/Los_Angeles", "lexer")):
        with zone(name):
            talk = Talk(vault, tmp_path / "app", f"{words}aaa-1")
            talk.now = START + (3600 if words == "lexer" else 0)
            talk.says(f"Why does the {words} fail?")

    def found(since: str, until: str) -> set[str]:
        words = ("search", "why does fail", "--since", since, "--until", until, "--json")
        listed = run_here(*words, env={"MDMEM_VAULT": str(vault)}).stdout
        return {word for word in ("parser", "lexer") if f"Why does the {word} fail?" in listed}

    assert found("2026-09-14T08:00:00Z", "2026-09-14T08:30:00Z") == {"parser"}
    assert found("2026-09-14T11:00:00+02:00", "2026-09-14T02:30:00-07:00") == {"lexer"}


def test_one_event_that_two_machines_stored_in_two_zones_is_no_conflict() -> None:
    text = "---\nid: 7gk2q9m4x1\nkind: prompt\ncreated: {0}\n---\n\nWhy?\n"
    here, there = (text.format(made).encode() for made in ("2026-09-14T10:00:00+02:00", "2026-09-14T08:00:00Z"))
    repo = repository.Repository(Path(), Path(), Path())

    merged = [both.merge_note(repo, "journal/a.md", *pair) for pair in ((here, b"", there), (there, b"", here))]

    assert merged == [both.Both(there)] * 2
