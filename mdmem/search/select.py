"""Select: finds the notes that a query allows at all, by filters, times, required words and exact phrases."""

from __future__ import annotations

import os
from array import array
from heapq import nlargest
from itertools import chain, compress
from unicodedata import normalize

from mdmem.lazy_pattern import lazy
from mdmem.search import staged, withheld
from mdmem.search.all_but import AllBut, in_all
from mdmem.search.index.layout import FORMER
from mdmem.search.index.view import cached_with_view
from mdmem.search.matches import FIELDS
from mdmem.search.text import analysis
from mdmem.slug import slug
from mdmem.vault import disk, journal
from mdmem.vault.note import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Iterator, Set

    from mdmem.search.index.view import View
    from mdmem.search.query import Filter, Query
    from mdmem.search.staged import Place

_EVERY_ONE = frozenset(["tag", "file", "is"])
"""Filters that a note can meet several times: given twice, both must hold. Of other filters, one suffices."""
_WIDE = frozenset(["agent", "kind", "is"])
"""Filters that many notes meet."""
_GLOB = lazy(r"[*?]")
_PUNCTUATION = lazy(r"\W+")
_MAX_PREFIX_TERMS = 200
_NAMED = frozenset(("kind", "project", "tool", "tag", "agent", "branch"))
"""Filters by a name, which may be misspelled."""
_MAX_NAMES = 10_000
"""Maximum number of names that a misspelled one is compared with."""
_CLOSE_NAMES = 20
"""Number of similar names that are looked through for one that may be suggested."""
MAX_READ = 10_000
"""Maximum number of notes read for a phrase or prefix: the newest that may have it."""


def allowed(
    view: View,
    root: str,
    query: Query,
    *,
    internal: bool = False,
    here: Place | None = None,
    as_read: bool = False,
) -> Set[int] | None:
    """Return the notes that a query allows, or None if it allows all.

    internal: search the internal memories instead of all other notes. as_read: do not read notes again if the last
    query had the same phrases and conditions, as for a page that also counts the results that it shows.
    here: where the query comes from; notes staged on another code branch are left out, unless the query asks for them.
    """
    permitted: set[int] | None
    if query.phrases or query.prefixes:
        permitted = set(_meeting_in_text(view, root, query, as_read=as_read))
    else:
        permitted = _meeting(view, query)
    if internal:
        permitted = set(view.internal) if permitted is None else permitted & view.internal
    hidden = set[int]() if internal else set(view.internal)
    if not staged.are_asked_for(query):
        hidden |= staged.hidden(view, here)
    for excluded in _exclusions(view, root, query):
        hidden.update(excluded)
    if permitted is None:
        return AllBut(view, hidden) if hidden else None
    permitted -= hidden
    return permitted


def unmatched(view: View, query: Query) -> tuple[str, ...]:
    """Return a sentence for each filter that no note meets, such as a misspelled project."""
    excluded = [condition for condition in query.filters if not condition.wanted]
    hidden = view.internal.union(*(_filtered(view, condition) for condition in excluded))
    wanted = (condition for condition in dict.fromkeys(query.filters) if condition.wanted)
    unmet = [condition for condition in wanted if all(note in hidden for note in _filtered(view, condition))]
    return tuple(f"No note has {_either(condition)}.{_similar(view, condition, hidden)}" for condition in unmet)


def _either(condition: Filter) -> str:
    """Return a filter as the user may type it, each alternative by itself."""
    return " or ".join(f"{condition.key}:{value:.80}" for value in condition.values)


def _similar(view: View, condition: Filter, hidden: Set[int]) -> str:
    """Return a question with the names that notes have and that are written like those of a filter; "" for none.

    hidden: notes whose names are not suggested.
    """
    if condition.key not in _NAMED:
        return ""
    known_names = [term.partition(":")[2] for term in view.starting_with("facet", f"{condition.key}:", _MAX_NAMES)]
    is_kind = condition.key == "kind"
    misspelled = [value.lower()[:80] for value in condition.values if not (is_kind and value.lower() in KINDS)]
    if not misspelled:
        return ""
    import difflib

    similar = []
    for value in misspelled:
        names = difflib.get_close_matches(value, known_names, _CLOSE_NAMES)
        similar += [
            name for name in names if any(note not in hidden for note in view.each("facet", f"{condition.key}:{name}"))
        ][:1]
    return f" Did you mean {_either(condition._replace(values=tuple(dict.fromkeys(similar))))}?" if similar else ""


def unread(view: View, query: Query) -> tuple[str, ...]:
    """Return a sentence if more notes may have a phrase or prefix than are read."""
    if not (query.phrases or query.prefixes):
        return ()
    permitted = _meeting(view, query)
    every = (candidates for candidates, _ in _in_text(view, query))
    if all(len(each if permitted is None else permitted.intersection(each)) <= MAX_READ for each in every):
        return ()
    texts = " and ".join([*(f'"{phrase}"' for phrase in query.phrases), *(f"{prefix}*" for prefix in query.prefixes)])
    return (f"Only the newest {MAX_READ:,} notes that may have {texts} were read. `until:DAY` looks at older ones.",)


