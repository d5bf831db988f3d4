"""Files on disk: which of them tell what is private in a tool run that shows or changes only a part of one.

The tags of a private section may stand in lines that the run does not show: an edit inside of it, a few lines of the
file, what `grep` found in it.
"""

from __future__ import annotations

import os

from mdmem import files
from mdmem.agents import aliases
from mdmem.vault import exclusions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mdmem.agents import Event

MAX_EDITED_BYTES = 2 << 20
"""Of a file in which an edit was made, only so much is looked at."""

MAX_SHOWN_BYTES = 512 * 1024
"""A longer file, of which a part is shown, is not looked at."""

_EDITS = frozenset(["Edit", "MultiEdit", "NotebookEdit", "Patch"])
_SHOWS = frozenset(["Read", "Grep", "Bash", "PowerShell"])
_TAG_SIGNS = (b"<", b"< ", b"[", b"[ ", b"/", b"--", b"-- ", b"\xef\xbc\x9c", b"\xef\xbc\xbb", b"3c", b"5b")
"""What may stand before the word of a tag; most files that have the word have no tag."""

_MOST_EDITED = 20
_MOST_SHOWN = 8
_MOST_LINES = 400
_TEXT_KEYS = ("stdout", "content", "output", "llmContent", "text")


def beside(event: Event, tags: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files that may hold private tags of which a run does not tell.

    files_after: an edit was made in them. files_shown: the run may show a part of them.
    """
    if isinstance(event.tool_response, dict) and isinstance(event.tool_response.get("originalFile"), str):
        return {}  # the agent itself tells what the file held before an edit
    name, given = aliases.resolve(event.tool, event.tool_input if isinstance(event.tool_input, dict) else {})
    after = _tagged(event, _edited(given), tags, MAX_EDITED_BYTES, follow=False) if name in _EDITS else ()
    names = dict.fromkeys([*_named(given), *_listed(_output(event.tool_response))]) if name in _SHOWS else ()
    shown = _tagged(event, list(names)[:_MOST_SHOWN], tags, MAX_SHOWN_BYTES, follow=True)
    found = {"files_after": list(after), "files_shown": list(shown)}
    return {key: texts for key, texts in found.items() if texts}


def _tagged(event: Event, names: Iterable[str], tags: tuple[str, ...], limit: int, *, follow: bool) -> Iterator[str]:
    for name in names:
        try:
            data = files.read_any(os.path.join(event.cwd, os.path.expanduser(name)), limit, follow=follow)
        except (OSError, ValueError):
            continue
        low = data.lower()
        if any(sign + word.encode() in low for word in tags for sign in _TAG_SIGNS):
            yield data.decode("utf-8", "replace")


def _edited(given: dict[str, Any]) -> list[str]:
    """List the files that an edit names."""
    path = given.get("file_path", given.get("notebook_path"))
    if isinstance(path, str):
        return [path]
    patch = given.get("patch")
    if isinstance(patch, list):
        patch = "\n".join([word for word in patch if isinstance(word, str)])
    names = [line.partition(" File: ")[2] for line in patch.split("\n")] if isinstance(patch, str) else []
    return [name.strip() for name in names if name.strip()][:_MOST_EDITED]


def _named(given: dict[str, Any]) -> list[str]:
    """List the files that the input of a run names."""
    found = [path for key in ("file_path", "path") if isinstance(path := given.get(key), str)]
    command = given.get("command")
    if isinstance(command, list):
        command = " ".join([word for word in command if isinstance(word, str)])
    return found + (exclusions.paths_in(command) if isinstance(command, str) else [])


def _output(response: Any) -> str:
    if isinstance(response, dict):
        response = next((response[key] for key in _TEXT_KEYS if isinstance(response.get(key), str)), "")
    return response if isinstance(response, str) else ""


def _listed(output: str) -> Iterator[str]:
    """List the files that an output gives lines of: `path:12:…` of grep, `+++ b/path` of a patch."""
    lines = output.split("\n", _MOST_LINES)[:_MOST_LINES] if ":" in output or "+++ " in output else ()
    for line in lines:
        if line.startswith("+++ b/"):
            yield line[len("+++ b/") :].rstrip()
        elif ":" in line[:200]:
            name, _, rest = line.partition(":")
            if rest[:1].isdecimal() and name and " " not in name:
                yield name
