"""Table: what a note stores of a tool run, one row of `TOOLS` per tool.

The run is already cleaned. Nothing here reads a file or raises, whatever the fields hold: a tool that answers in an
unknown form still leaves a note that shows it.
"""

from __future__ import annotations

from mdmem.agents import aliases
from mdmem.capture.tools import body
from mdmem.capture.tools.body import Part
from mdmem.capture.tools.run import Run, RunFacts, answer, few, items, mapping, path, paths, short, text
from mdmem.slug import slug
from mdmem.vault.note import OF_TOOL, Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mdmem.capture.tools.limits import Limits

MAX_TITLE_CHARS = 120

TOOLS = {
    "Read": ("files", "read"),
    "Write": ("files", "write"),
    "Edit": ("files", "edit"),
    "MultiEdit": ("files", "multi_edit"),
    "NotebookEdit": ("files", "notebook_edit"),
    "Patch": ("files", "patch"),
    "Bash": ("commands", "bash"),
    "PowerShell": ("commands", "powershell"),
    "Glob": ("searches", "glob"),
    "Grep": ("searches", "grep"),
    "WebFetch": ("searches", "web_fetch"),
    "WebSearch": ("searches", "web_search"),
    "Agent": ("teamwork", "agent"),
    "Task": ("teamwork", "agent"),
    "TaskCreate": ("teamwork", "task_create"),
    "TaskUpdate": ("teamwork", "task_update"),
    "TodoWrite": ("teamwork", "todo_write"),
    "AskUserQuestion": ("teamwork", "ask_user_question"),
    "ExitPlanMode": ("teamwork", "exit_plan_mode"),
    "Skill": ("teamwork", "skill"),
}
"""Tool -> the module in this folder, and its function that describes a run.

Only that module is loaded. MCP tools and unknown tools need no row. `aliases.ALIASES` has other agents' names of
these tools."""

# The most telling arguments of a tool without a row.
_FILE_KEYS = ("file_path", "filePath", "notebook_path", "path", "absolute_path", "target_file")
_MAIN_KEYS = ("query", "q", "pattern", "question", *_FILE_KEYS, "url", "uri", "name", "title", "command", "sql")


def describe(
    tool: str, tool_input: Any, response: Any, *, error: str | None, root: str, cwd: str, limits: Limits
) -> Draft:
    """Return what a note stores of one run of `tool`.

    tool_input, response: any JSON value, already cleaned.
    error: None if the run succeeded, else the agent's message, possibly "".
    root, cwd: the project's folder and the working directory; files inside `root` are named relative to it.

    The title has at most 120 characters, the body at most 48 KiB of UTF-8.
    """
    name, arguments = aliases.resolve(tool, _mapping(tool_input))
    run = Run(tool, arguments, response, _failure(error, response), root, cwd, limits)
    facts = row(name)(run)
    meta = {**facts.meta, "error": _reason(run.failure or "") or facts.meta.get("error")}
    parts = facts.parts if run.failure is None else [*facts.parts, _error(run.failure)]
    front_matter = {key: meta[key] for key in OF_TOOL if meta.get(key) not in (None, "", [])}
    failed = run.failure is not None or bool(meta.get("exit_code") or facts.meta.get("error"))
    if failed:
        front_matter["success"] = False  # even if the agent calls it a success
    return Draft(
        _title(facts, tool, failed), slug(facts.about) or slug(facts.title), front_matter, body.render(parts, limits)
    )


def _mapping(tool_input: Any) -> dict[str, Any]:
    return tool_input if isinstance(tool_input, dict) else {"input": tool_input} if tool_input else {}


def row(name: str) -> Callable[[Run], RunFacts]:
    """Return the function that describes a tool's runs; it may use only front matter keys in `note.OF_TOOL`."""
    if name in TOOLS:
        module, function = TOOLS[name]
        loaded = __import__(f"mdmem.capture.tools.{module}", fromlist=[function])
        described: Callable[[Run], RunFacts] = getattr(loaded, function)
        return described
    return _mcp if name.startswith(("mcp_", "MCP:")) else _any_tool


