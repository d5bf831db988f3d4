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


def _recognized(capture: Capture) -> Capture:
    """Return the capture, after a check whether its session's private memory was lost or is from version 0.1."""
    if not capture.session.data or capture.event.source == "resume" or os.path.exists(capture.former_memory()):
        from mdmem.capture import remembered

        remembered.notice_loss(capture)
    return capture


def ignores(config: Config, event: Event) -> str:
    """Return why nothing is stored for an event, judging by the event alone; "" if something may be."""
    if event.name not in EVENTS:
        return pending.UNKNOWN
    if event.name == "SubagentStop":
        return ""  # a run's note may be waiting for this answer
    return pending.SUBAGENT if event.subagent and not config.settings.capture.subagents else ""


def handle(capture: Capture, env: Mapping[str, str] | None) -> Outcome:
    """Store an event that `ignores` has not ruled out; see `capture`."""
    env = os.environ if env is None else env
    if exclusions.is_off(capture.config, capture.session.key, env):
        return (
            Outcome(pending.SWITCHED_OFF) if exclusions.is_disabled(env) else pass_over(capture, pending.SWITCHED_OFF)
        )
    if not exclusions.takes_project(capture.config, capture.project, capture.event.cwd):
        outcome = pass_over(capture, pending.EXCLUDED)
        if capture.live and (why := exclusions.unread(capture.config, capture.project)):
            outcome.error, outcome.why = pending.UNREAD_EXCLUSIONS, why
        return outcome
    if pending.has_queued(capture.config):
        from mdmem.capture import queued

        queued.write_some(capture.config, capture.session.key)
    if capture.live and capture.event.name != "SessionStart" and not turn.has_learned_instructions(capture):
        turn.learn_instructions(capture)
    return EVENTS[capture.event.name](capture)


def pass_over(capture: Capture, why: str) -> Outcome:
    """Store nothing of an event, but remember its private text and mark the turn it begins, for later events."""
    outcome = Outcome(why)
    typed = why != pending.SUBAGENT and capture.event.name in _PROMPTS and _is_typed(capture)
    learned = turn.mark_passed_over(capture, typed=typed)
    outcome.unmarked = not learned or not marks.can_write(capture) or turn.is_withheld(capture)
    if why == pending.PRIVATE and capture.live and not turn.is_asked_for(capture):
        outcome.ignored, outcome.error = "", pending.UNSEEN
    return outcome


def _session_start(capture: Capture) -> Outcome:
    turn.begin(capture)
    capture.session.append("start", f"{capture.now:.0f}", _reason(capture) or "startup")
    outcome = Outcome(pending.IN_STATE)
    if capture.live and pending.has_failing(capture.config):
        from mdmem.capture.later import failing

        outcome.failing = failing.sentences(capture.config, capture.now, failing.LONG_SECONDS)
    return outcome


def _prompt(capture: Capture) -> Outcome:
    from mdmem.agents import prompts

    payload_text = capture.event.prompt
    use, answer = prompts.reported(payload_text)
    added = None
    if use and answer and not turn.is_private(capture):
        added = _awaited().end(capture, capture.session.note_id(use, "observation"), answer)
    if not _is_typed(capture):
        turn.mark_open(capture, sure=not capture.session.is_continuous())  # nothing else records this turn
        return _with_late_answer(capture, pass_over(capture, pending.NOT_TYPED), added)
    if turn.is_withheld(capture):
        return pass_over(capture, pending.PRIVATE)
    turn.learn_queued(capture)
    typed = prompts.typed(payload_text)
    text = privacy.as_typed(typed)
    host_text = payload_text.strip().removesuffix(typed)  # not stored, but its private text must be recognized later
    if _is_subagent_at_work(capture):
        _subagents().forget(capture.session)
    may_hide = privacy.may_hold_private(text, capture.rules)
    if "@" in text or text[:1] == "/" or "<ide_" in host_text or capture.event.extra.get("attached"):
        _learn_mentioned(capture)
    if may_hide:
        marks.write(capture, marks.UNSURE)  # before judging: if the hook is killed from here on, the turn stays private
        capture.session.append(turn.JUDGED, short(text, 10))
    if capture.event.extra.get("asked_at"):
        capture.session.append("asked", capture.event.extra["asked_at"])
    outcome = store.store(capture, drafts.of_prompt(capture, text, host_text))
    if outcome.ignored == pending.PRIVATE:
        # nobody asked for a withheld turn
        outcome.unmarked = outcome.unmarked or not marks.write(capture, marks.PRIVATE)
        capture.session.skip_prompt(short("\0".join((capture.event.prompt_id or str(capture.now), "private")), 10))
    elif not (outcome.withheld and may_hide):  # else the turn stays unsure: all of the prompt may have been private
        turn.mark_open(capture, sure=not outcome.stored)  # later notes of the turn must queue behind a queued prompt
    if capture.live and may_hide:
        from mdmem.capture import notices

        notices.of_prompt(capture, outcome, text)
    return outcome


