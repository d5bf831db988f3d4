"""Short names made from longer things: SHA-256, and Crockford's base32 of it."""

from __future__ import annotations

import sys

# The C module is imported directly: `hashlib` loads OpenSSL, a third of an interpreter start. And only the one
# that there is: a module that is missing is looked for in every folder.
try:
    if sys.version_info >= (3, 12):
        from _sha2 import sha256 as _digest
    else:
        from _sha256 import sha256 as _digest
except ImportError:
    from hashlib import sha256 as _digest

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32, lower case: no i, l, o or u, so that an id can be read aloud and typed."""


def sha256(data: bytes) -> bytes:
    """Hash `data`."""
    hashed: bytes = _digest(data).digest()
    return hashed


def short(text: str, chars: int) -> str:
    """Return a name for `text` by the first `chars` characters (5 bits each) of its SHA-256 in base32."""
    bits = 5 * chars
    number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass"))[: -(-bits // 8)], "big") >> -bits % 8
    return "".join([ALPHABET[number >> place & 31] for place in range(bits - 5, -1, -5)])
