"""Branch: whether a note waits on the code branch that it is made on, until that is merged."""

from __future__ import annotations

from mdmem import project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.project import Project


def staged(where: Project) -> str:
    """Return the branch that a note made there waits on; "" when every branch may see it at once.

    A branch that is gone, as in an old transcript, keeps nothing back: nobody could ever be on it again.
    """
    default = project.default_branch(where.worktree) if where.branch else ""
    waits = default not in ("", where.branch) and project.has_branch(where.worktree, where.branch)
    return where.branch if waits else ""
