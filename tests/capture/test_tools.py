"""What a note keeps of a tool run: title, file name, metadata and body, for every tool of every agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mdmem.agents import aliases
from mdmem.capture import tool_run
from mdmem.capture.tools import limits, table, teamwork
from mdmem.capture.tools.run import Run, RunFacts
from mdmem.vault.note import OF_TOOL, Draft

ROOT = "/home/dev/work/notes-app"
DATES = f"{ROOT}/src/dates.py"


@pytest.fixture(autouse=True)
def _every_row_names_known_keys_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that `note.OF_TOOL` does not have would be left out of the note without a word."""
    row = table.row

    def checked(name: str) -> Callable[[Run], RunFacts]:
        def describe(run: Run) -> RunFacts:
            made = row(name)(run)
            assert set(made.meta) <= set(OF_TOOL), name
            return made

        return describe

    monkeypatch.setattr(table, "row", checked)


def told(
    tool: str,
    given: Any = None,
    response: Any = None,
    error: str | None = None,
    *,
    root: str = ROOT,
    cwd: str = ROOT,
    **kept: int,
) -> Draft:
    return table.describe(tool, given, response, error=error, root=root, cwd=cwd, limits=limits.Limits(**kept))


def fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text}\n```\n"


# -- files -----------------------------------------------------------------------------------------


def test_a_read_keeps_the_text_and_its_language() -> None:
    content = "def parse(s):\n    return s\n"
    file = {"filePath": DATES, "content": content, "numLines": 3, "startLine": 1, "totalLines": 3}
    made = told("Read", {"file_path": DATES}, {"type": "text", "file": file})
    assert (made.title, made.slug) == ("Read src/dates.py", "src-dates-py")
    assert made.meta == {"files": ["src/dates.py"], "lines": 3, "language": "python"}
    assert made.body == fenced("def parse(s):\n    return s", "python")


def test_a_partial_read_says_which_lines() -> None:
    file = {"filePath": DATES, "content": "a\nb", "numLines": 2, "startLine": 3, "totalLines": 6}
    made = told("Read", {"file_path": DATES}, {"type": "text", "file": file})
    assert made.title == "Read src/dates.py (lines 3-4 of 6)"


def test_a_long_read_keeps_its_first_and_last_fifty_lines() -> None:
    content = "".join([f"line {n}\n" for n in range(300)])
    body = told("Read", {"file_path": DATES}, {"type": "text", "file": {"content": content}}).body
    assert "line 49\n… 200 lines (1,750 characters) left out …\nline 250\n" in body


def test_of_a_picture_only_what_it_is_is_kept() -> None:
    size = {"originalWidth": 2560, "originalHeight": 1440}
    file = {"base64": "iVBORw0KGgo" * 40_000, "type": "image/png", "originalSize": 330_000, "dimensions": size}
    made = told("Read", {"file_path": f"{ROOT}/docs/shot.png"}, {"type": "image", "file": file})
    assert made.body == "Not kept: image/png, 330,000 bytes, 2560 x 1440 pixels.\n"


@pytest.mark.parametrize(
    ("response", "body"),
    [
        ({"type": "pdf", "file": {"base64": "JVBER", "originalSize": 9}}, "Not kept: PDF, 9 bytes.\n"),
        (
            {"type": "parts", "file": {"originalSize": 812_345, "count": 5}},
            "Not kept: PDF, 812,345 bytes, in 5 parts.\n",
        ),
        ({"type": "file_unchanged", "file": {"filePath": DATES}}, "Unchanged since it was read before.\n"),
        ({"type": "text", "file": {"filePath": DATES, "content": ""}}, "The file is empty.\n"),
        (
            {"type": "notebook", "file": {"cells": [{"source": "x = 1"}, {"source": ["y\n", "z"]}, None]}},
            fenced("# %%\nx = 1\n# %%\ny\nz", "python"),
        ),
    ],
    ids=["pdf", "parts", "unchanged", "empty", "notebook"],
)
def test_every_kind_of_read_says_what_it_was(response: dict[str, Any], body: str) -> None:
    assert told("Read", {"file_path": DATES}, response).body == body


def test_a_new_file_is_kept_as_its_text() -> None:
    made = told("Write", {"file_path": f"{ROOT}/a.py", "content": "x = 1\n"}, {"type": "create", "structuredPatch": []})
    assert (made.title, made.body) == ("Write a.py (new, 1 line)", fenced("x = 1", "python"))


def test_a_file_that_is_overwritten_is_kept_as_a_diff() -> None:
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-old", "+new"]}]
    given = {"file_path": f"{ROOT}/README.md", "content": "new\n"}
    by_tool = told("Write", given, {"type": "update", "structuredPatch": patch, "originalFile": "old\n"})
    by_text = told("Write", given, {"type": "update", "originalFile": "old\n"})
    assert by_tool.title == by_text.title == "Write README.md (+1 -1)"
    shown = fenced("--- a/README.md\n+++ b/README.md\n@@ -1,1 +1,1 @@\n-old\n+new", "diff")
    assert by_tool.body == by_text.body == shown


def test_the_answer_of_an_older_write_is_enough() -> None:
    made = told(
        "Write", {"file_path": "/path/to/file.txt", "content": "x"}, {"filePath": "/path/to/file.txt", "success": True}
    )
    assert (made.title, made.meta["files"]) == ("Write /path/to/file.txt (1 line)", ["/path/to/file.txt"])


EDIT = {"file_path": DATES, "old_string": "return d", "new_string": "return day"}


def test_an_edit_is_kept_as_the_diff_that_the_tool_made() -> None:
    lines = [" def f(d):", "-    return d", "+    return day"]
    patch = [{"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2, "lines": lines}]
    made = told("Edit", EDIT, {"filePath": DATES, "structuredPatch": patch, "originalFile": "whatever"})
    assert made.title == "Edit src/dates.py (+1 -1)"
    assert made.meta == {"files": ["src/dates.py"], "lines": 2, "language": "python"}
    shown = ["--- a/src/dates.py", "+++ b/src/dates.py", "@@ -3,2 +3,2 @@", *lines]
    assert made.body == fenced("\n".join(shown), "diff")


def test_an_edit_without_a_diff_is_found_in_the_original() -> None:
    body = told("Edit", EDIT, {"originalFile": "def f(d):\n    return d\n\nf(1)\n", "structuredPatch": []}).body
    assert "@@ -1,4 +1,4 @@\n def f(d):\n-    return d\n+    return day\n \n f(1)\n" in body


def test_an_edit_without_the_original_is_the_two_texts() -> None:
    made = told("Edit", {**EDIT, "replace_all": True}, {"originalFile": None, "userModified": True})
    assert "@@\n-return d\n+return day\n" in made.body
    assert made.body.startswith("The user changed this edit before it was made.\nReplaced everywhere in the file.\n")


def test_an_edit_that_failed_says_so_and_what_was_tried() -> None:
    made = told("Edit", EDIT, error="String to replace not found in file.\nString: return d")
    assert made.title == "Edit src/dates.py (failed)"
    assert made.meta["error"] == "String to replace not found in file."
    assert made.body.startswith("This edit was not made.\n\n```diff\n")
    assert made.body.endswith("## Error\n\n" + fenced("String to replace not found in file.\nString: return d"))