def _subagent_start(capture: Capture) -> Outcome:
    _subagents().begin(capture.session)
    return Outcome(pending.IN_STATE)


def _tool(capture: Capture) -> Outcome:
    if "ends_subagent" in capture.event.extra:
        _subagents().end(capture.session)
    elif _is_subagent_at_work(capture) and not capture.config.settings.capture.subagents:
        return pass_over(capture, pending.SUBAGENT)
    turn.learn_queued(capture)
    if turn.is_private(capture):
        return pass_over(capture, pending.PRIVATE)
    if aliases.resolve(capture.event.tool, {})[0] in _LOADING:
        _learn_mentioned(capture)
    _learn_beside(capture)
    if not exclusions.takes_tool(capture.config, capture.event.tool):
        return pass_over(capture, pending.EXCLUDED_TOOL)
    from mdmem.capture import tool_run

    return _count_hidden(capture, tool_run.keep(capture))


_LOADING = ("Skill", "Agent", "Task")
"""Tools that make an agent read files for which no hook runs."""


def _learn_beside(capture: Capture) -> None:
    """Remember private sections of the instruction files beside a file that the agent reads or changes."""
    from mdmem.capture.tools import files_on_disk

    if capture.live and files_on_disk.instructions_beside(capture.event, capture.project.worktree):
        from mdmem.capture import remembered

        turn.learn(capture, remembered.beside(capture))


def _learn_mentioned(capture: Capture) -> None:
    """Remember private sections of the files that an event makes the agent read."""
    if capture.live:
        from mdmem.capture.tools import instructions

        turn.learn(capture, instructions.mentioned(capture.event, capture.rules))


def _count_hidden(capture: Capture, outcome: Outcome) -> Outcome:
    """Add up what private sections hid in a tool run or an answer, for the message at the end of the turn."""
    hidden = outcome.hidden
    if capture.live and hidden.sections:
        capture.session.append("hidden", str(hidden.sections), str(hidden.chars), str(hidden.lines))
    return outcome


def _awaited() -> Any:
    from mdmem.capture.later import awaited  # only for runs in the background, which are rare

    return awaited


def _subagents() -> Any:
    from mdmem.capture import subagents  # only for agents whose payloads do not name the sub-agent

    return subagents


def _is_subagent_at_work(capture: Capture) -> bool:
    return os.path.exists(capture.session.flag("subagents")) and bool(_subagents().is_at_work(capture.session))


def _stop(capture: Capture) -> Outcome:
    scheduled = capture.session.lines("cron")
    for prompt in capture.event.extra.get("crons", "").split("\0"):
        if prompt and [_cron(prompt)] not in scheduled:
            capture.session.append("cron", _cron(prompt))
    if _is_stale(capture):
        capture.event.message = ""
    turn.learn_queued(capture)
    turn.learn_asked(capture)
    outcome = _store_spoken(capture, SpokenText("response", meta=_tokens(capture.event)))
    capture.update_page()
    if capture.live and capture.session.lines("hidden"):
        from mdmem.capture import notices

        notices.end_turn(capture, outcome)
    if not capture.event.message or (capture.session.lines("open") and _awaited().names(capture.session)):
        _expect_late(capture)
    return outcome


