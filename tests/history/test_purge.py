"""Purging: what was asked for is in no file, no commit, no object and no cache, and everything else is as it was."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
from collections.abc import Callable
from math import ceil
from pathlib import Path
from string import punctuation

import pytest

from mdmem.capture.page import link_text
from mdmem.errors import GitError, NotFoundError, UsageError
from mdmem.history import commit, pages
from mdmem.history.git import filtering, repository
from mdmem.history.purging import patterns, purge, unpurged
from mdmem.vault import generated, note, user_notes
from tests.conftest import notes
from tests.helpers import claude
from tests.helpers.history_vault import FOLDER, PAGE, captured, git, head_files, put, run_here, start, turn
from tests.helpers.plain_git import make_remote

TEXT = 'the "Falcon" project'


Run = Callable[..., subprocess.CompletedProcess[str]]


def every_byte(vault: Path, state: Path) -> bytes:
    """Everything that is stored anywhere: files, names, unpacked objects, git's own files, state."""
    words = ["git", "-C", str(vault), "cat-file", "--batch-all-objects", "--batch", "--buffer"]
    objects = subprocess.run(words, capture_output=True, check=True).stdout
    files = [path for folder in (vault, state) for path in folder.rglob("*") if path.is_file()]
    return objects + b"".join(str(path).encode() + path.read_bytes() for path in files)


@pytest.mark.parametrize("ids", ["sha1", "sha256"])
@pytest.mark.slow
def test_a_text_is_purged_from_files_names_messages_every_commit_and_the_caches(vault: Path, ids: str) -> None:
    git(vault, "init", "-q", "-b", "main", f"--object-format={ids}")
    config = start(vault)
    turn(vault)
    commit.commit(config)
    title = '"on the \\"Falcon\\" project"'
    captured(vault, "002-000-prompt-the-falcon-project-7gk2q9m4x1", "prompt", title, body=TEXT)
    commit.commit(config)
    put(vault, "notes/plan.md", f"keep\n{TEXT} starts\nkeep\n")
    commit.commit(config)
    put(vault, "notes/plan.md", "keep\nit starts\nkeep\n")
    commit.commit(config)
    put(vault, "notes/unsaved.md", f"{TEXT}\n")
    state = Path(config.state_dir)
    put(state, "spool/1.json", '{"body": "the \\"Falcon\\" project, waiting"}')
    (state / "blob").write_bytes(b"\0" + TEXT.encode())
    put(Path(config.index_dir), "segment", "compressed")

    planned = purge.plan(config, TEXT)
    done = purge.apply(config, planned)

    assert done.left == []
    assert done.commits >= 3
    assert planned.found.files == {
        f"{FOLDER}/002-000-prompt-the-falcon-project-7gk2q9m4x1.md": 2,
        "notes/unsaved.md": 1,
    }
    stored = every_byte(vault, state)
    assert b"Falcon" not in stored
    assert b"the-falcon-project" not in stored
    assert (vault / "notes/unsaved.md").read_text() == "[REDACTED]\n"
    assert git(vault, "show", "HEAD~2:notes/plan.md") == "keep\n[REDACTED] starts\nkeep\n"
    assert git(vault, "fsck", "--strict", "--no-dangling") == ""
    assert git(vault, "status", "--porcelain") == "?? notes/unsaved.md\n"
    assert not Path(config.index_dir).exists()
    assert (state / "spool/1.json").read_text() == '{"body": "[REDACTED], waiting"}'


