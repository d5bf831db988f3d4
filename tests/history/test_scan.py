"""Short looks for what has changed find what a look at every file finds, or leave it to that."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mdmem.config import Config
from mdmem.history import batch, changes, commit, folder_scan, forget, scan
from mdmem.history.changes import Change
from mdmem.history.git import git_index, lock, repository
from mdmem.history.git.repository import Repository
from mdmem.history.scan import EVERY_FILE, ScanMode
from mdmem.watcher import client
from tests.helpers.few import few
from tests.helpers.history_vault import FOLDER, captured, git, head_files, put, start, turn
from tests.helpers.watching import running

BACKGROUND = ScanMode(background=True)


@pytest.fixture
def wholes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count the looks at every file, of which none is ever due."""
    found: list[str] = []
    every = changes.find

    def counted(repo: Repository, copy: git_index.Copy, *more: Any) -> changes.State:
        found.append("whole")
        return every(repo, copy, *more)

    monkeypatch.setattr(changes, "find", counted)
    monkeypatch.setattr(scan, "REST", 1e12)
    return found


def settled(vault: Path) -> Config:
    """Commit a vault whose folders were changed last long ago, so that looks can go by their times."""
    config = start(vault)
    turn(vault)
    turn(vault, session="other-session", folder=FOLDER.replace("0800", "0900"))
    put(vault, "notes/one.md", "# One\n")
    put(vault, "notes/deep/two.md", "# Two\n")
    for path in (vault, *vault.rglob("*/")):
        if ".git" not in path.parts:
            os.utime(path, (1e9, 1e9))
    commit.commit(config)
    return config


def short(config: Config, mode: ScanMode = BACKGROUND) -> set[Change]:
    """Return what a look in the background finds, or another one."""
    repo = repository.open_vault(config.vault)
    with lock.held(config.state_dir, repo.common_dir) as held:
        state = scan.find(config, repo, mode, held).state
    return {*state.changes, *state.beside}


def every_change(config: Config) -> set[Change]:
    """Return what git finds."""
    repo = repository.open_vault(config.vault)
    with git_index.copied(repo) as copy:
        state = changes.find(repo, copy)
    return {*state.changes, *state.beside}


def save(path: Path, text: str) -> None:
    """Write a file as most editors do: another one takes its place."""
    new = path.with_name(f".{path.name}.tmp")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def test_a_vault_in_which_nothing_changed_is_not_looked_through_again(vault: Path, wholes: list[str]) -> None:
    config = settled(vault)
    wholes.clear()

    assert commit.commit(config, mode=BACKGROUND).commits == []
    turn(vault, 2)
    (made,) = commit.commit(config, mode=BACKGROUND).commits
    assert commit.commit(config, mode=BACKGROUND).commits == []

    assert made.files == 5
    assert git(vault, "status", "--porcelain") == ""
    assert wholes == []


