"""The pages over HTTP: who is let in, what each page shows, what a form may change, and what it may not."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

import pytest
from watchdog.events import FileModifiedEvent

from mdmem import config, timestamps, upgrade
from mdmem.errors import BusyError, NotFoundError
from mdmem.history.git import lock
from mdmem.inject import injection_log
from mdmem.learn import decisions, proposals
from mdmem.search import engine, index, query
from mdmem.search.index import writer
from mdmem.vault import note, user_notes
from mdmem.views import rows, sessions
from mdmem.views.injections import Injection
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionTurn
from mdmem.web import app, live
from mdmem.web.pages import health, search, session
from tests.conftest import session_pages
from tests.helpers import cli_day, forked
from tests.helpers.cli_day import FIRST, MORNING
from tests.helpers.indexed import indexed
from tests.helpers.injected import new_session
from tests.helpers.pages import serving
from tests.helpers.plain_git import git
from tests.helpers.talk import Talk
from tests.helpers.waiting import until
from tests.web.conftest import OLDEST, PAGES, Web, a_note

LATER = 1_790_000_000
"""A time after all of the sample's notes, also where the clock is behind them."""


@pytest.fixture(scope="module")
def cookie(web: Web) -> str:
    return web.served.enter()


def get(web: Web, cookie: str, path: str) -> str:
    status, _, body = web.served.ask(path, headers={"Cookie": cookie})
    assert status == 200, (path, status, body[:600])
    return body


def csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found, page[:400]
    return found[1]


def post(web: Web, cookie: str, action: str, **fields: str) -> tuple[int, dict[str, str], str]:
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded", "Origin": web.served.url}
    return web.served.ask(f"/do/{action}", method="POST", body=urlencode(fields), headers=headers)


def token(web: Web, cookie: str) -> str:
    return csrf(get(web, cookie, "/health"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a file's name has no line break, and is text")
def test_notes_whose_file_names_hold_a_line_break_or_no_text_are_shown(web: Web, cookie: str) -> None:
    files = [web.vault / "notes" / os.fsdecode(name) for name in (b"two\nlines.md", b"caf\xe9.md")]
    for file in files:
        file.write_text("# Zwetschgenröster\n")
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))
    try:
        links = set(re.findall(r'"(/note/[^"]+)"', get(web, cookie, "/search?q=Zwetschgenr%C3%B6ster")))
        assert len(links) == 2
        for link in (*links, "/edit/notes/two%0Alines.md"):
            assert "Zwetschgenröster" in get(web, cookie, link)
        get(web, cookie, "/versions/notes/two%0Alines.md")
    finally:
        for file in files:
            file.unlink()


def test_every_page_is_linked_from_another(web: Web, cookie: str) -> None:
    a_note(web, "A picture and a link", "![A walrus](walrus.png) and [[Ideas]].")
    ways = {address: re.compile(re.sub(r"\\{.*?\\}", ".+", re.escape(address))) for address in app.PAGES}
    waiting, asked = ["/"], {"/": 0}
    while waiting:
        for found in re.findall(r'="(/[^"#]*)', web.served.ask(waiting.pop(0), headers={"Cookie": cookie})[2]):
            link = unescape(found)
            way = next((way for way, form in ways.items() if form.fullmatch(link.partition("?")[0])), "")
            if asked.get(way, 0) < 12 and link not in asked:  # a few of each page lead to all others
                asked |= {way: asked.get(way, 0) + 1, link: 1}
                waiting += [link] if way else []

    assert ways.keys() - asked.keys() == set()


def test_a_page_without_anything_leads_on(web: Web, cookie: str) -> None:
    assert 'href="/search?q=nowhere.py">Search for its name' in get(web, cookie, "/file?path=src/nowhere.py")
    assert 'href="/new?kind=task&amp;project=api">Write a task' in get(web, cookie, "/open?project=api")
    assert "<title>Timeline 2020-01-01 " in get(web, cookie, "/timeline?on=2020-01-01")


def test_every_page_says_that_the_index_is_being_built(web: Web, cookie: str) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    assert "being built in the background" not in get(web, cookie, "/projects")

    mark = Path(settings.state_dir, "indexing")
    mark.touch()
    try:
        assert "being built in the background" in get(web, cookie, "/projects")
    finally:
        mark.unlink()


# -- who is let in ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/search?q=date", "/live", "/static/script.js", "/session/latest", "/nothing"])
def test_without_a_cookie_nothing_is_answered(web: Web, path: str) -> None:
    status, headers, body = web.served.ask(path)

    assert status == 401
    assert "mdmem web" in body
    assert "parser" not in body
    assert "set-cookie" not in headers


def test_an_old_cookie_is_worth_nothing(web: Web, cookie: str) -> None:
    name = cookie.partition("=")[0]

    assert web.served.ask("/", headers={"Cookie": f"{name}={'A' * 43}"})[0] == 401
    assert web.served.ask("/", headers={"Cookie": f"{cookie}; {name}=other"})[0] == 401


def test_a_link_works_once(web: Web, cookie: str) -> None:
    status, headers, _ = web.served.ask(web.served.link.removeprefix(web.served.url))

    assert status == 401
    assert "set-cookie" not in headers
    assert web.served.ask("/enter?key=")[0] == 401


def test_the_cookie_is_strict_and_not_for_scripts(web: Web, cookie: str) -> None:
    attributes = {part.strip().lower() for part in web.served.set_cookie.split(";")[1:]}

    assert {"httponly", "samesite=strict", "path=/"} <= attributes
    assert not any(part.startswith(("domain", "max-age", "expires")) for part in attributes)
    assert len(cookie.partition("=")[2]) >= 40


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": ""}, 400),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_requests_of_other_sites_get_nothing(web: Web, cookie: str, headers: dict[str, str], expected: int) -> None:
    status, _, body = web.served.ask("/", headers={"Cookie": cookie, **headers})

    assert status == expected
    assert "parser" not in body


def test_every_page_forbids_scripts_and_sources_from_elsewhere(web: Web, cookie: str) -> None:
    for path in ("/", "/nothing", "/static/style.css"):
        _, headers, _ = web.served.ask(path, headers={"Cookie": cookie})
        policy = headers.get("content-security-policy", "")
        if path != "/static/style.css":
            assert "default-src 'none'" in policy
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_only_our_own_static_files_are_served(web: Web, cookie: str) -> None:
    for path in ("/static/..%2fapp.py", "/static/../app.py", "/static/app.py"):
        status, _, body = web.served.ask(path, headers={"Cookie": cookie})
        assert status == 404
        assert "import" not in body


def test_other_methods_are_refused(web: Web, cookie: str) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert web.served.ask("/", method=method, headers={"Cookie": cookie})[0] == 405


# -- what pages show -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_no_inline_script_or_style(web: Web, cookie: str, path: str) -> None:
    body = get(web, cookie, path)

    assert body.count("<script") == 1
    assert "<style" not in body
    assert not re.search(r"<[^>]+\s(on\w+|style)\s*=", body)
    assert body.count("<h1") == 1


def test_a_session_reads_as_a_conversation(web: Web, cookie: str) -> None:
    body = get(web, cookie, f"/session/{FIRST}")

    assert "Why does the date parser fail?" in body
    assert "The parser took 29 February for granted." in body
    assert "claude --resume 3f0c6d1e-8a52-4b7e-9c41-5d2e7f90a118" in body
    assert "1 failed" in body
    assert "Ada pays" not in body
    assert re.search(r'class="kept">parts kept out of \d notes?<', body)


def test_a_run_is_shown_when_its_fold_is_opened(web: Web, cookie: str) -> None:
    body = get(web, cookie, f"/session/{FIRST}")
    folds = re.findall(r'data-body="(/body/\w+\?part=1)"', body)

    assert any('<span class="add">+checked(y, m, d)</span>' in get(web, cookie, fold) for fold in folds)


def test_search_narrows_down(web: Web, cookie: str) -> None:
    wide = get(web, cookie, "/search?q=date+parser")
    narrow = get(web, cookie, "/search?q=date+parser&kind=response")

    assert "<mark>parser</mark>" in wide
    assert "kind=prompt" in wide
    assert narrow.count('class="hit"') < wide.count('class="hit"')


def test_the_beginning_of_a_word_finds_it_where_no_note_has_it_as_a_word(web: Web, cookie: str) -> None:
    begun = get(web, cookie, "/search?q=pars")
    assert begun.count('class="hit"') and "words that begin like the last one" in begun
    assert get(web, cookie, "/search?q=pars&kind=response").count('class="hit"') < begun.count('class="hit"')

    unknown = get(web, cookie, "/search?q=xyzzyq")
    assert "Nothing found." in unknown and "the best first" not in unknown


def test_active_filters_are_named_and_removed_also_where_nothing_is_found(web: Web, cookie: str) -> None:
    page = get(web, cookie, "/search?q=nothingofthekind&kind=prompt&since=30d&sort=newest&part=1")

    assert "0 results" in page
    assert (
        'href="/search?q=nothingofthekind&amp;since=30d&amp;sort=newest" aria-label="Remove the filter kind: prompt"'
        in page
    )
    assert 'href="/search?q=nothingofthekind&amp;kind=prompt&amp;sort=newest"' in page


