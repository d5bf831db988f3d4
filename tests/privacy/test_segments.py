"""A payload is one document: a section over several of its strings, and what one string reveals about the others."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.privacy import Rules, clean
from tests.conftest import notes
from tests.helpers.claude import payload, send
from tests.helpers.transcript_files import Talk, bring

Run = Callable[..., subprocess.CompletedProcess[str]]
CODE = "launch code 4711904226"
LATER = "launch code 4712"
PIN = "47135926"  # long enough that no digest or time on the disk has it by chance
FILE = f"# notes\n<private>\n{CODE}\n{PIN}\n</private>\nthe public end\n"
CELLS = [
    {"cell_type": "markdown", "source": ["# A public title\n", "<private>\n"]},
    {"cell_type": "code", "source": [f"{CODE}\n", f"x = {PIN}\n"]},
    {"cell_type": "markdown", "source": ["</private>\n", "the public end"]},
]


def hunk(*lines: str, start: int = 1) -> dict[str, Any]:
    marks = [line[:1] for line in lines]
    old, new = len(lines) - marks.count("+"), len(lines) - marks.count("-")
    return {"oldStart": start, "oldLines": old, "newStart": start, "newLines": new, "lines": list(lines)}


RUNS: dict[str, tuple[str, Any, Any]] = {
    "lines of a patch": (
        "Edit",
        {"file_path": "a.md", "old_string": "x", "new_string": "y"},
        {"structuredPatch": [hunk("-x", "+<private>", f"+{CODE}", f"+{PIN}", "+</private>", "+the public end")]},
    ),
    "two hunks of a patch": (
        "Write",
        {"file_path": "a.md", "content": "see the patch"},
        {"structuredPatch": [hunk(" <private>", f"+{CODE}"), hunk(f"+{PIN}", " </private>", "+the public end")]},
    ),
    "a hunk whose section goes on behind it": (
        "Edit",
        {"file_path": "a.md", "old_string": "x", "new_string": "y"},
        {"structuredPatch": [hunk(" the public end", "+<private>", f"+{CODE}", f"+{PIN}")]},
    ),
    "an edit inside a section": (
        "Edit",
        {"file_path": "a.md", "old_string": CODE, "new_string": f"{LATER}\n{PIN}"},
        {
            "originalFile": FILE,
            "oldString": CODE,
            "newString": f"{LATER}\n{PIN}",
            "structuredPatch": [hunk(f"-{CODE}", f"+{LATER}", f" {PIN}", " </private>", " the public end", start=3)],
        },
    ),
    "an edit of a word inside a section, without a patch": (
        "Edit",
        {"file_path": "a.md", "old_string": "4711904226", "new_string": PIN},
        {"originalFile": FILE, "oldString": "4711904226", "newString": PIN, "structuredPatch": []},
    ),
    "a replacement everywhere inside a section": (
        "Edit",
        {"file_path": "a.md", "old_string": "4711904226", "new_string": PIN, "replace_all": True},
        {"originalFile": f"{FILE}<private>4711904226", "structuredPatch": []},
    ),
    "several edits, one of them inside a section that another opens": (
        "MultiEdit",
        {
            "file_path": "a.md",
            "edits": [
                {"old_string": "first line", "new_string": "<private>"},
                {"old_string": "second line", "new_string": f"{CODE} {PIN}"},
                {"old_string": "third line", "new_string": "the public end"},
            ],
        },
        {"originalFileContents": "first line\nsecond line\n</private>\nthird line\n", "structuredPatch": []},
    ),
    "edits that open and close a section": (
        "MultiEdit",
        {
            "file_path": "a.md",
            "edits": [
                {"old_string": "a", "new_string": "<private>"},
                {"old_string": "b", "new_string": f"{CODE} {PIN}"},
                {"old_string": "c", "new_string": "</private> the public end"},
            ],
        },
        {"structuredPatch": []},
    ),
    "cells of a notebook": ("Read", {"file_path": "a.ipynb"}, {"type": "notebook", "file": {"cells": CELLS}}),
    "content blocks": (
        "mcp__files__read",
        {"path": "a.md"},
        [{"type": "text", "text": words} for words in ("a <private>", CODE, PIN, "</private> the public end")],
    ),
    "content blocks with a resource among them": (
        "mcp__files__read",
        {"path": "a.md"},
        {
            "content": [
                {"type": "text", "text": "a <private>"},
                {"type": "resource", "resource": {"uri": "file:///a.md", "text": f"{CODE} {PIN}"}},
                {"type": "text", "text": "</private> the public end"},
            ]
        },
    ),
    "lists of lines": (
        "mcp__files__append",
        {"lines": ["<private>", CODE, PIN, "</private>", "the public end"]},
        "done",
    ),
    "a value on stdout whose tags are in the command": (
        "Bash",
        {"command": f"echo '<private>{PIN}</private> <private>{CODE}</private>' | sed -e s/x/y/"},
        {"stdout": f"{PIN} {CODE}\nthe public end", "stderr": f"+ echo {CODE}"},
    ),
    "a value in the command whose tags are in the output": (
        "Bash",
        {"command": f"grep '{CODE}' a.md"},
        {"stdout": f"1:<private>\n2:{CODE}\n3:{PIN}\n4:</private>\n5:the public end", "stderr": ""},
    ),
}
WHOLLY_INSIDE = {
    "an edit of a word inside a section, without a patch",
    "a replacement everywhere inside a section",
}
"""Of these nothing but the file's name is kept."""


