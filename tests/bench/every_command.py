"""Arguments of each command that reads a vault, for `python -m tests.bench scale --only commands`, and the steps of
`--only memory`: commands with much output or many writes, and servers after many requests.

`{word}` is a word in many notes, `{id}` an old prompt, `{session}` its session, `{out}` a separate folder.
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from mdmem import timestamps
from mdmem.vault import note
from tests.bench import measure, servers, vaults
from tests.bench.sized import Used, Vault
from tests.helpers.plain_git import git, make_remote

COMMANDS = """
status
search {word}
search {word} --sort newest
search {word} --at 1d
prompts {word}
prompts --limit 0 --json
related {id}
fixes ImportError
about pytest
show {id}
index
index --verify
list
list --limit 0
list --limit 0 --json
sessions
sessions --limit 0 --json
history
history {session}
timeline {id}
decisions
todo
todo --limit 0 --json
proposals
digest --since 1w
digest --since 2000
stats
stats --since 1w
tree
tree --files --limit 0 --depth 9
log
log --limit 0
log --stat --limit 0
review --list
review --json
why {id}
diff
branch list
archive 2000 --dry-run
purge {word}
export {out}/all.zip
export {out}/all.jsonl
export {out}/all.html
export {out}/all.db
export site {out}/site
backup {out}/all.bundle
inject --explain {word}
injections
commit
commit --quiet
doctor
"""


def rows(**known: str) -> dict[str, list[str]]:
    """Return each command's arguments, by its name in the list. known: values for the names in braces."""
    return {line: line.format(**known).split() for line in COMMANDS.strip().splitlines()}


Step = tuple[str, Callable[[], Used]]

A_TRANSCRIPT = 50
"""Number of turns in a saved session, each with a tool run and an answer."""


def steps(vault: Vault, folder: Path) -> Iterator[Step]:
    """Yield the steps to measure on a copy of a vault, from its first commit to a purge: name and function.

    Run each step before you request the next.
    """
    one = _copy(vault, folder, folder / "vault")
    word = vault.question[0]
    session, project = _sample(one.root)
    year = str(time.gmtime(vaults.NEWEST).tm_year - 1)
    yield "init of a vault that is there", lambda: one.run("init", str(one.root))
    yield "commit of all that is left", lambda: one.run("commit", "--quiet")
    yield "diff of much", lambda: one.run("diff", f"{git(one.root, 'rev-list', 'HEAD').split()[-1]}..")
    yield "log --stat of all", lambda: one.run("log", "--stat", "--limit", "0")
    yield "index --rebuild", lambda: one.run("index", "--rebuild")
    yield "search --limit 0", lambda: one.run("search", word, "--limit", "0")
    yield "search --at, all that matches", lambda: one.run("search", word, "--at", "HEAD")
    yield from servers.steps(one)
    yield from _between_machines(one, folder)
    yield "forget of a session", lambda: one.run("forget", session, "--yes")
    yield "undo of that", lambda: one.run("undo", "HEAD", "--yes")
    yield "archive", lambda: one.run("archive", year)
    yield "archive --undo", lambda: one.run("archive", "--undo", year)
    yield "forget of a project", lambda: one.run("forget", "--project", project, "--yes")
    yield "import", lambda: one.run("import", "--yes", str(_transcripts(folder, len(list(one.root.rglob("*.md"))))))
    yield "doctor --fix", lambda: one.run("doctor", "--fix")
    yield "purge --apply", lambda: one.run("purge", word, "--apply", "--yes")


def _copy(vault: Vault, folder: Path, root: Path) -> Vault:
    shutil.copytree(vault.root, root, ignore=shutil.ignore_patterns(".git"))
    return Vault(root, measure.home(folder / "home") | {"MDMEM_VAULT": str(root)}, vault.question)


def _sample(root: Path) -> tuple[str, str]:
    """Return a session and its project."""
    prompt = next(root.glob("journal/**/*-prompt-*.md"))
    meta = note.parse(prompt.read_bytes()).meta
    return str(meta["session"]), prompt.relative_to(root).parts[1]


def _between_machines(one: Vault, folder: Path) -> Iterator[Step]:
    """Yield steps that clone half of the commits, pull the rest, and complete a partial clone."""
    remote = make_remote(folder / "remote.git")
    commits = git(one.root, "rev-list", "--first-parent", "HEAD").split()
    git(one.root, "push", "-q", str(remote), f"{commits[len(commits) // 2]}:refs/heads/main")
    second, part = folder / "second", folder / "part"
    there = one._replace(root=second, env=one.env | {"MDMEM_VAULT": str(second)})
    yield "clone of half of it", lambda: one.run("clone", str(remote), str(second))
    git(one.root, "push", "-q", str(remote), "HEAD:refs/heads/main")
    yield "sync that brings the rest", lambda: there.run("sync")
    shutil.rmtree(second)
    yield "clone of all", lambda: one.run("clone", str(remote), str(second))
    shutil.rmtree(second)
    git(folder, "init", "-q", "-b", "main", str(second))
    (second / "mdmem.toml").touch()
    git(second, "remote", "add", "origin", str(remote))
    yield "sync that brings all", lambda: there.run("sync")
    shutil.rmtree(second)
    year = str(time.gmtime(vaults.NEWEST).tm_year)
    yield "clone --since", lambda: one.run("clone", "--since", year, str(remote), str(part))
    yield "sync --whole", lambda: there._replace(env=one.env | {"MDMEM_VAULT": str(part)}).run("sync", "--whole")
    shutil.rmtree(part)


def _transcripts(folder: Path, notes: int) -> Path:
    """Write saved Claude Code sessions for a quarter as many notes as the vault has."""
    home = folder / "transcripts"
    home.mkdir()
    text = vaults.words().text
    for number in range(max(notes // 4 // (3 * A_TRANSCRIPT), 1)):
        session = str(uuid.UUID(int=number + 1))
        same = {"sessionId": session, "cwd": "/home/ana/app", "version": "2.0.0"}
        lines = []
        for turn in range(A_TRANSCRIPT):
            at = timestamps.iso_time(vaults.NEWEST + number * 86_400 + turn * 60)
            words = [" ".join(text[place : place + 60]) for place in range(turn * 180, turn * 180 + 180, 60)]
            run = {"type": "tool_use", "id": f"toolu_{number}_{turn}", "name": "Bash", "input": {"command": "pytest"}}
            result = {"type": "tool_result", "tool_use_id": run["id"], "content": words[1]}
            said: list[tuple[str, object]] = [
                ("user", words[0]),
                ("assistant", [run]),
                ("user", [result]),
                ("assistant", [{"type": "text", "text": words[2]}]),
            ]
            for place, (role, content) in enumerate(said):
                own = {"type": role, "timestamp": at, "message": {"role": role, "content": content}}
                lines.append(same | own | {"uuid": f"{number}-{turn}-{place}", "isSidechain": False})
        path = home / f"{session}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return home
