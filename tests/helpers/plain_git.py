"""Runs plain git with a user name configured."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *words: str, check: bool = True) -> str:
    """Run git in a folder; return its output."""
    person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *person, *words], capture_output=True, check=check)
    return os.fsdecode(done.stdout)


def make_remote(folder: Path) -> Path:
    """Make an empty repository to push to, with branch `main`."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    return folder
