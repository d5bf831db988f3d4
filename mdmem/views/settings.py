"""Checks of settings: values that cannot be used as they are, and suggestions for unknown keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mdmem.config import Config
from mdmem.errors import SettingsWarning
from mdmem.settings import BY_KEY, SETTINGS, Setting


def warnings(found: Config) -> list[str]:
    """Return what was not understood in the settings files, with suggestions for unknown keys."""
    said: list[str] = []
    for warning in found.warnings:
        unknown = warning.unknown if isinstance(warning, SettingsWarning) else ""
        near = nearest(unknown) if unknown else ""
        said.append(f"{warning} Did you mean {near}?" if near else warning)
    return [*said, *filter(None, (unfit(row, found.settings.values[row.key]) for row in SETTINGS))]


def nearest(key: str) -> str:
    """Return the setting with the most similar key; "" if there is none."""
    import difflib

    last = key.rpartition(".")[2]
    ends = {row.key.rpartition(".")[2]: row.key for row in SETTINGS}
    whole = difflib.get_close_matches(key, BY_KEY, 1, 0.7)
    part = difflib.get_close_matches(last, ends, 1, 0.8)
    return ends[last] if last in ends else whole[0] if whole else ends[part[0]] if part else ""


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


def _no_mark(name: str) -> Callable[[str], str]:
    def judge(value: str) -> str:
        from mdmem import privacy

        given: dict[str, Any] = {name: value}
        used = getattr(privacy.Rules(**given), name)
        return "" if used == value else f"cannot be {value!r:.60}, which is more than a mark; {used} is used"

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

    known_one = value.strip().lower().replace("_", "-") in PROVIDERS
    return "" if known_one else f"is {value!r:.40}, which is not a provider; known ones: {', '.join(PROVIDERS)}"


def _no_pairs(value: list[str]) -> str:
    from mdmem.search.expansion.providers import PROVIDERS

    good = all(len(row.split()) == 2 and row.split()[0] in PROVIDERS for row in value)
    return "" if good else f"takes items of a provider and its value; known providers: {', '.join(PROVIDERS)}"


_JUDGES: dict[str, Callable[[Any], str]] = {
    "inject.chars": _too_many_chars,
    "privacy.patterns": _no_pattern,
    "privacy.marker": _no_mark("marker"),
    "privacy.redacted": _no_mark("redacted"),
    "internal.trust": _no_trust,
    "expand.provider": _no_provider,
    "expand.models": _no_pairs,
    "expand.keys": _no_pairs,
}
