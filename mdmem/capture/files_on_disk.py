"""Files on disk: which of them tell what is private in a tool run that shows or changes only a part of one.

The tags of a private section may stand in lines that the run does not show: an edit inside of it, a few lines of the
file, what `grep` found in it. And the instructions, which agents read without a tool run.
"""

from __future__ import annotations

import os

from mdmem import agents, config, files, privacy
from mdmem.agents import aliases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mdmem.agents import Event

MAX_BYTES = 2 << 20
"""Of a file, only so much is looked at."""

_EDITS = frozenset(["Edit", "MultiEdit", "NotebookEdit", "Patch"])
_NEVER = frozenset([
    "Write", "Glob", "WebFetch", "WebSearch", "Agent", "Task", "TaskCreate", "TaskUpdate", "TodoWrite", "ExitPlanMode",
    "AskUserQuestion", "Skill",
])  # fmt: skip
"""The tools that show no part of a file, or tell all of it."""

_TAG_SIGNS = (b"<", b"< ", b"[", b"[ ", b"/", b"--", b"-- ", b"\xef\xbc\x9c", b"\xef\xbc\xbb", b"3c", b"5b")
"""What may stand before the word of a tag; most files that have the word have no tag."""

_PATH_KEYS = ("file_path", "path", "relative_path", "filename", "file", "uri", "paths", "files")
_TEXT_KEYS = ("stdout", "content", "output", "llmContent", "text")
_NO_NAME = str.maketrans(dict.fromkeys("\"'`=<>;|&()$@{},", " "))
_MOST_EDITED = 20
_MOST_SHOWN = 12
_MOST_NAMES = 100
_MOST_LINES = 400
_MOST_FOLDERS = 4
_LONGEST_NAME = 400


