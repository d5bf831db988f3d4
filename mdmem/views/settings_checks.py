"""Checks of settings: values that cannot be used as they are, and suggestions for unknown keys."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mdmem.config import Config
from mdmem.errors import SettingsWarning
from mdmem.settings import BY_KEY, SETTINGS, Setting
from mdmem.slug import slug


def warnings(config: Config) -> list[str]:
    """Return what was not understood in the settings files, with suggestions for unknown keys."""
    texts: list[str] = []
    for warning in config.warnings:
        unknown = warning.unknown if isinstance(warning, SettingsWarning) else ""
        similar = nearest(unknown) if unknown else ""
        texts.append(f"{warning} Did you mean {similar}?" if similar else warning)
    return [*texts, *filter(None, (unfit(row, config.settings.values[row.key]) for row in SETTINGS))]


def nearest(key: str) -> str:
    """Return the setting with the most similar key; "" if there is none."""
    import difflib

    name = key.rpartition(".")[2]
    key_of_name: dict[str, str] = {row.key.rpartition(".")[2]: row.key for row in SETTINGS}
    if name in key_of_name:
        return key_of_name[name]
    similar_keys: list[str] = difflib.get_close_matches(key, BY_KEY, 1, 0.7)
    if similar_keys:
        return similar_keys[0]
    similar_names = difflib.get_close_matches(name, key_of_name, 1, 0.8)
    return key_of_name[similar_names[0]] if similar_names else ""


VARIABLES = frozenset(
    [
        "MDMEM_VAULT", "MDMEM_DISABLED", "MDMEM_CHILD", "MDMEM_DEBUG", "MDMEM_NOW", "MDMEM_PAGER", "MDMEM_USER_ID",
        "MDMEM_INTERNAL_TYPE", "MDMEM_GHOST_TYPE", "MDMEM_GHOST_OWNER", "MDMEM_GHOST_SPACE", "MDMEM_GHOST_GROUP",
        "MDMEM_CONVERSATION_ID", "MDMEM_COMPATIBLE_API_KEY", *(row.env for row in SETTINGS if row.env),
    ]
)  # fmt: skip
"""The environment variables that mdmem reads."""


def unread_variables(env: Iterable[str]) -> dict[str, str]:
    """Return the variables that look like mdmem's and are not read, each with what to do instead."""
    import difflib

    key_of = {f"MDMEM_{row.key.upper().replace('.', '_')}": row.key for row in SETTINGS}
    unread: dict[str, str] = {}
    for name in sorted(env):
        if name.startswith("MDMEM_") and name not in VARIABLES:
            similar = difflib.get_close_matches(name, VARIABLES, 1, 0.85)
            key = key_of.get(name, "")
            unread[name] = (
                f"Set {key} in a settings file: `mdmem config set {key} VALUE`."
                if key
                else f"Did you mean {similar[0]}?"
                if similar
                else "`mdmem help settings` lists the variables."
            )
    return unread


def unfit(row: Setting[Any], value: Any) -> str:
    """Return why a value cannot be used as it is; "" if it can. Hooks skip this check."""
    judge = _JUDGES.get(row.key) if value != row.default else None
    why = judge(value) if judge else ""
    return f"{row.key} {why}." if why else ""


def _each(judge: Callable[[str], str]) -> Callable[[list[str]], str]:
    """Return the judge of a list by that of its items, which returns what is wrong with one."""
    return lambda value: next((f"has {item!r:.60}, {why}" for item in value if (why := judge(item))), "")


def _no_folder(value: str) -> str:
    """Return why no vault can be at a path; one that does not exist yet is fine."""
    path = Path(os.path.expanduser(value))  # noqa: PTH111 - pathlib raises for a user that does not exist
    if str(path).startswith("~"):
        return f"is {value!r:.60}, and there is no such user"
    try:
        return "" if stat.S_ISDIR((Path.home() / path).stat().st_mode) else f"is {value!r:.60}, which is not a folder"
    except (FileNotFoundError, PermissionError):
        return ""
    except (OSError, ValueError) as error:
        return f"is {value!r:.60}, where no folder can be ({getattr(error, 'strerror', error)})"


def _no_block(value: int) -> str:
    from mdmem.inject.rendering.block import FRAME_CHARS, MAX_CHARS

    if 0 < value <= FRAME_CHARS:
        return f"is {value}, in which no memory fits: about {FRAME_CHARS} go around them. To switch off: inject.enabled"
    return f"is {value}, and at most {MAX_CHARS} is used" if value > MAX_CHARS else ""


def _no_pattern(pattern: str) -> str:
    from mdmem.privacy import patterns

    why = patterns.problem(pattern)
    return f"which {why}" if why else ""


