"""Measures web pages: `python -m tests.bench.web [notes]`: CPU of each page, a live event, memory and CPU at rest.

CPU is that of the server process and its children, in milliseconds, the median of several requests.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from mdmem.vault import front_matter, note
from tests.bench import commands
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
    "session of 20": "/session/00000007-session",
    "session of 500": "/session/long-0-session",
    "session of 500, its end": "/session/long-1-session?last=1",
    "search, a word": "/search?q=bale",
    "search, three words": "/search?q=bale+cedifo+pura&part=1",
    "search, narrowed": "/search?q=bale&kind=response&project=project-1",
    "note": "/note/n000000001",
    "file": "/file?path=src/main.py",
    "injected": "/injected",
    "preview, a start": "/preview?project=project-1",
    "preview, a prompt": "/preview?project=project-1&prompt=what+did+we+decide+about+bale%3F",
    "review": "/review",
    "health": "/health",
    "help": "/help/search",
}


def write_vault(root: Path, notes: int) -> None:
    """Write sessions of 20 notes, and a few of 500, as hooks do."""
    commands.write_vault(root, notes - LONG_SESSIONS * A_LONG_SESSION)
    chance = random.Random(3)
    words, weights = commands.vocabulary(chance)
    for number in range(LONG_SESSIONS):
        folder = root / f"journal/project-1/2026-09-{10 + number}/0900-long-{number}"
        folder.mkdir(parents=True)
        for place in range(A_LONG_SESSION):
            prompt, sequence = divmod(place, 10)
            kind = "prompt" if sequence == 0 else "response" if sequence == 9 else "observation"
            text = " ".join(chance.choices(words, weights, k=120))
            body = f"{text}\n" if kind == "prompt" else f"## {text[:30]}\n\n{text}\n\n- `a`: {text[:60]}\n- **b**\n"
            if kind == "observation":
                body = f"```diff\n@@ -1 +1 @@\n-{text[:80]}\n+{text[80:160]}\n```\n"
            meta: dict[str, Any] = {
                "id": f"l{number}{place:08d}",
                "kind": kind,
                "title": text[:60],
                "created": f"2026-09-{10 + number}T{9 + prompt // 60:02d}:{prompt % 60:02d}:{sequence:02d}Z",
                "project": "project-1",
                "session": f"long-{number}-session",
                "prompt": prompt + 1,
                "sequence": sequence,
                "agent": "claude-code",
            }
            if kind == "observation":
                meta |= {
                    "tool": "Edit",
                    "success": place % 40 != 5,
                    "files": [f"src/{words[place % 50]}.py", "src/main.py"],
                }
            made = note.Note(meta, "words", body)
            name = note.file_name(made, str(meta.get("tool", kind)).lower(), prompt + 1, sequence)
            (folder / name).write_text(front_matter.write(meta) + "\n" + body, encoding="utf-8")


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
    with tempfile.TemporaryDirectory(prefix="mdmem-bench-web-") as scratch:
        vault = Path(scratch, "vault")
        vault.mkdir()
        write_vault(vault, notes)
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MDMEM_", "XDG_"))}
        env |= {"HOME": scratch, "XDG_RUNTIME_DIR": scratch, "MDMEM_VAULT": str(vault)}
        for words in (["init", str(vault)], ["commit", "--quiet"], ["index"]):
            subprocess.run([sys.executable, "-m", "mdmem", *words], env=env, check=True, capture_output=True)
        with serving(vault, env) as served:
            cookie = served.enter()
            print("| page | first, ms CPU | median, ms CPU |\n|---|---|---|")
            for name, path in PAGES.items():
                first, rest = page_cost(served, cookie, path)
                print(f"| {name} | {first:.0f} | {rest:.0f} |", flush=True)
            wait, cost = live_cost(served, cookie, env, scratch)
            print(f"\nLive: told {wait:.2f} s after the hook; {cost:.0f} ms CPU with the index and today's page.")
            time.sleep(3)
            before = spent(served)
            time.sleep(REST_SECONDS)
            rest = (spent(served) - before) / REST_SECONDS * 100
            print(f"\nAt rest: {rest:.2f} % CPU, {resident(served):.0f} MB.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
