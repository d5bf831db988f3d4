"""What is exported to be looked at: a page, a site of files, a database."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config, timestamps
from mdmem.errors import NotFoundError, UsageError
from mdmem.views import exports
from mdmem.views.exports import articles, static_site
from mdmem.views.vault_pages import upkeep
from tests.conftest import REPO
from tests.helpers import cli_day
from tests.helpers.cli_day import Day
from tests.helpers.pages import CHROMIUM, chromium, violations

SAMPLE = str(REPO / "sample-vault")
HOSTILE = """
# <script>alert(1)</script>

<img src=x onerror=alert(1)> [a](javascript:alert(1)) [b](data:text/html,x) ![c](https://example.org/x.png)
[d](vbscript:x) <javascript:alert(1)> [[<b>|<i>]] [e]: javascript:alert(1) </script><svg onload=alert(1)>
"""


class Tags(HTMLParser):
    """Collects what a page loads, runs and leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.bad: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("img", "iframe", "object", "embed", "svg", "link", "base", "form"):
            self.bad.append(tag)
        self.bad += [name for name, _ in attrs if name.startswith("on") or name in ("src", "style")]
        self.scripts += tag == "script" and given.get("type") != "application/json"
        if tag == "a":
            self.links.append(given.get("href") or "")
        if given.get("id"):
            self.ids.add(str(given["id"]))


def read(path: Path) -> Tags:
    tags = Tags()
    tags.feed(path.read_text("utf-8"))
    return tags


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site") / "out"
    assert exports.site(config.load(SAMPLE), target).notes > 20
    return target


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_the_new_folder_of_a_site_is_the_users_alone(site: Path) -> None:
    assert site.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_folder_that_the_user_made_for_a_site_keeps_its_permissions(tmp_path: Path) -> None:
    vault, target = tmp_path / "vault", tmp_path / "site"
    (vault / "notes").mkdir(parents=True)
    target.mkdir()
    target.chmod(0o755)

    exports.site(config.load(str(vault), {"HOME": str(tmp_path)}), target)

    assert target.stat().st_mode & 0o777 == 0o755


def test_notes_on_the_start_page_of_a_site_are_sorted_by_the_numbers_in_their_titles(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    for number in (10, 2, 1):
        (vault / "notes" / f"step-{number}.md").write_text(f"---\ntitle: Step {number}\n---\nDo it.\n")
    exports.site(config.load(str(vault), {"HOME": str(tmp_path)}), tmp_path / "site")

    text = (tmp_path / "site/index.html").read_text("utf-8")
    assert re.findall(r">(Step \d+)<", text) == ["Step 1", "Step 2", "Step 10"]


def test_turns_that_two_machines_numbered_alike_are_one_after_the_other_on_a_site(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    session = "journal/acme/2026-09-14/0800-dates-aaaa1111"
    (vault / session).mkdir(parents=True)
    for hour in ("12", "09"):
        for number, kind in enumerate(("prompt", "response"), 1):
            facts = f"kind: {kind}\ncreated: 2026-09-14T{hour}:0{number}:00Z\nsession: aaaa1111"
            (vault / session / f"002-00{number}-{kind}-{hour}.md").write_text(f"---\n{facts}\n---\n{kind} at {hour}\n")
    exports.site(config.load(str(vault), {"HOME": str(tmp_path)}), tmp_path / "site")

    text = (tmp_path / f"site/pages/{session}.html").read_text("utf-8")
    told = [f"{kind} at {hour}" for hour in ("09", "12") for kind in ("prompt", "response")]
    assert re.findall(r"<p>(\w+ at \d+)</p>", text) == told


def test_a_wiki_link_of_a_site_leads_to_the_one_note_with_that_title(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    for name, title in (("a", "Release  day"), ("b", "Twice"), ("c", "Twice"), ("d", "Große STRASSE")):
        text = f"---\ntitle: {title}\n---\nSee [[release Day]], [[Twice]], [[grosse Straße]].\n"
        (vault / "notes" / f"{name}.md").write_text(text, encoding="utf-8")
    exports.site(config.load(str(vault), {"HOME": str(tmp_path)}), tmp_path / "site")

    text = (tmp_path / "site/pages/notes/b.html").read_text("utf-8")
    assert '<a class="wiki" href="a.html">release Day</a>' in text
    assert '<a class="wiki" href="d.html">grosse Straße</a>' in text
    assert "[[Twice]]" in text


def test_titles_of_a_site_show_code_and_what_was_kept_out_as_marks(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    (vault / "notes" / "a.md").write_text("---\ntitle: Use `x<y>` with [REDACTED]\n---\nDo it.\n")
    exports.site(config.load(str(vault), {"HOME": str(tmp_path)}), tmp_path / "site")

    for page in ("index.html", "pages/notes/a.html"):
        text = (tmp_path / "site" / page).read_text("utf-8")
        assert 'Use <code>x&lt;y&gt;</code> with <span class="kept"' in text
    assert '"Use x\\u003cy> with [REDACTED]"' in (tmp_path / "site/search.html").read_text("utf-8")


def test_every_link_of_a_site_leads_to_a_file_and_a_place_on_it(site: Path) -> None:
    pages = {path: read(path) for path in site.rglob("*.html")}
    assert len(pages) >= 8
    checked = 0
    for path, tags in pages.items():
        for link in tags.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            assert not parts.path.startswith("/"), link
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target in pages, (path, link)
            assert not parts.fragment or parts.fragment in pages[target].ids, (path, link)
            checked += 1
    assert checked > 20


def test_a_site_loads_nothing_and_runs_only_its_search(site: Path) -> None:
    for path in site.rglob("*.html"):
        tags = read(path)
        assert tags.bad == []
        assert tags.scripts == (path.name == "search.html")
        assert "default-src 'none'" in path.read_text("utf-8")


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture
def illustrated(tmp_path: Path) -> Path:
    """A site of a vault whose notes show pictures, some of which are not theirs to show."""
    day = cli_day.empty(tmp_path)
    for place in (
        "notes/charts/growth 1.png",
        "notes/plan.jpg",
        "notes/.hidden/a.png",
        "internal/b.png",
        "notes/c.svg",
    ):
        path = day.vault / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PIXEL)
    (tmp_path / "outside.png").write_bytes(PIXEL)
    (day.vault / "notes" / "linked.png").symlink_to(tmp_path / "outside.png")
    text = """![growth](<charts/growth 1.png>) ![[plan.jpg]] ![again](charts/growth%201.png)

    ![hidden](.hidden/a.png) ![out](../../outside.png) ![in](../internal/b.png) ![link](linked.png)
    ![far](https://example.org/x.png) ![vectors](c.svg) ![gone](gone.png)"""
    (day.vault / "notes" / "picture.md").write_text(text.replace("\n    ", "\n"))
    exports.site(day.config(), tmp_path / "site")
    return tmp_path / "site"


def test_a_site_brings_the_pictures_that_its_notes_show_and_no_other_file(illustrated: Path) -> None:
    shown = re.findall(r'<img src="([^"]+)"', (illustrated / "pages/notes/picture.html").read_text("utf-8"))
    growth = "../../files/notes/charts/growth%201.png"
    assert shown == [growth, "../../files/notes/plan.jpg", growth]
    files = sorted(path.relative_to(illustrated).as_posix() for path in (illustrated / "files").rglob("*.*"))
    assert files == ["files/notes/charts/growth 1.png", "files/notes/plan.jpg"]


def test_a_site_finds_pictures_and_notes_by_the_end_of_their_path(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    for place in ("notes/maps/harbour.png", "notes/far/away/maps/harbour.png", "trips/old/harbour.png"):
        (day.vault / place).parent.mkdir(parents=True, exist_ok=True)
        (day.vault / place).write_bytes(PIXEL)
    (day.vault / "notes/maps/legend.md").write_text("# Signs\n")
    names = ("maps/harbour.png", "Away/maps/harbour.png", "old/harbour.png", "harbour.png", "arbour.png")
    (day.vault / "trips" / "north.md").write_text(
        "# North\n\n" + " ".join(f"![[{name}]]" for name in names) + " [[Maps/legend]]"
    )

    exports.site(day.config(), tmp_path / "site")

    page = (tmp_path / "site/pages/trips/north.html").read_text("utf-8")
    shown = re.findall(r'<img src="../../files/([^"]+)"', page)
    near, far, old = "notes/maps/harbour.png", "notes/far/away/maps/harbour.png", "trips/old/harbour.png"
    assert shown == [near, far, old, near]
    assert 'href="../notes/maps/legend.html"' in page


@pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 elsewhere")
def test_a_note_whose_name_is_not_utf_8_is_part_of_a_site(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    (day.vault / "notes").mkdir(exist_ok=True)
    Path(os.fsdecode(os.fsencode(day.vault / "notes") + b"/n\xff.md")).write_text("# Odd\n\nwords\n", encoding="utf-8")
    assert exports.site(day.config(), tmp_path / "site") == (1, 0, 0)
    (target,) = re.findall(r'href="(pages/[^"]+)"', (tmp_path / "site/index.html").read_text("utf-8"))
    assert "words" in (tmp_path / "site" / unquote(target, errors="surrogateescape")).read_text("utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is limited in characters")
def test_notes_with_the_longest_names_are_part_of_a_site_each_on_its_page(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    (day.vault / "notes").mkdir(exist_ok=True)
    for end in "ab":
        (day.vault / "notes" / f"{'日付' * 41}-xyz{end}.md").write_text(
            f"# Long {end}\n\nwords {end}\n", encoding="utf-8"
        )
    assert exports.site(day.config(), tmp_path / "site") == (2, 0, 0)
    targets = re.findall(r'href="(pages/[^"]+)"', (tmp_path / "site/index.html").read_text("utf-8"))
    texts = [(tmp_path / "site" / unquote(target)).read_text("utf-8") for target in targets]
    assert [text.count("words a") + 2 * text.count("words b") for text in texts] == [1, 2]


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium: apt-get install chromium")
def test_a_picture_of_a_site_is_drawn_from_a_folder(illustrated: Path) -> None:
    with chromium() as browser:
        page = browser.new_page()
        page.goto((illustrated / "pages/notes/picture.html").as_uri())
        page.locator("img").first.scroll_into_view_if_needed()
        drawn = "Promise.all([...document.images].map(one => one.decode().then(() => one.naturalWidth)))"
        assert page.evaluate(drawn) == [1, 1, 1]


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium: apt-get install chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_exported_page_violates_wcag_or_is_wider_than_the_window(scheme: Any, tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    shutil.copytree(SAMPLE, day.vault, dirs_exist_ok=True)
    odd = "# محلل التاريخ\n\nنص `code()`\n\n- [x] بند\n\n> quote\n\n|a|b|\n|-|-|\n|" + "x" * 300 + "|y|\n"
    (day.vault / "notes" / "odd.md").write_text(odd, encoding="utf-8")
    (day.vault / "notes" / "long.md").write_text(f"# {'Unbroken' * 40}\n\nText", encoding="utf-8")
    exports.site(day.config(), tmp_path / "site")
    exports.write(day.config(), tmp_path / "all.html", "html")
    found = {}
    with chromium() as browser:
        page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 800})
        for path in (*(tmp_path / "site").rglob("*.html"), tmp_path / "all.html"):
            page.goto(path.as_uri())
            wide = page.evaluate("document.scrollingElement.scrollWidth > innerWidth")
            found[path.name] = [*violations(page), *(["wide"] if wide else [])]
    assert len(found) > 10
    assert {name: said for name, said in found.items() if said} == {}


def test_the_search_of_a_site_holds_every_note(site: Path) -> None:
    text = (site / "search.html").read_text("utf-8")
    found = re.search(r'<script type="application/json" id="notes">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    rows = json.loads(found[1])
    assert len(rows) == len([*Path(SAMPLE).rglob("*.md")]) - 1  # without the start page
    assert any(title == "Times are stored in UTC" for title, _, _, _ in rows)


def test_a_session_is_one_page_with_its_runs_folded(site: Path) -> None:
    (page,) = site.glob("pages/journal/*/2026-09-14/0800-*.html")
    text = page.read_text("utf-8")
    assert text.count('<article class="prompt"') == 2
    assert text.count("<details") == 7
    assert '<details class="failed" id="qr95papwvv" dir="auto"><summary>✗ pytest' in text
    assert '<span class="add">+    try:</span>' in text
    assert "The fix went out with 2.4.2" in text, "what a person wrote on the page"


def test_a_session_whose_notes_are_in_parts_is_one_whatever_folder_is_between_them(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    session = vault / "journal/app/2026-09-14/0800-fix-the-parser-00893aaf"
    for name in ("001-000-prompt-a", "images/about", "part2/002-000-prompt-b"):
        (session / name).parent.mkdir(parents=True, exist_ok=True)
        (session / f"{name}.md").write_text("---\nkind: prompt\ncreated: 2026-09-14T08:00:00Z\n---\n\nFix it.\n")

    exports.write(config.load(str(vault)), tmp_path / "notes.db", "sqlite")

    with closing(sqlite3.connect(tmp_path / "notes.db")) as base:
        assert base.execute("SELECT notes FROM sessions").fetchall() == [(2,)]


def test_a_site_is_written_into_a_new_folder_only(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    with pytest.raises(UsageError, match="not empty"):
        exports.site(config.load(SAMPLE), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("form", ["zip", "jsonl", "html", "sqlite"])
def test_an_export_that_is_stopped_leaves_nothing(form: str, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        exports.write(config.load(SAMPLE), tmp_path / "out", form, report=stopped)
    assert list(tmp_path.iterdir()) == []


def in_a_killed_fork(run: Callable[[], object]) -> None:
    """Run something that kills its process, in a fork."""
    child = os.fork()
    if child == 0:
        run()
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def kill(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("form", ["zip", "jsonl", "html", "sqlite"])
def test_an_export_that_is_killed_leaves_no_part_under_its_name(form: str, tmp_path: Path) -> None:
    def killed(what: str, done: int, total: int) -> None:
        if done == total - 1:
            kill()

    in_a_killed_fork(lambda: exports.write(config.load(SAMPLE), tmp_path / "out", form, report=killed))

    assert [path.name[:7] for path in tmp_path.iterdir()] == [".mdmem-"]
    exports.write(config.load(SAMPLE), tmp_path / "out", form)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a file's name is text")
@pytest.mark.parametrize("form", ["zip", "jsonl", "html", "sqlite"])
def test_a_note_whose_file_name_is_no_text_is_exported(form: str, vault: Path, tmp_path: Path) -> None:
    (vault / "notes").mkdir()
    (vault / "notes" / os.fsdecode(b"caf\xe9.md")).write_text("# Espresso\n")
    assert exports.write(config.load(str(vault)), tmp_path / "out", form) == (1, 0, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", ["new", "empty"])
def test_a_site_that_is_killed_while_it_is_written_is_no_site_and_does_not_hinder_the_next(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    target = tmp_path / name
    with monkeypatch.context() as patch:
        patch.setattr(static_site._Site, "_put_search", kill)  # its pages are written
        in_a_killed_fork(lambda: exports.site(config.load(SAMPLE), target))
    assert list(target.rglob("*.html"))
    assert not [path for path in target.iterdir() if not path.name.startswith(".")]

    assert exports.site(config.load(SAMPLE), target).notes > 20
    assert {path.name for path in target.iterdir()} >= {"index.html", "search.html", "pages"}
    assert not [path for path in target.iterdir() if path.name.startswith(".")]


def test_a_site_that_is_stopped_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for target in (tmp_path / "new", tmp_path / "empty"):
        with pytest.raises(KeyboardInterrupt):
            exports.site(config.load(SAMPLE), target, report=stopped)
    assert list(tmp_path.rglob("*")) == [tmp_path / "empty"]


def stopped(what: str, done: int, total: int) -> None:
    if done == total - 1:
        raise KeyboardInterrupt


def test_the_page_of_a_week_is_read_as_conversations(tmp_path: Path) -> None:
    exports.write(config.load(SAMPLE), tmp_path / "week.html", "html")
    text = (tmp_path / "week.html").read_text("utf-8")
    assert read(tmp_path / "week.html").bad == []
    assert "<h2>2026-09-14</h2>" in text
    assert text.index("Why does the date parser fail") < text.index("The CSV export drops")
    assert "```" not in text


def test_an_exported_page_the_command_and_the_figures_count_the_same_notes(tmp_path: Path) -> None:
    day: Day = cli_day.make(tmp_path)
    day.run("note", "Releases are cut on Tuesdays.")
    count = day.json("stats")["notes"]
    page, lines = tmp_path / "week.html", tmp_path / "week.jsonl"
    assert day.run("export", str(page)).stdout == f"{count} notes in {page}.\n"
    assert f"<p>{count} notes, 3 sessions.</p>" in page.read_text("utf-8")
    done = day.run("export", str(lines)).stdout
    pages = len(lines.read_text("utf-8").splitlines()) - count
    assert done == f"{count} notes and {pages} pages in {lines}.\n"
    assert day.json("export", str(tmp_path / "site")  , "--format", "zip") == {
        "path": str(tmp_path / "site"), "notes": count, "pages": pages, "private": 0,
    }  # fmt: skip


@pytest.mark.parametrize("target", [["x.html"], ["x.db"], ["-", "--format", "jsonl"], ["site", "x"]])
def test_a_project_or_time_without_notes_is_named_and_no_file_written(tmp_path: Path, target: list[str]) -> None:
    day: Day = cli_day.make(tmp_path)
    words = [word.replace("x", str(tmp_path / "x")) for word in target]
    done = day.attempt("export", *words, "--project", "bogus")
    assert isinstance(done.exception, NotFoundError)
    assert str(done.exception) == "No note matches; nothing was written."
    assert done.stderr == "hint: No note has project:bogus.\n"
    then = day.attempt("export", *words, "--project", "api", "--until", "2026-09-01")
    assert str(then.exception) == "No note has project:api in this time; nothing was written."
    ever = day.attempt("export", *words, "--until", "2026-09-01")
    assert isinstance(ever.exception, NotFoundError)
    assert (str(ever.exception), ever.stdout) == ("No note was made in this time; nothing was written.", "")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("x")] == []


@pytest.fixture
def part_stays(tmp_path: Path) -> Day:
    """A vault of which some notes stay on this machine: by themselves, or by their project's page."""
    day = cli_day.empty(tmp_path)
    notes = {
        "journal/shared/project.md": "kind: project\nproject: shared",
        "journal/taxes/project.md": "kind: project\nproject: taxes\nsync: false",
        "journal/health/project.md": "kind: project\nproject: health\nprivate: true",
        "journal/taxes/2026-09-14/0800-a-aaaa1111/001-000-prompt-a.md": "kind: prompt\nsession: aaaa1111",
        "notes/open.md": "project: shared",
        "notes/here.md": "project: shared\nsync: false",
        "notes/of-taxes.md": "project: Taxes",
        "notes/of-health.md": "project: health",
        "notes/own.md": "private: true",
    }
    for path, head in notes.items():
        (day.vault / path).parent.mkdir(parents=True, exist_ok=True)
        text = f"---\n{head}\ncreated: 2026-09-14T08:00:00Z\n---\n\nwords of {path}\n"
        (day.vault / path).write_text(text, encoding="utf-8")
    return day


def exported_paths(text: str) -> set[str]:
    return {path for path in (json.loads(line)["path"] for line in text.splitlines()) if path.startswith("notes/")}


@pytest.mark.parametrize("target", [["x.html"], ["x.db"], ["x.zip"], ["x.jsonl"], ["site", "x"]])
def test_notes_that_stay_on_this_machine_are_left_out_of_an_export_and_counted(
    part_stays: Day, tmp_path: Path, target: list[str]
) -> None:
    words = [word.replace("x", str(tmp_path / "x"), 1) for word in target]
    done = part_stays.attempt("export", *words)
    left_out = "Left out 5 notes that stay on this machine. `--local` includes those with `sync: false`.\n"
    assert (done.exit_code, done.stderr) == (0, left_out)
    (out,) = (path for path in tmp_path.iterdir() if path.name.startswith("x"))
    files = [path for path in ([out] if out.is_file() else out.rglob("*")) if path.is_file()]
    data = b"".join(path.read_bytes() for path in files)
    if out.suffix == ".zip":
        with zipfile.ZipFile(out) as archive:
            data = b"".join(archive.read(name) for name in archive.namelist())
    assert b"words of notes/open.md" in data
    staying = ("notes/here", "of-taxes", "of-health", "notes/own", "journal/taxes", "journal/health")
    assert [name for name in staying if name.encode() in data] == []


def test_an_export_for_this_machine_has_what_is_not_synced_but_nothing_private(part_stays: Day, tmp_path: Path) -> None:
    local = part_stays.run("export", "-", "--format", "jsonl", "--local")
    assert exported_paths(local.stdout) == {"notes/open.md", "notes/here.md", "notes/of-taxes.md"}
    assert "Left out 2 notes that stay on this machine.\n" in local.stderr
    assert part_stays.json("export", str(tmp_path / "a.jsonl"))["private"] == 5


def test_a_note_in_utf_16_whose_private_part_cannot_be_found_is_left_out_of_an_export(part_stays: Day) -> None:
    text = "---\ntitle: Wide\n---\n<private>the alarm code</private>\n"
    (part_stays.vault / "notes/wide.md").write_bytes(text.encode("utf-16"))

    done = part_stays.run("export", "-", "--format", "jsonl")

    assert exported_paths(done.stdout) == {"notes/open.md"}
    assert "Left out 6 notes" in done.stderr


def test_an_export_of_a_project_that_stays_says_so_and_writes_nothing(part_stays: Day, tmp_path: Path) -> None:
    done = part_stays.attempt("export", str(tmp_path / "a.zip"), "--project", "taxes")
    assert isinstance(done.exception, NotFoundError)
    why = "No note matches, except 2 notes that stay on this machine; nothing was written."
    assert str(done.exception).replace("has project:taxes", "matches") == why
    assert not (tmp_path / "a.zip").exists()


def test_a_backup_lists_ten_of_the_files_that_stay_on_this_machine_and_counts_the_others(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    day.run("init", str(day.vault))
    (day.vault / "notes").mkdir(exist_ok=True)
    for number in range(11):
        (day.vault / f"notes/{number:02}.md").write_text("---\nsync: false\n---\n\nwords\n", encoding="utf-8")
    (day.vault / "notes/open.md").write_text("words\n", encoding="utf-8")

    said = day.run("backup", str(tmp_path / "a.bundle")).stderr.splitlines()
    assert said[:10] == [f"Not included, because it is not committed: notes/{number:02}.md" for number in range(10)]
    assert said[10:] == ["1 more file is not included; --json lists all."]
    missing = day.json("backup", str(tmp_path / "b.bundle"))["missing"]
    assert missing == [f"notes/{number:02}.md" for number in range(11)]


HAND_WRITTEN = {
    "notes/2026-11-20-dated.md": "# When we release\n\nOn Tuesdays.\n",
    "notes/plan.md": "Ship it.\n",
    "journal/shop/till.md": "---\ndate: 2026-11-21\ntype: lesson\n---\nCount twice.\n",
    "notes/template.md": "---\nid:\ntitle:\nkind:\nsession:\ncreated:\nproject:\n---\n# From a template\n\nwords\n",
    "notes/numbers.md": "---\nid: 7\ntitle: [1, 2]\nkind: 3\ntype: [note, a]\n---\nwords\n",
}


def hand_written(root: Path) -> Day:
    """Return a vault with these notes, in git."""
    day = cli_day.empty(root)
    day.run("init", str(day.vault))
    for path, text in HAND_WRITTEN.items():
        (day.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (day.vault / path).write_text(text, encoding="utf-8")
    return day


def test_a_note_written_by_hand_has_the_same_facts_in_every_list_and_export(tmp_path: Path) -> None:
    day = hand_written(tmp_path)
    keys = ("path", "id", "kind", "title", "created", "project")

    def facts(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
        return sorted(tuple(str(row[key]) for key in keys) for row in rows if row["path"] in HAND_WRITTEN)

    listed = facts(day.json("list", "--limit", "0"))
    assert [row[0] for row in listed] == sorted(HAND_WRITTEN)
    assert facts(day.json("review")) == listed
    assert facts([day.json("why", path) for path in HAND_WRITTEN]) == listed
    assert day.json("why", "notes/template.md")["session"] == ""
    assert {row["session"] for row in day.json("review")} == {""}
    lines = [json.loads(line) for line in day.run("export", "-", "--format", "jsonl").stdout.splitlines()]
    in_other_types = "notes/numbers.md"  # lines keep values of other types
    assert facts([row for row in lines if row["path"] != in_other_types]) == [
        row for row in listed if row[0] != in_other_types
    ]
    day.run("export", str(tmp_path / "x.db"))
    with closing(sqlite3.connect(tmp_path / "x.db")) as base:
        rows = base.execute(f"SELECT {', '.join(keys)} FROM notes").fetchall()
    assert facts([dict(zip(keys, row, strict=True)) for row in rows]) == listed


def test_a_note_written_by_hand_has_its_title_time_and_id_on_exported_pages(tmp_path: Path) -> None:
    day = hand_written(tmp_path)
    day.run("export", str(tmp_path / "x.html"))
    day.run("export", "site", str(tmp_path / "site"))

    listed = [row for row in day.json("list", "--limit", "0") if row["path"] in HAND_WRITTEN]
    html = (tmp_path / "x.html").read_text("utf-8")
    search = (tmp_path / "site/search.html").read_text("utf-8")
    for row in listed:
        assert f">{row['title']}</h3>" in html
        assert f"{row['kind']} · {timestamps.readable(row['created'])} · {row['id']}<" in html
        assert f'["{row["title"]}", ' in search
    assert "Without a date" not in html


def test_a_note_whose_name_has_a_secret_is_exported_with_the_time_of_its_file(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    (day.vault / "notes").mkdir(exist_ok=True)
    for number, end in enumerate("ab"):
        path = day.vault / f"notes/<private>{end}.md"
        path.write_text("same words\n", encoding="utf-8")
        os.utime(path, (1_789_372_800 + number, 1_789_372_800 + number))

    lines = day.run("export", "-", "--format", "jsonl", "--on", "2026-09-14").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["path"] for row in rows} & {"notes/<private>a.md", "notes/<private>b.md"}) == 0
    assert sorted(row["created"] for row in rows) == ["2026-09-14T08:00:00Z", "2026-09-14T08:00:01Z"]


@pytest.mark.parametrize(
    ("text", "title"),
    [("<private>The merger</private>\nHello.\n", "[PRIVATE]"), ("password: hunter2X9!kk\n", "password: [REDACTED]")],
)
def test_a_title_that_a_note_takes_from_its_text_has_no_private_part(tmp_path: Path, text: str, title: str) -> None:
    day = hand_written(tmp_path)
    (day.vault / "notes/12.md").write_text(text, encoding="utf-8")
    git = ["git", "-C", str(day.vault), "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    subprocess.run([*git, "add", "notes/12.md"], check=True, env=day.env)
    subprocess.run([*git, "commit", "-qm", "Mine"], check=True, env=day.env)

    rows = [*day.json("list", "--limit", "0"), *day.json("review"), day.json("why", "notes/12.md")]
    assert [row["title"] for row in rows if row["path"] == "notes/12.md"] == [title] * 3


def test_notes_written_by_hand_are_found_by_project_kind_and_time_in_reviews_and_exports(tmp_path: Path) -> None:
    day = hand_written(tmp_path)

    def paths(*words: str) -> list[str]:
        return [row["path"] for row in day.json("review", *words)]

    for kind in ("project", "agent"):
        (day.vault / f"notes/{kind}.md").write_text(f"---\ntype: {kind}\nkind:\n---\nwords\n", encoding="utf-8")
        assert f"notes/{kind}.md" in paths("--kind", "note")
    assert paths("--kind", "lesson") == paths("--project", "shop") == ["journal/shop/till.md"]
    assert paths("--on", "2026-11-20") == ["notes/2026-11-20-dated.md"]
    exported = day.run("export", "-", "--format", "jsonl", "--on", "2026-11-20").stdout
    assert exported_paths(exported) == {"notes/2026-11-20-dated.md"}


@pytest.mark.parametrize("form", ["jsonl", "html", "zip"])
def test_a_dash_exports_to_stdout(tmp_path: Path, form: str) -> None:
    day: Day = cli_day.make(tmp_path)
    day.run("export", str(tmp_path / f"out.{form}"))
    done = day.run("export", "-", "--format", form)
    if form != "zip":  # with sizes behind the files where it cannot seek
        assert done.stdout_bytes == (tmp_path / f"out.{form}").read_bytes()
    assert done.stderr.startswith("9 notes")
    assert not (Path.cwd() / "-").exists()


def test_what_cannot_go_to_stdout_is_refused(tmp_path: Path) -> None:
    day: Day = cli_day.make(tmp_path)
    for words, said in (
        (["-", "--format", "sqlite"], "A database needs a file"),
        (["-"], "Name the format"),
        (["-", "--format", "jsonl", "--json"], "--json does not go with `-`"),
    ):
        assert said in str(day.attempt("export", *words).exception)


def test_a_database_can_be_searched_and_joined(tmp_path: Path) -> None:
    count = exports.write(config.load(SAMPLE), tmp_path / "vault.db", "sqlite")
    with closing(sqlite3.connect(tmp_path / "vault.db")) as base:
        assert base.execute("SELECT count(*) FROM notes").fetchone() == (sum(count),)
        assert base.execute("SELECT count(*), sum(failed) FROM sessions").fetchone() == (3, 2)
        found = base.execute("SELECT title FROM notes_fts WHERE notes_fts MATCH 'utc' ORDER BY rank LIMIT 3").fetchall()
        assert ("Times are stored in UTC",) in found
        edited = base.execute(
            "SELECT notes.session FROM files JOIN notes ON notes.number = files.note"
            " WHERE files.path = 'src/dates.py' AND changed"
        ).fetchall()
        assert edited == [("3f0c6d1e-8a52-4b7e-9c41-5d2e7f90a118",)]
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_hostile_note_does_nothing_on_a_page(tmp_path: Path) -> None:
    day: Day = cli_day.make(tmp_path)
    (day.vault / "notes" / "hostile.md").write_text(f"---\ntitle: '</title><script>x</script>'\n---\n{HOSTILE}")
    day.run("export", "site", str(tmp_path / "site"))
    day.run("export", str(tmp_path / "all.html"))
    for path in (*(tmp_path / "site").rglob("*.html"), tmp_path / "all.html"):
        tags = read(path)
        assert tags.bad == []
        assert tags.scripts == (path.name == "search.html")
        assert [link for link in tags.links if urlsplit(link).scheme not in ("", "http", "https", "mailto")] == []


PIECES = st.sampled_from(
    [*"[]()<>!|#`&\"'= \nabjs:/.x*-+", "[a](", "[[", "]]", "[a](javascript:b)", "[a](JaVaScRiPt:b)",
     "[a](&#106;avascript:b)", "[a](data:text/html,b)", "[a](https://x.org/)", "<script>", "<a href=", "<img onerror="]
)  # fmt: skip


@given(st.lists(PIECES, min_size=20, max_size=100).map("".join))
def test_any_text_becomes_markup_without_scripts_and_handlers(text: str) -> None:
    tags = Tags()
    tags.feed(articles.html(text))
    assert tags.bad == []
    assert tags.scripts == 0
    assert [link for link in tags.links if urlsplit(link).scheme not in ("", "http", "https", "mailto")] == []


def test_exported_day_pages_have_the_titles_that_notes_have_now(tmp_path: Path) -> None:
    day = cli_day.make(tmp_path)
    path = day.vault / "notes" / "zones.md"
    text = "---\nkind: decision\ntitle: {}\ncreated: 2026-09-14T08:00:00Z\n---\n\nStore UTC.\n"
    path.write_text(text.format("Old title"))
    upkeep.refresh(day.config(), now=time.time())
    page = day.vault / "days" / "2026-09-14.md"
    assert "Old title" in page.read_text("utf-8")
    for number, out in enumerate((("site", "site"), ("all.html",), ("all.jsonl",))):
        path.write_text(text.format(f"New title {number}"))
        day.run("export", *out[:-1], str(tmp_path / out[-1]))
        made = tmp_path / out[-1]
        exported = "".join(one.read_text("utf-8") for one in (made.rglob("*.html") if made.is_dir() else (made,)))
        assert "Old title" not in exported
        assert f"New title {number}" in exported
        assert f"New title {number - 1}" not in exported


def test_a_vault_that_cannot_be_written_is_exported_as_it_is(tmp_path: Path) -> None:
    day = cli_day.make(tmp_path)
    (day.vault / "notes" / "zones.md").write_text("---\ntitle: Zones\ncreated: 2026-09-14T08:00:00Z\n---\n\nUTC.\n")
    (day.vault / "days").write_text("a file where the pages of days belong")
    day.run("export", str(tmp_path / "all.html"))
    assert "Zones" in (tmp_path / "all.html").read_text("utf-8")


def test_links_between_notes_lead_from_page_to_page(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    (day.vault / "notes" / "deep").mkdir()
    (day.vault / "notes" / "deep" / "a b.md").write_text("---\nid: 7gk2q9m4x1\n---\n\nTarget.\n")
    (day.vault / "notes" / "from.md").write_text("[x](deep/a%20b.md) [[a b|y]] [mem:7gk2q9m4x1] [gone](gone.md)\n")
    day.run("export", "site", str(tmp_path / "site"))
    links = read(tmp_path / "site" / "pages" / "notes" / "from.html").links
    assert links[2:] == ["deep/a%20b.html"] * 3


def test_unknown_forms_and_too_many_words_are_refused(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    for words in (("x.pdf",), ("a.zip", "b.zip")):
        done = day.attempt("export", *[str(tmp_path / word) for word in words])
        assert isinstance(done.exception, UsageError)
    assert not (tmp_path / "x.pdf").exists()
    assert ".html, .htm, .db" in str(day.attempt("export", str(tmp_path / "x.pdf")).exception)
    assert "mdmem export site DIR" in str(day.attempt("export", "site").exception)


@pytest.mark.parametrize("words", [["site", "site"], ["memory.html"], ["memory.jsonl"], ["memory.zip"]])
def test_an_export_to_a_full_disk_names_what_cannot_be_written_and_leaves_nothing(
    vault: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]], small_disk: Path, words: list[str]
) -> None:
    shutil.copytree(SAMPLE, vault, dirs_exist_ok=True)
    with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
    target = small_disk / words[-1]

    done = mdmem("export", *words[:-1], str(target))

    assert done.returncode == 1
    assert str(target) in done.stderr
    assert "Free some space there and run the command again." in done.stderr
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


@pytest.mark.parametrize("words", [["site", "site"], ["memory.html"], ["-", "--format", "html"]])
def test_an_export_that_fills_the_folder_of_temporary_files_names_that_one(
    vault: Path, tmp_path: Path, small_disk: Path, words: list[str]
) -> None:
    shutil.copytree(SAMPLE, vault, dirs_exist_ok=True)
    (small_disk / "filler").write_bytes(bytes(30 * 4096))  # so little is left that Python still writes there
    line = [sys.executable, "-m", "mdmem", "export", *words]

    done = subprocess.run(
        line, cwd=tmp_path, env={**os.environ, "TMPDIR": str(small_disk)}, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert f"No space left on device ({small_disk}). Free some space there" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("form", ["jsonl", "html", "zip"])
def test_an_export_to_a_full_stdout_says_that_the_output_cannot_be_written(vault: Path, form: str) -> None:
    shutil.copytree(SAMPLE, vault, dirs_exist_ok=True)
    words = [sys.executable, "-m", "mdmem", "export", "-", "--format", form]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)

    assert done.returncode == 1
    assert "he output cannot be written" in done.stderr
    assert "vault" not in done.stderr