def _no_project(pattern: str) -> str:
    letters = pattern.replace("*", "x").replace("?", "x").lower()
    if slug(letters, len(letters)) == letters:
        return ""
    better = "" if "*" in pattern or "?" in pattern or "/" in pattern else f"; you may mean {slug(pattern)}"
    return (
        f"and no project is called so: names are letters, digits and hyphens{better}."
        " For a folder, set capture.exclude_paths"
    )


def _no_tool(pattern: str) -> str:
    if pattern and _IN_NO_TOOL.isdisjoint(pattern):
        return ""
    return (
        "and no tool is called so: write one glob for each name, such as mcp__github__*."
        " It chooses by names only, not by what a tool does"
    )


_IN_NO_TOOL = frozenset(" \t|(){}^$,;\"'")


def _no_path(pattern: str) -> str:
    why = next((why for form, why in _IN_NO_PATH if re.match(form, pattern)), "")
    if not why and pattern != pattern.strip():
        why = "remove the spaces around it"
    if not why and pattern.startswith("~") and os.path.expanduser(pattern) == pattern:  # noqa: PTH111 - as hooks do
        why = "there is no such user"
    return f"which excludes nothing: {why}" if why else ""


_IN_NO_PATH = (
    (r"$", "it is empty"),
    (r"!", "nothing is taken back by a !"),
    (r".*\$\w|.*\$\{|.*%\w+%", "variables are not replaced; write the path, or ~ for your home folder"),
    (r".*[{}]", "* ** and ? are all a glob may have; write one for each name"),
    (r"\w{2,}://", "write a path, not an address"),
    (r"(.*[/\\])?\.\.([/\\]|$)", "write the whole path, or ~ for your home folder"),
)
"""Forms of patterns that match no path, and why."""


def _no_tag(value: list[str]) -> str:
    from mdmem.privacy import tags

    used = tags.words(value)
    for word in value:
        if not tags.bare(word):
            return f"has {word!r:.60}, which hides nothing: a word has 2 to 40 of the characters a-z, 0-9, - and _"
        if tags.bare(word) not in used:
            return f"has {word!r:.60}, which hides nothing: only {tags.MAX_WORDS} words are used"
    return ""


def _no_address(value: str) -> str:
    is_address = not value or value.startswith(("https://", "http://"))
    return "" if is_address else f"is {value!r:.60}, and must begin with https:// or http://"


def _no_mark(name: str) -> Callable[[str], str]:
    def judge(value: str) -> str:
        from mdmem import privacy

        changed: dict[str, Any] = {name: value}
        used_value = getattr(privacy.Rules(**changed), name)
        return (
            "" if used_value == value else f"cannot be {value!r:.60}, which is more than a mark; {used_value} is used"
        )

    return judge


def _no_trust(row: str) -> str:
    words = row.split()
    try:
        fits = len(words) == 3 and 0 <= float(words[2]) <= 1
    except ValueError:
        fits = False
    names_somebody = re.match(r"agent( |$)|(user|space|group):[^ ]", row)
    if not row or (names_somebody and fits):
        return ""
    effect = "counts as 0" if names_somebody else "limits nobody"
    return f'which {effect}; write "user:alice bob 0.5" or "agent * 0.3"'


def _no_provider(value: str) -> str:
    from mdmem.search.expansion.providers import PROVIDERS

    is_known = value.strip().lower().replace("_", "-") in PROVIDERS
    return "" if is_known else f"is {value!r:.40}, which is not a provider; known ones: {', '.join(PROVIDERS)}"


def _no_pairs(value: list[str]) -> str:
    from mdmem.search.expansion.providers import PROVIDERS

    are_pairs = all(len(row.split()) == 2 and row.split()[0] in PROVIDERS for row in value)
    return "" if are_pairs else f"takes items of a provider and its value; known providers: {', '.join(PROVIDERS)}"


_JUDGES: dict[str, Callable[[Any], str]] = {
    "vault": _no_folder,
    "capture.tools": _each(_no_tool),
    "capture.exclude_tools": _each(_no_tool),
    "capture.exclude_projects": _each(_no_project),
    "capture.exclude_paths": _each(_no_path),
    "privacy.tags": _no_tag,
    "inject.chars": _no_block,
    "privacy.patterns": _each(_no_pattern),
    "privacy.marker": _no_mark("marker"),
    "privacy.redacted": _no_mark("redacted"),
    "internal.trust": _each(_no_trust),
    "sync.max_file_mb": lambda value: f"is {value}, and at most 33 is used" if value > 33 else "",
    "watch.sweep_seconds": lambda value: f"is {value}, and at least 1 is used" if value < 1 else "",
    "expand.address": _no_address,
    "expand.provider": _no_provider,
    "expand.models": _no_pairs,
    "expand.keys": _no_pairs,
}
