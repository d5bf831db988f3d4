"""Detect: which agents are on this machine."""

from __future__ import annotations

import os
import shutil
from typing import NamedTuple

from mdmem.agents.install.known import AGENTS


class DetectedAgent(NamedTuple):
    """An agent on this machine: its settings folder and its program, "" for what is not there."""

    agent: str
    title: str
    folder: str
    program: str


def detect() -> list[DetectedAgent]:
    """Find the agents that have a settings folder or a program on PATH; nothing is started."""
    found = []
    for agent, module in AGENTS.items():
        folder = module.folder(os.environ)
        program = shutil.which(module.PROGRAM) or ""
        found.append(DetectedAgent(agent, module.TITLE, folder if os.path.isdir(folder) else "", program))
    return [each for each in found if each.folder or each.program]
