"""Import: saved sessions come into the vault as if hooks had been there, once, and without what is private."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.capture import events
from mdmem.cli import importing as command
from mdmem.errors import NotFoundError
from mdmem.history import commit, deletions
from mdmem.history.git import lock
from mdmem.history.purging import purge, purge_record
from mdmem.transcripts import replay, sources
from mdmem.transcripts.imported import ImportedFiles
from mdmem.transcripts.importer import Import
from mdmem.transcripts.markdown import memories
from mdmem.transcripts.saved import ReadOptions, SavedEvent
from mdmem.vault import journal, note
from tests.conftest import notes, session_pages
from tests.helpers.history_vault import git, run_here, start
from tests.helpers.transcript_files import BACKGROUND, FILES, LATER, ODD, TOOLS, Talk, bring, contents
from tests.helpers.waiting import until

Run = Callable[..., subprocess.CompletedProcess[str]]
WRITTEN = 1_789_600_000  # after all that the files hold
SECRET = "the-badger-moves-at-dawn"


def metas(vault: Path) -> list[dict[str, Any]]:
    return [note.parse(path.read_bytes()).meta for path in notes(vault)]


def titles(vault: Path, kind: str) -> list[str]:
    return [str(meta["title"]) for meta in metas(vault) if meta["kind"] == kind]


def test_every_prompt_and_tool_run_becomes_a_note_with_the_transcripts_times(vault: Path) -> None:
    tally = bring(TOOLS)

    assert dict(tally.added) == {"prompt": 3, "observation": 4, "response": 2}
    found = metas(vault)
    assert [meta["created"] for meta in found if meta.get("tool") == "Edit"] == ["2026-09-14T08:01:40Z"]
    assert {meta["session"] for meta in found} == {"7c1f2a9e-4b63-4d0e-9a55-2f6d1c8be301"}
    assert {(meta["agent"], meta["branch"]) for meta in found} == {("claude-code", "main")}
    page = session_pages(vault)[0].read_text(encoding="utf-8")
    assert "Began 2026-09-14 08:00 UTC" in page
    assert "Ended 2026-09-14 08:03 UTC (as the transcript ends)" in page


def test_importing_twice_adds_nothing_and_changes_nothing(vault: Path) -> None:
    paths = [TOOLS, BACKGROUND, *(FILES / "codex").rglob("*.jsonl"), *(FILES / "gemini").rglob("session-*")]
    bring(*paths)
    before = contents(vault)

    again = bring(*paths, again=True)

    assert not +again.added
    assert contents(vault) == before


def test_what_was_imported_wholly_is_not_read_again(vault: Path) -> None:
    bring(TOOLS)

    second = bring(TOOLS)

    assert (second.files, second.known, second.sessions) == (0, 0, 0)


def test_a_lost_state_folder_costs_nothing_but_time(vault: Path) -> None:
    bring(TOOLS, BACKGROUND)
    before = contents(vault)
    shutil.rmtree(config.load().state_dir)

    tally = bring(TOOLS, BACKGROUND)

    assert not +tally.added
    assert contents(vault) == before


def test_a_session_whose_folder_has_a_name_of_ones_own_is_not_imported_twice_without_state(vault: Path) -> None:
    bring(TOOLS)
    folder = session_pages(vault)[0].parent
    folder.rename(folder.with_name("the parser"))
    before = contents(vault)
    shutil.rmtree(config.load().state_dir)

    assert not +bring(TOOLS).added
    assert contents(vault) == before


def test_a_note_that_its_owner_deleted_does_not_come_back(vault: Path) -> None:
    bring(TOOLS)
    gone = next(path for path in notes(vault) if "-bash-" in path.name)
    gone.unlink()

    tally = bring(TOOLS, again=True)

    assert not gone.exists()
    assert not +tally.added


def test_a_session_that_its_owner_deleted_comes_back_only_when_that_is_asked_for(vault: Path) -> None:
    bring(TOOLS)
    before = contents(vault)
    shutil.rmtree(session_pages(vault)[0].parent)

    assert not +bring(TOOLS).added
    assert sum(bring(TOOLS, again=True).added.values()) == 9
    assert contents(vault) == before


@pytest.mark.parametrize("whole", [False, True])
def test_what_its_owner_deleted_stays_away_when_nothing_but_history_recalls_it(vault: Path, whole: bool) -> None:
    settings = start(vault)
    bring(TOOLS)
    commit.commit(settings)
    (page,) = session_pages(vault)
    gone = sorted(page.parent.iterdir()) if whole else [next(path for path in notes(vault) if "-prompt-" in path.name)]
    for path in gone:
        path.unlink()
    before = contents(vault, pages=False)
    shutil.rmtree(settings.state_dir)

    tally = bring(TOOLS, deleted=deletions.find_all(settings))

    assert not +tally.added
    assert contents(vault, pages=False) == before


def test_a_session_that_was_stored_and_deleted_on_one_side_of_a_merge_stays_away(vault: Path) -> None:
    settings = start(vault)
    (vault / "mdmem.toml").touch()
    commit.commit(settings)
    git(vault, "checkout", "-q", "-b", "side")
    bring(TOOLS)
    commit.commit(settings)
    git(vault, "rm", "-q", "-r", "journal")
    git(vault, "commit", "-q", "-m", "none of it")
    git(vault, "checkout", "-q", "-")
    git(vault, "commit", "-q", "--allow-empty", "-m", "other")
    git(vault, "merge", "-q", "side", "-m", "merge")
    shutil.rmtree(settings.state_dir)

    assert not +bring(TOOLS, deleted=deletions.find_all(settings)).added


STORED = "7c1f2a9e-4b63-4d0e-9a55-2f6d1c8be301"
"""The session of `TOOLS`."""


def test_a_forgotten_session_stays_away_whatever_stored_it_until_that_is_undone(vault: Path) -> None:
    settings = start(vault)
    for number, said in enumerate(("Another id than the transcript's", "So has this")):
        event = Event(agent="claude-code", name="UserPromptSubmit", session=STORED, cwd="/home/dev", prompt=said)
        event.prompt_id = f"by-hook-{number}"
        events.capture(settings, event, WRITTEN + number, {})
    run_here("forget", STORED, "-y", check=True)
    bring_again = ("import", str(TOOLS), "-y", "--json")

    told = json.loads(run_here(*bring_again, check=True).stdout)
    assert (told["added"], notes(vault)) == ({}, [])
    assert told["skipped"]["event of a session that you deleted (--again imports it)"] >= 9

    (oid,) = git(vault, "log", "--format=%h", "--grep=^Forget").split()
    run_here("undo", oid, "-y", check=True)
    assert json.loads(run_here(*bring_again, check=True).stdout)["added"]["prompt"] == 3
    assert len(titles(vault, "prompt")) == 5


def test_a_forgotten_session_that_goes_on_is_stored_from_then_on(vault: Path, tmp_path: Path) -> None:
    settings = start(vault)
    talk = Talk()
    talk.typed("Before it was forgotten")
    talk.said("An answer")
    bring(talk.save(tmp_path))
    run_here("forget", talk.session[:8], "-y", check=True)
    talk.at = time.time() + 600
    talk.typed("After it was forgotten")
    talk.said("Another answer")

    bring(talk.save(tmp_path), deleted=deletions.find_all(settings), now=LATER)

    assert titles(vault, "prompt") == ["After it was forgotten"]
    commit.commit(settings)
    assert list(deletions.find_all(settings).sessions)


def test_again_imports_a_forgotten_session(vault: Path) -> None:
    start(vault)
    run_here("import", str(TOOLS), "-y", check=True)
    run_here("forget", STORED, "-y", check=True)

    assert json.loads(run_here("import", str(TOOLS), "-y", "--json", check=True).stdout)["added"] == {}
    run_here("import", str(TOOLS), "-y", "--again", check=True)

    assert len(notes(vault)) == 9


@pytest.mark.slow
def test_a_purged_note_stays_away_though_nothing_names_it_any_more(vault: Path) -> None:
    settings = start(vault)
    bring(TOOLS)
    commit.commit(settings)
    gone = next(path for path in notes(vault) if "-bash-" in path.name)
    purge.apply(settings, purge.plan(settings, journal.id_in(gone.name), kind="id"))
    shutil.rmtree(settings.state_dir)

    assert not +bring(TOOLS, again=True, purged=purge_record.was_purged(settings)).added
    assert not list(vault.rglob("*-bash-*"))


def test_importing_again_keeps_edits_made_by_hand(vault: Path) -> None:
    bring(TOOLS)
    page = session_pages(vault)[0]
    page.write_text(page.read_text(encoding="utf-8") + "My own words.\n", encoding="utf-8")
    edited = notes(vault)[0]
    edited.write_text("mine now\n", encoding="utf-8")

    bring(TOOLS, again=True)

    assert page.read_text(encoding="utf-8").endswith("My own words.\n")
    assert edited.read_text(encoding="utf-8") == "mine now\n"


# -- together with hooks ---------------------------------------------------------------------------


def payloads(talk: Talk, *, prompt_ids: bool) -> list[tuple[float, dict[str, Any]]]:
    """Return what hooks were sent while a transcript was written, at the seconds that it names."""
    sent: list[tuple[float, dict[str, Any]]] = []
    prompt = ""
    uses: dict[str, dict[str, Any]] = {}
    base = {"session_id": talk.session, "cwd": talk.cwd, "transcript_path": "", "permission_mode": "default"}

    def send(line: dict[str, Any], name: str, **fields: Any) -> None:
        seconds = time.mktime(time.strptime(line["timestamp"][:19], "%Y-%m-%dT%H:%M:%S"))
        ids = {"prompt_id": prompt} if prompt_ids and prompt else {}
        sent.append((seconds, {**base, **ids, "hook_event_name": name, **fields}))

    send(talk.lines[0], "SessionStart", source="startup")
    for line in talk.lines:
        content = line["message"]["content"]
        if line["type"] == "user" and isinstance(content, str):
            prompt = line["promptId"]
            send(line, "UserPromptSubmit", prompt=content)
        elif line["type"] == "user":
            use = content[0]["tool_use_id"]
            tool = {"tool_name": uses[use]["name"], "tool_input": uses[use]["input"], "tool_use_id": use}
            send(line, "PostToolUse", **tool, tool_response=line["toolUseResult"])
        elif content[0]["type"] == "tool_use":
            uses[content[0]["id"]] = content[0]
        else:
            send(line, "Stop", last_assistant_message=content[0]["text"])
    return sent


def conversation(tmp_path: Path) -> Talk:
    project = tmp_path / "work" / "talk"
    (project / ".git" / "objects").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    talk = Talk(cwd=str(project))
    talk.typed(f"Why does it fail? <private>{SECRET}</private>")
    talk.ran("pytest -q", f"1 failed: {SECRET}")
    talk.said("The test is wrong.")
    talk.typed("Fix it")
    talk.ran("sed -i s/a/b/ test.py", "")
    talk.ran("pytest -q", "12 passed")
    talk.said("Fixed: 12 tests pass.")
    talk.typed("Thanks")
    talk.said("You are welcome.")
    return talk


@pytest.mark.slow
@pytest.mark.parametrize("prompt_ids", [True, False], ids=["with prompt ids", "before hooks had them"])
def test_a_session_that_hooks_stored_gains_only_what_is_missing(
    vault: Path, tmp_path: Path, hook: Run, prompt_ids: bool
) -> None:
    talk = conversation(tmp_path)
    for seconds, payload in payloads(talk, prompt_ids=prompt_ids):
        if payload.get("tool_input") != {"command": "sed -i s/a/b/ test.py"}:
            hook(payload, env={"MDMEM_NOW": str(seconds)})
    before = contents(vault, pages=False)

    tally = bring(talk.save(tmp_path / "projects"))

    after = contents(vault, pages=False)
    assert dict(+tally.added) == {"observation": 1}
    assert before.items() <= after.items()
    (added,) = after.keys() - before.keys()
    assert re.search(r"/002-00\d-bash-sed-", added)


def test_hooks_and_import_leave_the_same_notes(
    vault: Path, tmp_path: Path, hook: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = conversation(tmp_path)
    for seconds, payload in payloads(talk, prompt_ids=True):
        hook(payload, env={"MDMEM_NOW": str(seconds)})
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("MDMEM_VAULT", str(other))

    bring(talk.save(tmp_path / "projects"))

    assert contents(other, pages=False) == contents(vault, pages=False)
    assert len(notes(vault)) == 9


def test_an_import_leaves_the_marks_of_a_running_session_alone(vault: Path, tmp_path: Path, hook: Run) -> None:
    talk = Talk(begin=time.time() - 300)
    talk.typed("An open question")
    talk.said("An answer")
    base = {"session_id": talk.session, "cwd": talk.cwd, "permission_mode": "default"}
    hook({**base, "hook_event_name": "UserPromptSubmit", "prompt": f"<private>{SECRET}</private>", "prompt_id": "p9"})

    bring(talk.save(tmp_path / "projects"))

    run = {"tool_name": "Bash", "tool_input": {"command": "cat plan"}, "tool_response": {"stdout": SECRET}}
    hook({**base, "hook_event_name": "PostToolUse", "prompt_id": "p9", "tool_use_id": "t9", **run})
    assert not [path for path in notes(vault) if "cat-plan" in path.name]
    assert not list(Path(config.load().runtime_dir).glob("import-*"))


# -- what is kept out ------------------------------------------------------------------------------


def everything(*roots: Path) -> bytes:
    return b"\n".join(path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file())


def test_private_text_gets_into_no_file(vault: Path, tmp_path: Path, home: Path) -> None:
    talk = Talk()
    talk.typed(f"Deploy it <private>{SECRET}</private> tonight")
    talk.ran("cat notes.txt", f"line one\n<private>{SECRET}</private>\nand plainly {SECRET}")
    talk.answered(talk.called("mcp__x__y", {f"<private>{SECRET}": 1}), [{"type": "text", "text": SECRET}])
    talk.said(f"I read {SECRET} in it.")
    talk.typed(f"<private>{SECRET}: all of this turn</private>")
    talk.ran("echo quiet", "nothing to see: the quiet turn")
    talk.said("The quiet answer.")
    talk.typed("password=hunter2hunter2 is wrong")
    talk.said("Right.")
    markdown = tmp_path / "mine"
    markdown.mkdir()
    (markdown / "plan.md").write_text(f"---\nsecret: <private>{SECRET}</private>\n---\nA plan. <private>{SECRET}\n")

    tally = bring(talk.save(tmp_path / "projects"), markdown)

    stored = everything(vault, home)
    for words in (SECRET, "the quiet turn", "quiet answer", "hunter2hunter2"):
        assert words.encode() not in stored
    assert tally.private >= 2
    assert "Deploy it [PRIVATE] tonight" in titles(vault, "prompt")


def test_what_happened_while_storing_was_paused_is_not_filled_in(vault: Path, tmp_path: Path, ask: Run) -> None:
    talk = Talk(begin=time.time() - 100)
    talk.typed("Before")
    talk.at += 50
    talk.typed("Meanwhile")
    talk.said("Hidden")
    talk.at += 50
    talk.typed("After")
    path = talk.save(tmp_path / "projects")

    ask("pause", check=True)
    began = time.time() - 60
    os.utime(Path(config.load().state_dir) / "paused", (began, began))
    refused = ask("import", "--yes", str(path))
    ask("resume", check=True)
    tally = bring(path, now=LATER)

    assert refused.returncode == 2
    assert "mdmem resume" in refused.stderr
    assert titles(vault, "prompt") == ["Before", "After"]
    assert tally.skipped["event while storing was paused"] == 2


def test_exclusions_hold_for_imports(vault: Path, tmp_path: Path) -> None:
    (vault / "mdmem.toml").write_text(
        '[capture]\nexclude_projects = ["talk"]\nexclude_tools = ["Read"]\n', encoding="utf-8"
    )
    talk = Talk()
    talk.typed("Excluded")

    tally = bring(talk.save(tmp_path / "projects"), TOOLS)

    assert "Excluded" not in titles(vault, "prompt")
    assert not [meta for meta in metas(vault) if meta.get("tool") == "Read"]
    assert tally.skipped["run of an excluded tool"] == 1


def test_an_import_that_could_not_store_a_note_fails_and_says_so(vault: Path, tmp_path: Path, ask: Run) -> None:
    talk = Talk()
    talk.typed("Where do the otters sleep?")
    path = str(talk.save(tmp_path / "projects"))
    shutil.rmtree(vault / "journal", ignore_errors=True)
    (vault / "journal").write_text("a file where a folder should be", "utf-8")

    failed = ask("import", "--yes", path)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "1 note could not be stored" in failed.stderr

    (vault / "journal").unlink()
    ask("import", "--yes", path, check=True)
    ask("index", check=True)
    assert titles(vault, "prompt") == ["Where do the otters sleep?"]


# -- stopped and started again ---------------------------------------------------------------------


def long_talk(turns: int) -> Talk:
    talk = Talk()
    for turn in range(turns):
        talk.typed(f"Question {turn}")
        talk.ran(f"pytest -k {turn}", f"{turn} passed")
        talk.said(f"Answer {turn}")
    return talk


def test_an_import_that_was_stopped_continues_with_the_same_result(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = long_talk(6).save(tmp_path / "projects")
    calls: list[int] = []

    def stopped() -> bool:
        calls.append(1)
        return len(calls) > 7

    first = bring(path, TOOLS, stopped=stopped)
    second = bring(path, TOOLS)
    monkeypatch.setenv("MDMEM_VAULT", str(tmp_path / "whole"))
    (tmp_path / "whole").mkdir()
    bring(path, TOOLS)

    assert 0 < sum(first.added.values()) < 10
    assert sum((first.added + second.added).values()) == 27
    assert contents(tmp_path / "whole") == contents(vault)


def test_an_import_that_was_stopped_before_its_first_note_does_not_say_that_there_was_nothing_to_import(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    ask("init", str(vault), check=True)
    words = [sys.executable, "-m", "mdmem", "import", "--yes", str(long_talk(2).save(tmp_path / "projects"))]
    with lock.held(config.load().state_dir, vault / ".git"):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ))
        assert process.stderr is not None
        assert b"Waiting for another mdmem process" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)

    assert (process.returncode, notes(vault)) == (130, [])
    assert out.decode() == "Stopped. The next `mdmem import` continues from here.\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL], ids=["Ctrl-C", "killed"]
)
def test_a_process_that_was_ended_leaves_whole_notes_and_the_next_one_goes_on(
    vault: Path, tmp_path: Path, mdmem: Run, number: int
) -> None:
    path = long_talk(50).save(tmp_path / "projects")
    words = [sys.executable, "-m", "mdmem", "import", "--yes", str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)) as process:
        end = time.monotonic() + 240
        while len(notes(vault)) < 20 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(number)
        out = process.communicate(timeout=240)[0].decode()
    before = contents(vault, pages=False)

    mdmem("import", "--yes", str(path), check=True)

    if number == signal.SIGINT:
        assert process.returncode in (0, 130)
        assert "continues from here" in out or process.returncode == 0
    assert all(data.startswith(b"---\n") and data.endswith(b"\n") for data in before.values())
    assert before.items() <= contents(vault, pages=False).items()
    assert len(notes(vault)) == 150
    assert len({meta["id"] for meta in metas(vault)}) == 150
    assert not [path for path in vault.rglob("*.tmp") if number == signal.SIGINT]


def test_a_session_that_grew_gains_its_new_part(vault: Path, tmp_path: Path) -> None:
    talk = long_talk(2)
    bring(talk.save(tmp_path / "projects"))
    talk.typed("One more")
    talk.said("Here it is")

    tally = bring(talk.save(tmp_path / "projects"))

    assert dict(+tally.added) == {"prompt": 1, "response": 1}
    assert titles(vault, "prompt") == ["Question 0", "Question 1", "One more"]


def test_a_replay_and_a_hook_can_store_in_one_session_at_once(vault: Path, tmp_path: Path, hook: Run) -> None:
    talk = Talk()
    talk.typed("First")
    settings = config.load()
    base = {"session_id": talk.session, "cwd": talk.cwd, "permission_mode": "default"}

    def event(words: str, own: str) -> Event:
        name = "UserPromptSubmit"
        return Event(agent="claude-code", name=name, session=talk.session, prompt_id=own, cwd=talk.cwd, prompt=words)

    with replay.Replay(settings, talk.session, str(tmp_path)) as session:
        session.capture(event("One", "p1"), talk.at, {})
        hook({**base, "hook_event_name": "UserPromptSubmit", "prompt": "Two", "prompt_id": "p2"})
        session.capture(event("Three", "p3"), talk.at, {})
        session.capture(event("Two", "p2"), talk.at, {})

    assert titles(vault, "prompt") == ["One", "Two", "Three"]
    assert [meta["prompt"] for meta in metas(vault)] == [1, 2, 3]


# -- markdown --------------------------------------------------------------------------------------


def obsidian(root: Path) -> Path:
    for name, text in {
        "Ideas/A plan.md": "---\ntitle: The plan\ntags: [work, later]\ncreated: 2024-05-06\nrating: 5\n---\n[[B]]\n",
        "Other.md": "# Other\n\nText.\n",
        "Broken.md": "---\ntitle: [unclosed\n---\nStill here.\n",
        "Daily/2024-07-08 Monday.md": "Rain.\n",
        "Empty.md": "",
        ".obsidian/workspace.md": "not a note",
        "Private.md": "---\nprivate: true\n---\nmine\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_a_folder_of_markdown_is_copied_with_its_front_matter(vault: Path, tmp_path: Path) -> None:
    tally = bring(obsidian(tmp_path / "My Vault"))

    home = vault / "notes" / "imported" / "My Vault"
    plan = note.parse((home / "Ideas" / "A plan.md").read_bytes())
    daily = note.parse((home / "Daily" / "2024-07-08 Monday.md").read_bytes())
    assert dict(tally.added) == {"note": 4}
    assert daily.meta["created"] == "2024-07-08T00:00:00Z"
    assert plan.problem is None
    assert plan.body == "[[B]]\n"
    assert (plan.meta["kind"], plan.meta["title"], plan.meta["rating"]) == ("note", "The plan", 5)
    assert (plan.meta["created"], plan.meta["tags"]) == ("2024-05-06T00:00:00Z", ["work", "later", "imported"])
    assert "Still here." in (home / "Broken.md").read_text(encoding="utf-8")
    assert not (home / ".obsidian").exists()
    assert tally.skipped["file that says it is private"] == 1


def test_markdown_without_a_title_is_titled_by_its_heading_or_else_by_its_name(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    texts = {"a": "# How we release\n\nPecan.\n", "b": "---\ntitle: Own\n---\n# Other\n", "c": "Words.\n"}
    for name, text in texts.items():
        (tmp_path / "mine" / f"{name}.md").write_text(text)
    bring(tmp_path / "mine")
    home = vault / "notes" / "imported" / "mine"
    titles = [note.parse((home / f"{name}.md").read_bytes()).meta["title"] for name in texts]
    assert titles == ["How we release", "Own", "c"]


def test_markdown_is_copied_once_and_never_over_what_is_there(vault: Path, tmp_path: Path) -> None:
    source = obsidian(tmp_path / "mine")
    bring(source)
    mine = vault / "notes" / "imported" / "mine" / "Other.md"
    mine.write_text("My own version.\n", encoding="utf-8")
    (source / "Other.md").write_text("Changed at its source.\n", encoding="utf-8")

    again = bring(source, again=True)

    assert not +again.added
    assert mine.read_text(encoding="utf-8") == "My own version.\n"
    assert again.skipped["file that is there already"] == 4


def test_a_long_note_stays_whole(vault: Path, tmp_path: Path) -> None:
    body = "".join(f"Line {number} of a long note.\n" for number in range(10_000))
    (tmp_path / "long.md").write_text(body, encoding="utf-8")

    bring(tmp_path / "long.md")

    assert note.parse((vault / "notes" / "imported" / "long" / "long.md").read_bytes()).body == body


def test_hostile_names_stay_inside(vault: Path, tmp_path: Path) -> None:
    source = tmp_path / "bad"
    source.mkdir()
    for name in ("a\nb.md", "c:d.md", "e\\f.md", "g" * 200 + ".md", " h .md"):
        (source / name).write_text("text\n", encoding="utf-8")
    os.symlink("/etc", source / "link")

    tally = bring(source)

    assert tally.added["note"] == 5
    made = list((vault / "notes").rglob("*.md"))
    assert all(len(os.fsencode(path.relative_to(vault))) <= 240 and path.name.isprintable() for path in made)


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def agents(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return this home what three agents saved."""
    projects = home / ".claude" / "projects"
    shutil.copytree(FILES / "projects", projects)
    for path in (TOOLS, ODD):
        shutil.copy(path, projects / "-home-dev-work-notes-app")
    memory = projects / "-home-dev-work-notes-app" / "memory"
    memory.mkdir()
    (memory / "MEMORY.md").write_text("# Memory\n\n- ISO 8601 only\n", encoding="utf-8")
    shutil.copytree(FILES / "codex", home / ".codex" / "sessions")
    shutil.copytree(FILES / "gemini", home / ".gemini" / "tmp")
    for path in home.rglob("*.json*"):
        os.utime(path, (WRITTEN, WRITTEN))
    monkeypatch.chdir(home)
    return home


