"""The vault: files that are never torn or overwritten, folders that cannot be left."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mdmem.errors import VaultError
from mdmem.vault import disk as vaults


def test_a_new_file_is_whole_private_and_alone(tmp_path: Path) -> None:
    with vaults.open_folder(str(tmp_path), ("a", "b"), create=True) as folder:
        assert vaults.create(folder, "note.md", b"text")
    path = tmp_path / "a" / "b" / "note.md"
    assert path.read_bytes() == b"text"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == ["note.md"]


def test_a_taken_name_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("mine")
    with vaults.open_folder(str(tmp_path)) as folder:
        assert not vaults.create(folder, "note.md", b"theirs")
    assert (tmp_path / "note.md").read_text() == "mine"
    assert os.listdir(tmp_path) == ["note.md"]


@pytest.mark.parametrize("path", [f"{'x' * 300}.md", f"{'x' * 300}/note.md", f"notes/{'é' * 200}.md", "x/" * 3_000])
def test_there_is_no_note_whose_name_is_too_long_for_one(tmp_path: Path, path: str) -> None:
    (tmp_path / "notes").mkdir()

    assert vaults.read_path(str(tmp_path), path) is None


@pytest.mark.parametrize("part", ["..", ".", "", "a/b", "/etc", "a\0b"])
def test_no_name_leads_outside(tmp_path: Path, part: str) -> None:
    with pytest.raises(VaultError):
        vaults.open_folder(str(tmp_path), (part,), create=True)


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "vault"
    root.mkdir()
    (root / "journal").symlink_to(outside)
    with pytest.raises(VaultError):
        vaults.open_folder(str(root), ("journal", "x"), create=True)
    assert os.listdir(outside) == []


def test_a_missing_vault_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="mdmem init"):
        vaults.open_folder(str(tmp_path / "none"))


def test_what_a_person_saved_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("edited")
    with vaults.open_folder(str(tmp_path)) as folder:
        assert not vaults.replace(folder, "page.md", b"as it was", b"new")
        assert vaults.replace(folder, "page.md", b"edited", b"new")
    assert (tmp_path / "page.md").read_text() == "new"
    assert os.listdir(tmp_path) == ["page.md"]


def test_the_walk_gives_notes_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "mdmem.toml").touch()
    for name in (
        "a.md",
        "sub/b.md",
        "sub/.hidden.md",
        ".git/c.md",
        "templates/d.md",
        "README.md",
        "e.txt",
        "sub/README.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "linked").symlink_to(tmp_path / "sub")
    (tmp_path / "folder.md").mkdir()

    assert {entry.path for entry in vaults.walk(str(tmp_path))} == {"a.md", "sub/b.md", "sub/README.md"}


def test_a_readme_of_a_plain_folder_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x")
    assert [entry.path for entry in vaults.walk(str(tmp_path))] == ["README.md"]


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "a/../../x.md", "", "link/x.md", "."])
def test_reading_a_path_never_leads_outside(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.md").write_text("secret")
    root = tmp_path / "vault"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    assert vaults.read_path(str(root), path) is None


def test_a_locked_folder_makes_the_next_wait_and_is_free_after_a_kill(tmp_path: Path) -> None:
    code = (
        "import sys; from mdmem.vault import disk\n"
        "folder = disk.open_folder(sys.argv[1]); folder.lock(); print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with vaults.open_folder(str(tmp_path)) as folder:
        assert not folder.handle.lock(0)
        holder.kill()
        holder.communicate()
        folder.lock()


@pytest.mark.parametrize("name", ["a.md", "part2/a.md"])
def test_a_file_is_synced_whole_before_it_has_its_name_and_its_folder_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tmp_path / name
    synced: list[tuple[int | str, bytes]] = []

    def fsync(fd: int) -> None:
        found = os.fstat(fd)
        what = "its folder" if found.st_ino == file.parent.stat().st_ino else found.st_size
        synced.append((what, file.read_bytes() if file.exists() else b""))

    file.parent.mkdir(exist_ok=True)
    monkeypatch.setattr(os, "fsync", fsync)
    with vaults.open_folder(str(tmp_path)) as folder:
        assert vaults.create(folder, name, b"a\n")
        assert vaults.replace(folder, name, b"a\n", b"longer\n")
        assert vaults.replace(folder, name, b"longer\n", b"not synced\n", durable=False)

    assert synced == [(2, b""), ("its folder", b"a\n"), (7, b"a\n"), ("its folder", b"longer\n")]


def test_a_file_that_is_stored_in_a_folder_that_cannot_be_synced_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with vaults.open_folder(str(tmp_path)) as folder, pytest.raises(vaults.NotSyncedError) as told:
        vaults.create(folder, "a.md", b"a\n")

    assert told.value.filename == str(tmp_path / "a.md")
    assert (tmp_path / "a.md").read_bytes() == b"a\n"
