"""Load the part of GitPython that runs git. Importing all of it takes twice as long and asks git twice for its version.

Each command that uses git pays for this, also the background commit after each turn.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git.cmd import Git
    from git.exc import GitCommandNotFound

_PACKAGE, _PART = "git", "git.cmd"


def load() -> tuple[type[Git], type[GitCommandNotFound]]:
    """Return the class that runs git, and the error that it raises for a missing git.

    Raises ImportError when GitPython is missing or git does not run; the latter's error is its cause.
    """
    spec = find_spec(_PACKAGE) if sys.modules.keys().isdisjoint((_PACKAGE, _PART)) else None
    if spec is not None:
        sys.modules[_PACKAGE] = module_from_spec(spec)  # its modules can be imported, and its own code has not run
    try:
        from git.cmd import Git
        from git.exc import GitCommandNotFound
    finally:
        if spec is not None:
            sys.modules.pop(_PACKAGE, None)  # so that others who import the package get all of it
    if Git.GIT_PYTHON_GIT_EXECUTABLE is None:
        try:
            Git.refresh()
        except Exception as error:
            raise ImportError(f"git does not run: {error}") from error
    return Git, GitCommandNotFound
