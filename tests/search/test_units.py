"""Units: a word finds what is written otherwise: together, apart, or with a slip."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from mdmem import config
from mdmem.search import engine, units

TEXTS = {
    "paths.md": "Return the file path of the module; a file has one path.",
    "lines.md": "Get the first line of a text. The first word of a line counts; get both.",
    "lookup.md": "def getfirstrow(table): return table[0]",
    "export.md": "The exporter writes a calendar of the frobnication.",
    "digits.md": "Step 3 of 3: water the plants.",
    "saving.md": "The backup runs at night. Is the backup complete? The rollout of the compressor follows.",
    "return.md": "He went back to the office. She came back later and got out.",
    "deutsch.md": "INT1 des Beschleunigungssensors liegt auf P0.28.",
    "intern.md": "An intern wrote it.",
    "wires.md": "The interface has four wires.",
    "chinese.md": "---\ntitle: 数据库设计\n---\nWe keep it small.",
}


@pytest.fixture
def vault(tmp_path: Path, home: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
        (tmp_path / f"again-{name}").write_text(f"{text} Once more.\n", encoding="utf-8")
    return tmp_path


def found(vault: Path, words: str) -> set[str]:
    hits = engine.search(config.load(str(vault)), words, engine.SearchOptions(collapse=False)).hits
    return {hit.path.removeprefix("again-") for hit in hits}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("filepath", "paths.md"),
        ("getfirstline", "lines.md"),
        ("getfirst row", "lookup.md"),
        ("get first row", "lookup.md"),
        ("exprter", "export.md"),
        ("frobnicatoin", "export.md"),
        ("Beschleunigung", "deutsch.md"),
        ("compres", "saving.md"),
        ("interf", "wires.md"),
        ("数据库", "chinese.md"),
        ("设计", "chinese.md"),
    ],
)
def test_a_word_is_found_however_it_is_written(vault: Path, words: str, name: str) -> None:
    assert name in found(vault, words)


@pytest.mark.parametrize(
    "words", ["back up", "what do we back up with", "backing up", "how did we roll it out, the rollout"]
)
def test_a_verb_with_its_particle_finds_the_noun_before_the_verb_alone(vault: Path, words: str) -> None:
    first = engine.search(config.load(str(vault)), words).hits[0]

    assert first.path.removeprefix("again-") == "saving.md"


@pytest.mark.parametrize("words", ["qqzzx3", "zzqq_3", "qqzzx3a", "zzqq_a"])
def test_a_number_or_a_letter_in_an_unknown_name_finds_nothing(vault: Path, words: str) -> None:
    assert not found(vault, words)


def test_a_name_with_a_number_does_not_find_every_note_with_that_number(vault: Path) -> None:
    (vault / "buckets.md").write_text("The bucket of zone3 is `upload_to_s3`.\n", encoding="utf-8")

    assert found(vault, "zone3") == found(vault, "zone") == found(vault, "bucket")
    assert "buckets.md" in found(vault, "s3")


def test_the_id_at_the_end_of_a_file_name_is_found_only_whole(vault: Path) -> None:
    name = "2026-09-14-semicolons-in-exports-py5rrqphvg.md"
    (vault / name).write_text("---\nid: py5rrqphvg\nkind: note\n---\nThey are.\n", encoding="utf-8")

    assert name in found(vault, "semicolons")
    assert name in found(vault, "py5rrqphvg")
    assert name not in found(vault, "dates.py")


def test_a_number_that_is_asked_for_is_found(vault: Path) -> None:
    assert "digits.md" in found(vault, "step 3")


def test_a_known_word_is_not_taken_for_another(vault: Path) -> None:
    (vault / "exporters.md").write_text("Exporting is done.\n", encoding="utf-8")

    assert found(vault, "calendar") == {"export.md"}
    assert found(vault, "zzyzx") == set()


def test_of_many_compounds_the_shortest_are_sought() -> None:
    class Words:
        known: ClassVar = {f"trubungs{'messung' * times}": 1 for times in range(1, 100)} | {"trubungen": 1}

        def count(self, field: str, term: str) -> int:
            return self.known.get(term, 0)

        def starting_with(self, field: str, prefix: str, limit: int = 200) -> dict[str, int]:
            return {word: 1 for word in sorted(self.known) if word.startswith(prefix)}

    (unit,) = units.units_of(Words(), "trubung", foreign=True)

    assert [term for term, _ in unit.terms][:3] == ["trubung", "trubungen", "trubungsmessung"]
    assert len(unit.terms) == 2 + units.MAX_BEGINNING