@pytest.mark.slow
def test_a_note_that_a_purge_rewrote_counts_as_edited_only_if_a_person_had_edited_it(vault: Path) -> None:
    config = start(vault)
    claude.capture(claude.prompt(f"Look at {TEXT} again"))
    claude.capture(claude.bash(f"{TEXT} is fine"))
    edited = notes(vault)[1]
    edited.write_text(f"{edited.read_text('utf-8')}\nMy own line.\n", "utf-8")
    commit.commit(config)

    assert purge.apply(config, purge.plan(config, TEXT)).left == []

    found = [note.parse(path.read_bytes()) for path in notes(vault)]
    assert [TEXT in one.body or "[REDACTED]" not in one.body for one in found] == [False, False]
    assert [note.is_edited(one) for one in found] == [False, True]
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.slow
def test_what_a_purge_puts_into_front_matter_leaves_it_readable(vault: Path) -> None:
    config = start(vault)
    claude.capture(claude.prompt(f"Look at {TEXT} again"))
    put(vault, "notes/plan.md", f"---\ntitle: {TEXT}, a plan # mine\naliases: [{TEXT}]\n---\n\nkeep {TEXT}\n")
    commit.commit(config)

    assert purge.apply(config, purge.plan(config, TEXT)).left == []

    assert [note.parse(path.read_bytes()).problem for path in vault.glob("journal/**/*.md")] == [None] * 3
    plan = '---\ntitle: "[REDACTED], a plan" # mine\naliases: ["[REDACTED]"]\n---\n\nkeep [REDACTED]\n'
    assert (vault / "notes/plan.md").read_text() == git(vault, "show", "HEAD:notes/plan.md") == plan


