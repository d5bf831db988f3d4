"""Fixes: found again by the error, also where paths, numbers and times differ."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.learn.fixes import fixes as known
from mdmem.search.runs import CommandRun
from mdmem.search.solved import Finder, Fix
from mdmem.search.text import errors
from mdmem.vault import journal, note, people
from tests.helpers.indexed import indexed
from tests.helpers.open_work import Work

LEAP = """Exit code 1
=================================== FAILURES ===================================
    def test_leap_day():
>       assert parse("2026-02-29") is None
E       dates.DateError: day is out of range for month

/home/ada/app/tests/test_dates.py:12: DateError
=========================== short test summary info ============================
FAILED tests/test_dates.py::test_leap_day - dates.DateError: day is out of range for month
1 failed, 11 passed in 0.42s"""


def solve(at: Work, number: int, error: str, path: str, *, command: str = "pytest -q", new: str = "a = 2") -> None:
    one = at.session(number)
    one.ask("Fix it")
    one.run(command, error)
    one.edit(path, new=new)
    one.run(command)
    one.answer()


def find(at: Work, error: str = "") -> list[Fix]:
    return known(indexed(at.day.config()), error)


def test_an_error_that_was_solved_is_found_with_its_edit_and_proof(at: Work) -> None:
    solve(at, 1, LEAP, "src/dates.py", new="a = checked(1)")
    (fix,) = find(at, "E   dates.DateError: day is out of range for month")
    assert (fix.command, fix.files, fix.likeness) == ("pytest -q", ["src/dates.py"], 1.0)
    assert fix.error == "E       dates.DateError: day is out of range for month"
    assert "+a = checked(1)" in fix.diff
    shown = {name: at.day.run("show", name).stdout for name in (fix.id, fix.solved, *fix.edits)}
    assert "FAILURES" in shown[fix.id]
    assert "dates.py" in shown[fix.edits[0]]


def test_a_command_that_solved_an_error_without_an_edit_is_its_fix(at: Work) -> None:
    one = at.session(1)
    one.ask("Run the tests")
    one.run("pytest -q", "Exit code 1\nE   ModuleNotFoundError: No module named 'lxml'")
    one.run("pip install lxml")
    one.run("pytest -q")
    (fix,) = find(at, "ModuleNotFoundError: No module named 'lxml'")
    assert (fix.files, fix.diff) == ([], "$ pip install lxml")
    said = at.day.run("fixes", "No module named 'lxml'").stdout
    assert f"solved by [mem:{fix.edits[0]}], then [mem:{fix.solved}] succeeded\n      $ pip install lxml" in said
    assert find(at) == []


def test_other_arguments_that_solved_an_error_are_its_fix(at: Work) -> None:
    one = at.session(1)
    one.ask("Run the tests")
    one.run("pytest -q tests/test_a.py", "Exit code 4\nE   ModuleNotFoundError: No module named 'conftest_a'")
    one.run("pytest -q")
    said = at.day.run("fixes", "No module named 'conftest_a'").stdout
    assert "\n    [mem:" in said
    assert "\n      $ pytest -q" in said


def test_an_error_of_which_only_the_summary_of_the_tests_was_stored_is_found_by_its_own_words(at: Work) -> None:
    solve(at, 1, "Exit code 1\nFAILED tests/test_cart.py::test_empty - KeyError: 'currency'\n1 failed", "src/cart.py")
    (fix,) = find(at, "KeyError: 'currency'")
    assert (fix.files, fix.likeness) == (["src/cart.py"], 1.0)
    assert find(at, "KeyError: 'amount'") == []


def test_the_same_error_with_another_path_line_and_time_matches(at: Work) -> None:
    solve(at, 1, "Exit code 1\nsrc/a/load.py:12: error: Name 'yaml' is not defined [name-defined]", "src/a/load.py")
    (fix,) = find(at, "/var/tmp/b7/x/load.py:340: error: Name 'yaml' is not defined [name-defined]")
    assert fix.likeness == 1.0
    assert find(at, "load.py:12: error: Name 'json' has no attribute 'loads' [attr-defined]") == []


def test_an_error_that_was_never_solved_or_solved_without_an_edit_has_no_fix(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix it")
    one.run("pytest -q", LEAP)
    one.run("pytest -q")  # flaky: nothing was changed
    one.run("npm test", "Exit code 1\nTypeError: x is not a function")
    one.edit("src/a.ts")
    one.run("npm test", "Exit code 1\nTypeError: x is not a function")
    one.run("grep -n x a.py", "Exit code 1")
    one.edit("a.py")
    one.run("grep -n x a.py")
    one.answer()
    assert find(at) == []
    assert find(at, "TypeError: x is not a function") == []


def test_edits_after_the_error_was_gone_are_not_its_fix(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix it")
    one.run("pytest -q", "Exit code 1\nModuleNotFoundError: No module named 'yaml'")
    one.edit("pyproject.toml")
    one.run("pytest -q", "Exit code 1\nAssertionError: leap day is missing here")
    one.edit("src/dates.py")
    one.run("pytest -q")
    one.answer()
    (first,) = find(at, "ModuleNotFoundError: No module named 'yaml'")
    (second,) = find(at, "AssertionError: leap day is missing here")
    assert (first.files, second.files) == (["pyproject.toml"], ["src/dates.py"])


def test_a_check_that_failed_to_the_end_is_solved_by_the_edits_of_the_session_that_runs_it_again(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix it")
    one.run("pytest -q", LEAP)
    one.answer()
    two = at.session(2)
    two.ask("Write the readme")
    two.edit("README.md")
    two.answer()
    three = at.session(3)
    three.ask("Fix it for good")
    three.edit("src/dates.py")
    three.run("pytest -q")
    three.answer()
    (fix,) = find(at, LEAP)
    assert (fix.command, fix.files) == ("pytest -q", ["src/dates.py"])


@pytest.mark.parametrize(
    ("between", "fixed_by"),
    [("pytest tests/test_a.py", "src/zones.py"), ("pytest tests/test_z.py", "")],
)
def test_what_a_session_changed_is_no_fix_where_an_earlier_one_may_have_solved_the_error(
    at: Work, between: str, fixed_by: str
) -> None:
    one = at.session(1)
    one.ask("Look at the zones")
    one.run("pytest -q", "Exit code 1\nFAILED tests/test_a.py::test_b - KeyError: 'no such zone'")
    one.answer()
    two = at.session(2)
    two.ask("Go on with the zones")
    two.edit("src/zones.py")
    two.run(between)
    two.answer()
    three = at.session(3)
    three.ask("Write the docs")
    three.edit("README.md")
    three.run("pytest -q")
    three.answer()

    found = known(indexed(at.day.config()), "KeyError: 'no such zone'")
    assert [fix.files for fix in found] == ([[fixed_by]] if fixed_by else [])


def test_the_latest_fix_comes_first_and_each_solution_is_listed_once(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix it")
    for _ in range(3):
        one.run("pytest -q", LEAP)
        one.edit("src/dates.py")
    one.run("pytest -q")
    one.answer()
    solve(at, 2, LEAP, "src/leap.py")
    assert [fix.files for fix in find(at, LEAP)] == [["src/leap.py"], ["src/dates.py"]]
    assert len(find(at)) == 2


def test_a_long_session_of_failed_runs_is_searched_in_linear_time(at: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    one = at.session(1)
    one.ask("Fix it")
    for number in range(40):
        one.run("pytest -q", f"E   ValueError: {'ab'[number % 2]} is no date")
        one.edit("src/dates.py", new=f"a = {number}")
    one.run("pytest -q")
    settings = indexed(at.day.config())
    calls, numbers, read = [], journal.numbers, people.load_clean

    def counted(name: str) -> tuple[int, ...]:
        calls.append(name)
        return numbers(name)

    def counted_read(vault: str, path: str) -> note.Parsed:
        calls.append(path)
        return read(vault, path)

    monkeypatch.setattr(journal, "numbers", counted)
    monkeypatch.setattr(people, "load_clean", counted_read)

    found = known(settings, "ValueError: a is no date")

    assert [fix.command for fix in found] == ["pytest -q", "pytest -q"]
    assert len(calls) < 5 * 2 * 40
    calls.clear()
    assert [fix.diff.count("+a =") for fix in known(settings, "ValueError: a is no date", limit=1)] == [1]
    assert len([path for path in calls if "/" in path]) < 10


def test_the_command_reads_stdin_and_says_when_nothing_is_known(at: Work) -> None:
    solve(at, 1, LEAP, "src/dates.py")
    said = at.day.run("fixes", "-", stdin=LEAP).stdout
    assert "solved by src/dates.py" in said
    assert at.day.json("fixes", "day is out of range for month")[0]["files"] == ["src/dates.py"]
    assert "Nothing is known to have solved" in at.day.run("fixes", "KeyError: no such thing").stderr


def test_private_parts_of_an_edited_note_are_left_out(at: Work) -> None:
    solve(at, 1, LEAP, "src/dates.py")
    (path,) = at.day.vault.rglob("*-edit-*.md")
    path.write_text(path.read_text().replace("+a = 2", "+a = <private>canary</private>"))
    (fix,) = find(at, LEAP)
    assert "canary" not in fix.diff


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/home/a/x.py:3: TypeError: bad", "/opt/b/c/x.py:77: TypeError: bad"),
        ("error: object 0x7fae29596480 is gone", "error: object 0x1 is gone"),
        ("2026-09-14T08:00:01Z fatal: remote hung up", "2026-11-02 10:11:12.345 fatal: remote hung up"),
        ("fatal: bad object 3f0c6d1e8a52", "fatal: bad object deadbeef0123"),
        ("\x1b[31mError: timeout after 30.5 s\x1b[0m", "Error: timeout after 7 s"),
        ("Error: no target arm64 in 3 of 12", "Error: no target arm64 in 4 of 9"),
        ("AssertionError: 2 refunds of charge ch_91", "AssertionError: 2 refunds of charge ch_3Nq7K2eLkd"),
        ("KeyError: request id 3fd1a2 is gone", "KeyError: request id zz93 is gone"),
        ("Error: no such device 0483:df11", "Error: no such device 1209:0001"),
        ("Error: bad record at main.js:1024:1337", "Error: bad record at main.js:98:12"),
        ("Error: cannot publish 8080:8080 twice", "Error: cannot publish 80:80 twice"),
        (
            "[Errno 28] No space left on device: '/tmp/tmpk3jd02_x'",
            "[Errno 28] No space left on device: '/tmp/tmp0ab_9zzq'",
        ),
        ("web test: RangeError: Invalid time zone", "packages/web test:unit: RangeError: Invalid time zone"),
        (
            "@acme/web:test: AssertionError: 3 seats are sold, not 4",
            "web test: AssertionError: 5 seats are sold, not 6",
        ),
        ("[web]: Error: no seats are left", "[gw0] Error: no seats are left"),
        ("lerna ERR! web RangeError: Invalid time zone", "RangeError: Invalid time zone"),
        ("api-1  | [2026-09-14T08:00:01Z] FATAL worker 17: InitError: no answer", "InitError: no answer"),
        ("Sep 08 10:11:42 pi-07 ingest[2211]: fatal: spool is full", "08:00:12,345 fatal: spool is full"),
        ("[10:02:11] restore-3: fatal: bad extension", "fatal: bad extension"),
        ("2026/11/28 10:11:12 fatal: no route", "fatal: no route"),
        ("2026-11-28 10:11:12,123 - acme.db - ERROR - fatal: no route", "fatal: no route"),
        ("2026-11-28 10:11:12.123 | ERROR    | acme.db:connect:42 - fatal: no route", "fatal: no route"),
        ("2026-11-28T10:11:12Z [error    ] fatal: no route", "fatal: no route"),
        ("10:11:12.123 [main] ERROR com.acme.Db - fatal: no route", "fatal: no route"),
        ("E1128 10:11:12.123456       1 reflector.go:138] fatal: no route", "fatal: no route"),
        (
            "Error: listen EADDRINUSE: address already in use 127.0.0.1:3000",
            "Error: listen EADDRINUSE: address already in use :::81",
        ),
        ('Error: pod "api-7d9c5b6f4-x2x9k" is gone', 'Error: pod "api-6b8d9g7c5d-zz4bl" is gone'),
        ("[gw2] acme.core.exceptions.Misconfigured: no KEYS", "acme.core.exceptions.Misconfigured: no KEYS"),
        (
            "main.c:(.text+0x1f): undefined reference to `crc16_update'",
            "boot.c:(.text+0x2a): undefined reference to `crc16_update'",
        ),
        (
            "e: file:///a/Main.kt:12:5 Unresolved reference: Clock",
            "e: /b/Other.kt: (3, 4): Unresolved reference: Clock",
        ),
        ('Error: no answer from "127.0.0.1"', 'Error: no answer from "::1"'),
        ("Error: no device found: 0483:374b", "Error: no device found: 0483:3752"),
        ("src\\a\\b.ts(3,14): error TS2304: Cannot find name 'x'.", "b.ts(9,1): error TS2304: Cannot find name 'x'."),
    ],
)
def test_what_differs_between_runs_is_not_part_of_a_signature(one: str, other: str) -> None:
    assert errors.normalized(one) == errors.normalized(other)
    assert errors.signatures(one) == errors.signatures(other) != []


@pytest.mark.parametrize(
    "line",
    [
        *("Exit code 1", "1 failed, 11 passed in 0.42s", "ok", "", "npm ERR! code 1", "FAILED", "FAILED (failures=2)"),
        *("npm ERR! code ELIFECYCLE", "make: *** [Makefile:12: all] Error 2", "BUILD FAILED in 3s"),
        *("test result: FAILED. 3 passed; 1 failed; 0 ignored", "Error: Process completed with exit code 1."),
        *("error: could not compile `core` (lib) due to 2 previous errors", "FAIL\texample.org/app/core\t2.411s"),
        *("ninja: build stopped: subcommand failed.", "Command failed with exit status 3"),
        *("error: subprocess-exited-with-error", "× Getting requirements to build wheel did not run successfully."),
        *("FAILURE: Build failed with an exception.", "[ERROR] COMPILATION ERROR :", "Failed to compile."),
        *("collect2: error: ld returned 1 exit status", "error: linking with `cc` failed: exit status: 1"),
        "clang: error: linker command failed with exit code 1 (use -v to see invocation)",
        'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
        "Automatic merge failed; fix conflicts and then commit the result.",
        "error: command '/usr/bin/gcc' failed with exit code 1",
        "subprocess.CalledProcessError: Command '['git', 'push']' returned non-zero exit status 128.",
        "Execution failed for task ':app:compileKotlin'.\n> Compilation error. See log for more details",
    ],
)
def test_a_line_that_only_says_that_something_failed_is_not_a_signature(line: str) -> None:
    assert errors.signatures(line) == []


@pytest.mark.parametrize(
    "output",
    [
        "thread 'main' (42) panicked at src/main.rs:4:5:\ncalled `Option::unwrap()` on a `None` value",
        "thread 'tests::a' panicked at 'the cache is empty', src/cache.rs:10:5",
        "not ok 4 keeps the arguments of a shim",
        "Execution failed for task ':app:checkAarMetadata'.\n> Dependency 'androidx.core:core:1.15' wants 35",
        "npm error code ERESOLVE\nnpm error errno 1",
        'ERROR:  relation "users" does not exist',
        "E: Unable to locate package libnowhere-dev",
        "curl: (60) SSL certificate problem: unable to get local issuer certificate",
        "listen tcp :8080: bind: address already in use",
        "make: *** No rule to make target 'docs', needed by 'all'.  Stop.",
        "Host key verification failed.",
        "Segmentation fault (core dumped)",
    ],
)
def test_an_error_is_known_as_programs_of_many_kinds_word_it(output: str) -> None:
    assert len(errors.signatures(f"building 3 targets\n{output}\n2 tests failed\n")) == 1


def test_panics_at_different_places_are_one_error_and_other_codes_are_other_errors() -> None:
    said = "called `Option::unwrap()` on a `None` value"
    one = errors.signatures(f"thread 'main' panicked at src/main.rs:4:5:\n{said}")

    assert one == errors.signatures(f"thread 'tests::b' (7) panicked at src/other.rs:88:1:\n{said}")
    assert errors.signatures("error[E0382]: wrong type") != errors.signatures("error[E0308]: wrong type")


def test_lines_that_state_a_failure_in_words_count_only_where_no_line_has_the_form_of_an_error() -> None:
    assert errors.signatures("option x is unknown\nValueError: no such column") == ["valueerror: no such column"]


PIECES = st.sampled_from(
    ["error: ", "ValueError: ", "AssertionError: ", "FAILED ", "panicked at ", "Traceback (", "E   ", "\n", "\r",
     "\x1b[31m", "src/main.rs:4:5: ", "no such file ", "wrong words ", "0x7f3a ", "\u2028", "x" * 300, " "]
)  # fmt: skip


@given(st.one_of(st.text(max_size=600), st.lists(PIECES, max_size=60).map("".join)))
def test_any_text_has_few_signatures_that_are_lines_and_stay_as_they_are(text: str) -> None:
    found = errors.signatures(text)
    assert len(found) <= errors.MAX_SIGNATURES
    assert all("\n" not in one and 0 < len(one) <= errors.MAX_LINE_CHARS for one in found)


@pytest.mark.parametrize("before", ["", "web-1  | "])
def test_an_error_of_python_is_known_by_the_line_behind_its_trace(before: str) -> None:
    def trace(said: str) -> str:
        lines = ("Traceback (most recent call last):", '  File "load.py", line 61, in main', "    read()", said)
        return "".join(f"{before}{line}\n" for line in lines)

    found = errors.signatures(trace("arrow.lib.Invalid: Column 'depth' contains nulls"))

    assert len(found) == 1
    assert found[0].endswith("arrow.lib.invalid: column 'depth' contains nulls")
    assert found != errors.signatures(trace("arrow.lib.Invalid: Column 'salinity' contains nulls"))


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("Error: read ECONNRESET at TLSWrap.onStreamRead", "ECONNRESET"),
        ("Error: Request failed with status code 413 Payload Too Large", "413 payload too large"),
        ("OSError: cannot load library 'libpango-1.0-0': cannot open shared object file", "libpango"),
        ("Error: P3009\n\nmigrate found failed migrations in the target database", "P3009"),
        ('{"status":401,"title":"Unauthorized","detail":"Token expired"}', "Token expired"),
        (
            "/opt/arm/bin/ld.bfd: region `FLASH' overflowed by 6148 bytes\ncollect2: error: ld returned 1 exit status",
            "region FLASH overflowed by 12 bytes",
        ),
        (
            "/opt/arm/bin/ld.bfd: region `FLASH' overflowed by 6148 bytes\ncollect2: error: ld returned 1 exit status",
            "overflow",
        ),
        ("DESYNC at frame 36211: checksum 0x9f31ab02 != 0x9f31ab07", "desync"),
        ("java.lang.IllegalStateException: Can not perform this action after onSaveInstanceState", "onSaveInst"),
    ],
)
def test_an_error_is_found_by_a_part_of_its_message(at: Work, printed: str, typed: str) -> None:
    solve(at, 1, f"Exit code 1\n{printed}", "src/client.py")
    solve(at, 2, "Exit code 1\nTypeError: total() takes 1 argument", "src/cart.py")

    (fix,) = find(at, typed)

    assert fix.files == ["src/client.py"]


@pytest.mark.parametrize(
    ("failed", "solved"),
    [
        ("west build -b nrf52840dk", "west build -b nrf52840dk"),
        ("latexmk -pdf thesis.tex", "latexmk -pdf -outdir=build thesis.tex"),
        ("sbatch run.slurm", "sbatch -A geo2114 run.slurm"),
        (
            "blender -b hero.blend --python export.py",
            "blender -b hero.blend --addons io_scene_gltf2 --python export.py",
        ),
        ("nosuchlinter --strict src", "nosuchlinter --strict src"),
        ("curl -sf http://localhost:8080/health", "curl -sf http://localhost:8080/health"),
    ],
)
def test_a_program_of_any_trade_that_succeeds_again_shows_what_solved_its_error(
    at: Work, failed: str, solved: str
) -> None:
    one = at.session(1)
    one.ask("Get it through")
    one.run(failed, "Exit code 1\nERROR: region overflows by 6148 bytes")
    one.edit("settings.conf", new="log = minimal")
    one.run(solved)
    one.answer()

    (fix,) = find(at, "ERROR: region overflows by 99 bytes")

    assert (fix.command, fix.files) == (failed, ["settings.conf"])


@pytest.mark.parametrize("command", ["ls build", "cat notes.txt | grep -n x", "test -f build/out"])
def test_a_command_that_only_looks_has_no_fix_where_it_succeeds_later(at: Work, command: str) -> None:
    one = at.session(1)
    one.ask("Look")
    one.run(command, "Exit code 1\nls: cannot access 'build': No such file or directory")
    one.edit("build/out", new="a")
    one.run(command)
    one.answer()

    assert find(at, "cannot access 'build': No such file or directory") == []


@pytest.mark.parametrize(
    "typed", ["sensor", "Building C object src/other.c.obj", "making build dir", "west", "nrf52840dk", "output"]
)
def test_what_a_run_also_prints_when_it_succeeds_and_its_command_are_no_error(at: Work, typed: str) -> None:
    progress = "-- west build: making build dir\n[1/40] Building C object src/sensor.c.obj\n"
    one = at.session(1)
    one.ask("Get it through")
    one.run("west build -b nrf52840dk", f"Exit code 1\n{progress}ld.bfd: region `FLASH' overflowed by 6148 bytes")
    one.edit("prj.conf", new="CONFIG_LOG=n")
    one.tool("Bash", {"command": "west build -b nrf52840dk -- -DX=1"}, {"stdout": f"{progress}done", "stderr": ""})
    one.answer()

    assert find(at, typed) == []
    assert [fix.error for fix in find(at, "overflowed")] == ["ld.bfd: region `FLASH' overflowed by 6148 bytes"]


def test_a_command_of_any_program_is_solved_where_the_next_session_runs_its_line_again(at: Work) -> None:
    one = at.session(1)
    one.ask("Get it through")
    one.run("nosuchlinter --strict src", "Exit code 1\nERROR: region overflows by 6148 bytes")
    one.answer()
    two = at.session(2)
    two.ask("Go on")
    two.edit("settings.conf", new="log = minimal")
    two.run("nosuchlinter --strict src")
    two.answer()

    (fix,) = find(at, "ERROR: region overflows by 99 bytes")

    assert (fix.command, fix.files) == ("nosuchlinter --strict src", ["settings.conf"])


@pytest.mark.parametrize("typed", ["error", "failed", "exit code 1", "cannot load", "Error: not found"])
def test_words_that_are_in_many_errors_find_none(at: Work, typed: str) -> None:
    solve(at, 1, "Exit code 1\nOSError: cannot open the file, it was not found", "src/client.py")

    assert find(at, typed) == []


def test_many_failed_commands_that_never_succeed_are_not_compared_with_all_later_runs(
    at: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = at.session(1)
    one.ask("Watch it")
    for number in range(30):
        one.run(f"curl -sf http://localhost/{number}", "Exit code 22\ncurl: the requested URL returned error: 404")
        one.run(f"mytool --step {number}")
    one.answer()
    config = indexed(at.day.config())
    compared: list[int] = []
    closes = Finder._closes

    def counted(self: Finder, number: int, failed: CommandRun) -> bool:
        compared.append(number)
        return closes(self, number, failed)

    monkeypatch.setattr(Finder, "_closes", counted)

    assert known(config) == []
    assert len(compared) < 30


@pytest.mark.parametrize(
    ("output", "command", "part"),
    [
        (
            "tests/test_ok.py ..s   [ 60%]\ntests/test_a.py F  [100%]\nE   KeyError: 'no such zone'",
            "pytest",
            "tests/test_ok.py",
        ),
        (
            "tests/test_ok.py::test_z PASSED\nFAILED tests/test_a.py::test_b - KeyError: 'no such zone'",
            "pytest -v",
            "tests/test_ok.py",
        ),
        (
            "ok  \texample.com/app/ok\t0.1s\n--- FAIL: TestA\n    a_test.go:9: error: no such zone in list",
            "go test",
            "example.com/app/ok",
        ),
        ("PASS src/ok.test.ts\nFAIL src/a.test.ts\n  KeyError: 'no such zone'", "npx jest", "src/ok.test.ts"),
        (
            "FAILED tests/test_a.py::test_b - KeyError: 'no such zone'\nFAILED tests/test_c.py::test_d - OSError",
            "pytest -q",
            "tests/test_c.py",
        ),
    ],
)
def test_a_run_of_a_part_that_did_not_fail_or_not_alone_shows_no_fix(
    at: Work, output: str, command: str, part: str
) -> None:
    one = at.session(1)
    one.ask("Fix it")
    one.run(command, f"Exit code 1\n{output}")
    one.edit("src/other.py")
    one.run(f"{command} {part}")
    one.answer()
    error = "KeyError: 'no such zone'" if "KeyError" in output else "error: no such zone in list"

    assert find(at, error) == []


def test_a_long_line_of_an_error_is_judged_in_time_in_proportion_to_it() -> None:
    def seconds(count: int) -> float:
        begin = time.process_time()
        assert not errors.names_something("Error: " + "a" * count)
        return time.process_time() - begin

    assert seconds(8_000) < 30 * seconds(1_000) + 0.05
