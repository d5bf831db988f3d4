"""Memories that other tools keep in one JSON file become notes, one each, which follow that file until edited."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.transcripts.documents import memory_files
from mdmem.transcripts.saved import Skipped
from tests.helpers.plain_git import git

Run = Callable[..., subprocess.CompletedProcess[str]]
KEYS = [
    "type", "name", "entityType", "observations", "from", "to", "relationType", "memory", "content", "role", "results",
    "memories", "entities", "relations", "metadata", "tags", "created_at", "createdAt", "id", "title", "status",
    "priority", "dependencies", "comments",
]  # fmt: skip
JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.floats(), st.sampled_from(["entity", "relation", "_aim"]), st.text(max_size=5)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)),
    max_leaves=20,
)
GRAPH: list[dict[str, Any]] = [
    {"type": "entity", "name": "Acme_API", "entityType": "web service", "observations": ["Uses FastAPI", "Port\n8080"]},
    {"type": "entity", "name": "src/John", "entityType": "person", "observations": ["PIN <private>sesame</private>"]},
    {"type": "relation", "from": "src/John", "to": "Acme_API", "relationType": "maintains"},
]
MEM0: dict[str, Any] = {
    "results": [
        {"id": "a1", "memory": "Ana likes TypeScript", "created_at": "2025-01-02T03:04:05Z", "categories": ["taste"]},
        {"id": "a2", "memory": "Exports run at night", "created_at": 1_736_000_000, "metadata": {"source": "chat"}},
        {"id": "a3", "memory": " "},
    ]
}


def graph(path: Path, *more: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in [*GRAPH, *more]), "utf-8")
    return path


def notes(vault: Path, folder: str) -> dict[str, frontmatter.Post]:
    home = vault / "notes" / "imported" / folder
    return {path.name: frontmatter.load(str(path)) for path in home.iterdir()}


@pytest.mark.parametrize("name", ["memory.jsonl", "memory.json"])
def test_each_entity_of_a_knowledge_graph_becomes_a_note_with_its_relations(
    vault: Path, tmp_path: Path, ask: Run, name: str
) -> None:
    shown = ask("import", "--yes", str(graph(tmp_path / "kept" / name))).stdout

    assert shown == "Imported 2 notes.\n"
    found = notes(vault, "memory")
    assert set(found) == {"Acme_API.md", "src-John.md"}
    assert found["Acme_API.md"].content == "- Uses FastAPI\n- Port\n  8080"
    assert found["Acme_API.md"]["tags"] == ["web-service", "imported"]
    assert found["src-John.md"]["title"] == "src/John"
    assert found["src-John.md"].content == "- PIN [PRIVATE]\n- maintains [[Acme_API]]"


def test_a_graph_that_a_tool_answered_as_one_object_is_read_like_its_lines() -> None:
    kinds = ("entity", "relation")
    entities, relations = ([line for line in GRAPH if line["type"] == kind] for kind in kinds)
    whole = json.dumps({"entities": entities, "relations": relations})
    lines = "\n".join(json.dumps(line) for line in GRAPH)

    assert memory_files.read(whole.encode(), Skipped()) == memory_files.read(lines.encode(), Skipped())


def test_issues_of_beads_become_tasks_of_their_project_which_follow_the_file(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    root = tmp_path / "shop"
    path = root / ".beads" / "issues.jsonl"
    path.parent.mkdir(parents=True)
    git(root, "init", "-q")
    made = datetime.now(UTC) - timedelta(days=3)  # what is older than a year is no open work
    facts = {"priority": 1, "issue_type": "bug", "created_at": made.isoformat(), "labels": ["parser"]}
    waits = [{"issue_id": "s-1", "depends_on_id": "s-2", "type": "blocks"}]
    issues: list[dict[str, Any]] = [
        {"id": "s-1", "title": "Leap days crash", "description": "On 2026-02-29.", "status": "open", **facts}
        | {"design": "Raise DateError.", "dependencies": waits, "comments": [{"text": "Seen\ntwice."}]},
        {"id": "s-2", "title": "Add DateError", "status": "closed", **facts},
        {"id": "s-3", "title": "Gone", "status": "tombstone", **facts},
    ]

    def brought() -> dict[str, Any]:
        path.write_text("".join(f"{json.dumps(issue)}\n" for issue in issues), "utf-8")
        return json.loads(ask("import", "--yes", "--json", str(path), check=True).stdout)  # type: ignore[no-any-return]

    first = brought()

    assert (first["added"], first["skipped"]) == ({"note": 2}, {"issue that was deleted": 1})
    task = notes(vault, "shop-issues")["s-1.md"]
    assert (task["kind"], task["project"], task["status"], task["original_id"]) == ("task", "shop", "open", "s-1")
    assert str(task["created"])[:19] == str(made)[:19] and task["tags"] == ["parser", "imported"]
    said = "On 2026-02-29.\n\n## Design\n\nRaise DateError.\n\n> Seen\n> twice.\n\n- blocked by [[s-2]]"
    assert task.content == said
    open_work = json.loads(ask("todo", "--json", "--project", "shop", check=True).stdout)
    assert [item["text"] for item in open_work] == ["Leap days crash"]

    issues[0]["status"] = "closed"
    issues[1]["status"] = "in_progress"

    assert brought()["added"] == {"note": 2}
    open_work = json.loads(ask("todo", "--json", "--project", "shop", check=True).stdout)
    assert [item["text"] for item in open_work] == ["Add DateError"]


def test_what_cannot_be_read_of_a_graph_is_counted(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = graph(tmp_path / "memory.jsonl", {"type": "_aim", "source": "mcp-knowledge-graph"}, {"type": "entity"})
    with path.open("a") as file:
        file.write('{"type": "entity", "na')

    shown = ask("import", "--yes", str(path)).stdout

    assert "Imported 2 notes." in shown
    assert "1×  object without a memory" in shown and "1×  unreadable line" in shown


def test_observations_are_kept_or_counted_and_a_relation_to_nothing_is_no_link() -> None:
    entity = {"type": "entity", "name": "Ana", "observations": ["likes tea", 7, None, {"at": 1}]}
    lone = {"type": "entity", "name": "Shop", "observations": "opens at nine"}
    ends = [{"type": "relation", "from": "Ana", "to": end, "relationType": "runs"} for end in ("Shop", "Nothing")]
    skipped = Skipped()

    read = memory_files.read("\n".join(json.dumps(line) for line in [*ends, entity, lone]).encode(), skipped)

    assert {memory.name: memory.body for memory in read} == {
        "Ana": "- likes tea\n- runs [[Shop]]\n- runs Nothing\n",
        "Shop": "- opens at nine\n",
    }
    assert +skipped == {"observation that is not text": 3}


def test_a_memory_with_a_number_as_its_id_keeps_its_name_when_its_text_changes() -> None:
    before, after = (
        memory_files.read(json.dumps([{"id": 0, "memory": words}, {"id": 1, "memory": "x"}]).encode(), Skipped())
        for words in ("Tea", "Coffee")
    )

    assert [memory.name for memory in before] == [memory.name for memory in after]
    assert len({memory.name for memory in before}) == 2


def test_a_note_that_was_deleted_or_moved_stays_away_when_its_file_changes(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    ask("init", check=True)
    path = graph(tmp_path / "memory.jsonl", {"type": "entity", "name": "Old", "observations": ["old"]})
    ask("import", "--yes", str(path), check=True)
    ask("commit", check=True)
    ask("forget", "--yes", "notes/imported/memory/Old.md", check=True)
    home = vault / "notes" / "imported" / "memory"
    (home / "Acme_API.md").rename(vault / "notes" / "api.md")

    graph(path, {"type": "entity", "name": "Old", "observations": ["old"]}, {"type": "entity", "name": "New"})
    shown = ask("import", "--yes", str(path), check=True).stdout

    assert set(notes(vault, "memory")) == {"src-John.md", "New.md"}
    assert "2×  memory whose note you deleted or moved (--again imports it)" in shown
    assert "Imported 2 notes." in ask("import", "--yes", "--again", str(path), check=True).stdout


def test_a_purged_note_stays_away_and_no_option_is_said_to_import_it(vault: Path, tmp_path: Path, ask: Run) -> None:
    ask("init", check=True)
    path = graph(tmp_path / "memory.jsonl")
    ask("import", "--yes", str(path), check=True)
    ask("commit", check=True)
    name = str(notes(vault, "memory")["Acme_API.md"]["id"])
    ask("purge", "--apply", "--yes", "--id", name, check=True)

    shown = ask("import", "--yes", "--again", str(path), check=True).stdout

    assert "1×  memory whose note you purged" in shown and "--again" not in shown
    assert set(notes(vault, "memory")) == {"src-John.md"}


def test_a_note_that_was_added_and_deleted_on_one_side_of_a_merge_stays_away(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    ask("init", check=True)
    path = graph(tmp_path / "memory.jsonl")
    git(vault, "checkout", "-q", "-b", "side")
    ask("import", "--yes", str(path), check=True)
    ask("commit", check=True)
    git(vault, "rm", "-q", "-r", "notes/imported")
    git(vault, "commit", "-q", "-m", "none of it")
    git(vault, "checkout", "-q", "-")
    git(vault, "commit", "-q", "--allow-empty", "-m", "other")
    git(vault, "merge", "-q", "side", "-m", "merge")

    ask("import", "--yes", str(graph(path, {"type": "entity", "name": "New"})), check=True)

    assert set(notes(vault, "memory")) == {"New.md"}


def test_a_deleted_note_stays_away_though_another_memory_has_its_name_and_a_new_one_comes(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    ask("init", check=True)
    lines = [{"type": "entity", "name": name, "observations": [f"is {name}"]} for name in ("a-b", "a:b", "a|b")]
    path = graph(tmp_path / "memory.jsonl", *lines[:2])
    ask("import", "--yes", str(path), check=True)
    ask("commit", check=True)
    (gone,) = (name for name, each in notes(vault, "memory").items() if each.content == "- is a:b")
    ask("forget", "--yes", f"notes/imported/memory/{gone}", check=True)

    ask("import", "--yes", str(graph(path, *lines)), check=True)

    ours = {each.content for each in notes(vault, "memory").values()}
    assert {"- is a-b", "- is a|b"} < ours and "- is a:b" not in ours
    ask("forget", "--yes", "notes/imported/memory/a-b.md", check=True)
    ask("import", "--yes", str(graph(path, *lines, {"type": "entity", "name": "New"})), check=True)
    again = [each["id"] for each in notes(vault, "memory").values()]
    assert len(again) == len(set(again)) == 4


def test_names_that_files_cannot_have_or_share_lose_no_memory(vault: Path, tmp_path: Path, ask: Run) -> None:
    names = [
        "a/b",
        "a-b",
        "../../up",
        "CON",
        "a:b",
        "x" * 300,
        "日本",
        "[x]",
        "---",
        ".",
        ".env",
        "key: <private>x</private>",
    ]
    lines = [{"type": "entity", "name": name, "entityType": "", "observations": [f"is {name}"]} for name in names]
    path = graph(tmp_path / "memory.jsonl", *lines)

    ask("import", "--yes", str(path))

    found = notes(vault, "memory")
    hidden = "key: <private>x</private>"
    assert {f"- is {name}" for name in names if name != hidden} <= {each.content for each in found.values()}
    assert "- is key: [PRIVATE]" in {each.content for each in found.values()}
    assert all(name.endswith(".md") and not name.startswith(".") for name in found)
    assert not {"CON.md", "con.md"} & set(found)  # a device on Windows
    assert not (vault / "notes" / "up.md").exists()


def test_each_memory_of_a_list_becomes_a_note_of_its_time(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(MEM0), "utf-8")

    shown = ask("import", "--yes", str(path)).stdout

    assert "Imported 2 notes." in shown and "1×  object without a memory" in shown
    found = {str(each["title"]): each for each in notes(vault, "mem0").values()}
    assert set(found) == {"Ana likes TypeScript", "Exports run at night"}
    assert found["Ana likes TypeScript"]["tags"] == ["taste", "imported"]
    assert found["Ana likes TypeScript"]["original_id"] == "a1"
    assert str(found["Ana likes TypeScript"]["created"]).startswith("2025-01-02")
    assert str(found["Exports run at night"]["created"]).startswith("2025-01-04")


def test_a_note_follows_its_memory_until_somebody_edits_it(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(MEM0), "utf-8")
    ask("import", "--yes", str(path))
    (night,) = (name for name, each in notes(vault, "mem0").items() if "night" in each.content)
    home = vault / "notes" / "imported" / "mem0"
    (home / night).write_text((home / night).read_text("utf-8") + "\nNot on Sundays.\n", "utf-8")

    path.write_text(json.dumps(MEM0).replace("likes", "loves").replace("at night", "at noon"), "utf-8")
    shown = ask("import", "--yes", str(path)).stdout

    assert "Imported 1 note." in shown and "so has its note, which is kept" in shown
    texts = sorted(each.content for each in notes(vault, "mem0").values())
    assert texts == ["Ana loves TypeScript", "Exports run at night\n\nNot on Sundays."]


def test_the_graph_of_a_project_in_a_hidden_folder_is_only_for_that_project(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "shop")], check=True)

    ask("import", "--yes", str(graph(tmp_path / "shop" / ".aim" / "memory.jsonl")))

    assert {each["project"] for each in notes(vault, "shop-memory").values()} == {"shop"}


@pytest.mark.parametrize("begin", ["", "["])
def test_a_graph_or_list_that_is_too_long_is_counted(vault: Path, tmp_path: Path, ask: Run, begin: str) -> None:
    path = graph(tmp_path / "memory.jsonl")
    path.write_text(begin + path.read_text("utf-8"), "utf-8")
    os.truncate(path, 33 << 20)

    assert "1×  file too long" in ask("import", "--yes", str(path)).stdout


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "[1, 2]", '{"a": 1}', '[{"role": "user", "content": "hi"}]', "[" * 9999]
)
def test_other_json_is_refused(vault: Path, tmp_path: Path, ask: Run, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, "utf-8")

    refused = ask("import", "--yes", str(path))

    assert refused.returncode == 5 and "`mdmem help import`" in refused.stderr
    assert not (vault / "notes" / "imported").exists()


@given(JSON, st.booleans())
def test_any_json_is_read_or_counted(value: Any, lines: bool) -> None:
    rows = value if lines and isinstance(value, list) else [value]
    data = "\n".join(json.dumps(row) for row in rows).encode()

    found = memory_files.read(data, Skipped())

    assert len({memory.name for memory in found}) == len(found)
    assert all("/" not in memory.name for memory in found)
