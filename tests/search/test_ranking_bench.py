"""The bench of ranking: it counts what it finds as the literature does, beside other searchers on the same notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import ranking


def test_figures_are_means_over_questions() -> None:
    found = ranking.figures([(["a", "b", "c"], {"a": 1, "x": 1}), (["b", "c"], {"c": 1}), (["b"], {"z": 1})])

    assert found.recall == pytest.approx((0.5 + 1 + 0) / 3)
    assert found.hit == pytest.approx(2 / 3)
    assert found.mrr == pytest.approx((1 + 0.5 + 0) / 3)
    assert 0 < found.ndcg < found.hit


def test_every_searcher_is_measured_on_the_same_questions(tmp_path: Path) -> None:
    notes = tmp_path / "tea" / "one" / "notes"
    notes.mkdir(parents=True)
    (notes / "pot.md").write_text("The tea pot leaks at its handle.\n", encoding="utf-8")
    (notes / "cup.md").write_text("A cup of coffee is on the desk.\n", encoding="utf-8")
    question = {"qid": "q1", "text": "Where does the pot leak?"}
    (notes.parent / "queries.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    (notes.parent / "qrels.json").write_text(json.dumps({"q1": {"pot.md": 1}}), encoding="utf-8")

    head, _, *rows = ranking.rows(tmp_path)

    assert head.startswith("| set | searcher | recall@10 | hit@10 | MRR | nDCG@10 |")
    assert [row.split(" | ")[1] for row in rows][:2] == ["mdmem", "FTS5"]
    assert all(" | 100.0 | 100.0 | 100.0 | 100.0 | " in row for row in rows)
    assert sorted(file.name for file in notes.iterdir()) == ["cup.md", "pot.md"]
