"""A person's own patterns: bounded in time, checked when they are set, and never matched with mdmem's own keys."""

from __future__ import annotations

import json
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mdmem import privacy
from mdmem.cli.terminal import render
from mdmem.errors import ConfigError, PatternError
from mdmem.privacy import Rules, clean, patterns
from mdmem.privacy.withheld import MARK
from tests.conftest import notes, own_settings
from tests.helpers import claude, cli_day, transcript_files
from tests.helpers.claude import bash, contents, prompt

SLOW = "(a+)+$"
TOO_LONG = "a" * 40 + "!"
"""A text that SLOW takes for ever to search."""


@pytest.mark.parametrize("pattern", ["text", "input", ".*", "title|body|slug|meta|context", "e", "[0-9a-f-]{36}"])
def test_a_pattern_that_matches_mdmems_own_keys_stops_nothing(vault: Path, pattern: str) -> None:
    own_settings(f"privacy.patterns = [{render.toml(pattern)}]\n")
    assert claude.send(prompt("Rotate the keys of the heron box")).stdout == b""
    assert claude.send(bash("3 passed")).stdout == b""
    stored = sorted(vault.rglob("0??-0??-*.md"))
    assert len(stored) == 2
    assert len({path.parent for path in stored}) == 1
    assert claude.SESSION in stored[0].read_text("utf-8")


def test_a_private_section_that_says_a_key_of_mdmems_own_stops_nothing(vault: Path) -> None:
    for number, word in enumerate(("text", "input", "title", "body", "context", "command")):
        claude.send(prompt(f"the secret is <private>{word}</private>", number))
    assert len(list(vault.rglob("0??-000-*.md"))) == 6


@pytest.mark.slow
def test_an_event_is_stored_without_a_text_that_a_pattern_takes_too_long_for_and_the_pattern_is_named(
    vault: Path,
) -> None:
    (vault / "mdmem.toml").write_text(f"privacy.patterns = [{render.toml(SLOW)}]\n")
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    said = json.loads(claude.send(prompt(TOO_LONG)).stdout)["systemMessage"]
    assert SLOW in said
    assert "left out of memory" in said
    lines = [{"oldStart": 1, "newStart": 1, "lines": [TOO_LONG] * 50}]
    claude.send(bash("") | {"tool_response": {"structuredPatch": lines, "stdout": TOO_LONG}})
    claude.send(prompt("short", 2))

    first, run, second = contents(notes(vault))
    assert first == MARK
    assert (MARK in run, TOO_LONG in run, "make" in run) == (True, False, True)
    assert second == "short"
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin < 12 * patterns.SECONDS


@pytest.mark.slow
def test_a_folder_whose_path_a_pattern_takes_too_long_for_is_left_out_and_the_pattern_named(vault: Path) -> None:
    (vault / "mdmem.toml").write_text(f"privacy.patterns = [{render.toml(SLOW)}]\n")
    said = json.loads(claude.send(prompt("short") | {"cwd": f"/home/dev/{TOO_LONG}"}).stdout)["systemMessage"]
    assert SLOW in said
    assert contents(notes(vault)) == ["short"]
    assert not [path for path in vault.rglob("*.md") if TOO_LONG in path.read_text("utf-8")]


