"""A request as pages see it, and responses from templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mdmem import __version__, plural, timestamps
from mdmem.config import Config
from mdmem.errors import NotFoundError, UsageError
from mdmem.history import find
from mdmem.search import freshness, index
from mdmem.search.index.view import View
from mdmem.vault import disk, layout, note
from mdmem.views import rows, wording
from mdmem.web import address, markdown
from mdmem.web.gate import Browser, Browsers
from mdmem.web.live import Live

MAX_FIELDS = 200


class Site(NamedTuple):
    """What all requests share. memo: values kept between requests. demo: whether the vault is a throwaway one."""

    config: Config
    live: Live
    browsers: Browsers
    memo: dict[str, Any]
    demo: bool = False


class OpenNote(NamedTuple):
    """A note, read from its file.

    number: its place in the index, None if it is not indexed. listed_title: its title there, which may be its heading.
    """

    path: str
    data: bytes
    parsed: note.Parsed
    number: int | None
    listed_title: str = ""

    @property
    def id(self) -> str:
        """Return its id, or its path if it has none."""
        return str(self.parsed.meta.get("id") or self.path)

    @property
    def project(self) -> str:
        """Return the name of its project, "" for none."""
        return layout.project_named(self.path, self.parsed.meta)

    @property
    def title(self) -> str:
        """Return its title, as lists show it, or its file's name."""
        named = self.path.rpartition("/")[2].rpartition(".")[0]
        return str(self.parsed.meta.get("title") or self.listed_title or named)


def said(error: Exception) -> str:
    """Return an error for a page; one of the system as `No space left on device (/v/notes).`."""
    return f"{wording.cause(error)}." if isinstance(error, OSError) else str(error)


class PageRequest:
    """A request of an admitted browser. form: the fields of a POST, as `form` reads them."""

    def __init__(self, site: Site, request: Request) -> None:
        self.site = site
        self.config = site.config
        self.browser: Browser = request.scope["mdmem.browser"]
        self.path: str = request.url.path
        self.query: Mapping[str, str] = request.query_params
        self.parts: Mapping[str, str] = request.path_params
        self.theme = request.cookies.get("mdmem-theme", "")
        self.has_no_keys = request.cookies.get("mdmem-keys") == "off"
        self.form: Mapping[str, str] = {}

    @cached_property
    def view(self) -> View:
        """Return the current index."""
        return self.site.live.view()

    def release_view(self) -> None:
        """Drop the index, whose deleted files would stay open: templates keep a request until a garbage collection."""
        self.__dict__.pop("view", None)

    def number(self, name: str, default: int = 1) -> int:
        """Return a number from the query, at least 1 (or a default below that); the default if it is not a number."""
        return max(whole_number(self.query.get(name, ""), default), min(default, 1))

    def note(self, reference: str) -> OpenNote:
        """Return the note with this id or path.

        Raises NotFoundError when there is none, more than one, or it is an internal memory.
        """
        if "\0" in reference:  # no file system has such a path
            raise NotFoundError(f"No note has the id or path {reference!r:.80}.")
        view = self.view  # includes what was just written
        path = self._path_of(reference)
        data = disk.read_path(self.config.vault, path)
        parsed = note.parse(data or b"")
        if data is None or note.is_internal(path, parsed.meta.get("kind", "")):
            raise NotFoundError(f"No note has the id or path {reference!r:.80}.")
        number = view.find(path)
        return OpenNote(path, data, parsed, number, str(view.facts(number)["title"]) if number is not None else "")

    def _path_of(self, reference: str) -> str:
        try:
            return index.resolve(self.config, reference, look=False)
        except NotFoundError:
            if newest := self.row(reference):  # another process is writing the index: only the view has it
                return newest.path
            if deletion := find.deletion_of(self.config, reference):
                raise NotFoundError(f"No note has the id or path {reference!r:.80}. {deletion}") from None
            raise

    def row(self, name: str) -> rows.NoteRow | None:
        """Return the row of the note with this id from the index; None if there is none."""
        found = self.view.notes("facet", f"id:{name.lower()}") - self.view.internal
        return rows.row(self.view, min(found)) if found else None

    def rows_by_id(self, names: Iterable[str]) -> dict[str, rows.NoteRow | None]:
        """Return `row` of each id."""
        return {name: self.row(name) for name in names}

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page from a template; a request for a part gets only the template's `live` block."""
        part = "part" in self.query
        parsed_template = _environment().get_template(f"{template}.html")
        html = parsed_template.render(
            visit=self,
            site=self.site,
            part=part,
            status=status,
            version=__version__,
            vault_name=Path(self.config.vault).name,
            messages=[] if part else self.browser.take_messages(),
            being_built=freshness.being_built(self.config),
            live_number=self.site.live.last.number,
            **values,
        )
        return HTMLResponse(html.encode("utf-8", "replace"), status)  # file names may contain bytes that are not text

    def back(self, to: str) -> Response:
        """Redirect to a page of ours, after an action."""
        return RedirectResponse(address.local(to), 303)


def form(body: bytes) -> dict[str, str]:
    """Return the fields of a form, each with its first value. Raises UsageError when there are too many."""
    try:
        sent = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise UsageError("The form has too many fields.") from error
    return {name: values[0] for name, values in sent.items()}


MOST = 1_000_000


def whole_number(text: str, default: int) -> int:
    """Parse a number, at most `MOST`; return the default for anything else."""
    if not (text.isascii() and text.isdigit()):
        return default
    return min(int(text), MOST) if len(text) <= len(str(MOST)) else MOST


FOLDER = Path(__file__).parent
NAVIGATION = (
    (("/", "Today"), ("/timeline", "Timeline"), ("/search", "Search"), ("/projects", "Projects")),
    (("/new", "New note"), ("/open", "Open work"), ("/review", "Review")),
    (("/injected", "Injected"), ("/preview", "Preview")),
    (("/health", "Health"), ("/help", "Help")),
)
"""The navigation: what is remembered, what you write and decide, what agents get, and mdmem itself."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {
        "address": address,
        "navigation": NAVIGATION,
        "between": wording.between,
        "worked": wording.worked,
        "number": plural.number,
    }
    environment.filters |= {
        "day": wording.day,
        "weekday": weekday,
        "clock": wording.clock,
        "moment": timestamps.readable,
        "size": wording.size,
        "duration": lambda milliseconds: wording.duration(milliseconds / 1000),
        "markdown": markdown.render,
        "marked": markdown.marked,
    }
    return environment


def weekday(day: str) -> str:
    """Return a day as `Monday 14 September 2026`."""
    try:
        parsed = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{parsed:%A} {parsed.day} {parsed:%B %Y}"
