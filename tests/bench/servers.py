"""Measures the memory of servers after many requests of every kind, while the vault changes: `scale --only memory`.

Each server is a real process with its real protocol: HTTP, JSON-RPC over pipes, hooks and the watcher's socket.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from mdmem import config
from mdmem.watcher import client
from tests.bench import vaults
from tests.bench.sized import MDMEM, Used, Vault
from tests.helpers.pages import Served, serving

ASKED = 100
"""Number of requests for each kind of item of which there are many."""
CHANGED, ADDED, REMOVED = 1_500, 1_500, 500
"""Numbers of notes that change at once while a server runs, `TIMES` times, different ones each time."""
TIMES = 2
PAGES = """
/
/timeline
/timeline?agent=claude-code&failed=1
/projects
/project/{project}
/search?q={word}
/search?q={word}*&sort=newest
/search?q=%22{word}+{other}%22
/search?q=kind:observation
/note/{id}
/versions/{id}
/edit/{id}
/review
/health
/injected
/preview?prompt=what+did+we+decide+about+{word}&project={project}&agent=claude-code
/session/latest
/help
"""
"""One page of each kind, one per line."""

Step = tuple[str, Callable[[], Used]]


class Sample:
    """Items of a vault to request."""

    def __init__(self, vault: Vault) -> None:
        self.root = vault.root
        prompts = (path for path in self.root.glob("journal/*/*/*/*-prompt-*.md"))
        self.prompts = [next(prompts) for _ in range(ASKED)]
        self.ids = [path.stem.rpartition("-")[2] for path in self.prompts]
        self.folders = list(self.root.glob("journal/*/*/*/"))
        self.sessions = [path.name.rpartition("-")[2] for path in self.folders[:300]]
        self.project = self.prompts[0].relative_to(self.root).parts[1]
        self.words = vaults.words().known
        self.word, self.other = vault.question[:2]
        self._numbers = count()

    def change(self) -> str:
        """Change, add and remove many notes at once; return a word that occurs only in them."""
        number = next(self._numbers)
        word = f"zyzzyva{'q' * number}x"
        every = sorted(self.root.glob("journal/*/*/*/[0-9][0-9][0-9]-*-bash-*.md"))
        own = every[number * CHANGED : (number + 1) * CHANGED]
        for path in own:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\nOne more line with {word}.\n")
        for path in every[-(number + 1) * REMOVED :][:REMOVED]:
            path.unlink(missing_ok=True)
        text = self.words
        for place in range(ADDED):
            new = self.root / "notes" / f"more-{number}-{place}.md"
            start = place % 5_000
            new.write_text(f"# {word} {place}\n\n{' '.join(text[start : start + 200])}\n", encoding="utf-8")
        return word


def steps(vault: Vault) -> Iterator[Step]:
    """Yield the steps to measure: name and function."""
    for name, run in (("web", web), ("mcp", mcp), ("watch", watch)):
        found: dict[str, Used] = {}
        yield f"{name}, asked for everything", partial(_measured, run, vault, found)
        yield f"{name}, with many changes", partial(found.__getitem__, "changes")


def _measured(run: Callable[[Vault], dict[str, Used]], vault: Vault, found: dict[str, Used]) -> Used:
    found |= run(vault)
    return found["asked"]


def _say(server: str, what: str, process: int) -> None:
    print(f"  {server}, {what}: {_status(process, 'VmRSS'):.0f} MB now, {_status(process, 'VmHWM'):.0f} at most",
          file=sys.stderr, flush=True)  # fmt: skip


def _status(process: int, what: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


def so_far(process: int) -> Used:
    """Return what a running process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    spent = 1000 * sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return Used(spent, _status(process, "VmHWM"))


# -- pages -------------------------------------------------------------------------------------------


