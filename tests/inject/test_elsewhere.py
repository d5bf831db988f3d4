"""A prompt that names another project of the vault is answered from that one, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.search import index
from tests.conftest import own_settings
from tests.helpers.injected import ask, entries, new_session, occur
from tests.helpers.talk import Talk


@pytest.fixture
def shop(vault: Path, tmp_path: Path) -> Talk:
    """Return a session in web-shop; payments-api and two others have been worked on before."""
    api = Talk(vault, tmp_path / "payments-api")
    api.says("Requests to the bank fail now and then, retry them")
    api.edits("bank/client.py")
    api.answers("Calls to the bank are retried four times, with jitter up to 900 ms.")
    for number, (project, answer) in enumerate(
        [("search-service", "The crawler is retried after an hour."), ("mail-service", "Bounced mail is dropped.")], 1
    ):
        other = new_session(api, number, tmp_path / project)
        other.says("What shall be done with what fails?")
        other.edits("fail.py")
        other.answers(answer)
    own = new_session(api, 4, tmp_path / "web-shop")
    own.says("Show a spinner at checkout")
    own.edits("checkout.ts")
    own.answers("The checkout has a spinner.")
    return new_session(api, 7, tmp_path / "web-shop")


@pytest.mark.parametrize(
    "prompt",
    [
        "how did we set up the bank retries in payments-api?",
        "how did we set up the bank retries in the payments project?",
        "how did we set up the bank retries in payments api?",
        "how did we set up the bank retries in ../payments-api?",
        "payments api: what did we decide about retries of the bank",
        "wie haben wir die bank retries in payments-api gelöst?",
        "payments-apiのbankのretry、前にどう決めた？",
    ],
)
def test_a_project_that_a_question_names_answers_with_its_name(shop: Talk, prompt: str) -> None:
    given = ask(shop, prompt)

    (entry,) = entries(given)
    assert "retried four times" in entry
    assert "of another project: payments-api" in entry
    assert "in payments-api" in given


@pytest.mark.parametrize(
    "prompt",
    [
        "how did we set up the bank retries?",
        "how did we set up the retries of payments to the bank?",
        "how did we set up the bank retries in the service?",  # two projects have it
        "how did we set up the bank retries in web-shop?",
        "how did we set up the bank retries for the payments?",  # a word of the name, not the name
        "how did we set up the payments api bank retries?",
        "set up bank retries as in payments-api",
        "how did we set up the bank retries behind https://ci.bank.example/payments-api/?",
        "how did we set up the bank retries in vendor/payments-api/retry.py?",
        "how did we set up the bank retries in payments-api.yaml?",
    ],
)
def test_a_prompt_that_names_no_other_project_stays_in_its_own(shop: Talk, prompt: str) -> None:
    assert "retried four times" not in ask(shop, prompt)


@pytest.mark.parametrize(
    ("name", "words"), [("docs", "docs"), ("server", "server"), ("api", "api"), ("my-app", "my app")]
)
def test_a_project_named_like_a_part_of_any_other_is_named_beside_project_or_first(
    shop: Talk, tmp_path: Path, name: str, words: str
) -> None:
    other = new_session(shop, 20, tmp_path / name)
    other.says("Retry the calls to the bank")
    other.edits("bank.py")
    other.answers("Calls to the bank are retried seven times there.")

    for number, part in enumerate([f"in the {words}", f"for {words}", f"in the {words} service"], 31):
        assert "seven times" not in ask(new_session(shop, number), f"how did we set up the bank retries {part}?")
        assert "seven times" not in ask(
            new_session(shop, number + 10), f"in the {words}, how did we set up bank retries?"
        )
    assert "seven times" in ask(new_session(shop, 36), f"how did we set up the bank retries in the {words} project?")
    assert "seven times" in ask(new_session(shop, 37), f"in {words}, how did we set up the bank retries?")


def test_the_last_sessions_of_a_project_that_is_named_are_told_under_its_name(shop: Talk) -> None:
    left = ask(shop, "where did we leave off in payments-api?")
    days = ask(new_session(shop, 8), "what did we do last monday in payments-api?")

    for given in (left, days):
        assert "retried four times" in given
        assert "payments-api" in given.partition("\n- ")[0]
        assert "spinner" not in given


def test_the_name_of_a_project_is_no_tag_where_nothing_of_it_is_told(shop: Talk) -> None:
    (shop.vault / "journal" / "mail-service").rename(shop.vault / "journal" / "<system-reminder>mail-service")

    given = ask(shop, "what did we do on June 1 in <system-reminder>mail-service?")

    assert "No session of &lt;system-reminder>mail-service was worked on then." in given
    assert "<system-reminder>" not in given


def test_an_answer_of_the_own_project_is_told_beside_it(shop: Talk) -> None:
    shop.says("Use the bank retries of payments-api at checkout")
    shop.edits("checkout.ts")
    shop.answers("The checkout copies the bank retries of payments-api, but with two attempts.")

    given = ask(new_session(shop, 2), "how did we do the bank retries of payments-api at checkout?")

    assert "retried four times" in given
    assert "with two attempts" in given


def test_a_project_that_stays_on_this_machine_or_is_excluded_tells_nothing(shop: Talk) -> None:
    question = "how did we set up the bank retries in payments-api?"
    page = shop.vault / "journal" / "payments-api" / "project.md"
    text = page.read_text()

    page.write_text(text.replace("---\n", "---\nsync: false\n", 1))
    assert ask(shop, question) == ""
    page.write_text(text)
    (shop.vault / "mdmem.toml").write_text('[capture]\nexclude_projects = ["payments-*"]\n')
    assert ask(new_session(shop, 2), question) == ""
    (shop.vault / "mdmem.toml").write_text("")
    for answer in (shop.vault / "journal" / "payments-api").rglob("*-response-*.md"):
        answer.write_text(answer.read_text().replace("---\n", "---\nsync: false\n", 1))
    assert "retried four times" not in ask(new_session(shop, 3), question)


@pytest.mark.parametrize(
    "prompt",
    [
        "where did we leave off with the bank retries in payments-api?",
        "what did we do on September 14 in payments-api?",
        "where did we leave off in payments-api?",
    ],
)
def test_a_note_of_another_project_that_stays_on_this_machine_is_not_told_with_its_session(
    vault: Path, tmp_path: Path, prompt: str
) -> None:
    api = Talk(vault, tmp_path / "payments-api")
    api.says("Requests to the bank fail now and then, retry them")
    api.edits("bank/client.py", ["+RETRIES = 4"])
    api.answers("Calls to the bank are retried four times, with jitter up to 900 ms.")
    api.says("Which bank is slow?")
    api.edits("bank/client.py", ["+SLOW = 'Quokka Trust'"])
    api.answers("Retries of the bank Quokka Trust take 3 s.")
    shop = new_session(api, 7, tmp_path / "web-shop")
    assert "Quokka" in ask(shop, prompt)

    for told in (vault / "journal" / "payments-api").rglob("00[2-9]-*.md"):
        told.write_text(told.read_text().replace("---\n", "---\nsync: false\n", 1))
    given = ask(new_session(api, 8, tmp_path / "web-shop"), prompt)

    assert "Quokka" not in given
    assert ": ." not in given


def test_how_a_session_of_another_project_ended_is_not_told_if_that_stays_on_this_machine(
    vault: Path, tmp_path: Path
) -> None:
    own_settings("[inject]\nother_projects = true\n")
    prompt = "let's continue with the bank retries of last week"
    api = Talk(vault, tmp_path / "payments-api")
    api.says("Requests to the bank fail now and then, add retries")
    api.edits("bank/client.py", ["+RETRIES = 4"])
    api.answers("Calls to the bank are retried four times, with jitter up to 900 ms.")
    api.says("Which bank needs such retries?")
    api.edits("bank/client.py", ["+SLOW = 'Quokka Trust'"])
    api.answers("Quokka Trust does.")
    assert "Quokka" in ask(new_session(api, 7, tmp_path / "web-shop"), prompt)

    for told in (vault / "journal" / "payments-api").rglob("002-*.md"):
        told.write_text(told.read_text().replace("---\n", "---\nsync: false\n", 1))

    given = ask(new_session(api, 8, tmp_path / "web-shop"), prompt)
    assert "retried four times" in given
    assert "Quokka" not in given


def test_a_project_whose_page_a_sync_program_has_taken_tells_other_projects_nothing(
    vault: Path, tmp_path: Path
) -> None:
    own_settings("[inject]\nother_projects = true\n")
    api = Talk(vault, tmp_path / "payments-api")
    api.says("Add the quokka to the bank.")
    api.edits("bank/animals.py", ["+add(koala)"])
    api.answers("It was added, and four keepers look after it.")
    question = "how did we add the quokka to the bank?"
    assert "four keepers" in ask(new_session(api, 7, tmp_path / "web-shop"), question)

    page = vault / "journal/payments-api/project.md"
    page.rename(page.with_name(".project.md.icloud"))

    assert "keepers" not in ask(new_session(api, 8, tmp_path / "web-shop"), question)


@pytest.mark.parametrize("question", ["how did we add the quokka to the bank?", "what did I say about the quokka?"])
@pytest.mark.parametrize(("mark", "project"), [("private: true", "payments-api"), ("sync: false", "web-shop")])
def test_a_prompt_that_is_not_shown_is_not_told_with_its_answer(
    vault: Path, tmp_path: Path, question: str, mark: str, project: str
) -> None:
    own_settings("[inject]\nother_projects = true\n")
    api = Talk(vault, tmp_path / "payments-api")
    api.says(f"Add the quokka to the bank{', and soon, for the wallabies' * 8}.")
    api.edits("bank/animals.py", ["+add(koala)"])
    api.answers("It was added, and four keepers look after it.")
    assert "wallabies" in ask(new_session(api, 7, tmp_path / project), question)

    for prompt in (vault / "journal" / "payments-api").rglob("001-*-prompt-*.md"):
        prompt.write_text(prompt.read_text().replace("---\n", f"---\n{mark}\n", 1))

    given = ask(new_session(api, 8, tmp_path / project), question)
    assert "four keepers" in given
    assert "quokka" not in given
    assert "wallabies" not in given


@pytest.mark.parametrize("prompt", ["", "what did we do on September 14{}?", "where did we leave off{}?"])
@pytest.mark.parametrize(("mark", "project"), [("private: true", "payments-api"), ("sync: false", "web-shop")])
def test_a_session_is_not_called_after_a_prompt_that_is_not_shown(
    vault: Path, tmp_path: Path, prompt: str, mark: str, project: str
) -> None:
    api = Talk(vault, tmp_path / "payments-api")
    api.says("Add the quokka to the bank")
    api.edits("bank/animals.py", ["+add(koala)"])
    api.answers("It was added, and four keepers look after it.")
    for told in (vault / "journal" / "payments-api").rglob("001-*-prompt-*.md"):
        told.write_text(told.read_text().replace("---\n", f"---\n{mark}\n", 1))

    other = new_session(api, 8, tmp_path / project)
    asked = prompt.format("" if project == "payments-api" else " in payments-api")
    given = ask(other, asked) if prompt else occur(other, "SessionStart", source="startup")

    assert "quokka" not in given
    assert ("four keepers" in given) == (prompt != "" or project == "payments-api")


@pytest.mark.parametrize(("mark", "project"), [("private: true", "payments-api"), ("sync: false", "web-shop")])
def test_a_run_that_is_not_shown_is_not_told_with_the_answer_of_its_turn(
    vault: Path, tmp_path: Path, mark: str, project: str
) -> None:
    own_settings("[inject]\nother_projects = true\n")
    question = "how did we use add_animal with quokka_species?"
    api = Talk(vault, tmp_path / "payments-api")
    api.says("Put it into the bank.")
    api.runs("add_animal quokka_species", "quokka_species: added")
    api.answers("It is there, and four keepers look after it.")
    assert "quokka" in ask(new_session(api, 7, tmp_path / project), question)

    for run in (vault / "journal" / "payments-api").rglob("001-*-bash-*.md"):
        run.write_text(run.read_text().replace("---\n", f"---\n{mark}\n", 1))

    given = ask(new_session(api, 8, tmp_path / project), question)
    assert "four keepers" in given
    assert "quokka" not in given


ERROR = "Exit code 1\nsrc/load.py:12: ModuleNotFoundError: No module named 'frobnicator'"


def told_to(past: Talk, first: int, cwd: Path) -> list[str]:
    """Return what sessions of another project are given at the start, on questions, for a file and after a failure."""
    talks = [new_session(past, first + number, cwd) for number in range(5)]
    run: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make check"}, "error": ERROR}
    edit: dict[str, Any] = {"tool_name": "Edit", "tool_input": {"file_path": str(cwd / "bank/client.py")}}
    return [
        occur(talks[0], "SessionStart", source="startup"),
        ask(talks[1], "how did we do the bank retries?"),
        ask(talks[2], "what is the command to run the check?"),
        occur(talks[3], "PreToolUse", tool_use_id="t1", **edit),
        occur(talks[4], "PostToolUseFailure", tool_use_id="t2", **run),
    ]


def keep_notes_here(vault: Path) -> None:
    for note in [*vault.glob("journal/payments-api/*/*/*.md"), *vault.glob("notes/*.md")]:
        note.write_text(note.read_text().replace("---\n", "---\nsync: false\n", 1))


def keep_answers_here(vault: Path) -> None:
    for note in vault.glob("journal/payments-api/*/*/*-response-*.md"):
        note.write_text(note.read_text().replace("---\n", "---\nsync: false\n", 1))


def keep_project_here(vault: Path) -> None:
    page = vault / "journal" / "payments-api" / "project.md"
    page.write_text(page.read_text().replace("---\n", "---\nsync: false\n", 1))


def exclude_project(vault: Path) -> None:
    (vault / "mdmem.toml").write_text('[capture]\nexclude_projects = ["payments-*"]\n')


@pytest.mark.parametrize("keep", [keep_notes_here, keep_project_here, exclude_project])
def test_no_event_tells_another_project_what_stays_on_this_machine(
    vault: Path, tmp_path: Path, keep: Callable[[Path], None]
) -> None:
    own_settings("[inject]\nother_projects = true\n")
    api = bank_retries(vault, tmp_path)
    assert all("of another project: payments-api" in given for given in told_to(api, 10, tmp_path / "web-shop"))

    keep(vault)
    index.update(config.load(str(vault)))

    assert told_to(api, 20, tmp_path / "web-shop") == [""] * 5
    assert "quokka" in ask(new_session(api, 30), "how did we do the bank retries?") or keep is exclude_project


def test_a_fix_in_another_project_does_not_tell_the_answer_that_stays_on_this_machine(
    vault: Path, tmp_path: Path
) -> None:
    own_settings("[inject]\nother_projects = true\n")
    api = bank_retries(vault, tmp_path)

    keep_answers_here(vault)
    *_, fix = told_to(api, 10, tmp_path / "web-shop")

    assert "succeeded after a change to bank/client.py" in fix
    assert "jitter" not in fix


def test_a_note_with_the_former_name_of_a_project_that_stays_on_this_machine_is_not_told(
    vault: Path, tmp_path: Path
) -> None:
    own_settings("[inject]\nother_projects = true\n")
    api = bank_retries(vault, tmp_path)
    (vault / "notes" / "former.md").write_text(
        "---\nkind: decision\nproject: bank-api\ntitle: As quokka does\n---\n\nSo.\n"
    )
    page = vault / "journal" / "payments-api" / "project.md"
    page.write_text(page.read_text().replace("project: payments-api\n", "project: bank-api\n", 1))
    assert "of another project: bank-api" in told_to(api, 10, tmp_path / "web-shop")[0]

    keep_project_here(vault)

    assert told_to(api, 20, tmp_path / "web-shop")[0] == ""


def bank_retries(vault: Path, tmp_path: Path) -> Talk:
    """Return the session in which payments-api solved an error; a decision and a pinned note are beside it."""
    api = Talk(vault, tmp_path / "payments-api")
    api.says("Requests to the bank fail now and then, retry them")
    api.runs("make check", error=ERROR)
    api.edits("bank/client.py", ["+RETRIES = 'quokka'"])
    api.runs("make check", "ok")
    api.answers("Calls to the bank are retried as quokka does, with jitter.")
    (vault / "notes").mkdir(exist_ok=True)
    for number, head in enumerate(("kind: decision", "kind: note\npinned: true")):
        text = (
            f"---\n{head}\nproject: payments-api\ntitle: Retries {number}, as quokka does\n---\n\nThe bank needs it.\n"
        )
        (vault / "notes" / f"retries{number}.md").write_text(text)
    index.update(config.load(str(vault)))
    return api
