"""Proposals: what waits for a person, what accepting and dismissing do, and that nothing is done without them."""

from __future__ import annotations

import json
from pathlib import Path

import frontmatter
import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.cli.setup import init
from mdmem.inject import context, injection_log
from mdmem.learn import decisions, proposals
from mdmem.learn.proposals import Proposal
from mdmem.search.text import wordings
from mdmem.vault import user_notes
from tests.helpers.cli_day import complete
from tests.helpers.indexed import indexed
from tests.helpers.open_work import HOUR, Work
from tests.helpers.server_calls import Server

DAY = 24 * HOUR


def waiting(at: Work) -> list[Proposal]:
    return proposals.waiting(indexed(at.day.config()), now=at.now)


def propose(at: Work, title: str, text: str, **more: str) -> str:
    made = decisions.add(
        at.day.config(), title, text, kind="decision", project="app", proposed=True, now=at.now, **more
    )
    return made.path


def decide(at: Work, title: str, text: str) -> str:
    at.now += 60
    return decisions.add(at.day.config(), title, text, kind="decision", project="app", now=at.now).path


def status(at: Work, path: str) -> object:
    return frontmatter.load(str(at.day.vault / path)).get("status")


def start(at: Work) -> str:
    event = Event(agent="claude-code", name="SessionStart", session="new", cwd=at.cwd, source="startup")
    made = context.at_start(at.day.config(), event, at.now, 1e12)
    return made.text if made else ""


def test_what_an_agent_proposes_waits_is_given_to_nobody_and_holds_once_it_is_accepted(
    at: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = decide(at, "Times in local time", "Times are stored in local time.")
    name = str(frontmatter.load(str(at.day.vault / old))["id"])
    path = propose(at, "Clocks are compared in UTC", "Clocks are compared in UTC.", supersedes=name)
    (one,) = waiting(at)
    for option in ("--accept", "--dismiss"):
        assert complete(at.day, monkeypatch, "proposals", option, one.key[:3]) == [one.key]
    assert (one.kind, one.title, one.path) == ("note", "Clocks are compared in UTC", path)
    assert one.why == f"decision proposed by an agent; supersedes [mem:{name}]"
    assert [row["title"] for row in at.day.json("decisions")] == ["Times in local time"]
    assert "Clocks are compared" not in start(at)
    assert at.day.json("search", "is:proposed")[0]["id"] == one.id
    assert at.day.run("proposals", "--accept", one.key).stdout == "Accepted: Clocks are compared in UTC\n"
    assert status(at, path) is None
    assert [row["title"] for row in at.day.json("decisions")] == ["Clocks are compared in UTC"]
    assert "Clocks are compared" in start(at)
    assert waiting(at) == []


def test_what_is_dismissed_stays_in_the_vault_and_is_not_proposed_again(at: Work) -> None:
    path = propose(at, "Tabs", "Indent with tabs.")
    at.day.run("proposals", "--dismiss", waiting(at)[0].key)
    assert status(at, path) == "dismissed"
    assert waiting(at) == []
    assert at.day.json("decisions", "--all") == []
    assert "No proposals." in at.day.run("proposals").stderr
    assert "No proposal has the id" in str(at.day.attempt("proposals", "--accept", "nosuch").exception)


def test_agents_propose_over_mcp_unless_the_user_lets_them_write(vault: Path, home: Path) -> None:
    server = Server()
    try:
        told = server.call("add_note", {"text": "Use tabs.", "kind": "decision", "propose": True}).value
        assert told["done"] == "Proposed; it waits for the user's decision."
        assert frontmatter.load(str(vault / told["path"]))["status"] == "proposed"
        (home / ".config" / "mdmem").mkdir(parents=True)
        (home / ".config" / "mdmem" / "config.toml").write_text("[learn]\naccept = true\n")
        told = server.call("add_note", {"text": "Use UTC.", "kind": "decision", "propose": True}).value
        assert told["done"] == "Saved."
    finally:
        server.close()
    assert [one.title for one in proposals.waiting(indexed(config.load(str(vault))), now=1.8e9)] == ["Use tabs."]


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("Decision: store all times in UTC.", "decision"),
        ("Thanks! Let's go with SQLite for the cache.", "decision"),
        ("Good. Decision: ISO 8601 dates only; the zone is a matter of display.", "decision"),
        ("We have decided to drop Python 3.10.", "decision"),
        ("From now on write the tests first.", "preference"),
        ("Fix the parser. Never push to main without asking me.", "preference"),
        ("please always run the linter before you commit", "preference"),
        ("Entscheidung: alle Zeiten in UTC speichern.", "decision"),
        ("ok, and never run terraform apply", "preference"),
        ("Fix the parser, and always run the tests afterwards.", "preference"),
        ("In this repo we always squash commits.", "preference"),
        ("For this project, always use uv.", "preference"),
        ("Make sure to always add type hints.", "preference"),
        ("Please don't ever push to main.", "preference"),
        ("I prefer pytest over unittest.", "preference"),
        ("We use tabs here, not spaces.", "preference"),
        ("Remember: tests go next to the code.", "preference"),
        ("Remember to run the linter before each commit.", "preference"),
        ("By default, write commit messages in English.", "preference"),
        ("Immer Tabs verwenden.", "preference"),
        ("Bitte niemals terraform apply ausführen.", "preference"),
        ("Führe nie terraform apply aus.", "preference"),
        ("Usa siempre tabuladores.", "preference"),
        ("Nunca ejecutes terraform apply.", "preference"),
        ("Por favor, no uses nunca npm.", "preference"),
        ("ok, go for bstr", "decision"),
        ("Then Meilisearch it is, self hosted.", "decision"),
        ("Change of plans, so we're not doing Adyen after all.", "decision"),
        ("not worth it, we don't support Windows", "decision"),
        ("ok nehmen wir pg-boss", "decision"),
        ("Wir nehmen dafür künftig i18next.", "preference"),
    ],
)
def test_wordings_that_decide_are_marked(prompt: str, kind: str) -> None:
    assert [one.kind for one in wordings.worded_rules(prompt)] == [kind]


