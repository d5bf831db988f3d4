"""`config`: settings read and changed, with the file left as its owner wrote it."""

from __future__ import annotations

import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

from mdmem import config
from mdmem.cli.setup import config_file
from mdmem.cli.terminal import render
from mdmem.errors import ConfigError
from mdmem.settings import BY_KEY, SETTINGS
from mdmem.views import settings_checks
from tests.helpers import cli_day
from tests.helpers.cli_day import Day

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def as_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take back the patience that every other test has."""
    monkeypatch.delenv("MDMEM_INJECT_DEADLINE_SECONDS")


@pytest.fixture
def day(tmp_path: Path) -> Day:
    return cli_day.empty(tmp_path)


def toml(day: Day) -> str:
    return (day.vault / "mdmem.toml").read_text("utf-8")


def test_a_setting_is_read_with_its_default_meaning_and_source(day: Day) -> None:
    assert day.run("config", "get", "capture.max_lines").stdout == "100\n"
    found = day.json("config", "get", "max_lines")
    assert (found["key"], found["value"], found["default"], found["source"]) == (
        "capture.max_lines",
        100,
        100,
        "default",
    )
    assert found["meaning"] == BY_KEY["capture.max_lines"].meaning


def test_setting_a_value_takes_the_place_of_its_commented_default(day: Day) -> None:
    before = toml(day)
    day.run("config", "set", "capture.max_lines", "250")
    assert toml(day) == before.replace("#max_lines = 100", "max_lines = 250")
    assert day.config().settings.capture.max_lines == 250
    assert day.json("config", "unset", "capture.max_lines")["file"] == str(day.vault / "mdmem.toml")
    assert toml(day) == before


def test_unset_takes_a_value_out_of_the_file_that_sets_it(day: Day) -> None:
    day.run("config", "set", "inject.chars", "4000")  # looser than the default: it went to the user's own file
    day.run("config", "set", "inject.deadline_seconds", "0.5", "--user")

    assert day.json("config", "unset", "inject.chars")["source"] == "default"
    assert day.config().settings.inject.chars == BY_KEY["inject.chars"].default
    assert day.json("config", "get", "inject.deadline_seconds")["source"] == "your config.toml"


def test_a_settings_file_that_is_no_regular_file_is_not_taken_for_busy(day: Day) -> None:
    file = day.vault / "mdmem.toml"
    file.unlink()
    os.mkfifo(file)
    ran = day.attempt("config", "set", "capture.max_lines", "50")
    assert isinstance(ran.exception, ConfigError)
    assert "is not a regular file" in str(ran.exception)
    assert file.is_fifo()


def test_a_vault_that_is_not_there_yet_is_told(day: Day) -> None:
    ran = day.run("config", "set", "vault", str(day.vault / "none"))
    assert "run `mdmem init`" in ran.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [("a" * 5_000, "where no folder can be"), ("~nobody-at-all/x", "no such user"), ("/dev/null", "not a folder")],
)
def test_a_vault_where_no_folder_can_be_is_refused_before_anything_is_written(day: Day, name: str, said: str) -> None:
    own = Path(config.user_file(day.env))
    before = own.read_bytes() if own.exists() else None
    assert said in str(day.attempt("config", "set", "vault", name).exception)
    assert (own.read_bytes() if own.exists() else None) == before


def test_comments_and_layout_stay_whatever_is_set(day: Day) -> None:
    text = "# mine\n[capture]   # what\nmax_lines = 7   # few\n\ntools = [\n  'Bash', # shell\n  'Edit',\n]\n"
    text += "[privacy]\nmarker = '#'\n"
    (day.vault / "mdmem.toml").write_text(text)
    day.run("config", "set", "max_lines", "8")
    day.run("config", "set", "privacy.marker", "<#>")
    day.run("config", "set", "capture.tools", "Read")
    assert toml(day) == (
        '# mine\n[capture]   # what\nmax_lines = 8   # few\n\ntools = ["Read"]\n[privacy]\nmarker = "<#>"\n'
    )


def test_values_are_read_as_people_type_them(day: Day) -> None:
    for words, value in (
        (["capture.subagents", "yes"], True),
        (["capture.max_chars", "10_500"], 10_500),
        (["inject.deadline_seconds", "2"], 2.0),
        (["privacy.marker", "–– private ––"], "–– private ––"),
        (["privacy.marker", ""], ""),
        (["capture.exclude_paths", "a", "b c"], ["a", "b c"]),
        (["capture.exclude_projects", '["x", "y"]'], ["x", "y"]),
        (["capture.durability", "process"], "process"),
    ):
        day.run("config", "set", *words)
        assert day.config().settings.values[words[0]] == value, words


def test_a_list_can_be_added_to(day: Day) -> None:
    day.run("config", "set", "capture.exclude_tools", "--add", "WebSearch", "TodoRead")
    default = BY_KEY["capture.exclude_tools"].default
    assert day.config().settings.capture.exclude_tools == [*default, "WebSearch"]
    assert day.attempt("config", "set", "capture.max_lines", "--add", "3").exception is not None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["capture.max_lines", "many"], "whole number"),
        (["capture.max_lines", "-3"], "whole number"),
        (["capture.durability", "steel"], '"power" or "process"'),
        (["capture.subagents", "perhaps"], "true or false"),
        (["inject.on", "ask", "never"], ' "edit" or "read", not \'never\'.'),
        (["capture.maxlines", "3"], "capture.max_lines"),
        (["maxlines", "3"], "capture.max_lines"),
        (["nonsense", "3"], "mdmem config list"),
    ],
)
def test_what_may_not_be_is_refused_with_what_may(day: Day, words: list[str], said: str) -> None:
    before = toml(day)
    for options in (["--"], []):  # a negative number is no option
        done = day.attempt("config", "set", *options, *words)
        assert isinstance(done.exception, ConfigError)
        assert said in str(done.exception)
    assert toml(day) == before


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("inject.chars", 99_999, "at most 9500"),
        ("inject.chars", 200, "no memory fits"),
        ("capture.exclude_projects", ["notes-*", "My Project"], "you may mean my-project"),
        ("capture.exclude_projects", ["/srv/taxes"], "set capture.exclude_paths"),
        ("privacy.patterns", ["("], "not a regular expression"),
        ("privacy.marker", "<private>", "[PRIVATE] is used"),
        ("internal.trust", ["agent bob 7"], "counts as 0"),
        ("internal.trust", ["agent bob high"], "counts as 0"),
        ("internal.trust", ["alice bob 0.5"], "limits nobody"),
        ("expand.provider", "oracle", "claude-cli"),
        ("expand.models", ["openai"], "a provider and its value"),
        ("expand.keys", ["oracle ORACLE_KEY"], "known providers"),
        ("expand.address", "localhost:11434/v1", "must begin with https:// or http://"),
        ("privacy.tags", ["private", "privé"], "'privé', which hides nothing"),
        ("privacy.tags", ["top secret"], "'top secret', which hides nothing"),
        ("capture.tools", ["Bash(git:*)"], "no tool is called so"),
        ("capture.exclude_tools", ["Edit|Write"], "no tool is called so"),
        ("capture.exclude_paths", ["$HOME/taxes"], "variables are not replaced"),
        ("capture.exclude_paths", ["*.{pem}"], "write one for each name"),
        ("capture.exclude_paths", [".env", "!.env.example"], "taken back"),
        ("capture.exclude_paths", ["../taxes"], "write the whole path"),
        ("capture.exclude_paths", ["~nobody-is-called-so/taxes"], "no such user"),
        ("sync.max_file_mb", 100, "at most 33 is used"),
        ("watch.sweep_seconds", 0, "at least 1 is used"),
        ("inject.on", ["ask", "failures"], '"failure"'),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_and_named_where_a_file_has_it(
    day: Day, key: str, value: Any, said: str
) -> None:
    words = value if isinstance(value, list) else [str(value)]
    assert said in str(day.attempt("config", "set", key, *words).exception)
    file = Path(config.user_file(day.env))
    file.parent.mkdir(parents=True)
    file.write_text(f"{key} = {render.toml(value)}\n")
    done = day.attempt("doctor", "--only", "settings")
    assert (done.exit_code, said in done.stdout) == (1, True)


def test_a_users_own_setting_goes_into_the_users_own_file(day: Day) -> None:
    day.run("config", "set", "inject.chars", "2000", "--user")
    path = Path(config.user_file(day.env))
    assert tomllib.loads(path.read_text()) == {"inject": {"chars": 2000}}
    assert day.json("config", "get", "inject.chars")["source"] == "your config.toml"
    done = day.run("config", "set", "capture.max_lines", "50", "--user")
    done = day.run("config", "set", "capture.max_lines", "60")
    assert "The value in use is 50: your config.toml" in done.stderr


def test_a_value_that_loosens_a_setting_goes_into_the_users_own_file(day: Day) -> None:
    before = toml(day)
    done = day.run("config", "set", "privacy.unclosed", "keep")
    assert "a vault's file can only make a setting stricter" in done.stderr
    assert toml(day) == before
    assert day.json("config", "get", "privacy.unclosed")["source"] == "your config.toml"
    day.run("config", "set", "inject.chars", "2000")
    assert day.json("config", "get", "inject.chars")["source"] == "mdmem.toml"


def test_a_vault_that_would_loosen_a_setting_is_named_by_doctor(day: Day) -> None:
    (day.vault / "mdmem.toml").write_text("capture.subagents = true\n")
    done = day.attempt("doctor", "--only", "settings")
    assert (done.exit_code, "capture.subagents" in done.stdout, "config set --user" in done.stdout) == (1, True, True)
    assert day.json("config", "get", "capture.subagents")["source"] == "default"


def test_what_only_the_user_may_set_never_goes_into_a_vault(day: Day) -> None:
    own = next(row for row in SETTINGS if row.user_only)
    before = toml(day)
    value = {bool: "true", int: "3", float: "3", str: own.choices[0] if own.choices else "x", list: "x"}[
        type(own.default)
    ]
    done = day.run("config", "set", own.key, value)
    assert "a vault's file cannot set this" in done.stderr
    assert toml(day) == before
    assert day.json("config", "get", own.key)["source"] == "your config.toml"


def test_the_vault_is_a_setting_of_the_user(day: Day, tmp_path: Path) -> None:
    env = {name: value for name, value in day.env.items() if name != "MDMEM_VAULT"}
    other = Day(tmp_path / "elsewhere", env)
    other.run("config", "set", "vault", str(tmp_path / "elsewhere"))
    assert other.run("config", "get", "vault").stdout == f"{tmp_path}/elsewhere\n"


def test_a_variable_wins_and_is_named(day: Day) -> None:
    found = day.json("config", "get", "inject.recall_limit", env={"MDMEM_INJECT_RECALL_LIMIT": "3"})
    assert (found["value"], found["source"]) == (3, "MDMEM_INJECT_RECALL_LIMIT")


def test_list_names_every_setting_and_only_the_changed_ones_if_asked(day: Day) -> None:
    assert [row["key"] for row in day.json("config", "list")] == [row.key for row in SETTINGS]
    day.run("config", "set", "max_lines", "8")
    assert [row["key"] for row in day.json("config", "list", "--changed")] == ["capture.max_lines"]
    assert "capture.max_lines" in day.run("config", "list").stdout


def test_the_settings_of_a_section_or_with_a_word_in_their_names_are_listed(day: Day) -> None:
    listed = [row["key"] for row in day.json("config", "list", "capture")]
    assert listed == [row.key for row in SETTINGS if row.key.startswith("capture.")]
    assert [row["key"] for row in day.json("config", "list", "Max_Lines")] == ["capture.max_lines"]
    assert "Did you mean capture.max_lines?" in str(day.attempt("config", "list", "captre.max_lines").exception)
    assert "No setting has 'zebra' in its name." in str(day.attempt("config", "list", "zebra").exception)
    assert [row["value"] for row in day.json("config", "list", "vault", "--changed")] == [str(day.vault)]
    assert "'capture' in its name is at its default" in day.run("config", "list", "capture", "--changed").stderr


def test_the_name_of_a_section_is_answered_with_how_to_list_it(day: Day) -> None:
    failed = day.attempt("config", "get", "capture").exception
    assert "`mdmem config list capture` lists those of this section." in str(failed)
    failed = day.attempt("config", "get", "Capture").exception
    assert "`mdmem config list Capture` lists those of this section." in str(failed)


def test_a_slip_in_a_file_is_named_with_the_nearest_key(day: Day) -> None:
    (day.vault / "mdmem.toml").write_text("[capture]\nmax_line = 3\n")
    done = day.run("config", "list", "--changed")
    assert "Did you mean capture.max_lines?" in done.stderr


def test_a_broken_file_is_not_changed(day: Day) -> None:
    (day.vault / "mdmem.toml").write_text("[capture\nmax_lines = 3\n")
    done = day.attempt("config", "set", "max_lines", "5")
    assert isinstance(done.exception, ConfigError)
    assert "line 1" in str(done.exception)
    assert toml(day) == "[capture\nmax_lines = 3\n"


def test_a_form_that_cannot_be_changed_in_place_is_left_to_its_owner(day: Day) -> None:
    (day.vault / "mdmem.toml").write_text("capture = { max_lines = 3 }\n")
    done = day.attempt("config", "set", "max_lines", "5")
    assert "max_lines = 5" in str(done.exception)
    assert toml(day) == "capture = { max_lines = 3 }\n"


def test_a_settings_file_that_is_a_link_stays_one(day: Day, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles.toml"
    dotfiles.write_text("# mine\n")
    link = Path(config.user_file(day.env))
    link.parent.mkdir(parents=True)
    link.symlink_to(dotfiles)
    day.run("config", "set", "inject.chars", "2000", "--user")
    assert link.is_symlink()
    assert dotfiles.read_text() == "# mine\n\n[inject]\nchars = 2000\n"


def test_paths_are_named(day: Day) -> None:
    found = day.json("config", "path")
    assert found["vault"] == str(day.vault)
    assert found["vault_settings"] == str(day.vault / "mdmem.toml")
    assert found["log"].startswith(found["state"])
    assert str(day.vault) in day.run("config", "path").stdout


def test_a_template_is_put_into_the_vault_to_be_changed(day: Day) -> None:
    assert [row["own"] for row in day.json("config", "template")] == [False] * 7
    done = day.run("config", "template", "response")
    path = day.vault / "templates" / "notes" / "response.md"
    assert str(path) in done.stdout
    assert "{{body}}" in done.stdout
    path.write_text("Answer: {{body}}")
    assert "already" in str(day.attempt("config", "template", "response").exception)
    assert path.read_text() == "Answer: {{body}}"
    assert [row["name"] for row in day.json("config", "template") if row["own"]] == ["response"]


def test_settings_work_as_a_process_without_a_vault(mdmem: Run, home: Path) -> None:
    assert mdmem("config", "get", "max_lines", check=True).stdout == "100\n"
    assert mdmem("config", "set", "max_lines", "3").returncode == 3
    assert mdmem("config", "set", "max_lines", "3", "--user", check=True).returncode == 0
    assert mdmem("config", "get", "max_lines", check=True).stdout == "3\n"


values: st.SearchStrategy[Any] = st.one_of(
    st.booleans(), st.integers(-5, 10**9), st.text(max_size=20), st.lists(st.text(max_size=9), max_size=3)
)
lines = st.lists(
    st.sampled_from(
        ["", "# note", "[capture]", "[inject]  # x", "[a.b]", "max_lines = 3", "max_lines=4 # y", "#max_lines = 1",
         "chars = 9", "tools = ['a',", "  'b'] # t", 'text = """', 'max_lines = 5"""', "a.b = 1", "   max_chars = 2"]
    ),
    max_size=12,
)  # fmt: skip


@hypothesis.given(
    lines, st.sampled_from(["capture.max_lines", "capture.tools", "inject.chars", "vault"]), values, st.booleans()
)
def test_a_change_changes_one_key_and_nothing_else_or_is_refused(
    written: list[str], key: str, value: Any, crlf: bool
) -> None:
    text = ("\r\n" if crlf else "\n").join(written)
    try:
        before = config.flatten(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        with pytest.raises(ConfigError):
            config_file.changed(text, "f", key, value, "0")
        return
    try:
        new = config_file.changed(text, "f", key, value, "0")
    except ConfigError:
        return
    assert config.flatten(tomllib.loads(new)) == {**before, key: value}
    kept = [line for line in text.splitlines() if line.startswith("#") and "max_lines" not in line]
    assert [line for line in new.splitlines() if line in kept] == kept


@hypothesis.given(values)
def test_what_is_written_as_toml_is_read_back(value: Any) -> None:
    assert tomllib.loads(f"v = {render.toml(value)}")["v"] == value


def test_the_nearest_key_is_found_by_its_last_part_too() -> None:
    assert settings_checks.nearest("max_lines") == "capture.max_lines"
    assert settings_checks.nearest("captur.max_linse") == "capture.max_lines"
    assert settings_checks.nearest("zzz") == ""


def test_patterns_of_one_s_own_are_written_to_one_s_own_file(day: Day) -> None:
    done = day.run("config", "set", "privacy.patterns", r"ACME-\d{4,6}")

    assert "ACME" not in toml(day)
    assert "your own config.toml" in done.stderr
    assert day.json("config", "get", "privacy.patterns")["value"] == [r"ACME-\d{4,6}"]


def test_a_path_that_would_be_synced_with_the_vault_is_said_to_be(day: Day) -> None:
    own, other = ("capture.exclude_paths", "/home/me/taxes"), ("inject.chars", "2000")

    assert "committed and synced with the vault" in day.run("config", "set", *own).stderr
    assert day.run("config", "set", "--user", *own).stderr == ""
    assert day.run("config", "set", *other).stderr == ""


def test_a_list_with_commas_is_several_paths(day: Day) -> None:
    day.run("config", "set", "capture.exclude_paths", "/a, /b")

    assert day.json("config", "get", "capture.exclude_paths")["value"] == ["/a", "/b"]