def test_a_failed_run_shows_what_solved_it(web: Web, cookie: str) -> None:
    (failed,) = (path for path in web.vault.rglob("*-bash-*.md") if b"success: false" in path.read_bytes())
    edit = web.day.id("Edit src/dates.py")

    page = get(web, cookie, f"/note/{failed.stem.rpartition('-')[2]}")

    solved = page.partition("What solved it")[2].partition("</section>")[0]
    assert re.findall(r'href="/note/(\w+)"', solved)[0] == edit
    assert "pytest" in solved
    assert "What solved it" not in get(web, cookie, f"/note/{edit}")


def test_a_note_that_stays_on_this_machine_says_so(web: Web, cookie: str) -> None:
    path = a_note(web, "Not for other machines")
    assert "stays on this machine" not in get(web, cookie, f"/note/{path}")

    post(web, cookie, "tag", csrf=token(web, cookie), note=path, tags="private")

    assert "stays on this machine" in get(web, cookie, f"/note/{path}")


def test_a_note_that_earlier_commits_contain_tells_how_to_remove_it_from_them(web: Web, cookie: str) -> None:
    committed, fresh = a_note(web, "Committed before it was private"), a_note(web, "Private from the start")
    git(web.vault, "add", "--", committed)
    git(web.vault, "commit", "-q", "-m", "One note", "--", committed)
    command = f"mdmem purge --history-only {committed} --apply"
    assert command not in get(web, cookie, f"/note/{committed}")

    for path in (committed, fresh):
        post(web, cookie, "tag", csrf=token(web, cookie), note=path, tags="private")

    assert command in get(web, cookie, f"/note/{committed}")
    page = get(web, cookie, f"/note/{fresh}")
    assert "stays on this machine" in page
    assert "mdmem purge" not in page


def test_the_latest_ten_notes_that_link_to_a_note_are_shown_and_the_others_folded(web: Web, cookie: str) -> None:
    target = a_note(web, "Linked often")
    name = target.rpartition("/")[2].removesuffix(".md")
    for number in range(12):
        a_note(web, f"Linking {number:02d}", f"See [[{name}]].", now=MORNING + number)

    shown, folded = get(web, cookie, f"/note/{target}").partition("Linked from")[2].split("<details>")[:2]

    assert "2 earlier notes" in folded
    assert re.findall(r"Linking \d\d", shown) == [f"Linking {number:02d}" for number in range(11, 1, -1)]
    assert re.findall(r"Linking \d\d", folded) == ["Linking 01", "Linking 00"]


def test_a_file_shows_its_changes_and_sessions(web: Web, cookie: str) -> None:
    body = get(web, cookie, "/file?path=src/dates.py")

    assert "Edit src/dates.py" in body
    assert "Why does the date parser fail?" in body


def test_a_project_shows_the_decisions_in_force(web: Web, cookie: str) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    more: dict[str, Any] = {"kind": "decision", "project": "notes-app"}
    old = decisions.add(settings, "Dates are local", "Local time.", now=MORNING, **more)
    decisions.add(settings, "Dates are UTC", "UTC everywhere.", supersedes=old.id, now=MORNING + 9, **more)
    until(lambda: "Dates are UTC" in get(web, cookie, "/project/notes-app"))

    body = get(web, cookie, "/project/notes-app")
    assert "Dates are local" not in body
    assert body.count("Why does the date parser fail?") == 1, "the page lists sessions once"


def test_a_project_is_shown_whole_under_its_name_in_any_case(web: Web, cookie: str) -> None:
    page = get(web, cookie, "/project/Notes-App")
    assert "<title>notes-app · mdmem</title>" in page
    assert f"/session/{FIRST[:8]}" in page


def test_a_project_whose_name_holds_a_slash_has_a_page(web: Web, cookie: str) -> None:
    file = web.vault / "notes" / "slash.md"
    file.write_text("---\ntitle: Of a part\nproject: shop/api\n---\n\nWords.\n", encoding="utf-8")
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))

    (address,) = set(re.findall(r'href="(/project/shop[^"]*)"', get(web, cookie, "/projects")))

    assert "Of a part" in get(web, cookie, address)
    file.unlink()


def test_a_session_shows_what_a_person_wrote_on_its_page_with_links_from_there(web: Web, cookie: str) -> None:
    (page,) = (path for path in session_pages(web.vault) if FIRST in path.read_text())
    before = page.read_text()
    edit = next(page.parent.glob("*-edit-*.md")).name
    titled = before.replace("1. [Why does", r"1. [What is \<!-- mdmem:end --> for? Why does")
    page.write_text(f"{titled}\nSee [what changed]({edit}).\n")

    body = get(web, cookie, f"/session/{FIRST}")

    words = body.partition("<h2>Added by hand</h2>")[2].partition("</section>")[0]
    assert "for? Why does" in titled
    assert "for? Why does" not in words
    assert f'href="/note/{edit[-13:-3]}">what changed</a>' in words
    page.write_text(before)


def test_a_project_shows_its_notes_and_only_a_persons_words_of_its_page(web: Web, cookie: str) -> None:
    own = web.vault / "journal" / "notes-app" / "project.md"
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    added = user_notes.add(settings, "How it is released", "By hand.", project="notes-app", now=MORNING).path
    indexed(settings)
    page = get(web, cookie, "/project/notes-app")
    assert re.search(r"<h2>Notes</h2>.*>How it is released</a>", page, re.DOTALL)
    assert "Everything that was remembered" in own.read_text()
    assert "Everything that was remembered" not in page
    assert "You have not written on it yet" in page

    before = own.read_text()
    own.write_text(before.replace("<!-- mdmem:begin -->", "Ask Zora about it.\n\n<!-- mdmem:begin -->"))
    try:
        assert "Ask Zora about it." in get(web, cookie, "/project/notes-app")
    finally:
        own.write_text(before)
        (web.vault / added).unlink()


def test_a_day_on_which_somebody_only_wrote_shows_what_they_wrote(web: Web, cookie: str) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    paths = [
        user_notes.add(settings, title, "Words.", project="api", now=MORNING + days * 86_400).path
        for title, days in (("On a quiet day", 40), ("A day later", 41))
    ]
    indexed(settings)
    day = time.strftime("%Y-%m-%d", time.localtime(MORNING + 40 * 86_400))

    page = get(web, cookie, f"/timeline?on={day}")
    assert "On a quiet day" in page
    assert "A day later" not in page
    assert "On a quiet day" in get(web, cookie, f"/timeline?on={day}&project=api")
    assert "On a quiet day" not in get(web, cookie, f"/timeline?on={day}&project=notes-app")
    assert "On a quiet day" not in get(web, cookie, f"/timeline?on={day}&failed=1")
    for path in paths:
        (web.vault / path).unlink()


def test_days_with_only_written_notes_are_days_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    for day in ("2020-01-02", "2020-01-05"):
        text = f"---\nkind: note\ncreated: {day}T12:00:00\nproject: api\n---\n\nWords of {day}.\n"
        (tmp_path / "vault" / f"{day}.md").write_text(text, "utf-8")
    env = {**os.environ, "HOME": str(tmp_path)}

    with serving(tmp_path / "vault", env) as served:
        headers = {"Cookie": served.enter()}
        today, last, other = (
            served.ask(path, headers=headers)[2]
            for path in ("/", "/timeline?on=2020-01-05&project=api", "/timeline?on=2020-01-05&project=web")
        )

    assert "Words of 2020-01-05" in today and 'href="/timeline?on=2020-01-02"' in today
    assert 'rel="prev" href="/timeline?project=api&amp;on=2020-01-02"' in last
    assert 'rel="prev"' not in other


