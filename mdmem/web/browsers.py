"""The browsers that were let in: a link with a key that works once becomes a cookie of this process, and no other."""

from __future__ import annotations

import hmac
import secrets
from typing import NamedTuple

MAX_BROWSERS = 64
"""The oldest goes when another one comes."""


class Message(NamedTuple):
    """What a page says once of what was just done. undo: the commit that takes it back, or ""."""

    text: str
    undo: str = ""
    bad: bool = False


class Browser:
    """One browser that was let in. csrf: what its forms must hold. messages: what its next page says."""

    __slots__ = ("cookie", "csrf", "messages")

    def __init__(self) -> None:
        self.cookie = secrets.token_urlsafe(32)
        self.csrf = secrets.token_urlsafe(32)
        self.messages: list[Message] = []

    def take_messages(self) -> list[Message]:
        """Return what is to be said, and forget it."""
        taken, self.messages = self.messages, []
        return taken


class Browsers:
    """All of them; they are kept in memory, so that what a browser holds is worth nothing after this process."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._known: list[Browser] = []

    def new_key(self) -> str:
        """Return a new key for a link; it works once."""
        key = secrets.token_urlsafe(32)
        self._keys.append(key)
        return key

    def enter(self, key: str) -> Browser | None:
        """Let in who brings a key that was not used yet."""
        for known in self._keys:
            if hmac.compare_digest(known.encode(), key.encode("utf-8", "replace")):
                self._keys.remove(known)
                browser = Browser()
                self._known = [*self._known[1 - MAX_BROWSERS :], browser]
                return browser
        return None

    def of_cookie(self, value: str) -> Browser | None:
        """Return the browser whose cookie this is."""
        sent = value.encode("utf-8", "replace")
        return next((one for one in self._known if hmac.compare_digest(one.cookie.encode(), sent)), None)
