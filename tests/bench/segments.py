"""Checks that an index of many segments answers like one segment: `python -m tests.bench segments [notes]`.

The same notes are indexed twice: as usual for a vault of this size, and into one segment. Ids, order and scores of the
first ten hits of each question must be identical. --at uses an existing vault, read-only.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mdmem import config
from mdmem.config import Config
from mdmem.search import engine, index
from mdmem.search.index import builder
from tests.bench import vaults

Answer = list[tuple[str, str, float]]


def questions(count: int) -> list[str]:
    """Return questions of one to five words, some with a phrase, an excluded word, a prefix or a filter."""
    chance = random.Random(5)
    vocabulary = vaults.words()
    found = []
    for number in range(count):
        start = chance.randrange(len(vocabulary.text) - 5)
        words = vocabulary.text[start : start + chance.randint(1, 5)]
        rare = vocabulary.known[chance.randrange(2_000, 20_000)]
        project = f"project:project-{chance.randrange(vaults.PROJECTS)}"
        shapes = [
            words,
            [*words, rare],
            ['"' + " ".join(words[:2]) + '"'],
            [*words, f"-{vocabulary.known[chance.randrange(200)]}"],
            [f"{rare[:4]}*"],
            [*words, project],
            [*words, "kind:prompt"],
            [*words, "pytest", "failed"],
        ]
        found.append(" ".join(shapes[number % len(shapes)]))
    return found


def answers(settings: Config, asked: list[str]) -> list[Answer]:
    """Return the first ten hits of each question: id, path and score."""
    options = engine.SearchOptions(now=datetime(2026, 11, 1, tzinfo=UTC), update=False)
    return [[(hit.id, hit.path, hit.score) for hit in engine.search(settings, one, options).hits[:10]] for one in asked]


@contextmanager
def _one_segment() -> Iterator[None]:
    """Build an index as one segment."""
    kept = builder.LEAST, builder.MOST, builder.cores
    builder.LEAST = builder.MOST = 2**31
    builder.cores = lambda: 1
    try:
        yield
    finally:
        builder.LEAST, builder.MOST, builder.cores = kept


def segments(settings: Config) -> list[int]:
    """Return the number of notes in each segment."""
    view = index.current(settings)
    return [leaf.live for leaf in view.leaves] if view else []


def main() -> None:
    """Print how many answers are identical; exit with 1 if some differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench segments", description=__doc__)
    parser.add_argument("notes", nargs="?", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--at", type=Path, help="a vault")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mdmem-segments-") as folder:
        root = given.at or Path(folder) / "vault"
        if not given.at:
            vaults.write(root, given.notes, chars=vaults.SHORT)
        os.environ |= {f"XDG_{name}_HOME": f"{folder}/{name.lower()}" for name in ("STATE", "CACHE", "CONFIG")}
        settings, asked = config.load(str(root)), questions(given.questions)
        index.rebuild(settings)
        many, parts = answers(settings, asked), segments(settings)
        with _one_segment():
            index.rebuild(settings)
        one, whole = answers(settings, asked), segments(settings)
    different = [place for place in range(len(asked)) if many[place] != one[place]]
    found = sum(map(bool, one))
    print(f"{sum(parts):,} notes in {len(parts)} segments ({', '.join(map(str, parts))}), and in {len(whole)}")
    print(
        f"{len(asked) - len(different)} of {len(asked)} answers are the same (ids, order, scores); {found} found notes"
    )
    for place in different[:5]:
        print(f"\n{asked[place]}\n  {many[place]}\n  {one[place]}")
    raise SystemExit(1 if different or len(whole) != 1 else 0)


if __name__ == "__main__":
    main()
