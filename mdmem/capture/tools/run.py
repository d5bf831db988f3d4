"""Run: one cleaned tool run, and functions to read the fields of what the agent sent.

Every field may be missing or of any JSON type; a value of the wrong type counts as missing.
"""

from __future__ import annotations

import posixpath

from mdmem import agents
from mdmem.agents import mapping as mapping
from mdmem.capture.tools import limits as _limits
from mdmem.values import Value
from mdmem.vault import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.capture.tools.body import Part
    from mdmem.capture.tools.limits import Limits

MAX_ITEMS = 1000
"""Maximum number of items read from an outside list."""

_MAX_PATH_CHARS = 1000
_MAX_PATHS_BYTES = 3 * 1024  # in the front matter, including quotes and escapes

# Where agents put the text of a response, most trusted first.
_ANSWERS = (
    "stdout", "output", "text", "content", "result", "llmContent", "textResultForLlm", "text_result_for_llm",
    "returnDisplay", "message",
)  # fmt: skip


class Run(Value):
    """One run of a tool.

    tool: its name as the agent gave it.
    input: its input, under Claude Code's keys; {} if that was not an object.
    response: its response, unchanged.
    failure: None if it succeeded, else why it failed, possibly "".
    root, cwd: absolute paths of the project and the working directory, possibly "".
    """

    tool: str
    input: dict[str, Any]
    response: Any
    failure: str | None
    root: str
    cwd: str
    limits: Limits

    @property
    def result(self) -> dict[str, Any]:
        """Return the response when it is an object, else {}."""
        return self.response if isinstance(self.response, dict) else {}


class RunFacts(Value):
    """What a row of the table returns for a run.

    title: one line that does not mention failure.
    about: the source of the file name: the title without the tool's name.
    meta: front matter; None, "" and [] are left out.
    outcome: a word or two for the end of the title, like "exit 1", or "".
    """

    title: str
    about: str
    meta: dict[str, Any]
    parts: list[Part]
    outcome: str = ""


def text(source: Any, *keys: str) -> str:
    """Return the first non-empty string under `keys`, or ""."""
    if isinstance(source, dict):
        for key in keys:
            value = source.get(key)
            if isinstance(value, str) and value:
                return value
    return ""


def number(source: Any, *keys: str) -> int | None:
    """Return the first whole, non-negative number under `keys`, or None."""
    if isinstance(source, dict):
        for key in keys:
            value = agents.number(source.get(key))
            if value is not None:
                return value
    return None


def items(value: Any) -> list[Any]:
    """Return a list's first MAX_ITEMS items; [] for anything but a list."""
    return value[:MAX_ITEMS] if isinstance(value, list) else []


def path(run: Run, value: str) -> str:
    """Return a file's path relative to the project if it is inside, with slashes; "" for none."""
    return relative(value, run.root, run.cwd)


def paths(run: Run, values: list[Any]) -> list[str]:
    """Return the distinct paths in order, at most `Limits.max_files`; anything but strings is skipped."""
    distinct = dict.fromkeys([path(run, value) for value in values[: run.limits.max_files] if isinstance(value, str)])
    return [name for name in distinct if name]


def few(names: list[str]) -> list[str]:
    """Return as many of the first paths as the front matter has room for."""
    room = _MAX_PATHS_BYTES
    for count, name in enumerate(names):
        room -= len(name.encode("utf-8", "replace")) + name.count('"') + name.count("\\") + 4
        if room < 0:
            return names[:count]
    return names


def short(value: str, chars: int) -> str:
    """Return outside text as one line of at most `chars` printable characters."""
    line = note.one_line(_limits.tidy(value[: chars * 8], chars * 8, chars * 8), chars)
    return line if line.isprintable() else "".join([c for c in line if note.is_legible(c)])


def line_count(value: str) -> int:
    """Count lines; a last one without a line break counts."""
    return value.count("\n") + (value[-1:] not in ("", "\n"))


def language(name: str) -> str:
    """Return a file's language, or ""."""
    from mdmem.capture.tools import language as _language

    return _language.name(name)


def answer(response: Any) -> str:
    """Return the text of any agent's response, or ""."""
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        return "\n".join(filter(None, [_block(block) for block in items(response)]))
    for key in _ANSWERS:
        value = mapping(response).get(key)
        if isinstance(value, (str, list)) and value:
            return answer(value)
    return ""


def _block(block: Any) -> str:
    """Return the text of one content block; for a picture or sound, its type and size."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    kind = text(block, "type")
    if kind in ("image", "audio", "video", "document"):
        source = mapping(block.get("source")) or block
        media = text(source, "media_type", "mimeType", "mime_type") or kind
        return f"[{short(media, 60)}, {len(text(source, 'data', 'base64')):,} characters of base64 left out]"
    resource = mapping(block.get("resource"))
    if resource or kind == "resource_link":
        blob = text(resource, "blob")
        left_out = f"[{len(blob):,} characters of base64 left out]" if blob else ""
        return "\n".join(filter(None, [text(resource or block, "uri"), text(resource or block, "text"), left_out]))
    return text(block, "text", "content")


# -- paths


def relative(path: str, root: str, cwd: str) -> str:
    """Return `path` relative to `root` if it is inside, else in full, with slashes. Nothing is read from disk.

    A relative path counts from `cwd`. Windows' drives, shares and backslashes are understood on every machine, and
    compared without case. "" for no path.
    """
    path = _legible(path.strip()[:_MAX_PATH_CHARS])
    if not path:
        return ""
    windows = any(map(_is_windows, (path, root, cwd)))
    if windows:
        path, root, cwd = (_slashed(place) for place in (path, root, cwd))
    full = posixpath.normpath(path if _is_absolute(path) else f"{cwd}/{path}" if cwd else path)
    top = posixpath.normpath(root) if root else ""
    if not top:
        return full
    inside = top.rstrip("/") + "/"
    start, whole = (full.lower(), inside.lower()) if windows else (full, inside)
    if start == whole[:-1]:
        return "."
    return full[len(inside) :] if start.startswith(whole) else full


def _is_windows(path: str) -> bool:
    return path.startswith("\\\\") or (path[1:3] in (":\\", ":/") and path[0].isalpha())


def _slashed(path: str) -> str:
    return path.removeprefix("\\\\?\\").replace("\\", "/")


def _is_absolute(path: str) -> bool:
    return path[0] in "/~" or (path[1:3] == ":/" and path[0].isalpha())


def _legible(path: str) -> str:
    if path.isprintable():
        return path
    return "".join([c if note.is_legible(c) else "\ufffd" for c in path])
