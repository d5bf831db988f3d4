"""Checks of settings: values that cannot be used as they are, and suggestions for unknown keys."""

from __future__ import annotations

from collections.abc import Callable
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


def unfit(row: Setting[Any], value: Any) -> str:
    """Return why a value cannot be used as it is; "" if it can. Hooks skip this check."""
    judge = _JUDGES.get(row.key) if value != row.default else None
    why = judge(value) if judge else ""
    return f"{row.key} {why}." if why else ""


def _too_many_chars(value: int) -> str:
    from mdmem.inject.block import MAX_CHARS

    return f"is {value}, and at most {MAX_CHARS} is used" if value > MAX_CHARS else ""


def _no_pattern(value: list[str]) -> str:
    from mdmem.privacy import patterns

    for pattern in value:
        why = patterns.problem(pattern)
        if why:
            return f"has {pattern!r:.60}, which {why}"
    return ""


def _no_project(value: list[str]) -> str:
    for pattern in value:
        letters = pattern.replace("*", "x").replace("?", "x").lower()
        name = slug(letters, len(letters))
        if name != letters:
            better = "" if "*" in pattern or "?" in pattern or "/" in pattern else f"; you may mean {slug(pattern)}"
            return (
                f"has {pattern!r:.60}, and no project is called so: names are letters, digits and hyphens{better}."
                " For a folder, set capture.exclude_paths"
            )
    return ""


def _no_mark(name: str) -> Callable[[str], str]:
    def judge(value: str) -> str:
        from mdmem import privacy

        changed: dict[str, Any] = {name: value}
        used_value = getattr(privacy.Rules(**changed), name)
        return (
            "" if used_value == value else f"cannot be {value!r:.60}, which is more than a mark; {used_value} is used"
        )

    return judge


def _no_trust(value: list[str]) -> str:
    for row in value:
        words = row.split()
        try:
            fits = len(words) == 3 and 0 <= float(words[2]) <= 1
        except ValueError:
            fits = False
        if not fits:
            return f'has {row!r:.60}, which counts as 0; write "user:alice bob 0.5" or "agent * 0.3"'
    return ""


def _no_provider(value: str) -> str:
    from mdmem.search.expansion.providers import PROVIDERS

    is_known = value.strip().lower().replace("_", "-") in PROVIDERS
    return "" if is_known else f"is {value!r:.40}, which is not a provider; known ones: {', '.join(PROVIDERS)}"


def _no_pairs(value: list[str]) -> str:
    from mdmem.search.expansion.providers import PROVIDERS

    are_pairs = all(len(row.split()) == 2 and row.split()[0] in PROVIDERS for row in value)
    return "" if are_pairs else f"takes items of a provider and its value; known providers: {', '.join(PROVIDERS)}"


_JUDGES: dict[str, Callable[[Any], str]] = {
    "capture.exclude_projects": _no_project,
    "inject.chars": _too_many_chars,
    "privacy.patterns": _no_pattern,
    "privacy.marker": _no_mark("marker"),
    "privacy.redacted": _no_mark("redacted"),
    "internal.trust": _no_trust,
    "expand.provider": _no_provider,
    "expand.models": _no_pairs,
    "expand.keys": _no_pairs,
}
