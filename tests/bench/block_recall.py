"""Measures what is injected for prompts that ask about the past: `python -m tests.bench block_recall FOLDER [WAYS]`.

FOLDER has a folder for each vault, with `notes/`, `queries.jsonl` (`qid`, `text`, `cat`: the project) and `qrels.json`
(qid -> paths of the notes of the session with the answer). WAYS has `asks.tsv` and `ordinary.tsv` (language TAB
prompt): prompts that ask, and prompts that need no memory, each tried in every project of the first vault.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mdmem import config
from mdmem.agents import Event
from mdmem.inject import context
from mdmem.search import index

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")


class Share(NamedTuple):
    """Result of one question.

    given: a block was injected. right: it has the right session. work: it has a diff or a run. own: share of its
    characters from the right session. names: share of the session's identifiers in it. paths: note paths in it.
    """

    given: bool
    right: bool = False
    work: bool = False
    own: float = 0.0
    names: float = 0.0
    paths: int = 0
    cpu_ms: float = 0.0


def ask(settings: config.Config, project: str, text: str, wanted: set[str]) -> Share:
    """Ask one question and look for the session of `wanted` in the block."""
    event = Event(agent="claude-code", name="UserPromptSubmit", cwd=f"/home/dev/work/{project}", prompt=text)
    before = time.process_time()
    given = context.explain(settings, event, time.time(), time.monotonic() + 3600)
    spent = (time.process_time() - before) * 1000
    if given.block is None:
        return Share(given=False, cpu_ms=spent)
    block = given.block.text
    ids = {name.rpartition("-")[2].removesuffix(".md") for name in wanted}
    mine = [one for one in block.split("\n- ")[1:] if set(re.findall(r"\[mem:(\w+)\]", one)) & ids]
    changed = names(settings, wanted)
    return Share(
        given=True,
        right=bool(mine),
        work=bool(re.search(r"^    [-+$]", block, re.MULTILINE)),
        own=sum(map(len, mine)) / len(block),
        names=len([name for name in changed if name in block]) / len(changed) if changed else 1.0,
        paths=len(re.findall(r"journal/\S+\.md", block)),
        cpu_ms=spent,
    )


def names(settings: config.Config, wanted: set[str]) -> set[str]:
    """Return the identifiers that the last three changes of a session added."""
    found: set[str] = set()
    for path in sorted(path for path in wanted if "-edit-" in path)[-3:]:
        text = (Path(settings.vault) / path).read_text(encoding="utf-8")
        added = [line for line in text.splitlines() if line.startswith("+") and not line.startswith("+++")]
        found.update(name for line in added for name in _NAME.findall(line))
    return found


def shares(folder: Path) -> list[Share]:
    """Ask every question of every vault."""
    found = []
    for place in sorted(folder.iterdir()):
        settings = config.load(str(place / "notes"))
        index.update(settings)
        evidence = json.loads((place / "qrels.json").read_text(encoding="utf-8"))
        for row in (place / "queries.jsonl").read_text(encoding="utf-8").splitlines():
            query = json.loads(row)
            project = query["cat"] if (place / "notes" / "journal" / query["cat"]).is_dir() else place.name
            found.append(ask(settings, project, query["text"], set(evidence[query["qid"]])))
    return found


def fires(folder: Path, prompts: Path) -> tuple[int, int]:
    """Return how many prompts get a block in the projects of the first vault, and how many were tried."""
    place = min(folder.iterdir())
    settings = config.load(str(place / "notes"))
    lines = [line.partition("\t")[2] for line in prompts.read_text(encoding="utf-8").splitlines() if line]
    projects = [project.name for project in sorted((place / "notes" / "journal").iterdir()) if project.is_dir()]
    given = sum(ask(settings, project, line, set()).given for project in projects for line in lines)
    return given, len(lines) * len(projects)


def table(folder: Path, ways: str = "") -> Iterator[str]:
    """Ask the questions of a set; yield the lines of the table."""
    found = shares(folder)
    given = [one for one in found if one.given]
    count, blocks = max(len(found), 1), max(len(given), 1)
    yield f"| {folder.name}: {len(found)} questions | |\n|---|---|"
    yield f"| a block | {100 * len(given) / count:.1f} % |"
    yield f"| a block with the right session | {100 * sum(one.right for one in found) / count:.1f} % |"
    yield f"| blocks with a diff or a run | {100 * sum(one.work for one in given) / blocks:.1f} % |"
    yield f"| identifiers of the final change | {100 * sum(one.names for one in given) / blocks:.1f} % |"
    yield f"| characters of the right session | {100 * sum(one.own for one in given) / blocks:.1f} % |"
    yield f"| paths of notes in a block | {sum(one.paths for one in given)} |"
    yield f"| CPU | {sum(one.cpu_ms for one in found) / count:.0f} ms |"
    for name in ("asks.tsv", "ordinary.tsv") if ways else ():
        fired, tried = fires(folder, Path(ways) / name)
        yield f"| {name}, in projects that know nothing of it | {fired} of {tried} |"


def main() -> None:
    """Print the table."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m tests.bench block_recall FOLDER [WAYS]")
    folder, ways = (*sys.argv[1:], "")[:2]
    with tempfile.TemporaryDirectory(prefix="mdmem-bench-") as work:
        for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            os.environ[name] = work
        for line in table(Path(folder), ways):
            print(line)


if __name__ == "__main__":
    main()
