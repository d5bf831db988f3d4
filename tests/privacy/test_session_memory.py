"""A session's private memory: what was private once stays private over its end, a fork, a pause, and lost folders."""

from __future__ import annotations

import base64
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mdmem import agents, config
from mdmem.agents.install import catalog
from mdmem.capture import events, feedback, losses, marks, remembered, turn
from mdmem.capture.pending import Capture, Outcome
from mdmem.health import unstored
from mdmem.privacy import memory
from mdmem.vault import front_matter
from tests.conftest import notes
from tests.helpers.claude import OTHER, SESSION, START, bash, capture, contents, limited, payload, places, prompt, stop

Run = Callable[..., subprocess.CompletedProcess[str]]
Hook = Callable[..., subprocess.CompletedProcess[str]]
SECRET = "Zqx81!walrus"
QUOTED = 'p@ss"w0rd&x7'
TAGGED = f"Log in as <private>{SECRET}</private> and look"


@pytest.fixture
def left(vault: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bytes]:
    """Everything on disk: the vault with its unpacked git objects, index, state, and temporary files."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))

    def gather() -> bytes:
        found = []
        for root in (vault, home, scratch):
            for path in root.rglob("*"):
                found.append(os.fsencode(path))
                if path.is_file() and not path.is_symlink():
                    found.append(path.read_bytes())
        if (vault / ".git").exists():
            command = ["git", "-C", str(vault), "cat-file", "--batch-all-objects", "--batch"]
            found.append(subprocess.run(command, capture_output=True, check=True).stdout)
        return b"\n".join(found)

    return gather


def leaks(found: bytes, secret: str = SECRET) -> list[str]:
    """Return the forms of a secret that are in bytes."""
    encoded = base64.b64encode(secret.encode()).decode()
    forms = (secret, secret.upper(), secret.lower(), secret.encode().hex(), encoded.rstrip("="), "walrus")
    return [form for form in forms if form.encode() in found]


def titles(vault: Path) -> str:
    return "\n".join(path.name for path in notes(vault))


@pytest.mark.slow
def test_a_resumed_session_stores_nothing_that_was_private_before_its_end(
    vault: Path, hook: Hook, mdmem: Run, left: Callable[[], bytes]
) -> None:
    mdmem("init", check=True)
    encoded = base64.b64encode(SECRET.encode()).decode()
    hook(payload("SessionStart", source="startup"))
    hook(prompt(TAGGED))
    hook(stop(f"Logged in as {SECRET}."))
    hook(payload("SessionEnd", reason="other"))

    hook(payload("SessionStart", source="resume"))
    hook(prompt(f"login --as {SECRET} again", 2))
    hook(bash(f"{SECRET.upper()} {encoded}", "toolu_2", 2, tool_input={"command": f"login --as {SECRET}"}))
    hook(stop(f"Done, as {SECRET.encode().hex()}.", 2))
    mdmem("commit", check=True)
    mdmem("index", check=True)

    assert len([path for path in notes(vault) if "journal" in path.parts]) == 5
    assert leaks(left()) == []


@pytest.mark.parametrize(
    "first",
    [
        prompt("the db password is kW8rtq-Lom4"),
        bash("DB_PASSWORD=kW8rtq-Lom4\nDB_USER=ana"),
        bash("", tool_input={"command": "mysql -u ana -pkW8rtq-Lom4 shop"}),
    ],
)
def test_a_secret_is_masked_in_the_later_events_of_its_session(
    vault: Path, first: dict[str, Any], left: Callable[[], bytes]
) -> None:
    value = "kW8rtq-Lom4"
    capture(prompt("look at the database", 0))
    capture(first)
    capture(prompt(f"and {value} for staging too", 2))
    capture(bash(f'connect("{value}")', "toolu_2", 2, tool_input={"command": f"login --as {value}"}))
    capture(bash(base64.b64encode(f"ana:{value}".encode()).decode(), "toolu_3", 2))
    last = capture(stop(f"I took {value}, not kW8rtq-Lom4x or KW8RTQ-LOM4.", 2))

    found = left()
    assert last.redacted == 1
    assert b"not kW8rtq-Lom4x or KW8RTQ-LOM4." in found
    assert found.replace(b"kW8rtq-Lom4x", b"").count(value.encode()) == 0
    assert b"and [REDACTED] for staging too" in found
    assert base64.b64encode(f"ana:{value}".encode()) not in found


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("card number: 4539 5787 6362 1486", "4539578763621486"),
        ("SSN: 536-22-8726", "536 22 8726"),
        ("SSN: 536-22-8726", "536228726"),
        ("key = ABCD-E4GH-2J4K-LMNP-Q3RS", "abcde4gh2j4klmnpq3rs"),
        ("password: 9f8e7d6c5b4a39281706", "9F8E7D6C5B4A39281706"),
        ("password: lantern quarry mosaic", "lantern%20quarry%20mosaic"),
        ("password: lantern quarry mosaic", "LANTERN QUARRY MOSAIC"),
        ("password: lantern quarry mosaic", base64.b64encode(b"ana:lantern quarry mosaic").decode()),
        ("password: lantern quarry mosaic", b"lantern quarry mosaic".hex()),
    ],
)
def test_a_secret_is_masked_later_in_other_letter_case_and_without_its_groups(
    left: Callable[[], bytes], first: str, again: str
) -> None:
    capture(prompt("look at it", 0))
    capture(bash(first))

    capture(bash(f"now {again} again", "toolu_2", 2))

    assert b"now [REDACTED] again" in left()


@pytest.mark.parametrize(
    "again",
    [
        "Kwortle%23Vimsy%2442",
        "Kwortle#Vimsy\\$42",
        "Kwortle&#35;Vimsy&#36;42",
        "\\u004b\\u0077\\u006frtle#Vimsy$42",
        "Kwortle\x1b[1m#Vimsy\x1b[0m$42",
        "Kwortle\\043Vimsy\\04442",
    ],
)
def test_a_secret_with_escapes_is_masked_in_the_later_events_and_in_its_own(
    vault: Path, left: Callable[[], bytes], again: str
) -> None:
    capture(prompt("look at the database", 0))
    first = capture(bash("DB_PASSWORD=Kwortle#Vimsy$42", tool_input={"command": f"curl 'box.lan/?p={again}'"}))
    later = capture(bash(f"GET /?p={again} 200", "toolu_2", 2))

    assert first.stored
    assert later.stored
    assert b"Vimsy" not in left()


@pytest.mark.parametrize(
    "first",
    [
        bash('{"password": "p@ss\\"w0rd&x7"}'),
        bash(f"kind: Secret\ndata:\n  foo: {base64.b64encode(QUOTED.encode()).decode()}\n"),
        bash(f"Authorization: Basic {base64.b64encode(b'ana:' + QUOTED.encode()).decode()}"),
    ],
)
def test_what_a_masked_value_encodes_is_masked_in_the_later_events(
    vault: Path, left: Callable[[], bytes], first: dict[str, Any]
) -> None:
    capture(prompt("look at the database", 0))
    capture(first)
    capture(bash(f"connecting with {QUOTED} now", "toolu_2", 2))

    assert b"w0rd&x7" not in left()
    assert b"connecting with [REDACTED] now" in left()


def test_an_app_password_of_letters_is_masked_in_the_later_events(vault: Path, left: Callable[[], bytes]) -> None:
    capture(prompt("look at the mail", 0))
    capture(bash("Generated app password: ncgwfmppwcrngupj"))
    capture(stop("I signed in to the mail server with ncgwfmppwcrngupj."))

    assert b"ncgwfmpp" not in left()


def test_a_secret_that_a_command_decodes_is_masked_in_the_command(vault: Path, left: Callable[[], bytes]) -> None:
    encoded = base64.b64encode(b"DB_PASSWORD=velvetocean77").decode()
    capture(prompt("look at the database", 0))
    capture(bash("DB_PASSWORD=velvetocean77", tool_input={"command": f"echo {encoded} | base64 -d"}))

    assert encoded.encode() not in left()


def test_a_value_that_a_command_showed_is_masked_in_the_answer(vault: Path, left: Callable[[], bytes]) -> None:
    capture(prompt("what is in the vault?"))
    capture(bash("foo   otterpond26", tool_input={"command": "vault kv get secret/db"}))
    capture(stop("It is otterpond26."))

    assert b"otterpond26" not in left()


def test_a_secret_that_a_sub_agent_saw_is_masked_in_the_answer(vault: Path, left: Callable[[], bytes]) -> None:
    capture(prompt("what is in the file?"))
    seen = capture(bash("DB_PASSWORD=kW8rtq-Lom4", agent_id="a1", agent_type="Explore"))
    capture(stop("The sub-agent says that it is kW8rtq-Lom4."))

    assert not seen.stored
    assert b"kW8rtq-Lom4" not in left()


def test_a_word_that_named_a_secret_once_stays_visible_later(vault: Path) -> None:
    capture(prompt("the db password is postgres, and 12345678 for root"))
    capture(stop("The database postgres has 12345678 rows."))

    assert "The database postgres has 12345678 rows." in titles(vault) + "".join(map(Path.read_text, notes(vault)))


def test_a_private_turn_stays_private_when_its_session_is_resumed(vault: Path, hook: Hook) -> None:
    hook(prompt(f"<private>{SECRET}</private>"))
    hook(payload("SessionEnd", reason="other"))
    hook(payload("SessionStart", source="resume"))
    hook(bash("of the private turn"))
    hook(stop("of the private turn"))

    assert notes(vault) == []


@pytest.mark.parametrize("tail", ["", ".", " !", '"', "\n\n…", " \u200b"])
def test_punctuation_behind_a_private_section_makes_no_prompt_of_it(vault: Path, tail: str) -> None:
    assert capture(prompt(f"<private>{SECRET}</private>{tail}")).ignored == "private"
    assert capture(bash("x")).ignored == "private"


def test_what_is_private_in_a_prompt_that_was_typed_while_the_agent_worked_is_masked(
    vault: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "transcript.jsonl"
    typed = {"type": "queued_command", "prompt": f"{TAGGED}, password: kW8rtq-Lom4", "commandMode": "prompt"}
    later = {"type": "user", "message": {"content": "x" * 9_000}}
    lines = [later, {"type": "attachment", "attachment": typed}, later]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    capture(prompt("look at the box", transcript_path=str(transcript)))
    capture(bash(f"hello {SECRET}", transcript_path=str(transcript)))
    capture(stop(f"Logged in as {SECRET} with kW8rtq-Lom4.", transcript_path=str(transcript)))

    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash", "001-002-response"]
    stored = b"\n".join(path.read_bytes() for path in notes(vault))
    assert leaks(stored) == []
    assert b"kW8rtq-Lom4" not in stored


def ran_in_gemini(command: str, shown: str) -> dict[str, Any]:
    command, shown = (text.replace("\\", "\\\\").replace("`", "\\`") for text in (command, shown))
    result = f"This produced the following result:\n```\n{shown}\n```"
    text = f"I ran the following shell command:\n```sh\n{command}\n```\n\n{result}"
    return {"id": "1", "timestamp": "2026-09-14T08:00:00Z", "type": "user", "content": [{"text": text}]}


@pytest.mark.parametrize("agent", ["claude", "gemini"])
def test_what_is_private_in_a_file_is_masked_after_a_persons_own_command_showed_a_line_of_it(
    vault: Path, tmp_path: Path, left: Callable[[], bytes], agent: str
) -> None:
    (tmp_path / "plan.md").write_text(f"<private>\nhost `box\\7`\nuser {SECRET}\n</private>\n")
    command, shown = "grep -e user -e '`' plan.md", f"host `box\\7`\nuser {SECRET}"
    said = [f"<bash-input>{command}</bash-input>", f"<bash-stdout>{shown}</bash-stdout><bash-stderr></bash-stderr>"]
    lines: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": text}, "uuid": text[:9]} for text in said
    ]
    if agent == "gemini":
        lines = [
            {"id": "1", "timestamp": "2026-09-14T08:00:00Z", "type": "user", "content": ran_in_gemini(command, shown)}
        ]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    where: dict[str, Any] = {"transcript_path": str(transcript), "cwd": str(tmp_path)}

    capture(prompt("log in and look", **where))
    transcript.unlink()
    (tmp_path / "plan.md").unlink()
    capture(bash(f"hello {SECRET} on box\\7", **where))
    capture(stop(f"Logged in as {SECRET.upper()}.", **where))

    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash", "001-002-response"]
    assert leaks(left()) == []
    assert b"box\\7" not in left()


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
@pytest.mark.parametrize("command", ["cat .env", "cat secrets/db_password.txt", "./show"])
def test_a_secret_that_a_persons_own_command_showed_is_masked_later(
    vault: Path, tmp_path: Path, left: Callable[[], bytes], command: str, agent: str
) -> None:
    value = "kW8rtq-Lom4"
    shown = value if "secrets" in command else f"DB_USER=ana\nDB_PASSWORD={value}"
    said = [
        f"<bash-input>{command}</bash-input>",
        f"<bash-stdout>{shown}</bash-stdout><bash-stderr></bash-stderr>",
    ]
    result = f"<result>\nExit code: 0\nOutput:\n{shown}\n</result>"
    ran = f"<user_shell_command>\n<command>\n{command}\n</command>\n{result}\n</user_shell_command>"
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ran}]}
    lines: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": text}, "uuid": text[:9]} for text in said
    ]
    if agent == "codex":
        lines = [{"timestamp": "2026-09-14T08:00:00Z", "type": "response_item", "payload": message}]
    if agent == "gemini":
        lines = [
            {"id": "1", "timestamp": "2026-09-14T08:00:00Z", "type": "user", "content": ran_in_gemini(command, shown)}
        ]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    capture(prompt(f"log in with {value} now", transcript_path=str(transcript)))
    capture(bash(f"hello {value}", transcript_path=str(transcript)))
    capture(stop(f"Logged in with {value}.", transcript_path=str(transcript)))

    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash", "001-002-response"]
    transcript.unlink()
    assert value.encode() not in left()


def test_what_a_command_showed_is_not_taken_for_that_of_an_earlier_one_that_was_stopped(
    vault: Path, tmp_path: Path
) -> None:
    said = [
        "<bash-input>cat secrets/db_password.txt</bash-input>",
        "<bash-input>cat level</bash-input>",
        "<bash-stdout>verbose-4b2q</bash-stdout><bash-stderr></bash-stderr>",
    ]
    lines = [{"type": "user", "message": {"role": "user", "content": text}, "uuid": text[-21:]} for text in said]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    capture(prompt("why is it verbose-4b2q?", transcript_path=str(transcript)))

    (path,) = notes(vault)
    assert b"why is it verbose-4b2q?" in path.read_bytes()


@pytest.mark.parametrize("wrap", ["{}\n{}", "{}\n    {}", "> {}\n> {}", "{}\\\n  {}"])
def test_a_secret_that_is_broken_over_lines_is_masked_in_the_later_events_and_in_its_own(
    vault: Path, left: Callable[[], bytes], wrap: str
) -> None:
    again = wrap.format("connecting to the box with Kwortle#Vim", "sy$42 from here")
    capture(prompt("look at the database", 0))
    capture(bash(f"DB_PASSWORD=Kwortle#Vimsy$42\n\n{again}"))
    capture(bash(again, "toolu_2", 2))

    assert left().count(b"sy$42") == 0


def test_late_events_belong_to_the_turn_that_their_prompt_began(vault: Path) -> None:
    capture(prompt("first, in the open"))
    capture(prompt(f"<private>{SECRET}</private>", 2))
    capture(prompt("third, in the open", 3))

    assert capture(bash("late", "toolu_2", 2)).ignored == "private"
    assert capture(stop("late", 2)).ignored == "private"
    assert capture(bash("late", "toolu_1", 1)).stored
    assert capture(bash("in time", "toolu_3", 3)).stored
    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash", "003-000-prompt", "003-001-bash"]


def test_without_ids_a_private_turn_ends_with_the_next_prompt(vault: Path) -> None:
    capture(prompt(f"<private>{SECRET}</private>", prompt_id=""))
    assert capture(bash("x", prompt_id="")).ignored == "private"
    capture(prompt("in the open", prompt_id=""))
    assert capture(bash("y", "toolu_2", prompt_id="")).stored


def test_what_a_prompt_hid_that_no_hook_has_seen_is_known_by_its_transcript(
    vault: Path, hook: Hook, left: Callable[[], bytes], tmp_path: Path
) -> None:
    saved = tmp_path / "saved.jsonl"
    before = {"promptId": "prompt-0", "message": {"content": "[private] an earlier one"}}
    line = {"promptId": "prompt-1", "message": {"content": [{"type": "text", "text": TAGGED}]}}
    saved.write_text(f"{json.dumps(before)}\n{json.dumps(line)}\n")
    hook(payload("SessionStart", source="startup"))

    hook(bash(f"logged in as {SECRET}", transcript_path=str(saved)))
    hook(stop(f"Logged in as {SECRET.upper()}.", transcript_path=str(saved)))

    assert places(notes(vault)) == ["000-001-bash", "000-002-response"]
    assert leaks(left()) == []


def test_what_a_prompt_hid_whose_hook_was_killed_is_known_by_its_transcript_in_later_turns(
    vault: Path, hook: Hook, left: Callable[[], bytes], tmp_path: Path
) -> None:
    asked = "Deploy <private>the Lorbquist fund</private> tonight"
    saved = tmp_path / "saved.jsonl"
    saved.write_text(json.dumps({"promptId": "prompt-1", "message": {"content": asked}}) + "\n")
    hook(payload("SessionStart", source="startup"))
    marks.write(Capture(config.load(), agents.load("claude-code").read(prompt(asked), {}), START), marks.UNSURE)

    hook(bash("deployed lorbquist", transcript_path=str(saved)))
    hook(prompt("and go on", 2))
    hook(bash("Lorbquist is up", "toolu_2", 2))

    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash"]
    assert b"lorbquist" not in left().lower()


def test_a_private_turn_is_one_although_the_hook_of_its_prompt_never_ran(vault: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.jsonl"
    saved.write_text(json.dumps({"promptId": "prompt-1", "message": {"content": f"[private] {SECRET}"}}) + "\n")

    assert capture(bash("x", transcript_path=str(saved))).ignored == "private"
    assert capture(stop("y")).ignored == "private"


LEFT_OUT = "tool runs and answers of this turn were left out"


def forget_state() -> None:
    """Lose what state knows, as on another machine."""
    for folder in (config.load().state_dir, config.load().runtime_dir):
        shutil.rmtree(folder, ignore_errors=True)


def move_state(place: Path) -> None:
    """Move what state knows to a folder inside its own, as if that were another machine's."""
    entries = [path for path in place.parent.iterdir() if path.name not in ("here", "elsewhere")]
    place.mkdir(mode=0o700)
    for path in entries:
        path.rename(place / path.name)


