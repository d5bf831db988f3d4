"""Merging by id: what one machine moved and another changed is one note, moved and changed; nobody's line is lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mdmem.config import Config
from mdmem.history import commit, sync, undo
from mdmem.history.git import repository
from mdmem.history.merging import join
from mdmem.history.purging import purge
from mdmem.history.space import archive
from mdmem.vault import journal, note
from mdmem.views.vault_pages import upkeep
from tests.helpers.history_vault import FOLDER, captured, git, put, start, turn
from tests.helpers.machines import MARKS, machine, settle, trees, unpacked

SOAK = int(os.environ.get("MDMEM_SOAK", "1"))

NOTE = "---\nid: decision12\ntitle: On dates\n---\n\none\ntwo\nthree\n"


@pytest.fixture
def two(vault: Path, tmp_path: Path) -> tuple[Config, Config]:
    """Two machines that have the same: a session, a note with an id, one without, a folder of notes."""
    first, remote = start(vault), tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    git(vault, "remote", "add", "origin", str(remote))
    turn(vault)
    put(vault, "notes/dates.md", NOTE)
    put(vault, "notes/plain.md", "".join(f"a plain line {number}\n" for number in range(20)))
    for name in "abc":
        put(vault, f"notes/topic/{name}.md", f"about {name}\n" * 5)
    sync.sync(first)
    return first, machine(tmp_path, remote)


def edit(root: str, path: str, text: str) -> None:
    file = Path(root, path)
    file.write_text(file.read_text() + text)


def move(root: str, old: str, new: str) -> None:
    Path(root, new).parent.mkdir(parents=True, exist_ok=True)
    Path(root, old).rename(Path(root, new))


def met(*machines: Config) -> dict[str, bytes]:
    """Sync all; return what they have in common, which is all they have."""
    settle(*machines)
    found = trees(*machines)
    assert all(one == found[0] for one in found)
    for one in machines:
        assert git(Path(one.vault), "status", "--porcelain") == ""
    return found[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("notes/dates.md", "notes/decisions/about-dates.md"),
        ("notes/dates.md", "notes/Dates.md"),
        ("notes/plain.md", "notes/renamed.md"),
        (f"{FOLDER}/001-000-prompt-why-p1.md", "notes/kept-from-the-journal.md"),
    ],
)
def test_a_note_moved_here_and_edited_there_is_one_note_moved_and_edited(
    two: tuple[Config, Config], old: str, new: str
) -> None:
    first, second = two
    before = len(trees(first)[0])
    move(first.vault, old, new)
    edit(first.vault, new, "edited here\n")
    edit(second.vault, old, "edited there\n")

    files = met(first, second)

    assert old not in files
    assert b"edited there" in files[new]
    assert b"edited here" in files[new]
    assert len(files) == before


@pytest.mark.slow
def test_a_folder_moved_here_takes_along_what_was_edited_and_added_there(two: tuple[Config, Config]) -> None:
    first, second = two
    move(first.vault, "notes/topic", "notes/archive/topic")
    edit(second.vault, "notes/topic/a.md", "edited there\n")
    put(Path(second.vault), "notes/topic/new.md", "added there\n")
    put(Path(second.vault), "notes/topic/deep/new.md", "added there, too\n")

    files = met(second, first)

    assert not [path for path in files if path.startswith("notes/topic/")]
    assert files["notes/archive/topic/a.md"].endswith(b"edited there\n")
    assert files["notes/archive/topic/new.md"] == b"added there\n"
    assert files["notes/archive/topic/deep/new.md"] == b"added there, too\n"


@pytest.mark.slow
def test_a_note_moved_on_both_machines_has_one_name(two: tuple[Config, Config]) -> None:
    first, second = two
    move(first.vault, "notes/dates.md", "notes/z.md")
    move(second.vault, "notes/dates.md", "notes/y.md")
    edit(second.vault, "notes/y.md", "edited there\n")

    files = met(first, second)

    assert sorted(path for path in files if b"decision12" in files[path]) == ["notes/y.md"]
    assert files["notes/y.md"].endswith(b"edited there\n")


@pytest.mark.slow
def test_the_name_of_a_moved_note_is_not_taken_from_another_one(two: tuple[Config, Config]) -> None:
    first, second = two
    move(first.vault, "notes/dates.md", "notes/when.md")
    put(Path(second.vault), "notes/when.md", "another note\n")
    edit(second.vault, "notes/dates.md", "edited there\n")

    files = met(first, second)

    assert b"another note" in b"".join(files.values())
    assert b"edited there" in b"".join(files.values())


def begin_session(at: Config, folder: str, number: int) -> None:
    """Write a prompt of a session that each machine begins for itself, and the session's page."""
    words = folder.rpartition("/")[2][5:-9]
    captured(Path(at.vault), f"001-000-prompt-{words}-{number:010d}", "prompt", f"Asked {words}", folder=folder)
    session = "c0ffee00-1234-4abc-9def-0123456789ab"
    text = (
        f"---\nid: {note.make_id(session, 'session')}\nkind: session\ntitle: {words}\nsession: {session}\n"
        f"aliases: [{words}]\n---\n\n# {words}\n\n<!-- mdmem:begin -->\n- {words}\n<!-- mdmem:end -->\n\n## Notes\n"
    )
    put(Path(at.vault), f"{folder}/{folder.rpartition('/')[2]}.md", text)