def _failure(error: str | None, response: Any) -> str | None:
    """Return why the run failed: the event's error, or the response's if the agent calls every run a success."""
    if error is not None:
        return error
    result = mapping(response)
    error_value = result.get("error")
    message = text(error_value, "message") or (error_value if isinstance(error_value, str) else "")
    if not message and (
        result.get("isError") is True or result.get("is_error") is True or result.get("success") is False
    ):
        return answer(response)
    return message or None


def _error(failure: str) -> Part:
    return Part("Error", failure, screen=True) if failure.strip() else Part(lines=["It failed; no reason was given."])


def _reason(failure: str) -> str:
    """Return the line of an error that says what failed, else its first line; the exit code is stored elsewhere.

    A Python traceback says it in its last line, pytest in the first one that begins with `E`.
    """
    lines = failure[:4000].split("\n")
    telling = [line for line in lines if line.strip() and not line.startswith("Exit code ") and not _is_heading(line)]
    if telling and telling[0].startswith("Traceback ("):
        telling = [line for line in failure[-4000:].split("\n") if line.strip() and not line[:1].isspace()][-1:]
    raised = [line for line in telling if line.startswith("E   ")]
    stated = [line for line in telling if any(word in line.lower() for word in _STATED)]
    return short([*raised, *stated, *telling, lines[0]][0], 300)


def _is_heading(line: str) -> bool:
    """Whether a line is a heading between rules, `===== FAILURES =====`, or only names a file: `FAIL a.test.ts`.

    A count is none: `FAILED (failures=3)`.
    """
    bare, words = line.strip(), line.split()
    is_ruled = bare[:3] == bare[-3:] and bare[:3] in ("===", "___", "---", "***")
    return is_ruled or (len(words) == 2 and words[0] in ("FAIL", "FAILED") and words[1][0] != "(")


_STATED = ("error", "fatal", "panic", "fail", "cannot", "could not", "not found", "no such", "denied", "refused")


def _title(facts: RunFacts, tool: str, failed: bool) -> str:
    end = f" ({facts.outcome or 'failed'})" if failed or facts.outcome else ""
    room = MAX_TITLE_CHARS - len(end)
    return (short(facts.title, room) or short(tool, room) or "Tool") + end


def _mcp(run: Run) -> RunFacts:
    """Describe an MCP tool's run: its input and its response."""
    plain = run.tool.removeprefix("MCP:").removeprefix("mcp_").strip("_").removeprefix("plugin_")
    server, _, name = plain.partition("__")
    return _describe_unknown(run, f"{short(server, 40)} {short(name, 60)}".strip())


def _any_tool(run: Run) -> RunFacts:
    """Describe the run of a tool without a row."""
    return _describe_unknown(run, short(run.tool, 60) or "Tool")


def _describe_unknown(run: Run, label: str) -> RunFacts:
    main = _main(run.input)
    files = [value for key, value in run.input.items() if key in _FILE_KEYS]
    several = [value for key in ("paths", "files", "file_paths") for value in items(run.input.get(key))]
    url = text(run.input, "url", "uri")
    meta = {
        "files": few(paths(run, [*files, *several])),
        "command": short(text(run.input, "command"), 400),
        "pattern": short(text(run.input, "pattern", "query"), 200),
        "url": short(url, 500) if url.startswith("http") else "",
    }
    parts = [Part("Input", _outline(run, run.input)), _result(run)]
    shown = path(run, main) if main in files else short(main, 60)
    about = f"{label} {shown}".strip()
    return RunFacts(f"{label}: {shown}" if shown else label, about, meta, parts)


def _main(tool_input: dict[str, Any]) -> str:
    """Return the most telling argument, for the title."""
    telling = text(tool_input, *_MAIN_KEYS)
    if telling:
        return telling
    texts = [value for value in tool_input.values() if isinstance(value, str) and 0 < len(value) <= 200]
    return texts[0] if texts else ""


def _result(run: Run) -> Part:
    output = answer(run.response)
    if output:
        return Part(
            "Result", output, "json" if output[:1] in "{[" and output.rstrip()[-1:] in "}]" else "text", screen=True
        )
    if run.response in (None, "", [], {}):
        return Part(lines=["No result."] if run.failure is None else [])
    return Part("Result", _outline(run, run.response))


def _outline(run: Run, value: Any) -> str:
    from mdmem.capture.tools import outline  # common tools do not need it

    return outline.render(value, run.limits) if value else ""
