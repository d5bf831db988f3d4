"""Changing one value in a settings file; comments, blank lines and other values stay as they are.

The line is found and changed as text. Then both versions are parsed to check that only this value has changed.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from mdmem import config, files
from mdmem.agents.install import toml_text
from mdmem.cli.terminal import render
from mdmem.errors import BusyError, ConfigError
from mdmem.vault import disk

TRIES = 5


def values(path: str) -> dict[str, Any]:
    """Return a settings file's values by dotted key; {} if it is missing or broken."""
    try:
        return config.flatten(tomllib.loads(files.read_any(path, config.MAX_FILE_BYTES).decode("utf-8-sig")))
    except (OSError, ValueError):
        return {}


def change(path: str, key: str, value: Any, default: str) -> None:
    """Set one key in a file, which is created if missing; None comments the key out at its default.

    default: the default as TOML.

    Raises:
        ConfigError: when the file is not a regular file or not valid TOML, or writes the key in a form that cannot
            be changed in place.
        BusyError: when another program keeps changing it.
    """
    real = Path(os.path.realpath(path))
    if real.exists() and not real.is_file():
        raise ConfigError(f"{path} is not a regular file, so nothing was changed. Move it away, then run this again.")
    files.make_folders(str(real.parent))
    with disk.open_folder(str(real.parent)) as folder:
        for _ in range(TRIES):
            old = disk.read(folder, real.name)
            new = changed((old or b"").decode("utf-8-sig"), path, key, value, default).encode()
            if new == old or disk.replace(folder, real.name, old, new):
                return
    raise BusyError(f"{path} is being changed by another program. Try again.")


def changed(text: str, path: str, key: str, value: Any, default: str) -> str:
    """Return the text of a settings file with one key set. Parameters and ConfigError are those of `change`."""
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML ({error}). Fix it first; nothing was changed.") from error
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    section, _, name = key.rpartition(".")
    written = f"#{name} = {default}" if value is None else f"{name} = {render.toml(value)}"
    new = newline.join(_with_line(lines, section, name, written))
    expected = {other_key: item for other_key, item in config.flatten(before).items() if other_key != key}
    if value is not None:
        expected[key] = value
    try:
        if config.flatten(tomllib.loads(new)) == expected:
            return new
    except tomllib.TOMLDecodeError:
        pass
    raise ConfigError(f"{path} writes {key} in a form that cannot be changed here. Set it by hand: {written}")


def _with_line(lines: list[str], section: str, name: str, written: str) -> list[str]:
    """Return the lines with `written` in place of the key's line, else of its comment, else added to its section."""
    start, end = _bounds(lines, section)
    for at in range(start, end):
        if toml_text.key(lines[at]) == name:
            last_line = toml_text.last_line(lines, at)
            comment = _comment(lines[last_line]) if last_line == at else ""
            return [*lines[:at], f"{written}{comment}", *lines[last_line + 1 :]]
    for at in range(start, end):
        if lines[at].lstrip().startswith("#") and toml_text.key(lines[at].lstrip("# ")) == name:
            return [*lines[:at], written, *lines[at + 1 :]]
    if written.startswith("#"):
        return lines  # not set here, so there is nothing to comment out
    if start > 0 or not section:
        return [*lines[:start], written, *lines[start:]]
    lines_above = lines[:-1] if lines[-1] == "" else lines
    return [*lines_above, *([""] if lines_above else []), f"[{section}]", written, ""]


def _bounds(lines: list[str], section: str) -> tuple[int, int]:
    """Return the range of a section's lines, without its heading; (0, 0) when there is no such section."""
    headings = {at: names for at, line in enumerate(lines) if (names := toml_text.header(line)) is not None}
    start = 0 if not section else next((at + 1 for at in headings if ".".join(headings[at]) == section), 0)
    if section and not start:
        return 0, 0
    return start, next((at for at in headings if at >= start), len(lines))


def _comment(line: str) -> str:
    """Return the comment after a value, with the space before it; "" when there is none."""
    for at, letter in enumerate(line):
        if letter == "#":
            try:
                tomllib.loads(line[:at])
            except tomllib.TOMLDecodeError:
                continue  # a # inside the value
            return line[len(line[:at].rstrip()) :]
    return ""
