"""EVENTS: what is stored for each hook event.

`capture` is the only entry to the write half: hooks and imports pass it an `Event`, and it stores at most one note.
"""

from __future__ import annotations

import os

from mdmem import privacy
from mdmem.agents import aliases
from mdmem.capture import drafts, marks, pending, store, turn
from mdmem.capture.drafts import SpokenText
from mdmem.capture.pending import Capture, Outcome
from mdmem.hashing import short
from mdmem.vault import exclusions, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mdmem.agents import Event
    from mdmem.config import Config


def capture(config: Config, event: Event, now: float, env: Mapping[str, str] | None = None) -> Outcome:
    """Store an event: at most one note and the session page.

    now: when the event happened, in seconds since the epoch.

    Raises:
        OSError, VaultError: only for faults of mdmem's own folders. A note that the vault cannot take is queued, and
        the outcome's `error` says why.
    """
    ignored = ignores(config, event)
    if ignored != pending.SUBAGENT:
        return Outcome(ignored) if ignored else handle(_recognized(Capture(config, event, now)), env)
    if exclusions.is_disabled(os.environ if env is None else env):
        return Outcome(ignored)
    return pass_over(_recognized(Capture(config, event, now)), ignored)


def _recognized(at: Capture) -> Capture:
    """Return the capture, after a check whether its session's private memory was lost or is from version 0.1."""
    if not at.session.data or at.event.source == "resume" or os.path.exists(at.former_memory()):
        from mdmem.capture import remembered

        remembered.notice_loss(at)
    return at


def ignores(config: Config, event: Event) -> str:
    """Return why nothing is stored for an event, judging by the event alone; "" if something may be."""
    if event.name not in EVENTS:
        return pending.UNKNOWN
    if event.name == "SubagentStop":
        return ""  # a run's note may be waiting for this answer
    return pending.SUBAGENT if event.subagent and not config.settings.capture.subagents else ""


def handle(at: Capture, env: Mapping[str, str] | None) -> Outcome:
    """Store an event that `ignores` has not ruled out; see `capture`."""
    env = os.environ if env is None else env
    if exclusions.is_off(at.config, at.session.key, env):
        return Outcome(pending.SWITCHED_OFF) if exclusions.is_disabled(env) else pass_over(at, pending.SWITCHED_OFF)
    if not exclusions.takes_project(at.config, at.project, at.event.cwd):
        outcome = pass_over(at, pending.EXCLUDED)
        if at.live and (why := exclusions.unread(at.config, at.project)):
            outcome.error, outcome.why = pending.UNREAD_EXCLUSIONS, why
        return outcome
    if pending.has_queued(at.config):
        from mdmem.capture import queued

        queued.write_some(at.config, at.session.key)
    if at.live and at.event.name != "SessionStart" and not turn.has_learned_instructions(at):
        turn.learn_instructions(at)
    return EVENTS[at.event.name](at)


def pass_over(at: Capture, why: str) -> Outcome:
    """Store nothing of an event, but remember its private text and mark the turn it begins, for later events."""
    outcome = Outcome(why)
    typed = why != pending.SUBAGENT and at.event.name in _PROMPTS and _is_typed(at)
    learned = turn.mark_passed_over(at, typed=typed)
    outcome.unmarked = not learned or not marks.can_write(at) or turn.is_withheld(at)
    if why == pending.PRIVATE and at.live and not turn.is_asked_for(at):
        outcome.ignored, outcome.error = "", pending.UNSEEN
    return outcome


def _session_start(at: Capture) -> Outcome:
    turn.begin(at)
    at.session.append("start", f"{at.now:.0f}", _reason(at) or "startup")
    outcome = Outcome(pending.IN_STATE)
    if at.live and pending.has_failing(at.config):
        from mdmem.capture.later import failing

        outcome.failing = failing.sentences(at.config, at.now, failing.LONG_SECONDS)
    return outcome


