"""The texts in Claude Code's lines, without what its host and the editors put beside them."""

from __future__ import annotations

from typing import Any

from mdmem.agents import mapping, objects, text

_EDITOR = ("ide_opened_file", "ide_selection")


def blocks(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a message's content as blocks; a text alone is one block, and what is none is left out."""
    content = mapping(line.get("message")).get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def own_text(line: dict[str, Any]) -> str:
    """Return a message's own text, without what an editor put beside it."""
    texts = [text(block.get("text")) for block in blocks(line) if block.get("type") == "text"]
    return "\n".join([piece for piece in texts if piece and not _is_editors(piece)])


def _is_editors(piece: str) -> bool:
    bare = piece.strip()
    return any(bare.startswith(f"<{name}>") and bare.endswith(f"</{name}>") for name in _EDITOR)


def join(content: Any) -> str:
    """Return a text, or the texts of a list of blocks."""
    if isinstance(content, list):
        return "\n".join(filter(None, [text(block.get("text")) for block in objects(content)]))
    return text(content)


def summed_up(words: str) -> str:
    """Keep what a compaction summed up, without the sentences around it that speak to the agent."""
    head, found, rest = words.partition("\n")
    body = rest if found and head.startswith("This session is being continued") else words
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
