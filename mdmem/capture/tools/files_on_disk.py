"""Files on disk: they tell what is private in a tool run that shows or changes only a part of a file.

The tags of a private section may be in lines that the run does not show: an edit inside the section, a few lines of a
file, matches of `grep`.
"""

from __future__ import annotations

import os

from mdmem import files
from mdmem.agents import aliases
from mdmem.privacy.text import lower, storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mdmem.agents import Event

MAX_BYTES = 2 << 20
"""Maximum number of bytes read of a file."""

_EDITS = frozenset(["Edit", "MultiEdit", "NotebookEdit", "Patch"])
_NEVER = frozenset([
    "Write", "Glob", "WebFetch", "WebSearch", "Agent", "Task", "TaskCreate", "TaskUpdate", "TodoWrite", "ExitPlanMode",
    "AskUserQuestion", "Skill",
])  # fmt: skip
"""Tools that show no part of a file, or all of it."""

_BLANK = b" \t\r\n\v\f+>#*|=\"'!\\-"
_TAG_SIGNS = (b"<", b"[", b"/", b"3c", b"5b", b"0;", b"1;", b"b;", b"c;", b":", b"74", b"\xef\xbc\x9c", b"\xef\xbc\xbb")
"""What can come before a tag's word, blanks aside; most files with the word have no tag."""

_MOST_EDITED = 20
_MOST_SHOWN = 1000
_MOST_CHANGED = 4


def not_shown(event: Event, tags: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files that may hold private tags which the run itself does not show.

    files_after: files that were edited. files_shown: files of which the run may show a part.
    """
    if isinstance(event.tool_response, dict) and isinstance(event.tool_response.get("originalFile"), str):
        return {}  # the agent sends the file's text before the edit
    name, tool_input = aliases.resolve(event.tool, event.tool_input if isinstance(event.tool_input, dict) else {})
    contents: dict[str, list[str]] = {}
    if name in _EDITS or (name[:5] == "mcp__" and _replaces(tool_input)):
        paths = [os.path.join(event.cwd, os.path.expanduser(storable(path))) for path in _edited(tool_input)]
        contents = {"files_after": [text for _, text in _tagged(paths, tags, follow=False)]}
    elif name not in _NEVER:
        from mdmem.capture.tools import shown_files

        paths_shown, earlier = shown_files.of(event, name, tool_input, tags)
        tagged = list(_tagged(paths_shown, tags, follow=True))
        texts = [*[text for _, text in tagged], *_with_tags(earlier, tags)]
        if tagged and "command" in tool_input:  # which may have changed them
            texts += _with_tags(_before([path for path, _ in tagged[:_MOST_CHANGED]]), tags)
        contents = {"files_shown": list(dict.fromkeys(texts))[:_MOST_SHOWN]}
    return {key: texts for key, texts in contents.items() if texts}


INSTRUCTIONS = (
    "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md",
    "AGENTS.override.md", ".cursorrules",
)  # fmt: skip
"""Instruction files loaded from the working directory and the folders above it: all that `install.catalog` lists, those
that only one person sees, and older ones."""
_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "target_file", "path")
_MOST_FOLDERS = 8


def instructions_beside(event: Event, root: str) -> list[str]:
    """List the instruction files in the folder of a tool's file, and in those above it up to the project's root.

    Agents load them with the first file that they read or change there, and no hook tells.
    """
    given = event.tool_input if isinstance(event.tool_input, dict) else {}
    named = [path for key in _PATHS if isinstance(path := given.get(key), str)]
    root = root.rstrip(os.sep)
    folder = os.path.dirname(os.path.normpath(os.path.join(event.cwd, storable(named[0])))) if named and root else ""
    paths: list[str] = []
    for _ in range(_MOST_FOLDERS):
        if not folder.startswith(f"{root}{os.sep}") or "\0" in folder:
            break
        paths += [path for name in INSTRUCTIONS if os.access(path := f"{folder}/{name}", os.R_OK)]
        folder = os.path.dirname(folder)
    return paths


def _before(paths: list[str]) -> Iterator[bytes]:
    from mdmem.capture.tools import unnamed_files

    for path in paths:
        yield from unnamed_files.committed(path)


def _tagged(paths: Iterable[str], tags: tuple[str, ...], *, follow: bool) -> Iterator[tuple[str, str]]:
    """Yield path and text of the files that may hold private tags, also in a `.gz` file or a zip archive."""
    for path in paths:
        try:
            data = files.read_any(path, MAX_BYTES, follow=follow)
        except (OSError, ValueError):
            continue
        yield from ((path, text) for text in _with_tags([data, *files.unpacked(data, MAX_BYTES)], tags))


def _with_tags(texts: Iterable[bytes], tags: tuple[str, ...]) -> Iterator[str]:
    bare = [word.encode().translate(None, _BLANK) for word in tags]
    for data in texts:
        text = "" if data.isascii() else data.decode("utf-16" if data[:2] in _UTF16 else "utf-8", "replace")
        low = (_looks(text) if text else data).lower().translate(None, _BLANK)
        if b"\x1b" in low or any(sign + word in low for word in bare for sign in _TAG_SIGNS):
            yield text or data.decode("ascii")


_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def _looks(text: str) -> bytes:
    """Return a text with look-alike letters as ASCII: tags may be written in other alphabets."""
    from mdmem.privacy import disguises

    return disguises.visible_ascii(lower(text)).encode()


def _replaces(tool_input: dict[str, Any]) -> bool:
    """Whether a tool that nobody described is given what to put in the place of something in a file."""
    from mdmem.privacy.edits import PAIRS  # few tools are unknown

    listed = tool_input.get("edits")
    edits = [tool_input, *listed] if isinstance(listed, list) else [tool_input]
    return any(old in edit for edit in edits if isinstance(edit, dict) for old, _ in PAIRS)


def _edited(tool_input: dict[str, Any]) -> list[str]:
    """Return the files that an edit names."""
    path = tool_input.get("file_path", tool_input.get("notebook_path", tool_input.get("path")))
    if isinstance(path, str):
        return [path]
    patch = tool_input.get("patch")
    if isinstance(patch, list):
        patch = "\n".join([word for word in patch if isinstance(word, str)])
    lines = patch.split("\n") if isinstance(patch, str) else []
    names = [line.partition(": ")[2].strip() for line in lines if line[:4] == "*** "]  # of updates, and of moves
    return [name for name in names if name][:_MOST_EDITED]