@pytest.mark.parametrize("source", [None, "resume"])
def test_a_session_with_private_text_is_not_stored_further_where_state_does_not_know_that_text(
    vault: Path, hook: Hook, left: Callable[[], bytes], source: str | None
) -> None:
    hook(prompt(TAGGED))
    stored = places(notes(vault))
    forget_state()
    hook(prompt("Another session, with <private>its own words</private>", session_id=OTHER))
    if source:
        hook(payload("SessionStart", source=source))

    told = hook(prompt(f"again {SECRET} and <private>more</private>", 2)).stdout
    hook(bash(f"You are {SECRET}.", number=2))
    hook(stop(f"It is {SECRET}.", 2))

    assert leaks(left()) == []
    assert "nothing more of this session is stored" in told
    assert [name for name in places(notes(vault)) if name != "001-000-prompt"] == stored[1:]
    hook(prompt("in the other session", 2, session_id=OTHER))
    assert places(notes(vault)).count("002-000-prompt") == 1


def test_a_session_with_private_text_from_another_machine_is_not_stored_further_when_it_is_resumed_here(
    vault: Path, hook: Hook
) -> None:
    hook(prompt("in the open"))
    here, elsewhere = (Path(config.load().state_dir) / name for name in ("here", "elsewhere"))
    move_state(here)
    hook(prompt(TAGGED, 2))
    move_state(elsewhere)
    for folder in here.iterdir():
        folder.rename(here.parent / folder.name)

    hook(payload("SessionStart", source="resume"))
    told = hook(prompt(f"again {SECRET} and <private>more</private>", 3)).stdout

    assert "nothing more of this session is stored" in told
    assert len(notes(vault)) == 2


