"""Technologies whose names have digits: programs, libraries, formats, algorithms and types that a sentence tells of.

`use jinja2 for the login page` looks like `use kq7rt9 for the login page`. These names count only in such sentences:
after `PASSWORD=` or `log in as ana with`, even one of them is a value.
"""

from __future__ import annotations

_NUMBERED = frozenset(
    """
    apiv azuread bcrypt csrf cypress drupal fastapi flask gradle jinja jose junit keycloak kotlin laravel ldap
    libssl log4j mariadb mongo mysql next nginx node nodejs nuxt openssl passkey php phpunit postgres postgresql
    psycopg pydantic pytest python redis ruby scrypt selenium springboot sqlalchemy sqlite staging svelte symfony
    tailwind testng typescript ubuntu uuidv vite vitest webauthn webpack websocket wordpress yescrypt zlib
    """.split()
)
"""Words that the number of a version follows."""
_LONGEST_VERSION = 2  # digits: `flask2024` is rather a password

_VARIANTS = frozenset(("alpine", "bookworm", "cli", "fpm", "js", "lts", "slim"))
"""Follow the number of a version: `node20lts`, `postgres16alpine`."""

_STARTS = ("i18n", "l10n", "a11y", "g11n", "k8s", "e2e", "p2p", "b2b", "b2c", "web2", "web3", "win32", "x11", "auth0")
"""Begin names that go on with one of `_ENDS`: `i18next`, `web3js`; `k8sadmin` is rather a password."""
_ENDS = ("", "api", "cli", "client", "dart", "ext", "gpt", "j", "js", "net", "next", "py", "react", "rs", "sdk", "spa")

_EXACT = frozenset(
    """
    asn1crypto base58check blake2b blake2s blake3 chacha20 chacha20poly1305 crc32c curve25519 curve448 ed25519
    es256k h2console h2database hmacsha1 hmacsha256 hmacsha512 log4net log4shell office365 pg8000 poly1305 secp256k1
    secp256r1 secp384r1 siphash24 utf8mb4 x25519 xchacha20poly1305 xxhash64
    """.split()
)

_USING = frozenset(
    """
    with use uses using via mit nimm nehmt verwende verwendet benutze avec utilise utilisez utiliser prends con usa
    usar utiliza com met gebruik gebruikt
    """.split()
)
"""Words before what is used, in lower case."""
_DIGITS, _LETTERS = "0123456789", "abcdefghijklmnopqrstuvwxyz"


def is_used(previous: str, word: str) -> bool:
    """Whether a word is a technology, and the word before it, in lower case, says that it is used."""
    return previous in _USING and is_technology(word)


def is_technology(word: str) -> bool:
    """Whether a word is the name of one: `jinja2`, `i18next`, `node20lts`, `blake2b`. Its case does not matter."""
    low = word.lower()
    if low in _EXACT or _is_version(low):
        return True
    start = next((start for start in _STARTS if low.startswith(start)), "")
    if start and low[len(start) :] in _ENDS:
        return True
    version = low.rstrip(_LETTERS)
    return low[len(version) :] in _VARIANTS and _is_version(version)


def _is_version(low: str) -> bool:
    name = low.rstrip(_DIGITS)
    return name in _NUMBERED and 0 < len(low) - len(name) <= _LONGEST_VERSION


def is_type(word: str) -> bool:
    """Whether a word is a type with a size: `VARCHAR(60)`, `varchar255`, `uint8`. The last bracket may be missing."""
    name, bracket, size = word.lower().partition("(")
    if bracket:
        return name in _TYPES and not size.strip(_DIGITS + ",)")
    return name[-1:].isdecimal() and name.rstrip(_DIGITS) in _TYPES_BEFORE_DIGITS


_TYPES_BEFORE_DIGITS = ("varchar", "nvarchar", "int", "uint", "float")
_TYPES = (*_TYPES_BEFORE_DIGITS, "varchar2", "char", "nchar", "binary", "varbinary", "decimal", "numeric", "string")
