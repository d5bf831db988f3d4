"""About: what is known of a file, a symbol, a number, a package."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem.learn import about as learned
from mdmem.search.text import analysis, entities
from mdmem.vault import journal
from tests.helpers import cli_day
from tests.helpers.indexed import indexed
from tests.helpers.open_work import Work


@pytest.fixture
def at(tmp_path: Path) -> Work:
    made = Work(cli_day.empty(tmp_path), tmp_path)
    one = made.session(1)
    one.ask("Fix #123: parse_date refuses leap days, see requests-toolbelt")
    one.tool("TodoWrite", {"todos": [{"content": "Document parse_date", "status": "pending"}]}, {})
    one.run("pytest -q", "Exit code 1\nE   ValueError: parse_date got day 29")
    one.edit("src/dates.py")
    one.edit("tests/test_dates.py")
    one.run("pytest -q")
    one.answer("Issue #123 is done.")
    two = made.session(2)
    two.ask("Write the changes for #1234")
    two.edit("CHANGES.md")
    two.answer()
    made.day.run("note", "Dates are ISO 8601, see src/dates.py and parse_date.", "--title", "ISO", "--kind", "decision",
                 "--project", "")  # fmt: skip
    return made


def test_a_file_is_known_by_its_sessions_changes_fixes_and_decisions(at: Work) -> None:
    found = at.day.json("about", "src/dates.py")
    assert found["kind"] == "file"
    assert [one["title"] for one in found["decisions"]] == ["ISO"]
    assert [one["files"] for one in found["fixes"]] == [["src/dates.py", "tests/test_dates.py"]]
    assert [one["title"] for one in found["sessions"]] == [
        "Fix #123: parse_date refuses leap days, see requests-toolbelt"
    ]
    assert len(found["changed"]) == 1
    together = ["tests/test_dates.py", "#123", "ValueError", "parse_date", "pytest"]
    assert found["together"] == [[name, 1] for name in together]
    assert at.day.json("about", "dates.py")["changed"] == found["changed"]


def test_a_symbol_a_number_and_a_package_are_known_by_the_text_as_it_stands(at: Work) -> None:
    symbol = at.day.json("about", "parse_date")
    assert [one["text"] for one in symbol["open_work"]] == ["Document parse_date"]
    assert len(symbol["fixes"]) == len(symbol["decisions"]) == len(symbol["sessions"]) == 1
    assert {"src/dates.py", "tests/test_dates.py"} <= {name for name, _ in symbol["together"]}
    assert len(at.day.json("about", "#123")["sessions"]) == 1
    assert len(at.day.json("about", "requests-toolbelt")["sessions"]) == 1


def test_the_turns_of_a_long_session_are_read_in_linear_time(at: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    one = at.session(3)
    for number in range(40):
        one.ask(f"Fix #77 and #{100 + number}")
    settings = indexed(at.day.config())
    calls, numbers = [], journal.numbers

    def counted(name: str) -> tuple[int, ...]:
        calls.append(name)
        return numbers(name)

    monkeypatch.setattr(journal, "numbers", counted)

    found = learned.about(settings, "#77", now=0)

    assert len(found.together) == learned.MAX_TOGETHER
    assert len(calls) < 15 * 40


def test_a_list_of_tasks_names_only_the_task_that_has_the_name(at: Work) -> None:
    one = at.session(4)
    one.ask("Release it")
    texts = ("Test `parse_zone` <again>", "*Other*")
    one.tool("TodoWrite", {"todos": [{"content": text, "status": "pending"} for text in texts]}, {})
    assert {item["text"] for item in at.day.json("todo")} >= set(texts)
    assert [item["text"] for item in at.day.json("about", "parse_zone")["open_work"]] == [texts[0]]


def test_fixes_are_found_by_the_name_of_an_error_alone(at: Work) -> None:
    assert [fix["error"] for fix in at.day.json("fixes", "ValueError")] == ["E   ValueError: parse_date got day 29"]
    assert at.day.json("fixes", "KeyError") == []


def test_what_is_known_is_printed_and_what_is_not_says_so(at: Work) -> None:
    said = at.day.run("about", "src/dates.py").stdout
    assert [line for line in said.splitlines() if not line.startswith(" ")] == [
        "Decisions", "Fixes", "Sessions", "Latest change", "Together with",
    ]  # fmt: skip
    change = at.day.json("about", "src/dates.py")["changed"][0]
    assert f"  {change['title']}  [mem:{change['id']}]\n" in said.partition("Latest change\n")[2]
    assert "Nothing is known about nosuch.py" in at.day.run("about", "nosuch.py").stderr


@pytest.mark.parametrize(
    ("entity", "kind"),
    [("src/a.py", "file"), ("a.py", "file"), ("#7", "number"), ("3f0c6d1e", "commit"), ("https://x.org/a", "address"),
     ("parse_date", "name"), ("requests", "name"), ("deadbeef", "name"), ("Makefile", "name")],
)  # fmt: skip
def test_the_kind_of_an_entity_follows_from_its_spelling(entity: str, kind: str) -> None:
    assert learned.kind_of(entity) == kind


def test_a_digest_tells_fixes_and_open_work_and_no_prompt_that_says_nothing(at: Work) -> None:
    one = at.session(3)
    one.ask("ok")
    one.answer("Fine.")
    span = ("--since", "2026-09-14", "--until", "2026-09-14")
    said = at.day.run("digest", *span).stdout
    assert "ValueError: parse_date got day 29: `src/dates.py`" in said
    assert "- [ ] Document parse_date (task)" in said
    assert "Asked: ok" not in said
    found = at.day.json("digest", *span)
    assert (len(found["fixes"]), [item["text"] for item in found["open_work"]]) == (1, ["Document parse_date"])


def test_what_is_named_in_the_same_turns_is_counted(at: Work) -> None:
    for number in (7, 8):
        one = at.session(number)
        one.ask("Close #421: `parse_zone` fails, see https://example.org/tz.")
        one.run("pip install -q tzdata")
        one.edit("src/zones.py")
        one.answer("Closed #421 with `parse_zone` and tzdata.")
    together = dict(map(tuple, at.day.json("about", "#421")["together"]))
    named = ["src/zones.py", "parse_zone", "https://example.org/tz", "pip install", "tzdata"]
    assert together == dict.fromkeys(named, 2)
    assert dict(map(tuple, at.day.json("about", "parse_zone")["together"]))["#421"] == 2


def names(text: str) -> set[str]:
    return set(entities.of_note(text, analysis.counted(text)[1]))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("import yaml\nimport os\nfrom attrs import define", {"yaml", "attrs"}),
        ("No module named 'requests'", {"requests"}),
        ("Run npm install @types/node@20 to go on", {"@types/node"}),
        ("See https://x.org/a(b), and https://github.com/o/r/issues/7.", {"https://x.org/a", "#7",
                                                                          "https://github.com/o/r/issues/7"}),
        ("#12 and (#13), not &#14; or abc#15 or #ff0000 or # 16", {"#12", "#13"}),
        ("`Foo.bar()` and `parse(x, 1)`, ``no`` and `two words`", {"Foo.bar", "parse"}),
        ("getUserID of user_name in src/date_parser.py", {"getUserID", "user_name"}),
        ("```py\n+def parse_zone(name):\n class Zone:\n```\nclass of its own", {"parse_zone", "Zone"}),
        ("ValueError again", {"ValueError"}),
        ("commit 3f0c6d1e and `9b1d7c2`, not commit deadbeef or 3f0c6d1f", {"3f0c6d1e", "9b1d7c2"}),
        ("from the start we import the data and use it", set()),
    ],
)  # fmt: skip
def test_entities_are_found_by_rule(text: str, named: set[str]) -> None:
    assert names(text) == named


@pytest.mark.parametrize(
    ("line", "program"),
    [("pytest -q tests/a.py", "pytest"), ("cd app && FOO=1 uv run pytest", "pytest"), ("python3 -m pytest", "pytest"),
     ("git rebase -i HEAD~3", "git rebase"), ("npm run build", "npm run build"), ("./gradlew test", "gradlew"),
     ("for x in a b; do psql -c x; done", "psql"), ("cat a | head", ""), ("", "")],
)  # fmt: skip
def test_a_command_is_known_by_the_program_that_does_the_work(line: str, program: str) -> None:
    assert entities.command_of(line) == program


def test_a_command_an_error_and_a_commit_are_known(at: Work) -> None:
    one = at.session(3)
    one.ask("Release it")
    one.run("git commit -am 'Fix #77'", None)
    one.tool("Bash", {"command": "git log --oneline"}, {"stdout": "3f0c6d1e9a Fix leap days\n9b1d7c2 Start"})
    one.answer()
    assert [one["title"] for one in at.day.json("about", "git commit")["sessions"]] == ["Release it"]
    assert [one["title"] for one in at.day.json("about", "3f0c6d1")["sessions"]] == ["Release it"]
    assert not at.day.json("about", "3f0c6d2")["sessions"]
    tests = at.day.json("about", "pytest -q")
    assert (tests["kind"], len(tests["fixes"]), len(tests["sessions"])) == ("command", 1, 1)
    assert not at.day.json("about", "pytest -x")["sessions"]
    error = at.day.json("about", "ValueError: parse_date got day 30")
    assert (error["kind"], len(error["fixes"])) == ("error", 1)
    assert at.day.json("about", "ValueError")["fixes"] == error["fixes"]
