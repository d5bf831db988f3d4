"""Tool run: stores a run as an observation, unless it only reads mdmem's own memory."""

from __future__ import annotations

from mdmem import privacy, project
from mdmem.agents import aliases, command_line, goes_on
from mdmem.capture import turn
from mdmem.capture.pending import OWN_LOOKUP, Capture, Outcome, PendingNote
from mdmem.capture.store import store
from mdmem.capture.tools import limits, table
from mdmem.vault import exclusions, note, template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.agents import Event

LATER = ("async_launched", "remote_launched")
"""Status of a run whose sub-agent has not answered yet: the keys of `teamwork.LATER`, which few hooks load."""

_COMMIT_SECONDS = 600.0
"""Maximum age of a commit, when the hook runs, to count as made by the command."""


def keep(capture: Capture) -> Outcome:
    """Store a tool run that nothing excludes."""
    event = capture.event
    if _is_lookup(event):
        return Outcome(OWN_LOOKUP)
    tool = aliases.resolve(event.tool, {})[0]
    is_answer = tool == "AskUserQuestion"
    response = _as_typed(event.tool_response) if is_answer else event.tool_response
    source = {"tool": event.tool, "input": event.tool_input, "response": response, "error": event.error}
    if capture.live:
        from mdmem.capture.tools import files_on_disk

        files_read = files_on_disk.not_shown(event, capture.rules.tags)
        source |= files_read
        if files_read and (goes_on(event.tool_response) or _passes_on(event.tool_input)):
            _learn_of(files_read, capture)
    identity = _identity(event)
    is_list = identity[:1] == (_TODO,)
    draft = PendingNote(
        "observation",
        source,
        lambda clean: _draft(capture, clean),
        identity=identity,
        label="tool",
        meta={
            "kind": "plan" if is_list else None,  # it says what is planned, not what was done
            "tool": event.tool,
            "success": _is_success(event),
            "duration_ms": event.duration_ms,
        },
        tags=("plan" if is_list else "observation",),
        origin="prompt" if is_answer else "tool",
        is_state=is_list,
    )
    outcome = store(capture, draft)
    if outcome.added and type(event.tool_response) is dict and event.tool_response.get("status") in LATER:
        from mdmem.capture.later import awaited

        awaited.begin(capture, outcome)
    return outcome


def _learn_of(files_read: dict[str, list[str]], capture: Capture) -> None:
    """Remember what is private in the files of a command that goes on or writes: it comes later, without its name."""
    texts = [text for contents in files_read.values() for text in contents]
    spans = [span for text in texts for span in privacy.clean(text, rules=capture.rules, origin="tool").spans]
    turn.learn(capture, tuple(spans))


def _passes_on(tool_input: Any) -> bool:
    """Whether a command writes what it reads to another file: `grep … plan.md > out.txt`, `cp plan.md b.md`."""
    command = command_line(tool_input, "command", "cmd")
    for redirection in ("2>", ">/dev/null", "> /dev/null"):
        command = command.replace(redirection, "")
    return ">" in command or not _WRITING.isdisjoint(command.split())


_WRITING = frozenset(("cp", "dd", "install", "ln", "mv", "rsync", "split", "csplit", "tee"))


def _as_typed(answer: Any) -> Any:
    """Mark the strings of a person's answer as typed. The agent's questions in it are treated alike."""
    if isinstance(answer, str):
        return privacy.as_typed(answer)
    if isinstance(answer, dict):
        return {key: _as_typed(item) for key, item in answer.items()}
    return [_as_typed(item) for item in answer] if isinstance(answer, list) else answer


def _is_success(event: Event) -> bool | None:
    """Whether a run succeeded; None while nobody knows."""
    return None if event.error is None and goes_on(event.tool_response) else event.error is None


def _draft(capture: Capture, clean: Any) -> note.Draft | None:
    removed: list[str] = []
    facts = table.describe(
        clean["tool"],
        clean["input"],
        exclusions.without_excluded(capture.config, clean["response"], capture.project, capture.event.cwd, removed),
        error=exclusions.without_excluded(capture.config, clean["error"], capture.project, capture.event.cwd, removed),
        root=capture.project.worktree,
        cwd=capture.event.cwd,
        limits=limits.Limits.of(capture.config.settings.capture),
    )
    if exclusions.excludes_paths(capture.config, capture.project):
        from mdmem.capture.tools import excluded

        if excluded.is_about(
            capture, capture.event.tool_input, facts.meta.get("files", ())
        ):  # a cleaned name may be unknown
            _learn_values(capture, [clean["input"], clean["response"], clean["error"]])
            return None
        if removed:
            _learn_values(capture, ["".join(removed)])
    if capture.live and "commit" in facts.meta.get("command", ""):
        _add_commit(capture, facts.meta)
    values = {"title": facts.title, "body": facts.body}
    body = template.fill(template.load("notes/observation.md", capture.config.vault), values)
    return note.Draft(facts.title, facts.slug, facts.meta, body)


def _learn_values(capture: Capture, shown: list[Any]) -> None:
    """Remember the values that a run shows of an excluded file: what uses them shows them without its name."""
    from mdmem.capture.tools import excluded

    turn.learn(capture, (), excluded.values_in(shown))


_TODO = "to-do list"


def _identity(event: Event) -> tuple[str, ...]:
    """Return the identity of a run; all to-do lists of a session share one, so that the last one counts."""
    if event.error is None and aliases.resolve(event.tool, {})[0] == "TodoWrite":
        return (_TODO, event.extra.get("agent_id", ""))
    return (event.tool_use_id,) if event.tool_use_id else ()


def _add_commit(capture: Capture, meta: dict[str, Any]) -> None:
    """Add the commit a command has made, read from git, because git may have been told to be quiet."""
    words = meta["command"].split()
    if meta.get("success") is False or "git" not in words or "commit" not in words:
        return
    commit, subject, seconds = project.last_commit(capture.project.worktree)
    printed = str(meta.get("made_commit", ""))
    if (
        commit
        and capture.now - _COMMIT_SECONDS <= seconds <= capture.now + 60
        and (not printed or commit[:7] in printed)
    ):
        meta["made_commit"] = printed or commit
        meta["commit_subject"] = subject


def _is_lookup(event: Event) -> bool:
    """Whether a shell command only reads mdmem's memory; if it does more, drop mdmem's output from the event."""
    command = command_line(event.tool_input, "command", "cmd")
    if "mdmem" not in command:
        return False
    from mdmem.capture.tools import lookups

    kind = lookups.kind(command)
    if kind == "some" and "mdmem-context" not in repr(event.tool_response):  # the gate removes a fence itself
        event.tool_response, event.error = lookups.REMARK, None if event.error is None else lookups.REMARK
    return kind == "all"