def test_a_session_that_was_resumed_on_another_day_shows_the_days_of_its_times(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    for seconds in (0, 60, 86_400):
        day.ask(f"Question {seconds}", MORNING + seconds, FIRST)

    with serving(day.vault, {**day.env, "TZ": "UTC"}) as served:
        headers = {"Cookie": served.enter()}
        pages = [served.ask(path, headers=headers)[2] for path in ("/", f"/session/{FIRST}")]

    for page in pages:
        assert "<span>2026-09-14 08:00–2026-09-15 08:00</span>" in re.sub(r"</?time[^>]*>", "", page)


def test_a_search_shows_a_session_once_where_its_first_prompt_is_found_too(web: Web, cookie: str) -> None:
    page = get(web, cookie, "/search?q=date+parser")
    titles = re.findall(r'<a class="hit" href="[^"]+">(.*?)</a>', page)
    assert len(titles) == len(set(titles)), titles
    counted = re.search(r'id="count"[^>]*>\s*(\d+) results, best first; (\d+) sessions? listed', page)
    assert counted is not None
    assert int(counted[1]) == len(titles) + int(counted[2])
    assert f'href="/session/{FIRST}?turn=1#turn-1">session</a>' in get(web, cookie, "/search?q=date+parser")

    assert 'class="hit"' in get(web, cookie, "/search?q=date+parser&kind=session")


def test_a_search_links_what_changed_a_hit_later_and_lists_it_first(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    talk = Talk(day.vault, tmp_path / "gateway")
    for old, new, answer in (
        ("-timeout = None", "+timeout = 30", "The gateway timeout for all clients is 30 seconds."),
        ("-timeout = 30", "+timeout = 90", "The timeout is 90 <seconds>."),
    ):
        talk = new_session(talk, 1 + talk.prompts)
        talk.says("set the timeout")
        talk.edits("gateway.py", [old, new])
        talk.answers(answer)
    (day.vault / "notes" / "old.md").write_text("---\nsuperseded_by: its source <gone>\n---\n\nQuince badges.\n")
    with serving(day.vault, day.env) as served:
        headers = {"Cookie": served.enter()}
        page = served.ask("/search?q=gateway+timeout+clients+now", headers=headers)[2]
        newest = served.ask("/search?q=gateway+timeout+clients+now&sort=newest", headers=headers)[2]
        note = served.ask("/search?q=quince", headers=headers)[2]

    answers = dict(re.findall(r'<a class="hit" href="([^"]+)">(The [^<]+)</a>', page))
    newer, older = answers
    assert answers == {
        newer: "The timeout is 90 &lt;seconds&gt;.",
        older: "The gateway timeout for all clients is 30 seconds.",
    }
    mark = f'superseded by</span><a href="{newer}">The timeout is 90 &lt;seconds&gt;.</a>'
    assert mark in page.partition(f'<a class="hit" href="{older}">')[2].partition("</li>")[0]
    assert mark not in page.partition(f'<a class="hit" href="{newer}">')[2].partition("</li>")[0]
    assert "superseded" not in newest
    assert '<span class="flag">superseded: its source &lt;gone&gt;</span>' in note


def test_a_search_without_words_offers_what_people_wrote_and_every_kind(web: Web, cookie: str) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    path = user_notes.add(settings, "Found without a word", "Words.", now=max(time.time(), LATER) + 60).path
    indexed(settings)
    page = get(web, cookie, "/search")

    assert "Found without a word" in page
    assert '"/search?kind=note"' in page
    assert '"/search?project=notes-app"' in page
    (web.vault / path).unlink()


def test_a_note_shows_where_it_came_from_and_what_names_it(web: Web, cookie: str) -> None:
    ideas = next(path for path in (web.vault / "notes").glob("*ideas*"))
    answer = web.day.id("The parser took 29 February")

    assert "Why does the date parser fail?" in get(web, cookie, f"/note/{answer}")
    assert "Asked by" in get(web, cookie, f"/note/{answer}")
    assert "vscode://file/" in get(web, cookie, f"/note/notes/{ideas.name}")


def test_a_note_of_a_packed_session_is_opened_in_the_file_that_holds_it(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    day.ask("An old question", MORNING - 900 * 86_400, "old-1")
    day.run("init", str(day.vault))
    day.run("commit")
    day.run("archive", "2024")
    with serving(day.vault, day.env) as served:
        page = served.ask(f"/note/{day.id('An old question')}", headers={"Cookie": served.enter()})[2]

    opened = re.search(r'"vscode://file([^"]+)"', page)
    assert opened
    assert Path(unquote(opened[1])).is_file()
    assert "An old question" in Path(unquote(opened[1])).read_text()
    assert "packed in this file" in page


def test_growth_of_a_single_day_is_shown_with_times(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    for hour in (8, 9):
        head = f"---\ntitle: At {hour}\ncreated: 2026-09-14T{hour:02d}:00:00Z\n---\n\nWords.\n"
        (day.vault / "notes" / f"{hour}.md").write_text(head)
    with serving(day.vault, day.env) as served:
        body = served.ask("/health", headers={"Cookie": served.enter()})[2]

    assert re.search(r"<figcaption><span>2026-09-14 08:00</span>.*<span>2026-09-14 09:00</span></figcaption>", body)
    assert "from 2026-09-14 08:00 to 2026-09-14 09:00" in body


def test_a_vault_that_is_away_is_said_and_is_no_fault_of_the_server(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    away = day.vault.with_name("away")
    with serving(day.vault, day.env) as served:
        cookie = served.enter()
        day.vault.rename(away)
        status, _, body = served.ask("/preview", headers={"Cookie": cookie})
        away.rename(day.vault)
        back = served.ask("/preview", headers={"Cookie": cookie})[0]

    assert status == 503
    assert f"No vault at {day.vault}" in body
    assert back == 200


def hooked(web: Web, **payload: Any) -> None:
    """Run a hook as an agent does."""
    given = {"cwd": str(web.vault.parent / "api"), "session_id": "commits-1", **payload}
    forked.run(["hook", "claude-code"], json.dumps(given).encode(), {**os.environ, **web.day.env}).check_returncode()


def test_a_session_lists_the_memories_that_it_was_given(web: Web, cookie: str) -> None:
    hooked(web, hook_event_name="UserPromptSubmit", prompt="Use what you know", session_id="given-1")
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    indexed(settings)
    answer = web.day.id("The parser took 29 February")
    row = {"time": "2026-09-14T08:00:10Z", "session": "given-1", "event": "SessionStart", "project": "api"}
    ids = [answer, "zzzzzzzzzz"]
    injection_log.log(settings, {**row, "why": ["recall"], "ids": ids, "tokens": 120, "chars": 500})

    for page in (get(web, cookie, "/session/given-1"), get(web, cookie, "/injected")):
        given = page.partition("asked to recall")[2].partition("</ul>")[0]
        assert f'href="/note/{answer}">The parser took 29 February' in given
        assert '<code>zzzzzzzzzz</code> <span class="soft">no longer in the vault</span>' in given


def test_a_note_that_a_session_without_notes_was_given_leads_only_to_sessions_with_a_page(
    web: Web, cookie: str
) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    note_id = note.parse((web.vault / a_note(web, "Given to two sessions")).read_bytes()).meta["id"]
    indexed(settings)
    row = {"time": "2026-09-14T08:00:10Z", "event": "SessionStart", "project": "api", "why": ["recall"]}
    for given_to in (FIRST, "left-none-1"):
        injection_log.log(settings, {**row, "session": given_to, "ids": [note_id], "tokens": 120, "chars": 500})

    given = get(web, cookie, f"/note/{note_id}").partition("Given to agents")[2].partition("</section>")[0]

    assert re.findall(r'href="([^"]+)"', given) == [f"/session/{FIRST}"]
    assert "to a session that left no note" in given


def test_an_injection_names_the_prompt_that_got_it(web: Web, cookie: str) -> None:
    hooked(web, hook_event_name="UserPromptSubmit", prompt="Which walrus did we choose", session_id="asked-1")
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    indexed(settings)
    (path,) = web.vault.rglob("*-prompt-which-walrus-*.md")
    stored = note.parse(path.read_bytes()).meta
    row = {"session": "asked-1", "event": "UserPromptSubmit", "why": ["recall"], "ids": [], "tokens": 0, "chars": 0}
    injection_log.log(settings, {"time": stored["created"], "project": "api", **row})

    page = get(web, cookie, "/injected")
    assert f'<a href="/note/{stored["id"]}">Which walrus did we choose</a></h2>' in page
    assert "/preview?prompt=Which+walrus+did+we+choose&amp;project=api" in page


def test_the_latest_session_has_an_address_of_its_own(web: Web, cookie: str) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    view = index.current(indexed(settings))
    assert view is not None
    last = max(row.ended for row in sessions.table(view))
    for number, tag in enumerate((resumed := "deadbee1", "deadbee2", resumed), 1):
        now = timestamps.epoch(last) + 60 * number
        web.day.ask(f"Question {number}", now, f"{tag}-0000-4000-8000-000000000001")
    indexed(settings)  # the pages may hear of it later

    status, headers, _ = web.served.ask("/session/latest", headers={"Cookie": cookie})

    assert (status, headers["location"]) == (303, f"/session/{resumed}")
    assert "Question 3" in get(web, cookie, f"/session/{resumed}")


def test_a_session_leads_to_the_runs_that_committed_and_to_each_turn(web: Web, cookie: str) -> None:
    ran = {"stdout": "[main 5d2e7f9] Refuse empty names\n 1 file changed", "stderr": ""}
    asked = {"tool_input": {"command": "git commit -am 'Refuse empty names'"}, "tool_response": ran}
    hooked(web, hook_event_name="UserPromptSubmit", prompt="Commit what you have")
    hooked(web, hook_event_name="PostToolUse", tool_name="Bash", tool_use_id="c1", **asked)
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))

    page = get(web, cookie, "/session/commits-1")
    run = web.day.id("git commit -am 'Refuse empty names'")
    assert f'<a href="/note/{run}"><code>5d2e7f9</code></a>' in page
    assert re.search(r'href="/session/[\w-]+\?turn=1#turn-1" aria-label="Link to turn 1"', page)

    shown = get(web, cookie, f"/note/{run}")
    assert 'href="/session/commits-1?turn=1#turn-1">turn 1 of its session</a>' in shown
    assert "<span>claude-code</span>" in shown
    assert f"[mem:{run}]</code>" in shown


def test_an_answer_tells_how_long_it_took(web: Web, cookie: str) -> None:
    env = {**os.environ, **web.day.env}
    given = {"hook_event_name": "UserPromptSubmit", "session_id": "slow-1", "cwd": str(web.vault.parent / "api")}
    command = [sys.executable, "-m", "mdmem", "hook", "claude-code"]
    for seconds, payload in (
        (0, {**given, "prompt": "Take your time"}),
        (180, {**given, "hook_event_name": "Stop", "last_assistant_message": "It is done, at last."}),
    ):
        env["MDMEM_NOW"] = str(int(MORNING) + seconds)
        subprocess.run(command, input=json.dumps(payload).encode(), env=env, check=True)
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))

    assert '<span class="took">after 3 min</span>' in get(web, cookie, "/session/slow-1")


def test_a_turn_of_a_long_session_is_on_the_part_that_shows_it() -> None:
    parts = [[SessionTurn(1, []), SessionTurn(2, [])], [SessionTurn(3, [])]]

    assert [session._part_of(parts, turn) for turn in (0, 1, 2, 3, 9)] == [1, 1, 1, 2, 1]


def test_an_injection_is_shown_in_its_own_turn_where_a_prompt_was_deleted() -> None:
    def turn(number: int, minute: int) -> SessionTurn:
        created = f"2026-09-14T08:{minute}:00Z"
        row = NoteRow(f"n{number}", "", "prompt", "", created, "", "", "", "", number, 0, None, False, [])
        return SessionTurn(number, [row])

    turns = [turn(1, 10), turn(3, 30)]
    given = [
        Injection(f"2026-09-14T08:{minute}:01Z", "s", "codex", "UserPromptSubmit", "", "", 9, ("x",), ())
        for minute in (10, 30)
    ]
    assert [session._given_to(one, turns, given) for one in turns] == [given[:1], given[1:]]


def test_no_number_in_an_address_is_too_long(web: Web, cookie: str) -> None:
    number = "9" * 5_000
    assert web.served.ask(f"/timeline?page={number}", headers={"Cookie": cookie})[0] == 200
    link = http.client.HTTPConnection("127.0.0.1", web.served.port, timeout=240)
    link.request("GET", f"/live?after={number}", headers={"Cookie": cookie})
    assert link.getresponse().status == 200
    link.close()


def test_a_name_with_a_nul_is_that_of_no_note(web: Web, cookie: str) -> None:
    for path in ("/note/%00", "/edit/a%00b", "/body/notes/%00.md"):
        assert web.served.ask(path, headers={"Cookie": cookie})[0] == 404, path


def test_a_form_with_too_many_fields_is_refused_on_a_page(web: Web, cookie: str) -> None:
    form = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded", "Origin": web.served.url}
    body = "&".join(f"field{number}=x" for number in range(300))
    status, headers, page = web.served.ask("/do/pin", method="POST", body=body, headers=form)
    assert (status, "too many fields" in page) == (400, True)
    assert "content-security-policy" in headers


def test_results_are_counted_without_notes_that_wait_on_a_branch(vault: Path) -> None:
    for name, more in (("one", ""), ("two", "staged: feature\n")):
        (vault / f"{name}.md").write_text(f"---\nkind: note\ntitle: {name}\n{more}---\n\nQuokkas\n")
    settings = config.load(str(vault))
    asked = query.parse("quokkas")
    assert engine.search(settings, asked).total == 1
    assert rows.ask(settings, lambda view: search.count(view, settings.vault, asked))["kind"] == {"note": 1}


def test_results_are_narrowed_by_state_and_sorted_by_time(web: Web, cookie: str) -> None:
    page = get(web, cookie, "/search?q=parser")
    assert "sort=newest" in page
    assert re.search(r'href="/search\?q=parser&amp;is=private"', page)

    newest = get(web, cookie, "/search?q=parser&sort=newest")
    times = re.findall(r'</span><time datetime="([^"]+)"', newest)
    assert times == sorted(times, reverse=True)
    assert "is=private&amp;sort=newest" in newest
    assert '<input type="hidden" name="sort" value="newest">' in newest


def test_a_part_of_the_results_behind_the_last_is_the_last(web: Web, cookie: str) -> None:
    page = get(web, cookie, "/search?q=parser&page=99")

    assert 'class="hit"' in page
    assert "Nothing found" not in page


def test_a_wiki_link_leads_to_its_note_or_to_a_search(web: Web, cookie: str) -> None:
    (web.vault / "notes" / "how we ship.md").write_text("# How we ship\n\nOn Tuesdays.\n", encoding="utf-8")

    def leads_to() -> str:
        return web.served.ask("/go?to=how+we+ship", headers={"Cookie": cookie})[1]["location"]

    until(lambda: "/note/" in leads_to())

    assert "On Tuesdays." in get(web, cookie, leads_to())
    assert web.served.ask("/go?to=no+such+name", headers={"Cookie": cookie})[1]["location"] == "/search?q=no+such+name"


def test_a_wiki_link_that_two_files_answer_to_leads_to_the_one_that_it_names(web: Web, cookie: str) -> None:
    for name in ("plan.md", "deep/plan.md"):
        (web.vault / "notes" / name).parent.mkdir(exist_ok=True)
        (web.vault / "notes" / name).write_text(f"# The plan of {name}\n", encoding="utf-8")
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))

    for to, shown in (("plan", "The plan of plan.md"), ("deep/plan", "The plan of deep/plan.md")):
        status, headers, _ = web.served.ask(f"/go?to={to}", headers={"Cookie": cookie})
        assert status == 303
        assert shown in get(web, cookie, headers["location"])