def web(vault: Vault) -> dict[str, Used]:
    """Request every page of `mdmem web`."""
    sample = Sample(vault)
    with serving(vault.root, vault.env) as served:
        process = served.process.pid
        get = _getter(served)
        _say("web", "started", process)
        known = {"word": sample.word, "other": sample.other, "id": sample.ids[0], "project": sample.project}
        pages = [page.format(**known) for page in PAGES.split()]
        for page in pages:
            get(page)
        _say("web", "a page of each sort", process)
        for tag in sample.sessions:
            get(f"/session/{tag}")
        _say("web", f"{len(sample.sessions)} sessions", process)
        for number in range(ASKED):
            get(f"/search?q={sample.words[number]}")
        for number in range(12):
            get(f"/search?q={'+'.join(sample.words[number * 3 :][:8])}")
        _say("web", f"{ASKED} searches", process)
        for an_id in sample.ids:
            get(f"/note/{an_id}")
            get(f"/body/{an_id}")
        for topic in re.findall(r'href="(/help/[a-z]+)"', get("/help")):
            get(topic)
        for number in range(1, 40):
            get(f"/timeline?page={number}")
        _say("web", f"{ASKED} notes, help, timeline", process)
        _edits(served, sample)
        _say("web", "edits", process)
        found = {"asked": so_far(process)}
        for _ in range(TIMES):
            word = sample.change()
            _until(lambda: f"{word} " in get(f"/search?q={word}&part=1") or word in get(f"/search?q={word}"))  # noqa: B023
            for page in [*pages, *(f"/session/{tag}" for tag in sample.sessions[:50])]:
                get(page)
            _say("web", f"{CHANGED + ADDED + REMOVED} notes changed", process)
        return found | {"changes": so_far(process)}


def _getter(served: Served) -> Callable[[str], str]:
    cookie = {"Cookie": served.enter()}

    def get(page: str) -> str:
        status, _, body = served.ask(page, headers=cookie)
        if status not in (200, 303):
            raise SystemExit(f"{page}: {status} {body[:300]}")
        return body

    return get


def _edits(served: Served, sample: Sample) -> None:
    cookie = {"Cookie": served.enter(), "Content-Type": "application/x-www-form-urlencoded", "Origin": served.url}
    get = _getter(served)
    for an_id in sample.ids[-20:]:
        page = get(f"/edit/{an_id}")
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
        for action, more in (("edit", {"text": "Changed."}), ("pin", {"pinned": "yes"}), ("tag", {"tags": "seen"})):
            body = urlencode({**fields, **more})
            status, _, said = served.ask(f"/do/{action}", method="POST", body=body, headers=cookie)
            if status != 303:
                raise SystemExit(f"{action}: {status} {said[:300]}")


# -- tools -------------------------------------------------------------------------------------------


def mcp(vault: Vault) -> dict[str, Used]:
    """Call each tool of `mdmem mcp`."""
    from tests.bench.mcp import Peer

    sample = Sample(vault)
    peer = Peer([*MDMEM, "mcp"], {**vault.env, "CLAUDE_PROJECT_DIR": str(vault.root.parent / sample.project)})
    process = peer.process.pid
    try:
        peer.call("search", query=sample.word)
        _say("mcp", "started", process)
        for number in range(ASKED):
            peer.call("search", query=sample.words[number])
        _say("mcp", f"{ASKED} searches", process)
        _calls(peer, sample)
        _say("mcp", "all tools", process)
        for an_id in sample.ids:
            peer.call("get_notes", ids=[an_id])
            peer.call("timeline", note=an_id)
            peer.call("related", note=an_id)
            peer.call("get_session", session=an_id)
        _say("mcp", f"{ASKED} notes read", process)
        found = {"asked": so_far(process)}
        for _ in range(TIMES):
            word = sample.change()
            _until(lambda: peer.call("search", query=word)["structuredContent"]["entries"])  # noqa: B023
            _calls(peer, sample)
            time.sleep(35)  # long enough for a check of every file
            _calls(peer, sample)
            _say("mcp", f"{CHANGED + ADDED + REMOVED} notes changed", process)
        return found | {"changes": so_far(process)}
    finally:
        peer.end()


