"""Options have one name and one meaning on every command."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest

from mdmem.cli.group import cli
from tests.helpers import cli_day
from tests.helpers.cli_day import Day

Run = Callable[..., subprocess.CompletedProcess[str]]

WINDOW = {"--since", "--until", "--on"}
FORBIDDEN = {"--order", "--newer", "--older", "--from", "--to-date", "--max", "--count", "--format-json", "--force"}
"""Names that one of ours has already: `--sort`, `--since`, `--until`, `--limit`, `--json`, `--yes`."""

WITHOUT_JSON = {
    "completion", "demo", "help", "hook", "mcp", "web",
}  # fmt: skip
"""Commands whose output is not a list of things."""


def every_command() -> dict[str, click.Command]:
    """Return all commands that the help lists, by name."""
    made: dict[str, click.Command] = {}

    def walk(group: click.Group, before: str) -> None:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                walk(command, f"{before}{name} ")
            elif not command.hidden:
                made[before + name] = command

    walk(cli, "")
    return made


COMMANDS = every_command()


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    return cli_day.make(tmp_path_factory.mktemp("day"))


def shown(command: click.Command) -> dict[str, click.Option]:
    """Return the options that the help of a command lists, by each of their names."""
    made: dict[str, click.Option] = {}
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            made |= dict.fromkeys(option.opts, option)
    return made


def test_every_command_that_takes_a_time_takes_since_until_and_on() -> None:
    partly = {name: WINDOW & set(shown(one)) for name, one in COMMANDS.items() if WINDOW & set(shown(one))}
    assert partly.pop("clone") == {"--since"}  # a part of a vault goes on

    assert {name: found for name, found in partly.items() if found != WINDOW} == {}
    assert {"search", "list", "sessions", "log", "digest", "stats", "prompts", "review", "import"} <= set(partly)
    assert {"forget", "export", "injections", "timeline"} <= set(partly)


def test_an_option_of_one_name_reads_the_same_everywhere() -> None:
    metavars: dict[str, set[str | None]] = {}
    for command in COMMANDS.values():
        for name, option in shown(command).items():
            if not isinstance(option.type, click.Choice) and name in WINDOW | {
                "--project",
                "--session",
                "--kind",
                "--file",
                "--tag",
                "--failed",
                "--limit",
                "--yes",
            }:
                metavars.setdefault(name, set()).add(option.metavar)

    assert {name: found for name, found in metavars.items() if len(found) > 1} == {}


def test_no_option_has_a_second_name() -> None:
    found = {(name, option) for name, one in COMMANDS.items() for option in shown(one) if option in FORBIDDEN}

    assert found == set()


@pytest.mark.parametrize(("long", "short"), [("--limit", "-n"), ("--yes", "-y")])
def test_short_names_are_the_same_everywhere(long: str, short: str) -> None:
    lacking = [name for name, one in COMMANDS.items() if long in shown(one) and short not in shown(one)]

    assert lacking == []


def test_projects_and_sessions_are_completed_everywhere() -> None:
    def completes(option: click.Option) -> bool:
        return option._custom_shell_complete is not None or isinstance(option.type, click.Choice)

    lacking = [
        f"{name} {key}"
        for name, one in COMMANDS.items()
        for key, option in shown(one).items()
        if key in ("--project", "--session", "--kind") and not completes(option)
    ]

    assert lacking == []


def test_every_command_that_lists_things_prints_json() -> None:
    assert {name for name, one in COMMANDS.items() if "--json" not in shown(one)} == WITHOUT_JSON


def test_sessions_in_which_something_failed_are_listed_alone(day: Day) -> None:
    failed = day.run("sessions", "--failed").stdout

    assert 0 < failed.count("\n") < day.run("sessions").stdout.count("\n")
    assert "date parser" in failed
    every = {row["session"] for row in day.json("sessions", "--failed")}
    assert {row["session"] for row in day.json("log", "--failed")} == every
    assert 0 < day.run("log", "--failed", "--oneline").stdout.count("\n") == len(every)


@pytest.mark.usefixtures("november")
def test_a_time_narrows_what_prompts_digests_and_exports_hold(day: Day) -> None:
    assert day.run("prompts", "--on", "2026-09-14").stdout
    assert not day.run("prompts", "--until", "2026-09-13").stdout
    assert "parser" in day.run("digest", "--on", "2026-09-14").stdout
    assert "parser" not in day.run("digest", "--on", "2026-09-13").stdout
    exported = [
        day.json("export", str(day.vault.parent / f"{when}.jsonl"), "--until", when)["notes"]
        for when in ("2026-09-14", "2026-09-20")
    ]
    assert 0 < exported[0] < exported[1]


@pytest.mark.parametrize(("now", "listed"), [("2026-09-20", 1), ("2026-12-01", 0)])
def test_times_ago_are_counted_from_the_time_that_is_set(vault: Path, ask: Run, now: str, listed: int) -> None:
    ask("init", str(vault), check=True)
    (vault / "notes" / "plan.md").write_text("---\ncreated: 2026-09-14\n---\nA plan.\n")
    seconds = str(int(datetime.fromisoformat(f"{now}T12:00:00Z").timestamp()))

    found = ask("list", "--since", "2w", env={"MDMEM_NOW": seconds}).stdout

    assert found.count("plan") == listed


def test_deleting_as_json_does_not_ask(day: Day) -> None:
    refused = day.attempt("forget", "--matching", "no such words", "--json")
    assert refused.exit_code
    assert "--yes" in str(refused.exception)

    assert '"forgotten": []' in day.run("forget", "--matching", "no such words", "--json", "--yes").stdout


def test_a_digest_until_a_time_covers_everything_before_it(day: Day) -> None:
    text = day.run("digest", "--until", "2026-09-14").stdout
    assert text.startswith("# Until 2026-09-15 00:00\n")
    assert "parser" in text
    by_day = day.run("digest", "--until", "2026-09-15", "--by", "day").stdout
    assert [line for line in by_day.splitlines() if line.startswith("## ")] == ["## 2026-09-14", "## 2026-09-15"]
    assert day.json("digest", "--until", "2026-09-13")["since"] == ""


@pytest.mark.usefixtures("november")
@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system takes no time zone from the environment")
def test_a_digest_by_day_begins_each_day_at_midnight_after_clocks_changed(
    vault: Path, mdmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clocks in Berlin go back on 25 October 2026."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    for day, title in ((20, "before"), (27, "after")):
        local = datetime(2026, 10, day, 23, 30, tzinfo=ZoneInfo("Europe/Berlin")).astimezone(UTC)
        (vault / f"{title}.md").write_text(
            f"---\nkind: note\ntitle: {title}\ncreated: {local:%Y-%m-%dT%H:%M:%SZ}\n---\n\nText.\n"
        )
    text = mdmem("digest", "--since", "2026-10-19", "--until", "2026-10-30", "--by", "day").stdout
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## 2026-10-20", "## 2026-10-27"]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("list decisions", "Did you mean `--kind decision`?"),
        ("list prompts failed", "Did you mean `--kind prompt --failed`?"),
        ("list oldest", "Did you mean `--sort oldest`?"),
        ("list foo bar", "To search for words: mdmem search foo bar"),
        ("log 10", "Did you mean `--limit 10`?"),
        (f"list {'9' * 5000}", f"To search for words: mdmem search {'9' * 5000}"),  # more digits than `int` reads
        ("log 2w", "Did you mean `--since 2w`?"),
        ("sessions yesterday", "Did you mean `--on yesterday`?"),
        ("sessions notes", "Did you mean `--project notes-app`?"),
        ("doctor history", "Did you mean `--only history`?"),
        ("todo add tests", '`mdmem note --kind task "…"` writes one.'),
        ("todo done t1", "Did you mean `--done t1`?"),
        ("proposals accept", "Did you mean `--accept ID`?"),
        ("log 3f0c6d1e", "To read a session: mdmem history 3f0c6d1e"),
        ("review 3f0c", "To read a session: mdmem history 3f0c"),
        ("list cafe", "To search for words: mdmem search cafe"),
        ("pause 1h", "Did you mean `--for 1h`?"),
    ],
)
def test_words_that_a_command_does_not_take_get_a_hint_at_the_option_that_does(day: Day, line: str, hint: str) -> None:
    done = day.attempt(*line.split())

    assert done.exit_code == 2
    assert done.stderr.endswith(f"). {hint}\n")


@pytest.mark.parametrize("command", ["list", "log", "sessions", "search x"])
def test_a_number_with_a_dash_is_answered_with_the_option_that_takes_it(day: Day, command: str) -> None:
    done = day.attempt(*command.split(), "-20")
    assert done.exit_code == 2
    assert done.stderr.endswith(". -n NUMBER is how many to list.\n")
    assert "-n NUMBER" not in day.attempt("status", "-5").stderr


def test_without_a_guess_an_unexpected_word_is_only_refused(day: Day) -> None:
    assert day.attempt("status", "everything").stderr.endswith("Got unexpected extra argument (everything)\n")
    assert day.attempt("config", "list", "inject", "chars").stderr.endswith("Got unexpected extra argument (chars)\n")


def test_the_last_session_is_the_latest(day: Day) -> None:
    assert day.run("history", "last").stdout == day.run("history", "latest").stdout
    assert "`mdmem list` shows the newest." in str(day.attempt("show", "last").exception)
