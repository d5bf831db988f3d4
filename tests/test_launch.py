"""Start-up: file names in UTF-8 in any locale, damaged bytecode, and what is said when nothing works."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest

import mdmem
from mdmem import cli, config, launch, lazy_pattern, preload
from mdmem.agents.install import command_line, launcher, missing_program
from mdmem.capture import losses
from mdmem.capture.later import upkeep
from mdmem.health import machine, unstored
from mdmem.inject import injection_log
from mdmem.search import index
from mdmem.views import storing
from tests.helpers import rights
from tests.helpers.claude import OTHER, bash, prompt, registered, stop
from tests.helpers.few import few
from tests.helpers.waiting import until


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy mdmem, with the bytecode there is of it, and compile what is left."""
    package = tmp_path_factory.mktemp("compiled") / "mdmem"
    shutil.copytree(Path(mdmem.__file__).parent, package, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copytree(Path(mdmem.__file__).parent.parent / "templates", package / "templates")
    code = f"import sys; sys.path.insert(0, {str(package.parent)!r}); from mdmem import launch; launch.compile_all()"
    subprocess.run([sys.executable, "-I", "-B", "-c", code], check=True)
    for folder in filter(Path.is_dir, (package, *package.iterdir())):
        os.utime(folder, (0, 0))  # long ago: no installer is at work
    return package


@pytest.fixture
def copied(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the registered commands run a compiled copy of mdmem."""
    package = tmp_path / "copy" / "mdmem"
    shutil.copytree(compiled, package)
    monkeypatch.setattr(launcher, "PACKAGE", str(package))
    return package


def run(event: dict[str, object], env: dict[str, str] | None = None) -> str:
    """Run the registered hook with an event; return what it says."""
    words = ["/bin/sh", "-c", registered("hook")]
    done = subprocess.run(
        words, input=json.dumps(event).encode(), capture_output=True, env={**os.environ, **(env or {})}, timeout=240
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def bytecode(package: Path) -> Iterator[Path]:
    return (path for path in package.rglob("*.pyc"))


def notes(vault: Path) -> int:
    return len(list(vault.rglob("0??-0??-*.md")))


@pytest.mark.slow
@pytest.mark.parametrize("size", few([0, 7, 16, 100, -1], always=[100]))
def test_cut_bytecode_of_any_module_costs_no_note(copied: Path, vault: Path, size: int) -> None:
    for path in bytecode(copied):
        data = path.read_bytes()
        path.write_bytes(data[: min(size, len(data) - 1)])
    assert run(prompt("First")) == ""
    assert notes(vault) == 1
    assert run(bash("3 passed")) == ""
    assert notes(vault) == 2


ONE = ["__init__", "capture/__init__", "capture/hook", "config", "agents/payload"]


@pytest.mark.parametrize("name", few(ONE, always=["capture/hook"]))
def test_cut_bytecode_of_one_module_is_removed(copied: Path, vault: Path, name: str) -> None:
    Path(preload.path_in(str(copied))).unlink()  # hooks that have it ask for no module alone
    path = Path(cache_from_source(copied / f"{name}.py"))
    path.write_bytes(path.read_bytes()[:200])
    assert run(prompt("First")) == ""
    assert notes(vault) == 1
    assert not path.exists()


@pytest.mark.slow
@pytest.mark.parametrize("size", [20, None], ids=["cut", "none"])
def test_bytecode_of_the_hand_over_that_cannot_be_used_costs_no_note(
    copied: Path, vault: Path, size: int | None
) -> None:
    path = Path(cache_from_source(copied / "hand_over.py"))
    data = path.read_bytes()[:size] if size else b""
    path.unlink()
    if data:
        path.write_bytes(data)
    registered("hook")
    Path(launcher.socket_path()).touch()  # nobody serves there
    assert run(prompt("First")) == ""
    assert notes(vault) == 1


@pytest.mark.slow
def test_the_last_removal_leaves_no_bytecode_that_pip_does_not_know(copied: Path) -> None:
    def own() -> set[str]:
        known = {path.stem for path in copied.glob("*.py")}
        own_python = copied.glob(f"__pycache__/*.{sys.implementation.cache_tag}.pyc")
        return {path.name for path in own_python if path.name.partition(".")[0] not in known}

    made = own()
    code = f"""if True:
        import sys; sys.path.insert(0, {str(copied.parent)!r})
        from mdmem.agents.install import registration
        for agent in sys.argv[1:]: registration.register(agent)
        registration.unregister(sys.argv[1])"""

    def remove(*agents: str) -> None:
        subprocess.run([sys.executable, "-I", "-B", "-c", code, *agents], check=True)

    remove("codex")  # of a checkout, which no installer has put in place
    (copied.parent / "mdmem-1.0.dist-info").mkdir()
    remove("codex", "claude-code")
    assert own() == made
    remove("claude-code")
    assert len(made) == len({preload.EVERY, *preload.FIRST.values(), lazy_pattern.KEPT})
    assert own() == set()


SLOW = {"__future__", "collections", "functools", "json", "re", "typing"}
"""Modules of the standard library, each of which would cost a hook of every kind as much as its own work."""
PAYLOADS = Path(__file__).parent / "payloads"
COMMON = (
    *("PostToolUse-Bash-01", "PostToolUse-Read-01", "PostToolUse-Edit-01", "PostToolUse-MultiEdit-01"),
    *("PostToolUse-Write-01", "PostToolUse-Grep-01", "PostToolUse-Glob-01", "PostToolUse-mcp-01-blocks"),
)
OF_OTHERS = (
    *("codex/PostToolUse-Bash-01", "codex/PostToolUse-apply_patch-01", "copilot/PostToolUse-bash-01"),
    *("copilot/camel-postToolUse-01", "cursor/postToolUse-Shell-01", "cursor/postToolUse-Write-01"),
    *("gemini/AfterTool-run_shell_command-03", "gemini/AfterTool-replace-02", "opencode/PostToolUse-edit-01"),
)


def imported(name: str, **fields: object) -> set[str]:
    """Run a recorded event as a hook, twice; return the modules that the second one imports one by one."""
    agent, _, own_name = name.rpartition("/")
    agent = agent or "claude_code"
    payload = json.loads((PAYLOADS / agent / f"{own_name}.json").read_text("utf-8")) | fields
    words = [sys.executable, "-I", "-S", "-B", "-X", "importtime", "-c", launcher._own_process("hook")]
    for number in (1, 2):
        for key in {"tool_use_id", "prompt_id"} & payload.keys():
            payload[key] = f"{key}-{number}"
        done = subprocess.run(
            [*words, "hook", agent.replace("_", "-")],
            input=json.dumps(payload).encode(),
            capture_output=True,
            check=True,
        )
    return {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}


@pytest.mark.parametrize(
    "name", few([*COMMON, *OF_OTHERS], always=["PostToolUse-Bash-01", "cursor/postToolUse-Shell-01"])
)
def test_a_tool_run_imports_nothing_slow_and_no_module_from_a_file_of_its_own(
    copied: Path, vault: Path, name: str
) -> None:
    found = imported(name)

    assert not SLOW & found
    assert {module for module in found if module.startswith("mdmem.")} <= preload.FIRST.keys()
    assert notes(vault)


def test_a_prompt_without_a_question_imports_nothing_slow(copied: Path, vault: Path) -> None:
    assert not SLOW & imported("UserPromptSubmit-plain-01", prompt="Rename the argument of the parser.")
    assert notes(vault) == 2


def test_hooks_read_the_files_of_modules_in_place_of_the_modules(copied: Path, vault: Path) -> None:
    run(prompt("Why do uploads of big files time out?"))
    run(stop("The proxy closes idle connections after 30 s."))
    index.update(config.load(str(vault)))
    files = (preload.EVERY, "a-search")
    together = {row[0] for name in files for row in preload.read(str(copied), name)}
    for path in copied.rglob("*.py"):
        if ".".join(path.relative_to(copied.parent).with_suffix("").parts).removesuffix(".__init__") in together:
            status = path.stat()
            path.write_bytes(b" " * status.st_size)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            Path(cache_from_source(str(path))).unlink()

    run(bash("3 passed"))
    shown = run({**prompt(""), "hook_event_name": "SessionStart", "source": "startup", "session_id": OTHER})
    given = run(prompt("What did we find out about uploads of big files?", session_id=OTHER))

    assert "uploads of big files" in shown
    assert "The proxy closes idle connections" in given
    assert notes(vault) == 4


@pytest.mark.slow
def test_hooks_are_compiled_after_the_turn_in_which_mdmem_was_upgraded(
    copied: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "__file__", str(copied / "launch.py"))
    settings, now = config.load(), time.time()
    upkeep.look_after(settings, now)
    path = copied / "capture" / "hook.py"
    path.write_bytes(path.read_bytes() + b"\n")
    for each in list(bytecode(copied)):
        each.unlink()
    assert not launch.is_compiled()

    upkeep.look_after(settings, now + 60)

    assert launch.is_compiled()
    assert Path(cache_from_source(path)).exists()


@rights.kept_out
def test_doctor_names_hooks_that_only_who_installed_mdmem_can_compile(
    copied: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> list[str]:
        return [one.text for one in machine.hook(config.load()) if one.severity != "fine"]

    monkeypatch.setattr(launch, "__file__", str(copied / "launch.py"))
    for each in list(bytecode(copied / "recall")):
        each.unlink()
    assert found() == [], "the next turn compiles them"
    (copied / "__pycache__").chmod(0o500)
    with rights.of_a_user():
        (text,) = found()
        assert "Hooks are not compiled" in text
        assert not launch.compile_all()
    (copied / "__pycache__").chmod(0o700)


def test_hooks_write_no_bytecode(copied: Path, vault: Path) -> None:
    for path in list(bytecode(copied)):
        path.unlink()
    run(prompt("First"))
    run(bash("3 passed"))
    assert notes(vault) == 2
    assert list(bytecode(copied)) == []


@pytest.mark.parametrize(
    "name", few(["config", "capture/hook", "capture/store", "privacy/__init__"], always=["capture/store"])
)
def test_a_module_that_cannot_be_imported_is_told(copied: Path, vault: Path, name: str) -> None:
    (copied / f"{name}.py").write_text("raise RuntimeError\n")
    assert "lost" in json.loads(run(prompt("First")))["systemMessage"]
    assert notes(vault) == 0


@pytest.fixture
def python(copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the registered commands run the copy with a Python that has no other mdmem."""
    path = tmp_path / "env" / "python"
    path.parent.mkdir()
    path.symlink_to(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "executable", str(path))
    registered("hook")
    return path


@contextmanager
def begun(event: dict[str, object]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the registered hook with an event, and give it time to notice what is missing."""
    words = shlex.split(command_line.command("hook", "claude-code"))
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as hook:
        assert hook.stdin
        hook.stdin.write(json.dumps(event).encode())
        hook.stdin.close()
        time.sleep(0.5)
        yield hook


def said(hook: subprocess.Popen[bytes]) -> bytes:
    assert hook.wait(120) == 0
    return hook.stdout.read() if hook.stdout else b""


@pytest.mark.skipif(os.name == "nt", reason="the launcher is a shell script")
@pytest.mark.parametrize(
    "missing",
    few(
        [".", "launch.py", "config.py", "agents/payload.py", "capture", "capture/store.py", "privacy"],
        always=[".", "capture/store.py"],
    ),
)
def test_an_event_waits_for_an_installer_that_replaces_mdmem(
    copied: Path, python: Path, vault: Path, missing: str
) -> None:
    away = copied.parent / "away"
    (copied / missing).rename(away)

    with begun(prompt("First")) as hook:
        assert hook.poll() is None, "it waits"
        away.rename(copied / missing)
        assert said(hook) == b""

    until(lambda: notes(vault) == 1)  # on a busy machine, in the background
    assert losses.recent(config.load(str(vault)), time.time()) == []


@pytest.mark.skipif(os.name == "nt", reason="the launcher is a shell script")
def test_of_a_prompt_that_is_stored_later_no_memory_counts_as_given(
    copied: Path, python: Path, vault: Path, tmp_path: Path
) -> None:
    run(prompt("Why does the flux parser fail on leap days?", session_id=OTHER))
    run(stop("The flux parser failed on leap days because the calendar table ended in 2023.", session_id=OTHER))
    asked = prompt("Why did the flux parser fail on leap days last time?")
    away, sleep = copied.parent / "away", tmp_path / "programs" / "sleep"
    sleep.parent.mkdir()
    put_back = f"mv {shlex.quote(str(away))} {shlex.quote(str(copied))}"
    sleep.write_text(f'#!/bin/sh\n[ "$1" != 1 ] || {put_back}\n')  # an installer that takes more than a few seconds
    sleep.chmod(0o700)
    copied.rename(away)

    assert run(asked, {"PATH": f"{sleep.parent}:{os.environ['PATH']}"}) == ""

    settings = config.load(str(vault))
    until(lambda: len(list(vault.rglob("*-prompt-*"))) == 2)
    assert list(injection_log.read_log(settings)) == []
    again = run({**asked, "prompt_id": "again"}, {"MDMEM_INJECT_DEADLINE_SECONDS": "50"})
    assert "the calendar table ended in 2023" in again


@pytest.mark.skipif(os.name == "nt", reason="the launcher is a shell script")
@pytest.mark.parametrize("name", ["recall/hook", "capture/store"])
def test_an_event_whose_mdmem_goes_while_its_hook_runs_is_stored_by_the_one_that_the_python_has_now(
    copied: Path, vault: Path, name: str
) -> None:
    """As when another Python gets the environment: the files are elsewhere then. One has read the event by now."""
    goes = f"import shutil\nshutil.rmtree({str(copied)!r})\nraise ImportError\n"
    (copied / f"{name}.py").write_text(goes)

    assert run(bash("more than a pipe holds\n" * 10_000)) == ""

    until(lambda: notes(vault) == 1)  # on a busy machine, in the background
    assert losses.recent(config.load(str(vault)), time.time()) == []
    assert not copied.exists()


@pytest.fixture
def nap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Let a shell command run in place of each `sleep` of the launcher; return the file with the naps' lengths."""
    naps, sleep = tmp_path / "naps", tmp_path / "programs" / "sleep"
    sleep.parent.mkdir()
    monkeypatch.setenv("PATH", f"{sleep.parent}:{os.environ['PATH']}")

    def replace(command: str) -> Path:
        sleep.write_text(f'#!/bin/sh\necho "$1" >>{shlex.quote(str(naps))}\n{command}\n')
        sleep.chmod(0o700)
        return naps

    return replace


@pytest.mark.skipif(os.name == "nt", reason="the launcher is a shell script")
def test_an_event_waits_in_the_background_for_an_mdmem_that_is_installed_elsewhere(
    copied: Path, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nap: Callable[[str], Path]
) -> None:
    env = tmp_path / "env"
    packages = env / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    base = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
    (env / "pyvenv.cfg").write_text(f"home = {os.path.dirname(base)}\n")
    (env / "bin").mkdir()
    (env / "bin" / "python").symlink_to(base)
    monkeypatch.setattr(sys, "executable", str(env / "bin" / "python"))
    registered("hook")
    place, line = Path(mdmem.__file__).parent.parent, shlex.quote(str(packages / "mdmem.pth"))
    nap(f'[ "$1" != 1 ] || echo {shlex.quote(str(place))} >{line}')
    shutil.rmtree(copied)

    assert run(prompt("First")) == ""

    until(lambda: notes(vault) == 1)
    assert losses.recent(config.load(str(vault)), time.time(), also=[f"{launcher.path()}{missing_program.LOST}"]) == []


@pytest.mark.skipif(os.name == "nt", reason="the launcher is a shell script")
def test_an_event_is_not_lost_when_the_folder_of_mdmem_goes_while_the_launcher_looks_at_it(
    copied: Path, python: Path, vault: Path, tmp_path: Path, nap: Callable[[str], Path]
) -> None:
    away, find = tmp_path / "away", tmp_path / "programs" / "find"
    nap(f"[ -e {shlex.quote(str(copied))} ] || mv {shlex.quote(str(away))} {shlex.quote(str(copied))}")
    (copied / "launch.py").rename(copied / "launch")
    real = shlex.quote(shutil.which("find") or "")
    found = f"mv {shlex.quote(str(copied))} {shlex.quote(str(away))}; mv {shlex.quote(str(away / 'launch'))}"
    find.write_text(f'#!/bin/sh\n{found} {shlex.quote(str(away / "launch.py"))}\nexec {real} "$@"\n')
    find.chmod(0o700)

    assert run(prompt("First")) == ""

    until(lambda: notes(vault) == 1)
    assert losses.recent(config.load(str(vault)), time.time(), also=[f"{launcher.path()}{missing_program.LOST}"]) == []


@pytest.mark.skipif(os.name == "nt", reason="the launcher is a shell script")
def test_waits_for_a_python_and_then_for_mdmem_do_not_add_up(
    copied: Path, python: Path, vault: Path, tmp_path: Path, nap: Callable[[str], Path]
) -> None:
    """Agents end hooks after 10 seconds."""
    away, link = tmp_path / "away", os.readlink(python)
    naps = tmp_path / "naps"
    back = f"mv {shlex.quote(str(away))} {shlex.quote(str(copied))} 2>/dev/null"
    nap(
        f"[ $(wc -l <{shlex.quote(str(naps))}) -lt 20 ] || ln -sf {shlex.quote(link)} {shlex.quote(str(python))}\n"
        f'[ "$1" != 1 ] || {back}'
    )
    copied.rename(away)
    python.unlink()

    assert run(prompt("First")) == ""

    until(lambda: notes(vault) == 1)
    assert naps.read_text().split().count(".1") == 30


def test_a_folder_that_goes_while_it_is_looked_at_is_being_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, look = tmp_path / "mdmem", os.scandir
    package.mkdir()
    for path in (package, tmp_path):
        os.utime(path, (0, 0))
    monkeypatch.setattr(launch, "__file__", str(package / "launch.py"))
    assert not launch.is_being_replaced()

    def looks(path: str) -> Any:
        package.rmdir()
        return look(path)

    monkeypatch.setattr(os, "scandir", looks)

    assert launch.is_being_replaced()


LATE = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from mdmem import launch
from mdmem.capture import hook
time.sleep = lambda _: os._exit(os.write(1, b"waits") - 5)
launch.WAIT_SECONDS, launch.RECENT_SECONDS = 1e9, 1e9
hook.stored(hook.Delivery([sys.argv[2]], None, {}, b"{}"))
print("does not wait")
"""


@pytest.mark.parametrize(("agent", "said"), [("no-such-agent", "does not wait\n"), ("codex", "waits")])
def test_only_files_that_an_installer_may_complete_are_waited_for(copied: Path, agent: str, said: str) -> None:
    if agent == "codex":
        (copied / "config.py").write_text("raise ImportError\n")
    os.utime(copied)
    words = [sys.executable, "-I", "-S", "-B", "-c", LATE, str(copied.parent), agent]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    assert done.stdout == said, done.stderr


def test_a_hook_that_has_waited_to_be_imported_does_not_wait_as_long_again(tmp_path: Path) -> None:
    (tmp_path / "late_hook.py").write_text(
        "def main(words, vault):\n"
        "    from mdmem.capture import hook\n"
        "    delivery = hook.Delivery(words, vault, {}, b'{}')\n"
        "    hook.stored(delivery)\n"
        "    print(delivery.until == hook.launch.wait_until > 0, flush=True)\n"
    )
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from mdmem import launch; launch.recover('late_hook', ['x'], '')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)

    assert done.stdout == "True\n"


def test_an_event_that_nobody_can_read_is_tried_once_also_just_after_an_installer(copied: Path, vault: Path) -> None:
    os.utime(copied)

    assert (
        "could not read this event"
        in json.loads(run({"hook_event_name": "UserPromptSubmit", "prompt": 5}))["systemMessage"]
    )

    log = Path(config.load(str(vault)).state_dir, "log").read_text("utf-8")
    assert log.count("an event is lost") == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the launcher is a shell script")
@pytest.mark.parametrize("gone", ["package", "interpreter"])
def test_an_event_that_waits_long_for_an_installer_is_stored_later_and_on_no_disk_until_then(
    copied: Path, python: Path, vault: Path, tmp_path: Path, gone: str
) -> None:
    missing, away = copied if gone == "package" else python, tmp_path / "away"
    missing.rename(away)

    with begun(prompt("First <private>walrus81</private>")) as hook:
        assert said(hook) == b""
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"walrus81" in path.read_bytes() for path in files)
    away.rename(missing)

    until(lambda: notes(vault) == 1)
    assert not any(b"walrus81" in path.read_bytes() for path in vault.rglob("*.md"))


@pytest.mark.parametrize(
    "locale", few(["en_US.ISO-8859-1", "ko_KR.EUC-KR", "C", "POSIX"], always=["C", "ko_KR.EUC-KR"])
)
def test_names_are_utf8_in_any_locale(vault: Path, locale: str) -> None:
    env = {"LC_ALL": locale, "LANG": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    assert run(prompt("日付パーサーはなぜ失敗しますか", cwd="/home/dev/作業/メモ"), env) == ""
    (path,) = vault.rglob("0??-0??-*.md")
    assert "日付パーサー" in path.name


def test_a_process_with_another_encoding_starts_itself_again(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from mdmem import launch\n"
        "if not sys.flags.utf8_mode: sys.getfilesystemencoding = lambda: 'iso8859-1'\n"
        "launch.use_utf8(); print(sys.flags.utf8_mode, sys.stdin.read())"
    )
    words = [sys.executable, "-I", "-S", "-c", code, str(Path(mdmem.__file__).parent.parent)]
    done = subprocess.run(words, input="same", capture_output=True, text=True)
    assert done.stdout == "1 same\n", done.stderr


@pytest.mark.slow
def test_doctor_names_damaged_bytecode_and_repairs_it(
    copied: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "__file__", str(copied / "launch.py"))
    settings = config.load(str(vault))
    assert [found.severity for found in machine.hook(settings)] == ["fine"]
    path = Path(cache_from_source(copied / "config.py"))
    path.write_bytes(path.read_bytes()[:200])
    first = next(iter(machine.hook(settings)))
    assert (first.severity, str(path) in first.text) == ("error", True)
    assert first.fix is not None
    first.fix()
    assert [found.severity for found in machine.hook(settings)] == ["fine"]
    (copied / "log.py").write_text("raise RuntimeError\n")
    assert next(found.severity for found in machine.hook(settings)) == "error"


def test_bytecode_that_goes_while_doctor_looks_is_not_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "__file__", str(tmp_path / "launch.py"))
    both = {tmp_path / "__pycache__" / name for name in ("a.pyc", "b.pyc.1f")}
    (tmp_path / "__pycache__").mkdir()
    for path in both:
        path.write_bytes(bytes(16))
    (tmp_path / "__pycache__" / "c.pyc").write_bytes(b"")
    found = launch.damaged()
    first = Path(next(found))
    for path in tmp_path.rglob("*.pyc*"):
        path.unlink()
    assert first.name in ("a.pyc", "c.pyc")
    assert list(found) == []


@pytest.mark.skipif(os.name == "nt", reason="a symbolic link needs a right there")
def test_bytecode_that_cannot_be_read_is_kept_because_a_disk_may_recover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "__file__", str(tmp_path / "launch.py"))
    unreadable = tmp_path / "__pycache__" / "a.pyc"
    unreadable.parent.mkdir()
    unreadable.symlink_to(unreadable)  # a loop
    launch.repair()
    assert unreadable.is_symlink()


def test_losses_are_errors_for_a_week(vault: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    settings = config.load(str(vault))
    now = 1_600_000_000.0
    for days in (0.5, 6.9, 7.1, 40):
        losses.record(settings, "UserPromptSubmit", "codex", "OSError", now - days * 86_400)
    assert len(losses.recent(settings, now)) == 2
    assert [found.severity for found in unstored.lost(settings)] == ["fine"]
    import time

    losses.record(settings, "PostToolUse", "claude-code", "Key\tError\n", time.time())
    assert [(found.severity, "PostToolUse" in found.text) for found in unstored.lost(settings)] == [("error", True)]
    assert "1 event lost, the last on" in mdmem("status", check=True).stdout
    assert mdmem("doctor", "--only", "lost").returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="needs limits of a process")
@pytest.mark.parametrize(("verb", "said"), [("hook", "this event is lost"), ("inject", "")])
def test_a_hook_that_may_open_no_file_says_so_and_nothing_else(vault: Path, verb: str, said: str) -> None:
    del vault
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
    words = [sys.executable, "-I", "-S", "-B", "-c", limit + launcher.code(verb), verb, "claude-code"]
    done = subprocess.run(words, input=json.dumps(prompt("First")).encode(), capture_output=True)

    assert (done.returncode, done.stderr) == (0, b"")
    assert said in (json.loads(done.stdout)["systemMessage"] if done.stdout else "")
    assert bool(said) == bool(done.stdout)


def test_a_hook_that_fails_after_it_has_read_its_event_says_so() -> None:
    """It cannot be run again: there is nothing left to read."""
    code = "from mdmem import launch; from mdmem.recall import hook; launch.recover(hook.__name__, ['codex'], None)"
    done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=True)

    assert "this event is lost" in json.loads(done.stdout)["systemMessage"]


@pytest.mark.skipif(os.name == "nt", reason="needs a closed stdout")
def test_a_loss_that_the_agent_no_longer_hears_of_is_recorded(vault: Path) -> None:
    Path(launcher.path()).parent.mkdir(parents=True)
    loss = f"import os, sys; os.close(1); sys.argv[0] = {launcher.path()!r}; from mdmem import launch; "
    code = f"{loss}from mdmem.recall import hook; launch.recover(hook.__name__, ['codex'], None)"
    subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, check=True)

    assert [one["agent"] for one in storing.lost_events(config.load(str(vault)))] == ["codex"]


SMALL_FILES = """
import resource, signal, sys
from mdmem import cli

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
sys.argv = ["mdmem", "note", "we use one parser for all dates"]
cli.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="needs limits of a process")
def test_a_command_that_meets_the_limit_of_file_sizes_names_the_limit(vault: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SMALL_FILES], capture_output=True, text=True)

    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert "raise `ulimit -f`" in done.stderr
    assert not list(vault.rglob("*dates*"))


LOGS = """
import logging
from mdmem.capture import events
from mdmem.recall import hook

real = events.capture

def capture(*given):
    logging.error("code for hash md5 was not found.")  # as `hashlib` does without memory
    return real(*given)

events.capture = capture
hook.main(["claude-code"])
"""


def test_what_the_standard_library_logs_in_a_hook_is_not_shown(vault: Path) -> None:
    event = json.dumps(prompt("First")).encode()
    done = subprocess.run([sys.executable, "-c", LOGS], input=event, capture_output=True, check=True)

    assert (done.stdout, done.stderr) == (b"", b"")
    assert notes(vault) == 1


NO_MORE_FILES = """
import resource, sys
from mdmem import cli

run = cli._run

def limited():
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    return run()

cli._run = limited
sys.argv = ["mdmem", "commit"]
cli.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="needs limits of a process")
def test_a_command_that_may_open_no_file_says_so_without_a_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", NO_MORE_FILES], capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr.startswith("mdmem: Too many open files.")
    assert "Traceback" not in done.stderr


def test_a_command_that_runs_out_of_memory_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        raise MemoryError

    monkeypatch.setattr(cli, "_run", run)

    with pytest.raises(SystemExit) as end:
        cli.main()

    assert end.value.code == 1
    assert "mdmem: There is not enough memory." in capsys.readouterr().err
