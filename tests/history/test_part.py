"""A part of a vault: some projects, or the time since a day; it syncs both ways and deletes nothing that it lacks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.errors import GitError, UsageError, VaultError
from mdmem.history import commit, deletions, past, sync
from mdmem.history.git import repository
from mdmem.history.git.part import VaultPart
from mdmem.history.space import checkout, clone
from mdmem.search import index
from tests.helpers import rights
from tests.helpers.history_vault import captured, git, head_files, put, run_here, start, turn
from tests.helpers.talk import START, Talk

OLD = "journal/acme-notes-app/2024-03-05/0800-why-does-the-lexer-fail-11893aaf"
NEW = "journal/acme-notes-app/2026-09-14/0800-why-does-the-parser-fail-00893aaf"
OTHER = "journal/other-app/2026-09-15/0900-what-is-this-22893aaf"
DAYS = ("days", "days/2024")
OTHER_SESSION = "22893aaf-19fa-41d2-8238-13269b9b3ca0"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with sessions of two years and two projects, pushed to a remote: to be copied."""
    root = tmp_path_factory.mktemp("prepared")
    vault = root / "vault"
    vault.mkdir()
    (vault / "mdmem.toml").write_text("")
    settings = start(vault)
    turn(vault, session="11893aaf-19fa-41d2-8238-13269b9b3ca0", folder=OLD)
    turn(vault)
    turn(vault, session=OTHER_SESSION, folder=OTHER)
    for name in ("acme-notes-app", "other-app"):
        put(vault, f"journal/{name}/project.md", f"---\nkind: project\nproject: {name}\n---\n\nWords of a person.\n")
    put(vault, "days/2024-03-05.md", "# 2024-03-05\n")
    put(vault, "days/2024/2024-03-05.md", "# 2024-03-05, once there are many\n")
    put(vault, "notes/how-we-release.md", "# How we release\n")
    git(root, "init", "-q", "--bare", "-b", "main", "remote.git")
    git(vault, "remote", "add", "origin", str(root / "remote.git"))
    sync.sync(settings)
    return root


@pytest.fixture
def whole(vault: Path, home: Path, tmp_path: Path, prepared: Path) -> Config:
    shutil.copytree(prepared / "remote.git", tmp_path / "remote.git")
    shutil.copytree(prepared / "vault", vault, dirs_exist_ok=True)
    known = vault / ".git/config"
    known.write_text(known.read_text().replace(str(prepared), str(tmp_path)))
    return config.load(str(vault))


def clone_of(whole: Config, part: VaultPart) -> Config:
    root = Path(whole.vault).parent / "part"
    clone.clone(str(root.parent / "remote.git"), root, part)
    return config.load(str(root))


def files(settings: Config) -> set[str]:
    root = Path(settings.vault)
    return {path.relative_to(root).as_posix() for path in root.rglob("*.md")}


def folders(settings: Config) -> set[str]:
    return {path.rpartition("/")[0] for path in files(settings)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "there", "not_there"),
    [
        (VaultPart("2026-09-14"), {NEW, OTHER}, {OLD, *DAYS}),
        (VaultPart("2024-03-06"), {NEW, OTHER}, {OLD, *DAYS}),
        (VaultPart("2024-03-05"), {NEW, OTHER, OLD, *DAYS}, set()),
        (VaultPart(projects=("acme-notes-app",)), {NEW, OLD, *DAYS}, {OTHER}),
        (VaultPart("2025-01-01", ("acme-notes-app",)), {NEW}, {OLD, OTHER, *DAYS}),
    ],
    ids=["this day", "the day after", "the very day", "a project", "both"],
)
def test_a_part_has_what_was_asked_for_and_plain_git_agrees(
    whole: Config, part: VaultPart, there: set[str], not_there: set[str]
) -> None:
    held = clone_of(whole, part)
    root = Path(held.vault)

    assert there | {"notes", "journal/acme-notes-app", "journal/other-app"} <= folders(held)
    assert not folders(held) & not_there
    assert git(root, "status", "--porcelain") == ""
    before = files(held)
    git(root, "read-tree", "-mu", "HEAD")
    assert files(held) == before


def test_a_part_of_a_projects_name_is_enough_for_a_clone(whole: Config) -> None:
    for name in ("nope", "app"):
        with pytest.raises(UsageError, match=f"'{name}' is .* It has acme-notes-app, other-app"):
            clone_of(whole, VaultPart(projects=(name,)))

    held = clone_of(whole, VaultPart(projects=("Other",)))  # the clone that was begun is completed

    assert OTHER in folders(held)
    assert NEW not in folders(held)
    assert clone_of(whole, VaultPart(projects=("Other",))).vault == held.vault


