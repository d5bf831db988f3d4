"""Transcript queue: schedules the reading of an agent's own transcript, for what hooks could not know.

A hook leaves a mark; the background process that commits the vault reads the transcript. So the agent never waits.
"""

from __future__ import annotations

import os

from mdmem import files, privacy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.capture.pending import Capture
    from mdmem.config import Config

_LINE = "transcript"


def folder(config: Config) -> str:
    """Return the folder of the marks."""
    return os.path.join(config.state_dir, "late")


def expect(capture: Capture) -> None:
    """Mark a session's transcript to be read; do nothing if its agent names none."""
    path = capture.event.transcript or next((line[0] for line in reversed(capture.session.lines(_LINE))), "")
    if not path or "\n" in path or not _is_plain(path, capture):
        return
    if capture.event.transcript and [path] not in capture.session.lines(_LINE):
        capture.session.append(_LINE, path)  # some later events do not give it
    text = "\n".join([capture.event.agent, capture.session.id, path])
    try:
        files.write(os.path.join(folder(capture.config), capture.session.key), text.encode("utf-8", "replace"))
    except OSError:
        return


def _is_plain(path: str, capture: Capture) -> bool:
    """Whether folder and name hold nothing private. Checked apart: a session id in a full path looks like a secret."""
    return all(privacy.clean(part, rules=capture.rules, origin="tool").value == part for part in os.path.split(path))
