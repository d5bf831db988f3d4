"""Commands that change many files, killed -9 between and inside their steps: nothing is lost, and a rerun ends them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.history import commit, forget, sync
from mdmem.history.git import repository
from mdmem.history.git.part import VaultPart
from mdmem.history.purging import purge
from mdmem.history.space import archive, checkout, clone
from mdmem.vault import disk
from mdmem.views.vault_pages import upkeep
from tests.helpers.history_vault import SESSION, forker, git, head_files, put, start, turn
from tests.helpers.plain_git import make_remote

pytestmark = pytest.mark.slow

SESSIONS = 3
STEPS = 17
"""Between two points at which a command is killed lie so many steps."""

KILLED = """
import shutil, signal, time
from mdmem import system
from mdmem.history import commit, forget
from mdmem.history.git import git_index, repository, writer
from mdmem.history.space import archive, checkout
from mdmem.vault import disk
from mdmem.history.purging import purge
from mdmem.views.vault_pages import upkeep

done = 0

def step():
    global done
    done += 1
    if done == int(line):
        os.kill(os.getpid(), signal.SIGKILL)

def stepping(call):
    def stepped(*words, **named):
        step()
        result = call(*words, **named)
        step()
        return result
    return stepped

def run(settings):
    archive.FILES_AT_ONCE = 10
    folder = type(system.open_folder(settings.vault))
    places = [(folder, "remove"), (disk, "replace"), (disk, "create"), (shutil, "rmtree")]
    places += [(writer, "prepare"), (writer, "move"), (writer, "mark"), (git_index, "publish"), (repository, "start")]
    for place, name in places:
        setattr(place, name, stepping(getattr(place, name)))
    COMMAND(settings)
    open(os.path.join(settings.vault, "..", "ended"), "w").close()
