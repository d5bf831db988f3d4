"""What was typed, as agents save it whose sessions mdmem does not import: Cursor's transcripts, OpenCode's database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import config
from mdmem.agents import Event, cursor, opencode, text
from mdmem.transcripts.lines import Lines
from mdmem.transcripts.saved import Skipped

if TYPE_CHECKING:
    from mdmem.capture.told import LastHidden

MAX_PROMPT_BYTES = 8 * 1024 * 1024
_QUERY = ("<user_query>", "</user_query>")
_PARTS = "SELECT data FROM part WHERE message_id = ? AND session_id = ? AND length(data) < ? ORDER BY id"


def of_cursor(last: LastHidden, env: Mapping[str, str]) -> Iterator[Event]:
    """Yield the prompts of a conversation, from the lines of the transcript that its hook named.

    Raises:
        OSError: when it cannot be read.
    """
    del env
    for line in Lines(Path(last.transcript), Skipped()) if last.transcript else ():
        message = line.get("message")
        parts = message.get("content") if line.get("role") == "user" and isinstance(message, dict) else None
        for part in parts if isinstance(parts, list) else ():
            said = text(part.get("text")) if isinstance(part, dict) else ""
            head, found, rest = said.partition(_QUERY[0])
            said = rest.rpartition(_QUERY[1])[0].strip("\n") if found and not head.strip() else said
            if said:
                yield cursor.read({"hook_event_name": "beforeSubmitPrompt", "prompt": said}, {})


def of_opencode(last: LastHidden, env: Mapping[str, str]) -> Iterator[Event]:
    """Yield the prompt, from OpenCode's own database.

    Raises:
        OSError: when it cannot be read.
    """
    path = database(env)
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as db:
            rows = db.execute(_PARTS, (last.prompt_id, last.session, MAX_PROMPT_BYTES)).fetchall()
        parts = [json.loads(data) for (data,) in rows]
    except (sqlite3.Error, ValueError) as error:
        raise OSError(f"OpenCode's database at {path} cannot be read: {error}.") from error
    said = [text(part.get("text")) for part in parts if part.get("type") == "text" and not part.get("synthetic")]
    if said:
        facts = {"hook_event_name": "UserPromptSubmit", "prompt_id": last.prompt_id, "prompt": "\n".join(said)}
        yield opencode.read(facts, env)


def database(env: Mapping[str, str]) -> Path:
    """Return where OpenCode keeps its sessions."""
    home = Path(env.get("HOME") or config.home())
    data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share", "opencode")
    return data / (env.get("OPENCODE_DB") or "opencode.db")  # a path of its own stands by itself


PROMPTS: dict[str, Callable[[LastHidden, Mapping[str, str]], Iterator[Event]]] = {
    cursor.NAME: of_cursor,
    opencode.NAME: of_opencode,
}
"""An agent -> what reads its prompts."""
