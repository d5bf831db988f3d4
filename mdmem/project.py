"""Find the project that a directory belongs to, from files alone.

It starts no process and ignores `GIT_*` variables, so a hook that runs inside somebody's `git commit` gets the same
answer as any other. Text in a repository comes from somebody else: every read is bounded and never blocks.
"""

from __future__ import annotations

import os

from mdmem.hashing import short
from mdmem.slug import slug

_CONFIG_BYTES = 64 * 1024
_PACKED_REFS_BYTES = 1024 * 1024  # sorted by name, so branches come before the many tags and remotes
_REMOTE_CHARS = 300
_NAME_CHARS = 48
_HEX = frozenset("0123456789abcdefABCDEF")

# The same server under two names: SSH over port 443, and Azure's own host for SSH.
_SAME_HOST = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}

# Hosts that ignore letter case in addresses.
_CASELESS_HOSTS = frozenset(["github.com", "gitlab.com", "bitbucket.org", "dev.azure.com", "codeberg.org"])


class Project:
    """The project of a directory.

    name: slug, `<owner>-<repo>` with a remote, else from the folder's name.
    root: absolute path of the main repository, or of the folder without one.
    remote: `host/owner/repo`, never with credentials; "" without one.
    worktree: absolute path of the working tree that contains the directory.
    branch, commit: of that working tree, the commit as 8 hex digits; "" when they cannot be read.
    """

    __slots__ = ("branch", "commit", "name", "remote", "root", "worktree")

    def __init__(
        self, name: str, root: str, remote: str = "", worktree: str = "", branch: str = "", commit: str = ""
    ) -> None:
        self.name = name
        self.root = root
        self.remote = remote
        self.worktree = worktree or root
        self.branch = branch
        self.commit = commit


def identify(cwd: str) -> Project:
    """Return the project of the directory `cwd`, which may be deleted, or not even a path on this machine."""
    path = cwd.replace("\0", "")[:4096]
    if not os.path.isabs(path):  # a Windows path read elsewhere, or none
        return Project(_foreign_name(path), path)
    try:
        real = os.path.realpath(path)
        return _repository_of(real) or Project(folder_name(real), real)
    except (OSError, ValueError):  # not a valid path here, for example with a lone surrogate
        return Project(_foreign_name(path), path)


def suffix(root: str) -> str:
    """Return four characters that distinguish projects of the same name, derived from the path `root`."""
    return short(root, 4)


def normalize(url: str) -> str:
    """Return the one form of all addresses of a remote: `host/owner/repo`.

    SSH, HTTPS and scp forms of one repository are equal; credentials, port, `.git`, query and fragment are dropped.
    Local paths and unclear addresses give "".
    """
    scheme, has_scheme, without_scheme = url.strip().partition("://")
    address = _without_credentials(without_scheme if has_scheme else scheme).partition("?")[0].partition("#")[0]
    host, _, path = address.partition("/" if has_scheme else ":")
    if has_scheme:
        host = _without_port(host)
    parts = [part for part in path.split("/") if part]
    is_drive = len(host) == 1
    is_helper = path.startswith(":")  # `ext::program`, which git would run
    if scheme.lower() == "file" or is_drive or is_helper or not host or "/" in host or not parts:
        return ""
    return _joined(host.lower().rstrip("."), parts)


def was_cloned(worktree: str) -> bool:
    """Whether a repository began as a clone, so that it had a remote from the start.

    worktree: absolute path of a working tree, as in `Project`. Read from the beginning of HEAD's reflog, which git
    keeps for 90 days by default.
    """
    git_dir = git_dir_of(worktree)
    first_line = _read(os.path.join(_common(git_dir), "logs", "HEAD"), 4096).partition("\n")[0] if git_dir else ""
    return first_line.partition("\t")[2].startswith("clone:")


def began_ns(worktree: str) -> int:
    """Return when git made a repository, by init or clone, in nanoseconds since the epoch; 0 when unknown.

    worktree: absolute path of a working tree, as in `Project`. It is the mtime of a file that git writes only then, and
    stays the same when the repository is moved.
    """
    made = _made(worktree)
    return made.st_mtime_ns if made else 0


def copied_ns(worktree: str) -> int:
    """Return when this copy of a repository was made, in nanoseconds since the epoch; 0 when unknown.

    It is the ctime of the file of `began_ns`: a move keeps it, and a copy has one of its own.
    """
    made = _made(worktree)
    return made.st_ctime_ns if made else 0


def _made(worktree: str) -> os.stat_result | None:
    git_dir = git_dir_of(worktree)
    try:
        return os.stat(os.path.join(_common(git_dir), "description")) if git_dir else None
    except OSError:
        return None


# --- branches ------------------------------------------------------------------------------------


