"""After a failed run: what solved the same error before, in the reply of the very hook that stores the run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from mdmem import agents, config
from mdmem.agents import Event, payload
from mdmem.inject import process
from mdmem.search import index
from tests.helpers.talk import Talk

PAYLOADS = Path(__file__).parents[1] / "payloads"
FAILED = [
    "claude_code/PostToolUseFailure-Bash-01.json",
    "codex/PostToolUse-Bash-02-failed.json",
    "live/claude_code/PostToolUseFailure-Bash-014.json",
    "live/copilot/PostToolUse-Bash-030.json",
    "live/gemini/AfterTool-run_shell_command-015.json",
]
ERROR = "Exit code 1\nsrc/load.py:12: ModuleNotFoundError: No module named 'frobnicator'"


@pytest.fixture
def past(vault: Path, tmp_path: Path) -> Talk:
    return Talk(vault, tmp_path / "notes-app")


def solved(past: Talk, error: str, path: str = "requirements.txt") -> None:
    past.start()
    past.says("Make it run")
    past.runs("make check", error=error)
    past.edits(path)
    past.runs("make check", "ok")
    past.answers("The requirement was missing. It is listed now.")


def later(past: Talk, number: int, cwd: Path | None = None) -> Talk:
    talk = Talk(past.vault, cwd or past.cwd, f"{number:08d}-0000-4000-8000-000000000000")
    talk.now = past.now + 86_400
    talk.start()
    return talk


def answer(talk: Talk, event: Event, data: bytes = b"") -> str:
    """Answer in this process, as the hook does without a watcher."""
    env = {"MDMEM_NOW": str(talk.now), "MDMEM_INJECT_DEADLINE_SECONDS": "60"}
    reply = process.reply_to(config.load(str(talk.vault), env), event, env, data, time.monotonic())
    return reply.decode()


def failing(talk: Talk, error: str, **more: Any) -> Event:
    use = {"tool_name": "Bash", "tool_input": {"command": "make check"}, "tool_use_id": "t1", "error": error}
    return agents.load("claude-code").read(talk.payload("PostToolUseFailure", **{**use, **more}), {})


def test_a_change_that_was_marked_private_is_not_given_as_what_solved_an_error(past: Talk) -> None:
    solved(past, ERROR)
    (edit,) = past.vault.rglob("*-edit-requirements-*.md")
    edit.write_text(edit.read_text().replace("---\n", "---\nprivate: true\n", 1))
    index.update(config.load(str(past.vault)))

    given = answer(later(past, 1), failing(later(past, 1), ERROR))

    assert "+a = 2" not in given
    assert "requirements.txt" not in given


def test_the_hook_that_stores_a_failed_run_says_what_solved_its_error_before(past: Talk) -> None:
    solved(past, ERROR)
    talk = later(past, 1)
    use = {"tool_name": "Bash", "tool_input": {"command": "make check"}, "tool_use_id": "t1"}
    error = ERROR.replace("src/load.py:12", "/tmp/x/load.py:340")
    env = {"MDMEM_NOW": str(talk.now), "MDMEM_INJECT_DEADLINE_SECONDS": "60"}
    done = talk.process("hook", talk.payload("PostToolUseFailure", error=error, **use), env)
    assert (done.returncode, done.stderr) == (0, b"")
    given = json.loads(done.stdout)["hookSpecificOutput"]
    assert given["hookEventName"] == "PostToolUseFailure"
    text = given["additionalContext"]
    assert "`make check` failed with it, and succeeded after a change to requirements.txt." in text
    assert "The requirement was missing." in text
    assert "+a = 2" in text
    assert len(text) <= 800
    assert len([path for path in talk.vault.glob("journal/**/*-make-check-*.md") if talk.session[:8] in str(path)]) == 1


def test_of_a_long_fix_the_lines_that_matter_are_given(past: Talk) -> None:
    """The place of the failure, wherever it stands in the change, and no notes on it made before."""
    error = "Exit code 1\n  File \"src/load.py\", line 57, in rows\nKeyError: 'depth_of_the_sea_floor'"
    other = [f"+    extra_setting_{number} = read_the_setting(number={number})" for number in range(30)]
    fix = ["+    row.setdefault('sea', None)"]
    past.start()
    past.says("Make it run")
    past.runs("make check", error=error)
    past.edits("docs/changes.md", [f"+- Change {number} of the documentation is described here" for number in range(9)])
    past.edits("src/load.py", [" def rows():", *other, *(["     pass"] * 16), "-    yield row", *fix], start=40)
    past.edits("src/late.py", ["+LATE = True"])
    past.runs("make check", "ok")
    past.answers(f"Rows of old files have no depth {'of the sea floor ' * 20}. It is None there.")
    talk = later(past, 1)
    text = answer(talk, failing(talk, error))
    assert fix[0] in text
    assert "src/load.py:" in text
    assert len(text) <= 1000


def test_a_fix_is_given_once_a_session_and_error(past: Talk) -> None:
    solved(past, ERROR)
    talk = later(past, 1)
    assert "requirements.txt" in answer(talk, failing(talk, ERROR))
    assert answer(talk, failing(talk, ERROR.replace(":12", ":99"))) == ""
    again = later(past, 2)
    assert "requirements.txt" in answer(again, failing(again, ERROR))


@pytest.mark.parametrize(
    "error", ["Exit code 1", "", "Exit code 1\nKeyError: 'no such colour'", "x" * 50_000, "\ud800 error: bad thing \0"]
)
def test_an_error_that_is_new_or_says_nothing_is_not_answered(past: Talk, error: str) -> None:
    solved(past, ERROR)
    talk = later(past, 1)
    assert answer(talk, failing(talk, error)) == ""


def test_what_solved_it_in_another_project_is_given_only_where_that_is_allowed(
    past: Talk, tmp_path: Path, home: Path
) -> None:
    solved(past, ERROR)
    talk = later(past, 1, tmp_path / "other-app")
    assert answer(talk, failing(talk, ERROR)) == ""
    (home / ".config" / "mdmem").mkdir(parents=True)
    (home / ".config" / "mdmem" / "config.toml").write_text("[inject]\nother_projects = true\n")
    assert "(of another project: notes-app)" in answer(talk, failing(talk, ERROR, tool_use_id="t2"))


PLACED = [
    ("app.py:12: IndexError: list index out of range", "IndexError"),
    ("error[E0308]: mismatched types\n  --> src/app.py:12:4", "E0308"),
    ("panic: runtime error: invalid memory address or nil pointer dereference\n\t/a/app.py:12 +0x1d", "panic"),
    ("app.py(12,5): error TS2322: Type 'string | undefined' is not assignable to type 'string'.", "TS2322"),
]


@pytest.mark.parametrize(("error", "word"), PLACED)
def test_a_message_that_names_nothing_is_the_same_error_only_in_the_file_that_was_changed(
    past: Talk, error: str, word: str
) -> None:
    assert known(past, error, error.replace("app.py", "other.py")) == ""
    talk = later(past, 2)
    given = answer(talk, failing(talk, f"Exit code 1\n{error.replace('12', '340')}"))

    assert "succeeded after a change to app.py" in given
    assert word in given


@pytest.mark.parametrize(
    "error",
    [
        "app.py:12: KeyError: 'depth_of_the_sea_floor'",
        "./app.py:12:2: undefined: floor",
        "e: app.py:12:5 Unresolved reference: floor",
        "app.py:12: Error: Call to undefined function floor()",
    ],
)
def test_a_message_that_names_something_is_the_same_error_in_any_file(past: Talk, error: str) -> None:
    assert "succeeded after a change to app.py" in known(past, error, error.replace("app.py", "other.py"))


@pytest.mark.parametrize("host", ["127.0.0.1:5432", "db.internal:5432"])
def test_a_host_and_port_are_no_place_of_an_error(past: Talk, host: str) -> None:
    error = f"connect ECONNREFUSED {host}"
    given = known(past, f"Error: {error}\n    at connect (app.py:12:4)", f"Error: {error}")
    assert "succeeded after a change to app.py" in given


def test_errors_of_one_compiler_are_told_apart_by_their_next_line(past: Talk) -> None:
    error = "src/Main.hs:12:5: error: [GHC-88464]\n    • Variable not in scope: floor"
    assert known(past, error, "src/Main.hs:9:1: error: [GHC-83865]\n    • Couldn't match expected type Int") == ""


def test_of_two_places_with_one_message_the_fix_of_the_place_that_fails_again_is_given(past: Talk) -> None:
    error = "IndexError: list index out of range"
    solved(past, f"Exit code 1\nfirst.py:3: {error}", "first.py")
    second = later(past, 1)
    solved(second, f"Exit code 1\nsecond.py:4: {error}", "second.py")
    talk = later(second, 2)

    given = answer(talk, failing(talk, f"Exit code 1\nfirst.py:9: {error}"))

    assert "succeeded after a change to first.py" in given
    assert "second.py" not in given


def test_an_unsolved_error_that_names_nothing_is_told_only_at_its_place(past: Talk) -> None:
    past.start()
    past.says("Make it run")
    past.runs("make check", error="Exit code 1\nfirst.py:3: IndexError: list index out of range")
    past.answers("The table is empty; nobody knows why.")
    talk = later(past, 1)

    assert answer(talk, failing(talk, "Exit code 1\nsecond.py:3: IndexError: list index out of range")) == ""
    talk = later(past, 2)
    assert "nobody knows why" in answer(
        talk, failing(talk, "Exit code 1\nfirst.py:7: IndexError: list index out of range")
    )


@pytest.mark.parametrize(
    ("between", "again", "told"),
    [
        ("pip install frob", "make check", "failed with it, and succeeded after `pip install frob`. "),
        ("", "make check --jobs 1", "failed with it, and succeeded as `make check --jobs 1`. "),
        ("", "export JOBS=1 && make check", "failed with it, and succeeded as `export JOBS=1 && make check`. "),
        ("git status", "make check", ""),
        ("", "make check", ""),
    ],
)
def test_what_was_run_until_it_succeeded_is_given_where_nothing_was_changed(
    past: Talk, between: str, again: str, told: str
) -> None:
    past.start()
    past.says("Make it run")
    past.runs("make check", error=ERROR)
    if between:
        past.runs(between)
    past.runs(again, "ok")
    past.answers("It runs now.")

    talk = later(past, 1)
    given = answer(talk, failing(talk, ERROR))

    assert told in given
    assert bool(given) == bool(told)


@pytest.mark.parametrize(
    "command",
    [
        "export CUDA_HOME=/usr/local/cuda-12.4",
        "nvm use 22",
        "ulimit -n 4096",
        "sudo sysctl -w vm.max_map_count=262144",
        "git config core.longpaths true",
        "source .venv/bin/activate",
        "sudo systemctl start postgresql",
        "chmod +x gradlew",
    ],
)
def test_a_command_that_only_set_something_is_given_as_what_solved_an_error(past: Talk, command: str) -> None:
    past.start()
    past.says("Make it run")
    past.runs("make check", error=ERROR)
    past.runs("ls -l")
    past.runs(command)
    past.runs("make check", "ok")

    given = answer(later(past, 1), failing(later(past, 1), ERROR))

    assert f"after `{command}`" in given
    assert "ls -l" not in given


@pytest.mark.parametrize(
    "command",
    [
        "ulimit -n",
        "sysctl -a",
        "git config --get core.longpaths",
        "nvm ls",
        "export -p",
        "aws s3 ls --profile default",
        "gcloud config list",
    ],
)
def test_a_command_that_only_reads_a_setting_solved_nothing(past: Talk, command: str) -> None:
    past.start()
    past.says("Make it run")
    past.runs("make check", error=ERROR)
    past.runs(command, "1024")
    past.runs("make check", "ok")

    assert "What solved this error" not in answer(later(past, 1), failing(later(past, 1), ERROR))


def test_it_is_one_of_the_occasions_and_sub_agents_get_nothing(past: Talk, home: Path) -> None:
    solved(past, ERROR)
    talk = later(past, 1)
    assert answer(talk, failing(talk, ERROR, agent_id="sub")) == ""
    (home / ".config" / "mdmem").mkdir(parents=True)
    (home / ".config" / "mdmem" / "config.toml").write_text('[inject]\non = ["ask", "start"]\n')
    assert answer(talk, failing(talk, ERROR)) == ""


@pytest.mark.parametrize("file", FAILED)
def test_the_failures_of_every_agent_that_takes_context_there_are_answered(past: Talk, file: str) -> None:
    agent = agents.load(Path(file).parent.name.replace("_", "-"))
    event = agent.read(payload.decode((PAYLOADS / file).read_bytes()), {})
    assert event.error
    solved(past, event.error)
    event.cwd = str(past.cwd)
    assert "succeeded after a change to requirements.txt" in answer(later(past, 1), event)


@pytest.mark.parametrize(
    ("file", "output", "key"),
    [
        ("cursor/postToolUse-Shell-02-failed.json", {"tool_output": json.dumps({"output": ERROR, "exitCode": 1})},
         "additional_context"),
        ("cursor/postToolUseFailure-01.json", {"error_message": ERROR}, "additional_context"),
        ("opencode/PostToolUse-bash-02-failed.json", {"tool_response": {"output": ERROR, "metadata": {"exit": 1}}},
         "context"),
    ],
)  # fmt: skip
def test_an_agent_takes_what_solved_a_failure_in_its_own_form(
    past: Talk, file: str, output: dict[str, Any], key: str
) -> None:
    given = {**payload.decode((PAYLOADS / file).read_bytes()), **output}
    event = agents.load(Path(file).parent.name).read(given, {})
    solved(past, str(event.error))
    event.cwd = str(past.cwd)
    reply = json.loads(answer(later(past, 1), event))
    assert "succeeded after a change to requirements.txt" in reply[key]


def test_a_fix_of_the_session_itself_is_given_only_after_a_compaction(past: Talk) -> None:
    solved(past, ERROR)
    assert answer(past, failing(past, ERROR)) == ""

    past.start("compact")

    assert "succeeded after a change to requirements.txt" in answer(past, failing(past, ERROR, tool_use_id="t2"))


def known(past: Talk, error: str, again: str, command: str = "make check") -> str:
    """Solve an error and return what is given when another run fails."""
    past.start()
    past.says("Make it run")
    past.runs(command, error=f"Exit code 1\n{error}")
    past.edits("app.py")
    past.runs(command, "ok")
    past.answers("The cause is gone.")
    talk = later(past, 1)
    return answer(talk, failing(talk, f"Exit code 1\n{again}", tool_input={"command": command}))


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (
            "src/hooks/useSocket.ts(14,5): error TS2322: Type 'Point | undefined' is not assignable to type 'Point'.",
            "web/Area.tsx(3,1): error TS2322: Type 'Point | undefined' is not assignable to type 'Point'.",
        ),
        (
            "OSError: cannot load library 'libgobject-2.0-0': cannot open shared object file",
            "web-1  | OSError: cannot load library 'libgobject-2.0-0': cannot open shared object file",
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. 1.12 GiB is free.",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. 9 MiB is free.",
        ),
        (
            "FAILED tests/test_a.py::test_sum[3] - AssertionError: assert 3 == 4",
            "FAILED tests/test_a.py::test_sum[7] - AssertionError: assert 5 == 6",
        ),
    ],
    ids=["other-file", "container", "other-sizes", "same-test"],
)
def test_an_error_is_known_whatever_file_container_or_size_it_names(past: Talk, error: str, again: str) -> None:
    assert "succeeded after a change to app.py" in known(past, error, again)


@pytest.mark.parametrize(
    "error",
    [
        "E       AssertionError: assert Decimal('20.00') == Decimal('19.99')\ntests/test_a.py:41: AssertionError",
        "AssertionError: expected 3 to be 4",
        "Error: expect(received).toBe(expected) // Object.is equality",
        "error: failed to push some refs to 'example.org:acme/app.git'",
    ],
)
def test_a_message_that_any_failed_comparison_or_push_prints_is_not_taken_for_the_same_error(
    past: Talk, error: str
) -> None:
    assert known(past, error, error.replace("20.00", "7.10").replace(":41:", ":12:")) == ""


@pytest.mark.parametrize(
    ("between", "again", "told"),
    [
        (None, "make lint && make check", "succeeded after a change to app.py."),
        ("brew install libomp", "make check", "succeeded after `brew install libomp`"),
    ],
)
def test_a_fix_is_known_by_a_run_of_several_commands_and_by_an_installed_package(
    past: Talk, between: str | None, again: str, told: str
) -> None:
    past.start()
    past.says("Make it run")
    past.runs("make check", error=ERROR)
    if between:
        past.runs(between, "installed")
    else:
        past.edits("app.py")
    past.runs(again, "ok")
    past.answers("It runs now.")
    talk = later(past, 1)

    assert told in answer(talk, failing(talk, ERROR))


@pytest.mark.parametrize("passed", [False, True])
def test_of_an_error_that_was_never_solved_it_is_said_how_the_turn_ended(past: Talk, *, passed: bool) -> None:
    past.start()
    past.says("Why does the login time out?")
    past.runs("make check", error=ERROR)
    past.answers("Not solved yet. The race is ruled out; the service worker is the next suspect.")
    if passed:
        past.runs("make check", "ok")
    talk = later(past, 1)

    given = answer(talk, failing(talk, ERROR))

    assert ("## This error was seen before" in given) != passed
    assert ("No module named 'frobnicator'" in given) != passed
    assert ("The race is ruled out; the service worker is the next suspect." in given) != passed


def test_of_a_change_without_room_the_added_lines_are_shown(past: Talk) -> None:
    past.start()
    past.says("Make it run")
    past.runs("make check", error=ERROR)
    old = [f"-RUN apk add --no-cache libpq  # {word}" for word in ("one of the oldest lines here", "two", "three")]
    past.edits(
        "Dockerfile", [*old, "+RUN apk add --no-cache libpq pango glib", *(f"+# {n} more" * 6 for n in range(9))]
    )
    past.runs("make check", "ok")
    past.answers("The image lacked two packages, which were in the other image all along. " * 3)
    talk = later(past, 1)

    given = json.loads(answer(talk, failing(talk, ERROR)))["hookSpecificOutput"]["additionalContext"]

    assert "    +RUN apk add --no-cache libpq pango glib\n" in given
    assert "    -RUN" not in given


@pytest.mark.parametrize(
    ("failing_run", "between"),
    [
        ("npx prisma migrate deploy", "npx prisma migrate resolve --rolled-back 20261101_slots"),
        ("docker compose up -d", "docker compose down -v"),
        ("docker-compose up -d", "docker-compose down"),
        ("docker compose -f prod.yml --profile jobs up -d", "docker compose -f prod.yml --profile jobs down"),
        ("kubectl -n prod rollout status deploy/api", "kubectl -n prod rollout undo deploy/api"),
    ],
)
def test_another_subcommand_of_the_same_program_is_what_solved_an_error(
    past: Talk, failing_run: str, between: str
) -> None:
    past.start()
    past.says("Start it")
    past.runs(failing_run, error=ERROR)
    past.runs(between, "done")
    past.runs(failing_run, "ok")

    assert f"after `{between}`" in answer(later(past, 1), failing(later(past, 1), ERROR))


def test_a_run_is_the_same_with_fewer_options_before_its_subcommand_and_not_with_others(past: Talk) -> None:
    past.start()
    past.says("Start it")
    past.runs("docker compose -f prod.yml up -d", error=ERROR)
    past.edits("prod.yml")
    past.runs("docker compose -f dev.yml up -d", "ok")
    assert answer(later(past, 1), failing(later(past, 1), ERROR)) == ""

    past.runs("docker compose up -d", "ok")

    assert "prod.yml" in answer(later(past, 2), failing(later(past, 2), ERROR))


def test_an_error_that_a_server_answers_as_json_is_known(past: Talk) -> None:
    error = 'Exit code 1\n{"status":401,"title":"Unauthorized","detail":"Token expired"}'
    solved(past, error, "src/token.ts")

    assert "src/token.ts" in answer(later(past, 1), failing(later(past, 1), error))


SHORT_QUESTIONS = [
    "Did we see ECONNRESET before?",
    "How did we fix ECONNRESET last time?",
    "Haben wir den Fehler ECONNRESET schon gehabt?",
]


@pytest.mark.parametrize("question", SHORT_QUESTIONS)
def test_a_question_for_an_error_code_gets_the_run_that_failed_with_it_not_an_earlier_question(
    past: Talk, question: str
) -> None:
    past.start()
    past.says("The upload hangs")
    past.runs("node upload.js", error="Exit code 1\nError: read ECONNRESET\n    at TLSWrap.read {\n  errno: -104\n}")
    past.edits("upload.js")
    past.runs("node upload.js", "uploaded 3 files")
    past.answers("The proxy closed the idle socket. Keep-alive is off now.")
    talk = later(past, 1)
    assert "Keep-alive is off now." in talk.asks(question)
    talk.says(question)
    talk.answers("Yes.")
    given = later(talk, 2).asks(question)
    assert "Keep-alive is off now." in given
    assert "Yes." not in given


@pytest.mark.parametrize("question", ["Did we see EPIPE before?", "What does ECONNRESET mean?"])
def test_another_code_and_a_general_question_get_no_failed_run(past: Talk, question: str) -> None:
    solved(past, "Exit code 1\nError: read ECONNRESET")
    assert later(past, 1).asks(question) == ""
