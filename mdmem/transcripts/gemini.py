"""Gemini CLI's chats: JSON Lines (one object in older versions) in the project's folder below `tmp/`.

A message is written again, with the same id, whenever it changes; the last version counts. `$rewindTo` takes back
a message and everything after it. `$set` changes facts of the chat, and may replace all messages; it then leaves out
typed prompts, which are kept here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from mdmem.agents import first_text, gemini, joined_text, mapping, number, objects, text
from mdmem.agents.dialect import made_id
from mdmem.transcripts.lines import MAX_LINE_BYTES, Lines, document
from mdmem.transcripts.saved import (
    SPOKEN,
    ReadOptions,
    SavedEvent,
    Skipped,
    Source,
    TurnTokens,
    in_order,
    is_quiet,
    may_hold_private,
    moment,
    of_subagent,
    pass_over,
)

_SETTLED_SECONDS = 0.5
"""A message is written before its tool runs, and nothing marks the end of a turn. So a text without tool runs that is
this old counts as the answer."""

_UNTYPED = ("<session_context>", "This is the Gemini CLI. We are setting up the context")
_MAX_ROOT_BYTES = 4096


def find(root: Path) -> Iterator[Path]:
    """Yield the chats below `root`; the older form of a chat that continues in the newer form is left out."""
    chats = {path for kind in ("json", "jsonl") for path in root.rglob(f"session-*.{kind}")}
    yield from sorted(path for path in chats if path.suffix == ".jsonl" or path.with_suffix(".jsonl") not in chats)


def read(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Return a session's events, oldest first; a sub-agent's chat has none.

    Raises OSError when the file cannot be read.
    """
    chat = _chat(path, options.skipped)
    if text(chat.get("kind")) == "subagent":
        options.skipped["sub-agent's line"] += 1
        return iter(())
    session = text(chat.get("sessionId")) or path.stem
    subagent_chats = [] if options.subagents else _subagent_chats(path.parent, session)
    private_chats = [chat_path for chat_path in subagent_chats if may_hold_private(chat_path, options.rules)]
    quietly = options._replace(skipped=Skipped())
    readers = (GeminiReader(_chat(chat_path, Skipped()), chat_path, quietly) for chat_path in private_chats)
    return in_order(
        GeminiReader(chat, path, options).events(), [of_subagent(reader.events(), session) for reader in readers]
    )


def _subagent_chats(folder: Path, session: str) -> list[Path]:
    """Return the chats of a session's sub-agents: those in the folder beside it with the session's name."""
    own = [entry for entry in folder.iterdir() if entry.name == session]  # the id may be no name at all
    return sorted(chat for entry in own for chat in entry.glob("*.json*"))


def _chat(path: Path, skipped: Skipped) -> dict[str, Any]:
    return mapping(document(path, MAX_LINE_BYTES, skipped)) if path.suffix == ".json" else _lines(path, skipped)


def is_one(lines: list[dict[str, Any]]) -> bool:
    """Whether these are the first lines of a Gemini CLI chat."""
    return any("sessionId" in line and "projectHash" in line for line in lines)


def is_whole(first: bytes) -> bool:
    """Whether a JSON file that begins with `first` is a chat."""
    return b'"sessionId"' in first and b'"projectHash"' in first


def _lines(path: Path, skipped: Skipped) -> dict[str, Any]:
    """Return a chat assembled from its lines."""
    chat: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    taken_back: list[Any] = []
    for line in Lines(path, skipped):
        change = line.get("$set")
        if "$rewindTo" in line:
            taken_back += _rewind(messages, text(line["$rewindTo"]))
        elif isinstance(change, dict):
            chat |= change
            if isinstance(change.get("messages"), list):
                before, messages = messages, _set(messages, objects(change["messages"]))
                taken_back += [before[name] for name in before if name not in messages]
        elif text(line.get("id")):
            messages[text(line.get("id"))] = line
        elif "sessionId" in line:
            chat |= line
        else:
            skipped["line of an unknown kind"] += 1
    return chat | {"messages": list(messages.values()), _TAKEN_BACK: taken_back}


