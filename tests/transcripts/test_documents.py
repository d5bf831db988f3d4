"""Documents of other tools become notes that say what their files say: decision records, memory banks, pictures."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import frontmatter
import pytest

from mdmem.transcripts.documents import decision_records
from tests.helpers.plain_git import git

Run = Callable[..., subprocess.CompletedProcess[str]]
ADR_TOOLS = """# {number}. {title}

Date: 2024-0{number}-02

## Status

{status}

## Context

Search was slow.

## Decision

We use {title}.

## Consequences

It is fast.
"""


def repository(root: Path, *, second: str = "Accepted") -> Path:
    """Return a repository with two decision records, the first superseded by the second, and a memory bank."""
    records = root / "docs" / "adr"
    records.mkdir(parents=True)
    git(root, "init", "-q")
    status = "Superceded by [2. FTS5](0002-fts5.md)"
    (records / "0001-whoosh.md").write_text(ADR_TOOLS.format(number=1, title="Whoosh", status=status), "utf-8")
    (records / "0002-fts5.md").write_text(ADR_TOOLS.format(number=2, title="FTS5", status=second), "utf-8")
    (root / "memory-bank").mkdir()
    (root / "memory-bank" / "activeContext.md").write_text("# Active context\nThe login page.\n", "utf-8")
    return root


def imported(vault: Path, folder: str) -> dict[str, frontmatter.Post]:
    home = vault / "notes" / "imported" / folder
    return {path.name: frontmatter.load(str(path)) for path in home.iterdir()}


def test_decision_records_become_dated_decisions_of_their_project_and_name_their_successor(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    root = repository(tmp_path / "shop")

    ask("import", "--yes", str(root / "docs" / "adr"), check=True)

    notes = imported(vault, "shop-adr")
    old, new = notes["0001-whoosh.md"], notes["0002-fts5.md"]
    assert [(one["kind"], one["project"], str(one["created"])[:10]) for one in (old, new)] == [
        ("decision", "shop", "2024-01-02"),
        ("decision", "shop", "2024-02-02"),
    ]
    assert (old["superseded_by"], "superseded_by" in new) == (new["id"], False)
    in_force = json.loads(ask("decisions", "--json", "--project", "shop", check=True).stdout)
    assert [one["id"] for one in in_force] == [new["id"]]
    hits = json.loads(ask("search", "search was slow", "--json", check=True).stdout)
    assert [one["superseded_by"] for one in hits if one["id"] == old["id"]] == [new["id"]]


def test_a_decision_record_that_is_superseded_later_takes_its_note_along_until_a_person_edits_it(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    root = repository(tmp_path / "shop")
    records = root / "docs" / "adr"
    ask("import", "--yes", str(records), check=True)
    later = ADR_TOOLS.format(number=2, title="FTS5", status="Deprecated")
    (records / "0002-fts5.md").write_text(later, "utf-8")
    edited = vault / "notes" / "imported" / "shop-adr" / "0001-whoosh.md"
    edited.write_text(edited.read_text("utf-8") + "\nMy own line.\n", "utf-8")
    (records / "0001-whoosh.md").write_text("# 1. Whoosh\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n", "utf-8")

    ask("import", "--yes", str(records), check=True)

    notes = imported(vault, "shop-adr")
    assert notes["0002-fts5.md"]["status"] == "retired"
    assert "Deprecated" in notes["0002-fts5.md"].content
    assert "My own line." in notes["0001-whoosh.md"].content and "source_changed" in notes["0001-whoosh.md"]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("", "## Status\n\nRejected\n\n## Decision\n\nRedis.\n"),
        ("", "## Status\n\nSuperseded by [2](0002-fts5.md)\n\n## Decision\n\nRedis.\n"),
        ("status: rejected", "## Decision Outcome\n\nRedis.\n"),
        ("status: superseded by ADR-4", "## Decision Outcome\n\nRedis.\n"),
    ],
)
def test_a_decision_record_that_is_accepted_after_all_is_in_force(
    vault: Path, tmp_path: Path, ask: Run, before: str, text: str
) -> None:
    records = repository(tmp_path / "shop") / "docs" / "adr"
    record = records / "0003-redis.md"
    after = "\n## Status\n\nAccepted\n" if not before else ""
    record.write_text(f"---\n{before}\n---\n# 3. Redis\n\n{text}" if before else f"# 3. Redis\n\n{text}", "utf-8")
    ask("import", "--yes", str(records), check=True)
    first = imported(vault, "shop-adr")["0003-redis.md"]
    assert first.get("superseded_by") or first.get("status") == "retired"
    accepted = "---\nstatus: accepted\n---\n" if before else ""
    record.write_text(f"{accepted}# 3. Redis\n{after}\n## Decision\n\nRedis.\n", "utf-8")

    ask("import", "--yes", str(records), check=True)

    again = imported(vault, "shop-adr")["0003-redis.md"]
    assert again["kind"] == "decision"
    assert (again.get("superseded_by"), again.get("status") in (None, "accepted")) == (None, True)
    assert "original_status" not in again


def test_a_successor_that_a_person_named_stays_when_the_record_is_imported_again(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    root = repository(tmp_path / "shop")
    ask("import", "--yes", str(root / "docs" / "adr"), check=True)
    copy = vault / "notes" / "imported" / "shop-adr" / "0002-fts5.md"
    copy.write_text(copy.read_text("utf-8").replace("kind: decision", "kind: decision\nsuperseded_by: mine"), "utf-8")

    ask("import", "--yes", "--again", str(root / "docs" / "adr"), check=True)

    assert imported(vault, "shop-adr")["0002-fts5.md"]["superseded_by"] == "mine"


@pytest.mark.parametrize(
    ("meta", "text", "found"),
    [
        ({"status": "accepted"}, "## Decision Outcome\n\nRedis.\n", (False, "")),
        ({"status": "superseded by [ADR-4](0004-x.md)"}, "## Decision Outcome\n\nRedis.\n", (False, "0004-x.md")),
        ({"status": "superseded by ADR-4"}, "## Decision Outcome\n\nRedis.\n", (False, "ADR-4")),
        ({}, "* Status: rejected\n\n## Decision\n\nRedis.\n", (True, "")),
        ({}, "**Status:** Accepted\n\n## Decision\n\nRedis.\n", (False, "")),
        ({}, "## Status\n\nAccepted\n\nSuperseded by [9](9.md)\n\n## Decision\n\nRedis.\n", (False, "9.md")),
        ({}, "## Status\n\nProposed\n\n## Decision\n\nRedis.\n", None),
        ({}, "## Status\n\nGreen\n\n## Decision\n\nRedis.\n", None),
        ({"status": "accepted"}, "An offer that was accepted.\n", None),
        ({}, "# A meeting\n\nStatus: accepted\n", None),
    ],
)
def test_only_a_text_with_a_decided_status_and_a_decision_is_a_decision_record(
    meta: dict[str, str], text: str, found: tuple[bool, str] | None
) -> None:
    record = decision_records.read(meta, text)

    assert (record and (record.is_retired, record.successor)) == found


def test_a_memory_bank_is_only_for_its_project_and_another_folder_of_a_repository_for_all(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    root = repository(tmp_path / "shop")
    (root / "diary").mkdir()
    (root / "diary" / "day.md").write_text("# A day\n", "utf-8")

    ask("import", "--yes", str(root / "memory-bank"), str(root / "diary"), check=True)

    assert imported(vault, "shop-memory-bank")["activeContext.md"]["project"] == "shop"
    assert "project" not in imported(vault, "diary")["day.md"]


def test_pictures_that_notes_show_by_reference_or_as_html_come_along(vault: Path, tmp_path: Path, ask: Run) -> None:
    source = tmp_path / "mine"
    source.mkdir()
    for name in ("by name.png", "html.png", "single.png", "unused.png"):
        (source / name).write_text(name, "utf-8")
    (source / "A.md").write_text(
        "![alt][one] <img width='4' src=\"html.png\"> <IMG SRC='./single.png'/> `<img src=\"unused.png\">`\n"
        '<img src="https://example.org/w.png"> <img src="/etc/x.png">\n\n[one]: by%20name.png "title"\n',
        "utf-8",
    )

    assert "Imported 1 note, 3 pictures." in ask("import", "--yes", str(source), check=True).stdout
    copied = {path.name for path in (vault / "notes" / "imported" / "mine").iterdir()}
    assert copied == {"A.md", "by name.png", "html.png", "single.png"}


def test_a_preview_counts_what_stays_away_because_a_person_deleted_it(vault: Path, tmp_path: Path, ask: Run) -> None:
    ask("init", check=True)
    source = tmp_path / "mine"
    source.mkdir()
    (source / "A.md").write_text("# A\n", "utf-8")
    (source / "B.md").write_text("# B\n", "utf-8")
    chat = tmp_path / ".aider.chat.history.md"
    chat.write_text("# aider chat started at 2025-02-05 09:00:00\n\n#### add a test  \n\nDone.\n", "utf-8")
    os.utime(chat, (1_750_000_000, 1_750_000_000))
    ask("import", "--yes", str(source), str(chat), check=True)
    (session,) = json.loads(ask("sessions", "--json", check=True).stdout)
    ask("forget", "--yes", "notes/imported/mine/A.md", session["session"], check=True)
    for path in (source / "A.md", source / "B.md", chat):
        path.write_text(path.read_text("utf-8") + "\nMore.\n", "utf-8")
        os.utime(path, (1_750_000_001, 1_750_000_001))

    shown = ask("import", "--dry-run", str(source), str(chat), check=True).stdout
    as_json = json.loads(ask("import", "--dry-run", "--json", str(source), str(chat), check=True).stdout)
    again = ask("import", "--dry-run", "--again", str(source), str(chat), check=True).stdout

    line = "You deleted or moved 1 session and 1 note of these, which will stay away; --again imports them."
    assert (line in shown, as_json["deleted"], "stay away" in again) == (True, 2, False)
    assert json.loads(ask("import", "--yes", "--json", str(source), str(chat), check=True).stdout)["added"] == {}


def test_a_preview_counts_deleted_sessions_of_a_file_that_has_later_ones(vault: Path, tmp_path: Path, ask: Run) -> None:
    ask("init", check=True)
    chat = tmp_path / ".aider.chat.history.md"
    session = "# aider chat started at {year}-02-05 09:00:00\n\n#### add a test  \n\nDone.\n\n"
    chat.write_text(session.format(year=2025), "utf-8")
    ask("import", "--yes", str(chat), check=True)
    (stored,) = json.loads(ask("sessions", "--json", check=True).stdout)
    ask("forget", "--yes", stored["session"], check=True)
    chat.write_text("".join(session.format(year=year) for year in (2025, 2099)), "utf-8")

    assert json.loads(ask("import", "--dry-run", "--json", str(chat), check=True).stdout)["deleted"] == 1


def test_a_rule_beside_markdown_of_its_name_is_a_note_of_its_own_and_a_link_is_none(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    for name in ("web.md", "web.mdc", "shop.mdc"):
        (rules / name).write_text(f"What {name} says.\n", "utf-8")
    (tmp_path / "diary.txt").write_text("Nobody asked for this file.\n", "utf-8")
    (rules / "linked.mdc").symlink_to(tmp_path / "diary.txt")

    ask("import", "--yes", str(rules), check=True)

    texts = {name: post.content for name, post in imported(vault, "rules").items()}
    assert texts == {
        "web.md": "What web.md says.", "web.mdc.md": "What web.mdc says.", "shop.md": "What shop.mdc says."
    }  # fmt: skip


def test_markdown_and_rules_of_installed_packages_are_not_imported(vault: Path, tmp_path: Path, ask: Run) -> None:
    root = tmp_path / "shop"
    for folder in (root / "docs", root / "node_modules" / "left-pad" / ".cursor" / "rules"):
        folder.mkdir(parents=True)
        for name in ("readme.md", "rule.mdc"):
            (folder / name).write_text(f"What {folder.name} says.\n", "utf-8")

    ask("import", "--yes", str(root), check=True)

    assert {post.content for post in imported(vault, "shop/docs").values()} == {"What docs says."}
    assert [path.name for path in (vault / "notes" / "imported" / "shop").iterdir()] == ["docs"]


def test_a_heading_with_endless_spaces_takes_a_decision_record_no_time() -> None:
    text = f"# Decision{' ' * 1_000_000}x\n"  # quadratic time would be hours

    assert decision_records.read({}, f"{text}\n## Status\n\nAccepted\n\n## Decision   :  \n\nRedis.\n") is None
    assert decision_records.read({"status": "accepted"}, f"{text}\n## Decision   :  \n\nRedis.\n")


def test_rules_of_other_agents_become_notes_of_their_project_and_nothing_else_is_followed(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    root = repository(tmp_path / "shop")
    rules = root / ".cursor" / "rules" / "web"
    rules.mkdir(parents=True)
    rule = "---\ndescription: Pages\nglobs: src/**/*.ts\nalwaysApply: false\n---\nPages say aria-label.\n"
    (rules / "pages.mdc").write_text(rule, "utf-8")
    (rules / "plain.md").write_text("# Plain\n", "utf-8")
    (root / ".cursorrules").write_text("Use tabs.\n", "utf-8")
    (root / "CLAUDE.md").write_text("Nobody asked for this file.\n", "utf-8")

    ask("import", "--yes", str(root / ".cursor" / "rules"), str(root / ".cursorrules"), check=True)
    again = ask("import", "--yes", "--again", str(root / ".cursor" / "rules"), check=True).stdout
    ask("import", "--yes", str(tmp_path / "shop" / "memory-bank"), check=True)

    (pages,) = (vault / "notes" / "imported" / "shop-rules" / "web").glob("pages*")
    assert (pages.name, frontmatter.load(str(pages))["project"]) == ("pages.md", "shop")
    assert pages.with_name("plain.md").exists() and "2×  file that is there already" in again
    assert imported(vault, "shop-cursorrules")["cursorrules.md"].content == "Use tabs."
    hits = json.loads(ask("search", "aria-label", "--json", check=True).stdout)
    assert [hit["path"] for hit in hits] == ["notes/imported/shop-rules/web/pages.md"]
    assert not [path for path in vault.rglob("*.md") if "Nobody asked" in path.read_text("utf-8")]
    ask("import", "--yes", check=True)  # without a path, in another folder
    assert not [path for path in vault.rglob("*.md") if "Nobody asked" in path.read_text("utf-8")]
