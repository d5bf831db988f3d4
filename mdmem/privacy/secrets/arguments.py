"""Arguments of commands: finds the secret in `user:…`, `user/…@host`, and judges whether a word may be one."""

from __future__ import annotations

from mdmem.privacy.secrets import values

_ORACLE_USERS = ("system", "sys", "scott", "hr")
_NOWHERE = (0, 0)


def of_printer(word: str) -> tuple[int, int]:
    """Return the span of the secret in `echo …`."""
    printer, blank, printed = word.partition(" ")
    return (len(word) - len(printed), len(word)) if blank and printer in ("echo", "printf") else _NOWHERE


def of_pair(word: str) -> tuple[int, int]:
    """Return the span of the secret in `user:…`, `user%…`, `user,…`, `name=…`."""
    sign = next((sign for sign in ":%,=" if sign in word), "")
    return (word.index(sign) + 1, len(word)) if sign else _NOWHERE


def of_user(word: str) -> tuple[int, int]:
    """Return the span of the secret in `user/…@db`."""
    user, slash, password = word.partition("@")[0].partition("/")
    is_user = slash and user.isidentifier() and is_given(password or "x", plain=user.lower() not in _ORACLE_USERS)
    return (len(user) + 1, len(user) + 1 + len(password)) if is_user else _NOWHERE


def of_address(word: str) -> tuple[int, int]:
    """Return the span of the secret in `user/…@host`. The password may contain `@`."""
    user, slash, password_and_host = word.partition("/")
    at = password_and_host.rfind("@")
    return (len(user) + 1, len(user) + 1 + at) if slash and user and at >= 0 else _NOWHERE


def key_without_password(word: str) -> str:
    """Return a key given in place of the user: `curl -u KEY:`, `curl -u KEY:x`; "" if there is none."""
    user = word[: max(of_pair(word)[0] - 1, 0)]
    return user if user and len(word) - len(user) <= 3 and _is_key(user) else ""


def _is_key(user: str) -> bool:
    """Whether the user of a pair looks like a key."""
    return len(user) >= 10 and "@" not in user and values.is_unlike_words(user) and values.is_varied(user)


def is_given(word: str, *, plain: bool) -> bool:
    """Whether a word may be the secret. plain: its flag is a plain word ("login"), so it must not read like prose."""
    return values.is_unlike_words(word) if plain else not values.is_placeholder(word)
