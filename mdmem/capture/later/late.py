"""Late truth: which sessions' own transcripts are to be read for what hooks could not know.

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


def expect(at: Capture) -> None:
    """Mark a session whose transcript is to be read; nothing happens for an agent that names none."""
    path = at.event.transcript or next((line[0] for line in reversed(at.session.lines(_LINE))), "")
    if not path or "\n" in path or not _is_plain(path, at):
        return
    if at.event.transcript and [path] not in at.session.lines(_LINE):
        at.session.append(_LINE, path)  # some events come without it
    text = "\n".join([at.event.agent, at.session.id, path])
    try:
        files.write(os.path.join(folder(at.config), at.session.key), text.encode("utf-8", "replace"))
    except OSError:
        return


def _is_plain(path: str, at: Capture) -> bool:
    """Whether neither the folder nor the name holds anything private; a session's id in a path looks like a secret."""
    return all(privacy.clean(part, rules=at.rules, origin="tool").value == part for part in os.path.split(path))