def _calls(peer: Any, sample: Sample) -> None:
    """Call each tool that reads, with hard questions, and those that write notes."""
    word = sample.word
    for query in (word, f"{word[:2]}*", f'"{word} {sample.other}"', f"+{word} -{sample.other}", "kind:observation", ""):
        for more in ({}, {"sort": "newest", "limit": 50}, {"limit": 50, "offset": 400}, {"kind": "prompt"}):
            peer.call("search", query=query, **more)
    peer.call("search", query=" ".join(sample.words[:400]), limit=50)
    peer.call("search", query=word, project=sample.project, since="2000", until="2030", agent="claude-code")
    for tool, arguments in (
        ("search_user_prompts", {"query": word}),
        ("get_session", {"session": "latest", "limit": 50}),
        ("file_history", {"path": "app.py"}),
        ("file_history", {"path": "*"}),
        ("recent", {"limit": 50}),
        ("project_context", {}),
        ("project_context", {"project": sample.project}),
        ("fixes", {"error": "ImportError: cannot import name x"}),
        ("open_work", {}),
        ("stats", {}),
        ("get_notes", {"ids": sample.ids[:20]}),
    ):
        peer.call(tool, **arguments)
    made = peer.call("add_note", title="A note", text="About dates.")["structuredContent"]["id"]
    peer.call("append_note", note=made, text="More.")
    peer.call("pin", note=made)
    for tool, more in (("edit_note", {"find": "More.", "text": "Less."}), ("delete_note", {})):
        (seen,) = peer.call("get_notes", ids=[made])["structuredContent"]["notes"]
        peer.call(tool, note=made, checksum=seen["checksum"], **more)


# -- a day with the watcher --------------------------------------------------------------------------


def watch(vault: Vault) -> dict[str, Used]:
    """Run a day's work beside `mdmem watch`: notes from hooks, searches, injections, changes, commits."""
    sample = Sample(vault)
    settings = config.load(str(vault.root), {**os.environ, **vault.env})
    null = subprocess.DEVNULL
    env = {**os.environ, **vault.env}
    with subprocess.Popen([*MDMEM, "watch"], env=env, stdout=null, stderr=null) as watcher:
        try:
            _until(lambda: b'"current": true' in (client.ask(settings, "status", {}, b"", seconds=5) or b""))
            _say("watch", "started", watcher.pid)
            for number in range(ASKED):
                subprocess.run([*MDMEM, "search", *sample.words[number * 3 :][:8]], env=env, stdout=null, stderr=null)
            _say("watch", f"{ASKED} searches", watcher.pid)
            for number in range(ASKED):
                _turn(sample, env, number)
            _say("watch", f"{ASKED} prompts with what was asked before", watcher.pid)
            found = {"asked": so_far(watcher.pid)}
            for _ in range(TIMES):
                word = sample.change()
                _until(lambda: word in _found(env, word))  # noqa: B023 - asked at once
                _turn(sample, env, 0)
                _say("watch", f"{CHANGED + ADDED + REMOVED} notes changed", watcher.pid)
            return found | {"changes": so_far(watcher.pid)}
        finally:
            watcher.terminate()


def _turn(sample: Sample, env: dict[str, str], number: int) -> None:
    """Send a prompt to the hooks that store and inject, as an agent does."""
    words = " ".join(sample.words[number : number + 4])
    payload = {
        "session_id": f"00893aaf-19fa-41d2-8238-{number:012d}",
        "cwd": str(sample.root.parent / sample.project),
        "hook_event_name": "UserPromptSubmit",
        "prompt_id": f"p{number}",
        "prompt": f"What did we decide about {words} last week?",
    }
    for words_of in (["inject", "claude-code"], ["hook", "claude-code"]):
        done = subprocess.run([*MDMEM, *words_of], env=env, input=json.dumps(payload).encode(), capture_output=True)
        if done.returncode:
            raise SystemExit(f"{words_of} ended with status {done.returncode}")


def _found(env: dict[str, str], word: str) -> str:
    return subprocess.run([*MDMEM, "search", word], env=env, capture_output=True, text=True).stdout


def _until(is_so: Callable[[], Any], seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise SystemExit("it did not happen")
        time.sleep(0.5)
