"""Measures how well search ranks, compared with SQLite FTS5 and, if installed, bm25s.

`python -m tests.bench.ranking FOLDER [SET ...]`: FOLDER (or `MDMEM_BENCH_SETS`) has a folder for each set, and in it
one for each vault: `notes/`, `queries.jsonl` (`qid`, `text`) and `qrels.json` (qid -> path -> gain). Nothing is
written there and nothing is fetched. Figures are percentages; CPU is of this process, in one run.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

from mdmem import config
from mdmem.search import engine, index
from mdmem.search.text.stopwords import STOPWORDS

DEPTH = 50
"""Number of notes that a searcher returns for a question."""
VARIABLE = "MDMEM_BENCH_SETS"

Ranked = Mapping[str, list[str]]
"""qid -> paths, best first."""


class QuestionSet(NamedTuple):
    """One vault with its questions: qid -> text, and qid -> path -> gain."""

    notes: Path
    questions: dict[str, str]
    relevant: dict[str, dict[str, float]]


class RankingFigures(NamedTuple):
    """Means over questions, 0 to 1: recall in the first ten, any hit in the first ten, and two measures of rank."""

    recall: float
    hit: float
    mrr: float
    ndcg: float


def load(folder: Path) -> list[QuestionSet]:
    """Return the vaults of a set."""
    return [
        QuestionSet(
            place / "notes",
            {row["qid"]: row["text"] for row in _rows(place / "queries.jsonl")},
            json.loads((place / "qrels.json").read_text(encoding="utf-8")),
        )
        for place in sorted(folder.iterdir())
        if (place / "queries.jsonl").is_file()
    ]


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())


def figures(ranked: Iterable[tuple[list[str], Mapping[str, float]]]) -> RankingFigures:
    """Return the means over questions. Each has its ranked paths, and the gains of the relevant ones."""
    rows = [_of_one(list(dict.fromkeys(paths)), gains) for paths, gains in ranked]
    return RankingFigures(*(sum(column) / len(rows) for column in zip(*rows, strict=True)))


def _of_one(paths: list[str], gains: Mapping[str, float]) -> RankingFigures:
    top = [path for path in paths[:10] if path in gains]
    first = next((1 / place for place, path in enumerate(paths, 1) if path in gains), 0.0)
    gained = sum(gains[path] / log2(place + 1) for place, path in enumerate(paths[:10], 1) if path in gains)
    best = sum(gain / log2(place + 1) for place, gain in enumerate(sorted(gains.values(), reverse=True)[:10], 1))
    return RankingFigures(len(top) / len(gains), float(bool(top)), first, gained / best if best else 0.0)


# -- the searchers -----------------------------------------------------------------------------------

Searcher = Callable[[QuestionSet], tuple[Callable[[], int], Callable[[], Ranked]]]
"""Takes a vault; returns a function that indexes it (result: number of notes), and one that answers its questions."""


def ours(given: QuestionSet) -> tuple[Callable[[], int], Callable[[], Ranked]]:
    """Search as `mdmem search --queries` does."""
    settings = config.load(str(given.notes))

    def build() -> int:
        return index.rebuild(settings).added

    def answer() -> Ranked:
        return dict(engine.batch(settings, given.questions.items(), limit=DEPTH))

    return build, answer


def fts5(given: QuestionSet) -> tuple[Callable[[], int], Callable[[], Ranked]]:
    """Search with SQLite's full-text index: Porter stems, any of the words, BM25."""
    table = sqlite3.connect(":memory:")
    table.execute("create virtual table notes using fts5(path unindexed, text, tokenize='porter unicode61')")

    def build() -> int:
        table.executemany("insert into notes values (?, ?)", texts(given.notes))
        return int(table.execute("select count(*) from notes").fetchone()[0])

    def answer() -> Ranked:
        return {qid: _fts5_paths(table, text) for qid, text in given.questions.items()}

    return build, answer


