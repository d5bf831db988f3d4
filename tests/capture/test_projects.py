"""A project keeps its folder in the journal when its repository gets another remote."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from mdmem import config, project
from mdmem.agents import Event
from mdmem.capture import projects as capture_projects
from mdmem.health import checks
from mdmem.inject import context
from mdmem.search import engine, index
from mdmem.server import access, reading
from mdmem.vault import projects
from tests.helpers.claude import OTHER, START, capture, prompt, stop
from tests.helpers.plain_git import git

THIRD = "22222222-cccc-4ccc-8ccc-cccccccccccc"
OURS, THEIRS = "git@example.org:acme/uploader.git", "https://example.org/zenith/other.git"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return made(tmp_path / "code")


def made(place: Path, *, after: float = -100.0) -> Path:
    """Make a repository; after: how many seconds after the first event it began."""
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "a.py").write_text("x = 1\n")
    git(place, "add", "a.py")
    git(place, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Begin")
    os.utime(place / ".git" / "description", (START + after + 0.25, START + after + 0.25))
    return place


def ask(work: Path, session: str, now: float = START) -> None:
    capture(prompt("Why do uploads of big files time out?", session_id=session, cwd=str(work)), now)
    capture(stop("The proxy closes idle connections after 30 s.", session_id=session, cwd=str(work)), now + 9)


def folders(vault: Path) -> dict[str, int]:
    """Return the journal's folders with the number of prompts in each."""
    return {path.name: len(list(path.rglob("*-prompt-*.md"))) for path in sorted(vault.glob("journal/*"))}


