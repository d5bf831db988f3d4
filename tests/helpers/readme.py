"""Writes the generated parts of README.md and the help pages: `python -m tests.helpers.readme`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from mdmem.cli.group import cli
from mdmem.cli.terminal import render
from mdmem.settings import SETTINGS
from tests.conftest import REPO

README = REPO / "README.md"
HELP = REPO / "mdmem" / "help"
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


CHANGED = 1_789_480_800
"""2026-09-15T14:00:00Z: the mtime of all notes, since that of a checkout would vary."""


def settings_table() -> str:
    """Return a table of all settings: key, default, meaning, and whether only the user's configuration may set it."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for setting in SETTINGS:
        meaning = setting.meaning.replace("|", "\\|").replace("<", "&lt;")
        notes = " *yours*" if setting.user_only else ""
        variable = f" (`{setting.env}`)" if setting.env else ""
        lines.append(f"| `{setting.key}` | `{render.toml(setting.default)}` | {meaning}{variable}{notes} |")
    return "\n".join(lines)


def json_outputs(command: click.Command = cli, name: str = "mdmem") -> dict[str, str]:
    """Return each command that has `--json`, and what its help says of that."""
    if isinstance(command, click.Group):
        inner = [(word, command.get_command(click.Context(command), word)) for word in command.list_commands(CONTEXT)]
        found = [json_outputs(each, f"{name} {word}") for word, each in inner if each is not None]
        return {name: text for each in found for name, text in each.items()}
    options = [one for one in command.params if isinstance(one, click.Option) and "--json" in one.opts]
    return {name: str(options[0].help).removeprefix("Print ").removesuffix(".")} if options else {}


CONTEXT = click.Context(cli)


def json_table() -> str:
    """Return a table of what `--json` prints, by command; those that print the same share a row."""
    names: dict[str, list[str]] = {}
    for name, printed in json_outputs().items():
        names.setdefault(printed, []).append(f"`{name}`")
    rows = [f"| {', '.join(commands)} | {printed} |" for printed, commands in names.items()]
    return "\n".join(["| command | prints |", "|---|---|", *rows])


def gallery() -> str:
    """Return the gallery's commands and their output on a copy of the sample vault."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copytree(REPO / "sample-vault", home / "mdmem")
        for path in (home / "mdmem").rglob("*.md"):
            os.utime(path, (CHANGED, CHANGED))
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
            said = re.sub(r"(?<=mdmem-context id=)[0-9a-f]{8}", "4ca050b4", said)  # random in each run
            parts.append(f"**{title}**\n\n```text\n$ {command}\n{said}\n```")
    return "\n\n".join(parts)


def help_table() -> str:
    """Return a table of all help pages, two in a row: the linked topic, and the title."""
    cells = []
    for page in sorted(HELP.glob("*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        cells.append(f"[`{page.stem}`](mdmem/help/{page.name}) | {title}")
    rows = (" | ".join(cells[place : place + 2]) for place in range(0, len(cells), 2))
    return "\n".join(["| topic | | topic | |", "|---|---|---|---|", *(f"| {row} |" for row in rows)])


def given() -> str:
    """Return the block of the gallery that an agent is given for a prompt, as a code block."""
    block = re.search(r"(?s)<mdmem-context id=.*?</mdmem-context[^>]*>", (HELP / "tour.md").read_text(encoding="utf-8"))
    if block is None:
        raise SystemExit("the tour shows no block")
    return f"```text\n{block[0]}\n```"


def note() -> str:
    """Return the file of one note of the sample vault as a code block."""
    (path,) = (REPO / "sample-vault").rglob("*-ypex3eh94b.md")
    return f"````markdown\n{path.read_text(encoding='utf-8').strip()}\n````"


def put(text: str, name: str, content: str) -> str:
    """Return a text with `content` between the markers called `name`."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    head, _, rest = text.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        raise SystemExit(f"the document lacks the markers {begin} and {end}")
    return f"{head}{begin}\n{content}\n{end}{tail}"


def taken(text: str, name: str) -> str:
    """Return the text between the markers called `name`."""
    return text.partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]


def documents() -> list[Path]:
    """Return README.md and the help pages."""
    return [README, *sorted(HELP.glob("*.md"))]


def write(file: Path, name: str, content: str) -> None:
    """Write `content` between the markers called `name` of a document."""
    file.write_text(put(file.read_text(encoding="utf-8"), name, content), encoding="utf-8")


def main() -> None:
    """Write the generated parts."""
    write(README, "note", note())
    write(README, "help", help_table())
    write(HELP / "settings.md", "settings", settings_table())
    write(HELP / "scripts.md", "json", json_table())
    write(HELP / "tour.md", "gallery", gallery())
    write(README, "given", given())


if __name__ == "__main__":
    main()
