"""The hook: a process that stores, or keeps aside, and never hurts the agent."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import frontmatter
import pytest

import mdmem
from mdmem import config, launch
from mdmem.agents import payload as payloads
from mdmem.capture import hook as capturing
from mdmem.capture import losses
from mdmem.vault.note import CAPTURED
from mdmem.views import storing
from tests.conftest import PAYLOADS, notes, own_settings
from tests.helpers.claude import (
    SESSION,
    bash,
    drop_rights,
    let_nobody_in,
    limited,
    payload,
    places,
    prompt,
    registered,
    send,
    stop,
)

Hook = Callable[..., subprocess.CompletedProcess[str]]
RECORDED = sorted((PAYLOADS / "claude_code").glob("*.json"))


# An interpreter as the registered commands start it, which forks a process for each run: to start and to load what is
# needed costs most of a hook.
FORKS = """
import os, sys
sys.path += sys.argv[1].split(os.pathsep)
from mdmem.agents import claude_code
from mdmem.capture import events, hook, page, projects
from mdmem.capture.tools import table
from mdmem.privacy.secrets import values
from mdmem.inject import context, process, turns
for place in sys.argv[2:]:
    for verb, main in (("hook", hook.main), ("inject", process.main)):
        child = os.fork()
        if not child:
            for number, name in enumerate(("payload", verb + ".out", verb + ".err")):
                os.dup2(os.open(os.path.join(place, name), os.O_RDWR | os.O_CREAT), number)
            main(["claude-code"], os.path.join(place, "vault"))
        print(os.waitpid(child, 0)[1])
