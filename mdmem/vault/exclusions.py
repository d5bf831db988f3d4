"""What is not stored: capture is off, paused, or excludes a tool, a project or a path."""

from __future__ import annotations

import os

from mdmem import files, system
from mdmem.agents import aliases
from mdmem.config import FALSE
from mdmem.project import folder_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from mdmem.config import Config
    from mdmem.project import Project

IGNORE_FILE = ".mdmemignore"
MAX_IGNORE_BYTES = 64 * 1024
_LONGEST_PATH = 4096


def is_off(config: Config, session_key: str, env: Mapping[str, str]) -> bool:
    """Whether storing is switched off (MDMEM_DISABLED, MDMEM_CHILD), or paused for all sessions or this one."""
    if is_disabled(env):
        return True
    if not any(files.may_exist(os.path.join(config.state_dir, name)) for name in ("paused", f"paused-{session_key}")):
        return False
    from mdmem.vault import pauses

    return pauses.pause_of(config) is not None or (
        session_key != "" and pauses.pause_of(config, session_key) is not None
    )


def is_disabled(env: Mapping[str, str]) -> bool:
    """Whether mdmem must do nothing: switched off by the user, or run by a program that mdmem started."""
    return env.get("MDMEM_DISABLED", "").strip().lower() not in FALSE or bool(env.get("MDMEM_CHILD"))


def takes_tool(config: Config, tool: str) -> bool:
    """Whether runs of a tool are stored. A glob may name it as the agent does, or as Claude Code does, in any case."""
    names = {tool, aliases.resolve(tool, {})[0]}
    if _names_any(config.settings.capture.exclude_tools, names):
        return False
    patterns = config.settings.capture.tools
    return patterns == ["*"] or _names_any(patterns, names)


def _names_any(patterns: Iterable[str], names: Iterable[str]) -> bool:
    return any(matches(pattern.lower(), name.lower()) for pattern in patterns for name in names)


def excludes_project(config: Config, name: str) -> bool:
    """Whether the settings exclude the project with this name, in any case."""
    return _names_any(config.settings.capture.exclude_projects, [name])


def takes_project(config: Config, project: Project, cwd: str) -> bool:
    """Whether a project, with `cwd` as the working folder, is stored."""
    capture = config.settings.capture
    if cwd[:1] == "[" and (capture.exclude_projects or capture.exclude_paths):
        from mdmem.privacy import withheld

        if cwd == withheld.MARK:
            return False  # nobody knows which project it is
    if capture.exclude_projects and _is_excluded(config, project):
        return False
    return takes_path(config, cwd or project.root, project)


def _is_excluded(config: Config, project: Project) -> bool:
    """Whether the settings exclude a project by one of its names: that of its remote, of its folder, or in the journal.

    A project gets the first when it gets a remote, and a person may rename its folder in the journal.
    """
    if any(excludes_project(config, name) for name in (project.name, folder_name(project.root))):
        return True
    from mdmem import privacy
    from mdmem.vault import projects

    clean = projects.cleaner(privacy.Rules.of(config.settings))
    return excludes_project(config, projects.find(config, project, clean))


def takes_path(config: Config, path: str, project: Project) -> bool:
    """Whether notes about a file or folder are stored, by the settings and the project's `.mdmemignore`."""
    takes = _taker(config, project)
    return takes is None or takes(path)


def _taker(config: Config, project: Project) -> Callable[[str], bool] | None:
    """Return the function that says whether notes about a file or folder are stored; None if no path is excluded."""
    patterns = [_in_any_folder(os.path.expanduser(pattern)) for pattern in config.settings.capture.exclude_paths]
    ignored = ignore_patterns(project.worktree)
    if not (patterns or ignored):
        return None

    def takes(path: str) -> bool:
        if any(covers(pattern, path) for pattern in patterns):
            return False
        if not ignored:
            return True
        relative = os.path.relpath(path, project.worktree).replace(os.sep, "/") if os.path.isabs(path) else path
        if relative == ".." or relative.startswith("../"):
            return True
        return not _is_ignored(ignored, "" if relative == "." else relative)

    return takes


def _in_any_folder(pattern: str) -> str:
    """Return a pattern that begins at no folder, such as `.env`, as one that matches below any."""
    return pattern if os.path.isabs(pattern) or pattern.startswith("**") else f"**/{pattern.removeprefix('./')}"