@pytest.mark.slow
def test_a_session_that_two_machines_resumed_after_different_prompts_is_one_folder_with_one_page(
    two: tuple[Config, Config],
) -> None:
    begin_session(two[0], "journal/app/2026-09-11/0100-first-here-c0ffee00", 1)
    begin_session(two[1], "journal/app/2026-09-12/0200-then-there-c0ffee00", 2)

    files = met(*two)

    (page_path,) = [path for path in files if b"kind: session" in files[path] and "c0ffee00" in path]
    assert page_path == "journal/app/2026-09-11/0100-first-here-c0ffee00/0100-first-here-c0ffee00.md"
    folder = page_path.rpartition("/")[0]
    assert len([path for path in files if path.startswith(f"{folder}/")]) == 3
    assert not [path for path in files if "then-there-c0ffee00" in path]
    text = files[page_path].decode()
    assert text.count("# first-here\n") == text.count("<!-- mdmem:begin -->") == text.count("## Notes") == 1
    assert ("- first-here\n" in text) != ("- then-there\n" in text)  # upkeep makes it again, of both sides' notes


def test_a_session_begun_twice_is_one_folder_where_a_machine_has_renamed_the_others_project(
    two: tuple[Config, Config],
) -> None:
    begin_session(two[0], "journal/other/2026-09-11/0100-first-here-c0ffee00", 1)
    move(two[0].vault, "journal/acme-notes-app", "journal/renamed")
    begin_session(two[1], "journal/acme-notes-app/2026-09-12/0200-then-there-c0ffee00", 2)

    files = met(*two)

    assert len({path.rpartition("/")[0] for path in files if "c0ffee00" in path}) == 1
    assert len([path for path in files if "c0ffee00" in path]) == 3


@pytest.mark.parametrize(
    ("path", "is_page"),
    [
        ("journal/app/2026-09-14/0800-why-c0ffee00/0800-why-c0ffee00.md", True),
        ("journal/app/2026-09-14/0800-other-words-c0ffee00/0800-why-c0ffee00.md", True),
        ("journal/app/2026-09-14/my words/0800-why-c0ffee00.md", True),
        ("journal/app/2026-09-14/0800-why-c0ffee00/2026-budget-overview.md", False),
        ("journal/app/2026-09-14/0800-why-c0ffee00/001-000-prompt-why-7gk2q9m4x1.md", False),
        ("notes/2026/09/14/0800-why-c0ffee00/0800-why-c0ffee00.md", False),
    ],
)
def test_the_page_of_a_session_is_known_in_a_renamed_folder_too(path: str, is_page: bool) -> None:
    assert journal.is_page(path) == is_page


@pytest.mark.slow
def test_what_is_not_committed_moves_along(two: tuple[Config, Config]) -> None:
    first, second = two
    move(first.vault, "notes/dates.md", "notes/moved.md")
    sync.sync(first)
    secret = 'api_key = "sk-ant-api03-' + "A1b2C3d4E5" * 9 + '-abcdefAA"\n'
    edit(second.vault, "notes/dates.md", secret)

    done = sync.sync(second)

    assert [held.path for held in done.held_back] == ["notes/dates.md"]
    assert not Path(second.vault, "notes/dates.md").exists()
    assert Path(second.vault, "notes/moved.md").read_text() == NOTE + secret