def test_a_wiki_link_leads_to_the_note_with_that_title(web: Web, cookie: str) -> None:
    (web.vault / "notes" / "ship-it.md").write_text(
        "---\ntitle: When do we ship?\n---\nOn Fridays.\n", encoding="utf-8"
    )
    (web.vault / "notes" / "asks.md").write_text("See [[When do we ship?]].\n", encoding="utf-8")
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    indexed(settings)

    status, headers, _ = web.served.ask("/go?to=when+do+we+SHIP%3F", headers={"Cookie": cookie})
    assert status == 303
    page = get(web, cookie, headers["location"])
    assert "On Fridays." in page
    assert "Linked from" in page

    (web.vault / "notes" / "ship-too.md").write_text("# When do we ship?\n\nOn Mondays.\n", encoding="utf-8")
    indexed(settings)
    status, _, choice = web.served.ask("/go?to=When+do+we+ship%3F", headers={"Cookie": cookie})
    assert status == 300
    assert len(re.findall(r'<a class="name"[^>]*>When do we ship\?</a>', choice)) == 2


@pytest.mark.parametrize("ids", [["facade0001"], ["facade0001", "facade0002"]])
def test_a_wiki_link_leads_to_a_title_also_where_ids_begin_so(web: Web, cookie: str, ids: list[str]) -> None:
    for name in ids:
        (web.vault / "notes" / f"other-{name}.md").write_text(f"---\nid: {name}\n---\nAnother.\n", encoding="utf-8")
    (web.vault / "notes" / "front.md").write_text("# Facade\n\nIt is white.\n", encoding="utf-8")
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))

    status, headers, _ = web.served.ask("/go?to=Facade", headers={"Cookie": cookie})

    assert status == 303
    assert "It is white." in get(web, cookie, headers["location"])


def test_a_wiki_link_that_several_files_answer_to_leads_to_a_choice(web: Web, cookie: str) -> None:
    for name in ("east/map.md", "west/map.md"):
        (web.vault / "notes" / name).parent.mkdir(exist_ok=True)
        (web.vault / "notes" / name).write_text(f"# The map of {name[:4]}\n", encoding="utf-8")
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))

    status, _, choice = web.served.ask("/go?to=map", headers={"Cookie": cookie})
    assert status == 300
    assert "The map of east" in choice
    assert "The map of west" in choice


def test_a_session_that_an_index_being_built_lacks_is_offered_again(web: Web, cookie: str) -> None:
    mark = Path(config.load(str(web.vault), {**os.environ, **web.day.env}).state_dir, "indexing")
    mark.touch()
    try:
        status, _, body = web.served.ask("/session/no-such-session", headers={"Cookie": cookie})
        nothing, _, _ = web.served.ask("/no-such-page", headers={"Cookie": cookie})
    finally:
        mark.unlink()

    assert status == 503
    assert "being built in the background" in body
    assert '<a href="/session/no-such-session">Try again</a>' in body
    assert nothing == 404
    assert web.served.ask("/session/no-such-session", headers={"Cookie": cookie})[0] == 404


def test_a_project_that_has_notes_alone_is_listed_and_offered(web: Web, cookie: str) -> None:
    text = "---\nproject: Bare-Project\n---\n# Only written\n\nBy hand.\n"
    (web.vault / "notes" / "bare.md").write_text(text, encoding="utf-8")
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))

    listed = get(web, cookie, "/projects")
    assert '<a href="/project/Bare-Project">Bare-Project</a>' in listed
    assert "Only written" in listed
    assert "<option>Bare-Project</option>" in get(web, cookie, "/new")
    assert "0 sessions" not in get(web, cookie, "/project/Bare-Project")


