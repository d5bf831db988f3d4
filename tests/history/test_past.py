"""Looking back: where a line came from, what memory said at another time, what has changed since."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mdmem.errors import AmbiguousError, NotFoundError, UsageError
from mdmem.history import commit, find, forget, past, why
from mdmem.history.git import repository
from mdmem.history.purging import purge
from mdmem.views import wording
from tests.helpers.history_vault import FOLDER, SESSION, captured, git, put, start, turn


def backdated(vault: Path, moment: str) -> None:
    """Change the date of the last commit."""
    os.environ["GIT_COMMITTER_DATE"] = moment
    try:
        git(vault, "commit", "-q", "--amend", "--no-edit", "--date", moment)
    finally:
        del os.environ["GIT_COMMITTER_DATE"]


def test_a_line_is_traced_to_session_prompt_tool_and_code_commit(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    more = {"tool": "Bash", "branch": "fix/dates", "commit": "1a2b3c4d", "prompt": "1"}
    path = captured(vault, "001-004-bash-run-q7gk2q9m4x", "observation", "pytest -q", **more)
    captured(vault, "001-000-prompt-why-p1", "prompt", "Why does it fail?", prompt="1")
    commit.commit(config)

    line = path.read_text().split("\n").index("pytest -q") + 1
    found = why.why(config, f"q7gk2q9m4x:{line}")

    assert (found.line, found.text) == (line, "pytest -q")
    assert (found.session, found.ask, found.tool) == (SESSION, "Why does it fail?", "Bash")
    assert (found.branch, found.code_commit) == ("fix/dates", "1a2b3c4d")
    assert found.line_commit is not None
    assert found.line_commit.session == SESSION
    assert [step.session for step in found.steps] == [SESSION]


def test_a_line_that_a_person_changed_is_theirs(vault: Path, home: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    path = next((vault / FOLDER).glob("001-003*"))
    path.write_text(path.read_text().replace("\nFixed; 12", "\nFixed: 12"))
    relative = path.relative_to(vault).as_posix()
    line = path.read_text().split("\n").index("Fixed: 12 tests pass") + 1

    assert why.why(config, f"{relative}:{line}").line_commit is None  # not committed yet
    commit.commit(config)
    found = why.why(config, f"{relative}:{line}")

    assert found.line_commit is not None
    assert (found.line_commit.author, found.line_commit.session) == ("Ada", "")
    assert [(step.author, step.session) for step in found.steps] == [("mdmem", SESSION), ("Ada", "")]


@pytest.mark.slow
def test_a_note_that_somebody_named_has_no_past_in_common_with_its_namesake(vault: Path) -> None:
    config = start(vault)
    for folder in ("one", "two"):
        put(vault, f"notes/{folder}/team-discussion.md", folder)
        commit.commit(config)
    assert len(why.why(config, "notes/two/team-discussion.md").steps) == 1


def test_a_line_or_note_that_is_not_there_is_told_so(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", "one\n")

    with pytest.raises(UsageError, match="no line 9"):
        why.why(config, "notes/a.md:9")
    with pytest.raises(NotFoundError, match="mdmem search"):
        why.why(config, "missing123")
    with pytest.raises(NotFoundError):
        why.why(config, "../../etc/passwd")


def test_a_note_is_found_by_path_absolute_path_and_id_wherever_it_was_moved(vault: Path) -> None:
    config = start(vault)
    path = captured(vault, "001-000-prompt-why-7gk2q9m4x1", "prompt", "t")
    put(vault, "notes/moved.md", "---\nid: abcdefgh12\n---\n\nx\n")

    assert find.path_of(config, str(path)) == path.relative_to(vault).as_posix()
    assert find.path_of(config, "7gk2q9m4x1") == path.relative_to(vault).as_posix()
    assert find.path_of(config, "notes/moved.md") == "notes/moved.md"
    assert find.path_of(config, "abcdefgh12") == "notes/moved.md"


def test_a_note_is_meant_by_the_beginning_of_its_id_where_no_other_begins_so(vault: Path) -> None:
    config = start(vault)
    captured(vault, "001-000-prompt-why-7gk2q9m4x1", "prompt", "t")
    put(vault, "notes/one.md", "---\nid: 7gk3aaaaaa\n---\n\nx\n")
    put(vault, "notes/whole.md", "---\nid: 7gk3\n---\n\nx\n")
    commit.commit(config)

    assert why.why(config, "mem:7gk2").path.endswith("-7gk2q9m4x1.md")
    assert find.path_of(config, "7gk3a") == "notes/one.md"
    assert find.path_of(config, "7gk3") == "notes/whole.md"
    with pytest.raises(AmbiguousError, match="3 notes match '7gk'"):
        find.path_of(config, "7gk")
    with pytest.raises(NotFoundError):
        find.path_of(config, "7g")


def test_a_note_is_purged_and_forgotten_by_the_beginning_of_its_id_and_no_other_goes(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/one.md", "---\nid: abcdefgh12\n---\n\nThe word abcde stays elsewhere.\n")
    put(vault, "notes/two.md", "See abcde, and [mem:abcdefgh12].\n")
    commit.commit(config)

    planned = purge.plan(config, "abcde", kind="id")
    assert (planned.drop, planned.pattern.pattern.count(b"abcdefgh12") > 1) == (("notes/one.md",), True)
    assert [target.path for target in forget.plan(config, ["mem:abcde"])] == ["notes/one.md"]
    put(vault, "notes/three.md", "---\nid: abcdezzzzz\n---\n\nx\n")
    with pytest.raises(AmbiguousError, match="2 notes match"):
        forget.plan(config, ["abcde"])
    with pytest.raises(AmbiguousError, match="2 notes match"):
        purge.plan(config, "abcde", kind="id")


def test_a_session_is_found_by_the_beginning_of_its_id_or_its_folder(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, session="0089ffff-0000", folder=FOLDER.replace("0800", "0900").replace("00893aaf", "0089ffff"))

    assert find.session_folders(config, SESSION) == [FOLDER]
    assert find.session_folders(config, "00893aaf") == [FOLDER]
    assert len(find.session_folders(config, "0089")) == 2
    assert find.session_folders(config, "008") == []
    assert find.session_folders(config, FOLDER.rpartition("/")[2]) == [FOLDER]


def test_a_note_is_shown_as_it_was_at_a_commit_or_a_date(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/plan.md", "---\nid: plan123456\n---\n\nfirst plan\n")
    commit.commit(config)
    backdated(vault, "2024-01-05T10:00:00Z")
    put(vault, "notes/plan.md", "---\nid: plan123456\n---\n\nsecond plan\n")
    commit.commit(config)
    backdated(vault, "2024-01-07T10:00:00Z")
    (vault / "notes/plan.md").unlink()
    commit.commit(config)

    assert b"first" in past.show(config, "notes/plan.md", "2024-01-05").data
    assert b"first" in past.show(config, "notes/plan.md", "2024-01-06").data
    assert b"second" in past.show(config, "notes/plan.md", "2024-01-07T11:00:00+00:00").data
    assert b"second" in past.show(config, "notes/plan.md", "HEAD~1").data
    with pytest.raises(NotFoundError, match="no note had"):
        past.show(config, "notes/plan.md", "HEAD")
    with pytest.raises(NotFoundError, match="no commit from before"):
        past.show(config, "notes/plan.md", "2023-12-31")
    for nonsense in ("whenever", "--all", "-1"):
        with pytest.raises(UsageError, match="not a commit, date or time"):
            past.show(config, "notes/plan.md", nonsense)


@pytest.mark.slow
def test_a_search_in_the_past_finds_what_was_deleted_since(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    put(vault, "notes/zebra.md", "---\nid: zebra12345\ntitle: On zebras\n---\n\nStripes.\nA zebra crossing failed.\n")
    put(vault, "notes/other.md", "it may fail\n")
    commit.commit(config)
    (vault / "notes/zebra.md").unlink()
    commit.commit(config)

    hits = past.search(config, "zebra fail", "HEAD~1", limit=3)

    assert hits[0].id == "zebra12345"
    assert hits[0].snippet == "A zebra crossing failed."
    assert len(hits) == 3
    assert all(hit.id != "zebra12345" for hit in past.search(config, "zebra fail", "HEAD"))
    assert [hit.kind for hit in past.search(config, "fail", "HEAD", kind="prompt")] == ["prompt"]
    assert past.search(config, "fail", "HEAD", project="nobody") == []


@pytest.mark.slow
def test_what_came_and_went_on_a_side_whose_changes_a_merge_does_not_show_is_known_as_deleted(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/plan.md", "Plan\n")
    commit.commit(config)
    git(vault, "checkout", "-q", "-b", "side")
    turn(vault)
    put(vault, "days/2026/2026-09-14.md", "A day\n")
    put(vault, "notes/zebras.md", "They have stripes.\n" * 9)
    commit.commit(config)
    git(vault, "mv", "notes/zebras.md", "notes/quaggas.md")
    git(vault, "commit", "-q", "-m", "Rename")
    git(vault, "rm", "-q", "-r", "notes/quaggas.md", "days", FOLDER)
    git(vault, "commit", "-q", "-m", "Tidy")
    tidied = git(vault, "rev-parse", "HEAD")[:8]
    git(vault, "checkout", "-q", "main")
    git(vault, "commit", "-q", "--allow-empty", "-m", "other")
    git(vault, "merge", "-q", "side", "-m", "merge")

    assert f"`mdmem undo {tidied}`" in find.deletion_of(config, "notes/quaggas.md")
    assert f"`mdmem undo {tidied}`" in forget.deleted_session(config, SESSION[:8])
    assert list(past.deletions(str(vault), "days/")) == ["days/2026/2026-09-14.md"]
    assert find.renamed(config, ["zebras.md"]) == {"notes/zebras.md": "notes/quaggas.md"}


@pytest.mark.slow
def test_a_difference_shows_then_against_now_with_files_git_has_not_seen(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/plan.md", "first\n")
    commit.commit(config)
    put(vault, "notes/plan.md", "second\n")
    commit.commit(config)
    put(vault, "notes/plan.md", "third\n")
    put(vault, "notes/new.md", "new\n")
    put(vault, "private.txt", "not ours\n")

    since_last, between, since_first = (
        "".join(f"{line.decode()}\n" for line in past.diff(config, span, paths=paths))
        for span, paths in (("", ()), ("HEAD~1..HEAD", ()), ("HEAD~1", ("notes/plan.md",)))
    )

    assert "-second\n+third\n" in since_last
    assert "third" not in git(vault, "cat-file", "--batch-all-objects", "--batch", "--buffer")
    assert "+new\n" in since_last
    assert "not ours" not in since_last
    assert "-first\n+second\n" in between
    assert "-first\n+third\n" in since_first
    assert git(vault, "status", "--porcelain") == " M notes/plan.md\n?? notes/new.md\n?? private.txt\n"


def test_dates_mean_their_end_and_short_forms_mean_so_long_ago() -> None:
    now = datetime(2026, 9, 14, 12, tzinfo=UTC)

    assert find.moment_of("3d", now) == now - timedelta(days=3)
    assert find.moment_of("2w", now) == now - timedelta(weeks=2)
    day = find.moment_of("2026-09-14", now)
    assert day is not None
    assert (day.hour, day.minute, day.second) == (23, 59, 59)
    assert find.moment_of("2026-09-14T10:30:00Z", now) == datetime(2026, 9, 14, 10, 30, tzinfo=UTC)
    assert find.moment_of("yesterday", now) == datetime(2026, 9, 13, 23, 59, 59, tzinfo=UTC)
    assert find.moment_of("last week", now) == datetime(2026, 9, 13, 23, 59, 59, tzinfo=UTC)
    assert find.moment_of("soon", now) is None


def test_every_time_that_the_error_suggests_is_one(vault: Path) -> None:
    repo = repository.open_vault(start(vault).vault)

    with pytest.raises(UsageError, match="not a commit, date or time") as refused:
        find.commit_of(repo, "soon")

    suggested = str(refused.value).partition("Examples: ")[2].rstrip(".").split(", ")
    assert len(suggested) == 4
    assert all(find.moment_of(one, datetime.now(UTC)) for one in suggested if "~" not in one)


def test_a_commit_is_meant_by_digits_that_could_be_a_date(vault: Path) -> None:
    repo = repository.open_vault(start(vault).vault)
    tag = git(vault, "commit-tree", "-m", "x", git(vault, "mktree").strip()).strip()
    git(vault, "update-ref", "refs/tags/20260914", tag)

    assert find.commit_of(repo, "20260914") == tag


def test_since_a_date_means_its_beginning() -> None:
    assert wording.begin_of("2026-09-14") == "2026-09-14T00:00:00Z"  # the tests' zone is UTC
    assert wording.begin_of("2026-09-14T10:30") == "2026-09-14T10:30:00Z"
    with pytest.raises(UsageError, match="as a time"):
        wording.begin_of("tomorrow")


def test_a_vault_without_commits_has_no_past(vault: Path) -> None:
    config = start(vault)
    repo = repository.open_vault(config.vault)

    with pytest.raises(NotFoundError, match="no commit from before"):
        find.commit_of(repo, time.strftime("%Y-%m-%d"))
