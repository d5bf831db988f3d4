"""Help, completion, and what every command has in common."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import click.testing
import pytest
from rich.cells import cell_len

from mdmem import __main__
from mdmem.cli.group import COMMANDS, OTHER_WORDS, cli
from mdmem.health import checks
from mdmem.search import query
from tests.bench import every_command
from tests.helpers import cli_day
from tests.helpers.cli_day import Day

Run = Callable[..., subprocess.CompletedProcess[str]]


def commands(group: click.Group = cli, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, those of groups too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*words, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


EVERY = list(commands())


@pytest.mark.parametrize("words", EVERY, ids="-".join)
def test_every_command_has_help_with_an_example(words: tuple[str, ...]) -> None:
    done = click.testing.CliRunner().invoke(cli, [*words, "--help"])
    assert done.exit_code == 0
    assert "Example" in done.output
    assert f"mdmem {' '.join(words)}" in done.output.replace("--vault DIR ", "")
    assert max(map(len, done.output.splitlines())) <= 80


@pytest.mark.parametrize("words", [words for words in EVERY if words != ("hook",)], ids="-".join)
def test_an_option_of_every_command_after_the_command_is_told_where_it_goes(words: tuple[str, ...]) -> None:
    for option in ("--vault", "--debug"):
        done = click.testing.CliRunner().invoke(cli, [*words, option, "elsewhere", "parser"])
        assert done.exit_code == 2
        assert f"{option} goes before the command: mdmem {option} " in done.output


@pytest.mark.parametrize("command", ["search", "list", "timeline", "stats"])
def test_the_help_says_which_filters_may_be_repeated_and_how(command: str) -> None:
    told = " ".join(click.testing.CliRunner().invoke(cli, [command, "--help"]).output.split())
    for name in ("kind", "project", "session", "tool", "agent", "branch"):
        assert re.search(rf"--{name} [A-Z]+ [^-]*; repeatable \(any may match\)\.", told), name
    for name in ("file", "tag", "is"):
        assert re.search(rf"--{name} [A-Z]+ [^-]*; repeatable \(all must match\)\.", told), name
    assert all(state in told for state in query.STATES)


def test_the_help_of_doctor_names_its_checks() -> None:
    told = click.testing.CliRunner().invoke(cli, ["doctor", "--help"]).output
    assert all(check.name in told for check in checks.CHECKS)


def test_what_the_bench_of_sizes_measures_are_commands() -> None:
    known = {name for rows in COMMANDS.values() for name in rows}
    assert {words[0] for words in every_command.rows(word="a", id="b", session="c", out="d").values()} <= known


def test_the_table_of_commands_and_their_help_agree() -> None:
    context = click.Context(cli)
    for rows in COMMANDS.values():
        for name, row in rows.items():
            command = cli.get_command(context, name)
            assert command is not None
            assert command.name == name
            assert row.help.endswith(".")


def test_the_version_is_printed_without_the_commands() -> None:
    code = "import sys; from mdmem.__main__ import main; sys.argv[1:] = ['--version']; main(); print(*sys.modules)"
    first, modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    ).stdout.splitlines()
    assert f"{first}\n" == click.testing.CliRunner().invoke(cli, ["--version"]).output
    assert not {"click", "mdmem.cli", "mdmem.config"} & set(modules.split())


LIST_MODULES = """
import sys
from mdmem.__main__ import main
sys.argv = ["mdmem", "--help"]
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""


def test_help_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", LIST_MODULES], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "mdmem.cli" in loaded
    heavy = {"rich", "whoosh", "git", "yaml", "watchdog", "mcp", "mdmem.search", "mdmem.inject", "mdmem.history"}
    assert heavy.isdisjoint(loaded)


def test_help_of_a_command_of_a_group_is_shown_by_its_words(ask: Run) -> None:
    assert ask("help", "config", "set").stdout == ask("config", "set", "--help").stdout
    assert "Usage: mdmem privacy check" in ask("help", "privacy", "check").stdout
    assert "There is no help page 'config nothing'" in ask("help", "config", "nothing").stderr