def _fts5_paths(table: sqlite3.Connection, text: str) -> list[str]:
    words = " OR ".join(f'"{word}"' for word in dict.fromkeys(_words(text)))
    asked = "select path from notes where notes match ? order by rank limit ?"
    return [row[0] for row in table.execute(asked, (words, DEPTH))] if words else []


def bm25s(given: QuestionSet) -> tuple[Callable[[], int], Callable[[], Ranked]]:
    """Search with bm25s as in its documentation: stop words, and stems if PyStemmer is installed."""
    library = import_module("bm25s")
    stemmer = import_module("Stemmer").Stemmer("english") if find_spec("Stemmer") else None
    retriever = library.BM25()
    paths: list[str] = []

    def build() -> int:
        found = list(texts(given.notes))
        paths.extend(path for path, _ in found)
        corpus = library.tokenize([text for _, text in found], stopwords="en", stemmer=stemmer, show_progress=False)
        retriever.index(corpus, show_progress=False)
        return len(paths)

    def answer() -> Ranked:
        asked = library.tokenize(list(given.questions.values()), stopwords="en", stemmer=stemmer, show_progress=False)
        rows, _ = retriever.retrieve(asked, k=min(DEPTH, len(paths)), show_progress=False)
        return {qid: [paths[place] for place in row] for qid, row in zip(given.questions, rows, strict=True)}

    return build, answer


SEARCHERS: dict[str, Searcher] = {"mdmem": ours, "FTS5": fts5, "bm25s": bm25s}


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every note, with front matter, because the other searchers have no fields."""
    for file in sorted(root.rglob("*.md")):
        if not any(part.startswith(".") for part in file.relative_to(root).parts):
            yield file.relative_to(root).as_posix(), file.read_text(encoding="utf-8", errors="replace")


def _words(text: str) -> list[str]:
    kept = "".join(c if c.isalnum() else " " for c in text).split()
    return [word for word in kept if word.lower() not in STOPWORDS] or kept


# -- the table ---------------------------------------------------------------------------------------


def measure(name: str, given: list[QuestionSet]) -> str:
    """Return a row of the table: one searcher, one set."""
    spent = [0.0, 0.0]
    notes = 0
    ranked: list[tuple[list[str], Mapping[str, float]]] = []
    for vault in given:
        build, answer = SEARCHERS[name](vault)
        at = [time.process_time()]
        notes += build()
        at.append(time.process_time())
        found = answer()
        at.append(time.process_time())
        spent = [total + after - before for total, before, after in zip(spent, at, at[1:], strict=False)]
        ranked += [(found.get(qid, []), gains) for qid, gains in vault.relevant.items() if qid in vault.questions]
    shares = " | ".join(f"{100 * share:.1f}" for share in figures(ranked))
    return f"| {name} | {shares} | {1000 * spent[0] / notes:.2f} | {1000 * spent[1] / len(ranked):.1f} |"


def rows(folder: Path, names: Iterable[str] = ()) -> Iterator[str]:
    """Yield the lines of the table, for all sets in `folder` or only those named."""
    yield "| set | searcher | recall@10 | hit@10 | MRR | nDCG@10 | ms to index a note | ms a question |"
    yield "|---|---|---|---|---|---|---|---|"
    searchers = [name for name in SEARCHERS if name != "bm25s" or find_spec("bm25s")]
    for place in sorted(folder.iterdir()):
        if place.is_dir() and (not names or place.name in names):
            given = load(place)
            yield from (f"| {place.name} {measure(name, given)}" for name in searchers if given)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", nargs="?", default=os.environ.get(VARIABLE), help=f"default: ${VARIABLE}")
    options.add_argument("sets", nargs="*", help="only these sets")
    given = options.parse_args()
    if not given.folder:
        options.error(f"Name the folder of the sets, or set {VARIABLE}.")
    with tempfile.TemporaryDirectory(prefix="mdmem-bench-") as work:
        os.environ["XDG_CACHE_HOME"] = work
        for row in rows(Path(given.folder), given.sets):
            print(row, flush=True)


if __name__ == "__main__":
    main()