@pytest.mark.parametrize(
    "prompt",
    [
        "Why does it always fail on Mondays?",
        "The parser never returns None",
        "Should we go with SQLite?",
        "Never mind.",
        "```\nDecision: use tabs everywhere\n```",
        "What was the decision about the cache?",
        "It works, but never stops.",
        "Fix the loop, it always stops early.",
        "In the loop it always returns None",
        "Write a test that always fails",
        "I prefer the second option.",
        "Remember to push.",
        "By default the port is 80, change it",
        "Immer noch kaputt, der Parser",
        "Immer wenn ich speichere, kommen Ausnahmen.",
        "Mach das Fenster zu, es ist immer offen",
        "Schreib einen Test, der immer fehlschlägt",
        "El parser nunca devuelve nada.",
        "Siempre falla los lunes.",
        "ok, go for it",
        "I don't know what it is.",
        "Yes it is.",
        "Nehmen wir an, der Server ist weg.",
        "",
    ],
)
def test_sentences_that_only_mention_a_rule_are_not_proposed(prompt: str) -> None:
    assert list(wordings.worded_rules(prompt)) == []


@pytest.mark.parametrize(
    "rule", ["Always use `pnpm`, never `npm`.", 'Decision: without a time, we show "on request. Call us".']
)
def test_what_a_rule_quotes_is_part_of_it(rule: str) -> None:
    assert [one.sentence for one in wordings.worded_rules(f"Fix `a.b`. {rule} See “c. d”.")] == [rule]


