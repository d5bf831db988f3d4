"""The spool: what the vault cannot take waits, cleaned, and comes home once, in its order."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.capture import losses, queued, retry_queue
from mdmem.vault import disk as vaults
from mdmem.vault import note
from tests.conftest import notes
from tests.helpers.claude import OTHER, bash, capture, contents, payload, places, prompt, send, stop


@pytest.fixture
def away(vault: Path) -> Path:
    """Take the vault away; return the place where it waits."""
    return vault.rename(vault.with_name("away"))


def waiting() -> list[dict[str, Any]]:
    settings = config.load()
    return [json.loads(Path(retry_queue.folder(settings), name).read_bytes()) for name in retry_queue.waiting(settings)]


def test_what_waits_is_the_users_alone_and_holds_nothing_private(vault: Path, away: Path, home: Path) -> None:
    canary = "<private>canary-words</private>"
    event = bash(f"{canary} password=hunter2-canary", f"toolu-{canary}", prompt_id=canary, session_id=f"s-{canary}")
    event["cwd"] = f"/home/dev/{canary}/app"
    event["tool_input"] = {"command": f"echo {canary}", canary: canary}
    event["tool_name"] = f"mcp__x__{canary}"
    outcome = capture(event)
    assert (outcome.stored, outcome.waits, outcome.error) == (False, True, "VaultError")
    folder = Path(retry_queue.folder(config.load()))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]
    for path in home.rglob("*"):
        assert not path.is_file() or b"canary" not in path.read_bytes()
        assert "canary" not in path.name

    away.rename(vault)
    capture(prompt("next", session_id=OTHER))
    for path in vault.rglob("*"):
        assert "canary" not in path.name
        assert not path.is_file() or b"canary" not in path.read_bytes()
    assert len(notes(vault)) == 2


def test_a_queued_note_is_whole_when_it_is_synced(vault: Path, away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: dict[int, int] = {}

    def fsync(fd: int) -> None:
        file = os.fstat(fd)
        synced[file.st_ino] = file.st_size

    monkeypatch.setattr(os, "fsync", fsync)

    assert capture(bash("out")).waits

    (file,) = [path.stat() for path in Path(retry_queue.folder(config.load())).iterdir()]
    assert synced[file.st_ino] == file.st_size


@pytest.mark.parametrize("fault", [errno.EINVAL, errno.EIO])
def test_a_queued_note_whose_folder_cannot_be_synced_is_not_called_lost(
    vault: Path, away: Path, monkeypatch: pytest.MonkeyPatch, fault: int
) -> None:
    """A network share may sync no folders (EINVAL), which is no fault of the disk (EIO)."""
    sync = os.fsync

    def no_folders(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(fault, os.strerror(fault))
        sync(fd)

    monkeypatch.setattr(os, "fsync", no_folders)

    outcome = capture(bash("out"))

    assert (outcome.waits, outcome.is_lost) == (True, False)
    assert len(waiting()) == 1
    said = Path(config.load().state_dir, "log").read_text()
    assert ("may not survive a power cut" in said) == (fault == errno.EIO)


def test_queued_notes_are_written_in_the_order_of_events_with_their_own_prompts(vault: Path, away: Path) -> None:
    for n in (1, 2):
        capture(prompt(f"prompt {n}", n))
        capture(bash(f"out {n}", f"toolu_{n}", n))
    capture(bash("late", "toolu_late", 1))
    away.rename(vault)
    capture(stop("done", 2))
    assert places(notes(vault)) == [
        "001-000-prompt", "001-001-bash", "001-002-bash", "002-000-prompt", "002-001-bash", "002-002-response",
    ]  # fmt: skip
    assert not os.path.exists(retry_queue.folder(config.load()))


@pytest.mark.parametrize("event", [prompt("first"), stop("done")], ids=["prompt", "response"])
def test_an_event_without_an_id_that_comes_again_leaves_one_note_also_where_state_has_no_room(
    vault: Path, away: Path, event: dict[str, Any]
) -> None:
    event = {key: value for key, value in event.items() if key != "prompt_id"}
    capture(event)
    settings = config.load()
    (path,) = Path(retry_queue.folder(settings)).iterdir()
    data = path.read_bytes()
    away.rename(vault)
    assert queued.flush(settings).written == 1

    shutil.rmtree(Path(settings.state_dir, "sessions"))
    path.parent.mkdir()
    path.write_bytes(data)  # of one that was killed before it took the file away
    assert queued.flush(settings).written == 1

    assert len(notes(vault)) == 1


def test_a_queued_note_that_a_purge_rewrote_is_not_taken_for_edited(vault: Path, away: Path) -> None:
    capture(prompt("Where is the Falcon kept?"))
    settings = config.load()
    (path,) = Path(retry_queue.folder(settings)).iterdir()
    path.write_bytes(path.read_bytes().replace(b"Falcon", b"[REDACTED]"))
    away.rename(vault)
    queued.flush(settings)
    (found,) = notes(vault)
    assert "[REDACTED]" in found.read_text("utf-8")
    assert not note.is_edited(note.parse(found.read_bytes()))


@pytest.mark.parametrize("comes_back", [True, False])
def test_notes_wait_while_the_vault_is_the_empty_folder_of_a_disk_that_is_not_mounted(
    vault: Path, ask: Any, comes_back: bool
) -> None:
    capture(prompt("first"))
    disk = vault.rename(vault.with_name("disk"))
    vault.mkdir()

    outcomes = [capture(bash("out")), capture(prompt("of another session", session_id=OTHER))]

    assert [(outcome.waits, outcome.error) for outcome in outcomes] == [(True, "VaultError")] * 2
    assert list(vault.iterdir()) == []
    assert "If it is on a disk that is not mounted, mount it; to start over, run `mdmem init" in ask("index").stderr
    assert "mount it" in ask("note", "of my own").stderr
    assert "had notes and is an empty folder now." in ask("doctor", "--only", "vault").stdout
    for words in (["search", "first"], ["list"], [], ["stats"], ["index", "--rebuild"]):
        done = ask(*words)
        assert "mount it" in done.stdout + done.stderr or "first" in done.stdout, words
        assert "set this one up" not in done.stdout + done.stderr
    assert list(vault.iterdir()) == []
    if comes_back:
        vault.rmdir()
        disk.rename(vault)
    else:
        assert "the one that was at" in ask("init", str(vault)).stderr
        assert "the one that was at" not in ask("init", str(vault)).stderr
    ask("index")
    assert len([path for path in notes(vault) if path.name[:4] != "0800"]) == 2 + comes_back
    assert waiting() == []


def test_more_notes_than_a_hook_brings_home_stay_before_the_next_of_their_session(
    vault: Path, away: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queued, "MAX_AT_ONCE", 3)
    for n in range(10):
        capture(bash(f"out {n}", f"toolu_{n}", session_id=OTHER))
        capture(bash(f"out {n}", f"toolu_{n}"))
    away.rename(vault)
    capture(bash("out 10", "toolu_10"))
    outputs = [text.split("\n")[-2] for text in contents([path for path in notes(vault) if "00893aaf" in str(path)])]
    assert outputs == [f"out {n}" for n in range(11)]
    assert len(waiting()) == 7
    assert queued.flush(config.load()).written == 7
    assert len(notes(vault)) == 21


def test_a_hook_whose_time_for_queued_notes_is_over_queues_its_own_behind_them(
    vault: Path, away: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queued, "MAX_SECONDS", 1e-9)
    for n in range(6):
        capture(bash(f"out {n}", f"toolu_{n}"))
    away.rename(vault)
    outcome = capture(bash("out 6", "toolu_6"))
    assert (outcome.stored, outcome.waits, outcome.is_lost) == (False, True, False)
    assert (len(notes(vault)), len(waiting())) == (1, 6)

    assert queued.flush(config.load()).written == 6
    assert [text.split("\n")[-2] for text in contents(notes(vault))] == [f"out {n}" for n in range(7)]


@pytest.mark.slow
@pytest.mark.parametrize("with_ids", [True, False])
def test_many_hooks_that_bring_the_same_notes_home_leave_one_of_each(vault: Path, away: Path, with_ids: bool) -> None:
    count = 12
    for n in range(count):
        event = bash(f"out {n}", f"toolu_{n}")
        for key in ("tool_use_id", "prompt_id") if not with_ids else ():
            del event[key]
        capture(event)
    away.rename(vault)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(send, [stop(f"answer {n}") for n in range(12)]))
    assert len(notes(vault)) == count + 12
    assert waiting() == []


def test_without_locks_queued_notes_are_written_once(vault: Path, away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(3):
        capture(bash(f"out {n}", f"toolu_{n}"))
    away.rename(vault)
    monkeypatch.setattr(vaults.Folder, "lock", lambda _: None)
    settings = config.load()
    real = queued._publish
    nested: list[bool] = []

    def publish_after_another(settings: config.Config, path: str) -> None:
        if not nested:
            nested.append(True)
            queued.flush(settings)  # another process was quicker with everything
        real(settings, path)

    monkeypatch.setattr(queued, "_publish", publish_after_another)
    queued.flush(settings)
    assert places(notes(vault)) == ["000-001-bash", "000-002-bash", "000-003-bash"]
    assert waiting() == []


def test_a_session_that_cannot_be_stored_keeps_no_other_back(vault: Path, away: Path, tmp_path: Path) -> None:
    capture(bash("one", cwd="/home/dev/work/stuck"))
    capture(bash("two", "toolu_2", session_id=OTHER))
    away.rename(vault)
    (vault / "journal").mkdir()
    (vault / "journal" / "stuck").symlink_to(tmp_path)
    capture(payload("SessionEnd", reason="other"))
    assert list(places(notes(vault))) == ["000-001-bash"]
    assert len(waiting()) == 1
    (vault / "journal" / "stuck").unlink()
    assert queued.flush(config.load()).written == 1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"format": 2}', b"\xff", b"null", b"[" * 20_000])
def test_a_damaged_file_in_the_queue_blocks_no_other(vault: Path, away: Path, data: bytes) -> None:
    capture(bash("one"))
    folder = Path(retry_queue.folder(config.load()))
    (folder / "00000000000000000001-1-x.json").write_bytes(data)
    away.rename(vault)
    capture(stop("done"))
    assert len(notes(vault)) == 2
    assert [path.name for path in folder.iterdir()] == ["00000000000000000001-1-x.json.damaged"]
    assert [row["why"] for row in losses.recent(config.load(), time.time())] == [losses.DAMAGED]


def test_a_file_of_a_newer_version_stays_queued_and_blocks_no_other_session(vault: Path, away: Path, ask: Any) -> None:
    capture(bash("one"))
    capture(prompt("second", session_id=OTHER))
    path, _ = sorted(Path(retry_queue.folder(config.load())).iterdir())
    newer = json.dumps({**json.loads(path.read_bytes()), "format": retry_queue.FORMAT + 1})
    path.write_text(newer)
    away.rename(vault)

    done = ask("index")

    assert done.stdout.startswith("1 note written")
    assert "is from a newer version of mdmem. Update mdmem" in done.stderr
    assert path.read_text() == newer
    assert losses.recent(config.load(), time.time()) == []


def test_a_clock_that_was_set_back_leaves_the_order(vault: Path, away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n, now in enumerate([10**18, 10**17, 10**16]):
        monkeypatch.setattr(time, "time_ns", lambda now=now: now)
        capture(bash(f"out {n}", f"toolu_{n}"))
    assert [kept["body"].count(f"out {n}") for n, kept in enumerate(waiting())] == [1, 1, 1]


def test_the_user_is_told_once_a_session(vault: Path, away: Path) -> None:
    said = [send(bash("x", f"toolu_{n}", session_id=session)).stdout for n in range(3) for session in (OTHER, "s-2")]
    assert [bool(line) for line in said] == [True, True, False, False, False, False]
    assert "will be retried" in json.loads(said[0])["systemMessage"]


def test_a_queued_note_is_reported(vault: Path, away: Path) -> None:
    from mdmem.capture import hook

    report = json.loads(hook.run(["claude-code", "--report"], json.dumps(prompt("x")).encode()))
    assert (report["stored"], report["error"], report["kind"]) == (False, "VaultError", "prompt")
    assert "will be retried" in report["feedback"]


def told(done: Any) -> str:
    return str(json.loads(done.stdout or "{}").get("systemMessage", ""))


def test_a_second_failure_in_the_same_session_is_told_again_once_the_first_is_over(vault: Path) -> None:
    for n in (1, 2):
        away = vault.rename(vault.with_name("away"))
        assert "will be retried" in told(send(bash("out", f"toolu_{n}")))
        assert told(send(bash("out", f"toolu_{n}b"))) == ""
        away.rename(vault)
        assert told(send(bash("out", f"toolu_{n}c"))) == ""


def test_index_says_how_many_queued_notes_still_wait_and_why(vault: Path, ask: Any) -> None:
    (vault / "journal").write_text("in the way")
    for n in range(3):
        assert capture(bash("out", f"toolu_{n}")).waits

    done = ask("index")
    assert done.returncode == 4
    assert "3 notes still wait in the retry queue" in done.stderr
    assert "'journal' in the vault is a link or a file where a folder should be" in done.stderr
    found = ask("index", "--json")
    assert (found.returncode, json.loads(found.stdout)["waiting"]) == (4, 3)

    doctor = ask("doctor", "--only", "vault")
    assert "No note can be stored in 'journal': it is a link or a file where a folder should be" in doctor.stdout
    assert f"mv {vault}/journal {vault}/journal.old" in doctor.stdout
    (vault / "journal").rename(vault / "journal.old")
    done = ask("index", check=True)
    assert done.stdout.startswith("3 notes written")


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("how", ["file", "link"])
def test_a_file_or_link_in_the_place_of_a_folder_of_the_journal_is_named_with_its_path(
    vault: Path, tmp_path: Path, depth: int, how: str, ask: Any
) -> None:
    assert capture(bash("out", "toolu_0")).stored
    (page,) = [path for path in notes(vault) if "-bash-" in path.name]
    place = vault.joinpath(*page.relative_to(vault).parts[:depth])
    name = place.relative_to(vault).as_posix()
    place.rename(tmp_path / "away")
    if how == "link":
        place.symlink_to(tmp_path / "away")
    else:
        place.write_text("in the way")

    assert capture(bash("out", "toolu_1")).waits

    assert f"'{name}' in the vault is a link or a file where a folder should be" in ask("index").stderr
    doctor = ask("doctor", "--only", "vault").stdout
    assert f"No note can be stored in '{name}'" in doctor
    if how == "link":  # moved aside, it would take the notes that it leads to out of the vault
        assert f"rm {place} && mv {tmp_path / 'away'} {place}" in doctor
        place.unlink()
    else:
        assert f"mv {place} {place}.old" in doctor
        place.rename(f"{place}.old")
    (tmp_path / "away").rename(place)
    assert ask("index", check=True).stdout.startswith("1 note written")


def test_index_and_doctor_count_a_damaged_queued_note_as_lost(vault: Path, away: Path, ask: Any) -> None:
    capture(prompt("first"))
    capture(prompt("second", session_id=OTHER))
    folder = Path(retry_queue.folder(config.load()))
    min(folder.iterdir()).write_text("{")
    away.rename(vault)

    done = ask("index")

    assert done.returncode == 4
    assert done.stdout.startswith("1 note written")
    assert f"1 queued note is damaged, and lost: see the files that end in .damaged in {folder}" in done.stderr
    doctor = ask("doctor", "--only", "lost", "--only", "waiting")
    assert "2 problems" in doctor.stdout
    assert "its file in the retry queue cannot be read" in " ".join(doctor.stdout.split())
    assert ".json.damaged" in doctor.stdout
    assert ask("index").returncode == 0
