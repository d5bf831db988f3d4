"""Listing and reading: list, sessions, tree, history, timeline, digest, stats."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from mdmem.cli.terminal import render
from mdmem.errors import NotFoundError, UsageError, VaultError
from mdmem.inject import injection_log
from mdmem.search.expansion import ledger
from mdmem.vault import journal
from mdmem.views import rows as note_rows
from mdmem.views import wording
from mdmem.views.digests import markdown as digest_of
from tests.helpers import cli_day
from tests.helpers.cli_day import FIRST, OTHER, SECOND, Day
from tests.helpers.talk import Talk

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    return cli_day.make(tmp_path_factory.mktemp("day"))


# -- list ------------------------------------------------------------------------------------------


def test_list_shows_notes_newest_first_without_the_pages_machines_keep(day: Day) -> None:
    rows = day.json("list")
    assert [row["kind"] for row in rows] == ["response", "prompt"] * 2 + ["response"] + ["observation"] * 3 + ["prompt"]
    assert [row["created"] for row in rows] == sorted((row["created"] for row in rows), reverse=True)
    assert all((day.vault / row["path"]).is_file() for row in rows)


@pytest.mark.parametrize("word", ["project", "Session", "agent"])
def test_a_note_whose_type_has_the_name_of_a_page_or_of_a_memory_is_listed_and_reviewed_as_a_note(
    tmp_path: Path, word: str
) -> None:
    day = cli_day.make(tmp_path)
    day.run("init", str(day.vault))
    (day.vault / "notes" / "shed.md").write_text(f"---\ntype: {word}\n---\n\n# Garden shed\n\nOf larch.\n", "utf-8")

    for command in (["list", "--kind", "note"], ["review"], ["search", "larch"]):
        assert [(row["kind"], row["title"]) for row in day.json(*command) if row["path"] == "notes/shed.md"] == [
            ("note", "Garden shed")
        ]


def test_list_takes_the_filters_of_the_query_language(day: Day) -> None:
    def listed(*words: str) -> int:
        return len(day.json("list", *words))

    assert listed("--kind", "prompt") == 3
    assert listed("--kind", "prompt", "--kind", "response") == 6
    assert listed("--project", "api") == 2
    assert listed("--session", FIRST[:8]) == 5
    assert listed("--tool", "Bash") == 2
    assert listed("--file", "dates.py") == 2
    assert listed("--is", "failed") == 1
    assert listed("--is", "private") == 1
    assert listed("--agent", "codex") == 2
    assert listed("--on", "2026-09-14") == 5
    assert listed("--since", "2026-09-15", "--until", "2026-09-15") == 2
    assert listed("--kind", "session") == 3
    assert listed("--pinned") == 0


def test_list_sorts_limits_and_says_how_many_are_left(day: Day) -> None:
    done = day.run("list", "--sort", "oldest", "--limit", "2")
    assert len(done.stdout.splitlines()) == 2
    assert "Why does the date parser fail" in done.stdout.splitlines()[0]
    assert done.stderr == "1–2 of 9 notes; --limit 0 shows all, --offset 2 the next ones\n"
    assert day.run("list", "--limit", "0").stderr == ""


def test_a_list_goes_on_where_the_last_one_ended(day: Day) -> None:
    assert day.json("list", "--offset", "2", "--limit", "3") == day.json("list", "--limit", "0")[2:5]
    done = day.run("list", "--offset", "2", "--limit", "3")
    assert done.stderr == "3–5 of 9 notes; --limit 0 shows all, --offset 5 the next ones\n"
    assert day.run("list", "--offset", "8").stderr == "9 of 9 notes\n"
    assert len(day.json("list", "--offset", "8")) == 1


@pytest.mark.parametrize("words", [("search", "parser"), ("list",), ("prompts",)])
def test_results_past_the_last_one_are_said_to_be_none(day: Day, words: tuple[str, ...]) -> None:
    done = day.run(*words, "--offset", "5000")
    assert done.stdout == ""
    assert re.search(r"(?m)^Only \d (note|prompt|result)s match; --offset 5000 skips all of them\.$", done.stderr)


@pytest.mark.parametrize("command", ["sessions", "log"])
def test_sessions_say_that_there_are_more_only_if_there_are(day: Day, command: str) -> None:
    assert day.run(command, "-n", "3").stderr == ""
    first = "1 of 3 sessions; --limit 0 shows all, --offset 1 the next ones\n"
    assert day.run(command, "-n", "1").stderr == day.run(command, "-n", "1", "--json").stderr == first
    assert day.run(command, "-n", "2", "--offset", "1").stderr == "2–3 of 3 sessions\n"
    assert day.run(command, "--offset", "3").stderr == "--offset 3 skips all sessions that match.\n"
    both, later = (day.json(command, "-n", "2", "--offset", offset) for offset in "01")
    assert both[1]["session"] == later[0]["session"]
    assert day.run(command, "-n", "1", "--since", "2020").stderr.startswith("1 of more than 1 session; ")
    assert day.run(command, "-n", "1", "--project", "api").stderr == ""


def test_no_more_than_500_sessions_are_counted_below_a_list(tmp_path: Path) -> None:
    many = cli_day.empty(tmp_path)

    def add(number: int) -> None:
        folder = many.vault / f"journal/app/2026-09-{number // 25 + 1:02}/0800-task-{number:08}"
        folder.mkdir(parents=True)
        text = f"---\nkind: prompt\nsession: s-{number}\n---\nDo task {number}.\n"
        (folder / "001-000-prompt-do-task-7gk2q9m4x1.md").write_text(text, encoding="utf-8")

    for number in range(500):
        add(number)
    assert many.run("sessions", "-n", "1").stderr.startswith("1 of 500 sessions; ")
    add(500)
    assert many.run("sessions", "-n", "1").stderr.startswith("1 of more than 500 sessions; ")
    assert many.run("sessions", "-n", "1", "--offset", "499").stderr.startswith("500 of more than 500 sessions; ")
    assert many.run("sessions", "-n", "1", "--offset", "500").stderr == "501 of 501 sessions\n"


@pytest.mark.usefixtures("november")
def test_a_session_that_was_resumed_days_later_took_the_time_worked(vault: Path, tmp_path: Path, ask: Run) -> None:
    talk = Talk(vault, tmp_path / "shop")
    for _ in range(2):
        talk.says("Go on with the export.")
        talk.now += 10 * 60
        talk.answers("The next part of the export is done.")
        talk.now += 3 * 86_400

    (listed,) = json.loads(ask("sessions", "--json").stdout)
    assert listed["seconds"] == 2 * 11 * 60
    assert re.search(r"  22 min  shop  ", ask("sessions").stdout)
    assert ", 22 min." in ask("digest", "--since", "2026-01-01").stdout
    assert "22 min" in ask("history", listed["session"]).stdout
    (page,) = (vault / listed["folder"]).glob(f"{Path(listed['folder']).name}.md")
    assert "\n- Took 22 min\n" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["sessions", "log"])
def test_sessions_are_narrowed_by_agent(day: Day, command: str) -> None:
    assert [one["session"] for one in day.json(command, "--agent", "codex")] == [OTHER]
    assert "No" in day.run(command, "--agent", "gemini").output


@pytest.mark.parametrize("command", ["sessions", "log", "list"])
@pytest.mark.parametrize("name", ["CODEX", "Codex CLI", "dex"])
def test_an_agent_is_meant_by_its_title_in_any_case_and_by_a_part_of_its_name(
    day: Day, command: str, name: str
) -> None:
    assert day.json(command, "--agent", name) == day.json(command, "--agent", "codex") != []


@pytest.mark.usefixtures("november")
@pytest.mark.parametrize("command", [["sessions"], ["log", "--oneline"], ["digest", "--on", "2026-09"]])
def test_a_project_is_meant_by_a_part_of_its_name_that_no_other_project_has(day: Day, command: list[str]) -> None:
    whole = "notes-app"
    found = day.run(*command, "--project", whole).stdout
    assert (
        day.run(*command, "--project", whole[1:-1].upper()).stdout
        == found
        != day.run(*command, "--project", "zz").stdout
    )


@pytest.mark.parametrize("command", [["list"], ["search", "parser"], ["sessions"], ["prompts"], ["stats"]])
def test_a_project_is_meant_by_the_name_of_its_folder_as_it_is_spelled_on_disk(day: Day, command: list[str]) -> None:
    found = day.json(*command, "--project", "notes-app")
    assert found == day.json(*command, "--project", "Notes App") == day.json(*command, "--project", "Notes.App/")


def test_a_renamed_project_has_its_new_name_everywhere_and_is_found_by_both(tmp_path: Path) -> None:
    day = cli_day.make(tmp_path)
    (day.vault / "journal/api").rename(day.vault / "journal/gateway")
    (prompt, answer) = [row["id"] for row in day.json("list", "--project", "gateway", "--sort", "oldest")]

    assert day.json("list", "--project", "api") == day.json("list", "--project", "gateway")
    assert day.json("stats")["projects"] == {"notes-app": 7, "gateway": 2}
    assert {row["project"] for row in day.json("sessions")} == {"notes-app", "gateway"}
    assert day.json("sessions", "--project", "Gateway")[0]["project"] == "gateway"
    assert day.json("sessions", "--project", "api") == day.json("sessions", "--project", "gateway")
    assert day.json("history", OTHER)["project"] == "gateway"
    assert day.json("search", "retry", "--project", "gateway")[0]["project"] == "gateway"
    assert day.json("digest", OTHER)["sessions"][0]["project"] == "gateway"
    assert "gateway" in day.terminal("show", prompt).split("\n")[1]
    assert "gateway" in day.terminal("history", answer).split("\n")[1]
    day.run("export", str(tmp_path / "out.jsonl"), "--project", "GATEWAY")
    assert '"kind": "prompt", "title": "Add a retry' in (tmp_path / "out.jsonl").read_text()


def test_a_part_of_several_projects_names_is_ambiguous(day: Day) -> None:
    for name in ("twin-one", "twin-two"):
        (day.vault / "journal" / name).mkdir(exist_ok=True)
    refused = day.attempt("sessions", "--project", "twin")
    assert "twin-one, twin-two" in str(refused.exception)
    assert day.json("sessions", "--project", "twin-one") == []


@pytest.mark.parametrize(
    "words", [("list", "-n", "2"), ("sessions", "-n", "2"), ("log", "-n", "2"), ("search", "retry")]
)
def test_on_a_terminal_the_number_of_results_stands_below_them(day: Day, words: tuple[str, ...]) -> None:
    lines = day.terminal(*words, env={"PAGER": "less"}).splitlines()
    assert re.match(r"1–\d of |2 sessions shown", lines[-1]), lines


@pytest.mark.parametrize("words", [("list", "--limit", "0"), ("prompts", "--full")])
def test_long_lists_are_made_in_parts_and_read_like_one(
    words: tuple[str, ...], day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, rows = day.run(*words).stdout, day.json(*words)
    monkeypatch.setattr(note_rows, "AT_ONCE", 2)
    assert (day.run(*words).stdout, day.json(*words)) == (whole, rows)


def test_a_failed_run_is_marked_in_a_list(day: Day) -> None:
    assert "✗ " in day.run("list", "--is", "failed").stdout


def test_a_filter_that_cannot_be_read_says_what_can(day: Day) -> None:
    done = day.attempt("list", "--since", "bogus")
    assert isinstance(done.exception, UsageError)
    assert "2026-09-14" in str(done.exception)


@pytest.mark.usefixtures("november")
@pytest.mark.parametrize("command", ["list", "sessions", "log", "digest", "stats", "prompts", "search"])
def test_a_time_that_ends_before_it_begins_is_refused(day: Day, command: str) -> None:
    done = day.attempt(command, "--since", "2026-09-20", "--until", "2026-09-01")
    assert isinstance(done.exception, UsageError)
    assert "the first time must be earlier" in str(done.exception)
    day.run(command, "--since", "2026-09-14", "--until", "2026-09-14")


def test_a_digest_of_a_time_to_come_is_refused(day: Day) -> None:
    assert "--since 9999-01-01 is still to come." in str(day.attempt("digest", "--since", "9999-01-01").exception)


def test_a_list_without_a_match_names_a_way_on(day: Day) -> None:
    done = day.run("list", "--project", "nowhere")
    assert done.stdout == ""
    no_match = "No matching notes. `mdmem list --help` lists the filters."
    assert done.stderr == f"{no_match}\nhint: No note has project:nowhere.\n"


def test_a_misspelled_project_is_hinted_at_once_and_not_before_other_mistakes(day: Day, tmp_path: Path) -> None:
    assert "hint" not in day.attempt("export", "--project", "notes-ap-p").stderr
    done = day.attempt("export", str(tmp_path / "out.zip"), "--project", "notes-ap-p")
    assert done.stderr.splitlines() == ["hint: No note has project:notes-ap-p. Did you mean project:notes-app?"]
    assert str(done.exception) == "No note matches; nothing was written."


@pytest.mark.parametrize("command", ["sessions", "log", "todo", "decisions", "fixes", "digest", "prompts", "proposals"])
def test_a_misspelled_project_is_not_answered_as_one_where_nothing_happened(day: Day, command: str) -> None:
    done = day.run(command, "--project", "notes-ap-p")
    assert "hint: No note has project:notes-ap-p. Did you mean project:notes-app?" in done.stderr
    assert "hint" not in day.run(command, "--project", "Notes").stderr


@pytest.mark.parametrize("command", ["sessions", "log"])
def test_a_misspelled_agent_gets_the_nearest_one(day: Day, command: str) -> None:
    done = day.run(command, "--agent", "claud-code", "--json")
    assert done.stdout.strip() == "[]"
    assert "Did you mean agent:claude-code?" in done.stderr
    assert "hint" not in day.run(command, "--agent", "claude-code").stderr


def test_a_hand_written_note_is_listed_at_once_even_with_broken_front_matter(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    (mine.vault / "ideas").mkdir()
    (mine.vault / "ideas" / "plan.md").write_text("---\ntags: [a\n---\n# The plan\n\nWords.\n")
    assert "The plan" in [row["title"] for row in mine.json("list", "--kind", "note")]


def test_a_missing_vault_is_named_with_what_to_do(day: Day, tmp_path: Path) -> None:
    for words in (["list"], ["sessions"], ["tree"], ["history"], ["stats"], ["digest"]):
        done = day.attempt("--vault", str(tmp_path / "none"), *words)
        assert isinstance(done.exception, VaultError), words
        assert "mdmem init" in str(done.exception)


def test_a_new_vault_says_where_notes_come_from(tmp_path: Path) -> None:
    mine = cli_day.empty(tmp_path)
    for words in (["list"], ["sessions"], ["stats"]):
        assert "mdmem status" in mine.run(*words).output, words
    assert "No matching notes" in mine.run("list", "--kind", "prompt").stderr


def test_titles_cannot_steer_the_terminal(tmp_path: Path) -> None:
    mine = cli_day.empty(tmp_path)
    (mine.vault / "notes" / "evil.md").write_text('---\ntitle: "a\\e[2Jb\\nc"\n---\nbody\x1b[31m\n')
    out = mine.run("list").stdout
    assert "\x1b" not in out
    assert len(out.splitlines()) == 1


def test_no_value_of_a_note_can_steer_the_terminal(tmp_path: Path) -> None:
    mine = cli_day.empty(tmp_path)
    evil = "e\x1b]0;x\x07\x9b31m\x7f\u202e\u2066"
    folder = mine.vault / "journal" / "app" / "2026-09-14" / "0800-evil-00000001"
    folder.mkdir(parents=True)
    keys = (
        "title",
        "tool",
        "exit_code",
        "duration_ms",
        "agent",
        "model",
        "branch",
        "cwd",
        "project",
        "status",
        "error",
    )
    values = dict.fromkeys((*keys, "created", "supersedes", "relates_to"), evil) | {"tags": [evil], "files": [evil]}
    for number, kind in enumerate(("prompt", "observation", "response", "decision", "task")):
        meta = {**values, "kind": kind, "session": "00000001-evil", "prompt": 1, "sequence": number, "success": False}
        text = f"---\n{json.dumps(meta | {'id': f'{evil}{number}'})}\n---\nThe parser {evil}\n"
        (folder / f"001-00{number}-{kind}-evil-7m2x4kd9q{number}.md").write_text(text)
    note = f"{folder.relative_to(mine.vault)}/001-001-observation-evil-7m2x4kd9q1.md"
    commands = (
        "list", "sessions", "stats", "tree", "decisions", "todo", "proposals", "fixes", "prompts parser", "digest",
        "search parser", "related NOTE", "about parser", "history 00000001-evil", "timeline NOTE", "tag NOTE", "status",
        "digest 00000001-evil", "doctor", "forget NOTE", "show 7m2x", "pin NOTE", "promote NOTE --to CLAUDE.md",
    )  # fmt: skip
    for command in commands:
        for as_json in ("", " --json"):
            done = mine.attempt(*f"{command}{as_json}".replace("NOTE", note).split())
            shown = f"{done.stdout}{done.stderr}{done.exception}"
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown), (command, shown)
    listed = json.loads(mine.run("list", "--json").stdout)
    assert {row["agent"] for row in listed} == {evil}, "escaped, not changed"


# -- sessions --------------------------------------------------------------------------------------


def test_sessions_come_last_first_with_what_they_were_about(day: Day) -> None:
    rows = day.json("sessions")
    assert [row["session"] for row in rows] == [OTHER, SECOND, FIRST]
    assert rows[2]["files"] == ["src/dates.py"]
    out = day.run("sessions", "--project", "notes-app").stdout.splitlines()
    assert len(out) == 2
    assert "9b1d7c22" in out[0]
    assert "1 prompt" in out[0]


def test_columns_that_do_not_fit_stand_below_with_the_title(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    console = Console(file=out, width=60, force_terminal=True, color_system=None)
    columns = (render.WHEN, render.NUMBER, render.PROJECT, render.ID, render.NUMBER, render.NUMBER, render.TITLE)
    row = (
        "2026-09-14 14:30",
        "21 min",
        "acme-notes-app",
        "b81e4c07",
        "2 prompts",
        "10 notes",
        "The export drops a row",
    )
    monkeypatch.setattr(render, "terminal", lambda: console)
    render.table(columns, [row])
    assert out.getvalue().splitlines() == [
        "2026-09-14 14:30  21 min  acme-notes-…  b81e4c07  2 prompts",
        "  10 notes  The export drops a row",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_title_can_be_read_on_a_narrow_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    title = "Why does the date parser fail on the 29th of February?"
    out = io.StringIO()
    screen = Console(file=out, force_terminal=True, color_system=None, width=width, soft_wrap=True)
    columns = (render.WHEN, render.KIND, render.PROJECT, render.ID, render.TITLE)
    row = ("2026-09-14 08:00", "observation", "acme-notes-app", "7gk2q9m4x1", title)
    monkeypatch.setattr(render, "terminal", lambda: screen)
    render.table(columns, [row])
    assert "Why does the date p" in out.getvalue()
    assert all(len(line) <= max(width, 55) for line in out.getvalue().splitlines())
    assert len(out.getvalue().splitlines()) == {40: 3, 60: 2, 80: 2}.get(width, 1)
    assert title in out.getvalue() or width < 80
    assert "acme-notes-app" in out.getvalue()


@pytest.mark.parametrize("cells", [("state", "a/long path" * 9), ("a/long path" * 9,)])
def test_only_columns_that_give_are_cut_on_a_narrow_terminal(
    cells: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.StringIO()
    screen = Console(file=out, force_terminal=True, color_system=None, width=40, soft_wrap=True)
    monkeypatch.setattr(render, "terminal", lambda: screen)
    render.table([render.Column()] * len(cells), [cells])
    lines = out.getvalue().splitlines()
    assert " ".join(" ".join(cells).split()) == " ".join(" ".join(lines).split())
    assert all(lines)


def test_paths_can_be_copied_from_a_narrow_terminal(tmp_path: Path) -> None:
    mine = cli_day.empty(tmp_path)
    paths = json.loads(mine.run("config", "path", "--json").stdout)
    shown = re.sub(r"\x1b\[\d*m", "", mine.terminal("config", "path", env={"COLUMNS": "40"})).split()
    assert set(paths.values()) <= set(shown)


def test_a_session_whose_id_begins_another_is_meant_by_it(tmp_path: Path) -> None:
    mine = cli_day.empty(tmp_path)
    for name in ("s-1", "s-10"):
        text = f"---\nkind: prompt\nsession: {name}\ncreated: 2026-09-14T08:00:00Z\n---\n\nIn {name}.\n"
        (mine.vault / "notes" / f"{name}.md").write_text(text)
    assert [step["body"] for step in mine.json("history", "s-1")["notes"]] == ["In s-1.\n"]
    assert "2 sessions" in str(mine.attempt("history", "s-").exception)


def test_sessions_of_one_minute_have_names_of_their_own_that_every_filter_takes(tmp_path: Path) -> None:
    mine = cli_day.empty(tmp_path)
    ids = ["01a201aa-650f-7b12-8c92-7e92df6f9079", "01a201aa-77fd-7b42-8672-f051a17ac9fe"]
    for number, session in enumerate(ids):
        mine.ask("Run tests", cli_day.MORNING + number, session, agent="codex")
        injection_log.log(mine.config(), {"time": "2026-09-14T08:00:09Z", "session": session, "ids": ["x"]})
    name, other = map(journal.session_tag, ids)

    for command in ("log", "prompts", "injections", "sessions"):
        assert {name, other} <= set(mine.run(command, *["--oneline"] * (command == "log")).stdout.split())
    for command in ("log", "list", "prompts", "injections"):
        assert {row["session"] for row in mine.json(command, "--session", name)} == {ids[0]}
    assert {row["session"] for row in mine.json("search", f"tests session:{name}")} == {ids[0]}
    assert "No injection matches." in mine.run("injections", "--session", "nope").stderr


def test_sessions_can_be_narrowed_by_time_and_file(day: Day) -> None:
    assert [row["session"] for row in day.json("sessions", "--until", "2026-09-14")] == [FIRST]
    assert [row["session"] for row in day.json("sessions", "--file", "dates.py")] == [FIRST]
    assert len(day.json("sessions", "--limit", "1")) == 1


# -- tree ------------------------------------------------------------------------------------------


def test_a_tree_counts_the_notes_of_every_folder(day: Day) -> None:
    top = day.json("tree")
    assert top["notes"] == len(list(day.vault.rglob("*.md")))
    out = day.run("tree", "--depth", "2").stdout
    assert "notes-app/" in out
    assert "2026-09-14" not in out
    assert ".md" in day.run("tree", "journal/api", "--files").stdout


def test_a_tree_of_very_deep_folders_is_drawn(vault: Path, mdmem: Run) -> None:
    folder = vault / "/".join("a" * 600)
    folder.mkdir(parents=True)
    (folder / "deep.md").write_text("Deep.\n")
    assert "└── a/  1 file" in mdmem("tree", check=True).stdout
    assert mdmem("tree", "--depth", "2000", check=True).stdout.count("└── a/") == 600
    assert mdmem("tree", "--json", check=True).stdout.count('"name": "a"') == 600


def test_a_tree_shows_the_last_folders_and_says_how_many_more_there_are(day: Day) -> None:
    whole = day.run("tree", "journal", "--depth", "1", "--limit", "0").stdout.splitlines()
    out = day.run("tree", "journal", "--depth", "1", "--limit", "1").stdout.splitlines()

    assert len(whole) > 2
    assert out[0] == whole[0]
    assert out[1] == f"├── … {len(whole) - 2} more {'folder' if len(whole) == 3 else 'folders'}"
    assert out[2] == whole[-1]


def test_a_folder_outside_the_vault_has_no_tree(day: Day) -> None:
    for folder in ("..", "/etc", "journal/none"):
        assert isinstance(day.attempt("tree", folder).exception, NotFoundError), folder


# -- history ---------------------------------------------------------------------------------------


def test_history_reads_a_session_as_a_conversation_with_a_lock_for_what_is_private(day: Day) -> None:
    out = day.run("history", FIRST).stdout
    assert "Why does the date parser fail? 🔒 Fix it." in out
    assert "[PRIVATE]" not in out
    lines = [line.strip() for line in out.splitlines()]
    steps = [line for line in lines if line.startswith("▸")]
    assert len(steps) == 3
    assert "✗" in steps[0]
    assert "✗" not in steps[2]
    assert out.index("you") < out.index("▸") < out.index("The parser took 29 February")
    assert "12 passed" not in out
    assert "12 passed" in day.run("history", FIRST, "--full").stdout


@pytest.mark.parametrize("name", [FIRST, FIRST[:8], FIRST[:8].upper(), "folder", "note", "mem", "page"])
def test_a_session_is_found_by_whatever_names_it(day: Day, name: str) -> None:
    row = next(row for row in day.json("list", "--limit", "0") if row["session"] == FIRST)
    folder = row["path"].split("/")[-2]
    names = {
        "folder": folder,
        "note": row["id"],
        "mem": f"mem:{row['id']}",
        "page": f"{row['path'].rpartition('/')[0]}/",
    }
    assert day.json("history", names.get(name, name))["session"] == FIRST


def test_a_note_in_which_a_person_names_a_session_is_not_the_latest_one(tmp_path: Path) -> None:
    day = cli_day.make(tmp_path)
    day.run("init", str(day.vault))
    for name, session in (("talk", "my-therapy"), ("more", FIRST)):
        text = f"---\ntitle: {name}\nsession: {session}\ncreated: 2031-01-01T08:00:00Z\n---\n\nwords\n"
        (day.vault / "notes").mkdir(exist_ok=True)
        (day.vault / f"notes/{name}.md").write_text(text, encoding="utf-8")

    assert day.json("history", "latest")["session"] == OTHER
    day.run("undo", "latest", "--yes")
    day.run("undo", FIRST, "--yes")
    assert [(day.vault / f"notes/{name}.md").exists() for name in ("talk", "more")] == [True, True]


def test_the_latest_session_is_read_by_default(day: Day) -> None:
    assert day.json("history")["session"] == OTHER
    assert day.json("history", "latest", "--project", "notes-app")["session"] == SECOND


def test_history_as_json_has_the_notes_whole(day: Day) -> None:
    found = day.json("history", FIRST)
    assert [one["kind"] for one in found["notes"]] == [
        "prompt",
        "observation",
        "observation",
        "observation",
        "response",
    ]
    assert "[PRIVATE]" in found["notes"][0]["body"]
    assert found["project"] == "notes-app"


def test_a_session_that_is_not_there_is_named_with_a_way_on(day: Day, tmp_path: Path) -> None:
    with_none = day.attempt("history", "nope")
    assert "mdmem sessions" in str(with_none.exception)
    assert "mdmem status" in str(cli_day.empty(tmp_path).attempt("history").exception)


@pytest.mark.parametrize(("command", "instead"), [("history", "sessions"), ("digest", "digest")])
@pytest.mark.parametrize("time", ["yesterday", "last monday", "2026-09-13"])
def test_a_time_in_place_of_a_session_is_answered_with_the_command_that_takes_it(
    day: Day, command: str, instead: str, time: str
) -> None:
    done = day.attempt(command, time)

    assert isinstance(done.exception, NotFoundError)
    (answer,) = re.findall(rf"mdmem ({instead} --on [^`]+)", str(done.exception))
    assert shlex.split(answer)[2] == time
    day.run(*shlex.split(answer))


def test_a_beginning_that_two_sessions_share_is_refused(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    (mine.vault / "notes" / "other.md").write_text(f"---\nsession: {FIRST[:6]}ff-other\n---\nx\n")
    done = mine.attempt("history", FIRST[:6])
    assert "2 sessions" in str(done.exception)


# -- timeline --------------------------------------------------------------------------------------


def test_a_timeline_shows_what_was_before_and_after(day: Day) -> None:
    anchor = day.id("Edit src/dates.py")
    rows = day.json("timeline", anchor, "--before", "1", "--after", "2")
    assert [row["kind"] for row in rows] == ["observation"] * 3 + ["response"]
    assert [row["anchor"] for row in rows] == [False, True, False, False]
    assert "▶" in day.run("timeline", anchor).stdout


def test_a_timeline_marks_failures_as_a_list_does(day: Day) -> None:
    anchor = day.id("Edit src/dates.py")
    marked = [line.partition("✗")[2] for line in day.run("list").stdout.splitlines() if "✗" in line]

    assert marked
    assert [line.partition("✗")[2] for line in day.run("timeline", anchor).stdout.splitlines() if "✗" in line] == marked


def test_a_session_named_as_a_note_is_told_from_what_is_not_there(day: Day) -> None:
    for name in (FIRST, FIRST[:8]):
        assert f"That is a session: `mdmem history {name}` reads it." in str(day.attempt("show", name).exception)
    assert "`mdmem search` finds notes" in str(day.attempt("show", "nosuchnote").exception)


def test_a_timeline_stays_in_the_project_unless_told_otherwise(day: Day) -> None:
    anchor = day.id("Exports are cached")
    assert {row["project"] for row in day.json("timeline", anchor)} == {"notes-app"}
    assert {row["project"] for row in day.json("timeline", anchor, "--all")} == {"notes-app", "api"}


def test_the_anchor_is_in_its_timeline_whatever_is_filtered(day: Day) -> None:
    anchor = day.id("Edit src/dates.py")
    rows = day.json("timeline", anchor, "--kind", "prompt")
    assert [row["kind"] for row in rows] == ["prompt", "observation", "prompt"]


# -- digest ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("november")
def test_a_digest_is_markdown_of_what_was_asked_answered_changed_and_failed(day: Day) -> None:
    out = day.run("digest", "--since", "2026-09-14", "--until", "2026-09-14").stdout
    assert out.startswith("# ")
    assert "1 session in 1 project, 1 prompt, 1 failed run" in out
    assert "- Asked: Why does the date parser fail? \\[PRIVATE\\] Fix it." in out
    assert f"[mem:{day.id('The parser took')}]" in out
    assert "- Changed: `src/dates.py`" in out
    assert "- Failed: pytest -q" in out


@pytest.mark.usefixtures("november")
def test_a_digest_groups_by_project_and_names_notes_that_were_written(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    mine.run("note", "Times are UTC.", "--title", "Decision", env={"MDMEM_NOW": "1789400000"})
    september = ("--since", "2026-09-01", "--until", "2026-09-30")
    out = mine.run("digest", *september).stdout
    assert [line for line in out.splitlines() if line.startswith("## ")] == [
        "## api",
        "## notes-app",
        "## Notes written",
        "## Fixes",
    ]
    assert "- Decision [mem:" in out
    assert mine.json("digest", *september, "--project", "api")["sessions"][0]["session"] == OTHER


@pytest.mark.parametrize("words", [("--by", "week"), ("--since", "1w"), ("--on", "monday")])
def test_the_digest_of_a_session_takes_no_time(day: Day, words: tuple[str, ...]) -> None:
    refused = day.attempt("digest", "latest", *words).exception
    assert isinstance(refused, UsageError)
    assert str(refused).startswith(f"{words[0]} does not go with a session")
    assert "--for-agent is for one session" in str(day.attempt("digest", "--for-agent", *words).exception)


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("use `a[0] < b` for <b>", "use `a[0] < b` for \\<b>"),
        ("an open ` and <b>", "an open \\` and \\<b>"),
        ("raises `ValueError` and `Date<b>…", "raises `ValueError` and \\`Date\\<b>…"),
        ("` `` ` <b> ` `", "` `` ` \\<b> ` `"),
        ("[x](y)", "\\[x\\](y)"),
    ],
)
def test_a_title_in_a_digest_has_no_effect_and_its_code_is_unchanged(title: str, plain: str) -> None:
    assert digest_of.plain(title) == plain


def test_a_digest_of_a_quiet_time_says_so(day: Day) -> None:
    assert "Nothing was stored" in day.run("digest", "--since", "2020-01-01", "--until", "2020-01-02").stdout


# -- stats -----------------------------------------------------------------------------------------


def test_stats_count_notes_files_failures_and_what_was_kept_out(day: Day) -> None:
    found = day.json("stats")
    assert found["notes"] == 9
    assert found["sessions"] == 3
    assert found["kinds"] == {"observation": 3, "prompt": 3, "response": 3}
    assert found["projects"] == {"notes-app": 7, "api": 2}
    assert found["days"] == {"2026-09-14": 5, "2026-09-15": 2, "2026-09-16": 2}
    assert found["files"] == {"src/dates.py": 1}
    assert found["failures"] == {"Bash": 1}
    assert found["kept_out"] == {"notes": 1, "private": 1, "redacted": 0}
    assert found["storage"]["notes"] > 0
    assert found["model_calls"] == 0


def test_stats_of_some_notes_are_of_these_alone(day: Day) -> None:
    every, some = day.json("stats"), day.json("stats", "--project", "api", "--kind", "prompt")
    assert some["storage"]["files"] == 1
    assert 0 < some["storage"]["notes"] < every["storage"]["notes"]
    assert day.json("stats", "--project", "nobody")["storage"]["notes"] == 0


def test_stats_leave_out_when_memories_of_ghosts_were_made(vault: Path, mdmem: Run) -> None:
    for path, kind, minute in (("internal/ghosts/a/b.md", "ghost", 1), ("note.md", "note", 5)):
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        created = f"2026-09-14T08:0{minute}:00Z"
        (vault / path).write_text(f"---\nid: {kind}1\nkind: {kind}\ncreated: {created}\n---\n\nText.\n")
    found = json.loads(mdmem("stats", "--json").stdout)
    assert (found["notes"], found["first"], found["last"]) == (1, "2026-09-14T08:05:00Z", "2026-09-14T08:05:00Z")


def test_stats_draw_the_days_between_notes_too(vault: Path, mdmem: Run) -> None:
    vault.mkdir(exist_ok=True)
    for created in ("2026-08-31", "2026-09-01", "2026-09-14"):
        (vault / f"{created}.md").write_text(f"---\nid: a{created}\ncreated: {created}T08:00:00Z\n---\n\nText.\n")
    days = mdmem("stats").stdout.partition("Days")[2]
    assert re.findall(r"2026-0\d-\d\d +\d", days)[:14] == [
        f"2026-09-{day:02}  {int(day in (1, 14))}" for day in range(1, 15)
    ]


@pytest.mark.parametrize("words", [["--hours"], ["--model", "--since", "1w"], ["--model", "--failed"]])
def test_stats_refuse_options_that_they_would_ignore(day: Day, words: list[str]) -> None:
    assert isinstance(day.attempt("stats", *words).exception, UsageError)


def test_stats_take_filters_and_draw_bars(day: Day) -> None:
    assert day.json("stats", "--project", "api")["notes"] == 2
    out = day.run("stats").stdout
    assert "█" in out
    assert "1 private section and 0 secrets, in 1 note" in out
    assert day.run("stats", "--model").stdout == "No model has been called.\n"


def test_stats_estimate_the_tokens_of_older_lines_of_the_log_as_injections_do(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    line = {"time": "2026-09-15T09:00:00Z", "session": SECOND, "ids": [mine.id("The parser took")], "chars": 400}
    injection_log.log(mine.config(), line)
    assert mine.json("stats")["injections"]["tokens"] == 100
    assert "~100 tokens" in mine.run("injections").stdout


def test_stats_count_what_was_injected_and_what_of_it_was_cited(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    given_ids = [mine.id("The parser took"), mine.id("Edit src/dates.py")]
    injection_log.log(
        mine.config(),
        {"time": "2026-09-15T09:00:00Z", "session": SECOND, "ids": given_ids, "chars": 400, "tokens": 100},
    )
    path = mine.path("Exports are cached")
    path.write_text(path.read_text() + f"\nAs in [mem:{given_ids[0]}].\n")
    found = mine.json("stats")["injections"]
    used = {"id": given_ids[0], "title": found["used"][0]["title"], "given": 1, "cited": 1}
    assert found == {"times": 1, "memories": 2, "chars": 400, "tokens": 100, "cited": 1, "used": [used]}
    assert used["title"].startswith("The parser took")
    assert "Cited most" in mine.run("stats").stdout
    assert mine.json("stats", "--since", "2026-09-16")["injections"]["times"] == 0
    assert mine.json("stats", "--project", "app")["injections"]["times"] == 1
    assert mine.json("stats", "--project", "api")["injections"]["times"] == 0


def test_an_injection_takes_one_line_of_a_common_terminal(day: Day, tmp_path: Path) -> None:
    mine = cli_day.copy(day, tmp_path)
    row = {"time": "2026-09-15T09:00:00Z", "session": SECOND, "project": "acme-notes-app", "ids": ["x", "y"]}
    injection_log.log(mine.config(), {**row, "tokens": 272, "event": "SessionStart", "why": ["compacted", "recent"]})
    lines = mine.terminal("injections", env={"COLUMNS": "80"}).splitlines()
    assert len(lines) == 1 and SECOND[:8] in lines[0] and "272 tokens" in lines[0]


@pytest.mark.parametrize("columns", [50, 60])
def test_an_injection_is_shown_whole_on_a_narrow_terminal(day: Day, tmp_path: Path, columns: int) -> None:
    mine = cli_day.copy(day, tmp_path)
    row = {"time": "2026-09-15T09:00:00Z", "session": SECOND, "project": "acme-notes-app", "ids": ["x"]}
    injection_log.log(mine.config(), {**row, "tokens": 138, "event": "UserPromptSubmit", "why": ["recall"]})
    lines = re.sub(r"\x1b\[\d*m", "", mine.terminal("injections", env={"COLUMNS": str(columns)})).splitlines()
    assert max(map(len, lines)) <= columns
    assert "".join(line.strip() + "  " for line in lines).split("  ") == [
        "2026-09-15 09:00", "acme-notes-app", "asked to recall", "1 memory", "~138 tokens", SECOND[:8], "",
    ]  # fmt: skip
    assert lines[0].startswith("2026") and all(line.startswith("  ") for line in lines[1:])


def test_every_call_of_a_model_is_shown_and_summed_up(tmp_path: Path) -> None:
    mine = cli_day.empty(tmp_path)
    for second in range(3):
        row = {"time": f"2026-09-15T09:00:0{second}Z", "caller": "expand", "outcome": "ok", "sent_chars": 1200}
        ledger.write(mine.config(), row)
    assert len(mine.json("stats", "--model")) == 3
    assert mine.run("stats", "--model").stdout.splitlines()[1].split()[:5] == [
        "2026-09-15",
        "expand",
        "3",
        "3",
        "3,600",
    ]
    assert "3 calls" in mine.run("stats").stdout


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.25, "250 ms"), (2.34, "2.3 s"), (42, "42 s"), (480, "8 min"), (7500, "2 h 05 min"), (300_000, "3 days")],
)
def test_lengths_of_time_are_said_shortly(seconds: float, said: str) -> None:
    assert wording.duration(seconds) == said


@pytest.mark.parametrize(
    ("count", "said"), [(312, "312 B"), (4200, "4.2 kB"), (130_000, "130 kB"), (2_000_000_000, "2.0 GB")]
)
def test_sizes_are_said_shortly(count: int, said: str) -> None:
    assert wording.size(count) == said


def test_the_commands_run_as_processes_with_exit_statuses(day: Day, mdmem: Run) -> None:
    env = dict(day.env)
    assert "date parser" in mdmem("list", env=env, check=True).stdout
    assert "🔒" in mdmem("history", FIRST, env=env, check=True).stdout
    assert mdmem("history", "nope", env=env).returncode == 5
    assert mdmem("list", "--since", "bogus", env=env).returncode == 2
    assert mdmem("list", "--bogus", env=env).returncode == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("東京\u3000大阪", "東京\u3000大阪"),
        ("«\u00a0prix\u202f: 5\u00a0€\u00a0»", "«\u00a0prix\u202f: 5\u00a0€\u00a0»"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("a\nb\tc", "a\nb\tc"),
        ("red\x1b[31m\x07 \x85", "red\ufffd[31m\ufffd \ufffd"),
        ("\u202eexe.txt\u2028", "\ufffdexe.txt\ufffd"),
    ],
)
def test_a_terminal_gets_the_letters_and_spaces_of_every_language_and_no_controls(text: str, shown: str) -> None:
    assert render.safe(text) == shown


def test_a_digest_keeps_what_joins_letters() -> None:
    assert digest_of.plain("می\u200cخواهم 👩\u200d👧 a\u3000b\x1b[c\u202e") == "می\u200cخواهم 👩\u200d👧 a b \\[c"


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colors_gets_none(tmp_path: Path, env: dict[str, str]) -> None:
    made = cli_day.empty(tmp_path)
    made.run("init", str(made.vault))
    (made.vault / "README.md").write_text("New.\n", encoding="utf-8")

    assert "\x1b[32m+New." in made.terminal("diff")
    assert "\x1b" not in made.terminal("diff", env=env)


def test_a_footnote_of_one_word_is_shown() -> None:
    out = io.StringIO()

    Console(file=out, width=60).print(render.markdown("Said[^w] and[^l].\n\n[^w]: word\n\n[^l]: https://x.example\n"))

    lines = [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]
    assert lines == ["Said[^w] and[^l].", "[^w]: word", "[^l]: https://x.example"]
