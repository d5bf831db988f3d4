"""Machines that work on one vault as people and agents do, and sync when they like, end with the same, and all of it.

Every machine runs the real commands: hooks store turns, `mdmem sync` and `mdmem commit` make the pages again, `review`,
`forget`, `undo` and `purge` are a person's. A failing history is repeated with its seed.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.history import sync
from mdmem.history.purging import purge
from mdmem.history.space import clone
from mdmem.vault import disk, note, user_notes
from tests.conftest import own_settings
from tests.helpers.history_vault import git, put, run_here
from tests.helpers.machines import MARKS, trees
from tests.helpers.talk import START, Talk

SOAK = int(os.environ.get("MDMEM_SOAK", "1"))
REPLACED = b"[REDACTED]"
ZONES = ("Europe/Berlin", "America/Los_Angeles", "UTC")
ROUNDS = 4
"""So many rounds of syncs bring all machines together, pages too."""


class Session(Talk):
    """A session whose prompts have ids of their own, also where another machine resumes it."""

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        """Make a payload of an event."""
        return {**super().payload(event, **fields), "prompt_id": f"{self.vault.name}-{self.session}-{self.prompts}"}


class Household:
    """Machines with one remote; what has been stored and written on them, and what may be gone."""

    def __init__(self, root: Path, count: int, seed: int) -> None:
        """Set them up."""
        self.root, self.chance = root, random.Random(seed)
        self.remote = root / "remote.git"
        git(root, "init", "-q", "--bare", "-b", "main", str(self.remote))
        vaults = [root / f"m{number}" for number in range(count)]
        self._begin(vaults[0])
        for vault in vaults[1:]:
            clone.clone(str(self.remote), vault)
        self.machines = [config.load(str(vault)) for vault in vaults]
        self.talks = [[self._talk(at, vault) for at in range(2)] for vault in vaults]
        self.count = 0
        self.stored: set[str] = set()
        self.lines: set[bytes] = set()
        self.gone_notes: set[str] = set()
        self.gone_lines: set[bytes] = set()
        self.pictures: set[bytes] = set()
        self.purged: set[bytes] = set()
        self.history: list[str] = []

    def _begin(self, vault: Path) -> None:
        run_here("init", str(vault), check=True)
        git(vault, "remote", "add", "origin", str(self.remote))
        for number in range(3):
            put(vault, f"notes/n{number}.md", f"---\nid: handmade0{number}\ntitle: Note {number}\n---\n\none\ntwo\n")
        run_here("sync", env={"MDMEM_VAULT": str(vault)}, check=True)

    def _talk(self, number: int, vault: Path) -> Talk:
        """Return a session: the first one has an id of its own on every machine, the second is resumed on all."""
        session = f"{vault.name}aaaaa-{number}" if number == 0 else "shared0a-1"
        talk = Session(vault, self.root / "code" / f"app{int(vault.name[1:]) % 2}", session)
        talk.now = START - 365 * 86_400 + int(vault.name[1:]) * 7 + number * 1000
        return talk

    def step(self) -> None:
        """Change one thing on one machine."""
        self.count += 1
        who = self.chance.randrange(len(self.machines))
        names, weights = zip(*WEIGHTS.items(), strict=True)
        (what,) = self.chance.choices(names, weights)
        self.history.append(f"{self.count}: m{who} {what}")
        doing: Callable[[Config, int], None] = getattr(self, f"do_{what}")
        before = self.held(self.machines[who])
        os.environ["TZ"] = ZONES[who]
        time.tzset()
        doing(self.machines[who], who)
        now = self.held(self.machines[who])
        if what in TAKES:
            self.gone_notes |= before[0] - now[0]
        elif what != "sync":
            assert before[0] <= now[0], (self.history[-1], before[0] - now[0])
        if what in TAKES - {"undo"}:
            self.gone_lines |= before[1] - now[1]
        elif what not in ("sync", "purge"):
            assert before[1] <= now[1], (self.history[-1], before[1] - now[1])
        self.stored |= now[0]
        self.lines |= now[1]

    def held(self, at: Config) -> tuple[set[str], set[bytes]]:
        """Return the ids of the captured notes, and the lines of persons, that a vault has."""
        ids, lines = set(), set()
        paths = {entry.path for entry in disk.walk(at.vault)} | {"README.md"}
        for path in paths:
            data = disk.read_path(at.vault, path) or b""
            meta = note.parse(data).meta
            if meta.get("id") and meta.get("kind") not in note.PAGES:
                ids.add(str(meta["id"]))
            lines |= self.person(data)
        return ids, lines

    def run(self, at: Config, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        """Run a command on a machine."""
        done = run_here(*words, env={"MDMEM_VAULT": at.vault})
        assert done.returncode in codes, (self.history[-5:], words, done.stdout, done.stderr)
        return done.stdout

    # -- what happens ------------------------------------------------------------------------------

    def do_turn(self, at: Config, who: int) -> None:
        talk = self.chance.choice(self.talks[who])
        talk.says(f"Why does part {self.count} fail on m{who}?")
        if self.chance.random() < 0.5:
            talk.runs(f"pytest -k part_{self.count}", error=None if self.count % 3 else "1 failed")
        if self.chance.random() < 0.3:
            talk.edits(f"src/part_{self.count % 5}.py")
        if self.chance.random() < 0.7:
            talk.answers(f"Part {self.count} was fixed.")

    def do_note(self, at: Config, who: int) -> None:
        kind = self.chance.choice(["note", "decision", "task", "lesson"])
        self.run(at, "note", "--kind", kind, "--title", f"On part {self.count}", f"A person's line {self.count}.")

    def pick(self, at: Config, pattern: str = "**/*.md") -> Path | None:
        found = sorted(path for path in Path(at.vault).glob(pattern) if ".git" not in path.parts)
        return self.chance.choice(found) if found else None

    def do_write(self, at: Config, who: int) -> None:
        path = self.pick(at)
        assert path
        word = f" canary-{self.count}-word" if self.chance.random() < 0.3 else ""
        path.write_bytes(path.read_bytes() + f"A person's line {self.count}.{word}\n".encode())

    def do_tag(self, at: Config, who: int) -> None:
        path = self.pick(at, self.chance.choice(["notes/**/*.md", "journal/*/*/*/*.md"]))
        if path and note.parse(path.read_bytes()).meta.get("id"):
            keys: list[dict[str, Any]] = [
                {"status": "archived"},
                {"pinned": True},
                {"tags": [f"t{self.count % 4}"]},
                {"status": None},
            ]
            user_notes.set_keys(at, path.relative_to(at.vault).as_posix(), self.chance.choice(keys))

    def do_attach(self, at: Config, who: int) -> None:
        """Add a picture that a note shows, or move one."""
        found = sorted(Path(at.vault).glob("notes/**/*.png"))
        if found and self.chance.random() < 0.4:
            path = self.chance.choice(found)
            path.rename(path.with_name(f"moved-{self.count}.png"))
            return
        data = b"\x89PNG\0" + self.chance.randbytes(2000)
        Path(at.vault, f"notes/p{self.count}.png").write_bytes(data)
        put(Path(at.vault), f"notes/p{self.count}.md", f"A person's line {self.count}: ![](p{self.count}.png)\n")
        self.pictures.add(data)

    def do_rename(self, at: Config, who: int) -> None:
        path = self.pick(at, "notes/**/*.md")
        if path:
            new = Path(at.vault, f"notes/f{self.count % 3}/r{self.count}.md")
            new.parent.mkdir(exist_ok=True)
            path.rename(new)

    def do_folder(self, at: Config, who: int) -> None:
        folders = sorted(path for path in Path(at.vault).glob("journal/*/????-??-??/*") if path.is_dir())
        if folders:
            path = self.chance.choice(folders)
            tag = path.name[-8:]
            path.rename(path.with_name(f"0800-renamed-{self.count}-{tag}"))

    def do_project(self, at: Config, who: int) -> None:
        path = self.pick(at, "journal/*/project.md")
        if path:
            path.parent.rename(path.parent.with_name(f"app-{self.count}"))

    def do_delete(self, at: Config, who: int) -> None:
        path = self.pick(at, self.chance.choice(["notes/**/*.md", "journal/*/*/*/*.md"]))
        if path:
            path.unlink()

    def do_unline(self, at: Config, who: int) -> None:
        path = self.pick(at)
        assert path
        lines = path.read_bytes().split(b"\n")
        own = [place for place, line in enumerate(lines) if line.startswith(b"A person's line")]
        if own:
            lines.pop(self.chance.choice(own))
            path.write_bytes(b"\n".join(lines))

    def do_forget(self, at: Config, who: int) -> None:
        path = self.pick(at, "journal/*/*/*/*.md")
        if path:
            name = path.parent.name[-8:] if self.chance.random() < 0.3 else path.relative_to(at.vault).as_posix()
            self.run(at, "forget", "--yes", name, codes=(0, 1))

    def do_undo(self, at: Config, who: int) -> None:
        folders = sorted(path for path in Path(at.vault).glob("journal/*/????-??-??/*") if path.is_dir())
        if folders:
            self.run(at, "undo", "--yes", self.chance.choice(folders).name[-8:], codes=(0, 1))

    def do_review(self, at: Config, who: int) -> None:
        self.run(at, "review", "--done")

    def do_decide(self, at: Config, who: int) -> None:
        run_here("review", input="k\n" * 3 + "q\n", env={"MDMEM_VAULT": at.vault})

    def do_purge(self, at: Config, who: int) -> None:
        words = sorted({word for line in self.held(at)[1] for word in re.findall(rb"canary-\d+-word", line)})
        if words:
            word = self.chance.choice(words)
            self.run(at, "commit")
            assert purge.apply(at, purge.plan(at, word.decode())).left == []
            self.purged.add(word)

    def do_archive(self, at: Config, who: int) -> None:
        self.run(at, "archive", *(["--undo"] if self.chance.random() < 0.3 else []), "2025", codes=(0, 1))

    def do_commit(self, at: Config, who: int) -> None:
        self.run(at, "commit", codes=(0, 1))

    def do_sync(self, at: Config, who: int) -> None:
        self.run(at, "sync", codes=(0, 1))

    # -- what holds --------------------------------------------------------------------------------

    def check(self) -> None:
        """Sync all machines; check that all have the same, nothing is lost, and nothing is there twice."""
        for _ in range(ROUNDS):
            for at, zone in zip(self.machines, ZONES, strict=False):
                os.environ["TZ"] = zone
                time.tzset()
                self.run(at, "sync", codes=(0, 1))
        found = trees(*self.machines)
        for one in found[1:]:
            assert {path for path in {*one, *found[0]} if one.get(path) != found[0].get(path)} == set()
        files = found[0]
        everything = b"\n".join(files.values())
        shown = {path.read_bytes() for path in Path(self.machines[0].vault).glob("notes/**/*.png")}
        assert shown == self.pictures
        root = self.machines[0].vault
        ids = [str(note.parse(disk.read_path(root, one.path) or b"").meta.get("id", "")) for one in disk.walk(root)]
        assert sorted(self.stored - set(ids) - self.gone_notes) == []
        assert [name for name, count in Counter(ids).items() if name and count > 1] == []
        assert sorted(self.cleaned(self.lines) - self.cleaned(self.gone_lines) - self.person(everything)) == []
        assert [path for path, data in files.items() if MARKS.search(data)] == []
        for at in self.machines:
            assert git(Path(at.vault), "status", "--porcelain") == ""
            done = sync.sync(at)
            assert (list(done.received), done.sent) == ([], 0), "the pages do not come to rest"
        for word in self.purged:
            assert word not in everything

    def person(self, data: bytes) -> set[bytes]:
        return {line for line in data.split(b"\n") if line.startswith(b"A person's line")}

    def cleaned(self, lines: set[bytes]) -> set[bytes]:
        for word in self.purged:
            lines = {line.replace(word, REPLACED) for line in lines}
        return lines


WEIGHTS = {
    "turn": 20, "note": 6, "write": 12, "tag": 8, "rename": 3, "folder": 3, "project": 1, "delete": 3, "unline": 3,
    "forget": 2, "undo": 1, "attach": 2, "review": 3, "decide": 3, "purge": 0.4, "archive": 2, "commit": 6,
    "sync": 20,
}  # fmt: skip
TAKES = {"delete", "unline", "forget", "undo"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(SOAK))
def test_machines_that_sync_in_any_order_end_with_the_same(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")  # each machine has a zone of its own; this puts back what there was
    own_settings('[capture]\ndurability = "process"\n')
    household = Household(tmp_path, 2 + seed % 2, seed)
    for _ in range(24 if "MDMEM_SOAK" not in os.environ else 40 * (1 + seed % 4)):
        household.step()
    household.check()
    monkeypatch.undo()
    time.tzset()