def test_a_page_that_is_not_there_does_not_look_through_the_vault(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    indexed(settings)
    monkeypatch.setattr("mdmem.search.index.catchup.update", lambda *_, **__: pytest.fail("it looked"))

    with pytest.raises(NotFoundError):
        index.resolve(settings, "no-such-name", look=False)


def test_a_picture_beside_a_note_is_shown_by_path_and_by_name(web: Web, cookie: str) -> None:
    folder = web.vault / "notes" / "charts"
    folder.mkdir(exist_ok=True)
    (folder / "growth.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    path = a_note(web, "With a picture", "![growth](charts/growth.svg) and ![[growth.svg]]")

    shown = re.findall(r'<img src="([^"]+)"', get(web, cookie, f"/note/{path}"))

    assert len(shown) == 2
    for source in shown:
        status, headers, body = web.served.ask(source.replace("&amp;", "&"), headers={"Cookie": cookie})
        assert (status, headers["content-type"]) == (200, "image/svg+xml")
        assert "sandbox" in headers["content-security-policy"]
        assert "<svg" in body


@pytest.mark.parametrize(
    "name", ["maps/harbour.svg", "Harbour.SVG", "../notes/maps/harbour.svg", "notes/maps/harbour.svg"]
)
def test_an_embedded_picture_is_found_by_the_end_of_its_path(web: Web, cookie: str, name: str) -> None:
    (web.vault / "notes" / "maps").mkdir(exist_ok=True)
    (web.vault / "notes" / "maps" / "harbour.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (web.vault / "trips").mkdir(exist_ok=True)
    (web.vault / "trips" / "north.md").write_text(f"# North\n\n![[{name}]]\n")

    (source,) = re.findall(r'<img src="([^"]+)"', get(web, cookie, "/note/trips/north.md"))

    assert web.served.ask(source.replace("&amp;", "&"), headers={"Cookie": cookie})[0] == 200


@pytest.mark.parametrize(
    "path", ["mdmem.toml", "../secret.png", "..%2fsecret.png", ".git/x.png", "internal/x.png", "linked.png", "no.png"]
)
def test_nothing_but_attachments_of_the_vault_is_served(web: Web, cookie: str, path: str) -> None:
    for place in ("../secret.png", ".git/x.png", "internal/x.png"):
        file = web.vault / place
        file.parent.mkdir(exist_ok=True)
        file.write_text("nobody sees this")
    (web.vault / "linked.png").unlink(missing_ok=True)
    (web.vault / "linked.png").symlink_to(web.vault / "mdmem.toml")

    status, _, body = web.served.ask(f"/attachment/{path}", headers={"Cookie": cookie})

    assert status == 404
    assert "nobody sees this" not in body


def test_memories_of_ghosts_are_nobodys_to_see(web: Web, cookie: str) -> None:
    folder = web.vault / "internal" / "ghost"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "g.md").write_text("---\nid: ghostnote1\nkind: ghost\ntitle: whisper\n---\n\nwhisper\n", encoding="utf-8")

    for path in ("/note/ghostnote1", "/note/internal/ghost/g.md", "/edit/ghostnote1", "/body/ghostnote1"):
        assert web.served.ask(path, headers={"Cookie": cookie})[0] == 404
    assert "0 results" in get(web, cookie, "/search?q=whisper&part=1")


def test_what_is_not_there_is_a_page_that_says_so(web: Web, cookie: str) -> None:
    for path in ("/nothing", "/note/nothinghere", "/session/nothing", "/project/nothing", "/help/nothing", "/file"):
        status, headers, body = web.served.ask(path, headers={"Cookie": cookie})
        assert status in (400, 404), path
        assert ("Not found" if status == 404 else "That did not work") in body
        assert "content-security-policy" in headers


@pytest.mark.slow
def test_the_link_of_a_demo_shows_the_recorded_day() -> None:

    with serving(None, {}, "--demo") as served:
        status, _, body = served.ask("/timeline", headers={"Cookie": served.enter()})

    assert status == 200
    assert "Why does the date parser fail on 2026-02-29?" in body


# -- what forms may change -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action", ["pin", "tag", "add", "edit", "forget", "undo", "review", "reviewed", "check", "done", "commit"]
)
def test_a_form_without_the_token_changes_nothing(web: Web, cookie: str, action: str) -> None:
    before = {path: path.read_bytes() for path in web.vault.rglob("*.md")}
    name = next(path for path in (web.vault / "notes").glob("*ideas*")).name

    for sent in ("", "wrong", "A" * 43):
        status, _, _ = post(
            web, cookie, action, csrf=sent, note=f"notes/{name}", pinned="no", tags="x", text="x", decision="drop"
        )
        assert status == 403
    assert {path: path.read_bytes() for path in web.vault.rglob("*.md")} == before


def test_a_form_that_names_no_origin_or_another_kind_is_refused(web: Web, cookie: str) -> None:
    body = urlencode({"csrf": token(web, cookie), "note": "x"})
    form = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}

    assert web.served.ask("/do/pin", method="POST", body=body, headers=form)[0] == 403
    json_kind = {**form, "Content-Type": "application/json", "Origin": web.served.url}
    assert web.served.ask("/do/pin", method="POST", body="{}", headers=json_kind)[0] == 415
    plain = {**form, "Content-Type": "text/plain", "Origin": web.served.url}
    assert web.served.ask("/do/pin", method="POST", body=body, headers=plain)[0] == 415
    assert web.served.ask("/do/pin", headers={"Cookie": cookie})[0] in (404, 405)


def test_pin_and_tags_change_a_line_and_nothing_else(web: Web, cookie: str) -> None:
    path = a_note(web, "To be pinned")
    secret = token(web, cookie)
    before = (web.vault / path).read_text()

    assert post(web, cookie, "pin", csrf=secret, note=path, pinned="yes")[0] == 303
    assert post(web, cookie, "tag", csrf=secret, note=path, tags="one two")[0] == 303
    assert post(web, cookie, "tag", csrf=secret, note=path, tags="one", remove="1")[0] == 303
    parsed = note.parse((web.vault / path).read_bytes())
    assert (parsed.meta["pinned"], parsed.meta["tags"]) == (True, ["two"])

    post(web, cookie, "pin", csrf=secret, note=path, pinned="no")
    post(web, cookie, "tag", csrf=secret, note=path, tags="two", remove="1")
    assert (web.vault / path).read_text() == before


def test_the_button_beside_a_tag_removes_that_very_tag(web: Web, cookie: str) -> None:
    (web.vault / "notes").mkdir(exist_ok=True)
    file = web.vault / "notes" / "tagged.md"
    file.write_text('---\ntitle: Tagged\ntags: ["two words", "a, b", two, x]\n---\n')

    for name in ("two words", "a, b"):
        post(web, cookie, "tag", csrf=token(web, cookie), note="notes/tagged.md", tags=name, remove="1")

    assert note.parse(file.read_bytes()).meta["tags"] == ["two", "x"]


def test_a_text_that_is_too_long_comes_back_in_its_form(web: Web, cookie: str) -> None:
    path = a_note(web, "To become long")
    fields = form_of(get(web, cookie, f"/edit/{path}"))
    text = "ä" * (250 * 1024)  # 1.5 MB as browsers send it

    status, _, body = post(web, cookie, "edit", **fields, text=text)
    assert status == 400
    assert "Nothing was saved" in body
    assert text in body

    status, _, refused = post(web, cookie, "edit", **fields, text=text * 3)
    assert status == 413
    assert "nothing was saved" in refused
    assert "Some words." in (web.vault / path).read_text()


def test_a_new_note_passes_the_gate_and_is_shown(web: Web, cookie: str) -> None:
    fields = {"csrf": csrf(get(web, cookie, "/new?project=notes-app")), "project": "notes-app"}
    text = "Cut on Tuesdays.\r\n\n<private>x9x</private> password=hunter2hunter2"

    status, headers, _ = post(
        web, cookie, "add", **fields, title="Our releases", text=text, kind="decision", tags="process web"
    )

    assert status == 303
    page = get(web, cookie, headers["location"])
    assert "Saved. 1 private section and 1 secret kept out of the note." in page
    assert "Our releases" in page
    (file,) = (web.vault / "notes").rglob("*our-releases*.md")
    made = note.parse(file.read_bytes())
    assert [made.meta[key] for key in ("kind", "project", "tags")] == ["decision", "notes-app", ["process", "web"]]
    assert made.body.strip() == "Cut on Tuesdays.\n\n[PRIVATE] password=[REDACTED]"
    file.unlink()


@pytest.mark.parametrize(
    ("typed", "wanted"), [("foo, bar baz", ["foo", "bar-baz"]), ("foo bar", ["foo", "bar"]), ("#foo,", ["foo"])]
)
def test_tags_of_a_form_are_separated_by_commas_or_else_by_spaces(
    web: Web, cookie: str, typed: str, wanted: list[str]
) -> None:
    page = get(web, cookie, "/new")
    assert "Tags, with commas between (or spaces, if there is no comma)" in page
    fields = {"csrf": csrf(page), "title": "Tagged here", "kind": "note", "project": ""}
    assert post(web, cookie, "add", **fields, text="Words.", tags=typed)[0] == 303
    (file,) = (web.vault / "notes").rglob("*tagged-here*.md")
    path = file.relative_to(web.vault).as_posix()
    post(web, cookie, "tag", csrf=fields["csrf"], note=path, tags="last of all, x")
    made = note.parse(file.read_bytes()).meta["tags"]
    file.unlink()
    assert made == [*wanted, "last-of-all", "x"]


def test_a_new_note_that_cannot_be_saved_stays_in_its_form(web: Web, cookie: str) -> None:
    before = sorted((web.vault / "notes").rglob("*.md"))
    fields = {"csrf": token(web, cookie), "title": "", "kind": "lesson", "project": "notes-app", "tags": "one two"}

    status, _, body = post(web, cookie, "add", **fields, text="<private>all of it</private>")

    assert status == 400
    assert "Nothing was saved: There is nothing to store" in body
    assert escape("<private>all of it</private>") in body
    assert "<option selected>lesson</option>" in body
    assert "<option selected>notes-app</option>" in body
    assert 'value="one two"' in body
    assert sorted((web.vault / "notes").rglob("*.md")) == before


def test_a_note_with_two_versions_says_so_and_is_shown_as_it_stands(web: Web, cookie: str) -> None:
    path = a_note(web, "Merged by git", "Before.")
    file = web.vault / path
    file.write_text(file.read_text() + "\n<<<<<<< HEAD\nmine\n=======\n<b>theirs</b>\n>>>>>>> other\n")

    page = get(web, cookie, f"/note/{path}")
    file.unlink()

    assert "A merge left two versions in this note" in page
    assert escape("<<<<<<< HEAD\nmine\n=======\n<b>theirs</b>\n>>>>>>> other") in page