def default_branch(worktree: str) -> str:
    """Return the branch that others are merged into: `origin`'s default, else `main` or `master`; "" when unknown.

    worktree: absolute path of a working tree, as in `Project`.
    """
    git_dir = git_dir_of(worktree)
    if not git_dir:
        return ""
    common = _common(git_dir)
    default = _read(os.path.join(common, _ORIGINS, "HEAD"), 1024).strip().removeprefix("ref:").strip()
    if default.startswith(f"{_ORIGINS}/"):
        return default.removeprefix(f"{_ORIGINS}/")
    return next((name for name in ("main", "master") if _commit_of(common, name)), "")


def has_branch(worktree: str, name: str) -> bool:
    """Whether a working tree's repository has this branch, locally or at the last fetch from `origin`."""
    git_dir = git_dir_of(worktree)
    return bool(git_dir and name and ".." not in name and _commit_of(_common(git_dir), name))


_ORIGINS = "refs/remotes/origin"


def last_commit(worktree: str) -> tuple[str, str, float]:
    """Return hash, subject and time of a work tree's last commit; empty unless HEAD's last change was a commit.

    Read from HEAD's reflog; no process is started.
    """
    git_dir = git_dir_of(worktree)
    path = os.path.join(git_dir, "logs", "HEAD") if git_dir else ""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            last_line = file.read(4096).decode("utf-8", "replace").rstrip("\n").rpartition("\n")[2]
    except (OSError, ValueError):
        return "", "", 0.0
    facts, _, message = last_line.partition("\t")
    action, _, subject = message.partition(": ")
    words = facts.split()
    seconds = words[-2] if len(words) > 4 else ""
    if not action.startswith("commit") or not seconds.isdecimal() or not _short_hash(words[1]):
        return "", "", 0.0
    return _short_hash(words[1]), subject, float(seconds)


def _commit_of(common: str, branch: str) -> str:
    refs = (f"refs/heads/{branch}", f"{_ORIGINS}/{branch}")
    hashes = (_short_hash(_read(os.path.join(common, ref), 128)) or _packed_commit(common, ref) for ref in refs)
    return next(filter(None, hashes), "")


# --- names ---------------------------------------------------------------------------------------


def _name(text: str, identity: str) -> str:
    """Return the slug of `text`; when that is empty or cut, a suffix made of `identity` keeps it unique."""
    whole = slug(text, limit=1000)
    if not whole:
        return f"project-{suffix(identity)}"
    name = slug(text, _NAME_CHARS)
    return name if name == whole else f"{slug(text, _NAME_CHARS - 5)}-{suffix(identity)}"


def name_of(remote: str) -> str:
    """Return the name of a project with this remote, `<owner>-<repo>`."""
    return _name(remote.partition("/")[2], remote)


def folder_name(root: str) -> str:
    """Return the name of a project without a remote, made from that of its folder."""
    if root == os.path.dirname(root):
        return "root"
    if root == os.path.realpath(os.path.expanduser("~")):
        return "home"
    return _name(os.path.basename(root).removesuffix(".git"), root)


def _foreign_name(path: str) -> str:
    parts = path.replace("\\", "/").rstrip("/").split("/")
    if not parts[-1]:
        return "root" if path else "unknown"
    return "root" if len(parts) == 1 and parts[0].endswith(":") else _name(parts[-1], path)


# --- repositories --------------------------------------------------------------------------------


def _repository_of(folder: str) -> Project | None:
    """Return the innermost repository around `folder`, so that nested ones and submodules are separate projects."""
    while True:
        git_dir = git_dir_of(folder)
        if git_dir:
            return _project(folder, git_dir)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def git_dir_of(folder: str) -> str:
    """Return the git directory of `folder`, as a working tree or a bare repository; "" if it is neither."""
    dot_git = os.path.join(folder, ".git")
    if _is_git_dir(dot_git):
        return dot_git
    label, _, target = _read(dot_git, 4096).partition(":")
    if label == "gitdir":  # a linked worktree, a submodule, or a git directory elsewhere
        pointed = os.path.realpath(os.path.join(folder, target.strip()))
        return pointed if _is_git_dir(pointed) else ""
    return folder if _is_git_dir(folder) else ""


def _is_git_dir(path: str) -> bool:
    head = _read(os.path.join(path, "HEAD"), 1024).strip()
    if not (head.startswith("ref:") or _short_hash(head)):
        return False
    return os.path.isdir(os.path.join(path, "objects")) or os.path.isfile(os.path.join(path, "commondir"))


def _project(folder: str, git_dir: str) -> Project:
    common = _common(git_dir)
    urls, work_tree = _remotes_and_work_tree(_read(os.path.join(common, "config"), _CONFIG_BYTES))
    is_main = common == git_dir != folder
    root = folder if is_main else _main_root(common, work_tree)
    remote = _preferred(urls)
    branch, commit = _head(git_dir, common)
    name = name_of(remote) if remote else folder_name(root)
    return Project(name, root, remote, root if git_dir == folder else folder, branch, commit)


def _common(git_dir: str) -> str:
    """Return the git directory that all working trees of a repository share."""
    shared = _read(os.path.join(git_dir, "commondir"), 4096).strip()
    return os.path.realpath(os.path.join(git_dir, shared)) if shared else git_dir


