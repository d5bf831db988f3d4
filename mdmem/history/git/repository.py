"""The only module that starts git, isolated from the caller's environment and configuration.

The repository is named explicitly (`GIT_DIR`, `GIT_WORK_TREE`), inherited `GIT_*` variables are removed, and
settings that could start a program, prompt or convert text are overridden.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from mdmem import files
from mdmem.errors import GitError, VaultError, no_vault
from mdmem.history.git import advice, dot_git, git_python, lost_head, transfer
from mdmem.history.git.environment import (
    BOUNDS,
    ENVIRONMENT,
    HINTS,
    KEPT_FOR_THE_NETWORK,
    LOCAL_ONLY,
    OVERRULED,
    STARTS_PROGRAMS,
)

if TYPE_CHECKING:
    from git.cmd import Git

OLDEST = "2.32"
"""The first git that can ignore the user's and the system's configuration."""

BRANCH = "main"
"""The branch of a new vault."""

READ_BYTES = 64 * 1024
"""How much of git's output is read at a time."""

OWN_IDENTITY = ("mdmem", "mdmem@localhost")
"""Who commits if git has no name and address configured."""


class Repository(NamedTuple):
    """A vault's repository. Build with `open_vault` or `init`.

    root: the vault, absolute.
    git_dir: contains HEAD and the index; common_dir: contains objects and refs. Both are `.git`, unless the vault is
    a linked work tree.
    is_partial: a partial clone: git may have to fetch a blob when it is read.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    is_partial: bool = False


class GitResult(NamedTuple):
    """The result of a git command."""

    status: int
    out: bytes
    err: str


def open_vault(root: str | Path) -> Repository:
    """Return the repository whose top folder is `root`; one in a parent folder does not count.

    Raises:
        VaultError: when there is none.
        GitError: when its file HEAD is lost, or its own configuration would start programs on the vault's files.
    """
    root = Path(root)
    if not root.is_dir():
        raise no_vault(root)
    folders = dot_git.locate(root)
    if folders is None:
        dot_git.refuse_other(root)
    if folders is None or not dot_git.is_begun(*folders):
        raise VaultError(
            f"{root} is not a git repository of its own.",
            f"Run `mdmem init {shlex.quote(str(root))}`: it adds one and changes no note.",
        )
    dot_git.refuse_emptied(root, *folders)
    if lost_head.is_lost(*folders):
        raise GitError(f"{lost_head.message(folders[0])} No note is lost; `mdmem doctor` says what to do.")
    repo = Repository(root, *folders)
    _make_private(repo)
    return repo._replace(is_partial=b"partialclone" in _refuse_programs(repo))


def _make_private(repo: Repository) -> None:
    """Make the git directory private. Raises GitError when it belongs to another user."""
    if repo.git_dir != repo.root / ".git" or repo.git_dir.is_symlink():
        return  # its owner keeps it elsewhere
    try:
        files.check_folder(str(repo.git_dir))
    except files.NoModesError:
        return  # the notes beside it are as open; doctor tells
    except OSError as error:
        raise GitError(
            f"{repo.git_dir} is open to other users ({error.strerror}), so git is not run on it. Run mdmem as its"
            f" owner, or take the vault over: sudo chown -R $USER {shlex.quote(str(repo.root))}"
        ) from error


def init(root: str | Path) -> Repository:
    """Make `root` a repository unless it is one. No template, so no hooks; no commit.

    Raises:
        VaultError: when its `.git` leads to no repository.
        GitError: when git is missing or fails.
    """
    root = Path(root)
    files.make_folders(str(root))
    folders = dot_git.locate(root)
    if folders is None:
        dot_git.refuse_other(root)
    has_head = folders is not None and (folders[0] / "HEAD").exists()
    if folders is None or not (lost_head.is_lost(*folders) or (has_head and dot_git.is_begun(*folders))):
        start(root, ["init", "-q", "--template=", "-b", BRANCH, "."])
    return open_vault(root)


def repository_around(path: str | Path) -> str | None:
    """Return the repository whose work tree contains `path`, or None. One whose top folder is `path` does not count."""
    return next((str(parent) for parent in Path(path).resolve().parents if (parent / ".git").exists()), None)


def run(
    repo: Repository,
    *args: str,
    stdin: bytes | BinaryIO = b"",
    env: dict[str, str] | None = None,
    lock_fd: int | None = None,
    network: bool = False,
) -> bytes:
    """Run one git command on the vault and return its output.

    stdin: bytes, or a file, read from its current position.
    lock_fd: descriptor of a lock that the process keeps until it ends, even if we are killed before.
    network: let git read the user's configuration, for credentials and addresses.

    Raises GitError with git's reason when the command fails.
    """
    result = attempt(repo, *args, stdin=stdin, env=env, lock_fd=lock_fd, network=network)
    if result.status:
        raise GitError(f"git {args[0]} failed in {repo.root}: {reason(result)} No note is lost.")
    return result.out


def attempt(
    repo: Repository,
    *args: str,
    stdin: bytes | BinaryIO = b"",
    env: dict[str, str] | None = None,
    lock_fd: int | None = None,
    network: bool = False,
) -> GitResult:
    """Run one git command like `run`, but leave its exit status to the caller."""
    if isinstance(stdin, bytes) and stdin:
        with tempfile.TemporaryFile(dir=repo.git_dir) as file:
            file.write(stdin)
            file.seek(0)
            return attempt(repo, *args, stdin=file, env=env, lock_fd=lock_fd, network=network)
    env = _places(repo) | (env or {})
    return start(repo.root, args, env=env, stdin=stdin or None, lock_fd=lock_fd, network=network, check=False)


def _places(repo: Repository) -> dict[str, str]:
    return {"GIT_DIR": str(repo.git_dir), "GIT_WORK_TREE": str(repo.root)}


def _variables(env: Mapping[str, str], *, network: bool) -> dict[str, str]:
    return {**ENVIRONMENT, **({} if network else LOCAL_ONLY), **env}


def start(
    cwd: Path,
    args: list[str] | tuple[str, ...],
    *,
    env: Mapping[str, str] = MappingProxyType({}),
    stdin: BinaryIO | None = None,
    lock_fd: int | None = None,
    network: bool = False,
    check: bool = True,
) -> GitResult:
    """Run git in `cwd` with these arguments and wait for it.

    env: variables besides those of every command. The other options are those of `run`.

    Raises GitError when git is missing, or (with `check`) when it fails.
    """
    git, missing = _load(cwd)
    variables = _variables(env, network=network)
    command = _command(git, args, variables, network)
    # A new session: no terminal to prompt on, and ^C cannot stop git in the middle of a write.
    options: dict[str, Any] = {
        "start_new_session": True,
        "pass_fds": () if lock_fd is None or os.name == "nt" else (lock_fd,),
    }
    if os.name != "nt" and not network:  # a remote on this machine keeps its users' file modes
        options["umask"] = 0o077
    try:
        if network:
            with transfer.raising_signals():
                running = git.execute(command, istream=stdin, env=variables, as_process=True, **options)
                printed, errors = transfer.communicate(running.proc)  # `running` kills it when garbage-collected
            result = GitResult(running.proc.returncode, printed, errors.decode("utf-8", "replace"))
        else:
            status, out, err = git.execute(
                command,
                istream=stdin,
                env=variables,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                **options,
            )
            result = GitResult(int(status), bytes(out), str(err))
    except (missing, OSError) as error:
        raise GitError(advice.not_started(error)) from error
    if check and result.status:
        raise GitError(f"git {args[0]} failed in {cwd}: {reason(result)}")
    return result


def _command(git: Git, args: list[str] | tuple[str, ...], variables: dict[str, str], network: bool) -> list[str]:
    settings = [word for setting in OVERRULED for word in ("-c", setting)]
    return [*_without_inherited(variables, network), str(git.GIT_PYTHON_GIT_EXECUTABLE), *settings, *args]


@contextmanager
def printing(
    repo: Repository,
    *args: str,
    stdin: BinaryIO | None = None,
    env: dict[str, str] | None = None,
    network: bool = False,
) -> Iterator[BinaryIO]:
    """Open the output of one git command for streaming: it may not fit in memory.

    Git is terminated when the output is not read to its end.

    Raises GitError when git is missing or fails.
    """
    git, missing = _load(repo.root)
    variables = _variables(_places(repo) | (env or {}), network=network)
    command = _command(git, args, variables, network)
    errors: list[bytes] = []
    listening = threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True)
    try:
        execution = git.execute(command, istream=stdin, env=variables, as_process=True, start_new_session=True)
        process: Any = execution.proc  # `execution` kills the process when garbage-collected
        listening.start()
    except (missing, OSError) as error:
        raise GitError(advice.not_started(error)) from error
    except RuntimeError as error:  # the user's limit of processes and threads
        raise GitError(f"git's output in {repo.root} cannot be read: {error}. No note is lost.") from error
    is_read, cut = False, None
    try:
        yield process.stdout
        is_read = not process.stdout.read(1)
    except GitError as error:
        is_read, cut = not process.stdout.read(1), error
    finally:
        if not is_read:
            process.terminate()
        process.stdout.close()
        status = process.wait()
        listening.join()
        process.stderr.close()
    if is_read and status:
        result = GitResult(status, b"", errors[0].decode("utf-8", "replace"))
        raise GitError(f"git {args[0]} failed in {repo.root}: {reason(result)} No note is lost.") from cut
    if cut:
        raise cut


def each(repo: Repository, *args: str, env: dict[str, str] | None = None) -> Iterator[str]:
    """Yield a git command's NUL-terminated output, decoded, as it is printed. Raises GitError when it fails."""
    return map(os.fsdecode, fields(repo, *args, env=env))


