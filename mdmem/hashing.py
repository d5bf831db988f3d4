"""Short names from hashes: SHA-256 and Crockford's base32."""

from __future__ import annotations

import sys

# The C module is imported directly: `hashlib` loads OpenSSL, which takes a third of an interpreter start. Only the
# existing one is tried, since a missing module is searched for in every folder.
try:
    if sys.version_info >= (3, 12):
        from _sha2 import sha256 as _digest
    else:
        from _sha256 import sha256 as _digest
except ImportError:
    from hashlib import sha256 as _digest

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32, lower case: without i, l, o and u, so that ids can be read aloud and typed."""


def sha256(data: bytes) -> bytes:
    """Return the SHA-256 hash of `data`."""
    hashed: bytes = _digest(data).digest()
    return hashed


def short(text: str, chars: int) -> str:
    """Return the first `chars` characters (5 bits each) of the SHA-256 of `text` in base32."""
    bits = 5 * chars
    number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass"))[: -(-bits // 8)], "big") >> -bits % 8
    return "".join([ALPHABET[number >> place & 31] for place in range(bits - 5, -1, -5)])
