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

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_MODULES = {"hook": "mdmem.capture.hook", "inject": "mdmem.recall.inject", "commit": "mdmem.cli"}
"""A verb of the registration -> the module whose `main` it runs; that name in a command makes it mdmem's."""

_FRONT_MATTER = ("yaml", "frontmatter")
_INDEX = ("whoosh", "cached_property")
_NEEDS: dict[str, tuple[str, ...]] = {
    "hook": _FRONT_MATTER,
    "inject": (*_FRONT_MATTER, *_INDEX),
    "commit": (*_FRONT_MATTER, *_INDEX, "git", "gitdb", "smmap", "click", "rich", "pygments", "markdown_it"),
}
"""What each of them imports that is not in the standard library: without `site`, nobody else finds it.

A hook does so only where a person wrote front matter that needs it.
"""

# Reads all of stdin first: an agent that writes into a closed pipe may take that for a failure.
_DETACH = (
    "import os,sys; sys.stdin and sys.stdin.buffer.read(); os.fork() and os._exit(0); os.setsid(); "
    "[os.dup2(os.open(os.devnull,2),n) for n in (0,1,2)]"
)


def command(verb: str, agent: str, vault: str | None = None) -> str:
    """Write the shell command for `hook`, `inject`, or `commit` (which goes on in the background).

    It names this interpreter by its absolute path: never a shim, and in a virtual environment its own
    link, which costs no more than what it leads to and outlives an upgrade. It skips `site` and says
    where mdmem lies, behind the standard library. Where interpreter or mdmem is gone, as on the machine
    of a colleague who has the same project settings, it does nothing and ends well.
    The words are valid in sh, bash, zsh and fish.
    """
    python, module = shlex.quote(sys.executable), _MODULES[verb]
    paths = f"sys.path+={_literal(_search_path(_NEEDS[verb]))}"
    if verb == "commit":
        words = [*(["--vault", vault] if vault else []), "commit", "--quiet"]
        code = f"{_DETACH}; {paths}; sys.argv[1:]={_literal(words)}; from {module} import main; main()"
    else:
        given = _literal(vault) if vault else "None"
        code = f"import sys; {paths}; from {module} import main; main({_literal([agent])},{given})"
    missing = f"[ ! -x {python} ] || [ ! -f {shlex.quote(_file_of(module))} ]"
    return f"{missing} || exec {python} -I -S -c {shlex.quote(code)}"


def is_own(line: Any) -> bool:
    """Tell whether a registered command is mdmem's, of whatever version and place."""
    return isinstance(line, str) and any(module in line for module in _MODULES.values())


def vault_of(line: str) -> str:
    """Read the vault that a registered hook or injection names, or ""."""
    try:
        code = shlex.split(line)[-1]
        _, vault = ast.literal_eval(f"({code.rpartition(' main(')[2]}")
    except (ValueError, SyntaxError, IndexError, TypeError):
        return ""
    return vault if isinstance(vault, str) else ""


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
