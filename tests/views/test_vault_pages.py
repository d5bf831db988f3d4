"""The pages by which a vault is walked: start page, project pages, and what leads from one session to the next."""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from collections.abc import Callable, Set
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.health import links as links_check
from mdmem.health.scope import CheckScope
from mdmem.history import commit
from mdmem.history.git import repository
from mdmem.history.merging import both, join
from mdmem.search import index
from mdmem.search.index import contents as index_contents
from mdmem.search.index import document
from mdmem.vault import archives, disk, generated, layout, note, template
from mdmem.views.vault_pages import day_page, listed, making, session_page, upkeep
from tests.helpers import cli_day
from tests.helpers.cli_day import MORNING, Day
from tests.helpers.history_vault import git, start

NOW = MORNING + 10 * 86_400


@pytest.fixture
def day(tmp_path: Path) -> Day:
    made = cli_day.make(tmp_path)
    (made.vault / "README.md").write_text(template.load("vault/README.md"), encoding="utf-8")
    (made.vault / "notes" / "utc.md").write_text(
        "---\nkind: decision\ntitle: Times are UTC\nproject: notes-app\npinned: true\n---\n\nAlways.\n"
    )
    return made


def pages(day: Day) -> list[Path]:
    return sorted(path for path in day.vault.glob("journal/*/*/*/*.md") if path.stem == path.parent.name)


def links(path: Path) -> list[Path]:
    """Return where the links of a file lead."""
    found = re.findall(r"\]\(<?([^)>]+)>?\)", path.read_text("utf-8"))
    return [(path.parent / unquote(place)).resolve() for place in found]


