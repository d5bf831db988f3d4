"""EVENTS: what each hook event leaves in the vault.

`capture` is the write half's one entry: hooks and imports hand it an `Event`, it stores at most one note.
"""

from __future__ import annotations

import os

from mdmem import choice, note, privacy
from mdmem.capture import template, turn
from mdmem.capture.store import PRIVATE, Capture, Draft, Outcome, store
from mdmem.digest import short
from mdmem.errors import VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from mdmem.agents import Event
    from mdmem.config import Config


def capture(config: Config, event: Event, now: float, env: Mapping[str, str] | None = None) -> Outcome:
    """Store what an event leaves, at most one note and its session's page.

    now: when it happened, in seconds since the epoch.

    Raises:
        OSError, VaultError: only for faults of mdmem's own folders; a note that could not be
            stored in the vault waits in the spool, and the outcome's `error` says so.
    """
    ignored = ignores(config, event)
    return Outcome(ignored) if ignored else handle(Capture(config, event, now), env)


def ignores(config: Config, event: Event) -> str:
    """Say why an event leaves nothing, as far as it tells by itself; "" when it may leave something."""
    if event.name not in EVENTS:
        return "unknown event"
    return "sub-agent" if event.subagent and not config.settings["capture.subagents"] else ""


def handle(at: Capture, env: Mapping[str, str] | None = None) -> Outcome:
    """Store what an event leaves, when it is none to be ignored; `capture` says the rest."""
    if choice.is_off(at.config, at.session.key, os.environ if env is None else env):
        return Outcome("switched off")
    if not choice.takes_project(at.config, at.project, at.event.cwd):
        return Outcome("excluded")
    if os.path.exists(os.path.join(at.config.state_dir, "spool")):
        _bring_home(at)
    return EVENTS[at.event.name](at)


def _bring_home(at: Capture) -> None:
    from mdmem import log
    from mdmem.capture import spool

    try:
        spool.bring_home(at.config, spool.MAX_AT_ONCE, at.session.key)
    except (OSError, VaultError) as error:
        log.write(at.config, "the spool could not be emptied", error)


# -- the rules -------------------------------------------------------------------------------------


def _session_start(at: Capture) -> Outcome:
    at.session.append("start", f"{at.now:.0f}", _why(at) or "startup")
    return Outcome("the session's start waits in state")


def _prompt(at: Capture) -> Outcome:
    from mdmem.agents import prompts

    given = at.event.prompt
    if not prompts.is_typed(given) or _is_scheduled(at, given):
        return Outcome("nobody typed this prompt")
    text = prompts.typed(given)
    before = given.strip().removesuffix(text)  # not stored; what was private in it is to be known again
    if not turn.OPENERS.isdisjoint(text):
        turn.mark_private(at)  # first: a hook killed from here on leaves the turn private
    extra = at.event.extra
    draft = Draft(
        "prompt",
        {
            "text": text,
            "before": before,
            "command": extra.get("command_name", ""),
            "arguments": extra.get("command_args", ""),
        },
        lambda clean: _prompt_draft(at.config, clean),
        identity=(at.event.prompt_id,) if at.event.prompt_id else (),
        origin="prompt",
        tags=("prompt",),
    )
    outcome = store(at, draft)
    if outcome.ignored == PRIVATE:
        turn.mark_private(at)
    elif outcome.id:
        turn.mark_open(at)
    return outcome


def _tool(at: Capture) -> Outcome:
    event = at.event
    if turn.is_private(at):
        return Outcome(PRIVATE)
    if not choice.takes_tool(at.config, event.tool):
        return Outcome("excluded tool")
    from mdmem.capture import limits, tools

    settings = at.config.settings

    def takes(path: str) -> bool:
        return choice.takes_path(at.config, path, at.project)

    def build(clean: Any) -> note.Draft | None:
        made = tools.describe(
            clean["tool"],
            clean["input"],
            choice.without_excluded(at.config, clean["response"], at.project),
            error=clean["error"],
            root=at.project.worktree,
            cwd=event.cwd,
            limits=limits.Limits(
                max_chars=settings["capture.max_chars"],
                max_lines=settings["capture.max_lines"],
                max_files=settings["capture.max_files"],
                fetch_chars=settings["capture.fetch_chars"],
            ),
        )
        if choice.excludes_paths(at.config, at.project) and not all(map(takes, _named(made.meta, at))):
            return None
        values = {"title": made.title, "body": made.body}
        body = template.fill(template.load("notes/observation.md", at.config.vault), values)
        return note.Draft(made.title, made.slug, made.meta, body)

    source = {"tool": event.tool, "input": event.tool_input, "response": event.tool_response, "error": event.error}
    draft = Draft(
        "observation",
        source,
        build,
        identity=(event.tool_use_id,) if event.tool_use_id else (),
        label="tool",
        meta={"tool": event.tool, "success": event.error is None, "duration_ms": event.duration_ms},
        tags=("observation",),
    )
    return store(at, draft)


def _stop(at: Capture) -> Outcome:
    known = at.session.lines("cron")
    for prompt in at.event.extra.get("crons", "").split("\0"):
        if prompt and [_cron(prompt)] not in known:
            at.session.append("cron", _cron(prompt))
    outcome = _said(at, Said("response"))
    at.update_page()
    return outcome


def _stop_failure(at: Capture) -> Outcome:
    """Store how a turn broke off: the host's error, under its short name, in place of an answer."""
    extra = at.event.extra
    error = at.event.error or extra.get("error", "") or "unknown"
    text = "\n\n".join(filter(None, [at.event.message, extra.get("error_details", "")])) or error
    outcome = _said(at, Said("response", text, origin="tool", meta={"success": False, "error": error}, tag="failed"))
    at.update_page()
    return outcome


