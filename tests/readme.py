"""The generated parts of README.md: `python -m tests.readme` writes them anew from the code and the sample vault."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mdmem import config
from mdmem.cli import render
from tests.conftest import REPO

README = REPO / "README.md"
GALLERY = (
    ("A search", "mdmem search date parser --limit 3"),
    ("A session's page, with a person's notes below", "mdmem show 2rjrqc364y"),
    ("The session as a conversation", "mdmem history 3f0c6d1e"),
    (
        "What an agent is given",
        'mdmem inject --explain "Do you remember what we decided about time zones?" | sed -n "/<mdmem-context/,\\$p"',
    ),
    ("The journal", "mdmem log"),
)


def settings_table() -> str:
    """Write every setting as a row: key, default, meaning, and whose it is."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for setting in config.SETTINGS:
        meaning = setting.meaning.replace("|", "\\|").replace("<", "&lt;")
        notes = " *yours*" if setting.user_only else ""
        variable = f" (`{setting.env}`)" if setting.env else ""
        lines.append(f"| `{setting.key}` | `{render.toml(setting.default)}` | {meaning}{variable}{notes} |")
    return "\n".join(lines)


def gallery() -> str:
    """Run the gallery's commands on a copy of the sample vault and show what they print."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copytree(REPO / "sample-vault", home / "mdmem")
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "COLUMNS": "100", "TZ": "UTC", "LANG": "C.UTF-8"}
        work = home / "work" / "acme-notes-app"
        work.mkdir(parents=True)
        parts = []
        for words in (["init"], ["index"]):
            subprocess.run([sys.executable, "-m", "mdmem", *words], env=env, check=True, capture_output=True)
        for title, command in GALLERY:
            line = command.replace("mdmem", f"{sys.executable} -m mdmem", 1)
            done = subprocess.run(
                ["/bin/sh", "-c", line], env=env, cwd=work, capture_output=True, text=True, check=True
            )
            said = "\n".join(text.rstrip() for text in done.stdout.replace(str(home), "~").strip("\n").splitlines())
            said = re.sub(r"(?<=mdmem-context id=)[0-9a-f]{8}", "4ca050b4", said)  # drawn by lot each time
            parts.append(f"**{title}**\n\n```text\n$ {command}\n{said}\n```")
    return "\n\n".join(parts)


def note() -> str:
    """Show one note of the sample vault as its file is."""
    (path,) = (REPO / "sample-vault").rglob("*-ypex3eh94b.md")
    return f"````markdown\n{path.read_text(encoding='utf-8').strip()}\n````"


def put(text: str, name: str, content: str) -> str:
    """Put `content` between the markers called `name`."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    head, _, rest = text.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        raise SystemExit(f"README.md lacks the markers {begin} and {end}")
    return f"{head}{begin}\n{content}\n{end}{tail}"


def taken(text: str, name: str) -> str:
    """Give what stands between the markers called `name`."""
    return text.partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]


def main() -> None:
    """Write the generated parts."""
    text = README.read_text(encoding="utf-8")
    text = put(text, "note", note())
    text = put(text, "settings", settings_table())
    text = put(text, "gallery", gallery())
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
