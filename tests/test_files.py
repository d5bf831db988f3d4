"""mdmem's own files outside the vault: private at every level, and never waited for."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mdmem import config, files
from tests.helpers import claude
from tests.helpers.claude import bash, prompt


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Set a umask until the test is over."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_every_level_that_hooks_make_is_private_whatever_the_umask_is(
    vault: Path, home: Path, umask: Callable[[int], int], mask: int
) -> None:
    umask(mask)
    claude.send(prompt("Why does it fail?"))
    claude.send(bash("3 passed", number=3))
    umask(0o022)
    ours = [path for path in [*home.rglob("mdmem"), *home.rglob("mdmem/**/*")] if path.is_dir()]
    assert {path.name for path in ours} >= {"mdmem", "sessions", "seen", "projects"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in ours} == {0o700}
    assert list(vault.rglob("0??-0??-*.md"))


def test_the_levels_above_are_private_too_where_mdmem_makes_them(tmp_path: Path, umask: Callable[[int], int]) -> None:
    umask(0o000)
    files.make_folder(str(tmp_path / ".local" / "state" / "mdmem" / "x"))
    made = [tmp_path / ".local", tmp_path / ".local/state", tmp_path / ".local/state/mdmem/x"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 3


def test_a_folder_that_was_left_open_is_closed_when_it_is_used(tmp_path: Path) -> None:
    top = tmp_path / "mdmem"
    (top / "state").mkdir(parents=True)
    (top / "state" / "file").write_text("x")
    top.chmod(0o777)
    (top / "state").chmod(0o755)
    assert files.read_own(str(top / "state" / "file"), 10) == b"x"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (top, top / "state")] == [0o700, 0o700]


def test_a_folder_that_all_users_share_is_never_closed(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(PermissionError, match="share"):
        files.append(str(shared / "file"), b"x")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777
    assert [path.read_bytes() for path in shared.iterdir()] in ([], [b""])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("given", ["mdmem", "mdmem/state", "mdmem/state/file"])
def test_what_belongs_to_somebody_else_is_neither_read_nor_written(tmp_path: Path, given: str) -> None:
    path = tmp_path / "mdmem" / "state" / "file"
    files.append(str(path), b"x")
    files._checked.clear()
    os.chown(tmp_path / given, 12345, -1)
    with pytest.raises(PermissionError):
        files.read_own(str(path), 10)
    with pytest.raises(PermissionError):
        files.append(str(path), b"y")
    assert path.read_bytes() == b"x"


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "mdmem" / "file"
    files.replace(str(path), b"one")
    files.replace(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        files.replace(str(path), b"three")
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_pipe_in_place_of_any_file_of_state_holds_no_hook_up(vault: Path) -> None:
    claude.send(prompt("First", 1))
    claude.send(prompt("A <private>heron-box-42</private> thing", 2))
    found = config.load(str(vault))
    places = [path for top in (found.state_dir, found.runtime_dir) for path in Path(top).rglob("*") if path.is_file()]
    places += [Path(os.path.dirname(found.state_dir), f"settings-{name}") for name in ("a", "b")]
    places += [vault / "mdmem.toml", Path(config.user_file(os.environ))]
    before = len(list(vault.rglob("0??-0??-*.md")))
    assert len(places) > 4
    for path in places:
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
    claude.send(prompt("Third", 3))
    claude.send(bash("3 passed", number=3))
    assert len(list(vault.rglob("0??-0??-*.md"))) == before + 2
