"""Secrets: values that their name, place or look gives away. Here is what tells that a text cannot hold any.

Every text of a payload comes here; the scanners are loaded only for a text that may hold a secret.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

KEYWORDS = (
    "pass", "pw", "secret", "token", "key", "cred", "auth", "cookie", "bearer", "jwt", "psk", "sessid", "jsessionid",
    "gh_pat", "hub_pat", "lab_pat", "ext_pat", "sig=", "signature=", "sid=", "code=", "kennwort", "senha", "wachtwoord",
    "parola", "salasana", "pin is", "pin=", "pin:", "mnemonic", "phrase", "contribsys", "salt", "nonce",
)  # fmt: skip
"""What every name of a secret holds, in lower case. A text without them needs no closer look."""

KEYWORDS_BEYOND_ASCII = (
    "비밀번호", "비번", "암호", "패스워드", "パスワード", "密码", "密碼", "口令", "пароль", "contraseña", "hasło",
    "şifre", "lösenord", "jelszó",
)  # fmt: skip

SHORTEST_TOKEN = 16
"""No token that can be told by its look is shorter, in characters."""

_BREAKS = bytes(range(33)) + b"\"'`()[]{}<>,;"
_SPACED = bytes.maketrans(_BREAKS, b" " * len(_BREAKS))


def has_any(text: str, words: Iterable[str]) -> bool:
    """Whether a text holds one of some words. A plain loop: every text of a payload comes here, with long lists."""
    for word in words:  # noqa: SIM110 - `any` costs twice as much
        if word in text:
            return True
    return False


def has_keyword(low: str) -> bool:
    """Whether a text in lower case holds a word that could name a secret."""
    return has_any(low, KEYWORDS) or (not low.isascii() and has_any(low, KEYWORDS_BEYOND_ASCII))


def may_hold_token(text: str) -> bool:
    """Whether a text has a long word that is neither plain lower case nor a UUID: all that a token could be."""
    words = text.encode("ascii", "replace").translate(_SPACED).split()
    return any(len(word) >= SHORTEST_TOKEN and not _is_harmless(word) for word in words)


def _is_harmless(word: bytes) -> bool:
    is_uuid = len(word) == 36 and word.translate(None, b"0123456789abcdef") == b"----"
    return is_uuid or (word.islower() and word.translate(None, b"0123456789") == word)