def _prompt(at: Capture) -> Outcome:
    from mdmem.agents import prompts

    payload_text = at.event.prompt
    use, answer = prompts.reported(payload_text)
    added = None
    if use and answer and not turn.is_private(at):
        added = _awaited().end(at, at.session.note_id(use, "observation"), answer)
    if not _is_typed(at):
        turn.mark_open(at, sure=not at.session.is_continuous())  # nothing else records this turn
        return _with_late_answer(at, pass_over(at, pending.NOT_TYPED), added)
    if turn.is_withheld(at):
        return pass_over(at, pending.PRIVATE)
    turn.learn_queued(at)
    typed = prompts.typed(payload_text)
    text = privacy.as_typed(typed)
    host_text = payload_text.strip().removesuffix(typed)  # not stored, but its private text must be recognized later
    if _is_subagent_at_work(at):
        _subagents().forget(at.session)
    may_hide = privacy.may_hold_private(text, at.rules)
    if "@" in text or text[:1] == "/" or "<ide_" in host_text or at.event.extra.get("attached"):
        _learn_mentioned(at)
    if may_hide:
        turn.mark_unsure(at)  # before judging: if the hook is killed from here on, the turn stays private
        at.session.append(turn.JUDGED, short(text, 10))
    if at.event.extra.get("asked_at"):
        at.session.append("asked", at.event.extra["asked_at"])
    outcome = store.store(at, drafts.of_prompt(at, text, host_text))
    if outcome.ignored == pending.PRIVATE:
        outcome.unmarked = outcome.unmarked or not turn.mark_private(at)  # nobody asked for a withheld turn
        at.session.skip_prompt(short("\0".join((at.event.prompt_id or str(at.now), "private")), 10))
    elif not (outcome.withheld and may_hide):  # else the turn stays unsure: all of the prompt may have been private
        turn.mark_open(at, sure=not outcome.stored)  # later notes of the turn must queue behind a queued prompt
    if at.live and may_hide:
        from mdmem.capture import notices

        notices.of_prompt(at, outcome, text)
    return outcome


def _subagent_start(at: Capture) -> Outcome:
    _subagents().begin(at.session)
    return Outcome(pending.IN_STATE)


def _tool(at: Capture) -> Outcome:
    if "ends_subagent" in at.event.extra:
        _subagents().end(at.session)
    elif _is_subagent_at_work(at) and not at.config.settings.capture.subagents:
        return pass_over(at, pending.SUBAGENT)
    turn.learn_queued(at)
    if turn.is_private(at):
        return pass_over(at, pending.PRIVATE)
    if aliases.resolve(at.event.tool, {})[0] in _LOADING:
        _learn_mentioned(at)
    _learn_beside(at)
    if not exclusions.takes_tool(at.config, at.event.tool):
        return pass_over(at, pending.EXCLUDED_TOOL)
    from mdmem.capture import tool_run

    return _count_hidden(at, tool_run.keep(at))


_LOADING = ("Skill", "Agent", "Task")
"""Tools that make an agent read files for which no hook runs."""


def _learn_beside(at: Capture) -> None:
    """Remember private sections of the instruction files beside a file that the agent reads or changes."""
    from mdmem.capture.tools import files_on_disk

    if at.live and files_on_disk.instructions_beside(at.event, at.project.worktree):
        from mdmem.capture import remembered

        if not remembered.learn(at, remembered.beside(at)):
            turn.withhold(at)


def _learn_mentioned(at: Capture) -> None:
    """Remember private sections of the files that an event makes the agent read."""
    if at.live:
        from mdmem.capture import remembered
        from mdmem.capture.tools import instructions

        if not remembered.learn(at, instructions.mentioned(at.event, at.rules)):
            turn.withhold(at)


def _count_hidden(at: Capture, outcome: Outcome) -> Outcome:
    """Add up what private sections hid in a tool run or an answer, for the message at the end of the turn."""
    hidden = outcome.hidden
    if at.live and hidden.sections:
        at.session.append("hidden", str(hidden.sections), str(hidden.chars), str(hidden.lines))
    return outcome


def _awaited() -> Any:
    from mdmem.capture.later import awaited  # only for runs in the background, which are rare

    return awaited


def _subagents() -> Any:
    from mdmem.capture import subagents  # only for agents whose payloads do not name the sub-agent

    return subagents


def _is_subagent_at_work(at: Capture) -> bool:
    return os.path.exists(at.session.flag("subagents")) and bool(_subagents().is_at_work(at.session))


def _stop(at: Capture) -> Outcome:
    scheduled = at.session.lines("cron")
    for prompt in at.event.extra.get("crons", "").split("\0"):
        if prompt and [_cron(prompt)] not in scheduled:
            at.session.append("cron", _cron(prompt))
    if _is_stale(at):
        at.event.message = ""
    turn.learn_queued(at)
    turn.learn_asked(at)
    outcome = _store_spoken(at, SpokenText("response", meta=_tokens(at.event)))
    at.update_page()
    if at.live and at.session.lines("hidden"):
        from mdmem.capture import notices

        notices.end_turn(at, outcome)
    if not at.event.message or (at.session.lines("open") and _awaited().names(at.session)):
        _expect_late(at)
    return outcome