@pytest.mark.slow
def test_links_to_renamed_notes_lead_to_their_new_names(vault: Path) -> None:
    config = start(vault)
    name = "001-000-prompt-the-falcon-project-7gk2q9m4x1.md"
    captured(vault, name.removesuffix(".md"), "prompt", TEXT)
    put(vault, PAGE, f"1. [{TEXT}]({name})\n\nthe-falcon-project is no link\n")
    commit.commit(config)

    purge.apply(config, purge.plan(config, TEXT))

    (note,) = (vault / FOLDER).glob("001-000*")
    page = (vault / PAGE).read_text()
    assert page == f"1. [[REDACTED]]({note.name})\n\nthe-falcon-project is no link\n"
    assert git(vault, "show", f"HEAD:{PAGE}") == page
    assert b"falcon" not in (vault / ".git/index").read_bytes()
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.slow
def test_what_git_remembers_of_folders_does_not_keep_a_purged_name(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/the falcon plan/a.md", "text\n")
    commit.commit(config)
    git(vault, "-c", "core.untrackedCache=true", "update-index", "--force-untracked-cache")
    git(vault, "-c", "core.untrackedCache=true", "status", "--porcelain", "--untracked-files=all")

    done = purge.apply(config, purge.plan(config, "falcon"))

    assert done.left == []
    assert b"falcon" not in every_byte(vault, Path(config.state_dir))


def test_planning_changes_nothing(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/plan.md", TEXT)
    commit.commit(config)
    before = git(vault, "for-each-ref")

    planned = purge.plan(config, TEXT)

    assert (planned.found.files, planned.found.objects) == ({"notes/plan.md": 1}, 1)
    assert git(vault, "for-each-ref") == before
    assert (vault / "notes/plan.md").read_text() == TEXT


@pytest.mark.parametrize("ids", ["sha1", "sha256"])
@pytest.mark.slow
def test_a_note_is_purged_by_its_id_wherever_it_has_been(vault: Path, ids: str) -> None:
    git(vault, "init", "-q", "-b", "main", f"--object-format={ids}")
    config = start(vault)
    turn(vault)
    name = "002-000-prompt-secret-7gk2q9m4x1"
    path = captured(vault, name, "prompt", "Embarrassing")
    captured(vault, Path(PAGE).stem, "session", "A day", body=f"- [Embarrassing]({name}.md)\n- [Else](else.md)")
    commit.commit(config)
    path.rename(vault / "journal/moved-7gk2q9m4x1.md")
    commit.commit(config)

    done = purge.apply(config, purge.plan(config, "7gk2q9m4x1", kind="id"))

    assert done.left == []
    stored = every_byte(vault, Path(config.state_dir))
    assert b"Embarrassing" not in stored
    assert b"7gk2q9m4x1" not in stored
    assert "- [REDACTED]" in (vault / PAGE).read_text()
    assert len(head_files(vault)) == 6
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.slow
def test_no_record_of_a_session_and_no_link_keeps_the_title_in_the_name_of_a_purged_note(vault: Path) -> None:
    config = start(vault)
    claude.send(claude.prompt("Good morning"))
    claude.send(claude.prompt("Why does the harbor importer fail?", 2))
    (asked,) = [path for path in notes(vault) if path.name.startswith("002-000-prompt-")]
    put(vault, "notes/other.md", f"As [asked]({asked.name}) before.\n")
    commit.commit(config)

    done = purge.apply(config, purge.plan(config, asked.stem[-10:], kind="id"))

    assert done.left == []
    assert b"harbor" not in every_byte(vault, Path(config.state_dir))
    claude.send(claude.prompt("And now?", 3))
    assert [path.name[:8] for path in notes(vault) if "-prompt-" in path.name] == ["001-000-", "003-000-"]


def test_the_title_of_a_purged_note_is_in_no_subject_whoever_wrote_it(vault: Path) -> None:
    config = start(vault)
    long = "Embarrassing words of a title that is much longer than what fits into the subject of any commit here"
    name = user_notes.add(config, long, "Text.", agent="claude-code", now=1.0).id
    commit.commit(config)
    assert "By claude-code: add Embarrassing" in git(vault, "log", "--format=%s")

    purge.apply(config, purge.plan(config, name, kind="id"))

    assert b"Embarrassing" not in every_byte(vault, Path(config.state_dir))


def test_the_title_of_a_purged_note_is_in_no_subject_of_a_side_whose_changes_a_merge_does_not_show(vault: Path) -> None:
    config = start(vault)
    name = "7m2x4kd9qp"
    put(vault, "notes/plan.md", f"---\nid: {name}\ntitle: Plan\n---\nText.\n")
    commit.commit(config)
    git(vault, "checkout", "-q", "-b", "side")
    for title in ("Embarrassing words", "Plan"):
        put(vault, "notes/plan.md", f"---\nid: {name}\ntitle: {title}\n---\nText.\n")
        put(vault, "notes/more.md", f"Another {len(title)}.\n")
        git(vault, "add", ".")
        git(vault, "commit", "-q", "-m", f"By hand: edit {title}")
    git(vault, "checkout", "-q", "-")
    git(vault, "commit", "-q", "--allow-empty", "-m", "other")
    git(vault, "merge", "-q", "side", "-m", "merge")
    git(vault, "branch", "-q", "-D", "side")

    purge.apply(config, purge.plan(config, name, kind="id"))

    assert "Embarrassing" not in git(vault, "log", "--format=%s")


@pytest.mark.slow
def test_a_pattern_is_purged(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", "customer 123456 and customer 654321\n")
    commit.commit(config)

    done = purge.apply(config, purge.plan(config, r"customer \d{6}", kind="regex"))

    assert done.left == []
    assert git(vault, "show", "HEAD:notes/a.md") == "[REDACTED] and [REDACTED]\n"


@pytest.mark.slow
def test_what_a_person_staged_and_changed_survives_except_for_the_text(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", f"{TEXT}\n")
    put(vault, "notes/b.md", "b\n")
    commit.commit(config)
    put(vault, "notes/b.md", "b staged\n")
    put(vault, "notes/c.md", f"{TEXT} staged\n")
    put(vault, "code.py", "print()\n")
    git(vault, "add", "notes", "code.py")

    done = purge.apply(config, purge.plan(config, TEXT))

    assert done.left == []
    assert git(vault, "diff", "--cached", "--name-only").split() == ["code.py", "notes/b.md"]
    assert git(vault, "show", ":notes/b.md") == "b staged\n"
    assert (vault / "notes/c.md").read_text() == "[REDACTED] staged\n"
    assert b"Falcon" not in every_byte(vault, Path(config.state_dir))


@pytest.mark.slow
def test_what_a_person_stashed_last_is_rewritten_and_stays(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", "one\n")
    commit.commit(config)
    for text in ("two\n", f"three {TEXT}\n"):
        put(vault, "notes/a.md", text)
        git(vault, "stash")

    done = purge.apply(config, purge.plan(config, TEXT))

    assert done.left == []
    assert done.elsewhere[0].startswith("Older entries of `git stash` (1)")
    git(vault, "stash", "pop")
    assert (vault / "notes/a.md").read_text() == "three [REDACTED]\n"


@pytest.mark.slow
def test_remotes_programs_and_transcripts_are_named_with_what_to_run(vault: Path, tmp_path: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", f"{TEXT}\n")
    commit.commit(config)
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(vault, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(vault, "push", "-q", "origin", "main")

    done = purge.apply(config, purge.plan(config, TEXT))

    assert done.left == []
    assert "`mdmem sync` replaces it, and keeps what other machines have added" in done.elsewhere[0]
    assert "`mdmem web`, `mdmem watch`, and the MCP server" in done.elsewhere[-2]
    assert "transcripts" in done.elsewhere[-1]


@pytest.mark.parametrize(
    ("url", "way"),
    [
        ("git@github.com:me/memory.git", "support.github.com"),
        ("https://gitlab.example.org/me/memory.git", "Prune unreachable objects"),
        ("ssh://box/srv/my memory.git", "git -C '/srv/my memory.git' gc --prune=now"),
        ("box:memory.git", "git -C memory.git gc --prune=now"),
    ],
)
def test_a_host_s_way_to_drop_unreachable_objects_is_named(url: str, way: str) -> None:
    assert way in unpurged.unreachable(url)


@pytest.mark.slow
def test_a_remote_that_never_had_it_need_not_be_replaced(vault: Path, tmp_path: Path) -> None:
    config = start(vault)
    put(vault, "notes/b.md", "fine\n")
    commit.commit(config)
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(vault, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(vault, "push", "-q", "origin", "main")
    put(vault, "notes/a.md", f"{TEXT}\n")
    commit.commit(config)

    done = purge.apply(config, purge.plan(config, TEXT))

    assert (done.commits, done.left) == (1, [])
    assert not any("remote" in line or "Clones" in line for line in done.elsewhere)
    assert b"Falcon" not in every_byte(vault, Path(config.state_dir))
    assert git(vault, "log", "-1", "--format=%(trailers:key=Mdmem-Purged,valueonly)").strip()


@pytest.mark.slow
def test_a_purge_that_broke_off_brings_nothing_back_and_is_finished_by_the_next(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    turn(vault)
    put(vault, "notes/a.md", f"{TEXT}\n")
    commit.commit(config)

    def broken(*_: object) -> None:
        raise GitError("the power went")

    with monkeypatch.context() as patch:
        patch.setattr(filtering, "fetch_back", broken)
        with pytest.raises(GitError):
            purge.apply(config, purge.plan(config, TEXT))
    commit.commit(config)
    done = purge.apply(config, purge.plan(config, TEXT))

    assert done.left == []
    assert b"Falcon" not in every_byte(vault, Path(config.state_dir))
    assert (vault / "notes/a.md").read_text() == "[REDACTED]\n"
    assert git(vault, "status", "--porcelain") == ""


def test_a_purge_that_broke_off_late_leaves_no_index_and_no_state_with_the_text(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    put(vault, "notes/a.md", f"{TEXT}\n")
    commit.commit(config)
    put(Path(config.index_dir), "segment", "compressed")
    put(Path(config.state_dir), "note-to-self", TEXT)

    def broken(*_: object) -> None:
        raise GitError("the power went")

    monkeypatch.setattr(filtering, "scrub", broken)
    with pytest.raises(GitError):
        purge.apply(config, purge.plan(config, TEXT))

    assert not Path(config.index_dir).exists()
    assert b"Falcon" not in (Path(config.state_dir) / "note-to-self").read_bytes()


def test_a_pack_that_a_killed_git_left_half_made_is_purged(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", f"{TEXT}\n")
    commit.commit(config)
    git(vault, "gc", "-q")
    (pack,) = (vault / ".git" / "objects" / "pack").glob("*.pack")
    left = pack.with_name(f".tmp-7-{pack.name}")
    left.write_bytes(pack.read_bytes())

    assert purge.apply(config, purge.plan(config, TEXT)).left == []

    assert not left.exists()


@pytest.mark.parametrize("is_staged", [False, True])
def test_only_what_neither_history_nor_index_has_is_deleted(vault: Path, is_staged: bool) -> None:
    config = start(vault)
    put(vault, "notes/a.md", "one\n")
    commit.commit(config)
    put(vault, "notes/lost.md", "packed\n")
    lost = [git(vault, "hash-object", "-w", "notes/lost.md").strip()]
    git(vault, "repack", "-a", "-d", "-k", "-q")
    put(vault, "notes/lost.md", "loose\n")
    lost.append(git(vault, "hash-object", "-w", "notes/lost.md").strip())
    put(vault, "notes/a.md", "two\n")
    if is_staged:
        git(vault, "add", "notes/a.md")

    filtering.scrub(repository.open_vault(vault))

    kept = git(vault, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert not set(lost) & set(kept)
    assert git(vault, "show", ":notes/a.md") == ("two\n" if is_staged else "one\n")
    git(vault, "fsck", "--full", "--strict")


def test_purging_nothing_much_or_something_wrong_is_refused(vault: Path) -> None:
    config = start(vault)

    for target, kind in ((" ", "text"), ("(", "regex"), ("a*", "regex")):
        with pytest.raises(UsageError):
            purge.plan(config, target, kind=kind)
    with pytest.raises(NotFoundError):
        purge.plan(config, "missing123", kind="id")


@pytest.mark.parametrize("text", ["id", "a", "3", "z", "-", "2026"])
def test_a_text_of_which_every_note_consists_is_refused(vault: Path, text: str) -> None:
    config = start(vault)
    with pytest.raises(UsageError, match="a purge would destroy them"):
        purge.plan(config, text)
    with pytest.raises(UsageError, match="a purge would destroy them"):
        purge.plan(config, f"{text}|.", kind="regex")


@pytest.mark.slow
def test_a_file_that_leaves_history_is_on_none_of_its_pages_there(vault: Path) -> None:
    config = start(vault)
    for name in ("falcon-plan", "public-plan"):
        put(vault, f"notes/{name}.md", f"---\nkind: decision\ntitle: {name}\nproject: app\n---\nSteel.\n")
    listing = (
        "README.md",
        "days/2026-09-14.md",
        "journal/app/project.md",
        "journal/app/2026-09-14/0800-x-1/0800-x-1.md",
    )
    for page in listing:
        up = "../" * page.count("/")
        links = (f"- [{name}]({up}notes/{name}.md) of today\n" for name in ("falcon-plan", "public-plan"))
        put(vault, page, "".join(links))
    commit.commit(config)

    done = purge.apply(config, purge.plan(config, "notes/falcon-plan.md", kind="path"))

    objects = git(vault, "cat-file", "--batch-all-objects", "--batch", "--buffer")
    assert (done.left, "falcon" in objects, (vault / "notes/falcon-plan.md").exists()) == ([], False, True)
    assert [(vault / page).read_text().count("public-plan.md) of today") for page in listing] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("[a](journal/home/project.md)", True),
        ("[a](../home/2026-09-14/x.md)", True),
        ("[a](<../../journal/home/a b.md>)", True),
        ("[a](../other/home.md)", False),
        ("[a](home/plan.md)", False),
        ("[a](../../homes/plan.md)", False),
    ],
)
def test_links_to_a_folder_are_told_from_others(link: str, found: bool) -> None:
    assert bool(pages.links_to("journal/home").search(link.encode())) is found


@pytest.mark.parametrize("written", ["C#?.md", "C%23%3F.md"])
def test_links_to_a_note_are_found_in_either_form(written: str) -> None:
    link = f"[a](<../../notes/{written}>)".encode()
    assert pages.links_to("notes/C#?.md").search(link)
    assert pages.links(["../../notes/C#?.md"]).search(link)
    assert not pages.links_to("notes/C.md").search(link)


@pytest.mark.parametrize(
    "written",
    ['Größe "x"\nof', 'Größe "x"\r\nof', 'Größe \\"x\\"\\nof', 'Gr\\u00f6\\u00dfe \\"x\\"\\nof'],
)
def test_a_text_is_matched_whole_as_notes_yaml_and_json_write_it(written: str) -> None:
    for text in ('Größe "x"\nof', 'Größe "x"\r\nof'):
        assert patterns.literal(text).sub(b"-", f"a {written} b".encode()) == b"a - b"


@pytest.mark.parametrize("text", ["qu$ab_cd$_x", "__all__ & ~x", "*a* ==b== %%c%%", "[x] `y` C:\\z <b> &amp;"])
def test_a_text_is_matched_whole_in_the_titles_on_pages(text: str) -> None:
    for title, left in ((text, b"-"), (f"{text} of {text}", b"- of -")):
        assert patterns.literal(text).sub(b"-", link_text(title).encode()) == left


def test_what_titles_on_pages_escape_is_known_where_texts_are_looked_for() -> None:
    titles = " ".join(link_text(f"{mark}a{mark} {mark * 2} {mark * 2}") for mark in punctuation)
    assert set(re.findall(r"\\(.)", titles)) == set(generated.ESCAPED)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "kind"), [("qu$ab_cd$_x", "text"), (r"qu\$ab\w+\$_x", "regex")])
def test_what_is_purged_is_in_no_title_on_a_page(vault: Path, target: str, kind: str) -> None:
    config = start(vault)
    claude.send(claude.prompt("The gate word of _all_ is qu$ab_cd$_x"))
    claude.send(claude.stop("I noted qu$ab_cd$_x."))
    commit.commit(config)
    stored = every_byte(vault, Path(config.state_dir))
    assert link_text("qu$ab_cd$_x").encode() in stored

    done = purge.apply(config, purge.plan(config, target, kind=kind))

    assert done.left == []
    assert b"qu$ab" not in every_byte(vault, Path(config.state_dir)).replace(b"\\", b"")


@pytest.mark.parametrize("text", ['the "Falcon" project', "Zürich7", "~~~???", "falcon"])
@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(4))
def test_a_text_is_matched_in_base64_and_hexadecimal_behind_and_before_anything(
    text: str, before: int, after: int
) -> None:
    pattern, data = patterns.literal(text), b"\xfa" * before + text.encode() + b"\x05" * after
    for matched in (base64.b64encode(data), base64.urlsafe_b64encode(data), base64.b64encode(data).rstrip(b"=")):
        left = pattern.sub(b"", matched).rstrip(b"=")
        assert len(left) <= ceil(before * 8 / 6) + ceil(after * 8 / 6), "digits of what is around it"
        wrapped = b"".join(b"%c\r\n" % digit for digit in matched)
        assert pattern.sub(b"", wrapped).replace(b"\r\n", b"").rstrip(b"=") == left
    for written in (data.hex(), data.hex().upper(), data.hex(" "), data.hex(":"), data.hex("\n")):
        cut = [data[:before].hex(), data[before + len(text.encode()) :].hex()]
        kept = re.sub(r"[ :\n]", "", pattern.sub(b"", written.encode()).decode()).lower()
        assert kept == "".join(cut)


def test_a_text_too_short_to_tell_is_not_matched_in_other_notations() -> None:
    assert patterns.literal("cache").search(base64.b64encode(b"cache") + b"cache".hex().encode()) is None
    assert patterns.literal("caches", encoded=False).search(base64.b64encode(b"caches")) is None


def test_a_text_to_purge_can_be_read_from_stdin(vault: Path, ask: Run) -> None:
    start(vault)
    put(vault, "notes/a.md", f"About {TEXT}.\nAbout - this.\n")
    found = ask("purge", "-", "--json", input=f"{TEXT}\n")

    assert json.loads(found.stdout)["files"] == {"notes/a.md": 1}
    assert TEXT not in found.stderr
    assert "The text to purge is empty" in ask("purge", "-", input="").stderr


@pytest.mark.slow
def test_what_is_marked_in_a_prompt_later_is_purged_from_the_names_that_were_made_of_it(vault: Path) -> None:
    config = start(vault)
    claude.send(claude.prompt("Meet Zorblat Quuxdotter about the parser"))
    claude.send(claude.stop("It is planned."))
    (asked,) = vault.rglob("001-000-prompt-*.md")
    asked.write_text(asked.read_text().replace("Zorblat Quuxdotter", "<private>Zorblat Quuxdotter</private>"))

    (held_back,) = commit.commit(config).held_back
    assert held_back.why.startswith(f"The name of {asked.relative_to(vault)} holds private text")
    assert "The session's folder and page" in held_back.todo
    assert "`mdmem purge 'THE TEXT' --apply` removes it from these names" in held_back.todo
    done = purge.apply(config, purge.plan(config, "Zorblat Quuxdotter"))

    assert done.left == []
    assert b"quuxdotter" not in every_byte(vault, Path(config.state_dir)).lower()
    (held_back,) = commit.commit(config).held_back
    assert held_back.rule == "private-tag", "its name is no longer to blame"


@pytest.mark.slow
def test_what_a_tool_showed_of_a_text_in_base64_or_hexadecimal_is_purged(vault: Path) -> None:
    config = start(vault)
    shown = f"{base64.encodebytes(f'About {TEXT}, once more, and on and on'.encode()).decode()}{TEXT.encode().hex(' ')}"
    captured(vault, "001-001-bash-base64-plan-7gk2q9m4x1", "observation", "base64 plan", body=shown)
    commit.commit(config)

    planned = purge.plan(config, TEXT)
    done = purge.apply(config, planned)

    assert list(planned.found.files.values()) == [2]
    assert done.left == []
    stored = every_byte(vault, Path(config.state_dir))
    assert TEXT.encode().hex(" ").encode() not in stored
    assert base64.b64encode(TEXT.encode())[4:12] not in stored
    assert stored.count(b"[REDACTED]") >= 2


def test_an_expression_leaves_what_it_left_beside_titles() -> None:
    expression = patterns.with_titles(patterns.expression(r"(?<=pin )\w+"), [b"_4_"])
    assert expression.sub(b"-", rb"pin _4_, room _4_, [pin \_4\_](a.md)") == b"pin -, room _4_, [pin -](a.md)"


def test_a_text_that_ends_in_a_backslash_leaves_none_where_json_writes_two() -> None:
    assert patterns.literal("C:\\").sub(b"-", rb'"C:\\"') == b'"-"'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The lynx", b"prompt-redacted-ran-m"),
        ("lynx", b"prompt-the-redacted-ran-m"),
        ("ran", b"prompt-the-lynx-ran-m"),
    ],
)
def test_a_text_is_found_in_names_of_files_unless_it_is_so_short_that_it_may_be_a_part_of_any(
    text: str, left: bytes
) -> None:
    name = b"001-000-%b-7gk2q9m4x1.md"

    assert patterns.in_names(text).sub(patterns.RENAMED, name % b"prompt-the-lynx-ran-m") == name % left


@pytest.mark.slow
def test_a_plan_counts_where_the_text_is_in_other_letters(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/falcon-plan.md", "Falcon starts\n")
    put(vault, "notes/other.md", "tags: [falcon]\nFALCON or Falcon\n")
    commit.commit(config)

    assert purge.plan(config, "Falcon").found.other_case == 2
    assert purge.plan(config, "falcon starts").found.other_case == 2
    assert purge.plan(config, "(?i)falcon", kind="regex").found.other_case == 0
    assert "letter case" not in run_here("purge", "starts").stdout
    assert "2 files and objects contain it in other letter case: mdmem purge --regex '(?i)Falcon' finds" in (
        run_here("purge", "Falcon").stdout
    )


@pytest.mark.slow
def test_a_file_that_hides_the_text_is_named_until_it_is_gone_from_every_commit(vault: Path, ask: Run) -> None:
    start(vault)
    put(vault, "notes/list.md", "![[wide.txt]] ![[packed.gz]]\n")
    (vault / "notes/wide.txt").write_text(f"About {TEXT}", encoding="utf-16")
    (vault / "notes/packed.gz").write_bytes(gzip.compress(f"About {TEXT}".encode()))
    assert ask("commit").returncode == 0

    done = ask("purge", TEXT, "--apply", "--yes")

    assert done.returncode == 1
    assert "Proof" not in done.stdout
    hiding = [line for line in done.stderr.splitlines() if "contains it in UTF-16 or compressed" in line]
    assert [line.split()[0] for line in hiding] == ["notes/packed.gz", "notes/wide.txt"]

    for line in hiding:
        (vault / line.split()[0]).unlink()
        assert ask(*line.rpartition(": mdmem ")[2].split(), "--yes").returncode == 0
    assert "nothing to purge" in ask("purge", TEXT).stdout


def test_without_the_extra_nothing_is_touched(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = start(vault)
    put(vault, "notes/a.md", TEXT)
    monkeypatch.setattr(filtering, "MODULE", "git_filter_repo_is_not_here")

    with pytest.raises(GitError, match=r"\[purge\]'$"):
        purge.apply(config, purge.plan(config, TEXT))

    assert (vault / "notes/a.md").read_text() == TEXT


@pytest.mark.slow
def test_a_purge_names_the_work_tree_that_still_has_the_text(vault: Path, tmp_path: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", "the CANARY\n")
    commit.commit(config)
    git(vault, "worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "side")

    count, place, again = purge.apply(config, purge.plan(config, "CANARY")).left
    assert count == "1 git object still contains it."
    assert place.endswith(f"Remove it: git worktree remove --force {tmp_path / 'tree'}")
    assert again.startswith("Then run `mdmem purge` for the same text again")

    git(vault, "worktree", "remove", "--force", str(tmp_path / "tree"))
    assert purge.apply(config, purge.plan(config, "CANARY")).left == []


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_text_of_several_lines_is_found(vault: Path, ending: str) -> None:
    config = start(vault)
    put(vault, "notes/a.md", ending.join(["keep", "the Falcon", "starts", "keep", ""]))
    commit.commit(config)

    planned = purge.plan(config, "the Falcon\nstarts")

    assert planned.found.files == {"notes/a.md": 1}
    assert planned.finds((vault / "notes/a.md").read_bytes())


def test_a_shallow_clone_purges_only_after_the_rest_was_fetched_since_the_remote_would_lose_it(
    vault: Path, tmp_path: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    settings = start(vault)
    for text in ("the falcon flies", "the falcon lands", "the falcon sleeps"):
        put(vault, "notes/a.md", f"{text}\n")
        commit.commit(settings)
    remote = make_remote(tmp_path / "remote")
    git(vault, "push", "-q", str(remote), "main")
    clone, env = tmp_path / "clone", {"MDMEM_VAULT": str(tmp_path / "clone")}
    git(tmp_path, "clone", "-q", "--depth", "1", remote.as_uri(), str(clone))

    refused = mdmem("purge", "falcon", "--apply", "--yes", env=env)
    git(clone, "fetch", "-q", "--unshallow")
    mdmem("purge", "falcon", "--apply", "--yes", env=env, check=True)
    mdmem("sync", env=env, check=True)

    assert refused.returncode
    assert f"git -C {clone} fetch --unshallow" in refused.stderr
    assert int(git(remote, "rev-list", "--count", "main")) >= 3
    assert "falcon" not in git(remote, "log", "-p", "main")


def test_the_branch_in_use_is_never_advised_to_be_deleted(vault: Path, ask: Run) -> None:
    settings = start(vault)
    put(vault, "notes/a.md", "the history of it\n")
    commit.commit(settings)

    done = ask("purge", "history", "--apply", "--yes")

    assert "refs/heads/main still has it. It is in a commit made just now, or in words that mdmem writes" in done.stderr
    assert "update-ref" not in done.stderr
