"""Notes that wait on a branch of the code: seen there only, until they are released or dropped."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import agents, config, project
from mdmem.history import branches
from mdmem.history.git import repository
from mdmem.search import engine
from mdmem.search.staged import Place
from mdmem.transcripts.replay import Replay
from mdmem.vault import note
from tests.conftest import notes, own_settings, session_pages
from tests.helpers import code_repository
from tests.helpers.code_repository import git
from tests.helpers.history_vault import run_here
from tests.helpers.talk import Talk

Run = Callable[..., subprocess.CompletedProcess[str]]

DECIDED = "We decided that the parser asks the zeppelin module about leap years."
ASK = "What did we decide about the parser and leap years?"


@pytest.fixture
def mdmem() -> Run:
    return run_here


@pytest.fixture
def code(tmp_path: Path) -> Path:
    return code_repository.repository(tmp_path / "notes-app", commit=True)


@pytest.fixture
def staging(vault: Path) -> Path:
    """Make the vault one in which notes wait, with a history."""
    (vault / "mdmem.toml").write_text('[capture]\nbranches = "stage"\n')
    repository.init(vault)
    return vault


def talk(vault: Path, code: Path, number: int) -> Talk:
    made = Talk(vault, code, f"{number:08d}-0000-4000-8000-000000000000")
    made.now += 86_400 * number
    return made


def session_on(vault: Path, code: Path, branch: str, number: int, decided: str = DECIDED) -> Talk:
    """Store a session on a branch of the code, which is made when there is none."""
    made = talk(vault, code, number)
    switch(code, branch)
    made.start()
    made.says(f"How should the parser treat leap years on {branch}?")
    made.runs("pytest -q", "12 passed")
    made.answers(decided)
    return made


def switch(code: Path, branch: str) -> None:
    known = git(code, "branch", "--list", branch)
    git(code, "checkout", "-q", *([] if known else ["-b"]), branch)


def commit(code: Path, name: str) -> None:
    (code / name).write_text(name)
    git(code, "add", name)
    git(code, "commit", "-q", "-m", name)


def staged_in(vault: Path) -> dict[str, str]:
    """Return the file name and the branch of each note that waits."""
    found = {path.name: note.parse(path.read_bytes()).meta.get("staged") for path in vault.rglob("journal/**/*.md")}
    return {name: str(branch) for name, branch in found.items() if branch}


def cited(context: str) -> bool:
    return "zeppelin" in context


# -- what is stored ----------------------------------------------------------------------------------


def test_notes_on_another_branch_wait_there_and_notes_on_the_default_one_do_not(staging: Path, code: Path) -> None:
    session_on(staging, code, "main", 1)
    assert not staged_in(staging)
    session_on(staging, code, "feature/leap", 2)
    assert set(staged_in(staging).values()) == {"feature/leap"}
    assert len(staged_in(staging)) == 3, "prompt, tool run and answer; the page carries no mark"


def test_nothing_waits_unless_a_setting_says_so(vault: Path, code: Path) -> None:
    session_on(vault, code, "feature/leap", 1)
    assert len(notes(vault)) == 3
    assert not staged_in(vault)


def test_where_no_default_branch_is_known_nothing_waits(staging: Path, tmp_path: Path) -> None:
    code = code_repository.repository(tmp_path / "odd")
    git(code, "checkout", "-q", "-b", "trunk")
    commit(code, "a")
    session_on(staging, code, "feature", 1)
    talk(staging, tmp_path / "plain", 2).says("A folder without a repository")
    assert not staged_in(staging)


def test_a_detached_head_is_no_branch(staging: Path, code: Path) -> None:
    git(code, "checkout", "-q", "--detach")
    talk(staging, code, 1).says("Which commit broke the parser?")
    assert len(notes(staging)) == 1
    assert not staged_in(staging)


def test_what_is_imported_waits_only_on_branches_that_are_still_there(
    staging: Path, code: Path, tmp_path: Path
) -> None:
    switch(code, "alive")
    commit(code, "a")
    switch(code, "main")
    settings = config.load(str(staging))
    session = "0d4c7a1e-0000-4000-8000-000000000001"
    with Replay(settings, session, str(tmp_path / "scratch")) as replay:
        for number, branch in enumerate(("alive", "long-gone", "main")):
            payload = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": str(code)}
            payload |= {"prompt": f"Prompt {number} on {branch}", "prompt_id": f"p{number}"}
            event = agents.load("claude-code").read(payload, {})
            replay.capture(event, 1_789_372_800.0 + number, {}, branch=branch, commit="")
    assert list(staged_in(staging).values()) == ["alive"]


# -- what is seen ------------------------------------------------------------------------------------


def test_search_and_injection_see_them_from_their_branch_only(staging: Path, code: Path, mdmem: Run) -> None:
    session_on(staging, code, "feature/leap", 1)

    def seen(number: int) -> list[bool]:
        fresh = talk(staging, code, number)
        fresh.start()
        return [
            cited(fresh.inject("SessionStart", source="startup")),
            cited(talk(staging, code, number + 100).asks(ASK)),
            cited(mdmem("search", "zeppelin", cwd=code, check=True).stdout),
        ]

    assert seen(2) == [True, True, True]
    switch(code, "main")
    assert seen(3) == [False, False, False]
    assert mdmem("search", "parser", "leap", "years", cwd=code, check=True).stdout == ""
    switch(code, "feature/other")
    assert seen(4) == [False, False, False]


def test_a_search_for_the_branch_or_for_what_waits_shows_them_from_everywhere(
    staging: Path, code: Path, mdmem: Run, tmp_path: Path
) -> None:
    session_on(staging, code, "feature/leap", 1)
    for words in (["--branch", "feature/leap"], ["branch:feature/leap"], ["is:staged"], ["--is", "staged"]):
        assert cited(mdmem("search", "zeppelin", *words, cwd=tmp_path, check=True).stdout), words
    assert not cited(mdmem("search", "--", "zeppelin", "-is:staged", cwd=tmp_path, check=True).stdout)
    assert "001-002-response" in mdmem("list", "--json", cwd=tmp_path, check=True).stdout, "a list has everything"


@pytest.mark.slow
def test_the_same_branch_of_another_project_sees_nothing(staging: Path, code: Path, tmp_path: Path) -> None:
    session_on(staging, code, "feature", 1)
    other = code_repository.repository(tmp_path / "other", commit=True)
    (staging / "mdmem.toml").write_text('[capture]\nbranches = "stage"\n')
    own_settings("[inject]\nother_projects = true\n")
    switch(other, "feature")
    assert not cited(talk(staging, other, 2).asks(ASK))
    assert cited(talk(staging, code, 3).asks(ASK))


@pytest.mark.slow
def test_a_session_that_changed_the_branch_hides_its_page_and_shows_its_other_notes(
    staging: Path, code: Path, mdmem: Run
) -> None:
    mixed = session_on(staging, code, "main", 1, "On main we decided to keep the calendar.")
    switch(code, "feature")
    mixed.says("Try the zeppelin module on this branch")
    mixed.answers(DECIDED)
    switch(code, "main")
    found = json.loads(mdmem("search", "kind:prompt,response,session", "--json", cwd=code).stdout)
    assert {hit["kind"] for hit in found} == {"prompt", "response"}
    assert not any(cited(hit["snippet"] + hit["title"]) for hit in found)
    fresh = talk(staging, code, 2)
    fresh.start()
    assert not cited(fresh.inject("SessionStart", source="startup"))


def test_pinned_notes_and_notes_of_a_file_wait_too(staging: Path, code: Path) -> None:
    made = session_on(staging, code, "feature", 1)
    made.edits("dates.py")
    for path in notes(staging):
        text = path.read_text()
        path.write_text(text.replace("\ntags:", "\npinned: true\ntags:", 1))
    settings = config.load(str(staging))
    there = Place([project.identify(str(code)).name], "feature")
    for query in ("is:pinned", "file:dates.py"):
        assert engine.search(settings, query, engine.SearchOptions(here=there)).total, query
        assert not engine.search(settings, query).total, query
    path = next(path for path in notes(staging) if "prompt" in path.name)
    assert engine.related(settings, str(path), here=there).total
    assert not engine.related(settings, str(path)).total


@pytest.mark.slow
def test_the_watcher_answers_from_where_the_asker_is(staging: Path, code: Path, mdmem: Run) -> None:
    from tests.helpers.watching import running, status

    session_on(staging, code, "feature", 1)
    with running(staging):
        assert cited(mdmem("search", "zeppelin", cwd=code, check=True).stdout)
        assert cited(talk(staging, code, 2).asks(ASK))
        switch(code, "main")
        assert not cited(mdmem("search", "zeppelin", cwd=code, check=True).stdout)
        assert not cited(talk(staging, code, 3).asks(ASK))
        assert status(staging)["answered"] == 4


# -- what becomes of them ----------------------------------------------------------------------------


@pytest.mark.slow
def test_merging_releases_them_in_one_commit_and_touches_nothing_else(staging: Path, code: Path, mdmem: Run) -> None:
    session_on(staging, code, "feature/leap", 1)
    page = next(staging.rglob("001-002-response-*.md"))
    page.write_text(page.read_text().replace("tags:", "mine: kept  # by hand\ntags:", 1))
    before = page.read_text()
    switch(code, "main")
    mdmem("commit", check=True)
    (row,) = json.loads(mdmem("branch", "list", "--json", check=True).stdout)
    assert (row["project"], row["branch"], row["notes"]) == ("notes-app", "feature/leap", 3)

    done = json.loads(mdmem("branch", "merge", "feature/leap", "--json", check=True).stdout)

    assert (done["project"], done["branch"], len(done["changed"])) == ("notes-app", "feature/leap", 3)
    assert not staged_in(staging)
    assert page.read_text() == before.replace("staged: feature/leap\n", "")
    assert git(staging, "log", "-1", "--format=%s") == "Release 3 notes of the branch feature/leap"
    assert git(staging, "status", "--porcelain") == ""
    assert cited(mdmem("search", "zeppelin", cwd=code, check=True).stdout)
    assert not json.loads(mdmem("search", "is:edited", "zeppelin", "--json", cwd=code, check=True).stdout)
    assert mdmem("branch", "merge", "feature/leap").returncode == 5


def test_releasing_a_note_that_is_held_back_ends_with_1_as_json_too(staging: Path, code: Path, mdmem: Run) -> None:
    session_on(staging, code, "feature", 1)
    mdmem("commit", check=True)
    (answer,) = staging.rglob("001-002-response-*.md")
    answer.write_text(f"{answer.read_text()}\npassword=hunter2hunter2\n")

    done = mdmem("branch", "merge", "feature", "--json")

    assert answer.relative_to(staging).as_posix() in json.loads(done.stdout)["changed"]
    assert git(staging, "status", "--porcelain").endswith(answer.name)
    assert done.returncode == 1


@pytest.mark.slow
def test_dropping_asks_deletes_them_and_leaves_no_page_behind(staging: Path, code: Path, mdmem: Run) -> None:
    mixed = session_on(staging, code, "main", 1)
    switch(code, "feature")
    mixed.says("Something that shall be dropped")
    mixed.answers("It was done.")
    session_on(staging, code, "feature", 2)
    mdmem("commit", check=True)
    assert len(session_pages(staging)) == 2
    assert mdmem("branch", "drop", "feature", input="n\n").returncode != 0
    assert len(staged_in(staging)) == 5
    done = mdmem("branch", "drop", "feature", "--yes", check=True)

    assert "Deleted 5 notes of feature." in done.stdout
    assert len(notes(staging)) == 3
    (page,) = session_pages(staging)
    assert "shall be dropped" not in page.read_text()
    assert git(staging, "log", "-1", "--format=%s") == "Drop 5 notes of the branch feature"
    assert git(staging, "status", "--porcelain") == ""
    assert "shall-be-dropped" in git(staging, "show", "HEAD", "--format=", "--name-only", "--diff-filter=D")


@pytest.mark.slow
def test_branches_of_one_name_in_several_projects_are_told_apart(
    staging: Path, code: Path, tmp_path: Path, mdmem: Run
) -> None:
    other = code_repository.repository(tmp_path / "other", commit=True)
    session_on(staging, code, "fix", 1)
    session_on(staging, other, "fix", 2)
    done = mdmem("branch", "merge", "fix", cwd=tmp_path)
    assert done.returncode == 2
    assert "notes-app" in done.stderr
    assert "--project" in done.stderr
    mdmem("branch", "merge", "fix", cwd=other, check=True)
    assert len(staged_in(staging)) == 3
    mdmem("branch", "drop", "fix", "--project", "notes-app", "--yes", cwd=other, check=True)
    assert not staged_in(staging)


@pytest.mark.slow
def test_a_note_that_somebody_broke_is_left_alone_and_named(staging: Path, code: Path, mdmem: Run) -> None:
    session_on(staging, code, "feature", 1)
    broken, *_ = notes(staging)
    mdmem("index", check=True)
    broken.write_text("---\nstaged: feature\ntitle: [\n---\n\nx\n")
    done = mdmem("branch", "merge", "feature")
    assert "2 notes" in done.stdout
    assert "staged: feature" in broken.read_text()


@pytest.mark.slow
def test_a_merged_or_deleted_branch_is_offered_for_release(staging: Path, code: Path, mdmem: Run) -> None:
    session_on(staging, code, "feature", 1)
    mdmem("index", check=True)

    def state() -> str:
        (row,) = json.loads(mdmem("branch", "list", "--json", check=True).stdout)
        return str(row["state"])

    assert state() == "", "a branch without a commit of its own is not merged"
    assert "wait on" not in mdmem("status", check=True).stdout
    commit(code, "a")
    assert state() == ""
    switch(code, "main")
    git(code, "merge", "-q", "feature")
    assert state() == "merged"
    assert "`mdmem branch merge feature` releases them" in mdmem("branch", "list", check=True).stderr
    assert "wait on feature, which is merged" in mdmem("status", check=True).stdout
    git(code, "branch", "-q", "-d", "feature")
    assert state() == "gone"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["--no-ff", "--ff-only", "at the remote"])
def test_a_merge_is_seen_however_it_was_made(code: Path, tmp_path: Path, way: str) -> None:
    start = git(code, "rev-parse", "HEAD")[:8]
    switch(code, "feature")
    commit(code, "a")
    tip = git(code, "rev-parse", "HEAD")[:8]
    assert branches.fate(str(code), "feature", [tip]) == ""
    switch(code, "main")
    if way == "at the remote":
        git(code, "clone", "-q", "--bare", str(code), str(tmp_path / "remote"))
        git(code, "remote", "add", "origin", str(tmp_path / "remote"))
        git(code, "push", "-q", "origin", "feature:main")
        git(code, "fetch", "-q", "origin")
    else:
        git(code, "merge", "-q", way, "-m", "merge", "feature")
    assert branches.fate(str(code), "feature", [start, tip]) == "merged"
    if way == "--no-ff":
        assert branches.fate(str(code), "feature", [tip]) == "merged"
    assert branches.fate(str(tmp_path), "feature", [start]) == "", "no repository there"


@pytest.mark.slow
def test_a_hostile_branch_name_is_only_a_name(staging: Path, code: Path, mdmem: Run) -> None:
    name = "-x/$(touch${IFS}pwned);'\"<!--é"
    git(code, "update-ref", f"refs/heads/{name}", "HEAD")
    git(code, "symbolic-ref", "HEAD", f"refs/heads/{name}")
    made = talk(staging, code, 1)
    made.says("Hello from a strange branch")
    assert list(staged_in(staging).values()) == [name]
    assert json.loads(mdmem("branch", "list", "--json", check=True).stdout)[0]["branch"] == name
    assert "Hello" in mdmem("search", "strange", cwd=code, check=True).stdout
    mdmem("branch", "merge", "--", name, check=True)
    assert not staged_in(staging)
    assert not list(Path(os.path.dirname(code)).rglob("pwned"))