def _meeting_in_text(view: View, root: str, query: Query, *, as_read: bool) -> frozenset[int]:
    """Return the notes that meet the index's conditions and have each phrase and prefix in their text on disk.

    as_read: as for `allowed`. Otherwise they are read: a note may have been edited that the index still has as it was.
    """
    asked = root, query._replace(words="", must_not=(), hints=(), typed="")
    last_read: frozenset[int]
    last_asked, last_read = view.answers.get((_meeting_in_text,), (None, frozenset()))
    if as_read and last_asked == asked:
        return last_read
    permitted = _meeting(view, query)
    for candidates, text in _in_text(view, query):
        candidates = candidates if permitted is None else permitted.intersection(candidates)
        permitted = _with_text(view, root, _newest(view, candidates), text)
    read = frozenset(permitted or ())
    view.answers[_meeting_in_text,] = asked, read
    return read


def _meeting(view: View, query: Query) -> set[int] | None:
    """Return the notes that meet the conditions that the index alone decides (None: all)."""
    permitted: set[int] | None = None
    for condition in _conditions(view, query):
        permitted = set(condition) if permitted is None else permitted.intersection(condition)
    return permitted


def _in_text(view: View, query: Query) -> Iterable[tuple[Collection[int], str]]:
    """Yield each text that must occur in a note, and the notes that may have it."""
    for phrase in query.phrases:
        yield _with_all(view, phrase), _searched_text(phrase)
    for prefix in query.prefixes:
        yield _packed_with_terms(view, prefix_terms(view, prefix)), flat(prefix).rstrip()


def _newest(view: View, notes: Collection[int]) -> Iterable[int]:
    """Return the candidates that are read: the newest MAX_READ, and all from the same second as the last of them."""
    if len(notes) <= MAX_READ:
        return notes
    created = view.numbers("created")
    least = nlargest(MAX_READ, map(created.__getitem__, notes))[-1]
    return [note for note in notes if created[note] >= least]


def _conditions(view: View, query: Query) -> Iterable[Iterable[int]]:
    """Yield the notes for each condition, the broadest conditions last."""
    for word in query.must:
        yield with_word(view, word)
    by_key: dict[str, list[Filter]] = {}
    for condition in query.filters:
        if condition.wanted:
            by_key.setdefault(condition.key, []).append(condition)
    for key in sorted(by_key, key=_WIDE.__contains__):
        notes_by_filter = (_filtered(view, condition) for condition in by_key[key])
        if key in _EVERY_ONE:
            yield from notes_by_filter
        else:
            yield chain.from_iterable(notes_by_filter)
    if query.since is not None or query.until is not None:
        first = float("-inf") if query.since is None else query.since
        yield view.within(first, float("inf") if query.until is None else query.until)


def _exclusions(view: View, root: str, query: Query) -> Iterable[Iterable[int]]:
    for condition in query.filters:
        if not condition.wanted:
            yield _filtered(view, condition)
    for text in query.must_not:
        yield with_phrase(view, root, text) if _PUNCTUATION.search(text.strip()) else with_word(view, text)


# -- front matter ------------------------------------------------------------------------------------


def _filtered(view: View, condition: Filter) -> Iterable[int]:
    """Yield the notes that meet a filter, possibly more than once."""
    return chain.from_iterable(_with_facet(view, condition.key, value) for value in condition.values)


def withheld_by(view: View, query: Query) -> set[int]:
    """Return the notes that a query leaves out because agents are not shown them."""
    conditions = (condition for condition in query.filters if condition.key == withheld.KEY)
    return {note for condition in conditions for note in _filtered(view, condition)}


def _with_facet(view: View, key: str, value: str) -> Iterable[int]:
    if key == withheld.KEY:
        return withheld.from_project(view, value)
    value = value.strip("/") + ("/" if value.endswith("/") else "") if key == "file" else value
    if key == "tag":  # with the tags nested in it, as in Obsidian
        value = value.removeprefix("#").rstrip("/")
        return chain(view.each("facet", f"tag:{value}"), view.with_facets(f"tag:{value}/", lambda _: True))
    if key == "file" and _GLOB.search(value):
        pattern = _glob(value)
        return view.with_facets("file:", lambda raw: pattern.fullmatch(raw.decode("utf-8", "replace")))
    postings = view.postings("facet", f"{key}:{value}")
    if key == "project":
        postings = [*postings, *view.postings("facet", f"{FORMER}{value}")]
    if postings or key in ("kind", "is"):
        return chain.from_iterable(notes for notes, _ in postings)
    if key == "session":
        with_prefix = view.with_facets(f"session:{value}", lambda _: True)
        return with_prefix or view.with_facets("session:", lambda raw: journal.session_tag(os.fsdecode(raw)) == value)
    if key == "agent":
        from mdmem.agents.install.catalog import name_meant  # rarely needed

        value = name_meant(value)
    if key == "project":
        value = slug(value) or value  # a folder called `Notes.App` is the project notes-app
    return _with_part(view, f"{key}:", value.encode("utf-8", "surrogatepass"))


