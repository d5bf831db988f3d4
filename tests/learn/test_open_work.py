"""Open work: what sessions left undone, and what closes it. The sessions are made by the hooks' own code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem import agents
from mdmem.config import Config
from mdmem.inject.rendering import unfinished
from mdmem.learn import work
from mdmem.search import index, runs
from mdmem.search.index.view import View
from mdmem.search.text import undone
from mdmem.views.vault_pages import upkeep
from tests.conftest import REPO
from tests.helpers import rights
from tests.helpers.call_count import calls
from tests.helpers.cli_day import MORNING, complete
from tests.helpers.indexed import indexed
from tests.helpers.open_work import FAILED, HOUR, Work

BOXES = """PDF invoices are begun.

- [x] Skeleton
- [ ] Line items with VAT
- [ ] Embed the font. Without it, the euro sign is missing.

## Test plan
- [ ] Open an invoice

```md
- [ ] A box of a template
```
"""


def test_the_empty_boxes_of_a_sessions_last_list_in_an_answer_are_open_until_they_are_ticked(at: Work) -> None:
    one = at.session(1)
    one.ask("Begin with PDF invoices")
    one.answer("- [ ] Choose a library")
    one.ask("Go on with it")
    one.answer(BOXES)
    assert sorted(at.open()) == [("task", "Embed the font."), ("task", "Line items with VAT")]
    assert "Line items with VAT" in at.day.run("todo").output

    two = at.session(2)
    two.ask("Add the line items")
    two.answer("They are in.\n\n- [x] Line items with VAT")
    assert at.open() == [("task", "Embed the font.")]

    (key,) = [row["key"] for row in at.day.json("todo") if row["text"] == "Embed the font."]
    at.day.run("todo", "--done", key)
    assert at.open() == []


def test_the_boxes_of_a_plan_that_was_then_carried_out_are_not_open(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.answer("- [ ] Read the rows\n- [ ] Write the file")
    assert len(at.open()) == 2
    one.ask("Good, do it")
    one.edit("export.py")
    one.answer("The export works.")
    assert at.open() == []


def test_what_a_session_left_open_is_listed_and_what_it_closed_is_not(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix the date parser")
    one.todo(Read_the_code="completed", Fix_the_parser="in_progress", Add_a_test="pending")
    one.run("pytest -q", FAILED)
    one.run("npm test", "Exit code 1")
    one.run("npm test")
    one.answer()
    assert sorted(at.open()) == [("failure", "pytest -q"), ("task", "Add a test"), ("task", "Fix the parser")]
    (failure,) = [i for i in work.open_work(indexed(at.day.config()), now=at.now) if i.kind == "failure"]
    assert failure.detail == "FAILED tests/test_a.py::test_leap - assert 28 == 29"
    one.todo(Fix_the_parser="completed", Add_a_test="completed")
    two = at.session(2)
    two.ask("Go on with it, please")
    two.run("uv run pytest")
    two.answer()
    assert at.open() == []


def test_what_a_later_session_took_over_and_dropped_does_not_come_back(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(Write_the_export="pending", Document_it="pending")
    one.answer()
    two = at.session(2)
    two.ask("Go ahead with the export")
    two.todo(Write_the_export="in_progress", Document_it="pending")
    two.todo(Import_instead="pending")
    two.answer()
    assert at.open() == [("task", "Import instead")]
    assert work.closed(at.day.config(), now=at.now) == []


def test_a_later_sessions_list_closes_an_item_and_shows_a_repeated_one_once(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(Write_the_export="pending", Document_it="pending", Announce_it="pending")
    one.answer()
    two = at.session(2)
    two.ask("Do the export")
    two.todo(Write_the_export="completed", Document_it="pending")
    two.answer()
    assert sorted(at.open()) == [("task", "Announce it"), ("task", "Document it")]


def test_numbered_tasks_are_followed(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan it")
    for number, subject in enumerate(("Parse", "Render", "Ship"), 1):
        one.tool("TaskCreate", {"subject": subject}, {"task": {"id": str(number), "subject": subject}})
    one.tool("TaskUpdate", {"taskId": "1", "status": "in_progress"}, {"success": True})
    one.tool("TaskUpdate", {"taskId": "1", "status": "completed"}, {"success": True})
    one.tool("TaskUpdate", {"taskId": "3", "status": "deleted"}, {"success": True})
    one.answer()
    assert at.open() == [("task", "Render")]


def test_a_task_that_waits_for_others_names_those_that_are_open(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan it")
    for number, subject in enumerate(("Parse", "Render", "Ship"), 1):
        one.tool("TaskCreate", {"subject": subject}, {"task": {"id": str(number), "subject": subject}})
    one.tool("TaskUpdate", {"taskId": "3", "addBlockedBy": ["1", "2"]}, {"success": True})
    one.tool("TaskUpdate", {"taskId": "1", "status": "completed"}, {"success": True})
    one.answer()
    found = {item["text"]: item for item in at.day.json("todo")}
    assert set(found) == {"Render", "Ship"}
    assert found["Ship"]["blocked_by"] == [found["Render"]["id"]]
    assert f"(waits for [mem:{found['Render']['id']}])" in at.day.run("todo").stdout


PLANS = {
    "codex": ("update_plan", {"plan": [{"step": "Write it", "status": "pending"}]}),
    "opencode": ("todowrite", {"todos": [{"content": "Write it", "status": "pending", "id": "1", "priority": "high"}]}),
    "gemini": ("write_todos", {"todos": [{"description": "Write it", "status": "in_progress"}]}),
    "copilot": ("update_todo", {"todos": "- [x] Plan\n- [ ] Write it"}),
}


@pytest.mark.parametrize("agent", PLANS)
def test_the_lists_of_every_agent_are_open_work(at: Work, agent: str) -> None:
    tool, given = PLANS[agent]
    asked, ran = ("BeforeAgent", "AfterTool") if agent == "gemini" else ("UserPromptSubmit", "PostToolUse")
    common = {"session_id": "s1", "cwd": at.cwd, "prompt": "Plan it"}
    run = {"tool_name": tool, "tool_input": given, "tool_use_id": "t1", "tool_response": {}}
    read = agents.load(agent).read
    begin = read({**common, "hook_event_name": asked}, {})
    for event in (begin, read({**common, **run, "hook_event_name": ran}, {})):
        at.now += 60
        at.day.store(event, at.now)
    assert ("task", "Write it") in at.open()


@pytest.mark.slow
def test_a_plan_that_only_the_transcript_of_codex_has_is_open_work(at: Work, tmp_path: Path) -> None:
    sources = (REPO / "tests" / "transcripts" / "codex").rglob("rollout-*.jsonl")
    source = next(path for path in sources if "update_plan" in path.read_text())
    plan = json.dumps(json.dumps({"plan": [{"step": "Write the index", "status": "pending"}]}))
    text = source.read_text()
    empty = json.dumps(json.dumps({"plan": []}, separators=(",", ":")))
    assert empty in text
    file = tmp_path / source.name
    file.write_text(text.replace(empty, plan))
    at.day.run("import", str(file), "--yes")
    assert "Write the index" in [row["text"] for row in at.day.json("todo", "--limit", "0")]


def test_a_prompt_without_an_answer_and_a_turn_that_broke_off(at: Work) -> None:
    one = at.session(1)
    one.ask("Why is the build slow?")
    two = at.session(2)
    two.ask("Rename the module")
    two.edit("a.py")
    three = at.session(3)
    three.ask("Upgrade the lock file")
    three.break_off()
    for number, words in enumerate(("thanks", "/clear", "Never mind."), 4):
        more = at.session(number)
        more.ask("Tell me the time")
        more.answer("Eight.")
        more.ask(words)
    seven = at.session(7)
    seven.ask("Split the parser")
    seven.answer("Shall I?")
    seven.ask("Yes.")
    seven.edit("b.py")
    wanted = [
        ("interrupted", "Rename the module"), ("interrupted", "Split the parser"),
        ("interrupted", "Upgrade the lock file"), ("prompt", "Why is the build slow?"),
    ]  # fmt: skip
    assert sorted(at.open()) == wanted
    again = at.session(8)
    again.ask("Why is the build slow?")
    again.answer()
    assert ("prompt", "Why is the build slow?") not in at.open()


@pytest.mark.parametrize(
    ("later", "is_open"),
    [
        ("Make the CSV export of the orders work", False),
        ("continue", False),
        ("mach weiter", False),
        ("Continue where you left off.", False),
        ("Send the orders by mail", True),
    ],
)
def test_a_turn_that_broke_off_is_open_until_a_later_session_goes_on_or_is_asked_for_it(
    at: Work, later: str, *, is_open: bool
) -> None:
    one = at.session(1)
    one.ask("Export the orders as CSV")
    one.edit("export.py")
    two = at.session(2)
    two.ask(later)
    two.edit("export.py")
    unanswered = at.open()
    two.answer()

    assert ("interrupted", "Export the orders as CSV") in unanswered or "CSV" in later
    assert (("interrupted", "Export the orders as CSV") in at.open()) is is_open


@pytest.mark.parametrize("answered", [1, 2])
def test_what_was_gone_on_with_is_over_whatever_broke_off_after_that(at: Work, answered: int) -> None:
    one = at.session(1)
    one.ask("Export the orders as CSV")
    one.edit("export.py")
    two = at.session(2)
    for _ in range(answered):
        two.ask("continue")
        two.edit("export.py")
    two.answer()
    two.ask("Sort the imports")
    two.edit("imports.py")

    assert at.open() == [("interrupted", "Sort the imports")]


LEFT = [
    *("Noch offen", "Es fehlt noch", "Offene Punkte", "Zu tun", "Nächste Schritte", "Nächster Schritt"),
    *("Not tested", "Not yet done", "Still to do", "What is left", "What's still open", "Next up", "Follow-ups"),
    *("Ce qui reste à faire", "Reste à faire", "À faire", "Prochaine étape", "Prochaines étapes"),
    *("Falta", "Faltan", "Queda por hacer", "Pendiente", "Próximos pasos", "Siguiente paso"),
]


def test_what_answers_say_is_left_is_listed_in_any_words_that_are_known(at: Work) -> None:
    for number, heading in enumerate(LEFT):
        assert unfinished.is_heading(heading), heading
        one = at.session(number)
        one.ask(f"Move part {number}")
        one.edit(f"part_{number}.py")
        one.answer(f"It is moved. {heading}: item{number} of the exports.")

    listed = {text for _, text in at.open()}
    assert [LEFT[n] for n in range(len(LEFT)) if f"item{n} of the exports." not in listed] == []


def test_what_an_answer_left_stays_open_while_it_is_only_talked_about(at: Work) -> None:
    one = at.session(1)
    one.ask("Ship to Austria for free")
    one.edit("rates.py")
    one.answer("Austria is free now.\n\nOpen: a limit for Switzerland.")
    one.ask("we do Switzerland when the customs are clear")
    one.answer("Then it stays as it is.")
    assert at.open() == [("task", "a limit for Switzerland.")]
    one.ask("and what about Italy?")
    one.answer("Still open: limits for Switzerland and for Italy.")
    assert at.open() == [("task", "limits for Switzerland and for Italy.")]

    one.ask("no, we won't ship to either")
    one.answer("Fine.")
    assert at.open() == []


def test_what_is_not_done_yet_is_open_after_work_and_not_after_a_question(at: Work) -> None:
    one = at.session(1)
    one.ask("Check the VAT ids")
    one.edit("vat.py")
    one.answer("They are checked. The ids aren't looked up in VIES yet, only their format.")
    two = at.session(2)
    two.ask("Does the shop sell gift cards?")
    two.answer("No, gift cards are not supported yet.")
    assert at.open() == [("task", "The ids aren't looked up in VIES yet")]

    three = at.session(3)
    three.ask("look the ids up in VIES")
    three.edit("vies.py")
    three.answer()
    assert at.open() == []


@pytest.mark.parametrize(
    "said",
    [
        *("The ids aren't looked up yet", "It is not tested with files yet", "The index still needs a rebuild"),
        *("Still missing: the limits", "Der Export ist noch nicht geprüft", "Es fehlen noch die Tests"),
        *("Todavía no hay pruebas", "Aún no funciona", "Faltan comprobar dos casos", "Ce n'est pas encore fait"),
        *("I'll port the rest tomorrow", "I’ll do it in a follow-up", "I will check the limits later"),
        *("Ich werde es morgen prüfen", "Das werde ich danach entfernen"),
    ],
)
def test_what_is_not_done_yet_is_found_in_any_letters_and_only_within_a_line(said: str) -> None:
    assert undone.clause(said)
    for text in (said, said.upper(), f"It is moved.\n{said}.\nAll is well."):
        assert undone.is_in(text)
    assert not undone.is_in("\n".join(said.split()))


@pytest.mark.parametrize(("changed", "closed"), [("params.yaml", True), ("other.yaml", False)])
def test_a_change_of_the_file_that_an_item_names_closes_it_in_fewer_of_its_words(
    at: Work, changed: str, closed: bool
) -> None:
    one = at.session(1)
    one.ask("Tune the model overnight")
    one.run("python tune.py")
    one.answer("It runs. I'll write the best learning rate and depth to `params.yaml` tomorrow.")
    two = at.session(2)
    two.ask("what was the best depth? put it into params.yaml")
    two.edit(changed)
    two.answer()
    assert (at.open() == []) is closed


def test_a_note_of_a_person_on_the_file_that_an_item_names_closes_nothing(at: Work) -> None:
    one = at.session(1)
    one.ask("Tune the model overnight")
    one.run("python tune.py")
    one.answer("It runs. I'll write the best learning rate and depth to `params.yaml` tomorrow.")
    left = at.open()
    (at.day.vault / "notes" / "depth.md").write_text("---\nfiles: [params.yaml]\n---\nThe best depth so far is six.\n")

    assert left != []
    assert at.open() == left


def test_work_of_another_project_takes_up_nothing(at: Work, tmp_path: Path) -> None:
    one = at.session(1)
    one.ask("Export the orders as CSV")
    one.edit("export.py")
    at.cwd = str(tmp_path / "other")
    Path(at.cwd).mkdir()
    two = at.session(2)
    two.ask("Export the orders as CSV here, too")
    two.edit("export.py")
    two.answer()

    assert at.open() == [("interrupted", "Export the orders as CSV")]


def test_an_item_of_a_list_is_over_once_another_session_was_asked_for_it(at: Work) -> None:
    one = at.session(1)
    one.ask("Move the jobs to the new queue")
    one.todo(Port_the_mail_jobs="pending", Port_the_invoice_jobs="pending")
    one.answer("Still to port: the mail jobs and the invoice jobs.")
    two = at.session(2)
    two.ask("port the invoice jobs")
    two.edit("jobs/invoice.py")
    two.answer("The invoice jobs are ported. Nobody has asked to port the mail jobs yet.")

    assert at.open() == [("task", "Port the mail jobs")]


def test_a_session_at_work_is_not_open_work(at: Work) -> None:
    one = at.session(1)
    one.ask("Why is the build slow?")
    assert work.open_work(indexed(at.day.config()), now=at.now + 60) == []


def test_done_closes_one_item_and_leaves_the_rest(at: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    one = at.session(1)
    one.ask("Fix the parser")
    one.todo(Fix_it="pending", Test_it="pending")
    one.run("pytest -q", FAILED)
    keys = {item.text: item.key for item in work.open_work(indexed(at.day.config()), now=at.now + HOUR)}
    for key in keys.values():
        assert complete(at.day, monkeypatch, "todo", "--done", key) == [key]
    at.day.run("todo", "--done", keys["Fix it"], "--done", keys["pytest -q"], "--done", keys["Fix the parser"])
    assert at.open() == [("task", "Test it")]
    one.todo(Fix_it="pending", Test_it="completed", Ship_it="pending")
    one.answer()
    assert at.open() == [("task", "Ship it")]


def test_tasks_that_people_wrote_are_open_until_they_are_done(at: Work) -> None:
    first = at.day.json("note", "Renew the certificate", "--kind", "task", "--project", "")
    second = at.day.json("note", "Call the registrar", "--kind", "task", "--project", "")
    path = at.day.vault / first["path"]
    path.write_text(path.read_text().replace("kind: task\n", f"kind: task\nblocked_by: mem:{second['id']}\n"))
    found = {row["text"]: row for row in at.day.json("todo")}
    assert found["Renew the certificate"]["blocked_by"] == [second["id"]]
    assert f"waits for [mem:{second['id']}]" in at.day.run("todo").stdout
    at.day.run("todo", "--done", found["Call the registrar"]["key"])
    assert [row["text"] for row in at.day.json("todo")] == ["Renew the certificate"]


def test_a_superseded_session_leaves_nothing_open(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix the parser")
    one.todo(Fix_it="pending")
    one.answer()
    (page,) = at.day.vault.glob("journal/*/*/*/*-00000001.md")
    page.write_text(page.read_text().replace("kind: session\n", "kind: session\nsuperseded_by: abc\n"))
    assert at.open() == []


def test_a_mark_made_since_the_index_was_updated_counts(at: Work) -> None:
    at.session(1).ask("Why is the build slow?")
    config, view = _settled(at)
    (prompt,) = at.day.vault.rglob("*-prompt-*.md")
    prompt.write_text(prompt.read_text().replace("kind: prompt\n", "kind: prompt\ndone: true\n"))
    assert work.in_view(config, view, "", at.now + HOUR) == []
    assert at.open() == []


@pytest.mark.parametrize(
    "mark",
    ["done: true", "done: true # later", '"done": true', "done : true", "? done\n: true"],
    ids=["plain", "commented", "quoted", "spaced", "complex"],
)
@pytest.mark.parametrize("change", [str, lambda text: f"\ufeff{text}", lambda text: text.replace("\n", "\r\n")])
def test_a_mark_counts_however_yaml_lets_it_be_written(at: Work, mark: str, change: Callable[[str], str]) -> None:
    at.session(1).ask("Why is the build slow?")
    (prompt,) = at.day.vault.rglob("*-prompt-*.md")
    marked = prompt.read_text("utf-8").replace("kind: prompt\n", f"kind: prompt\n{mark}\n")
    prompt.write_bytes(change(marked).encode())
    assert at.open() == []


def test_an_answer_in_another_part_of_the_session_closes_its_prompt(at: Work) -> None:
    session = at.session(1)
    session.ask("Fix the parser")
    session.answer()
    session.ask("Why is the build slow?")
    session.run("ls")
    assert at.open() == [("interrupted", "Why is the build slow?")]
    session.answer()
    (answer,) = at.day.vault.rglob("002-*-response-*.md")
    part = answer.parent / "part2"
    part.mkdir()
    answer.rename(part / answer.name)
    assert at.open() == []


def test_notes_without_marks_are_not_read_for_the_list(at: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 3):
        at.session(number).ask(f"Why is build {number} slow?")
    (second,) = at.day.vault.rglob("*-prompt-*-build-2-*.md")
    second.write_text(second.read_text().replace("kind: prompt\n", "kind: prompt\nreviewed: true\n"))
    config, view = _settled(at)
    opened: list[str] = []
    open_file = os.open

    def noted(path: str, *args: Any, **named: Any) -> int:
        opened.append(path)
        return open_file(path, *args, **named)

    monkeypatch.setattr(os, "open", noted)
    items = work.in_view(config, view, "", at.now + HOUR)
    assert len(items) == 3
    assert [path for path in opened if path.endswith(".md")] == [second.name]


@rights.kept_out
def test_a_marked_note_that_may_not_be_read_hides_no_other_work(at: Work) -> None:
    at.session(1).ask("Why is the build slow?")
    at.session(2).ask("Fix the parser")
    (prompt,) = at.day.vault.rglob("*-prompt-why-*.md")
    prompt.write_text(prompt.read_text().replace("kind: prompt\n", "kind: prompt\ndone: true\n"))
    config, view = _settled(at)
    fix, slow = ("prompt", "Fix the parser"), ("prompt", "Why is the build slow?")
    mode = prompt.stat().st_mode
    prompt.chmod(0)
    try:
        with rights.of_a_user():
            found = work.in_view(config, view, "", at.now + HOUR)
    finally:
        prompt.chmod(mode)
    assert [(item.kind, item.text) for item in found] == [fix, slow]
    found = work.in_view(config, view, "", at.now + HOUR)
    assert [(item.kind, item.text) for item in found] == [fix]


def _settled(at: Work) -> tuple[Config, View]:
    """Index notes whose files are so old that a change of one would change its mtime."""
    for path in at.day.vault.rglob("*.md"):
        os.utime(path, (MORNING, MORNING))
    config = indexed(at.day.config())
    view = index.current(config)
    assert view is not None
    return config, view


def test_private_items_are_never_listed(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix the parser")
    one.tool("TodoWrite", {"todos": [{"content": "Ring <private>Ada</private>", "status": "pending"}]}, {})
    one.answer()
    assert at.open() == [("task", "Ring [PRIVATE]")]


def test_an_unknown_id_is_refused_and_an_empty_list_says_so(at: Work) -> None:
    assert "No open work has the id" in str(at.day.attempt("todo", "--done", "nothing1").exception)
    assert "Nothing is open" in at.day.run("todo").stderr


@pytest.mark.parametrize(
    ("failed", "later", "closed"),
    [
        ("pytest -q", "pytest", True),
        ("pytest -q tests/a.py", "pytest -x -n 2", True),
        ("pytest tests/a.py::test_b", "pytest tests/a.py", True),
        ("pytest -q", "pytest tests/a.py", False),
        ("cd app && python -m pytest -q 2>&1 | tail -5", ".venv/bin/pytest -q", True),
        ("npm run build", "npm run build --silent", True),
        ("npm run build", "npm test", False),
        ("cargo test", "cargo build", False),
        ("RUST_BACKTRACE=1 cargo test", "cargo test", True),
        ("git push", "git push -u origin main", True),
        ("git pull --rebase", "git rebase --continue", True),
        ("git merge dev", "git commit -m 'Merge dev'", True),
        ("git commit -m a", "git pull", False),
        ("timeout 60 make check", "make check", True),
        ("make check", "make lint", False),
        ("make flash", "make flash RIG=2", True),
        ("npm run seed", "npm run seed -- --catalog demo --locale de", True),
        ("npm run seed -- --catalog demo", "npm run seed -- --catalog tools", False),
        ("npm run test", "npm run test -- --coverage login", False),
        ("make deploy ENV=staging V=1", "make deploy ENV=staging", True),
        ("make deploy ENV=staging", "make deploy ENV=production", False),
        ("make test tests/a.py", "make test RIG=2 tests/b.py", False),
        ("uv run mypy --strict src", "mypy src", True),
        ("./deploy.sh staging", "bash deploy.sh staging", True),
        ("python -m tools.check", "python -u -m tools.check", True),
        ("python -u -m tools.check a.py", "python -m tools.check b.py", False),
        ("west flash", "west flash --recover", True),
        ("west flash", "west build", False),
        ("flutter build ios", "flutter test", False),
    ],
)
def test_which_success_closes_which_failure(failed: str, later: str, closed: bool) -> None:
    before, after = runs.check(failed), runs.check(later)
    assert before is not None
    assert after is not None
    assert runs.closes(after, before) is closed


def test_each_part_of_a_run_that_succeeded_closes_what_it_checks(at: Work) -> None:
    one = at.session(1)
    one.ask("Publish it")
    one.run("git push", "Exit code 1\nerror: failed to push some refs to 'example.org:acme/app.git'")
    one.run("make check", FAILED)
    one.run("git rebase --continue && git push")
    one.run("make lint; make check")
    one.answer()

    assert [row["text"] for row in at.day.json("todo")] == ["make check"]


@pytest.mark.parametrize(
    "command",
    ["ls nosuch", "grep -rn x .", "cat a | head", "python -c 'import x'", "git status", "git diff --exit-code",
     "which x", "test -f a", "curl -sf http://localhost", "python3 - <<'E'\nx\nE", "rm -r build", "", "'",
     "echo pytest"],
)  # fmt: skip
def test_a_command_that_only_looks_around_is_not_a_check(command: str) -> None:
    assert runs.check(command) is None


def test_a_failure_behind_a_pipe_stays_open_until_the_check_passes(at: Work) -> None:
    one = at.session(1)
    one.ask("Round the totals")
    one.run("pytest -q", "Exit code 1\nFAILED tests/test_total.py::test_cents\n1 failed in 1.2s")
    one.tool("Bash", {"command": "pytest -q 2>&1 | tail -1"}, {"stdout": "1 failed in 1.1s"})
    one.answer()

    assert [row["text"] for row in at.day.json("todo")] == ["pytest -q 2>&1 | tail -1"]

    one.ask("Go on")
    one.tool("Bash", {"command": "pytest -q 2>&1 | tail -1"}, {"stdout": "1 passed in 1.1s"})
    one.answer()

    assert at.day.json("todo") == []


def test_the_page_of_a_project_lists_its_open_work(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(Write_the_export="pending", Read_the_code="completed")
    one.run("pytest -q", FAILED)
    one.answer()
    upkeep.refresh(at.day.config(), now=at.now + HOUR)
    (page,) = at.day.vault.glob("journal/*/project.md")
    section = page.read_text().partition("## Open work\n")[2].partition("\n## ")[0]
    assert "- To do: [Write the export](" in section
    assert "- Still fails: [pytest -q](" in section
    assert "Read the code" not in section


def test_the_page_of_a_session_lists_what_it_left_open_until_another_session_closes_it(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(Write_the_export="pending", Announce_it="pending")
    one.answer()
    upkeep.refresh(at.day.config(), now=at.now + HOUR)
    pages = at.day.vault.glob("journal/app/*/*/*-plan-the-export-*.md")
    (page,) = (path for path in pages if "prompt" not in path.name)
    assert page.read_text().count("## Open work\n\n- To do: [Write the export](001-") == 1
    two = at.session(2)
    two.ask("Announce it")
    two.todo(Announce_it="completed")
    two.answer()
    upkeep.refresh(at.day.config(), now=at.now + 9 * HOUR)
    assert "- To do: [Write the export](001-" in page.read_text()
    assert "Announce it" not in page.read_text().partition("## Open work")[2]
    two.todo(Announce_it="completed", Write_the_export="completed")
    two.answer()
    upkeep.refresh(at.day.config(), now=at.now + 18 * HOUR)
    assert "Open work" not in page.read_text()


def test_a_prompt_without_an_answer_takes_no_more_work_where_many_share_its_words(at: Work) -> None:
    counted = {}
    for begin, sessions in ((1, 8), (9, 32)):
        for number in range(begin, sessions + 1):
            at.session(number).ask(f"Sort the ledger of the harbor, page {number}")
        assert len(at.open()) == sessions
        counted[sessions] = calls(at.open, View.name.__code__)

    assert counted[32] < 7 * counted[8]


def test_what_answers_left_takes_no_more_work_per_answer_in_a_long_session(at: Work) -> None:
    counted = {}
    one = at.session(1)
    for begin, turns in ((1, 8), (9, 32)):
        for number in range(begin, turns + 1):
            one.ask(f"Check country {number}")
            one.answer(f"Open: the ids of country {number}.")
        assert at.open() == [("task", f"the ids of country {turns}.")]
        counted[turns] = calls(at.open, View.name.__code__)

    assert counted[32] < 7 * counted[8]


def test_a_prompt_is_taken_up_also_without_its_longest_word(at: Work) -> None:
    at.session(1).ask("Sort ledger entries by harbor, pier and reconciliation")
    assert len(at.open()) == 1

    two = at.session(2)
    two.ask("Sort the ledger entries by harbor and pier")
    two.edit("ledger.py")
    two.answer()

    assert at.open() == []
