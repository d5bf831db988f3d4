"""`doctor`: problems are found, reported with what to do, and fixed where that is safe."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem import config, files, log, timestamps
from mdmem.agents.install import launcher
from mdmem.capture import losses
from mdmem.capture.hook import SEEN_BYTES
from mdmem.errors import VaultError
from mdmem.health import checks, folders, links, machine, scope
from mdmem.history import commit
from mdmem.history.git import repository
from mdmem.search import freshness, index, temporary_index
from mdmem.views import storing
from mdmem.views.vault_pages import upkeep
from tests.helpers import cli_day, rights
from tests.helpers.cli_day import Day
from tests.helpers.fenced import BLOCK, ENCODINGS
from tests.helpers.history_vault import put
from tests.helpers.plain_git import git, make_remote

Run = Callable[..., subprocess.CompletedProcess[str]]


def look(day: Day, *checks: str, fix: bool = False) -> list[dict[str, Any]]:
    """Run checks and give their findings; the exit status must be what the findings say."""
    words = [word for check in checks for word in ("--only", check)]
    done = day.attempt("doctor", "--json", *words, *(["--fix"] if fix else []))
    assert isinstance(done.exception, SystemExit | None), done.exception
    found: list[dict[str, Any]] = json.loads(done.stdout)
    wrong = [one for one in found if one["severity"] in ("warning", "error") and one["done"] != "fixed"]
    assert done.exit_code == (1 if wrong else 0)
    return found


def wrong(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in found if one["severity"] in ("warning", "error")]


def test_a_state_folder_that_cannot_be_written_is_named(day: Day) -> None:
    assert wrong(look(day, "state")) == []
    file = day.vault.parent / "a-file"
    file.touch()
    (found,) = wrong(look(day._replace(env={**day.env, "XDG_STATE_HOME": str(file)}), "state"))
    assert found["text"] == f"{file} cannot be written: nothing is stored."
    assert "chown" in found["todo"]


def test_a_large_vault_without_a_watcher_is_told_what_a_watcher_would_save(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    day.run("index")
    notes = sum(1 for _ in day.vault.rglob("*.md"))
    assert look(day, "watcher")[0]["severity"] == "fine"
    assert "watcher" not in day.run("status").stdout
    monkeypatch.setattr(storing, "MANY_NOTES", notes)

    (found,) = look(day, "watcher")

    assert found["severity"] == "note"
    assert f"each commit and sync checks all {notes:,} files" in found["text"]
    assert found["todo"].startswith("`mdmem watch --background` starts one")
    assert f"all {notes:,} files" in " ".join(day.run("status").stdout.split())


def test_a_partial_check_looks_for_what_is_in_the_way_of_new_notes_only(day: Day) -> None:
    for name in ("2026-01-01", "2027-01-01"):
        (day.vault / "journal" / "api" / name).mkdir()
        (day.vault / "journal" / "api" / name / "0800-a-file-in-the-way").touch()

    def in_the_way(paths: list[str] | None) -> list[str]:
        found = folders.vault(day.config(), scope.CheckScope(paths))
        return [one.text.split("'")[1] for one in found if one.severity == "warning"]

    places = [f"journal/api/{name}/0800-a-file-in-the-way" for name in ("2026-01-01", "2027-01-01")]
    assert in_the_way(None) == places
    assert in_the_way([]) == places[1:]


def test_notes_of_an_agent_that_does_not_see_the_variable_are_named_and_stored_here(day: Day) -> None:
    payload = {"session_id": "s1", "cwd": "/home/dev", "hook_event_name": "UserPromptSubmit", "prompt": "Unseen words"}
    unseen = {**os.environ, **day.env}
    del unseen["MDMEM_VAULT"]
    hook = [sys.executable, "-m", "mdmem", "hook", "claude-code"]
    subprocess.run(hook, input=json.dumps(payload), env=unseen, check=True, text=True, stdout=subprocess.DEVNULL)

    hint, lost = (one for one in look(day, "vault") if one["severity"] in ("note", "warning"))
    assert "store nothing, as there is no vault at" in hint["text"]
    assert hint["todo"] == f"To store everything here: `mdmem config set vault {day.vault}`."
    assert lost["text"] == "1 note of such agents could not be stored."
    other = Path(day.vault).with_name("other")
    other.mkdir()
    assert "MDMEM_VAULT names" not in day.attempt("--vault", str(other), "doctor", "--only", "vault").output
    look(day, "vault", fix=True)
    assert day.path("Unseen words").exists()
    day.run("config", "set", "vault", str(day.vault))
    assert [one["severity"] for one in look(day, "vault")] == ["fine"]


def as_a_user(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process for which modes of files count, also if root runs the tests."""
    return rights.run([sys.executable, "-m", "mdmem", *words])


@rights.kept_out
@pytest.mark.parametrize("level", ["mdmem", "its folder for the vault"])
@pytest.mark.parametrize("which", ["index_dir", "state_dir"])
def test_a_folder_of_mdmem_that_cannot_be_read_is_named_once_with_what_to_do_and_search_goes_on(
    day: Day, which: str, level: str
) -> None:
    vault = ("--vault", str(day.vault))
    repository.init(day.vault)
    for command in (("search", "parser"), ("commit",)):
        as_a_user(*vault, *command)
    folder = Path(getattr(config.load(str(day.vault)), which))
    folder = folder.parent if level == "mdmem" else folder
    folder.chmod(0)
    try:
        doctor, found = as_a_user(*vault, "doctor"), as_a_user(*vault, "search", "parser")
    finally:
        folder.chmod(0o700)

    assert f"✗ state       {folder} cannot be written" in doctor.stdout
    assert f"`chmod -R u+rwX {shlex.quote(str(folder))}`" in doctor.stdout
    assert "This check failed" not in doctor.stdout
    assert "Errno" not in doctor.stdout
    assert found.returncode == 0
    assert "parser" in found.stdout
    assert ("the notes themselves were read" in found.stderr) == (which == "index_dir")


