"""Archiving: a year's sessions in a file each, every note found, shown, changed, purged and taken out as before."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.capture import events
from mdmem.config import Config
from mdmem.errors import GitError, UsageError
from mdmem.health import contents
from mdmem.health import links as links_check
from mdmem.health.scope import CheckScope
from mdmem.history import batch, commit, deletions, forget, rewrite, session_log, sync
from mdmem.history.gate import CommitGate
from mdmem.history.purging import purge
from mdmem.history.space import archive, clone
from mdmem.search import index
from mdmem.search.index import check, scan, scan_record
from mdmem.vault import archives, disk, note, packed
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import listed, session_page, upkeep
from tests.helpers.history_vault import captured, git, head_files, put, run_here, start, turn
from tests.helpers.machines import machine, settle

SESSION = "11893aaf-19fa-41d2-8238-13269b9b3ca0"
FOLDER = "journal/acme-notes-app/2024-03-05/0800-why-does-the-lexer-fail-11893aaf"
ARCHIVE = "journal/acme-notes-app/2024/03/05/0800-why-does-the-lexer-fail-11893aaf.md"
OTHER = "22893aaf-19fa-41d2-8238-13269b9b3ca0"
OTHER_FOLDER = "journal/acme-notes-app/2024-03-06/0800-why-does-the-lexer-fail-22893aaf"
PROMPT = f"{FOLDER}/001-000-prompt-why-p1.md"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with a session of 2024, and one of 2026, committed: to be copied."""
    root = tmp_path_factory.mktemp("prepared") / "vault"
    root.mkdir()
    (root / "mdmem.toml").write_text("")
    settings = start(root)
    turn(root, session=SESSION, folder=FOLDER)
    turn(root)
    for path in root.rglob("*.md"):
        os.utime(path, (1e9, 1e9))  # recently saved notes would be indexed again
    commit.commit(settings)
    return root


@pytest.fixture
def old(vault: Path, home: Path, prepared: Path) -> Config:
    shutil.copytree(prepared, vault, dirs_exist_ok=True)
    return config.load(str(vault))


def packed_vault(settings: Config, year: int = 2024) -> archive.Archived:
    return archive.pack(settings, year, now=time.time())


def sent_packed(settings: Config, folder: Path) -> Path:
    """Pack a vault and sync it with a new remote in a folder; return the remote."""
    remote = folder / "remote.git"
    git(folder, "init", "-q", "--bare", "-b", "main", str(remote))
    git(Path(settings.vault), "remote", "add", "origin", str(remote))
    packed_vault(settings)
    sync.sync(settings)
    return remote


def everything(root: str) -> dict[str, bytes | None]:
    return {entry.path: disk.read_path(root, entry.path) for entry in disk.walk(root)}


def test_a_year_is_packed_a_file_a_session_and_committed(old: Config, vault: Path) -> None:
    before = everything(old.vault)

    done = packed_vault(old)

    assert (done.sessions, done.notes, done.left) == (1, 5, [])
    assert not (vault / FOLDER).parent.exists()
    assert everything(old.vault) == before
    assert [path for path in head_files(vault) if "2024" in path] == [ARCHIVE]
    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "log", "-1", "--format=%s") == "Archive 2024: 5 notes of 1 session\n"


