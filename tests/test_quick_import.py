"""Quick import and preload take fresh bytecode as the interpreter would, and leave everything else to it."""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import bytecode, preload
from tests.conftest import REPO

PACKAGE = {
    "__init__.py": "",
    "quick_import.py": (REPO / "mdmem" / "quick_import.py").read_text(encoding="utf-8"),
    "one.py": "from mdmem.inner import two\nvalue = two.value\n",
    "inner/__init__.py": "depth = 1\n",
    "inner/two.py": "value = 'first'\n",
}
LOOK = (
    "import sys; sys.path.insert(0, sys.argv[1]); from mdmem import quick_import; quick_import.install();"
    "quick_import.install(); from mdmem import one; import mdmem.inner as inner;"
    "print(one.value, inner.depth, type(one.__spec__.loader).__name__, type(inner.two.__spec__.loader).__name__,"
    " one.__spec__.cached.startswith(sys.argv[1] + '/mdmem/__pycache__/one.') and"
    " one.__file__ == sys.argv[1] + '/mdmem/one.py', inner.__path__ == [sys.argv[1] + '/mdmem/inner'],"
    " sum(type(finder).__name__ == 'QuickFinder' for finder in sys.meta_path))"
)


@pytest.fixture
def look(tmp_path: Path) -> Callable[[], list[str]]:
    """Return a function that imports a small compiled package in a new process and tells what it found."""
    for name, text in PACKAGE.items():
        path = tmp_path / "mdmem" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    compileall.compile_dir(tmp_path, quiet=1)

    def run() -> list[str]:
        words = [sys.executable, "-I", "-S", "-B", "-c", LOOK, str(tmp_path)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()

    return run


def test_fresh_bytecode_is_loaded_like_any_module(look: Callable[[], list[str]]) -> None:
    assert look() == ["first", "1", "QuickFinder", "QuickFinder", "True", "True", "1"]


def test_a_source_that_is_newer_than_its_bytecode_counts(look: Callable[[], list[str]], tmp_path: Path) -> None:
    source = tmp_path / "mdmem" / "inner" / "two.py"
    source.write_text("value = 'second, and longer'[:6]\n")
    os.utime(source, (1, 1))

    assert look()[:4] == ["second", "1", "QuickFinder", "SourceFileLoader"]


@pytest.mark.parametrize("keep", [0, 8, 20])
def test_missing_bytecode_and_a_foreign_head_are_left_to_the_interpreter(
    look: Callable[[], list[str]], tmp_path: Path, keep: int
) -> None:
    (file,) = (tmp_path / "mdmem" / "inner" / "__pycache__").glob("two.*")
    data = file.read_bytes()
    file.unlink()
    if keep:
        file.write_bytes(b"\0" * keep + data[keep:])

    assert look()[:4] == ["first", "1", "QuickFinder", "SourceFileLoader"]


def test_bytecode_that_cannot_be_read_is_left_to_the_interpreter(look: Callable[[], list[str]], tmp_path: Path) -> None:
    bytecode_file = next((tmp_path / "mdmem" / "inner" / "__pycache__").glob("two.*"))
    bytecode_file.unlink()
    bytecode_file.mkdir()  # opened like a file, but reading it fails

    assert look()[:4] == ["first", "1", "QuickFinder", "SourceFileLoader"]


def test_bytecode_longer_than_the_buffer_is_left_to_the_interpreter(
    look: Callable[[], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "mdmem" / "inner" / "two.py").write_text(f"value = 'third'; rest = '{'x' * 70_000}'\n")
    compileall.compile_dir(tmp_path, quiet=1)

    assert look()[:4] == ["third", "1", "QuickFinder", "SourceFileLoader"]


def test_every_module_of_a_hook_comes_this_way(tmp_path: Path) -> None:
    compileall.compile_dir(REPO / "mdmem", quiet=1)
    (tmp_path / "mdmem.toml").touch()
    code = (
        f"import os, sys; sys.path.append({str(REPO)!r}); from mdmem.capture import hook\n"
        "said = lambda: ' '.join(name for name, found in sys.modules.items() if name.startswith('mdmem.')"
        " and type(found.__spec__.loader).__name__ != 'QuickFinder')\n"
        "os._exit = lambda code: (os.write(2, said().encode()), sys.exit(0))\nhook.main(['claude-code'])"
    )
    payload = (REPO / "tests" / "payloads" / "claude_code" / "PostToolUse-Edit-01.json").read_bytes()
    env = {**os.environ, "MDMEM_VAULT": str(tmp_path)}

    done = subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], input=payload, capture_output=True, env=env)

    assert done.stderr.split() == [b"mdmem.capture", b"mdmem.quick_import", b"mdmem.capture.hook"]


# -- what every hook imports, from one file ----------------------------------------------------------