def _expect_late(at: Capture) -> None:
    """Schedule the session's transcript to be read later, for what hooks cannot know. A replay reads it already."""
    if at.live:
        from mdmem.capture.later import transcript_queue

        transcript_queue.expect(at)


def _store_spoken(at: Capture, spoken: SpokenText) -> Outcome:
    """Store an answer or a summary, unless its turn is private."""
    if turn.is_private(at):
        return pass_over(at, pending.PRIVATE)
    return _count_hidden(at, store.store(at, drafts.of_spoken(at, spoken)))


def _tokens(event: Event) -> dict[str, Any]:
    """Return the tokens of a turn if the transcript gives them: all its requests, cached input included."""
    return {key: int(event.extra[key]) for key in ("tokens_in", "tokens_out") if key in event.extra}


def _is_stale(at: Capture) -> bool:
    """Whether the answer is older than the prompt, by the agent's own clock."""
    answered_at, asked_at = at.event.extra.get("said_at", ""), at.session.lines("asked")
    return bool(answered_at and asked_at) and float(answered_at) < float(asked_at[-1][0] or 0)  # it may be cut off


def _stop_failure(at: Capture) -> Outcome:
    """Store why a turn failed: the host's error under its short name, in place of an answer."""
    extra = at.event.extra
    error = at.event.error or extra.get("error", "") or "unknown"
    text = "\n\n".join(filter(None, [at.event.message, extra.get("error_details", "")])) or error
    meta = {"success": False, "error": error}
    outcome = _store_spoken(at, SpokenText("response", text, origin="tool", meta=meta, tag="failed"))
    at.update_page()
    return outcome


def _subagent_stop(at: Capture) -> Outcome:
    """Add a sub-agent's answer to the note of its run, or store it as a note of its own if the settings want that.

    The sub-agent's id is part of the note's identity, because two sub-agents of one turn may answer the same.
    """
    may_wait = not turn.is_private(at) and at.session.lines("open")
    added = _awaited().end(at) if may_wait else None
    if added or not at.config.settings.capture.subagents:
        return _with_late_answer(at, pass_over(at, pending.SUBAGENT), added)
    spoken = SpokenText("response", label="subagent", tag="subagent", of=at.event.extra.get("agent_id", ""))
    outcome = _store_spoken(at, spoken)
    at.update_page()
    return outcome


def _with_late_answer(at: Capture, outcome: Outcome, added: privacy.Cleaned | None) -> Outcome:
    """Return the outcome; note in it if the answer that was added to a sub-agent's run could not be checked."""
    if added is not None and added.failure is not None:
        store.note_withheld(at, outcome, added.failure, "sub-agent's answer")
    return outcome


def _before_compaction(at: Capture) -> Outcome:
    """Remember what is private in the words typed after `/compact`, which the summary may repeat."""
    return pass_over(at, pending.IN_STATE)


def _compact(at: Capture) -> Outcome:
    return _store_spoken(at, SpokenText("summary", meta={"trigger": at.event.source}))


def _session_end(at: Capture) -> Outcome:
    at.session.append("end", f"{at.now:.0f}", _reason(at))
    at.update_page()
    _expect_late(at)
    return Outcome(pending.IN_STATE)


def _reason(at: Capture) -> str:
    """Return the cleaned reason why a session began or ended, in at most 60 characters."""
    reason: str = privacy.clean(at.event.source, rules=at.rules, origin="tool", echo=at.load_echo()).value
    return note.one_line(reason, 60)


_PROMPTS = frozenset(["UserPromptSubmit", "UserPromptExpansion"])

EVENTS: dict[str, Callable[[Capture], Outcome]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "UserPromptExpansion": _prompt,
    "SubagentStart": _subagent_start,
    "PostToolUse": _tool,
    "PostToolUseFailure": _tool,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SubagentStop": _subagent_stop,
    "PreCompact": _before_compaction,
    "PostCompact": _compact,
    "SessionEnd": _session_end,
}
"""Hook event -> the function that stores it. Other events are ignored."""


def _is_typed(at: Capture) -> bool:
    """Whether a person typed this prompt, as far as mdmem can tell."""
    from mdmem.agents import prompts

    return prompts.is_typed(at.event.prompt) and not _is_scheduled(at, at.event.prompt)


def _is_scheduled(at: Capture, text: str) -> bool:
    """Whether the session's own loop or cron job sent this prompt."""
    scheduled = at.session.lines("cron")
    return bool(scheduled) and [_cron(text)] in scheduled


def _cron(text: str) -> str:
    return short(text.strip(), 16)
