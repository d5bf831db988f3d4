"""The texts in Claude Code's lines, without what its host and the editors put beside them."""

from __future__ import annotations

from typing import Any

from mdmem.agents import text

_EDITOR = ("ide_opened_file", "ide_selection")


def blocks(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a message's content as blocks; a text alone is one block, and what is none is left out."""
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


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
        texts = [text(block.get("text")) for block in content if isinstance(block, dict)]
        return "\n".join(filter(None, texts))
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
