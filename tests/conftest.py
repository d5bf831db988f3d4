"""Fixtures: a home that is not the real one, vaults, and mdmem's own commands as processes."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from mdmem import config
from mdmem.vault import journal
from tests.helpers import forked

if TYPE_CHECKING:
    from tests.helpers.cli_day import Day

# A busy machine is no failure: the examples are bounded in number, not in time. They are the same in every run,
# so that a change is judged by what it changed; MDMEM_SOAK=N looks at new ones, N times as many.
SOAK = int(os.environ.get("MDMEM_SOAK", "0"))
hypothesis.settings.register_profile(
    "mdmem",
    deadline=None,
    derandomize=not SOAK,
    max_examples=100 * SOAK or 20,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("mdmem")

# The suite starts thousands of Pythons: each would compile the package anew where the environment keeps no bytecode,
# and each run of pytest would rewrite all the tests' asserts. Hooks look for it beside the modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.pop("PYTHONPYCACHEPREFIX", None)
sys.dont_write_bytecode = False
sys.pycache_prefix = None

# mdmem starts itself again where a locale's encoding is another: in the middle of a test, that would end a worker.
os.environ["PYTHONUTF8"] = "1"

# Files of few and slow tests, whose tests go to whichever worker has time; the others' tests stay together, so that
# what a file sets up and imports (a server, a vendor's library) is paid for once.
APART = {"test_faults", "test_commit", "test_sync", "test_import", "test_index", "test_watch"}

TOGETHER = {"test_house": "source", "test_dependencies": "source"}
"""Files whose tests share what they read: the syntax trees of the product."""

forked.without_syncs()

PATIENT_SECONDS = "50"
"""The time limit of injections: a busy machine is no failure."""

REPO = Path(__file__).resolve().parent.parent
PAYLOADS = Path(__file__).parent / "payloads"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests out by file, where nothing else was asked for."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    def scope(nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if Path(file).stem in APART else TOGETHER.get(Path(file).stem, file)

    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = scope
    return scheduler


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile a share of the rewritten test files in each worker first, if all are wanted, for the others to find."""
    worker, count = os.environ.get("PYTEST_XDIST_WORKER", ""), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if not worker or session.config.args_source != pytest.Config.ArgsSource.TESTPATHS:
        return
    for file in sorted(Path(__file__).parent.rglob("test_*.py"))[int(worker.removeprefix("gw")) :: count]:
        with contextlib.suppress(BaseException):  # which collecting it meets again, and tells
            importlib.import_module(".".join(file.relative_to(REPO).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Exclude what has been loaded by now from garbage collection, in forks too: it stays."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return names for homes and other folders, which `mktemp` takes long to find; no word or number is one."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / "".join(letters) for letters in itertools.product("bcdfghjklmnpqrstvwxz", repeat=4))


@pytest.fixture
def tmp_path(homes: Iterator[Path]) -> Path:
    """Return a folder of the test's own, as pytest's fixture of this name does at five times the cost."""
    folder = next(homes)
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _shared_home(homes: Iterator[Path]) -> Iterator[None]:
    """Hide the user's home and settings from what several tests share: it is made before a test has its own home."""
    outside = ("MDMEM_", "GIT_", "XDG_", "CLAUDE", "VISUAL", "EDITOR", "PAGER")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(outside) or name.lower().endswith("_proxy")]:
            patch.delenv(name)
        _live_in(next(homes), patch)
        yield


@pytest.fixture(autouse=True)
def home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return every test a home of its own: no test reads or writes the real one.

    What a test has put off (a server's look at the whole vault) is called off with it, not done in the next test's.
    """
    folder = next(homes)
    _live_in(folder, monkeypatch)
    yield folder
    for timer in [one for one in threading.enumerate() if isinstance(one, threading.Timer)]:
        timer.cancel()
        timer.join()


def _live_in(folder: Path, patch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    for name in ("HOME", "USERPROFILE", "LOCALAPPDATA"):
        patch.setenv(name, str(folder))
    patch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
    patch.setenv("TMPDIR", str(folder.parent))
    patch.setenv("TZ", "UTC")
    if hasattr(time, "tzset"):  # Windows has none, and reads it once
        time.tzset()
    patch.setenv("MDMEM_INJECT_DEADLINE_SECONDS", PATIENT_SECONDS)
    (folder / "run").mkdir(mode=0o700)


def own_settings(text: str) -> None:
    """Write the user's own settings file: a vault's can only make a setting stricter."""
    file = Path(config.user_file(os.environ))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty vault: a folder with an empty mdmem.toml, named by MDMEM_VAULT."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "mdmem.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("MDMEM_VAULT", str(folder))
    return folder


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Make a vault with one prompt in it, and a home; each call another."""
    numbers = iter(range(100_000))

    def make() -> Path:
        top = tmp_path / str(next(numbers))
        vault = top / "vault"
        vault.mkdir(parents=True)
        (vault / "mdmem.toml").touch()
        (top / "home").mkdir(mode=0o700)
        monkeypatch.setenv("MDMEM_VAULT", str(vault))
        monkeypatch.setenv("HOME", str(top / "home"))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(top / "home"))
        return vault

    return make


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder on a disk of 128 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", "size=128k,mode=777", "none", str(folder)]
    if os.getuid() != 0 or shutil.which("mount") is None or subprocess.run(line, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="session")
