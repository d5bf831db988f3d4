"""Paths: a file that a tool names, in one spelling for every machine."""

from __future__ import annotations

import posixpath

_MAX_CHARS = 1000


def relative(path: str, root: str, cwd: str) -> str:
    """Return `path` relative to `root` where it lies inside, else in full; slashes throughout, nothing is looked up.

    A path that is not absolute counts from `cwd`. Windows' drives, shares and backslashes are understood on
    every machine, their letters' case counting for nothing. "" for no path.
    """
    path = _legible(path.strip()[:_MAX_CHARS])
    if not path:
        return ""
    windows = any(map(_is_windows, (path, root, cwd)))
    if windows:
        path, root, cwd = (_slashed(place) for place in (path, root, cwd))
    full = posixpath.normpath(path if _is_absolute(path) else f"{cwd}/{path}" if cwd else path)
    top = posixpath.normpath(root) if root else ""
    if not top:
        return full
    inside = top.rstrip("/") + "/"
    start, whole = (full.lower(), inside.lower()) if windows else (full, inside)
    if start == whole[:-1]:
        return "."
    return full[len(inside) :] if start.startswith(whole) else full


def _is_windows(path: str) -> bool:
    return path.startswith("\\\\") or (path[1:3] in (":\\", ":/") and path[0].isalpha())


def _slashed(path: str) -> str:
    return path.removeprefix("\\\\?\\").replace("\\", "/")


def _is_absolute(path: str) -> bool:
    return path[0] in "/~" or (path[1:3] == ":/" and path[0].isalpha())


def _legible(path: str) -> str:
    if path.isprintable():
        return path
    return "".join([c if c.isprintable() or c == "\u00a0" else "\ufffd" for c in path])
