"""The token without which no request is answered: made once a vault, kept in a file that only its user can read."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import closing
from pathlib import Path

from mdmem import files, system
from mdmem.config import Config
from mdmem.errors import ConfigError

TOKEN_BYTES = 32
_NAME = "http-token"


def path(config: Config) -> Path:
    """Return where the token is."""
    return Path(config.state_dir) / _NAME


def load(config: Config) -> str:
    """Return the vault's token, made when there is none.

    Raises:
        ConfigError: when others can read it, or it is not the user's own; it must then be replaced.
    """
    file = path(config)
    files.make_folder(str(file.parent))
    for _ in range(2):
        try:
            return _read(file)
        except FileNotFoundError:
            _make(file)
    return _read(file)


def _read(file: Path) -> str:
    fd = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(fd, encoding="ascii") as opened:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or not system.own(found, 0o077):
            raise ConfigError(f"Others can read the token in {file}. Delete it; a new one is made for all clients.")
        token = opened.read(200).strip()
    if len(token) < TOKEN_BYTES:
        raise ConfigError(f"There is no token in {file}. Delete it; a new one is made.")
    return token


def _make(file: Path) -> None:
    """Publish a new token whole; where another process was quicker, its token stays."""
    temp = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(temp, flags, 0o600), "w", encoding="ascii") as opened:
            opened.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
        with closing(system.open_folder(str(file.parent))) as folder:
            folder.publish(temp.name, file.name)
    finally:
        temp.unlink(missing_ok=True)
