"""Check history: the repository, uncommitted files, and commits that other machines have not seen."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from mdmem import plural
from mdmem.config import Config
from mdmem.errors import BusyError, GitError, VaultError
from mdmem.health import HealthFinding, age, error, fine, note, warning
from mdmem.health.scope import CheckScope
from mdmem.history import commit, message, other_files
from mdmem.history.git import (
    advice,
    checked_out,
    dot_git,
    fetching,
    lock,
    lost_head,
    lost_index,
    repository,
    stray_refs,
)
from mdmem.history.git.repository import Repository
from mdmem.history.merging import aside, undecided
from mdmem.vault import disk, template
from mdmem.views import wording

OLD_LOCK_SECONDS = 600
BAD_SETTINGS = re.compile(r"\bbad (?:(config (?:file )?line)|(?:\w+ )?config)\b")
"""What git reports of a settings file that it cannot parse (with a group), and of a value in one."""
NOTHING_COMMITTED = "Nothing is committed"
ATTRIBUTES, UNION = ".gitattributes", "merge=union"
MOST = 10
"""Maximum number of uncommitted files, and of files with two versions, that are listed."""


def git(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Check the vault's repository; its objects only in a full check."""
    if lost_branch := _lost_branch(config):
        yield lost_branch
        return
    try:
        repo = repository.open_vault(config.vault)
    except VaultError as problem:
        yield error(problem.text, problem.todo)
        return
    except GitError as problem:
        yield error(str(problem), "Until then nothing is committed; notes are stored anyway.")
        return
    if lost := _lost_index(config, repo) or _lost_commit(config, repo):
        yield lost
        return
    strays = stray_refs.find(repo)
    yield from (_stray_ref(config, repo, file) for file in strays)
    whole = ("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    result = repository.attempt(
        repo, *(whole if scope.is_whole else ("rev-parse", "--quiet", "--verify", "HEAD^{tree}"))
    )
    if result.status and scope.is_whole and not strays:
        reason = repository.reason(result).replace(advice.IN_DOCTOR, "")
        if bad := BAD_SETTINGS.search(reason):
            is_named = " in file " in reason and " in file .git/" not in reason  # a newer git names it so
            where = "" if is_named else f" in {repo.common_dir / 'config'}"
            todo = f"Correct or delete that line{where} in an editor. Until then nothing is committed."
            yield error(f"git: {reason}", todo)
            if bad[1]:
                return  # every command of git fails
        else:
            yield error(f"git fsck: {reason}", f"The notes themselves are safe. {_restore(repo)}")
    yield from (_lock(config, repo, file) for file in lock.of_git(repo))
    yield from _without_rules(config)
    problems = list(_commits(config, repo))
    yield from problems
    text, _, todo = undecided.hint(config).partition("; ")
    if text:
        yield note(f"{text}.", todo)
    for path, other in islice(aside.both_versions(repo), MOST):
        yield note(
            f"Both machines changed {path}: {other} is the other version.", "Keep what you need of it; delete it."
        )
    if not result.status and NOTHING_COMMITTED not in "".join(problem.text for problem in problems):
        yield fine(f"the repository is intact: {_count(repo)}")


def _restore(repo: Repository) -> str:
    """Return what to do about a damaged repository."""
    return f"Restore .git from a backup or a remote. If there is neither, run {dot_git.begin_anew(repo.root)}"


def _stray_ref(config: Config, repo: Repository, file: Path) -> HealthFinding:
    """Return the finding for a file among git's refs that is none."""
    text = f"{file} is not a valid git ref: a file service has copied it, or it is damaged. `mdmem sync` cannot fetch."
    todo = f"`mdmem doctor --fix` moves it to {repo.git_dir / stray_refs.ASIDE}."
    if oid := stray_refs.unmerged(repo, file):
        todo += f" The commits that only it names become the branch {stray_refs.branch(file, oid)}."
    return error(text, todo, partial(_fix, config, repo.common_dir, stray_refs.put_aside, repo, file))


