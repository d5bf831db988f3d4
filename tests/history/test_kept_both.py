"""What two machines put in the place of the same line: both versions stay in the note, and a person chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem.config import Config
from mdmem.errors import GitError
from mdmem.history import sync
from mdmem.history.git import repository
from mdmem.history.git.repository import Repository
from mdmem.history.merging import both, undecided
from mdmem.vault import note, people
from tests.helpers.history_vault import PAGE, git, put, run_here, start
from tests.helpers.machines import machine, settle, trees
from tests.helpers.plain_git import make_remote


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return repository.init(tmp_path_factory.mktemp("merging"))


def merged(repo: Repository, base: str | None, one: str, other: str, path: str = "notes/d.md") -> both.Both:
    """Merge two versions of a note in both directions, which make the same."""
    was = None if base is None else base.encode()
    found = [
        both.merge_note(repo, path, ours.encode(), was, theirs.encode())
        for ours, theirs in ((one, other), (other, one))
    ]
    assert found[0]
    assert found[0] == found[1]
    return found[0]


FENCED = "Run:\n\n```{}\nmake {}\n\nmake {}\n```\n\nDone.\n"


@pytest.mark.parametrize(
    ("base", "one", "other", "wanted", "places"),
    [
        ("as text\n", "as ints\n", "as floats\n", "as floats\n\nas ints\n", [((1, 1), (3, 3))]),
        ("top\nold\nend\n", "top\nnew\nend\n", "top\nNEW\nend\n", "top\nNEW\nnew\nend\n", [((2, 2), (3, 3))]),
        ("- a\n- b\n", "- a\n- c\n", "- a\n- d\n", "- a\n- c\n- d\n", [((2, 2), (3, 3))]),
        (
            "|a|b|\n|-|-|\n|1|2|\n",
            "|a|b|\n|-|-|\n|1|3|\n",
            "|a|b|\n|-|-|\n|1|4|\n",
            "|a|b|\n|-|-|\n|1|3|\n|1|4|\n",
            [((3, 3), (4, 4))],
        ),
        ("a1\nx\na3\n", "b1\nx\nb3\n", "c1\nx\nc3\n", "b1\nx\nb3\n\nc1\nx\nc3\n", [((1, 3), (5, 7))]),
        (
            FENCED.format("", "a", "b"),
            FENCED.format("", "c", "d"),
            FENCED.format("", "e", "f"),
            "Run:\n\n```\nmake c\n\nmake d\nmake e\n\nmake f\n```\n\nDone.\n",
            [((4, 6), (7, 9))],
        ),
        (
            FENCED.format("", "a", "b"),
            FENCED.format("sh", "a", "b"),
            FENCED.format("bash", "a", "b"),
            "Run:\n\n```bash\nmake a\n\nmake b\n```\n\n```sh\nmake a\n\nmake b\n```\n\nDone.\n",
            [((3, 7), (9, 13))],
        ),
        (None, "Ana's.\nMore.\n", "Ben's.\n", "Ana's.\nMore.\n\nBen's.\n", [((1, 2), (4, 4))]),
        ("old\r\n", "one\r\n", "two\r\n", "one\r\n\r\ntwo\r\n", [((1, 1), (3, 3))]),
        ("old\n", "A\nB\n", "B\nC\n", "A\nB\nC\n", [((1, 2), (2, 3))]),
        ("old\n", "A\nB\n", "B\n", "A\nB\n", []),
        ("old\n", "B\nA\n", "A\nB\n", "A\nB\n", []),
    ],
    ids=[
        "a paragraph", "a line of a paragraph", "an item", "a row", "two lines of a paragraph", "lines of a fence",
        "the line that opens a fence", "two notes of one name", "line ends of Windows", "kept before, here and there",
        "kept before, here", "kept in another order",
    ],
)  # fmt: skip
def test_both_versions_stay_whole_without_a_mark_whichever_side_merges(
    repo: Repository, base: str | None, one: str, other: str, wanted: str, places: list[object]
) -> None:
    found = merged(repo, base, one, other)

    assert found.data.decode() == wanted
    assert list(found.kept) == places


def test_a_side_whose_line_ends_git_has_converted_is_merged_line_by_line(repo: Repository) -> None:
    base = "---\nid: decision12\ntags: [a]\n---\n\nFirst.\n\nSecond.\n"
    one = base.replace("First.", "One.").replace("\n", "\r\n")
    other = base.replace("Second.", "Two.").replace("[a]", "[a, b]")
    both = base.replace("First.", "One.").replace("Second.", "Two.").replace("[a]", "[a, b]")

    assert merged(repo, base, one, other) == (both.encode(), (), ())
    assert merged(repo, base, other, one) == (both.encode(), (), ())
    windows = merged(repo, base, one, other.replace("\n", "\r\n"))
    assert windows == (both.replace("\n", "\r\n").encode(), (), ())


@pytest.mark.parametrize("base", [None, "# Diary\n\nA.\n"])
def test_a_note_that_became_private_stays_so_when_the_other_side_changed_it(repo: Repository, base: str | None) -> None:
    mine, theirs = "--- \nprivate: true\n---\n# Diary\n\nA canary.\n", "# DIARY\n\nB.\n"

    for one, other in ((mine, theirs), (theirs, mine)):
        assert note.parse(merged(repo, base, one, other).data).meta == {"private": True}


@pytest.mark.parametrize(("key", "one", "other"), [("private", "true", "false"), ("tags", "private", "[a]")])
def test_a_note_that_one_side_made_private_is_so_until_a_person_chooses(
    repo: Repository, key: str, one: str, other: str
) -> None:
    base = "---\nid: decision12\n---\n\nOne.\n"
    mine, theirs = (base.replace("---\n\n", f"{key}: {value}\n---\n\n") for value in (one, other))

    for sides in ((mine, theirs), (theirs, mine)):
        found = merged(repo, base, *sides)
        assert found.keys == (key,)
        assert people.keeps_private(note.parse(found.data).meta)


def test_a_note_of_one_line_that_ends_in_a_carriage_return_is_merged(repo: Repository) -> None:
    assert merged(repo, "one\r", "one\r", "two\n").data == b"two\n"


def test_front_matter_in_toml_is_not_merged(repo: Repository) -> None:
    mine = b"+++\nprivate = true\n+++\n# Diary\n\nA canary.\n"

    assert both.merge_note(repo, "notes/a.md", mine, None, b"# Diary\n\nB.\n") is None


def test_the_place_is_counted_from_the_top_of_the_note(repo: Repository) -> None:
    text = "---\nid: decision12\ntitle: On dates\n---\n\nFirst.\n\n{}\n"

    found = merged(repo, *(text.format(word) for word in ("a", "b", "c")))

    assert found.kept == (((8, 8), (10, 10)),)
    assert found.data.decode().split("\n")[7:10] == ["b", "", "c"]


@pytest.mark.parametrize(
    ("base", "one", "other", "wanted"),
    [
        ("[[[a]]]", "[[[a]], [[b]]]", "[[[a]], [[c]]]", [[["a"]], [["b"]], [["c"]]]),
        ("\n- [[a]]", "\n- [[a]]\n- [[b]]", "\n- [[a]]\n- [[c]]", [[["a"]], [["b"]], [["c"]]]),
        ("[{n: a, at: 1}]", "[{n: a, at: 1}, {n: b}]", "[{n: a, at: 2}]", [{"n": "a", "at": 2}, {"n": "b"}]),
        ("[1, 2]", "[1, 2, 3.5]", '[1, null, "2"]', [1, "2", 3.5, None]),
    ],
    ids=["links", "links on lines", "mappings", "numbers"],
)
def test_a_list_that_both_changed_keeps_what_its_items_are(
    repo: Repository, base: str, one: str, other: str, wanted: list[object]
) -> None:
    sides = [f"---\nrelated: {items}\n---\n\nbody\n".encode() for items in (one, base, other)]

    for ours, was, theirs in (sides, sides[::-1]):
        found = both.merge_note(repo, "notes/d.md", ours, was, theirs)
        assert found
        assert found.keys == ()
        assert sorted(map(repr, note.parse(found.data).meta["related"])) == sorted(map(repr, wanted))


@pytest.mark.parametrize(
    ("base", "one", "other", "wanted"),
    [
        ("title: A", "title: B", "title: C", {"title": "B", "title_other": "C"}),
        ("title: A", "title: B\ntitle_other: D", "title: C\ntitle_other: D", {"title": "B", "title_other": ["D", "C"]}),
        ("title: A", "title: B\ntitle_other: D", "title: B\ntitle_other: C", {"title": "B", "title_other": ["C", "D"]}),
        ('"my key": 1', '"my key": 2', '"my key": 3', {"my key": 2, "my key_other": 3}),
        ("text: |\n  a", "text: |\n  b\n  b", "text: >\n  c", {"text": "c\n", "text_other": "b\nb\n"}),
        ("# a\ntitle: A", "# b\ntitle: A", "# c\ntitle: A", {"title": "A"}),
        ("n: 1\nn_other: 2", "n: 3\nn_other: 4", "n: 3\nn_other: 5", {"n": 3, "n_other": [4, 5]}),
        ("n: 1\nn_other: 2", "n: 3\nn_other: 2", "n: 4\nn_other: 2", {"n": 3, "n_other": [2, 4]}),
        ("version: draft", "version: alpha", "version: beta", {"version": "alpha", "version_other": "beta"}),
        ("version: draft", "version: 3", "version: beta", {"version": 3}),
        ("version: 1.1", "version: 1.9", "version: 1.2", {"version": 1.9}),
        ("updated: 2026-09-01", "updated: 2026-09-14", "updated: 2026-09-13", {"updated": "2026-09-14"}),
        ("updated: x", "updated: 2026-09-13 23:59", "updated: 2026-09-14", {"updated": "2026-09-14"}),
        ("updated: x", "updated: 2026-09-13T22:00:00Z", "updated: 2026-09-14", {"updated": "2026-09-14"}),
        ("updated: x", 'updated: "[[2026-09-13]]"', 'updated: "[[2026-09-14]]"', {"updated": "[[2026-09-14]]"}),
    ],
    ids=[
        "a value",
        "one that waits",
        "only what waits",
        "a quoted key",
        "lines",
        "comments",
        "numbers that wait",
        "a number that waits",
        "a version in words",
        "a version that counts",
        "a version with a point",
        "days",
        "a day and a minute",
        "a day and a time",
        "days that are links",
    ],
)
def test_a_value_that_both_replaced_is_one_key_and_the_other_value_another(
    repo: Repository, base: str, one: str, other: str, wanted: dict[str, object]
) -> None:
    found = merged(repo, *(f"---\n{head}\n---\n\nbody\n" for head in (base, one, other)))

    parsed = note.parse(found.data)
    assert not parsed.problem
    assert parsed.meta == wanted
    keys = [line.partition(":")[0] for line in found.data.decode().split("\n---")[0].split("\n")[1:] if ":" in line]
    assert len(keys) == len(set(keys))


# -- machines that sync ----------------------------------------------------------------------------


@pytest.fixture
def two(vault: Path, tmp_path: Path) -> tuple[Config, Config]:
    """Two machines that changed the same line and the same title of a note; the second one has merged."""
    remote, text = tmp_path / "remote.git", "---\nid: decision12\ntitle: On dates\n---\n\n- we keep text\n- and more\n"
    first = start(vault)
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    git(vault, "remote", "add", "origin", str(remote))
    put(vault, "notes/d.md", text)
    sync.sync(first)
    second = machine(tmp_path, remote)
    for at, word in ((first, "ints"), (second, "floats")):
        put(Path(at.vault), "notes/d.md", text.replace("text", word).replace("On dates", f"On {word}"))
    sync.sync(first)
    return first, second


def asked(at: Config, *words: str, **more: object) -> str:
    done = run_here(*words, env={"MDMEM_VAULT": at.vault}, **more)  # type: ignore[arg-type]
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("one", "other", "winner"),
    [
        ("created: 2026-09-14T23:30:00-04:00", "created: 2026-09-15T09:00:00+09:00", 1),
        ('created: "2026-09-14T23:30:00-04:00"', "created: 2026-09-15T09:00:00+09:00", 1),
        ("created: 2026-09-14T10:00", "created: 2026-09-14T11:00:00Z", 1),
        ("created: yesterday", "created: 2026-09-14T11:00:00Z", 1),
        ("commit: 1234567", "commit: abcdef0", 0),
    ],
)
def test_a_page_that_two_machines_made_has_the_earlier_time_in_any_zone(
    repo: Repository, one: str, other: str, winner: int
) -> None:
    pages = [f"---\nkind: session\ntitle: t\n{line}\n---\n" for line in (one, other)]

    for ours, theirs in (pages, pages[::-1]):
        assert merged(repo, None, ours, theirs, path=PAGE).data.decode() == pages[winner]


@pytest.mark.slow
def test_sync_says_where_both_versions_are_and_review_asks_which_stays(two: tuple[Config, Config]) -> None:
    first, second = two

    said = asked(second, "sync")
    settle(first, second)

    assert "Both machines changed line 7 of notes/d.md; both versions are kept." in said
    assert "Both machines changed `title` of notes/d.md" in said
    body = "\n- we keep floats\n- we keep ints\n- and more\n"
    for at in two:
        assert Path(at.vault, "notes/d.md").read_text().endswith(body)
        assert "two machines changed the same place" in asked(at, "status")
        assert "`mdmem review` asks which one stays" in asked(at)
        assert "notes/d.md" in asked(at, "doctor", "--only", "history")
        assert "notes/d.md:7" in asked(at, "review", "--list")

    answered = asked(first, "review", input="1\n2\n")
    assert "- we keep floats" not in answered.rpartition("[1/")[2], "the note is shown as it is after the decision"
    settle(first, second)

    for at in two:
        text = Path(at.vault, "notes/d.md").read_text()
        assert text == "---\nid: decision12\ntitle: On floats\n---\n\n- we keep ints\n- and more\n"
        assert undecided.waiting(at) == []
        assert "same place" not in asked(at, "status")
    assert trees(first) == trees(second)


def test_a_push_that_a_remote_refuses_tells_its_words_and_what_was_merged_before(vault: Path, tmp_path: Path) -> None:
    remote = make_remote(tmp_path / "remote.git")
    first = start(vault)
    git(vault, "remote", "add", "origin", str(remote))
    for path in ("notes/d.md", "notes/e.md", "notes/data.csv"):
        put(vault, path, "old\n")
    sync.sync(first)
    second = machine(tmp_path, remote)
    for path in ("notes/d.md", "notes/e.md", "notes/data.csv"):
        put(Path(second.vault), path, "theirs\n")
    sync.sync(second)
    put(vault, "notes/d.md", "ours\n")
    put(vault, "notes/data.csv", "ours\n")
    (vault / "notes/e.md").unlink()
    put(remote, "hooks/pre-receive", "#!/bin/sh\necho 'The branch is protected' >&2\nexit 1\n").chmod(0o700)

    with pytest.raises(GitError) as refused:
        sync.sync(first)

    assert "hook declined. It says: The branch is protected. Everything is committed here." in str(refused.value)
    assert "Both machines changed the same lines of notes/d.md: both versions are kept" in str(refused.value)
    assert "Both machines changed notes/data.csv: the other version is beside it" in str(refused.value)
    assert "Deleted on one machine and changed on the other, so that it stays: notes/e.md." in str(refused.value)
    (beside,) = vault.glob("notes/data.conflict-*.csv")
    told = f"Both machines changed notes/data.csv: notes/{beside.name} is the other version."
    assert told in asked(first, "doctor", "--only", "history")
    beside.unlink()
    assert told not in asked(first, "doctor", "--only", "history")
    assert {"ours", "theirs"} == set((vault / "notes/d.md").read_text().split())


@pytest.mark.slow
def test_a_review_says_which_version_was_this_machines_and_counts_the_places(
    two: tuple[Config, Config], tmp_path: Path
) -> None:
    first, second = two
    sync.sync(second)
    sync.sync(first)  # gets the merge that the other one made

    listed = asked(first, "review", "--list")
    assert listed.splitlines()[-1].startswith("2 places with both versions and ")
    here, there = asked(first, "review", input="s\ns\n"), asked(second, "review", input="s\ns\n")
    assert "  1  (the other machine's)  - we keep floats\n  2  (this machine's)  - we keep ints\n" in here
    assert "1=first 2=second k=both" in here
    assert "  1  (this machine's)  - we keep floats\n  2  (the other machine's)  - we keep ints\n" in there
    assert "  1  (the other machine's)  On floats\n  2  (this machine's)  On ints\n" in here

    third = machine(tmp_path / "third", tmp_path / "remote.git")
    assert "  1  - we keep floats\n  2  - we keep ints\n" in asked(third, "review", input="s\ns\n")


@pytest.mark.slow
def test_a_note_with_two_versions_is_followed_and_an_edit_or_keeping_both_decides(two: tuple[Config, Config]) -> None:
    first, second = two
    sync.sync(second)
    sync.sync(first)
    Path(first.vault, "notes/d.md").rename(Path(first.vault, "notes/moved.md"))
    found = undecided.waiting(first)
    assert [(one.path, one.line, one.one, one.other) for one in found] == [
        ("notes/moved.md", 0, "On floats", "On ints"),
        ("notes/moved.md", 7, "- we keep floats", "- we keep ints"),
    ]

    edited = Path(first.vault, "notes/moved.md")
    sync.sync(first)
    sync.sync(second)
    assert undecided.decide(second, found[0])
    assert [one.line for one in undecided.waiting(second)] == [7]
    sync.sync(second)
    sync.sync(first)
    edited.write_text(edited.read_text().replace("- we keep ints\n", ""))
    assert undecided.waiting(first) == []
    assert "title_other: On ints" in edited.read_text()


def test_what_waits_is_known_from_new_commits_and_found_again_when_history_is_rewritten(vault: Path) -> None:
    at = start(vault)

    def commit(text: str) -> None:
        git(vault, "commit", "-q", "--allow-empty", "-m", text)

    def lines() -> list[int]:
        return [one.line for one in undecided.waiting(at)]

    put(vault, "notes/d.md", "a\nb\n\nc\nd\n")
    git(vault, "add", "-A")
    commit("Sync\n\nKept-Both: notes/d.md:1-1,2-2")
    before = git(vault, "rev-parse", "HEAD").strip()
    assert lines() == [1]
    commit("Sync\n\nKept-Both: notes/d.md:4-4,5-5")
    assert lines() == [1, 4]
    commit("Review\n\nDecided: notes/d.md:1-1,2-2")
    assert lines() == [4]
    assert lines() == [4]

    git(vault, "reset", "-q", "--soft", before)
    assert lines() == [1]
    Path(at.state_dir, "kept-both").write_text("{")
    assert lines() == [1]
