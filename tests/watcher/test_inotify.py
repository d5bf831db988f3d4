"""The queue of changes: an unchanged vault is not scanned, and every change is found by the next query."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mdmem import config
from mdmem.search import index
from mdmem.search.index import scan
from mdmem.server import lookup
from mdmem.system import memory
from mdmem.watcher import file_system, inotify

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Only Linux queues events in time.")


@pytest.fixture
def still(vault: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[inotify.ChangeQueue]:
    """Return what is known of a vault of some notes, of which a short look passes over one, looked at until still."""
    monkeypatch.setattr(scan, "MAX_CHANGED", 1)
    for path in (
        "notes/one.md",
        "notes/two.md",
        "journal/app/2026-09-14/0800-x-aaaa1111/001-000-prompt-x-aaaaaaaaaa.md",
    ):
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text("---\nid: aaaaaaaaaa\nkind: prompt\n---\n\nThe walrus parses dates\n")
    os.utime(vault / "notes" / "one.md", (1_790_000_000, 1_790_000_000))
    index.update(config.load())
    watched = inotify.of(str(vault))
    for _ in range(3):
        ask()
    if not holds(watched):
        pytest.skip("The file system of this folder is none that is trusted.")
    yield watched
    watched.end()


def ask() -> None:
    with lookup.fresh(config.load()):
        pass


def holds(watched: inotify.ChangeQueue) -> bool:
    return watched.is_unchanged(index.opened(config.load()))


def has(word: str) -> bool:
    ask()
    view = index.current(config.load())
    return view is not None and bool(view.notes("body", word))


def in_place(vault: Path) -> None:
    note = vault / "notes" / "one.md"
    note.write_text(note.read_text().replace("walrus", "gannet"))


def renamed_over(vault: Path) -> None:
    (vault / "notes" / "new").write_text("The gannet sorts")
    (vault / "notes" / "new").rename(vault / "notes" / "one.md")


def in_new_folders(vault: Path) -> None:
    (vault / "notes" / "a" / "b").mkdir(parents=True)
    (vault / "notes" / "a" / "b" / "c.md").write_text("A gannet")


def moved_in(vault: Path) -> None:
    made = vault.parent / "made"
    made.mkdir()
    (made / "c.md").write_text("A gannet")
    made.rename(vault / "notes" / "made")


def replaced(vault: Path) -> None:
    shutil.copytree(vault, vault.parent / "copy")
    vault.rename(vault.parent / "old")
    (vault.parent / "copy").rename(vault)
    (vault / "notes" / "one.md").write_text("A gannet")


def test_a_disk_that_is_mounted_over_the_vault_is_noticed(still: inotify.ChangeQueue, vault: Path) -> None:
    """The kernel reports nothing: the watched folder is still there, below the other."""
    line = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", str(vault)]
    if os.getuid() != 0 or shutil.which("mount") is None or subprocess.run(line, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        (vault / "mdmem.toml").touch()
        (vault / "one.md").write_text("A gannet")

        assert has("gannet")
    finally:
        subprocess.run(["umount", "-l", str(vault)], check=True)


@pytest.mark.parametrize("change", [in_place, renamed_over, in_new_folders, moved_in, replaced])
def test_whatever_is_touched_is_found_by_the_next_question(
    still: inotify.ChangeQueue, vault: Path, change: Callable[[Path], None]
) -> None:
    change(vault)

    assert has("gannet")
    ask()
    ask()
    assert holds(still)
    (vault / "notes" / "later.md").write_text("A heron")
    assert has("heron")


def test_a_note_in_a_folder_that_is_new_is_found_after_the_vault_was_still_again(
    still: inotify.ChangeQueue, vault: Path
) -> None:
    in_new_folders(vault)
    for _ in range(3):
        ask()
    assert holds(still)
    (vault / "notes" / "a" / "b" / "c.md").write_text("A heron")

    assert has("heron")
    shutil.rmtree(vault / "notes" / "a")
    assert not has("heron")


def test_another_index_is_looked_at_though_the_vault_is_still(still: inotify.ChangeQueue) -> None:
    index.rebuild(config.load())

    assert not holds(still)
    assert has("walrus")


def test_a_vault_whose_notes_are_only_read_is_still(still: inotify.ChangeQueue, vault: Path) -> None:
    for file in vault.rglob("*.md"):
        file.read_text()

    assert holds(still)


def test_a_vault_that_is_gone_is_not_still(still: inotify.ChangeQueue, vault: Path) -> None:
    shutil.rmtree(vault)

    assert not holds(still)


def test_memory_is_given_back_after_many_notes_were_taken_in(
    still: inotify.ChangeQueue, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[bool] = []
    monkeypatch.setattr(lookup, "MANY_NOTES", 20)
    monkeypatch.setattr(memory, "release_free_memory", lambda: given.append(True))
    (vault / "notes" / "three.md").write_text("An otter.\n")
    assert has("otter")
    assert not given

    for number in range(30):
        (vault / "notes" / f"more-{number}.md").write_text("And a heron.\n")
    assert has("heron")
    assert given == [True]


def test_the_file_system_of_a_folder_is_the_nearest_mount_above_it_in_any_letters() -> None:
    lines = [
        "22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw",
        "40 22 0:50 / /mnt/данные rw,relatime - nfs4 server:/x rw",
        "41 22 0:51 / /mnt/my\\040disk rw,relatime - cifs //server/y rw",
    ]
    for path, kind in (("/mnt/данные/vault", "nfs4"), ("/mnt/my disk", "cifs"), ("/mnt/my", "ext4")):
        assert file_system._mounted_at(Path(path), lines) == kind
