"""What CONTRIBUTING.md says of adding something works as it is written: each example is a patch that is tried here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / ".github" / "examples"
CARRIED = ("mdmem", "templates", "tests", "sample-vault", "pyproject.toml", "README.md", ".github")

OUTCOMES = {
    "agent": """
from mdmem import config
from mdmem.agents.install import catalog
from mdmem.capture import hook
from mdmem.cli.setup import init
init.make_vault(config.load())
told = {"session_id": "s1", "cwd": home, "hook_event_name": "UserPromptSubmit", "prompt": "Where is the parser?"}
hook.run(["aria"], json.dumps(told).encode(), None, os.environ)
assert any("Where is the parser?" in path.read_text() for path in Path(home, "mdmem").rglob("*prompt*.md"))
assert catalog.row_of("aria").title == "Aria"
""",
    "tool": """
from mdmem.capture.tools.limits import Limits
from mdmem.capture.tools.table import describe
draft = describe("delete_file", {"path": "src/old.py"}, "", error=None, root="", cwd="", limits=Limits())
assert (draft.title, draft.meta["files"]) == ("Delete src/old.py", ["src/old.py"])
""",
    "setting": """
from mdmem import config
assert config.load().settings.inject.greeting is False
Path(home, ".config", "mdmem").mkdir(parents=True)
Path(home, ".config", "mdmem", "config.toml").write_text("[inject]\\ngreeting = true\\n")
assert config.load().settings.inject.greeting is True
""",
    "secret": """
from mdmem import privacy
token = "acme_ci_" + "a1B2c3" * 6
assert token not in str(privacy.clean(f"it failed with {token} again", rules=privacy.Rules()).value)
""",
    "mcp-tool": """
from mdmem import config
from mdmem.cli.setup import init
from mdmem.server import access, app
from mdmem.server.tools import TOOLS
init.make_vault(config.load())
Path(home, "mdmem", "notes").mkdir(exist_ok=True)
text = "---\\nid: nnnnnnnnn1\\ntitle: A\\ncreated: 2026-01-01T00:00:00Z\\n---\\n"
Path(home, "mdmem", "notes", "a.md").write_text(text)
row = next(row for row in TOOLS if row.name == "note_age")
answer = app.answer(row, access.in_python, {"note": "notes/a.md"})
assert answer.structured_content["days"] >= 0 and "note_age" in [tool.name for tool in app.listed()]
""",
    "command": """
import subprocess
Path(home, "mdmem", "notes").mkdir(parents=True)
for day in (2, 1, 3):
    text = f"---\\ntitle: Day {day}\\ncreated: 2026-01-0{day}T08:00:00Z\\n---\\n"
    Path(home, "mdmem", "notes", f"{day}.md").write_text(text)
said = subprocess.run([sys.executable, "-m", "mdmem", "oldest"], capture_output=True, text=True).stdout
assert "Day 1" in said and "Day 2" not in said, said
""",
}
"""An example -> what must hold of the tree once it is applied; `home` is an empty home folder."""

BEGIN = "import json, os, sys\nfrom pathlib import Path\nhome = os.environ['HOME']\n"


def changed(tree: Path, example: str) -> Path:
    """Copy the project and apply an example to it."""
    for name in CARRIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
        else:
            shutil.copy2(source, tree / name)
    subprocess.run(["git", "apply", "--recount", str(EXAMPLES / f"{example}.patch")], cwd=tree, check=True)
    return tree


def test_every_example_is_named_tried_and_there() -> None:
    named = set(re.findall(r"examples/([a-z-]+)\.patch", (ROOT / ".github" / "CONTRIBUTING.md").read_text()))

    assert named == set(OUTCOMES) == {path.stem for path in EXAMPLES.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("example", OUTCOMES)
def test_an_example_does_what_it_is_for(example: str, tmp_path: Path, home: Path) -> None:
    tree = changed(tmp_path, example)

    done = subprocess.run(
        [sys.executable, "-c", BEGIN + OUTCOMES[example]], cwd=tree, capture_output=True, text=True, timeout=240
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_examples_together_keep_the_rules_of_the_house(tmp_path: Path) -> None:
    changed(tmp_path, "agent")
    for example in sorted(OUTCOMES.keys() - {"agent"}):
        subprocess.run(["git", "apply", "--recount", str(EXAMPLES / f"{example}.patch")], cwd=tmp_path, check=True)

    for words in (
        ["ruff", "check", "-q", "."],
        ["ruff", "format", "-q", "--check", "."],
        ["pytest", "-q", "-n0", "tests/agents/test_agents.py", "tests/test_readme.py", "-k", "aria or named or table"],
    ):
        done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
