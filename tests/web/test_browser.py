"""The pages in a browser: no violation of WCAG, any width, dark, the keyboard alone, live, and hostile notes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mdmem.views import help_pages
from mdmem.web import serve
from tests.helpers import cli_day
from tests.helpers.cli_day import FIRST
from tests.helpers.hostile import SAMPLES
from tests.helpers.pages import CHROMIUM, chromium, serving, violations
from tests.helpers.waiting import until
from tests.web.conftest import OLDEST, PAGES, Web, a_note

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Locator, Page, Route

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium: apt-get install chromium"),
]
WIDTHS = (60, 120, 240, 360, 600, 900, 1280, 1920)


@pytest.fixture(scope="module")
def state(web: Web, browser: Browser) -> Any:
    """Enter once; every test has a context of its own with that cookie."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(serve.link(web.day.config()))
    found = context.storage_state()
    context.close()
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: Browser, state: Any) -> Iterator[Page]:
    context = browser.new_context(storage_state=state, viewport={"width": 1280, "height": 800})
    made = context.new_page()
    made.set_default_timeout(120_000)  # a busy machine is no failure
    yield made
    context.close()


def every_page(web: Web) -> list[str]:
    answer = web.day.id("The parser took 29 February")
    run = web.day.id("Edit src/dates.py")
    return [
        *PAGES,
        f"/note/{answer}",
        f"/note/{run}",
        f"/edit/{answer}",
        f"/versions/{answer}",
        "/nothing",
        *(f"/help/{topic}" for topic in help_pages.topics()),
    ]


# -- for everybody ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_violates_wcag(web: Web, browser: Browser, state: Any, scheme: Any) -> None:
    context = browser.new_context(storage_state=state, color_scheme=scheme)
    page = context.new_page()
    found = {}
    for path in every_page(web):
        page.goto(web.served.url + path)
        for fold in page.locator("details").all():
            fold.evaluate("fold => { fold.open = true }")
        page.wait_for_load_state("networkidle")
        if wrong := violations(page):
            found[path] = wrong
    context.close()
    assert not found, json.dumps(found, indent=1)