@pytest.fixture
def package(look: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small package, with the file of what every hook of it imports."""
    monkeypatch.setattr(bytecode, "ROOTS", {preload.EVERY: ("mdmem.one",)})
    assert bytecode.write(str(tmp_path / "mdmem"))
    return tmp_path / "mdmem"


def loaded(package: Path) -> dict[str, list[str]]:
    """Load the file in a new process; return its modules, and those that are imported afterwards."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        f"try: exec(open({str(REPO / 'mdmem' / 'preload.py')!r}).read(), {{'preloads': sys.argv[1] + '/mdmem'}})\n"
        "except Exception: pass\n"
        "found = {name: one for name, one in sys.modules.items() if name[:5] == 'mdmem'}\n"
        "import json, mdmem.quick_import\n"
        "later = {name: one for name, one in sys.modules.items() if name[:5] == 'mdmem' and name not in found}\n"
        "print(json.dumps([{name: [one.__file__, one.__package__] for name, one in each.items()}"
        " for each in (found, later)]))"
    )
    words = [sys.executable, "-I", "-S", "-B", "-c", code, str(package.parent)]
    first, later = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert later["mdmem.quick_import"] == [f"{package}/quick_import.py", "mdmem"]
    found: dict[str, list[str]] = first
    return found


def test_what_every_hook_imports_comes_from_one_file(package: Path) -> None:
    assert loaded(package) == {
        "mdmem": [f"{package}/__init__.py", "mdmem"],
        "mdmem.inner": [f"{package}/inner/__init__.py", "mdmem.inner"],
        "mdmem.inner.two": [f"{package}/inner/two.py", "mdmem.inner"],
        "mdmem.one": [f"{package}/one.py", "mdmem"],
    }


def test_a_source_that_has_changed_leaves_the_file_to_the_next_writer(package: Path) -> None:
    os.utime(package / "inner" / "two.py", (1, 1))

    assert preload.read(str(package)) == []
    assert loaded(package) == {}
    assert bytecode.write(str(package))
    assert len(preload.read(str(package))) == 4


@pytest.mark.parametrize("keep", [0, 10, 100])
def test_a_damaged_file_loads_nothing_and_is_written_again(package: Path, keep: int) -> None:
    file = Path(preload.path_in(str(package)))
    file.write_bytes(file.read_bytes()[:keep])

    assert loaded(package) == {}
    assert bytecode.write(str(package))
    assert len(preload.read(str(package))) == 4


def test_where_one_module_fails_none_of_the_file_is_loaded(package: Path) -> None:
    (package / "one.py").write_text("from mdmem.inner import two\nraise RuntimeError\n")
    assert bytecode.write(str(package))

    assert len(preload.read(str(package))) == 4
    assert loaded(package) == {}


def test_a_module_that_failed_is_gone_from_its_package_too(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytecode, "ROOTS", {preload.EVERY: ("mdmem.inner",), "later": ("mdmem.one",)})
    (package / "one.py").write_text("from mdmem.inner import two\nraise RuntimeError\n")
    assert bytecode.write(str(package))
    code = (
        "import sys; names = {'preloads': sys.argv[1]}\n"
        f"exec(open({str(REPO / 'mdmem' / 'preload.py')!r}).read(), names)\n"
        "try: names['load'](sys.argv[1], 'later')\n"
        "except RuntimeError: print(*(name for name in vars(sys.modules['mdmem.inner']) if name == 'two'), 'failed')"
    )
    words = [sys.executable, "-I", "-S", "-B", "-c", code, str(package)]

    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "failed\n"


def test_a_module_that_its_own_package_imports_runs_before_what_needs_it_there(package: Path) -> None:
    (package / "one.py").write_text("from mdmem.inner.two import name\n")
    (package / "inner" / "two.py").write_text("name = 'two'\n")
    (package / "inner" / "three.py").write_text("from mdmem.inner.two import name\n")
    (package / "inner" / "__init__.py").write_text("from mdmem.inner import three\n")
    assert bytecode.write(str(package))

    assert [*loaded(package)][-3:] == ["mdmem.inner.three", "mdmem.inner", "mdmem.one"]


def test_a_file_that_cannot_be_written_is_told(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preload, "path_in", lambda *_: str(package / "one.py" / "file"))

    assert not bytecode.write(str(package))


