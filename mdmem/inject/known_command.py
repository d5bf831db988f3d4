"""Known command: shows the command that does something in a project, to a prompt that asks for it."""

from __future__ import annotations

from mdmem.inject import eligibility
from mdmem.inject.rendering import answer_item
from mdmem.inject.rendering.block import Item, cut
from mdmem.search import answering, commands, freshness
from mdmem.search.text import analysis
from mdmem.vault import people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.inject.occasion import Occasion
    from mdmem.search.asking.facts import WantedCommand
    from mdmem.search.commands import KnownCommand
    from mdmem.search.hits import SearchHit
    from mdmem.search.index.view import View

_ROOM, _MAX_CHARS = 420, 300


def of(
    occasion: Occasion, wanted: WantedCommand, days: tuple[float, float] | None, *, without_session: bool
) -> tuple[SearchHit, Item | None, str] | None:
    """Return the note with the command that is wanted, and its entry, or None and why not; None if none is known.

    days: only what was run between these times. without_session: not what this session ran.
    """
    answering.make_ready(occasion.config, occasion.seconds_left / 2)
    asker = occasion.asker(without_session=without_session, is_rendered=False)

    def look_up(view: View) -> KnownCommand | None:
        return commands.find(occasion.config, view, wanted, asker.among(view), days)

    found = freshness.answered(occasion.config, look_up)
    if found is None:
        return None
    if not found.command:
        terms = frozenset(analysis.query_terms(" ".join(wanted.words)))
        return found.note, *answer_item.of_note(occasion, found.note, terms, _ROOM)
    return found.note, *_item(occasion, found)


def _item(occasion: Occasion, found: KnownCommand) -> tuple[Item | None, str]:
    """Return a run as an entry, or None and the reason: the command, and how many times it succeeded."""
    hit = found.note
    if hit.id in occasion.given:
        return None, f"{answer_item.ABOVE}[mem:{hit.id}]"
    if reason := eligibility.left_out(people.load_clean(occasion.config.vault, hit.path)):
        return None, reason
    count = f"at least {found.times}" if found.or_more else found.times
    times = "succeeded" if found.times == 1 else f"succeeded {count} times, last on this day"
    item = answer_item.item_of(
        occasion,
        hit,
        found.command,
        "",
        room=_ROOM,
        marks=answer_item.project_marks(occasion, hit),
        lines=[f"$ {cut(found.command, _MAX_CHARS)}"],
    )
    item.kind, item.title = "command", times if found.whole else f"{times}, for a part"
    return item, ""
