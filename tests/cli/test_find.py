"""Finding: search, related, show, index."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mdmem.cli.finding import plain
from mdmem.cli.group import cli
from mdmem.errors import NotFoundError, UsageError
from mdmem.history import commit
from mdmem.history.git import repository
from mdmem.search import query as language
from mdmem.watcher import answer, warm_search
from tests.helpers import cli_day
from tests.helpers.cli_day import FIRST, Day

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    return cli_day.make(tmp_path_factory.mktemp("day"))


@pytest.fixture(scope="module")
def unchanging(tmp_path_factory: pytest.TempPathFactory) -> Day:
    """A day in which no search replaces a note in the index: that would change the scores of the others slightly."""
    return cli_day.copy(cli_day.make(tmp_path_factory.mktemp("made")), tmp_path_factory.mktemp("unchanging"))


# -- search ----------------------------------------------------------------------------------------


def test_a_search_as_json_is_an_array_of_objects(day: Day) -> None:
    hits = day.json("search", "29 February parser")
    fields = "id path kind title created project session score snippet superseded_by"
    assert list(hits[0]) == fields.split()
    assert hits[0]["title"].startswith("The parser took 29 February")
    assert hits[0]["session"] == FIRST
    assert (day.vault / hits[0]["path"]).is_file()
    assert "February" in hits[0]["snippet"]


def test_words_are_ranked_and_none_is_required(day: Day) -> None:
    assert day.json("search", "upload", "zebra")[0]["project"] == "api"


def test_options_say_the_same_as_the_query_language(day: Day) -> None:
    for option, value in (("kind", "response"), ("project", "api"), ("tool", "Bash"), ("file", "dates.py")):
        by_option = [hit["id"] for hit in day.json("search", "parser", f"--{option}", value)]
        assert by_option == [hit["id"] for hit in day.json("search", "parser", f"{option}:{value}")], option
    assert day.json("search", "--is", "failed") == day.json("search", "is:failed")
    assert len(day.json("search", "--is", "failed")) == 1
    assert len(day.json("search", "--on", "2026-09-15", "--kind", "prompt")) == 1


def test_a_note_must_be_in_every_state_that_is_asked_for(day: Day) -> None:
    (failed,) = (hit["id"] for hit in day.json("search", "is:failed"))
    other = day.id("The parser took")
    ways = [["list", "--failed", "--pinned"], ["list", "--is", "failed", "--is", "pinned"]]
    ways += [["search", "is:failed is:pinned"], ["search", "--failed", "--is", "pinned"]]

    def found() -> list[list[str]]:
        return [[hit["id"] for hit in day.json(*way)] for way in ways]

    day.run("pin", other)
    try:
        assert found() == [[]] * len(ways)
        day.run("pin", failed)
        assert found() == [[failed]] * len(ways)
    finally:
        day.run("unpin", other, failed)


PLAIN = [
    ["parser"],
    ["29 February", "parser", "--json"],
    ["parser", "-n", "2", "--offset=1", "--all"],
    ["parser", "--kind", "prompt", "--kind=response", "--project", "api", "--limit=0"],
    ["parsr"],
    ["parser", "since:someday"],
    ["zzyzzxq"],
]


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_a_plain_search_prints_what_the_command_prints(
    unchanging: Day, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in unchanging.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(unchanging.vault)
    assert plain.run(["search", *words])
    printed = capsys.readouterr()
    cli.main(["search", *words], standalone_mode=False)
    assert capsys.readouterr() == printed


@pytest.mark.parametrize(
    "line",
    [
        "list x", "search", "search -parser", "search x --help", "search x --limit five", "search x -n -1", "search -n",
        "search --failed x", "search x -- y", "search x --at 3d", "search x --kind --json", "search --kind=",
    ],
)  # fmt: skip
def test_what_is_no_plain_search_is_left_to_the_command(line: str) -> None:
    assert not plain.run(line.split())


def test_a_plain_search_loads_nothing_that_only_others_need(day: Day) -> None:
    day.run("search", "parser")  # adds what is new to the index
    code = (
        "import sys; before = {*sys.modules}; import mdmem.cli\n"
        "try: mdmem.cli.main()\nfinally: print(*{*sys.modules} - before, file=sys.stderr)"
    )
    env = {**os.environ, **day.env}
    done = subprocess.run(
        [sys.executable, "-c", code, "search", "parser"], capture_output=True, text=True, env=env, check=True
    )
    assert "February" in done.stdout
    assert {"click", "rich", "json", "shlex", "shutil", "textwrap", "typing"} & set(done.stderr.split()) == set()


def test_a_word_that_begins_with_a_dash_is_not_wanted_and_no_option(day: Day) -> None:
    everything = {hit["id"]: hit["kind"] for hit in day.json("search", "parser", "-n0")}
    without = {hit["id"] for hit in day.json("search", "parser", "-kind:prompt", "--limit", "0")}
    assert without == {name for name, kind in everything.items() if kind != "prompt"} != set(everything)
    before, after = (day.json("search", *words) for words in (("-kind:prompt parser", "-n0"), ("parser -kind:prompt",)))
    assert [hit["id"] for hit in before] == [hit["id"] for hit in after]
    assert not {hit["id"] for hit in day.json("search", "parser", "-february")} & {
        hit["id"] for hit in day.json("search", "+february")
    }
    slip = day.attempt("search", "-json", "parser")
    assert "--json" in str(slip.exception)
    assert day.run("search", "parser", "--", "-json").output == day.run("search", "parser").output


def test_a_search_for_people_shows_rank_date_kind_title_citation_and_place(day: Day) -> None:
    done = day.run("search", "retried jitter", "--limit", "1")
    first, place, snippet = done.stdout.splitlines()
    assert first.split()[:3] == ["1", "2026-09-16", "response"]
    assert first.endswith(f"[mem:{day.id('Uploads are retried')}]")
    assert place.strip().startswith("journal/api/")
    assert "Uploads are retried" in snippet
    assert "\x1b" not in done.stdout
    assert re.fullmatch(r"1 of \d results; --limit 0 shows all, --offset 1 the next ones\n", done.stderr)


def test_a_persons_note_is_quoted_without_the_addresses_of_its_links_and_an_agents_text_as_it_is(
    tmp_path: Path,
) -> None:
    day = cli_day.empty(tmp_path)
    (day.vault / "notes" / "wall.md").write_text("See [the zyxomma page](https://example.org/zyxomma) here.\n")
    day.ask("zyxomma: call `f[i](x)`", cli_day.MORNING)
    text = day.run("search", "zyxomma").stdout
    assert "See the zyxomma page here." in text
    assert "call `f[i](x)`" in text


def test_pages_follow_each_other_and_limit_0_is_everything(day: Day) -> None:
    everything = [hit["id"] for hit in day.json("search", "kind:prompt", "--limit", "0")]
    assert len(everything) == 3
    assert [
        day.json("search", "kind:prompt", "--limit", "1", "--offset", str(n))[0]["id"] for n in range(3)
    ] == everything


def test_results_can_be_sorted_by_time(day: Day) -> None:
    times = [hit["created"] for hit in day.json("search", "the", "--sort", "oldest", "--limit", "0")]
    assert times == sorted(times)


def test_a_slip_of_the_finger_is_answered_with_the_nearest_word(day: Day) -> None:
    assert "Did you mean: uploads" in day.run("search", "uploadds").stderr.replace("upload\n", "uploads\n")


def test_hints_come_on_stderr_and_leave_the_json_alone(day: Day) -> None:
    done = day.run("search", "since:bogus parser", "--json")
    assert isinstance(json.loads(done.stdout), list)
    assert "hint: " in done.stderr


def test_an_option_that_cannot_be_read_is_refused(day: Day) -> None:
    assert isinstance(day.attempt("search", "x", "--since", "bogus").exception, UsageError)
    done = day.attempt("search", "x", "--is", "purple")
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith("--is: 'purple' is unknown. Known states: pinned, ")
    assert str(day.attempt("list", "--kind", ",").exception) == "--kind needs a value."
    assert day.attempt("search").exit_code == 2


def test_nothing_found_is_said_and_is_no_error(day: Day) -> None:
    done = day.run("search", "project:nowhere")
    assert done.stdout == ""
    assert "Nothing found" in done.stderr


def test_many_questions_are_answered_a_line_each(day: Day, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"qid": "a", "text": "29 February"}\n\n{"qid": 2, "text": "retried jitter kind:none"}\n')
    lines = [
        json.loads(line)
        for line in day.run("search", "--queries", str(file), "--limit", "3", "--json").stdout.splitlines()
    ]
    assert [line["qid"] for line in lines] == ["a", 2]
    assert all(1 <= len(line["results"]) <= 3 for line in lines)
    assert lines[1]["results"][0].startswith("journal/api/")


def test_a_bad_line_among_questions_is_named(day: Day) -> None:
    done = day.attempt("search", "--queries", "-", stdin='{"qid": "a", "text": "x"}\n{"qid": 1}\n')
    assert "Line 2" in str(done.exception)


@pytest.mark.parametrize(
    "more",
    [["--kind", "prompt"], ["--failed"], ["--sort", "newest"], ["--offset", "1"], ["--at", "2d"], ["x"]],
)
def test_many_questions_refuse_what_they_would_ignore(day: Day, more: list[str]) -> None:
    done = day.attempt("search", "--queries", "-", *more, stdin='{"qid": "a", "text": "x"}\n')
    assert isinstance(done.exception, UsageError)
    assert (more[0] if more[0] != "x" else "words") in str(done.exception)


def test_questions_that_are_no_text_are_refused(day: Day, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_bytes(b"\xff\xfe{")
    done = day.attempt("search", "--queries", str(file))
    assert isinstance(done.exception, UsageError)
    assert "UTF-8" in str(done.exception)


def test_any_folder_of_markdown_can_be_searched_and_nothing_is_written_into_it(day: Day, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Ports\n\nThe service listens on 8080.\n")
    assert day.json("--vault", str(folder), "search", "listens port")[0]["path"] == "a.md"
    assert os.listdir(folder) == ["a.md"]


@pytest.mark.slow
def test_what_the_vault_held_then_can_be_searched(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    repository.init(mine.vault)
    commit.commit(mine.config())
    mine.path("Uploads are retried").unlink()
    commit.commit(mine.config())
    assert mine.json("search", "jitter", "--kind", "response") == []
    then = mine.json("search", "jitter", "--kind", "response", "--at", "HEAD~1")
    assert [hit["project"] for hit in then] == ["api"]
    for more in (
        ["--tag", "x"],
        ["--sort", "newest"],
        ["--offset", "1"],
        ["--all"],
        ["--kind", "note", "--kind", "task"],
    ):
        refused = mine.attempt("search", "jitter", "--at", "HEAD", *more)
        assert isinstance(refused.exception, UsageError), more


def test_related_notes_are_like_the_one_and_not_the_one(day: Day) -> None:
    name = day.id("The parser took")
    found = [hit["id"] for hit in day.json("related", f"mem:{name}")]
    assert not {hit["kind"] for hit in day.json("related", name, "--limit", "0")} & {"session", "day", "project"}
    assert found
    assert name not in found


# -- show ------------------------------------------------------------------------------------------


def test_a_note_in_a_pipe_is_the_file_as_it_is(day: Day) -> None:
    path = day.path("The parser took")
    name = day.id("The parser took")
    wanted = path.read_bytes()
    relative = path.relative_to(day.vault).as_posix()
    for reference in (name, f"mem:{name}", f"[mem:{name}]", name[:6], relative, str(path)):
        assert day.run("show", reference).stdout_bytes == wanted, reference


def test_show_can_print_the_path_or_an_object(day: Day) -> None:
    name = day.id("The parser took")
    assert day.run("show", name, "--path").stdout == f"{day.path('The parser took')}\n"
    found = day.json("show", name)
    assert found["id"] == name
    assert found["body"].startswith("The parser took")


def test_the_marks_in_a_sessions_page_are_neither_shown_nor_found(day: Day) -> None:
    assert all("<!--" not in hit["snippet"] for hit in day.json("search", "date parser", "--kind", "session"))
    assert day.json("search", "mdmem", "--kind", "session") == []


def test_broken_front_matter_is_shown_with_its_problem(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    (mine.vault / "notes" / "broken.md").write_text("---\na: [1\n---\nstill here\n")
    found = mine.json("show", "notes/broken.md")
    assert "line" in found["problem"]
    assert found["body"] == "still here\n"


def test_numbers_that_json_does_not_have_become_texts(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    (mine.vault / "notes" / "odd.md").write_text("---\nid: oddoddoddo\na: .nan\nb: [.inf, 1.5]\n---\nx\n")
    found = mine.json("show", "notes/odd.md")
    assert (found["a"], found["b"]) == ("nan", ["inf", 1.5])


def test_a_note_that_is_not_there_is_named_with_a_way_on(day: Day) -> None:
    done = day.attempt("show", "zzzzzzzzzz")
    assert isinstance(done.exception, NotFoundError)
    assert "mdmem search" in str(done.exception)


def test_a_note_can_be_shown_as_it_was(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    repository.init(mine.vault)
    commit.commit(mine.config())
    name, path = mine.id("Uploads are retried"), mine.path("Uploads are retried")
    path.write_text(path.read_text().replace("three times", "five times"))
    assert "five times" in mine.run("show", name).stdout
    assert "three times" in mine.run("show", name, "--at", "HEAD").stdout


def test_a_note_is_opened_in_the_users_editor(day: Day, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = tmp_path / "editor"
    script.write_text(f'#!/bin/sh\necho "$1" > "{seen}"\n')
    script.chmod(0o755)
    day.run("show", day.id("The parser took"), "--open", env={"VISUAL": shlex.quote(str(script))})
    assert seen.read_text().strip() == str(day.path("The parser took"))


# -- index -----------------------------------------------------------------------------------------


def test_index_says_what_changed(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    count = len(list(mine.vault.rglob("*.md")))
    assert mine.json("index")["added"] == count
    assert mine.run("index").stdout == "The index is up to date.\n"
    gone = mine.path("Uploads are retried")
    (mine.vault / "notes" / "new.md").write_text("new")
    gone.unlink()
    assert mine.run("index").stdout == "Indexed: 1 added, 1 removed.\n"
    assert mine.json("index", "--rebuild")["added"] == count
    assert mine.json("index", "--verify")["agrees"] is True


def test_index_brings_home_what_waited(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    cli_day.strand_a_note(mine, tmp_path)
    found = mine.json("index")
    assert (found["written"], found["waiting"]) == (1, 0)
    assert [hit["title"] for hit in mine.json("search", "stranded", "--kind", "prompt")] == ["A stranded prompt"]


# -- processes -------------------------------------------------------------------------------------


def test_search_and_show_run_as_processes(day: Day, mdmem: Run) -> None:
    found = json.loads(mdmem("search", "retried", "jitter", "--json", env=day.env, check=True).stdout)
    shown = mdmem("show", found[0]["id"], env=day.env, check=True)
    assert shown.stdout.encode() == (day.vault / found[0]["path"]).read_bytes()
    assert mdmem("show", "zzzzzzzzzz", env=day.env).returncode == 5
    again = mdmem("--vault", str(day.vault), "index", "--verify", env=day.env, check=True)
    assert "matches the vault" in again.stdout


def test_the_watcher_answers_a_search_as_the_command_itself_would(unchanging: Day) -> None:
    settings = unchanging.config()
    searches = (["parser"], ["kind:prompt", "--sort", "oldest"], ["uploadds"], ["the", "--limit", "2", "--offset", "1"])
    for words in searches:
        alone = unchanging.run("search", *words)
        with answer.serving(settings, {"search": partial(warm_search.answer, settings)}):
            assert warm_search.ask(settings, language.parse("parser"), {"limit": 1}) is not None
            warmed = unchanging.run("search", *words)
            found = unchanging.json("search", *words)
        assert (warmed.stdout, warmed.stderr) == (alone.stdout, alone.stderr), words
        assert found == unchanging.json("search", *words)


def test_a_broken_answer_of_a_watcher_is_passed_over(day: Day) -> None:
    settings = day.config()
    asked = language.parse("parser")
    for reply in (b"", b"{}", b"[1]", b"nonsense"):
        with answer.serving(settings, {"search": lambda *_, reply=reply: reply}):
            assert warm_search.ask(settings, asked, {}) is None, reply
            assert day.json("search", "parser"), reply
    assert warm_search.ask(settings, asked, {}) is None


def test_what_is_wrapped_stays_indented(day: Day) -> None:
    shown = re.sub(r"\x1b\[[\d;]*m", "", day.terminal("prompts", "parser", env={"COLUMNS": "30"}))
    wrapped = shown[shown.index("    Why does") :].splitlines()[:2]
    assert all(re.match(r" {4}\S", line) for line in wrapped), wrapped


def test_a_title_that_is_wrapped_stays_to_the_right_of_its_rank(day: Day) -> None:
    shown = day.terminal("search", "parser", "29 February", env={"COLUMNS": "40"})
    first, second = re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines()[:2]
    assert first.startswith("  1  2026-09-14  response  The parser")
    assert second.startswith("     ") and not second.strip().startswith("journal/")


def test_a_dumb_terminal_gets_lines_of_its_own_width(day: Day) -> None:
    shown = day.terminal("search", "parser", "-n", "3", env={"COLUMNS": "50", "LINES": "", "TERM": "dumb"}).splitlines()
    assert "\x1b" not in "".join(shown)
    assert 30 < max(map(len, shown)) <= 50


def test_a_session_among_the_hits_shows_the_words_of_its_links_only(day: Day) -> None:
    shown = day.run("search", "parser", "kind:session").stdout

    assert "Prompts · Why does the date parser fail? [PRIVATE] Fix it." in shown
    assert "](" not in shown
    assert "](" in day.json("search", "parser", "kind:session")[0]["snippet"]


def test_a_terminal_gets_colour_and_rendered_markdown(day: Day) -> None:
    assert "\x1b[1;33m" in day.terminal("search", "retried", "jitter")
    shown = day.terminal("show", day.id("The parser took"))
    assert "• " in shown  # a list, rendered
    assert "kind: response" not in shown
    assert "tags: response" in shown  # worded for people
    assert "digest" not in shown


def test_a_rendered_note_keeps_its_html_as_text(day: Day, tmp_path: Path) -> None:
    """A terminal shows no HTML, and the names of components and types look like tags."""
    mine = cli_day.copy(day, tmp_path)
    text = "<!-- why -->\n\n| a |\n|---|\n| ~~b~~ |\n\n"
    text += "Wrap it in <Suspense>, as a Map<String, List<int>>.\n\n<div>\n  block\n</div>\n"
    (mine.vault / "notes" / "tags.md").write_text(text)
    shown = re.sub(r"\x1b\[[\d;]*m", "", mine.terminal("show", "notes/tags.md"))
    for piece in ("<Suspense>", "Map<String, List<int>>", "<div> block </div>", "<!-- why -->"):
        assert piece in shown
    assert "| ~~b~~ |" not in shown


def test_a_rendered_page_shows_tool_runs_without_what_folds_them(day: Day) -> None:
    (page,) = [row["id"] for row in day.json("list", "--kind", "session") if "date parser" in row["title"]]
    shown = day.terminal("show", page, env={"COLUMNS": "200"})
    assert "tool runs" in shown
    assert "edit src dates py" in shown
    assert not re.search("<details>|summary>|<!--", shown)
    assert shown.count("Why does the date parser fail? [PRIVATE] Fix it.") == 2, "the title, and the prompt"


@pytest.mark.parametrize("words", [("prompts", "parser"), ("todo",), ("decisions",), ("fixes",), ("about", "dates.py")])
def test_what_an_agent_looks_up_is_fenced(day: Day, words: tuple[str, ...]) -> None:
    """The privacy gate removes what is fenced, so that no look-up is stored as something new."""
    said = subprocess.run(
        [sys.executable, "-m", "mdmem", *words],
        env={**os.environ, **day.env, "CLAUDECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.startswith("<mdmem-context id=")
    assert said.splitlines()[-1].startswith("</mdmem-context id=")


@pytest.mark.parametrize(("command", "hint"), [("show", "mdmem search"), ("pin", "mdmem list"), ("undo", "log --stat")])
def test_a_missing_argument_is_told_with_where_to_find_it(day: Day, command: str, hint: str) -> None:
    done = day.attempt(command)

    assert (done.exit_code, hint in done.stderr.rpartition("Missing argument")[2]) == (2, True)


def test_a_vault_without_prompts_is_told_from_a_search_for_them_without_result(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    assert day.run("prompts").stderr == "No prompts yet.\n"
    assert day.run("prompts", "zeppelin").stderr == "No prompt matches.\n"
    assert day.run("prompts", "--since", "1w").stderr == "No prompt matches.\n"


def test_the_id_of_a_note_that_is_searched_for_is_answered_with_how_to_show_it(
    day: Day, capsys: pytest.CaptureFixture[str]
) -> None:
    name = day.json("list", "--kind", "response", "-n", "1")[0]["id"]
    for words in ((name,), (f"[mem:{name}]",), (name, "--sort", "newest")):
        assert f"`mdmem show {name}` shows it." in day.run("search", *words).stderr
    assert plain.run(["--vault", str(day.vault), "search", name])
    assert f"`mdmem show {name}` shows it." in capsys.readouterr().err
    assert "`mdmem show" not in day.run("search", "zzzzzzzzzz").stderr
