"""Measures web pages: `python -m tests.bench.web [notes]`: CPU of each page, a live event, memory and CPU at rest.

CPU is that of the server process and its children, in milliseconds, the median of several requests.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from mdmem.vault import note
from tests.bench import measure, vaults
from tests.helpers.pages import Served, serving

ROUNDS = 7
LONG_SESSIONS = 2
A_LONG_SESSION = 500
REST_SECONDS = 20
PAGES = {
    "today": "/",
    "timeline": "/timeline",
    "projects": "/projects",
    "project": "/project/project-1",
    "session of 20": "/session/{short}",
    "session of 500": "/session/{long}",
    "session of 500, its end": "/session/{long}?last=1",
    "search, a word": "/search?q={a}",
    "search, three words": "/search?q={a}+{b}+{c}&part=1",
    "search, narrowed": "/search?q={a}&kind=response&project=project-1",
    "note": "/note/{id}",
    "file": "/file?path={file}",
    "injected": "/injected",
    "preview, a start": "/preview?project=project-1",
    "preview, a prompt": "/preview?project=project-1&prompt=what+did+we+decide+about+{a}%3F",
    "review": "/review",
    "health": "/health",
    "help": "/help/search",
}


def write_vault(root: Path, notes: int) -> dict[str, str]:
    """Write sessions of 20 notes, and two of 500; return what stands for the names in `PAGES`."""
    words = vaults.write(root, notes - LONG_SESSIONS * A_LONG_SESSION)
    first = notes // vaults.A_SESSION
    for number in range(first, first + LONG_SESSIONS):
        vaults.write_session(root, number, words, A_LONG_SESSION)
    edit = next(root.glob("journal/*/*/*/*-edit-*.md"))
    facts = {"short": session_of(edit), "long": session_of(next(root.glob(f"journal/*/*/*-{first:08x}/001-*.md")))}
    meta = note.parse(edit.read_bytes()).meta
    return {**facts, **dict(zip("abc", words.text[100:103], strict=True)), "id": meta["id"], "file": meta["files"][0]}


def session_of(path: Path) -> str:
    """Return the id of a note's session."""
    return str(note.parse(path.read_bytes()).meta["session"])


def spent(served: Served) -> float:
    """Return the CPU time of the server and its children, in seconds."""
    own = time.clock_gettime(((~served.process.pid) << 3) | 2)
    fields = Path(f"/proc/{served.process.pid}/stat").read_text().rpartition(")")[2].split()
    return own + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def resident(served: Served) -> float:
    """Return the server's memory in MB."""
    text = Path(f"/proc/{served.process.pid}/smaps_rollup").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("Pss:"))) / 1000


def page_cost(served: Served, cookie: str, path: str) -> tuple[float, float]:
    """Return the CPU time of a page's first request, and the median of the others, in milliseconds."""
    costs = []
    for _ in range(ROUNDS):
        before = spent(served)
        status, _, body = served.ask(path, headers={"Cookie": cookie})
        assert status == 200, (path, status, body[:400])
        costs.append((spent(served) - before) * 1000)
    return costs[0], median(costs[1:])


def live_cost(served: Served, cookie: str, env: dict[str, str], cwd: str) -> tuple[float, float]:
    """Return the seconds from the end of a hook to the event in an open page, and the CPU to send it and render today.

    The CPU is in milliseconds.
    """
    link = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    link.request("GET", "/live?after=999999", headers={"Cookie": cookie})
    answer = link.getresponse()
    while not answer.readline().startswith(b"data: "):
        continue  # missed events
    waits, costs = [], []
    for number in range(ROUNDS):
        payload = {"hook_event_name": "UserPromptSubmit", "session_id": "live", "cwd": cwd, "prompt": f"Live {number}"}
        before = spent(served)
        command = [sys.executable, "-m", "mdmem", "hook", "claude-code"]
        subprocess.run(command, input=json.dumps(payload).encode(), env=env, check=True)
        ended = time.monotonic()
        while not answer.readline().startswith(b"data: "):
            continue
        waits.append(time.monotonic() - ended)
        served.ask("/?part=1", headers={"Cookie": cookie})
        time.sleep(1)
        costs.append((spent(served) - before) * 1000)
    link.close()
    return median(waits[1:]), median(costs[1:])


def main(notes: int) -> None:
    """Print a table of the pages, and the figures of the server at rest."""
    with measure.scratch() as (work, vault, _):
        known = write_vault(vault, notes)
        env = dict(os.environ)
        for words in (["init", str(vault)], ["commit", "--quiet"], ["index"]):
            subprocess.run([sys.executable, "-m", "mdmem", *words], env=env, check=True, capture_output=True)
        with serving(vault, env) as served:
            cookie = served.enter()
            print("| page | first, ms CPU | median, ms CPU |\n|---|---|---|")
            for name, path in PAGES.items():
                first, rest = page_cost(served, cookie, path.format(**known))
                print(f"| {name} | {first:.0f} | {rest:.0f} |", flush=True)
            wait, cost = live_cost(served, cookie, env, str(work))
            print(f"\nLive: told {wait:.2f} s after the hook; {cost:.0f} ms CPU with the index and today's page.")
            time.sleep(3)
            before = spent(served)
            time.sleep(REST_SECONDS)
            rest = (spent(served) - before) / REST_SECONDS * 100
            print(f"\nAt rest: {rest:.2f} % CPU, {resident(served):.0f} MB.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