def test_no_page_is_wider_than_the_window(web: Web, page: Page) -> None:
    wide = []
    for path in every_page(web):
        page.goto(web.served.url + path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            room = page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
            if room[0] > room[1]:
                wide.append(f"{path} at {width}: {room[0]} px")
    assert not wide, "\n".join(wide)


def test_a_number_beside_a_long_name_stays_on_one_line(web: Web, page: Page) -> None:
    for path, width in (("/search?q=parser", 1280), ("/search?q=parser", 360), ("/project/notes-app", 1280)):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(web.served.url + path)
        lines = page.evaluate(
            """() => [...document.querySelectorAll(".facets a, .ranked li")].map((row) => {
              const [name, count] = row.children;
              name.textContent = "a-name-of-many-words-".repeat(5);
              count.textContent = "1,234";
              const digits = document.createRange();
              digits.selectNodeContents(count);
              return digits.getClientRects().length;
            })"""
        )
        assert lines, path
        assert set(lines) == {1}, path


def test_the_mark_of_a_footnote_leads_to_its_text_and_back(web: Web, page: Page) -> None:
    path = a_note(web, "With a footnote", "Said[^1].\n\n" + "A line.\n\n" * 60 + "[^1]: The source")
    page.goto(f"{web.served.url}/note/{path}")

    page.get_by_role("link", name="Footnote 1", exact=True).click()
    text = page.locator(".footnotes li")
    assert page.evaluate("document.querySelector(':target').textContent.includes('The source')")
    page.wait_for_function("document.querySelector('.footnotes li').getBoundingClientRect().top < innerHeight")
    text.get_by_role("link", name="Back to the mark of footnote 1").click()
    assert page.evaluate("document.querySelector(':target').textContent") == "1"
    page.wait_for_function("document.querySelector('sup a').getBoundingClientRect().top >= 0")
    assert violations(page) == []


def test_dark_is_dark_and_a_choice_is_kept(web: Web, page: Page) -> None:
    def brightness() -> int:
        color = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return sum(int(part) for part in color[4:-1].split(", ")[:3])

    page.emulate_media(color_scheme="dark")
    page.goto(web.served.url)
    assert brightness() < 150

    page.get_by_label("Colors").select_option("Light")
    assert brightness() > 600
    page.reload()
    assert brightness() > 600
    assert page.get_by_label("Colors").input_value() == "light"

    page.get_by_label("Colors").select_option("System")
    assert brightness() < 150
    page.reload()
    assert brightness() < 150
    page.emulate_media(color_scheme="light")
    assert brightness() > 600


def test_pages_are_read_without_scripts(web: Web, browser: Browser, state: Any) -> None:
    context = browser.new_context(storage_state=state, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{web.served.url}/session/{FIRST}")
    assert page.get_by_text("The parser took 29 February for granted.").is_visible()
    page.goto(f"{web.served.url}/search")
    page.get_by_label("Words to search for").fill("parser")
    page.get_by_role("button", name="Search").click()
    assert page.locator("a.hit").count() > 0
    context.close()


# -- live ------------------------------------------------------------------------------------------


def prompt(web: Web, text: str, session: str) -> None:
    """Run a hook as an agent does."""
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": str(web.vault.parent / "api")}
    subprocess.run(
        [sys.executable, "-m", "mdmem", "hook", "claude-code"],
        input=json.dumps({**payload, "prompt": text}).encode(),
        env={**os.environ, **web.day.env},
        check=True,
    )


def test_a_note_appears_on_an_open_page_while_it_is_read(web: Web, page: Page) -> None:
    page.goto(web.served.url)
    prompt(web, "First words of a new session", "live-browser")
    page.get_by_role("heading", name="First words of a new session").wait_for()
    page.evaluate("window.stayed = true")

    prompt(web, "Then a second prompt", "live-browser")
    page.locator("#live").get_by_role("link", name="Then a second prompt").wait_for()

    assert page.evaluate("window.stayed"), "the page was loaded again"
    assert "Then a second prompt" in str(page.locator("#heard").text_content())


def test_an_event_that_waits_turns_an_open_page_red(web: Web, page: Page, tmp_path: Path) -> None:
    page.goto(web.served.url)
    assert page.locator(".alarm").count() == 0

    cli_day.strand_a_note(web.day, tmp_path)
    page.get_by_text("could not be stored and will be retried").wait_for()

    prompt(web, "The next hook stores what waits", "after-stranding")
    page.get_by_text("could not be stored").wait_for(state="detached")


def test_an_open_session_page_updates_by_itself(web: Web, page: Page) -> None:
    prompt(web, "A session that is watched", "watched-1")
    page.goto(f"{web.served.url}/session/watched-1")
    prompt(web, "And what came next in it", "watched-1")

    page.locator(".turn .text").get_by_text("And what came next in it").wait_for()


def test_a_page_of_what_does_not_exist_yet_turns_into_it(web: Web, page: Page) -> None:
    page.goto(f"{web.served.url}/session/begins-later")
    page.get_by_text("There is no session").wait_for()

    prompt(web, "The first words of that session", "begins-later")

    page.locator(".turn .text").get_by_text("The first words of that session").wait_for()


@pytest.mark.parametrize("failure", ["no answer", "not ready"])
def test_an_update_that_failed_is_made_though_nothing_else_happens(web: Web, page: Page, failure: str) -> None:
    session = failure.replace(" ", "-")
    asked: list[str] = []

    def fail_once(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.continue_()
        elif failure == "no answer":
            route.abort()
        else:
            route.fulfill(status=503, body="<p data-key=problem>Another process is building the index.</p>")

    prompt(web, "A session with a short failure", session)
    page.goto(f"{web.served.url}/session/{session}")
    page.route("**/session/*?part=1", fail_once)
    prompt(web, f"While it failed: {failure}", session)

    page.locator(".turn .text").get_by_text(f"While it failed: {failure}").wait_for()
    assert len(asked) > 1
    assert not page.locator("#lost").is_visible()


def test_a_page_that_was_not_ready_opens_when_it_is(web: Web, page: Page) -> None:
    prompt(web, "A session behind a short failure", "ready-later")
    failing = [True]

    def fail(route: Route) -> None:
        """Answer as the server does for an error, with a status that says that it passes."""
        if not failing:
            return route.continue_()
        wrong = route.fetch(url=f"{web.served.url}/session/nothing")
        body = wrong.text().replace('data-live="404"', 'data-live="503"')
        return route.fulfill(response=wrong, status=503, body=body)

    page.route("**/session/ready-later*", fail)
    page.goto(f"{web.served.url}/session/ready-later")
    page.get_by_text("There is no session").wait_for()
    failing.clear()

    page.locator(".turn .text").get_by_text("A session behind a short failure").wait_for()


def test_what_is_open_stays_open_while_a_session_goes_on(web: Web, page: Page) -> None:
    prompt(web, "A turn with runs", "folds-1")
    for number in range(5):
        run(web, f"echo {number}", "folds-1")
    page.goto(f"{web.served.url}/session/folds-1")
    page.get_by_text("5 tool runs").click()
    page.locator("details.run", has_text="echo 3").locator("summary").click()
    page.locator("details.run", has_text="echo 3").locator("pre").first.wait_for()

    run(web, "echo last", "folds-1")
    page.get_by_text("6 tool runs").wait_for()

    assert page.locator("details.run", has_text="echo last").is_visible()
    page.locator("details.run", has_text="echo 3").locator("pre").first.wait_for()


def test_the_keyboard_stays_where_it_is_while_a_session_goes_on(web: Web, page: Page) -> None:
    prompt(web, "A turn that is walked by keyboard", "keys-1")
    for number in range(2):
        run(web, f"echo {number}", "keys-1")
    page.goto(f"{web.served.url}/session/keys-1")
    page.locator("details.run", has_text="echo 1").locator("summary").focus()

    run(web, "echo last", "keys-1")
    page.locator("details.run", has_text="echo last").wait_for()

    assert "echo 1" in page.evaluate("document.activeElement.textContent")
    assert "3 runs" in str(page.locator(".page-head .counts").text_content())


def test_tabs_that_nobody_sees_hold_no_connection(web: Web, page: Page) -> None:
    """A browser opens six connections to a server: the seventh page would wait for ever."""
    hide = "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
    hide += " document.dispatchEvent(new Event('visibilitychange', { bubbles: true })); }"
    for _ in range(7):
        page.goto(web.served.url)
        page.evaluate(hide, True)
        first, page = page, page.context.new_page()

    prompt(web, "Came while the tab was in the background", "hidden-1")
    first.evaluate(hide, False)

    first.get_by_role("heading", name="Came while the tab was in the background").wait_for()


def test_a_page_says_that_its_server_has_ended(browser: Browser) -> None:
    with serving(None, {}, "--demo") as served:
        context = browser.new_context()
        today, search, edit = (context.new_page() for _ in range(3))
        today.goto(served.link)
        search.goto(f"{served.url}/search?q=parser")
        edit.goto(f"{served.url}/edit/6drpz9va77")
        assert not today.locator("#lost").is_visible()
    today.get_by_text("does not answer").wait_for()
    assert not today.locator(".live-mark").is_visible()

    search.get_by_label("Words to search for").fill("something else")
    search.get_by_text("does not answer").wait_for()

    edit.get_by_role("textbox", name="Text").fill("Not lost")
    edit.get_by_role("button", name="Save").click()
    edit.get_by_text("does not answer").wait_for()
    assert edit.get_by_role("textbox", name="Text").input_value() == "Not lost"
    context.close()


def run(web: Web, command: str, session: str) -> None:
    """Run a hook for a tool's run."""
    payload = {"hook_event_name": "PostToolUse", "session_id": session, "cwd": str(web.vault.parent / "api")}
    payload |= {"tool_name": "Bash", "tool_use_id": f"use-{command}"}
    answer: dict[str, Any] = {"tool_input": {"command": command}, "tool_response": {"stdout": "out", "stderr": ""}}
    subprocess.run(
        [sys.executable, "-m", "mdmem", "hook", "claude-code"],
        input=json.dumps({**payload, **answer}).encode(),
        env={**os.environ, **web.day.env},
        check=True,
    )


# -- search by keyboard ----------------------------------------------------------------------------


def test_search_is_done_by_keyboard_alone(web: Web, page: Page) -> None:
    page.goto(web.served.url)
    page.keyboard.press("/")
    page.keyboard.type("parser")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=parser#asked")
    before = page.locator("a.hit").count()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("[...document.querySelectorAll('a.hit')].indexOf(document.activeElement)") == 1

    page.keyboard.press("/")
    page.keyboard.type("parser kind:response")
    page.wait_for_url("**kind%3Aresponse")
    assert page.locator("a.hit").count() < before
    assert f"{page.locator('a.hit').count()} result" in str(page.locator("#heard").text_content())

    page.keyboard.press("ArrowDown")
    title = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "words"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/note/**")
    assert page.locator("h1").text_content() == title


def test_an_arrow_key_that_chooses_a_word_of_an_input_method_stays_in_the_words(web: Web, page: Page) -> None:
    page.goto(f"{web.served.url}/search?q=parser")
    words = page.get_by_label("Words to search for")
    words.focus()

    words.dispatch_event("keydown", {"key": "ArrowDown", "isComposing": True})
    assert page.evaluate("document.activeElement.id") == "words"

    words.dispatch_event("keydown", {"key": "ArrowDown"})
    assert page.evaluate("document.activeElement.className") == "hit"


def test_single_keys_are_switched_off(web: Web, page: Page) -> None:
    page.goto(f"{web.served.url}/help")
    box = page.get_by_role("checkbox", name="are shortcuts")
    box.uncheck()
    page.goto(f"{web.served.url}/timeline")
    page.locator("main").focus()
    for key in "/gp":
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") == "main"
    assert not page.locator(".quick kbd").is_visible()

    page.goto(f"{web.served.url}/help")
    box.check()
    page.goto(f"{web.served.url}/timeline")
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.wait_for_url("**/projects")


def test_code_is_copied_by_keyboard_and_by_pointer(web: Web, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{web.served.url}/note/{web.day.id('Edit src/dates.py')}")
    code = page.locator(".text pre").first
    text = code.text_content()

    code.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == text

    page.goto(f"{web.served.url}/preview")
    block = page.locator("pre.block")
    text = block.text_content()
    block.hover()
    block.get_by_role("button", name="Copy").click()
    block.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == text


def test_what_is_copied_runs_nothing_when_it_is_pasted_into_a_terminal(web: Web, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    evil = "a\tb\x03\x1b[201~\x9b1m\u202e\u200bc 👩\u200d👧 é"
    (web.day.vault / "notes" / "evil.md").write_text(f"---\ntitle: Copied\n---\n\n```\n{evil}\nnext\n```\n")
    page.goto(f"{web.served.url}/note/notes/evil.md")

    page.locator(".text pre").first.hover()
    page.locator(".text pre").first.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "a\tb[201~1mc 👩\u200d👧 é\nnext\n"


def test_folds_are_opened_by_keyboard_and_filled(web: Web, page: Page) -> None:
    page.goto(f"{web.served.url}/session/{FIRST}")
    fold = page.locator("details.run", has_text="Edit src/dates.py")
    fold.locator("summary").focus()
    page.keyboard.press("Enter")

    fold.locator(".diff .add").wait_for()
    assert "checked(y, m, d)" in str(fold.locator(".diff .add").first.text_content())


# -- writing ---------------------------------------------------------------------------------------


def open_queue(web: Web, page: Page, cards: Locator, count: int) -> None:
    """Open the review queue, again until it has these cards: the pages may hear late of a file."""

    def has_cards() -> bool:
        page.goto(web.served.url + "/review?kind=note")
        return cards.count() >= count

    until(has_cards)


def test_a_decision_leaves_the_reader_where_they_were(web: Web, page: Page) -> None:
    for number in range(4):
        a_note(web, f"To be decided {number}", now=OLDEST)
    cards = page.locator("article.card[id^=waiting-]", has_text="To be decided")  # not those that say the same
    open_queue(web, page, cards, 3)
    card = cards.nth(2)
    place = page.locator("article.card").evaluate_all("(all, card) => all.indexOf(card)", card.element_handle())
    card.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")

    card.get_by_role("button", name="Keep").click()

    page.get_by_role("status").filter(has_text="Kept “To be decided").wait_for()
    page.locator("button:focus", has_text="Keep").wait_for()  # the script runs after the page is shown
    assert page.url.endswith("/review?kind=note")
    assert abs(page.evaluate("scrollY") - before) < 60  # less than a card: the message above takes some room
    buttons = page.locator("article.card").nth(place).get_by_role("button")
    assert buttons.first.evaluate("one => one === document.activeElement")


def test_a_long_note_that_waits_for_review_is_read_with_the_keyboard_alone(web: Web, page: Page) -> None:
    a_note(web, "Long and waiting", "\n\n".join(f"Paragraph {number}." for number in range(60)), now=OLDEST)
    card = page.locator("article.card", has_text="Long and waiting")
    open_queue(web, page, card, 1)
    assert violations(page) == []

    card.get_by_role("link", name="Long and waiting").focus()
    page.keyboard.press("Tab")
    text = card.locator(".text")
    assert text.evaluate("one => one === document.activeElement")
    page.keyboard.press("End")
    text.evaluate(
        "one => new Promise(done => { const look = () => one.scrollTop ? done() : setTimeout(look, 20); look() })"
    )


def test_a_narrow_window_shows_which_page_is_open(web: Web, page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    for path in ("/", "/review", "/health", "/help"):
        page.goto(web.served.url + path)
        place = page.locator("nav [aria-current]").bounding_box()
        assert place is not None
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 360


def test_a_preview_on_a_narrow_window_shows_every_cell(web: Web, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{web.served.url}/preview?prompt=what+did+we+decide+about+the+date+parser")
    cells = page.locator("table.stacked tbody td")
    assert cells.count() >= 4
    for cell in cells.all():
        place = cell.bounding_box()
        assert place is not None
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 390
        assert cell.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert page.get_by_role("columnheader", name="Shown").count() == 1
    assert violations(page) == []


def test_the_search_box_of_every_page_searches_with_enter(web: Web, page: Page) -> None:
    page.goto(f"{web.served.url}/help/web")
    assert "Enter searches" in " ".join(str(page.locator("main").text_content()).split())
    page.keyboard.press("/")
    page.keyboard.type("parser")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=parser#asked")
    page.locator("a.hit:focus").wait_for()


def test_an_edit_conflict_keeps_both_texts(web: Web, page: Page) -> None:
    path = a_note(web, "Edited in two places")
    page.goto(f"{web.served.url}/edit/{path}")
    page.get_by_role("textbox", name="Text").fill("What I wrote.")
    file = web.vault / path
    file.write_text(file.read_text().replace("Some words.", "What they wrote."))
    page.get_by_role("button", name="Save").click()

    page.get_by_text("Nothing was saved").wait_for()
    assert page.get_by_role("textbox", name="Text").input_value() == "What I wrote."
    assert "What they wrote." in str(page.locator("pre.diff").text_content())
    assert "What they wrote." in file.read_text()

    page.get_by_role("button", name="Save mine").click()
    page.wait_for_url("**/note/**")
    assert "What I wrote." in file.read_text()


def test_an_edited_text_is_not_left_without_a_question(web: Web, page: Page) -> None:
    path = a_note(web, "Edited and left")
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", answer)
    page.goto(f"{web.served.url}/edit/{path}")
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url("**/note/**")
    assert not asked

    page.goto(f"{web.served.url}/edit/{path}")
    page.get_by_role("textbox", name="Text").fill("Half a thought")
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url("**/note/**")
    assert asked == ["beforeunload"]

    page.goto(f"{web.served.url}/new")
    page.get_by_role("textbox", name="Title").fill("Only a title")
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url("**/search")
    assert asked == ["beforeunload"] * 2


def test_a_note_is_written_by_keyboard(web: Web, page: Page) -> None:
    page.goto(f"{web.served.url}/new?project=notes-app")
    page.get_by_role("textbox", name="Title").focus()
    page.keyboard.type("Written by keyboard")
    page.keyboard.press("Tab")
    page.keyboard.type("g and / are letters here.")
    page.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")

    page.get_by_role("heading", name="Written by keyboard").wait_for()
    assert page.get_by_text("g and / are letters here.").is_visible()
    assert not violations(page)


def test_a_double_click_saves_a_note_once_and_undoes_once(web: Web, page: Page) -> None:
    page.goto(f"{web.served.url}/new")
    page.get_by_role("textbox", name="Title").fill("Clicked twice")
    page.get_by_role("textbox", name="Text (").fill("Once is enough.")
    page.get_by_role("button", name="Save").dblclick()

    page.get_by_role("heading", name="Clicked twice").wait_for()
    assert len(list((web.vault / "notes").rglob("*clicked-twice*.md"))) == 1

    page.get_by_role("link", name="Edit").click()
    page.get_by_role("textbox", name="Text (").fill("Once is really enough.")
    page.get_by_role("button", name="Save").dblclick()
    page.get_by_text("Saved.").wait_for()

    page.get_by_text("Forget…").click()
    page.get_by_role("button", name="Forget it").dblclick()
    page.get_by_text("Forgot “Clicked twice”").wait_for()
    page.get_by_role("button", name="Undo").dblclick()
    page.get_by_text("Undone: 1 file as before.").wait_for()
    assert page.get_by_role("heading", name="Clicked twice").is_visible()


def test_a_text_can_be_saved_again_after_its_load_was_stopped(web: Web, page: Page) -> None:
    path = a_note(web, "Stopped while it was saved")
    asked: list[str] = []
    sent: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    def stop_once(route: Route) -> None:
        sent.append(route.request.url)
        route.continue_() if len(sent) > 1 else route.abort("aborted")

    page.on("dialog", answer)
    page.route("**/do/edit", stop_once)
    page.clock.install()
    page.goto(f"{web.served.url}/edit/{path}")
    page.get_by_role("textbox", name="Text").fill("Saved by the second click.")
    page.get_by_role("button", name="Save").click()
    until(lambda: page.evaluate("1") and sent, "the form is sent")

    page.clock.fast_forward(5_000)
    page.get_by_role("link", name="Cancel").click()
    until(lambda: page.evaluate("1") and asked, "what is not saved is not left without a question")
    page.get_by_role("button", name="Save").click()

    page.wait_for_url("**/note/**")
    assert "Saved by the second click." in (web.vault / path).read_text()


def test_control_and_enter_save_a_text(web: Web, page: Page) -> None:
    path = a_note(web, "Saved with two keys")
    page.goto(f"{web.served.url}/edit/{path}")
    page.get_by_role("textbox", name="Text").fill("One line.")
    page.keyboard.press("Enter")
    page.keyboard.type("Another.")
    page.keyboard.press("Control+Enter")

    page.wait_for_url("**/note/**")
    assert "One line.\nAnother.\n" in (web.vault / path).read_text()


def test_a_note_is_forgotten_and_brought_back(web: Web, page: Page) -> None:
    path = a_note(web, "Forgotten in the browser")
    web.day.run("commit")
    page.goto(f"{web.served.url}/note/{path}")
    page.get_by_text("Forget…").click()
    page.get_by_role("button", name="Forget it").click()
    page.get_by_role("button", name="Undo").wait_for()
    assert not (web.vault / path).exists()

    page.get_by_role("button", name="Undo").click()
    page.get_by_text("as before").wait_for()
    assert (web.vault / path).exists()


# -- hostile notes ---------------------------------------------------------------------------------


def test_nothing_that_a_note_holds_runs_or_is_loaded(web: Web, page: Page) -> None:
    asked: list[str] = []
    hurt: list[str] = []
    refused: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("console", lambda said: refused.append(said.text) if "Content Security" in said.text else None)
    paths = [f"/note/hostile{number:03d}" for number in range(len(SAMPLES))]
    paths += [f"/edit/hostile{number:03d}" for number in (0, 2, 38)]
    paths += ["/search?q=hurt", "/search?tag=hostile&q=tag:hostile", "/project/hostile", "/", "/timeline", "/review"]
    for path in paths:
        page.goto(web.served.url + path)
        for link in page.locator(".text a, .text [onclick], .text button").all():
            assert not str(link.get_attribute("href") or "").lower().startswith(("javascript", "data", "vbscript"))
        if page.evaluate("window.hurt"):
            hurt.append(path)
    outside = [url for url in asked if not url.startswith(web.served.url)]
    assert not hurt
    assert not outside
    assert not refused
    assert len(SAMPLES) == 40


def test_a_page_of_another_site_cannot_use_the_cookie(web: Web, page: Page) -> None:
    """`localhost` is ours by name, and another site than the address that has the cookie."""
    page.goto(f"http://localhost:{web.served.port}/")

    assert "mdmem web" in str(page.locator("body").text_content())
    assert page.evaluate(f"fetch('{web.served.url}/').then(() => 'read', () => 'refused')") == "refused"


# -- what is looked at -----------------------------------------------------------------------------


def test_a_picture_of_the_vault_is_drawn(web: Web, page: Page) -> None:
    square = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'><rect width='40' height='30'/></svg>"
    (web.vault / "notes" / "square.svg").write_text(square)
    path = a_note(web, "A picture that is drawn", "![a square](square.svg)")

    page.goto(f"{web.served.url}/note/{path}")

    assert page.locator(".text img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 40


def test_paper_is_light_in_the_dark(web: Web, page: Page) -> None:
    page.emulate_media(color_scheme="dark", media="print")
    page.goto(f"{web.served.url}/session/{FIRST}")

    ink = page.evaluate("getComputedStyle(document.documentElement).color")
    assert sum(int(part) for part in ink[4:-1].split(", ")) < 150
    assert not page.get_by_role("button", name="Copy").is_visible()


def test_a_wide_table_fits_on_paper(web: Web, page: Page) -> None:
    row = "|".join(f" column{number} " for number in range(12))
    path = a_note(web, "A table to print", f"{row}\n{'|'.join(['---'] * 12)}\n{row}")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 720, "height": 1000})
    page.goto(f"{web.served.url}/note/{path}")

    assert page.locator(".text .table").evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_long_note_that_waits_for_review_is_whole_on_paper(web: Web, page: Page) -> None:
    a_note(web, "Meant for paper", "\n\n".join(f"Row {number} is printed." for number in range(100, 160)), now=OLDEST)
    page.emulate_media(media="print")
    page.goto(f"{web.served.url}/review?kind=note")

    note = page.locator(".text.clip", has_text="Row 159 ")
    assert note.evaluate("text => text.scrollHeight <= text.clientHeight")


def test_a_wide_table_is_moved_by_keyboard(web: Web, page: Page) -> None:
    row = "|".join(f" column{number} " for number in range(40))
    path = a_note(web, "A wide table", f"{row}\n{'|'.join(['---'] * 40)}\n{row}")
    page.goto(f"{web.served.url}/note/{path}")

    table = page.locator(".text .table")
    table.evaluate("box => { window.moved = new Promise(done => box.addEventListener('scroll', done)); }")
    table.focus()
    page.keyboard.press("ArrowRight")

    page.evaluate("() => window.moved.then(() => true)")
    assert table.evaluate("box => box.scrollLeft") > 0
    assert not violations(page)


@pytest.mark.parametrize("item", ["- ", "- [ ] ", "1. ", "> "])
def test_an_outline_fits_on_a_narrow_screen_however_deep_it_is(web: Web, page: Page, tmp_path: Path, item: str) -> None:
    indent = item if item == "> " else " " * len("1. " if item == "1. " else "- ")
    outline = "\n".join(f"{indent * depth}{item}Level {depth} of an outline\n" for depth in range(40))
    path = a_note(web, f"An outline of {item}", outline)
    page.set_viewport_size({"width": 360, "height": 740})
    export = tmp_path / "notes.html"
    subprocess.run([sys.executable, "-m", "mdmem", "--vault", web.vault, "export", export], check=True)
    for address in (f"{web.served.url}/note/{path}", export.as_uri()):
        page.goto(address)
        text = page.get_by_text("Level 39 of an outline").first
        assert text.evaluate("one => one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight)") < 3
        assert page.evaluate("document.scrollingElement.scrollWidth") == 360
    (web.vault / path).unlink()


def test_a_note_in_arabic_reads_from_the_right(web: Web, page: Page) -> None:
    body = "هذا نص `parse_date()` هنا\n\n- البند الأول\n- البند الثاني\n\n> اقتباس\n\nAn English line."
    path = a_note(web, "محلل التاريخ", body)
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{web.served.url}/note/{path}")

    assert page.evaluate("document.scrollingElement.scrollWidth") == 360
    assert page.locator(".text code").evaluate("one => getComputedStyle(one).direction") == "ltr"
    item, text = (page.locator(where).first.bounding_box() for where in (".text li", ".text"))
    assert item is not None
    assert text is not None
    assert item["x"] == text["x"]
    assert item["width"] < text["width"]  # the room for marks is at the right


def test_the_prompts_beside_a_session_lead_to_its_turns(web: Web, page: Page) -> None:
    for number in range(4):
        prompt(web, f"Question number {number}", "outlined-1")
    page.goto(f"{web.served.url}/session/outlined-1")

    page.get_by_role("complementary").get_by_role("link", name="Question number 2").click()

    page.wait_for_url("**#turn-3")
    assert page.locator("#turn-3").get_by_text("Question number 2").is_visible()
