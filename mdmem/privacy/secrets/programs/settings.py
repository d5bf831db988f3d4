"""Passwords in settings of single programs: `ipsec.secrets`, and hosts of gems of Bundler."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import values
from mdmem.privacy.secrets.literals import line_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

_OF_IPSEC = (': PSK "', ': EAP "', ': XAUTH "', ': NTLM "')
_LONGEST = 256  # characters of a value


def find(text: str) -> Iterator[Span]:
    """Find the passwords, in ascending order for each form."""
    yield from _of_ipsec(text)
    yield from _of_bundler(text)


def _of_ipsec(text: str) -> Iterator[Span]:
    """Find the password in `ana : EAP "…"`."""
    for _, start in secrets.occurrences(text, *_OF_IPSEC):
        core = text[start : start + _LONGEST].partition('"')[0]
        if core.strip() and "\n" not in core and not values.is_placeholder(core):
            yield start, start + len(core), "password"


def _of_bundler(text: str) -> Iterator[Span]:
    """Find the password in `BUNDLE_GEMS__EXAMPLE__ORG=ana:…`, which is for a host of gems."""
    for _, start in secrets.occurrences(text, "BUNDLE_"):
        line = text[start : line_end(text, start)][:_LONGEST]
        name = line[: len(line) - len(line.lstrip(_OF_HOSTS))]
        value = line[len(name) :].lstrip("=: \"'")
        user, colon, rest = value.partition(":")
        password = (rest.split() or [""])[0].rstrip("\"'")
        is_host = "__" in name and line[len(name) : len(name) + 1] in ("=", ":")
        if is_host and colon and user.isidentifier() and not (password[:1] == "/" or values.is_placeholder(password)):
            at = start + line.index(value, len(name)) + len(user) + 1
            yield at, at + len(password), "password"


_OF_HOSTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
"""Signs of the names of settings for a host, which have two underscores for each dot."""