@pytest.mark.slow
def test_a_session_renamed_on_both_machines_stays_one_folder_with_what_was_edited_here_and_deleted_there(
    two: tuple[Config, Config],
) -> None:
    day, name = FOLDER.rpartition("/")[0], "001-000-prompt-why-p1.md"
    here, there = f"{day}/0900-two-00893aaf", f"{day}/0900-one-00893aaf"
    for one, new in zip(two, (here, there), strict=True):
        move(one.vault, FOLDER, new)
    edit(two[0].vault, f"{here}/{name}", "edited here\n")
    Path(two[1].vault, there, name).unlink()
    captured(Path(two[1].vault), "002-000-prompt-z", "prompt", "z", folder=there)

    files = met(*two)

    assert {path.rpartition("/")[0] for path in files if "00893aaf" in path} == {there}
    assert b"edited here" in files[f"{there}/{name}"]


@pytest.mark.parametrize("name", ["another-name", "zoo"])
def test_a_project_begun_on_two_machines_and_renamed_on_one_is_one_folder_with_the_name_that_was_given(
    two: tuple[Config, Config], name: str
) -> None:
    page = "---\nid: project123\nkind: project\ntitle: app\nproject: app\nidentity: [host/app]\n---\n\n# app\n"
    for at, own in zip(two, ("11111111", "22222222"), strict=True):
        put(Path(at.vault), "journal/app/project.md", page)
        put(Path(at.vault), f"journal/app/2026-09-14/0800-x-{own}/001-000-prompt-x-{own}ab.md", f"words of {own}\n")
    move(two[1].vault, "journal/app", f"journal/{name}")

    everything = met(*two)

    found = {path for path in everything if "11111111" in path or "22222222" in path or "project.md" in path}
    sessions = {f"journal/{name}/2026-09-14/0800-x-{own}/001-000-prompt-x-{own}ab.md" for own in ("1" * 8, "2" * 8)}
    assert {path for path in found if "/acme-notes-app/" not in path} == {f"journal/{name}/project.md", *sessions}


@pytest.mark.slow
def test_a_session_renamed_differently_and_again_on_three_machines_is_one_folder(
    two: tuple[Config, Config], tmp_path: Path
) -> None:
    first, second = two
    third = machine(tmp_path, tmp_path / "remote.git", "third")
    day = FOLDER.rpartition("/")[0]
    folders = {name: f"{day}/0900-{name}-00893aaf" for name in "vwxy"}
    move(first.vault, FOLDER, folders["x"])
    sync.sync(first)
    sync.sync(second)
    for at, old, new in ((second, folders["x"], "y"), (third, FOLDER, "w"), (first, folders["x"], "v")):
        move(at.vault, old, folders[new])
        captured(Path(at.vault), f"004-000-prompt-{new}", "prompt", new, folder=folders[new])
    sync.sync(second)

    files = met(third, first, second)

    assert {path.rpartition("/")[0] for path in files if "00893aaf" in path} == {folders["v"]}
    assert len([path for path in files if "-prompt-" in path]) == 4


@pytest.mark.slow
def test_a_session_packed_here_and_edited_there_is_taken_apart_with_every_note_on_disk(tmp_path: Path) -> None:
    first, second = Fleet(tmp_path, 2).machines
    folder = FOLDER.replace("2026", "2024")
    turn(Path(first.vault), folder=folder)
    before = met(first, second)
    archive.pack(first, 2024, now=1_789_372_800.0)
    edit(second.vault, f"{folder}/001-000-prompt-why-p1.md", "edited there\n")

    files = met(second, first)

    assert sorted(files) == sorted(before)
    assert files[f"{folder}/001-000-prompt-why-p1.md"].endswith(b"edited there\n")


@pytest.mark.slow
@pytest.mark.parametrize("packs_first", [True, False])
def test_a_session_packed_here_and_renamed_edited_and_cut_there_is_one_session(
    tmp_path: Path, packs_first: bool
) -> None:
    fleet = Fleet(tmp_path, 2)
    first, second = fleet.machines
    old = FOLDER.replace("2026", "2024")
    turn(Path(first.vault), folder=old)
    turn(Path(first.vault), session="ffff0000", folder=old.replace("00893aaf", "ffff0000"))
    met(first, second)
    archive.pack(first, 2024, now=1_789_372_800.0)
    new = f"{old.rpartition('/')[0]}/0900-renamed-00893aaf"
    move(second.vault, old, new)
    edit(second.vault, f"{new}/001-000-prompt-why-p1.md", "edited there\n")
    Path(second.vault, new, "001-001-bash-pytest-b1.md").unlink()

    files = met(*(fleet.machines if packs_first else fleet.machines[::-1]))

    assert sorted(path.rpartition("/")[2] for path in files if path.startswith(f"{new}/")) == [
        "001-000-prompt-why-p1.md",
        "001-002-edit-dates-e1.md",
        "001-003-response-fixed-r1.md",
        f"{old.rpartition('/')[2]}.md",
    ]
    assert files[f"{new}/001-000-prompt-why-p1.md"].endswith(b"edited there\n")
    assert [path for path in files if "00893aaf" in path and not path.startswith(new)] == []
    assert [path.count("/") for path in files if "ffff0000" in path] == [5], "nobody touched the other one"


