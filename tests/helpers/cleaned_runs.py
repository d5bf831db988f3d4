"""Tool runs as the privacy gate leaves them, for tests of what is masked in them."""

from __future__ import annotations

from typing import Any

from mdmem.privacy import clean


def read(path: str, content: str) -> Any:
    """Return what is left of a run that read a file."""
    run = {"tool": "Read", "input": {"file_path": path}, "response": {"file": {"filePath": path, "content": content}}}
    return clean(run, origin="tool").value


def ran(command: str, output: str) -> Any:
    """Return what is left of a command's run."""
    run = {"tool": "Bash", "input": {"command": command}, "response": {"stdout": output, "stderr": ""}}
    return clean(run, origin="tool").value