@pytest.mark.slow
def test_a_year_is_packed_and_unpacked_in_commits_of_some_sessions_each(
    old: Config, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn(vault, session=OTHER, folder=OTHER_FOLDER)
    commit.commit(old)
    before = everything(old.vault)
    monkeypatch.setattr(archive, "FILES_AT_ONCE", 3)

    done = packed_vault(old)
    said = git(vault, "log", "-2", "--format=%s").splitlines()
    packed = everything(old.vault)
    undone = archive.unpack(old, 2024)

    assert said == ["Archive 2024: 5 notes of 1 session"] * 2
    assert packed == before == everything(old.vault)
    assert [(one.sessions, one.notes, len(one.commits)) for one in (done, undone)] == [(2, 10, 2)] * 2
    assert git(vault, "status", "--porcelain") == ""


def test_a_commit_of_an_archive_that_goes_on_counts_nothing_twice(
    old: Config, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn(vault, session=OTHER, folder=OTHER_FOLDER)
    commit.commit(old)
    monkeypatch.setattr(batch, "MAX_BYTES", 100)

    packed_vault(old)

    said = "Archive 2024: 10 notes of 2 sessions"
    assert git(vault, "log", "--format=%s").splitlines().count(said) == 1
    assert git(vault, "log", "-1", "--format=%s").strip() == f"{said} (continued)"
    assert git(vault, "status", "--porcelain") == ""


def test_packed_notes_are_found_and_shown_by_their_ids(old: Config, vault: Path) -> None:
    index.update(old)
    name = str(note.parse((vault / PROMPT).read_bytes()).meta["id"])
    packed_vault(old)

    changes = index.update(old, quick=True)

    assert (changes.added, changes.changed, changes.removed) == (0, 5, 0)
    assert check.verify(old, repair=False).agrees
    found = json.loads(run_here("search", "take", "--project", "acme-notes-app", "--json").stdout)
    assert PROMPT in json.dumps(found)
    assert "Why does it fail, take 1?" in run_here("show", name, check=True).stdout
    assert {one.session for one in session_log.sessions(old)} >= {SESSION}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["quick", "paths", "whole"])
def test_every_look_sees_what_is_packed_changed_and_gone(old: Config, vault: Path, how: str) -> None:
    index.update(old)
    packed_vault(old)

    def update(*paths: str) -> None:
        index.update(old, paths=paths) if how == "paths" else index.update(old, quick=how == "quick")

    update(ARCHIVE, FOLDER, FOLDER.rpartition("/")[0])
    assert check.verify(old, repair=False).agrees
    file = vault / ARCHIVE
    file.write_bytes(file.read_bytes().replace(b"src/dates.py", b"src/zyzzyva.py"))
    file.rename(file.with_suffix(".old"))
    file.with_suffix(".old").rename(file)
    update(ARCHIVE)
    view = index.current(old)
    assert view is not None
    assert view.notes("body", "zyzzyva")
    file.unlink()
    update(ARCHIVE)
    view = index.current(old)
    assert view is not None
    assert not [path for path in (view.path(note) for note in view.all) if "2024" in path]


@pytest.mark.slow
def test_taking_an_archive_apart_brings_every_byte_back(old: Config, vault: Path) -> None:
    before = {path.relative_to(vault): path.read_bytes() for path in vault.rglob("*.md")}
    packed_vault(old)

    done = archive.unpack(old, 2024)

    assert (done.sessions, done.notes) == (1, 5)
    assert {path.relative_to(vault): path.read_bytes() for path in vault.rglob("*.md")} == before
    assert not (vault / ARCHIVE).parent.parent.exists()
    assert git(vault, "status", "--porcelain") == ""


def test_a_change_takes_the_session_out_of_its_archive(old: Config, vault: Path) -> None:
    packed_vault(old)

    done = run_here("pin", PROMPT, check=True)
    again = run_here("unpin", PROMPT, check=True)

    assert "This unpacks its archived session; `mdmem archive 2024` packs it again." in done.stderr
    assert again.stderr == ""
    run_here("pin", PROMPT, check=True)
    assert "pinned: true" in (vault / PROMPT).read_text()
    assert not (vault / ARCHIVE).exists()
    assert (vault / FOLDER / "001-001-bash-pytest-b1.md").is_file()


def test_a_commit_says_that_a_session_was_unpacked_for_a_change(old: Config, vault: Path) -> None:
    packed_vault(old)
    run_here("tag", PROMPT, "lexers", check=True)
    put(vault, "notes/own.md", "Mine\n")

    unpacked, by_hand = commit.commit(old).commits

    assert unpacked.subject == "acme-notes-app: Why does the parser fail (unpacked: 5 notes)"
    assert (unpacked.session, unpacked.files) == ("", 6)
    assert git(vault, "log", "-1", "--format=%b", unpacked.oid) == "- edit Why does it fail, take 1?\n\n"
    assert by_hand.subject == "By hand: add notes/own.md"
    assert git(vault, "status", "--porcelain") == ""


def test_a_session_that_goes_on_is_unpacked_in_a_commit_of_its_own(old: Config, vault: Path) -> None:
    packed_vault(old)
    archives.unpack_session(old, SESSION)
    turn(vault, 2, session=SESSION, folder=FOLDER)

    done = commit.commit(old, session=SESSION).commits

    assert [one.session for one in done] == ["", SESSION]
    assert ["unpacked: 5 notes" in one.subject for one in done] == [True, False]
    assert "(1 prompt, 2 tool runs, 1 answer)" in done[1].subject
    assert git(vault, "status", "--porcelain") == ""


def test_an_archive_that_a_person_deleted_is_a_change_by_hand(old: Config, vault: Path) -> None:
    packed_vault(old)
    (vault / ARCHIVE).unlink()

    (made,) = commit.commit(old).commits

    assert made.subject == f"By hand: delete {ARCHIVE}"


def test_editors_are_given_the_file_that_holds_an_archived_note(
    old: Config, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed_vault(old)
    opened, script = tmp_path / "opened", tmp_path / "editor.sh"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))

    assert run_here("show", PROMPT, "--path", check=True).stdout == f"{vault / ARCHIVE}\n"
    assert str(vault / ARCHIVE) in run_here("open", PROMPT, "--print", check=True).stdout
    for words in (("open", PROMPT, "--in", "editor"), ("show", PROMPT, "--open")):
        run_here(*words, check=True)
        assert opened.read_text() == str(vault / ARCHIVE)
        opened.unlink()


