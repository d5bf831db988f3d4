"""Anonymous paths: removes the user's home folder and name if the setting `privacy.anonymize` is on."""

from __future__ import annotations

from mdmem.privacy.secrets import occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ABOVE_USERS = ("home", "users", "user", "u")
_SYSTEM = frozenset(
    [
        "admin", "build", "code", "data", "home", "private", "project", "projects", "public", "repos", "root", "share",
        "shared", "source", "system", "temp", "test", "tests", "user", "users", "work", "workspace",
    ]
)  # fmt: skip
"""Common folder names that may also be a user's name: they count as one only directly below `_ABOVE_USERS`."""


def apply(value: Any, home: str) -> Any:
    """Return a JSON value with `~` in place of the folder `home`, and of the user's name as a folder in other paths."""
    if isinstance(value, str):
        return _text(value, home)
    if isinstance(value, dict):
        return {apply(key, home): apply(item, home) for key, item in value.items()}
    return [apply(item, home) for item in value] if isinstance(value, list) else value


def _text(text: str, home: str) -> str:
    if not any(sign in text for sign in "/\\-"):
        return text
    home = home.rstrip("/\\")
    for form in dict.fromkeys([home, home.replace("\\", "\\\\"), home.replace("\\", "/")]):
        if len(form) > 1 and form in text:
            parent = form[: max(form.rfind("/"), form.rfind("\\")) + 1]
            text = _replaced(text, form, f"{parent}~", _is_inside_path)
            text = _replaced(text, form, "~", lambda text, _, end: not _goes_on(text, end))
    dashed = home.replace("/", "-")
    if len(dashed) > 1 and dashed in text:  # agents name their folders after a project's path
        text = _replaced(text, dashed, "-~", lambda text, _, end: not text[end : end + 1].isalnum())
    user = home.replace("\\", "/").rpartition("/")[2]
    return _replaced(text, user, "~", _is_users_folder) if len(user) > 1 and user in text else text


def _replaced(text: str, part: str, instead: str, applies: Callable[[str, int, int], bool]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in occurrences(text, part):
        if applies(text, start, end):
            parts += (text[at:start], instead)
            at = end
    return "".join([*parts, text[at:]])


def _goes_on(text: str, end: int) -> bool:
    """Whether a folder's name continues at `end`. A full stop at the end of a sentence does not continue it."""
    sign, after = text[end : end + 1], text[end + 1 : end + 2]
    return sign.isalnum() or sign == "_" or (sign in ("-", ".") and after.isalnum())


def _is_inside_path(text: str, start: int, end: int) -> bool:
    """Whether the home folder's path is the end of another one, such as a backup's, or follows an option's letter."""
    before = text[max(start - 1, 0) : start]
    return (before.isalnum() or before in ("_", "-", ".")) and not _goes_on(text, end)


def _is_users_folder(text: str, start: int, end: int) -> bool:
    """Whether a name is a folder in a path, and very likely the user's."""
    before = text[max(0, start - 200) : start]
    if before[-1:] not in ("/", "\\") or _goes_on(text, end) or "://" in before.split()[-1]:
        return False
    parent = text[max(0, start - 40) : start].replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    return parent in _ABOVE_USERS or (end - start >= 4 and text[start:end].lower() not in _SYSTEM)
