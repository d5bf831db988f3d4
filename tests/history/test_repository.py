"""The door to git: nothing of the caller's environment or configuration comes through."""

from __future__ import annotations

import errno
import io
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config
from mdmem.errors import GitError, LockedError, VaultError
from mdmem.history import commit
from mdmem.history.git import checked_out, environment, git_index, lock, objects, repository, tidy, writer
from mdmem.history.git.paths import PackedPaths
from mdmem.history.purging import purge
from mdmem.history.space import clone
from mdmem.search import index
from tests.helpers import rights
from tests.helpers.history_vault import git, head_files, put, run_here, start, turn


def test_a_new_repository_has_the_branch_main_and_no_hooks(vault: Path) -> None:
    repo = repository.init(vault)

    assert checked_out.branch(repo) == "refs/heads/main"
    assert not (vault / ".git" / "hooks").exists()


def test_the_users_templates_are_not_copied_into_a_new_repository(vault: Path, home: Path) -> None:
    (home / "template" / "hooks").mkdir(parents=True)
    (home / "template" / "hooks" / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (home / ".gitconfig").write_text(f"[init]\n\ttemplateDir = {home / 'template'}\n\tdefaultBranch = trunk\n")

    repo = repository.init(vault)

    assert checked_out.branch(repo) == "refs/heads/main"
    assert not (vault / ".git" / "hooks").exists()


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_vault_on_a_disk_that_keeps_no_modes_has_a_history(
    vault: Path, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    def chmod(*_: object, **__: object) -> None:
        if is_refused:  # as in a Windows folder in WSL; on FAT: no error, and no effect
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    repository.init(vault)
    (vault / ".git").chmod(0o755)
    monkeypatch.setattr(os, "chmod", chmod)

    repo = repository.init(vault)
    put(vault, "notes/a.md", "# A\n")

    assert commit.commit(config.load(str(vault))).commits
    assert repository.run(repo, "log", "--format=%s")


@pytest.mark.skipif("--ref-format" not in git(Path.cwd(), "init", "-h", check=False), reason="git before 2.45")
def test_new_vaults_and_clones_keep_refs_in_files_whatever_the_defaults_of_git_are(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = put(tmp_path, "bin/git", _WITH_DEFAULTS.format(shutil.which("git")))
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    git(tmp_path, "init", "-q", "plain")

    repository.init(vault)
    clone.clone(str(vault), tmp_path / "second")

    wanted = ("rev-parse", "--show-ref-format", "--show-object-format")
    assert git(tmp_path / "plain", *wanted).split() == ["reftable", "sha256"]
    assert git(vault, *wanted).split() == ["files", "sha1"]
    assert git(tmp_path / "second", *wanted).split() == ["files", "sha1"]


_WITH_DEFAULTS = """#!/bin/sh
exec {} -c init.defaultRefFormat=reftable -c init.defaultObjectFormat=sha256 "$@"
"""


@pytest.mark.parametrize("lacking", [["objects"], ["objects", "HEAD"], ["objects", "HEAD", "config", "refs"]])
def test_an_init_that_broke_off_is_completed_by_the_next(vault: Path, lacking: list[str]) -> None:
    repository.init(vault)
    for name in lacking:
        path = vault / ".git" / name
        path.unlink() if path.is_file() else shutil.rmtree(path)
    turn(vault)

    with pytest.raises(VaultError, match="Run `mdmem init "):
        commit.commit(config.load(str(vault)))
    repository.init(vault)

    assert commit.commit(config.load(str(vault))).commits
    shutil.rmtree(vault / ".git/objects")
    with pytest.raises(VaultError, match="has lost its folder objects"):
        repository.init(vault)


def test_a_repository_whose_head_is_a_link_becomes_a_vault_before_its_first_commit(vault: Path) -> None:
    git(vault, "init", "-q", "-b", "main")
    head = vault / ".git/HEAD"
    head.unlink()
    head.symlink_to("refs/heads/main")  # as git writes it with core.preferSymlinkRefs
    repository.init(vault)
    turn(vault)

    assert commit.commit(config.load(str(vault))).commits


def test_a_disk_that_refuses_gits_modes_is_told_with_what_to_do() -> None:
    printed = "error: chmod on /v/.git/config.lock failed: Operation not permitted\n"
    assert "keep the vault on another one" in repository.reason(repository.GitResult(128, b"", printed))


def test_init_is_safe_to_run_again(vault: Path) -> None:
    repository.init(vault)
    git(vault, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "kept")

    repository.init(vault)

    assert "kept" in git(vault, "log", "--oneline")


def test_a_vault_inside_another_repository_is_told_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "project")
    inside = tmp_path / "project" / "docs" / "vault"

    assert repository.repository_around(inside) == str(tmp_path / "project")
    assert repository.repository_around(tmp_path / "project") is None


def test_a_folder_in_another_repository_is_no_vault(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "project")
    (tmp_path / "project" / "vault").mkdir()

    with pytest.raises(VaultError, match="mdmem init"):
        repository.open_vault(tmp_path / "project" / "vault")


def test_inherited_git_variables_do_not_reach_git(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository.init(vault)
    git(tmp_path, "init", "-q", "-b", "foreign", "project")
    for name, value in {
        "GIT_DIR": str(tmp_path / "project" / ".git"),
        "GIT_WORK_TREE": str(tmp_path / "project"),
        "GIT_INDEX_FILE": str(tmp_path / "foreign-index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "foreign-objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Foreign",
        "GIT_CEILING_DIRECTORIES": "/",
    }.items():
        monkeypatch.setenv(name, value)

    assert checked_out.branch(repo) == "refs/heads/main"
    assert repository.run(repo, "rev-parse", "--git-path", "index").decode().strip().endswith("vault/.git/index")
    assert repository.identity(repo) == repository.OWN_IDENTITY
    assert os.environ["GIT_DIR"] == str(tmp_path / "project" / ".git")


def test_the_identity_is_the_users_where_git_knows_one(vault: Path, home: Path) -> None:
    repo = repository.init(vault)
    assert repository.identity(repo) == ("mdmem", "mdmem@localhost")

    (home / ".gitconfig").write_text("[user]\n\tname = Ada <L>\n\temail = ada@example.org\n")

    assert repository.identity(repo) == ("Ada L", "ada@example.org")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("filter.evil.clean", "touch {mark}; cat"),
        ("core.fsmonitor", "touch {mark}"),
        ("core.sshCommand", "touch {mark}; ssh"),
        ("core.gitProxy", "touch {mark}"),
        ("core.alternateRefsCommand", "touch {mark}"),
        ("remote.origin.uploadpack", "touch {mark}; git-upload-pack"),
        ("remote.origin.receivepack", "touch {mark}; git-receive-pack"),
        ("remote.origin.vcs", "evil"),
        ("credential.helper", "!touch {mark}"),
        ("credential.https://example.org.helper", "!touch {mark}"),
        ("merge.union.driver", "touch {mark}"),
        ("diff.external", "touch {mark}"),
    ],
)
def test_a_vault_whose_configuration_starts_programs_is_refused(vault: Path, key: str, value: str) -> None:
    repository.init(vault)
    mark = vault.parent / "ran"
    git(vault, "config", key, value.format(mark=mark))

    with pytest.raises(GitError, match=f"(?i){re.escape(key)}"):
        repository.open_vault(vault)

    assert not mark.exists()


def test_a_program_in_an_included_file_is_refused_as_well(vault: Path) -> None:
    repository.init(vault)
    (vault.parent / "more").write_text('[filter "evil"]\n\tsmudge = cat\n')
    git(vault, "config", "include.path", str(vault.parent / "more"))

    with pytest.raises(GitError, match=r"filter\.evil\.smudge"):
        repository.open_vault(vault)


def test_gits_own_monitor_is_no_reason_to_refuse(vault: Path) -> None:
    repository.init(vault)
    git(vault, "config", "core.fsmonitor", "true")

    assert repository.open_vault(vault).root == vault


def test_a_failure_of_git_says_which_command_and_why(vault: Path) -> None:
    repo = repository.init(vault)

    with pytest.raises(GitError, match=r"git cat-file failed in .*Not a valid object name nothing"):
        repository.run(repo, "cat-file", "-p", "nothing")


def test_what_git_prints_is_read_while_it_prints_it_as_far_as_it_is_wanted(vault: Path) -> None:
    repo = repository.init(vault)
    large = b"much\0" * 400_000
    oid = repository.run(repo, "hash-object", "-w", "--stdin", stdin=large).decode().strip()

    assert sum(map(len, repository.fields(repo, "cat-file", "blob", oid))) == 4 * 400_000
    with repository.printing(repo, "cat-file", "blob", oid) as out:
        assert out.read(4) == b"much", "git ends when no more is read, and that is no failure"
    with pytest.raises(GitError, match=r"git ls-tree failed in .*Not a valid object name nothing"):
        list(repository.each(repo, "ls-tree", "-z", "nothing"))


@given(st.data())
def test_cut_output_of_gits_batch_is_an_error_unless_it_ends_between_objects(data: st.DataObject) -> None:
    out = b"aa blob 3\nx\ny\nbb missing\ncc tree 0\n\n"
    whole = {0: 0, 14: 1, 25: 2, len(out): 3}
    end = data.draw(st.integers(0, len(out)))
    parsed = objects.printed(io.BytesIO(out[:end]))
    if end in whole:
        assert len(list(parsed)) == whole[end]
    else:
        with pytest.raises(GitError, match="in the middle of an object"):
            list(parsed)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for git is a shell script")
def test_a_git_that_ends_in_the_middle_of_its_output_is_a_failure_of_git(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository.init(vault)
    oid = repository.run(repo, "hash-object", "-w", "--stdin", stdin=b"words\n" * 20).decode().strip()
    (tmp_path / "git").write_text(f'#!/bin/sh\n{shutil.which("git")} "$@" | head -c 30\nexit 128\n', encoding="utf-8")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitError, match="cat-file failed"):
        list(objects.read(repo, [oid]))


def test_a_machine_without_git_is_told_so(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository.init(vault)
    monkeypatch.setenv("PATH", str(vault))

    with pytest.raises(GitError, match="git is not installed"):
        repository.run(repo, "status")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_machine_that_has_no_room_for_another_process_is_not_told_to_install_git(vault: Path) -> None:
    import resource

    repo = repository.init(vault)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
    try:
        with pytest.raises(GitError, match="Too many open files") as told:
            repository.run(repo, "status")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert "nstall" not in str(told.value)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for git is a shell script")
@pytest.mark.parametrize(
    ("end", "said"), [("exit 139", "signal 11"), ("kill -11 $$", "signal 11"), ("exit 3", "status 3")]
)
def test_a_git_that_crashes_is_not_called_missing(vault: Path, tmp_path: Path, end: str, said: str) -> None:
    repository.init(vault)
    (tmp_path / "git").write_text(f"#!/bin/sh\n{end}\n", encoding="utf-8")
    (tmp_path / "git").chmod(0o755)

    code = "import sys; from mdmem.cli import main; sys.argv[1:] = ['commit']; main()"
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)

    assert done.returncode == 7
    assert f"{tmp_path}/git does not run: it ended with" in done.stderr
    assert said in done.stderr


def test_a_broken_git_configuration_of_the_user_is_named(vault: Path, home: Path) -> None:
    repository.init(vault)
    (home / ".gitconfig").write_text("[core\n", encoding="utf-8")

    code = "import sys; from mdmem.cli import main; sys.argv[1:] = ['commit']; main()"
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True)

    assert done.returncode == 7
    assert "does not run: fatal: bad config line 1 in file" in done.stderr
    assert ".gitconfig" in done.stderr


def test_another_part_of_the_process_can_import_all_of_gitpython_later() -> None:
    code = """
import sys
from mdmem.history.git import git_python
run, missing = git_python.load()
before = [name for name in ("git", "git.repo") if name in sys.modules]
import git
print(before, git.Repo.__name__, git.Git is run, git.GitCommandNotFound is missing, git_python.load()[0] is run)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[] Repo True True True\n"


def test_a_git_that_is_installed_later_is_found_by_the_same_process(vault: Path) -> None:
    repository.init(vault)
    code = f"""
import os
from mdmem.errors import GitError
from mdmem.history.git import checked_out, repository
repo = repository.open_vault({str(vault)!r})
path, os.environ["PATH"] = os.environ["PATH"], {str(vault)!r}
try:
    checked_out.branch(repo)
except GitError as error:
    print(error)
os.environ["PATH"] = path
print(checked_out.branch(repo))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    first, second = done.stdout.splitlines()
    assert first.startswith("git is not installed, or not on PATH.")
    assert second == "refs/heads/main"


@pytest.mark.parametrize(
    "printed",
    [
        "fatal: sha1 file '.git/mdmem-index-1.lock' write error. Out of diskspace\n",
        "error: unable to write symref for HEAD: No space left on device\nfatal: cannot go on\n",
    ],
)
def test_what_git_says_of_a_full_disk_is_said_in_one_way_with_what_to_do(printed: str) -> None:
    said = repository.reason(repository.GitResult(128, b"", printed))

    assert said.startswith("a disk is full (")
    assert said.endswith("). Free some space and run the command again.")


def test_a_lock_of_gits_settings_is_named_with_what_to_do(vault: Path) -> None:
    start(vault)
    lock = vault / ".git/config.lock"
    lock.touch()

    with pytest.raises(GitError, match=re.escape(f"run `rm {lock}`, then the command again")):
        repository.run(repository.open_vault(vault), "config", "branch.main.remote", "origin")


@pytest.mark.parametrize("name", ["index.lock", "packed-refs.lock"])
def test_a_purge_that_meets_a_lock_of_git_changes_nothing_and_says_what_to_do(vault: Path, name: str) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "the falcon\n")
    commit.commit(settings)
    lock = vault / ".git" / name
    lock.touch()

    with pytest.raises(GitError, match=re.escape(f"run `rm {lock}`, then the command again")):
        purge.apply(settings, purge.plan(settings, "falcon"))

    assert (vault / "notes/a.md").read_text() == "the falcon\n"
    assert git(vault, "show", "HEAD:notes/a.md") == "the falcon\n"


