"""Never cold: an index that lacks much is finished beside the prompts, and the user hears of it once."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from mdmem import config
from mdmem.cli.group import cli
from mdmem.search import answering, index
from mdmem.search.index import completion
from tests.helpers.talk import Talk
from tests.helpers.waiting import until

QUESTION = "What did we decide about the date parser?"


def past(vault: Path, tmp_path: Path) -> Talk:
    talk = Talk(vault, tmp_path / "notes-app")
    talk.says("Why does the date parser fail?")
    talk.edits("dates.py")
    talk.answers("The date parser asks the calendar module now.")
    return talk


def test_what_a_prompt_has_no_time_for_another_process_indexes(vault: Path, tmp_path: Path) -> None:
    past(vault, tmp_path)
    settings = config.load(str(vault))

    answering.make_ready(settings, 0.0)

    until(lambda: not os.path.exists(os.path.join(settings.state_dir, "indexing")))
    view = index.current(settings)
    assert view is not None
    assert view.live == sum(1 for _ in vault.rglob("*.md"))


def test_the_user_is_told_once_while_it_works(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = config.load(str(vault))
    mark = Path(settings.state_dir, "indexing")
    assert completion.notice(settings) == ""

    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()

    assert "indexing the vault" in completion.notice(settings)
    assert completion.notice(settings) == ""
    monkeypatch.setattr(completion, "run", None)  # no second one is started
    assert completion.finish(settings), "one is at work already"


def test_nobody_is_said_to_finish_the_index_where_the_system_starts_no_process(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    past(vault, tmp_path)
    settings = config.load(str(vault))

    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with monkeypatch.context() as full:
        full.setattr(subprocess, "Popen", refused)
        assert not completion.finish(settings)
        assert not completion.run(settings)

    assert not completion.is_running(settings)


@pytest.mark.slow
def test_a_mark_that_a_killed_process_left_does_not_keep_the_index_incomplete(vault: Path, tmp_path: Path) -> None:
    past(vault, tmp_path)
    settings = config.load(str(vault))
    mark = Path(settings.state_dir, "indexing")
    mark.touch()
    os.utime(mark, (1, 1))

    assert completion.finish(settings)

    until(lambda: not mark.exists())
    assert index.current(settings) is not None


def test_a_note_that_was_changed_in_place_is_quoted_as_it_is_now(vault: Path, tmp_path: Path) -> None:
    talk = past(vault, tmp_path)
    index.update(config.load(str(vault)))
    (answer,) = vault.rglob("*-response-*.md")
    with answer.open("r+") as file:  # in place: no folder's time changes
        text = file.read().replace("asks the calendar module", "counts the days itself")
        file.seek(0)
        file.write(text)
        file.truncate()

    context = Talk(vault, talk.cwd, "00000001-0000-4000-8000-000000000000").asks(QUESTION)

    assert "counts the days itself" in context
    assert "calendar module" not in context


def test_init_in_a_vault_that_is_there_leaves_a_complete_index(vault: Path, tmp_path: Path) -> None:
    past(vault, tmp_path)

    result = CliRunner().invoke(cli, ["init", str(vault)])

    assert result.exit_code == 0
    view = index.current(config.load(str(vault)))
    assert view is not None
    assert view.live == sum(1 for _ in (vault / "journal").rglob("*.md"))
