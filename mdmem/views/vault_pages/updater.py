"""The pages of sessions, brought up to date for people's commands as the hooks' half writes them."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from mdmem.capture import page
from mdmem.capture.session import Session
from mdmem.errors import MdmemError
from mdmem.vault import journal, note
from mdmem.views.vault_pages import upkeep

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.history.rewrite import UpdatePage


def of(config: Config) -> UpdatePage:
    """Return what brings the page of a session up to date, some of whose notes are gone; of "" the pages around it.

    It returns the paths of those pages around it that it wrote.
    """

    def update(folder: str) -> list[str]:
        if not folder:
            with suppress(MdmemError, OSError):  # the next turn does it
                return upkeep.refresh(config, now=time.time())
            return []
        meta = note.parse(journal.read_page(config.vault, folder)).meta
        session = Session(config, str(meta.get("session", "")))
        opened = session.open_folder() if session.id else None
        if opened is None:
            return []
        with opened:
            opened.lock()
            session.catch_up(opened)
            page.update(session, opened)
        return []

    return update
