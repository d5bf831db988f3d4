"""Known command: a question for the command that does something here gets the one that did it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem.search import commands
from tests.helpers.injected import ask, entries, new_session
from tests.helpers.talk import Talk


@pytest.fixture
def talk(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session in a project whose sessions ran its tests, built its docs, started and deployed it."""
    past = Talk(vault, tmp_path / "orchard")
    past.start()
    past.says("The basket forgets its apples")
    past.runs("npm test", error="Exit code 1\nnpm error Missing script: test")
    past.runs("pytest tests/test_basket.py::test_apples -q", "1 passed")
    past.edits("basket.py")
    past.runs("pytest -q 2>&1 | tail -5", "40 passed")
    past.runs("cat tests/test_basket.py", "def test_apples(): ...")
    past.runs("grep -rn server docs", "docs/index.md: the server")
    past.runs("pip install mkdocs pytest uvicorn", "Successfully installed")
    past.answers("The basket keeps its apples.")
    second = new_session(past, 3)
    second.says("Pears too, and put it live")
    second.runs("pytest tests/test_pears.py", "3 passed")
    second.runs("cd web && npm run dev", "ready on 5173")
    second.runs("mkdocs build --strict", "built")
    second.runs("pytest -q", "43 passed")
    second.runs("python scripts/seed_db.py --fresh", "seeded")
    second.runs("./deploy.sh staging", "deployed")
    second.runs("ruff check .", "All checks passed!")
    second.answers("Pears are in.")
    return new_session(second, 2)


def keep(talk: Talk, said: str) -> None:
    """Write a note as a person does."""
    (talk.vault / "notes").mkdir(exist_ok=True)
    text = f"---\nkind: lesson\ntitle: Habits\n---\n\n{said}\n"
    (talk.vault / "notes/habits.md").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("question", "command"),
    [
        ("Which command runs the tests here?", "pytest -q"),
        ("how do I run the tests in this project?", "pytest -q"),
        ("how do I run the tests?", "pytest -q"),
        ("can you tell me how we run the tests?", "pytest -q"),
        ("what do I run to test this project?", "pytest -q"),
        ("how are the tests run here?", "pytest -q"),
        ("what's the command to build the docs", "mkdocs build --strict"),
        ("wie starte ich den Server hier?", "cd web && npm run dev"),
        ("mit welchem Befehl laufen hier die Tests?", "pytest -q"),
        ("comment lancer les tests ici ?", "pytest -q"),
        ("¿cómo ejecuto las pruebas aquí?", "pytest -q"),
        ("como rodamos os testes neste projeto?", "pytest -q"),
        ("come lancio i test qui?", "pytest -q"),
        ("hoe draai ik de tests hier?", "pytest -q"),
        ("how did we deploy last time", "./deploy.sh staging"),
        ("how do we start the server?", "cd web && npm run dev"),
        ("what is the command for the linter again?", "ruff check ."),
        ("how do I run seed_db here?", "python scripts/seed_db.py --fresh"),
        ("which script did we use to seed the db?", "python scripts/seed_db.py --fresh"),
        ("how do I run the tests of the pears here?", "pytest tests/test_pears.py"),
    ],
)
def test_a_question_for_a_command_gets_the_one_that_did_it(talk: Talk, question: str, command: str) -> None:
    first = entries(ask(talk, question))[0]

    assert f"\n    $ {command}\n" in f"{first}\n"
    assert "[mem:" in first


@pytest.mark.parametrize(
    "prompt",
    [
        "run the tests",
        "please build it",
        "start the server here and run the tests",
        "how do I run tests in pytest?",
        "which command lists files in git?",
        "what's the command to run tests in rust?",
        "how do I build a docker image?",
        "how do we format the code here?",
        "how do I run the migrations here?",
        "how do I run the tests here without a network?",
        "how are the tests here?",
        "come run the tests here",
        "comment the tests here",
        "how do the tests work here?",
        "what does the command to run the tests do?",
    ],
)
def test_other_prompts_get_nothing(talk: Talk, prompt: str) -> None:
    assert ask(talk, prompt) == ""


def test_the_command_is_dated_with_its_last_success_and_says_how_often_it_succeeded(talk: Talk) -> None:
    (entry,) = entries(ask(talk, "Which command runs the tests here?"))

    assert entry.startswith("2026-09-17 command [mem:")
    assert "succeeded 2 times" in entry


def test_what_was_only_run_for_a_part_says_so(vault: Path, tmp_path: Path) -> None:
    past = Talk(vault, tmp_path / "orchard")
    past.says("The basket forgets its apples")
    past.runs("cargo test basket", "ok")

    assert "for a part" in ask(new_session(past, 1), "Which command runs the tests here?")


@pytest.mark.parametrize(
    "said",
    [
        "Run the tests with `make verify`: it starts the database first.",
        "We run our tests with make verify, which starts the database.",
        "- Tests: `make verify`",
        "Tests:\n\n```sh\nmake verify tests\n```",
    ],
)
def test_a_persons_note_that_says_the_command_comes_instead(talk: Talk, said: str) -> None:
    keep(talk, said)

    (entry,) = entries(ask(talk, "how do I run the tests here?"))

    assert "make verify" in entry
    assert "pytest" not in entry


