"""The bench of sizes: each tool is asked and finds, and a year that is packed is found and unpacked again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import peers, scale, sized, vaults

pytestmark = pytest.mark.slow


def test_a_bench_gets_the_words_behind_its_name() -> None:
    words = [sys.executable, "-m", "tests.bench", "segments", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "usage: python -m tests.bench segments" in done.stdout


def test_a_measured_command_may_write_bytecode_as_a_users_does() -> None:
    code = "import os; from tests.bench import measure; print('PYTHONDONTWRITEBYTECODE' in os.environ)"
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_each_tool_that_is_installed_is_measured_and_one_that_is_not_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = peers.measure(sized.prepare(tmp_path, 100, committed=False), 1)
    assert list(found) == ["mdmem", "FTS5", "FTS5, looking for changes"]
    assert list(found["mdmem"]) == list(found["FTS5"]) == list(peers.COLUMNS)
    table = peers.table({100: found})
    assert table.count("\n") == 4 and "| FTS5 | 100 |" in table
    assert [one.partition(" ")[0] for one in peers.missing()] == ["ripgrep", "qmd"]


def test_a_packed_year_is_found_cloned_in_part_and_unpacked_to_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vaults, "BETWEEN_SECONDS", 100 * 86_400)
    vault = sized.prepare(tmp_path, 140)
    found = scale.of_archive(vault, 1)
    assert {"archive of a year", "search for a packed note", "clone of a project since then"} <= set(found)
    assert scale.table({140: found}).count("\n") == 1 + len(found)