@pytest.mark.parametrize("remotes", [[OURS], [OURS, THEIRS], [OURS, ""]])
def test_a_repository_keeps_its_notes_when_its_remote_is_added_changed_or_removed(
    vault: Path, work: Path, remotes: list[str]
) -> None:
    ask(work, "00000000-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
    for number, remote in enumerate(remotes):
        if number:
            git(work, "remote", "remove", "origin")
        if remote:
            git(work, "remote", "add", "origin", remote)
        ask(work, f"{number}1111111-bbbb-4bbb-8bbb-bbbbbbbbbbbb", START + 99 * (number + 1))
    assert folders(vault) == {"code": 1 + len(remotes)}


def test_its_page_then_names_both_so_that_a_clone_elsewhere_is_the_same_project(
    vault: Path, work: Path, tmp_path: Path
) -> None:
    ask(work, OTHER)
    git(work, "remote", "add", "origin", OURS)
    ask(work, THIRD, START + 99)
    elsewhere = made(tmp_path / "elsewhere")
    git(elsewhere, "remote", "add", "origin", OURS)
    ask(elsewhere, "33333333-dddd-4ddd-8ddd-dddddddddddd", START + 199)

    assert folders(vault) == {"code": 3}
    assert f"identity: [path:{work}, example.org/acme/uploader]\n" in (vault / "journal/code/project.md").read_text()


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_vault_that_an_editor_saved_with_crlf_goes_on_in_its_folders(vault: Path, work: Path, mark: str) -> None:
    ask(work, OTHER)
    for path in vault.rglob("journal/**/*.md"):
        path.write_bytes((mark + path.read_text().replace("\n", "\r\n")).encode())
    shutil.rmtree(config.load().state_dir)

    capture(prompt("And how often does it try again?", 2, session_id=OTHER, cwd=str(work)), START + 99)
    git(work, "remote", "add", "origin", OURS)
    ask(work, THIRD, START + 199)

    assert folders(vault) == {"code": 3}
    assert len(list(vault.glob("journal/code/*/*"))) == 2
    page = (vault / "journal/code/project.md").read_bytes().decode()
    assert f"identity: [path:{work}, example.org/acme/uploader]\r\n" in page


def test_a_project_is_found_again_without_reading_the_pages_of_all_others(
    vault: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(work, OTHER)
    for number in range(30):
        ask(made(work.parent / f"a{number}"), f"{number:08d}-aaaa-4aaa-8aaa-aaaaaaaaaaaa", START + 20 * number)
    page = vault / "journal/code/project.md"
    page.write_text(page.read_text() + "\nA word of mine.\n")
    read, opened = [], projects.front_matter_of

    def counted(settings: config.Config, name: str) -> dict[str, Any]:
        read.append(name)
        return opened(settings, name)

    monkeypatch.setattr(projects, "front_matter_of", counted)
    ask(work, THIRD, START + 999)

    assert folders(vault)["code"] == 2
    assert set(read) == {"code"}


def given(vault: Path, work: Path) -> tuple[bool, bool]:
    """Return whether an agent is given the notes of `ask` at the start of a session, and when asked about them."""
    settings, now = config.load(str(vault)), START + 9_999.0
    index.update(settings)
    event = Event(agent="claude-code", name="SessionStart", session="new", cwd=str(work), source="startup")
    at_start = context.at_start(settings, event, now, time.monotonic() + 3600)
    prompt = "What did we find out about the uploads of big files?"
    event = Event(agent="claude-code", name="UserPromptSubmit", session="new", cwd=str(work), prompt=prompt)
    asked = context.explain(settings, event, now, time.monotonic() + 3600).block
    first, second = ("The proxy closes idle" in (block.text if block else "") for block in (at_start, asked))
    return first, second


def test_what_was_done_before_is_given_to_agents_once_there_is_a_remote(vault: Path, work: Path) -> None:
    ask(work, OTHER)
    git(work, "remote", "add", "origin", OURS)
    assert given(vault, work) == (True, True)
    capture(prompt("Something else.", session_id=THIRD, cwd=str(work)), START + 99)
    (vault / "journal" / "code").rename(vault / "journal" / "renamed")
    assert given(vault, work) == (True, True)


def test_two_folders_of_code_with_the_same_name_are_given_nothing_of_each_other(vault: Path, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "a" / "backend", tmp_path / "b" / "backend"
    ours.mkdir(parents=True)
    theirs.mkdir(parents=True)
    ask(ours, OTHER)
    assert given(vault, ours) == (True, True)
    assert given(vault, theirs) == (False, False)
    capture(prompt("Something else.", session_id=THIRD, cwd=str(theirs)), START + 99)
    assert given(vault, theirs) == (False, False)


def test_a_folder_with_the_former_name_of_another_project_is_given_nothing_of_it(vault: Path, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "a" / "backend", tmp_path / "b" / "backend"
    ours.mkdir(parents=True)
    theirs.mkdir(parents=True)
    ask(ours, OTHER)
    (vault / "journal" / "backend").rename(vault / "journal" / "server")
    capture(prompt("Something else.", session_id=THIRD, cwd=str(theirs)), START + 99)
    assert folders(vault) == {"backend": 1, "server": 1}
    assert given(vault, ours) == (True, True)
    assert given(vault, theirs) == (False, False)


@pytest.mark.parametrize("root", ["2024", "[a, b]", "true"])
def test_a_page_whose_root_is_no_path_keeps_no_project_from_its_notes(vault: Path, tmp_path: Path, root: str) -> None:
    place = tmp_path / "backend"
    place.mkdir()
    ask(Path("/home/dev/work/backend"), OTHER)
    page = vault / "journal" / "backend" / "project.md"
    begin, _, end = page.read_text().partition("root: /home/dev/work/backend\n")
    page.write_text(f"{begin}root: {root}\n{end}")
    assert given(vault, place) == (True, True)


def test_a_folder_with_the_name_of_a_project_that_is_not_on_this_machine_may_be_a_copy_of_it(
    vault: Path, tmp_path: Path
) -> None:
    ask(Path("/home/dev/work/backend"), OTHER)
    copy = tmp_path / "backend"
    copy.mkdir()
    assert given(vault, copy) == (True, True)


def test_joined_projects_are_given_what_was_done_in_either(vault: Path, work: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "other")
    ask(work, OTHER)
    capture(prompt("Something else.", session_id=THIRD, cwd=str(other)), START + 99)
    assert given(vault, other) == (False, False)
    pages = [vault / "journal" / name / "project.md" for name in ("code", "other")]
    pages[0].write_text(pages[0].read_text().replace(f"[path:{work}]", "[]"))
    pages[1].write_text(pages[1].read_text().replace(f"[path:{other}]", f"[path:{other}, path:{work}]"))
    assert given(vault, other)[1]


def test_a_repository_without_a_remote_keeps_its_notes_when_it_is_moved(
    vault: Path, work: Path, tmp_path: Path
) -> None:
    ask(work, OTHER)
    moved = work.rename(tmp_path / "better-name")
    ask(moved, THIRD, START + 99)
    assert folders(vault) == {"code": 2}
    git(moved, "remote", "add", "origin", OURS)
    ask(moved, "33333333-dddd-4ddd-8ddd-dddddddddddd", START + 199)
    assert folders(vault) == {"code": 3}


def test_a_repository_that_was_renamed_together_with_its_remote_keeps_its_notes(
    vault: Path, work: Path, tmp_path: Path
) -> None:
    git(work, "remote", "add", "origin", OURS)
    ask(work, OTHER)
    copy = shutil.copytree(work, tmp_path / "copy")
    git(copy, "remote", "set-url", "origin", "git@example.org:acme/fork.git")
    ask(copy, "33333333-dddd-4ddd-8ddd-dddddddddddd", START + 99)
    assert folders(vault) == {"acme-fork": 1, "acme-uploader": 1}
    shutil.rmtree(copy)
    moved = work.rename(tmp_path / "better-name")
    git(moved, "remote", "set-url", "origin", THEIRS)
    ask(moved, THIRD, START + 199)
    assert folders(vault) == {"acme-fork": 1, "acme-uploader": 2}
    assert all(given(vault, moved))
    copy = shutil.copytree(moved, tmp_path / "another-copy")
    shutil.rmtree(moved)
    git(copy, "remote", "set-url", "origin", "git@example.org:acme/third.git")
    ask(copy, "44444444-dddd-4ddd-8ddd-dddddddddddd", START + 299)
    assert folders(vault) == {"acme-fork": 1, "acme-third": 1, "acme-uploader": 2}


def test_a_copy_of_a_repository_is_another_project(vault: Path, work: Path, tmp_path: Path) -> None:
    ask(work, OTHER)
    shutil.copytree(work, tmp_path / "copy")
    ask(tmp_path / "copy", THIRD, START + 99)
    assert folders(vault) == {"code": 1, "copy": 1}


def test_repositories_unpacked_with_the_same_time_are_told_apart(vault: Path, tmp_path: Path) -> None:
    places = [made(tmp_path / name) for name in ("one", "two")]
    for place in places:
        os.utime(place / ".git" / "description", (START - 100, START - 100))
    ask(places[0], OTHER)
    shutil.rmtree(places[0])
    ask(places[1], THIRD, START + 99)
    assert folders(vault) == {"one": 1, "two": 1}


def test_a_page_without_its_identities_is_not_that_of_a_repository_that_was_moved(
    vault: Path, work: Path, tmp_path: Path
) -> None:
    ask(work, OTHER)
    page = vault / "journal" / "code" / "project.md"
    page.write_text(page.read_text().replace(f"identity: [path:{work}]", "identity: []"))
    ask(work.rename(tmp_path / "moved"), THIRD, START + 99)
    assert folders(vault) == {"code": 1, "moved": 1}


@pytest.mark.parametrize("alias", ["git@github-work:acme/uploader.git", "gh:Acme/uploader"])
def test_an_alias_of_the_host_names_the_same_project(vault: Path, work: Path, tmp_path: Path, alias: str) -> None:
    other = made(tmp_path / "other")
    git(work, "remote", "add", "origin", OURS)
    git(other, "remote", "add", "origin", alias)
    ask(work, OTHER)
    ask(other, THIRD, START + 99)
    assert folders(vault) == {"acme-uploader": 2}


def test_the_same_path_on_two_hosts_is_two_projects(vault: Path, work: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "other")
    git(work, "remote", "add", "origin", OURS)
    git(other, "remote", "add", "origin", OURS.replace("example.org", "example.net"))
    ask(work, OTHER)
    ask(other, THIRD, START + 99)
    assert sorted(folders(vault).values()) == [1, 1]


def test_another_repository_in_the_same_place_is_another_project(vault: Path, work: Path, tmp_path: Path) -> None:
    git(work, "remote", "add", "origin", OURS)
    ask(work, OTHER)
    work.rename(tmp_path / "away")
    git(tmp_path, "clone", "-q", str(tmp_path / "away"), str(work))
    git(work, "remote", "set-url", "origin", THEIRS)
    os.utime(work / ".git" / "description", (START + 50, START + 50))
    ask(work, THIRD, START + 99)

    assert folders(vault) == {"acme-uploader": 1, "zenith-other": 1}


def test_a_clone_in_the_place_of_a_plain_folder_is_another_project(vault: Path, tmp_path: Path) -> None:
    place = tmp_path / "code"
    place.mkdir()
    ask(place, OTHER)
    place.rmdir()
    git(tmp_path, "clone", "-q", str(made(tmp_path / "theirs")), str(place))
    git(place, "remote", "set-url", "origin", THEIRS)
    os.utime(place / ".git" / "description", (START + 50, START + 50))
    ask(place, THIRD, START + 99)

    assert folders(vault) == {"code": 1, "zenith-other": 1}


def test_a_page_without_its_identities_gets_nothing_more(vault: Path, work: Path) -> None:
    ask(work, OTHER)
    page = vault / "journal" / "code" / "project.md"
    page.write_text(page.read_text().replace(f"identity: [path:{work}]", "identity: []"))
    git(work, "remote", "add", "origin", OURS)
    ask(work, THIRD, START + 99)

    assert folders(vault) == {"acme-uploader": 1, "code": 1}


def test_two_hooks_that_add_an_identity_at_once_add_it_once(vault: Path, work: Path) -> None:
    ask(work, OTHER)
    git(work, "remote", "add", "origin", OURS)
    settings, place = config.load(str(vault)), project.identify(str(work))
    for _ in range(2):  # both looked for it before either wrote
        assert capture_projects._known_otherwise(settings, place, str) == "code"
    assert (vault / "journal/code/project.md").read_text().count("example.org/acme/uploader") == 1


def test_a_note_that_names_its_project_in_a_list_is_of_that_project(vault: Path, tmp_path: Path) -> None:
    plan = vault / "notes" / "plan.md"
    plan.parent.mkdir(exist_ok=True)
    text = "# Uploads of big files\n\nThe proxy closes idle connections after 30 s.\n"
    plan.write_text(f"---\nproject: [Billing]\n---\n\n{text}")
    for name in ("billing", "shop"):
        (tmp_path / name).mkdir()
    assert given(vault, tmp_path / "billing")[1]
    assert not given(vault, tmp_path / "shop")[1]


def test_doctor_joins_two_projects_that_an_earlier_version_took_for_different_ones(
    vault: Path, work: Path, tmp_path: Path
) -> None:
    ask(work, OTHER)
    page = vault / "journal" / "code" / "project.md"
    page.rename(vault / "aside.md")
    git(work, "remote", "add", "origin", OURS)
    ask(work, THIRD, START + 99)
    (vault / "aside.md").rename(page)
    settings = config.load(str(vault))

    (found,) = checks.run(settings, only=("projects",))
    assert "code and acme-uploader are one project" in found.finding.text
    assert checks.fixed(found).done == "fixed"
    assert list(checks.run(settings, only=("projects",))) == []
    ask(work, "33333333-dddd-4ddd-8ddd-dddddddddddd", START + 199)
    assert folders(vault) == {"acme-uploader": 2, "code": 1}
    next((vault / "journal" / "acme-uploader").glob("20*")).rename(tmp_path / "away")
    assert given(vault, work)[1]


def test_a_search_finds_of_a_projects_page_its_name_and_what_a_person_wrote_but_not_its_template(
    vault: Path, work: Path
) -> None:
    ask(work, OTHER)
    page = vault / "journal" / "code" / "project.md"
    page.write_text(page.read_text() + "\nThe quokka server is rented.\n")
    settings = config.load(str(vault))

    def found(words: str) -> bool:
        return any(hit.kind == "project" for hit in engine.search(settings, words).hits)

    assert [found(words) for words in ("quokka", "code", "remembered beside")] == [True, True, False]


def test_an_agent_finds_over_mcp_what_its_private_project_had_before_it_was_renamed(
    vault: Path, work: Path, tmp_path: Path
) -> None:
    ask(work, OTHER)
    renamed = (vault / "journal" / "code").rename(vault / "journal" / "renamed")
    page = renamed / "project.md"
    page.write_text(page.read_text().replace("\nkind: project\n", "\nkind: project\nsync: false\n"))
    index.update(config.load(str(vault)))
    for place, is_found in ((work, True), (made(tmp_path / "other"), False)):
        at = access.on_stdio(str(vault), os.environ, str(place))
        assert ("proxy" in str(reading.search(at, "uploads proxy"))) == is_found