def form_of(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(csrf|once|note|digest)" value="([^"]*)"', page))


def test_an_edited_text_passes_the_gate_and_keeps_the_front_matter(web: Web, cookie: str) -> None:
    path = a_note(web, "To be edited")
    fields = form_of(get(web, cookie, f"/edit/{path}"))
    before = note.parse((web.vault / path).read_bytes()).meta

    text = "New words.\r\n\r\npassword=hunter2hunter2 <private>x9x</private>"
    status, _, _ = post(web, cookie, "edit", **fields, text=text)

    after = note.parse((web.vault / path).read_bytes())
    assert status == 303
    assert after.meta == before
    assert after.body.startswith("New words.\n\npassword=[REDACTED]")
    assert "x9x" not in after.body
    assert "Saved. 1 private section and 1 secret kept out of the note." in get(web, cookie, "/health")
    again = form_of(get(web, cookie, f"/edit/{path}"))
    post(web, cookie, "edit", **again, text=f"{after.body}\nMore words.")
    assert "kept out of the note" not in get(web, cookie, "/health")


def test_what_is_marked_as_private_in_an_edit_is_said_to_be_in_history_where_it_is(web: Web, cookie: str) -> None:
    path = a_note(web, "To be marked", "The badger moves at dawn.")
    fields = form_of(get(web, cookie, f"/edit/{path}"))
    text = "The <private>badger moves</private> at dawn."

    post(web, cookie, "edit", **fields, text=text)
    not_yet = get(web, cookie, "/health")
    (web.vault / path).write_text((web.vault / path).read_text().replace("[PRIVATE]", "badger moves"))
    web.day.run("commit")
    post(web, cookie, "edit", **form_of(get(web, cookie, f"/edit/{path}")), text=text)
    said = get(web, cookie, "/health")

    assert "Saved." in not_yet
    assert "mdmem purge" not in not_yet
    assert "The private text is already in history" in said
    assert "badger moves" not in (web.vault / path).read_text()


def test_a_title_is_edited_and_passes_the_gate(web: Web, cookie: str) -> None:
    path = a_note(web, "A first title")
    before = note.parse((web.vault / path).read_bytes()).meta
    form = form_of(get(web, cookie, f"/edit/{path}"))

    status, headers, _ = post(web, cookie, "edit", **form, text="Words.", title=" For <private>Carla</private>\nOnly ")

    after = note.parse((web.vault / path).read_bytes())
    assert status == 303
    assert after.meta == {**before, "title": "For [PRIVATE] Only"}
    assert after.body.strip() == "Words."
    assert "Carla" not in (web.vault / path).read_text() + get(web, cookie, headers["location"])


def test_a_title_that_was_left_as_it_is_writes_no_front_matter(web: Web, cookie: str) -> None:
    file = web.vault / "notes" / "headed.md"
    file.write_text("# A heading as title\n\nWords.\n", encoding="utf-8")
    indexed(config.load(str(web.vault), {**os.environ, **web.day.env}))
    page = get(web, cookie, "/edit/notes/headed.md")
    assert 'name="title" value="A heading as title"' in page
    assert get(web, cookie, "/note/notes/headed.md").count("A heading as title</h") == 1

    for title in ("A heading as title", ""):
        fields = form_of(get(web, cookie, "/edit/notes/headed.md"))
        post(web, cookie, "edit", **fields, text="# A heading as title\n\nOther.", title=title)

    assert file.read_text(encoding="utf-8") == "# A heading as title\n\nOther.\n"
    post(web, cookie, "edit", **form_of(get(web, cookie, "/edit/notes/headed.md")), text="Words.", title="Named")
    assert file.read_text(encoding="utf-8") == "---\ntitle: Named\n---\n\nWords.\n"
    file.unlink()


def test_a_text_from_before_a_restart_is_in_its_form_again_and_can_be_saved(web: Web, cookie: str) -> None:
    path = a_note(web, "Edited during a restart")
    fields = {**form_of(get(web, cookie, f"/edit/{path}")), "title": "A new title", "text": "Long thoughts."}

    for action in ("edit", "add"):
        status, _, page = post(web, cookie, action, **{**fields, "csrf": "from an earlier server"})
        assert status == 403
        assert "Nothing was saved" in page
        assert "Long thoughts." in page
        assert 'value="A new title"' in page
        assert csrf(page) == fields["csrf"]
    assert "Some words." in (web.vault / path).read_text()


def test_a_note_with_broken_front_matter_is_left_to_an_editor(web: Web, cookie: str) -> None:
    file = web.vault / "notes" / "broken.md"
    file.write_text("---\ntitle: [broken\n---\n\nWords.\n", encoding="utf-8")

    for page in (get(web, cookie, "/note/notes/broken.md"), get(web, cookie, "/edit/notes/broken.md")):
        assert "The front matter of this note is broken" in page
        assert "mdmem edit notes/broken.md" in page
        assert "vscode://file" in page
        assert "<textarea" not in page
    file.unlink()


def test_the_history_of_a_note_begins_with_what_is_not_committed_yet(web: Web, cookie: str) -> None:
    path = a_note(web, "Seen in git")
    before = get(web, cookie, f"/versions/{path}?part=1")
    web.day.run("commit")
    committed = get(web, cookie, f"/versions/{path}?part=1")
    post(web, cookie, "edit", **form_of(get(web, cookie, f"/edit/{path}")), text="Other words.")
    changed = get(web, cookie, f"/versions/{path}?part=1")

    assert before.count("<li>") == 0
    assert (committed.count("<li>"), "Not committed yet" in committed) == (1, False)
    assert (changed.count("<li>"), "Not committed yet" in changed) == (2, True)
    assert changed.index("+Other words.") < changed.index("+Some words.")


def test_a_note_that_an_agent_wrote_is_told_from_a_persons(web: Web, cookie: str) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    names = [
        user_notes.add(settings, f"A note by {agent or 'me'}", "Words.", agent=agent, now=time.time()).id
        for agent in ("claude-code", "")
    ]
    indexed(settings)

    lines = re.findall(r'<li class="line">.*?</li>', get(web, cookie, "/"), re.DOTALL)
    shown = [next(line for line in lines if f"/note/{name}" in line) for name in names]
    assert ['<span class="soft">claude-code</span>' in line for line in shown] == [True, False]


def test_what_the_next_commit_takes_and_leaves_is_shown_and_committed(web: Web, cookie: str) -> None:
    web.day.run("commit")
    path = a_note(web, "Before the commit")
    held_back, staying = web.vault / "notes" / "held.md", web.vault / "notes" / "staying.md"
    held_back.write_text("The <private>grey heron</private> sleeps.\n", encoding="utf-8")
    staying.write_text("---\nsync: false\n---\n\nHere only.\n", encoding="utf-8")

    page = get(web, cookie, "/uncommitted")
    assert "Commit 1 file</button>" in page
    assert "+Some words." in page
    assert "notes/held.md:1 holds private text" in page
    assert "grey heron" not in page
    assert page.index("Stays on this machine") < page.index("notes/staying.md")

    assert post(web, cookie, "commit", csrf=token(web, cookie))[0] == 303
    after = get(web, cookie, "/uncommitted")
    assert re.search(r"Made \d commits?\.", after), after[:3000]
    assert "Everything is committed, except what is listed here." in after
    assert "Not committed yet" not in get(web, cookie, f"/versions/{path}?part=1")
    held_back.unlink()
    staying.unlink()


def test_pages_show_the_newest_notes_while_another_process_writes_the_index(web: Web, cookie: str) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    get(web, cookie, "/")
    with writer.locked(settings.index_dir, 60):
        made = user_notes.add(settings, "While the index is written", "Some words.", now=MORNING)
        until(lambda: web.served.ask(f"/note/{made.id}", headers={"Cookie": cookie})[0] == 200)
        for page in PAGES:
            get(web, cookie, page)
    until(lambda: "While the index is written" in get(web, cookie, "/search?q=while+the+index+is+written"))


def test_pages_are_shown_while_a_commit_waits_for_git(web: Web, cookie: str) -> None:
    a_note(web, "While git works")
    sent = token(web, cookie)
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    with ThreadPoolExecutor() as pool:
        with lock.held(settings.state_dir, web.vault / ".git"):
            committing = pool.submit(post, web, cookie, "commit", csrf=sent)
            for _ in range(5):
                get(web, cookie, "/timeline")
            assert not committing.done()
        assert committing.result()[0] == 303


def test_the_history_of_a_note_shows_no_other_note_with_the_same_file_name(web: Web, cookie: str) -> None:
    for folder in ("north", "south"):
        file = web.vault / "notes" / folder / "plan.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"The plan of the {folder}.\n", encoding="utf-8")
    web.day.run("commit")

    page = get(web, cookie, "/versions/notes/north/plan.md?part=1")

    assert "+The plan of the north." in page
    assert "south" not in page


@pytest.mark.parametrize(
    ("text", "why"),
    [("<private>all of it</private>", "There is nothing to store"), ("data " * 60_000, "A note holds at most 256 KiB")],
)
def test_a_text_that_cannot_be_saved_is_in_its_form_again(web: Web, cookie: str, text: str, why: str) -> None:
    path = a_note(web, "Not to be saved")
    before = (web.vault / path).read_bytes()
    fields = form_of(get(web, cookie, f"/edit/{path}"))

    status, _, body = post(web, cookie, "edit", **fields, text=text)

    assert status == 400
    assert f"Nothing was saved: {why}" in body
    assert escape(text) in body
    assert form_of(body) == fields
    assert (web.vault / path).read_bytes() == before


def test_a_text_is_not_lost_when_its_note_is_deleted_meanwhile(web: Web, cookie: str) -> None:
    path = a_note(web, "Deleted under the form")
    fields = form_of(get(web, cookie, f"/edit/{path}"))
    (web.vault / path).unlink()

    status, _, body = post(web, cookie, "edit", **fields, text="Half an hour of writing.")

    assert status == 400
    assert "Nothing was saved: No note has the id or path" in body
    assert "Half an hour of writing." in body


def test_a_long_note_of_a_person_is_edited_and_a_longer_one_is_left_to_an_editor(web: Web, cookie: str) -> None:
    path = a_note(web, "A long note")
    file = web.vault / path
    file.write_text(file.read_text() + "data " * 40_000)
    fields = form_of(get(web, cookie, f"/edit/{path}"))
    assert post(web, cookie, "edit", **fields, text="data " * 40_001)[0] == 303
    assert note.parse(file.read_bytes()).body.count("data") == 40_001

    file.write_text(file.read_text() + "data " * 40_000)
    page = get(web, cookie, f"/edit/{path}")
    assert "too long for a form (400 kB)" in page
    assert "<textarea" not in page
    assert "vscode://file" in page


def test_a_form_that_is_sent_twice_is_saved_once(web: Web, cookie: str) -> None:
    new = {**form_of(get(web, cookie, "/new")), "title": "Sent twice", "kind": "note", "project": "", "tags": ""}
    _, first, _ = post(web, cookie, "add", **new, text="password=hunter2hunter2")
    next_second()  # the same words in the same second are one note anyway
    _, second, _ = post(web, cookie, "add", **new, text="password=hunter2hunter2")
    (path,) = (web.vault / "notes").rglob("*sent-twice*.md")
    assert first["location"] == second["location"]

    edit = form_of(get(web, cookie, f"/edit/{path.relative_to(web.vault)}"))
    answers = [post(web, cookie, "edit", **edit, text="Better. password=hunter2hunter2") for _ in "12"]
    assert [status for status, _, _ in answers] == [303, 303]
    assert "Better. password=[REDACTED]" in path.read_text()

    status, _, _ = post(web, cookie, "edit", **edit, text="Even better.")
    assert status == 409  # another text with the old form

    path.unlink()
    post(web, cookie, "add", **new, text="password=hunter2hunter2")
    (path,) = (web.vault / "notes").rglob("*sent-twice*.md")
    path.unlink()


def next_second() -> None:
    now = int(time.time())
    until(lambda: int(time.time()) > now, "the next second")


def test_two_forms_with_the_same_text_are_two_notes(web: Web, cookie: str) -> None:
    forms = [form_of(get(web, cookie, "/new")) for _ in "12"]
    answers = []
    for form in forms:
        answers.append(post(web, cookie, "add", **form, title="Stood up", kind="note", text="Nothing new."))
        next_second()
    assert len({headers["location"] for _, headers, _ in answers}) == 2

    get(web, cookie, "/help")  # shows the messages
    _, again, _ = post(web, cookie, "add", **forms[0], title="Stood up", kind="note", text="Nothing new.")
    assert again["location"] == answers[0][1]["location"], "the other tab's form was saved since"
    assert "This was saved before; nothing was changed." in get(web, cookie, again["location"])
    for path in (web.vault / "notes").rglob("*stood-up*.md"):
        path.unlink()


def test_a_saved_edit_that_is_sent_again_after_another_change_is_refused(web: Web, cookie: str) -> None:
    path = a_note(web, "Saved, then changed")
    fields = form_of(get(web, cookie, f"/edit/{path}"))
    assert post(web, cookie, "edit", **fields, text="By me.")[0] == 303
    (web.vault / path).write_text((web.vault / path).read_text().replace("By me.", "By an agent."))

    status, _, page = post(web, cookie, "edit", **fields, text="By me.")

    assert status == 409 and "By an agent." in page
    assert "By an agent." in (web.vault / path).read_text()


def test_an_edit_of_a_text_that_changed_meanwhile_is_refused(web: Web, cookie: str) -> None:
    path = a_note(web, "Two editors")
    fields = form_of(get(web, cookie, f"/edit/{path}"))
    theirs = (web.vault / path).read_text().replace("Some words.", "Their words.")
    (web.vault / path).write_text(theirs)

    status, _, body = post(web, cookie, "edit", **fields, text="My words.")

    assert status == 409
    assert "Nothing was saved" in body
    assert "My words." in body
    assert "Their words." in body
    assert (web.vault / path).read_text() == theirs


@pytest.mark.slow
def test_what_is_forgotten_can_be_brought_back(web: Web, cookie: str) -> None:
    path = a_note(web, "To be forgotten", "These words come back.")
    web.day.run("commit")
    before = (web.vault / path).read_bytes()

    status, headers, _ = post(web, cookie, "forget", csrf=token(web, cookie), note=path)
    assert status == 303
    assert not (web.vault / path).exists()
    page = get(web, cookie, headers["location"])
    (commit,) = re.findall(r'name="commit" value="([0-9a-f]{40})"', page)

    (back,) = re.findall(r'name="back" value="([^"]+)"', page)
    status, _, body = web.served.ask(f"/note/{path}", headers={"Cookie": cookie})
    assert status == 404
    assert f"mdmem undo {commit[:8]}" in body

    assert post(web, cookie, "undo", csrf=token(web, cookie), commit=FIRST)[0] == 400
    status, headers, _ = post(web, cookie, "undo", csrf=token(web, cookie), commit=commit, back=back)
    assert (status, headers["location"]) == (303, f"/note/{path}")
    assert (web.vault / path).read_bytes() == before


@pytest.mark.slow
def test_a_vault_without_history_forgets_nothing(tmp_path: Path) -> None:

    day = cli_day.make(tmp_path)
    with serving(day.vault, day.env) as served:
        web = Web(day, served)
        cookie = served.enter()
        path = next(day.vault.rglob("*-response-*.md"))
        relative = path.relative_to(day.vault).as_posix()
        status, _, body = post(web, cookie, "forget", csrf=token(web, cookie), note=relative)

    assert status == 503
    assert "mdmem init" in body
    assert path.exists()


@pytest.mark.parametrize("action", [{"action": "forget"}, {"action": "review", "decision": "drop"}])
def test_a_note_that_history_cannot_hold_is_not_deleted(web: Web, cookie: str, action: dict[str, str]) -> None:
    path = web.vault / a_note(web, f"Not in history, {action['action']}", "Words.")
    path.write_text(path.read_text() + "\n<private>the vault of box seven</private>\n")
    form = {"csrf": token(web, cookie), "note": path.relative_to(web.vault).as_posix(), **action}

    status, _, body = post(web, cookie, form.pop("action"), **form)

    assert (status, path.exists()) == (400, True)
    assert "could not be restored" in body
    path.unlink()


def test_a_note_that_was_kept_is_counted_no_more(web: Web, cookie: str) -> None:
    path = a_note(web, "Keep and count")

    def counts() -> tuple[int, int]:
        page = get(web, cookie, "/review")
        (seen,) = re.findall(r"Mark all ([\d,]+) as seen", page)
        (notes,) = re.findall(r">note ([\d,]+)<", page)
        return int(seen), int(notes)

    before = counts()
    post(web, cookie, "review", csrf=token(web, cookie), note=path, decision="keep")

    assert counts() == (before[0] - 1, before[1] - 1)
    (web.vault / path).unlink()


@pytest.mark.slow
def test_the_queue_is_decided_note_by_note(web: Web, cookie: str) -> None:
    one, two = a_note(web, "Keep this one"), a_note(web, "Drop this one")
    web.day.run("commit")
    secret = token(web, cookie)

    assert post(web, cookie, "review", csrf=secret, note=one, decision="keep")[0] == 303
    assert post(web, cookie, "review", csrf=secret, note=two, decision="drop")[0] == 303
    assert post(web, cookie, "review", csrf=secret, note=one, decision="burn")[0] == 400

    assert "reviewed" in note.parse((web.vault / one).read_bytes()).meta
    assert not (web.vault / two).exists()
    waiting = [item["title"] for item in web.day.json("review")]
    assert "Keep this one" not in waiting
    assert "Drop this one" not in waiting


@pytest.mark.slow
def test_a_note_that_is_not_committed_yet_waits_and_is_decided(web: Web, cookie: str) -> None:
    path = a_note(web, "Came a moment ago", now=OLDEST)
    queue = f"/review?kind=note&{urlencode({'x': path})}"
    title = re.compile(r'id="title-\d+"><a href="/note/[^"]+">Came a moment ago</a>')
    until(lambda: "Came a moment ago" in get(web, cookie, "/search?q=moment+ago"), "the pages have seen the file")
    assert title.search(get(web, cookie, queue))

    assert post(web, cookie, "review", csrf=token(web, cookie), note=path, decision="keep")[0] == 303

    assert "reviewed" in note.parse((web.vault / path).read_bytes()).meta
    assert not title.search(get(web, cookie, queue))


def test_open_work_is_listed_by_project_and_closed(web: Web, cookie: str) -> None:
    file = web.vault / "notes" / "shed.md"
    file.write_text("---\nkind: task\nproject: garden\ntitle: Paint the shed\n---\n\nIn green.\n", encoding="utf-8")
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    indexed(settings)

    page = get(web, cookie, "/open")
    assert "Paint the shed" in page
    assert "Paint the shed" not in get(web, cookie, "/open?project=notes-app")
    (key,) = re.findall(r'name="key" value="([^"]+)"', get(web, cookie, "/open?project=garden"))
    assert post(web, cookie, "done", csrf=csrf(page), key=key, back="/open?project=garden")[0] == 303

    assert note.parse(file.read_bytes()).meta["done"] is True
    assert "In green." in file.read_text()
    after = get(web, cookie, "/open?project=garden")
    assert "Closed “Paint the shed”." in after
    assert "Nothing is open in garden" in after


@pytest.mark.slow
def test_checks_are_run_and_shown(web: Web, cookie: str) -> None:
    assert post(web, cookie, "check", csrf=token(web, cookie))[0] == 303

    body = get(web, cookie, "/health")
    assert "CPU of a hook" in body
    assert "python" in body
    wrong = body.count('class="c-warning"') + body.count('class="c-error"')
    assert (f">{wrong} problem" if wrong else "Nothing is wrong.") in body
    assert "<code>mdmem install claude-code</code> registers the hooks." in body
    assert "`" not in body


def test_a_preview_says_why_nothing_was_searched_for(web: Web, cookie: str) -> None:
    assert "nothing, because it names nothing" in get(web, cookie, "/preview?prompt=what+can+you+do%3F")
    assert "nothing, because it asks for the latest work" in get(web, cookie, "/preview?prompt=where+were+we%3F")


def test_a_preview_lists_what_fits_first_and_the_rest_by_score(web: Web, cookie: str) -> None:
    for number in range(3):
        a_note(web, f"Preview of the walrus {number}", "Walrus ledger, and " + "other words " * 30 * number)
    row = re.compile(r'data-label="Score">([\d.]+)</td>.*?data-label="Shown">(.*?)</td>')
    address = "/preview?prompt=do+you+remember+the+walrus+ledger+of+uploads"
    until(lambda: len(row.findall(get(web, cookie, address))) >= 3, "the pages have seen the files")
    body = get(web, cookie, address)
    rows = row.findall(body)
    shown = [">yes<" in text for _, text in rows]
    rest = [float(score) for (score, _), is_shown in zip(rows, shown, strict=True) if not is_shown]
    assert shown == sorted(shown, reverse=True)
    assert rest == sorted(rest, reverse=True)
    assert "First what fits" in body


def test_a_hook_that_takes_too_long_is_said_not_to_be_measured(
    web: Web, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "MOST_SECONDS", 0.0001)
    assert health.hook_cost() is None


# -- live ------------------------------------------------------------------------------------------


def test_an_open_page_is_told_of_a_note_at_once(web: Web, cookie: str) -> None:
    link = http.client.HTTPConnection("127.0.0.1", web.served.port, timeout=240)
    link.request("GET", "/live?after=999999", headers={"Cookie": cookie, "Accept": "text/event-stream"})
    answer = link.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")
    payload = {
        "hook_event_name": "UserPromptSubmit", "session_id": "live-1", "cwd": str(web.vault.parent),
        "prompt": "A prompt that is told of",
    }  # fmt: skip
    latest = max(time.time(), LATER)
    env = {**os.environ, **web.day.env, "MDMEM_NOW": str(int(latest))}
    command = [sys.executable, "-m", "mdmem", "hook", "claude-code"]
    subprocess.run(command, input=json.dumps(payload).encode(), env=env, check=True)

    told = b""
    while b"A prompt that is told of" not in told:
        told = answer.readline()
        assert told, "the stream ended"
    link.close()
    assert "A prompt that is told of" in get(web, cookie, "/")


def test_a_new_note_is_told_of_where_another_one_goes_at_the_same_moment(vault: Path) -> None:
    settings = config.load(str(vault))
    gone = vault / user_notes.add(settings, "Gone", "Some words.", now=MORNING).path
    seen = live.Live(settings)
    index.update(settings)
    seen.view()
    gone.unlink()
    user_notes.add(settings, "New", "Other words.", now=MORNING + 60)
    index.update(settings)
    seen.view()
    assert seen.last.title == "New"
    user_notes.add(settings, "A second one in that second", "More words.", now=MORNING + 60)
    index.update(settings)
    seen.view()
    assert seen.last.title == "A second one in that second"


def test_a_note_is_told_of_though_another_one_is_dated_ahead(vault: Path) -> None:
    settings = config.load(str(vault))
    user_notes.add(settings, "From a clock that was wrong", "Some words.", now=time.time() + 999_999)
    user_notes.add(settings, "Old", "Some words.", now=time.time() - 999_999)
    seen = live.Live(settings)
    index.update(settings)
    seen.view()
    user_notes.add(settings, "New", "Other words.", now=time.time() - 60)
    index.update(settings)
    seen.view()
    assert seen.last.title == "New"


@pytest.mark.parametrize(
    ("work", "error"),
    [
        ("index.update_in_process", OSError("no space left")),
        ("index.update_in_process", ValueError("a fault of mdmem")),
        ("freshness.answered", BusyError("Another process is at work.")),
        ("freshness.answered", ValueError("a fault of mdmem")),
        ("live._newest", ValueError("a fault of mdmem")),
        ("events.settled", RuntimeError("can't start new thread")),
    ],
)
def test_a_note_is_told_of_though_the_index_could_not_be_used_at_first(
    vault: Path, work: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config.load(str(vault))
    index.update(settings)
    failed = threading.Event()
    room, _, name = work.partition(".")
    place = live if room == "live" else getattr(live, room)
    original = getattr(place, name)

    def once(*words: Any, **given: Any) -> Any:
        if not failed.is_set():
            failed.set()
            raise error
        return original(*words, **given)

    seen = live.Live(settings)
    seen.view()
    monkeypatch.setattr(place, name, once)
    seen.start()
    try:
        until(lambda: user_notes.add(settings, "Before", "Some words.", now=MORNING) and failed.is_set())
        user_notes.add(settings, "New", "Other words.", now=MORNING + 60)
        until(lambda: seen.last.title == "New")
    finally:
        seen.stop()


def test_a_page_that_connects_is_told_of_notes_that_the_system_did_not_report(vault: Path) -> None:
    settings = config.load(str(vault))
    index.update(settings)
    seen = live.Live(settings)
    seen.view()
    user_notes.add(settings, "Came while the machine slept", "Some words.", now=MORNING)

    seen.catch_up()

    assert seen.last.title == "Came while the machine slept"


def test_what_a_page_could_not_index_is_indexed_later(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = config.load(str(vault))
    index.update(settings)
    seen = live.Live(settings)
    made = user_notes.add(settings, "New", "Some words.", now=MORNING)
    seen._dirty.take()
    seen._dirty.on_any_event(FileModifiedEvent(str(vault / made.path)))
    with monkeypatch.context() as broken:
        broken.setattr(index, "update_in_process", _full)
        seen.view()

    assert seen._dirty.take() is None


def _full(*_: Any, **__: Any) -> None:
    raise OSError("no space left")


def test_a_page_that_missed_something_is_told_when_it_comes_back(web: Web, cookie: str) -> None:
    import http.client

    a_note(web, "Missed")
    link = http.client.HTTPConnection("127.0.0.1", web.served.port, timeout=240)
    link.request("GET", "/live?after=0", headers={"Cookie": cookie})
    answer = link.getresponse()
    lines = [answer.readline() for _ in range(4)]
    link.close()

    assert any(line.startswith(b"data: ") for line in lines)


@pytest.mark.slow
def test_pages_whose_files_an_upgrade_has_moved_say_to_restart(home: Path, vault: Path, tmp_path: Path) -> None:
    package = tmp_path / "lib" / "mdmem"
    shutil.copytree(Path(upgrade.__file__).parent, package)
    program = (sys.executable, "-P", "-m", "mdmem")
    with serving(vault, {"PYTHONPATH": str(package.parent)}, program=program) as served:
        cookie = served.enter()
        shutil.rmtree(package)
        status, _, text = served.ask("/", headers={"Cookie": cookie})

    assert (status, text) == (500, upgrade.NOTICE)


@pytest.mark.slow
def test_the_command_says_when_its_extra_is_missing(home: Path, vault: Path) -> None:
    code = (
        "import sys; sys.modules['starlette'] = None\n"
        "from mdmem.cli import main; sys.argv = ['mdmem', 'web', '--no-open']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)

    assert done.returncode == 3
    assert "[web]'" in done.stderr


def test_a_proposal_is_accepted_on_the_review_page(web: Web, cookie: str) -> None:
    settings = config.load(str(web.vault), {**os.environ, **web.day.env})
    made = decisions.add(settings, "Zones are named", "By city.", kind="decision", proposed=True, now=MORNING)

    (one,) = (p for p in proposals.waiting(indexed(settings), now=MORNING) if p.path == made.path)
    until(lambda: "Zones are named" in get(web, cookie, "/review"))
    body = get(web, cookie, "/review")
    assert "decision proposed by an agent" in body
    assert "<p>Keep this note?</p>" in body
    assert '<h3 dir="auto" id="title-1">' in body, "notes come below the heading Notes"
    post(web, cookie, "proposal", csrf=token(web, cookie), key=one.key, decision="nonsense")
    assert "status: proposed" in (web.vault / made.path).read_text()
    post(web, cookie, "proposal", csrf=token(web, cookie), key=one.key, decision="accept")
    assert "status:" not in (web.vault / made.path).read_text()
