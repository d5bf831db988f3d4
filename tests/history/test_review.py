"""Looking through what was captured, deciding about it, and taking it elsewhere."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import frontmatter
import pytest

from mdmem.errors import GitError, NotFoundError, UsageError
from mdmem.history import commit, export, review
from mdmem.vault import note
from mdmem.views import exports
from tests.helpers.history_vault import FOLDER, SESSION, captured, git, put, start, turn

NOW = datetime(2026, 9, 14, tzinfo=UTC)


def test_everything_is_new_at_first_and_nothing_after_the_review(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = start(vault)
    turn(vault)

    seen = review.pending(config)
    monkeypatch.setattr(review, "AT_ONCE", 1)
    assert review.pending(config) == seen, "read in parts, as a large vault is"
    review.finish(config, seen, [], "Review: nothing to do\n")

    assert [item.change for item in seen.items] == ["added"] * 4
    assert review.pending(config).items == []


def test_decisions_are_kept_in_the_notes_committed_and_not_shown_again(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    seen = review.pending(config)
    kept, pinned, gone, retitled = seen.items
    steps = [
        review.decide(config, kept.path, now=NOW),
        review.decide(config, pinned.path, now=NOW, pinned=True, tags=["a", "b c"]),
        *review.delete(config, [gone]),
        review.decide(config, retitled.path, now=NOW, title='All "12" pass: yes'),
    ]

    result = review.finish(config, seen, steps, "Review: kept 3, deleted 1\n").result

    assert [made.subject for made in result.commits] == ["Review: kept 3, deleted 1"]
    assert frontmatter.load(str(vault / pinned.path))["tags"] == ["a", "b c"]
    assert frontmatter.load(str(vault / retitled.path))["title"] == 'All "12" pass: yes'
    assert frontmatter.load(str(vault / kept.path))["reviewed"]
    assert not (vault / gone.path).exists()
    assert review.pending(config).items == []


@pytest.mark.slow
def test_what_was_captured_while_looking_stays_to_be_reviewed(vault: Path) -> None:
    config = start(vault)
    turn(vault, 1)
    seen = review.pending(config)
    turn(vault, 2)
    commit.commit(config)

    review.finish(config, seen, review.delete(config, seen.items[:1]), "Review\n")

    titles = {item.title for item in review.pending(config).items if item.change == "added"}
    assert "Why does it fail, take 2?" in titles


@pytest.mark.slow
def test_a_note_that_a_person_changed_is_known_as_edited(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    review.finish(config, review.pending(config), [], "Review\n")
    path = next((vault / FOLDER).glob("001-003*"))
    path.write_text(path.read_text() + "by hand\n")
    captured(vault, "002-000-prompt-x", "prompt", "new")

    items = {item.path.rpartition("/")[2][:7]: (item.change, item.edited) for item in review.pending(config).items}

    assert items == {"001-003": ("changed", True), "002-000": ("added", False)}


def test_a_digest_tells_an_edited_note_from_an_untouched_one_without_git() -> None:
    text = f"---\nid: x\ntitle: T\ndigest: {note.fingerprint('T', 'body')}\n---\n\nbody\n"

    assert not note.is_edited(note.parse(text))
    assert not note.is_edited(note.parse(text.replace("id: x\n", "id: x\npinned: true\n")))
    assert note.is_edited(note.parse(text.replace("\nbody", "\nother")))
    assert note.is_edited(note.parse(text.replace("title: T", "title: U")))
    assert not note.is_edited(note.parse("by hand, no front matter"))


@pytest.mark.slow
def test_filters_narrow_a_review(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    captured(vault, "001-000-prompt-p", "prompt", "of another", folder=FOLDER.replace("acme-notes-app", "other"))

    assert [item.title for item in review.pending(config, project="other").items] == ["of another"]
    assert {item.kind for item in review.pending(config, kinds=["session"]).items} == {"session"}


def test_a_note_that_has_gone_cannot_be_kept(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    item = review.pending(config).items[0]
    (vault / item.path).unlink()

    with pytest.raises(NotFoundError):
        review.decide(config, item.path)


def test_notes_are_exported_as_archive_lines_and_page(vault: Path, tmp_path: Path) -> None:
    config = start(vault)
    turn(vault)
    head = "title: <script>x</script>\nproject: other\ncreated: 2026-09-15T00:00:00Z\n"
    put(vault, "notes/a.md", f"---\n{head}---\n\n<b>\n")

    assert exports.write(config, tmp_path / "all.zip", "zip") == (5, 1, 0)
    assert exports.write(config, tmp_path / "some.jsonl", "jsonl", project="other") == (1, 0, 0)
    assert exports.write(config, tmp_path / "all.html", "html", since="2026-09-15") == (1, 0, 0)

    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.read("notes/a.md") == (vault / "notes/a.md").read_bytes()
    row = json.loads((tmp_path / "some.jsonl").read_text())
    assert (row["path"], row["title"], row["body"]) == ("notes/a.md", "<script>x</script>", "<b>\n")
    page = (tmp_path / "all.html").read_text()
    assert "<script>" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize("name", ["ask-anna-falkenberg.md", "falkenberg/ask.md"])
def test_a_name_that_says_what_is_private_in_the_note_is_not_exported(vault: Path, tmp_path: Path, name: str) -> None:
    config = start(vault)
    put(vault, f"notes/{name}", "# Ask <private>Anna Falkenberg</private>\n\npublic words\n")

    exports.write(config, tmp_path / "all.jsonl", "jsonl")

    assert "public words" in (tmp_path / "all.jsonl").read_text()
    assert "falkenberg" not in (tmp_path / "all.jsonl").read_text().lower()


def test_what_ghosts_and_agents_keep_to_themselves_is_neither_exported_nor_reviewed(
    vault: Path, tmp_path: Path
) -> None:
    config = start(vault)
    put(vault, "internal/agent/a.md", "---\nkind: agent\ntitle: inside\n---\n\ncanary\n")
    put(vault, "notes/moved.md", "---\nkind: ghost\ntitle: moved\n---\n\ncanary\n")

    for form in ("zip", "jsonl", "html", "sqlite"):
        exports.write(config, tmp_path / f"all.{form}", form)
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.namelist() == []
    assert "canary" not in (tmp_path / "all.jsonl").read_text() + (tmp_path / "all.html").read_text()
    assert b"canary" not in (tmp_path / "all.sqlite").read_bytes()

    assert review.pending(config).items == []
    assert [item.title for item in review.pending(config, kinds=["agent"]).items] == ["inside"]


def test_an_export_overwrites_nothing(vault: Path, tmp_path: Path) -> None:
    config = start(vault)
    put(tmp_path, "kept", "kept")

    with pytest.raises(UsageError, match="already exists"):
        exports.write(config, tmp_path / "kept", "zip")
    with pytest.raises(UsageError, match=r"\.zip, \.jsonl, \.html"):
        exports.write(config, tmp_path / "new", "pdf")
    with pytest.raises(UsageError, match="already exists"):
        export.backup(config, tmp_path / "kept")

    assert (tmp_path / "kept").read_text() == "kept"


def test_an_export_into_a_folder_that_is_not_there_names_it(vault: Path, tmp_path: Path) -> None:
    config = start(vault)

    for write in (lambda path: exports.write(config, path, "zip"), lambda path: export.backup(config, path)):
        with pytest.raises(UsageError, match=r"There is no folder .*gone; nothing was written"):
            write(tmp_path / "gone" / "file")


def test_a_backup_is_a_verified_bundle_that_git_clones(vault: Path, tmp_path: Path) -> None:
    config = start(vault)
    with pytest.raises(GitError, match="nothing to back up"):
        (vault / "mdmem.toml").rename(tmp_path / "away")
        export.backup(config, tmp_path / "none.bundle")
    turn(vault)
    put(vault, "notes/private.md", "---\nsync: false\n---\n\nx\n")
    put(vault, "notes/back\\slash.md", "x\n")

    made = export.backup(config, tmp_path / "vault.bundle")
    git(tmp_path, "clone", "-q", str(made.path), "restored")

    assert made.missing == ["notes/private.md"]
    assert made.commits == 2
    assert (tmp_path / "restored" / "notes" / "back\\slash.md").exists()
    assert len(list((tmp_path / "restored" / FOLDER).iterdir())) == 5


@pytest.mark.slow
def test_no_backup_is_made_of_a_shallow_clone_since_git_could_not_restore_it(vault: Path, tmp_path: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    turn(vault, 2)
    commit.commit(config)
    (vault / ".git" / "shallow").write_text(git(vault, "rev-parse", "HEAD"))

    with pytest.raises(GitError, match="fetch --unshallow"):
        export.backup(config, tmp_path / "vault.bundle")

    assert not (tmp_path / "vault.bundle").exists()


@pytest.mark.slow
@pytest.mark.parametrize("reviewed", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_an_import_is_passed_over_and_what_was_captured_before_stays_in_the_queue(vault: Path, reviewed: bool) -> None:
    config = start(vault)
    turn(vault)
    if reviewed:
        review.finish(config, review.pending(config), [], "Review\n")
    turn(vault, 2)
    before = review.begin_import(config)
    more = {
        "session": "imported-1",
        "folder": "journal/app/2024-02-02/0800-old-imported",
        "created": "2024-02-02T08:00:00Z",
    }
    captured(vault, "001-000-prompt-old", "prompt", "Long ago", **more)

    review.end_import(config, before)

    assert [item.session for item in review.pending(config).items] == [SESSION] * (4 if reviewed else 8)
    assert "Long ago" in git(vault, "log", "--since=2024-02-01", "--until=2024-02-03", "--format=%s")
    turn(vault, 3)
    assert len(review.pending(config).items) == (8 if reviewed else 12)


def test_what_history_cannot_hold_is_neither_offered_nor_dropped(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/held.md", "---\nkind: note\n---\npassword: xK9vQ2mB77\n")
    put(vault, "notes/open.md", "---\nkind: note\n---\nThe port is open.\n")
    seen = review.pending(config)
    changed = put(vault, "notes/open.md", "---\nkind: note\n---\nThe port is open. password: xK9vQ2mB77\n")

    applied = review.finish(config, seen, review.delete(config, seen.items), "Review: deleted 1\n")

    assert [item.path for item in seen.items] == ["notes/open.md"]
    assert applied.skipped == ["notes/open.md"]
    assert changed.is_file()
