"""Overturned: what was taken back later is not given without what took it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem import config
from mdmem.inject.candidates import CHANGED_LATER
from mdmem.search import engine, hits, index, overturned, query
from tests.helpers.injected import ask, entries, new_session
from tests.helpers.talk import Talk


def worked(vault: Path, tmp_path: Path) -> Talk:
    talk = Talk(vault, tmp_path / "churn")
    talk.start()
    return talk


def replaced(vault: Path, tmp_path: Path) -> Talk:
    """Return a session that chose a logging library, which a second one, a day later, replaced."""
    talk = worked(vault, tmp_path)
    talk.says("Which logging library should we use for the API?")
    talk.answers("Options: winston, bunyan, pino. Decision: winston, since the team knows it.")
    later = new_session(talk, 1)
    later.says("winston blocks the event loop under load; replace it with pino")
    later.edits("log.ts", ["-import winston", "+import pino"])
    later.answers("p99 fell from 310 ms to 95 ms.")
    return talk


def test_a_corrected_answer_is_given_behind_its_correction(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    talk.says("Set up cross validation with random folds")
    talk.edits("train.py", ["-split(x)", "+KFold(5, shuffle=True)"])
    talk.answers("Cross validation with 5 random folds is in place: mean AUC 0.91.")
    talk.says("no, use time based splits, the other way leaks the future")
    talk.edits("train.py", ["-KFold(5, shuffle=True)", "+TimeSeriesSplit(5)"])
    talk.answers("TimeSeriesSplit with a gap of 30 days: mean AUC 0.82.")
    talk.says("Now a progress bar")
    talk.answers("tqdm shows the progress.")

    newer, older = entries(ask(new_session(talk, 3), "What did we decide about cross validation?"))

    assert "TimeSeriesSplit with a gap of 30 days" in newer
    assert CHANGED_LATER not in newer
    assert f"random folds ({CHANGED_LATER})" in older


def test_the_last_of_several_corrections_is_given(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    talk.says("Which provider shall the login use?")
    talk.answers("The login goes through Auth0 with the free plan.")
    talk.says("actually let's use Keycloak on our own server")
    talk.edits("auth.ts", ["-auth0", "+keycloak"])
    talk.answers("Keycloak runs on id.example.org; everything else is removed.")
    talk.says("undo that please, it takes too much RAM")
    talk.edits("auth.ts", ["-keycloak", "+auth0"])
    talk.answers("Reverted: Auth0 again, since Keycloak took 1.3 GB.")

    newest = entries(ask(new_session(talk, 3), "Which login provider did we pick?"))[0]

    assert "Auth0 again" in newest


def test_the_last_of_several_sessions_that_changed_it_is_given(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    talk.says("Über welchen Anbieter verschicken wir die Nachrichten?")
    talk.edits("send.py", ["+client = Seven(key)"])
    talk.answers("Wir verschicken Nachrichten über den Anbieter seven.")
    for day, (old, new, said) in enumerate(
        [
            ("Seven(key)", "Meta(token)", "seven ist zu teuer"),
            ("Meta(token)", "Mail()", "Das Konto ist gesperrt"),
            ("Mail()", "Sipgate(token)", "Der Vertrag ist da"),
        ]
    ):
        later = new_session(talk, day + 1)
        later.says(said)
        later.edits("send.py", [f"-client = {old}", f"+client = {new}"])
        later.answers(f"Jetzt {new}.")

    question = "Über welchen Anbieter haben wir die Nachrichten verschickt?"
    newer, older = entries(ask(new_session(talk, 9), question))

    assert "Jetzt Sipgate(token)." in newer
    assert CHANGED_LATER in older
    assert "verschicken Nachrichten über den Anbieter seven" in older


def test_a_decision_that_a_later_session_replaced_is_given_behind_it(vault: Path, tmp_path: Path) -> None:
    talk = replaced(vault, tmp_path)

    newer, older = entries(ask(new_session(talk, 3), "Which logging library did we decide on for the API?"))

    assert "p99 fell" in newer
    assert f"for the API? ({CHANGED_LATER})" in older


def test_a_replacement_is_found_before_many_later_notes_that_mention_the_name(vault: Path, tmp_path: Path) -> None:
    talk = new_session(replaced(vault, tmp_path), 2)
    for number in range(overturned.MAX_READ + 5):
        talk.says(f"Which line of the old file {number} did winston write?")
    talk.answers("winston wrote the first one.")

    settings = config.load(str(vault))

    found = overturned.search(settings, query.parse("API logging library"), engine.SearchOptions())

    first = found.hits[0]
    assert first.title == "Which logging library should we use for the API?"
    assert first.superseded_by
    assert "winston-blocks-the-event-loop" in index.resolve(settings, first.superseded_by)


def test_a_choice_that_a_later_session_replaced_is_given_behind_it_in_chinese(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    talk.says("找哪家配送？")
    talk.answers("选了达达：市区 30 分钟送达。达达的对接人是周凯。")
    later = new_session(talk, 1)
    later.says("总是迟到，换一家")
    later.edits("provider.go", ["-dada", "+sf"])
    later.answers("从达达换到顺丰，每单 7.5 元。")

    newer, older = entries(ask(new_session(talk, 3), "现在用哪家配送？"))

    assert "每单 7.5 元" in newer
    assert CHANGED_LATER in older


def test_a_turn_whose_lines_a_later_one_removed_is_given_behind_it(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    talk.says("Welches Datumsformat nehmen wir in der Oberfläche?")
    talk.edits("format.ts", ["-null", "+'MM/DD/YYYY'"])
    talk.answers("Die Oberfläche zeigt Daten als MM/DD/YYYY.")
    later = new_session(talk, 1)
    later.says("Hier ist die Schweiz!")
    later.edits("format.ts", ["-'MM/DD/YYYY'", "+'DD.MM.YYYY'"])
    later.answers("Jetzt TT.MM.JJJJ.")

    newer, older = entries(ask(new_session(talk, 3), "Welches Datumsformat haben wir für die Oberfläche beschlossen?"))

    assert "Jetzt TT.MM.JJJJ." in newer
    assert CHANGED_LATER in older


def test_a_turn_of_which_a_later_one_removed_little_stays_as_it_is(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    talk.says("Write the exporter for invoices")
    talk.edits("export.ts", ["+open(path)", "+for (const row of rows)", "+write(row, ';')", "+close(path)"])
    talk.answers("The exporter writes invoices with semicolons.")
    talk.says("Flush before the file is closed")
    talk.edits("export.ts", ["-close(path)", "+flush(path)", "+close(path)"])
    talk.answers("Flushed.")

    text = ask(new_session(talk, 3), "What did we decide about the exporter for invoices?")

    assert "with semicolons" in text
    assert CHANGED_LATER not in text


def test_turns_of_one_second_that_undo_each_other_are_both_given(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    other = new_session(talk, 0)
    talk.says("Which provider shall the login use?")
    other.says("Which provider is cheaper for the login?")
    other.now = talk.now
    talk.edits("auth.ts", ["-login = keycloak", "+login = auth0"])
    other.edits("auth.ts", ["-login = auth0", "+login = keycloak"])
    talk.answers("The login goes through Auth0 with the free plan.")
    other.answers("The login provider is Keycloak on our own server.")

    given = entries(ask(new_session(talk, 3), "Which login provider did we pick?"))

    assert {"Auth0 with" in one for one in given} == {True, False}
    assert not any(CHANGED_LATER in one for one in given)


def test_a_turn_is_not_changed_later_by_itself(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    other = new_session(talk, 0)
    talk.says("Which logging library should we use for the API? pino costs too much")
    talk.edits("log.ts", ["-import bunyan", "+import winston"])
    other.now = talk.now
    other.says("pino is faster; replace winston with pino")
    other.edits("log.ts", ["-import winston", "+import pino"])
    other.answers("pino is in.")
    talk.now = other.now + 600
    talk.answers("We replace pino with winston. Decision: winston, since the team knows it.")

    given = entries(ask(new_session(talk, 3), "Which logging library did we decide on for the API?"))

    assert sum(CHANGED_LATER in one for one in given) == 1
    assert any("Decision: winston" in one for one in given)


def test_the_remark_is_left_out_where_the_newer_turn_was_given_before(vault: Path, tmp_path: Path) -> None:
    talk = replaced(vault, tmp_path)
    now = new_session(talk, 3)

    assert "p99 fell" in ask(now, "Why did the event loop block under load?")
    (older,) = entries(ask(now, "Which logging library did we decide on for the API?"))

    assert "Decision: winston" in older
    assert CHANGED_LATER not in older


def test_a_question_about_the_replacement_is_not_taken_for_it(vault: Path, tmp_path: Path) -> None:
    talk = replaced(vault, tmp_path)
    asked = new_session(talk, 2)
    asked.says("Why did we replace winston?")
    asked.answers("We replaced winston because it blocked the event loop.")

    newer = entries(ask(new_session(talk, 3), "Which logging library did we decide on for the API?"))[0]

    assert "p99 fell" in newer


def test_a_later_request_takes_nothing_back(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    talk.says("Add retries to the reminder mails")
    talk.edits("mail.ts", ["-send(mail)", "+retry(() => send(mail), 5)"])
    talk.answers("Reminder mails are retried 5 times. The retries back off from 1 s.")
    talk.says("no thanks to tests for now. Log each failure")
    talk.answers("Each failure is logged.")
    later = new_session(talk, 1)
    later.says("replace the icon of the calendar")
    later.answers("The calendar has a new icon; the retries of the mails are as before.")

    text = ask(new_session(talk, 3), "What did we decide about retries of reminder mails?")

    assert "5 times" in text
    assert CHANGED_LATER not in text


def decided(vault: Path, number: int, text: str, **meta: object) -> None:
    head = "".join(f"{key}: {value}\n" for key, value in {"kind": "decision", "project": "churn", **meta}.items())
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / f"{number}.md").write_text(f"---\nid: aaaaaaaaa{number}\n{head}---\n{text}\n", "utf-8")


@pytest.mark.parametrize("says_so", ["the newer one", "the older one"])
def test_a_decision_that_has_more_of_the_question_gives_way_to_what_supersedes_it(
    vault: Path, tmp_path: Path, says_so: str
) -> None:
    talk = worked(vault, tmp_path)
    newer, older = {"supersedes": "aaaaaaaaa1"}, {"superseded_by": "aaaaaaaaa2"}
    decided(
        vault, 1, "Features are stored as parquet or feather files.", **(older if says_so == "the older one" else {})
    )
    decided(vault, 2, "Features live in DuckDB.", **(newer if says_so == "the newer one" else {}))

    (answer,) = entries(ask(new_session(talk, 1), "parquet or feather files for features, what's decided?"))

    assert "DuckDB" in answer


def test_the_last_of_several_decisions_that_supersede_each_other_is_given(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    decided(vault, 1, "Features are stored as parquet or feather files.")
    decided(vault, 2, "Features live in DuckDB.", supersedes="aaaaaaaaa1")
    decided(vault, 3, "Features are computed anew for each run.", supersedes="aaaaaaaaa2")

    (answer,) = entries(ask(new_session(talk, 1), "parquet or feather files for features, what's decided?"))

    assert "computed anew" in answer


@pytest.mark.parametrize("says_so", ["the newer one", "the older one"])
def test_a_superseded_decision_is_no_rival_of_the_one_in_force(vault: Path, tmp_path: Path, says_so: str) -> None:
    talk = worked(vault, tmp_path)
    newer, older = {"supersedes": "aaaaaaaaa1"}, {"superseded_by": "aaaaaaaaa2"}
    decided(vault, 1, "Backups are copied with rsync to the NAS.", **(older if says_so == "the older one" else {}))
    decided(vault, 2, "Backups go to Hetzner with restic.", **(newer if says_so == "the newer one" else {}))
    talk.says("Rotate the log files weekly")
    talk.answers("The log files rotate weekly.")

    (answer,) = entries(ask(new_session(talk, 1), "how do we do backups?"))

    assert "restic" in answer


def test_a_decision_is_not_replaced_by_one_of_another_project(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    decided(vault, 1, "Features are stored as parquet or feather files.", superseded_by="aaaaaaaaa2")
    decided(vault, 2, "Features live in DuckDB.", project="sales")

    assert ask(new_session(talk, 1), "parquet or feather files for features, what's decided?") == ""


@pytest.mark.parametrize("link", ["notes/2.md", '"[[2]]"', "[[2]]", "[[The store]]", "the store", "mem:aaaaaaaaa2"])
def test_a_decision_names_what_supersedes_it_in_any_form_of_link(vault: Path, tmp_path: Path, link: str) -> None:
    talk = worked(vault, tmp_path)
    decided(vault, 1, "Features are stored as parquet or feather files.", superseded_by=link)
    decided(vault, 2, "Features live in DuckDB.", title="The store")

    assert "DuckDB" in ask(new_session(talk, 1), "parquet or feather files for features, what's decided?")


def test_what_supersedes_two_decisions_is_given_once(vault: Path, tmp_path: Path) -> None:
    talk = worked(vault, tmp_path)
    decided(vault, 1, "Features are stored as parquet or feather files in the lake.")
    decided(vault, 2, "Features: parquet or feather files.")
    decided(vault, 3, "DuckDB it is.", supersedes="[aaaaaaaaa1, aaaaaaaaa2]")

    (answer,) = entries(ask(new_session(talk, 1), "What did we decide about parquet or feather files for features?"))

    assert "DuckDB" in answer


@pytest.mark.parametrize("meta", [{"private": "true"}, {"status": "archived"}, {"status": "proposed"}])
def test_what_supersedes_a_decision_is_not_given_if_it_is_given_to_no_agent(
    vault: Path, tmp_path: Path, meta: dict[str, str]
) -> None:
    talk = worked(vault, tmp_path)
    decided(vault, 1, "Features are stored as parquet or feather files.", superseded_by="aaaaaaaaa2")
    decided(vault, 2, "Features live in DuckDB.", **meta)

    assert "DuckDB" not in ask(new_session(talk, 1), "parquet or feather files for features, what's decided?")


def flags(vault: Path, tmp_path: Path, *, replaces: bool) -> Talk:
    """Return a session after two that set a limit for rides; the second one replaces that of the first, or another."""
    talk = worked(vault, tmp_path)
    removed = "-WATT = 6.8" if replaces else "-ROWS = 90"
    for number, (asked, lines, answer) in enumerate(
        (
            ("detect impossible power", ["-WATT = 0", "+WATT = 6.8"], "A ride is flagged above 6.8 W/kg."),
            ("professionals complain", [removed, "+WATT = 7.1"], "A rider is flagged above 7.1 W/kg, with a ride."),
            ("log requests", ["-log = 0", "+log = 1"], "All requests are logged."),
        )
    ):
        talk = new_session(talk, number + 1)
        talk.says(asked)
        talk.edits("flags.py" if number < 2 else "log.py", lines)
        talk.answers(answer)
    return new_session(talk, 4)


@pytest.mark.parametrize("replaces", [True, False])
def test_an_older_version_of_an_answer_is_not_its_rival(vault: Path, tmp_path: Path, replaces: bool) -> None:
    given = entries(ask(flags(vault, tmp_path, replaces=replaces), "above how many W/kg is a ride flagged?"))

    assert ["7.1 W/kg" in one for one in given] == ([True, False] if replaces else [])


def timeouts(vault: Path, tmp_path: Path) -> Talk:
    """Return a session after two that set a value and changed it, and one that a word about it is in."""
    talk = worked(vault, tmp_path)
    for number, (asked, old, new, answer) in enumerate(
        (
            ("set a gateway timeout", "-timeout = None", "+timeout = 30", "The gateway timeout is 30 seconds."),
            ("raise it for the slow clients", "-timeout = 30", "+timeout = 90", "The gateway timeout is 90 seconds."),
        )
    ):
        talk = new_session(talk, number + 1)
        talk.says(asked)
        talk.edits("gateway.py", [old, new])
        talk.answers(answer)
    talk = new_session(talk, 3)
    talk.says("log the gateway")
    talk.edits("log.py")
    talk.answers("The gateway logs its requests.")
    return new_session(talk, 4)


def test_a_search_names_the_turn_that_changed_a_hit_later(vault: Path, tmp_path: Path) -> None:
    timeouts(vault, tmp_path)
    settings = config.load(str(vault))

    found = overturned.search(settings, query.parse("gateway timeout"), engine.SearchOptions(limit=10))

    by_title = {hit.title: hit for hit in found.hits if hit.kind == "response"}
    newer = by_title["The gateway timeout is 90 seconds."]
    assert by_title["The gateway timeout is 30 seconds."].superseded_by == newer.id
    assert newer.superseded_by == ""
    assert by_title["The gateway logs its requests."].superseded_by == ""


def first_answers(vault: Path, text: str) -> list[str]:
    """Return the titles of the answers that a search finds, in their order."""
    hits = overturned.search(config.load(str(vault)), query.parse(text), engine.SearchOptions()).hits
    return [hit.title for hit in hits if hit.kind == "response"]


OLD, NEW = "The gateway timeout for all clients is 30 seconds.", "The timeout is 90 seconds."


def replaced_value(vault: Path, tmp_path: Path) -> None:
    """Store a value, and in another session a newer one in fewer words."""
    talk = worked(vault, tmp_path)
    for number, (asked, old, new, answer) in enumerate(
        (
            ("set a gateway timeout for all clients", "-timeout = None", "+timeout = 30", OLD),
            ("raise the timeout", "-timeout = 30", "+timeout = 90", NEW),
        )
    ):
        talk = new_session(talk, number + 1)
        talk.says(asked)
        talk.edits("gateway.py", [old, new])
        talk.answers(answer)
    new_session(talk, 3)


@pytest.mark.parametrize(
    "text",
    [
        "gateway timeout now",
        "gateway timeout",
        "what is the gateway timeout for clients now?",
        "which gateway timeout is used?",
        "gateway timeout that is used to wait",
    ],
)
def test_what_changed_a_hit_later_is_found_before_it(vault: Path, tmp_path: Path, text: str) -> None:
    replaced_value(vault, tmp_path)

    assert first_answers(vault, text)[:2] == [NEW, OLD]


@pytest.mark.parametrize(
    "text",
    [
        "gateway timeout clients before",
        "gateway timeout that clients used to have",
        "why did we set the gateway timeout for all clients?",
        "what was the first gateway timeout for clients?",
        "warum haben wir gateway timeout clients gesetzt?",
    ],
)
def test_a_search_for_an_earlier_time_or_a_reason_keeps_its_order(vault: Path, tmp_path: Path, text: str) -> None:
    replaced_value(vault, tmp_path)

    assert first_answers(vault, text)[:2] == [OLD, NEW]


def test_pages_of_one_hit_have_the_order_and_the_marks_of_one_page(vault: Path, tmp_path: Path) -> None:
    replaced_value(vault, tmp_path)
    settings, parsed = config.load(str(vault)), query.parse("gateway timeout clients now")

    whole = overturned.search(settings, parsed, engine.SearchOptions(limit=4)).hits
    pages = [overturned.search(settings, parsed, engine.SearchOptions(limit=1, offset=n)).hits[0] for n in range(4)]

    assert [(hit.id, hit.superseded_by) for hit in pages] == [(hit.id, hit.superseded_by) for hit in whole]
    assert whole[0].title == NEW
    assert {hit.superseded_by for hit in whole if hit.title == OLD} == {whole[0].id}


def test_a_long_list_names_later_turns_too(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced_value(vault, tmp_path)
    monkeypatch.setattr(hits, "AT_ONCE", 2)
    settings, parsed = config.load(str(vault)), query.parse("gateway timeout clients now")

    found = overturned.search(settings, parsed, engine.SearchOptions(limit=1_000)).hits

    newer = next(hit.id for hit in found if hit.title == NEW)
    assert {hit.superseded_by for hit in found if hit.title == OLD} == {newer}


@pytest.mark.parametrize("text", ["kind:response", "gateway timeout"])
def test_a_list_that_is_not_ranked_names_no_later_turn(vault: Path, tmp_path: Path, text: str) -> None:
    timeouts(vault, tmp_path)
    options = engine.SearchOptions("newest", limit=10)

    hits = overturned.search(config.load(str(vault)), query.parse(text), options).hits

    assert {hit.superseded_by for hit in hits} == {""}


def test_what_changed_a_hit_in_another_project_is_not_named(vault: Path, tmp_path: Path) -> None:
    talk = timeouts(vault, tmp_path)
    other = new_session(talk, 7, tmp_path / "other")
    other.says("replace gateway with retries")
    other.edits("other.py")
    other.answers("Moved away from the gateway.")
    settings = config.load(str(vault))

    hits = overturned.search(
        settings, query.parse("gateway timeout project:churn"), engine.SearchOptions(limit=10)
    ).hits

    others = {hit.id for hit in engine.search(settings, "gateway project:other", engine.SearchOptions(limit=20)).hits}
    assert others
    assert others.isdisjoint(hit.superseded_by for hit in hits)
