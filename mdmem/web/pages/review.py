"""Review: the queue of notes since the last review, proposals, notes that say the same, and unused notes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from markupsafe import Markup
from starlette.responses import Response

from mdmem.config import Config
from mdmem.errors import GitError, VaultError
from mdmem.learn import proposals
from mdmem.learn.proposals import Proposal
from mdmem.search.index.view import View, cached_with_view
from mdmem.vault import note
from mdmem.views import review_queue, rows
from mdmem.views.rows import NoteRow
from mdmem.web import markdown
from mdmem.web.site import PageRequest

SIZE = 10
EXCERPT_CHARS = 2_000


class QueuedNote(NamedTuple):
    """A note that waits for a decision, and the start of its text."""

    row: NoteRow
    html: Markup
    cut: bool


def review(request: PageRequest) -> Response:
    """Show the first notes of the queue, and everything else to decide."""
    kind = request.query.get("kind", "")
    try:
        queue, problem = review_queue.waiting(request.config, request.view), ""
    except (VaultError, GitError) as error:
        queue, problem = review_queue.ReviewQueue("", []), str(error)
    view = request.view
    of_kind = view.notes("facet", f"kind:{kind}".lower()) if kind else None
    chosen = (number for number in queue.numbers if of_kind is None or number in of_kind)
    return request.page(
        "review",
        queue=[_text(request, rows.row(view, number)) for number in islice(chosen, SIZE)],
        waiting=len(queue.numbers),
        head=queue.head,
        problem=problem,
        kind=kind,
        kinds=_kinds(request, queue.numbers),
        proposals=_proposed(view, request.config, int(time.time() // 3600)),
        questions={kind: row.question for kind, row in proposals.KINDS.items()},
        pairs=[(_text(request, first, 4), _text(request, second, 4)) for first, second in review_queue.doubled(view)],
        unused=review_queue.unused(request.config, view),
        unused_days=review_queue.UNUSED_DAYS,
    )


@cached_with_view
def _proposed(view: View, config: Config, hour: int) -> list[Proposal]:
    """Return the proposals, cached per state of the index: finding them is expensive."""
    return proposals.in_view(config, view, now=3600.0 * hour)


def _kinds(request: PageRequest, numbers: Sequence[int]) -> dict[str, int]:
    waiting, view = set(numbers), request.view
    terms = [term for term in view.starting_with("facet", "kind:") if len(term) > 5]
    counted = {term[5:]: len(view.notes("facet", term) & waiting) for term in terms}
    return {kind: count for kind, count in sorted(counted.items(), key=lambda item: -item[1]) if count}


def _text(request: PageRequest, row: NoteRow, level: int = 3) -> QueuedNote:
    body = note.load(request.config.vault, row.path).body
    base = row.path.rpartition("/")[0]
    return QueuedNote(row, markdown.render(body[:EXCERPT_CHARS], base, level=level), len(body) > EXCERPT_CHARS)
