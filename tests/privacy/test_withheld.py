"""A text that cannot be cleaned: its event is stored without it, and nothing of it gets anywhere."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem import config, privacy
from mdmem.agents import gemini
from mdmem.capture import events, hook
from mdmem.hook_errors import DeadlineError
from mdmem.privacy import segments, text, withheld
from mdmem.privacy.job import Job
from mdmem.search.gate import Gate
from mdmem.vault import disk
from tests.conftest import notes, own_settings
from tests.helpers.claude import SESSION, START, bash, contents, limited, prompt, stop
from tests.helpers.few import few

TRIPS = "wobblefish password"
"""What the broken scanner of these tests trips over; `password` makes all scanners read the text."""


def trip(value: str, low: str, job: Job) -> list[Any]:
    """Raise for a text that no scanner was made for."""
    del low, job
    if TRIPS in value:
        raise IndexError(f"{value[:60]!r}")  # the message of an error quotes the text
    return []


def broken() -> None:
    """Add a scanner that fails."""
    text._STEPS = (trip, *text._STEPS)


def told(said: str) -> str:
    """Return the message in a hook's answer."""
    return str(json.loads(said).get("systemMessage", "")) if said else ""


def everything(*folders: Path) -> str:
    """Return the names and the contents of all files."""
    found = [path for folder in folders for path in folder.rglob("*")]
    return "\n".join(f"{path} {path.read_bytes() if path.is_file() else b''!r}" for path in found).lower()


@pytest.fixture
def state(vault: Path) -> Path:
    return Path(config.load(str(vault)).state_dir)


def test_a_prompt_that_cannot_be_checked_is_stored_without_its_text(vault: Path, state: Path) -> None:
    said = told(limited(prompt(f"Why is {TRIPS} in the cellar?"), broken))
    assert limited(bash("3 passed"), broken) == ""

    assert [path.name[:14] for path in notes(vault)] == ["001-000-prompt", "001-001-bash-m"]
    assert contents(notes(vault))[0] == withheld.MARK
    assert "could not be checked for private text" in said
    assert TRIPS not in everything(vault, state)
    assert "cellar" not in everything(vault, state)
    assert "IndexError at test_withheld.py:" in (state / "log").read_text()


@pytest.mark.parametrize("place", ["command", "output", "both"])
def test_a_tool_run_is_stored_without_the_text_that_cannot_be_checked(vault: Path, state: Path, place: str) -> None:
    bad, good = f"echo {TRIPS} cellar", "echo fine"
    command = {"command": good if place == "output" else bad, "description": "Say it"}
    output = "said: fine" if place == "command" else f"said: {TRIPS} cellar"
    limited(prompt("Say it"), broken)
    said = told(limited(bash(output, tool_input=command), broken))

    (note,) = [path for path in notes(vault) if "-bash-" in path.name]
    written = note.read_text()
    assert withheld.MARK in written
    assert (good in written, "said: fine" in written) == (place == "output", place == "command")
    assert "could not be checked" in said
    assert "cellar" not in everything(vault, state)


def test_an_answer_that_cannot_be_checked_is_stored_without_its_text(vault: Path, state: Path) -> None:
    limited(prompt("Why?"), broken)
    assert "could not be checked" in told(limited(stop(f"Because of {TRIPS} in the cellar."), broken))
    assert contents(notes(vault)) == ["Why?", withheld.MARK]
    assert "cellar" not in everything(vault, state)


def test_what_is_private_in_a_text_that_cannot_be_checked_is_masked_when_it_comes_back(vault: Path) -> None:
    limited(prompt("Read the plan"), broken)
    limited(bash(f"{TRIPS}\n<private>the code name is Zanzibar-Quokka</private>\nend"), broken)
    limited(bash("grep: Zanzibar-Quokka", "toolu_2"), lambda: None)

    assert len(notes(vault)) == 3
    assert "Quokka" not in "".join(path.read_text() for path in notes(vault))


def test_the_turn_of_a_prompt_with_a_tag_that_cannot_be_checked_is_left_out(vault: Path, state: Path) -> None:
    limited(prompt(f"<private>{TRIPS}: wire 500 to Quokka</private>"), broken)
    limited(bash("wired 500"), broken)
    assert "left out" in told(limited(stop("I wired 500."), broken))
    limited(prompt("And now?", 2), broken)
    limited(bash("Quokka says thanks", "toolu_2", 2), broken)

    assert contents(notes(vault))[:2] == [withheld.MARK, "And now?"]
    assert len(notes(vault)) == 3
    assert "quokka" not in everything(vault, state)
    assert "wired" not in everything(vault, state)