def test_without_a_path_what_agents_saved_is_found_and_shown_before_a_question(
    vault: Path, agents: Path, ask: Run
) -> None:
    done = ask("import", input="n\n")

    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "Nothing was changed.")
    assert re.search(r"notes-app +Claude Code +3 sessions +8 prompts +2026-09-14", done.stdout)
    assert re.search(r"notes-app +Codex CLI +2 sessions +4 prompts +2026-09-15", done.stdout)
    assert re.search(r"notes-app +Gemini CLI +1 session +2 prompts", done.stdout)
    assert "notes/imported/notes-app-memory/" in done.stdout
    assert "Import this?" in done.stderr
    nobody = ask("import", "--since", "2026-09-15")  # from cron, say
    assert (nobody.returncode, "--yes" in nobody.stderr) == (2, True)
    assert not list(vault.rglob("*.md"))


def test_a_dry_run_stores_nothing_and_prints_an_object_for_programs(vault: Path, agents: Path, ask: Run) -> None:
    done = ask("import", "--dry-run", "--json", check=True)

    projects = json.loads(done.stdout)["projects"]
    assert {(row["agent"], row["sessions"], row["prompts"]) for row in projects} >= {("Claude Code", 3, 8)}
    assert not list(vault.rglob("*.md"))


def test_an_import_ends_with_what_came_of_it(vault: Path, agents: Path, mdmem: Run, ask: Run) -> None:
    done = mdmem("import", "--yes", check=True)

    assert re.search(r"Imported 7 sessions: 1 note, 10 observations, 15 prompts, 14 answers, 2 summaries", done.stdout)
    assert "5×  unreadable line" in done.stdout
    assert (vault / "notes" / "imported" / "notes-app-memory" / "MEMORY.md").exists()
    again = ask("import", "--yes", "--json", check=True)
    assert json.loads(again.stdout)["added"] == {}