@pytest.mark.parametrize("named", ["", "/does/not/exist"])
def test_a_session_stays_packed_when_no_editor_can_be_started(
    old: Config, vault: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    packed_vault(old)
    (tmp_path / "nano").write_text("#!/bin/sh\n")
    (tmp_path / "nano").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", named)

    done = run_here("edit", PROMPT)

    assert "Set $EDITOR to your editor." in done.stderr
    assert (done.returncode, "unpacks" in done.stderr) == (1, False)
    assert (vault / ARCHIVE).is_file()


def test_a_packed_note_can_be_forgotten(old: Config, vault: Path) -> None:
    packed_vault(old)

    forget.apply(old, forget.plan(old, [PROMPT]))

    assert disk.read_path(old.vault, PROMPT) is None
    assert disk.read_path(old.vault, f"{FOLDER}/001-001-bash-pytest-b1.md") is not None


@pytest.mark.slow
def test_a_purged_note_leaves_the_archive_and_its_history(old: Config, vault: Path) -> None:
    secret = captured(
        vault, "001-004-response-falcon-abcdefghjk", "response", "falcon", session=SESSION, folder=FOLDER, body="falcon"
    )
    text = secret.read_text().replace(secret.read_text().split("\n")[1], "id: abcdefghjk")
    secret.write_text(text)
    packed_vault(old)
    assert b"falcon" in (vault / ARCHIVE).read_bytes()

    done = purge.apply(old, purge.plan(old, "abcdefghjk", kind="id"))

    assert done.left == []
    assert b"abcdefghjk" not in (vault / ARCHIVE).read_bytes()
    assert b"falcon" not in (vault / ARCHIVE).read_bytes()
    assert len(packed.parse((vault / ARCHIVE).read_bytes())) == 5
    assert "falcon" not in git(vault, "log", "--all", "-p")


def test_what_is_not_committed_or_no_note_stays_as_it_is(old: Config, vault: Path) -> None:
    captured(vault, "001-004-response-secret", "response", "kept", session=SESSION, folder=FOLDER, sync="false")
    other = "journal/acme-notes-app/2024-03-06/0900-a-picture-22893aaf"
    turn(vault, session="22893aaf-19fa-41d2-8238-13269b9b3ca0", folder=other)
    put(vault, f"{other}/chart.png", "png")

    done = packed_vault(old)

    assert done.sessions == 0
    assert [(one.folder, one.why) for one in done.left] == [
        (FOLDER, "001-004-response-secret.md is not committed"),
        (other, "it contains chart.png, which is not a note"),
    ]
    assert (vault / PROMPT).is_file()


def test_an_archive_stays_on_this_machine_when_one_of_its_notes_is_to(old: Config, vault: Path) -> None:
    packed_vault(old)
    file = vault / ARCHIVE
    file.write_text(file.read_text().replace("kind: response\n", "kind: response\nsync: false\n"))

    done = commit.commit(old)

    assert (done.commits, [one.path for one in done.staying]) == ([], [ARCHIVE])


BESIDE = [
    (b"\n# ", b"\nMine: %s.\n\n# "),
    (b"tags: [archive]\n", b'tags: [archive]\nclient: "%s"\n'),
    (packed.MARK + b"-->\n", packed.MARK + b"-->\nMine: %s.\n"),
    (packed.MARK, packed.MARK + b"a folder/note.md -->\nMine: %s.\n" + packed.MARK),
    (packed.MARK, packed.MARK + b"001-000-prompt-why-p1.md -->\nMine: %s.\n" + packed.MARK),
]
"""Places in an archive that are in none of its notes: before, what a person makes of it."""


@pytest.mark.parametrize("place", range(len(BESIDE)))
def test_what_is_private_beside_the_notes_of_an_archive_is_held_back(vault: Path, place: int) -> None:
    gate = CommitGate(config.load(str(vault)).settings)
    data = archives.render(FOLDER, {"001-000-prompt-why-p1.md": b"Why?\n", "001-001-bash-pytest-b1.md": b"Tests.\n"})
    before, after = BESIDE[place]
    written = data.replace(before, after % b"<private>falcon</private>", 1)

    held = gate.look(ARCHIVE, written)

    assert gate.look(ARCHIVE, data) is None
    assert gate.look(ARCHIVE, data.replace(before, after % b"plain words", 1)) is None
    assert held
    assert b"falcon" in written.split(b"\n")[held.line - 1]


@pytest.mark.parametrize("place", range(len(BESIDE)))
def test_what_a_person_wrote_beside_the_notes_of_an_archive_outlasts_it(vault: Path, place: int) -> None:
    settings = config.load(str(vault))
    notes = {"001-000-prompt-why-p1.md": b"Why?\n", "001-001-bash-pytest-b1.md": b"Tests.\n"}
    before, after = BESIDE[place]
    data = archives.render(FOLDER, notes).replace(before, after % b"plain words", 1)
    put(vault, ARCHIVE, data.decode())

    changed = archives.unpack(settings, FOLDER)

    assert "plain words" in (vault / FOLDER / "archive.md").read_text()
    assert "packed by" not in (vault / FOLDER / "archive.md").read_text()
    assert f"{FOLDER}/archive.md" in changed
    assert {name: (vault / FOLDER / name).read_bytes() for name in notes} == notes


def test_an_archive_whose_folder_was_renamed_leaves_no_note_more(vault: Path) -> None:
    settings = config.load(str(vault))
    page = f"{FOLDER.rpartition('/')[2]}.md"
    notes = {page: b"---\nkind: session\ntitle: Why?\n---\n", "001-000-prompt-why-p1.md": b"Why?\n"}
    put(vault, ARCHIVE.replace("lexer", "parser"), archives.render(FOLDER, notes).decode())
    renamed = FOLDER.replace("lexer", "parser")

    archives.unpack(settings, renamed)

    assert {path.name for path in (vault / renamed).iterdir()} == notes.keys()


def test_a_year_that_is_not_over_is_not_archived(old: Config) -> None:
    with pytest.raises(UsageError, match="is not over"):
        archive.pack(old, 2024, now=time.mktime((2024, 12, 31, 0, 0, 0, 0, 0, -1)))


@pytest.mark.slow
def test_a_file_of_its_own_comes_before_the_packed_note(old: Config, vault: Path) -> None:
    packed_vault(old)
    put(vault, PROMPT, "written anew\n")

    assert disk.read_path(old.vault, PROMPT) == b"written anew\n"
    assert [entry.path for entry in disk.walk(old.vault)].count(PROMPT) == 1
    assert archives.unpack_archive_of(old, f"{FOLDER}/001-001-bash-pytest-b1.md")
    assert (vault / PROMPT).read_text() == "written anew\n"


def test_an_archived_session_is_not_brought_back_by_an_import(old: Config) -> None:
    packed_vault(old)

    assert {name for name in deletions.find_all(old).notes.values() if name.startswith("001-")} == set()


@pytest.mark.slow
def test_two_machines_that_archive_the_same_year_write_the_same_file(old: Config, vault: Path) -> None:
    packed_vault(old)
    first = (vault / ARCHIVE).read_bytes()
    archive.unpack(old, 2024)
    packed_vault(old)

    assert (vault / ARCHIVE).read_bytes() == first


def test_a_note_that_came_from_elsewhere_is_merged_over_the_packed_one(old: Config, vault: Path) -> None:
    packed_vault(old)
    now = disk.read_path(old.vault, PROMPT)

    assert rewrite.take(old, rewrite.RewriteStep(PROMPT, now, b"theirs\n"))

    assert (vault / PROMPT).read_bytes() == b"theirs\n"
    assert (vault / FOLDER / "001-001-bash-pytest-b1.md").is_file()


@pytest.mark.slow
def test_a_change_from_another_machine_to_an_archived_note_arrives(old: Config, vault: Path, tmp_path: Path) -> None:
    remote, second = tmp_path / "remote.git", tmp_path / "second"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    git(vault, "remote", "add", "origin", str(remote))
    sync.sync(old)
    clone.clone(str(remote), second)
    packed_vault(old)
    sync.sync(old)
    other = second / PROMPT
    other.write_text(f"{other.read_text()}A line of the other machine.\n")
    there = config.load(str(second))
    before = everything(there.vault)

    sync.sync(there)
    sync.sync(old)
    sync.sync(old)

    assert everything(there.vault) == before
    assert everything(old.vault) == before
    assert sync.sync(there).received or everything(there.vault) == before


ANSWER = f"{FOLDER}/001-003-response-fixed-r1.md"


@pytest.mark.parametrize("how", ["forgotten", "private"])
def test_a_packed_note_that_is_forgotten_or_made_private_does_not_come_back_from_another_machine(
    old: Config, tmp_path: Path, how: str
) -> None:
    remote = sent_packed(old, tmp_path)
    there = machine(tmp_path, remote)
    answer = disk.read_path(old.vault, ANSWER) or b""
    changed = answer.replace(b"---\n", b"---\nprivate: true\n", 1) if how == "private" else None
    rewrite.take(there, rewrite.RewriteStep(ANSWER, answer, changed))

    settle(there, old, there, old)

    assert disk.read_path(old.vault, ANSWER) is None
    assert disk.read_path(there.vault, ANSWER) == changed
    assert disk.read_path(old.vault, PROMPT) == disk.read_path(there.vault, PROMPT) != None  # noqa: E711
    assert not {ANSWER, ARCHIVE} & set(git(remote, "ls-tree", "-r", "--name-only", "main").splitlines())


def test_a_packed_note_that_is_deleted_elsewhere_and_changed_here_stays(
    old: Config, vault: Path, tmp_path: Path
) -> None:
    remote = sent_packed(old, tmp_path)
    there = machine(tmp_path, remote)
    forget.apply(there, forget.plan(there, [ANSWER]))
    sync.sync(there)
    file = vault / ARCHIVE
    answer = disk.read_path(old.vault, ANSWER) or b""
    file.write_bytes(file.read_bytes().replace(answer, answer + b"\nMine.\n"))

    settle(old, there)

    assert [b"Mine." in (disk.read_path(one.vault, ANSWER) or b"") for one in (old, there)] == [True, True]


@pytest.mark.parametrize("how", ["--undo", "edited"])
def test_a_note_that_is_made_private_after_its_session_was_unpacked_does_not_block_the_sync(
    old: Config, tmp_path: Path, how: str
) -> None:
    remote = sent_packed(old, tmp_path)
    answer = disk.read_path(old.vault, ANSWER) or b""
    if how == "--undo":
        archive.unpack(old, 2024)
    else:
        prompt = disk.read_path(old.vault, PROMPT) or b""
        rewrite.take(old, rewrite.RewriteStep(PROMPT, prompt, prompt + b"\nMine.\n"))
        commit.commit(old)
    rewrite.take(old, rewrite.RewriteStep(ANSWER, answer, answer.replace(b"---\n", b"---\nprivate: true\n", 1)))

    assert sync.sync(old).sent

    there = machine(tmp_path, remote)
    assert disk.read_path(there.vault, ANSWER) is None
    assert disk.read_path(there.vault, PROMPT) == disk.read_path(old.vault, PROMPT)


def test_text_that_was_new_in_an_unpacked_note_before_it_became_private_is_not_pushed(
    old: Config, tmp_path: Path
) -> None:
    sent_packed(old, tmp_path)
    answer = disk.read_path(old.vault, ANSWER) or b""
    rewrite.take(old, rewrite.RewriteStep(ANSWER, answer, answer + b"\nMine.\n"))
    commit.commit(old)
    changed = disk.read_path(old.vault, ANSWER) or b""
    rewrite.take(old, rewrite.RewriteStep(ANSWER, changed, changed.replace(b"---\n", b"---\nprivate: true\n", 1)))

    with pytest.raises(GitError, match=r"001-003-response-fixed-r1.md stays on this machine"):
        sync.sync(old)


def test_text_that_only_an_archive_had_before_a_note_of_it_became_private_is_not_pushed(
    old: Config, vault: Path, tmp_path: Path
) -> None:
    remote = sent_packed(old, tmp_path)
    answer = disk.read_path(old.vault, ANSWER) or b""
    file = vault / ARCHIVE
    file.write_bytes(file.read_bytes().replace(answer, answer + b"\nMine.\n"))
    commit.commit(old)
    changed = disk.read_path(old.vault, ANSWER) or b""
    rewrite.take(old, rewrite.RewriteStep(ANSWER, changed, changed.replace(b"---\n", b"---\nprivate: true\n", 1)))

    with pytest.raises(GitError, match=rf"{ANSWER} stays on this machine"):
        sync.sync(old)
    assert "Mine." not in git(remote, "log", "-p", "--format=")

    purge.apply(old, purge.plan(old, ANSWER, kind="path"))
    assert sync.sync(old).sent
    assert "Mine." not in git(remote, "log", "-p", "--format=")
    assert b"Mine." in (disk.read_path(old.vault, ANSWER) or b"")


@pytest.mark.slow
def test_the_command_says_what_it_packed(old: Config) -> None:
    dry = run_here("archive", "2024", "--dry-run")
    done = json.loads(run_here("archive", "2024", "--json", check=True).stdout)
    undone = run_here("archive", "--undo", "2024")

    assert dry.stdout == "Would pack 5 notes of 1 session into 1 file.\n"
    assert (done["sessions"], done["notes"], done["left"], len(done["commits"])) == (1, 5, [], 1)
    assert undone.stdout == "Unpacked 5 notes of 1 session of 2024.\n"


def test_pages_lead_to_the_file_that_holds_an_archived_session(old: Config, vault: Path) -> None:
    upkeep.refresh(old, now=time.time())
    day = vault / "days" / "2024-03-05.md"
    before = day.read_text()
    assert f"../{FOLDER}/" in before
    commit.commit(old)

    assert run_here("archive", "2024", check=True)

    assert f"(../{ARCHIVE})" in day.read_text()
    assert f"../{FOLDER}/" not in day.read_text()
    targets = [one.text.partition(": the link to ")[2] for one in links_check.links(old, CheckScope())]
    assert not [target for target in targets if "0800-" in target or "-prompt-" in target]

    assert run_here("archive", "--undo", "2024", check=True)
    assert day.read_text() == before


def test_no_page_is_made_of_an_archived_session(old: Config, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed_vault(old)
    before = (vault / ARCHIVE).read_bytes()
    made: list[str] = []
    lines = session_page.lines

    def noted(found: listed.Listing, one: SessionRow, *rest: Any) -> list[str]:
        made.append(one.page)
        return lines(found, one, *rest)

    monkeypatch.setattr(session_page, "lines", noted)

    upkeep.refresh(old, now=time.time(), everything=True)

    assert not [page for page in made if page.startswith(FOLDER)]
    assert (vault / ARCHIVE).read_bytes() == before


def test_a_session_that_continues_is_unpacked(old: Config, vault: Path, home: Path) -> None:
    packed_vault(old)
    event = Event(agent="claude-code", name="UserPromptSubmit", session=SESSION, cwd=str(home), prompt="And now?")

    outcome = events.capture(old, event, time.time(), {})

    assert outcome.stored
    assert not (vault / ARCHIVE).exists()
    assert [path.parent for path in vault.rglob("*-prompt-and-now-*.md")] == [vault / FOLDER]
    assert (vault / PROMPT).is_file()
    ids = [note.parse(path.read_bytes()).meta["id"] for path in vault.rglob("*.md") if path.stem == path.parent.name]
    assert len(set(ids)) == len(ids)


@pytest.mark.slow
def test_a_session_that_is_packed_into_a_day_with_others_is_indexed_once(old: Config, vault: Path) -> None:
    packed_vault(old)
    other = FOLDER.replace("0800", "0900").replace("11893aaf", "22893aaf")
    turn(vault, session=SESSION.replace("11893aaf", "22893aaf"), folder=other)
    index.update(old)
    put(vault, f"{FOLDER.rpartition('/')[0]}/mine.md", "Both folders of the day change.\n")
    put(vault, f"{ARCHIVE.rpartition('/')[0]}/mine.md", "Both folders of the day change.\n")

    before = scan_record.load(old.index_dir)
    assert before is not None
    changed = before.times.changed(old.vault)
    paths = [entry.path for entry in scan.in_changed_folders(old.vault, before.times, changed).entries]
    index.update(old, quick=True)

    assert PROMPT in paths
    assert sorted(set(paths)) == sorted(paths)
    assert check.verify(old, repair=False).agrees


def test_an_archive_whose_line_endings_were_changed_holds_the_same_notes(old: Config, vault: Path) -> None:
    before = everything(old.vault)
    packed_vault(old)
    file = vault / ARCHIVE
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))

    assert everything(old.vault) == before
    undone = archive.unpack(old, 2024)

    assert (undone.notes, undone.left) == (5, [])
    assert everything(old.vault) == before


@pytest.mark.parametrize("left", [0.6, 0.9, 0.1])
def test_an_archive_that_lost_its_end_is_neither_committed_nor_unpacked(old: Config, vault: Path, left: float) -> None:
    before = everything(old.vault)
    packed_vault(old)
    file = vault / ARCHIVE
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * left)])

    (held,) = commit.commit(old).held_back
    found = [one for one in contents.files(old, CheckScope()) if "has lost its end" in one.text]
    undone = run_here("archive", "--undo", "2024")

    assert "has lost its end, and so notes of its session; it was not committed. " in str(held)
    assert f"`git checkout HEAD -- {ARCHIVE}` restores it." in str(held)
    assert [one.todo for one in found] == [held.todo]
    assert "No session of 2024 is packed" in undone.stdout if left == 0.1 else undone.returncode == 1
    git(vault, "checkout", "HEAD", "--", ARCHIVE)
    assert archive.unpack(old, 2024).notes == 5
    assert everything(old.vault) == before