def fields(repo: Repository, *args: str, env: dict[str, str] | None = None, end: bytes = b"\0") -> Iterator[bytes]:
    """Yield a git command's output, split at `end`, as it is printed. Raises GitError when it fails."""
    with printing(repo, *args, env=env) as out:
        tail = b""
        while read := out.read(READ_BYTES):
            *complete, tail = (tail + read).split(end)
            yield from complete
        if tail:
            yield tail


def start_module(cwd: Path, module: str, args: list[str]) -> GitResult:
    """Run a Python program that starts git itself, on the bare repository `cwd`.

    Raises GitError when it cannot be started.
    """
    git, missing = _load(cwd)
    variables = _variables({}, network=False)
    command = [*_without_inherited(variables, network=False), sys.executable, "-P", "-m", module, *args]
    try:
        status, out, err = git.execute(
            command, env=variables, with_extended_output=True, with_exceptions=False, stdout_as_string=False
        )
    except (missing, OSError) as error:
        raise GitError(f"{module} cannot be started ({type(error).__name__}).") from error
    return GitResult(int(status), bytes(out), str(err))


def reason(result: GitResult) -> str:
    """Return the first error line that git printed, before its advice, and what to do if mdmem knows that."""
    lines = [line.strip() for line in result.err.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("fatal:", "error:"))]
    text = (errors or lines or [f"it ended with {ending(result.status)}"])[0]
    if "Could not read from remote repository" in text:  # ssh says why, in the line before
        text = lines[max(lines.index(text) - 1, 0)]
    return advice.explained(text, result.err)