_TAKEN_BACK = "taken back"
"""Key of a chat's messages that a rewind took back; Gemini CLI has no key with a blank."""


def _rewind(messages: dict[str, Any], first: str) -> list[Any]:
    """Remove a message and all after it, or all if it is missing; return the removed ones."""
    names = list(messages)
    return [messages.pop(name) for name in names[names.index(first) if first in messages else 0 :]]


def _set(messages: dict[str, Any], replacing: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the replacing messages, plus the typed prompts that they lack, each before the first later message."""
    typed_texts = {"", *map(_typed, replacing)}
    names = {_id(item) for item in replacing}
    for name, item in messages.items():
        if name not in names and _typed(item) not in typed_texts:
            at = moment(item.get("timestamp")) or 0.0
            later = (place for place, message in enumerate(replacing) if (moment(message.get("timestamp")) or 0.0) > at)
            replacing.insert(next(later, len(replacing)), item)
    return {_id(item): item for item in replacing}


def _typed(message: dict[str, Any]) -> str:
    """Return a message's text if a person typed it, else ""."""
    words = gemini.typed(_words(message)) if message.get("type") == "user" else ""
    return "" if words.startswith(_UNTYPED) else words.strip()


def _id(message: dict[str, Any]) -> str:
    return text(message.get("id")) or made_id(message.get("timestamp"), repr(message.get("content"))[:1000])


class GeminiReader:
    """Turns the messages of one chat into events. _answer: the last text, if no tool run followed."""

    def __init__(self, chat: dict[str, Any], path: Path, options: ReadOptions) -> None:
        self._chat, self._options = chat, options
        self._at = moment(chat.get("startTime")) or path.stat().st_mtime
        session = text(chat.get("sessionId")) or path.stem
        self._base = {"session_id": session, "transcript_path": str(path), "cwd": _cwd(path, chat)}
        self._answer: SavedEvent | None = None
        self._tokens = TurnTokens()

    def events(self) -> Iterator[SavedEvent]:
        """Yield the chat's events, oldest first, after passed-over events for the messages taken back."""
        messages = objects(self._chat.get("messages"))
        if messages:
            yield self._saved("SessionStart", source="startup")
        for message in objects(self._chat.get(_TAKEN_BACK)):
            yield from self._pass_over(message, prompt=_words(message))
        for message in messages:
            self._at = moment(message.get("timestamp")) or self._at
            if message.get("type") == "user":
                yield from self._user(message)
                yield from self._pass_over(message, prompt=_words(message).replace(_typed(message), "", 1))
            else:
                yield from self._assistant(message) if message.get("type") == "gemini" else ()
                yield from self._pass_over(message, said=_words(message))
        if self._answer and (self._at <= self._options.ended or abs(self._options.now - self._at) > _SETTLED_SECONDS):
            yield self._answer
        if messages and is_quiet(self._at, self._options.now):
            yield self._saved("SessionEnd", reason="as the transcript ends")

    def _pass_over(self, message: dict[str, Any], *, prompt: str = "", said: str = "") -> Iterator[SavedEvent]:
        """Yield a message's text, if it may be private: its events may lack some of it. prompt, said: its own words."""
        event = self._saved("AfterAgent").event
        event.prompt, event.message, event.tool_input = prompt, said, []
        shown = "displayContent" if "displayContent" in message else "content"
        event.tool_response = {key: value for key, value in message.items() if key != shown}
        yield from pass_over(event, self._at, self._options)

    def _user(self, message: dict[str, Any]) -> Iterator[SavedEvent]:
        words = gemini.typed(_words(message))
        if words.startswith(_UNTYPED):
            self._options.skipped["prompt that nobody typed"] += 1
            return
        if not words.strip():
            return
        if self._answer:
            yield self._answer
        self._answer = None
        self._tokens.clear()
        self._base["prompt_id"] = _id(message)
        yield self._saved("BeforeAgent", prompt=words)

    def _assistant(self, message: dict[str, Any]) -> Iterator[SavedEvent]:
        words, facts = _words(message), mapping(message.get("tokens"))
        self._tokens.add(_id(message), number(facts.get("input")), number(facts.get("output")))
        self._answer = self._saved("AfterAgent", prompt_response=words) if words.strip() else None
        if self._answer:
            self._tokens.put_into(self._answer.event)
        for saved in self._tools(message):
            self._answer = None  # text before a tool run is not an answer
            yield saved

    def _tools(self, message: dict[str, Any]) -> Iterator[SavedEvent]:
        for call in objects(message.get("toolCalls")):
            status = text(call.get("status"))
            if status in ("cancelled", "canceled"):
                self._options.skipped["tool run that was refused"] += 1
            elif status in ("success", "error", ""):
                display = call.get("resultDisplay")
                response = {
                    "llmContent": _result(call),
                    "returnDisplay": display if isinstance(display, dict) else None,
                }
                if status == "error":
                    response["error"] = {"message": _result(call)}
                fields = {
                    "tool_name": text(call.get("name")),
                    "tool_input": call.get("args"),
                    "tool_response": response,
                }
                saved = self._saved("AfterTool", moment(call.get("timestamp")), **fields)
                saved.event.tool_use_id = text(call.get("id")) or saved.event.tool_use_id
                yield saved

    def _saved(self, name: str, at: float | None = None, **fields: Any) -> SavedEvent:
        """Return an event made from a payload, as in a hook."""
        at = at or self._at
        event = gemini.read({**self._base, "hook_event_name": name, "timestamp": at, **fields}, {})
        event.prompt_id = self._base.get("prompt_id", "")
        return SavedEvent(at, event)


def _words(message: dict[str, Any]) -> str:
    """Return a message's text as it was shown, else its content, which has a prompt's files inserted."""
    return joined_text(message.get("displayContent", message.get("content")))


def _result(call: dict[str, Any]) -> Any:
    """Return a tool's response: the outputs in its response parts, else what was shown."""
    parts = call.get("result")
    outputs = []
    for part in parts if isinstance(parts, list) else [parts]:
        body = mapping(mapping(part).get("functionResponse")).get("response")
        outputs.append(first_text(body, "output", "error") if isinstance(body, dict) else joined_text(part))
    return "\n".join(filter(None, outputs)) or call.get("resultDisplay")


# -- where a chat happened -------------------------------------------------------------------------


def _cwd(path: Path, chat: dict[str, Any]) -> str:
    """Return the folder in which a chat took place; older versions store only its hash."""
    home = next((folder for folder in path.parents if folder.name == "chats"), path.parent).parent
    try:
        project_root = (home / ".project_root").read_bytes()[:_MAX_ROOT_BYTES].decode("utf-8", "replace").strip()
    except OSError:
        project_root = ""
    known_folders = _known_folders(home.parent.parent)
    return project_root or known_folders.get(home.name, "") or known_folders.get(text(chat.get("projectHash")), "")


@lru_cache(maxsize=8)
def _known_folders(gemini_home: Path) -> dict[str, str]:
    """Return the folders that Gemini CLI knows, by short name and by hash."""
    folders: dict[str, str] = {}
    for name, key in (("projects.json", "projects"), ("trustedFolders.json", "")):
        try:
            content = json.loads((gemini_home / name).read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        rows = content.get(key) if key and isinstance(content, dict) else content
        for folder, short in rows.items() if isinstance(rows, dict) else ():
            folders[hashlib.sha256(folder.encode("utf-8", "surrogatepass")).hexdigest()] = folder
            if key and isinstance(short, str):
                folders[short] = folder
    return folders


_PLACE = (gemini.folder, "tmp")
SOURCE = Source(gemini.NAME, gemini.TITLE, find, read, _PLACE, is_one, is_whole, SPOKEN | {"observation"})
"""Gemini CLI's hooks give no ids."""
