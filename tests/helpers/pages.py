"""Runs `mdmem web` as a process, and Debian's Chromium as its client."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), "")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--metrics-recording-only",
    "--force-color-profile=srgb",
)


class Served:
    """A running `mdmem web`. link: the URL that lets one browser in."""

    def __init__(self, process: subprocess.Popen[str], link: str, env: dict[str, str]) -> None:
        self.process = process
        self.link = link
        self.env = env
        self.port = int(urlsplit(link).port or 0)
        self.url = f"http://127.0.0.1:{self.port}"
        self.set_cookie = ""

    def ask(
        self, path: str, *, method: str = "GET", body: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """Send one request without a browser; return status, headers and body. A header with value "" is not sent."""
        sent = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=240)
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value:
                    link.putheader(name, value)
            if body:
                link.putheader("Content-Length", str(len(body.encode())))
            with suppress(ConnectionError):  # the server may refuse while the body is being sent
                link.endheaders(body.encode() or None)
            answer = link.getresponse()
            got: dict[str, str] = {}
            for name, value in answer.getheaders():
                got[name.lower()] = f"{got[name.lower()]}, {value}" if name.lower() in got else value
            return answer.status, got, answer.read().decode()
        finally:
            link.close()

    def enter(self) -> str:
        """Open the link as a browser does, but only once; return the session cookie."""
        if self.set_cookie:
            return self.set_cookie.partition(";")[0]
        status, headers, _ = self.ask(self.link.removeprefix(self.url))
        assert status == 303, status
        self.set_cookie = headers["set-cookie"]
        return self.set_cookie.partition(";")[0]


@contextmanager
def serving(
    vault: Path | None, env: Mapping[str, str], *words: str, program: Sequence[str] = (sys.executable, "-m", "mdmem")
) -> Iterator[Served]:
    """Serve a vault (or what `words` select) for the duration of a `with` block."""
    around = {**os.environ, **env, "PYTHONUNBUFFERED": "1"}
    given = ["--vault", str(vault)] if vault else []
    process = subprocess.Popen(
        [*program, *given, "web", "--no-open", *words],
        env=around,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("Open http://127.0.0.1:"), first
        yield Served(process, first.split()[1], around)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=240)
        finally:
            process.kill()
            if process.stdout is not None:
                process.stdout.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Debian's Chromium without a window and without traffic of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS), headless=True)
        try:
            yield browser
        finally:
            browser.close()


def violations(page: Any) -> list[str]:
    """Return axe's violations of WCAG 2.2 AA and of best practices on a page, one line each."""
    from axe_playwright_python.sync_playwright import Axe

    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": tags}}).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}" for one in found for node in one["nodes"]
    ]
