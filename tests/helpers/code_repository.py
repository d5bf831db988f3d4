"""Code repository: the code that an agent works on, under a git without any settings of the user or the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SETTINGS = {
    "user.name": "Dev",
    "user.email": "dev@example.com",
    "init.defaultBranch": "main",
    "protocol.file.allow": "always",
    "commit.gpgSign": "false",
}


def git(folder: Path, *words: str) -> str:
    """Run git in a folder; return its output."""
    settings = [word for key, value in SETTINGS.items() for word in ("-c", f"{key}={value}")]
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *settings, *words], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository(folder: Path, remote: str = "", commit: bool = False) -> Path:
    """Make a repository, with a remote and a first commit if wanted; return its folder."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    if commit:
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder
