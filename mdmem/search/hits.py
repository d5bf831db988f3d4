"""Hits: found notes, with what a person or an agent wants to see of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from mdmem import timestamps
from mdmem.errors import BusyError
from mdmem.search import freshness, ranking, replaced, snippet, turn_groups
from mdmem.search.index.layout import FLAGS
from mdmem.search.text import analysis
from mdmem.values import Value
from mdmem.vault import disk, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Set
    from typing import Any, overload

    from mdmem.config import Config
    from mdmem.search.index.view import View
    from mdmem.search.snippet import Snippet
    from mdmem.search.units import Unit

SNIPPET_CHARS = 240


class SearchHit(Value):
    """A note that was found.

    path: relative to the vault, POSIX. created: ISO 8601 in UTC. project, session: "" if it has none.
    cut: makes its snippet from its path and `data`, its file's content if already read.
    similar: number of equal notes left out in its favor. edited: whether a person changed it.
    superseded_by: id of the note that replaces it, or of a turn that took it back; "" if none does, or nobody asked.
    facts: more of its front matter if present: tool, agent, branch, commit, cwd, prompt, sequence, success and files.
    """

    id: str
    path: str
    kind: str
    title: str
    created: str
    project: str
    session: str
    score: float
    cut: Callable[[str, bytes | None], Snippet]
    similar: int = 0
    edited: bool = False
    superseded_by: str = ""
    facts: dict[str, Any] = {}  # noqa: RUF012 - copied for each
    data: bytes | None = None

    @cached_property
    def _best(self) -> Snippet:
        return self.cut(self.path, self.data)

    @property
    def snippet(self) -> str:
        """Return the best part of the note's text on disk, which is read at the first access."""
        return self._best.text

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Return the positions of the query's words in the snippet: (start, end) in characters."""
        return self._best.spans


class Shown(Value):
    """Which notes become hits, and how.

    chosen: note number -> number of equal notes left out in its favor. scores: the notes' scores. words: the query's
    units. chars: length of a snippet. answers: append the start of its answer to a prompt's snippet, if it is not
    `withheld`. successors: tell which note supersedes one. later: note number -> id of a note of the turn that took it
    back.
    """

    chosen: dict[int, int]
    scores: Mapping[int, float]
    words: Sequence[Unit]
    chars: int = SNIPPET_CHARS
    answers: bool = False
    withheld: Set[int] = frozenset()
    successors: bool = False
    later: Mapping[int, str] = {}


AT_ONCE = 500
"""Maximum number of hits held in memory at once."""


def hits_of(view: View, config: Config, shown: Shown) -> Sequence[SearchHit]:
    """Return the chosen notes as hits. Of many, each is built on access and not kept."""
    if len(shown.chosen) > AT_ONCE:
        return ManyHits(view, config, shown)
    return tuple(_build(view, config.vault, shown, shown.chosen))


def hit_of(view: View, config: Config, note: int) -> SearchHit:
    """Return a note as a hit that was not ranked."""
    return next(_build(view, config.vault, Shown({note: 0}, {note: 0.0}, ()), [note]))


class ManyHits(Sequence[SearchHit]):
    """More hits than are held in memory at once. notes: their numbers in the index."""

    def __init__(self, view: View, config: Config, shown: Shown) -> None:
        self.notes = list(shown.chosen)
        self._view, self._config, self._shown = view, config, shown

    def __len__(self) -> int:
        return len(self.notes)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, place: int) -> SearchHit: ...
        @overload
        def __getitem__(self, place: slice) -> Sequence[SearchHit]: ...

    def __getitem__(self, place: int | slice) -> SearchHit | Sequence[SearchHit]:
        if isinstance(place, slice):
            return self._part(self.notes[place])
        return self._part([self.notes[place]])[0]

    def __iter__(self) -> Iterator[SearchHit]:
        for start in range(0, len(self.notes), AT_ONCE):
            yield from self._part(self.notes[start : start + AT_ONCE])

    def _part(self, notes: Sequence[int]) -> Sequence[SearchHit]:
        def answer(current_view: View) -> Sequence[SearchHit]:
            if current_view is not self._view:
                raise BusyError("The index was damaged and has been rebuilt. Run the command again.")
            return tuple(_build(current_view, self._config.vault, self._shown, notes))

        return freshness.answered(self._config, answer, self._view) or ()


def _build(view: View, root: str, shown: Shown, notes: Iterable[int]) -> Iterator[SearchHit]:
    chars = shown.chars
    weights = {term: ranking.rarity(view, term) for word in shown.words for term, _ in word.terms}
    finder = analysis.WordFinder(weights)

    def cut(path: str, data: bytes | None, title: str) -> Snippet:
        answer = f" → {snippet.best(title, {}, chars // 2 - 3).text}" if title else ""
        text = snippet.body_of(read(root, path, data, snippet.MAX_TEXT_CHARS))
        best = snippet.best(text, weights, chars - len(answer), finder)
        return best._replace(text=best.text + answer)

    for note in notes:
        facts = view.facts(note)
        is_answered = shown.answers and facts["kind"] == "prompt"
        answer = turn_groups.answer_title(view, note, shown.withheld) if is_answered else ""
        yield SearchHit(
            id=facts["id"],
            path=view.path(note),
            kind=facts["kind"],
            title=facts["title"],
            created=timestamps.iso_time(view.number("created", note)),
            project=str(facts.get("project", "")),
            session=str(facts.get("session", "")),
            score=shown.scores[note],
            cut=partial(cut, title=answer),
            similar=shown.chosen[note],
            edited=bool(view.number("flags", note) & FLAGS["edited"]),
            superseded_by=(shown.successors and replaced.successor_name(view, root, note)) or shown.later.get(note, ""),
            facts=facts,
        )


def read(root: str, path: str, data: bytes | None = None, most: int = 0) -> str:
    """Return a note's text, as it may be quoted. data: its file's content if already read. most: as for `quoted`."""
    data = disk.readable(root, path) if data is None else data
    return people.quoted(root, (data or b"").decode("utf-8", "replace"), most)