@cached_with_view
def _with_part(view: View, start: str, part: bytes) -> array[int]:
    """Return the notes with a facet that begins with `start` and has `part` in its rest."""
    return array("I", view.with_facets(start, lambda raw: part in raw, part))


def _glob(value: str) -> re.Pattern[str]:
    """Compile a glob for a file's path or any end of it: `*` and `?` stay within a folder, `**` does not.

    Text between two wildcards is matched at its first occurrence: others could only match later.
    """
    import re  # few searches have globs

    first, *rest = re.split(r"((?<![^/])(?:\*\*/)+|\*\*+)", value)
    *groups, last = [
        _within_folder(first),
        *(_folders(run) + _within_folder(part) for run, part in zip(rest[::2], rest[1::2], strict=True)),
    ]
    return re.compile("".join([*(f"(?>{group})" for group in groups), last]))


def _folders(run: str) -> str:
    """Return the regular expression for `**`, or for `**/`, after which a folder's name begins."""
    return "(?:.*?/)??" if run.endswith("/") else ".*?"


def _within_folder(part: str) -> str:
    """Return the regular expression for a part of a glob without `**`."""
    import re

    first, *rest = (re.escape(text).replace(r"\?", "[^/]") for text in part.split("*"))
    patterns = [f"[^/]*?{text}" for text in rest]
    return "".join([first, *(f"(?>{text})" for text in patterns[:-1]), *patterns[-1:]])


# -- text --------------------------------------------------------------------------------------------


def with_terms(view: View, *terms: str) -> set[int]:
    """Return the notes with one of these terms in any field."""
    return set(_each_with_terms(view, terms))


def _each_with_terms(view: View, terms: Iterable[str]) -> Iterator[int]:
    """Yield the notes of `with_terms`, possibly more than once."""
    return chain.from_iterable(view.each(field, term) for term in terms for field in FIELDS)


def _packed_with_terms(view: View, terms: Iterable[str]) -> array[int]:
    """Return the notes of `with_terms` in order, in a tenth of a set's memory for nearly all notes."""
    has_one = bytearray(view.size)
    for note in _each_with_terms(view, terms):
        has_one[note] = 1
    return array("I", compress(range(view.size), has_one))


def with_word(view: View, word: str) -> set[int]:
    """Return the notes with a word in any form with its stem; for an identifier, itself or all its parts."""
    return in_all(_with_raw_word(view, raw) for raw in analysis.words(word))


def _with_raw_word(view: View, raw: str) -> set[int]:
    whole, *parts = analysis.terms(raw)
    every_part = in_all(with_terms(view, term) for term in parts)
    if analysis.is_unspaced(raw):
        return with_terms(view, whole) & every_part if parts else with_terms(view, whole)
    return with_terms(view, whole) | every_part


def with_phrase(view: View, root: str, phrase: str) -> set[int]:
    """Return the notes with these words in sequence, whatever the punctuation between them."""
    return _with_text(view, root, _with_all(view, phrase), _searched_text(phrase))


def newest_with_phrase(view: View, root: str, phrase: str, among: set[int] | None, most: int) -> set[int]:
    """Return the notes with these words in sequence.

    among: only these (None: all). most: maximum number of notes with all the words that are read, the newest first.
    """
    candidates = _with_all(view, phrase)
    candidates = candidates if among is None else candidates & among
    newest = nlargest(most, candidates, key=view.numbers("created").__getitem__)
    return _with_text(view, root, newest, _searched_text(phrase))


def _with_all(view: View, phrase: str) -> set[int]:
    """Return the notes with every term of a phrase, in any order."""
    return in_all(with_terms(view, term) for term in dict.fromkeys(analysis.terms(phrase)))


def prefix_terms(view: View, prefix: str) -> list[str]:
    """Return the most frequent terms of words that begin with `prefix`.

    The index has stems: `connecti*` is also searched under `connect`, and then checked in the texts.
    """
    start = prefix.lower()
    counts: dict[str, int] = {}
    for field in FIELDS:
        for term, count in view.starting_with(field, start).items():
            counts[term] = counts.get(term, 0) + count
    shorter = [start[:size] for size in range(max(3, len(start) // 2), len(start))]
    counts |= {term: 1 for term in [*shorter, *analysis.terms(start)] if view.count("body", term)}
    return sorted(counts, key=lambda term: (-counts[term], term))[:_MAX_PREFIX_TERMS]


def _with_text(view: View, root: str, notes: Iterable[int], text: str) -> set[int]:
    """Return the notes whose text on disk contains `text`, which is lower-case words with single spaces."""
    matching = set()
    for note in sorted(notes):  # folder by folder, so that a packed session is read once
        data = disk.readable(root, view.path(note))
        if data is not None and text in flat(data.decode("utf-8", "replace")):
            matching.add(note)
    return matching


def _searched_text(phrase: str) -> str:
    spaced = flat(phrase)
    return spaced.strip() if analysis.is_unspaced(spaced.strip()) else spaced


def flat(text: str) -> str:
    """Return the words of a text in lower case, between single spaces."""
    return f" {_PUNCTUATION.sub(' ', normalize('NFKC', text).lower()).strip()} "
