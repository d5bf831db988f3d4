"""Command line: what an agent runs to reach mdmem, as cheap as it can be and harmless where mdmem is gone."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

_LAUNCHER = os.path.join(_PACKAGE, "launch.py")

_MODULES = {
    "hook": "mdmem.recall.hook",
    "inject": "mdmem.inject.process",
    "commit": "mdmem.cli",
    "status": "mdmem.capture.status_line",
}
"""A verb of the registration -> the module whose `main` it runs; that name in a command makes it mdmem's."""

_FORMER = ("mdmem.capture.hook", "mdmem.recall.inject")
"""Modules that earlier versions registered: their commands are mdmem's too, and `mdmem install` replaces them."""

_FRONT_MATTER = ("yaml", "frontmatter")
_INDEX = ("whoosh", "cached_property")
_NEEDS: dict[str, tuple[str, ...]] = {
    "hook": (*_FRONT_MATTER, *_INDEX),
    "status": (),
    "inject": (*_FRONT_MATTER, *_INDEX),
    "commit": (*_FRONT_MATTER, *_INDEX, "git", "gitdb", "smmap", "click", "rich", "pygments", "markdown_it"),
}
"""What each of them imports that is not in the standard library: without `site`, nobody else finds it.

A hook does so only where a person wrote front matter that needs it, or a failed run is looked up.
"""

# Reads all of stdin first: an agent that writes into a closed pipe may take that for a failure.
_READ = "import sys; sys.stdin and sys.stdin.buffer.read()"
_DETACH = "from mdmem.system import to_background; to_background(sys.argv[1:])"


def command(verb: str, agent: str, vault: str | None = None) -> str:
    """Write the shell command for `hook`, `inject`, `status`, or `commit` (which goes on in the background).

    It names this interpreter by its absolute path: never a shim, and in a virtual environment its own
    link, which costs no more than what it leads to and outlives an upgrade. It skips `site` and says
    where mdmem lies, behind the standard library. Where interpreter or mdmem is gone, as on the machine
    of a colleague who has the same project settings, it does nothing and ends well. That test takes a
    shell: where an agent starts a program by itself, a missing one is an error that its user sees at
    every event. Where mdmem cannot even be imported, `launch` repairs that or says so. No bytecode is
    written: a full disk would cut it off.
    The words are valid in sh, bash, zsh and fish.
    """
    python, module = shlex.quote(sys.executable), _MODULES[verb]
    paths = f"sys.path+={_literal(_search_path(_NEEDS[verb]))}"
    if verb == "commit":
        words = [*(["--vault", vault] if vault else []), "commit", "--quiet"]
        code = f"{_READ}; {paths}; sys.argv[1:]={_literal(words)}; {_DETACH}; from {module} import main; main()"
    else:
        given = _literal(vault) if vault else "None"
        call = f"{_literal([agent])},{given}"
        failed = f"failed=({_literal(module)},{call})"
        rescue = f"sys.excepthook=lambda*_:exec(open({_literal(_LAUNCHER)}).read(),dict({failed}))"
        code = f"import sys; {paths}; {rescue}; from {module} import main; main({call})"
    missing = f"[ ! -x {python} ] || [ ! -f {shlex.quote(_file_of(module))} ]"
    return f"{missing} || exec {python} -I -S -B -c {shlex.quote(code)}"


def is_own(line: Any) -> bool:
    """Return whether a registered command is mdmem's, of whatever version and place."""
    return isinstance(line, str) and any(module in line for module in (*_MODULES.values(), *_FORMER))


def vault_of(line: str) -> str:
    """Read the vault that a registered hook or injection names, or ""."""
    try:
        code = shlex.split(line)[-1]
        _, vault = ast.literal_eval(f"({code.rpartition(' main(')[2]}")
    except (ValueError, SyntaxError, IndexError, TypeError):
        return ""
    return vault if isinstance(vault, str) else ""


def search_path(verb: str) -> list[str]:
    """Return the folders in which a verb finds what it imports beside the standard library."""
    return _search_path(_NEEDS[verb])


def _literal(value: str | list[str]) -> str:
    """Write a value as Python does, but with the quotes that need no care in a shell's."""
    return json.dumps(value, ensure_ascii=False)


def _search_path(needs: Sequence[str]) -> list[str]:
    folders = [os.path.dirname(_PACKAGE)]
    for name in needs:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            file = os.path.dirname(spec.origin) if spec.submodule_search_locations else spec.origin
            folders.append(os.path.dirname(file))
    return list(dict.fromkeys(folders))


def _file_of(module: str) -> str:
    path = os.path.join(os.path.dirname(_PACKAGE), *module.split("."))
    return os.path.join(path, "__init__.py") if os.path.isdir(path) else f"{path}.py"