def _main_root(common: str, work_tree: str) -> str:
    """Return the main working tree of the git directory `common`, or that itself if it is bare."""
    if work_tree:  # a submodule's, relative to its git directory
        return os.path.realpath(os.path.join(common, work_tree))
    hidden = os.path.basename(common).startswith(".")  # `.git`, or `.bare` in setups with only linked worktrees
    return os.path.dirname(common) if hidden else common


def _head(git_dir: str, common: str) -> tuple[str, str]:
    """Return branch and short commit; a detached HEAD has no branch, an unborn branch no commit."""
    head = _read(os.path.join(git_dir, "HEAD"), 1024).strip()
    if not head.startswith("ref:"):
        return "", _short_hash(head)
    ref = head[4:].strip()
    if not ref.startswith("refs/") or ".." in ref or ref.endswith("/.invalid"):
        return "", ""  # reftable repositories write the last one; mdmem cannot read their refs
    branch = ref.removeprefix("refs/heads/")
    commit = _short_hash(_read(os.path.join(common, ref), 128)) or _packed_commit(common, ref)
    return branch, commit


def _packed_commit(common: str, ref: str) -> str:
    packed = _read(os.path.join(common, "packed-refs"), _PACKED_REFS_BYTES)
    end = packed.find(f" {ref}\n")
    return _short_hash(packed[packed.rfind("\n", 0, end) + 1 : end]) if end > 0 else ""


def _short_hash(text: str) -> str:
    digits = text.strip()
    return digits[:8].lower() if len(digits) in (40, 64) and _HEX.issuperset(digits) else ""


def _read(path: str, limit: int) -> str:
    """Return the first `limit` bytes of a file; "" when it cannot be read. Never blocks, not even on a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ""
    try:
        return os.read(descriptor, limit).decode("utf-8", "surrogateescape")
    except OSError:  # a folder, or nothing to read now
        return ""
    finally:
        os.close(descriptor)


# --- git's configuration -------------------------------------------------------------------------


def _remotes_and_work_tree(config: str) -> tuple[dict[str, str], str]:
    """Return the first URL of each remote, and `core.worktree`."""
    urls: dict[str, str] = {}
    work_tree = kind = name = ""
    for line in config.replace("\\\n", "").split("\n"):
        line = line.strip()
        if line.startswith("["):
            header, _, line = line[1:].partition("]")
            kind, _, name = header.strip().partition(" ")
            kind = kind.lower()
        key, _, value = line.partition("=")
        key = key.strip().lower()
        if kind == "remote" and key == "url":
            urls.setdefault(name.strip().strip('"'), _value(value))
        elif kind == "core" and key == "worktree":
            work_tree = _value(value)
    return urls, work_tree


def _value(text: str) -> str:
    """Return a configuration value without quotes, escapes and comment."""
    quoted = False
    value: list[str] = []
    characters = iter(text.strip())
    for c in characters:
        if c == '"':
            quoted = not quoted
        elif c == "\\":
            value.append(next(characters, ""))
        elif c in "#;" and not quoted:
            break
        else:
            value.append(c)
    return "".join(value).strip()


def _preferred(urls: dict[str, str]) -> str:
    """Return the address of `origin`, else of the first other remote by name that is not local; "" for none."""
    for name in ["origin", *sorted(urls)]:
        remote = normalize(urls.get(name, ""))
        if remote:
            return remote
    return ""


def _without_credentials(address: str) -> str:
    """Return what follows the last `@`, as a password may contain any character; "" when it could be part of a path."""
    before, at, after = address.rpartition("@")
    if not at or not before.endswith("/"):
        return after if at else address
    # `host.example/@scope/repo` is a path, `name:pass/@host.example/repo` is not.
    return "" if ":" in before or "." not in before.partition("/")[0] else address


def _without_port(host: str) -> str:
    """Return `host` without its port; "" if what follows the colon is not a port, since it could be a secret."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    name, _, port = host.partition(":")
    return name if not port or port.isdigit() else ""


def in_one_case(remote: str) -> str:
    """Return a remote in lower case if its host ignores letter case; a page may have another spelling."""
    return remote.lower() if remote.partition("/")[0] in _CASELESS_HOSTS else remote


def _joined(host: str, parts: list[str]) -> str:
    host = _SAME_HOST.get(host, host)
    if host == "dev.azure.com":  # `org/project/_git/repo` by HTTPS, `v3/org/project/repo` by SSH
        parts = [part for part in parts if part not in ("_git", "v3")]
    elif len(parts) == 3 and parts[0] == "scm":  # Bitbucket's HTTPS paths
        parts = parts[1:]
    remote = in_one_case("/".join([host, *parts]).removesuffix(".git"))
    plain = len(remote) <= _REMOTE_CHARS and remote.isprintable() and " " not in remote
    return remote if plain else ""