def test_a_resumed_session_reads_none_of_the_notes_that_were_captured_here(vault: Path, hook: Hook) -> None:
    hook(prompt("in the open"))
    hook(bash("made"))
    for path in notes(vault):
        path.write_bytes(path.read_bytes().replace(b"---\n", b"---\nprivate: 1\n", 1))

    hook(payload("SessionStart", source="resume"))

    assert hook(prompt("and again", 2)).stdout == ""
    assert len(notes(vault)) == 3


def test_whether_a_note_hid_something_is_told_without_parsing_one_that_does_not_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[bytes | None] = []
    real = front_matter.of

    def read(data: bytes | None) -> dict[str, Any]:
        parsed.append(data)
        return real(data)

    monkeypatch.setattr(front_matter, "of", read)
    hid = [b"---\nkind: prompt\nprivate: 1\n---\n\nx\n", b"---\r\nprivate: 2\r\n---\r\nx\r\n"]
    hid_nothing = [b"---\nkind: prompt\n---\n\nprivate: 1\n---\n", b"", b"private: 1\n"]

    assert [remembered._had_private(data) for data in (*hid, *hid_nothing)] == [True, True, False, False, False]
    assert parsed == [*hid, b"private: 1\n"]


def test_a_session_that_hid_nothing_goes_on_where_state_does_not_know_it(vault: Path, hook: Hook) -> None:
    hook(prompt("in the open"))
    forget_state()
    assert hook(prompt("and again", 2)).stdout == ""
    assert places(notes(vault)) == ["001-000-prompt", "002-000-prompt"]


def test_a_turn_whose_prompt_was_never_seen_is_left_out_told_counted_and_imported(
    vault: Path, hook: Hook, mdmem: Run, tmp_path: Path
) -> None:
    hook(prompt("in the open"))
    forget_state()

    told = [
        hook(one).stdout
        for one in (bash("x", "toolu_2", 2), bash("y", "toolu_3", 2), stop("That is all.", 2), stop("z", 3))
    ]

    assert places(notes(vault)) == ["001-000-prompt"]
    assert [LEFT_OUT in one for one in told] == [True, False, True, True]
    assert "4 events lost" in mdmem("status").stdout
    assert "`mdmem import` may find it" in mdmem("doctor").stdout
    saved = tmp_path / "saved.jsonl"
    said = [("user", "and the second"), ("assistant", [{"type": "text", "text": "That is all."}])]
    saved.write_text(
        "".join(
            json.dumps({
                "type": role, "uuid": f"u{number}", "promptId": "prompt-2", "sessionId": SESSION,
                "cwd": "/home/dev/work/notes-app", "timestamp": f"2026-09-14T08:0{number}:00.000Z",
                "message": {"role": role, "content": content},
            }) + "\n"
            for number, (role, content) in enumerate(said)
        )
    )  # fmt: skip
    mdmem("import", "--yes", str(saved), check=True)
    assert places(notes(vault)) == ["001-000-prompt", "002-000-prompt", "002-001-response"]