def test_the_start_page_lists_projects_sessions_decisions_and_pinned_notes(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    text = (day.vault / "README.md").read_text("utf-8")
    assert text.startswith("# A memory vault\n")
    inside = text.partition(generated.BEGIN)[2].partition(generated.END)[0]
    headings = [line[3:] for line in inside.split("\n") if line.startswith("## ")]
    assert headings == ["Projects", "Last sessions", "Last days", "Decisions", "Pinned", "Review"]
    assert "[notes-app](journal/notes-app/project.md): 2 sessions" in inside
    assert inside.count("[Times are UTC](notes/utc.md)") == 2
    assert inside.index("Add a retry") < inside.index("Cache the exported") < inside.index("Why does the date parser")


def test_the_start_page_lists_open_work_of_all_projects_as_todo_does(day: Day) -> None:
    now = max(time.time(), NOW)
    dates = [datetime.fromtimestamp(now - days * 86_400, UTC).date().isoformat() for days in (3, 2)]
    for number, project in enumerate(("notes-app", "other")):
        front = f"kind: task\ntitle: Task {number}\nproject: {project}\ncreated: {dates[number]}T09:00:00Z\n"
        (day.vault / f"notes/task-{number}.md").write_text(f"---\n{front}---\n\nText.\n")
    upkeep.refresh(day.config(), now=now, everything=True)
    text = (day.vault / "README.md").read_text("utf-8")
    said = text.partition("## Open work\n\n")[2].partition("\n\n")[0].splitlines()
    listed = [item["text"] for item in day.json("todo")]
    assert [line.partition("[")[2].partition("]")[0] for line in said] == listed
    assert f"- To do: [Task 0](notes/task-0.md) (notes-app, {dates[0]})" in said


@pytest.mark.parametrize("name", ["The parser", "2026-09-14 The parser"])
@pytest.mark.parametrize("is_folder", [True, False])
def test_a_session_is_listed_with_its_time_when_its_page_or_its_folder_was_renamed(
    day: Day, is_folder: bool, name: str
) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    (page,) = (page for page in pages(day) if page.stem.endswith("-3f0c6d1e"))
    before = re.findall(r"^- (\S+ \S+) \[Why does", (day.vault / "README.md").read_text("utf-8"), re.MULTILINE)
    moved = page.parent if is_folder else page
    moved.rename(moved.with_name(name if is_folder else f"{name}.md"))
    upkeep.refresh(day.config(), now=NOW, everything=True)
    text = (day.vault / "README.md").read_text("utf-8")
    assert "The%20parser" in text or "The parser" in text
    assert re.findall(r"^- (\S+ \S+) \[Why does", text, re.MULTILINE) == before == ["2026-09-14 08:00"]


def test_every_link_of_the_pages_leads_to_a_file(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    made = [day.vault / "README.md", *day.vault.glob("journal/*/project.md"), *pages(day)]
    found = [link for path in made for link in links(path)]
    assert len(found) > 25
    assert [link for link in found if not link.is_file()] == []


def test_links_lead_to_notes_whose_names_have_a_meaning_in_addresses(day: Day) -> None:
    names = ["C# tips", "Why UTC?", "100%25", "C# or F#/a (b) [c]"]
    for name in names:
        note_file = day.vault / f"notes/{name}.md"
        note_file.parent.mkdir(exist_ok=True)
        note_file.write_text(f"---\nkind: decision\ntitle: {name} now\n---\n\nYes.\n", encoding="utf-8")
    upkeep.refresh(day.config(), now=NOW, everything=True)
    written = re.findall(r"\]\(<?(notes/(?:[^()>]|\([^)]*\))+)>?\)", (day.vault / "README.md").read_text("utf-8"))
    linked = {unquote(urlsplit(place).path) for place in written}
    assert linked >= {f"notes/{name}.md" for name in names}
    assert [place for place in linked if not (day.vault / place).is_file()] == []
    assert [found.severity for found in links_check.links(day.config(), CheckScope())] == ["fine"]


def test_a_sessions_page_leads_to_its_project_only_while_that_has_a_page(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    project = day.vault / "journal" / "notes-app" / "project.md"
    words = project.read_bytes()
    first = next(path for path in pages(day) if "notes-app" in str(path))

    project.unlink()
    upkeep.refresh(day.config(), now=NOW)
    assert [link for path in pages(day) for link in links(path) if not link.is_file()] == []

    project.write_bytes(words)
    upkeep.refresh(day.config(), now=NOW)
    assert links(first)[0] == project


def test_a_project_page_lists_sessions_by_month_files_and_decisions(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    text = (day.vault / "journal" / "notes-app" / "project.md").read_text("utf-8")
    assert "## Sessions in 2026-09\n" in text
    assert "- `src/dates.py` ×1" in text
    assert "[Times are UTC](../../notes/utc.md)" in text
    assert "Add a retry" not in text


def test_session_pages_lead_to_the_project_and_to_the_sessions_around_them(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    first, second = (path for path in pages(day) if "notes-app" in str(path))
    project, days = day.vault / "journal" / "notes-app" / "project.md", day.vault / "days"
    assert links(first)[:3] == [project, days / f"{first.parent.parent.name}.md", second]
    assert links(second)[:3] == [project, days / f"{second.parent.parent.name}.md", first]


def test_runs_are_listed_under_their_prompt_and_failures_with_their_error(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    lines = pages(day)[1].read_text("utf-8").split("\n")
    at = next(place for place, line in enumerate(lines) if "<details>" in line)
    assert lines[at - 1].startswith("1. [Why does the date parser fail?")
    assert lines[at].strip() == "<details><summary>3 tool runs, 1 failed</summary>"
    assert lines[at + 2].startswith("   - ✗ [pytest -q (exit 1): 1 failed](001-001-")
    assert lines[at + 5].strip() == "</details>"


def test_a_page_written_by_the_next_turn_keeps_links_and_titles(day: Day) -> None:
    settings = day.config()
    upkeep.refresh(settings, now=NOW, everything=True)
    page = pages(day)[1]
    was = generated.inside(page.read_bytes())
    event = Event(
        agent="claude-code", name="Stop", session=cli_day.FIRST, cwd=str(day.vault.parent / "notes-app"),
        prompt_id="p1", message="Once more.",
    )  # fmt: skip
    day.store(event, MORNING + 400)
    now = generated.inside(page.read_bytes())
    assert now != was
    assert generated.navigation(now, "") == generated.navigation(was, "")
    assert generated.runs(now) == generated.runs(was)


def test_nothing_is_written_when_nothing_has_changed(day: Day) -> None:
    assert (
        len(upkeep.refresh(day.config(), now=NOW, everything=True)) == 9
    )  # start, two projects, three sessions and days
    assert upkeep.refresh(day.config(), now=NOW, everything=True) == []
    assert upkeep.refresh(day.config(), now=NOW + 1) == []


def test_the_page_of_a_day_whose_sessions_are_gone_names_them_no_more(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    gone = pages(day)[1].parent
    page = day.vault / "days" / f"{gone.parent.name}.md"
    assert "Why does the date parser" in page.read_text("utf-8")
    for one in pages(day):
        if one.parent.parent.name == gone.parent.name:
            shutil.rmtree(one.parent)

    upkeep.refresh(day.config(), now=NOW + 100)

    assert "Why does the date parser" not in page.read_text("utf-8")
    assert page.read_text("utf-8").endswith("## Notes\n")


def test_a_page_without_markers_is_left_alone(day: Day) -> None:
    (day.vault / "README.md").write_text("# Mine\n")
    page = pages(day)[1]
    own = page.read_bytes().replace(generated.BEGIN.encode() + b"\n", b"")
    page.write_bytes(own)
    upkeep.refresh(day.config(), now=NOW, everything=True)
    assert (day.vault / "README.md").read_text() == "# Mine\n"
    assert page.read_bytes() == own


@pytest.mark.parametrize("header", ["", f"---\nabout: lists go below {generated.BEGIN}\n---\n\n"])
def test_a_start_page_of_an_earlier_version_gets_its_part(day: Day, header: str) -> None:
    was = header + template.load("vault/README.md").partition(generated.BEGIN)[0].rstrip() + "\n"
    (day.vault / "README.md").write_text(was)
    upkeep.refresh(day.config(), now=NOW, everything=True)
    text = (day.vault / "README.md").read_text("utf-8")
    assert text.startswith(was)
    assert "## Last sessions" in text


@pytest.mark.parametrize("of", ["*/001-000-prompt-*", "*/0959-*"])
def test_a_session_whose_name_is_marked_private_later_is_not_named_on_a_page(day: Day, of: str) -> None:
    (path,) = day.vault.glob(f"journal/api/*/{of}.md")
    text = path.read_text("utf-8")
    head, _, body = text.partition("\n---\n")
    words = "the upload endpoint"
    path.write_text(f"{head}\n---\n{body}\nIt is about <private>{words}</private>.\n", encoding="utf-8")
    upkeep.refresh(day.config(), now=NOW, everything=True)

    generated_pages = [day.vault / "README.md", *day.vault.glob("days/*.md"), *day.vault.glob("journal/*/project.md")]
    assert len(generated_pages) > 4
    assert [page.name for page in generated_pages if "upload" in page.read_text("utf-8")] == []
    assert "Cache the exported" in generated_pages[0].read_text("utf-8")


@pytest.mark.parametrize("line", [b"sync: false\n", b"private: true\n"])
def test_what_stays_on_this_machine_is_not_named_on_a_page(day: Day, line: bytes) -> None:
    page = pages(day)[0]
    page.write_bytes(page.read_bytes().replace(b"tags:", line + b"tags:", 1))
    decision = day.vault / "notes" / "utc.md"
    decision.write_bytes(decision.read_bytes().replace(b"pinned:", line + b"pinned:"))
    upkeep.refresh(day.config(), now=NOW, everything=True)
    for name in ("README.md", "days/2026-09-14.md", "journal/api/project.md", "journal/notes-app/project.md"):
        text = (day.vault / name).read_text("utf-8")
        assert "Add a retry" not in text
        assert "Times are UTC" not in text


def test_a_note_whose_name_holds_a_secret_is_not_named_on_a_page(day: Day) -> None:
    decision = day.vault / "notes" / "utc.md"
    decision.rename(decision.with_name("token=abcd1234zzzz.md"))
    upkeep.refresh(day.config(), now=NOW, everything=True)
    assert not [path for path in day.vault.rglob("*.md") if "abcd1234zzzz" in path.read_text("utf-8")]


def test_the_words_of_a_person_around_the_markers_stay(day: Day) -> None:
    path = day.vault / "README.md"
    path.write_text(path.read_text("utf-8").replace("# A memory vault", "# Ada's") + "\nMy own words.\n")
    upkeep.refresh(day.config(), now=NOW, everything=True)
    text = path.read_text("utf-8")
    assert text.startswith("# Ada's\n")
    assert text.endswith(f"{generated.END}\n\nMy own words.\n")


def test_links_to_other_sessions_and_titles_of_runs_are_not_indexed(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    path = pages(day)[1]
    text = generated.unmarked(note.parse(path.read_bytes()).body)
    assert "next:" not in text
    assert "<details>" not in text
    assert "001-002" not in text
    assert "[answer](" in text
    found = next(entry for entry in disk.walk(str(day.vault)) if entry.path.endswith(path.name))
    words = document.build(str(day.vault), found, path.read_bytes(), mtime_ns=0).words["body"]
    assert "detail" not in words
    project = next(entry for entry in disk.walk(str(day.vault)) if entry.path.endswith("notes-app/project.md"))
    data = (day.vault / project.path).read_bytes()
    assert b"date parser" in data
    assert "parser" not in document.build(str(day.vault), project, data, mtime_ns=0).words["body"]


def test_a_persons_words_above_what_a_page_lists_stay_a_paragraph_of_their_own() -> None:
    text = f"Lunch with the auditors.\n{generated.BEGIN}\n[Start](../README.md)\n{generated.END}\n"
    assert generated.unmarked(text) == "Lunch with the auditors.\n\n[Start](../README.md)\n\n"


def test_two_machines_pages_merge_without_a_conflict(day: Day) -> None:
    repo = repository.open_vault(str(start(day.vault).vault))
    base = template.load("vault/README.md").encode()
    ours = generated.replaced(base, ["", "- ours", ""])
    theirs = generated.replaced(base, ["", "- theirs", ""]).replace(b"# A memory vault", b"# Our memory")
    merged = both.merge_note(repo, "README.md", ours, base, theirs)
    assert merged is not None
    assert not merged.kept
    assert merged.data == ours.replace(b"# A memory vault", b"# Our memory")


def test_pages_are_committed_by_themselves(day: Day) -> None:
    start(day.vault)
    settings = day.config()
    commit.commit(settings)
    upkeep.refresh(settings, now=NOW, everything=True)
    done = commit.commit(settings)
    assert [made.subject for made in done.commits] == ["Pages: start page, 2 projects, 3 days, 3 sessions"]
    assert [made.session for made in done.commits] == [""]
    assert git(day.vault, "status", "--short") == ""


def test_pages_are_looked_at_again_only_when_something_they_are_made_of_has_changed(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[float] = []
    make = making.make

    def counted(*given: Any, **named: Any) -> tuple[list[str], Set[str]]:
        looked.append(given[2])
        return make(*given, **named)

    def is_quiet() -> bool:
        before = len(looked)
        return [upkeep.refresh(day.config(), now=NOW + 1) for _ in range(2)] == [[], []] and len(looked) == before

    def wait_for_quiet() -> None:
        end = time.monotonic() + 240
        while not is_quiet():  # what was just written is indexed a second time
            assert time.monotonic() < end

    monkeypatch.setattr(making, "make", counted)
    upkeep.refresh(day.config(), now=NOW, everything=True)
    wait_for_quiet()
    changes: list[Callable[[], object]] = [
        lambda: (day.vault / "notes" / "more.md").write_text("---\nkind: decision\n---\n\nDecided.\n"),
        lambda: (day.vault / "README.md").write_text("# mine\n"),
        lambda: (day.vault / "mdmem.toml").write_text("[privacy]\ntags = ['private', 'ours']\n"),
        lambda: next((day.vault / "days").glob("*.md")).unlink(),
    ]
    for change in changes:
        before = len(looked)
        change()
        upkeep.refresh(day.config(), now=NOW + 1)
        assert len(looked) == before + 1
        wait_for_quiet()


def test_a_full_disk_while_pages_are_made_does_not_cost_the_index(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(2):
        (day.vault / f"notes/new-{number}.md").write_text("# New\n")
        index.update(day.config())
    before = index_contents.load(day.config().index_dir)

    def full(*_: Any, **__: Any) -> bool:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
        patched.setattr(disk, "replace", full)
        upkeep.refresh(day.config(), now=NOW, everything=True)
    after = index_contents.load(day.config().index_dir)
    assert before is not None
    assert after is not None
    assert after.generation >= before.generation > 1
    assert upkeep.refresh(day.config(), now=NOW, everything=True)


def test_in_the_background_pages_wait_in_proportion_to_their_cost(day: Day) -> None:
    settings = day.config()
    upkeep.refresh(settings, now=NOW, everything=True)
    stamp = Path(settings.state_dir, "pages")
    stamp.write_text(re.sub(r"^\S+ \S+", f"{NOW} 2.0", stamp.read_text()))
    (day.vault / "notes" / "more.md").write_text("---\nkind: decision\n---\n\nDecided.\n")
    os.utime(day.vault / "notes" / "more.md", (NOW, NOW))
    assert upkeep.refresh(settings, now=NOW + 99, background=True) == []
    assert upkeep.refresh(settings, now=NOW + 99, may_wait=True) == []
    assert len(upkeep.refresh(settings, now=NOW + 101, background=True)) == 1


@pytest.mark.parametrize(
    ("what", "searched"),
    [
        ("journal/notes-app", False), ("journal/notes-app", True), ("notes/utc.md", False), ("notes/utc.md", True),
        ("001-*-response-*.md", False),
    ],
)  # fmt: skip
def test_a_commit_by_hand_does_not_leave_pages_that_lead_to_what_was_just_moved(
    day: Day, what: str, *, searched: bool
) -> None:
    """searched: another command has seen the move before."""
    day.run("init", str(day.vault))
    day.run("commit")
    stamp = Path(day.config().state_dir, "pages")
    stamp.write_text(re.sub(r"^\S+ \S+", "0 1000000000.0", stamp.read_text()))
    moved = day.vault / what if "/" in what else next(day.vault.rglob(what))
    moved.rename(moved.with_name(f"moved-{moved.name}"))
    if searched:
        day.run("list")

    day.run("commit")

    assert [found.severity for found in links_check.links(day.config(), CheckScope())] == ["fine"]


@pytest.mark.parametrize("searched", [False, True])
@pytest.mark.parametrize("kind", ["prompt", "response", "bash"])
def test_a_session_page_leads_to_a_note_that_was_renamed_since_pages_were_made(
    day: Day, kind: str, *, searched: bool
) -> None:
    """searched: another command has seen the new name before."""
    later = NOW + 86_400 * 1_000  # all files are older
    upkeep.refresh(day.config(), now=later, everything=True)
    renamed = next(day.vault.rglob(f"001-*-{kind}-*.md"))
    renamed = renamed.rename(renamed.with_name(f"{renamed.name[:8]}renamed-{renamed.name[8:]}"))
    if searched:
        day.run("list")

    upkeep.refresh(day.config(), now=later + 60)

    assert [found.severity for found in links_check.links(day.config(), CheckScope())] == ["fine"]
    assert f"({renamed.name})" in next(renamed.parent.glob(f"{renamed.parent.name}.md")).read_text("utf-8")


def test_a_broken_stamp_is_made_again(day: Day) -> None:
    settings = config.load(str(day.vault), day.env)
    upkeep.refresh(settings, now=NOW, everything=True)
    Path(settings.state_dir, "pages").write_text("x")
    assert upkeep.refresh(settings, now=NOW) == []
    assert Path(settings.state_dir, "pages").read_text().startswith(f"{NOW:.3f} ")


def test_a_link_to_a_session_that_was_renamed_is_found_and_made_again(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    folder = pages(day)[1].parent
    folder.rename(folder.with_name("renamed-3f0c6d1e"))
    found = list(links_check.links(day.config(), CheckScope()))
    assert len(found) > 1
    assert all("leads nowhere" in one.text for one in found)
    assert found[0].fix is not None
    found[0].fix()
    (now,) = links_check.links(day.config(), CheckScope())
    assert now.severity == "fine"


@pytest.mark.parametrize("kinds", [("response",), ("prompt",), ("prompt", "bash", "edit", "read", "grep", "response")])
def test_notes_that_a_person_deleted_are_listed_no_more_after_doctor(day: Day, kinds: tuple[str, ...]) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    page = pages(day)[0]
    kept = [path for path in page.parent.glob("0*-0*-*.md") if path.name.split("-")[2] not in kinds and path != page]
    for path in set(page.parent.glob("[0-9][0-9][0-9]-*.md")) - set(kept):
        path.unlink()
    for one in links_check.links(day.config(), CheckScope()):
        if one.fix is not None:
            one.fix()
    (now,) = links_check.links(day.config(), CheckScope())
    assert now.severity == "fine"
    assert ("## Prompts" in page.read_text("utf-8")) == any("-prompt-" in path.name for path in kept)


def test_a_project_whose_last_session_a_person_deleted_lists_it_no_more(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    project = day.vault / "journal" / "notes-app"
    for path in project.glob("????-??-??"):
        shutil.rmtree(path)
    upkeep.refresh(day.config(), now=NOW + 1)
    assert "## Sessions" not in (project / "project.md").read_text("utf-8")
    assert "## Decisions" in (project / "project.md").read_text("utf-8")
    assert [one.severity for one in links_check.links(day.config(), CheckScope())] == ["fine"]


def test_a_start_page_that_was_moved_is_a_persons_and_days_do_not_lead_to_it(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    (day.vault / "README.md").rename(day.vault / "notes" / "Start.md")
    upkeep.refresh(day.config(), now=NOW + 1, everything=True)
    broken = [one for one in links_check.links(day.config(), CheckScope()) if one.severity == "warning"]
    assert broken
    assert {(one.text.partition(":")[0], one.todo, one.fix) for one in broken} == {
        ("notes/Start.md", "`mdmem edit notes/Start.md`", None)
    }


# -- days ------------------------------------------------------------------------------------------


def day_pages(day: Day) -> list[Path]:
    return sorted(day.vault.glob("days/*.md"))


def test_a_days_page_lists_its_sessions_by_project_and_leads_to_the_days_beside_it(day: Day) -> None:
    (day.vault / "notes" / "utc.md").write_text("---\nkind: decision\ntitle: UTC\ncreated: 2026-09-15T07:00:00Z\n---\n")
    upkeep.refresh(day.config(), now=NOW, everything=True)
    first, second, third = day_pages(day)
    text = second.read_text("utf-8")
    assert second.stem in text.partition("# ")[2].partition("\n")[0]
    assert links(second)[:3] == [day.vault / "README.md", first, third]
    assert "## notes-app" in text
    assert "Cache the exported" in text
    assert "## Written down\n\n- [UTC](../notes/utc.md)" in text
    assert f"[{third.stem}](days/{third.name}): 1 session" in (day.vault / "README.md").read_text("utf-8")


@pytest.mark.usefixtures("pages_at_once")
@pytest.mark.slow
def test_pages_of_days_go_by_year_once_there_are_many_and_all_links_lead_to_them(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(day.vault)
    monkeypatch.setattr(layout, "MANY", 1)
    upkeep.refresh(day.config(), now=NOW, everything=True)
    (first,), (second, third) = day_pages(day), sorted(day.vault.glob("days/2026/*.md"))
    assert links(second)[:3] == [day.vault / "README.md", first, third]
    assert {second, third} <= {path for page in [*pages(day), day.vault / "README.md"] for path in links(page)}
    before = {path: path.read_bytes() for path in day.vault.rglob("*.md")}
    assert not [path for page in before for path in links(page) if not path.exists()]
    monkeypatch.setattr(layout, "MANY", 450)
    upkeep.refresh(day.config(), now=NOW, everything=True)
    assert {path: path.read_bytes() for path in day.vault.rglob("*.md")} == before, "a page stays where it is"
    day.run("forget", day.id("Cache the exported pages"), "--yes")
    assert "Cache the exported" not in second.read_text("utf-8")


def test_a_persons_words_on_a_days_page_stay_and_are_found(day: Day) -> None:
    upkeep.refresh(day.config(), now=NOW, everything=True)
    page = day_pages(day)[0]
    page.write_text(page.read_text("utf-8") + "\nLunch with the auditors.\n")
    upkeep.refresh(day.config(), now=NOW, everything=True)
    assert page.read_text("utf-8").endswith("Lunch with the auditors.\n")
    found = day.run("search", "auditors", "--json").stdout
    assert f"days/{page.name}" in found
    assert "days/" not in day.run("search", "date parser", "--limit", "0", "--json").stdout
    assert "days/" not in day.run("list", "--limit", "0", "--json").stdout


def test_a_days_page_that_was_deleted_is_not_made_again_by_other_days(day: Day) -> None:
    settings, later = day.config(), time.time() + 3600
    upkeep.refresh(settings, now=later, everything=True)
    for path in day.vault.rglob("*.md"):
        os.utime(path, (later - 7200, later - 7200))  # what is written in this moment counts as new for a while
    old = day_pages(day)[0]
    old.unlink()
    event = Event(
        agent="claude-code", name="UserPromptSubmit", session="new-session", cwd=str(day.vault.parent / "notes-app"),
        prompt_id="p", prompt="Something new",
    )  # fmt: skip
    day.store(event, NOW)
    os.utime(next(day.vault.rglob("*something-new*/001-*.md")), (later, later))
    upkeep.refresh(settings, now=later + 10)
    assert len(day_pages(day)) == 3
    assert not old.exists()


def settled(day: Day, *, now: float) -> None:
    """Make the pages, as if nothing had been written for an hour."""
    upkeep.refresh(day.config(), now=now, everything=True)
    for path in day.vault.rglob("*.md"):
        os.utime(path, (now - 3600, now - 3600))


def test_a_days_page_that_was_deleted_stays_so_until_its_day_has_a_new_note(day: Day) -> None:
    now = max(time.time(), NOW) + 7200
    settled(day, now=now)
    old, *rest = day_pages(day)
    old.write_text(old.read_text("utf-8") + "\nLunch with the auditors.\n")
    old.unlink()
    assert upkeep.refresh(day.config(), now=now + 10, everything=True)
    assert day_pages(day) == rest
    linking = [*day.vault.rglob("*.md")]
    assert not [path for path in linking if old.resolve() in links(path)]
    (day.vault / "notes" / "late.md").write_text(f"---\nkind: decision\ncreated: {old.stem}T09:00:00Z\n---\n\nLate.\n")
    os.utime(day.vault / "notes" / "late.md", (now + 20, now + 20))
    upkeep.refresh(day.config(), now=now + 30)
    assert day_pages(day) == [old, *rest]
    assert "auditors" not in old.read_text("utf-8")


@pytest.mark.slow
def test_an_older_day_that_arrives_gets_its_page_at_once_also_when_files_have_coarse_times(day: Day) -> None:
    upkeep.refresh(day.config(), now=time.time() - 100, everything=True)
    for name in ("UserPromptSubmit", "Stop"):
        cwd = str(day.vault.parent / "api")
        event = Event(agent="claude-code", name=name, session="dddddddd-1", cwd=cwd, prompt="New", message="Done.")
        day.store(event, MORNING - 9 * 86_400)
    for path in day.vault.glob("journal/api/2026-09-05/*/*.md"):
        os.utime(path, (int(time.time()), int(time.time())))
    assert "days/2026-09-05.md" in upkeep.refresh(day.config(), now=time.time())


def test_a_machine_that_knows_nothing_asks_the_history_which_days_were_deleted(day: Day) -> None:
    settings = day.config()
    start(day.vault)
    upkeep.refresh(settings, now=NOW, everything=True)
    commit.commit(settings)
    old, *rest = day_pages(day)
    old.unlink()
    commit.commit(settings)
    Path(settings.state_dir, "pages").unlink()
    upkeep.refresh(settings, now=NOW, everything=True)
    assert day_pages(day) == rest


@pytest.mark.parametrize(("written", "stays"), [("", False), ("\nMine.\n", True)])
def test_a_days_page_deleted_there_goes_here_unless_somebody_wrote_on_it(day: Day, written: str, stays: bool) -> None:
    page = day.vault / "days" / "2026-09-14.md"
    page.parent.mkdir()
    start(day.vault)
    repo = repository.open_vault(str(day.vault))
    first = day_page.first(page.stem)
    page.write_bytes(first)
    base = committed(day.vault)
    page.unlink()
    theirs = committed(day.vault)
    git(day.vault, "checkout", "-q", base)
    page.write_bytes(generated.replaced(first, ["", "- more", ""]) + written.encode())
    ours = committed(day.vault)
    assert (join.join(repo, base, ours, theirs).deletes == ()) == stays


def committed(vault: Path) -> str:
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "x")
    return git(vault, "rev-parse", "HEAD").strip()


def test_days_of_two_machines_are_one_page(day: Day) -> None:
    repo = repository.open_vault(str(start(day.vault).vault))
    base = day_page.first("2026-09-14")
    ours, theirs = (generated.replaced(base, ["", f"- {who}", ""]) for who in ("ours", "theirs"))
    merged = both.merge_note(repo, "days/2026-09-14.md", ours + b"\nMine.\n", b"", theirs + b"\nYours.\n")
    assert merged is not None
    assert not merged.kept
    assert merged.data.startswith(ours)
    assert b"Mine." in merged.data
    assert b"Yours." in merged.data


@pytest.mark.slow
def test_a_days_page_that_two_machines_put_in_two_places_is_one_page_with_the_words_of_both(day: Day) -> None:
    start(day.vault)
    repo = repository.open_vault(str(day.vault))
    base, first = committed(day.vault), day_page.first("2026-09-14")
    oids = []
    for place, words in (("days/2026-09-14.md", b"\nMine.\n"), ("days/2026/2026-09-14.md", b"\nYours.\n")):
        git(day.vault, "checkout", "-q", base)
        (day.vault / place).parent.mkdir(parents=True, exist_ok=True)
        (day.vault / place).write_bytes(first + words)
        oids.append(committed(day.vault))

    merged = join.join(repo, base, *oids[::-1])

    assert (list(merged.puts), merged.deletes) == (["days/2026-09-14.md"], ("days/2026/2026-09-14.md",))
    assert b"Mine." in merged.puts["days/2026-09-14.md"]
    assert b"Yours." in merged.puts["days/2026-09-14.md"]


# -- what stays here, and what was renamed ---------------------------------------------------------


def make_private(day: Day, project: str) -> None:
    page = day.vault / "journal" / project / "project.md"
    page.write_bytes(page.read_bytes().replace(b"tags:", b"sync: false\ntags:", 1))


def test_the_page_of_a_project_that_stays_here_lists_its_sessions(day: Day) -> None:
    make_private(day, "notes-app")
    upkeep.refresh(day.config(), now=NOW, everything=True)
    text = (day.vault / "journal" / "notes-app" / "project.md").read_text("utf-8")
    assert "Cache the exported" in text
    assert "Times are UTC" in text
    assert "Times are UTC" not in (day.vault / "README.md").read_text("utf-8")
    assert "2026-09-15" not in (day.vault / "README.md").read_text("utf-8")
    assert "Cache the exported" not in (day.vault / "README.md").read_text("utf-8")
    assert "Cache the exported" not in "".join(path.read_text("utf-8") for path in day_pages(day))
    first, second = (path for path in pages(day) if "notes-app" in str(path))
    assert second in links(first)
    assert [link for path in (first, second) for link in links(path) if not link.is_file()] == []


def test_a_session_does_not_lead_to_one_that_stays_here(day: Day) -> None:
    first, second = (path for path in pages(day) if "notes-app" in str(path))
    second.write_bytes(second.read_bytes().replace(b"tags:", b"private: true\ntags:", 1))
    upkeep.refresh(day.config(), now=NOW, everything=True)
    assert second not in links(first)
    assert first in links(second)


def test_the_neighbors_of_a_session_that_was_renamed_lead_to_it_again(day: Day) -> None:
    settings = day.config()
    upkeep.refresh(settings, now=NOW, everything=True)
    first, second = (path for path in pages(day) if "notes-app" in str(path))
    folder = second.parent.rename(second.parent.with_name("0800-renamed-3f0c6d1e"))
    later = time.time() + 3600
    upkeep.refresh(settings, now=later)
    renamed = folder / second.name
    assert renamed in links(first) or folder / f"{folder.name}.md" in links(first)
    assert [link for link in links(first) if not link.is_file()] == []
    assert [found.severity for found in links_check.links(settings, CheckScope())] == ["fine"]


# -- reviews that wait -----------------------------------------------------------------------------


def waiting(day: Day) -> str:
    lines = (day.vault / "README.md").read_text("utf-8").split("\n")
    return next((line for line in lines if "`mdmem review`" in line), "")


@pytest.mark.slow
def test_the_start_page_says_how_many_sessions_and_notes_wait_for_a_review(day: Day) -> None:
    start(day.vault)
    settings = day.config()
    commit.commit(settings)
    upkeep.refresh(settings, now=NOW, everything=True)
    assert waiting(day) == "- 3 sessions: `mdmem review`"
    (day.vault / "notes/dated.md").write_text("---\ncreated: 2026-09-14T08:00:00Z\n---\n\nSaid so.\n")
    upkeep.refresh(settings, now=NOW, everything=True)
    assert waiting(day) == "- 3 sessions and 1 note: `mdmem review`"

    day.run("review", "--done")
    upkeep.refresh(settings, now=NOW, everything=True)
    assert waiting(day) == ""


@pytest.mark.parametrize("is_ours", [True, False])
def test_the_later_of_two_reviews_is_kept_when_both_machines_made_the_start_page_again(day: Day, is_ours: bool) -> None:
    repo = repository.init(day.vault)
    base = (day.vault / "README.md").read_bytes()
    earlier, later = (generated.review_mark(f"2026-09-{number}T12:00:00Z") for number in (14, 15))
    one = generated.replaced(base, ["", "## Projects", "", later, ""])
    other = generated.replaced(base, ["", "## Days", "", earlier, ""])
    ours, theirs = (one, other) if is_ours else (other, one)
    assert both.merge_note(repo, "README.md", ours, base, theirs) == both.Both(one)


@pytest.mark.slow
def test_pages_do_not_depend_on_when_a_machine_got_a_file(day: Day) -> None:
    settings = day.config()
    names = ["a", "b", "c"]
    for kind in ("decision", "task"):
        for name in names:
            text = f"---\nkind: {kind}\ntitle: {kind} {name}\nproject: notes-app\npinned: true\n---\n\nText.\n"
            (day.vault / f"notes/{kind}-{name}.md").write_text(text)
    made = []
    for order in (names, names[::-1]):
        for place, name in enumerate(order):
            for kind in ("decision", "task"):
                os.utime(day.vault / f"notes/{kind}-{name}.md", (NOW + place * 86_400,) * 2)
        upkeep.refresh(settings, now=NOW, everything=True)
        made.append([path.read_text("utf-8") for path in (day.vault / "README.md", *day.vault.rglob("project.md"))])
    assert "decision a" in made[0][0]
    assert "task a" in "".join(made[0])
    assert made[0] == made[1]


def test_pages_do_not_depend_on_the_time_zone_where_a_sessions_page_was_moved(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = pages(day)[0]
    moved.rename(day.vault / "notes" / moved.name)
    made = []
    for zone in ("Pacific/Kiritimati", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        upkeep.refresh(day.config(), now=NOW, everything=True)
        made.append([(path, path.read_bytes()) for path in sorted(day.vault.rglob("*.md"))])
    assert made[0] == made[1]


def test_a_review_on_another_machine_counts_by_what_its_page_says(day: Day) -> None:
    settings = day.config()
    page = day.vault / "README.md"
    said = "<!-- reviewed 2026-09-15T12:00:00Z -->"
    page.write_bytes(generated.replaced(page.read_bytes(), ["", said, ""]))
    upkeep.refresh(settings, now=NOW, everything=True)
    assert waiting(day).endswith("since 2026-09-15: `mdmem review`")
    assert said in page.read_text("utf-8")
    assert upkeep.refresh(settings, now=NOW, everything=True) == []


@pytest.mark.slow
def test_pages_that_take_long_to_make_lose_what_leads_to_a_forgotten_session_and_nothing_else(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(day.vault)
    upkeep.refresh(day.config(), now=NOW, everything=True)
    commit.commit(day.config())
    pages_of = {path: path.read_text("utf-8").splitlines() for path in day.vault.rglob("*.md")}
    gone = next(path for path in pages(day) if "why-does-the-date" in path.name)
    monkeypatch.setattr(upkeep, "QUICK_SECONDS", -1.0)
    monkeypatch.setattr(making, "make", None)  # would fail
    day.run("forget", gone.parent.name, "--yes")

    left = {path: path.read_text("utf-8").splitlines() for path in day.vault.rglob("*.md")}
    changed = {path.relative_to(day.vault).parts[0] for path, lines in left.items() if lines != pages_of[path]}
    assert changed == {"README.md", "days", "journal"}
    for path, lines in left.items():
        assert not [line for line in lines if gone.stem in line], path
        lost = [line for line in pages_of[path] if line not in lines]
        assert all(gone.stem in line for line in lost), path
    assert git(day.vault, "status", "--porcelain") == ""
    monkeypatch.undo()
    upkeep.refresh(day.config(), now=NOW + 10)
    assert upkeep.refresh(day.config(), now=NOW + 20, everything=True) == []


def pack(day: Day, folder: Path) -> None:
    """Archive a session."""
    place = folder.relative_to(day.vault).as_posix()
    archives.pack(day.config(), place, archives.read(str(day.vault), place))


def refresh_until_unchanged(day: Day) -> None:
    """Update the pages as a commit does; a page may name one that the same update writes."""
    for seconds in range(10, 60, 10):
        if not upkeep.refresh(day.config(), now=NOW + seconds):
            return
    raise AssertionError("pages change each time")


@pytest.mark.parametrize("is_renamed", [False, True])
def test_pages_lead_to_the_archive_of_a_session_and_back_to_its_page(day: Day, *, is_renamed: bool) -> None:
    first, second = (path for path in pages(day) if "notes-app" in str(path))
    if is_renamed:
        second = second.rename(second.with_name("0900-my-own-name.md"))
    refresh_until_unchanged(day)
    assert second in links(first)
    pack(day, second.parent)
    refresh_until_unchanged(day)
    archive = day.vault / layout.archive_of(second.parent.relative_to(day.vault).as_posix())
    assert archive in links(first)
    assert archive in links(day.vault / "days/2026-09-15.md")
    archives.unpack(day.config(), second.parent.relative_to(day.vault).as_posix())
    refresh_until_unchanged(day)
    assert second in links(first)
    assert second in links(day.vault / "days/2026-09-15.md")
    assert upkeep.refresh(day.config(), now=NOW + 90, everything=True) == []


def test_a_session_taken_out_of_its_archive_leads_to_one_renamed_meanwhile(day: Day) -> None:
    first, second = (path for path in pages(day) if "notes-app" in str(path))
    refresh_until_unchanged(day)
    pack(day, second.parent)
    folder = first.parent.rename(first.parent.with_name(f"0800-dates-{first.stem[-8:]}"))
    refresh_until_unchanged(day)
    archives.unpack(day.config(), second.parent.relative_to(day.vault).as_posix())
    refresh_until_unchanged(day)
    assert folder / first.name in links(second)
    assert upkeep.refresh(day.config(), now=NOW + 90, everything=True) == []


def test_pages_that_an_earlier_version_made_are_made_again(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    (page,) = (page for page in pages(day) if "why-does-the-date" in page.name)
    monkeypatch.setattr(listed, "__version__", "0.1")
    monkeypatch.setattr(session_page, "MAX_ERROR_CHARS", 4)
    refresh_until_unchanged(day)
    assert "(exit 1): 1 failed" not in page.read_text("utf-8")
    monkeypatch.undo()
    (day.vault / "notes" / "new.md").write_text("Something that changes the index.\n")
    refresh_until_unchanged(day)
    assert "(exit 1): 1 failed" in page.read_text("utf-8")
