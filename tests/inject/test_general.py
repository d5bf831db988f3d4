"""Questions about things in general get nothing, though their words are in the vault."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.inject import context
from mdmem.views.vault_pages import upkeep
from tests.helpers.talk import Talk

SESSIONS = (
    ("do the packets have leap seconds?", "timebase.c", "Packets carry GPS time without leap seconds."),
    ("linear scan or graph coloring?", "linear.rs", "We go with linear scan; graph coloring stays on a branch."),
    ("the fft is slow", "fft.cpp", "Plans were only estimated. The fftw wisdom is in /scratch/wisdom now."),
    ("the staging certificate expired", "iam.tf", "The role may write to all zones now. Staging listens on 8443."),
    ("dialogue shows boxes", "theme.tres", "Japanese fonts fall back to Noto Sans JP."),
    ("make the header sticky", "header.css", "The header is sticky."),
)


@pytest.fixture
def there(tmp_path: Path, vault: Path) -> Path:
    """Return the folder of a project with some sessions."""
    for number, (asked, file, ended) in enumerate(SESSIONS):
        talk = Talk(vault, tmp_path / "lab", f"{number:08d}-19fa-41d2-8238-13269b9b3ca0")
        talk.now += 86_400 * number
        talk.says(asked)
        talk.edits(file)
        talk.answers(ended)
    return talk.cwd


def block(vault: Path, cwd: Path, prompt: str) -> str:
    event = Event(agent="claude-code", name="UserPromptSubmit", session="new", cwd=str(cwd), prompt=prompt)
    found = context.explain(config.load(str(vault)), event, time.time(), time.monotonic() + 240)
    return found.block.text if found.block else ""


@pytest.mark.parametrize(
    "prompt",
    [
        "how do leap seconds work",
        "why are leap seconds needed",
        "why do leap seconds confuse databases",
        "how does linear scan work?",
        "is graph coloring np complete?",
        "do japanese fonts need hinting?",
        "which functions call timebase.c",
        "how do i subset japanese fonts",
        "what is graph-coloring?",
        "was ist ein linear scan?",
        "qu'est-ce que graph-coloring ?",
        "which is slower, a linear scan or a graph coloring?",
        "wie schreibe ich japanese fonts in ein PDF?",
        "comment réduire les japanese fonts ?",
        "¿cómo reducir japanese fonts?",
        "graph coloringとは何ですか？",
        "linear scanとgraph coloringの違いは？",
        "什么是 graph coloring？",
    ],
)
def test_a_general_question_gets_nothing_in_a_project_that_knows_its_words(
    vault: Path, there: Path, prompt: str
) -> None:
    assert block(vault, there, prompt) == ""


def test_a_general_question_gets_what_a_person_keeps_about_it(vault: Path, there: Path) -> None:
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "leap.md").write_text("# How leap seconds work\n\nThe firmware ignores leap seconds.\n")

    assert "firmware ignores" in block(vault, there, "how do leap seconds work")


def test_how_to_do_something_is_answered_by_a_persons_note_in_other_languages(vault: Path, there: Path) -> None:
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "zonen.md").write_text("# Zonen auf der Testumgebung ändern\n\nDas geht mit `iamctl zones`.\n")

    assert "iamctl" in block(vault, there, "wie ändere ich Zonen auf der Testumgebung?")
    assert block(vault, there, "wie lösche ich Zonen in einer Datenbank?") == ""


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("where do we keep the fftw wisdom", "/scratch/wisdom"),
        ("do the packets have leap seconds?", "GPS time"),
        ("why not linear scan anymore", "linear scan"),
        ("why are japanese fonts noto?", "Noto Sans"),
        ("how can i write to all zones in staging", "8443"),
        ("the thing with the japanese fonts", "Noto Sans"),
        ("wasn't the rev9 header sticky?", "header is sticky"),
        ("wie viele zones sind in staging", "8443"),
        ("when do the boxes have to go", "Noto Sans"),
    ],
)
def test_a_question_about_what_is_ours_gets_the_turn_that_says_it(
    vault: Path, there: Path, prompt: str, answer: str
) -> None:
    assert answer in block(vault, there, prompt)


def test_a_question_is_answered_by_all_that_its_session_says(vault: Path, there: Path) -> None:
    talk = Talk(vault, there, "00000099-19fa-41d2-8238-13269b9b3ca0")
    talk.now += 86_400 * 9
    talk.says("couriers keep walking through gates that are shut, please look into how the routes are found")
    talk.edits("gate.c")
    talk.answers(
        "## What was wrong\n\nRoutes only looked at walls. A shut gate is a property of its tile, so the search took "
        "it for floor.\n\n## Fix\n\n- shut gates block movement\n- couriers with a key may still go through one, by "
        "opening it; they now pay **3 extra points** for it\n\nAll four tests of the routes pass."
    )
    talk.says("perfect, the others look so sad")
    talk.answers("They will wait behind the gate until somebody opens it.")

    assert "3 extra points" in block(vault, there, "how much does opening a gate cost a courier")


@pytest.mark.parametrize(
    "asked",
    [
        "Why does the exporter skip rows of frozen accounts?",
        "what makes the exporter leave out frozen accounts, we had that before",
        "warum lässt der Exporter frozen accounts aus?",
    ],
)
def test_a_question_that_was_never_answered_is_not_given_as_the_answer_to_itself(
    vault: Path, there: Path, asked: str
) -> None:
    talk = Talk(vault, there, "00000099-19fa-41d2-8238-13269b9b3ca0")
    talk.now += 86_400 * 9
    talk.says("Why does the exporter skip rows of frozen accounts?")

    assert block(vault, there, asked) == ""


def test_what_a_person_stated_without_getting_an_answer_is_given(vault: Path, there: Path) -> None:
    talk = Talk(vault, there, "00000099-19fa-41d2-8238-13269b9b3ca0")
    talk.now += 86_400 * 9
    talk.says("From now on the exporter skips frozen accounts, because billing pays them twice.")

    assert "billing pays them twice" in block(vault, there, "Why does our exporter skip frozen accounts?")


def test_a_question_that_only_shares_a_number_with_the_date_of_a_persons_note_gets_nothing(
    vault: Path, tmp_path: Path
) -> None:
    (vault / "notes").mkdir()
    note = "---\nkind: note\ncreated: 2026-11-01T10:00:00Z\n---\n\nThe zebra is striped.\n"
    (vault / "notes" / "zebra.md").write_text(note, encoding="utf-8")

    assert block(vault, tmp_path, "what did we decide about phase 1?") == ""


def test_a_project_that_is_called_like_a_library_knows_of_it_only_what_its_notes_say(
    vault: Path, tmp_path: Path
) -> None:
    told = (
        ("the worker drops tasks on deploy", "Acks are late now, so a killed worker's task is run again."),
        ("pin the versions", "All are pinned in constraints.txt."),
        ("move the beat", "The beat of celery runs on its own host."),
    )
    for number, (asked, ended) in enumerate(told):
        talk = Talk(vault, tmp_path / "celery", f"{number:08d}-19fa-41d2-8238-13269b9b3ca0")
        talk.now += 86_400 * number
        talk.says(asked)
        talk.edits("src/app.py")
        talk.answers(ended)
    upkeep.refresh(config.load(str(vault)), now=talk.now + 86_400)

    assert block(vault, talk.cwd, "when was celery released?") == ""
    assert block(vault, talk.cwd, "what did celery change in version 5?") == ""
    assert "its own host" in block(vault, talk.cwd, "where does the celery beat run now?")
    assert "constraints.txt" in block(vault, talk.cwd, "where did we pin the versions of celery?")
    assert "killed worker" in block(vault, talk.cwd, "which acks are late in celery?")


KEPT = "The jury wants three reels. Students enter free, and seniors pay 9 euros; we use no watermark."


@pytest.mark.parametrize(
    ("prompt", "is_answered"),
    [
        ("how much do seniors pay", True),
        ("do we use a watermark?", True),
        ("how much do sponsors pay", False),
        ("how many students enter", False),
        ("how do seniors pay by card in Stripe?", False),
        ("does ffmpeg use a watermark filter?", False),
        ("use a smaller watermark", False),
    ],
)
def test_a_fact_is_told_by_a_persons_note_whose_title_does_not_name_it(
    vault: Path, there: Path, prompt: str, *, is_answered: bool
) -> None:
    (vault / "notes").mkdir(exist_ok=True)
    head = "kind: note\ntitle: Call with Yara about the festival\nproject: lab"
    (vault / "notes" / "yara.md").write_text(f"---\n{head}\n---\n{KEPT}\n", "utf-8")

    assert ("9 euros" in block(vault, there, prompt)) == is_answered


def test_how_deep_something_is_is_asked_of_that(vault: Path, there: Path) -> None:
    talk = Talk(vault, there, "10000000-19fa-41d2-8238-13269b9b3ca0")
    talk.says("dig the foundation of the observatory")
    talk.answers("The foundation goes down 2.4 m, below the frost.")

    assert "2.4 m" in block(vault, there, "how deep is the foundation")