@rights.kept_out
def test_a_search_without_the_cache_keeps_its_index_private_and_deletes_that_of_a_killed_one(
    day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, settings = tmp_path / "temporary", config.load(str(day.vault))
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    left = Path(settings.runtime_dir, "search-index-999999999-a")
    for folder in (left, Path(settings.index_dir)):
        folder.mkdir(0o700, parents=True)
    Path(settings.index_dir).chmod(0)
    look = f"""if 1:
        import os
        from mdmem import config
        from mdmem.search import freshness
        settings = config.load({str(day.vault)!r})
        freshness.bring_up_to_date(settings)
        print(settings.index_dir, oct(os.stat(os.path.dirname(settings.index_dir)).st_mode)[-3:], flush=True)
        os.kill(os.getpid(), 9)
    """
    try:
        done = rights.run([sys.executable, "-c", look])
        place, mode = done.stdout.rsplit(maxsplit=1)
        killed = Path(place).parent
        assert (killed.parent, mode, killed.exists()) == (Path(settings.runtime_dir), "700", True)
        as_a_user("--vault", str(day.vault), "search", "parser")
    finally:
        Path(settings.index_dir).chmod(0o700)

    assert list(Path(settings.runtime_dir).glob("search-index-*")) == []
    assert list(temporary.iterdir()) == []


def test_a_large_vault_is_not_searched_without_the_cache(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary_index, "MOST_NOTES", 1)
    settings = config.load(str(day.vault))
    for name in ("a", "b"):
        put(day.vault, f"notes/{name}.md", "parser\n")
    Path(settings.index_dir).mkdir(0o700, parents=True, exist_ok=True)
    Path(settings.index_dir).chmod(0)
    try:
        with rights.of_a_user(), pytest.raises(VaultError, match=r"cannot be read .* `mdmem doctor --only state`"):
            freshness.bring_up_to_date(settings)
    finally:
        Path(settings.index_dir).chmod(0o700)


def test_a_vault_in_good_health_has_nothing_wrong(day: Day) -> None:
    repository.init(day.vault)
    commit.commit(day.config())
    day.run("install", "claude-code")
    found = look(day)
    assert wrong(found) == []
    assert {one["check"] for one in found} >= {
        "python",
        "packages",
        "git",
        "vault",
        "notes",
        "index",
        "history",
        "agents",
    }
    out = day.run("doctor").stdout
    assert out.endswith("\nNothing is wrong.\n")
    assert "✓ index" in out


def test_every_finding_that_is_wrong_says_what_to_do(day: Day) -> None:
    (day.vault / "mdmem.toml").write_text("[capture]\nmax_line = 3\n")
    found = wrong(look(day))
    assert found
    assert all(one["todo"] for one in found)


def test_a_missing_vault_is_one_finding_not_many(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    for path in sorted(day.vault.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    day.vault.rmdir()
    found = wrong(look(day))
    assert [one["check"] for one in found] == ["vault", "agents"]
    assert "mdmem init" in found[0]["todo"]


def test_broken_front_matter_is_named_by_file_and_line(day: Day) -> None:
    (day.vault / "notes" / "broken.md").write_text("---\ntitle: fine\ntags: [a\nb: c\n---\nbody\n")
    (day.vault / "notes" / "open.md").write_text("---\ntitle: never closed\n")
    texts = [one["text"] for one in wrong(look(day, "notes"))]
    assert any(text.startswith("notes/broken.md:") and text.split(":")[1].isdigit() for text in texts)
    assert any(text.startswith("notes/open.md:1: ") for text in texts)


@pytest.mark.parametrize(
    ("header", "said", "todo"),
    [
        ("created: 02.11.2026", "the time '02.11.2026' of `created` cannot be read", "write it as 2026-09-14"),
        ("date: yesterday", "the time 'yesterday' of `date` cannot be read", "write it as 2026-09-14"),
        ("kind: Decision", "the kind 'Decision' is not recognized", "write `kind: decision`"),
    ],
)
def test_a_value_that_is_not_understood_is_named_with_what_to_write(
    day: Day, header: str, said: str, todo: str
) -> None:
    (day.vault / "notes").mkdir(exist_ok=True)
    (day.vault / "notes" / "mine.md").write_text(f"---\n{header}\n---\nWe use tabs.\n", "utf-8")
    (found,) = look(day, "notes")
    assert (found["severity"], found["text"].startswith("notes/mine.md: ")) == ("note", True)
    assert said in found["text"]
    assert todo in found["todo"]


@pytest.mark.parametrize("header", ["created: 2026-11-02", "date: 2026-11-02 10:00", "kind: banana", "date:"])
def test_a_value_that_is_understood_or_a_persons_own_is_not_named(day: Day, header: str) -> None:
    (day.vault / "notes").mkdir(exist_ok=True)
    (day.vault / "notes" / "mine.md").write_text(f"---\n{header}\n---\nWe use tabs.\n", "utf-8")
    assert [found["severity"] for found in look(day, "notes")] == ["fine"]


def test_a_sessions_page_whose_new_name_no_hook_knows_is_named(day: Day) -> None:
    (page,) = day.vault.glob("journal/*/*/*/*-3f0c6d1e.md")
    mine = page.rename(page.with_name("My session.md"))
    (found,) = (one for one in look(day, "notes") if one["severity"] != "fine")
    assert found["severity"] == "note"
    assert found["text"].startswith(mine.relative_to(day.vault).as_posix())
    assert f"Call it {page.name} again" in found["todo"]
    page.write_bytes(mine.read_bytes())
    (found,) = (one for one in look(day, "notes") if one["severity"] != "fine")
    assert "They are equal: delete one of them." in found["todo"]
    mine.rename(page)
    page.parent.rename(page.parent.with_name("A day with the parser"))  # a renamed folder keeps its page's name
    assert [one["severity"] for one in look(day, "notes")] == ["fine"]


@pytest.mark.parametrize(
    ("page", "before", "after", "why"),
    [
        ("journal/*/*/*/*-3f0c6d1e.md", "<!-- mdmem:begin", "  <!-- mdmem:begin", "`<!-- mdmem:begin -->` is indented"),
        ("journal/*/project.md", "<!-- mdmem:begin", "> <!-- mdmem:begin", "`<!-- mdmem:begin -->` is indented, has"),
        ("days/*.md", "<!-- mdmem:end -->", "", "`<!-- mdmem:end -->` is missing"),
        ("README.md", "<!-- mdmem:end -->", "mine <!-- mdmem:end -->", "`<!-- mdmem:end -->` is indented, has text"),
    ],
)
def test_a_page_that_is_no_longer_updated_because_a_marker_was_damaged_is_named(
    day: Day, page: str, before: str, after: str, why: str
) -> None:
    day.run("init", str(day.vault))
    day.run("commit")
    file = next(day.vault.glob(page))
    text = file.read_text("utf-8")
    assert wrong(look(day, "notes")) == []
    file.write_text(text.replace(before, after), "utf-8")

    (found,) = wrong(look(day, "notes"))

    assert found["text"].startswith(file.relative_to(day.vault).as_posix())
    assert why in found["text"]
    assert "delete both markers if the whole page is to be yours" in found["todo"]
    file.write_text(text.replace("<!-- mdmem:begin -->", "").replace("<!-- mdmem:end -->", ""), "utf-8")
    assert wrong(look(day, "notes")) == []  # its owner's, with intent


def test_copies_conflicts_and_tags_with_spaces_are_named(day: Day) -> None:
    original = day.path("The parser took")
    (day.vault / "notes" / "copy.md").write_bytes(original.read_bytes())
    (day.vault / "notes" / "merged.md").write_text("a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n")
    (day.vault / "notes" / "marked.md").write_text("a\n\n<!-- mdmem:both: one version -->\nb\n")
    (day.vault / "notes" / "tagged.md").write_text("---\ntags: [two words]\n---\nx\n")
    texts = " | ".join(one["text"] for one in look(day, "notes"))
    assert "has the id" in texts
    assert "notes/merged.md:2: a merge left two versions" in texts
    assert "notes/marked.md:3: an earlier version of mdmem marked two versions" in texts
    assert "notes/tagged.md: the tag 'two words' has a space" in texts


def test_a_captured_note_that_holds_an_injected_block_is_named_in_every_encoding(day: Day) -> None:
    head = "---\nid: {id}\nkind: response\ntitle: An answer\ncreated: 2026-09-14T08:00:00Z\ndigest: 0f1e2d3c\n---\n"
    planted = {}
    for number, (encoding, encode) in enumerate(list(ENCODINGS.items())):
        name = f"notes/{number:03d}.md"
        text = head.format(id=f"a{number:09d}") + f"It said: {encode(BLOCK)} and went on.\n"
        (day.vault / name).write_text(text, encoding="utf-8")
        planted[name] = encoding
    texts = [one["text"] for one in wrong(look(day, "notes"))]
    missed = [encoding for name, encoding in planted.items() if not any(text.startswith(name) for text in texts)]
    assert missed == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes in folders")
def test_a_pipe_in_the_place_of_a_note_is_named_with_a_way_to_get_the_note_back(day: Day) -> None:
    repository.init(day.vault)
    (day.vault / "notes/plan.md").write_text("The plan\n")
    day.run("commit")
    (day.vault / "notes/plan.md").unlink()
    os.mkfifo(day.vault / "notes/plan.md")

    (found,) = wrong(look(day, "notes"))
    refused = day.attempt("diff")

    assert found["text"].startswith("notes/plan.md is a pipe, a socket or a device, so search and commits leave it out")
    assert "delete it, then run the command again" in str(refused.exception)
    (day.vault / "notes/plan.md").unlink()
    subprocess.run(found["todo"].split("`")[1], shell=True, check=True)
    assert (day.vault / "notes/plan.md").read_text() == "The plan\n"


def test_links_to_a_note_that_a_sync_program_keeps_elsewhere_are_neither_reported_nor_dropped(day: Day) -> None:
    repository.init(day.vault)
    put(day.vault, "notes/a.md", "See [[zebras]].\n")
    put(day.vault, "notes/zebras.md", "Striped.\n")
    answer = day.path("The parser took 29 February for granted")
    (page,) = (path for path in answer.parent.glob("*.md") if answer.name in path.read_text())
    day.run("index")
    day.run("commit")
    assert look(day, "links")[0]["text"].endswith("all lead to a file")
    before = page.read_text()
    for note in (answer, day.vault / "notes/zebras.md"):
        note.rename(note.with_name(f".{note.name}.icloud"))

    found = look(day, "links")
    upkeep.refresh(day.config(), now=time.time(), everything=True)

    assert found[0]["text"].endswith("all lead to a file")
    assert page.read_text() == before


def test_a_page_lists_what_is_new_although_a_sync_program_keeps_a_note_that_it_lists_elsewhere(day: Day) -> None:
    day.run("init", str(day.vault))
    put(day.vault, "notes/first.md", "---\npinned: true\n---\n\nOne.\n")
    upkeep.refresh(day.config(), now=time.time(), everything=True)
    start = day.vault / "README.md"
    assert "notes/first.md" in start.read_text()
    first = day.vault / "notes/first.md"
    first.rename(first.with_name(".first.md.icloud"))

    put(day.vault, "notes/second.md", "---\npinned: true\n---\n\nTwo.\n")
    upkeep.refresh(day.config(), now=time.time(), everything=True)

    assert "notes/second.md" in start.read_text()
    first.with_name(".first.md.icloud").rename(first)
    upkeep.refresh(day.config(), now=time.time(), everything=True)
    assert "notes/first.md" in start.read_text()


def test_a_pointer_that_a_git_without_lfs_has_left_in_place_of_a_note_is_named(day: Day) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    (day.vault / "notes/large.md").write_text(pointer)

    (found,) = wrong(look(day, "notes"))

    assert found["text"].startswith("notes/large.md is a pointer of Git LFS")
    assert "git lfs pull" in found["todo"]


def test_links_and_notes_in_another_encoding_which_are_passed_over_are_named(day: Day, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("outside")
    notes = day.vault / "notes"
    (notes / "linked.md").symlink_to(tmp_path / "outside.md")
    (notes / "dangling.md").symlink_to("nowhere")
    (notes / "folder").symlink_to(tmp_path)
    (notes / "wide.md").write_bytes("# Wide\n".encode("utf-16"))
    (notes / "latin.md").write_bytes("# Latin\n\nCafé\n".encode("latin-1"))

    found = look(day, "notes")

    (links,) = [one for one in found if one["severity"] == "note"]
    assert links["text"].startswith("3 links passed over")
    assert links["text"].endswith("notes/folder, notes/dangling.md, notes/linked.md.")
    latin, wide = sorted(wrong(found), key=lambda one: str(one["text"]))
    assert latin["text"].startswith("notes/latin.md:3: not UTF-8 (is it saved as Latin-1?)")
    assert wide["text"].startswith("notes/wide.md contains a NUL byte (is it saved as UTF-16?)")
    assert wide["todo"] == "Save it as UTF-8, without NUL bytes."


def test_many_findings_of_one_sort_are_counted(day: Day) -> None:
    for number in range(30):
        (day.vault / "notes" / f"{number}.md").write_text("---\nnever closed\n")
    found = wrong(look(day, "notes"))
    assert len(found) == 21
    assert found[-1]["text"].startswith("and 10 more")


def test_what_is_only_worth_knowing_of_many_notes_hides_nothing_that_is_wrong(day: Day) -> None:
    for number in range(25):
        (day.vault / "notes" / f"{number}.md").write_text(f"---\ndate: 2.{number}.26\n---\nText {number}.\n")
    assert [found["severity"] for found in look(day, "notes")] == ["note"] * 21
    (day.vault / "notes" / "zero.md").write_bytes(b"a\0b")
    first, *_, last = look(day, "notes")
    assert (first["severity"], "contains a NUL byte" in first["text"]) == ("warning", True)
    assert (last["severity"], last["text"]) == ("note", "and 5 more notes like these.")


def test_an_index_that_does_not_agree_is_rebuilt_when_asked(day: Day) -> None:
    day.run("index")
    (path,) = Path(day.config().index_dir).glob("*.terms")
    written, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))  # what has another time is repaired before a check
    (found,) = wrong(look(day, "index", fix=True))
    assert found["text"].startswith("The index cannot be read (")
    assert found["done"] == "fixed"
    assert wrong(look(day, "index")) == []
    assert day.json("search", "jitter")


def test_what_others_can_read_is_closed_when_asked(day: Day) -> None:
    day.vault.chmod(0o755)
    assert "can read" in wrong(look(day, "permissions"))[0]["text"]
    assert look(day, "permissions", fix=True)[0]["done"] == "fixed"
    assert day.vault.stat().st_mode & 0o777 == 0o700
    assert wrong(look(day, "permissions")) == []


def test_a_folder_that_is_no_vault_is_left_open_to_whom_it_is_open(day: Day, tmp_path: Path) -> None:
    other = tmp_path / "Shared documents"
    other.mkdir()
    other.chmod(0o755)
    there = day._replace(env={**day.env, "MDMEM_VAULT": str(other)})
    assert "only you can read mdmem's own files" in look(there, "permissions", fix=True)[0]["text"]
    assert other.stat().st_mode & 0o777 == 0o755


def test_a_disk_that_takes_few_more_files_is_named(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.statvfs(day.vault).f_files:
        pytest.skip("this disk has no limit of files")
    assert "more file" not in "".join(one["text"] for one in look(day, "vault"))
    monkeypatch.setattr(folders, "LEAST_FREE_FILES", os.statvfs(day.vault).f_favail + 1_000_000_000)
    (found,) = [one for one in wrong(look(day, "vault")) if "more file" in one["text"]]
    assert "can be made on the vault's disk" in found["text"]
    assert "`df -i`" in found["todo"]


def test_queued_notes_are_written_with_fix(day: Day, tmp_path: Path) -> None:
    cli_day.strand_a_note(day, tmp_path)
    assert "1 note could not be stored" in wrong(look(day, "waiting"))[0]["text"]
    look(day, "waiting", fix=True)
    assert look(day, "waiting") == []
    assert day.id("A stranded prompt")


@pytest.mark.parametrize(
    "name",
    ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "refs/heads/main.lock", "objects/maintenance.lock"],
)
def test_an_old_lock_of_a_git_that_was_killed_is_named_with_what_to_do(day: Day, name: str) -> None:
    repository.init(day.vault)
    lock = day.vault / ".git" / name
    lock.touch()
    assert wrong(look(day, "history")) == []
    assert f"`rm {shlex.quote(str(lock))}`" in "".join(one["todo"] for one in look(day, "history"))
    os.utime(lock, (time.time() - 7200, time.time() - 7200))
    (found,) = wrong(look(day, "history"))
    assert f"`rm {shlex.quote(str(lock))}`" in found["todo"]
    look(day, "history", fix=True)
    assert lock.exists() == (name == "index.lock"), "a person may be writing a message"


@pytest.mark.parametrize("made", ["file", "link"])
def test_a_git_folder_that_is_no_repository_is_named_with_what_to_do(day: Day, ask: Run, made: str) -> None:
    dot_git = day.vault / ".git"
    dot_git.write_text("x") if made == "file" else dot_git.symlink_to("nowhere")
    move = shlex.join(["mv", str(dot_git), f"{dot_git}.old"])

    (found,) = wrong(look(day, "history"))
    assert "leads to no repository" in found["text"]
    assert f"`{move}`" in found["todo"]
    for command in ("init", "commit"):
        done = ask("--vault", str(day.vault), command)
        assert (done.returncode, move in done.stderr) == (4, True)
        assert "once git works" not in done.stderr

    dot_git.rename(day.vault / ".git.old")
    ask("--vault", str(day.vault), "init", check=True)
    assert wrong(look(day, "history")) == []


def test_old_temporary_files_go_when_asked_and_fresh_ones_stay(day: Day) -> None:
    old, fresh = day.vault / "notes" / ".1-2.tmp", day.vault / "notes" / ".3-4.tmp"
    for path in (old, fresh):
        path.write_text("half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    look(day, "leftovers", fix=True)
    assert (old.exists(), fresh.exists()) == (False, True)


def test_leftovers_are_found_beside_a_broken_repository_and_a_persons_files_are_none(day: Day) -> None:
    (day.vault / ".git").write_text("gitdir: nowhere\n")
    old, own = day.vault / "notes" / ".1-2.tmp", day.vault / "notes" / ".draft.tmp"
    for path in (old, own):
        path.write_text("half")
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    assert "1 temporary file left behind" in wrong(look(day, "leftovers", fix=True))[0]["text"]
    assert (old.exists(), own.exists()) == (False, True)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("observation.md", "only words", "what is captured would not be in the notes"),
        ("session.md", "# {{title}}", "page stays empty"),
        ("prompt.md", "{{body}} {{authr}}", "{{authr}} is not a placeholder"),
        ("note.md", "---\nx: y\n---\n{{body}}", "front matter"),
        ("prmpt.md", "{{body}}", "never used"),
    ],
)
def test_a_template_that_would_lose_something_is_named(day: Day, name: str, text: str, said: str) -> None:
    folder = day.vault / "templates" / "notes"
    folder.mkdir(parents=True)
    (folder / name).write_text(text)
    assert said in " ".join(one["text"] for one in look(day, "templates"))


def test_mdmems_own_templates_are_valid(day: Day) -> None:
    import shutil

    from mdmem.vault import template

    shutil.copytree(Path(template.folder(), "notes"), day.vault / "templates" / "notes")
    (found,) = look(day, "templates")
    assert found["severity"] == "fine"
    assert all(path.name in template.PLACES for path in Path(template.folder(), "notes").glob("*.md"))


def test_agents_are_looked_at_by_their_registration_and_last_event(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    found = wrong(look(day, "agents"))[0]
    assert "No agent is registered" in found["text"]
    assert found["todo"] == "`mdmem install claude-code` registers the hooks."
    (Path(day.env["HOME"]) / ".codex").mkdir()
    assert wrong(look(day, "agents"))[0]["todo"] == "`mdmem install` registers the hooks."
    (Path(day.env["HOME"]) / ".codex").rmdir()
    day.run("install", "claude-code")
    assert "Claude Code (user) is registered" in [one["text"] for one in look(day, "agents")]
    assert look(day, "events")[0]["text"] == "Not heard from yet: Claude Code."
    seen = Path(day.config().state_dir) / "seen"
    seen.mkdir(parents=True, exist_ok=True)
    (seen / "claude-code").write_text(f"{time.time() - 40 * 86_400:.0f} Stop")
    assert "40 days ago" in look(day, "events")[0]["text"]
    record = seen / "claude-code"
    record.write_bytes(b"\xff" * 200)
    files.overwrite(str(record), f"{time.time():.0f} Stop".encode().ljust(SEEN_BYTES))  # as hooks do
    assert look(day, "events")[0]["text"].startswith("Claude Code was last heard from")


def saved_session(day: Day, began: float, name: str = "0b7e1d52-3c8f-4a61-9d20-5e6f7a8b9c0d") -> None:
    """Save a session of one prompt, as Claude Code does, that began and ended at that time."""
    facts = {
        "sessionId": name,
        "cwd": "/home/dev/work/api",
        "timestamp": timestamps.iso_time(began),
        "uuid": f"u-{name}",
    }
    line = {"type": "user", "message": {"role": "user", "content": "Rename it."}, "promptId": "p1", **facts}
    path = Path(day.env["HOME"], ".claude", "projects", "-home-dev-work-api", f"{name}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    os.utime(path, (began, began))


def test_a_session_that_an_agent_saved_without_calling_its_hooks_is_named(day: Day) -> None:
    day.run("install", "claude-code")
    settings = Path(day.env["HOME"], ".claude", "settings.json")
    registered = 1_789_372_800.0
    os.utime(settings, (registered, registered))
    saved_session(day, registered - 600, "11111111-3c8f-4a61-9d20-5e6f7a8b9c0d")
    assert [one["text"] for one in look(day, "events")] == ["Not heard from yet: Claude Code."]

    saved_session(day, registered + 600)

    when = timestamps.local_time(registered + 600)
    unheard = f"Claude Code saved a session of {when} in /home/dev/work/api, but sent no event of it."
    assert look(day, "events")[-1]["text"] == unheard
    assert look(day, "events")[-1]["todo"].endswith("`mdmem import` stores it.")
    seen = Path(day.config().state_dir) / "seen" / "claude-code"
    seen.parent.mkdir(parents=True, exist_ok=True)
    seen.write_text(f"{registered + 500:.0f} Stop")
    assert look(day, "events")[-1]["text"] == unheard
    seen.write_text(f"{registered + 590:.0f} SessionStart")
    assert unheard not in [one["text"] for one in look(day, "events")]


def unheard(day: Day) -> list[str]:
    """Return what `doctor` says of sessions whose agent sent no event."""
    return [one["text"] for one in look(day, "events") if "sent no event of it" in one["text"]]


def session_without_events(day: Day) -> float:
    """Register Claude Code's hooks and save a session of it later; return when it began."""
    day.run("install", "claude-code")
    registered = 1_789_372_800.0
    os.utime(Path(day.env["HOME"], ".claude", "settings.json"), (registered, registered))
    saved_session(day, registered + 600)
    assert len(unheard(day)) == 1
    return registered + 600


def test_a_session_without_events_is_not_named_once_it_was_imported_or_deleted(day: Day) -> None:
    repository.init(day.vault)
    session_without_events(day)
    day.run("import", "--yes")
    day.run("commit")

    assert unheard(day) == []

    (folder,) = day.vault.glob("journal/*/*/*-0b7e1d52")
    shutil.rmtree(folder)
    day.run("commit")
    assert unheard(day) == []


def test_a_session_without_events_of_an_excluded_project_is_not_named(day: Day) -> None:
    session_without_events(day)

    with (day.vault / "mdmem.toml").open("a") as file:
        file.write('\n[capture]\nexclude_projects = ["api"]\n')

    assert unheard(day) == []


def test_a_session_whose_events_went_to_another_vault_is_not_named(day: Day) -> None:
    began = session_without_events(day)
    seen = Path(day.config().state_dir).with_name("another") / "seen" / "claude-code"
    seen.parent.mkdir(parents=True)
    seen.write_text(f"{began:.0f} SessionStart")

    assert unheard(day) == []


def test_doctor_reads_few_of_many_transcripts_whose_times_are_new(day: Day) -> None:
    began = session_without_events(day)
    for number in range(machine.MOST_SURVEYED):
        name = f"{number:08x}-3c8f-4a61-9d20-5e6f7a8b9c0d"
        saved_session(day, began - 7200, name)
        path = Path(day.env["HOME"], ".claude", "projects", "-home-dev-work-api", f"{name}.jsonl")
        os.utime(path, (began + 600, began + 600))

    assert unheard(day) == []


def test_a_registration_of_an_older_mdmem_is_renewed_when_asked(day: Day) -> None:
    day.run("install", "claude-code")
    path = Path(day.env["HOME"]) / ".claude" / "settings.json"
    path.write_text(re.sub("(mdmem-run'?) hook", r"\1 --vault /old hook", path.read_text()))
    assert wrong(look(day, "agents"))
    look(day, "agents", fix=True)
    assert wrong(look(day, "agents")) == []


def test_doctor_does_not_offer_to_change_modes_that_the_disk_does_not_keep(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    (day.vault / ".git").mkdir(mode=0o755)
    day.vault.chmod(0o755)
    monkeypatch.setattr(os, "chmod", lambda *_, **__: None)  # as on FAT: no error, and no effect

    found = look(day, "permissions")

    assert ("can read" in found[0]["text"], "keeps no permissions" in found[0]["todo"]) == (True, True)
    assert wrong(found) == []


@rights.gives_away
@pytest.mark.parametrize("where", ["git", "state", "index"])
def test_doctor_names_what_belongs_to_another_user_in_history_and_in_its_own_folders(day: Day, where: str) -> None:
    settings = day.config()
    repository.init(day.vault)
    commit.commit(settings)
    index.update(settings)
    folder = {"git": str(day.vault), "state": settings.state_dir, "index": settings.index_dir}[where]
    file = next(path for path in sorted(Path(folder, ".git" if where == "git" else "").rglob("*")) if path.is_file())
    os.chown(file, 12345, -1)

    (found,) = wrong(look(day, "permissions"))

    assert str(file) in found["text"]
    assert found["todo"] == f"`sudo chown -R $USER {folder}`"


@rights.kept_out
def test_a_vault_that_its_user_may_not_enter_is_named_once_and_not_taken_for_another_folder(day: Day) -> None:
    repository.init(day.vault)
    commit.commit(config.load(str(day.vault)))
    day.vault.chmod(0)
    try:
        done = rights.run([sys.executable, "-m", "mdmem", "--vault", str(day.vault), "doctor", "--json"])
    finally:
        day.vault.chmod(0o700)
    found = wrong(json.loads(done.stdout))

    about_vault = [one for one in found if str(day.vault) in one["text"] or "This check failed" in one["text"]]
    assert [(one["check"], one["text"]) for one in about_vault] == [("vault", f"{day.vault} cannot be written.")]
    assert about_vault[0]["todo"] == f"`chmod -R u+rwX {day.vault}`"


def test_doctor_leaves_the_mode_of_a_git_directory_elsewhere(day: Day, tmp_path: Path) -> None:
    git_dir = tmp_path / "shared"
    git_dir.mkdir()
    git_dir.chmod(0o755)
    (day.vault / ".git").symlink_to(git_dir)
    day.vault.chmod(0o755)

    (found,) = wrong(look(day, "permissions"))

    assert "chmod 700" in found["todo"]
    assert git_dir.stat().st_mode & 0o777 == 0o755


def test_a_launcher_that_is_gone_is_an_error_until_it_is_back(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in day.env.items():
        monkeypatch.setenv(name, value)
    day.run("install", "claude-code")
    os.unlink(launcher.path())

    (found,) = wrong(look(day, "agents"))
    assert (found["severity"], launcher.path() in found["text"]) == ("error", True)
    look(day, "agents", fix=True)

    assert os.access(launcher.path(), os.X_OK)
    assert wrong(look(day, "agents")) == []


def test_doctor_reports_a_pause(day: Day) -> None:
    day.run("pause")
    assert "paused" in wrong(look(day, "switches"))[0]["text"]
    day.run("resume")
    assert look(day, "switches") == []


def test_variables_that_are_read_as_aliases_are_named(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [one for one in look(day, "switches") if "TRUEMEMORY_" in one["text"]]
    monkeypatch.setenv("TRUEMEMORY_INJECT_AFTER_TURNS", "4")
    assert [one for one in look(day, "switches") if "TRUEMEMORY_INJECT_AFTER_TURNS" in one["text"]]


def test_a_variable_that_mdmem_does_not_read_is_named_with_what_to_do(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_INJECT_RECALL_LIMT", "4")
    monkeypatch.setenv("MDMEM_CAPTURE_MAX_LINES", "40")
    assert [one["todo"] for one in wrong(look(day, "switches"))] == [
        "Set capture.max_lines in a settings file: `mdmem config set capture.max_lines VALUE`.",
        "Did you mean MDMEM_INJECT_RECALL_LIMIT?",
    ]


def test_a_lost_event_is_told_with_its_time_as_everywhere(day: Day) -> None:
    now = float(int(time.time()))  # whole seconds: the log rounds them
    losses.record(day.config(), "Stop", "codex", "full", now)
    with Path(day.config().state_dir, losses.FILE).open("a") as log_of_losses:
        log_of_losses.write(f"{now:.0f}\tStop")  # cut, as on a full disk
    (found,) = wrong(look(day, "lost"))
    assert f"lost at {timestamps.readable(timestamps.iso_time(now))}: Stop" in found["text"]


def test_the_log_of_the_last_days_is_shown(day: Day) -> None:
    assert look(day, "log")[0]["severity"] == "fine"
    log.write(day.config(), "prompt is lost", OSError("never shown"))
    found = look(day, "log")
    assert "prompt is lost" in found[0]["text"]
    assert "never shown" not in str(found)


def test_status_and_doctor_name_an_ignore_file_of_the_working_folder_that_cannot_be_read(
    day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".mdmemignore").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)
    text = f"{tmp_path}/.mdmemignore cannot be read (no such file or directory)"
    assert text in " ".join(day.run("status").stdout.split())
    (found,) = wrong(look(day, "switches"))
    assert text in found["text"]


@pytest.mark.parametrize(
    ("text", "said", "todo"),
    [
        ("[capture\nmax_lines = 3\n", "cannot be read as TOML", "Fix that line."),
        ("[capture]\nmax_line = 3\n", "Did you mean capture.max_lines?", "`mdmem config list` lists every setting."),
        ('[capture]\nnote = "cannot be read as TOML"\n', "no setting", "`mdmem config list` lists every setting."),
    ],
)
def test_a_slip_in_the_settings_is_named_with_what_to_do(day: Day, text: str, said: str, todo: str) -> None:
    (day.vault / "mdmem.toml").write_text(text)
    (found,) = wrong(look(day, "settings"))
    assert said in found["text"]
    assert found["todo"] == todo


@pytest.mark.slow
def test_history_that_is_missing_unfinished_or_behind_is_named(day: Day) -> None:
    assert "mdmem init" in wrong(look(day, "history"))[0]["todo"]
    repository.init(day.vault)
    assert "not committed" in look(day, "history")[1]["text"]
    look(day, "history", fix=True)
    assert [one["severity"] for one in look(day, "history")] == ["fine"]
    assert "stays on this machine" in look(day, "remote")[0]["text"]
    (day.vault / ".git" / "MERGE_HEAD").write_text("x")
    found = wrong(look(day, "history"))[0]
    assert found["text"] == f"A git merge is in progress in {day.vault}. Nothing is committed."
    assert found["todo"].startswith("Finish it with")


def test_a_path_with_a_full_stop_and_a_blank_does_not_end_the_sentence_about_it(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path / "St. Run dir")
    gemini = tmp_path / "St. Run dir/home/.gemini/settings.json"
    gemini.parent.mkdir()
    gemini.write_text('{"hooksConfig": {"enabled": false}}')
    day.run("install", "gemini", "--yes")

    (no_git,) = wrong(look(day, "history"))
    repository.init(day.vault)
    (day.vault / ".git" / "MERGE_HEAD").write_text("x")
    merging = wrong(look(day, "history"))[0]
    (switched_off,) = wrong(look(day, "agents"))

    assert no_git["text"] == f"{day.vault} is not a git repository of its own."
    assert no_git["todo"].startswith("Run `mdmem init '")
    assert merging["text"] == f"A git merge is in progress in {day.vault}. Nothing is committed."
    assert merging["todo"].startswith("Finish it with")
    assert switched_off["text"].endswith(
        f"hooksConfig.enabled in {gemini} switches hooks off, so Gemini CLI skips mdmem's and nothing is stored."
    )
    assert switched_off["todo"] == "Remove that setting."


def test_a_git_that_fails_is_no_merge_that_could_be_finished(day: Day) -> None:
    repository.init(day.vault)
    with (day.vault / ".git" / "config").open("a") as file:
        file.write("[core]\n\tpreloadIndex = perhaps\n")

    (found,) = [one for one in wrong(look(day, "history")) if one["text"].startswith("Nothing is committed")]

    assert found["todo"] == "Fix that; until then notes are stored, but not committed."


@pytest.mark.slow
def test_a_remote_that_has_not_seen_all_is_named(day: Day, tmp_path: Path) -> None:
    repository.init(day.vault)
    git(day.vault, "remote", "add", "origin", str(make_remote(tmp_path / "remote.git")))
    assert "never synced" in look(day, "remote")[0]["text"]
    day.run("sync")
    assert "is up to date" in look(day, "remote")[0]["text"]
    (day.vault / "notes" / "new.md").write_text("new")
    commit.commit(day.config())
    assert "1 commit to send" in look(day, "remote")[0]["text"]


@pytest.mark.slow
def test_a_vault_whose_branch_has_another_name_at_the_remote_counts_as_synced(day: Day, tmp_path: Path) -> None:
    repository.init(day.vault)
    git(day.vault, "remote", "add", "origin", str(make_remote(tmp_path / "remote.git")))
    day.run("sync")
    git(day.vault, "branch", "-m", "memory")
    day.run("sync")
    (day.vault / ".git" / "FETCH_HEAD").touch()  # of a plain fetch, which a sync leaves alone

    assert look(day, "remote")[0]["text"] == "origin is up to date, as of the last sync"


def test_a_package_that_is_required_and_missing_is_named(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["click<9,>=8", "no-such-package>=2.7; python_version > '3'", "nor-this-one<2; extra == 'test'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: lines)

    (found,) = machine.packages(day.config())

    assert (found.severity, found.text) == ("error", "The package no-such-package>=2.7 is missing.")
    assert found.todo == "Install it: `pip install 'no-such-package>=2.7'`."


def test_every_check_is_a_function_that_is_there() -> None:
    from importlib import import_module

    for check in checks.CHECKS:
        assert callable(getattr(import_module(f"mdmem.health.{check.module}"), check.function)), check.name


@pytest.mark.slow
def test_scripts_see_by_the_exit_status_whether_something_is_wrong(mdmem: Run, home: Path) -> None:
    assert mdmem("doctor").returncode == 1
    mdmem("init", check=True)
    mdmem("install", "claude-code", check=True)
    done = mdmem("doctor", "--fix")
    assert done.returncode == 0, done.stdout


# -- what is looked at -----------------------------------------------------------------------------


@pytest.mark.slow
def test_doctor_looks_again_only_into_what_is_new_or_was_wrong(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "FEW_NOTES", 0)
    path = day.vault / "notes" / "broken.md"
    path.write_text("---\ntitle: [\n---\n\nText.\n", encoding="utf-8")

    first = [one.finding for one in checks.run(day.config(), every=False)]
    second = scope.of(day.config(), every=False)

    assert any("broken.md" in one.text for one in first)
    assert second.paths == ["notes/broken.md"]
    path.write_text("Text.\n", encoding="utf-8")
    again = [one for one in checks.run(day.config(), every=False) if one.check == "notes"]
    assert [one.finding.severity for one in again] == ["fine"]
    assert scope.of(day.config(), every=False).paths == []
    assert scope.of(day.config(), every=True).is_whole


@pytest.mark.slow
@pytest.mark.parametrize("more", [b"\nMore.\n", b""])
def test_doctor_names_a_copy_of_a_note_that_it_knows(day: Day, monkeypatch: pytest.MonkeyPatch, more: bytes) -> None:
    monkeypatch.setattr(scope, "FEW_NOTES", 0)
    list(checks.run(day.config(), every=False))
    original = next(day.vault.rglob("*-prompt-*.md"))
    (day.vault / "notes" / "copy.md").write_bytes(original.read_bytes() + more)

    found = [one.finding.text for one in checks.run(day.config(), every=False) if one.check == "notes"]

    assert any("copy.md has the id" in text for text in found)


@pytest.mark.parametrize("most", [0, 1, 20_000])
def test_links_that_have_to_be_searched_for_are_found_some_at_a_time(
    day: Day, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(links, "AT_ONCE", most)
    for number in range(4):
        (day.vault / f"notes/to-{number}.md").write_text(f"[[lost {number}]] [[TO-{(number + 1) % 4}]] [[to-0|one]]\n")

    texts = [one["text"] for one in wrong(look(day, "links"))]

    assert texts == [f"notes/to-{number}.md:1: the link to 'lost {number}' leads nowhere." for number in range(4)]


def test_lists_in_an_archive_may_name_what_was_moved_since_and_a_persons_link_there_may_not(day: Day) -> None:
    name = "0800-why-does-the-lexer-fail-00893aaf"
    page = f"journal/app/2024-03-01/{name}/{name}.md"
    parts = ["<!-- mdmem:begin -->", "[before](../gone/gone.md)", "<!-- mdmem:end -->", "[mine](../mine.md)"]
    put(day.vault, page, "---\nid: 7gk2q9m4x9\nkind: session\ntitle: Why\n---\n\n# Why\n\n" + "\n".join(parts) + "\n")
    for words in (["init", str(day.vault)], ["commit"], ["archive", "2024"]):
        assert day.attempt(*words).exit_code == 0

    texts = [one["text"] for one in wrong(look(day, "links"))]

    assert not (day.vault / page).exists()
    assert texts == [f"{page}:12: the link to '../mine.md' leads nowhere."]


def test_a_wikilink_may_name_the_end_of_a_path(day: Day) -> None:
    put(day.vault, "notes/2024/maps/Harbour.png", "a picture\n")
    put(day.vault, "notes/2024/maps/legend.md", "# Legend\n")
    text = "![[maps/harbour.png]] ![[2024/maps/harbour.png]] [[Maps/legend]] ![[aps/harbour.png]] [[notes/legend]]\n"
    put(day.vault, "trips/north.md", text)

    texts = [one["text"].partition("the link to ")[2] for one in wrong(look(day, "links"))]

    assert texts == ["'aps/harbour.png' leads nowhere.", "'notes/legend' leads nowhere."]


def test_a_link_in_a_private_section_is_not_quoted(day: Day) -> None:
    (day.vault / "notes/from.md").write_text("<private>[[Lorbquist]]</private> [one](gone%20one.md)\n")

    texts = [one["text"].partition("the link to ")[2] for one in wrong(look(day, "links"))]

    assert texts == ["'[PRIVATE]' leads nowhere.", "'gone one.md' leads nowhere."]


def test_a_wikilink_may_lead_to_a_title(day: Day) -> None:
    (day.vault / "notes/utc.md").write_text("# Times are in UTC\n\nAll of them.\n")
    (day.vault / "notes/from.md").write_text("[[times are in utc]] [[Times in CET|here]]\n")

    texts = [one["text"] for one in wrong(look(day, "links"))]

    assert texts == ["notes/from.md:1: the link to 'Times in CET' leads nowhere."]


def test_a_link_to_a_renamed_note_is_named_with_where_that_note_is_now(day: Day) -> None:
    for name in ("plan [1]", "gone", "Äther"):
        put(day.vault, f"notes/{name}.md", f"# {name}\n\n" + "".join(f"Line {line} of {name}.\n" for line in range(20)))
    assert day.attempt("init", str(day.vault)).exit_code == 0
    (day.vault / "notes/old").mkdir()
    for rename in (
        ("plan [1]", "plan"),
        ("gone", "lost"),
        ("Äther", "ether"),
        ("plan", "old/plan"),
        ("lost", "gone 2"),
    ):
        (day.vault / f"notes/{rename[0]}.md").rename(day.vault / f"notes/{rename[1]}.md")
        assert day.attempt("commit").exit_code == 0
    (day.vault / "notes/gone 2.md").unlink()
    put(
        day.vault,
        "notes/from.md",
        "[a](<plan [1].md>) [b](Äther.md) [c](gone.md) [d](never.md) [[Notes/gone]] [e](x%00y.md)\n",
    )

    todos = [one["todo"] for one in wrong(look(day, "links"))]

    edit = "`mdmem edit notes/from.md`"
    now = [f"{edit}: that note is notes/{name}.md now." for name in ("ether", "old/plan")]
    assert sorted(todos) == [edit, edit, edit, edit, *now]


def test_each_of_several_copies_of_a_note_is_named_with_the_first(day: Day) -> None:
    for name in ("d/one", "a/two", "c"):
        (day.vault / f"notes/{name}.md").parent.mkdir(exist_ok=True)
        (day.vault / f"notes/{name}.md").write_text("---\nid: 7gk2q9m4x1\n---\nText.\n")

    texts = [one["text"] for one in wrong(look(day, "notes"))]

    first = "notes/c.md"
    assert texts == [f"notes/{name}.md has the id 7gk2q9m4x1, and so has {first}." for name in ("a/two", "d/one")]


def test_a_page_that_was_moved_and_made_again_becomes_a_note_of_its_owner(day: Day) -> None:
    page = next(day.vault.glob("journal/*/project.md"))
    moved = day.vault / "notes/app.md"
    before = page.read_text("utf-8")
    moved.write_text(f"{before}\nMy own line.\n", "utf-8")

    (found,) = wrong(look(day, "notes"))
    assert found["text"].startswith("notes/app.md has the id ")
    assert [one["done"] for one in wrong(look(day, "notes", fix=True))] == ["fixed"]
    assert wrong(look(day, "notes")) == []

    assert page.read_text("utf-8") == before
    kept = re.sub(r"(?m)^(id|kind): .*\n", "", before)
    assert moved.read_text("utf-8") == f"{kept}\nMy own line.\n"


@pytest.mark.parametrize("name", ["0-renamed", "renamed"])
def test_of_two_pages_of_one_project_the_one_whose_folder_got_another_name_stands_for_it(day: Day, name: str) -> None:
    page = next(day.vault.glob("journal/*/project.md"))
    renamed = page.parent.with_name(name) / page.name
    renamed.parent.mkdir()
    before = page.read_text("utf-8")
    renamed.write_text(f"{before}\nMy own line.\n", "utf-8")
    page.write_text(before.replace("identity: [", "identity: [host/joined, "), "utf-8")

    assert [one["done"] for one in wrong(look(day, "notes", fix=True))] == ["fixed"]

    assert wrong(look(day, "notes")) == []
    assert renamed.read_text("utf-8") == re.sub(
        r"identity: \[(.*)\]", r"identity: [\1, host/joined]", f"{before}\nMy own line.\n"
    )
    assert page.read_text("utf-8") == re.sub(r"(?m)^(id|identity): .*\n", "", before)


def test_a_vault_that_is_gone_is_not_answered_with_a_new_one(vault: Path, ask: Run) -> None:
    missing = vault.with_name("never")
    assert "`mdmem init` creates one." in ask("--vault", str(missing), "doctor", "--only", "vault").stdout
    assert "(missing: run `mdmem init`)" in ask("--vault", str(missing), "status").stdout

    repository.init(vault)
    put(vault, "notes/a.md", "a\n")
    ask("commit", check=True)
    vault.rename(vault.with_name("moved"))

    shown = " ".join(ask("doctor", "--only", "vault").stdout.split())
    assert f"The vault at {vault} is gone: its disk is not mounted, or it was moved or deleted." in shown
    assert "Mount its disk, or move it back; what is queued is then stored." in shown
    assert "(missing: `mdmem doctor` says what to do)" in ask("status").stdout
    for command in ((), ("search", "a"), ("watch", "--status")):
        done = ask(*command)
        assert (done.returncode, done.stdout) == (4, "")
        assert f"The vault at {vault} is gone" in done.stderr
        assert "If you moved it: `mdmem config set --user vault PATH`" in done.stderr
    vault.with_name("moved").rename(vault)
    assert "is gone" not in ask("doctor", "--only", "vault").stdout