"""


def pack(settings: Config) -> archive.Archived:
    return archive.pack(settings, 2024, now=time.time())


def unpack(settings: Config) -> archive.Archived:
    return archive.unpack(settings, 2024)


def forget_project(settings: Config) -> None:
    targets = forget.plan(settings, [], project="acme-notes-app")
    forget.keep(settings, [one.path for one in targets])
    forget.apply(settings, targets, upkeep.updater(settings))


def make_whole(settings: Config) -> None:
    checkout.complete(repository.open_vault(settings.vault), settings.state_dir)


def purge_text(settings: Config) -> purge.Purged:
    return purge.apply(settings, purge.plan(settings, "lexer"))


def sessions(vault: Path) -> Config:
    """Write and commit sessions of 2024, one of 2026, and one of another project."""
    settings = start(vault)
    for number in range(SESSIONS):
        tag = f"{number}1{SESSION[2:]}"
        folder = f"journal/acme-notes-app/2024-03-{number + 1:02d}/0800-why-does-the-lexer-fail-{tag[:8]}"
        turn(vault, session=tag, folder=folder)
    turn(vault)
    turn(vault, session=f"99{SESSION[2:]}", folder="journal/other/2024-03-01/0800-why-does-the-lexer-fail-99893aaf")
    commit.commit(settings)
    return settings


def everything(settings: Config) -> dict[str, bytes | None]:
    return {entry.path: disk.read_path(settings.vault, entry.path) for entry in disk.walk(settings.vault)}


def killed_everywhere(
    vault: Path, command: Callable[[Config], object], check: Callable[[Config], None], steps: int = STEPS
) -> None:
    """Kill a command on copies of a vault, each time some steps later, until it ends; check each copy."""
    copy, ended = vault.parent / "copy", vault.parent / "ended"
    shutil.copytree(vault, copy)
    code = KILLED.replace("COMMAND", "commanded") + _source(command)
    at = 0
    with forker(copy, code) as server:
        assert server.stdin
        assert server.stdout
        while not ended.exists():
            at += steps
            shutil.rmtree(copy)
            shutil.copytree(vault, copy, symlinks=True)
            settings = config.load(str(copy))
            shutil.rmtree(settings.state_dir, ignore_errors=True)
            server.stdin.write(f"{at}\n")
            server.stdout.readline()
            assert server.stdout.readline() == "ended\n"
            check(settings)
            assert git(copy, "fsck", "--strict", "--no-dangling") == ""
    assert at > 3 * steps


def _source(command: Callable[[Config], object]) -> str:
    return f"\nfrom tests.history.test_killed import {command.__name__} as commanded\n"


def left_over(settings: Config) -> list[str]:
    """Return what git sees as changed, without the temporary files that a killed writer leaves."""
    listed = git(Path(settings.vault), "status", "--porcelain", "--untracked-files=all").splitlines()
    return [line for line in listed if not line.endswith(".tmp")]


def fetch(settings: Config) -> object:
    return sync.sync(settings)


def test_a_sync_that_was_killed_leaves_every_moved_note_for_the_next_commit(vault: Path, tmp_path: Path) -> None:
    settings = start(vault)
    remote = make_remote(tmp_path / "remote.git")
    git(vault, "remote", "add", "origin", str(remote))
    for number in range(4):
        put(vault, f"notes/n{number}.md", f"word{number}\n")
    sync.sync(settings)
    other = tmp_path / "other"
    clone.clone(str(remote), other)
    for number in range(4):
        (vault / f"notes/n{number}.md").rename(vault / f"notes/moved{number}.md")
    sync.sync(settings)
    put(other, "notes/n3.md", "word3\nword4, not committed\n")
    put(other, "notes/new.md", "word5\n")

    def check(settings: Config) -> None:
        commit.commit(settings)
        committed = git(Path(settings.vault), "grep", "-h", "word", "HEAD", "--", "notes")
        assert [number for number in range(6) if f"word{number}" not in committed] == []

    killed_everywhere(other, fetch, check, steps=1)


@pytest.mark.parametrize("first, later", [(pack, unpack), (unpack, pack)], ids=["unpacks", "packs"])
def test_a_sync_that_was_killed_leaves_every_archived_note_for_the_next_commit(
    vault: Path, tmp_path: Path, first: Callable[[Config], object], later: Callable[[Config], object]
) -> None:
    settings = sessions(vault)
    remote = make_remote(tmp_path / "remote.git")
    git(vault, "remote", "add", "origin", str(remote))
    first(settings)
    sync.sync(settings)
    other = tmp_path / "other"
    clone.clone(str(remote), other)
    later(settings)
    sync.sync(settings)
    notes = everything(settings)

    def check(settings: Config) -> None:
        commit.commit(settings)
        git(Path(settings.vault), "checkout", "--force", "HEAD", "--", ".")
        assert everything(settings).items() >= notes.items()

    killed_everywhere(other, fetch, check, steps=3)


def test_an_archive_that_was_killed_is_completed_and_undone(vault: Path) -> None:
    before = everything(sessions(vault))

    def check(settings: Config) -> None:
        assert everything(settings) == before
        assert pack(settings).left == []
        assert everything(settings) == before
        assert not [path for path in head_files(Path(settings.vault)) if "/2024-03" in path]
        assert left_over(settings) == []
        unpack(settings)
        assert everything(settings) == before

    killed_everywhere(vault, pack, check)


def test_the_undo_of_an_archive_that_was_killed_is_completed(vault: Path) -> None:
    settings = sessions(vault)
    before = everything(settings)
    pack(settings)

    def check(settings: Config) -> None:
        assert everything(settings) == before
        unpack(settings)
        assert everything(settings) == before
        assert not [path for path in head_files(Path(settings.vault)) if "/2024/" in path]
        assert left_over(settings) == []

    killed_everywhere(vault, unpack, check)


def test_a_forget_that_was_killed_is_completed_and_every_note_stays_in_history(vault: Path) -> None:
    before = everything(sessions(vault))

    def check(settings: Config) -> None:
        forget_project(settings)
        commit.commit(settings)
        assert not [path for path in everything(settings) if "acme-notes-app/20" in path]
        ever = set(git(Path(settings.vault), "log", "--format=", "--name-only", "-z").split("\0"))
        assert before.keys() <= ever
        assert left_over(settings) == []

    killed_everywhere(vault, forget_project, check)


def test_a_part_that_becomes_the_whole_and_was_killed_is_completed(vault: Path, tmp_path: Path) -> None:
    before = everything(sessions(vault))
    part = tmp_path / "part"
    clone.clone(vault.as_uri(), part, VaultPart(since="2026-01-01"))
    git(part, "remote", "set-url", "origin", vault.as_uri())

    def check(settings: Config) -> None:
        if len(everything(settings)) < len(before):
            make_whole(settings)
        assert everything(settings) == before
        commit.commit(settings)
        assert everything(settings) == before

    killed_everywhere(part, make_whole, check)


def test_a_purge_that_was_killed_is_completed_and_keeps_every_note(vault: Path) -> None:
    before = everything(sessions(vault))

    def check(settings: Config) -> None:
        commit.commit(settings)
        assert purge_text(settings).left == []
        assert len(everything(settings)) == len(before)
        commit.commit(settings)
        assert left_over(settings) == []

    killed_everywhere(vault, purge_text, check)