# -- any history -----------------------------------------------------------------------------------


class Fleet:
    """Some machines with one remote, and what people wrote on them."""

    def __init__(self, root: Path, count: int) -> None:
        """Set them up."""
        self.remote = root / "remote.git"
        git(root, "init", "-q", "--bare", "-b", "main", str(self.remote))
        (root / "m0").mkdir()
        (root / "m0/mdmem.toml").write_text("")
        first = start(root / "m0")
        git(root / "m0", "remote", "add", "origin", str(self.remote))
        for number in range(4):
            put(root / "m0", f"notes/n{number}.md", NOTE.replace("decision12", f"handmade0{number}"))
            put(root / "m0", f"notes/f{number}/plain.md", f"plain {number}\n" * 9)
        sync.sync(first)
        self.machines = [first, *(machine(root, self.remote, f"m{number}") for number in range(1, count))]
        self.lines: set[bytes] = set()
        self.gone: set[bytes] = set()
        self.words: set[bytes] = set()
        self.purged: set[bytes] = set()
        self.count = 0

    def step(self, who: int, what: str, seed: int) -> None:
        """Change one thing on one machine."""
        self.count += 1
        at = self.machines[who % len(self.machines)]
        notes = sorted(path for path in Path(at.vault, "notes").rglob("*.md"))
        path = notes[seed % len(notes)] if notes else Path(at.vault, "notes/none.md")
        doing: dict[str, Callable[[], None]] = {
            "prompt": lambda: self.prompt(at, seed),
            "edit": lambda: self.write(path),
            "new": lambda: self.write(Path(at.vault, f"notes/f{seed % 4}/new-{self.count}.md")),
            "rename": lambda: self.rename(path, path.with_name(f"r{self.count}.md")),
            "move": lambda: self.rename(path, Path(at.vault, f"notes/g{seed % 3}/{path.name}")),
            "folder": lambda: self.rename(path.parent, Path(at.vault, f"notes/h{self.count}")),
            "case": lambda: self.rename(path, path.with_name(f"{path.stem.swapcase()}.md")),
            "delete": lambda: self.delete(path),
            "line": lambda: self.delete_line(path, seed),
            "replace": lambda: self.replace_line(path, seed),
            "attach": lambda: self.attach(at, path, seed),
            "image": lambda: self.change_image(at, seed),
            "purge": lambda: self.purge(at, seed),
            "undo": lambda: self.undo(at),
            "sync": lambda: self.sync(at),
        }
        doing[what]()

    def prompt(self, at: Config, seed: int) -> None:
        """Capture a prompt, in a session of its own."""
        folder = f"journal/app/2026-09-14/0800-m-{seed % 7:08d}"
        name = f"001-{self.count:03d}-prompt-x-{self.count:010d}"
        more = {"session": f"{seed % 7:08d}-x", "folder": folder, "id": f"{self.count:010d}"}
        captured(Path(at.vault), name, "prompt", f"Asked {self.count}", **more)

    def write(self, path: Path) -> None:
        """Write a line, as a person does."""
        line = f"A person's line {self.count}.".encode()
        if self.count % 5 == 0:
            self.words.add(f"canary-{self.count}-word".encode())
            line = f"A person's line {self.count}. canary-{self.count}-word".encode()
        self.lines.add(line)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((path.read_bytes() if path.exists() else b"") + line + b"\n")

    def rename(self, old: Path, new: Path) -> None:
        """Move a file or a folder, unless something is in the way."""
        if old.exists() and not new.exists() and old.name != "notes":
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)

    def delete(self, path: Path) -> None:
        """Delete a note; its lines are gone by a person's word."""
        if path.exists():
            self.gone |= set(path.read_bytes().split(b"\n"))
            path.unlink()

    def delete_line(self, path: Path, seed: int) -> None:
        """Delete a line of a note's body."""
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        own = [at for at, line in enumerate(lines) if line.startswith(b"A person's line")]
        if own:
            self.gone.add(lines.pop(own[seed % len(own)]))
            path.write_bytes(b"\n".join(lines))

    def replace_line(self, path: Path, seed: int) -> None:
        """Put another text in the place of a line, of which other machines may do the same."""
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        own = [at for at, line in enumerate(lines) if line.startswith((b"A person's line", b"plain", b"two"))]
        if own:
            at = own[seed % 2 - 1]  # the first one or the last, so that machines meet
            self.gone.add(lines[at])
            lines[at] = f"A person's line {self.count}.".encode()
            self.lines.add(lines[at])
            path.write_bytes(b"\n".join(lines))

    def attach(self, at: Config, path: Path, seed: int) -> None:
        """Put an image beside the notes, or elsewhere with a link to it."""
        place = f"img/i{self.count}.png" if seed % 2 else f"notes/f{seed % 4}/i{self.count}.png"
        if path.exists() and seed % 2:
            link = f"![]({place})".encode()
            self.lines.add(link)
            path.write_bytes(path.read_bytes() + link + b"\n")
        if path.exists() or not seed % 2:
            self.draw(Path(at.vault, place))
            commit.commit(at)  # else the link may be gone before it is seen

    def draw(self, path: Path) -> None:
        """Write an image, which is one line that must not be lost."""
        data = b"\x89PNG\0 %d" % self.count
        self.lines.add(data)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def change_image(self, at: Config, seed: int) -> None:
        """Change, move or delete an image."""
        images = sorted(Path(at.vault).rglob("*.png"))
        if images:
            path = images[seed % len(images)]
            if seed % 3:
                self.gone.add(path.read_bytes())
            if seed % 3 == 0:
                self.rename(path, path.with_name(f"j{self.count}.png"))
            elif seed % 3 == 1:
                commit.commit(at)
                self.draw(path)
                commit.commit(at)  # changed and moved at once, it would be a new one that no note links to
            else:
                path.unlink()

    def purge(self, at: Config, seed: int) -> None:
        """Purge a word that this machine has."""
        have = b"\n".join(path.read_bytes() for path in Path(at.vault).rglob("*.md"))
        known = sorted(word for word in self.words if word in have)
        if known:
            word = known[seed % len(known)]
            commit.commit(at)
            assert purge.apply(at, purge.plan(at, word.decode())).left == []
            self.purged.add(word)
            self.words.remove(word)

    def undo(self, at: Config) -> None:
        """Take back a session that is there."""
        sessions = sorted(Path(at.vault).glob("journal/app/*/*/"))
        if sessions:
            commit.commit(at)
            name = sessions[self.count % len(sessions)].name[-8:]
            undo.apply(at, undo.plan(at, f"{name}-x"), upkeep.updater(at))

    def sync(self, at: Config) -> None:
        """Sync."""
        sync.sync(at)

    def check(self) -> None:
        """Sync all machines; check that nothing is lost, nothing is there twice, and nobody has to choose."""
        settle(*self.machines)
        settle(*self.machines)
        found = trees(*self.machines)
        assert all(one == found[0] for one in found)
        everything = b"\n".join(found[0].values())
        held = set(everything.split(b"\n"))
        assert sorted(self.cleaned(self.lines) - self.cleaned(held) - self.cleaned(self.gone)) == []
        ids = Counter(str(note.parse(data).meta["id"]) for data in found[0].values() if note.parse(data).meta.get("id"))
        assert [name for name, count in ids.items() if count > 1] == []
        assert not MARKS.search(everything)
        for one in self.machines:
            assert git(Path(one.vault), "status", "--porcelain") == ""
        if self.purged:
            git(self.remote, "gc", "-q", "--prune=now")
            for folder in (self.remote, *(Path(one.vault) for one in self.machines)):
                objects = unpacked(folder)
                assert [word for word in self.purged if word.decode() in objects] == []

    def cleaned(self, lines: set[bytes]) -> set[bytes]:
        """Return lines as they are once everything is purged."""
        for word in self.purged:
            lines = {line.replace(word, b"[REDACTED]") for line in lines}
        return lines