@pytest.fixture
def left(vault: Path, home: Path) -> Callable[[], bytes]:
    """Everything that is on disk: the vault with its git objects, and mdmem's own folders."""

    def gather() -> bytes:
        files = [path for root in (vault, home) for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
        names = [os.fsencode(path) for root in (vault, home) for path in root.rglob("*")]
        return b"\n".join([*names, *[path.read_bytes() for path in files]])

    return gather


def private_words(found: bytes) -> list[str]:
    return [words for words in (CODE, LATER, PIN, "4711904226") if words.encode() in found]


@pytest.mark.parametrize("shape", RUNS)
def test_a_hook_stores_no_private_text_whatever_strings_it_is_split_over(
    vault: Path, left: Callable[[], bytes], shape: str
) -> None:
    tool, given, response = RUNS[shape]

    send(payload("PostToolUse", tool_name=tool, tool_input=given, tool_response=response, tool_use_id="toolu_x"))

    (found,) = notes(vault)
    assert private_words(left()) == []
    assert (b"the public end" in found.read_bytes()) == (shape not in WHOLLY_INSIDE)


@pytest.mark.slow
def test_an_import_stores_no_private_text_whatever_strings_it_is_split_over(
    vault: Path, left: Callable[[], bytes], tmp_path: Path
) -> None:
    talk = Talk()
    talk.typed("Do all of it")
    for tool, asked, response in RUNS.values():
        talk.answered(talk.called(tool, asked), response)
    talk.said("It is done.")
    path = talk.save(tmp_path / "projects")

    tally = bring(path)

    assert tally.added["observation"] == len(RUNS)
    assert private_words(left()) == []


def test_a_tag_hides_no_field_of_another_text() -> None:
    run = {"input": {"command": "cat <private> x"}, "response": {"stdout": "plain", "lines": ["one", "two"]}}

    cleaned = clean(run, origin="tool").value

    assert cleaned["response"] == {"stdout": "plain", "lines": ["one", "two"]}


def test_a_section_over_the_lines_of_a_list_leaves_one_mark_and_the_lines_around_it() -> None:
    lines = ["a", "b <private>c", "d", "e</private> f", "g"]

    assert clean({"x": lines}).value == {"x": ["a", "b [PRIVATE]", "", " f", "g"]}
    assert clean({"x": [{"t": line, "n": 1} for line in lines]}).value["x"][2] == {"t": "", "n": 1}
    assert clean({"x": lines}, rules=Rules(keep_lines=True)).value["x"][1] == "b [PRIVATE]\n\n"
    two = clean({"x": ["a <private>b", "c</private> d"]})
    assert (two.value, two.private, two.unclosed, two.stray) == ({"x": ["a [PRIVATE]", " d"]}, 1, False, False)


def test_a_section_that_goes_on_in_the_next_line_is_hidden_whole_behind_others_in_its_first_line() -> None:
    lines = ["a <private>b</private> c <private>d", "e</private> f <private>g", "h", "i</private> j"]

    assert clean({"x": lines}).value == {"x": ["a [PRIVATE] c [PRIVATE]", " f [PRIVATE]", "", " j"]}


def test_a_value_that_a_payload_reveals_is_masked_in_the_rest_of_it() -> None:
    value = {
        "a": "<private>heron</private>",
        "b": ["a heron flew", "herons"],
        "heron": 1,
        "c": "x<private>y</private>y",
    }

    assert clean(value).value == {"a": "", "b": ["a [PRIVATE] flew", "herons"], "": 1, "c": "x[PRIVATE]y"}


def test_lines_of_a_section_are_masked_where_they_stand_alone() -> None:
    section = "<private>\nend\nif x:\n    open the second door\n</private>"
    text = f"{section}\n+ if x:\nif x: y\n - open the second door!\nend"

    assert clean(text).value == "[PRIVATE]\n+ [PRIVATE]\nif x: y\n - [PRIVATE]!\nend"


def test_what_is_private_in_a_prompt_is_private_in_the_rest_of_the_prompt() -> None:
    assert clean("<private>blue-heron-77</private> blue-heron-77").value == ""
    assert clean("<private>blue-heron-77</private> says hi to blue-heron-77").value == "[PRIVATE] says hi to [PRIVATE]"


_PIECES = st.lists(st.sampled_from(["public", "more words", "+", "", "x\ny", "b"]), max_size=3)


@given(_PIECES, st.lists(st.just("Canary7"), min_size=1, max_size=4), _PIECES, st.sampled_from(["prompt", "tool"]))
def test_no_segment_of_a_section_survives_and_all_others_do(
    before: list[str], inner: list[str], after: list[str], origin: str
) -> None:
    segments = [*before, "<private>", *inner, "</private>", *after]

    cleaned = clean({"x": segments}, origin=origin).value["x"]

    assert cleaned == [*before, "[PRIVATE]", *[""] * (len(inner) + 1), *after]


@given(st.lists(st.text(alphabet="ab<>/private[]\n", max_size=12), max_size=8))
def test_any_list_of_texts_keeps_its_length(segments: list[str]) -> None:
    assert len(clean(segments).value) == len(segments)
