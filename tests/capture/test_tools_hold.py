"""No tool run, whatever is in its fields, makes a note that is too long, broken or unreadable."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.agents import aliases
from mdmem.capture.tools import limits, table
from mdmem.slug import slug
from mdmem.vault import front_matter
from mdmem.vault.note import Draft

ROOT = "/home/dev/work/notes-app"


def told(tool: str, given: Any, response: Any, error: str | None = None, **kept: int) -> Draft:
    return table.describe(tool, given, response, error=error, root=ROOT, cwd=ROOT, limits=limits.Limits(**kept))


NAMES = st.sampled_from(
    [*table.TOOLS, *aliases.ALIASES, "mcp__a__b", "mcp__", "MCP:", "Frobnicate", "", "\x00", "../.."]
)
WORDS = """
    file_path notebook_path path filePath content old_string new_string replace_all edits cell_id new_source
    old_source language edit_mode patch command description pattern output_mode url prompt query questions
    question header options label answers annotations response notes plan planFilePath skill args todos
    subject taskId status updatedFields task id file type startLine numLines totalLines originalSize
    dimensions count cells source structuredPatch lines oldStart oldLines newStart newLines originalFile
    gitDiff returnDisplay fileDiff metadata diff stdout stderr interrupted isImage backgroundTaskId
    gitOperation commit sha pr exit_code filenames numFiles totalMatches mode numMatches code bytes result
    results title resource text data llmContent output error message subagent_type totalTokens input
"""
KEYS = st.sampled_from(WORDS.split())
NASTY = [
    "```\n# CANARY\n```",
    "~~~\n# CANARY",
    "`````\n",
    "# CANARY",
    "\n\n# CANARY\n",
    "---\n",
    "- ```\n# CANARY",
    "<!--\n# CANARY",
    "</details>",
    "%%",
    "$$\n# CANARY",
    "[CANARY]: x",
    "> # CANARY",
    "Exit code 7",
    "[main 1a2b3c4] x",
    "a.py:3:x",
    "\x1b]0;",
    "\x1b[3",
    "\ud800",
    "\x00",
    "a\rb",
    "C:\\x",
    "/home/dev/work/notes-app/a.py",
    "*** Update File: # CANARY\n",
    "\n@@ -1 +1 @@\n",
    "²",
    "https://x.example/`",
    "*" * 99,
    "A1b2" * 99,
]
TEXTS = st.one_of(
    st.sampled_from(NASTY), st.text(max_size=30), st.lists(st.sampled_from(NASTY), max_size=4).map("".join)
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 10**20), st.floats(allow_nan=True, allow_infinity=True), TEXTS
)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=8)),
    max_leaves=25,
)
OBJECTS = st.one_of(JSON, st.dictionaries(KEYS, JSON, max_size=12))


def outside_fences(body: str) -> list[str]:
    """Read a body as markdown does: the lines outside code fences; a fence left open fails."""
    opened = ""
    outside = []
    for line in body.split("\n"):
        text = re.sub(r"^\s*(?:(?:[-*+>]|\d+[.)])\s+(?:\[.\] )?)*", "", line) if not opened else line
        found = re.match(r" {0,3}(`{3,}|~{3,})([^`]*)$", text)
        if not opened and found:
            opened = found[1]
        elif opened and found and found[1].startswith(opened) and not found[2].strip():
            opened = ""
        elif not opened:
            outside.append(line)
    assert not opened, f"a fence was left open: {body!r}"
    return outside


def check(made: Draft) -> None:
    assert 0 < len(made.title) <= table.MAX_TITLE_CHARS
    assert made.title.isprintable()
    assert made.slug == slug(made.slug)
    assert len(made.body.encode("utf-8")) <= limits.MAX_BODY_BYTES
    assert made.body == "" or made.body.endswith("\n")
    assert len(front_matter.render(made.meta).encode("utf-8")) < 12 * 1024
    assert not [c for c in made.body if c not in "\n\t" and (c < " " or "\x7f" <= c <= "\x9f")]
    assert not [line for line in outside_fences(made.body) if line.startswith(("# ", "---", "> ", "[CANARY]", "<!--"))]


@pytest.mark.slow
@given(NAMES, OBJECTS, OBJECTS, st.one_of(st.none(), TEXTS))
def test_whatever_the_fields_hold_the_note_holds(tool: str, given_: Any, response: Any, error: str | None) -> None:
    check(told(tool, given_, response, error))


@pytest.mark.slow
@pytest.mark.parametrize("tool", [*table.TOOLS, "mcp__a__b", "Frobnicate"])
@pytest.mark.parametrize("piece", ["\U0001f600", '"\\', "`", "\n", "-\n", "\U000e0001"])
def test_no_flood_makes_a_note_too_long(tool: str, piece: str) -> None:
    flood = piece * (20_000 // len(piece))
    few = piece * (500 // len(piece))
    given_: dict[str, Any] = {
        **dict.fromkeys(["file_path", "content", "command", "description", "pattern", "path", "url", "prompt"], flood),
        **dict.fromkeys(["old_string", "new_string", "query", "plan", "skill", "args", "subject", "patch"], flood),
        "questions": [{"question": few, "options": [{"label": few, "description": few}] * 10}] * 12,
        "edits": [{"old_string": few, "new_string": f"{few}x"}] * 120,
        "todos": [{"content": few}] * 120,
        "files": [few] * 120,
        flood: [{flood: few}] * 120,
    }
    response = {
        **dict.fromkeys(["stdout", "stderr", "plan", "response", "language", "old_source", "result"], flood),
        "structuredPatch": [{"lines": [f"+{few}"] * 20}] * 10,
        "filenames": [f"/{few}/{n}" for n in range(120)],
        "results": [{"content": [{"title": few, "url": f"https://x.example/{few}"}] * 30}] * 4,
        "content": [{"type": "text", "text": few}] * 120,
        "answers": dict.fromkeys([few], few),
    }
    check(told(tool, given_, response, flood))
    check(told(tool, given_, response, max_chars=10**9, max_lines=10**9, max_files=10**9, fetch_chars=10**9))
    check(told(tool, given_, response, max_chars=0, max_lines=0, max_files=0, fetch_chars=0))