def beside(event: Event, tags: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files that may hold private tags of which a run does not tell.

    files_after: an edit was made in them. files_shown: the run may show a part of them.
    """
    if isinstance(event.tool_response, dict) and isinstance(event.tool_response.get("originalFile"), str):
        return {}  # the agent itself tells what the file held before an edit
    name, given = aliases.resolve(event.tool, event.tool_input if isinstance(event.tool_input, dict) else {})
    found: dict[str, list[str]] = {}
    if name in _EDITS:
        paths = [os.path.join(event.cwd, os.path.expanduser(path)) for path in _edited(given)]
        found = {"files_after": list(_tagged(paths, tags, follow=False))}
    elif name not in _NEVER:
        found = {"files_shown": list(_tagged(_shown(event, given), tags, follow=True))}
    return {key: texts for key, texts in found.items() if texts}


def _tagged(paths: Iterable[str], tags: tuple[str, ...], *, follow: bool) -> Iterator[str]:
    for path in paths:
        try:
            data = files.read_any(path, MAX_BYTES, follow=follow)
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


# -- what a run may show


def _shown(event: Event, given: dict[str, Any]) -> list[str]:
    """List the paths of the files that a run names, in its input or in what it printed."""
    command = given.get("command")
    if isinstance(command, list):
        command = " ".join([word for word in command if isinstance(word, str)])
    words = _words(command) if isinstance(command, str) else []
    folders = dict.fromkeys([event.cwd, *_folders(event.cwd, words)])
    named = [*_paths(given), *words, *_listed(_output(event.tool_response))]
    found: dict[str, None] = {}
    for name in list(dict.fromkeys(named))[:_MOST_NAMES]:
        if name[:1] == "-" or len(name) > _LONGEST_NAME:
            continue
        for folder in folders:
            for path in _matching(os.path.join(folder, os.path.expanduser(name))):
                if os.path.isfile(path):
                    found[path] = None
        if len(found) >= _MOST_SHOWN:
            break
    return list(found)[:_MOST_SHOWN]


def _paths(given: dict[str, Any]) -> Iterator[str]:
    """List the paths that the input of a run holds under the keys for paths."""
    for key in _PATH_KEYS:
        value = given.get(key)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str):
                yield path.removeprefix("file://")


def _words(command: str) -> list[str]:
    """List the words of a command that may name files, and their parts around a colon, as in `HEAD:plan.md`."""
    for name, value in (("PWD", "."), ("HOME", "~")):
        command = command.replace(f"${name}", value).replace(f"${{{name}}}", value)
    words = command.translate(_NO_NAME).split()
    return [*words, *[part for word in words if ":" in word for part in word.split(":") if part]]


def _folders(cwd: str, words: list[str]) -> list[str]:
    """List the folders that a command goes into, which its paths may begin from."""
    entered = [word for before, word in zip(words, words[1:], strict=False) if before in _ENTERING]  # noqa: RUF007 - one import less
    return [os.path.join(cwd, os.path.expanduser(word)) for word in entered[:_MOST_FOLDERS]]


_ENTERING = ("cd", "pushd", "-C")


def _matching(path: str) -> list[str]:
    """List the files that a path with signs for any characters stands for."""
    if "*" not in path and "?" not in path:
        return [path]
    from fnmatch import fnmatch

    folder, name = os.path.split(path)
    try:
        return [os.path.join(folder, found) for found in sorted(os.listdir(folder)) if fnmatch(found, name)][
            :_MOST_SHOWN
        ]
    except OSError:
        return []


def _output(response: Any) -> str:
    if isinstance(response, dict):
        response = next((response[key] for key in _TEXT_KEYS if isinstance(response.get(key), (str, list))), "")
    if isinstance(response, list):
        blocks = [block.get("text") if isinstance(block, dict) else block for block in response[:_MOST_SHOWN]]
        response = "\n".join([block for block in blocks if isinstance(block, str)])
    return response if isinstance(response, str) else ""


def _listed(output: str) -> Iterator[str]:
    """List the files of which an output shows lines: `path:12:…`, `a.path:…`, `+++ b/path` of a patch, a heading."""
    lines = output.split("\n", _MOST_LINES)[:_MOST_LINES] if ":" in output or "+++ " in output else ()
    heading = ""
    for line in lines:
        if line.startswith(("+++ b/", "diff --git a/")):
            yield line.rpartition(" b/")[2].rstrip()
        elif ":" in line[:200]:
            name, _, rest = line.partition(":")
            if name.isdecimal():
                yield heading
            elif (rest[:1].isdecimal() or not rest.strip() or "." in name) and " " not in name:
                yield name
        heading = line.strip() if " " not in line.strip() else ""


def private_instructions(event: Event, rules: privacy.Rules) -> tuple[str, ...]:
    """Return what is private in the instructions that agents read when a session starts, which no hook is told."""
    home, folder = config.home(), event.cwd
    own = agents.load(event.agent).folder(os.environ)
    paths = [f"{home}/{path}" for path in _OWN_INSTRUCTIONS] + [f"{own}/{name}" for name in _IN_OWN_FOLDER]
    while os.path.isabs(folder) and len(paths) < _MOST_PATHS:
        paths += [f"{folder}/{name}" for name in _INSTRUCTIONS]
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return _private_in(paths, rules)


def private_mentions(event: Event, rules: privacy.Rules) -> tuple[str, ...]:
    """Return what is private in the files that a prompt, a skill or an agent's name makes the agent read.

    No hook is told of their texts: `@plan.md` in a prompt, `/command`, and what `Skill` and `Agent` are given.
    """
    given = event.tool_input if isinstance(event.tool_input, dict) else {}
    names = [name for key in _NAME_KEYS if isinstance(name := given.get(key), str)]
    if event.prompt[:1] == "/":
        names.append(event.prompt[1:].split(None, 1)[0] if event.prompt[1:].strip() else "")
    paths = _mentioned(event.prompt, event.cwd)
    tops = [f"{top}/{folder}" for top in (event.cwd, config.home()) for folder in _AGENT_FOLDERS]
    tops.append(agents.load(event.agent).folder(os.environ))
    for name in filter(None, names):
        base = name.replace(":", "/")
        paths += [f"{top}/{form.format(base)}" for top in tops for form in _NAMED]
    return _private_in(paths, rules)


_NAME_KEYS = ("skill", "command", "subagent_type")
_AGENT_FOLDERS = (".claude", ".codex", ".gemini", ".opencode")
_NAMED = ("commands/{}.md", "command/{}.md", "commands/{}.toml", "prompts/{}.md", "skills/{}/SKILL.md", "agents/{}.md")
"""Where agents keep commands, skills and agents, below their folders."""


def _mentioned(text: str, folder: str) -> list[str]:
    """List the files that a text names with an `@` before them, as prompts and instructions do."""
    found = []
    for part in text.split("@", _MOST_MENTIONS)[1:]:
        name = part[1:].partition('"')[0] if part[:1] == '"' else (part.split(None, 1) or [""])[0]
        name = name.partition("#")[0].rstrip(".,;:!?)`'\"")
        if 0 < len(name) <= _LONGEST_NAME and "\0" not in name:
            found.append(os.path.join(folder, os.path.expanduser(name)))
    return found


def _private_in(paths: list[str], rules: privacy.Rules) -> tuple[str, ...]:
    """Return what private sections of files say, and of those that they name with an `@`, a few hops away."""
    spans: tuple[str, ...] = ()
    looked_into = set(paths)
    waiting = [(path, _HOPS) for path in paths]
    for path, hops in waiting:  # it grows meanwhile
        if not os.access(path, os.R_OK):
            continue
        try:
            text = files.read_any(path, _MAX_INSTRUCTIONS_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError):
            continue
        if privacy.may_hold_private(text, rules):
            spans += privacy.clean(text, rules=rules, origin="tool").spans
        further = _mentioned(text, os.path.dirname(path)) if "@" in text and hops else ()
        waiting += [(name, hops - 1) for name in further if name not in looked_into][: _MOST_MENTIONS - len(waiting)]
        looked_into.update(further)
    return spans


_INSTRUCTIONS = (
    "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md",
)  # fmt: skip
"""What agents load of the folder that they work in, and of those above it: all that `install.known` lists."""
_OWN_INSTRUCTIONS = (".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md")
"""What they load of the user's own, below the home folder: some agents load another one's."""
_IN_OWN_FOLDER = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md")
"""The same of the agent's own folder, wherever that is."""
_MOST_PATHS = 52
"""Each costs a system call when a session starts; they reach eight folders up."""
_MAX_INSTRUCTIONS_BYTES = 1 << 20
_HOPS, _MOST_MENTIONS = 3, 300
"""So far, and so many, are the files followed that prompts and files name with an `@`; decorators look like them."""
