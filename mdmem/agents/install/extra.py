"""Extra: whether the packages of `mdmem[mcp]` are installed, and the command that installs them."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from importlib import metadata
from pathlib import Path

from mdmem.errors import ConfigError


def require_mcp() -> None:
    """Raise ConfigError, with the command that installs the extra, when the package `mcp` is missing."""
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError(
            f"The MCP server needs packages that are not installed. Nothing was changed. Run: {install_command()}"
        )


def install_command(prefix: str = sys.prefix, python: str = sys.executable) -> str:
    """Return the shell command that adds the extra, for pipx, `uv tool`, and pip or uv in an environment."""
    what = shlex.quote(f"{_source()}[mcp]")
    place = Path(prefix).parts
    if "pipx" in place:
        return f"pipx install --force {what}"
    if "uv" in place and "tools" in place:
        return f"uv tool install --force {what}"
    if importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {shlex.quote(python)} {what}"
    return f"{shlex.quote(python)} -m pip install {what}"


def _source() -> str:
    """Return the folder that mdmem was installed from, else its package name."""
    try:
        origin = json.loads(metadata.distribution("mdmem").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return "mdmem"
    url = origin.get("url", "") if isinstance(origin, dict) else ""
    return str(url).removeprefix("file://") if str(url).startswith("file://") else "mdmem"
