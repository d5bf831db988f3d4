"""Secrets in forms that single programs have: dialogues with servers, settings, printed keys, what they read.

Each module is for one topic, and is loaded only for a text with one of its signs.
"""

from __future__ import annotations

from mdmem.privacy.secrets import has_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span


def find(text: str) -> Iterator[Span]:
    """Find the secrets in dialogues, settings and printed keys, in ascending order for each form."""
    if has_any(text, _OF_SETTINGS):
        from mdmem.privacy.secrets.programs import settings

        yield from settings.find(text)
    if has_any(text, _OF_MAIL):
        from mdmem.privacy.secrets.programs import mail

        yield from mail.find(text)
    if has_any(text, _OF_REDIS):
        from mdmem.privacy.secrets.programs import redis

        yield from redis.find(text)
    if has_any(text, _OF_KEYS):
        from mdmem.privacy.secrets.programs import keys

        yield from keys.find(text)


_OF_SETTINGS = (': PSK "', ': EAP "', ': XAUTH "', ': NTLM "', "BUNDLE_")
_OF_MAIL = ("AUTH", "334 ", "]:587 ", "]:465 ", "]:25 ")
_OF_REDIS = ("AUTH", "user ")
_OF_KEYS = ("rivate-Key:", "(private-key", "$ANSIBLE_VAULT;")
