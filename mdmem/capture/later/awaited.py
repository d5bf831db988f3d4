"""Awaited: background runs of sub-agents, whose notes wait for an answer."""

from __future__ import annotations

from mdmem import log, privacy
from mdmem.capture import remembered
from mdmem.capture.later import completion
from mdmem.capture.session import facts
from mdmem.capture.tools import body, limits
from mdmem.capture.tools.teamwork import LATER
from mdmem.hook_errors import VaultError
from mdmem.vault import disk, journal, layout, note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.capture.pending import Capture, Outcome
    from mdmem.capture.session import Session


def begin(capture: Capture, outcome: Outcome) -> None:
    """Record that a note waits for an answer, and for which sub-agent if the agent names it."""
    response = capture.event.tool_response
    agent_id = response.get("agentId", response.get("agent_id", ""))
    is_id = type(agent_id) is str and agent_id.isascii() and agent_id.translate(_JOINING).isalnum()
    capture.session.append("open", layout.split(outcome.path)[1], agent_id if is_id else "")


_JOINING = dict.fromkeys(map(ord, "-_.:@"))
"""Signs of ids beside letters and digits. Other text in their place may be private, and is not stored."""


def names(session: Session) -> dict[str, str]:
    """Return the waiting notes, each with its sub-agent's id, "" if unknown."""
    over = {line[0] for line in session.lines("shut")}
    return {line[0]: line[1] if len(line) > 1 else "" for line in session.lines("open") if line[0] not in over}


def end(capture: Capture, note_id: str = "", answer: str = "") -> privacy.Cleaned | None:
    """Add a sub-agent's answer to the note that waits for it; return the answer, cleaned, or None if none waits.

    note_id, answer: the waiting note and the answer; by default, found by the event's sub-agent, and its last message.
    """
    waiting, agent_id = names(capture.session), capture.event.extra.get("agent_id", "")
    if note_id:
        matching = [name for name in waiting if journal.id_in(name) == note_id]
    else:
        matching = [name for name, expected in waiting.items() if agent_id and expected == agent_id]
    if not matching and not note_id and len(waiting) == 1 and not next(iter(waiting.values())):
        matching = list(waiting)
    answer = answer or capture.event.message
    if len(matching) != 1 or not answer.strip():
        return None
    try:
        return _answer(capture, matching[0], answer)
    except (OSError, VaultError) as error:
        log.write(capture.config, "a sub-agent's answer could not be added to its run", error)
        return None


def _answer(capture: Capture, name: str, answer: str) -> privacy.Cleaned | None:
    clean = privacy.clean(answer, rules=capture.rules, origin="assistant", echo=capture.load_echo())
    folder = capture.session.open_folder() if remembered.learn_cleaned(capture, clean) else None
    if folder is None or not str(clean.value).strip():
        return None
    with folder:
        folder.lock()
        data = disk.read(folder, name)
        parsed = note.parse(data or b"")
        if data is None or parsed.meta.get("status") not in LATER:
            return None
        if not people.is_untouched(parsed, data, parsed.meta.get("tags")):
            return None
        changed = completion.put(folder, name, data, _with_answer(capture, parsed, str(clean.value)))
        if changed is None:
            return None
        capture.session.append("+", name, *facts(changed))
        capture.session.append("shut", name)
    return clean


def _with_answer(capture: Capture, parsed: note.Parsed, answer: str) -> note.Note:
    room = limits.Limits.of(capture.config.settings.capture)
    waiting = f"{LATER[str(parsed.meta['status'])]}\n"
    without_mark = parsed.body.replace(waiting, "", 1).strip("\n")
    text = f"{without_mark}\n\n{body.render([body.Part('Answer', answer, 'markdown')], room)}"
    meta = {**parsed.meta, "status": "completed", "digest": note.fingerprint(str(parsed.meta["title"]), text)}
    return note.Note(meta, "", text)
