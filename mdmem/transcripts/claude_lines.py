"""Lines of Claude Code's transcripts: their texts, and which of them belong to the current conversation.

After a rewind, the old lines stay in the file beside the new ones. Each line names its parent; the ancestors of the
last answer or prompt are alive. Three things complicate that. A compaction begins a new tree and names the old one as
its logical parent. One answer spans several lines, and if it runs tools in parallel, only one of them has the next
line as child. And a parent may be an unreadable line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mdmem.agents import mapping, objects, text

_EDITOR = ("ide_opened_file", "ide_selection")


def blocks(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a message's content as blocks; a string becomes one block, anything else is dropped."""
    content = mapping(line.get("message")).get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def own_text(line: dict[str, Any]) -> str:
    """Return a message's own text, without the context that an editor added."""
    texts = [text(block.get("text")) for block in blocks(line) if block.get("type") == "text"]
    return "\n".join([piece for piece in texts if piece and not _is_editors(piece)])


def _is_editors(piece: str) -> bool:
    bare = piece.strip()
    return any(bare.startswith(f"<{name}>") and bare.endswith(f"</{name}>") for name in _EDITOR)


def summed_up(words: str) -> str:
    """Return a compaction's summary without the sentences around it that address the agent."""
    head, newline, summary = words.partition("\n")
    body = summary if newline and head.startswith("This session is being continued") else words
    if "<summary>" not in body and "\nSummary:\n" in f"\n{body}":
        body = f"\n{body}".partition("\nSummary:\n")[2]
    for ending in _ENDINGS:
        body = body.partition(ending)[0]
    return body


_ENDINGS = (
    "\nPlease continue the conversation from where we left it off",
    "\nContinue the conversation from where it left off",
    "\nIf you need specific details from before compaction",
)


# -- branches --------------------------------------------------------------------------------------

_TURNS = frozenset(["user", "assistant"])
_FOLLOWERS = frozenset(["attachment", "system", "progress"])


class Branch:
    """The lines of one transcript that are alive; call `has` for each."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        """Read all lines once."""
        parents: dict[str, str] = {}
        messages: dict[str, str] = {}
        last = leaf = ""
        for line in lines:
            uuid = text(line.get("uuid"))
            if not uuid or line.get("isSidechain") is True:
                continue
            parents[uuid] = _parent(line, last, parents)
            if line.get("type") == "assistant":
                messages[uuid] = message_id(line)
            is_turn = text(line.get("type")) in _TURNS and isinstance(line.get("message"), dict)
            if is_turn and line.get("isMeta") is not True:
                leaf = uuid
            last = uuid
        self._uuids = _ancestors(leaf, parents)
        self._messages = {messages[uuid] for uuid in self._uuids if messages.get(uuid)}
        self._uses: set[str] = set()

    def has(self, line: dict[str, Any]) -> bool:
        """Whether a line is alive. Must be called for every line, in file order."""
        uuid = text(line.get("uuid"))
        alive = not uuid or uuid in self._uuids or self._belongs(line)
        if alive and line.get("type") == "assistant":
            self._uses.update(text(block.get("id")) for block in blocks(line) if block.get("type") == "tool_use")
        return alive

    def _belongs(self, line: dict[str, Any]) -> bool:
        """Whether a line is alive through its answer, its tool run, or the line before it."""
        kind = text(line.get("type"))
        if kind == "assistant":
            return message_id(line) in self._messages
        if kind == "user":
            results = [block for block in blocks(line) if block.get("type") == "tool_result"]
            return any(text(block.get("tool_use_id")) in self._uses for block in results)
        return kind in _FOLLOWERS and text(line.get("parentUuid")) in self._uuids


def _parent(line: dict[str, Any], last: str, parents: dict[str, str]) -> str:
    """Return the id of the line before this one in the conversation, or ""."""
    if "parentUuid" not in line or line.get("isCompactSummary") is True or line.get("subtype") == "compact_boundary":
        parent_id = text(line.get("parentUuid")) or text(line.get("logicalParentUuid"))
        return parent_id if parent_id in parents else last
    parent = text(line["parentUuid"])
    return parent if parent in parents or not parent else last


def _ancestors(leaf: str, parents: dict[str, str]) -> set[str]:
    ancestors: set[str] = set()
    while leaf and leaf not in ancestors:
        ancestors.add(leaf)
        leaf = parents.get(leaf, "")
    return ancestors


def message_id(line: dict[str, Any]) -> str:
    """Return the id of the answer that an assistant's line is part of, or ""."""
    return text(mapping(line.get("message")).get("id"))
