"""Entries: finds, merges and removes mdmem's entries in an agent's lists of hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mdmem import config
from mdmem.agents.install import command_line, json_text, settings_file
from mdmem.agents.install.command_line import command, is_own, words
from mdmem.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdmem.agents.install.catalog import KnownAgent

Lists = dict[str, list[dict[str, Any]]]


def lists_for(agent: KnownAgent, vault: str, *, shared: bool) -> Lists:
    """Return mdmem's entries for each event; with `vault` "", the commands name none and the settings decide.

    shared: for a file that other people get too.
    """
    lists: Lists = {}
    settings = config.load(vault or None).settings
    rows = (*agent.module.HOOKS, *(row for name, row in agent.on_request.items() if name in settings.inject.on))
    for event, verb, matcher, timeout in rows:
        handler = agent.entry(command(verb, agent.name, vault, shared=shared), verb, timeout)
        if command_line.needs_no_shell(agent.name):
            program, *args = words(verb, agent.name, vault)
            handler |= {"command": program, "args": args}
        items = lists.setdefault(event, [])
        group = next((item for item in items if item.get("matcher", "") == matcher), None) if agent.is_grouped else None
        if group is not None:
            group["hooks"].append(handler)
        elif agent.is_grouped:
            items.append(({"matcher": matcher} if matcher else {}) | {"hooks": [handler]})
        else:
            items.append(handler)
    return lists


def lines(text: str, path: str) -> list[str]:
    """Return mdmem's command lines in a settings file.

    Raises ConfigError when `text`, the content of `path`, is not such a file.
    """
    lists = parsed(text, path).get("hooks", {}).values()
    handlers = [handler for items in lists for item in items for handler in [item, *_inner(item)]]
    return [line for handler in handlers if (line := _own_line(handler))]


def merged(text: str, path: str, lists: Lists, skeleton: Mapping[str, Any]) -> str:
    """Return the settings with mdmem's entries as in `lists`, and every other byte unchanged.

    Entries of an older version are replaced in place. With `lists` {}, all are removed.

    Raises ConfigError when `text`, the content of `path`, is not such a file.
    """
    before = text if text.strip() else "{}\n"
    text = before
    missing = {**skeleton, "hooks": {}} if lists else {}
    with settings_file.changing(path):
        for key, value in missing.items():
            if key not in parsed(text, path):
                text = json_text.append(text, (), value, key)
        for event in dict.fromkeys([*parsed(text, path).get("hooks", {}), *lists]):
            text = _with_event(text, event, lists.get(event, []))
        if text != before and json_text.loads(text).get("hooks") == {}:
            text = json_text.remove(text, ("hooks",))
    if _others(parsed(text, path)) != _others({**skeleton, **parsed(before, path)} if lists else parsed(before, path)):
        raise settings_file.touches_others(path)
    return text


def parsed(text: str, path: str) -> dict[str, Any]:
    """Decode the settings in `text`, the content of `path`.

    Raises ConfigError when it is not a JSON object, or its hooks are not an object of lists.
    """
    try:
        data = json_text.loads(text if text.strip() else "{}")
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}. It was not changed. Fix it and try again.") from error
    hooks = data.get("hooks", {}) if isinstance(data, dict) else None
    lists = hooks.values() if isinstance(hooks, dict) else [None]
    if not isinstance(data, dict) or not all(isinstance(items, list) for items in lists):
        raise ConfigError(f"{path} does not have the structure of a settings file with hooks. It was not changed.")
    return data


def _with_event(text: str, event: str, items: list[dict[str, Any]]) -> str:
    """Return `text` with mdmem's items in one event's list replaced by `items`."""
    present = json_text.loads(text)["hooks"].get(event)
    if present is None:
        return json_text.append(text, ("hooks",), items, event) if items else text
    own_positions = [at for at, item in enumerate(present) if _is_own_item(item)]
    for at, item in zip(own_positions, items, strict=False):
        if present[at] != item:
            text = json_text.replace(text, ("hooks", event, at), item)
    text = _without_strays(text, event, present)
    for at in reversed(own_positions[len(items) :]):
        text = json_text.remove(text, ("hooks", event, at))
    for item in items[len(own_positions) :]:
        text = json_text.append(text, ("hooks", event), item)
    emptied = own_positions and not json_text.loads(text)["hooks"][event]
    return json_text.remove(text, ("hooks", event)) if emptied else text


def _without_strays(text: str, event: str, present: list[Any]) -> str:
    """Return `text` without mdmem's handlers in groups that also have others."""
    for at, item in enumerate(present):
        if not _is_own_item(item):
            for number, handler in reversed(list(enumerate(_inner(item)))):
                if _own_line(handler):
                    text = json_text.remove(text, ("hooks", event, at, "hooks", number))
    return text


def _others(data: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without mdmem's entries and without the lists that this empties."""
    hooks = {}
    for event, items in data.get("hooks", {}).items():
        others = [_without_own(item) for item in items if not _is_own_item(item)]
        if others:
            hooks[event] = others
    return {**data, "hooks": hooks}


def _without_own(item: Any) -> Any:
    if not _inner(item):
        return item
    return {**item, "hooks": [handler for handler in item["hooks"] if not _own_line(handler)]}


def _is_own_item(item: Any) -> bool:
    """Whether an item of an event's list is only mdmem's: a handler, or a group of its handlers alone."""
    return bool(_own_line(item)) or (bool(_inner(item)) and all(map(_own_line, _inner(item))))


def _inner(item: Any) -> list[Any]:
    """Return the handlers of a group, or []."""
    handlers = item.get("hooks") if isinstance(item, dict) else None
    return handlers if isinstance(handlers, list) else []


def _own_line(handler: Any) -> str:
    """Return a handler's command line if it is mdmem's, else ""."""
    if not isinstance(handler, dict):
        return ""
    args = handler.get("args")
    if isinstance(args, list) and is_own(whole := " ".join(map(str, [handler.get("command"), *args]))):
        return whole
    return next((str(line) for line in (handler.get("command"), handler.get("bash")) if is_own(line)), "")
