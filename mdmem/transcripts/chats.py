"""Chats: exports of ChatGPT and Claude.ai, a JSON file with all conversations, or ChatGPT's numbered parts of one.

`conversations.json`, or since 2026 `conversations-000.json` and so on (as in github.com/mohamed-chs/convoviz/pull/49).
Each is a list. A conversation is a session of prompts and answers, without project or tool runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from mdmem.agents import Event, mapping, objects, text
from mdmem.agents.dialect import made_id, seconds
from mdmem.transcripts.lines import document
from mdmem.transcripts.saved import ReadOptions, SavedEvent, Skipped, Source, below

CHATGPT, CLAUDE_AI = "chatgpt", "claude-ai"
MAX_BYTES = 1 << 30
_MAX_STEPS = 100_000
_SESSION_CHARS = 64


class ChatMessage(NamedTuple):
    """One message: its time, its role (`user` or `assistant`), its id and its text."""

    at: float | None
    role: str
    id: str
    words: str


find = below("conversations*.json")
"""Finds the exports below a folder that a person names."""


def is_chatgpt(head: bytes) -> bool:
    """Whether a JSON file begins like ChatGPT's export."""
    return head.lstrip().startswith(b"[") and b'"mapping"' in head and b'"message"' in head


def is_claude_ai(head: bytes) -> bool:
    """Whether a JSON file begins like Claude.ai's export."""
    return head.lstrip().startswith(b"[") and b'"chat_messages"' in head


def read_chatgpt(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Yield the events of all conversations in ChatGPT's export. Raises OSError when the file cannot be read."""
    for chat in _conversations(path, options.skipped):
        messages = list(_branch(chat, options.skipped))
        session = text(chat.get("conversation_id")) or text(chat.get("id"))
        yield from _events(CHATGPT, session, seconds(chat.get("create_time")), messages, path)


def read_claude_ai(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Yield the events of all conversations in Claude.ai's export. Raises OSError when the file cannot be read."""
    for chat in _conversations(path, options.skipped):
        messages = [_of_claude(message) for message in objects(chat.get("chat_messages"))]
        yield from _events(CLAUDE_AI, text(chat.get("uuid")), seconds(chat.get("created_at")), messages, path)


def _conversations(path: Path, skipped: Skipped) -> Iterator[dict[str, Any]]:
    chats = document(path, MAX_BYTES, skipped)
    for chat in chats if isinstance(chats, list) else ():
        if isinstance(chat, dict):
            yield chat
        else:
            skipped["unreadable line"] += 1


def _branch(chat: dict[str, Any], skipped: Skipped) -> Iterator[ChatMessage]:
    """Yield the messages of the branch that is shown, first to last, without edited or regenerated ones."""
    nodes = mapping(chat.get("mapping"))
    node_id = text(chat.get("current_node")) or next(reversed(nodes), "")
    branch: list[dict[str, Any]] = []
    while isinstance(nodes.get(node_id), dict) and len(branch) < _MAX_STEPS:
        branch.append(nodes[node_id])
        node_id = text(nodes[node_id].get("parent"))
    skipped["message beside the conversation"] += max(0, len(nodes) - len(branch))
    for node in reversed(branch):
        message = node.get("message")
        if isinstance(message, dict) and not _is_hidden(message):
            role = text(mapping(message.get("author")).get("role"))
            yield ChatMessage(seconds(message.get("create_time")), role, text(message.get("id")), _words(message))


def _is_hidden(message: dict[str, Any]) -> bool:
    hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    return hidden or text(message.get("recipient")) not in ("", "all")


def _words(message: dict[str, Any]) -> str:
    content = mapping(message.get("content"))
    parts = content.get("parts")
    if content.get("content_type") not in ("text", "multimodal_text") or not isinstance(parts, list):
        return ""
    texts = [
        part if isinstance(part, str) else text(part.get("text")) for part in parts if isinstance(part, (str, dict))
    ]
    return "\n\n".join(part for part in texts if part.strip())


def _of_claude(message: dict[str, Any]) -> ChatMessage:
    role = {"human": "user", "assistant": "assistant"}.get(text(message.get("sender")), "")
    texts = [text(part.get("text")) for part in objects(message.get("content")) if part.get("type") == "text"]
    words = "\n\n".join(filter(None, texts))
    return ChatMessage(
        seconds(message.get("created_at")), role, text(message.get("uuid")), words or text(message.get("text"))
    )


def _events(
    agent: str, session: str, began: float | None, messages: list[ChatMessage], path: Path
) -> Iterator[SavedEvent]:
    """Yield a conversation's prompts and answers; the texts of one answer are joined."""
    messages = [message for message in messages if message.role in ("user", "assistant") and message.words.strip()]
    if not messages:
        return
    at = began or next((message.at for message in messages if message.at), None) or path.stat().st_mtime
    session = session[:_SESSION_CHARS] or made_id(agent, messages[0].words)
    prompt = ""
    make = partial(Event, agent, session=session)
    yield SavedEvent(at, make("SessionStart", source="startup"))
    for role, said in groupby(messages, key=lambda message: message.role):
        answer: list[str] = []
        for message in said:
            at = max(at, message.at or at)
            if role == "user":
                prompt = message.id or made_id(session, at, message.words)
                yield SavedEvent(at, make("UserPromptSubmit", prompt_id=prompt, prompt=message.words))
            else:
                answer.append(message.words)
        if answer:
            yield SavedEvent(at, make("Stop", prompt_id=prompt, message="\n\n".join(answer)))
    yield SavedEvent(at, make("SessionEnd", source="as the export ends"))


SOURCES = (
    Source(CHATGPT, "ChatGPT", find, read_chatgpt, is_whole=is_chatgpt),
    Source(CLAUDE_AI, "Claude.ai", find, read_claude_ai, is_whole=is_claude_ai),
)