def _fix(config: Config, common_dir: Path, fix: Callable[..., None], *words: object) -> None:
    """Fix something under the committer's lock, whose descriptor is the last argument of `fix`."""
    with lock.held(config.state_dir, common_dir) as lock_fd:
        fix(*words, lock_fd)


def _lock(config: Config, repo: Repository, file: Path) -> HealthFinding:
    """Return the finding for a lock of git's."""
    todo = f"If no git process is running: `rm {shlex.quote(str(file))}`."
    if age(file) <= OLD_LOCK_SECONDS:
        return note(f"{file} is there: a git process is writing, or was killed.", todo)
    text = f"{file} is old: a git process was killed."
    if file.name == "index.lock":  # git keeps it while a person writes a message, and commits are made without it
        return warning(text, todo)
    return warning(
        text, f"`mdmem doctor --fix` removes it. {todo}", partial(_fix, config, repo.common_dir, _unlock, file)
    )


def _unlock(file: Path, _lock_fd: int) -> None:
    """Remove an old lock of git's, which holds it for milliseconds, or for some minutes while it packs."""
    if age(file) > OLD_LOCK_SECONDS:
        file.unlink(missing_ok=True)


def _commits(config: Config, repo: Repository) -> Iterator[HealthFinding]:
    """Check whether the next commit can be made, and what it would leave out."""
    try:
        yield from _uncommitted(config)
    except BusyError as problem:
        yield warning(f"{problem.text} {NOTHING_COMMITTED}.", problem.todo)
    except (GitError, OSError) as problem:
        cause = wording.cause(problem)
        todo = "Fix that; until then notes are stored, but not committed."
        if advice.IN_DOCTOR in cause:
            cause, todo = cause.replace(advice.IN_DOCTOR, ""), _restore(repo)
        yield warning(f"{NOTHING_COMMITTED}: {cause}.", todo)


def _lost_index(config: Config, repo: Repository) -> HealthFinding | None:
    """Return the finding for a repository whose index is lost or damaged."""
    problem = lost_index.problem(repo)
    if not problem:
        return None
    text = f"git's index ({repo.git_dir / 'index'}) {problem}; the notes and their history are safe."
    todo = "`mdmem doctor --fix` or the next commit rebuilds it from the last commit."
    return warning(text, todo, partial(commit.restore_index, config))


def _lost_branch(config: Config) -> HealthFinding | None:
    """Return the finding for a repository whose file HEAD, which names the checked-out branch, is lost."""
    git_folders = dot_git.locate(Path(config.vault))
    if not git_folders or not lost_head.is_lost(*git_folders):
        return None
    text = f"{lost_head.message(git_folders[0])} Nothing is committed; the notes are safe."
    branch = lost_head.branch(*git_folders)
    if not branch:
        command = f"echo 'ref: refs/heads/BRANCH' > {shlex.quote(str(git_folders[0] / 'HEAD'))}"
        return error(text, f"Several branches could have been checked out. Check out yours with: {command}")
    short = branch.removeprefix("refs/heads/")
    todo = f"`mdmem doctor --fix` checks out the branch {short} again, without changing a file."
    return error(
        text, todo, partial(_fix, config, git_folders[1], lambda *_: lost_head.restore(git_folders[0], branch))
    )


def _lost_commit(config: Config, repo: Repository) -> HealthFinding | None:
    """Return the finding for a checked-out branch that has lost its last commit."""
    branch = checked_out.lost(repo)
    if not branch:
        return None
    text = f"{checked_out.message(repo, branch)} Nothing is committed; the notes are safe."
    oid = checked_out.logged(repo, branch)
    if not oid:
        return error(text, _restore(repo))
    todo = f"`mdmem doctor --fix` makes {oid[:8]} its last commit again, as git's log says."
    if checked_out.goes_back(repo, branch, oid):
        todo += f" What was staged in git is unstaged; {repo.git_dir / checked_out.DAMAGED} keeps it."
    return error(text, todo, partial(_fix, config, repo.common_dir, checked_out.restore, repo, oid))


