"""Projects: one repository is one project, wherever in it, however checked out, however its remote is spelled."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mdmem import project
from tests.helpers.code_repository import git, repository

ACME = "github.com/acme/notes-app"


def identify(folder: Path) -> project.Project:
    return project.identify(str(folder))


# --- repositories --------------------------------------------------------------------------------


def test_a_repository_with_a_remote_is_named_by_owner_and_repository(tmp_path: Path) -> None:
    folder = repository(tmp_path / "checkout", "https://github.com/acme/notes-app.git", commit=True)

    found = identify(folder)

    assert (found.name, found.root, found.worktree) == ("acme-notes-app", str(folder), str(folder))
    assert (found.remote, found.branch) == (ACME, "main")
    assert found.commit == git(folder, "rev-parse", "HEAD")[:8]


def test_a_subfolder_belongs_to_its_repository(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api")
    (folder / "src" / "deep").mkdir(parents=True)

    assert identify(folder / "src" / "deep").root == str(folder)


def test_a_repository_without_a_remote_is_named_by_its_folder(tmp_path: Path) -> None:
    assert identify(repository(tmp_path / "My API")).name == "my-api"


def test_a_worktree_is_its_main_repository_on_a_branch_of_its_own(tmp_path: Path) -> None:
    main = repository(tmp_path / "api", commit=True)
    git(main, "worktree", "add", "-q", "-b", "fix/dates", str(tmp_path / "elsewhere" / "wt"))
    (tmp_path / "elsewhere" / "wt" / "src").mkdir()

    found = identify(tmp_path / "elsewhere" / "wt" / "src")

    assert (found.name, found.root) == ("api", str(main))
    assert found.worktree == str(tmp_path / "elsewhere" / "wt")
    assert (found.branch, found.commit) == ("fix/dates", git(main, "rev-parse", "HEAD")[:8])


def test_a_nested_repository_is_its_own(tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer", "git@github.com:acme/outer.git")
    repository(outer / "vendor" / "inner")

    assert identify(outer / "vendor" / "inner").name == "inner"
    assert identify(outer / "vendor").name == "acme-outer"


def test_a_submodule_and_its_worktree_are_one_project_apart_from_the_outer_one(tmp_path: Path) -> None:
    library = repository(tmp_path / "library", commit=True)
    outer = repository(tmp_path / "outer", commit=True)
    git(outer, "submodule", "--quiet", "add", str(library), "libs/parser")
    git(outer / "libs" / "parser", "worktree", "add", "-q", "-b", "try", str(tmp_path / "wt"))

    for place in (outer / "libs" / "parser", tmp_path / "wt"):
        found = identify(place)
        assert (found.name, found.root) == ("parser", str(outer / "libs" / "parser"))
        assert found.commit == git(library, "rev-parse", "HEAD")[:8]


def test_a_bare_repository_is_named_without_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "api.git").mkdir()
    git(tmp_path / "api.git", "init", "-q", "--bare")

    found = identify(tmp_path / "api.git" / "refs")

    assert (found.name, found.root) == ("api", str(tmp_path / "api.git"))


def test_worktrees_around_a_hidden_bare_repository_are_one_project(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", commit=True)
    (tmp_path / "api").mkdir()
    git(tmp_path / "api", "clone", "-q", "--bare", str(source), ".bare")
    (tmp_path / "api" / ".git").write_text("gitdir: ./.bare\n")
    git(tmp_path / "api", "worktree", "add", "-q", "wt", "main")

    places = [tmp_path / "api", tmp_path / "api" / "wt", tmp_path / "api" / ".bare"]

    assert {(identify(place).name, identify(place).root) for place in places} == {("api", str(tmp_path / "api"))}


def test_inside_the_git_directory_is_still_the_project(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api")

    assert identify(folder / ".git" / "hooks").root == str(folder)


def test_a_git_directory_kept_elsewhere_is_followed(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    git(tmp_path / "api", "init", "-q", "--separate-git-dir", str(tmp_path / "store"))
    git(tmp_path / "api", "remote", "add", "origin", "https://github.com/acme/notes-app")

    found = identify(tmp_path / "api")

    assert (found.name, found.root) == ("acme-notes-app", str(tmp_path / "api"))


def test_a_symlink_leads_to_the_same_project(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api")
    (folder / "src").mkdir()
    (tmp_path / "link").symlink_to(folder / "src")

    assert identify(tmp_path / "link").root == str(folder)


def test_an_inherited_git_dir_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))

    assert identify(repository(tmp_path / "api")).name == "api"


def test_no_process_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "api", "https://github.com/acme/notes-app", commit=True)
    monkeypatch.setenv("PATH", "")

    assert identify(folder).remote == ACME


# --- places that are gone, broken or no repository -----------------------------------------------


def test_a_deleted_folder_of_a_repository_still_belongs_to_it(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api")
    gone = folder / "build" / "out"
    gone.mkdir(parents=True)
    shutil.rmtree(folder / "build")

    assert identify(gone).root == str(folder)


def test_a_folder_without_a_repository_is_named_by_itself_even_when_it_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "Scratch Pad"
    folder.mkdir()
    before = identify(folder)
    folder.rmdir()

    assert before.name == identify(folder).name == "scratch-pad"
    assert (before.root, before.remote, before.branch, before.commit) == (str(folder), "", "", "")


def test_the_home_folder_and_the_root_have_names(home: Path) -> None:
    assert identify(home).name == "home"
    assert project.identify("/").name == "root"


def test_a_dotfiles_repository_in_the_home_folder_has_its_remotes_name(home: Path) -> None:
    git(home, "init", "-q")
    assert identify(home).name == "home"
    git(home, "remote", "add", "origin", "git@github.com:acme/dotfiles.git")
    assert identify(home).name == "acme-dotfiles"


def test_an_empty_git_folder_makes_no_repository(tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    (outer / "sub" / ".git").mkdir(parents=True)

    assert identify(outer / "sub").root == str(outer)


@pytest.mark.parametrize("content", [b"", b"gitdir: /nonexistent\n", b"\xff\xfe", b"gitdir:" + b"x" * 9000])
def test_a_git_file_that_leads_nowhere_makes_no_repository(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "wt").mkdir()
    (tmp_path / "wt" / ".git").write_bytes(content)

    assert identify(tmp_path / "wt").name == "wt"


def test_a_pipe_where_git_keeps_a_file_stops_nothing(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api")
    (folder / ".git" / "config").unlink()
    os.mkfifo(folder / ".git" / "config")
    (tmp_path / "wt").mkdir()
    os.mkfifo(tmp_path / "wt" / ".git")

    assert identify(folder).name == "api"
    assert identify(tmp_path / "wt").name == "wt"


def test_only_the_start_of_an_endless_configuration_is_read(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api")
    with (folder / ".git" / "config").open("a") as config:
        config.write("# filler\n" * 20_000 + '[remote "origin"]\n\turl = https://github.com/acme/late\n')

    assert identify(folder).name == "api"


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("C:\\Users\\me\\proj", "proj"),
        ("C:\\Users\\me\\My Proj\\", "my-proj"),
        ("D:\\", "root"),
        ("\\\\server\\share\\api", "api"),
        ("relative/folder", "folder"),
        ("", "unknown"),
        ("\0", "unknown"),
        ("..", f"project-{project.suffix('..')}"),
    ],
)
def test_a_path_of_another_machine_is_named_by_its_last_part(cwd: str, name: str) -> None:
    found = project.identify(cwd)

    assert found.name == name
    assert (found.remote, found.branch, found.commit) == ("", "", "")


@pytest.mark.parametrize("cwd", ["/a\ud800b", "/x\0y", "/" + "a/" * 50_000, "/" + "n" * 5000, "/../../etc"])
def test_a_hostile_path_has_a_name_too(cwd: str) -> None:
    assert project.identify(cwd).name


def test_folders_that_slug_alike_or_to_nothing_stay_apart(tmp_path: Path) -> None:
    names = ["🚀", "🔥", "a" * 60 + "1", "a" * 60 + "2"]

    found = {identify(tmp_path / name).name for name in names}

    assert len(found) == len(names)
    assert all(0 < len(name) <= 48 for name in found)


# --- branch and commit ---------------------------------------------------------------------------


def test_a_packed_branch_has_its_commit(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api", commit=True)
    git(folder, "branch", "main-2")
    git(folder, "tag", "-a", "-m", "x", "v1")
    git(folder, "commit", "-q", "--allow-empty", "-m", "second")
    git(folder, "pack-refs", "--all")

    assert identify(folder).commit == git(folder, "rev-parse", "HEAD")[:8]


def test_a_detached_head_has_a_commit_and_no_branch(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api", commit=True)
    git(folder, "checkout", "-q", "--detach")

    found = identify(folder)

    assert (found.branch, found.commit) == ("", git(folder, "rev-parse", "HEAD")[:8])


def test_an_unborn_branch_has_no_commit(tmp_path: Path) -> None:
    found = identify(repository(tmp_path / "api"))

    assert (found.branch, found.commit) == ("main", "")


@pytest.mark.parametrize(("branches", "default"), [("main", "main"), ("master", "master"), ("trunk", "")])
def test_without_a_remote_the_default_branch_has_a_usual_name(tmp_path: Path, branches: str, default: str) -> None:
    folder = repository(tmp_path / "checkout")
    git(folder, "checkout", "-q", "-b", branches)
    assert project.default_branch(str(folder)) == ""
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    git(folder, "checkout", "-q", "-b", "feature/x")
    assert project.default_branch(str(folder)) == default
    git(folder, "pack-refs", "--all")
    assert project.default_branch(str(folder)) == default


def test_the_remote_says_which_branch_is_the_default_one(tmp_path: Path) -> None:
    upstream = repository(tmp_path / "upstream", commit=True)
    git(upstream, "checkout", "-q", "-b", "develop/next")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(upstream), str(clone))
    git(clone, "worktree", "add", "-q", "-b", "feature", str(tmp_path / "tree"))
    for folder in (clone, tmp_path / "tree"):
        assert project.default_branch(str(folder)) == "develop/next"
        assert project.has_branch(str(folder), "feature")
        assert project.has_branch(str(folder), "main"), "as last seen at the remote"
        assert not project.has_branch(str(folder), "gone")
    assert project.default_branch(str(tmp_path)) == ""
    for name in ("", "..", "../../HEAD", "x\0y"):
        assert not project.has_branch(str(clone), name)


@pytest.mark.parametrize("head", ["ref: refs/heads/.invalid", "ref: refs/../../secret", "ref: /etc/passwd"])
def test_a_head_in_another_format_or_leading_outside_says_nothing(tmp_path: Path, head: str) -> None:
    folder = repository(tmp_path / "api", commit=True)
    (folder / ".git" / "HEAD").write_text(head + "\n")
    (folder / ".git" / "secret").write_text("a" * 40)

    found = identify(folder)

    assert (found.name, found.branch, found.commit) == ("api", "", "")


def test_a_sha256_repository_is_read(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    git(tmp_path / "api", "init", "-q", "--object-format=sha256")
    git(tmp_path / "api", "commit", "-q", "--allow-empty", "-m", "first")

    assert identify(tmp_path / "api").commit == git(tmp_path / "api", "rev-parse", "HEAD")[:8]


# --- remotes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/notes-app",
        "https://github.com/acme/notes-app.git",
        "https://github.com/acme/notes-app/",
        "https://GitHub.com:443/acme/notes-app.git/",
        "http://github.com/acme/notes-app.git?tab=readme#top",
        "https://dev:s3cr3t@github.com/acme/notes-app.git",
        "https://x-access-token:ghp_0123456789@github.com/acme/notes-app",
        "https://dev:p@ss/w@rd@github.com/acme/notes-app",
        "https://dev:p?a#s://s@github.com/acme/notes-app",
        "ssh://git@github.com/acme/notes-app.git",
        "ssh://git@github.com:22/acme/notes-app.git",
        "ssh://git@ssh.github.com:443/acme/notes-app.git",
        "git+ssh://git@github.com/acme/notes-app",
        "git://github.com/acme/notes-app",
        "git@github.com:acme/notes-app.git",
        "github.com:acme/notes-app",
        "git@github.com:/acme/notes-app.git",
        "  git@github.com:acme/notes-app.git ",
    ],
)
def test_every_spelling_of_a_remote_is_the_same_project(url: str) -> None:
    assert project.normalize(url) == ACME


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("https://gitlab.com/group/sub/repo.git", "gitlab.com/group/sub/repo"),
        ("https://GitLab.com/Group/Sub/Repo.git", "gitlab.com/group/sub/repo"),
        ("https://host.example/Group/Repo.git", "host.example/Group/Repo"),
        ("git@gitlab.com:group/sub/repo.git", "gitlab.com/group/sub/repo"),
        ("https://dev.azure.com/org/proj/_git/repo", "dev.azure.com/org/proj/repo"),
        ("git@ssh.dev.azure.com:v3/org/proj/repo", "dev.azure.com/org/proj/repo"),
        ("https://git.example.com/scm/team/repo.git", "git.example.com/team/repo"),
        ("ssh://git@git.example.com:7999/team/repo.git", "git.example.com/team/repo"),
        ("ssh://git@[2001:db8::1]:2222/team/repo.git", "2001:db8::1/team/repo"),
        ("https://example.com/@scope/repo", "example.com/@scope/repo"),
        ("me@server:notes.git", "server/notes"),
    ],
)
def test_servers_with_ways_of_their_own_are_understood(url: str, remote: str) -> None:
    assert project.normalize(url) == remote


@pytest.mark.parametrize(
    "url",
    [
        "/srv/git/api.git",
        "../api",
        "file:///srv/git/api.git",
        "C:\\git\\api",
        "C:/git/api",
        "ext::sh -c 'id'",
        "https://",
        "https://github.com/",
        "https://dev:hunter2/acme/api",
        "https://github.com/a b/c",
        "https://github.com/" + "x" * 400,
        "https://github.com/a\x1b[31m/b",
        "",
    ],
)
def test_a_path_or_what_is_no_address_is_no_remote(url: str) -> None:
    assert project.normalize(url) == ""


@given(
    password=st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=4, max_size=20),
    user=st.text(st.characters(categories=["L", "N"]), max_size=5),
    shape=st.sampled_from(["https://{}@host.example/o/r.git", "ssh://{}@host.example:22/o/r", "{}@host.example:o/r"]),
)
@example("a/@b/c", "u", "https://{}@host.example/o/r.git")
@example("@@//", "", "{}@host.example:o/r")
@example("000/", "00", "https://{}@host.example/o/r.git")
def test_no_credentials_survive_in_a_remote(password: str, user: str, shape: str) -> None:
    assert project.normalize(shape.format(f"{user}:{password}")) in ("host.example/o/r", "")


def test_a_remote_with_credentials_leaves_none_in_the_project(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api", "https://dev:hunter2@github.com/acme/api.git")

    found = identify(folder)

    assert (found.name, found.remote) == ("acme-api", "github.com/acme/api")


def test_origin_is_preferred_and_else_the_first_by_name(tmp_path: Path) -> None:
    folder = repository(tmp_path / "api")
    git(folder, "remote", "add", "upstream", "https://github.com/acme/api")
    git(folder, "remote", "add", "fork", "https://github.com/dev/api")
    assert identify(folder).name == "dev-api"
    git(folder, "remote", "add", "origin", str(tmp_path))  # a path on this machine says nothing
    assert identify(folder).name == "dev-api"
    git(folder, "remote", "set-url", "origin", "https://github.com/team/api")
    assert identify(folder).name == "team-api"


def test_subgroups_are_part_of_the_name(tmp_path: Path) -> None:
    folder = repository(tmp_path / "x", "git@gitlab.com:group/sub/repo.git")

    assert identify(folder).name == "group-sub-repo"


@pytest.mark.parametrize(
    "config",
    [
        '[remote "origin"]\n\turl = git@github.com:acme/notes-app.git\n',
        '[REMOTE "origin"]\r\n  URL=git@github.com:acme/notes-app.git\r\n',
        '[remote "origin"] url = "git@github.com:acme/notes-app.git" ; ours\n',
        '[remote "origin"]\nurl = git@github.com:acme/\\\nnotes-app.git # split\n',
        '\ufeff[core]\n[remote "origin"]\nfetch = x\nurl = git@github.com:acme/notes-app\nurl = git@h:second/one\n',
        '[remote "origin"]\npushurl = git@h:push/only\nurl = git@github.com:acme/notes-app\n[url "x"]\nurl = h:a/b\n',
        '[url "git@evil.example:"]\ninsteadOf = git@\n[remote "origin"]\nurl = git@github.com:acme/notes-app\n',
    ],
)
def test_a_configuration_is_read_as_git_reads_it(tmp_path: Path, config: str) -> None:
    folder = repository(tmp_path / "api")
    (folder / ".git" / "config").write_text(config, "utf-8")

    assert identify(folder).remote == ACME


@given(st.binary(max_size=400) | st.text('[]"\\=#;\n remoteurlorigin:/@', max_size=200).map(str.encode))
def test_any_configuration_gives_a_printable_remote(config: bytes) -> None:
    urls, _ = project._remotes_and_work_tree(config.decode("utf-8", "surrogateescape"))

    assert project._preferred(urls).isprintable()


# --- suffix --------------------------------------------------------------------------------------


def test_a_suffix_is_four_stable_characters_of_the_path() -> None:
    assert project.suffix("/home/dev/api") == project.suffix("/home/dev/api") != project.suffix("/srv/api")
    assert len(project.suffix("/\ud800")) == 4
