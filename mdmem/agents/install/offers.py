"""Offers: adds optional settings of an agent on request, and removes them again.

A record beside the settings file lists what was added, so that only that is removed and earlier values come back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mdmem.agents.install import json_text, settings_file
from mdmem.agents.install.catalog import ROWS, SettingsOffer, located, row_of
from mdmem.agents.install.registration import SettingsChange
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError, UsageError

RECORD_SUFFIX = ".mdmem-added"


OFFERS: dict[str, tuple[SettingsOffer, ...]] = {row.name: row.offers for row in ROWS if row.offers}
"""An agent -> its offers."""


def accept(agent: str, offer: SettingsOffer, scope: str = "user", *, dry_run: bool = False) -> SettingsChange:
    """Add an offer's settings to the agent's file; settings already there are left alone.

    Raises ConfigError when the settings cannot be parsed or written; they are left alone.
    """
    file, change = _open(agent, offer, scope)
    before = file.text or ""
    if offer.whole:
        text = offer.whole
        added: list[dict[str, Any]] = [] if before == offer.whole else [{"place": [], "value": offer.whole}]
    else:
        text, added = _with(before if before.strip() else "{}\n", offer, file.path)
        added += [{"place": [], "value": {}}] if added and file.text is None else []
    if not added:
        return change
    change = change._replace(action="created" if file.text is None else "updated", note=offer.done)
    if dry_run:
        return change._replace(diff=settings_file.diff(before, text, file.path))
    record = SettingsFile(file.path + RECORD_SUFFIX)
    record.write(json.dumps([*_recorded(record), *added]) + "\n", keep_first=False)
    file.write(text, keep_first=False)
    return change


def withdraw(agent: str, scope: str = "user") -> Iterator[SettingsChange]:
    """Remove from the agent's files what `accept` added and restore earlier values; yield what was changed.

    Raises ConfigError when the settings cannot be parsed or written; they are left alone.
    """
    offered = [offer for offer in OFFERS.get(agent, ()) if _path(agent, offer, scope)]
    for file, change in {_path(agent, offer, scope): _open(agent, offer, scope) for offer in offered}.values():
        record = SettingsFile(file.path + RECORD_SUFFIX)
        if record.text is None:
            continue
        text, rows = file.text or "{}", _recorded(record)
        created = [row["value"] for row in rows if not row["place"]]
        for row in reversed(rows):
            text = _without(text, row, file.path) if row["place"] else text
        if file.text is not None and (text in created or ({} in created and json_text.loads(text) == {})):
            file.delete()
            yield change._replace(action="deleted")
        elif file.text is not None and text != file.text:
            file.write(text, keep_first=False)
            yield change._replace(action="removed")
        record.delete()


def _path(agent: str, offer: SettingsOffer, scope: str) -> str:
    return located(offer.file or row_of(agent).settings, scope)


def _open(agent: str, offer: SettingsOffer, scope: str) -> tuple[SettingsFile, SettingsChange]:
    title, path = row_of(agent).title, _path(agent, offer, scope)
    if not path:
        raise UsageError(f"{title} has no settings of that kind for the scope {scope!r}.")
    return SettingsFile(path), SettingsChange(agent, title, scope, path, "unchanged")


def _with(text: str, offer: SettingsOffer, path: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the settings with an offer's added, and the rows that record how to remove them."""
    with settings_file.changing(path):
        data = json_text.loads(text)
        if offer.items:
            return _with_items(text, data, offer)
        if offer.entries:
            return _with_entries(text, data, offer)
        present = json_text.at(data, offer.place)
        if present == offer.value and type(present) is type(offer.value):
            return text, []
        row = _added(offer.place, offer.value)
        if offer.place[-1] in json_text.at(data, offer.place[:-1]):
            return json_text.replace(text, offer.place, offer.value), [{**row, "before": present}]
        return json_text.append(text, offer.place[:-1], offer.value, offer.place[-1]), [row]


def _with_items(text: str, data: Any, offer: SettingsOffer) -> tuple[str, list[dict[str, Any]]]:
    missing = [item for item in offer.items if item not in (json_text.at(data, offer.place) or ())]
    if not missing:
        return text, []
    text, added = json_text.with_containers(text, offer.place, [])
    rows = [_added(place, [] if place == offer.place else {}) for place in added]
    for item in missing:
        text = json_text.append(text, offer.place, item)
        rows.append({"place": list(offer.place), "item": item})
    return text, rows


def _with_entries(text: str, data: Any, offer: SettingsOffer) -> tuple[str, list[dict[str, Any]]]:
    """Add rules to an object of rules; a single rule for everything, a string, becomes its first rule."""
    rows: list[dict[str, Any]] = []
    places = (offer.place[:depth] for depth in range(1, len(offer.place) + 1))
    single = next((place for place in places if isinstance(json_text.at(data, place), str)), ())
    if single:
        rule = json_text.at(data, single)
        if all(rule == action for _, action in offer.entries):
            return text, []  # everything is allowed
        text = json_text.replace(text, single, {"*": rule})
        rows.append({**_added(single, {"*": rule}), "before": rule})
    text, added = json_text.with_containers(text, offer.place, {})
    rows += [_added(place, {}) for place in added]
    missing = [(key, action) for key, action in offer.entries if key not in (json_text.at(data, offer.place) or ())]
    for key, action in missing:
        text = json_text.append(text, offer.place, action, key)
        rows.append(_added((*offer.place, key), action))
    return (text, rows) if missing else (text, [])


def _added(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return the row that records an added value."""
    return {"place": list(place), "value": value}


def _without(text: str, row: Mapping[str, Any], path: str) -> str:
    """Return the settings without what one row recorded; anything changed since then stays."""
    with settings_file.changing(path):
        place = tuple(row["place"])
        present = json_text.at(json_text.loads(text), place)
        if "item" in row:
            positions = [at for at, item in enumerate(present or ()) if item == row["item"]]
            return json_text.remove(text, (*place, positions[-1])) if positions else text
        if present != row["value"] or type(present) is not type(row["value"]):
            return text
        return json_text.replace(text, place, row["before"]) if "before" in row else json_text.remove(text, place)


def _recorded(record: SettingsFile) -> list[dict[str, Any]]:
    try:
        rows = json.loads(record.text or "[]")
    except ValueError as error:
        raise ConfigError(
            f"{record.path} is not valid JSON: {error}. Remove the settings that it lists by hand."
        ) from error
    return [row for row in rows if isinstance(row, dict) and "place" in row]