def _without_rules(config: Config) -> Iterator[HealthFinding]:
    """Find generated pages without a merge rule in .gitattributes, as in a vault of an earlier version."""
    attributes = (disk.readable(config.vault, ATTRIBUTES) or b"").decode("utf-8", "surrogateescape")
    listed = {line.split()[0].lstrip("/") for line in attributes.splitlines() if line.strip()}
    rules = {line.split()[0]: line for line in template.load("vault/gitattributes").splitlines() if UNION in line}
    missing = [name for name in rules if name.lstrip("/") not in listed]
    if missing:
        text = f"Pages that mdmem makes can conflict in a plain `git pull`: {', '.join(missing)}."
        todo = f"`mdmem doctor --fix` adds a line for each to {ATTRIBUTES}."
        yield note(text, todo, partial(_add_rules, config, [rules[name] for name in missing]))


def _add_rules(config: Config, rules: list[str]) -> None:
    old = disk.read_path(config.vault, ATTRIBUTES)
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    new = (old or b"") + gap + "".join(f"{line}\n" for line in rules).encode()
    with disk.open_folder(config.vault, ()) as folder:
        is_written = disk.replace(folder, ATTRIBUTES, old, new, durable=config.durable)
    if not is_written:
        raise VaultError(f"{ATTRIBUTES} is not a regular file, or was changed meanwhile.")


def _count(repo: Repository) -> str:
    result = repository.attempt(repo, "rev-list", "--count", "HEAD")
    return plural.number(int(result.out or b"0"), "commit") if not result.status else "no commit yet"


def _uncommitted(config: Config) -> Iterator[HealthFinding]:
    """Check what the next commit would take, and what no commit would."""
    waiting = commit.waiting(config)
    files = [file for file in waiting.files if not message.is_generated(file)]  # the next commit includes pages
    if files:
        text = f"{plural.number(len(files), 'file')} not committed yet, such as {files[0].change.path}."
        yield note(text, "`mdmem commit`", partial(commit.commit, config))
    if waiting.staged:
        count = plural.number(len(waiting.staged), "file")
        yield note(
            f"{count} that you staged, which mdmem does not commit: {plural.some([*waiting.staged], MOST)}.",
            f"Commit with git (git -C {shlex.quote(config.vault)} commit), or unstage: git restore --staged PATH.",
        )
    for held_back in waiting.held_back[:MOST]:
        yield warning(held_back.why, held_back.todo)
    if waiting.left_out:
        count, names = plural.number(len(waiting.left_out), "file"), plural.some([*map(str, waiting.left_out)], MOST)
        yield note(
            f"{count} on this machine only, neither committed nor synced: {names}.",
            "Link to it in a note, move it into notes/, raise sync.max_file_mb, or name it in .gitignore.",
        )


def remote(config: Config) -> Iterator[HealthFinding]:
    """Check what other machines have not seen, judged by the last sync."""
    try:
        repo = repository.open_vault(config.vault)
        branch = checked_out.branch(repo)
    except (VaultError, GitError):
        return  # the git check reports it
    names = repository.attempt(repo, "remote").out.decode("utf-8", "replace").split()
    if not names:
        yield fine("no remote: the vault stays on this machine")
        return
    yield from map(note, other_files.received(config))
    name = "origin" if "origin" in names else names[0]
    theirs = fetching.last_fetched(repo, name, branch)[1] or fetching.tracked(name, branch)
    counted = repository.attempt(repo, "rev-list", "--left-right", "--count", f"{branch}...{theirs}")
    if counted.status:
        yield note(f"The vault was never synced with {name}, or not since a purge.", "`mdmem sync`")
        return
    ahead, behind = (int(word) for word in counted.out.split())
    if ahead or behind:
        yield note(f"{name}: {plural.number(ahead, 'commit')} to send, {behind} to receive.", "`mdmem sync`")
    else:
        yield fine(f"{name} is up to date, as of the last sync")