def test_a_command_ends_without_looking_for_cycles_once_more() -> None:
    code = "import atexit, gc; from mdmem.__main__ import main; atexit.register(lambda: print(len(gc.get_objects()))); "
    done = subprocess.run(
        [sys.executable, "-c", f"{code} main()", "--help"], capture_output=True, text=True, check=True
    )
    assert int(done.stdout.splitlines()[-1]) < 100


def test_an_unknown_command_names_the_nearest(mdmem: Run) -> None:
    done = mdmem("serach", "x")
    assert done.returncode == 2
    assert "'search'" in done.stderr


@pytest.mark.parametrize("columns", [40, 80])
def test_a_help_page_is_wrapped_on_a_terminal_and_nothing_of_it_is_cut_off(tmp_path: Path, columns: int) -> None:
    seen = cli_day.empty(tmp_path).terminal("help", "privacy", env={"COLUMNS": str(columns)})
    lines = re.sub(r"\x1b\[[0-9;]*m", "", seen).splitlines()
    words = " ".join(" ".join(lines).split())

    assert max(map(cell_len, lines)) <= columns
    assert "in another: all of it is kept out." in words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_is_printed(shell: str) -> None:
    done = click.testing.CliRunner().invoke(cli, ["completion", shell])
    assert done.exit_code == 0
    assert "_MDMEM_COMPLETE" in done.output
    assert click.testing.CliRunner().invoke(cli, ["completion"], env={"SHELL": f"/bin/{shell}"}).output == done.output


def test_an_unknown_shell_is_asked_for() -> None:
    done = click.testing.CliRunner().invoke(cli, ["completion"], env={"SHELL": "/bin/ed"})
    assert done.exit_code == 2
    assert "bash, zsh, fish" in done.output


def completed(ask: Run, *words: str, env: dict[str, str] | None = None) -> list[str]:
    """Ask as bash does: the words so far, the last of them to be completed."""
    asked = {
        "_MDMEM_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("mdmem", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = ask(env={**asked, **(env or {})}, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_options_projects_kinds_and_settings_are_completed(ask: Run, tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    (day.vault / "journal" / "acme-notes-app").mkdir(parents=True)
    assert "search" in completed(ask, "sea")
    assert "--since" in completed(ask, "list", "--si")
    assert completed(ask, "list", "--project", "ac", env=day.env) == ["acme-notes-app"]
    assert completed(ask, "list", "--kind", "pr") == ["prompt", "preference", "project"]
    assert completed(ask, "config", "get", "capture.max_l") == ["capture.max_lines"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_shows_a_description_with_commas_whole(ask: Run, tmp_path: Path) -> None:
    script = tmp_path / "mdmem.fish"
    script.write_text(ask("completion", "fish", check=True).stdout)

    done = subprocess.run(
        ["fish", "--no-config", "-c", f'source "{script}"; complete -C "mdmem sessi"'],
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == "sessions\tList sessions, newest first.\n"


def test_the_script_for_fish_splits_off_type_and_word_only(ask: Run) -> None:
    assert 'string split --max 1 ","' in ask("completion", "fish", check=True).stdout


@pytest.mark.parametrize("words", [("list", "-n", "few"), ("archive", "lastyear"), ("web", "--port", "http")])
def test_what_is_no_number_is_refused_in_plain_words(ask: Run, words: tuple[str, ...]) -> None:
    done = ask(*words)

    assert done.returncode == 2
    assert f"'{words[-1]}' is not a valid whole number" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("search", "x", "-n"), ("search", "x", "--kind", "note", "--offset"), ("list", "-n"), ("sessions", "-n"),
     ("log", "-n")],
)  # fmt: skip
def test_a_number_beyond_all_counts_is_refused_in_plain_words(ask: Run, words: tuple[str, ...]) -> None:
    done = ask(*words, "9" * 30)

    assert done.returncode == 2
    assert "is not between 0 and 1,000,000,000" in done.stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("serch", "search"), ("find", "search"), ("delete", "forget"), ("rm", "forget"), ("serve", "web"),
        ("push", "sync"), ("ls", "list"), ("rememebr", "note"), ("sesions", "sessions"), ("usage", "stats"),
        ("tasks", "todo"), ("memories", "list"), ("save", "note"), ("stop", "pause"), ("conversation", "history"),
        ("entity", "about"), ("changes", "diff"), ("mask", "privacy"), ("wbe", "web"), ("lsit", "list"),
        ("stauts", "status"), ("atg", "tag"), ("hwy", "why"),
    ],
)  # fmt: skip
def test_a_misspelled_command_and_one_of_other_programs_are_answered_with_the_right_one(
    typed: str, meant: str, tmp_path: Path
) -> None:
    done = cli_day.empty(tmp_path).attempt(typed, "x")
    assert done.exit_code == 2
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in done.stderr


