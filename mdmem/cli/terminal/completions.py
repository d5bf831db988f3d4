"""Shell completion for each sort of option and argument; nothing is updated for a keystroke."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from mdmem import config, timestamps
from mdmem.config import Config
from mdmem.lazy_pattern import lazy
from mdmem.search.query import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

Function = Callable[..., Any]
MOST = 50
"""Maximum number of completions."""
_WORD = lazy(r"(?![-~=#])[\w.,:/@%+=~#\x80-\U0010ffff-]+")


def _is_word(value: str) -> bool:
    """Whether every shell reads a text as a single word, without special characters.

    Bash inserts a completion unquoted, and a note from a remote may have the tag `$(rm -r x)`.
    """
    return bool(_WORD.fullmatch(value)) and value.isprintable()


def _item(value: str, title: str) -> CompletionItem:
    """Return a completion that is shown with the beginning of a title, which anybody may have written."""
    from click.shell_completion import CompletionItem

    from mdmem.cli.terminal import render

    return CompletionItem(value, help=" ".join(render.safe(title[:60]).split()))


def config_of(ctx: click.Context) -> Config:
    """Return the configuration of the vault that the command line names."""
    return config.load(ctx.find_root().params.get("vault"))


def _one_of(names: Callable[[click.Context], Iterable[str]]) -> Function:
    """Complete a word from a list of names, by a part of one where none begins like it."""

    def complete(ctx: click.Context, _: click.Parameter, begin: str) -> list[str]:
        known = list(filter(_is_word, names(ctx)))
        return [name for name in known if name.startswith(begin)] or [name for name in known if begin in name]

    return complete


def _in_index(key: str) -> Function:
    """Complete the value of a facet from the index, which is not updated for a keystroke."""

    def complete(ctx: click.Context, _: click.Parameter, begin: str) -> list[str] | list[CompletionItem]:
        from mdmem.search import index

        try:
            view = index.current(config_of(ctx))
            start = f"{key}:{begin.removeprefix('mem:')}".lower()
            terms = sorted(view.starting_with("facet", start, MOST))[:MOST] if view else []
            named = [term for term in terms if _is_word(term.partition(":")[2])]
            if view is None or key not in ("id", "session"):
                return [term.partition(":")[2] for term in named]
            notes = {term: min(view.notes("facet", term), default=None) for term in named}
            return [
                _item(term.partition(":")[2], str(view.facts(number)["title"]))
                for term, number in notes.items()
                if number is not None
            ]
        except Exception:  # noqa: BLE001 - completion must not print a traceback into a command line
            return []

    return complete


def _keyed(items: Callable[[Config], Iterable[tuple[str, str]]]) -> Function:
    """Complete the key of an item, shown with its text; nothing is updated for a keystroke."""

    def complete(ctx: click.Context, _: click.Parameter, begin: str) -> list[CompletionItem]:
        try:
            rows = items(config_of(ctx))
            return [_item(key, text) for key, text in rows if key.startswith(begin)][:MOST]
        except Exception:  # noqa: BLE001 - as above
            return []

    return complete


def _open_work(config: Config) -> Iterable[tuple[str, str]]:
    from mdmem.learn import work

    return ((item.key, item.text) for item in work.open_work(config, now=timestamps.now(os.environ)))


def _proposals(config: Config) -> Iterable[tuple[str, str]]:
    from mdmem.learn import proposals

    return ((item.key, item.title) for item in proposals.waiting(config, now=timestamps.now(os.environ)))


def vault_projects(ctx: click.Context) -> list[str]:
    """Return the names of the projects of the vault that the command line names."""
    from mdmem.vault import layout

    return layout.projects(config_of(ctx).vault)


def _kinds(_: click.Context) -> Iterable[str]:
    from mdmem.vault.note import KINDS

    return KINDS


def _agents(_: click.Context) -> Iterable[str]:
    from mdmem.agents.install.catalog import AGENTS

    return AGENTS


projects, kinds, agents, states = _one_of(vault_projects), _one_of(_kinds), _one_of(_agents), _one_of(lambda _: STATES)
notes, sessions, tools, tags, branches = map(_in_index, ("id", "session", "tool", "tag", "branch"))
open_work, proposals = _keyed(_open_work), _keyed(_proposals)

OF_FILTERS = {
    "kind": kinds, "project": projects, "session": sessions, "tool": tools, "tag": tags, "agent": agents,
    "branch": branches, "is": states,
}  # fmt: skip


def filter_words(ctx: click.Context, param: click.Parameter, begin: str) -> list[CompletionItem]:
    """Complete the value of a filter typed among the words of a query, as in `kind:pro`."""
    from click.shell_completion import CompletionItem

    before = list(ctx.params.get(param.name or "") or ())
    written, colon, value = begin.rpartition(":")
    key = written
    if begin == ":" or (before[-1:] == [":"] and not colon):  # bash treats a colon as a word of its own
        key, written = "".join(before[-1:] if colon else before[-2:-1]), ""
    else:
        written += colon
    above, comma, value = value.rpartition(",")
    values = OF_FILTERS[key](ctx, param, value) if key in OF_FILTERS else []
    items = (
        completion if isinstance(completion, CompletionItem) else CompletionItem(completion) for completion in values
    )
    return [CompletionItem(f"{written}{above}{comma}{completion.value}", help=completion.help) for completion in items]


def notes_and_sessions(ctx: click.Context, param: click.Parameter, begin: str) -> list[Any]:
    """Complete the id of a note, or of a session."""
    return [*sessions(ctx, param, begin), *notes(ctx, param, begin)]