@pytest.mark.parametrize(
    ("words", "prompts"),
    [(["--limit", "1"], 2), (["--project", "un*"], 1), (["--since", "2026-09-15"], 6), (["--project", "none"], 0)],
)
def test_a_part_can_be_chosen(vault: Path, agents: Path, ask: Run, words: list[str], prompts: int) -> None:
    done = ask("import", "--yes", *words, check=True)

    assert len(titles(vault, "prompt")) == prompts
    assert "markdown are skipped" in done.stderr
    assert not (vault / "notes").exists()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["import", "/nowhere"], 5, "nothing at /nowhere"),
        (["import", "--json"], 2, "--yes or --dry-run"),
        (["import", "--since", "someday", "--yes"], 2, "as a time. Try"),
        (["--vault", "/nowhere", "import"], 4, "mdmem init"),
    ],
)
def test_an_error_says_what_to_do(vault: Path, ask: Run, words: list[str], status: int, said: str) -> None:
    done = ask(*words)

    assert (done.returncode, said in done.stderr) == (status, True)


def test_what_is_no_transcript_is_refused(vault: Path, tmp_path: Path, ask: Run) -> None:
    (tmp_path / "data.jsonl").write_text('{"a": 1}\n', encoding="utf-8")

    done = ask("import", str(tmp_path / "data.jsonl"))

    assert done.returncode == 5
    assert "no transcript" in done.stderr