@pytest.mark.parametrize("event", ["PostToolUse-Edit-01", "UserPromptSubmit-plain-01"])
def test_a_hook_imports_nothing_beside_what_such_hooks_import_together(event: str, tmp_path: Path) -> None:
    package = str(REPO / "mdmem")
    assert bytecode.write(package)
    (tmp_path / "mdmem.toml").touch()
    code = (
        "import sys; exec(open(sys.argv[2] + '/preload.py').read(), {'preloads': sys.argv[2]})\n"
        "import os; from mdmem.recall import hook\n"
        "said = lambda: ' '.join(name for name, one in sys.modules.items() if name[:5] == 'mdmem'"
        " and one.__spec__ and type(one.__spec__.loader).__name__ != 'PreloadFinder')\n"
        "os._exit = lambda code: (os.write(2, said().encode()), sys.exit(0))\nhook.main(['claude-code'])"
    )
    payload = json.loads((REPO / "tests" / "payloads" / "claude_code" / f"{event}.json").read_bytes())
    payload |= {"prompt": "Rename the parser's argument."} if "prompt" in payload else {}
    words = [sys.executable, "-I", "-S", "-B", "-c", code, "", package]
    env = {**os.environ, "MDMEM_VAULT": str(tmp_path)}
    for number in range(2):  # the second one finds the session's folder
        sent = json.dumps(payload | {"tool_use_id": f"toolu_{number}", "prompt_id": f"prompt-{number}"})
        done = subprocess.run(words, input=sent.encode(), capture_output=True, env=env)

    assert done.stderr.split() == [], "such hooks import these as well: they belong into ROOTS of mdmem/bytecode.py"
    assert len(list(tmp_path.rglob("0??-0??-*.md"))) == 2


def test_every_file_of_modules_is_loaded_by_one_of_its_own() -> None:
    package = str(REPO / "mdmem")
    assert bytecode.write(package)

    assert {*preload.FIRST.values(), preload.EVERY} == bytecode.ROOTS.keys()
    for first, name in preload.FIRST.items():
        assert first in [module for module, _, _ in preload.read(package, name)]


@pytest.mark.parametrize("name", bytecode.ROOTS)
def test_a_file_holds_every_module_that_it_is_made_for_and_is_not_written_twice(name: str) -> None:
    package = str(REPO / "mdmem")
    assert bytecode.write(package)

    missing = set(bytecode.ROOTS[name]).difference(module for module, _, _ in preload.read(package, name))
    assert not missing, "while one is missing, the file is never taken for fresh, and written again each time"


@pytest.mark.parametrize("name", bytecode.ROOTS)
def test_a_file_is_loaded_without_an_error_of_its_modules(name: str) -> None:
    package = str(REPO / "mdmem")
    assert bytecode.write(package)
    code = (
        "import sys; names = {'preloads': sys.argv[1]}\nexec(open(sys.argv[1] + '/preload.py').read(), names)\n"
        "for earlier in names['BEFORE'].get(sys.argv[2], ()): __import__(earlier)\n"
        "names['load'](sys.argv[1], sys.argv[2])"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code, package, name], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


_MADE = """
import sys
if sys.argv[2:]:
    made = {"__name__": "preload"}
    exec(open(sys.argv[1]).read(), made)
"""
_ASKED_OF_THE_ENVIRONMENT = """
    made["quick_os"]()
    assert "_collections_abc" not in sys.modules
import os
env = os.environ
env["ONE"] = "1"
env.update({"TWO": "2"}, THREE="3")
print("ONE" in env, "NONE" in env, 1 in {**env}, env.get("ONE"), env.get("NONE"), env.get("NONE", "-"))
print(env.setdefault("ONE", "-"), env.pop("ONE"), env.pop("ONE", "-"), len(env) == len(list(env)))
print(sorted(env.keys()), sorted(env.items()), sorted(env.values()))
print(env == dict(env), env == {}, env != {}, dict(env) == env.copy(), env | env == {**env})
print(sorted(env | {"A": "b"}), sorted({"A": "b"} | env))
for name in ("__getitem__", "no_such_method", "pop"):
    try:
        print(getattr(env, name)("NONE"))
    except Exception as error:
        print(type(error).__name__)
import collections.abc, pathlib
print(isinstance({}, collections.abc.MutableMapping), [isinstance(one, os.PathLike) for one in (pathlib.Path(), "")])
env.clear()
print(dict(env), os.getenv("TWO"))
"""
_ASKED_OF_MODULES_IN_C = """
    made["_load_dynamic"]()
    assert {"fcntl", "_json"} <= sys.modules.keys() | set(sys.builtin_module_names)
import fcntl, _json
print([getattr(one, "__file__", "") for one in (fcntl, _json)], fcntl.LOCK_EX, _json.__spec__.origin, _json.scanstring)
"""


@pytest.mark.parametrize("asked", [_ASKED_OF_THE_ENVIRONMENT, _ASKED_OF_MODULES_IN_C])
def test_what_is_imported_quickly_of_the_standard_library_is_as_ever(asked: str) -> None:
    words = [sys.executable, "-I", "-S", "-c", _MADE + asked, str(REPO / "mdmem" / "preload.py")]
    said = [subprocess.run([*words, *more], capture_output=True, text=True, check=True).stdout for more in ([], ["x"])]

    assert said[0] == said[1] != ""
