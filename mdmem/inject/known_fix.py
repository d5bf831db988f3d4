"""Known fix: shows what solved an error before, or else how the turn ended, as the only entry after a failed run."""

from __future__ import annotations

from mdmem import timestamps
from mdmem.inject import eligibility, session_folder
from mdmem.inject.rendering import answer_item, diffs, excerpts
from mdmem.inject.rendering.block import Item, Section, cut, whole_sentences
from mdmem.search import answering, freshness
from mdmem.search.text import analysis, errors
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import journal, layout, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.inject.occasion import Occasion
    from mdmem.inject.session_folder import SessionFolder
    from mdmem.search.index.view import View
    from mdmem.search.solved import Fix

CHARS = 800
"""Maximum length of the block after a failure."""
_ROOM = 420
_MAX_FILES = 3
_MAX_BODY_CHARS = 20_000


def of_error(occasion: Occasion, error: str) -> Section:
    """Return a section with what solved an error before, or how the last turn with it ended; without entries if new.

    An error that was never seen costs one look-up in the index.
    """
    view = freshness.glance(occasion.config)
    if view is None:
        answering.make_ready(occasion.config, occasion.seconds_left / 2)
    asker = occasion.asker(without_session=not occasion.was_compacted, is_rendered=False)

    def look_up(view: View) -> tuple[Fix | None, list[str], list[str]]:
        from mdmem.search import solved

        among = asker.among(view)
        fix = solved.of_error(occasion.config, view, error, among)
        if fix is None:
            failed = solved.last_unsolved(occasion.config, view, error, among)
            return None, [view.path(failed)] if failed is not None else [], []
        if eligibility.left_out(people.load_clean(occasion.config.vault, fix.path)):
            return None, [], []
        notes = [note for name in (*fix.edits, fix.solved) for note in view.notes("facet", f"id:{name}".lower())]
        return fix, [view.path(note) for note in notes], [str(view.facts(note)["title"]) for note in notes]

    fix, paths, titles = freshness.answered(occasion.config, look_up, view) or (None, [], [])
    if fix is not None:
        return Section("What solved this error before", [_item(occasion, fix, paths, titles)])
    items = (_unsolved(occasion, path) for path in paths)
    return Section("This error was seen before", [item for item in items if item])


def _unsolved(occasion: Occasion, path: str) -> Item | None:
    """Return how the turn of a failed run ended; None if it has no answer."""
    failed = people.load_clean(occasion.config.vault, path)
    session, answer = _answer(occasion, path)
    answered = session.read(answer) if answer else None
    if answered is None or answered.meta.get("success") is False or eligibility.left_out(failed):
        return None
    terms = analysis.query_terms(str(failed.meta.get("error")))
    text = excerpts.outcome(occasion.gate.stored(answered.body), terms, _ROOM)
    item = session.item(answer, text, room=_ROOM)
    if item is None or occasion.has_seen(item.id):
        return None
    item.title = occasion.gate.stored(cut(str(failed.meta.get("error") or failed.meta.get("title")), 160))
    return item


def _item(occasion: Occasion, fix: Fix, paths: list[str], titles: list[str]) -> Item:
    """Return a fix as an item: the error, what was changed or run, and how the turn that solved it ended.

    paths, titles: of the edits or helpful runs, followed by the run that succeeded.
    """
    files = ", ".join(fix.files[:_MAX_FILES])
    others = f" and {len(fix.files) - _MAX_FILES} more files" if len(fix.files) > _MAX_FILES else ""
    change = f"after a change to {files}{others}" if files else ""
    helped = "" if files else ", ".join(f"`{cut(title, 120)}`" for title in titles[:-1][-_MAX_FILES:])
    reworded = "" if files or titles[-1] == fix.command else f"as `{cut(titles[-1], 120)}`"
    how = " ".join(filter(None, [change, helped and f"after {helped}", reworded]))
    summary = f"`{cut(fix.command, 80)}` failed with it, and succeeded {how}."
    ending = _ending(occasion, paths[-1])
    room = _ROOM - min(len(summary) + len(ending), _ROOM // 2)
    lines = list(_change(occasion, fix, paths, room))
    text = occasion.gate.stored(f"{summary} {ending}".strip())
    return Item(
        id=[fix.solved, *fix.edits][-1],
        kind="fix",
        title=occasion.gate.stored(cut(fix.error, 160)),
        date=timestamps.readable(fix.created)[:10],
        text=whole_sentences(text, _ROOM - sum(len(line) + 5 for line in lines)),
        lines=tuple(occasion.gate.stored("\n".join(lines)).split("\n")) if lines else (),
        marks=() if occasion.is_of(fix.project) else (f"of another project: {fix.project}",),
        room=_ROOM,
    )


def _change(occasion: Occasion, fix: Fix, paths: list[str], chars: int) -> Iterator[str]:
    """Yield the changes at the places of the failure and those about the error."""
    root = occasion.config.vault
    hunks = [hunk for path in paths[:-1] if fix.files for hunk in answer_item.hunks_of(people.load_clean(root, path))]
    failed = people.load_clean(root, fix.path).body[:_MAX_BODY_CHARS]
    terms = frozenset(analysis.query_terms(fix.error)) - STOPWORDS
    return diffs.best_lines(hunks, terms, chars, errors.places(failed))


def _ending(occasion: Occasion, solved: str) -> str:
    """Return the first sentence of the answer in the turn whose run succeeded."""
    session, answer = _answer(occasion, solved)
    parsed = session.read(answer) if answer else None
    return excerpts.first(session.excerpt(parsed)) if parsed and not eligibility.left_out(parsed) else ""


def _answer(occasion: Occasion, run: str) -> tuple[SessionFolder, str]:
    """Return the session of a run, and the answer of its turn, or ""."""
    session = session_folder.session_in(occasion, layout.folder_of(run))
    turn = answer_item.Turn(session, journal.numbers(run)[0])
    return session, turn.of_kind("response")
