"""Edits as unified diffs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mdmem.capture.tools import diff

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d"]), max_size=12)


def applied(old: list[str], hunks: list[diff.Hunk]) -> list[str]:
    """Do what the hunks say, at the lines they say, to the text they were made from."""
    new: list[str] = []
    place = 0
    for hunk in hunks:
        _, was, _, _ = hunk.head.split(" ")
        start = int(was[1:].split(",")[0])
        new += old[place : start - 1]
        place = start - 1
        for line in hunk.body.split("\n"):
            mark, text = line[:1], line[1:]
            if mark in (" ", "-"):
                assert old[place] == text
                place += 1
            if mark in (" ", "+"):
                new.append(text)
    return new + old[place:]


@given(LINES, LINES, LINES, LINES)
def test_a_diff_turns_the_old_text_into_the_new_one(a: list[str], b: list[str], c: list[str], d: list[str]) -> None:
    old, new = a + b + d, a + c + d
    hunks = diff.of_texts("".join([f"{line}\n" for line in old]), "".join([f"{line}\n" for line in new]))
    assert applied(old, hunks) == new
    assert sum([hunk.added - hunk.removed for hunk in hunks]) == len(new) - len(old)


@given(st.text("ab\n", max_size=20), st.text("ab\n", max_size=20))
def test_no_two_texts_are_too_odd_to_be_compared(old: str, new: str) -> None:
    for hunk in diff.of_texts(old, new):
        assert all(line[:1] in (" ", "-", "+") for line in hunk.body.split("\n"))


def test_an_unchanged_text_has_no_diff() -> None:
    assert diff.of_texts("a\nb\n", "a\nb\n") == []
    assert diff.render([], "a.py") == ""


def test_a_name_replaced_everywhere_is_shown_place_by_place() -> None:
    old = "".join([f"line {n} {'old' if n in (5, 40) else ''}\n" for n in range(60)])
    hunks = diff.of_texts(old, old.replace("old", "new"))
    assert [hunk.head for hunk in hunks] == ["@@ -3,7 +3,7 @@", "@@ -38,7 +38,7 @@"]


def test_git_applies_what_was_rendered(tmp_path: Path) -> None:
    old = "".join([f"line {n}\n" for n in range(100)])
    new = old.replace("line 7\n", "line seven\n").replace("line 80\n", "line 80\nline 80 and a half\n")
    (tmp_path / "a.txt").write_text(old)
    patch = diff.render(diff.of_texts(old, new), "a.txt") + "\n"
    subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "a.txt").read_text() == new


def test_a_tools_own_patch_is_taken_as_it_is() -> None:
    given = {"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 2, "lines": [" a", "-b", "+c", "+d"]}
    (hunk,) = diff.of_patch([given, None, {"lines": "no list"}])
    assert (hunk.head, hunk.body, hunk.added, hunk.removed) == ("@@ -3,1 +3,2 @@", " a\n-b\n+c\n+d", 2, 1)


def test_a_patch_without_usable_numbers_says_no_place() -> None:
    (hunk,) = diff.of_patch(
        [{"oldStart": "3", "oldLines": True, "newStart": -1, "newLines": 10**40, "lines": ["+x", 7]}]
    )
    assert (hunk.head, hunk.body) == ("@@", "+x")


def test_only_a_path_inside_the_project_gets_gits_prefixes() -> None:
    hunks = diff.of_texts("a\n", "b\n")
    assert diff.render(hunks, "src/a.py").startswith("--- a/src/a.py\n+++ b/src/a.py\n@@ ")
    assert diff.render(hunks, "/etc/hosts").startswith("--- /etc/hosts\n+++ /etc/hosts\n")
    assert diff.render(hunks, "D:/x.txt").startswith("--- D:/x.txt\n+++ D:/x.txt\n")