"""


@pytest.mark.slow
def test_every_recorded_payload_ends_well_and_in_silence(tmp_path: Path) -> None:
    for path in RECORDED:
        (tmp_path / path.stem / "vault").mkdir(parents=True)
        (tmp_path / path.stem / "vault" / "mdmem.toml").touch()
        shutil.copyfile(path, tmp_path / path.stem / "payload")
    package = Path(mdmem.__file__).parent.parent
    found = f"{package}{os.pathsep}{Path(frontmatter.__file__).parent.parent}"

    words = ["-I", "-S", "-c", FORKS, found, *(str(tmp_path / path.stem) for path in RECORDED)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=240)

    assert (done.stdout.split(), done.stderr) == (["0"] * 2 * len(RECORDED), "")
    for path in RECORDED:
        for verb in ("hook", "inject"):
            out, err = ((tmp_path / path.stem / f"{verb}.{name}").read_bytes() for name in ("out", "err"))
            assert err == b"", path
            assert out == b"" or isinstance(json.loads(out), dict), path
        for note in (tmp_path / path.stem / "vault").rglob("*.md"):
            parsed = frontmatter.loads(note.read_text("utf-8"))
            assert parsed["id"]
            assert parsed["kind"] in ("session", "project", *CAPTURED)
    assert len(list(tmp_path.glob("UserPromptSubmit-*/vault/journal"))) > 5


def test_there_are_recorded_payloads() -> None:
    assert len(RECORDED) > 70


def test_a_prompt_becomes_a_note_in_its_sessions_folder(vault: Path, hook: Hook) -> None:
    hook(payload("SessionStart", source="startup"), env={"MDMEM_NOW": "1789372800"})
    hook(prompt("Why does the date parser fail on 2026-02-29?"), env={"MDMEM_NOW": "1789372801"})

    (path,) = notes(vault)
    parent = path.parent.relative_to(vault).as_posix()
    assert parent == "journal/notes-app/2026-09-14/0800-why-does-the-date-parser-fail-on-2026-02-00893aaf"
    assert path.name.startswith("001-000-prompt-why-does-the-date-parser-fail-on-2026-02-")
    note = frontmatter.loads(path.read_text())
    assert note.content == "Why does the date parser fail on 2026-02-29?"
    assert {key: note[key] for key in ("kind", "title", "project", "session", "prompt", "agent", "cwd", "tags")} == {
        "kind": "prompt",
        "title": "Why does the date parser fail on 2026-02-29?",
        "project": "notes-app",
        "session": SESSION,
        "prompt": 1,
        "agent": "claude-code",
        "cwd": "/home/dev/work/notes-app",
        "tags": ["prompt"],
    }
    assert note["created"] == datetime(2026, 9, 14, 8, 0, 1, tzinfo=UTC)
    assert path.name.endswith(f"-{note['id']}.md")
    assert oct(path.stat().st_mode)[-3:] == "600"


def test_the_order_of_files_is_the_order_of_events(vault: Path, hook: Hook) -> None:
    hook(prompt("first"))
    hook(bash("a", "toolu_1"))
    hook(bash("b", "toolu_2"))
    hook(stop("done"))
    hook(prompt("second", 2))
    hook(bash("c", "toolu_3", 2))

    assert places(notes(vault)) == [
        "001-000-prompt",
        "001-001-bash",
        "001-002-bash",
        "001-003-response",
        "002-000-prompt",
        "002-001-bash",
    ]


def test_an_empty_session_leaves_nothing(vault: Path, hook: Hook) -> None:
    hook(payload("SessionStart", source="startup"))
    hook(payload("SessionEnd", reason="other"))
    assert [path.name for path in vault.iterdir()] == ["mdmem.toml"]


def test_the_same_event_delivered_twice_leaves_one_note(vault: Path, hook: Hook) -> None:
    for event in (prompt("once"), bash("out"), stop("done")):
        hook(event)
        before = {path: path.read_bytes() for path in notes(vault)}
        hook(event)
        assert {path: path.read_bytes() for path in notes(vault)} == before
    assert len(notes(vault)) == 3


def test_an_event_without_ids_is_known_by_its_words(vault: Path, hook: Hook) -> None:
    event = payload("UserPromptSubmit", prompt="yes")
    hook(event, env={"MDMEM_NOW": "1789372800"})
    hook(event, env={"MDMEM_NOW": "1789372801"})
    assert len(notes(vault)) == 1, "delivered twice"
    hook(event, env={"MDMEM_NOW": "1789372860"})
    assert len(notes(vault)) == 2, "typed again a minute later"


def test_a_note_that_its_owner_deleted_is_not_brought_back(vault: Path, hook: Hook) -> None:
    hook(prompt("secret plan"))
    notes(vault)[0].unlink()
    hook(prompt("secret plan"))
    assert notes(vault) == []


@pytest.mark.slow
def test_the_same_event_from_many_hooks_at_the_same_moment_leaves_one_note(vault: Path) -> None:
    command = ["/bin/sh", "-c", registered("hook", "claude-code")]
    data = json.dumps(prompt("only once")).encode()

    def send(_: int) -> int:
        return subprocess.run(command, input=data, capture_output=True).returncode

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(send, range(16))) == {0}
    assert len(notes(vault)) == 1
    assert len(list(vault.glob("journal/*/*/*"))) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n",
        b"{}",
        b'{"hook_event_name": "UserPromptSubmit"}',
        b'{"hook_event_name": ["UserPromptSubmit"], "session_id": {}, "cwd": 7, "prompt": [1]}',
    ],
)
def test_a_payload_without_an_event_leaves_nothing_and_says_nothing(vault: Path, hook: Hook, data: bytes) -> None:
    assert hook(data).stdout == ""
    assert notes(vault) == []
    assert list(losses.recent(config.load(), time.time())) == []


CUT = json.dumps(prompt("half")).encode()[:-9]
DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    ("data", "event"),
    [
        (CUT, "UserPromptSubmit"),
        (json.dumps(bash("x")).encode()[:-9], "PostToolUse"),
        (CUT.replace(b"prompt", b'deep": ' + DEEP + b', "prompt', 1) + b'"}', "UserPromptSubmit"),
        (b"{", "unknown"),
        (b"null", "unknown"),
        (b"[1, 2]", "unknown"),
        (b'"text"', "unknown"),
        (b"\x00\x01\x02\xff", "unknown"),
        (b"[" * 100_000, "unknown"),
        (b'{"a":' * 50_000, "unknown"),
    ],
    ids=lambda data: data[:12].decode("latin-1") + f"…{len(data)}" if isinstance(data, bytes) else data,
)
def test_an_event_that_cannot_be_read_is_told_and_recorded_as_lost(
    vault: Path, hook: Hook, data: bytes, event: str
) -> None:
    said = json.loads(hook(data).stdout)["systemMessage"]

    assert "cut off, damaged or in an unknown form" in said
    assert "it is lost" in said
    assert notes(vault) == []
    (row,) = losses.recent(config.load(), time.time())
    assert (row["agent"], row["event"], row["why"]) == ("claude-code", event, "NoPayloadError")


def test_events_of_one_session_that_cannot_be_read_are_told_once_and_all_recorded(vault: Path, hook: Hook) -> None:
    assert [bool(hook(CUT).stdout) for _ in range(3)] == [True, False, False]
    assert len(losses.recent(config.load(), time.time())) == 3


def test_an_event_that_would_not_be_stored_is_not_lost_if_it_cannot_be_read(vault: Path, hook: Hook) -> None:
    of_sub_agent = CUT.replace(b"{", b'{"agent_id": "a1", ', 1)

    assert hook(of_sub_agent).stdout == ""
    assert hook(CUT, env={"MDMEM_DISABLED": "1"}).stdout == ""
    assert losses.recent(config.load(), time.time()) == []


@pytest.mark.parametrize("name", ["SessionStart", "PreCompact", "SessionEnd"])
def test_an_event_that_leaves_no_note_is_not_lost_if_it_cannot_be_read(vault: Path, hook: Hook, name: str) -> None:
    assert hook(CUT.replace(b"UserPromptSubmit", name.encode(), 1)).stdout == ""
    assert losses.recent(config.load(), time.time()) == []


def test_an_event_of_an_excluded_project_is_not_lost_if_it_cannot_be_read(
    vault: Path, hook: Hook, tmp_path: Path
) -> None:
    (vault / "mdmem.toml").write_text('[capture]\nexclude_projects = ["client"]\n')
    inside, elsewhere = (b'{"cwd": "%s", ' % os.fsencode(tmp_path / name) + CUT[1:] for name in ("client", "other"))

    assert hook(inside).stdout == ""
    assert json.loads(capturing.run(["claude-code", "--report"], inside))["ignored"] == "excluded"
    assert losses.recent(config.load(), time.time()) == []
    assert "it is lost" in hook(elsewhere).stdout


def test_a_payload_over_the_limit_is_told_and_recorded_with_its_event_and_its_length(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payloads, "MAX_PAYLOAD_BYTES", 4096)

    said = json.loads(capturing.run(["claude-code"], json.dumps(prompt("x" * 9000)).encode()))["systemMessage"]

    assert "longer than 64 MB" in said
    (row,) = losses.recent(config.load(), time.time())
    assert (row["event"], row["why"]) == ("UserPromptSubmit", "PayloadTooLongError")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + json.dumps(prompt("marked")).encode(),
        json.dumps(prompt("marked")).encode("utf-16"),
        b"  \n" + json.dumps(prompt("marked")).encode() + b"\n\n",
        json.dumps(prompt("marked") | {"x": float("nan"), "big": 10**600}).encode(),
        b'{"prompt": "other", ' + json.dumps(prompt("marked")).encode()[1:],
        json.dumps(prompt("marked") | {"effort": [[[{}]]], "permission_mode": 3}).encode(),
    ],
    ids=["bom", "utf-16", "white space", "nan and a huge number", "a key twice", "odd fields"],
)
def test_a_payload_in_an_odd_form_is_understood(vault: Path, hook: Hook, data: bytes) -> None:
    hook(data)
    assert [frontmatter.loads(path.read_text()).content for path in notes(vault)] == ["marked"]


def test_half_characters_do_not_cost_the_note(vault: Path, hook: Hook) -> None:
    hook(json.dumps(prompt("a \ud800 b")))
    assert [frontmatter.loads(path.read_text()).content for path in notes(vault)] == ["a \ufffd b"]


@pytest.mark.slow
def test_a_payload_of_many_megabytes_is_stored_cut(vault: Path, hook: Hook) -> None:
    hook(bash("line of output\n" * 1_000_000))
    (path,) = notes(vault)
    assert path.stat().st_size < 64 * 1024


@pytest.mark.parametrize(
    "session", ["../../../../etc", "a/b", "x" * 4096, "nul\0byte", "..", ".", " ", "C:\\x", "\ud800", "ünï\n---\nid: 1"]
)
def test_no_session_id_leads_outside_the_vault(vault: Path, hook: Hook, session: str) -> None:
    before = set(vault.parent.iterdir())
    hook(json.dumps(prompt("hostile", session_id=session) | {"session_id": session, "cwd": f"/tmp/../{session}"}))
    assert len(notes(vault)) == 1
    assert set(vault.parent.iterdir()) == before
    for path in vault.rglob("*"):
        assert len(os.fsencode(path.relative_to(vault))) < 240


def test_a_symlink_in_the_vault_is_not_followed(vault: Path, hook: Hook, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault / "journal").symlink_to(outside)
    assert "cannot write" in hook(prompt("where to?")).stdout
    assert list(outside.iterdir()) == []


def test_a_vault_that_is_gone_costs_no_note(vault: Path, hook: Hook, tmp_path: Path) -> None:
    away = tmp_path / "away"
    vault.rename(away)
    first = hook(prompt("one <private>hidden words</private>", 1))
    second = hook(bash("two"))
    assert "cannot write" in json.loads(first.stdout)["systemMessage"]
    assert second.stdout == "", "said once"
    spooled = b"".join(path.read_bytes() for path in Path(os.environ["HOME"]).rglob("*.json"))
    assert b"one [PRIVATE]" in spooled
    assert b"hidden words" not in spooled

    away.rename(vault)
    hook(stop("three"))
    assert places(notes(vault)) == [
        "001-000-prompt",
        "001-001-bash",
        "001-002-response",
    ]
    assert not list(Path(os.environ["HOME"]).rglob("*.json"))


def test_a_read_only_vault_costs_no_note(vault: Path, home: Path) -> None:
    let_nobody_in(vault, home)
    home.chmod(0o777)
    (home / "run").chmod(0o777)
    vault.chmod(0o555)
    said = limited(prompt("will be retried"), drop_rights)
    vault.chmod(0o755)
    assert "will be retried" in json.loads(said)["systemMessage"]
    assert notes(vault) == []
    assert len(list(home.rglob("spool/*.json"))) == 1


def test_state_deleted_in_the_middle_of_a_session_costs_nothing(vault: Path, hook: Hook, home: Path) -> None:
    hook(prompt("first"))
    hook(bash("a", "toolu_1"))
    shutil.rmtree(home / ".local")
    hook(bash("a", "toolu_1"))
    hook(bash("b", "toolu_2"))
    hook(prompt("second", 2))
    assert places(notes(vault)) == [
        "001-000-prompt",
        "001-001-bash",
        "001-002-bash",
        "002-000-prompt",
    ]


def test_front_matter_as_editors_write_it_costs_the_registered_hook_nothing(vault: Path, home: Path) -> None:
    def rewrite(path: Path, line: str, lines: str) -> None:
        text = path.read_text("utf-8")
        assert line in text
        path.write_text(text.replace(line, lines), "utf-8")

    send(prompt("first"))
    (first,) = notes(vault)
    page, project, who = (
        first.parent / f"{first.parent.name}.md",
        vault / "journal/notes-app/project.md",
        "path:/home/dev/work/notes-app",
    )
    rewrite(first, "tags: [prompt]", "tags:\n  - prompt\n  - mine # kept")
    rewrite(page, "tags: [session]", "tags:\n  - session")
    rewrite(project, f"identity: [{who}]", f"identity:\n  - {who}\n  - github.com/a/b")
    shutil.rmtree(home / ".local")

    assert send(bash("a", "toolu_1")).stdout == send(stop("done")).stdout == b""
    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash", "001-002-response"]
    assert f"[first]({first.name})" in page.read_text("utf-8")


def test_state_that_cannot_be_written_costs_nothing_but_time(vault: Path, hook: Hook, home: Path) -> None:
    (home / ".local").write_text("a file where a folder should be")
    for n in (1, 2):
        hook(prompt(f"prompt {n}", n))
        hook(bash("out", f"toolu_{n}", n))
    assert [path.name[:7] for path in notes(vault)] == ["001-000", "001-001", "002-000", "002-001"]


@pytest.mark.parametrize("missing", ["HOME", "PATH", "XDG_RUNTIME_DIR"])
def test_a_bare_environment_costs_nothing(vault: Path, missing: str) -> None:
    command = registered("hook", "claude-code", str(vault))
    env = {name: value for name, value in os.environ.items() if name != missing}
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=json.dumps(prompt("bare")).encode(), capture_output=True, env=env
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(notes(vault)) == 1


def test_closed_streams_do_no_harm(vault: Path) -> None:
    command = registered("hook", "claude-code")
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        assert subprocess.run(["/bin/sh", "-c", f"{command} {closed}"], stdin=subprocess.DEVNULL).returncode == 0


def test_a_clock_that_goes_backwards_leaves_the_order_of_events(vault: Path, hook: Hook) -> None:
    for n, now in enumerate((1_789_372_800, 1_789_369_200, 2_100_000_000), 1):
        hook(prompt(f"prompt {n}", n), env={"MDMEM_NOW": str(now)})
    assert [frontmatter.loads(path.read_text()).content for path in notes(vault)] == [f"prompt {n}" for n in (1, 2, 3)]


def test_the_report_says_what_happened(vault: Path, mdmem: Hook) -> None:
    done = mdmem("hook", "claude-code", "--report", input=json.dumps(prompt("a <private>b</private> password=hunter2")))
    report = json.loads(done.stdout)
    (path,) = notes(vault)
    assert report["stored"] is True
    assert report["path"] == path.relative_to(vault).as_posix()
    assert (report["kind"], report["private"], report["redacted"], report["error"]) == ("prompt", 1, 1, None)
    assert report["feedback"].startswith("mdmem: 1 private section (1 character) was kept out of memory.")


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file of Linux that cannot be read")
def test_an_event_that_cannot_be_read_at_all_is_told_as_lost(vault: Path) -> None:
    unreadable = os.open("/proc/self/mem", os.O_RDONLY)  # nothing is at its beginning
    for verb, is_told in (("hook", True), ("inject", False)):
        done = subprocess.run(["/bin/sh", "-c", registered(verb)], stdin=unreadable, capture_output=True, check=True)
        assert done.stderr == b""
        assert (b"this event is lost" in done.stdout) == is_told
    subprocess.run(["/bin/sh", "-c", registered("hook", "copilot")], stdin=unreadable, capture_output=True, check=True)
    os.close(unreadable)
    assert notes(vault) == []
    lost = storing.lost_events(config.load(str(vault)))
    assert [one["agent"] for one in lost] == ["claude-code", "copilot"]
    assert {one["why"] for one in lost} == {launch.FAILED}


def test_the_report_for_an_unknown_agent_says_so(vault: Path, mdmem: Hook) -> None:
    done = mdmem("hook", "nobody", "--report", input=json.dumps(prompt("a")))
    assert json.loads(done.stdout) == {"stored": False, "error": "unknown agent"}


def test_what_becomes_of_a_tag_that_is_not_closed_is_told_as_it_is(vault: Path, hook: Hook) -> None:
    assert "after it was kept out" in hook(prompt("a <private>b")).stdout
    own_settings('[privacy]\nunclosed = "keep"\n')
    assert "its text was stored" in hook(prompt("c <private>d", 2)).stdout


def test_a_prompt_in_a_form_that_is_not_known_is_told_as_lost(vault: Path, home: Path) -> None:
    said = json.loads(send(prompt("", prompt={"parts": 3})).stdout)

    assert "it is lost" in said["systemMessage"]
    assert notes(vault) == []
    (log,) = home.rglob("state/mdmem/*/log")
    assert "an event is lost: its prompt is neither text nor content blocks" in log.read_text("utf-8")


def test_the_hook_loads_nothing_heavy(vault: Path) -> None:
    code = (
        "import os, sys; from mdmem.capture import hook\n"
        "os._exit = lambda _: print(*sorted(sys.modules), file=sys.__stderr__)\n"
        "hook.main(['claude-code'])"
    )
    event = (PAYLOADS / "claude_code" / "PostToolUse-Edit-01.json").read_bytes()
    package = str(Path(mdmem.__file__).parent.parent)
    words = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {package!r})\n{code}"]
    done = subprocess.run(words, input=event, capture_output=True, text=False)
    loaded = set(done.stderr.decode().split())
    assert len(notes(vault)) == 1
    assert "mdmem.capture.events" in loaded
    slow = {"whoosh", "watchdog", "yaml", "frontmatter", "git", "mcp", "click", "rich", "dataclasses", "logging"}
    slow |= {
        "subprocess",
        "argparse",
        "asyncio",
        "typing",
        "pathlib",
        "json",
        "datetime",
        "hashlib",
        "tempfile",
        "enum",
    }
    assert loaded & slow == set()
