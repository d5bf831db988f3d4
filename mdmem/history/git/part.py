"""A partial vault: this machine has the files of some projects, or since some day; git has all of them.

Files left out have the skip-worktree bit in the index and match the sparse-checkout patterns, so that plain git
leaves them alone too. A file that was never here does not count as deleted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from mdmem import files, slug
from mdmem.errors import GitError, UsageError, VaultError
from mdmem.history.git import repository
from mdmem.history.git.repository import Repository
from mdmem.vault import JOURNAL, layout

NAME = "mdmem-part"
"""File in the git directory that stores the part."""

NEVER_IN_NAMES = frozenset('\\<>:"|?*' if os.sep == "\\" else "")
"""Characters that file names on this system cannot contain."""

FIRST_YEAR = 1990
_MAX_BYTES = 64 * 1024


class VaultPart(NamedTuple):
    """The part of the journal on this machine. since: a day, "" for no bound. projects: journal folders; () for all.

    Notes, internal memories and the pages of projects are always here.
    """

    since: str = ""
    projects: tuple[str, ...] = ()

    def has(self, path: str) -> bool:
        """Whether a vault path belongs to the part."""
        parts = path.split("/")
        if parts[0] == "days":
            day = parts[-1][:10]
            return len(parts) > 3 or not layout.is_day(day) or day >= self.since
        if parts[0] != JOURNAL or len(parts) < 4:
            return True
        if self.projects and parts[1] not in self.projects:
            return False
        day = layout.day_of(path)
        return not layout.is_day(day) or day >= self.since

    def patterns(self) -> list[str]:
        """Return the part as lines of git's `info/sparse-checkout`, in which the last match wins."""
        lines = ["/*"]
        if self.projects:
            lines += ["!/journal/*/*/", *(f"/journal/{_literal(name)}/*/" for name in self.projects)]
        if self.since:
            year, month, day = map(int, self.since.split("-"))
            days = [(f"{number}-*", str(number)) for number in range(FIRST_YEAR, year)]
            days += [(f"{year}-{number:02}-*", f"{year}/{number:02}") for number in range(1, month)]
            days += [(f"{year}-{month:02}-{number:02}*", f"{year}/{month:02}/{number:02}*") for number in range(1, day)]
            for flat, nested in days:
                lines += [f"!/journal/*/{flat}/", f"!/journal/*/{nested}/", f"!/days/{flat}", f"!/days/*/{flat}"]
        return lines

    def __str__(self) -> str:
        kinds = [f"since {self.since}"] if self.since else []
        return ", ".join([*kinds, *(f"project {name}" for name in self.projects)])


def _literal(name: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\*?[]!# " else letter for letter in name)


def of(root: str) -> VaultPart | None:
    """Return the part of a vault that is on this machine; None for a whole vault, or when it is not a repository."""
    try:
        return load(repository.open_vault(root))
    except (VaultError, GitError):
        return None


def load(repo: Repository) -> VaultPart | None:
    """Return the part of a vault that is on this machine; None for a whole vault.

    Raises VaultError when it cannot be read: in a whole vault, the files that this machine lacks would be deleted.
    """
    path = repo.git_dir / NAME
    try:
        read = json.loads(files.read_own(str(path), _MAX_BYTES))
        return VaultPart(str(read["since"]), tuple(map(str, read["projects"])))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VaultError(
            f"{path} cannot be read, so it is unknown which part of the vault this machine has ({error})."
            " Clone the vault again, or delete this file if the whole vault is here."
        ) from error


def meant(repo: Repository, commit: str, part: VaultPart) -> VaultPart:
    """Return the part with the projects of a commit that are meant by their names, or by a part that only one has.

    Raises UsageError when there is no such project, or more than one.
    """
    listed = repository.run(repo, "ls-tree", "-z", "--name-only", commit, f"{JOURNAL}/") if commit else b""
    known = [os.fsdecode(path).rpartition("/")[2] for path in listed.split(b"\0")[:-1]]
    chosen = []
    for name in part.projects if commit else ():
        matching = [other for other in known if other.lower() == name.lower()]
        matching = matching or [other for other in known if name.lower() in other.lower()]
        if len(matching) != 1:
            found = "is a part of several projects' names" if matching else "is not a project of this vault"
            raise UsageError(f"{name!r:.80} {found}. It has {', '.join(known)}.")
        chosen += matching
    return part._replace(projects=tuple(dict.fromkeys(chosen)) or part.projects)


def save(repo: Repository, part: VaultPart) -> None:
    """Store the part, for mdmem and as git's sparse-checkout."""
    text = "".join(f"{line}\n" for line in part.patterns())
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info" / "sparse-checkout").write_text(text, encoding="utf-8")
    repository.run(repo, "config", "core.sparseCheckout", "true")
    repository.run(repo, "config", "core.sparseCheckoutCone", "false")
    files.replace(str(repo.git_dir / NAME), json.dumps(part._asdict()).encode())


def forget(repo: Repository) -> None:
    """Remove the stored part: this machine is to have the whole vault."""
    repository.run(repo, "config", "core.sparseCheckout", "false")
    (repo.git_dir / "info" / "sparse-checkout").unlink(missing_ok=True)
    (repo.git_dir / NAME).unlink(missing_ok=True)


def absent(repo: Repository, paths: Iterable[str]) -> set[str]:
    """Return the vault-relative `paths` that this machine leaves out and that are not on disk.

    This includes files whose names this system cannot have: git has them, and they stay on other machines.
    """
    part = load(repo)
    if part is None and not NEVER_IN_NAMES:
        return set()
    return {path for path in paths if is_absent(repo, part, path)}


def is_absent(repo: Repository, part: VaultPart | None, path: str) -> bool:
    """Whether a file is left out by the part and is not on disk."""
    return not is_part(part, path) and not (can_be(path) and os.path.lexists(repo.root / path))


def is_part(part: VaultPart | None, path: str) -> bool:
    """Whether a file belongs on this machine: it is in the part (None: everything is), and its name is possible."""
    return can_be(path) and (part is None or part.has(path))


def can_be(path: str) -> bool:
    """Whether this system allows a file at a path: Windows refuses some names."""
    if not NEVER_IN_NAMES:
        return True
    parts = path.split("/")
    return NEVER_IN_NAMES.isdisjoint(path) and not any(
        name[-1:] in (" ", ".") or name.partition(".")[0].rstrip().lower() in slug.RESERVED for name in parts
    )