def excludes_paths(config: Config, project: Project) -> bool:
    """Whether settings or `.mdmemignore` exclude any path."""
    return _taker(config, project) is not None


def without_excluded(
    config: Config, response: Any, project: Project, cwd: str = "", removed: list[str] | None = None
) -> Any:
    """Remove excluded files from a tool's response or error: from a list of files, and what is printed about them.

    Printed lines count that begin with their path, as a search prints them, those below a heading that names one, and
    their parts of a diff. cwd: the folder that relative paths are in; by default the project's.
    removed: collects the printed lines that are removed.
    """
    if not response or not isinstance(response, (str, list, dict)):
        return response
    takes = _taker(config, project)
    if takes is None:
        return response
    verdicts: dict[str, bool] = {}

    def is_taken(path: Any) -> bool:
        if not isinstance(path, str):
            return True
        if path not in verdicts:
            verdicts[path] = takes(os.path.normpath(os.path.join(cwd or project.worktree, path)))
        return verdicts[path]

    def without(value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return "".join(_taken_lines(value, is_taken, project.worktree, [] if removed is None else removed))
        if isinstance(value, list) and depth < _DEEPEST:
            return [without(item, depth + 1) for item in value]
        if isinstance(value, dict) and depth < _DEEPEST:
            parts = {name: without(item, depth + 1) for name, item in value.items() if name in _PRINTED}
            files = value.get("filenames")
            parts |= {"filenames": [path for path in files if is_taken(path)]} if isinstance(files, list) else {}
            return {**value, **parts}
        return value

    return without(response, 0)


_PRINTED = frozenset(("content", "error", "output", "stderr", "stdout", "text"))
"""Fields of a response for what was printed."""
_DEEPEST = 4


def _taken_lines(text: str, is_taken: Callable[[str], bool], root: str, removed: list[str]) -> Iterator[str]:
    """Yield the lines that are about no excluded file, and collect the others in `removed`.

    root: the folder that paths in a diff of git are in.
    """
    hides = ""  # how the heading of an excluded file began
    for line in text.splitlines(keepends=True):
        kind, paths = _heading(line, root)
        if kind and (kind != "+++ " or not hides):
            hides = "" if all(map(is_taken, paths)) else kind
        elif hides == _NAME and not line[:1].isdecimal():
            hides = ""
        if hides != _NAME and not kind and not hides and not is_taken(line.strip()):
            hides = _NAME
            continue
        if not hides and all(map(is_taken, _paths_before(line))):
            yield line
        else:
            removed.append(line)


_NAME = "name"
"""A heading that is only a path: numbered lines of that file follow, as `rg --heading` prints them."""


def _heading(line: str, root: str) -> tuple[str, list[str]]:
    """Return the kind of a heading above lines of a file, and the paths that it may name; "" for another line."""
    if line.startswith("==> "):  # head, tail
        return "==> ", [line.strip().removeprefix("==> ").removesuffix(" <==")]
    if line.startswith("diff --git "):
        paths = line.rstrip().removeprefix("diff --git ")  # "a/PATH b/PATH", unless the file was renamed
        path = paths[len(paths) // 2 + 1 :]
        return "diff ", [os.path.join(root, path), os.path.join(root, path.partition("/")[2] or path)]
    for sign in ("diff ", "--- ", "+++ "):
        if line.startswith(sign):
            path = line.rstrip().removeprefix(sign).partition("\t")[0].rpartition(" ")[2]
            return sign, [path, path.partition("/")[2] or path]
    return "", []


def _paths_before(line: str) -> list[str]:
    """Return what may be the path before a line of a search result: `PATH:3:text`, or `PATH-4-text` beside a hit."""
    parts = line[:_LONGEST_PATH].split("-")
    with_number = ["-".join(parts[:place]) for place, part in enumerate(parts[:-1]) if place and part.isdecimal()]
    return [path for path in (line.partition(":")[0].strip(), *with_number) if path]


def ignore_patterns(root: str) -> list[str]:
    """Read a project's `.mdmemignore`: one glob per line, `#` for comments, `!` to negate; a lone `*` means all.

    Unlike in git's files, a line may begin with `./`, or be the whole path of something in the project. A file that
    cannot be read excludes the whole project, since nothing tells what it excludes.
    """
    try:
        text = _read_ignore_file(os.path.join(root, IGNORE_FILE))
    except (OSError, ValueError):
        return ["*"]
    lines = [line.strip() for line in text.removeprefix("\ufeff").splitlines()]  # Windows' editors begin with it
    lines = [line for line in lines if line and not line.startswith("#")]
    # git knows no remark after a pattern; whoever writes one means it
    lines += [line.partition(" #")[0].rstrip() for line in lines if " #" in line and not line.startswith("!")]
    return [_from_root(line, root) for line in lines]


def unread(config: Config, project: Project) -> str:
    """Return why nothing of a project is stored if a file that may exclude it cannot be read; "" if all can."""
    settings_file = next((str(text) for text in config.warnings if getattr(text, "excludes_all", False)), "")
    return settings_file or unread_ignore_file(project.worktree)


def unread_ignore_file(root: str) -> str:
    """Return why nothing of a project is stored if its `.mdmemignore` cannot be read; "" if it can or is missing."""
    path = os.path.join(root, IGNORE_FILE)
    try:
        _read_ignore_file(path)
    except (OSError, ValueError) as error:
        why = "it is no UTF-8 text" if isinstance(error, ValueError) else error.strerror or type(error).__name__
        why = why[:1].lower() + why[1:].rstrip(".")
        return f"Nothing of this project is stored for now: {path} cannot be read ({why}). Fix or delete it."
    return ""


def _read_ignore_file(path: str) -> str:
    """Return the text of a project's `.mdmemignore`, "" if it is missing.

    Raises OSError or ValueError when it is there and cannot be read.
    """
    try:
        data = files.read_any(path, MAX_IGNORE_BYTES + 1)
    except (OSError, ValueError):
        if os.path.lexists(path):
            raise
        return ""  # also where no file can be
    if len(data) > MAX_IGNORE_BYTES:
        raise OSError(system.code("EFBIG"), f"it is longer than {MAX_IGNORE_BYTES // 1024} KB", path)
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")  # PowerShell writes UTF-16


def _from_root(pattern: str, root: str) -> str:
    """Return a pattern that begins at the project's folder `root` in git's notation, with a slash; others unchanged."""
    negation = "!" if pattern.startswith("!") else ""
    path = os.path.expanduser(pattern.lstrip("!"))
    below = path.removeprefix(f"{root.rstrip('/')}/") if path.startswith("/") else path.removeprefix("./")
    return pattern if below == path else f"{negation}/{below}"


def _is_ignored(patterns: Iterable[str], relative: str) -> bool:
    ignored = False
    for pattern in patterns:
        negated = pattern.startswith("!")
        glob = pattern.lstrip("!").rstrip("/")
        everything = glob in ("*", "**", "/", "")
        anchored = "/" in glob.strip("/") or glob.startswith("/")
        glob = glob.lstrip("/") if anchored else f"**/{glob}"
        if everything or (relative and covers(glob, relative)):
            ignored = not negated
    return ignored


def covers(pattern: str, path: str) -> bool:
    """Whether a glob matches this path or a folder above it; `**` matches any number of folders."""
    parts = pattern.replace("\\", "/").rstrip("/").split("/")
    want = [part for part, before in zip(parts, ["", *parts], strict=False) if (part, before) != ("**", "**")]
    have = path.replace("\\", "/").rstrip("/").split("/")
    # Positions in the pattern reachable after each path component: linear time, no backtracking.
    reached = _skip({0}, want)
    for part in have:
        if len(want) in reached:
            return True
        step: set[int] = set()
        for place in reached:
            if want[place] == "**":
                step.add(place)
            elif matches(want[place], part):
                step.add(place + 1)
        reached = _skip(step, want)
    return len(want) in reached


def _skip(places: set[int], want: list[str]) -> set[int]:
    for place in sorted(places):
        while place < len(want) and want[place] == "**":
            place += 1
            places.add(place)
    return places


def matches(pattern: str, text: str) -> bool:
    """Whether a glob (`*` any characters, `?` one) matches the whole text; constant space, no regex."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == text
    p = t = 0
    star = mark = -1
    while t < len(text):
        if p < len(pattern) and pattern[p] == "*":
            star, mark = p, t
            p += 1
        elif p < len(pattern) and pattern[p] in ("?", text[t]):
            p += 1
            t += 1
        elif star >= 0:
            mark += 1
            p, t = star + 1, mark
        else:
            return False
    return pattern[p:].strip("*") == ""
