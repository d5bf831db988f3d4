"""Installation: how mdmem was installed, and the command that installs it again with more optional packages."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from importlib import metadata
from pathlib import Path

from mdmem import launch
from mdmem.errors import ConfigError

_PACKAGES = {"mcp": "mcp", "purge": "git_filter_repo", "web": "jinja2"}
"""Optional extra, as in `mdmem[mcp]` -> a package that only this extra installs."""
_CACHES = (".cache", "Caches", "Cache")


def require_files() -> None:
    """Raise ConfigError when mdmem is in an archive, such as a zipapp: agents could not start it."""
    if not Path(launch.__file__).is_file():
        raise ConfigError(
            f"This mdmem is in an archive, {sys.path[0]}: agents cannot start it there. Nothing was changed. "
            "Install it with pip, pipx or `uv tool install`."
        )


def require_mcp() -> None:
    """Raise ConfigError, with the command that installs the extra, when the package `mcp` is missing."""
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError(
            f"The MCP server needs packages that are not installed. Nothing was changed. Run: {install_command('mcp')}"
        )


def temporary(prefix: str = sys.prefix) -> str:
    """Return the warning that mdmem is in a cache, where `uvx` and `pipx run` put it; "" if it is not."""
    place = Path(prefix).parts
    if not (_is_in_uv_cache(place) or ("pipx" in place and any(name in place for name in _CACHES))):
        return ""
    return (
        f"This mdmem is in a cache, {prefix}. Once that is emptied, nothing is stored. To keep it, run: "
        f"{install_command(prefix=prefix)}, then `mdmem install` again."
    )


def install_command(name: str = "", prefix: str = sys.prefix, python: str = sys.executable) -> str:
    """Return the shell command that adds an extra, for pipx, `uv tool`, and pip or uv in an environment.

    pipx and `uv tool` replace the environment, so their commands name the extras that it has, too.
    """
    place = Path(prefix).parts
    is_pipx, is_uv = "pipx" in place, _is_in_uv_cache(place) or ("uv" in place and "tools" in place)
    present = {extra for extra, package in _PACKAGES.items() if importlib.util.find_spec(package)}
    extras = ",".join(sorted({name} - {""} | (present if is_pipx or is_uv else set())))
    what = shlex.quote(f"{_source()}[{extras}]" if extras else _source())
    if is_pipx:
        return f"pipx install --force {what}"
    if is_uv:
        return f"uv tool install --force {what}"
    if importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {shlex.quote(python)} {what}"
    return f"{shlex.quote(python)} -m pip install {what}"


def _is_in_uv_cache(place: tuple[str, ...]) -> bool:
    return any(part.startswith(("archive-v", "environments-v", "builds-v")) for part in place)


def _source() -> str:
    """Return the folder that mdmem was installed from, else its package name."""
    try:
        origin = json.loads(metadata.distribution("mdmem").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return "mdmem"
    url = origin.get("url", "") if isinstance(origin, dict) else ""
    return str(url).removeprefix("file://") if str(url).startswith("file://") else "mdmem"
