"""What the user hears of what was kept out of memory: how much, why, and how to keep it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import notes, own_settings
from tests.helpers.claude import bash, prompt, send, stop


def said(event: dict[str, Any]) -> str:
    out = send(event).stdout
    return str(json.loads(out)["systemMessage"]) if out else ""


def test_a_prompts_private_sections_are_told_with_their_size(vault: Path) -> None:
    message = said(prompt("a <private>four\nlines\nof\n10 chars</private> b [private]12345[/private] c"))

    assert message == (
        "mdmem: 2 private sections (27 characters, 5 lines) were kept out of memory."
        " Not meant? `mdmem privacy keep-last` stores it."
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a <private>1234567", "was not closed; everything after it was kept out of memory (7 characters)"),
        ("1234567</private> b", "was never opened; everything before it was kept out (7 characters)"),
        ("<private>1234567</private>", "this prompt is private (7 characters); nothing of this turn is remembered"),
        ("[private] 1234567", "this prompt is private (7 characters); nothing of this turn is remembered"),
        ("{private} 1234567", "this prompt is private (7 characters); nothing of this turn is remembered"),
        ("a 【private】1234567", "was not closed; everything after it was kept out of memory (7 characters)"),
    ],
)
def test_the_message_says_what_happened_and_how_to_keep_the_text(vault: Path, text: str, told: str) -> None:
    message = said(prompt(text))

    assert told in message
    assert message.count("mdmem: ") == 1
    assert message.endswith("`mdmem privacy keep-last` stores it.")


@pytest.mark.parametrize("text", ["[PRIVATE] badger-dawn", "[private]: badger-dawn", "  [Private] badger-dawn"])
def test_a_prompt_that_begins_with_the_bracket_is_private_as_a_whole(vault: Path, home: Path, text: str) -> None:
    assert "this prompt is private" in said(prompt(text))
    send(bash("badger-dawn is what it printed"))
    send(stop("It printed badger-dawn."))

    assert notes(vault) == []
    for path in (path for root in (vault, home) for path in root.rglob("*") if path.is_file()):
        assert b"badger-dawn" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("[private] section of smb.conf must have a path", "[private] section of smb.conf must have a path"),
        ("[private](https://x.org) is dead", "[private](https://x.org) is dead"),
        ("[PRIVATE] badger [/PRIVATE] and the rest", "[PRIVATE] and the rest"),
        ("it prints [PRIVATE] there, why?", "it prints [PRIVATE] there, why?"),
    ],
)
def test_a_bracket_that_is_no_tag_of_the_whole_prompt_hides_no_more_than_it_says(
    vault: Path, text: str, stored: str
) -> None:
    send(prompt(text))

    assert notes(vault)[0].read_text("utf-8").rstrip().endswith(f"\n{stored}")


def test_what_tool_output_and_answers_lost_is_told_once_when_the_turn_ends(vault: Path) -> None:
    assert said(prompt("look")) == ""
    assert said(bash("a <private>12345</private>", "toolu_1")) == ""
    assert said(bash("nothing", "toolu_2")) == ""
    assert said(bash("b <private>678\n90</private>", "toolu_3")) == ""
    message = said(stop("It is <private>1234</private>."))
    assert message == (
        "mdmem: 3 private sections (15 characters, 4 lines) of tool output and answers"
        " were kept out of memory in this turn."
    )
    assert said(stop("It is done after all.")) == ""

    send(prompt("look again", 2))
    assert said(stop("Nothing.", 2)) == ""
    assert "1 private section (3 characters) of tool output" in said(stop("<private>xyz</private> ok", 2))


def test_a_stray_tag_in_tool_output_is_no_fault_of_the_prompt(vault: Path) -> None:
    send(prompt("look"))

    assert said(bash("12345</private> ok")) == ""
    assert "1 private section (5 characters) of tool output and answers was kept out" in said(stop("Done."))


@pytest.mark.parametrize("limits", ["<!-- private: start -->", "<!-- begin private -->", "<!--private-end-->"])
def test_a_comment_that_only_looks_like_a_tag_is_named(vault: Path, limits: str) -> None:
    assert said(prompt(f"a {limits}x")).startswith(f"mdmem: {limits} is not a private tag: the text was stored.")


def test_a_comment_that_says_something_else_is_not_named(vault: Path) -> None:
    assert (
        said(prompt("a <!-- start of the private part --> <!-- begin --> <!-- start: end --> <!-- private api -->"))
        == ""
    )


def test_an_element_that_only_looks_like_a_private_tag_is_told_once(vault: Path) -> None:
    message = said(prompt("a <private-note>x</private-note> and <private:x>y</private:x>"))
    assert message.startswith("mdmem: <private-note>, <private:x> are not private tags: the text was stored.")
    assert "privacy.tags" in message

    assert said(prompt("a <private-note>x</private-note>", 2)) == ""
    assert len(notes(vault)) == 2


def test_a_word_of_ones_own_is_no_unknown_tag(vault: Path) -> None:
    own_settings('[privacy]\ntags = ["private-note"]\n')

    assert "1 private section (1 character)" in said(prompt("a <private-note>x</private-note> b"))
    assert notes(vault)[0].read_text("utf-8").rstrip().endswith("a [PRIVATE] b")


def test_who_wants_no_messages_hears_none(vault: Path) -> None:
    own_settings("[privacy]\nfeedback = false\n")

    assert said(prompt("a <private>x</private> <private-note>")) == ""
    send(bash("b <private>678</private>"))
    assert said(stop("Done.")) == ""


def test_an_import_tells_nobody_of_what_was_private_long_ago(
    vault: Path, tmp_path: Path, ask: Callable[..., Any]
) -> None:
    from mdmem import config
    from mdmem.capture import notices
    from tests.helpers.transcript_files import Talk, bring

    talk = Talk()
    talk.typed("a <private>long ago</private> b")
    talk.ran("cat x", "c <private>long ago</private> d")
    bring(talk.save(tmp_path / "projects"))

    assert len(notes(vault)) == 2
    assert not Path(config.load().state_dir, notices.LAST_FILE).exists()