@pytest.mark.parametrize("name", ["index.lock", "refs/mdmem/pending.lock"])
def test_a_purge_removes_a_lock_that_a_killed_mdmem_left(vault: Path, name: str) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "the falcon\n")
    commit.commit(settings)
    left = vault / ".git" / f"{git_index.PREFIX}0123456789ab"
    left.write_bytes(b"half an index")
    (vault / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
    (vault / ".git" / name).hardlink_to(left)

    done = purge.apply(settings, purge.plan(settings, "falcon"))

    assert not done.left
    assert "falcon" not in git(vault, "show", "HEAD:notes/a.md")
    assert not (vault / ".git" / name).exists()


def test_a_purge_removes_a_text_that_is_only_staged(vault: Path) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "plain\n")
    commit.commit(settings)
    put(vault, "notes/a.md", "the falcon flies\n")
    git(vault, "add", "notes/a.md")

    done = purge.apply(settings, purge.plan(settings, "falcon"))

    assert not done.left
    assert "falcon" not in (vault / "notes/a.md").read_text()


@pytest.mark.parametrize("name", ["refs/heads/main.lock", "HEAD.lock"])
@pytest.mark.parametrize("folder", [".", f"{'long' * 30}/{'deep' * 30}"])
def test_a_commit_that_meets_a_fresh_lock_of_git_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, name: str
) -> None:
    hasty = [setting.replace("Timeout=10000", "Timeout=100") for setting in environment.OVERRULED]
    monkeypatch.setattr(repository, "OVERRULED", tuple(hasty))
    vault = tmp_path / folder / "vault"
    vault.mkdir(parents=True)
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    lock = vault / ".git" / name
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()

    with pytest.raises(GitError, match=re.escape(f"run `rm {lock}`, then the command again")):
        commit.commit(settings)

    lock.unlink()
    commit.commit(settings)
    assert "notes/a.md" in git(vault, "ls-tree", "-r", "--name-only", "HEAD")


