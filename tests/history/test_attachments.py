"""Files beside notes: what is linked or lies in notes/ is committed and synced, what is left out is named."""

from __future__ import annotations

import gzip
import io
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.health import history
from mdmem.health.scope import CheckScope
from mdmem.history import batch, changes, commit, other_files, sync, undo
from mdmem.history.space import clone
from mdmem.vault import attachments
from tests.conftest import own_settings
from tests.helpers.history_vault import git, head_files, put, start

PNG = b"\x89PNG\r\n\x1a\n\0\1\2"
Ask = Callable[..., "subprocess.CompletedProcess[str]"]


def image(vault: Path, path: str, data: bytes = PNG) -> None:
    """Write a file that is not text."""
    put(vault, path, "").write_bytes(data)


def test_what_lies_in_notes_or_is_linked_is_committed_and_the_rest_is_named(vault: Path) -> None:
    config = start(vault)
    for path in ("notes/a.png", "img/linked.png", "img/by name.PNG", "img/stray.png", "board.canvas", "x/list.base"):
        image(vault, path)
    for path in ("notes/.hidden.png", ".obsidian/app.json", "notes/~$open.docx", "notes/half.part"):
        image(vault, path)
    put(vault, "notes/plan.md", "![](../img/linked.png) and ![[by name.png]], but `![[stray.png]]` is code\n")

    done = commit.commit(config)

    committed = ["board.canvas", "img/by name.PNG", "img/linked.png", "mdmem.toml", "notes/a.png", "notes/plan.md"]
    assert head_files(vault) == [*committed, "x/list.base"]
    assert done.left_out == other_files.left_out(config) == [other_files.LeftOut("img/stray.png", other_files.NO_LINK)]
    assert commit.commit(config).commits == []


