"""The guard of the pages: the HTTP server's guard with a cookie instead of a token, for this user only."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mdmem.server import guard
from mdmem.server.guard import Guard, Headers

ENTER = "/enter"
"""The only path that is answered without a cookie: it takes the key."""

_FORM = b"application/x-www-form-urlencoded"

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    b" base-uri 'none'; frame-ancestors 'none'"
)
SECURITY = (
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"same-origin"),  # "no-referrer" would also hide the origin of our own forms
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
"""Sent with every page: no inline script or style, nothing from other sites, no framing."""


WORDS = {
    **guard.WORDS,
    401: "This page needs a link that only `mdmem web` prints, and each link opens one browser. Run `mdmem web` again.",
    403: "Requests from other sites, and from other users of this machine, are refused.",
    405: "Only GET and POST are supported.",
    413: "The form is too long, so nothing was saved. Go back: the browser still has what you wrote.",
    415: "Only forms are accepted.",
}
"""Status of a refused request -> the text that the browser shows."""


class PageGuard(Guard):
    """Admits only browsers that opened a link of this process."""

    words = WORDS
    most = 3 * guard.MAX_BODY_BYTES  # form encoding takes up to three bytes per byte

    def __init__(self, app: Any, hosts: Iterable[str], port: int, browsers: Browsers) -> None:
        super().__init__(app, hosts, "")
        self._port = port
        self._cookie = f"{cookie_name(port)}="
        self._browsers = browsers

    def admit(self, scope: Any, headers: Headers) -> int | None:
        """Return the status that refuses a request of our own origin; None to admit it."""
        if is_another_user(scope.get("client"), self._port):
            return 403  # they can see the link in the process list, and perhaps get the cookie on their own port
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405
        if scope["path"] == ENTER and scope["method"] == "GET":
            return None
        browser = self._browsers.of_cookie(self._sent(headers))
        if browser is None:
            return 401
        scope["mdmem.browser"] = browser
        if scope["method"] == "POST":
            kinds = headers.get(b"content-type", [b""])
            if len(kinds) != 1 or kinds[0].partition(b";")[0].strip().lower() != _FORM:
                return 415
            if not headers.get(b"origin") and not headers.get(b"sec-fetch-site"):
                return 403  # every browser sends the origin of a form
        return None

    def _sent(self, headers: Headers) -> str:
        """Return the value of our cookie; "" if it was sent twice."""
        pairs = (pair.strip() for line in headers.get(b"cookie", []) for pair in line.decode("latin-1").split(";"))
        values = [pair.removeprefix(self._cookie) for pair in pairs if pair.startswith(self._cookie)]
        return values[0] if len(values) == 1 else ""

    def headers(self, status: int) -> list[tuple[bytes, bytes]]:  # noqa: ARG002 - as for programs
        """Return the headers of every page."""
        return list(SECURITY)


def cookie_name(port: int) -> str:
    """Return the name of the cookie. It contains the port, because browsers share cookies between ports."""
    return f"mdmem-{port}"


TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_CLIENT, _SERVER, _USER = 1, 2, 7
"""Columns of the system's tables of connections."""


def is_another_user(client: tuple[str, int] | None, port: int) -> bool:
    """Whether a connection to our `port` comes from a process of another user, except root.

    False where the system does not report it, as on macOS and Windows.
    """
    if client is None or not hasattr(os, "getuid"):
        return False
    user = user_of(client[1], port)
    return user is not None and user not in (0, os.getuid())


def user_of(client_port: int, port: int) -> int | None:
    """Return the id of the user who connected from `client_port` to `port` on loopback; None if unknown."""
    ends = (f"0100007F:{client_port:04X}", f"0100007F:{port:04X}")
    for table in TABLES:
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()
        except (OSError, ValueError):
            continue
        for line in lines:
            if ends[0] in line and ends[1] in line:
                columns = line.split()
                if columns[_CLIENT].endswith(ends[0]) and columns[_SERVER].endswith(ends[1]):
                    return int(columns[_USER])
    return None


MAX_BROWSERS = 64
"""Maximum number; a new one replaces the oldest."""
MAX_SAVED = 16
"""Maximum number of saved forms of a browser that are known when they are sent again."""


class Message(NamedTuple):
    """A message that the next page shows once. undo: the commit to revert, or "". back: the page to show after that."""

    text: str
    undo: str = ""
    back: str = ""
    bad: bool = False


class Browser:
    """A browser that was admitted.

    csrf: the token that its forms must contain. messages: for its next page. saved: of the last forms with a text that
    it saved, a digest -> the path of the note and a digest of its file.
    """

    def __init__(self) -> None:
        self.cookie = secrets.token_urlsafe(32)
        self.csrf = secrets.token_urlsafe(32)
        self.messages: list[Message] = []
        self.saved: dict[str, tuple[str, str]] = {}

    def remember(self, form: str, path: str, file: str) -> None:
        """Keep as which note a form was saved, by the digests of `saved`."""
        self.saved[form] = path, file
        if len(self.saved) > MAX_SAVED:
            del self.saved[next(iter(self.saved))]

    def take_messages(self) -> list[Message]:
        """Return the waiting messages and remove them."""
        messages, self.messages = self.messages, []
        return messages


class Browsers:
    """All admitted browsers. They are kept in memory only, so a cookie becomes invalid when this process ends."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._known: list[Browser] = []

    def new_key(self) -> str:
        """Return a new key for a link; it works once."""
        key = secrets.token_urlsafe(32)
        self._keys.append(key)
        return key

    def enter(self, key: str) -> Browser | None:
        """Return a new browser for an unused key; None for any other key."""
        for unused_key in self._keys:
            if hmac.compare_digest(unused_key.encode(), key.encode("utf-8", "replace")):
                self._keys.remove(unused_key)
                browser = Browser()
                self._known = [*self._known[1 - MAX_BROWSERS :], browser]
                return browser
        return None

    def of_cookie(self, value: str) -> Browser | None:
        """Return the browser with this cookie."""
        sent = value.encode("utf-8", "replace")
        return next((browser for browser in self._known if hmac.compare_digest(browser.cookie.encode(), sent)), None)
