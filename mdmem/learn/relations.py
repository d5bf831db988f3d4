"""Typed links in front matter, seen from both notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mdmem.config import Config
from mdmem.search import replaced
from mdmem.search.index.document import LINK_KEYS
from mdmem.search.index.view import View
from mdmem.vault import note, people

MOST = 50
INVERSE = {
    "supersedes": "superseded by",
    "superseded_by": "supersedes",
    "relates_to": "relates to",
    "blocks": "blocked by",
    "blocked_by": "blocks",
    "fixes": "fixed by",
}
"""Front matter key -> the relation seen from the other note."""


class TypedLink(NamedTuple):
    """A link to another note. relation: supersedes, superseded by, relates to, blocks, blocked by, fixes, …"""

    relation: str
    id: str
    title: str
    path: str


def of_note(config: Config, view: View, path: str, meta: Mapping[str, object]) -> list[TypedLink]:
    """Return the typed links from and to a note, each once."""
    typed_links = [*_forward(view, path, meta), *_backward(config, view, path)]
    return list({(link.relation, link.id): link for link in typed_links}.values())[:MOST]


def _forward(view: View, path: str, meta: Mapping[str, object]) -> Iterator[TypedLink]:
    for key in LINK_KEYS:
        for written in replaced.written(meta.get(key)):
            number = replaced.meant(view, path, written)
            name, title = note.id_in_reference(written), ""
            if number is not None:
                facts = view.facts(number)
                name, title = str(facts["id"]), str(facts["title"])
            yield TypedLink(key.replace("_", " "), name, title, view.path(number) if number is not None else "")


def _backward(config: Config, view: View, path: str) -> Iterator[TypedLink]:
    own = view.find(path)
    if own is None:
        return
    names = replaced.names(path, str(view.facts(own)["id"]), str(view.facts(own)["title"]))
    naming = view.with_any(f"link:{name}" for name in names) - view.internal
    for number in sorted(naming, key=view.numbers("created").__getitem__, reverse=True)[:MOST]:
        other_path = view.path(number)
        meta = people.load_clean(config.vault, other_path).meta if other_path != path else {}
        facts = view.facts(number)
        for key in LINK_KEYS:
            if not names.isdisjoint(replaced.targets(meta.get(key), other_path)):
                yield TypedLink(INVERSE[key], str(facts["id"]), str(facts["title"]), other_path)