def test_an_unseen_turn_after_a_private_one_is_told_as_well(vault: Path, hook: Hook) -> None:
    hook(prompt("<private>all of it</private>"))

    assert "left out" not in hook(stop("of the private turn")).stdout
    assert LEFT_OUT in hook(stop("of another turn", 2)).stdout
    assert notes(vault) == []


def test_a_private_turn_that_state_forgot_stays_private_once_its_session_goes_on(
    vault: Path, hook: Hook, left: Callable[[], bytes]
) -> None:
    hook(prompt("in the open", 0))
    hook(prompt(f"<private>{SECRET}</private>"))
    forget_state()
    hook(prompt("in the open again", 2))  # which finds the notes of the session, and lists them

    assert LEFT_OUT in hook(bash(f"login --as {SECRET}")).stdout
    assert LEFT_OUT in hook(stop(f"You are {SECRET}.")).stdout
    hook(bash("made", "toolu_2", 2))
    hook(prompt("<task-notification>The build is done.</task-notification>", 3))
    assert LEFT_OUT not in hook(stop("It is.", 3)).stdout
    assert leaks(left()) == []
    assert places(notes(vault)) == ["001-000-prompt", "002-000-prompt", "002-001-bash", "002-002-response"]


def test_a_private_turn_whose_mark_met_a_full_disk_stays_private_once_there_is_room(
    vault: Path, hook: Hook, left: Callable[[], bytes]
) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    hook(payload("SessionStart", source="startup"))
    hook(prompt("in the open", 0))

    said = limited(prompt(f"<private>{SECRET}</private>"), full)
    told = [hook(one).stdout for one in (bash(f"login --as {SECRET}"), stop(f"You are {SECRET}."))]
    hook(prompt("in the open again", 2))
    hook(bash("made", "toolu_2", 2))
    hook(bash(f"late: {SECRET}", "toolu_3"))

    assert "nothing of this session is stored" in said
    assert [LEFT_OUT in one for one in told] == [True, True]
    assert leaks(left()) == []
    assert places(notes(vault)) == ["001-000-prompt", "002-000-prompt", "002-001-bash"]


def test_a_mark_that_found_no_room_behind_whole_lines_leaves_a_sign(
    vault: Path, hook: Hook, left: Callable[[], bytes], tmp_path: Path
) -> None:
    hook(payload("SessionStart", source="startup"))
    hook(prompt("[private] Log in", 0))
    hook(prompt("in the open", 2))
    settings = config.load()
    (file,) = Path(settings.runtime_dir).glob(f"*.{marks.FLAG}")
    blocked = tmp_path / "no folder"
    blocked.write_text("")

    def full() -> None:
        os.environ["TMPDIR"] = str(blocked)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, file.stat().st_size))

    said = limited(prompt(f"<private>{SECRET}</private>", 3), full)
    told = [hook(one).stdout for one in (bash(f"login --as {SECRET}", "toolu_3", 3), stop(f"You are {SECRET}.", 3))]

    assert "nothing of this session is stored" in said
    assert [LEFT_OUT in one for one in told] == [True, True]
    assert leaks(left()) == []
    hook(prompt("in the open again", 4))
    hook(bash("made", "toolu_4", 4))
    assert places(notes(vault)) == ["002-000-prompt", "003-000-prompt", "003-001-bash"]


def test_what_comes_late_of_a_prompt_whose_mark_was_lost_is_left_out_after_other_prompts(
    vault: Path, hook: Hook, left: Callable[[], bytes], tmp_path: Path, mdmem: Run
) -> None:
    hook(payload("SessionStart", source="startup"))
    hook(prompt("[private] Log in", 0))
    hook(prompt("in the open", 2))
    (file,) = Path(config.load().runtime_dir).glob(f"*.{marks.FLAG}")
    blocked = tmp_path / "no folder"
    blocked.write_text("")

    def full() -> None:
        os.environ["TMPDIR"] = str(blocked)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, file.stat().st_size))

    limited(prompt(f"<private>{SECRET}</private>", 3), full)
    hook(prompt("in the open again", 4))
    hook(bash(f"login --as {SECRET}", "toolu_3", 3))

    assert leaks(left()) == []
    assert places(notes(vault)) == ["002-000-prompt", "003-000-prompt"]
    assert "lost" in mdmem("status").stdout