def test_what_is_no_file_is_passed_over(vault: Path, agents: Path) -> None:
    """A pipe named as a transcript would keep its reader waiting for ever."""
    folder = agents / ".claude" / "projects" / "-home-dev-work-notes-app"
    os.mkfifo(folder / "0-pipe.jsonl")
    (folder / "0-folder.jsonl").mkdir()
    (folder / "0-nowhere.jsonl").symlink_to("/nowhere")

    assert bring(agents / ".claude" / "projects").added["prompt"] == 8
    assert [found.name for found in memories(agents / ".claude" / "projects")] == ["notes-app-memory"]


@pytest.mark.parametrize("session", ["\n" * 5_000, "a\0b", "../../..", "/etc", ".."])
def test_a_chat_with_an_id_that_no_folder_can_have_is_imported(vault: Path, tmp_path: Path, session: str) -> None:
    (chat,) = Path(__file__).with_name("gemini").rglob("session-*.jsonl")
    own = str(json.loads(chat.read_text("utf-8").splitlines()[0])["sessionId"])
    copy = tmp_path / "project" / "chats" / chat.name
    copy.parent.mkdir(parents=True)
    copy.write_text(chat.read_text("utf-8").replace(json.dumps(own), json.dumps(session)), "utf-8")

    assert bring(copy).added == bring(chat).added


