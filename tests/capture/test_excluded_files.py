"""Excluded files: what a tool run shows of one is not stored, however the run names it or its content comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from mdmem.vault import exclusions
from tests.conftest import notes
from tests.helpers.claude import bash, payload, prompt, send

VALUE = "FAVOURITE=zqxjvk"


@pytest.fixture
def project(tmp_path: Path, vault: Path) -> Path:
    """Return a project that excludes `.env`, `id_box` and everything in `secrets`."""
    root = tmp_path / "project"
    (root / "secrets").mkdir(parents=True)
    (root / "sub").mkdir()
    (root / ".git").mkdir()
    (root / ".mdmemignore").write_text(".env\nid_box\nsecrets/\n")
    for name in (".env", "id_box", "secrets/a.txt", "README.md"):
        (root / name).write_text(VALUE)
    send(prompt("look at the settings", cwd=str(root)))
    return root


def run(project: Path, command: str, output: str = VALUE, use: str = "toolu_1", **response: Any) -> None:
    """Run a command in the project."""
    told = {"stdout": output, "stderr": "", "interrupted": False, **response}
    send(bash("", use, cwd=str(project), tool_input={"command": command}, tool_response=told))


def use(project: Path, tool: str, given: dict[str, Any], response: Any, use: str = "toolu_2") -> None:
    """Run another tool in the project."""
    event = {"tool_name": tool, "tool_input": given, "tool_response": response, "tool_use_id": use}
    send(payload("PostToolUse", cwd=str(project), prompt_id="prompt-1", **event))


def holds(folders: Iterable[Path], text: str) -> bool:
    """Whether any file in these folders contains a text."""
    return any(text.encode() in path.read_bytes() for one in folders for path in one.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "command",
    [
        'cat "$(pwd)/.env"',
        "cd sub && cat ../.env",
        "cd secrets && cat a.txt",
        "cat .e*",
        "cat {.env,README.md}",
        "git show HEAD:.env",
        "docker exec web cat /app/.env",
        "kubectl exec pod -- tail -n 3 /srv/.env",
        "ssh box sed -n 1p /srv/app/secrets/a.txt",
        "cat id_box",
    ],
)
def test_a_command_that_shows_an_excluded_file_is_left_out_however_it_names_it(
    project: Path, vault: Path, home: Path, command: str
) -> None:
    run(project, command)
    assert not holds([vault, home], VALUE)


@pytest.mark.parametrize(
    "given",
    [
        {"relative_path": "secrets/a.txt"},
        {"paths": ["README.md", ".env"]},
        {"uri": "file://{root}/.env"},
        {"cmd": ["cat", ".env"]},
        {"options": {"glob": ".env"}},
    ],
)
def test_a_tool_of_any_server_that_names_an_excluded_file_is_left_out(
    project: Path, vault: Path, given: dict[str, Any]
) -> None:
    filled = {
        key: value.replace("{root}", str(project)) if type(value) is str else value for key, value in given.items()
    }
    use(project, "mcp__files__read", filled, [{"type": "text", "text": VALUE}])
    assert not holds([vault], VALUE)


@pytest.mark.parametrize(
    ("command", "later"),
    [
        ("cat .env > out.txt", "out.txt"),
        ("cat .env|tee -a sub/out", "sub/out"),
        ("cp .env /tmp/copied.txt", "/tmp/copied.txt"),
        ("mv .env sub", "sub/.env"),
        ("base64 -o coded .env", "coded"),
        ("cd sub && cat ../.env >> out.txt", "sub/out.txt"),
    ],
)
def test_a_file_that_a_command_filled_from_an_excluded_one_is_left_out_too(
    project: Path, vault: Path, home: Path, command: str, later: str
) -> None:
    run(project, command, "")
    use(project, "Read", {"file_path": os.path.join(project, later)}, {"file": {"content": VALUE}})
    run(project, f"cp {later} again.txt && cat {later}", use="toolu_3")
    run(project, "cat again.txt", use="toolu_4")
    assert not holds([vault, home], VALUE)


def test_what_a_background_run_prints_of_an_excluded_file_later_is_left_out(project: Path, vault: Path) -> None:
    run(project, "cat .env", "", backgroundTaskId="b7k2q9x1")
    use(project, "BashOutput", {"bash_id": "b7k2q9x1"}, {"stdout": VALUE, "status": "completed"})
    use(project, "TaskOutput", {"task_id": "b7k2q9x1"}, {"task": {"output": VALUE}}, "toolu_3")
    use(project, "Read", {"file_path": "/run/tasks/b7k2q9x1.output"}, {"file": {"content": VALUE}}, "toolu_4")
    assert not holds([vault], VALUE)


def test_what_codex_reads_from_a_shell_that_shows_an_excluded_file_is_left_out(
    project: Path, vault: Path, hook: Callable[..., object]
) -> None:
    facts = "Chunk ID: a1\nWall time: 1.0 seconds\nProcess "
    for tool, given, response in (
        ("Bash", {"command": "cat .env; sleep 9"}, f"{facts}running with session ID 4711\nOutput:\n"),
        ("write_stdin", {"session_id": 4711, "chars": ""}, f"{facts}exited with code 0\nOutput:\n{VALUE}"),
    ):
        event = {"tool_name": tool, "tool_input": given, "tool_response": response, "tool_use_id": tool}
        hook(payload("PostToolUse", cwd=str(project), prompt_id="prompt-1", **event), "codex")
    assert not holds([vault], VALUE)


SETTINGS = (
    "# own\nFAVOURITE=zqxjvk77blo\nexport MODE='vim!Kwo9#x' \nHOST=localhost\nNODE_ENV=production\nNAME=notesapp # x\n"
    "SINCE=2026-11-27\nADDRESS=10.20.30.40\nRELEASE=v1.22.333\nAT: render(item123)\n"
)
PLAIN = "localhost, production, notesapp, 2026-11-27, 10.20.30.40, v1.22.333, render(item123)"


@pytest.mark.parametrize(
    ("tool", "given", "response"),
    [
        ("Bash", {"command": "cat .env"}, {"stdout": SETTINGS}),
        ("Bash", {"command": "nl .env"}, {"stdout": SETTINGS.replace("\n", "\n     2\t")}),
        ("Bash", {"command": "cut -d= -f2- .env"}, {"stdout": "zqxjvk77blo\nlocalhost\nvim!Kwo9#x\n"}),
        ("Read", {"file_path": "{root}/.env"}, {"type": "text", "file": {"content": SETTINGS}}),
        ("Write", {"file_path": "{root}/.env", "content": SETTINGS}, {"type": "create"}),
        ("Bash", {"command": "grep -r . ."}, {"stdout": SETTINGS.replace("\n", "\n./.env:") + "\n./README.md:a\n"}),
        ("mcp__files__read", {"path": ".env"}, [{"type": "text", "text": SETTINGS.replace("\n", "\n3: ")}]),
    ],
)
@pytest.mark.parametrize("by", [{}, {"agent_id": "a1", "agent_type": "Explore"}])
def test_values_that_a_run_showed_of_an_excluded_file_are_masked_in_later_events(
    project: Path, vault: Path, home: Path, tool: str, given: dict[str, Any], response: Any, by: dict[str, Any]
) -> None:
    """Also if only a sub-agent saw them. Words and numbers, which other text has too, stay."""
    event = {
        "tool_name": tool,
        "tool_input": {key: value.replace("{root}", str(project)) for key, value in given.items()},
    }
    send(payload("PostToolUse", cwd=str(project), prompt_id="prompt-1", **event, tool_response=response, **by))

    run(project, "make serve", f"with zqxjvk77blo and (vim!Kwo9#x) on {PLAIN}", use="toolu_9")

    assert not holds([vault, home], "zqxjvk77blo")
    assert not holds([vault, home], "vim!Kwo9")
    assert holds([vault], f"on {PLAIN}")


@pytest.mark.parametrize(
    "command", ["ls -a", "cat README.md", "make test 2>/dev/null", "cat /var/log/other.txt", "grep secrets README.md"]
)
def test_a_run_about_other_files_is_stored_after_one_about_an_excluded_file(
    project: Path, vault: Path, command: str
) -> None:
    run(project, "cat .env README.md > out.txt 2>/dev/null", "")
    run(project, command, "visible", use="toolu_3")
    assert any("visible" in path.read_text("utf-8") for path in notes(vault))


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("==> README.md <==\na\n==> .env <==\nb\n==> c <==\nd\n", "==> README.md <==\na\n==> c <==\nd\n"),
        ("README.md\n3:a\n\n.env\n1:b\n2:c\n\nd.py\n2:d\n", "README.md\n3:a\n\n\nd.py\n2:d\n"),
        ("diff --git .env .env\n--- .env\n+++ .env\n+b\ndiff --git a a\n+c\n", "diff --git a a\n+c\n"),
        ("--- a/x\t0\n+++ b/x\t0\n+a\n--- a/.env\t0\n+++ b/.env\t0\n+b\n", "--- a/x\t0\n+++ b/x\t0\n+a\n"),
        ("--- a/.env\n+++ /dev/null\n-b\n--- a/x\n+++ b/x\n+a\n", "--- a/x\n+++ b/x\n+a\n"),
        ("--- /dev/null\n+++ b/.env\n+b\n", "--- /dev/null\n"),
        (".env\nREADME.md\nsrc\n", "README.md\nsrc\n"),
    ],
)  # fmt: skip
def test_lines_below_a_heading_that_names_an_excluded_file_are_left_out(project: Path, printed: str, kept: str) -> None:
    from mdmem import config
    from mdmem import project as projects

    here = projects.identify(str(project))
    settings = config.load()
    for shape in (printed, {"stdout": printed}, [{"type": "text", "text": printed}]):
        found = exclusions.without_excluded(settings, shape, here, str(project))
        assert found in (kept, {"stdout": kept}, [{"type": "text", "text": kept}])


def _folder(path: Path) -> None:
    path.mkdir()


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "folder": _folder,
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "pipe": lambda path: os.mkfifo(path),  # noqa: PLW0108 - Windows has none
    "too long": lambda path: path.write_text("secrets/\n" * 8_000),
    "no text": lambda path: path.write_bytes(b"secr\xe4ts/\n"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_nothing_is_stored_in_a_project_whose_ignore_file_cannot_be_read_and_the_user_is_told_once(
    vault: Path, home: Path, tmp_path: Path, kind: str
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    UNREADABLE[kind](root / ".mdmemignore")
    first, second = (send(prompt(VALUE, number, cwd=str(root))) for number in (1, 2))
    told = json.loads(first.stdout)["systemMessage"]
    assert told.startswith("mdmem: Nothing of this project is stored for now: ")
    assert f"{root}/.mdmemignore cannot be read" in told
    assert second.stdout == b""
    assert not holds([vault, home], VALUE)
    (root / ".mdmemignore").rmdir() if kind == "folder" else (root / ".mdmemignore").unlink()
    send(prompt(VALUE, 3, cwd=str(root)))
    assert len(notes(vault)) == 1


def test_an_ignore_file_that_powershell_wrote_counts(vault: Path, tmp_path: Path) -> None:
    (tmp_path / ".mdmemignore").write_text("*\n", encoding="utf-16")
    assert send(prompt(VALUE, cwd=str(tmp_path))).stdout == b""
    assert notes(vault) == []


@pytest.mark.parametrize("file", ["vault", "user"])
def test_a_settings_file_that_was_never_readable_and_excludes_something_stops_storing_and_the_user_is_told(
    vault: Path, home: Path, file: str
) -> None:
    path = vault / "mdmem.toml" if file == "vault" else home / ".config" / "mdmem" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('[capture]\nexclude_paths = ["/home/dev/work]\n')
    told = json.loads(send(prompt(VALUE)).stdout)["systemMessage"]
    assert told == f"mdmem: {path} cannot be read as TOML (line 2, column 34): {STOPPED}"
    assert not holds([vault / "journal"], VALUE)
    path.write_text('[capture]\nexclude_paths = ["/home/dev/other"]\n')
    assert send(prompt(VALUE, 2)).stdout == b""
    assert holds([vault / "journal"], VALUE)


STOPPED = "nothing that agents do is stored until it is fixed."


@pytest.mark.parametrize("text", ["[[[", "# exclude_paths = [\ninject.chars = \n", "\0\1"])
def test_a_settings_file_that_was_never_readable_and_excludes_nothing_stops_nothing(vault: Path, text: str) -> None:
    (vault / "mdmem.toml").write_text(text)
    send(prompt(VALUE))
    assert holds([vault / "journal"], VALUE)
