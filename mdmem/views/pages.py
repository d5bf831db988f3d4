"""The pages of sessions, brought up to date for people's commands as the hooks' half writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.capture import page
from mdmem.capture.session import Session
from mdmem.vault import journal, note

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.history.rewrite import UpdatePage


def updater(config: Config) -> UpdatePage:
    """Return what brings the page of a session up to date, some of whose notes are gone."""

    def update(folder: str) -> None:
        meta = note.parse(journal.read_page(config.vault, folder)).meta
        session = Session(config, str(meta.get("session", "")))
        opened = session.open_folder() if session.id else None
        if opened is None:
            return
        with opened:
            opened.lock()
            session.catch_up(opened)
            page.update(session, opened)

    return update