def test_a_lock_of_a_killed_run_goes_even_if_the_clock_was_set_back_since(vault: Path) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    repo = repository.open_vault(vault)
    writer.mark(repo, "")
    lock = vault / ".git/HEAD.lock"
    lock.touch()
    os.utime(lock, (4_000_000_000, 4_000_000_000))

    assert commit.commit(settings).commits
    assert not lock.exists()


def test_two_users_with_locks_of_their_own_do_not_stumble_over_the_mark_of_the_other(vault: Path) -> None:
    start(vault)
    repo = repository.open_vault(vault)

    def write_commits(oid: str) -> set[tuple[str, str]]:
        seen = set()
        for _ in range(300):
            writer.mark(repo, oid, oid)
            seen.add(writer.interrupted(repo))
            writer.unmark(repo)
        return seen

    with ThreadPoolExecutor(2) as users:
        seen = set().union(*users.map(write_commits, ("1" * 40, "2" * 40)))

    assert seen <= {("1" * 40, "1" * 40), ("2" * 40, "2" * 40), ("", "")}


@pytest.mark.skipif(os.name == "nt", reason="a program on Windows inherits no lock by its descriptor")
@pytest.mark.parametrize("without", ["", "of the vault", "of the state folder"])
def test_a_program_keeps_the_lock_after_us_also_if_one_of_the_disks_has_no_locks(
    vault: Path, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    import fcntl

    settings = start(vault)
    repo = repository.open_vault(vault)
    flock = fcntl.flock
    places = {
        "of the vault": repo.common_dir / "mdmem.git-lock",
        "of the state folder": Path(settings.state_dir, "git.lock"),
    }

    def refuse(fd: int, operation: int) -> None:
        if without and os.path.samestat(os.fstat(fd), places[without].stat()):
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        flock(fd, operation)

    monkeypatch.setattr(fcntl, "flock", refuse)
    with lock.held(settings.state_dir, repo.common_dir) as lock_fd:
        running = subprocess.Popen(["sleep", "60"], pass_fds=[lock_fd])
    try:
        with pytest.raises(LockedError), lock.held(settings.state_dir, repo.common_dir, wait_seconds=0):
            pass
    finally:
        running.kill()
        running.wait()
    with lock.held(settings.state_dir, repo.common_dir, wait_seconds=0):
        pass


@rights.gives_away
def test_a_lock_that_root_makes_in_a_users_folder_is_one_for_the_user_too_whatever_the_umask(vault: Path) -> None:
    settings = start(vault)
    repo = repository.open_vault(vault)
    os.chown(repo.common_dir, 12345, -1)
    before = os.umask(0o077)
    try:
        with lock.held(settings.state_dir, repo.common_dir):
            pass
    finally:
        os.umask(before)

    assert (repo.common_dir / "mdmem.git-lock").stat().st_mode & 0o777 == 0o644
    assert Path(settings.state_dir, "git.lock").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_mark_that_a_full_disk_refuses_leaves_nothing(vault: Path) -> None:
    import resource

    start(vault)
    repo = repository.open_vault(vault)
    before, limits = sorted(repo.git_dir.iterdir()), resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            writer.mark(repo, "1" * 40)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert sorted(repo.git_dir.iterdir()) == before


def test_the_lock_of_a_git_that_still_runs_stays_although_the_clock_of_its_disk_is_behind(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    repo = repository.open_vault(vault)
    writer.mark(repo, "")
    mark, lock = vault / ".git" / writer.MARK, vault / ".git/HEAD.lock"
    lock.touch()
    behind = time.time() - 60
    for path in (mark, lock):
        os.utime(path, (behind, behind))

    def go_on(seconds: float) -> None:  # as the other git does meanwhile
        if seconds:
            lock.unlink()
            lock.write_text("another's")

    monkeypatch.setattr(time, "sleep", go_on)

    writer.heal(repo, "refs/heads/main")

    assert lock.read_text() == "another's"
    lock.unlink()
    assert commit.commit(settings).commits


@pytest.mark.skipif(os.name == "nt", reason="the git is a shell script")
@pytest.mark.parametrize(
    ("name", "ends", "moves"),
    [
        *((name, "kill -9 $$", moves) for name in ("HEAD.lock", "refs/heads/main.lock") for moves in (True, False)),
        *(("HEAD.lock", "echo 'warning: unable to access a file' >&2; kill -9 $$", moves) for moves in (True, False)),
        *(("HEAD.lock", "exit 1", moves) for moves in (True, False)),  # killed on Windows
        ("HEAD.lock", "touch -r logs/HEAD HEAD.lock; exit 0", True),  # the disk refused to delete it
    ],
)
def test_a_lock_that_a_git_of_ours_has_left_blocks_no_later_commit(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ends: str, moves: bool
) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    commit.commit(settings)
    real, lock = shutil.which("git"), vault / ".git" / name
    script = f"""#!/bin/sh
case " $* " in *" update-ref -m mdmem "*) [ -e {tmp_path}/once ] || {{
    touch {tmp_path}/once
    {f'{real} "$@"' if moves else ":"}
    touch {lock}
    cd {vault}/.git
    {ends}
}} ;; esac
exec {real} "$@"
"""
    put(tmp_path, "bin/git", script).chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    put(vault, "notes/b.md", "b\n")

    with nullcontext() if moves else pytest.raises(GitError):
        assert len(commit.commit(settings).commits) == 1

    assert (tmp_path / "once").exists()
    assert not lock.exists()
    put(vault, "notes/c.md", "c\n")
    assert commit.commit(settings).commits
    assert set(head_files(vault)) >= {"notes/a.md", "notes/b.md", "notes/c.md"}


@pytest.mark.skipif(os.name == "nt", reason="the git is a shell script")
@pytest.mark.parametrize("ref", ["HEAD", "refs/heads/main"])
def test_the_locks_that_another_git_takes_right_after_a_commit_stay(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ref: str
) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    commit.commit(settings)
    before = git(vault, "rev-parse", "HEAD").strip()
    real, pipe, told = shutil.which("git"), tmp_path / "pipe", tmp_path / "told"
    os.mkfifo(pipe)
    script = f"""#!/bin/sh
{real} "$@" || exit $?
case " $* " in *" update-ref -m mdmem "*)
    sleep .1
    {real} update-ref --stdin <{pipe} >{told} 2>&1 &
    exec 3>{pipe}
    printf 'start\\nupdate {ref} {before}\\nprepare\\n' >&3
    until grep -q prepare {told}; do sleep .01; done
    (sleep 3; echo commit >&3) </dev/null >/dev/null 2>&1 & ;;
esac
"""
    put(tmp_path, "bin/git", script).chmod(0o700)
    put(vault, "notes/b.md", "b\n")
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

        commit.commit(settings)

    while not told.read_text().endswith("commit: ok\n"):
        assert "fatal" not in told.read_text()
        time.sleep(0.05)
    assert git(vault, "rev-parse", "HEAD").strip() == before


def test_the_locks_of_another_git_stay_when_the_index_is_still_to_be_brought_up_to_date(vault: Path) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    commit.commit(settings)
    before = git(vault, "rev-parse", "HEAD").strip()
    put(vault, "notes/b.md", "b\n")
    commit.commit(settings)
    repo = repository.open_vault(vault)
    writer.mark(repo, before, writer.tip(repo, "HEAD"))  # as while another git holds the lock of the index
    command = ["git", "-C", str(vault), "update-ref", "--stdin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin and other.stdout
        other.stdin.write(f"start\nupdate refs/heads/main {before}\nprepare\n")
        other.stdin.flush()
        assert [other.stdout.readline() for _ in range(2)] == ["start: ok\n", "prepare: ok\n"]

        writer.heal(repo, "refs/heads/main")

        assert other.communicate("commit\n")[0] == "commit: ok\n"
    put(vault, "notes/c.md", "c\n")
    assert commit.commit(settings).commits


@pytest.mark.parametrize("holds", [[], ["file"]])
def test_a_folder_in_the_place_of_a_lock_is_moved_out_of_the_way(vault: Path, holds: list[str]) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    places = [Path(settings.state_dir, "git.lock"), Path(settings.index_dir, "writer.lock")]
    for place in places:
        place.mkdir(parents=True)
        for name in holds:
            (place / name).touch()

    assert commit.commit(settings).commits
    index.update(settings)

    assert all(place.is_file() for place in places)


def test_a_linked_work_tree_is_a_vault_too(vault: Path, tmp_path: Path) -> None:
    repository.init(vault)
    git(vault, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
    git(vault, "worktree", "add", "-q", "-b", "other", str(tmp_path / "second"))

    repo = repository.open_vault(tmp_path / "second")

    assert checked_out.branch(repo) == "refs/heads/other"
    assert repo.common_dir == vault / ".git"


def test_what_has_gathered_is_tidied_once_there_is_enough(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = start(vault)
    put(vault, "note.md", "one\n")
    commit.commit(config)
    graph = vault / ".git/objects/info/commit-graphs"

    assert tidy.tidy(config)
    assert not graph.exists()
    monkeypatch.setattr(tidy, "COMMITS", 1)
    assert tidy.tidy(config)

    assert graph.exists()
    assert git(vault, "fsck", "--strict", "--no-dangling") == git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize("words", [("commit", "--quiet"), ("doctor", "--only", "leftovers", "--fix")])
def test_what_killed_gits_left_half_written_goes_after_a_day(vault: Path, words: tuple[str, ...]) -> None:
    start(vault)
    names = ("pack/tmp_pack_Ab12", "pack/tmp_idx_Ab12", "pack/.tmp-12-pack-ab.pack", "3f/tmp_obj_Ab12")
    for age, mark in ((90_000, ""), (80_000, "f")):
        for name in names:
            left = put(vault, f".git/objects/{name}{mark}", "half")
            os.utime(left, (time.time() - age, time.time() - age))

    run_here(*words, env={"MDMEM_VAULT": str(vault)}, check=True)

    objects = vault / ".git/objects"
    assert [(objects / name).exists() for name in names] == [False] * 4
    assert all((objects / f"{name}f").exists() for name in names), "a git may still be at work"
    assert git(vault, "fsck", "--no-dangling") == ""


@pytest.mark.slow
def test_packs_that_have_gathered_get_one_index(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = start(vault)
    monkeypatch.setattr(tidy, "PACKS", 6)
    for number in range(3):
        put(vault, f"note-{number}.md", f"number {number}\n")
        commit.commit(config)
        git(vault, "repack", "-d", "-q")

    assert tidy.tidy(config)

    assert (vault / ".git/objects/pack/multi-pack-index").is_file()
    git(vault, "multi-pack-index", "verify")
    assert git(vault, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.slow
def test_a_pack_that_is_much_larger_than_the_others_is_not_packed_again(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    monkeypatch.setattr(tidy, "PACKS", 6)
    (vault / "large.md").write_bytes(random.Random(1).randbytes(300_000).hex().encode())
    packs = vault / ".git/objects/pack"
    large: set[str] = set()
    for number in range(4):
        put(vault, f"note-{number}.md", f"number {number}\n")
        commit.commit(config)
        git(vault, "repack", "-d", "-q")
        large = large or {one.name for one in packs.glob("*.pack")}

    assert tidy.tidy(config)

    sizes = {one.name: one.stat().st_size for one in packs.glob("*.pack")}
    assert large <= sizes.keys()
    assert [name for name, size in sizes.items() if size > 100_000] == list(large)
    assert len(sizes) == 5
    before = {one.name: one.stat().st_mtime_ns for one in packs.iterdir()}
    assert tidy.tidy(config)
    assert {one.name: one.stat().st_mtime_ns for one in packs.iterdir()} == before
    git(vault, "multi-pack-index", "verify")


def test_many_paths_are_held_packed_and_come_out_in_their_order() -> None:
    names = [f"journal/p/2026-09-14/0800-why-{one}/001-000-prompt-caf\u00e9-\udcff-p{one}.md" for one in range(5_000)]
    tracemalloc.start()

    held = PackedPaths(iter(names))

    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (list(held), len(held), names[7] in held, "notes/x.md" in held) == (names, len(names), True, False)
    assert taken < 20 * len(names)
    assert not PackedPaths()


def test_a_user_who_may_start_no_further_thread_is_told_so_in_gits_words(vault: Path) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "A note.\n")
    before = threading.stack_size(1 << 47)  # as much memory as no process has: a thread cannot start
    try:
        with pytest.raises(GitError, match="can't start new thread"):
            list(repository.each(repository.open_vault(vault), "ls-files", "-z"))
    finally:
        threading.stack_size(before)
    assert commit.commit(settings).commits


def test_a_vault_whose_path_reads_like_a_variable_is_used_and_no_other_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As does GitPython, which starts git in the current folder where there is none of the name it has made up."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    put(project, "a.md", "the falcon\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "The falcon")
    head = git(project, "rev-parse", "HEAD")
    monkeypatch.chdir(project)
    vault = tmp_path / "$HOME" / "~" / "%PATH%" / "v"
    vault.mkdir(parents=True)

    settings = start(vault)
    put(vault, "notes/a.md", "the falcon\n")
    commit.commit(settings)
    done = purge.apply(settings, purge.plan(settings, "falcon"))

    assert not done.left
    assert done.commits
    assert git(vault, "show", "HEAD:notes/a.md") == "the [REDACTED]\n"
    assert git(project, "rev-parse", "HEAD") == head
    assert git(project, "status", "--short") == ""
    monkeypatch.chdir(tmp_path)
    second = tmp_path / "$HOME" / "second"
    clone.clone(str(vault), second)
    assert (second / "notes/a.md").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["$HOME", "project"]


def test_a_branch_can_be_moved_to_where_it_is(vault: Path) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    commit.commit(settings)
    repo = repository.open_vault(vault)
    head = writer.tip(repo, "refs/heads/main")

    with (vault / ".git" / "own").open("w", encoding="utf-8") as lock:
        assert writer.move(repo, "refs/heads/main", head, head, lock.fileno())

    assert writer.tip(repo, "refs/heads/main") == head != ""
