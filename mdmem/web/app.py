"""The application: which page answers an address, and which an error."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from typing import Any

from jinja2 import TemplateNotFound
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from mdmem import log, upgrade
from mdmem.errors import AmbiguousError, BusyError, MdmemError, NotFoundError, UsageError, VaultError
from mdmem.search import freshness
from mdmem.views import rows
from mdmem.web import gate, site, writing
from mdmem.web.pages import (
    files,
    health,
    injected,
    manual,
    notes,
    open_work,
    projects,
    review,
    search,
    session,
    timeline,
    today,
    uncommitted,
)
from mdmem.web.site import PageRequest, Site, form, whole_number

Handler = Callable[[PageRequest], Response]


class _NameConvertor(PathConvertor):
    regex = r"[\s\S]*"  # a file name may contain line breaks


register_url_convertor("name", _NameConvertor())

STREAM_SECONDS = 100.0
"""A stream of events ends itself before the guard would end it; the browser reconnects at once."""

PAGES: dict[str, Handler] = {
    "/": today.today,
    "/timeline": timeline.timeline,
    "/projects": projects.projects,
    "/project/{name:name}": projects.project,
    "/session/latest": session.latest,
    "/session/{name}": session.session,
    "/search": search.search,
    "/go": search.go,
    "/note/{name:name}": notes.show,
    "/body/{name:name}": session.body,
    "/versions/{name:name}": notes.versions,
    "/edit/{name:name}": notes.edit,
    "/new": notes.new,
    "/file": files.file,
    "/attachment/{path:name}": files.attachment,
    "/open": open_work.open_work,
    "/injected": injected.injected,
    "/preview": injected.preview,
    "/review": review.review,
    "/uncommitted": uncommitted.uncommitted,
    "/health": health.health,
    "/help": manual.index,
    "/help/{name}": manual.topic,
}
"""Address -> the page that answers it."""

STATIC = {"style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml"}
_STATUS = {
    AmbiguousError: 300,
    NotFoundError: 404,
    UsageError: 400,
    BusyError: 503,
    VaultError: 503,
    writing.ForgedError: 403,
}


def application(site: Site, hosts: list[str], port: int) -> gate.PageGuard:
    """Return the whole application behind its guard."""
    routes = [Route(address, _endpoint(site, handler)) for address, handler in PAGES.items()]
    routes += [
        Route("/do/check", _endpoint(site, writing.checked, alone=False), methods=["POST"]),
        Route("/do/commit", _endpoint(site, writing.committed, alone=False), methods=["POST"]),
        Route("/do/{action}", _endpoint(site, writing.do), methods=["POST"]),
        Route("/live", _live(site)),
        Route("/static/{name}", _static),
        Route(gate.ENTER, _enter(site, port)),
    ]
    handlers: dict[Any, Any] = {HTTPException: _endpoint(site, _nothing_here)}
    return gate.PageGuard(Starlette(routes=routes, exception_handlers=handlers), hosts, port, site.browsers)


def _endpoint(site: Site, handler: Handler, *, alone: bool = True) -> Any:
    """Wrap a page: it runs in a thread, alone if it uses the index, and its errors become pages."""

    def answer(request: Request, body: bytes) -> Response:
        with site.live.lock if alone else nullcontext():
            page = PageRequest(site, request)
            try:
                page.form = form(body)
                return handler(page)
            except Exception as error:  # noqa: BLE001 - a bug in one page must not end the others
                return _failed(page, error)
            finally:
                page.release_view()

    async def endpoint(request: Request, *_: Any) -> Response:
        body = await request.body() if request.method == "POST" else b""
        response = await run_in_threadpool(answer, request, body)
        response.raw_headers.extend(gate.SECURITY)
        return response

    return endpoint


def _failed(page: PageRequest, error: Exception) -> Response:
    """Return the page of an error, or a line of text if its template is gone: an upgrade may have moved all files."""
    try:
        if isinstance(error, MdmemError | OSError):
            return _problem(page, error)
        log.write(page.config, f"the page {page.path.split('/')[1]!r:.40} failed", error)
        return page.page("problem", status=500, problem=upgrade.explain(error), choices=[])
    except TemplateNotFound as missing:
        return PlainTextResponse(upgrade.explain(missing), 500)


def _problem(page: PageRequest, error: Exception) -> Response:
    """Return the page of an error; while the index is being built, what is missing may appear in a moment."""
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    if status == 404 and not isinstance(error, _NoPageError) and freshness.being_built(page.config):
        status = 503
    paths = error.paths if isinstance(error, AmbiguousError) else ()
    numbers = [number for path in paths[: rows.MOST] if (number := page.view.find(path)) is not None]
    choices = [rows.row(page.view, number) for number in numbers if number not in page.view.internal]
    return page.page("problem", status=status, problem=site.said(error), choices=choices)


class _NoPageError(NotFoundError):
    """There is no page with this address."""


def _nothing_here(request: PageRequest) -> Response:
    raise _NoPageError(f"There is no page {request.path!r:.80}.")


def _enter(site: Site, port: int) -> Any:
    async def enter(request: Request) -> Response:
        browser = site.browsers.enter(request.query_params.get("key", ""))
        if browser is None:
            return PlainTextResponse("This link has already been used. Run `mdmem web` again for a new one.", 401)
        response = RedirectResponse("/", 303, headers={"referrer-policy": "no-referrer"})
        response.set_cookie(gate.cookie_name(port), browser.cookie, httponly=True, samesite="strict", path="/")
        return response

    return enter


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return PlainTextResponse("There is no such file.", 404)
    return FileResponse(site.FOLDER / "static" / name, media_type=STATIC[name])


def _live(site: Site) -> Any:
    """Send news as server-sent events; a page that missed an event, or of which there was none, is told at once."""

    async def stream(after: int) -> AsyncIterator[str]:
        yield "retry: 300\n\n"
        end = time.monotonic() + STREAM_SECONDS
        with site.live.listening() as queue:
            await run_in_threadpool(site.live.catch_up)
            if queue.empty() and site.live.last.number != after:
                queue.put_nowait(site.live.last)
            while (remaining := end - time.monotonic()) > 0:
                try:
                    event = await asyncio.wait_for(queue.get(), remaining)
                except TimeoutError:
                    return
                yield f"id: {event.number}\ndata: {json.dumps({'title': event.title})}\n\n"

    async def live(request: Request) -> Response:
        text = request.headers.get("last-event-id") or request.query_params.get("after", "")
        after = whole_number(text, 0)
        return StreamingResponse(stream(after), media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    return live