def test_what_no_command_does_is_answered_with_how_to_do_it(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    assert "No such command 'version'. `mdmem --version` prints it." in day.attempt("version").stderr
    assert "`mdmem config path` prints where everything is." in day.attempt("where").stderr
    for typed in ("move", "mv", "rename"):
        assert "Move or rename the file or folder itself" in day.attempt(typed, "a", "b").stderr


@pytest.mark.parametrize("typed", ["remodel", "top", "hide", "more", "split", "unzip"])
def test_a_word_that_is_only_a_little_like_a_command_or_a_word_for_it_is_not_taken_for_it(
    typed: str, tmp_path: Path
) -> None:
    done = cli_day.empty(tmp_path).attempt(typed)
    assert done.exit_code == 2
    assert "Did you mean" not in done.stderr


@pytest.mark.parametrize(
    "command", ["show", "timeline", "append", "related", "why", "undo", "pin", "about", "export", "config get"]
)
def test_an_argument_that_is_missing_is_asked_for_with_where_to_find_one(command: str, tmp_path: Path) -> None:
    done = cli_day.empty(tmp_path).attempt(*command.split())
    assert done.exit_code == 2
    assert re.search(r"Missing argument '.*'\. .*`mdmem |Missing argument '(ENTITY|FILE.*)'\. Examples: ", done.stderr)


def test_every_other_word_for_a_command_belongs_to_one_and_is_none() -> None:
    commands = {name for rows in COMMANDS.values() for name in rows}
    words = [word for words in OTHER_WORDS.values() for word in words.split()]
    assert set(OTHER_WORDS) < commands
    assert sorted(set(words) - commands) == sorted(words)


@pytest.mark.parametrize("words", [("list", "-n", "-1"), ("tree", "--depth", "0"), ("archive", "12")])
def test_a_number_out_of_bounds_is_answered_with_the_bounds(ask: Run, words: tuple[str, ...]) -> None:
    done = ask(*words)

    assert done.returncode == 2
    assert re.search(r" is not between \d+ and [\d,]+\.", done.stderr)


def test_help_does_not_name_the_largest_number_of_a_computer(ask: Run) -> None:
    said = ask("search", "--help").stdout

    assert "[default: 10]" in said
    assert "<=" not in said


@pytest.mark.parametrize("group", ["branch", "config", "privacy"])
def test_a_group_says_in_whole_sentences_what_its_commands_do(group: str) -> None:
    shown = click.testing.CliRunner().invoke(cli, [group, "--help"]).output

    assert "..." not in shown.partition("Commands:")[2]


def test_ctrl_c_while_it_still_loads_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Impatient:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "mdmem.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "mdmem.cli")
    monkeypatch.setattr(sys, "meta_path", [Impatient(), *sys.meta_path])
    monkeypatch.setattr(sys, "argv", ["mdmem", "list"])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "mdmem: Stopped.\n"


@pytest.mark.slow
def test_what_is_typed_in_a_locale_without_an_encoding_is_stored_as_it_was(vault: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    words = [sys.executable, "-m", "mdmem", "note", "größer 日本"]
    subprocess.run(words, env={**os.environ, **plain}, check=True, capture_output=True)

    (file,) = vault.glob("notes/*.md")
    assert "größer 日本" in file.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes a stream by `>&-`")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_runs_with_closed_streams(closed: str, vault: Path) -> None:
    line = f'"{sys.executable}" -m mdmem note "a pear" {closed}'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(vault.glob("notes/*-a-pear-*.md"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["help", "privacy"], ["config", "path"], ["search", "--limit", "x"]]
)
def test_a_reader_that_has_gone_ends_every_command_quietly_with_the_same_status(words: list[str]) -> None:
    out, into = os.pipe()
    os.close(out)
    try:
        done = subprocess.run([sys.executable, "-m", "mdmem", *words], stdout=into, stderr=into)
        seen = subprocess.run([sys.executable, "-m", "mdmem", *words], stdout=into, stderr=subprocess.PIPE)
    finally:
        os.close(into)
    assert done.returncode == 141
    assert seen.returncode == (2 if "x" in words else 141)
    assert b"Traceback" not in seen.stderr


FAILS_WITH_OUTPUT_UNWRITTEN = """
import sys
from mdmem import cli, errors

def run():
    sys.stdout.write("Forget 1 note? ")
    raise errors.UsageError("There is no terminal.")

cli._run = run
cli.main()
"""


def test_a_command_that_fails_after_its_reader_has_gone_says_only_why() -> None:
    out, into = os.pipe()
    os.close(out)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    words = [sys.executable, "-c", FAILS_WITH_OUTPUT_UNWRITTEN]
    done = subprocess.run(words, stdout=into, stderr=subprocess.PIPE, text=True, env=env)
    os.close(into)
    assert (done.returncode, done.stderr) == (2, "mdmem: There is no terminal.\n")


@pytest.mark.slow
def test_a_reader_of_the_demo_that_has_gone_is_no_failure(tmp_path: Path) -> None:
    out, into = os.pipe()
    os.close(out)
    words = [sys.executable, "-m", "mdmem", "demo", "--at", str(tmp_path)]
    done = subprocess.run(words, stdout=into, stderr=subprocess.PIPE)
    os.close(into)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("words", [["config", "path"], ["completion", "bash"], ["--version"]])
def test_output_that_cannot_be_written_is_one_sentence(words: list[str]) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mdmem", *words], stdout=full, stderr=subprocess.PIPE, text=True, env=env
        )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "The output cannot be written" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("words", [["list"], ["tree", "--json"], ["search", "parser"]])
def test_an_unbuffered_output_that_cannot_be_written_is_not_blamed_on_the_vault(words: list[str], day: Day) -> None:
    env = {**os.environ, **day.env, "PYTHONUNBUFFERED": "1"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mdmem", *words], stdout=full, stderr=subprocess.PIPE, text=True, env=env
        )
    assert done.returncode == 1
    assert "The output cannot be written" in done.stderr
    assert "vault" not in done.stderr


@pytest.mark.slow
def test_a_fault_of_mdmem_itself_is_a_sentence(ask: Run, home: Path) -> None:
    """Whatever the vault is, there is no traceback without --debug."""
    odd = {
        "pipe": home / "pipe",
        "file": home / "file",
        "loop": home / "loop",
        "nul": home / "\x01",
        "tree": home / "tree",
    }
    os.mkfifo(odd["pipe"])
    odd["file"].write_bytes(b"\0")
    odd["loop"].symlink_to(odd["loop"])
    (odd["tree"] / "mdmem.toml").mkdir(parents=True)
    (odd["tree"] / "x.md").mkdir()
    (odd["tree"] / "journal").write_text("")
    for name, vault in odd.items():
        for words in (["list"], ["doctor"]):
            done = ask("--vault", str(vault), *words)
            assert done.returncode in (0, 1, 4), (name, words)
            assert "Traceback" not in done.stderr + done.stdout, (name, words)


@pytest.mark.usefixtures("vault")
@pytest.mark.parametrize("command", ["tree", "init", "import", "export"])
def test_a_name_that_no_file_can_have_is_an_error_of_one_short_line(mdmem: Run, command: str) -> None:
    done = mdmem(command, f"{'x' * 5_000}.html")
    assert done.returncode in (2, 4, 5)
    assert done.stderr.count("\n") == 1
    assert "xxx…" in done.stderr
    assert "x" * 100 not in done.stderr


@pytest.mark.usefixtures("vault")
def test_a_name_that_the_file_system_does_not_allow_is_named_as_the_reason(mdmem: Run) -> None:
    done = mdmem("export", f"{'x' * 300}.html")
    assert done.returncode == 2
    assert "A name is longer than the file system allows (xxx" in done.stderr
