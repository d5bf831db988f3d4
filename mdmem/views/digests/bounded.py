"""A session for an agent that reflects on it: what was said, with citations, within a limit of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.inject.block import inert, whole_sentences
from mdmem.learn import decisions, work
from mdmem.vault import note, people

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.views.conversation import Conversation, ConversationStep
    from mdmem.views.digests.collected import DigestNotes

MAX_CHARS = 8_000
_ROOMS = (600, 300, 150, 80)
"""How much of each text is shown, tried in this order until all fits."""
_MAX_DECIDED = 20


def for_agent(config: Config, found: Conversation, facts: DigestNotes, chars: int = MAX_CHARS) -> str:
    """Write a session in at most `chars` characters; what does not fit is left out from its beginning.

    facts: the session's digest.
    """
    head = [
        f"# {inert(found.title)}",
        " ".join(filter(None, (found.fact("project"), found.fact("agent"), found.fact("created")[:10]))),
    ]
    tail = [*_facts(facts), *_decided(config, found.fact("project"))]
    tail = tail[: _fitting(tail, chars // 3)]
    size = len("\n".join([*head, *tail])) + 60
    said: list[str] = []
    for room in _ROOMS:
        said = list(_said(config, found, room))
        if len("\n".join(said)) + size <= chars:
            break
    kept = _fitting(said[::-1], chars - size)
    left = [f"({len(said) - kept} earlier lines are left out)"] if kept < len(said) else []
    return "\n".join([*head, "", "## Said", *left, *said[len(said) - kept :], *tail])[:chars] + "\n"


def _fitting(lines: list[str], chars: int) -> int:
    """Return how many of the lines have room."""
    for count, line in enumerate(lines):
        chars -= len(line) + 1
        if chars < 0:
            return count
    return len(lines)


def _said(config: Config, found: Conversation, room: int) -> Iterator[str]:
    words = {"prompt": "asked", "response": "answered", "summary": "summed up"}
    for step in found.steps:
        if step.kind in words and not (step.kind == "prompt" and work.says_little(str(step.meta.get("title", "")))):
            text = whole_sentences(inert(_text(config, step)), room)
            yield f"- {words[step.kind]} [mem:{step.meta.get('id', '')}] {text}"


def _text(config: Config, step: ConversationStep) -> str:
    return people.cleaned(config.vault, note.Parsed(step.meta, step.body)).body


def _facts(facts: DigestNotes) -> Iterator[str]:
    failed = [f"{row.title} [mem:{row.id}]" for row in facts.failed]
    parts = {
        "Failed": failed[-10:],
        "Solved": [f"{one.error}: {', '.join(one.files)} [mem:{one.id}]" for one in facts.fixed],
        "Changed": [", ".join(one.files) for one in facts.sessions if one.files],
        "Done": [one.text for one in facts.closed],
        "Left open": [f"{one.kind}: {one.text} [mem:{one.id}]" for one in facts.left],
    }
    for heading, rows in parts.items():
        if rows:
            yield from ("", f"## {heading}", *(f"- {_line(row)}" for row in rows))


def _line(row: str) -> str:
    """Make a line inert but for the citation at its end, which is ours."""
    text, mark, name = row.rpartition(" [mem:")
    return f"{note.one_line(inert(text))}{mark}{name}" if mark else note.one_line(inert(row))


def _decided(config: Config, project: str) -> Iterator[str]:
    """Write what is decided already, so that it is not proposed again."""
    found = decisions.listed(config, project=project, kinds=decisions.KINDS)[:_MAX_DECIDED]
    if found:
        yield from ("", "## Kept already", *(f"- {_line(f'{one.title} [mem:{one.id}]')}" for one in found))