def test_a_rule_in_a_prompt_is_a_candidate_and_a_note_only_when_a_person_says_so(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix the export. From now on write all times in UTC.")
    one.answer()
    one.ask("Decision: the export has no header line.")
    one.answer()
    found = waiting(at)
    assert [(p.kind, p.title) for p in found] == [
        ("wording", "Decision: the export has no header line."), ("wording", "From now on write all times in UTC."),
    ]  # fmt: skip
    assert list((at.day.vault / "notes").rglob("*.md")) == []
    at.day.run("proposals", "--accept", found[1].key, "--dismiss", found[0].key)
    (row,) = at.day.json("decisions", "--kind", "preference")
    assert row["title"] == "From now on write all times in UTC."
    assert f"Said in [mem:{found[1].id}]." in at.day.run("show", row["id"]).stdout
    assert waiting(at) == []


def test_each_rule_of_a_prompt_is_proposed_on_its_own(at: Work) -> None:
    one = at.session(1)
    one.ask("Two things: \n- always use tabs\n- never run terraform apply\n- Decision: all times are in UTC.")
    one.answer()
    tabs, terraform, times = waiting(at)
    assert [tabs.title, terraform.title] == ["always use tabs", "never run terraform apply"]
    at.day.run("proposals", "--accept", terraform.key, "--dismiss", tabs.key)
    assert [row["title"] for row in at.day.json("decisions", "--kind", "preference")] == ["never run terraform apply"]
    assert [one.key for one in waiting(at)] == [times.key]
    at.day.run("proposals", "--accept", times.key)
    assert [row["title"] for row in at.day.json("decisions", "--kind", "decision")] == [times.title]
    assert waiting(at) == []


def test_a_proposal_is_accepted_also_when_what_it_supersedes_is_gone(at: Work) -> None:
    old = decide(at, "Times in local time", "Times are stored in local time.")
    name = str(frontmatter.load(str(at.day.vault / old))["id"])
    path = propose(at, "Clocks are compared in UTC", "Clocks are compared in UTC.", supersedes=name)
    (at.day.vault / old).unlink()
    (one,) = waiting(at)
    assert at.day.run("proposals", "--accept", one.key).stdout == "Accepted: Clocks are compared in UTC\n"
    assert status(at, path) is None


def test_a_decision_on_the_same_subject_proposes_to_supersede_the_earlier_one(at: Work) -> None:
    old = decide(at, "Times are stored in UTC", "Whole seconds.")
    decide(at, "The API is written in Go", "Since it is one binary.")
    new = decide(at, "Times are stored in local time", "Users asked for it, and the zone is stored beside it.")
    (one,) = waiting(at)
    assert (one.kind, one.path) == ("supersede", new)
    assert "Times are stored in UTC" in one.why
    at.day.run("proposals", "--accept", one.key)
    assert frontmatter.load(str(at.day.vault / old))["superseded_by"] == one.id
    assert frontmatter.load(str(at.day.vault / new))["supersedes"] == one.other
    assert waiting(at) == []


def test_the_same_statement_twice_proposes_a_merge_with_its_key(at: Work) -> None:
    decide(at, "Times are stored in UTC", "Times are stored in UTC, in whole seconds.")
    again = decide(at, "Times are stored in UTC.", "Times are stored in UTC, in whole seconds!")
    (one,) = waiting(at)
    assert (one.kind, one.path) == ("merge", again)
    assert "(store-time-utc@app)" in one.why
    at.day.run("proposals", "--accept", one.key)
    assert [row["title"] for row in at.day.json("decisions")] == ["Times are stored in UTC"]


def test_a_note_that_three_sessions_cite_is_proposed_for_a_pin(at: Work) -> None:
    path = decide(at, "Times in UTC", "Times are stored in UTC.")
    name = frontmatter.load(str(at.day.vault / path))["id"]
    for number in range(1, 4):
        assert waiting(at) == []
        one = at.session(number)
        one.ask(f"Write export number {number}")
        one.answer(f"It has UTC times [mem:{name}].")
    (one_,) = waiting(at)
    assert (one_.kind, one_.path, one_.why) == ("pin", path, "cited in 3 sessions: pin it")
    at.day.run("proposals", "--accept", one_.key)
    assert frontmatter.load(str(at.day.vault / path))["pinned"] is True
    assert waiting(at) == []


def test_a_note_that_was_given_ten_times_in_vain_is_proposed_for_archiving_and_then_only_found(at: Work) -> None:
    decide(at, "The API is written in Go", "Since it is one binary.")
    path = decide(at, "Times in UTC", "Times are stored in UTC.")
    name = frontmatter.load(str(at.day.vault / path))["id"]
    for number in range(10):
        assert waiting(at) == []
        injection_log.log(at.day.config(), {"session": str(number), "ids": [name]})
    (one,) = waiting(at)
    assert (one.kind, one.why) == ("archive", "given 10 times, never cited: archive it")
    user_notes.set_keys(at.day.config(), path, {"reviewed": "2026-09-20"})
    assert waiting(at) == [], "a person has kept it in review"
    user_notes.set_keys(at.day.config(), path, {"reviewed": None})
    text = start(at)
    assert 0 < text.index("written in Go") < text.index("Times in UTC"), "what was given in vain sinks"
    at.day.run("proposals", "--accept", one.key)
    assert status(at, path) == "archived"
    assert "Times in UTC" not in start(at)
    assert [row["id"] for row in at.day.json("search", "stored UTC")] == [name]


def test_open_work_that_is_a_month_old_is_offered_for_dropping(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(Write_the_export="pending", Announce_it="pending")
    one.answer()
    at.now += 31 * DAY
    at.day.env["MDMEM_NOW"] = str(at.now)
    found = {p.title: p for p in waiting(at)}
    assert {(p.kind, p.title) for p in found.values()} == {("drop", "Write the export"), ("drop", "Announce it")}
    at.day.run("proposals", "--accept", found["Announce it"].key, "--dismiss", found["Write the export"].key)
    assert waiting(at) == []
    assert at.open() == [("task", "Write the export")]


def test_a_quote_that_the_cited_turn_does_not_have_is_marked(at: Work) -> None:
    one = at.session(1)
    one.ask("Please store the times of the export in UTC, in whole seconds")
    one.answer("All times of the export are in UTC now.")
    (prompt,) = at.day.json("list", "--kind", "prompt")
    cited = f"[mem:{prompt['id']}]"
    right = f'Said: "times of the export in utc" and "the export are in UTC now" {cited}.'
    assert decisions.unsupported_quotes(at.day.config(), right) == []
    assert decisions.unsupported_quotes(at.day.config(), f"> the zone of the user wins always\n\n{cited}") == [
        "the zone of the user wins always"
    ]
    assert decisions.unsupported_quotes(at.day.config(), 'Nobody is cited for "the zone of the user".') == []
    path = propose(at, "Times in UTC", f'"The zone of the user wins" {cited}')
    assert frontmatter.load(str(at.day.vault / path))["unverified"] == ["The zone of the user wins"]
    assert "quotes what its source does not say: The zone of the user wins" in waiting(at)[0].why


def test_proposals_are_listed_for_people_and_programs(at: Work) -> None:
    propose(at, "Tabs", "Indent with tabs.")
    (row,) = json.loads(at.day.run("proposals", "--json").stdout)
    assert (row["kind"], row["title"], row["project"]) == ("note", "Tabs", "app")
    assert "Tabs: decision proposed by an agent" in at.day.run("proposals").stdout


@pytest.mark.slow
def test_review_asks_about_each_proposal_behind_the_notes(at: Work) -> None:
    init.make_vault(at.day.config())
    propose(at, "Tabs", "Indent with tabs.")
    propose(at, "Spaces", "Indent with spaces.")
    said = at.day.run("review", "--kind", "prompt", stdin="y\nn\n").stdout
    assert "keep this note?" in said
    assert {row["title"] for row in at.day.json("decisions")} < {"Tabs", "Spaces"}
    assert waiting(at) == []
