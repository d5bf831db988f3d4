"""What a private section of a file says is not stored when a run shows only a part of the file, without the tags."""

from __future__ import annotations

import base64
import gzip
import os
import shutil
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mdmem import agents, config, files
from mdmem.capture import events
from mdmem.capture.tools import unnamed_files
from tests.conftest import notes
from tests.helpers.claude import START, capture, payload, prompt, stop

FILE = "# notes\n<private>\nalpha walrus code\nbeta 4711904226\n</private>\nthe public end\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "plan.md").write_text(FILE, encoding="utf-8")
    (tmp_path / "app" / "sub").mkdir()
    (tmp_path / "app" / "NOTES").write_text(FILE, encoding="utf-8")
    (tmp_path / "app" / "link.md").symlink_to("plan.md")
    return tmp_path / "app"


def run(folder: Path, tool: str, given: dict[str, Any], response: Any, use: str = "toolu_1") -> None:
    event = payload("PostToolUse", tool_name=tool, tool_input=given, tool_response=response, tool_use_id=use)
    capture(event | {"prompt_id": "prompt-1", "cwd": str(folder)})


def stored(vault: Path) -> str:
    return "\n".join(f"{path.name}\n{path.read_text(encoding='utf-8')}" for path in notes(vault))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("sed -n 3,4p plan.md", "alpha walrus code\nbeta 4711904226"),
        ("cat ./link.md | tail -4", "beta 4711904226\n</private>\nthe public end"),
        ("grep -n beta plan.md", "4:beta 4711904226"),
        ("grep -rn beta .", "plan.md:4:beta 4711904226"),
        ("grep -rn walrus .", "plan.md:3:alpha walrus code"),
        ("git grep walrus", "plan.md:alpha walrus code"),
        ("rg --heading -n beta", "plan.md\n3:alpha walrus code\n4:beta 4711904226"),
        ("cd .. && sed -n 4p app/plan.md", "beta 4711904226"),
        ("cd sub; sed -n 4p ../plan.md", "beta 4711904226"),
        ("sed -n 4p *.md", "beta 4711904226"),
        ('sed -n 4p "$PWD/plan.md"', "beta 4711904226"),
        ("git show HEAD~2:plan.md | sed -n 4p", "beta 4711904226"),
        ("sed -n 3,4p NOTES", "alpha walrus code\nbeta 4711904226"),
        ("tr a-z A-Z <plan.md | sed -n 3p", "ALPHA WALRUS CODE"),
        ("sed -n 3,4p plan.md | base64", base64.b64encode(b"alpha walrus code\nbeta 4711904226\n").decode()),
        ("git diff", "--- a/plan.md\n+++ b/plan.md\n@@ -3,2 +3,2 @@\n alpha walrus code\n-gamma\n+beta 4711904226"),
        ("make", 'Traceback:\n  File "plan.md", line 3, in <module>\n    alpha walrus code\nValueError'),
        ("make", "Error\n    at load (file://./plan.md:4:7)\n> 4 | beta 4711904226\n    |      ^"),
        ("make", "error[E0425]: cannot find it\n --> ./plan.md:4:6\n  |\n4 | beta 4711904226"),
        ("make", "plan.md(4,6): error TS2322: '4711904226' is not assignable"),
        ("make", "[ERROR] ./plan.md:[4,6] incompatible: 4711904226"),
        ("make", "\nplan.md\n  4:6  error  'beta 4711904226' is not allowed"),
        ("make", "\x1b[35mplan.md\x1b[m:\x1b[32m4\x1b[m: beta 4711904226"),
    ],
)
def test_a_command_that_shows_lines_of_a_private_section_leaves_none_of_them(
    vault: Path, folder: Path, command: str, output: str
) -> None:
    run(folder, "Bash", {"command": command}, {"stdout": f"{output}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [
        word for word in ("walrus", "4711904226", "YWxwaGEg") if word in stored(vault).replace("WALRUS", "walrus")
    ]


def test_an_error_that_quotes_a_line_of_a_private_section_leaves_none_of_it(vault: Path, folder: Path) -> None:
    said = 'File "plan.md", line 4, in f\n    beta 4711904226'
    run(folder, "Bash", {"command": "make"}, {"stdout": "made: public words", "stderr": said})

    assert "public words" in stored(vault)
    assert "4711904226" not in stored(vault)


@pytest.mark.parametrize("key", ["workdir", "directory", "dir_path"])
def test_a_command_that_runs_in_another_folder_shows_files_of_that(vault: Path, folder: Path, key: str) -> None:
    (folder / "sub" / "other.md").write_text(FILE, encoding="utf-8")
    run(folder, "Bash", {"command": "show other.md", key: "sub"}, {"stdout": "beta 4711904226\npublic words"})

    assert "public words" in stored(vault)
    assert "4711904226" not in stored(vault)


@pytest.mark.parametrize(
    "command",
    ["sed -n 3,4p plan.md > out.txt", "cp plan.md out.txt && sed -i 1,2d out.txt", "tail -4 plan.md | tee out.txt"],
)
def test_what_a_command_wrote_from_a_private_section_is_masked_when_that_file_is_shown(
    vault: Path, folder: Path, command: str
) -> None:
    run(folder, "Bash", {"command": command}, {"stdout": ""})
    (folder / "out.txt").write_text("alpha walrus code\nbeta 4711904226\n")
    run(folder, "Bash", {"command": "cat out.txt"}, {"stdout": "alpha walrus code\nbeta 4711904226"}, "toolu_2")

    assert "out.txt" in stored(vault)
    assert "walrus" not in stored(vault)
    assert "4711904226" not in stored(vault)


@pytest.mark.parametrize("name", ["BashOutput", "TaskOutput"])
def test_what_a_command_in_the_background_shows_later_is_masked(vault: Path, folder: Path, name: str) -> None:
    run(folder, "Bash", {"command": "sleep 9; tail -3 plan.md"}, {"stdout": "", "backgroundTaskId": "b1"})
    run(folder, name, {"task_id": "b1"}, {"task": {"output": "beta 4711904226\npublic words"}}, "toolu_2")

    assert "public words" in stored(vault)
    assert "4711904226" not in stored(vault)


def test_what_is_typed_into_a_shell_that_runs_is_a_command(vault: Path, folder: Path) -> None:
    run(folder, "write_stdin", {"session_id": 7, "chars": "tail -3 plan.md\n"}, "beta 4711904226\npublic words")

    assert "public words" in stored(vault)
    assert "4711904226" not in stored(vault)


@pytest.mark.parametrize(
    ("tool", "given", "response"),
    [
        ("mcp__files__read", {"path": "plan.md", "head": 4}, [{"type": "text", "text": "alpha walrus code"}]),
        ("mcp__files__read_all", {"paths": ["plan.md"]}, {"content": [{"type": "text", "text": "beta 4711904226"}]}),
        ("mcp__files__insert", {"relative_path": "plan.md", "line": 4, "content": "beta 4711904226"}, "done"),
        ("mcp__files__find", {"regex": "walrus"}, [{"type": "text", "text": "plan.md:3:alpha walrus code"}]),
        (
            "str_replace_based_edit_tool",
            {"command": "insert", "path": "plan.md", "insert_text": "alpha walrus code"},
            "ok",
        ),
    ],
)
def test_a_tool_that_nobody_described_leaves_nothing_of_a_section_either(
    vault: Path, folder: Path, tool: str, given: dict[str, Any], response: Any
) -> None:
    run(folder, tool, given, response)

    assert "plan.md" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_an_answer_that_repeats_a_part_of_a_file_that_was_read_is_masked(vault: Path, folder: Path) -> None:
    capture(prompt("what is in the plan?", cwd=str(folder)))
    path = str(folder / "plan.md")
    part = {"filePath": path, "content": "alpha walrus code", "startLine": 3, "numLines": 1, "totalLines": 6}
    run(folder, "Read", {"file_path": path, "offset": 3, "limit": 1}, {"type": "text", "file": part})
    run(
        folder,
        "Grep",
        {"pattern": "beta", "path": "."},
        {"mode": "content", "content": "plan.md:4:beta 4711904226"},
        "toolu_2",
    )
    capture(stop("It says: alpha walrus code.", cwd=str(folder)))

    assert "It says" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_a_section_that_a_run_does_not_show_hides_nothing_later(vault: Path, folder: Path) -> None:
    capture(prompt("what is in the plan?", cwd=str(folder)))
    run(folder, "Bash", {"command": "tail -1 plan.md"}, {"stdout": "the public end", "stderr": ""})
    capture(stop("The walrus is public elsewhere.", cwd=str(folder)))

    assert "the public end" in stored(vault)
    assert "walrus is public" in stored(vault)


@pytest.mark.parametrize("kind", ["missing", "pipe", "folder"])
def test_a_named_file_that_cannot_be_read_costs_no_note(vault: Path, folder: Path, kind: str) -> None:
    path = folder / "other.md"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()

    run(folder, "Bash", {"command": "cat other.md /dev/zero"}, {"stdout": "public words", "stderr": ""})

    assert "public words" in stored(vault)


PART = "alpha walrus code\nbeta 4711904226"


@pytest.mark.parametrize(
    "command",
    [
        "grep -rh walrus .", "grep -h walrus -r", "rg -I walrus", "ag --nofilename walrus", "git grep -h walrus",
        "find . -type f | xargs sed -n 3,4p", "find . -name '*.md' -exec cat {} +", "cat **/*",
        "find . -name '*.md' -execdir sed -n 3p {} +", "fd -e md -x tail -2", "find . -name '*.md' | parallel head -4",
        "git submodule foreach 'sed -n 3p other.md'",
        "F=plan; sed -n 3p $F.md", "ls | xargs -n1 awk 'NR==3||NR==4'", "for f in *.x; do tail -4 $f; done",
        'sed -n 3p "$(ls)"', "sed -n 3p pl[a]n.md", "sed -n 3p {plan,x}.md", "cat p''lan.md", "cat plan\\.md", "cat file://$PWD/plan.md",
        "docker exec c cat /srv/plan.md", "tail -3 'my plan.md'", "tail -3 my\\ plan.md", "diff {plan,x}.md NOTES2",
    ],
)  # fmt: skip
def test_a_command_that_names_no_file_leaves_no_line_of_a_section_either(
    vault: Path, folder: Path, command: str
) -> None:
    (folder / "my plan.md").write_text(FILE, encoding="utf-8")
    (folder / "NOTES2").write_text("other words\n", encoding="utf-8")

    run(folder, "Bash", {"command": command}, {"stdout": f"{PART}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


@pytest.mark.parametrize("name", ["plan.md.gz", "plan.zip", "plan.tgz"])
def test_lines_of_a_packed_file_are_looked_up(vault: Path, folder: Path, name: str) -> None:
    plan = folder / "plan.md"
    packed = folder / "packed" / name
    packed.parent.mkdir()
    if name.endswith(".zip"):
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(plan, "plan.md")
    elif name.endswith(".tgz"):
        with tarfile.open(packed, "w:gz") as tar:
            tar.add(plan, "plan.md")
    else:
        packed.write_bytes(gzip.compress(plan.read_bytes()))
    for path in (plan, folder / "NOTES"):
        path.unlink()

    run(folder, "Bash", {"command": f"show packed/{name} | sed -n 3,4p"}, {"stdout": f"{PART}\npublic", "stderr": ""})

    assert "public" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_lines_of_many_files_are_looked_up(vault: Path, folder: Path) -> None:
    for number in range(60):
        (folder / f"{number:02}.txt").write_text("public\n", encoding="utf-8")
    (folder / "99.txt").write_text(FILE, encoding="utf-8")
    names = " ".join([f"{number:02}.txt" for number in (*range(60), 99)])

    run(folder, "Bash", {"command": f"tail -qn3 {names}"}, {"stdout": "beta 4711904226\npublic words", "stderr": ""})

    assert "public words" in stored(vault)
    assert "4711904226" not in stored(vault)


def test_a_search_without_names_looks_into_its_folder(vault: Path, folder: Path) -> None:
    given = {"pattern": "beta", "path": str(folder), "output_mode": "content"}
    run(folder, "Grep", given, {"mode": "content", "filenames": [], "content": f"{PART}\npublic words"})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


# -- what only git still has

LONG = FILE.replace("alpha", "".join([f"line {number} of it\n" for number in range(9)]) + "alpha").replace(
    "</private>", "".join([f"row {number} of it\n" for number in range(9)]) + "</private>"
)


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(folder: Path) -> Path:
    (folder / "plan.md").write_text(LONG, encoding="utf-8")
    git(folder, "init", "-q", ".")
    git(folder, "add", "plan.md")
    git(folder, "commit", "-qm", "one")
    (folder / "NOTES").unlink()
    return folder


def drop_lines(folder: Path) -> None:
    lines = (folder / "plan.md").read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if "walrus" not in line and "beta" not in line]
    (folder / "plan.md").write_text("".join(kept), encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        "diff", "diff -U0", "diff --no-prefix", "diff --color=always", "diff --word-diff", "diff HEAD", "diff --cached",
        "show", "log -p", "log -p -1 HEAD", "format-patch -1 --stdout", "blame HEAD~1 -L 12,13 -- plan.md",
        "log -L11,12:plan.md", "grep -h walrus HEAD~1", "grep -n walrus HEAD~1", "stash show -p",
    ],
)  # fmt: skip
def test_a_line_that_was_taken_out_of_a_section_is_not_stored_when_git_shows_it(
    vault: Path, repository: Path, words: str
) -> None:
    drop_lines(repository)
    if "cached" in words:
        git(repository, "add", "plan.md")
    elif "stash" in words:
        git(repository, "stash")
    elif "diff" not in words:
        git(repository, "commit", "-qam", "two")
    shown = git(repository, *words.split())
    assert "walrus" in shown

    run(repository, "Bash", {"command": f"git {words}"}, {"stdout": f"{shown}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize(
    "command",
    [
        "git show HEAD~1:plan.md | tail -9", "git cat-file -p HEAD~1:./plan.md | tail -9", "git log -p | grep walrus",
        "git diff HEAD~1 | tail -n +8", "git blame HEAD~1 -- plan.md", "git grep -h walrus HEAD~1",
    ],
)  # fmt: skip
def test_a_file_whose_tags_only_git_remembers_keeps_them(
    vault: Path, repository: Path, command: str, is_gone: bool
) -> None:
    (repository / "plan.md").write_text("public\n", encoding="utf-8")
    if is_gone:
        git(repository, "rm", "-qf", "plan.md")
    git(repository, "commit", "-qam", "two")

    run(repository, "Bash", {"command": command}, {"stdout": f"{PART}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


@pytest.mark.parametrize(
    "command",
    ["sed -n 12,13p plan.md; rm plan.md", "mv plan.md x && sed -n 12,13p x; rm x", "cp plan.md ../x; rm plan.md"],
)
def test_a_command_that_loses_the_file_that_it_shows_leaves_nothing_of_a_section(
    vault: Path, repository: Path, command: str
) -> None:
    (repository / "plan.md").unlink()

    run(repository, "Bash", {"command": command}, {"stdout": f"{PART}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/alpha walrus code/gamma/' plan.md", "perl -pi -e 's/alpha walrus code/gamma/' plan.md",
        "python - <<'E'\np = 'plan.md'\nedit(p, 'alpha walrus code', 'gamma')\nE",
    ],
)  # fmt: skip
def test_a_command_that_takes_a_line_out_of_a_section_does_not_leave_it(
    vault: Path, repository: Path, command: str
) -> None:
    path = repository / "plan.md"
    path.write_text(path.read_text("utf-8").replace("alpha walrus code", "gamma"), encoding="utf-8")

    run(repository, "Bash", {"command": command}, {"stdout": "", "stderr": ""})

    assert "plan.md" in stored(vault)
    assert "walrus" not in stored(vault)


def read_part(folder: Path, path: Path, text: str, **given: int) -> None:
    file = {"filePath": str(path), "content": text, "startLine": 3, "numLines": 2, "totalLines": 6}
    run(folder, "Read", {"file_path": str(path), **given}, {"type": "text", "file": file})


def test_a_part_of_a_file_that_is_gone_is_judged_by_git(vault: Path, repository: Path) -> None:
    (repository / "plan.md").unlink()

    read_part(repository, repository / "plan.md", f"{PART}\npublic words", offset=12, limit=3)

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_a_part_of_a_file_that_is_gone_for_good_is_private(vault: Path, folder: Path) -> None:
    read_part(folder, folder / "gone.md", PART, offset=3, limit=2)

    assert "gone.md" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_all_of_a_file_that_is_gone_is_stored(vault: Path, folder: Path) -> None:
    read_part(folder, folder / "gone.md", "public words")

    assert "public words" in stored(vault)


@pytest.mark.parametrize("command", ["ps aux | grep walrus", "make show | tail -3", "echo walrus", "grep -rl walrus ."])
def test_a_command_that_prints_no_files_does_not_look_for_them(
    vault: Path, folder: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unnamed_files, "below", lambda folders: pytest.fail(f"looked into {folders}"))

    run(folder, "Bash", {"command": command}, {"stdout": "the walrus code", "stderr": ""})

    assert "the walrus code" in stored(vault)


@pytest.mark.parametrize(
    "command",
    [
        "git diff --stat", "git status && git diff HEAD~1 --name-only", "git show --stat HEAD", "git stash",
        "git add -A; git diff --cached --numstat", "git stash pop", "git log --oneline -5 && git show -q --no-patch",
    ],
)  # fmt: skip
def test_history_is_not_searched_for_a_command_that_prints_names_and_numbers(
    vault: Path, folder: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unnamed_files, "_changed", lambda folder, until: pytest.fail(f"searched {folder}"))

    run(folder, "Bash", {"command": command}, {"stdout": "plan.md | 2 +-", "stderr": ""})

    assert "plan.md | 2 +-" in stored(vault)


@pytest.mark.parametrize(
    "command",
    [
        "git diff --stat -p | tail", 'bash -c "git diff" | tail', "(git stash show -p)",
        "git diff HEAD -- other.md; git show HEAD~1 | grep -v public", "git show HEAD:other.md; git log -p | tail -3",
    ],
)  # fmt: skip
def test_history_is_searched_for_a_command_that_prints_lines_as_well(
    vault: Path, repository: Path, command: str
) -> None:
    (repository / "plan.md").write_text("public\n", encoding="utf-8")
    (repository / "other.md").write_text("public\n", encoding="utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")

    run(repository, "Bash", {"command": command}, {"stdout": f"{PART}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_history_is_searched_for_what_a_change_takes_out_of_a_file_that_is_older(
    vault: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "other.md").write_text("public\n", encoding="utf-8")
    git(repository, "add", "other.md")
    git(repository, "commit", "-qm", "two")
    (repository / "plan.md").write_text("public\n", encoding="utf-8")
    monkeypatch.setattr(unnamed_files, "_MOST_COMMITS", 1)

    run(repository, "Bash", {"command": "git diff | grep '^-'"}, {"stdout": f"-{PART}\n-public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_what_git_has_is_read_up_to_a_bound(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unnamed_files, "_MAX_BYTES", 1000)
    monkeypatch.setattr(unnamed_files, "_MAX_BYTES_IN_ALL", 5000)
    (repository / "0.md").write_text("large\n" * 1000, encoding="utf-8")
    for number in range(1, 50):
        (repository / f"{number}.md").write_text(f"{number}\n" * 200, encoding="utf-8")
    git(repository, "add", ".")
    names = [f":./{number}.md" for number in range(50)]

    found = list(unnamed_files._contents(str(repository), names, time.monotonic() + 60))

    assert found[0] == b"1\n" * 200 + b"\n"
    assert 5000 < sum(map(len, found)) < 6000


def test_git_that_takes_too_long_costs_no_note(vault: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unnamed_files, "SECONDS", 0)

    run(repository, "Bash", {"command": "git diff | tail"}, {"stdout": "public words", "stderr": ""})

    assert "public words" in stored(vault)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "tags", ["<рrivаte>{}</рrivаte>", "＜ｐｒｉｖａｔｅ＞{}＜／ｐｒｉｖａｔｅ＞", "<private>{}</private> ü"]
)
def test_tags_in_another_alphabet_are_found_in_a_file_of_which_a_part_is_shown(
    vault: Path, folder: Path, tags: str, encoding: str
) -> None:
    (folder / "plan.md").write_text(f"# notes\n{tags.format(f'{chr(10)}{PART}{chr(10)}')}\n", encoding=encoding)

    run(folder, "Bash", {"command": "sed -n 3,4p plan.md"}, {"stdout": f"{PART}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_a_part_of_a_file_that_is_gone_with_its_folder_is_judged_by_its_own_repository(
    vault: Path, repository: Path, tmp_path: Path
) -> None:
    (repository / "deep" / "er").mkdir(parents=True)
    (repository / "plan.md").rename(repository / "deep" / "er" / "plan.md")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    shutil.rmtree(repository / "deep")
    (tmp_path / "elsewhere").mkdir()

    read_part(tmp_path / "elsewhere", repository / "deep" / "er" / "plan.md", f"{PART}\npublic words", offset=12)

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_a_repository_that_git_cannot_read_costs_no_note(vault: Path, folder: Path) -> None:
    (folder / ".git").mkdir()

    run(folder, "Bash", {"command": "git show HEAD:plan.md"}, {"stdout": "public words", "stderr": ""})

    assert "public words" in stored(vault)


def test_a_command_that_fails_leaves_no_line_of_a_section_either(vault: Path, folder: Path) -> None:
    failed = payload(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": "grep -rh a . && false"},
        error=f"Exit code 1\n{PART}\npublic words",
        tool_use_id="toolu_1",
    )
    capture(failed | {"prompt_id": "prompt-1", "cwd": str(folder)})

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


@pytest.mark.parametrize(
    ("tool", "given"),
    [("LSP", {"operation": "hover", "filePath": "plan.md"}), ("mcp__search__find", {"pattern": "beta", "path": "."})],
)
def test_a_tool_that_shows_lines_without_the_names_of_files_leaves_none(
    vault: Path, folder: Path, tool: str, given: dict[str, Any]
) -> None:
    run(folder, tool, given, [{"type": "text", "text": f"{PART}\npublic words"}])

    assert "public words" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_what_is_private_in_a_file_attached_in_cursor_is_masked_in_the_answer(vault: Path, folder: Path) -> None:
    base = {"conversation_id": "c-1", "generation_id": "g-1", "workspace_roots": [str(folder)]}
    attached = [{"type": "file", "file_path": str(folder / "plan.md")}]
    asked = {"hook_event_name": "beforeSubmitPrompt", "prompt": "what is planned?", "attachments": attached}
    answered = {"hook_event_name": "afterAgentResponse", "text": "public words: alpha walrus code"}
    for event in (asked, answered):
        events.capture(config.load(), agents.load("cursor").read(base | event, {}), START, os.environ)

    assert "public words" in stored(vault)
    assert "walrus" not in stored(vault)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "x blob y.md"}),
        ("Bash", {"command": "git show 'HEAD:a blob c'"}),
        ("Bash", {"command": "cat no\0pe/* plan*"}),
        ("Bash", {"command": "cat no\ud800pe/* ~\0x ~\ud800x"}),
        ("Write", {"file_path": "~\0x", "content": "made"}),
    ],
)
def test_a_name_that_no_file_can_have_or_that_reads_like_an_answer_of_git_costs_no_note(
    vault: Path, repository: Path, tool: str, given: dict[str, Any]
) -> None:
    capture(prompt("look at @~\ud800x") | {"cwd": str(repository)})
    run(repository, tool, given, {"stdout": "public words"})

    assert len(notes(vault)) == 2


def test_the_time_that_reading_takes_bounds_how_many_files_are_looked_into(
    vault: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    original = files.read_any

    def counted(path: str, *given: Any, **how: Any) -> bytes:
        read.append(path)
        return original(path, *given, **how)

    for number in range(100):
        (folder / f"{number}.log").write_text("ordinary\n", encoding="utf-8")
    run(folder, "Bash", {"command": "true"}, {"stdout": "begun"}, "toolu_0")  # also reads the agent's instructions
    monkeypatch.setattr(files, "read_any", counted)
    monkeypatch.setattr(unnamed_files, "time", SimpleNamespace(monotonic=lambda: len(read) / 10))
    run(folder, "Bash", {"command": "grep -rh ordinary ."}, {"stdout": "ordinary words"})

    assert "ordinary words" in stored(vault)
    assert 0 < len(read) < 20


def test_what_is_private_in_each_of_many_files_that_an_output_shows_is_masked(vault: Path, folder: Path) -> None:
    many = [f"part{number:03}.md" for number in range(300)]
    for number, name in enumerate(many):
        (folder / name).write_text(f"# x\n<private>\nholder Velmarock{number:03}x is\n</private>\n", encoding="utf-8")
    shown = "\n".join(f"{name}:3:holder Velmarock{number:03}x is" for number, name in enumerate(many))

    run(folder, "Bash", {"command": "grep -n holder *.md"}, {"stdout": f"{shown}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert "Velmarock" not in stored(vault)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("sed -n 4p $(git rev-parse --show-toplevel)/plan.md", "beta 4711904226"),
        ('sed -n 4p "`git rev-parse --show-toplevel`/plan.md"', "beta 4711904226"),
        ("git grep --full-name beta :/", "plan.md:beta 4711904226"),
        ("git diff", "--- a/plan.md\n+++ b/plan.md\n@@ -3,2 +3,2 @@\n alpha walrus code\n-gamma\n+beta 4711904226"),
    ],
)
def test_git_names_files_from_the_top_of_the_repository(vault: Path, folder: Path, command: str, output: str) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)

    run(folder / "sub", "Bash", {"command": command}, {"stdout": f"{output}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert "4711904226" not in stored(vault)
