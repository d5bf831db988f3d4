"""Open work, in all projects or in one."""

from __future__ import annotations

import time

from starlette.responses import Response

from mdmem.config import Config
from mdmem.learn import work
from mdmem.learn.work import OpenItem
from mdmem.search.index.view import View, cached_with_view
from mdmem.views.vault_pages.open_work import LABELS
from mdmem.web.pages import shared
from mdmem.web.site import PageRequest

SIZE = 40


def open_work(request: PageRequest) -> Response:
    """Show the open work, newest first."""
    all_items = _all_items(request.view, request.config)
    project = request.query.get("project", "")
    items = [item for item in all_items if project in ("", item.project)]
    part = shared.part(len(items), request.number("page"), SIZE)
    return request.page(
        "open",
        project=project,
        projects=sorted({item.project for item in all_items} - {""}),
        shown=items[part.start : part.end],
        part_of=part,
        labels=LABELS,
    )


@cached_with_view
def _all_items(view: View, config: Config) -> list[OpenItem]:
    return work.in_view(config, view, "", time.time())
