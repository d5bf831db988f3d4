"""Writing: note, append, tag, pin, unpin, edit, open."""

from __future__ import annotations

import errno
import json
import os
import pty
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import frontmatter
import pytest

from mdmem.cli.terminal import editor
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.history.git import repository
from tests.conftest import session_pages
from tests.helpers import forked
from tests.helpers.cli_day import Day

Run = Callable[..., subprocess.CompletedProcess[str]]


def script(folder: Path, text: str) -> dict[str, str]:
    """Make an editor of a line of shell, `$1` being the file."""
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"VISUAL": shlex.quote(str(path))}


def test_a_note_is_written_and_found(day: Day) -> None:
    made = day.json("note", "Times are stored in UTC.", "--title", "Decision: UTC", "--tag", "decision", "--pin")
    found = frontmatter.load(str(day.vault / made["path"]))
    assert (found["title"], found["tags"], found["pinned"], found.content) == (
        "Decision: UTC", ["decision"], True, "Times are stored in UTC.",
    )  # fmt: skip
    assert day.json("search", "UTC decision")[0]["id"] == made["id"]
    assert [row["id"] for row in day.json("list", "--pinned")] == [made["id"]]


def test_a_note_whose_folder_cannot_be_synced_is_not_to_be_written_again(day: Day) -> None:
    code = f"""
import errno, os, stat, sys

def fsync(fd):
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        raise OSError({errno.ENOSPC}, os.strerror({errno.ENOSPC}))

os.fsync = fsync
from mdmem.__main__ import main
sys.argv[0] = "mdmem"
main()
"""
    words = ["-c", code, "note", "Times are stored in UTC.", "--title", "UTC"]
    env = {**os.environ, **day.env, "MDMEM_CAPTURE_DURABILITY": "power"}

    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=env, check=False)

    (stored,) = (day.vault / "notes").rglob("*utc*.md")
    assert done.returncode != 0
    assert f"{stored} is stored" in done.stderr
    assert "no need to run the command again" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("show",), ("show", "--path"), ("pin",), ("tag", "dates"), ("append", "Still true."), ("timeline",),
        ("related",), ("why",), ("forget", "-y"), ("open", "--print"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_note_that_was_moved_by_hand_is_found_by_its_id_at_once(
    day: Day, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    repository.init(day.vault)
    made = day.json("note", "Times are stored in UTC.", "--title", "UTC")
    day.run("search", "UTC")
    (day.vault / "notes" / "deep").mkdir()
    (day.vault / made["path"]).rename(day.vault / "notes" / "deep" / "moved.md")

    day.run(words[0], made["id"], *words[1:])

    assert day.json("list", "--kind", "note") == [] if words[0] == "forget" else day.run("show", made["id"]).stdout


def test_a_note_that_was_deleted_by_hand_is_said_not_to_exist(day: Day) -> None:
    made = day.json("note", "Times are stored in UTC.", "--title", "UTC")
    day.run("search", "UTC")
    (day.vault / made["path"]).unlink()

    done = day.attempt("show", made["id"])

    assert isinstance(done.exception, NotFoundError)
    assert f"No note has the id or path '{made['id']}'" in str(done.exception)


def test_a_note_comes_from_stdin_without_what_is_private(day: Day) -> None:
    done = day.run("note", "--json", stdin="The pager is loud. <private>Ada has it.</private>\n")
    assert "1 private section kept out" in done.stderr
    text = (day.vault / json.loads(done.stdout)["path"]).read_text()
    assert "The pager is loud. [PRIVATE]" in text
    assert "Ada" not in text


def test_an_unclosed_tag_is_named_when_a_note_is_written_or_extended(day: Day) -> None:
    done = day.run("note", "--json", "The pager is loud. <private>Ada has it.")
    assert "1 private section kept out" in done.stderr
    assert "A private tag is not closed: everything after it is kept out" in done.stderr
    path = json.loads(done.stdout)["path"]
    closed = day.run("append", path, "Quiet at night. <private>Eva has it.</private>")
    assert closed.stderr == "mdmem: 1 private section kept out of the note.\n"
    assert "A private tag is not closed" in day.run("append", path, "Loud again. <private>Max has it.").stderr
    assert day.run("append", path, "Quiet at last.").stderr == ""


def test_an_empty_or_wholly_private_note_is_refused(day: Day) -> None:
    for words in ("", "  \n", "<private>all of it</private>"):
        assert isinstance(day.attempt("note", "-", stdin=words).exception, UsageError), words
    assert list((day.vault / "notes").iterdir()) == []


def test_a_note_belongs_to_the_project_of_the_folder_it_is_written_in(
    made_day: Day, day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made_day.vault.parent / "api")
    assert day.json("note", "a")["project"] == "api"
    assert day.json("note", "b", "--project", "other")["project"] == "other"
    assert day.json("note", "c", "--project", "")["project"] == ""
    monkeypatch.chdir(tmp_path)
    assert day.json("note", "d")["project"] == ""


def test_a_note_is_meant_by_its_path_from_the_current_folder_of_the_vault(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    (day.vault / "notes" / "ideas").mkdir()
    (day.vault / "notes" / "ideas" / "big.md").write_text("A big idea.\n", encoding="utf-8")
    (day.vault / "notes" / "top.md").write_text("On top.\n", encoding="utf-8")
    monkeypatch.chdir(day.vault / "notes" / "ideas")

    for typed in ("./big.md", "big.md", "../ideas/big.md", "notes/ideas/big.md", "./notes/ideas/big"):
        assert "A big idea." in day.run("show", typed).stdout
    assert "On top." in day.run("show", "../top.md").stdout
    day.run("tag", "../top.md", "seen")
    assert "seen" in (day.vault / "notes" / "top.md").read_text("utf-8")
    assert isinstance(day.attempt("show", "../../../outside.md").exception, NotFoundError)


def test_a_note_belongs_to_the_project_that_is_meant_and_a_typo_is_told(made_day: Day, day: Day) -> None:
    assert day.json("note", "a", "--project", "API")["project"] == "api"
    assert day.json("note", "b", "--project", " Api!")["project"] == "api"
    done = day.attempt("note", "c", "--project", "aip")
    assert "The journal has no session of a project 'aip'. Did you mean api?" in done.stderr


def test_a_template_of_the_vault_shapes_its_notes(day: Day) -> None:
    (day.vault / "templates" / "notes").mkdir(parents=True)
    (day.vault / "templates" / "notes" / "note.md").write_text("## {{title}} ({{date}})\n\n{{body}}\n\n## Why\n")
    made = day.json("note", "Body.", "--title", "T", env={"MDMEM_NOW": "1789400000"})
    assert frontmatter.load(str(day.vault / made["path"])).content == "## T (2026-09-14)\n\nBody.\n\n## Why"


def test_a_note_written_in_the_editor_takes_its_title_from_the_heading(day: Day, tmp_path: Path) -> None:
    env = script(tmp_path, "sed -i '1s/$/The title/; 2s/^/The text./' \"$1\"")
    out = day.terminal("note", "--tag", "typed", env=env)
    path = out.split("] ")[1].split()[0]
    found = frontmatter.load(str(day.vault / path))
    assert (found["title"], found.content, found["tags"]) == ("The title", "The text.", ["typed"])


def test_an_editor_that_is_closed_without_a_word_keeps_nothing(day: Day, tmp_path: Path) -> None:
    out = day.terminal("note", "--title", "Only a title", env=script(tmp_path, "exit 0"), status=2)
    assert "nothing to store" in out
    assert list((day.vault / "notes").iterdir()) == []


def test_a_draft_is_private_and_gone_afterwards(day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert editor_text(day, tmp_path, monkeypatch, "printf 'Words' > \"$1\"") == "Words"


def editor_text(day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> str:
    """Run an editor on an empty draft; the draft must be private, and gone afterwards."""
    settings = day.config()
    with monkeypatch.context() as around:
        around.setenv("VISUAL", script(tmp_path, f'stat -c %a "$(dirname "$1")" > {tmp_path}/mode; {line}')["VISUAL"])
        text = editor.ask(settings, "")
    assert (tmp_path / "mode").read_text().strip() == "700"
    assert list(Path(settings.runtime_dir).iterdir()) == []
    return text


def test_an_editor_that_fails_keeps_nothing(day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MdmemError, match="status 3"):
        editor_text(day, tmp_path, monkeypatch, "exit 3")
    done = day.attempt("show", day.id("The parser took"), "--open", env={"VISUAL": "/does/not/exist"})
    assert "EDITOR" in str(done.exception)


def test_without_a_terminal_no_editor_is_started_that_would_wait_for_ever(day: Day, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    started = programs / "started"
    (programs / "vi").write_text(f"#!/bin/sh\n: > {started}\n")
    (programs / "vi").chmod(0o755)

    done = day.attempt(
        "show", day.id("The parser took"), "--open", env={"EDITOR": "", "VISUAL": "", "PATH": str(programs)}
    )

    assert "needs a terminal" in str(done.exception)
    assert not started.exists()


def test_append_adds_a_paragraph_to_what_somebody_wrote(day: Day) -> None:
    made = day.json("note", "First.", "--title", "T")
    day.run("append", made["id"], "Second.")
    day.run("append", f"mem:{made['id']}", stdin="Third.\n")
    assert frontmatter.load(str(day.vault / made["path"])).content == "First.\n\nSecond.\n\nThird."


def test_append_leaves_what_was_captured_alone(day: Day) -> None:
    path = day.path("The parser took")
    before = path.read_bytes()
    assert isinstance(day.attempt("append", day.id("The parser took"), "more").exception, UsageError)
    assert path.read_bytes() == before


def test_tags_are_put_on_taken_off_and_listed(day: Day) -> None:
    name, path = day.id("The parser took"), day.path("The parser took")
    body = path.read_bytes().partition(b"\n---\n")[2]
    assert day.run("tag", name, "dates,", "#leap year").stdout == "response dates leap-year\n"
    assert day.json("list", "--tag", "leap-year")[0]["id"] == name
    assert day.json("tag", name, "-r", "dates") == {
        "path": path.relative_to(day.vault).as_posix(), "tags": ["response", "leap-year"],
    }  # fmt: skip
    assert day.run("tag", name).stdout == "response leap-year\n"
    assert path.read_bytes().partition(b"\n---\n")[2] == body
    assert isinstance(day.attempt("tag", name, "--remove").exception, UsageError)


def test_a_tag_that_cannot_be_removed_because_the_note_has_none_is_named(day: Day) -> None:
    name = day.id("The parser took")
    done = day.run("tag", name, "--remove", "nope", "response")
    assert done.stderr == "The note has no tag nope.\n"
    assert "response" not in done.stdout


def test_pins_are_set_and_taken_off_again_to_the_byte(day: Day) -> None:
    name, path = day.id("The parser took"), day.path("The parser took")
    before = path.read_bytes()
    assert "Pinned journal/" in day.run("pin", name).stdout
    assert "already" in day.run("pin", name).stdout
    assert frontmatter.load(str(path))["pinned"] is True
    day.run("unpin", name)
    assert path.read_bytes() == before


def test_nothing_is_pinned_when_one_of_the_notes_is_not_there(day: Day) -> None:
    done = day.attempt("pin", day.id("The parser took"), "zzzzzzzzzz")
    assert isinstance(done.exception, NotFoundError)
    assert day.json("list", "--pinned") == []


def test_edit_says_when_the_front_matter_cannot_be_read_any_more(day: Day, tmp_path: Path) -> None:
    made = day.json("note", "x", "--title", "T")
    breaks = script(tmp_path, "sed -i 's/^title:.*/title: [/' \"$1\"")
    done = day.run("edit", made["id"], env=breaks)
    assert "line" in day.json("edit", made["path"], env={"EDITOR": "true"})["problem"]
    assert made["path"] in done.stderr
    assert "line" in done.stderr
    assert day.json("show", made["path"])["body"] == "x\n"


# -- open ------------------------------------------------------------------------------------------


def test_the_vault_opens_where_it_has_been_opened_before(day: Day) -> None:
    (day.vault / ".obsidian").mkdir()
    assert day.json("open")["command"][-1].startswith("obsidian://open?path=%2F")
    assert day.run("open", "--in", "code", "--print").stdout == f"code {day.vault}\n"


@pytest.mark.parametrize(
    ("program", "line"), [("xdg-open", ["xdg-open"]), ("gio", ["gio", "open"]), ("wslview", ["wslview"])]
)
def test_the_vault_opens_with_what_the_desktop_has(day: Day, tmp_path: Path, program: str, line: list[str]) -> None:
    (tmp_path / program).write_text("#!/bin/sh\nexit 4\n")
    (tmp_path / program).chmod(0o755)
    env = {"PATH": str(tmp_path)}

    assert day.json("open", "--in", "files", env=env)["command"] == [*line, str(day.vault)]
    assert day.json("open", "--in", "obsidian", env=env)["command"][:-1] == line
    said = str(day.attempt("open", "--in", "files", env=env).exception)
    assert said == f"{program} ended with status 4. `mdmem open --in editor` opens it in your editor."


def test_a_note_opens_in_the_editor(day: Day, tmp_path: Path) -> None:
    name = day.id("The parser took")
    env = script(tmp_path, f'echo "$1" > {tmp_path}/opened')
    day.run("open", name, "--in", "editor", env=env)
    assert (tmp_path / "opened").read_text().strip() == str(day.path("The parser took"))


def test_an_editor_may_have_arguments(day: Day) -> None:
    found = day.json("open", "--in", "editor", env={"VISUAL": "code --wait '/odd path'"})
    assert found["command"] == ["code", "--wait", "/odd path", str(day.vault)]


# -- in the editor ---------------------------------------------------------------------------------


def test_every_link_on_a_page_leads_to_a_file(made_day: Day) -> None:
    import re

    pages = session_pages(made_day.vault)
    links = [(page, target) for page in pages for target in re.findall(r"\]\(([^)]+)\)", page.read_text())]
    assert len(links) >= 6
    for page, target in links:
        assert (page.parent / target).is_file(), (page, target)


def test_properties_are_flat_and_tags_have_no_spaces(made_day: Day) -> None:
    for path in made_day.vault.rglob("*.md"):
        meta = frontmatter.load(str(path)).metadata
        assert all(not isinstance(value, dict) for value in meta.values()), path
        assert " " not in "".join(str(meta["tags"]).split(", ")), path
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_notes_are_written_by_a_process(day: Day, mdmem: Run) -> None:
    done = mdmem("note", "From a pipe.", "--tag", "pipe", env=day.env, check=True)
    assert done.stdout.startswith("[mem:")
    assert mdmem("note", "-", input="", env=day.env).returncode == 2


def test_a_note_without_an_id_of_its_own_is_forgotten_under_the_one_that_a_list_shows(day: Day) -> None:
    (day.vault / "notes" / "mine.md").write_text("# Mine\n\nBy hand.\n")
    name = day.id("Mine")
    done = day.attempt("forget", "notes/mine.md", stdin="n\n")
    assert done.stdout.splitlines()[0].split() == [name, "notes/mine.md"]


def test_a_note_that_an_agent_writes_on_the_command_line_names_it(day: Day) -> None:
    env = {**day.env, "CODEX_THREAD_ID": "7"}

    done = day.run("note", "--json", "The pager is loud.", env=env)

    assert day.json("show", json.loads(done.stdout)["id"])["agent"] == "codex"
    assert "agent" not in day.json("show", day.json("note", "The pager is quiet.")["id"])


@pytest.mark.parametrize("words", [("note",), ("append", "notes/mine.md")])
def test_without_a_text_it_is_said_where_to_give_one(day: Day, words: tuple[str, ...]) -> None:
    (day.vault / "notes" / "mine.md").write_text("# Mine\n")

    done = day.attempt(*words, stdin=" \n")

    assert str(done.exception) == "There is no text: give it after the command, or on stdin."


def test_a_command_that_waits_for_a_text_says_how_it_ends(day: Day) -> None:
    main, child = pty.openpty()
    process = forked.start(("privacy", "check"), [child] * 3, {**os.environ, **day.env})
    os.close(child)
    seen = os.read(main, 1000).decode()
    os.write(main, b"password=hunter2\n\x04")
    while "[REDACTED]" not in seen:
        seen += os.read(main, 1000).decode()
    process.wait()
    os.close(main)

    assert seen.startswith("Type or paste the text; Ctrl-D on a new line ends it.")


def test_a_title_in_the_place_of_an_id_gets_the_ids_of_the_notes_that_have_it(day: Day) -> None:
    made = [day.json("note", "Words.", "--title", "How we release", "--project", name)["id"] for name in ("api", "")]
    name = day.id("The parser took 29 February")
    title = day.json("show", name)["title"]

    both, one = day.attempt("show", "how we RELEASE"), day.attempt("edit", title)

    assert "Notes have this title: mem:" in str(both.exception)
    assert all(f"mem:{each}" in str(both.exception) for each in made)
    assert str(one.exception).endswith(f"A note has this title: mem:{name}.")


def test_where_repeated_notes_are_left_out_the_count_names_the_option_that_lists_them(day: Day) -> None:
    for number in range(4):
        head = f"kind: observation\ntitle: make zebra\nid: zebra0000{number}\ntool: Bash"
        body = f"---\n{head}\n---\n\nmake zebra: stripes\n"
        (day.vault / "notes" / f"{number}.md").write_text(body)

    folded, all_of_them = day.run("search", "zebra", "-n", "0"), day.run("search", "zebra", "-n", "0", "--all")
    shown = folded.stdout.count("[mem:")

    assert shown < 4 == all_of_them.stdout.count("[mem:")
    assert folded.stderr.endswith("of 4 results; --all also lists those that repeat others\n")
    assert all_of_them.stderr == "1–4 of 4 results\n"
    assert day.run("search", "zebra", "--offset", "2").stderr.startswith("None of 4 results; --all")