def ending(status: int) -> str:
    """Return a program's exit status as text; a shell adds 128 to the number of a signal, Python negates it."""
    number = -status if status < 0 else status - 128
    return f"exit status {status}" if not 0 < number < 64 else f"signal {number}, a crash or a kill"


def refs(repo: Repository, *patterns: str) -> dict[str, str]:
    """Return ref -> object id, of all refs or those that match the patterns."""
    listed = run(repo, "for-each-ref", "--format=%(refname) %(objectname)", *patterns)
    return dict(line.split(" ", 1) for line in os.fsdecode(listed).splitlines())


def drop_refs(repo: Repository, prefix: str) -> None:
    """Delete all refs below a prefix."""
    run(repo, "update-ref", "--stdin", stdin=run(repo, "for-each-ref", "--format=delete %(refname)", prefix))


def url(repo: Repository, remote: str) -> str:
    """Return the address of a remote, "" for none."""
    return os.fsdecode(attempt(repo, "config", "--get", f"remote.{remote}.url").out).strip()


def far_end(root: Path, address: str, program: str) -> list[str]:
    """Return the option that bounds the memory of the remote's git when the remote is a folder on this machine.

    Our settings do not reach that process. program: "upload-pack" to fetch, "receive-pack" to push.
    """
    if not (address.startswith("file://") or (root / address).is_dir()):
        return []
    return [f"--{program}=git {' '.join(f'-c {setting}' for setting in BOUNDS)} {program}"]