@pytest.mark.slow
@pytest.mark.usefixtures("wholes")
def test_what_was_changed_in_place_is_committed_when_every_file_is_looked_at_or_a_watcher_names_it(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settled(vault)
    note = vault / "notes/one.md"

    def edit(text: str) -> None:
        note.write_text(f"# One\n\n{text}\n", encoding="utf-8")

    edit("first")
    assert commit.commit(config, mode=BACKGROUND).commits == []
    told = ScanMode(touched=lambda token: (f"{token}+", ["notes/one.md"] if token else None))
    assert [made.files for made in commit.commit(config, mode=told).commits] == [1]
    edit("second")
    assert [made.files for made in commit.commit(config, mode=told).commits] == [1]
    edit("third")
    assert [made.files for made in commit.commit(config).commits] == [1]
    edit("fourth")
    monkeypatch.setattr(scan, "REST", 0)
    assert [made.files for made in commit.commit(config, mode=BACKGROUND).commits] == [1]


@pytest.mark.slow
@pytest.mark.parametrize("mode", [ScanMode(touched=lambda _: ("new", None)), EVERY_FILE], ids=["watcher", "person"])
def test_where_nobody_tells_what_was_touched_git_compares_the_times_of_every_file_it_has(
    vault: Path, wholes: list[str], monkeypatch: pytest.MonkeyPatch, mode: ScanMode
) -> None:
    config = settled(vault)  # of what was committed git has no times yet
    wholes.clear()

    assert commit.commit(config, mode=mode).commits == []
    with monkeypatch.context() as bound:
        bound.setattr(scan, "MANY_TOUCHED", 0)
        assert commit.commit(config, mode=mode).commits == []
        assert wholes == ["whole"]  # git learns the times
        assert commit.commit(config, mode=mode).commits == []
    assert wholes == ["whole"]
    wholes.clear()
    (vault / "notes/one.md").write_text("# One, again\n", encoding="utf-8")
    assert [made.files for made in commit.commit(config, mode=mode).commits] == [1]
    assert wholes == []
    monkeypatch.setattr(scan, "WHOLE_SECONDS", 0)
    assert commit.commit(config, mode=mode).commits == []
    assert wholes == ["whole"]


def staged(vault: Path) -> None:
    put(vault, "notes/staged.md", "# Staged\n")
    git(vault, "add", "notes/staged.md")


def committed_by_hand(vault: Path) -> None:
    put(vault, "notes/mine.md", "# Mine\n")
    git(vault, "add", "notes/mine.md")
    git(vault, "commit", "-qm", "Mine")


def ignoring(vault: Path) -> None:
    put(vault, ".git/info/exclude", "one.md\n")


def nested(vault: Path) -> None:
    git(vault, "init", "-q", "notes/deep/other")
    put(vault, "notes/deep/other/x.md", "# Not the vault's\n")


@pytest.mark.parametrize("change", few([staged, committed_by_hand, ignoring, nested], always=[staged]))
def test_a_repository_that_is_not_as_it_was_left_is_looked_through(
    vault: Path, wholes: list[str], change: Callable[[Path], None]
) -> None:
    config = settled(vault)
    change(vault)
    wholes.clear()

    found = short(config)

    assert wholes == ["whole"]
    assert found == every_change(config)


@pytest.mark.slow
@pytest.mark.parametrize("steps", few([6, 60], always=[6]))
@pytest.mark.parametrize("mode", [BACKGROUND, EVERY_FILE], ids=["background", "person"])
def test_fast_scans_find_what_full_scans_find(vault: Path, wholes: list[str], steps: int, mode: ScanMode) -> None:
    _compare_scans(settled(vault), wholes, steps, mode)


@pytest.mark.slow
@pytest.mark.parametrize("steps", few([6, 60], always=[6]))
def test_scans_that_ask_a_watcher_find_what_full_scans_find(vault: Path, wholes: list[str], steps: int) -> None:
    config = settled(vault)
    with running(vault, patient=True):
        _compare_scans(config, wholes, steps, ScanMode(touched=partial(client.touched, config)))


def _compare_scans(config: Config, wholes: list[str], steps: int, mode: ScanMode) -> None:
    vault = Path(config.vault)
    put(vault, ".gitignore", "*.log\n")
    commit.commit(config)
    commit.commit(config)
    chance = random.Random(17)

    def pick() -> Path:
        return chance.choice(sorted(path for path in vault.rglob("*.md") if ".git" not in path.parts))

    def move_folder() -> None:
        folders = sorted(path for path in vault.rglob("*/") if ".git" not in path.parts and path.is_dir())
        path = chance.choice(folders)
        path.rename(path.with_name(f"{path.name}-{chance.randrange(99)}"))

    def add() -> None:
        folder = chance.choice([pick().parent, vault / f"notes/new-{chance.randrange(9)}/below"])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"n{chance.randrange(10**6)}{chance.choice(['.md', '*.png', ':.log', 'ü .md'])}").write_text("text\n")

    doing: list[Callable[[], object]] = [
        add,
        add,
        move_folder,
        lambda: save(pick(), f"# New {chance.random()}\n"),
        *([lambda: pick().write_text(f"# In place {chance.random()}\n")] if mode != BACKGROUND else []),
        lambda: pick().unlink(),
        lambda: pick().rename(pick().with_name(f"moved-{chance.randrange(10**6)}.md")),
        lambda: commit.commit(config, mode=BACKGROUND),
        lambda: commit.commit(config, session="other-session", mode=BACKGROUND),
        lambda: commit.commit_paths(config, [str(pick().relative_to(vault))], "One of them"),
    ]
    looks = 0
    for _ in range(steps):
        chance.choice(doing)()
        wholes.clear()
        found = short(config, mode)
        looks += not wholes
        every = every_change(config)
        assert found == every
        some = {
            *chance.sample(sorted({change.path for change in every}), len(every) // 2),
            str(pick().relative_to(vault)),
        }
        among = short(config, ScanMode(only=some))
        assert {change for change in among if change.path in some} == {
            change for change in every if change.path in some
        }
    assert looks > (steps // 2 if mode == BACKGROUND else 0)


def test_an_edit_that_short_looks_have_missed_is_in_history_when_its_note_is_forgotten(
    vault: Path, wholes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settled(vault)
    monkeypatch.setattr(folder_scan, "STEP_NS", 0)
    (vault / "notes/one.md").write_text("# One\n\nA word of a person's.\n", encoding="utf-8")
    assert commit.commit(config, mode=BACKGROUND).commits == []
    wholes.clear()

    lost = forget.keep(config, ["notes/one.md"])

    assert (lost, wholes) == (set(), [])
    assert "A word of a person's." in git(vault, "show", "HEAD:notes/one.md")


@pytest.mark.slow
def test_a_first_commit_in_many_batches_lists_the_vault_once(
    vault: Path, wholes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_BYTES", 1)
    config = start(vault)
    for number in (1, 2):
        put(vault, f"notes/{number}/n.md", "# A note\n")
        put(vault, f"notes/p{number}.png", "no text")

    made = commit.commit(config).commits

    assert len(made) > 2
    assert len(head_files(vault)) == sum(one.files for one in made)
    assert wholes == ["whole"]
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_a_commit_of_more_changes_than_are_listed_at_a_time_takes_them_all_and_knows_what_stays(
    vault: Path, wholes: list[str], monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    config = settled(vault)
    for number in range(4):
        put(vault, f"notes/{number}/n.md", "# A note\n")
    commit.commit(config)
    monkeypatch.setattr(changes, "MOST", most)
    monkeypatch.setattr(folder_scan, "STEP_NS", 0)
    turn(vault)
    held = captured(vault, "000-000-prompt-a-p0", "prompt", "The key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    put(vault, "notes/0/n.md", "# A note\n\nA line more.\n")
    (vault / "notes/1/n.md").unlink()
    put(vault, "notes/own.md", "---\nsync: false\n---\n\nStays here.\n")
    put(vault, "notes/z.md", "# Last\n\n![it](../pictures/late.png)\n")
    put(vault, "pictures/late.png", "no text")
    put(vault, "pictures/alone.png", "no text")
    wholes.clear()

    done = commit.commit(config, mode=ScanMode())

    every = (path.relative_to(vault).as_posix() for path in vault.rglob("*") if path.is_file())
    here = sorted(path for path in every if not path.startswith(".git/"))
    stays = [held.relative_to(vault).as_posix(), "notes/own.md", "pictures/alone.png"]
    assert head_files(vault) == [path for path in here if path not in stays]
    assert ([one.path for one in done.held_back], [one.path for one in done.staying]) == ([stays[0]], [stays[1]])
    assert [one.path for one in done.left_out] == stays[2:]
    put(vault, stays[1], "Leaves.\n")
    put(vault, "notes/2/more.md", "# Later\n")
    monkeypatch.setattr(changes, "MOST", 7)
    wholes.clear()
    commit.commit(config, mode=BACKGROUND)
    assert {*head_files(vault)} == {*here, "notes/2/more.md"} - {stays[0], stays[2]}
    assert wholes == []


def test_of_many_changes_elsewhere_few_are_listed_where_one_path_matters_and_none_is_lost(
    vault: Path, wholes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settled(vault)
    git(vault, "commit", "-q", "--allow-empty", "-m", "of another program")
    for number in range(6):
        put(vault, f"notes/{number}/n.md", "# A note\n")
    put(vault, "notes/z.md", "# The one\n")
    monkeypatch.setattr(changes, "FEW", 2)

    listed = short(config, ScanMode(only=["notes/z.md"]))
    done = commit.commit_paths(config, ["notes/z.md"], "One note")

    assert {one.path for one in listed} == {"notes/0/n.md", "notes/1/n.md", "notes/z.md"}
    assert [one.files for one in done.commits] == [1]
    assert sum(one.files for one in commit.commit(config, mode=BACKGROUND).commits) == 6
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Plan.md", "plan.md"),  # all of them
        ("ǅ.md", "ǆ.md"),
        ("Straße.md", "STRASSE.md"),  # APFS, ext4
        ("caf\u00e9.md", "cafe\u0301.md"),  # HFS+, APFS, ext4
        ("\u212bngstrom.md", "\u00e5ngstrom.md"),
        ("a\u200db.md", "ab.md"),  # HFS+, ext4
        ("❤\ufe0f.md", "❤.md"),  # ext4
    ],
)
def test_names_that_some_disk_takes_for_one_are_folded_to_one(name: str, other: str) -> None:
    assert folder_scan.folded(name) == folder_scan.folded(other)