def _expect_late(capture: Capture) -> None:
    """Schedule the session's transcript to be read later, for what hooks cannot know. A replay reads it already."""
    if capture.live:
        from mdmem.capture.later import transcript_queue

        transcript_queue.expect(capture)


def _store_spoken(capture: Capture, spoken: SpokenText) -> Outcome:
    """Store an answer or a summary, unless its turn is private."""
    if turn.is_private(capture):
        return pass_over(capture, pending.PRIVATE)
    return _count_hidden(capture, store.store(capture, drafts.of_spoken(capture, spoken)))


def _tokens(event: Event) -> dict[str, Any]:
    """Return the tokens of a turn if the transcript gives them: all its requests, cached input included."""
    return {key: int(event.extra[key]) for key in ("tokens_in", "tokens_out") if key in event.extra}


def _is_stale(capture: Capture) -> bool:
    """Whether the answer is older than the prompt, by the agent's own clock."""
    answered_at, asked_at = capture.event.extra.get("said_at", ""), capture.session.lines("asked")
    return bool(answered_at and asked_at) and float(answered_at) < float(asked_at[-1][0] or 0)  # it may be cut off


def _stop_failure(capture: Capture) -> Outcome:
    """Store why a turn failed: the host's error under its short name, in place of an answer."""
    extra = capture.event.extra
    error = capture.event.error or extra.get("error", "") or "unknown"
    text = "\n\n".join(filter(None, [capture.event.message, extra.get("error_details", "")])) or error
    meta = {"success": False, "error": error}
    outcome = _store_spoken(capture, SpokenText("response", text, origin="tool", meta=meta, tag="failed"))
    capture.update_page()
    return outcome


def _subagent_stop(capture: Capture) -> Outcome:
    """Add a sub-agent's answer to the note of its run, or store it as a note of its own if the settings want that.

    The sub-agent's id is part of the note's identity, because two sub-agents of one turn may answer the same.
    """
    may_wait = not turn.is_private(capture) and capture.session.lines("open")
    added = _awaited().end(capture) if may_wait else None
    if added or not capture.config.settings.capture.subagents:
        return _with_late_answer(capture, pass_over(capture, pending.SUBAGENT), added)
    spoken = SpokenText("response", label="subagent", tag="subagent", of=capture.event.extra.get("agent_id", ""))
    outcome = _store_spoken(capture, spoken)
    capture.update_page()
    return outcome


def _with_late_answer(capture: Capture, outcome: Outcome, added: privacy.Cleaned | None) -> Outcome:
    """Return the outcome; note in it if the answer that was added to a sub-agent's run could not be checked."""
    if added is not None and added.failure is not None:
        store.note_withheld(capture, outcome, added.failure, "sub-agent's answer")
    return outcome


def _before_compaction(capture: Capture) -> Outcome:
    """Remember what is private in the words typed after `/compact`, which the summary may repeat."""
    return pass_over(capture, pending.IN_STATE)


def _compact(capture: Capture) -> Outcome:
    return _store_spoken(capture, SpokenText("summary", meta={"trigger": capture.event.source}))


def _session_end(capture: Capture) -> Outcome:
    capture.session.append("end", f"{capture.now:.0f}", _reason(capture))
    capture.update_page()
    _expect_late(capture)
    return Outcome(pending.IN_STATE)


def _reason(capture: Capture) -> str:
    """Return the cleaned reason why a session began or ended, in at most 60 characters."""
    reason: str = privacy.clean(
        capture.event.source, rules=capture.rules, origin="tool", echo=capture.load_echo()
    ).value
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


def _is_typed(capture: Capture) -> bool:
    """Whether a person typed this prompt, as far as mdmem can tell."""
    from mdmem.agents import prompts

    return prompts.is_typed(capture.event.prompt) and not _is_scheduled(capture, capture.event.prompt)


def _is_scheduled(capture: Capture, text: str) -> bool:
    """Whether the session's own loop or cron job sent this prompt."""
    scheduled = capture.session.lines("cron")
    return bool(scheduled) and [_cron(text)] in scheduled


def _cron(text: str) -> str:
    return short(text.strip(), 16)