def with_a_new_note(whole: Config) -> tuple[Path, list[str]]:
    """Clone one project, and write a note that is not committed; return the clone and the files of its last commit."""
    root = Path(clone_of(whole, VaultPart(projects=("other-app",))).vault)
    put(root, "notes/new.md", "new\n")
    run_here("commit", env={"MDMEM_VAULT": str(root)}, check=True)
    put(root, "notes/newer.md", "newer\n")
    return root, head_files(root)


def test_an_index_lost_on_a_machine_with_a_part_deletes_nothing_that_it_lacks(whole: Config) -> None:
    root, before = with_a_new_note(whole)
    (root / ".git/index").unlink()

    run_here("commit", env={"MDMEM_VAULT": str(root)}, check=True)

    assert head_files(root) == sorted([*before, "notes/newer.md"])
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '{"since": ""}'])
def test_while_it_is_unknown_which_part_a_machine_has_nothing_is_committed_as_deleted(whole: Config, text: str) -> None:
    root, before = with_a_new_note(whole)
    (root / ".git/mdmem-part").write_text(text)
    (root / ".git/index").unlink()

    done = run_here("commit", env={"MDMEM_VAULT": str(root)})

    assert done.returncode == VaultError.exit_code
    assert "mdmem-part cannot be read" in done.stderr
    assert head_files(root) == before
    assert run_here("search", "export", env={"MDMEM_VAULT": str(root)}).returncode in (0, 1)


def with_ids(whole: Config) -> Config:
    """Add a note with an id of full length to each session of two."""
    for name, folder, session in (("1234567890", OLD, OLD[-8:]), ("abcdefghij", OTHER, OTHER_SESSION)):
        captured(Path(whole.vault), f"009-000-prompt-x-{name}", "prompt", "X", session=session, folder=folder)
    sync.sync(whole)
    return whole


@pytest.mark.parametrize("part", [VaultPart("2026-09-15"), VaultPart(projects=("acme-notes-app",))], ids=str)
def test_sessions_that_a_part_leaves_out_do_not_count_as_deleted(whole: Config, part: VaultPart) -> None:
    assert deletions.find_all(clone_of(with_ids(whole), part)).sessions == {}


@rights.kept_out
def test_a_session_whose_folder_cannot_be_read_does_not_count_as_deleted(whole: Config, vault: Path) -> None:
    with_ids(whole)
    (vault / OTHER).chmod(0)
    try:
        with rights.of_a_user():
            assert deletions.find_all(whole).sessions == {}
    finally:
        (vault / OTHER).chmod(0o755)


@pytest.mark.slow
def test_a_part_sends_what_is_new_and_deletes_nothing_it_lacks(whole: Config, vault: Path) -> None:
    everything = set(head_files(vault))
    held = clone_of(whole, VaultPart("2026-01-01", ("acme-notes-app",)))
    root = Path(held.vault)
    captured(root, "002-000-prompt-more-p2", "prompt", "More")
    (root / "notes/how-we-release.md").write_text("# How we release now\n")

    done = sync.sync(held)

    assert done.sent
    assert set(head_files(root)) == everything | {f"{NEW}/002-000-prompt-more-p2.md"}
    sync.sync(whole)
    assert (vault / f"{NEW}/002-000-prompt-more-p2.md").is_file()
    assert (vault / "notes/how-we-release.md").read_text() == "# How we release now\n"
    assert everything <= files(whole) | {"mdmem.toml"}


@pytest.mark.slow
def test_a_part_receives_what_belongs_to_it_and_leaves_the_rest_to_git(whole: Config, vault: Path) -> None:
    held = clone_of(whole, VaultPart("2026-01-01", ("acme-notes-app",)))
    root = Path(held.vault)
    captured(root, "002-000-prompt-more-p2", "prompt", "More")  # both sides have something new: a merge
    sync.sync(held)
    before = files(held)
    captured(vault, "003-000-prompt-third-p3", "prompt", "Third")
    captured(vault, "003-000-prompt-fourth-p4", "prompt", "Fourth", session=OTHER_SESSION, folder=OTHER)
    (vault / f"{OLD}/001-000-prompt-why-p1.md").write_text("changed\n")
    (vault / f"{OTHER}/001-001-bash-pytest-b1.md").unlink()
    sync.sync(whole)
    captured(root, "004-000-prompt-last-p5", "prompt", "Last")

    done = sync.sync(held)

    assert list(done.received) == [f"{NEW}/003-000-prompt-third-p3.md"]
    assert files(held) == before | {f"{NEW}/003-000-prompt-third-p3.md", f"{NEW}/004-000-prompt-last-p5.md"}
    assert git(root, "status", "--porcelain") == ""
    assert commit.commit(held).commits == []
    sync.sync(whole)
    assert set(head_files(vault)) == set(head_files(root))
    assert (vault / f"{OLD}/001-000-prompt-why-p1.md").read_text() == "changed\n"
    assert not (vault / f"{OTHER}/001-001-bash-pytest-b1.md").exists()