def test_the_events_of_a_prompt_that_waits_in_the_queue_wait_behind_it(
    vault: Path, monkeypatch: pytest.MonkeyPatch, mdmem: Run
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    capture(prompt("in the open"))
    forget_state()
    with monkeypatch.context() as patch:
        patch.setattr("mdmem.capture.session.Session.make_folder", full)
        sent = (prompt("and go on", 2), bash("made", "toolu_2", 2), bash("x", "toolu_3", 3), stop("Done.", 2))
        made = [capture(one) for one in sent]

    assert [one.waits for one in made] == [True, True, False, True]
    assert made[2].error == "unseen-prompt"  # what is known of one prompt tells nothing of the next
    mdmem("index", check=True)
    assert places(notes(vault))[1:] == ["002-000-prompt", "002-001-bash", "002-002-response"]


def test_a_hook_waits_for_the_one_that_judges_its_prompt_at_the_same_time(vault: Path) -> None:
    at = Capture(config.load(), agents.load("claude-code").read(prompt("Log in"), {}), START)
    marks.write(at, marks.UNSURE)

    judge = threading.Timer(0.2, lambda: turn.mark_open(at, sure=True))
    judge.start()
    assert capture(bash("made")).stored
    judge.join()


INSTRUCTIONS = {name for row in catalog.ROWS for name in row.instructions}
OWN_INSTRUCTIONS = {f"~/elsewhere/{row.own_instructions}" for row in catalog.ROWS if row.own_instructions}


RULES = (
    ".claude/rules/dates.md", ".claude/rules/app/names.md", "../.claude/rules/all.md", "~/elsewhere/rules/own.md",
    ".claude/output-styles/terse.md", ".cursor/rules/dates.mdc", "../.github/instructions/dates.instructions.md",
    "AGENTS.override.md", ".cursorrules", "~/elsewhere/AGENTS.override.md",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [*sorted(INSTRUCTIONS), *RULES, "../AGENTS.md", "~/.claude/CLAUDE.md", *sorted(OWN_INSTRUCTIONS)]
)
def test_what_is_private_in_an_agents_instructions_is_masked_in_its_sessions(
    vault: Path,
    hook: Hook,
    left: Callable[[], bytes],
    home: Path,
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    work = tmp_path / "work" / "app"
    work.mkdir(parents=True)
    path = home / name[2:] if name[0] == "~" else work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# Rules\nThe account is <private>{SECRET}</private>; never show it.\n")

    hook(payload("SessionStart", source="startup", cwd=str(work)))
    path.unlink()
    hook(prompt("log in and look", cwd=str(work)))
    hook(bash(f"logged in as {SECRET}", cwd=str(work)))
    hook(stop(f"Logged in as {SECRET.upper()}.", cwd=str(work)))

    assert len([path for path in notes(vault) if "journal" in path.parts]) == 3
    assert leaks(left()) == []


@pytest.mark.parametrize("start", ["met a full disk", "was not heard of"])
def test_what_is_private_in_instructions_is_masked_also_if_the_start_of_the_session_left_no_sign(
    vault: Path, hook: Hook, left: Callable[[], bytes], tmp_path: Path, start: str
) -> None:
    (tmp_path / "app").mkdir()
    path = tmp_path / "app" / "CLAUDE.md"
    path.write_text(f"# Rules\nThe account is <private>{SECRET}</private>; never show it.\n")
    work: dict[str, Any] = {"cwd": str(path.parent)}

    if start == "met a full disk":
        full = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
        limited(payload("SessionStart", source="startup", **work), full)
    hook(prompt("log in and look", **work))
    path.unlink()
    hook(bash(f"logged in as {SECRET}", **work))
    hook(stop(f"Logged in as {SECRET.upper()}.", **work))

    assert len([path for path in notes(vault) if "journal" in path.parts]) == 3
    assert leaks(left()) == []


@pytest.mark.parametrize("name", ["app/CLAUDE.md", "app/dates/AGENTS.md", "app/.claude/CLAUDE.md"])
@pytest.mark.parametrize("fields", [{}, {"agent_id": "a1", "agent_type": "Explore"}])
def test_what_is_private_in_instructions_beside_a_file_that_is_read_is_masked_from_then_on(
    vault: Path, tmp_path: Path, left: Callable[[], bytes], name: str, fields: dict[str, str]
) -> None:
    work = tmp_path / "work"
    (work / name).parent.mkdir(parents=True, exist_ok=True)
    (work / name).write_text(f"The account is <private>{SECRET}</private>; never show it.\n")
    source = work / "app" / "dates" / "parse.py"
    source.parent.mkdir(parents=True, exist_ok=True)
    shown = {"filePath": str(source), "content": "x = 1", "numLines": 1, "startLine": 1, "totalLines": 1}
    reading = {"tool_name": "Read", "tool_input": {"file_path": str(source)}, "tool_use_id": "toolu_2"}

    capture(prompt("log in and look", cwd=str(work)))
    response = {"type": "text", "file": shown}
    capture(payload("PostToolUse", cwd=str(work), prompt_id="prompt-1", tool_response=response, **reading, **fields))
    (work / name).unlink()
    capture(stop(f"Logged in as {SECRET.upper()}.", cwd=str(work)))

    assert len([path for path in notes(vault) if "journal" in path.parts]) == (2 if fields else 3)
    assert leaks(left()) == []


def test_what_is_private_in_the_memory_that_an_agent_keeps_itself_is_masked_in_its_sessions(
    vault: Path, tmp_path: Path, left: Callable[[], bytes]
) -> None:
    memory = tmp_path / "project" / "memory" / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text(f"- the account is <private>{SECRET}</private>\n")
    transcript = str(memory.parent.parent / f"{SESSION}.jsonl")

    capture(payload("SessionStart", source="startup", transcript_path=transcript))
    memory.unlink()
    capture(prompt("log in and look"))
    capture(bash(f"logged in as {SECRET}"))

    assert len([path for path in notes(vault) if "journal" in path.parts]) == 2
    assert leaks(left()) == []


@pytest.mark.parametrize(
    ("name", "asked", "run"),
    [
        ("plan.md", "what is in @plan.md?", None),
        ("plan.md", "@app.route('/')\ndef page(): ...\n" * 20 + "see @plan.md", None),
        ("the plan.md", 'what is in @"the plan.md", please', None),
        (
            "plan.md",
            "<ide_opened_file>The user opened the file plan.md in the IDE.</ide_opened_file>\nwhat is it?",
            None,
        ),
        ("plan.md", "<ide_selection>The user selected the lines 3 to 4 from plan.md:\nx</ide_selection>\nwhy?", None),
        (".claude/commands/git/plan.md", "/git:plan now", None),
        (".claude/skills/plan/SKILL.md", "use it", ("Skill", {"skill": "plan"})),
        ("~/.claude/agents/planner.md", "ask it", ("Agent", {"subagent_type": "planner", "prompt": "go"})),
        ("docs/rules.md", "log in", None),
    ],
)
def test_what_is_private_in_a_file_that_the_agent_reads_unasked_is_masked_in_what_follows(
    vault: Path,
    hook: Hook,
    left: Callable[[], bytes],
    home: Path,
    tmp_path: Path,
    name: str,
    asked: str,
    run: tuple[str, dict[str, str]] | None,
) -> None:
    work = tmp_path / "work" / "app"
    path = home / name[2:] if name[0] == "~" else work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"The account is <private>{SECRET}</private>; never show it.\n")
    work.mkdir(parents=True, exist_ok=True)
    (work / "CLAUDE.md").write_text("See @docs/rules.md first.\n")

    hook(payload("SessionStart", source="startup", cwd=str(work)))
    hook(prompt(asked, cwd=str(work)))
    if run:
        hook({**bash("done", cwd=str(work)), "tool_name": run[0], "tool_input": run[1]})
    hook(bash(f"logged in as {SECRET}", "toolu_9", cwd=str(work)))
    path.unlink()
    hook(stop(f"Logged in as {SECRET.upper()}.", cwd=str(work)))

    assert len([path for path in notes(vault) if "journal" in path.parts]) == 3 + bool(run)
    assert leaks(left()) == []


@pytest.mark.parametrize(
    ("agent", "name", "tool", "given"),
    [
        ("gemini", ".gemini/skills/plan/SKILL.md", "activate_skill", {"name": "plan"}),
        ("gemini", ".gemini/agents/planner.md", "invoke_agent", {"agent_name": "planner", "prompt": "go"}),
        ("opencode", ".opencode/agent/planner.md", "task", {"subagent_type": "planner", "prompt": "go"}),
        ("opencode", ".opencode/skill/plan/SKILL.md", "skill", {"name": "plan"}),
        ("copilot", ".github/agents/planner.agent.md", "task", {"agent_type": "planner", "prompt": "go"}),
        ("codex", ".agents/skills/plan/SKILL.md", "Skill", {"skill": "plan"}),
        ("cursor", ".cursor/agents/planner.md", "Task", {"subagent_type": "planner", "prompt": "go"}),
    ],
)
def test_what_is_private_in_a_skill_or_a_sub_agents_file_is_masked_in_every_agent(
    vault: Path, left: Callable[[], bytes], tmp_path: Path, agent: str, name: str, tool: str, given: dict[str, str]
) -> None:
    work = tmp_path / "work"
    (work / name).parent.mkdir(parents=True)
    hidden = "zebra-harvest-plan"  # words that no rule takes for a secret
    (work / name).write_text(f"The account is <private>{hidden}</private>; never show it.\n")
    common: dict[str, Any] = {"agent": agent, "session": SESSION, "cwd": str(work), "prompt_id": "prompt-1"}
    for event in (
        agents.Event(name="UserPromptSubmit", prompt="use it", **common),
        agents.Event(name="PostToolUse", tool=tool, tool_input=given, tool_use_id="t-1", **common),
        agents.Event(name="Stop", message=f"It is {hidden}.", **common),
    ):
        events.capture(config.load(), event, START, os.environ)

    assert len([path for path in notes(vault) if "journal" in path.parts]) == 3
    assert b"harvest" not in left()


def gemini(vault: Path, mdmem: Run, name: str, number: int, **fields: Any) -> None:
    common = {"session_id": SESSION, "cwd": str(vault.parent), "timestamp": f"2026-09-14T08:00:{number:02d}.000Z"}
    mdmem("hook", "gemini", input=json.dumps({**common, "hook_event_name": name, **fields}), check=True)


def test_what_is_private_in_a_prompt_of_gemini_whose_hook_did_not_run_is_known_from_the_answer_on(
    vault: Path, mdmem: Run, left: Callable[[], bytes]
) -> None:
    gemini(vault, mdmem, "BeforeAgent", 1, prompt="hello")
    gemini(vault, mdmem, "AfterAgent", 2, prompt="hello", prompt_response="hi")
    hidden = "zebra-harvest-plan"
    gemini(vault, mdmem, "AfterAgent", 3, prompt=f"Do <private>{hidden}</private>", prompt_response=f"I did {hidden}.")
    gemini(vault, mdmem, "BeforeAgent", 4, prompt="And now?")
    gemini(vault, mdmem, "AfterAgent", 5, prompt="And now?", prompt_response=f"The {hidden} waits.")
    gemini(vault, mdmem, "AfterAgent", 6, prompt="<private>all of it</private>", prompt_response="unspoken words")

    found = left()
    assert b"I did [PRIVATE]." in found
    assert b"The [PRIVATE] waits." in found
    assert b"harvest" not in found
    assert b"unspoken" not in found


def test_what_gemini_repeats_of_a_prompt_is_not_private_again_after_the_user_kept_it(vault: Path, mdmem: Run) -> None:
    asked = "Do <private>zebra-harvest-plan</private>"
    gemini(vault, mdmem, "BeforeAgent", 1, prompt=asked)
    at = Capture(config.load(), agents.Event(agent="gemini", name="Stop", session=SESSION), START)
    memory.forget(at.config, at.session.key, ["zebra-harvest-plan"])
    gemini(vault, mdmem, "AfterAgent", 2, prompt=asked, prompt_response="I did zebra-harvest-plan.")

    assert "I did zebra-harvest-plan." in notes(vault)[-1].read_text()


def test_a_session_with_a_malformed_id_is_told_that_its_private_text_was_lost(vault: Path) -> None:
    event = agents.Event(agent="codex", name="Stop", session="an id with spaces")
    at = Capture(config.load(), event, START)
    at.session.append("start", "1", "startup")
    Path(at.session.flag("private-lost")).touch()
    outcome = Outcome("private")
    outcome.unmarked = True

    said = feedback.message(at.config, event, outcome)

    assert said == feedback.FORGOTTEN.format(folder=at.config.state_dir)


# -- forks -----------------------------------------------------------------------------------------


def test_a_fork_knows_what_its_parent_kept_private(vault: Path, hook: Hook, left: Callable[[], bytes]) -> None:
    hook(prompt(TAGGED))
    hook(payload("SessionEnd", reason="other"))
    hook(payload("SessionStart", source="fork", session_id=OTHER))
    hook(prompt(f"login --as {SECRET}", session_id=OTHER))

    assert len(notes(vault)) == 2
    assert leaks(left()) == []


def test_a_fork_that_its_transcript_names_a_parent_of_takes_over_from_that_one(vault: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "fork.jsonl"
    line = {"type": "user", "forkedFrom": {"sessionId": "the-parent"}, "sessionId": OTHER}
    transcript.write_text(json.dumps(line) + "\n")
    capture(prompt("about <private>Falconridge</private>", session_id="the-parent"))
    capture(prompt("about <private>Owlbottom</private>", session_id="a-stranger"))

    start = payload("SessionStart", source="startup", session_id=OTHER, transcript_path=str(transcript))
    capture(start)
    capture(prompt("Falconridge and Owlbottom", session_id=OTHER))

    assert "[PRIVATE] and Owlbottom" in "".join(path.read_text() for path in notes(vault))


def test_a_new_session_is_no_fork(vault: Path) -> None:
    capture(prompt("about <private>Falconridge</private>", session_id="another"))
    capture(payload("SessionStart", source="startup"))
    capture(prompt("Falconridge"))
    assert "falconridge" in titles(vault)


# -- while storing is off --------------------------------------------------------------------------


def exclude(home: Path, vault: Path) -> None:
    (vault / "mdmem.toml").write_text('[capture]\nexclude_projects = ["notes-app"]\n')


def include(home: Path, vault: Path) -> None:
    (vault / "mdmem.toml").write_text("")


def pause(home: Path, vault: Path) -> None:
    state = Path(config.load().state_dir)
    state.mkdir(parents=True, exist_ok=True)
    (state / "paused").touch()


def go_on(home: Path, vault: Path) -> None:
    (Path(config.load().state_dir) / "paused").unlink()


@pytest.mark.parametrize(("off", "on"), [(pause, go_on), (exclude, include)])
def test_what_was_private_while_nothing_was_stored_is_known_afterwards(
    vault: Path, home: Path, hook: Hook, left: Callable[[], bytes], off: Any, on: Any
) -> None:
    off(home, vault)
    hook(prompt(TAGGED))
    hook(bash("<private>Owlbottom-77</private> from a file"))
    on(home, vault)
    hook(bash("the rest of a turn that was not to be stored", "toolu_2"))
    hook(prompt(f"login --as {SECRET} at Owlbottom-77", 2))

    assert places(notes(vault)) == ["001-000-prompt"]
    assert leaks(left()) == []
    assert b"Owlbottom" not in left()


def test_a_program_that_mdmem_runs_leaves_nothing_at_all(vault: Path, home: Path, hook: Hook) -> None:
    hook(prompt(TAGGED), env={"MDMEM_CHILD": "1"})
    assert not Path(config.load().state_dir, "private").exists()


# -- when no mark can be made ----------------------------------------------------------------------


def block(vault: Path) -> None:
    """Put files where mdmem's folders would be, which stops root as well."""
    settings = config.load()
    for folder in (settings.state_dir, settings.runtime_dir):
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).parent.mkdir(parents=True, exist_ok=True)
        Path(folder).write_text("")


def unblock(vault: Path) -> None:
    settings = config.load()
    for folder in (settings.state_dir, settings.runtime_dir):
        Path(folder).unlink()


@pytest.mark.parametrize("text", [f"<private>{SECRET}</private>", TAGGED])
@pytest.mark.parametrize("before", [True, False], ids=["after an open turn", "as the first turn"])
def test_without_a_mark_nothing_is_stored_and_the_user_hears_it(
    vault: Path, hook: Hook, left: Callable[[], bytes], before: bool, text: str
) -> None:
    if before:
        hook(prompt("in the open", 0))
    stored = len(notes(vault))
    block(vault)

    said = hook(prompt(text)).stdout
    hook(bash(f"login --as {SECRET}"))
    told = hook(stop(f"You are {SECRET}.")).stdout

    assert "nothing of this session is stored" in said
    assert "nothing of this turn is remembered" not in said
    assert "nothing of this session is stored" in told
    assert len(notes(vault)) == stored
    assert leaks(left()) == []
    unblock(vault)
    hook(prompt("in the open again", 2))
    assert len(notes(vault)) == stored + 1


@pytest.mark.parametrize("text", [f"<private>{SECRET}</private>", TAGGED])
@pytest.mark.parametrize("before", [True, False], ids=["after an open turn", "as the first turn"])
def test_a_private_turn_stays_private_when_its_folders_can_be_written_again(
    vault: Path, left: Callable[[], bytes], before: bool, text: str
) -> None:
    if before:
        capture(prompt("in the open", 0))
    stored = len(notes(vault))
    block(vault)
    capture(prompt(text))
    unblock(vault)

    capture(bash(f"login --as {SECRET}"))
    capture(stop(f"You are {SECRET}."))

    assert len(notes(vault)) == stored
    assert leaks(left()) == []
    capture(prompt("in the open again", 2))
    capture(bash("make: done") | {"prompt_id": "prompt-2"})
    assert len(notes(vault)) == stored + 2
    assert not list(Path(os.environ["TMPDIR"]).iterdir()), "the folder of marks there goes with the last of them"


def test_an_open_turn_is_stored_where_only_the_vault_can_be_written(
    vault: Path, hook: Hook, left: Callable[[], bytes], tmp_path: Path
) -> None:
    block(vault)
    hook(prompt("in the open"))
    hook(bash("make: done"))
    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash"]
    assert not list(tmp_path.glob("scratch/*")), "no folder is made for marks that there are not"


@pytest.mark.parametrize("lost", ["state", "runtime"])
def test_one_of_the_two_marks_is_enough(vault: Path, lost: str) -> None:
    capture(prompt(f"<private>{SECRET}</private>"))
    settings = config.load()
    shutil.rmtree(settings.state_dir if lost == "state" else settings.runtime_dir)
    assert capture(bash("x")).ignored == "private"


def block_all(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a file also where marks go when mdmem's own folders cannot be written."""
    block(vault)
    blocked = vault.parent / "no folder"
    blocked.write_text("")
    monkeypatch.setenv("TMPDIR", str(blocked))


def test_nothing_is_stored_when_no_folder_can_be_written_in_the_middle_of_a_turn(
    vault: Path, hook: Hook, left: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    hook(prompt("in the open"))
    block_all(vault, monkeypatch)
    hook(bash(f"a file says <private>{SECRET}</private>"))
    hook(bash(f"login --as {SECRET}", "toolu_2"))
    told = hook(stop(f"You are {SECRET}.")).stdout
    said = hook(prompt(f"login --as {SECRET}", 2)).stdout

    assert places(notes(vault)) == ["001-000-prompt"]
    assert leaks(left()) == []
    assert "nothing of this session is stored" in told
    assert "nothing of this session is stored" in said


def test_a_tool_run_whose_private_text_cannot_be_remembered_is_told_at_once_and_once(vault: Path, hook: Hook) -> None:
    hook(prompt("in the open"))
    memories = Path(config.load().state_dir, "private")
    memories.write_text("")  # as on a full disk: marks can be written, and what was private cannot

    told = [hook(bash(f"a file says <private>{SECRET}</private>", f"toolu_{number}")).stdout for number in range(2)]

    assert ["nothing of this session is stored" in one for one in told] == [True, False]
    memories.unlink()
    assert LEFT_OUT in hook(stop("That is all.")).stdout
    assert places(notes(vault)) == ["001-000-prompt"]
    hook(prompt("in the open again", 2))
    assert "nothing of this session" not in hook(stop("That is all.") | {"prompt_id": "prompt-2"}).stdout
    assert places(notes(vault)) == ["001-000-prompt", "002-000-prompt", "002-001-response"]


def test_what_a_turn_loses_since_its_prompt_cannot_be_remembered_is_told_and_counted(vault: Path, hook: Hook) -> None:
    hook(prompt("in the open", 0))
    memories = Path(config.load().state_dir, "private")
    memories.write_text("")  # as a disk that fails once: the mark is made, and what was private is not remembered

    said = hook(prompt(TAGGED)).stdout
    memories.unlink()
    told = [hook(one).stdout for one in (bash("make: done"), bash("more", "toolu_2"), stop("That is all."))]
    hook(prompt("in the open again", 2))
    hook(bash("late", "toolu_3"))

    assert "nothing of this session is stored" in said
    assert [LEFT_OUT in one for one in told] == [True, False, True]
    assert len(losses.recent(config.load(), time.time())) == 4
    assert places(notes(vault)) == ["001-000-prompt", "003-000-prompt"]


def test_a_tool_run_that_is_left_out_for_its_private_text_is_told_where_nothing_can_be_noted(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> bool:
        raise OSError(errno.ENOSPC, "full")

    capture(prompt("in the open"))
    settings = config.load()
    Path(settings.state_dir, "private").write_text("")
    monkeypatch.setattr("mdmem.files.claim", full)
    run = bash(f"a file says <private>{SECRET}</private>")

    left_out = capture(run)

    said = feedback.message(settings, agents.load("claude-code").read(run, {}), left_out)
    assert "nothing of this session is stored" in str(said)
    assert places(notes(vault)) == ["001-000-prompt"]


def test_what_could_not_be_remembered_keeps_the_later_turns_out_as_well(
    vault: Path, hook: Hook, left: Callable[[], bytes]
) -> None:
    block(vault)
    hook(prompt(TAGGED))
    said = hook(prompt(f"login --as {SECRET}", 2)).stdout
    hook(bash(f"You are {SECRET}.", "toolu_2", 2))

    assert notes(vault) == []
    assert leaks(left()) == []
    assert "nothing of this session is stored" in said
    unblock(vault)
    hook(prompt("in the open again", 3))
    assert places(notes(vault)) == ["001-000-prompt"]


@pytest.mark.slow
def test_counting_the_turns_leaves_the_marks_of_private_turns(vault: Path, hook: Hook, tmp_path: Path) -> None:
    saved = tmp_path / "saved.jsonl"
    at = {"transcript_path": str(saved)}
    for number, text in enumerate(["Look around", "<private>all of it</private>", "What did we do before?"]):
        line = {"type": "user", "uuid": f"u{number}", "promptId": f"prompt-{number}", "message": {"content": text}}
        with saved.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        hook(prompt(text, number, **at))
    shutil.rmtree(config.load().runtime_dir)

    hook(bash(SECRET, "toolu_9", 1, **at))
    hook(stop(f"It was {SECRET}", 1, **at))

    assert "walrus" not in titles(vault)
    assert sum("prompt" in path.name for path in notes(vault)) == len(notes(vault)) == 2


OF_SUBAGENT = {"agent_id": "a4d2c8f1e0b3a297", "agent_type": "Explore"}


@pytest.mark.parametrize(
    "told",
    [
        bash(f"<private>{SECRET}</private>", "toolu_2") | OF_SUBAGENT,
        payload("SubagentStop", last_assistant_message=f"<private>{SECRET}</private>", **OF_SUBAGENT),
        bash(f"<private>{SECRET}</private>", "toolu_2", tool_name="Excluded"),
        prompt(f"<task-notification>\n<result>[private]{SECRET}[/private]</result>\n</task-notification>", 2),
    ],
    ids=["tool of a sub-agent", "answer of a sub-agent", "excluded tool", "prompt of the host"],
)
def test_what_is_private_in_events_that_leave_nothing_is_masked_later(vault: Path, told: dict[str, Any]) -> None:
    capture(prompt("Find it"))
    capture(told, capture__exclude_tools=["Excluded"])

    capture(bash(f"ok {SECRET}", "toolu_3"))
    capture(stop(f"It is {SECRET}."))

    assert len(notes(vault)) == 3
    assert not any("walrus" in path.read_text("utf-8") for path in notes(vault))


@pytest.mark.parametrize("who", [OF_SUBAGENT, {"prompt_id": "prompt-2"}], ids=["sub-agent", "private turn"])
def test_a_part_of_a_section_on_disk_is_known_from_runs_that_leave_nothing(
    vault: Path, tmp_path: Path, who: dict[str, Any]
) -> None:
    (tmp_path / "plan.md").write_text(f"# Plan\n<private>\none\n{SECRET}\nthree\n</private>\nend\n")
    at = {"cwd": str(tmp_path)}
    capture(prompt("Find it") | at)
    capture(prompt("<private>Look</private>", 2) | at)

    capture(bash(SECRET, "toolu_2", tool_input={"command": "sed -n 4p plan.md"}) | at | who)
    capture(bash(f"ok {SECRET}", "toolu_3") | at)

    assert len(notes(vault)) == 2
    assert not any("walrus" in path.read_text("utf-8") for path in notes(vault))


def of_sub_agent(event: dict[str, Any], session: str, parent: str = "") -> Outcome:
    """Take in an event of an agent whose sub-agents have sessions of their own."""
    settings = config.load()
    settings.settings.values["capture.subagents"] = True
    more = {"session_id": session} | ({"parent_id": parent} if parent else {})
    return events.capture(settings, agents.load("opencode").read(event | more, {}), START, os.environ)


@pytest.mark.parametrize("hidden", ["ses_child", "ses_parent"])
def test_a_sub_agent_with_a_session_of_its_own_shares_what_is_private(vault: Path, hidden: str) -> None:
    for plain in (False, True):
        session = hidden if not plain else "ses_parent" if hidden == "ses_child" else "ses_child"
        parent = "ses_parent" if session == "ses_child" else ""
        of_sub_agent(bash(f"login {SECRET}" if plain else f"<private>{SECRET}</private>"), session, parent)

    assert len(notes(vault)) == 2
    assert not any("walrus" in path.read_text("utf-8") for path in notes(vault))


def test_a_sub_agent_with_a_session_of_its_own_stores_nothing_of_a_private_turn(vault: Path) -> None:
    of_sub_agent(prompt("<private>all</private>"), "ses_parent")

    assert of_sub_agent(bash("x"), "ses_child", "ses_parent").ignored == "private"

    of_sub_agent(prompt("Go on", 2), "ses_parent")

    assert of_sub_agent(bash("x", "toolu_2", 3), "ses_child", "ses_parent").stored


def test_what_exceeds_the_private_memory_is_said_and_not_passed_over(vault: Path) -> None:
    capture(prompt(TAGGED))
    settings = config.load()
    (known,) = memory.sessions(settings)
    file = Path(memory.folder(settings), known)
    file.write_bytes(file.read_bytes() + b"\n" * memory._LONGEST_FILE)

    with pytest.raises(OSError, match="more private text than mdmem remembers"):
        memory.learn(settings, known, ["kestrel of the north"])
    seen = capture(prompt("<private>kestrel of the north</private> and a question", 2))
    assert not capture(stop("kestrel of the north", 2)).stored
    assert seen.unmarked or not seen.stored


def test_a_session_with_more_private_words_than_are_remembered_stores_nothing_more(
    left: Callable[[], bytes], vault: Path
) -> None:
    words = [f"walrus{number:05d}x" for number in range(21_000)]
    first = capture(prompt(f"Sort <private>{' '.join(words)}</private> by name"))
    stored = contents(notes(vault))
    seen = capture(bash(f"it was {words[-1]} today"))

    assert first.unmarked and not first.stored
    assert not seen.stored
    assert contents(notes(vault)) == stored
    assert words[-1].encode() not in left()


def test_a_session_stores_nothing_more_after_a_subagent_got_more_private_words_than_are_remembered(
    left: Callable[[], bytes], vault: Path
) -> None:
    def ask(text: str, **fields: Any) -> Outcome:
        event = agents.load("opencode").read(prompt(text) | fields, {})
        return events.capture(config.load(), event, START, os.environ)

    words = [f"walrus{number:05d}x" for number in range(21_000)]
    assert ask("Sort the names").stored
    ask(f"Sort <private>{' '.join(words)}</private> by name", session_id=OTHER, parent_id=SESSION)
    seen = ask(f"It was {words[0]} and {words[-1]}", prompt_id="prompt-2")

    assert seen.unmarked or not seen.stored
    assert not leaks(left(), words[0]) and not leaks(left(), words[-1])


def _replaced_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _away(path: Path) -> None:
    shutil.rmtree(path.parent)


def _linked(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.symlink_to(path.parent.parent / "nowhere")


@pytest.mark.parametrize("file", ["key", "session"])
@pytest.mark.parametrize(
    "damage",
    [
        Path.unlink,
        _replaced_by_folder,
        _away,
        _linked,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:16]),
        lambda path: path.write_bytes(bytes(byte ^ 0x81 for byte in path.read_bytes())),
    ],
)
def test_where_the_private_memory_is_damaged_nothing_more_of_the_session_is_stored(
    vault: Path, left: Callable[[], bytes], file: str, damage: Callable[[Path], None]
) -> None:
    capture(prompt(TAGGED))
    settings = config.load()
    (known,) = memory.sessions(settings)
    damage(Path(memory.folder(settings), known if file == "session" else "key"))
    stored = places(notes(vault))

    outcome = capture(bash(f"You are {SECRET}."))
    capture(prompt(f"and <private>something else</private> beside {SECRET}", 2))
    capture(stop(f"It is {SECRET}.", 2))

    assert (outcome.stored, outcome.error) == (False, "unseen-prompt")
    assert leaks(left()) == []
    assert places(notes(vault)) == stored
    assert capture(prompt("Another session", session_id=OTHER)).stored
    told = feedback.message(
        settings, agents.load("claude-code").read(prompt("again", 3), {}), capture(prompt("again", 3))
    )
    assert "nothing more of this session is stored, because what is private in it can no longer be" in str(told)
    assert [one.severity for one in unstored.lost(settings)].count("error") >= 1
    assert "is lost: the rest is not stored" in Path(settings.state_dir, "log").read_text()


@pytest.mark.parametrize("field", ["task", "description", "summary", "error_message", "modified_files"])
def test_what_is_private_in_the_report_of_a_cursor_sub_agent_is_masked_from_then_on(
    hook: Hook, vault: Path, tmp_path: Path, left: Callable[[], bytes], field: str
) -> None:
    told = f"Log in as <private>{SECRET}</private>"
    base = {"conversation_id": SESSION, "generation_id": "turn-1", "workspace_roots": [str(tmp_path)]}
    report = {"subagent_type": "explore", "status": "completed", "task": "look", "summary": "done", field: told}

    hook(base | {"hook_event_name": "beforeSubmitPrompt", "prompt": "log in and look"}, "cursor")
    hook(base | {"hook_event_name": "subagentStop"} | report, "cursor")
    hook(base | {"hook_event_name": "afterAgentResponse", "text": f"Logged in as {SECRET}."}, "cursor")

    assert places(notes(vault)) == ["001-000-prompt", "001-001-response"]
    assert leaks(left()) == []


def test_a_record_that_a_full_disk_cut_off_costs_no_note(vault: Path) -> None:
    """Wherever a line of the session's record ends, later events are numbered, and what is private stays hidden."""
    capture(prompt("Try it. <private>the code word is gibbon</private>"))
    (record,) = [path for path in Path(config.load().state_dir, "sessions").iterdir() if "." not in path.name]
    whole = record.read_bytes()
    cuts = [end for end in range(1, len(whole)) if whole[end - 1 : end] != b"\n"]
    for end in cuts[::5]:
        record.write_bytes(whole[:end])
        for use in ("first", "second"):
            outcome = capture(bash(f"output of run {end}: the code word is gibbon", f"toolu_{end}_{use}"))
            assert outcome.stored, whole[:end]
    names = [path.name for path in notes(vault)]
    assert len(names) == len({name[:7] for name in names}) == 2 * len(cuts[::5]) + 1
    assert "gibbon" not in "".join(contents(notes(vault)))


def test_a_record_that_a_full_disk_does_not_take_doubles_no_number(vault: Path) -> None:
    capture(prompt("Try it."))
    (record,) = [path for path in Path(config.load().state_dir, "sessions").iterdir() if "." not in path.name]

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (record.stat().st_size, 1 << 20))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    record.write_bytes(record.read_bytes() + b"\ntold\t0\n" * 1000)  # longer than a note, which has room
    for number in range(3):
        limited(bash(f"output of run {number}", f"toolu_{number}"), full)
    capture(bash("output of run 3", "toolu_3"))

    assert [path.name[:7] for path in notes(vault)] == [f"001-{number:03d}" for number in range(5)]
