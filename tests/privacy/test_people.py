"""What people wrote by hand leaves the vault only without its private sections and secrets, whatever asks for it."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem import privacy
from mdmem.errors import UsageError
from mdmem.hashing import short
from mdmem.history import commit
from mdmem.search import engine, index
from mdmem.vault import note, people, user_notes
from mdmem.views import exports
from tests.helpers import tree
from tests.helpers.claude import START, capture, payload
from tests.helpers.history_vault import git, head_files, put, start

Run = Callable[..., subprocess.CompletedProcess[str]]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    "text",
    [
        "# Plan\n\n[private] walrus launch at noon\n",
        "# Plan\n\na <private>walrus</private> launch\n",
        f"# Plan\n\nwalrus uses {SECRET}\n",
    ],
)
def test_a_hand_written_note_with_something_private_is_in_no_commit(vault: Path, text: str) -> None:
    settings = start(vault)
    put(vault, "notes/plan.md", text)

    (held,) = commit.commit(settings).held_back

    assert held.path == "notes/plan.md"
    assert "notes/plan.md" not in head_files(vault)


@pytest.mark.parametrize(
    "line",
    [
        "private: true", "private: yes", "private: on", "Private: True", "PRIVATE: YES", "private: y", "private: x",
        "private: ja", "tags: [private]", "tags: [home, Private]", "tags:\n  - private", "tags: '#private, home'",
        "title: a: b\ntags:\n- private", "tags: [private\ntitle: b",
    ],
)  # fmt: skip
def test_a_note_that_says_it_is_private_stays_on_this_machine(vault: Path, line: str, tmp_path: Path) -> None:
    settings = start(vault)
    put(vault, "notes/diary.md", f"---\n{line}\n---\n\nwalrus\n")
    put(vault, "notes/open.md", "seal\n")

    commit.commit(settings)
    exports.write(settings, tmp_path / "out.jsonl", "jsonl")

    assert "notes/diary.md" not in head_files(vault)
    assert "notes/open.md" in head_files(vault)
    assert "walrus" not in (tmp_path / "out.jsonl").read_text("utf-8")


def test_a_count_of_private_sections_makes_no_note_private() -> None:
    assert not people.keeps_private({"private": 2})
    assert not people.keeps_private({"private": 1})
    assert not people.keeps_private({"private": "no"})
    assert not people.keeps_private({"private": None})
    assert not people.keeps_private({"private": False, "tags": ["private-api", "not private"]})
    assert not people.keeps_private({})


@pytest.mark.parametrize(
    "data",
    [
        "<private>\nwalrus\n</private>\n".encode("utf-16"),
        "[private]walrus[/private]".encode("utf-16-be").join([b"\xfe\xff", b""]),
        "f\xfcr <private>walrus</private>".encode("latin-1"),
        f"f\xfcr {SECRET}".encode("latin-1"),
        f"key\t{SECRET}\r\n".encode("utf-16"),
        f"für\x01{SECRET}\x02".encode(),
        b"\x89PNG\r\n\x1a\n\0\0\0\rtEXtComment\0<private>walrus</private>\xff\0",
    ],
)
def test_a_file_beside_notes_with_something_private_is_in_no_commit_whatever_its_encoding(
    vault: Path, data: bytes
) -> None:
    settings = start(vault)
    put(vault, "notes/open.md", "seal\n")
    (vault / "notes" / "list.txt").write_bytes(data)

    (held,) = commit.commit(settings).held_back

    assert held.path == "notes/list.txt"
    assert "notes/list.txt" not in head_files(vault)


@pytest.mark.parametrize(
    "data",
    ["f\xfcr alle".encode("latin-1"), "fine\n".encode("utf-16"), b"\x89PNG\0 <private>\0", bytes(range(256)) * 9],
)
def test_a_file_beside_notes_without_anything_private_is_committed_whatever_its_encoding(
    vault: Path, data: bytes
) -> None:
    settings = start(vault)
    put(vault, "notes/open.md", "seal\n")
    (vault / "notes" / "list.txt").write_bytes(data)

    assert not commit.commit(settings).held_back
    assert "notes/list.txt" in head_files(vault)


@pytest.mark.parametrize("name", [f"notes/{SECRET}.md", f"{SECRET}/a.md", "notes/[private] walrus.md"])
def test_a_secret_or_a_tag_in_a_file_s_name_is_not_committed(vault: Path, name: str) -> None:
    settings = start(vault)
    put(vault, name, "harmless\n")

    (held,) = commit.commit(settings).held_back

    assert "The name of" in str(held)
    assert SECRET not in git(vault, "log", "--all", "--name-only", "--format=%B")


@pytest.mark.parametrize(
    ("name", "front"),
    [
        ("notes/deal-falkenberg.md", ""),
        ("notes/a.md", "---\ntitle: The deal with Falkenberg\ntags: [falkenberg]\n---\n"),
    ],
)
def test_no_name_title_or_tag_tells_what_is_private_in_the_note(
    vault: Path, home: Path, mdmem: Run, name: str, front: str
) -> None:
    start(vault)
    put(vault, name, f"{front}The zebra migration was planned with <private>Falkenberg</private> in May.\n")
    asked = json.dumps(payload("UserPromptSubmit", prompt="What do we know about the zebra migration?"))

    given = mdmem("inject", "claude-code", input=asked, check=True).stdout
    listed = mdmem("search", "zebra migration", "--json", check=True).stdout

    assert "The zebra migration was planned with [PRIVATE] in May." in given
    assert "falkenberg" not in given.lower()
    assert "falkenberg" not in json.loads(listed)[0]["title"].lower()
    assert b"falkenberg" not in b"".join(
        data.lower() for path, data in tree.contents(home) if str(path)[-6:] == ".terms"
    )


@pytest.mark.parametrize("word", ["pass", "password"])
def test_the_end_that_mdmem_gave_a_name_is_no_secret(vault: Path, word: str) -> None:
    config = start(vault)
    for number in range(12):
        name = note.make_id(str(number))
        front = f"---\nid: {name}\nkind: note\ntitle: All tests {word}\n---\n\nAll tests {word}.\n"
        put(vault, f"notes/all-tests-{word}-{name}.md", front)
        put(vault, f"journal/app/2026-09-14/0800-a-00893aaf/001-00{number % 10}-response-{word}-{name}.md", front)
        page = f"0800-{word}-{short(str(number), 8)}"
        put(vault, f"journal/app/2026-09-14/{page}/{page}.md", f"---\nkind: session\nsession: {number}\n---\n\nPage.\n")
    put(vault, f"notes/my-{word}-5np7py6z4y.md", "---\nid: another\n---\n\nText.\n")

    held = commit.commit(config).held_back

    assert [one.path for one in held] == [f"notes/my-{word}-5np7py6z4y.md"]


def test_a_file_whose_name_would_be_held_back_can_be_deleted(vault: Path) -> None:
    config = start(vault)
    name = f"notes/{SECRET}.md"
    put(vault, name, "harmless\n")
    commit.commit(config, accept=[name])
    assert name in head_files(vault)
    (vault / name).unlink()

    assert commit.commit(config).held_back == []
    assert name not in head_files(vault)


def test_pages_that_list_a_mention_of_a_tag_are_committed_and_hide_no_secret(vault: Path) -> None:
    from mdmem import config
    from mdmem.capture.page import link_text
    from mdmem.history.gate import CommitGate

    gate = CommitGate(config.load().settings)
    page = "---\ntitle: p\n---\n# p\n<!-- mdmem:begin -->\n- [{}](a.md) (1 prompt)\n- [b](c.md)\n<!-- mdmem:end -->\n"
    said = (
        "why does \\<private> not work?",
        "it shows \\<private> in a list",
        "List\\<Private>",
        "sort \\[private\\] channels after the public ones",
    )
    hidden = ("ok \\<private> 4711", "\\<private>x\\</private> y", "\\[private\\] all")

    assert [title for title in said if gate.look("README.md", page.format(title).encode())] == []
    assert [title for title in hidden if not gate.look("README.md", page.format(title).encode())] == []
    run = page.replace("a.md", "001-001-bash-grep-7gk2q9m4x1.md")
    assert gate.look("README.md", run.format("grep -rn 'use \\[private\\] for fields' .").encode()) is None
    assert gate.look("README.md", run.format("<private>x</private> y").encode())
    for command in ("mysql -p$PASS -u $USER", 'sshpass -p "$PASS" ssh $HOST', "password = ~/pw and key = ~/key"):
        assert gate.look("README.md", run.format(link_text(command)).encode()) is None
        made = run.replace("- [b]", f"- Commits made: `1a2b3c4` {link_text(command)}\n- [b]").format("ls")
        assert gate.look("README.md", made.encode()) is None
    for private in ("title: <private>p", "title: p\n# <private>p", "title: p\n---\n<private>p"):
        assert gate.look("README.md", page.format(said[0]).replace("title: p", private).encode()), private


def test_a_secret_behind_a_mention_of_the_tag_in_a_settings_file_is_held_back(vault: Path) -> None:
    settings = start(vault)
    commit.commit(settings)
    put(vault, "mdmem.toml", "# what stands behind a <private> tag is hidden\n[capture]\nmax_lines = 5\n")
    assert commit.commit(settings).held_back == []

    put(vault, "mdmem.toml", f"# what stands behind a <private> tag is hidden\n# {SECRET}\n")

    (held,) = commit.commit(settings).held_back
    assert held.path == "mdmem.toml"


def test_search_and_index_hold_back_the_private_part_of_a_note(vault: Path) -> None:
    settings = start(vault)
    put(vault, "notes/plan.md", "# Plan\n\nThe seal swims, <private>the walrus sings</private>, the heron waits.\n")
    index.update(settings)

    assert engine.search(settings, "walrus").hits == ()
    (hit,) = engine.search(settings, "heron").hits
    assert "walrus" not in hit.snippet
    assert "seal" in hit.snippet


@pytest.mark.parametrize("form", ["zip", "jsonl", "html", "sqlite"])
def test_an_export_holds_back_the_private_part_of_a_note(vault: Path, tmp_path: Path, form: str) -> None:
    settings = start(vault)
    put(vault, "notes/plan.md", f"# Plan\n\nThe seal swims.\n\nkey {SECRET}\n\n<private>walrus</private>\n")
    put(vault, f"notes/{SECRET}.md", "heron\n")

    exports.write(settings, tmp_path / "out", form)

    data = (tmp_path / "out").read_bytes()
    if form == "zip":
        with zipfile.ZipFile(tmp_path / "out") as archive:
            data = b"".join(name.encode() + archive.read(name) for name in archive.namelist())
    assert b"seal" in data
    assert b"walrus" not in data
    assert SECRET.encode() not in data


@pytest.mark.parametrize("tag", ["", "an end of something: </private>\n", "[private] the rest\n"])
def test_of_a_very_long_note_only_what_can_be_quoted_is_cleaned(
    vault: Path, monkeypatch: pytest.MonkeyPatch, tag: str
) -> None:
    cleaned: list[int] = []
    clean = privacy.clean

    def counted(value: Any, **more: Any) -> privacy.Cleaned:
        cleaned.append(len(value))
        return clean(value, **more)

    monkeypatch.setattr(privacy, "clean", counted)
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA0walrus\n" * 20_000
    text = f"# Log\n\nseal {SECRET} here\n{key}{tag}"

    shown = people.quoted(str(vault), text, 100_000)

    assert cleaned == [len(text) if tag else 200_000]
    assert SECRET not in shown
    assert "walrus" not in shown


def test_a_captured_note_is_shown_as_it_was_stored_until_somebody_edits_it(vault: Path) -> None:
    captured = "---\nkind: observation\ntitle: a\ndigest: 00000000\n---\n\n[private] walrus\n"

    assert "walrus" not in people.clean_text(str(vault), captured), "its digest does not fit, so somebody edited it"


@pytest.mark.parametrize("sign", ["[PRIVATE] ", "[private] ", "[private]: ", "[PRIVATE]: "])
def test_a_note_that_begins_with_the_word_for_private_is_private_as_a_whole(vault: Path, sign: str) -> None:
    settings = start(vault)
    put(vault, "notes/plan.md", "# Plan\n")

    with pytest.raises(UsageError, match="all of it is private"):
        user_notes.add(settings, "", f"{sign}the walrus sings", now=START)
    with pytest.raises(UsageError, match="all of it is private"):
        user_notes.append(settings, "notes/plan.md", f"{sign}the walrus sings")
    with pytest.raises(UsageError, match="all of it is private"):
        user_notes.change_text(settings, "notes/plan.md", f"{sign}the walrus sings", seen=b"# Plan\n")

    assert "walrus" not in "".join(path.read_text("utf-8") for path in vault.rglob("*.md"))


def test_a_mark_that_a_note_begins_with_stays_a_mark_when_its_text_is_edited(vault: Path) -> None:
    settings = start(vault)
    put(vault, "notes/plan.md", "[PRIVATE] and a seal\n")

    user_notes.change_text(
        settings, "notes/plan.md", "[PRIVATE] and a seal\n\nA heron.", seen=b"[PRIVATE] and a seal\n"
    )

    assert (vault / "notes/plan.md").read_text("utf-8") == "[PRIVATE] and a seal\n\nA heron.\n"


@pytest.mark.parametrize(
    "answer", ["[private] walrus", "[PRIVATE] walrus", "use <private>walrus</private>", "[private]: walrus"]
)
def test_what_a_person_answers_to_a_question_is_read_as_typed(vault: Path, answer: str) -> None:
    asked = {"questions": [{"question": "Which animal?", "options": [{"label": "seal"}]}]}

    for use, response in enumerate(({**asked, "answers": {"Which animal?": answer}}, answer)):
        capture(
            payload(
                "PostToolUse",
                tool_name="AskUserQuestion",
                tool_input=asked,
                tool_response=response,
                tool_use_id=f"toolu_{use}",
            )
        )

    stored = "".join(path.read_text("utf-8") for path in vault.rglob("*.md"))
    assert "Which animal?" in stored
    assert "walrus" not in stored