def test_a_superseded_note_gives_way_to_the_run(talk: Talk) -> None:
    keep(talk, "Run the tests with `make verify`.")
    old = talk.vault / "notes/habits.md"
    old.write_text(old.read_text(encoding="utf-8").replace("---\n", "---\nsuperseded_by: x\n", 1), encoding="utf-8")

    assert "$ pytest -q" in ask(talk, "how do I run the tests here?")


@pytest.mark.parametrize(
    "said",
    ["The tests never use `mock`.", "Make sure that the tests pass.", "Tests are slow on Mondays."],
)
def test_a_persons_note_on_it_that_says_no_command_does_not(talk: Talk, said: str) -> None:
    keep(talk, said)

    assert "$ pytest -q" in ask(talk, "how do I run the tests here?")


def test_a_command_that_failed_and_was_replaced_by_another_is_not_shown(talk: Talk) -> None:
    talk.says("Use tox from now on")
    talk.runs("pytest -q", error="Exit code 127\npytest: command not found")
    talk.runs("tox", "44 passed")
    talk.answers("Done.")

    assert "$ tox" in ask(new_session(talk, 1), "how do I run the tests here?")


def test_a_command_that_only_fails_now_and_then_stays(talk: Talk) -> None:
    talk.says("Are they green?")
    talk.runs("pytest -q", error="Exit code 1\n1 failed, 42 passed")
    talk.runs("pytest tests/test_pears.py", "3 passed")
    talk.answers("One is red.")

    assert "$ pytest -q" in ask(new_session(talk, 1), "how do I run the tests here?")


def test_a_run_that_the_person_took_back_counts_as_failed(vault: Path, tmp_path: Path) -> None:
    past = Talk(vault, tmp_path / "orchard")
    past.says("Deploy it")
    past.runs("kubectl apply -f all.yaml", "applied")
    past.answers("Deployed.")
    past.says("no, not like that")
    past.runs("./ship.sh deploy", "deployed")
    past.answers("Deployed with the script.")

    assert "$ ./ship.sh deploy" in entries(ask(new_session(past, 1), "how do we deploy?"))[0]


def test_the_runs_of_another_project_are_not_shown(talk: Talk, tmp_path: Path) -> None:
    other = new_session(talk, 1, tmp_path / "quarry")

    assert ask(other, "which command runs the tests here?") == ""


def test_a_question_that_names_another_project_gets_its_command(talk: Talk, tmp_path: Path) -> None:
    other = new_session(talk, 1, tmp_path / "quarry")

    assert "$ ./deploy.sh staging" in ask(other, "how did we deploy the orchard project?")


def test_a_project_that_stays_on_this_machine_tells_others_no_command(talk: Talk, tmp_path: Path) -> None:
    page = talk.vault / "journal/orchard/project.md"
    page.write_text(page.read_text(encoding="utf-8").replace("---\n", "---\nsync: false\n", 1), encoding="utf-8")
    other = new_session(talk, 1, tmp_path / "quarry")

    assert "deploy.sh" not in ask(other, "how did we deploy the orchard project?")


def test_a_private_run_or_note_is_not_shown(vault: Path, tmp_path: Path) -> None:
    past = Talk(vault, tmp_path / "orchard")
    past.says("Run the tests")
    past.runs("pytest -q", "40 passed")
    past.answers("Green.")
    (run,) = vault.glob("journal/*/*/*/*-bash-*.md")
    run.write_text(run.read_text(encoding="utf-8").replace("---\n", "---\nprivate: true\n", 1), encoding="utf-8")
    keep(past, "Run the tests with `make verify`.")
    note = vault / "notes/habits.md"
    note.write_text(note.read_text(encoding="utf-8").replace("---\n", "---\nprivate: true\n", 1), encoding="utf-8")

    given = ask(new_session(past, 1), "which command runs the tests here?")

    assert "pytest" not in given
    assert "make verify" not in given


def test_an_earlier_run_is_shown_instead_of_a_private_one(vault: Path, tmp_path: Path) -> None:
    past = Talk(vault, tmp_path / "orchard")
    past.says("Run the tests")
    past.runs("make test", "40 passed")
    past.runs("pytest -q", "40 passed")
    past.answers("Green.")
    (run,) = vault.glob("journal/*/*/*/*-bash-pytest-*.md")
    run.write_text(run.read_text(encoding="utf-8").replace("---\n", "---\nprivate: true\n", 1), encoding="utf-8")

    assert "$ make test" in ask(new_session(past, 1), "which command runs the tests here?")


def test_a_count_that_leaves_out_earlier_runs_says_so(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = Talk(vault, tmp_path / "orchard")
    past.says("Run the tests three times")
    for _ in range(3):
        past.runs("pytest -q", "40 passed")
    past.answers("Green.")
    monkeypatch.setattr(commands, "MAX_RUNS", 2)

    assert "succeeded at least 2 times" in ask(new_session(past, 1), "which command runs the tests here?")


def test_what_this_session_ran_is_not_told_again(vault: Path, tmp_path: Path) -> None:
    talk = Talk(vault, tmp_path / "orchard")
    talk.says("Run the tests")
    talk.runs("pytest -q", "40 passed")
    talk.answers("Green.")

    assert ask(talk, "which command runs the tests here?") == ""


def test_the_same_question_again_names_what_was_given(talk: Talk) -> None:
    given = entries(ask(talk, "Which command runs the tests here?"))[0]
    mark = given[given.index("[mem:") : given.index("]") + 1]

    again = ask(talk, "which command runs the tests here?")

    assert f"Given above: {mark}." in again
    assert entries(again) == []