def test_the_turn_of_a_prompt_that_no_hook_saw_and_that_cannot_be_checked_is_left_out(
    vault: Path, state: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "transcript.jsonl"
    typed = {"role": "user", "content": f"<private>{TRIPS}: wire 500 to Quokka</private>"}
    transcript.write_text(json.dumps({"type": "user", "promptId": "prompt-1", "message": typed}) + "\n")
    limited(prompt("In the open", 0), broken)
    for output in ("wired 500", "wired 600"):
        limited(bash(output, output, transcript_path=str(transcript)), broken)
    limited(stop("I wired 500.", transcript_path=str(transcript)), broken)

    assert contents(notes(vault)) == ["In the open"]
    assert "wired" not in everything(vault, state)


def test_the_answer_to_a_prompt_that_only_it_repeats_and_that_cannot_be_checked_is_left_out(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Gemini CLI does, if the prompt's own hook was killed."""
    monkeypatch.setattr(text, "_STEPS", (trip, *text._STEPS))
    asked = f"<private>{TRIPS}: wire 500 to Quokka</private>"
    base = {"session_id": SESSION, "cwd": "/home/dev", "hook_event_name": "AfterAgent"}
    event = gemini.read({**base, "prompt": asked, "prompt_response": "I wired it."}, {})

    assert not events.capture(config.load(), event, START).stored
    assert notes(vault) == []


def test_lines_of_a_private_section_that_cannot_be_checked_are_masked_when_they_come_back(vault: Path) -> None:
    lines = [f"-{TRIPS}", " <private>", "+the code name is Zanzibar-Quokka", " </private>"]
    hunk = {"oldStart": 1, "oldLines": 4, "newStart": 1, "newLines": 4, "lines": lines}
    given = {"file_path": "/home/dev/plan.md", "old_string": "a", "new_string": "b"}
    response = {"filePath": "/home/dev/plan.md", "structuredPatch": [hunk]}

    def start() -> None:
        def fail(value: Any, job: Job, max_depth: int) -> Any:
            raise IndexError(value, job, max_depth)

        segments.hide = fail

    limited(prompt("Change the plan"), broken)
    limited(bash("", tool_name="Edit", tool_input=given, tool_response=response), start)
    limited(bash("grep: Zanzibar-Quokka", "toolu_2"), lambda: None)

    assert len(notes(vault)) == 3
    assert "Quokka" not in "".join(path.read_text() for path in notes(vault))


def test_a_note_that_is_queued_holds_nothing_that_could_not_be_checked(vault: Path, state: Path) -> None:
    limited(prompt("First"), lambda: None)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    def start() -> None:
        disk._write = full
        broken()

    limited(bash(f"{TRIPS} cellar"), start)
    (queued,) = (state / "spool").glob("*.json")
    assert withheld.MARK in queued.read_text()
    assert "cellar" not in everything(vault, state)


def slowly(value: str, low: str, job: Job) -> list[Any]:
    """Take longer than any deadline for a text."""
    if TRIPS in value:
        time.sleep(100)
    return trip(value.replace(TRIPS, ""), low, job)


def slow() -> None:
    """Add a scanner that takes longer than the hook has."""
    hook.DEADLINE_SECONDS = 1.0
    text._STEPS = (slowly, *text._STEPS)


def test_a_text_that_takes_too_long_to_check_is_withheld_before_the_agent_ends_the_hook(
    vault: Path, state: Path
) -> None:
    limited(prompt("Say it"), slow)
    said = told(limited(bash(f"{TRIPS} cellar " * 100, tool_input={"command": "make fish"}), slow))
    assert "could not be checked" in said
    (note,) = [path for path in notes(vault) if "-bash-" in path.name]
    assert withheld.MARK in note.read_text()
    assert "make fish" in note.read_text()
    assert "cellar" not in everything(vault, state)


def slow_for_long() -> None:
    """Let the deadline pass in the first long text, and let all of them take as long, as on a very slow machine."""
    hook.DEADLINE_SECONDS = 0.5

    def take_long(value: str, low: str, job: Job) -> list[Any]:
        del low, job
        time.sleep(100 if len(value) > 1024 else 0)
        return []

    text._STEPS = (take_long, *text._STEPS)


@pytest.mark.parametrize(
    "event",
    [
        bash("fine", tool_name=f"mcp__{'cellar: password ' * 500}"),
        bash("fine " * 500, tool_name=f"mcp__{'cellar: password ' * 500}"),
        bash("fine " * 500, cwd=f"/home/{'cellar/' * 500}"),
        bash("password: fine " * 500, session_id="cellar: password " * 500),
        stop("password: cellar " * 500, cwd=f"/home/{'cellar/' * 500}"),
    ],
    ids=["tool", "tool and output", "folder and output", "session and output", "folder and answer"],
)
def test_an_event_is_stored_although_several_of_its_texts_are_long_when_its_deadline_has_passed(
    vault: Path, state: Path, event: dict[str, Any]
) -> None:
    said = told(limited(event, slow_for_long))
    (note,) = notes(vault)
    assert withheld.MARK in note.read_text()
    assert "could not be checked" in said
    assert "cellar" not in everything(vault, state)


def test_an_answer_of_a_sub_agent_that_is_added_without_its_text_is_told(vault: Path, state: Path) -> None:
    launched = {"status": "async_launched", "agentId": "a77"}
    asked = {"description": "Find it", "prompt": "Where is it?", "subagent_type": "Explore"}
    limited(prompt("Where is it?"), broken)
    limited(bash("", tool_name="Agent", tool_input=asked, tool_response=launched), broken)
    ended = {"hook_event_name": "SubagentStop", "agent_id": "a77"}
    said = told(limited(stop(f"{TRIPS}: it is in the cellar") | ended, broken))

    (run,) = [path for path in notes(vault) if "-agent-" in path.name]
    assert withheld.MARK in run.read_text()
    assert "could not be checked" in said
    assert "cellar" not in everything(vault, state)


def test_a_session_ends_for_memory_if_its_private_text_is_too_long_to_be_remembered_in_time(vault: Path) -> None:
    limited(prompt("Read the plan"), slow)
    long = f"{TRIPS} <private>the code name is Quokka</private> {'and so on ' * 10_000}"
    said = told(limited(bash(long), slow))
    limited(bash("grep: Quokka", "toolu_2"), lambda: None)

    assert "nothing more of this session is stored" in said
    assert contents(notes(vault)) == ["Read the plan"]


@pytest.mark.parametrize(
    "command", ["mysql --password=hunter2hunter2", "curl -u me:hunter2hunter2 https://example.org"]
)
def test_a_password_of_a_text_that_cannot_be_checked_is_masked_where_it_comes_again(vault: Path, command: str) -> None:
    limited(prompt("Connect"), broken)
    limited(bash("trying hunter2hunter2 as asked", tool_input={"command": f"{command} # {TRIPS}"}), broken)
    limited(bash("again: hunter2hunter2", "toolu_2"), lambda: None)

    written = "".join(contents(notes(vault)))
    assert "trying [REDACTED] as asked" in written
    assert "again: [REDACTED]" in written


def test_an_excluded_file_stays_excluded_if_the_command_that_shows_it_cannot_be_checked(vault: Path) -> None:
    own_settings('[capture]\nexclude_paths = [".env"]\n')
    limited(prompt("Show it"), broken)
    limited(bash("REGION=north-cellar", tool_input={"command": f"cat .env # {TRIPS}"}), broken)
    assert contents(notes(vault)) == ["Show it"]


def test_nothing_is_stored_of_a_folder_that_cannot_be_checked_if_projects_are_excluded(vault: Path) -> None:
    own_settings('[capture]\nexclude_projects = ["cellar*"]\n')
    limited(prompt("Hello", cwd=f"/home/dev/cellar {TRIPS}"), broken)
    assert notes(vault) == []


def test_nothing_is_searched_for_with_a_prompt_that_cannot_be_checked(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_STEPS", (trip, *text._STEPS))
    gate = Gate(config.load(str(vault)))
    assert gate.prompt(f"Why did {TRIPS} fail?") == ""
    assert gate.prompt(withheld.MARK) == ""


def test_lines_below_a_tag_are_withheld_with_the_long_line_that_opens_it(vault: Path) -> None:
    """After the deadline, only short texts are cleaned: those of a private section show no tag of their own."""
    del vault
    lines = [f"<private> {'x' * 2000}", "the code name is Quokka", "</private>", "end"]
    job = Job(privacy.Cleaned(), privacy.DEFAULT, "tool", None)
    job.names = frozenset(["patch"])
    late = withheld.without_unchecked({"patch": lines}, job, DeadlineError(), privacy._fill)
    assert late.cleaned.value == {"patch": [withheld.MARK] * 4}


@pytest.mark.parametrize(
    "lines", [[f"<private>{TRIPS}", "{}", "</private>"], ["<private>", f"{TRIPS} {{}}", "</private>"]]
)
def test_lines_of_a_private_section_are_recognized_if_there_was_no_time_for_them(vault: Path, lines: list[str]) -> None:
    limited(prompt("Read the plan"), slow)
    fill = f"the code name is Quokka {'and so on ' * 200}"
    patch = [{"oldStart": 1, "newStart": 1, "lines": [line.format(fill) for line in lines]}]
    run = {"tool_name": "mcp__plans__read", "tool_input": {"note": TRIPS}, "tool_response": {"structuredPatch": patch}}
    limited(bash("") | run, slow)
    limited(bash("grep: the code name is Quokka", "toolu_2"), lambda: None)

    assert len(notes(vault)) == 3
    assert "Quokka" not in "".join(contents(notes(vault)))


RUN = bash(
    "token: ghp_0123456789abcdefghijABCDEFGHIJ456789\n<private>\nQuokka Zanzibar\n</private>\nQuokka Zanzibar",
    tool_input={"command": "curl -u me:hunter2hunter2 https://example.org", "pin": 4711, "lines": ["a", "<private>b"]},
)


def faults() -> list[Any]:
    """Return the functions of the gate that cleaning this run calls."""
    seen: dict[Any, None] = {}

    def look(frame: Any, what: str, _: object) -> None:
        if what == "call" and "/mdmem/privacy/" in frame.f_code.co_filename:
            seen[frame.f_code] = None

    sys.setprofile(look)
    privacy.clean({"input": RUN["tool_input"], "response": RUN["tool_response"]}, origin="tool")
    sys.setprofile(None)
    outside = (privacy.clean, Job.__init__, privacy.Cleaned.__init__)
    return [code for code in seen if code.co_name not in ("<module>",) and code not in [f.__code__ for f in outside]]


@pytest.mark.parametrize("part", few(range(16), always=[0]))
def test_whatever_function_of_the_gate_fails_the_run_is_stored_and_nothing_slips_through(
    fresh: Callable[[], Path], part: int
) -> None:
    codes = [code for code in faults() if code.co_freevars == ()]
    assert len(codes) > 40
    stored: list[bool] = []
    for code in codes[part::16]:
        vault = fresh()

        def start(broken_code: Any = code) -> None:
            def look(frame: Any, what: str, _: object) -> None:
                if what == "call" and frame.f_code is broken_code:
                    raise IndexError

            sys.setprofile(look)

        said = limited(RUN, start)
        found = everything(vault)
        stored.append("-bash-" in found)
        assert stored[-1] or "lost" in said or "nothing of this session" in said, code
        for word in ("quokka", "hunter2", "ghp_", "4711"):
            assert word not in found, (code, word)
    assert sum(stored) > len(stored) // 2


MAIN = """
import sys
from mdmem.privacy import text
def trip(value, low, job):
    if "wobblefish" in value:
        raise IndexError(value)
    return []
text._STEPS = (trip, *text._STEPS)
from mdmem.cli import main
sys.exit(main())
"""


def run(*words: str, data: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", MAIN, *words], input=data, capture_output=True, text=True, timeout=60)


def test_a_note_by_hand_that_cannot_be_checked_is_refused(vault: Path) -> None:
    done = run("note", f"The {TRIPS} is in the cellar.")
    assert (done.returncode, done.stdout) == (1, "")
    assert "could not be checked for private text and secrets, so nothing was stored" in done.stderr
    assert "cellar" not in everything(vault)


def test_an_import_stores_what_can_be_checked_and_counts_the_rest(vault: Path, tmp_path: Path) -> None:
    typed = {"message": {"role": "user", "content": f"Why is {TRIPS} in the cellar?"}, "uuid": "u1", "type": "user"}
    line = {"sessionId": SESSION, "cwd": "/home/dev/notes-app", "timestamp": "2026-09-14T08:00:00.000Z", **typed}
    (tmp_path / f"{SESSION}.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bad.md").write_text(f"# Bad\n\n{TRIPS} cellar\n")
    (tmp_path / "folder" / "good.md").write_text("# Good\n\nThe pump is fine.\n")

    done = run("import", "--yes", str(tmp_path / f"{SESSION}.jsonl"), str(tmp_path / "folder"))

    assert done.returncode == 0, done.stderr
    assert contents(list(vault.glob("journal/**/001-000-*.md"))) == [withheld.MARK]
    assert "text that could not be checked for private text" in done.stdout + done.stderr
    assert "file that could not be checked for private text" in done.stdout + done.stderr
    assert [path.name for path in (vault / "notes").rglob("*.md")] == ["good.md"]
    assert "cellar" not in everything(vault / "journal", vault / "notes")


def test_a_commit_holds_a_file_back_that_cannot_be_checked_and_names_it(vault: Path) -> None:
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "mine.md").write_text(f"One\n{TRIPS}\n")
    run("init", str(vault))
    done = run("commit")
    assert "notes/mine.md" in done.stdout + done.stderr
    assert "not-checked" in done.stdout + done.stderr


def test_the_mark_of_a_withheld_text_stays_as_it_is() -> None:
    for origin in ("prompt", "assistant", "tool"):
        assert privacy.clean(f"a {withheld.MARK} b", origin=origin).value == f"a {withheld.MARK} b"
    assert privacy.clean({"session": withheld.MARK}).value == {"session": withheld.MARK}
