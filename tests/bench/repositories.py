"""Repositories for generated vaults: one commit per session, with its date and the message of `mdmem commit`.

They are written by `git fast-import`, which is many times faster than single commits.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mdmem.vault import front_matter, layout

BRANCH = "main"
_WHO = "mdmem <mdmem@localhost>"


def commit(root: Path) -> None:
    """Create a repository with all of a vault; working tree and index are clean afterwards."""
    git = ["git", "-C", str(root)]
    subprocess.run([*git, "init", "-q", "-b", BRANCH], check=True)
    with subprocess.Popen([*git, "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE) as importer:
        assert importer.stdin is not None
        for subject, session, files in _parts(root):
            _write(importer.stdin, root, f"{subject}\n\nMdmem-Session: {session}\n", files)
        rest = [root / "mdmem.toml", *sorted((root / "notes").iterdir())]
        _write(importer.stdin, root, "Add notes\n", rest)
        importer.stdin.write(b"done\n")
    if importer.returncode:
        raise SystemExit("git fast-import failed")
    subprocess.run([*git, "read-tree", "HEAD"], check=True)
    subprocess.run([*git, "update-index", "-q", "--refresh"], check=True)


def _parts(root: Path) -> Iterator[tuple[str, str, list[Path]]]:
    """Yield subject, id and files of each session, oldest first."""
    days = [day for project in (root / "journal").iterdir() for day in project.iterdir() if layout.is_day(day.name)]
    sessions = [session for day in days for session in day.iterdir()]
    archives = list((root / "journal").glob("*/[0-9][0-9][0-9][0-9]/*/*/*.md"))

    def when(path: Path) -> tuple[str, str]:
        day = path.parent.name if path.is_dir() else "-".join(path.parts[-4:-1])
        return day, path.name

    for one in sorted([*sessions, *archives], key=when):
        files = sorted(one.iterdir()) if one.is_dir() else [one]
        page = one / f"{one.name}.md" if one.is_dir() else one
        header = front_matter.split(page.read_text(encoding="utf-8"))[0]
        meta = front_matter.read(header)[0] if header else {}
        yield f"{meta['project']}: {meta['title']}", str(meta["session"]), files


def _write(out: IO[bytes], root: Path, message: str, files: list[Path]) -> None:
    seconds = int(max(file.stat().st_mtime for file in files))
    who = f"{_WHO} {seconds} +0000"
    text = message.encode()
    out.write(f"commit refs/heads/{BRANCH}\nauthor {who}\ncommitter {who}\ndata {len(text)}\n".encode() + text)
    for file in files:
        data = file.read_bytes()
        path = file.relative_to(root).as_posix()
        out.write(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
    out.write(b"\n")