def test_a_transcript_from_a_folder_that_cannot_exist_is_imported(vault: Path, tmp_path: Path, ask: Run) -> None:
    talk = Talk(cwd="/home/" + "é" * 3_000)
    talk.typed("Where does the parser fail?")
    talk.said("In February.")
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in talk.lines), "utf-8")

    done = ask("import", str(file), "--yes")

    assert done.returncode == 0, done.stderr
    assert titles(vault, "prompt") == ["Where does the parser fail?"]


def test_a_transcript_that_fails_while_it_is_read_stops_no_other_one_and_is_read_again(vault: Path) -> None:
    found = [sources.find([path], {}).transcripts[0] for path in (TOOLS, BACKGROUND)]

    def on_a_bad_disk(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
        yield from itertools.islice(found[0].source.read(path, options), 2)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    bad = found[0]._replace(source=found[0].source._replace(read=on_a_bad_disk))
    run = Import(config.load(), ImportedFiles(config.load()), {})
    run.transcripts([bad, found[1]], LATER)

    assert run.tally.skipped["file that cannot be read"] == 1
    assert len(titles(vault, "prompt")) > 1
    bring(TOOLS)
    assert bring(TOOLS, BACKGROUND).files == 0


def test_the_vault_is_not_imported_into_itself(vault: Path, ask: Run) -> None:
    (vault / "notes").mkdir()
    (vault / "notes" / "mine.md").write_text("mine\n", encoding="utf-8")

    done = ask("import", "--yes", str(vault / "notes"))

    assert done.returncode == 2
    assert "are in the vault already" in done.stderr


def test_a_machine_without_saved_sessions_is_told_what_would_be_found(vault: Path, ask: Run) -> None:
    ask("init", str(vault), check=True)

    assert "Nothing new to import. `mdmem help import` says what it finds." in ask("import", "--dry-run").stdout


def test_nothing_new_is_said_once_and_without_a_question(vault: Path, agents: Path, ask: Run) -> None:
    ask("import", "--yes", check=True)

    done = ask("import", check=True)

    assert "Nothing new" in done.stdout
    said = ask("import", "--yes", check=True).stdout
    assert "Nothing new to import.\n" in said
    assert "imported before; --again imports them again" in said
    assert done.stderr == ""


def test_a_folder_with_what_several_agents_saved_gives_all_of_it(vault: Path) -> None:
    tally = bring(FILES)

    assert tally.added["prompt"] == 15


@pytest.mark.slow
def test_following_stores_what_an_agent_saves_from_then_on(vault: Path, tmp_path: Path) -> None:
    talk = Talk(begin=time.time())
    talk.typed("Before")
    path = talk.save(tmp_path / "projects")
    words = [sys.executable, "-m", "mdmem", "import", "--yes", "--follow", str(tmp_path / "projects")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)) as process:
        until(lambda: titles(vault, "prompt") == ["Before"])
        talk.typed("After")
        talk.said("An answer")
        path.write_text(talk.text(), encoding="utf-8")
        until(lambda: titles(vault, "response") == ["An answer"])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=240)

    assert titles(vault, "prompt") == ["Before", "After"]
    assert process.returncode == 0


