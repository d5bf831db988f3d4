"""Taken up: the sets of notes that are counted give what a look at each later turn gives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

from mdmem import config
from mdmem.learn import taken_up
from mdmem.search import freshness, index, turn_groups
from mdmem.search.index.view import View
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import journal, layout, people
from tests.helpers.talk import Talk

WORDS = "invoice export parser cache retry_policy Straße 登録 timeout the was".split()


def some_words(random: Random, most: int = 6) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(1, most)))


def work(random: Random, vault: Path, cwd: Path, number: int) -> None:
    """Store a session of a few turns, some of which change a file; sessions overlap, so that times are the same."""
    talk = Talk(vault, cwd, f"{number:08d}-0000-4000-8000-000000000000")
    talk.now += 180 * random.randint(0, 2)
    for _ in range(random.randint(1, 4)):
        talk.says(some_words(random))
        if random.random() < 0.6:
            talk.edits(f"{random.choice('abc')}.py")
        if random.random() < 0.8:
            talk.answers(some_words(random, 12))


class Turn(NamedTuple):
    """What was said in a turn: each note's time and terms. worked: whether it changed a file."""

    folder: int
    said: list[tuple[int, frozenset[str]]]
    worked: bool


def turns(view: View, root: str, project: str, *, asked: bool) -> Iterator[Turn]:
    """Yield each turn of a project. asked: only with what was asked in it."""
    found: dict[tuple[int, int], list[int]] = {}
    for note in view.all:
        if journal.numbers(view.name(note)) and layout.project_of(view.path(note)) == project:
            found.setdefault((view.folder_of[note], journal.numbers(view.name(note))[0]), []).append(note)
    kinds = ("prompt",) if asked else ("prompt", "response")
    for (folder, _), notes in found.items():
        names = [view.name(note) for note in notes]
        parsed = [(view.number("created", note), people.load_clean(root, view.path(note))) for note in notes]
        said = [(at, frozenset(analysis.terms(one.body))) for at, one in parsed if one.fact("kind") in kinds]
        yield Turn(folder, said, any(turn_groups.is_edit(name) or turn_groups.is_shell(name) for name in names))


def finds(turns: list[Turn], wanted: set[str], since: int, *, own: int | None) -> bool:
    """Look at each turn alone. own: a session that does not count."""
    least = turn_groups.LEAST_ASKED if own is not None else 1
    for turn in turns:
        common = wanted & {term for at, terms in turn.said if at > since for term in terms}
        is_enough = len(common) >= max(turn_groups.SHARE * len(wanted), least)
        if turn.worked and is_enough and turn.folder != own:
            return True
    return False


def test_it_is_what_a_look_at_each_later_turn_finds(vault: Path, tmp_path: Path) -> None:
    random, settings = Random(7), config.load(str(vault))
    for number in range(24):
        work(random, vault, tmp_path / random.choice(["shop", "shop", "press"]), number)
        if number % 6 == 5:
            index.update(settings)
    for path in random.sample(sorted(vault.glob("journal/*/*/*/*-response-*.md")), 3):
        path.unlink()
    index.update(settings)

    def compare(view: View) -> set[bool]:
        assert len(view.leaves) > 1
        assert view.deleted
        known = cache(lambda project, asked: list(turns(view, settings.vault, project, asked=asked)))
        is_taken_up = taken_up.finder(view, frozenset(view.all))
        answers = set()
        for number, asked in product(view.all, [True, False]):
            text = some_words(random)
            of_project = known(layout.project_of(view.path(number)), asked)
            wanted, own = set(analysis.query_terms(text)) - STOPWORDS, view.folder_of[number] if asked else None
            expected = finds(of_project, wanted, view.number("created", number), own=own)
            assert is_taken_up(number, text, asked=asked) == expected, (view.path(number), text, asked)
            answers.add(expected)
        return answers

    assert freshness.ask(settings, compare) == {True, False}