def test_several_edits_of_a_file_are_one_diff_of_it() -> None:
    edits = [{"old_string": "a = 1", "new_string": "a = 2"}, {"old_string": "a = 2", "new_string": "a = 3"}]
    known = told("MultiEdit", {"file_path": DATES, "edits": edits}, {"originalFileContents": "a = 1\nb\n"})
    assert "@@ -1,2 +1,2 @@\n-a = 1\n+a = 3\n b\n" in known.body
    unknown = told("MultiEdit", {"file_path": DATES, "edits": edits}, {})
    assert "@@\n-a = 1\n+a = 2\n@@\n-a = 2\n+a = 3\n" in unknown.body
    assert (known.title, unknown.title) == ("MultiEdit src/dates.py (+1 -1)", "MultiEdit src/dates.py (+2 -2)")


def test_a_notebook_edit_is_the_diff_of_its_cell() -> None:
    given = {"notebook_path": f"{ROOT}/nb.ipynb", "cell_id": "c3", "new_source": "print(1)", "edit_mode": "replace"}
    made = told("NotebookEdit", given, {"old_source": "print(0)", "language": "python", "original_file": "{}" * 9_000})
    assert made.title == "NotebookEdit nb.ipynb cell c3"
    assert made.meta == {"files": ["nb.ipynb"], "lines": 2, "language": "python"}
    assert "-print(0)\n+print(1)\n" in made.body


PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def f():
-    return 1
+    return 2
*** Add File: docs/new.md
+# New
*** Delete File: old.txt
*** End Patch"""


@pytest.mark.parametrize("given", [{"command": PATCH}, {"input": PATCH}, {"patchText": PATCH}, PATCH])
def test_a_patch_names_its_files(given: Any) -> None:
    made = told("apply_patch", given, "Success.")
    assert made.title == "Patch src/a.py, docs/new.md, old.txt"
    assert made.meta == {"files": ["src/a.py", "docs/new.md", "old.txt"], "lines": 3}
    assert made.body == fenced(PATCH, "diff")


@pytest.mark.parametrize(
    ("file", "language"),
    [
        ("a.py", "python"),
        ("b.TSX", "tsx"),
        ("types.d.ts", "typescript"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("go.mod", "go"),
        (".gitignore", "text"),
        ("LICENSE", None),
        ("archive.tar.gz", None),
        ("strange.a b", None),
    ],
)
def test_the_language_is_told_by_the_files_name(file: str, language: str | None) -> None:
    assert told("Write", {"file_path": file, "content": "x"}).meta.get("language") == language


# -- where files are -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "root", "cwd", "name"),
    [
        (f"{ROOT}/src/a.py", ROOT, ROOT, "src/a.py"),
        ("src/../b.py", ROOT, ROOT, "b.py"),
        ("a.py", ROOT, f"{ROOT}/src", "src/a.py"),
        ("../c.py", ROOT, f"{ROOT}/src", "c.py"),
        ("../../etc/passwd", ROOT, ROOT, "/home/dev/etc/passwd"),
        (ROOT, ROOT, ROOT, "."),
        (f"{ROOT}-other/a.py", ROOT, ROOT, f"{ROOT}-other/a.py"),
        ("/etc/hosts", ROOT, ROOT, "/etc/hosts"),
        ("/etc/hosts", "/", "/", "etc/hosts"),
        ("~/notes.md", ROOT, ROOT, "~/notes.md"),
        ("a.py", "", "", "a.py"),
        (r"C:\Users\me\my proj\src\a.py", r"C:\Users\me\my proj", r"C:\Users\me\my proj", "src/a.py"),
        (r"c:\users\me\proj\src\A.py", r"C:\Users\me\proj", r"C:\Users\me\proj", "src/A.py"),
        (r"src\a.py", r"C:\proj", r"C:\proj", "src/a.py"),
        (r"\\server\share\a.py", r"C:\proj", r"C:\proj", "//server/share/a.py"),
        (r"\\?\C:\proj\a.py", r"C:\proj", r"C:\proj", "a.py"),
        (r"D:\x.txt", r"C:\proj", r"C:\proj", "D:/x.txt"),
        (r"odd\name.txt", ROOT, ROOT, r"odd\name.txt"),
        ("line\nbreak\x00.txt", ROOT, ROOT, "line\ufffdbreak\ufffd.txt"),
        ("日本語/ファイル.md", ROOT, ROOT, "日本語/ファイル.md"),
        ("会議\u3000メモ.md", ROOT, ROOT, "会議\u3000メモ.md"),
        ("Screenshot 9.41.00\u202fAM.png", ROOT, ROOT, "Screenshot 9.41.00\u202fAM.png"),  # macOS
        ("کتاب\u200cها.md", ROOT, ROOT, "کتاب\u200cها.md"),
    ],
)
def test_a_file_is_named_as_its_project_names_it(path: str, root: str, cwd: str, name: str) -> None:
    assert told("Read", {"file_path": path}, root=root, cwd=cwd).meta["files"] == [name]


# -- commands --------------------------------------------------------------------------------------

DONE = {"stderr": "", "interrupted": False, "isImage": False}


def test_a_command_is_kept_with_its_output_and_its_success() -> None:
    given = {"command": "pytest -q", "description": "Run the tests"}
    made = told("Bash", given, {"stdout": "12 passed in 0.41s", **DONE})
    assert (made.title, made.slug) == ("pytest -q", "pytest-q")
    assert made.meta == {"command": "pytest -q", "exit_code": 0}
    assert made.body == f"Run the tests\n\n{fenced('pytest -q', 'sh')}\n## Output\n\n{fenced('12 passed in 0.41s')}"


def test_a_powershell_command_is_fenced_as_one() -> None:
    assert told("PowerShell", {"command": "Get-Item ."}, {"stdout": "", **DONE}).body == fenced(
        "Get-Item .", "powershell"
    )


@pytest.mark.parametrize(
    ("error", "code", "title", "reason"),
    [
        ("Exit code 1\nError: no module", 1, "npm test (exit 1)", "Error: no module"),
        ("Command timed out after 2m 0s\nExit code 143", 143, "npm test (exit 143)", "Command timed out after 2m 0s"),
        ("The operation was aborted", None, "npm test (failed)", "The operation was aborted"),
        ("Exit code 2", 2, "npm test (exit 2)", "Exit code 2"),
        ("", None, "npm test (failed)", None),
    ],
)
def test_a_command_that_failed_says_how(error: str, code: int | None, title: str, reason: str | None) -> None:
    made = told("Bash", {"command": "npm test"}, error=error)
    assert (made.title, made.meta.get("exit_code"), made.meta.get("error")) == (title, code, reason)
    assert made.body.endswith(fenced(error) if error else "It failed; no reason was given.\n")


@pytest.mark.parametrize(
    ("command", "output", "error"),
    [
        ("pytest -q 2>&1|tail -3", "FAILED t.py::test_a\n1 failed, 11 passed in 2s", "1 failed, 11 passed in 2s"),
        ("cd api && python -m pytest | tail -1", "===== 2 errors in 0.12s =====", "2 errors in 0.12s"),
        ("python -m unittest; echo done", "Ran 3 tests\nFAILED (failures=1)\ndone", "FAILED (failures=1)"),
        ("cargo test 2>&1 | grep result", "test result: FAILED. 3 passed; 1 failed; 0 ignored",
         "test result: FAILED. 3 passed; 1 failed; 0 ignored"),
        ("go test ./... || true", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.org/a\t0.01s\nFAIL", "FAIL"),
        ("npx jest | tail", "Tests:       1 failed, 3 passed, 4 total", "Tests:       1 failed, 3 passed, 4 total"),
        ("make test 2>&1 | tail -2", "make: *** [Makefile:3: test] Error 1", "make: *** [Makefile:3: test] Error 1"),
        ("mypy . | tail -1", "Found 3 errors in 1 file (checked 5 source files)",
         "Found 3 errors in 1 file (checked 5 source files)"),
        ("./gradlew build | tail -4", "BUILD FAILED in 3s", "BUILD FAILED in 3s"),
        ("pytest -q | tail -1", "1 passed, 1 error in 0.63s", "1 passed, 1 error in 0.63s"),
        ("pytest -q | tail -1", "\x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m1 passed\x1b[0m\x1b[31m in 0.76s\x1b[0m",
         "1 failed, 1 passed in 0.76s"),
        ("pytest -q | tail -1", "1 failed, 1 passed, 2 subtests passed in 75.31s (0:01:15)\r\n",
         "1 failed, 1 passed, 2 subtests passed in 75.31s (0:01:15)"),
        ("go test ./...\ngit status --short", "FAIL\r\n M a.go", "FAIL"),
        ("(cd api && pytest -q) | tail -1", "1 failed in 2s", "1 failed in 2s"),
        ("make nope 2>&1 | tail", "make: *** No rule to make target 'nope'.  Stop.",
         "make: *** No rule to make target 'nope'.  Stop."),
        ("ruff check --fix . | tail -1", "Found 3 errors (2 fixed, 1 remaining).",
         "Found 3 errors (2 fixed, 1 remaining)."),
        ("npx mocha | tail", "  5 passing (3ms)\n  1 failing", "1 failing"),
        ("rspec | tail -1", "1 example, 1 failure", "1 example, 1 failure"),
        ("mix test | tail -1", "2 doctests, 3 tests, 1 failure", "2 doctests, 3 tests, 1 failure"),
        ("dotnet test | tail -1", "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3",
         "Failed! - Failed: 1, Passed: 2, Skipped: 0, Total: 3"),
    ],
)  # fmt: skip
def test_a_check_that_failed_before_a_pipe_or_another_command_is_no_success(
    command: str, output: str, error: str
) -> None:
    made = told("Bash", {"command": command}, {"stdout": output, "stderr": "", "interrupted": False})

    assert (made.meta["success"], made.meta["exit_code"]) == (False, 0)
    assert made.meta["error"] == " ".join(error.split())


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest -q 2>&1 | tail -3", "12 passed, 1 warning in 0.42s"),
        ("pytest -q", "1 failed in 0.42s"),
        ("set -o pipefail; pytest -q | tail -1", "1 failed in 0.42s"),
        ("gh run view --log-failed | tail -3", "1 failed, 11 passed in 0.42s"),
        ("grep -rn 'FAILED' logs | head", "FAILED (failures=1)"),
        ("ruff check --fix . | tail -1", "Found 2 errors (2 fixed, 0 remaining)."),
        ("cargo test | grep result", "test result: ok. 3 passed; 0 failed"),
        ("npx vitest run | tail", "Tests  4 passed (4)"),
        ("pytest -s | tail", "3 errors in the queue are retried\n4 passed in 1s"),
        ("pytest -s | tail", "2 errors in 5 files\n4 passed, 1 xfailed, 1 xpassed in 1s"),
        ("pytest -q | tail", "0 failed, 4 passed in 1s"),
        ("npx jest | tail", "Tests:       0 failed, 4 passed, 4 total"),
        ("rspec | tail -1", "13 examples, 0 failures, 1 pending"),
        ("pytest -q\n", "1 failed in 0.42s"),
    ],
)
def test_a_check_that_passed_or_whose_status_is_its_own_stays_a_success(command: str, output: str) -> None:
    made = told("Bash", {"command": command}, {"stdout": output, "stderr": "", "interrupted": False})

    assert "success" not in made.meta
    assert "error" not in made.meta


def test_an_output_that_is_the_error_too_is_kept_once() -> None:
    made = told("Shell", {"command": "make"}, {"output": "boom\n", "exitCode": 2}, "Exit code 2\nboom")
    assert made.body == f"{fenced('make', 'sh')}\n## Error\n\n{fenced('Exit code 2' + chr(10) + 'boom')}"


def test_the_word_that_an_agent_puts_before_an_output_is_no_part_of_it() -> None:
    body = told("run_shell_command", {"command": "ls"}, {"llmContent": "Output: a.py"}).body
    assert body.endswith(f"## Output\n\n{fenced('a.py')}")


@pytest.mark.parametrize(
    "more",
    [
        {"backgroundTaskId": "b7"},
        {"interrupted": True},
        {"returnCodeInterpretation": "No matches found"},
        {"timedOutAfterMs": 9},
    ],
)
def test_an_exit_code_that_nobody_knows_is_not_made_up(more: dict[str, Any]) -> None:
    assert "exit_code" not in told("Bash", {"command": "grep x y"}, {"stdout": "", **DONE, **more}).meta


@pytest.mark.parametrize(
    ("response", "code"),
    [
        ("Exit code: 3\nWall time: 0.1 seconds\nOutput:\nboom", 3),
        ("Process exited with code 4\n\nOutput:\nboom", 4),
        ({"llmContent": "Output: boom\nExit Code: 5\nProcess Group PGID: 1"}, 5),
        ({"resultType": "success", "textResultForLlm": "boom\n<exited with exit code 6>"}, 6),
        ("boom\n<shellId: 0 completed with exit code 8>", 8),
        ({"title": "x", "output": "boom", "metadata": {"exit": 7}}, 7),
        ({"exit_code": 0, "output": "fine"}, 0),
        ("no word on it", None),
    ],
)
def test_every_agents_way_of_giving_the_exit_code_is_read(response: Any, code: int | None) -> None:
    made = told("shell", {"command": ["bash", "-lc", "make all"]}, response)
    assert made.meta.get("exit_code") == code
    assert made.title == (f"make all (exit {code})" if code else "make all")


@pytest.mark.parametrize(
    ("response", "commits"),
    [
        ({"stdout": "", "gitOperation": {"commit": {"sha": "1a2b3c4", "kind": "committed"}}, **DONE}, "1a2b3c4"),
        ({"stdout": "[main 1a2b3c4] dates\n 1 file changed", **DONE}, "1a2b3c4"),
        ({"stdout": "[main (root-commit) 1a2b3c4] first", **DONE}, "1a2b3c4"),
        ({"stdout": "[main 1a2b3c4] one\n[main 5d6e7f8] two\n[main 5d6e7f8] two", **DONE}, "1a2b3c4 5d6e7f8"),
        ({"stdout": "x\n" * 90_000 + "[feature/x 1a2b3c4] after a long check", **DONE}, "1a2b3c4"),
        ({"stdout": "[INFO] nothing\n[main fatal] no", **DONE}, None),
        ({"stdout": "", "gitOperation": {"commit": {"sha": "$(rm -rf /)"}}, **DONE}, None),
    ],
)
def test_the_commits_that_a_command_made_are_kept(response: Any, commits: str | None) -> None:
    assert told("Bash", {"command": "git commit -am x"}, response).meta.get("made_commit") == commits


@pytest.mark.parametrize(
    ("command", "description", "title"),
    [
        (f"cd {ROOT} && pytest -q", "", "pytest -q"),
        ("cd src", "", "cd src"),
        ("cat <<'EOF' > x\nlong\nEOF", "Write the file x", "Write the file x"),
        ("one\ntwo", "", "one two"),
        ("x" * 300, "", "x" * 119 + "…"),
        ("\x1b[31mls\x1b[0m\x00", "", "ls"),
        ("", "", "Bash"),
    ],
)
def test_the_title_of_a_command_is_its_telling_part(command: str, description: str, title: str) -> None:
    assert told("Bash", {"command": command, "description": description}).title == title


def test_the_tools_own_notices_and_a_background_start_are_kept_apart_from_the_output() -> None:
    made = told(
        "Bash", {"command": "npm run dev"}, {**DONE, "stdout": "", "backgroundTaskId": "b7", "stderr": "cwd was reset"}
    )
    command, notice = fenced("npm run dev", "sh"), fenced("cwd was reset")
    assert made.body == f"Left running in the background as b7.\n\n{command}\n## Notice\n\n{notice}"


def test_an_output_that_is_a_picture_is_not_kept() -> None:
    body = told("Bash", {"command": "plot"}, {**DONE, "stdout": "iVBOR" * 100, "isImage": True}).body
    assert body.startswith("Not kept: a picture, 500 characters of base64.\n")
    assert "iVBOR" not in body


def test_a_megabyte_of_output_keeps_both_ends_and_is_small() -> None:
    line = "00000000  src/module_0000.py  lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum\n"
    body = told("Bash", {"command": "find ."}, {"stdout": "first\n" + line * 12_000 + "last", **DONE}).body
    assert "\nfirst\n" in body
    assert "\nlast\n" in body
    assert " characters) left out …" in body
    assert len(body) < 10_300


# -- searches --------------------------------------------------------------------------------------


def test_a_glob_is_its_file_list() -> None:
    found = {"filenames": [DATES, f"{ROOT}/src/cli.py"], "numFiles": 2, "totalMatches": 2}
    made = told("Glob", {"pattern": "**/*.py"}, found)
    assert made.title == "Glob **/*.py (2 files)"
    assert made.meta == {"files": ["src/dates.py", "src/cli.py"], "pattern": "**/*.py", "matches": 2}
    assert made.body == fenced("src/dates.py\nsrc/cli.py")


def test_a_search_lists_a_hundred_files_and_counts_the_rest() -> None:
    names = [f"{ROOT}/f{n}.py" for n in range(250)]
    made = told("Glob", {"pattern": "*"}, {"filenames": names, "numFiles": 250, "totalMatches": 1_250})
    assert made.title == "Glob * (1,250 files)"
    assert made.body.count(".py\n") == 100
    assert made.body.endswith("```\n… 1,150 more left out …\n")
    assert len(told("Glob", {"pattern": "*"}, {"filenames": names}, max_files=3).meta["files"]) == 3


def test_a_grep_for_lines_is_its_files_with_counts_and_line_numbers() -> None:
    content = (
        "src/cli.py:14:    d = parse(arg)\nsrc/cli.py-15-    context\n--\nsrc/cli.py:20:parse()\nsrc/sync.py:88:parse()"
    )
    response = {"mode": "content", "filenames": [], "content": content, "numLines": 5}
    made = told("Grep", {"pattern": r"parse\("}, response)
    assert made.title == r'Grep "parse\(" (3 matches)'
    assert made.meta == {"files": ["src/cli.py", "src/sync.py"], "pattern": r"parse\(", "matches": 3}
    assert made.body == fenced("src/cli.py: 2 matches (lines 14, 20)\nsrc/sync.py: 1 match (line 88)")


def test_a_grep_of_which_the_middle_was_not_read_counts_what_the_agent_did() -> None:
    found = {"mode": "content", "content": "a.py:1:x\n  \n\n\nb.py:9:x", "numLines": 900}
    assert told("Grep", {"pattern": "x"}, found).title == 'Grep "x" (900 matches)'


@pytest.mark.parametrize(
    ("given", "response", "body"),
    [
        ({}, {"mode": "files_with_matches", "numFiles": 1, "filenames": ["src/cli.py"]}, fenced("src/cli.py")),
        (
            {"output_mode": "count"},
            {"mode": "count", "content": "a.py:3\nb:c.py:1"},
            fenced("a.py: 3 matches\nb:c.py: 1 match"),
        ),
        ({"path": DATES}, {"mode": "content", "content": "3:x\n9:x"}, fenced("src/dates.py: 2 matches (lines 3, 9)")),
        ({}, {"mode": "content", "content": r"C:\p\a.py:3:x"}, fenced(r"C:/p/a.py: 1 match (line 3)")),
        ({}, {"mode": "files_with_matches", "numFiles": 0, "filenames": []}, "Nothing was found.\n"),
        ({}, "Found 1 match\na.py:\n  Line 3: x", fenced("a.py: 1 match (line 3)")),
        (
            {},
            'Found 1 match for pattern "x":\n---\nFile: src/a.py\nL2- y\nL3: x\n---',
            fenced("src/a.py: 1 match (line 3)"),
        ),
        ({"output_mode": "content"}, "./a.py:def x(y):\n./a.py:x(1)", fenced("a.py: 2 matches")),
        ({}, "./a.py\n./b.py", fenced("a.py\nb.py")),
    ],
    ids=[
        "files",
        "counts",
        "one file",
        "windows",
        "nothing",
        "OpenCode's words",
        "Gemini's words",
        "without numbers",
        "names alone",
    ],
)
def test_every_kind_of_grep_gives_its_files(given: dict[str, Any], response: Any, body: str) -> None:
    assert told("Grep", {"pattern": "x", **given}, response).body == body


def test_a_fetch_is_its_question_and_the_first_500_characters_of_the_answer() -> None:
    url = "https://docs.example.com/iso8601"
    response = {"bytes": 48_211, "code": 200, "codeText": "OK", "result": "y" * 600, "url": url}
    made = told("WebFetch", {"url": url, "prompt": "Which years are leap years?"}, response)
    assert (made.title, made.meta) == ("WebFetch docs.example.com/iso8601", {"url": url, "status": 200})
    assert made.body.startswith(f"<{url}>\n\nWhich years are leap years?\n\n48,211 bytes were fetched.\n\n## Result\n")
    assert made.body.endswith(fenced("y" * 500 + "\n… 100 characters left out …", "markdown"))
    assert told("WebFetch", {"url": url}, {**response, "code": 404}).title.endswith(" (404)")


def test_a_web_search_is_its_pages() -> None:
    page = {"title": "datetime <b>`x`", "url": "https://docs.python.org/3/"}
    results = [{"tool_use_id": "s", "content": [page, {"title": "odd", "url": "javascript:x"}]}, "A summary."]
    made = told("WebSearch", {"query": "leap year"}, {"query": "leap year", "results": results})
    assert (made.title, made.meta) == ('WebSearch "leap year" (2 pages)', {"pattern": "leap year", "matches": 2})
    assert made.body == (
        "- datetime \\<b>\\`x\\`: <https://docs.python.org/3/>\n- odd: javascript:x\n\n## Summary\n\n"
        + fenced("A summary.", "markdown")
    )


# -- questions, plans, tasks, sub-agents -----------------------------------------------------------

QUESTION = {
    "question": "Which date format?",
    "header": "Format",
    "options": [{"label": "ISO 8601", "description": "2026-09-14"}, {"label": "Local", "description": "14.09.2026"}],
}


@pytest.mark.parametrize(
    ("answers", "ticks", "title"),
    [
        ({"Which date format?": "ISO 8601"}, ["- [x] ISO 8601: 2026-09-14", "- [ ] Local: 14.09.2026"], "ISO 8601"),
        (
            {"Which date format?": "ISO 8601, Local"},
            ["- [x] ISO 8601: 2026-09-14", "- [x] Local: 14.09.2026"],
            "ISO 8601, Local",
        ),
        (
            {"Which date format?": "Unix time"},
            ["- [ ] ISO 8601: 2026-09-14", "- [ ] Local: 14.09.2026", "- [x] Unix time"],
            "Unix time",
        ),
        ({"0": ["Local"]}, ["- [ ] ISO 8601: 2026-09-14", "- [x] Local: 14.09.2026"], "Local"),
    ],
    ids=["one", "several", "own words", "list by number"],
)
def test_a_decision_shows_the_options_with_the_chosen_ones_ticked(
    answers: dict[str, Any], ticks: list[str], title: str
) -> None:
    made = told("AskUserQuestion", {"questions": [QUESTION]}, {"questions": [QUESTION], "answers": answers})
    assert made.title == f"Which date format? → {title}"
    assert made.body == "\n".join(["**Which date format?**", "", *ticks, ""])


def test_the_users_own_words_are_kept() -> None:
    notes = {"Which date format?": {"notes": "but only on the wire"}}
    response = {"answers": {"Which date format?": "Local"}, "annotations": notes, "response": "Ask me again\nnext week"}
    made = told("AskUserQuestion", {"questions": [QUESTION, {"question": "And more?"}]}, response)
    assert made.title == "Which date format? → Local (and 1 more)"
    assert "- [x] Local: 14.09.2026\n- but only on the wire\n\n**And more?**\n" in made.body
    assert made.body.endswith("## In the user's words\n\n" + fenced("Ask me again\nnext week"))


def test_a_plan_is_kept_whole_under_its_first_line() -> None:
    made = told(
        "ExitPlanMode", {"plan": "## Dates\n1. Validate"}, {"plan": "## Dates\n1. Validate", "filePath": "/p/x.md"}
    )
    assert (made.title, made.body) == ("Plan: Dates", fenced("## Dates\n1. Validate", "markdown"))


def test_a_sub_agents_work_is_its_task_and_its_answer() -> None:
    given = {"description": "Find call sites", "prompt": "List every call.", "subagent_type": "Explore"}
    answer = {
        "status": "completed",
        "content": [{"type": "text", "text": "Three."}],
        "totalToolUseCount": 7,
        "totalTokens": 12_450,
    }
    made = told("Agent", given, answer)
    assert (made.title, made.meta) == ("Agent Explore: Find call sites", {"status": "completed"})
    assert made.body == (
        "It took 7 tool calls and 12,450 tokens.\n\n## Task\n\n"
        + fenced("List every call.", "markdown")
        + "\n## Answer\n\n"
        + fenced("Three.", "markdown")
    )
    assert told("Task", given, {"content": [{"type": "text", "text": "Three."}]}).title == made.title


def test_a_sub_agent_in_the_background_has_no_answer_yet() -> None:
    response = {"status": "async_launched", "agentId": "a4", "outputFile": "/tmp/x", "prompt": "List every call."}
    body = told("Agent", {"description": "Find", "prompt": "List every call."}, response).body
    assert body.startswith("Started in the background: its answer comes later.\n")
    assert "## Answer" not in body


def test_every_note_that_says_that_its_answer_comes_later_is_waited_for() -> None:
    assert set(tool_run.LATER) == set(teamwork.LATER)


def test_tasks_say_their_number_and_what_became_of_them() -> None:
    made = told("TaskCreate", {"subject": "Add a test", "description": "Cover it"}, {"task": {"id": "3"}})
    assert (made.title, made.body) == ("Task 3: Add a test", fenced("Cover it", "markdown"))
    done = told("TaskUpdate", {"taskId": "3", "status": "in_progress"}, {"success": True, "updatedFields": ["status"]})
    assert (done.title, done.meta) == ("Task 3 in progress", {"status": "in_progress"})
    other = told("TaskUpdate", {"taskId": "3"}, {"updatedFields": ["owner", "subject"]})
    assert other.title == "Task 3 updated owner, subject"
    assert told("TaskCreate", {"subject": "Add a test"}, {"task": {"id": 4}}).title == "Task 4: Add a test"
    assert told("TaskCreate", {"subject": "Add a test"}).title == "Task: Add a test"


def test_a_todo_list_shows_what_is_done() -> None:
    todos = [{"content": "Fix parser", "status": "completed"}, {"content": "Add test", "status": "pending"}]
    assert told("TodoWrite", {"todos": todos}).body == "- [x] Fix parser\n- [ ] Add test\n"


def test_a_skill_says_what_it_was_given() -> None:
    made = told("Skill", {"skill": "pdf", "args": "fill form.pdf"}, "Launching skill: pdf")
    assert (made.title, made.slug) == ("Skill pdf fill form.pdf", "pdf-fill-form-pdf")


# -- MCP and unknown tools -------------------------------------------------------------------------


def test_an_mcp_tools_blocks_are_its_result() -> None:
    blocks = [
        {"type": "text", "text": "Screenshot taken"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo"}},
        {"type": "image", "mimeType": "image/webp", "data": "UklGR"},
        {"type": "resource", "resource": {"uri": "file:///tmp/a.txt", "text": "x"}},
        {"type": "resource", "resource": {"uri": "file:///tmp/a.bin", "blob": "AAAA"}},
        {"type": "resource_link", "uri": "file:///tmp/b.txt"},
        None,
        "stray string",
        7,
    ]
    made = told("mcp__claude-in-chrome__screenshot", {}, blocks)
    assert made.title == "claude-in-chrome screenshot"
    assert made.body == "## Result\n\n" + fenced(
        "Screenshot taken\n"
        "[image/png, 11 characters of base64 left out]\n"
        "[image/webp, 5 characters of base64 left out]\n"
        "file:///tmp/a.txt\nx\nfile:///tmp/a.bin\n[4 characters of base64 left out]\nfile:///tmp/b.txt\nstray string"
    )


def test_an_mcp_tools_string_is_its_result() -> None:
    made = told("mcp__plugin_my-plugin_db__query", {"sql": "select 1"}, '[{"?column?":1}]')
    assert made.title == "my-plugin_db query: select 1"
    result = fenced('[{"?column?":1}]', "json")
    assert made.body == f"## Input\n\n{fenced('sql: select 1')}\n## Result\n\n{result}"


@pytest.mark.parametrize("sign", [{"isError": True}, {"is_error": True}, {"success": False}])
def test_a_run_that_only_its_result_calls_failed_is_stored_as_failed(sign: dict[str, bool]) -> None:
    made = told(
        "mcp__db__query", {"sql": "select 1"}, {"content": [{"type": "text", "text": "No such table."}], **sign}
    )
    assert (made.title, made.meta["success"]) == ("db query: select 1 (failed)", False)
    assert made.meta["error"] == "No such table."


def test_an_mcp_tool_without_a_result_says_so() -> None:
    made = told("mcp__filesystem__read_file", {"path": "/tmp/x"})
    assert (made.title, made.meta) == ("filesystem read_file: /tmp/x", {"files": ["/tmp/x"]})
    assert made.body.endswith("No result.\n")


def test_an_unknown_tool_is_kept_as_an_outline_of_what_it_was_given_and_gave() -> None:
    given = {"a": 1, "b": [True, None, 1.5], "c": {"d": "two\nlines"}, "e": []}
    made = told("FrobnicateTool", given, {"ok": True, "rows": [{"id": 1, "name": "x"}, {"id": 2}]})
    assert made.title == "FrobnicateTool"
    assert made.body == (
        "## Input\n\n"
        + fenced("a: 1\nb:\n  - true\n  - null\n  - 1.5\nc:\n  d:\n    two\n    lines\ne: (empty)")
        + "\n## Result\n\n"
        + fenced("ok: true\nrows:\n  - id: 1\n    name: x\n  - id: 2")
    )


def test_what_is_nested_too_deep_is_only_counted() -> None:
    deep: Any = "bottom"
    for _ in range(5_000):
        deep = [deep]
    body = told("Frobnicate", {"x": deep}, deep).body
    assert "… 1 nested deeper …" in body
    assert "bottom" not in body


def test_numbers_too_long_to_write_are_described() -> None:
    assert "a number of " in told("Frobnicate", {"x": 10**6_000, "y": float("nan"), "z": -(10**40)}).body


# -- other agents ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "given", "response", "title"),
    [
        ("run_shell_command", {"command": "ls"}, {"llmContent": "Output: x", "returnDisplay": "x"}, "ls"),
        ("exec_command", {"cmd": "ls"}, "x", "ls"),
        ("Shell", {"command": "ls"}, '{"output":"x"}', "ls"),
        ("bash", {"command": "ls", "sessionId": "1"}, {"textResultForLlm": "x"}, "ls"),
        ("bash", {"command": "ls"}, {"title": "ls", "output": "x", "metadata": {"exit": 0}}, "ls"),
        ("read_file", {"absolute_path": DATES}, {"llmContent": "x = 1\n"}, "Read src/dates.py"),
        ("view", {"path": DATES}, {"text_result_for_llm": "x = 1"}, "Read src/dates.py"),
        ("read", {"filePath": DATES}, {"output": "<file>x</file>"}, "Read src/dates.py"),
        ("Read", {"path": DATES}, "x = 1", "Read src/dates.py"),
        ("write_file", {"file_path": DATES, "content": "x\n"}, {}, "Write src/dates.py (1 line)"),
        ("create", {"path": DATES, "file_text": "x\n"}, {}, "Write src/dates.py (1 line)"),
        ("Write", {"path": DATES, "contents": "x\n"}, {}, "Write src/dates.py (1 line)"),
        ("write", {"filePath": DATES, "content": "x\n"}, {}, "Write src/dates.py (1 line)"),
        ("replace", {"file_path": DATES, "old_string": "a", "new_string": "b"}, {}, "Edit src/dates.py (+1 -1)"),
        ("str_replace", {"path": DATES, "old_str": "a", "new_str": "b"}, {}, "Edit src/dates.py (+1 -1)"),
        ("StrReplace", {"path": DATES, "old_string": "a", "new_string": "b"}, "", "Edit src/dates.py (+1 -1)"),
        ("edit", {"filePath": DATES, "oldString": "a", "newString": "b"}, {}, "Edit src/dates.py (+1 -1)"),
        ("grep", {"pattern": "x", "include": "*.py"}, {"output": "a.py:1:x"}, 'Grep "x" (1 match)'),
        ("search_file_content", {"pattern": "x"}, {"llmContent": "a.py:1:x"}, 'Grep "x" (1 match)'),
        ("grep_search", {"query": "x"}, {"llmContent": "a.py:1:x"}, 'Grep "x" (1 match)'),
        ("glob", {"pattern": "*.py"}, {"llmContent": "Found 1 file(s):\n/p/a.py"}, "Glob *.py (1 file)"),
        ("glob", {"pattern": "*.py"}, {"output": "No files found"}, "Glob *.py (0 files)"),
        ("web_fetch", {"url": "https://a.example/x"}, "text", "WebFetch a.example/x"),
        ("google_web_search", {"query": "leap"}, {"llmContent": "text"}, 'WebSearch "leap"'),
        ("task", {"description": "Look", "prompt": "p"}, {"output": "text"}, "Agent Look"),
        ("ask_user", {"question": "Which?"}, {"textResultForLlm": "That one"}, "Which?"),
        ("mcp_github_search", {"query": "x"}, {"llmContent": "y"}, "github_search: x"),
        ("MCP:search", {"query": "x"}, "y", "search: x"),
    ],
)
def test_every_agents_tools_are_known_by_their_own_names(tool: str, given: Any, response: Any, title: str) -> None:
    assert told(tool, given, response).title == title


def test_a_diff_that_an_agent_made_itself_is_taken() -> None:
    diff = "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b"
    for response in ({"returnDisplay": {"fileDiff": diff}}, {"metadata": {"diff": diff}}, {"gitDiff": {"patch": diff}}):
        made = told("edit", {"filePath": DATES, "oldString": "a", "newString": "b"}, response)
        assert (made.title, made.body) == ("Edit src/dates.py (+1 -1)", fenced(diff, "diff"))


def test_a_failure_inside_a_successful_answer_is_a_failure() -> None:
    made = told("read_file", {"file_path": DATES}, {"llmContent": "", "error": {"message": "No such file"}})
    assert (made.title, made.meta["error"]) == ("Read src/dates.py (failed)", "No such file")


def test_the_error_of_a_trace_of_python_is_the_line_behind_it() -> None:
    trace = 'Exit code 1\nTraceback (most recent call last):\n  File "a.py", line 1\n    b()\nlib.Invalid: no depth'
    assert told("Bash", {"command": "python a.py"}, error=trace).meta["error"] == "lib.Invalid: no depth"


def test_the_error_of_a_run_of_pytest_is_what_was_raised_not_a_heading_or_a_line_of_the_test() -> None:
    rule = "=" * 30
    said = (
        f"Exit code 1\n{rule} test session starts {rule}\ntests/test_a.py F\n{rule} FAILURES {rule}\n"
        "____ test_fails_without_error ____\n    def test_fails_without_error():\n>       assert f() == 4\n"
        f"E       assert 3 == 4\n\ntests/test_a.py:9: AssertionError\n{rule} 1 failed in 0.1s {rule}\n"
    )
    assert told("Bash", {"command": "pytest"}, error=said).meta["error"] == "E assert 3 == 4"
    assert (
        told("Bash", {"command": "go test"}, error="--- FAIL: TestA (0.0s)\nFAIL").meta["error"].startswith("--- FAIL")
    )


def test_the_error_of_a_run_is_not_a_line_that_only_names_a_file_of_tests() -> None:
    begin = "Exit code 1\n FAIL  test/charge.test.ts\n"
    raised = f"{begin}  TypeError: Cannot read properties of undefined (reading 'status')\n      at src/charge.ts:29:31"
    expected = f"{begin}  ● charge › returns the first result\n    Expected: 33.34\n    Received: 33.33"

    assert told("Bash", {"command": "npm test"}, error=raised).meta["error"].startswith("TypeError: Cannot read")
    assert told("Bash", {"command": "npm test"}, error=expected).meta["error"] == "● charge › returns the first result"
    assert told("Bash", {"command": "npm test"}, error=begin).meta["error"] == "Exit code 1"


def test_the_error_of_a_run_is_the_line_that_says_how_it_failed() -> None:
    said = "Exit code 1\n> shop@1.0 build\n> vite build\n\nsrc/a.ts(3,1): error TS2304: Cannot find name 'x'."
    assert (
        told("Bash", {"command": "npm run build"}, error=said).meta["error"].startswith("src/a.ts(3,1): error TS2304")
    )


def test_only_tools_that_write_change_files() -> None:
    changing = ["Edit", "Write", "NotebookEdit", "MultiEdit", "apply_patch", "StrReplace", "replace", "write_file"]
    assert all(map(aliases.changes_files, [*changing, *map(str.lower, changing)]))
    assert not any(map(aliases.changes_files, ["Read", "view", "Grep", "Bash", "mcp__fs__write_file", ""]))


def test_every_alias_leads_to_a_row() -> None:
    assert {name for name, _ in aliases.ALIASES.values()} <= set(table.TOOLS)
    assert all(name == name.lower() for name in aliases.ALIASES)