def test_the_copying_of_a_folder_of_markdown_is_reported_file_by_file(vault: Path, tmp_path: Path) -> None:
    folders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for number in range(3):
            (tmp_path / name / f"{number}.md").write_text(f"# {name} {number}\n")
        folders += sources.find([tmp_path / name], {}).folders
    told: list[tuple[int, int]] = []
    run = Import(config.load(), ImportedFiles(config.load()), {})

    run.folders(folders, lambda _, done, total: told.append((done, total)))

    assert told == [(done, 6) for done in range(6)]
    assert run.tally.added["note"] == 6


def test_following_begins_in_a_folder_that_is_empty_yet(vault: Path, tmp_path: Path) -> None:
    settings = config.load()
    asked = command.ImportRequest((tmp_path,), follow=True, yes=True)

    assert command._plan(settings, ImportedFiles(settings), asked).found == []
    with pytest.raises(NotFoundError):
        command._plan(settings, ImportedFiles(settings), asked._replace(follow=False))


def shots(root: Path) -> Path:
    """Return a folder of notes that show pictures."""
    for path, text in {
        "A.md": "![[far.png]] ![t](<att/a b.jpg>) ![[att/shot.PNG|200]] [[plan.pdf]] <private>![[key.png]]</private>",
        "B.md": "![up](../../outside.png) ![[.hidden/x.png]] `![[unused.png]]` ![web](https://example.org/w.png)",
        "att/deep/far.png": "deep",
        "att/a b.jpg": "jpg",
        "att/shot.PNG": "upper",
        ".hidden/x.png": "hidden",
        "key.png": "key",
        "unused.png": "unused",
        "plan.pdf": "pdf",
        "../../outside.png": "outside",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def test_the_pictures_that_notes_show_come_along(vault: Path, tmp_path: Path, ask: Run) -> None:
    source = shots(tmp_path / "x" / "y" / "mine")

    shown = ask("import", "--yes", str(source), check=True).stdout

    assert "Imported 2 notes, 3 pictures." in shown
    assert "1×  linked file that is neither a note nor a picture" in shown
    home = vault / "notes" / "imported" / "mine"
    pictures = [path for path in home.rglob("*") if path.is_file() and path.suffix != ".md"]
    assert {path.relative_to(home).as_posix() for path in pictures} == {
        "att/shot.PNG",
        "att/a b.jpg",
        "att/deep/far.png",
    }
    assert (home / "att" / "a b.jpg").read_text("utf-8") == "jpg"


def test_a_picture_that_is_there_is_kept_and_one_that_is_missing_comes_again(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    source = shots(tmp_path / "x" / "y" / "mine")
    ask("import", "--yes", str(source), check=True)
    home = vault / "notes" / "imported" / "mine" / "att"
    (home / "a b.jpg").write_text("edited", encoding="utf-8")
    (home / "shot.PNG").unlink()

    shown = ask("import", "--yes", "--again", str(source), check=True).stdout

    assert "Imported 1 picture." in shown
    assert ((home / "a b.jpg").read_text("utf-8"), (home / "shot.PNG").exists()) == ("edited", True)


def test_a_picture_that_no_file_can_be_stops_no_import(vault: Path, tmp_path: Path, ask: Run) -> None:
    source = tmp_path / "mine"
    source.mkdir()
    (source / "loop.png").symlink_to("loop.png")
    links = ["![[loop.png]]", "![](loop.png)", "![](a%00b.png)", f"![[{'l' * 300}.png]]", f"![]({'m/' * 3000}x.png)"]
    (source / "note.md").write_text("\n".join(links), encoding="utf-8")

    assert "Imported 1 note.\n" in ask("import", "--yes", str(source), check=True).stdout


def test_a_copied_note_that_its_owner_deleted_stays_away_when_its_source_changes(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    ask("init", check=True)
    source = obsidian(tmp_path / "mine")
    ask("import", "--yes", str(source), check=True)
    ask("forget", "--yes", "notes/imported/mine/Other.md", check=True)
    (source / "Other.md").write_text("Changed at its source.\n", encoding="utf-8")

    shown = ask("import", "--yes", str(source), check=True).stdout

    assert "1×  file whose note you deleted or moved (--again imports it)" in shown
    assert not (vault / "notes" / "imported" / "mine" / "Other.md").exists()


def test_a_deleted_copy_stays_away_though_git_composed_the_accents_of_its_name(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    ask("init", check=True)
    source, copies = tmp_path / "mine", vault / "notes" / "imported" / "mine"
    source.mkdir()
    copies.mkdir(parents=True)
    (source / "Cafe\u0301.md").write_text("Open at nine.\n", encoding="utf-8")
    (copies / "Caf\u00e9.md").write_text("Open at nine.\n", encoding="utf-8")  # as it is in commits of macOS
    ask("commit", check=True)
    (copies / "Caf\u00e9.md").unlink()

    shown = ask("import", "--yes", str(source), check=True).stdout

    assert "1×  file whose note you deleted or moved (--again imports it)" in shown


def test_a_picture_that_is_too_large_or_excluded_stays_where_it_is(vault: Path, tmp_path: Path, ask: Run) -> None:
    source = shots(tmp_path / "x" / "y" / "mine")
    (source / "att" / "shot.PNG").write_bytes(b"x" * 10_000_001)
    ask("config", "set", "--user", "capture.exclude_paths", f'["{source}/att/deep"]', check=True)

    shown = ask("import", "--yes", str(source), check=True).stdout

    assert "Imported 2 notes, 1 picture." in shown
    assert "1×  picture that sync.max_file_mb does not allow" in shown and "1×  file in an excluded folder" in shown


def test_a_note_whose_name_is_private_or_only_dashes_is_still_a_note(vault: Path, tmp_path: Path, ask: Run) -> None:
    source = tmp_path / "mine"
    source.mkdir()
    for name in ("---.md", "to [private] somebody.md"):
        (source / name).write_text(f"Kept of {len(name)}.", encoding="utf-8")

    ask("import", "--yes", str(source), check=True)

    names = {path.name for path in (vault / "notes" / "imported" / "mine").iterdir()}
    assert len(names) == 2 and all(name.endswith(".md") and name != ".md" for name in names)