WHAT = [
    "prompt",
    "edit",
    "new",
    "rename",
    "move",
    "folder",
    "case",
    "delete",
    "line",
    "replace",
    "attach",
    "image",
    "undo",
    "sync",
]
PURGES = 0.012
"""So often something is purged, which takes seconds."""
STEPS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(WHAT), st.integers(0, 99)), min_size=4, max_size=14)


@pytest.mark.slow
@settings(max_examples=4, phases=[Phase.explicit, Phase.generate])  # an example takes seconds: none is shrunk
@given(STEPS)
def test_any_history_on_three_machines_meets_without_a_loss(steps: list[tuple[int, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder), 3)
        for step in steps:
            fleet.step(*step)
        fleet.check()


@pytest.mark.slow
def test_five_hundred_events_on_three_machines_meet_without_a_loss(tmp_path: Path) -> None:
    for seed in range(SOAK):
        (tmp_path / str(seed)).mkdir()
        fleet, draw = Fleet(tmp_path / str(seed), 3), random.Random(seed)
        for _ in range(500):
            what = "purge" if draw.random() < PURGES else draw.choice(WHAT)
            fleet.step(draw.randrange(3), what, draw.randrange(100))
        fleet.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_two_commits_changed_is_merged_as_if_all_files_were_looked_at(
    vault: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    start(vault)
    repo = repository.open_vault(vault)
    names = [f"notes/{folder}/{number}.md" for folder in "ab" for number in range(4)]
    for name in (*names, "days/2026-09-14.md", "days/2026-09-15.md"):
        put(vault, name, f"{name}\none\ntwo\nthree\n")
    base = _committed(vault)

    def change(side: str) -> str:
        """Make a commit on the base, of what people and agents do."""
        git(vault, "checkout", "-q", "--detach", base)
        for name in chance.sample(names, 3):
            put(vault, name, f"{name}\none\n{chance.choice(('two', 'both', side))}\nthree\n{side}\n")
        put(vault, f"notes/a/{side}.md", side)
        put(vault, "notes/a/both.md", f"---\nid: {side}\n---\n")
        if chance.random() < 0.2:
            (vault / "days/2026-09-14.md").unlink()
        if chance.random() < 0.2:
            move(str(vault), chance.choice(names), f"notes/moved-{side}.md")
        return _committed(vault)

    was_near = []
    for _ in range(6):
        ours, theirs = change("ours"), change("theirs")
        near = join._join_changed_only(repo, base, ours, theirs)
        with monkeypatch.context() as patch:
            patch.setattr(join, "_join_changed_only", lambda *_: None)
            whole = join.join(repo, base, ours, theirs)
        was_near.append(near is not None)
        if near:
            assert dict(near.puts) == dict(whole.puts)
            assert near._replace(puts=whole.puts) == whole
    assert any(was_near)


def _committed(vault: Path) -> str:
    git(vault, "add", "-A")
    git(vault, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "Change")
    return git(vault, "rev-parse", "HEAD").strip()


def test_notes_of_which_one_has_the_others_name_elsewhere_are_joined_to_the_same_files_everywhere(vault: Path) -> None:
    start(vault)
    base = _committed(vault)
    sides = []
    for names in ("cb", "ac"):
        git(vault, "checkout", "-q", "--detach", base)
        for number, name in enumerate(names):
            put(vault, f"notes/{name}.md", f"---\nid: note{number}\n---\n\ntext {number}\n")
        sides.append(_committed(vault))

    code = (
        "import sys\n"
        "from mdmem.history.git import repository\n"
        "from mdmem.history.merging import join\n"
        "joined = join.join(repository.open_vault(sys.argv[1]), *sys.argv[2:])\n"
        "print(sorted(joined.puts.items()), joined.deletes, joined.conflicts, sorted(joined.moved.items()))"
    )
    joined = {
        subprocess.run(
            [sys.executable, "-c", code, str(vault), base, *sides],
            env={**os.environ, "PYTHONHASHSEED": str(seed)}, check=True, capture_output=True, text=True,
        ).stdout
        for seed in range(6)
    }  # fmt: skip
    assert len(joined) == 1


def test_a_new_note_that_is_similar_to_a_deleted_one_does_not_get_its_later_changes(two: tuple[Config, Config]) -> None:
    first, second = two
    week = "---\nid: {0}\ntitle: Week {1}\n---\n\n" + "".join(f"- [ ] duty {number}\n" for number in range(20))
    put(Path(first.vault), "notes/week 40.md", week.format("week000040", 40))
    met(first, second)
    Path(first.vault, "notes/week 40.md").unlink()
    put(Path(first.vault), "notes/week 41.md", week.format("week000041", 41))
    edit(second.vault, "notes/week 40.md", "Done on the second machine.\n")

    together = met(first, second)

    assert together["notes/week 41.md"].decode() == week.format("week000041", 41)
    assert together["notes/week 40.md"].decode() == week.format("week000040", 40) + "Done on the second machine.\n"
