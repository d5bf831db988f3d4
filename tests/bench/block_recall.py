"""How often the evidence is in the injected block: `python -m tests.bench.block_recall FOLDER`.

FOLDER holds a folder for each vault, with `notes/`, `queries.jsonl` (`qid`, `text`) and `qrels.json` (qid -> paths).
Each question is put as a prompt to injection with its default settings; nothing is written into the vaults.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from mdmem import config
from mdmem.agents import Event
from mdmem.recall import context


class Share(NamedTuple):
    """Of one question: the share of its evidence that is in the block, how many memories are, and its characters."""

    found: float
    memories: int
    chars: int


def ask(settings: config.Config, text: str, wanted: set[str]) -> Share:
    """Put one question and look for the paths of its evidence."""
    event = Event(agent="claude-code", name="UserPromptSubmit", cwd="/", prompt=text)
    given = context.explain(settings, event, time.time(), time.monotonic() + 3600)
    if given.block is None:
        return Share(0.0, 0, 0)
    shown = {one.hit.path for one in given.found if one.hit.id in given.block.ids}
    return Share(len(wanted & shown) / len(wanted), len(given.block.ids), len(given.block.text))


def main(folder: str) -> None:
    """Print the figures."""
    shares = []
    with tempfile.TemporaryDirectory(prefix="mdmem-bench-") as work:
        for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            os.environ[name] = work
        for place in sorted(Path(folder).iterdir()):
            settings = config.load(str(place / "notes"))
            evidence = json.loads((place / "qrels.json").read_text(encoding="utf-8"))
            for row in (place / "queries.jsonl").read_text(encoding="utf-8").splitlines():
                query = json.loads(row)
                shares.append(ask(settings, query["text"], set(evidence[query["qid"]])))
    count = len(shares)
    print(f"questions: {count}, memories in a block: {sum(one.memories for one in shares) / count:.1f},", end=" ")
    print(f"characters: {sum(one.chars for one in shares) / count:.0f}")
    print(f"evidence in the block: {100 * sum(one.found for one in shares) / count:.1f} % of it,", end=" ")
    print(f"all of it for {100 * sum(one.found == 1 for one in shares) / count:.1f} %", end=" ")
    print(f"and some for {100 * sum(one.found > 0 for one in shares) / count:.1f} % of the questions")


if __name__ == "__main__":
    main(sys.argv[1])