def _subagent_stop(at: Capture) -> Outcome:
    """Store what a sub-agent answered. Two of one turn may say the same, so each is known by its own id."""
    said = Said("response", label="subagent", tag="subagent", of=at.event.extra.get("agent_id", ""))
    outcome = _said(at, said)
    at.update_page()
    return outcome


def _compact(at: Capture) -> Outcome:
    return _said(at, Said("summary", meta={"trigger": at.event.source}))


def _session_end(at: Capture) -> Outcome:
    at.session.append("end", f"{at.now:.0f}", _why(at))
    at.update_page()
    turn.end(at)
    return Outcome("the session's end is on its page")


def _why(at: Capture) -> str:
    """Say why a session began or ended, in a few clean words: state holds nothing private either."""
    why: str = privacy.clean(at.event.source, rules=at.rules, origin="tool").value
    return note.one_line(why, 60)


EVENTS: dict[str, Callable[[Capture], Outcome]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "UserPromptExpansion": _prompt,
    "PostToolUse": _tool,
    "PostToolUseFailure": _tool,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SubagentStop": _subagent_stop,
    "PostCompact": _compact,
    "SessionEnd": _session_end,
}
"""A hook event -> what it leaves. An event that is not here leaves nothing."""


# -- drafts ----------------------------------------------------------------------------------------


def _prompt_draft(config: Config, clean: dict[str, str]) -> note.Draft | None:
    """Make a note of what was typed; a slash command is its name and arguments, as the host read them if it said."""
    from mdmem.agents import prompts

    text = clean["text"].strip()
    name = clean["command"].strip().lstrip("/")
    slash = (f"/{name}", clean["arguments"].strip()) if name else prompts.command(text)
    meta: dict[str, Any] = {}
    if slash:
        text = " ".join(slash).strip()
        meta = {"command": note.one_line(slash[0], 80), "tags": ["prompt", "command"]}
    if not text:
        return None
    body = _cut(config, text)
    title = _first_line(text, config.settings["privacy.marker"])
    filled = template.fill(template.load("notes/prompt.md", config.vault), {"title": title, "body": body})
    return note.Draft(title, title, meta, filled)


class Said:
    """What the agent said or summed up: `text`, else the event's message; `of` is the sub-agent's id, or ""."""

    __slots__ = ("kind", "label", "meta", "of", "origin", "tag", "text")

    def __init__(
        self,
        kind: str,
        text: str = "",
        *,
        origin: str = "assistant",
        label: str = "",
        meta: dict[str, Any] | None = None,
        tag: str = "",
        of: str = "",
    ) -> None:
        self.kind = kind
        self.text = text
        self.origin = origin
        self.label = label
        self.meta = meta or {}
        self.tag = tag
        self.of = of


def _said(at: Capture, said: Said) -> Outcome:
    """Store what the agent said or summed up."""
    if turn.is_private(at):
        return Outcome(PRIVATE)
    kind = said.kind

    def build(clean: str) -> note.Draft | None:
        text = _without_analysis(clean).strip() if kind == "summary" else clean.strip()
        if not text:
            return None
        body = _cut(at.config, text)
        title = _first_line(text, at.config.settings["privacy.marker"])
        values = {"title": title, "body": body}
        return note.Draft(title, title, {}, template.fill(template.load(f"notes/{kind}.md", at.config.vault), values))

    where = at.event.prompt_id or f"prompt {at.prompt_number()}"
    draft = Draft(
        kind,
        said.text or at.event.message,
        build,
        identity=(where, said.of) if said.of else (where,),
        label=said.label,
        origin=said.origin,
        meta=said.meta,
        tags=(kind, said.tag) if said.tag else (kind,),
    )
    draft.by_text = True  # one prompt can have several answers, when a hook makes the agent go on
    return store(at, draft)


def _cut(config: Config, text: str) -> str:
    """Keep both ends of a text that is longer than the settings, or a note, allow."""
    room = config.settings["capture.prompt_chars"]
    if len(text) <= room and len(text) * 4 <= _MAX_BYTES:
        return text
    from mdmem.capture import limits

    cut = limits.cut(text, room, len(text))
    while (size := len(cut.encode("utf-8", "replace"))) > _MAX_BYTES:
        room = min(room, len(text)) * _MAX_BYTES // size - 64
        cut = limits.cut(text, room, len(text))
    return cut


_MAX_BYTES = note.MAX_NOTE_BYTES - note.MAX_META_BYTES - 1024  # what a template puts around a text has its room


def _without_analysis(text: str) -> str:
    """Keep what a compaction summed up, not how it thought about it."""
    _, found, rest = text.partition("<summary>")
    return rest.partition("</summary>")[0] if found else text


def _first_line(text: str, marker: str) -> str:
    """Take the line that names a text: its first with words beside the private marker, without markdown."""
    for line in text[:20_000].splitlines():
        words = line.strip().lstrip("#>*- \t").rstrip("* \t")
        bare = words.replace(marker, "") if marker else words
        if any(c.isalnum() for c in bare):
            return note.one_line(words, 120)
    return note.one_line(text, 120)


def _named(meta: dict[str, Any], at: Capture) -> Iterator[str]:
    """Give the paths that a tool run is about, those in a shell command among them."""
    for path in meta.get("files", ()):
        yield os.path.join(at.project.worktree, os.path.expanduser(path))
    for word in choice.paths_in(str(meta.get("command", ""))):
        yield os.path.normpath(os.path.join(at.event.cwd, os.path.expanduser(word)))


def _is_scheduled(at: Capture, text: str) -> bool:
    """Say whether a prompt is one that the session's own loop or cron job was set to send."""
    known = at.session.lines("cron")
    return bool(known) and [_cron(text)] in known


def _cron(text: str) -> str:
    return short(text.strip(), 16)
