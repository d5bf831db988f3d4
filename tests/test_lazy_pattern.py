"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import importlib
import json
import marshal
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mdmem
from mdmem import bytecode, lazy_pattern, preload
from mdmem.lazy_pattern import lazy
from tests.helpers.claude import payload, prompt, send, stop

PACKAGE = Path(mdmem.__file__).parent


def test_a_lazy_pattern_has_the_methods_of_a_compiled_one() -> None:
    pattern = lazy(r"(?P<word>[a-z]+)", re.IGNORECASE)

    assert pattern.findall("One two") == ["One", "two"]
    assert pattern.sub("-", "One two") == "- -"
    assert pattern.groupindex == {"word": 1}
    assert pattern.findall("three") == ["three"]


def test_a_pattern_is_compiled_only_when_it_is_used() -> None:
    malformed = lazy("(")

    with pytest.raises(re.error):
        malformed.search("(")


def test_every_lazy_pattern_of_the_package_compiles() -> None:
    names = [module.name for module in pkgutil.walk_packages(mdmem.__path__, "mdmem.") if "__main__" not in module.name]
    modules = [importlib.import_module(name) for name in names]
    patterns = [value for module in modules for value in vars(module).values() if type(value).__name__ == "lazy"]

    assert len(patterns) > 20
    assert all(pattern.pattern for pattern in patterns)


# -- code that is kept -------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file with the code of patterns that no other process reads or writes, which is read again."""
    (PACKAGE / "__pycache__").mkdir(exist_ok=True)
    monkeypatch.setattr(lazy_pattern, "KEPT", os.path.relpath(tmp_path / "patterns", PACKAGE / "__pycache__"))
    monkeypatch.setattr(lazy_pattern, "_kept", None)
    path = Path(preload.path_in(str(PACKAGE), lazy_pattern.KEPT))
    assert bytecode.write(str(PACKAGE))
    return path


def test_the_code_of_all_patterns_with_which_hooks_look_things_up_is_kept() -> None:
    names = [module.name for room in ("inject", "search") for module in walked(room)]
    having = {name for name in names if [*bytecode._patterns_in(vars(importlib.import_module(name)).values())]}

    assert having - {"mdmem.search.prompts.language"} == {*bytecode.PATTERNS} - {
        "mdmem.vault.creation",
        "mdmem.vault.links",
    }


def walked(room: str) -> Iterator[pkgutil.ModuleInfo]:
    """Yield the modules in one of the package's folders."""
    return pkgutil.walk_packages([str(PACKAGE / room)], f"mdmem.{room}.")


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("module", bytecode.PATTERNS)
def test_a_pattern_made_of_kept_code_is_the_one_that_re_makes(module: str) -> None:
    patterns = list(bytecode._patterns_in(vars(importlib.import_module(module)).values()))

    assert patterns
    for pattern in patterns:
        assert lazy_pattern._compiled(pattern.made_of) == re.compile(*pattern.made_of)
        assert pattern.made_of in (lazy_pattern._kept or {})


@pytest.mark.parametrize("keep", [0, 10, 1000])
def test_a_damaged_file_of_patterns_costs_only_time_and_is_written_again(kept: Path, keep: int) -> None:
    whole = lazy_pattern.read(str(kept))
    kept.write_bytes(kept.read_bytes()[:keep])

    assert lazy_pattern._compiled((r"\w+", 0)) == re.compile(r"\w+")
    assert lazy_pattern._kept == {}
    assert bytecode.write(str(PACKAGE))
    assert lazy_pattern.read(str(kept)) == whole


def test_damaged_code_of_a_pattern_is_not_run_and_is_written_again(kept: Path) -> None:
    whole = lazy_pattern.read(str(kept))
    pattern, flags = r"\bmem:([0-9a-z]{10})\b", 0
    data, code = kept.read_bytes(), whole[0][pattern, flags]
    middle = data.index(code) + len(code) // 2
    kept.write_bytes(data[:middle] + bytes(64) + data[middle + 64 :])

    assert lazy(pattern, flags).findall("see mem:7gk2q9m4x1") == ["7gk2q9m4x1"]
    assert lazy_pattern._kept == {}
    assert bytecode.write(str(PACKAGE))
    assert lazy_pattern.read(str(kept)) == whole


def test_an_interpreter_whose_re_is_made_in_another_way_keeps_no_patterns(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.unlink()
    with monkeypatch.context() as other:
        other.delattr(re, "_parser")
        assert bytecode.write(str(PACKAGE))

    assert lazy_pattern.read(str(kept))[0] == {}
    assert lazy(r"\w+").findall("a b") == ["a", "b"]


def test_patterns_of_another_interpreter_are_not_used(kept: Path) -> None:
    _, code, sources = marshal.loads(kept.read_bytes()[preload.HEAD_BYTES :])
    data = marshal.dumps(((0, 0, 0), code, sources))
    kept.write_bytes(preload.head()[: lazy_pattern.SUM_BEGIN] + lazy_pattern.checksum(data) + data)

    assert lazy_pattern._compiled((r"\w+", 0)) == re.compile(r"\w+")
    assert lazy_pattern._kept == {}


def test_a_pattern_whose_code_is_not_kept_is_compiled(kept: Path) -> None:
    assert lazy_pattern._compiled(("(a)(?P<b>b)", re.IGNORECASE)).groupindex == {"b": 2}
    assert kept.exists()


def test_a_hook_that_answers_with_memories_does_without_re(vault: Path) -> None:
    assert bytecode.write(str(PACKAGE))
    failed = {
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "error": "Exit code 1\nValueError: day is out of range for month",
        "tool_use_id": "toolu_1",
        "prompt_id": "prompt-1",
    }
    send(prompt("Why does the date parser fail on single-digit months?"))
    send(stop("The pattern wanted two digits for the month; it takes one or two now."))
    subprocess.run([sys.executable, "-m", "mdmem", "index"], capture_output=True, check=True)
    code = (
        "import sys; exec(open(sys.argv[2] + '/preload.py').read(), {'preloads': sys.argv[2]})\n"
        "sys.path += sys.argv[3:]\nimport os; from mdmem.recall import hook\n"
        "end = os._exit\n"
        "os._exit = lambda code: (os.write(2, b're' if 're' in sys.modules else b'-'), end(0))\n"
        "hook.main(['claude-code'])"
    )
    other = {"session_id": "11111111-bbbb-4bbb-8bbb-bbbbbbbbbbbb"}
    asked = prompt("Why did the date parser fail on single-digit months last time?", number=2) | other
    words = [sys.executable, "-I", "-S", "-B", "-c", code, "", str(PACKAGE), *sys.path]
    for event in (payload("SessionStart", source="startup") | other, asked, payload("PostToolUseFailure", **failed)):
        done = subprocess.run(words, input=json.dumps(event).encode(), capture_output=True, env=dict(os.environ))

        assert done.stderr == b"-", event["hook_event_name"]
        assert (b"mem:" in done.stdout) == (event["hook_event_name"] != "PostToolUseFailure")
