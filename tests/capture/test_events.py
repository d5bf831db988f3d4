"""Events: what each of them leaves, and what it does not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frontmatter
import pytest

from mdmem import agents, config
from mdmem.capture import events
from mdmem.capture.session import Session
from mdmem.history.gate import CommitGate
from mdmem.inject.rendering import block
from mdmem.vault import layout, note
from tests.conftest import PAYLOADS, notes, session_pages
from tests.helpers import claude
from tests.helpers.claude import OTHER, SESSION, START, bash, capture, contents, payload, places, prompt, stop


def recorded(name: str, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PAYLOADS / "claude_code" / f"{name}.json").read_text("utf-8"))
    return found | fields


def only(vault: Path) -> frontmatter.Post:
    (path,) = notes(vault)
    return frontmatter.loads(path.read_text("utf-8"))


# -- slash commands --------------------------------------------------------------------------------


def test_a_slash_command_is_stored_as_its_name_and_arguments(vault: Path) -> None:
    capture(recorded("UserPromptExpansion-review-01"))
    found = only(vault)
    assert (found["kind"], found["command"], found["tags"]) == ("prompt", "/review", ["prompt", "command"])
    assert found["title"] == found.content == "/review src/dates.py --deep"


def test_a_command_that_is_expanded_and_submitted_is_one_prompt(vault: Path) -> None:
    expanded = recorded("UserPromptExpansion-review-01")
    for first, second in ((expanded, "UserPromptSubmit"), (expanded | {"session_id": OTHER}, "UserPromptSubmit")):
        for event in (first, first | {"hook_event_name": second}):
            capture({key: value for key, value in event.items() if "command_" not in key or event is first})
    assert places(notes(vault)) == ["001-000-prompt", "001-000-prompt"]


def test_a_command_of_a_server_keeps_its_name_even_where_it_would_pass_for_a_path(vault: Path) -> None:
    event = recorded("UserPromptExpansion-review-01", prompt="/docs.v2:find dates", command_name="docs.v2:find")
    capture(event | {"command_args": "dates", "expansion_type": "mcp_prompt"})
    assert only(vault)["command"] == "/docs.v2:find"


def test_private_arguments_of_a_command_are_stored_nowhere(vault: Path, home: Path) -> None:
    text = "<private>canary-argument</private> x"
    capture(recorded("UserPromptExpansion-review-01", prompt=f"/review {text}", command_args=text))
    assert "[PRIVATE]" in only(vault).content
    everything = [path.read_bytes() for path in (*vault.rglob("*"), *home.rglob("*")) if path.is_file()]
    assert not any(b"canary-argument" in data for data in everything)


def test_what_was_private_in_what_an_editor_put_before_a_prompt_is_known_again(vault: Path, home: Path) -> None:
    selection = "<ide_selection>x = <private>canary-walrus-42</private></ide_selection>"
    assert capture(prompt(f"{selection}\nWhat does the selection say?")).private == 1
    assert only(vault).content == "What does the selection say?"
    capture(stop("It says canary-walrus-42."))
    everything = [path.read_bytes() for path in (*vault.rglob("*"), *home.rglob("*")) if path.is_file()]
    assert not any(b"canary-walrus-42" in data for data in everything)


# -- turns that fail, sub-agents -------------------------------------------------------------------


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "text", "text": "Go on <private>"}, {"type": "text", "text": "falkenberg"}, "</private> please."],
        {"text": "Go on <private>\nfalkenberg\n</private> please."},
    ],
)
def test_what_is_typed_and_said_in_content_blocks_is_one_text(vault: Path, blocks: Any) -> None:
    capture(prompt("", prompt=blocks))
    capture(stop("", last_assistant_message=blocks))

    asked, answered = map(frontmatter.load, map(str, notes(vault)))
    assert asked.content.split() == answered.content.split() == ["Go", "on", "[PRIVATE]", "please."]


@pytest.mark.parametrize("session", ["../../x", "s" * 5000, "a8Kd93jLs0QpZx71", "rollout-2026-11-23T09-13-22-0199a2b3"])
def test_the_notes_of_a_session_with_any_id_can_be_committed(vault: Path, session: str) -> None:
    gate = CommitGate(config.load().settings)

    capture(prompt("Go on", session_id=session))

    paths = [path.relative_to(vault).as_posix() for path in [*notes(vault), *session_pages(vault)]]
    assert len(paths) == 2
    assert [gate.look(path, (vault / path).read_bytes()) for path in paths] == [None, None]


def test_a_turn_that_broke_off_says_why(vault: Path) -> None:
    capture(recorded("StopFailure-01"))
    found = only(vault)
    assert (found["kind"], found["success"], found["error"]) == ("response", False, "rate_limit")
    assert found["tags"] == ["response", "failed"]
    assert found.content == "API Error: Rate limit reached\n\n429 Too Many Requests"


def test_a_turn_that_broke_off_without_a_word_is_stored_under_its_reason(vault: Path) -> None:
    capture(payload("StopFailure", error="overloaded"))
    assert (only(vault).content, only(vault)["error"]) == ("overloaded", "overloaded")


def test_sub_agents_leave_nothing_unless_that_is_wanted(vault: Path) -> None:
    for name in ("SubagentStop-Explore-01", "SubagentStop-workflow-02", "PostToolUse-Read-07-subagent"):
        assert capture(recorded(name)).ignored == "sub-agent"
    assert notes(vault) == []


def test_what_sub_agents_do_and_answer_is_told_from_the_agents_own(vault: Path) -> None:
    on = {"capture__subagents": True}
    same = recorded("SubagentStop-Explore-01")
    number = same["prompt_id"]
    capture(prompt("find the calls", session_id=same["session_id"], prompt_id=number), **on)
    capture(recorded("PostToolUse-Read-07-subagent", session_id=same["session_id"], prompt_id=number), **on)
    capture(stop("There are three.", session_id=same["session_id"], prompt_id=number), **on)
    capture(same, **on)
    capture(same, **on)
    capture(same | {"agent_id": "another"}, **on)
    assert places(notes(vault)) == [
        "001-000-prompt", "001-001-read", "001-002-response", "001-003-subagent", "001-004-subagent",
    ]  # fmt: skip
    answers = [frontmatter.loads(path.read_text("utf-8")) for path in notes(vault)]
    assert [one.get("subagent") for one in answers] == [None, "Explore", None, "Explore", "Explore"]
    (page,) = session_pages(vault)
    assert "→ [answer](001-002-response-" in page.read_text("utf-8")


# -- what is not an event ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PreToolUse", "Setup", "", "FutureEvent", "stop"])
def test_an_unknown_event_leaves_nothing(vault: Path, name: str) -> None:
    assert capture(payload(name, prompt="x", tool_name="Bash")).ignored == "unknown event"
    assert list(vault.iterdir()) == [vault / "mdmem.toml"]


@pytest.mark.parametrize("source", ["startup", "<private>canary</private>", "x" * 500, "a\tb\nc", ""])
def test_why_a_session_began_and_ended_is_short_and_clean_in_state_and_on_its_page(
    vault: Path, home: Path, source: str
) -> None:
    capture(payload("SessionStart", source=source))
    capture(prompt("hello"))
    capture(payload("SessionEnd", reason=source), START + 60)
    assert notes(vault)
    for path in (*vault.rglob("*.md"), *home.rglob("*")):
        assert not path.is_file() or b"canary" not in path.read_bytes()
        assert not path.is_file() or b"x" * 100 not in path.read_bytes()


# -- private turns ---------------------------------------------------------------------------------


def test_nothing_of_a_private_turn_is_stored_until_the_next_prompt(vault: Path) -> None:
    capture(prompt("open"))
    capture(prompt("<private>all of it</private>", 2))
    assert capture(bash("secret output", "toolu_1", 2)).ignored == "private"
    assert capture(stop("secret answer", 2)).ignored == "private"
    capture(prompt("open again", 3))
    capture(bash("fine", "toolu_2", 3))
    assert places(notes(vault)) == ["001-000-prompt", "003-000-prompt", "003-001-bash"]


def delete_state(home: Path) -> None:
    subprocess.run(["rm", "-rf", str(home / ".local")], check=True)


def delete_runtime(home: Path) -> None:
    subprocess.run(["rm", "-rf", str(home / "run")], check=True)


@pytest.mark.parametrize("lose", [delete_state, delete_runtime])
@pytest.mark.parametrize("before", [True, False], ids=["after an open turn", "as the first turn"])
def test_a_private_turn_stays_private_when_state_is_lost(
    vault: Path, home: Path, lose: Callable[[Path], None], before: bool
) -> None:
    if before:
        capture(prompt("open"))
    capture(prompt("<private>all of it</private>", 2))
    lose(home)
    assert capture(bash("secret output", "toolu_1", 2)).ignored == "private"
    assert len(notes(vault)) == before


def test_an_open_turn_stays_open_when_state_is_lost(vault: Path, home: Path) -> None:
    capture(prompt("open"))
    delete_state(home)
    assert capture(bash("output")).stored


def test_a_hook_that_is_killed_while_it_judges_a_prompt_leaves_the_turn_private(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("mdmem.vault.note.new", die)
        capture(prompt("<private>all of it</private>"))
    assert capture(bash("secret output")).error == "unseen-prompt"
    assert capture(prompt("<b>open</b>", 2)).stored
    assert capture(bash("output", "toolu_2", 2)).stored


def test_where_no_mark_can_be_made_the_prompt_is_stored_all_the_same(vault: Path, home: Path) -> None:
    (home / ".local").write_text("a file")
    (home / "run").rmdir()
    (home / "run").write_text("a file")
    assert capture(prompt("with <b>brackets</b>")).stored


def test_a_session_that_ended_and_is_resumed_knows_its_private_turns(vault: Path) -> None:
    capture(prompt("<private>all of it</private> canary-word-in-the-open"))
    capture(prompt("<private>again</private>", 2))
    capture(payload("SessionEnd", reason="other"))
    capture(payload("SessionStart", source="resume"))
    assert capture(bash("secret output", "toolu_1", 2)).ignored == "private"


# -- memory does not remember itself ---------------------------------------------------------------


@pytest.mark.slow
def test_what_was_injected_is_not_stored_again(vault: Path) -> None:
    """What is remembered is given to the model, comes back in prompts and outputs, and leaves nothing new."""
    sizes = set()
    capture(prompt("Why does the parser fail on leap days?"))
    for turn_number in range(2, 52):
        items = [
            block.Item(
                id=path.stem[-10:], kind="prompt", title=path.stem, date="2026-09-14", text=contents([path])[0],
            )
            for path in notes(vault)[:3]
        ]  # fmt: skip
        given = block.render([block.Section("Earlier", items)], chars=6_000, bullet_chars=300)
        assert given is not None
        session = f"00000000-0000-4000-8000-{turn_number:012x}"
        capture(prompt(f"{given.text}\nGo on.", turn_number, session_id=session))
        capture(bash(f"cat notes\n{given.text}\nend", f"toolu_{turn_number}", turn_number, session_id=session))
        capture(stop(f"{given.text}\nDone.", turn_number, session_id=session))
        sizes.add(tuple(path.stat().st_size for path in sorted(vault.glob(f"journal/*/*/*{session[:8]}*/0*.md"))))
    texts = contents(notes(vault))
    assert len(texts) == 151
    assert not [text for text in texts if "mdmem-context" in text or "[mem:" in text]
    assert sum("leap days" in text for text in texts) == 1
    assert max(len(text) for text in texts) < 200


def test_mdmems_own_tools_leave_nothing(vault: Path) -> None:
    for tool in ("mcp__mdmem__search", "mcp__plugin_mdmem_mdmem__search", "TodoRead"):
        event = bash("x") | {"tool_name": tool}
        assert capture(event).ignored == "excluded tool"
    assert notes(vault) == []


# -- sessions of every kind ------------------------------------------------------------------------


def folder_names(vault: Path) -> list[str]:
    return sorted({path.parent.name for path in vault.glob("journal/*/*/*/*.md")})


def test_a_resumed_session_continues_in_its_folder_with_the_next_prompt(vault: Path, home: Path) -> None:
    capture(payload("SessionStart", source="startup"), START)
    capture(prompt("first"), START + 1)
    capture(payload("SessionEnd", reason="other"), START + 60)
    for lost in (False, True):
        if lost:
            delete_state(home)
        later = START + 3 * 86_400
        capture(payload("SessionStart", source="resume"), later)
        capture(prompt("second", 2), later + 1)
        capture(bash("out", "toolu_2", 2), later + 2)
    assert places(notes(vault)) == ["001-000-prompt", "002-000-prompt", "002-001-bash"]
    assert folder_names(vault) == ["0800-first-00893aaf"]


@pytest.mark.parametrize("days_since", [0, 1, 2])
def test_a_session_that_state_does_not_know_is_looked_for_in_the_last_days(
    vault: Path, home: Path, monkeypatch: pytest.MonkeyPatch, days_since: int
) -> None:
    capture(prompt("first"), START)
    for day in range(1, days_since + 1):
        capture(prompt("of another day", session_id=f"{day}{OTHER[1:]}"), START + day * 86_400)
    delete_state(home)
    monkeypatch.setattr(Session, "max_days", 2)
    read: list[str] = []
    folders = layout.folders

    def noted(path: str) -> list[str]:
        read.append(path)
        return folders(path)

    monkeypatch.setattr(layout, "folders", noted)

    capture(payload("SessionStart", source="resume"), START + 10 * 86_400)
    capture(prompt("second", 2), START + 10 * 86_400 + 1)

    goes_on = [path.name[:7] for path in notes(vault) if "0800-first-" in path.parent.name]
    assert goes_on == (["001-000", "002-000"] if days_since < 2 else ["001-000"])
    assert len({path for path in read if layout.is_day(path.rpartition("/")[2])}) <= 3, "two, and today's own"


def test_a_session_resumed_on_another_machine_and_back_numbers_on(vault: Path) -> None:
    for n in (1, 2):
        capture(prompt(f"prompt {n}", n))
    (folder,) = vault.glob("journal/*/*/*/")
    for name in (
        "003-000-prompt-elsewhere-aaaaaaaaaa.md",
        "003-007-bash-x-bbbbbbbbbb.md",
        "001-009-bash-y-cccccccccc.md",
    ):
        (folder / name).write_text(f"---\nid: {name[-13:-3]}\nkind: prompt\n---\n\nx\n")
    capture(payload("SessionStart", source="resume"))
    capture(bash("late", "toolu_1", 1))
    capture(bash("of the last prompt", "toolu_2", 99))
    capture(prompt("next", 4))
    assert [path.name[:7] for path in notes(vault)] == [
        "001-000", "001-009", "001-010", "002-000", "003-000", "003-007", "003-008", "004-000",
    ]  # fmt: skip


def test_clear_and_fork_make_new_sessions_and_compaction_does_not(vault: Path) -> None:
    capture(prompt("first"))
    capture(payload("SessionEnd", reason="clear"))
    capture(payload("SessionStart", source="clear", session_id=OTHER))
    capture(prompt("second", session_id=OTHER))
    third = "22222222-cccc-4ccc-8ccc-cccccccccccc"
    capture(payload("SessionStart", source="fork", session_id=third))
    capture(prompt("third", session_id=third))
    capture(
        payload(
            "PostCompact",
            trigger="auto",
            compact_summary="<analysis>x</analysis><summary>So far.</summary>",
            session_id=third,
        )
    )
    capture(payload("SessionStart", source="compact", session_id=third))
    capture(prompt("fourth", 2, session_id=third))
    assert [name.split("-", 1)[1] for name in folder_names(vault)] == [
        "first-00893aaf",
        "second-11111111",
        "third-22222222",
    ]
    assert contents(notes(vault)) == ["first", "second", "third", "So far.", "fourth"]


def test_a_session_across_midnight_stays_in_the_folder_of_its_first_day(vault: Path) -> None:
    late = START + 15 * 3600 + 3_590
    capture(payload("SessionStart", source="startup"), late)
    capture(prompt("before"), late + 5)
    capture(prompt("after", 2), late + 30)
    assert [path.parent.name for path in vault.glob("journal/*/*/*/")] == ["2026-09-14"]
    assert [str(frontmatter.loads(path.read_text())["created"])[8:10] for path in notes(vault)] == ["14", "15"]


@pytest.mark.parametrize("other", ["00893aaf-0000-4000-8000-000000000000", "00893aaf-1111-4111-8111-111111111111"])
def test_sessions_whose_ids_begin_alike_never_share_a_folder(vault: Path, home: Path, other: str) -> None:
    capture(bash("one"))
    capture(bash("two", "toolu_2", session_id=other))
    delete_state(home)
    capture(bash("three", "toolu_3", prompt_id=""))
    capture(bash("four", "toolu_4", prompt_id="", session_id=other))
    found = {str(frontmatter.loads(path.read_text())["session"]): path.parent.name for path in notes(vault)}
    assert len(set(found.values())) == 2
    assert [len(list(path.glob("00?-00?-*.md"))) for path in vault.glob("journal/*/*/*/")] == [2, 2]


def test_an_id_of_opencodes_stays_as_it_is(vault: Path) -> None:
    capture(prompt("first", session_id="ses_dfbbe6027ffenPNkNucmwYkUo1"))

    assert [frontmatter.loads(path.read_text())["session"] for path in notes(vault)] == [
        "ses_dfbbe6027ffenPNkNucmwYkUo1"
    ]


def test_an_id_that_the_gate_takes_for_a_secret_is_named_by_its_hash_everywhere(vault: Path, home: Path) -> None:
    name = "run_4f0c2a91be37d6XkQm2vTz8LpR"
    capture(prompt("first", session_id=name))
    delete_state(home)
    capture(prompt("second", 2, session_id=name))
    first, second = (frontmatter.loads(path.read_text())["session"] for path in notes(vault))
    assert first == second
    assert str(first) != name
    assert len(folder_names(vault)) == 1


# -- what their owner does meanwhile ---------------------------------------------------------------


@pytest.mark.parametrize("lost", [False, True], ids=["state kept", "state lost"])
def test_a_project_folder_that_its_owner_renamed_is_found_by_its_page(vault: Path, home: Path, lost: bool) -> None:
    capture(prompt("first"))
    (vault / "journal" / "notes-app").rename(vault / "journal" / "My notes")
    if lost:
        delete_state(home)
    capture(prompt("second", 2))
    capture(prompt("other session", session_id=OTHER))
    assert [path.name for path in vault.glob("journal/*")] == ["My notes"]
    assert len(notes(vault)) == 3
    assert len(folder_names(vault)) == 2


def test_a_page_may_name_its_project_in_capitals_where_the_host_does_not_care(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "app" / ".git" / "objects").mkdir(parents=True)
    (tmp_path / "app" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "app" / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:Acme/App.git\n')
    capture(prompt("one", cwd=str(tmp_path / "app")))
    (page,) = vault.glob("journal/acme-app/project.md")
    page.write_text(page.read_text().replace("github.com/acme/app", "github.com/Acme/App"))
    capture(prompt("two", session_id=OTHER, cwd=str(tmp_path / "app")))
    assert len(list(vault.glob("journal/*"))) == 1


def test_projects_are_joined_by_moving_an_identity(vault: Path) -> None:
    capture(prompt("one", cwd="/home/dev/work/old"))
    capture(prompt("two", cwd="/home/dev/work/new", session_id=OTHER))
    for name, identity in (("old", "[]"), ("new", '["path:/home/dev/work/new", "path:/home/dev/work/old"]')):
        page = vault / "journal" / name / "project.md"
        text = page.read_text()
        begin = text.index("identity: ")
        page.write_text(text[:begin] + f"identity: {identity}" + text[text.index("\n", begin) :])
    third = "22222222-cccc-4ccc-8ccc-cccccccccccc"
    capture(prompt("three", cwd="/home/dev/work/old", session_id=third))
    (path,) = vault.glob("journal/*/*/*-22222222/00?-00?-*.md")
    assert path.relative_to(vault).parts[1] == "new"


def test_a_project_page_that_is_gone_or_unreadable_is_no_fault(vault: Path) -> None:
    capture(prompt("first"))
    (vault / "journal" / "notes-app" / "project.md").unlink()
    (vault / "journal" / "other").mkdir()
    (vault / "journal" / "other" / "project.md").write_text("---\n[[[[\n---\n")
    capture(prompt("second", 2))
    capture(prompt("third", cwd="/home/dev/x/other", session_id=OTHER))
    assert (vault / "journal" / "notes-app" / "project.md").exists()
    assert len(notes(vault)) == 3


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("new", ["0800-better-words-00893aaf", "what I did on the parser"])
def test_a_session_folder_that_its_owner_renamed_is_found(vault: Path, new: str, lost: bool) -> None:
    capture(prompt("first"))
    (folder,) = vault.glob("journal/*/*/*/")
    folder.rename(folder.with_name(new))
    if lost:
        shutil.rmtree(config.load().state_dir)
    capture(prompt("second", 2))
    capture(bash("out", "toolu_2", 2))
    assert folder_names(vault) == [new]
    assert places(notes(vault)) == ["001-000-prompt", "002-000-prompt", "002-001-bash"]


def test_a_file_with_a_day_in_its_name_beside_the_notes_leaves_their_numbers(vault: Path) -> None:
    capture(prompt("first"))
    (page,) = session_pages(vault)
    page.rename(page.with_name("2026-09-14 My session.md"))
    capture(prompt("second", 2))
    assert "002-000-prompt" in places(notes(vault))


def test_a_session_folder_that_its_owner_deleted_comes_back_with_the_next_note_only(vault: Path) -> None:
    for n in (1, 2):
        capture(prompt(f"prompt {n}", n))
    (folder,) = vault.glob("journal/*/*/*/")
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    capture(prompt("prompt 2", 2))
    assert notes(vault) == []
    capture(prompt("prompt 3", 3))
    assert places(notes(vault)) == ["003-000-prompt"]
    assert session_pages(vault)


def test_a_note_that_its_owner_renamed_is_not_written_again(vault: Path) -> None:
    capture(prompt("first"))
    (path,) = notes(vault)
    path.rename(path.with_name("My first question.md"))
    capture(prompt("first"))
    assert [path.name for path in notes(vault)] == ["My first question.md"]


def test_a_note_whose_name_stands_in_an_edit_is_not_taken_for_it(vault: Path) -> None:
    """An agent that edits its own journal names notes in the facts that state keeps."""
    capture(prompt("first"))
    capture(bash("one"))
    name = notes(vault)[1].name
    edit = recorded("PostToolUse-Edit-01", session_id=claude.SESSION, tool_use_id="toolu_9", prompt_id="prompt-1")
    edit["tool_input"]["file_path"] = edit["tool_response"]["filePath"] = str(notes(vault)[1])
    capture(edit)
    capture(bash("one"))
    capture(bash("two", "toolu_3"))
    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash", "001-002-edit", "001-003-bash"]
    assert notes(vault)[1].name == name


def test_deep_vaults_and_wide_letters_keep_paths_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for depth in (0, 60, 120, 400):
        vault = tmp_path / f"{depth}" / Path(*["d" * 20] * (depth // 20)) / "v"
        vault.mkdir(parents=True)
        (vault / "mdmem.toml").touch()
        monkeypatch.setenv("MDMEM_VAULT", str(vault))
        cwd = f"/home/dev/{'長い名前' * 12}"
        capture(prompt("とても長い題名の質問です " * 20, cwd=cwd))
        capture(bash("x", cwd=cwd) | {"tool_name": "mcp__サーバー" + "ツール" * 20, "tool_input": {"名": "値" * 200}})
        assert len(notes(vault)) == 2
        for path in notes(vault):
            assert len(path.relative_to(vault).as_posix()) < 160
            assert len(os.fsencode(path.name)) <= 140


# -- one event, one note ---------------------------------------------------------------------------


def test_the_same_words_typed_at_another_time_are_another_prompt(vault: Path) -> None:
    event = payload("UserPromptSubmit", prompt="yes")
    for now in (0, 1, 60, 61, 200):
        capture(event, START + now)
    assert places(notes(vault)) == ["001-000-prompt", "002-000-prompt", "003-000-prompt"]


def test_runs_without_ids_are_told_by_what_they_say(vault: Path) -> None:
    for now, text in ((0, "a"), (1, "a"), (2, "b"), (60, "a")):
        event = bash(text)
        del event["tool_use_id"]
        capture(event, START + now)
    assert places(notes(vault)) == ["000-001-bash", "000-002-bash", "000-003-bash"]


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Done! ✅\n\n### Summary\n- Dates are sorted as numbers.\n- Two tests.", "Dates are sorted as numbers."),
        ("Perfect! All 12 tests pass.\n\nMore.", "All 12 tests pass."),
        ("Done! ✅ Dates are sorted. See below.", "Dates are sorted. See below."),
        ("Done. Dates are sorted.", "Dates are sorted."),
        ("Yes. Dates are sorted.", "Yes. Dates are sorted."),
        ("Here's what I did:\n\n**Sorted dates** as numbers.", "Sorted dates as numbers."),
        ("Uploads are retried. Here's what changed:\n\n- a loop", "Uploads are retried."),
        ("All done!", "All done!"),
        ("Done! ✅ 🎉", "Done! ✅ 🎉"),
        ("Done. 🚀", "Done."),
        ("Done.\n```js\nsort(dates)\n```", "Done."),
        ("Here are three ways. Choose one:\n- sort", "sort"),
        ("\x1b[32mDates\x1b[0m are sorted.", "Dates are sorted."),
        ("\ufeff# Dates are sorted", "Dates are sorted"),
    ],
)
def test_the_title_of_an_answer_is_its_first_telling_line(vault: Path, answer: str, title: str) -> None:
    capture(prompt("Sort the dates"))
    capture(payload("Stop", last_assistant_message=answer))
    (stored,) = vault.rglob("*-response-*.md")
    assert frontmatter.loads(stored.read_text("utf-8"))["title"] == title


def test_a_prompt_with_the_line_ends_of_windows_is_not_taken_for_edited(vault: Path) -> None:
    capture(prompt("Sort the dates.\r\n\r\nThen test\rthem."))
    capture(payload("Stop", last_assistant_message="Sorted.\r\nTested."))
    for path in vault.rglob("*-*-*.md"):
        data = path.read_bytes()
        assert b"\r" not in data
        assert not note.is_edited(note.parse(data))


def test_a_prompt_can_have_several_answers(vault: Path) -> None:
    capture(prompt("go"))
    for text in ("half", "half", "whole"):
        capture(stop(text))
    assert contents(notes(vault)) == ["go", "half", "whole"]


@pytest.mark.parametrize("text", ["data " * 40_000, "日本語 " * 20_000, "é" * 70_000])
def test_what_is_gone_of_a_prompt_longer_than_the_limit_is_said_truly(vault: Path, text: str) -> None:
    capture(prompt(text))
    (path,) = notes(vault)
    (mark,) = (line for line in path.read_text("utf-8").split("\n") if line.endswith("left out …"))
    head, tail = frontmatter.load(str(path)).content.split(f"\n{mark}\n")
    assert (text.startswith(head), text.strip().endswith(tail)) == (True, True)
    assert int(mark.split()[1].replace(",", "")) == len(text.strip()) - len(head) - len(tail)


@pytest.mark.parametrize("count", [1, 4])
def test_late_events_go_to_their_own_prompt(vault: Path, count: int) -> None:
    capture(prompt("first"))
    capture(prompt("second", 2))
    for n in range(count):
        capture(bash("late", f"toolu_{n}", 1))
    capture(bash("now", "toolu_now", 2))
    assert places(notes(vault))[1 : 1 + count] == [f"001-{n + 1:03d}-bash" for n in range(count)]
    assert places(notes(vault))[-1] == "002-001-bash"


def test_more_than_a_thousand_runs_and_prompts_are_numbered_on(vault: Path, home: Path) -> None:
    capture(bash("a", "toolu_0"))
    (folder,) = vault.glob("journal/*/*/*/")
    for name in ("000-999-bash-x-aaaaaaaaaa.md", "000-1000-bash-x-bbbbbbbbbb.md", "999-000-prompt-x-cccccccccc.md",
                 "1000-000-prompt-x-dddddddddd.md", "1000-2026-bash-x-eeeeeeeeee.md"):  # fmt: skip
        (folder / name).write_text("---\nkind: observation\n---\n")
    delete_state(home)
    event = bash("b", "toolu_1")
    del event["prompt_id"]
    assert Path(capture(event).path).name.startswith("1000-2027-bash-")
    assert Path(capture(prompt("next", 5)).path).name.startswith("1001-000-prompt-")


def test_a_record_that_was_cut_or_garbled_costs_no_note(vault: Path) -> None:
    capture(prompt("first"))
    capture(bash("one"))
    settings = config.load()
    (record,) = [path for path in Path(settings.state_dir, "sessions").iterdir() if "." not in path.name]
    whole = record.read_bytes()
    damaged = (
        whole[:-40],
        whole[: len(whole) // 2],
        b"\0" * 500,
        b"folder\tjournal/../../x/y\n",
        whole + b"\n+\t00",
        whole + b"\nfolder\tjournal/notes-app/2026-09-14/0800-fi",
        whole + b"\nfolder\tjournal/notes-app\n",
        whole + b"\xff\xfe\n\t\n",
    )
    for n, data in enumerate(damaged):
        record.write_bytes(data)
        capture(bash("one"))
        outcome = capture(bash("more", f"toolu_x{n}"))
        assert outcome.stored
        assert outcome.path.startswith("journal/notes-app/2026-09-14/0800-first-00893aaf/001-")
    assert len(notes(vault)) == 10


def test_the_last_line_of_a_kind_is_found_as_the_record_grows_and_after_it_was_replaced(vault: Path) -> None:
    session = Session(config.load(), SESSION)
    found = []
    for name in ("001-000-prompt-a.md", "001-001-bash-b.md", "002-000-prompt-c.md"):
        session.append("+", name)
        session.read()
        found.append((session.data[session.last(b"-000-") - 3 :][:3], list(session.names_with("-000-"))))
    assert session.last(b"\nfolder\t") == -1
    session.append("folder", "journal/notes-app/2026-09-14/0800-a-00893aaf")
    session.read()
    assert session.folder[-1] == "0800-a-00893aaf"
    record = Path(session.path)
    record.rename(record.with_name("aside"))
    record.write_bytes(b"\n+\t007-000-prompt-d.md\n")
    session.read()

    first, third = "001-000-prompt-a.md", "002-000-prompt-c.md"
    assert found == [(b"001", [first]), (b"001", [first]), (b"002", [third, first])]
    assert (list(session.names_with("-000-")), session.folder) == (["007-000-prompt-d.md"], ())


@pytest.mark.parametrize("notes_before", [0, 299])
def test_a_record_that_lost_whole_lines_numbers_no_two_notes_alike(vault: Path, home: Path, notes_before: int) -> None:
    """As after a power cut: the record is not synced with each note, and the notes are."""
    if notes_before:
        capture(prompt("first"))
        (folder,) = vault.glob("journal/*/*/*/")
        for number in range(1, notes_before):
            (folder / f"001-{number:03d}-bash-x-{number:010d}.md").write_text("---\nkind: observation\n---\n")
        delete_state(home)
    for number in (1, 2):
        capture(prompt(f"question {number}", number))
        capture(bash("one", f"toolu_{number}", number))
        capture(stop(f"answer {number}", number))
    (record,) = [path for path in Path(config.load().state_dir, "sessions").iterdir() if "." not in path.name]
    lines = record.read_bytes().split(b"\n\n")
    copy = vault.with_name("copy")
    shutil.copytree(vault, copy)
    for fewer in range(1, min(len(lines), 20)):
        shutil.rmtree(vault)
        shutil.copytree(copy, vault)
        before = len(notes(vault))
        record.write_bytes(b"\n\n".join(lines[:-fewer]) + b"\n")
        for event in (stop("answer 2", 2), bash("two", "toolu_3", 2), prompt("third", 3), bash("one", "toolu_4", 3)):
            capture(event)
        found = notes(vault)
        assert len(found) == before + 3, fewer
        assert len({path.name[:7] for path in found}) == len(found), fewer


def test_two_agents_with_one_session_and_one_prompt_id_lose_nothing(vault: Path) -> None:
    for name in ("claude-code", "codex", "gemini"):
        event = agents.Event(
            agent=name, name="UserPromptSubmit", session=SESSION, prompt_id="prompt-1", prompt=f"asked of {name}"
        )
        for _ in range(2):  # and each of them delivered twice is one note
            events.capture(config.load(), event, START, {})
        run = agents.Event(
            agent=name, name="PostToolUse", session=SESSION, prompt_id="prompt-1", tool="Bash", tool_use_id="toolu_1",
            tool_input={"command": f"echo {name}"}, tool_response={"stdout": name},
        )  # fmt: skip
        events.capture(config.load(), run, START, {})
    assert sorted(content for content in contents(notes(vault)) if "asked" in content) == [
        "asked of claude-code", "asked of codex", "asked of gemini",
    ]  # fmt: skip
    assert len(notes(vault)) == 6