def empty_tree(repo: Repository) -> str:
    """Return the id of the empty tree."""
    return run(repo, "hash-object", "-t", "tree", os.devnull).decode("ascii").strip()


def identity(repo: Repository) -> tuple[str, str]:
    """Return the committer's name and address: git's `user.name` and `user.email`, else mdmem's own."""
    result = attempt(repo, "config", "--null", "--get-regexp", r"^user\.(name|email)$", network=True)
    settings = dict(
        entry.split("\n", 1) for entry in result.out.decode("utf-8", "replace").split("\0") if "\n" in entry
    )
    name, email = (_clean_name(settings.get(key, "")) for key in ("user.name", "user.email"))
    return name or OWN_IDENTITY[0], email or OWN_IDENTITY[1]


def _clean_name(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in "<>").strip()


def _load(folder: Path) -> tuple[Git, type[Exception]]:
    """Return what starts git in a folder, and the error that it raises for a missing git.

    GitPython replaces variables in a folder's name, as in `$HOME/v`, and where there is no folder of the resulting
    name, it starts git in the current one, such as a person's project.
    """
    if not os.access(folder, os.X_OK):
        raise GitError(f"git cannot be started in {folder}: the folder is missing or shut.")
    try:
        git, missing = git_python.load()
    except ImportError as error:
        status = getattr(error.__cause__, "status", None)
        if isinstance(status, int):
            program = shutil.which("git") or "git"
            stderr = str(getattr(error.__cause__, "stderr", "")).strip().removeprefix("stderr: ").strip("'")
            why = reason(GitResult(status, b"", stderr))
            raise GitError(f"{program} does not run: {why} Notes are kept; fix that to have a history.") from error
        raise GitError(advice.not_started(error)) from error
    runner = git()
    runner._working_dir = str(folder)
    return runner, missing


def _without_inherited(variables: dict[str, str], network: bool) -> list[str]:
    """Return a command prefix that removes the caller's `GIT_*` variables; [] when there are none.

    GitPython can only add variables, and an empty `GIT_INDEX_FILE` differs from an unset one.
    """
    inherited = KEPT_FOR_THE_NETWORK if network else ()
    names = [name for name in os.environ if name.startswith("GIT_") and name not in variables and name not in inherited]
    if os.name == "nt":  # no `env` program here; nothing else in this process needs them
        for name in names:
            del os.environ[name]
        return []
    return ["env", *(word for name in names for word in ("-u", name))] if names else []


def _refuse_programs(repo: Repository) -> bytes:
    """Return the vault's own git configuration in lower case; raise GitError when it names a program.

    Such as a filter, a proxy or a transport. Programs in the user's configuration are theirs to run. Git is asked
    only when the file contains one of `HINTS`.
    """
    files = (repo.common_dir / "config", repo.git_dir / "config.worktree")
    text = b"".join(file.read_bytes() for file in files if file.is_file()).lower()
    if not any(word in text for word in HINTS):
        return text
    listed = attempt(repo, "config", "--null", "--includes", "--list", "--show-scope").out.decode("utf-8", "replace")
    fields = listed.split("\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        starts = any(key.startswith(head) and key.endswith(tails) for head, tails in STARTS_PROGRAMS)
        switch = value.lower() in ("", "false", "true", "0", "1", "no", "yes", "off", "on")
        if scope in ("local", "worktree") and starts and not switch:
            raise GitError(
                f"The vault's own git configuration names a program ({key}), so git is not run on it. Remove it with: "
                f"git -C {repo.root} config --unset-all {key} (your own goes into `git config --global`)."
            )
    return text
