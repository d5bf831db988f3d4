"""Writing tools for notes that people own: by checksum, only in notes/, and each change can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.cli.setup import init
from mdmem.history import commit
from mdmem.privacy import memory
from mdmem.server.tools import TOOLS
from tests.helpers import tree
from tests.helpers.plain_git import git
from tests.helpers.server_calls import Answer, Server, returned_schema

jsonschema: Any = pytest.importorskip("jsonschema")  # which the client library brings along

TEXT = """---
id: nnnnnnnnn1
kind: note
title: Times   # mine
tags: [decision]
---

# Times

All times are UTC.

## Why

Clocks change.

```md
## Not a heading
```

### More

If a < b, stop.

## Open

Nothing. Clocks change.
"""


@pytest.fixture
def server(vault: Path) -> Iterator[Server]:
    init.make_vault(config.load(str(vault)))
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "utc.md").write_text(TEXT)
    made = Server()
    yield made
    made.close()


def checksum(server: Server, name: str = "nnnnnnnnn1") -> str:
    (whole,) = server.call("get_notes", {"ids": [name]}).value["notes"]
    return str(whole["checksum"])


def edit(server: Server, **arguments: Any) -> Answer:
    return server.call("edit_note", {"note": "nnnnnnnnn1", "checksum": checksum(server), **arguments})


def test_a_section_is_replaced_and_every_other_byte_stays(server: Server, vault: Path) -> None:
    made = edit(server, section="## Why", text="Because.")

    assert not made.error, made.said
    start, end = TEXT.index("\nClocks change."), TEXT.index("## Open")
    assert (vault / "notes" / "utc.md").read_text() == f"{TEXT[:start]}\nBecause.\n\n{TEXT[end:]}"
    assert made.value["checksum"] == checksum(server)


def test_text_is_found_and_replaced(server: Server, vault: Path) -> None:
    file = vault / "notes" / "utc.md"

    assert "2 times" in edit(server, find="Clocks change.", text="x").said
    assert not edit(server, find="If a &lt; b", text="If b").error  # as get_notes shows it
    assert not edit(server, find="Clocks change.", text="They do.", every=True).error
    assert file.read_text() == TEXT.replace("If a < b", "If b").replace("Clocks change.", "They do.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"find": "not there", "text": "x"}, "does not contain the text to find"),
        ({"section": "Not a heading", "text": "x"}, "No section has this heading"),
        ({"text": "x"}, "Give either"),
        ({"find": "UTC", "section": "Why", "text": "x"}, "Give either"),
        ({"find": "UTC", "text": "x", "checksum": "000000000000"}, "changed since it was read"),
        ({"find": "UTC", "text": "UTC"}, "nothing to change"),
        ({"find": "UTC", "text": "x" * 70_000}, "at most"),
        ({"find": "e", "text": "x" * 900_000, "every": True}, "at most"),
        ({"find": "UTC", "text": "[PRIVATE] canary"}, "All of the text is private"),
    ],
)
def test_what_does_not_fit_changes_nothing(server: Server, vault: Path, arguments: dict[str, Any], said: str) -> None:
    answer = edit(server, **arguments)

    assert answer.error
    assert said in answer.said
    assert (vault / "notes" / "utc.md").read_text() == TEXT


def test_newer_words_of_a_person_are_never_lost(server: Server, vault: Path) -> None:
    read = checksum(server)
    file = vault / "notes" / "utc.md"
    file.write_text(f"{TEXT}A word since.\n")

    for tool, more in (
        ("edit_note", {"find": "UTC", "text": "x"}), ("move_note", {"to": "notes/x.md"}), ("delete_note", {}),
    ):  # fmt: skip
        assert "changed since" in server.call(tool, {"note": "nnnnnnnnn1", "checksum": read, **more}).said
    assert file.read_text() == f"{TEXT}A word since.\n"


@pytest.mark.parametrize("name", ["<private>walrus</private>", "token=abcd1234zzzz", "for-Zqx81!walrus"])
def test_no_note_is_moved_to_a_name_with_something_private(server: Server, vault: Path, name: str) -> None:
    memory.learn(config.load(str(vault)), "session1", ["Zqx81!walrus"])

    moved = server.call("move_note", {"note": "nnnnnnnnn1", "checksum": checksum(server), "to": f"notes/{name}"})

    assert moved.error
    assert "`to` holds private text" in moved.said
    assert [path.name for path in (vault / "notes").rglob("*")] == ["utc.md"]


@pytest.mark.parametrize(
    "to", ["notes/a//b.md", "notes/a\nb.md", "notes/a\0.md", "notes/CON.md", f"notes/{'😀' * 120}.md", "notes/../x.md"]
)
def test_a_note_stays_where_no_system_can_have_its_new_path(server: Server, vault: Path, to: str) -> None:
    moved = server.call("move_note", {"note": "nnnnnnnnn1", "checksum": checksum(server), "to": to})

    assert moved.error
    assert "bug in mdmem" not in moved.said
    assert (vault / "notes" / "utc.md").read_text() == TEXT


def test_a_note_stays_where_another_one_takes_its_new_path_meanwhile(
    server: Server, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*given: Any) -> commit.CommitResult:
        (vault / "notes" / "new.md").write_text("another")
        return real(*given)

    real = commit.commit_paths
    read = checksum(server)
    monkeypatch.setattr(commit, "commit_paths", taken)

    moved = server.call("move_note", {"note": "nnnnnnnnn1", "checksum": read, "to": "notes/new.md"})

    assert "changed in the meantime" in moved.said
    assert (vault / "notes" / "utc.md").read_text() == TEXT
    assert (vault / "notes" / "new.md").read_text() == "another"


@pytest.mark.slow
def test_a_note_is_moved_deleted_and_each_is_undone(server: Server, vault: Path) -> None:
    moved = server.call("move_note", {"note": "nnnnnnnnn1", "checksum": checksum(server), "to": "notes/db/times"})
    assert moved.value["path"] == "notes/db/times.md"
    assert (vault / "notes" / "db" / "times.md").read_text() == TEXT
    assert not (vault / "notes" / "utc.md").exists()

    gone = server.call("delete_note", {"note": "nnnnnnnnn1", "checksum": moved.value["checksum"]})
    assert not (vault / "notes" / "db" / "times.md").exists()

    assert not server.call("undo_change", {"undo": gone.value["undo"]}).error
    assert (vault / "notes" / "db" / "times.md").read_text() == TEXT
    back = server.call("undo_change", {"undo": moved.value["undo"]})
    assert not back.error, back.said
    assert (vault / "notes" / "utc.md").read_text() == TEXT
    again = server.call("undo_change", {"undo": moved.value["undo"]})
    assert again.error


@pytest.mark.slow
def test_answers_have_the_shape_that_their_schemas_promise(server: Server) -> None:
    rows = {row.name: returned_schema(row.name) for row in TOOLS}
    edited = edit(server, find="UTC", text="local").value
    given = {"note": "nnnnnnnnn1", "checksum": edited["checksum"]}
    moved = server.call("move_note", {**given, "to": "notes/x"}).value
    gone = server.call("delete_note", given).value
    back = server.call("undo_change", {"undo": gone["undo"]}).value

    for name, value in (("edit_note", edited), ("move_note", moved), ("delete_note", gone), ("undo_change", back)):
        jsonschema.validate(value, rows[name])


@pytest.mark.slow
def test_an_edit_is_undone_unless_somebody_wrote_since(server: Server, vault: Path) -> None:
    file = vault / "notes" / "utc.md"
    made = edit(server, find="UTC", text="local")
    file.write_text(file.read_text().replace("local", "local, I say"))

    assert server.call("undo_change", {"undo": made.value["undo"]}).error
    assert "local, I say" in file.read_text()
    file.write_text(file.read_text().replace("local, I say", "local"))
    assert not server.call("undo_change", {"undo": made.value["undo"]}).error
    assert file.read_text() == TEXT


@pytest.mark.slow
def test_only_notes_of_people_in_their_folder_are_changed(server: Server, vault: Path) -> None:
    home = vault / "journal" / "acme" / "2026-09-14" / "0800-x-aaaa1111"
    home.mkdir(parents=True)
    (home / "001-000-prompt-x.md").write_text("---\nid: pppppppppp\nkind: prompt\ntitle: x\n---\n\nhello\n")
    (home / "mine.md").write_text("my own words")
    (vault / "notes" / "captured.md").write_text("---\nid: cccccccccc\nkind: response\ntitle: x\n---\n\nhello\n")

    for name in ("pppppppppp", f"{home.relative_to(vault)}/mine.md", "cccccccccc"):
        given = {"note": name, "checksum": checksum(server, name)}
        for tool, more in (
            ("edit_note", {"find": "hello", "text": "x"}), ("move_note", {"to": "notes/y.md"}), ("delete_note", {}),
        ):  # fmt: skip
            answer = server.call(tool, {**given, **more})
            assert "Only notes in notes/" in answer.said, (tool, name)
    for to in ("journal/x.md", "internal/ghost/x.md", "notes/../x.md", "/etc/x.md", "notes/.hidden/x.md", "x.md"):
        answer = server.call("move_note", {"note": "nnnnnnnnn1", "checksum": checksum(server), "to": to})
        assert answer.error, to
    (vault / "notes" / "taken.md").write_text("taken")
    taken = {"note": "nnnnnnnnn1", "checksum": checksum(server), "to": "notes/taken"}
    assert "already" in server.call("move_note", taken).said
    assert (vault / "notes" / "taken.md").read_text() == "taken"


def test_a_commit_of_the_journal_is_not_undone_by_a_tool(server: Server, vault: Path) -> None:
    (vault / "notes" / "other.md").write_text("a person's commit")
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "Mine")
    oid = git(vault, "rev-parse", "HEAD").strip()

    assert "is not a change that these tools made" in server.call("undo_change", {"undo": oid}).said
    assert (vault / "notes" / "other.md").exists()


@pytest.mark.parametrize("looked_for", [{"find": "walr"}, {"find": "no such"}, {"section": "No such"}])
def test_what_is_private_in_a_note_is_not_told_by_what_is_found_in_it(
    server: Server, vault: Path, looked_for: dict[str, str]
) -> None:
    (vault / "notes" / "utc.md").write_text(f"{TEXT}\n<private>\n## About the walrus\n\nIt sings.\n</private>\n")

    answer = edit(server, text="x", **looked_for)

    assert answer.error
    assert "only its owner can edit it" in answer.said
    assert "walrus" not in answer.said


@pytest.mark.slow
def test_nothing_private_is_written_even_in_two_steps(server: Server, vault: Path) -> None:
    masked = edit(server, find="Nothing.", text="It is <private>canary</private> here")
    assert not masked.error
    assert not [path for path, data in tree.contents(vault) if b"canary" in data]

    edit(server, find="All times", text="<private>All times")
    edit(server, find="If a < b", text="canary</private> If a < b")

    assert "<private>" not in (vault / "notes" / "utc.md").read_text()
