"""Plain git, as a person runs it who has a name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *words: str, check: bool = True) -> str:
    """Run git in a folder; return what it prints."""
    person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *person, *words], capture_output=True, check=check)
    return os.fsdecode(done.stdout)


def make_remote(folder: Path) -> Path:
    """Make an empty repository to push to, whose branch is `main`."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    return folder