def made_day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    """Return a day of work that no test changes; `day` is a copy of it."""
    from tests.helpers import cli_day

    return cli_day.make(tmp_path_factory.mktemp("day"))


@pytest.fixture
def day(made_day: Day, tmp_path: Path) -> Day:
    """Return a day of work of the test's own."""
    from tests.helpers import cli_day

    return cli_day.copy(made_day, tmp_path)


@pytest.fixture
def november(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands take it for November 2026, when the sample's days are past, whatever the clock says."""
    monkeypatch.setenv("MDMEM_NOW", "1793620800")


@pytest.fixture
def pages_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands in this process make pages without putting it off, however long a slow machine takes."""
    monkeypatch.setattr("mdmem.views.vault_pages.upkeep.REST", 0)
    monkeypatch.setattr("mdmem.views.vault_pages.upkeep.QUICK_SECONDS", float("inf"))


@pytest.fixture
def mdmem(home: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `mdmem WORDS...` as a process of its own; `input` goes to its stdin, `env` on top of the environment."""

    def run(
        *words: str,
        input: str | bytes = "",  # noqa: A002 - as subprocess.run has it
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        data = input.encode() if isinstance(input, str) else input
        done = forked.run(words, data, {**os.environ, **(env or {})}, cwd)
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        if check and done.returncode != 0:
            raise AssertionError(f"mdmem {' '.join(words)} ended with {done.returncode}:\n{out}\n{err}")
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    return run


@pytest.fixture
def ask(home: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `mdmem WORDS...` in this process, a tenth of the cost: what it prints, and what it would end with.

    What would be a fault of mdmem itself is raised.
    """
    import click.testing

    from mdmem.cli.group import cli
    from mdmem.errors import MdmemError

    def run(
        *words: str,
        input: str = "",  # noqa: A002 - as subprocess.run has it
        env: Mapping[str, str] | None = None,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        done = click.testing.CliRunner().invoke(
            cli, words, input=input, env=env, prog_name="mdmem", standalone_mode=False
        )
        left = done.return_value if isinstance(done.return_value, int) else 0  # by `ctx.exit`
        status, said = done.exit_code or left, done.stderr
        match done.exception:
            case MdmemError() as error:
                status, said = error.exit_code, f"{said}mdmem: {error}"
            case click.ClickException() as usage:
                status, said = usage.exit_code, f"{said}{usage.format_message()}"
            case click.Abort():
                status = 130
            case OSError():
                status = 1
            case None | SystemExit():
                pass
            case fault:
                raise fault
        if check and status:
            raise AssertionError(f"mdmem {' '.join(words)} ended with {status}:\n{done.stdout}\n{said}")
        return subprocess.CompletedProcess(words, status, done.stdout, said)

    return run


@pytest.fixture
def hook(home: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Send a payload (a dict, or text as it is) to an agent's hook; it must end well and silently."""

    def send(
        payload: Any, agent: str = "claude-code", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        data = payload if isinstance(payload, (str, bytes)) else json.dumps(payload)
        bytes_ = data.encode() if isinstance(data, str) else data
        done = forked.run(("hook", agent), bytes_, {**os.environ, **(env or {})})
        assert (done.returncode, done.stderr) == (0, b"")
        return subprocess.CompletedProcess(done.args, 0, done.stdout.decode(), "")

    return send


def notes(vault: Path) -> list[Path]:
    """List the notes of a vault, in the order an editor shows them, without its pages."""
    others = {*session_pages(vault), *vault.rglob("project.md"), *vault.rglob("README.md"), *vault.glob("days/*.md")}
    return sorted(set(vault.rglob("*.md")) - others)


def session_pages(vault: Path) -> list[Path]:
    """List the pages of a vault's sessions, also of those whose folder was renamed."""
    found = {path.parent for path in vault.glob("journal/*/*/*/*.md")}
    named = ((folder, journal.page_of([path.name for path in folder.iterdir()], folder.name)) for folder in found)
    return sorted(folder / name for folder, name in named if name)
