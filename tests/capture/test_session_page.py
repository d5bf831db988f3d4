"""The session page: right whatever becomes of the session, and never in the way of its owner."""

from __future__ import annotations

import os
import re
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import frontmatter
import pytest
from markdown_it import MarkdownIt

from mdmem import config
from mdmem.capture import page
from mdmem.capture.later import upkeep
from mdmem.capture.session import Session
from mdmem.history import pages
from mdmem.history.git import repository
from mdmem.vault import disk as vaults
from mdmem.vault import generated, journal
from tests.conftest import notes, session_pages
from tests.helpers import claude
from tests.helpers.claude import START, bash, capture, payload, prompt, stop
from tests.helpers.history_vault import run_here
from tests.helpers.plain_git import git as plain_git

EDIT = {
    "tool_name": "Edit",
    "tool_input": {"file_path": "/home/dev/work/notes-app/src/dates.py", "old_string": "a", "new_string": "b"},
    "tool_response": {"filePath": "/home/dev/work/notes-app/src/dates.py", "structuredPatch": []},
}


def the_page(vault: Path) -> Path:
    (path,) = session_pages(vault)
    return path


def between(vault: Path) -> list[str]:
    """Return the lines between the markers."""
    text = the_page(vault).read_text("utf-8")
    return [*text.partition(f"{page.BEGIN}\n")[2].partition(f"\n{page.END}")[0].split("\n"), ""]


def a_day() -> None:
    """Store a session with two prompts, edits, a failure, and an end."""
    capture(payload("SessionStart", source="startup"))
    capture(prompt("Fix the [date] parser"), START + 10)
    capture(bash("", "toolu_1") | EDIT, START + 20)
    capture(bash("", "toolu_2") | EDIT, START + 30)
    failed = bash("", "toolu_3") | {"hook_event_name": "PostToolUseFailure", "error": "Exit code 1\nno"}
    capture(failed, START + 40)
    capture(stop("Fixed."), START + 60)
    capture(prompt("Thanks", 2), START + 120)
    capture(stop("Any time.", 2), START + 125)
    capture(payload("SessionEnd", reason="prompt_input_exit"), START + 300)


@pytest.mark.parametrize("words", ["404 errors in the checkout", "3 tests fail, fix them", "12"])
def test_prompts_are_counted_from_one_also_if_the_first_begins_with_a_number(vault: Path, words: str) -> None:
    capture(prompt(words))
    capture(stop("Fixed."), START + 60)
    capture(prompt("Thanks", 2), START + 120)
    capture(stop("Any time.", 2), START + 125)

    assert [path.name[:8] for path in notes(vault)] == ["001-000-", "001-001-", "002-000-", "002-001-"]
    assert [line[:4] for line in between(vault) if line[:1].isdigit()] == ["1. [", "2. ["]


def test_a_page_tells_the_session(vault: Path) -> None:
    a_day()
    lines = between(vault)
    names = [path.name for path in notes(vault)]
    assert lines == [
        "[Project](../../project.md) <!-- mdmem:nav -->",
        "",
        "- Began 2026-09-14 08:00 UTC",
        "- Ended 2026-09-14 08:05 UTC (prompt_input_exit)",
        "- Took 2 min",
        "",
        "## Prompts",
        "",
        f"1. [Fix the \\[date\\] parser]({names[0]}) → [answer]({names[4]})",
        "   <details><summary>3 tool runs, 1 failed</summary>",
        "",
        f"   - [edit src dates py]({names[1]})",
        f"   - [edit src dates py]({names[2]})",
        f"   - ✗ [bash make]({names[3]})",
        "   </details>",
        f"2. [Thanks]({names[5]}) → [answer]({names[6]})",
        "",
        "## Files touched",
        "",
        "- `src/dates.py` ×2",
        "",
        "## Work",
        "",
        "- 3 tool runs",
        f"- 1 failed: [001-003]({names[3]})",
        "",
        "",
    ]
    found = frontmatter.loads(the_page(vault).read_text())
    assert (found["kind"], found["title"], found["session"]) == ("session", "Fix the [date] parser", claude.SESSION)


