"""Search: ranked, as you type, with facets; and the redirect from a wikilink's name to its note."""

from __future__ import annotations

import heapq
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup
from starlette.responses import Response

from mdmem.errors import AmbiguousError, NotFoundError
from mdmem.search import engine, overturned, query, ranking, select
from mdmem.search.hits import SearchHit
from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.index.view import View, cached_with_view
from mdmem.search.query import Query
from mdmem.search.units import units_of
from mdmem.vault import links
from mdmem.vault.note import WRITTEN
from mdmem.views import figures, rows, snippets
from mdmem.web import address, markdown
from mdmem.web.pages import shared
from mdmem.web.site import PageRequest

SIZE = 20
KEYS = ("kind", "project", "tool", "agent", "file")
STATES = ("failed", "edited", "pinned", "private")
AGES = {"1d": ("a day", 1), "7d": ("7 days", 7), "30d": ("30 days", 30)}
"""Value of `since:` -> its label, and its days."""
MAX_CHARS = 1_000
"""Maximum length of a query; the rest is ignored."""
_UNFINISHED = re.compile(r"(?<!\S)[^\W_]{4,}$")
"""A last word that may still be being typed; fewer letters begin too many words."""


class FacetValue(NamedTuple):
    """A value that a search can be narrowed to. to: the address that turns the filter on, or off again."""

    label: str
    notes: int
    on: bool
    to: str