@pytest.mark.parametrize(
    ("module", "name", "most"), [(batch, "MAX_BYTES", 10**6), (batch, "MAX_BYTES", 1), (changes, "MOST", 1)]
)
def test_a_file_is_committed_once_a_note_links_to_it_whichever_came_first(
    vault: Path, module: ModuleType, name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    put(vault, "notes/plan.md", "![](../img/my%20late.png)\n")
    image(vault, "img/early.png")
    commit.commit(config)

    image(vault, "img/my late.png")
    put(vault, "notes/other.md", "![[early.png]]\n")
    put(vault, "notes/sub/more.md", "more\n")
    put(vault, "notes/sub/most.md", "most\n")
    monkeypatch.setattr(module, name, most)
    done = commit.commit(config)

    assert {"img/early.png", "img/my late.png"} <= set(head_files(vault))
    assert (done.left_out, other_files.left_out(config)) == ([], [])


def test_a_file_is_committed_after_a_commit_of_nothing_but_the_note_that_links_to_it(vault: Path) -> None:
    config = start(vault)
    image(vault, "img/early.png")
    commit.commit(config)

    put(vault, "notes/other.md", "![[early.png]]\n")
    commit.commit_paths(config, ["notes/other.md"], "Add a note")
    commit.commit(config)

    assert "img/early.png" in head_files(vault)


@pytest.mark.slow
def test_a_committed_file_is_followed_when_it_changes_moves_and_goes(vault: Path) -> None:
    config = start(vault)
    image(vault, "notes/a.png")
    commit.commit(config)

    image(vault, "notes/a.png", PNG + b"\3")
    changed = commit.commit(config).commits
    (vault / "notes/a.png").rename(vault / "b.png")
    moved = commit.commit(config).commits
    (vault / "b.png").unlink()
    gone = commit.commit(config).commits

    assert [made[0].subject for made in (changed, moved, gone)] == [
        "By hand: edit notes/a.png",
        "By hand: move 1 file",
        "By hand: delete b.png",
    ]
    undo.apply(config, undo.plan(config, gone[0].oid))
    assert (vault / "b.png").read_bytes() == PNG + b"\3"


def test_a_large_file_is_left_out_and_named_by_status_and_doctor(vault: Path, ask: Ask) -> None:
    own_settings("[sync]\nmax_file_mb = 1\n")
    start(vault)
    image(vault, "notes/film.mov", b"\0" * 1_000_001)
    image(vault, "notes/still.png")

    settings = config.load(str(vault))
    done = commit.commit(settings)

    assert head_files(vault) == ["mdmem.toml", "notes/still.png"]
    assert [left.path for left in done.left_out] == ["notes/film.mov"]
    assert "1 file of the vault neither committed nor synced, such as notes/film.mov" in ask("status").stdout
    (told,) = (one for one in history.git(settings, CheckScope()) if "notes/film.mov" in one.text)
    assert "sync.max_file_mb" in told.text + told.todo


def test_a_name_or_a_text_with_a_secret_is_held_back_and_a_picture_is_not_read_for_one(vault: Path) -> None:
    settings = start(vault)
    key = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    put(vault, "notes/keys.txt", f"token {key}\n")
    image(vault, f"notes/{key}.png")
    image(vault, "notes/photo.png", PNG + key.encode())

    done = commit.commit(settings)

    assert sorted((held.path, held.rule == "file name") for held in done.held_back) == [
        (f"notes/{key}.png", True),
        ("notes/keys.txt", False),
    ]
    assert head_files(vault) == ["mdmem.toml", "notes/photo.png"]


def zipped(name: str, text: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", b"all is well here\n" * 20)
        archive.writestr(name, text)
    return packed.getvalue()


def test_a_private_section_in_a_compressed_file_is_held_back_and_a_damaged_one_is_not_read(vault: Path) -> None:
    settings = start(vault)
    hidden, open_text = b"# Plan\n<private>the box is walrus seven</private>\n", b"only <private> is said here\n"
    contents = {
        "plan.md.gz": gzip.compress(hidden),
        "plans.zip": zipped("plan.md", hidden),
        "log.gz": gzip.compress(open_text * 100),
        "logs.zip": zipped("plan.md", open_text),
        "half.gz": gzip.compress(open_text)[:12] + b"\0" * 20,
        "half.zip": zipped("plan.md", open_text)[:90],
    }
    for name, data in contents.items():
        image(vault, f"notes/{name}", data)

    done = commit.commit(settings)

    assert sorted(held.path for held in done.held_back) == ["notes/plan.md.gz", "notes/plans.zip"]
    assert len(head_files(vault)) == 1 + len(contents) - 2


def test_an_unclosed_tag_in_an_image_hides_neither_it_nor_its_name(vault: Path) -> None:
    settings = start(vault)
    image(vault, "notes/walrus.png", PNG + b"\0<private>walrus\0" + bytes(range(256)))
    image(vault, "notes/seal.png", PNG + b"\0<private>\0walrus\0</private>\0" + bytes(range(256)))

    assert [held.path for held in commit.commit(settings).held_back] == ["notes/seal.png"]
    assert head_files(vault) == ["mdmem.toml", "notes/walrus.png"]


@pytest.mark.parametrize(
    ("module", "name", "most"), [(changes, "MOST", 9), (changes, "MOST", 1), (batch, "MAX_BYTES", 1)]
)
def test_a_file_of_a_note_that_stays_here_stays_here_too(
    vault: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, most: int
) -> None:
    settings = start(vault)
    monkeypatch.setattr(module, name, most)
    put(vault, "notes/diary.md", "---\nprivate: true\n---\n\n![[me.png]] ![[both.png]]\n")
    put(vault, "notes/open.md", "![[both.png]]\n")
    put(vault, "zoo/last.md", "# Last\n")
    image(vault, "notes/me.png")
    image(vault, "notes/both.png")

    done = commit.commit(settings)

    assert head_files(vault) == ["mdmem.toml", "notes/both.png", "notes/open.md", "zoo/last.md"]
    assert done.left_out == [other_files.LeftOut("notes/me.png", other_files.ONLY_PRIVATE)]


@pytest.mark.parametrize("folder", ["", "notes/"])
def test_what_a_git_filter_keeps_is_left_to_git(vault: Path, folder: str) -> None:
    settings = start(vault)
    put(vault, f"{folder}.gitattributes", "*.psd filter=lfs diff=lfs -text\n")
    image(vault, "notes/big.psd")

    done = commit.commit(settings)

    assert [left.path for left in done.left_out] == ["notes/big.psd"]
    assert "git filter" in done.left_out[0].why


def test_the_editors_settings_are_committed_when_a_setting_says_so(vault: Path) -> None:
    own_settings("[sync]\nobsidian = true\n")
    start(vault)
    put(vault, ".obsidian/app.json", "{}")
    put(vault, ".obsidian/workspace.json", "{}")

    commit.commit(config.load(str(vault)))

    assert head_files(vault) == [".obsidian/app.json", "mdmem.toml"]


def test_a_note_with_an_ending_in_capitals_is_a_note(vault: Path, ask: Ask) -> None:
    settings = start(vault)
    put(vault, "READ.MD", "The harbour is closed.\n")

    commit.commit(settings)

    assert "READ.MD" in head_files(vault)
    assert "READ.MD" in ask("search", "harbour").stdout


def test_files_are_found_by_the_words_of_their_names(vault: Path, ask: Ask) -> None:
    for path in ("notes/img/Harbour map 2.png", "plan.canvas", "script.py", "notes/other.png"):
        image(vault, path)

    assert ask("search", "map", "harbour").stdout == "file  notes/img/Harbour map 2.png\n"
    assert '"path": "plan.canvas"' in ask("search", "plan", "--json").stdout
    assert "script" not in ask("search", "script").stdout
    assert attachments.with_words(str(vault), "", config.load(str(vault)).settings) == []


@pytest.fixture
def two(tmp_path: Path, vault: Path) -> tuple[Config, Config]:
    """Two machines with a remote and an image between them."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "remote.git")
    first = start(vault)
    git(vault, "remote", "add", "origin", str(tmp_path / "remote.git"))
    image(vault, "notes/a.png")
    sync.sync(first)
    clone.clone(str(tmp_path / "remote.git"), tmp_path / "second")
    return first, config.load(str(tmp_path / "second"))


@pytest.mark.slow
def test_an_image_changed_on_two_machines_becomes_two_files_and_a_moved_one_is_moved(
    two: tuple[Config, Config],
) -> None:
    first, second = two
    image(Path(first.vault), "notes/a.png", PNG + b"\4")
    image(Path(second.vault), "notes/a.png", PNG + b"\5")
    sync.sync(first)
    conflict = sync.sync(second)
    (Path(second.vault) / "notes/a.png").rename(Path(second.vault) / "notes/c.png")
    sync.sync(second)
    sync.sync(first)

    kept = sorted(Path(first.vault, "notes").iterdir())
    assert conflict.conflicts == ["notes/a.png"]
    assert {file.read_bytes() for file in kept} == {PNG + b"\4", PNG + b"\5"}
    assert (kept[0].name[:11], kept[1].name) == ("a.conflict-", "c.png")