def test_markdown_nests_the_runs_of_every_prompt_below_its_number(vault: Path) -> None:
    for number in range(1, 11):
        capture(prompt(f"Ask {number}", number), START + number * 60)
        capture(bash("", f"toolu_{number}", number) | EDIT, START + number * 60 + 10)
        capture(stop("Done.", number), START + number * 60 + 20)
    renamed = [line.replace("[edit src dates py]", "[Edit dates.py]") for line in between(vault)]
    the_page(vault).write_text("\n".join([page.BEGIN, *renamed[:-1], page.END]), "utf-8")
    capture(prompt("Ask 11", 11), START + 900)
    capture(stop("Done.", 11), START + 910)

    tokens = MarkdownIt().parse("\n".join(between(vault)))

    runs = [token.level for token in tokens if token.type == "inline" and "[Edit dates.py](" in token.content]
    assert runs == [5] * 10  # in an item of a list, in an item of the list of prompts
    assert [token.level for token in tokens if token.type == "html_block" and "details" in token.content] == [2] * 20


def test_a_session_that_is_broken_off_in_its_first_turn_has_said_what_it_was_about(vault: Path) -> None:
    capture(payload("SessionStart", source="clear"))
    capture(prompt("Fix the parser"), START + 10)
    capture(bash("", "toolu_1") | EDIT, START + 20)
    (asked, _) = notes(vault)
    assert f"1. [Fix the parser]({asked.name})" in between(vault)


def test_a_page_names_branches_and_commits(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    git = partial(plain_git, tmp_path / "app")
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "a")
    where = {"cwd": str(tmp_path / "app")}
    capture(prompt("one") | where)
    git("switch", "-q", "-c", "fix")
    capture(prompt("two", 2) | where)
    committed = bash("[fix 1a2b3c4] b", "toolu_1", 2) | where
    committed["tool_input"] = {"command": "git commit -m b"}
    capture(committed)
    capture(stop("done", 2) | where)
    text = "\n".join(between(vault))
    assert "- On `main` at `" in text
    assert ", then `fix` at `" in text
    assert "- Commits made: `1a2b3c4`" in text


def test_what_its_owner_writes_stays(vault: Path) -> None:
    capture(prompt("first"))
    path = the_page(vault)
    text = path.read_text()
    begin = text.index("kind: session")
    mine = text[:begin] + "rating: 5\n" + text[begin:] + "\nMy own words, with <!-- a comment -->.\n"
    mine = mine.replace("# first", "# My title")
    path.write_text(mine)
    capture(stop("done"))
    head, _, tail = mine.partition(page.BEGIN)
    new = path.read_text()
    assert new.startswith(head)
    assert new.endswith(tail.partition(page.END)[2])
    assert "→ [answer](" in new


