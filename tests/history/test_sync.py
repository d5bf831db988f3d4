"""Carrying a vault between machines: every note everywhere, nothing lost, nothing forced, private ones at home."""

from __future__ import annotations

import base64
import contextlib
import errno
import os
import random
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, ClassVar

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config, system
from mdmem.config import Config
from mdmem.errors import BusyError, GitError, VaultError
from mdmem.history import batch, changes, commit, other_files, sync
from mdmem.history.git import checked_out, environment, objects, part, repository
from mdmem.history.git.part import VaultPart
from mdmem.history.merging import both, join, same_names
from mdmem.history.purging import purge, purge_record
from mdmem.history.space import clone
from mdmem.transcripts import host_memory
from mdmem.vault import front_matter, note, template
from tests.conftest import notes
from tests.helpers import claude, forked, rights
from tests.helpers.history_vault import (
    FOLDER,
    PAGE,
    captured,
    forker,
    git,
    head_files,
    put,
    run_and_kill,
    run_here,
    start,
    turn,
)
from tests.helpers.machines import machine, settle, trees, unpacked
from tests.helpers.plain_git import make_remote
from tests.helpers.talk import Talk

SOAK = int(os.environ.get("MDMEM_SOAK", "1"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A remote, and a vault that was synced with it: to be copied."""
    root = tmp_path_factory.mktemp("prepared")
    git(root, "init", "-q", "--bare", "-b", "main", "remote.git")
    (root / "vault").mkdir()
    (root / "vault/mdmem.toml").write_text("")
    settings = start(root / "vault")
    git(root / "vault", "remote", "add", "origin", str(root / "remote.git"))
    turn(root / "vault")
    sync.sync(settings)
    return root


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return make_remote(tmp_path / "remote.git")


@pytest.fixture
def first(vault: Path, remote: Path, prepared: Path) -> Config:
    """A machine whose vault has a remote and one session in it."""
    shutil.rmtree(remote)
    shutil.copytree(prepared / "remote.git", remote)
    shutil.copytree(prepared / "vault", vault, dirs_exist_ok=True)
    known = vault / ".git/config"
    known.write_text(known.read_text().replace(str(prepared), str(remote.parent)))
    return config.load(str(vault))


def test_a_clone_is_a_whole_vault_with_a_clean_status(first: Config, tmp_path: Path, remote: Path) -> None:
    second = machine(tmp_path, remote)

    assert trees(first)[0] == trees(second)[0]
    assert git(Path(second.vault), "status", "--porcelain") == ""
    done = sync.sync(second)
    assert (list(done.received), *done[1:]) == ([], 0, [], [], 0, [], (), (), (), "main")


def test_a_clone_finds_the_remote_as_the_users_git_does(
    first: Config, tmp_path: Path, remote: Path, home: Path, ask: Any
) -> None:
    sync.sync(first)
    (home / ".gitconfig").write_text(f'[url "{remote}"]\n\tinsteadOf = team:vault\n')

    done = ask("clone", "team:vault", str(tmp_path / "new"))

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new" / "mdmem.toml").is_file()


def test_a_clone_by_a_git_that_converts_line_ends_has_nothing_to_commit(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), ".gitattributes", template.load("vault/gitattributes"))
    put(Path(first.vault), "notes/table.csv", "one,two\n1,2\n")
    sync.sync(first)

    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(remote), "second")

    second = config.load(str(tmp_path / "second"))
    assert commit.commit(second).commits == []
    assert trees(first) == trees(second)


def test_after_a_sync_plain_git_knows_where_to_pull_from_and_push_to(vault: Path, remote: Path) -> None:
    settings = start(vault)
    git(vault, "remote", "add", "origin", str(remote))
    sync.sync(settings)
    assert git(vault, "rev-parse", "--abbrev-ref", "@{upstream}").strip() == "origin/main"
    git(vault, "config", "branch.main.merge", "refs/heads/mine")
    sync.sync(settings)
    assert git(vault, "config", "branch.main.merge").strip() == "refs/heads/mine", "what a person chose stays"


def test_a_cloned_note_without_a_time_has_that_of_its_last_commit(vault: Path, tmp_path: Path) -> None:
    start(vault)
    times = {"notes/old.md": 1_706_933_106, "journal/diary/new.md": 1_738_555_506}
    for name, at in times.items():
        put(vault, name, "A note.\n")
        git(vault, "add", name)
        git(vault, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x", "--date", f"@{at} +0000")

    clone.clone(str(vault), tmp_path / "second")

    assert {name: (tmp_path / "second" / name).stat().st_mtime for name in times} == times
    assert git(tmp_path / "second", "status", "--porcelain") == ""


@pytest.mark.parametrize("date", ["soon", "-5 +0000", "4611686018427387904 +0000", "9" * 5000 + " +0000"])
def test_a_commit_with_an_impossible_date_does_not_stop_a_clone(vault: Path, tmp_path: Path, date: str) -> None:
    start(vault)
    put(vault, "notes/a.md", "A note.\n")
    git(vault, "add", "notes/a.md")
    text = f"tree {git(vault, 'write-tree')}author a <a@b> {date}\ncommitter a <a@b> 1700000000 +0000\n\nx\n"
    (tmp_path / "commit").write_text(text)
    oid = git(vault, "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit"))
    git(vault, "update-ref", "HEAD", oid.strip())

    clone.clone(str(vault), tmp_path / "second")

    assert 1_700_000_000 < (tmp_path / "second/notes/a.md").stat().st_mtime < 2**33


def test_a_branch_beside_the_remotes_is_pushed_under_its_own_name(vault: Path, remote: Path) -> None:
    settings = start(vault)
    git(vault, "remote", "add", "origin", str(remote))
    sync.sync(settings)
    before = git(remote, "rev-parse", "main")
    git(vault, "switch", "-q", "-c", "memory/ana")
    put(vault, "notes/new.md", "New.\n")

    sync.sync(settings)

    assert git(remote, "rev-parse", "main") == before
    assert git(remote, "rev-parse", "memory/ana") == git(vault, "rev-parse", "HEAD")
    git(remote, "update-ref", "refs/heads/main", "memory/ana")
    git(remote, "branch", "-q", "-D", "memory/ana")  # as hosts do with a branch that was merged
    merged = git(remote, "rev-parse", "main")
    put(vault, "notes/later.md", "Later.\n")

    sync.sync(settings)

    assert git(remote, "rev-parse", "main") == merged
    assert git(remote, "rev-parse", "memory/ana") == git(vault, "rev-parse", "HEAD") != merged


@pytest.mark.parametrize("place", ["/dev/null", "{file}/vault"])
def test_a_clone_into_what_is_no_folder_says_so(tmp_path: Path, remote: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    path = place.format(file=tmp_path / "file")
    refused = forked.run(("clone", str(remote), path))
    told = f"mdmem: {path} is not a folder, or is below a file. Name a folder.\n"
    assert (refused.returncode, refused.stderr.decode()) == (2, told)


def test_a_clone_of_an_empty_remote_says_what_to_do(ask: Any, home: Path, remote: Path) -> None:
    assert "The remote is empty" in ask("clone", str(remote), str(home / "vault"), check=True).stdout


def test_an_empty_clone_with_only_a_note_is_set_up_before_it_is_sent(ask: Any, home: Path, remote: Path) -> None:
    vault = home / "vault"
    ask("clone", str(remote), str(vault), check=True)
    put(vault, "notes/first.md", "# The first note\n")

    done = ask("--vault", str(vault), "sync")
    assert done.returncode == 4
    assert f"Run `mdmem init --inside {vault}`" in done.stderr
    assert git(remote, "for-each-ref") == ""

    ask("init", "--inside", str(vault), check=True)
    ask("--vault", str(vault), "sync", check=True)
    assert {"mdmem.toml", "notes"} <= set(git(remote, "ls-tree", "--name-only", "main").split())


@pytest.mark.slow
def test_a_remote_in_which_somebody_works_is_refused_with_the_reason_and_what_to_do(
    first: Config, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", first.vault, "worked-in")
    git(Path(first.vault), "remote", "set-url", "origin", str(tmp_path / "worked-in"))
    turn(Path(first.vault), 2)

    with pytest.raises(GitError, match=r"branch is currently checked out.*git init --bare"):
        sync.sync(first)


def test_work_on_two_machines_meets(first: Config, tmp_path: Path, remote: Path) -> None:
    second = machine(tmp_path, remote)
    turn(Path(first.vault), 2)
    turn(Path(second.vault), session="ffff0000", folder=FOLDER.replace("0800", "0900"))

    sent = sync.sync(first)
    done = sync.sync(second)
    back = sync.sync(first)

    assert (sent.sent, list(sent.received)) == (1, [])
    assert (done.sent, len(done.received)) == (2, 5)
    assert (back.sent, len(back.received), back.conflicts) == (0, 5, [])
    one, two = trees(first, second)
    assert one == two
    assert len(one) == 6 + 4 + 5
    assert git(Path(second.vault), "log", "-1", "--format=%s") == "Sync with origin (5 files)\n"
    for settings in (first, second):
        assert git(Path(settings.vault), "status", "--porcelain") == ""
        assert git(Path(settings.vault), "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.slow
def test_changes_of_one_note_on_two_machines_meet_line_by_line_and_key_by_key(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    text = "---\nid: decision12\ntitle: On dates\ntags: [dates]\n---\n\none\ntwo\nthree\nfour\nfive\n"
    put(Path(first.vault), "notes/d.md", text)
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(first.vault), "notes/d.md", text.replace("[dates]", "[dates, parser]").replace("\none", "\nONE"))
    other = text.replace("[dates]", "[dates, utc]").replace("five", "FIVE").replace("On dates", "On dates, again")
    put(Path(second.vault), "notes/d.md", other)

    sync.sync(first)
    done = sync.sync(second)
    sync.sync(first)

    assert done.conflicts == []
    assert trees(first)[0] == trees(second)[0]
    assert (Path(first.vault) / "notes/d.md").read_text() == (
        "---\nid: decision12\ntitle: On dates, again\ntags: [dates, utc, parser]\n---\n\nONE\ntwo\nthree\nfour\nFIVE\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "one", "other", "merged"),
    [
        ("", 'reviewed: "2026-09-14"', 'reviewed: "2026-09-16"', 'reviewed: "2026-09-16"'),
        ('accepted: "2026-09-01"', 'accepted: "2026-09-14"', 'accepted: "2026-09-16"', 'accepted: "2026-09-16"'),
        ("tags: [a, b, c]", "tags: [b, c, d]", "tags: [a, b]", "tags: [b, d]"),
        ("version: 8", "version: 10", "version: 9", "version: 10"),
    ],
)
def test_what_both_machines_noted_in_front_matter_is_no_conflict(base: str, one: str, other: str, merged: str) -> None:
    texts = [f"---\nid: decision12\n{line}\n---\n\ntext\n".replace("\n\n---", "\n---") for line in (one, base, other)]
    ours, was, theirs = (text.encode() for text in texts)
    repo = repository.Repository(Path(), Path(), Path())  # no text of theirs is merged by git

    for pair in ((ours, theirs), (theirs, ours)):
        found = both.merge_note(repo, "notes/d.md", pair[0], was, pair[1])
        assert found
        assert merged.encode() in found.data.split(b"\n")
        assert not found.kept


@pytest.mark.parametrize(
    ("base", "one", "other", "merged"),
    [
        ("", "Ana's line.\n", "Ben's line.\n", "Ana's line.\nBen's line.\n"),
        (
            "Her line.\n",
            "---\npinned: true\n---\n\n",
            "---\npinned: true\n---\n\nHer line.\n",
            "---\npinned: true\n---\n\n",
        ),
        ("Her line.\n", "", "---\npinned: true\n---\n\nHer line.\n", "---\npinned: true\n---\n\n"),
        ("One.\n", "", "Another.\nMore.\n", "Another.\nMore.\n"),
        ("One.\nTwo.\n", "1.\nTwo.\n", "One.\n2.\n", "1.\n2.\n"),
        ("One.\n", "Another.\n", "One.\nMore.\n", "Another.\nMore.\n"),
        ("One.\nTwo.\n", "1.\nTwo.\n2.\n", "Top.\nOne.\nTwo.\nEnd.\n", "1.\nTop.\nTwo.\n2.\nEnd.\n"),
    ],
    ids=[
        "each wrote on an empty note",
        "both gave it front matter, one deleted a line",
        "one of each",
        "one replaced what the other deleted",
        "each replaced a line of its own",
        "one wrote below what the other replaced",
        "one wrote around what the other replaced",
    ],
)
def test_unless_both_machines_replaced_the_same_line_there_is_no_conflict(
    vault: Path, base: str, one: str, other: str, merged: str
) -> None:
    repo = repository.init(vault)

    for pair in ((one, other), (other, one)):
        found = both.merge_note(repo, "notes/d.md", pair[0].encode(), base.encode(), pair[1].encode())
        assert found == both.Both(merged.encode())


def test_two_files_of_one_name_of_which_one_has_a_line_more_are_no_conflict(vault: Path) -> None:
    repo = repository.init(vault)

    for pair in ((b"one\ntwo\nthree\n", b"one\nthree\n"), (b"one\nthree\n", b"one\ntwo\nthree\n")):
        found = both.merge_note(repo, "notes/a.md", pair[0], None, pair[1])
        assert found == both.Both(b"one\ntwo\nthree\n")


def test_a_session_imported_on_two_machines_is_no_conflict_where_its_project_is_in_other_folders(vault: Path) -> None:
    head = "---\nid: aaaaaaaaaa\nkind: prompt\ncreated: 2026-09-14T08:00:00Z\ncwd: {}\n---\n\nWhy?\n"
    one, other = (head.format(cwd).encode() for cwd in ("/home/ana/shop", "/Users/ana/shop"))
    repo = repository.init(vault)

    for pair in ((one, other), (other, one)):
        path = "journal/shop/2026-09-14/0800-why-aaaaaaaa/001-000-prompt-why-aaaaaaaaaa.md"
        found = both.merge_note(repo, path, pair[0], None, pair[1])
        assert found == both.Both(other)
        assert both.merge_note(repo, "notes/a.md", pair[0], None, pair[1]) != found


def test_a_page_that_got_a_title_on_each_machine_has_one(vault: Path) -> None:
    page = "---\nkind: session\ntitle: {0}\naliases: [{1}]\n---\n\n# {0}\n\nMine.\n"
    names = ["Why does it fail", "Session of 2026-09-14", "And the tests", "A name of Ana's"]
    first, date, second, own = (page.format(name, name.replace("A name of Ana's", names[0])).encode() for name in names)
    repo = repository.init(vault)

    for one, other, wanted in ((date, second, second), (second, own, own)):
        for pair in ((one, other), (other, one)):
            found = both.merge_note(repo, PAGE, pair[0], first, pair[1])
            assert found
            assert note.parse(found.data).meta["title"] == note.parse(wanted).meta["title"]
            assert (found.data.count(b"\n# "), found.data.count(b"Mine."), bool(found.kept)) == (1, 1, False)


def test_of_two_updates_of_an_agents_memory_the_later_one_counts() -> None:
    head = "---\nid: memory1234\nversion: 2\nweight: {0}\nupdated: 2026-09-1{1}T08:00:00Z\n---\n\ntext\n"
    was, one, other = (head.format(*values).encode() for values in ((0.5, 3), (0.9, 5), (0.1, 4)))
    repo = repository.Repository(Path(), Path(), Path())

    for pair in ((one, other), (other, one)):
        assert both.merge_note(repo, "internal/agent/m.md", pair[0], was, pair[1]) == both.Both(one)


@pytest.mark.slow
def test_an_instruction_file_that_differs_on_two_machines_is_merged_without_a_mark(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    second = machine(tmp_path, remote)
    code = tmp_path / "notes-app"
    (code / ".git").mkdir(parents=True)
    put(code, ".git/HEAD", "ref: refs/heads/main\n")

    def followed(at: Config, text: str, saved: int) -> None:
        os.utime(put(code, "CLAUDE.md", text), (saved, saved))
        host_memory.follow(at, os.environ, str(code))

    def synced() -> list[str]:
        results = [sync.sync(at) for at in (first, second, first)]
        assert [path for one in results for path in one.conflicts] == []
        one, other = trees(first, second)
        assert one == other
        return [one[path].decode() for path in one if path.endswith("CLAUDE.md")]

    followed(first, "# House\n\nUse npm.\n", 1_789_372_800)
    followed(second, "# House\n\nUse bun.\n", 1_789_372_900)
    (found,) = synced()
    assert "Use bun." in found and "npm" not in found
    followed(first, "# House\n\nUse deno.\n", 1_789_373_000)
    (note,) = Path(second.vault).glob("notes/imported/*/CLAUDE.md")
    note.write_text(note.read_text().replace("Use bun.", "Use bun, says Ada."))
    (found,) = synced()
    assert "Use bun, says Ada." in found and "deno" not in found and "source_changed: " in found


@pytest.mark.slow
def test_a_session_of_before_1970_is_committed_and_reaches_other_machines(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    second, here = machine(tmp_path, remote), Path(first.vault)
    name, session = "001-000-prompt-why-p9", "5f0a2c11-19fa-41d2-8238-13269b9b3ca0"
    folder = "journal/acme-notes-app/1955-11-05/1000-why-5f0a2c11"
    captured(here, name, "prompt", "Why?", session=session, folder=folder, created="1955-11-05T10:00:00Z")
    sync.sync(first)

    assert f"{folder}/{name}.md" in sync.sync(second).received
    git(here, "fsck", "--strict")


def test_what_a_commit_of_before_1970_holds_is_received(first: Config, tmp_path: Path, remote: Path) -> None:
    second, here = machine(tmp_path, remote), Path(first.vault)
    put(here, "notes/old.md", "Old\n")
    commit.commit(first)
    data = re.sub(r"(?m)^(author .*>) \d+", r"\1 -446600000", git(here, "cat-file", "commit", "HEAD"))
    (tmp_path / "commit").write_text(data)
    git(
        here,
        "reset",
        "-q",
        git(here, "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit")).strip(),
    )
    sync.sync(first)

    assert "notes/old.md" in sync.sync(second).received


@pytest.mark.slow
def test_session_pages_keep_the_lines_of_both_sides(first: Config, tmp_path: Path, remote: Path) -> None:
    second = machine(tmp_path, remote)
    for settings, line in ((first, "- one"), (second, "- two")):
        page = Path(settings.vault) / PAGE
        page.write_text(page.read_text() + f"{line}\n")

    sync.sync(first)
    done = sync.sync(second)

    assert done.conflicts == []
    assert (Path(second.vault) / PAGE).read_text().endswith("- two\n- one\n")


@pytest.mark.slow
def test_a_note_deleted_here_and_edited_there_is_kept_and_named(
    first: Config, tmp_path: Path, remote: Path, ask: Any
) -> None:
    second = machine(tmp_path, remote)
    edited = next((Path(first.vault) / FOLDER).glob("001-003*"))
    (Path(second.vault) / edited.relative_to(first.vault)).unlink()
    gone = next((Path(second.vault) / FOLDER).glob("001-002*"))
    gone.unlink()
    edited.write_text(edited.read_text() + "more\n")

    sync.sync(second)

    told = ask("sync").stderr

    place = str(edited.relative_to(first.vault))
    assert f"{place} was deleted on one machine and changed on the other, so it stays." in told
    assert f"mdmem forget {place}" in told
    assert "deleted" not in told.replace(place, "").replace("was deleted on one", "", 1)
    settle(first, second)
    assert trees(first)[0] == trees(second)[0]
    assert edited.read_text().endswith("more\n")
    assert not (Path(first.vault) / gone.relative_to(second.vault)).exists()


@pytest.mark.parametrize("has_news", [False, True])
def test_a_forgotten_note_that_another_machine_changed_is_named_when_it_returns(
    first: Config, tmp_path: Path, remote: Path, ask: Any, has_news: bool
) -> None:
    second = machine(tmp_path, remote)
    edited = next((Path(first.vault) / FOLDER).glob("001-003*"))
    place = str(edited.relative_to(first.vault))
    there = Path(second.vault) / place
    there.write_text(there.read_text() + "more\n")
    ask("forget", place, "--yes")
    sync.sync(first)
    sync.sync(second)
    new = Path(second.vault, "notes/new.md")
    new.parent.mkdir(exist_ok=True)
    new.write_text("# New\n")
    sync.sync(second)
    if has_news:
        Path(first.vault, "notes").mkdir(exist_ok=True)
        Path(first.vault, "notes/here.md").write_text("# Here\n")

    told = ask("sync").stderr

    assert edited.read_text().endswith("more\n")
    assert f"{place} was deleted on one machine and changed on the other, so it stays." in told
    assert told.count("was deleted on one machine") == 1
    assert "was deleted" not in ask("sync").stderr


@pytest.mark.slow
def test_a_project_renamed_there_takes_the_notes_of_here_along(first: Config, tmp_path: Path, remote: Path) -> None:
    project = Path(first.vault) / "journal/acme-notes-app"
    put(project, "project.md", "---\nkind: project\nidentity: [github.com/acme/notes-app]\n---\n\nx\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    project.rename(project.with_name("notes"))
    turn(Path(second.vault), session="ffff0000", folder=FOLDER.replace("0800", "0900"))

    settle(second, first)

    one, two = trees(first, second)
    assert one == two
    assert not any("acme-notes-app" in path for path in one)
    assert sum("/0900-" in path for path in one) == 5


@pytest.mark.slow
def test_what_is_not_committed_is_not_overwritten(first: Config, tmp_path: Path, remote: Path) -> None:
    put(Path(first.vault), "notes/a.md", "one\ntwo\nthree\nfour\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    root = Path(second.vault)
    put(root, "notes/a.md", "ONE\ntwo\nthree\nfour\n")
    put(root, "notes/new.md", "staged here\n")
    git(root, "add", "notes")
    put(Path(first.vault), "notes/a.md", "one\ntwo\nthree\nFOUR\n")
    put(Path(first.vault), "notes/new.md", "from there\n")
    sync.sync(first)

    done = sync.sync(second)

    assert (root / "notes/a.md").read_text() == "ONE\ntwo\nthree\nFOUR\n"
    assert (root / "notes/new.md").read_text() == "from there\n\nstaged here\n"
    assert [place.what for place in done.kept] == ["lines 1 to 3"]
    assert git(root, "show", ":notes/a.md") == "ONE\ntwo\nthree\nfour\n"


@pytest.mark.slow
def test_a_sync_with_nothing_to_do_reads_the_index_once_and_lists_no_files(
    first: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(first.vault)
    put(root, "notes/a.md", "one\n")
    sync.sync(first)
    put(root, "notes/b.md", "one\n")
    sync.sync(first)  # git has no time yet of what was committed
    started: list[str] = []

    start, printing = repository.start, repository.printing

    def started_git(cwd: Path, args: Sequence[str], **how: Any) -> repository.GitResult:
        started.append(args[0])
        return start(cwd, list(args), **how)

    def printing_git(repo: repository.Repository, *args: str, **how: Any) -> AbstractContextManager[BinaryIO]:
        started.append(args[0])
        return printing(repo, *args, **how)

    monkeypatch.setattr(repository, "start", started_git)
    monkeypatch.setattr(repository, "printing", printing_git)
    sync.sync(first)

    of_all = {"status", "diff-files", "diff-index", "ls-files", "update-index", "read-tree", "ls-tree", "diff-tree"}
    assert [command for command in started if command in of_all] == ["diff-files"]
    with (root / "notes/a.md").open("a") as file:  # in place: the folder's time stays
        file.write("two\n")
    assert sync.sync(first).sent == 1


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_a_pull_of_many_notes_reads_them_one_after_the_other(
    first: Config, tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    there, names = Path(first.vault), [f"notes/{number}.md" for number in range(11)]
    for name in names[:5]:
        put(there, name, f"# The note {name}\n\none\ntwo\nthree\nfour\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    for name in names[3:]:
        put(there, name, f"# The note {name}\n\nONE\ntwo\nthree\nfour\n")
    (there / names[0]).unlink()
    (there / names[1]).rename(there / "notes/moved.md")
    sync.sync(first)
    put(Path(second.vault), names[1], (there / "notes/moved.md").read_text() + "five\n")
    git(Path(second.vault), "add", names[1])
    if own:
        put(Path(second.vault), "notes/own.md", "Written here.\n")
    asked: list[int] = []
    read = objects.read

    def counted(repo: repository.Repository, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        asked.append(0)
        for one in read(repo, oids):
            asked[-1] += 1
            yield one

    monkeypatch.setattr(objects, "read", counted)

    sync.sync(second)

    here = Path(second.vault)
    assert asked.count(1) < 5, "one process reads many texts, beside a few for the one that both have changed"
    assert {name: (here / name).read_text() for name in names[2:]} == {
        name: (there / name).read_text() for name in names[2:]
    }
    assert not (here / names[0]).exists()
    assert (here / "notes/moved.md").read_text().endswith("four\nfive\n")


@pytest.mark.slow
def test_two_vaults_with_nothing_in_common_become_one_without_a_list_of_both(
    first: Config, tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join, "_since", None)
    other = tmp_path / "other"
    other.mkdir()
    settings = start(other)
    put(other, "mdmem.toml", "# another\n")
    put(Path(first.vault), "mdmem.toml", "# the first\n")
    sync.sync(first)
    put(other, ".gitignore", "*.tmp\n")
    turn(other, session="ffff0000", folder=FOLDER.replace("0800", "0900"))
    git(other, "remote", "add", "origin", str(remote))

    done = sync.sync(settings)
    sync.sync(first)

    assert done.conflicts == ["mdmem.toml"]
    assert (other / "mdmem.toml").read_text() == "# another\n"
    assert len(list(other.glob("mdmem.conflict-*.toml"))) == 1
    assert trees(first)[0] == trees(settings)[0]


def test_links_and_git_folders_from_a_remote_are_refused(first: Config, tmp_path: Path, remote: Path) -> None:
    hostile = tmp_path / "hostile"
    subprocess.run(["git", "clone", "-q", str(remote), str(hostile)], check=True)
    (hostile / "notes").symlink_to("/etc")
    put(hostile, "good.md", "fine\n")
    git(hostile, "add", ".")
    git(hostile, "commit", "-q", "-m", "trap")
    git(hostile, "push", "-q")

    done = sync.sync(first)

    assert done.refused == ["notes"]
    assert not (Path(first.vault) / "notes").exists()
    assert (Path(first.vault) / "good.md").read_text() == "fine\n"
    assert "notes" not in head_files(Path(first.vault))


def test_hidden_files_from_a_remote_are_named_since_other_programs_may_run_them(
    first: Config, tmp_path: Path, remote: Path, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "hostile"
    subprocess.run(["git", "clone", "-q", str(remote), str(hostile)], check=True)
    put(hostile, "notes/good.md", "fine\n")
    put(hostile, "notes/.gitignore", "*.tmp\n")
    git(hostile, "add", ".")
    git(hostile, "commit", "-q", "-m", "no trap")
    git(hostile, "push", "-q")
    assert sync.sync(first).remaining_advice == ()
    assert "came from the remote" not in ask("status").stdout
    put(hostile, ".claude/settings.json", '{"hooks": {}}')
    put(hostile, "journal/app/.obsidian/plugins/x/main.js", "x()")
    git(hostile, "add", ".")
    git(hostile, "commit", "-q", "-m", "trap")
    git(hostile, "push", "-q")

    (told,) = sync.sync(first).remaining_advice
    cloned = ask("clone", str(remote), str(tmp_path / "third"), check=True)

    assert told.startswith(".claude/settings.json, journal/app/.obsidian/plugins/x/main.js came from the remote.")
    assert told in cloned.stderr
    assert sync.sync(first).remaining_advice == ()
    said = [
        " ".join(ask(name, *options).stdout.split()) for name, *options in (["status"], ["doctor", "--only", "remote"])
    ]
    assert [told in one for one in said] == [True, True], "the watcher's syncs print nothing"
    Path(first.vault, ".claude/settings.json").unlink()
    (kept,) = other_files.received(first)
    assert kept.startswith("journal/app/.obsidian/plugins/x/main.js came")
    monkeypatch.setattr(other_files, "SHOWN_SECONDS", -1)
    assert other_files.received(first) == []


def test_hidden_files_are_named_also_if_the_push_after_the_merge_fails(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    hostile = tmp_path / "hostile"
    subprocess.run(["git", "clone", "-q", str(remote), str(hostile)], check=True)
    put(hostile, ".claude/settings.json", '{"hooks": {}}')
    git(hostile, "add", ".")
    git(hostile, "commit", "-q", "-m", "trap")
    git(hostile, "push", "-q")
    git(remote, "config", "receive.maxInputSize", "1")
    put(Path(first.vault), "notes/mine.md", "mine\n")

    with pytest.raises(GitError, match=r"rejected.*\.claude/settings\.json came from the remote"):
        sync.sync(first)


@pytest.mark.slow
def test_a_folder_that_is_a_link_here_is_never_written_through(first: Config, tmp_path: Path, remote: Path) -> None:
    second = machine(tmp_path, remote)
    put(Path(first.vault), "notes/a.md", "x\n")
    sync.sync(first)
    (tmp_path / "outside").mkdir()
    (Path(second.vault) / "notes").symlink_to(tmp_path / "outside")

    sync.sync(second)

    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("fetched", ["changed", "new"])
def test_a_sync_waits_while_a_link_is_in_the_place_of_a_folder_with_committed_notes(
    first: Config, tmp_path: Path, remote: Path, fetched: str
) -> None:
    notes = Path(first.vault) / "notes"
    for name in ("a", "b"):
        put(Path(first.vault), f"notes/{name}.md", f"{name}\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(second.vault), "notes/a.md" if fetched == "changed" else "notes/c.md", "theirs\n")
    sync.sync(second)
    notes.rename(tmp_path / "moved")
    notes.symlink_to(tmp_path / "moved")

    with pytest.raises(
        VaultError, match=r"notes/[ac]\.md was fetched, and cannot be written: it is behind a link, notes"
    ):
        sync.sync(first)

    assert notes.is_symlink()
    assert not (tmp_path / "moved/c.md").exists()
    notes.unlink()
    (tmp_path / "moved").rename(notes)
    settle(first, second)
    assert trees(first) == trees(second)
    assert (notes / "b.md").read_text() == "b\n"


@pytest.mark.parametrize("placeholder", [".a.md.icloud", "a.md.nextcloud"])
def test_a_sync_waits_for_a_changed_note_that_a_sync_program_has_and_undoes_no_change(
    first: Config, tmp_path: Path, remote: Path, placeholder: str
) -> None:
    note = put(Path(first.vault), "notes/a.md", "a\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(second.vault), "notes/a.md", "a\ntheirs\n")
    sync.sync(second)
    note.rename(tmp_path / "a.md")
    note.with_name(placeholder).touch()

    with pytest.raises(VaultError, match=r"notes/a\.md was fetched, and cannot be written: it is not on this machine"):
        sync.sync(first)

    note.with_name(placeholder).unlink()
    (tmp_path / "a.md").rename(note)
    settle(first, second)
    assert [Path(one.vault, "notes/a.md").read_text() for one in (first, second)] == ["a\ntheirs\n"] * 2


@pytest.mark.parametrize("hidden", ["by a sync program", "by a link"])
@pytest.mark.parametrize("changed", ["in its generated part", "by a person"])
def test_a_sync_waits_for_a_hidden_page_only_if_a_person_changed_it(
    first: Config, tmp_path: Path, remote: Path, hidden: str, changed: str
) -> None:
    text = "# Start\n\nMy words.\n\n<!-- mdmem:begin -->\n- one\n<!-- mdmem:end -->\n"
    page = put(Path(first.vault), "README.md", text)
    sync.sync(first)
    second = machine(tmp_path, remote)
    old, new = ("- one", "- one\n- two") if changed == "in its generated part" else ("My", "Their")
    put(Path(second.vault), "README.md", text.replace(old, new))
    put(Path(second.vault), "notes/new.md", "new\n")
    sync.sync(second)
    page.rename(tmp_path / "moved.md")
    if hidden == "by a link":
        page.symlink_to(tmp_path / "moved.md")
    else:
        page.with_name(".README.md.icloud").touch()

    if changed == "by a person":
        with pytest.raises(VaultError, match=r"README\.md was fetched, and cannot be written"):
            sync.sync(first)
    else:
        sync.sync(first)

    assert Path(first.vault, "notes/new.md").exists() == (changed != "by a person")
    assert (tmp_path / "moved.md").read_text() == text


def occupied(root: Path, what: str, path: str) -> None:
    """Put something where a file of another machine goes."""
    place = root / path
    if what == "empty folders":
        (place / "deep").mkdir(parents=True)
        return
    if what.startswith("a folder"):
        put(root, f"{path}/deep/mine.txt" if "deep" in what else f"{path}/mine.txt", "mine")
        return
    place.parent.parent.mkdir(exist_ok=True)
    if what == "a link":
        (root.parent / "outside").mkdir()
        place.parent.symlink_to(root.parent / "outside")
    else:
        put(root, path.rpartition("/")[0], "mine")


@pytest.mark.parametrize(
    "what", ["empty folders", "a folder with a file", "a folder with a file deep in it", "a file", "a link"]
)
def test_what_stands_where_a_fetched_note_goes_is_moved_aside(
    first: Config, tmp_path: Path, remote: Path, what: str
) -> None:
    second = machine(tmp_path, remote)
    put(Path(first.vault), "plans/ideas/plan.md", "theirs\n")
    sync.sync(first)
    occupied(Path(second.vault), what, "plans/ideas/plan.md")

    done = sync.sync(second)
    settle(first, second)

    for one in (first, second):
        assert (Path(one.vault) / "plans/ideas/plan.md").read_text() == "theirs\n"
    aside = [path for path in Path(second.vault).rglob("*.conflict-*") if ".git" not in path.parts]
    assert len(aside) == (what != "empty folders") == len(done.conflicts)
    if what == "a link":
        assert list((Path(second.vault).parent / "outside").iterdir()) == []
        assert aside[0].is_symlink()
    elif aside:
        mine = next(aside[0].rglob("mine.txt")) if aside[0].is_dir() else aside[0]
        assert mine.read_text() == "mine"


@pytest.mark.parametrize("order", [0, 1])
def test_a_note_and_a_folder_of_one_name_on_two_machines_are_both_kept(
    first: Config, tmp_path: Path, remote: Path, order: int
) -> None:
    second = machine(tmp_path, remote)
    put(Path(first.vault), "notes/ideas.md/plan.md", "in the folder\n")
    put(Path(second.vault), "notes/ideas.md", "the note\n")
    both_machines = [first, second][:: -1 if order else 1]
    sync.sync(both_machines[0])

    done = sync.sync(both_machines[1])
    settle(first, second)

    assert done.conflicts == ["notes/ideas.md"]
    for one in (first, second):
        root = Path(one.vault)
        assert (root / "notes/ideas.md/plan.md").read_text() == "in the folder\n"
        (kept,) = root.glob("notes/ideas.conflict-*.md")
        assert kept.read_text() == "the note\n"


def test_an_uncommitted_file_of_the_name_of_a_fetched_one_is_kept_beside_it(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    second = machine(tmp_path, remote)
    put(Path(first.vault), "todo.txt", "theirs\n")
    put(Path(first.vault), "notes/links.md", "[todo](../todo.txt)\n")
    put(Path(second.vault), "todo.txt", "mine\n")
    sync.sync(first)

    done = sync.sync(second)
    settle(first, second)

    assert done.conflicts == ["todo.txt"]
    for one in (first, second):
        assert (Path(one.vault) / "todo.txt").read_text() == "theirs\n"
    (kept,) = Path(second.vault).glob("todo.conflict-*.txt")
    assert kept.read_text() == "mine\n"


def test_a_private_note_and_a_private_project_never_leave(first: Config, remote: Path) -> None:
    root = Path(first.vault)
    put(root, "notes/diary.md", "---\nsync: false\n---\n\nCANARY\n")
    put(root, "journal/home/project.md", "---\nkind: project\nsync: no\n---\n\nCANARY\n")
    captured(root, "001-000-prompt-x", "prompt", "CANARY", folder="journal/home/2026-09-14/0800-x-1", project="home")
    put(root, "notes/of-home.md", "---\nproject: home\n---\n\nCANARY\n")

    done = sync.sync(first)

    assert done.private == 4
    assert "CANARY" not in git(remote, "cat-file", "--batch-all-objects", "--batch", "--buffer")
    assert (root / "notes/diary.md").exists()


@pytest.mark.slow
def test_a_note_that_becomes_private_is_not_pushed_with_its_older_commits(first: Config, remote: Path) -> None:
    root = Path(first.vault)
    put(root, "notes/diary.md", "CANARY\n")
    commit.commit(first)
    put(root, "notes/diary.md", "---\nsync: false\n---\n\nCANARY\n")

    with pytest.raises(GitError, match=r"mdmem purge --history-only notes/diary\.md"):
        sync.sync(first)
    purge.apply(first, purge.plan(first, "notes/diary.md", kind="path"))
    sync.sync(first)

    assert "CANARY" not in git(remote, "cat-file", "--batch-all-objects", "--batch", "--buffer")
    assert (root / "notes/diary.md").read_text().endswith("CANARY\n")


def test_a_note_that_becomes_private_after_it_was_pushed_leaves_the_other_machines(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    second = machine(tmp_path, remote)
    put(Path(first.vault), "notes/diary.md", "Words\n")
    sync.sync(first)
    sync.sync(second)
    mine = put(Path(first.vault), "notes/diary.md", "---\nsync: false\n---\n\nWords\n")

    assert sync.sync(first).private == 1
    sync.sync(second)

    assert "notes/diary.md" not in git(remote, "ls-tree", "-r", "--name-only", "main").split()
    assert not (Path(second.vault) / "notes/diary.md").exists()
    assert mine.read_text().endswith("Words\n")


@pytest.mark.slow
def test_a_note_that_stays_is_not_named_on_the_page_that_travels(first: Config, tmp_path: Path, remote: Path) -> None:
    root = Path(first.vault)
    talk = Talk(root, tmp_path / "app", "c0ffee00-1234-4abc-9def-0123456789ab")
    talk.says("CANARY first")
    talk.answers("Done.")
    talk.says("Public")
    talk.answers("About the CANARY")
    (page,) = root.glob("journal/app/*/*/*-c0ffee00.md")
    for name in ("001-000-*", "002-001-*"):
        (path,) = page.parent.glob(name)
        path.write_text(path.read_text().replace("---\n", "---\nsync: false\n", 1))

    sync.sync(first)

    pushed = git(remote, "log", "-p", "--format=%B")
    assert "CANARY" not in pushed
    assert "prompt-canary" not in pushed
    assert "about-the-canary" not in pushed
    assert "\n# Public\n" in page.read_text()
    assert "1. [PRIVATE] → [answer](" in page.read_text()
    assert git(root, "diff", "HEAD") == ""


@pytest.mark.parametrize("named", ["App", "[App]"])
def test_notes_of_a_project_that_stays_do_so_however_they_write_its_name(
    first: Config, remote: Path, named: str
) -> None:
    put(Path(first.vault), "journal/app/project.md", "---\nkind: project\nsync: false\n---\n\n# App\n")
    put(Path(first.vault), "notes/plan.md", f"---\nproject: {named}\n---\n\nCANARY\n")

    sync.sync(first)

    assert "CANARY" not in git(remote, "log", "-p", "--format=%B")


def test_notes_of_a_project_that_stays_do_so_by_its_former_name_until_another_has_it(
    first: Config, remote: Path
) -> None:
    root = Path(first.vault)
    put(root, "journal/platform/project.md", "---\nkind: project\nproject: app\nsync: false\n---\n\n# App\n")
    put(root, "notes/plan.md", "---\nproject: app\n---\n\nCANARY\n")
    sync.sync(first)
    assert "CANARY" not in git(remote, "log", "-p", "--format=%B")

    put(root, "journal/app/project.md", "---\nkind: project\nproject: app\n---\n\n# Another app\n")
    put(root, "notes/other.md", "---\nproject: app\n---\n\nOf the other app\n")
    sync.sync(first)
    assert "Of the other app" in git(remote, "log", "-p", "--format=%B")


def test_a_page_does_not_name_what_stays_when_it_is_committed_without_it(first: Config, tmp_path: Path) -> None:
    root = Path(first.vault)
    talk = Talk(root, tmp_path / "app", "c0ffee00-1234-4abc-9def-0123456789ab")
    talk.says("Public")
    talk.says("CANARY")
    talk.answers("Done.")
    (path,) = root.glob("journal/app/*/*/002-000*")
    path.write_text(path.read_text().replace("---\n", "---\nsync: false\n", 1))
    page = path.with_name(f"{path.parent.name}.md").relative_to(root).as_posix()

    commit.commit_paths(first, [page], "As when another note is forgotten")

    assert head_files(root).count(page) == 1
    assert "canary" not in git(root, "log", "-p", "--format=%B").lower()


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(
    ("module", "name", "most"), [(changes, "MOST", 1), (changes, "MOST", 3), (batch, "MAX_BYTES", 1)]
)
def test_a_page_does_not_name_what_stays_when_the_notes_of_its_session_are_read_in_parts(
    first: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, module: Any, name: str, most: int, is_new: bool
) -> None:
    root = Path(first.vault)
    talk = Talk(root, tmp_path / "app", "c0ffee00-1234-4abc-9def-0123456789ab")
    talk.says("Public")
    if not is_new:
        commit.commit(first)
    talk.says("CANARY")
    talk.answers("Done.")
    (path,) = root.glob("journal/app/*/*/002-000*")
    path.write_text(path.read_text().replace("---\n", "---\nsync: false\n", 1))
    monkeypatch.setattr(module, name, most)

    commit.commit(first)

    (page,) = root.glob("journal/app/*/*/*-c0ffee00.md")
    assert page.relative_to(root).as_posix() in head_files(root)
    assert "CANARY" in path.read_text()
    assert "canary" not in git(root, "log", "-p", "--format=%B").lower()


@pytest.mark.slow
def test_what_leaves_history_is_not_named_there_either(first: Config, tmp_path: Path, remote: Path) -> None:
    root = Path(first.vault)
    talk = Talk(root, tmp_path / "app", "c0ffee00-1234-4abc-9def-0123456789ab")
    talk.says("Public")
    talk.says("CANARY")
    talk.answers("Done.")
    commit.commit(first)
    (path,) = root.glob("journal/app/*/*/002-000*")
    path.write_text(path.read_text().replace("---\n", "---\nsync: false\n", 1))

    assert purge.apply(first, purge.plan(first, path.relative_to(root).as_posix(), kind="path")).left == []
    sync.sync(first)

    assert "canary" not in git(remote, "log", "-p", "--format=%B").lower()
    assert "CANARY" in path.read_text()
    assert "2. [PRIVATE]" in (path.parent / f"{path.parent.name}.md").read_text()


@pytest.mark.slow
def test_a_project_that_becomes_private_leaves_history_by_one_command(first: Config) -> None:
    root = Path(first.vault)
    page = put(root, "journal/home/project.md", "---\nkind: project\n---\n")
    captured(root, "001-000-prompt-x", "prompt", "x", folder="journal/home/2026-09-14/0800-x-1", project="home")
    commit.commit(first)
    page.write_text("---\nkind: project\nsync: no\n---\n")

    with pytest.raises(GitError, match=r":\n  mdmem purge --history-only journal/home$"):
        sync.sync(first)

    assert [path.rpartition("/")[2] for path in purge.plan(first, "journal/home", kind="path").drop] == [
        "001-000-prompt-x.md",
        "project.md",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("pushed", [True, False])
def test_a_purge_travels_and_the_new_notes_of_other_machines_stay(
    first: Config, tmp_path: Path, remote: Path, pushed: bool
) -> None:
    put(Path(first.vault), "notes/a.md", "one\nthe CANARY\nthree\n")
    put(Path(first.vault), "notes/b.md", "untouched\n")
    sync.sync(first)
    second, third = machine(tmp_path, remote), machine(tmp_path, remote, "third")
    put(Path(second.vault), "notes/new-2.md", "from the second\n")
    put(Path(second.vault), "notes/quotes-2.md", "as the CANARY says\n")
    commit.commit(second)
    put(Path(second.vault), "notes/a.md", "one\nthe CANARY\nthree, says Ada\n")
    if pushed:
        sync.sync(second)
    put(Path(third.vault), "notes/new-3.md", "from the third\n")
    commit.commit(third)
    put(Path(third.vault), "notes/unsaved-3.md", "held: the CANARY\n")

    told = purge.apply(first, purge.plan(first, "the CANARY")).elsewhere
    done = sync.sync(first)
    settle(second, third, first)
    sync.sync(second)

    assert any("`mdmem sync` replaces it" in sentence for sentence in told)
    assert any("gc --prune=now" in sentence for sentence in done.remaining_advice)
    one, two, three = trees(first, second, third)
    assert one == two == three
    assert one["notes/new-2.md"] == b"from the second\n"
    assert one["notes/new-3.md"] == b"from the third\n"
    assert one["notes/b.md"] == b"untouched\n"
    assert one["notes/a.md"] == b"one\n[REDACTED]\nthree, says Ada\n"
    assert one["notes/quotes-2.md"] == b"as [REDACTED] says\n"
    assert one["notes/unsaved-3.md"] == b"held: [REDACTED]\n"
    git(remote, "gc", "-q", "--prune=now")
    for folder in (first.vault, second.vault, third.vault, remote):
        assert "CANARY" not in unpacked(Path(folder))
    assert "By hand: add 2 notes" in git(remote, "log", "--format=%s")
    for one_machine in (first, second, third):
        assert git(Path(one_machine.vault), "status", "--porcelain") == ""
        done = sync.sync(one_machine)
        assert (list(done.received), *done[1:]) == ([], 0, [], [], 0, [], (), (), (), "main")


STOPPED_AT_THE_END_OF_A_PURGE = """
import signal
from mdmem.history import sync
from mdmem.history.git import filtering
def run(settings):
    filtering.scrub = lambda _: os.kill(os.getpid(), signal.SIGKILL)
    sync.sync(settings)
"""


def test_a_sync_that_was_killed_before_it_dropped_what_was_purged_is_completed_by_the_next(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/a.md", "one\nthe CANARY\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(second.vault), "notes/new.md", "from the second\n")
    assert purge.apply(first, purge.plan(first, "CANARY")).left == []

    told: list[str] = []
    for one in (first, second):
        with forker(Path(one.vault), STOPPED_AT_THE_END_OF_A_PURGE) as server:
            assert server.stdin
            assert server.stdout
            server.stdin.write("go\n")
            server.stdout.readline()
            assert server.stdout.readline() == "ended\n"
        assert "CANARY" in unpacked(Path(one.vault))
        told += sync.sync(one).remaining_advice
    settle(first, second)

    assert "The purge now applies to origin too, and all new notes were kept." in told
    assert sync.PURGED_HERE in told
    assert [one for one in (first, second) if "CANARY" in unpacked(Path(one.vault))] == []
    assert (Path(first.vault) / "notes/new.md").exists()
    assert sync.sync(second).remaining_advice == ()


KILLED_WHILE_HISTORY_IS_REPLACED = """
import signal
from mdmem.history.git import filtering
from mdmem.history.purging import purge
def run(settings):
    planned = purge.plan(settings, "CANARY")
    fetch = filtering.fetch_back
    def fetch_and_die(*arguments):
        fetch(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    filtering.fetch_back = fetch_and_die
    purge.apply(settings, planned)
"""


def test_a_purge_that_was_killed_once_history_was_replaced_is_not_undone_by_a_sync(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/a.md", "one\nthe CANARY\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(second.vault), "notes/new.md", "from the second, of the CANARY\n")
    with forker(Path(first.vault), KILLED_WHILE_HISTORY_IS_REPLACED) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write("go\n")
        server.stdout.readline()
        assert server.stdout.readline() == "ended\n"
    assert "CANARY" not in git(Path(first.vault), "log", "-p", "main")

    settle(first, second)
    purge.apply(first, purge.plan(first, "CANARY"))
    settle(first, second)

    for one in trees(first, second):
        assert one["notes/a.md"] == b"one\nthe [REDACTED]\n"
        assert one["notes/new.md"] == b"from the second, of the [REDACTED]\n"
    git(remote, "gc", "-q", "--prune=now")
    assert [folder for folder in (first.vault, second.vault, remote) if "CANARY" in unpacked(Path(folder))] == []


@pytest.mark.slow
def test_a_purge_that_travels_reaches_tags_and_partial_clones(first: Config, tmp_path: Path, remote: Path) -> None:
    git(remote, "config", "uploadpack.allowFilter", "true")
    put(Path(first.vault), "notes/a.md", "one\nthe CANARY\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    git(Path(second.vault), "tag", "kept")
    put(Path(second.vault), "notes/a.md", "one\nthe CANARY\n\nBen's.\n")
    git(Path(second.vault), "stash", "--quiet")
    clone.clone(remote.as_uri(), tmp_path / "part", VaultPart("2030-01-01"))
    part = config.load(str(tmp_path / "part"))
    put(Path(part.vault), "notes/new.md", "from the part\n")

    assert purge.apply(first, purge.plan(first, "CANARY")).left == []
    sync.sync(first)
    told = [sync.sync(one).remaining_advice for one in (second, part)]
    again = [sync.sync(one) for one in (first, second, part)]

    assert told == [(sync.PURGED_HERE,)] * 2
    assert [(one.sent, one.remaining_advice) for one in again] == [(0, ())] * 3
    assert [one for one in (first, second, part) if "CANARY" in unpacked(Path(one.vault))] == []
    assert "Ben's." in git(Path(second.vault), "stash", "show", "-p")
    assert git(Path(second.vault), "show", "kept:notes/a.md") == "one\nthe [REDACTED]\n"
    assert (Path(first.vault) / "notes/new.md").read_text() == "from the part\n"
    assert git(Path(part.vault), "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_remote_that_keeps_its_history_is_told_after_a_purge(first: Config, remote: Path) -> None:
    put(Path(first.vault), "notes/a.md", "one\nthe CANARY\n")
    sync.sync(first)
    assert purge.apply(first, purge.plan(first, "CANARY")).left == []
    git(remote, "config", "receive.denyNonFastForwards", "true")

    with pytest.raises(GitError, match=r"refuses to have its history replaced.*receive\.denyNonFastForwards false"):
        sync.sync(first)

    git(remote, "config", "receive.denyNonFastForwards", "false")
    assert "The purge now applies to origin too" in sync.sync(first).remaining_advice[0]
    git(remote, "gc", "--quiet", "--prune=now")
    assert "CANARY" not in unpacked(remote)


def test_a_remote_that_refuses_a_purge_for_a_reason_of_its_own_is_quoted(first: Config, remote: Path) -> None:
    put(Path(first.vault), "notes/a.md", "one\nthe CANARY\n")
    sync.sync(first)
    assert purge.apply(first, purge.plan(first, "CANARY")).left == []
    full = put(remote, "hooks/pre-receive", "#!/bin/sh\necho 'The repository is over its quota.' >&2\nexit 1\n")
    full.chmod(0o755)

    with pytest.raises(GitError) as refused:
        sync.sync(first)

    said = "declined. It says: The repository is over its quota. It still has what was purged here. Everything is"
    assert said in str(refused.value)
    assert "denyNonFastForwards" not in str(refused.value)
    host = remote.parent / "gitlab"
    host.symlink_to(remote)
    git(Path(first.vault), "remote", "set-url", "origin", str(host))
    with pytest.raises(GitError, match=r"It says: The repository is over its quota\..*allowed to force push\), and"):
        sync.sync(first)


@pytest.mark.slow
def test_two_purges_at_the_same_time_and_the_new_notes_of_a_third_machine_all_arrive(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/a.md", "one\nthe CANARY\nthe FALCON\nthree\n")
    sync.sync(first)
    second, third = machine(tmp_path, remote), machine(tmp_path, remote, "third")
    for number, at in enumerate((first, second, third)):
        put(Path(at.vault), f"notes/new-{number}.md", f"new {number}, the CANARY and the FALCON\n")
        commit.commit(at)

    purge.apply(first, purge.plan(first, "the CANARY"))
    purge.apply(second, purge.plan(second, "the FALCON"))
    settle(first, second, third)
    settle(first, second, third)

    one, two, three = trees(first, second, third)
    assert one == two == three
    assert one["notes/a.md"] == b"one\n[REDACTED]\n[REDACTED]\nthree\n"
    for number in range(3):
        assert one[f"notes/new-{number}.md"] == b"new %d, [REDACTED] and [REDACTED]\n" % number
    git(remote, "gc", "-q", "--prune=now")
    for folder in (first.vault, second.vault, third.vault, remote):
        assert "CANARY" not in unpacked(Path(folder))
        assert "FALCON" not in unpacked(Path(folder))


STOPPED_BEFORE_A_PURGE_IS_REPEATED = """
import signal
from mdmem.history import sync
from mdmem.history.purging import purge
def run(settings):
    purge.apply_held = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    sync.sync(settings)
"""


def test_of_two_purges_at_the_same_time_none_is_lost_if_the_sync_is_killed(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/a.md", "one\nthe CANARY\nthe FALCON\nthree\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    purge.apply(first, purge.plan(first, "CANARY"))
    purge.apply(second, purge.plan(second, "FALCON"))
    sync.sync(first)

    with forker(Path(second.vault), STOPPED_BEFORE_A_PURGE_IS_REPEATED) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write("go\n")
        server.stdout.readline()
        assert server.stdout.readline() == "ended\n"
    settle(second, first)

    for one in trees(first, second):
        assert one["notes/a.md"] == b"one\nthe [REDACTED]\nthe [REDACTED]\nthree\n"
    git(remote, "gc", "-q", "--prune=now")
    for folder in (first.vault, second.vault, remote):
        assert re.search("CANARY|FALCON", unpacked(Path(folder))) is None
    assert sync.sync(second).remaining_advice == ()


@pytest.mark.slow
def test_a_note_that_was_purged_by_its_id_goes_on_other_machines_too(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    name = f"{FOLDER}/002-000-prompt-x-7gk2q9m4x1.md"
    captured(Path(first.vault), Path(name).stem, "prompt", "CANARY")
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(second.vault), name, (Path(second.vault) / name).read_text() + "\nedited there\n")
    put(Path(second.vault), "notes/new.md", "new\n")
    commit.commit(second)

    purge.apply(first, purge.plan(first, "7gk2q9m4x1", kind="id"))
    settle(first, second)

    one, two = trees(first, second)
    assert one == two
    assert name not in one
    assert one["notes/new.md"] == b"new\n"
    git(remote, "gc", "-q", "--prune=now")
    for folder in (first.vault, second.vault, remote):
        assert "7gk2q9m4x1" not in unpacked(Path(folder))


@pytest.mark.slow
def test_a_purge_reaches_a_machine_that_never_had_the_text_after_the_remote_dropped_it(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    git(remote, "config", "uploadpack.allowFilter", "true")
    for number in range(2):
        captured(Path(first.vault), f"00{number}-000-prompt-x-7gk2q9m4x{number}", "prompt", f"the CANARY {number}")
        sync.sync(first)
    clone.clone(remote.as_uri(), tmp_path / "part", VaultPart("2030-01-01"))
    part = config.load(str(tmp_path / "part"))
    put(Path(part.vault), "notes/new.md", "from the part\n")
    assert purge.apply(first, purge.plan(first, "CANARY")).left == []
    sync.sync(first)
    git(remote, "gc", "--quiet", "--prune=now")

    told = sync.sync(part).remaining_advice
    sync.sync(first)

    assert told == (sync.PURGED_HERE,)
    assert "CANARY" not in unpacked(Path(part.vault))
    assert (Path(first.vault) / "notes/new.md").read_text() == "from the part\n"
    assert git(Path(part.vault), "status", "--porcelain") == ""
    git(Path(part.vault), "fsck", "--no-dangling")


@pytest.mark.slow
def test_a_purged_text_that_was_only_a_name_or_in_a_message_is_found_in_notes_of_other_machines(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/falcon-3.md", "nothing\n")
    sync.sync(first)
    git(Path(first.vault), "commit", "-q", "--allow-empty", "-m", "About heron-7")
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(second.vault), "notes/new.md", "of falcon-3 and heron-7\n")
    commit.commit(second)

    purge.apply(first, purge.plan(first, r"(?:falcon|heron)-\d", kind="regex"))
    settle(first, second)

    assert (Path(first.vault) / "notes/new.md").read_text() == "of [REDACTED] and [REDACTED]\n"
    for folder in (first.vault, second.vault):
        assert re.search("falcon|heron", unpacked(Path(folder))) is None


@pytest.mark.slow
def test_a_purged_name_of_one_of_two_files_of_the_same_content_goes_on_other_machines_too(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    for name in ("a", "falcon-3"):
        put(Path(first.vault), f"notes/{name}.md", "nothing\n")
    git(Path(first.vault), "add", "notes")
    git(Path(first.vault), "commit", "-q", "-m", "By hand")
    sync.sync(first)
    second = machine(tmp_path, remote)
    git(Path(second.vault), "tag", "kept")
    put(Path(second.vault), "notes/new.md", "from the second\n")

    purge.apply(first, purge.plan(first, r"falcon-\d", kind="regex"))
    settle(first, second)

    assert (Path(first.vault) / "notes/new.md").exists()
    assert [folder for folder in (first.vault, second.vault) if "falcon" in unpacked(Path(folder))] == []


@pytest.mark.slow
def test_a_commit_that_looks_like_the_record_of_a_purge_does_not_stop_a_sync(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/a.md", "the CANARY\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    purge.apply(first, purge.plan(first, "CANARY"))
    git(Path(first.vault), "commit", "-q", "--allow-empty", "-m", "By hand\n\nMdmem-Purged-Text: is it so?\n")

    settle(first, second)

    assert (Path(second.vault) / "notes/a.md").read_text() == "the [REDACTED]\n"


@pytest.mark.parametrize(("texts", "told"), [(200, False), (201, True)])
def test_a_purge_of_more_texts_than_other_machines_are_told_of_says_so(first: Config, texts: int, told: bool) -> None:
    put(Path(first.vault), "notes/a.md", "".join(f"customer {number:03d}\n" for number in range(texts)))
    sync.sync(first)

    elsewhere = purge.apply(first, purge.plan(first, r"customer \d{3}", kind="regex")).elsewhere

    assert any("find only 200 of the 201 purged texts" in sentence for sentence in elsewhere) is told


@pytest.mark.slow
def test_a_purge_is_not_undone_once_a_later_one_has_dropped_the_commit_before_its_record(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/a-7gk2q9m4x1.md", "the CANARY\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(second.vault), "notes/new.md", "from the second, of the CANARY\n")
    purge.apply(first, purge.plan(first, "CANARY"))
    sync.sync(first)

    purge.apply(first, purge.plan(first, "7gk2q9m4x1", kind="id"))
    settle(first, second)

    git(remote, "gc", "-q", "--prune=now")
    for one in trees(first, second):
        assert one["notes/new.md"] == b"from the second, of the [REDACTED]\n"
        assert "notes/a-7gk2q9m4x1.md" not in one
    assert [folder for folder in (first.vault, second.vault, remote) if "CANARY" in unpacked(Path(folder))] == []


@pytest.mark.slow
def test_what_a_purge_leaves_in_other_places_stays_on_other_machines_too(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/a.md", "my pin 77423 and the number 77423, of FALCON-1\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    put(Path(second.vault), "notes/new.md", "the number 77423 of FALCON-1\n")

    purged = purge.apply(first, purge.plan(first, r"(?<=pin )\d+|FALCON-\d", kind="regex"))
    sync.sync(first)
    told = sync.sync(second).remaining_advice
    sync.sync(first)

    assert any("find only 1 of the 2 purged texts" in sentence for sentence in purged.elsewhere)
    assert told == (sync.PURGED_IN_PART, sync.PURGED_HERE)
    for one in trees(first, second):
        assert one["notes/a.md"] == b"my pin [REDACTED] and the number 77423, of [REDACTED]\n"
        assert one["notes/new.md"] == b"the number 77423 of [REDACTED]\n"


@pytest.mark.slow
@pytest.mark.parametrize(("target", "kind"), [(r"(?<=pin )\d", "regex"), ("notes/a.md", "path")])
def test_a_purge_that_is_undone_by_the_history_of_another_machine_is_told(
    first: Config, tmp_path: Path, remote: Path, target: str, kind: str
) -> None:
    put(Path(first.vault), "notes/a.md", "the CANARY\nmy pin 7\n1977\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    purge.apply(first, purge.plan(first, "CANARY"))
    purge.apply(second, purge.plan(second, target, kind=kind))
    sync.sync(first)

    assert sync.sync(second).remaining_advice == (sync.PURGE_AGAIN, sync.PURGED_HERE)

    purge.apply(second, purge.plan(second, target, kind=kind))
    assert sync.PURGE_AGAIN not in sync.sync(second).remaining_advice
    third = machine(tmp_path, remote, "third")
    purge.apply(third, purge.plan(third, "1977"))
    sync.sync(third)
    assert sync.sync(second).remaining_advice == (sync.PURGED_HERE,), "told once"


def test_a_text_that_no_purge_accepts_is_ignored_in_records_of_earlier_versions(first: Config) -> None:
    assert purge.plan_again(first, {b"7", b"\t", b"2026", b"CANARY"}, []).texts == {b"CANARY"}


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1), st.binary(max_size=200), st.binary(max_size=200))
def test_a_purged_text_is_recognized_by_its_digest_and_by_nothing_else(
    texts: list[bytes], before: bytes, after: bytes
) -> None:
    sealed = purge_record.sealed(texts)
    data = b"".join([before, *texts, after])

    assert purge_record.recovered(sealed, [data]) == set(texts)
    assert purge_record.recovered(sealed, [before]) == {text for text in texts if text in before}
    assert [len(seal) for seal in sealed] == [len(f"{len(text)}") + 32 + 36 + 2 for text in texts]


def test_a_text_that_was_purged_with_another_version_is_recognized() -> None:
    seal = "000102030405060708090a0b0c0d0e0f:6:2bd05ad5c1e304755aaa6535d376be3c4d02"

    assert purge_record.recovered([seal], [b"the CANARY sings"]) == {b"CANARY"}


def test_the_texts_of_a_purge_share_a_key_so_that_one_pass_finds_all_of_one_length() -> None:
    assert len({seal.partition(":")[0] for seal in purge_record.sealed([b"CANARY", b"FALCON"])}) == 1
    assert len({purge_record.sealed([b"CANARY"])[0] for _ in range(2)}) == 2


def test_a_missing_and_an_unreachable_remote_are_told(vault: Path, home: Path, tmp_path: Path) -> None:
    settings = start(vault)
    turn(vault)

    with pytest.raises(GitError, match="remote add origin URL"):
        sync.sync(settings)
    git(vault, "remote", "add", "origin", str(tmp_path / "nowhere.git"))
    with pytest.raises(GitError, match=r"nowhere\.git.* sync again later\. .* remote set-url origin URL"):
        sync.sync(settings)
    (home / ".gitconfig").write_text('[core]\n\tsshCommand = "echo ssh: Connection refused >&2; exit 255 #"\n')
    git(vault, "remote", "set-url", "origin", "git@box.example:memory.git")
    with pytest.raises(GitError, match="Connection refused"):
        sync.sync(settings)

    assert len(head_files(vault)) == 6


@pytest.mark.skipif(os.name == "nt", reason="the transport is a shell script")
@pytest.mark.parametrize(
    ("printed", "todo"),
    [
        ("Host key verification failed.", "run `ssh HOST` in a terminal once, and confirm its key."),
        (
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
            "somebody may be in between. Ask who runs it; if its key was changed, `ssh-keygen -R HOST`",
        ),
        ("git@box.example: Permission denied (publickey,password).", "unlock your key with `ssh-add`"),
    ],
)
def test_what_ssh_cannot_ask_is_told_with_what_to_do(
    first: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Any, printed: str, todo: str
) -> None:
    transport = tmp_path / "ssh"
    transport.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{printed}\nEND\nexit 255\n")
    transport.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(transport))
    git(Path(first.vault), "remote", "set-url", "origin", "git@box.example:memory.git")

    for words in (["sync"], ["clone", "git@box.example:memory.git", str(tmp_path / "clone")]):
        done = ask(*words)
        assert done.returncode == 7
        assert printed.splitlines()[-1] in done.stderr
        assert todo in done.stderr
        assert done.stderr.count("ssh-keygen") + done.stderr.count("ssh HOST") + done.stderr.count("ssh-add") == 1


def test_a_push_that_a_remote_refuses_for_a_secret_says_how_to_remove_it_and_one_that_breaks_off_is_no_refusal(
    first: Config, remote: Path, tmp_path: Path, ask: Any
) -> None:
    put(Path(first.vault), "notes/one.md", "# One\n")
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'Push cannot contain secrets'\nexit 1\n")
    hook.chmod(0o755)

    said = ask("sync").stderr
    assert "origin rejected the push: pre-receive hook declined. It says: Push cannot contain secrets." in said
    way = "`mdmem purge TEXT` removes a text from every commit."
    assert way in said
    for words in ("PUSH BLOCKED: Secrets detected in code changes", "1 secret has been found", "leaks found: 3"):
        hook.write_text(f"#!/bin/sh\necho '{words}'\nexit 1\n")
        assert way in ask("sync").stderr
    others = ("Your deploy secret has expired.", "Secret not found in the vault", "No secrets found. Disk full.")
    for words in (*others, "INF no leaks found", "0 secrets detected"):
        hook.write_text(f"#!/bin/sh\necho '{words}'\nexit 1\n")
        said = ask("sync").stderr
        assert words in said
        assert "mdmem purge" not in said

    hook.write_text("#!/bin/sh\nkill -9 $PPID\n")
    said = ask("sync").stderr
    assert "The push to origin failed: " in said
    assert "rejected" not in said
    hook.unlink()
    assert ask("sync").returncode == 0


class _AsksForPassword(BaseHTTPRequestHandler):
    given: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.given.append(self.headers.get("Authorization", ""))
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="notes"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it overrides
        pass


def test_a_remote_that_wants_a_password_is_told_with_the_way_to_store_one(first: Config, home: Path, ask: Any) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _AsksForPassword) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        git(Path(first.vault), "remote", "set-url", "origin", f"http://127.0.0.1:{server.server_port}/notes.git")
        without = ask("sync")
        helper = '"!f() { echo username=ana; echo password=wrong; }; f"'
        (home / ".gitconfig").write_text(f"[credential]\n\thelper = {helper}\n")
        refused = ask("sync")
        by_sync = [*_AsksForPassword.given]
        _AsksForPassword.given.clear()
        cloned = ask("clone", f"http://127.0.0.1:{server.server_port}/notes.git", str(home / "new"))
        server.shutdown()

    for done in (without, refused, cloned):
        assert done.returncode == 7
        assert "store one in a credential helper of git (`git help credentials`)" in done.stderr
    for headers in (by_sync, _AsksForPassword.given):
        assert f"Basic {base64.b64encode(b'ana:wrong').decode()}" in headers


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_remote_with_ids_of_another_kind_is_told_with_the_way_to_make_one(
    first: Config, tmp_path: Path, ask: Any, is_empty: bool
) -> None:
    other = tmp_path / "other.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "--object-format=sha256", str(other))
    if not is_empty:
        tree = git(other, "hash-object", "-w", "-t", "tree", "/dev/null").strip()
        oid = git(other, "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "x", tree).strip()
        git(other, "update-ref", "refs/heads/main", oid)
    git(Path(first.vault), "remote", "set-url", "origin", str(other))

    done = ask("sync")

    assert done.returncode == 7
    assert "`git rev-parse --show-object-format`" in done.stderr


@pytest.mark.parametrize("branch", ["main", "master"])
def test_a_remote_with_code_neither_gets_the_notes_nor_puts_its_code_into_the_vault(
    first: Config, tmp_path: Path, remote: Path, ask: Any, branch: str
) -> None:
    vault, code = Path(first.vault), tmp_path / "code"
    git(tmp_path, "init", "-q", "-b", branch, str(code))
    put(code, "main.c", "int main;\n")
    git(code, "add", ".")
    git(code, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "code")
    git(tmp_path, "clone", "-q", "--bare", str(code), str(tmp_path / "code.git"))
    git(vault, "remote", "set-url", "origin", str(tmp_path / "code.git"))

    done = ask("sync")

    assert done.returncode == 7
    assert "something other than a vault, such as 'main.c'" in done.stderr
    assert f"git -C {shlex.quote(str(vault))} remote set-url origin URL" in done.stderr
    assert not (vault / "main.c").exists()
    assert git(tmp_path / "code.git", "for-each-ref", "--format=%(refname)").split() == [f"refs/heads/{branch}"]
    git(vault, "remote", "set-url", "origin", str(remote))
    assert ask("sync", check=True).returncode == 0
    assert git(remote, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]


def test_a_remote_that_its_host_began_with_a_readme_takes_the_vault(vault: Path, tmp_path: Path, remote: Path) -> None:
    begun = tmp_path / "begun"
    git(tmp_path, "clone", "-q", str(remote), str(begun))
    for name in ("README.md", "LICENSE", ".gitignore"):
        put(begun, name, "made by the host\n")
    git(begun, "add", ".")
    git(begun, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "Initial commit")
    git(begun, "push", "-q", "origin", "HEAD:main")
    settings = start(vault)
    turn(vault)
    git(vault, "remote", "add", "origin", str(remote))

    sync.sync(settings)

    assert (vault / "LICENSE").exists()
    assert "journal" in git(remote, "ls-tree", "--name-only", "main").split()


@pytest.mark.parametrize("url", ["ext::sh -c touch% {mark}", "--upload-pack=touch {mark}"])
def test_an_address_cannot_start_a_program(tmp_path: Path, url: str) -> None:
    mark = tmp_path / "ran"

    with pytest.raises(GitError):
        clone.clone(url.format(mark=mark), tmp_path / "new")

    assert not mark.exists()


def test_a_clone_whose_git_was_killed_can_be_made_again(
    first: Config, tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(root: Path, *_: object, **__: object) -> None:
        put(root, ".git/objects/0d/half", "x")
        raise GitError("git clone failed: exit status -9.")

    (tmp_path / "there").mkdir()
    for where in ("new", "there"):
        with monkeypatch.context() as patch, pytest.raises(GitError):
            patch.setattr(repository, "start", killed)
            clone.clone(str(remote), tmp_path / where)

    assert (clone.clone(str(remote), tmp_path / "new").root / "mdmem.toml").is_file()
    with pytest.raises(VaultError, match=r"rm -rf .*there/\.git"):
        clone.clone(str(remote), tmp_path / "there")


def test_a_clone_from_a_folder_that_is_packed_meanwhile_is_tried_again(
    first: Config, tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync.sync(first)
    start, missing = repository.start, iter([remote / "objects-away"])

    def packed_meanwhile(root: Path, *args: Any, **options: Any) -> repository.GitResult:
        if away := next(missing, None):
            (remote / "objects").rename(away)
            failed = start(root, *args, **options)
            away.rename(remote / "objects")
            return failed
        return start(root, *args, **options)

    monkeypatch.setattr(repository, "start", packed_meanwhile)

    assert (clone.clone(str(remote), tmp_path / "new").root / "mdmem.toml").is_file()


def test_a_clone_that_failed_leaves_no_folder_that_was_not_there(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for where in ("mine", "new", "far/down/new"):
        with pytest.raises(GitError):
            clone.clone(str(tmp_path / "nowhere.git"), tmp_path / where)

    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["mine"]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a backslash parts folders there")
def test_a_note_with_a_backslash_in_its_name_reaches_other_machines(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    second = machine(tmp_path, remote)
    put(Path(first.vault), "notes/back\\slash.md", "one\n")
    settle(first, second)
    third = machine(tmp_path, remote, "third")
    put(Path(second.vault), "notes/back\\slash.md", "two\n")
    settle(second, first, third)

    one, two, three = trees(first, second, third)
    assert one == two == three
    assert one["notes/back\\slash.md"] == b"two\n"


@pytest.mark.parametrize("how", ["synced", "cloned"])
def test_a_name_that_this_system_refuses_stays_on_the_other_machines(
    first: Config, tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    def sync_there() -> list[str]:
        with monkeypatch.context() as patched:
            patched.setattr(part, "NEVER_IN_NAMES", frozenset("?"))
            return sync.sync(second).refused

    names = ["notes/nul.md", "notes/why?.md"]
    second = machine(tmp_path, remote)
    for name in names:
        put(Path(first.vault), name, "one\n")
    if how == "synced":
        sync.sync(first)
        assert sync_there() == names
    else:
        sync.sync(first)
        with monkeypatch.context() as patched:
            patched.setattr(part, "NEVER_IN_NAMES", frozenset("?"))
            clone.clone(str(remote), tmp_path / "cloned")
        second = config.load(str(tmp_path / "cloned"))
    for word in ("two", "three"):  # the second machine follows, and then has a commit of its own to merge
        put(Path(second.vault), f"notes/{word}.md", "from there\n")
        put(Path(first.vault), names[1], f"{word}\n")
        sync.sync(first)
        assert sync_there() == names[1:]
        assert git(Path(second.vault), "status", "--porcelain") == ""
    sync.sync(first)

    assert [Path(second.vault, name).exists() for name in names] == [False, False]
    assert [Path(first.vault, name).read_text() for name in names] == ["one\n", "three\n"]
    assert trees(first)[0].keys() - trees(second)[0].keys() == set(names)


def test_two_files_that_a_disk_takes_for_one_are_not_received_until_one_is_renamed(
    first: Config, tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = machine(tmp_path, remote)
    monkeypatch.setattr(same_names, "joins_names", lambda repo: repo.root != Path(first.vault))
    monkeypatch.setattr(same_names, "is_one", lambda _, path, other: path.lower() == other.lower())
    put(Path(second.vault), "notes/Plan.md", "# Upper\n")
    put(Path(second.vault), "notes/moved.md", "# Moved\n")
    sync.sync(second)
    sync.sync(first)
    put(Path(first.vault), "notes/plan.md", "# Lower\n")
    Path(first.vault, "notes/moved.md").rename(Path(first.vault, "notes/Moved.md"))
    sync.sync(first)
    before = trees(second)

    taken = r"takes notes/Plan\.md and notes/plan\.md for one file"
    with pytest.raises(GitError, match=rf"{taken}.* Rename one of them on a machine that has it"):
        sync.sync(second)
    assert trees(second) == before
    with pytest.raises(GitError, match=taken):
        clone.clone(str(remote), tmp_path / "third")
    assert not list((tmp_path / "third").glob("*"))

    Path(first.vault, "notes/plan.md").rename(Path(first.vault, "notes/other plan.md"))
    sync.sync(first)
    third = machine(tmp_path, remote, "third")
    settle(first, second)
    assert trees(third) == trees(first)
    assert Path(second.vault, "notes/Plan.md").read_text() == "# Upper\n"
    assert Path(second.vault, "notes/other plan.md").read_text() == "# Lower\n"


def test_names_that_only_other_disks_take_for_one_are_received(
    first: Config, tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["notes/Straße/a.md", "notes/Strasse/a.md", "notes/❤\ufe0f.md", "notes/❤.md"]
    for name in names:
        put(Path(first.vault), name, f"{name}\n")
    if len(list(Path(first.vault).glob("notes/**/*.md"))) < len(names):
        pytest.skip("this disk takes them for one")
    second = machine(tmp_path, remote)
    monkeypatch.setattr(same_names, "joins_names", lambda repo: True)

    settle(first, second)

    assert [Path(second.vault, name).read_text() for name in names] == [f"{name}\n" for name in names]
    assert not [*Path(second.vault, ".git").glob(same_names.FOLDER)]


def test_names_are_tried_on_the_vaults_disk_also_when_git_is_on_another_and_after_a_killed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks = []
    tried = same_names._is_found

    def is_found(folder: Path, name: str, as_name: str) -> bool:
        disks.append(folder.stat().st_dev)
        return tried(folder, name, as_name)

    monkeypatch.setattr(same_names, "_is_found", is_found)
    memory = Path("/dev/shm")
    has_other_disk = os.access(memory, os.W_OK)
    with tempfile.TemporaryDirectory(dir=memory if has_other_disk else tmp_path) as elsewhere:
        git(tmp_path, "init", "-q", "--separate-git-dir", f"{elsewhere}/store", str(tmp_path / "apart"))
        git(tmp_path, "init", "-q", str(tmp_path / "whole"))
        for name, folder in (("apart", ""), ("whole", ".git"))[not has_other_disk :]:
            repo = repository.open_vault(tmp_path / name)
            put(tmp_path / name / folder, f"{same_names.FOLDER}/b.md", "left by a killed run\n")

            assert not same_names.is_one(repo, "notes/a.md", "notes/b.md")

            assert not [*Path(tmp_path, name).rglob(same_names.FOLDER)]
    assert set(disks) == {tmp_path.stat().st_dev}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the hooks are shell scripts")
def test_the_git_behind_a_remote_in_a_folder_has_its_memory_bounded_as_well(
    first: Config, tmp_path: Path, remote: Path, home: Path
) -> None:
    second = machine(tmp_path, remote)
    asked = tmp_path / "asked"
    text = f"#!/bin/sh\ngit config --get core.packedGitLimit >> {asked}\n"
    put(remote, "hooks/pre-receive", text).chmod(0o700)
    put(tmp_path, "fetched", f'{text}exec "$@"\n').chmod(0o700)
    put(home, ".gitconfig", f"[uploadpack]\npackObjectsHook = {tmp_path / 'fetched'}\n")
    put(Path(first.vault), "notes/new.md", "new\n")

    sync.sync(first)
    sync.sync(second)

    (limit,) = (one.partition("=")[2] for one in environment.BOUNDS if one.startswith("core.packedGitLimit="))
    assert asked.read_text().split() == [limit, limit]
    assert repository.far_end(tmp_path, "ssh://host/remote.git", "upload-pack") == []


@pytest.mark.skipif(os.name == "nt", reason="the hook is a shell script")
@pytest.mark.parametrize("hook", ["pre-receive", "update", "reference-transaction"])
def test_a_hook_for_all_repositories_that_refuses_a_push_is_named_with_what_to_do(
    first: Config, tmp_path: Path, remote: Path, home: Path, hook: str
) -> None:
    put(tmp_path, f"hooks/{hook}", "#!/bin/sh\nexit 1\n").chmod(0o700)
    put(home, ".gitconfig", f"[core]\nhooksPath = {tmp_path / 'hooks'}\n")
    put(Path(first.vault), "notes/new.md", "new\n")

    with pytest.raises(GitError) as refused:
        sync.sync(first)
    assert f"The hook is in {tmp_path / 'hooks'}, as core.hooksPath in {home / '.gitconfig'} says." in str(
        refused.value
    )
    (way,) = re.findall("`(git .*)`", str(refused.value))
    subprocess.run(shlex.split(way), check=True)

    sync.sync(first)
    put(remote, f"hooks/{hook}", "#!/bin/sh\nexit 1\n").chmod(0o700)
    put(Path(first.vault), "notes/new.md", "newer\n")
    with pytest.raises(GitError) as refused:
        sync.sync(first)
    assert "core.hooksPath" not in str(refused.value)


@rights.gives_away
def test_what_belongs_to_another_user_is_not_trusted_and_the_message_says_what_to_do(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    trusting = re.escape(f"`git config --global --add safe.directory {shlex.quote(str(remote))}`. Everything is")
    taking_over = re.escape(f"or take the vault over: sudo chown -R $USER {shlex.quote(first.vault)}")

    os.chown(remote, 12345, -1)
    with pytest.raises(GitError, match=trusting):
        sync.sync(first)
    os.chown(f"{first.vault}/.git", 12345, -1)
    with pytest.raises(GitError, match=taking_over):
        sync.sync(first)


def test_machines_with_a_submodule_each_do_not_merge_in_turn(first: Config, tmp_path: Path, remote: Path) -> None:
    sync.sync(first)
    second = machine(tmp_path, remote)
    both = (first, second)
    for one in both:
        root, name = Path(one.vault), Path(one.vault).name
        entry = f"160000,{git(root, 'rev-parse', 'HEAD').strip()},notes/of-{name}"
        git(root, "update-index", "--add", "--cacheinfo", entry)
        git(root, "commit", "-q", "-m", "Add a submodule")
        put(root, f"notes/{name}.md", "new\n")
    for one in both * 2:
        sync.sync(one)

    tip = git(remote, "rev-parse", "main")
    assert [sync.sync(one).sent for one in both * 2] == [0] * 4
    assert git(remote, "rev-parse", "main") == tip
    put(Path(second.vault), "notes/later.md", "later\n")
    for one in (second, first):
        sync.sync(one)
    assert Path(first.vault, "notes/later.md").read_text() == "later\n"
    for one in both:
        assert f"notes/of-{Path(one.vault).name}\n" in git(Path(one.vault), "ls-tree", "-r", "HEAD")


def test_a_submodule_that_a_merge_elsewhere_dropped_is_told_there_and_here(
    first: Config, tmp_path: Path, remote: Path, home: Path
) -> None:
    sync.sync(first)
    second = machine(tmp_path, remote)
    root = Path(second.vault)
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{git(root, 'rev-parse', 'HEAD').strip()},notes/sub")
    git(root, "commit", "-q", "-m", "Add a submodule")
    sync.sync(second)
    put(Path(first.vault), "notes/new.md", "new\n")

    assert sync.sync(first).refused == ["notes/sub"]
    told = sync.sync(second).remaining_advice

    assert told == (sync.DROPPED.format("notes/sub"),)
    assert sync.sync(second).remaining_advice == ()


def test_a_link_that_somebody_replaced_by_its_files_was_not_dropped_by_a_merge(
    first: Config, tmp_path: Path, remote: Path, home: Path
) -> None:
    root = Path(first.vault)
    put(root, "notes/first.md", "first\n")
    Path(root, "notes/docs").symlink_to("../../elsewhere")
    git(root, "add", "-f", "notes/docs")
    git(root, "commit", "-q", "-m", "Add a link")
    sync.sync(first)
    git(tmp_path, "clone", "-q", "-b", "main", str(remote), "other")
    other = tmp_path / "other"
    git(other, "rm", "-q", "notes/docs")
    put(other, "notes/docs/file.md", "itself\n")
    git(other, "add", "notes")
    git(other, "commit", "-q", "-m", "Put the file itself there")
    put(other, "notes/later.md", "later\n")
    git(other, "add", "notes")
    git(other, "commit", "-q", "-m", "Add a note")
    git(other, "push", "-q")

    assert sync.sync(first).remaining_advice == ()
    assert Path(root, "notes/docs/file.md").read_text() == "itself\n"


def test_a_shallow_vault_that_another_remote_refuses_is_told_how_to_complete_it(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), "notes/new.md", "new\n")
    sync.sync(first)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{remote}", "shallow")
    shallow = tmp_path / "shallow"
    make_remote(tmp_path / "other.git")
    git(shallow, "remote", "add", "other", str(tmp_path / "other.git"))

    with pytest.raises(GitError, match=r"`git fetch --unshallow` in the vault's folder fetches them\. Everything is"):
        sync.sync(config.load(str(shallow)), "other")

    git(shallow, "fetch", "-q", "--unshallow")
    assert sync.sync(config.load(str(shallow)), "other").sent > 1


def test_a_clone_takes_a_path_from_the_folder_in_which_it_is_run(
    first: Config, tmp_path: Path, remote: Path, ask: Any
) -> None:
    with contextlib.chdir(tmp_path):
        assert ask("clone", remote.name, "second").returncode == 0
        (tmp_path / "second/.git/index").unlink()  # as if it had been killed before its end
        assert ask("clone", f"./{remote.name}", "second").returncode == 0
        assert ask("backup", "memory.bundle").returncode == 0
        assert ask("clone", "memory.bundle", "third").returncode == 0

    second, third = (config.load(str(tmp_path / name)) for name in ("second", "third"))
    put(Path(second.vault), "notes/new.md", "new\n")
    sync.sync(second)
    settle(first, second)
    assert trees(first, second)[0] == trees(second)[0]
    assert Path(first.vault, "notes/new.md").read_text() == "new\n"
    assert trees(third)[0].keys() >= {"mdmem.toml"}


def test_a_clone_into_a_full_folder_is_refused(tmp_path: Path, remote: Path) -> None:
    put(tmp_path, "full/file", "x")

    with pytest.raises(VaultError, match="not empty"):
        clone.clone(str(remote), tmp_path / "full")


@pytest.mark.parametrize("how", ["reset", "rewritten"])
def test_who_dropped_commits_from_the_remote_by_force_is_told_that_they_are_back(
    first: Config, tmp_path: Path, remote: Path, how: str
) -> None:
    put(Path(first.vault), "notes/one.md", "one\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    if how == "reset":
        git(remote, "update-ref", "refs/heads/main", "main~1")
    else:
        git(remote, "update-ref", "refs/heads/main", git(remote, "commit-tree", "-m", "x", "main~1^{tree}").strip())

    told = [sync.sync(one).remaining_advice for one in (first, second, first)]

    assert told == [(sync.SENT_AGAIN.format("origin"),), (), ()]
    assert "notes/one.md" in git(remote, "ls-tree", "-r", "--name-only", "main").split()


@pytest.mark.parametrize("more", ["nothing", "pruned before", "default unset"])
def test_a_branch_that_was_renamed_at_the_remote_is_followed(
    first: Config, tmp_path: Path, remote: Path, more: str
) -> None:
    second = machine(tmp_path, remote)
    git(remote, "branch", "-m", "main", "trunk")
    if more == "default unset":
        git(remote, "symbolic-ref", "HEAD", "refs/heads/main")
    elif more == "pruned before":  # as by an editor, or by a sync that was killed then
        git(Path(first.vault), "fetch", "-q", "--prune")
    put(Path(first.vault), "notes/one.md", "one\n")
    put(Path(second.vault), "notes/two.md", "two\n")
    settle(first, second)
    third = machine(tmp_path, remote, "third")

    one, two, three = trees(first, second, third)
    assert one == two == three
    assert {"notes/one.md", "notes/two.md"} < one.keys()
    assert git(remote, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/trunk"]


def test_a_branch_that_was_purged_and_then_renamed_is_merged_as_one_that_was_not(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    root = Path(first.vault)
    for name in ("purged", "changed", "deleted here", "deleted there"):
        put(root, f"notes/{name}.md", f"{name} CANARY\n" if name == "purged" else f"{name}\n\na\n\nb\n\nc\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    purge.apply(first, purge.plan(first, "CANARY"))
    put(root, "notes/changed.md", "changed\n\nA\n\nb\n\nc\n")
    (root / "notes/deleted there.md").unlink()
    sync.sync(first)
    git(remote, "branch", "-m", "main", "trunk")
    put(Path(second.vault), "notes/changed.md", "changed\n\na\n\nb\n\nC\n")
    (Path(second.vault) / "notes/deleted here.md").unlink()

    done = sync.sync(second)

    assert (done.kept, done.conflicts, done.undeleted) == ((), [], ())
    sync.sync(first)
    one, two = trees(first, second)
    assert one == two
    assert {path for path in one if path.startswith("notes/")} == {"notes/changed.md", "notes/purged.md"}
    assert (root / "notes/changed.md").read_text() == "changed\n\nA\n\nb\n\nC\n"
    assert "CANARY" not in git(remote, "log", "-p", "--all")


def test_a_branch_of_another_vault_is_not_taken_for_a_renamed_one(first: Config, tmp_path: Path, remote: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "-b", "trunk", str(other))
    put(other, "mdmem.toml", "")
    git(other, "add", ".")
    git(other, "commit", "-q", "-m", "other")
    git(other, "push", "-q", str(remote), "trunk")
    git(remote, "symbolic-ref", "HEAD", "refs/heads/trunk")
    git(remote, "update-ref", "-d", "refs/heads/main")
    put(Path(first.vault), "notes/one.md", "one\n")

    sync.sync(first)

    assert git(remote, "ls-tree", "--name-only", "trunk").split() == ["mdmem.toml"]
    assert "notes" in git(remote, "ls-tree", "--name-only", "main").split()


@pytest.mark.slow
@pytest.mark.parametrize("there", ["empty", "trunk"])
def test_machines_meet_on_a_remote_whose_own_branch_has_another_name(vault: Path, tmp_path: Path, there: str) -> None:
    bare = tmp_path / "there.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "trunk", str(bare))
    early = machine(tmp_path, bare, "early")
    if there == "trunk":
        git(Path(early.vault), "symbolic-ref", "HEAD", "refs/heads/trunk")
        put(Path(early.vault), "README.md", "# made by the host\n")
    captured(Path(early.vault), "001-000-prompt-early", "prompt", "early")
    mine = start(vault)
    captured(vault, "001-000-prompt-mine", "prompt", "mine")
    git(vault, "remote", "add", "origin", str(bare))

    settle(*([early, mine] if there == "trunk" else [mine, early]))

    late = machine(tmp_path, bare, "late")
    captured(Path(late.vault), "001-000-prompt-late", "prompt", "late")
    for one in (late, early, mine):
        sync.sync(one)
    everything, *others = trees(late, early, mine)
    assert others == [everything, everything]
    assert len(everything) >= 4
    assert git(bare, "for-each-ref", "--format=%(refname:short)").split() == ["trunk" if there == "trunk" else "main"]


@pytest.mark.slow
def test_a_projects_page_made_on_two_machines_is_no_conflict(first: Config, tmp_path: Path, remote: Path) -> None:
    second = start(tmp_path / "second")
    git(tmp_path / "second", "remote", "add", "origin", str(remote))
    for one, root in ((first, "/home/a/app"), (second, "/srv/app")):
        head = f"id: p{len(root)}\nkind: project\ntitle: app\nidentity: [path:{root}]\nroot: {root}\n"
        put(Path(one.vault), "journal/app/project.md", f"---\n{head}---\n\n# app\n")
    sync.sync(first)

    assert sync.sync(second).conflicts == []

    text = (tmp_path / "second/journal/app/project.md").read_text()
    assert "_other" not in text
    assert "path:/home/a/app" in text
    assert "path:/srv/app" in text


def test_a_project_begun_on_two_machines_and_merged_by_plain_git_stays_one_with_a_page_that_can_be_read(
    first: Config, tmp_path: Path, remote: Path
) -> None:
    put(Path(first.vault), ".gitattributes", template.load("vault/gitattributes"))
    sync.sync(first)
    second = machine(tmp_path, remote)
    talks = [Talk(Path(at.vault), tmp_path / "code" / "fresh", f"{n}0000000-x") for n, at in enumerate((first, second))]
    for number, talk in enumerate(talks):
        talk.now += 86_400 * number
        talk.says("Why does it fail?")
        commit.commit((first, second)[number])
    sync.sync(first)
    git(Path(second.vault), "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")

    talks[1].says("And now?")
    run_here("commit", env={"MDMEM_VAULT": second.vault}, check=True)

    pages = sorted(Path(second.vault, "journal").glob("fresh*/project.md"))
    assert len(pages) == 1
    header = pages[0].read_text().split("---\n")[1]
    assert yaml.safe_load(header)["created"].isoformat().startswith("2026-09-14")
    assert header.count("created:") == 1


@pytest.mark.parametrize(
    ("header", "united"),
    [
        ("kind: project\nroot: /b\nroot: /a\n", "kind: project\nroot: /a\n"),
        ("kind: project\nidentity: [a]\nroot: /a\nidentity: [b, a]\n", "kind: project\nidentity: [a, b]\nroot: /a\n"),
        (
            "kind: session\ncreated: 2026-09-14T23:30:00-04:00\ncreated: 2026-09-15T09:00:00+09:00\n",
            "kind: session\ncreated: 2026-09-15T09:00:00+09:00\n",
        ),
        (
            "kind: session\ncreated: 1 May\ncreated: 2026-09-15T09:00:00Z\n",
            "kind: session\ncreated: 2026-09-15T09:00:00Z\n",
        ),
        ("kind: project\nstatus: done\nstatus: open\n", ""),
        ("kind: note\ncreated: 2026-09-14\ncreated: 2026-09-15\n", ""),
        ("kind: project\nnotes: |\n  a\n  a\n", ""),
    ],
)
def test_only_what_mdmem_wrote_itself_is_united_in_front_matter(header: str, united: str) -> None:
    assert front_matter.without_repeated_keys(header) == (united or header)


@pytest.mark.slow
def test_a_clone_that_broke_off_is_completed_by_the_next_sync(first: Config, tmp_path: Path, remote: Path) -> None:
    second = machine(tmp_path, remote)
    root = Path(second.vault)
    (root / ".git/index").unlink()
    (root / "mdmem.toml").unlink()
    captured(root, "002-000-prompt-here", "prompt", "here")

    with pytest.raises(BusyError, match="mdmem sync"):
        commit.commit(second)
    sync.sync(second)

    sync.sync(first)
    assert trees(first) == trees(second)
    assert git(root, "status", "--porcelain") == ""


def test_a_clone_of_a_repository_that_is_no_vault_is_refused_with_what_to_do(
    tmp_path: Path, remote: Path, ask: Any
) -> None:
    code = tmp_path / "code"
    git(tmp_path, "clone", "-q", str(remote), str(code))
    put(code, "main.c", "int main;\n")
    git(code, "add", ".")
    git(code, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "code")
    git(code, "push", "-q", "origin", "HEAD:main")

    done = ask("clone", str(remote), str(tmp_path / "new"))

    assert done.returncode == 4
    assert "but is not a vault" in done.stderr
    assert f"`mdmem init --inside {tmp_path / 'new'}`" in done.stderr
    assert "The vault is at" not in done.stdout
    assert "The vault is at" in ask("init", "--inside", str(tmp_path / "new"), check=True).stdout


def test_an_empty_remote_gives_an_empty_vault(tmp_path: Path, remote: Path) -> None:
    repo = clone.clone(str(remote), tmp_path / "new")

    assert checked_out.branch(repo) == "refs/heads/main"


@pytest.mark.slow
def test_three_machines_with_random_syncs_end_identical(first: Config, tmp_path: Path, remote: Path) -> None:
    chance = random.Random(11)
    machines = [first, machine(tmp_path, remote), machine(tmp_path, remote, "third")]
    events = 5 * SOAK
    for number in range(3 * events):
        which = number % 3
        one = machines[which]
        session = f"m{which}-{number // 30}"
        folder = FOLDER.replace("0800", f"{which:02d}{number // 30:02d}")
        captured(Path(one.vault), f"{number:04d}", "observation", f"event {number}", session=session, folder=folder)
        page = Path(one.vault) / PAGE
        if chance.random() < 0.1:
            page.write_text(page.read_text() + f"- line {number}\n")
        if chance.random() < 0.08:
            sync.sync(one)

    settle(*machines)

    everything, *others = trees(*machines)
    assert others == [everything, everything]
    assert sum("event " in data.decode() for data in everything.values()) == 3 * events
    text = everything[PAGE].decode()
    assert "<<<<" not in text
    assert "mdmem:both" not in text
    for settings in machines:
        assert git(Path(settings.vault), "fsck", "--strict", "--no-dangling") == ""
        assert git(Path(settings.vault), "status", "--porcelain") == ""


class Work:
    """A person and an agent at work on several machines, and what has to be there in the end."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.events: set[str] = set()
        self.deleted: set[str] = set()
        self.edits: set[str] = set()

    def step(self, root: Path, number: int) -> None:
        """Do one thing: capture, edit a shared note, delete a note, rename the project."""
        action = self.chance.choices([self.capture, self.edit, self.delete, self.rename], [60, 25, 10, 5])[0]
        action(root, number)

    def capture(self, root: Path, number: int) -> None:
        folder = self.project(root) / "2026-09-14" / f"0800-session-{number % 7}"
        put(root, f"{folder.relative_to(root)}/event-{number}.md", f"---\nid: e{number}\n---\n\nevent {number}.\n")
        self.events.add(f"event-{number}")

    def edit(self, root: Path, number: int) -> None:
        file = root / "notes" / f"shared-{number % 3}.md"
        start = ["---", "title: shared", "---", "", *(f"line {place}" for place in range(20))]
        lines = file.read_text().splitlines() if file.exists() else start
        lines.insert(self.chance.randrange(4, len(lines) + 1), f"edit {number}.")
        put(root, f"notes/{file.name}", "\n".join(lines) + "\n")
        self.edits.add(f"edit {number}.")

    def delete(self, root: Path, number: int) -> None:
        found = sorted(root.glob("journal/*/*/*/event-*.md"))
        if found:
            file = self.chance.choice(found)
            file.unlink()
            self.deleted.add(file.stem)

    def rename(self, root: Path, number: int) -> None:
        self.project(root).rename(root / "journal" / f"project-{number}")

    def project(self, root: Path) -> Path:
        return min(page.parent for page in root.glob("journal/*/project.md"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SOAK))
def test_edits_deletions_and_renames_on_three_machines_all_arrive(tmp_path: Path, remote: Path, seed: int) -> None:
    (tmp_path / "first").mkdir()
    machines = [start(tmp_path / "first")]
    put(tmp_path / "first", "journal/project/project.md", "---\nkind: project\nidentity: example.org/a/b\n---\n\nx\n")
    git(tmp_path / "first", "remote", "add", "origin", str(remote))
    sync.sync(machines[0])
    machines += [machine(tmp_path, remote, name) for name in ("second", "third")]
    work = Work(seed)
    for number in range(36 if "MDMEM_SOAK" in os.environ else 24):
        one = work.chance.choice(machines)
        work.step(Path(one.vault), number)
        if work.chance.random() < 0.12:
            sync.sync(one)

    settle(*machines)

    everything, *others = trees(*machines)
    assert others == [everything, everything]
    names = [Path(path).stem for path in everything]
    assert len(names) == len(set(names))
    assert work.events - work.deleted <= set(names)
    text = b"".join(everything.values()).decode()
    assert {edit for edit in work.edits if edit not in text} == set()
    assert sum(path.endswith("/project.md") for path in everything) == 1
    for settings in machines:
        assert git(Path(settings.vault), "fsck", "--strict", "--no-dangling") == ""
        assert git(Path(settings.vault), "status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the children of a process are found in /proc")
def test_a_sync_killed_at_any_point_loses_nothing_on_any_machine(first: Config, tmp_path: Path, remote: Path) -> None:
    chance = random.Random(5)
    put(Path(first.vault), ".gitignore", ".*.tmp\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    root = Path(second.vault)
    rounds = 3 * SOAK if "MDMEM_SOAK" in os.environ else 2
    with forker(root, "from mdmem.history import sync; run = sync.sync") as server:
        for number in range(rounds):
            page = Path(first.vault) / PAGE
            page.write_text(page.read_text() + f"- there {number}\n")
            captured(Path(first.vault), f"a{number:04d}", "observation", f"event a{number}")
            sync.sync(first)
            page = root / PAGE
            page.write_text(page.read_text() + f"- here {number}\n")
            captured(root, f"b{number:04d}", "observation", f"event b{number}")
            run_and_kill(server, chance.uniform(0, 0.3), with_git=bool(number % 2))

    settle(second, first)

    one, two = trees(first, second)
    assert one == two
    assert sum("\nevent " in data.decode() for data in one.values()) == 2 * rounds
    lines = one[PAGE].decode().split("\n")
    assert {line for line in lines if line.startswith(("- here", "- there"))} == {
        f"- {where} {number}" for where in ("here", "there") for number in range(rounds)
    }
    for settings in (first, second):
        assert git(Path(settings.vault), "fsck", "--strict", "--no-dangling") == ""
        assert git(Path(settings.vault), "status", "--porcelain") == ""


def test_front_matter_that_cannot_be_told_from_the_body_is_kept_as_two_files(vault: Path) -> None:
    repo = repository.init(vault)

    assert both.merge_note(repo, "a.md", b"---\nopen\n", b"", b"---\nid: x\n---\n") is None
    assert both.merge_note(repo, "a.md", b"\xff", b"", b"x") is None
    assert both.merge_note(repo, "mdmem.toml", b"a = 1\n", b"", b"a = 2\n") is None
    assert both.merge_note(repo, ".gitignore", b"a\n", b"", b"b\n") == both.Both(b"a\nb\n")


DIARY = "---\nid: diary12345\ntitle: Diary\n---\n\nmonday\n\ntuesday\n\nwednesday\n"


@pytest.mark.parametrize(
    ("line", "files"), [("sync: false", ("harbor.py",) * 2), ("private: true", ("harbor ×3 b.py", "`harbor`"))]
)
def test_a_file_that_only_a_note_that_stays_here_changed_is_on_no_page_that_leaves(
    vault: Path, ask: Callable[..., subprocess.CompletedProcess[str]], line: str, files: tuple[str, str]
) -> None:
    edits = _two_files_edited(vault, files)
    for path in edits[:3]:
        path.write_text(path.read_text("utf-8").replace("---\n", f"---\n{line}\n", 1), "utf-8")

    assert ask("commit").returncode == 0

    assert len([path for path in head_files(vault) if "-edit-" in path]) == 1
    pages = [path for path in head_files(vault) if path.endswith(".md") and "-edit-" not in path]
    texts = {path: git(vault, "show", f"HEAD:{path}") for path in pages}
    assert [path for path in pages if "harbor" in texts[path]] == []
    assert len([path for path in pages if "- `dates.py`" in texts[path]]) == 2


@pytest.mark.parametrize("count", [2, 4])
def test_a_file_is_on_the_pages_again_once_the_notes_that_changed_it_may_leave(
    vault: Path, ask: Callable[..., subprocess.CompletedProcess[str]], count: int
) -> None:
    edits = _two_files_edited(vault)
    for path in edits[:count]:
        path.write_text(path.read_text("utf-8").replace("---\n", "---\nprivate: true\n", 1), "utf-8")
    assert ask("commit").returncode == 0
    assert _listed_files(vault) == [["- `dates.py` ×2"]] * 2 * (count < 4)
    for path in edits[:count]:
        path.write_text(path.read_text("utf-8").replace("private: true\n", "", 1), "utf-8")

    assert ask("commit").returncode == 0

    assert _listed_files(vault) == [["- `dates.py` ×2", "- `harbor.py` ×2"]] * 2
    assert "Nothing to commit" in ask("commit").stdout


def test_the_page_of_a_session_waits_while_a_note_that_may_be_private_cannot_be_read(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = {path.name for path in _two_files_edited(vault)[:2]}
    for path in vault.rglob("*-edit-harbor-*"):
        path.write_text(path.read_text("utf-8").replace("---\n", "---\nprivate: true\n", 1), "utf-8")
    whole = system.HeldFolder.open_to_read

    def open_to_read(folder: system.HeldFolder, name: str) -> int:
        if name in hidden:
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return whole(folder, name)

    with monkeypatch.context() as refused:
        refused.setattr(system.HeldFolder, "open_to_read", open_to_read)
        done = commit.commit(config.load(str(vault)))

    assert {Path(held.path).name for held in done.held_back} == hidden
    assert not any("harbor" in git(vault, "show", f"HEAD:{path}") for path in head_files(vault))
    commit.commit(config.load(str(vault)))
    assert ["- `dates.py` ×2"] in _listed_files(vault)


def _two_files_edited(vault: Path, files: tuple[str, str] = ("harbor.py",) * 2) -> list[Path]:
    """Return the notes of two edits and of two others to one file, in a session whose hooks have written its page."""
    start(vault)
    claude.send(claude.prompt("Change both files"))
    for number, name in enumerate((*files, "dates.py", "dates.py")):
        given = {"file_path": f"/home/dev/work/notes-app/{name}", "old_string": "a", "new_string": f"b{number}"}
        claude.send(claude.bash("", f"toolu_{number}", tool_name="Edit", tool_input=given, tool_response={}))
    claude.send(claude.stop("Done"))
    edits = [path for path in notes(vault) if "-edit-" in path.name]
    assert len(edits) == 4
    return edits


def _listed_files(vault: Path) -> list[list[str]]:
    """Return the lines of files on each committed page that lists any."""
    texts = (git(vault, "show", f"HEAD:{path}") for path in head_files(vault) if path.endswith(".md"))
    lists = [[line for line in text.split("\n") if line.startswith("- `")] for text in texts]
    return [lines for lines in lists if lines]


@pytest.mark.parametrize("keeps_project", [False, True])
@pytest.mark.parametrize("is_synced_first", [False, True])
def test_a_note_that_became_private_here_and_was_changed_elsewhere_stays_here_with_both_changes(
    first: Config, tmp_path: Path, remote: Path, keeps_project: bool, is_synced_first: bool
) -> None:
    root, text = Path(first.vault), DIARY
    if keeps_project:
        text = text.replace("title:", "project: home\ntitle:")
        page = put(root, "journal/home/project.md", "---\nkind: project\ntitle: home\n---\n")
    put(root, "notes/diary.md", text)
    sync.sync(first)
    second = machine(tmp_path, remote)
    here = text if keeps_project else text.replace("title:", "sync: false\ntitle:").replace("monday", "CANARY")
    put(root, "notes/diary.md", here)
    if keeps_project:
        page.write_text("---\nkind: project\ntitle: home\nsync: false\n---\n")
    if is_synced_first:
        sync.sync(first)
    put(Path(second.vault), "notes/diary.md", text.replace("wednesday", "wednesday\n\nthursday"))
    sync.sync(second)

    done = sync.sync(first)

    assert (done.kept, done.undeleted) == ((), ())
    assert (root / "notes/diary.md").read_text() == here + "\nthursday\n"
    assert "notes/diary.md" not in head_files(root)
    sync.sync(second)
    assert not Path(second.vault, "notes/diary.md").exists()
    assert "CANARY" not in git(remote, "cat-file", "--batch-all-objects", "--batch", "--buffer")
