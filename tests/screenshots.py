"""Pictures of the pages: `python -m tests.screenshots FOLDER` makes them of the sample vault, for README as well."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mdmem.cli.setup import demo
from tests.helpers.pages import chromium, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

REPO = Path(__file__).resolve().parent.parent
SAMPLE = REPO / "sample-vault"
README_PICTURE = REPO / ".github" / "web.png"
PAGES = {
    "today": "/",
    "timeline": "/timeline",
    "session": "/session/3f0c6d1e",
    "search": "/search?q=date+parser",
    "note": "/note/qnk3c4t80s",
    "file": "/file?path=src/dates.py",
    "projects": "/projects",
    "project": "/project/acme-notes-app",
    "injected": "/injected",
    "preview": "/preview?prompt=what+did+we+decide+about+dates%3F",
    "review": "/review",
    "health": "/health",
    "help": "/help",
}
SIZES: dict[str, tuple[int, int, Literal["light", "dark"]]] = {
    "": (1280, 860, "light"),
    "-dark": (1280, 860, "dark"),
    "-phone": (390, 800, "light"),
}


def prepare(root: Path) -> tuple[Path, dict[str, str]]:
    """Copy the sample vault, under git, and play the morning after: what a session was given, as hooks give it."""
    scratch = demo.prepare(root)
    shutil.rmtree(scratch.vault / "journal", ignore_errors=True)
    shutil.copytree(SAMPLE, scratch.vault, dirs_exist_ok=True)
    env = {**scratch.env, "TZ": "UTC"}
    mdmem = [sys.executable, "-m", "mdmem"]
    subprocess.run([*mdmem, "commit", "--quiet"], env=env, check=True)
    for when, payload in demo.recording(scratch.project):
        if payload["session_id"].startswith("e5a90b34"):
            now = {**env, "MDMEM_NOW": str(int(when.timestamp()))}
            given = json.dumps(payload).encode()
            subprocess.run([*mdmem, "inject", "claude-code"], input=given, env=now, check=True, capture_output=True)
    return scratch.vault, env


def picture(page: Page) -> None:
    """Write the README's picture: a session with one of its runs open."""
    page.set_viewport_size({"width": 1280, "height": 1040})
    page.locator("details.runs summary").first.click()
    run = page.locator("details.run", has_text="Edit src/dates.py")
    run.locator("summary").click()
    run.locator(".diff").wait_for()
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=README_PICTURE)
    page.set_viewport_size({"width": 1280, "height": 860})


def main(folder: Path, wanted: list[str]) -> None:
    """Write a picture of every page, and the README's."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mdmem-pictures-") as scratch:
        vault, env = prepare(Path(scratch))
        with serving(vault, env) as served, chromium() as browser:
            state: Any = None
            for suffix, (width, height, scheme) in SIZES.items():
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme, storage_state=state
                )
                page = context.new_page()
                page.goto(served.link if state is None else served.url)
                state = context.storage_state()
                for name, path in PAGES.items():
                    if wanted and name not in wanted:
                        continue
                    page.goto(served.url + path)
                    page.screenshot(path=folder / f"{name}{suffix}.png", full_page=not suffix)
                    if name == "session" and not suffix:
                        picture(page)
                context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots"), sys.argv[2:])