@pytest.mark.parametrize("gone", [page.BEGIN, page.END], ids=["no beginning", "no end"])
def test_a_page_without_its_markers_is_its_owners(vault: Path, gone: str) -> None:
    capture(prompt("first"))
    path = the_page(vault)
    path.write_text(path.read_text().replace(gone, ""))
    before = path.read_bytes()
    capture(stop("done"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("title", [page.BEGIN, f"{page.BEGIN} {page.END}", f"{page.END}\n{page.BEGIN}", "# x\n---\n"])
def test_a_prompt_that_holds_a_marker_is_only_text(vault: Path, title: str) -> None:
    capture(prompt(f"{title} and more"))
    capture(stop(f"{page.END}\n{page.BEGIN}"))
    capture(prompt("second", 2))
    capture(stop("done", 2))
    found = frontmatter.loads(the_page(vault).read_text())
    assert found["kind"] == "session"
    assert found.content.count(f"\n{page.BEGIN}\n") == 1
    assert len([line for line in between(vault) if line[:1].isdigit()]) == 2


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_a_page_keeps_its_line_ends_and_its_mark(vault: Path, newline: str) -> None:
    capture(prompt("first"))
    path = the_page(vault)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_text().replace("\n", newline).encode())
    capture(stop("done"))
    new = path.read_bytes()
    assert new.startswith(b"\xef\xbb\xbf---")
    assert new.count(b"\r\n") == (new.count(b"\n") if newline == "\r\n" else 0)
    assert b"[answer](" in new


def test_bytes_that_are_no_text_stay_as_they_are(vault: Path) -> None:
    capture(prompt("first"))
    path = the_page(vault)
    path.write_bytes(path.read_bytes() + b"\xff\xfe raw")
    capture(stop("done"))
    assert path.read_bytes().endswith(b"\xff\xfe raw")


def test_a_page_that_is_too_long_to_be_read_whole_is_left_alone(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture(prompt("first"))
    monkeypatch.setattr(vaults, "MAX_READ_BYTES", 100)
    before = the_page(vault).stat()
    capture(stop("done"))
    after = the_page(vault).stat()  # reading it may change the time of the last access
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)


def test_a_page_that_its_owner_deleted_does_not_come_back(vault: Path) -> None:
    capture(prompt("first"))
    the_page(vault).unlink()
    capture(stop("done"))
    capture(prompt("second", 2))
    assert session_pages(vault) == []


def test_what_is_saved_at_the_same_moment_is_kept(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture(prompt("first"))
    path = the_page(vault)
    real = vaults.replace
    saves = [b"one", b"two"]

    def save_first(folder: vaults.Folder, name: str, old: bytes | None, new: bytes, **more: Any) -> bool:
        if saves:
            path.write_bytes(path.read_bytes() + saves.pop() + b"\n")
        return real(folder, name, old, new, **more)

    monkeypatch.setattr(vaults, "replace", save_first)
    capture(stop("done"))
    assert path.read_bytes().endswith(b"two\none\n")
    assert b"[answer](" in path.read_bytes()


# -- titles and names ------------------------------------------------------------------------------


def test_a_session_that_began_without_a_prompt_gets_the_title_of_its_first(vault: Path) -> None:
    capture(bash("out", prompt_id=""))
    assert frontmatter.loads(the_page(vault).read_text())["title"] == "Session of 2026-09-14 08:00"
    capture(prompt('Say "why": now'))
    found = frontmatter.loads(the_page(vault).read_text())
    assert found["title"] == 'Say "why": now'
    assert found.content.startswith('# Say "why": now\n')


def test_a_session_without_a_prompt_gets_the_title_of_its_first_answer(vault: Path) -> None:
    capture(bash("out", prompt_id=""))
    capture(stop("All tests pass now."))
    capture(stop("Nothing is left to do.", 2))
    found = frontmatter.loads(the_page(vault).read_text())
    assert found["title"] == "All tests pass now."
    assert found.content.startswith("# All tests pass now.\n")
    assert "Session of" not in found.content


def test_a_session_without_a_prompt_whose_answer_was_forgotten_is_not_called_like_it(vault: Path) -> None:
    repository.init(vault)
    capture(bash("out", prompt_id=""))
    capture(stop("The codename is Walrus."))
    assert frontmatter.loads(the_page(vault).read_text())["title"] == "The codename is Walrus."
    answer = next(path for path in notes(vault) if "-response-" in path.name)
    run_here("forget", str(frontmatter.load(str(answer))["id"]), "--yes", check=True)
    assert "Walrus" not in the_page(vault).read_text()


def test_an_answer_that_stays_on_this_machine_gives_no_page_of_the_history_its_title(vault: Path) -> None:
    repository.init(vault)
    capture(bash("out", prompt_id=""))
    capture(stop("The codename is Walrus."))
    answer = next(path for path in notes(vault) if "-response-" in path.name)
    answer.write_text(answer.read_text().replace("kind: response\n", "kind: response\nprivate: true\n"))
    run_here("commit", check=True)
    assert "Walrus" not in the_page(vault).read_text()
    assert not plain_git(vault, "grep", "-il", "walrus", "HEAD", check=False)


def test_a_session_whose_only_prompt_was_forgotten_gets_the_title_of_the_next(vault: Path) -> None:
    repository.init(vault)
    capture(prompt("Say why"))
    capture(bash("out"))
    run_here("forget", str(frontmatter.load(str(notes(vault)[0]))["id"]), "--yes", check=True)
    assert str(frontmatter.loads(the_page(vault).read_text())["title"]).startswith("Session of ")
    capture(prompt("Say when", 2))
    capture(stop("done", 2))
    assert frontmatter.loads(the_page(vault).read_text())["title"] == "Say when"


def test_a_title_that_its_owner_gave_stays(vault: Path) -> None:
    capture(bash("out", prompt_id=""))
    path = the_page(vault)
    path.write_text(path.read_text().replace("Session of 2026-09-14 08:00", "My session"))
    capture(prompt("first"))
    capture(stop("done"))
    assert frontmatter.loads(path.read_text())["title"] == "My session"


def test_a_note_that_was_renamed_or_retitled_is_linked_as_it_is_now(vault: Path) -> None:
    for n in (1, 2, 3):
        capture(prompt(f"prompt {n}", n))
    one, two, three = notes(vault)
    one.rename(one.with_name("My question (1).md"))
    two.rename(two.with_name(f"002-000-better-{two.name[-13:]}"))
    three.write_text(three.read_text().replace("title: prompt 3", "title: A better title"))
    capture(stop("done", 3))
    assert [line.partition(" →")[0] for line in between(vault) if line[:1].isdigit()] == [
        "1. [prompt 1](<My question (1).md>)",
        f"2. [prompt 2](002-000-better-{two.name[-13:]})",
        f"3. [A better title]({three.name})",
    ]


@pytest.mark.parametrize("name", ["Is it C# or C++?.md", "100%25 done.md", "a (b) [c].md"])
def test_a_note_is_linked_whatever_a_person_named_it(vault: Path, name: str) -> None:
    capture(prompt("Sort the dates"))
    capture(bash("", "toolu_1"))
    (asked,) = vault.rglob("*-prompt-*.md")
    asked.rename(asked.with_name(name))
    capture(stop("done"))
    run_here("init", str(vault), check=True)
    run_here("commit", check=True)
    tokens = MarkdownIt("commonmark").parse("\n".join(between(vault)))
    links = [
        str(inner.attrGet("href")) for token in tokens for inner in token.children or () if inner.type == "link_open"
    ]
    paths = [the_page(vault).parent / unquote(urlsplit(link).path) for link in links]
    assert name in [path.name for path in paths]
    assert [path for path in paths if not path.is_file()] == []
    assert "-bash-" in "\n".join(between(vault)).partition("tool run</summary>")[2].partition("</details>")[0]


@pytest.mark.parametrize(
    "title",
    [
        "Read app/__init__.py and app/__main__.py",
        'Glob "**/*.py" in *',
        "*args and **kwargs",
        "_private",
        "AT&amp;T &#35; &c",
        "ls ~/a:~/b ~~c~~",
        "a `b` [c](d) <e> \\f",
        "a && b; c % d = $5",
    ],
)
def test_a_title_on_the_page_reads_as_it_is(title: str) -> None:
    parser = MarkdownIt("commonmark").enable("strikethrough")
    for line in (f"- [{page.link_text(title)}](x.md)", f"1. [{page.link_text(title)}](x.md) → [answer](y.md)"):
        (inline,) = (token for token in parser.parse(line) if token.type == "inline")
        kinds = {inner.type for inner in inline.children or ()}
        assert kinds <= {"link_open", "link_close", "text", "text_special"}
        text = "".join(inner.content for inner in inline.children or ())
        assert text.partition(" → ")[0] == title


@pytest.mark.parametrize("title", ["100%% %%hidden%%", "echo $HOME:$PATH", "pip install a==1 b==2"])
def test_obsidian_finds_no_pair_of_marks_in_a_title(title: str) -> None:
    shown = page.link_text(title)
    assert shown.replace("\\", "") == title
    assert not re.search(r"(?<!\\)(%%|\$|==)", shown)


def test_a_deleted_note_goes_from_the_page(vault: Path) -> None:
    for n in (1, 2):
        capture(prompt(f"prompt {n}", n))
    notes(vault)[0].unlink()
    capture(stop("done", 2))
    assert [line[:11] for line in between(vault) if line[:1].isdigit()] == ["2. [prompt "]


def test_a_file_with_backticks_is_shown_as_it_is(vault: Path) -> None:
    odd = {**EDIT, "tool_input": {**EDIT["tool_input"], "file_path": "/home/dev/work/notes-app/a`b.py"}}  # type: ignore[dict-item]
    capture(bash("") | odd)
    capture(stop("done"))
    assert "- `` a`b.py ``" in between(vault)


# -- sessions of every kind ------------------------------------------------------------------------


def test_a_resumed_session_counts_the_time_it_was_worked_in(vault: Path) -> None:
    a_day()
    later = START + 5 * 86_400
    capture(payload("SessionStart", source="resume"), later)
    capture(payload("SessionStart", source="resume"), later + 1)
    capture(prompt("And now", 3), later + 60)
    capture(stop("Well.", 3), later + 600)
    lines = between(vault)
    assert lines[2:6] == [
        "- Began 2026-09-14 08:00 UTC",
        "- Last heard of 2026-09-19 08:10 UTC",
        "- Took 11 min",
        "- Resumed 2026-09-19 08:00 UTC",
    ]


def test_compaction_is_told_and_its_summary_linked(vault: Path) -> None:
    capture(payload("SessionStart", source="startup"))
    capture(prompt("first"), START + 60)
    capture(
        payload("PostCompact", trigger="auto", compact_summary="All of it so far.", prompt_id="prompt-1"), START + 90
    )
    capture(payload("SessionStart", source="compact"), START + 91)
    capture(stop("done"), START + 120)
    lines = between(vault)
    assert "- Took 1 min" in lines
    assert "- Compacted 2026-09-14 08:01 UTC" in lines
    assert [line for line in lines if line.startswith("   - [All of it so far.](001-001-summary-")]


def test_a_clock_that_was_set_back_gives_no_negative_times(vault: Path) -> None:
    capture(payload("SessionStart", source="startup"), START)
    capture(prompt("first"), START - 7_200)
    capture(stop("done"), START - 7_100)
    capture(payload("SessionEnd", reason="other"), START - 7_000)
    assert not [
        line for line in between(vault) if "-" in line.removeprefix("- ").replace("2026-09-14", "") and "Took" in line
    ]


def test_a_failed_turn_and_an_unfinished_one_are_told(vault: Path) -> None:
    capture(prompt("first"))
    capture(payload("StopFailure", error="overloaded", prompt_id="prompt-1"))
    capture(prompt("second", 2))
    capture(stop("", 2))
    one, two = (line for line in between(vault) if line[:1].isdigit())
    assert "→ [failed](001-001-response-overloaded-" in one
    assert "→" not in two


def test_the_page_of_a_session_that_broke_off_is_finished_later(vault: Path) -> None:
    capture(prompt("first"))
    capture(stop("done"))
    (page,) = session_pages(vault)
    os.utime(page, (page.stat().st_mtime - 10,) * 2)
    capture(prompt("second", 2))
    settings = config.load()
    assert upkeep.finish_pages(settings, time.time()) == 0, "it may go on"
    assert upkeep.finish_pages(settings, time.time() + 3_600) == 1
    assert upkeep.finish_pages(settings, time.time() + 3_600) == 0
    assert [line[:10] for line in between(vault) if line[:1].isdigit()] == ["1. [first]", "2. [second"]


def test_a_page_that_needs_no_change_is_looked_at_once(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_day()
    settings, (path,) = config.load(), session_pages(vault)
    record = Session(settings, prompt("")["session_id"])
    record.append("transcript", "/home/dev/a.jsonl")
    os.utime(path, (path.stat().st_mtime - 10,) * 2)
    before = path.read_bytes()
    looked: list[bytes] = []
    render = page.render

    def seen(*words: Any) -> str:
        looked.append(path.read_bytes())
        return render(*words)

    monkeypatch.setattr(page, "render", seen)

    for hours in (1, 2, 3):
        assert upkeep.finish_pages(settings, time.time() + hours * 3_600) == 0

    assert looked == [before]
    capture(bash("more", "toolu_9", 2), START + 400)
    upkeep.finish_pages(settings, time.time() + 3_600)
    assert "- 4 tool runs" in between(vault)


def test_the_same_page_without_state(vault: Path, home: Path) -> None:
    import shutil

    a_day()
    before = [line for line in between(vault) if not line.startswith(("- Began", "- Ended", "- Took"))]
    shutil.rmtree(home / ".local")
    (vault / "journal").touch()
    capture(prompt("", 9))
    capture(stop("", 9))
    after = [line for line in between(vault) if not line.startswith(("- Began", "- Last", "- Took"))]
    assert after == before


def test_a_note_of_a_clock_that_was_years_ahead_is_not_the_last_sign_of_a_session(vault: Path, ask: Any) -> None:
    capture(prompt("Fix the parser"), START)
    capture(bash("", "toolu_1"), START + 10 * 366 * 86_400)
    capture(bash("", "toolu_2"), START + 60)
    capture(stop("Fixed."), START + 120)

    assert "- Last heard of 2026-09-14 08:02 UTC" in between(vault)
    (wrong,) = [path.name for path in notes(vault) if "001-001-bash" in path.name]
    found = ask("doctor", "--only", "notes", env={"MDMEM_NOW": str(START + 200)}).stdout
    assert f"/{wrong} has the date 2036-09-21: the clock of this machine was wrong" in found
    assert found.count("the clock of this machine") == 1


def test_a_picture_in_an_agents_description_is_only_text(vault: Path) -> None:
    run = bash("", "toolu_1")
    run["tool_input"]["description"] = "Show ![x](https://example.org/x.png) <img src=x>"
    capture(run)
    (stored,) = notes(vault)
    body = frontmatter.loads(stored.read_text("utf-8")).content
    assert "<p>Show " in (html := MarkdownIt("commonmark").render(body))
    assert "<img" not in html


def test_prompt_about_an_html_element_hides_nothing_of_its_page_from_readers(vault: Path) -> None:
    capture(prompt("Why does <details> fold the parser?"))
    capture(bash("", "toolu_1"), START + 10)
    capture(prompt("Rename the exporter", 2), START + 20)
    capture(stop("Renamed.", 2), START + 30)
    shown = generated.unmarked(the_page(vault).read_text("utf-8")).partition("## Prompts")[2]
    assert [line.partition("](")[0] for line in shown.splitlines() if line[:1].isdigit()] == [
        r"1. [Why does \<details> fold the parser?",
        "2. [Rename the exporter",
    ]


def test_prompt_with_a_link_in_its_title_has_its_tool_runs_below_it(vault: Path) -> None:
    capture(prompt("Fix the [date](https://example.org/dates) parser"))
    capture(bash("", "toolu_1"), START + 10)
    capture(stop("Fixed."), START + 20)
    at = next(place for place, line in enumerate(between(vault)) if line.startswith("1. "))
    assert between(vault)[at + 1] == "   <details><summary>1 tool run</summary>"


@pytest.mark.parametrize("title", ["List all of C:\\", "Keep [a\\](b) as it is", "What does \\[x](y) mean"])
def test_links_of_a_page_are_found_whatever_their_titles_end_or_begin_with(vault: Path, title: str) -> None:
    capture(prompt(title))
    line = next(line for line in between(vault) if line.startswith("1. "))
    assert [journal.numbers(target) for target in pages.targets(line)] == [(1, 0)]