def search(request: PageRequest) -> Response:
    """Show the results, or a part of them, best first."""
    form = chosen(request)
    filters = {key: value or None for key, value in form.items() if key != "q"}
    asked_query = query.with_filters(query.parse(form["q"]), filters)
    is_search = any(form[key] for key in ("q", *KEYS, "since", "on", "is"))
    page = request.number("page")
    chosen_sort = "newest" if request.query.get("sort") == "newest" else ""
    sort = "newest" if chosen_sort or not asked_query.text else "relevance"
    options = engine.SearchOptions(sort, limit=SIZE, offset=(page - 1) * SIZE, update=False, collapse=False)
    view = request.view  # builds an index that was deleted: a search without an update would find nothing
    result = overturned.search(request.config, asked_query, options)
    if not result.total and _UNFINISHED.search(form["q"]):
        unfinished = query.with_filters(query.parse(f"{form['q']}*"), filters)
        extended = overturned.search(request.config, unfinished, options)
        if extended.total:
            hint = "No note has these words; these have words that begin like the last one."
            asked_query = unfinished
            result = extended._replace(hints=(hint, *extended.hints), suggestion=result.suggestion)
    if result.total and not result.hits:  # past the end, as after notes were deleted
        page = shared.part(result.total, page, SIZE).page
        result = overturned.search(request.config, asked_query, options._replace(offset=(page - 1) * SIZE))
    total = result.total if is_search else 0
    listed = _each_once(result.hits) if is_search else []
    other_sort = "" if chosen_sort else "newest"
    return request.page(
        "search",
        given=form,
        found=result,
        hits=[(hit, snippet(hit)) for hit in listed],
        newer=request.rows_by_id(hit.superseded_by for hit in listed if hit.superseded_by),
        folded=len(result.hits) - len(listed) if is_search else 0,
        anything=is_search,
        filters=_active_filters(form, chosen_sort),
        total=total,
        sort=sort,
        facets=_facets(request, asked_query, {**form, "sort": chosen_sort}) if total or not is_search else {},
        other_order=address.query("/search", **{**form, "sort": other_sort}) if asked_query.text else "",
        written=[] if is_search else shared.newest(view, view.of_kinds(WRITTEN), most=SIZE // 2),
        part_of=shared.part(total, page, SIZE),
    )


def _each_once(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """Return hits without session pages whose first prompt is a hit too: both have the same title."""
    listed = list(hits)
    prompts = {(hit.session, hit.title) for hit in listed if hit.kind == "prompt" and hit.session}
    return [hit for hit in listed if hit.kind != "session" or (hit.session, hit.title) not in prompts]


def chosen(request: PageRequest) -> dict[str, str]:
    """Return the typed words and the active filters."""
    keys = (*KEYS, "since", "on", "is")
    return {"q": request.query.get("q", "")[:MAX_CHARS]} | {key: request.query.get(key, "")[:200] for key in keys}


def _active_filters(form: dict[str, str], sort: str) -> dict[str, str]:
    """Return each active filter, as `kind: note`, with the address without it."""
    active = {key: value for key, value in form.items() if key != "q" and value}
    return {
        f"{key}: {value}": address.query("/search", **{**form, key: "", "sort": sort}) for key, value in active.items()
    }


def _facets(request: PageRequest, query: Query, form: dict[str, str]) -> dict[str, list[FacetValue]]:
    counts = count(request.view, request.config.vault, query)
    facets_of_notes = {
        key: [_facet_value(form, key, name, total) for name, total in counts[key].items()] for key in KEYS
    }
    states = [_facet_value(form, "is", name, total) for name, total in counts["is"].items()]
    times = [
        _facet_value(form, "since", age, total)._replace(label=AGES[age][0]) for age, total in counts["time"].items()
    ]
    facets = {**facets_of_notes, "state": states, "time": times}
    return {key: values for key, values in facets.items() if _is_offered(key, values)}


def _is_offered(key: str, values: list[FacetValue]) -> bool:
    """Whether a facet narrows the results: one value of a state does, of others at least two; or it is on."""
    return len(values) > (key != "state") or any(value.on for value in values)


def _facet_value(form: dict[str, str], key: str, name: str, total: int) -> FacetValue:
    on = form[key].lower() == name.lower()
    return FacetValue(name, total, on, address.query("/search", **{**form, key: "" if on else name}))


def snippet(hit: SearchHit) -> Markup:
    """Return a hit's snippet as HTML, with the matching words marked."""
    pieces: list[Markup] = []
    text, spans = snippets.readable(hit.snippet, hit.spans, hit.kind)
    end = 0
    for start, stop in spans:
        marked = Markup("<mark>{}</mark>").format(text[start:stop])
        pieces += [markdown.marked(text[end:start]), marked]
        end = stop
    return Markup("").join([*pieces, markdown.marked(text[end:])])


def go(request: PageRequest) -> Response:
    """Redirect from a `[[name]]` to the note with that file name, else that title; else to a search for it.

    Raises AmbiguousError when several notes have that name.
    """
    name = request.query.get("to", "").partition("#")[0].strip()[:200]
    ambiguous = None
    titled = rows.titled(request.view, name)
    for reference in (name, f"notes/{name}"):
        try:
            opened = request.note(reference)
        except AmbiguousError as error:
            ambiguous = error if not titled or _is_of_file(name, error.paths) else ambiguous
            continue
        except NotFoundError:
            break
        if titled and opened.id != name.lower() and not _is_of_file(name, [opened.path]):
            break  # a title may look like the beginning of an id
        return request.back(address.note(opened.id, opened.path))
    if ambiguous is not None:
        raise ambiguous
    if len(titled) > 1:
        raise AmbiguousError(f"{len(titled)} notes have the title “{name}”.", [row.path for row in titled])
    return request.back(address.note(titled[0].id, titled[0].path) if titled else address.search(name))


def _is_of_file(name: str, paths: Iterable[str]) -> bool:
    """Whether one of the paths is, or has the file name, `name`."""
    return any(f"/{links.stem(path.lower())}".endswith(f"/{links.stem(name.lower())}") for path in paths)


MOST = 8
_FILES_OF = 300
"""Number of newest notes whose files are counted: each note's list has to be decoded."""


def count(view: View, root: str, query: Query) -> dict[str, dict[str, int]]:
    """Count the matches of a query by kind, project, tool and file, highest count first, at most `MOST` of each."""
    numbers = matching(view, root, query)
    counts = {key: _by_term(view, key, numbers) for key in ("project", "tool", "agent")}
    states = Counter({state: _count_having(view, f"is:{state}", numbers) for state in STATES})
    counts["is"] = figures.ranked(+states, MOST)
    return {"kind": _by_kind(view, numbers), **counts, "file": _by_file(view, numbers), "time": _by_age(view, numbers)}


def matching(view: View, root: str, query: Query) -> set[int]:
    """Return every note that a query matches. It has just been searched for, so no note is read again."""
    permitted = select.allowed(view, root, query, as_read=True)
    units = ranking.affordable(view, units_of(view, query.text))
    if not units or query.must or query.phrases or query.prefixes:
        return set(view.all if permitted is None else permitted)
    numbers = select.with_terms(view, *(term for unit in units for term, _ in unit.terms))
    return numbers if permitted is None else numbers & permitted


def _by_kind(view: View, numbers: set[int]) -> dict[str, int]:
    flags = view.numbers("flags")
    count_of_place = Counter(flags[number] // KIND_STEP for number in numbers)
    counted = Counter({KINDS[place]: total for place, total in count_of_place.items() if KINDS[place]})
    if count_of_place[0]:  # kinds without a flag of their own
        flagged = {f"kind:{kind}" for kind in KINDS}
        other_terms = (term for term in view.starting_with("facet", "kind:") if term not in flagged)
        counted.update({term[5:]: _count_having(view, term, numbers) for term in other_terms})
    return figures.ranked(+counted, MOST)


def _by_term(view: View, key: str, numbers: set[int]) -> dict[str, int]:
    terms = (term for term in view.starting_with("facet", f"{key}:") if len(term) > len(key) + 1)
    return figures.ranked(+Counter({term[len(key) + 1 :]: _count_having(view, term, numbers) for term in terms}), MOST)


def _count_having(view: View, facet: str, numbers: set[int]) -> int:
    return sum(map(numbers.__contains__, view.each("facet", facet)))


def _by_file(view: View, numbers: set[int]) -> dict[str, int]:
    newest = sorted(heapq.nlargest(_FILES_OF, numbers, key=view.numbers("created").__getitem__))
    known = _files_by_note(view)
    files = {number: known[number] if number in known else view.facts(number).get("files", ()) for number in newest}
    if len(known) < _FILES_KEPT:
        known.update(files)
    return figures.ranked(Counter(name for names in files.values() for name in names), MOST)


_FILES_KEPT = 10_000
"""Number of notes above which no more are kept in memory."""


@cached_with_view
def _files_by_note(_view: View) -> dict[int, Sequence[str]]:
    """Return the files of notes that were looked at, for adding those of others: searches as one types overlap."""
    return {}


def _by_age(view: View, numbers: set[int]) -> dict[str, int]:
    created, now = view.numbers("created"), time.time()
    counted = {
        age: sum(created[number] >= now - days * 86_400 for number in numbers) for age, (_, days) in AGES.items()
    }
    return {age: total for age, total in counted.items() if total}