@pytest.mark.slow
def test_an_import_names_a_pattern_that_takes_too_long_and_brings_the_file_when_that_is_changed(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    settings = day.vault / "mdmem.toml"
    settings.write_text(f"privacy.patterns = [{render.toml(SLOW)}]\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "long.md").write_text(TOO_LONG)
    first = day.run("import", "--yes", str(tmp_path / "mine")).output
    settings.write_text("")
    again = [day.run("import", "--yes", str(tmp_path / "mine")).output for _ in range(2)]

    assert first.startswith("Nothing new to import.\n")
    assert SLOW in " ".join(first.split())
    assert [said.partition(".")[0] for said in again] == ["Imported 1 note", "Nothing new to import"]


@pytest.mark.slow
def test_what_an_import_left_out_for_a_pattern_that_takes_too_long_comes_with_the_next_one_when_that_is_changed(
    tmp_path: Path,
) -> None:
    day = cli_day.empty(tmp_path)
    settings = day.vault / "mdmem.toml"
    settings.write_text(f"privacy.patterns = [{render.toml(SLOW)}]\n")
    talk = transcript_files.Talk()
    talk.typed(TOO_LONG)
    talk.ran("make", TOO_LONG)
    talk.said(f"Yes: {TOO_LONG}")
    session = talk.save(tmp_path / "saved")
    first = [day.run("import", "--yes", str(session)).output for _ in range(2)]
    settings.write_text("")
    again = [day.run("import", "--yes", str(session)).output for _ in range(2)]

    assert [SLOW in " ".join(said.split()) for said in first] == [True] * 2
    assert not [path for path in notes(day.vault) if MARK in path.read_text("utf-8")], again
    assert [TOO_LONG in body for body in contents(notes(day.vault))] == [True] * 3
    assert [said.partition("\n")[0] for said in again] == ["Completed 3 notes.", "Nothing new to import."]
    (page,) = (path for path in day.vault.rglob("*.md") if path.stem == path.parent.name)
    assert MARK not in page.read_text("utf-8")
    assert f"# {TOO_LONG[:20]}" in page.read_text("utf-8")


@pytest.mark.slow
def test_an_import_tells_that_a_sessions_folder_was_left_out_for_a_pattern_that_takes_too_long(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    (day.vault / "mdmem.toml").write_text(f"privacy.patterns = [{render.toml(SLOW)}]\n")
    talk = transcript_files.Talk(f"/home/dev/{TOO_LONG}")
    talk.typed("short")
    talk.said("Yes.")
    session = talk.save(tmp_path / "saved")

    said = " ".join(day.run("import", "--yes", str(session)).output.split())

    assert "1× text that could not be checked" in said
    assert SLOW in said
    assert contents(notes(day.vault)) == ["short", "Yes."]


@pytest.mark.slow
def test_the_gate_never_gives_a_text_that_a_pattern_has_not_looked_at() -> None:
    with pytest.raises(PatternError, match="takes too long"):
        privacy.clean(["fine", TOO_LONG], rules=privacy.Rules(patterns=(SLOW,)))
    cleaned = privacy.clean(["fine", TOO_LONG], rules=privacy.Rules(patterns=(SLOW,), skips_slow=True))
    assert cleaned.value == ["fine", MARK]
    assert isinstance(cleaned.failure, PatternError)


@pytest.mark.slow
def test_a_note_that_a_pattern_takes_too_long_for_is_refused_and_the_pattern_named(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    (day.vault / "mdmem.toml").write_text(f"privacy.patterns = [{render.toml(SLOW)}]\n")
    assert SLOW in str(day.attempt("note", TOO_LONG).exception)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "not a regular expression"),
        (SLOW, "too long"),
        pytest.param(r"(x|x)*y", "too long", marks=pytest.mark.slow),
        pytest.param(r"(\w+\s?)*$", "too long", marks=pytest.mark.slow),
        (".*", "mdmem writes"),
        ("prompt", "mdmem writes"),
        (r"acme-\d+", ""),
        (r"ticket: (\S+)", ""),
        ("", ""),
    ],
)
def test_a_pattern_is_judged_when_it_is_set(pattern: str, said: str) -> None:
    found = patterns.problem(pattern)
    assert said in found
    assert bool(found) == bool(said)


@pytest.mark.slow
def test_setting_a_pattern_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    for pattern in (SLOW, "prompt", "("):
        assert isinstance(day.attempt("config", "set", "privacy.patterns", pattern).exception, ConfigError)
    day.run("config", "set", "privacy.patterns", r"acme-\d+")


# -- in threads, and on systems without timers -------------------------------------------------------


@pytest.mark.slow
def test_in_a_thread_a_pattern_masks_and_one_that_takes_for_ever_stores_nothing_either() -> None:
    """Servers answer in threads, where no signal interrupts a match."""
    ours = privacy.Rules(patterns=(r"heron-(\d+)", "[あ-ん]{3,}"))
    slow = privacy.Rules(patterns=(SLOW,))
    with ThreadPoolExecutor(1) as pool:
        masked = pool.submit(lambda: privacy.clean(["the heron-42 \ud800 says こんにちは"], rules=ours)).result()
        with pytest.raises(PatternError, match="takes too long"):
            pool.submit(lambda: privacy.clean([TOO_LONG], rules=slow)).result()
        again = pool.submit(lambda: privacy.clean(["the heron-42 \ud800 says こんにちは"], rules=ours)).result()
        assert "too long" in pool.submit(lambda: patterns.problem(SLOW)).result()
        assert pool.submit(lambda: patterns.problem(r"heron-\d+")).result() == ""
    here = privacy.clean(["the heron-42 \ud800 says こんにちは"], rules=ours)
    assert "42" not in masked.value[0] and "こんにちは" not in masked.value[0]
    assert masked.value == again.value == here.value


def test_in_a_thread_a_pattern_masks_although_the_process_that_looks_for_it_was_ended() -> None:
    ours = privacy.Rules(patterns=(r"heron-(\d+)",))
    with ThreadPoolExecutor(1) as pool:
        masked = []
        for _ in range(2):
            masked.append(pool.submit(lambda: privacy.clean(["the heron-42"], rules=ours)).result().value)
            helper = patterns._other[0]._process
            assert helper is not None
            helper.kill()
            helper.wait()

    assert masked == [["the heron-[REDACTED]"]] * 2


def test_a_person_s_own_patterns_are_masked() -> None:
    rules = Rules(patterns=(r"ACME-\d{4}", r"case (\w+)"))

    assert clean("ACME-1234 in case Falcon9", rules=rules).value == "[REDACTED] in case [REDACTED]"


def test_a_pattern_that_does_not_compile_or_matches_a_mark_does_no_harm() -> None:
    rules = Rules(patterns=("(", r"\w+", ".*"))

    once = clean("some words here", rules=rules).value
    assert once == "[REDACTED]"
    assert clean(once, rules=rules).value == once