@pytest.mark.slow
def test_what_is_captured_outside_the_part_is_kept_and_synced(whole: Config, vault: Path) -> None:
    held = clone_of(whole, VaultPart(projects=("acme-notes-app",)))
    root = Path(held.vault)
    page = (root / "journal/other-app/project.md").read_text()
    folder = "journal/other-app/2026-09-16/1000-a-new-one-33893aaf"
    turn(root, session="33893aaf-19fa-41d2-8238-13269b9b3ca0", folder=folder)

    sync.sync(held)
    sync.sync(held)
    sync.sync(whole)

    assert folder in folders(held)
    assert folder in folders(whole)
    assert git(root, "status", "--porcelain") == ""
    assert (vault / "journal/other-app/project.md").read_text() == page


@pytest.mark.usefixtures("pages_at_once")
def test_the_page_of_a_session_keeps_its_link_to_one_that_is_not_here(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here("init", str(vault), check=True)
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "remote.git")
    git(vault, "remote", "add", "origin", str(tmp_path / "remote.git"))
    for day, session in ((-600, "11893aaf-1"), (0, "22893aaf-2")):
        talk = Talk(vault, tmp_path / "app", session)
        talk.now = START + day * 86_400
        talk.says("Why does it fail?")
    run_here("sync", env={"MDMEM_VAULT": str(vault)}, check=True)
    held = clone_of(config.load(str(vault)), VaultPart("2026-01-01"))
    page = next(one for one in Path(held.vault).glob("journal/app/2026-*/*/*.md") if one.stem == one.parent.name)
    assert "previous: [2025-" in page.read_text()

    monkeypatch.setenv("MDMEM_VAULT", held.vault)
    later = Talk(Path(held.vault), tmp_path / "app", "33893aaf-3")
    later.now = START + 86_400
    later.says("Does it still fail?")
    for _ in range(2):
        for root in (held.vault, str(vault)):
            run_here("sync", env={"MDMEM_VAULT": root}, check=True)

    sent = [
        json.loads(run_here("sync", "--json", env={"MDMEM_VAULT": str(root)}).stdout)["sent"]
        for root in (held.vault, vault)
    ]
    assert sent == [0, 0], git(vault, "log", "-3", "--stat", "--format=%an: %s")
    assert "previous: [2025-" in page.read_text()
    assert "next: [2026-" in page.read_text()
    checked = run_here("doctor", "--only", "links")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_the_rest_of_the_vault_can_be_brought(whole: Config, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = clone_of(whole, VaultPart("2026-01-01", ("acme-notes-app",)))
    monkeypatch.setenv("MDMEM_VAULT", held.vault)

    assert "since 2026-01-01, project acme-notes-app" in run_here("status", check=True).stdout
    assert "`mdmem sync --whole` fetches the rest" in run_here("search", "zyzzyva", check=True).stderr
    run_here("sync", "--whole", check=True)

    assert files(whole) <= files(held)
    assert git(Path(held.vault), "status", "--porcelain") == ""
    assert "a part of it" not in run_here("status", check=True).stdout
    assert run_here("sync", "--whole").stderr.startswith("mdmem: The whole vault is already at")


@pytest.mark.slow
def test_what_broke_off_while_the_rest_was_brought_is_completed(whole: Config, tmp_path: Path) -> None:
    held = clone_of(whole, VaultPart(projects=("other-app",)))
    repo = repository.open_vault(held.vault)

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkout.complete(repo, str(tmp_path), stop)
    assert files(whole) <= files(held), "every file was written, and git was not told"
    assert checkout.complete(repo, str(tmp_path)) == 0

    assert git(Path(held.vault), "status", "--porcelain") == ""
    assert not [line for line in git(Path(held.vault), "ls-files", "-t").splitlines() if line.startswith("S ")]


@pytest.mark.slow
def test_a_clone_that_broke_off_is_completed_as_the_part_it_was(whole: Config) -> None:
    held = clone_of(whole, VaultPart(projects=("other-app",)))
    root = Path(held.vault)
    before = files(held)
    (root / ".git/index").unlink()
    next(root.glob(f"{OTHER}/*.md")).unlink()

    sync.sync(held)

    assert files(held) == before
    assert len(head_files(root)) > len(before)


@pytest.mark.slow
def test_the_command_clones_a_part_and_indexes_it(whole: Config, tmp_path: Path) -> None:
    target = tmp_path / "part"

    words = ("clone", str(tmp_path / "remote.git"), str(target), "--since", "2026", "--project", "other-app", "--json")
    done = json.loads(run_here(*words, check=True).stdout)

    assert done == {"vault": str(target), "since": "2026-01-01", "projects": ["other-app"]}
    view = index.current(config.load(str(target)))
    assert view is not None
    assert {path.split("/")[1] for path in view.some_paths(0, view.size) if path.count("/") > 3} == {"other-app"}
    assert repository.open_vault(target).root == target


# -- a remote that can leave texts out -----------------------------------------------------------------


def missing(root: Path) -> set[str]:
    """Return the objects that git does not have here."""
    listed = git(root, "rev-list", "--objects", "--all", "--missing=print")
    return {line[1:] for line in listed.splitlines() if line.startswith("?")}


@pytest.fixture
def thin(whole: Config) -> Config:
    """A part of which git has fetched no text that was not wanted."""
    remote = Path(whole.vault).parent / "remote.git"
    git(remote, "config", "uploadpack.allowFilter", "true")
    root = remote.parent / "part"
    clone.clone(remote.as_uri(), root, VaultPart("2026-01-01", ("acme-notes-app",)))
    return config.load(str(root))


@pytest.mark.slow
def test_texts_of_the_rest_are_not_fetched(whole: Config, thin: Config) -> None:
    root, blobs = Path(thin.vault), git(Path(whole.vault), "ls-tree", "-r", "HEAD")
    lacking = {line.split("\t")[1] for line in blobs.splitlines() if line.split()[2] in missing(root)}

    assert folders(thin) == {NEW, "notes", "journal/acme-notes-app", "journal/other-app"}
    assert {path.rpartition("/")[0] for path in lacking} == {OLD, OTHER, *DAYS}
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_part_without_the_other_texts_syncs_both_ways(whole: Config, vault: Path, thin: Config) -> None:
    root = Path(thin.vault)
    lacking = missing(root)
    captured(vault, "003-000-prompt-third-p3", "prompt", "Third")
    captured(vault, "003-000-prompt-fourth-p4", "prompt", "Fourth", session=OTHER_SESSION, folder=OTHER)
    (vault / f"{OTHER}/001-001-bash-pytest-b1.md").unlink()
    sync.sync(whole)
    captured(root, "004-000-prompt-last-p5", "prompt", "Last")

    done = sync.sync(thin)
    sync.sync(whole)

    assert list(done.received) == [f"{NEW}/003-000-prompt-third-p3.md"]
    assert set(head_files(vault)) == set(head_files(root))
    assert git(root, "status", "--porcelain") == ""
    assert missing(root)
    assert missing(root) <= lacking


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("sync", "--whole"), ("backup", "{}/all.bundle"), ("purge", "Words of a person", "--apply", "--yes")]
)
def test_what_needs_the_whole_history_fetches_it(
    whole: Config, thin: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MDMEM_VAULT", thin.vault)

    run_here(*(word.format(tmp_path) for word in words), check=True)

    assert not missing(Path(thin.vault))
    assert git(Path(thin.vault), "status", "--porcelain") == ""
    sync.sync(thin)
    sync.sync(whole)
    assert set(head_files(Path(whole.vault))) == set(head_files(Path(thin.vault)))


def test_a_part_that_a_remote_does_not_send_is_told_with_the_way_to_fetch_the_whole(
    whole: Config, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote, root = Path(whole.vault).parent / "remote.git", home / "part"
    git(remote, "config", "uploadpack.allowFilter", "true")
    (home / ".gitconfig").write_text("[protocol]\n\tversion = 0\n")  # as SSH servers that pass no GIT_PROTOCOL on
    with pytest.raises(GitError, match="`mdmem sync --whole` fetches the whole vault"):
        clone.clone(remote.as_uri(), root, VaultPart("2026-01-01", ("acme-notes-app",)))
    monkeypatch.setenv("MDMEM_VAULT", str(root))

    run_here("sync", "--whole", check=True)

    assert set(head_files(Path(whole.vault))) - files(config.load(str(root))) == {"mdmem.toml"}
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_text_of_the_past_is_fetched_when_it_is_shown(whole: Config, thin: Config) -> None:
    note = past.show(thin, f"{OLD}/001-000-prompt-why-p1.md", "HEAD")

    assert b"Why does it fail" in note.data
